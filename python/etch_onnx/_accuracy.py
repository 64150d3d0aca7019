"""The section "Accuracy" that `etch debug --report` puts into report.html."""

from __future__ import annotations

import html
from collections.abc import Sequence

from ._compare import decibel
from ._debug import TensorDifference
from ._program import printable

_BEFORE = '<h2 id="graph">'
_LINK = '<a href="#graph">'
_HEADINGS = ("Tensor", "Operator", "SQNR", "Cosine", "Largest difference", "Different", "Saturated")


def _cells(each: TensorDifference) -> list[str]:
    saturated = "" if each.saturated is None else f"{100 * each.saturated:.2f} %"
    share = f"{100 * each.different / max(each.elements, 1):.1f} %"
    return [printable(each.tensor), printable(each.op), decibel(each.sqnr_db), f"{each.cosine:.6f}", f"{each.worst:.4g}", share, saturated]


def _row(tag: str, cells: Sequence[str]) -> str:
    kinds = ["", "", *[' class="n"'] * (len(cells) - 2)]  # numbers are to the right
    return "<tr>" + "".join(f"<{tag}{kind}>{html.escape(cell)}</{tag}>" for kind, cell in zip(kinds, cells)) + "</tr>\n"


def section(found: Sequence[TensorDifference], against: str, summary: Sequence[str]) -> str:
    """Its HTML: every tensor in the order of the network, and what stands out."""
    notes = "".join(f"<li>{html.escape(line)}</li>" for line in summary)
    first = next((each.first for each in found if each.first is not None and each.first.by_hand), None)
    by_hand = f'<div class="panel"><pre>{html.escape(first.by_hand)}</pre></div>' if first else ""
    rows = "".join(_row("td", _cells(each)) for each in found)
    return (
        f'<h2 id="accuracy">Accuracy</h2>\n<p>Against {html.escape(against)}, tensor by tensor.</p><ul>{notes}</ul>{by_hand}'
        f'<div class="panel"><table><thead>{_row("th", _HEADINGS)}</thead><tbody>{rows}</tbody></table></div>\n'
    )


def with_section(page: str, text: str) -> str:
    """report.html with the section before the graph, and a link to it in the page's navigation."""
    if page.count(_BEFORE) != 1 or page.count(_LINK) < 1:
        raise ValueError("no report.html of this version of Etch")
    page = page.replace(_LINK, '<a href="#accuracy">Accuracy</a>' + _LINK, 1)
    return page.replace(_BEFORE, text + _BEFORE)
