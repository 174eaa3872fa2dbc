"""The sequence diagram of a trace, as SVG that stands alone or inside a page.

Rules of this module:

1. Pure: events in, text out. The same events give the same bytes.
2. One lifeline for each connection and one for each target; time runs down. Protocol time is what is written,
   because it is what statements speak of. Where it passes without anything being sent, the lifelines are cut.
3. What only keeps connections busy is folded into one line that says how much it was. A long trace is cut
   around the decisive frame, and the cut says how much of how many it hides. What the decisive frame says
   may be written below it.
4. Colours come from the page's scheme, light or dark; nothing is told by colour alone.
5. A person who cannot see it finds the same steps in words in ``<desc>``.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

import msgspec

from harness.report.frames import RESTARTS, Moment, moments
from harness.report.markup import Markup, element
from harness.trace import Event

__all__ = ["STYLE", "sequence_diagram"]

STYLE = """
.seq{--ink:#1f2328;--soft:#656d76;--line:#b6bec8;--ground:#fff;--mark:#b42318;--marked:#fdeceb;--ask:#0a5cad}
@media (prefers-color-scheme:dark){.seq{--ink:#e6edf3;--soft:#9198a1;--line:#485260;--ground:#0f141b;
--mark:#ff8a80;--marked:#3a1a1c;--ask:#79b8ff}}
@media print{.seq{--ink:#000;--soft:#444;--line:#999;--ground:#fff;--mark:#900;--marked:#fee;--ask:#036}}
.seq{background:var(--ground)}
.seq text{font:12px ui-monospace,SFMono-Regular,Menlo,Consolas,monospace;fill:var(--ink);paint-order:stroke;
stroke:var(--ground);stroke-width:3px;stroke-linejoin:round}
.seq .soft{fill:var(--soft)}.seq .head{font-weight:600}
.seq .life{stroke:var(--line);stroke-width:1}.seq .rule{stroke:var(--line);stroke-dasharray:3 4}
.seq .arrow{stroke:var(--ask);stroke-width:1.5}.seq .answer{stroke:var(--soft);stroke-width:1.5}
.seq .arrow-head{fill:var(--ask)}.seq .answer-head{fill:var(--soft)}
.seq .band{fill:var(--marked)}.seq .decisive text{stroke:var(--marked);font-weight:600}
.seq .decisive .mark{fill:var(--mark)}.seq .decisive line{stroke:var(--mark);stroke-width:2.5}
.seq .decisive polygon{fill:var(--mark)}.seq .dot{fill:var(--ground);stroke:var(--ink);stroke-width:1.5}
.seq .cross{stroke:var(--ink);stroke-width:1.5}.seq .fault{fill:var(--mark)}.seq .broken{stroke:var(--mark);
stroke-width:2}.seq .decisive .about{stroke:none;font-weight:400}.seq .title{font-size:14px;font-weight:600}
.seq .gap{fill:var(--ground)}
""".strip()

_ROW = 30
_TOP = 52
_TIME = 76
_STEP = 64
_CHARACTER = 7.3
_MIN_LABEL = 430
_ROWS = 60
_BEFORE = 45
_LINE = 16
_BETWEEN = 90
_LATER = 1 << 30
_PASSES = re.compile(r"advance ([\d.]+) s")


class _Row(msgspec.Struct, frozen=True):
    moment: Moment
    folded: int = 0
    """How many moments this row stands for; 0 where it is one of its own."""


class _Place(msgspec.Struct, frozen=True, kw_only=True):
    y: int
    lanes: dict[int, int]
    open: frozenset[int]
    """Connections whose lifelines are drawn here."""
    targets: list[int]
    width: int
    about: Sequence[str] = ()

    @property
    def last(self) -> int:
        """Where the last lifeline is."""
        return self.targets[-1]


def sequence_diagram(
    events: Sequence[Event],
    decisive: int | None = None,
    *,
    style: bool = True,
    title: Sequence[str] = (),
    about: Sequence[str] = (),
) -> str:
    """The diagram; ``decisive`` is the number of the event to mark, ``about`` is written below it.

    With ``style`` false the page must hold :data:`STYLE` once; with it the SVG can be a file of its own, for
    which ``title`` is the head.
    """
    everything = moments(events)
    rows = _cut(_fold(everything, decisive), decisive, len(everything))
    connections = sorted({m.connection for m in everything if m.connection is not None})
    lanes = {connection: _TIME + 24 + index * _STEP for index, connection in enumerate(connections)}
    longest = max((len(_label(row)) for row in rows), default=0)
    last_lane = max(lanes.values(), default=_TIME)
    told = max((len(line) for line in about), default=0)
    target = int(last_lane + max(_MIN_LABEL, longest * _CHARACTER + 110, told * _CHARACTER + 40))
    targets = [
        target + number * _BETWEEN for number in range(1 + max((m.server for m in everything), default=0))
    ]
    top = _TOP + len(title) * 20
    width = max(targets[-1] + 60, int(max((len(line) for line in title), default=0) * 8.6) + 30)
    drawn: list[Markup] = []
    shown, y = "", top
    lives = dict.fromkeys(connections, (top - 20, 0))
    lives.update(
        (row.moment.connection, (_LATER, 0))
        for row in rows
        if row.moment.kind == "opened" and row.moment.connection
    )
    for row in rows:
        if row.moment.kind == "opened" and row.moment.connection is not None:
            lives[row.moment.connection] = (y + 20, 0)
        elif row.moment.ends and row.moment.connection is not None:
            lives[row.moment.connection] = (lives[row.moment.connection][0], y + 20)
        time = _time(row.moment.protocol)
        marked = row.moment.number == decisive and row.moment.number >= 0
        place = _Place(
            y=y + 20,
            lanes=lanes,
            open=frozenset(one for one, (begun, end) in lives.items() if begun <= y + 20 and not end),
            targets=targets,
            width=width,
            about=about if marked else (),
        )
        drawn.append(_row(row, place, marked, "" if time == shown else time))
        shown = time
        y += _ROW + len(place.about) * _LINE
    height = y + 24
    return element(
        "svg",
        element("title", title[0] if title else "Sequence diagram of the trace"),
        element("desc", _in_words(rows, decisive)),
        element("style", Markup(STYLE)) if style else None,
        element("rect", class_="gap", x=0, y=0, width=width, height=height) if title else None,
        *(
            element("text", line, class_="soft" if number else "title", x=16, y=24 + number * 20)
            for number, line in enumerate(title)
        ),
        *_lifelines(lanes, lives, targets, top - 30, height),
        *drawn,
        class_="seq",
        xmlns="http://www.w3.org/2000/svg",
        viewbox=f"0 0 {width} {height}",
        width=width,
        height=height,
        role="img",
    )


def _fold(everything: Iterable[Moment], decisive: int | None) -> list[_Row]:
    rows: list[_Row] = []
    for moment in everything:
        if moment.purpose == "case" or moment.number == decisive or moment.kind != "frame":
            rows.append(_Row(moment))
        elif rows and rows[-1].folded:
            rows[-1] = _Row(rows[-1].moment, rows[-1].folded + 1)
        else:
            rows.append(_Row(_remark(moment, ""), 1))
    return [
        row if not row.folded else _Row(_remark(row.moment, _upkeep(row.folded)), row.folded) for row in rows
    ]


def _upkeep(frames: int) -> str:
    return f"{frames} frame{'s' if frames != 1 else ''} of the harness's own (keep-alive, probes, barriers)"


def _cut(rows: list[_Row], decisive: int | None, total: int) -> list[_Row]:
    if len(rows) <= _ROWS:
        return rows
    centre = next((i for i, row in enumerate(rows) if row.moment.number == decisive), len(rows) - 1)
    begin = max(0, min(centre - _BEFORE, len(rows) - _ROWS))
    kept = rows[begin : begin + _ROWS]
    before, after = begin, len(rows) - begin - len(kept)
    words = "{} rows {} are not drawn, of {} rows for {} events; the trace has them all"
    if before:
        text = words.format(before, "before", len(rows), total)
        kept.insert(0, _Row(_remark(kept[0].moment, text)))
    if after:
        text = words.format(after, "after", len(rows), total)
        kept.append(_Row(_remark(kept[-1].moment, text)))
    return kept


def _remark(moment: Moment, text: str) -> Moment:
    return Moment(number=-1, kind="note", real=moment.real, protocol=moment.protocol, label=text)


def _lifelines(
    lanes: dict[int, int],
    lives: dict[int, tuple[int, int]],
    targets: Sequence[int],
    y: int,
    height: int,
) -> list[Markup]:
    """Names and lines; that of a connection from where it is made to where it ends."""
    parts = [element("text", "time", class_="soft", x=_TIME - 8, y=y, text_anchor="end")]
    several = len(targets) > 1
    ends = [(f"target {number}" if several else "target", x) for number, x in enumerate(targets)]
    for name, x in [*((f"conn {connection}", x) for connection, x in lanes.items()), *ends]:
        parts.append(element("text", name, class_="head", x=x, y=y, text_anchor="middle"))
    for x, (begun, end) in [
        *((lanes[connection], life) for connection, life in lives.items()),
        *((x, (y + 10, 0)) for x in targets),
    ]:
        parts.append(element("line", class_="life", x1=x, y1=begun, x2=x, y2=end or height - 10))
    return parts


def _row(row: _Row, place: _Place, decisive: bool, time: str) -> Markup:
    moment, y = row.moment, place.y
    hover = (
        f"event {moment.number}, {_time(moment.protocol)} of protocol time, {moment.real:.6f} s of real time"
    )
    parts = [element("title", hover)]
    if decisive:
        height = _ROW - 2 + len(place.about) * _LINE
        parts.append(element("rect", class_="band", x=0, y=y - 17, width=place.width, height=height))
    if time:
        parts.append(element("text", time, class_="soft", x=_TIME - 8, y=y + 4, text_anchor="end"))
    parts += _what(row, place, decisive)
    if decisive:
        note = f"▲ decisive, #{moment.number}"
        parts.append(element("text", note, class_="mark", x=place.last - 8, y=y - 3, text_anchor="end"))
        x = max(place.lanes.values(), default=_TIME) + 22
        parts += [
            element("text", line, class_="about", x=x, y=y + 18 + number * _LINE)
            for number, line in enumerate(place.about)
        ]
    return element("g", *parts, class_="decisive" if decisive else None)


def _what(row: _Row, place: _Place, decisive: bool) -> list[Markup]:
    moment, y = row.moment, place.y
    lane = place.lanes.get(moment.connection) if moment.connection is not None else None
    quiet = "mark" if decisive else "soft"
    if moment.kind == "note" and _PASSES.fullmatch(moment.label):
        return _passing(row, place)
    if moment.kind == "note" or lane is None:
        return [
            element("line", class_="rule", x1=_TIME, y1=y, x2=place.last + 20, y2=y),
            element(
                "text",
                _label(row),
                class_="fault" if row.moment.label in RESTARTS else "soft",
                x=_TIME + 14,
                y=y + 4,
            ),
        ]
    target = place.targets[moment.server]
    if moment.kind in ("frame", "bytes"):
        odd = moment.kind == "bytes" or moment.segments > 1
        kind = "mark" if decisive else "fault" if odd else None
        label = element("text", _label(row), class_=kind, x=lane + 10, y=y - 3)
        return [*_arrow(lane, target, y + 2, moment.direction == "sent"), label]
    if moment.kind == "closed":
        x = target if moment.direction == "received" else lane
        hard = moment.direction == "received" or "resets" in moment.label
        sign = element(
            "path", class_="broken" if hard else "cross", d=f"M{x - 4} {y - 4}l8 8m0 -8l-8 8", fill="none"
        )
        return [sign, element("text", _label(row), class_="fault" if hard else quiet, x=lane + 12, y=y + 4)]
    sign = element("circle", class_="dot", cx=lane, cy=y, r=4)
    return [sign, element("text", _label(row), class_=quiet, x=lane + 12, y=y + 4)]


def _passing(row: _Row, place: _Place) -> list[Markup]:
    """Time that passes: the lifelines are cut."""
    y, middle = place.y, (place.targets[0] + max(place.lanes.values(), default=_TIME)) // 2
    cuts = [
        element("path", class_="life", d=f"M{x - 7} {y - 1}l14 -6m-14 12l14 -6", fill="none")
        for x in (*(x for connection, x in place.lanes.items() if connection in place.open), *place.targets)
    ]
    return [*cuts, element("text", _label(row), class_="head", x=middle, y=y + 4, text_anchor="middle")]


def _arrow(lane: int, target: int, y: int, outward: bool) -> list[Markup]:
    kind, tip, back = ("arrow", target, -8) if outward else ("answer", lane, 8)
    points = f"{tip},{y} {tip + back},{y - 4} {tip + back},{y + 4}"
    return [
        element("line", class_=kind, x1=lane, y1=y, x2=target, y2=y),
        element("polygon", class_=f"{kind}-head", points=points),
    ]


def _label(row: _Row) -> str:
    text = _PASSES.sub(r"— \1 s pass —", row.moment.words)
    return text if row.moment.number < 0 or row.moment.kind == "note" else f"#{row.moment.number} {text}"


def _in_words(rows: Iterable[_Row], decisive: int | None) -> str:
    steps = []
    for row in rows:
        way = {"sent": "to the target: ", "received": "from the target: "}.get(row.moment.direction or "", "")
        mark = " (decisive)" if row.moment.number == decisive else ""
        steps.append(f"{_time(row.moment.protocol)} {way}{_label(row)}{mark}")
    return "; ".join(steps)


def _time(protocol: float) -> str:
    return f"{protocol:.1f} s" if protocol >= 10 or protocol == 0 else f"{protocol:.3f} s"
