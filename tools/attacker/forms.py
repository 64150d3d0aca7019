"""Families of forms that the others lack: halves and doubles as types of tensors, chains of dynamic quantization that
share their results, attention with lengths and per-channel scales, layers of 16 bits, long rows of powers and softmax."""

import numpy as np
from onnx import TensorProto

from builder import BYTES, MS
from quantized import Layers, Q

SIZES = [1, 2, 3, 7, 8, 9, 15, 16, 17, 31, 33, 63, 65]
MOVES = ["Transpose", "Reshape", "Concat", "Slice", "Pad", "Gather", "Relu", "Neg", "Abs", "MaxPool"]


def moved(b, op, x):
    """The operator on x, whose results are values of x: any type keeps them exactly."""
    shape = b.shape(x)
    if op == "Transpose":
        return b.node(op, [x], perm=[int(v) for v in b.r.permutation(len(shape))])
    if op == "Reshape":
        return b.node(op, [x, b.ints(-1, shape[-1])])
    if op == "Concat":
        return b.node(op, [x, x], axis=b.between(0, len(shape) - 1))
    if op == "Slice":
        axis = b.between(0, len(shape) - 1)
        first, step = (0, b.pick([1, 2])) if b.chance(0.6) else (-1, -1)
        last = shape[axis] if step > 0 else -(2**31)
        return b.node(op, [x, b.ints(first), b.ints(last), b.ints(axis), b.ints(step)])
    if op == "Pad":
        return b.node(op, [x, b.ints(*[b.between(0, 3) for _ in shape * 2])])
    if op == "Gather":
        axis = b.between(0, len(shape) - 1)
        at = b.r.integers(-shape[axis], shape[axis], b.between(1, 5)).astype(np.int64)
        return b.node(op, [x, b.constant(at)], axis=axis)
    if op == "MaxPool":
        y = b.node("Reshape", [x, b.ints(1, 1, -1)])
        return b.node(op, [y], kernel_shape=[min(2, b.shape(y)[2])])
    return b.node(op, [x])


def other_floats(b):
    """float16 and float64 arrive, move, and leave; the arithmetic on them is one operation, so that rounding each result
    and rounding what leaves is the same."""
    kind = b.pick([np.float16, np.float16, np.float64])
    shape = [b.pick(SIZES) for _ in range(b.between(1, 3))]
    x = b.input(b.floats(shape).astype(np.float16).astype(kind))
    for _ in range(b.between(0, 4)):
        x = moved(b, b.pick(MOVES), x)
    op = b.pick(["Add", "Sub", "Mul", "Div", "Sqrt", "Cast", "Identity"])
    if op == "Cast":
        x = b.node("Cast", [x], to=TensorProto.FLOAT)
        y = b.node(b.pick(["Mul", "Add", "Div"]), [x, b.constant(np.float32(b.pick([0.3, 3, -0.07])))])
        if kind == np.float16 and b.chance(0.5):
            y = b.node("Cast", [y], to=TensorProto.FLOAT16)
            y = b.node("Cast", [y], to=TensorProto.FLOAT)
        if b.chance(0.5):
            b.node("QuantizeLinear", [y, b.constant(np.float32(0.05)), b.constant(b.zero_point(b.pick(BYTES)))])
    elif op == "Sqrt":
        b.outputs.append(b.node(op, [b.node("Abs", [x])]))
    elif op == "Identity":
        b.node(op, [x])
    else:
        other = b.floats([b.shape(x)[-1]]).astype(np.float16).astype(kind)
        b.outputs.append(b.node(op, [x, (b.input if b.chance(0.5) else b.constant)(other)]))


def dynamic_product(b, q, s, z, depth):
    """Of bytes quantized at run time with weights, in floats again."""
    out, kind = b.pick([1, 3, 8, 9, 17]), b.pick([np.int8, np.int8, np.uint8])
    per_channel = b.chance(0.5)
    w = b.constant(b.bytes(kind, [depth, out]))
    zero = b.constant(np.full([out] if per_channel and b.chance(0.3) else [], b.zero_point(kind), kind))
    sums = b.node("Cast", [b.node("MatMulInteger", [q, w, z, zero])], to=TensorProto.FLOAT)
    scale = b.constant(np.float32(b.r.uniform(0.001, 0.02, [out] if per_channel else [])))
    order = [[s, scale], [scale, s]][b.between(0, 1)]
    y = b.node("Mul", [sums, b.node("Mul", order)]) if b.chance(0.7) else None
    y = y or b.node("Mul", [b.node("Mul", [sums, order[0]]), order[1]])
    return b.node("Add", [y, b.constant(b.floats([out]))]) if b.chance(0.6) else y


def dynamic_chain(b):
    """What DynamicQuantizeLinear gives has several readers, is an output, or is changed before its product."""
    x = b.input(b.floats([b.pick([1, 2, 5]), b.pick([1, 3, 7, 8, 9, 33])]) * np.float32(b.pick([0, 1, 1, 1, 1e-20])))
    for _ in range(b.between(1, 3)):
        if b.chance(0.3):
            x = b.node(b.pick(["Relu", "Neg", "Abs"]), [x])
        q, s, z = b.node("DynamicQuantizeLinear", [x], 3)
        kind = b.pick(["product", "product", "two products", "back", "turned"])
        depth = b.shape(q)[-1]
        if kind == "back":
            x = b.node("DequantizeLinear", [q, s, z])
        elif kind == "turned":
            q = b.node("Transpose", [q], perm=[1, 0])
            x = dynamic_product(b, q, s, z, b.shape(q)[-1])
        else:
            y = dynamic_product(b, q, s, z, depth)
            if kind == "two products":
                dynamic_product(b, q, s, z, depth)
            x = y
        if b.chance(0.3):
            b.outputs.append(b.node("Identity", [b.pick([q, s, z])]))


def quantized_attention(b):
    """QAttention with lengths, zero points and scales of channels."""
    batch, length, heads, depth = b.pick([1, 2]), b.pick([1, 3, 8, 9]), b.pick([1, 2, 3]), b.pick([1, 4, 7, 8])
    hidden = heads * depth
    kind = b.pick(BYTES)
    per_channel = b.chance(0.4)
    w = b.constant(b.bytes(kind, [hidden, 3 * hidden]))
    scale = b.constant(np.float32(b.r.uniform(0.002, 0.01, [3 * hidden] if per_channel else [])))
    mask = b.constant(b.r.integers(1, length + 1, batch).astype(np.int32)) if b.chance(0.4) else ""
    x_kind = b.pick([np.uint8, np.uint8, np.int8])
    inputs = [
        b.input(b.bytes(x_kind, [batch, length, hidden])),
        w,
        b.constant(b.floats([3 * hidden])),
        b.constant(np.float32(b.r.uniform(0.005, 0.03))),
        scale,
        mask,
        b.constant(b.zero_point(x_kind)),
        b.constant(np.full([3 * hidden] if per_channel else [], b.zero_point(kind), kind)),
    ]
    b.node("QAttention", inputs, domain=MS, exact=False, num_heads=heads, unidirectional=b.pick([0, 0, 1]))


def words(b):
    """16-bit activations in products, sums, pools and moves."""
    b.opset = 21
    layers = Layers(b, "qdq", b.pick([np.int16, np.int16, np.uint16]))
    b.exact = False
    x = layers.start([b.pick([1, 2]), b.pick([1, 3, 8, 9, 17]), b.between(2, 9)])
    for _ in range(b.between(1, 3)):
        kind = b.pick(["dense", "pool", "sum", "move", "conv"])
        if kind == "dense":
            x = layers.dense(x, b.pick([1, 3, 8, 9, 17]))
        elif kind == "pool":
            x = layers.pool(x)
        elif kind == "sum":
            x = layers.binary(b.pick(["Add", "Mul"]), x, x if b.chance(0.3) else layers.start(layers.shape(x)))
        elif kind == "conv":
            x = layers.conv(x, b.pick([1, 3, 8, 9]))
        else:
            x = layers.move("Transpose", x, perm=[0, 2, 1])


def long_rows(b):
    """Powers, softmax and pools over lengths around vectors, with values at the ends of their ranges."""
    op = b.pick(["Pow", "Pow", "Softmax", "LogSoftmax", "GlobalAveragePool", "AveragePool", "QLinearSoftmax"])
    length = b.pick(SIZES + [127, 129, 255, 257, 1000])
    if op == "Pow":
        x = b.input(b.floats([b.pick([1, 3]), length], 0.3))
        x = b.node("Abs", [x]) if b.chance(0.5) else x
        other = b.pick([0.5, 2, 3, -1, -0.5, 0, 1, 2.5, -2, 1e-3, 40])
        power = b.constant(np.float32(other)) if b.chance(0.7) else b.input(b.floats([length]))
        return b.node(op, [x, power], exact=False)
    if op == "QLinearSoftmax":
        layers = Layers(b, "qoperator")
        x = layers.start([b.pick([1, 3]), length])
        zero = layers.dtype(0 if layers.dtype == np.uint8 else -128)
        inputs = layers.all_of(x) + [b.constant(np.float32(1 / 256)), b.constant(zero)]
        return b.node(op, inputs, domain=MS, axis=-1, opset=b.opset)
    if op in ("Softmax", "LogSoftmax"):
        shape = [b.pick([1, 2, 5]), length] if b.chance(0.6) else [b.pick([1, 2]), length, b.pick([1, 3, 8])]
        x = b.input(b.floats(shape) * np.float32(b.pick([1, 1, 30, 1e-3])))
        return b.node(op, [x], exact=False, axis=b.between(0, len(shape) - 1))
    layers = Layers(b, b.pick(["qoperator", "qdq", "float"]))
    x = layers.start([1, b.pick([1, 3, 8, 17, 33]), b.pick([1, 3, 9]), min(length, 129)])
    return layers.pool(x, op)


FAMILIES = {
    "other_floats": (other_floats, 4),
    "dynamic_chain": (dynamic_chain, 4),
    "quantized_attention": (quantized_attention, 3),
    "words": (words, 3),
    "long_rows": (long_rows, 4),
}
