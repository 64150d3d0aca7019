"""Times one network with every contender, after its outputs were found equal to ONNX Runtime's, bit for bit."""

import dataclasses
import importlib.machinery
import importlib.util
import pathlib

import etch_runner
import gate
import layer_bench
import network_models
import networks
import numpy as np
import onnx
import ort_runner
import ov_runner
from onnx import numpy_helper

TOOLS = pathlib.Path(__file__).resolve().parents[1]
SHARED = TOOLS.parents[1] / "shared/models/nets"
KEEP_WITHIN = 1.15  # forms up to this much slower than the fastest in a probe take part in the rounds
IMAGES = 8  # on which outputs are compared
VERDICTS = ("exact", "close", "explained", "FAIL")
FLOAT_TOLERANCE = 1e-5  # of a float output, as tools/zoo-check has it


@dataclasses.dataclass
class Case:
    """A network: its ONNX forms by name, the first of which Etch gets, and inputs in the order of the graph."""

    name: str
    forms: dict[str, bytes]
    feeds: list[dict[str, np.ndarray]]
    openvino_form: bytes
    explained: bool = False  # see tools/zoo-check: known to differ from an optimised ONNX Runtime


def generated_case(name: str) -> Case:
    net = networks.SHAPES[name](name)
    calibrated = networks.calibrate(net)
    forms = {"QOperator": network_models.OperatorWriter(calibrated).model().SerializeToString(),
             "QDQ": network_models.QdqWriter(calibrated).model().SerializeToString()}
    for_openvino = network_models.QdqWriter(calibrated, quantize_input_again=True).model().SerializeToString()
    image = networks.image_of(net)
    feeds = [{"x": np.roll(image, 5 * i, axis=3)} for i in range(IMAGES)]
    return Case(name, forms, feeds, for_openvino)


def explained_by_zoo_check() -> set[str]:
    loader = importlib.machinery.SourceFileLoader("zoo_check", str(TOOLS / "zoo-check"))
    module = importlib.util.module_from_spec(importlib.util.spec_from_loader("zoo_check", loader))
    loader.exec_module(module)
    return set(module.EXPLAINED)


def shared_case(folder: pathlib.Path) -> Case:
    model = (folder / "model.onnx").read_bytes()
    graph = onnx.load_from_string(model).graph
    bound = {one.name for one in graph.initializer}
    names = [port.name for port in graph.input if port.name not in bound]
    feeds = []
    for data in sorted(folder.glob("test_data_set_*")):
        tensors = [onnx.load_tensor(data / f"input_{i}.pb") for i in range(len(names))]
        feeds.append({name: numpy_helper.to_array(tensor) for name, tensor in zip(names, tensors)})
    return Case(folder.name, {"file": model}, feeds, model, folder.name in explained_by_zoo_check())


def shared_folders() -> list[pathlib.Path]:
    return [path for path in sorted(SHARED.glob("*")) if (path / "model.onnx").exists()]


def input_shapes(case: Case) -> list[str]:
    return [f"{name}={','.join(map(str, array.shape))}" for name, array in case.feeds[0].items()]


def compare(mine: list[np.ndarray], theirs: list[np.ndarray], explained: bool) -> tuple[str, str]:
    """A verdict (exact, close, explained, FAIL) and what differs."""
    verdict, words = "exact", ""
    for i, (a, b) in enumerate(zip(mine, theirs, strict=True)):
        if a.tobytes() == b.tobytes():
            continue
        a, b = a.reshape(b.shape), b
        words = f"output {i} differs in {np.count_nonzero(a != b)} of {b.size} values"
        is_float = b.dtype == np.float32
        if is_float and np.all(np.abs(a - b) <= FLOAT_TOLERANCE * np.maximum(1, np.abs(b))):
            found = "close"
        elif explained:
            found = "explained"
        else:
            return "FAIL", words
        verdict = max(verdict, found, key=VERDICTS.index)
    return verdict, words


def check(case: Case, form: bytes, network: etch_runner.Network) -> tuple[str, str]:
    """Etch against ONNX Runtime on every input."""
    worst = ("exact", "")
    for feed in case.feeds:
        session = ort_runner.Session(form, feed, "all", 1, int8_allowed=True)
        expected = session.run()
        network.set_inputs(list(feed.values()))
        verdict = compare(network.run(), expected, case.explained)
        session.close()
        if verdict[0] == "FAIL":
            return verdict
        worst = max(worst, verdict, key=lambda one: VERDICTS.index(one[0]))
    return worst


def ort_sessions(case: Case, threads: int) -> dict[str, ort_runner.Session]:
    """The settings of ONNX Runtime that a probe finds fast, by name."""
    sessions, times = {}, {}
    for form, model in case.forms.items():
        for level in ort_runner.LEVELS:
            for int8_allowed in (False, True) if b"DequantizeLinear" in model else (False,):
                name = f"ort {form} {level}{' int8' if int8_allowed else ''}"
                sessions[name] = ort_runner.Session(model, case.feeds[0], level, threads, int8_allowed)
                times[name] = layer_bench.seconds_of(sessions[name])
    for name in [name for name in sessions if times[name] > KEEP_WITHIN * min(times.values())]:
        sessions.pop(name).close()
    return dict(sorted(sessions.items(), key=lambda item: times[item[0]])[:3])


def built(model: bytes, case: Case, settings: layer_bench.Settings, threads: int = 1) -> etch_runner.Network:
    request = etch_runner.Request(model, settings.target, settings.compiler, tuple(input_shapes(case)),
                                  threads=threads)
    return etch_runner.Network(request, list(case.feeds[0].values()), settings.build / "etch")


def bench_network(case: Case, settings: layer_bench.Settings) -> dict:
    row = {"name": case.name, "figures": {}, "faults": [], "signed": False, "tiny": False}
    gate.pin(gate.all_cores())  # for the build
    first = next(iter(case.forms))
    try:
        networks_of = {count: built(case.forms[first], case, settings, count) for count in settings.threads}
        builds = [(first, one) for one in networks_of.values()]
        builds += [(form, built(case.forms[form], case, settings)) for form in case.forms if form != first]
    except RuntimeError as error:
        return row | {"skipped": str(error)}
    network = networks_of[min(settings.threads)]
    gate.pin(gate.cores_for(1))
    for form, build in builds:
        row["verdict"], words = check(case, case.forms[form], build)
        if row["verdict"] == "FAIL":
            row["faults"].append(f"{form}: Etch and ONNX Runtime disagree: {words}")
            return row
        build.set_inputs(list(case.feeds[0].values()))
    row |= dataclasses.asdict(network.facts) | {"macs": network.report["macs"]}
    for threads, one in networks_of.items():
        settings.timer.use_cores(threads)
        time_with(threads, case, one, settings, row)
        row.setdefault("peak_gmacs", settings.timer.peak_gmacs)
    return row


def refusal_of(message: str) -> str:
    """One line of OpenVINO's message."""
    if "fully converted" in message:
        return "its front end cannot convert the model"
    return message.strip().splitlines()[-1].split(".")[0]


def time_with(threads: int, case: Case, network: etch_runner.Network, settings: layer_bench.Settings,
              row: dict) -> None:
    callees, sessions = {"etch": network.callee("whole")}, {}
    if "onnxruntime" in settings.peers:
        sessions |= ort_sessions(case, threads)
    if "openvino" in settings.peers:
        try:
            feeds, scratch = list(case.feeds[0].values()), settings.scratch / "network"
            session = ov_runner.Session(case.openvino_form, feeds, scratch, threads)
            sessions["ov"] = session
            row["openvino_on_integers"] = ov_runner.runs_on_integers(session.primitives)
        except RuntimeError as error:
            row["openvino_refuses"] = refusal_of(str(error))
    callees |= {name: session.callee(settings.timer) for name, session in sessions.items()}
    figures = layer_bench.in_rounds(settings, callees)
    for session in sessions.values():
        session.close()
    forms = [name for name in figures if name.startswith("ort ")]
    if forms:
        best = min(forms, key=lambda name: figures[name].median)
        row.setdefault("ort_settings", {})[threads] = best.removeprefix("ort ")
        figures["ort"] = figures[best]
    row["figures"][threads] = {name: one for name, one in figures.items() if name not in forms}


def chosen_cases(names) -> list:
    """Functions that make the cases whose names `names` accepts, by name."""
    found = [(name, lambda name=name: generated_case(name)) for name in networks.SHAPES]
    found += [(folder.name, lambda folder=folder: shared_case(folder)) for folder in shared_folders()]
    return [(name, make) for name, make in found if names(name)]


def folder_message() -> str:
    return "" if shared_folders() else f"no real networks: {SHARED.relative_to(TOOLS.parents[1])} is absent"
