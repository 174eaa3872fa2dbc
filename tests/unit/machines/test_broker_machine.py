"""Programs of the Broker's machine: what decides them, what they look at, and what the reference shows."""

from __future__ import annotations

from typing import Literal

import pytest

from harness.catalogue import catalogue
from harness.cli import main
from harness.findings.again import reduced
from harness.machines.broker.picture import Picture
from harness.machines.broker.role import BROKER
from harness.machines.broker.strategies import look
from harness.machines.run import Tried
from harness.machines.stage import Stage
from harness.machines.stateful import StatefulExperiment, StatefulKind
from harness.program.broker_steps import Back, Beat, Bound, End, Members, Pull, Send, View
from harness.program.steps import AnyStep, Restart, Time, decode_step, encode_step
from harness.session import ProfileName
from harness.targets import parse
from harness.wire import Command, encode
from harness.wire.messages import Message, encode_message


def stage(profile: ProfileName, mutant: str = "") -> Stage:
    uri = f"builtin:{profile}" + (f"?mutant={mutant}" if mutant else "")
    return Stage(parse(uri, "broker"), profile, role=BROKER)


def played(profile: ProfileName, seed: str) -> list[Tried]:
    kind, tried = StatefulKind(stage(profile), seed, seed), list[Tried]()
    kind.batch(0, 5, tried.append)
    kind.close()
    return tried


def broken(program: list[AnyStep], mutant: str, profile: ProfileName = "5.3") -> list[str]:
    """The statements that a mutant breaks with a program; the sound reference breaks none."""
    sound = StatefulExperiment(stage(profile), "x").attempt(program, fresh=True)
    assert not sound.violations
    attempt = StatefulExperiment(stage(profile, mutant), "x").attempt(program, fresh=True)
    return [one.statement for one in attempt.violations]


@pytest.mark.parametrize("profile", ["4.9", "5.3"])
def test_the_reference_shows_nothing_and_a_seed_decides_its_programs(profile: ProfileName) -> None:
    first, again = played(profile, "1"), played(profile, "1")
    assert [one.program for one in first] == [one.program for one in again]
    assert [violation for one in first for violation in one.attempt.violations] == []
    assert played(profile, "2")[1].program != first[1].program


def test_steps_of_brokers_are_lines_of_json() -> None:
    step = Send(message="m3", more=("m4",), level=2, keys=("k0",))
    assert decode_step(encode_step(step)) == step
    assert encode_step(Pull()) == '{"do":"pull"}'


def test_every_queue_is_looked_at_in_the_end() -> None:
    picture = Picture(five=True)
    for step in (Send(queue=1), Send(message="m1", half=True), End(message="m1"), Back(group="g1")):
        picture.apply(step)
    steps = look(picture, moment=5)
    assert steps[0] == Time(seconds=5)
    assert {one.queue for one in steps if isinstance(one, Bound)} == {0, 1, 2, 3}
    assert any(isinstance(one, Pull) and one.topic == "%RETRY%g1" for one in steps)
    assert {one.message for one in steps if isinstance(one, View)} == {"m0", "m1"}


def test_what_is_lost_in_a_kill_is_found() -> None:
    program: list[AnyStep] = [Send(), Restart(how="kill"), Pull()]
    assert broken(program, "hands-over-late") == ["bk.storage.messages-survive-a-kill"]


def test_a_delayed_message_is_not_early() -> None:
    program: list[AnyStep] = [Send(level=2), Time(seconds=3), Pull(), Time(seconds=4), Pull()]
    assert broken(program, "delayed-by-half") == ["bk.delay.level-is-waited-for"]


def test_a_transaction_that_was_rolled_back_stays_so() -> None:
    program: list[AnyStep] = [Send(half=True), End(verdict=12), Pull()]
    assert broken(program, "roll-backs-commit") == ["bk.transaction.rolled-back-is-never-seen"]


@pytest.mark.parametrize("profile", ["4.9", "5.3"])
@pytest.mark.parametrize("verdict", [8, 12])
def test_an_end_without_answer_may_have_come_to_pass(profile: ProfileName, verdict: Literal[8, 12]) -> None:
    """A commit behind it delivers, or has nothing to deliver any more."""
    program: list[AnyStep] = [Send(half=True), End(oneway=True, verdict=verdict), End(), Pull()]
    attempt = StatefulExperiment(stage(profile), "x").attempt(program, fresh=True)
    assert attempt.violations == ()


@pytest.mark.parametrize("profile", ["4.9", "5.3"])
def test_a_connection_is_one_client_s_in_a_group(profile: ProfileName) -> None:
    """`ConsumerGroupInfo#updateChannel`: the later one takes its place."""
    program: list[AnyStep] = [
        Beat(conn="k", client="c0", groups=("g0",)),
        Beat(conn="k", client="c2", groups=("g0",)),
        Members(group="g0"),
    ]
    assert StatefulExperiment(stage(profile), "x").attempt(program, fresh=True).violations == ()


def test_quirks_that_programs_come_across_are_those_of_the_catalogue() -> None:
    known, picture = BROKER.quirks("5.3", "apache"), Picture(five=True)
    for step in (Send(half=True), End(verdict=8), End(verdict=12)):
        picture.apply(step)
    found = known.about(End(verdict=8), picture)
    broker = catalogue().of("broker")
    assert len(found) == 2
    assert {one.id for one in found} <= {quirk.id for quirk in broker.quirks}
    assert {name for one in found for name in one.statements} <= {one.id for one in broker.statements}
    assert not BROKER.quirks("5.3", "builtin").about(End(verdict=8), picture)


def test_a_held_pull_is_answered_by_the_message_it_waited_for() -> None:
    program: list[AnyStep] = [Send(), Pull(conn="h0", offset=1, suspend=5, awaited=False), Time(seconds=1)]
    program += [Send(message="m1"), Time(seconds=20), Bound()]
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

    first, second = (reduced(shown(stored), 11, lambda _: True) for stored in (1, 2))
    assert first == second
    assert first["body"][0]["body"] == "m0"
