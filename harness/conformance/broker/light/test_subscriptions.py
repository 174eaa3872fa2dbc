"""Chapter light: several clients of a group, and subscriptions that end."""

from harness.conformance import ABSENT, Including, Reply, Request, case
from harness.conformance.broker.light.lights import (
    HIDDEN,
    LIGHT,
    NOTHING,
    SOON,
    bound_group,
    client_info,
    fill,
    light_info,
    parent,
    subscribed,
)
from harness.conformance.broker.tools import SUCCESS
from harness.session import BrokerSession
from harness.wire import FLAG_ONEWAY, RequestCode

LOST = RequestCode.NOTIFY_UNSUBSCRIBE_LITE
KEPT = 180
"""Protocol seconds without a change for which subscriptions are kept."""
SCAN = 120
"""Protocol seconds between two looks for those that are not kept."""


@case(
    kills=[
        "exclusive-light-topics-are-shared",
        "lost-light-topics-are-not-told",
        "groups-share-exclusive-light-topics",
    ],
    setup=LIGHT,
)
def test_exclusive_one_goes_to_the_last(bk: BrokerSession) -> None:
    topic = parent(bk)
    group = bound_group(bk, topic, model="Exclusive")
    (first, before), (last, _) = bk.client(), bk.client()
    other_group = bound_group(bk, topic, model="Exclusive")
    other = subscribed(bk, topic, other_group, "one")
    bk.subscribe(topic, group, first, "one", on=before) >> Reply(SUCCESS)
    connection = bk.connect()
    bk.subscribe(topic, group, first, "two", on=connection) >> Reply(SUCCESS)
    bk.subscribe(topic, group, last, "one") >> Reply(SUCCESS)
    told = {"clientId": first, "consumerGroup": group, "liteTopic": "one"}
    connection.next_request() >> Request(LOST, ext=told, flag=FLAG_ONEWAY)
    for light in ("one", "two"):
        fill(bk, topic, light, light.encode())
    for of, client, body in ((group, first, b"two"), (group, last, b"one"), (other_group, other, b"one")):
        bk.light_pop(topic, of, client, poll=SOON).bodies >> Reply(SUCCESS, [body])
        bk.light_pop(topic, of, client) >> NOTHING


@case(
    kills=["light-topics-have-one-client", "last-to-leave-a-light-topic-is-the-first"],
    clock=True,
    setup=LIGHT,
)
def test_goes_on_with_another_client(bk: BrokerSession) -> None:
    topic, light = parent(bk), "light"
    group = bound_group(bk, topic)
    first = subscribed(bk, topic, group, light)
    fill(bk, topic, light, b"a", b"b")
    bk.light_pop(topic, group, first, most=1, poll=SOON).bodies >> Reply(SUCCESS, [b"a"])
    other = subscribed(bk, topic, group, light)
    both = [{"clientId": client, "group": group} for client in (first, other)]
    light_info(bk, topic, light) >> Reply(SUCCESS, Including({"subscriber": Including(both)}))
    bk.light_pop(topic, group, other) >> NOTHING
    bk.subscribe(topic, group, first, action="COMPLETE_REMOVE") >> Reply(SUCCESS)
    light_info(bk, topic, light) >> Reply(SUCCESS, Including({"subscriber": both[1:]}))
    bk.advance(HIDDEN + bk.jitter)
    bk.light_pop(topic, group, other, poll=SOON).bodies >> Reply(SUCCESS, [b"a", b"b"])


@case(
    kills=[
        "light-subscriptions-never-end",
        "light-subscriptions-end-early",
        "leaving-light-topics-is-no-change",
    ],
    clock=True,
    setup=LIGHT,
)
def test_ends_if_it_is_not_said_again(bk: BrokerSession) -> None:
    topic = parent(bk)
    group = bound_group(bk, topic)
    silent, other, less = (subscribed(bk, topic, group, "one", "two") for _ in range(3))
    bk.advance(150)
    bk.subscribe(topic, group, other, "one", "two", action="COMPLETE_ADD") >> Reply(SUCCESS)
    bk.subscribe(topic, group, less, "one", action="PARTIAL_REMOVE") >> Reply(SUCCESS)
    for client, number in ((silent, 2), (other, 2), (less, 1)):
        client_info(bk, topic, group, client) >> Reply(SUCCESS, Including({"liteTopicCount": number}))
    bk.advance(KEPT + SCAN - 150 + bk.jitter)
    gone = Including({"liteTopicCount": -1, "liteTopicSet": ABSENT})
    client_info(bk, topic, group, silent) >> Reply(SUCCESS, gone)
    for client, number in ((other, 2), (less, 1)):
        client_info(bk, topic, group, client) >> Reply(SUCCESS, Including({"liteTopicCount": number}))
