"""Resize with antialias: filters along any axes, of float32 and bytes, of bits that are ONNX Runtime's."""

import numpy as np

from builder import Unbuildable

F = np.float32

MODES = ["half_pixel", "asymmetric", "align_corners", "pytorch_half_pixel", "half_pixel_symmetric", "tf_crop_and_resize"]


def antialias(b):
    b.opset = max(b.opset, 19)  # which has half_pixel_symmetric
    shape = [1, b.pick([1, 2, 3, 17])] + [b.pick([b.between(2, 9), b.between(10, 40), 70]) for _ in range(2)]
    channels_last = b.chance(0.2)
    modes, filters = MODES, ["linear", "cubic"]
    if channels_last:  # ONNX Runtime takes cubic mode and positions outside for channels first
        shape = [shape[0], *shape[2:], shape[1]]
        modes, filters = MODES[:-1], ["linear"]
    mode = b.pick(filters)
    axes = [1, 2] if channels_last else [2, 3]
    x = b.input(b.bytes(np.uint8, shape) if b.chance(0.4) else b.floats(shape))
    extra = {"axes": axes, "mode": mode, "antialias": 1, "coordinate_transformation_mode": b.pick(modes)}
    if b.chance(0.4):
        extra["exclude_outside"] = 1
    if mode == "cubic" and b.chance(0.5):
        extra["cubic_coeff_a"] = float(b.pick([-0.5, -1, 0, 0.3]))
    if b.chance(0.5):
        extra["extrapolation_value"] = float(b.between(0, 99))
    roi = b.constant(np.array([b.pick([-0.3, 0, 0.2]), 0, 1, b.pick([0.6, 1, 1.4])], F))
    if b.chance(0.5):
        scales = [b.pick([0.5, 0.3, 0.11, 0.77, 1, 1.3, 2]) for _ in axes]
        if min(shape[axis] * scale for axis, scale in zip(axes, scales)) < 1:
            raise Unbuildable("nothing is left")
        b.node("Resize", [x, roi, b.constant(np.array(scales, F))], **extra)
    else:
        sizes = [b.between(1, max(2, shape[axis])) for axis in axes]
        b.node("Resize", [x, roi, "", b.ints(*sizes)], **extra)


FAMILIES = {"antialias": (antialias, 4)}
