"""One convolution as an ONNX model, in the three forms that the contenders read best, with the same numbers in each.

Input zero point 119 (or -9), int8 weights from N(0, 40) with one scale per output channel, output zero point 100 (or
-28). Scales are such that outputs fill their range and few of them saturate.
"""

import dataclasses
import zlib

import numpy as np
from layers import Layer
from onnx import ModelProto, TensorProto, helper, numpy_helper

INPUT_SCALE = np.float32(0.02)
OUTPUT_DEVIATION = 40.0  # standard deviation of the outputs, in steps


@dataclasses.dataclass
class Numbers:
    """The constants of one layer; `seed` tells copies of it apart."""

    weights: np.ndarray
    bias: np.ndarray
    weight_scales: np.ndarray
    output_scale: np.float32
    input_zero: np.ndarray
    output_zero: np.ndarray


def rng_of(layer: Layer, seed: int) -> np.random.Generator:
    return np.random.default_rng([zlib.crc32(layer.name.encode()), seed])


def numbers_of(layer: Layer, seed: int = 0) -> Numbers:
    rng = rng_of(layer, seed)
    weights = np.clip(np.rint(rng.normal(0, 40, layer.weight_shape)), -128, 127).astype(np.int8)
    weight_scales = rng.uniform(0.001, 0.002, layer.filters).astype(np.float32)
    products = int(np.prod(layer.weight_shape[1:]))
    deviation = 74.0 * 40.0 * np.sqrt(products)  # of an accumulator over uniform inputs
    bias = np.rint(rng.normal(0, deviation / 4, layer.filters)).astype(np.int32)
    output_scale = np.float32(INPUT_SCALE * 0.0015 * deviation / OUTPUT_DEVIATION)
    dtype = np.int8 if layer.signed else np.uint8
    zeros = (-9, -28) if layer.signed else (119, 100)
    return Numbers(weights, bias, weight_scales, output_scale, np.array(zeros[0], dtype), np.array(zeros[1], dtype))


def input_of(layer: Layer) -> np.ndarray:
    """An image, channels last."""
    shape = (1, *layer.size, layer.channels)
    data = rng_of(layer, 999).integers(0, 256, shape, dtype=np.uint8)
    return data.view(np.int8) if layer.signed else data


class Builder:
    def __init__(self):
        self.nodes, self.initializers = [], []

    def constant(self, name: str, value) -> str:
        self.initializers.append(numpy_helper.from_array(np.asarray(value), name))
        return name

    def node(self, kind: str, inputs: list[str], output: str, **attributes) -> str:
        self.nodes.append(helper.make_node(kind, inputs, [output], name=output, **attributes))
        return output

    def model(self, name: str, inputs, outputs) -> ModelProto:
        """`inputs` and `outputs`: triples of name, element type and shape."""
        ports = [[helper.make_tensor_value_info(*port) for port in ports] for ports in (inputs, outputs)]
        graph = helper.make_graph(self.nodes, name, ports[0], ports[1], self.initializers)
        opsets = [helper.make_opsetid("", 17), helper.make_opsetid("com.microsoft", 1)]
        return helper.make_model(graph, opset_imports=opsets, ir_version=8, producer_name="bench-x86")


def attributes_of(layer: Layer) -> dict:
    return {"kernel_shape": list(layer.kernel), "strides": [layer.stride] * 2, "pads": layer.pads,
            "group": layer.groups}


def element_of(layer: Layer) -> int:
    return TensorProto.INT8 if layer.signed else TensorProto.UINT8


def shapes_of(layer: Layer, channels_last: bool) -> tuple[list[int], list[int]]:
    shapes = ([*layer.size, layer.channels], [*layer.output_size, layer.filters])
    return tuple([1, *shape] if channels_last else [1, shape[2], shape[0], shape[1]] for shape in shapes)


def ports_of(layer: Layer, channels_last: bool, copies: int):
    shapes = shapes_of(layer, channels_last)
    element = element_of(layer)
    return [("x", element, shapes[0])], [(f"y{i}", element, shapes[1]) for i in range(copies)]


def integer_model(layer: Layer, channels_last: bool, copies: int = 1) -> ModelProto:
    """`copies` QLinearConv side by side, with different weights so that none can be merged."""
    builder = Builder()
    for i in range(copies):
        n = numbers_of(layer, i)
        values = {"xs": INPUT_SCALE, "xz": n.input_zero, "w": n.weights, "ws": n.weight_scales,
                  "wz": np.zeros(layer.filters, np.int8), "ys": n.output_scale, "yz": n.output_zero, "b": n.bias}
        names = [builder.constant(f"{key}{i}", value) for key, value in values.items()]
        extra = {"domain": "com.microsoft", "channels_last": 1} if channels_last else {}
        builder.node("QLinearConv", ["x", *names], f"y{i}", **extra, **attributes_of(layer))
    return builder.model("layer", *ports_of(layer, channels_last, copies))


def qdq_model(layer: Layer, copies: int = 1) -> ModelProto:
    """The same as DequantizeLinear, Conv, QuantizeLinear between Transposes: tensors come channels last, and a runtime
    that keeps them so has nothing to transpose. OpenVINO runs a convolution on integers only after a quantization, so
    the dequantized input is quantized again; it fuses all of that into the convolution.
    """
    builder = Builder()
    builder.constant("xs", INPUT_SCALE)
    first = numbers_of(layer, 0)
    builder.constant("xz", first.input_zero)
    builder.node("Transpose", ["x"], "x_nchw", perm=[0, 3, 1, 2])
    builder.node("DequantizeLinear", ["x_nchw", "xs", "xz"], "x_first")
    builder.node("QuantizeLinear", ["x_first", "xs", "xz"], "x_again")
    builder.node("DequantizeLinear", ["x_again", "xs", "xz"], "x_real")
    for i in range(copies):
        n = numbers_of(layer, i)
        weights = [builder.constant(f"w{i}", n.weights), builder.constant(f"ws{i}", n.weight_scales),
                   builder.constant(f"wz{i}", np.zeros(layer.filters, np.int8))]
        bias = [builder.constant(f"b{i}", n.bias), builder.constant(f"bs{i}", INPUT_SCALE * n.weight_scales)]
        builder.node("DequantizeLinear", weights, f"w_real{i}", axis=0)
        builder.node("DequantizeLinear", bias, f"b_real{i}", axis=0)
        builder.node("Conv", ["x_real", f"w_real{i}", f"b_real{i}"], f"y_real{i}", **attributes_of(layer))
        scale = [builder.constant(f"ys{i}", n.output_scale), builder.constant(f"yz{i}", n.output_zero)]
        builder.node("QuantizeLinear", [f"y_real{i}", *scale], f"y_nchw{i}")
        builder.node("Transpose", [f"y_nchw{i}"], f"y{i}", perm=[0, 2, 3, 1])
    return builder.model("layer", *ports_of(layer, True, copies))
