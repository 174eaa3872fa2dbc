"""Two campaigns compared."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence

from harness.mining.queries import FAILING
from harness.mining.stats.proportions import fisher, holm, mcnemar, newcombe
from harness.mining.summaries import Row, Rows

_SURE = 0.05
_SHARED = 0.5
"""So large a part of the smaller campaign must be shared seeds; else its runs are compared unpaired."""
_ANY = ""

_Place = tuple[str, str]


def regressions(before: Sequence[Row], after: Sequence[Row], shared: Iterable[Row]) -> Rows:
    """What fails more often, or less, than it did. ``before`` and ``after`` are tallies, ``shared`` counts
    seeds that both have played by the statements that failed in each.
    """
    runs = _runs(before), _runs(after)
    failed = _failed(before), _failed(after)
    pairs: defaultdict[_Place, Counter[tuple[str | None, str | None]]] = defaultdict(Counter)
    for row in shared:
        pairs[row["target"], row["profile"]][row["before"], row["after"]] += row["seeds"]
    rows: Rows = []
    for place in sorted(runs[0].keys() & runs[1].keys()):
        paired = pairs[place].total() >= _SHARED * min(runs[0][place], runs[1][place])
        for statement in sorted({_ANY} | failed[0][place].keys() | failed[1][place].keys()):
            a, b = failed[0][place][statement], failed[1][place][statement]
            of_a, of_b = runs[0][place], runs[1][place]
            only_a, only_b = _apart(pairs[place], statement)
            interval = newcombe(a, of_a, b, of_b)
            rows.append(
                {
                    "target": place[0],
                    "profile": place[1],
                    "statement": statement,
                    "method": "mcnemar" if paired else "fisher",
                    "before_runs": of_a,
                    "before_failed": a,
                    "after_runs": of_b,
                    "after_failed": b,
                    "shared_seeds": pairs[place].total(),
                    "only_before": only_a,
                    "only_after": only_b,
                    "difference": b / of_b - a / of_a,
                    "low": interval.low,
                    "high": interval.high,
                    "p": mcnemar(only_a, only_b) if paired else fisher(a, of_a, b, of_b),
                }
            )
    for row, corrected in zip(rows, holm([row["p"] for row in rows]), strict=True):
        more = row["only_after"] - row["only_before"] if row["method"] == "mcnemar" else row["difference"]
        row["p_holm"] = corrected
        row["verdict"] = "same" if corrected > _SURE else "worse" if more > 0 else "better"
    return sorted(
        rows, key=lambda row: (row["p_holm"], row["p"], row["target"], row["profile"], row["statement"])
    )


def _runs(tallies: Iterable[Row]) -> Counter[_Place]:
    counted: Counter[_Place] = Counter()
    for row in tallies:
        counted[row["target"], row["profile"]] += row["runs"]
    return counted


def _failed(tallies: Iterable[Row]) -> defaultdict[_Place, Counter[str]]:
    counted: defaultdict[_Place, Counter[str]] = defaultdict(Counter)
    for row in tallies:
        if row["outcome"] in FAILING:
            counted[row["target"], row["profile"]][_ANY] += row["runs"]
            counted[row["target"], row["profile"]][row["statement"] or "?"] += row["runs"]
    return counted


def _apart(pairs: Counter[tuple[str | None, str | None]], statement: str) -> tuple[int, int]:
    """Seeds that failed only before, and only after."""

    def fails(decisive: str | None) -> bool:
        return decisive is not None if statement == _ANY else decisive == statement

    only_before = sum(n for (a, b), n in pairs.items() if fails(a) and not fails(b))
    only_after = sum(n for (a, b), n in pairs.items() if fails(b) and not fails(a))
    return only_before, only_after
