"""Families with time or attention in them: transformers' blocks, recurrent layers, Loop, Scan and If, reductions."""

import numpy as np
from onnx import TensorProto, helper

from builder import BYTES, Unbuildable
from quantized import Layers, Q


def attention(b):
    form = b.pick(["qoperator", "qdq", "dynamic", "float"])
    layers = Layers(b, form)
    batch, length, heads, depth = (
        b.pick([1, 1, 2]),
        b.pick([1, 3, 7, 8, 17]),
        b.pick([1, 2, 3]),
        b.pick([1, 4, 7, 8, 9]),
    )
    x = layers.start([batch, length, heads * depth])
    parts = [heads_of(b, layers, layers.dense(x, heads * depth), batch, length, heads, depth) for _ in range(3)]
    q, k, v = parts
    turned = layers.move("Transpose", k, perm=[0, 1, 3, 2])
    scores = run_time_product(b, layers, q, turned)
    shrink = Q(b.constant(np.float32(1 / np.sqrt(depth))))
    if form in ("float", "dynamic"):
        scores = Q(b.node("Mul", [scores.name, shrink.name]))
        if b.chance(0.4):
            mask = np.triu(np.full([length, length], -1e9, np.float32), 1)
            scores = Q(b.node("Add", [scores.name, b.constant(mask)]))
    weights = layers.through_floats("Softmax", [scores], exact=False, axis=-1)
    y = run_time_product(b, layers, weights, v)
    y = layers.move("Transpose", y, perm=[0, 2, 1, 3])
    y = layers.move("Reshape", y, [b.ints(batch, length, heads * depth)])
    y = layers.binary("Add", layers.dense(y, heads * depth), x)
    if b.chance(0.4) and b.opset >= 17:
        norm = [b.constant(b.floats([heads * depth])), b.constant(b.floats([heads * depth]))]
        layers.through_floats("LayerNormalization", [y], norm, exact=False, axis=-1)


def heads_of(b, layers, x, batch, length, heads, depth):
    y = layers.move("Reshape", x, [b.ints(batch, length, heads, depth)])
    return layers.move("Transpose", y, perm=[0, 2, 1, 3])


def run_time_product(b, layers, x, y):
    if layers.form == "dynamic":
        q, s, z = b.node("DynamicQuantizeLinear", [x.name], 3)
        w, t, u = b.node("DynamicQuantizeLinear", [y.name], 3)
        sums = b.node("Cast", [b.node("MatMulInteger", [q, w, z, u])], to=TensorProto.FLOAT)
        return Q(b.node("Mul", [sums, b.node("Mul", [s, t])]))
    if layers.form == "qoperator":
        exact = (layers.dequantized(x) @ layers.dequantized(y)).astype(np.float32)
        q = Q("", *layers.fitting(exact))
        return Q(b.node("QLinearMatMul", layers.all_of(x) + layers.all_of(y) + layers.parameters(q)), q.scale, q.zero)
    return layers.through_floats("MatMul", [x, y], exact=False)


def recurrent(b):
    op, gates = b.pick([("LSTM", 4), ("GRU", 3), ("RNN", 1)])
    direction = b.pick(["forward", "reverse", "bidirectional"])
    directions = 2 if direction == "bidirectional" else 1
    length, batch, inputs, hidden = (
        b.pick([1, 2, 5, 9]),
        b.pick([1, 1, 2, 3]),
        b.pick([1, 3, 7, 8, 9]),
        b.pick([1, 2, 7, 8, 9, 17]),
    )
    x = b.input(b.floats([length, batch, inputs]))
    quantized = b.chance(0.4)
    names = [x] + [weights_of(b, [directions, gates * hidden, n], quantized) for n in (inputs, hidden)]
    names.append(b.constant(b.floats([directions, 2 * gates * hidden])) if b.chance(0.6) else "")
    lengths = b.chance(0.25)
    names.append(b.input(b.r.integers(1, length + 1, batch).astype(np.int32)) if lengths else "")
    states = 2 if op == "LSTM" else 1
    if b.chance(0.5):
        names += [
            (b.input if b.chance(0.7) else b.constant)(b.floats([directions, batch, hidden])) for _ in range(states)
        ]
    while names[-1] == "":
        names.pop()
    extra = {"linear_before_reset": b.pick([0, 1])} if op == "GRU" else {}
    if b.chance(0.2):
        extra["clip"] = 0.7
    ys = b.node(op, names, 1 + states, exact=False, hidden_size=hidden, direction=direction, **extra)
    if b.chance(0.5):
        y = b.node("Transpose", [ys[0]], perm=[0, 2, 1, 3])
        b.node("Reshape", [y, b.ints(length, batch, -1)])


def weights_of(b, shape, quantized):
    if not quantized:
        return b.constant(b.floats(shape) * np.float32(0.3))
    w, s = b.bytes(np.int8, shape), np.float32(0.005)
    return b.node("DequantizeLinear", [b.constant(w), b.constant(s), b.constant(np.int8(0))])


def body_nodes(b, x, prefix, ops):
    """Some operators on x within a body; the names of nodes and the last tensor."""
    nodes, current = [], x
    for i in range(b.between(1, 3)):
        op = b.pick(ops)
        name = f"{prefix}{i}"
        other = b.constant(b.floats([1]))
        inputs = [current] if op in ("Relu", "Neg", "Abs") else [current, other]
        nodes.append(helper.make_node(op, inputs, [name]))
        current = name
    return nodes, current


def port(name, dtype, shape):
    return helper.make_tensor_value_info(name, helper.np_dtype_to_tensor_dtype(np.dtype(dtype)), shape)


SIMPLE = ["Add", "Sub", "Mul", "Max", "Min", "Relu", "Neg", "Abs"]


def scan(b):
    """States and slices, forwards and backwards."""
    length, shape = b.pick([1, 2, 5, 8]), [b.pick([1, 3, 8, 9])]
    p = b.name("b")
    state, xs = b.input(b.floats(shape)), b.input(b.floats([length] + shape))
    nodes, y = body_nodes(b, f"{p}x", f"{p}n", SIMPLE)
    nodes.append(helper.make_node(b.pick(["Add", "Max", "Sub"]), [f"{p}s", y], [f"{p}t"]))
    nodes.append(helper.make_node("Identity", [f"{p}t"], [f"{p}o"]))
    body = helper.make_graph(
        nodes,
        "body",
        [port(f"{p}s", np.float32, shape), port(f"{p}x", np.float32, shape)],
        [port(f"{p}t", np.float32, shape), port(f"{p}o", np.float32, shape)],
    )
    extra = (
        {"scan_input_directions": [b.pick([0, 1])], "scan_output_directions": [b.pick([0, 1])]} if b.chance(0.5) else {}
    )
    out = b.node("Scan", [state, xs], 2, body=body, num_scan_inputs=1, **extra)
    b.node("Mul", [out[1], b.constant(b.floats([1]))])


def loop(b):
    trips, shape = b.pick([1, 2, 5]), [b.pick([1, 3, 8]), b.pick([1, 4, 9])]
    p = b.name("b")
    state = b.input(b.floats(shape))
    nodes, y = body_nodes(b, f"{p}s", f"{p}n", SIMPLE)
    nodes.append(helper.make_node("Identity", [f"{p}c"], [f"{p}d"]))
    nodes.append(helper.make_node("Identity", [y], [f"{p}o"]))
    body = helper.make_graph(
        nodes,
        "body",
        [port(f"{p}i", np.int64, []), port(f"{p}c", np.bool_, []), port(f"{p}s", np.float32, shape)],
        [port(f"{p}d", np.bool_, []), port(y, np.float32, shape), port(f"{p}o", np.float32, shape)],
    )
    out = b.node("Loop", [b.constant(np.int64(trips)), b.constant(np.bool_(True)), state], 2, body=body)
    b.node("Relu", [out[0]])


def branch(b):
    shape = [b.pick([1, 3, 8]), b.pick([1, 4, 9])]
    p = b.name("b")
    x = b.input(b.floats(shape))
    condition = b.input(np.bool_(b.chance(0.5)))
    bodies = []
    for side in "te":
        nodes, y = body_nodes(b, x, f"{p}{side}", SIMPLE)
        bodies.append(helper.make_graph(nodes, side, [], [port(y, np.float32, shape)]))
    y = b.node("If", [condition], then_branch=bodies[0], else_branch=bodies[1])
    s, z = b.constant(np.float32(0.05)), b.constant(np.uint8(128))
    b.node("QuantizeLinear", [y, s, z])


def reductions(b):
    shape = [b.pick([1, 2, 3, 7, 8, 9, 17]) for _ in range(b.between(1, 4))]
    x = b.input(b.floats(shape))
    if b.chance(0.4):
        dtype = b.pick(BYTES)
        x = b.node(
            "DequantizeLinear",
            [b.input(b.bytes(dtype, shape)), b.constant(np.float32(0.03)), b.constant(b.zero_point(dtype))],
        )
    for _ in range(b.between(1, 3)):
        op = b.pick(
            [
                "Softmax",
                "LogSoftmax",
                "ReduceMax",
                "ReduceMin",
                "ReduceSum",
                "ReduceMean",
                "ArgMax",
                "ArgMin",
                "CumSum",
                "TopK",
                "Exp",
                "Erf",
                "Tanh",
                "Sigmoid",
                "Softplus",
                "GlobalAveragePool",
                "InstanceNormalization",
            ]
        )
        reduce_one(b, op, x, b.shape(x))


def reduce_one(b, op, x, shape):
    axis = b.between(-len(shape), len(shape) - 1) if shape else 0
    keep = b.pick([0, 1])
    if op in ("Softmax", "LogSoftmax"):
        return b.node(op, [x], exact=False, axis=axis)
    if op == "ReduceSum":
        return b.node(op, [x, b.ints(axis)], exact=False, keepdims=keep)
    if op.startswith("Reduce"):
        exact = op != "ReduceMean"
        if b.opset >= 18:
            return b.node(op, [x, b.ints(axis)], exact=exact, keepdims=keep)
        return b.node(op, [x], exact=exact, keepdims=keep, axes=[axis])
    if op.startswith("Arg"):
        return b.node(op, [x], axis=axis, keepdims=keep, select_last_index=b.pick([0, 1]))
    if op == "CumSum":
        return b.node(
            op, [x, b.constant(np.int64(axis))], exact=False, exclusive=b.pick([0, 1]), reverse=b.pick([0, 1])
        )
    if op == "TopK":
        return b.node(op, [x, b.ints(b.between(1, shape[axis]))], 2, axis=axis, largest=b.pick([0, 1]))
    if op == "InstanceNormalization":
        if len(shape) < 3:
            raise Unbuildable("rank")
        return b.node(op, [x, b.constant(b.floats([shape[1]])), b.constant(b.floats([shape[1]]))], exact=False)
    if op == "GlobalAveragePool" and len(shape) < 3:
        raise Unbuildable("rank")
    return b.node(op, [x], exact=False)


def streaming(b):
    """A convolution over the last frames, which a state keeps."""
    layers = Layers(b, b.pick(["qoperator", "qdq"]))
    channels, k = b.pick([1, 3, 7, 8, 9]), b.pick([2, 3, 5])
    x = layers.start([1, channels, 1])
    kept = Q(b.input(b.bytes(layers.dtype, [1, channels, k - 1])), x.scale, x.zero)
    joined = Q(b.node("Concat", [kept.name, x.name], axis=2), x.scale, x.zero)
    group = b.pick([1, channels])
    layers.conv(
        joined,
        channels * b.pick([1, 2]),
        group=group,
        geometry={"kernel_shape": [k], "strides": [1], "dilations": [1], "pads": [0, 0]},
    )
    state = b.node("Slice", [joined.name, b.ints(1), b.ints(k), b.ints(2)])
    b.outputs.append(state)
    b.states.append((state, kept.name))


FAMILIES = {
    "attention": (attention, 6),
    "recurrent": (recurrent, 4),
    "scan": (scan, 2),
    "loop": (loop, 2),
    "branch": (branch, 2),
    "reductions": (reductions, 4),
    "streaming": (streaming, 3),
}
