"""Checks certificates of requantization against the model: scales bit by bit, accumulator intervals from the file's own
weights, and the float rule of every channel at every accumulator where it changes. The rule and every integer form are
monotone between those, so equality there is equality on the whole interval."""

import numpy as np

from . import tables
from .graph import F
from .products import INT32, CannotJudge, float_of, product_of, stored
from .pruned import Pruned
from .words import Words

KINDS = {**dict.fromkeys(("Table", "QLinearSigmoid", "QLinearLeakyRelu"), ("table",)), "MaxPool": ("maximum",),
         "QLinearAveragePool": ("average", "float", "integer"), "QLinearGlobalAveragePool": ("float", "integer"),
         **dict.fromkeys(("QLinearConv16", "QLinearConvTranspose16", "QLinearMatMul16"), ("words",)),
         **dict.fromkeys(("QLinearAveragePool16", "QLinearGlobalAveragePool16"), ("mean of words",)),
         "QLinearSum16": ("sum of words",)}
FLOAT_RULE = {"int32", "float", "integer"}
OTHER = {"words": Words.product, "sum of words": Words.sum, "mean of words": Words.mean, "maximum": Words.maximum,
         "average": Words.average}


def rule(acc, scale, low, high):
    """fl(fl(acc) * scale), clamped in float, to the nearest even integer; counted from the zero point."""
    with np.errstate(over="ignore"):
        v = (np.asarray(acc, np.int64).astype(F) * F(scale)).astype(F)
    return np.rint(np.minimum(np.maximum(v, F(low)), F(high))).astype(np.int64)


def line(form, acc):
    """What the integer form gives, before the byte is clamped."""
    acc = np.asarray(acc, np.int64)
    product = acc * np.int64(form["multiplier"])
    shift, offset = np.int64(form["shift"]), np.int64(form["offset"])
    odd = ((product >> shift) & 1) * np.int64(form["odd"])
    q = (product + offset + odd) >> shift
    for at, delta in zip(form["exceptions"], form["deltas"]):
        q = q + np.where(acc == at, delta, 0)
    return q


class Requantization:
    def __init__(self, model, trace, report, code):
        self.model, self.trace, self.report, self.code = model, trace, report, code
        self.pruned = Pruned(model, trace, rule)
        self.channels = 0
        self.traced = {s["name"]: s for s in trace["steps"]}
        model.stated = {s["node"]: s["output_shape"] for s in trace["steps"] if s["output_shape"]}

    def check(self, part):
        names = {s["name"]: s for s in self.trace["steps"]}
        seen = set()
        self.pruned.check(self.report)
        for step in part["steps"]:
            name = step["step"]
            if name not in names or names[name]["node"] != step["node"] or name in seen:
                self.report.wrong("requantization", f"{name}: no such step of node {step['node']}")
                continue
            seen.add(name)
            known = set(self.model.consulted)
            try:
                self.step(step, names[name])
            except CannotJudge as why:
                self.model.consulted = known
                self.report.unjudged(name, str(why))
            except ValueError as what:
                self.report.wrong("pruned", f"{name}: {what}")
        return seen

    def step(self, step, traced):
        if not self.kind(step, traced):
            return
        if step["kind"] in FLOAT_RULE:
            self.own_rule(step)
            self.floats(step, traced)
            self.hull(step, traced)
        if step["kind"] == "table":
            tables.check(self.model, step, traced, self.report, self.code)
        elif step["kind"] in OTHER:
            OTHER[step["kind"]](Words(self.model, self.report, self.code), step, traced)
        elif traced["kind"] == "avgpool":
            Words(self.model, self.report, self.code).global_average(step, traced)
        else:
            self.against_model(step, self.pruned.left(step["node"], product_of(self.model, step["node"])))
        self.report.done += 1

    def kind(self, step, traced):
        """That of the operator: int32 only where it has no scales, floats only where the step computes with them."""
        kind, op = step["kind"], traced["op_type"]
        forms = any("form" in c for c in step.get("channels", []))
        if op in KINDS or kind not in FLOAT_RULE:
            good = kind in KINDS.get(op, ())
        else:
            good = (kind == "integer") == forms and (kind == "int32") == (op in ("ConvInteger", "MatMulInteger"))
        good = good and (kind != "float" or traced["uses_floats"])
        good = good and step.get("residual", False) == (op == "QLinearConvAdd")
        if not good:
            self.report.wrong("kind", f"{step['step']}: {op} is not computed as {kind}")
        return good

    def floats(self, step, traced):
        """Where nothing is clamped before rounding, every scaled accumulator is below 2^31."""
        clamped = any("clamped" in f and "no clamp" not in f for f in traced["facts"])
        if step["kind"] != "float" or traced["kind"] == "avgpool" or clamped:
            return
        for m, channel in enumerate(step["channels"]):
            reach = max(abs(a) for a in channel["accumulators"])
            if min(reach, 1 << 31) * float(float_of(channel["scale"])) >= 1 << 31:
                self.report.wrong("floats", f"{step['step']}, channel {m}: may leave int32 before rounding")

    # ---- what the certificate says of itself ----
    def own_rule(self, step):
        wrong = self.report.wrong
        for m, channel in enumerate(step["channels"]):
            where = f"{step['step']}, channel {m}"
            least, most = channel["accumulators"]
            if least > most:
                wrong("accumulators", f"{where}: the interval is empty")
                continue
            if step["kind"] == "int32":
                continue
            self.channels += 1
            try:
                self.channel(step, channel, where)
            except (KeyError, ValueError, OverflowError, TypeError) as what:
                wrong("requantization", f"{where}: malformed: {what}")

    def channel(self, step, channel, where):
        wrong = self.report.wrong
        zero, (low, high) = step["y_zero_point"], step["clamp"]
        scale = float_of(channel["scale"])
        least, most = channel["accumulators"]
        if not (np.isfinite(scale) and scale > 0):
            wrong("scale", f"{where}: {scale} is no scale")
            return
        if least < INT32[0] or most > INT32[1]:  # the sum wraps, and can be any
            least, most = INT32
        low, high = low - zero, high - zero
        ends = rule([least, most], scale, low, high)
        at = np.asarray(channel["thresholds"], np.int64)
        if channel["first"] - zero != ends[0] or len(at) != ends[1] - ends[0]:
            wrong("thresholds", f"{where}: results go from {ends[0] + zero} to {ends[1] + zero}, not from "
                  f"{channel['first']} in {len(at)} steps")
            return
        q = np.arange(len(at)) + ends[0] + 1
        if len(at) and (np.any(np.diff(at) < 0) or at[0] <= least or at[-1] > most
                        or np.any(rule(at, scale, low, high) < q) or np.any(rule(at - 1, scale, low, high) >= q)):
            wrong("thresholds", f"{where}: a threshold is not the least accumulator that reaches its value")
        if step["kind"] == "integer":
            self.form(channel, scale, (least, most, low, high), at, where)

    def form(self, channel, scale, bounds, at, where):
        form = channel.get("form")
        if form is None:
            self.report.wrong("form", f"{where}: no integer form")
            return
        if form["rung"] == "emulation":
            self.report.unjudged(where, "a form that repeats the float rule in integers")
            return
        least, most, low, high = bounds
        near = np.asarray(form["exceptions"], np.int64)
        acc = np.concatenate([[least, most], at, at - 1, near, near - 1, near + 1, np.linspace(least, most, 64)])
        acc = np.unique(np.clip(acc.astype(np.int64), least, most))
        if abs(form["multiplier"]) >= 1 << 31 or not 0 <= form["shift"] < 63 or abs(form["offset"]) >= 1 << 62:
            self.report.wrong("form", f"{where}: outside of what 64 bits hold")
            return
        got = np.clip(line(form, acc), low, high)
        if np.any(got != rule(acc, scale, low, high)):
            self.report.wrong("form", f"{where}: the integer form differs from the float rule")

    def hull(self, step, traced):
        if "accumulators" not in traced:
            return
        low = min([0] + [c["accumulators"][0] for c in step["channels"]])
        high = max([0] + [c["accumulators"][1] for c in step["channels"]])
        if [low, high] != traced["accumulators"]:
            self.report.wrong("accumulators", f"{step['step']}: the trace has {traced['accumulators']}, its channels "
                              f"[{low}, {high}]")

    # ---- what the model says ----
    def against_model(self, step, product):
        wrong, name = self.report.wrong, step["step"]
        channels = step["channels"]
        self.work(step, product)
        if len(channels) != len(product.rows):
            wrong("channels", f"{name}: has {len(channels)}, the model {len(product.rows)}")
            return
        if step["x_zero_point"] != product.x_zero_stored():
            wrong("zero point", f"{name}: x is {step['x_zero_point']}, by the model {product.x_zero_stored()}")
        order = None
        if step["kind"] != "int32":
            order = self.results(step, product)
            if order is None:
                return
        low, high = product.intervals()
        for m, channel in enumerate(channels):
            if channel["accumulators"] != [low[m], high[m]]:
                wrong("accumulators", f"{name}, channel {m}: {channel['accumulators']}, by the weights "
                      f"[{low[m]}, {high[m]}]")

    def work(self, step, product):
        """Multiplications, and what adds up at once, by the weights of the file."""
        traced = self.traced[step["step"]]
        macs = int(np.prod(traced["output_shape"])) * product.rows.shape[1]
        if not product.transposed and traced["macs"] != macs:
            self.report.wrong("work", f"{step['step']}: {traced['macs']} multiplications, by the model {macs}")
        sums = traced.get("products", {"sums": [-(1 << 62), 1 << 62]})["sums"]
        if sums[0] > 255 * min(0, product.rows.min()) or sums[1] < 255 * max(0, product.rows.max()):
            self.report.wrong("products", f"{step['step']}: one product alone leaves {sums}")

    def results(self, step, product):
        """Which quantization and limits of the model the step ends in; None and a finding if in none."""
        if not product.results:
            self.report.wrong("requantization", f"{step['step']}: nothing in the model quantizes this result")
            return None
        claimed = (step["y_zero_point"], *step["clamp"])
        bits = [c["scale"] for c in step["channels"]]
        reasons = []
        for y, low, high in product.results:
            real = tuple(stored(v, y.dtype) for v in (int(y.zero[0]), low, high))
            if real != claimed:
                reasons.append(f"zero point and limits {claimed}, by the model {real}")
                continue
            scales = ["0x%08x" % v for v in product.scales(y).view(np.uint32)]
            if bits == scales:
                return y
            m = next((i for i, (a, b) in enumerate(zip(bits, scales)) if a != b), 0)
            reasons.append(f"scale of channel {m} is {bits[m]}, by the model {scales[m]}")
        what = "scale" if any(r.startswith("scale") for r in reasons) else "limits"
        self.report.wrong(what, f"{step['step']}: {reasons[-1]}")
        return None

