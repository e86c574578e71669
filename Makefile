# In front of CMake: each target installs what is missing (tools/setup), configures, builds, and runs.
JOBS := $(shell nproc 2>/dev/null || echo 2)
PRESET ?= release

.PHONY: all build demo test bench soak soak-live format docs install clean
all: build

build:
	@tools/setup build test
	@cmake --preset $(PRESET) > build-$(PRESET).log 2>&1 || { cat build-$(PRESET).log; rm -f build-$(PRESET).log; exit 1; }
	@rm -f build-$(PRESET).log
	cmake --build build/$(PRESET) -j $(JOBS)

demo: build
	@tools/demo build/$(PRESET)/abut

test: build
	ctest --test-dir build/$(PRESET) --output-on-failure -j $(JOBS) -LE "browser|soak"

bench:
	@tools/setup build test bench
	@tools/bench

soak:
	@tools/setup build test ci
	@tools/soak

soak-live:
	@tools/setup build test ci
	@tools/soak-live

format:
	@tools/setup ci
	tools/format --fix

docs: build
	@tools/setup docs
	@tools/docs build/$(PRESET)/abut

install: build
	cmake --install build/$(PRESET) $(if $(PREFIX),--prefix $(PREFIX))

clean:
	rm -rf build
