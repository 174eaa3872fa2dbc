"""Statistics against worked examples of the literature, and what must hold for any counts. SciPy judges those
that are written by hand; those that SciPy computes are judged by printed values and by definition.
"""

from __future__ import annotations

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness.mining.stats.association import signed_g2
from harness.mining.stats.histograms import BINS, a12, bin_of, edges, quantile, size_of
from harness.mining.stats.proportions import (
    Interval,
    fisher,
    holm,
    mcnemar,
    newcombe,
    rule_of_three,
    wilson,
)
from harness.mining.stats.species import chao2, new_per_run, unseen
from harness.mining.stats.trends import BATCHES, Sums, slope, slope_of_batches

scipy_stats = pytest.importorskip("scipy.stats", reason="needs the extra spark: make .venv/.spark")

counts = st.integers(0, 400)
tried = st.tuples(counts, counts).map(lambda two: (min(two), max(two)))
"""Hits, and of how many."""


# --- proportions --------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("hits", "of", "low", "high"),
    [(81, 263, 0.2553, 0.3662), (15, 148, 0.0624, 0.1605), (0, 20, 0.0, 0.1611), (1, 29, 0.0061, 0.1718)],
)
def test_wilson_as_newcombe_prints_it(hits: int, of: int, low: float, high: float) -> None:
    """Newcombe 1998, Statistics in Medicine 17, 857-872, table I, method 3."""
    assert wilson(hits, of) == pytest.approx((low, high), abs=5e-5)


@given(tried.filter(lambda two: two[1] > 0))
def test_wilson_is_scipys(two: tuple[int, int]) -> None:
    hits, of = two
    theirs = scipy_stats.binomtest(hits, of).proportion_ci(method="wilson")
    assert wilson(hits, of) == pytest.approx((theirs.low, theirs.high), abs=1e-12)
    assert wilson(hits, of).low <= hits / of <= wilson(hits, of).high


def test_wilson_of_nothing_says_nothing() -> None:
    assert wilson(0, 0) == Interval(0, 1)


def test_rule_of_three_is_nearly_the_exact_bound() -> None:
    """Hanley and Lippman-Hand 1983: none of 100 is at most 3 %."""
    assert rule_of_three(100) == 0.03
    assert rule_of_three(0) == rule_of_three(2) == 1
    assert rule_of_three(3000) == pytest.approx(1 - 0.05 ** (1 / 3000), rel=0.005)


def test_newcombe_as_newcombe_prints_it() -> None:
    """Newcombe 1998, Statistics in Medicine 17, 873-890, table II, method 10: 56/70 less 48/80."""
    assert newcombe(48, 80, 56, 70) == pytest.approx((0.0524, 0.3339), abs=5e-5)


@given(tried, tried)
def test_newcombe_holds_the_difference_and_turns_with_its_sides(
    a: tuple[int, int], b: tuple[int, int]
) -> None:
    there, back = newcombe(*a, *b), newcombe(*b, *a)
    assert there == pytest.approx((-back.high, -back.low), abs=1e-12)
    if a[1] and b[1]:
        assert there.low - 1e-12 <= b[0] / b[1] - a[0] / a[1] <= there.high + 1e-12


def test_mcnemar_as_agresti_prints_it() -> None:
    """Agresti 2013, Categorical Data Analysis, section 11.1: of 236 changed answers 150 and 86. Small
    numbers by hand: 1 of 6 pairs, 2 (1 + 6) / 64.
    """
    assert mcnemar(150, 86) < 0.0001
    assert mcnemar(1, 5) == pytest.approx(14 / 64)
    assert mcnemar(5, 5) == mcnemar(0, 0) == 1


@given(st.integers(0, 60), st.integers(0, 60))
def test_mcnemar_is_twice_the_smaller_tail(a: int, b: int) -> None:
    tail = sum(math.comb(a + b, one) for one in range(min(a, b) + 1)) / 2 ** (a + b)
    assert mcnemar(a, b) == pytest.approx(min(1.0, 2 * tail))


def test_fisher_drinks_tea() -> None:
    """Fisher 1935, The Design of Experiments: three of four cups; 34 of 70 arrangements are no likelier."""
    assert fisher(3, 4, 1, 4) == pytest.approx(34 / 70)


def test_fisher_as_agresti_prints_it() -> None:
    """Agresti 2013, table 3.9: 21 of 23 patients against 15 of 18, two-sided 0.6384."""
    assert fisher(21, 23, 15, 18) == pytest.approx(0.6384, abs=5e-5)


small = st.tuples(st.integers(0, 12), st.integers(0, 12)).map(lambda two: (min(two), max(two)))


@given(small, small)
def test_fisher_sums_the_tables_that_are_no_likelier(a: tuple[int, int], b: tuple[int, int]) -> None:
    hits, of = a[0] + b[0], a[1] + b[1]
    ways = {
        one: math.comb(a[1], one) * math.comb(b[1], hits - one)
        for one in range(max(0, hits - b[1]), min(a[1], hits) + 1)
    }
    assert fisher(*a, *b) == pytest.approx(
        sum(way for way in ways.values() if way <= ways[a[0]]) / math.comb(of, hits)
    )


def test_holm_by_hand() -> None:
    """0.005 times 4, 0.01 times 3, 0.03 times 2, and no later one below an earlier one."""
    assert holm([0.01, 0.04, 0.03, 0.005]) == pytest.approx([0.03, 0.06, 0.06, 0.02])


@given(st.lists(st.floats(0, 1)))
def test_holm_keeps_the_order_and_lowers_none(chances: list[float]) -> None:
    corrected = holm(chances)
    assert all(before <= after <= 1 for before, after in zip(chances, corrected, strict=True))
    pairs = sorted(zip(chances, corrected, strict=True))
    assert [after for _, after in pairs] == sorted(corrected)


@given(st.lists(st.floats(0, 1), min_size=1, max_size=8))
def test_holm_is_no_worse_than_bonferroni(chances: list[float]) -> None:
    for before, after in zip(chances, holm(chances), strict=True):
        assert after <= min(1.0, before * len(chances)) + 1e-12


@pytest.mark.parametrize("call", [lambda: wilson(3, 2), lambda: fisher(-1, 2, 0, 2), lambda: mcnemar(-1, 0)])
def test_impossible_counts_are_refused(call: object) -> None:
    assert callable(call)
    with pytest.raises(ValueError, match=r"expected (a count|counts) of at least 0"):
        call()


# --- association --------------------------------------------------------------------------------------------


@given(tried, tried)
def test_g2_is_scipys(a: tuple[int, int], b: tuple[int, int]) -> None:
    hits, of = a[0] + b[0], a[1] + b[1]
    ours = signed_g2(*a, *b)
    if not (a[1] and b[1] and 0 < hits < of):
        assert ours == pytest.approx(0, abs=1e-9)
        return
    table = [[a[0], a[1] - a[0]], [b[0], b[1] - b[0]]]
    theirs = scipy_stats.chi2_contingency(table, correction=False, lambda_="log-likelihood")
    assert abs(ours) == pytest.approx(theirs.statistic, rel=1e-9, abs=1e-9)
    assert ours == pytest.approx(-signed_g2(*b, *a), rel=1e-9, abs=1e-9)


def test_g2_as_dunning_prints_it() -> None:
    """Dunning 1993, Computational Linguistics 19, 61-74, table 1: "the swiss", 270.72: 110 of 2552 pairs that
    begin with "the", against 111 of 29114 others.
    """
    assert signed_g2(110, 110 + 2442, 111, 111 + 29114) == pytest.approx(270.72, abs=0.01)


# --- species ------------------------------------------------------------------------------------------------


def incidence(runs: list[set[int]]) -> tuple[int, int, int, int, int]:
    met: dict[int, int] = {}
    for run in runs:
        for one in run:
            met[one] = met.get(one, 0) + 1
    times = list(met.values())
    return len(met), times.count(1), times.count(2), sum(times), len(runs)


def test_species_by_hand() -> None:
    """Five runs that saw 6 states, 3 of them once and 1 twice, 10 meetings."""
    assert new_per_run(3, 5) == 0.6
    assert chao2(6, 3, 1, 5) == pytest.approx(6 + 4 / 5 * 9 / 2)
    assert chao2(6, 3, 0, 5) == pytest.approx(6 + 4 / 5 * 3 * 2 / 2)
    assert unseen(3, 1, 10, 5) == pytest.approx(3 / 10 * 12 / 14)


@given(st.lists(st.sets(st.integers(0, 20), max_size=8), min_size=1, max_size=12))
def test_species_hold_for_any_runs(runs: list[set[int]]) -> None:
    seen, once, twice, met, of = incidence(runs)
    assert chao2(seen, once, twice, of) >= seen
    assert 0 <= unseen(once, twice, met, of) <= 1
    # What leaving one run out would have hidden, run by run: Good's estimate is this mean.
    hidden = sum(len(run - set().union(*runs[:i], *runs[i + 1 :])) for i, run in enumerate(runs))
    assert new_per_run(once, of) == pytest.approx(hidden / of)


def test_species_of_nothing() -> None:
    assert new_per_run(0, 0) == chao2(0, 0, 0, 0) == 0
    assert unseen(0, 0, 0, 0) == 1
    with pytest.raises(ValueError, match="at least 0"):
        chao2(1, 1, 1, 5)


# --- histograms ---------------------------------------------------------------------------------------------

durations = st.lists(st.integers(0, 10_000_000), min_size=1, max_size=60)


def binned(durations: list[int]) -> dict[int, int]:
    bins: dict[int, int] = {}
    for one in durations:
        bins[bin_of(one)] = bins.get(bin_of(one), 0) + 1
    return bins


@given(st.integers(0, 10**12))
def test_a_duration_is_in_its_bin(duration: int) -> None:
    low, high = edges(bin_of(duration))
    assert low * (1 - 1e-12) <= duration <= high * (1 + 1e-12)
    assert bin_of(0) == -1
    assert bin_of(1) == 0
    assert bin_of(math.e**3) in (3 * BINS - 1, 3 * BINS)


@given(durations, st.floats(0, 1))
def test_quantiles_are_one_percent_off_at_most(durations: list[int], share: float) -> None:
    exact = sorted(durations)[max(1, math.ceil(share * len(durations))) - 1]
    ours = quantile(binned(durations), share)
    assert ours == pytest.approx(exact, rel=0.0101) if exact else ours == 0.5


@given(durations, durations)
def test_a12_is_mann_and_whitneys(one: list[int], other: list[int]) -> None:
    bins_one, bins_other = [bin_of(x) for x in one], [bin_of(x) for x in other]
    theirs = scipy_stats.mannwhitneyu(bins_one, bins_other).statistic / (len(one) * len(other))
    ours = a12(binned(one), binned(other))
    assert ours == pytest.approx(theirs)
    assert ours + a12(binned(other), binned(one)) == pytest.approx(1)


def test_effects_have_names() -> None:
    """Vargha and Delaney 2000, table 1."""
    assert [size_of(one) for one in (0.5, 0.556, 0.36, 0.75, 0.1)] == [
        "none",
        "small",
        "medium",
        "large",
        "large",
    ]


def test_nothing_has_no_quantile() -> None:
    with pytest.raises(ValueError, match="of 0"):
        quantile({}, 0.5)
    with pytest.raises(ValueError, match="two histograms"):
        a12({1: 1}, {})


# --- trends -------------------------------------------------------------------------------------------------


def sums(points: list[tuple[float, float]]) -> Sums:
    return Sums(
        len(points),
        sum(x for x, _ in points),
        sum(y for _, y in points),
        sum(x * x for x, _ in points),
        sum(x * y for x, y in points),
    )


@given(st.lists(st.tuples(st.integers(0, 100), st.integers(-500, 500)), max_size=40))
def test_slope_is_scipys(points: list[tuple[float, float]]) -> None:
    if len({x for x, _ in points}) < 2:
        assert slope(sums(points)) is None
    else:
        x, y = zip(*points, strict=True)
        assert slope(sums(points)) == pytest.approx(scipy_stats.linregress(x, y).slope, abs=1e-9)


def test_slope_of_batches_is_scipys_interval_of_a_mean() -> None:
    slopes = [0.5 + 0.1 * math.sin(one) for one in range(BATCHES)]
    found = slope_of_batches([sums([(0, 1), (10, 1 + 10 * one)]) for one in slopes])
    assert found is not None
    mean, interval = found
    error = scipy_stats.sem(slopes)
    low, high = scipy_stats.t.interval(0.999, BATCHES - 1, loc=mean, scale=error)
    assert mean == pytest.approx(sum(slopes) / BATCHES)
    assert interval == pytest.approx((low, high))


def test_too_few_batches_have_no_slope() -> None:
    assert slope_of_batches([sums([(0, 1), (1, 2)])] * (BATCHES - 1)) is None
