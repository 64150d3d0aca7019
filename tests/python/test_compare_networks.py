"""tools/compare-networks: what it calls equal, near, and wrong, and what it says of it."""

import pathlib
import sys

import numpy as np
import pytest
from conftest import ROOT

sys.path.insert(0, str(ROOT / "tools"))

compare = pytest.importorskip("compare_networks", exc_type=ImportError)


def floats(*values: float) -> np.ndarray:
    return np.array(values, np.float32)


def test_an_output_is_equal_near_or_as_near_as_levels_are_to_each_other() -> None:
    expected = floats(1, 100)
    assert compare.judge_one(floats(1, 100), expected, None, 1e-5) == ("exact", 0)
    assert compare.judge_one(floats(1, 100.0009), expected, None, 1e-5)[0] == "close"
    assert compare.judge_one(floats(1, 100.01), expected, None, 1e-5)[0] == "FAIL"
    assert compare.judge_one(floats(1, 100.01), expected, floats(1.02, 100), 1e-5)[0] == "as levels"
    assert compare.judge_one(floats(1, 100.03), expected, floats(1.02, 100), 1e-5)[0] == "FAIL"
    assert compare.judge_one(floats(np.nan, 100), expected, floats(2, 100), 1e-5)[0] == "FAIL"


def test_integers_have_no_tolerance() -> None:
    ones = np.ones(3, np.int64)
    assert compare.judge_one(ones + 1, ones, None, 1e-5) == ("FAIL", 1)
    assert compare.judge_one(ones + 1, ones, ones + 1, 1e-5) == ("as levels", 1)


def test_the_worst_output_is_the_verdict() -> None:
    assert compare.worst([("exact", 0.0), ("as levels", 0.5), ("close", 1e-6)]) == ("as levels", 0.5)


def test_frames_of_a_stream_come_in_the_order_of_their_numbers(tmp_path: pathlib.Path) -> None:
    for number in (10, 9, 100, 0):
        (tmp_path / f"test_data_set_{number}").mkdir()
    (tmp_path / "model.onnx").write_bytes(b"")
    assert [compare.number_of(one) for one in compare.Case(tmp_path).sets] == [0, 9, 10, 100]


def test_levels_that_fail_are_left_out(capsys: pytest.CaptureFixture[str]) -> None:
    class Session:
        def callee(self, timer: object) -> "Session":
            return self

    class Timer:
        def series(self, callee: Session, calls: int, count: int) -> None:
            if callee is basic:
                raise RuntimeError("a timed call failed")

    basic, every = Session(), Session()
    assert compare.that_run({"basic": basic, "all": every}, Timer()) == {"all": every}
    assert "fails at level basic" in capsys.readouterr().err


def test_the_page_names_what_is_slower() -> None:
    row = {"kind": "k", "nodes": 1, "verdict": "exact", "difference": 0.0, "golden": "recorded", "outputs": 1,
           "exact_outputs": 1, "text_bytes": 1000, "weights_bytes": 2000, "arena_bytes": 3000, "etch_rounds": [2, 2],
           "ort_rounds": [1, 1], "ort_settings": "all", "etch_us": 2.0}
    result = {"networks": {"a": row | {"name": "a", "ort_us": 1.0}, "b": row | {"name": "b", "ort_us": 8.0}}}
    text = compare.markdown(result)
    assert "2 networks timed, geometric mean of the ratios 1.41; slower than ONNX Runtime: a." in text
    assert "| b | k | 1 | 2 (2..2) | 8 (1..1) | all | 4.00 | 1.0 | 2.0 | 3.0 | exact |  |" in text
