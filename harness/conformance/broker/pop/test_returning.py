"""Chapter pop: messages return until they are acknowledged."""

import json
from collections.abc import Iterable
from itertools import product
from operator import attrgetter

from harness.conformance import AnyOf, Including, Matching, Reply, case
from harness.conformance.broker.expiring import EXPIRING, OLD, begins_late
from harness.conformance.broker.pop.popping import (
    HIDDEN,
    NEWER,
    NOTHING,
    SUCCESS,
    again_after_a_start,
    entry_of,
    filled,
    popped,
)
from harness.conformance.broker.whole import judge_copy, plain_properties, send_whole, sent_members
from harness.session import BrokerSession
from harness.session.exchange import View
from harness.spec.broker.hidden import REVIVAL, WRITTEN
from harness.wire import RequestCode, ResponseCode
from harness.wire.bodies import BatchAck, BatchAcks
from harness.wire.handles import new_handle

NO_MESSAGE = ResponseCode.NO_MESSAGE


@case(
    "bk.pop.comes-again",
    "bk.pop.is-hidden-for-its-time",
    kills=["popped-is-lost", "hidden-for-half"],
    clock=True,
)
def test_comes_again(bk: BrokerSession) -> None:
    """A message that is not acknowledged is hidden for its time, and then comes again."""
    topic, group = filled(bk, b"a")
    pop = bk.pop(topic, group, invisible=HIDDEN) >> Reply(SUCCESS)
    bk.advance_short_of(HIDDEN - 1, since=pop)
    bk.pop(topic, group) >> NOTHING
    bk.advance_past(HIDDEN, since=pop)
    bk.advance(REVIVAL + bk.jitter)
    bk.pop(topic, group).bodies.eventually() >> Reply(SUCCESS, [b"a"])


@case(kills=["comes-again-uncounted", "comes-again-elsewhere", "comes-again-without-handle"], clock=True)
def test_comes_again_as_itself(bk: BrokerSession) -> None:
    topic, group = filled(bk, b"a")
    first = bk.pop(topic, group, invisible=10).pop_time >> Reply(SUCCESS)
    bk.advance(10 + REVIVAL + bk.jitter)
    again = bk.pop(topic, group)
    again.given.eventually() >> Reply(SUCCESS, [("1", 0, 0)])
    again.seen("topics and times", lambda one: (one.topic, one.reconsume_times)) >> Reply(
        SUCCESS, [(topic, 1)]
    )
    told = {"1ST_POP_TIME": first.value, "POP_CK": Matching(r"^0 \d+ 60000 \d 1 \S+ 0 0$")}
    again.properties >> Reply(SUCCESS, [Including(told)])


@case(
    kills=["comes-again-without-its-past", "comes-again-with-a-new-first-pop", "comes-again-uncounted"],
    clock=True,
)
def test_comes_again_with_what_it_had(bk: BrokerSession) -> None:
    topic, group = bk.topic(), bk.group()
    had = {"TAGS": "A", "KEYS": "k", "x": "y"}
    bk.send(topic, b"a", 2, tags="A", keys="k", properties={"x": "y"}, flag_of_user=7, born=1234) >> Reply(
        SUCCESS
    )
    first = bk.pop(topic, group, invisible=10)
    first.bodies.eventually() >> Reply(SUCCESS, [b"a"])
    popped_at = (first.pop_time >> Reply(SUCCESS)).value
    for times in (1, 2):
        bk.advance(10 + REVIVAL + bk.jitter)
        again = bk.pop(topic, group, invisible=10)
        again.properties.eventually() >> Reply(SUCCESS, [Including({**had, "1ST_POP_TIME": popped_at})])
        again.seen(
            "the rest", lambda one: (one.body, one.flag, one.born_timestamp, one.reconsume_times)
        ) >> Reply(SUCCESS, [(b"a", 7, 1234, times)])


@case(kills=["retry-topics-of-pops-cannot-be-read", "retry-topics-of-pops-are-made-anew"], clock=True)
def test_topic_of_what_comes_again(bk: BrokerSession) -> None:
    topic, group = filled(bk, b"a")
    bk.pop(topic, group, invisible=10) >> Reply(SUCCESS)
    bk.advance(10 + REVIVAL + bk.jitter)
    made = {"readQueueNums": 1, "writeQueueNums": 1, "perm": 6, "topicSysFlag": 0, "order": False}
    again = f"%RETRY%{group}_{topic}"
    bk.topic_config(again).json.eventually() >> Reply(SUCCESS, Including(made))
    bk.create_topic(again, 3, order=True) >> Reply(SUCCESS)
    bk.pop(topic, group, invisible=10).bodies.eventually() >> Reply(SUCCESS, [b"a"])
    bk.advance(10 + REVIVAL + bk.jitter)
    bk.max_offset(again).offset.eventually() >> Reply(SUCCESS, 2)
    kept = {**made, "readQueueNums": 3, "writeQueueNums": 3, "order": True}
    bk.topic_config(again).json >> Reply(SUCCESS, Including(kept))


@case(kills=["retry-topics-of-pops-have-no-offset", "retry-topics-of-pops-begin-in-queue-1"], clock=True)
def test_group_begins_in_the_topic_of_what_comes_again(bk: BrokerSession) -> None:
    topic, group = filled(bk, b"a")
    bk.pop(topic, group, invisible=10) >> Reply(SUCCESS)
    bk.advance(10 + REVIVAL + bk.jitter)
    retries = f"%RETRY%{group}_{topic}"
    bk.max_offset(retries).offset.eventually() >> Reply(SUCCESS, 1)
    table = Including({"offsetTable": Including({f"{retries}@{group}": {"0": 0}})})
    bk.offsets().json >> Reply(SUCCESS, table)


@case(
    kills=["comes-again-as-asked-for"],
    clock=True,
    setup={"popResponseReturnActualRetryTopic": "true"},
)
def test_comes_again_with_its_own_topic(bk: BrokerSession) -> None:
    topic, group = filled(bk, b"a")
    bk.pop(topic, group, invisible=10).seen("topics", attrgetter("topic")) >> Reply(SUCCESS, [topic])
    bk.advance(10 + REVIVAL + bk.jitter)
    retries = f"%RETRY%{group}_{topic}"
    bk.pop(topic, group).seen("topics", attrgetter("topic")).eventually() >> Reply(SUCCESS, [retries])


@case(
    kills=["comes-again-in-the-older-topic", "acks-of-several-are-of-the-older-topic"],
    clock=True,
    setup=NEWER,
)
def test_comes_again_in_the_newer_topic(bk: BrokerSession) -> None:
    topic, group = filled(bk, b"a", b"b", b"c")
    bk.pop(topic, group, invisible=10) >> Reply(SUCCESS)
    bk.advance(10 + REVIVAL + bk.jitter)
    bk.notification(topic, group).eventually() >> Reply(SUCCESS, ext=Including({"hasMsg": "true"}))
    bk.max_offset(f"%RETRY%{group}+{topic}").offset.eventually() >> Reply(SUCCESS, 3)
    again = bk.pop(topic, group)
    again.given.eventually() >> Reply(SUCCESS, [("2", 0, offset) for offset in range(3)])
    marks = [Including({"POP_CK": Matching(rf"^0 \d+ 60000 \d 2 \S+ 0 {offset}$")}) for offset in range(3)]
    again.properties >> Reply(SUCCESS, marks)
    handles = (again.handles >> Reply(SUCCESS)).value
    bk.ack(topic, group, handles[0]) >> Reply(SUCCESS)
    bk.ack_all(topic, group, handles[1:]) >> Reply(SUCCESS)
    bk.advance(HIDDEN + REVIVAL + bk.jitter)
    bk.pop(topic, group) >> NOTHING


@case(kills=["acks-do-not-count"], clock=True)
def test_acknowledged_does_not_come_again(bk: BrokerSession) -> None:
    topic, group = filled(bk, b"a")
    bk.ack(topic, group, popped(bk, topic, group)[0]) >> Reply(SUCCESS)
    bk.advance(HIDDEN + REVIVAL + bk.jitter)
    bk.pop(topic, group) >> NOTHING


@case(kills=["one-ack-is-for-all"], clock=True)
def test_what_is_not_acknowledged_comes_again(bk: BrokerSession) -> None:
    topic, group = filled(bk, b"a", b"b", b"c")
    handles = popped(bk, topic, group, 3)
    for handle in (handles[0], handles[2]):
        bk.ack(topic, group, handle) >> Reply(SUCCESS)
    bk.advance(HIDDEN + REVIVAL + bk.jitter)
    bk.pop(topic, group).bodies.eventually() >> Reply(SUCCESS, [b"b"])


@case(kills=["acks-of-what-came-again-do-not-count"], clock=True)
def test_acknowledged_when_it_came_again(bk: BrokerSession) -> None:
    topic, group = filled(bk, b"a", b"b", b"c")
    bk.pop(topic, group, invisible=10) >> Reply(SUCCESS)
    bk.advance(10 + REVIVAL + bk.jitter)
    bk.max_offset(f"%RETRY%{group}_{topic}").offset.eventually() >> Reply(SUCCESS, 3)
    again = bk.pop(topic, group)
    again.bodies >> Reply(SUCCESS, [b"a", b"b", b"c"])
    handles = (again.handles >> Reply(SUCCESS)).value
    bk.ack(topic, group, handles[0]) >> Reply(SUCCESS)
    bk.ack_all(topic, group, handles[1:]) >> Reply(SUCCESS)
    bk.advance(HIDDEN + REVIVAL + bk.jitter)
    bk.pop(topic, group) >> NOTHING


@case(kills=["acks-of-several-do-not-count"], clock=True)
def test_several_are_acknowledged_at_once(bk: BrokerSession) -> None:
    topic, group = filled(bk, b"a", b"b", b"c")
    handles = popped(bk, topic, group, 3)
    bk.ack_all(topic, group, handles[1:]) >> Reply(SUCCESS)
    bk.advance(HIDDEN + REVIVAL + bk.jitter)
    bk.pop(topic, group).bodies.eventually() >> Reply(SUCCESS, [b"a"])


@case(kills=["acks-of-nothing-succeed"])
def test_acknowledging_nothing_is_refused(bk: BrokerSession) -> None:
    bk.ack_all(bk.topic(), bk.group(), []) >> Reply(NO_MESSAGE)
    for body in (b"", b"null", b"{}"):
        bk.call(RequestCode.BATCH_ACK_MESSAGE, None, body) >> Reply(NO_MESSAGE)


@case(kills=["acks-that-cannot-be-read-succeed", "acks-without-a-kind-are-of-the-topic"], clock=True)
def test_acknowledgements_that_cannot_be_read(bk: BrokerSession) -> None:
    topic, group = filled(bk, b"a")
    entry = entry_of(topic, group, popped(bk, topic, group)[0])
    refused = Reply(ResponseCode.SYSTEM_ERROR, remark=Matching("."))
    bk.call(RequestCode.BATCH_ACK_MESSAGE, None, b"{") >> refused
    for wrong in ({"r": "3"}, {"r": None}, {"t": None}, {"b": "%%%%"}, {"b": None}):
        body = json.dumps({"brokerName": bk.broker_name, "acks": [{**entry, **wrong}]}).encode()
        bk.call(RequestCode.BATCH_ACK_MESSAGE, None, body) >> refused
    bk.advance(HIDDEN + REVIVAL + bk.jitter)
    bk.pop(topic, group).bodies.eventually() >> Reply(SUCCESS, [b"a"])


@case(kills=["acks-need-all-numbers", "acks-need-no-time"], clock=True, setup={"reviveQueueNum": "1"})
def test_numbers_of_acknowledgements_are_0(bk: BrokerSession) -> None:
    (topic, _), groups = filled(bk, b"a"), []
    for number, is_null in product(("so", "q", "rq", "it", "pt"), (False, True)):
        groups.append((number, group := bk.group()))
        entry = entry_of(topic, group, popped(bk, topic, group)[0]) | {number: None}
        if not is_null:
            del entry[number]
        body = json.dumps({"brokerName": bk.broker_name, "acks": [entry]}).encode()
        bk.call(RequestCode.BATCH_ACK_MESSAGE, None, body) >> Reply(SUCCESS)
    bk.advance(HIDDEN + REVIVAL + bk.jitter)
    for number, group in groups:
        if number == "pt":
            bk.pop(topic, group).bodies.eventually() >> Reply(SUCCESS, [b"a"])
        elif number != "it":  # Apache's Broker may read that before the pop
            bk.pop(topic, group) >> NOTHING


@case(kills=["acks-of-any-offset", "acks-at-the-end-are-refused"])
def test_acknowledging_beyond_the_queue_is_refused(bk: BrokerSession) -> None:
    topic, group = filled(bk, b"a")
    (handle,) = popped(bk, topic, group)
    remark = Matching(r"^offset is illegal, key:\S+@0, commit:2, store:0~1$")
    bk.ack(topic, group, handle, ext={"offset": "2"}) >> Reply(NO_MESSAGE, remark=remark)
    bk.ack(topic, group, handle, ext={"offset": "1"}) >> Reply(SUCCESS)
    for queue in ("4", "-1"):
        remark = Matching(
            rf"^queueId\[{queue}\] is illegal, topic:\[{topic}\] topicConfig.readQueueNums:\[4\] "
        )
        illegal = Reply(ResponseCode.MESSAGE_ILLEGAL, remark=remark)
        bk.ack(topic, group, handle, ext={"queueId": queue}) >> illegal
    bk.ack(bk.name("T"), group, handle) >> Reply(ResponseCode.TOPIC_NOT_EXIST)


@case(kills=["handles-may-be-anything", "handles-need-a-queue"])
def test_handle_that_is_none_is_refused(bk: BrokerSession) -> None:
    topic, group = filled(bk, b"a")
    (handle,) = popped(bk, topic, group)
    refused = Reply(ResponseCode.SYSTEM_ERROR, remark=Matching("."))
    words = handle.split(" ")
    for text in ("", "x", " ".join(words[:5]), " ".join([words[0], "x", *words[2:]])):
        bk.ack(topic, group, handle, ext={"extraInfo": text}) >> refused
        bk.hide(topic, group, handle, 10, ext={"extraInfo": text}) >> refused
    bk.ack(topic, group, handle, ext={"extraInfo": " ".join(words[:6])}) >> Reply(SUCCESS)


@case(kills=["hidden-for-no-longer"], clock=True)
def test_can_be_hidden_for_longer(bk: BrokerSession) -> None:
    topic, group = filled(bk, b"a")
    (handle,) = popped(bk, topic, group)
    told = Including({"invisibleTime": "300000"})
    changed = bk.hide(topic, group, handle, 300) >> Reply(SUCCESS, ext=told)
    bk.advance(HIDDEN + REVIVAL + bk.jitter)
    bk.pop(topic, group) >> NOTHING
    bk.advance_past(300, since=changed)
    bk.advance(REVIVAL + bk.jitter)
    bk.pop(topic, group).bodies.eventually() >> Reply(SUCCESS, [b"a"])


@case(kills=["suspended-are-counted", "hidden-are-not-counted"], clock=True)
def test_suspended_is_not_counted(bk: BrokerSession) -> None:
    asked = {suspend: filled(bk, b"a") for suspend in ("true", "false")}
    for suspend, (topic, group) in asked.items():
        (handle,) = popped(bk, topic, group)
        bk.hide(topic, group, handle, 10, ext={"suspend": suspend}) >> Reply(SUCCESS)
    bk.advance(10 + REVIVAL + bk.jitter)
    for suspend, times in (("true", 0), ("false", 1)):
        again = bk.pop(*asked[suspend]).seen("times", lambda one: (one.body, one.reconsume_times))
        again.eventually() >> Reply(SUCCESS, [(b"a", times)])


@case(kills=["old-handles-are-worth-something"], clock=True)
def test_old_handle_is_invalid(bk: BrokerSession) -> None:
    topic, group = filled(bk, b"a")
    (handle,) = popped(bk, topic, group)
    bk.hide(topic, group, handle, 20) >> Reply(SUCCESS)
    bk.ack(topic, group, handle) >> Reply(SUCCESS)
    bk.advance(20 + REVIVAL + bk.jitter)
    bk.pop(topic, group).bodies.eventually() >> Reply(SUCCESS, [b"a"])


def hidden(bk: BrokerSession, topic: str, group: str, handle: str, invisible: float) -> str:
    """Hides a message for another time, and returns its new handle."""
    names = ("popTime", "invisibleTime", "reviveQid")
    told = View(
        "new handle", lambda reply: {name: (reply.ext or {}).get(name) for name in names}, columns=names
    )
    revive_queue = handle.split(" ")[3]
    words = (Matching(r"^\d+$"), str(round(invisible * 1000)), revive_queue)
    expected = dict(zip(names, words, strict=True))
    changed = bk.hide(topic, group, handle, invisible).seen_as(told) >> Reply(SUCCESS, expected)
    return new_handle(handle, changed.value)


@case(kills=["new-handles-are-the-old-ones", "new-handles-name-another-queue-of-the-log"], clock=True)
def test_hidden_has_a_new_handle(bk: BrokerSession) -> None:
    topic, group = filled(bk, b"a", b"b", b"c", queue=2)
    first, second, third = popped(bk, topic, group, 3)
    bk.ack(topic, group, hidden(bk, topic, group, first, 20)) >> Reply(SUCCESS)
    bk.ack_all(topic, group, [hidden(bk, topic, group, second, 20)]) >> Reply(SUCCESS)
    hidden(bk, topic, group, hidden(bk, topic, group, third, 20), 300)
    bk.advance(HIDDEN + REVIVAL + bk.jitter)
    bk.pop(topic, group) >> NOTHING
    bk.advance(300 - HIDDEN + bk.jitter)
    bk.pop(topic, group).bodies.eventually() >> Reply(SUCCESS, [b"c"])


@case(kills=["anything-can-be-hidden", "refused-hiding-tells-of-the-pop"])
def test_hiding_beyond_the_queue_is_refused(bk: BrokerSession) -> None:
    topic, group = filled(bk, b"a")
    (handle,) = popped(bk, topic, group)
    nothing = {"popTime": "0", "invisibleTime": "0", "reviveQid": "0"}
    bk.hide(topic, group, handle, 10, ext={"offset": "1"}) >> Reply(NO_MESSAGE, ext=nothing)
    for queue in ("4", "-1"):
        remark = Matching(
            rf"^queueId\[{queue}\] is illegal, topic:\[{topic}\] topicConfig.readQueueNums:\[4\] "
        )
        illegal = Reply(ResponseCode.MESSAGE_ILLEGAL, ext=nothing, remark=remark)
        bk.hide(topic, group, handle, 10, ext={"queueId": queue}) >> illegal
    unknown = Reply(ResponseCode.TOPIC_NOT_EXIST, ext=nothing)
    bk.hide(bk.name("T"), group, handle, 10) >> unknown


@case(
    "bk.pop.acknowledging-what-is-gone-is-refused",
    "bk.pop.hiding-what-is-gone-is-refused",
    kills=["what-is-gone-is-acknowledged", "what-is-gone-is-hidden"],
    clock=True,
    own_server=True,
    setup=OLD,
)
def test_acknowledging_what_is_gone_is_refused(bk: BrokerSession) -> None:
    """What lies before the first message that is left is neither acknowledged nor hidden."""
    topic, group = bk.topic(), bk.group()
    low = begins_late(bk, topic)
    pop = bk.pop(topic, group, 1)
    pop.offsets >> Reply(SUCCESS, list(range(low, 6)))
    handle = (pop.handles >> Reply(SUCCESS)).value[0]
    gone = {"offset": str(low - 1)}
    bk.ack(topic, group, handle, ext=gone) >> Reply(NO_MESSAGE)
    nothing = {"popTime": "0", "invisibleTime": "0", "reviveQid": "0"}
    bk.hide(topic, group, handle, 10, ext=gone) >> Reply(NO_MESSAGE, ext=nothing)
    bk.ack(topic, group, handle) >> Reply(SUCCESS)


def ack_in_one_entry(bk: BrokerSession, topic: str, group: str, handle: str, numbers: Iterable[int]) -> None:
    """Acknowledges messages of one pop of queue 2, by their numbers in it."""
    start, time, hidden, revive = map(int, handle.split(" ")[:4])
    entry = BatchAck(
        consumer_group=group,
        topic=topic,
        retry="0",
        queue_id=2,
        start_offset=start,
        revive_queue_id=revive,
        pop_time=time,
        invisible_time=hidden,
        bits=BatchAck.bits_of(numbers),
    )
    body = BatchAcks([entry], bk.broker_name).encode()
    bk.call(RequestCode.BATCH_ACK_MESSAGE, None, body, about=topic) >> Reply(SUCCESS)


@case(kills=["checkpoints-are-forgotten"], clock=True, own_server=True)
def test_survives_a_kill(bk: BrokerSession) -> None:
    topic, group = bk.topic(), bk.group()
    for body in (b"first", b"a", b"b", b"c", b"d"):
        bk.send(topic, body, 2) >> Reply(SUCCESS)
    bk.max_offset(topic, 2).offset.eventually() >> Reply(SUCCESS, 5)
    (done, _), more = filled(bk, b"done"), filled(bk, b"hidden")
    bk.pop(*more, invisible=7200).bodies >> Reply(SUCCESS, [b"hidden"])
    bk.ack(topic, group, popped(bk, topic, group)[0]) >> Reply(SUCCESS)
    pop = bk.pop(topic, group, most=4)
    pop.bodies >> Reply(SUCCESS, [b"a", b"b", b"c", b"d"])
    handles = (pop.handles >> Reply(SUCCESS)).value
    bk.ack(topic, group, handles[1]) >> Reply(SUCCESS)
    ack_in_one_entry(bk, topic, group, handles[0], (0, 3))
    bk.ack(done, group, popped(bk, done, group)[0]) >> Reply(SUCCESS)
    bk.advance(WRITTEN)
    bk.restart("kill")
    bk.advance(HIDDEN)
    again_after_a_start(bk, topic, group).bodies >> Reply(SUCCESS, [b"c"])
    bk.pop(done, group) >> NOTHING
    bk.pop(*more) >> NOTHING


@case(
    kills=["comes-again-to-deleted-groups", "popped-is-lost"],
    clock=True,
    setup={"autoCreateSubscriptionGroup": "false"},
)
def test_does_not_come_again_to_a_deleted_group(bk: BrokerSession) -> None:
    topic, _ = filled(bk, b"a")
    deleted, other = bk.group("deleted"), bk.group("other")
    for group in (deleted, other):
        bk.create_group(group) >> Reply(SUCCESS)
        bk.pop(topic, group, invisible=10).bodies >> Reply(SUCCESS, [b"a"])
    bk.call(RequestCode.DELETE_SUBSCRIPTIONGROUP, {"groupName": deleted}) >> Reply(SUCCESS)
    bk.advance(10 + REVIVAL + bk.jitter)
    bk.create_group(deleted) >> Reply(SUCCESS)
    bk.pop(topic, other).bodies.eventually() >> Reply(SUCCESS, [b"a"])
    bk.pop(topic, deleted) >> NOTHING


@case(kills=["revived-come-from-the-producer"], clock=True)
def test_comes_again_as_a_whole(bk: BrokerSession) -> None:
    topic, group, connection = bk.topic(), bk.group(), bk.connect()
    plain = plain_properties(bk, connection)
    send_whole(bk, topic, connection)
    first = bk.pop(topic, group, invisible=10)
    sent = sent_members(bk, topic, connection)
    judge_copy(first, "popped", sent, plain)
    popped_at = (first.pop_time >> Reply(SUCCESS)).value
    bk.advance(10 + REVIVAL + bk.jitter)
    judge_copy(bk.pop(topic, group), "popped again", sent, plain, popped=popped_at, group=group)


@case(kills=["expired-come-again-empty"], clock=True, own_server=True, setup=EXPIRING)
def test_expired_does_not_come_again(bk: BrokerSession) -> None:
    topic, group, fresh = bk.topic(), bk.group(), bk.topic("fresh")
    bk.send(topic, bytes(20_000)) >> Reply(SUCCESS)
    bk.max_offset(topic).offset.eventually() >> Reply(SUCCESS, 1)
    bk.pop(topic, group, invisible=200).offsets >> Reply(SUCCESS, [0])
    for _ in range(8):
        bk.send(fresh, bytes(20_000)) >> Reply(SUCCESS)
    bk.advance(60 + 10 + 10 + bk.jitter)
    bk.min_offset(topic).offset.eventually() >> Reply(SUCCESS, 1)
    bk.advance(200 + REVIVAL + bk.jitter)
    bk.pop(topic, group) >> NOTHING
    bk.send(topic, b"new").offset >> Reply(SUCCESS, 1)
    bk.pop(topic, group).bodies.eventually() >> Reply(SUCCESS, [b"new"])


def fresh_and_again(bk: BrokerSession) -> tuple[str, str]:
    """A topic with a message, and a group for which another message has come again."""
    topic, group = filled(bk, b"fresh")
    again = f"%RETRY%{group}_{topic}"
    bk.create_topic(again, 1) >> Reply(SUCCESS)
    bk.send(again, b"again") >> Reply(SUCCESS)
    bk.max_offset(again).offset.eventually() >> Reply(SUCCESS, 1)
    return topic, group


@case(kills=["what-comes-again-is-always-last"], setup={"popFromRetryProbability": "100"})
def test_all_pops_may_begin_with_what_comes_again(bk: BrokerSession) -> None:
    topic, group = fresh_and_again(bk)
    for body in (b"again", b"fresh"):
        bk.pop(topic, group, most=1).bodies >> Reply(SUCCESS, [body])


@case(kills=["what-comes-again-is-always-first"], setup={"popFromRetryProbability": "0"})
def test_all_pops_may_end_with_what_comes_again(bk: BrokerSession) -> None:
    topic, group = fresh_and_again(bk)
    for body in (b"fresh", b"again"):
        bk.pop(topic, group, most=1).bodies >> Reply(SUCCESS, [body])


@case(
    kills=["newer-brokers-look-into-newer-topics-alone", "newer-brokers-look-into-older-topics-alone"],
    clock=True,
    setup={"enableRetryTopicV2": "true"},
)
def test_comes_again_from_either_topic(bk: BrokerSession) -> None:
    topic, group = filled(bk, b"a", b"b")
    bk.pop(topic, group, invisible=10).bodies >> Reply(SUCCESS, [b"a", b"b"])
    older = f"%RETRY%{group}_{topic}"
    bk.create_topic(older, 1) >> Reply(SUCCESS)
    for body in (b"c", b"d"):
        bk.send(older, body) >> Reply(SUCCESS)
    bk.advance(10 + REVIVAL + bk.jitter)
    for separator in "_+":
        bk.max_offset(f"%RETRY%{group}{separator}{topic}").offset.eventually() >> Reply(SUCCESS, 2)
    bodies = [b"a", b"b", b"c", b"d"]
    while bodies[1:]:
        pop = bk.pop(topic, group, most=1).bodies.eventually()
        found = pop >> AnyOf(*(Reply(SUCCESS, [body]) for body in bodies))
        bodies.remove(found.value[0])
    bk.pop(topic, group).bodies.eventually() >> Reply(SUCCESS, bodies)


@case(kills=["only-the-newest-comes-again"], setup={"initPopOffsetByCheckMsgInMem": "false"})
def test_all_come_again_to_who_begins_at_the_end(bk: BrokerSession) -> None:
    topic, group = bk.topic(), bk.group()
    again = f"%RETRY%{group}_{topic}"
    bk.create_topic(again, 1) >> Reply(SUCCESS)
    for body in (b"a", b"b"):
        bk.send(again, body) >> Reply(SUCCESS)
    bk.max_offset(again).offset.eventually() >> Reply(SUCCESS, 2)
    bk.pop(topic, group, newest=True).bodies >> Reply(SUCCESS, [b"a", b"b"])
