"""Families of short graphs: products, sums and products of bytes, moves, expressions, chains of quantizations, twins."""

import numpy as np
from onnx import TensorProto, helper

from builder import BYTES, MS, WIDTHS, Unbuildable
from quantized import Layers

TINY = [1e-38, 3e-30, 1e-12, 1e-6]


def scale(b, typical):
    return np.float32(typical * b.r.uniform(0.5, 2) if b.chance(0.8) else b.pick([2.0**-8, 2.0**-5, 1.0, 1e-7, 1e5]))


def conv_integer(b):
    rank = b.pick([1, 2, 2, 3])
    dtype, kind = b.pick(BYTES), b.pick(BYTES)
    group = b.pick([1, 1, 2, 3, 7, 8, 9, 16, 17, 33])
    per_group, out = (1, b.pick([1, 1, 2])) if group > 4 else (b.pick([1, 2, 3, 7, 9, 16]), b.pick([1, 3, 7, 8, 9, 17]))
    sizes = [b.between(*{1: (3, 30), 2: (2, 11), 3: (2, 6)}[rank]) for _ in range(rank)]
    layers = Layers(b, "qoperator", dtype)
    attributes = layers.geometry(sizes, 0.6)
    attributes["group"] = group
    x = b.input(b.bytes(dtype, [b.pick([1, 1, 2]), group * per_group] + sizes))
    w = b.bytes(kind, [group * out, per_group] + attributes["kernel_shape"])
    if w.size > 30_000:
        raise Unbuildable("too many weights")
    ends = [b.input if b.chance(0.25) else b.constant for _ in range(3)]
    names = [x, ends[0](w)]
    if b.chance(0.8):
        names.append(ends[1](np.asarray(b.zero_point(dtype))))
        if b.chance(0.8):
            per_channel = b.chance(0.4)
            zero = [b.zero_point(kind) for _ in range(group * out)] if per_channel else b.zero_point(kind)
            names.append(ends[2](np.array(zero, kind)))
    y = b.node("ConvInteger", names, oracle=lambda *v: conv_of_floats(b, v, attributes), **attributes)
    if b.chance(0.5):
        y = b.node("Cast", [y], to=TensorProto.FLOAT)
        b.node("Mul", [y, b.constant(np.float32(0.01))])


def conv_of_floats(b, values, attributes):
    """The sums as floats, which they fit; ONNX Runtime has no zero points per channel."""

    x, w, *zeros = values
    if w[0].size * 255 * 255 > 2**24:
        raise Unbuildable("sums do not fit floats")
    x_zero = int(zeros[0]) if zeros else 0
    w_zero = zeros[1].astype(np.float32).reshape([-1] + [1] * (w.ndim - 1)) if len(zeros) > 1 else np.float32(0)
    inner = type(b)(b.r, b.opset)
    names = [inner.constant(x.astype(np.float32) - x_zero), inner.constant(w.astype(np.float32) - w_zero)]
    return inner.run(helper.make_node("Conv", names, ["y"], **attributes))[0].astype(np.int32)


def product(b):
    dtype, kind = b.pick([(np.uint8, np.uint8), (np.uint8, np.int8), (np.int8, np.int8)])
    m, k, n = b.pick(WIDTHS), b.pick(WIDTHS), b.pick(WIDTHS)
    lead = [b.pick([1, 2, 3]) for _ in range(b.pick([0, 0, 1, 2]))]
    left, right = (lead[len(lead) - b.between(0, len(lead)) :] for _ in range(2))
    a = b.bytes(dtype, left + [m, k])
    w = b.bytes(kind, right + [k, n])
    place = b.input if b.chance(0.6) else b.constant
    x = turned(b, a, b.input)
    y = turned(b, w, place)
    zeros = [b.constant(np.asarray(b.zero_point(t))) for t in (dtype, kind)]
    form = b.pick(["integer", "linear", "float"])
    if form == "integer":
        b.node("MatMulInteger", [x, y] + zeros[: b.pick([0, 1, 2, 2])])
    elif form == "linear":
        per_channel = not right and b.chance(0.5)
        scales = np.float32(b.r.uniform(0.002, 0.02, n)) if per_channel else scale(b, 0.01)
        b.node(
            "QLinearMatMul",
            [
                x,
                b.constant(scale(b, 0.02)),
                zeros[0],
                y,
                b.constant(scales),
                zeros[1],
                b.constant(scale(b, 0.02 * 0.01 * np.sqrt(k) * 70)),
                b.constant(np.asarray(b.zero_point(dtype))),
            ],
        )
    else:
        bias = [b.constant(b.floats([n]))] if b.chance(0.5) else []
        b.node(
            "MatMulIntegerToFloat",
            [x, y, b.constant(scale(b, 0.02)), b.constant(scale(b, 0.01))] + zeros + bias,
            domain=MS,
            exact=False,
        )


def turned(b, value, place):
    """The value, or what a Transpose makes of another one."""
    if not b.chance(0.3):
        return place(value)
    perm = list(range(value.ndim - 2)) + [value.ndim - 1, value.ndim - 2]
    return b.node("Transpose", [place(np.ascontiguousarray(value.transpose(perm)))], perm=perm)


def gemm(b):
    dtype = b.pick(BYTES)
    kind = np.int8 if dtype == np.int8 else b.pick(BYTES)
    m, k, n = b.pick(WIDTHS[:12]), b.pick(WIDTHS), b.pick(WIDTHS)
    ta, tb = b.pick([0, 0, 1]), b.pick([0, 1])
    x = b.input(b.bytes(dtype, [k, m] if ta else [m, k]))
    w = b.constant(b.bytes(kind, [n, k] if tb else [k, n]))
    names = [x, b.constant(scale(b, 0.02)), b.constant(np.asarray(b.zero_point(dtype))), w]
    per_channel = b.chance(0.5)
    names.append(b.constant(np.float32(b.r.uniform(0.002, 0.02, n)) if per_channel else scale(b, 0.01)))
    names.append(b.constant(np.full([n] if per_channel else [], 0 if kind == np.int8 else b.zero_point(kind), kind)))
    names.append(b.constant(b.r.integers(-5000, 5000, [n]).astype(np.int32)) if b.chance(0.7) else "")
    if b.chance(0.8):
        names += [b.constant(scale(b, 0.0002 * np.sqrt(k) * 70)), b.constant(np.asarray(b.zero_point(dtype)))]
    b.node("QGemm", names, domain=MS, transA=ta, transB=tb, alpha=float(b.pick([1, 1, 0.5])))


def broadcast(b, full):
    shape = [s if b.chance(0.65) else 1 for s in full]
    return shape[b.between(0, len(shape)) :] if b.chance(0.3) else shape


def full_shape(b, most=5, limit=6000):
    shape = [b.pick(WIDTHS[:13]) for _ in range(b.between(0, most))]
    while np.prod(shape) > limit:
        shape[int(np.argmax(shape))] = b.pick([1, 2, 3])
    return shape


def bytes_binary(b):
    dtype = b.pick(BYTES)
    full = full_shape(b) or [1]
    places = [b.input, b.input if b.chance(0.7) else b.constant]
    names = [place(b.bytes(dtype, full if b.chance(0.5) else broadcast(b, full))) for place in places]
    current = names[0]
    for _ in range(b.between(1, 3)):
        op = b.pick(["QLinearAdd", "QLinearMul"])
        other = b.pick(names)
        pair = [current, other] if b.chance(0.5) else [other, current]
        zeros = [b.constant(np.asarray(b.zero_point(dtype))) for _ in range(3)]
        current = b.node(
            op,
            [
                pair[0],
                b.constant(scale(b, 0.03)),
                zeros[0],
                pair[1],
                b.constant(scale(b, 0.03)),
                zeros[1],
                b.constant(scale(b, 0.06)),
                zeros[2],
            ],
            domain=MS,
        )
        names.append(current)


def make_of(b, kind):
    """A function from shapes to arrays of this type."""
    if kind == np.float32:
        return b.floats
    return lambda shape: (
        b.bytes(kind, shape, "full") if kind in BYTES else b.r.integers(-(2**31), 2**31, shape).astype(kind)
    )


def moves(b):
    kind = b.pick([np.uint8, np.int8, np.float32, np.int32, np.int64])
    shape = full_shape(b, 4) or [b.pick(WIDTHS)]
    make = make_of(b, kind)
    pool = [b.input(make(shape))]
    for _ in range(b.between(1, 7)):
        x = pool[-1] if b.chance(0.7) else b.pick(pool)
        try:
            y = b.pick(MOVES)(b, x, make)
        except Unbuildable:
            continue
        pool += y if isinstance(y, list) else [y]


def move_slice(b, x, make):
    starts, ends, axes, steps = [], [], [], []
    for axis, size in enumerate(b.shape(x)):
        if b.chance(0.4):
            continue
        step = b.pick([-3, -2, -1, -1, 1, 1, 2, 3, 7])
        low, high = sorted([b.between(0, size), b.between(0, size)])
        start, end = (low, high) if step > 0 else (high, low - 1 if low else -size - 5)
        starts.append(start - size - (start == size) * 0 if b.chance(0.3) and start < size else start)
        ends.append(10**9 if b.chance(0.2) and step > 0 else end)
        axes.append(axis - len(b.shape(x)) if b.chance(0.3) else axis)
        steps.append(step)
    if not axes:
        raise Unbuildable("no axis")
    return b.node("Slice", [x, b.ints(*starts), b.ints(*ends), b.ints(*axes), b.ints(*steps)])


def move_transpose(b, x, make):
    return b.node("Transpose", [x], perm=[int(v) for v in b.r.permutation(len(b.shape(x)))])


def move_concat(b, x, make):
    shape = b.shape(x)
    if not shape:
        raise Unbuildable("scalar")
    axis = b.between(0, len(shape) - 1)
    parts = [x, x] if b.chance(0.3) else [x]
    for _ in range(b.between(1, 2)):
        other = list(shape)
        other[axis] = b.pick(WIDTHS[:9])
        parts.append((b.input if b.chance(0.4) else b.constant)(make(other)))
    order = [parts[int(i)] for i in b.r.permutation(len(parts))]
    return b.node("Concat", order, axis=axis)


def move_split(b, x, make):
    shape = b.shape(x)
    axes = [a for a, s in enumerate(shape) if s > 1]
    if not axes:
        raise Unbuildable("nothing to split")
    axis = b.pick(axes)
    at = b.between(1, shape[axis] - 1)
    return b.node("Split", [x, b.ints(at, shape[axis] - at)], 2, axis=axis)


def move_pad(b, x, make):
    shape = b.shape(x)
    mode = b.pick(["constant", "constant", "edge", "reflect"])
    pads = [b.between(0, min(3, s - 1) if mode == "reflect" else 3) for s in shape * 2]
    if mode == "constant" and b.chance(0.3):
        pads = [p if b.chance(0.7) else -b.between(0, (s - 1) // 2) for p, s in zip(pads, shape * 2)]
    value = [b.constant(np.asarray(make([1])[0]))] if mode == "constant" else []
    return b.node("Pad", [x, b.ints(*pads)] + value, mode=mode)


def move_reshape(b, x, make):
    shape = b.shape(x)
    total = int(np.prod(shape))
    divisors = [d for d in range(1, min(total, 70) + 1) if total % d == 0]
    first = b.pick(divisors)
    return b.node("Reshape", [x, b.ints(*b.pick([[first, -1], [-1, first], [-1], [1, first, -1]]))])


def move_gather(b, x, make):
    shape = b.shape(x)
    axis = b.between(0, len(shape) - 1)
    count = [b.pick([1, 2, 5, 9])] if b.chance(0.7) else [2, b.pick([1, 3])]
    at = b.r.integers(-shape[axis], shape[axis], count).astype(b.pick([np.int64, np.int32]))
    return b.node("Gather", [x, (b.input if b.chance(0.4) else b.constant)(at)], axis=axis)


def move_tile(b, x, make):
    return b.node("Tile", [x, b.ints(*[b.pick([1, 1, 2, 3]) for _ in b.shape(x)])])


def move_expand(b, x, make):
    shape = [b.pick([2, 5, 9]) if s == 1 and b.chance(0.7) else s for s in b.shape(x)]
    return b.node("Expand", [x, b.ints(*([b.pick([1, 2])] + shape if b.chance(0.3) else shape))])


def move_resize(b, x, make):
    if len(b.shape(x)) not in (3, 4):
        raise Unbuildable("rank")
    scales = [1, 1] + [float(b.pick([1, 2, 3, 0.5, 1.5])) for _ in b.shape(x)[2:]]
    return b.node(
        "Resize",
        [x, "", b.constant(np.array(scales, np.float32))],
        mode="nearest",
        nearest_mode=b.pick(["floor", "ceil", "round_prefer_floor"]),
        coordinate_transformation_mode=b.pick(["asymmetric", "half_pixel"]),
    )


def move_depth(b, x, make):
    shape = b.shape(x)
    if len(shape) != 4:
        raise Unbuildable("rank")
    if shape[1] % 4 == 0:
        return b.node("DepthToSpace", [x], blocksize=2, mode=b.pick(["DCR", "CRD"]))
    if shape[2] % 2 == 0 and shape[3] % 2 == 0:
        return b.node("SpaceToDepth", [x], blocksize=2)
    raise Unbuildable("sizes")


MOVES = [
    move_slice,
    move_slice,
    move_slice,
    move_transpose,
    move_transpose,
    move_concat,
    move_concat,
    move_split,
    move_pad,
    move_pad,
    move_reshape,
    move_gather,
    move_tile,
    move_expand,
    move_resize,
    move_depth,
]


def expression(b):
    full = full_shape(b, 4)
    special = b.pick([0, 0.3])
    leaf = lambda: (b.input if b.chance(0.7) else b.constant)(
        b.floats(full if b.chance(0.5) else broadcast(b, full), special)
    )
    pool = [b.input(b.floats(full, special))]
    for _ in range(b.between(1, 14)):
        op = b.pick(
            [
                "Add",
                "Sub",
                "Mul",
                "Div",
                "Max",
                "Min",
                "Relu",
                "LeakyRelu",
                "Clip",
                "Neg",
                "Abs",
                "PRelu",
                "HardSigmoid",
                "Floor",
                "Ceil",
                "Round",
                "Sqrt",
                "Reciprocal",
                "Sign",
                "Where",
                "Quantize",
            ]
        )
        x = pool[-1] if b.chance(0.75) else b.pick(pool)
        try:
            pool.append(apply(b, op, x, b.pick(pool) if b.chance(0.4) else leaf()))
        except Unbuildable:
            continue


def apply(b, op, x, y):
    if op in ("Add", "Sub", "Mul", "Div", "Max", "Min"):
        return b.node(op, [x, y] if b.chance(0.6) else [y, x])
    if op == "Where":
        return b.node(op, [b.node("Less", [x, y]), x, y])
    if op == "PRelu":
        return b.node(op, [x, b.constant(b.floats([s if b.chance(0.5) else 1 for s in b.shape(x)]))])
    if op == "Clip":
        low, high = sorted(b.r.normal(0, 2, 2).astype(np.float32))
        limits = b.pick([[low, high], [low, None], [None, high]])
        return b.node(op, [x] + ["" if v is None else b.constant(v) for v in limits])
    if op == "Quantize":
        dtype = b.pick(BYTES)
        s, z = b.constant(scale(b, 0.05)), b.constant(np.asarray(b.zero_point(dtype)))
        return b.node("DequantizeLinear", [b.node("QuantizeLinear", [x, s, z]), s, z])
    extra = {"alpha": b.pick([0.01, -0.5, 2.0])} if op == "LeakyRelu" else {}
    return b.node(op, [x], **extra)


def chain(b):
    """Quantizations one after the other, with other types and scales, and moves between them."""
    shape = full_shape(b, 4) or [3]
    x = b.input(b.floats(shape, 0.2))
    extremes = b.chance(0.3)
    for _ in range(b.between(2, 8)):
        dtype = b.pick(BYTES)
        size = b.pick(TINY + [1e30, 1e38]) if extremes and b.chance(0.5) else 0.05
        per_axis = b.chance(0.3) and len(b.shape(x)) > 1
        axis = b.between(0, len(b.shape(x)) - 1) if per_axis else 0
        count = [b.shape(x)[axis]] if per_axis else []
        scales = np.float32(size * b.r.uniform(0.5, 1.5, count))
        zeros = np.array([b.zero_point(dtype) for _ in range(count[0])] if per_axis else b.zero_point(dtype), dtype)
        names = [b.constant(scales), b.constant(zeros)]
        extra = {"axis": axis} if per_axis else {}
        q = b.node("QuantizeLinear", [x] + names, **extra)
        other = b.pick([names, names, [b.constant(np.float32(scales * b.pick([1, 2, 0.37]))), b.constant(zeros)]])
        x = b.node("DequantizeLinear", [q] + other, **extra)
        if b.chance(0.4):
            x = b.pick(
                [
                    lambda: b.node("Relu", [x]),
                    lambda: move_transpose(b, x, None),
                    lambda: move_reshape(b, x, None),
                    lambda: b.node("Mul", [x, b.constant(np.float32(b.pick([1, -1, 2, 1e-3])))]),
                ]
            )()


FAMILIES = {
    "conv_integer": (conv_integer, 8),
    "product": (product, 6),
    "gemm": (gemm, 3),
    "bytes_binary": (bytes_binary, 5),
    "moves": (moves, 8),
    "expression": (expression, 6),
    "chain": (chain, 5),
}
