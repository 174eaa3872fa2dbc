"""The sequence diagram of a trace, as SVG that stands alone or inside a page.

Invariants:

1. Pure: events in, text out. The same events give the same bytes.
2. One lifeline for each connection and one for each target; time runs down. Times are protocol time, because
   statements speak of that. Where it passes without traffic, the lifelines are cut.
3. Frames that only keep connections busy are folded into one line with their number. A long trace is cut
   around the decisive frame, and the cut says how many rows it hides.
4. Colours come from the page's scheme, light or dark; colour is never the only sign.
5. ``<desc>`` has the same steps in words.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

import msgspec
from markupsafe import Markup

from harness.report.frames import RESTARTS, Moment, moments
from harness.report.templating import filled
from harness.trace import Event

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
_PASSES = re.compile(r"advance ([\d.]+) s")


class _Row(msgspec.Struct, frozen=True):
    moment: Moment
    folded: int = 0
    """How many moments this row stands for; 0 where it is one of its own."""


class _Life(msgspec.Struct):
    """A lifeline: its name and place, and from where to where it is drawn."""

    name: str
    x: int
    begun: int
    end: int


class _Drawn(msgspec.Struct, frozen=True, kw_only=True):
    """A row, as the template draws it."""

    number: int
    y: int
    shape: str
    """``passing``, ``note``, ``sent``, ``received``, ``closed``, ``broken`` or ``opened``."""
    label: str
    tone: str
    """Class of the label."""
    time: str
    """Protocol time, where it is not that of the row above."""
    hover: str
    lane: int
    target: int
    cuts: list[int]
    """Lifelines that are drawn here."""
    end: int
    """Where a connection is closed: on the side that closes it."""
    decisive: bool
    about: Sequence[str]


def sequence_diagram(
    events: Sequence[Event],
    decisive: int | None = None,
    *,
    style: bool = True,
    title: Sequence[str] = (),
    about: Sequence[str] = (),
) -> Markup:
    """The diagram; ``decisive`` is the number of the event to mark, ``about`` is written below it.

    With ``style`` false the page must hold `palette.css` and `diagram.css` once; with it the SVG can be a
    file of its own, for which ``title`` is the head.
    """
    everything = moments(events)
    rows = _cut(_fold(everything, decisive), decisive, len(everything))
    connections = sorted({m.connection for m in everything if m.connection is not None})
    lanes = {connection: _TIME + 24 + index * _STEP for index, connection in enumerate(connections)}
    last_lane = max(lanes.values(), default=_TIME)
    longest = max((len(_label(row)) for row in rows), default=0)
    widest = max((len(line) for line in about), default=0)
    target = int(last_lane + max(_MIN_LABEL, longest * _CHARACTER + 110, widest * _CHARACTER + 40))
    servers = 1 + max((m.server for m in everything), default=0)
    targets = [target + number * _BETWEEN for number in range(servers)]
    top = _TOP + len(title) * 20
    width = max(targets[-1] + 60, int(max((len(line) for line in title), default=0) * 8.6) + 30)
    lives: dict[int | None, _Life] = {
        connection: _Life(f"conn {connection}", x, top - 20, 0) for connection, x in lanes.items()
    }
    y = _live(rows, lives, top, decisive, len(about))
    height = y + 24
    ends = [
        _Life(f"target {number}" if servers > 1 else "target", x, top - 20, height - 10)
        for number, x in enumerate(targets)
    ]
    return filled(
        "report/templates/diagram.svg.j2",
        title=title,
        words=_in_words(rows, decisive),
        style=style,
        width=width,
        height=height,
        top=top - 30,
        time_x=_TIME,
        lives=[*lives.values(), *ends],
        last=targets[-1],
        last_lane=last_lane,
        middle=(targets[0] + last_lane) // 2,
        rows=_drawn(rows, lives, targets, top, decisive, about, height - 10),
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
    return f"{frames} frame{'s' if frames != 1 else ''} of the harness's own (keep-alive, probes, waits)"


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


def _live(
    rows: Iterable[_Row], lives: dict[int | None, _Life], top: int, decisive: int | None, about: int
) -> int:
    """Sets where the lifeline of each connection begins and ends; where the last row ends."""
    y = top
    for row in rows:
        moment = row.moment
        life = lives.get(moment.connection)
        if moment.kind == "opened" and life is not None:
            life.begun, life.end = y + 20, 0
        elif moment.ends and life is not None:
            life.end = y + 20
        y += _ROW + (about * _LINE if _is_marked(moment, decisive) else 0)
    return y


def _drawn(
    rows: Iterable[_Row],
    lives: dict[int | None, _Life],
    targets: Sequence[int],
    top: int,
    decisive: int | None,
    about: Sequence[str],
    bottom: int,
) -> list[_Drawn]:
    drawn: list[_Drawn] = []
    shown, y = "", top + 20
    for each in lives.values():
        each.end = each.end or bottom
    for row in rows:
        moment = row.moment
        marked, time = _is_marked(moment, decisive), _time(moment.protocol)
        life = lives.get(moment.connection)
        lane, target = (life.x if life is not None else _TIME), targets[moment.server]
        shape, tone = _shape(moment, drawable=life is not None, decisive=marked)
        drawn.append(
            _Drawn(
                number=moment.number,
                y=y,
                shape=shape,
                label=_label(row),
                tone=tone,
                time="" if time == shown else time,
                hover=f"event {moment.number}, {time} of protocol time, {moment.real:.6f} s of real time",
                lane=lane,
                target=target,
                cuts=[*(one.x for one in lives.values() if one.begun <= y < one.end), *targets],
                end=target if moment.direction == "received" else lane,
                decisive=marked,
                about=about if marked else (),
            )
        )
        shown = time
        y += _ROW + (len(about) * _LINE if marked else 0)
    return drawn


def _is_marked(moment: Moment, decisive: int | None) -> bool:
    return moment.number == decisive and moment.number >= 0


def _shape(moment: Moment, *, drawable: bool, decisive: bool) -> tuple[str, str]:
    """How a moment is drawn, and the class of its label."""
    quiet = "mark" if decisive else "soft"
    if moment.kind == "note" and _PASSES.fullmatch(moment.label):
        return "passing", "head"
    if moment.kind == "note" or not drawable:
        return "note", "fault" if moment.label in RESTARTS else "soft"
    if moment.kind in ("frame", "bytes"):
        odd = moment.kind == "bytes" or moment.segments > 1
        return moment.direction or "sent", "mark" if decisive else "fault" if odd else ""
    if moment.kind == "closed":
        hard = moment.direction == "received" or "resets" in moment.label
        return ("broken", "fault") if hard else ("closed", quiet)
    return "opened", quiet


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
