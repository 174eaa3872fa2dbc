"""Programs that make a Broker a slave: what they show, and that nobody else gets a slave."""

from __future__ import annotations

from typing import Any

import pytest

from harness.engine.broker.program_state import ProgramState
from harness.engine.broker.role import BROKER
from harness.engine.broker.strategies.readback import look
from harness.engine.context import TargetContext
from harness.engine.stateful import StatefulExperiment
from harness.findings.experiment import Ended
from harness.program.broker import steps as bk
from harness.program.chance import chance
from harness.program.names import Names
from harness.program.step import Restart, Time
from harness.program.steps import AnyStep
from harness.spec import Answered
from harness.targets import Capabilities, parse

SLAVE, MASTER = bk.Switch(role="slave"), bk.Switch(role="master")


def context(profile: str, mutant: str = "") -> TargetContext:
    uri = f"builtin:{profile}" + (f"?mutant={mutant}" if mutant else "")
    return TargetContext(parse(uri, "broker"), profile, role=BROKER)


def broken(program: list[AnyStep], profile: str, mutant: str = "") -> list[str]:
    attempt = StatefulExperiment(context(profile, mutant), "x").attempt(program, fresh=True)
    return [one.statement for one in attempt.violations]


@pytest.mark.parametrize("profile", ["4.9", "5.3"])
def test_a_time_as_a_slave_changes_nothing(profile: str) -> None:
    program: list[AnyStep] = [
        bk.Send(),
        bk.Send(message="m1", half=True),
        bk.Send(message="m2", level=1),
        SLAVE,
    ]
    program += [
        bk.Send(message="m3"),
        bk.End(message="m1"),
        bk.Pull(),
        Time(seconds=5),
        MASTER,
        bk.Send(message="m4"),
    ]
    program += [bk.End(message="m1"), Time(seconds=6), bk.Pull()]
    assert broken(program, profile) == []


@pytest.mark.parametrize("profile", ["4.9", "5.3"])
def test_a_slave_that_is_started_again_can_be_a_master(profile: str) -> None:
    program: list[AnyStep] = [bk.Send(), bk.Send(message="m1", level=2), SLAVE, Restart(how="kill"), MASTER]
    assert broken([*program, bk.Send(message="m2"), Time(seconds=20), bk.Pull()], profile) == []


def test_a_delay_that_a_slave_delivers_is_found() -> None:
    program: list[AnyStep] = [bk.MakeTopic(), bk.Send(level=1), SLAVE, Time(seconds=3), bk.Pull()]
    assert broken(program, "4.9", "slave-delivers-delays") == ["bk.role.demoted-broker-delivers-no-delay"]


def test_a_delay_that_never_comes_behind_it_is_found() -> None:
    program: list[AnyStep] = [
        bk.MakeTopic(),
        bk.Send(level=1),
        SLAVE,
        Time(seconds=3),
        MASTER,
        Time(seconds=8),
        bk.Pull(),
    ]
    found = broken(program, "5.3", "demotion-forgets-delays")
    assert found == ["bk.role.promoted-broker-goes-on-with-delays"]


def test_a_program_that_leaves_a_slave_looks_at_a_master() -> None:
    state = ProgramState("5.3")
    for step in (bk.MakeTopic(), bk.Send(), SLAVE, bk.Send(message="m1")):
        state.apply(step)
    assert state.stored == {("T0", 0): 1}
    assert look(state, moment=0)[0] == MASTER
    state.apply(MASTER)
    assert MASTER not in look(state, moment=0)


def test_a_slave_of_4_9_keeps_its_topics() -> None:
    for five in (False, True):
        state = ProgramState("5.3" if five else "4.9")
        for step in (bk.MakeTopic(), SLAVE, bk.DropTopic(), bk.MakeTopic(topic="T1")):
            state.apply(step)
        assert set(state.topics) == ({"T1"} if five else {"T0"})


@pytest.mark.parametrize("steps", [(SLAVE,), (MASTER, SLAVE), (SLAVE, Restart())])
def test_tidying_up_leaves_a_master(steps: tuple[AnyStep, ...]) -> None:
    own, state = context("5.3"), ProgramState("5.3")
    executor, _, _ = own.executor(1, Names(chance("tidy")), fresh=True, case="tidy")
    for step in steps:
        executor.play(step)
        state.apply(step)
    assert BROKER.tidy(executor, state)
    sent = [one.outcome for one in executor.play(bk.Send())]
    assert [one.command.code for one in sent if isinstance(one, Answered)] == [0]


@pytest.mark.parametrize("ended", ["late", "whole"])
@pytest.mark.parametrize("step", [SLAVE, bk.Send()])
def test_no_client_gets_a_broker_that_may_be_a_slave(ended: Ended, step: AnyStep) -> None:
    """Where starting costs something, and so one server serves many programs."""
    target: Any = parse("builtin:5.3", "broker")
    target.capabilities = Capabilities(scheme="exec", starts="soon")
    own, state = TargetContext(target, "5.3", role=BROKER), ProgramState("5.3")
    executor, _, _ = own.executor(1, Names(chance("late")), fresh=True, case="late")
    used = own.servers.take(sound=False)[0][0]
    executor.play(step)
    state.apply(step)
    own.leave(executor, state, ended=ended, well=True)
    is_used_again = own.servers.take(sound=False)[0][0] is used
    assert is_used_again is (ended == "whole" or step != SLAVE)
    own.close()
