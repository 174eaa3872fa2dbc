"""What an answer of a Broker was held against: a fault that a step shows was judged by that step."""

from __future__ import annotations

import pytest

from harness.engine.broker.role import BROKER
from harness.engine.context import TargetContext
from harness.engine.stateful import StatefulExperiment
from harness.findings.experiment import Attempt
from harness.program.broker import steps as bk
from harness.program.step import Restart, Time
from harness.program.steps import AnyStep
from harness.targets import parse

PROFILE = "5.3"


def context(mutant: str = "") -> TargetContext:
    uri = f"builtin:{PROFILE}" + (f"?mutant={mutant}" if mutant else "")
    return TargetContext(parse(uri, "broker"), PROFILE, role=BROKER)


def played(*steps: AnyStep, mutant: str = "") -> Attempt:
    return StatefulExperiment(context(mutant), "x").attempt(steps, fresh=True)


WAIT = bk.Pull(conn="h0", offset=1, suspend=5, awaited=False)
FAULTS: list[tuple[str, tuple[AnyStep, ...]]] = [
    ("hands-over-late", (bk.Send(), Restart(how="kill"), bk.Pull())),
    ("cleaning-of-queues-is-refused", (bk.Send(), bk.Clean())),
    ("cleaning-removes-queues-in-use", (bk.Send(), bk.Clean(), bk.Pull())),
    ("delayed-by-half", (bk.Send(level=2), Time(seconds=3), bk.Pull())),
    ("roll-backs-commit", (bk.Send(half=True), bk.End(verdict=12), bk.Pull())),
    (
        "pulls-do-not-wait",
        (bk.Send(), WAIT, Time(seconds=1), bk.Send(message="m1"), Time(seconds=20), bk.Bound()),
    ),
    (
        "offsets-are-of-all-queues",
        (
            bk.Beat(groups=("g0",)),
            bk.Send(),
            bk.Send(message="m1", queue=1),
            bk.Commit(offset=1),
            bk.Commit(queue=1, offset=0),
            bk.Committed(queue=1),
        ),
    ),
    (
        "oneway-commits-are-dropped",
        (bk.Beat(groups=("g0",)), bk.Send(), bk.Commit(offset=1, oneway=True), bk.Committed()),
    ),
    ("who-leaves-stays", (bk.Beat(groups=("g0",)), bk.Leave(), bk.Members())),
    ("silent-clients-stay", (bk.Beat(groups=("g0",)), Time(seconds=200), bk.Members())),
    (
        "nobody-is-told-of-changes",
        (
            bk.Beat(groups=("g0",)),
            bk.Beat(conn="r", client="c1", groups=("g0",)),
            bk.Members(),
            bk.Members(),
        ),
    ),
]


@pytest.mark.parametrize(("mutant", "program"), FAULTS, ids=[mutant for mutant, _ in FAULTS])
def test_what_a_fault_breaks_was_judged_where_it_shows(mutant: str, program: tuple[AnyStep, ...]) -> None:
    (broken, *_) = played(*program, mutant=mutant).violations
    sound = played(*program)
    assert not sound.violations
    assert broken.statement in sound.judged[broken.number]


def test_nothing_was_held_against_what_was_not_asked() -> None:
    """A pull without messages, tags and commits judges none of what it would say about them."""
    judged = played(bk.MakeTopic(), bk.Pull()).judged[1]
    assert "bk.pull.end-of-the-queue-is-not-found" in judged
    assert not {one for one in judged if one.partition(".")[2].startswith(("messages", "send", "filter"))}
    assert "bk.pull.only-messages-with-the-tag" not in judged
