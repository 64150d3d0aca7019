"""Checks certificates of requantization against the model: scales bit by bit, accumulator intervals from the file's own
weights, and the float rule of every channel at every accumulator where it changes. The rule and every integer form are
monotone between those, so equality there is equality on the whole interval."""

import numpy as np

from . import tables
from .graph import F, CannotJudge
from .products import INT32, floats_of, product_of
from .pruned import Pruned
from .words import Words

BY_SCALE = ("float", "integer")
KINDS = {op: kinds for ops, *kinds in (
    ("Table QLinearSigmoid QLinearLeakyRelu", "table"), ("Table16", "function of words"), ("MaxPool", "maximum"),
    ("QLinearAveragePool", "average", *BY_SCALE), ("QLinearGlobalAveragePool", *BY_SCALE),
    ("QLinearConv16 QLinearConvTranspose16 QLinearMatMul16", "words"), ("QLinearSum16", "sum of words"),
    ("QLinearAveragePool16 QLinearGlobalAveragePool16 QLinearReduceMean16", "mean of words"),
    ("QLinearMul16 QLinearProduct16", "product of words"),
    ("ConvInteger MatMulInteger", "int32")) for op in ops.split()}
OTHER = {"words": Words.product, "sum of words": Words.sum, "mean of words": Words.mean, "maximum": Words.windows,
         "product of words": Words.pairs, "average": Words.average, "table": tables.check,
         "function of words": tables.check_words}
RUN_TIME_ZERO = ("ConvInteger", "MatMulInteger")
# Kinds of steps that compute; others of such nodes are copies and halos.
COMPUTES = ("conv", "table", "maxpool", "avgpool", "add", "matmul", "multiply", "rescale")


def rule(acc, scale, low, high):
    """fl(fl(acc) * scale), clamped in float, to the nearest even integer; counted from the zero point."""
    with np.errstate(over="ignore"):
        v = np.asarray(acc, np.int64).astype(F) * np.asarray(scale, F)
    return np.rint(np.clip(v, F(low), F(high))).astype(np.int64)


def line(form, acc):
    """What the integer form gives, before the byte is clamped."""
    product, shift = acc * np.int64(form.multiplier), np.int64(form.shift)
    q = (product + np.int64(form.offset) + ((product >> shift) & 1) * np.int64(form.odd)) >> shift
    for at, delta in zip(form.exceptions, form.deltas):
        q[acc == at] += delta
    return q


class Requantization(Words):
    def __init__(self, model, trace, report, code):
        super().__init__(model, report, code)
        self.pruned = Pruned(model, trace, rule)
        self.channels = 0
        self.traced = {s.name: s for s in trace.steps}

    def check(self, part):
        self.pruned.check(self.report)
        certified = set()
        for step in part.steps:
            traced = self.traced.get(step.step)
            if self.need(traced and traced.node == step.node and step.step not in certified, "requantization",
                         f"{step.step}: no such step of node {step.node}"):
                certified.add(step.step)
                self.judge(step, traced, part.floats)
        for step in self.traced.values():
            self.open_step(step, step.name in certified)

    def open_step(self, step, is_certified):
        """Every step has a certificate that was judged, or is named as one that is not judged."""
        op, kind = step.op_type, step.kind
        of_floats = op == "MaxPool" and step.uses_floats
        needed = kind in COMPUTES and op in KINDS and op not in RUN_TIME_ZERO and not of_floats
        if is_certified:
            if op == "QLinearConvAdd":
                self.report.unjudged(step.name, "the sum that a convolution adds before it stores")
        elif not needed and step.macs == step.float_macs:
            self.report.unjudged(step.name, f"arithmetic of {kind}" + (" in floats" if step.macs else ""))
        elif op in RUN_TIME_ZERO:
            self.report.unjudged(step.name, "a zero point that is known at run time only")
        elif not needed and kind not in ("conv", "depthwise"):
            self.report.unjudged(step.name, f"no rule for {op}")
        else:
            self.need(False, "requantization", f"{step.name} has no certificate")

    def judge(self, step, traced, floats):
        known = set(self.model.consulted)
        try:
            if self.kind(step, traced, floats):
                self.step(step, traced)
                self.report.done += 1
        except CannotJudge as why:
            self.model.consulted = known
            self.report.unjudged(step.step, str(why))
        except (ValueError, OverflowError, IndexError) as what:
            self.need(False, "pruned" if hasattr(traced, "kept") else "requantization", f"{step.step}: {what}")

    def kind(self, step, traced, floats):
        """That of the operator: int32 only where it has no scales, floats only where the step computes with them."""
        kind, op = step.kind, traced.op_type
        good = kind in KINDS.get(op, BY_SCALE) and getattr(step, "residual", False) == (op == "QLinearConvAdd")
        if op not in KINDS:
            good &= (kind == "integer") == any(hasattr(c, "form") for c in step.channels)
        if kind in BY_SCALE:
            good &= floats == (kind == "float") and (kind == "integer" or traced.uses_floats)
        return self.need(good, "kind", f"{step.step}: {op} is not computed as {kind}")

    def step(self, step, traced):
        if step.kind in OTHER:
            OTHER[step.kind](self, step, traced)
            return
        self.own_rule(step, traced)
        if traced.kind == "avgpool":
            self.global_average(step)
        else:
            self.against_model(step, traced, self.pruned.left(step.node, product_of(self.model, step.node)))

    # ---- what the certificate says of itself ----
    def own_rule(self, step, traced):
        """Of all channels at once: `of` says to which one a threshold belongs."""
        name, channels = step.step, step.channels
        sums = np.array([c.accumulators for c in channels], np.int64).reshape(-1, 2)
        self.each(sums[:, 0] <= sums[:, 1], "accumulators", f"{name}: the interval is empty")
        hull = [int(sums.min(initial=0)), int(sums.max(initial=0))]
        self.equal("accumulators", f"{name}: trace", getattr(traced, "accumulators", hull), hull)
        if step.kind == "int32":
            return
        self.channels += len(channels)
        scale = floats_of([c.scale for c in channels])
        if not self.each(np.isfinite(scale) & (scale > 0), "scale", f"{name}: no scale"):
            return
        reach = np.minimum(np.abs(sums).max(axis=1, initial=0), 1 << 31) * scale.astype(np.float64)
        clamped = any("clamped" in f and "no clamp" not in f for f in traced.facts)
        if step.kind == "float" and traced.kind != "avgpool" and not clamped:
            self.each(reach < 1 << 31, "floats", f"{name}: may leave int32 before rounding")
        wraps = (sums[:, :1] < INT32[0]) | (sums[:, 1:] > INT32[1])  # then a sum can be any
        sums, (low, high) = np.where(wraps, INT32, sums), (v - step.y_zero_point for v in step.clamp)
        ends = rule(sums, scale[:, None], low, high)
        counts = np.array([len(c.thresholds) for c in channels])
        first = np.array([c.first for c in channels]) - step.y_zero_point
        if not self.each((first == ends[:, 0]) & (counts == ends[:, 1] - ends[:, 0]), "thresholds",
                         f"{name}: not all results that its accumulators have"):
            return
        at = np.array([a for c in channels for a in c.thresholds], np.int64)
        of = np.repeat(np.arange(len(counts)), counts)
        result = first[of] + 1 + np.arange(len(at)) - (np.cumsum(counts) - counts)[of]
        good = (rule(at, scale[of], low, high) >= result) & (rule(at - 1, scale[of], low, high) < result)
        self.each(good & (at > sums[of, 0]) & (at <= sums[of, 1]), "thresholds",
                  f"{name}: a threshold is not the least accumulator that reaches its value", of)
        for m, channel in enumerate(channels if step.kind == "integer" else ()):
            self.form(channel.form, scale[m], (*sums[m], low, high), at[of == m], f"{name}, channel {m}")

    def each(self, good, kind, text, of=None):
        """One finding for all channels; `of` says to which each belongs."""
        off = np.flatnonzero(~good) if of is None else of[~good]
        return self.need(not len(off), kind, f"{text}, channel {off[:1]}; {len(off)} in all")

    def form(self, form, scale, bounds, at, where):
        """The integer form gives what the float rule does, wherever one of the two changes."""
        if form.rung == "emulation":
            self.report.unjudged(where, "a form that repeats the float rule in integers")
            return
        (least, most, low, high), near = bounds, np.asarray(form.exceptions, np.int64)
        acc = np.concatenate([[least, most], at, at - 1, near, near - 1, near + 1, np.linspace(least, most, 64)])
        acc = np.unique(np.clip(acc.astype(np.int64), least, most))
        if self.need(abs(form.multiplier) < 1 << 31 and 0 <= form.shift < 63 and abs(form.offset) < 1 << 62, "form",
                     f"{where}: outside of what 64 bits hold"):
            self.need(np.array_equal(np.clip(line(form, acc), low, high), rule(acc, scale, low, high)), "form",
                      f"{where}: the integer form differs from the float rule")

    # ---- what the model says ----
    def against_model(self, step, traced, product):
        name, channels = step.step, step.channels
        if not product.transposed:
            macs = int(np.prod(traced.output_shape)) * product.rows.shape[1]
            self.equal("work", f"{name}: multiplications", traced.macs, macs)
        if hasattr(traced, "products"):
            (low, high), rows = traced.products.sums, product.rows
            self.need(low <= 255 * min(0, rows.min()) and high >= 255 * max(0, rows.max()), "products",
                      f"{name}: one product alone leaves {low} to {high}")
        if not self.equal("channels", f"{name}: channels", len(channels), len(product.rows)):
            return
        self.zero(step, product.x)
        bias = np.asarray(product.bias)
        if step.kind != "int32":
            self.result(step, product.results, product.scales)
        elif bias.any():
            self.report.unjudged(name, "a bias that is added in float")
            bias = np.zeros_like(bias)
        real = product.intervals() + bias[:, None]
        self.each((np.array([c.accumulators for c in channels]) == real).all(axis=1), "accumulators",
                  f"{name}: not those of the weights")
