"""The data dictionary: what each column of each table of mining means, and the page that says so.

A column that means the same in several tables stands once, under its own name; one that means something else
in a table stands under ``table.column``.
"""

from __future__ import annotations

from typing import Final

from harness.mining.schema import COLUMNS
from harness.mining.tables import TABLES
from harness.report.templating import filled_markdown

MEANINGS: Final[dict[str, str]] = {
    # --- which runs
    "campaign": "name of the campaign, or of the recorded run that was read",
    "role": "what the target is: `nameserver` or `broker`",
    "target": "URI of the target",
    "version": "what the target says it is: 5.3.3, builtin 5.3, or its description",
    "profile": "the profile that judged it",
    "mutant": "name of the mutant; null if the target is none",
    "generator": "kind and revision of what made the programs",
    "source": "command that made the runs: campaign, check, fuzz or diff",
    "kind": "stateful, frames, history, controller or pair; case for check; diff for diff",
    "undistinguished.kind": "statement or case",
    "divergences.kind": "what differs first: operation, answer, response code or outcome",
    "clock": "virtual, warped or real",
    "started": "start of the first run",
    "ended": "end of the last run",
    "elapsed_s": "sum of the real seconds of all runs",
    # --- counts
    "runs": "number of runs",
    "rates.runs": "the denominator: runs that judged the statement",
    "outcomes.runs": "runs with this outcome",
    "findings.runs": "runs that are this finding",
    "seeds": "number of distinct seeds",
    "divergences.seeds": "seeds with this first difference",
    "findings.seeds": "the first five seeds that show it",
    "steps": "number of steps, over all runs",
    "latency_hist.steps": "answers in this bin",
    "passed": "runs in which every judged answer is allowed",
    "failed": "runs that broke a statement",
    "rates.failed": "runs in which this statement was the decisive one",
    "coverage.failed": "runs in which this statement was the decisive one",
    "quirk": "runs that met a named quirk",
    "flaky": "runs whose failure did not recur on a fresh target",
    "timeout": "runs that exceeded their deadline",
    "died": "runs whose target died or did not start",
    "error": "runs in which the harness failed",
    "outcome": "pass, fail, quirk, flaky, timeout, died or error",
    "of": "the denominator: all runs of the target",
    "rule_pairs.of": "the denominator: all steps of this rule that have a successor",
    "share": "the count divided by its denominator",
    # --- rates and comparisons
    "statement": "id of the decisive statement",
    "regressions.statement": "id of the statement; empty: any failure",
    "mutants.statement": "the statement that failed most often; null if none did",
    "findings.statement": "the most telling statement whose case fails, else the decisive one",
    "rate": "failed runs divided by runs",
    "flakiness.rate": "flaky runs divided by runs",
    "low": "lower end of Wilson's 95 % interval of the rate",
    "high": "upper end of Wilson's 95 % interval of the rate",
    "regressions.low": "lower end of Newcombe's 95 % interval of the difference",
    "regressions.high": "upper end of Newcombe's 95 % interval of the difference",
    "drift.low": "lower end of the 99.9 % interval of the slope, in microseconds per 1,000 steps",
    "drift.high": "upper end of the 99.9 % interval of the slope, in microseconds per 1,000 steps",
    "at_most": "rule of three: upper bound of the rate if the count is 0; null otherwise",
    "method": "mcnemar if both campaigns executed the same seeds, else fisher",
    "before_runs": "runs of the earlier campaign",
    "before_failed": "failed runs of the earlier campaign",
    "after_runs": "runs of the later campaign",
    "after_failed": "failed runs of the later campaign",
    "shared_seeds": "seeds that both executed",
    "only_before": "shared seeds that failed only in the earlier campaign",
    "only_after": "shared seeds that failed only in the later campaign",
    "difference": "later rate minus earlier rate",
    "p": "p-value of the test",
    "p_holm": "p-value after Holm's correction for the number of tests",
    "verdict": "worse, better or same",
    # --- states
    "dropped": "runs left out because they repeat a program",
    "states": "distinct server states seen",
    "once": "states that exactly one run saw",
    "twice": "states that exactly two runs saw",
    "transitions": "distinct pairs of a state and the next",
    "new_per_run": "Good–Turing estimate: new states that the next run will see",
    "chao2": "lower bound of the number of states that such runs can reach",
    "unseen_mass": "probability that a state met in the next run is new",
    "expected_new": "Good–Turing estimate of new states per run at this point",
    "actual_new": "new states per run that the next runs saw",
    "next_runs": "number of runs behind `actual_new`",
    "rule": "kind of step",
    "next_rule": "kind of the step that follows immediately",
    "times": "how often it followed",
    # --- coverage
    "goal": "id of the goal",
    "reached": "runs that reached the goal",
    "judged_runs": "runs that held an answer against the statement",
    "id": "id of the statement or name of the case",
    "targets": "number of targets whose result is the same",
    # --- time
    "mean_us": "mean time to the answer, in real microseconds",
    **{
        f"p{name}_us": f"time within which {share} % of the answers came, in real microseconds"
        for name, share in (("50", "50"), ("90", "90"), ("95", "95"), ("99", "99"))
    },
    "p999_us": "time within which 99.9 % of the answers came; null below 10,000 steps",
    "bin": "number of the bin, on a logarithmic scale",
    "low_us": "lower end of the bin, in real microseconds",
    "high_us": "upper end of the bin, in real microseconds",
    "from_step": "first step of the part, from 0",
    "to_step": "last step of the part",
    "faults": "faults that were injected in this part",
    "slope_us": "change of the time to an answer, in microseconds per 1,000 steps; above 0: slower",
    "drifts": "whether the interval excludes 0",
    "target_a": "the target compared with",
    "target_b": "the target that is compared",
    "steps_a": "answers of a",
    "steps_b": "answers of b",
    "p50_a_us": "median of a, in real microseconds",
    "p50_b_us": "median of b, in real microseconds",
    "a12": "probability that an answer of b takes longer than one of a; 0.5: no difference",
    "size": "none, small, medium or large: the size of the effect",
    # --- what does not repeat
    "flaky_runs": "runs whose failure did not recur",
    "repeated": "seeds that were executed more than once on one version",
    "differing": "of these, seeds with different outcomes",
    "repeated_rate": "differing seeds divided by repeated ones; null if none was repeated",
    "repeated_low": "lower end of Wilson's 95 % interval of that rate",
    "repeated_high": "upper end of Wilson's 95 % interval of that rate",
    "seed": "the seed",
    "findings.seed": "seed of the run that represents the finding",
    "attempts": "runs of the seed",
    "outcomes": "the outcomes, with their counts",
    "run_a": "`run_id` of a run",
    "run_b": "`run_id` of a run that ended differently",
    "first_step": "first step in which the two differ, from 0; null if one is the beginning of the other",
    "differs": "what differs in that step: operation, answer or response code",
    "flaky.rule": "kind of that step",
    # --- targets beside each other
    "reference": "the target that others are compared with",
    "divergences.rule": "kind of the step that differs; null if only the length differs",
    "code_a": "response code of the reference; null if it is not what differs",
    "code_b": "response code of the target",
    "of_seeds": "the denominator: seeds that both executed",
    "example_seed": "a seed that shows it",
    "example_step": "the step in that run, from 0",
    "first_seed": "first seed that failed; null if none did",
    "runs_to_first": "runs up to the first failure, that one included",
    "steps_to_first": "steps up to the first failure",
    # --- findings
    "finding": "number of the finding; 1 has the most runs",
    "invariant": "the invariant that was broken, or the case that failed",
    "anomaly": "name of the anomaly of a history; null if it has none",
    "shortest_steps": "steps of the shortest program",
    "rules": "kinds of step of the shortest program",
    "program": "the shortest program, a step a line, as JSON",
    "shrunk": "whether that program was minimised",
    "run_id": "the run that represents the finding",
    "confirmed_shown": "fresh attempts that failed again",
    "confirmed_tried": "fresh attempts in all",
    "trace": "path of its trace below the root of the campaign",
    "replay": "command that replays it",
    "statements": "decisive statements of all its runs, the most frequent first",
    "also_fails": "statements whose cases fail for the requests of the program, the most telling first",
    # --- what precedes failures
    "round": "number of the round; each sets aside what earlier patterns explain",
    "pattern": "kinds of step in this order, with others between them",
    "failing_with": "failing runs with the pattern, in the half that it was found in",
    "failing": "failing runs in that half",
    "passing_with": "passing steps with the pattern, in that half",
    "passing": "passing steps in that half",
    "g2": "signed G² in that half",
    "held_failing_with": "failing runs with the pattern, in the other half",
    "held_failing": "failing runs in the other half",
    "held_passing_with": "passing steps with the pattern, in the other half",
    "held_passing": "passing steps in the other half",
    "held_g2": "signed G² in the other half",
    "confirmed": "whether the other half confirms it",
}


def meaning(table: str, column: str) -> str:
    """What a column of a table means. Raises ``KeyError`` where that stands nowhere."""
    return MEANINGS.get(f"{table}.{column}") or MEANINGS[column]


def page() -> str:
    """The data dictionary, as Markdown."""
    tables = [
        (
            name,
            (schema.metadata or {})[b"about"].decode(),
            [(one.name, _type(one.type), meaning(name, one.name)) for one in schema],
        )
        for name, schema in TABLES.items()
    ]
    runs = [(one.name, _type(one.type), one.about) for one in COLUMNS]
    return filled_markdown("mining/page/templates/dictionary.md.j2", tables=tables, runs=runs)


def _type(kind: object) -> str:
    """An Arrow type in words."""
    words = str(kind).replace("timestamp[us, tz=UTC]", "time, UTC").replace("list<item: ", "list of ")
    for arrow, word in (("string", "text"), ("double", "real"), ("bool", "flag")):
        words = words.replace(arrow, word)
    return words.replace(">", "")
