"""quantize, record and debug, through the functions and through the command."""

import json
import pathlib
import subprocess
import sys

import etch_onnx as etch
import numpy as np
import onnx
import pytest
from conftest import DIGITS
from etch_onnx import _by_hand, _debug, _quantize, _reference
from etch_onnx._samples import Samples, read_data_set
from onnx import TensorProto, helper, numpy_helper


def command(*words: object) -> "subprocess.CompletedProcess[str]":
    line = [sys.executable, "-m", "etch_onnx.cli", *map(str, words)]
    return subprocess.run(line, capture_output=True, text=True, check=False)


@pytest.fixture(scope="module")
def quantized(float_model: pathlib.Path, tmp_path_factory: pytest.TempPathFactory) -> etch.Quantized:
    return etch.quantize(float_model, tmp_path_factory.mktemp("int8"), float_model.parent / "samples.npz")


def test_quantized_networks_are_integer_close_and_checked(quantized: etch.Quantized) -> None:
    assert quantized.samples == 16 and len(quantized.data_sets) == 3
    assert quantized.float_macs == 0 and quantized.macs == 4 * 27 * 16 + 64 * 5
    (output,) = quantized.comparison
    assert output.output == "y" and 30 < output.sqnr_db < 60 and output.agreement is not None
    assert output.agreement > 0.9
    written = json.loads((quantized.model.parent / "comparison.json").read_text())
    assert written["samples"] == 16 and written["outputs"][0]["sqnr_db"] == output.sqnr_db
    weights = [numpy_helper.to_array(each) for each in onnx.load(quantized.model).graph.initializer]
    assert any(each.dtype == np.float32 and each.shape == (4,) for each in weights), "a scale per channel"
    assert etch.check(quantized.model)


def test_the_command_quantizes_to_operators(float_model: pathlib.Path, tmp_path: pathlib.Path) -> None:
    samples = np.load(float_model.parent / "samples.npz")["x"]
    (tmp_path / "samples").mkdir()
    for k in range(4):
        np.save(tmp_path / "samples" / f"{k}.npy", samples[k : k + 1])
    done = command("quantize", float_model, "--calibration", tmp_path / "samples", "-o", tmp_path / "int8",
                   "--format", "qoperator", "--activations", "uint8", "--data-sets", 1)  # fmt: skip
    assert done.returncode == 0, done.stderr
    assert "quantized with 4 samples, 1 recorded" in done.stdout and "top-1 agreement" in done.stdout
    assert [each.op_type for each in onnx.load(tmp_path / "int8" / "model.onnx").graph.node].count("QLinearConv") == 1
    found = etch.debug(tmp_path / "int8" / "model.onnx", float_model, tmp_path / "samples")
    assert [each.tensor for each in found if each.op == "QLinearConv"] == ["r"], "its Relu is the limit of its range"
    assert all(each.sqnr_db > 20 for each in found)


@pytest.mark.parametrize(
    ("opset", "keepdims", "axes", "pooled"),
    [(17, 1, [2, 3], True), (18, 0, [-1, 2], True), (18, 1, [3], False), (17, 0, [1, 2, 3], False), (17, 1, [1, 2], True),
     (18, 0, [-2, 1], True)],
)
def test_means_over_all_positions_become_pools(
    opset: int, keepdims: int, axes: "list[int]", pooled: bool, tmp_path: pathlib.Path
) -> None:
    helper, rng = onnx.helper, np.random.default_rng(1)
    constants = [numpy_helper.from_array(rng.standard_normal((4, 3, 3, 3)).astype(np.float32), "w")]
    inputs, attributes = ["r"], {"keepdims": keepdims, "axes": axes}
    if opset >= 18:
        constants.append(numpy_helper.from_array(np.array(attributes.pop("axes")), "axes"))
        inputs.append("axes")
    nodes = [helper.make_node("Conv", ["x", "w"], ["r"], "conv"),
             helper.make_node("ReduceMean", inputs, ["y"], "mean", **attributes)]  # fmt: skip
    ports = [[helper.make_tensor_value_info(name, 1, shape)] for name, shape in (("x", [1, 3, 6, 6]), ("y", None))]
    model = helper.make_model(helper.make_graph(nodes, "net", *ports, constants),
                              opset_imports=[helper.make_opsetid("", opset)], ir_version=8)  # fmt: skip
    np.savez(tmp_path / "samples.npz", x=rng.standard_normal((4, 1, 3, 6, 6)).astype(np.float32))
    made = etch.quantize(model, tmp_path / "int8", tmp_path / "samples.npz")
    assert made.comparison[0].sqnr_db > 25
    kinds = [each.op_type for each in onnx.load(made.model).graph.node]
    assert ("GlobalAveragePool" in kinds, "ReduceMean" in kinds) == (pooled, not pooled)
    if pooled:  # sums of floats depend on their order
        assert etch.check(made.model)


def _old_network(activation: "onnx.NodeProto") -> onnx.ModelProto:
    """Of operator set 9, as PyTorch exported by default for years: Conv, an activation, Softmax over the rest of the axes."""
    rng = np.random.default_rng(2)
    weights = (rng.standard_normal((4, 3, 3, 3)) * np.array([1, 30, 0.1, 3]).reshape(4, 1, 1, 1)).astype(np.float32)
    nodes = [helper.make_node("Conv", ["x", "w"], ["c"], "conv"), activation,
             helper.make_node("Softmax", ["a"], ["y"], "softmax", axis=1)]  # fmt: skip
    ports = [[helper.make_tensor_value_info(name, 1, shape)] for name, shape in (("x", [1, 3, 6, 6]), ("y", [1, 4, 4, 4]))]
    graph = helper.make_graph(nodes, "net", *ports, [numpy_helper.from_array(weights, "w")])
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 9)], ir_version=4)


def test_networks_of_old_operator_sets_get_scales_per_channel(tmp_path: pathlib.Path) -> None:
    samples = np.random.default_rng(1).standard_normal((4, 1, 3, 6, 6)).astype(np.float32)
    np.savez(tmp_path / "samples.npz", x=samples)
    network = _old_network(helper.make_node("Relu", ["c"], ["a"], "relu"))
    made = etch.quantize(network, tmp_path / "int8", tmp_path / "samples.npz")
    assert made.float_macs == 0 and made.comparison[0].sqnr_db > 20
    scales = [numpy_helper.to_array(each) for each in onnx.load(made.model).graph.initializer]
    assert any(each.dtype == np.float32 and each.shape == (4,) for each in scales)
    assert etch.check(made.model)


def _quantize_nodes(nodes: "list[onnx.NodeProto]", constants: "dict[str, np.ndarray]", opset: int, to: pathlib.Path
                    ) -> etch.Quantized:  # fmt: skip
    """A network of x [1, 16]."""
    ports = [[helper.make_tensor_value_info(name, 1, shape)] for name, shape in (("x", [1, 16]), ("y", None))]
    graph = helper.make_graph(nodes, "net", *ports, [numpy_helper.from_array(value, name) for name, value in constants.items()])
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", opset)], ir_version=6)
    np.savez(to / "samples.npz", x=np.random.default_rng(1).standard_normal((8, 1, 16)).astype(np.float32))
    return etch.quantize(model, to / "int8", to / "samples.npz")


def test_sizes_of_an_old_resize_lose_their_empty_scales(tmp_path: pathlib.Path) -> None:
    nodes = [helper.make_node("Reshape", ["x", "image"], ["r"]), helper.make_node("Conv", ["r", "w"], ["c"]),
             helper.make_node("Resize", ["c", "none", "none", "sizes"], ["s"], mode="nearest"),
             helper.make_node("Conv", ["s", "v"], ["y"])]  # fmt: skip
    constants = {"image": np.array([1, 1, 4, 4]), "w": np.ones((2, 1, 1, 1), np.float32), "none": np.zeros(0, np.float32),
                 "v": np.ones((3, 2, 3, 3), np.float32), "sizes": np.array([1, 2, 8, 8])}  # fmt: skip
    assert _quantize_nodes(nodes, constants, 11, tmp_path).comparison[0].sqnr_db > 30


def test_biases_with_an_axis_too_many_are_quantized(tmp_path: pathlib.Path) -> None:
    nodes = [helper.make_node("MatMul", ["x", "w"], ["m"]), helper.make_node("Add", ["m", "b"], ["y"])]
    rng = np.random.default_rng(3)
    constants = {"w": rng.standard_normal((16, 4)).astype(np.float32), "b": np.array([[1, 1e-3, -2, 0]], np.float32)}
    made = _quantize_nodes(nodes, constants, 13, tmp_path)
    assert made.float_macs == 0 and made.comparison[0].sqnr_db > 30


def test_a_quantizer_that_fails_is_an_error(
    float_model: pathlib.Path, tmp_path: pathlib.Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fails(*_: object, **__: object) -> None:
        raise ValueError("ambiguous\nmore")

    monkeypatch.setattr(_quantize._quantizer(), "quantize_static", fails)
    with pytest.raises(etch.EtchError, match="quantizer fails: ValueError: ambiguous; --exclude NODE"):
        etch.quantize(float_model, tmp_path / "int8", float_model.parent / "samples.npz")


@pytest.mark.parametrize(("opset", "end"), [(9, "opset_version=13 or more"), (12, "or quantize it with --per-tensor")])
def test_what_the_converter_cannot_raise_is_said(tmp_path: pathlib.Path, opset: int, end: str) -> None:
    """Below 11 the quantizer has the network converted for scales per tensor, too. A name that steers a terminal is shown."""
    np.savez(tmp_path / "samples.npz", x=np.zeros((1, 1, 3, 6, 6), np.float32))
    network = _old_network(helper.make_node("Affine\x1b[31m", ["c"], ["a"], "affine"))
    network.opset_import[0].version = opset
    onnx.save(network, tmp_path / "old.onnx")
    done = command("quantize", tmp_path / "old.onnx", "--calibration", tmp_path / "samples.npz", "-o", tmp_path / "int8")
    assert done.returncode == 2 and f"need operator set 13, the network has {opset}" in done.stderr, done.stderr
    assert done.stderr.endswith(f"{end}\n") and "Affine\\x1b[31m" in done.stderr, done.stderr
    assert not (tmp_path / "int8").exists()


def test_missing_files_and_wrong_samples_are_named(float_model: pathlib.Path, tmp_path: pathlib.Path) -> None:
    (tmp_path / "alone.onnx").write_bytes(float_model.read_bytes())
    (tmp_path / "text.onnx").write_text("no model")
    np.savez(tmp_path / "other.npz", z=np.zeros(3))
    samples = float_model.parent / "samples.npz"
    for model, calibration, part in (
        ("alone.onnx", samples, "float.onnx.data"),
        ("text.onnx", samples, "no ONNX model"),
        (float_model, tmp_path / "other.npz", "has no array 'x'"),
        (float_model, tmp_path / "none.npz", "none.npz"),
        (float_model, DIGITS.parent / "ci", "has no .npy or .npz file and no test data"),
    ):
        done = command("quantize", tmp_path / model, "--calibration", calibration, "-o", tmp_path / "out")
        assert done.returncode in (1, 3), done.stderr
        assert part in done.stderr and "Traceback" not in done.stderr, done.stderr


def test_recorded_data_is_what_etch_computes(quantized: etch.Quantized, tmp_path: pathlib.Path) -> None:
    done = command("record", quantized.model, "--count", 2, "--seed", 5, "-o", tmp_path)
    assert done.stdout.split() == [str(tmp_path / f"test_data_set_{k}") for k in range(2)], done.stderr
    folders = etch.record(quantized.model, quantized.model.parent, output=tmp_path / "again")
    assert len(folders) == 3
    assert (folders[1] / "output_0.pb").read_bytes() == (quantized.data_sets[1] / "output_0.pb").read_bytes()
    assert etch.check(quantized.model, data=[tmp_path / "test_data_set_0", folders[2]])


def test_debug_measures_tensors_against_the_float_network(
    quantized: etch.Quantized, float_model: pathlib.Path
) -> None:
    found = etch.debug(quantized.model, float_model, float_model.parent / "samples.npz")
    assert [each.tensor for each in found] == ["x", "r", "f", "y"]
    for each in found:
        assert 30 < each.sqnr_db < 60 and 0.999 < each.cosine <= 1
    assert found[0].saturated == 0.0, "the ranges come from these samples"


def test_debug_compares_rows_that_are_counted_where_there_are_as_many(tmp_path: pathlib.Path) -> None:
    def network(factor: float) -> onnx.ModelProto:
        nodes = [helper.make_node("Mul", ["x", "factor"], ["scaled"]), helper.make_node("NonZero", ["scaled"], ["at"])]
        ports = [helper.make_tensor_value_info("x", TensorProto.FLOAT, [4])]
        constants = [numpy_helper.from_array(np.float32(factor), "factor")]
        results = [onnx.ValueInfoProto(name="at")]
        return helper.make_model(helper.make_graph(nodes, "net", ports, results, constants), ir_version=8)

    np.savez(tmp_path / "samples.npz", x=np.float32([[0, 1, 2, 0], [0, 0, 0, 0], [1, 1, 1, 1]]))
    same = etch.debug(network(2), network(2), tmp_path / "samples.npz")
    assert [(each.tensor, each.elements, each.different) for each in same] == [("scaled", 12, 0), ("at", 6, 0)]
    other = etch.debug(network(2), network(0), tmp_path / "samples.npz")
    assert [each.tensor for each in other] == ["scaled"]


def test_debug_names_the_first_layer_that_departs(
    quantized: etch.Quantized, float_model: pathlib.Path, tmp_path: pathlib.Path
) -> None:
    model = onnx.load(quantized.model)
    same = command("debug", quantized.model, "--against", quantized.model, "--data", quantized.model.parent)
    assert "first that differs: none" in same.stdout and "lowest" not in same.stdout, same.stdout + same.stderr
    assert "lowest: " in command("debug", quantized.model, "--against", float_model, "--data", quantized.model.parent).stdout
    for tensor in model.graph.initializer:
        if tensor.name == "m_quantized":
            tensor.CopyFrom(numpy_helper.from_array(-numpy_helper.to_array(tensor), tensor.name))
    onnx.save(model, tmp_path / "changed.onnx")
    done = command("debug", tmp_path / "changed.onnx", "--against", quantized.model, "--data",
                   quantized.model.parent, "--json")  # fmt: skip
    result = json.loads(done.stdout)
    before = [each for each in result["tensors"] if each["tensor"] == "f_QuantizeLinear_Output"]
    assert before[0]["different"] == 0 and before[0]["sqnr_db"] is None
    assert result["first_different"] == result["first_below_least"] == "y_QuantizeLinear_Input"


def test_samples_are_taken_as_people_save_them(tmp_path: pathlib.Path) -> None:
    shapes: dict[str, tuple[int | None, ...]] = {"x": (None, 3, 4, 4)}
    np.save(tmp_path / "0.npy", np.ones((3, 4, 4)))
    np.save(tmp_path / "1.npy", np.ones((1, 3, 4, 4), np.float32))
    for sample in Samples(tmp_path, shapes):
        assert sample["x"].shape == (1, 3, 4, 4) and sample["x"].dtype == np.float32
    np.save(tmp_path / "all.npy", np.ones((5, 3, 4, 4)))
    (kept,) = {sample["x"].dtype for sample in Samples(tmp_path / "0.npy", shapes, {"x": np.dtype(np.float64)})}
    assert kept == np.float64
    together = Samples(tmp_path / "all.npy", shapes)
    assert len(together) == 5 and together[4]["x"].shape == (1, 3, 4, 4) and together[4]["x"].dtype == np.float32


def test_samples_have_the_batch_of_the_network(tmp_path: pathlib.Path) -> None:
    np.save(tmp_path / "all.npy", np.arange(6, dtype=np.float32).reshape(6, 1))
    samples = Samples(tmp_path / "all.npy", {"x": (2, 1)})
    assert [sample["x"].ravel().tolist() for sample in samples] == [[0, 1], [2, 3], [4, 5]]


def test_files_come_by_their_numbers_and_a_data_set_is_one_sample(tmp_path: pathlib.Path) -> None:
    for number in (10, 9):
        np.save(tmp_path / f"input_{number}.npy", np.full((1, 1), number, np.float32))
    np.save(tmp_path / "input_0.npy", np.zeros((1, 1), np.float32))
    assert [float(sample["x"][0, 0]) for sample in Samples(tmp_path, {"x": (1, 1)})] == [0, 9, 10]
    np.save(tmp_path / "output_0.npy", np.ones((1, 1), np.float32))
    assert [float(sample["x"][0, 0]) for sample in Samples(tmp_path, {"x": (1, 1)})] == [0]


def test_data_sets_of_bare_elements_are_read(tmp_path: pathlib.Path, quantized: etch.Quantized) -> None:
    sets = [np.arange(48, dtype="<f4") / 48, -np.arange(48, dtype="<f4") / 48]
    for k, each in enumerate(sets):
        (tmp_path / f"test_data_set_{k}").mkdir()
        each.tofile(tmp_path / f"test_data_set_{k}" / "input_0.bin")
    folders = etch.record(quantized.model, tmp_path, output=tmp_path / "recorded")
    inputs = [read_data_set(each, ["x"])["x"] for each in folders]
    assert all((each == expected.reshape(1, 3, 4, 4)).all() for each, expected in zip(inputs, sets)) and len(inputs) == 2
    assert etch.check(quantized.model, data=folders)
    found = etch.debug(quantized.model, quantized.model, tmp_path)
    assert found and not [each.tensor for each in found if each.saturated is not None and not each.exact]
    (tmp_path / "test_data_set_1" / "input_0.bin").write_bytes(b"12345678")
    with pytest.raises(etch.EtchError, match=r"its 8 bytes are not float32\[1, 3, 4, 4\]"):
        etch.record(quantized.model, tmp_path, output=tmp_path / "recorded")


def test_an_open_size_of_bare_elements_follows_from_their_number(tmp_path: pathlib.Path) -> None:
    np.arange(6, dtype="<i2").tofile(tmp_path / "input_0.bin")
    types = {"x": np.dtype(np.int16)}
    open_sizes: list[tuple[tuple[int | None, ...], tuple[int, ...]]] = [((None, 2), (3, 2)), ((None, None, 2), (1, 3, 2))]
    for shape, found in open_sizes:
        (sample,) = Samples(tmp_path, {"x": shape}, types)
        assert sample["x"].shape == found and sample["x"].dtype == np.int16 and sample["x"].ravel()[5] == 5
    with pytest.raises(etch.EtchError, match=r"its 12 bytes are not int16\[\?, 4\]"):
        Samples(tmp_path, {"x": (None, 4)}, types)[0]


def test_only_tensors_have_types_of_elements() -> None:
    x, y = helper.make_tensor_sequence_value_info("x", TensorProto.FLOAT, None), helper.make_tensor_value_info("y", 7, ())
    graph = helper.make_graph([helper.make_node("SequenceLength", ["x"], ["y"])], "net", [x], [y])
    assert _reference.types(helper.make_model(graph)) == {}


def test_samples_are_divided_by_the_sizes_that_are_given(tmp_path: pathlib.Path) -> None:
    ports = [onnx.helper.make_tensor_value_info(name, onnx.TensorProto.FLOAT, ["n", 2]) for name in "xy"]
    graph = onnx.helper.make_graph([onnx.helper.make_node("Relu", ["x"], ["y"])], "net", ports[:1], ports[1:])
    model = onnx.helper.make_model(graph, opset_imports=[onnx.helper.make_opsetid("", 17)], ir_version=8)
    onnx.save(model, tmp_path / "net.onnx")
    np.save(tmp_path / "all.npy", np.arange(-8, 8, dtype=np.float32).reshape(8, 2))
    for sizes in ({"dim": {"n": 4}}, {"input_shape": {"x": (4, 2)}}):
        found = etch.check(tmp_path / "net.onnx", "scalar", data=tmp_path / "all.npy", **sizes)
        assert found and "2 of 2 outputs exact" in found.text, found.text
    for option in ("--dim=n=4", "--input-shape=x=4,2"):
        done = command("check", tmp_path / "net.onnx", "--target", "scalar", option, "--data", tmp_path / "all.npy")
        assert done.returncode == 0 and "2 of 2 outputs exact" in done.stdout, done.stdout + done.stderr
    folders = etch.record(tmp_path / "net.onnx", tmp_path / "all.npy", output=tmp_path, dim={"n": 2})
    assert [read_data_set(each, ["x"])["x"].shape for each in folders] == [(2, 2)] * 4


def test_what_is_left_of_an_earlier_quantization_goes(float_model: pathlib.Path, tmp_path: pathlib.Path) -> None:
    samples = float_model.parent / "samples.npz"
    etch.quantize(float_model, tmp_path / "out", samples, data_sets=3)
    etch.quantize(float_model, tmp_path / "out", samples, data_sets=1, activations="uint8")
    assert [each.name for each in sorted((tmp_path / "out").iterdir())] == ["comparison.json", "model.onnx", "test_data_set_0"]
    with pytest.raises(etch.EtchError):
        etch.quantize(float_model, tmp_path / "none", tmp_path / "no.npz")
    assert not (tmp_path / "none").exists()


def test_equally_large_elements_agree_with_the_largest() -> None:
    expected = np.array([[0.1, 0.2, 0.3]] * 3)
    actual = np.array([[0.2, 0.2, 0.2], [0.1, 0.3, 0.2], [0.0, 0.1, 0.4]])
    assert _quantize._agrees(actual, expected).tolist() == [True, False, True]


def test_layers_that_no_quantizer_has_are_named(tmp_path: pathlib.Path) -> None:
    rng = np.random.default_rng(2)
    weights = [numpy_helper.from_array(rng.standard_normal(shape).astype(np.float32), name)
               for name, shape in (("w", (1, 6, 3)), ("r", (1, 6, 2)))]  # fmt: skip
    node = helper.make_node("GRU", ["x", "w", "r"], ["y"], hidden_size=2)
    ports = [helper.make_tensor_value_info(n, 1, s) for n, s in (("x", [4, 1, 3]), ("y", [4, 1, 1, 2]))]
    graph = helper.make_graph([node], "net", ports[:1], ports[1:], weights)
    onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8), tmp_path / "net.onnx")
    np.savez(tmp_path / "samples.npz", x=rng.standard_normal((3, 4, 1, 3)))
    done = command("quantize", tmp_path / "net.onnx", "--calibration", tmp_path / "samples.npz", "-o", tmp_path / "out")
    assert "stay float: ONNX Runtime's quantizer has no form of GRU" in done.stdout, done.stdout + done.stderr
    assert done.stderr == "", "the notes of the quantizer are not for users"


def test_the_command_checks_samples_in_files_of_numpy(quantized: etch.Quantized, tmp_path: pathlib.Path) -> None:
    stacked = {"x": np.stack([read_data_set(each, ["x"])["x"] for each in quantized.data_sets])}
    np.savez(tmp_path / "inputs.npz", **stacked)
    done = command("check", quantized.model, "--data", tmp_path / "inputs.npz", f"--data={quantized.data_sets[0]}")
    assert done.returncode == 0 and "4 of 4 outputs exact, 4 data sets" in done.stdout, done.stdout + done.stderr
    stacked["y"] = np.stack([read_data_set(each, ["y"], "output")["y"] for each in quantized.data_sets])
    np.savez_compressed(tmp_path / "both.npz", **stacked)
    done = command("check", quantized.model, f"--data={tmp_path / 'both.npz'}")
    assert done.returncode == 0 and "both_2 output_0: exact" in done.stdout, done.stdout + done.stderr
    stacked["y"][1] += 1
    np.savez(tmp_path / "wrong.npz", **stacked)
    assert command("check", quantized.model, "--data", tmp_path / "wrong.npz").returncode == 4
    # Of another network than the file's ONNX Runtime has no outputs: the program says what is missing.
    cut = command("check", quantized.model, "--cut", "y", "--data", tmp_path / "inputs.npz")
    assert cut.returncode == 3 and "has no array 'y' to compare" in cut.stderr, cut.stdout + cut.stderr
    with pytest.raises(etch.EtchError, match="has no array 'y' to compare"):
        etch.check(quantized.model, data=tmp_path / "inputs.npz", cut="y")


def _layer_results(model: onnx.ModelProto) -> list[str]:
    return [node.output[0] for node in model.graph.node if node.op_type == "QuantizeLinear"]


def test_an_element_by_hand_is_what_onnx_runtime_computes(quantized: etch.Quantized, tmp_path: pathlib.Path) -> None:
    model = onnx.load(quantized.model)
    constants = _debug._constants(model)
    layers = [(name, _by_hand.layer_of(model, constants, name)) for name in _layer_results(model)]
    known = [(name, layer) for name, layer in layers if layer is not None]
    assert [layer.node.op_type for _, layer in known] == ["Conv", "MatMul"]
    sample = Samples(quantized.model.parent, _reference.shapes(model))[0]
    for name, layer in known:
        values = _reference.run(_debug._session_with(model, [name, layer.x]), sample)
        for index in np.ndindex(values[name].shape):
            assert _by_hand.element(layer, values[layer.x], index).result == values[name][index], (name, index)


def test_debug_writes_out_the_first_element_that_differs(quantized: etch.Quantized, tmp_path: pathlib.Path) -> None:
    model = onnx.load(quantized.model)
    for tensor in model.graph.initializer:
        if tensor.name == "w_quantized":
            tensor.CopyFrom(numpy_helper.from_array(np.flip(numpy_helper.to_array(tensor), 0).copy(), tensor.name))
    onnx.save(model, tmp_path / "changed.onnx")
    page = tmp_path / "report.html"
    done = command("debug", tmp_path / "changed.onnx", "--against", quantized.model, "--data", quantized.model.parent,
                   "--report", page)  # fmt: skip
    assert done.returncode == 0, done.stderr
    assert "first integer that differs: r_QuantizeLinear_Output[0, " in done.stdout and ": accumulator " in done.stdout
    value = done.stdout.split(" of sample 0 is ")[1].split(",")[0]
    assert done.stdout.rstrip().endswith(f": {value}"), "by hand it is what the generated code computes"
    text = page.read_text()
    assert text.index('<h2 id="accuracy">') < text.index('<h2 id="graph">') and '<a href="#accuracy">' in text
    assert ": accumulator " in text and text.count("<td>r_QuantizeLinear_Output</td>") == 1


def test_debug_prints_names_as_the_program_does(tmp_path: pathlib.Path) -> None:
    name = "a\x1b[31m\n" + "n" * 80
    nodes = [helper.make_node("Relu", ["x"], [name]), helper.make_node("Neg", [name], ["y"])]
    ports = [helper.make_tensor_value_info(port, TensorProto.FLOAT, [1, 4]) for port in "xy"]
    onnx.save(helper.make_model(helper.make_graph(nodes, "net", ports[:1], ports[1:]), ir_version=8,
                                opset_imports=[helper.make_opsetid("", 17)]), tmp_path / "net.onnx")  # fmt: skip
    np.save(tmp_path / "0.npy", np.ones((1, 4), np.float32))
    done = command("debug", tmp_path / "net.onnx", "--against", tmp_path / "net.onnx", "--data", tmp_path)
    assert done.returncode == 0, done.stderr
    assert "a\\x1b[31m\\x0a" + "n" * 45 in done.stdout and "..." in done.stdout
    assert "\x1b" not in done.stdout and "n" * 60 not in done.stdout


def test_the_report_of_debug_has_the_sizes_of_the_samples(tmp_path: pathlib.Path) -> None:
    ports = [helper.make_tensor_value_info(name, TensorProto.FLOAT, [1, "words", 4]) for name in "xy"]
    graph = helper.make_graph([helper.make_node("Relu", ["x"], ["y"])], "net", ports[:1], ports[1:])
    onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8), tmp_path / "net.onnx")
    np.save(tmp_path / "sample.npy", np.ones((1, 3, 4), np.float32))
    done = command("debug", tmp_path / "net.onnx", "--against", tmp_path / "net.onnx", "--data", tmp_path,
                   "--report", tmp_path / "report.html")  # fmt: skip
    assert done.returncode == 0, done.stderr
    assert "1\u00d73\u00d74" in (tmp_path / "report.html").read_text(encoding="utf-8")


def test_other_commands_are_the_programs(tmp_path: pathlib.Path) -> None:
    assert command("--version").stdout == etch.version() + "\n"
    refused = command("compile", tmp_path / "nothing.onnx", "-o", tmp_path / "out")
    assert refused.returncode == 3 and "error[E-IO]" in refused.stderr
    done = command("compile", DIGITS / "model.onnx", "-o", tmp_path / "out", "-q", "--target", "scalar")
    assert done.returncode == 0 and (tmp_path / "out" / "model.h").exists()
    wrong = command("record")
    assert wrong.returncode == 1 and "etch record --help" in wrong.stderr
    program = subprocess.run([etch.program(), "debug", "x"], capture_output=True, text=True, check=False)
    assert program.returncode == 1 and "pip install 'etch-onnx[quantize]'" in program.stderr
