"""Machines find mutants that concern state, from three seeds, and make the programs small.

`mutants.yaml` lists mutants with the steps that a person would write to show the fault: to bring the state
about and to look, nothing else. Which statement a seed's program breaks is chance, and some take more steps
to show than others: so small must be what the first of the seeds comes to, or one of the next, be it one of
those that are only tried for this.
`python tests/quality/hunting.py` makes the table of all of them, `docs/reference/mutants-found.md`.
"""

from __future__ import annotations

import pytest
from hunting import CHAPTERS, NOT_ASKED, by_hand, hunt, spread, state_mutants

from reference_impl.mutants import MUTANTS

LISTED = by_hand()
SEEDS = ("1", "2", "3")
SPARE = ("4", "5", "6")
MOST = 2000
MORE = 2
"""How many steps more than in a program written by hand."""


def test_enough_mutants_are_listed_from_many_chapters() -> None:
    assert len(LISTED) >= 60
    assert not set(LISTED) - set(MUTANTS)
    assert {MUTANTS[name].chapter for name in LISTED} <= set(CHAPTERS)
    assert len({MUTANTS[name].chapter for name in LISTED}) >= 8


def test_what_machines_are_not_asked_for_is_there_and_about_state() -> None:
    assert set(NOT_ASKED) <= {mutant.name for mutant in state_mutants()}
    assert not set(NOT_ASKED) & set(LISTED)
    assert len(NOT_ASKED) < len(state_mutants()) / 8


@pytest.mark.parametrize("name", spread(LISTED))
def test_a_mutant_is_found_from_every_seed_and_its_program_gets_small(name: str) -> None:
    shrunk: list[tuple[str, ...]] = []
    for seed in (*SEEDS, *SPARE):
        small = bool(shrunk) and min(map(len, shrunk)) <= LISTED[name] + MORE
        if small and seed in SPARE:
            break
        hunted = hunt(name, seed, examples=MOST, shrinks=not small)
        assert hunted.examples is not None, f"not found from seed {seed}"
        if hunted.steps:
            shrunk.append(hunted.steps)
    smallest = min(shrunk, key=len)
    assert len(smallest) <= LISTED[name] + MORE, "\n".join(smallest)
