"""Networks with a state over several inferences: `etch check --state` gives each frame the state that the last one left.

What is expected is computed node by node from the state that was expected of the frame before. Only integers: then one
frame's result is bit for bit the next one's input.
"""

import subprocess

import numpy as np
import onnx
from onnx import numpy_helper

from judging import Case, Finding

FRAMES = 4


def is_stream(case):
    return bool(case.builder.states) and not case.qdq and all(v.dtype.kind in "iub" for v in case.outputs)


def frames_of(case, dice):
    """Inputs and outputs of each frame. Inputs but the states are those of the first frame in another order."""
    b = case.builder
    fed = {into: out for out, into in b.states}
    values = dict(b.values)
    out = []
    for frame in range(FRAMES):
        if frame:
            last, values = values, dict(b.constants)
            for name, value in b.inputs.items():
                values[name] = last[fed[name]] if name in fed else dice.permutation(value.ravel()).reshape(value.shape)
            for node in b.nodes:
                values.update(zip(node.output, b.again(node, values)))
        out.append(([values[n] for n in b.inputs], [values[n] for n in b.outputs]))
    return out


def write(folder, case, frames):
    for k, (inputs, outputs) in enumerate(frames):
        data = folder / f"test_data_set_{k}"
        data.mkdir(parents=True, exist_ok=True)
        for kind, values in (("input", inputs), ("output", outputs)):
            for i, value in enumerate(values):
                (data / f"{kind}_{i}.pb").write_bytes(numpy_helper.from_array(np.asarray(value)).SerializeToString())
    onnx.save(case.model, folder / "model.onnx")


def broken(etch, folder, cases, plans, dice):
    """Findings among the streams of these cases, each with a plan `--target ...`; and how many frames were compared."""
    found, count = [], 0
    for case, plan in zip(cases, plans):
        frames = frames_of(case, dice)
        write(folder / case.name, case, frames)
        words = plan.split() + [word for out, into in case.builder.states for word in ("--state", f"{out}={into}")]
        command = [etch, "check", str(folder / case.name / "model.onnx"), *words]
        done = subprocess.run(command, capture_output=True, text=True, errors="replace")
        if done.returncode == 0 and f"{FRAMES} data sets" in done.stdout:
            count += FRAMES
            continue
        what = f"exit {done.returncode}: {(done.stdout + done.stderr)[-400:]}"
        kept = Case(case.name + "_stream", case.model, *frames[0], case.plans, case.exact, case.qdq, [], case.builder)
        found.append(Finding(kept, "stream", " ".join(words), what))
    return found, count
