"""What Etch means to reach on a machine with VNNI, and what a run says about it: one line for each goal that the run
has figures for, missed ones first. Pure.
"""

import dataclasses
import fnmatch

import summary

# Times as fast as ONNX Runtime at its best setting, one thread; the first pattern that fits counts.
NETWORKS = [("ResNet-50*", 1.5), ("MobileNetV1*", 2.1), ("*[Mm]obile[Nn]et[Vv]2*", 2.8), ("*resnet8*", 3.8),
            ("*dscnn*", 5.0), ("VWW*", 7.0), ("*convint*", 5.0), ("*matmulint*", 5.0), ("*microkws_qdq", 5.0),
            ("*", 1.0)]
OPENVINO_NETWORKS = 1.2
TWO_CORES = ["MobileNetV2*", "ResNet-50*"]
TWO_CORES_GAIN = 1.7
DEEP_SHARE = 88  # percent of the peak: 3x3 with at least 64 channels and 1x1 with at least 512
DEPTHWISE_GMACS = 45
SIGNED_COST = 1.05
CODE_KB, BUILD_S = 400, 30  # of MobileNetV2


@dataclasses.dataclass
class Result:
    """`value` of what `name` says, to be at least `goal`, or at most where `most` is set."""

    name: str
    value: float
    goal: float
    most: bool = False
    note: str = ""

    @property
    def met(self) -> bool:
        return self.value <= self.goal if self.most else self.value >= self.goal

    @property
    def line(self) -> str:
        text = f"{'met ' if self.met else 'MISS'}  {self.name}: {self.value:.2f}"
        return f"{text} ({'at most' if self.most else 'at least'} {self.goal:g}){self.note}"


def results_of(result: dict) -> list[Result]:
    """Every goal that the run has figures for."""
    return layer_results(result["layers"]) + network_results(result["networks"])


def lines_of(result: dict) -> list[str]:
    found = sorted(results_of(result), key=lambda one: one.met)
    return [f"{sum(one.met for one in found)} of {len(found)} goals met", *["  " + one.line for one in found]]


def layer_results(rows: list[dict]) -> list[Result]:
    found = []
    unsigned = [row for row in rows if not row["signed"]]
    for ratios in summary.ratios_of(unsigned):
        for name, ratio in ratios.of.items():
            found.append(Result(f"{name} against {ratios.peer}", ratio, ratios.each, note=ratios.ceiling(name)))
        if ratios.of:
            found.append(Result(f"geometric mean of layers against {ratios.peer}", ratios.geometric_mean, ratios.mean))
    medians = {row["name"]: row["figures"][1]["etch"].median for row in rows if has(row, 1, "etch")}
    for row in unsigned:
        found += rates_of(row)
        if row["name"] in medians and row["name"] + " s8" in medians:
            cost = medians[row["name"] + " s8"] / medians[row["name"]]
            found.append(Result(f"{row['name']}, time with int8 to uint8", cost, SIGNED_COST, most=True))
    return found


def has(row: dict, threads: int, contender: str) -> bool:
    return contender in row["figures"].get(threads, {})


def rates_of(row: dict) -> list[Result]:
    """Share of the peak where a layer is deep enough, products per second of a depthwise one."""
    if not has(row, 1, "etch"):
        return []
    share, shape = summary.share_of_peak(row), row.get("shape", {})
    if shape.get("depthwise"):
        rate = row["macs"] / (row["figures"][1]["etch"].median * 1e3)
        return [Result(f"{row['name']}, GMAC/s", rate, DEPTHWISE_GMACS)] if shape["stride"] == 1 else []
    deep = shape.get("kernel") == 3 and shape["channels"] >= 64 or shape.get("kernel") == 1 and shape["channels"] >= 512
    return [Result(f"{row['name']}, percent of the peak", share, DEEP_SHARE)] if deep and share is not None else []


def network_results(rows: list[dict]) -> list[Result]:
    found = []
    ort, intel = summary.ratios_of(rows)
    for name, ratio in ort.of.items():
        goal = next(goal for pattern, goal in NETWORKS if fnmatch.fnmatch(name, pattern))
        found.append(Result(f"{name} against ONNX Runtime", ratio, goal, note=ort.ceiling(name)))
    for name, ratio in intel.of.items():
        found.append(Result(f"{name} against OpenVINO", ratio, OPENVINO_NETWORKS, note=intel.ceiling(name)))
    for row in rows:
        if has(row, 1, "etch") and has(row, 2, "etch") and any(fnmatch.fnmatch(row["name"], one) for one in TWO_CORES):
            gain = row["figures"][1]["etch"].median / row["figures"][2]["etch"].median
            found.append(Result(f"{row['name']}, two cores to one", gain, TWO_CORES_GAIN))
        if row["name"].startswith("MobileNetV2") and "text_bytes" in row:
            found.append(Result(f"{row['name']}, kB of code", row["text_bytes"] / 1000, CODE_KB, most=True))
            found.append(Result(f"{row['name']}, seconds to build", row["build_s"], BUILD_S, most=True))
    return found
