"""Chapter light: what a client that subscribes to light topics is given, and what comes again."""

from harness.conformance import Between, Including, Matching, Reply, case
from harness.conformance.broker.expiring import OLD
from harness.conformance.broker.light.lights import (
    HIDDEN,
    LIGHT,
    NOTHING,
    SOON,
    ack,
    bound_group,
    consume,
    consumed,
    fill,
    light_info,
    parent,
    put,
    queue_of,
    subscribed,
)
from harness.conformance.broker.tools import SUCCESS
from harness.session import BrokerSession
from harness.session.broker.light import LIGHT as NAMED
from harness.session.exchange import View
from harness.wire import RequestCode
from harness.wire.messages import PropertyName

POPPED = View("pop time", lambda reply: int((reply.ext or {}).get("popTime") or 0))
INVISIBLE = View("invisible time", lambda reply: int((reply.ext or {}).get("invisibleTime") or 0))


@case(kills=["light-messages-stay-with-their-parent", "light-pops-ignore-the-most"], setup=LIGHT)
def test_subscriber_gets_messages(bk: BrokerSession) -> None:
    topic, light = parent(bk), "light-ü"
    group, client, option = bound_group(bk, topic), bk.name("client"), {"type": "POLICY", "value": 0}
    bk.subscribe(topic, group, client, light, more={"offsetOption": option}) >> Reply(SUCCESS)
    bk.send(topic, b"heavy", queue=3) >> Reply(SUCCESS)
    fill(bk, topic, light, b"a", b"b\xff", b"c")
    pop = bk.light_pop(topic, group, client, most=2, invisible=61.234, poll=SOON)
    told = {"invisibleTime": "61234", "orderCountInfo": "0;0", "reviveQid": "999"}
    pop.bodies >> Reply(SUCCESS, [b"a", b"b\xff"], remark="FOUND", ext=Including(told))
    pop.light_offsets >> Reply(SUCCESS, [0, 1])
    queue = {PropertyName.LIGHT_QUEUES: f"%LMQ%${topic}${light}", PropertyName.LIGHT_TOPIC: light}
    pop.properties >> Reply(SUCCESS, [Including(queue), Including(queue)])
    place = pop.seen("place", lambda one: (one.topic, one.queue_id, one.queue_offset))
    place >> Reply(SUCCESS, [(topic, 3, 1), (topic, 3, 2)])


@case(kills=["light-pops-count-each-light-topic-apart", "light-pops-end-with-one-light-topic"], setup=LIGHT)
def test_number_is_of_all_light_topics(bk: BrokerSession) -> None:
    topic, lights = parent(bk), ("one", "two", "three")
    group = bound_group(bk, topic)
    client = subscribed(bk, topic, group, *lights)
    for light in lights:
        fill(bk, topic, light, b"a", b"b")
    bk.light_pop(topic, group, client, most=3, poll=SOON).bodies >> Reply(SUCCESS, [b"a", b"b", b"a"])
    bk.light_pop(topic, group, client, poll=SOON).bodies >> Reply(SUCCESS, [b"a", b"b"])
    bk.light_pop(topic, group, client) >> NOTHING


@case(kills=["light-pops-need-every-number"], setup=LIGHT)
def test_numbers_may_be_missing(bk: BrokerSession) -> None:
    topic = parent(bk)
    group = bound_group(bk, topic)
    numbers = {"bornTime": "0", "invisibleTime": "61234", "maxMsgNum": "1", "pollTime": "0"}
    for lacking in numbers:
        client = subscribed(bk, topic, group, lacking)
        sent = {"clientId": client, "consumerGroup": group, "topic": topic, **numbers}
        del sent[lacking]
        bk.call(RequestCode.POP_LITE_MESSAGE, sent) >> NOTHING
        fill(bk, topic, lacking, b"a")
        told = Including({"invisibleTime": sent.get("invisibleTime", "0")})
        full = NOTHING if lacking == "maxMsgNum" else Reply(SUCCESS, ext=told)
        bk.call(RequestCode.POP_LITE_MESSAGE, sent) >> full


@case(kills=["light-acks-do-nothing", "light-topics-are-not-in-order"], clock=True, setup=LIGHT)
def test_acknowledged_does_not_come_again(bk: BrokerSession) -> None:
    topic, light = parent(bk), "light-ü"
    group, client = consumed(bk, topic, light, b"a", b"b", b"c")
    pop = bk.light_pop(topic, group, client, most=2, poll=SOON)
    handles = (pop.handles >> Reply(SUCCESS)).value
    ack(bk, topic, group, light, handles[1]) >> Reply(SUCCESS)
    bk.light_pop(topic, group, client) >> NOTHING
    ack(bk, topic, group, light, handles[0]) >> Reply(SUCCESS)
    last = bk.light_pop(topic, group, client, poll=SOON)
    last.bodies >> Reply(SUCCESS, [b"c"])
    (handle,) = (last.handles >> Reply(SUCCESS)).value
    ack(bk, topic, group, light, handle) >> Reply(SUCCESS)
    bk.advance(HIDDEN + bk.jitter)
    bk.light_pop(topic, group, client) >> NOTHING


@case(kills=["light-messages-never-return"], clock=True, setup=LIGHT)
def test_unacknowledged_comes_again(bk: BrokerSession) -> None:
    topic, light = parent(bk), "light"
    group, client = consumed(bk, topic, light, b"a", b"b", b"c")
    pop = bk.light_pop(topic, group, client, most=2, poll=SOON)
    handles = (pop.handles >> Reply(SUCCESS)).value
    ack(bk, topic, group, light, handles[0]) >> Reply(SUCCESS)
    bk.advance(HIDDEN / 2)
    bk.light_pop(topic, group, client) >> NOTHING
    bk.advance(HIDDEN / 2 + bk.jitter)
    bk.light_pop(topic, group, client, poll=SOON).bodies >> Reply(SUCCESS, [b"b", b"c"])


@case(kills=["old-light-handles-count"], clock=True, setup=LIGHT)
def test_handles_that_are_over_count_nothing(bk: BrokerSession) -> None:
    topic, light = parent(bk), "light"
    group, client = consumed(bk, topic, light, b"first", b"a", b"b")
    consume(bk, topic, group, client, 1)
    pop = bk.light_pop(topic, group, client, most=1, poll=SOON)
    (old,) = (pop.handles >> Reply(SUCCESS)).value
    bk.advance(HIDDEN + bk.jitter)
    bk.light_pop(topic, group, client, poll=SOON).bodies >> Reply(SUCCESS, [b"a", b"b"])
    ack(bk, topic, group, light, old) >> Reply(SUCCESS)
    bk.hide(topic, group, old, 300, ext={NAMED: light}) >> Reply(SUCCESS)
    bk.committed(group, queue_of(topic, light)).offset >> Reply(SUCCESS, 1)
    bk.advance(HIDDEN + bk.jitter)
    bk.light_pop(topic, group, client, poll=SOON).bodies >> Reply(SUCCESS, [b"a", b"b"])


@case(kills=["light-acks-need-a-pop"], setup=LIGHT)
def test_acknowledgement_needs_no_pop(bk: BrokerSession) -> None:
    topic, light = parent(bk), "light"
    group, client = consumed(bk, topic, light, b"a", b"b", b"c")
    other = bound_group(bk, topic)
    of_other = subscribed(bk, topic, other, light)
    (handle, *_) = (bk.light_pop(topic, other, of_other, poll=SOON).handles >> Reply(SUCCESS)).value
    ack(bk, topic, group, light, handle, offset="1") >> Reply(SUCCESS)
    bk.committed(group, queue_of(topic, light)).offset >> Reply(SUCCESS, 2)
    bk.light_pop(topic, group, client, poll=SOON).bodies >> Reply(SUCCESS, [b"c"])


@case(kills=["light-offsets-beyond-the-end-stay"], clock=True, setup=LIGHT)
def test_offset_beyond_the_end_is_set_right(bk: BrokerSession) -> None:
    topic, light = parent(bk), "light"
    group, client = consumed(bk, topic, light, b"a", b"b")
    bk.commit_offset(group, queue_of(topic, light), 0, 9) >> Reply(SUCCESS)
    waiting = bk.light_pop(topic, group, client, poll=10, on=bk.connect())
    bk.advance(10 + bk.jitter)
    waiting >> NOTHING
    bk.committed(group, queue_of(topic, light)).offset >> Reply(SUCCESS, 2)
    put(bk, topic, light, b"c")
    bk.light_pop(topic, group, client, poll=SOON).bodies >> Reply(SUCCESS, [b"c"])


@case(
    kills=["light-offsets-before-the-first-cost-a-wait"],
    clock=True,
    own_server=True,
    setup={**LIGHT, **OLD},
)
def test_offset_before_the_first_message_is_set_right(bk: BrokerSession) -> None:
    topic, light = parent(bk), "light"
    group, queue = bound_group(bk, topic), queue_of(topic, light)
    bodies = [b"%d" % number * 1500 for number in range(6)]
    fill(bk, topic, light, *bodies)
    bk.advance(120 + bk.jitter)
    low = (bk.min_offset(queue, 0).offset.eventually() >> Reply(SUCCESS, Between(2, 5))).value
    bk.commit_offset(group, queue, 0, 1) >> Reply(SUCCESS)
    client = subscribed(bk, topic, group, light)
    asked = bk.broker_time()
    pop = bk.light_pop(topic, group, client, poll=SOON)
    pop.bodies >> Reply(SUCCESS, bodies[low:])
    pop.seen_as(POPPED) >> Reply(SUCCESS, Between(asked, asked + 1000 * SOON // 2))


@case(kills=["light-tries-are-not-counted"], clock=True, setup=LIGHT)
def test_tries_are_counted(bk: BrokerSession) -> None:
    topic, light = parent(bk), "light"
    group, client = consumed(bk, topic, light, b"a", b"b", b"c")
    pop = bk.light_pop(topic, group, client, most=2, poll=SOON)
    handles = (pop.handles >> Reply(SUCCESS, ext=Including({"orderCountInfo": "0;0"}))).value
    ack(bk, topic, group, light, handles[0]) >> Reply(SUCCESS)
    for counts in (r"^0 qo0%1 1$", r"^0 qo0%1 2;0 qo0%2 1$"):
        bk.advance(HIDDEN + bk.jitter)
        again = bk.light_pop(topic, group, client, poll=SOON)
        again.light_offsets >> Reply(SUCCESS, [1, 2], ext=Including({"orderCountInfo": Matching(counts)}))


@case(kills=["light-topics-are-one", "one-light-topic-blocks-all"], setup=LIGHT)
def test_light_topics_are_apart(bk: BrokerSession) -> None:
    topic, other = parent(bk), parent(bk)
    group, client = bound_group(bk, topic), bk.name("client")
    for name, light, body in ((topic, "one", b"1"), (topic, "two", b"2"), (other, "one", b"3")):
        fill(bk, name, light, body)
    bk.subscribe(topic, group, client, "one") >> Reply(SUCCESS)
    bk.light_pop(topic, group, client, poll=SOON).bodies >> Reply(SUCCESS, [b"1"])
    bk.light_pop(topic, group, client) >> NOTHING
    bk.subscribe(topic, group, client, "two") >> Reply(SUCCESS)
    bk.light_pop(topic, group, client, poll=SOON).bodies >> Reply(SUCCESS, [b"2"])


@case(kills=["groups-of-light-topics-share"], setup=LIGHT)
def test_each_group_gets_all(bk: BrokerSession) -> None:
    topic, light = parent(bk), "light"
    groups = [bound_group(bk, topic) for _ in range(2)]
    clients = [(group, subscribed(bk, topic, group, light)) for group in groups]
    fill(bk, topic, light, b"a", b"b")
    for group, client in clients:
        bk.light_pop(topic, group, client, poll=SOON).bodies >> Reply(SUCCESS, [b"a", b"b"])


@case(
    kills=[
        "light-pops-need-no-subscription",
        "light-subscriptions-stay",
        "strangers-cannot-leave-light-topics",
        "strangers-leave-light-topics-for-another-group",
    ],
    setup=LIGHT,
)
def test_unsubscribed_gets_none(bk: BrokerSession) -> None:
    topic, lights = parent(bk), ("one", "two", "three")
    group, stranger = bound_group(bk, topic), bk.name("stranger")
    client = subscribed(bk, topic, group, *lights)
    for one in (client, stranger):
        bk.subscribe(topic, group, one, "one", "three", action="PARTIAL_REMOVE") >> Reply(SUCCESS)
    for light in lights:
        fill(bk, topic, light, light.encode())
    bk.light_pop(topic, group, stranger) >> NOTHING
    bk.light_pop(topic, group, client, poll=SOON).bodies >> Reply(SUCCESS, [b"two"])
    bk.light_pop(topic, group, client) >> NOTHING
    bk.subscribe(topic, group, stranger, "three") >> Reply(SUCCESS)
    left = {"subscriber": [{"clientId": stranger, "group": group}]}
    light_info(bk, topic, "three") >> Reply(SUCCESS, Including(left))
    bk.light_pop(topic, group, stranger, poll=SOON).bodies >> Reply(SUCCESS, [b"three"])


@case(kills=["all-light-topics-are-more"], setup=LIGHT)
def test_all_are_said_at_once(bk: BrokerSession) -> None:
    topic = parent(bk)
    group = bound_group(bk, topic)
    client = subscribed(bk, topic, group, "one", "nil", "two")
    bk.subscribe(topic, group, client, "two", action="COMPLETE_ADD") >> Reply(SUCCESS)
    for light in ("one", "nil", "two"):
        fill(bk, topic, light, light.encode())
    bk.light_pop(topic, group, client, poll=SOON).bodies >> Reply(SUCCESS, [b"two"])
    bk.light_pop(topic, group, client) >> NOTHING
    bk.subscribe(topic, group, client, "three", action="COMPLETE_ADD") >> Reply(SUCCESS)
    fill(bk, topic, "three", b"three")
    bk.light_pop(topic, group, client, poll=SOON).bodies >> Reply(SUCCESS, [b"three"])
    bk.subscribe(topic, group, client, "four") >> Reply(SUCCESS)
    bk.subscribe(topic, group, client, action="COMPLETE_REMOVE") >> Reply(SUCCESS)
    fill(bk, topic, "four", b"four")
    bk.light_pop(topic, group, client) >> NOTHING


@case(
    kills=[
        "light-pops-do-not-wait",
        "light-messages-release-no-pops",
        "light-messages-release-pops-of-one-group",
    ],
    clock=True,
    setup=LIGHT,
)
def test_waits_for_a_message(bk: BrokerSession) -> None:
    topic, light = parent(bk), "light"
    group, other = bound_group(bk, topic), bound_group(bk, topic)
    idle = subscribed(bk, topic, group, "idle")
    waiting = bk.light_pop(topic, group, idle, poll=30, on=bk.connect())
    clients = [(one, subscribed(bk, topic, one, light)) for one in (group, other)]
    pops = [bk.light_pop(topic, of, client, poll=90, on=bk.connect()) for of, client in clients]
    bk.advance(10)
    bk.call(RequestCode.TRIGGER_LITE_DISPATCH, {"group": group}) >> Reply(SUCCESS)
    put(bk, topic, "other", b"other")
    put(bk, topic, light, b"at last")
    for pop in pops:
        pop.bodies >> Reply(SUCCESS, [b"at last"])
    bk.advance(20 + bk.jitter)
    waiting >> NOTHING


@case(
    kills=["light-messages-stay-hidden-as-before", "changed-light-times-are-told-as-asked"],
    clock=True,
    setup=LIGHT,
)
def test_is_hidden_for_longer(bk: BrokerSession) -> None:
    topic, light = parent(bk), "light-ü"
    group, client = consumed(bk, topic, light, b"a", b"b", b"c")
    pop = bk.light_pop(topic, group, client, most=2, poll=SOON)
    handles = (pop.handles >> Reply(SUCCESS)).value
    told = {"popTime": (pop.pop_time >> Reply(SUCCESS)).value, "reviveQid": "999"}
    bk.advance(20)
    hidden = Between(170_000, 150_000 + HIDDEN * 1000)
    hide = bk.hide(topic, group, handles[1], 150, ext={NAMED: light}).seen_as(INVISIBLE)
    changed = hide >> Reply(SUCCESS, hidden, ext=Including(told))
    bk.advance(HIDDEN + bk.jitter)
    bk.light_pop(topic, group, client) >> NOTHING
    bk.advance_past(150, since=changed)
    again = bk.light_pop(topic, group, client, poll=SOON)
    again.bodies >> Reply(SUCCESS, [b"a", b"b", b"c"])


@case(kills=["light-topics-are-not-read-again"], own_server=True, setup=LIGHT)
def test_outlive_the_broker(bk: BrokerSession) -> None:
    topic, light = parent(bk), "light"
    group, client = consumed(bk, topic, light, b"a", b"b", b"c")
    pop = bk.light_pop(topic, group, client, most=1, poll=SOON)
    (handle,) = (pop.handles >> Reply(SUCCESS)).value
    ack(bk, topic, group, light, handle) >> Reply(SUCCESS)
    bk.restart()
    bk.subscribe(topic, group, client, light) >> Reply(SUCCESS)
    bk.light_pop(topic, group, client, poll=SOON).bodies >> Reply(SUCCESS, [b"b", b"c"])
