"""Chapter acl: what an account may do."""

from harness.conformance import Reply, case
from harness.conformance.broker.acl.guarded import (
    ADMIN,
    BOTH,
    BOUNDED,
    CONFINED,
    MISREAD,
    NAMED,
    NOTHING,
    ON,
    READER,
    REFUSED,
    SENDER,
    SUCCESS,
    TURNED,
    made,
)
from harness.session import BrokerSession
from harness.session.broker.requests import consuming
from harness.wire import RequestCode, ResponseCode
from harness.wire.messages import TopicName, decode_offset_id

NOT_FOUND = Reply(ResponseCode.PULL_NOT_FOUND)


@case(kills=["everybody-may-send", "readers-may-send"], setup=ON)
def test_send_needs_the_right_to_the_topic(bk: BrokerSession) -> None:
    topic = made(bk)
    for account in (READER, NOTHING, MISREAD):
        bk.sign_as(account)
        bk.send(topic) >> REFUSED
        bk.send(topic, code=10) >> REFUSED
    for account in (SENDER, BOTH, TURNED):
        bk.sign_as(account)
        bk.send(topic) >> Reply(SUCCESS)
        bk.send(topic, code=10) >> Reply(SUCCESS)


@case(kills=["batches-need-no-right"], setup=ON)
def test_batch_needs_the_right_to_the_topic(bk: BrokerSession) -> None:
    topic = made(bk)
    bk.sign_as(SENDER)
    bk.send_batch(topic, [b"one", b"two"]) >> Reply(SUCCESS)
    bk.sign_as(READER)
    bk.send_batch(topic, [b"three"]) >> REFUSED


@case(kills=["everybody-may-pull", "pulls-need-no-right-to-the-group"], setup=ON)
def test_pull_needs_rights_to_topic_and_group(bk: BrokerSession) -> None:
    topic, group = made(bk), bk.group()
    for account in (SENDER, NOTHING, MISREAD):
        bk.sign_as(account)
        bk.pull(topic, group=group) >> REFUSED
    for account in (READER, BOTH, TURNED):
        bk.sign_as(account)
        bk.pull(topic, group=group) >> NOT_FOUND
    bk.sign_as(READER)
    bk.pull(topic, group=NAMED["PUB"]) >> REFUSED
    bk.pull(topic, group=NAMED["DENY"]) >> REFUSED
    bk.pull(topic, group=NAMED["SUB"]) >> NOT_FOUND


@case(kills=["rights-by-name-do-not-count", "defaults-add-to-rights-by-name"], setup=ON)
def test_right_by_name_stands_for_the_default(bk: BrokerSession) -> None:
    for topic in NAMED.values():
        made(bk, topic)
    for account in (SENDER, READER):
        bk.sign_as(account)
        for right in ("PUB", "PUB|SUB"):
            bk.send(NAMED[right]) >> Reply(SUCCESS)
        for right in ("SUB", "DENY"):
            bk.send(NAMED[right]) >> REFUSED
    bk.sign_as(READER)
    for right in ("SUB", "PUB|SUB"):
        bk.pull(NAMED[right], 1, group=NAMED[right]) >> NOT_FOUND
    for right in ("PUB", "DENY"):
        bk.pull(NAMED[right], 1, group=NAMED["SUB"]) >> REFUSED


@case(kills=["traces-need-a-right"], setup=ON)
def test_trace_needs_no_right(bk: BrokerSession) -> None:
    bk.send(TopicName.TRACE) >> REFUSED
    bk.sign_as(NOTHING)
    bk.send(TopicName.TRACE) >> Reply(SUCCESS)
    bk.pull(TopicName.TRACE) >> REFUSED


@case(kills=["everybody-is-an-administrator", "deletions-need-no-administrator"], setup=ON)
def test_administration_needs_an_administrator(bk: BrokerSession) -> None:
    topic, group = bk.name("T"), bk.group()
    for account, judged in ((BOTH, REFUSED), (ADMIN, Reply(SUCCESS))):
        bk.sign_as(account)
        bk.create_topic(topic) >> judged
        bk.create_group(group) >> judged
        bk.update_config({"fileReservedTime": "72"}) >> judged
    for account, judged in ((BOTH, REFUSED), (ADMIN, Reply(SUCCESS))):
        bk.sign_as(account)
        bk.delete_topic(topic) >> judged
        bk.call(RequestCode.DELETE_SUBSCRIPTIONGROUP, {"groupName": group}) >> judged


@case(kills=["administrators-need-rights"], setup=ON)
def test_administrator_needs_no_rights(bk: BrokerSession) -> None:
    topic = made(bk)
    bk.sign_as(ADMIN)
    bk.send(topic, b"mine") >> Reply(SUCCESS)
    bk.pull(topic, group=bk.group()).bodies.eventually() >> Reply(SUCCESS, [b"mine"])


@case(kills=["administrators-have-all-rights", "administrators-have-rights-beside-groups"], setup=ON)
def test_administrator_with_rights_has_no_others(bk: BrokerSession) -> None:
    topic = made(bk)
    made(bk, NAMED["PUB"])
    bk.sign_as(BOUNDED)
    bk.create_topic(topic) >> Reply(SUCCESS)
    bk.send(topic) >> REFUSED
    bk.send(NAMED["PUB"]) >> Reply(SUCCESS)
    bk.pull(topic) >> REFUSED
    bk.sign_as(CONFINED)
    bk.create_topic(topic) >> Reply(SUCCESS)
    bk.send(topic) >> REFUSED
    bk.consumers(NAMED["DENY"]) >> REFUSED
    bk.commit_offset(NAMED["SUB"], topic, 0, 0) >> REFUSED
    bk.leave("client", consumer_group=NAMED["SUB"]) >> Reply(SUCCESS)


@case(kills=["heartbeats-need-no-rights", "the-first-subscription-needs-a-right"], setup=ON)
def test_heartbeat_needs_rights_to_all_that_it_names(bk: BrokerSession) -> None:
    topic, other, group, (client, connection) = made(bk), made(bk), bk.group(), bk.client()
    bk.sign_as(READER)
    allowed = [consuming(group, [topic, other]), consuming(NAMED["SUB"], [NAMED["SUB"]])]
    bk.heartbeat(client, consumers=allowed, on=connection) >> Reply(SUCCESS)
    one_topic = [consuming(group, [topic, NAMED["PUB"]])]
    bk.heartbeat(client, consumers=one_topic, on=connection) >> REFUSED
    one_group = [consuming(group, [topic]), consuming(NAMED["DENY"], [topic])]
    bk.heartbeat(client, consumers=one_group, on=connection) >> REFUSED
    bk.sign_as(SENDER)
    bk.heartbeat(client, consumers=[consuming(group, [topic])], on=connection) >> REFUSED
    bk.heartbeat(client, producers=[group], on=connection) >> Reply(SUCCESS)


@case(kills=["retry-topics-are-topics"], setup=ON)
def test_retry_topic_is_a_matter_of_its_group(bk: BrokerSession) -> None:
    made(bk, topic := TopicName.RETRY_PREFIX + NAMED["SUB"])
    made(bk, closed := TopicName.RETRY_PREFIX + NAMED["DENY"])
    bk.sign_as(READER)
    bk.send(topic, group=NAMED["SUB"]) >> Reply(SUCCESS)
    bk.send(topic, group=NAMED["SUB"], code=10) >> Reply(SUCCESS)
    bk.send(topic, group=NAMED["DENY"]) >> REFUSED
    bk.pull(topic, 1, group=NAMED["SUB"]) >> NOT_FOUND
    bk.pull(closed, 1, group=NAMED["SUB"]) >> REFUSED
    bk.sign_as(SENDER)
    bk.send(topic, group=NAMED["SUB"]) >> REFUSED


@case(kills=["groups-are-open", "producers-need-a-right-to-leave"], setup=ON)
def test_requests_of_consumers_need_the_right_to_the_group(bk: BrokerSession) -> None:
    topic, group, (client, connection) = made(bk), bk.group(), bk.client()
    bk.sign_as(BOTH)
    bk.heartbeat(client, consumers=[consuming(group, [topic])], on=connection) >> Reply(SUCCESS)
    closed = NAMED["DENY"]
    bk.sign_as(READER)
    bk.consumers(group).ids >> Reply(SUCCESS, [client])
    bk.consumers(closed) >> REFUSED
    bk.commit_offset(group, topic, 0, 7) >> Reply(SUCCESS)
    bk.commit_offset(closed, topic, 0, 7) >> REFUSED
    bk.leave(client, consumer_group=closed, on=connection) >> REFUSED
    bk.leave(client, consumer_group=group, on=connection) >> Reply(SUCCESS)
    bk.sign_as(NOTHING)
    bk.leave(client, producer_group=closed, on=connection) >> Reply(SUCCESS)


@case(kills=["messages-are-sent-back-without-a-right"], setup=ON)
def test_message_is_sent_back_by_its_group(bk: BrokerSession) -> None:
    topic = made(bk)
    bk.sign_as(BOTH)
    sent = bk.send(topic).ids >> Reply(SUCCESS)
    offset = decode_offset_id(sent.value[0])[1]
    bk.sign_as(READER)
    bk.send_back(NAMED["DENY"], offset, topic=topic) >> REFUSED
    bk.send_back(bk.group(), offset, topic=topic) >> Reply(SUCCESS)


@case(kills=["queries-need-no-right", "commits-need-no-right-to-the-topic"], setup=ON)
def test_queries_and_commits_need_the_right_to_the_topic(bk: BrokerSession) -> None:
    topic, group = made(bk), bk.group()
    bk.sign_as(BOTH)
    bk.send(topic, b"one", keys="K") >> Reply(SUCCESS)
    bk.sign_as(READER)
    bk.find(topic, "K").bodies.eventually() >> Reply(SUCCESS, [b"one"])
    bk.commit_offset(group, topic, 0, 1) >> Reply(SUCCESS)
    bk.find(NAMED["PUB"], "K") >> REFUSED
    bk.commit_offset(group, NAMED["PUB"], 0, 1) >> REFUSED
    bk.sign_as(SENDER)
    bk.find(topic, "K") >> REFUSED


@case(kills=["everything-needs-a-right"], setup=ON)
def test_other_requests_need_an_account_alone(bk: BrokerSession) -> None:
    topic = made(bk)
    bk.max_offset(topic) >> REFUSED
    bk.sign_as(NOTHING)
    bk.max_offset(topic).offset >> Reply(SUCCESS, 0)
    bk.committed(bk.group(), topic) >> Reply(SUCCESS)
    bk.topics() >> Reply(SUCCESS)
    bk.lock(bk.group(), "client", [(topic, 0)]) >> Reply(SUCCESS)
