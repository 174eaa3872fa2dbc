"""Chapter client: how a Broker knows its clients, and what it tells them of each other (34, 35, 38, 40)."""

from harness.conformance import Closed, Containing, Including, Reply, Request, Silence, case
from harness.session import BrokerSession
from harness.session.broker_requests import Consuming, consuming
from harness.session.connection import Connection
from harness.wire import FLAG_ONEWAY
from harness.wire.broker_codes import BrokerRequest, BrokerResponse

SUCCESS = BrokerResponse.SUCCESS
SYSTEM_ERROR = BrokerResponse.SYSTEM_ERROR
CHANGED = BrokerRequest.NOTIFY_CONSUMER_IDS_CHANGED
EXPIRY = 120
"""Protocol seconds for which a client may be silent."""


def joined(bk: BrokerSession, wants: Consuming) -> tuple[str, Connection]:
    """A new client that consumes."""
    name, connection = bk.client()
    bk.heartbeat(name, consumers=[wants], on=connection) >> Reply(SUCCESS)
    return name, connection


def told(group: str) -> Request:
    """What members of a group are told when it changes."""
    return Request(CHANGED, ext=Including({"consumerGroup": group}), flag=FLAG_ONEWAY)


@case("bk.client.is-listed-in-its-group", kills=["only-the-first-member-is-listed"])
def test_is_listed_in_its_group(bk: BrokerSession) -> None:
    """Who sends heartbeats for a group is among its members."""
    group = bk.group()
    wants = consuming(group, [bk.topic()])
    one, _ = joined(bk, wants)
    other, _ = joined(bk, wants)
    bk.consumers(group).ids >> Reply(SUCCESS, sorted([one, other]))


@case("bk.client.nobody-in-a-group-is-an-error", kills=["nobody-is-an-empty-list"])
def test_nobody_in_a_group_is_an_error(bk: BrokerSession) -> None:
    """A group without members has no list of them."""
    group = bk.group()
    bk.consumers(group) >> Reply(SYSTEM_ERROR, remark=f"no consumer for this group, {group}")


@case("bk.client.members-are-told-of-one-who-comes", kills=["nobody-is-told-of-changes"])
def test_members_are_told_of_one_who_comes(bk: BrokerSession) -> None:
    """The members of a group are told when one joins it."""
    group = bk.group()
    wants = consuming(group, [bk.topic()])
    _, first = joined(bk, wants)
    first.next_request() >> told(group)
    joined(bk, wants)
    first.next_request() >> told(group)


@case("bk.client.members-are-told-of-new-topics", kills=["new-topics-are-no-change"])
def test_members_are_told_of_new_topics(bk: BrokerSession) -> None:
    """The members of a group are told when it begins to subscribe to a topic."""
    group, topic = bk.group(), bk.topic()
    name, connection = joined(bk, consuming(group, [topic]))
    connection.next_request() >> told(group)
    more = consuming(group, [topic, bk.topic()])
    bk.heartbeat(name, consumers=[more], on=connection) >> Reply(SUCCESS)
    connection.next_request() >> told(group)


@case("bk.client.heartbeats-without-news-are-quiet", kills=["every-heartbeat-is-told"])
def test_heartbeats_without_news_are_quiet(bk: BrokerSession) -> None:
    """Heartbeats that say nothing new disturb nobody."""
    group = bk.group()
    wants = consuming(group, [bk.topic()])
    name, connection = joined(bk, wants)
    connection.next_request() >> told(group)
    bk.heartbeat(name, consumers=[wants], on=connection) >> Reply(SUCCESS)
    connection.next_request() >> Silence()


@case(
    "bk.client.members-are-told-of-one-who-goes",
    kills=["lost-clients-stay-members", "nobody-is-told-of-departures"],
)
def test_members_are_told_of_one_who_goes(bk: BrokerSession) -> None:
    """The members of a group are told when the connection of one ends."""
    group = bk.group()
    wants = consuming(group, [bk.topic()])
    stays, connection = joined(bk, wants)
    connection.next_request() >> told(group)
    _, goes = joined(bk, wants)
    connection.next_request() >> told(group)
    goes.close()
    connection.next_request() >> told(group)
    bk.consumers(group).ids.eventually() >> Reply(SUCCESS, [stays])


@case("bk.client.broadcasting-groups-are-not-told", kills=["broadcasting-groups-are-told"])
def test_broadcasting_groups_are_not_told(bk: BrokerSession) -> None:
    """Members of a group that broadcasts need not know of each other."""
    wants = consuming(bk.group(), [bk.topic()], broadcasts=True)
    _, first = joined(bk, wants)
    joined(bk, wants)
    first.next_request() >> Silence()


@case("bk.client.leaves-its-group", kills=["who-leaves-stays"])
def test_leaves_its_group(bk: BrokerSession) -> None:
    """Who leaves a group is in it no more."""
    group = bk.group()
    name, connection = joined(bk, consuming(group, [bk.topic()]))
    bk.leave(name, consumer_group=group, on=connection) >> Reply(SUCCESS)
    bk.consumers(group) >> Reply(SYSTEM_ERROR)


@case("bk.client.without-heartbeats-is-let-go", kills=["silent-clients-stay"], clock=True)
def test_without_heartbeats_is_let_go(bk: BrokerSession) -> None:
    """A client that sends no heartbeats is let go, whatever else it says."""
    group = bk.group()
    _, connection = joined(bk, consuming(group, [bk.topic()]))
    bk.advance_past(EXPIRY)
    bk.consumers(group) >> Reply(SYSTEM_ERROR)
    connection.closes() >> Closed()


@case("bk.client.retry-topic-comes-into-being", kills=["groups-have-no-retry-topic"])
def test_retry_topic_comes_into_being(bk: BrokerSession) -> None:
    """A group that is online has a topic for its retries."""
    group = bk.group()
    joined(bk, consuming(group, [bk.topic()]))
    bk.pull(f"%RETRY%{group}") >> Reply(BrokerResponse.PULL_NOT_FOUND)
    refused = (BrokerResponse.SYSTEM_ERROR, BrokerResponse.INVALID_PARAMETER)
    bk.pull(f"%RETRY%{group}", queue=1) >> Reply(refused, remark=Containing("queueId[1] is illegal"))


@case("bk.client.older-subscription-does-not-replace", kills=["older-subscriptions-replace-newer"])
def test_older_subscription_does_not_replace(bk: BrokerSession) -> None:
    """What a group wants is what the newest of its heartbeats says."""
    group, topic = bk.group(), bk.topic()
    for tag in ("a", "b"):
        bk.send(topic, tag.encode(), tags=tag) >> Reply(SUCCESS)
    name, connection = joined(bk, consuming(group, {topic: "a"}, version=5))
    old = consuming(group, {topic: "b"}, version=4)
    bk.heartbeat(name, consumers=[old], on=connection) >> Reply(SUCCESS)
    bk.pull(topic, group=group, sys_flag=0).bodies.eventually() >> Reply(SUCCESS, [b"a"])


@case("bk.client.short-heartbeats-are-known", kills=["short-heartbeats-are-not-known"])
def test_short_heartbeats_are_known(bk: BrokerSession) -> None:
    """A Broker of 5.x says that it understands short heartbeats."""
    known = Including({"IS_SUPPORT_HEART_BEAT_V2": "true", "IS_SUB_CHANGE": "true"})
    bk.heartbeat(bk.name("client"), producers=[bk.group()]) >> Reply(SUCCESS, ext=known)


@case("bk.client.fingerprint-tells-of-change", kills=["fingerprints-never-change"])
def test_fingerprint_tells_of_change(bk: BrokerSession) -> None:
    """A client learns from the answer whether others of its group want something else."""
    wants = [consuming(bk.group(), [bk.topic()])]
    (one, first), (other, second) = bk.client(), bk.client()
    for name, connection, fingerprint, changed in (
        (one, first, 7, "false"),
        (one, first, 7, "false"),
        (other, second, 8, "true"),
    ):
        more = {"heartbeatFingerprint": fingerprint}
        beat = bk.heartbeat(name, consumers=wants, more=more, on=connection)
        beat >> Reply(SUCCESS, ext=Including({"IS_SUB_CHANGE": changed}))
