#!/usr/bin/env python3
"""Writes docs/conformance.md from the counts of the tests; see tools/conformance-table.

    conformance_table.py RESULTS   lines "column, feature, passed, total" that tests/support/results.cc wrote
"""

import collections
import json
import pathlib
import re
import sys
import textwrap

ROOT = pathlib.Path(__file__).resolve().parent.parent
DATA = ROOT / "tests" / "data"
TARGETS = ("scalar", "sse41", "avx2", "avx_vnni", "avx512_vnni")
CONVOLUTIONS = ("QLinearConv", "ConvInteger", "QLinearConvTranspose")
QUANTIZERS = ("QuantizeV2", "Dequantize")
NOTHING = "–"

# How ONNX Runtime deviates (tools/conformance.py asserts it), in words.
DEVIATIONS = {
    "types": "refuses this mix of types",
    "same-with-dilation": "refuses SAME with dilation",
    "same-crops": "wrong: negative padding",
    "per-channel-zero-point": "refuses zero points per channel",
    "no-kernel": "has no kernel",
    "avx2-saturates": "wrong with AVX2 without VNNI",
}

HEADER = """\
# Conformance of the four operators

Written by `tools/conformance-table` from tests that ran; do not edit. Each row is a feature and the number of small
models made for it. Etch's cells count the models whose every output byte is right.

- **scalar, sse41, avx2, avx_vnni, avx512_vnni**: for convolutions with float and with integer requantization, `12/12 12/12`. The
  generated code was compiled and run{machine}. {native}
- **vectors**: published test vectors with the feature (ONNX's backend tests, ONNX Runtime's and Intel nGraph's unit
  tests, an independent set for QLinearConvTranspose), models unmodified, through the reference functions and all targets.
- **ONNX Runtime {ort}** on {ort_cpu}: models that it runs with the right result, and what happens
  to the others. Its results are what the Etch columns were compared with; where it deviates from the specification, those
  of an equivalent model that it does run (tools/conformance.py). "avx2" was asserted on an emulated Haswell.
- **TensorFlow {tf}** on {tf_cpu}, oneDNN off: recorded random cases that Etch's reference
  and runtime functions reproduce bit for bit, except qint32 values beyond the type, which TensorFlow leaves to the CPU.
{peers}

QuantizeV2 and Dequantize have no requantization: one count each.
"""


def read_results(path):
    counts = collections.defaultdict(lambda: [0, 0])
    for line in pathlib.Path(path).read_text().splitlines():
        column, feature, passed, total = line.split("\t")
        counts[column, feature][0] += int(passed)
        counts[column, feature][1] += int(total)
    return counts


def read_tsv(path):
    lines = path.read_text().splitlines()
    comments = [line[2:] for line in lines if line.startswith("# ")]
    return comments, [line.split("\t") for line in lines if not line.startswith("#")]


def recorded_cases():
    comments, lines = read_tsv(DATA / "conformance" / "cases.tsv")
    version, cpu = re.search(r"ONNX Runtime (\S+) on (.*)\.$", comments[0]).groups()
    features = collections.defaultdict(list)
    for name, _, source, deviation in lines:
        features[name.rsplit("/", 1)[0]].append((source, deviation))
    return version, cpu, features


def runtime_cell(cases):
    right = sum(source == "itself" for source, _ in cases)
    reasons = sorted({DEVIATIONS[deviation] for _, deviation in cases if deviation})
    return f"{right}/{len(cases)}" + (f" {', '.join(reasons)}" if reasons else "")


def peer_cells(peers, feature):
    operator, name = feature.split("/", 1)
    found = [row for row in peers if row[0] == operator and row[1] in (name, "*")]
    return found[0][2:] if found else [NOTHING, NOTHING]


def fraction(counts, column, feature):
    passed, total = counts.get((column, feature), (0, 0))
    return f"{passed}/{total}" if total else ""


def target_cell(counts, target, feature, modes):
    """What ran: compiled code, else the Native stage; a difference between the two is spelled out."""
    compiled = " ".join(filter(None, (fraction(counts, f"{target} compiled{m}", feature) for m in modes)))
    native = " ".join(filter(None, (fraction(counts, f"{target} native{m}", feature) for m in modes)))
    if compiled and compiled != native:
        return f"{compiled} (native {native})"
    return compiled or (f"native {native}" if native else NOTHING)


def table(header, rows):
    lines = ["| " + " | ".join(header) + " |", "|---" * len(header) + "|"]
    return lines + ["| " + " | ".join(row) + " |" for row in rows]


def convolution_tables(counts, features, peers):
    out = []
    for operator in CONVOLUTIONS:
        rows = []
        for feature, cases in features.items():
            if feature.split("/")[0] != operator:
                continue
            cells = [target_cell(counts, target, feature, (" float", " integer")) for target in TARGETS]
            rows.append([feature.split("/", 1)[1], str(len(cases)), *cells,
                         fraction(counts, "vectors", feature) or NOTHING, runtime_cell(cases),
                         *peer_cells(peers, feature)])
        out += ["", f"## {operator}", ""]
        out += table(["feature", "models", *TARGETS, "vectors", "ONNX Runtime", "onnx2c", "emx-onnx-cgen"], rows)
    return out


def quantizer_tables(counts, peers):
    out = []
    for operator in QUANTIZERS:
        features = sorted({f for column, f in counts if column == "scalar native" and f.startswith(operator + "/")})
        rows = []
        for feature in features:
            models = counts["scalar native", feature][1]
            cells = [target_cell(counts, target, feature, ("",)) for target in TARGETS]
            rows.append([feature.split("/", 1)[1], str(models), *cells, fraction(counts, "vectors", feature) or NOTHING,
                         fraction(counts, "tensorflow", feature) or NOTHING, "has no such operator",
                         *peer_cells(peers, feature)])
        out += ["", f"## {operator}", ""]
        out += table(["feature", "models", *TARGETS, "vectors", "TensorFlow", "ONNX Runtime", "onnx2c",
                      "emx-onnx-cgen"], rows)
    return out


def native_sentence(counts):
    same = all(counts[key] == counts[key[0].replace("compiled", "native"), key[1]]
               for key in list(counts) if " compiled" in key[0])
    return ("The same models under the Native stage gave the same counts." if same else
            "Where the Native stage gave other counts, the cell says so.")


def wrapped(item):
    return textwrap.fill(item, 120, subsequent_indent="  ")


def failures(counts):
    return sum(total - passed for passed, total in counts.values())


def cpu_name():
    lines = pathlib.Path("/proc/cpuinfo").read_text().splitlines()
    return next((line.split(":")[1].strip() for line in lines if line.startswith("model name")), "an unknown CPU")


def main():
    counts = read_results(sys.argv[1])
    ort, ort_cpu, features = recorded_cases()
    tensorflow = json.loads((DATA / "quantize_v2" / "recorded.json").read_text())
    comments, peers = read_tsv(DATA / "conformance" / "peers.tsv")
    about = HEADER.format(machine=f" on {cpu_name()}", native=native_sentence(counts), ort=ort, ort_cpu=ort_cpu,
                          tf=tensorflow["tensorflow"], tf_cpu=tensorflow["cpu"], peers=wrapped("- **onnx2c, emx-onnx-cgen**: " + " ".join(comments[:-1])))
    total = sum(len(cases) for cases in features.values())
    lines = about.splitlines()
    lines += [f"Convolutions: {total} models. Failures in all cells of Etch: {failures(counts)}."]
    lines += convolution_tables(counts, features, peers) + quantizer_tables(counts, peers)
    (ROOT / "docs" / "conformance.md").write_text("\n".join(lines) + "\n")
    sys.exit(1 if failures(counts) else 0)


if __name__ == "__main__":
    main()
