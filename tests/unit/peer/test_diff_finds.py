"""What the engine finds, and what it does not invent."""

from __future__ import annotations

import pytest
from peer_helpers import always, experiment_of, run_of

from harness.engine.peer.generate import Program, round_of
from harness.program.nameserver.steps import ClusterInfo, Register, Topics

PROFILES = ("4.9", "5.3", "5.5")


@pytest.mark.parametrize("profile", PROFILES)
def test_a_target_does_not_diverge_from_itself(profile: str) -> None:
    uri = f"builtin:{profile}"
    with run_of(uri, uri, profile, "itself") as (run, journal):
        for entry in run.play(2500, always):
            assert not entry.learnt
            assert not entry.unrepeated
            assert not entry.repeated
    assert journal.steps >= 2500
    assert {entry.kind for entry in journal.entries} >= {"plain", "leases", "quirks"}


# One for each kind of operation, with its profile.
FAULTS = [
    ("leases-never-end", "5.3"),
    ("slave-publishes-topics", "5.3"),
    ("wipe-is-ignored", "4.9"),
    ("kv-keeps-the-first-value", "4.9"),
    ("topics-outlive-their-broker", "5.3"),
    ("lost-broker-keeps-its-topics", "4.9"),
    ("unknown-code-succeeds", "5.3"),
    ("idle-connections-stay-open", "5.3"),
    ("zones-are-case-sensitive", "5.5"),
]
SHORT = 7
"""Steps of a program that a person understands at once."""


@pytest.mark.parametrize(("mutant", "profile"), FAULTS)
def test_a_fault_is_found_and_shrunk(mutant: str, profile: str) -> None:
    uri = f"builtin:{profile}"
    with run_of(uri, f"{uri}?mutant={mutant}", profile, "faults") as (run, _):
        for _entry in run.play(20_000, lambda: not run.store.findings):
            pass
        assert run.store.findings, f"{mutant} was not found"
        program = run.store.findings[0].program
        assert len(program) <= SHORT, program
        assert run.experiment.compare(program).unexplained is None, "its cause is known"
    with experiment_of(uri, f"{uri}?mutant={mutant}", profile) as experiment:
        assert experiment.compare(program).unexplained is not None, "it can be replayed"
    with experiment_of(uri, uri, profile) as experiment:
        assert experiment.compare(program).unexplained is None, "it blames the fault only"


def test_equal_words_make_equal_rounds() -> None:
    for number in (0, 3, 9, 119):
        first, second, other = (
            round_of(seed, number, profile="5.3", quirks=()).steps for seed in ("s", "s", "t")
        )
        assert first == second
        assert first != other


def test_profiles_that_differ_diverge() -> None:
    program = Program(
        kind="plain",
        profile="5.3",
        steps=(Register(topics={"T0": (8, 8, 6, 0), "T1": (8, 8, 6, 0)}), ClusterInfo(), Topics()),
    )
    with experiment_of("builtin:5.3", "builtin:4.9", "5.3") as experiment:
        found = experiment.compare(program.steps).unexplained
    assert found is not None
    assert [one.field for one in found.differences] == ["body"]
    assert found.differences[0].a == (("brokerAddrTable", "b0", "enableActingMaster", "false"),)
    assert found.differences[0].b == ()
