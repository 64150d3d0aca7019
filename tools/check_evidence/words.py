"""Certificates of 16 bits and of pools against the model: factors and biases as the rational numbers that the file means,
windows by ONNX's formulas, and the numbers that the code has."""

import struct
from fractions import Fraction

import numpy as np

from .graph import F, attributes
from .products import CannotJudge, float_of, following, per_tensor, product_of, stored

INT32 = (-(1 << 31), (1 << 31) - 1)


def exact(value):
    return Fraction(float(value))


class Words:
    """One step's certificate; `text` is its function's code without spaces."""

    def __init__(self, model, report, code):
        self.model, self.report, self.code = model, report, code

    def wrong(self, kind, text):
        self.report.wrong(kind, text)

    # ---- products ----
    def product(self, step, traced):
        self.array(step, traced, "scale", [c[k] for k in ("high", "low", "shift", "rest") for c in parts(step)])
        product = product_of(self.model, step["node"], is_word=True)
        if len(step["channels"]) != len(product.rows):
            self.wrong("channels", f"{step['step']}: has {len(step['channels'])}, the model {len(product.rows)}")
            return
        y = self.result(step, product.results)
        self.zero(step, product.x)
        part = step.get("part") or product.rows.shape[1]
        parts = [intervals(product, slice(first, first + part)) for first in range(0, product.rows.shape[1], part)]
        for m, channel in enumerate(step["channels"]):
            where = f"{step['step']}, channel {m}"
            sums = [[s[m] for s in each] for each in parts]
            self.channel(where, channel, [sum(s) for s in zip(*sums)], product, m, y)
            self.fits(where, sums, channel, y, step)

    def fits(self, where, sums, channel, y, step):
        """Each part of the sums is in 32 bits; where the whole is not, the result is at its limit from there on."""
        bias = channel["accumulators"][0] - sum(s[0] for s in sums)
        for i, (least, most) in enumerate(sums):
            added = bias if i == 0 else 0
            if not INT32[0] <= least + added <= most + added <= INT32[1]:
                self.wrong("accumulators", f"{where}, part {i}: {least + added} to {most + added} leaves 32 bits")
        low, high = step["clamp"]
        for end, beyond, limit in ((INT32[0], channel["accumulators"][0] < INT32[0], low),
                                   (INT32[1], channel["accumulators"][1] > INT32[1], high)):
            exact_sum = Fraction(end * channel["factor"] + (channel["rest"] << 31), 1 << channel["exponent"])
            value = round(exact_sum) + int(y.zero[0])
            if beyond and (value > limit if end < 0 else value < limit):
                self.wrong("accumulators", f"{where}: {end} gives {value}, which is within the limits {low} and {high}")

    def channel(self, where, channel, sums, product, m, y):
        unit = exact(product.x.scale[0]) * exact(product.w_scale[m])
        factor, exponent = cut(unit / exact(y.scale[0]))
        if (channel["factor"], channel["exponent"]) != (factor, exponent):
            self.wrong("scale", f"{where}: {channel['factor']} / 2^{channel['exponent']}, by the model {factor} / "
                       f"2^{exponent}")
        bias = product.bias[m] / unit
        whole = round(bias)
        rest = rest_of(round((bias - whole) * (1 << 31)), factor)
        if channel["accumulators"] != [whole + s for s in sums]:
            self.wrong("accumulators", f"{where}: {channel['accumulators']}, by the model {[whole + s for s in sums]}")
        if channel["rest"] != rest:
            self.wrong("bias", f"{where}: beyond the integer {channel['rest']}, by the model {rest}")

    # ---- sums and means ----
    def sum(self, step, traced):
        node = self.node(step)
        inputs = node.input if node.op_type == "Add" else node.input[:1]
        terms = [per_tensor(self.model.activation(i), "a term") for i in inputs]
        y = self.result(step, self.results(step, node))
        if len(terms) != len(step["terms"]):
            self.wrong("terms", f"{step['step']}: {len(step['terms'])}, the model has {len(terms)}")
            return
        for term, x in zip(step["terms"], terms):
            self.guess(step, term["factor"], self.part(step, term["part"], x, y), step["unit"])
            self.zero({**step, "x_zero_point": term["zero_point"]}, x)
        if len(terms) * 0xffff * 2 > 1 << step["bits"]:
            self.wrong("factor", f"{step['step']}: {step['bits']} bits do not bring the first guess near")
        self.literal(step, traced, terms_text(step))

    def mean(self, step, traced):
        node = self.node(step)
        x = per_tensor(self.model.activation(node.input[0]), "x")
        part = self.part(step, step["part"], x, self.result(step, self.results(step, node)))
        self.zero(step, x)
        most = int(np.prod([a["kernel"] for a in step["windows"]]))
        if step["least"] + len(step["factors"]) != most + 1 or step["least"] > least_window(step):
            self.wrong("factor", f"{step['step']}: {len(step['factors'])} factors, for {step['least']} elements on")
        for i, factor in enumerate(step["factors"]):
            self.guess(step, factor, part, step["unit"] * (step["least"] + i))
        if most << 17 > 1 << step["bits"]:
            self.wrong("factor", f"{step['step']}: {step['bits']} bits do not bring the first guess near")
        self.array(step, traced, "factors", step["factors"])
        self.literal(step, traced, f"{{{step['x_zero_point']},{step['least']},{len(step['factors'])},{step['bits']},"
                     f"{step['part'] % (1 << 64)}u,{step['unit']}u,{limits_text(step)}}}")
        self.windows(step, traced)

    def part(self, step, claimed, x, y):
        """The ratio of the model's scales in parts of `unit`, of which 64 bits are claimed."""
        part = step["unit"] * exact(x.scale[0]) / exact(y.scale[0])
        if part.denominator != 1 or (claimed - int(part)) % (1 << 64):
            self.wrong("scale", f"{step['step']}: {claimed} / {step['unit']} is not the ratio of the model's scales")
        return part

    def guess(self, step, factor, part, unit):
        """factor / 2^bits is part / unit, rounded."""
        if abs(factor * unit - part * (1 << step["bits"])) * 2 > unit or not 0 <= factor <= 1 << 30:
            self.wrong("factor", f"{step['step']}: {factor} / 2^{step['bits']} is not {part} / {unit}")

    # ---- windows ----
    def windows(self, step, traced):
        node, where = self.node(step), step["step"]
        axes, shape = step["windows"], traced["output_shape"]
        outs = [a["out"] for a in axes]
        if outs not in (shape[2:], shape[1:-1]):
            self.wrong("windows", f"{where}: {outs}, the result has the shape {shape}")
        sizes = self.model.sizes(node.input[0])
        ins = [a["in"] for a in axes]
        if sizes is not None and ins not in (sizes[2:], sizes[1:-1]):
            self.wrong("windows", f"{where}: over {ins}, the model has {sizes}")
        for axis, expected in zip(axes, window_rules(node, axes)):
            if axis != expected:
                self.wrong("windows", f"{where}: {axis}, by the model {expected}")
        counted = step["kind"] != "maximum" and bool(attributes(node).get("count_include_pad"))
        if step["counts_padding"] != (counted and "Global" not in node.op_type):
            self.wrong("windows", f"{where}: what is divided by")

    def maximum(self, step, traced):
        self.windows(step, traced)

    def average(self, step, traced):
        node, where = self.node(step), step["step"]
        x, results = self.ends(node)
        reasons = []
        for y, low, high in results:
            zeros = [stored(int(q.zero[0]), q.dtype) for q in (x, y)]
            bits = ["0x%08x" % int(q.scale.view(np.uint32)[0]) for q in (x, y)]
            if zeros == step["zero_points"] and bits == step["scales"] and high - low == 255:
                break
            reasons.append(f"scales {step['scales']}, zero points {step['zero_points']}, by the model {bits}, {zeros}")
        else:
            self.wrong("scale", f"{where}: {reasons[-1] if reasons else 'nothing quantizes this result'}")
        self.windows(step, traced)

    def global_average(self, step, traced):
        """An average of all positions: one sum, requantized as that of a product."""
        node, where = self.node(step), step["step"]
        x, results = self.ends(node)
        zero = stored(int(x.zero[0]), x.dtype)
        least, most = step["channels"][0]["accumulators"]
        count, sizes = (most - least) // 255, self.model.sizes(node.input[0])
        if [least, most] != [-zero * count, (255 - zero) * count] or step["x_zero_point"] != zero:
            self.wrong("accumulators", f"{where}: [{least}, {most}] of bytes around {zero}")
        if len(step["channels"]) != 1:
            self.wrong("channels", f"{where}: a mean has one factor")
        claimed = (step["y_zero_point"], *step["clamp"], step["channels"][0]["scale"])
        real = []
        for y, low, high in results:
            with np.errstate(over="ignore"):
                scale = x.scale[0] / (y.scale[0] * F(count)).astype(F)
            real.append((*(stored(v, y.dtype) for v in (int(y.zero[0]), low, high)), "0x%08x" % int(scale.view(np.uint32))))
        if claimed not in real:
            self.wrong("scale", f"{where}: zero point, limits, scale {claimed}, by the model {real}")
        if sizes is None:
            raise CannotJudge("the size of its input is not stated in the file")
        spatial = sizes[1:-1] if attributes(node).get("channels_last") else sizes[2:]
        if int(np.prod(spatial)) != count:
            self.wrong("windows", f"{where}: {count} positions, by the model {spatial}")

    # ---- what several need ----
    def node(self, step):
        if not 0 <= step["node"] < len(self.model.nodes):
            raise CannotJudge("made by the compiler for a node within a function or loop")
        self.model.consulted.add(step["node"])
        return self.model.nodes[step["node"]]

    def ends(self, node):
        """How the input is quantized, and the possible results."""
        if node.op_type.startswith("QLinear"):
            i = [*node.input, "", ""]
            y = per_tensor(self.model.scalars(i[3], i[4]), "y")
            return per_tensor(self.model.scalars(i[1], i[2]), "x"), following(self.model, node.output[0], y)[0]
        return per_tensor(self.model.activation(node.input[0]), "x"), following(self.model, node.output[0])[0]

    def results(self, step, node):
        if node.op_type == "QuantizeLinear":
            y = per_tensor(self.model.quantize(step["node"]), "y")
            return following(self.model, node.output[0], y)[0]
        return following(self.model, node.input[0] if node.op_type in ("Relu", "Clip") else node.output[0])[0]

    def result(self, step, results):
        claimed = (step["y_zero_point"], *step["clamp"])
        for y, low, high in results:
            if (int(y.zero[0]), low, high) == claimed:
                return y
        self.wrong("limits", f"{step['step']}: zero point and limits {claimed}, by the model "
                   f"{[(int(y.zero[0]), low, high) for y, low, high in results]}")
        raise CannotJudge("nothing in the model quantizes its result so")

    def zero(self, step, x):
        if step.get("x_zero_point") != int(x.zero[0]):
            self.wrong("zero point", f"{step['step']}: {step.get('x_zero_point')}, by the model {int(x.zero[0])}")

    def array(self, step, traced, suffix, numbers):
        owners = [c["owner"] for c in traced["constants"] if c["suffix"] == suffix]
        data = self.code.arrays.get(f"{owners[0]}_{suffix}") if owners else None
        if data is None or data != struct.pack(f"<{len(numbers)}i", *numbers):
            self.wrong("constant", f"{step['step']}: the code's {suffix} are others")

    def literal(self, step, traced, text):
        if text not in self.code.function(traced):
            self.wrong("constant", f"{step['step']}: the code has no {text}")


def cut(ratio):
    """(factor, exponent): the ratio in units of 2^-exponent, cut off to 60 bits."""
    exponent = 60 + ratio.denominator.bit_length() - ratio.numerator.bit_length()
    while ratio * Fraction(2) ** exponent >= 1 << 60:
        exponent -= 1
    while ratio * Fraction(2) ** exponent < 1 << 59:
        exponent += 1
    return int(ratio * Fraction(2) ** exponent), exponent


def rest_of(bias, factor):
    """`bias` / 2^31 times the factor in units of 2^31, as 31 and 31 bits of the factor give it."""
    product = bias * (factor >> 31) + (bias * (factor & 0x7fffffff) >> 31)
    return product + (1 << 30) >> 31


def parts(step):
    for c in step["channels"]:
        yield {"high": c["factor"] >> 31, "low": c["factor"] & 0x7fffffff, "shift": c["exponent"] - 31, "rest": c["rest"]}


def intervals(product, part):
    zero = int(product.x.zero[0])
    low, high = (-32768, 32767) if product.x.dtype == "int16" else (0, 65535)
    a, b = product.rows[:, part] * (low - zero), product.rows[:, part] * (high - zero)
    return [[int(v) for v in f(a, b).sum(axis=1)] for f in (np.minimum, np.maximum)]


def least_window(step):
    """Elements of the smallest window."""
    out = 1
    for a in step["windows"]:
        taps = [sum(0 <= o * a["stride"] - a["pads"][0] + k * a["dilation"] < a["in"] for k in range(a["kernel"]))
                for o in range(a["out"])]
        out *= max(1, min(taps))
    return out


def window_rules(node, axes):
    """The axes as ONNX has them, for the sizes `in` of `axes`."""
    a, n = attributes(node), len(axes)
    for i, axis in enumerate(axes):
        if "Global" in node.op_type:
            yield {**axis, "kernel": axis["in"], "stride": 1, "dilation": 1, "pads": [0, 0], "out": 1}
            continue
        kernel, stride = a["kernel_shape"][i], a.get("strides", [1] * n)[i]
        dilation, pads = a.get("dilations", [1] * n)[i], a.get("pads", [0] * 2 * n)[i::n]
        extent, mode = (kernel - 1) * dilation + 1, a.get("auto_pad", b"NOTSET").decode()
        if mode.startswith("SAME"):
            out = -(-axis["in"] // stride)
            total = max(0, (out - 1) * stride + extent - axis["in"])
            pads = [total // 2, total - total // 2] if mode == "SAME_UPPER" else [total - total // 2, total // 2]
        room = axis["in"] + sum(pads) - extent
        out = (-(-room // stride) if a.get("ceil_mode") else room // stride) + 1
        if a.get("ceil_mode") and (out - 1) * stride >= axis["in"] + pads[0]:
            out -= 1
        yield {"in": axis["in"], "kernel": kernel, "stride": stride, "dilation": dilation, "pads": list(pads), "out": out}


def limits_text(step):
    return f"{{{step['y_zero_point']},{step['clamp'][0]},{step['clamp'][1]}}}"


def terms_text(step):
    """How the code has the numbers: parts modulo 2^32 where the unit is not beyond 2^30."""
    bits = 32 if step["unit"] <= 1 << 30 else 64
    terms = [f"{{{t['zero_point']},{t['factor']},{t['part'] % (1 << bits)}u}}" for t in step["terms"]]
    terms += ["{0,0,0u}"] * (2 - len(terms))
    return f"{{{','.join(terms)},{step['unit']}u,{step['bits'] + 14},{limits_text(step)}}}"
