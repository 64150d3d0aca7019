"""A small convolutional network for 8x8 digits and its training, in plain numpy.

    x [N,1,8,8] -> conv 3x3, 16, relu -> conv 3x3 stride 2, 32, relu  (call it h)
      -> depthwise 3x3, relu -> conv 1x1, 32 -> add h -> max pool 2x2 -> flatten -> linear, 10

It is meant to be small and to contain what real networks contain: padding, stride, a depthwise layer, a residual
addition, pooling and a fully connected layer. Arrays are float32 in ONNX order (NCHW, OIHW).
"""

import numpy as np

EPOCHS = 60
BATCH = 64
PEAK_RATE = 4e-3
DECAY = 1e-4


def initial_parameters(rng):
    """He-initialised weights and zero biases, by layer name."""
    shapes = {"stem": (16, 1, 3, 3), "down": (32, 16, 3, 3), "depthwise": (32, 1, 3, 3),
              "pointwise": (32, 32, 1, 1), "linear": (10, 128)}
    parameters = {}
    for name, shape in shapes.items():
        fan_in = int(np.prod(shape[1:]))
        parameters[name + ".w"] = (rng.standard_normal(shape) * np.sqrt(2 / fan_in)).astype(np.float32)
        parameters[name + ".b"] = np.zeros(shape[0], np.float32)
    return parameters


def columns_of(x, stride):
    """x [N,C,H,W], padded by one, as 3x3 windows [N,C,3,3,H/stride,W/stride]."""
    padded = np.pad(x, ((0, 0), (0, 0), (1, 1), (1, 1)))
    windows = np.lib.stride_tricks.sliding_window_view(padded, (3, 3), axis=(2, 3))
    return windows[:, :, ::stride, ::stride].transpose(0, 1, 4, 5, 2, 3)


def scatter_columns(columns, shape, stride):
    """The transpose of columns_of: sums windows back into an array of `shape`."""
    n, c, h, w = shape
    padded = np.zeros((n, c, h + 2, w + 2), np.float32)
    for i in range(3):
        for j in range(3):
            padded[:, :, i:i + h:stride, j:j + w:stride] += columns[:, :, i, j]
    return padded[:, :, 1:-1, 1:-1]


def conv3x3(x, w, b, stride):
    columns = np.ascontiguousarray(columns_of(x, stride))
    n, c, _, _, h, wide = columns.shape
    flat = columns.reshape(n, c * 9, h * wide)
    y = np.matmul(w.reshape(len(w), -1), flat) + b[:, None]
    return y.reshape(n, len(w), h, wide), flat


def conv3x3_backward(dy, x_shape, w, flat, stride):
    n, m, h, wide = dy.shape
    dy = dy.reshape(n, m, h * wide)
    dw = np.tensordot(dy, flat, axes=([0, 2], [0, 2])).reshape(w.shape)
    columns = np.matmul(w.reshape(m, -1).T, dy).reshape(n, w.shape[1], 3, 3, h, wide)
    return scatter_columns(columns, x_shape, stride), dw, dy.sum((0, 2))


def forward(p, x):
    """Logits [N,10] and what the backward pass needs."""
    s = {"x": x}
    stem, s["stem.cols"] = conv3x3(x, p["stem.w"], p["stem.b"], 1)
    s["stem"] = np.maximum(stem, 0)
    down, s["down.cols"] = conv3x3(s["stem"], p["down.w"], p["down.b"], 2)
    s["down"] = np.maximum(down, 0)
    s["dw.cols"] = columns_of(s["down"], 1)
    depthwise = np.einsum("ncijhw,cij->nchw", s["dw.cols"], p["depthwise.w"][:, 0])
    s["depthwise"] = np.maximum(depthwise + p["depthwise.b"][:, None, None], 0)
    pointwise = np.einsum("nchw,mc->nmhw", s["depthwise"], p["pointwise.w"][:, :, 0, 0])
    s["sum"] = s["down"] + pointwise + p["pointwise.b"][:, None, None]
    n = len(x)
    windows = s["sum"].reshape(n, 32, 2, 2, 2, 2).transpose(0, 1, 2, 4, 3, 5).reshape(n, 128, 4)
    s["winner"] = windows.argmax(-1)[..., None]
    s["flat"] = np.take_along_axis(windows, s["winner"], -1)[..., 0]
    return s["flat"] @ p["linear.w"].T + p["linear.b"], s


def backward(p, s, dlogits):
    """Gradient of every parameter from the gradient of the logits."""
    g = {"linear.w": dlogits.T @ s["flat"], "linear.b": dlogits.sum(0)}
    n = len(dlogits)
    windows = np.zeros((n, 128, 4), np.float32)
    np.put_along_axis(windows, s["winner"], (dlogits @ p["linear.w"])[..., None], -1)
    dsum = windows.reshape(n, 32, 2, 2, 2, 2).transpose(0, 1, 2, 4, 3, 5).reshape(n, 32, 4, 4)
    g["pointwise.b"] = dsum.sum((0, 2, 3))
    g["pointwise.w"] = np.einsum("nmhw,nchw->mc", dsum, s["depthwise"])[:, :, None, None]
    ddw = np.einsum("nmhw,mc->nchw", dsum, p["pointwise.w"][:, :, 0, 0]) * (s["depthwise"] > 0)
    g["depthwise.b"] = ddw.sum((0, 2, 3))
    g["depthwise.w"] = np.einsum("ncijhw,nchw->cij", s["dw.cols"], ddw)[:, None]
    columns = np.einsum("nchw,cij->ncijhw", ddw, p["depthwise.w"][:, 0])
    ddown = (dsum + scatter_columns(columns, s["down"].shape, 1)) * (s["down"] > 0)
    dstem, g["down.w"], g["down.b"] = conv3x3_backward(
        ddown, s["stem"].shape, p["down.w"], s["down.cols"], 2)
    _, g["stem.w"], g["stem.b"] = conv3x3_backward(
        dstem * (s["stem"] > 0), s["x"].shape, p["stem.w"], s["stem.cols"], 1)
    return g


def shifted(x, rng):
    """Every picture moved by -1, 0 or 1 pixel in each direction."""
    padded = np.pad(x, ((0, 0), (0, 0), (1, 1), (1, 1)))
    moves = rng.integers(0, 3, (len(x), 2))
    return np.stack([padded[i, :, r:r + 8, c:c + 8] for i, (r, c) in enumerate(moves)])


def train(x, labels, seed):
    """Adam with a cosine schedule on cross entropy; returns the parameters."""
    rng = np.random.default_rng(seed)
    p = initial_parameters(rng)
    first = {k: np.zeros_like(v) for k, v in p.items()}
    second = {k: np.zeros_like(v) for k, v in p.items()}
    steps = EPOCHS * (len(x) // BATCH)
    step = 0
    for _ in range(EPOCHS):
        order = rng.permutation(len(x))
        for begin in range(0, len(x) - BATCH + 1, BATCH):
            batch = order[begin:begin + BATCH]
            logits, saved = forward(p, shifted(x[batch], rng))
            probabilities = softmax(logits)
            probabilities[np.arange(BATCH), labels[batch]] -= 1
            gradients = backward(p, saved, probabilities / BATCH)
            step += 1
            rate = PEAK_RATE * 0.5 * (1 + np.cos(np.pi * step / steps))
            for k in p:
                first[k] = 0.9 * first[k] + 0.1 * gradients[k]
                second[k] = 0.999 * second[k] + 0.001 * gradients[k] ** 2
                update = (first[k] / (1 - 0.9 ** step)) / (np.sqrt(second[k] / (1 - 0.999 ** step)) + 1e-8)
                p[k] = (p[k] - rate * (update + DECAY * p[k])).astype(np.float32)
    return p


def softmax(logits):
    e = np.exp(logits - logits.max(1, keepdims=True))
    return e / e.sum(1, keepdims=True)
