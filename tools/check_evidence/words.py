"""Certificates of 16 bits and of pools against the model: factors and biases as the rational numbers that the file
means, windows by ONNX's formulas, and the numbers that the code has."""

import math
import re
from fractions import Fraction

import numpy as np

from .graph import F, INT_RANGE, CannotJudge, attributes
from .products import INT32, bits_of, following, per_tensor, product_of, stored

AXIS = ("in", "kernel", "stride", "dilation", "pads", "out")


def exact(q):
    """The scale of a tensor as a rational number."""
    return Fraction(float(q.scale[0]))


class Words:
    """What judges one step's certificate; that of bytes and floats is built on it (requantization.py)."""

    def __init__(self, model, report, code):
        self.model, self.report, self.code = model, report, code
        self.need, self.equal = report.need, report.equal

    # ---- what several need ----
    def same(self, kind, where, record, **real):
        """That members of a record are what was computed."""
        for key, value in real.items():
            self.equal(kind, f"{where}: {key}", getattr(record, key), value)

    def ends(self, node):
        """How the input is quantized, and the possible results."""
        model, i, last = self.model, [*node.input, "", ""], node.output[0]
        if node.op_type.startswith("QLinear"):
            x, y = (model.scalars(*i[k:k + 2], dtype=model.dtype(i[0])) for k in (1, 3))
            return per_tensor(x, "x"), following(model, last, per_tensor(y, "y"))[0]
        y = per_tensor(model.quantization(model.producer[last]), "y") if node.op_type == "QuantizeLinear" else None
        start = i[0] if node.op_type in ("Relu", "Clip") else last  # these limit the result themselves
        return per_tensor(model.activation(i[0]), "x"), following(model, start, y)[0]

    def result(self, step, results, scales=None):
        """The quantization and limits of the model that the step ends in; with the factors of its channels."""
        claimed, wrong = [step.y_zero_point, *step.clamp], ("requantization", "a result", "not quantized")
        bits = [c.scale for c in step.channels] if scales else []
        for y, *limits in results:
            limits, ours = [stored(v, y.dtype) for v in (int(y.zero[0]), *limits)], bits_of(scales(y)) if scales else []
            if (limits, bits) == (claimed, ours):
                return y
            wrong = ("limits", claimed, limits) if limits != claimed else ("scale", bits, ours)
        self.equal(wrong[0], step.step, *wrong[1:])
        raise CannotJudge("its result is not that of the model")

    def zero(self, step, x, claimed=None):
        claimed = step.x_zero_point if claimed is None else claimed
        self.equal("zero point", f"{step.step}: x", claimed, stored(int(x.zero[0]), x.dtype))

    def array(self, step, traced, suffix, numbers, form="<i4"):
        real = np.frombuffer(self.code.constant(traced, suffix), form).tolist()
        self.need(real == list(numbers), "constant", f"{step.step}: the code's {suffix} are others")

    def literal(self, step, traced, *texts):
        """That the step's function has one of these."""
        code = self.code.function(traced)
        self.need(any(text in code for text in texts), "constant", f"{step.step}: the code has no {texts[0]}")

    # ---- products ----
    def product(self, step, traced):
        where, channels = step.step, step.channels
        self.factors(step, traced)
        product = product_of(self.model, step.node, is_word=True)
        if not self.equal("channels", f"{where}: channels", len(channels), len(product.rows)):
            return
        y = self.result(step, product.results)
        self.zero(step, product.x)
        length = product.rows.shape[1]
        part = getattr(step, "part", 0) or length
        self.need(part % product.taps == 0, "constant", f"{where}: parts of {part} terms")
        limits = limits_text(step)[1:-1]
        self.literal(step, traced, *(f",{limits},{beyond},{part // product.taps}}}" for beyond in (0, 1)))
        parts = [product.intervals(slice(first, first + part)).tolist() for first in range(0, length, part)]
        for m, channel in enumerate(channels):
            name, sums = f"{where}, channel {m}", [sums[m] for sums in parts]
            self.fits(name, sums, channel, y, step)
            unit = exact(product.x) * Fraction(float(product.w_scale[m]))
            factor, exponent = cut(unit / exact(y))
            bias = Fraction(product.bias[m]) / unit
            whole = round(bias)
            self.same("scale", name, channel, factor=factor, exponent=exponent)
            self.same("accumulators", name, channel, accumulators=[whole + sum(ends) for ends in zip(*sums)])
            self.same("bias", name, channel, rest=rest_of(round((bias - whole) * (1 << 31)), factor))

    def factors(self, step, traced):
        """Arguments of untied_word() of runtime/etch_words.h where nothing can be a tie, else of its other rounding."""
        rows = {5: [untied(c) for c in step.channels],
                4: [(c.factor >> 31, c.factor & 0x7fffffff, c.exponent - 31, c.rest) for c in step.channels]}
        width = 5 if len(self.code.constant(traced, "scale")) == 4 * 5 * len(step.channels) else 4
        self.array(step, traced, "scale", [row[k] for k in range(width) for row in rows[width]])
        for m, channel in enumerate(step.channels if width == 5 else ()):
            self.need(channel.exponent > 63 and not has_tie(channel, step), "tie",
                      f"{step.step}, channel {m}: rounded by adding a half, which is wrong for a tie")

    def fits(self, where, sums, channel, y, step):
        """Each part of the sums is in 32 bits; where the whole is not, the result is at its limit from there on."""
        bias = channel.accumulators[0] - sum(least for least, _ in sums)
        for least, most in [[v + bias for v in sums[0]], *sums[1:]]:
            good = INT32[0] <= least <= most <= INT32[1]
            self.need(good, "accumulators", f"{where}: {least} to {most} leaves 32 bits")
        for end, claimed, limit, sign in zip(INT32, channel.accumulators, step.clamp, (-1, 1)):
            scaled = Fraction(end * channel.factor + (channel.rest << 31), 1 << channel.exponent)
            value = round(scaled) + int(y.zero[0])
            self.need((claimed - end) * sign <= 0 or (value - limit) * sign >= 0, "accumulators",
                      f"{where}: {end} gives {value}, which is within the limits {step.clamp}")

    def pairs(self, step, traced):
        """A sum of products of two tensors, or each product alone. Between sums of 64 bits and results there is only
        the factor: what it gives of them is exact (runtime/etch_word_matrices.h)."""
        node, where = self.model.node(step.node), step.step
        a, b = (per_tensor(self.word(name), "an operand") for name in node.input)
        y, depth = self.result(step, self.ends(node)[1]), 1
        if node.op_type == "MatMul":
            depth = self.depth(node)
            found = re.search(r"rt::WordMatrices\{\d+,(\d+),", self.code.function(traced))
            self.need(found and int(found[1]) == depth, "constant", f"{where}: the code has no rows of {depth}")
        zeros, ends = [int(q.zero[0]) for q in (a, b)], INT_RANGE[y.dtype]
        self.equal("zero point", where, (*step.zero_points, a.dtype, b.dtype), (*zeros, y.dtype, y.dtype))
        products = [(u - zeros[0]) * (v - zeros[1]) for u in ends for v in ends]
        factor, exponent = cut(exact(a) * exact(b) / exact(y))
        self.same("accumulators", where, step, depth=depth,
                  accumulators=[depth * min(products), depth * max(products)])
        self.same("scale", where, step, factor=factor, exponent=exponent)
        self.need(max(map(abs, products)) * depth < 1 << 53 and 32 <= exponent <= 92, "accumulators",
                  f"{where}: sums of {depth} products and a shift by {exponent} leave what the rounding is exact for")
        self.literal(step, traced, f"{{{zeros[0]},{zeros[1]},{factor >> 31}u,{factor & 0x7fffffff}u,{exponent - 31},"
                     f"{limits_text(step)}}}")

    def word(self, name):
        """How an operand is quantized, a constant one too."""
        found = self.model.integers(name)
        return found[1] if found else self.model.activation(name)

    def depth(self, node):
        """The length of the rows of a, or of the columns of b."""
        a, b = map(self.model.sizes, node.input)
        if not a and not b:
            raise CannotJudge("the size of neither operand is stated in the file")
        return a[-1] if a else b[-2:][0]

    # ---- sums and means ----
    def sum(self, step, traced):
        node = self.model.node(step.node)
        terms = [per_tensor(self.model.activation(i), "a term") for i in node.input[:2 if node.op_type == "Add" else 1]]
        y = self.result(step, self.ends(node)[1])
        if not self.equal("terms", f"{step.step}: terms", len(step.terms), len(terms)):
            return
        self.guesses(step, len(terms), [(term.factor, self.part(step, term.part, x, y), step.unit)
                                        for term, x in zip(step.terms, terms)])
        for term, x in zip(step.terms, terms):
            self.zero(step, x, term.zero_point)
        bits = 32 if step.unit <= 1 << 30 else 64  # how the code has them: parts modulo 2^32 where that is enough
        texts = [f"{{{t.zero_point},{t.factor},{t.part % (1 << bits)}u}}" for t in step.terms]
        texts += ["{0,0,0u}"] * (2 - len(terms))
        self.literal(step, traced, f"{{{','.join(texts)},{step.unit}u,{step.bits + 14},{limits_text(step)}}}")

    def mean(self, step, traced):
        x, results = self.ends(self.model.node(step.node))
        part, factors, least = self.part(step, step.part, x, self.result(step, results)), step.factors, step.least
        self.zero(step, x)
        most = math.prod(a.kernel for a in step.windows)
        self.need(least + len(factors) == most + 1 and least <= least_window(step), "factor",
                  f"{step.step}: {len(factors)} factors, for {least} elements on")
        self.guesses(step, most, [(factor, part, step.unit * (least + i)) for i, factor in enumerate(factors)])
        self.array(step, traced, "factors", factors)
        self.literal(step, traced, f"{{{step.x_zero_point},{least},{len(factors)},{step.bits},{step.part % (1 << 64)}u,"
                     f"{step.unit}u,{limits_text(step)}}}")
        self.windows(step, traced)

    def part(self, step, claimed, x, y):
        """The ratio of the model's scales in parts of `unit`, of which 64 bits are claimed."""
        part = step.unit * exact(x) / exact(y)
        self.need(part.denominator == 1 and (claimed - int(part)) % (1 << 64) == 0, "scale",
                  f"{step.step}: {claimed} / {step.unit} is not the ratio of the model's scales")
        return part

    def guesses(self, step, terms, guesses):
        """Each factor / 2^bits is part / unit, rounded, and the first guess of a sum of `terms` is near."""
        for factor, part, unit in guesses:
            self.need(abs(factor * unit - part * (1 << step.bits)) * 2 <= unit and 0 <= factor <= 1 << 30, "factor",
                      f"{step.step}: {factor} / 2^{step.bits} is not {part} / {unit}")
        self.need(terms << 17 <= 1 << step.bits, "factor", f"{step.step}: {step.bits} bits bring no first guess near")

    # ---- windows ----
    def windows(self, step, traced):
        node, where = self.model.node(step.node), step.step
        axes = [tuple(vars(axis)[key] for key in AXIS) for axis in step.windows]
        is_average = step.kind != "maximum" and "Global" not in node.op_type
        counts = is_average and attributes(node).get("count_include_pad", 0) != 0
        if node.op_type == "ReduceMean":
            expected = [(self.elements(node),) * 2 + (1, 1, [0, 0], 1)]
        else:
            expected = [window_rule(node, axis[0], i, len(axes)) for i, axis in enumerate(axes)]
            for key, sizes in ((-1, traced.output_shape), (0, self.model.sizes(node.input[0]))):
                claimed = [axis[key] for axis in axes]
                self.need(sizes is None or claimed in (sizes[2:], sizes[1:-1]), "windows",
                          f"{where}: {claimed} of the shape {sizes}")
        self.equal("windows", where, axes, expected)
        self.equal("windows", f"{where}: what is divided by", step.counts_padding, counts)

    def elements(self, node):
        """How many a ReduceMean takes the mean of."""
        sizes, a = self.sizes(node), attributes(node)
        axes = self.model.constant(node.input[1]) if node.input[1:] else a.get("axes")
        if axes is None or not len(axes) and not a.get("noop_with_empty_axes"):
            axes = range(len(sizes))
        return math.prod(sizes[a] for a in axes)

    def sizes(self, node):
        if (sizes := self.model.sizes(node.input[0])) is None:
            raise CannotJudge("the size of its input is not stated in the file")
        return sizes

    def average(self, step, traced):
        x, results = self.ends(self.model.node(step.node))
        ours = [([stored(int(q.zero[0]), q.dtype) for q in (x, y)], [bits_of(q.scale)[0] for q in (x, y)], high - low)
                for y, low, high in results]
        self.need((step.zero_points, step.scales, 255) in ours, "scale",
                  f"{step.step}: zero points {step.zero_points}, scales {step.scales}, by the model {ours}")
        self.windows(step, traced)

    def global_average(self, step):
        """An average of all positions: one sum, requantized as that of a product."""
        node, where = self.model.node(step.node), step.step
        x, results = self.ends(node)
        zero, (least, most) = stored(int(x.zero[0]), x.dtype), step.channels[0].accumulators
        count = (most - least) // 255
        self.equal("accumulators", where, (least, most, step.x_zero_point), (-zero * count, (255 - zero) * count, zero))
        self.equal("channels", f"{where}: factors", len(step.channels), 1)
        with np.errstate(over="ignore"):
            self.result(step, results, lambda y: x.scale[0] / (y.scale[0] * F(count)))
        sizes = self.sizes(node)
        spatial = sizes[1:-1] if attributes(node).get("channels_last") else sizes[2:]
        self.equal("windows", f"{where}: positions", count, math.prod(spatial))


# ---- numbers of the code ----
def cut(ratio):
    """(factor, exponent): the ratio in units of 2^-exponent, cut off to 60 bits."""
    exponent = 61 + ratio.denominator.bit_length() - ratio.numerator.bit_length()
    while ratio * Fraction(2) ** exponent >= 1 << 60:
        exponent -= 1
    return int(ratio * Fraction(2) ** exponent), exponent


def untied(channel):
    """High and low word of the factor in units of 2^-32, shift, low and high word of the rest and a half."""
    twice, offset = channel.factor * 2, (1 << channel.exponent - 32) + channel.rest
    low, rest = ((number + (1 << 31)) % (1 << 32) - (1 << 31) for number in (twice, offset))
    return twice - low >> 32, low, channel.exponent - 63, rest, offset >> 32


def has_tie(channel, step):
    """Whether a sum of 32 bits has a result within the limits that is halfway between two integers."""
    factor, exponent, offset = channel.factor, channel.exponent, channel.rest << 31
    zeros = (factor & -factor).bit_length() - 1
    half = (1 << exponent - 1) - offset  # sum * factor = half modulo 2^exponent
    if half % (1 << zeros):
        return False
    period = 1 << exponent - zeros
    first = (half >> zeros) * pow(factor >> zeros, -1, period) % period
    low, high = ((((limit - step.y_zero_point) * 2 + sign) * (1 << exponent - 1) - offset)
                 for limit, sign in zip(step.clamp, (-1, 1)))
    low, high = max(INT32[0], -(-low // factor)), min(INT32[1], high // factor)
    return low + (first - low) % period <= high


def rest_of(bias, factor):
    """`bias` / 2^31 times the factor in units of 2^31, as 31 and 31 bits of the factor give it."""
    return bias * (factor >> 31) + (bias * (factor & 0x7fffffff) >> 31) + (1 << 30) >> 31


def limits_text(step):
    return f"{{{step.y_zero_point},{step.clamp[0]},{step.clamp[1]}}}"


# ---- windows ----
def least_window(step):
    """Elements of the smallest window."""
    out = 1
    for a in step.windows:
        at = np.add.outer(np.arange(a.out) * a.stride - a.pads[0], np.arange(a.kernel) * a.dilation)
        out *= max(1, int(((at >= 0) & (at < getattr(a, "in"))).sum(axis=1).min()))
    return out


def window_rule(node, size, i, axes):
    """The i-th of some axes as ONNX has it, for the input's size."""
    a = attributes(node)
    if "Global" in node.op_type:
        return size, size, 1, 1, [0, 0], 1
    kernel, stride, dilation = (a.get(key, [1] * axes)[i] for key in ("kernel_shape", "strides", "dilations"))
    pads = a.get("pads", [0] * 2 * axes)[i::axes]
    extent, mode = (kernel - 1) * dilation + 1, a.get("auto_pad", b"NOTSET").decode()
    if mode.startswith("SAME"):
        total = max(0, (-(-size // stride) - 1) * stride + extent - size)
        pads = [total // 2, total - total // 2] if mode == "SAME_UPPER" else [total - total // 2, total // 2]
    room = size + sum(pads) - extent
    out = (-(-room // stride) if a.get("ceil_mode") else room // stride) + 1
    if a.get("ceil_mode") and (out - 1) * stride >= size + pads[0]:
        out -= 1
    return size, kernel, stride, dilation, list(pads), out
