"""Where a network departs from another, tensor by tensor: `etch debug`.

The model runs in generated code with tensors inside it as outputs (`--cut`), the other in ONNX Runtime. Quantized tensors
are cut out together, which leaves every group of quantized operators an integer operator, as without the cuts; floats
inside groups are a second network, in which their groups are float arithmetic.
"""

from __future__ import annotations

import dataclasses
import pathlib
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from . import _by_hand, _reference
from ._compare import Difference, decibel
from ._network import Network, compile, counted
from ._program import EtchError, Model, Path, printable
from ._samples import Samples

if TYPE_CHECKING:
    import onnx
    from numpy.typing import NDArray


_ROUNDING_DB = 100.0  # the order of sums changes floats by less than this


@dataclasses.dataclass(frozen=True)
class FirstElement:
    """The first element of a quantized tensor that is not equal to the other network's: in which sample and where, both
    stored values, and where its layer is a convolution or product with constant weights, how its definition computes it."""

    sample: int
    index: tuple[int, ...]
    value: int
    expected: int
    by_hand: str = ""


@dataclasses.dataclass(frozen=True)
class TensorDifference:
    """A tensor of the model against the one of the same name.

    tensor: its name in the other network. at: its name in the model, of the quantized values where there are any. op, node:
    what computes it in the model. exact: no element differs. worst: the largest difference. saturated: share of 8-bit
    values at a limit of their type whose float value is more than half a step beyond it (if the other is not float: that
    are at a limit); None for floats. first: of quantized tensors that both networks have as such."""

    tensor: str
    at: str
    op: str
    node: str
    elements: int
    different: int
    worst: float
    sqnr_db: float
    cosine: float
    saturated: float | None
    first: FirstElement | None = None

    @property
    def exact(self) -> bool:
        return self.different == 0

    @property
    def departs(self) -> bool:
        """Whether more differs than how floats were rounded."""
        return self.sqnr_db < _ROUNDING_DB if self.saturated is None else not self.exact

    def __str__(self) -> str:
        saturated = "" if self.saturated is None else f", {100 * self.saturated:.2f} % saturated"
        return (
            f"{printable(self.tensor)} ({printable(self.op)}): {decibel(self.sqnr_db)}, cosine {self.cosine:.6f}, "
            f"{self.different} of {self.elements} differ by up to {self.worst:.4g}{saturated}"
        )


@dataclasses.dataclass
class _Point:
    """A tensor that both have: `at` in the model, `tensor` in the other. scale: of quantized values to be compared with
    floats."""

    tensor: str
    at: str
    node: onnx.NodeProto
    quantized: bool
    scale: float | None = None
    zero_point: int = 0


def _computed(model: onnx.ModelProto) -> Iterator[onnx.NodeProto]:
    """The nodes that depend on an input."""
    known = {port.name for port in _reference.inputs(model)}
    for node in model.graph.node:
        if known.intersection(node.input):
            known.update(node.output)
            yield node


def _constants(model: onnx.ModelProto) -> dict[str, NDArray[Any]]:
    from onnx import numpy_helper

    found = {tensor.name: numpy_helper.to_array(tensor) for tensor in model.graph.initializer}
    for node in model.graph.node:
        if node.op_type == "Constant" and node.attribute and node.attribute[0].name == "value":
            found[node.output[0]] = numpy_helper.to_array(node.attribute[0].t)
    return found


def _scaled(point: _Point, scale: NDArray[Any] | None, zero_point: NDArray[Any] | None) -> _Point | None:
    """None where the scale is not one number that is known."""
    if scale is None or scale.size != 1:
        return None
    zero = 0 if zero_point is None else int(zero_point.reshape(-1)[0])
    return dataclasses.replace(point, scale=float(scale.reshape(-1)[0]), zero_point=zero)


def _after_limits(other: onnx.ModelProto, tensor: str, mine: set[str]) -> str:
    """The tensor that the model's quantized `tensor` is: a Relu or Clip after it that the model does not have became the
    limits of its quantized range."""
    readers = [node for node in other.graph.node if tensor in node.input]
    if len(readers) != 1 or readers[0].op_type not in ("Relu", "Clip") or readers[0].output[0] in mine:
        return tensor
    return str(readers[0].output[0])


def _points(model: onnx.ModelProto, other: onnx.ModelProto) -> list[_Point]:
    """In the order of the model's nodes."""
    theirs = {name for node in _computed(other) for name in node.output if name}
    theirs.update(port.name for port in _reference.inputs(other))
    constants = _constants(model)
    results = {port.name for port in model.graph.output}
    nodes = list(_computed(model))
    mine = {name.removesuffix("_quantized") for node in nodes for name in node.output}
    quantized = {node.input[0] for node in nodes if node.op_type == "QuantizeLinear"}
    found: list[_Point | None] = []
    for node in nodes:
        for name in filter(None, node.output):
            stem = name.removesuffix("_quantized")
            if node.op_type == "QuantizeLinear" and name not in theirs and node.input[0] in theirs:
                zero = constants.get(node.input[2]) if len(node.input) > 2 else None
                found.append(_scaled(_Point(node.input[0], name, node, True), constants.get(node.input[1]), zero))
            elif name in theirs:
                is_quantized = node.op_type.startswith("Q") or name in results
                if node.op_type == "DequantizeLinear" and name not in results:
                    continue  # says no more than the values it reads
                if name in quantized and name not in results and not _is_quantized(other):
                    continue  # its quantized values say it
                found.append(_Point(name, name, node, is_quantized))
            elif stem in theirs and node.op_type != "DequantizeLinear":
                point = _Point(_after_limits(other, stem, mine), name, node, True)
                found.append(_scaled(point, constants.get(stem + "_scale"), constants.get(stem + "_zero_point")))
    unique = {point.tensor: point for point in found if point is not None}
    return list(unique.values())


def _is_quantized(model: onnx.ModelProto) -> bool:
    return any(node.op_type.startswith(("Q", "Dequantize")) for node in model.graph.node)


class _Sums:
    """One tensor over all samples."""

    def __init__(self, point: _Point):
        self.point = point
        self.difference = Difference()
        self.limits = 0
        self.is_8bit = False
        self.first: FirstElement | None = None

    def _look(self, sample: int, value: NDArray[Any], expected: NDArray[Any]) -> None:
        different = np.argwhere(value != expected)
        if len(different):
            index = tuple(int(i) for i in different[0])
            self.first = FirstElement(sample, index, int(value[index]), int(expected[index]))

    def add(self, sample: int, value: NDArray[Any], expected: NDArray[Any]) -> None:
        if self.first is None and value.dtype == expected.dtype and value.dtype.kind in "iu" and value.shape == expected.shape:
            self._look(sample, value, expected)
        self.is_8bit = value.dtype.kind in "iu" and value.dtype.itemsize == 1
        real = np.asarray(value)
        if self.point.scale is not None:
            scale = np.float32(self.point.scale)
            real = (value.astype(np.int32) - self.point.zero_point).astype(np.float32) * scale
        if self.is_8bit:
            limits = np.iinfo(value.dtype)
            low, high = value == limits.min, value == limits.max
            if self.point.scale is not None:
                half = self.point.scale / 2
                low, high = low & (expected < real - half), high & (expected > real + half)
            self.limits += int(np.count_nonzero(low | high))
        self.difference.add(real, expected)

    def result(self) -> TensorDifference:
        sums, node = self.difference, self.point.node
        saturated = self.limits / max(sums.elements, 1) if self.is_8bit else None
        return TensorDifference(
            self.point.tensor, self.point.at, node.op_type, node.name, sums.elements, sums.different,
            sums.largest, sums.sqnr_db, sums.cosine, saturated, self.first,
        )  # fmt: skip


def _session_with(model: onnx.ModelProto, names: Sequence[str]) -> Any:
    """A session whose outputs are these tensors, without the model's inputs."""
    onnx, _ = _reference.packages()
    extended = onnx.ModelProto()
    extended.CopyFrom(model)
    kept = {port.name: port for port in model.graph.output}
    del extended.graph.output[:]
    extended.graph.output.extend(kept.get(name, onnx.ValueInfoProto(name=name)) for name in names)
    return _reference.session(extended)


def _compare(
    points: list[_Point], network: Network, other: onnx.ModelProto, samples: Samples, most: int | None
) -> dict[str, TensorDifference]:
    ports = [port.name for port in _reference.inputs(other)]
    session = _session_with(other, [each.tensor for each in points if each.tensor not in ports])
    sums = [_Sums(point) for point in points]
    wanted = {port.name for port in network.inputs}
    cuts = [point.at for point in points]
    for k in range(min(most or len(samples), len(samples))):
        sample = samples[k]
        same = dict(zip(ports, sample.values()))
        expected = {**same, **_reference.run(session, same)}
        try:
            actual = counted(network.run(**{name: value for name, value in sample.items() if name in wanted}), cuts)
        except (TypeError, ValueError) as error:
            raise EtchError(f"sample {k}: {error}", 1) from error
        # Rows whose number values decide may be others in the other network: no element has another one beside it.
        sums = [each for each in sums if actual[each.point.at].size == expected[each.point.tensor].size]
        for each in sums:
            each.add(k, actual[each.point.at], expected[each.point.tensor])
    return {each.point.at: each.result() for each in sums}


def shapes_of(samples: Samples) -> dict[str, tuple[int, ...]]:
    """Of the inputs of the first sample, which fix the symbolic sizes of a network."""
    return {name: array.shape for name, array in samples[0].items()}


def debug(
    model: Model,
    against: Model,
    data: Path,
    *,
    target: str = "native",
    samples: int | None = None,
) -> list[TensorDifference]:
    """Compares every tensor that both networks have by name, in the order in which `model` computes them; a quantized
    tensor is that of the float tensor it was made from; one that has another number of elements there, with rows whose
    number values decide, is left out. `against`: the float network, or the same network, where nothing must differ. data:
    samples of inputs as for quantize(). samples: at most this many."""
    mine, other = _reference.load(model), _reference.load(against)
    points = _points(mine, other)
    if not points:
        raise EtchError("the networks have no tensor in common", 1)
    found = Samples(pathlib.Path(data), _reference.shapes(mine), _reference.types(mine))
    if len(_reference.inputs(mine)) != len(_reference.inputs(other)):
        raise EtchError("the networks have different numbers of inputs", 1)
    shapes = shapes_of(found)
    results: dict[str, TensorDifference] = {}
    for quantized in (True, False):
        part = [point for point in points if point.quantized is quantized]
        if part:
            cuts = [point.at for point in part]
            network = compile(mine, target, cut=cuts, input_shape=shapes)
            results.update(_compare(part, network, other, found, samples))
    found_all = [results[point.at] for point in points if point.at in results]
    return _with_first_by_hand(found_all, mine, found)


def _with_first_by_hand(
    found: list[TensorDifference], model: onnx.ModelProto, samples: Samples
) -> list[TensorDifference]:
    """The first element that differs in the first quantized tensor that does, computed by its definition from ONNX Runtime's
    input of the layer, which is equal in both."""
    k = next((k for k, each in enumerate(found) if each.first is not None), None)
    first = None if k is None else found[k].first
    layer = None if k is None else _by_hand.layer_of(model, _constants(model), found[k].at)
    if k is None or first is None or layer is None:
        return found
    sample = samples[first.sample]
    x = sample[layer.x] if layer.x in sample else _reference.run(_session_with(model, [layer.x]), sample)[layer.x]
    text = _by_hand.element(layer, x, first.index).text
    return [*found[:k], dataclasses.replace(found[k], first=dataclasses.replace(first, by_hand=text)), *found[k + 1 :]]
