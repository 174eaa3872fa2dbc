"""Programs that take back messages that wait: what faults they find, and what they let pass."""

from __future__ import annotations

import pytest

from harness.engine.broker.role import BROKER
from harness.engine.context import TargetContext
from harness.engine.stateful import StatefulExperiment
from harness.program.broker import steps as bk
from harness.program.broker.optional_steps import Allow, Recall
from harness.program.step import Restart, Time
from harness.program.steps import AnyStep
from harness.targets import parse

ON = Allow(what="recalls")
SEND = bk.Send(after=6)
OTHER = bk.Send(message="m1", after=6)
OVER = Time(seconds=10)
NOT_DELIVERED = ["bk.recall.recalled-message-is-not-delivered"]
DOES_NOT_FIT = ["bk.recall.handle-that-does-not-fit-is-refused"]


def found(program: list[AnyStep], mutant: str = "") -> list[str]:
    """The statements that a program breaks on the reference, or on a mutant."""
    uri = "builtin:5.3" + (f"?mutant={mutant}" if mutant else "")
    context = TargetContext(parse(uri, "broker"), "5.3", role=BROKER)
    return [one.statement for one in StatefulExperiment(context, "x").attempt(program, fresh=True).violations]


@pytest.mark.parametrize(
    ("mutant", "program", "statements"),
    [
        ("recalls-delete-nothing", [ON, SEND, Recall(), OVER, bk.Pull()], NOT_DELIVERED),
        ("recalls-delete-nothing", [ON, SEND, Recall(), OVER, bk.Bound()], NOT_DELIVERED),
        ("recalls-do-not-say-what", [ON, SEND, Recall()], NOT_DELIVERED),
        ("recalls-delete-all", [ON, SEND, OTHER, Recall(), OVER, bk.Bound()], ["bk.delay.time-is-kept"]),
        (
            "recalls-delete-one",
            [ON, SEND, OTHER, Recall(), Recall(message="m1"), OVER, bk.Pull()],
            NOT_DELIVERED,
        ),
        (
            "deletions-are-forgotten",
            [ON, SEND, Recall(), Restart(), OVER, bk.Pull()],
            ["bk.recall.recall-survives-a-restart"],
        ),
        (
            "recalls-are-always-enabled",
            [Allow(what="recalls", allowed=False), SEND, Recall()],
            ["bk.recall.refused-by-default"],
        ),
        ("handles-of-any-time", [ON, SEND, OVER, Recall()], DOES_NOT_FIT),
        ("handles-of-any-topic", [ON, SEND, bk.MakeTopic(topic="T1"), Recall(topic="T1")], DOES_NOT_FIT),
        ("recalls-of-any-topic", [ON, SEND, Recall(topic="T1")], ["bk.recall.unknown-topic-is-refused"]),
    ],
)
def test_a_fault_is_found(mutant: str, program: list[AnyStep], statements: list[str]) -> None:
    assert found(program) == []
    assert found(program, mutant)[:1] == statements


@pytest.mark.parametrize("seconds", [3, 4, 5, 6])
def test_a_recall_just_before_the_time_may_be_too_late(seconds: int) -> None:
    assert found([ON, SEND, Time(seconds=seconds), Recall(), OVER, bk.Pull(), bk.Bound()]) == []


def test_a_broker_that_becomes_a_slave_and_a_master_may_read_a_recall_again() -> None:
    roles: list[AnyStep] = [bk.Switch(role="slave"), Recall(), bk.Switch(), Recall()]
    assert found([ON, SEND, *roles, OVER, bk.Pull(), bk.Bound()]) == []


def test_a_message_that_does_not_wait_has_no_handle() -> None:
    assert found([ON, bk.Send(), Recall(), bk.Pull()]) == []
    assert found([ON, bk.Send(level=2), Recall(), Time(seconds=7), bk.Pull()]) == []
