"""Files that pages take for granted: networks with test data beside them, and samples. Each is made once for all pages."""

import os
import pathlib
import shutil
import subprocess
import sys

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
MADE = {}


class Missing(Exception):
    """A file that is not part of the project is not here."""


def float_network():
    """image [1, 1, 8, 8] -> convolution, Relu, mean over positions, product -> scores [1, 10]."""
    random = np.random.default_rng(1)
    constants = [
        numpy_helper.from_array(random.normal(0, 0.3, (8, 1, 3, 3)).astype(np.float32), "w"),
        numpy_helper.from_array(random.normal(0, 0.3, (8, 10)).astype(np.float32), "m"),
    ]
    nodes = [
        helper.make_node("Conv", ["image", "w"], ["c"], "conv", pads=[1] * 4),
        helper.make_node("Relu", ["c"], ["r"], "relu"),
        helper.make_node("GlobalAveragePool", ["r"], ["a"], "mean"),
        helper.make_node("Flatten", ["a"], ["f"], "flat"),
        helper.make_node("MatMul", ["f", "m"], ["scores"], "product"),
    ]
    ports = [helper.make_tensor_value_info("image", TensorProto.FLOAT, [1, 1, 8, 8])]
    results = [helper.make_tensor_value_info("scores", TensorProto.FLOAT, [1, 10])]
    graph = helper.make_graph(nodes, "net", ports, results, constants)
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8)


def make(folder):
    """Makes those that several pages share, in `folder`, which is kept as long as pages are checked."""
    onnx.save(float_network(), folder / "float.onnx")
    (folder / "samples").mkdir()
    random = np.random.default_rng(2)
    for i in range(16):
        np.save(folder / f"samples/{i}.npy", random.normal(size=(1, 1, 8, 8)).astype(np.float32))
    program = "import etch_onnx, sys; etch_onnx.quantize(*sys.argv[1:4])"
    subprocess.run([sys.executable, "-c", program, "float.onnx", "int8", "samples"], cwd=folder, check=True,
                   env={**os.environ, "PYTHONPATH": str(ROOT / "python")}, capture_output=True)  # fmt: skip
    MADE["float"] = folder


def float_and_samples(folder):
    """float.onnx and samples/ with .npy files."""
    shutil.copy(MADE["float"] / "float.onnx", folder)
    shutil.copytree(MADE["float"] / "samples", folder / "samples")


def words_of_any_number(folder):
    """model.onnx: x uint8 [1, seq, 8] times constants -> y int32 [1, seq, 4]."""
    weights = numpy_helper.from_array(np.random.default_rng(3).integers(-128, 128, (8, 4)).astype(np.int8), "w")
    ports = [helper.make_tensor_value_info("x", TensorProto.UINT8, [1, "seq", 8])]
    results = [helper.make_tensor_value_info("y", TensorProto.INT32, [1, "seq", 4])]
    graph = helper.make_graph([helper.make_node("MatMulInteger", ["x", "w"], ["y"])], "net", ports, results, [weights])
    onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8), folder / "model.onnx")


def small(path):
    """The quantized network of five nodes under this name, with two sets of test data beside it."""

    def put(folder):
        target = folder / path
        target.parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(MADE["float"] / "int8/model.onnx", target)
        for name in ("test_data_set_0", "test_data_set_1"):
            shutil.copytree(MADE["float"] / "int8" / name, target.parent / name, dirs_exist_ok=True)

    return put


def copy(source, path):
    """A file of the project under another name; `source` relative to its root."""

    def put(folder):
        target = folder / path
        target.parent.mkdir(parents=True, exist_ok=True)
        if not (ROOT / source).exists():
            raise Missing(source)
        shutil.copy((ROOT / source).resolve(), target)

    return put


def shell(script):
    """What a page takes for done: a script run in its folder."""

    def put(folder):
        path = f"{folder}/.bin:" + os.environ["PATH"]
        subprocess.run(["bash", "-euc", script], cwd=folder, check=True, capture_output=True,
                       env={**os.environ, "PATH": path})  # fmt: skip

    return put
