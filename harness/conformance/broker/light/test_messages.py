"""Chapter light: which messages are in a light topic, and from when on."""

from harness.conformance import Including, Reply, case
from harness.conformance.broker.light.lights import (
    LIGHT,
    NOTHING,
    SOON,
    bound_group,
    fill,
    light_info,
    parent,
    queue_of,
    subscribed,
)
from harness.conformance.broker.tools import SUCCESS
from harness.session import BrokerSession
from harness.wire.messages import PropertyName, decode_offset_id

DELAY = 10
"""Protocol seconds of the third level."""


@case(kills=["light-messages-are-in-one-light-topic"], setup=LIGHT)
def test_message_may_name_several(bk: BrokerSession) -> None:
    topic, lights = parent(bk), ("one", "two")
    group, queues = bound_group(bk, topic), ",".join(queue_of(topic, light) for light in lights)
    clients = [subscribed(bk, topic, group, light) for light in lights]
    fill(bk, topic, "one", b"a")
    pop = bk.light_pop(topic, group, clients[1], poll=SOON, on=bk.connect())
    bk.send(topic, b"b", queue=2, properties={PropertyName.LIGHT_QUEUES: queues}) >> Reply(SUCCESS)
    both = Including({PropertyName.LIGHT_QUEUES: queues, PropertyName.LIGHT_OFFSETS: "1,0"})
    pop.properties >> Reply(SUCCESS, [both])
    bk.light_pop(topic, group, clients[0], poll=SOON).bodies >> Reply(SUCCESS, [b"a", b"b"])


@case(kills=["delayed-light-messages-are-there-at-once"], clock=True, setup=LIGHT)
def test_delayed_message_comes_at_its_time(bk: BrokerSession) -> None:
    topic, light = parent(bk), "light"
    group = bound_group(bk, topic)
    client = subscribed(bk, topic, group, light)
    properties = {PropertyName.LIGHT_TOPIC: light, PropertyName.DELAY_TIME_LEVEL: "3"}
    sent = bk.send(topic, b"later", queue=3, properties=properties) >> Reply(SUCCESS)
    bk.advance_short_of(DELAY - 1, since=sent)
    bk.light_pop(topic, group, client) >> NOTHING
    bk.advance(3 + bk.jitter)
    pop = bk.light_pop(topic, group, client, poll=SOON)
    pop.bodies >> Reply(SUCCESS, [b"later"])
    pop.light_offsets >> Reply(SUCCESS, [0])


@case(kills=["timed-light-messages-are-there-at-once"], clock=True, setup=LIGHT)
def test_message_with_a_time_comes_at_its_time(bk: BrokerSession) -> None:
    topic, light = parent(bk), "light"
    group = bound_group(bk, topic)
    client = subscribed(bk, topic, group, light)
    properties = {PropertyName.LIGHT_TOPIC: light, "TIMER_DELAY_SEC": "20"}
    sent = bk.send(topic, b"later", queue=3, properties=properties) >> Reply(SUCCESS)
    bk.advance_short_of(20 - 2, since=sent)
    bk.light_pop(topic, group, client) >> NOTHING
    bk.advance(2 + 2 + bk.jitter)
    pop = bk.light_pop(topic, group, client, poll=SOON)
    pop.bodies >> Reply(SUCCESS, [b"later"])
    pop.light_offsets >> Reply(SUCCESS, [0])


@case(kills=["light-messages-that-are-sent-back-are-there-twice"], clock=True, setup=LIGHT)
def test_copy_for_retry_stays_out(bk: BrokerSession) -> None:
    topic, light, consumers = parent(bk), "light", bk.group()
    sent = bk.send(topic, b"again", queue=3, properties={PropertyName.LIGHT_TOPIC: light}).ids
    offset = decode_offset_id((sent >> Reply(SUCCESS)).value[0])[1]
    bk.send_back(consumers, offset, 1, topic=topic) >> Reply(SUCCESS)
    bk.advance(2 + bk.jitter)
    bk.pull(f"%RETRY%{consumers}", group=consumers).bodies.eventually() >> Reply(SUCCESS, [b"again"])
    has_one = Including({"topicOffset": Including({"maxOffset": 1})})
    light_info(bk, topic, light) >> Reply(SUCCESS, has_one)
