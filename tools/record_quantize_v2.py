#!/usr/bin/env python3
"""Records what TensorFlow's QuantizeV2 and Dequantize compute, for tests/recorded/quantize_v2_recorded_test.cc.

    python3 -m venv /tmp/tf && /tmp/tf/bin/pip install tensorflow-cpu
    TF_ENABLE_ONEDNN_OPTS=0 /tmp/tf/bin/python tools/record_quantize_v2.py

Writes tests/data/quantize_v2/{recorded.bin,recorded.json}. Only results are stored: ranges and elements
come from a generator of random numbers that the test repeats in C++, float operation by float operation.
recorded.bin is, for each case in order, the output's elements, then output_min and output_max (float32,
one per slice); for Dequantize the float32 elements. All little-endian.

With oneDNN, TensorFlow replaces QuantizeV2 by another kernel, hence the environment variable.
"""
import json
import os
import platform

os.environ["TF_ENABLE_ONEDNN_OPTS"] = "0"
os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "2")

import numpy as np
import tensorflow as tf
from tensorflow.python.ops import gen_array_ops

SEED = 20260101
F = np.float32
TYPES = [(tf.qint8, np.int8), (tf.quint8, np.uint8), (tf.qint16, np.int16), (tf.quint16, np.uint16),
         (tf.qint32, np.int32)]
MODES = [("MIN_COMBINED", "HALF_AWAY_FROM_ZERO"), ("MIN_FIRST", "HALF_AWAY_FROM_ZERO"),
         ("SCALED", "HALF_AWAY_FROM_ZERO"), ("SCALED", "HALF_TO_EVEN")]
MINIMUM_RANGES = [F(0.01), F(0), F(0.001), F(0.25)]
SECTIONS = {"short": (10240, 8), "long": (96, 256), "axis": (192, 24), "dequantize": (1024, 8)}
AXIS_SHAPE = (2, 3, 4)


class Random:
    """splitmix64"""

    def __init__(self, seed):
        self.state = seed

    def next(self):
        mask = (1 << 64) - 1
        self.state = (self.state + 0x9E3779B97F4A7C15) & mask
        z = self.state
        z = ((z ^ (z >> 30)) * 0xBF58476D1CE4E5B9) & mask
        z = ((z ^ (z >> 27)) * 0x94D049BB133111EB) & mask
        return z ^ (z >> 31)

    def below(self, n):
        return (self.next() >> 11) % n

    def unit(self):
        """24 random bits in [0, 1)"""
        return F(self.next() >> 40) * F(2.0**-24)


def random_range(r):
    kind = r.below(4)
    unit = F(2.0 ** (r.below(41) - 20))
    a = r.unit() * unit
    b = r.unit() * unit
    if kind == 0:
        return -a, b
    if kind == 1:
        divisor = F([1, 2, 4, 10, 100][r.below(5)])
        return -(F(r.below(256)) / divisor), F(r.below(256)) / divisor
    if kind == 2:
        low, high = a, a + b
        return (low, high) if r.below(2) == 0 else (-high, -low)
    which = r.below(3)
    if which == 0:
        return F(0), b
    return (-a, F(0)) if which == 1 else (a, a)


def random_element(r, low, high, levels):
    kind = r.below(8)
    width = high - low
    if kind <= 2:
        return low + width * (r.unit() * F(1.5) - F(0.25))
    if kind <= 4:  # around the ties of a grid from the range's lower end
        return low + width * F(r.below(2 * levels + 1)) / F(2 * levels)
    if kind == 5:  # ... of a grid around zero
        most = max(-low, high)
        return most * F(r.below(4 * levels + 1) - 2 * levels) / F(2 * levels)
    if kind == 6:
        return [F(0), low, high, F(1e30), F(-1e30), F(1e-40), high + high, low + low][r.below(8)]
    bits = r.next() >> 32
    if (bits >> 23) & 0xFF == 0xFF:
        bits &= 0x80000000
    return np.array([bits], np.uint32).view(F)[0]


def levels_of(numpy_type):
    return 255 if numpy_type().itemsize == 1 else 65535


def quantize(x, low, high, tf_type, mode, narrow, minimum_range, axis=-1):
    y, y_min, y_max = gen_array_ops.quantize_v2(
        x, low, high, tf_type, mode=mode[0], round_mode=mode[1], narrow_range=narrow, axis=axis,
        ensure_minimum_range=float(minimum_range))
    return y, y_min, y_max


def per_tensor(r, elements, out):
    tf_type, numpy_type = TYPES[r.below(5)]
    mode = MODES[r.below(4)]
    narrow = r.below(2) == 1
    minimum_range = MINIMUM_RANGES[r.below(4)]
    low, high = random_range(r)
    if low == high:
        minimum_range = MINIMUM_RANGES[0]
    x = np.array([random_element(r, low, high, levels_of(numpy_type)) for _ in range(elements)], F)
    for part in quantize(x, low, high, tf_type, mode, narrow, minimum_range):
        out.append(part.numpy().tobytes())


def per_axis(r, elements, out):
    tf_type, numpy_type = TYPES[r.below(5)]
    mode = MODES[[0, 2, 3][r.below(3)]]
    narrow = r.below(2) == 1
    axis = r.below(3)
    ranges = [random_range(r) for _ in range(AXIS_SHAPE[axis])]
    low, high = np.array([a for a, _ in ranges], F), np.array([b for _, b in ranges], F)
    x = np.zeros(AXIS_SHAPE, F)
    for i in range(elements):
        at = np.unravel_index(i, AXIS_SHAPE)
        x[at] = random_element(r, low[at[axis]], high[at[axis]], levels_of(numpy_type))
    y, y_min, y_max = quantize(x, low, high, tf_type, mode, narrow, MINIMUM_RANGES[0], axis)
    again = gen_array_ops.dequantize(y, y_min, y_max, mode=mode[0], narrow_range=narrow, axis=axis)
    for part in (y, y_min, y_max, again):
        out.append(part.numpy().tobytes())


def dequantize(r, elements, out):
    tf_type, numpy_type = TYPES[r.below(5)]
    mode = MODES[r.below(3)]
    narrow = r.below(2) == 1
    low, high = random_range(r)
    size = numpy_type().itemsize
    values = [r.next() & ((1 << (8 * size)) - 1) for _ in range(elements)]
    q = np.array(values, f"u{size}").view(numpy_type)
    x = gen_array_ops.dequantize(tf.bitcast(q, tf_type), low, high, mode=mode[0],
                                 narrow_range=narrow)
    out.append(x.numpy().tobytes())


def cpu_name():
    with open("/proc/cpuinfo", encoding="utf-8") as info:
        names = [line.split(":")[1].strip() for line in info if line.startswith("model name")]
    return names[0] if names else platform.processor()


def main():
    np.seterr(all="ignore")
    out = []
    makers = {"short": per_tensor, "long": per_tensor, "axis": per_axis, "dequantize": dequantize}
    for number, (name, (cases, elements)) in enumerate(SECTIONS.items()):
        r = Random(SEED + number)
        for _ in range(cases):
            makers[name](r, elements, out)
    folder = os.path.join(os.path.dirname(__file__), "..", "tests", "data", "quantize_v2")
    data = b"".join(out)
    with open(os.path.join(folder, "recorded.bin"), "wb") as file:
        file.write(data)
    about = {"tensorflow": tf.__version__, "numpy": np.__version__, "onednn": False, "cpu": cpu_name(),
             "seed": SEED, "bytes": len(data),
             "sections": {n: {"cases": c, "elements": e} for n, (c, e) in SECTIONS.items()}}
    with open(os.path.join(folder, "recorded.json"), "w", encoding="utf-8") as file:
        json.dump(about, file, indent=2)
        file.write("\n")


if __name__ == "__main__":
    main()
