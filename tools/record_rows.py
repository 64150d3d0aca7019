"""The topic of record_nodes.py about rows whose number values decide (docs/decisions/0031): outputs have
zeros up to as many rows as there can be, which the same graph says of other inputs, and their shapes
are outputs of their own."""

import itertools

import numpy as np
from onnx import helper

F = np.float32
node = helper.make_node


def ints(*values):
    return np.array(values, np.int64)


def positives(rows, columns):
    """Nodes that give the coordinates `at` of the elements of x above 0, and those elements."""
    return [node("Greater", ["x", "zero"], ["flags"]), node("NonZero", ["flags"], ["found"]),
            node("Transpose", ["found"], ["at"], perm=[1, 0]),
            node("GatherND", ["x", "at"], ["chosen"])], np.ones((rows, columns), F)


def rows(topic):
    """No row, some and all of NonZero, Compress, Slice, Unique and NonMaxSuppression as outputs."""
    rng = topic.rng
    zero = {"zero": np.array(F(0))}
    for shape, high in itertools.product(((1, 1), (2, 3), (4, 2)), (1, 3, 9)):
        x = rng.integers(-2, high, shape).astype(F)
        nodes, most = positives(*shape)
        topic.counted("non_zero", nodes, {"x": x}, {"x": most}, zero, ["found", "at", "chosen"])
        more = nodes + [node("Reshape", ["at", "flat"], ["list"]), node("Neg", ["list"], ["minus"]),
                        node("Reshape", ["minus", "pairs"], ["back"]),
                        node("Mul", ["back", "at"], ["product"]), node("Size", ["at"], ["size"]),
                        node("ReduceSum", ["product", "first"], ["sum"], keepdims=0)]
        sizes = {"flat": ints(-1), "pairs": ints(-1, 2), "first": ints(0)}
        topic.counted("reshape", more, {"x": x}, {"x": most}, {**zero, **sizes},
                      ["list", "back", "size", "sum"], ["size", "sum"])
    for axis, size in itertools.product((0, 1), (1, 4)):
        shape = (size, 3) if axis == 0 else (2, size)
        x = rng.integers(-9, 9, shape).astype(F)
        flags = rng.integers(0, 2, size).astype(bool)
        topic.counted("compress", [node("Compress", ["x", "flags"], ["y"], axis=axis)],
                      {"x": x, "flags": flags}, {"x": x, "flags": np.ones(size, bool)}, {}, ["y"])
    for step, size in itertools.product((1, 2, 3, -1, -2), (1, 5)):
        x = rng.integers(-9, 9, (size, 2)).astype(F)
        whole = (0, size) if step > 0 else (size - 1, -size - 1)
        for _ in range(6):
            begin, end = rng.integers(-size - 2, size + 3, 2)
            topic.counted("slice", [node("Slice", ["x", "begin", "end", "axis", "step"], ["y"])],
                          {"x": x, "begin": ints(begin), "end": ints(end)},
                          {"x": x, "begin": ints(whole[0]), "end": ints(whole[1])},
                          {"axis": ints(0), "step": ints(step)}, ["y"])
    for dtype, axis, is_sorted in itertools.product((F, np.int64, np.int8), (None, 0, -1), (0, 1)):
        shape = (5, 3) if axis == 0 else (2, 4)
        x = rng.integers(0, 2 if axis == 0 else 3, shape).astype(dtype)
        where = {} if axis is None else {"axis": axis}
        topic.counted("unique", [node("Unique", ["x"], ["y", "i", "r", "c"], sorted=is_sorted, **where)],
                      {"x": x}, {"x": np.arange(x.size).reshape(shape).astype(dtype)}, {},
                      ["y", "i", "r", "c"], ["r"])
    boxes = rng.uniform(0, 1, (1, 6, 4)).astype(F)
    boxes[..., 2:] += boxes[..., :2]
    apart = np.arange(24, dtype=F).reshape(1, 6, 4)
    apart[..., 2:] = apart[..., :2] + 1
    limits = {"most": ints(4), "iou": np.array([0.3], F), "least": np.array([0.25], F),
              "column": np.array(2), "table": boxes[0]}
    for _ in range(4):
        scores = rng.uniform(0, 1, (1, 2, 6)).astype(F)
        topic.counted("boxes", [node("NonMaxSuppression", ["b", "s", "most", "iou", "least"], ["found"]),
                                node("Gather", ["found", "column"], ["row"], axis=1),
                                node("Gather", ["table", "row"], ["picked"])],
                      {"b": boxes, "s": scores}, {"b": apart, "s": np.ones((1, 2, 6), F)}, limits,
                      ["found", "picked"])
