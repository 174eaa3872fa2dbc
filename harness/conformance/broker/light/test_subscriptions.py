"""Chapter light: several clients of a group, where they begin, and subscriptions that end."""

from harness.conformance import ABSENT, Containing, Including, Reply, Request, Silence, case
from harness.conformance.broker.light.lights import (
    HIDDEN,
    LIGHT,
    NOTHING,
    SOON,
    ack,
    bound_group,
    client_info,
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
from harness.wire import FLAG_ONEWAY, RequestCode, ResponseCode

LOST = RequestCode.NOTIFY_UNSUBSCRIBE_LITE
KEPT = 180
"""Protocol seconds without a change for which subscriptions are kept."""
SCAN = 120
"""Protocol seconds between two looks for those that are not kept."""
FOUND = 60
"""Protocol seconds that a pop of all light topics may wait for what is surely there."""
LONG = 600
"""Protocol seconds for which what is popped is hidden where nothing is to come again."""


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


@case(kills=["clients-lose-no-light-topic-to-themselves"], setup=LIGHT)
def test_exclusive_one_is_taken_from_its_own_client(bk: BrokerSession) -> None:
    topic = parent(bk)
    group, (client, connection) = bound_group(bk, topic, model="Exclusive"), bk.client()
    bk.subscribe(topic, group, client, "one", on=connection) >> Reply(SUCCESS)
    connection.next_request(LOST) >> Silence()
    bk.subscribe(topic, group, client, "one", on=connection) >> Reply(SUCCESS)
    told = {"clientId": client, "consumerGroup": group, "liteTopic": "one"}
    connection.next_request(LOST) >> Request(LOST, ext=told, flag=FLAG_ONEWAY)
    shown = Including({"subscriber": [{"clientId": client, "group": group}]})
    light_info(bk, topic, "one") >> Reply(SUCCESS, shown)


@case(kills=["exclusive-light-topics-are-taken-from-one"], setup=LIGHT)
def test_exclusive_one_is_taken_from_all(bk: BrokerSession) -> None:
    topic = parent(bk)
    group, last = bound_group(bk, topic), bk.name("client")
    clients = [bk.client(), bk.client()]
    for client, connection in clients:
        bk.subscribe(topic, group, client, "one", on=connection) >> Reply(SUCCESS)
    bk.create_group(group, attributes={"+lite.sub.model": "Exclusive"}) >> Reply(SUCCESS)
    bk.subscribe(topic, group, last, "one") >> Reply(SUCCESS)
    for client, connection in clients:
        told = {"clientId": client, "consumerGroup": group, "liteTopic": "one"}
        connection.next_request(LOST) >> Request(LOST, ext=told, flag=FLAG_ONEWAY)
    shown = Including({"subscriber": [{"clientId": last, "group": group}]})
    light_info(bk, topic, "one") >> Reply(SUCCESS, shown)


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
    silent, mute, other, less = (subscribed(bk, topic, group, "one", "two") for _ in range(4))
    bk.advance(150)
    bk.subscribe(topic, group, other, "one", "two", action="COMPLETE_ADD") >> Reply(SUCCESS)
    bk.subscribe(topic, group, less, "one", action="PARTIAL_REMOVE") >> Reply(SUCCESS)
    for client, number in ((silent, 2), (other, 2), (less, 1)):
        client_info(bk, topic, group, client) >> Reply(SUCCESS, Including({"liteTopicCount": number}))
    bk.advance(KEPT + SCAN - 150 + bk.jitter)
    gone = Including({"liteTopicCount": -1, "liteTopicSet": ABSENT})
    for client in (silent, mute):
        client_info(bk, topic, group, client) >> Reply(SUCCESS, gone)
    for client, number in ((other, 2), (less, 1)):
        client_info(bk, topic, group, client) >> Reply(SUCCESS, Including({"liteTopicCount": number}))


@case(
    kills=[
        "wildcard-groups-are-like-others",
        "wildcard-clients-get-what-is-there",
        "wildcard-clients-have-every-parent",
        "wildcard-clients-stay",
    ],
    setup=LIGHT,
)
def test_wildcard_group_gets_all(bk: BrokerSession) -> None:
    topic, foreign = parent(bk), parent(bk)
    group = bound_group(bk, topic, wildcard="true")
    first, other = bk.name("client"), bk.name("client")
    for name in (foreign, topic):
        fill(bk, name, "one", b"1")
    bk.subscribe(topic, group, first, "none", action="COMPLETE_ADD") >> Reply(SUCCESS)
    bk.light_pop(topic, group, first, invisible=LONG, poll=FOUND).bodies >> Reply(SUCCESS, [b"1"])
    for name in (foreign, topic):
        fill(bk, name, "two", b"2")
    bk.light_pop(topic, group, first, invisible=LONG, poll=FOUND).bodies >> Reply(SUCCESS, [b"2"])
    bk.subscribe(topic, group, other, action="COMPLETE_ADD") >> Reply(SUCCESS)
    bk.subscribe(topic, group, first, action="COMPLETE_REMOVE") >> Reply(SUCCESS)
    bk.subscribe(topic, group, other, "three", action="PARTIAL_REMOVE") >> Reply(SUCCESS)
    fill(bk, topic, "three", b"3")
    bk.light_pop(topic, group, first) >> NOTHING
    bk.light_pop(topic, group, other, invisible=LONG, poll=FOUND).bodies >> Reply(SUCCESS, [b"3"])


@case(kills=["wildcard-is-any-value"], setup=LIGHT)
def test_wildcard_can_be_false(bk: BrokerSession) -> None:
    topic = parent(bk)
    group, client = bound_group(bk, topic, wildcard="false"), bk.name("client")
    bk.subscribe(topic, group, client, "light") >> Reply(SUCCESS)
    for light in ("other", "light"):
        fill(bk, topic, light, light.encode())
    bk.light_pop(topic, group, client, poll=SOON).bodies >> Reply(SUCCESS, [b"light"])


@case(kills=["odd-subscriptions-name-nothing"], setup=LIGHT)
def test_version_of_a_subscription_may_be_a_text(bk: BrokerSession) -> None:
    topic, client = parent(bk), bk.name("client")
    group = bound_group(bk, topic)
    bk.subscribe(topic, group, client, "one", "two", more={"version": "7"}) >> Reply(SUCCESS)
    client_info(bk, topic, group, client) >> Reply(SUCCESS, Including({"liteTopicCount": 2}))


@case(kills=["wildcard-clients-are-shown-apart"], setup=LIGHT)
def test_wildcard_group_is_shown_as_one(bk: BrokerSession) -> None:
    topic = parent(bk)
    group = bound_group(bk, topic, wildcard="true")
    fill(bk, topic, "light", b"a")
    for _ in range(2):
        bk.subscribe(topic, group, bk.name("client"), action="COMPLETE_ADD") >> Reply(SUCCESS)
    client = subscribed(bk, topic, other := bound_group(bk, topic), "light")
    shown = [{"clientId": "*", "group": group}, {"clientId": client, "group": other}]
    light_info(bk, topic, "light") >> Reply(SUCCESS, Including({"subscriber": Including(shown)}))


@case(kills=["wildcard-clients-are-shown-under-their-group"], setup=LIGHT)
def test_wildcard_client_is_shown_with_one_name(bk: BrokerSession) -> None:
    topic, client = parent(bk), bk.name("client")
    group = bound_group(bk, topic, wildcard="true")
    bk.subscribe(topic, group, client, "one", "two", action="COMPLETE_ADD") >> Reply(SUCCESS)
    shown = Including({"liteTopicCount": 1, "liteTopicSet": [f"{topic}@{group}"]})
    client_info(bk, topic, group, client) >> Reply(SUCCESS, shown)


@case(kills=["wildcard-groups-name-light-topics"], setup=LIGHT)
def test_wildcard_group_names_none(bk: BrokerSession) -> None:
    topic = parent(bk)
    group, client = bound_group(bk, topic, wildcard="true"), bk.name("client")
    remark = Containing("subscribe lite operation is not supported for this group")
    bk.subscribe(topic, group, client, "light") >> Reply(ResponseCode.ILLEGAL_OPERATION, remark=remark)
    bk.subscribe(topic, group, client, action="COMPLETE_ADD") >> Reply(SUCCESS)


@case(
    kills=[
        "light-subscriptions-begin-where-they-are",
        "light-tails-count-from-the-end",
        "light-policies-are-one",
        "old-light-pops-block-new-places",
    ],
    setup=LIGHT,
)
def test_subscription_says_where_to_begin(bk: BrokerSession) -> None:
    topic, light, bodies = parent(bk), "light", [b"a", b"b", b"c", b"d", b"e"]
    group, client = consumed(bk, topic, light, *bodies)
    consume(bk, topic, group, client, light, *bodies[:2])
    for kind, value, begin in (
        ("POLICY", 0, 2),
        ("POLICY", 1, 0),
        ("OFFSET", 3, 3),
        ("TAIL_N", 2, 1),
        ("TAIL_N", 7, 0),
    ):
        begins(bk, topic, group, client, light, kind, value)
        bk.light_pop(topic, group, client, poll=SOON).bodies >> Reply(SUCCESS, bodies[begin:])
    begins(bk, topic, group, client, light, "POLICY", 2)
    bk.light_pop(topic, group, client) >> NOTHING
    put(bk, topic, light, b"f")
    bk.light_pop(topic, group, client, poll=SOON).bodies >> Reply(SUCCESS, [b"f"])
    new, of_new = bound_group(bk, topic), bk.name("client")
    begins(bk, topic, new, of_new, light, "TAIL_N", 2)
    bk.light_pop(topic, new, of_new, poll=SOON).bodies >> Reply(SUCCESS, [*bodies, b"f"])


@case(kills=["options-without-a-value-change-nothing"], setup=LIGHT)
def test_option_without_a_value_means_0(bk: BrokerSession) -> None:
    topic, light, bodies = parent(bk), "light", [b"a", b"b", b"c"]
    group, client = consumed(bk, topic, light, *bodies)
    for version in ("7", 8):  # an odd subscription, and an ordinary one
        consume(bk, topic, group, client, light, *bodies[:2])
        bk.subscribe(topic, group, client, light, action="PARTIAL_REMOVE") >> Reply(SUCCESS)
        option = {"offsetOption": {"type": "OFFSET"}, "version": version}
        bk.subscribe(topic, group, client, light, more=option) >> Reply(SUCCESS)
    bk.light_pop(topic, group, client, poll=SOON).bodies >> Reply(SUCCESS, bodies)


@case(kills=["light-acks-undo-resets"], setup=LIGHT)
def test_acknowledgements_leave_a_new_place(bk: BrokerSession) -> None:
    topic, light = parent(bk), "light"
    group, client = consumed(bk, topic, light, b"a", b"b", b"c")
    pop = bk.light_pop(topic, group, client, 2, poll=SOON)
    handles = (pop.handles >> Reply(SUCCESS)).value
    begins(bk, topic, group, client, light, "OFFSET", 1)
    for handle in reversed(handles):
        ack(bk, topic, group, light, handle) >> Reply(SUCCESS)
    table = Including({f"{queue_of(topic, light)}@{group}": Including({"0": 1})})
    bk.offsets().json >> Reply(SUCCESS, Including({"offsetTable": table}))
    bk.light_pop(topic, group, client, poll=SOON).bodies >> Reply(SUCCESS, [b"b", b"c"])


@case(kills=["light-groups-never-begin-anew", "light-groups-always-begin-anew"], setup=LIGHT)
def test_unsubscribing_can_begin_anew(bk: BrokerSession) -> None:
    topic, light = parent(bk), "light"
    fill(bk, topic, light, *(every := [b"a", b"b", b"c", b"d"]))
    for anew, bodies in (("true", every), ("false", [b"d"])):
        group = bound_group(bk, topic, **{"reset.offset.unsubscribe": anew})
        client, stranger = subscribed(bk, topic, group, "empty", light), bk.name("stranger")
        consume(bk, topic, group, client, light, b"a", b"b")
        bk.subscribe(topic, group, stranger, light, action="PARTIAL_REMOVE") >> Reply(SUCCESS)
        consume(bk, topic, group, client, light, b"c")
        bk.subscribe(topic, group, client, "empty", light, action="PARTIAL_REMOVE") >> Reply(SUCCESS)
        bk.subscribe(topic, group, client, "empty", light) >> Reply(SUCCESS)
        bk.light_pop(topic, group, client, poll=SOON).bodies >> Reply(SUCCESS, bodies)


@case(kills=["light-groups-never-begin-anew", "light-groups-always-begin-anew"], setup=LIGHT)
def test_another_client_can_begin_anew(bk: BrokerSession) -> None:
    topic, light = parent(bk), "light"
    fill(bk, topic, light, b"a", b"b", b"c")
    for anew, bodies in (("true", [b"a", b"b", b"c"]), ("false", [b"c"])):
        group = bound_group(bk, topic, model="Exclusive", **{"reset.offset.exclusive": anew})
        first = subscribed(bk, topic, group, light)
        consume(bk, topic, group, first, light, b"a", b"b")
        last = subscribed(bk, topic, group, light)
        bk.light_pop(topic, group, last, poll=SOON).bodies >> Reply(SUCCESS, bodies)


def consume(bk: BrokerSession, topic: str, group: str, client: str, light: str, *bodies: bytes) -> None:
    """A client of a group consumes the next messages of its one light topic."""
    pop = bk.light_pop(topic, group, client, most=len(bodies), poll=SOON)
    pop.bodies >> Reply(SUCCESS, [*bodies])
    for handle in (pop.handles >> Reply(SUCCESS)).value:
        ack(bk, topic, group, light, handle) >> Reply(SUCCESS)


def begins(bk: BrokerSession, topic: str, group: str, client: str, light: str, kind: str, value: int) -> None:
    """A client subscribes anew to a light topic, and says where its group goes on."""
    bk.subscribe(topic, group, client, light, action="PARTIAL_REMOVE") >> Reply(SUCCESS)
    option = {"offsetOption": {"type": kind, "value": value}}
    bk.subscribe(topic, group, client, light, more=option) >> Reply(SUCCESS)
