"""The model of a Broker: what it lets pass, and what it does not."""

from __future__ import annotations

from math import inf
from zlib import crc32

from msgspec.structs import replace

from harness.catalogue import catalogue
from harness.program.broker import steps as bk
from harness.program.broker.frames import body_of, born, properties_of
from harness.program.chance import chance
from harness.program.names import Names
from harness.program.step import Restart
from harness.program.steps import AnyStep
from harness.spec import Answered, Observation, Unanswered
from harness.spec.broker import BrokerTracker
from harness.spec.broker.entries import Entry, Queue
from harness.spec.broker.invariants import BROKER_INVARIANTS
from harness.spec.broker.regular_register import RegularRegister
from harness.spec.observation import Ended, Outcome
from harness.wire import Command
from harness.wire.messages import Message, PropertyName, encode_message


class Broker:
    """Tells a model what a Broker has answered, a second for each step."""

    def __init__(self, jitter: float = 0.0) -> None:
        self._names = Names(chance("model"))
        self._known = BrokerTracker("5.3", self._names, jitter=jitter)
        self._number = 0

    def says(self, step: AnyStep, outcome: Outcome, since: int | None = None) -> list[str]:
        """Which invariants the answer breaks. `since`: the second of the request, if that is not this one."""
        number, self._number = self._number, self._number + 1
        invoked = number if since is None else since
        seen = Observation(number=number, step=step, invoked=invoked, returned=number, outcome=outcome)
        found = [*self._known.observe([seen]), *self._known.heard([seen])]
        return [one.invariant for one in found]

    def passes(self, seconds: int) -> None:
        """Time passes in which nothing is answered."""
        self._number += seconds

    def is_told(self, conn: str, request: Command) -> list[str]:
        return [one.invariant for one in self._known.told(conn, self._number, self._number, request)]

    def name(self, symbol: str) -> str:
        return self._names.name(symbol)

    def shows(self, *sends: bk.Send) -> Answered:
        """A pull finds these messages in this order, as they were sent."""
        found = [self._stored(one, offset) for offset, one in enumerate(sends)]
        end = str(len(sends))
        body = b"".join(encode_message(one, "5.3") for one in found)
        return answer(body=body, nextBeginOffset=end, minOffset="0", maxOffset=end)

    def comes_again(self, send: bk.Send, tried: int, body: bytes | None = None) -> Answered:
        """A pop finds a message that was popped before."""
        one = self._stored(send, 0)
        properties = one.properties | {PropertyName.POP_CK: "0 0 60000 0 1 b 0 0"}
        body = one.body if body is None else body
        one = replace(one, reconsume_times=tried, properties=properties, body=body)
        return answer(body=encode_message(one, "5.3"))

    def views(self, send: bk.Send, offset: int, second: int) -> Answered:
        """A search finds a message, which was stored when the Broker's clock showed this second."""
        body = encode_message(self._stored(send, offset, second), "5.3")
        return answer(body=body)

    def is_born(self, symbol: str, second: int) -> None:
        """A message was born when the Broker's clock showed this second."""
        self._names.births[symbol] = second * 1000

    def _stored(self, send: bk.Send, offset: int, second: int = 0) -> Message:
        body = body_of(send.message, send.size, self._names)
        added = {PropertyName.CLUSTER: "c", PropertyName.MSG_REGION: "r", PropertyName.TRACE_SWITCH: "true"}
        return Message(
            topic=self.name(send.topic),
            queue_id=send.queue,
            queue_offset=offset,
            body=body,
            body_crc=crc32(body) & 0x7FFFFFFF,
            born_timestamp=born(send.message, self._names),
            store_timestamp=second * 1000,
            store_host="127.0.0.1:10911",
            physical_offset=offset * 100,
            properties={**properties_of(send, send.message, self._names), **added},
        )


def answer(code: int = 0, body: bytes = b"", **ext: str) -> Answered:
    return Answered(Command(code=code, flag=1, opaque=1, version=479, ext=dict(ext), body=body))


def stored(offset: int, queue: int = 0) -> Answered:
    return answer(
        queueId=str(queue),
        queueOffset=str(offset),
        MSG_REGION="r",
        TRACE_ON="true",
        msgId=f"7F00000100002A9F{offset * 100:016X}",
    )


def listed(broker: Broker, *clients: str) -> Answered:
    named = ",".join(f'"{broker.name(one)}"' for one in clients)
    return answer(body=f'{{"consumerIdList":[{named}]}}'.encode())


def test_every_invariant_has_a_statement_of_the_catalogue() -> None:
    known = {one.id for one in catalogue().of("broker").statements}
    assert {one.statement for one in BROKER_INVARIANTS.values()} <= known


def test_a_oneway_message_may_be_stored_behind_one_that_was_sent_soon_after_it() -> None:
    for jitter, found in ((0.0, ["offsets-are-consecutive"]), (5.0, [])):
        broker = Broker(jitter)
        assert broker.says(bk.MakeTopic(), answer()) == []
        assert broker.says(bk.Send(message="m0", oneway=True), None) == []
        assert broker.says(bk.Send(message="m1"), stored(0)) == found


def test_offsets_of_a_queue_are_consecutive() -> None:
    broker = Broker()
    assert broker.says(bk.Send(), stored(0)) == []
    assert broker.says(bk.Send(message="m1"), stored(2)) == ["offsets-are-consecutive"]


def test_an_offset_is_that_of_one_message() -> None:
    broker = Broker()
    assert broker.says(bk.Send(), stored(0)) == []
    assert broker.says(bk.Send(message="m1"), stored(0)) == ["acknowledged-is-there"]


def test_what_was_not_answered_may_be_there_or_not() -> None:
    for greatest in ("0", "1"):
        broker = Broker()
        assert broker.says(bk.Send(), Unanswered()) == []
        assert broker.says(bk.Bound(), answer(offset=greatest)) == []
    assert broker.says(bk.Bound(), answer(offset="2")) == ["max-offset-is-the-next"]


def test_what_was_acknowledged_is_there_behind_a_kill() -> None:
    broker = Broker()
    broker.says(bk.Send(), stored(0))
    assert broker.says(Restart(how="kill"), None) == []
    assert broker.says(bk.Bound(), answer(offset="0")) == ["acknowledged-survives-a-kill"]


def test_a_broker_may_show_a_moment_later_what_it_has_stored() -> None:
    broker = Broker(jitter=2.0)
    broker.says(bk.Send(), stored(0))
    assert broker.says(bk.Bound(), answer(offset="0")) == []
    broker.says(bk.Pull(), answer(19, nextBeginOffset="0", minOffset="0", maxOffset="0"))
    assert broker.says(bk.Bound(), answer(offset="0")) == ["acknowledged-is-there"]


def test_a_group_has_the_offset_that_it_committed_last() -> None:
    broker = Broker()
    broker.says(bk.MakeTopic(), answer())
    broker.says(bk.Beat(conn="k0", groups=("g0",)), answer())
    broker.says(bk.Commit(offset=4), answer())
    broker.says(bk.Commit(offset=2), answer())
    assert broker.says(bk.Committed(), answer(offset="2")) == []
    assert broker.says(bk.Committed(), answer(offset="4")) == ["offset-is-what-was-committed"]


def test_an_offset_that_was_just_committed_may_be_lost_in_a_kill() -> None:
    broker = Broker()
    broker.says(bk.MakeTopic(), answer())
    broker.says(bk.Beat(conn="k0", groups=("g0",)), answer())
    broker.says(bk.Commit(offset=4), answer())
    broker.says(Restart(how="kill"), None)
    assert broker.says(bk.Committed(), answer(22)) == []
    assert broker.says(bk.Committed(), answer(offset="4")) != []


def test_a_lock_is_of_one_client_for_a_minute() -> None:
    broker = Broker()
    given = b'{"lockOKMQSet":[{"brokerName":"broker","queueId":0,"topic":"T0"}]}'
    assert broker.says(bk.Lock(), answer(body=given)) == []
    assert broker.says(bk.Lock(client="c1"), answer(body=given)) == ["lock-is-of-one-client"]


def test_a_register_gives_what_is_written_meanwhile_or_was_before() -> None:
    register = RegularRegister()
    register.write(1, 0.0, 1.0, "commit")
    register.write(2, 5.0, inf, "oneway")
    assert {one.value for one in register.possible(6.0, 7.0)} == {1, 2}
    assert register.read(2, 6.0, 7.0)
    assert not register.read(1, 8.0, 9.0)


def test_a_queue_holds_at_least_what_must_be_there() -> None:
    queue = Queue()
    queue.add(Entry(message="m0", send=bk.Send(), origin="send", earliest=0.0, latest=1.0))
    queue.add(Entry(message="m1", send=bk.Send(), origin="send", earliest=0.0))
    assert (queue.least(0.5), queue.least(1.0), queue.most(1.0)) == (0, 1, 2)


def told(broker: Broker, conn: str, code: int, **ext: str) -> list[str]:
    """A request of the Broker's comes on a connection, and all that came is read."""
    return broker.is_told(conn, Command(code=code, opaque=9, version=479, ext=dict(ext)))


def test_members_hear_of_a_new_one_and_of_nothing_else() -> None:
    broker = Broker()
    group = broker.name("g0")
    broker.says(bk.Beat(conn="k0", groups=("g0",)), answer())
    assert told(broker, "k0", 40, consumerGroup=group) == []
    broker.says(bk.Beat(conn="k1", client="c1", groups=("g0",)), answer())
    assert broker.says(bk.Members(conn="k0"), listed(broker, "c0", "c1")) == ["members-are-told-of-a-new-one"]
    assert told(broker, "k0", 40, consumerGroup=group) == []
    assert told(broker, "k0", 40, consumerGroup=group) == ["members-are-not-told-without-news"]


def test_a_pull_by_heartbeat_needs_a_subscription_of_that_version() -> None:
    broker = Broker()
    broker.says(bk.MakeTopic(), answer())
    none = answer(19, nextBeginOffset="0", minOffset="0", maxOffset="0")
    by_heartbeat = bk.Pull(subscribes=False)
    assert broker.says(by_heartbeat, answer(24)) == []
    assert broker.says(by_heartbeat, none) == ["group-that-is-not-online-is-refused"]
    broker.says(bk.Beat(conn="k0", groups=("g0",), topics=("T1",)), answer())
    assert broker.says(by_heartbeat, none) == ["topic-without-a-subscription-is-refused"]
    broker.says(bk.Beat(conn="k0", groups=("g0",)), answer())
    assert broker.says(by_heartbeat, none) == []
    newer = bk.Pull(subscribes=False, version=2)
    assert broker.says(newer, none) == ["newer-than-the-heartbeat-is-refused"]


def test_an_ended_transaction_is_not_asked_about() -> None:
    broker = Broker()
    broker.says(bk.Beat(conn="kp", client="p", producers=("p0",)), answer())
    broker.says(bk.Send(half=True), stored(0))
    key = broker.name("m0")
    assert told(broker, "other", 39, msgId=key) == ["other-producers-are-not-asked"]
    broker.says(bk.End(), answer())
    broker.says(bk.Bound(conn="kp"), answer(offset="1"))
    assert told(broker, "kp", 39, msgId=key) == ["ended-is-not-asked-about"]


IMMUNE = bk.Send(message="m1", half=True, immune=20)


def immune() -> Broker:
    """A half message in second 3, which was born in second 0 and is immune until second 20; the clock of the
    Broker shows 1000 more.
    """
    broker = Broker()
    broker.says(bk.Send(), stored(0))
    assert broker.says(bk.View(), broker.views(bk.Send(), 0, 1000)) == []
    broker.says(bk.Beat(conn="kp", client="p", producers=("p0",)), answer())
    broker.is_born("m1", 1000)
    broker.says(IMMUNE, stored(0))
    return broker


def test_a_producer_is_not_asked_while_a_half_message_is_immune() -> None:
    for passed, wrong in ((15, ["immune-is-not-asked-about"]), (17, ["question-carries-the-message"])):
        broker = immune()
        broker.passes(passed)
        assert told(broker, "kp", 39, msgId=broker.name("m1")) == wrong


def test_a_producer_is_asked_when_a_half_message_is_no_longer_immune() -> None:
    for passed, wrong in ((70, []), (80, ["silent-producer-is-asked"])):
        broker = immune()
        broker.passes(passed)
        assert broker.says(bk.Bound(conn="kp"), answer(offset="1")) == wrong


def test_an_end_is_refused_when_a_half_message_is_no_longer_immune() -> None:
    end = bk.End(message="m1")
    for passed, asked, code, wrong in (
        (10, False, 0, []),
        (10, False, 604, ["commit-delivers"]),
        (20, False, 604, []),
        (20, False, 0, ["late-end-is-refused"]),
        (20, True, 0, []),
    ):
        broker = immune()
        broker.passes(passed)
        assert broker.says(replace(end, asked=asked), answer(code)) == wrong


def test_a_topic_that_was_deleted_comes_again_empty() -> None:
    broker = Broker()
    broker.says(bk.Send(), stored(0))
    broker.says(bk.DropTopic(), answer())
    none = answer(19, nextBeginOffset="0", minOffset="0", maxOffset="0")
    assert broker.says(bk.Pull(), none) == ["topic-that-is-not-there-is-refused"]
    broker.says(bk.MakeTopic(), answer())
    assert broker.says(bk.Pull(), none) == []
    assert broker.says(bk.Bound(), answer(offset="1")) == ["max-offset-is-the-next"]


def test_delays_of_one_level_keep_their_order_but_in_a_topic_that_was_made_again() -> None:
    first, second = bk.Send(message="m0", level=1), bk.Send(message="m1", level=1)
    for comes_again, shown, wrong in (
        (False, (second, first), ["delayed-keeps-its-order"]),
        (False, (first, second), []),
        (True, (second, first), []),
        (True, (first, second), []),
    ):
        broker = Broker()
        broker.says(first, stored(0))
        if comes_again:
            broker.says(bk.DropTopic(), answer())
            broker.says(bk.MakeTopic(), answer())
        broker.says(second, stored(1))
        broker.passes(5)
        assert broker.says(bk.Pull(), broker.shows(*shown)) == wrong


def test_a_pull_that_was_held_when_its_topic_was_deleted_may_end_either_way() -> None:
    none = answer(19, nextBeginOffset="0", minOffset="0", maxOffset="0")
    for since, wrong in ((0, []), (None, ["topic-that-is-not-there-is-refused"])):
        broker = Broker()
        broker.says(bk.MakeTopic(), answer())
        broker.says(bk.DropTopic(), answer())
        assert broker.says(bk.Pull(), none, since) == wrong


def test_the_earliest_time_is_asked_of_messages_that_were_there_before() -> None:
    for since, wrong in ((None, ["earliest-time-is-that-of-the-first"]), (0, [])):
        broker = Broker()
        broker.says(bk.MakeTopic(), answer())
        broker.says(bk.Send(), stored(0))
        assert broker.says(bk.Bound(code=32), answer(timestamp="-1"), since) == wrong


def test_a_connection_without_heartbeats_may_be_closed() -> None:
    for silent, wrong in ((50, ["request-is-answered"]), (130, [])):
        broker = Broker()
        broker.says(bk.Beat(conn="k0", groups=("g0",)), answer())
        broker.passes(silent)
        assert broker.says(bk.Beat(conn="k0", groups=("g0",)), Ended()) == wrong


def test_a_clone_gives_the_offsets_of_another_group() -> None:
    broker = Broker()
    broker.says(bk.MakeTopic(), answer())
    broker.says(bk.Beat(conn="k0", groups=("g0",)), answer())
    broker.says(bk.Commit(offset=4), answer())
    broker.says(bk.Clone(), answer())
    assert broker.says(bk.Committed(group="g1"), answer(offset="4")) == []
    assert broker.says(bk.Committed(group="g1"), answer(offset="0")) == ["clone-gives-offsets"]
