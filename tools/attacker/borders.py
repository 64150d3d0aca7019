"""Families that walk along the conditions of the passes for padding and QDQ groups: each is a pattern that a pass looks for,
with one thing changed."""

import numpy as np

from builder import BYTES, MS, Unbuildable

F = np.float32
INF = F(np.inf)
OPSETS = [11, 12, 13, 13, 15, 17, 18, 19, 21]


def near(b, value):
    """The float, or one beside it."""
    value = F(value)
    return b.pick([value, value, np.nextafter(value, INF), np.nextafter(value, -INF)])


def params(b, dtype, scale=None, zero=None):
    scale = F(b.pick([0.02, 0.05, 2.0**-6, 1])) if scale is None else scale
    zero = b.zero_point(dtype) if zero is None else zero
    return [b.constant(F(scale)), b.constant(dtype(zero))]


def maybe_output(b, name, p=0.2):
    if b.chance(p) and name not in b.outputs:
        b.outputs.append(name)
    return name


def extra_reader(b, name, p=0.25):
    if b.chance(p):
        kind = b.pick(["Identity", "Shape", "Neg", "Transpose"])
        if kind == "Neg" and b.dtype(name) not in (np.float32, np.int8, np.int32):
            kind = "Identity"
        b.node(kind, [name])
    return name


def padded(b):
    """Pad, then what may take the padding over."""
    b.opset = b.pick(OPSETS)
    op = b.pick(
        [
            "Conv",
            "QLinearConv",
            "ConvInteger",
            "MaxPool",
            "MaxPool",
            "AveragePool",
            "QLinearAveragePool",
            "MaxPoolBytes",
            "QdqConv",
            "QdqPool",
        ]
    )
    rank = b.pick([1, 2, 2])
    channels = b.pick([1, 3, 4, 9])
    shape = [b.pick([1, 2]), channels] + [b.between(2, 7) for _ in range(rank)]
    floats = op in ("Conv", "MaxPool", "AveragePool")
    dtype = F if floats else b.pick(BYTES)
    x = b.input(b.floats(shape) if floats else b.bytes(dtype, shape, "full"))
    zero = 0 if floats else int(b.zero_point(dtype))
    quantization = params(b, dtype, None, zero) if not floats else None
    source = x
    if op.startswith("Qdq"):
        source = b.node("DequantizeLinear", [x] + quantization)
    if floats or op.startswith("Qdq"):
        value = (
            F(b.pick([0, 0, -0.0, 1e-45, 1, -np.inf]))
            if op != "MaxPool"
            else F(b.pick([-np.inf, -np.inf, np.finfo(F).min, 0]))
        )
    else:
        info = np.iinfo(dtype)
        value = dtype(np.clip(b.pick([zero, zero, zero + 1, 0, info.min, info.min, info.max]), info.min, info.max))
    pads = [0, 0] + [b.between(0, 3) for _ in range(rank)] + [0, 0] + [b.between(0, 3) for _ in range(rank)]
    if b.chance(0.15):
        pads[b.between(0, 2 * rank + 3)] += 1
    if b.chance(0.1):
        pads[2] = -1
    mode = b.pick(["constant"] * 5 + ["edge", "reflect"])
    names = [source, b.ints(*pads)]
    if mode == "constant" and (value != 0 or np.signbit(value) or b.chance(0.5)):
        names.append(b.constant(value))
    elif mode == "constant":
        value = type(value)(0)
    if b.opset >= 18 and b.chance(0.4) and pads[0] == pads[1] == pads[rank + 2] == pads[rank + 3] == 0:
        names = [source, b.ints(*(pads[2 : rank + 2] + pads[rank + 4 :]))] + (names[2:] or [""])
        names.append(b.ints(*[a - (rank + 2) * int(b.chance(0.5)) for a in range(2, rank + 2)]))
    y = b.node("Pad", names, mode=mode)
    extra_reader(b, maybe_output(b, y, 0.12), 0.15)
    k = [b.pick([1, 2, 3]) for _ in range(rank)]
    attributes = {"kernel_shape": k, "strides": [b.pick([1, 1, 2, 3]) for _ in k]}
    how = b.pick(["none", "pads", "pads", "VALID", "SAME_UPPER", "SAME_LOWER"])
    if how == "pads":
        attributes["pads"] = [b.between(0, v - 1) for v in k + k]
    elif how != "none":
        attributes["auto_pad"] = how
        if max(attributes["strides"]) > min(k) and how != "VALID":
            raise Unbuildable("SAME with long strides")
    if b.chance(0.2) and op in ("Conv", "QLinearConv", "ConvInteger", "QdqConv") and how in ("none", "pads"):
        attributes["dilations"] = [b.pick([1, 2]) for _ in k]
    out = b.pick([1, 4, 9])
    group = channels if b.chance(0.3) else 1
    out = channels if group > 1 else out
    w_shape = [out, channels // group] + k
    if op == "Conv":
        w = b.floats(w_shape)
        if b.chance(0.1) and how == "none":
            w.flat[0] = b.pick([np.inf, np.nan])
        place = b.input if b.chance(0.15) else b.constant
        y = b.node("Conv", [y, place(w)], group=group, exact=False, **attributes)
    elif op == "QdqConv":
        w = b.node("DequantizeLinear", [b.constant(b.bytes(np.int8, w_shape))] + params(b, np.int8, 0.01, 0))
        b.qdq = True
        y = b.node("Conv", [y, w], group=group, exact=False, **attributes)
        y = b.node("QuantizeLinear", [y] + params(b, dtype, 0.5))
    elif op == "QLinearConv":
        w = b.constant(b.bytes(np.int8, w_shape))
        y = b.node(
            "QLinearConv",
            [y] + quantization + [w] + params(b, np.int8, 0.01, 0) + params(b, dtype, 0.3),
            group=group,
            **attributes,
        )
    elif op == "ConvInteger":
        if dtype == np.int8:
            raise Unbuildable("no kernel")
        zeros = b.pick([[], [quantization[1]], [b.input(np.asarray(dtype(zero)))]])
        y = b.node("ConvInteger", [y, b.constant(b.bytes(np.uint8, w_shape))] + zeros, group=group, **attributes)
    else:
        if b.chance(0.3) and how in ("none", "pads"):
            attributes["ceil_mode"] = 1
        if op.startswith("MaxPool"):
            if op == "MaxPoolBytes" and b.opset < 12:
                b.opset = 13
            if b.chance(0.3) and how in ("none", "pads") and op == "MaxPool":
                attributes["storage_order"] = b.pick([0, 1])
            y = b.node("MaxPool", [y], b.pick([1, 2]) if op == "MaxPool" else 1, **attributes)
            y = y[0] if isinstance(y, list) else y
        else:
            if not attributes.get("ceil_mode"):
                attributes["count_include_pad"] = b.pick([0, 1])
            if op == "QLinearAveragePool":
                y = b.node(op, [y] + quantization + params(b, dtype, 0.03), domain=MS, **attributes)
            else:
                y = b.node("AveragePool", [y], exact=False, **attributes)
                if op == "QdqPool":
                    b.qdq = True
                    y = b.node("QuantizeLinear", [y] + params(b, dtype, 0.05))


def range_ends(q_names, b):
    scale, zero = (np.asarray(b.values[n]).reshape(-1)[0] for n in q_names)
    info = np.iinfo(zero.dtype)
    return [F(F(v - int(zero)) * scale) for v in (info.min, info.max)]


def pairs(b):
    """Q, DQ and between them what may go or move, with limits on the ends of the quantized range and beside them."""
    b.qdq = True
    b.opset = b.pick(OPSETS)
    shape = [b.pick([1, 2]), b.pick([1, 3, 8])] + [b.pick([2, 4, 5])] * b.pick([1, 2])
    kind = b.pick(BYTES)
    names = params(b, kind, F(b.pick([0.02, 0.05, 2.0**-6, 1, 1e-40])), b.pick([None, np.iinfo(kind).min]))
    x = b.input(b.bytes(kind, shape, "full"))
    x = b.node("DequantizeLinear", [x] + names)
    for _ in range(b.between(1, 5)):
        step = b.pick(
            [
                "pool",
                "pool",
                "dropout",
                "clip",
                "clip",
                "relu",
                "move",
                "pad",
                "pair",
                "quant",
                "resize",
                "run-time clip",
                "concat",
                "where",
            ]
        )
        rank = len(b.shape(x))
        if step == "pool" and rank in (3, 4):
            k = [b.pick([1, 2]) for _ in range(rank - 2)]
            attributes = {"kernel_shape": k, "pads": [b.between(0, v - 1) for v in k + k]}
            if b.chance(0.4):
                y = b.node("MaxPool", [x], 2, **attributes)
                maybe_output(b, y[1], 0.5)
                x = y[0]
            else:
                x = b.node("MaxPool", [x], **attributes)
        elif step == "dropout":
            extra = [b.constant(F(0.5))] if b.opset >= 12 and b.chance(0.5) else []
            if b.chance(0.5):
                x, _ = b.node("Dropout", [x] + extra, 2)
            else:
                x = b.node("Dropout", [x] + extra)
        elif step in ("clip", "run-time clip"):
            low, high = range_ends(names, b)
            low, high = sorted([low, high])
            low, high = near(b, low), near(b, high)
            if b.chance(0.3):
                low, high = b.pick([(high, low), (F(0), F(6)), (-INF, INF), (F(-1), F(-0.5))])
            place = b.input if step == "run-time clip" else b.constant
            limits = [place(np.asarray(low)), place(np.asarray(high))]
            x = b.node("Clip", [x] + b.pick([limits, limits, ["", limits[1]], limits[:1]]))
        elif step == "relu":
            x = b.node("Relu", [x])
        elif step == "move":
            x = b.node("Transpose", [x], perm=[int(v) for v in b.r.permutation(rank)])
        elif step == "pad":
            low, high = range_ends(names, b)
            value = near(b, b.pick([0, -0.0, low, high, F(b.values[names[0]]), 0.013, np.inf, np.nan]))
            x = b.node("Pad", [x, b.ints(*[b.between(0, 2) for _ in range(2 * rank)]), b.constant(F(value))])
        elif step == "resize" and rank in (3, 4):
            mode = b.pick(["nearest", "linear"])
            x = (
                b.node(
                    "Resize",
                    [x, "", b.constant(np.array([1, 1] + [2.0] * (rank - 2), F))],
                    mode=mode,
                    exact=mode == "nearest",
                    coordinate_transformation_mode="asymmetric",
                    nearest_mode="floor",
                )
                if mode == "nearest"
                else x
            )
        elif step == "concat":
            x = b.node("Concat", [x, x], axis=b.between(-rank, rank - 1))
        elif step == "where":
            x = b.node("Where", [b.input(b.r.random(b.shape(x)) < 0.5), x, b.pick([x, b.constant(F(0))])])
        elif step in ("pair", "quant"):
            kind2 = kind if b.chance(0.7) else b.pick(BYTES)
            scale = near(b, b.values[names[0]]) if b.chance(0.7) else F(0.03)
            zero = b.values[names[1]] if kind2 == kind and b.chance(0.8) else b.zero_point(kind2)
            others = [b.constant(np.full(b.pick([[], [1]]), scale, F)), b.constant(np.asarray(zero))]
            if len(b.values[others[0]].shape) and b.chance(0.7):
                others[1] = b.constant(np.asarray(zero).reshape(1))
            q = maybe_output(b, b.node("QuantizeLinear", [x] + others), 0.15)
            extra_reader(b, q, 0.1)
            if step == "quant" and b.chance(0.3):
                b.node("DequantizeLinear", [q] + names if kind2 == kind else [q] + others)
            x = b.node("DequantizeLinear", [q] + b.pick([others, others, names if kind2 == kind else others]))
            names = others
        extra_reader(b, maybe_output(b, x, 0.1), 0.1)
    others = names if b.chance(0.6) else params(b, b.pick(BYTES))
    b.node("QuantizeLinear", [x] + others)


def bias_of(b, channels, x_scale, w_scales):
    unit = np.broadcast_to(F(x_scale) * F(w_scales), channels).astype(F)
    values = b.r.integers(-2000, 2000, channels).astype(np.int32)
    kind = b.pick(["none", "equal", "equal", "ulps", "percent", "other", "float", "one", "zero", "bytes", "wide"])
    if kind == "none":
        return []
    if kind == "float":
        return [b.constant((values * unit).astype(F))]
    if kind == "one":  # broadcast where Gemm takes it
        return [b.constant(np.asarray([F(0.3)]))]
    if kind == "bytes":
        return [
            b.node(
                "DequantizeLinear",
                [b.constant(b.bytes(np.int8, [channels])), b.constant(F(0.01)), b.constant(np.int8(3))],
            )
        ]
    if kind == "ulps":
        unit = (unit.view(np.int32) + b.pick([1, 4, 5, -4, -5, 100])).view(F)
    if kind == "percent":
        unit = unit * F(b.pick([1.0099, 1.0101, 0.99, 1.5]))
    if kind == "other":
        unit = unit * F(0.37)
    if kind == "wide":
        values = b.r.choice([-(2**31), 2**31 - 1, 2**24 + 1], channels).astype(np.int32)
    per_tensor = bool((unit == unit[0]).all()) and b.chance(0.7)
    scale = unit[0] if per_tensor else unit
    zeros = [b.constant(np.zeros(np.shape(scale), np.int32))] if kind == "zero" or b.chance(0.3) else []
    extra = {} if per_tensor else {"axis": b.pick([0, -1])}
    return [b.node("DequantizeLinear", [b.constant(values), b.constant(np.asarray(scale))] + zeros, **extra)]


def groups(b):
    """Conv, Gemm, MatMul, Add, Mul, Concat ... between Q and DQ, one part of which differs."""
    b.qdq = True
    b.opset = b.pick(OPSETS[2:])
    op = b.pick(
        [
            "Conv",
            "Conv",
            "ConvTranspose",
            "Gemm",
            "Gemm",
            "MatMul",
            "Add",
            "Mul",
            "Concat",
            "Where",
            "AveragePool",
            "GlobalAveragePool",
            "Softmax",
            "Sigmoid",
            "LeakyRelu",
            "mean",
        ]
    )
    kind = b.pick(BYTES)
    x_scale = F(b.pick([0.02, 0.05, 2.0**-6]))
    names = params(b, kind, x_scale)
    if op in ("Conv", "ConvTranspose"):
        channels, out = b.pick([1, 4, 9]), b.pick([1, 4, 8])
        rank = b.pick([1, 2])
        group = b.pick([1, 1, channels])
        out = out if group == 1 else channels
        x = b.input(b.bytes(kind, [1, channels] + [b.between(3, 6)] * rank))
        f = b.node("DequantizeLinear", [x] + names)
        k = [b.pick([1, 3])] * rank
        shape = [out, channels // group] + k if op == "Conv" else [channels, out // group] + k
        axis = 0 if op == "Conv" else 1
        w_kind = b.pick([np.int8, np.int8, kind, np.uint8])
        w, w_scales = weights(b, w_kind, shape, axis, b.chance(0.5) and (op == "Conv" or group == 1))
        inputs = [f, w] + (bias_of(b, out, x_scale, w_scales) if op == "Conv" or np.ndim(w_scales) == 0 else [])
        if len(inputs) > 2 and b.shape(inputs[2]) != [out]:
            inputs = inputs[:2]
        y = b.node(op, inputs, exact=False, group=group, pads=[v // 2 for v in k] * 2)
        if b.chance(0.15):
            b.node(op, [f, w], exact=False, group=group, pads=[v // 2 for v in k] * 2)
    elif op in ("Gemm", "MatMul"):
        m, k, n = b.pick([1, 2, 5]), b.pick([1, 4, 9, 16]), b.pick([1, 3, 8, 9])
        ta, tb = (b.pick([0, 0, 1]), b.pick([0, 1])) if op == "Gemm" else (0, 0)
        lead = [2] if op == "MatMul" and b.chance(0.3) else []
        x = b.input(b.bytes(kind, lead + ([k, m] if ta else [m, k])))
        f = b.node("DequantizeLinear", [x] + names)
        w_kind = b.pick([np.int8, np.int8, kind, np.uint8])
        w, w_scales = weights(
            b, w_kind, [n, k] if tb else [k, n], b.pick([0 if tb else 1] * 3 + [1 if tb else 0]), b.chance(0.5)
        )
        if op == "Gemm":
            c = bias_of(b, n, x_scale, w_scales if np.size(w_scales) in (1, n) else w_scales[0])
            if b.chance(0.2):
                c = [b.constant(b.floats(b.pick([[], [1], [1, n], [m, 1], [m, n], [n]])))]
            attributes = {
                "transA": ta,
                "transB": tb,
                "alpha": b.pick([1.0, 1.0, 0.5, -1.0]),
                "beta": b.pick([1.0, 1.0, 0.5, 0.0]),
            }
            y = b.node(
                "Gemm",
                [f, w] + c,
                exact=False,
                **{a: v for a, v in attributes.items() if v or b.chance(0.5) or a == "beta"},
            )
        else:
            y = b.node("MatMul", [f, w], exact=False)
            if b.chance(0.6):
                c = b.constant(b.floats(b.pick([[], [1], [1, n], [n], [1, 1, n], [m, 1]])))
                y = b.node("Add", b.pick([[y, c], [c, y]]))
    else:
        shape = [1, b.pick([1, 3, 8]), b.pick([2, 4]), b.pick([1, 5])]
        x = b.input(b.bytes(kind, shape))
        f = b.node("DequantizeLinear", [x] + names)
        if op in ("Add", "Mul", "Concat", "Where"):
            other_kind = kind if b.chance(0.75) else b.pick(BYTES)
            other_shape = shape if op == "Concat" or b.chance(0.5) else [s if b.chance(0.5) else 1 for s in shape]
            others = names if other_kind == kind and b.chance(0.4) else params(b, other_kind)
            place = b.input if b.chance(0.7) else b.constant
            g = (
                b.node("DequantizeLinear", [place(b.bytes(other_kind, other_shape))] + others)
                if b.chance(0.85)
                else b.constant(b.floats(other_shape))
            )
            g = f if b.chance(0.15) else g
            pair = b.pick([[f, g], [g, f]])
            if op == "Concat":
                y = b.node(op, pair, axis=b.between(-4, 3))
            elif op == "Where":
                y = b.node(op, [b.input(b.r.random(shape) < 0.5)] + pair)
            else:
                y = b.node(op, pair)
        elif op == "AveragePool":
            y = b.node(
                op,
                [f],
                exact=False,
                kernel_shape=[2, 1],
                strides=[b.pick([1, 2]), 1],
                **({"ceil_mode": 1} if b.chance(0.3) else {"count_include_pad": 1}),
                pads=[b.pick([0, 1]), 0, b.pick([0, 1]), 0],
            )
        elif op == "mean":
            y = mean(b, f)
        elif op in ("Softmax",):
            y = b.node(op, [f], exact=False, axis=b.between(-4, 3))
        else:
            y = b.node(op, [f], exact=op == "LeakyRelu")
    extra_reader(b, maybe_output(b, y, 0.1), 0.1)
    if b.chance(0.45):
        y = limit(b, y)
        extra_reader(b, maybe_output(b, y, 0.08), 0.08)
    first = params(b, kind if b.chance(0.8) else b.pick(BYTES), F(b.pick([0.02, 0.1, x_scale])))
    if op in ("Add", "Concat", "Where", "mean", "AveragePool", "LeakyRelu") and b.chance(0.4):
        first = names
    z = maybe_output(b, b.node("QuantizeLinear", [y] + first), 0.2)
    for _ in range(b.pick([0, 0, 1, 2])):  # other quantizations of the same
        second = first if b.chance(0.5) else [b.constant(near(b, b.values[first[0]])), first[1]]
        maybe_output(b, b.node("QuantizeLinear", [y] + second), 0.2)
    b.node("DequantizeLinear", [z] + first)


def mean(b, f):
    axes = b.pick([[2, 3], [-1, -2], [3, 2], [2], [1, 2, 3], [0, 2, 3], [3]])
    keep = b.pick([0, 1])
    if b.opset >= 18:
        return b.node("ReduceMean", [f, b.ints(*axes)], keepdims=keep, exact=False)
    return b.node("ReduceMean", [f], axes=axes, keepdims=keep, exact=False)


def weights(b, kind, shape, axis, per_channel):
    """Their name in floats, and scales; by a detour sometimes."""
    w = b.bytes(kind, shape, "full")
    scales = F(b.r.uniform(0.005, 0.02, shape[axis])) if per_channel else F(b.pick([0.01, 2.0**-7]))
    zero = 0 if kind == np.int8 and b.chance(0.8) else b.zero_point(kind)
    zeros = np.full(np.shape(scales), zero, kind)
    if per_channel and b.chance(0.15):
        zeros = b.bytes(kind, np.shape(scales))
    extra = {"axis": axis - len(shape) if b.chance(0.3) else axis} if per_channel else {}
    place = b.input if b.chance(0.1) else b.constant
    names = [b.constant(scales), b.constant(zeros)]
    if b.chance(0.1) and not per_channel:
        names = [b.input(scales), b.constant(zeros)]
    name = b.node("DequantizeLinear", [place(w)] + names, **extra)
    if b.chance(0.1):
        name = b.node("Identity", [name])
    return name, scales


def limit(b, y):
    kind = b.pick(["Relu", "Clip", "Clip", "Clip run", "Max", "LeakyRelu", "HardSwish"])
    if kind == "HardSwish" and b.opset < 14:
        kind = "Relu"
    if kind.startswith("Clip"):
        low, high = b.pick([(0, 6), (-1, 1), (6, 0), (0.013, 0.4), (-np.inf, 3), (0, np.inf), (-5, -1), (1e9, 2e9)])
        place = b.input if kind == "Clip run" else b.constant
        names = [place(np.asarray(F(low))), place(np.asarray(F(high)))]
        return b.node("Clip", [y] + b.pick([names, names, names[:1], ["", names[1]]]))
    if kind == "Max":
        return b.node("Max", b.pick([[y, b.constant(F(0.5))], [b.constant(F(0.5)), y], [y]]))
    return b.node(kind, [y])


FAMILIES = {
    "padded": (padded, 6),
    "pairs": (pairs, 8),
    "groups": (groups, 9),
}
