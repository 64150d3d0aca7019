"""Means over all positions become GlobalAveragePool before a network is quantized: PyTorch's exporter by torch.export and
TensorFlow's write ReduceMean for it, of which there is no quantized form, so that it would stay in float. Where the channels
come last, as in transformers, a Transpose makes them the second axis."""

from __future__ import annotations

from typing import TYPE_CHECKING

from . import _reference

if TYPE_CHECKING:
    import onnx


def _axes(node: onnx.NodeProto, constants: dict[str, onnx.TensorProto]) -> list[int] | None:
    """The axes that a ReduceMean names; None where they are not known or not given."""
    onnx, _ = _reference.packages()
    for attribute in node.attribute:
        if attribute.name == "axes":
            return list(attribute.ints)
    if len(node.input) > 1 and node.input[1] in constants:
        return [int(axis) for axis in onnx.numpy_helper.to_array(constants[node.input[1]]).reshape(-1)]
    return None


def _keeps(node: onnx.NodeProto) -> bool:
    return next((bool(each.i) for each in node.attribute if each.name == "keepdims"), True)


def pools_for_means(model: onnx.ModelProto) -> int:
    """Replaces them in `model`, whose shapes have been inferred; returns how many. Names of nodes and tensors stay."""
    onnx, _ = _reference.packages()
    graph = model.graph
    constants = {tensor.name: tensor for tensor in graph.initializer}
    ranks = {
        value.name: len(value.type.tensor_type.shape.dim)
        for value in [*graph.input, *graph.value_info]
        if value.type.tensor_type.HasField("shape")
    }
    opset = next((each.version for each in model.opset_import if each.domain in ("", "ai.onnx")), 0)
    nodes, count = [], 0
    for node in graph.node:
        rank, axes = ranks.get(node.input[0], 0) if node.input else 0, None
        if node.op_type == "ReduceMean" and node.domain in ("", "ai.onnx") and opset >= 13 and rank >= 3:
            axes = _axes(node, constants)
        over = sorted(axis % rank for axis in axes) if axes else []
        if not over or over not in (list(range(2, rank)), list(range(1, rank - 1))):
            nodes.append(node)
            continue
        count += 1
        source, keeps, result = node.input[0], _keeps(node), node.output[0]
        channels_last = over[0] == 1
        pooled = result if keeps and not channels_last else result + "_pool"
        if channels_last:
            first = [0, rank - 1, *range(1, rank - 1)]
            nodes.append(onnx.helper.make_node("Transpose", [source], [result + "_channels"], node.name + "_channels", perm=first))
            source = result + "_channels"
        nodes.append(onnx.helper.make_node("GlobalAveragePool", [source], [pooled], node.name))
        if not keeps:
            name = result + "_axes"
            graph.initializer.append(onnx.helper.make_tensor(name, onnx.TensorProto.INT64, [rank - 2], range(2, rank)))
            nodes.append(onnx.helper.make_node("Squeeze", [pooled, name], [result], node.name + "_squeeze"))
        elif channels_last:
            last = [0, *range(2, rank), 1]
            nodes.append(onnx.helper.make_node("Transpose", [pooled], [result], node.name + "_back", perm=last))
    if count:
        del graph.node[:]
        graph.node.extend(nodes)
    return count
