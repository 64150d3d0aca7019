"""Products with constant weights of few bits in blocks: MatMulNBits in all forms that ONNX Runtime computes on a CPU, and
DequantizeLinear of blocks before a MatMul. Blocks do not divide the depth, zero points are packed or floats, depths name
their blocks in any order (g_idx), rows are quantized or not, floats have 16 or 32 bits."""

import numpy as np

from builder import BYTES, MS

DEPTHS = [1, 3, 15, 16, 17, 31, 32, 33, 48, 64, 65, 96, 100, 127, 129, 257, 300, 520]


def packed(b, bits, count):
    """That many random values of few bits, packed in bytes."""
    return b.r.integers(0, 256, (count * bits + 7) // 8, endpoint=False).astype(np.uint8)


def columns_of(b, bits, count, cols):
    return np.stack([packed(b, bits, count) for _ in range(cols)])


def order_of_blocks(b, depth, block, blocks):
    """Which block each depth belongs to: as GPTQ sorts them, a few changed places, or in order."""
    groups = (np.arange(depth) // block).astype(np.int32)
    kind = b.pick(["any", "any", "few", "sorted"])
    if kind == "any":
        groups = b.r.permutation(groups)
    elif kind == "few":
        first, second = b.between(0, depth - 1), b.between(0, depth - 1)
        groups[[first, second]] = groups[[second, first]]
    if b.chance(0.4):  # as long as all blocks
        groups = np.concatenate([groups, np.full(blocks * block - depth, blocks - 1, np.int32)])
    return b.constant(groups)


def zero_points(b, bits, cols, blocks, real):
    kind = b.pick(["none", "packed", "packed", "float"])
    if kind == "none":
        return ""
    if kind == "packed":
        zeros = columns_of(b, bits, blocks, cols)
        return b.constant(zeros if b.chance(0.5) else zeros.reshape(-1))
    values = b.r.uniform(0, 2**bits - 1, cols * blocks)
    return b.constant((np.rint(values) if b.chance(0.3) else values).astype(real))


def few_bits(b):
    real = b.pick([np.float32, np.float32, np.float32, np.float16])
    bits, block = b.pick([2, 4, 4, 4, 8]), b.pick([16, 32, 32, 64, 128, 256])
    depth, cols = b.pick(DEPTHS), b.pick([1, 2, 3, 8, 9, 16, 17, 33])
    blocks = -(-depth // block)
    rows = b.pick([[1], [1], [2], [5], [2, 3], [1, 1, 7]])
    x = b.floats([*rows, depth])
    if b.chance(0.2):
        x[..., : b.pick([1, block, depth])] = 0
    w = columns_of(b, bits, blocks * block, cols).reshape(cols, blocks, -1)
    scales = b.r.uniform(-0.05, 0.05, [cols, blocks] if b.chance(0.5) else [cols * blocks])
    by_index = bits == 4 and b.chance(0.4)
    zeros = "" if by_index else zero_points(b, bits, cols, blocks, real)
    groups = order_of_blocks(b, depth, block, blocks) if by_index else ""
    bias = b.constant(b.floats([cols]).astype(real)) if b.chance(0.3) else ""
    inputs = [b.input(x.astype(real)), b.constant(w), b.constant(scales.astype(real)), zeros, groups, bias]
    while not inputs[-1]:
        inputs.pop()
    level = {"accuracy_level": b.pick([0, 1, 2, 3, 4, 4, 4])} if b.chance(0.8) else {}
    b.node("MatMulNBits", inputs, domain=MS, exact=False, K=depth, N=cols, bits=bits, block_size=block, **level)


def blocked_weights(b):
    """Weights by blocks: rows are quantized too, as ONNX Runtime does (docs/spec/qdq.md), unless --qdq float."""
    b.qdq = True
    b.opset = 21
    k, n, block = b.pick([8, 16, 32, 48]), b.pick([1, 3, 8, 9]), b.pick([4, 8, 16])
    axis = b.pick([0, 1])
    shape = [k, n] if axis == 0 else [n, k]
    count = list(shape)
    count[axis] = -(-k // block)
    w = b.constant(b.bytes(b.pick(BYTES), shape))
    inputs = [w, b.constant(np.float32(b.r.uniform(0.001, 0.02, count)))]
    if b.chance(0.5):
        inputs.append(b.constant(b.bytes(b.dtype(w).type, count, "narrow")))
    y = b.node("DequantizeLinear", inputs, axis=axis, block_size=block)
    x = b.input(b.floats([b.pick([1, 2, 7]), k]))
    if axis == 1:
        y = b.node("Transpose", [y], perm=[1, 0])
    y = b.node("MatMul", [x, y], exact=False)
    if b.chance(0.3):  # a Gemm, whose rows are quantized with a vector only
        y = b.node("Add", [y, b.constant(b.floats(b.pick([[n], [1, n]])))], exact=False)
    if b.chance(0.5):  # rows stay float
        b.node("Neg", [b.node(b.pick(["Relu", "Clip"]), [y], exact=False)], exact=False)


FAMILIES = {
    "few_bits": (few_bits, 4),
    "blocked_weights": (blocked_weights, 2),
}
