"""Executed instructions of one inference on 64-bit Arm: Etch, ONNX Runtime and LiteRT with XNNPACK, in QEMU.

Of the peers the least of several inferences counts, each between two marks of one program, after the first ones, so that
neither starting Python nor loading a model does, nor another thread's work. The emulator models neither pipelines nor caches: instructions are not cycles.

Usage: tools/bench-aarch64 --networks FOLDER [--only NAME,NAME] [--markdown FILE]
Environment: ETCH, the program (default build/release/bin/etch).
"""

import argparse
import dataclasses
import datetime
import json
import os
import pathlib
import re
import subprocess
import sys

ETCH = os.environ.get("ETCH", "build/release/bin/etch")
FIRST, COUNTED = 2, 6


@dataclasses.dataclass(frozen=True)
class Cpu:
    target: str
    name: str
    emulated: str
    part: str  # as /proc/cpuinfo has it
    features: str  # beyond those of the first
    goal: float  # instructions of XNNPACK over those of Etch, at least


CPUS = [
    Cpu("aarch64", "Cortex-A53", "cortex-a53", "0xd03", "", 1.1),
    Cpu("aarch64-dotprod", "Cortex-A76", "cortex-a76", "0xd0b", " atomics fphp asimdhp asimddp", 1.15),
    Cpu("aarch64-i8mm", "with I8MM", "max,sme=off,sve=off,pauth-impdef=on", "0xd0b", " atomics fphp asimdhp asimddp i8mm bf16", 1.15),
]

# What the guest runs: peer, model, inferences.
GUEST = """
import os, sys, numpy
peer, path, count = sys.argv[1], sys.argv[2], int(sys.argv[3])
rng = numpy.random.default_rng(1)
TYPES = {'tensor(float)': 'float32', 'tensor(int8)': 'int8', 'tensor(uint8)': 'uint8'}
if peer == 'onnxruntime':
    import onnxruntime
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = options.inter_op_num_threads = 1
    session = onnxruntime.InferenceSession(path, options, providers=['CPUExecutionProvider'])
    x = session.get_inputs()[0]
    shape = [d if isinstance(d, int) else 1 for d in x.shape]
    feed = {x.name: rng.integers(0, 100, shape).astype(TYPES[x.type])}
    infer = lambda: session.run(None, feed)
else:
    from ai_edge_litert.interpreter import Interpreter
    network = Interpreter(model_path=path, num_threads=1)
    network.allocate_tensors()
    x = network.get_input_details()[0]
    network.set_tensor(x['index'], rng.integers(0, 100, x['shape']).astype(x['dtype']))
    infer = network.invoke
for _ in range(count):
    os.getppid()
    infer()
os.getppid()
"""


def describe_cpu(root, cpu):
    """Peers read the CPU from files, which are those of this machine if the sysroot has none."""
    (root / "proc").mkdir(exist_ok=True)
    (root / "sys/devices/system/cpu").mkdir(parents=True, exist_ok=True)
    for name in ("possible", "present"):
        (root / "sys/devices/system/cpu" / name).write_text("0\n")
    (root / "proc/cpuinfo").write_text(
        f"processor\t: 0\nBogoMIPS\t: 100.00\nFeatures\t: fp asimd aes pmull sha1 sha2 crc32{cpu.features}\n"
        f"CPU implementer\t: 0x41\nCPU architecture: 8\nCPU variant\t: 0x0\nCPU part\t: {cpu.part}\nCPU revision\t: 1\n\n")


def run_guest(peers, cpu, script, arguments):
    root = peers / "root"
    variables = {"PYTHONHOME": root / "usr", "PYTHONPATH": peers / "site", "PYTHONHASHSEED": 0,
                 "PYTHONDONTWRITEBYTECODE": 1, "OPENBLAS_NUM_THREADS": 1, "OMP_NUM_THREADS": 1}
    command = ["qemu-aarch64", "-cpu", cpu.emulated, "-L", root, "-plugin", peers / "count.so"]
    for name, value in variables.items():
        command += ["-E", f"{name}={value}"]
    command += [root / "usr/bin/python3.11", "-S", "-c", script, *arguments]
    return subprocess.run([str(word) for word in command], capture_output=True, text=True)


def of_peer(peers, cpu, peer, model):
    if not model.exists():
        return None
    result = run_guest(peers, cpu, GUEST, [peer, model.resolve(), FIRST + COUNTED])
    marks = [int(mark) for mark in re.findall(r"^executed (\d+)$", result.stderr, re.MULTILINE)]
    if result.returncode != 0 or len(marks) <= FIRST + COUNTED:
        print(f"{peer}, {model.name}, {cpu.emulated}: {result.stderr.strip()[-300:]}", file=sys.stderr)
        return None
    return min(after - before for before, after in zip(marks[FIRST:], marks[FIRST + 1:]))


def of_etch(cpu, model):
    result = subprocess.run([ETCH, "bench", str(model), "--target", cpu.target, "--json"], capture_output=True, text=True)
    if result.returncode != 0:
        print(result.stderr.strip()[-300:], file=sys.stderr)
        return None
    return json.loads(result.stdout)["instructions"]


def millions(value):
    return "-" if value is None else f"{value / 1e6:.3f}"


def ratio(peer, own):
    return "-" if peer is None or own is None else f"{peer / own:.2f}"


def verdict(xnnpack, onnxruntime, own, cpu):
    if own is None:
        return "-"
    ahead = onnxruntime is None or onnxruntime > own
    if xnnpack is None:
        return "ahead" if ahead else "missed"
    return "met" if xnnpack / own >= cpu.goal and ahead else "missed"


def row(peers, cpu, onnx):
    describe_cpu(peers / "root", cpu)
    own = of_etch(cpu, onnx)
    xnnpack = of_peer(peers, cpu, "litert", onnx.with_suffix(".tflite"))
    onnxruntime = of_peer(peers, cpu, "onnxruntime", onnx)
    cells = [onnx.stem, cpu.name, millions(own), millions(xnnpack), ratio(xnnpack, own), millions(onnxruntime),
             ratio(onnxruntime, own), verdict(xnnpack, onnxruntime, own, cpu)]
    return "| " + " | ".join(cells) + " |"


HEAD = """# Executed instructions on 64-bit Arm

Millions of executed instructions of one inference with one thread, the same networks in all three: the ONNX files are
tf2onnx's conversions of the TFLite files. `tools/bench-aarch64 --networks FOLDER` counts them in qemu-aarch64, on {date}
with {versions}. Peers: the wheels of PyPI for aarch64; LiteRT runs its XNNPACK delegate.
Counted is the least of {counted} inferences after the first {first}, with Python's call of each. The emulator models neither
pipelines nor caches, so instructions are not cycles. Goals: at least 1.1 (Cortex-A53) or 1.15 times fewer than XNNPACK,
and fewer than ONNX Runtime; "ahead": only the latter could be counted, as there is no TFLite file of that network,
and its ONNX file is that of ONNX Runtime's mobile examples.

| network | CPU | Etch | XNNPACK | ratio | ONNX Runtime | ratio | goal |
| --- | --- | --- | --- | --- | --- | --- | --- |
"""


def versions(peers):
    names = [re.match(r"(onnxruntime|ai_edge_litert)-([0-9.]+)\.dist-info", path.name) for path in (peers / "site").iterdir()]
    return " and ".join(sorted(f"{found[1]} {found[2]}" for found in names if found))


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--peers", type=pathlib.Path, required=True)
    parser.add_argument("--networks", type=pathlib.Path, required=True)
    parser.add_argument("--only", default="")
    parser.add_argument("--markdown", type=pathlib.Path)
    options = parser.parse_args()
    only = [name for name in options.only.split(",") if name]
    rows = []
    for onnx in sorted(options.networks.glob("*.onnx")):
        if only and onnx.stem not in only:
            continue
        for cpu in CPUS:
            rows.append(row(options.peers, cpu, onnx))
            print(rows[-1], flush=True)
    if not rows:
        sys.exit(f"no *.onnx of that name in {options.networks}")
    if options.markdown:
        date = datetime.date.today()
        head = HEAD.format(date=f"{date.day} {date:%B %Y}", versions=versions(options.peers), first=FIRST, counted=COUNTED)
        options.markdown.write_text(head + "\n".join(rows) + "\n")


if __name__ == "__main__":
    main()
