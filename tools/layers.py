#!/usr/bin/env python3
"""The layer check: a module of src/ may include only modules of a smaller level, and cli, bench and the examples only
public headers.  layers.py SOURCE_FOLDER prints each violation as file:line and exits 1 when there is one."""
import pathlib, re, sys

LEVEL = {"base": 0, "math": 1, "numerics": 2, "solid": 3, "surface": 3, "index": 4, "convex": 4, "contact": 5,
         "dynamics": 6, "sim": 7, "scene": 8, "record": 8}
INCLUDE = re.compile(r'^\s*#\s*include\s*"([^"]+)"')


def violations(root):
    for path in sorted(root.glob("src/*/*.[ch]")):
        module = path.parent.name
        if module not in LEVEL:
            yield path, 1, f"the folder {module} has no level; add it to tools/layers.py"
            continue
        for number, name in includes(path):
            other = name.split("/")[0]
            if other == "abut" or other == module:
                continue
            if "/" not in name:
                yield path, number, f'"{name}" has no module; write "{module}/{name}"'
            elif LEVEL.get(other, 99) >= LEVEL[module]:
                yield path, number, f"{module} (level {LEVEL[module]}) may not include {other}"
    for folder in ("cli", "bench", "examples"):
        for path in sorted(root.glob(folder + "/**/*.[ch]")) + sorted(root.glob(folder + "/**/*.cpp")):
            for number, name in includes(path):
                if "/" in name and not name.startswith(("abut/", folder + "/")):
                    yield path, number, f'{folder} uses public headers only, not "{name}"'
    for path in sorted(root.glob("include/abut/*.h")):
        for number, name in includes(path):
            if not name.startswith("abut/"):
                yield path, number, f'a public header may not include "{name}"'


def includes(path):
    for number, line in enumerate(path.read_text().splitlines(), 1):
        match = INCLUDE.match(line)
        if match:
            yield number, match.group(1)


def main():
    root = pathlib.Path(sys.argv[1] if len(sys.argv) > 1 else ".")
    found = list(violations(root))
    for path, number, message in found:
        print(f"{path.relative_to(root)}:{number}: {message}")
    print(f"layers: {len(found)} violations")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
