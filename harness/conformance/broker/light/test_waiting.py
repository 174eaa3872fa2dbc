"""Chapter light: what ends the wait of a client for messages in light topics."""

from harness.conformance import Reply, Silence, case
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
    parent,
    queue_of,
    subscribed,
)
from harness.conformance.broker.tools import SUCCESS
from harness.session import BrokerSession, meanwhile
from harness.session.broker.light import LIGHT as NAMED
from harness.session.broker.light import Action
from harness.wire import RequestCode


@case(kills=["light-acks-release-no-pops"], setup=LIGHT)
def test_acknowledgement_ends_a_wait(bk: BrokerSession) -> None:
    topic, light = parent(bk), "light"
    group, client = consumed(bk, topic, light, b"a", b"b", b"c")
    pop = bk.light_pop(topic, group, client, most=2, invisible=600, poll=SOON)
    handles = (pop.handles >> Reply(SUCCESS)).value
    waiting = bk.light_pop(topic, group, client, poll=30, on=bk.connect())
    ack(bk, topic, group, light, handles[1]) >> Reply(SUCCESS)
    meanwhile(waiting, 2) >> Silence()
    ack(bk, topic, group, light, handles[0]) >> Reply(SUCCESS)
    waiting.bodies >> Reply(SUCCESS, [b"c"])


@case(kills=["light-subscriptions-release-no-pops"], setup=LIGHT)
def test_subscription_ends_a_wait(bk: BrokerSession) -> None:
    topic = parent(bk)
    group = bound_group(bk, topic)
    client = subscribed(bk, topic, group, "idle")
    actions: tuple[Action, ...] = ("PARTIAL_ADD", "COMPLETE_ADD")
    for action, light in zip(actions, ("one", "two"), strict=True):
        fill(bk, topic, light, light.encode())
        waiting = bk.light_pop(topic, group, client, poll=30, on=bk.connect())
        meanwhile(waiting, 2) >> Silence()
        bk.subscribe(topic, group, client, light, action=action) >> Reply(SUCCESS)
        waiting.bodies >> Reply(SUCCESS, [light.encode()])


@case(kills=["messages-end-no-wildcard-waits"], setup=LIGHT)
def test_message_ends_the_wait_of_a_wildcard_client(bk: BrokerSession) -> None:
    topic, client = parent(bk), bk.name("client")
    group = bound_group(bk, topic, wildcard="true")
    bk.subscribe(topic, group, client, action="COMPLETE_ADD") >> Reply(SUCCESS)
    waiting = bk.light_pop(topic, group, client, poll=60, on=bk.connect())
    meanwhile(waiting, 2) >> Silence()
    fill(bk, topic, "light", b"a")
    waiting.bodies >> Reply(SUCCESS, [b"a"])


@case(kills=["light-messages-that-return-release-no-pops"], clock=True, setup=LIGHT)
def test_end_of_the_hidden_time_ends_a_wait(bk: BrokerSession) -> None:
    topic, light = parent(bk), "light"
    group, client = consumed(bk, topic, light, b"a")
    bk.light_pop(topic, group, client, invisible=20, poll=SOON).bodies >> Reply(SUCCESS, [b"a"])
    waiting = bk.light_pop(topic, group, client, invisible=600, poll=HIDDEN, on=bk.connect())
    meanwhile(waiting, 10) >> Silence()
    bk.advance(10 + bk.jitter)
    waiting.bodies >> Reply(SUCCESS, [b"a"])
    (handle,) = (waiting.handles >> Reply(SUCCESS)).value
    bk.hide(topic, group, handle, 20, ext={NAMED: light}) >> Reply(SUCCESS)
    waiting = bk.light_pop(topic, group, client, poll=HIDDEN, on=bk.connect())
    meanwhile(waiting, 10) >> Silence()
    bk.advance(10 + bk.jitter)
    waiting.bodies >> Reply(SUCCESS, [b"a"])


@case(kills=["light-dispatches-release-no-pops"], setup=LIGHT)
def test_dispatch_ends_a_wait(bk: BrokerSession) -> None:
    topic, lights, dispatch = parent(bk), ("one", "two"), RequestCode.TRIGGER_LITE_DISPATCH
    fill(bk, parent(bk), "other", b"other")
    group = bound_group(bk, topic)
    client = subscribed(bk, topic, group, *lights)
    for light in lights:
        fill(bk, topic, light, light.encode())
    consume(bk, topic, group, client)
    for light, named in (("two", {"clientId": client}), ("one", {}), ("two", {})):
        bk.light_pop(topic, group, client) >> NOTHING
        waiting = bk.light_pop(topic, group, client, poll=30, on=bk.connect())
        meanwhile(waiting, 2) >> Silence()
        bk.commit_offset(group, queue_of(topic, light), 0, 0) >> Reply(SUCCESS)
        meanwhile(waiting, 2) >> Silence()
        bk.call(dispatch, {"group": group, **named}) >> Reply(SUCCESS)
        waiting.bodies >> Reply(SUCCESS, [light.encode()])
        (handle,) = (waiting.handles >> Reply(SUCCESS)).value
        ack(bk, topic, group, light, handle) >> Reply(SUCCESS)
