#!/usr/bin/env python3
"""No function of the product is longer than 60 lines, from its head to its closing brace.

    functions.py [ROOT]

Functions are told from other braces by what stands before them: a head with parentheses that no control statement begins.
Prints each one that is too long, and how many there are in all. Status 1: one is too long.
"""

from __future__ import annotations

import pathlib
import re
import subprocess
import sys
from collections.abc import Iterator

LIMIT = 60
FOLDERS = ("libcore", "passes", "backends", "tools")
SUFFIXES = (".h", ".cpp", ".c", ".inl", ".cu", ".cl")
NOT_CODE = re.compile(
    r'//[^\n]*|/\*.*?\*/|R"(?P<mark>[^(\s]*)\(.*?\)(?P=mark)"|"(?:\\.|[^"\\\n])*"|(?<![0-9A-Fa-f])\'(?:\\.|[^\'\\\n])+\''
    r"|^[ \t]*#(?:[^\n]*\\\n)*[^\n]*",
    re.DOTALL | re.MULTILINE)
OTHER_BRACE = re.compile(r"\s*(?:namespace|class|struct|union|enum|extern|if|else|for|while|switch|do|try|catch|return|case|default)\b")
NAME = re.compile(r"([~\w:]+(?:\s*operator\s*\S+?)?)\s*\(|(\[[^\]]*\])\s*\(")


def blanked(source: str) -> str:
    """The source with comments, literals and directives turned into spaces, line by line in place."""
    return NOT_CODE.sub(lambda found: re.sub(r"[^\n]", " ", found.group()), source)


def functions(source: str) -> Iterator[tuple[str, int, int]]:
    """Name, first line and number of lines of each function that is not inside another."""
    code = blanked(source)
    open_braces: list[tuple[bool, str, int]] = []
    head_start = 0
    inside = 0
    for found in re.finditer(r"[;{}]", code):
        at = found.start()
        if found.group() == "{":
            head = code[head_start:at]
            named = NAME.search(head)
            is_function = not inside and named is not None and not OTHER_BRACE.match(head)
            first = head_start + len(head) - len(head.lstrip())
            open_braces.append((is_function, (named.group(1) or named.group(2)) if named else "", first))
            inside += is_function
        elif found.group() == "}" and open_braces:
            is_function, name, first = open_braces.pop()
            if is_function:
                inside -= 1
                yield name, code.count("\n", 0, first) + 1, code.count("\n", first, at) + 1
        head_start = at + 1


def main() -> int:
    root = pathlib.Path(sys.argv[1] if len(sys.argv) > 1 else pathlib.Path(__file__).resolve().parents[2])
    listed = subprocess.run(["git", "-C", root, "ls-files", "--", *FOLDERS], check=True, capture_output=True, text=True)
    count = longest = too_long = 0
    for name in listed.stdout.splitlines():
        path = root / name
        if path.suffix not in SUFFIXES or not path.exists():
            continue
        for function, line, length in functions(path.read_text()):
            count += 1
            longest = max(longest, length)
            if length > LIMIT:
                too_long += 1
                print(f"{name}:{line}: {function} has {length} lines, the limit is {LIMIT}")
    print(f"{count} functions, the longest of {longest} lines")
    if count == 0:
        print("no function was found: the check looks in the wrong place")
    return 1 if too_long or count == 0 else 0


if __name__ == "__main__":
    sys.exit(main())
