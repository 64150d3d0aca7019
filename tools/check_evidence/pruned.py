"""Convolutions that lost channels: what is left is named by the trace; that nothing else counts is recomputed here. An input
that is left out has weights of zero, or one value whatever the network is given, which is found by intervals from the file's
weights and is in the bias then; and all who share a tensor have the same channels of it."""

import numpy as np

from . import tables
from .graph import INT_RANGE, attributes
from .products import INT32, CannotJudge, Product, per_tensor, product_of

CONVOLUTIONS = ("Conv", "QLinearConv")
PASSES = {"QuantizeLinear", "DequantizeLinear", "Relu", "Clip", "MaxPool", "GlobalAveragePool", "QLinearGlobalAveragePool",
          "Sigmoid", "HardSigmoid", "HardSwish", "LeakyRelu", "Identity", "QLinearSigmoid", "QLinearLeakyRelu", "Cast"}
SUMS = {"Add": (0, 1), "Mul": (0, 1), "QLinearAdd": (0, 3), "QLinearMul": (0, 3)}


class Pruned:
    def __init__(self, model, traced, rule):
        self.model, self.rule, self.ranges = model, rule, {}
        self.kept = {s["node"]: s["kept"] for s in traced["steps"] if "kept" in s}
        self.bad = set()

    # ---- a product without the channels that are left out ----
    def left(self, index, product):
        if index not in self.kept:
            return product
        if index in self.bad:
            raise CannotJudge("channels of its own that are not there")
        node, kept = self.model.nodes[index], self.kept[index]
        outs, ins = (np.asarray(kept[k], np.int64) for k in ("outputs", "inputs"))
        rows = product.rows.reshape(len(product.rows), self.weights(node).shape[1], -1)
        bias = product.bias
        if len(ins):
            bias = bias + self.constants(node, product, rows, set(range(rows.shape[1])) - set(kept["inputs"]))
            bias = (bias - INT32[0]) % (1 << 32) + INT32[0]
            rows = rows[:, ins]
        if len(outs):
            rows, bias = rows[outs], np.asarray(bias)[outs]
        scale = product.w_scale[outs] if len(outs) else product.w_scale
        return Product(rows.reshape(len(rows), -1), scale, product.x, bias, product.results, product.alpha)

    def constants(self, node, product, rows, removed):
        """What the channels that are left out add to each output."""
        added, known = np.zeros(len(rows), np.int64), self.of(node.input[0])
        for c in removed:
            sums = rows[:, c].sum(axis=1)
            if not rows[:, c].any():
                continue
            if known is None or known[0][c] != known[1][c]:
                raise ValueError(f"input channel {c} is left out, and is not constant")
            x = int(known[0][c]) - int(product.x.zero[0])
            if x and padded(node):
                raise ValueError(f"input channel {c} is left out, is not the zero point, and borders see it")
            added += x * sums
        return added

    def weights(self, node):
        if node.op_type == "QLinearConv":
            return self.model.constant(node.input[3])
        return self.model.integers(node.input[1])[0]

    # ---- who shares a tensor ----
    def check(self, report):
        for index, kept in self.kept.items():
            node = self.model.nodes[index] if 0 <= index < len(self.model.nodes) else None
            if node is None or node.op_type not in CONVOLUTIONS:
                report.wrong("pruned", f"node {index}: is no convolution that could lose channels")
                self.bad.add(index)
                continue
            size = self.weights(node).shape
            if any(v != sorted(set(v)) or v and not 0 <= v[0] <= v[-1] < n for v, n in
                   ((kept["outputs"], size[0]), (kept["inputs"], size[1]))):
                report.wrong("pruned", f"node {index}: channels that are not there")
                self.bad.add(index)
        for index, node in enumerate(self.model.nodes):
            if node.op_type not in CONVOLUTIONS:
                continue
            own = self.kept.get(index, {"inputs": [], "outputs": []})
            mine = own["outputs"] if self.is_depthwise(node) else own["inputs"]
            for source in self.sources(node.input[0]):
                theirs = self.kept.get(source, {"outputs": []})["outputs"]
                if theirs != mine:
                    report.wrong("pruned", f"node {index} reads {mine or 'all'} of what node {source} makes, "
                                 f"{theirs or 'all'}")
            if own["outputs"] and (other := self.other_reader(node.output[0])):
                report.wrong("pruned", f"node {index} lost channels that {other} reads")

    def is_depthwise(self, node):
        w = self.model.integers(node.input[1]) if node.op_type == "Conv" else (self.model.constant(node.input[3]),)
        group = attributes(node).get("group", 1)
        return group > 1 and w is not None and w[0] is not None and w[0].shape[:2] == (group, 1)

    def sources(self, name):
        """The convolutions whose channels a tensor has; None for what keeps all of its own."""
        index = self.model.producer.get(name)
        node = None if index is None else self.model.nodes[index]
        if node is None or node.op_type in CONVOLUTIONS:
            return {index}
        if node.op_type in SUMS:
            names = [node.input[i] for i in SUMS[node.op_type]]
            return set().union(*(self.sources(n) for n in names if self.model.constant(n) is None))
        return self.sources(node.input[0]) if node.op_type in PASSES else {None}

    def other_reader(self, name):
        if name in self.model.outputs:
            return "the caller"
        for index in self.model.consumers.get(name, []):
            node = self.model.nodes[index]
            if node.op_type in PASSES or node.op_type in SUMS:
                if other := self.other_reader(node.output[0]):
                    return other
            elif node.op_type not in CONVOLUTIONS or attributes(node).get("group", 1) > 1 and not self.is_depthwise(node):
                return f"node {index}"
        return None

    # ---- intervals of channels ----
    def of(self, name):
        """(least, greatest) of each channel of the integers that a tensor has or stands for; None: not known."""
        if name not in self.ranges:
            self.ranges[name] = None
            index = self.model.producer.get(name)
            if index is not None:
                self.ranges[name] = self.of_node(index, self.model.nodes[index])
        return self.ranges[name]

    def of_node(self, index, node):
        a = attributes(node)
        if node.op_type in ("DequantizeLinear", "MaxPool", "Cast"):
            known = self.of(node.input[0]) if set(a.get("dilations", [1])) == {1} else None
            limits = {2: (0, 255), 3: (-128, 127)}.get(a.get("to"), (0, 0))  # of uint8 and int8
            fits = node.op_type != "Cast" or known and limits[0] <= known[0].min() and known[1].max() <= limits[1]
            return known if fits else None
        if node.op_type == "QLinearConv":
            return self.convolution(index, node)
        if node.op_type in tables.FUSED.values():
            i = node.input
            ends = [self.model.scalars(i[k], i[k + 1]) for k in (1, 4, 6)]
            return self.function(node.output[0]) or self.sum(node.op_type, [i[0], i[3]], ends)
        if node.op_type != "QuantizeLinear":
            return self.function(node.output[0]) if node.op_type in PASSES else None
        made, y = self.model.producer.get(node.input[0]), per_tensor(self.model.quantize(index), "y")
        limits = []
        while made is not None and self.model.nodes[made].op_type in ("Relu", "Clip"):
            made, limits = self.model.producer.get(self.model.nodes[made].input[0]), [made]
        inner = None if made is None else self.model.nodes[made]
        if inner is not None and inner.op_type == "Conv":
            return self.convolution(made, inner)
        if inner is not None and inner.op_type == "Add" and not limits:
            dequantize = [self.model.producer.get(n) for n in inner.input]
            if None not in dequantize and all(self.model.nodes[d].op_type == "DequantizeLinear" for d in dequantize):
                ends = [self.model.dequantize(d) for d in dequantize] + [y]
                return self.sum("QLinearAdd", list(inner.input), ends)
        return self.function(node.output[0])

    def function(self, name):
        """Where all comes from one tensor that a convolution gives, element by element."""
        leaves, stack = set(), [name]
        while stack:
            index = self.model.producer.get(stack[-1])
            at = stack.pop()
            node = None if index is None else self.model.nodes[index]
            made = self.model.producer.get(node.input[0]) if node is not None and node.op_type == "QuantizeLinear" else None
            if node is None or self.model.constant(at) is not None:
                continue
            inner = "" if made is None else self.model.nodes[made].op_type
            if node.op_type == "QLinearConv" or inner in ("Conv", "Relu", "Clip"):
                leaves.add((at, index))
            elif node.op_type in PASSES - {"MaxPool", "GlobalAveragePool", "QLinearGlobalAveragePool"}:
                stack.append(node.input[0])
            elif node.op_type in SUMS:
                stack += [node.input[i] for i in SUMS[node.op_type]]
            else:
                return None
        if len(leaves) != 1 or self.of(next(iter(leaves))[0]) is None:
            return None
        (leaf, index), = leaves
        node = self.model.nodes[index]
        q = self.model.scalars(*node.input[6:8]) if node.op_type == "QLinearConv" else self.model.quantize(index)
        try:
            low, high = tables.Function(self.model, leaf, q.dtype).values(name)
        except CannotJudge:
            return None
        if low.dtype.kind == "f" and low.dtype == np.float32:
            return None  # a float in between
        least, most = (v.astype(np.int64) for v in self.of(leaf))
        ranges = [np.arange(a, b + 1) % 256 for a, b in zip(least, most)]
        return np.array([low[r].min() for r in ranges]), np.array([high[r].max() for r in ranges])

    def convolution(self, index, node):
        """Of its first result in the file."""
        try:
            product = product_of(self.model, index)
        except CannotJudge:
            return None
        if not product.results:
            return None
        y, low, high = product.results[0]
        w, x_type = self.weights(node), INT_RANGE[product.x.dtype]
        group, zero = attributes(node).get("group", 1), int(product.x.zero[0])
        known = self.of(node.input[0]) or [np.full(w.shape[1] * group, v) for v in x_type]
        least, most = (np.asarray(v, np.int64) - zero for v in known)
        if padded(node):
            least, most = np.minimum(least, 0), np.maximum(most, 0)
        rows = product.rows.reshape(len(w), w.shape[1], -1)
        first = np.arange(len(w)) // (len(w) // group) * w.shape[1]
        of = first[:, None] + np.arange(w.shape[1])
        a, b = rows * least[of][..., None], rows * most[of][..., None]
        sums = [product.bias + f(a, b).sum(axis=(1, 2)) for f in (np.minimum, np.maximum)]
        zero_y = int(y.zero[0])
        ends = [self.rule(s, product.scales(y), low - zero_y, high - zero_y) + zero_y for s in sums]
        wraps = (sums[0] < INT32[0]) | (sums[1] > INT32[1])
        return np.where(wraps, low, ends[0]), np.where(wraps, high, ends[1])

    def sum(self, op, names, ends):
        a, b = (self.of(n) for n in names)
        if a is None or b is None or len(a[0]) != len(b[0]) or any(e is None for e in ends):
            return None
        return tables.fused(op, a, ends[0], b, ends[1], ends[2])


def padded(node):
    a = attributes(node)
    return any(a.get("pads", [])) or a.get("auto_pad", b"NOTSET").startswith(b"SAME")
