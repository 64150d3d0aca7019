"""Times generated code that is built with -O2 and with -O3, in turns in one process: see tools/compare-levels."""

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
    parser.add_argument("--rounds", type=int, default=5)
    options = parser.parse_args()
    target = etch_runner.best_target() if options.target == "native" else options.target
    built = []
    for path in options.models:
        feeds = feeds_of(onnx.load(path))
        requests = {level: etch_runner.Request(path.read_bytes(), target, level=level) for level in LEVELS}
        built.append((path, {level: etch_runner.Network(one, feeds, BUILD) for level, one in requests.items()}))
    gate.pin(gate.cores_for(1))
    timer = gate.Gate(BUILD)
    print("| network | -O2 us | -O3 us | -O2 / -O3 | build -O2 s | build -O3 s |\n| --- | --- | --- | --- | --- | --- |")
    for path, networks in built:
        samples = {level: [] for level in LEVELS}
        with gate.alone():
            timer.begin_row()
            for _ in range(options.rounds):
                for level, network in networks.items():
                    samples[level].append(timer.sample(network.callee("whole"), 0.05))
            timer.settle()
            two, three = [gate.figure_of(samples[level], timer.is_clean).median for level in LEVELS]
        seconds = " | ".join(f"{networks[level].facts.build_cpu_s:.1f}" for level in LEVELS)
        name = path.parent.name if path.name == "model.onnx" else path.stem
        print(f"| {name} | {two:.1f} | {three:.1f} | {two / three:.3f} | {seconds} |", flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
