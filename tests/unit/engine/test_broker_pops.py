"""Programs that pop, acknowledge and pop again: what faults they find, and what they let pass."""

from __future__ import annotations

import pytest

from harness.engine.broker.role import BROKER
from harness.engine.context import TargetContext
from harness.engine.stateful import StatefulExperiment
from harness.program.broker import steps as bk
from harness.program.broker.optional_steps import Ack, Hide, Pop
from harness.program.step import Restart, Time
from harness.program.steps import AnyStep
from harness.spec.broker.hidden import RECOVERY, REVIVAL, WRITTEN
from harness.targets import parse

FIRST, SECOND, THIRD = bk.Send(), bk.Send(message="m1"), bk.Send(message="m2")
POP = Pop(hidden=60)
OVER = Time(seconds=60 + REVIVAL + 1)
WRITES = Time(seconds=WRITTEN + 1)
COMES_AGAIN = "bk.pop.comes-again"
NEVER_AGAIN = "bk.pop.acknowledged-does-not-come-again"


def found(program: list[AnyStep], mutant: str = "") -> list[str]:
    """The statements that a program breaks on the reference, or on a mutant."""
    uri = "builtin:5.3" + (f"?mutant={mutant}" if mutant else "")
    context = TargetContext(parse(uri, "broker"), "5.3", role=BROKER)
    return [one.statement for one in StatefulExperiment(context, "x").attempt(program, fresh=True).violations]


@pytest.mark.parametrize(
    ("mutant", "program", "statement"),
    [
        ("popped-is-lost", [FIRST, POP, OVER, POP], COMES_AGAIN),
        (
            "hidden-for-half",
            [FIRST, POP, Time(seconds=59), POP],
            "bk.pop.is-hidden-for-its-time",
        ),
        ("acks-do-not-count", [FIRST, POP, Ack(), OVER, POP], NEVER_AGAIN),
        ("one-ack-is-for-all", [FIRST, SECOND, THIRD, POP, Ack(message="m1"), OVER, POP], COMES_AGAIN),
        ("comes-again-uncounted", [FIRST, POP, OVER, POP], "bk.pop.comes-again-as-itself"),
        ("acks-of-what-came-again-do-not-count", [FIRST, POP, OVER, POP, Ack(), OVER, POP], NEVER_AGAIN),
        (
            "hidden-for-no-longer",
            [FIRST, POP, Hide(hidden=300), OVER, POP],
            "bk.pop.is-hidden-for-its-time",
        ),
        ("new-handles-are-the-old-ones", [FIRST, POP, Hide(), Ack(), OVER, POP], NEVER_AGAIN),
        (
            "checkpoints-are-forgotten",
            [FIRST, POP, WRITES, Restart(how="kill"), Time(seconds=RECOVERY + 60), POP],
            COMES_AGAIN,
        ),
    ],
)
def test_a_fault_is_found(mutant: str, program: list[AnyStep], statement: str) -> None:
    assert found(program) == []
    assert found(program, mutant)[:1] == [statement]


@pytest.mark.parametrize("how", ["kill", "term"])
def test_acknowledged_messages_stay_so_over_an_end_of_the_broker(how: str) -> None:
    program: list[AnyStep] = [FIRST, SECOND, POP, Ack(), WRITES, Restart(how=how), POP, OVER, POP]
    assert found(program) == []
    assert found([*program, Time(seconds=RECOVERY), POP]) == []


@pytest.mark.parametrize(
    "program",
    [
        [FIRST, POP, Time(seconds=60), Ack(), OVER, POP],
        [FIRST, POP, Time(seconds=60), Hide(), OVER, POP],
        [FIRST, POP, bk.Switch(role="slave"), OVER, bk.Switch(), POP, OVER, POP],
        [FIRST, POP, bk.DropTopic(), OVER, POP, bk.MakeTopic(), POP],
        [FIRST, POP, Restart(how="kill"), POP, OVER, POP],
        [FIRST, Ack(), Hide(), POP],
    ],
    ids=["late ack", "late hiding", "a slave meanwhile", "a topic that goes", "a kill at once", "no handle"],
)
def test_what_is_not_known_for_certain_is_not_judged(program: list[AnyStep]) -> None:
    assert found(program) == []
