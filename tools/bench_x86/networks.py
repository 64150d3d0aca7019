"""Networks of well-known shapes with random weights, as QOperator and as QDQ models of the same numbers.

A network is written down once as float operators (Shape). Running it on a random image tells the range of every
tensor; from that come scales, such that activations fill their range and few saturate: uint8, for a Relu with
zero point 0; weights int8 with a scale per output channel.
"""

import dataclasses
import zlib

import numpy as np
import onnxruntime
from models import Builder
from onnx import ModelProto, TensorProto

SHARE_IN_RANGE = 0.9995  # of a tensor's values


@dataclasses.dataclass
class Node:
    kind: str  # Conv, Add, MaxPool, Mean, Gemm
    inputs: list[str]
    output: str
    relu: bool = False
    limit: float = np.inf  # of Relu6
    attributes: dict = dataclasses.field(default_factory=dict)
    weights: np.ndarray | None = None
    bias: np.ndarray | None = None


class Shape:
    """A network under construction; tensors are names, channels are remembered."""

    def __init__(self, name: str, image: tuple[int, int, int]):
        self.name, self.image = name, image
        self.nodes: list[Node] = []
        self.channels = {"x": image[0]}
        self.rng = np.random.default_rng(zlib.crc32(name.encode()))

    def add_node(self, kind: str, inputs: list[str], channels: int, **rest) -> str:
        output = f"t{len(self.nodes)}"
        self.nodes.append(Node(kind, inputs, output, **rest))
        self.channels[output] = channels
        return output

    def random_weights(self, shape: tuple[int, ...], relu: bool) -> dict[str, np.ndarray]:
        deviation = np.sqrt((2 if relu else 1) / np.prod(shape[1:]))
        return {"weights": self.rng.normal(0, deviation, shape).astype(np.float32),
                "bias": self.rng.normal(0, 0.1, shape[0]).astype(np.float32)}

    def conv(self, x: str, filters: int, kernel=1, stride=1, groups=1, relu=True, limit=np.inf) -> str:
        shape = (filters, self.channels[x] // groups, kernel, kernel)
        attributes = {"kernel_shape": [kernel] * 2, "strides": [stride] * 2, "pads": [(kernel - 1) // 2] * 4,
                      "group": groups}
        return self.add_node("Conv", [x], filters, relu=relu, limit=limit, attributes=attributes,
                             **self.random_weights(shape, relu))

    def depthwise(self, x: str, stride=1, limit=np.inf) -> str:
        return self.conv(x, self.channels[x], 3, stride, self.channels[x], limit=limit)

    def add(self, a: str, b: str, relu: bool) -> str:
        return self.add_node("Add", [a, b], self.channels[a], relu=relu)

    def max_pool(self, x: str) -> str:
        attributes = {"kernel_shape": [3, 3], "strides": [2, 2], "pads": [1] * 4}
        return self.add_node("MaxPool", [x], self.channels[x], attributes=attributes)

    def classify(self, x: str, classes: int) -> "Shape":
        mean = self.add_node("Mean", [x], self.channels[x])
        self.add_node("Gemm", [mean], classes, **self.random_weights((classes, self.channels[x]), False))
        return self


def mobilenet_v1(name: str, width: float, size: int, classes: int) -> Shape:
    net = Shape(name, (3, size, size))
    x = net.conv("x", int(32 * width), 3, 2, limit=6)
    blocks = [(64, 1), (128, 2), (128, 1), (256, 2), (256, 1), (512, 2), *[(512, 1)] * 5, (1024, 2), (1024, 1)]
    for filters, stride in blocks:
        x = net.conv(net.depthwise(x, stride, 6), int(filters * width), limit=6)
    return net.classify(x, classes)


def mobilenet_v2(name: str) -> Shape:
    net = Shape(name, (3, 224, 224))
    x = net.conv("x", 32, 3, 2, limit=6)
    for expand, filters, count, first in ((1, 16, 1, 1), (6, 24, 2, 2), (6, 32, 3, 2), (6, 64, 4, 2), (6, 96, 3, 1),
                                          (6, 160, 3, 2), (6, 320, 1, 1)):
        for i in range(count):
            stride = first if i == 0 else 1
            y = x if expand == 1 else net.conv(x, net.channels[x] * expand, limit=6)
            y = net.conv(net.depthwise(y, stride, 6), filters, relu=False)
            x = net.add(x, y, relu=False) if i > 0 else y
    return net.classify(net.conv(x, 1280, limit=6), 1000)


def resnet(name: str, blocks: list[int], bottleneck: bool) -> Shape:
    net = Shape(name, (3, 224, 224))
    x = net.max_pool(net.conv("x", 64, 7, 2))
    for stage, count in enumerate(blocks):
        width = 64 << stage
        for i in range(count):
            stride = 2 if stage > 0 and i == 0 else 1
            filters = 4 * width if bottleneck else width
            if bottleneck:
                y = net.conv(net.conv(net.conv(x, width), width, 3, stride), filters, relu=False)
            else:
                y = net.conv(net.conv(x, width, 3, stride), filters, 3, relu=False)
            matches = stride == 1 and net.channels[x] == filters
            x = net.add(y, x if matches else net.conv(x, filters, 1, stride, relu=False), relu=True)
    return net.classify(x, 1000)


SHAPES = {
    "MobileNetV1 1.0 224": lambda name: mobilenet_v1(name, 1.0, 224, 1000),
    "MobileNetV2 1.0 224": mobilenet_v2,
    "ResNet-18 224": lambda name: resnet(name, [2, 2, 2, 2], False),
    "ResNet-50 224": lambda name: resnet(name, [3, 4, 6, 3], True),
    "VWW MobileNetV1 0.25 96": lambda name: mobilenet_v1(name, 0.25, 96, 2),
}
QUICK = ["VWW MobileNetV1 0.25 96"]


def image_of(net: Shape) -> np.ndarray:
    """Smooth enough to look like an image to the first layers."""
    channels, height, width = net.image
    coarse = np.random.default_rng(7).uniform(0, 255, (1, channels, height // 8, width // 8))
    noise = np.random.default_rng(8).normal(0, 20, (1, *net.image))
    return np.clip(coarse.repeat(8, 2).repeat(8, 3) + noise, 0, 255).astype(np.uint8)


INPUT = (np.float32(1 / 64), np.uint8(128))  # scale and zero point: about -2 to 2


class FloatWriter:
    """The network in float, every tensor an output."""

    def __init__(self, net: Shape):
        self.net, self.builder = net, Builder()

    def model(self) -> ModelProto:
        for node in self.net.nodes:
            raw = node.output + "_raw" if node.relu else node.output
            self.write(node, raw)
            if node.relu and node.limit < np.inf:
                bounds = [self.builder.constant(f"{node.output}_{i}", np.float32(value))
                          for i, value in enumerate((0, node.limit))]
                self.builder.node("Clip", [raw, *bounds], node.output)
            elif node.relu:
                self.builder.node("Relu", [raw], node.output)
        ports = [(node.output, TensorProto.FLOAT, None) for node in self.net.nodes]
        return self.builder.model(self.net.name, [("x", TensorProto.FLOAT, [1, *self.net.image])], ports)

    def write(self, node: Node, output: str) -> None:
        constants = [self.builder.constant(f"{node.output}_{part}", value)
                     for part, value in (("w", node.weights), ("b", node.bias)) if value is not None]
        if node.kind == "Mean":
            mean = self.builder.node("GlobalAveragePool", node.inputs, output + "_4d")
            self.builder.node("Flatten", [mean], output)
        else:
            attributes = {"transB": 1} if node.kind == "Gemm" else node.attributes
            self.builder.node(node.kind, [*node.inputs, *constants], output, **attributes)


@dataclasses.dataclass
class Calibrated:
    """Scale and zero point per tensor; weights, their scales and bias as integers per node."""

    net: Shape
    tensors: dict[str, tuple[np.float32, np.uint8]]
    weights: dict[str, tuple[np.ndarray, np.ndarray, np.ndarray]]


def range_to_quantization(values: np.ndarray, relu: bool) -> tuple[np.float32, np.uint8]:
    low, high = np.quantile(values, [1 - SHARE_IN_RANGE, SHARE_IN_RANGE])
    low, high = (0.0 if relu else min(low, 0.0)), max(high, 1e-3)
    scale = np.float32((high - low) / 255)
    return scale, np.uint8(np.clip(np.rint(-low / scale), 0, 255))


def calibrate(net: Shape) -> Calibrated:
    options = onnxruntime.SessionOptions()
    options.log_severity_level = 3
    session = onnxruntime.InferenceSession(FloatWriter(net).model().SerializeToString(), options,
                                           providers=["CPUExecutionProvider"])
    scale, zero = INPUT
    real = (image_of(net).astype(np.float32) - np.float32(zero)) * scale
    values = dict(zip([node.output for node in net.nodes], session.run(None, {"x": real})))
    tensors = {"x": INPUT}
    weights = {}
    for node in net.nodes:
        if node.kind == "MaxPool":
            tensors[node.output] = tensors[node.inputs[0]]
        else:
            tensors[node.output] = range_to_quantization(values[node.output], node.relu)
        if node.weights is not None:
            flat = np.abs(node.weights.reshape(len(node.weights), -1)).max(axis=1)
            scales = (np.maximum(flat, 1e-6) / 127).astype(np.float32)
            shaped = scales.reshape(-1, *[1] * (node.weights.ndim - 1))
            bias_scales = tensors[node.inputs[0]][0] * scales
            weights[node.output] = (np.rint(node.weights / shaped).astype(np.int8), scales,
                                    np.rint(node.bias / bias_scales).astype(np.int32))
    return Calibrated(net, tensors, weights)
