"""States and transitions: what was seen, and what there must be beside."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from harness.mining.queries import POPULATION
from harness.mining.queries.species import CHECKED
from harness.mining.queries.tallies import BLOCKS
from harness.mining.stats.species import chao2, new_per_run, unseen
from harness.mining.summaries import Row, Rows


def states(populations: Iterable[Row], curves: Mapping[int, Curve]) -> Rows:
    """The whole of each population; the curves are by its number, ``pop``."""
    rows: Rows = []
    for row in populations:
        blocks = curves[row["pop"]]
        once, twice, met, seen = (blocks.whole(one) for one in ("once", "twice", "met", "states"))
        rows.append(
            {
                **{one: row[one] for one in POPULATION},
                "runs": row["runs"],
                "dropped": row["dropped"],
                "steps": row["steps"],
                "states": seen,
                "once": once,
                "twice": twice,
                "transitions": blocks.whole("transitions"),
                "new_per_run": new_per_run(once, row["runs"]),
                "chao2": chao2(seen, once, twice, row["runs"]),
                "unseen_mass": unseen(once, twice, met, row["runs"]),
            }
        )
    return sorted(rows, key=_place)


def saturation(populations: Iterable[Row], curves: Mapping[int, Curve]) -> Rows:
    """The curve of each population, and the estimates along it beside what came."""
    rows: Rows = []
    for row in populations:
        curve = curves[row["pop"]]
        runs = seen = steps = 0
        blocks = [number for number in range(BLOCKS) if curve.get(number, "runs")]
        for number, after in zip(blocks, [*blocks[1:], None], strict=True):
            runs += curve.get(number, "runs")
            seen += curve.get(number, "states")
            steps += curve.get(number, "transitions")
            once = None
            if after is None:
                once = curve.whole("once")
            elif number + 1 in CHECKED:
                once = sum(curve.get(block, f"once_{number + 1}") for block in range(number + 1))
            following = curve.get(after, "runs") if after is not None and once is not None else None
            rows.append(
                {
                    **{one: row[one] for one in POPULATION},
                    "runs": runs,
                    "states": seen,
                    "transitions": steps,
                    "expected_new": None if once is None else new_per_run(once, runs),
                    "actual_new": curve.get(after, "states") / following if following else None,
                    "next_runs": following,
                }
            )
    return sorted(rows, key=lambda row: (*_place(row), row["runs"]))


def sizes(runs: int) -> list[int]:
    """Runs in each block. The blocks end at quantiles of the seeds, which are all different, so that the
    place of a seed among them decides, and not what it is.
    """
    upto = [(runs - 1) * number // BLOCKS + 1 if runs else 0 for number in range(1, BLOCKS)]
    return [after - before for before, after in zip([0, *upto], [*upto, runs], strict=True)]


class Curve:
    """Counts by block and by name, of a population; what was not counted is 0."""

    def __init__(self, runs: int) -> None:
        self._counts = {(block, "runs"): size for block, size in enumerate(sizes(runs))}

    def add(self, row: Row) -> None:
        """Takes over all counts of a row."""
        for name, count in row.items():
            if name not in ("pop", "block"):
                self._counts[row["block"], name] = count

    def get(self, block: int | None, name: str) -> int:
        return 0 if block is None else self._counts.get((block, name), 0)

    def whole(self, name: str) -> int:
        """Of all blocks together."""
        return sum(self.get(block, name) for block in range(BLOCKS))

    @staticmethod
    def of(populations: Iterable[Row], *tables: Iterable[Row]) -> dict[int, Curve]:
        """By the number of the population."""
        curves = {row["pop"]: Curve(row["runs"]) for row in populations}
        for table in tables:
            for row in table:
                curves[row["pop"]].add(row)
        return curves


def _place(row: Mapping[str, Any]) -> tuple[str, ...]:
    return tuple(row[one] or "" for one in POPULATION)
