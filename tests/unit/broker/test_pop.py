"""POP: what is given, hidden, acknowledged, and comes again."""

import pytest

from harness.wire import RequestCode, ResponseCode
from harness.wire.bodies import BatchAck, BatchAcks
from harness.wire.messages import decode_messages
from reference_impl.broker.outbox import Answer
from reference_impl.broker.pop_terms import Handle

from .driver import make_broker
from .messages import Lasting, sent

HIDDEN = 10_000


def pop(one, **changes):
    ext = {
        "consumerGroup": "G",
        "topic": "T",
        "queueId": -1,
        "maxMsgNums": 32,
        "invisibleTime": HIDDEN,
        "pollTime": 0,
        "bornTime": one.now,
        "initMode": 0,
        "order": "false",
    }
    return one.ask(RequestCode.POP_MESSAGE, ext | changes)


def bodies(reply):
    return [] if reply is None else [message.body for message in decode_messages(reply.body)]


def handle(reply, offset=0, queue=0, kind="0"):
    """The handle of a message that a pop gave, as clients make it of the answer."""
    start = next(
        words.split()[2]
        for words in reply.ext["startOffsetInfo"].split(";")
        if words.split()[:2] == [kind, str(queue)]
    )
    ext = reply.ext
    words = (start, ext["popTime"], ext["invisibleTime"], ext["reviveQid"], kind, "broker-a", queue, offset)
    return " ".join(map(str, words))


def ack(one, extra, offset=0, topic="T", queue=0):
    ext = {"consumerGroup": "G", "topic": topic, "queueId": queue, "offset": offset, "extraInfo": extra}
    return one.ask(RequestCode.ACK_MESSAGE, ext)


def hide(one, extra, invisible, offset=0):
    ext = {"consumerGroup": "G", "topic": "T", "queueId": 0, "offset": offset, "extraInfo": extra}
    return one.ask(RequestCode.CHANGE_MESSAGE_INVISIBLETIME, ext | {"invisibleTime": invisible})


def notify(one, **changes):
    ext = {"consumerGroup": "G", "topic": "T", "queueId": -1, "pollTime": 0, "bornTime": one.now}
    return one.ask(RequestCode.NOTIFICATION, ext | changes)


def topic(one):
    one.broker.topics.create("T", 4, 6, one.now)
    one.broker.settle(one.now)
    return one


@pytest.fixture
def one():
    """A Broker with a topic."""
    return topic(make_broker("5.3"))


def test_49_knows_nothing_of_it():
    one = make_broker("4.9")
    for code in (200050, 200051, 200053, 200054, 200055, 200151, 400, 401, 402):
        assert one.ask(code).code == ResponseCode.REQUEST_CODE_NOT_SUPPORTED


def test_what_was_popped_is_hidden_and_comes_again(one):
    sent(one, body=b"first")
    sent(one, body=b"second")
    popped = pop(one)
    assert bodies(popped) == [b"first", b"second"]
    assert popped.remark == "FOUND"
    assert popped.ext == {
        "popTime": str(one.now),
        "invisibleTime": str(HIDDEN),
        "reviveQid": "0",
        "restNum": "0",
        "startOffsetInfo": "0 0 0",
        "msgOffsetInfo": "0 0 0,1",
    }
    assert ack(one, handle(popped), 0).code == 0
    one.pass_time(HIDDEN - 1)
    assert pop(one).code == ResponseCode.POLLING_TIMEOUT
    one.pass_time(1)
    again = pop(one)
    (message,) = decode_messages(again.body)
    assert (message.body, message.topic, message.reconsume_times) == (b"second", "T", 1)
    assert again.ext["startOffsetInfo"] == "1 0 0"
    held = Handle.of(message.properties["POP_CK"])
    assert (held.kind, held.offset, held.pop_time) == ("1", 0, one.now)
    assert message.properties["1ST_POP_TIME"] == popped.ext["popTime"]
    assert ack(one, message.properties["POP_CK"], topic="%RETRY%G_T").code == 0
    one.pass_time(2 * HIDDEN)
    assert bodies(pop(one)) == []


def test_nothing_is_lost_by_a_crash():
    lasting = Lasting("5.3")
    one = topic(lasting.one)
    for body in (b"acked", b"hidden", b"fresh"):
        sent(one, body=body)
    popped = pop(one, maxMsgNums=2, invisibleTime=60_000)
    ack(one, handle(popped), 0)
    one.pass_time(30_000)
    one = lasting.restart()
    assert bodies(pop(one)) == [b"fresh"]
    one.pass_time(30_000)
    seen = bodies(pop(one))
    assert b"hidden" in seen
    assert b"acked" not in seen


def test_a_crash_before_offsets_are_written_gives_messages_twice_and_loses_none():
    lasting = Lasting("5.3")
    one = topic(lasting.one)
    sent(one)
    pop(one)
    one = lasting.restart()
    one.pass_time(HIDDEN)
    assert b"hello" in bodies(pop(one))


def test_the_log_is_done_with_up_to_the_oldest_checkpoint_that_lives(one):
    for _ in range(3):
        sent(one)
    handles = [handle(pop(one, maxMsgNums=1), at) for at in range(3)]
    log, group = "rmq_sys_REVIVE_LOG_DefaultCluster", "CID_RMQ_SYS_REVIVE_GROUP"
    for at in (1, 0, 2):
        assert ack(one, handles[at], at).code == 0
    assert [one.broker.offsets.offset_of(group, log, queue) for queue in range(3)] == [1, 1, 1]


def test_another_time(one):
    sent(one)
    popped = pop(one)
    changed = hide(one, handle(popped), 60_000)
    assert changed.ext == {"popTime": str(one.now + 1), "invisibleTime": "60000", "reviveQid": "0"}
    one.pass_time(2 * HIDDEN)
    assert bodies(pop(one)) == []
    ack(one, handle(popped))
    one.pass_time(60_000)
    assert bodies(pop(one)) == [b"hello"]


def test_several_at_once(one):
    for _ in range(3):
        sent(one)
    popped = pop(one)
    held = Handle.of(handle(popped))
    meant = BatchAck(
        consumer_group="G",
        topic="T",
        retry="0",
        pop_time=held.pop_time,
        bits=BatchAck.bits_of([0, 2]),
    )
    assert one.ask(RequestCode.BATCH_ACK_MESSAGE, body=BatchAcks([meant], "broker-a").encode()).code == 0
    assert one.ask(RequestCode.BATCH_ACK_MESSAGE).code == ResponseCode.NO_MESSAGE
    one.pass_time(HIDDEN)
    assert pop(one).ext["msgOffsetInfo"] == "1 0 0"


@pytest.mark.parametrize(
    ("changes", "code"),
    [
        ({"maxMsgNums": 33}, ResponseCode.INVALID_PARAMETER),
        ({"topic": "none"}, ResponseCode.TOPIC_NOT_EXIST),
        ({"queueId": 4}, ResponseCode.INVALID_PARAMETER),
        ({"exp": "a > >", "expType": "SQL92"}, ResponseCode.SUBSCRIPTION_PARSE_FAILED),
        ({"bornTime": 1}, ResponseCode.POLLING_TIMEOUT),
    ],
)
def test_what_is_refused(one, changes, code):
    reply = pop(one, **changes)
    assert reply.code == code
    assert reply.ext == {"popTime": "0", "invisibleTime": "0", "reviveQid": "0", "restNum": "0"}


@pytest.mark.parametrize(
    ("words", "code"),
    [
        ({"topic": "none"}, ResponseCode.TOPIC_NOT_EXIST),
        ({"queue": 4}, ResponseCode.MESSAGE_ILLEGAL),
        ({"offset": 2}, ResponseCode.NO_MESSAGE),
        ({"extra": "0 1"}, ResponseCode.SYSTEM_ERROR),
    ],
)
def test_what_cannot_be_acknowledged(one, words, code):
    sent(one)
    assert ack(one, **{"extra": "0 1 1 0 0 broker-a 0 0"} | words).code == code


def test_a_message_ends_a_wait_and_what_is_over_ends_the_next(one):
    for _ in range(2):
        assert pop(one, pollTime=20_000, maxMsgNums=1) is None
    one.broker.topics.create("T2", 1, 6, one.now)
    sent(one, "T2")
    assert one.taken(Answer) == []
    one.ask(RequestCode.SEND_MESSAGE_V2)
    for body in (b"a", b"b"):
        sent(one, body=body)
    assert [bodies(answer.reply) for answer in one.taken(Answer)] == [[b"a"], [b"b"]]


def test_a_wait_ends_when_its_time_is_over(one):
    assert pop(one, pollTime=20_000) is None
    one.pass_time(19_950)
    assert one.taken(Answer) == []
    one.pass_time(1)
    (answer,) = one.taken(Answer)
    assert (answer.reply.code, answer.reply.remark) == (210, "NO_MESSAGE_IN_QUEUE")
    one.pass_time(60_000)
    assert one.taken(Answer) == []


def test_a_wait_that_its_client_has_given_up_takes_nothing(one):
    assert pop(one, pollTime=20_000) is None
    one.now += 60_000
    sent(one)
    (answer,) = one.taken(Answer)
    assert answer.reply.code == ResponseCode.POLLING_TIMEOUT
    assert bodies(pop(one)) == [b"hello"]


def test_a_wait_ends_with_what_comes_again(one):
    sent(one)
    pop(one)
    assert pop(one, pollTime=20_000) is None
    one.pass_time(HIDDEN)
    (answer,) = one.taken(Answer)
    assert bodies(answer.reply) == [b"hello"]


def test_no_wait_is_without_bound():
    one = topic(make_broker("5.3", popPollingSize=0))
    assert pop(one, pollTime=9_000) is None
    assert pop(one, pollTime=9_000).code == ResponseCode.POLLING_FULL
    one.broker.lost(1, one.now)
    assert pop(one, pollTime=9_000) is None


def test_a_pop_of_nothing_does_not_keep_the_broker_busy(one):
    sent(one)
    assert pop(one, pollTime=9_000, maxMsgNums=0) is None


def test_a_filter(one):
    for tag in ("a", "b"):
        sent(one, body=tag.encode(), properties={"TAGS": tag})
    assert bodies(pop(one, exp="b", expType="TAG")) == [b"b"]
    assert bodies(pop(one)) == []


@pytest.mark.parametrize(("checks", "first"), [("true", b"0"), ("false", b"2")])
def test_where_a_group_begins(checks, first):
    one = topic(make_broker("5.3", initPopOffsetByCheckMsgInMem=checks))
    for number in range(3):
        sent(one, body=b"%d" % number)
    assert bodies(pop(one, initMode=1))[0] == first


def test_the_newer_topic_of_what_comes_again():
    one = topic(make_broker("5.3", enableRetryTopicV2="true", retrieveMessageFromPopRetryTopicV1="false"))
    sent(one)
    pop(one)
    one.pass_time(HIDDEN)
    again = pop(one)
    assert again.ext["startOffsetInfo"] == "2 0 0"
    (message,) = decode_messages(again.body)
    assert Handle.of(message.properties["POP_CK"]).kind == "2"


def test_in_order(one):
    for body in (b"a", b"b", b"c"):
        sent(one, body=body)
    popped = pop(one, order="true", maxMsgNums=2)
    assert (popped.ext["reviveQid"], popped.ext["orderCountInfo"]) == ("999", "0 0 0")
    assert pop(one, order="true", pollTime=90_000) is None
    assert ack(one, handle(popped), 1).code == 0
    assert one.taken(Answer) == []
    assert ack(one, handle(popped), 7).code == ResponseCode.NO_MESSAGE
    assert ack(one, handle(popped), 2).code == ResponseCode.MESSAGE_ILLEGAL
    assert ack(one, handle(popped), 0).code == 0
    (answer,) = one.taken(Answer)
    assert bodies(answer.reply) == [b"c"]
    one.pass_time(HIDDEN)
    again = pop(one, order="true")
    assert bodies(again) == [b"c"]
    assert again.ext["orderCountInfo"] == "0 qo0%2 1;0 0 1"


def test_in_order_a_message_is_hidden_for_another_time(one):
    sent(one)
    popped = pop(one, order="true", attemptId="x")
    assert bodies(pop(one, order="true", attemptId="x")) == [b"hello"]
    changed = hide(one, handle(popped), 1_000)
    assert changed.ext["popTime"] == popped.ext["popTime"]
    assert pop(one, order="true", pollTime=9_000) is None
    one.pass_time(1_000)
    (answer,) = one.taken(Answer)
    assert bodies(answer.reply) == [b"hello"]


def test_notifications(one):
    assert notify(one).ext == {"hasMsg": "false", "pollingFull": "false"}
    assert notify(one, pollTime=9_000) is None
    assert pop(one, pollTime=9_000) is None
    place = {"consumerGroup": "G", "topic": "T", "queueId": -1}
    assert one.ask(RequestCode.POLLING_INFO, place).ext == {"pollingNum": "1"}
    sent(one)
    told, popped = one.taken(Answer)
    assert told.reply.ext == {"hasMsg": "true", "pollingFull": "false"}
    assert bodies(popped.reply) == [b"hello"]
    assert notify(one).ext["hasMsg"] == "false"
    one.pass_time(HIDDEN)
    assert notify(one).ext["hasMsg"] == "true"


def test_behind_many_messages_any_of_them_is_worth_a_notification():
    one = topic(make_broker("5.5"))
    wanted = {"exp": "other", "expType": "TAG"}
    for number in range(1, 65):
        assert notify(one, **wanted).ext["hasMsg"] == "false"
        sent(one, body=b"%d" % number)
    assert notify(one, **wanted).ext["hasMsg"] == "true"
