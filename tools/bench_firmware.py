"""Executed instructions per multiply-accumulate on Cortex-M: single layers and whole networks.

The layers are those of MLPerf Tiny's networks for which figures of CMSIS-NN were measured with the same emulator and the
same way of counting: QEMU, a plugin that counts every executed instruction, the best of six builds of CMSIS-NN. Weights
and scales are random, per channel, int8, and the layer's input and output are the network's own: no copy, no
quantization in between.

Modelled cycles are there, too, where there is a model of the target's pipeline (`etch bench --cycles`).

With --tflm and --pairs the same is counted of TensorFlow Lite Micro with CMSIS-NN for each FOLDER/NAME.tflite that has an
ONNX file FOLDER/NAME.onnx, the same network (tf2onnx makes one of the other).

With --steps the table has the steps of one network, with both counts.

With --made it has networks of floats and of 16-bit activations, which bench_firmware_networks.py makes, with --operators single operators on several targets
(bench_firmware_operators.py).

Usage: tools/bench-firmware [--target cortex-m4] [--networks FOLDER]
                            [--tflm CHECKOUT --pairs FOLDER | --steps MODEL | --made | --operators TARGETS] [--markdown FILE]
Environment: ETCH, the program (default build/release/bin/etch).
"""

import argparse
import dataclasses
import json
import os
import pathlib
import subprocess
import sys
import tempfile

import numpy
import onnx
import bench_firmware_networks
import bench_firmware_operators
import bench_firmware_tflm
from onnx import TensorProto, helper, numpy_helper

ETCH = os.environ.get("ETCH", "build/release/bin/etch")


@dataclasses.dataclass(frozen=True)
class Layer:
    name: str
    channels: int
    filters: int
    size: tuple[int, int]
    kernel: tuple[int, int]
    stride: int = 1
    depthwise: bool = False
    cmsis: dict = dataclasses.field(default_factory=dict)  # target -> instructions per MAC of CMSIS-NN's best build
    goal: dict = dataclasses.field(default_factory=dict)

    @property
    def pads(self):
        out = [-(-size // self.stride) for size in self.size]
        total = [max(0, (o - 1) * self.stride + k - s) for o, k, s in zip(out, self.kernel, self.size)]
        return [t // 2 for t in total] + [t - t // 2 for t in total]


def conv(name, channels, filters, size, kernel, stride=1, m3=None, m4=None, m55=None, goal=None, depthwise=False):
    size = size if isinstance(size, tuple) else (size, size)
    kernel = kernel if isinstance(kernel, tuple) else (kernel, kernel)
    cmsis = {"cortex-m3": m3, "cortex-m4": m4, "cortex-m7": m4, "cortex-m33": m4, "cortex-m55": m55}
    return Layer(name, channels, filters, size, kernel, stride, depthwise, cmsis, goal or {})


LAYERS = [
    conv("ResNet-8 3x3 3->16 @32x32", 3, 16, 32, 3, m3=5.45, m4=4.59, m55=1.31, goal={"cortex-m4": 2.5}),
    conv("ResNet-8 3x3 16->16 @32x32", 16, 16, 32, 3, m3=3.33, m4=2.28, m55=0.380, goal={"cortex-m4": 1.05}),
    conv("ResNet-8 3x3 16->32 s2", 16, 32, 32, 3, 2, m3=3.06, m4=2.09, m55=0.324),
    conv("ResNet-8 3x3 32->32 @16x16", 32, 32, 16, 3, m3=2.87, m4=1.90, m55=0.251),
    conv("ResNet-8 3x3 64->64 @8x8", 64, 64, 8, 3, m3=2.67, m4=1.75, m55=0.205, goal={"cortex-m55": 0.15}),
    conv("ResNet-8 1x1 16->32 s2", 16, 32, 32, 1, 2, m3=5.11, m4=4.08, m55=1.06),
    conv("DS-CNN 10x4 1->64 s2", 1, 64, (49, 10), (10, 4), 2, m3=4.26, m4=3.31, m55=0.903),
    conv("DS-CNN dw 3x3 64 @25x5", 64, 64, (25, 5), 3, m3=9.37, m4=7.44, m55=2.26, depthwise=True,
         goal={"cortex-m4": 3.2, "cortex-m55": 1.2}),
    conv("DS-CNN 1x1 64->64 @25x5", 64, 64, (25, 5), 1, m3=3.11, m4=2.03, m55=0.392,
         goal={"cortex-m4": 1.15, "cortex-m55": 0.20}),
    conv("MobileNetV1 3x3 3->8 s2 @96", 3, 8, 96, 3, 2, m3=6.86, m4=5.95, m55=1.92, goal={"cortex-m4": 2.5}),
    conv("MobileNetV1 dw 3x3 8 @48", 8, 8, 48, 3, m3=10.83, m4=9.04, m55=4.94, depthwise=True),
    conv("MobileNetV1 1x1 8->16 @48", 8, 16, 48, 1, m3=7.09, m4=6.13, m55=2.12),
    conv("MobileNetV1 dw 3x3 16 s2 @48", 16, 16, 48, 3, 2, m3=10.36, m4=8.40, m55=3.33, depthwise=True),
    conv("MobileNetV1 1x1 32->32 @24", 32, 32, 24, 1, m3=3.65, m4=2.58, m55=0.609),
    conv("MobileNetV1 1x1 128->128 @6", 128, 128, 6, 1, m3=2.88, m4=1.80, m55=0.280),
    conv("MobileNetV1 dw 3x3 128 @6", 128, 128, 6, 3, m3=8.98, m4=7.19, m55=2.26, depthwise=True),
    conv("MobileNetV1 1x1 256->256 @3", 256, 256, 3, 1, m3=3.10, m4=1.96, m55=0.248),
    conv("autoencoder fc 640->128", 640, 128, 1, 1, m3=3.43, m4=1.95, m55=0.175, goal={"cortex-m4": 1.2}),
    conv("autoencoder fc 128->128", 128, 128, 1, 1, m3=3.67, m4=2.23, m55=0.252),
]

NETWORKS = [
    ("mlperftiny_ic_resnet8_qdq", {"cortex-m4": 13_500_000}),
    ("mlperftiny_kws_dscnn_qdq", {"cortex-m4": 4_000_000}),
    ("onnxflow_ad01_qdq", {}),
    ("emmtrix_microkws_static_qop", {}),
    ("connxr_mnist_convint", {}),
]

NETWORK_COLUMNS = ("MACs", "instructions", "cycles", "per MAC", "code", "constants", "arena")


def model_of(layer):
    """One QLinearConv on int8, channels first as in every ONNX file. The step between two layers of a network is what
    is wanted, so it is between two 1x1 identity-like layers, which are not counted."""
    random = numpy.random.default_rng(1)
    group = layer.channels if layer.depthwise else 1
    constants = []

    def add(name, value):
        constants.append(numpy_helper.from_array(numpy.asarray(value), name))
        return name

    def node(x, y, channels, filters, kernel, stride, pads, group, stem):
        weights = random.integers(-127, 128, (filters, channels // group, *kernel)).astype(numpy.int8)
        depth = weights[0].size
        scale = (random.uniform(0.5, 1.5, filters) / depth / 40).astype(numpy.float32)
        return helper.make_node("QLinearConv", [
            x, add(stem + "xs", numpy.float32(0.05)), add(stem + "xz", numpy.int8(-3)), add(stem + "w", weights),
            add(stem + "ws", scale), add(stem + "wz", numpy.zeros(filters, numpy.int8)),
            add(stem + "ys", numpy.float32(0.05)), add(stem + "yz", numpy.int8(-3)),
            add(stem + "b", random.integers(-1000, 1000, filters).astype(numpy.int32))
        ], [y], kernel_shape=list(kernel), strides=[stride, stride], pads=pads, group=group)

    before = node("x", "a", layer.channels, layer.channels, (1, 1), 1, [0] * 4, 1, "p")
    own = node("a", "b", layer.channels, layer.filters, layer.kernel, layer.stride, layer.pads, group, "o")
    after = node("b", "y", layer.filters, layer.filters, (1, 1), 1, [0] * 4, 1, "q")
    graph = helper.make_graph(
        [before, own, after], "layer",
        [helper.make_tensor_value_info("x", TensorProto.INT8, [1, layer.channels, *layer.size])],
        [helper.make_tensor_value_info("y", TensorProto.INT8, None)], constants)
    return helper.make_model(graph, ir_version=8, opset_imports=[helper.make_opsetid("", 13)])


def bench(path, target):
    command = [ETCH, "bench", str(path), "--target", target, "--json"]
    done = subprocess.run([*command, "--cycles"], capture_output=True, text=True)
    if done.returncode in (1, 3):  # no model of this pipeline, or no llvm-mca
        done = subprocess.run(command, capture_output=True, text=True)
    if done.returncode != 0:
        return None, done.stderr.strip().splitlines()[-1] if done.stderr.strip() else "failed"
    return json.loads(done.stdout), ""


def layer_rows(target, folder):
    rows = []
    for layer in LAYERS:
        path = pathlib.Path(folder) / "layer.onnx"
        onnx.save(model_of(layer), path)
        report, error = bench(path, target)
        if report is None:
            print(f"bench-firmware: {layer.name}: {error}", file=sys.stderr)
            continue
        steps = [step for step in report["layers"] if step["macs"] > 0]
        own = steps[1]
        per_mac = own["instructions"] / own["macs"]
        peer = layer.cmsis.get(target)
        goal = layer.goal.get(target)
        cycles = own.get("modelled_cycles_per_mac")
        rows.append((layer.name, f"{own['macs']:,}", f"{per_mac:.3f}", f"{cycles:.3f}" if cycles else "",
                     f"{peer:.3f}" if peer else "",
                     f"{peer / per_mac:.2f}" if peer else "", verdict(per_mac, goal)))
    return rows


def verdict(value, goal):
    if goal is None:
        return ""
    text = f"{goal:,}" if isinstance(goal, int) else f"{goal}"
    return f"<= {text}: {'met' if value <= goal else 'missed'}"


def network_rows(target, folder):
    rows = []
    for name, goals in NETWORKS:
        path = pathlib.Path(folder) / name / "model.onnx"
        if not path.exists():
            print(f"bench-firmware: {path} is not there", file=sys.stderr)
            continue
        report, error = bench(path, target)
        if report is None:
            print(f"bench-firmware: {name}: {error}", file=sys.stderr)
            continue
        rows.append((*network_row(name, report), verdict(report["instructions"], goals.get(target))))
    return rows


def network_row(name, report):
    return (name, *(cell(report.get(key)) for key in ("macs", "instructions", "modelled_cycles")),
            per_mac(report["instructions"], report["macs"]),
            *(cell(report[key]) for key in ("code_bytes", "weight_bytes", "arena_bytes")))


def print_made(options):
    rows = []
    with tempfile.TemporaryDirectory() as folder:
        for name, _ in bench_firmware_networks.MADE:
            path = pathlib.Path(folder) / "made.onnx"
            bench_firmware_networks.save(name, path)
            report, error = bench(path, options.target)
            if report is None:
                sys.exit(f"bench-firmware: {name}: {error}")
            rows.append(network_row(name, report))
    show(table((f"network on {options.target}", *NETWORK_COLUMNS), rows), options)


def per_element(report):
    """Instructions for an element by the operator's name, with what has its operands and results moved."""
    counts = {}
    for step in report["layers"]:
        if "'" in step["origin"]:
            name = step["origin"].split("'")[1].replace(" of floats", " of words")
            counts[name] = counts.get(name, 0) + step["instructions"] / bench_firmware_operators.ELEMENTS
    return counts


def print_operators(options):
    counts = {}
    with tempfile.TemporaryDirectory() as folder:
        path = pathlib.Path(folder) / "operators.onnx"
        bench_firmware_operators.save(path)
        for target in options.operators.split(","):
            report, error = bench(path, target)
            if report is None:
                sys.exit(f"bench-firmware: {target}: {error}")
            counts[target] = per_element(report)
    names = list(next(iter(counts.values())))
    rows = [(name, *(f"{each.get(name, 0):,.1f}" for each in counts.values())) for name in names]
    show(table(("instructions per element", *counts), rows), options)


def cell(number):
    return "" if number is None else f"{number:,}"


def ratio(peer, own):
    return f"{peer / own:.2f}" if peer and own else ""


def pair_rows(options):
    """Networks in both forms: instructions, cycles and arena of Etch and of TensorFlow Lite Micro."""
    rows = []
    for tflite in sorted(options.pairs.glob("*.tflite")):
        report, error = bench(tflite.with_suffix(".onnx"), options.target)
        if report is None:
            print(f"bench-firmware: {tflite.stem}: {error}", file=sys.stderr)
            continue
        try:
            peer = bench_firmware_tflm.count(ETCH, options.tflm, options.target, tflite, options.build)
        except bench_firmware_tflm.Failed as failed:
            print(f"bench-firmware: {tflite.stem}: {failed}", file=sys.stderr)
            continue
        own, own_cycles = report["instructions"], report.get("modelled_cycles")
        rows.append((tflite.stem, cell(own), cell(peer["instructions"]), ratio(peer["instructions"], own), cell(own_cycles),
                     cell(peer["cycles"]), ratio(peer["cycles"], own_cycles), cell(report["arena_bytes"]), cell(peer["arena"])))
    return rows


def step_rows(report):
    """Every step of a network that `etch bench --json` measured, and their sum."""
    rows = []
    for step in [*report["layers"], {**report, "name": "whole network"}]:
        rows.append((step["name"], cell(step["macs"] or None), cell(step.get("instructions")),
                     per_mac(step.get("instructions"), step["macs"]), cell(step.get("modelled_cycles")),
                     per_mac(step.get("modelled_cycles"), step["macs"]), cell(step.get("code_bytes"))))
    return rows


def per_mac(count, macs):
    return f"{count / macs:.2f}" if count is not None and macs else ""


def print_steps(options):
    report, error = bench(options.steps, options.target)
    if report is None:
        sys.exit(f"bench-firmware: {options.steps}: {error}")
    show(table((f"step on {options.target}", "MACs", "instructions", "per MAC", "modelled cycles", "per MAC", "code"),
               step_rows(report)), options)


def show(text, options):
    print(text, end="")
    if options.markdown:
        pathlib.Path(options.markdown).write_text(text)


def table(head, rows):
    lines = ["| " + " | ".join(head) + " |", "|" + " --- |" * len(head)]
    return "\n".join(lines + ["| " + " | ".join(row) + " |" for row in rows]) + "\n"


def print_pairs(options):
    try:
        bench_firmware_tflm.check(options.tflm)
    except bench_firmware_tflm.Failed as failed:
        sys.exit(f"bench-firmware: {failed}")
    text = table((f"network on {options.target}", "instructions", "TFLM + CMSIS-NN", "ratio", "modelled cycles",
                  "TFLM + CMSIS-NN", "ratio", "arena", "TFLM + CMSIS-NN"), pair_rows(options))
    show(text + f"\ntflite-micro {bench_firmware_tflm.version(options.tflm)}\n", options)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--target", default="cortex-m4")
    parser.add_argument("--networks", default="../shared/models/nets", help="folder of models, if it is there")
    parser.add_argument("--tflm", type=pathlib.Path, help="a checkout of tflite-micro with what its make downloads")
    parser.add_argument("--pairs", type=pathlib.Path, help="folder of NAME.tflite and NAME.onnx, for --tflm")
    parser.add_argument("--steps", type=pathlib.Path, metavar="MODEL", help="the steps of this network only")
    parser.add_argument("--made", action="store_true", help="networks of floats and of 16 bits only")
    parser.add_argument("--operators", metavar="TARGETS", help="what operators take for an element on these targets: A,B")
    parser.add_argument("--build", type=pathlib.Path, default="build/tflm", help="where --tflm builds")
    parser.add_argument("--markdown", help="file for the tables")
    options = parser.parse_args()
    if (options.tflm is None) != (options.pairs is None):
        parser.error("--tflm and --pairs belong together")
    if sum(bool(each) for each in (options.steps, options.tflm, options.made, options.operators)) > 1:
        parser.error("--steps, --tflm, --made and --operators are tables of their own: choose one")
    if options.tflm:
        return print_pairs(options)
    if options.steps:
        return print_steps(options)
    if options.made:
        return print_made(options)
    if options.operators:
        return print_operators(options)
    with tempfile.TemporaryDirectory() as folder:
        text = table(("layer", "MACs", "instructions per MAC", "cycles per MAC", "CMSIS-NN", "ratio", "goal"),
                     layer_rows(options.target, folder))
    if pathlib.Path(options.networks).is_dir():
        text += "\n" + table(("network", *NETWORK_COLUMNS, "goal"), network_rows(options.target, options.networks))
    else:
        print(f"bench-firmware: no folder {options.networks}: layers only", file=sys.stderr)
    show(text, options)


if __name__ == "__main__":
    main()
