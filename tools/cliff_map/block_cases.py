"""Blocks of networks: attention, feed-forward layers, squeeze-and-excite, inverted residuals, float islands."""

import nodes
import numpy as np
from integer_cases import static_conv
from nodes import Net


def heads(net: Net, x: str, sequence: int, count: int, size: int, perm) -> str:
    split = net.node("Reshape", x, net.constant("s64", [1, sequence, count, size]))
    return net.node("Transpose", split, perm=list(perm))


def attention(net: Net, x: str, sequence: int, width: int, count: int, dense, around) -> str:
    """Self-attention; `dense(x, w_shape)` is a product with constant weights, `around` what quantizes activations."""
    size = width // count
    q = around(heads(net, dense(x, width, width), sequence, count, size, (0, 2, 1, 3)))
    k = around(heads(net, dense(x, width, width), sequence, count, size, (0, 2, 3, 1)))
    v = around(heads(net, dense(x, width, width), sequence, count, size, (0, 2, 1, 3)))
    scores = around(net.node("Mul", net.node("MatMul", q, k), net.constant("f32", 1 / np.sqrt(size))))
    mixed = around(net.node("MatMul", around(net.node("Softmax", scores, axis=-1)), v))
    joined = net.node("Reshape", net.node("Transpose", mixed, perm=[0, 2, 1, 3]),
                      net.constant("s64", [1, sequence, width]))
    return dense(around(joined), width, width)


def dense_of(net: Net, kind: str):
    def static(x, depth, cols):
        return net.fake(net.node("MatMul", net.fake(x), net.integer_weights(depth, cols)), 0.2)

    def dynamic(x, depth, cols):
        return net.dynamic(x, net.weights("s8", depth, cols), 0.001)

    def plain(x, depth, cols):
        return net.node("MatMul", x, net.weights("f32", depth, cols))
    return {"QDQ": static, "dynamic": dynamic, "float": plain}[kind]


def normalized(net: Net, x: str, width: int) -> str:
    return net.node("LayerNormalization", x, net.weights("f32", width), net.weights("f32", width), axis=-1)


def transformers():
    for kind in ("QDQ", "dynamic", "float"):
        def around_of(net, kind=kind):
            return (lambda x: net.fake(x)) if kind == "QDQ" else (lambda x: x)
        for sequence, width, count in ((128, 256, 4), (49, 96, 3), (16, 64, 2), (197, 192, 3)):
            size = f"{sequence}x{width}, {count} heads"
            net = Net()
            x = net.input("f32", 1, sequence, width)
            y = attention(net, x, sequence, width, count, dense_of(net, kind), around_of(net))
            yield net.case(f"attention, {kind}", size, y)
            net = Net()
            x, dense = net.input("f32", 1, sequence, width), dense_of(net, kind)
            hidden = net.microsoft("Gelu", dense(x, width, 4 * width))
            y = net.node("Add", x, dense(around_of(net)(hidden), 4 * width, width))
            yield net.case(f"feed-forward, {kind}", size, y)
            net = Net()
            x = net.input("f32", 1, sequence, width)
            mixed = attention(net, normalized(net, x, width), sequence, width, count, dense_of(net, kind), around_of(net))
            x = net.node("Add", x, mixed)
            dense = dense_of(net, kind)
            hidden = net.microsoft("Gelu", dense(normalized(net, x, width), width, 4 * width))
            y = net.node("Add", x, dense(around_of(net)(hidden), 4 * width, width))
            yield net.case(f"encoder layer, {kind}", size, y)


def squeeze_and_excite():
    for channels, size in ((96, 14), (32, 56), (576, 7)):
        net = Net()
        x = static_conv(net, net.input("u8", 1, channels, size, size), channels, channels, (1, 1))
        pooled = net.microsoft("QLinearGlobalAveragePool", x, net.constant("f32", 0.1), net.constant("u8", 128),
                               net.constant("f32", 0.02), net.constant("u8", 128), channels_last=0)
        gate = static_conv(net, static_conv(net, pooled, channels // 4, channels, (1, 1)), channels, channels // 4, (1, 1))
        gate = net.quantize(net.node("HardSigmoid", net.dequantize(gate, 0.1)), 1 / 256, 0)
        y = net.microsoft("QLinearMul", x, net.constant("f32", 0.1), net.constant("u8", 128), gate,
                          net.constant("f32", 1 / 256), net.constant("u8", 0), net.constant("f32", 0.1),
                          net.constant("u8", 128))
        yield net.case("squeeze and excite", f"{channels} channels {size}x{size}", y)


def dynamic_conv(net: Net, x: str, out: int, inputs: int, kernel: int, group: int = 1, stride: int = 1) -> str:
    """What quantize_dynamic makes of a convolution with bias."""
    q, scale, zero = net.node("DynamicQuantizeLinear", x, outputs=3)
    product = net.node("ConvInteger", q, net.weights("u8", out, inputs // group, kernel, kernel), zero,
                       net.constant("u8", 127), group=group, kernel_shape=[kernel] * 2, pads=[kernel // 2] * 4,
                       strides=[stride] * 2)
    both = net.node("Mul", scale, net.constant("f32", 0.001))
    y = net.node("Mul", net.node("Cast", product, to=1), both)
    return net.node("Add", y, net.weights("f32", 1, out, 1, 1))


def mobile_blocks():
    activations = {"Relu": lambda n, x: n.node("Relu", x), "HardSwish": lambda n, x: n.node("HardSwish", x),
                   "Relu6": lambda n, x: n.node("Clip", x, n.constant("f32", 0), n.constant("f32", 6)),
                   "Swish": lambda n, x: n.node("Mul", x, n.node("Sigmoid", x)),
                   "PRelu": lambda n, x: n.node("PRelu", x, n.weights("f32", n.width, 1, 1))}
    for name, act in activations.items():
        for channels, wide, size in ((24, 144, 28), (96, 576, 7), (16, 64, 56)):
            net = Net()
            net.width = wide
            x = net.input("f32", 1, channels, size, size)
            y = act(net, dynamic_conv(net, x, wide, channels, 1))
            y = act(net, dynamic_conv(net, y, wide, wide, 3, wide))
            y = net.node("Add", x, dynamic_conv(net, y, channels, wide, 1))
            yield net.case("inverted residual, dynamic", f"{name} {channels}-{wide} {size}x{size}", y)
            net = Net()
            net.width = wide
            x = net.fake(net.input("f32", 1, channels, size, size))
            def conv(x, out, inputs, kernel, group=1, net=net):
                return net.node("Conv", x, net.integer_weights(out, inputs // group, kernel, kernel), group=group,
                                pads=[kernel // 2] * 4)
            y = net.fake(act(net, net.fake(conv(x, wide, channels, 1), 0.1)))
            y = net.fake(act(net, net.fake(conv(y, wide, wide, 3, wide), 0.1)))
            y = net.fake(net.node("Add", x, net.fake(conv(y, channels, wide, 1), 0.1)), 0.1)
            yield net.case("inverted residual, QDQ", f"{name} {channels}-{wide} {size}x{size}", y)


def all_cases() -> list[nodes.Case]:
    return [*transformers(), *squeeze_and_excite(), *mobile_blocks()]
