"""What the judge (tools/attack_judge.cc) and ONNX Runtime say about some models."""

import dataclasses
import pathlib
import struct
import subprocess

import numpy as np
import onnx
from onnx import numpy_helper

from builder import session

NATIVE = [
    "scalar",
    "sse41",
    "avx2",
    "avx_vnni",
    "avx512_vnni",
    "cortex-m0",
    "cortex-m4",
    "cortex-m7",
    "cortex-m55",
    "aarch64",
    "aarch64-dotprod",
    "aarch64-i8mm",
    "armv7-neon",
    "riscv64",
    "riscv64-rvv",
    "riscv32imac",
    "wasm32-simd128",
    "s390x",
]
HERE = ["avx512_vnni", "avx2", "sse41", "scalar"]
EMULATED = [
    "cortex-m0",
    "cortex-m3",
    "cortex-m4",
    "cortex-m55",
    "aarch64",
    "aarch64-dotprod",
    "aarch64-i8mm",
    "armv7-neon",
    "riscv64",
    "riscv64-rvv",
    "wasm32-simd128",
    "s390x",
]
OPTIONS = [
    "",
    "",
    "",
    "--optimize size",
    "--optimize speed",
    "--optimize ram",
    "--unroll full",
    "--unroll 1",
    "--split-rows 1",
    "--threads 3",
    "--requantize integer",
    "--optimize size --requantize integer",
    "--split-rows 1 --threads 2",
]

BOUNDS = ["", "", "", "t0", "t3", "t7", "a95", "a70", "a45", "f99", "f85"]  # tools/attack_judge.cc says what they mean


@dataclasses.dataclass
class Case:
    name: str
    model: onnx.ModelProto
    inputs: list  # arrays, in the order of the graph's
    outputs: list  # of ONNX Runtime
    plans: list
    exact: bool = True  # floats are the same in any order of operations
    qdq: bool = False
    equal: list = dataclasses.field(default_factory=list)  # pairs of positions of outputs
    builder: object = None


@dataclasses.dataclass
class Finding:
    case: Case
    kind: str
    plan: str
    what: str


def plans_for(rng, qdq, compiled, targets, emulated):
    """The first one is what the others are compared with."""
    pick = lambda values: values[int(rng.integers(len(values)))]
    letter = "c" if rng.random() < compiled else "n"
    plans = [f"{letter} --target {pick(targets)}"]
    for _ in range(3):
        plans.append(f"n{pick(BOUNDS)} --target {pick(NATIVE)} {pick(OPTIONS)}".rstrip())
    if letter == "c":
        plans.append(f"c{pick(BOUNDS)} --target {pick(targets)} {pick(OPTIONS)}".rstrip())
    if rng.random() < emulated:
        plans.append(f"c --target {pick(EMULATED)} {pick(OPTIONS[:8])}".rstrip())
    if qdq:
        plans.append(f"n --target {pick(NATIVE)} --qdq float")
    return plans


def write_cases(folder, cases):
    folder.mkdir(parents=True, exist_ok=True)
    with open(folder / "cases.tsv", "w", encoding="utf-8") as lines, open(folder / "cases.bin", "wb") as blocks:
        for case in cases:
            lines.write(f"{case.name}\t{len(case.inputs)}:0\t{';'.join(case.plans)}\t{'qdq' if case.qdq else ''}\n")
            for block in [case.model.SerializeToString()] + [
                numpy_helper.from_array(v).SerializeToString() for v in case.inputs
            ]:
                blocks.write(struct.pack("<I", len(block)) + block)


def read_blocks(path):
    stored, at, out = path.read_bytes(), 0, []
    while at < len(stored):
        size = struct.unpack_from("<I", stored, at)[0]
        out.append(numpy_helper.to_array(onnx.TensorProto.FromString(stored[at + 4 : at + 4 + size])))
        at += 4 + size
    return out


def judge(program, folder, cases, seconds=3000):
    """Findings, refusals, and by name the native outputs and those of the reference functions."""
    write_cases(folder, cases)
    by_name = {case.name: case for case in cases}
    findings, skipped = [], []
    while True:
        done = subprocess.run(
            [program, str(folder)] + [str(k) for k in skipped],
            capture_output=True,
            text=True,
            timeout=seconds,
            errors="replace",
        )
        lines = [line.split("\t") for line in done.stdout.splitlines() if line.count("\t") >= 3]
        at = [int(line[2]) for line in lines if line[0] == "case"]
        if any(line[0] == "end" for line in lines) or not at or at[-1] < 0:
            break
        findings.append(Finding(cases[at[-1]], "crash", "-", f"exit {done.returncode}: {done.stderr[-400:]}"))
        skipped.append(at[-1])
    if not any(line[0] == "end" for line in lines):
        findings.append(Finding(cases[0], "crash", "compiled", f"exit {done.returncode}: {done.stderr[-400:]}"))
    refused, order, compiled = [], [], 0
    for kind, name, plan, what in (line[:4] for line in lines):
        if kind in ("differ", "unequal", "code", "broken"):
            findings.append(Finding(by_name[name], kind, plan, what + (done.stderr[-300:] if kind == "broken" else "")))
        elif kind == "refused":
            refused.append((by_name[name], plan, what))
        elif kind == "outputs":
            order.append((name, int(what)))
        compiled += kind == "compiled"
    return findings, refused, values_by_name(folder, order), compiled


def values_by_name(folder, order):
    native, reference, out, at = read_blocks(folder / "native.bin"), read_blocks(folder / "reference.bin"), {}, 0
    for name, count in order:
        out[name] = native[at : at + count], reference[at : at + count]
        at += count
    return out


# ---- against ONNX Runtime ----


def same(a, b):
    """Bit for bit, but any NaN is like any other."""
    if a.shape != b.shape or a.dtype != b.dtype:
        return False
    if a.dtype == np.float32:
        return np.array_equal(
            a.view(np.uint32)[~np.isnan(a)] if a.ndim else a,
            b.view(np.uint32)[~np.isnan(b)] if b.ndim else b,
            equal_nan=a.ndim == 0,
        ) and np.array_equal(np.isnan(a), np.isnan(b))
    return np.array_equal(a, b)


def near(a, b, steps):
    """Floats within a part of the largest; integers within some steps, few of them at all."""
    if a.shape != b.shape or a.dtype != b.dtype:
        return False
    if a.dtype.kind == "f":
        if not np.array_equal(np.isnan(a), np.isnan(b)):
            return False
        finite = np.isfinite(b) & np.isfinite(a)
        if not np.array_equal(a[~finite & ~np.isnan(a)], b[~finite & ~np.isnan(b)]):
            return False
        size = np.abs(b[finite]).max() if finite.any() else 0
        return not finite.any() or np.abs(a[finite] - b[finite]).max() <= (2e-2 if steps else 1e-4) * max(size, 1e-30)
    if a.dtype.kind == "b" or a.dtype == np.int64:
        return np.array_equal(a, b) or steps > 0
    far = np.abs(a.astype(np.int64) - b.astype(np.int64))
    steps *= a.dtype.itemsize**2  # of 16 bits a step is next to nothing
    return far.max() <= steps and (far > 0).mean() <= (0.02 if a.dtype.itemsize == 1 else 0.3) + 2 / far.size


def against_onnxruntime(case, native, reference):
    """What is different, or "". Of QDQ graphs the level that fuses counts too."""
    if not case.qdq:
        for i, (ours, theirs) in enumerate(zip(reference, case.outputs)):
            if not (same(ours, theirs) if case.exact else near(ours, theirs, 2 if rounds(case) else 0)):
                return f"output {i}: {describe(ours, theirs)}"
        return ""
    bad = [i for i, (ours, theirs) in enumerate(zip(native, case.outputs)) if not near(ours, theirs, 1)]
    if not bad:
        return ""
    feeds = dict(zip([i.name for i in case.model.graph.input], case.inputs))
    try:
        fused = session(case.model, "all").run(None, feeds)
    except Exception:  # it refuses what it fused; the plan with --qdq float was compared all the same
        return ""
    for i in bad:
        if not near(native[i], fused[i], 1) and beyond(native[i], case.outputs[i], fused[i]):
            return (
                f"output {i}: {describe(native[i], case.outputs[i])}; level all: {describe(native[i], fused[i])}; "
                f"reference: {describe(native[i], reference[i])}; levels: {describe(case.outputs[i], fused[i])}"
            )
    return ""


def beyond(ours, one, other):
    """Whether we are further from one level of ONNX Runtime than its other level is."""
    if ours.shape != one.shape or ours.dtype != one.dtype or ours.dtype.kind == "b":
        return True
    far, levels = (np.abs(a.astype(np.float64) - one) for a in (ours, other))
    return not (far.max() <= levels.max() and (far > 0).sum() <= (levels > 0).sum())


def rounds(case):
    """Whether floats that differ in their last bits may be rounded to integers, which moves everything after them."""
    return any("Quantize" in node.op_type or node.op_type in ("QAttention", "Cast") for node in case.model.graph.node)


def describe(ours, theirs):
    if ours.shape != theirs.shape or ours.dtype != theirs.dtype:
        return f"{ours.dtype}{ours.shape} for {theirs.dtype}{theirs.shape}"
    with np.errstate(all="ignore"):
        far = np.abs(ours.astype(np.float64) - theirs.astype(np.float64))
    at = np.unravel_index(int(np.argmax(np.where(np.isnan(far), np.inf, far))), far.shape) if far.size else ()
    return f"{int((~(far == 0)).sum())} of {far.size} differ, most {far[at]}: {ours[at]!r} for {theirs[at]!r}"


def examine(case, native, reference):
    """Findings beyond those of the judge."""
    out = []
    what = against_onnxruntime(case, native, reference)
    if what:
        out.append(Finding(case, "onnxruntime", case.plans[0][2:], what))
    for first, second in case.equal:
        if not same(native[first], native[second]):
            out.append(Finding(case, "twins", case.plans[0][2:], describe(native[first], native[second])))
    return out


def keep(folder, finding):
    """Writes the finding as a folder that `etch check` takes."""
    case = finding.case
    data = pathlib.Path(folder) / f"{finding.kind}_{case.name}" / "test_data_set_0"
    data.mkdir(parents=True, exist_ok=True)
    onnx.save(case.model, data.parent / "model.onnx")
    for kind, values in (("input", case.inputs), ("output", case.outputs)):
        for i, value in enumerate(values):
            (data / f"{kind}_{i}.pb").write_bytes(numpy_helper.from_array(value).SerializeToString())
    (data.parent / "what.txt").write_text(
        f"{finding.kind}: {finding.what}\netch check {data.parent}/model.onnx {finding.plan}\nplans: {case.plans}\n",
        encoding="utf-8",
    )
    return data.parent
