"""What is played of a program, on targets that are known for quirks and on others."""

from __future__ import annotations

import pytest

from harness.differential.quirks import applying, quirks
from harness.machines.performance import Performance, Quirks
from harness.machines.stage import Stage
from harness.program.chance import chance
from harness.program.frames import Names
from harness.program.steps import AnyStep, Close, ClusterInfo, Reconnect, Register
from harness.targets import parse

KNOWN = Quirks(applying(quirks(), "4.9", ["apache"]))
TOPICS = {"T0": (4, 4, 6, 0), "T1": (4, 4, 6, 0)}
ONE_WAY = Register(conn="k1", oneway=True, topics=TOPICS)
ENDS: list[AnyStep] = [Close(conn="k1", how="half"), ClusterInfo(conn="k1", broken=4)]


def played(program: list[AnyStep], *, known: Quirks | None, seeks: bool) -> list[AnyStep]:
    stage = Stage(parse("builtin:4.9"), "4.9")
    performance = Performance(stage, Names(chance("performance")), quirks=known, seeks=seeks)
    for step in program:
        performance.do(step)
    performance.leave()
    stage.close()
    return performance.steps


@pytest.mark.parametrize("ends", ENDS)
def test_a_connection_does_not_end_right_behind_a_request_without_answer(ends: AnyStep) -> None:
    program = [ONE_WAY, ClusterInfo(), ends]
    assert played(program, known=KNOWN, seeks=False) == [ONE_WAY, ClusterInfo()]
    assert played(program, known=KNOWN, seeks=True) == program
    assert played(program, known=None, seeks=False) == program


@pytest.mark.parametrize("ends", ENDS)
def test_it_ends_when_something_behind_it_was_answered(ends: AnyStep) -> None:
    program = [ONE_WAY, ClusterInfo(conn="k1"), ends]
    assert played(program, known=KNOWN, seeks=False) == program


@pytest.mark.parametrize("ends", [*ENDS, Reconnect(conn="k1", old="k1")])
def test_a_connection_that_a_step_brings_to_its_end_is_an_end_to_quirks_too(ends: AnyStep) -> None:
    """A name under two clusters: quirk `cluster-entry-stays`."""
    program = [
        Register(conn="k1", topics=TOPICS),
        Register(conn="k1", cluster="c1", topics=TOPICS),
        ClusterInfo(conn="k1"),
        ends,
    ]
    assert played(program, known=KNOWN, seeks=False) == program[:3]
    assert played(program, known=KNOWN, seeks=True) == program


def test_a_lease_that_time_ends_by_itself_may_meet_the_scan_that_has_died() -> None:
    assert KNOWN.passing("ns.lease.expired-broker-is-removed") == "expiry-scan-ends"
    assert KNOWN.passing("ns.lease.lease-lasts-its-time") is None
    newer = Quirks(applying(quirks(), "5.3", ["apache"]))
    assert newer.passing("ns.lease.expired-broker-is-removed") is None
