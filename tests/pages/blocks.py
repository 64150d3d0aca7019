"""The blocks of code of a page, and the commands in them.

A block says what it is: ```console has commands after "$ " and what they print, ```sh is one script, ```python is run too,
and ```text and languages of source code are no commands. A block without a word is a fault, so that none is left out by
accident; so is a line of shell that is only indented."""

import dataclasses
import re

NO_COMMANDS = {"text", "c", "cpp", "cmake", "ld", "json", "yaml"}
INDENTED = re.compile(r"^ {4}(\$ )?(etch|cmake|ctest|tools/|examples/|python3?|pip) ", re.M)


@dataclasses.dataclass
class Command:
    """`kind`: console, sh or python; `shown`: lines that the page has under it; `line`: of the page, from 1."""

    kind: str
    text: str
    line: int
    shown: list[str] = dataclasses.field(default_factory=list)


class Fault(Exception):
    """The page is not written as above."""


def blocks(page):
    """Language, number of the first line and lines of every block."""
    found, inside = [], None
    for number, line in enumerate(page.splitlines(), 1):
        if not line.startswith("```"):
            if inside:
                inside[2].append(line)
        elif inside:
            found.append(inside)
            inside = None
        else:
            inside = (line[3:].strip(), number + 1, [])
    return found


def console(first, lines):
    """The commands of a block of a terminal; a command that ends with a backslash goes on in the next line."""
    commands = []
    for number, line in enumerate(lines, first):
        if commands and commands[-1].text.endswith("\\"):
            commands[-1].text += "\n" + line
        elif line.startswith("$ "):
            commands.append(Command("console", line[2:], number))
        elif line.startswith(" ") and line.lstrip().startswith("#"):
            continue  # a comment goes on
        elif commands:
            commands[-1].shown.append(line)
        else:
            raise Fault(f"line {number}: output before the first command")
    return commands


def commands(page):
    """All of a page, in its order. Raises Fault."""
    found = []
    for language, first, lines in blocks(page):
        if language == "console":
            found += console(first, lines)
        elif language in ("sh", "python"):
            found.append(Command(language, "\n".join(lines), first))
        elif language not in NO_COMMANDS:
            raise Fault(f"line {first - 1}: a block of {language or 'nothing'}; console, sh, python or text is needed")
    outside = re.sub(r"^```.*?^```", lambda match: "\n" * match[0].count("\n"), page, flags=re.M | re.S)
    if indented := INDENTED.search(outside):
        raise Fault(f"line {outside[:indented.start()].count(chr(10)) + 1}: a command that is in no block")
    return found


def not_shown(command, printed):
    """The first line under a command that it did not print. " ..." ends what has to be there of a line, as numbers that
    differ between machines follow; a line of "..." alone is any."""
    lines = [line.rstrip() for line in printed.splitlines()]
    for line in command.shown:
        begin, cut, _ = line.partition(" ...")
        if line.strip() and line != "..." and not any(each.startswith(begin) if cut else each == line.rstrip() for each in lines):
            return line
    return None
