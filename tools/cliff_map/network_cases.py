"""Whole networks of the sizes that people bring, with random weights: transformers and convolutional networks in QDQ and
dynamic form."""

import nodes
from block_cases import attention, dense_of, dynamic_conv, normalized
from nodes import Net


def encoder(kind: str, layers: int, positions: int, width: int, heads: int) -> nodes.Case:
    net = Net(trained=True)

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
    net = Net(trained=True)
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


def decoder(kind: str, layers: int, past: int, width: int, count: int) -> nodes.Case:
    """One token of a decoder whose keys and values of `past` positions are inputs, as exported with a cache."""
    net = Net(trained=True)
    size = width // count
    x, dense = net.input("f32", 1, 1, width), dense_of(net, kind)
    shape, flat = net.constant("s64", [1, 1, count, size]), net.constant("s64", [1, 1, width])
    out = []
    for _ in range(layers):
        y = normalized(net, x, width)
        q, k, v = (net.node("Transpose", net.node("Reshape", dense(y, width, width), shape), perm=[0, 2, 1, 3])
                   for _ in range(3))
        keys = net.node("Concat", net.input("f32", 1, count, past, size), k, axis=2)
        values = net.node("Concat", net.input("f32", 1, count, past, size), v, axis=2)
        scores = net.node("MatMul", q, net.node("Transpose", keys, perm=[0, 1, 3, 2]))
        weights = net.node("Softmax", net.node("Mul", scores, net.constant("f32", size ** -0.5)), axis=-1)
        mixed = net.node("Transpose", net.node("MatMul", weights, values), perm=[0, 2, 1, 3])
        x = net.node("Add", x, dense(net.node("Reshape", mixed, flat), width, width))
        hidden = net.microsoft("Gelu", dense(normalized(net, x, width), width, 4 * width))
        x = net.node("Add", x, dense(hidden, 4 * width, width))
        out += [keys, values]
    return net.case("networks", f"{kind} decoder, {layers} layers, 1x{width}, {count} heads, {past} positions before",
                    dense(x, width, 8000), *out)


def quantized_conv(net: Net, x: str, out: int, inputs: int, size: int, stride: int = 1, group: int = 1, relu: bool = True):
    """A Conv in QDQ form; x is quantized, and so is the result."""
    y = net.node("Conv", x, net.integer_weights(out, inputs // group, size, size), net.weights("f32", out), group=group,
                 pads=[size // 2] * 4, strides=[stride] * 2)
    return net.fake(net.node("Relu", y) if relu else y)


def resnet50() -> nodes.Case:
    net = Net(trained=True)
    x = quantized_conv(net, net.fake(net.input("f32", 1, 3, 224, 224)), 64, 3, 7, 2)
    x = net.node("MaxPool", x, kernel_shape=[3, 3], strides=[2, 2], pads=[1] * 4)
    channels = 64
    for width, blocks, first_stride in ((64, 3, 1), (128, 4, 2), (256, 6, 2), (512, 3, 2)):
        for block in range(blocks):
            stride = first_stride if block == 0 else 1
            y = quantized_conv(net, quantized_conv(net, x, width, channels, 1), width, width, 3, stride)
            y = quantized_conv(net, y, 4 * width, width, 1, relu=False)
            around = quantized_conv(net, x, 4 * width, channels, 1, stride, relu=False) if block == 0 else x
            x, channels = net.fake(net.node("Relu", net.node("Add", y, around))), 4 * width
    pooled = net.fake(net.node("Flatten", net.node("GlobalAveragePool", x)))
    return net.case("networks", "QDQ ResNet-50", net.fake(net.node("MatMul", pooled, net.integer_weights(2048, 1000))))


def u_net() -> nodes.Case:
    net = Net(trained=True)
    x = net.fake(net.input("f32", 1, 3, 128, 128))
    channels, kept = 3, []
    for width in (32, 64, 128):
        x = quantized_conv(net, quantized_conv(net, x, width, channels, 3), width, width, 3)
        kept.append(x)
        x, channels = net.node("MaxPool", x, kernel_shape=[2, 2], strides=[2, 2]), width
    x = quantized_conv(net, x, 256, 128, 3)
    for width, before in zip((128, 64, 32), reversed(kept)):
        up = net.node("ConvTranspose", x, net.integer_weights(2 * width, width, 2, 2), strides=[2, 2])
        x = net.fake(net.node("Concat", net.fake(up), before, axis=1))
        x = quantized_conv(net, quantized_conv(net, x, width, 2 * width, 3), width, width, 3)
    return net.case("networks", "QDQ U-Net, 128x128", quantized_conv(net, x, 2, 32, 1, relu=False))


def mobile_blocks() -> nodes.Case:
    """EfficientNet's blocks: Swish and squeeze-and-excite in QDQ form."""
    net = Net(trained=True)

    def swish(y):
        return net.fake(net.node("Mul", y, net.fake(net.node("Sigmoid", y), 1 / 256)))
    x = swish(quantized_conv(net, net.fake(net.input("f32", 1, 3, 224, 224)), 32, 3, 3, 2, relu=False))
    channels = 32
    for wide, out, size, stride in ((32, 16, 3, 1), (96, 24, 3, 2), (144, 40, 5, 2), (240, 80, 3, 2), (480, 112, 5, 1),
                                    (672, 192, 5, 2), (1152, 192, 5, 1), (1152, 320, 3, 1)):
        y = swish(quantized_conv(net, x, wide, channels, 1, relu=False))
        y = swish(quantized_conv(net, y, wide, wide, size, stride, wide, relu=False))
        pooled = net.fake(net.node("GlobalAveragePool", y))
        gate = swish(quantized_conv(net, pooled, max(8, channels // 4), wide, 1, relu=False))
        gate = net.node("Sigmoid", quantized_conv(net, gate, wide, max(8, channels // 4), 1, relu=False))
        y = net.fake(net.node("Mul", y, net.fake(gate, 1 / 256)))
        y = quantized_conv(net, y, out, wide, 1, relu=False)
        x, channels = net.fake(net.node("Add", x, y)) if stride == 1 and channels == out else y, out
    return net.case("networks", "QDQ EfficientNet's blocks, 224x224", x)


def all_cases() -> list[nodes.Case]:
    return [encoder("dynamic", 12, 128, 768, 12), encoder("QDQ", 12, 197, 192, 3), encoder("dynamic", 12, 197, 192, 3),
            encoder("dynamic", 4, 1500, 384, 6), mobilenet_v2(), encoder("QDQ", 4, 128, 768, 12),
            decoder("dynamic", 6, 255, 768, 12), decoder("dynamic", 4, 447, 384, 6), resnet50(), u_net(), mobile_blocks()]
