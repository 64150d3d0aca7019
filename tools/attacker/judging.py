"""What the judge (tools/attack_judge.cc) says about some models, and how tensors are compared."""

import collections
import dataclasses
import pathlib
import subprocess

import numpy as np
import onnx
from onnx import numpy_helper

from builder import session
from recorded_cases import case_blocks, read_blocks, tensor_of, write_cases

FLOATS = 1e-4  # of the largest value: what another order of sums may change
SECONDS = 600  # by the clock, of the judge and of each program that it builds, at the most


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


@dataclasses.dataclass
class Judged:
    findings: list
    refused: list  # cases, plans and reasons
    values: dict  # by name: outputs of the first plan, and of the reference functions
    compiled: int  # programs that ran and gave what they have to


def write(folder, cases):
    lines = [f"{c.name}\t{len(c.inputs)}:0\t{';'.join(c.plans)}\t{'qdq' if c.qdq else ''}" for c in cases]
    write_cases(folder, lines, [block for c in cases for block in case_blocks(c.model, c.inputs)])


def judge(program, folder, cases):
    write(folder, cases)
    seconds = SECONDS * (1 + sum(plan.startswith("c") for case in cases for plan in case.plans))
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
    out = said(folder, {case.name: case for case in cases}, lines, done.stderr)
    out.findings = findings + out.findings + unjudged(cases, [cases[k].name for k in skipped], out, lines)
    return out


def said(folder, by_name, lines, errors):
    """What the lines of the program mean."""
    out, order = Judged([], [], {}, 0), []
    for kind, name, plan, what in (line[:4] for line in lines):
        if kind in ("differ", "unequal", "code", "broken"):
            what += errors[-300:] if kind == "broken" else ""
            out.findings.append(Finding(by_name[name], kind, plan, what))
        elif kind == "refused":
            out.refused.append((by_name[name], plan, what))
        elif kind == "outputs":
            order.append((name, int(what)))
        out.compiled += kind == "compiled"
    native, reference = (map(tensor_of, read_blocks(folder / f)) for f in ("native.bin", "reference.bin"))
    for name, count in order:
        out.values[name] = [next(native) for _ in range(count)], [next(reference) for _ in range(count)]
    return out


def unjudged(cases, crashed, judged, lines):
    """Cases and programs that the judge says nothing of: neither a result nor why there is none."""
    refused = {(case.name, plan) for case, plan, _ in judged.refused}
    spoken = collections.Counter((line[1], line[2]) for line in lines if line[0] in ("compiled", "code", "broken"))
    out = []
    for case in cases:
        if case.name in crashed or (case.name, "-") in refused:
            continue
        if case.name not in judged.values and not any(name == case.name for name, _ in refused):
            out.append(Finding(case, "unjudged", "-", "the judge says nothing of it"))
        # A bound may leave no plan: then the judge says nothing, and rightly.
        for plan, count in collections.Counter(p[2:] for p in case.plans if p.startswith("c ")).items():
            if spoken[case.name, plan] < count and (case.name, plan) not in refused:
                out.append(Finding(case, "unjudged", plan, "was to be compiled, and the judge says nothing of it"))
    return out


# ---- comparison ----


def same(a, b):
    """Bit for bit, but any NaN is like any other."""
    if a.shape != b.shape or a.dtype != b.dtype:
        return False
    if a.dtype.kind != "f":
        return np.array_equal(a, b)
    bits = f"u{a.dtype.itemsize}"
    equal = np.ascontiguousarray(a).view(bits) == np.ascontiguousarray(b).view(bits)
    return bool((equal.reshape(a.shape) | (np.isnan(a) & np.isnan(b))).all())


def close(a, b):
    """Floats within a part of the largest, of 16 bits one unit more: they are rounded from such; everything else bit for bit."""
    if a.shape != b.shape or a.dtype != b.dtype:
        return False
    if a.dtype.kind != "f":
        return np.array_equal(a, b)
    if not np.array_equal(np.isnan(a), np.isnan(b)):
        return False
    finite = np.isfinite(b) & np.isfinite(a)
    if not np.array_equal(a[~finite & ~np.isnan(a)], b[~finite & ~np.isnan(b)]):
        return False
    if not finite.any():
        return True
    larger = np.maximum(np.abs(a[finite]), np.abs(b[finite]))
    unit = np.spacing(larger).astype(np.float64) if a.itemsize == 2 else 0
    apart = np.abs(a[finite].astype(np.float64) - b[finite])
    return bool((apart <= FLOATS * max(float(np.abs(b[finite]).max()), 1e-30) + unit).all())


def levels(case, with_first=False):
    """Outputs of ONNX Runtime at the levels that fuse; first those without, if they are not those of the case."""
    feeds = dict(zip([i.name for i in case.model.graph.input], case.inputs))
    for level in (["off"] if with_first else []) + ["basic", "extended", "all"]:
        try:
            yield session(case.model, level).run(None, feeds)
        except Exception:  # it refuses what it fused  # noqa: BLE001
            continue


def describe(ours, theirs):
    if ours.shape != theirs.shape or ours.dtype != theirs.dtype:
        return f"{ours.dtype}{ours.shape} for {theirs.dtype}{theirs.shape}"
    with np.errstate(all="ignore"):
        far = np.abs(ours.astype(np.float64) - theirs.astype(np.float64))
    at = np.unravel_index(int(np.argmax(np.where(np.isnan(far), np.inf, far))), far.shape) if far.size else ()
    return f"{int((~(far == 0)).sum())} of {far.size} differ, most {far[at]}: {ours[at]!r} for {theirs[at]!r}"


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
