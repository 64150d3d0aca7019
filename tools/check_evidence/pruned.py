"""Convolutions that lost channels: what is left is named by the trace; that nothing else counts is recomputed here. An
input that is left out has weights of zero, or one value whatever the network is given, which is found by intervals from
the file's weights and is in the bias then; and all who share a tensor have the same channels of it."""

import dataclasses
from types import SimpleNamespace

import numpy as np
from onnx import TensorProto

from . import tables
from .graph import F, INT_RANGE, CannotJudge, attributes
from .products import INT32, product_of

CONVOLUTIONS = ("Conv", "QLinearConv")
POOLS = {"MaxPool", "GlobalAveragePool", "QLinearGlobalAveragePool"}
POINTWISE = {"QuantizeLinear", "DequantizeLinear", "Relu", "Clip", "Sigmoid", "HardSigmoid", "HardSwish", "LeakyRelu",
             "Identity", "QLinearSigmoid", "QLinearLeakyRelu", "Cast"}
SUMS = {"Add", "Mul", "QLinearAdd", "QLinearMul"}
CARRY = POOLS | POINTWISE | SUMS
TO_BYTES = {TensorProto.UINT8: INT_RANGE["uint8"], TensorProto.INT8: INT_RANGE["int8"]}
ALL = SimpleNamespace(inputs=[], outputs=[])


class Pruned:
    def __init__(self, model, traced, rule):
        self.model, self.intervals = model, Intervals(model, rule)
        self.kept = {s.node: s.kept for s in traced.steps if hasattr(s, "kept")}
        self.bad = set()

    # ---- a product without the channels that are left out ----
    def left(self, index, product):
        if index not in self.kept:
            return product
        if index in self.bad:
            raise CannotJudge("channels of its own that are not there")
        node, bias = self.model.nodes[index], product.bias
        rows = product.rows.reshape(len(product.rows), weights(self.model, node).shape[1], -1)
        kept = self.kept[index]
        ins, outs = kept.inputs or np.arange(rows.shape[1]), kept.outputs or np.arange(len(rows))
        removed = np.setdiff1d(np.arange(rows.shape[1]), ins)
        if len(removed):
            bias = (bias + self.constants(node, product, rows, removed) - INT32[0]) % (1 << 32) + INT32[0]
        return dataclasses.replace(product, rows=rows[outs][:, ins].reshape(len(outs), -1), bias=np.asarray(bias)[outs],
                                   w_scale=product.w_scale[outs])

    def constants(self, node, product, rows, removed):
        """What the channels that are left out add to each output."""
        added, known = np.zeros(len(rows), np.int64), self.intervals.of(node.input[0])
        for c in removed[rows[:, removed].any(axis=(0, 2))]:
            if known is None or known[0][c] != known[1][c]:
                raise ValueError(f"input channel {c} is left out, and is not constant")
            x = int(known[0][c]) - int(product.x.zero[0])
            if x and padded(node):
                raise ValueError(f"input channel {c} is left out, is not the zero point, and borders see it")
            added += x * rows[:, c].sum(axis=1)
        return added

    # ---- who shares a tensor ----
    def check(self, report):
        for index, kept in self.kept.items():
            if not report.need(self.is_possible(index, kept), "pruned", f"node {index} has no such channels"):
                self.bad.add(index)
        left = {}  # channels of tensors that lost some
        for index, node in enumerate(self.model.nodes):
            read, made, expected = [left[name] for name in node.input if name in left], [], []
            if node.op_type in CARRY and read:
                read = [left.get(name, []) for name in node.input if self.model.constant(name) is None]
                made = expected = read[0]
            elif node.op_type in CONVOLUTIONS:
                own, (depthwise, whole) = self.kept.get(index, ALL), self.groups(node)
                made, expected = own.outputs, own.outputs if depthwise else own.inputs
                report.need(depthwise or whole or not read, "pruned", f"node {index} has groups, and reads {read}")
                read = read or [[]]
            report.need(all(channels == expected for channels in read), "pruned",
                        f"node {index} reads {read} of what others make, not {expected or 'all'}")
            left.update({node.output[0]: made} if made else {})
        report.need(not left.keys() & set(self.model.outputs), "pruned", "the caller reads a tensor that lost channels")

    def is_possible(self, index, kept):
        node = self.model.nodes[index] if 0 <= index < len(self.model.nodes) else None
        return node is not None and node.op_type in CONVOLUTIONS and all(
            v == sorted(set(v) & set(range(size)))
            for v, size in zip((kept.outputs, kept.inputs), weights(self.model, node).shape))

    def groups(self, node):
        """Whether each channel has a group, and whether all are one."""
        w, group = weights(self.model, node), attributes(node).get("group", 1)
        return group > 1 and w is not None and w.shape[:2] == (group, 1), group == 1


class Intervals(tables.Function):
    """(least, greatest) of each channel of a tensor, in place of a table's 256 bytes."""

    def __init__(self, model, rule):
        super().__init__(model)
        self.rule = rule

    def of(self, name):
        """Of the integers that a tensor has or stands for; None: not known."""
        try:
            while self.model.op(name) in ("DequantizeLinear", "MaxPool"):
                self.moves(self.model.maker(name))
                name = self.model.maker(name).input[0]
            ends = self.values(name)
        except CannotJudge:
            return None
        return None if ends[0].dtype == F else [v.astype(np.int64) for v in ends]

    def moves(self, node):
        if set(attributes(node).get("dilations", [1])) != {1}:
            raise CannotJudge("a maximum of elements that are apart")

    def of_node(self, index, node):
        op, name, model = node.op_type, node.input[0], self.model
        while op == "QuantizeLinear" and model.op(name) in ("Relu", "Clip"):
            name = model.maker(name).input[0]
        if op == "QLinearConv" or op == "QuantizeLinear" and model.op(name) == "Conv":
            return self.convolution(node if op == "QLinearConv" else model.maker(name))
        if op not in CARRY:
            raise CannotJudge(f"channels of {op}")
        if op != "MaxPool" and (op != "Cast" or self.values(name)[0].dtype == F):
            return super().of_node(index, node)
        self.moves(node)
        ends, (low, high) = self.values(name), TO_BYTES.get(attributes(node).get("to"), (0, 0))
        if op == "Cast" and not low <= ends[0].min() <= ends[1].max() <= high:
            raise CannotJudge("a Cast that may change integers")
        return ends

    def convolution(self, node):
        """Of its first result in the file."""
        product = product_of(self.model, self.model.producer[node.output[0]])
        if not product.results:
            raise CannotJudge("a result that is not quantized")
        y, low, high = product.results[0]
        w, group = weights(self.model, node), attributes(node).get("group", 1)
        zero, zero_y = product.x.zero[0], int(y.zero[0])
        known = self.of(node.input[0]) or [np.full(w.shape[1] * group, v) for v in INT_RANGE[product.x.dtype]]
        least, most = (np.asarray(v, np.int64) - zero for v in known)
        if padded(node):
            least, most = np.minimum(least, 0), np.maximum(most, 0)
        of = (np.arange(len(w)) // (len(w) // group) * w.shape[1])[:, None] + np.arange(w.shape[1])
        a, b = (product.rows.reshape(*of.shape, -1) * end[of][..., None] for end in (least, most))
        sums = [product.bias + f(a, b).sum(axis=(1, 2)) for f in (np.minimum, np.maximum)]
        wraps = (sums[0] < INT32[0]) | (sums[1] > INT32[1])
        return [np.where(wraps, limit, self.rule(s, product.scales(y), low - zero_y, high - zero_y) + zero_y)
                for s, limit in zip(sums, (low, high))]


def weights(model, node):
    """None: they are not known."""
    found = model.integers(node.input[1]) if node.op_type == "Conv" else (model.constant(node.input[3]),)
    return found and found[0]


def padded(node):
    a = attributes(node)
    return any(a.get("pads", [])) or a.get("auto_pad", b"NOTSET").startswith(b"SAME")
