"""Families that need no oracle: one model computes the same thing in two ways, whose outputs have to be equal."""

import numpy as np

from builder import Unbuildable
from quantized import Layers


class Fixed:
    """One QLinearConv with all its parameters as arrays, so that it can be taken apart."""

    def __init__(self, b, rank):
        self.b = b
        self.layers = layers = Layers(b, "qoperator")
        self.group = b.pick([1, 1, 1, 2, 3])
        inside, outside = b.pick([1, 3, 7, 8, 9]), b.pick([2, 4, 7, 8, 9, 16, 17])
        sizes = [b.between(3, 11) for _ in range(rank)]
        self.x = b.bytes(layers.dtype, [b.pick([2, 2, 3]), self.group * inside] + sizes)
        self.attributes = layers.geometry(sizes, 0.3)
        out = outside * self.group
        shape = [out, inside] + self.attributes["kernel_shape"]
        if np.prod(shape) > 30_000:
            raise Unbuildable("too many weights")
        self.w, scales, zeros = layers.weights(shape, 0, out)
        if (layers.dtype, self.w.dtype.type) == (np.int8, np.uint8):
            self.w, zeros = self.w.view(np.int8), zeros.view(np.int8)
        self.scales, self.zeros = np.broadcast_to(scales, [out]), np.broadcast_to(zeros, [out])
        self.bias = b.r.integers(-4000, 4000, out).astype(np.int32)
        self.ends = [np.float32(0.02), np.asarray(b.zero_point(layers.dtype))]
        self.result = [
            np.float32(0.02 / 127 * 70 * np.sqrt(np.prod(shape[1:]))),
            np.asarray(b.zero_point(layers.dtype)),
        ]

    def conv(self, x, at=slice(None), within=None, attributes=None, group=None, w=None):
        b = self.b
        w = self.w if w is None else w
        w = w[at] if within is None else w[at][:, within]
        inputs = (
            [x] + [b.constant(v) for v in self.ends] + [b.constant(v) for v in (w, self.scales[at], self.zeros[at])]
        )
        inputs += [b.constant(v) for v in self.result] + [b.constant(self.bias[at])]
        attributes = dict(attributes or self.attributes)
        attributes["group"] = self.group if group is None else group
        return b.node("QLinearConv", inputs, **attributes)


def pair(b, first, second):
    b.outputs += [first, second]
    b.equal.append((first, second))


def split_channels(b):
    f = Fixed(b, b.pick([1, 2, 2]))
    f.group = 1
    f.w = f.w[:, :]
    if f.x.shape[1] != f.w.shape[1]:
        f.x = f.x[:, : f.w.shape[1]]
    x = b.input(f.x)
    at = b.between(1, f.w.shape[0] - 1)
    parts = [f.conv(x, slice(0, at)), f.conv(x, slice(at, None))]
    pair(b, f.conv(x), b.node("Concat", parts, axis=1))


def split_batch(b):
    f = Fixed(b, b.pick([1, 2, 2, 3]))
    x = b.input(f.x)
    rows = [b.node("Slice", [x, b.ints(i), b.ints(i + 1), b.ints(0)]) for i in range(f.x.shape[0])]
    pair(b, f.conv(x), b.node("Concat", [f.conv(row) for row in rows], axis=0))


def split_groups(b):
    f = Fixed(b, b.pick([1, 2]))
    x = b.input(f.x)
    inside, outside = f.x.shape[1] // f.group, f.w.shape[0] // f.group
    parts = []
    for g in range(f.group):
        part = b.node("Slice", [x, b.ints(g * inside), b.ints((g + 1) * inside), b.ints(1)]) if f.group > 1 else x
        parts.append(f.conv(part, slice(g * outside, (g + 1) * outside), group=1))
    pair(b, f.conv(x), b.node("Concat", parts, axis=1))


def permuted(b):
    f = Fixed(b, b.pick([1, 2]))
    if f.group > 1:
        raise Unbuildable("groups")
    x = b.input(f.x)
    order, turn = b.r.permutation(f.x.shape[1]), b.r.permutation(f.w.shape[0])
    other = b.node("Gather", [x, b.ints(*order)], axis=1)
    y = f.conv(other, turn, order)
    pair(b, f.conv(x), b.node("Gather", [y, b.ints(*np.argsort(turn))], axis=1))


def transposed(b):
    f = Fixed(b, 2)
    x = b.input(f.x)
    a = f.attributes
    swap = {k: v[::-1] for k, v in a.items() if k != "pads"}
    swap["pads"] = [a["pads"][1], a["pads"][0], a["pads"][3], a["pads"][2]]
    turned = f.conv(
        b.node("Transpose", [x], perm=[0, 1, 3, 2]), attributes=swap, w=np.ascontiguousarray(f.w.transpose(0, 1, 3, 2))
    )
    pair(b, f.conv(x), b.node("Transpose", [turned], perm=[0, 1, 3, 2]))


def mirrored(b):
    """The image and the kernel reversed: Slice with a negative step on both sides."""
    f = Fixed(b, b.pick([1, 2]))
    f.attributes["strides"] = [1] * len(f.attributes["strides"])
    x = b.input(f.x)
    a, rank = f.attributes, f.x.ndim - 2
    pads = a["pads"][rank:] + a["pads"][:rank]
    back = lambda t: b.node(
        "Slice",
        [t, b.ints(*[-1] * rank), b.ints(*[-(2**40)] * rank), b.ints(*range(2, 2 + rank)), b.ints(*[-1] * rank)],
    )
    flip = tuple([slice(None)] * 2 + [slice(None, None, -1)] * rank)
    y = f.conv(back(x), attributes={**a, "pads": pads}, w=np.ascontiguousarray(f.w[flip]))
    pair(b, f.conv(x), back(y))


def padded(b):
    """Padding by the convolution, or by a Pad before it."""
    f = Fixed(b, b.pick([1, 2]))
    x = b.input(f.x)
    rank = f.x.ndim - 2
    begin, end = f.attributes["pads"][:rank], f.attributes["pads"][rank:]
    larger = b.node("Pad", [x, b.ints(0, 0, *begin, 0, 0, *end), b.constant(f.ends[1])])
    pair(b, f.conv(x), f.conv(larger, attributes={**f.attributes, "pads": [0] * 2 * rank}))


FAMILIES = {
    "split_channels": (split_channels, 3),
    "split_batch": (split_batch, 3),
    "split_groups": (split_groups, 2),
    "permuted": (permuted, 3),
    "transposed_twin": (transposed, 3),
    "mirrored": (mirrored, 3),
    "padded": (padded, 3),
}
