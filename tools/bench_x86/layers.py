"""The 42 layers that tools/bench-x86 times: what ResNet-50 (R50), MobileNetV1 (MB) and V2 (M2), and MLPerf Tiny's
ResNet-8 (RN8), DS-CNN (DS) and person detection (VWW) consist of. Sizes are those of the input; same padding.
"""

import dataclasses

TINY_MACS = 3e6  # below this, peers are charged for one more node of a graph, not for a call of their session


@dataclasses.dataclass(frozen=True)
class Layer:
    name: str
    channels: int
    filters: int  # output channels
    size: tuple[int, int]
    kernel: tuple[int, int] = (1, 1)
    stride: int = 1
    depthwise: bool = False
    signed: bool = False  # int8 activations

    @property
    def output_size(self) -> tuple[int, int]:
        return tuple(-(-size // self.stride) for size in self.size)

    @property
    def pads(self) -> list[int]:
        """Top, left, bottom, right: symmetric where the kernel is odd, otherwise more at the end."""
        totals = [max(0, (out - 1) * self.stride + kernel - size)
                  for size, out, kernel in zip(self.size, self.output_size, self.kernel)]
        if self.kernel[0] == self.kernel[1]:
            return [(self.kernel[0] - 1) // 2] * 4
        return [total // 2 for total in totals] + [total - total // 2 for total in totals]

    @property
    def groups(self) -> int:
        return self.channels if self.depthwise else 1

    @property
    def weight_shape(self) -> tuple[int, int, int, int]:
        return (self.filters, self.channels // self.groups, *self.kernel)

    @property
    def macs(self) -> int:
        products = self.kernel[0] * self.kernel[1] * self.channels // self.groups
        return products * self.filters * self.output_size[0] * self.output_size[1]

    @property
    def tiny(self) -> bool:
        return self.macs < TINY_MACS

    @property
    def is_first(self) -> bool:
        """The first layer of a network: copying the image into the padded buffer is part of it."""
        return self.channels <= 3


def dense(name, channels, filters, size, kernel=3, stride=1):
    return Layer(name, channels, filters, (size, size), (kernel, kernel), stride)


def pointwise(name, channels, filters, size, stride=1):
    return Layer(name, channels, filters, (size, size), (1, 1), stride)


def depthwise(name, channels, size, stride=1):
    return Layer(name, channels, channels, (size, size), (3, 3), stride, depthwise=True)


UNSIGNED = [
    dense("R50 7x7s2 3-64 @224", 3, 64, 224, kernel=7, stride=2),
    pointwise("R50 1x1 64-64 @56", 64, 64, 56),
    dense("R50 3x3 64 @56", 64, 64, 56),
    pointwise("R50 1x1 64-256 @56", 64, 256, 56),
    pointwise("R50 1x1s2 256-512 @56", 256, 512, 56, stride=2),
    dense("R50 3x3s2 128 @56", 128, 128, 56, stride=2),
    dense("R50 3x3 256 @14", 256, 256, 14),
    pointwise("R50 1x1 1024-256 @14", 1024, 256, 14),
    pointwise("R50 1x1 256-1024 @14", 256, 1024, 14),
    dense("R50 3x3 512 @7", 512, 512, 7),
    pointwise("R50 1x1 2048-512 @7", 2048, 512, 7),
    dense("MB 3x3s2 3-32 @224", 3, 32, 224, stride=2),
    depthwise("MB dw3x3 32 @112", 32, 112),
    pointwise("MB pw 32-64 @112", 32, 64, 112),
    depthwise("MB dw3x3s2 64 @112", 64, 112, stride=2),
    pointwise("MB pw 128 @56", 128, 128, 56),
    pointwise("MB pw 512 @14", 512, 512, 14),
    depthwise("MB dw3x3 512 @14", 512, 14),
    pointwise("M2 pw 16-96 @112", 16, 96, 112),
    depthwise("M2 dw3x3s2 96 @112", 96, 112, stride=2),
    pointwise("M2 pw 96-24 @56", 96, 24, 56),
    pointwise("M2 pw 24-144 @56", 24, 144, 56),
    depthwise("M2 dw3x3 144 @56", 144, 56),
    pointwise("M2 pw 144-24 @56", 144, 24, 56),
    pointwise("M2 pw 960-320 @7", 960, 320, 7),
    depthwise("M2 dw3x3 960 @7", 960, 7),
    dense("RN8 3x3 3-16 @32", 3, 16, 32),
    dense("RN8 3x3 16 @32", 16, 16, 32),
    dense("RN8 3x3s2 16-32 @32", 16, 32, 32, stride=2),
    dense("RN8 3x3 32 @16", 32, 32, 16),
    dense("RN8 3x3 64 @8", 64, 64, 8),
    Layer("DS 10x4s2 1-64", 1, 64, (49, 10), (10, 4), 2),
    Layer("DS dw3x3 64 @25x5", 64, 64, (25, 5), (3, 3), depthwise=True),
    Layer("DS pw 64 @25x5", 64, 64, (25, 5)),
    dense("VWW 3x3s2 3-8 @96", 3, 8, 96, stride=2),
    depthwise("VWW dw3x3 8 @48", 8, 48),
    pointwise("VWW pw 8-16 @48", 8, 16, 48),
    depthwise("VWW dw3x3s2 16 @48", 16, 48, stride=2),
    pointwise("VWW pw 64 @12", 64, 64, 12),
    depthwise("VWW dw3x3 128 @6", 128, 6),
    pointwise("VWW pw 128 @6", 128, 128, 6),
    pointwise("VWW pw 256 @3", 256, 256, 3),
]

# Layers that are also timed with int8 activations.
ALSO_SIGNED = ["R50 1x1 64-64 @56", "R50 3x3 64 @56", "MB pw 512 @14", "MB dw3x3 512 @14", "RN8 3x3 32 @16",
               "DS dw3x3 64 @25x5", "VWW pw 256 @3"]

# What a quick run takes: each kind of layer once.
QUICK = ["R50 7x7s2 3-64 @224", "R50 3x3 64 @56", "R50 1x1 1024-256 @14", "MB 3x3s2 3-32 @224", "MB dw3x3 512 @14",
         "M2 pw 16-96 @112", "M2 pw 96-24 @56", "M2 dw3x3 144 @56", "RN8 3x3 16 @32", "DS 10x4s2 1-64", "VWW pw 64 @12",
         "VWW dw3x3s2 16 @48"]


def all_layers() -> list[Layer]:
    signed = [dataclasses.replace(layer, name=layer.name + " s8", signed=True)
              for layer in UNSIGNED if layer.name in ALSO_SIGNED]
    return UNSIGNED + signed
