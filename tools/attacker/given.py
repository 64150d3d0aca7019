"""Models of which a part is given on the command line, compiled and run by `etch check`: a size up to a bound (--dim), an
input that is a constant (--constant), a state that begins with values (--initial-state, or an initializer of the file).

What is expected comes from ONNX Runtime for the size, or from the values of the case itself. Only where floats are
results of single operations, and streams of integers, since every bit has to be equal.
"""

import subprocess

import numpy as np
import onnx
from onnx import numpy_helper

import streams
from builder import session
from judging import SECONDS, Case, Finding

MOST_SIZES = 4  # each of them is compiled
MOST_NUMBERS = 8  # of a constant that is written as numbers
REFUSED = 2  # exit code


def copy_of(model):
    return type(model).FromString(model.SerializeToString())


def bounded(case, dice):
    """The first size of all inputs up to what it is here, where ONNX Runtime computes every size."""
    del dice
    sizes = {v.shape[:1] for v in [*case.inputs, *case.outputs]}
    if len(sizes) != 1 or () in sizes or case.builder.states:
        return None
    ((most,),) = sizes
    if not 1 < most <= MOST_SIZES:
        return None
    model = copy_of(case.model)
    for port in [*model.graph.input, *model.graph.output]:
        port.type.tensor_type.shape.dim[0].dim_param = "n"
    del model.graph.value_info[:]
    sets = []
    for n in range(1, most + 1):
        inputs = [np.ascontiguousarray(v[:n]) for v in case.inputs]
        try:
            outputs = session(model).run(None, dict(zip([i.name for i in model.graph.input], inputs)))
        except Exception:  # constants state the size  # noqa: BLE001
            return None
        if any(v.shape[:1] != (n,) for v in outputs):
            return None
        sets.append((inputs, outputs))
    return model, sets, ["--dim", f"n<={most}"], {}


def constant(case, dice):
    """One input of few numbers, in turns as numbers and as a file."""
    small = [i for i, v in enumerate(case.inputs) if v.size <= MOST_NUMBERS and v.dtype.kind in "iuf" and v.ndim < 2]
    if not small or len(case.inputs) < 2 or case.builder.states:
        return None
    at = small[int(dice.integers(len(small)))]
    name, value = case.model.graph.input[at].name, case.inputs[at]
    rest = [None if i == at else v for i, v in enumerate(case.inputs)]
    files = {}
    if value.dtype.kind == "f" or not value.size or dice.random() < 0.5:
        files["constant.pb"] = numpy_helper.from_array(value).SerializeToString()
        words = ["--constant", f"{name}={{folder}}/constant.pb"]
    else:
        words = ["--constant", f"{name}={','.join(map(str, value.ravel().tolist()))}"]
    return copy_of(case.model), [(rest, case.outputs)], words, files


def initial(case, dice):
    """The first state of a stream as its initial value: of the command line, or of the file."""
    model, frames = copy_of(case.model), streams.frames_of(case, dice)
    names = [i.name for i in model.graph.input]
    words, files = [], {}
    of_file = dice.random() < 0.5
    for k, (out, into) in enumerate(case.builder.states):
        words += ["--state", f"{out}={into}"]
        value = frames[0][0][names.index(into)]
        if of_file:
            model.graph.initializer.append(numpy_helper.from_array(np.asarray(value), into))
            continue
        files[f"state_{k}.pb"] = numpy_helper.from_array(np.asarray(value)).SerializeToString()
        words += ["--initial-state", f"{into}={{folder}}/state_{k}.pb"]
    states = {into for _, into in case.builder.states}
    sets = [([None if n in states else v for n, v in zip(names, ins)], outs) for ins, outs in frames]
    if of_file:  # its test data come after those of the other inputs
        sets = [([v for v in ins if v is not None], outs) for ins, outs in sets]
    return model, sets, words, files


def write(folder, model, sets, files):
    for k, values in enumerate(sets):
        data = folder / f"test_data_set_{k}"
        data.mkdir(parents=True, exist_ok=True)
        for kind, tensors in zip(("input", "output"), values):
            for i, value in enumerate(tensors):
                if value is not None:
                    content = numpy_helper.from_array(np.asarray(value)).SerializeToString()
                    (data / f"{kind}_{i}.pb").write_bytes(content)
    for name, content in files.items():
        (folder / name).write_bytes(content)
    onnx.save(model, folder / "model.onnx")


def broken(etch, folder, cases, dice):
    """Findings among these cases, and how many data sets were compared."""
    found, count = [], 0
    for case in cases:
        for make in (bounded, constant, initial):
            judged = streams.is_stream(case) if make is initial else case.exact and not case.qdq
            made = make(case, dice) if judged else None
            if made is None:
                continue
            model, sets, words, files = made
            place = folder / f"{case.name}_{make.__name__}"
            write(place, model, sets, files)
            words = case.plans[0][2:].split() + [word.format(folder=place) for word in words]
            command = [etch, "check", str(place / "model.onnx"), *words]
            try:
                done = subprocess.run(command, capture_output=True, text=True, errors="replace", timeout=SECONDS)
            except subprocess.TimeoutExpired:
                done = subprocess.CompletedProcess(command, -1, "", f"no end within {SECONDS} s")
            text = f"{len(sets)} data set"
            if done.returncode == 0 and text in done.stdout:
                count += len(sets)
                continue
            if done.returncode == REFUSED:
                print(f"refused: {place.name} {' '.join(words)}: {done.stderr[:200]}")
                continue
            kept = Case(place.name, model, case.inputs, case.outputs, case.plans, case.exact, case.qdq, [], case.builder)
            what = f"exit {done.returncode}: {(done.stdout + done.stderr)[-400:]}"
            found.append(Finding(kept, "given", " ".join(words), what))
    return found, count
