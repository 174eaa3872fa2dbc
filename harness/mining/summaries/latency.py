"""How long answers take, from histograms and sums."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence

from harness.mining.queries.latency import WIDTH
from harness.mining.stats.histograms import a12, edges, quantile, size_of
from harness.mining.stats.trends import Sums, slope_of_batches
from harness.mining.summaries import Row, Rows

_RARE = 10_000
"""With fewer steps the thousandth slowest says nothing."""
_STEPS = 1000
"""The steps that a slope is for."""

Histograms = dict[tuple[str, str], Counter[int]]


def histograms(bins: Iterable[Row]) -> Histograms:
    """By target and rule."""
    found: defaultdict[tuple[str, str], Counter[int]] = defaultdict(Counter)
    for row in bins:
        found[row["target"], row["rule"]][row["bin"]] += row["n"]
    return dict(sorted(found.items()))


def histogram(of: Histograms) -> Rows:
    """The bins."""
    return [
        {"target": target, "rule": rule, "bin": number, "steps": bins[number], "low_us": low, "high_us": high}
        for (target, rule), bins in of.items()
        for number in sorted(bins)
        for low, high in [edges(number)]
    ]


def percentiles(of: Histograms, sums: Iterable[Row]) -> Rows:
    """Means and percentiles."""
    whole: Counter[tuple[str, str]] = Counter()
    for row in sums:
        whole[row["target"], row["rule"]] += row["y"]
    return [
        {
            "target": target,
            "rule": rule,
            "steps": (steps := bins.total()),
            "mean_us": whole[target, rule] / steps,
            **{f"p{share}_us": quantile(bins, share / 100) for share in (50, 90, 95, 99)},
            "p999_us": quantile(bins, 0.999) if steps >= _RARE else None,
        }
        for (target, rule), bins in of.items()
    ]


def over_run(parts: Iterable[Row]) -> Rows:
    """From the beginning of the runs to their end."""
    found: defaultdict[tuple[str, int], Counter[int]] = defaultdict(Counter)
    faults: Counter[tuple[str, int]] = Counter()
    for row in parts:
        found[row["target"], row["part"]][row["bin"]] += row["n"]
        faults[row["target"], row["part"]] += row["faults"]
    return [
        {
            "target": target,
            "from_step": part * WIDTH,
            "to_step": (part + 1) * WIDTH - 1,
            "steps": bins.total(),
            **{f"p{share}_us": quantile(bins, share / 100) for share in (50, 95, 99)},
            "faults": faults[target, part],
        }
        for (target, part), bins in sorted(found.items())
    ]


def drift(sums: Sequence[Row]) -> Rows:
    """Rules that get slower, or faster, the longer a run goes on; the others behind them."""
    groups: defaultdict[tuple[str, str], list[Row]] = defaultdict(list)
    for row in sums:
        groups[row["target"], row["rule"]].append(row)
    rows: Rows = []
    for (target, rule), group in groups.items():
        batches = [Sums(row["n"], row["x"], row["y"], row["xx"], row["xy"]) for row in group]
        found = slope_of_batches(batches)
        if found is None:
            continue
        slope, interval = found
        steps = sum(row["n"] for row in group)
        rows.append(
            {
                "target": target,
                "rule": rule,
                "steps": steps,
                "slope_us": slope * _STEPS,
                "low": interval.low * _STEPS,
                "high": interval.high * _STEPS,
                "mean_us": sum(row["y"] for row in group) / steps,
                "drifts": not interval.low <= 0 <= interval.high,
            }
        )
    return sorted(
        rows, key=lambda row: (not row["drifts"], -abs(row["slope_us"]), row["target"], row["rule"])
    )


def effects(of: Histograms, reference: dict[str, str]) -> Rows:
    """Targets against their reference, rule by rule."""
    rows: Rows = []
    for (target, rule), bins in of.items():
        first = reference.get(target)
        other = of.get((first, rule)) if first is not None and first != target else None
        if other is None:
            continue
        effect = a12(bins, other)
        rows.append(
            {
                "rule": rule,
                "target_a": first,
                "target_b": target,
                "steps_a": other.total(),
                "steps_b": bins.total(),
                "p50_a_us": quantile(other, 0.5),
                "p50_b_us": quantile(bins, 0.5),
                "a12": effect,
                "size": size_of(effect),
            }
        )
    keys = ("rule", "target_a", "target_b")
    return sorted(rows, key=lambda row: (-abs(row["a12"] - 0.5), *(row[one] for one in keys)))
