"""Families that walk along the conditions of the passes for sums, tables, channels, branches, attention and words of 16 bits."""

import numpy as np
from onnx import TensorProto

from bodies import Body
from borders import F, OPSETS, extra_reader, maybe_output, near, params, range_ends
from builder import BYTES, MS, Unbuildable
from sequences import port


def qconv(b, x, x_params, out, y_params, group=1, k=3, kind=None, dead=0.3):
    channels = b.shape(x)[1]
    w = b.bytes(np.int8, [out, channels // group, k, k], b.pick(["full", "narrow", "trained"]))
    if b.chance(dead):  # outputs that are one value, inputs that nothing reads
        w[: max(1, out // 2)] = 0
    if b.chance(dead) and group == 1:
        w[:, : max(1, channels // 2)] = 0
    bias = b.r.integers(-3000, 3000, out).astype(np.int32)
    if b.chance(0.3):
        bias[: max(1, out // 3)] = b.pick([2**30, -(2**30)])
    names = (
        [x]
        + x_params
        + [b.constant(w)]
        + params(b, np.int8, 0.01, 0)
        + y_params
        + ([b.constant(bias)] if b.chance(0.7) else [])
    )
    return b.node("QLinearConv", names, group=group, pads=[k // 2] * 4)


def sums(b):
    """QLinearConv and QLinearAdd whose quantizations are equal, or almost, and who reads what."""
    kind = b.pick(BYTES)
    channels = b.pick([1, 4, 8, 9, 16])
    shape = [b.pick([1, 1, 2]), channels, b.between(2, 6), b.between(2, 6)]
    ps = [params(b, kind) for _ in range(4)]
    x = b.input(b.bytes(kind, shape))
    pool = [(x, ps[0])]
    for _ in range(b.between(2, 7)):
        step = b.pick(["conv", "conv", "depthwise", "add", "add", "mul", "pool", "table", "limit"])
        y, q = pool[-1] if b.chance(0.7) else b.pick(pool)
        to = b.pick(ps)
        c = b.shape(y)[1]
        if step == "conv":
            pool.append((qconv(b, y, q, channels, to, k=b.pick([1, 3])), to))
        elif step == "depthwise" and c > 1:
            pool.append((qconv(b, y, q, c, to, group=c), to))
        elif step in ("add", "mul"):
            z, r = b.pick(pool)
            said = [q, q, q, [b.constant(near(b, b.values[q[0]])), q[1]], b.pick(ps)]
            if b.chance(0.15):
                z, r = b.constant(b.bytes(kind, b.pick([[1], [channels, 1, 1], shape, [1, 1, 1, 1]]))), b.pick(ps)
            pair = [[y] + b.pick(said), [z] + r]
            pair = pair if b.chance(0.5) else pair[::-1]
            try:
                pool.append((b.node("QLinear" + step.capitalize(), pair[0] + pair[1] + to, domain=MS), to))
            except Unbuildable:
                continue
        elif step == "pool":
            pool.append((b.node("MaxPool", [y], kernel_shape=[3, 3], pads=[1, 1, 1, 1]), q))
        elif step == "table":
            pool.append((b.node(b.pick(["QLinearLeakyRelu", "QLinearSigmoid"]), [y] + q + to, domain=MS), to))
        elif step == "limit":
            info = np.iinfo(kind)
            low, high = sorted([b.between(info.min, info.max), b.pick([info.max, b.between(info.min, info.max)])])
            pool.append((b.node("Clip", [y, b.constant(kind(low)), b.constant(kind(high))]), q))
        maybe_output(b, pool[-1][0], 0.1)
    if b.chance(0.5):
        y, q = pool[-1]
        qconv(b, y, q, b.pick([1, 4]), b.pick(ps), k=1)


def tables(b):
    """Functions of one 8-bit tensor by several ways, and what only looks like one."""
    b.opset = b.pick(OPSETS[2:])
    b.qdq = True
    kind = b.pick(BYTES)
    shape = [b.pick([1, 2, 5]) for _ in range(b.between(1, 3))]
    x = b.input(b.bytes(kind, shape))
    names = params(b, kind)
    pool = [x]
    floats = [b.node("DequantizeLinear", [x] + names)]
    for _ in range(b.between(1, 7)):
        step = b.pick(["float", "float", "binary", "cast", "bytes", "where", "quant", "constant", "shift"])
        f = b.pick(floats)
        if step == "float":
            op = b.pick(["Relu", "Neg", "Abs", "Floor", "Sign", "HardSigmoid", "Sqrt", "Reciprocal"])
            floats.append(b.node(op, [f]))
        elif step == "binary":
            op = b.pick(["Add", "Mul", "Sub", "Max", "Min", "Div"])
            floats.append(b.node(op, [f, b.pick(floats)]))
        elif step == "constant":
            rank = b.pick([0, 1, len(shape), len(shape) + 1])
            c = F(b.pick([0, 1, -1, 0.5, np.inf, 1e-40]))
            other = b.constant(np.full([1] * rank, c, F)) if b.chance(0.8) else b.constant(b.floats(b.shape(f)))
            floats.append(b.node(b.pick(["Add", "Mul", "Div", "Max"]), b.pick([[f, other], [other, f]])))
        elif step == "cast":
            to = b.pick([TensorProto.UINT8, TensorProto.INT8, TensorProto.INT32, TensorProto.FLOAT])
            y = b.node("Cast", [b.pick(pool)], to=to)
            (floats if to == TensorProto.FLOAT else pool).append(y)
        elif step == "where":
            c = b.node(b.pick(["Less", "Greater", "Equal"]), [f, b.pick(floats + [b.constant(F(0.25))])])
            floats.append(b.node("Where", [c, b.pick(floats), b.pick(floats)]))
        elif step == "quant":
            q = params(b, b.pick(BYTES))
            pool.append(b.node("QuantizeLinear", [f] + q))
            if b.chance(0.7):
                floats.append(b.node("DequantizeLinear", [pool[-1]] + q))
        elif step == "bytes":
            y = b.pick(pool)
            t = b.dtype(y).type
            other = b.pick(
                [z for z in pool if b.dtype(z) == b.dtype(y)]
                + [b.constant(np.asarray(t(7))), b.constant(np.full([1, 1], t(3)))]
            )
            pool.append(b.node(b.pick(["Max", "Min"]), b.pick([[y, other], [other, y], [y, other, y]])))
        elif step == "shift" and b.chance(0.5):
            y = next((z for z in pool if b.dtype(z) == np.uint8), None)
            if y:
                pool.append(
                    b.node("BitShift", [y, b.constant(np.uint8(b.between(0, 9)))], direction=b.pick(["LEFT", "RIGHT"]))
                )
        if b.chance(0.1):
            maybe_output(b, b.pick(pool[1:] or floats), 1)
    b.node("QuantizeLinear", [floats[-1]] + params(b, b.pick(BYTES)))


def captured(b):
    """A pattern with a part inside of an If or a Loop and a part outside."""
    b.qdq = True
    kind = b.pick(BYTES)
    c = b.pick([1, 4, 9])
    shape = [1, c, 4, 3]
    names, other = params(b, kind), params(b, kind)
    x = b.input(b.bytes(kind, shape))
    start = x
    what = b.pick(["conv", "conv", "quantize", "pad", "table", "pair"])
    if what == "conv":
        start = qconv(b, x, names, c, other)
    elif what == "quantize":
        start = b.node("QuantizeLinear", [b.node("Mul", [b.input(b.floats(shape)), b.constant(F(0.3))])] + other)
    elif what == "pad":
        start = b.node("Pad", [x, b.ints(*[0, 0, 1, 1] * 2), b.constant(kind(b.values[other[1]]))])
    elif what == "table":
        start = b.node("QuantizeLinear", [b.node("Neg", [b.node("DequantizeLinear", [x] + names)])] + other)
    else:
        start = b.node("QuantizeLinear", [b.node("DequantizeLinear", [x] + other)] + other)
    maybe_output(b, start, 0.15)
    extra_reader(b, start, 0.15)
    shape = b.shape(start)

    def part(inner):
        for n in [start, x] + names + other:
            inner.values[n] = b.values[n]
        step = b.pick(["add", "conv", "relabel", "move", "dq", "pair", "clip"])
        z = start
        if step == "add":
            z = inner.node(
                "QLinearAdd",
                [start] + other + ([x] + names if shape == b.shape(x) else [start] + other) + other,
                domain=MS,
            )
        elif step == "conv":
            z = qconv(inner, start, other, c, other, k=b.pick([1, 3]))
        elif step == "relabel":
            z = inner.node("Reshape", [inner.node("Reshape", [start, inner.ints(1, -1)]), inner.ints(*shape)])
        elif step == "move":
            z = inner.node("Transpose", [inner.node("Transpose", [start], perm=[0, 3, 1, 2])], perm=[0, 2, 3, 1])
        elif step == "dq":
            z = inner.node(
                "QuantizeLinear", [inner.node("Relu", [inner.node("DequantizeLinear", [start] + other)])] + other
            )
        elif step == "pair":
            z = inner.node("QuantizeLinear", [inner.node("DequantizeLinear", [start] + other)] + other)
        else:
            z = inner.node("Clip", [start, inner.constant(kind(3)), inner.constant(kind(90))])
        return z

    if b.chance(0.6):
        bodies = []
        for _ in range(2):
            body = Body(b, "qoperator")
            z = part(body.b)
            bodies.append(body.close("side", [], [port(z, kind, shape)]))
        y = b.node("If", [b.input(np.bool_(b.chance(0.5)))], then_branch=bodies[0], else_branch=bodies[1])
    else:
        body = Body(b, "qoperator")
        p = b.name("l")
        inner = body.b
        z = part(inner)
        state = f"{p}s"
        inner.values[state] = b.values[start]
        kept = inner.node("QLinearAdd", [z] + other + [state] + other + other, domain=MS)
        go = inner.node("Identity", [inner.constant(np.bool_(True))])
        graph = body.close(
            "body",
            [port(f"{p}i", np.int64, []), port(f"{p}c", np.bool_, []), port(state, kind, shape)],
            [port(go, np.bool_, []), port(kept, kind, shape)],
        )
        first = b.pick([start, x if b.shape(x) == shape else start, b.input(b.bytes(kind, shape))])
        y = b.node("Loop", [b.constant(np.int64(b.pick([0, 1, 3]))), b.constant(np.bool_(True)), first], body=graph)
    end = b.pick(["conv", "dq", "add", "none"])
    if end == "conv":
        qconv(b, y, other, c, names, k=1)
    elif end == "dq":
        b.node("QuantizeLinear", [b.node("DequantizeLinear", [y] + other)] + other)
    elif end == "add":
        b.node("QLinearAdd", [y] + other + [start] + other + names, domain=MS)
    else:
        b.node("Identity", [y])


def attentions(b):
    """MatMul, Softmax, MatMul in floats, with one thing that is not as it has to be."""
    lead = b.pick([[], [1], [2], [1, 2], [2, 3]])
    m, k, n, d = b.pick([1, 2, 5]), b.pick([1, 4, 8]), b.pick([1, 3, 8, 17]), b.pick([1, 4, 9])
    q, key, v = b.input(b.floats(lead + [m, k])), b.input(b.floats(lead + [k, n])), b.input(b.floats(lead + [n, d]))
    if b.chance(0.1) and k == n == m:
        key = q
    y = b.node("MatMul", [q, key], exact=False)
    extra_reader(b, maybe_output(b, y, 0.1), 0.1)
    for _ in range(b.between(0, 4)):
        other = b.constant(b.floats(b.pick([[], [1], [n], [m, n], [m, 1], [1] * (len(lead) + 2), lead + [m, n]])))
        op = b.pick(["Mul", "Add", "Div", "Where", "Relu", "Clip"])
        if op == "Where":
            y = b.node(op, [b.input(b.r.random([m, n]) < 0.7), y, b.constant(F(b.pick([-1e9, -np.inf, 0])))])
        elif op == "Relu":
            y = b.node(op, [y])
        elif op == "Clip":
            y = b.node(op, [y, b.constant(F(-1)), b.constant(F(1))])
        else:
            y = b.node(op, b.pick([[y, other], [other, y]]))
    axis = b.pick([-1, -1, -1, len(lead) + 1, -2])
    y = b.node("Softmax", [y], exact=False, axis=axis)
    extra_reader(b, maybe_output(b, y, 0.1), 0.1)
    b.node("MatMul", [y, v], exact=False)


def word_pairs(b):
    """16 bits: pairs, joins of other scales, limits on the ends, functions, both types, com.microsoft's operators."""
    b.opset = 21
    b.qdq = True
    kind = b.pick([np.int16, np.uint16])
    shape = [1, b.pick([1, 3, 8]), b.pick([1, 2, 5])]
    info = np.iinfo(kind)

    def q(scale=None, t=kind):
        zero = 0 if t == np.int16 and b.chance(0.6) else int(b.r.integers(np.iinfo(t).min, np.iinfo(t).max))
        return [b.constant(F(scale or b.pick([2.0**-12, 1e-4, 3e-4, 1e-30, 1e3]))), b.constant(t(zero))]

    names = q()
    x = b.node(
        "DequantizeLinear", [b.input(b.r.integers(info.min, info.max, shape, endpoint=True).astype(kind))] + names
    )
    for _ in range(b.between(1, 4)):
        step = b.pick(["pair", "pair", "concat", "limit", "function", "add", "other", "bytes", "mul", "move"])
        if step == "pair":
            others = b.pick([names, [b.constant(near(b, b.values[names[0]])), names[1]], q()])
            y = maybe_output(b, b.node("QuantizeLinear", [x] + others), 0.2)
            x = b.node("DequantizeLinear", [y] + others)
            names = others
        elif step == "concat":
            other = b.node(
                "DequantizeLinear",
                [b.input(b.r.integers(info.min, info.max, b.shape(x)).astype(kind))] + b.pick([names, q()]),
            )
            x = b.node("Concat", b.pick([[x, other], [other, x], [x, x, other]]), axis=b.between(-3, 2))
        elif step == "limit":
            low, high = sorted(range_ends(names, b))
            limits = b.pick([[near(b, low), near(b, high)], [F(0), F(0.1)], [F(0.1), F(0)], [F(-np.inf), F(0.05)]])
            x = b.node("Clip", [x] + [b.constant(v) for v in limits]) if b.chance(0.6) else b.node("Relu", [x])
        elif step == "function":
            op = b.pick(["Abs", "Neg", "HardSigmoid", "Sqrt", "LeakyRelu", "Tanh", "Sigmoid"])
            x = b.node(op, [x], exact=op not in ("Tanh", "Sigmoid"))
        elif step in ("add", "mul"):
            other = b.pick(
                [
                    x,
                    b.constant(F(0.3)),
                    b.node(
                        "DequantizeLinear",
                        [b.input(b.r.integers(info.min, info.max, b.pick([b.shape(x), [1, 1, 1]])).astype(kind))] + q(),
                    ),
                ]
            )
            x = b.node(step.capitalize(), b.pick([[x, other], [other, x]]))
        elif step == "other":
            t = np.uint16 if kind == np.int16 else np.int16
            others = q(t=t)
            x = b.node("DequantizeLinear", [b.node("QuantizeLinear", [x] + others)] + others)
        elif step == "bytes":
            others = params(b, b.pick(BYTES))
            x = b.node("DequantizeLinear", [b.node("QuantizeLinear", [x] + others)] + others)
        else:
            x = b.node("Transpose", [x], perm=[0, 2, 1])
        maybe_output(b, x, 0.1)
    b.node("QuantizeLinear", [x] + b.pick([names, q()]))


FAMILIES = {
    "sums": (sums, 7),
    "tables": (tables, 6),
    "captured": (captured, 5),
    "word_pairs": (word_pairs, 5),
    "attentions": (attentions, 3),
}
