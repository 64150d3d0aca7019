"""Networks that no file of the models has, for tools/bench-firmware --made: floats, and 16-bit activations. Weights are
random, of a fixed seed; what is executed hardly depends on them."""

import numpy
import onnx
from onnx import TensorProto, helper, numpy_helper


class Graph:
    """Nodes and constants; every method returns the name of a value."""

    def __init__(self, shape):
        self.random = numpy.random.default_rng(1)
        self.nodes, self.constants = [], []
        self.input = helper.make_tensor_value_info("x", TensorProto.FLOAT, shape)

    def constant(self, value):
        name = f"c{len(self.constants)}"
        self.constants.append(numpy_helper.from_array(numpy.asarray(value), name))
        return name

    def node(self, kind, *inputs, **attributes):
        name = f"v{len(self.nodes)}"
        self.nodes.append(helper.make_node(kind, inputs, [name], **attributes))
        return name

    def weights(self, *shape):
        depth = max(1, int(numpy.prod(shape[1:])))
        return self.random.normal(0, depth ** -0.5, shape).astype(numpy.float32)

    def conv(self, x, channels, filters, kernel, group=1, stride=1, weights=None, bias=None):
        shape = (filters, channels // group, kernel, kernel)
        return self.node("Conv", x, weights or self.constant(self.weights(*shape)), bias or self.constant(self.weights(filters)),
                         pads=[kernel // 2] * 4, strides=[stride] * 2, group=group)

    def quantized(self, x, scale=1 / 4096, zero=32768):
        """x in 16 bits, as QDQ files write it."""
        factors = [self.constant(numpy.float32(scale)), self.constant(numpy.uint16(zero))]
        return self.node("DequantizeLinear", self.node("QuantizeLinear", x, *factors), *factors)

    def words(self, x, channels, filters, kernel, group=1, relu=False):
        """A convolution of 16-bit activations and 8-bit weights."""
        shape = (filters, channels // group, kernel, kernel)
        values = self.random.integers(-127, 128, shape).astype(numpy.int8)
        scale = numpy.float32(0.015 / numpy.sqrt(values[0].size))
        weights = self.node("DequantizeLinear", self.constant(values), self.constant(scale), self.constant(numpy.int8(0)))
        sums = self.constant(self.random.integers(-1000, 1000, filters).astype(numpy.int32))
        bias = self.node("DequantizeLinear", sums, self.constant(numpy.float32(scale / 4096)))
        y = self.conv(x, channels, filters, kernel, group, weights=weights, bias=bias)
        return self.quantized(self.node("Relu", y) if relu else y)

    def model(self, y):
        graph = helper.make_graph(self.nodes, "made", [self.input],
                                  [helper.make_tensor_value_info(y, TensorProto.FLOAT, None)], self.constants)
        return helper.make_model(graph, ir_version=10, opset_imports=[helper.make_opsetid("", 21)])


def dense():
    g = Graph([1, 64])
    y = "x"
    for size, width in ((64, 128), (128, 64), (64, 10)):
        y = g.node("Gemm", y, g.constant(g.weights(width, size)), g.constant(g.weights(width)), transB=1)
        if width != 10:
            y = g.node("Relu", y)
    return g.model(g.node("Softmax", y, axis=-1))


def convolutions():
    g = Graph([1, 1, 28, 28])
    y = g.node("MaxPool", g.node("Relu", g.conv("x", 1, 8, 3)), kernel_shape=[2, 2], strides=[2, 2])
    y = g.node("MaxPool", g.node("Relu", g.conv(y, 8, 16, 3)), kernel_shape=[2, 2], strides=[2, 2])
    y = g.node("Relu", g.conv(y, 16, 16, 3, group=16))
    y = g.node("Relu", g.conv(y, 16, 32, 1))
    y = g.node("Flatten", g.node("GlobalAveragePool", y))
    return g.model(g.node("Gemm", y, g.constant(g.weights(10, 32)), g.constant(g.weights(10)), transB=1))


def lstm():
    g = Graph([20, 1, 6])
    y = g.node("LSTM", "x", g.constant(g.weights(1, 128, 6)), g.constant(g.weights(1, 128, 32)),
               g.constant(g.weights(1, 256)), hidden_size=32)
    return g.model(y)


def words_3x3():
    g = Graph([1, 16, 24, 24])
    y = g.quantized("x")
    for channels, filters in ((16, 16), (16, 24), (24, 16)):
        y = g.words(y, channels, filters, 3, relu=True)
    return g.model(y)


def words_block():
    """An inverted residual: 1x1, depthwise 3x3, 1x1, and the sum."""
    g = Graph([1, 16, 24, 24])
    x = g.quantized("x")
    y = g.words(x, 16, 64, 1, relu=True)
    y = g.words(y, 64, 64, 3, group=64, relu=True)
    y = g.words(y, 64, 16, 1)
    return g.model(g.quantized(g.node("Add", x, y)))


MADE = [
    ("dense layers of floats, 64-128-64-10", dense),
    ("convolutions of floats, 28 x 28", convolutions),
    ("LSTM of floats, 32 elements, 20 steps", lstm),
    ("3x3 of 16 bits, 16-16-24-16 channels, 24 x 24", words_3x3),
    ("block of 16 bits, 16-64-64-16 channels, 24 x 24", words_block),
]


def save(name, path):
    onnx.save(dict(MADE)[name](), path)
