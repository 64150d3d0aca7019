"""Single integer layers: convolutions and products with every kind of weight and zero point."""

import nodes
from nodes import Net


def static_conv(net: Net, x: str, out: int, inputs: int, kernel, weights="s8", zero=0, **attributes) -> str:
    """QLinearConv of x, whose zero point is 128."""
    one, mid = net.constant("f32", 0.02), net.constant("u8", 128)
    group = attributes.get("group", 1)
    w = net.weights(weights, out, inputs // group, *kernel)
    return net.node("QLinearConv", x, one, mid, w, net.constant("f32", 0.01), net.constant(weights, zero),
                    net.constant("f32", 0.1), mid, kernel_shape=list(kernel), **attributes)


def integer_conv(net: Net, x: str, out: int, inputs: int, kernel, weights="s8", zero=0, **attributes) -> str:
    """ConvInteger whose zero point of x is known at run time."""
    w = net.weights(weights, out, inputs // attributes.get("group", 1), *kernel)
    return net.node("ConvInteger", x, w, net.late("u8", 117), net.constant(weights, zero), kernel_shape=list(kernel),
                    **attributes)


# name, channels in, channels out, spatial sizes, kernel, attributes
GEOMETRIES = [
    ("1x1", 64, 64, (28, 28), (1, 1), {}),
    ("1x1 few channels", 8, 16, (56, 56), (1, 1), {}),
    ("1x1 stride 2", 64, 128, (28, 28), (1, 1), {"strides": [2, 2]}),
    ("1x1 7x7 image", 320, 160, (7, 7), (1, 1), {}),
    ("3x3", 32, 32, (28, 28), (3, 3), {"pads": [1] * 4}),
    ("3x3 stride 2", 32, 64, (28, 28), (3, 3), {"pads": [1] * 4, "strides": [2, 2]}),
    ("3x3 RGB stem", 3, 16, (96, 96), (3, 3), {"pads": [1] * 4, "strides": [2, 2]}),
    ("7x7 RGB stem", 3, 32, (64, 64), (7, 7), {"pads": [3] * 4, "strides": [2, 2]}),
    ("7x7 one channel", 1, 16, (64, 64), (7, 7), {"pads": [3] * 4}),
    ("5x5", 16, 32, (28, 28), (5, 5), {"pads": [2] * 4}),
    ("3x3 dilation 2", 32, 32, (28, 28), (3, 3), {"pads": [2] * 4, "dilations": [2, 2]}),
    ("3x3 dilation 4", 32, 32, (28, 28), (3, 3), {"pads": [4] * 4, "dilations": [4, 4]}),
    ("3x3 one output channel", 64, 1, (28, 28), (3, 3), {"pads": [1] * 4}),
    ("depthwise 3x3", 96, 96, (28, 28), (3, 3), {"pads": [1] * 4, "group": 96}),
    ("depthwise 3x3 stride 2", 96, 96, (28, 28), (3, 3), {"pads": [1] * 4, "group": 96, "strides": [2, 2]}),
    ("depthwise 5x5", 96, 96, (14, 14), (5, 5), {"pads": [2] * 4, "group": 96}),
    ("depthwise dilation 2", 96, 96, (28, 28), (3, 3), {"pads": [2] * 4, "group": 96, "dilations": [2, 2]}),
    ("depthwise 7x7", 64, 64, (14, 14), (7, 7), {"pads": [3] * 4, "group": 64}),
    ("depth multiplier 2", 32, 64, (28, 28), (3, 3), {"pads": [1] * 4, "group": 32}),
    ("grouped 4", 64, 64, (28, 28), (3, 3), {"pads": [1] * 4, "group": 4}),
    ("grouped 16", 64, 64, (28, 28), (3, 3), {"pads": [1] * 4, "group": 16}),
    ("1-D k9", 64, 64, (256,), (9,), {"pads": [4] * 2}),
    ("1-D k1", 64, 128, (256,), (1,), {}),
    ("1-D depthwise k31", 64, 64, (256,), (31,), {"pads": [15] * 2, "group": 64}),
    ("1-D causal dilation 8", 32, 32, (256,), (3,), {"pads": [16, 0], "dilations": [8]}),
    ("3-D 3x3x3", 8, 16, (8, 16, 16), (3, 3, 3), {"pads": [1] * 6}),
]


def convolutions():
    for name, inputs, out, image, kernel, attributes in GEOMETRIES:
        for kind, zero in (("s8", 0), ("u8", 128), ("u8", 113)):
            for maker, group in ((static_conv, "QLinearConv"), (integer_conv, "ConvInteger")):
                if maker is integer_conv and (kind, zero) == ("u8", 128):
                    continue
                net = Net()
                x = net.input("u8", 1, inputs, *image)
                y = maker(net, x, out, inputs, kernel, kind, zero, **attributes)
                yield net.case(group, f"{name}, weights {kind} zero point {zero}", y)
    net = Net()
    yield net.case("QLinearConv", "3x3, batch 8", static_conv(net, net.input("u8", 8, 32, 14, 14), 32, 32, (3, 3),
                                                             pads=[1] * 4))


def chains():
    """Layers among their likes, so that the layout of the ends counts less."""
    for name, inputs, out, image, kernel, attributes in GEOMETRIES:
        if inputs != out:
            continue
        net = Net()
        x = net.input("u8", 1, inputs, *image)
        for _ in range(4):
            x = static_conv(net, x, out, inputs, kernel, **attributes)
        yield net.case("QLinearConv x 4", name, x)


PRODUCTS = [(1, 256, 256), (1, 1024, 1000), (16, 64, 64), (64, 64, 64), (128, 256, 256), (128, 256, 1024),
            (49, 96, 288), (7, 33, 19)]


def products():
    for rows, depth, cols in PRODUCTS:
        size = f"{rows}x{depth}x{cols}"
        for weights, zero in (("s8", 0), ("u8", 121)):
            net = Net()
            x = net.input("u8", rows, depth)
            w = net.weights(weights, depth, cols)
            y = net.node("QLinearMatMul", x, net.constant("f32", 0.02), net.constant("u8", 128), w,
                         net.constant("f32", 0.01), net.constant(weights, zero), net.constant("f32", 0.3),
                         net.constant("u8", 128))
            yield net.case("QLinearMatMul, constant", f"{size} {weights}", y)
            net = Net()
            x, zero_point = net.input("u8", rows, depth), net.late("u8", 117)
            y = net.node("MatMulInteger", x, net.weights(weights, depth, cols), zero_point, net.constant(weights, zero))
            yield net.case("MatMulInteger, constant", f"{size} {weights}", y)
        net = Net()
        yield net.case("dynamic dense", size, net.dynamic(net.input("f32", rows, depth), net.weights("s8", depth, cols)))
        net = Net()
        y = net.node("MatMul", net.fake(net.input("f32", rows, depth)), net.integer_weights(depth, cols))
        yield net.case("QDQ dense", size, net.fake(y, 0.3))
        net = Net()
        yield net.case("float MatMul", size, net.node("MatMul", net.input("f32", rows, depth),
                                                      net.weights("f32", depth, cols)))


def run_time_products():
    for batch, rows, depth, cols in ((4, 128, 64, 128), (4, 128, 128, 64), (1, 64, 64, 64), (8, 16, 32, 16),
                                     (12, 49, 32, 49), (1, 1, 256, 256)):
        size = f"{batch}x{rows}x{depth}x{cols}"
        for kind in ("u8", "s8"):
            net = Net()
            a, b = net.input("u8", batch, rows, depth), net.input(kind, batch, depth, cols)
            y = net.node("QLinearMatMul", a, net.constant("f32", 0.02), net.constant("u8", 128), b,
                         net.constant("f32", 0.01), net.constant(kind, 3), net.constant("f32", 0.3),
                         net.constant("u8", 128))
            yield net.case("QLinearMatMul, run time", f"{size} {kind}", y)
        net = Net()
        a, b = net.input("u8", batch, rows, depth), net.input("u8", batch, depth, cols)
        yield net.case("MatMulInteger, run time", size, net.node("MatMulInteger", a, b, net.late("u8", 100),
                                                                 net.late("u8", 130)))
        net = Net()
        a, b = net.input("f32", batch, rows, depth), net.input("f32", batch, depth, cols)
        yield net.case("float MatMul, run time", size, net.node("MatMul", a, b))


def all_cases() -> list[nodes.Case]:
    return [*convolutions(), *chains(), *products(), *run_time_products()]
