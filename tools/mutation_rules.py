"""Faults made by rules that know nothing of the tests, for tools/mutation-run --rules. Every condition of an `if` is
negated; of a chain of && or || each operand is dropped once; in every comparison by < <= > >= the end of the range is
moved by one; std::min and std::max change places. Comments, texts and the preprocessor are left alone."""

import pathlib
import re
import typing


class Fault(typing.NamedTuple):
    file: str
    line: int
    what: str
    text: str  # of the whole file, with the fault


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


def faults_of(path: pathlib.Path, root: pathlib.Path) -> list[Fault]:
    source = path.read_text()
    code = blanked(source)
    out = []

    def add(begin: int, end: int, new: str, what: str) -> None:
        text = source[:begin] + new + source[end:]
        out.append(Fault(str(path.relative_to(root)), source.count("\n", 0, begin) + 1, what, text))

    for begin, end in conditions(code):
        add(begin, end, f"!({source[begin:end]})", "condition negated")
        chain = operands(code, begin, end)
        for number, (first, last) in enumerate(chain if len(chain) > 1 else [], 1):
            neutral = "true" if "&&" in code[begin:end] else "false"
            add(first, last, f" {neutral} ", f"operand {number} of {len(chain)} dropped")
    for match in re.finditer(r" (<=|>=|<|>) (?!>)", code):
        moved = {"<": "<=", "<=": "<", ">": ">=", ">=": ">"}[match[1]]
        add(match.start(1), match.end(1), moved, f"{match[1]} is {moved}")
    for match in re.finditer(r"std::(min|max)\(", code):
        other = "max" if match[1] == "min" else "min"
        add(match.start(1), match.end(1), other, f"{match[1]} is {other}")
    return out
