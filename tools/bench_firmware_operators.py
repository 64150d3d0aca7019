"""A network of one operator after another, for tools/bench-firmware --operators: what each of them takes for an element on
a target. All have 2,048 elements; the product has 1,024 results of 64 products each."""

import numpy
import onnx
from onnx import TensorProto, helper, numpy_helper

SHAPE = [32, 64]
ELEMENTS = 2048
FLOATS = ("Softmax", "Gelu", "Tanh", "Sigmoid", "Exp", "Erf", "Sin")
IMAGES = {"MaxPool": {"kernel_shape": [2, 2], "strides": [2, 2]}, "AveragePool": {"kernel_shape": [3, 3], "pads": [1] * 4}}


class Operators:
    def __init__(self):
        self.nodes, self.constants, self.outputs = [], [], []

    def constant(self, value):
        name = f"c{len(self.constants)}"
        self.constants.append(numpy_helper.from_array(numpy.asarray(value), name))
        return name

    def node(self, kind, inputs, name, **attributes):
        self.nodes.append(helper.make_node(kind, inputs, [name], name=name, **attributes))
        return name

    def result(self, kind, inputs, name, element=TensorProto.FLOAT, **attributes):
        self.node(kind, inputs, name, **attributes)
        self.outputs.append(helper.make_tensor_value_info(name, element, None))

    def quantization(self, scale, zero):
        return [self.constant(numpy.float32(scale)), self.constant(zero)]


def add_floats(g):
    for kind in FLOATS:
        g.result(kind, ["x"], kind)
    row = g.constant(numpy.linspace(0.5, 1.5, SHAPE[1], dtype=numpy.float32))
    g.result("LayerNormalization", ["x", row, row], "LayerNormalization")
    g.result("Add", ["x", g.constant(numpy.random.default_rng(1).normal(size=SHAPE).astype(numpy.float32))], "Add")
    g.result("ReduceSum", ["x", g.constant(numpy.array([1]))], "ReduceSum")
    g.result("Transpose", ["x"], "Transpose", perm=[1, 0])
    for kind, attributes in IMAGES.items():
        g.result(kind, ["image"], kind, **attributes)


def add_bytes(g):
    bytes_of_x = g.quantization(0.05, numpy.uint8(128))
    g.result("QuantizeLinear", ["x", *bytes_of_x], "QuantizeLinear", TensorProto.UINT8)
    g.result("DequantizeLinear", ["a", *bytes_of_x], "DequantizeLinear")
    g.result("Transpose", ["a"], "Transpose of bytes", TensorProto.UINT8, perm=[1, 0])
    for kind, scale in (("QLinearMul", 0.3), ("QLinearAdd", 0.09)):
        operands = ["a", *bytes_of_x, "b", *bytes_of_x, *g.quantization(scale, numpy.uint8(128))]
        g.result(kind, operands, kind, TensorProto.UINT8, domain="com.microsoft")


def add_words(g):
    words = g.quantization(0.001, numpy.int16(0))
    a, b = (g.node("DequantizeLinear", [name, *words], "float " + name) for name in ("word_a", "word_b"))
    turned = g.node("Transpose", [b], "turned", perm=[1, 0])
    for kind, inputs, scale in (("Sigmoid", [a], 1e-4), ("Mul", [a, b], 0.05), ("Add", [a, b], 0.002), ("MatMul", [a, turned], 0.5)):
        exact = g.node(kind, inputs, f"{kind} of floats")
        g.result("QuantizeLinear", [exact, *g.quantization(scale, numpy.int16(0))], f"{kind} of words", TensorProto.INT16)


def model():
    g = Operators()
    add_floats(g)
    add_bytes(g)
    add_words(g)
    inputs = [("x", TensorProto.FLOAT, SHAPE), ("image", TensorProto.FLOAT, [1, 8, 16, 16])]
    inputs += [(name, TensorProto.UINT8, SHAPE) for name in ("a", "b")]
    inputs += [(name, TensorProto.INT16, SHAPE) for name in ("word_a", "word_b")]
    graph = helper.make_graph(g.nodes, "operators", [helper.make_tensor_value_info(*each) for each in inputs], g.outputs,
                              g.constants)
    return helper.make_model(graph, ir_version=10,
                             opset_imports=[helper.make_opsetid("", 21), helper.make_opsetid("com.microsoft", 1)])


def save(path):
    onnx.save(model(), path)
