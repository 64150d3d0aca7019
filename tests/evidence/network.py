"""Networks with what the bundled one does not have. words(): activations of 16 bits in products, sums and means, a table,
averages of windows and of whole planes, two outputs. pruned(): convolutions that lose channels. parts(): sums that 32 bits
hold in parts only. products(): of two tensors of 16 bits, and a mean of rows. functions(): of one. stream(): states.
attention(): scores between two products that are one step. emulated(): factors that only the float rule in integers can
apply. untyped(): quantizations without zero points. Weights and scales are arbitrary, but the same each time.

  network.py words|pruned|parts|products|functions|stream|attention|emulated|untyped FILE   writes one"""

import sys

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper


class Builder:
    def __init__(self):
        self.nodes, self.constants = [], []
        self.dice = np.random.default_rng(7)

    def constant(self, value):
        name = f"c{len(self.constants)}"
        self.constants.append(numpy_helper.from_array(np.asarray(value), name))
        return name

    def node(self, op, *inputs, **attributes):
        name = f"t{len(self.nodes)}"
        self.nodes.append(helper.make_node(op, list(inputs), [name], **attributes))
        return name

    def quantized(self, x, scale, zero):
        ends = [self.constant(np.float32(scale)), self.constant(zero)]
        return self.node("DequantizeLinear", self.node("QuantizeLinear", x, *ends), *ends)

    def weights(self, *shape, zeros=None):
        w = self.dice.integers(-100, 101, shape).astype(np.int8)
        if zeros is not None:
            w[zeros] = 0
        scales = self.dice.uniform(0.002, 0.01, shape[0]).astype(np.float32)
        return self.node("DequantizeLinear", self.constant(w), self.constant(scales),
                         self.constant(np.zeros(shape[0], np.int8)), axis=0)

    def model(self, *outputs):
        ends = [helper.make_tensor_value_info(n, TensorProto.FLOAT, s) for n, s in (("x", [1, 3, 12, 12]), *outputs)]
        graph = helper.make_graph(self.nodes, "network", ends[:1], ends[1:], self.constants)
        versions = [helper.make_opsetid("", 21), helper.make_opsetid("com.microsoft", 1)]
        return helper.make_model(graph, opset_imports=versions, ir_version=10)

    def bias(self, count):
        return self.constant(self.dice.uniform(-1, 1, count).astype(np.float32))


def words():
    b = Builder()
    x = b.quantized("x", 1.3e-4, np.int16(7))
    a = b.node("Conv", x, b.weights(5, 3, 3, 3), b.bias(5), pads=[1, 1, 1, 1])
    a = b.quantized(b.node("Relu", a), 2.1e-4, np.int16(-300))
    c = b.quantized(b.node("Conv", a, b.weights(5, 5, 1, 1), b.bias(5)), 3.7e-4, np.int16(0))
    s = b.quantized(b.node("Add", a, c), 4.9e-4, np.int16(11))
    s = b.quantized(b.node("AveragePool", s, kernel_shape=[3, 3], pads=[1, 1, 1, 1], strides=[2, 2]), 3.1e-4, np.int16(5))
    s = b.quantized(b.node("MaxPool", s, kernel_shape=[2, 2]), 3.1e-4, np.int16(5))
    t = b.quantized(s, 0.05, np.uint8(100))
    t = b.quantized(b.node("Mul", t, b.node("Sigmoid", t)), 0.04, np.uint8(20))
    t = b.quantized(b.node("AveragePool", t, kernel_shape=[2, 2], strides=[1, 1]), 0.03, np.uint8(12))
    mean = b.quantized(b.node("GlobalAveragePool", t), 0.02, np.uint8(3))
    most = b.quantized(b.node("MaxPool", t, kernel_shape=[2, 2]), 0.03, np.uint8(12))
    return b.model((mean, [1, 5, 1, 1]), (most, None))  # a file need not say the shape of an output


def pruned():
    """The first convolution has a channel of one value, four that are dead, and one that the second does not read; the
    second loses two that a depthwise one in between would read."""
    b = Builder()
    x = b.quantized("x", 0.02, np.uint8(128))
    bias = np.r_[np.zeros(7), 1.5, [-4] * 4].astype(np.float32)
    a = b.node("Conv", x, b.weights(12, 3, 1, 1, zeros=np.s_[7:]), b.constant(bias))
    a = b.quantized(b.node("Relu", a), 0.015, np.uint8(0))
    c = b.node("Conv", a, b.weights(12, 12, 1, 1, zeros=(np.arange(144).reshape(12, 12, 1, 1) % 12 == 2) | (
        np.arange(144).reshape(12, 12, 1, 1) // 12 > 7)), b.constant(np.r_[np.zeros(8), [-9] * 4].astype(np.float32)))
    c = b.quantized(b.node("Relu", c), 0.04, np.uint8(0))
    c = b.node("Conv", c, b.weights(12, 1, 3, 3), b.constant(np.r_[np.zeros(8), [-9] * 4].astype(np.float32)),
               group=12, pads=[1, 1, 1, 1])
    c = b.quantized(b.node("Relu", c), 0.05, np.uint8(0))
    s = b.quantized(b.node("Add", c, b.quantized(b.node("Relu", b.node(
        "Conv", a, b.weights(12, 12, 1, 1, zeros=np.s_[8:]), b.constant(np.r_[np.zeros(8), [-9] * 4].astype(np.float32)))),
        0.04, np.uint8(0))), 0.06, np.uint8(0))
    y = b.quantized(b.node("Conv", s, b.weights(5, 12, 3, 3), b.bias(5), pads=[1, 1, 1, 1]), 0.2, np.uint8(100))
    return b.model((y, [1, 5, 12, 12]))


def parts():
    """A product of 432 words, of which any result beyond 32 bits is at its limit, and a convolution before it."""
    b = Builder()
    x = b.quantized("x", 1.3e-4, np.uint16(30000))
    x = b.quantized(b.node("Conv", x, b.weights(12, 3, 3, 3), b.bias(12), strides=[2, 2], pads=[0, 0, 1, 1]), 2 ** -8,
                    np.uint16(0))
    w = b.node("DequantizeLinear", b.constant(b.dice.integers(100, 128, (432, 5)).astype(np.int8)),
               b.constant(np.float32(2 ** -7)), b.constant(np.int8(0)))
    return b.model((b.quantized(b.node("MatMul", b.node("Flatten", x), w), 0.5, np.uint16(32768)), [1, 5]))


def products():
    """Scores of words and their squares, turned, times a constant matrix of words, and the mean of its rows."""
    b = Builder()
    x, other = (b.node("Reshape", b.quantized("x", *q), b.constant(np.int64([1, 18, 24])))
                for q in ((1.3e-4, np.int16(7)), (2e-5, np.int16(-30))))
    turned = b.node("Transpose", b.quantized(b.node("Mul", x, other), 1.1e-4, np.int16(5)), perm=[0, 2, 1])
    scores = b.quantized(b.node("Clip", b.node("MatMul", x, turned), b.constant(np.float32(-0.8)), b.constant(np.float32(0.9))),
                         2.9e-5, np.int16(100))
    w = b.node("DequantizeLinear", b.constant(b.dice.integers(-30000, 30001, (18, 9)).astype(np.int16)),
               b.constant(np.float32(3.3e-5)), b.constant(np.int16(0)))
    y = b.quantized(b.node("MatMul", scores, w), 2.3e-4, np.int16(-9))
    return b.model((b.quantized(b.node("ReduceMean", y, b.constant(np.int64([1])), keepdims=0), 1.1e-4, np.int16(3)), [1, 9]))


def functions():
    """Of 16 bits: smooth ones, bends, ties at every other value, and one that needs steps of a search."""
    b = Builder()
    x = b.quantized("x", 2.0 ** -12, np.int16(7))
    y = b.quantized(b.node("Tanh", x), 2.0 ** -15, np.int16(0))
    y = b.quantized(b.node("Mul", y, b.node("Sigmoid", y)), 3.1e-5, np.int16(-300))
    y = b.quantized(b.node("HardSwish", y), 2.3e-5, np.int16(11))
    y = b.quantized(b.node("Mul", y, b.constant(np.float32(0.5))), 2.3e-5, np.int16(0))
    z = b.quantized(b.node("Gelu", b.quantized("x", 1.1e-4, np.uint16(30000))), 6e-5, np.uint16(0))
    z = b.quantized(b.node("Sqrt", z), 3.1e-5, np.uint16(0))
    z = b.quantized(b.node("Abs", b.node("Erf", z)), 1.6e-5, np.uint16(0))
    return b.model((y, [1, 3, 12, 12]), (z, [1, 3, 12, 12]))


def stream():
    """Two states: one begins with what the file has for it, the other with zeros."""
    kinds = {"x": (TensorProto.FLOAT, [4]), "h": (TensorProto.FLOAT, [4]), "c": (TensorProto.UINT8, [6])}
    info = lambda name, kind: helper.make_tensor_value_info(name, *kinds[kind])
    nodes = [helper.make_node("Add", ["x", "h"], ["h_out"]), helper.make_node("Identity", ["c"], ["c_out"])]
    graph = helper.make_graph(nodes, "network", [info("h", "h"), info("x", "x"), info("c", "c")],
                              [info("h_out", "h"), info("c_out", "c")],
                              [numpy_helper.from_array(np.array([1, -2, 0.5, 300], np.float32), "h")])
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 21)], ir_version=10)
    helper.set_model_props(model, {"etch.state": "h_out=h,c_out=c"})
    return model


def attention():
    """Scores of 312,500 bytes, scaled and masked, of queries, keys and values that are inputs, beside one that nothing reads."""
    shapes = {"q": [5, 125, 8], "k": [5, 8, 125], "mask": [125, 125], "v": [5, 125, 6], "unused": [3], "y": [5, 125, 6]}
    ends = [helper.make_tensor_value_info(n, TensorProto.FLOAT, s) for n, s in shapes.items()]
    nodes = [helper.make_node("MatMul", ["q", "k"], ["s"]), helper.make_node("Mul", ["s", "scale"], ["t"]),
             helper.make_node("Add", ["t", "mask"], ["u"]), helper.make_node("Softmax", ["u"], ["w"], axis=-1),
             helper.make_node("MatMul", ["w", "v"], ["y"])]
    graph = helper.make_graph(nodes, "network", ends[:5], ends[5:], [numpy_helper.from_array(np.float32(0.35), "scale")])
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 21)], ir_version=10)


def emulated():
    """A result in units so small that every sum but the smallest is at a limit."""
    b = Builder()
    x = b.node("Conv", b.quantized("x", 0.02, np.uint8(128)), b.weights(5, 3, 3, 3), b.bias(5), pads=[1, 1, 1, 1])
    return b.model((b.quantized(x, 1e-10, np.uint8(100)), [1, 5, 12, 12]))


def untyped():
    """Quantizations and integer operators without zero points: of int8 by an attribute alone, and of uint8 by nothing."""
    b = Builder()

    def quantized(x, scale, *kind):
        s = b.constant(np.float32(scale))
        q = b.node("QuantizeLinear", x, s, **({"output_dtype": kind[0]} if kind else {}))
        return b.node("DequantizeLinear", q, s)

    def integer(op, x, x_scale, y_scale, **attributes):
        scales = b.constant(np.float32(x_scale)), "", b.constant(np.float32(y_scale)), ""
        return b.node(op, x, *scales, domain="com.microsoft", **attributes)

    x = b.node("MaxPool", quantized("x", 0.02, TensorProto.INT8), kernel_shape=[2, 2])
    y = quantized(b.node("Conv", x, b.weights(5, 3, 3, 3), b.bias(5)), 0.05, TensorProto.INT8)
    y = quantized(b.node("Sigmoid", y), 0.004)
    y = b.node("QuantizeLinear", b.node("HardSwish", y), b.constant(np.float32(0.006)), output_dtype=TensorProto.INT8)
    y = integer("QLinearSigmoid", integer("QLinearGlobalAveragePool", y, 0.006, 0.005), 0.005, 0.008)
    z = b.node("QuantizeLinear", "x", b.constant(np.float32(0.03)))
    z = integer("QLinearLeakyRelu", integer("QLinearSigmoid", z, 0.03, 0.005), 0.005, 0.006, alpha=0.1)
    z = integer("QLinearSigmoid", integer("QLinearAveragePool", z, 0.006, 0.004, kernel_shape=[3, 3]), 0.004, 0.003)
    y, z = (b.node("DequantizeLinear", q, b.constant(np.float32(scale))) for q, scale in ((y, 0.008), (z, 0.003)))
    return b.model((y, [1, 5, 1, 1]), (z, [1, 3, 10, 10]))


if __name__ == "__main__":
    onnx.save({"words": words, "pruned": pruned, "parts": parts, "products": products, "functions": functions,
               "stream": stream, "attention": attention, "emulated": emulated, "untyped": untyped}[sys.argv[1]](), sys.argv[2])
