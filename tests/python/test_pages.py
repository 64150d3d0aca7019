"""How tests/pages reads pages: which blocks have commands, where one ends, and what a page shows of their output."""

import pathlib
import sys

import pytest

sys.path.insert(0, str(pathlib.Path(__file__).parent.parent / "pages"))
import blocks  # noqa: E402


def of(*lines: str) -> list[blocks.Command]:
    return blocks.commands("\n".join(lines) + "\n")


def test_a_terminal_has_commands_and_what_they_print() -> None:
    found = of("text", "```console", "$ etch a \\", "  b   # why", "      # goes on", "printed", "$ etch c", "```")
    assert [(each.text, each.line, each.shown) for each in found] == [
        ("etch a \\\n  b   # why", 3, ["printed"]),
        ("etch c", 7, []),
    ]


def test_a_script_and_python_are_one_command_each_and_text_is_none() -> None:
    found = of("```sh", "a", "b", "```", "```python", "c", "```", "```text", "d", "```", "```cpp", "e", "```")
    assert [(each.kind, each.text) for each in found] == [("sh", "a\nb"), ("python", "c")]


@pytest.mark.parametrize(
    "lines",
    [["```", "etch a", "```"], ["```fortran", "x", "```"], ["    etch compile a"], ["```console", "printed", "```"]],
)
def test_what_could_be_a_command_and_does_not_say_so_is_a_fault(lines: list[str]) -> None:
    with pytest.raises(blocks.Fault):
        of(*lines)


def test_lines_that_were_not_printed_are_found() -> None:
    (command,) = of("```console", "$ etch a", "arena 12", "took ...", "...", "", "```")
    assert blocks.not_shown(command, "took 3 s\narena 12\n") is None
    assert blocks.not_shown(command, "took 3 s\narena 123\n") == "arena 12"
    assert blocks.not_shown(command, "it took 3 s\narena 12\n") == "took ..."
