"""Whole networks of the sizes that people bring, with random weights: encoders of transformers and ConvInteger networks."""

import nodes
from block_cases import attention, dense_of, dynamic_conv, normalized
from nodes import Net


def encoder(kind: str, layers: int, positions: int, width: int, heads: int) -> nodes.Case:
    net = Net()

    def around(x):
        return net.fake(x) if kind == "QDQ" else x
    x, dense = net.input("f32", 1, positions, width), dense_of(net, kind)
    for _ in range(layers):
        mixed = attention(net, normalized(net, x, width), positions, width, heads, dense, around)
        x = net.node("Add", x, mixed)
        hidden = net.microsoft("Gelu", dense(normalized(net, x, width), width, 4 * width))
        x = net.node("Add", x, dense(around(hidden), 4 * width, width))
    return net.case("networks", f"{kind} encoder, {layers} layers, {positions}x{width}, {heads} heads", x)


# expansion, channels, blocks, stride of the first
MOBILENET_V2 = [(1, 16, 1, 1), (6, 24, 2, 2), (6, 32, 3, 2), (6, 64, 4, 2), (6, 96, 3, 1), (6, 160, 3, 2), (6, 320, 1, 1)]


def mobilenet_v2() -> nodes.Case:
    """As quantize_dynamic makes it: each convolution a ConvInteger between float tensors."""
    net = Net()
    x = net.input("f32", 1, 3, 224, 224)

    def conv(x, out, inputs, kernel, group=1, stride=1, limited=True):
        y = dynamic_conv(net, x, out, inputs, kernel, group, stride)
        return net.node("Clip", y, net.constant("f32", 0), net.constant("f32", 6)) if limited else y
    y, channels = conv(x, 32, 3, 3, stride=2), 32
    for expansion, out, blocks, first_stride in MOBILENET_V2:
        for block in range(blocks):
            stride, wide = first_stride if block == 0 else 1, channels * expansion
            z = conv(y, wide, channels, 1) if expansion > 1 else y
            z = conv(conv(z, wide, wide, 3, wide, stride), out, wide, 1, limited=False)
            y, channels = net.node("Add", y, z) if stride == 1 and channels == out else z, out
    y = net.node("GlobalAveragePool", conv(y, 1280, channels, 1))
    y = net.node("Reshape", y, net.constant("s64", [1, 1280]))
    return net.case("networks", "MobileNetV2 as ConvInteger", net.dynamic(y, net.weights("s8", 1280, 1000), 0.001))


def all_cases() -> list[nodes.Case]:
    return [encoder("dynamic", 12, 128, 768, 12), encoder("QDQ", 12, 197, 192, 3), encoder("dynamic", 12, 197, 192, 3),
            encoder("dynamic", 4, 1500, 384, 6), mobilenet_v2()]
