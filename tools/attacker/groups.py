"""What a graph gives, computed a second time: each group from DequantizeLinear to QuantizeLinear in float64 from Etch's own
integers, with a proved bound of what the rounding of float32 may move; ONNX Runtime has no part in it.

Groups of 16 bits that become integer operators (docs/spec/products.md, 5.10 and 5.11) have to be the rounded real number
itself, ties excepted. Other groups have to equal what ONNX Runtime gives for the group alone, at one of its levels, or be
within the bound. Operators of integers are run again by ONNX Runtime from Etch's integers and have to give the same bits.
"""

import dataclasses

import numpy as np
from onnx import helper

import real_operators as real
from builder import Unbuildable
from judging import close, describe, levels, same
from shrinking import part

WIDE = (np.int16, np.uint16)
CUT = 2.0**-26  # steps: the factor of 5.10 has 60 significant bits, which decides all but 2^-27 around a tie
DIVIDED = 2.0**-23  # of v: QuantizeLinear divides, and DequantizeLinear multiplies, in float32


def is_wide(case):
    """Whether tensors of 16 bits are quantized in it."""
    return case.qdq and any(v.dtype in WIDE for v in case.builder.values.values())


def unexplained(case, native, compute):
    """What the evaluation does not give, or "". `compute` gives the values of tensors by name, if they are outputs too."""
    integers = [o for n in case.builder.nodes for o in n.output if o and case.builder.values[o].dtype.kind in "iub"]
    ours = compute(case, integers)  # that ends no group: only floats are inside of groups
    for name, value in zip([o.name for o in case.model.graph.output], native):
        if not same(value, ours[name]):
            return f"{name} is another with all integers as outputs"
    try:
        return Evaluation(case, ours).run()
    except Unbuildable as error:
        return f"not evaluated: {error}"


@dataclasses.dataclass
class Real:
    """A float tensor: the real numbers, how far float32 may be from them, and what of them stays in integers."""

    value: np.ndarray
    error: np.ndarray
    slack: object = None  # how far an integer operator may be, if this is the result of one
    allowed: object = None  # whether there is such an operator for a result of this scale
    source: tuple = None  # integers, scale and zero point, if this is dequantized
    binary: bool = False  # whether all scales are powers of two, so that the value is exact and ties are ties


def powers_of_two(scale):
    return bool((np.frexp(scale)[0] == 0.5).all())


class Evaluation:
    def __init__(self, case, ours):
        self.case, self.b, self.ours, self.outputs = case, case.builder, ours, {o.name for o in case.model.graph.output}
        self.integers = {**case.builder.constants, **dict(zip([i.name for i in case.model.graph.input], case.inputs))}
        self.reals = {}
        used = [n for node in self.b.nodes for n in node.input]
        self.users = {n: used.count(n) for n in set(used)}

    def run(self):
        constants = set(self.b.constants)
        for node in self.b.nodes:
            if set(self.b.names_in(node)) <= constants and node.op_type not in ("QuantizeLinear", "DequantizeLinear"):
                constants.update(node.output)
                self.integers.update({n: self.b.values[n] for n in node.output if n})
                wrong = [n for n in node.output if n in self.ours and not close(self.ours[n], self.b.values[n])]
                what = f"constant {wrong}" if wrong else ""
            else:
                what = self.check(node)
            if what:
                return f"{node.op_type} {node.output[0]}: {what}"
        return ""

    def check(self, node):
        if node.op_type == "QuantizeLinear":
            return self.quantize(node)
        if self.b.values[node.output[0]].dtype.kind != "f":
            return self.integer(node)
        try:
            results, why = self.float(node), ""
        except Unbuildable as error:
            results, why = [None] * len(node.output), str(error)
        self.reals.update(dict(zip(node.output, results)))
        if not any(n in self.ours for n in node.output) or self.equals_onnxruntime(node):
            return ""
        return next((w for n, r in zip(node.output, results) if n in self.ours and (w := self.beyond(n, r, why))), "")

    def beyond(self, name, result, why):
        if result is None:
            return f"not evaluated: {why}"
        ours = self.ours[name].astype(np.float64)
        with np.errstate(all="ignore"):
            far = np.abs(ours - result.value) - result.error
        far[(ours == result.value) | (np.isnan(ours) & np.isnan(result.value))] = 0
        k = np.unravel_index(int(np.argmax(np.nan_to_num(far, nan=np.inf))), far.shape)
        if far[k] <= 0:
            return ""
        return f"float {self.ours[name][k]!r} for {result.value[k]!r}, bound {result.error[k]:.3g}"

    def equals_onnxruntime(self, node):
        """Whether this node's results are those of ONNX Runtime for the group alone, from Etch's integers."""
        ends = [o for o in node.output if o in self.ours]
        alone = part(self.case, ends, set(self.integers) - set(ends), "group")
        if alone is None:  # constants only
            return all(close(self.ours[o], self.b.values[o]) for o in ends)
        alone.inputs = [self.integers[i.name] for i in alone.model.graph.input]
        return any(all(map(close, [self.ours[o] for o in ends], values)) for values in levels(alone, with_first=True))

    def integer(self, node):
        """An operator with integers as results."""
        results = [n for n in node.output if n]
        if any(n in self.reals for n in self.b.names_in(node)):
            self.integers.update({n: self.ours[n] for n in results})
            return "" if self.equals_onnxruntime(node) else "not evaluated: it makes integers of floats"
        for name, value in zip(node.output, self.b.again(node, self.integers)):
            if not same(self.ours[name], value):
                return f"differs from ONNX Runtime's for the same inputs: {describe(self.ours[name], value)}"
            self.integers[name] = self.ours[name]
        return ""

    def of(self, name):
        if name in self.reals:
            return self.reals[name]
        value = self.integers[name].astype(np.float64)
        return Real(value, np.zeros(value.shape))

    def float(self, node):
        if node.op_type == "DequantizeLinear":
            return [self.dequantize(node)]
        a = {x.name: helper.get_attribute_value(x) for x in node.attribute}
        ins = [self.of(n) if n else None for n in node.input]
        if any(n in self.reals and self.reals[n] is None for n in node.input):
            raise Unbuildable("what it reads has no evaluation")
        if node.op_type in ("Cast", "Dropout") and node.input[0] in self.reals:
            return ins[:1] + [None] * (len(node.output) - 1)
        if node.op_type in real.MOVES:
            return [Real(*pair) for pair in zip(*(self.moved(node, ins, kind) for kind in ("value", "error")))]
        if node.op_type not in real.OPERATORS:
            raise Unbuildable(f"{node.op_type} has no evaluation")
        value, error = real.OPERATORS[node.op_type](a, ins)
        binary = all(i is None or i.binary for i in ins[: 1 if node.op_type in ("Relu", "Clip") else None])
        return [Real(value, error, *self.whole(node, a, ins, value), binary=binary)]

    def moved(self, node, ins, kind):
        """Where the node puts the values or errors of its floats."""
        floats = [n for n in node.input if n and self.b.values[n].dtype.kind == "f"]
        values = dict(self.integers)
        values.update({n: getattr(i, kind) for n, i in zip(node.input, ins) if n in floats})
        return self.b.again(node, values)

    def whole(self, node, a, ins, value):
        """Of an operator that may become an integer one: how far that may be from the real number, and for which scales."""
        if self.users.get(node.output[0]) != 1 or node.output[0] in self.outputs:
            return None, None
        if node.op_type in ("Relu", "Clip"):
            return ins[0].slack, ins[0].allowed
        if any(i is None or i.source is None for i in ins[:2]) or ins[0].source[0].dtype not in WIDE:
            return None, None
        if node.op_type == "Add" and ins[0].source[0].dtype == ins[1].source[0].dtype:
            size = np.abs(ins[0].value) + np.abs(ins[1].value)
            return size * 2.0**-50, real.sums_allowed([i.source[1] for i in ins])
        if node.op_type == "MatMul" and ins[0].source[0].dtype == ins[1].source[0].dtype:
            size = np.matmul(np.abs(ins[0].value), np.abs(ins[1].value))
            units = ins[0].source[1] * ins[1].source[1]  # of the sum

            def fits(scale):
                return units.size == scale.size == 1 and 2.0**-32 < units / scale < 2.0**27

            return size * ins[0].value.shape[-1] * 2.0**-52, fits
        if node.op_type.endswith("AveragePool"):
            return np.abs(value) * 2.0**-50, real.means_allowed(a, ins[0].source[1], ins[0].value.shape[2:])
        return real.whole_conv(a, ins) if node.op_type == "Conv" else (None, None)

    def dequantize(self, node):
        q = self.integers[node.input[0]]
        scale, zero = self.ends(node, q)
        value = (q.astype(np.float64) - zero) * scale
        rounded = 2.0**-24 if q.dtype.itemsize < 4 else 2.0**-23
        slack = np.zeros(value.shape) if q.dtype in WIDE else None
        allowed = real.sums_allowed([scale])
        return Real(value, np.abs(value) * rounded, slack, allowed, (q, scale, zero), powers_of_two(scale))

    def ends(self, node, like):
        """Scale and zero point, with the shape that they have along their axis."""
        out = []
        for name in list(node.input[1:3]) + [""] * (3 - len(node.input)):
            v = np.asarray(self.end(name) if name else 0).astype(np.float64)
            if v.size > 1:
                axis = next((x.i for x in node.attribute if x.name == "axis"), 1) % like.ndim
                if v.ndim != 1 or any(x.name == "block_size" for x in node.attribute):
                    raise Unbuildable("quantization by blocks")
                v = v.reshape([-1 if d == axis else 1 for d in range(like.ndim)])
            out.append(v.reshape([]) if v.size == 1 else v)
        return out

    def end(self, name):
        if name in self.integers:
            return self.integers[name]
        if self.reals[name] is None or self.reals[name].error.any():
            raise Unbuildable("a scale is computed at run time")
        return self.reals[name].value

    def quantize(self, node):
        name = node.output[0]
        self.integers[name] = ours = self.ours[name]
        x = self.of(node.input[0])
        scale, zero = self.ends(node, ours)
        whole = x is not None and x.slack is not None and ours.dtype in WIDE and x.allowed(scale)
        if not whole and self.equals_onnxruntime(node):
            return ""
        if x is None:
            return "not evaluated"
        info, t = np.iinfo(ours.dtype), x.value / scale
        exact = whole and x.binary and powers_of_two(scale)
        e = 0 * t if exact else x.slack / scale + CUT if whole else x.error / scale + np.abs(t) * DIVIDED
        low, high = (np.clip(np.rint(v) + zero, info.min, info.max) for v in (t - e, t + e))
        bad = ~((low <= ours) & (ours <= high))
        if not bad.any():
            return ""
        k = tuple(np.argwhere(bad)[0])
        kind = "as an integer operator" if whole else f"within {np.broadcast_to(e, t.shape)[k]:.3g}"
        return f"{int(bad.sum())} of {bad.size}: {ours[k]} for {(t + zero)[k]!r} {kind}"
