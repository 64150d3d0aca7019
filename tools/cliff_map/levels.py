"""Times generated code that is built with -O2 and with -O3, or that two builds of Etch generate, in turns in one process:
see tools/compare-levels.
"""

import argparse
import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "bench_x86"))

import etch_runner  # noqa: E402
import gate  # noqa: E402
import numpy as np  # noqa: E402
import onnx  # noqa: E402

BUILD = pathlib.Path(__file__).resolve().parents[2] / "build/compare-levels"
LEVELS = ("-O2", "-O3")


def requests_of(model: bytes, target: str, before: pathlib.Path | None) -> dict[str, etch_runner.Request]:
    """The two things to compare, by the names of their columns."""
    if before is None:
        return {level: etch_runner.Request(model, target, level=level) for level in LEVELS}
    return {name: etch_runner.Request(model, target, etch=program)
            for name, program in (("before", before), ("now", etch_runner.ETCH))}


def feeds_of(model: onnx.ModelProto) -> list[np.ndarray]:
    """Random inputs; sizes that the file leaves open are 1."""
    random, feeds = np.random.default_rng(1), []
    known = {one.name for one in model.graph.initializer}
    for port in model.graph.input:
        if port.name in known:
            continue
        shape = [dim.dim_value or 1 for dim in port.type.tensor_type.shape.dim]
        dtype = onnx.helper.tensor_dtype_to_np_dtype(port.type.tensor_type.elem_type)
        values = random.normal(size=shape) if np.issubdtype(dtype, np.floating) else random.integers(0, 100, shape)
        feeds.append(values.astype(dtype))
    return feeds


def main() -> int:
    parser = argparse.ArgumentParser(prog="tools/compare-levels", description=__doc__)
    parser.add_argument("models", nargs="+", type=pathlib.Path, metavar="FILE.onnx")
    parser.add_argument("--target", default="native", help="instruction set that Etch generates for")
    parser.add_argument("--before", type=pathlib.Path, metavar="ETCH", help="another build of Etch to compare with, both at -O2")
    parser.add_argument("--rounds", type=int, default=5)
    options = parser.parse_args()
    target = etch_runner.best_target() if options.target == "native" else options.target
    built = []
    for path in options.models:
        requests = requests_of(path.read_bytes(), target, options.before)
        try:
            feeds = feeds_of(onnx.load(path))
            built.append((path, {name: etch_runner.Network(one, feeds, BUILD) for name, one in requests.items()}))
        except RuntimeError as error:  # one of two builds may refuse what the other takes
            print(f"{path}: {error}", file=sys.stderr)
    gate.pin(gate.cores_for(1))
    timer = gate.Gate(BUILD)
    one, two = requests_of(b"", target, options.before)
    print(f"| network | {one} us | {two} us | {one} / {two} | build {one} s | build {two} s |\n"
          "| --- | ---: | ---: | ---: | ---: | ---: |")
    for path, networks in built:
        samples = {name: [] for name in networks}
        with gate.alone():
            timer.begin_row()
            for _ in range(options.rounds):
                for name, network in networks.items():
                    samples[name].append(timer.sample(network.callee("whole"), 0.05))
            timer.settle()
            first, second = [gate.figure_of(samples[name], timer.is_clean).median for name in networks]
        seconds = " | ".join(f"{network.facts.build_cpu_s:.1f}" for network in networks.values())
        name = path.parent.name if path.name == "model.onnx" else path.stem
        print(f"| {name} | {first:.1f} | {second:.1f} | {first / second:.3f} | {seconds} |", flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
