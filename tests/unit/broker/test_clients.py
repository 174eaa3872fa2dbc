"""Clients: how they are known, what they are told of each other, and how they go. Locks on queues."""

import pytest

from harness.wire import RequestCode
from harness.wire.bodies import (
    ConsumerData,
    Heartbeat,
    LockedQueues,
    LockRequest,
    MessageQueue,
    ProducerData,
    Subscription,
)
from reference_impl.broker.outbox import End, Pushing

ALL = Subscription(topic="T", sub_string="*", sub_version=1)


@pytest.fixture
def one(asked, profile):
    """A Broker with three connections."""
    return joined(asked(profile))


def joined(one):
    for connection in (2, 3):
        one.broker.connected(connection, f"10.0.0.{connection}:40000", one.now)
    return one


def beat(one, connection=1, *subscriptions, group="G", model="CLUSTERING", **more):
    data = ConsumerData(
        "CONSUME_FROM_LAST_OFFSET", "CONSUME_PASSIVELY", group, model, list(subscriptions or [ALL])
    )
    heartbeat = Heartbeat(client_id=f"c{connection}", consumer_data_set=[data], **more)
    return one.ask(RequestCode.HEART_BEAT, body=heartbeat.encode(), connection=connection)


def subscription(one):
    """What the group wants of its topic."""
    return one.broker.clients.consumers["G"].subscriptions["T"]


def listed(one, group="G"):
    reply = one.ask(RequestCode.GET_CONSUMER_LIST_BY_GROUP, {"consumerGroup": group})
    return reply.body.decode() if reply.code == 0 else (reply.code, reply.remark)


def told(one):
    """The connections that were sent 40."""
    return [pushing.connection for pushing in one.taken(Pushing) if pushing.command.code == 40]


def test_a_heartbeat_makes_a_member_and_the_topic_for_its_retries(one, profile):
    reply = beat(one)
    expected = {"IS_SUPPORT_HEART_BEAT_V2": "true", "IS_SUB_CHANGE": "true"}
    assert (reply.code, reply.ext) == (0, None if profile == "4.9" else expected)
    assert listed(one) == '{"consumerIdList":["c1"]}'
    assert one.broker.topics.get("%RETRY%G").write_queue_nums == 1
    assert subscription(one) == ALL


def test_a_group_without_members(one):
    assert listed(one) == (1, "no consumer for this group, G")


def test_members_hear_of_each_other_and_of_changed_topics(one):
    beat(one)
    assert told(one) == [1]
    beat(one, 2)
    assert told(one) == [1, 2]
    beat(one, 2)
    assert told(one) == []
    beat(one, 2, ALL, Subscription(topic="U", sub_string="*"))
    assert told(one) == [1, 2]
    one.broker.lost(2, one.now)
    assert told(one) == [1]
    assert listed(one) == '{"consumerIdList":["c1"]}'


def test_what_members_get(one):
    beat(one)
    (pushing,) = one.taken(Pushing)
    assert (pushing.command.code, pushing.command.ext) == (40, {"consumerGroup": "G"})


def test_a_group_that_broadcasts(one, profile):
    beat(one, model="BROADCASTING")
    beat(one, 2, model="BROADCASTING")
    assert told(one) == ([1, 1, 2] if profile == "4.9" else [])


def test_members_can_be_left_untold(asked, profile, one):
    quiet = joined(asked(profile, notifyConsumerIdsChangedEnable=False))
    beat(quiet)
    assert told(quiet) == []
    one.broker.groups.find("G", one.now).notify_consumer_ids_changed_enable = False
    beat(one)
    assert told(one) == []


def test_only_a_newer_subscription_replaces_one(one):
    beat(one)
    old = Subscription(topic="T", sub_string="a", sub_version=0)
    new = Subscription(topic="T", sub_string="b", sub_version=2)
    beat(one, 1, old)
    assert subscription(one) == ALL
    beat(one, 1, new)
    assert subscription(one) == new


def test_a_client_that_leaves(one):
    heartbeat = Heartbeat(client_id="c1", producer_data_set=[ProducerData("P")])
    one.ask(RequestCode.HEART_BEAT, body=heartbeat.encode())
    beat(one)
    assert one.broker.clients.producers["P"][1].id == "c1"
    ext = {"clientID": "c1", "producerGroup": "P", "consumerGroup": "G"}
    assert one.ask(RequestCode.UNREGISTER_CLIENT, ext).code == 0
    assert one.broker.clients.producers == {}
    assert listed(one) == (1, "no consumer for this group, G")


def test_members_hear_of_a_leaver_even_if_it_was_no_member(one):
    beat(one)
    one.taken(Pushing)
    one.ask(RequestCode.UNREGISTER_CLIENT, {"clientID": "x", "consumerGroup": "G"}, connection=2)
    assert told(one) == [1]


def test_a_client_without_heartbeats_is_let_go_by_the_next_look(one):
    one.pass_time(5_000)
    beat(one)
    one.pass_time(120_000)
    assert one.taken(End) == []
    one.pass_time(5_000)
    assert [end.connection for end in one.taken(End)] == [1]
    assert listed(one) == (1, "no consumer for this group, G")


def test_a_client_with_heartbeats_stays(one):
    for _ in range(6):
        beat(one)
        one.pass_time(30_000)
    assert one.taken(End) == []
    assert listed(one) == '{"consumerIdList":["c1"]}'


def test_the_short_form_of_53_tells_whether_subscriptions_differ(asked):
    one = joined(asked("5.3"))

    def changed(connection, fingerprint, **more):
        return beat(one, connection, heartbeat_fingerprint=fingerprint, **more).ext["IS_SUB_CHANGE"]

    assert [changed(1, 7), changed(1, 7), changed(2, 8), changed(1, 7)] == ["false", "false", "true", "true"]
    assert changed(3, 7, without_sub=True) == "false"
    assert subscription(one) == ALL
    assert changed(1, 0) == "true"


def test_a_group_that_may_not_come_into_being(asked, profile):
    one = joined(asked(profile, autoCreateSubscriptionGroup=False))
    assert beat(one).code == 0
    assert listed(one) == (
        '{"consumerIdList":["c1"]}' if profile == "4.9" else (1, "no consumer for this group, G")
    )
    assert one.broker.topics.get("%RETRY%G") is None


@pytest.mark.parametrize("body", [b"", b"{", b"null", b'{"consumerDataSet":[{}]}'])
def test_a_heartbeat_that_says_nothing_is_refused(one, body):
    assert one.ask(RequestCode.HEART_BEAT, body=body).code == 1


def test_a_heartbeat_as_other_clients_write_it(one):
    body = (
        b'{"clientID":"go","producerDataSet":[{"groupName":"P"}],"consumerDataSet":[{"groupName":"G",'
        b'"consumeType":"CONSUME_PASSIVELY","messageModel":"CLUSTERING","unitMode":false,'
        b'"consumeFromWhere":"CONSUME_FROM_FIRST_OFFSET","subscriptionDataSet":[{"topic":"T","subString":"a",'
        b'"codeSet":["97"],"tagsSet":["a"],"subVersion":"5","expressionType":"","extra":{"x":[1]}}]}]}'
    )
    assert one.ask(RequestCode.HEART_BEAT, body=body).code == 0
    found = subscription(one)
    assert (found.code_set, found.sub_version, found.expression_type) == ([97], 5, "")


# -- locks ---------------------------------------------------------------------------------------------------

QUEUES = [MessageQueue("b", number, "T") for number in range(2)]


def lock(one, client, queues=QUEUES, group="G"):
    reply = one.ask(RequestCode.LOCK_BATCH_MQ, body=LockRequest(client, group, queues).encode())
    return LockedQueues.decode(reply.body).queues


def unlock(one, client, queues=QUEUES):
    return one.ask(RequestCode.UNLOCK_BATCH_MQ, body=LockRequest(client, "G", queues).encode())


def test_a_queue_is_one_clients(one):
    assert lock(one, "a", QUEUES[:1]) == QUEUES[:1]
    assert lock(one, "b") == QUEUES[1:]
    assert lock(one, "a") == QUEUES[:1]
    assert lock(one, "b", group="H") == QUEUES


def test_a_lock_is_over_after_a_minute_unless_it_is_renewed(one):
    lock(one, "a")
    one.pass_time(60_000)
    assert lock(one, "b") == []
    lock(one, "a", QUEUES[:1])
    one.pass_time(1)
    assert lock(one, "b") == QUEUES[1:]


def test_a_lock_is_somebodys(one):
    assert one.ask(RequestCode.LOCK_BATCH_MQ, body=LockRequest(None, "G", QUEUES).encode()).code == 1
    assert one.ask(RequestCode.LOCK_BATCH_MQ, body=LockRequest("a", None, QUEUES).encode()).code == 1
    assert lock(one, "b") == QUEUES


def test_only_the_holder_gives_up_a_lock(one):
    lock(one, "a")
    assert unlock(one, "b").code == 0
    assert lock(one, "b") == []
    assert unlock(one, "a").code == 0
    assert lock(one, "b") == QUEUES
