"""A drawn figure as SVG within a page.

Invariants:

1. The same drawing gives the same bytes: no date, and ids that are made of the figure's own name, so that
   several figures can stand in one page.
2. Colours are named in `COLOURS` and become the page's own: a figure follows a light and a dark page, and
   print.
3. Text stays text, in the page's type: it can be searched and read aloud, and is never read as a formula.
4. The width is that of a column that a phone can show without getting too small to read.
"""

from __future__ import annotations

import io
import re
from collections.abc import Callable
from types import SimpleNamespace
from typing import Any

import matplotlib as mpl
from markupsafe import Markup
from matplotlib.backends.backend_svg import FigureCanvasSVG
from matplotlib.figure import Figure

from harness.report.templating import filled

WIDTH = 6.4
"""Inches."""

COLOURS = SimpleNamespace(
    ink="#010101",
    soft="#020202",
    line="#030303",
    ground="#040404",
    fail="#050505",
    warn="#060606",
    info="#070707",
    good="#080808",
    error="#090909",
)
_PAGE = {
    COLOURS.ink: "var(--ink)",
    COLOURS.soft: "var(--soft)",
    COLOURS.line: "var(--line)",
    COLOURS.ground: "var(--ground)",
    COLOURS.fail: "var(--fail)",
    COLOURS.warn: "var(--warn)",
    COLOURS.info: "var(--info)",
    COLOURS.good: "var(--pass)",
    COLOURS.error: "var(--error)",
}
LINES = (
    (COLOURS.info, "-", "o"),
    (COLOURS.warn, "--", "s"),
    (COLOURS.error, "-.", "^"),
    (COLOURS.good, ":", "D"),
)
"""Colour, line and mark of the first, second, … series: told apart without colour, too."""

_SETTINGS = {
    "svg.fonttype": "none",
    "text.parse_math": False,
    "axes.formatter.use_mathtext": False,
    "font.family": "sans-serif",
    "font.sans-serif": ["DejaVu Sans"],
    "font.size": 9,
    "axes.titlesize": 9,
    "axes.labelsize": 8,
    "axes.edgecolor": COLOURS.soft,
    "axes.facecolor": "none",
    "axes.labelcolor": COLOURS.soft,
    "axes.titlecolor": COLOURS.ink,
    "axes.titlelocation": "left",
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.grid": False,
    "axes.axisbelow": True,
    "grid.color": COLOURS.line,
    "grid.linewidth": 0.6,
    "figure.facecolor": "none",
    "legend.frameon": False,
    "legend.labelcolor": COLOURS.ink,
    "lines.linewidth": 1.6,
    "lines.markersize": 3.5,
    "text.color": COLOURS.ink,
    "xtick.color": COLOURS.soft,
    "ytick.color": COLOURS.soft,
    "xtick.labelsize": 8,
    "ytick.labelsize": 8,
}


def draw(name: str, title: str, height: float, paint: Callable[[Any], None]) -> Markup:
    """The figure that ``paint`` makes of an empty one, ``height`` inches high. ``title`` is read aloud."""
    with mpl.rc_context({**_SETTINGS, "svg.hashsalt": name}):
        figure = Figure(figsize=(WIDTH, height), layout="constrained")
        FigureCanvasSVG(figure)
        paint(figure)
        file = io.StringIO()
        figure.savefig(file, format="svg", metadata=dict.fromkeys(("Date", "Creator", "Format", "Type")))
    return _inline(name, title, file.getvalue())


def _inline(name: str, title: str, text: str) -> Markup:
    opening, _, inner = text[text.index("<svg") :].partition(">")
    box = re.search(r'viewBox="([^"]+)"', opening)
    assert box is not None
    inner = re.sub(r"<metadata>.*?</metadata>|<style[^>]*>.*?</style>|<!--.*?-->", "", inner, flags=re.DOTALL)
    inner = re.sub(r'<g id="[^"]*"\s*/>', "", inner)
    inner = re.sub(r'(?<= )(?:d|x|y|points|transform)="[^"]*"', _rounded, inner)
    inner = re.sub(r'(id="|xlink:href="#|url\(#)', rf"\1{name}-", inner)
    for sentinel, colour in _PAGE.items():
        inner = inner.replace(sentinel, colour)
    content = Markup(inner.rpartition("</svg>")[0].strip())
    return filled("mining/page/templates/figure.html.j2", box=box[1], title=title, content=content)


def _rounded(attribute: re.Match[str]) -> str:
    """A hundredth of a point is exact enough, and a third of the bytes."""
    return re.sub(r"(\.\d{2})\d+", r"\1", re.sub(r"\s+", " ", attribute[0]))
