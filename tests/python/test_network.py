"""compile, run, generate, check, bench: on the bundled network, whose recorded outputs must be equal."""

import concurrent.futures
import pathlib
import re
import shutil
import subprocess

import etch_onnx as etch
import numpy as np
import onnx
import pytest
from conftest import DIGITS, ROOT
from etch_onnx._program import Options, arguments
from etch_onnx._samples import data_set_folders, read_data_set


@pytest.fixture(scope="module")
def net() -> etch.Network:
    return etch.compile(DIGITS / "model.onnx", threads=2)


def recorded() -> list[tuple[np.ndarray, np.ndarray]]:
    folders = data_set_folders(DIGITS)
    assert len(folders) == 5
    return [
        (read_data_set(each, ["image"])["image"], read_data_set(each, ["logits"], "output")["logits"])
        for each in folders
    ]


def test_outputs_are_those_that_were_recorded(net: etch.Network) -> None:
    for image, logits in recorded():
        not_contiguous = np.repeat(image, 2, axis=3)[..., ::2]
        for outputs in (net.run(image=image), net.run(image), net.run(not_contiguous)):
            np.testing.assert_array_equal(outputs["logits"], logits)


def test_calls_from_several_threads_do_not_share_memory(net: etch.Network) -> None:
    samples = recorded() * 20
    with concurrent.futures.ThreadPoolExecutor(4) as pool:
        for outputs, (_, logits) in zip(pool.map(lambda each: net.run(each[0]), samples), samples):
            np.testing.assert_array_equal(outputs["logits"], logits)


def test_contiguous_arrays_are_not_copied(net: etch.Network) -> None:
    image, logits = recorded()[0]
    assert net.inputs[0].accept(image) is image
    result = np.empty((1, 10), np.float32)
    net.run_into({"image": image}, {"logits": result})
    np.testing.assert_array_equal(result, logits)


def test_wrong_arrays_are_refused(net: etch.Network) -> None:
    image = recorded()[0][0]
    with pytest.raises(TypeError, match="'image' is float64, the network takes float32"):
        net.run(image=image.astype(np.float64))
    with pytest.raises(ValueError, match=r"shape \(1, 1, 8, 7\)"):
        net.run(image=image[..., :7])
    with pytest.raises(TypeError, match=r"missing: \['image'\], not known: \['picture'\]"):
        net.run(picture=image)
    with pytest.raises(TypeError, match="all of them in their order"):
        net.run(image, image)
    memory = np.zeros(100, np.float32)
    with pytest.raises(ValueError, match="'logits' overlaps"):
        net.run_into({"image": memory[:64].reshape(1, 1, 8, 8)}, {"logits": memory[60:70].reshape(1, 10)})
    with pytest.raises(ValueError, match="writable contiguous"):
        net.run_into({"image": image}, {"logits": np.empty((1, 20), np.float32)[:, ::2]})


def test_the_variant_of_the_cpu_runs_where_there_are_several(tmp_path: pathlib.Path) -> None:
    multi = etch.compile(DIGITS / "model.onnx", "x86-64-multi", output=tmp_path / "code")
    assert (tmp_path / "code" / "net.h").exists()
    image, logits = recorded()[1]
    np.testing.assert_array_equal(multi.run(image)["logits"], logits)


def products(tmp_path: pathlib.Path) -> tuple[pathlib.Path, np.ndarray]:
    """x uint8 [2, n, 3] times constants, and how many there are; its constants."""
    constants = np.arange(12, dtype=np.int8).reshape(3, 4)
    ports = [onnx.helper.make_tensor_value_info("x", onnx.TensorProto.UINT8, [2, "n", 3]),
             onnx.helper.make_tensor_value_info("k", onnx.TensorProto.INT32, [1])]
    results = [onnx.helper.make_tensor_value_info("y", onnx.TensorProto.INT32, [2, "n", 4]),
               onnx.helper.make_tensor_value_info("same", onnx.TensorProto.INT32, [1])]
    nodes = [onnx.helper.make_node("MatMulInteger", ["x", "w"], ["y"]), onnx.helper.make_node("Add", ["k", "k"], ["same"])]
    graph = onnx.helper.make_graph(nodes, "g", ports, results, [onnx.numpy_helper.from_array(constants, "w")])
    model = onnx.helper.make_model(graph, opset_imports=[onnx.helper.make_opsetid("", 17)], ir_version=8)
    onnx.save(model, tmp_path / "model.onnx")
    return tmp_path / "model.onnx", constants


def test_each_call_chooses_a_size_in_the_range(tmp_path: pathlib.Path) -> None:
    model, constants = products(tmp_path)
    net = etch.compile(model, "scalar", dim={"n": range(2, 8)})
    assert net.inputs[0].shape == (2, 7, 3)
    k = np.array([21], np.int32)
    for n in range(2, 8):
        x = np.arange(6 * n, dtype=np.uint8).reshape(2, n, 3)
        outputs = net.run(x, k)
        assert outputs["y"].shape == (2, n, 4)
        np.testing.assert_array_equal(outputs["y"], x.astype(np.int32) @ constants.astype(np.int32))
        np.testing.assert_array_equal(outputs["same"], [42])
    for n in (1, 8):
        with pytest.raises(ValueError, match="no n from 2 to 7 gives the shapes 'x'"):
            net.run(np.zeros((2, n, 3), np.uint8), k)
    with pytest.raises(ValueError, match="'y' has the shape"):
        net.run_into({"x": x, "k": k}, {"y": np.empty((2, 6, 4), np.int32), "same": np.empty(1, np.int32)})


def test_a_range_of_sizes_has_no_gaps() -> None:
    assert arguments({"dim": {"n": range(1, 5), "batch": 2}}) == ["--dim", "1<=n<=4", "--dim", "batch=2"]
    for wrong in (range(1, 9, 2), range(3, 3)):
        with pytest.raises(ValueError, match="one after the other"):
            arguments({"dim": {"n": wrong}})


def test_generated_code_is_removed_with_the_network() -> None:
    model = onnx.load(DIGITS / "model.onnx")
    net = etch.compile(model, "scalar", cut="logits")
    folder = net.folder
    assert folder.exists()
    assert net.bench(seconds=0.05)["median_us"] > 0
    del net
    assert not folder.exists()


def test_other_machines_get_code_but_no_library(tmp_path: pathlib.Path) -> None:
    report = etch.generate(DIGITS / "model.onnx", tmp_path / "code", "cortex-m4", name="digits")
    assert report["target"] == "cortex-m4"
    assert (tmp_path / "code" / "digits.h").exists()
    with pytest.raises(etch.EtchError, match="is another machine"):
        etch.compile(DIGITS / "model.onnx", "cortex-m4")


def test_a_state_begins_with_an_array_or_a_file(tmp_path: pathlib.Path) -> None:
    port = onnx.helper.make_tensor_value_info
    node = onnx.helper.make_node("Add", ["x", "h"], ["h_out"])
    graph = onnx.helper.make_graph([node], "net", [port("x", 1, [2]), port("h", 1, [2])], [port("h_out", 1, [2])])
    model = onnx.helper.make_model(graph, opset_imports=[onnx.helper.make_opsetid("", 17)], ir_version=8)
    value = np.array([1.5, -2], np.float32)
    np.save(tmp_path / "h.npy", value)
    texts = []
    for number, initial in enumerate((value, tmp_path / "h.npy")):
        folder = tmp_path / str(number)
        report = etch.generate(model, folder, "scalar", name="net", state={"h_out": "h"}, initial_state={"h": initial})
        assert report["state"]["initial"] == ["h"]
        texts.append((folder / "net_weights_0.cc").read_text())
    assert "0x1.8p+0F" in texts[0]
    assert texts[0] == texts[1]
    with pytest.raises(etch.EtchError, match="E-TYPE"):
        etch.generate(model, tmp_path / "2", state={"h_out": "h"}, initial_state={"h": value.astype(np.int8)})


def test_check_says_whether_outputs_are_equal(tmp_path: pathlib.Path) -> None:
    shutil.copy(DIGITS / "model.onnx", tmp_path)
    shutil.copytree(DIGITS / "test_data_set_0", tmp_path / "wrong")
    shutil.copy(DIGITS / "test_data_set_1" / "output_0.pb", tmp_path / "wrong")
    equal = etch.check(tmp_path / "model.onnx", data=DIGITS / "test_data_set_0")
    assert equal and "1 of 1 outputs exact" in equal.text
    different = etch.check(tmp_path / "model.onnx", data=[tmp_path / "wrong"])
    assert not different and "FAIL" in different.text


def test_check_records_samples_in_files_of_numpy(tmp_path: pathlib.Path) -> None:
    images = np.concatenate([image for image, _ in recorded()[:2]])
    np.savez(tmp_path / "samples.npz", image=images)
    np.save(tmp_path / "one.npy", images[:1])
    found = etch.check(DIGITS / "model.onnx", data=[tmp_path / "samples.npz", tmp_path / "one.npy"])
    assert found and "3 of 3 outputs exact" in found.text
    np.savez(tmp_path / "samples.npz", picture=images)
    with pytest.raises(etch.EtchError, match="no array 'image'"):
        etch.check(DIGITS / "model.onnx", data=tmp_path / "samples.npz")


def test_refused_models_say_why(tmp_path: pathlib.Path) -> None:
    node = onnx.helper.make_node("NonMaxSuppression", ["b", "s"], ["y"])
    port = onnx.helper.make_tensor_value_info
    ports = [port("b", 1, [1, 2, 4]), port("s", 1, [1, 1, 2])]
    graph = onnx.helper.make_graph([node], "net", ports, [port("y", 7, ["n", 3])])
    with pytest.raises(etch.EtchError, match="NonMaxSuppression") as refused:
        etch.compile(onnx.helper.make_model(graph, opset_imports=[onnx.helper.make_opsetid("", 18)]))
    assert refused.value.exit_code == 2
    with pytest.raises(etch.EtchError, match="cannot open") as missing:
        etch.compile(tmp_path / "nothing.onnx")
    assert missing.value.exit_code == 3


def test_ports_have_the_names_of_the_model() -> None:
    names = ["größe\\x41 " + "long/" * 20, "y;" * 40]
    ports = [onnx.helper.make_tensor_value_info(name, onnx.TensorProto.FLOAT, [2]) for name in names]
    graph = onnx.helper.make_graph([onnx.helper.make_node("Neg", names[:1], names[1:])], "net", ports[:1], ports[1:])
    net = etch.compile(onnx.helper.make_model(graph, opset_imports=[onnx.helper.make_opsetid("", 18)], ir_version=8))
    outputs = net.run(**{names[0]: np.array([1, -2], np.float32)})
    assert list(outputs) == names[1:] and outputs[names[1]].tolist() == [-1, 2]


def test_options_are_those_of_the_program() -> None:
    words = arguments({"dim": {"n": 1}, "input_shape": {"x": (1, 2)}, "strict_integer": True, "cut": ["a", "b"]})
    assert words == ["--dim", "n=1", "--input-shape", "x=1,2", "--strict-integer", "--cut", "a", "--cut", "b"]
    assert arguments({"split_rows": 0, "qdq": None, "strict_integer": False}) == ["--split-rows", "0"]
    with pytest.raises(TypeError, match="no option 'speed'"):
        arguments({"speed": 1})


def test_the_package_has_the_version_of_the_program() -> None:
    assert f'version = "{etch.version().split()[1]}"' in (ROOT / "pyproject.toml").read_text()


def test_options_of_the_program_are_keyword_arguments() -> None:
    text = subprocess.run([etch.program(), "help", "compile"], capture_output=True, text=True, check=True).stdout
    options = {name.replace("-", "_") for name in re.findall(r"^  (?:-\w,)?--([a-z-]+)", text, re.M)}
    assert len(options) > 20
    # The functions have these as parameters of their own or set them, or they ask for more than code.
    own = {"target", "output", "name", "force", "library", "json", "prove", "help", "quiet"}
    assert options - own == set(Options.__annotations__)
