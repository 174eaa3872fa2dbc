"""Machines find mutants that concern state, from three seeds, and make the programs small.

`mutants.yaml` lists mutants with the steps that a person would write to show the fault: to bring the state
about and to look, nothing else. `python tests/quality/hunting.py` prints the table of all of them.
"""

from __future__ import annotations

from pathlib import Path

import pytest
import yaml
from hunting import CHAPTERS, hunt

from reference_impl.mutants import MUTANTS

LISTED: dict[str, int] = yaml.safe_load(Path(__file__).with_name("mutants.yaml").read_text(encoding="utf-8"))
SEEDS = ("1", "2", "3")
MOST = 2000
MORE = 2
"""So many steps more than a person would write."""


def test_enough_mutants_are_listed_from_many_chapters() -> None:
    assert len(LISTED) >= 60
    assert not set(LISTED) - set(MUTANTS)
    assert {MUTANTS[name].chapter for name in LISTED} <= set(CHAPTERS)
    assert len({MUTANTS[name].chapter for name in LISTED}) >= 8


@pytest.mark.parametrize("name", LISTED)
def test_a_mutant_is_found_from_every_seed_and_its_program_gets_small(name: str) -> None:
    hunted = [hunt(name, seed, examples=MOST, shrinks=seed == SEEDS[0]) for seed in SEEDS]
    assert [one.seed for one in hunted if one.examples is None] == []
    steps = hunted[0].steps
    assert len(steps) <= LISTED[name] + MORE, "\n".join(steps)
