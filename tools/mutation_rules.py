"""Faults made by rules that know nothing of the tests, for tools/mutation-run --rules. Every condition of an `if` is
negated; of a chain of && or ||, there or in a result, each operand is dropped once; in every comparison by < <= > >= the
end of the range is moved by one; std::min and std::max change places. Comments, texts and the preprocessor are left alone.

All faults are in one program, each with a switch (tools/mutation_switches.h): the variable ETCH_FAULT has the number of
the one that is made. So the sources are compiled once, and a fault costs no more than the tests that reach it."""

import pathlib
import re
import typing

SWITCHES = "tools/mutation_switches.h"


class Fault(typing.NamedTuple):
    number: int
    file: str
    line: int
    what: str


class Edit(typing.NamedTuple):
    at: int
    rank: int  # of several at one place: the lower one is first
    end: int  # what is replaced; the same as `at` where something is inserted
    text: str


def blanked(source: str) -> str:
    """The source with comments, texts, characters and preprocessor lines as blanks of the same length."""
    pattern = r'//[^\n]*|/\*.*?\*/|R"\(.*?\)"|"(?:\\.|[^"\\\n])*"|\'(?:\\.|[^\'\\\n])\'|^[ \t]*#[^\n]*'
    return re.sub(pattern, lambda match: re.sub(r"[^\n]", " ", match[0]), source, flags=re.DOTALL | re.MULTILINE)


def closing(code: str, opening: int) -> int:
    """The place of the parenthesis that closes the one at `opening`."""
    depth = 0
    for at in range(opening, len(code)):
        depth += (code[at] in "([{") - (code[at] in ")]}")
        if depth == 0:
            return at
    raise ValueError("not closed")


def operands(code: str, begin: int, end: int) -> list[tuple[int, int]]:
    """Of the chain of && or of || in code[begin:end], outside of parentheses; one operand: no chain, or a mixed one."""
    depth, cuts, kinds = 0, [], set()
    for at in range(begin, end - 1):
        depth += (code[at] in "([{") - (code[at] in ")]}")
        if depth == 0 and code[at:at + 2] in ("&&", "||"):
            cuts.append(at)
            kinds.add(code[at:at + 2])
    if len(kinds) != 1:
        return [(begin, end)]
    return list(zip([begin] + [cut + 2 for cut in cuts], cuts + [end], strict=True))


def conditions(code: str) -> typing.Iterator[tuple[int, int]]:
    """Between the parentheses of each `if`; those that declare something are left out."""
    for match in re.finditer(r"\bif (?:constexpr )?\(", code):
        begin, end = match.end(), closing(code, match.end() - 1)
        if "constexpr" not in match[0] and not re.search(r";|(?<![=!<>])=(?!=)", code[begin:end]):
            yield begin, end


def results(code: str) -> typing.Iterator[tuple[int, int]]:
    """Between each `return` and its semicolon; choices, lambdas and lists are left out."""
    for match in re.finditer(r"\breturn ([^;{}?]*);", code):
        yield match.span(1)


def switched(path: pathlib.Path, root: pathlib.Path, first: int, without: set[int]) -> tuple[str, list[Fault]]:
    """The source with a switch for each fault, numbered from `first`, and the faults; none in the lines `without`."""
    source = path.read_text()
    code = blanked(source)
    name = str(path.relative_to(root))
    edits: list[Edit] = []
    faults: list[Fault] = []

    def number_of(at: int, what: str) -> int | None:
        line = source.count("\n", 0, at) + 1
        if line in without:
            return None
        faults.append(Fault(first + len(faults), name, line, what))
        return faults[-1].number

    def wrap(begin: int, end: int, before: str, after: str, depth: int) -> None:
        edits.extend([Edit(begin, depth, begin, before), Edit(end, -depth, end, after)])

    for begin, end in conditions(code):
        number = number_of(begin, "condition negated")
        if number is not None:
            wrap(begin, end, f"::etch_fault::on({number}) != static_cast<bool>(", ")", 1)
    for begin, end in [*conditions(code), *results(code)]:
        chain = operands(code, begin, end)
        for count, (low, high) in enumerate(chain if len(chain) > 1 else [], 1):
            number = number_of(low, f"operand {count} of {len(chain)} dropped")
            if number is not None:
                both = "||" if "&&" in code[begin:end] else "&&"
                sign = "" if both == "||" else "!"
                wrap(low, high, f"({sign}::etch_fault::on({number}) {both} (", "))", 2)
    names = {"<": ("Less", "<="), "<=": ("LessEqual", "<"), ">": ("Greater", ">="), ">=": ("GreaterEqual", ">")}
    for match in re.finditer(r" (<=|>=|<|>) (?!>)", code):
        kind, moved = names[match[1]]
        number = number_of(match.start(1), f"{match[1]} is {moved}")
        if number is not None:
            edits.append(Edit(match.end(1), 0, match.end(1), f" ::etch_fault::{kind}<{number}>{{}} {match[1]}"))
    for match in re.finditer(r"std::(min|max)\(", code):
        number = number_of(match.start(), f"{match[1]} is {'max' if match[1] == 'min' else 'min'}")
        if number is not None:
            kind = "true" if match[1] == "min" else "false"
            edits.append(Edit(match.start(), 3, match.end(), f"::etch_fault::Extreme<{number}, {kind}>::of("))
    for edit in sorted(edits, key=lambda e: (e.at, e.rank), reverse=True):
        source = source[:edit.at] + edit.text + source[edit.end:]
    return f'#include "{SWITCHES}"\n#line 1 "{path}"\n{source}', faults
