"""Times many single layers and blocks against ONNX Runtime and lists where Etch is slower: see tools/cliff-map."""

import argparse
import collections
import concurrent.futures
import datetime
import fnmatch
import json
import math
import pathlib
import re
import shlex
import subprocess
import sys
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "bench_x86"))

import block_cases  # noqa: E402
import element_cases  # noqa: E402
import etch_runner  # noqa: E402
import gate  # noqa: E402
import integer_cases  # noqa: E402
import more_cases  # noqa: E402
import network_cases  # noqa: E402
import numpy as np  # noqa: E402
import ort_runner  # noqa: E402
import sibling_cases  # noqa: E402
import wider_cases  # noqa: E402

KEPT = "<!-- by hand from here on -->"
BUILD = pathlib.Path(__file__).resolve().parents[2] / "build/cliff-map"


def parse() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="tools/cliff-map", description=__doc__)
    parser.add_argument("--cases", default="*", metavar="PATTERN", help="only cases 'GROUP: NAME' that match; several: 'A|B'")
    parser.add_argument("--every", type=int, default=1, metavar="N", help="only each N-th case")
    parser.add_argument("--target", default="native", help="instruction set that Etch generates for")
    parser.add_argument("--float-products", default="separate", choices=["separate", "fused", "both"],
                        help="as `etch compile` has it; both: in turns, with the ratio of fused ones and their results as well")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--seconds", type=float, default=0.02, help="per contender and round")
    parser.add_argument("--json", type=pathlib.Path, metavar="FILE")
    parser.add_argument("--markdown", type=pathlib.Path, metavar="FILE", help=f"write a page; what it has after {KEPT} is kept")
    parser.add_argument("--join", type=pathlib.Path, nargs="+", metavar="FILE",
                        help="time nothing: the page of what earlier runs wrote with --json, of a case the last")
    parser.add_argument("--list", action="store_true", help="print the names of the cases and stop")
    parser.add_argument("--networks", action="store_true", help="whole networks instead, which take minutes to build")
    parser.add_argument("--build", action="store_true", help="build what is to be timed and stop; the next run finds it")
    parser.add_argument("--reuse", action="store_true",
                        help="time what --build has built for the target, whatever has changed since, and nothing else")
    parser.add_argument("--resume", action="store_true", help="the cases in the file of --json are not timed again")
    parser.add_argument("--limit", type=float, default=math.inf, metavar="SECONDS",
                        help="begin no case after that time: with --reuse and --resume a run in short pieces")
    return parser.parse_args()


def title(case) -> str:
    return f"{case.group}: {case.name}"


def title_of(row: dict) -> str:
    return f"{row['group']}: {row['name']}"


def is_chosen(case, options: argparse.Namespace) -> bool:
    return any(fnmatch.fnmatch(title(case), pattern) for pattern in options.cases.split("|"))


def chosen(options: argparse.Namespace) -> list:
    if options.networks:
        return [case for case in network_cases.all_cases() if is_chosen(case, options)]
    cases = [*integer_cases.all_cases(), *element_cases.all_cases(), *block_cases.all_cases(),
             *more_cases.all_cases(), *wider_cases.all_cases(), *sibling_cases.all_cases()]
    return [case for case in cases if is_chosen(case, options)][::options.every]


def kinds_of(options: argparse.Namespace) -> list[str]:
    """How float products are rounded, the one that the page is about first."""
    return ["separate", "fused"] if options.float_products == "both" else [options.float_products]


def request_of(case, target: str, kind: str) -> etch_runner.Request:
    return etch_runner.Request(case.model, target, options=("--float-products", kind) if kind == "fused" else ())


def reason_of(error: Exception) -> str:
    """The first line, without the folder that the model was in."""
    line = (str(error).splitlines() or [type(error).__name__])[0]
    return re.sub(r"/\S*/(?=\w+\.onnx)", "", line)


class Built:
    """Where the cases of one target were built, by title and kind of float products, also by earlier runs; and, by the
    same, why others cannot be."""

    def __init__(self, target: str):
        self.file = BUILD / f"built-{target}.json"
        known = json.loads(self.file.read_text(encoding="utf-8")) if self.file.exists() else {}
        self.places, self.faults = known.get("places", {}), known.get("faults", {})

    def fault_of(self, name: str, kinds: list[str]) -> str | None:
        """Why one of the kinds is not there; none if all are."""
        missing = [kind for kind in kinds if kind not in self.places.get(name, {}) or kind in self.faults.get(name, {})]
        return self.faults.get(name, {}).get(missing[0], "is not built") if missing else None

    def save(self) -> None:
        self.file.write_text(json.dumps({"places": self.places, "faults": self.faults}, indent=1), encoding="utf-8")


def build_all(cases: list, target: str, options: argparse.Namespace) -> Built:
    """Builds two at a time."""
    built = Built(target)

    def build(numbered) -> None:
        number, case = numbered
        for kind in kinds_of(options):
            try:
                place, _ = etch_runner.build(request_of(case, target, kind), BUILD / f"{number % 2}")
                built.places.setdefault(title(case), {})[kind] = str(place.relative_to(BUILD))
                built.faults.get(title(case), {}).pop(kind, None)
            except Exception as error:  # noqa: BLE001  # a cliff of its own
                built.faults.setdefault(title(case), {})[kind] = reason_of(error)
    with concurrent.futures.ThreadPoolExecutor(2) as pool:
        halves = [[one for one in enumerate(cases) if one[0] % 2 == half] for half in range(2)]
        list(pool.map(lambda half: [build(one) for one in half], halves))
    built.save()
    return built


def counted(network: etch_runner.Network, results: int) -> list[np.ndarray]:
    """The network's results: of one whose rows values count, the rows that count. Its shape is an output after them."""
    values = network.run()
    names = [port["name"] for port in network.report["outputs"]]
    shapes = dict(zip(names[results:], values[results:], strict=True))
    kept = []
    for name, value in zip(names[:results], values[:results], strict=True):
        shape = next((shapes[one] for one in shapes if re.fullmatch(re.escape(name) + r"_shape\d*", one)), value.shape)
        kept.append(value[tuple(slice(int(size)) for size in shape)])
    return kept


def comparison(mine: list[np.ndarray], theirs: list[np.ndarray]) -> str:
    """How outputs compare; floats are sums in other orders."""
    pairs = list(zip(mine, theirs, strict=True))
    if all(np.array_equal(a, b.reshape(a.shape)) for a, b in pairs):
        return "equal"
    worst = max(float(np.abs(a.astype(np.float64) - b.reshape(a.shape)).max()) for a, b in pairs)
    return f"differs by {worst:.2g}"


def in_rounds(timer: gate.Gate, callees: dict[str, gate.Callee], options: argparse.Namespace) -> dict[str, gate.Figure]:
    """All callees in turns, as often as there are rounds."""
    samples = {name: [] for name in callees}
    with gate.alone():
        timer.begin_row()
        for _ in range(options.rounds):
            for name, callee in callees.items():
                samples[name].append(timer.sample(callee, options.seconds))
        timer.settle()
        return {name: gate.figure_of(rounds, timer.is_clean) for name, rounds in samples.items()}


def measure(case, places: dict[str, str], timer: gate.Gate, options: argparse.Namespace) -> dict:
    session = ort_runner.Session(case.model, case.feeds, "all", 1)
    try:
        networks = {kind: etch_runner.Network.built(BUILD / places[kind], list(case.feeds.values()))
                    for kind in kinds_of(options)}
        kind, network = next(iter(networks.items()))
        theirs = session.run()
        same = comparison(counted(network, len(theirs)), theirs)
        callees = {name: each.callee("whole") for name, each in networks.items()}
        figures = in_rounds(timer, {"ort": session.callee(timer), **callees}, options)
        more = {}
        if options.float_products == "both":
            more = {"fused_ratio": figures["ort"].median / figures["fused"].median,
                    "fused_outputs": comparison(counted(networks["fused"], len(theirs)), theirs)}
        return {"group": case.group, "name": case.name, "ort_us": figures["ort"].median, **more,
                "etch_us": figures[kind].median, "ratio": figures["ort"].median / figures[kind].median,
                "doubtful": any(one.doubtful for one in figures.values()), "outputs": same,
                "flash": network.facts.flash_bytes, "text": network.facts.text_bytes,
                "build_cpu_s": round(network.facts.build_cpu_s, 2)}
    finally:
        session.close()


def mean(ratios: list[float]) -> float:
    return math.exp(sum(map(math.log, ratios)) / len(ratios))


def summary(rows: list[dict]) -> list[str]:
    groups = collections.defaultdict(list)
    for row in rows:
        groups[row["group"]].append(row["ratio"])
    lines = ["| group | cases | geometric mean | least | below 1 |", "| --- | --- | --- | --- | --- |"]
    for group, ratios in sorted(groups.items(), key=lambda one: mean(one[1])):
        below = sum(ratio < 1 for ratio in ratios)
        lines.append(f"| {group} | {len(ratios)} | {mean(ratios):.2f} | {min(ratios):.2f} | {below} |")
    return lines


def listing(rows: list[dict]) -> list[str]:
    lines = ["| case | ONNX Runtime us | Etch us | ratio | outputs |", "| --- | --- | --- | --- | --- |"]
    for row in sorted(rows, key=lambda one: one["ratio"]):
        doubt = " ?" if row["doubtful"] else ""
        lines.append(f"| {row['group']}: {row['name']} | {row['ort_us']:.1f} | {row['etch_us']:.1f} | "
                     f"{row['ratio']:.2f}{doubt} | {row['outputs']} |")
    return lines


def markdown(result: dict) -> str:
    rows, faults = result["rows"], result["faults"]
    behind = [row for row in rows if row["ratio"] < 1]
    total = mean([row["ratio"] for row in rows])
    lines = ["# The cliff map", "",
             "Single layers and blocks, one thread, times of `run()` as a user calls it, against ONNX Runtime in the "
             "same run. A ratio above 1: Etch is faster. A question mark: too little undisturbed time.", "",
             result["machine"] + ".", "",
             f"{len(rows)} cases, geometric mean {total:.2f}; {len(behind)} below 1.0.", "", *summary(rows), "", "## Below 1.0", "", *listing(behind)]
    if faults:
        lines += ["", "## Not measured", "", *[f"- {name}: {why}" for name, why in sorted(faults.items())]]
    return "\n".join(lines) + "\n"


def kept_part(page: pathlib.Path) -> str:
    """What a page has from the mark on, which is written by hand."""
    text = page.read_text(encoding="utf-8") if page.exists() else ""
    return "\n" + text[text.index(KEPT):] if KEPT in text else ""


def command_of(words: list[str]) -> str:
    """This call without the files that it writes."""
    kept = [word for at, word in enumerate(words) if not {word, *words[max(0, at - 1):at]} & {"--json", "--markdown"}]
    return shlex.join(["tools/cliff-map", *kept])


def joined(files: list[pathlib.Path]) -> dict:
    """The results of several runs as one, with the machine of the last."""
    results = [json.loads(path.read_text(encoding="utf-8")) for path in files]
    rows = {title_of(row): row for result in results for row in result["rows"]}
    faults = {name: why for result in results for name, why in result["faults"].items() if name not in rows}
    return {"machine": results[-1]["machine"], "command": "; ".join(result["command"] for result in results),
            "rows": [*rows.values()], "faults": faults}


def report(result: dict, options: argparse.Namespace) -> int:
    """Writes what is asked for and prints the summary."""
    rows, faults = result["rows"], result["faults"]
    for name, why in sorted(faults.items()):
        print(f"not measured: {name}: {why}")
    if not rows:
        return 1
    if options.json:
        options.json.write_text(json.dumps(result, indent=1) + "\n", encoding="utf-8")
    if options.markdown:
        options.markdown.write_text(markdown(result) + kept_part(options.markdown), encoding="utf-8")
    print("\n".join(summary(rows)))
    print(f"geometric mean {mean([row['ratio'] for row in rows]):.2f}; "
          f"{sum(row['ratio'] < 1 for row in rows)} of {len(rows)} below 1; {len(faults)} not measured")
    return 0


def cpu_name() -> str:
    lines = pathlib.Path("/proc/cpuinfo").read_text(encoding="utf-8").splitlines()
    facts = {key.strip(): value.strip() for key, _, value in (line.partition(":") for line in reversed(lines))}
    return f"{facts['model name']} (family {facts['cpu family']}, model {facts['model']}, stepping {facts['stepping']})"


def machine(target: str) -> str:
    compiler = subprocess.run(["g++", "--version"], check=True, capture_output=True, text=True).stdout.splitlines()[0]
    today = datetime.datetime.now(datetime.timezone.utc).strftime("%Y-%m-%d")
    return (f"{today}, {cpu_name()}; {etch_runner.version()}, target {target}; {compiler} -O2; "
            f"onnxruntime {ort_runner.onnxruntime.__version__}")


def measure_all(cases: list, built: Built, options: argparse.Namespace) -> tuple[list[dict], dict[str, str]]:
    """The rows of the cases, and why others have none."""
    begin, rows, faults = time.monotonic(), [], {}
    gate.pin(gate.cores_for(1))
    timer = gate.Gate(BUILD)
    for case in cases:
        name = title(case)
        if time.monotonic() - begin > options.limit:
            break
        if fault := built.fault_of(name, kinds_of(options)):
            faults[name] = fault
            continue
        try:
            rows.append(measure(case, built.places[name], timer, options))
        except Exception as error:  # noqa: BLE001  # ONNX Runtime may refuse it too
            faults[name] = reason_of(error)
            continue
        row = rows[-1]
        fused = f"{row['fused_ratio']:7.2f}  {row['fused_outputs']}" if "fused_ratio" in row else ""
        print(f"{row['ratio']:7.2f}  {name}  {row['outputs']}{fused}", flush=True)
    return rows, faults


def run(cases: list, target: str, options: argparse.Namespace) -> int:
    before = {"rows": []}
    if options.resume and options.json and options.json.exists():
        before = json.loads(options.json.read_text(encoding="utf-8"))
    if options.float_products == "both":  # rows of runs without fused products are timed again
        before["rows"] = [row for row in before["rows"] if "fused_ratio" in row]
    known = {title_of(row) for row in before["rows"]}
    cases = [case for case in cases if title(case) not in known]
    built = Built(target) if options.reuse else build_all(cases, target, options)
    if options.build:
        names = set(map(title, cases))
        print(f"{sum(built.fault_of(name, kinds_of(options)) is None for name in names)} of {len(names)} cases are built")
        return 0
    rows, faults = measure_all(cases, built, options)
    return report({"machine": machine(target), "command": command_of(sys.argv[1:]), "rows": before["rows"] + rows,
                   "faults": faults}, options)


def main() -> int:
    options = parse()
    if options.join:
        return report(joined(options.join), options)
    cases = chosen(options)
    if options.list:
        print("\n".join(map(title, cases)))
        print(f"{len(cases)} cases")
        return 0
    if not etch_runner.ETCH.exists():
        sys.exit("cliff-map: build/release/bin/etch is missing; see CONTRIBUTING.md")
    BUILD.mkdir(parents=True, exist_ok=True)
    return run(cases, etch_runner.best_target() if options.target == "native" else options.target, options)


if __name__ == "__main__":
    sys.exit(main())
