"""Is each 16-bit result inside a quantized network what real numbers give?

The outputs of two programs that round differently are no help where they differ: one wrong sum and one that was rounded
in float32 look the same ten layers later. So every QuantizeLinear of 16 bits becomes an output of the network, and its
result is compared with what the operators between the last DequantizeLinear and it give in double precision
(onnx.reference), from the integers that the program itself had there. That is done for Etch and for ONNX Runtime without
optimisations. The network as it is must give what the network with more outputs gives.

A line for each operator: how many results there are, and how many are not those of real numbers. A difference nearer than
TIE to the middle between two integers is one of rounding floats. Ends with 1 where Etch is wrong elsewhere, and where
nothing was judged.
"""

import argparse
import collections
import dataclasses
import pathlib
import sys

import numpy as np
import onnx
import onnxruntime
from onnx import helper, numpy_helper
from onnx.reference import ReferenceEvaluator

ROOT = pathlib.Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT / "python"))

import etch_onnx as etch  # noqa: E402

WORDS = (onnx.TensorProto.INT16, onnx.TensorProto.UINT16)
TIE = 0.01  # of a step of the result
QUANTIZERS = ("QuantizeLinear", "DequantizeLinear")


@dataclasses.dataclass
class Tally:
    """Of one operator: results, those that differ from real numbers, and the farthest of these from a tie."""

    results: int = 0
    etch: int = 0
    onnxruntime: int = 0
    etch_farthest: float = 0.0


class Network:
    def __init__(self, model: onnx.ModelProto):
        self.model = model
        graph = model.graph
        self.constants = {one.name: numpy_helper.to_array(one) for one in graph.initializer}
        self.constants |= {node.output[0]: numpy_helper.to_array(helper.get_node_attr_value(node, "value"))
                           for node in graph.node if node.op_type == "Constant" and node.attribute[0].name == "value"}
        self.producers = {name: node for node in graph.node for name in node.output if name}
        self.inputs = [port for port in graph.input if port.name not in self.constants]
        self.quantized = [node for node in graph.node if node.op_type == "QuantizeLinear" and self.is_word(node)]

    def is_word(self, node: onnx.NodeProto) -> bool:
        zero_point = self.constants.get(node.input[2]) if len(node.input) > 2 else None
        return zero_point is not None and helper.np_dtype_to_tensor_dtype(zero_point.dtype) in WORDS

    def with_all_words(self, shapes: dict[str, tuple[int, ...]]) -> onnx.ModelProto:
        out = onnx.ModelProto()
        out.CopyFrom(self.model)
        have = {port.name for port in out.graph.output}
        for node in self.quantized:
            if node.output[0] not in have:
                kind = helper.np_dtype_to_tensor_dtype(self.constants[node.input[2]].dtype)
                out.graph.output.append(helper.make_tensor_value_info(node.output[0], kind, shapes.get(node.output[0])))
        return out

    def operator_of(self, node: onnx.NodeProto) -> str:
        """What a QuantizeLinear follows, with what is between it and the DequantizeLinear before."""
        names, at = [], self.producers.get(node.input[0])
        while at is not None and at.op_type not in QUANTIZERS:
            names.append(at.op_type)
            at = self.producers.get(at.input[0]) if at.input else None
        return " ".join(reversed(names)) or "input"


def real(values: np.ndarray, scale: np.ndarray, zero_point: np.ndarray, axis: int) -> np.ndarray:
    """DequantizeLinear in double precision; scales of a tensor or along an axis."""
    if scale.ndim > 1:
        raise NotImplementedError("blocks")
    if scale.size > 1:
        along = [1] * values.ndim
        along[axis] = -1
        scale, zero_point = scale.reshape(along), zero_point.reshape(along) if zero_point.ndim else zero_point
    return (values.astype(np.float64) - zero_point) * scale.astype(np.float64)


class RealNumbers:
    """Tensors in double precision, from the integers that a program has had."""

    def __init__(self, network: Network, had: dict[str, np.ndarray]):
        self.network, self.had, self.known = network, had, {}

    def value(self, name: str) -> np.ndarray:
        if name not in self.known:
            self.known[name] = self.computed(name)
        return self.known[name]

    def integers(self, name: str) -> np.ndarray:
        found = self.network.constants.get(name, self.had.get(name))
        if found is None:
            raise NotImplementedError(name)  # 8 bits, which are no outputs
        return found

    def computed(self, name: str) -> np.ndarray:
        if name in self.network.constants or name in self.had:
            found = self.integers(name)
            return found.astype(np.float64) if found.dtype == np.float32 else found
        node = self.network.producers[name]
        if node.op_type == "DequantizeLinear":
            scale = self.network.constants[node.input[1]]
            zero_point = self.network.constants[node.input[2]] if len(node.input) > 2 else np.zeros((), np.int64)
            axis = next((one.i for one in node.attribute if one.name == "axis"), 1)
            return real(self.integers(node.input[0]), scale, zero_point.astype(np.float64), axis)
        feeds = {each: self.value(each) for each in node.input if each}
        results = evaluated(node, feeds, self.network.model.opset_import)
        self.known.update(zip(node.output, results, strict=True))
        return self.known[name]

    def quantized(self, node: onnx.NodeProto) -> tuple[np.ndarray, np.ndarray]:
        """QuantizeLinear's integers, or NaN, and how far from a tie each result was, in steps."""
        scale, zero_point = (self.network.constants[name] for name in node.input[1:3])
        if scale.size > 1:
            raise NotImplementedError("an axis")
        with np.errstate(all="ignore"):
            steps = self.value(node.input[0]) / np.float64(scale.item())
            limits = np.iinfo(zero_point.dtype)
            integers = np.clip(np.rint(steps) + zero_point.item(), limits.min, limits.max)
            return integers, np.abs(np.abs(steps - np.floor(steps)) - 0.5)


def evaluated(node: onnx.NodeProto, feeds: dict[str, np.ndarray], opsets) -> list[np.ndarray]:
    if any(attribute.type == onnx.AttributeProto.GRAPH for attribute in node.attribute):
        raise NotImplementedError(node.op_type)
    ports = [helper.make_tensor_value_info(name, helper.np_dtype_to_tensor_dtype(value.dtype), value.shape)
             for name, value in feeds.items()]
    results = [onnx.ValueInfoProto(name=name) for name in node.output if name]
    model = helper.make_model(helper.make_graph([node], "one", ports, results), opset_imports=opsets)
    with np.errstate(all="ignore"):
        return ReferenceEvaluator(model).run(None, feeds)


def inputs_of(path: pathlib.Path, network: Network) -> dict[str, np.ndarray]:
    data = path.parent / "test_data_set_0"
    if data.is_dir():
        return {port.name: numpy_helper.to_array(onnx.load_tensor(data / f"input_{i}.pb"))
                for i, port in enumerate(network.inputs)}
    dice = np.random.default_rng(1)
    return {port.name: dice.normal(size=[size.dim_value or 1 for size in port.type.tensor_type.shape.dim]).astype(np.float32)
            for port in network.inputs}


def by_onnxruntime(model: onnx.ModelProto, feeds: dict[str, np.ndarray]) -> dict[str, np.ndarray]:
    options = onnxruntime.SessionOptions()
    options.graph_optimization_level = onnxruntime.GraphOptimizationLevel.ORT_DISABLE_ALL
    options.log_severity_level = 3
    session = onnxruntime.InferenceSession(model.SerializeToString(), options, providers=["CPUExecutionProvider"])
    return dict(zip([port.name for port in session.get_outputs()], session.run(None, feeds), strict=True))


def by_etch(model: onnx.ModelProto, feeds: dict[str, np.ndarray], target: str) -> dict[str, np.ndarray]:
    results = etch.compile(model, target).run(*feeds.values())
    return dict(zip([port.name for port in model.graph.output], results.values(), strict=True))


def judge(model: onnx.ModelProto, feeds: dict[str, np.ndarray], target: str) -> tuple[dict[str, Tally], int]:
    """Tallies by operator, and how many results could not be judged."""
    network = Network(model)
    theirs = by_onnxruntime(network.with_all_words({}), feeds)
    shown = network.with_all_words({name: value.shape for name, value in theirs.items()})
    mine = by_etch(shown, feeds, target)
    for name, value in by_etch(model, feeds, target).items():
        if value.tobytes() != mine[name].tobytes():
            sys.exit(f"judge-words: {name} has other values where more tensors are outputs")
    tallies, unjudged = collections.defaultdict(Tally), 0
    words = [node.output[0] for node in network.quantized]
    reals = [RealNumbers(network, {**{name: found[name] for name in words}, **feeds}) for found in (mine, theirs)]
    for node in network.quantized:
        name = node.output[0]
        try:
            (expected, ties), (other, _) = (each.quantized(node) for each in reals)
        except Exception:  # an operator that the reference does not compute in double precision, or a result of 8 bits
            unjudged += mine[name].size
            continue
        tally, numbers = tallies[network.operator_of(node)], ~np.isnan(expected)
        wrong = numbers & (mine[name] != expected)
        tally.results += int(numbers.sum())
        tally.etch += int(wrong.sum())
        tally.onnxruntime += int((~np.isnan(other) & (theirs[name] != other)).sum())
        rounded = np.abs(mine[name] - expected) == 1  # to the other neighbour, which is right next to a tie only
        tally.etch_farthest = max(tally.etch_farthest, float(np.max(np.where(rounded, ties, 0.5)[wrong], initial=0)))
    return tallies, unjudged


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("models", nargs="+", type=pathlib.Path, metavar="MODEL")
    parser.add_argument("--target", default="native")
    arguments = parser.parse_args()
    failed = False
    for path in arguments.models:
        model = onnx.load(path)
        tallies, unjudged = judge(model, inputs_of(path, Network(model)), arguments.target)
        total = sum(tally.results for tally in tallies.values())
        print(f"{path}: {total} results of 16 bits judged, {unjudged} not")
        for name, tally in sorted(tallies.items()):
            print(f"  {name:32} {tally.results:7} results; not of real numbers: Etch {tally.etch}, ONNX Runtime "
                  f"{tally.onnxruntime}" + (f"; Etch's at most {tally.etch_farthest:.4f} from a tie" if tally.etch else ""))
            failed |= tally.etch_farthest > TIE
        failed |= total == 0
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
