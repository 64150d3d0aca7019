"""Median time per inference of Etch and ONNX Runtime, one thread, interleaved round by round.

ONNX Runtime runs at every optimisation level that fuses integer operators, and the fastest one of
a round counts. The machine may be shared and change its speed for seconds at a time: the ratio is
taken within each round, and the median over the rounds is reported with its spread.
"""

import argparse
import json
import statistics
import subprocess
import time

import numpy as np
import onnxruntime as ort

LEVELS = {
    "extended": ort.GraphOptimizationLevel.ORT_ENABLE_EXTENDED,
    "all": ort.GraphOptimizationLevel.ORT_ENABLE_ALL,
}
DTYPES = {"tensor(float)": np.float32, "tensor(int8)": np.int8, "tensor(uint8)": np.uint8}


def session(model, level, int8_allowed):
    options = ort.SessionOptions()
    options.intra_op_num_threads = 1
    options.inter_op_num_threads = 1
    options.graph_optimization_level = LEVELS[level]
    options.log_severity_level = 3
    if int8_allowed:
        options.add_session_config_entry("session.qdqisint8allowed", "1")
    return ort.InferenceSession(model, options, providers=["CPUExecutionProvider"])


def feeds_of(run):
    rng = np.random.default_rng(1)
    feeds = {}
    for port in run.get_inputs():
        shape = [size if isinstance(size, int) else 1 for size in port.shape]
        feeds[port.name] = rng.uniform(-1, 1, shape).astype(DTYPES[port.type])
    return feeds


def median_us(run, feeds, seconds):
    for _ in range(3):
        run.run(None, feeds)
    samples = []
    end = time.perf_counter() + seconds
    while time.perf_counter() < end or len(samples) < 5:
        start = time.perf_counter()
        run.run(None, feeds)
        samples.append(time.perf_counter() - start)
    return 1e6 * statistics.median(samples)


def etch(arguments):
    command = ["build/release/bin/etch", "bench", arguments.model, "--target", arguments.target,
               "--json", "--seconds", str(arguments.seconds)]
    return json.loads(subprocess.run(command, check=True, capture_output=True).stdout)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("model")
    parser.add_argument("--target", default="native")
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--seconds", type=float, default=1.0, help="per measurement")
    arguments = parser.parse_args()
    runs = {(level, int8): session(arguments.model, level, int8)
            for level in LEVELS for int8 in (False, True)}
    rounds = []
    for _ in range(arguments.rounds):
        ours = etch(arguments)
        theirs = {key: median_us(run, feeds_of(run), arguments.seconds) for key, run in runs.items()}
        best = min(theirs, key=theirs.get)
        rounds.append((theirs[best] / ours["median_us"], ours["median_us"], theirs[best], best))
        print(f"  etch {ours['median_us']:10.1f} us   onnxruntime {theirs[best]:10.1f} us "
              f"(level {best[0]}{', int8 allowed' if best[1] else ''})   ratio {rounds[-1][0]:.2f}")
    ratios = sorted(r[0] for r in rounds)
    print(f"{arguments.model}: {ours['target']} is {statistics.median(ratios):.2f} times as fast as "
          f"onnxruntime {ort.__version__}, one thread (rounds {ratios[0]:.2f} to {ratios[-1]:.2f})")


if __name__ == "__main__":
    main()
