"""The manual page and the completions that tools/make_manual.py makes from the program's help."""

import pathlib
import subprocess
import sys

import etch_onnx as etch
import pytest
from conftest import ROOT


@pytest.fixture(scope="module")
def manual(tmp_path_factory: pytest.TempPathFactory) -> pathlib.Path:
    folder = tmp_path_factory.mktemp("manual")
    subprocess.run([sys.executable, ROOT / "tools" / "make_manual.py", etch.program(), folder], check=True)
    return folder


def test_the_page_describes_every_option_of_every_command(manual: pathlib.Path) -> None:
    page = (manual / "etch.1").read_text().replace("\\-", "-")
    for words in (["compile"], ["check"], ["golden", "record"], ["inspect"]):
        assert f".SH ETCH {' '.join(words).upper()}\n" in page
        text = subprocess.run([etch.program(), *words, "--help"], capture_output=True, text=True, check=True).stdout
        for line in text.splitlines():
            if line.startswith("  -"):
                names = line.split()[0].replace(",", ", ")
                assert f"\\fB{names}\\fR" in page
    assert "\\fB-o, --output\\fR \\fIDIR\\fR\nfolder to write to\n" in page
    assert "\\fB--strict-integer\\fR\nwith --requantize integer: refuse" in page


def test_bash_completes_commands_options_and_files(manual: pathlib.Path) -> None:
    script = 'source "$0"; COMP_WORDS=("$@"); COMP_CWORD=$(($# - 1)); _etch; echo "${COMPREPLY[*]}"'

    def completed(*words: str) -> list[str]:
        line = ["bash", "-c", script, manual / "etch.bash", *words]
        return subprocess.run(line, capture_output=True, text=True, check=True).stdout.split()

    assert completed("etch", "co") == ["compile"]
    assert completed("etch", "compile", "--lib") == ["--library"]
    assert completed("etch", "-q", "golden", "rec") == ["record"]
    assert completed("etch", "golden", "record", "m.onnx", "--targ") == ["--targets"]
    assert completed("etch", "check", str(ROOT / "pyproj")) == [str(ROOT / "pyproject.toml")]


def test_other_shells_get_the_same_options(manual: pathlib.Path) -> None:
    assert "'*--library[also build a shared library" in (manual / "_etch").read_text()
    assert "-l library -r -d 'also build a shared library" in (manual / "etch.fish").read_text()
