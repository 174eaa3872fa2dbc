"""The sections of the page, in the order in which one asks: how often, why, what was not reached, how fast.

Rules of this module: a function for each section, from the tables to markup. Each says how it is read, each
number stands with its denominator, and where there is nothing it says what that means.
"""

from __future__ import annotations

from collections.abc import Sequence

from harness.mining.page import measures, plots
from harness.mining.page.amounts import Row, count, interval, percent, plural, share
from harness.mining.page.parts import TARGET, Cell, Tables, link, rows_table, section, told
from harness.report.markup import Markup, element, join

__all__ = ["never_judged", "never_met", "sections"]

_PROFILE: Cell = ("Profile", lambda row: row["profile"], "text")
_STATEMENT: Cell = ("Statement", lambda row: row["statement"] or "any failure", "mono")
_FAILED: Cell = ("Failed", lambda row: share(row["failed"], row["runs"]), "number")
_MANY = 60


def sections(tables: Tables, *, against: str | None) -> Markup:
    """All of them but the findings."""
    return join(
        [
            _rates(tables),
            _changes(tables, against),
            _reasons(tables),
            _unreached(tables),
            measures.states(tables),
            measures.followers(tables),
            measures.latency(tables),
            _flaky(tables),
            _divergences(tables),
            _mutants(tables),
            _populations(tables),
        ]
    )


def _rates(tables: Tables) -> Markup:
    rows = tables["rates"]
    failed = [row for row in rows if row["failed"]]
    cells: list[Cell] = [
        _STATEMENT,
        TARGET,
        _PROFILE,
        _FAILED,
        ("Rate", lambda row: percent(row["rate"]), "number"),
        ("95 % interval", lambda row: interval(row["low"], row["high"]), "number"),
    ]
    clean = [row for row in rows if not row["failed"] and row["runs"]]
    rule = None
    if clean:
        least, most = min(row["runs"] for row in clean), max(row["runs"] for row in clean)
        said = (
            f"{share(len(clean), len(rows))} pairs of target and statement were judged and never failed. "
            f"After {count(most)} runs without a failure the true rate is below "
            f"{percent(min(1.0, 3 / most))} with 95 % confidence (the rule of three)"
        )
        if least < most:
            said += f", after {count(least)}, the fewest, below {percent(min(1.0, 3 / least))}"
        rule = element("p", f"{said}.")
    return section(
        "rates",
        "How often",
        f"{share(len(failed), len(rows))} pairs of target and statement failed",
        "The dot is the share of runs in which the statement was decisive, of the runs that judged it; the "
        "line is where the true share lies with 95 % confidence (Wilson). Lines that do not overlap differ.",
        told(plots.rates(rows)),
        rows_table("rates", failed, cells, "No statement failed in any run."),
        rule,
        _left_out(tables),
    )


def _left_out(tables: Tables) -> Markup | None:
    """Of recorded fuzzing only what failed is there: a share of that would be of nothing."""
    runs = sum(row["runs"] for row in tables["populations"] if row["source"] == "fuzz")
    said = f"{plural(runs, 'run')} recorded by fuzz are not in these rates: only what failed was recorded."
    return element("p", said, class_="note") if runs else None


def _changes(tables: Tables, against: str | None) -> Markup:
    rows = tables["regressions"]
    outcomes = told(plots.campaigns(tables["outcomes"]))
    if against is None:
        small, empty = "not compared", "No earlier campaign was given to compare with (--against DIR)."
    else:
        small = f"against {against}: {sum(row['verdict'] == 'worse' for row in rows)} worse, "
        small += f"{sum(row['verdict'] == 'better' for row in rows)} better, of {len(rows)} compared"
        empty = "Nothing could be compared: the two have no target and profile in common."
    cells: list[Cell] = [
        _STATEMENT,
        TARGET,
        ("Verdict", _verdict, "text"),
        ("Before", lambda row: share(row["before_failed"], row["before_runs"]), "number"),
        ("After", lambda row: share(row["after_failed"], row["after_runs"]), "number"),
        ("Shared seeds", lambda row: count(row["shared_seeds"]), "number"),
        ("Chance", lambda row: f"{row['p_holm']:.2g}", "number"),
    ]
    return section(
        "changes",
        "What got worse",
        small,
        "The ring is the share of failing runs before, the dot after. Worse and better are said only where "
        "the difference would come by chance in less than 5 % of such comparisons, corrected for how many "
        "were made (Holm); where both played the same seeds, they are compared seed by seed (McNemar).",
        told(plots.changes(rows)),
        rows_table("regressions", rows, cells, empty),
        join([element("h3", "Targets side by side"), outcomes]) if outcomes else None,
    )


def _verdict(row: Row) -> Markup:
    tone = {"worse": "fail", "better": "pass"}.get(row["verdict"], "quiet")
    sign = {"worse": "▲", "better": "▼"}.get(row["verdict"], "=")
    return element("span", f"{sign} {row['verdict']}", class_=tone)


def _reasons(tables: Tables) -> Markup:
    rows = sorted(tables["contrasts"], key=lambda row: not row["confirmed"])
    cells: list[Cell] = [
        ("Steps before it", lambda row: row["pattern"], "mono"),
        _STATEMENT,
        TARGET,
        ("Of failing", lambda row: share(row["held_failing_with"], row["held_failing"]), "number"),
        ("Of passing", lambda row: share(row["held_passing_with"], row["held_passing"]), "number"),
        ("G²", lambda row: f"{row['held_g2']:.1f}", "number"),
        ("Confirmed", lambda row: "yes" if row["confirmed"] else "no", "text"),
    ]
    return section(
        "reasons",
        "What goes before a failure",
        f"{share(sum(row['confirmed'] for row in rows), len(rows))} patterns confirmed",
        "Kinds of step, in this order and with others between them, that come before a failure far more "
        "often than in passing runs. Found in one half of the seeds; the numbers are of the other half, "
        "which had no part in the choice. What a pattern explains is taken out before the next is looked "
        "for.",
        rows_table(
            "contrasts", rows, cells, "There were no failures, or no pattern stood out from passing runs."
        ),
    )


def never_met(goals: Sequence[Row]) -> tuple[list[Row], int]:
    """The goals that no run of any target reached, with their runs; and how many goals there are."""
    runs: dict[tuple[str, str], int] = {}
    reached: dict[tuple[str, str], int] = {}
    for row in goals:
        key = (row["goal"], row["profile"])
        runs[key] = runs.get(key, 0) + row["runs"]
        reached[key] = reached.get(key, 0) + row["reached"]
    missed: list[Row] = [
        {"goal": goal, "profile": profile, "runs": runs[goal, profile]}
        for goal, profile in sorted(runs)
        if not reached[goal, profile]
    ]
    return missed, len(runs)


def never_judged(coverage: Sequence[Row]) -> tuple[list[tuple[str, str]], int]:
    """Profile and id of the statements that no run of any target judged; and how many there are."""
    every = {(row["profile"], row["statement"]) for row in coverage}
    judged = {(row["profile"], row["statement"]) for row in coverage if row["judged_runs"]}
    return sorted(every - judged), len(every)


def _unreached(tables: Tables) -> Markup:
    missed, goals = never_met(tables["goals"])
    unjudged, statements = never_judged(tables["coverage"])
    partly = sum(not row["reached"] for row in tables["goals"])
    goal_cells: list[Cell] = [
        ("Goal", lambda row: row["goal"], "mono"),
        _PROFILE,
        ("Reached", lambda row: f"{share(0, row['runs'])} runs", "number"),
        ("At most", lambda row: percent(min(1.0, 3 / row["runs"])), "number"),
    ]
    by_profile: dict[str, list[str]] = {}
    for profile, statement in unjudged:
        by_profile.setdefault(profile, []).append(statement)
    lists = [
        element(
            "details",
            element("summary", f"{plural(len(never), 'statement')} of profile {profile} in no run"),
            element("p", ", ".join(never), class_="inside mono"),
        )
        for profile, never in sorted(by_profile.items())
    ]
    alike = tables["undistinguished"]
    alike_cells: list[Cell] = [
        ("Statement or case", lambda row: row["id"], "mono"),
        ("Targets", lambda row: count(row["targets"]), "number"),
        _FAILED,
    ]
    return section(
        "unreached",
        "What was never reached",
        f"{share(len(missed), goals)} goals, {share(len(unjudged), statements)} statements",
        "A goal is a situation that runs should come into, such as a promotion beside a live master. What "
        "was never reached was never tested, whatever else is green. “At most” is what its true share can "
        "be, with 95 % confidence.",
        element("h3", "Goals never met"),
        rows_table(
            "goals",
            missed,
            goal_cells,
            "Every goal was met in some run." if goals else "These runs have no goals.",
        ),
        element(
            "p",
            f"Target by target, {share(partly, len(tables['goals']))} goals were not met: ",
            link("tables/goals.csv", "goals.csv"),
            ".",
            class_="note",
        )
        if partly
        else None,
        element("h3", "Statements never judged"),
        *(lists or [element("p", "Every statement was judged in some run.", class_="quiet")]),
        element("h3", "What told no two targets apart"),
        rows_table(
            "undistinguished",
            alike,
            alike_cells,
            "Nothing: there were not several targets, or every statement told some two of them apart.",
            10,
        ),
    )


def _flaky(tables: Tables) -> Markup:
    rows = tables["flakiness"]
    cells: list[Cell] = [
        TARGET,
        ("Flaky runs", lambda row: share(row["flaky_runs"], row["runs"]), "number"),
        ("95 % interval", lambda row: interval(row["low"], row["high"]), "number"),
        ("Seeds with several outcomes", lambda row: share(row["differing"], row["repeated"]), "number"),
    ]
    shown = [row for row in rows if row["flaky_runs"] or row["repeated"]]
    seeds: list[Cell] = [
        ("Seed", lambda row: str(row["seed"]), "mono"),
        TARGET,
        ("Outcomes", lambda row: row["outcomes"], "text"),
        ("First difference", _parting, "text"),
    ]
    runs = sum(row["runs"] for row in rows)
    return section(
        "flaky",
        "Flaky",
        f"{share(sum(row['flaky_runs'] for row in rows), runs)} runs",
        "A flaky run failed and did not fail again on a fresh target: it says as much of the machine as of "
        "the target. A seed that was played several times with different outcomes is told with the first "
        "step that differed.",
        rows_table(
            "flakiness",
            shown,
            cells,
            f"None of {plural(runs, 'run')} was flaky, and no seed was played twice.",
        ),
        rows_table("flaky", tables["flaky"], seeds, "", 10) if tables["flaky"] else None,
    )


def _parting(row: Row) -> str:
    if row["first_step"] is None:
        return "none before the end"
    return f"step {row['first_step'] + 1}, {row['rule'] or 'none'}: {row['differs']}"


def _divergences(tables: Tables) -> Markup:
    rows = tables["divergences"]
    cells: list[Cell] = [
        ("Step", lambda row: row["rule"] or "–", "mono"),
        ("What", _divergence, "text"),
        TARGET,
        ("Seeds", lambda row: share(row["seeds"], row["of_seeds"]), "number"),
        ("Share", lambda row: percent(row["share"]), "number"),
        ("For example", _example, "mono"),
    ]
    reference = rows[0]["reference"] if rows else ""
    return section(
        "divergences",
        "Where targets differ",
        f"compared with {reference}" if rows else "",
        "The same programs on several targets: the first step whose answer was another, by kind. A "
        "difference is no failure: the catalogue may allow both.",
        rows_table(
            "divergences",
            rows,
            cells,
            "No seed was played on two targets, or all that were came out the same.",
            20,
        ),
    )


def _example(row: Row) -> str:
    step = row["example_step"]
    return f"seed {row['example_seed']}" + (f", step {step + 1}" if step is not None else "")


def _divergence(row: Row) -> str:
    if row["kind"] != "response code":
        return str(row["kind"])
    codes = ("none" if code is None else str(code) for code in (row["code_a"], row["code_b"]))
    return f"response code {' → '.join(codes)}"


def _mutants(tables: Tables) -> Markup:
    rows = tables["mutants"]
    if not rows:
        return Markup("")
    found = {row["mutant"] for row in rows if row["failed"]}
    every = {row["mutant"] for row in rows}
    cells: list[Cell] = [
        ("Mutant", lambda row: row["mutant"], "mono"),
        ("Machine", lambda row: row["kind"], "text"),
        _FAILED,
        (
            "95 % interval",
            lambda row: (
                interval(row["low"], row["high"]) if row["failed"] else f"below {percent(row['at_most'])}"
            ),
            "number",
        ),
        ("Steps to the first", lambda row: count(row["steps_to_first"]), "number"),
        ("Runs to the first", lambda row: count(row["runs_to_first"]), "number"),
        ("Named", lambda row: row["statement"] or "–", "mono"),
    ]
    return section(
        "mutants",
        "How soon mutants are found",
        f"{share(len(found), len(every))} mutants found",
        "A mutant is the reference with one deliberate fault. The fewer steps it takes to the first "
        "failure, the better the machine hunts; one that is not found is a hole in what these runs can see.",
        told(plots.hunts(rows)),
        element(
            "details",
            element("summary", f"All {plural(len(rows), 'row')}"),
            element("div", rows_table("mutants", rows, cells, "", 400), class_="inside"),
        ),
    )


def _populations(tables: Tables) -> Markup:
    rows = tables["populations"]
    cells: list[Cell] = [
        TARGET,
        ("Campaign", lambda row: row["campaign"], "text"),
        ("Version", lambda row: row["version"], "text"),
        _PROFILE,
        ("Generator", lambda row: row["generator"], "text"),
        ("Clock", lambda row: row["clock"], "text"),
        ("Runs", lambda row: count(row["runs"]), "number"),
        ("Seeds", lambda row: count(row["seeds"]), "number"),
        ("Steps", lambda row: count(row["steps"]), "number"),
        ("Passed", lambda row: share(row["passed"], row["runs"]), "number"),
    ]
    return section(
        "populations",
        "What was mined",
        plural(len(rows), "population"),
        "Runs that may be counted together: of one campaign, target, version, profile and generator.",
        rows_table("populations", rows, cells, "Nothing.", _MANY),
    )
