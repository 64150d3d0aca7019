"""Families of forms that one meaning has: operator sets, attributes or inputs, types, scalars with rank, ones and zeros as
sizes."""

import numpy as np
from onnx import TensorProto

from borders import F
from builder import BYTES, Unbuildable


def reduced(b):
    """Reductions by attributes and inputs, of types beside float, with axes from the end, none or empty."""
    b.opset = b.pick([11, 12, 13, 17, 18, 18, 20])
    kind = b.pick([F, F, np.int32, np.int64, np.uint8, np.int8])
    shape = [b.pick([1, 2, 3, 7]) for _ in range(b.between(1, 4))]
    x = b.input(b.floats(shape) if kind == F else b.r.integers(0 if kind == np.uint8 else -9, 9, shape).astype(kind))
    op = b.pick(
        [
            "ReduceSum",
            "ReduceMean",
            "ReduceMax",
            "ReduceMin",
            "ReduceProd",
            "ReduceL1",
            "ReduceL2",
            "ReduceSumSquare",
            "ReduceLogSumExp",
            "ReduceLogSum",
            "ArgMax",
            "ArgMin",
        ]
    )
    rank = len(shape)
    count = b.between(0, rank)
    axes = [int(a) for a in b.r.permutation(rank)[:count]]
    axes = [a - rank if b.chance(0.4) else a for a in axes]
    keep = {"keepdims": b.pick([0, 1])} if b.chance(0.7) else {}
    if op.startswith("Arg"):
        extra = {"select_last_index": b.pick([0, 1])} if b.opset >= 12 else {}
        return b.node(op, [x], axis=b.between(-rank, rank - 1), **keep, **extra)
    as_input = b.opset >= 18 or (op == "ReduceSum" and b.opset >= 13)
    if (
        op == "ReduceProd"
        and kind != F
        and np.abs(np.prod(np.maximum(np.abs(b.values[x].astype(np.float64)), 1))) >= 2**31
    ):
        raise Unbuildable("what is beyond the type depends on ONNX Runtime's kernel")
    if as_input:
        noop = {"noop_with_empty_axes": 1} if b.chance(0.3) else {}
        given = b.pick([[b.ints(*axes)], [b.ints(*axes)], []])
        return b.node(op, [x] + given, exact=False, **keep, **noop)
    return b.node(op, [x], exact=False, **({"axes": axes} if axes else {}), **keep)


def opset_forms(b):
    """Operators whose meaning or form changed between operator sets."""
    b.opset = b.pick([9, 10, 11, 12, 13, 14, 17, 18, 19, 21])
    o = b.opset
    shape = [b.pick([1, 2]), b.pick([1, 3, 4]), b.pick([1, 2, 4]), b.pick([1, 3])]
    x = b.input(b.floats(shape))
    for _ in range(b.between(1, 4)):
        rank = len(b.shape(x))
        op = b.pick(
            [
                "Softmax",
                "LogSoftmax",
                "Hardmax",
                "Clip",
                "Dropout",
                "BatchNormalization",
                "Squeeze",
                "Unsqueeze",
                "Split",
                "Slice",
                "Pad",
                "Resize",
                "TopK",
                "Flatten",
                "Gemm",
                "Cast",
                "Expand",
                "PRelu",
                "Identity",
                "Gather",
                "Concat",
                "Trilu",
                "CumSum",
                "OneHot",
            ]
        )
        axis = b.between(-rank, rank - 1) if o >= 11 else b.between(0, rank - 1)
        if op in ("Softmax", "LogSoftmax", "Hardmax"):
            x = b.node(op, [x], exact=op == "Hardmax", **({"axis": axis} if b.chance(0.7) else {}))
        elif op == "Clip":
            if o < 11:
                x = b.node(op, [x], **b.pick([{"min": 0.0}, {"max": 1.0}, {}, {"min": 2.0, "max": -1.0}]))
            else:
                x = b.node(
                    op,
                    [x]
                    + b.pick([[], ["", b.constant(F(1))], [b.constant(F(0))], [b.constant(F(2)), b.constant(F(-1))]]),
                )
        elif op == "Dropout":
            if o < 12:
                y = b.node(op, [x], b.pick([1, 2]), ratio=0.3)
            else:
                extra = b.pick(
                    [
                        [],
                        [b.constant(F(0.9))],
                        [b.constant(F(0.5)), b.constant(np.bool_(False))],
                        ["", b.constant(np.bool_(False))],
                    ]
                )
                y = b.node(op, [x] + extra, b.pick([1, 2]))
            x = y[0] if isinstance(y, list) else y
        elif op == "BatchNormalization" and rank >= 2:
            c = b.shape(x)[1]
            numbers = [b.constant(np.abs(b.floats([c])) + F(0.1)) for _ in range(4)]
            x = b.node(op, [x] + numbers, exact=False, **b.pick([{}, {"epsilon": 0.1}, {"momentum": 0.5}]))
        elif op == "Squeeze":
            ones = [a for a, s in enumerate(b.shape(x)) if s == 1]
            if not ones or rank < 2:
                continue
            if o >= 13:
                x = b.node(op, [x] + b.pick([[], [b.ints(b.pick(ones))], [b.ints(b.pick(ones) - rank)]]))
            else:
                x = b.node(op, [x], **b.pick([{}, {"axes": [b.pick(ones)]}]))
            if not b.shape(x):
                return
        elif op == "Unsqueeze" and rank < 5:
            axes = (
                b.pick([[0], [rank], [0, rank + 1]]) if o < 11 else b.pick([[0], [-1], [rank], [-1, 0], [rank + 1, 0]])
            )
            x = b.node(op, [x, b.ints(*axes)]) if o >= 13 else b.node(op, [x], axes=axes)
        elif op == "Split":
            size = b.shape(x)[axis]
            if size < 2:
                continue
            if o >= 18:
                n = b.between(2, size)
                y = b.node(op, [x], -(-size // -(-size // n)) if False else n, axis=axis, num_outputs=n)
            elif o >= 13:
                y = b.node(op, [x, b.ints(1, size - 1)], 2, axis=axis)
            else:
                y = b.node(op, [x], 2, axis=axis, split=[1, size - 1])
            x = b.pick(y)
        elif op == "Slice":
            if o < 10:
                x = b.node(op, [x], starts=[b.pick([0, -1])], ends=[2**31 - 1], axes=[b.between(0, rank - 1)])
            else:
                x = b.node(op, [x, b.ints(-1), b.ints(b.pick([-(2**62), -9]))] + [b.ints(axis), b.ints(-1)])
        elif op == "Pad":
            pads = [b.pick([0, 0, 1]) for _ in range(2 * rank)]
            if o < 11:
                x = b.node(op, [x], pads=pads, **b.pick([{}, {"value": 1.5}, {"mode": "edge"}]))
            else:
                modes = ["constant", "edge", "reflect"] + (["wrap"] if o >= 19 else [])
                x = b.node(op, [x, b.ints(*pads)] + b.pick([[], [b.constant(F(2))]]), mode=b.pick(modes))
        elif op == "Resize" and rank == 4:
            x = resized(b, x)
        elif op == "TopK" and o >= 10:
            y = b.node(op, [x, b.ints(b.between(1, b.shape(x)[axis]))], 2, axis=axis)
            x = y[0]
        elif op == "Flatten":
            x = b.node(op, [x], axis=b.between(0 if o < 11 else -rank, rank))
        elif op == "Gemm" and rank == 2:
            k = b.shape(x)[1]
            x = b.node(
                op,
                [x, b.constant(b.floats([k, 3]))]
                + (
                    [b.constant(b.floats(b.pick([[3], [1], [], [1, 3]])))]
                    if o >= 11 and b.chance(0.5)
                    else [b.constant(b.floats([3]))]
                ),
                exact=False,
            )
        elif op == "Gather":
            size = b.shape(x)[axis]
            low = -size if o >= 11 else 0
            x = b.node(
                op, [x, b.constant(b.r.integers(low, size, b.pick([[], [1], [2, 1]])).astype(np.int64))], axis=axis
            )
            if not b.shape(x):
                return
        elif op == "CumSum" and o >= 11:
            x = b.node(
                op,
                [x, b.constant(np.asarray(axis, b.pick([np.int32, np.int64])))],
                exact=False,
                exclusive=b.pick([0, 1]),
                reverse=b.pick([0, 1]),
            )
        elif op == "Trilu" and o >= 14 and rank >= 2:
            x = b.node(op, [x] + b.pick([[], [b.constant(np.int64(-1))]]), upper=b.pick([0, 1]))
        elif op == "PRelu":
            x = b.node(op, [x, b.constant(b.floats(b.pick([[1], [b.shape(x)[-1]], [1] * rank])))])
        elif op == "Concat":
            x = b.node(op, [x, x], axis=axis)


def resized(b, x):
    o = b.opset
    scales = np.array([1, 1, b.pick([0.5, 1, 1.5, 2, 0.3]), b.pick([1, 2, 0.7])], F)
    if o < 10:
        return b.node(
            "Upsample",
            [x, b.constant(np.maximum(scales, 1).astype(F))],
            mode=b.pick(["nearest", "linear"]),
            exact=False,
        )
    mode = b.pick(["nearest", "linear"])
    if o < 11:
        return b.node("Resize", [x, b.constant(scales)], mode=mode, exact=False)
    extra = {
        "coordinate_transformation_mode": b.pick(["half_pixel", "asymmetric", "align_corners", "pytorch_half_pixel"])
    }
    if mode == "nearest":
        extra["nearest_mode"] = b.pick(["floor", "ceil", "round_prefer_floor", "round_prefer_ceil"])
    if o >= 18 and b.chance(0.5):
        extra["axes"] = b.pick([[2, 3], [-2, -1], [3, 2]])
        scales = scales[2:] if extra["axes"][0] != 3 else scales[:1:-1]
        if b.chance(0.4):
            extra["axes"] = [2, 3]  # ONNX Runtime ignores the policy for axes from the end
            extra["keep_aspect_ratio_policy"] = b.pick(["stretch", "not_larger", "not_smaller"])
            return b.node(
                "Resize", [x, "", "", b.ints(b.between(1, 5), b.between(1, 5))], mode=mode, exact=False, **extra
            )
    return b.node("Resize", [x, b.pick(["", ""]), b.constant(scales)], mode=mode, exact=False, **extra)


def broadcasts(b):
    """Scalars with rank, ones on every side, dimensions of size 1 that only one operand has; all types."""
    kind = b.pick([F, F, np.int32, np.int64, np.bool_, np.uint8, np.int8])
    full = [b.pick([1, 2, 3, 5]) for _ in range(b.between(0, 4))]

    def make():
        shape = [s if b.chance(0.6) else 1 for s in full][b.between(0, len(full)) if b.chance(0.4) else 0 :]
        shape = [1] * b.pick([0, 0, 0, 1, 2]) + shape
        if kind == np.bool_:
            return b.r.random(shape) < 0.5
        return (
            b.floats(shape, 0.2)
            if kind == F
            else b.bytes(kind, shape) if kind in BYTES else b.r.integers(-40, 40, shape).astype(kind)
        )

    pool = [b.input(make())]
    for _ in range(b.between(1, 6)):
        x, y = b.pick(pool), b.pick(pool) if b.chance(0.3) else (b.input if b.chance(0.5) else b.constant)(make())
        if kind == np.bool_:
            op = b.pick(["And", "Or", "Xor", "Not", "Equal", "Cast", "Where"])
            pool_like = op != "Cast"
        elif kind in BYTES:
            op = b.pick(
                ["Max", "Min", "Equal", "Where", "Less", "Cast", "Mod"]
                if kind == np.uint8
                else ["Max", "Min", "Where", "Cast"]
            )
            pool_like = op in ("Max", "Min", "Where")
        else:
            op = b.pick(
                [
                    "Add",
                    "Sub",
                    "Mul",
                    "Max",
                    "Min",
                    "Div",
                    "Where",
                    "Less",
                    "GreaterOrEqual",
                    "Equal",
                    "Pow",
                    "Mod",
                    "Mean",
                    "Sum",
                    "Cast",
                ]
            )
            pool_like = op in ("Add", "Sub", "Mul", "Max", "Min", "Div", "Where", "Pow", "Mean", "Sum")
        try:
            if op == "Not":
                z = b.node(op, [x])
            elif op == "Cast":
                z = b.node(
                    op, [x], to=b.pick([TensorProto.FLOAT, TensorProto.INT32, TensorProto.INT64, TensorProto.BOOL])
                )
            elif op == "Where":
                z = b.node(op, [b.input(b.r.random(b.pick([[], [1], [1, 1], b.shape(x)])) < 0.5), x, y])
            elif op in ("Sum", "Mean", "Max", "Min"):
                z = b.node(op, b.pick([[x, y], [x, y, x], [x], [y, x, y, x]]), exact=op in ("Max", "Min"))
            elif op == "Mod":
                z = b.node(op, [x, y], **({"fmod": 1} if kind == F or b.chance(0.3) else {}))
                pool_like = False
            elif op == "Div" and kind != F:
                z = b.node(op, [x, b.constant(np.asarray(b.pick([1, -1, 3, 7]), kind))])
            elif op == "Pow":
                z = b.node(op, [x, b.constant(np.asarray(b.pick([0, 1, 2, 3]), kind))], exact=False)
            else:
                z = b.node(op, [x, y])
        except Unbuildable:
            continue
        if pool_like:
            pool.append(z)


def empties(b):
    """Tensors without elements, and shapes of ones."""
    b.opset = b.pick([13, 17, 18, 19])
    shape = [b.pick([0, 1, 2, 3]) for _ in range(b.between(1, 3))]
    kind = b.pick([F, F, np.uint8, np.int64])
    b.empty = True
    x = b.input(b.floats(shape) if kind == F else b.r.integers(0, 9, shape).astype(kind))
    full = b.input(b.floats([2, 3]) if kind == F else b.r.integers(0, 9, [2, 3]).astype(kind))
    pool = [x, full]
    for _ in range(b.between(1, 5)):
        y = b.pick(pool)
        rank = len(b.shape(y))
        op = b.pick(
            [
                "Concat",
                "Slice",
                "Reduce",
                "MatMul",
                "Reshape",
                "Expand",
                "Gather",
                "Transpose",
                "Pad",
                "Add",
                "Where",
                "Tile",
                "Shape",
                "Cast",
                "Unsqueeze",
                "Split",
                "NonZero",
                "Identity",
            ]
        )
        axis = b.between(-rank, rank - 1) if rank else 0
        try:
            if op == "Concat":
                z = b.node(op, b.pick([[y, y], [y], [y, b.pick(pool)]]), axis=axis)
            elif op == "Slice":
                z = b.node(op, [y, b.ints(b.pick([0, 1, 2])), b.ints(b.pick([0, 1, 9])), b.ints(axis)])
            elif op == "Reduce":
                z = b.node("ReduceSum", [y] + b.pick([[b.ints(axis)], []]), exact=False, keepdims=b.pick([0, 1]))
            elif op == "MatMul":
                z = b.node(op, [y, b.constant(np.zeros([b.shape(y)[-1], b.pick([0, 2])], kind))], exact=False)
            elif op == "Reshape":
                z = b.node(op, [y, b.ints(*b.pick([[-1], [0, -1], [1, -1]]))])
            elif op == "Expand":
                z = b.node(op, [y, b.ints(*b.pick([[0], [1], [2, 1]]))])
            elif op == "Gather":
                z = b.node(op, [y, b.constant(np.zeros(b.pick([[0], [1], [0, 2]]), np.int64))], axis=axis)
            elif op == "Pad":
                z = b.node(op, [y, b.ints(*[b.pick([0, 1]) for _ in range(2 * rank)])])
            elif op == "Add":
                z = b.node(op, [y, b.pick(pool + [b.constant(np.ones([1], kind))])])
            elif op == "Where":
                z = b.node(op, [b.input(np.ones(b.shape(y), np.bool_)), y, y])
            elif op == "Tile":
                z = b.node(op, [y, b.ints(*[b.pick([0, 1, 2]) for _ in range(rank)])])
            elif op == "Cast":
                z = b.node(op, [y], to=b.pick([TensorProto.INT32, TensorProto.FLOAT]))
                continue
            elif op == "Unsqueeze":
                z = b.node(op, [y, b.ints(0)])
            elif op == "Split":
                z = b.pick(b.node(op, [y, b.ints(0, b.shape(y)[axis])], 2, axis=axis))
            elif op in ("Shape", "NonZero"):
                b.node(op, [y])
                continue
            else:
                z = b.node(op, [y])
            pool.append(z)
        except (Unbuildable, IndexError):
            continue


FAMILIES = {
    "reduced": (reduced, 3),
    "opset_forms": (opset_forms, 5),
    "broadcasts": (broadcasts, 4),
    "empties": (empties, 3),
}
