"""What mining names the small programs of mutants: as it did when a case was seen to fail for it.

`named.jsonl` has a line for each mutant that a campaign found in 40 runs and mining named rightly: what was
broken, the program made small, and the statement that it was said to be about.
"""

from __future__ import annotations

from pathlib import Path

import msgspec
import pytest

from harness.conformance.loading import cases
from harness.findings.naming import statement_of
from harness.program.steps import decode_step
from harness.session import ProfileName

pytest.importorskip("pyspark", reason="needs Spark: make .venv/.spark, or pip install 'rmq-harness[spark]'")

from bench.findings import breaks

NAMED = Path(__file__).with_name("named.jsonl")


class Named(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    mutant: str
    profile: ProfileName
    invariant: str
    broken: str
    """The invariant's own statement."""
    statement: str
    program: tuple[msgspec.Raw, ...]

    def name(self) -> str:
        program = [decode_step(bytes(step)) for step in self.program]
        return statement_of(program, self.invariant, self.broken, self.profile)


@pytest.fixture(scope="module")
def named() -> list[Named]:
    return [msgspec.json.decode(line, type=Named) for line in NAMED.read_bytes().splitlines()]


def test_programs_are_named_as_before(named: list[Named]) -> None:
    assert {one.mutant: one.name() for one in named} == {one.mutant: one.statement for one in named}


def test_what_a_program_is_named_by_is_broken(named: list[Named]) -> None:
    loaded = cases()
    assert [one for one in named if not breaks(one.mutant, one.profile, one.statement, loaded)] == []
