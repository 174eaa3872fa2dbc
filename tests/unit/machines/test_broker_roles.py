"""Programs that make a Broker a slave: what they show, and that nobody else gets a slave."""

from __future__ import annotations

from typing import Any

import pytest

from harness.findings.experiment import Ended
from harness.machines.broker.picture import Picture
from harness.machines.broker.role import BROKER
from harness.machines.broker.strategies import look
from harness.machines.stage import Stage
from harness.machines.stateful import StatefulExperiment
from harness.model import Answered
from harness.program.broker_steps import DropTopic, End, MakeTopic, Pull, Send, Switch
from harness.program.chance import chance
from harness.program.frames import Names
from harness.program.steps import AnyStep, Restart, Time
from harness.session import ProfileName
from harness.targets import Nature, parse

SLAVE, MASTER = Switch(role="slave"), Switch(role="master")


def stage(profile: ProfileName, mutant: str = "") -> Stage:
    uri = f"builtin:{profile}" + (f"?mutant={mutant}" if mutant else "")
    return Stage(parse(uri, "broker"), profile, role=BROKER)


def broken(program: list[AnyStep], profile: ProfileName, mutant: str = "") -> list[str]:
    attempt = StatefulExperiment(stage(profile, mutant), "x").attempt(program, fresh=True)
    return [one.statement for one in attempt.violations]


@pytest.mark.parametrize("profile", ["4.9", "5.3"])
def test_a_time_as_a_slave_changes_nothing(profile: ProfileName) -> None:
    program: list[AnyStep] = [Send(), Send(message="m1", half=True), Send(message="m2", level=1), SLAVE]
    program += [Send(message="m3"), End(message="m1"), Pull(), Time(seconds=5), MASTER, Send(message="m4")]
    program += [End(message="m1"), Time(seconds=6), Pull()]
    assert broken(program, profile) == []


@pytest.mark.parametrize("profile", ["4.9", "5.3"])
def test_a_slave_that_is_started_again_can_be_a_master(profile: ProfileName) -> None:
    program: list[AnyStep] = [Send(), Send(message="m1", level=2), SLAVE, Restart(how="kill"), MASTER]
    assert broken([*program, Send(message="m2"), Time(seconds=20), Pull()], profile) == []


def test_a_delay_that_a_slave_delivers_is_found() -> None:
    program: list[AnyStep] = [MakeTopic(), Send(level=1), SLAVE, Time(seconds=3), Pull()]
    assert broken(program, "4.9", "slave-delivers-delays") == ["bk.role.demoted-broker-delivers-no-delay"]


def test_a_delay_that_never_comes_behind_it_is_found() -> None:
    program: list[AnyStep] = [
        MakeTopic(),
        Send(level=1),
        SLAVE,
        Time(seconds=3),
        MASTER,
        Time(seconds=8),
        Pull(),
    ]
    found = broken(program, "5.3", "demotion-forgets-delays")
    assert found == ["bk.role.promoted-broker-goes-on-with-delays"]


def test_a_program_that_leaves_a_slave_looks_at_a_master() -> None:
    picture = Picture(five=True)
    for step in (MakeTopic(), Send(), SLAVE, Send(message="m1")):
        picture.apply(step)
    assert picture.stored == {("T0", 0): 1}
    assert look(picture, moment=0)[0] == MASTER
    picture.apply(MASTER)
    assert MASTER not in look(picture, moment=0)


def test_a_slave_of_4_9_keeps_its_topics() -> None:
    for five in (False, True):
        picture = Picture(five=five)
        for step in (MakeTopic(), SLAVE, DropTopic(), MakeTopic(topic="T1")):
            picture.apply(step)
        assert set(picture.topics) == ({"T1"} if five else {"T0"})


@pytest.mark.parametrize("steps", [(SLAVE,), (MASTER, SLAVE), (SLAVE, Restart())])
def test_tidying_up_leaves_a_master(steps: tuple[AnyStep, ...]) -> None:
    own, picture = stage("5.3"), Picture(five=True)
    player, _, _ = own.player(1, Names(chance("tidy")), fresh=True, case="tidy")
    for step in steps:
        player.play(step)
        picture.apply(step)
    assert BROKER.tidy(player, picture)
    sent = [one.outcome for one in player.play(Send())]
    assert [one.command.code for one in sent if isinstance(one, Answered)] == [0]


@pytest.mark.parametrize("ended", ["late", "interrupted", "whole"])
@pytest.mark.parametrize("step", [SLAVE, Send()])
def test_nobody_gets_a_broker_that_may_be_a_slave(ended: Ended, step: AnyStep) -> None:
    """Where starting costs something, and so one server serves many programs."""
    target: Any = parse("builtin:5.3", "broker")
    target.nature = Nature(scheme="exec", starts="soon")
    own, picture = Stage(target, "5.3", role=BROKER), Picture(five=True)
    player, _, _ = own.player(1, Names(chance("late")), fresh=True, case="late")
    used = own.servers.take(sound=False)[0][0]
    player.play(step)
    picture.apply(step)
    own.leave(player, picture, ended=ended, well=True)
    is_used_again = own.servers.take(sound=False)[0][0] is used
    assert is_used_again is (ended == "whole" or step != SLAVE)
    own.close()
