"""tools/mutation-run --rules: builds one tree with a switch for each fault of some sources, sees which suites of tests
reach which fault, and runs for each fault the suites that reach it until one fails.

A fault that no suite reaches survives. A run without end counts as a kill: its limit is 20 s and ten times what the same
suites take without a fault. Faults in lines that do not compile with a switch are left out and counted."""

import argparse
import collections
import concurrent.futures
import os
import pathlib
import random
import re
import subprocess
import sys
import tempfile
import time
import typing

import mutation_rules
from mutation_rules import Fault

BUILD = "build/release"
UNIT_TESTS = "etch_unit_tests"
ROUNDS = 8  # of compilation: each names the lines that do not compile


class Suite(typing.NamedTuple):
    program: str
    name: str
    seconds: float


def sources_of(globs: list[str], root: pathlib.Path) -> list[pathlib.Path]:
    found = sorted({path for glob in globs for path in root.glob(glob)})
    return [path for path in found if path.suffix == ".cc" and not path.name.endswith("_test.cc")]


def write_switches(sources: list[pathlib.Path], originals: dict[pathlib.Path, str], root: pathlib.Path,
                   without: dict[str, set[int]]) -> list[Fault]:
    faults: list[Fault] = []
    for path in sources:
        path.write_text(originals[path])
        text, more = mutation_rules.switched(path, root, len(faults), without[str(path.relative_to(root))])
        path.write_text(text)
        faults += more
    return faults


def build(sources: list[pathlib.Path], root: pathlib.Path, processes: int, targets: list[str]) -> tuple[list[Fault], int]:
    """The faults that compile, and how many lines do not; all of them are in the programs then."""
    originals = {path: path.read_text() for path in sources}
    without: dict[str, set[int]] = collections.defaultdict(set)
    names = "|".join(re.escape(str(path.relative_to(root))) for path in sources)
    for _ in range(ROUNDS):
        faults = write_switches(sources, originals, root, without)
        done = subprocess.run(["ninja", "-C", BUILD, "-k", "0", "-j", str(processes), *targets], cwd=root,
                              capture_output=True, text=True)
        if done.returncode == 0:
            return faults, sum(map(len, without.values()))
        bad = {(m[1], int(m[2])) for m in re.finditer(rf"\b({names}):(\d+):", done.stdout)}
        if all(line in without[file] for file, line in bad):
            raise RuntimeError("does not build with switches:\n" + done.stdout[-3000:])
        for file, line in bad:
            without[file].add(line)
    raise RuntimeError(f"does not build after {ROUNDS} rounds")


def run(root: pathlib.Path, program: str, filter_: str, seconds: float, more: dict[str, str]) -> subprocess.CompletedProcess:
    command = [f"{BUILD}/bin/{program}", f"--gtest_filter={filter_}", "--gtest_fail_fast", "--gtest_brief=1"]
    return subprocess.run(["timeout", "--kill-after=5", str(int(seconds)), *command], cwd=root, capture_output=True,
                          text=True, errors="replace", env=dict(os.environ, **more))


def suites_of(root: pathlib.Path, program: str, filter_: str) -> list[str]:
    listed = subprocess.run([f"{BUILD}/bin/{program}", "--gtest_list_tests", f"--gtest_filter={filter_}"], cwd=root,
                            capture_output=True, text=True, check=True).stdout
    return [line.split(".")[0] for line in listed.splitlines() if re.match(r"\S+\.(\s|$)", line)]


def reach(root: pathlib.Path, programs: list[str], filter_: str, seconds: float) -> dict[int, list[Suite]]:
    """By fault the suites that pass through it, the quickest first; suites that take longer than `seconds` are left out."""
    found: dict[int, list[Suite]] = collections.defaultdict(list)
    left_out = []
    with tempfile.TemporaryDirectory() as folder:
        notes = pathlib.Path(folder) / "reached"
        for program in programs:
            for name in suites_of(root, program, filter_):
                notes.write_text("")
                start = time.monotonic()
                done = run(root, program, f"{name}.*{filter_ if filter_ != '*' else ''}", seconds,
                           {"ETCH_REACHED": str(notes)})
                if done.returncode in (124, 137):
                    left_out.append(name)
                    continue
                if done.returncode != 0:
                    raise RuntimeError(f"{program} {name} fails without a fault:\n{done.stdout[-2000:]}")
                suite = Suite(program, name, time.monotonic() - start)
                for number in {int(line) for line in notes.read_text().split()}:
                    found[number].append(suite)
    if left_out:
        print(f"left out, longer than {seconds:.0f} s: {', '.join(left_out)}", flush=True)
    for suites in found.values():
        suites.sort(key=lambda suite: suite.seconds)
    return found


def judge(root: pathlib.Path, fault: Fault, suites: list[Suite]) -> tuple[str, str]:
    for program in dict.fromkeys(suite.program for suite in suites):
        here = [suite for suite in suites if suite.program == program]
        limit = 20 + 10 * sum(suite.seconds for suite in here)
        done = run(root, program, ":".join(f"{suite.name}.*" for suite in here), limit, {"ETCH_FAULT": str(fault.number)})
        if done.returncode in (124, 137):
            return "killed", f"no end within {limit:.0f} s"
        if done.returncode != 0:
            failed = re.search(r"\[  FAILED  \] (\S+)", done.stdout)
            return "killed", failed[1].rstrip(",") if failed else f"crash ({done.returncode})"
    return "survived", "" if suites else "reached by no test"


def summary(results: list[tuple[Fault, str]]) -> str:
    lines = ["| sources | faults | killed | survived |", "| --- | ---: | ---: | ---: |"]
    areas = collections.defaultdict(list)
    for fault, verdict in results:
        areas[str(pathlib.Path(fault.file).parent)].append(verdict)
    areas = dict(sorted(areas.items())) | {"all": [verdict for _, verdict in results]}
    return "\n".join(lines + [f"| {name} | {len(all_)} | {all_.count('killed')} | {all_.count('survived')} |"
                              for name, all_ in areas.items()])


def some_of(faults: list[Fault], options: argparse.Namespace) -> list[Fault]:
    """All, or the sample that is asked for."""
    if not options.sample or options.sample >= len(faults):
        return faults
    return sorted(random.Random(options.seed).sample(faults, options.sample))


def main() -> int:
    """Within the overlay, whose files may be written to."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--root", type=pathlib.Path, required=True)
    parser.add_argument("--sample", type=int, default=0)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--processes", type=int, default=1, help="of the build")
    parser.add_argument("--jobs", type=int, default=1, help="faults at a time")
    parser.add_argument("--list", action="store_true", help="print the faults, those that do not compile among them, and end")
    parser.add_argument("--filter", default="*", help="of the programs beside the unit tests")
    parser.add_argument("--programs", default=UNIT_TESTS, help="separated by commas; a later one gets what survives")
    parser.add_argument("--seconds", type=float, default=120, help="suites that take longer are left out")
    parser.add_argument("globs", nargs="+")
    options = parser.parse_args()
    programs = options.programs.split(",")
    sources = sources_of(options.globs, options.root)
    if options.list:
        faults = write_switches(sources, {path: path.read_text() for path in sources}, options.root, collections.defaultdict(set))
        for fault in some_of(faults, options):
            print(f"{fault.file}:{fault.line}: {fault.what}")
        return 0
    try:
        faults, lines = build(sources, options.root, options.processes, programs)
        print(f"{len(faults)} faults in {len(sources)} sources; {lines} lines do not compile with a switch", flush=True)
        chosen = some_of(faults, options)
        verdicts: dict[Fault, str] = {}
        for program in programs:
            rest = [fault for fault in chosen if verdicts.get(fault) != "killed"]
            reached = reach(options.root, [program], "*" if program == UNIT_TESTS else options.filter, options.seconds)

            def timed(fault: Fault) -> tuple[str, str, float]:
                start = time.monotonic()
                return *judge(options.root, fault, reached[fault.number]), time.monotonic() - start  # noqa: B023

            with concurrent.futures.ThreadPoolExecutor(options.jobs) as pool:
                for fault, (verdict, why, seconds) in zip(rest, pool.map(timed, rest), strict=True):
                    verdicts[fault] = verdict
                    print(f"{verdict:9}{seconds:5.0f} s  {fault.file}:{fault.line}: {fault.what}"
                          f"{'  [' + why + ']' if why else ''}", flush=True)
    except RuntimeError as error:
        print(f"mutation-run: {error}", file=sys.stderr)
        return 2
    print(summary([(fault, verdicts[fault]) for fault in chosen]))
    return 1 if "survived" in verdicts.values() else 0


if __name__ == "__main__":
    sys.exit(main())
