"""tools/bench-firmware: what its tables hold, with the program and TensorFlow Lite Micro replaced by their results."""

import json
import pathlib
import subprocess
import sys
from typing import Any, NoReturn

import pytest

pytest.importorskip("onnx")

ROOT = pathlib.Path(__file__).parent.parent.parent
sys.path.insert(0, str(ROOT / "tools"))
import bench_firmware
import bench_firmware_tflm

REPORT = {
    "macs": 1000, "instructions": 1500, "modelled_cycles": 1750, "arena_bytes": 640, "code_bytes": 300,
    "layers": [
        {"name": "n0_copy", "macs": 0, "instructions": 300, "modelled_cycles": 350, "code_bytes": 20},
        {"name": "n0_conv", "macs": 1000, "instructions": 1200, "modelled_cycles": 1400, "code_bytes": 280},
    ],
}


@pytest.fixture
def recorded(monkeypatch: pytest.MonkeyPatch) -> None:
    """`etch bench` that prints REPORT; a target without a model of its pipeline refuses --cycles."""
    def run(command: list[str], **_: Any) -> subprocess.CompletedProcess[str]:
        known = "cortex-m4" in command
        if "--cycles" in command and not known:
            return subprocess.CompletedProcess(command, 1, "", "no model of a pipeline")
        report = REPORT if known else {key: REPORT[key] for key in REPORT if key != "modelled_cycles"}
        return subprocess.CompletedProcess(command, 0, json.dumps(report), "")
    monkeypatch.setattr(bench_firmware.subprocess, "run", run)


def run(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], *arguments: object) -> str:
    monkeypatch.setattr(sys, "argv", ["bench-firmware", *map(str, arguments)])
    bench_firmware.main()
    return capsys.readouterr().out


def checkout(folder: pathlib.Path) -> pathlib.Path:
    (folder / "tensorflow/lite/micro").mkdir(parents=True)
    (folder / "tensorflow/lite/micro/micro_interpreter.cc").touch()
    for name in bench_firmware_tflm.LIBRARIES:
        (bench_firmware_tflm.downloads(folder) / name).mkdir(parents=True)
    return folder


def test_steps_have_instructions_and_cycles(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], recorded: None, tmp_path: pathlib.Path,
) -> None:
    out = run(monkeypatch, capsys, "--steps", "net.onnx", "--markdown", tmp_path / "table.md")
    assert "| n0_copy |  | 300 |  | 350 |  | 20 |" in out
    assert "| n0_conv | 1,000 | 1,200 | 1.20 | 1,400 | 1.40 | 280 |" in out
    assert "| whole network | 1,000 | 1,500 | 1.50 | 1,750 | 1.75 | 300 |" in out
    assert (tmp_path / "table.md").read_text() == out


def test_targets_without_a_pipeline_have_instructions_only(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], recorded: None,
) -> None:
    out = run(monkeypatch, capsys, "--steps", "net.onnx", "--target", "cortex-m3")
    assert "| whole network | 1,000 | 1,500 | 1.50 |  |  | 300 |" in out


def test_pairs_are_beside_each_other(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], recorded: None, tmp_path: pathlib.Path,
) -> None:
    (tmp_path / "net.tflite").touch()
    monkeypatch.setattr(bench_firmware_tflm, "count", lambda etch, tflm, target, model, build:
                        {"instructions": 4500, "cycles": 7000, "arena": 2048, "flash": 9})
    out = run(monkeypatch, capsys, "--tflm", checkout(tmp_path / "tflm"), "--pairs", tmp_path)
    assert "| net | 1,500 | 4,500 | 3.00 | 1,750 | 7,000 | 4.00 | 640 | 2,048 |" in out


def test_a_network_that_fails_is_named_and_left_out(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], recorded: None, tmp_path: pathlib.Path,
) -> None:
    (tmp_path / "net.tflite").touch()
    def fail(*_: Any) -> NoReturn:
        raise bench_firmware_tflm.Failed("it does not link")
    monkeypatch.setattr(bench_firmware_tflm, "count", fail)
    monkeypatch.setattr(sys, "argv", ["bench-firmware", "--tflm", str(checkout(tmp_path / "tflm")), "--pairs", str(tmp_path)])
    bench_firmware.main()
    said = capsys.readouterr()
    assert "net: it does not link" in said.err
    assert "| net |" not in said.out


def test_a_folder_that_is_no_checkout_is_refused(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], tmp_path: pathlib.Path,
) -> None:
    with pytest.raises(SystemExit, match="no checkout of tflite-micro"):
        run(monkeypatch, capsys, "--tflm", tmp_path, "--pairs", tmp_path)


def test_missing_libraries_are_named_with_the_command(tmp_path: pathlib.Path) -> None:
    folder = checkout(tmp_path)
    (bench_firmware_tflm.downloads(folder) / "ruy").rmdir()
    with pytest.raises(bench_firmware_tflm.Failed, match="lacks ruy: make .* third_party_downloads"):
        bench_firmware_tflm.check(folder)


@pytest.mark.parametrize("arguments", [["--tflm", "x"], ["--pairs", "x"],
                                       ["--tflm", "x", "--pairs", "x", "--steps", "y"]])
def test_arguments_that_do_not_belong_together_are_refused(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], arguments: list[str],
) -> None:
    with pytest.raises(SystemExit) as error:
        run(monkeypatch, capsys, *arguments)
    assert error.value.code == 2
