"""The topics of record_nodes.py about attention and transformers."""

import itertools

import numpy as np
from onnx import helper

F = np.float32


def masks(rng, batch, rows, columns):
    """Lengths, 0 and 1 per key, 0 and 1 per query and key; at least one key is seen."""
    ones = rng.integers(0, 2, (batch, columns)).astype(np.int32)
    ones[:, 0] = 1
    all_ones = rng.integers(0, 2, (batch, rows, columns)).astype(np.int32)
    all_ones[:, :, 0] = 1
    lengths = rng.integers(1, columns + 1, batch).astype(np.int32)
    begins = np.zeros(batch, np.int32)
    return [None, lengths, np.concatenate([lengths, begins]), ones, all_ones]


def attention(topic):
    """Attention, QAttention, MultiHeadAttention, GroupQueryAttention and Attention of ai.onnx."""
    rng = topic.rng
    b, s, n, d = 2, 5, 3, 4
    h = n * d

    def floats(*shape):
        return rng.normal(0, 1, shape).astype(F)

    def add(op, inputs, run_time=1, outputs=1, **attributes):
        topic.node(op, op, inputs, 13, outputs, run_time, "com.microsoft", **attributes)

    for past in (0, 3):
        old = floats(2, b, n, past, d) if past else None
        for mask, causal in itertools.product(masks(rng, b, s, s + past), (0, 1)):
            add("Attention", [floats(b, s, 7), floats(7, 3 * h), floats(3 * h), mask, old], 5, 2,
                num_heads=n, unidirectional=causal)
        for signed in (0, 1):
            x = rng.integers(0, 256, (b, s, 7)).astype(np.uint8)
            w = rng.integers(0, 256, (7, 3 * h)).astype(np.uint8)
            zero = np.array(131, np.uint8)
            if signed:
                w, zero = w.view(np.int8), np.array(0, np.int8)
            add("QAttention", [x, w, floats(3 * h), np.array(F(0.01)), np.array(F(0.02)),
                               masks(rng, b, s, s + past)[3], np.array(120, np.uint8), zero, old],
                9, 2, num_heads=n, unidirectional=signed)
    add("Attention", [floats(b, s, 7), floats(7, 2 * h + 6), floats(2 * h + 6), None, None,
                      floats(1, n, s, s)], 6, num_heads=n, qkv_hidden_sizes=[h, h, 6], scale=0.3)
    bias = floats(2 * h + 6)
    for mask in masks(rng, b, s, 6)[:4]:
        add("MultiHeadAttention", [floats(b, s, h), floats(b, 6, h), floats(b, 6, 6), bias, mask,
                                   floats(b, 1, s, 6)], 6, num_heads=n)
    add("MultiHeadAttention", [floats(b, s, h), floats(b, n, 6, d), floats(b, n, 6, d)], 3,
        num_heads=n, scale=0.7)
    add("MultiHeadAttention", [floats(b, s, h), floats(b, s, h), floats(b, s, h), None, None, None,
                               floats(b, n, 3, d), floats(b, n, 3, d)], 8, 3, num_heads=n,
        unidirectional=1)
    group_query(topic, floats)
    for mode in range(4):
        topic.node("Attention23", "Attention",
                   [floats(b, 6, s, d), floats(b, 3, 7, d), floats(b, 3, 7, 2), floats(s, 7)], 23, 4, 4,
                   qk_matmul_output_mode=mode)
    topic.node("Attention23", "Attention",
               [floats(b, s, 4 * d), floats(b, s, 2 * d), floats(b, s, 2 * d), None,
                floats(b, 2, 3, d), floats(b, 2, 3, d)], 23, 3, 6, q_num_heads=4, kv_num_heads=2,
               is_causal=1)
    group_query_sink(topic, floats)


def group_query(topic, floats):
    """Steps of a decoder whose caches have room, or grow; of a prompt; of batches that differ."""
    n, kv, d, room = 4, 2, 16, 12
    cosine, sine = floats(32, d // 2), floats(32, d // 2)
    for batch, s, lengths, past in ((1, 1, [6], room), (1, 1, [6], 6), (2, 1, [6, 3], room),
                                    (1, 4, [3], room), (2, 4, [3, 3], 0), (1, 3, [7], room)):
        total = np.array(max(lengths) + 1, np.int32)
        for rotary, options in ((0, {}), (1, {}), (1, {"rotary_interleaved": 1, "softcap": 2.0}),
                                (0, {"local_window_size": 3, "scale": 0.2})):
            caches = [floats(batch, kv, past, d) for _ in range(2)] if past else [None, None]
            inputs = [floats(batch, s, n * d), floats(batch, s, kv * d), floats(batch, s, kv * d),
                      *caches, np.array(lengths, np.int32)]
            topic.node("GroupQueryAttention", "GroupQueryAttention",
                       inputs + [total] + ([cosine, sine] if rotary else []), 13, 3, 6,
                       "com.microsoft", num_heads=n, kv_num_heads=kv, do_rotary=rotary, **options)
    topic.node("GroupQueryAttention", "GroupQueryAttention",
               [floats(1, 2, (n + 2 * kv) * d), None, None, floats(1, kv, room, d),
                floats(1, kv, room, d), np.array([4], np.int32), np.array(5, np.int32)], 13, 3, 6,
               "com.microsoft", num_heads=n, kv_num_heads=kv)


def group_query_sink(topic, floats):
    """Softmax with a score of each head that no value has, and with one of 0."""
    n, kv, d = 4, 2, 16
    for batch, s, past, smooth, sink, options in (
            (1, 1, 6, 0, True, {}), (2, 3, 0, 0, True, {"local_window_size": 2}), (1, 4, 3, 1, False, {}),
            (2, 1, 5, 1, True, {"softcap": 2.0}), (1, 3, 4, -1, False, {})):
        caches = [floats(batch, kv, past, d) for _ in range(2)] if past else [None, None]
        inputs = [floats(batch, s, n * d), floats(batch, s, kv * d), floats(batch, s, kv * d), *caches,
                  np.full(batch, past + s - 1, np.int32), np.array(past + s, np.int32)]
        topic.node("GroupQueryAttention", "GroupQueryAttention",
                   inputs + ([None] * 4 + [floats(n)] if sink else []), 13, 3, 6, "com.microsoft",
                   num_heads=n, kv_num_heads=kv, smooth_softmax=smooth, **options)


def transformer(topic):
    """Normalization and embeddings of transformers, as ONNX Runtime's optimizer writes them."""
    rng = topic.rng

    def floats(*shape):
        return rng.normal(0, 1, shape).astype(F)

    def add(op, inputs, run_time=1, outputs=1, domain="com.microsoft", opset=13, **attributes):
        topic.node(op, op, inputs, opset, outputs, run_time, domain, **attributes)

    for axis in (-1, 1):
        size = (8,) if axis == -1 else (3, 8)
        add("SimplifiedLayerNormalization", [floats(2, 3, 8), floats(*size)], domain="", axis=axis)
        add("RMSNormalization", [floats(2, 3, 8), floats(*size)], domain="", opset=23, axis=axis)
        add("LayerNormalization", [floats(2, 3, 8), floats(*size), floats(*size)], outputs=3,
            domain="", opset=17, axis=axis)
    add("SkipSimplifiedLayerNormalization", [floats(2, 3, 8), floats(2, 3, 8), floats(8)], 2)
    inputs = {"x": floats(2, 3, 8), "s": floats(2, 3, 8)}
    node = helper.make_node("SkipSimplifiedLayerNormalization", ["x", "s", "g", "b"],
                            ["y", "", "", "sum"], domain="com.microsoft", epsilon=0.01)
    topic.graph("skip_sum", [node], inputs, {"g": floats(8), "b": floats(8)}, ["y", "sum"], 13)
    ids = [rng.integers(0, k, (2, 5)).astype(np.int32) for k in (9, 2)]
    mask = np.array([[1, 1, 1, 0, 0], [1, 1, 1, 1, 0]], np.int32)
    tables = [floats(9, 8), floats(6, 8), floats(2, 8), floats(8), floats(8)]
    add("EmbedLayerNormalization", ids + tables + [mask], 2, 3)
    add("EmbedLayerNormalization", [ids[0], None, *tables[:2], None, *tables[3:]], 1, 2)
    add("EmbedLayerNormalization", ids + tables + [mask, ids[1] + 3], 2, 2, epsilon=0.1)
    for signed in (0, 1):
        quantized = [rng.integers(0, 256, x.shape).astype(np.uint8) for x in tables]
        scales = [np.array(F(x)) for x in rng.uniform(0.01, 0.02, 5)]
        zeros = [np.array(x, np.uint8) for x in rng.integers(100, 150, 5)]
        if signed:
            quantized = [x.view(np.int8) for x in quantized]
            zeros = [np.array(int(x) - 128, np.int8) for x in zeros]
        add("QEmbedLayerNormalization", ids + quantized + [mask] + scales + zeros, 2, 2)
    cosine, sine = floats(16, 4), floats(16, 4)
    for interleaved in (0, 1):
        add("RotaryEmbedding", [floats(2, 5, 24), np.array([3]), cosine, sine], 2,
            interleaved=interleaved)
        add("RotaryEmbedding", [floats(2, 3, 5, 8), rng.integers(0, 16, (2, 5)), cosine, sine], 2,
            interleaved=interleaved)
        add("RotaryEmbedding", [floats(2, 5, 36), rng.integers(0, 16, (2, 5)), cosine, sine], 2,
            interleaved=interleaved, num_heads=3, rotary_embedding_dim=8)
        add("RotaryEmbedding", [floats(2, 3, 5, 10), floats(2, 5, 4), floats(2, 5, 4)], 1,
            domain="", opset=23, interleaved=interleaved, rotary_embedding_dim=8)
