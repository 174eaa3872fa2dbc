"""Programs for a master and its slave: what the reference shows, and what is noticed of a faulty one."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import pytest

from harness.cli import main
from harness.engine.context import TargetContext
from harness.engine.kind import Tried
from harness.engine.pair.kind import PairExperiment, PairKind
from harness.engine.pair.role import PAIR
from harness.findings.experiment import Attempt
from harness.program.broker.pair_steps import Part, Replicate, TakeOver
from harness.program.broker.steps import (
    Back,
    Beat,
    Bound,
    Commit,
    Committed,
    End,
    MakeTopic,
    Pull,
    Send,
    Switch,
)
from harness.program.step import Restart, Time
from harness.program.steps import AnyStep
from harness.spec import Answered
from harness.targets import parse

NEW = (
    MakeTopic(),
    Switch(server=1),
    MakeTopic(server=1),
    Switch(server=1, role="slave"),
)
COMMITTED = (
    Send(waits=False),
    Replicate(),
    Beat(client="c0", conn="kc0", groups=("g0",)),
    Commit(group="g0", offset=3),
)
ASKED = Committed(server=1, group="g0")
PROMOTED = (Switch(server=1), Restart(server=1), Switch(server=1))
JOINED = Beat(client="c0", conn="kc0", groups=("g0",))
JOINED_SLAVE = Beat(server=1, client="c0", conn="kc0", groups=("g0",))
SENT = (Replicate(), Send(message="m0", awaited=False), Replicate())
RETURNED = (*SENT, JOINED, Back(message="m0", group="g0", level=2), Replicate())
RETRIES = Pull(server=1, group="g0", topic="%RETRY%g0")
TIMED = (Replicate(), Send(message="m0", after=20, awaited=False), Replicate())
TAKES_ITS_PLACE = (Restart(), *PROMOTED)


def context(uri: str) -> TargetContext:
    target = parse(uri, "broker")
    return TargetContext(target, uri.partition(":")[2].partition("?")[0], role=PAIR)


def play(uri: str, *steps: AnyStep) -> tuple[list[str], list[int]]:
    """The invariants that a program shows to be broken, and the codes of its answers."""
    attempt = _attempt(uri, *steps)
    answers = [one.outcome for one in attempt.observed if one.number >= len(NEW)]
    codes = [one.command.code for one in answers if isinstance(one, Answered)]
    return [one.invariant for one in attempt.violations], codes


def shown(uri: str, look: Pull, *steps: AnyStep) -> list[bool]:
    """Whether each of these pulls has shown something. Nothing is broken."""
    attempt = _attempt(uri, *steps)
    assert attempt.violations == ()
    pulled = [one.outcome for one in attempt.observed if one.step == look]
    return [len(one.command.body) > 0 for one in pulled if isinstance(one, Answered)]


def _attempt(uri: str, *steps: AnyStep) -> Attempt:
    return PairExperiment(context(uri), "test").attempt((*NEW, *steps), fresh=True)


@pytest.mark.parametrize("profile", ["4.9", "5.3"])
def test_the_reference_breaks_nothing_and_reaches_all_goals(profile: str) -> None:
    kind = PairKind(context(f"builtin:{profile}"), "test")
    tried: Sequence[Tried] = [kind.run(seed) for seed in range(20)]
    assert [one.attempt.violations for one in tried] == [()] * len(tried)
    assert [goal for goal, times in kind.reached().items() if not times] == []


@pytest.mark.parametrize(("profile", "alone"), [("4.9", 11), ("5.3", 12)])
def test_a_send_succeeds_when_the_slave_has_it(profile: str, alone: int) -> None:
    one, other = Send(message="m0"), Send(message="m1", awaited=False)
    assert play(f"builtin:{profile}", one, Replicate(), other, Replicate()) == ([], [alone, 0])
    assert play(f"builtin:{profile}", Replicate(), other, Replicate(reports=False)) == ([], [12])
    assert play(f"builtin:{profile}", Replicate(), other, Replicate(most=-1)) == ([], [12])
    assert play(f"builtin:{profile}", Replicate(), Part(), one) == ([], [alone])


def test_what_was_acknowledged_is_on_a_slave_that_takes_the_place_of_its_master() -> None:
    send = Send(message="m0", awaited=False)
    new = Send(server=1, message="m1")
    steps = (Replicate(), send, Replicate(), Restart(), *PROMOTED, new, Pull(server=1), Bound(server=1))
    assert play("builtin:5.3", *steps)[0] == []


@pytest.mark.parametrize("profile", ["4.9", "5.3"])
def test_a_slave_takes_its_masters_offsets_over(profile: str) -> None:
    """Not those that were committed later, whether the slave is killed or becomes the master."""
    later = Commit(group="g0", offset=5)
    steps = (*COMMITTED, TakeOver(), later, ASKED, Restart(server=1), ASKED, Part(), *PROMOTED, ASKED)
    assert play(f"builtin:{profile}", *steps)[0] == []


@pytest.mark.parametrize("profile", ["4.9", "5.3"])
@pytest.mark.parametrize("becomes", [PROMOTED, (Switch(server=1),)])
def test_a_half_message_of_the_master_is_ended_by_the_slave_that_has_become_the_master(
    profile: str, becomes: Sequence[AnyStep]
) -> None:
    half = Send(message="m1", half=True, awaited=False)
    other = Send(message="m2", half=True, awaited=False)
    look = Pull(server=1)
    steps = (
        Replicate(),
        half,
        Replicate(),
        other,
        Replicate(),
        look,
        Part(),
        Time(seconds=60),
        *becomes,
        look,
    )
    ends = (End(server=1, message="m1"), End(server=1, message="m2", verdict=12))
    assert shown(f"builtin:{profile}", look, *steps, *ends, look) == [False, False, True]


def test_a_message_that_waits_is_not_early_on_a_slave_that_has_become_the_master() -> None:
    waits, look = Send(message="m1", level=4, awaited=False), Pull(server=1)
    steps = (Replicate(), waits, Replicate(), Restart(), *PROMOTED, Time(seconds=18), look)
    assert play("builtin:5.3", *steps, Time(seconds=25), look, Bound(server=1))[0] == []
    assert play("builtin:5.3?mutant=delayed-by-half", *steps)[0] == ["delayed-is-not-early"]


@pytest.mark.parametrize("profile", ["4.9", "5.3"])
def test_a_message_that_was_sent_back_comes_back_from_a_slave_that_has_become_the_master(
    profile: str,
) -> None:
    """Once, though the slave was asked before."""
    steps = (*RETURNED, JOINED_SLAVE, RETRIES, *TAKES_ITS_PLACE, JOINED_SLAVE, RETRIES, Time(seconds=15))
    assert shown(f"builtin:{profile}", RETRIES, *steps, RETRIES) == [False, False, True]
    again = Back(server=1, message="m0", group="g0", level=1, again=True)
    other = Back(server=1, message="m0", group="g0", level=1)
    steps = (*steps, RETRIES, again, other, Time(seconds=9))
    assert play(f"builtin:{profile}", *steps, RETRIES)[0] == []


@pytest.mark.parametrize("profile", ["4.9", "5.3"])
def test_what_the_master_has_delivered_may_come_from_its_slave_or_not(profile: str) -> None:
    """The slave has got how far the master was, or the message as it came back, or neither."""
    over, delivered = Time(seconds=15), Pull(group="g0", topic="%RETRY%g0")
    for behind in ((), (TakeOver(),), (Replicate(),), (TakeOver(), Replicate())):
        steps = (*RETURNED, over, delivered, *behind, *TAKES_ITS_PLACE, JOINED_SLAVE, over, RETRIES)
        assert play(f"builtin:{profile}", *steps)[0] == []


def test_a_message_that_waits_for_its_time_comes_from_a_slave_that_has_become_the_master() -> None:
    look = Pull(server=1)
    steps = (*TIMED, look, *TAKES_ITS_PLACE, Time(seconds=15), look, Time(seconds=15), look)
    assert shown("builtin:5.3", look, *steps) == [False, False, True]


def test_timers_that_a_slave_got_after_its_start_are_not_forgotten() -> None:
    """The slave was started again when it had got one of them, and delivers that before it has the other."""
    later = Send(message="m1", after=60, awaited=False)
    steps = (*TIMED, Restart(server=1), Replicate(), later, Replicate(), Part(), Switch(server=1))
    steps = (*steps, Time(seconds=40), Restart(server=1, how="term"), Switch(server=1), Time(seconds=40))
    assert play("builtin:5.3", *steps, Pull(server=1), Bound(server=1))[0] == []


@pytest.mark.parametrize(
    ("mutant", "invariant", "steps"),
    [
        (
            "promoted-slaves-see-to-no-delays",
            "promoted-delivers-what-waits",
            (*RETURNED, *TAKES_ITS_PLACE, JOINED_SLAVE, Time(seconds=20), RETRIES),
        ),
        (
            "delayed-forgotten-at-start",
            "promoted-delivers-what-waits",
            (*RETURNED, Time(seconds=1), *TAKES_ITS_PLACE, JOINED_SLAVE, Time(seconds=20), RETRIES),
        ),
        (
            "delayed-by-half",
            "retried-is-not-early",
            (*RETURNED, *TAKES_ITS_PLACE, JOINED_SLAVE, Time(seconds=3), RETRIES),
        ),
        (
            "retries-not-counted",
            "retried-is-counted",
            (*RETURNED, *TAKES_ITS_PLACE, JOINED_SLAVE, Time(seconds=20), RETRIES),
        ),
        (
            "timed-are-forgotten",
            "timed-is-delivered",
            (*TIMED, *TAKES_ITS_PLACE, Time(seconds=30), Pull(server=1)),
        ),
        (
            "timed-early",
            "timed-is-not-early",
            (*TIMED, *TAKES_ITS_PLACE, Time(seconds=14), Pull(server=1)),
        ),
        ("sends-do-not-wait", "send-waits-for-its-slave", (Replicate(), Send())),
        (
            "beginning-suffices",
            "send-waits-for-its-slave",
            (Replicate(), Send(awaited=False), Replicate(most=-1)),
        ),
        ("late-sends-succeed", "send-waits-for-its-slave", (Replicate(), Send())),
        ("every-send-waits", "send-that-does-not-wait", (Replicate(), Send(waits=False))),
        ("pushes-once", "stored-is-pushed", (Send(), Replicate(), Send(message="m1"), Replicate())),
        ("slave-connects-once", "slave-comes-again", (Replicate(), Part(), Replicate())),
        (
            "offsets-of-one-queue-are-told",
            "all-offsets-are-told",
            (*COMMITTED, Commit(group="g0", queue=1, offset=7), TakeOver()),
        ),
        ("masters-offsets-are-ignored", "slave-takes-over-offsets", (*COMMITTED, TakeOver(), ASKED)),
        (
            "masters-offsets-are-not-kept",
            "slave-takes-over-offsets",
            (*COMMITTED, TakeOver(), Restart(server=1), ASKED),
        ),
    ],
)
def test_a_faulty_pair_is_noticed(mutant: str, invariant: str, steps: Sequence[AnyStep]) -> None:
    assert play(f"builtin:5.3?mutant={mutant}", *steps)[0] == [invariant]


def test_an_answer_that_comes_because_of_a_later_step_is_confirmed(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    target = ["builtin:5.3?mutant=beginning-suffices", "--role", "broker", "--kind", "pair", "--seed", "2"]
    assert main(["fuzz", *target, "--max-examples", "16", "--out", str(tmp_path)]) == 1
    found = next((tmp_path / "findings").glob("bk.replication.send-waits-for-replicas-*"))
    capsys.readouterr()
    assert main(["replay", str(found)]) == 0
    assert "the failure shows again" in capsys.readouterr().out
    assert main(["replay", str(found), "builtin:5.3"]) == 1
    assert "the failure does not show" in capsys.readouterr().out


def test_a_slave_that_keeps_half_messages_is_asked_where_its_log_ends() -> None:
    steps = (Send(), Replicate(most=-1), Restart(server=1), Replicate(), Pull(server=1))
    assert play("builtin:5.3", *steps)[0] == []


def test_a_slave_is_not_promoted_without_another_start() -> None:
    """What it is sent meanwhile is not judged."""
    steps = (Send(), Replicate(), Part(), Switch(server=1), Send(server=1, message="m1"), Pull(server=1))
    assert play("builtin:5.3", *steps)[0] == []


def test_brokers_that_are_not_ours_are_left_out(capsys: pytest.CaptureFixture[str]) -> None:
    command = [
        "fuzz",
        "tcp://127.0.0.1:9",
        "--role",
        "broker",
        "--nameserver",
        "127.0.0.1:9",
        "--kind",
        "pair",
    ]
    assert main([*command, "--max-examples", "1", "--profile", "5.3"]) == 3
    assert "pair" in capsys.readouterr().err
