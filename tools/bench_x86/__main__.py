"""Etch against what else runs quantized networks on x86-64: see tools/bench-x86."""

import argparse
import datetime
import fnmatch
import os
import pathlib
import subprocess
import sys
import tempfile

import dnnl_runner
import etch_runner
import files
import gate
import layer_bench
import layers
import network_bench
import networks
import ov_runner
import self_check
import summary
import table

# What oneDNN, alone and inside OpenVINO, is kept to so that targets are compared with their likes. ONNX Runtime takes
# what the CPU has.
PEER_ISA = {"avx2": "AVX2", "avx_vnni": "AVX2_VNNI", "sse41": "SSE41"}
BUILD = pathlib.Path(__file__).resolve().parents[2] / "build/bench-x86"


def parse() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="tools/bench-x86", description=__doc__)
    parser.add_argument("--layers", metavar="PATTERN", help="only layers that match, e.g. 'R50 *'; none: no layer")
    parser.add_argument("--networks", metavar="PATTERN", help="only networks that match; none: no network")
    parser.add_argument("--target", default="native", help="instruction set that Etch generates for")
    parser.add_argument("--compiler", default="g++", help="g++ or clang++-14")
    parser.add_argument("--rounds", type=int, help="how often every contender has its turn (default 5, quick 3)")
    parser.add_argument("--seconds", type=float, help="per contender and round (default 0.1, quick 0.03)")
    parser.add_argument("--threads", default="1", help="1, 2 or 1,2")
    parser.add_argument("--peers", help="whom to time besides Etch (default onnxruntime,openvino,onednn; for targets "
                        "below avx512_vnni openvino,onednn, kept to that instruction set)")
    parser.add_argument("--quick", action="store_true", help="some layers and small networks, in less than 3 minutes")
    parser.add_argument("--real-time", action="store_true",
                        help="let nothing else have the core while samples are taken, 1 thread only; needs privileges")
    parser.add_argument("--json", type=pathlib.Path, metavar="FILE")
    parser.add_argument("--markdown", type=pathlib.Path, metavar="FILE")
    parser.add_argument("--svg", type=pathlib.Path, metavar="FILE")
    parser.add_argument("--from", dest="source", type=pathlib.Path, metavar="FILE",
                        help="measure nothing: print and write again what a run wrote with --json")
    parser.add_argument("--self-check", action="store_true", help="test this tool's own arithmetic and stop")
    return parser.parse_args()


def settings_of(options: argparse.Namespace, scratch: pathlib.Path) -> layer_bench.Settings:
    target = etch_runner.best_target() if options.target == "native" else options.target
    if target in PEER_ISA:
        os.environ["ONEDNN_MAX_CPU_ISA"] = os.environ["DNNL_MAX_CPU_ISA"] = PEER_ISA[target]
    peers = (options.peers or ("openvino,onednn" if target in PEER_ISA else "onnxruntime,openvino,onednn")).split(",")
    ov_runner.Session.start()  # before this thread is bound: OpenVINO counts the cores that it may use
    gate.pin(gate.cores_for(1))
    return layer_bench.Settings(
        timer=gate.Gate(BUILD), build=BUILD, scratch=scratch, target=target, compiler=options.compiler,
        rounds=options.rounds or (3 if options.quick else 5),
        seconds=options.seconds or (0.03 if options.quick else 0.1),
        threads=[int(one) for one in options.threads.split(",")], peers=peers,
        real_time=options.real_time,
        dnnl=dnnl_or_none() if "onednn" in peers else None)


def dnnl_or_none() -> dnnl_runner.Library | None:
    try:
        return dnnl_runner.Library(BUILD)
    except (OSError, subprocess.CalledProcessError):
        print("bench-x86: no oneDNN (apt-get install libdnnl-dev); its column is left out")
        return None


def chosen_layers(options: argparse.Namespace) -> list[layers.Layer]:
    pattern = options.layers
    if pattern is None:
        return [one for one in layers.all_layers() if not options.quick or one.name in layers.QUICK]
    return [one for one in layers.all_layers() if fnmatch.fnmatch(one.name, pattern)]


def chosen_networks(options: argparse.Namespace) -> list:
    """Functions that make the cases."""
    pattern = options.networks
    quick = networks.QUICK + [folder.name for folder in network_bench.shared_folders()]

    def accepts(name: str) -> bool:
        return fnmatch.fnmatch(name, pattern) if pattern else not options.quick or name in quick
    if pattern is None and network_bench.folder_message():
        print("bench-x86: " + network_bench.folder_message())
    return [make for _, make in network_bench.chosen_cases(accepts)]


def machine(settings: layer_bench.Settings) -> dict:
    compiler = subprocess.run([settings.compiler, "--version"], check=True, capture_output=True, text=True).stdout
    return {"date": datetime.datetime.now(datetime.timezone.utc).strftime("%Y-%m-%d"), "cpu": files.cpu_name(),
            "cores": len(gate.all_cores()), "etch": etch_runner.version(), "target": settings.target,
            "compiler": compiler.splitlines()[0], "onnxruntime": layer_bench.ort_runner.onnxruntime.__version__,
            "openvino": ov_runner.version(), "reference": settings.timer.loop,
            "onednn": settings.dnnl.version if settings.dnnl else "", "peer_isa": PEER_ISA.get(settings.target, ""),
            "command": "tools/bench-x86 " + " ".join(sys.argv[1:])}


def measured(benches: list, repeat: bool) -> list[dict]:
    """One row per function. Rows that the machine spoiled are measured once more after the others."""
    rows = []
    for bench in benches:
        rows.append(bench())
        print(table.progress(rows[-1]), flush=True)
    for i, bench in enumerate(benches) if repeat else ():
        if summary.doubtful(rows[i]):
            again = bench()
            if len(summary.doubtful(again)) < len(summary.doubtful(rows[i])):
                rows[i] = again
                print("again: " + table.progress(again), flush=True)
    return rows


def main() -> int:
    options = parse()
    if options.self_check:
        return self_check.main()
    if options.source:
        return report(files.read(options.source), options)
    if not etch_runner.ETCH.exists():
        sys.exit("bench-x86: build/release/bin/etch is missing; see CONTRIBUTING.md")
    if options.real_time and options.threads != "1":
        sys.exit("bench-x86: --real-time is for --threads 1: threads that wait for each other would starve")
    with tempfile.TemporaryDirectory() as scratch:
        return run(options, settings_of(options, pathlib.Path(scratch)))


def run(options: argparse.Namespace, settings: layer_bench.Settings) -> int:
    facts = machine(settings)
    print("\n".join(files.machine_lines(facts)), flush=True)
    rows = measured([lambda layer=layer: layer_bench.bench_layer(layer, settings)
                     for layer in chosen_layers(options)], not options.quick)
    found = measured([lambda make=make: network_bench.bench_network(make(), settings)
                      for make in chosen_networks(options)], not options.quick)
    peaks = [row["peak_gmacs"] for row in rows + found if "peak_gmacs" in row]
    facts["peak_gmacs"] = [min(peaks, default=0), max(peaks, default=0)]
    return report({"machine": facts, "layers": rows, "networks": found}, options)


def report(result: dict, options: argparse.Namespace) -> int:
    rows = result["layers"] + result["networks"]
    threads = sorted({count for row in rows for count in row["figures"]})
    print("\n".join(files.text_of(result, threads)))
    files.write(result, options, threads)
    return 1 if any(row["faults"] for row in rows) else 0


if __name__ == "__main__":
    sys.exit(main())
