#!/usr/bin/env python3
"""Records what ONNX Runtime computes for Softmax and Exp into runtime/testdata_softmax.h.

Bit patterns, because the tests ask for equality. The header states the version and the CPU features
that chose the kernels; recording needs a CPU with AVX512F, whose results are the reference. Needs
onnx, onnxruntime and numpy.

    python3 tools/record_softmax.py runtime/testdata_softmax.h
"""
import re
import sys

import numpy as np
import onnxruntime
from onnx import TensorProto, helper


def run(op, x, **attributes):
    """Returns op(x) for a float tensor x, computed by the CPU provider."""
    node = helper.make_node(op, ["x"], ["y"], **attributes)
    graph = helper.make_graph(
        [node],
        "record",
        [helper.make_tensor_value_info("x", TensorProto.FLOAT, list(x.shape))],
        [helper.make_tensor_value_info("y", TensorProto.FLOAT, list(x.shape))],
    )
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 13)], ir_version=8)
    session = onnxruntime.InferenceSession(
        model.SerializeToString(), providers=["CPUExecutionProvider"]
    )
    return session.run(None, {"x": x})[0]


def cpu_features():
    with open("/proc/cpuinfo", encoding="ascii") as file:
        flags = re.search(r"^flags\s*:(.*)$", file.read(), re.M).group(1).split()
    return [flag for flag in flags if flag == "fma" or flag.startswith("avx")]


def softmax_rows(rng):
    """(description, row) pairs: every vector length class, and the values that are hard for exp."""
    grid = (rng.integers(-128, 128, 100) + 3) * np.float32(0.0725)
    return [
        ("1 logit", rng.normal(0, 4, 1)),
        ("3 logits", rng.normal(0, 4, 3)),
        ("10 logits", rng.normal(0, 4, 10)),
        ("10 equal values", np.full(10, 1.7)),
        ("12 logits", rng.normal(0, 4, 12)),
        ("12 values from the largest float to its negative", np.linspace(-1, 1, 12) * 3.4028234e38),
        ("16 logits", rng.normal(0, 4, 16)),
        ("16 values whose exponentials are subnormal or 0", -np.linspace(0, 104.5, 16)),
        ("17 logits", rng.normal(0, 4, 17)),
        ("33 logits", rng.normal(0, 4, 33)),
        ("33 values far apart", rng.normal(0, 60, 33)),
        ("100 dequantized 8-bit values", grid),
    ] + [
        # All terms have nearly the same size, so the order of the sum shows in its last bits.
        (f"{n} nearly flat values", rng.normal(0, 0.3, n))
        for n in (8, 10, 12, 16, 16, 16, 17, 33, 49, 100, 100)
    ]


def exp_points(rng):
    edges = [0.0, -0.0, 1.0, -1.0, 88.72283, 88.72284, 1e30, -87.3366, -103.2789, -103.9721, -1e30]
    return np.concatenate([edges, [np.inf, -np.inf], rng.normal(0, 30, 27)])


def softmax(row):
    return run("Softmax", row[None], axis=-1)[0]


def bits(values):
    words = ["0x%08xu," % word for word in np.asarray(values, np.float32).view(np.uint32).ravel()]
    return "\n".join("    " + " ".join(words[i : i + 7]) for i in range(0, len(words), 7))


def table(name, values):
    return "constexpr uint32_t %s[] = {\n%s\n};\n" % (name, bits(values))


def main():
    if len(sys.argv) != 2:
        sys.exit("usage: record_softmax.py OUTPUT_HEADER")
    features = cpu_features()
    if "avx512f" not in features:
        sys.exit("record_softmax.py: this CPU has no AVX512F, its results are not the reference")
    rng = np.random.default_rng(20240611)
    rows = [(text, row.astype(np.float32)) for text, row in softmax_rows(rng)]
    points = exp_points(rng).astype(np.float32)
    out = [
        f"// Results of ONNX Runtime {onnxruntime.__version__} (CPU, x64) as bit patterns.",
        "// Written by tools/record_softmax.py; do not edit. CPU features at the recording:",
        *("//   " + " ".join(features[i : i + 6]) for i in range(0, len(features), 6)),
        "// Rows of different lengths follow each other; kSoftmaxRows says how long each one is.",
        "#pragma once",
        "",
        "#include <stdint.h>",
        "",
        "namespace etch::rt::testdata {",
        "",
        "struct SoftmaxRow {",
        "  int32_t length;",
        "  const char* description;",
        "};",
        "",
        "constexpr SoftmaxRow kSoftmaxRows[] = {",
        *('    {%d, "%s"},' % (row.size, text) for text, row in rows),
        "};",
        "",
        table("kSoftmaxInput", np.concatenate([row for _, row in rows])),
        table("kSoftmaxOutput", np.concatenate([softmax(row) for _, row in rows])),
        table("kExpInput", points),
        table("kExpOutput", run("Exp", points)),
        "}  // namespace etch::rt::testdata",
    ]
    with open(sys.argv[1], "w", encoding="ascii") as file:
        file.write("\n".join(out) + "\n")


if __name__ == "__main__":
    main()
