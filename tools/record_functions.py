#!/usr/bin/env python3
"""Records elementwise operators as ONNX Runtime computes them, for tests/recorded/recorded_functions_test.cc.

Writes tests/data/functions/cases.tsv and cases.bin in the layout of tests/support/recorded_cases.h. The recorded files are
committed; run this only to change the set, and look at what changes.

    python3 -m venv /tmp/v && /tmp/v/bin/pip install onnx onnxruntime numpy
    /tmp/v/bin/python tools/record_functions.py
"""

import pathlib
import struct
import sys

import numpy as np
import onnxruntime as ort
from onnx import numpy_helper

from record_ops import Case, scale

FOLDER = pathlib.Path(__file__).resolve().parent.parent / "tests" / "data" / "functions"

# What the last field of a line says about results that ONNX Runtime reaches in another way.
CLOSE = "within 1e-5: other approximations"


def samples(rng, low=-1e9):
    """Values of all sizes up to 100, most near 0, none below `low`."""
    x = rng.normal(0, 1, 160) * np.exp(rng.uniform(np.log(0.01), np.log(30), 160))
    return np.maximum(np.concatenate([x, np.arange(-20, 20) / 4]), low).astype(np.float32).reshape(10, 20)


def functions(rng):
    positive = 1e-3
    exact = {"Abs": {}, "Ceil": {}, "Floor": {}, "Neg": {}, "Sign": {}, "Exp": {}, "Tanh": {}, "HardSwish": {},
             "HardSigmoid": {"alpha": 0.3, "beta": 0.4}, "ThresholdedRelu": {"alpha": 0.7}, "Softsign": {}}
    for op, attributes in exact.items():
        yield op, Case(op, [samples(rng)], opset=20, **attributes), ""
    for op in ("Sqrt", "Reciprocal"):
        yield op, Case(op, [samples(rng, positive)], opset=20), ""
    close = {"Erf": {}, "Elu": {"alpha": 1.5}, "Celu": {"alpha": 0.8}, "Selu": {}, "Softplus": {}, "Mish": {}, "Gelu": {}}
    for op, attributes in close.items():
        yield op, Case(op, [samples(rng)], opset=20, **attributes), CLOSE
    yield "Gelu_tanh", Case("Gelu", [samples(rng)], opset=20, approximate="tanh"), CLOSE
    yield "Gelu_microsoft", Case("Gelu", [samples(rng)], domain="com.microsoft"), CLOSE
    yield "QuickGelu", Case("QuickGelu", [samples(rng)], domain="com.microsoft", alpha=1.3), CLOSE
    yield "Log", Case("Log", [samples(rng, positive)], opset=20), CLOSE


def powers(rng):
    for exponent in (2, 3):
        yield f"Pow_{exponent}", Case("Pow", [samples(rng), np.float32(exponent)]), ""
    for exponent in (0.5, -1.7, 5):
        yield f"Pow_{exponent}", Case("Pow", [samples(rng, 0.01), np.float32(exponent)]), CLOSE
    yield "Pow_int64", Case("Pow", [samples(rng, 0.01), np.array([-2, 3] * 10, np.int64)]), CLOSE
    yield "Pow_each", Case("Pow", [samples(rng, 0.01), samples(rng) % 3], runtime=2), CLOSE


def several(rng):
    for op in ("Sum", "Max", "Min"):
        for count in (1, 2, 4):
            inputs = [samples(rng) for _ in range(count)]
            if count == 4:
                inputs[1], inputs[2] = inputs[1][:1], inputs[2][:, :1]
            yield f"{op}_{count}", Case(op, inputs, runtime=count), ""


def choices(rng):
    for kind in (np.uint8, np.int8):
        for equal in (False, True):
            info = np.iinfo(kind)
            draw = lambda shape: rng.integers(info.min, info.max + 1, shape).astype(kind)
            z_scale, z_zero = scale(rng, 0.02, 0.05), draw(())
            y = (z_scale, z_zero) if equal else (scale(rng, 0.01, 0.05), draw(()))
            inputs = [rng.integers(0, 2, (3, 1, 16)).astype(bool), draw((4, 16)), scale(rng, 0.01, 0.05), draw(()),
                      draw((3, 4, 1)), *y, z_scale, z_zero]
            case = Case("QLinearWhere", inputs, runtime=2, domain="com.microsoft")
            yield f"QLinearWhere_{np.dtype(kind).name}_{int(equal)}", case, ""


def block(data):
    return struct.pack("<I", len(data)) + data


def main():
    FOLDER.mkdir(parents=True, exist_ok=True)
    rng = np.random.default_rng(20261121)
    lines, blocks = [f"# name, inputs, source, deviation; onnxruntime {ort.__version__}"], []
    for family in (functions, powers, several, choices):
        for name, case, deviation in family(rng):
            options = ort.SessionOptions()
            options.graph_optimization_level = ort.GraphOptimizationLevel.ORT_DISABLE_ALL
            model = case.model.SerializeToString()
            session = ort.InferenceSession(model, options, providers=["CPUExecutionProvider"])
            (result,) = session.run(None, case.feeds)
            lines.append(f"{name}\t{len(case.feeds)}\titself\t{deviation}")
            tensors = [*case.feeds.values(), result]
            blocks += [block(model)] + [block(numpy_helper.from_array(np.asarray(t)).SerializeToString()) for t in tensors]
    (FOLDER / "cases.tsv").write_text("\n".join(lines) + "\n", encoding="utf-8")
    (FOLDER / "cases.bin").write_bytes(b"".join(blocks))
    print(f"{len(lines) - 1} cases, {sum(map(len, blocks))} bytes, onnxruntime {ort.__version__}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
