"""Float operators in float64, each with a bound of how far float32 may be from it whatever the order of its sums.

A sum of n terms of float32 is at most n * 2^-24 of the sum of their sizes away (Higham, Accuracy and Stability, 4.4), with a
term of second order that the few units added to n cover. Each function takes attributes and tensors (groups.Real) and
gives the values and the bounds.
"""

import collections
import math
from fractions import Fraction

import numpy as np

from builder import Unbuildable

Plain = collections.namedtuple("Plain", "value error")
U = 2.0**-24  # half a unit in the last place of float32
# Of the largest value: Etch's and ONNX Runtime's own exp, tanh and sigmoid are polynomials in float32.
FUNCTION = 2.0**-20
MOVES = (
    "Slice",
    "Concat",
    "Transpose",
    "Reshape",
    "Identity",
    "Split",
    "Gather",
    "Squeeze",
    "Unsqueeze",
    "Flatten",
    "Pad",
    "Expand",
)


def window(size, kernel, stride, dilation, pads, auto):
    """Sizes of the output and of the padding (docs/spec/shapes.md)."""
    reach = (kernel - 1) * dilation + 1
    if auto in ("SAME_UPPER", "SAME_LOWER"):
        out = -(-size // stride)
        total = max(0, reach - stride if size % stride == 0 else reach - size % stride)
        begin = total // 2 if auto == "SAME_UPPER" else total - total // 2
        return out, begin, total - begin
    return (size + sum(pads) - reach) // stride + 1, pads[0], pads[1]


def convolve(a, x, w):
    """Of whole tensors in their own type, without bias."""
    rank = x.ndim - 2
    kernel, group = w.shape[2:], a.get("group", 1)
    strides, dilations = a.get("strides", [1] * rank), a.get("dilations", [1] * rank)
    pads, auto = a.get("pads", [0] * 2 * rank), a.get("auto_pad", b"NOTSET").decode()
    sizes = [
        window(x.shape[2 + i], kernel[i], strides[i], dilations[i], (pads[i], pads[rank + i]), auto)
        for i in range(rank)
    ]
    wide = np.pad(x, [(0, 0), (0, 0)] + [s[1:] for s in sizes])
    wide = wide.reshape([x.shape[0], group, x.shape[1] // group] + list(wide.shape[2:]))
    parts = w.reshape([group, w.shape[0] // group] + list(w.shape[1:]))
    out = 0
    for at in np.ndindex(*kernel):
        cut = tuple(slice(o * d, o * d + (s[0] - 1) * t + 1, t) for o, d, s, t in zip(at, dilations, sizes, strides))
        out = out + np.einsum("ngc...,gmc->ngm...", wide[(slice(None),) * 3 + cut], parts[(slice(None),) * 3 + at])
    return out.reshape([x.shape[0], w.shape[0]] + [s[0] for s in sizes])


def chosen_pads(a, sizes, strided, auto):
    """Of ConvTranspose: what leaves the output shape that is given, or that of `auto_pad` (docs/spec/shapes.md)."""
    rank = len(sizes)
    wanted = a.get("output_shape", strided if auto.startswith("SAME") else None)
    if wanted is None:
        return a.get("pads", [0] * 2 * rank)
    begin = []
    for size, out in zip(sizes, list(wanted)[-rank:]):
        total = size - out
        if total < 0:
            raise Unbuildable("ConvTranspose with less than no padding")
        begin.append(total // 2 if auto == "SAME_UPPER" else total - total // 2)
    return begin + [size - out - first for size, out, first in zip(sizes, list(wanted)[-rank:], begin)]


def convolve_transposed(a, x, w):
    """Of whole tensors, without bias: each value of x puts the kernel around its place."""
    rank = x.ndim - 2
    kernel, group = w.shape[2:], a.get("group", 1)
    strides, dilations = a.get("strides", [1] * rank), a.get("dilations", [1] * rank)
    extra, auto = a.get("output_padding", [0] * rank), a.get("auto_pad", b"NOTSET").decode()
    sizes = [(s - 1) * t + (k - 1) * d + 1 + e for s, t, k, d, e in zip(x.shape[2:], strides, kernel, dilations, extra)]
    pads = chosen_pads(a, sizes, [s * t for s, t in zip(x.shape[2:], strides)], auto)
    parts = w.reshape([group, w.shape[0] // group] + list(w.shape[1:]))
    grouped = x.reshape([x.shape[0], group, x.shape[1] // group] + list(x.shape[2:]))
    out = np.zeros([x.shape[0], group, w.shape[1]] + sizes)
    for at in np.ndindex(*kernel):
        cut = tuple(slice(o * d, o * d + (s - 1) * t + 1, t) for o, d, s, t in zip(at, dilations, x.shape[2:], strides))
        out[(slice(None),) * 3 + cut] += np.einsum("ngc...,gcm->ngm...", grouped, parts[(slice(None),) * 3 + at])
    inner = tuple(slice(pads[i], sizes[i] - pads[rank + i]) for i in range(rank))
    return out[(slice(None),) * 3 + inner].reshape([x.shape[0], -1] + [s.stop - s.start for s in inner])


def column(bias, rank):
    return bias.reshape([-1] + [1] * (rank - 2))


def conv(a, ins, convolve=convolve):
    x, w = ins[:2]
    value = convolve(a, x.value, w.value)
    size = convolve(a, np.abs(x.value), np.abs(w.value))
    carried = convolve(a, x.error, np.abs(w.value) + w.error) + convolve(a, np.abs(x.value), w.error)
    terms = max(int(np.prod(w.value.shape[1:])), int(np.prod(w.value.shape[2:])) * w.value.shape[0]) + 3
    if len(ins) > 2:
        value = value + column(ins[2].value, value.ndim)
        size = size + column(np.abs(ins[2].value), value.ndim)
        carried = carried + column(ins[2].error, value.ndim)
    return value, carried + size * terms * U


def whole_conv(a, ins):
    """Of section 5.10: how far the integer operator may be, with the bias in 2^-31 of a unit; None if
    the sums may leave int32 or the weights 8 bits. And for which scales of the result its factor is expressed."""
    (q, x_scale, x_zero), (w, w_scale, w_zero) = ins[0].source, ins[1].source
    w = w.astype(np.int64) - w_zero.astype(np.int64)
    if x_scale.size > 1 or w.min() < -128 or w.max() > 127:
        return None, None
    unit = np.broadcast_to((x_scale * w_scale).reshape(-1), len(w))
    bias, slack = np.zeros(len(w)), np.zeros(len(w))
    if len(ins) > 2:
        bias = ins[2].value.reshape(-1)
        slack = np.abs(bias) * 2.0**-50 + unit * 2.0**-31
    info = np.iinfo(q.dtype)
    widest = max(float(x_zero - info.min), float(info.max - x_zero))
    if (np.abs(w).reshape(len(w), -1).sum(1) * widest + np.abs(bias / unit)).max() >= 2.0**31:
        return None, None
    size = convolve(a, np.abs(ins[0].value), np.abs(ins[1].value))
    allowed = lambda scale: bool(((unit / scale >= 2.0**-33) & (unit / scale < 2.0**28)).all())
    return size * 2.0**-44 + column(slack, size.ndim), allowed


def sums_allowed(scales):
    """For which scales of the result section 5.11 has an integer operator."""

    def allowed(scale):
        if scale.size > 1 or any(s.size > 1 for s in scales):
            return False
        ratios = [Fraction(float(s)) / Fraction(float(scale)) for s in scales]
        return max(ratios) <= 2**12 and math.lcm(*[r.denominator for r in ratios]) <= 2**61

    return allowed


def matmul(a, ins):
    x, y = ins
    terms = x.value.shape[-1] + 2
    size = np.matmul(np.abs(x.value), np.abs(y.value))
    carried = np.matmul(x.error, np.abs(y.value) + y.error) + np.matmul(np.abs(x.value), y.error)
    return np.matmul(x.value, y.value), carried + size * terms * U


def gemm(a, ins):
    x, y = (Plain(i.value.T, i.error.T) if a.get(t) else i for i, t in zip(ins, ("transA", "transB")))
    alpha, beta = (float(np.float32(a.get(n, 1.0))) for n in ("alpha", "beta"))
    value, error = matmul({}, [x, y])
    value, error = rounded(value * alpha, error * abs(alpha))
    if len(ins) < 3 or ins[2] is None:
        return value, error
    c, more = rounded(ins[2].value * beta, ins[2].error * abs(beta))
    return rounded(value + c, error + more)


def mean(a, ins):
    x, axes = ins[0], tuple(range(2, ins[0].value.ndim))
    terms = np.prod([x.value.shape[i] for i in axes]) + 2
    size = np.abs(x.value).mean(axes, keepdims=True)
    return x.value.mean(axes, keepdims=True), x.error.mean(axes, keepdims=True) + size * terms * U


def pooled_axis(a, i, rank, size):
    """For each output of an axis the positions of its window inside of the input, and how many count."""
    kernel, stride = a["kernel_shape"][i], a.get("strides", [1] * rank)[i]
    dilation, pads = a.get("dilations", [1] * rank)[i], a.get("pads", [0] * 2 * rank)[i::rank]
    out, begin, end = window(size, kernel, stride, dilation, pads, a.get("auto_pad", b"NOTSET").decode())
    room = size + begin + end - (kernel - 1) * dilation - 1
    if a.get("ceil_mode") and room % stride and out * stride < size + begin:
        out += 1
    for o in range(out):
        taps = [o * stride - begin + k * dilation for k in range(kernel)]
        inside = [t for t in taps if 0 <= t < size]
        yield inside, sum(-begin <= t < size + end for t in taps) if a.get("count_include_pad") else len(inside)


def average_pool(a, ins):
    x, sizes = ins[0], ins[0].value.shape[2:]
    axes = [list(pooled_axis(a, i, len(sizes), n)) for i, n in enumerate(sizes)]
    value = np.zeros(x.value.shape[:2] + tuple(map(len, axes)))
    error = np.zeros(value.shape)
    for o in np.ndindex(*value.shape[2:]):
        windows = [axis[k] for axis, k in zip(axes, o)]
        count = int(np.prod([n for _, n in windows]))
        if count == 0:
            continue
        taken = np.ix_(*map(range, x.value.shape[:2]), *[w for w, _ in windows])
        over = tuple(range(2, x.value.ndim))
        size = np.abs(x.value[taken]).sum(over) / count
        value[(..., *o)] = x.value[taken].sum(over) / count
        error[(..., *o)] = x.error[taken].sum(over) / count + size * (count + 2) * U
    return value, error


def means_allowed(a, x_scale, sizes):
    """For which scales of the result section 5.11 has an integer operator; all windows are taken for clipped."""
    most = int(np.prod(a.get("kernel_shape", sizes)))
    whole = "kernel_shape" not in a
    needed = 17 + (most - 1).bit_length()

    def allowed(scale):
        if scale.size > 1 or x_scale.size > 1 or most > 32767:
            return False
        ratio = Fraction(float(x_scale)) / Fraction(float(scale))
        largest = ratio / (most if whole else 1)
        return ratio.denominator * most <= 2**61 and largest * 2**needed <= 2**30 and largest * most <= 2**14

    return allowed


def softmax(a, ins):
    x, axis = ins[0], a.get("axis", -1)
    e = np.exp(x.value - x.value.max(axis, keepdims=True))
    value = e / e.sum(axis, keepdims=True)
    moved = np.expm1(2 * x.error.max(axis, keepdims=True))
    return value, value * (moved + FUNCTION + x.value.shape[axis] * U)


def rounded(value, error):
    return value, error + (np.abs(value) + error) * U


def product(a, ins):
    x, y = ins
    return rounded(x.value * y.value, np.abs(x.value) * y.error + np.abs(y.value) * x.error + x.error * y.error)


def clip(a, ins):
    low, high = (float(i.value) if i is not None else d for i, d in zip((ins + [None] * 2)[1:3], (-np.inf, np.inf)))
    return np.clip(ins[0].value, low, high), ins[0].error


def elementwise(function, slope=1.0, inner_size=0.0):
    """Of a function whose slope is at most this, and within which there are values of this size."""

    def inner(a, ins):
        value = function(ins[0].value, a)
        return value, slope * ins[0].error + np.maximum(np.abs(value), max(np.abs(value).max(), inner_size)) * FUNCTION

    return inner


def hard_sigmoid(v, a):
    return np.clip(v * float(np.float32(a.get("alpha", 0.2))) + float(np.float32(a.get("beta", 0.5))), 0, 1)


def leaky(v, a):
    return np.where(v < 0, v * float(np.float32(a.get("alpha", 0.01))), v)


def normalized(x, axes, epsilon):
    """Less the mean, by the deviation; bounds of both, where differences of nearly equal values are not small."""
    v, n = x.value, np.prod([x.value.shape[i] for i in axes])
    centred = v - v.mean(axes, keepdims=True)
    largest = np.abs(v).max(axes, keepdims=True)
    off = x.error.max(axes, keepdims=True) * 2 + largest * (n + 3) * U
    variance = (centred**2).mean(axes, keepdims=True)
    moved = (2 * np.abs(centred).max(axes, keepdims=True) + off) * off + variance * (n + 3) * U
    low = np.sqrt(np.maximum(variance - moved, 0) + epsilon)
    y = centred / np.sqrt(variance + epsilon)
    return y, (np.abs(centred) + off) / low * (1 + 4 * U) - np.abs(y) + np.abs(y) * 4 * U


def layer_normalization(a, ins):
    x = ins[0]
    axes = tuple(range(a.get("axis", -1) % x.value.ndim, x.value.ndim))
    y, error = normalized(x, axes, a.get("epsilon", 1e-5))
    value, error = y * ins[1].value, error * np.abs(ins[1].value)
    return rounded(*((value + ins[2].value, error + np.abs(value) * U) if len(ins) > 2 else (value, error)))


def instance_normalization(a, ins):
    x = ins[0]
    y, error = normalized(x, tuple(range(2, x.value.ndim)), a.get("epsilon", 1e-5))
    gain, shift = (column(i.value, y.ndim) for i in ins[1:3])
    return rounded(y * gain + shift, error * np.abs(gain) + (np.abs(y * gain) + np.abs(shift)) * U)


OPERATORS = {
    "Conv": conv,
    "ConvTranspose": lambda a, ins: conv(a, ins, convolve_transposed),
    "MatMul": matmul,
    "Gemm": gemm,
    "AveragePool": average_pool,
    "GlobalAveragePool": mean,
    "Softmax": softmax,
    "Neg": lambda a, ins: (-ins[0].value, ins[0].error),
    "Abs": lambda a, ins: (np.abs(ins[0].value), ins[0].error),
    "Add": lambda a, ins: rounded(ins[0].value + ins[1].value, ins[0].error + ins[1].error),
    "Sub": lambda a, ins: rounded(ins[0].value - ins[1].value, ins[0].error + ins[1].error),
    "Mul": product,
    "Relu": lambda a, ins: (np.maximum(ins[0].value, 0), ins[0].error),
    "Clip": clip,
    "LeakyRelu": elementwise(leaky, 2.0),
    "Sigmoid": elementwise(lambda v, a: 1 / (1 + np.exp(-v))),
    "Tanh": elementwise(lambda v, a: np.tanh(v)),
    "HardSigmoid": elementwise(hard_sigmoid),
    "HardSwish": elementwise(lambda v, a: v * np.clip(v / 6 + 0.5, 0, 1), 1.5),
    "Elu": elementwise(
        lambda v, a: np.where(v < 0, float(a.get("alpha", 1.0)) * np.expm1(np.minimum(v, 0)), v), inner_size=1.0
    ),
    "LayerNormalization": layer_normalization,
    "InstanceNormalization": instance_normalization,
}
