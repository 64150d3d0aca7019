"""Times one layer with every contender, in rounds, and checks that the outputs agree."""

import contextlib
import dataclasses
import pathlib
import time

import dnnl_runner
import etch_runner
import gate
import models
import numpy as np
import ort_runner
import ov_runner
from layers import Layer

ORT_COPIES = 9  # models with so many nodes tell what one more node costs
OV_COPIES = 5


@dataclasses.dataclass
class Settings:
    timer: gate.Gate
    build: pathlib.Path  # kept from run to run
    scratch: pathlib.Path
    target: str
    compiler: str
    rounds: int
    seconds: float  # per contender and round
    threads: list[int]
    peers: list[str]
    real_time: bool = False
    dnnl: dnnl_runner.Library | None = None


def in_rounds(settings: Settings, callees: dict[str, gate.Callee]) -> dict[str, gate.Figure]:
    """All callees in turns, as often as there are rounds."""
    timer = settings.timer
    samples = {name: [] for name in callees}
    with gate.alone():
        for callee in callees.values():
            timer.series(callee, 1, 1)  # libraries start their threads with the first call
        gate.spread()
        timer.begin_row()
        for _ in range(settings.rounds):
            for name, callee in callees.items():
                with gate.undisturbed(settings.real_time):
                    samples[name].append(timer.sample(callee, settings.seconds))
        timer.settle()
        return {name: gate.figure_of(rounds, timer.is_clean) for name, rounds in samples.items()}


def ort_sessions(layer: Layer, threads: int) -> dict[str, ort_runner.Session]:
    """Channels last and channels first; for a tiny layer also several nodes of the form that a probe finds faster."""
    image = models.input_of(layer)
    feeds = {True: {"x": image}, False: {"x": image.transpose(0, 3, 1, 2)}}
    sessions = {}
    for last in (True, False):
        model = models.integer_model(layer, last).SerializeToString()
        sessions["ort_nhwc" if last else "ort_nchw"] = ort_runner.Session(model, feeds[last], "all", threads)
    if layer.tiny:
        last = seconds_of(sessions["ort_nhwc"]) <= seconds_of(sessions["ort_nchw"])
        model = models.integer_model(layer, last, ORT_COPIES).SerializeToString()
        name = "ort_nhwc" if last else "ort_nchw"
        sessions[f"{name}_copies"] = ort_runner.Session(model, feeds[last], "all", threads)
    return sessions


def seconds_of(session) -> float:
    """The shortest of some calls, for a choice that need not be exact."""
    times = []
    while len(times) < 3 or (len(times) < 50 and sum(times) < 0.2):
        begin = time.perf_counter()
        session.run()
        times.append(time.perf_counter() - begin)
    return min(times)


def ov_sessions(layer: Layer, threads: int, scratch: pathlib.Path) -> dict[str, ov_runner.Session]:
    feeds = [models.input_of(layer)]
    return {name: ov_runner.Session(ov_runner.layer_model(layer, copies), feeds, scratch / name, threads)
            for name, copies in (("ov", 1), ("ov_copies", OV_COPIES))}


def differing(mine: np.ndarray, theirs: np.ndarray) -> int:
    return int(np.count_nonzero(mine != theirs)) if mine.shape == theirs.shape else mine.size


def bench_layer(layer: Layer, settings: Settings) -> dict:
    """A row: figures by contender and thread count, and what was found besides."""
    row = {"name": layer.name, "macs": layer.macs, "tiny": layer.tiny, "signed": layer.signed, "figures": {},
           "faults": [], "shape": {"channels": layer.channels, "kernel": max(layer.kernel), "stride": layer.stride,
                                   "depthwise": layer.depthwise}}
    for threads in settings.threads:
        with contextlib.ExitStack() as stack:
            settings.timer.use_cores(threads)
            bench_with(threads, layer, settings, row, stack)
            if threads == min(settings.threads):
                row["peak_gmacs"] = settings.timer.peak_gmacs
        time.sleep(0.02 if threads > 1 else 0)  # threads that spin for more work go to sleep
    return row


def bench_with(threads: int, layer: Layer, settings: Settings, row: dict, stack: contextlib.ExitStack) -> None:
    callees, expected = {}, None
    sessions = ort_sessions(layer, threads)
    if "onnxruntime" in settings.peers:
        callees |= {name: session.callee(settings.timer) for name, session in sessions.items()}
    for session in sessions.values():
        stack.callback(session.close)
    expected = sessions["ort_nhwc"].run()[0]
    request = etch_runner.Request(models.integer_model(layer, True).SerializeToString(), settings.target,
                                  settings.compiler, keep_copy=layer.is_first, threads=threads)
    network = etch_runner.Network(request, [models.input_of(layer)], settings.build / "etch")
    wrong = differing(network.run()[0], expected)
    if wrong > 0:
        row["faults"].append(f"Etch differs from ONNX Runtime in {wrong} of {expected.size} bytes")
    row["text_bytes"] = network.facts.text_bytes
    row["schedule"] = next((step["schedule"] for step in network.report["steps"] if step.get("schedule")), "")
    callees |= {"etch": network.callee("layer"), "etch_whole": network.callee("whole")}
    if "openvino" in settings.peers:
        found = ov_sessions(layer, threads, settings.scratch)
        for session in found.values():
            stack.callback(session.close)
        check_openvino(found["ov"], expected, row)
        callees |= {name: session.callee(settings.timer) for name, session in found.items()}
    if settings.dnnl is not None:
        found = {"dnnl": dnnl_runner.Convolution(settings.dnnl, layer, threads, zero_points=False),
                 "dnnl_zero_points": dnnl_runner.Convolution(settings.dnnl, layer, threads, zero_points=True)}
        for session in found.values():
            stack.callback(session.close)
        check_distance("oneDNN", found["dnnl_zero_points"].run(), expected, row)
        callees |= {name: session.callee() for name, session in found.items()}
    figures = in_rounds(settings, callees)
    add_nodes(figures)
    row["figures"][threads] = figures


def check_distance(peer: str, output: np.ndarray, expected: np.ndarray, row: dict) -> None:
    """Peers scale differently: one step in a few outputs is their own arithmetic, more is another layer."""
    distance = np.abs(output.astype(int) - expected.astype(int))
    row[peer + " differs"] = int(np.count_nonzero(distance))
    if distance.max() > 1:
        row["faults"].append(f"{peer} differs from ONNX Runtime by up to {distance.max()} steps")


def check_openvino(session: ov_runner.Session, expected: np.ndarray, row: dict) -> None:
    row["openvino_runs"] = session.primitives
    if not ov_runner.runs_on_integers(session.primitives):
        row["faults"].append("OpenVINO does not run this on integers: " + ", ".join(session.primitives))
    check_distance("OpenVINO", session.run()[0], expected, row)


def add_nodes(figures: dict[str, gate.Figure]) -> None:
    """What one more node costs, from models with one and with several."""
    for form, copies in (("ort_nhwc", ORT_COPIES), ("ort_nchw", ORT_COPIES), ("ov", OV_COPIES)):
        many = figures.pop(f"{form}_copies", None)
        if many is not None:
            name = "ort_node" if form.startswith("ort") else "ov_node"
            figures[name] = many.minus(figures[form], copies - 1)
