"""Families with bodies of several kinds: quantized layers in Loop, Scan and If, nested, with tensors of outside; and the
fused functions of transformers."""

import numpy as np
from onnx import helper, numpy_helper

from builder import MS, Builder
from quantized import Layers, Q
from sequences import port


class Body:
    """Nodes in a graph of their own, computed on examples so that shapes and scales are known."""

    def __init__(self, b, kind):
        self.outer, self.b = b, Builder(b.r, b.opset)
        self.b.count = b.count + 1000 * b.between(1, 900)  # names of their own
        self.layers = Layers(self.b, kind)

    def close(self, name, inputs, outputs, extra=()):
        """Constants go outside or stay within, as the dice fall."""
        b, outer = self.b, self.outer
        within = []
        for each, value in b.constants.items():
            if outer.chance(0.5):
                outer.constants[each] = outer.values[each] = value
            else:
                within.append(numpy_helper.from_array(value, each))
        if b.domains:
            outer.domains.update(b.domains)
        outer.exact = outer.exact and b.exact
        outer.qdq = outer.qdq or b.qdq
        return helper.make_graph(list(extra) + b.nodes, name, inputs, outputs, within)


def quantized_step(body, shape):
    """A state of bytes and one more of the same parameters."""
    b, layers = body.b, body.layers
    q = Q(b.input(b.bytes(layers.dtype, shape)), np.float32(0.05), b.zero_point(layers.dtype))
    other = Q(b.input(b.bytes(layers.dtype, shape)), np.float32(0.03), b.zero_point(layers.dtype))
    kind = b.pick(["conv", "add", "float"])
    if kind == "conv":
        y = layers.conv(q, shape[1], same=True)
        y = layers.binary("Add", y, other)
    elif kind == "add":
        y = layers.binary(b.pick(["Add", "Mul"]), q, other)
    else:
        f = b.node("Add", [layers.real(q), layers.real(other)])
        y = layers.quantized(b.node(b.pick(["Relu", "Neg", "Abs"]), [f]))
    kept = b.node("QuantizeLinear", [layers.real(y)] + layers.parameters(q))
    return q.name, other.name, kept, y.name


def quantized_scan(b):
    shape = [1, b.pick([1, 3, 8, 9])] + [b.pick([2, 5, 9]) for _ in range(b.pick([1, 2]))]
    length = b.pick([1, 2, 5])
    body = Body(b, "qoperator")
    state, x, kept, y = quantized_step(body, shape)
    dtype = body.layers.dtype
    out_dtype = body.b.dtype(y)
    graph = body.close(
        "body",
        [port(state, dtype, shape), port(x, dtype, shape)],
        [port(kept, dtype, shape), port(y, out_dtype, shape)],
    )
    extra = {"scan_input_directions": [b.pick([0, 1])]} if b.chance(0.5) else {}
    first = b.input(b.bytes(dtype, shape)) if b.chance(0.7) else b.constant(b.bytes(dtype, shape))
    b.node("Scan", [first, b.input(b.bytes(dtype, [length] + shape))], 2, body=graph, num_scan_inputs=1, **extra)


def quantized_loop(b):
    """Until a condition that is computed, at most some trips; no slices then."""
    shape = [1, b.pick([1, 3, 8, 9]), b.pick([2, 5, 9])]
    body = Body(b, "qoperator")
    state, outside, kept, _ = quantized_step(body, shape)
    dtype = body.layers.dtype
    p = b.name("l")
    b.values[outside] = b.inputs[outside] = body.b.inputs.pop(outside)
    inner = body.b
    largest = inner.node("ReduceMax", [inner.node("Cast", [kept], to=6)], keepdims=0)
    limit = inner.constant(np.int32(b.between(-20, 120)))
    condition = inner.node("Less", [largest, limit])
    graph = body.close(
        "body",
        [port(f"{p}i", np.int64, []), port(f"{p}c", np.bool_, []), port(state, dtype, shape)],
        [port(condition, np.bool_, []), port(kept, dtype, shape)],
    )
    trips, go = b.constant(np.int64(b.pick([0, 1, 3, 6]))), b.constant(np.bool_(True))
    place = b.input if b.chance(0.4) else b.constant
    y = b.node(
        "Loop",
        [trips, place(np.bool_(b.chance(0.9))) if b.chance(0.3) else go, b.input(b.bytes(dtype, shape))],
        body=graph,
    )
    b.node("Identity", [y])


def quantized_branch(b):
    shape = [1, b.pick([1, 3, 8, 9]), b.pick([2, 5, 9])]
    layers = Layers(b, "qoperator")
    x = layers.start(shape)
    condition = b.input(np.bool_(b.chance(0.5)))
    if b.chance(0.5):
        small = b.node("ReduceMax", [b.node("Cast", [x.name], to=6)], keepdims=0)
        condition = b.node("Greater", [small, b.constant(np.int32(60))])
    bodies = []
    for _ in range(2):
        body = Body(b, "qoperator")
        body.layers.dtype = layers.dtype
        body.b.values[x.name] = b.values[x.name]
        y = body.layers.conv(x, shape[1], same=True) if b.chance(0.6) else body.layers.binary("Add", x, x)
        if b.chance(0.3):
            y = Q(x.name) if b.chance(0.3) else y
        if y.name == x.name:
            y = Q(body.b.node("Identity", [x.name]))
        bodies.append(body.close("side", [], [port(y.name, layers.dtype, shape)]))
    y = b.node("If", [condition], then_branch=bodies[0], else_branch=bodies[1])
    layers.conv(Q(y, np.float32(0.05), b.zero_point(layers.dtype)), b.pick([1, 4, 9]), plain=True)


def fused_attention(b):
    batch, length, heads, depth = b.pick([1, 2]), b.pick([1, 3, 8]), b.pick([1, 2, 4]), b.pick([4, 8, 16])
    hidden = heads * depth
    x = b.input(b.floats([batch, length, hidden]))
    op = b.pick(
        [
            "Attention",
            "MultiHeadAttention",
            "QAttention",
            "SkipLayerNormalization",
            "RotaryEmbedding",
            "GroupQueryAttention",
            "BiasGelu",
            "FusedMatMul",
            "DynamicQuantizeLSTM",
            "DynamicQuantizeMatMul",
        ]
    )
    bias = b.constant(b.floats([3 * hidden]))
    if op == "Attention":
        b.node(
            op,
            [x, b.constant(b.floats([hidden, 3 * hidden]) * np.float32(0.3)), bias],
            domain=MS,
            exact=False,
            num_heads=heads,
            unidirectional=b.pick([0, 1]),
        )
    elif op == "MultiHeadAttention":
        b.node(
            op,
            [x, b.input(b.floats([batch, length, hidden])), b.input(b.floats([batch, length, hidden]))]
            + ([bias] if b.chance(0.5) else []),
            domain=MS,
            exact=False,
            num_heads=heads,
        )
    elif op == "QAttention":
        q = b.input(b.bytes(np.uint8, [batch, length, hidden]))
        w = b.constant(b.bytes(np.int8, [hidden, 3 * hidden]))
        b.node(
            op,
            [
                q,
                w,
                bias,
                b.constant(np.float32(0.02)),
                b.constant(np.float32(0.005)),
                "",
                b.constant(np.uint8(128)),
                b.constant(np.int8(0)),
            ],
            domain=MS,
            exact=False,
            num_heads=heads,
            unidirectional=b.pick([0, 1]),
        )
    elif op == "SkipLayerNormalization":
        b.node(
            op,
            [
                x,
                b.input(b.floats([batch, length, hidden])),
                b.constant(b.floats([hidden])),
                b.constant(b.floats([hidden])),
            ],
            domain=MS,
            exact=False,
        )
    elif op == "BiasGelu":
        b.node(op, [x, b.constant(b.floats([hidden]))], domain=MS, exact=False)
    elif op == "FusedMatMul":
        b.node(op, [x, b.input(b.floats([batch, length, hidden]))], domain=MS, exact=False, transB=1, alpha=0.5)
    elif op == "DynamicQuantizeMatMul":
        w = b.constant(b.bytes(np.int8, [hidden, 9]))
        b.node(op, [x, w, b.constant(np.float32(0.01)), b.constant(np.int8(0))], domain=MS, exact=False)
    else:
        more_fused(b, op, batch, length, heads, depth)


def more_fused(b, op, batch, length, heads, depth):
    hidden = heads * depth
    if op == "RotaryEmbedding":
        angles = b.r.uniform(0, 6, [length + 3, depth // 2])
        at = b.input(b.r.integers(0, length + 3, [batch, length]).astype(np.int64))
        b.node(
            op,
            [
                b.input(b.floats([batch, heads, length, depth])),
                at,
                b.constant(np.float32(np.cos(angles))),
                b.constant(np.float32(np.sin(angles))),
            ],
            domain=MS,
            exact=False,
            interleaved=b.pick([0, 1]),
        )
    elif op == "GroupQueryAttention":
        groups = b.pick([g for g in range(1, heads + 1) if heads % g == 0])
        kv = [b.input(b.floats([batch, length, groups * depth])) for _ in range(2)]
        lengths = b.constant(np.full([batch], length - 1, np.int32))
        b.node(
            op,
            [b.input(b.floats([batch, length, hidden]))]
            + kv
            + ["", "", lengths, b.constant(np.int32(length))]
            + (["", "", "", "", b.input(b.floats([heads]))] if b.chance(0.3) else []),
            3,
            domain=MS,
            exact=False,
            num_heads=heads,
            kv_num_heads=groups,
            smooth_softmax=b.pick([0, 1]),
        )
    else:
        x = b.input(b.floats([length, batch, 7]))
        w = [b.constant(b.bytes(np.int8, [1, n, 4 * hidden])) for n in (7, hidden)]
        s, z = b.constant(np.float32([0.004])), b.constant(np.int8([0]))
        b.node(
            "DynamicQuantizeLSTM",
            [x, w[0], w[1], b.constant(b.floats([1, 8 * hidden])), "", "", "", "", s, z, s, z],
            3,
            domain=MS,
            exact=False,
            hidden_size=hidden,
        )


FAMILIES = {
    "quantized_scan": (quantized_scan, 3),
    "quantized_loop": (quantized_loop, 3),
    "quantized_branch": (quantized_branch, 3),
    "fused_attention": (fused_attention, 5),
}
