"""Parents of light topics, their groups, and messages in them, for the cases about light topics."""

from harness.conformance import Including, Reply
from harness.conformance.broker.tools import SUCCESS, asked
from harness.session import BrokerSession, Exchange
from harness.session.broker.light import LIGHT as LIGHT_TOPIC
from harness.wire import RequestCode, ResponseCode
from harness.wire.messages import PropertyName

LIGHT = {"enableLmq": "true", "enableMultiDispatch": "true"}
"""A Broker that has light topics."""
HIDDEN = 60
"""Protocol seconds for which a popped message is hidden by default."""
NOTHING = Reply(ResponseCode.POLLING_TIMEOUT, remark="NO_MESSAGE_IN_QUEUE")
SOON = 20
"""Protocol seconds that a pop may wait for what is surely there."""


def parent(bk: BrokerSession, attributes: str = "+message.type=LITE", topic: str | None = None) -> str:
    """A parent, made, or a topic, changed."""
    name = topic or bk.name("T")
    bk.create_topic(name, ext={"attributes": attributes}) >> Reply(SUCCESS)
    return name


def bound_group(bk: BrokerSession, topic: str, **more: str) -> str:
    """A group that consumes the light topics of a parent. `more` are its other attributes."""
    group = bk.group()
    attributes = {"+lite.bind.topic": topic, **{f"+lite.sub.{key}": value for key, value in more.items()}}
    bk.create_group(group, attributes=attributes) >> Reply(SUCCESS)
    return group


def subscribed(bk: BrokerSession, topic: str, group: str, *lights: str) -> str:
    """A new client of a group that subscribes to these light topics."""
    client = bk.name("client")
    bk.subscribe(topic, group, client, *lights) >> Reply(SUCCESS)
    return client


def fill(bk: BrokerSession, topic: str, light: str, *bodies: bytes) -> None:
    """Messages in a light topic that had none, all of them to be popped."""
    for body in bodies:
        put(bk, topic, light, body)
    has_all = Including({"topicOffset": Including({"maxOffset": len(bodies)})})
    light_info(bk, topic, light).eventually() >> Reply(SUCCESS, has_all)


def consumed(bk: BrokerSession, topic: str, light: str, *bodies: bytes) -> tuple[str, str]:
    """A group and its one client that subscribes to a light topic, with messages in it."""
    group = bound_group(bk, topic)
    client = subscribed(bk, topic, group, light)
    fill(bk, topic, light, *bodies)
    return group, client


def put(bk: BrokerSession, topic: str, light: str, body: bytes) -> None:
    """A message in a light topic."""
    bk.send(topic, body, queue=3, properties={PropertyName.LIGHT_TOPIC: light}) >> Reply(SUCCESS)


def ack(bk: BrokerSession, topic: str, group: str, light: str, handle: str, **fields: str) -> Exchange:
    """ACK_MESSAGE (200051) of a message of a light topic; `fields` replaces others."""
    return bk.ack(topic, group, handle, ext={LIGHT_TOPIC: light, **fields})


def consume(bk: BrokerSession, topic: str, group: str, client: str, most: int = 32) -> None:
    """Messages of light topics, popped and acknowledged."""
    pop = bk.light_pop(topic, group, client, most, poll=SOON)
    named = (pop.properties >> Reply(SUCCESS)).value
    for one, handle in zip(named, (pop.handles >> Reply(SUCCESS)).value, strict=True):
        ack(bk, topic, group, one[PropertyName.LIGHT_TOPIC], handle) >> Reply(SUCCESS)


def queue_of(topic: str, light: str) -> str:
    """The name of the queue of a light topic."""
    return f"%LMQ%${topic}${light}"


def client_info(bk: BrokerSession, topic: str, group: str, client: str) -> Exchange:
    """GET_LITE_CLIENT_INFO (200077)."""
    return asked(bk, RequestCode.GET_LITE_CLIENT_INFO, parentTopic=topic, group=group, clientId=client)


def light_info(bk: BrokerSession, topic: str, light: str) -> Exchange:
    """GET_LITE_TOPIC_INFO (200076)."""
    return asked(bk, RequestCode.GET_LITE_TOPIC_INFO, parentTopic=topic, liteTopic=light)
