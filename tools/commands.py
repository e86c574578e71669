#!/usr/bin/env python3
"""Writes what is derived from the one list of commands, COMMAND_LIST in cli/cli.h: the manual page and the completions.

    commands.py SOURCE man|bash|zsh|fish      on standard output, from a template in docs/ or tools/completions/
    commands.py SOURCE list                   the names, one a line

The templates hold the fixed part and @MARKS@; docs/commands/NAME.1, where there is one, follows the sentence of the
command in the manual page."""
import pathlib, re, sys

STRING = r'((?:"(?:[^"\\]|\\.)*"\s*)+)'
ROW = re.compile(r"X\(\s*(\w+)\s*,\s*" + STRING + r",\s*" + STRING + r"\)")
FILES = {"FILE", "OUT", "REC", "MESH", "SCENE", "INDEX"}  # what an option's value is called when it is a file
OPTION = re.compile(r"(?<![\w-])(--?[a-z][a-z-]*)(?:[ =]([^\]\s]+))?")


def commands(root):
    """(name, arguments, sentence) for each row."""
    text = (root / "cli/cli.h").read_text().replace("\\\n", " ")
    start = text.index("#define COMMAND_LIST(X)")
    body = text[start:text.index("\n", start)]
    unquote = lambda s: "".join(re.findall(r'"((?:[^"\\]|\\.)*)"', s)).replace('\\"', '"')
    rows = [(name, unquote(arguments), unquote(sentence)) for name, arguments, sentence in ROW.findall(body)]
    if not rows:
        sys.exit("commands.py: cli/cli.h has no rows in COMMAND_LIST")
    return rows


def options(arguments):
    """(option, value) for each option of a usage line; value is None for a flag, else a word or a|b|c."""
    return [(name, value or None) for name, value in OPTION.findall(arguments)]


def choices(value):
    return value.split("|") if value and "|" in value and value == value.lower() else []


def roff(text):
    return text.replace("\\", "\\e").replace("-", "\\-").replace("'", "\\(aq").replace("`", "\\(ga")


def man(root):
    out = []
    for name, arguments, sentence in commands(root):
        usage = re.sub(r"(--?[a-z][a-z-]*)", lambda m: "\\fB" + m.group(1) + "\\fR", arguments)
        usage = re.sub(r"(?<![\\a-z-])([A-Z][A-Z_0-9]*)", r"\\fI\1\\fR", usage)
        usage = usage.replace("\\fB", "\1").replace("\\fI", "\2").replace("\\fR", "\3")
        usage = roff(usage).replace("\1", "\\fB").replace("\2", "\\fI").replace("\3", "\\fR")
        out += [".TP", f"\\fBabut {name}\\fR {usage}", roff(sentence[0].upper() + sentence[1:]) + "."]
        fragment = root / "docs/commands" / (name + ".1")
        if fragment.exists():
            out += [".RS", fragment.read_text().strip(), ".RE"]
    version = re.search(r"project\(abut VERSION ([0-9.]+)", (root / "CMakeLists.txt").read_text()).group(1)
    page = (root / "docs/abut.1.in").read_text()
    return page.replace("@VERSION@", version).replace("@COMMANDS@", "\n".join(out))


def bash(root):
    names = " ".join(name for name, _, _ in commands(root))
    words, values = [], []
    for name, arguments, _ in commands(root):
        words.append(f"        {name}) options='{' '.join(option for option, _ in options(arguments))}' ;;")
        for option, value in options(arguments):
            if value:
                answer = "@file" if value in FILES else " ".join(choices(value))
                values.append(f"        {name}:{option}) values='{answer}' ;;")
    text = (root / "tools/completions/abut.bash.in").read_text()
    return text.replace("@NAMES@", names).replace("@OPTIONS@", "\n".join(words)).replace("@VALUES@", "\n".join(values))


def zsh(root):
    quote = lambda s: s.replace("'", "'\\''").replace(":", "\\:").replace("[", "\\[").replace("]", "\\]")
    names = "\n".join(f"        '{name}:{quote(sentence)}'" for name, _, sentence in commands(root))
    cases = []
    for name, arguments, _ in commands(root):
        specs = []
        for option, value in options(arguments):
            if not value:
                specs.append(f"'{option}'")
            elif choices(value):
                specs.append(f"'*{option}:value:({' '.join(choices(value))})'")
            else:
                specs.append(f"'*{option}:{quote(value)}:{'_files' if value in FILES else ' '}'")
        cases.append(f"        {name}) _arguments {' '.join(specs)} '*:file:_files' ;;")
    text = (root / "tools/completions/_abut.in").read_text()
    return text.replace("@NAMES@", names).replace("@CASES@", "\n".join(cases))


def fish(root):
    quote = lambda s: "'" + s.replace("\\", "\\\\").replace("'", "\\'") + "'"
    lines = []
    for name, arguments, sentence in commands(root):
        lines.append(f"complete -c abut -n __fish_use_subcommand -a {name} -f -d {quote(sentence)}")
        for option, value in options(arguments):
            flag = f"-l {option[2:]}" if option.startswith("--") else f"-s {option[1:]}"
            rest = "" if not value else " -r" if value in FILES else " -x"
            if choices(value):
                rest += f" -a {quote(' '.join(choices(value)))}"
            lines.append(f"complete -c abut -n '__fish_seen_subcommand_from {name}' {flag}{rest}")
    return (root / "tools/completions/abut.fish.in").read_text().replace("@LINES@", "\n".join(lines))


def names(root):
    return "\n".join(name for name, _, _ in commands(root)) + "\n"


WRITERS = {"man": man, "bash": bash, "zsh": zsh, "fish": fish, "list": names}


def main():
    if len(sys.argv) != 3 or sys.argv[2] not in WRITERS:
        sys.exit(__doc__)
    sys.stdout.write(WRITERS[sys.argv[2]](pathlib.Path(sys.argv[1])))


if __name__ == "__main__":
    main()
