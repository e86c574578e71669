# Flags that all targets share.  -ffp-contract=off and no -ffast-math: the error bounds of the predicates and the
# promise of equal bits depend on them.  -fno-math-errno only lets sqrt be one instruction.
add_library(abut_flags INTERFACE)
target_compile_features(abut_flags INTERFACE c_std_17)
target_compile_options(abut_flags INTERFACE
  -ffp-contract=off -fno-math-errno -fvisibility=hidden -Wall -Wextra -Wpedantic -Wundef -Wshadow
  $<$<COMPILE_LANGUAGE:C>:-Wmissing-prototypes> $<$<COMPILE_LANGUAGE:C>:-Wstrict-prototypes>)
if(ABUT_WERROR)
  target_compile_options(abut_flags INTERFACE -Werror)
endif()
set(CMAKE_C_EXTENSIONS OFF)
set(CMAKE_CXX_STANDARD 17)
set(CMAKE_RUNTIME_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/bin)
if(NOT CMAKE_BUILD_TYPE)
  set(CMAKE_BUILD_TYPE Release)
endif()
set(CMAKE_C_FLAGS_RELEASE "-O2 -g")
set(CMAKE_CXX_FLAGS_RELEASE "-O2 -g")
# CMAKE_C_FLAGS_DEBUG defines ABUT_VALIDATE: expensive invariants are checked where data is made.
set(CMAKE_C_FLAGS_DEBUG "-O0 -g3 -DABUT_VALIDATE=1")
