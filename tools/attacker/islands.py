"""Families of QDQ graphs as no quantizer writes them: values with several users of several kinds, floats between, weights
that take detours, missing zero points, axes counted from the end; and what exporters leave for the compiler to fold."""

import numpy as np

from builder import BYTES, WIDTHS, Unbuildable
from quantized import Layers, Q
from singles import apply, broadcast, full_shape


def ends(b, dtype, shape, axis=None):
    """Names of scale and zero point; of one axis if given."""
    count = [] if axis is None else [shape[axis]]
    scales = np.float32(b.pick([0.02, 0.05, 0.5, 2.0**-6, 1e-4]) * b.r.uniform(0.5, 1.5, count))
    if dtype in (np.int16, np.int32):
        return [b.constant(scales), b.constant(np.zeros(count, dtype))]
    zeros = np.array([b.zero_point(dtype) for _ in range(count[0])] if count else b.zero_point(dtype), dtype)
    if dtype == np.uint8 and b.chance(0.15):
        return [b.constant(scales)]
    return [b.constant(scales), b.constant(zeros)]


def dequantized(b, x):
    shape = b.shape(x)
    axis = b.between(0, len(shape) - 1) if shape and b.chance(0.2) else None
    extra = {} if axis is None else {"axis": axis - len(shape) if b.chance(0.4) else axis}
    names = ends(b, b.dtype(x).type, shape, axis)
    if len(shape) == 1:
        extra, names = {}, ends(b, b.dtype(x).type, shape)
    return b.node("DequantizeLinear", [x] + names, **extra)


def quantized(b, x):
    shape = b.shape(x)
    axis = b.between(0, len(shape) - 1) if len(shape) > 1 and b.chance(0.15) else None
    return b.node(
        "QuantizeLinear", [x] + ends(b, b.pick(BYTES), shape, axis), **({} if axis is None else {"axis": axis})
    )


UNARY = [
    "Relu",
    "LeakyRelu",
    "Sigmoid",
    "Tanh",
    "Abs",
    "Neg",
    "Clip",
    "Sqrt",
    "Floor",
    "Sign",
    "Round",
    "PRelu",
    "HardSigmoid",
    "Exp",
    "Erf",
    "Softplus",
    "Elu",
    "Softmax",
    "Reciprocal",
    "Ceil",
]
BINARY = ["Add", "Mul", "Sub", "Div", "Max", "Min", "Pow", "Where"]


def island(b):
    """Float operators between quantizations, with users at every place."""
    b.qdq = True
    full = full_shape(b, 4, 3000) or [3]
    dtype = b.pick(BYTES)
    pool = [dequantized(b, b.input(b.bytes(dtype, full)))]
    for _ in range(b.between(2, 10)):
        x = pool[-1] if b.chance(0.6) else b.pick(pool)
        try:
            pool.append(island_step(b, x, pool, full))
        except Unbuildable:
            continue
    quantized(b, pool[-1])


def island_step(b, x, pool, full):
    kind = b.pick(["unary", "unary", "binary", "binary", "quantize", "quantize", "move", "reduce"])
    if kind == "quantize":
        return dequantized(b, quantized(b, x)) if b.chance(0.4) else again(b, x)
    if kind == "unary":
        op = b.pick(UNARY)
        if op in ("Sigmoid", "Tanh", "Exp", "Erf", "Softplus", "Elu", "Softmax"):
            return b.node(op, [x], exact=False)
        return apply(b, op, x, x)
    if kind == "binary":
        op = b.pick(BINARY)
        other = b.pick(pool) if b.chance(0.5) else b.constant(b.floats(broadcast(b, b.shape(x))))
        if op == "Pow":
            return b.node(op, [x, b.constant(np.float32(b.pick([2, 2, 3, 0.5])))], exact=False)
        return apply(b, op, x, other)
    if kind == "move":
        return b.node("Transpose", [x], perm=[int(v) for v in b.r.permutation(len(b.shape(x)))])
    axes = [b.between(0, len(b.shape(x)) - 1)]
    if b.opset >= 18:
        return b.node(b.pick(["ReduceMean", "ReduceMax", "ReduceMin"]), [x, b.ints(*axes)], exact=False)
    return b.node(b.pick(["ReduceMean", "ReduceMax", "ReduceMin"]), [x], exact=False, axes=axes)


def again(b, x):
    """One pair with equal parameters."""
    dtype = b.pick(BYTES)
    names = ends(b, dtype, b.shape(x))
    return b.node("DequantizeLinear", [b.node("QuantizeLinear", [x] + names)] + names)


def detours(b):
    """Weights that are transposed, reshaped, scaled, quantized from floats or shared before a product takes them."""
    b.qdq = True
    dtype = b.pick(BYTES)
    k, n, m = b.pick(WIDTHS[:14]), b.pick(WIDTHS[:14]), b.pick([1, 2, 7, 8])
    x = b.node("DequantizeLinear", [b.input(b.bytes(dtype, b.pick([[m, k], [2, m, k], [k]])))] + ends(b, dtype, []))
    kind = np.int8 if dtype == np.int8 else b.pick(BYTES)
    how = b.pick(["transpose", "reshape", "float", "shared", "scaled", "transB", "plain"])
    turned = how in ("transpose", "transB")
    shape = [n, k] if turned else [k, n]
    if how == "float":
        names = ends(b, np.int8, [])
        w = b.node("DequantizeLinear", [b.node("QuantizeLinear", [b.constant(b.floats(shape))] + names)] + names)
    else:
        axis = b.pick([None, 0, 1])
        extra = {} if axis is None else {"axis": axis}
        w = b.node("DequantizeLinear", [b.constant(b.bytes(kind, shape))] + ends(b, kind, shape, axis), **extra)
    if how == "transpose":
        w = b.node("Transpose", [w], perm=[1, 0])
    if how == "reshape":
        w = b.node("Reshape", [w, b.ints(k, n)])
    if how == "scaled":
        w = b.node("Mul", [w, b.constant(b.floats([n]))])
    if len(b.shape(x)) == 2 and (how == "transB" or b.chance(0.5)):
        c = b.pick([[], [1], [n], [m, 1], [1, n], [m, n]])
        y = b.node(
            "Gemm",
            [x, w] + ([b.constant(b.floats(c))] if b.chance(0.7) else []),
            exact=False,
            transB=int(how == "transB"),
            alpha=b.pick([1.0, 1.0, 0.5]),
            beta=b.pick([1.0, 1.0, 2.0, 0.0]),
        )
    else:
        w = b.node("Transpose", [w], perm=[1, 0]) if how == "transB" else w
        y = b.node("MatMul", [x, w], exact=False)
    if how == "shared":
        b.node("MatMul", [x, w], exact=False)
        quantized(b, b.node("Relu", [w]))
    if b.chance(0.5):
        y = b.node("Add", [y, b.constant(b.floats([n]))])
    y = b.node(b.pick(["Relu", "Sigmoid", "Neg"]), [y]) if b.chance(0.4) else y
    dequantized(b, b.node("QuantizeLinear", [y] + ends(b, dtype, b.shape(y))))


def vectors(b):
    """Products with operands of rank 1, zero points per row, and float Gemm."""
    dtype, kind = b.pick([(np.uint8, np.uint8), (np.uint8, np.int8), (np.int8, np.int8)])
    k, n = b.pick(WIDTHS), b.pick(WIDTHS)
    form = b.pick(["vm", "mv", "vv", "gemm", "batched"])
    place = b.input if b.chance(0.5) else b.constant
    if form == "gemm":
        m = b.pick(WIDTHS[:9])
        ta, tb = b.pick([0, 1]), b.pick([0, 1])
        c = b.pick([[], [1], [n], [m, 1], [1, n], [m, n]])
        b.node(
            "Gemm",
            [
                b.input(b.floats([k, m] if ta else [m, k])),
                place(b.floats([n, k] if tb else [k, n])),
                b.input(b.floats(c)),
            ],
            exact=False,
            transA=ta,
            transB=tb,
            alpha=b.pick([1.0, -0.5]),
            beta=b.pick([1.0, 0.25]),
        )
        return
    shapes = {"vm": ([k], [k, n]), "mv": ([n, k], [k]), "vv": ([k], [k]), "batched": ([2, 3, 1, k], [3, k, n])}[form]
    b.node("MatMul", [b.input(b.floats(shapes[0])), place(b.floats(shapes[1]))], exact=False)
    x, y = b.input(b.bytes(dtype, shapes[0])), place(b.bytes(kind, shapes[1]))
    b.node("MatMulInteger", [x, y, b.constant(b.zero_point(dtype)), b.constant(b.zero_point(kind))])


def exported(b):
    """Shapes computed in the graph, constants to fold, batch normalizations, as PyTorch's exporter leaves them."""
    layers = Layers(b, b.pick(["float", "dynamic", "qdq"]))
    n, c = b.pick([1, 2]), b.pick([4, 6, 8, 9])
    x = layers.start([n, c, b.pick([3, 4, 7]), b.pick([4, 6])])
    x = layers.conv(x, b.pick([4, 8, 9, 16]), same=True)
    if layers.form != "qdq":
        channels = layers.shape(x)[1]
        numbers = [b.constant(np.abs(b.floats([channels])) + np.float32(0.1)) for _ in range(4)]
        x = Q(b.node("BatchNormalization", [x.name] + numbers, exact=False))
        x = layers.activation(x, "Relu") if b.chance(0.5) else x
    name = layers.real(x)
    sizes = b.node("Shape", [name])
    first = b.node("Gather", [sizes, b.constant(np.int64(0))], axis=0)
    first = b.node("Unsqueeze", [first, b.ints(0)])
    flat = b.node("Reshape", [name, b.node("Concat", [first, b.ints(-1)], axis=0)])
    large = b.node("Expand", [b.constant(np.float32(0.5)), b.node("Shape", [flat])])
    y = b.node("Add", [flat, large])
    half = b.node(
        "Div", [b.node("Gather", [b.node("Shape", [y]), b.constant(np.int64(1))], axis=0), b.constant(np.int64(2))]
    )
    y = b.node("Slice", [y, b.ints(0), b.node("Unsqueeze", [half, b.ints(0)]), b.ints(1)])
    w = b.node("Transpose", [b.constant(b.floats([5, b.shape(y)[1]]))], perm=[1, 0])
    b.node("MatMul", [y, b.node("Mul", [w, b.constant(np.float32(0.1))])], exact=False)


def mixed_types(b):
    """Sums of tensors of other types and quantized at other places, then a convolution of each."""
    b.qdq = True
    shape = [1, b.pick([3, 8, 9]), b.pick([4, 7]), b.pick([4, 9])]
    parts = [b.node("DequantizeLinear", [b.input(b.bytes(t, shape))] + ends(b, t, [])) for t in (np.uint8, np.int8)]
    y = b.node(b.pick(["Add", "Mul", "Sub", "Concat"]), parts) if b.chance(0.7) else parts[0]
    if b.nodes[-1].op_type == "Concat":
        raise Unbuildable("axis")
    t = b.pick(BYTES)
    names = ends(b, t, [])
    q = b.node("QuantizeLinear", [y] + names)
    f = b.node("DequantizeLinear", [q] + names)
    channels = b.shape(f)[1]
    for _ in range(b.between(1, 3)):
        out = b.pick([1, 4, 8, 9, channels])
        group = channels if out == channels and b.chance(0.5) else 1
        w = b.bytes(np.int8, [out, channels // group, 3, 3])
        axis = b.pick([None, 0])
        wf = b.node(
            "DequantizeLinear",
            [b.constant(w)] + ends(b, np.int8, w.shape, axis),
            **({} if axis is None else {"axis": 0}),
        )
        c = b.node("Conv", [b.pick([f, f, parts[0]]), wf], exact=False, pads=[1, 1, 1, 1], group=group)
        c = b.node(b.pick(["Relu", "Sigmoid", "LeakyRelu"]), [c]) if b.chance(0.5) else c
        names = ends(b, b.pick(BYTES), [])
        d = b.node("DequantizeLinear", [b.node("QuantizeLinear", [c] + names)] + names)
        if out == channels and b.chance(0.6):
            quantized(b, b.node("Add", [d, f]))


FAMILIES = {
    "island": (island, 8),
    "detours": (detours, 5),
    "vectors": (vectors, 3),
    "exported": (exported, 3),
    "mixed_types": (mixed_types, 4),
}
