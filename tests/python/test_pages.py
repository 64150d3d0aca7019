"""How tests/pages reads pages: which blocks have commands, where one ends, what a page shows of their output, and what is
wrong with a page."""

import pathlib
import sys
import time

import pytest

sys.path.insert(0, str(pathlib.Path(__file__).parent.parent / "pages"))
import blocks  # noqa: E402
import check_pages  # noqa: E402
import plan  # noqa: E402


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


@pytest.fixture
def page(tmp_path: pathlib.Path, monkeypatch: pytest.MonkeyPatch) -> pathlib.Path:
    """A page of a clone without tools and examples."""
    for folder in ("docs", "examples", "tools"):
        (tmp_path / folder).mkdir()
    monkeypatch.setattr(check_pages, "ROOT", tmp_path)
    return tmp_path / "docs/page.md"


def test_commands_run_and_their_faults_are_named(page: pathlib.Path) -> None:
    page.write_text("```console\n$ echo a\na\n$ echo b\nc\n$ false\n```\n")
    faults, ran, left = check_pages.check("docs/page.md")
    assert (ran, left) == (3, 0)
    assert [each.splitlines()[0] for each in faults] == [
        "docs/page.md:4: echo b: did not print: c",
        "docs/page.md:6: false: exit code 1, not 0",
    ]


def test_reasons_that_are_not_true_any_more_are_faults(page: pathlib.Path, monkeypatch: pytest.MonkeyPatch) -> None:
    page.write_text("```console\n$ false\n```\n")
    (page.parent.parent / "run").write_text("echo")
    reasons = {"false": plan.Reason("", "run", "false"), "gone": plan.Reason("")}
    monkeypatch.setitem(plan.NOT_RUN, "docs/page.md", reasons)
    faults, ran, left = check_pages.check("docs/page.md")
    assert (ran, left) == (0, 1)
    assert faults == ["docs/page.md: no command 'gone', of which plan.py knows", "docs/page.md: false: run has no 'false'"]


def test_a_command_that_takes_too_long_ends_with_what_it_started(page: pathlib.Path, monkeypatch: pytest.MonkeyPatch) -> None:
    page.write_text("```console\n$ echo begun; sleep 60 & sleep 60\n```\n")
    monkeypatch.setattr(check_pages, "SECONDS", 1)
    begin = time.monotonic()
    (fault,) = check_pages.check("docs/page.md")[0]
    assert "takes more than 1 s\nbegun" in fault
    assert time.monotonic() - begin < 30, "nothing holds the output open"


def test_a_command_is_shortened_by_words_of_the_plan(page: pathlib.Path, monkeypatch: pytest.MonkeyPatch) -> None:
    page.write_text("```console\n$ echo   a  # takes a minute\na short\n$ echo b\n```\n")
    monkeypatch.setitem(plan.MORE_WORDS, "docs/page.md", {"echo a": "short", "echo c": "short"})
    faults, ran, left = check_pages.check("docs/page.md")
    assert (ran, left) == (2, 0)
    assert faults == ["docs/page.md: no command 'echo c', of which plan.py knows"]
