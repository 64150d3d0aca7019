"""ONNX's own test runner on the backend, with a few of its tests of quantized operators, and models with open sizes."""

import etch_onnx.backend as backend
import numpy as np
import onnx
import onnx.backend.test
import pytest
from onnx import TensorProto, helper

FROM_ONNX = [
    "test_convinteger_with_padding_cpu",
    "test_dynamicquantizelinear_cpu",
    "test_nonmaxsuppression_identical_boxes_cpu",  # refused, which the runner accepts
    "test_qlinearmatmul_2D_int8_float32_cpu",
]
runner = onnx.backend.test.BackendTest(backend, __name__)
for case in runner.test_cases.values():
    for name in [each for each in dir(case) if each.startswith("test_") and each not in FROM_ONNX]:
        delattr(case, name)
    globals()[case.__name__] = case


def test_the_runner_has_these_tests() -> None:
    assert [name for name in FROM_ONNX if hasattr(globals()["OnnxBackendNodeModelTest"], name)] == FROM_ONNX


def relu(size: object) -> onnx.ModelProto:
    ports = [helper.make_tensor_value_info(name, TensorProto.FLOAT, [size, 2]) for name in ("x", "y")]
    graph = helper.make_graph([helper.make_node("Relu", ["x"], ["y"])], "net", ports[:1], ports[1:])
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 18)], ir_version=8)


def test_open_sizes_are_those_of_the_arrays() -> None:
    prepared = backend.prepare(relu("n"))
    for size in (1, 3):
        x = np.arange(2.0 * size, dtype=np.float32).reshape(size, 2) - 1
        np.testing.assert_array_equal(prepared.run([x])[0], np.maximum(x, 0))


def test_a_node_runs_alone() -> None:
    outputs = backend.run_node(helper.make_node("Relu", ["x"], ["y"]), [np.array([-1, 2], np.float32)])
    np.testing.assert_array_equal(outputs[0], [0, 2])


def test_outputs_have_as_many_rows_as_values_say() -> None:
    names = ["coordinates", "coordinates_shape"]
    nodes = [helper.make_node("NonZero", ["x"], names[:1]), helper.make_node("Abs", ["x"], names[1:])]
    info = helper.make_tensor_value_info
    ports = [info("x", TensorProto.FLOAT, [2, 3]), *(onnx.ValueInfoProto(name=name) for name in names)]
    model = helper.make_model(helper.make_graph(nodes, "net", ports[:1], ports[1:]), ir_version=8)
    for x in (np.float32([[0, 2, 0], [3, 0, 4]]), np.zeros((2, 3), np.float32), np.ones((2, 3), np.float32)):
        found = backend.prepare(model).run([x])
        np.testing.assert_array_equal(found[0], np.nonzero(x))
        np.testing.assert_array_equal(found[1], np.abs(x))


def test_only_the_cpu_is_supported() -> None:
    assert backend.supports_device("CPU") and not backend.supports_device("CUDA")
    with pytest.raises(Exception, match="device CUDA"):
        backend.prepare(relu(1), "CUDA")
