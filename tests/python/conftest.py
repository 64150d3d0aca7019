"""What the tests share: the bundled network, and a small float network as PyTorch exports them."""

import hashlib
import os
import pathlib

import numpy as np
import onnx
import pytest
from onnx import TensorProto, helper, numpy_helper

ROOT = pathlib.Path(__file__).parent.parent.parent
DIGITS = ROOT / "examples" / "digits"


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """With ETCH_PART=1/4 one part of four, as tests/turns deals out other tests that take long."""
    number, of = map(int, os.environ.get("ETCH_PART", "1/1").split("/"))
    dealt = sorted(items, key=lambda item: hashlib.sha256(item.nodeid.encode()).digest())
    taken = set(dealt[number - 1 :: of])
    config.hook.pytest_deselected(items=[item for item in items if item not in taken])
    items[:] = [item for item in items if item in taken]


def float_network() -> onnx.ModelProto:
    """Convolution, Relu, Reshape, product: x [1, 3, 4, 4] -> y [1, 5]."""
    random = np.random.default_rng(1)
    constants = [
        numpy_helper.from_array(random.normal(0, 0.3, (4, 3, 3, 3)).astype(np.float32), "w"),
        numpy_helper.from_array(random.normal(0, 0.3, (64, 5)).astype(np.float32), "m"),
        numpy_helper.from_array(np.array([1, 64], np.int64), "s"),
    ]
    nodes = [
        helper.make_node("Conv", ["x", "w"], ["c"], "conv", pads=[1] * 4),
        helper.make_node("Relu", ["c"], ["r"], "relu"),
        helper.make_node("Reshape", ["r", "s"], ["f"], "flat"),
        helper.make_node("MatMul", ["f", "m"], ["y"], "product"),
    ]
    ports = [helper.make_tensor_value_info("x", TensorProto.FLOAT, [1, 3, 4, 4])]
    results = [helper.make_tensor_value_info("y", TensorProto.FLOAT, [1, 5])]
    graph = helper.make_graph(nodes, "net", ports, results, constants)
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 18)], ir_version=8)


@pytest.fixture(scope="session")
def float_model(tmp_path_factory: pytest.TempPathFactory) -> pathlib.Path:
    """The network with every weight in float.onnx.data, beside samples.npz with sixteen inputs."""
    folder = tmp_path_factory.mktemp("float")
    options = {"save_as_external_data": True, "location": "float.onnx.data", "size_threshold": 0}
    onnx.save(float_network(), folder / "float.onnx", **options)
    samples = np.random.default_rng(2).normal(size=(16, 3, 4, 4)).astype(np.float32)
    np.savez(folder / "samples.npz", x=samples)
    return folder / "float.onnx"
