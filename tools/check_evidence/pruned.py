"""Convolutions that lost channels: what is left is named by the trace; that nothing else counts is recomputed here. An input
that is left out has weights of zero, or one value whatever the network is given, which is found by intervals from the file's
weights and is in the bias then; and all who share a tensor have the same channels of it."""

import numpy as np

from . import tables
from .graph import F, INT_RANGE, attributes
from .products import INT32, CannotJudge, Product, product_of

CONVOLUTIONS = ("Conv", "QLinearConv")
POOLS = {"MaxPool", "GlobalAveragePool", "QLinearGlobalAveragePool"}
POINTWISE = {"QuantizeLinear", "DequantizeLinear", "Relu", "Clip", "Sigmoid", "HardSigmoid", "HardSwish", "LeakyRelu",
             "Identity", "QLinearSigmoid", "QLinearLeakyRelu", "Cast"}
SUMS = {"Add": (0, 1), "Mul": (0, 1), "QLinearAdd": (0, 3), "QLinearMul": (0, 3)}
ALL = {"inputs": [], "outputs": []}


class Pruned:
    def __init__(self, model, traced, rule):
        self.model, self.intervals = model, Intervals(model, rule)
        self.kept = {s["node"]: s["kept"] for s in traced["steps"] if "kept" in s}
        self.bad = set()

    # ---- a product without the channels that are left out ----
    def left(self, index, product):
        if index not in self.kept:
            return product
        if index in self.bad:
            raise CannotJudge("channels of its own that are not there")
        node, bias = self.model.nodes[index], product.bias
        rows = product.rows.reshape(len(product.rows), weights(self.model, node).shape[1], -1)
        ins, outs = (self.kept[index][k] or np.arange(n) for k, n in (("inputs", rows.shape[1]), ("outputs", len(rows))))
        removed = np.setdiff1d(np.arange(rows.shape[1]), ins)
        bias = (bias + self.constants(node, product, rows, removed) - INT32[0]) % (1 << 32) + INT32[0] if len(removed) else bias
        return Product(rows[outs][:, ins].reshape(len(outs), -1), product.w_scale[outs], product.x, np.asarray(bias)[outs],
                       product.results, product.alpha)

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
            node = self.model.nodes[index] if 0 <= index < len(self.model.nodes) else None
            if node is None or node.op_type not in CONVOLUTIONS:
                problem = "is no convolution that could lose channels"
            else:
                limits = zip((kept["outputs"], kept["inputs"]), weights(self.model, node).shape)
                problem = "channels that are not there" if any(
                    v != sorted(set(v)) or v and not 0 <= v[0] <= v[-1] < n for v, n in limits) else ""
            if not report.need(not problem, "pruned", f"node {index}: {problem}"):
                self.bad.add(index)
        for index, node in enumerate(self.model.nodes):
            if node.op_type not in CONVOLUTIONS:
                continue
            own = self.kept.get(index, ALL)
            mine = own["outputs" if self.is_depthwise(node) else "inputs"]
            for source in self.sources(node.input[0]):
                theirs = self.kept.get(source, ALL)["outputs"]
                report.need(theirs == mine, "pruned", f"node {index} reads {mine or 'all'} of what node {source} makes, "
                            f"{theirs or 'all'}")
            other = own["outputs"] and self.other_reader(node.output[0])
            report.need(not other, "pruned", f"node {index} lost channels that {other} reads")

    def is_depthwise(self, node):
        w, group = weights(self.model, node), attributes(node).get("group", 1)
        return group > 1 and w is not None and w.shape[:2] == (group, 1)

    def sources(self, name):
        """The convolutions whose channels a tensor has; None for what keeps all of its own."""
        node = self.model.maker(name)
        if node is None or node.op_type in CONVOLUTIONS:
            return {self.model.producer.get(name)}
        if node.op_type in SUMS:
            names = [node.input[i] for i in SUMS[node.op_type]]
            return set().union(*(self.sources(n) for n in names if self.model.constant(n) is None))
        return self.sources(node.input[0]) if node.op_type in POOLS | POINTWISE else {None}

    def other_reader(self, name):
        if name in self.model.outputs:
            return "the caller"
        for index in self.model.consumers.get(name, []):
            node = self.model.nodes[index]
            if node.op_type in POOLS | POINTWISE or node.op_type in SUMS:
                if other := self.other_reader(node.output[0]):
                    return other
            elif node.op_type not in CONVOLUTIONS or attributes(node).get("group", 1) > 1 and not self.is_depthwise(node):
                return f"node {index}"
        return None


class Intervals(tables.Function):
    """(least, greatest) of each channel of a tensor, in place of a table's 256 bytes."""

    def __init__(self, model, rule):
        self.model, self.rule, self.known, self.nodes, self.of_real = model, rule, {}, set(), F

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
        if op not in POINTWISE and op not in SUMS and op != "MaxPool":
            raise CannotJudge(f"channels of {op}")
        if op != "MaxPool" and (op != "Cast" or self.values(name)[0].dtype == F):
            return super().of_node(index, node)
        self.moves(node)
        ends, limits = self.values(name), {2: (0, 255), 3: (-128, 127)}.get(attributes(node).get("to"), (0, 0))  # uint8, int8
        if op == "Cast" and not limits[0] <= ends[0].min() <= ends[1].max() <= limits[1]:
            raise CannotJudge("a Cast that may change integers")
        return ends

    def convolution(self, node):
        """Of its first result in the file."""
        product = product_of(self.model, self.model.producer[node.output[0]])
        if not product.results:
            raise CannotJudge("a result that is not quantized")
        y, low, high = product.results[0]
        w, group, zero, zero_y = weights(self.model, node), attributes(node).get("group", 1), product.x.zero[0], int(y.zero[0])
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
