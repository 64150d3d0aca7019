"""Families of quantized operators whose parameters are scalars, vectors, constants or inputs, and of ConvTranspose in all its
forms."""

import numpy as np

from borders import F, params, weights
from builder import BYTES, MS


def formed(b, value, count, dtype=None):
    """A parameter as a scalar, as one element, or as one for each of `count`."""
    shape = b.pick([[], [1], [count]])
    place = b.input if b.chance(0.12) else b.constant
    if shape == [count] and dtype is None and b.chance(0.7):
        return place(F(value * b.r.uniform(0.5, 2, shape)))
    return place(np.full(shape, value, dtype or F))


def parameters(b):
    """Quantized operators whose scales, zero points, weights and biases are scalars, vectors, computed or inputs."""
    op = b.pick(
        [
            "QLinearConv",
            "QLinearConv",
            "QLinearMatMul",
            "QGemm",
            "MatMulInteger",
            "ConvInteger",
            "QLinearAdd",
            "DequantizeLinear",
            "QuantizeLinear",
            "DynamicQuantizeLinear",
        ]
    )
    kind = b.pick(BYTES)
    w_kind = b.pick([np.int8, kind])
    one = lambda v, t=None: (b.input if b.chance(0.12) else b.constant)(np.full(b.pick([[], [1]]), v, t or F))
    if op in ("QLinearConv", "ConvInteger"):
        channels, out = b.pick([1, 3, 8]), b.pick([1, 4, 9])
        group = channels if b.chance(0.3) else 1
        out = channels * b.pick([1, 2]) if group > 1 else out
        x = b.input(b.bytes(kind, [b.pick([1, 2]), channels, 5, 4]))
        w = (b.input if b.chance(0.25) else b.constant)(b.bytes(w_kind, [out, channels // group, 3, 3]))
        attributes = b.pick(
            [
                {"pads": [1, 1, 1, 1]},
                {},
                {"auto_pad": "VALID", "pads": [0, 0, 0, 0]},
                {"auto_pad": "NOTSET", "pads": [0, 2, 1, 0]},
                {"auto_pad": "SAME_LOWER"},
                {"kernel_shape": [3, 3], "strides": [2, 1]},
            ]
        )
        if op == "ConvInteger":
            zeros = b.pick(
                [
                    [],
                    [one(b.zero_point(kind), kind)],
                    [one(b.zero_point(kind), kind), one(b.zero_point(w_kind), w_kind)],
                ]
            )
            return b.node(op, [x, w] + zeros, group=group, **attributes)
        bias = (
            [(b.input if b.chance(0.25) else b.constant)(b.r.integers(-3000, 3000, out).astype(np.int32))]
            if b.chance(0.6)
            else []
        )
        zero = 0 if w_kind == np.int8 else b.zero_point(w_kind)
        names = [
            x,
            one(0.02),
            one(b.zero_point(kind), kind),
            w,
            formed(b, 0.01, out),
            formed(b, zero, out, w_kind),
            one(0.4),
            one(b.zero_point(kind), kind),
        ]
        return b.node(op, names + bias, group=group, **attributes)
    if op in ("QLinearMatMul", "QGemm", "MatMulInteger"):
        m, k, n = b.pick([1, 3]), b.pick([1, 7, 16]), b.pick([1, 5, 9])
        lead = b.pick([[], [], [2]]) if op != "QGemm" else []
        x = b.input(b.bytes(kind, lead + [m, k]))
        w = (b.input if b.chance(0.25) else b.constant)(b.bytes(w_kind, b.pick([[k, n], lead + [k, n]])))
        zero = 0 if w_kind == np.int8 else b.zero_point(w_kind)
        if op == "MatMulInteger":
            zeros = b.pick(
                [
                    [],
                    [formed(b, b.zero_point(kind), m, kind)],
                    [one(b.zero_point(kind), kind), formed(b, b.zero_point(w_kind), n, w_kind)],
                ]
            )
            return b.node(op, [x, w] + zeros)
        if op == "QGemm":
            scale = formed(b, 0.01, n)
            zeros = b.constant(np.full(b.values[scale].shape, zero, w_kind))
            bias = b.pick(["", b.constant(b.r.integers(-900, 900, b.pick([[n], [1, n]])).astype(np.int32))])
            ends = [one(0.2), one(b.zero_point(kind), kind)] if b.chance(0.7) else []
            return b.node(
                op,
                [x, one(0.02), one(b.zero_point(kind), kind), w, scale, zeros]
                + ([bias] + ends if bias or ends else []),
                domain=MS,
                exact=bool(ends),
            )
        names = [
            x,
            formed(b, 0.02, m),
            one(b.zero_point(kind), kind),
            w,
            formed(b, 0.01, n),
            formed(b, zero, n, w_kind),
            one(0.2),
            one(b.zero_point(kind), kind),
        ]
        return b.node(op, names)
    if op == "QLinearAdd":
        shapes = b.pick([([3, 4], [3, 4]), ([3, 4], [4]), ([1], [3, 4]), ([], [2, 2]), ([2, 1, 4], [3, 1])])
        names = []
        for shape in shapes:
            names += [b.input(b.bytes(kind, shape)), one(0.03), one(b.zero_point(kind), kind)]
        return b.node(
            b.pick(["QLinearAdd", "QLinearMul"]), names + [one(0.05), one(b.zero_point(kind), kind)], domain=MS
        )
    shape = [b.pick([1, 2, 3]) for _ in range(b.between(1, 4))]
    axis = b.between(-len(shape), len(shape) - 1)
    b.opset = b.pick([10, 13, 17, 19, 21]) if axis == 1 else b.pick([13, 17, 19, 21])
    b.qdq = True
    if op == "DynamicQuantizeLinear":
        b.opset = 13
        y = b.node(op, [b.input(b.floats(b.pick([shape, []])) * F(b.pick([0, 1, 1e-30])))], 3)
        return b.node("DequantizeLinear", y)
    kind = b.pick([np.uint8, np.int8, np.int32]) if op == "DequantizeLinear" else kind
    scale = formed(b, 0.05, shape[axis])
    zero = (
        [b.constant(np.full(b.values[scale].shape, 0 if kind == np.int32 else b.zero_point(kind), kind))]
        if b.chance(0.7)
        else []
    )
    extra = {"axis": axis} if b.opset >= 13 else {}
    if op == "DequantizeLinear":
        return b.node(
            op, [b.input(b.r.integers(-128 if kind != np.uint8 else 0, 127, shape).astype(kind)), scale] + zero, **extra
        )
    return b.node(op, [b.input(b.floats(shape, 0.3)), scale] + zero, **extra)


def transposed_forms(b):
    """ConvTranspose with sizes of the output, padding by name and at the output, in floats and as a QDQ group."""
    channels, out = b.pick([1, 3, 8]), b.pick([1, 4])
    group = channels if b.chance(0.3) else 1
    sizes = [b.between(1, 5) for _ in range(b.pick([1, 2]))]
    kind = b.pick(BYTES)
    quantized = b.chance(0.6)
    x = b.input(b.bytes(kind, [1, channels] + sizes) if quantized else b.floats([1, channels] + sizes))
    k = [b.pick([1, 2, 3, 4]) for _ in sizes]
    shape = [channels, out] + k
    if quantized:
        b.qdq = True
        x = b.node("DequantizeLinear", [x] + params(b, kind))
        w, _ = weights(b, np.int8, shape, 1, b.chance(0.4) and group == 1)
    else:
        w = b.constant(b.floats(shape))
    strides = [b.pick([1, 2, 3]) for _ in k]
    attributes = {"strides": strides, "group": group}
    form = b.pick(["pads", "auto", "shape", "shape auto", "output_padding"])
    if form == "pads":
        attributes["pads"] = [b.between(0, v - 1) for v in k + k]
    if "auto" in form:
        attributes["auto_pad"] = b.pick(["SAME_UPPER", "SAME_LOWER", "VALID"])
    if "shape" in form:
        attributes["output_shape"] = [
            (s - 1) * t + v - b.between(0, min(v - 1, 2)) for s, t, v in zip(sizes, strides, k)
        ]
    if form == "output_padding":
        attributes["output_padding"] = [b.between(0, t - 1) for t in strides]
    if b.chance(0.3):
        attributes["dilations"] = [b.pick([1, 2]) for _ in k]
    y = b.node("ConvTranspose", [x, w], exact=False, **attributes)
    if quantized:
        b.node("QuantizeLinear", [y] + params(b, kind, 0.2))


FAMILIES = {
    "parameters": (parameters, 8),
    "transposed_forms": (transposed_forms, 3),
}
