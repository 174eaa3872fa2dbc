"""The questions of mining in DuckDB's SQL: the oracle of its tests, and the yardstick of its benchmark.

Each gives what the query of the same name counts. Populations are told by their target:
it is for data sets where a target has one population.
"""

from __future__ import annotations

from harness.mining.queries.latency import WIDTH
from harness.mining.queries.species import CHECKED
from harness.mining.queries.tallies import BLOCKS

__all__ = ["questions"]

_BIN = "case when us < 1 then -1 else floor(50 * ln(us))::int end"
_SHARES = ", ".join(f"{number / BLOCKS!r}" for number in range(1, BLOCKS))


def questions(root: str, reference: str) -> dict[str, str]:
    """SQL by name. ``reference`` is the target that the others are compared with."""
    runs = f"read_parquet('{root}/runs/*/*/*.parquet', hive_partitioning = true, hive_types_autocast = false)"
    once = f"""(select *, count(*) over (partition by target, seed) as times,
        row_number() over (partition by target, seed order by campaign, attempt, run_id) as number from
        (select campaign, target, seed, attempt, run_id, steps from {runs}))"""
    cuts = (
        f"(select target, quantile_cont(seed, [{_SHARES}]) as cuts from {once} where number = 1 group by 1)"
    )
    placed = f"""(select r.*, len(list_filter(c.cuts, lambda cut: cut < r.seed)) as block
        from {runs} r join {cuts} c using (target)
        join (select run_id from {once} where number = 1) o using (run_id))"""
    within = ", ".join(f"sum((block < {n})::int) as in_{n}" for n in CHECKED)
    counted = ", ".join(f"sum((in_{n} = 1)::int) as once_{n}" for n in CHECKED)
    steps = f"""(select target, unnest(rule) as rule, unnest(latency_us) as us, unnest(fault) as fault,
        unnest(range(len(latency_us))) as x from {runs})"""
    unequal = """list_position(
        list_transform(range(1, n + 1), lambda i: a.{0}[i] is distinct from b.{0}[i]), true)"""
    run = "{'o': outcome, 's': coalesce(statement, ''), 'c': campaign, 'a': attempt, 'run_id': run_id}"
    sides = ", ".join(f"{side}.{one} as {one}_{side}" for side in "ab" for one in ("outcome", "ops"))
    return {
        "tallies": f"""select campaign, target, version, profile, mutant, generator, source, kind, clock,
            outcome, statement, count(*) as runs, sum(steps) as steps, sum(elapsed_us) as elapsed_us,
            min(started) as started, max(started) as ended from {runs} group by all""",
        "campaign_seeds": f"""select campaign, target, version, profile, mutant, generator, source, kind,
            clock, count(distinct seed) as seeds from {runs} group by all""",
        "reached": f"""select target, profile, generator, goal, count(*) as reached from
            (select target, profile, generator, unnest(list_distinct(goals)) as goal from {runs})
            group by all""",
        "judged": f"""select target, profile, statement, count(*) as runs from (select target, profile,
            unnest(list_distinct(flatten(statements))) as statement from {runs}) group by all""",
        "pairs": f"""select target, profile, rule, next_rule, count(*) as times from (select target, profile,
            unnest(rule[:-2]) as rule, unnest(rule[2:]) as next_rule from {runs}) group by all""",
        "bins": f"""select target, rule, {_BIN} as bin, count(*) as n from {steps}
            where us is not null group by all""",
        "sums": f"""select target, rule, count(*) as n, sum(x) as x, sum(us) as y, sum(x * x) as xx,
            sum(x * us) as xy from {steps} where us is not null group by all""",
        "over_run": f"""select target, x // {WIDTH} as part, {_BIN} as bin, count(*) as n,
            sum((fault is not null)::int) as faults from {steps} where us is not null group by all""",
        "blocks": f"select target, block, count(*) as runs from {placed} group by all",
        "states": f"""select target, block, count(*) as states, sum((met = 1)::int) as once,
            sum((met = 2)::int) as twice, sum(met) as met, {counted} from (
            select target, fp, min(block) as block, count(*) as met, {within} from
            (select target, block, unnest(list_distinct(fp)) as fp from {placed}) group by target, fp)
            group by all""",
        "transitions": f"""select target, block, count(*) as transitions from (
            select target, before, rule, after, min(block) as block from (select target, block,
            unnest(list_concat([fp_initial], fp[:-2])) as before, unnest(rule) as rule, unnest(fp) as after
            from {placed}) group by target, before, rule, after) group by all""",
        "repeated": f"""select target, version, count(*) as repeated, sum((kinds > 1)::int) as differing
            from (select target, version, profile, mutant, generator, seed, count(*) as times,
            count(distinct (outcome, coalesce(statement, ''))) as kinds from {runs} group by all)
            where times > 1 group by all""",
        "unlike": f"""select target, version, seed, times, outcomes, first.run_id as run_a,
            last.run_id as run_b from (select target, version, profile, mutant, generator, seed,
            count(*) as times,
            count(distinct (outcome, coalesce(statement, ''))) as kinds,
            array_to_string(list_sort(list(distinct outcome)), ', ') as outcomes,
            min({run}) as first,
            max({run}) as last
            from {runs} group by all) where kinds > 1""",
        "divergences": f"""with played as (select target, profile, generator, seed, outcome, ops, rule,
              response_code, answer from {runs} where attempt = 0),
            met as (select a.target as reference, b.target as target, a.profile as profile, a.seed as seed,
              {sides}, a.rule as rules, a.response_code as codes_a, b.response_code as codes_b,
              least(len(a.ops), len(b.ops)) as n,
              case when a.ops <> b.ops then {unequal.format("rule")} end as at_op,
              {unequal.format("response_code")} as at_code, {unequal.format("answer")} as at_answer
              from played a join played b using (profile, generator, seed)
              where a.target = '{reference}' and b.target <> '{reference}'),
            parted as (select *, least(at_op, at_code, at_answer) as place from met)
            select reference, target, profile, case when at_op = place then 'operation'
              when at_answer = place then 'answer' when at_code = place then 'response code'
              when outcome_a <> outcome_b then 'outcome' end as differs,
              ops_a[place] as letter, codes_a[place] as code_a, codes_b[place] as code_b, count(*) as seeds,
              min({{'step': place - 1, 'seed': seed}}).seed as example_seed,
              min({{'step': place - 1, 'seed': seed}}).step as example_step from parted group by all""",
        "failures": f"""select run_id, target, statement, ops, shrunk_ops from {runs}
            where outcome in ('fail', 'died')""",
    }
