"""How fast, how large and how slow to compile single convolutions are with each --unroll: see tools/unroll-table."""

import argparse
import dataclasses
import fnmatch
import pathlib
import subprocess
import sys
import time

import etch_runner
import files
import gate
import models
import numpy as np
from layers import Layer, all_layers

BUILD = pathlib.Path(__file__).resolve().parents[2] / "build/bench-x86"
LAYERS = ["R50 1x1 64-64 @56", "DS pw 64 @25x5", "VWW pw 64 @12", "DS 10x4s2 1-64", "VWW pw 256 @3", "RN8 3x3 32 @16",
          "RN8 3x3 16 @32", "R50 3x3 64 @56"]
WAYS = ["1", "4", "auto", "full"]
BEGIN, END = "<!-- tools/unroll-table begins -->", "<!-- tools/unroll-table ends -->"


@dataclasses.dataclass
class Cell:
    """One layer with one way to unroll and one compiler."""

    us: float
    most_us: float  # of the rounds' medians; `us` is the least
    code: int
    compile_s: float
    unrolled: int
    groups: int


def parse() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="tools/unroll-table", description=__doc__)
    parser.add_argument("--layers", metavar="PATTERN", default="*", help="only those of the eight that match")
    parser.add_argument("--target", default="native", help="instruction set that Etch generates for")
    parser.add_argument("--compilers", default="g++,clang++")
    parser.add_argument("--ways", default=",".join(WAYS), help="values of --unroll")
    parser.add_argument("--rounds", type=int, default=9, help="how often every build has its turn")
    parser.add_argument("--seconds", type=float, default=0.05, help="per build and round")
    parser.add_argument("--real-time", action="store_true",
                        help="let nothing else have the core while samples are taken; needs privileges")
    parser.add_argument("--write", type=pathlib.Path, metavar="FILE", help="replace the table in this file")
    return parser.parse_args()


def convolution(report: dict) -> dict:
    return next(step for step in report["steps"] if step["kind"] == "conv")


def code_bytes(network: etch_runner.Network, library: pathlib.Path) -> int:
    """Of the layer's function and those that belong to it."""
    name = convolution(network.report)["name"]
    listing = subprocess.run(["nm", "-S", "--defined-only", str(library)], check=True, capture_output=True, text=True)
    parts = (line.split() for line in listing.stdout.splitlines())
    return sum(int(one[1], 16) for one in parts if len(one) == 4 and one[2] in "tTwW" and name in one[3])


def build(layer: Layer, way: str, compiler: str, target: str) -> tuple[etch_runner.Network, Cell]:
    request = etch_runner.Request(models.integer_model(layer, True).SerializeToString(), target, compiler,
                                  keep_copy=layer.is_first, options=("--unroll", way))
    network = etch_runner.Network(request, [models.input_of(layer)], BUILD / "etch")
    tiles = convolution(network.report)["tiles"]
    cell = Cell(0, 0, code_bytes(network, network.place / "net.so"), network.facts.build_cpu_s,
                tiles["unrolled_groups"], tiles["k_groups"])
    return network, cell


def measure(layer: Layer, compiler: str, options: argparse.Namespace, timer: gate.Gate) -> dict[str, Cell]:
    """All ways of one layer, in turns. Stops the program if two of them differ in a byte."""
    built = {way: build(layer, way, compiler, options.target) for way in options.ways.split(",")}
    outputs = [network.run()[0].copy() for network, _ in built.values()]
    if not all(np.array_equal(outputs[0], one) for one in outputs):
        sys.exit(f"unroll-table: {layer.name} computes something else when it is unrolled otherwise")
    callees = {way: network.callee("layer") for way, (network, _) in built.items()}
    samples = {way: [] for way in built}
    with gate.alone():
        timer.begin_row()
        for _ in range(options.rounds):
            for way, callee in callees.items():
                with gate.undisturbed(options.real_time):
                    samples[way].append(timer.sample(callee, options.seconds))
                if options.real_time:
                    time.sleep(options.seconds / 10)  # the machine's other work
        timer.settle()
    cells = {}
    for way, (_, cell) in built.items():
        figure = gate.figure_of(samples[way], timer.is_clean)
        cells[way] = dataclasses.replace(cell, us=figure.least, most_us=figure.most)
    return cells


def number(value: float) -> str:
    return f"{value:.2f}" if value < 10 else f"{value:.1f}" if value < 100 else f"{value:.0f}"


def cell_text(cell: Cell, best: float) -> str:
    """"**2.15** / 2.7 KB / 0.8 s": bold for the best and what is within 2 % of it."""
    mark = "**" if cell.us <= 1.02 * best else ""
    short = f" ({cell.unrolled} of {cell.groups})" if cell.unrolled < cell.groups else ""
    return f"{mark}{number(cell.us)}{mark} / {cell.code / 1000:.1f} / {cell.compile_s:.1f}{short}"


def row_of(layer: Layer, compiler: str, cells: dict[str, Cell]) -> str:
    best = min(cell.us for cell in cells.values())
    row = f"| {layer.name} | {compiler} | " + " | ".join(cell_text(cell, best) for cell in cells.values())
    return row + (f" | {100 * (cells['auto'].us / best - 1):+.1f} % |" if "auto" in cells else " | |")


def table_of(options: argparse.Namespace) -> str:
    timer = gate.Gate(BUILD)
    ways = options.ways.split(",")
    lines = [f"| layer | compiler | {' | '.join('--unroll ' + way for way in ways)} | auto over the best |",
             "| --- " * (len(ways) + 3) + "|"]
    known = {layer.name: layer for layer in all_layers()}
    for name in (one for one in LAYERS if fnmatch.fnmatch(one, options.layers)):
        for compiler in options.compilers.split(","):
            lines.append(row_of(known[name], compiler, measure(known[name], compiler, options, timer)))
            print(lines[-1], file=sys.stderr, flush=True)
    compilers = [subprocess.run([one, "--version"], check=True, capture_output=True, text=True).stdout.splitlines()[0]
                 for one in options.compilers.split(",")]
    head = f"{files.cpu_name()}, target {options.target}, {', '.join(compilers)}:"
    return "\n".join([head, "", *lines])


def write(path: pathlib.Path, table: str) -> None:
    text = path.read_text(encoding="utf-8")
    before, rest = text.split(BEGIN, 1)
    path.write_text(f"{before}{BEGIN}\n{table}\n{END}{rest.split(END, 1)[1]}", encoding="utf-8")


def main() -> None:
    options = parse()
    if options.target == "native":
        options.target = etch_runner.best_target()
    gate.pin(gate.cores_for(1))
    table = table_of(options)
    print(table)
    if options.write:
        write(options.write, table)


if __name__ == "__main__":
    main()
