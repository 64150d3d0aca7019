"""tools/judge-words: results of 16 bits are those of real numbers, and one that is not is found."""

import sys

import numpy as np
import onnx
import pytest
from conftest import ROOT
from onnx import TensorProto, helper, numpy_helper

sys.path.insert(0, str(ROOT / "tools"))

judge_words = pytest.importorskip("judge_words", exc_type=ImportError)


def network() -> onnx.ModelProto:
    """Convolution and Sigmoid, QDQ with uint16 between them and int8 weights per channel: x [1, 3, 5, 5]."""
    random = np.random.default_rng(3)
    constants = {
        "xs": np.float32(0.0001), "ys": np.float32(0.00013), "zs": np.float32(1 / 65535),
        "half": np.uint16(30000), "none": np.uint16(0),
        "w": random.integers(-127, 128, (4, 3, 3, 3), np.int8), "ws": random.uniform(0.002, 0.004, 4).astype(np.float32),
        "wz": np.zeros(4, np.int8),
    }
    nodes = [
        helper.make_node("QuantizeLinear", ["x", "xs", "half"], ["xq"]),
        helper.make_node("DequantizeLinear", ["xq", "xs", "half"], ["xd"]),
        helper.make_node("DequantizeLinear", ["w", "ws", "wz"], ["wd"], axis=0),
        helper.make_node("Conv", ["xd", "wd"], ["c"], pads=[1] * 4),
        helper.make_node("QuantizeLinear", ["c", "ys", "half"], ["cq"]),
        helper.make_node("DequantizeLinear", ["cq", "ys", "half"], ["cd"]),
        helper.make_node("Sigmoid", ["cd"], ["s"]),
        helper.make_node("QuantizeLinear", ["s", "zs", "none"], ["sq"]),
        helper.make_node("DequantizeLinear", ["sq", "zs", "none"], ["y"]),
    ]
    ports = [helper.make_tensor_value_info("x", TensorProto.FLOAT, [1, 3, 5, 5])]
    results = [helper.make_tensor_value_info("y", TensorProto.FLOAT, [1, 4, 5, 5])]
    stored = [numpy_helper.from_array(np.asarray(value), name) for name, value in constants.items()]
    graph = helper.make_graph(nodes, "net", ports, results, stored)
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 21)], ir_version=10)


def samples() -> dict[str, np.ndarray]:
    return {"x": np.random.default_rng(4).uniform(-2.9, 3.4, (1, 3, 5, 5)).astype(np.float32)}


def test_results_are_those_of_real_numbers() -> None:
    tallies, unjudged = judge_words.judge(network(), samples(), "native")
    assert unjudged == 0
    assert {name: (tally.results, tally.etch) for name, tally in tallies.items()} == {
        "input": (75, 0), "Conv": (100, 0), "Sigmoid": (100, 0)}


def compiled_by_nobody(model: onnx.ModelProto, feeds: dict[str, np.ndarray], _target: str) -> dict[str, np.ndarray]:
    """In the place of Etch, for what the judge says of it: compiling takes seconds."""
    return judge_words.by_onnxruntime(model, feeds)


def test_a_result_that_is_one_too_many_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    def wrong(*arguments) -> dict[str, np.ndarray]:
        results = compiled_by_nobody(*arguments)
        if "cq" in results:
            results["cq"] = results["cq"].copy()
            results["cq"].flat[7] += 1
        return results

    monkeypatch.setattr(judge_words, "by_etch", wrong)
    tallies, _ = judge_words.judge(network(), samples(), "native")
    assert tallies["Conv"].etch == 1 + tallies["Conv"].onnxruntime
    assert tallies["Conv"].etch_farthest > judge_words.TIE
    assert tallies["Sigmoid"].etch > tallies["Sigmoid"].onnxruntime  # of the integer that it is said to have had


def test_a_result_next_to_a_tie_may_be_one_too_many_but_no_more(monkeypatch: pytest.MonkeyPatch) -> None:
    model, feeds = network(), {"x": np.full((1, 3, 5, 5), 0.00005, np.float32)}  # half a step of xq

    def wrong_by(change: int):
        def by_etch(*arguments) -> dict[str, np.ndarray]:
            results = compiled_by_nobody(*arguments)
            return {**results, "xq": results["xq"] + np.uint16(change)} if "xq" in results else results

        return by_etch

    monkeypatch.setattr(judge_words, "by_etch", wrong_by(1))
    assert judge_words.judge(model, feeds, "native")[0]["input"].etch_farthest < judge_words.TIE
    monkeypatch.setattr(judge_words, "by_etch", wrong_by(2))
    assert judge_words.judge(model, feeds, "native")[0]["input"].etch_farthest > judge_words.TIE


def test_other_outputs_with_more_of_them_are_no_judgement(monkeypatch: pytest.MonkeyPatch) -> None:
    def wrong(*arguments) -> dict[str, np.ndarray]:
        results = compiled_by_nobody(*arguments)
        return results if "cq" in results else {name: value + 1 for name, value in results.items()}

    monkeypatch.setattr(judge_words, "by_etch", wrong)
    with pytest.raises(SystemExit, match="y has other values"):
        judge_words.judge(network(), samples(), "native")
