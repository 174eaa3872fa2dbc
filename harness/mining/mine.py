"""From recorded runs to tables: all questions, in few passes.

Invariants:
- Frames in, tables out: it sees recorded runs and the catalogue, never a target.
- A question reads the columns that it needs from the files each time. Spark caches nothing: that was measured
  to take ten times as long.
- Small questions decide whether large ones are asked: how often repeated runs differ is asked only if some
  were repeated.
- Several questions run at a time, since a small one waits for Java's compiler rather than for a processor.
- Unreadable files are listed in ``troubles``, and the rest is mined.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor, as_completed
from functools import partial

import msgspec
import pyarrow as pa
from py4j.protocol import Py4JError
from pyspark.errors import PySparkException
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F  # noqa: N812

from harness.catalogue import Role, catalogue, profile_named
from harness.engine.coverage import Need
from harness.engine.kinds import ROLES
from harness.mining import failing
from harness.mining.queries import POPULATION, RUN_COLUMNS
from harness.mining.queries import compared as ask_compared
from harness.mining.queries import coverage as ask_coverage
from harness.mining.queries import differing as ask_differing
from harness.mining.queries import following as ask_following
from harness.mining.queries import goals as ask_goals
from harness.mining.queries import hunts as ask_hunts
from harness.mining.queries import latency as ask_latency
from harness.mining.queries import species as ask_species
from harness.mining.queries import tallies as ask_tallies
from harness.mining.reading import Records, Trouble, nothing_in, read
from harness.mining.spark import translated
from harness.mining.summaries import Row, Rows, compared, counts, latency, species
from harness.mining.tables import TABLES, made

Telling = Callable[[int, int, str], None]
"""Receives the progress: answered questions, all questions, the last answered."""

_AT_ONCE = 3
_FLAKY = 1000
"""Limit of flaky seeds that are compared step by step."""


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


def nothing(root: str) -> Mined | None:
    """What `mine` makes of a directory without runs, for which no Spark must be started; None where there may
    be some.
    """
    trouble = nothing_in(root)
    return None if trouble is None else Mined({name: made(name, []) for name in TABLES}, (trouble,))


def mine(
    spark: SparkSession,
    root: str,
    *,
    role: Role | None = None,
    against: str | None = None,
    heard: Telling = lambda *_: None,
) -> Mined:
    """Mines the records of a role below ``root``; compares them with those below ``against``, the campaign
    before. ``role`` None: that of all records below ``root``.

    Raises ``MiningError`` where Spark fails, or where there are records of several roles and none is named;
    what cannot be read is in the result.
    """
    with translated():
        records = read(spark, root, role)
        role = records.role
        earlier = read(spark, against, role) if against is not None else Records(None, ())
        try:
            tables = _mined(spark, root, records, earlier.runs, heard)
        except (PySparkException, Py4JError):
            again = read(spark, root, role, deep=True)
            once_more = read(spark, against, role, deep=True) if against is not None else earlier
            if (again.troubles, once_more.troubles) == (records.troubles, earlier.troubles):
                raise
            records, earlier = again, once_more
            tables = _mined(spark, root, records, earlier.runs, heard)
    return Mined(tables, (*records.troubles, *earlier.troubles))


def _mined(
    spark: SparkSession, root: str, records: Records, earlier: DataFrame | None, heard: Telling
) -> dict[str, pa.Table]:
    if records.runs is None:
        return {name: made(name, []) for name in TABLES}
    return _Mining(spark, root, records.runs, records.role, earlier, heard).tables()


class _Mining:
    """One mining: questions that are asked side by side, and tables made of the answers."""

    def __init__(
        self,
        spark: SparkSession,
        root: str,
        runs: DataFrame,
        role: Role,
        earlier: DataFrame | None,
        heard: Telling,
    ) -> None:
        self._spark = spark
        self._root = root
        self._runs = runs
        self._role: Role = role
        self._index = runs.select(*RUN_COLUMNS)
        self._before = None if earlier is None else earlier.select(*RUN_COLUMNS)
        self._heard = heard

    def tables(self) -> dict[str, pa.Table]:
        """All of them."""
        with ThreadPoolExecutor(_AT_ONCE) as pool:
            counting = pool.submit(_asked, ask_tallies.tallies(self._index))
            placing = pool.submit(ask_tallies.populations(ask_tallies.seeds(self._index)).toArrow)
            tallies, places = counting.result(), placing.result()
            named = {row["pop"]: {one: row[one] for one in POPULATION} for row in tallies}
            populations = [{**row, **named[row["pop"]]} for row in places.to_pylist()]
            # The longest first, so that none of them is left over at the end.
            questions: dict[str, Callable[[], Mapping[str, Rows]]] = {
                "states": lambda: self._species(populations, places),
                "latency": lambda: self._latency(tallies),
                "divergences": lambda: self._divergences(tallies),
                "coverage": lambda: self._judged(tallies),
                "latency over the run": self._over_run,
                "rules": self._following,
                "findings": lambda: failing.findings(self._runs, tallies, self._root),
                "runs": lambda: self._counted(tallies, populations),
                "flaky runs": lambda: self._flaky(tallies, populations),
                "comparison": lambda: self._compared(tallies),
            }
            rows: dict[str, Rows] = {}
            asked = {pool.submit(question): name for name, question in questions.items()}
            for done, answer in enumerate(as_completed(asked), 1):
                rows.update(answer.result())
                self._heard(done, len(questions), asked[answer])
        return {name: made(name, rows.get(name, [])) for name in TABLES}

    # --- questions about runs -------------------------------------------------------------------------------

    def _counted(self, tallies: Sequence[Row], populations: Sequence[Row]) -> Mapping[str, Rows]:
        again = any(row["dropped"] for row in populations)
        # Where no seed was played twice there are as many of them as runs.
        seeds = _asked(ask_tallies.campaign_seeds(self._index)) if again else None
        reached = _asked(ask_goals.reached(self._index))
        hunts = _asked(ask_hunts.hunts(self._index)) if any(row["mutant"] for row in tallies) else []
        return {
            "populations": counts.populations(tallies, seeds, self._role),
            "outcomes": counts.outcomes(tallies),
            "goals": counts.goals(tallies, reached, partial(_goals, self._role)),
            "mutants": counts.hunts(hunts, tallies),
        }

    def _compared(self, tallies: Sequence[Row]) -> Mapping[str, Rows]:
        if self._before is None:
            return {}
        before = _asked(ask_tallies.tallies(self._before))
        shared = _asked(ask_compared.verdicts(self._before, self._index))
        return {"regressions": compared.regressions(before, tallies, shared)}

    def _flaky(self, tallies: Sequence[Row], populations: Sequence[Row]) -> Mapping[str, Rows]:
        whole = [row for row in tallies if row["source"] != "fuzz"]
        rows = {"flakiness": counts.flakiness(whole, populations)}
        if not any(row["differing"] for row in populations):
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
        return {**rows, "flaky": counts.flaky(unlike, parted, self._role)}

    # --- questions about steps ------------------------------------------------------------------------------

    def _judged(self, tallies: Sequence[Row]) -> Mapping[str, Rows]:
        # Of `fuzz` nothing but findings was recorded: a rate of those would be of nothing.
        whole = [row for row in tallies if row["source"] != "fuzz"]
        judged = _asked(ask_coverage.judged(self._runs.where("source <> 'fuzz'")))
        has_cases = any(row["kind"] == "case" for row in tallies)
        cases = _asked(ask_coverage.cases(self._runs)) if has_cases else []
        return {
            "rates": counts.rates(whole, judged),
            "coverage": counts.coverage(whole, judged, partial(_wanted, self._role)),
            "undistinguished": counts.undistinguished(whole, judged, cases),
        }

    def _following(self) -> Mapping[str, Rows]:
        return {"rule_pairs": counts.rule_pairs(_asked(ask_following.pairs(self._runs)))}

    def _species(self, populations: Sequence[Row], places: pa.Table) -> Mapping[str, Rows]:
        again, uncounted = None, {}
        if any(row["dropped"] for row in populations):
            again = ask_species.again(self._index)
            uncounted = {row["pop"]: row["steps"] for row in _asked(ask_species.uncounted(again))}
        placed = ask_species.placed(
            self._runs, self._spark.createDataFrame(places.select(["pop", "cuts"])), again
        )
        counted = [{**row, "steps": row["steps"] - uncounted.get(row["pop"], 0)} for row in populations]
        curves = species.Curve.of(
            populations, _asked(ask_species.states(placed)), _asked(ask_species.transitions(placed))
        )
        return {
            "states": species.states(counted, curves),
            "saturation": species.saturation(counted, curves),
        }

    def _latency(self, tallies: Sequence[Row]) -> Mapping[str, Rows]:
        counted = ask_latency.by_rule(self._runs).toArrow()
        found = latency.histograms(ask_latency.bins(counted).to_pylist())
        sums = ask_latency.sums(counted).to_pylist()
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
        return {"divergences": counts.divergences(found, self._role)}


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


def _wanted(role: Role, target: str, profile: str) -> list[str]:
    """The statements that might have been judged of a target."""
    return [one.id for one in catalogue().of(role).under(profile)]


def _goals(role: Role, row: Row) -> list[str]:
    """Those that runs of this kind can reach."""
    if row["kind"] != "stateful":
        return []
    able: set[Need] = {*profile_named(row["profile"]).features}
    if not row["target"].startswith("tcp:"):
        able.add("restart")
        if ROLES[role].servers > 1:
            able.add("servers")
    if row["clock"] != "real":
        able.add("leases")
    return [goal.id for goal in ROLES[role].tally().required(able)]
