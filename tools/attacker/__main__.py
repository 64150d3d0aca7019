"""Attacks the compiler with generated models; see docs/attack.md.

A run of --models N has numbers FIRST to FIRST + N - 1 of a seed, in jobs of --size. --jobs FILE writes one command for
each job instead, for any batch system; --job K runs one. Findings are folders in --output: model.onnx, test_data_set_0
and what.txt with the command. Ends with 4 if there is a finding, with 1 if nothing was judged, with 77 without onnx or
onnxruntime.
"""

import argparse
import collections
import pathlib
import re
import sys
import tempfile
import time

sys.path[:0] = [str(pathlib.Path(__file__).resolve().parent), str(pathlib.Path(__file__).resolve().parent.parent)]
try:
    import numpy as np
    import onnx  # noqa: F401
    import onnxruntime  # noqa: F401
except ImportError as error:
    print(f"skipped: {error} (tools/setup puts the packages into build/venv)")
    sys.exit(77)
import families
from hostile import Hostile
import given
from builder import Unbuildable
from judging import Case, Finding, judge, keep
from plans import FUSED, SHARE_FUSED, plans_for, targets_of
from relations import unequal
from shrinking import shrink
from streams import broken, is_stream
from verdict import computer, examine


def arguments():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--models", type=int, default=200)
    parser.add_argument("--first", type=int, default=0)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--size", type=int, default=50, help="models of a job")
    parser.add_argument("--targets", help="of the first plan of each model and of compiled code; all that run here")
    parser.add_argument("--compiled", type=float, default=0.0, help="share of the models that are compiled")
    parser.add_argument("--emulated", type=float, default=0.0, help="share that also runs in an emulator")
    parser.add_argument("--related", type=float, default=0.25, help="share that is changed to what has to be equal")
    parser.add_argument("--given", type=float, default=0.0,
                        help="share of which a size, a constant or a first state is given to `etch check`, where it can be")
    parser.add_argument("--families", help="only these, separated by commas")
    parser.add_argument("--detours", action="store_true", help="with what stands just beside the patterns of passes")
    parser.add_argument("--qdq-all", action="store_true",
                        help="plans of QDQ models take --qdq all: they have to be equal, and are compared with nothing else")
    parser.add_argument("--jobs", metavar="FILE", help="write the commands of all jobs")
    parser.add_argument("--job", type=int, help="run this job only")
    parser.add_argument("--output", default="build/attack", help="folder of findings")
    parser.add_argument("--judge", default="build/release/bin/etch_attack_judge")
    parser.add_argument("--etch", help="the program, for its list of targets; default: beside the judge")
    parser.add_argument("--no-shrink", action="store_true")
    options = parser.parse_args()
    options.etch = options.etch or pathlib.Path(options.judge).with_name("etch")
    options.known = targets_of(options.etch)
    if options.targets:
        options.known.here = options.targets.split(",")
    return options


def case_of(options, number):
    only = options.families.split(",") if options.families else None
    name, b, model = families.make(options.seed, number, only, Hostile if options.detours else families.Builder)
    at = {n: i for i, n in enumerate(b.outputs)}
    plans = plans_for(
        np.random.default_rng([options.seed, number, 99]),
        b.qdq,
        options.known,
        options.compiled,
        options.emulated,
    )
    # One arithmetic for all plans of a case, whose results are compared with each other.
    if np.random.default_rng([options.seed, number, 97]).random() < SHARE_FUSED:
        plans = [plan + FUSED for plan in plans]
    if options.qdq_all and b.qdq:
        plans = [f"{plan} --qdq all" for plan in plans if "--qdq float" not in plan]
    return Case(
        name,
        model,
        [b.values[n] for n in b.inputs],
        [b.values[n] for n in b.outputs],
        plans,
        b.exact,
        b.qdq,
        [(at[x], at[y]) for x, y in b.equal],
        b,
    )


def run_job(options, first, count, totals):
    cases = []
    for number in range(first, first + count):
        try:
            cases.append(case_of(options, number))
        except Unbuildable as error:
            totals["not built"] += 1
            print(f"not built: {error}", flush=True)
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        judged = judge(options.judge, folder / "all", cases)
        findings, compute = judged.findings, computer(options.judge, folder / "one")
        good = []
        for case in cases:
            if case.name in judged.values and options.qdq_all and case.qdq:
                totals["by plans alone"] += 1
            elif case.name in judged.values:
                more, how = examine(case, *judged.values[case.name], compute)
                totals[f"by {how}"] += 1
                findings += more
                good += [] if more else [case]
        dice = np.random.default_rng([options.seed, first, 98])
        chosen = [case for case in good if dice.random() < options.related]
        more, related = unequal(options.judge, folder / "related", chosen, judged.values)
        findings += more
        streams = [case for case in good if is_stream(case) and dice.random() < options.compiled]
        plans = [case.plans[0][2:] for case in streams]
        more, frames = broken(options.etch, folder / "streams", streams, plans, dice)
        findings += more
        chosen = [case for case in good if dice.random() < options.given]
        more, sets = given.broken(options.etch, folder / "given", chosen, dice)
        findings += more
        totals["data sets"] += sets
        for finding in findings:
            report(options, folder / "shrunk", finding)
    refused = {case.name for case, _, _ in judged.refused}
    for name, what in {(case.name, what) for case, _, what in judged.refused}:
        print(f"refused: {name}: {what}")
    totals["models"] += len(cases)
    totals["judged"] += len(judged.values)
    totals["refused"] += len(refused)
    totals["compiled"] += judged.compiled
    totals["related"] += related
    totals["frames"] += frames
    totals["findings"] += len(findings)
    for case in cases:
        totals["nodes"] += len(case.model.graph.node)
        totals["family " + re.sub(r"_\d+_\d+$", "", case.name)] += 1


def report(options, folder, finding):
    print(f"FINDING {finding.kind} {finding.case.name} [{finding.plan}]: {finding.what}")
    place = keep(options.output, finding)
    if not options.no_shrink and finding.kind not in ("stream", "given"):
        smaller = shrink(options.judge, folder, finding)
        if smaller is not finding.case:
            place = keep(options.output, Finding(smaller, finding.kind, finding.plan, finding.what))
            print("  shrunk to " + ", ".join(node.op_type for node in smaller.model.graph.node))
    print(f"  in {place}", flush=True)


def main():
    options = arguments()
    count = -(-options.models // options.size)
    if options.jobs:
        words = [w for w in sys.argv[1:] if not w.startswith("--jobs") and w != options.jobs]
        lines = [f"tools/attack {' '.join(words)} --job {k}\n" for k in range(count)]
        pathlib.Path(options.jobs).write_text("".join(lines), encoding="utf-8")
        return 0
    totals, start = collections.Counter(), time.time()
    for k in range(count) if options.job is None else [options.job]:
        first = options.first + k * options.size
        run_job(options, first, min(options.size, options.first + options.models - first), totals)
        words = ("nodes", "judged", "compiled", "related", "frames", "data sets", "refused", "not built", "findings")
        counts = ", ".join(f"{totals[word]} {word}" for word in words)
        print(f"{totals['models']} models, {counts}, {time.time() - start:.0f} s", flush=True)
    for kind in ("by ", "family "):
        print(", ".join(f"{name.removeprefix(kind)} {n}" for name, n in sorted(totals.items()) if name.startswith(kind)))
    if not totals["judged"]:
        print("nothing was judged")
        return 4 if totals["findings"] else 1
    return 4 if totals["findings"] else 0


sys.exit(main())
