"""Programs about static topics: what faults they find, and what they let pass."""

from __future__ import annotations

import pytest

from harness.engine.broker.role import BROKER
from harness.engine.context import TargetContext
from harness.engine.stateful import StatefulExperiment
from harness.program.broker import steps as bk
from harness.program.broker.static_steps import MapTopic, Search
from harness.program.step import Restart, Time
from harness.program.steps import AnyStep
from harness.targets import parse

MADE = MapTopic(queues=(4, 2))
LATER = MapTopic(queues=(4, 2), goes_on=(4,), epoch=2)
GONE = MapTopic(queues=(4, 2), gone=(2,), epoch=2)
JOINED = bk.Beat(conn="kc0", groups=("g0",), topics=("S0",))


def send(message: str, queue: int, **more: object) -> bk.Send:
    return bk.Send(message=message, topic="S0", queue=queue, **more)  # type: ignore[arg-type]


def pull(queue: int, offset: int = 0) -> bk.Pull:
    return bk.Pull(topic="S0", queue=queue, offset=offset)


def bound(queue: int) -> bk.Bound:
    return bk.Bound(topic="S0", queue=queue)


def commit(queue: int, offset: int) -> bk.Commit:
    return bk.Commit(topic="S0", queue=queue, offset=offset)


def committed(queue: int, group: str = "g0") -> bk.Committed:
    return bk.Committed(group=group, topic="S0", queue=queue)


ONE = send("m0", 4)
OTHER = send("m1", 2)
BEHIND = send("m2", 4)
FILLED = [MADE, ONE, OTHER, send("m3", 4), LATER, BEHIND]


def found(program: list[AnyStep], mutant: str = "") -> list[str]:
    """The statements that a program breaks on the reference, or on a mutant."""
    uri = "builtin:5.3" + (f"?mutant={mutant}" if mutant else "")
    context = TargetContext(parse(uri, "broker"), "5.3", role=BROKER)
    statements = [
        one.statement for one in StatefulExperiment(context, "x").attempt(program, fresh=True).violations
    ]
    return [one.removeprefix("bk.static-topics.") for one in statements]


@pytest.mark.parametrize(
    ("mutant", "program", "statement"),
    [
        ("static-topics-are-plain", [MADE, ONE, pull(4)], "sends-and-pulls-use-mapped-queues"),
        ("mappings-lose-a-queue", [MADE, OTHER], "sends-and-pulls-use-mapped-queues"),
        ("mapped-queues-are-their-own", [MADE, OTHER, pull(2)], "sends-and-pulls-use-mapped-queues"),
        ("mapped-sends-tell-where-they-are", [MADE, OTHER], "sends-and-pulls-use-mapped-queues"),
        ("mapped-queues-have-no-leader", [MADE, ONE], "sends-and-pulls-use-mapped-queues"),
        ("other-queues-are-served", [MADE, send("m0", 7)], "leader-alone-serves-a-queue"),
        ("other-queues-are-served", [MADE, Search(queue=7)], "leader-alone-serves-a-queue"),
        ("mapped-sends-name-a-queue", [MADE, send("m0", -1)], "any-queue-is-one-that-is-mapped"),
        ("mapped-offsets-begin-anew", [*FILLED, pull(4, 100)], "offsets-go-on-in-another-queue"),
        ("mapped-queues-have-their-last-part", [*FILLED, pull(4)], "sends-and-pulls-use-mapped-queues"),
        ("mapped-queues-end-where-a-part-does", [*FILLED, pull(4, 2)], "pull-at-the-end-of-a-part-goes-on"),
        (
            "mapped-queues-begin-where-they-end",
            [MADE, ONE, pull(4, 9)],
            "sends-and-pulls-use-mapped-queues",
        ),
        (
            "mapped-commits-are-of-the-last-part",
            [*FILLED, JOINED, commit(4, 1), committed(4)],
            "committed-offsets-are-mapped",
        ),
        (
            "mapped-commits-are-as-they-are",
            [MADE, ONE, JOINED, commit(4, 1), committed(4)],
            "committed-offsets-are-mapped",
        ),
        ("old-mappings-are-taken", [GONE, MADE], "older-mapping-is-refused"),
        ("mappings-stay", [MADE, ONE, LATER, BEHIND], "offsets-go-on-in-another-queue"),
        ("mappings-do-not-survive", [MADE, ONE, Restart(), BEHIND], "survives-a-kill"),
        ("old-leaders-go-on", [MADE, GONE, OTHER], "old-leader-refuses-and-keeps-what-it-has"),
    ],
)
def test_a_fault_is_found(mutant: str, program: list[AnyStep], statement: str) -> None:
    assert found(program) == []
    assert found(program, mutant)[:1] == [statement]


def test_what_a_group_has_committed_in_the_last_part_counts() -> None:
    asked = [committed(4), committed(4, "g1")]
    assert found([*FILLED, JOINED, commit(4, 101), *asked, commit(4, 1), *asked, Restart(), *asked]) == []


def test_mapped_queues_are_read_to_their_ends() -> None:
    looks: list[AnyStep] = [pull(queue, at) for queue in (4, 2) for at in (-1, 0, 1, 2, 3, 99, 100, 101, 150)]
    looks += [Search(queue=queue) for queue in (4, 2)]
    assert found([*FILLED, *looks, bound(4), bound(2), Restart(), *looks, bound(4), bound(2)]) == []


@pytest.mark.parametrize(
    "program",
    [
        [ONE, MADE, OTHER, pull(4), bound(4)],
        [bk.MakeTopic(topic="S0"), MADE, ONE, pull(4), bk.Status(topic="S0")],
        [MADE, ONE, bk.DropTopic(topic="S0"), OTHER, pull(2), MADE, ONE, pull(4)],
        [LATER, ONE, MapTopic(queues=(2,), epoch=3), OTHER, pull(2), pull(4)],
        [MADE, send("m0", 4, awaited=False), LATER, BEHIND, pull(4), pull(4, 100)],
        [MADE, send("m0", 4, oneway=True), send("m1", -1, awaited=False), BEHIND, pull(4), bound(4)],
        [MADE, bk.Switch(role="slave"), ONE, pull(4), LATER, bk.Switch(), BEHIND, pull(4), bound(4)],
        [
            bk.Beat(groups=("g0",)),
            MADE,
            send("m0", -1),
            bk.Back(topic="S0"),
            Time(seconds=60),
            bk.Pull(topic="%RETRY%g0"),
        ],
    ],
)
def test_what_is_not_known_is_not_judged(program: list[AnyStep]) -> None:
    assert found(program) == []
