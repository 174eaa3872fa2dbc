"""The model of a Broker that becomes a slave and a master again: what it lets pass, and what it does not."""

from __future__ import annotations

import pytest

from harness.program.broker import steps as bk
from harness.program.chance import chance
from harness.program.names import Names
from harness.program.step import Restart
from harness.program.steps import AnyStep
from harness.spec import Answered, Observation, Unanswered
from harness.spec.broker import BrokerTracker
from harness.spec.observation import Outcome
from harness.wire import Command

SLAVE, MASTER = bk.Switch(role="slave"), bk.Switch(role="master")


class Broker:
    """Tells a model what a Broker has answered, a second for each step."""

    def __init__(self, profile: str = "5.3", *, jitter: float = 0.0) -> None:
        self._known = BrokerTracker(profile, Names(chance("ha_role")), jitter=jitter)
        self._number = 0

    def says(self, step: AnyStep, outcome: Outcome, *, after: int = 0) -> list[str]:
        number, self._number = self._number + after, self._number + after + 1
        seen = Observation(number=number, step=step, invoked=number, returned=number, outcome=outcome)
        return [one.invariant for one in self._known.observe([seen])]


def answer(code: int = 0, **ext: str) -> Answered:
    return Answered(Command(code=code, flag=1, opaque=1, version=479, ext=dict(ext)))


def stored(offset: int) -> Answered:
    return answer(
        queueId="0",
        queueOffset=str(offset),
        MSG_REGION="r",
        TRACE_ON="true",
        msgId=f"7F00000100002A9F{offset * 100:016X}",
    )


def slave(profile: str = "5.3", *, jitter: float = 0.0) -> Broker:
    """A Broker with a message, that has become a slave."""
    broker = Broker(profile, jitter=jitter)
    assert broker.says(bk.MakeTopic(), answer()) == []
    assert broker.says(bk.Send(), stored(0)) == []
    assert broker.says(SLAVE, answer()) == []
    return broker


@pytest.mark.parametrize(
    ("profile", "step", "code", "invariant"),
    [
        ("4.9", bk.Send(message="m1"), 14, "demoted-is-not-available"),
        ("5.3", bk.Send(message="m1"), 2, "demoted-is-busy"),
        ("5.3", bk.Pull(), 2, "demoted-is-not-read-from"),
        ("4.9", bk.Back(), 1, "demoted-takes-nothing-back"),
        ("5.3", bk.Back(), 2, "demoted-takes-nothing-back"),
        ("4.9", bk.End(), 11, "demoted-ends-no-transaction"),
        ("5.3", bk.End(), 11, "demoted-ends-no-transaction"),
        ("4.9", bk.MakeTopic(topic="T1"), 1, "demoted-changes-no-topic"),
        ("4.9", bk.DropTopic(), 1, "demoted-changes-no-topic"),
    ],
)
def test_a_slave_refuses(profile: str, step: AnyStep, code: int, invariant: str) -> None:
    assert slave(profile).says(step, answer(code)) == []
    assert slave(profile).says(step, answer()) == [invariant]


@pytest.mark.parametrize(
    ("profile", "step", "code", "invariant"),
    [
        ("4.9", bk.Send(message="m1"), 14, "promoted-takes-messages"),
        ("5.3", bk.Send(message="m1"), 2, "promoted-takes-messages"),
        ("5.3", bk.Pull(), 2, "promoted-keeps-what-it-had"),
        ("5.3", bk.End(), 11, "promoted-ends-transactions"),
    ],
)
def test_a_master_that_was_a_slave_does_not(profile: str, step: AnyStep, code: int, invariant: str) -> None:
    broker = slave(profile)
    assert broker.says(MASTER, answer()) == []
    assert broker.says(step, answer(code)) == [invariant]


def test_what_a_slave_has_refused_is_not_there_and_what_it_had_is() -> None:
    broker = slave()
    assert broker.says(bk.Send(message="m1"), answer(2)) == []
    assert broker.says(bk.Bound(), answer(offset="2")) == ["max-offset-is-the-next"]
    assert broker.says(bk.Bound(), answer(offset="0")) == ["acknowledged-is-there"]
    assert broker.says(bk.Bound(), answer(offset="1")) == []


def test_a_slave_of_4_9_serves_its_messages_and_corrects_no_offset() -> None:
    bounds = {"minOffset": "0", "maxOffset": "1"}
    assert slave("4.9").says(bk.Pull(), answer(19, nextBeginOffset="0", **bounds)) == ["demoted-is-read-from"]
    assert slave("4.9").says(bk.Pull(), answer(2)) == ["demoted-is-read-from"]
    assert slave("4.9").says(bk.Pull(offset=9), answer(20, nextBeginOffset="9", **bounds)) == []


def test_a_slave_of_4_9_notes_no_offset_of_a_pull() -> None:
    broker = slave("4.9")
    assert broker.says(bk.Commit(offset=4), answer()) == []
    found = answer(19, nextBeginOffset="1", minOffset="0", maxOffset="1")
    assert broker.says(bk.Pull(offset=1, commit=1), found) == []
    assert broker.says(bk.Committed(), answer(offset="1")) != []
    assert broker.says(bk.Committed(), answer(offset="4")) == []


def test_busy_proves_nothing_where_time_is_real() -> None:
    broker = slave(jitter=0.5)
    assert broker.says(MASTER, answer()) == []
    assert broker.says(bk.Send(message="m1"), answer(2)) == []


def test_a_store_may_refuse_a_send_that_is_under_way_when_its_broker_becomes_a_slave() -> None:
    broker = BrokerTracker("5.3", Names(chance("ha_role")), jitter=0.5)
    made = Observation(number=0, step=bk.MakeTopic(), invoked=0, returned=0, outcome=answer())
    switch = Observation(number=2, step=SLAVE, invoked=2, returned=4, outcome=answer())
    for invoked, returned, wrong in ((1, 3, []), (6, 7, ["send-succeeds"])):
        send = Observation(number=1, step=bk.Send(), invoked=invoked, returned=returned, outcome=answer(14))
        assert broker.observe([made]) == []
        assert [one.invariant for one in broker.observe([send, switch])] == wrong


def test_a_change_without_answer_may_have_come_to_pass() -> None:
    for code in (0, 2):
        broker = Broker()
        assert broker.says(SLAVE, Unanswered()) == []
        assert broker.says(bk.Send(), stored(0) if code == 0 else answer(code)) == []


def test_a_change_that_is_refused_is_wrong() -> None:
    assert Broker().says(SLAVE, answer(16)) == ["role-is-changed"]


def test_delays_wait_until_it_is_a_master_again() -> None:
    delayed = bk.Send(message="m1", queue=1, level=2)
    there = answer(
        queueId="1", queueOffset="0", MSG_REGION="r", TRACE_ON="true", msgId="7F00000100002A9F" + f"{7:016X}"
    )
    at_0, at_1 = (answer(offset=str(one)) for one in (0, 1))
    for end, says in ((at_1, []), (at_0, ["promoted-goes-on-with-delays"])):
        broker = Broker()
        broker.says(bk.MakeTopic(), answer())
        assert broker.says(delayed, there) == []
        assert broker.says(SLAVE, answer()) == []
        assert broker.says(bk.Bound(queue=1), at_1, after=20) == ["demoted-delivers-no-delay"]
        assert broker.says(bk.Bound(queue=1), at_0) == []
        assert broker.says(MASTER, answer()) == []
        assert broker.says(bk.Bound(queue=1), end, after=10) == says


def test_what_was_started_as_a_slave_may_be_either_and_sees_to_no_delays() -> None:
    broker = Broker()
    broker.says(bk.MakeTopic(), answer())
    broker.says(
        bk.Send(queue=1, level=1),
        answer(
            queueId="1", queueOffset="0", MSG_REGION="r", TRACE_ON="true", msgId="7F00000100002A9F" + "0" * 16
        ),
    )
    broker.says(SLAVE, answer())
    assert broker.says(Restart(), None) == []
    assert broker.says(bk.Send(message="m1"), answer(2)) == []
    assert broker.says(bk.Send(message="m1"), stored(0)) == []
    assert broker.says(MASTER, answer()) == []
    assert broker.says(bk.Bound(queue=1), answer(offset="0"), after=30) == []
    assert broker.says(bk.Bound(queue=1), answer(offset="1")) == []
    assert broker.says(bk.Send(message="m2"), answer(14)) == ["send-succeeds"]


def test_a_timed_message_may_come_again_when_the_broker_becomes_a_master() -> None:
    timed = bk.Send(message="m1", queue=1, after=2)
    there = answer(
        queueId="1", queueOffset="0", MSG_REGION="r", TRACE_ON="true", msgId="7F00000100002A9F" + "0" * 16
    )
    for switches in (False, True):
        broker = Broker()
        broker.says(bk.MakeTopic(), answer())
        assert broker.says(timed, there) == []
        assert broker.says(bk.Bound(queue=1), answer(offset="1"), after=10) == []
        if switches:
            broker.says(SLAVE, answer())
            broker.says(MASTER, answer())
        again = broker.says(bk.Bound(queue=1), answer(offset="2"))
        assert again == ([] if switches else ["max-offset-is-the-next"])
