#!/usr/bin/env python3
"""Records ONNX Runtime's results for operators that move, select and resize elements.

Writes tests/data/moves/{cases.tsv,cases.bin} in the form that tests/support/recorded_cases.h describes;
tests/recorded/recorded_moves_test.cc replays them. Optimizations are off, so that each node runs as written.
Seeded: run it only to change the set, and look at what changes. Cases that ONNX Runtime refuses are
left out and listed.

    python3 -m venv /tmp/v && /tmp/v/bin/pip install onnx onnxruntime numpy
    /tmp/v/bin/python tools/record_moves.py
"""

import itertools
import pathlib
import struct
import sys

import numpy as np
import onnx
import onnxruntime as ort
from onnx import helper, numpy_helper

FOLDER = pathlib.Path(__file__).resolve().parent.parent / "tests" / "data" / "moves"
MICROSOFT = "com.microsoft"
F = np.float32
TYPES = {"f32": F, "u8": np.uint8, "s8": np.int8}

rng = np.random.default_rng(20250301)
cases = []
refused = []


def data(kind, shape):
    dtype = TYPES.get(kind, kind)
    if dtype == F:
        return rng.normal(0, 3, shape).astype(F)
    if dtype == np.bool_:
        return rng.integers(0, 2, shape).astype(np.bool_)
    info = np.iinfo(dtype)
    return rng.integers(max(info.min, -2**31), min(info.max, 2**31 - 1), shape,
                        endpoint=True).astype(dtype)


def ints(*values):
    return np.array(values, np.int64)


def record(name, op, inputs, opset, run_time=1, domain="", outputs=1, which=0, **attributes):
    """One node; the first `run_time` inputs, or those listed, are graph inputs, None is omitted.

    One output is kept.
    """
    names = ["" if x is None else f"i{k}" for k, x in enumerate(inputs)]
    node = helper.make_node(op, names, [f"o{k}" for k in range(outputs)], domain=domain,
                            **attributes)
    present = [k for k, x in enumerate(inputs) if x is not None]
    late = [k for k in present if (k < run_time if isinstance(run_time, int) else k in run_time)]
    infos = [helper.make_tensor_value_info(
        names[k], helper.np_dtype_to_tensor_dtype(inputs[k].dtype), inputs[k].shape) for k in late]
    constants = [numpy_helper.from_array(inputs[k], names[k]) for k in present if k not in late]
    graph = helper.make_graph([node], "g", infos, [onnx.ValueInfoProto(name=f"o{which}")],
                              constants)
    imports = [helper.make_opsetid("", opset)]
    if domain:
        imports.append(helper.make_opsetid(domain, 1))
    model = helper.make_model(graph, opset_imports=imports, ir_version=8)
    options = ort.SessionOptions()
    options.graph_optimization_level = ort.GraphOptimizationLevel.ORT_DISABLE_ALL
    options.intra_op_num_threads = 1
    try:
        session = ort.InferenceSession(model.SerializeToString(), options,
                                       providers=["CPUExecutionProvider"])
        result = session.run(None, {names[k]: inputs[k] for k in late})[0]
    except Exception as error:  # pylint: disable=broad-except
        refused.append(f"{name}: {str(error)[:110]}")
        return
    # Undeclared types of outputs are inferred by us; nothing else is in the file.
    blocks = [model.SerializeToString()]
    blocks += [numpy_helper.from_array(inputs[k]).SerializeToString() for k in late]
    blocks.append(numpy_helper.from_array(np.asarray(result)).SerializeToString())
    cases.append((f"{len(cases)}_{name}", len(late), blocks))


def pads():
    for mode, kind in itertools.product(("constant", "edge", "reflect"), TYPES):
        for amounts in ([0, 1, 2, 3, 0, 0, 1, 2], [0, 0, 3, 1, 0, 0, 2, 3], [0, -1, 2, -1, 0, 0, -1, 2]):
            inputs = [data(kind, (2, 3, 5, 4)), ints(*amounts)]
            if mode == "constant" and amounts[1]:
                inputs.append(data(kind, ()))
            record(f"pad_{mode}_{kind}", "Pad", inputs, 13, mode=mode)
    for kind in TYPES:
        record(f"pad_wrap_{kind}", "Pad", [data(kind, (3, 4)), ints(2, 3, 4, 9)], 19, mode="wrap")
        record(f"pad_axes_{kind}", "Pad", [data(kind, (3, 4, 2)), ints(2, 1, 0, 3), data(kind, ()),
                                           ints(-1, 0)], 18)
        record(f"pad_contrib_{kind}", "Pad", [data(kind, (3, 4)), ints(2, 1, 0, 3), data(kind, ())],
               13, domain=MICROSOFT)
    for mode in ("constant", "edge", "reflect"):
        record(f"pad_9_{mode}", "Pad", [data("f32", (3, 4))], 9, pads=[1, 2, 0, 3], mode=mode,
               value=1.5)
    for dtype in (np.int32, np.int64, np.bool_):
        record(f"pad_{np.dtype(dtype).name}", "Pad", [data(dtype, (3, 4)), ints(1, 0, 2, 2)], 13,
               mode="edge")


TRANSFORMS = ("asymmetric", "half_pixel", "pytorch_half_pixel", "align_corners")
ROUNDS = ("round_prefer_floor", "round_prefer_ceil", "floor", "ceil")


def nearest():
    scales = [(2, 2), (1.7, 2.3), (0.6, 0.45), (3, 1), (1.5, 0.5)]
    for transform, rounding in itertools.product(TRANSFORMS + ("half_pixel_symmetric",), ROUNDS):
        opset = 19 if transform == "half_pixel_symmetric" else 13
        for height, width in scales:
            kind = rng.choice(list(TYPES))
            record(f"nearest_{transform}_{rounding}_{kind}", "Resize",
                   [data(kind, (1, 2, 5, 7)), None, np.array([1, 1, height, width], F)], opset,
                   mode="nearest", nearest_mode=rounding, coordinate_transformation_mode=transform)
    for rounding in ROUNDS:
        record(f"nearest_tf_half_{rounding}", "Resize",
               [data("f32", (1, 1, 5, 4)), np.array([], F), np.array([1, 1, 1.7, 2.5], F)], 11,
               mode="nearest", nearest_mode=rounding,
               coordinate_transformation_mode="tf_half_pixel_for_nn")
    for size in ((9, 10), (3, 3), (5, 14)):
        record("nearest_sizes", "Resize", [data("u8", (1, 2, 5, 7)), None, None, ints(1, 2, *size)],
               13, mode="nearest")
        for policy in ("stretch", "not_larger", "not_smaller"):
            record(f"nearest_{policy}", "Resize",
                   [data("s8", (1, 5, 7, 2)), None, None, ints(*size)], 18, mode="nearest",
                   axes=[1, 2], keep_aspect_ratio_policy=policy)
            record(f"linear_{policy}", "Resize",
                   [data("f32", (1, 2, 5, 7)), None, None, ints(*size[::-1])], 18, mode="linear",
                   axes=[3, 2], keep_aspect_ratio_policy=policy)
    for factor in (1.6, 0.4, 2.0, 3.0):
        record("upsample_7", "Upsample", [data("u8", (1, 2, 5, 4))], 7,
               scales=[1, 1, max(1, factor), 1.3])
        record("upsample_9", "Upsample", [data("s8", (1, 2, 5, 4)),
                                          np.array([1, 1, max(1, factor), 2], F)], 9)
        record("resize_10", "Resize", [data("u8", (1, 2, 5, 7)), np.array([1, 1, factor, 0.7], F)],
               10)
    for shape, scale in (((7,), (1.7,)), ((3, 4), (2, 0.6)), ((2, 3, 4), (1, 1.5, 2)),
                         ((1, 2, 3, 3, 2), (1, 1, 2, 1.4, 2.2))):
        record(f"nearest_rank_{len(shape)}", "Resize",
               [data("f32", shape), None, np.array(scale, F)], 13, mode="nearest")


def linear():
    scales = [(2, 2), (1.7, 2.3), (0.6, 0.8), (1, 3), (2.5, 1), (4, 0.5)]
    for transform, kind in itertools.product(TRANSFORMS + ("half_pixel_symmetric",), TYPES):
        opset = 19 if transform == "half_pixel_symmetric" else 13
        for height, width in scales:
            how = {"mode": "linear", "coordinate_transformation_mode": transform}
            record(f"linear_{transform}_{kind}", "Resize",
                   [data(kind, (1, 2, 5, 6)), None, np.array([1, 1, height, width], F)], opset, **how)
            record(f"linear_last_{transform}_{kind}", "Resize",
                   [data(kind, (1, 5, 6, 3)), None, np.array([1, height, width, 1], F)], opset, **how)
        record(f"linear_rank_2_{kind}", "Resize",
               [data(kind, (4, 5)), None, np.array([1.5, 2.2], F)], opset, **how)
        record(f"linear_rank_3_{kind}", "Resize",
               [data(kind, (2, 4, 5)), None, np.array([1, 1.5, 2.2], F)], opset, **how)
        record(f"linear_rank_5_{kind}", "Resize",
               [data(kind, (1, 2, 3, 4, 3)), None, np.array([1, 1, 1.7, 2, 0.7], F)], opset, **how)
    record("upsample_linear_7", "Upsample", [data("f32", (1, 2, 5, 4))], 7, scales=[1, 1, 1.6, 2],
           mode="linear")
    record("upsample_linear_9", "Upsample", [data("u8", (1, 2, 5, 4)), np.array([1, 1, 1.6, 2], F)],
           9, mode="linear")
    record("resize_linear_10", "Resize", [data("s8", (1, 2, 5, 4)), np.array([1, 1, 0.6, 2], F)],
           10, mode="linear")


def crops():
    for mode, kind in itertools.product(("nearest", "linear"), TYPES):
        for roi in ([0, 0, 0.1, 0.2, 1, 1, 0.9, 0.7], [0, 0, -0.3, 0.4, 1, 1, 1.4, 0.6]):
            record(f"crop_{mode}_{kind}", "Resize",
                   [data(kind, (1, 2, 5, 6)), np.array(roi, F), None, ints(1, 2, 7, 4)], 13,
                   mode=mode, coordinate_transformation_mode="tf_crop_and_resize",
                   extrapolation_value=17.0)


def joins():
    for kind in ("u8", "s8"):
        for equal in (False, True):
            scales = [F(0.05)] * 4 if equal else rng.uniform(0.01, 0.1, 4).astype(F)
            zeros = [data(kind, ())] * 4 if equal else [data(kind, ()) for _ in range(4)]
            inputs = [scales[3], zeros[3]]
            for k in range(3):
                inputs += [data(kind, (2, 100, 3)), scales[k], zeros[k]]
            record(f"qlinear_concat_{kind}", "QLinearConcat", [np.asarray(x) for x in inputs], 13,
                   run_time=(2, 5, 8), domain=MICROSOFT, axis=1)


def selections():
    for kind in (F, np.uint8, np.int8, np.int32, np.int64, np.bool_):
        name = np.dtype(kind).name
        record(f"tile_{name}", "Tile", [data(kind, (2, 3, 2)), ints(2, 1, 3)], 13)
        record(f"gather_{name}", "Gather", [data(kind, (3, 4, 2)), np.array([[0, -1], [2, 1]])], 13,
               run_time=2, axis=1)
        record(f"gather_elements_{name}", "GatherElements",
               [data(kind, (3, 4)), rng.integers(-4, 4, (2, 6)).astype(np.int32)], 13, run_time=2,
               axis=1)
        record(f"where_{name}", "Where", [data(np.bool_, (3, 1)), data(kind, (4,)),
                                          data(kind, (2, 3, 4))], 16, run_time=3)
        for op in ("Equal", "Less", "LessOrEqual", "Greater", "GreaterOrEqual"):
            small = rng.integers(0, 2 if kind == np.bool_ else 4, (2, 3, 4)).astype(kind)
            record(f"{op.lower()}_{name}", op, [small, small[:1, ::-1, :1].copy()], 16, run_time=2)
    for op in ("And", "Or", "Xor"):
        record(op.lower(), op, [data(np.bool_, (2, 5)), data(np.bool_, (5,))], 13, run_time=2)
    record("not", "Not", [data(np.bool_, (2, 5))], 13)
    for kind in TYPES:
        for mode in ("DCR", "CRD"):
            record(f"depth_to_space_{mode}_{kind}", "DepthToSpace", [data(kind, (2, 12, 2, 3))], 13,
                   blocksize=2, mode=mode)
        record(f"space_to_depth_{kind}", "SpaceToDepth", [data(kind, (2, 3, 4, 6))], 13,
               blocksize=2)
    for start, limit, delta in ((0, 7, 2), (5, -4, -3), (1, 1, 1)):
        for dtype in (F, np.int32, np.int64):
            record(f"range_{np.dtype(dtype).name}", "Range",
                   [np.array(v, dtype) for v in (start, limit, delta)], 13, run_time=0)
    record("range_tenths", "Range", [np.array(v, F) for v in (0.1, 3.0, 0.1)], 13, run_time=0)


def write():
    FOLDER.mkdir(parents=True, exist_ok=True)
    with open(FOLDER / "cases.tsv", "w", encoding="utf-8") as listing:
        listing.write(f"# ONNX Runtime {ort.__version__}; name, inputs, source, deviation\n")
        for name, count, _ in cases:
            listing.write(f"{name}\t{count}\titself\t\n")
    with open(FOLDER / "cases.bin", "wb") as blocks:
        for _, _, parts in cases:
            for part in parts:
                blocks.write(struct.pack("<I", len(part)) + part)


def main():
    ort.set_default_logger_severity(4)
    for group in (pads, nearest, linear, crops, joins, selections):
        group()
    write()
    print(f"{len(cases)} cases, {(FOLDER / 'cases.bin').stat().st_size} bytes")
    print("\n".join(["refused:"] + refused) if refused else "none refused")
    return 0


if __name__ == "__main__":
    sys.exit(main())
