"""Executed instructions of single layers and blocks on 64-bit Arm: Etch and ONNX Runtime, in QEMU.

The cases are those of tools/cliff-map, of each group some at even distances. ONNX Runtime's are counted as in
bench_aarch64.py, many cases in one program, less what the call of a model of one Identity of one value takes: Python's
and ONNX Runtime's own work of any call.

Usage: tools/bench-aarch64 --layers [--cases PATTERN] [--cpu NAME,NAME] [--json FILE] [--against FILE]
                                    [--markdown FILE]
Environment: ETCH, the program (default build/release/bin/etch).
"""

import argparse
import collections
import concurrent.futures
import datetime
import fnmatch
import json
import math
import pathlib
import re
import subprocess
import sys
import tempfile

TOOLS = pathlib.Path(__file__).resolve().parent
sys.path += [str(TOOLS), str(TOOLS / "cliff_map")]

import bench_aarch64  # noqa: E402
import block_cases  # noqa: E402
import element_cases  # noqa: E402
import integer_cases  # noqa: E402
import more_cases  # noqa: E402
import numpy as np  # noqa: E402
import wider_cases  # noqa: E402
from nodes import Case, Net  # noqa: E402

FIRST, COUNTED = 1, 2
BATCH = 12  # cases of one emulated program, which takes seconds to start

# What the guest runs: a folder with I.onnx and I.npz, and how many. A model that fails has no marks.
GUEST = """
import os, sys, numpy, onnxruntime
folder, count, inferences = sys.argv[1], int(sys.argv[2]), int(sys.argv[3])
options = onnxruntime.SessionOptions()
options.intra_op_num_threads = options.inter_op_num_threads = 1
for i in range(count):
    os.write(2, b'case %d\\n' % i)
    try:
        session = onnxruntime.InferenceSession(f'{folder}/{i}.onnx', options, providers=['CPUExecutionProvider'])
        feed = dict(numpy.load(f'{folder}/{i}.npz'))
        for _ in range(inferences):
            os.getppid()
            session.run(None, feed)
        os.getppid()
    except Exception as error:
        os.write(2, b'fault %s\\n' % str(error).splitlines()[0].encode())
"""


def call_alone() -> Case:
    net = Net()
    return net.case("call", "Identity of one value", net.node("Identity", net.input("f32", 1)))


def sample(cases: list) -> list:
    """Of n cases of a group some n / 7, at least 2, at even distances."""
    count = min(len(cases), max(2, round(len(cases) / 7)))
    return [cases[(2 * i + 1) * len(cases) // (2 * count)] for i in range(count)]


def chosen(pattern: str) -> list:
    groups = collections.defaultdict(list)
    for module in (integer_cases, element_cases, block_cases, more_cases, wider_cases):
        for case in module.all_cases():
            groups[case.group].append(case)
    if pattern:
        return [case for cases in groups.values() for case in cases
                if any(fnmatch.fnmatch(title(case), one) for one in pattern.split("|"))]
    return [case for cases in groups.values() for case in sample(cases)]


def title(case) -> str:
    return f"{case.group}: {case.name}"


def counts_of_ort(peers: pathlib.Path, cpu, cases: list) -> list:
    """Of each case the least of its counts, or why there is none."""
    with tempfile.TemporaryDirectory() as folder:
        for i, case in enumerate(cases):
            pathlib.Path(folder, f"{i}.onnx").write_bytes(case.model)
            np.savez(pathlib.Path(folder, f"{i}.npz"), **case.feeds)
        result = bench_aarch64.run_guest(peers, cpu, GUEST, [folder, len(cases), FIRST + COUNTED])
    found = []
    for part in re.split(r"^case \d+\n", result.stderr, flags=re.MULTILINE)[1:]:
        marks = [int(mark) for mark in re.findall(r"^executed (\d+)$", part, re.MULTILINE)][FIRST:]
        found.append(min(b - a for a, b in zip(marks, marks[1:])) if len(marks) > COUNTED else part.strip()[-200:])
    return found + ["the emulated program ended"] * (len(cases) - len(found))


def count_of_etch(cpu, case):
    with tempfile.TemporaryDirectory() as folder:
        path = pathlib.Path(folder, "model.onnx")
        path.write_bytes(case.model)
        result = subprocess.run([bench_aarch64.ETCH, "bench", str(path), "--target", cpu.target, "--json"],
                                capture_output=True, text=True)
    if result.returncode != 0:
        return (result.stderr.strip().splitlines() or ["failed"])[0]
    return json.loads(result.stdout)["instructions"]


def counts_of_all(peers: pathlib.Path, cpu, cases: list, pool) -> dict:
    """Of the title of each case its count without that of a call, or why there is none."""
    bench_aarch64.describe_cpu(peers / "root", cpu)
    batches = [[call_alone(), *cases[i::-(-len(cases) // BATCH)]] for i in range(-(-len(cases) // BATCH))]
    found = {}
    for batch, counts in zip(batches, pool.map(lambda one: counts_of_ort(peers, cpu, one), batches)):
        for case, count in zip(batch[1:], counts[1:]):
            fault = next((one for one in (count, counts[0]) if isinstance(one, str)), None)
            found[title(case)] = fault or max(1, count - counts[0])
    return found


def measure(cpu, cases: list, theirs: dict, pool) -> tuple[list[dict], dict[str, str]]:
    rows, faults = [], {}
    counts = pool.map(lambda case: count_of_etch(cpu, case), cases)
    for case, own in zip(cases, counts):
        ort = theirs.get(title(case), "not in --against")
        fault = next((one for one in (ort, own) if isinstance(one, str)), None)
        if fault is not None:
            faults[f"{title(case)}, {cpu.name}"] = fault
        else:
            rows.append({"group": case.group, "name": case.name, "cpu": cpu.name, "ort": ort, "etch": own, "ratio": ort / own})
            print(f"{rows[-1]['ratio']:7.2f}  {cpu.name}  {title(case)}  {ort} / {own}", flush=True)
    return rows, faults


def mean(ratios: list[float]) -> float:
    return math.exp(sum(map(math.log, ratios)) / len(ratios))


def table(rows: list[dict]) -> list[str]:
    lines = ["| group | cases | geometric mean | least | below 1 |", "| --- | --- | --- | --- | --- |"]
    groups = collections.defaultdict(list)
    for row in rows:
        groups[row["group"]].append(row["ratio"])
    for group, ratios in sorted(groups.items(), key=lambda one: mean(one[1])):
        lines.append(f"| {group} | {len(ratios)} | {mean(ratios):.2f} | {min(ratios):.2f} | {sum(one < 1 for one in ratios)} |")
    return lines


def behind(rows: list[dict]) -> list[str]:
    lines = ["| case | ONNX Runtime | Etch | ratio |", "| --- | --- | --- | --- |"]
    for row in sorted(rows, key=lambda one: one["ratio"]):
        if row["ratio"] < 1:
            lines.append(f"| {row['group']}: {row['name']} | {row['ort']} | {row['etch']} | {row['ratio']:.2f} |")
    return lines


def markdown(rows: list[dict], faults: dict[str, str]) -> str:
    lines = []
    for name in dict.fromkeys(row["cpu"] for row in rows):
        of_cpu = [row for row in rows if row["cpu"] == name]
        below = behind(of_cpu)
        lines += [f"### {name}", "", f"{len(of_cpu)} cases, geometric mean {mean([row['ratio'] for row in of_cpu]):.2f}; "
                  f"{len(below) - 2} below 1.", "", *table(of_cpu), ""]
        lines += [*below, ""] if len(below) > 2 else []
    lines += [f"- not counted: {name}: {why}" for name, why in sorted(faults.items())]
    return "\n".join(lines).rstrip() + "\n"


def main() -> int:
    parser = argparse.ArgumentParser(prog="tools/bench-aarch64 --layers", description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--peers", type=pathlib.Path, required=True)
    parser.add_argument("--cases", default="", metavar="PATTERN", help="not the sample, but 'GROUP: NAME' that match; 'A|B'")
    parser.add_argument("--cpu", default="Cortex-A53,Cortex-A76", metavar="NAME,NAME")
    parser.add_argument("--against", type=pathlib.Path, metavar="FILE",
                        help="take ONNX Runtime's counts from what an earlier run wrote with --json")
    parser.add_argument("--list", action="store_true", help="print the names of the cases and stop")
    parser.add_argument("--json", type=pathlib.Path, metavar="FILE")
    parser.add_argument("--markdown", type=pathlib.Path, metavar="FILE")
    options = parser.parse_args()
    cases, rows, faults = chosen(options.cases), [], {}
    if options.list:
        print("\n".join(map(title, cases)))
        return 0
    known = json.loads(options.against.read_text())["rows"] if options.against else []
    with concurrent.futures.ThreadPoolExecutor(2) as pool:
        for cpu in [one for one in bench_aarch64.CPUS if one.name in options.cpu.split(",")]:
            theirs = {f"{row['group']}: {row['name']}": row["ort"] for row in known if row["cpu"] == cpu.name}
            more, wrong = measure(cpu, cases, theirs or counts_of_all(options.peers, cpu, cases, pool), pool)
            rows, faults = rows + more, {**faults, **wrong}
    for name, why in sorted(faults.items()):
        print(f"not counted: {name}: {why}")
    if not rows:
        return 1
    if options.json:
        date = datetime.date.today().isoformat()
        options.json.write_text(json.dumps({"date": date, "rows": rows, "faults": faults}, indent=1) + "\n")
    if options.markdown:
        options.markdown.write_text(markdown(rows, faults))
    print("\n".join(table(rows)))
    print(f"geometric mean {mean([row['ratio'] for row in rows]):.2f}; {sum(row['ratio'] < 1 for row in rows)} of {len(rows)} below 1")
    return 0


if __name__ == "__main__":
    sys.exit(main())
