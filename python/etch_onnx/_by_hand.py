"""One element of an integer layer written out as its definition computes it: the window of the input, the weights, their
sum, the bias, and each step of requantization (docs/spec/requantization.md). For `etch debug`, which says where two runs
of one network part; plain loops that share nothing with the compiler."""

from __future__ import annotations

import dataclasses
import itertools
from typing import TYPE_CHECKING, Any

import numpy as np

from ._program import printable

if TYPE_CHECKING:
    import onnx
    from numpy.typing import NDArray

    Constants = dict[str, NDArray[Any]]

_MOST_TERMS = 36  # that are printed


@dataclasses.dataclass
class Layer:
    """A convolution (`spatial`) or a product of a matrix with constant weights. Names are of tensors; zero points and scales
    are arrays of one element or of one per output channel."""

    node: onnx.NodeProto
    x: str
    x_scale: NDArray[Any]
    x_zero: int
    w: NDArray[Any]  # [M, C / group, k...]; of a product [K, N]
    w_scale: NDArray[Any]
    w_zero: NDArray[Any]
    bias: NDArray[Any] | None
    y_scale: NDArray[Any]
    y_zero: int
    low: int
    high: int
    spatial: bool
    attributes: dict[str, Any]


@dataclasses.dataclass(frozen=True)
class Element:
    """accumulator: the sum with the bias. result: the stored value. text: all of it in lines."""

    accumulator: int
    result: int
    text: str


def _attributes(node: onnx.NodeProto) -> dict[str, Any]:
    from onnx import helper

    return {each.name: helper.get_attribute_value(each) for each in node.attribute}


class _Graph:
    """Who computes a tensor, and the constants that DequantizeLinear reads."""

    def __init__(self, model: onnx.ModelProto, constants: Constants):
        self.constants = constants
        self.producers = {name: node for node in model.graph.node for name in node.output if name}

    def dequantized(self, name: str) -> tuple[str, NDArray[Any], NDArray[Any]] | None:
        """The quantized tensor of a float one, its scale and its zero point."""
        node = self.producers.get(name)
        if node is None or node.op_type != "DequantizeLinear" or node.input[1] not in self.constants:
            return None
        zero = self.constants.get(node.input[2]) if len(node.input) > 2 else None
        return node.input[0], self.constants[node.input[1]].reshape(-1), np.zeros(1, np.int64) if zero is None else zero.reshape(-1)


def layer_of(model: onnx.ModelProto, constants: Constants, tensor: str) -> Layer | None:
    """The layer whose result is the quantized `tensor`: QuantizeLinear after Conv, Gemm or MatMul, perhaps with Relu between,
    or QLinearConv or QLinearMatMul. None for anything else."""
    graph = _Graph(model, constants)
    last = graph.producers.get(tensor)
    if last is None:
        return None
    if last.op_type in ("QLinearConv", "QLinearMatMul"):
        return _operator(graph, last)
    return _group(graph, last) if last.op_type == "QuantizeLinear" else None


def _limits(zero: NDArray[Any]) -> tuple[int, int]:
    limits = np.iinfo(zero.dtype)
    return int(limits.min), int(limits.max)


def _operator(graph: _Graph, node: onnx.NodeProto) -> Layer | None:
    found = [graph.constants.get(name) for name in node.input]
    if any(each is None for each in found[1:8]):
        return None
    low, high = _limits(found[7])  # type: ignore[arg-type]
    return Layer(node, node.input[0], found[1].reshape(-1), int(found[2].reshape(-1)[0]), found[3],  # type: ignore[union-attr, arg-type]
                 found[4].reshape(-1), found[5].reshape(-1), found[8] if len(found) > 8 else None,  # type: ignore[union-attr]
                 found[6].reshape(-1), int(found[7].reshape(-1)[0]), low, high, node.op_type == "QLinearConv",  # type: ignore[union-attr]
                 _attributes(node))  # fmt: skip


def _group(graph: _Graph, last: onnx.NodeProto) -> Layer | None:
    node, scale = graph.producers.get(last.input[0]), graph.constants.get(last.input[1])
    zero = graph.constants.get(last.input[2]) if len(last.input) > 2 else np.zeros(1, np.uint8)
    if node is None or scale is None or zero is None:
        return None
    low, high = _limits(zero)
    y_zero = int(zero.reshape(-1)[0])
    if node.op_type == "Relu":
        node, low = graph.producers.get(node.input[0]), max(low, y_zero)
    attributes = _attributes(node) if node is not None else {}
    plain = attributes.get("alpha", 1.0) == attributes.get("beta", 1.0) == 1.0 and not attributes.get("transA", 0)
    if node is None or node.op_type not in ("Conv", "Gemm", "MatMul") or not plain:
        return None
    x, w = graph.dequantized(node.input[0]), graph.dequantized(node.input[1])
    bias = graph.dequantized(node.input[2]) if len(node.input) > 2 else None
    if x is None or w is None or w[0] not in graph.constants or (len(node.input) > 2 and bias is None):
        return None
    weights = graph.constants[w[0]]
    if attributes.get("transB", 0):
        weights = weights.T
    return Layer(node, x[0], x[1], int(x[2][0]), weights, w[1], w[2], graph.constants[bias[0]] if bias else None,
                 scale.reshape(-1), y_zero, low, high, node.op_type == "Conv", attributes)  # fmt: skip


def _at(array: NDArray[Any], channel: int) -> Any:
    return array[channel if array.size > 1 else 0]


def _pads(layer: Layer, size: tuple[int, ...]) -> list[int]:
    rank = len(size)
    kernel, strides = layer.w.shape[2:], layer.attributes.get("strides", [1] * rank)
    dilations = layer.attributes.get("dilations", [1] * rank)
    padding = layer.attributes.get("auto_pad", b"NOTSET").decode()
    if padding not in ("SAME_UPPER", "SAME_LOWER"):
        return list(layer.attributes.get("pads", [0] * rank))[:rank]
    begins = []
    for i in range(rank):
        out = -(-size[i] // strides[i])
        total = max((out - 1) * strides[i] + (kernel[i] - 1) * dilations[i] + 1 - size[i], 0)
        begins.append(total // 2 if padding == "SAME_UPPER" else total - total // 2)
    return begins


def _terms(layer: Layer, x: NDArray[Any], index: tuple[int, ...]) -> tuple[int, list[tuple[str, int, int]]]:
    """The output channel, and of every product the place in the input, x and w without their zero points."""
    found = []
    if not layer.spatial:
        channel = index[-1]
        for k in range(layer.w.shape[-2]):
            place = (*index[:-1], k)
            w = layer.w[(*index[: layer.w.ndim - 2], k, channel)] if layer.w.ndim > 2 else layer.w[k, channel]
            found.append((str(list(place)), int(x[place]) - layer.x_zero, int(w) - int(_at(layer.w_zero, channel))))
        return channel, found
    image, channel, position = index[0], index[1], index[2:]
    rank = len(position)
    strides, dilations = layer.attributes.get("strides", [1] * rank), layer.attributes.get("dilations", [1] * rank)
    begins = _pads(layer, x.shape[2:])
    inputs = layer.w.shape[1]
    first = channel // (layer.w.shape[0] // layer.attributes.get("group", 1)) * inputs
    for c, *tap in itertools.product(range(inputs), *map(range, layer.w.shape[2:])):
        at = [position[i] * strides[i] + tap[i] * dilations[i] - begins[i] for i in range(rank)]
        if all(0 <= at[i] < x.shape[2 + i] for i in range(rank)):  # outside is the zero point: adds nothing
            place = (image, first + c, *at)
            w = int(layer.w[(channel, c, *tap)]) - int(_at(layer.w_zero, channel))
            found.append((str(list(place)), int(x[place]) - layer.x_zero, w))
    return channel, found


def _wrapped(value: int) -> int:
    return (value + 2**31) % 2**32 - 2**31


def element(layer: Layer, x: NDArray[Any], index: tuple[int, ...]) -> Element:
    """The element at `index` of the layer's result from its quantized input."""
    channel, terms = _terms(layer, x, index)
    products = sum(a * b for _, a, b in terms)
    bias = 0 if layer.bias is None else int(_at(layer.bias.reshape(-1), channel))
    accumulator = _wrapped(products + bias)
    product = np.float32(layer.x_scale[0]) * np.float32(_at(layer.w_scale, channel))
    factor = np.float32(product) / np.float32(layer.y_scale[0])
    scaled = np.float32(np.float32(accumulator) * factor)
    rounded = int(np.rint(np.clip(scaled, np.float32(layer.low - layer.y_zero), np.float32(layer.high - layer.y_zero))))
    result = rounded + layer.y_zero
    lines = [f"{layer.node.op_type} '{printable(layer.node.name)}', channel {channel}: {len(terms)} products of {printable(layer.x)}"]
    lines += [f"  x{place}: {a} * {b} = {a * b}" for place, a, b in terms[:_MOST_TERMS]]
    if len(terms) > _MOST_TERMS:
        lines.append(f"  ... and {len(terms) - _MOST_TERMS} more")
    lines += [
        f"sum of (x - {layer.x_zero}) * (w - {int(_at(layer.w_zero, channel))}): {products}, bias {bias}: accumulator {accumulator}",
        f"factor fl(fl({layer.x_scale[0]:.9g} * {_at(layer.w_scale, channel):.9g}) / {layer.y_scale[0]:.9g}) = {factor:.9g}",
        f"fl({accumulator} * factor) = {scaled:.9g}, rounded half to even {rounded}, "
        f"zero point {layer.y_zero}, limits {layer.low} to {layer.high}: {result}",
    ]
    return Element(accumulator, result, "\n".join(lines))
