"""Networks made of the blocks that real ones have, with hostile sizes: families that build on quantized.Layers."""

import numpy as np

from builder import WIDTHS, Unbuildable
from quantized import Layers, Q


def start(b, form, rank=None):
    layers = Layers(b, form)
    rank = rank or b.pick([1, 2, 2, 2, 3])
    sizes = {1: (6, 40), 2: (3, 14), 3: (2, 7)}[rank]
    channels = b.pick([1, 2, 3, 4, 7, 8, 9, 15, 16, 17])
    shape = [b.pick([1, 1, 1, 2, 3]), channels] + [b.between(*sizes) for _ in range(rank)]
    return layers, layers.start(shape)


def width(b):
    return b.pick(WIDTHS[4:] if b.chance(0.6) else WIDTHS[:9])


def residual(b, layers, x):
    y = layers.conv(x, layers.shape(x)[1], same=True)
    if b.chance(0.5):
        y = layers.activation(y, b.pick(["Relu", "Clip"]))
    if b.chance(0.5):
        y = layers.conv(y, layers.shape(x)[1], same=True)
    y = layers.binary(b.pick(["Add", "Add", "Mul"]), *((x, y) if b.chance(0.5) else (y, x)))
    return layers.activation(y, "Relu") if b.chance(0.5) else y


def inverted_residual(b, layers, x):
    channels = layers.shape(x)[1]
    wide = min(channels * b.pick([2, 3, 6]), 96)
    y = layers.conv(x, wide, plain=True)
    y = layers.activation(y, b.pick(["Relu", "Clip", "HardSwish"]))
    y = layers.conv(y, wide, group=wide, same=True)
    y = layers.conv(y, channels, plain=True)
    return layers.binary("Add", x, y)


def squeeze_excite(b, layers, x):
    channels = layers.shape(x)[1]
    y = layers.pool(x, "GlobalAveragePool")
    y = layers.activation(layers.conv(y, b.pick([1, 2, 4, 9]), plain=True), "Relu")
    y = layers.activation(layers.conv(y, channels, plain=True), b.pick(["Sigmoid", "HardSigmoid"]))
    return layers.binary("Mul", *((x, y) if b.chance(0.6) else (y, x)))


def dense_block(b, layers, x):
    parts = [x]
    for _ in range(b.between(2, 3)):
        joined = layers.concat(parts) if len(parts) > 1 else x
        parts.append(layers.conv(joined, b.pick([1, 3, 7, 8, 9]), same=True))
    return layers.concat(parts if b.chance(0.8) else parts[::-1])


def u_net(b, layers, x):
    if len(layers.shape(x)) != 4 or any(s % 2 for s in layers.shape(x)[2:]):
        return conv_block(b, layers, x)
    y = layers.pool_down(x)
    y = layers.conv(y, width(b), same=True)
    scales = b.constant(np.array([1, 1, 2, 2], np.float32))
    y = layers.move(
        "Resize", y, ["", scales], mode="nearest", nearest_mode="floor", coordinate_transformation_mode="asymmetric"
    )
    return layers.conv(layers.concat([x, y]), width(b), same=True)


def shuffle(b, layers, x):
    n, channels, *sizes = layers.shape(x)
    groups = [g for g in (2, 3, 4) if channels % g == 0]
    if not groups:
        return conv_block(b, layers, x)
    g = b.pick(groups)
    y = layers.move("Reshape", x, [b.ints(n, g, channels // g, *sizes)])
    perm = [0, 2, 1] + list(range(3, 3 + len(sizes)))
    y = layers.move("Transpose", y, perm=perm)
    return layers.move("Reshape", y, [b.ints(n, channels, *sizes)])


def split_join(b, layers, x):
    channels = layers.shape(x)[1]
    if channels < 2:
        return conv_block(b, layers, x)
    at = b.between(1, channels - 1)
    parts = [layers.move("Slice", x, [b.ints(low), b.ints(high), b.ints(1)]) for low, high in ((0, at), (at, channels))]
    parts[0] = layers.conv(parts[0], width(b), same=True)
    return layers.concat(parts[::-1] if b.chance(0.5) else parts)


def conv_block(b, layers, x):
    channels = layers.shape(x)[1]
    out, group = width(b), 1
    if b.chance(0.35):
        group = b.pick([g for g in range(1, channels + 1) if channels % g == 0])
        out = group * b.pick([1, 1, 2, 3])
    y = layers.conv(x, min(out, 130), group=group)
    return layers.activation(y) if b.chance(0.4) else y


def cut_out(b, layers, x):
    """Slices with negative and large steps, pads, transposes of the image."""
    rank = len(layers.shape(x))
    kind = b.pick(["slice", "slice", "pad", "transpose"])
    if kind == "slice":
        axis = b.between(1, rank - 1)
        size = layers.shape(x)[axis]
        step = b.pick([-3, -2, -1, -1, 2, 3])
        low, high = (size - 1 - b.between(0, 1), -size - 1) if step < 0 else (b.between(0, 1), 10**6)
        return layers.move("Slice", x, [b.ints(low), b.ints(high), b.ints(axis), b.ints(step)])
    if kind == "pad":
        pads = [0] * (2 * rank)
        for axis in range(1, rank):
            pads[axis], pads[rank + axis] = b.between(0, 3), b.between(0, 3)
        return layers.through_floats("Pad", [x], [b.ints(*pads), b.constant(np.float32(0))], keep=True)
    perm = [0, 1] + [int(v) for v in b.r.permutation(np.arange(2, rank))]
    return layers.move("Transpose", x, perm=perm)


BLOCKS = [
    conv_block,
    conv_block,
    conv_block,
    residual,
    residual,
    inverted_residual,
    squeeze_excite,
    dense_block,
    u_net,
    shuffle,
    split_join,
    cut_out,
]


def pool_down(self, x):
    """Halves the image; a method of Layers for the U-Net."""
    attributes = {"kernel_shape": [2, 2], "strides": [2, 2]}
    if self.integers and not self.wide:
        return Q(self.b.node("MaxPool", [x.name], **attributes), x.scale, x.zero)
    return self.through_floats("MaxPool", [x], keep=True, **attributes)


Layers.pool_down = pool_down


def network(b, form):
    layers, x = start(b, form)
    grown = [x]
    for _ in range(b.between(1, 6)):
        block = b.pick(BLOCKS + [lambda b, l, x: l.pool(x)])
        before = (len(b.nodes), dict(b.constants), dict(b.inputs))
        try:
            grown.append(block(b, layers, grown[-1] if b.chance(0.8) else b.pick(grown)))
        except Unbuildable as error:
            b.notes.append(str(error))
            del b.nodes[before[0] :]
            b.constants, b.inputs = before[1], before[2]
    x = grown[-1]
    if b.chance(0.3):
        x = layers.pool(x, "GlobalAveragePool")
        n, channels = layers.shape(x)[:2]
        layers.dense(layers.move("Reshape", x, [b.ints(n, channels)]), width(b))
    elif layers.integers and b.chance(0.4):
        layers.real(x)


def qoperator_network(b):
    network(b, "qoperator")


def qdq_network(b):
    network(b, "qdq")


def dynamic_network(b):
    network(b, "dynamic")


def float_network(b):
    network(b, "float")


def wide_network(b):
    """16-bit activations, 8-bit weights."""
    b.opset = 21
    layers = Layers(b, "qdq", b.pick([np.int16, np.int16, np.uint16]))
    b.exact = False
    rank = b.pick([1, 2, 2])
    x = layers.start([1, b.pick([1, 2, 3, 8, 9])] + [b.between(4, 11) for _ in range(rank)])
    for _ in range(b.between(1, 3)):
        x = b.pick([conv_block, conv_block, residual, split_join])(b, layers, x)


def one_conv(b):
    """A single convolution with hostile geometry."""
    layers, x = start(b, b.pick(["qoperator", "qoperator", "qoperator", "qdq", "dynamic"]))
    layers.odd_scales = 0.4
    channels = layers.shape(x)[1]
    group = b.pick([1, 1, channels] + [g for g in range(2, channels + 1) if channels % g == 0])
    out = group * b.pick([1, 1, 2]) if group > 1 else width(b)
    y = layers.conv(x, out, group=group, geometry=layers.geometry(layers.shape(x)[2:], 0.8))
    if b.chance(0.3):
        layers.conv(y, width(b), plain=True)


def transposed(b):
    layers, x = start(b, b.pick(["qdq", "qdq", "float"]), b.pick([1, 2, 2]))
    for _ in range(b.between(1, 2)):
        n, channels, *sizes = layers.shape(x)
        group = b.pick([1, 1] + [g for g in range(1, channels + 1) if channels % g == 0])
        k = [b.pick([1, 2, 3, 4, 5]) for _ in sizes]
        s = [b.pick([1, 2, 2, 3]) for _ in sizes]
        d = [b.pick([1, 1, 2]) for _ in sizes]
        attributes = {
            "kernel_shape": k,
            "strides": s,
            "dilations": d,
            "group": group,
            "pads": [b.between(0, (v - 1) * w) for v, w in zip(k + k, d + d)],
        }
        if b.chance(0.3):
            attributes["output_padding"] = [b.between(0, v - 1) for v in s]
        shape = [channels, b.pick([1, 2, 3, 7, 8, 9, 17])] + k
        if b.chance(0.5) and np.prod(shape) > 4000:
            shape[1] = 1
        if layers.form == "qdq":
            x = layers.qdq_conv(x, shape, attributes, "ConvTranspose")
        else:
            x = Q(b.node("ConvTranspose", [x.name, b.constant(b.floats(shape))], exact=False, **attributes))


FAMILIES = {
    "qoperator_network": (qoperator_network, 10),
    "qdq_network": (qdq_network, 10),
    "dynamic_network": (dynamic_network, 5),
    "float_network": (float_network, 3),
    "wide_network": (wide_network, 3),
    "one_conv": (one_conv, 12),
    "transposed": (transposed, 4),
}
