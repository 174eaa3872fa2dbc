"""The figures of the page, one function for each: from the rows of a table to a drawing."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from typing import Any

import msgspec
from markupsafe import Markup
from matplotlib.patches import Rectangle
from matplotlib.ticker import FuncFormatter, LogLocator, MaxNLocator, NullFormatter

from harness.mining.page.amounts import Row, count, first_word, micros, percent, share
from harness.mining.page.figure import COLOURS, LINES, draw
from harness.report.text import visible

_ROWS = 24
_HUNTED = 60
_ROW = 0.34
_SERIES = len(LINES)
_LABEL, _SHORT = 74, 26
_FAR = 2.5
"""How many times the states that were seen a line may stand above them."""
_SCALE = (0.01, 0.1, 0.25, 0.5, 1.0)
"""Shares that the key of a grid shows."""


class Drawn(msgspec.Struct, frozen=True):
    """A figure, and a note on what it leaves out for want of room."""

    figure: Markup
    note: str = ""


def rates(rows: Sequence[Row]) -> Drawn | None:
    """Failure rate of each statement, with its interval; of ``rates``."""
    failed = [row for row in rows if row["failed"]]
    if not failed:
        return None
    several = len({(row["target"], row["profile"]) for row in failed}) > 1
    shown = failed[:_ROWS]

    def paint(figure: Any) -> None:
        axes = figure.subplots()
        for at, row in enumerate(shown):
            _whisker(axes, at, row["rate"], row["low"], row["high"], COLOURS.fail)
            where = f" · {_target(row['target'])}" if several else ""
            said = f"{share(row['failed'], row['runs'])} ({percent(row['rate'])})"
            _row_label(axes, at, f"{row['statement']}{where}", said)
        _rows_of(axes, len(shown), "failed runs, of those that judged the statement")
        axes.xaxis.set_major_formatter(FuncFormatter(lambda value, _: percent(value)))
        axes.set_xlim(0, min(1.0, 1.08 * max(row["high"] for row in shown)))

    figure = draw("rates", "Failure rates with 95 % intervals", 0.6 + _ROW * len(shown), paint)
    return Drawn(figure, _left_out(len(shown), len(failed), "rows with failures"))


def changes(rows: Sequence[Row]) -> Drawn | None:
    """Failure rate of each statement in two campaigns; of ``regressions``."""
    shown = [row for row in rows if row["before_failed"] or row["after_failed"]][:_ROWS]
    if not shown:
        return None
    tones = {"worse": COLOURS.fail, "better": COLOURS.good}

    def paint(figure: Any) -> None:
        axes = figure.subplots()
        for at, row in enumerate(shown):
            before = row["before_failed"] / row["before_runs"] if row["before_runs"] else 0.0
            after = row["after_failed"] / row["after_runs"] if row["after_runs"] else 0.0
            tone = tones.get(row["verdict"], COLOURS.soft)
            axes.plot([before, after], [at, at], color=tone, linewidth=2)
            ring = {"markerfacecolor": "none", "markersize": 6, "clip_on": False}
            axes.plot([before], [at], "o", color=COLOURS.soft, **ring)
            axes.plot([after], [at], "o", color=tone, markersize=6, clip_on=False)
            said = f"{row['verdict']}: {percent(before)} → {percent(after)}"
            _row_label(axes, at, f"{row['statement'] or 'any failure'} · {_target(row['target'])}", said)
        _rows_of(axes, len(shown), "share of the runs that failed: ring before, dot after")
        axes.xaxis.set_major_formatter(FuncFormatter(lambda value, _: percent(value)))
        axes.set_xlim(left=0)

    figure = draw("changes", "Failure rates before and after", 0.6 + _ROW * len(shown), paint)
    return Drawn(figure, _left_out(len(shown), len(rows), "comparisons"))


def campaigns(rows: Sequence[Row]) -> Drawn | None:
    """Campaigns side by side: the share of failing runs of each; of ``outcomes``."""
    failing = {
        (row["campaign"], row["target"], row["profile"]): row for row in rows if row["outcome"] == "fail"
    }
    every = {(row["campaign"], row["target"], row["profile"]): row["of"] for row in rows}
    if len(every) < 2:
        return None
    order = sorted(every, key=lambda key: (-failing[key]["share"] if key in failing else 0.0, key))
    shown = order[:_ROWS]
    several = len({key[0] for key in every}) > 1

    def paint(figure: Any) -> None:
        axes = figure.subplots()
        right = 0.0
        for at, key in enumerate(shown):
            row = failing.get(key)
            if row is not None:
                _whisker(axes, at, row["share"], row["low"], row["high"], COLOURS.fail)
                right = max(right, row["high"])
            failed = row["runs"] if row is not None else 0
            rate = row["share"] if row is not None else 0.0
            label = f"{key[1]} · {key[2]}" + (f" · {key[0]}" if several else "")
            _row_label(axes, at, label, f"{share(failed, every[key])} failed ({percent(rate)})")
        _rows_of(axes, len(shown), "share of the runs that failed")
        axes.xaxis.set_major_formatter(FuncFormatter(lambda value, _: percent(value)))
        axes.set_xlim(0, min(1.0, 1.08 * right) or 1.0)

    figure = draw("campaigns", "Share of failing runs by campaign", 0.6 + _ROW * len(shown), paint)
    return Drawn(figure, _left_out(len(shown), len(order), "pairs of campaign and target"))


def saturation(rows: Sequence[Row], states: Sequence[Row]) -> Drawn | None:
    """States by number of runs, and the estimate of new ones; of ``saturation`` and ``states``."""
    groups: dict[tuple[Any, ...], list[Row]] = {}
    for row in rows:
        groups.setdefault(_population(row), []).append(row)
    bounds = {_population(row): row["chao2"] for row in states}
    order = sorted(groups, key=lambda key: (key[3] is not None, -groups[key][-1]["runs"], str(key)))
    shown = order[:_SERIES]
    if not shown:
        return None

    def paint(figure: Any) -> None:
        above, below = figure.subplots(2, 1, sharex=True, height_ratios=(3, 2))
        for key, (colour, line, mark) in zip(shown, LINES, strict=False):
            series = groups[key]
            runs = [row["runs"] for row in series]
            above.plot(runs, [row["states"] for row in series], line, color=colour, label=_called(key))
            if len(shown) == 1 and bounds.get(key):
                _bound(above, bounds[key], series[-1]["states"])
            expected = [(row["runs"], row["expected_new"]) for row in series if row["expected_new"]]
            actual = [(row["runs"], row["actual_new"]) for row in series if row["actual_new"]]
            below.plot(*_columns(expected), line, color=colour, label="expected")
            below.plot(*_columns(actual), mark, color=colour, markerfacecolor="none", label="found")
        above.set_ylabel("distinct states")
        above.set_ylim(bottom=0)
        # One below the other: names of targets are long, and what is beside the figure is cut off.
        figure.legend(*above.get_legend_handles_labels(), loc="outside upper left", fontsize=8)
        below.set_ylabel("new states per run (log)")
        below.set_xlabel("runs   (below: line is the estimate, marks are what the next runs found)")
        if any(row["expected_new"] or row["actual_new"] for key in shown for row in groups[key]):
            below.set_yscale("log")
            below.yaxis.set_major_locator(LogLocator(subs=(1, 2, 5)))
            below.yaxis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:g}"))
            below.yaxis.set_minor_formatter(NullFormatter())
        for axes in (above, below):
            axes.grid(axis="y")
            axes.set_xlim(left=0)
        for axis in (above.yaxis, below.xaxis):
            axis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:,.0f}"))

    figure = draw("saturation", "Distinct states by number of runs", 4.2, paint)
    return Drawn(figure, _left_out(len(shown), len(order), "populations"))


def latency(rows: Sequence[Row]) -> Drawn | None:
    """Latency along a run, for each target; of ``latency_over_run``."""
    groups: dict[str, list[Row]] = {}
    for row in rows:
        groups.setdefault(row["target"], []).append(row)
    order = sorted(groups, key=lambda target: (-sum(row["steps"] for row in groups[target]), target))
    shown = order[:_SERIES]
    if not shown:
        return None
    most = max((row["faults"] / row["steps"] for row in rows if row["steps"]), default=0.0)

    def paint(figure: Any) -> None:
        panels = figure.subplots(len(shown), 1, sharex=True, sharey=True, squeeze=False)[:, 0]
        for axes, target in zip(panels, shown, strict=True):
            series = groups[target]
            middle = [(row["from_step"] + row["to_step"]) / 2 for row in series]
            for row in series:
                if row["faults"]:
                    alpha = 0.08 + 0.3 * (row["faults"] / row["steps"]) / most
                    span = (row["from_step"], row["to_step"] + 1)
                    axes.axvspan(*span, color=COLOURS.warn, alpha=round(alpha, 3), linewidth=0)
            for (colour, line, mark), name in zip(
                (LINES[0], LINES[1], (COLOURS.fail, "-.", "^")), ("p50", "p95", "p99"), strict=True
            ):
                values = [row[f"{name}_us"] for row in series]
                axes.plot(middle, values, line, marker=mark, color=colour, label=name)
            axes.set_title(f"{_cut(target)} · {count(sum(row['steps'] for row in series))} steps")
            axes.set_yscale("log")
            axes.set_ylabel("answer time (log)")
            axes.yaxis.set_major_formatter(FuncFormatter(lambda value, _: micros(value)))
            axes.yaxis.set_minor_formatter(NullFormatter())
            axes.grid(axis="y")
        panels[0].legend(ncols=3, fontsize=8, loc="upper right", bbox_to_anchor=(1.0, 1.18))
        panels[-1].set_xlabel("step of the run   (shaded: steps with injected faults, stronger for more)")
        panels[-1].set_xlim(left=0)

    figure = draw("latency", "Latency over a run, faults shaded", 0.6 + 1.7 * len(shown), paint)
    return Drawn(figure, _left_out(len(shown), len(order), "targets"))


def followers(rows: Sequence[Row]) -> Drawn | None:
    """Which kind of step follows which, over all targets; of ``rule_pairs``."""
    pairs: dict[tuple[str, str], int] = {}
    for row in rows:
        key = (row["rule"], row["next_rule"])
        pairs[key] = pairs.get(key, 0) + row["times"]
    if not pairs:
        return None
    names = sorted({name for pair in pairs for name in pair})
    begun = {name: sum(pairs.get((name, other), 0) for other in names) for name in names}

    def paint(figure: Any) -> None:
        axes = figure.subplots()
        for (first, then), times in sorted(pairs.items()):
            box = (names.index(then) - 0.5, names.index(first) - 0.5)
            axes.add_patch(_box(box, colour=COLOURS.info, alpha=_strength(times / begun[first])))
        never = [(first, then) for first in names for then in names if (first, then) not in pairs]
        axes.plot(
            [names.index(then) for _, then in never],
            [names.index(first) for first, _ in never],
            "x",
            color=COLOURS.soft,
            markersize=3,
            linewidth=0,
        )
        axes.set_xlim(-0.5, len(names) - 0.5)
        axes.set_ylim(len(names) - 0.5, -0.5)
        axes.set_xticks(range(len(names)), [_cut(name, _SHORT) for name in names], rotation=90)
        axes.set_yticks(range(len(names)), [f"{_cut(name, _SHORT)} ({count(begun[name])})" for name in names])
        axes.tick_params(length=0)
        axes.set_xlabel("next step")
        axes.set_ylabel("step (count)")
        for side in ("left", "bottom"):
            axes.spines[side].set_visible(False)
        scale = [_box((0, 0), colour=COLOURS.info, alpha=_strength(part)) for part in _SCALE]
        shares = [percent(part) for part in _SCALE]
        figure.legend(scale, shares, title="share of next steps", loc="outside upper left", ncols=len(_SCALE))

    return Drawn(draw("followers", "Transitions between steps", 2.4 + 0.17 * len(names), paint))


def hunts(rows: Sequence[Row]) -> Drawn | None:
    """Steps to the first failure of each mutant, hardest first; of ``mutants``."""
    order = sorted(rows, key=lambda row: (-(row["steps_to_first"] or math.inf), row["mutant"], row["kind"]))
    shown = order[:_HUNTED]
    if not shown:
        return None
    kinds = sorted({row["kind"] for row in rows})
    marks = {kind: LINES[at % _SERIES] for at, kind in enumerate(kinds)}
    most = max((row["steps_to_first"] or 1 for row in shown), default=1)

    def paint(figure: Any) -> None:
        axes = figure.subplots()
        for at, row in enumerate(shown):
            colour, _, mark = marks[row["kind"]]
            label = row["mutant"] + (f" ({row['kind']})" if len(kinds) > 1 else "")
            if row["steps_to_first"] is None:
                said = f"not found in {count(row['runs'])} runs"
            else:
                axes.plot([1, row["steps_to_first"]], [at, at], color=COLOURS.line, linewidth=1)
                axes.plot([row["steps_to_first"]], [at], mark, color=colour, markersize=5)
                said = f"{count(row['steps_to_first'])} steps, run {count(row['runs_to_first'])}"
            tone = COLOURS.fail if row["steps_to_first"] is None else COLOURS.ink
            _row_label(axes, at, label, said, tone)
        _rows_of(axes, len(shown), "steps to the first failure (logarithmic)")
        axes.set_xscale("log")
        axes.set_xlim(1, 2 * max(most, 10))
        axes.xaxis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:,.0f}"))

    figure = draw("hunts", "Steps to the first failure of each mutant", 0.6 + _ROW * len(shown), paint)
    return Drawn(figure, _left_out(len(shown), len(order), "mutants"))


# --- what the figures share ---------------------------------------------------------------------------------


def _whisker(axes: Any, at: int, value: float, low: float, high: float, colour: str) -> None:
    axes.plot([low, high], [at, at], color=colour, linewidth=1.6)
    axes.plot([value], [at], "o", color=colour, markersize=5, clip_on=False)


def _row_label(axes: Any, at: int, name: str, said: str, tone: str = COLOURS.ink) -> None:
    """Above its row, so that long names leave the drawing its width."""
    place = {
        "xycoords": ("axes fraction", "data"),
        "textcoords": "offset points",
        "va": "bottom",
        "fontsize": 8,
        "zorder": 1,  # over the grid, under the marks
        "bbox": {"facecolor": COLOURS.ground, "edgecolor": "none", "pad": 0.4},
    }
    axes.annotate(_cut(name), (0, at), (2, 3), ha="left", color=tone, **place)
    axes.annotate(said, (1, at), (0, 3), ha="right", color=COLOURS.soft, **place)


def _rows_of(axes: Any, rows: int, label: str) -> None:
    axes.set_ylim(rows - 0.5, -0.9)
    axes.set_yticks([])
    axes.spines["left"].set_visible(False)
    axes.set_xlabel(label)
    axes.grid(axis="x")
    axes.xaxis.set_major_locator(MaxNLocator(6))


def _box(corner: tuple[float, float], *, colour: str, alpha: float) -> Any:
    return Rectangle(corner, 1, 1, facecolor=colour, alpha=alpha, linewidth=0)


def _strength(part: float) -> float:
    """How strong the colour of a share is: its square root, so that small shares can be told apart."""
    return round(min(1.0, 0.06 + 0.94 * math.sqrt(part)), 3)


def _bound(axes: Any, bound: float, seen: int) -> None:
    """The least number of states: a line, unless it would press the curve flat."""
    words = f"at least {count(round(bound))} states are reachable (Chao2)"
    style = {"textcoords": "offset points", "color": COLOURS.soft, "fontsize": 8}
    if bound > _FAR * seen:
        axes.annotate(f"{words}, far above this figure", (0, 1), (4, -10), xycoords="axes fraction", **style)
        return
    axes.axhline(bound, color=COLOURS.soft, linestyle=":", linewidth=1)
    axes.annotate(words, (0, bound), (4, -10), xycoords=("axes fraction", "data"), **style)


def _columns(pairs: Iterable[tuple[float, float]]) -> tuple[list[float], list[float]]:
    both = list(pairs)
    return [x for x, _ in both], [y for _, y in both]


def _population(row: Row) -> tuple[Any, ...]:
    return (row["target"], row["version"], row["profile"], row["mutant"], row["generator"])


def _target(uri: str) -> str:
    """A short name for a mutant of the reference."""
    _, mark, name = uri.partition("?mutant=")
    return f"mutant {name}" if mark else uri


def _called(key: tuple[Any, ...]) -> str:
    return _cut(f"{_target(key[0])} · {key[2]} · {first_word(key[4])}")


def _cut(text: str, most: int = _LABEL) -> str:
    text = visible(text)
    return text if len(text) <= most else f"{text[: most - 1]}…"


def _left_out(shown: int, every: int, noun: str) -> str:
    left = every - shown
    verb = "is" if left == 1 else "are"
    return f"{left:,} of {every:,} {noun} {verb} not drawn; the table has them all." if left > 0 else ""
