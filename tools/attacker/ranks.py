"""A family of chains over tensors of one to seven axes, of every type of numbers, with vectors' lengths on any axis: what passes
and kernels know of images is not true of them."""

import numpy as np
from onnx import TensorProto

from builder import Unbuildable

TYPES = [np.float32, np.float32, np.int8, np.uint8, np.int16, np.int32, np.int64, np.uint16, np.float16, np.bool_]
LENGTHS = [1, 2, 3, 4, 5, 7, 8, 9, 15, 16, 17, 31, 33, 64]
NAMES = {np.dtype(t): getattr(TensorProto, n) for t, n in [
    (np.float32, "FLOAT"), (np.int8, "INT8"), (np.uint8, "UINT8"), (np.int16, "INT16"), (np.int32, "INT32"),
    (np.int64, "INT64"), (np.uint16, "UINT16"), (np.float16, "FLOAT16"), (np.bool_, "BOOL")]}


def numbers(b, dtype, shape):
    if dtype == np.bool_:
        return b.r.random(shape) < 0.5
    if np.issubdtype(dtype, np.floating):  # quarters: sums of some thousands are exact in any order
        return (b.r.integers(-20, 21, shape) / 4).astype(dtype)
    least = 0 if np.iinfo(dtype).min == 0 else -9
    return b.r.integers(least, 10, shape).astype(dtype)


def some_shape(b):
    rank = b.pick([1, 2, 3, 3, 4, 5, 5, 6, 7])
    shape = [b.pick([1, 1, 2, 2, 3, 4, 5]) for _ in range(rank)]
    for _ in range(b.pick([1, 1, 2])):
        shape[b.between(0, rank - 1)] = b.pick(LENGTHS)
    if np.prod(shape) > 6000:
        raise Unbuildable("too many elements")
    return shape


def axis_of(b, rank):
    axis = b.between(0, rank - 1)
    return axis - rank if b.chance(0.4) else axis


def transpose(b, x):
    return b.node("Transpose", [x], perm=[int(i) for i in b.r.permutation(len(b.shape(x)))])


def reduce(b, x):
    rank = len(b.shape(x))
    axes = sorted(int(i) for i in b.r.choice(rank, b.between(1, rank), replace=False))
    op = b.pick(["ReduceSum", "ReduceMax", "ReduceMin", "ReduceMean", "ReduceL1", "ReduceSumSquare"])
    keep = b.pick([0, 1])
    exact = op in ("ReduceMax", "ReduceMin") or b.dtype(x).kind != "f"
    if op == "ReduceSum" or b.opset >= 18:
        return b.node(op, [x, b.ints(*axes)], keepdims=keep, exact=exact)
    return b.node(op, [x], axes=axes, keepdims=keep, exact=exact)


def position(b, x):
    last = b.chance(0.2) and b.opset >= 12
    return b.node(b.pick(["ArgMax", "ArgMin"]), [x], axis=axis_of(b, len(b.shape(x))), keepdims=b.pick([0, 1]),
                  **({"select_last_index": 1} if last else {}))  # fmt: skip


def pair(b, x):
    shape = [1 if b.chance(0.4) else n for n in b.shape(x)][b.between(0, len(b.shape(x)) - 1) :]
    if b.chance(0.15):
        shape = [b.between(1, 3)] * b.pick([0, 1]) + [1] * (len(b.shape(x)) - len(shape)) + shape
    place = b.input if b.chance(0.6) else b.constant
    y = place(numbers(b, b.dtype(x).type, shape))
    both = [x, y] if b.chance(0.6) else [y, x]
    if b.dtype(x) == np.bool_:
        return b.node(b.pick(["And", "Or", "Xor", "Equal"]), both)
    op = b.pick(["Add", "Sub", "Mul", "Min", "Max", "Equal", "Less", "Greater", "LessOrEqual"])
    return b.node(op, both)


def choose(b, x):
    condition = b.input(b.r.random([1 if b.chance(0.4) else n for n in b.shape(x)]) < 0.5)
    other = b.constant(numbers(b, b.dtype(x).type, [1 if b.chance(0.5) else n for n in b.shape(x)]))
    return b.node("Where", [condition] + ([x, other] if b.chance(0.5) else [other, x]))


def cut(b, x):
    shape = b.shape(x)
    axes = sorted(int(i) for i in b.r.choice(len(shape), b.between(1, min(3, len(shape))), replace=False))
    starts, ends, steps = [], [], []
    for axis in axes:
        step = b.pick([1, 1, 2, 3, -1, -2])
        first, last = sorted([b.between(0, shape[axis]), b.between(0, shape[axis])])
        starts.append(first if step > 0 else last)
        ends.append(last if step > 0 else b.pick([first, -(2**31)]))
        steps.append(step)
    return b.node("Slice", [x, b.ints(*starts), b.ints(*ends), b.ints(*axes), b.ints(*steps)])


def pad(b, x):
    rank = len(b.shape(x))
    pads = [b.pick([0, 0, 1, 2]) for _ in range(2 * rank)]
    mode = b.pick(["constant", "edge", "reflect"])
    names = [x, b.ints(*pads)]
    if mode == "constant" and b.chance(0.5):
        names.append(b.constant(numbers(b, b.dtype(x).type, [])))
    return b.node("Pad", names, mode=mode)


def join(b, x):
    axis = axis_of(b, len(b.shape(x)))
    shape = b.shape(x)
    shape[axis] = b.between(1, 3)
    parts = [x, b.input(numbers(b, b.dtype(x).type, shape)), x][: b.pick([2, 2, 3])]
    return b.node("Concat", parts, axis=axis)


def part(b, x):
    axis = axis_of(b, len(b.shape(x)))
    size = b.shape(x)[axis]
    if size < 2:
        raise Unbuildable("nothing to split")
    at = b.between(1, size - 1)
    first, second = b.node("Split", [x, b.ints(at, size - at)], outputs=2, axis=axis)
    return first if b.chance(0.5) else second


def gather(b, x):
    axis = axis_of(b, len(b.shape(x)))
    size = b.shape(x)[axis]
    at = b.r.integers(-size, size, [b.pick([1, 2, 3]) for _ in range(b.pick([0, 1, 1, 2]))])
    return b.node("Gather", [x, (b.constant if b.chance(0.6) else b.input)(at)], axis=axis)


def gather_each(b, x):
    axis = axis_of(b, len(b.shape(x)))
    shape = b.shape(x)
    size = shape[axis]
    shape[axis] = b.between(1, 4)
    return b.node("GatherElements", [x, b.input(b.r.integers(-size, size, shape))], axis=axis)


def scatter(b, x):
    axis = axis_of(b, len(b.shape(x)))
    shape = b.shape(x)
    size = shape[axis]
    shape[axis] = min(size, b.between(1, 3))
    at = np.argsort(b.r.random(b.shape(x)), axis=axis).take(range(shape[axis]), axis)  # none twice
    updates = b.input(numbers(b, b.dtype(x).type, shape))
    return b.node("ScatterElements", [x, b.constant(at.astype(np.int64)), updates], axis=axis)


def grow(b, x):
    shape = b.shape(x)
    if b.chance(0.5):
        return b.node("Tile", [x, b.ints(*[b.pick([1, 1, 2, 3]) for _ in shape])])
    return b.node("Expand", [x, b.ints(*([b.pick([1, 2, 3])] * b.pick([0, 1]) + [n if n > 1 else b.pick([1, 3]) for n in shape]))])


def reshape(b, x):
    shape = b.shape(x)
    if len(shape) > 1 and b.chance(0.5):
        at = b.between(0, len(shape) - 2)
        shape[at : at + 2] = [shape[at] * shape[at + 1]]
    else:
        at = b.between(0, len(shape) - 1)
        by = next((n for n in (2, 3, 5) if shape[at] % n == 0), 1)
        shape[at : at + 1] = [by, shape[at] // by]
    return b.node("Reshape", [x, b.ints(*shape)])


def cast(b, x):
    to = b.pick([t for t in TYPES if t != b.dtype(x)])
    if b.dtype(x).kind == "f" and np.dtype(to).kind in "iu":
        raise Unbuildable("values of no integer")
    return b.node("Cast", [x], to=NAMES[np.dtype(to)])


def order(b, x):
    axis = axis_of(b, len(b.shape(x)))
    k = b.between(1, b.shape(x)[axis])
    values, at = b.node("TopK", [x, b.ints(k)], outputs=2, axis=axis, largest=b.pick([0, 1]))
    return values if b.chance(0.7) else at


def running(b, x):
    return b.node("CumSum", [x, b.ints(axis_of(b, len(b.shape(x))))], exclusive=b.pick([0, 1]), reverse=b.pick([0, 1]),
                  exact=b.dtype(x).kind != "f")  # fmt: skip


def function(b, x):
    if b.dtype(x) == np.bool_:
        return b.node("Not", [x])
    if b.dtype(x) != np.float32:
        return b.node(b.pick(["Abs", "Neg", "Sign"]), [x])
    op = b.pick(["Relu", "Abs", "Neg", "Floor", "Softmax", "Sigmoid", "Exp"])
    if op == "Softmax":
        return b.node(op, [x], axis=axis_of(b, len(b.shape(x))), exact=False)
    return b.node(op, [x], exact=op not in ("Sigmoid", "Exp"))


STEPS = [transpose, transpose, reduce, reduce, position, pair, pair, choose, cut, cut, pad, join, part, gather, gather_each, scatter,
         grow, reshape, cast, order, running, function]  # fmt: skip


def ranked(b):
    """Steps that any type has, one after the other or two on one tensor."""
    pool = [b.input(numbers(b, b.pick(TYPES), some_shape(b)))]
    for _ in range(b.between(1, 5)):
        x = pool[-1] if b.chance(0.8) else b.pick(pool)
        if not b.shape(x):
            continue
        try:
            pool.append(b.pick(STEPS)(b, x))
        except Unbuildable:
            continue


FAMILIES = {"ranked": (ranked, 6)}
