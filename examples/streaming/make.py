#!/usr/bin/env python3
"""Makes model.onnx and recording.bin: a small network that listens for a word of three tones, and a second of sound with
what ONNX Runtime answers to each frame of it. Needs numpy, onnx and onnxruntime; makes the same files each time.

  audio [1,1,80] int8, 10 ms at 8 kHz
    -> conv 16 wide, stride 8, 16 bands, relu -> depthwise 9 wide: the energy of 16 bands
    -> depthwise over this frame and the 7 before (near) -> depthwise over frames 0, 8 and 16 back (far)
    -> conv 1x1, 24, relu -> conv 1x1: scores [1,2,1] int8 of "nothing" and "word"

near [1,16,7] and far [1,16,16] are the states: the last frames of what these two layers read. The first four layers are
filters and averages chosen by hand, the fifth is random, and the last one is fitted by least squares.
"""

import pathlib

import numpy as np
import onnx
import onnxruntime
from onnx import TensorProto, helper, numpy_helper

HERE = pathlib.Path(__file__).resolve().parent
RATE, FRAME, FRAMES = 8000, 80, 100
TONES = (500, 1250, 2500)  # Hz, 80 ms each
BANDS, HIDDEN, NEAR, FAR = 16, 24, 7, 16
STATES = {"near": (1, BANDS, NEAR), "far": (1, BANDS, FAR)}


def tones(frequencies, rng):
    """One word: its tones, each 80 ms, of random phase and a loudness from 0.25 to 0.6."""
    time = np.arange(RATE * 8 // 100) / RATE
    loudness = rng.uniform(0.25, 0.6)
    return np.concatenate([loudness * np.sin(2 * np.pi * (f * time + rng.random())) for f in frequencies])


def sound(words, rng):
    """A second of noise with words in it, as int8; `words` has the frame in which each begins, and its tones."""
    wave = 0.03 * rng.standard_normal(FRAME * FRAMES)
    for frame, frequencies in words:
        word = tones(frequencies, rng)
        wave[frame * FRAME:frame * FRAME + len(word)] += word
    return np.clip(np.rint(wave * 128), -128, 127).astype(np.int8).reshape(FRAMES, 1, 1, FRAME)


def practice(rng):
    """Sound with the word and with two that are not it; and for each frame whether the word has just ended."""
    others = [TONES[::-1], (TONES[0], TONES[2], TONES[1]), (TONES[1], TONES[0], TONES[2]), (TONES[0],) * 3,
              (TONES[2],) * 3, (900, 1900, 3200), (TONES[0], TONES[1], TONES[1])]
    order = [TONES, *(others[i] for i in rng.choice(len(others), 2, replace=False))]
    begins = [int(rng.integers(0, 6)) + 33 * i for i in range(3)]
    words = [(begins[i], order[k]) for i, k in enumerate(rng.permutation(3))]
    ends = next(frame for frame, frequencies in words if frequencies is TONES) + 24
    labels = np.zeros(FRAMES)
    labels[ends - 2:ends + 1] = 1
    return sound(words, rng), labels


def filters(rng):
    """Weights of all layers but the last, and biases."""
    time = np.arange(16) - 7.5
    centers = 250 + 220 * np.arange(BANDS)
    stem = np.cos(2 * np.pi * centers[:, None] * time / RATE) * np.hanning(18)[1:-1] / 4
    middle = [int(np.abs(centers - f).argmin()) for f in TONES]
    taps = np.full((BANDS, 3), -0.5)  # 16, 8 and 0 frames back
    for tone, band in enumerate(middle):
        taps[max(band - 1, 0):band + 2, tone] = 1
    hidden = rng.standard_normal((HIDDEN, BANDS)) / 2
    return {"stem": stem[:, None], "energy": np.full((BANDS, 1, 9), 1 / 9), "near": np.full((BANDS, 1, 8), 1 / 8),
            "far": taps[:, None], "hidden": hidden[:, :, None], "hidden_bias": rng.uniform(-0.1, 0.1, HIDDEN)}


class Builder:
    """Nodes of the float network or, with scales of its tensors, of the quantized one."""

    def __init__(self, scales):
        self.scales, self.nodes, self.constants = scales, [], []

    def constant(self, name, array):
        self.constants.append(numpy_helper.from_array(array, name))
        return name

    def scale(self, name, values):
        return [self.constant(name + "_scale", np.asarray(values, np.float32)),
                self.constant(name + "_zero", np.zeros(np.shape(values), np.int8))]

    def node(self, kind, inputs, output, **attributes):
        self.nodes.append(helper.make_node(kind, inputs, [output], name=output, **attributes))
        return output

    def quantized(self, x):
        if self.scales is None:
            return x
        name = "scores" if x == "scores_y" else x + "_q"
        return self.node("QuantizeLinear", [x, *self.scale(x, self.scales[x])], name)

    def real(self, x, like):
        """`x`, whose scale is that of the tensor `like`, as floats."""
        if self.scales is None:
            return x
        return self.node("DequantizeLinear", [x, *self.scale(x + "_in", self.scales[like])], x + "_real")

    def weights(self, name, w):
        w = w.astype(np.float32)
        if self.scales is None:
            return self.constant(name + "_w", w)
        scale = np.abs(w).max(axis=(1, 2)) / 127
        self.constant(name + "_w", np.rint(w / scale[:, None, None]).astype(np.int8))
        self.scales[name + "_w"] = scale
        return self.node("DequantizeLinear", [name + "_w", *self.scale(name + "_w", scale)], name + "_w_real", axis=0)

    def bias(self, name, b, x):
        if self.scales is None:
            return self.constant(name + "_b", b.astype(np.float32))
        scale = (np.float32(self.scales[x]) * self.scales[name + "_w"].astype(np.float32)).astype(np.float32)
        self.constant(name + "_b", np.rint(b / scale).astype(np.int32))
        self.constant(name + "_b_scale", scale)
        self.constant(name + "_b_zero", np.zeros(len(b), np.int32))
        inputs = [name + "_b", name + "_b_scale", name + "_b_zero"]
        return self.node("DequantizeLinear", inputs, name + "_b_real", axis=0)

    def conv(self, name, x, like, w, bias=None, relu=False, **attributes):
        """A convolution of x; the result is as stored between layers."""
        inputs = [self.real(x, like), self.weights(name, w)]
        if bias is not None:
            inputs.append(self.bias(name, bias, like))
        y = self.node("Conv", inputs, name + "_sum" if relu else name + "_y", **attributes)
        return self.quantized(self.node("Relu", [y], name + "_y") if relu else y)

    def window(self, state, x):
        """The frames that were kept and this one; keeps all but the first."""
        frames = self.node("Concat", [state, x], state + "_frames", axis=2)
        ends = [self.constant(f"{state}_{what}", np.array([n], np.int64))
                for what, n in (("first", 1), ("last", 1 << 30), ("axis", 2))]
        self.node("Slice", [frames, *ends], state + "_out")
        return frames


def network(weights, scales=None):
    """The float network, or the quantized one with these scales. The same scale is used on both sides of a window."""
    b = Builder(scales)
    stem = b.conv("stem", "audio", "audio", weights["stem"], relu=True, strides=[8])
    energy = b.conv("energy", stem, "stem_y", weights["energy"], group=BANDS)
    near = b.conv("near", b.window("near", energy), "energy_y", weights["near"], group=BANDS)
    far = b.conv("far", b.window("far", near), "near_y", weights["far"], group=BANDS, dilations=[8])
    hidden = b.conv("hidden", far, "far_y", weights["hidden"], weights["hidden_bias"], relu=True)
    scores = b.conv("scores", hidden, "hidden_y", weights["scores"], weights["scores_bias"])
    kind = TensorProto.FLOAT if scales is None else TensorProto.INT8
    ports = {"audio": (1, 1, FRAME), **STATES}
    inputs = [helper.make_tensor_value_info(name, kind, shape) for name, shape in ports.items()]
    outputs = [helper.make_tensor_value_info(scores, kind, (1, 2, 1))]
    outputs += [helper.make_tensor_value_info(name + "_out", kind, shape) for name, shape in STATES.items()]
    if scales is None:
        names = ["stem_y", "energy_y", "near_y", "far_y", "hidden_y"]
        outputs += [helper.make_tensor_value_info(name, kind, None) for name in names]
    graph = helper.make_graph(b.nodes, "listener", inputs, outputs, b.constants)
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8, producer_name="etch")
    if scales is not None:
        onnx.checker.check_model(model)
    return model


def run(model, frames):
    """Every output of every frame, and the states after the last."""
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = 1
    options.add_session_config_entry("session.qdqisint8allowed", "1")  # integer arithmetic for int8 activations too
    session = onnxruntime.InferenceSession(model.SerializeToString(), options, providers=["CPUExecutionProvider"])
    names = [each.name for each in session.get_outputs()]
    states = {name: np.zeros(shape, frames.dtype) for name, shape in STATES.items()}
    answers = []
    for frame in frames:
        answers.append(dict(zip(names, session.run(None, {"audio": frame, **states}), strict=True)))
        states = {name: answers[-1][name + "_out"] for name in STATES}
    return answers, states


def fit(weights, rng):
    """The last layer by least squares, and the scales of all tensors: their largest values in practice."""
    weights["scores"], weights["scores_bias"] = np.zeros((2, HIDDEN, 1)), np.zeros(2)
    model = network(weights)
    rows, labels, largest = [], [], {}
    for _ in range(60):
        frames, label = practice(rng)
        answers, _ = run(model, frames.astype(np.float32) / 128)
        for answer in answers:
            rows.append(np.append(answer["hidden_y"].ravel(), 1))
            for name, value in answer.items():
                largest[name] = max(largest.get(name, 0), float(np.abs(value).max()))
        labels.append(label)
    a, y = np.array(rows, np.float64), 2 * np.concatenate(labels) - 1
    importance = np.where(y > 0, np.sum(y < 0) / np.sum(y > 0) / 4, 1)
    found = np.linalg.solve(a.T * importance @ a + 1e-3 * np.eye(HIDDEN + 1), a.T * importance @ y)
    weights["scores"] = np.stack([-found[:-1], found[:-1]])[:, :, None]
    weights["scores_bias"] = np.array([-found[-1], found[-1]])
    return {"audio": 1 / 128, "scores_y": 2 / 127,
            **{name: value / 127 for name, value in largest.items() if name != "scores_y" and name.endswith("_y")}}


def main():
    rng = np.random.default_rng(20)
    weights = filters(rng)
    scales = fit(weights, rng)
    model = network(weights, scales)
    (HERE / "model.onnx").write_bytes(model.SerializeToString(deterministic=True))
    frames = sound([(8, TONES[::-1]), (57, TONES)], rng)  # the word backwards, and the word
    answers, states = run(model, frames)
    records = b"".join(frame.tobytes() + answer["scores"].tobytes() for frame, answer in zip(frames, answers, strict=True))
    (HERE / "recording.bin").write_bytes(records + b"".join(states[name].tobytes() for name in STATES))
    heard = [i for i, answer in enumerate(answers) if answer["scores"][0, 1, 0] > answer["scores"][0, 0, 0]]
    print("the word is heard in frames", heard)


if __name__ == "__main__":
    main()
