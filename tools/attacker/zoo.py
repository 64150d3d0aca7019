"""Families of single operators that networks use rarely: contributed ones, selections, integers."""

import numpy as np
from onnx import TensorProto

from builder import BYTES, MS, WIDTHS, Builder, Unbuildable
from quantized import Layers
from real_operators import window
from singles import MOVES, broadcast, full_shape, make_of, scale


def extreme_conv(b):
    """Scales at the ends of float32, biases at the ends of int32, sums that wrap."""
    layers = Layers(b, "qoperator")
    rank = b.pick([1, 2])
    x = b.input(b.bytes(layers.dtype, [1, b.pick([1, 3, 8, 17])] + [b.between(2, 9) for _ in range(rank)], "ends"))
    channels, out = b.shape(x)[1], b.pick(WIDTHS[:13])
    attributes = layers.geometry(b.shape(x)[2:])
    kind = np.int8 if layers.dtype == np.int8 else b.pick(BYTES)
    w = b.bytes(kind, [out, channels] + attributes["kernel_shape"], "ends")
    if w.size > 30_000:
        raise Unbuildable("too many weights")
    sizes = [1e-38, 1e-30, 1e-20, 1e-10, 1e-3, 1, 1e3, 1e10, 1e20]
    for _ in range(50):
        s = [np.float32(b.pick(sizes) * b.r.uniform(0.5, 2)) for _ in range(2)]
        y = np.float32(s[0] * s[1] * b.pick([1e-6, 1, 64, 2**12, 2**20, 2**31, 2**34]) * b.pick([1, 1.37]))
        if (
            np.finfo(np.float32).tiny < y < 1e38
            and np.isfinite(np.float32(s[0] * s[1]) / y)
            and np.float32(s[0] * s[1]) > 0
        ):
            break
    else:
        raise Unbuildable("no scales")
    scales = np.float32(s[1] * b.r.uniform(0.5, 1, out)) if b.chance(0.5) else s[1]
    bias = b.r.choice([-(2**31), 2**31 - 1, -(2**30), 2**30, 0, 1, -1, 2**24 + 1], out).astype(np.int32)
    inputs = [
        x,
        b.constant(s[0]),
        b.constant(b.zero_point(layers.dtype)),
        b.constant(w),
        b.constant(scales),
        b.constant(np.asarray(b.zero_point(kind) if kind == np.uint8 else np.int8(0))),
    ]
    b.node(
        "QLinearConv", inputs + [b.constant(y), b.constant(b.zero_point(layers.dtype)), b.constant(bias)], **attributes
    )


def channels_last(b):
    layers = Layers(b, "qoperator")
    n, h, w, c = b.pick([1, 2]), b.between(2, 9), b.between(2, 9), b.pick([1, 3, 7, 8, 9, 16, 17])
    x = b.input(b.bytes(layers.dtype, [n, h, w, c]))
    group = b.pick([1, 1, c])
    attributes = layers.geometry([h, w], 0.4)
    out = group * b.pick([1, 2]) if group > 1 else b.pick([1, 4, 8, 9, 17])
    kind = np.int8
    weights = b.bytes(kind, [out, c // group] + attributes["kernel_shape"])
    y = b.node(
        "QLinearConv",
        [
            x,
            b.constant(np.float32(0.02)),
            b.constant(b.zero_point(layers.dtype)),
            b.constant(weights),
            b.constant(np.float32(0.01)),
            b.constant(np.int8(0)),
            b.constant(np.float32(0.2)),
            b.constant(b.zero_point(layers.dtype)),
        ],
        domain=MS,
        channels_last=1,
        group=group,
        **attributes,
    )
    z = b.constant(b.zero_point(layers.dtype))
    b.node(
        b.pick(["QLinearGlobalAveragePool"]),
        [y, b.constant(np.float32(0.2)), z, b.constant(np.float32(0.1)), z],
        domain=MS,
        channels_last=1,
    )


def contributed(b):
    dtype = b.pick(BYTES)
    shape = full_shape(b, 4, 3000) or [5]
    x = b.input(b.bytes(dtype, shape))
    for _ in range(b.between(1, 4)):
        op = b.pick(
            [
                "QLinearSigmoid",
                "QLinearLeakyRelu",
                "QLinearSoftmax",
                "QLinearWhere",
                "QLinearConcat",
                "QLinearAveragePool",
            ]
        )
        s, z = [b.constant(scale(b, 0.02)) for _ in range(3)], [b.constant(b.zero_point(dtype)) for _ in range(3)]
        rank = len(b.shape(x))
        if op == "QLinearSoftmax":
            x = b.node(
                op,
                [
                    x,
                    s[0],
                    z[0],
                    b.constant(np.float32(b.pick([1 / 256, 1 / 255, 1 / 128, 0.03]))),
                    b.constant(dtype(np.iinfo(dtype).min)),
                ],
                domain=MS,
                opset=13,
                axis=b.pick([-1, 0]),
            )
        elif op == "QLinearWhere":
            condition = b.input(b.r.random(broadcast(b, b.shape(x))) < 0.5)
            other = (b.input if b.chance(0.5) else b.constant)(b.bytes(dtype, broadcast(b, b.shape(x))))
            x = b.node(op, [condition, x, s[0], z[0], other, s[1], z[1], s[2], z[2]], domain=MS)
        elif op == "QLinearConcat":
            other = b.constant(b.bytes(dtype, b.shape(x)))
            x = b.node(
                op,
                [s[2], z[2], x, s[0], z[0], other, s[1], z[1]] + ([x, s[0], z[0]] if b.chance(0.3) else []),
                domain=MS,
                axis=b.between(-rank, rank - 1),
            )
        elif op == "QLinearAveragePool":
            if rank not in (3, 4):
                continue
            k = [min(v, b.pick([1, 2, 3])) for v in b.shape(x)[2:]]
            x = b.node(
                op,
                [x, s[0], z[0], s[1], z[1]],
                domain=MS,
                kernel_shape=k,
                strides=[b.pick([1, 2]) for _ in k],
                pads=[b.between(0, v - 1) for v in k + k],
                count_include_pad=b.pick([0, 1]),
                ceil_mode=b.pick([0, 1]),
            )
        else:
            extra = {"alpha": b.pick([0.1, -1.0, 3.0])} if op == "QLinearLeakyRelu" else {}
            x = b.node(op, [x, s[0], z[0], s[1], z[1]], domain=MS, **extra)


def integers(b):
    kind = b.pick([np.int32, np.int64])
    full = full_shape(b, 3, 2000)
    make = lambda s: (
        b.r.integers(-(2**31) if kind == np.int32 else -(2**62), 2**31 - 1, s).astype(kind)
        if b.chance(0.3)
        else (b.r.integers(-50, 50, s).astype(kind))
    )
    pool = [b.input(make(full))]
    for _ in range(b.between(1, 8)):
        x, y = (
            b.pick(pool),
            b.pick(pool) if b.chance(0.4) else (b.input if b.chance(0.5) else b.constant)(make(broadcast(b, full))),
        )
        op = b.pick(
            ["Add", "Sub", "Mul", "Max", "Min", "Neg", "Abs", "Where", "Div", "Mod", "Equal", "Sign", "Clip", "Cast"]
        )
        if op in ("Neg", "Abs", "Sign"):
            pool.append(b.node(op, [x]))
        elif op == "Where":
            pool.append(b.node(op, [b.node(b.pick(["Less", "Greater", "GreaterOrEqual", "Equal"]), [x, y]), x, y]))
        elif op in ("Div", "Mod"):
            divisor = b.constant(np.asarray(b.pick([1, 2, 3, 7, -5]), kind))
            pool.append(b.node(op, [x, divisor]))
        elif op == "Equal":
            b.node(op, [x, y])
        elif op == "Clip":
            pool.append(b.node(op, [x, b.constant(np.asarray(-7, kind)), b.constant(np.asarray(9, kind))]))
        elif op == "Cast":
            b.node(
                op,
                [x],
                to=b.pick(
                    [TensorProto.FLOAT, TensorProto.INT32, TensorProto.INT64, TensorProto.BOOL, TensorProto.UINT8]
                ),
            )
        else:
            pool.append(b.node(op, [x, y]))


def elements(b, op, x, axis, kind, place):
    shape = b.shape(x)
    small = [b.between(1, s) for s in shape]
    at = b.r.integers(-shape[axis], shape[axis], small).astype(b.pick([np.int64, np.int32]))
    if op == "GatherElements":
        return b.node(op, [x, place(at)], axis=axis)
    if b.opset < 18:
        b.opset = 18
    order = np.argsort(b.r.random(small), axis=axis) if b.chance(0.5) else None
    at = place(np.zeros(small, np.int64) if order is None else order)
    reduction = b.pick(["add", "mul", "max", "min"]) if kind in (np.float32, np.int32) else "none"
    if reduction == "none" and order is None:
        raise Unbuildable("an index twice")
    return b.node(op, [x, at, place(make_of(b, kind)(small))], axis=axis, reduction=reduction)


def selections(b):
    shape = [b.pick([1, 2, 3, 7, 9]) for _ in range(b.between(1, 4))]
    kind = b.pick([np.float32, np.uint8, np.int8, np.int32])
    x = b.input(make_of(b, kind)(shape))
    axis = b.between(0, len(shape) - 1)
    op = b.pick(
        [
            "GatherElements",
            "GatherND",
            "ScatterND",
            "ScatterElements",
            "OneHot",
            "TopK",
            "Trilu",
            "ReverseSequence",
            "Compress",
            "NonZero",
            "Where",
            "CumSum",
        ]
    )
    place = b.input if b.chance(0.6) else b.constant
    if op in ("GatherElements", "ScatterElements"):
        return elements(b, op, x, axis, kind, place)
    if op in ("GatherND", "ScatterND"):
        depth = b.between(1, len(shape))
        total = int(np.prod(shape[:depth]))
        picks = b.r.permutation(total)[: b.between(1, min(total, 6))]
        at = np.stack(np.unravel_index(picks, shape[:depth]), -1).astype(np.int64)
        if op == "GatherND":
            return b.node(op, [x, place(at)])
        return b.node(op, [x, place(at), place(make_of(b, kind)([len(picks)] + shape[depth:]))])
    if op == "OneHot":
        at = b.input(b.r.integers(-5, 5, shape).astype(np.int64))
        return b.node(op, [at, b.ints(5), b.constant(np.array([-1, 3], np.float32))], axis=b.pick([-1, 0]))
    if op == "TopK":
        return b.node(op, [x, b.ints(b.between(1, shape[axis]))], 2, axis=axis, largest=b.pick([0, 1]))
    if op == "Trilu":
        if len(shape) < 2:
            raise Unbuildable("rank")
        return b.node(op, [x, b.constant(np.int64(b.between(-3, 3)))], upper=b.pick([0, 1]))
    if op == "ReverseSequence":
        if len(shape) < 2:
            raise Unbuildable("rank")
        return b.node(
            op, [x, b.input(b.r.integers(1, shape[0] + 1, shape[1]).astype(np.int64))], time_axis=0, batch_axis=1
        )
    if op == "Compress":
        return b.node(op, [x, b.constant(np.arange(shape[axis]) % 2 == 0)], axis=axis)
    if op == "CumSum":
        return b.node(
            op,
            [b.node("Cast", [x], to=TensorProto.INT32) if kind != np.float32 else x, b.constant(np.int64(axis))],
            exact=False,
            reverse=b.pick([0, 1]),
            exclusive=b.pick([0, 1]),
        )
    return b.node(
        "Where", [b.input(b.r.random(broadcast(b, shape)) < 0.5), x, place(make_of(b, kind)(broadcast(b, shape)))]
    )


def resizes(b):
    rank = b.pick([1, 2, 2])
    kind = b.pick([np.float32, np.float32, np.uint8, np.int8])
    x = b.input(make_of(b, kind)([b.pick([1, 2]), b.pick([1, 3, 8])] + [b.between(1, 9) for _ in range(rank)]))
    sizes = [b.between(1, 14) for _ in range(rank)]
    mode = b.pick(["nearest", "linear", "cubic"]) if rank == 2 and kind == np.float32 else b.pick(["nearest", "linear"])
    extra = (
        {"nearest_mode": b.pick(["floor", "ceil", "round_prefer_floor", "round_prefer_ceil"])}
        if mode == "nearest"
        else {}
    )
    how = b.pick(["asymmetric", "half_pixel", "align_corners", "pytorch_half_pixel"])
    y = b.node(
        "Resize",
        [x, "", "", b.ints(*b.shape(x)[:2], *sizes)],
        exact=mode == "nearest",
        mode=mode,
        coordinate_transformation_mode=how,
        **extra,
    )
    if b.chance(0.3):
        b.pick(MOVES)(b, y, make_of(b, kind))


def pool_oracle(b, op, sizes, attributes):
    """Where SAME has nothing to pad and part of a stride is left, ONNX Runtime pads by negative numbers or refuses. ONNX's
    `pads` are 0 or more: then the pool has to be that with the same padding in numbers. None where ONNX Runtime is right."""
    k, strides, auto = attributes["kernel_shape"], attributes["strides"], attributes.get("auto_pad", "NOTSET")
    if not auto.startswith("SAME") or all((-(-n // s) - 1) * s + v >= n for n, v, s in zip(sizes, k, strides)):
        return None
    axes = [window(n, v, s, 1, (), auto) for n, v, s in zip(sizes, k, strides)]
    explicit = {name: value for name, value in attributes.items() if name != "auto_pad"}
    explicit["pads"] = [axis[1] for axis in axes] + [axis[2] for axis in axes]

    def compute(x):
        other = Builder(b.r, b.opset)
        return other.values[other.node(op, [other.input(x)], **explicit)]

    return compute


def pools(b):
    rank = b.pick([1, 2, 2, 3])
    kind = b.pick([np.float32, np.uint8, np.int8])
    sizes = [b.between(1, 11) for _ in range(rank)]
    x = b.input(make_of(b, kind)([b.pick([1, 2]), b.pick([1, 3, 7, 8, 17, 33])] + sizes))
    op = "MaxPool" if kind != np.float32 else b.pick(["MaxPool", "AveragePool", "LpPool"])
    k = [b.pick([1, 2, 3, 4]) for _ in sizes]
    dilations = [b.pick([1, 1, 2]) if op == "MaxPool" else 1 for _ in sizes]
    attributes = {"kernel_shape": k, "strides": [b.pick([1, 2, 3, 5]) for _ in k], "ceil_mode": b.pick([0, 1])}
    if op == "LpPool":
        del attributes["ceil_mode"]
    if op == "MaxPool":
        attributes["dilations"] = dilations
    if b.chance(0.2) and max(dilations) == 1:
        attributes["auto_pad"] = b.pick(["SAME_UPPER", "SAME_LOWER", "VALID"])
        attributes.pop("ceil_mode", None)
    else:
        attributes["pads"] = [b.between(0, v - 1) for v in k + k]
    if op == "AveragePool":
        attributes["count_include_pad"] = b.pick([0, 1])
    oracle = pool_oracle(b, op, sizes, attributes)
    with_indices = op == "MaxPool" and kind == np.float32 and max(dilations) == 1 and not oracle
    b.node(
        op,
        [x],
        b.pick([1, 1, 2]) if with_indices else 1,
        oracle=oracle,
        exact=op == "MaxPool",
        **attributes,
    )


def passing(b):
    """Inputs that are outputs, constants that are outputs, tensors used many times."""
    dtype = b.pick(BYTES)
    x = b.input(b.bytes(dtype, full_shape(b, 3) or [4]))
    y = b.node("Identity", [x])
    layers = [b.constant(scale(b, 0.02)), b.constant(b.zero_point(dtype))]
    f = b.node("DequantizeLinear", [y if b.chance(0.5) else x] + layers)
    b.node("QuantizeLinear", [f] + layers)
    b.node("Identity", [b.constant(b.floats([3]))])
    if b.chance(0.5):
        b.node("Concat", [x, x, y], axis=0)
    b.node("Add", [f, f])


FAMILIES = {
    "extreme_conv": (extreme_conv, 6),
    "channels_last": (channels_last, 3),
    "contributed": (contributed, 5),
    "integers": (integers, 3),
    "selections": (selections, 5),
    "resizes": (resizes, 3),
    "pools": (pools, 4),
    "passing": (passing, 2),
}
