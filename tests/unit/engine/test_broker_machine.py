"""Programs of the Broker's machine: what decides them, what they look at, and what the reference shows."""

from __future__ import annotations

from typing import Literal

import pytest

from harness.catalogue import known_quirks
from harness.cli import main
from harness.engine.broker.program_state import ProgramState
from harness.engine.broker.role import BROKER
from harness.engine.broker.strategies.readback import look
from harness.engine.context import TargetContext
from harness.engine.kind import Tried
from harness.engine.stateful import StatefulExperiment, StatefulKind
from harness.findings.replay_answers import AnswerReader
from harness.program.broker import steps as bk
from harness.program.names import MADE_NAME
from harness.program.step import Restart, Time
from harness.program.steps import AnyStep, decode_step, encode_step
from harness.targets import parse
from harness.wire import Command, encode
from harness.wire.comparing import comparison_rules
from harness.wire.messages import Message, encode_message


def context(profile: str, mutant: str = "") -> TargetContext:
    uri = f"builtin:{profile}" + (f"?mutant={mutant}" if mutant else "")
    return TargetContext(parse(uri, "broker"), profile, role=BROKER)


def played(profile: str, seed: str) -> list[Tried]:
    kind = StatefulKind(context(profile), seed)
    tried = [kind.run(f"{seed}/{number}") for number in range(5)]
    kind.close()
    return tried


def broken(program: list[AnyStep], mutant: str, profile: str = "5.3") -> list[str]:
    """The statements that a mutant breaks with a program; the sound reference breaks none."""
    sound = StatefulExperiment(context(profile), "x").attempt(program, fresh=True)
    assert not sound.violations
    attempt = StatefulExperiment(context(profile, mutant), "x").attempt(program, fresh=True)
    return [one.statement for one in attempt.violations]


@pytest.mark.parametrize("profile", ["4.9", "5.3"])
def test_the_reference_shows_nothing_and_a_seed_decides_its_programs(profile: str) -> None:
    first, again = played(profile, "1"), played(profile, "1")
    assert [one.program for one in first] == [one.program for one in again]
    assert [violation for one in first for violation in one.attempt.violations] == []
    assert played(profile, "2")[1].program != first[1].program


def test_steps_of_brokers_are_lines_of_json() -> None:
    step = bk.Send(message="m3", more=("m4",), level=2, keys=("k0",))
    assert decode_step(encode_step(step)) == step
    assert encode_step(bk.Pull()) == '{"do":"pull"}'


def test_every_queue_is_looked_at_in_the_end() -> None:
    state = ProgramState("5.3")
    for step in (
        bk.Send(queue=1),
        bk.Send(message="m1", half=True),
        bk.End(message="m1"),
        bk.Back(group="g1"),
    ):
        state.apply(step)
    steps = look(state, moment=5)
    assert steps[0] == Time(seconds=5)
    assert {one.queue for one in steps if isinstance(one, bk.Bound)} == {0, 1, 2, 3}
    assert any(isinstance(one, bk.Pull) and one.topic == "%RETRY%g1" for one in steps)
    assert {one.message for one in steps if isinstance(one, bk.View)} == {"m0", "m1"}


def test_what_is_lost_in_a_kill_is_found() -> None:
    program: list[AnyStep] = [bk.Send(), Restart(how="kill"), bk.Pull()]
    assert broken(program, "hands-over-late") == ["bk.storage.messages-survive-a-kill"]


def test_a_queue_that_cleaning_takes_along_is_missed() -> None:
    program: list[AnyStep] = [bk.Send(), bk.Clean(), bk.Pull()]
    assert broken(program, "cleaning-removes-queues-in-use") == ["bk.send.is-stored-and-its-place-returned"]
    assert broken(program, "cleaning-of-queues-is-refused") == [
        "bk.administration.cleaning-keeps-queues-in-use"
    ]


def test_a_delayed_message_is_not_early() -> None:
    program: list[AnyStep] = [bk.Send(level=2), Time(seconds=3), bk.Pull(), Time(seconds=4), bk.Pull()]
    assert broken(program, "delayed-by-half") == ["bk.delay.level-is-waited-for"]


def test_a_transaction_that_was_rolled_back_stays_so() -> None:
    program: list[AnyStep] = [bk.Send(half=True), bk.End(verdict=12), bk.Pull()]
    assert broken(program, "roll-backs-commit") == ["bk.transaction.rolled-back-is-never-seen"]


@pytest.mark.parametrize("profile", ["4.9", "5.3"])
@pytest.mark.parametrize("verdict", [8, 12])
def test_an_end_without_answer_may_have_come_to_pass(profile: str, verdict: Literal[8, 12]) -> None:
    """A commit behind it delivers, or has nothing to deliver any more."""
    program: list[AnyStep] = [bk.Send(half=True), bk.End(oneway=True, verdict=verdict), bk.End(), bk.Pull()]
    attempt = StatefulExperiment(context(profile), "x").attempt(program, fresh=True)
    assert attempt.violations == ()


@pytest.mark.parametrize("profile", ["4.9", "5.3"])
def test_a_connection_is_one_client_s_in_a_group(profile: str) -> None:
    """`ConsumerGroupInfo#updateChannel`: the later one takes its place."""
    program: list[AnyStep] = [
        bk.Beat(conn="k", client="c0", groups=("g0",)),
        bk.Beat(conn="k", client="c2", groups=("g0",)),
        bk.Members(group="g0"),
    ]
    assert StatefulExperiment(context(profile), "x").attempt(program, fresh=True).violations == ()


def test_a_transaction_that_ends_twice_brings_two_quirks_about() -> None:
    state = ProgramState("5.3")
    for step in (bk.Send(half=True), bk.End(verdict=8), bk.End(verdict=12)):
        state.apply(step)
    found = BROKER.quirks(known_quirks("broker", "apache-broker@5.3.3")).about(bk.End(verdict=8), state)
    assert {one.id for one in found} == {
        "quirk.second-commit-delivers-again",
        "quirk.commit-behind-roll-back-delivers",
    }
    assert not BROKER.quirks(()).about(bk.End(verdict=8), state)


def test_a_held_pull_is_answered_by_the_message_it_waited_for() -> None:
    program: list[AnyStep] = [
        bk.Send(),
        bk.Pull(conn="h0", offset=1, suspend=5, awaited=False),
        Time(seconds=1),
    ]
    program += [bk.Send(message="m1"), Time(seconds=20), bk.Bound()]
    assert broken(program, "pulls-do-not-wait") == ["bk.pull.waits-until-its-time-is-over"]


def test_a_kind_that_brokers_do_not_have_is_named(capsys: pytest.CaptureFixture[str]) -> None:
    status = main(["fuzz", "builtin:5.3", "--role", "broker", "--kind", "frames", "--max-examples", "1"])
    assert status == 3
    assert "no such kind of a broker" in capsys.readouterr().err


def test_messages_are_compared_without_hosts_and_times() -> None:
    def shown(stored: int) -> bytes:
        message = Message(topic="T0", body=b"m0", store_timestamp=stored, store_host="127.0.0.1:10911")
        body = encode_message(message, "5.3")
        return encode(Command(code=0, flag=1, opaque=1, version=479, body=body))

    reader = AnswerReader(comparison_rules(MADE_NAME), lambda _: True)
    first, second = (reader.read(shown(stored), 11) for stored in (1, 2))
    assert first == second
    assert first["body"][0]["body"] == "m0"


@pytest.mark.parametrize("profile", ["4.9", "5.3"])
def test_a_delayed_message_whose_send_was_not_answered_comes_as_one_that_waited(profile: str) -> None:
    program: list[AnyStep] = [bk.MakeTopic(), bk.Send(level=1, oneway=True), Time(seconds=4), bk.Pull()]
    assert StatefulExperiment(context(profile), "x").attempt(program, fresh=True).violations == ()
