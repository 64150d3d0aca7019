#!/usr/bin/env python3
"""Records ONNX Runtime's results for Loop, Scan and If on integers.

Writes tests/data/control/{cases.tsv,cases.bin} in the form that tests/support/recorded_cases.h describes;
tests/recorded/recorded_control_test.cc replays them. The bodies compute on integers and on floats that
are exact, so that results have to be equal bit for bit: what is recorded is how often bodies run, what
they carry, and where slices go. Seeded: run it only to change the set, and look at what changes.

    python3 -m venv /tmp/v && /tmp/v/bin/pip install onnx onnxruntime numpy
    /tmp/v/bin/python tools/record_control.py
"""

import itertools
import pathlib
import struct

import numpy as np
import onnx
import onnxruntime as ort
from onnx import helper, numpy_helper

FOLDER = pathlib.Path(__file__).resolve().parent.parent / "tests" / "data" / "control"
INT, BOOL, LONG = onnx.TensorProto.INT32, onnx.TensorProto.BOOL, onnx.TensorProto.INT64
rng = np.random.default_rng(20250702)
cases = []


def info(name, kind, shape):
    return helper.make_tensor_value_info(name, kind, shape)


def ints(*shape):
    return rng.integers(-50, 50, shape).astype(np.int32)


def record(name, nodes, inputs, outputs, constants=()):
    kinds = {np.dtype(np.int32): INT, np.dtype(bool): BOOL, np.dtype(np.int64): LONG}
    graph = helper.make_graph(
        nodes, "g", [info(key, kinds[value.dtype], value.shape) for key, value in inputs.items()],
        [onnx.ValueInfoProto(name=key) for key in outputs],
        [numpy_helper.from_array(value, key) for key, value in constants])
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 16)], ir_version=8)
    session = ort.InferenceSession(model.SerializeToString(), providers=["CPUExecutionProvider"])
    results = session.run(None, inputs)
    blocks = [model.SerializeToString()]
    blocks += [numpy_helper.from_array(value).SerializeToString() for value in inputs.values()]
    blocks += [numpy_helper.from_array(value).SerializeToString() for value in results]
    cases.append((f"{name}\t{len(inputs)}:{len(results)}\titself\t", blocks))


def node(op, inputs, outputs, **attributes):
    return helper.make_node(op, inputs.split(), outputs.split(), **attributes)


def fibonacci(trips, most):
    """The next number is the sum of the last two; stops beyond `most`, given at run time."""
    body = helper.make_graph(
        [node("Add", "a b", "c"), node("Identity", "b", "a2"), node("ReduceMax", "c", "top", keepdims=0),
         node("Less", "top most", "go2")],
        "body", [info("i", LONG, []), info("go", BOOL, []), info("a", INT, [2]), info("b", INT, [2])],
        [info("go2", BOOL, []), info("a2", INT, [2]), info("c", INT, [2])])
    record(f"fibonacci_{trips}_{most}", [node("Loop", "n yes x y", "p q", body=body)],
           {"x": np.array([0, 1], np.int32), "y": np.array([1, 2], np.int32),
            "most": np.array(most, np.int32)}, ["p", "q"],
           [("n", np.array(trips, np.int64)), ("yes", np.array(True))])


def counted(start, step, end, trips):
    """Ends by a counter of its own; the slices say how often it ran."""
    body = helper.make_graph(
        [node("Add", "k step", "k2"), node("Less", "k2 end", "go2"), node("Cast", "k", "small", to=INT),
         node("Add", "small x", "slice")],
        "body", [info("i", LONG, []), info("go", BOOL, []), info("k", LONG, [])],
        [info("go2", BOOL, []), info("k2", LONG, []), info("slice", INT, [3])])
    record(f"counted_{start}_{step}_{end}_{trips}", [node("Loop", "n yes k0", "k_end y", body=body)],
           {"x": ints(3)}, ["k_end", "y"],
           [("n", np.array(trips, np.int64)), ("yes", np.array(True)), ("k0", np.array(start, np.int64)),
            ("step", np.array(step, np.int64)), ("end", np.array(end, np.int64))])


def scan(axes, directions, out_axes, out_directions):
    body = helper.make_graph(
        [node("Mul", "a b", "m"), node("Add", "h m", "h2"), node("Identity", "h2", "y"),
         node("Sub", "a b", "d")],
        "body", [info("h", INT, [2, 3]), info("a", INT, [2, 3]), info("b", INT, [2, 3])],
        [info("h2", INT, [2, 3]), info("y", INT, [2, 3]), info("d", INT, [2, 3])])
    values = [np.moveaxis(ints(4, 2, 3), 0, axis).copy() for axis in axes]
    record(f"scan_{axes}_{directions}_{out_axes}_{out_directions}".replace(" ", ""),
           [node("Scan", "h0 x u", "h_end ys ds", body=body, num_scan_inputs=2, scan_input_axes=axes,
                 scan_input_directions=directions, scan_output_axes=out_axes,
                 scan_output_directions=out_directions)],
           {"h0": ints(2, 3), "x": values[0], "u": values[1]}, ["h_end", "ys", "ds"])


def choice(value):
    then = helper.make_graph([node("Add", "x x", "a")], "t", [], [info("a", INT, [4])])
    other = helper.make_graph([node("Mul", "x x", "b")], "e", [], [info("b", INT, [4])])
    record(f"choice_{value}", [node("If", "c", "y", then_branch=then, else_branch=other)],
           {"c": np.array(value), "x": ints(4)}, ["y"])


def main():
    for trips, most in ((6, 1000), (6, 8), (6, -1), (0, 9), (1, 9)):
        fibonacci(trips, most)
    for arguments in ((0, 1, 4, 2**62), (-3, 2, 4, 100), (0, 1, 9, 5), (7, 1, 2, 5)):
        counted(*arguments)
    for axes, directions in itertools.product(([0, 0], [1, 2], [-1, -3]), ([0, 0], [1, 0], [1, 1])):
        scan(axes, directions, axes[::-1], directions[::-1])
    choice(True)
    choice(False)
    FOLDER.mkdir(parents=True, exist_ok=True)
    header = "# name, inputs:outputs, source, deviation; written by tools/record_control.py\n"
    (FOLDER / "cases.tsv").write_text(header + "".join(line + "\n" for line, _ in cases))
    with open(FOLDER / "cases.bin", "wb") as file:
        for _, blocks in cases:
            for block in blocks:
                file.write(struct.pack("<I", len(block)) + block)
    print(f"{len(cases)} cases, ONNX Runtime {ort.__version__}")


if __name__ == "__main__":
    main()
