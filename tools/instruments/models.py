"""Finds models with inputs and outputs for tools/instruments-check.

A model is a folder with model.onnx, input_I.bin and output_I.bin (little-endian elements, row-major) and, where the file
has symbolic sizes, options.txt with arguments of `etch compile`.
"""

import json
import os
import pathlib
import shutil
import subprocess

ROOT = pathlib.Path(__file__).resolve().parents[2]
SHARED = ROOT.parent / "shared"


def run(command, **more):
    return subprocess.run([str(word) for word in command], stdin=subprocess.DEVNULL, capture_output=True, text=True,
                          errors="replace", **more)


def write_cases(tests, folder):
    """The sample of tests/support/cases*.cc and the recorded random graphs, by tests/product/instruments_test.cc."""
    folder.mkdir(parents=True, exist_ok=True)
    result = run([tests, "--gtest_filter=InstrumentModels.*"], env={**os.environ, "ETCH_INSTRUMENT_MODELS": str(folder)})
    if result.returncode != 0:
        raise SystemExit(f"instruments-check: {tests}: {result.stdout}{result.stderr}")


def of_plain_build(etch, model, data):
    """A data set with the first one's inputs and the outputs of a build without instruments: of float networks, whose
    recorded outputs are not equal bit for bit. None: it does not run."""
    recorded = model.parent / "test_data_set_0"
    data.mkdir(parents=True)
    if run([etch, "run", model, "--data", recorded, "--output", data, "--quiet"]).returncode != 0:
        return None
    for file in recorded.glob("input_*"):
        shutil.copy(file, data)
    return data


def from_check(etch, model, folder, time_limit=900):
    """Inputs and outputs of a model with test data beside it. False: `etch check` does not pass, exactly, also with the outputs
    of a build without instruments."""
    kept, data = folder.with_suffix(".kept"), folder.with_suffix(".data")
    for each in (kept, data):
        shutil.rmtree(each, ignore_errors=True)
    # The program runs below: it is the build that gives the recorded outputs for the recorded inputs.
    command = [etch, "check", model, "--target", "native", "--keep", kept, "--quiet"]
    result = run(command, timeout=time_limit)
    if result.returncode != 0 and of_plain_build(etch, model, data):
        result = run([*command, "--data", data], timeout=time_limit)
    shutil.rmtree(data, ignore_errors=True)
    sample = kept / "sample_0"
    if result.returncode != 0 or not sample.is_dir():
        shutil.rmtree(kept, ignore_errors=True)
        return False
    folder.mkdir(parents=True)
    for file in sample.iterdir():
        shutil.copy(file, folder)
    report = json.loads((kept / "report.json").read_text())
    shapes = [f"--input-shape\n{port['name']}={','.join(map(str, port['shape']))}" for port in report["inputs"]]
    (folder / "options.txt").write_text("\n".join(shapes) + "\n")
    (folder / "model.onnx").symlink_to(model.resolve())
    (folder / "about.txt").write_text(f"{model.parent.name}\n")
    shutil.rmtree(kept)
    return True


def write_networks(etch, folder, most_bytes):
    """Bundled and real networks whose files have at most so many bytes, as far as they are there."""
    models = [ROOT / "examples/digits/model.onnx"]
    for kind in ("graphs", "nets", "round2/graphs", "round2/nets"):
        models += sorted((SHARED / "models" / kind).glob("*/model.onnx"))
    left_out = []
    for model in models:
        to = folder / ("net_" + "".join(c if c.isalnum() else "_" for c in model.parent.name.lower()))
        if to.exists():
            continue
        if model.stat().st_size > most_bytes or not from_check(etch, model, to):
            left_out.append(model.parent.name)
    return left_out


def write_corpus(folder):
    """The odd but valid models of the corpus."""
    for model in sorted((SHARED / "corpus" / "ok").glob("*.onnx")):
        golden = sorted((SHARED / "corpus" / "golden").glob(model.stem + ".*.bin"))
        to = folder / f"ok_{model.stem[:3]}"
        if to.exists() or not any(".out" in file.name for file in golden):
            continue
        to.mkdir(parents=True)
        for file in golden:
            kind = file.name.split(".")[-2]  # in0, out1
            role = "input" if kind.startswith("in") else "output"
            shutil.copy(file, to / f"{role}_{kind.removeprefix('in').removeprefix('out')}.bin")
        (to / "model.onnx").symlink_to(model.resolve())
        if "external" in model.stem:  # weights in a file of its own, beside it or among the refused models
            beside = model.parent if (model.parent / "ext").exists() else SHARED / "corpus" / "bad"
            (to / "options.txt").write_text(f"--external-data\n{beside.resolve()}\n")
        (to / "about.txt").write_text(model.stem + "\n")
