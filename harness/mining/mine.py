"""From recorded runs to tables: every question asked, in few passes.

Rules of this module:
- Frames in, tables out: it sees what was recorded and the catalogue, never a target.
- Questions that need no steps share one frame, which is kept in memory. Several are asked at a time: a small
  one waits for Java's compiler rather than for a processor.
- Failing runs are few. They are brought here; findings and what goes before them are made in Python.
- What cannot be read is told in ``troubles``, and the rest is mined.
"""

from __future__ import annotations

import shlex
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor, as_completed
from typing import Any

import msgspec
import pyarrow as pa
from py4j.protocol import Py4JError
from pyspark.errors import PySparkException
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F  # noqa: N812

from harness.catalogue import catalogue
from harness.machines.goals import Need, Tally
from harness.mining.clusters import Cluster, Failure, clusters
from harness.mining.contrast import MOST, Contrast, contrast
from harness.mining.queries import FAILING, RUN_COLUMNS
from harness.mining.queries import compared as ask_compared
from harness.mining.queries import coverage as ask_coverage
from harness.mining.queries import differing as ask_differing
from harness.mining.queries import following as ask_following
from harness.mining.queries import goals as ask_goals
from harness.mining.queries import hunts as ask_hunts
from harness.mining.queries import latency as ask_latency
from harness.mining.queries import species as ask_species
from harness.mining.queries import tallies as ask_tallies
from harness.mining.reading import Records, Trouble, read
from harness.mining.schema import LETTERS
from harness.mining.spark import translated
from harness.mining.summaries import Row, Rows, compared, counts, latency, species
from harness.mining.tables import TABLES, made

__all__ = ["Mined", "Telling", "failures_of", "mine"]

Telling = Callable[[int, int, str], None]
"""Told what is done: so many questions of so many, and the last one."""

_AT_ONCE = 3
_FLAKY = 1000
"""So many flaky seeds are looked at step by step."""
_TOLD = 500
"""So many findings are told with their program and trace."""
_FAILURE = tuple(field for field in Failure.__struct_fields__)


class Mined(msgspec.Struct, frozen=True):
    """What was learnt: every table of `harness.mining.tables`, and what could not be read."""

    tables: dict[str, pa.Table]
    troubles: tuple[Trouble, ...]

    @property
    def runs(self) -> int:
        """0: there was nothing to mine."""
        return sum(self.tables["populations"]["runs"].to_pylist())

    @property
    def steps(self) -> int:
        return sum(self.tables["populations"]["steps"].to_pylist())


def mine(
    spark: SparkSession, root: str, *, against: str | None = None, heard: Telling = lambda *_: None
) -> Mined:
    """Mines the records below ``root``; compares them with those below ``against``, the campaign before.

    Raises ``MiningError`` where Spark fails; what cannot be read is in the result.
    """
    with translated():
        records = read(spark, root)
        earlier = read(spark, against) if against is not None else Records(None, ())
        try:
            tables = _mined(spark, root, records.runs, earlier.runs, heard)
        except (PySparkException, Py4JError):
            again = read(spark, root, deep=True)
            once_more = read(spark, against, deep=True) if against is not None else earlier
            if (again.troubles, once_more.troubles) == (records.troubles, earlier.troubles):
                raise
            records, earlier = again, once_more
            tables = _mined(spark, root, records.runs, earlier.runs, heard)
    return Mined(tables, (*records.troubles, *earlier.troubles))


def _mined(
    spark: SparkSession, root: str, runs: DataFrame | None, earlier: DataFrame | None, heard: Telling
) -> dict[str, pa.Table]:
    if runs is None:
        return {name: made(name, []) for name in TABLES}
    index = runs.select(*RUN_COLUMNS).persist()
    before = earlier.select(*RUN_COLUMNS).persist() if earlier is not None else None
    try:
        return _Mining(spark, root, runs, index, before, heard).tables()
    finally:
        for frame in (index, before):
            if frame is not None:
                frame.unpersist()


class _Mining:
    """One mining: questions that are asked side by side, and tables made of the answers."""

    def __init__(
        self,
        spark: SparkSession,
        root: str,
        runs: DataFrame,
        index: DataFrame,
        before: DataFrame | None,
        heard: Telling,
    ) -> None:
        self._spark = spark
        self._root = root
        self._runs = runs
        self._index = index
        self._before = before
        self._heard = heard

    def tables(self) -> dict[str, pa.Table]:
        """All of them."""
        tallies = _asked(ask_tallies.tallies(self._index))
        questions: dict[str, Callable[[], Mapping[str, Rows]]] = {
            "states": self._species,
            "latency": lambda: self._latency(tallies),
            "findings": lambda: self._findings(tallies),
            "divergences": lambda: self._divergences(tallies),
            "latency over the run": self._over_run,
            "coverage": lambda: self._judged(tallies),
            "rules": self._following,
            "runs": lambda: self._counted(tallies),
            "flaky runs": lambda: self._flaky(tallies),
            "comparison": lambda: self._compared(tallies),
        }
        rows: dict[str, Rows] = {}
        with ThreadPoolExecutor(_AT_ONCE) as pool:
            asked = {pool.submit(question): name for name, question in questions.items()}
            for done, answer in enumerate(as_completed(asked), 1):
                rows.update(answer.result())
                self._heard(done, len(questions), asked[answer])
        return {name: made(name, rows.get(name, [])) for name in TABLES}

    # --- questions about runs -------------------------------------------------------------------------------

    def _counted(self, tallies: Sequence[Row]) -> Mapping[str, Rows]:
        seeds = _asked(ask_tallies.campaign_seeds(self._index))
        reached = _asked(ask_goals.reached(self._index))
        hunts = _asked(ask_hunts.hunts(self._index)) if any(row["mutant"] for row in tallies) else []
        return {
            "populations": counts.populations(tallies, seeds),
            "outcomes": counts.outcomes(tallies),
            "goals": counts.goals(tallies, reached, _goals),
            "mutants": counts.hunts(hunts, tallies),
        }

    def _compared(self, tallies: Sequence[Row]) -> Mapping[str, Rows]:
        if self._before is None:
            return {}
        before = _asked(ask_tallies.tallies(self._before))
        shared = _asked(ask_compared.verdicts(self._before, self._index))
        return {"regressions": compared.regressions(before, tallies, shared)}

    def _flaky(self, tallies: Sequence[Row]) -> Mapping[str, Rows]:
        repeated = _asked(ask_differing.repeated(self._index))
        whole = [row for row in tallies if row["source"] != "fuzz"]
        rows = {"flakiness": counts.flakiness(whole, repeated)}
        if not any(row["differing"] for row in repeated):
            return rows
        unlike = _asked(ask_differing.unlike(self._index).orderBy("seed", "run_a").limit(_FLAKY))
        pairs = self._spark.createDataFrame(
            [(row["run_a"], row["run_b"]) for row in unlike], "a string, b string"
        )
        steps = ("run_id", *ask_differing.STEPS)
        several = [one for row in unlike for one in (row["run_a"], row["run_b"])]
        chosen = self._runs.where(F.col("run_id").isin(several))
        played = ask_differing.compact(chosen).select(*steps)
        sides = [played.select(*(F.col(one).alias(f"{one}_{side}") for one in steps)) for side in "ab"]
        joined = pairs.join(sides[0], F.col("a") == F.col("run_id_a")).join(
            sides[1], F.col("b") == F.col("run_id_b")
        )
        parted = {(row["a"], row["b"]): row for row in _asked(ask_differing.parted(joined))}
        return {**rows, "flaky": counts.flaky(unlike, parted)}

    # --- questions about steps ------------------------------------------------------------------------------

    def _judged(self, tallies: Sequence[Row]) -> Mapping[str, Rows]:
        # Of `fuzz` nothing but findings was recorded: a rate of those would be of nothing.
        whole = [row for row in tallies if row["source"] != "fuzz"]
        judged = _asked(ask_coverage.judged(self._runs.where("source <> 'fuzz'")))
        has_cases = any(row["kind"] == "case" for row in tallies)
        cases = _asked(ask_coverage.cases(self._runs)) if has_cases else []
        return {
            "rates": counts.rates(whole, judged),
            "coverage": counts.coverage(whole, judged, _statements),
            "undistinguished": counts.undistinguished(whole, judged, cases),
        }

    def _following(self) -> Mapping[str, Rows]:
        return {"rule_pairs": counts.rule_pairs(_asked(ask_following.pairs(self._runs)))}

    def _species(self) -> Mapping[str, Rows]:
        seeds = ask_species.once(self._index)
        found = ask_species.cuts(seeds).toArrow()
        populations = found.to_pylist()
        ends = self._spark.createDataFrame(found)
        again = seeds.where("times > 1") if any(row["dropped"] for row in populations) else None
        placed = ask_species.placed(self._runs, ends, again)
        curves = species.Curve.of(
            _asked(ask_species.blocks(seeds, ends)),
            _asked(ask_species.states(placed)),
            _asked(ask_species.transitions(placed)),
        )
        return {
            "states": species.states(populations, curves),
            "saturation": species.saturation(populations, curves),
        }

    def _latency(self, tallies: Sequence[Row]) -> Mapping[str, Rows]:
        steps = ask_latency.by_rule(self._runs).persist()
        try:
            found = latency.histograms(_asked(ask_latency.bins(steps)))
            sums = _asked(ask_latency.sums(steps))
        finally:
            steps.unpersist()
        return {
            "latency": latency.percentiles(found, sums),
            "latency_hist": latency.histogram(found),
            "drift": latency.drift(sums),
            "latency_effect": latency.effects(found, _reference(tallies)),
        }

    def _over_run(self) -> Mapping[str, Rows]:
        return {"latency_over_run": latency.over_run(_asked(ask_latency.over_run(self._runs)))}

    def _divergences(self, tallies: Sequence[Row]) -> Mapping[str, Rows]:
        reference = _reference(tallies)
        if not any(target != other for target, other in reference.items()):
            return {}
        found = _asked(ask_differing.divergences(self._runs, reference))
        return {"divergences": counts.divergences(found)}

    # --- findings -------------------------------------------------------------------------------------------

    def _findings(self, tallies: Sequence[Row]) -> Mapping[str, Rows]:
        failing = self._runs.where(F.col("outcome").isin(*FAILING))
        failures = failures_of(self._runs)
        found = clusters(failures)
        best = [cluster.failures[0].run_id for cluster in found[:_TOLD]]
        told = {
            row["run_id"]: row
            for row in _asked(
                failing.where(F.col("run_id").isin(best)).select("run_id", "shrunk_program", "trace")
            )
        }
        return {
            "findings": [
                self._finding(number, cluster, told.get(cluster.failures[0].run_id, {}))
                for number, cluster in enumerate(found, 1)
            ],
            "contrasts": self._contrasts(failures, tallies),
        }

    def _finding(self, number: int, cluster: Cluster, told: Row) -> dict[str, Any]:
        best = cluster.failures[0]
        trace = told.get("trace")
        seeds = sorted({failure.seed for failure in cluster.failures})
        if trace:
            replay = ["replay", f"{self._root.rstrip('/')}/{trace}", best.target]
        else:
            replay = [
                "campaign",
                best.target,
                "--profile",
                best.profile,
                "--seed",
                str(best.seed),
                "--runs",
                "1",
            ]
        return {
            **{one: getattr(best, one) for one in ("target", "statement", "invariant", "anomaly", "mutant")},
            **{one: getattr(best, one) for one in ("run_id", "campaign", "seed")},
            **{one: getattr(best, one) for one in ("confirmed_shown", "confirmed_tried")},
            "finding": number,
            "runs": len(cluster.failures),
            "seeds": ", ".join(map(str, seeds[:5])) + (", …" if len(seeds) > 5 else ""),
            "shortest_steps": len(best.shrunk_ops or best.played),
            "rules": _rules(cluster.letters, ", "),
            "program": told.get("shrunk_program"),
            "shrunk": cluster.shrunk,
            "statements": ", ".join(cluster.statements),
            "trace": trace,
            "replay": shlex.join(["rmq-harness", *replay]),
        }

    def _contrasts(self, failures: Iterable[Failure], tallies: Sequence[Row]) -> Rows:
        groups: defaultdict[tuple[str, str], list[Failure]] = defaultdict(list)
        for failure in failures:
            groups[failure.target, failure.statement].append(failure)
        targets = sorted({target for target, _ in groups})
        passing = self._passing(targets, tallies)
        return [
            _contrasted(one)
            for (target, _), group in sorted(groups.items())
            for one in contrast(group, passing[target])
        ]

    def _passing(self, targets: Sequence[str], tallies: Sequence[Row]) -> Mapping[str, list[tuple[str, int]]]:
        """Letters and seeds of some passing runs of each target: more than are looked at, chosen by seed."""
        found: defaultdict[str, list[tuple[str, int]]] = defaultdict(list)
        if not targets:
            return found
        passed: Counter[str] = Counter()
        for row in tallies:
            passed[row["target"]] += row["runs"] if row["outcome"] == "pass" else 0
        one_in = F.coalesce(
            *(F.when(F.col("target") == one, max(1, passed[one] // (2 * MOST))) for one in targets), F.lit(1)
        )
        chosen = self._runs.where(
            F.col("target").isin(*targets)
            & (F.col("outcome") == "pass")
            & (F.pmod(F.xxhash64("seed"), one_in) == 0)
        )
        for row in _asked(chosen.select("target", "ops", "seed")):
            found[row["target"]].append((row["ops"], row["seed"]))
        return found


def failures_of(runs: DataFrame) -> list[Failure]:
    """The failing runs, here."""
    failing = runs.where(F.col("outcome").isin(*FAILING))
    filled = failing.withColumn("statement", F.coalesce("statement", F.lit("")))
    return [Failure(**row) for row in _asked(filled.select(*_FAILURE))]


def _contrasted(one: Contrast) -> dict[str, Any]:
    columns = ("failing_with", "failing", "passing_with", "passing")
    return {
        **{
            name: getattr(one, name)
            for name in ("target", "statement", "round", "g2", "held_g2", "confirmed")
        },
        "pattern": _rules(one.letters, " … "),
        **dict(zip(columns, one.found, strict=True)),
        **dict(zip((f"held_{name}" for name in columns), one.held, strict=True)),
    }


def _rules(letters: str, between: str) -> str:
    return between.join(LETTERS.get(letter, letter) for letter in letters)


def _asked(frame: DataFrame) -> Rows:
    """The answer, here."""
    rows: Rows = frame.toArrow().to_pylist()
    return rows


def _reference(tallies: Iterable[Row]) -> dict[str, str]:
    """What each target is compared with: the built-in reference where it was run, else the first by name."""
    targets = sorted({row["target"] for row in tallies}, key=_by_soundness)
    return dict.fromkeys(targets, targets[0])


def _by_soundness(target: str) -> tuple[bool, bool, str]:
    return "mutant=" in target, not target.startswith("builtin:"), target


def _statements(profile: str) -> list[str]:
    """Those of the catalogue that a profile has."""
    return [one.id for one in catalogue().statements if profile in one.profiles]


def _goals(row: Row) -> list[str]:
    """Those that runs of this kind can reach."""
    if row["kind"] != "stateful":
        return []
    able: set[Need] = set()
    if row["profile"] != "4.9":
        able.add("five")
    if not row["target"].startswith("tcp:"):
        able |= {"restart", "servers"}
    if row["clock"] != "real":
        able.add("leases")
    return [goal.id for goal in Tally.required(able)]
