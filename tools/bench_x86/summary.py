"""What the rows of a run amount to: the figure that counts for each contender, and ratios. Pure."""

import dataclasses
import math

ORT_EACH, ORT_MEAN = 1.1, 2.7
INTEL_EACH, INTEL_MEAN = 0.95, 1.5


def ort_time(figures: dict) -> float | None:
    """ONNX Runtime's best in microseconds; None if it was not timed."""
    return best_of(figures, ["ort_nhwc", "ort_nchw", "ort_node", "ort"])


def ov_time(figures: dict) -> float | None:
    return best_of(figures, ["ov", "ov_node"])


def dnnl_time(figures: dict) -> float | None:
    return best_of(figures, ["dnnl", "dnnl_zero_points"])


def intel_time(figures: dict) -> float | None:
    """The better of OpenVINO and oneDNN."""
    times = [time for time in (ov_time(figures), dnnl_time(figures)) if time]
    return min(times, default=None)


def best_of(figures: dict, names: list[str]) -> float | None:
    times = [figures[name].median for name in names if name in figures and figures[name].median > 0]
    return min(times, default=None)


@dataclasses.dataclass
class Ratios:
    """How many times as fast as the peer Etch is, by the name of the row."""

    peer: str
    each: float  # goals for layers, see goals.py
    mean: float
    of: dict[str, float]
    ceilings: dict[str, float]  # the ratio at 100 % of what the machine can multiply

    @property
    def geometric_mean(self) -> float:
        return math.exp(sum(math.log(ratio) for ratio in self.of.values()) / len(self.of))

    def ceiling(self, name: str) -> str:
        return f"; all of the peak would be {self.ceilings[name]:.2f}" if name in self.ceilings else ""

    def lines(self) -> list[str]:
        if not self.of:
            return []
        least = min(self.of, key=self.of.get)
        return [f"against {self.peer}: geometric mean {self.geometric_mean:.2f}, least {self.of[least]:.2f} ({least}), "
                f"{len(self.of)} rows"]


def ratios_of(rows: list[dict], threads: int = 1) -> list[Ratios]:
    peers = [("ONNX Runtime", ort_time, ORT_EACH, ORT_MEAN),
             ("OpenVINO or oneDNN", intel_time, INTEL_EACH, INTEL_MEAN)]
    found = []
    for peer, time_of, each, mean in peers:
        of, ceilings = {}, {}
        for row in rows:
            figures = row["figures"].get(threads, {})
            if "etch" in figures and time_of(figures):
                of[row["name"]] = time_of(figures) / figures["etch"].median
                if share := share_of_peak(row, threads):
                    ceilings[row["name"]] = of[row["name"]] * 100 / share
        found.append(Ratios(peer, each, mean, of, ceilings))
    return found


def share_of_peak(row: dict, threads: int = 1) -> float | None:
    """Percent of what `threads` cores could multiply while the row was timed."""
    figures = row["figures"].get(threads, {})
    if "etch" not in figures or row["peak_gmacs"] <= 0:
        return None
    return 100 * row["macs"] / (figures["etch"].median * 1e3) / (row["peak_gmacs"] * threads)


def doubtful(row: dict) -> list[str]:
    """Figures with too few clean samples, for people."""
    return [f"{name} at {threads} threads: {one.clean} of {one.samples} samples clean"
            for threads, figures in row["figures"].items() for name, one in figures.items() if one.doubtful]


def summary_lines(title: str, rows: list[dict], threads: int = 1) -> list[str]:
    lines = [title]
    for ratios in ratios_of(rows, threads):
        lines += ["  " + line for line in ratios.lines()]
    return lines
