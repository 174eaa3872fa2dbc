"""Chapter pop: pops of a group that consumes in order."""

from harness.conformance import ANYTHING, Between, Including, Matching, Reply, case
from harness.conformance.broker.pop.popping import HIDDEN, NOTHING, SUCCESS, filled, popped
from harness.session import BrokerSession
from harness.session.exchange import View
from harness.wire import RequestCode, ResponseCode
from harness.wire.bodies import BatchAck, BatchAcks

INVISIBLE = View("invisible time", lambda reply: int((reply.ext or {}).get("invisibleTime") or 0))


@case(kills=["ordered-pops-do-not-block", "ordered-acks-free-nothing"])
def test_order_blocks_the_queue(bk: BrokerSession) -> None:
    topic, group = filled(bk, b"a", b"b", b"c")
    handles = popped(bk, topic, group, 2, order=True)
    bk.ack(topic, group, handles[1]) >> Reply(SUCCESS)
    bk.pop(topic, group, order=True) >> NOTHING
    bk.ack(topic, group, handles[0]) >> Reply(SUCCESS)
    bk.pop(topic, group, order=True).bodies >> Reply(SUCCESS, [b"c"])


@case(kills=["ordered-pops-hold-others-up"])
def test_order_holds_no_other_pops_up(bk: BrokerSession) -> None:
    topic, group = filled(bk, b"a", b"b")
    popped(bk, topic, group, order=True)
    bk.pop(topic, group, order=True) >> NOTHING
    bk.pop(topic, group, most=1).bodies >> Reply(SUCCESS, [ANYTHING])


@case(kills=["ordered-pops-take-what-comes-again"])
def test_order_takes_nothing_that_comes_again(bk: BrokerSession) -> None:
    topic, group = filled(bk, b"a")
    again = f"%RETRY%{group}_{topic}"
    bk.create_topic(again, 1) >> Reply(SUCCESS)
    bk.send(again, b"again") >> Reply(SUCCESS)
    bk.max_offset(again).offset.eventually() >> Reply(SUCCESS, 1)
    pop = bk.pop(topic, group, order=True)
    pop.bodies >> Reply(SUCCESS, [b"a"])
    (handle,) = (pop.handles >> Reply(SUCCESS)).value
    bk.ack(topic, group, handle) >> Reply(SUCCESS)
    bk.pop(topic, group, order=True) >> NOTHING
    bk.pop(topic, group).bodies >> Reply(SUCCESS, [b"again"])


@case(kills=["ordered-pops-go-on", "ordered-pops-count-to-one", "ordered-counts-are-the-highest"], clock=True)
def test_order_goes_on_with_what_is_not_acknowledged(bk: BrokerSession) -> None:
    topic, group = filled(bk, b"a", b"b", b"c", queue=2)
    first = bk.pop(topic, group, most=2, order=True)
    handles = (
        first.handles >> Reply(SUCCESS, ext=Including({"reviveQid": "999", "orderCountInfo": "0 2 0"}))
    ).value
    bk.ack(topic, group, handles[0]) >> Reply(SUCCESS)
    for counts in ("0 qo2%1 1;0 2 0", "0 qo2%1 2;0 qo2%2 1;0 2 1"):
        bk.advance(HIDDEN + bk.jitter)
        again = bk.pop(topic, group, order=True)
        again.bodies >> Reply(SUCCESS, [b"b", b"c"], ext=Including({"orderCountInfo": counts}))


@case(kills=["ordered-acks-of-anything", "ordered-acks-are-of-nobody"])
def test_order_refuses_what_was_not_popped(bk: BrokerSession) -> None:
    topic, group = filled(bk, b"a", b"b", b"c")
    (handle,) = popped(bk, topic, group, order=True)
    consumer = bk.connect()
    remark = Matching(rf"^offset is illegal, key:\S+@0, old:0, commit:2, next:-1, /{consumer.peer}$")
    refused = Reply(ResponseCode.MESSAGE_ILLEGAL, remark=remark)
    bk.ack(topic, group, handle, ext={"offset": "2"}, on=consumer) >> refused


@case(
    kills=[
        "ordered-messages-stay-hidden-as-before",
        "ordered-messages-are-never-seen-again",
        "changed-times-are-told-as-asked",
    ],
    clock=True,
)
def test_order_is_hidden_for_longer(bk: BrokerSession) -> None:
    topic, group = filled(bk, b"a", b"b", b"c")
    pop = bk.pop(topic, group, most=2, order=True)
    handles = (pop.handles >> Reply(SUCCESS)).value
    told = {"popTime": (pop.pop_time >> Reply(SUCCESS)).value, "reviveQid": "999"}
    bk.advance(20)
    hidden = Between(320_000, 300_000 + HIDDEN * 1000)
    changed = bk.hide(topic, group, handles[1], 300).seen_as(INVISIBLE) >> Reply(
        SUCCESS, hidden, ext=Including(told)
    )
    bk.advance(HIDDEN + bk.jitter)
    bk.pop(topic, group, order=True) >> NOTHING
    bk.advance_past(300, since=changed)
    bk.pop(topic, group, order=True).bodies >> Reply(SUCCESS, [b"a", b"b", b"c"])


@case(kills=["ordered-attempts-are-not-known"], clock=True)
def test_order_repeats_an_attempt(bk: BrokerSession) -> None:
    topic, group = filled(bk, b"a", b"b", b"c")
    for _ in range(2):
        once = bk.pop(topic, group, most=2, order=True, attempt="one")
        once.bodies >> Reply(SUCCESS, [b"a", b"b"], ext=Including({"orderCountInfo": "0 0 0"}))
    bk.pop(topic, group, order=True, attempt="two") >> NOTHING
    bk.advance(HIDDEN + bk.jitter)
    counted = Including({"orderCountInfo": Matching(r"^0 qo0%0 1;0 qo0%1 1;0 0 1$")})
    for _ in range(2):
        again = bk.pop(topic, group, most=2, order=True, attempt="two")
        again.bodies >> Reply(SUCCESS, [b"a", b"b"], ext=counted)


@case(kills=["old-ordered-handles-count", "ordered-acks-count-again"], clock=True)
def test_order_ignores_handles_that_are_over(bk: BrokerSession) -> None:
    topic, group = filled(bk, b"a", b"b", b"c")
    (old,) = popped(bk, topic, group, order=True)
    bk.advance(HIDDEN + bk.jitter)
    handles = popped(bk, topic, group, 2, order=True)
    bk.ack(topic, group, old) >> Reply(SUCCESS)
    bk.ack(topic, group, handles[1]) >> Reply(SUCCESS)
    bk.pop(topic, group, order=True) >> NOTHING
    bk.ack(topic, group, handles[0]) >> Reply(SUCCESS)
    bk.committed(group, topic).offset >> Reply(SUCCESS, 2)
    bk.ack(topic, group, handles[0]) >> Reply(SUCCESS)
    nothing = {"popTime": "0", "invisibleTime": "0", "reviveQid": "0"}
    bk.hide(topic, group, handles[1], 300) >> Reply(SUCCESS, ext=Including(nothing))
    bk.committed(group, topic).offset >> Reply(SUCCESS, 2)
    bk.pop(topic, group, order=True).bodies >> Reply(SUCCESS, [b"c"])


@case(kills=["ordered-acks-need-a-pop"])
def test_order_acknowledges_without_a_pop(bk: BrokerSession) -> None:
    topic, group = filled(bk, b"a", b"b", b"c")
    (handle,) = popped(bk, topic, bk.group("other"), order=True)
    bk.hide(topic, group, handle, 300, ext={"offset": "1"}) >> Reply(SUCCESS)
    bk.ack(topic, group, handle, ext={"offset": "1"}) >> Reply(SUCCESS)
    bk.committed(group, topic).offset >> Reply(SUCCESS, 2)
    bk.pop(topic, group, order=True).bodies >> Reply(SUCCESS, [b"c"])


@case(
    kills=[
        "ordered-acks-of-several-are-not-refused",
        "one-ordered-ack-of-several-counts",
        "last-ordered-ack-of-several-decides",
        "ordered-acks-of-nothing-are-refused",
    ]
)
def test_order_of_several_acknowledgements(bk: BrokerSession) -> None:
    topic, group = filled(bk, b"a", b"b", b"c")
    handles = popped(bk, topic, group, 2, order=True)
    words = handles[1].split(" ")[:-1]
    beyond, end, nowhere = [*words, "2"], [*words, "3"], [*words, "4"]
    consumer = bk.connect()
    remark = Matching(rf"^offset is illegal, key:\S+@0, old:0, commit:2, next:-1, /{consumer.peer}$")
    refused = Reply(ResponseCode.MESSAGE_ILLEGAL, remark=remark)
    bk.ack_all(topic, group, [" ".join(beyond)], on=consumer) >> refused
    bk.ack_all(topic, group, [" ".join(beyond), handles[0]], on=consumer) >> refused
    bk.ack_all(topic, group, [" ".join(end)]) >> Reply(ResponseCode.MESSAGE_ILLEGAL)
    bk.ack_all(topic, group, [" ".join(nowhere), *handles]) >> Reply(SUCCESS)
    bk.committed(group, topic).offset >> Reply(SUCCESS, 2)
    bk.pop(topic, group, order=True).bodies >> Reply(SUCCESS, [b"c"])


@case(
    kills=["notifications-know-no-order", "notifications-know-no-attempts", "ordered-acks-free-nothing"],
)
def test_notification_in_order(bk: BrokerSession) -> None:
    topic, group = filled(bk, b"a", b"b")
    pop = bk.pop(topic, group, most=1, order=True, attempt="one")
    handle = (pop.handles >> Reply(SUCCESS)).value[0]
    asked = {"topic": topic, "consumerGroup": group, "queueId": "-1", "pollTime": "0", "bornTime": "0"}
    for order, attempt, has in (
        ("true", None, "false"),
        ("true", "two", "false"),
        ("true", "one", "true"),
        ("false", None, "true"),
    ):
        told, more = Including({"hasMsg": has}), {"order": order, "attemptId": attempt}
        bk.call(RequestCode.NOTIFICATION, {**asked, **more}) >> Reply(SUCCESS, ext=told)
    bk.ack(topic, group, handle) >> Reply(SUCCESS)
    told = Including({"hasMsg": "true"})
    bk.call(RequestCode.NOTIFICATION, {**asked, "order": "true"}) >> Reply(SUCCESS, ext=told)


@case(kills=["ordered-acks-commit-past-what-is-left"])
def test_order_commits_to_the_first_that_is_left(bk: BrokerSession) -> None:
    topic, group = filled(bk, b"a", b"b", b"c")
    handles = popped(bk, topic, group, 3, order=True)
    for acknowledged, committed in ((1, 0), (0, 2), (2, 3)):
        bk.ack(topic, group, handles[acknowledged]) >> Reply(SUCCESS)
        bk.committed(group, topic).offset >> Reply(SUCCESS, committed)


@case(kills=["any-ordered-handle-hides"], clock=True)
def test_order_hides_only_what_the_last_pop_returned(bk: BrokerSession) -> None:
    topic, group = filled(bk, b"a", b"b", b"c")
    (old,) = popped(bk, topic, group, order=True)
    bk.advance(HIDDEN + bk.jitter)
    (new,) = popped(bk, topic, group, order=True)
    bk.hide(topic, group, old, 300) >> Reply(SUCCESS)
    bk.hide(topic, group, new, 300, ext={"offset": "1"}) >> Reply(SUCCESS)
    bk.advance(HIDDEN + bk.jitter)
    bk.pop(topic, group, order=True).bodies >> Reply(SUCCESS, [b"a", b"b", b"c"])


@case(kills=["ordered-acks-undo-resets"])
def test_order_acknowledges_nothing_behind_a_reset(bk: BrokerSession) -> None:
    topic, group = filled(bk, b"a", b"b", b"c")
    handles = popped(bk, topic, group, 2, order=True)
    reset = {
        "topic": topic,
        "group": group,
        "timestamp": "-1",
        "isForce": "true",
        "queueId": "0",
        "offset": "1",
    }
    bk.call(RequestCode.INVOKE_BROKER_TO_RESET_OFFSET, reset, about=topic) >> Reply(SUCCESS)
    for handle in reversed(handles):
        bk.ack(topic, group, handle) >> Reply(SUCCESS)
    bk.committed(group, topic).offset >> Reply(SUCCESS, 1)
    table = Including({f"{topic}@{group}": Including({"0": 1})})
    bk.offsets().json >> Reply(SUCCESS, Including({"offsetTable": table}))
    bk.pop(topic, group, order=True).bodies >> Reply(SUCCESS, [b"b", b"c"])


@case(kills=["ordered-queues-are-freed-in-silence"], clock=True)
def test_order_ends_the_wait_when_its_time_is_over(bk: BrokerSession) -> None:
    topic, group = filled(bk, b"a", b"b")
    (popped(bk, topic, group, order=True))
    pop = bk.pop(topic, group, most=1, poll=600, order=True, on=bk.connect())
    bk.polling(topic, group).eventually() >> Reply(SUCCESS, ext={"pollingNum": "1"})
    bk.advance(HIDDEN + 10 + bk.jitter)
    pop.bodies >> Reply(SUCCESS, [b"a"])


@case(kills=["ordered-acks-free-in-silence", "first-ordered-ack-ends-waits"])
def test_order_ends_the_wait_when_all_are_acknowledged(bk: BrokerSession) -> None:
    for queue in (-1, 2):
        topic, group = filled(bk, b"a", b"b", b"c", queue=2)
        first, second = popped(bk, topic, group, 2, order=True)
        pop = bk.pop(topic, group, queue, most=1, poll=600, order=True, on=bk.connect())
        bk.polling(topic, group, queue).eventually() >> Reply(SUCCESS, ext={"pollingNum": "1"})
        bk.ack(topic, group, first) >> Reply(SUCCESS)
        bk.polling(topic, group, queue) >> Reply(SUCCESS, ext={"pollingNum": "1"})
        bk.ack(topic, group, second) >> Reply(SUCCESS)
        pop.bodies >> Reply(SUCCESS, [b"c"])


@case(kills=["changed-times-free-in-silence"], clock=True)
def test_order_ends_the_wait_when_a_changed_time_is_over(bk: BrokerSession) -> None:
    topic, group = filled(bk, b"a", b"b", queue=2)
    (handle,) = popped(bk, topic, group, order=True)
    changed = bk.hide(topic, group, handle, 120) >> Reply(SUCCESS)
    pop = bk.pop(topic, group, 2, most=1, poll=600, order=True, on=bk.connect())
    bk.polling(topic, group, 2).eventually() >> Reply(SUCCESS, ext={"pollingNum": "1"})
    bk.advance_short_of(110, since=changed)
    bk.polling(topic, group, 2) >> Reply(SUCCESS, ext={"pollingNum": "1"})
    bk.advance_past(120, since=changed)
    bk.advance(10 + bk.jitter)
    pop.bodies >> Reply(SUCCESS, [b"a"])


@case(kills=["one-message-of-an-ordered-entry-counts"])
def test_order_of_several_in_one_entry(bk: BrokerSession) -> None:
    topic, group = filled(bk, b"a", b"b", b"c")
    handle, *_ = popped(bk, topic, group, 2, order=True)
    start, time, hidden, revive, *_ = map(int, handle.split(" ")[:4])
    entry = BatchAck(
        consumer_group=group,
        topic=topic,
        retry="0",
        start_offset=start,
        revive_queue_id=revive,
        pop_time=time,
        invisible_time=hidden,
        bits=BatchAck.bits_of([0, 1]),
    )
    body = BatchAcks([entry], bk.broker_name).encode()
    bk.call(RequestCode.BATCH_ACK_MESSAGE, None, body, about=topic) >> Reply(SUCCESS)
    bk.committed(group, topic).offset >> Reply(SUCCESS, 2)
    bk.pop(topic, group, order=True).bodies >> Reply(SUCCESS, [b"c"])
