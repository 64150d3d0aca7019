"""Networks with recorded outputs, in ONNX's folder layout: are Etch's outputs right, and how fast are they computed?

What is judged is the library that is timed. Each data set is compared with `output_I.pb`, or, where a data set has
`exact64`, the results of exact arithmetic on integers of 16 bits, with these. A network of a stream (`state` in
info.json) is judged twice: with the recorded states, and with those that it computed itself.

Times are of calls through C on both sides (tools/bench_x86/gate.cc); of ONNX Runtime's levels and its setting for int8
the fastest counts.
"""

import argparse
import datetime
import fnmatch
import json
import pathlib
import subprocess
import sys

import numpy as np
import onnx
from onnx import numpy_helper

TOOLS = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(TOOLS / "bench_x86"))

import etch_runner  # noqa: E402
import files  # noqa: E402
import gate  # noqa: E402
import ort_runner  # noqa: E402

BUILD = TOOLS.parent / "build/compare-networks"
TOLERANCE = 1e-5  # of a float output, relative above 1, as tools/zoo-check has it
STREAM_TOLERANCE = 1e-4  # after states were fed back
ORDER = ("exact", "close", "as levels", "explained", "FAIL")

# Networks whose outputs are not equal to exact arithmetic, and why.
EXPLAINED = {
    "qdq16_resnet14_u16_contrib": "its exact64 divides the image by its scale in float64, QuantizeLinear here and in ONNX Runtime in "
                                  "float32: 1 and 2 of 3,072 pixels of the two data sets become another integer. Given the integers "
                                  "of float64, all outputs are equal to exact64.",
}


def number_of(data: pathlib.Path) -> int:
    return int(data.name.rpartition("_")[2])


class Case:
    """A network: its file, its inputs, its data sets and which outputs are the next inputs of a stream."""

    def __init__(self, folder: pathlib.Path):
        self.name, self.folder = folder.name, folder
        self.model = (folder / "model.onnx").read_bytes()
        info = folder / "info.json"
        self.info = json.loads(info.read_text(encoding="utf-8")) if info.exists() else {}
        self.graph = onnx.load_from_string(self.model).graph
        constants = {one.name for one in self.graph.initializer}
        self.inputs = [port.name for port in self.graph.input if port.name not in constants]
        self.sets = sorted(folder.glob("test_data_set_*"), key=number_of)  # 10 comes after 9
        outputs = [port.name for port in self.graph.output]
        self.links = {self.inputs.index(name): outputs.index(output)  # of a stream, by position
                      for name, output in self.info.get("state", {}).items() if name in self.inputs and output in outputs}

    def feeds(self, data: pathlib.Path) -> list[np.ndarray]:
        return [numpy_helper.to_array(onnx.load_tensor(data / f"input_{i}.pb")) for i in range(len(self.inputs))]

    def outputs(self, data: pathlib.Path) -> list[np.ndarray] | None:
        if not (data / "output_0.pb").exists():
            return None
        return [numpy_helper.to_array(onnx.load_tensor(data / f"output_{i}.pb")) for i in range(len(self.graph.output))]

    def network(self, target: str) -> etch_runner.Network:
        feeds = self.feeds(self.sets[0])
        shapes = tuple(f"{name}={','.join(map(str, feed.shape))}" for name, feed in zip(self.inputs, feeds) if feed.ndim)
        request = etch_runner.Request(self.model, target, shapes=shapes, is_layer=False)
        return etch_runner.Network(request, feeds, BUILD)


def largest(mine: np.ndarray, theirs: np.ndarray) -> float:
    return float(np.max(np.abs(mine.astype(np.float64) - theirs.astype(np.float64)), initial=0))


def judge_one(mine: np.ndarray, theirs: np.ndarray, plain: np.ndarray | None, tolerance: float) -> tuple[str, float]:
    """A verdict and the largest difference. `plain`: of ONNX Runtime without its optimisations."""
    mine = mine.reshape(theirs.shape)
    if mine.tobytes() == theirs.tobytes():
        return "exact", 0.0
    found = largest(mine, theirs)
    is_float = theirs.dtype.kind == "f"
    if is_float and np.all(np.abs(mine - theirs) <= tolerance * np.maximum(1, np.abs(theirs))):
        return "close", found
    if plain is not None and found <= largest(plain, theirs):
        return "as levels", found
    return "FAIL", found


def worst(verdicts: list[tuple[str, float]]) -> tuple[str, float]:
    return max((one[0] for one in verdicts), key=ORDER.index), max(one[1] for one in verdicts)


def judge(case: Case, network: etch_runner.Network) -> dict:
    verdicts, golden = [], "recorded"
    for data in case.sets:
        expected = case.outputs(data / "exact64")
        golden = "exact64" if expected else golden
        expected = expected or case.outputs(data)
        plain = case.outputs(data / "disabled") or [None] * len(expected)
        network.set_inputs(case.feeds(data))
        for mine, theirs, other in zip(network.run(), expected, plain, strict=True):
            verdicts.append(judge_one(mine, theirs, other, TOLERANCE))
    verdict, difference = worst(verdicts)
    if verdict == "FAIL" and case.name in EXPLAINED:
        verdict = "explained"
    row = {"verdict": verdict, "difference": difference, "golden": golden, "outputs": len(verdicts),
           "exact_outputs": sum(one[0] == "exact" for one in verdicts)}
    if case.links:
        row["stream_verdict"], row["stream_difference"] = judge_stream(case, network)
    return row


def judge_stream(case: Case, network: etch_runner.Network) -> tuple[str, float]:
    state, verdicts = {}, []
    for data in case.sets:
        network.set_inputs([state.get(i, feed) for i, feed in enumerate(case.feeds(data))])
        results = [one.copy() for one in network.run()]
        state = {i: results[output] for i, output in case.links.items()}
        verdicts += [judge_one(mine, theirs, None, STREAM_TOLERANCE)
                     for mine, theirs in zip(results, case.outputs(data), strict=True)]
    return worst(verdicts)


def sessions_of(case: Case) -> dict[str, ort_runner.Session]:
    feeds = dict(zip(case.inputs, case.feeds(case.sets[0])))
    int8 = (False, True) if b"DequantizeLinear" in case.model else (False,)
    return {f"{level}{' int8' if allowed else ''}": ort_runner.Session(case.model, feeds, level, 1, allowed)
            for level in ort_runner.LEVELS for allowed in int8}


def that_run(sessions: dict[str, ort_runner.Session], timer: gate.Gate) -> dict[str, gate.Callee]:
    """Levels at which ONNX Runtime computes the network: some fail where others fuse what they cannot compute."""
    callees = {}
    for name, session in sessions.items():
        callee = session.callee(timer)
        try:
            timer.series(callee, 1, 1)
        except RuntimeError:
            print(f"ONNX Runtime fails at level {name}, which is left out", file=sys.stderr)
            continue
        callees[name] = callee
    return callees


def time_both(case: Case, network: etch_runner.Network, timer: gate.Gate, options: argparse.Namespace) -> dict:
    network.set_inputs(case.feeds(case.sets[0]))
    sessions = sessions_of(case)
    theirs = that_run(sessions, timer)
    if not theirs:
        return {"not_timed": "ONNX Runtime fails at each level"}
    callees = {"etch": network.callee("whole")} | theirs
    samples = {name: [] for name in callees}
    timer.series(callees["etch"], 1, 1)
    gate.spread()
    timer.begin_row()
    for _ in range(options.rounds):
        for name, callee in callees.items():
            samples[name].append(timer.sample(callee, options.seconds))
    timer.settle()
    figures = {name: gate.figure_of(rounds, timer.is_clean) for name, rounds in samples.items()}
    for session in sessions.values():
        session.close()
    mine = figures.pop("etch")
    best = min(figures, key=lambda name: figures[name].median)
    return {"etch_us": mine.median, "etch_rounds": [mine.least, mine.most], "ort_us": figures[best].median,
            "ort_rounds": [figures[best].least, figures[best].most], "ort_settings": best,
            "clean": min(mine.clean, figures[best].clean)}


VERDICT_WORDS = {"exact": "exact", "close": "within 1e-5", "as levels": "as ONNX Runtime's levels",
                 "explained": "explained below", "FAIL": "FAIL"}


def words_of(row: dict) -> str:
    text = VERDICT_WORDS[row["verdict"]]
    if row["difference"]:
        text += f", {row['exact_outputs']} of {row['outputs']} exact, max {row['difference']:.2g}"
    return text + (" (exact64)" if row["golden"] == "exact64" else "")


def markdown(result: dict) -> str:
    rows = [row for row in result["networks"].values() if "etch_us" in row]
    below = [row["name"] for row in rows if row["ort_us"] < row["etch_us"]]
    lines = [
        "| network | kind | nodes | Etch us (rounds) | ONNX Runtime us (rounds) | its level | ratio | code KB | weights KB |"
        " arena KB | outputs | as one stream |",
        "| --- |" + " --- |" * 11]
    for row in sorted(result["networks"].values(), key=lambda one: (one["kind"], one["name"])):
        if "refused" in row:
            lines.append(f"| {row['name']} | {row['kind']} | {row['nodes']} | refused: {row['refused']} |" + " |" * 8)
            continue
        stream = row.get("stream_verdict", "")
        if row.get("stream_difference"):
            stream = f"max {row['stream_difference']:.2g}" + (" FAIL" if stream == "FAIL" else "")
        figures = ["", "", row.get("not_timed", ""), ""]
        if "etch_us" in row:
            figures = ["{:.4g} ({:.4g}..{:.4g})".format(row[f"{who}_us"], *row[f"{who}_rounds"])
                       for who in ("etch", "ort")] + [row["ort_settings"], f"{row['ort_us'] / row['etch_us']:.2f}"]
        sizes = [f"{row[key] / 1000:.1f}" for key in ("text_bytes", "weights_bytes", "arena_bytes")]
        lines.append("| " + " | ".join([row["name"], row["kind"], str(row["nodes"]), *figures, *sizes, words_of(row),
                                         stream]) + " |")
    ratios = [row["ort_us"] / row["etch_us"] for row in rows]
    mean = float(np.exp(np.mean(np.log(ratios)))) if ratios else 0
    lines += ["", f"{len(rows)} networks timed, geometric mean of the ratios {mean:.2f}; slower than ONNX Runtime: "
              + (", ".join(below) or "none") + "."]
    for name, reason in EXPLAINED.items():
        if result["networks"].get(name, {}).get("verdict") == "explained":
            lines += ["", f"{name}: {reason}"]
    return "\n".join(lines) + "\n"


def write_page(page: pathlib.Path, text: str, facts: list[str]) -> None:
    """Replaces what is between the two marks of the page."""
    begin, end = "<!-- made by tools/compare-networks -->\n", "<!-- end -->\n"
    old = page.read_text(encoding="utf-8")
    head, tail = old.split(begin)[0], old.split(end)[1]
    page.write_text(head + begin + "\n" + "".join(f"- {one}\n" for one in facts) + "\n" + text + "\n" + end + tail,
                    encoding="utf-8")


def machine(options: argparse.Namespace) -> list[str]:
    """Two lines for the page: date, processor and target; compiler, ONNX Runtime and command."""
    date = datetime.datetime.now(datetime.timezone.utc).strftime("%Y-%m-%d")
    compiler = subprocess.run(["g++", "--version"], check=True, capture_output=True, text=True)
    return [f"{date}, {files.cpu_name()}, {len(gate.all_cores())} cores; {etch_runner.version()}, target {options.target}",
            f"{compiler.stdout.splitlines()[0]} -O2; onnxruntime {ort_runner.onnxruntime.__version__}, one thread; "
            f"`tools/compare-networks FOLDER --time --rounds {options.rounds} --seconds {options.seconds}`"]


def judged(case: Case, options: argparse.Namespace) -> dict:
    row = {"name": case.name, "kind": case.info.get("kind", ""), "nodes": len(case.graph.node)}
    gate.pin(gate.all_cores())
    try:
        network = case.network(options.target)
    except RuntimeError as error:
        return row | {"refused": str(error)}
    facts = network.facts
    return row | judge(case, network) | {"text_bytes": facts.text_bytes, "weights_bytes": facts.flash_bytes,
                                         "arena_bytes": facts.arena_bytes}


def parse() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="tools/compare-networks", description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=pathlib.Path, help="of folders NAME with model.onnx and test_data_set_K")
    parser.add_argument("--json", type=pathlib.Path, required=True, help="results, to which each call adds")
    parser.add_argument("--models", default="*", metavar="PATTERN", help="only networks whose folder matches")
    parser.add_argument("--target", default="native", help="instruction set that Etch generates for")
    parser.add_argument("--judge", action="store_true", help="build the networks and compare their outputs")
    parser.add_argument("--time", action="store_true", help="time them and ONNX Runtime, and judge what was not yet")
    parser.add_argument("--rounds", type=int, default=3, help="turns of all contenders (default: 3)")
    parser.add_argument("--seconds", type=float, default=0.1, help="for each contender and round")
    parser.add_argument("--markdown", type=pathlib.Path, metavar="PAGE", help="put the table between the page's marks")
    return parser.parse_args()


def main() -> int:
    options = parse()
    if options.target == "native":
        options.target = etch_runner.best_target()
    result = {"networks": {}}
    if options.json.exists():
        result = json.loads(options.json.read_text(encoding="utf-8"))
    timer = gate.Gate(BUILD) if options.time else None
    chosen = [path.parent for path in sorted(options.folder.rglob("model.onnx"))
              if fnmatch.fnmatch(path.parent.name, options.models)]
    for folder in chosen if options.judge or options.time else ():
        case = Case(folder)
        row = result["networks"].get(case.name, {})
        if options.judge or not row:
            row = judged(case, options)
        if options.time and "refused" not in row:
            row |= time_both(case, case.network(options.target), timer, options)
            result["machine"] = machine(options)
        result["networks"][case.name] = row
        options.json.write_text(json.dumps(result, indent=1), encoding="utf-8")
        ratio = f"{row['ort_us'] / row['etch_us']:.2f}" if "etch_us" in row else ""
        print(f"{case.name:30} {row.get('refused') or words_of(row)} {row.get('stream_verdict', '')} {ratio}", flush=True)
    if options.markdown:
        write_page(options.markdown, markdown(result), result.get("machine", []))
    failed = [row["name"] for row in result["networks"].values()
              if "refused" in row or "FAIL" in (row["verdict"], row.get("stream_verdict"))]
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
