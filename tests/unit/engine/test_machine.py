"""Programs of the machines: what decides them, how they end, and what a third party's pytest sees."""

from __future__ import annotations

import unittest
from collections import Counter

import pytest
from hypothesis import HealthCheck, Phase, settings
from hypothesis.stateful import run_state_machine_as_test

from harness.engine.context import TargetContext
from harness.engine.generator import MOST, Allowance, Bounds
from harness.engine.machine import NameServerMachine, Violated
from harness.engine.nameserver.program_state import ProgramState
from harness.engine.nameserver.strategies import look
from harness.engine.program_run import ProgramRun
from harness.engine.stateful import StatefulKind
from harness.program.chance import chance
from harness.program.names import Names
from harness.program.nameserver import steps as ns
from harness.program.step import Reconnect, Time
from harness.program.steps import AnyStep
from harness.targets import parse

TOPICS = {"T0": (4, 4, 6, 0), "T1": (4, 4, 6, 0)}


def context(uri: str = "builtin:5.3", profile: str = "5.3") -> TargetContext:
    return TargetContext(parse(uri), profile)


def programs(seed: str, profile: str = "5.3", number: int = 0) -> list[tuple[AnyStep, ...]]:
    kind = StatefulKind(context(f"builtin:{profile}", profile), seed)
    return [kind.run(f"{seed}/{number}/{at}").program for at in range(4)]


@pytest.mark.parametrize("profile", ["4.9", "5.3", "5.5"])
def test_a_seed_decides_the_programs(profile: str) -> None:
    first = programs("7", profile)
    assert first == programs("7", profile)
    assert first != programs("8", profile)
    assert first != programs("7", profile, number=1)


def test_every_program_ends_by_looking_at_everything() -> None:
    for program in programs("7"):
        state = ProgramState("5.3", servers=1 + max(getattr(step, "server", 0) for step in program))
        for step in program:
            state.apply(step)
        assert list(program[-len(look(state)) :]) == look(state)


def test_a_look_has_everything_that_a_program_has_touched() -> None:
    state = ProgramState("5.3")
    for step in (ns.Register(topics=TOPICS), ns.Kv(code=100), ns.Kv(code=100, namespace="n1", key="y")):
        state.apply(step)
    seen = look(state)
    assert {ns.ClusterInfo(), ns.Topics(), ns.Route(topic="T0"), ns.Route(topic="T1")} <= set(seen)
    assert ns.Kv(code=219, namespace="n1") in seen
    assert ns.Kv(code=101, namespace="n1", key="y") in seen


def test_rules_of_5x_are_no_rules_of_49() -> None:
    kinds = {type(step).__name__ for program in programs("7", "4.9") for step in program}
    assert not kinds & {"Heartbeat", "RegisterTopic", "MemberGroup"}


def test_the_picture_follows_a_broker_to_its_new_connection() -> None:
    state = ProgramState("5.3")
    for step in (ns.Register(conn="k0", topics=TOPICS), Reconnect(conn="k0", old="k0-old")):
        state.apply(step)
    (lease,) = state.expected[0].leases.values()
    assert lease.conn == "k0-old"
    state.apply(Time(seconds=200))
    assert not state.expected[0].leases


def test_a_performance_ends_at_the_first_violation() -> None:
    one = ProgramRun(context("builtin:5.3?mutant=leases-never-end"), Names(chance("x")))
    one.do(ns.Register(conn="k0", topics=TOPICS))
    one.do(Time(seconds=200))
    one.do(ns.Route())
    assert one.violations
    assert one.is_over
    before = len(one.steps)
    one.do(ns.Route())
    one.leave()
    assert len(one.steps) == before
    attempt = one.attempt()
    assert attempt.violations[0].number == 2
    assert attempt.trace.header.target == "builtin:5.3?mutant=leases-never-end"


def test_two_servers_do_not_talk_to_each_other() -> None:
    one = ProgramRun(context(), Names(chance("x")), servers=2)
    for step in (ns.Register(server=1, topics=TOPICS), ns.Route(server=0), ns.Route(server=1)):
        one.do(step)
    one.leave()
    assert not one.violations


def test_a_machine_is_a_test_case_of_anybodys() -> None:
    machine = NameServerMachine.for_target("builtin:5.3?mutant=leases-never-end", profile="5.3")
    case = machine.TestCase
    assert issubclass(case, unittest.TestCase)
    quick = settings(
        max_examples=60,
        deadline=None,
        database=None,
        phases=[Phase.generate],
        suppress_health_check=list(HealthCheck),
    )
    with pytest.raises(Violated, match=r"expected .*\n.*actual") as caught:
        run_state_machine_as_test(machine, settings=quick)
    assert caught.value.program


@pytest.mark.parametrize(
    ("uri", "profile"),
    [
        ("builtin:5.3", "5.3"),
        ("exec:x {port}", "5.3"),
        ("exec:x {port}?warp=20", "5.3"),
        ("apache:4.9.8?warp=20", "4.9"),
        ("apache:5.3.3", "5.3"),
        ("tcp://127.0.0.1:9876", "5.3"),
    ],
)
def test_what_costs_time_is_rare_and_not_left_out(uri: str, profile: str) -> None:
    bounds = Bounds.of(context(uri, profile))
    numbers, seen = range(MOST + 1), Counter[str]()
    for patience, seeking in zip(numbers, reversed(numbers), strict=True):
        allowance = Allowance(bounds, 0, patience, seeking)
        seen["seeks"] += allowance.seeks
        seen["waits"] += allowance.is_patient
        seen["moments"] += allowance.has_moments
        seen["restarts"] += allowance.is_restless
    wanted = {
        "seeks": bounds.seeks_once_in or 1,
        "waits": bounds.waits_once_in,
        "restarts": bounds.restarts_once_in,
        "moments": bounds.moments_once_in,
    }
    for what, once_in in wanted.items():
        assert 0.5 < seen[what] * once_in / len(numbers) < 2, (what, seen[what], once_in)
