#!/usr/bin/env python3
"""Each public header compiles alone, as C17 and as C++17, without a warning, and the example that opens it compiles.
headers.py SOURCE CC CXX

An example may use variables that the program around it would have; every name and call of abut in it must be right."""
import pathlib, re, subprocess, sys

AROUND = """#include <abut/abut.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <math.h>
"""


def compile_text(compiler, include, text, language, *flags):
    run = subprocess.run([compiler, "-x", language, "-fsyntax-only", "-I", include, *flags, "-"], input=text,
                         capture_output=True, text=True)
    return run.stderr if run.returncode else ""


def example(text):
    """The indented lines of the opening comment, up to the next paragraph."""
    comment = text[:text.index("*/")].splitlines()[1:]
    lines = []
    for line in comment:
        if line.startswith(" *     "):
            lines.append(line[7:])
        elif lines:
            break
    return "\n".join(lines)


def wrap(code):
    if re.search(r"\bint main\(", code):
        return "#include <stdio.h>\n" + code + "\n"
    return AROUND + "void example_of_header(void);\nvoid example_of_header(void) {\n" + code + "\n}\n"


def example_problems(compiler, include, code):
    """The compiler's errors, without those on variables of the program around the example."""
    errors = compile_text(compiler, include, wrap(code), "c", "-std=c17", "-Werror=implicit-function-declaration",
                          "-Werror=incompatible-pointer-types")
    foreign = re.compile(r"(undeclared|use of undeclared)", re.I)
    ours = re.compile(r"[\u2018']((?:abut|ABUT)_\w*)[\u2019']")
    lines = [line for line in errors.splitlines() if " error: " in line]
    return "\n".join(line for line in lines if not foreign.search(line) or ours.search(line))


def main():
    root, cc, cxx = pathlib.Path(sys.argv[1]), sys.argv[2], sys.argv[3]
    include, bad, examples = str(root / "include"), 0, 0
    strict = ("-Wall", "-Wextra", "-Wpedantic", "-Werror")
    headers = sorted((root / "include/abut").glob("*.h"))
    umbrella = (root / "include/abut/abut.h").read_text()
    for header in headers:
        text = header.read_text()
        problems = []
        for compiler, language, standard in ((cc, "c", "-std=c17"), (cxx, "c++", "-std=c++17")):
            problems.append(compile_text(compiler, include, f"#include <abut/{header.name}>\n", language, standard, *strict))
        if header.name != "abut.h" and f'"abut/{header.name}"' not in umbrella:
            problems.append("abut/abut.h does not include it")
        code = example(text)
        if not code:
            problems.append("it opens without an example")
        else:
            examples += 1
            problems.append(example_problems(cc, include, code))
        for problem in filter(None, problems):
            bad += 1
            print(f"include/abut/{header.name}: {problem}")
    print(f"headers: {len(headers)} headers, {examples} examples, {bad} problems")
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main())
