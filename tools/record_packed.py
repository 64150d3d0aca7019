"""The topic of record_nodes.py about products with constant weights of few bits. Values are small integers and scales powers
of two, so that sums are exact in any order."""

import itertools

import numpy as np

F = np.float32


def packed_bytes(rng, bits, count, cols):
    return rng.integers(0, 256, (cols, (count * bits + 7) // 8)).astype(np.uint8)


def activations(rng, shape, block, level):
    """With level 4 the largest of each block is 127, so that rows are quantized without loss."""
    if level != 4:
        return rng.integers(-3, 4, shape).astype(F)
    x = rng.integers(-127, 128, shape).astype(F)
    x[..., :: min(block, 256)] = 127
    return x


def packed(topic):
    rng = topic.rng

    def record(name, bits, block, depth, cols, zeros=None, groups=None, bias=False, level=0, rows=3, real=F):
        blocks = -(-depth // block)
        inputs = [activations(rng, (rows, depth), block, level).astype(real),
                  packed_bytes(rng, bits, blocks * block, cols).reshape(cols, blocks, -1),
                  (2.0 ** rng.integers(-4, 3, cols * blocks)).astype(real), zeros, groups,
                  rng.integers(-9, 10, cols).astype(real) if bias else None]
        while inputs[-1] is None:
            inputs.pop()
        topic.node(name, "MatMulNBits", inputs, 17, domain="com.microsoft", K=depth, N=cols, bits=bits, block_size=block,
                   accuracy_level=level)

    for bits, (block, depth), level in itertools.product((2, 4, 8), ((16, 40), (32, 100), (256, 300)), (0, 4)):
        blocks, cols, name = -(-depth // block), 9, f"{bits}_bits_{block}_of_{depth}_level_{level}"
        record(name, bits, block, depth, cols, level=level)
        record(f"{name}_zeros", bits, block, depth, cols, packed_bytes(rng, bits, blocks, cols).reshape(-1), level=level)
        values = rng.integers(0, 2**bits, cols * blocks).astype(F)
        record(f"{name}_float_zeros", bits, block, depth, cols, values, level=level, bias=True)
    for level in range(5):
        record(f"level_{level}_halves", 4, 32, 70, 5, level=level, real=np.float16)
    for (block, depth), level, padded in itertools.product(((16, 40), (32, 64), (32, 33), (64, 10)), (0, 4), (False, True)):
        blocks = -(-depth // block)
        groups = rng.permutation(np.arange(depth) // block)
        if padded:
            groups = np.append(groups, np.full(blocks * block - depth, blocks - 1))
        record(f"g_idx_{block}_of_{depth}_level_{level}_{padded:d}", 4, block, depth, 7, groups=groups.astype(np.int32),
               level=level, bias=padded)
