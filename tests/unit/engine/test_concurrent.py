"""Programs of peers that meet: what they are, and what comes of them on the built-in target."""

from __future__ import annotations

import pytest

from harness.catalogue import known_quirks
from harness.engine.context import TargetContext
from harness.engine.history import HistoryExperiment, HistoryKind
from harness.engine.kind import Tried
from harness.engine.nameserver.history_programs import Shape, program_of
from harness.engine.nameserver.quirks import Quirks
from harness.engine.stateful import StatefulExperiment
from harness.program.chance import chance
from harness.program.nameserver.steps import ClusterInfo, Register
from harness.program.step import Close, Request, Time
from harness.program.steps import AnyStep
from harness.targets import parse


def _context(profile: str, mutant: str = "") -> TargetContext:
    return TargetContext(parse(f"builtin:{profile}" + (f"?mutant={mutant}" if mutant else "")), profile)


def _tried(kind: HistoryKind, programs: int) -> list[Tried]:
    return [kind.run(seed) for seed in range(programs)]


@pytest.mark.parametrize("profile", ["4.9", "5.3"])
def test_programs_meet_and_keep_to_their_rules(profile: str) -> None:
    """No connection has two brokers, and no registration on 5.x one topic."""
    owners: dict[tuple[int, str], set[str]] = {}
    for number in range(20):
        program = program_of(chance("programs", number), Shape(profile=profile, servers=1 + number % 2))
        assert program == program_of(
            chance("programs", number), Shape(profile=profile, servers=1 + number % 2)
        )
        assert any(isinstance(step, Request) and not step.awaited for step in program)
        for step in program:
            if isinstance(step, Register):
                owners.setdefault((number, step.conn), set()).add(step.address)
                assert profile == "4.9" or len(step.topics) != 1
    assert {len(addresses) for addresses in owners.values()} == {1}


@pytest.mark.parametrize(
    ("mutant", "quirk"),
    [("leases-never-end", "quirk.expiry-scan-ends"), ("cluster-lists-lowest-id-only", None)],
)
def test_a_scan_that_has_died_is_proven_and_explains_nothing_else(mutant: str, quirk: str | None) -> None:
    context = _context("4.9", mutant)
    context.known = Quirks(known_quirks("nameserver", "apache-nameserver@4.9.8"))
    experiment = HistoryExperiment(context, "scan")
    topics = {"T0": (4, 4, 6, 0)}
    master, slave = Register(conn="k1", topics=topics), Register(conn="k1", id=1, address="a1", topics=topics)
    both: list[AnyStep] = [master, slave, ClusterInfo(conn="k2")]
    attempt, found = experiment.play([master, Time(seconds=150), ClusterInfo(conn="k2")] if quirk else both)
    assert attempt.violations
    assert found == quirk


@pytest.mark.parametrize("profile", ["4.9", "5.3", "5.5"])
def test_reference_is_sound(profile: str) -> None:
    """Nothing is found, every goal is reached, and nothing is left open."""
    kind = HistoryKind(_context(profile), "sound")
    tried = _tried(kind, 60)
    assert [violation for one in tried for violation in one.attempt.violations] == []
    assert {one.attempt.ended for one in tried} == {"whole"}
    assert all(kind.reached().values())
    assert kind.experiment.judged["keys"] > 80
    assert not kind.experiment.judged["unknown"]


@pytest.mark.parametrize(
    ("mutant", "anomalies"),
    [
        ("contested-id-has-two-holders", {"split identity", "lost registration"}),
        ("crowd-displaces-its-first", {"premature expiry", "lost registration", "stale version accepted"}),
        ("registration-is-not-kept", {"lost registration"}),
        ("unregistration-is-ignored", {"resurrected broker"}),
        ("slave-publishes-topics", {"phantom queue data"}),
        ("broker-outlives-its-connection", {"resurrected broker"}),
    ],
)
def test_mutant_is_found_and_does_it_again(mutant: str, anomalies: set[str]) -> None:
    context = _context("5.3", mutant)
    kind = HistoryKind(context, "mutants")
    wrong = next(tried for tried in map(kind.run, range(400)) if tried.attempt.violations)
    first = wrong.attempt.violations[0]
    assert first.anomaly in anomalies
    assert 0 <= first.number < len(wrong.program)
    again = HistoryExperiment(context, "again").attempt(wrong.program, fresh=True)
    assert first.anomaly in {violation.anomaly for violation in again.violations}


def test_close_inside_a_burst_is_ours() -> None:
    """What is under way on a connection that we close ends by us, and is no fault of the target."""
    register = Register(conn="k0", topics={"T0": (4, 4, 6, 0), "T1": (4, 4, 6, 0)}, state=0, awaited=False)
    experiment = HistoryExperiment(_context("5.3"), "close")
    attempt = experiment.attempt([register, Close(conn="k0"), Time(seconds=5)], fresh=True)
    assert attempt.violations == ()
    assert [one.outcome for one in attempt.observed if isinstance(one.step, Close)] == [None]


def test_kinds_of_one_run_share_no_names() -> None:
    """They play on the same servers of 5.x; a lease of one was once found by the other."""
    context = _context("5.3")
    both = HistoryExperiment(context, "words"), StatefulExperiment(context, "words")
    nonces = [experiment.names().nonce for experiment in both for _ in range(10)]
    assert len(set(nonces)) == len(nonces)
