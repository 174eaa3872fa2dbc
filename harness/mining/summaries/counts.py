"""Tables that are counts and shares."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence

from harness.catalogue import Role
from harness.mining.queries import FAILING, POPULATION
from harness.mining.schema import LETTERS
from harness.mining.summaries import Row, Rows, bounded, rated

_OUTCOMES = {
    "pass": "passed",
    "fail": "failed",
    "quirk": "quirk",
    "flaky": "flaky",
    "timeout": "timeout",
    "died": "died",
    "error": "error",
}
_PLACE = ("campaign", *POPULATION, "source", "kind", "clock")
_Key = tuple[str, ...]


def _keyed(row: Row, columns: Sequence[str]) -> _Key:
    return tuple(row[one] or "" for one in columns)


def _plain(key: _Key, columns: Sequence[str]) -> dict[str, str | None]:
    named = dict(zip(columns, key, strict=True))
    return {name: (value or None) if name == "mutant" else value for name, value in named.items()}


def _summed(rows: Iterable[Row], columns: Sequence[str], of: str = "runs") -> Counter[_Key]:
    counted: Counter[_Key] = Counter()
    for row in rows:
        counted[_keyed(row, columns)] += row[of]
    return counted


def populations(tallies: Sequence[Row], seeds: Iterable[Row] | None, role: Role) -> Rows:
    """What was run. ``seeds`` is None where no seed was played twice."""
    several = _summed(tallies, _PLACE) if seeds is None else _summed(seeds, _PLACE, "seeds")
    groups: defaultdict[_Key, list[Row]] = defaultdict(list)
    for row in tallies:
        groups[_keyed(row, _PLACE)].append(row)
    return [
        {
            **_plain(key, _PLACE),
            "runs": sum(row["runs"] for row in group),
            "seeds": several[key],
            "steps": sum(row["steps"] or 0 for row in group),
            **{
                name: sum(row["runs"] for row in group if row["outcome"] == outcome)
                for outcome, name in _OUTCOMES.items()
            },
            "started": min((row["started"] for row in group if row["started"]), default=None),
            "ended": max((row["ended"] for row in group if row["ended"]), default=None),
            "elapsed_s": sum(row["elapsed_us"] or 0 for row in group) / 1e6,
            "role": role,
        }
        for key, group in sorted(groups.items())
    ]


def outcomes(tallies: Sequence[Row]) -> Rows:
    """What came of the runs."""
    columns = ("campaign", "target", "profile")
    of = _summed(tallies, columns)
    return [
        {
            **_plain(key, (*columns, "outcome")),
            "runs": runs,
            "of": of[key[:-1]],
            **rated(runs, of[key[:-1]], "share"),
        }
        for key, runs in sorted(_summed(tallies, (*columns, "outcome")).items())
    ]


def _failed(tallies: Iterable[Row], columns: Sequence[str]) -> Counter[_Key]:
    return _summed((row for row in tallies if row["outcome"] in FAILING and row["statement"]), columns)


def rates(tallies: Sequence[Row], judged: Sequence[Row]) -> Rows:
    """How often each statement failed; a run in which it was decisive has judged it."""
    columns = ("target", "profile", "statement")
    failed, runs = _failed(tallies, columns), _summed(judged, columns)
    rows = [
        {
            **_plain(key, columns),
            "runs": of,
            "failed": failed[key],
            **bounded(failed[key], of),
        }
        for key in runs.keys() | failed.keys()
        for of in [max(runs[key], failed[key])]
    ]
    return sorted(rows, key=lambda row: (-float(row["rate"]), *(row[one] for one in columns)))


def coverage(
    tallies: Sequence[Row], judged: Sequence[Row], wanted: Callable[[str, str], Iterable[str]]
) -> Rows:
    """In how many runs each statement was judged; ``wanted`` gives those of a target and profile."""
    columns = ("target", "profile", "statement")
    of = _summed(tallies, columns[:2])
    counted, failed = _summed(judged, columns), _failed(tallies, columns)
    keys = {(*place, statement) for place in of for statement in wanted(*place)}
    rows = [
        {
            **_plain(key, columns),
            "runs": of[key[:2]],
            "judged_runs": max(counted[key], failed[key]),
            "failed": failed[key],
        }
        for key in keys | counted.keys() | failed.keys()
    ]
    return sorted(rows, key=lambda row: (row["judged_runs"], *(row[one] for one in columns)))


def undistinguished(tallies: Sequence[Row], judged: Sequence[Row], cases: Iterable[Row]) -> Rows:
    """Statements and cases that several targets were judged by, and that failed on all of them or on none."""
    columns = ("statement", "target")
    bad = _summed((r for r in tallies if r["outcome"] in (*FAILING, "quirk") and r["statement"]), columns)
    seen = _summed(judged, columns)
    results: defaultdict[tuple[str, str], dict[str, tuple[int, int]]] = defaultdict(dict)
    for key in seen.keys() | bad.keys():
        results["statement", key[0]][key[1]] = (max(seen[key], bad[key]), bad[key])
    for row in cases:
        results["case", row["id"]][row["target"]] = (row["runs"], row["failed"])
    rows = [
        {
            "kind": kind,
            "id": name,
            "targets": len(targets),
            "runs": sum(runs for runs, _ in targets.values()),
            "failed": sum(failed for _, failed in targets.values()),
        }
        for (kind, name), targets in results.items()
        if len(targets) > 1 and len({failed > 0 for _, failed in targets.values()}) == 1
    ]
    return sorted(rows, key=lambda row: (-int(str(row["runs"])), row["kind"], row["id"]))


def goals(tallies: Sequence[Row], reached: Iterable[Row], wanted: Callable[[Row], Iterable[str]]) -> Rows:
    """In how many runs each goal was reached; ``wanted`` gives those that runs of a tally can reach."""
    columns = ("target", "profile", "generator")
    of = _summed(tallies, columns)
    counted = _summed(reached, (*columns, "goal"), "reached")
    keys = {(*_keyed(row, columns), goal) for row in tallies for goal in wanted(row)}
    rows = [
        {
            **_plain(key, (*columns, "goal")),
            "runs": of[key[:3]],
            "reached": counted[key],
            **bounded(counted[key], of[key[:3]], "share"),
        }
        for key in keys | counted.keys()
    ]
    return sorted(rows, key=lambda row: (row["reached"], *(row[one] for one in (*columns, "goal"))))


def rule_pairs(pairs: Sequence[Row]) -> Rows:
    """How often a rule was followed by another."""
    columns = ("target", "profile", "rule", "next_rule")
    of = _summed(pairs, columns[:3], "times")
    return [
        {**_plain(key, columns), "times": times, "of": of[key[:3]], "share": times / of[key[:3]]}
        for key, times in sorted(_summed(pairs, columns, "times").items())
    ]


def flakiness(tallies: Sequence[Row], populations: Sequence[Row]) -> Rows:
    """How often runs, and seeds, were not the same again."""
    columns = ("target", "version")
    of = _summed(tallies, columns)
    unsure = _summed((row for row in tallies if row["outcome"] == "flaky"), columns)
    again, unlike = (_summed(populations, columns, one) for one in ("repeated", "differing"))
    rows: Rows = []
    for key in sorted(of):
        several, differing = again[key], unlike[key]
        shares = rated(differing, several, "repeated_rate", "repeated_low", "repeated_high")
        rows.append(
            {
                **_plain(key, columns),
                "runs": of[key],
                "flaky_runs": unsure[key],
                **rated(unsure[key], of[key]),
                "repeated": several,
                "differing": differing,
                **(shares if several else dict.fromkeys(shares)),
            }
        )
    return rows


def flaky(unlike: Iterable[Row], parted: Mapping[tuple[str, str], Row], role: Role) -> Rows:
    """Seeds with different outcomes. ``parted`` tells of two runs how they differ."""
    rows = [
        {
            **{one: row[one] for one in ("target", "version", "profile", "generator", "seed")},
            **{one: row[one] for one in ("attempts", "outcomes", "run_a", "run_b", "statement")},
            **{
                name: found[column] if found else None
                for name, column in (("first_step", "step"), ("differs", "differs"))
            },
            "rule": LETTERS[role].get(found["letter"]) if found else None,
        }
        for row in unlike
        for found in [parted.get((row["run_a"], row["run_b"]))]
    ]
    keys = ("target", "version", "profile", "generator", "seed", "run_a")
    return sorted(rows, key=lambda row: tuple(row[one] for one in keys))


def divergences(found: Sequence[Row], role: Role) -> Rows:
    """Seeds by how a target differs from the reference."""
    place = ("reference", "target", "profile")
    of = _summed(found, place, "seeds")
    rows = [
        {
            **{one: row[one] for one in (*place, "code_a", "code_b", "seeds")},
            "rule": LETTERS[role].get(row["letter"]),
            "kind": row["differs"],
            "of_seeds": of[_keyed(row, place)],
            "share": row["seeds"] / of[_keyed(row, place)],
            "example_seed": row["example_seed"],
            "example_step": row["example_step"],
        }
        for row in found
        if row["differs"] is not None
    ]
    keys = (*place, "kind", "rule", "code_a", "code_b")
    return sorted(rows, key=lambda row: (-row["seeds"], *(str(row[one]) for one in keys)))


def hunts(found: Iterable[Row], tallies: Iterable[Row]) -> Rows:
    """How long it took to find each mutant, and the statement that failed most often."""
    columns = ("mutant", "target", "profile", "kind", "generator")
    statements: defaultdict[_Key, Counter[str]] = defaultdict(Counter)
    for (*key, statement), runs in _failed(tallies, (*columns, "statement")).items():
        statements[tuple(key)][statement] += runs
    rows: Rows = []
    for row in found:
        by_statement = statements[_keyed(row, columns)]
        rows.append(
            {
                **{one: row[one] for one in (*columns, "runs", "failed")},
                **bounded(row["failed"], row["runs"]),
                **{one: row[one] for one in ("first_seed", "runs_to_first", "steps_to_first")},
                "statement": min(by_statement, key=lambda one: (-by_statement[one], one), default=None),
            }
        )
    return sorted(rows, key=lambda row: tuple(row[one] for one in columns))
