"""Rows as text: for the terminal and for a page of Markdown. Pure."""

import summary

LAYER_COLUMNS = ["layer", "MMAC", "Etch us (rounds)", "% peak", "ORT us", "ORT node", "OpenVINO us", "OV node",
                 "oneDNN us", "x ORT", "x OV", "x oneDNN", "notes"]


def short(value: float | None) -> str:
    """Three or more digits: 0.81, 12.3, 1,234."""
    if value is None:
        return "-"
    if value >= 1000:
        return f"{value:,.0f}"
    return f"{value:.{0 if value >= 100 else 1 if value >= 10 else 2}f}"


def with_spread(figure) -> str:
    return "-" if figure is None else f"{short(figure.median)} ({short(figure.least)}..{short(figure.most)})"


def median_of(figures: dict, *names: str) -> float | None:
    return summary.best_of(figures, list(names))


def ratio(time: float | None, figures: dict) -> str:
    etch = figures.get("etch")
    return "-" if time is None or etch is None else f"{time / etch.median:.2f}"


NETWORK_COLUMNS = ["network", "MMAC", "Etch us (rounds)", "% peak", "ORT us", "ORT's best", "OpenVINO us", "x ORT",
                   "x OV", "code KB", "weights KB", "arena KB", "etch s", "build s (CPU)", "equal", "notes"]


def notes_of(row: dict, figures: dict) -> str:
    few = [f"{name} {one.clean}/{one.samples} clean" for name, one in figures.items() if one.doubtful]
    return "; ".join([*row["faults"], *([f"FEW: {', '.join(few)}"] if few else [])])


def layer_cells(row: dict, threads: int) -> list[str]:
    figures = row["figures"].get(threads, {})
    share = summary.share_of_peak(row, threads)
    return [row["name"], f"{row['macs'] / 1e6:.2f}", with_spread(figures.get("etch")),
            "-" if share is None else f"{share:.0f}", short(median_of(figures, "ort_nhwc", "ort_nchw")),
            short(median_of(figures, "ort_node")), short(median_of(figures, "ov")),
            short(median_of(figures, "ov_node")), short(summary.dnnl_time(figures)),
            ratio(summary.ort_time(figures), figures), ratio(summary.ov_time(figures), figures),
            ratio(summary.dnnl_time(figures), figures), notes_of(row, figures)]


def network_cells(row: dict, threads: int) -> list[str]:
    figures = row["figures"].get(threads, {})
    if not figures:
        why = row.get("skipped") or "; ".join(row["faults"])
        return [row["name"], *["-"] * (len(NETWORK_COLUMNS) - 2), why]
    share = summary.share_of_peak(row, threads)
    notes = [notes_of(row, figures)]
    if "openvino_refuses" in row:
        notes.append("OpenVINO: " + row["openvino_refuses"])
    if row.get("openvino_on_integers") is False:
        notes.append("OpenVINO not all on integers")
    return [row["name"], f"{row['macs'] / 1e6:.1f}", with_spread(figures.get("etch")),
            "-" if share is None else f"{share:.0f}", short(summary.ort_time(figures)),
            row.get("ort_settings", {}).get(threads, "-"), short(summary.ov_time(figures)),
            ratio(summary.ort_time(figures), figures), ratio(summary.ov_time(figures), figures),
            *[f"{row[key] / 1024:.1f}" for key in ("text_bytes", "flash_bytes", "arena_bytes")],
            f"{row['generate_s']:.1f}", f"{row['build_s']:.1f} ({row['build_cpu_s']:.1f})", row["verdict"],
            "; ".join(note for note in notes if note)]


def aligned(rows: list[list[str]]) -> list[str]:
    widths = [max(len(row[i]) for row in rows) for i in range(len(rows[0]))]
    last = len(widths) - 1
    return ["  ".join(cell.ljust(width) if i in (0, last) else cell.rjust(width)
                      for i, (cell, width) in enumerate(zip(row, widths))).rstrip() for row in rows]


def markdown(rows: list[list[str]]) -> list[str]:
    head, *body = rows
    return ["| " + " | ".join(row) + " |" for row in [head, ["---"] * len(head), *body]]


def without_empty_columns(rows: list[list[str]]) -> list[list[str]]:
    """Drops columns in which no row says anything."""
    keep = [i for i in range(len(rows[0])) if i == 0 or any(row[i] not in ("-", "") for row in rows[1:])]
    return [[row[i] for i in keep] for row in rows]


def layer_table(rows: list[dict], threads: int = 1) -> list[list[str]]:
    return without_empty_columns([LAYER_COLUMNS, *[layer_cells(row, threads) for row in rows]])


def network_table(rows: list[dict], threads: int = 1) -> list[list[str]]:
    return without_empty_columns([NETWORK_COLUMNS, *[network_cells(row, threads) for row in rows]])


def progress(row: dict) -> str:
    """One line as soon as a row is there."""
    if not row["figures"]:
        return f"{row['name']:24}  " + (row.get("skipped") or "; ".join(row["faults"]))
    threads = min(row["figures"])
    figures = row["figures"][threads]
    share = summary.share_of_peak(row, threads)
    parts = [f"{row['name']:24}", f"Etch {with_spread(figures.get('etch')):>26} us",
             f"{'' if share is None else f'{share:3.0f} % of peak'}", f"ORT {short(summary.ort_time(figures)):>7}",
             f"OV {short(summary.ov_time(figures)):>7}", f"oneDNN {short(summary.dnnl_time(figures)):>7}",
             notes_of(row, figures)]
    return "  ".join(parts).rstrip()
