"""What a run writes: text for the terminal, JSON, a page of Markdown and a plot."""

import dataclasses
import json
import os
import pathlib
import re

import gate
import goals
import summary
import table

SERIES = [("Etch", "#1b6ca8"), ("ONNX Runtime", "#d1495b"), ("OpenVINO", "#edae49"), ("oneDNN", "#66a182")]


def cpu_name() -> str:
    lines = pathlib.Path("/proc/cpuinfo").read_text(encoding="utf-8").splitlines()
    fields = dict(tuple(part.strip() for part in line.split(":", 1)) for line in lines[:30] if ":" in line)
    return f"{fields.get('model name', '?')}, family {fields.get('cpu family', '?')} model {fields.get('model', '?')}"


def machine_lines(facts: dict) -> list[str]:
    lines = [f"{facts['date']}, {facts['cpu']}, {facts['cores']} cores; {facts['etch']}, target {facts['target']}",
             f"{facts['compiler']}; onnxruntime {facts['onnxruntime']}, openvino {facts['openvino']}"
             + (f", oneDNN {facts['onednn']}" if facts.get("onednn") else "")
             + (f", oneDNN and OpenVINO kept to {facts['peer_isa']}" if facts.get("peer_isa") else "")]
    if "peak_gmacs" in facts:
        lines.append("peak of one core while rows were timed: {:.0f} to {:.0f} GMAC/s ".format(*facts["peak_gmacs"])
                     + f"({facts['reference']})")
    return lines


def tables_of(result: dict, threads: list[int]) -> list[tuple[str, list[list[str]]]]:
    """Titles and tables that have rows."""
    found = []
    for count in threads:
        if result["layers"]:
            found.append((f"Layers, {count} thread{'s' if count > 1 else ''}",
                          table.layer_table(result["layers"], count)))
        if result["networks"]:
            found.append((f"Networks, {count} thread{'s' if count > 1 else ''}",
                          table.network_table(result["networks"], count)))
    return found


def summaries_of(result: dict, threads: list[int]) -> list[list[str]]:
    unsigned = [row for row in result["layers"] if not row["signed"]]
    signed = [row for row in result["layers"] if row["signed"]]
    found = []
    for count in threads:
        for title, rows in (("layers with uint8 activations", unsigned), ("layers with int8 activations", signed),
                            ("networks", result["networks"])):
            if any("etch" in row["figures"].get(count, {}) for row in rows):
                found.append(summary.summary_lines(f"{title}, {count} thread{'s' if count > 1 else ''}", rows, count))
    return found


def text_of(result: dict, threads: list[int]) -> list[str]:
    lines = []
    for title, cells in tables_of(result, threads):
        lines += ["", title, *table.aligned(cells)]
    lines += ["", *machine_lines(result["machine"])]
    for part in summaries_of(result, threads):
        lines += part
    lines += goals.lines_of(result)
    rows = result["layers"] + result["networks"]
    few = [f"  {row['name']}: {text}" for row in rows for text in summary.doubtful(row)]
    if few:
        lines += [f"{len(few)} figures rest on fewer clean samples than wanted:", *few]
    return lines


READING = """
Times are microseconds per call: the median over rounds of the median of a round's clean samples, and in brackets the
least and the greatest round. A ratio says how many times as fast as the peer Etch is, by the peer's best figure: `node`
is what one more identical node of a graph costs, which leaves out the call of the session. `% peak` compares with what
one core can multiply, measured beside it; taps on padding count as work there, although Etch and oneDNN skip some.
`FEW` names figures with fewer than 20 clean samples. `equal` says how Etch's output compares with ONNX Runtime's: exact
is bit for bit, close is floats within 1e-5, explained is what [zoo.md](zoo.md) gives the reason of. What runs, and how it is
timed: [performance.md](performance.md).
"""


def markdown_of(result: dict, threads: list[int], image: str) -> str:
    facts = result["machine"]
    lines = ["# Etch against other runtimes on x86-64", "", f"Made by `{command_of(facts['command'])}`:", "",
             *["- " + line for line in machine_lines(facts)], READING]
    if image:
        lines += [f"![Share of the peak of one core]({image})", ""]
    for title, cells in tables_of(result, threads):
        lines += [f"## {title}", "", *table.markdown(cells), ""]
    for part in summaries_of(result, threads):
        lines += ["```text", *part, "```", ""]
    lines += ["## Goals", "", "One thread where nothing else is said.", "", "```text", *goals.lines_of(result), "```", ""]
    return "\n".join(lines)


def command_of(line: str) -> str:
    """Without the names of files."""
    return re.sub(r" --(json|markdown|svg|from) \S+", "", line)


def jsonable(value):
    if dataclasses.is_dataclass(value):
        return {key: jsonable(part) for key, part in dataclasses.asdict(value).items()}
    if isinstance(value, dict):
        return {str(key): jsonable(part) for key, part in value.items()}
    if isinstance(value, (list, tuple)):
        return [jsonable(part) for part in value]
    return round(value, 4) if isinstance(value, float) else value


def read(path: pathlib.Path) -> dict:
    """What write() left as JSON."""
    result = json.loads(path.read_text(encoding="utf-8"))
    for row in result["layers"] + result["networks"]:
        row["figures"] = {int(threads): {name: gate.Figure(**one) for name, one in figures.items()}
                          for threads, figures in row["figures"].items()}
        if "ort_settings" in row:
            row["ort_settings"] = {int(threads): text for threads, text in row["ort_settings"].items()}
    return result


def write(result: dict, options, threads: list[int]) -> None:
    if options.json:
        options.json.write_text(json.dumps(jsonable(result), indent=1) + "\n", encoding="utf-8")
    if options.markdown:
        image = os.path.relpath(options.svg, options.markdown.parent) if options.svg else ""
        options.markdown.write_text(markdown_of(result, threads, image), encoding="utf-8")
    if options.svg:
        plot(result, options.svg)


def plot(result: dict, path: pathlib.Path) -> None:
    """Share of the machine's peak per layer and network, one thread."""
    import matplotlib  # only here: it takes a second to load
    matplotlib.use("svg")
    matplotlib.rcParams["svg.hashsalt"] = "bench-x86"
    matplotlib.rcParams["svg.fonttype"] = "none"
    from matplotlib import pyplot
    rows = [row for row in result["layers"] + result["networks"] if "etch" in row["figures"].get(1, {})]
    times = [lambda figures: figures["etch"].median, summary.ort_time, summary.ov_time, summary.dnnl_time]
    figure, axes = pyplot.subplots(figsize=(9, 0.5 + 0.28 * max(4, len(rows))))
    height = 0.8 / len(SERIES)
    for i, ((name, colour), time_of) in enumerate(zip(SERIES, times)):
        shares = [100 * row["macs"] / 1e3 / time / row["peak_gmacs"] if time and row["peak_gmacs"] else 0
                  for row in rows for time in [time_of(row["figures"][1])]]
        if any(shares):
            axes.barh([y + (i - 1.5) * height for y in range(len(rows))], shares, height, color=colour, label=name)
    axes.set_yticks(range(len(rows)), [row["name"] for row in rows], fontsize=7)
    axes.invert_yaxis()
    axes.set_xlim(0, 100)
    axes.set_xlabel("percent of what one core can multiply, measured in the same run")
    axes.legend(loc="lower right", fontsize=8)
    axes.grid(axis="x", linewidth=0.4)
    figure.tight_layout()
    figure.savefig(path, metadata={"Date": None})
