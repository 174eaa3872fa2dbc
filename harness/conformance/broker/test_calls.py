"""Chapter calls: requests that a Broker sends to online consumers on behalf of administrators."""

from collections.abc import Mapping
from typing import Any

from harness.conformance import Closed, Containing, Including, Matching, Reply, Request, Silence, case
from harness.conformance.broker.tools import queue_name, tables_of
from harness.conformance.broker.whole import PUSHED, viewed
from harness.session import Answer, BrokerSession, Connection, Exchange
from harness.session.broker.requests import consuming
from harness.session.exchange import NotSo, View
from harness.session.requests import fields
from harness.wire import FLAG_ONEWAY, Command, RequestCode, ResponseCode, Serialization, WireError
from harness.wire.bodies import ConsumerStatus, MessageQueue, QueueOffsets
from harness.wire.fastjson import ParseError, parse
from harness.wire.messages import decode_offset_id, offset_id
from harness.wire.versions import V3_0_7_SNAPSHOT, V3_1_8_SNAPSHOT

SUCCESS, ERROR = ResponseCode.SUCCESS, ResponseCode.SYSTEM_ERROR
TIMEOUT = ResponseCode.CONSUME_MSG_TIMEOUT
INFO, CONSUME = RequestCode.GET_CONSUMER_RUNNING_INFO, RequestCode.CONSUME_MESSAGE_DIRECTLY
STATUS = RequestCode.GET_CONSUMER_STATUS_FROM_CLIENT
GATHER = RequestCode.INVOKE_BROKER_TO_GET_CONSUMER_STATUS
RESET = RequestCode.RESET_CONSUMER_CLIENT_OFFSET
WITHIN, STATUS_WITHIN = 10, 5
"""Protocol seconds that a client has for its answer."""
BY_MEMBERS = {"useServerSideResetOffset": "false"}
"""With this setting 5.x lets the members of a group reset offsets, as 4.9 always does."""
OLD = V3_0_7_SNAPSHOT - 1
REMARK = "[reset-offset] reset offset failed, no topic in this broker. topic="

Client = tuple[str, Connection]


def online(bk: BrokerSession, group: str, **header: Any) -> Client:
    """A member of a group, and its connection."""
    client, connection = bk.client()
    bk.heartbeat(client, consumers=[consuming(group)], on=connection, **header) >> Reply(SUCCESS)
    return client, connection


def asks(bk: BrokerSession, group: str, client: str, code: int = INFO, **ext: Any) -> Exchange:
    """Makes the Broker ask a client, as an administrator. What follows happens before it times out."""
    asking = bk.call(code, {"consumerGroup": group, "clientId": client, **ext})
    bk.while_lasts(WITHIN, bk.mark())
    return asking


def _readable(read: Any) -> Any:
    def readable(command: Command) -> Any:
        try:
            return read(command) if command.body else None
        except (WireError, ParseError) as problem:
            raise NotSo(str(problem)) from problem

    return readable


# -- one client ----------------------------------------------------------------------------------------------


@case(kills=["clients-are-asked-one-way", "questions-lose-their-fields"])
def test_client_is_asked(bk: BrokerSession) -> None:
    group = bk.group()
    client, connection = online(bk, group)
    asking = asks(bk, group, client, jstackEnable=True)
    said = {"consumerGroup": group, "clientId": client, "jstackEnable": "true"}
    asked = connection.next_request(INFO) >> Request(INFO, flag=0, ext=Including(said))
    connection.respond(asked)
    asking >> Reply(SUCCESS)


@case(
    kills=["answers-lose-their-body", "answers-lose-their-fields", "answers-are-signed-by-the-broker"],
)
def test_answer_is_passed_on(bk: BrokerSession) -> None:
    group = bk.group()
    client, connection = online(bk, group)
    asking = asks(bk, group, client)
    asked = connection.next_request(INFO) >> Request(INFO)
    connection.respond(asked, body=b"how I am", ext={"mood": "good"}, language="CPP", version=300)
    asking >> Reply(SUCCESS, body=b"how I am", ext=Including({"mood": "good"}), language="CPP", version=300)


@case(kills=["errors-of-clients-are-success"])
def test_error_is_passed_on(bk: BrokerSession) -> None:
    group = bk.group()
    client, connection = online(bk, group)
    asking = asks(bk, group, client)
    connection.respond(connection.next_request(INFO) >> Request(INFO), ERROR, remark="I am not well")
    asking >> Reply(ERROR, remark="I am not well")


@case(kills=["questions-share-their-opaque"])
def test_answers_find_their_askers(bk: BrokerSession) -> None:
    group = bk.group()
    client, connection = online(bk, group)
    first, second = asks(bk, group, client, token="one"), asks(bk, group, client, token="two")
    asked = [connection.next_request(INFO) >> Request(INFO) for _ in range(2)]
    for one in reversed(asked):
        connection.respond(one, body=token_of(one))
    first >> Reply(SUCCESS, body=b"one")
    second >> Reply(SUCCESS, body=b"two")


def token_of(asked: Answer) -> bytes:
    """The ext field that distinguishes the questions."""
    ext = (asked.command and asked.command.ext) or {}
    return (ext.get("token") or "").encode()


@case(kills=["any-response-is-the-answer"])
def test_other_opaque_is_no_answer(bk: BrokerSession) -> None:
    group = bk.group()
    client, connection = online(bk, group)
    asking = asks(bk, group, client)
    asked = connection.next_request(INFO) >> Request(INFO)
    connection.respond(asked, body=b"other", opaque=1_999_999_999)
    connection.respond(asked, body=b"own")
    asking >> Reply(SUCCESS, body=b"own")
    connection.respond(asked, body=b"own once more")
    bk.heartbeat(client, consumers=[consuming(group)], on=connection) >> Reply(SUCCESS)
    bk.connection.answer_to(asking.request.opaque if asking.request else 0) >> Silence()


@case(kills=["first-member-is-asked"])
def test_only_the_named_client_is_asked(bk: BrokerSession) -> None:
    group = bk.group()
    (_, first), (second, connection) = online(bk, group), online(bk, group)
    asking = asks(bk, group, second)
    connection.respond(connection.next_request(INFO) >> Request(INFO), body=b"second")
    asking >> Reply(SUCCESS, body=b"second")
    first.next_request(INFO) >> Silence()


@case(kills=["absent-clients-are-success", "members-of-any-group-are-asked"])
def test_client_must_be_online(bk: BrokerSession) -> None:
    group, other = bk.group(), bk.group("other")
    client, connection = online(bk, other)
    asks(bk, group, client) >> Reply(ERROR, remark=f"The Consumer <{group}> <{client}> not online")
    connection.next_request(INFO) >> Silence()


@case(kills=["old-clients-are-asked"])
def test_old_client_is_not_asked(bk: BrokerSession) -> None:
    group = bk.group()
    client, connection = online(bk, group, version=V3_1_8_SNAPSHOT - 1)
    asks(bk, group, client) >> Reply(ERROR, remark=Containing("too low to finish"))
    connection.next_request(INFO) >> Silence()


@case(
    "bk.calls.silence-is-a-timeout",
    "bk.calls.late-answer-is-dropped",
    kills=["silence-of-a-client-is-an-error", "asked-clients-have-a-minute", "late-answers-end-connections"],
    clock=True,
)
def test_silence_is_a_timeout(bk: BrokerSession) -> None:
    """A client that is silent for ten seconds is reported as a timeout; its later answer is dropped."""
    group = bk.group()
    client, connection = online(bk, group)
    bk.advance(3)  # so that its time is over while nothing else is due
    asking = asks(bk, group, client)
    asked = connection.next_request(INFO) >> Request(INFO)
    bk.advance(WITHIN - 1)
    later = asks(bk, group, client)
    bk.advance(1 + bk.jitter)
    asking >> Reply(TIMEOUT, remark=Matching(f"^consumer <{group}> <{client}> Timeout: "))
    connection.respond(asked, body=b"late")
    connection.respond(connection.next_request(INFO) >> Request(INFO), body=b"later")
    later >> Reply(SUCCESS, body=b"later")
    bk.heartbeat(client, consumers=[consuming(group)], on=connection) >> Reply(SUCCESS)
    bk.connection.answer_to(asking.request.opaque if asking.request else 0) >> Silence()


@case(kills=["asked-clients-have-a-second"], clock=True)
def test_answers_have_ten_seconds(bk: BrokerSession) -> None:
    group = bk.group()
    client, connection = online(bk, group)
    asking = asks(bk, group, client)
    asked = connection.next_request(INFO) >> Request(INFO)
    bk.advance_short_of(WITHIN - 1, since=asked)
    connection.respond(asked, body=b"at last")
    asking >> Reply(SUCCESS, body=b"at last")


@case(kills=["lost-clients-are-errors"], clock=True)
def test_gone_client_is_a_timeout(bk: BrokerSession) -> None:
    group = bk.group()
    client, connection = online(bk, group)
    asking = asks(bk, group, client)
    connection.next_request(INFO) >> Request(INFO)
    connection.close()
    bk.advance(WITHIN + bk.jitter)
    asking >> Reply(TIMEOUT)


# -- messages ------------------------------------------------------------------------------------------------


def message_id(bk: BrokerSession, topic: str, body: bytes = b"consume me") -> str:
    """The id of a message that is in queue 1 of a topic."""
    return str((bk.send(topic, body, 1).ids >> Reply(SUCCESS)).value[0])


@case(
    kills=["messages-do-not-go-along", "broker-name-does-not-go-along", "messages-go-along-as-new"],
)
def test_message_goes_with_the_question(bk: BrokerSession) -> None:
    topic, group = bk.topic(), bk.group()
    client, connection = online(bk, group)
    place = decode_offset_id(message_id(bk, topic))[1]
    sent, message = offset_id("[2001:db8::7]:10911", place), viewed(bk, place)
    asking = asks(bk, group, client, CONSUME, msgId=sent)
    said = {"brokerName": bk.broker_name, "clientId": client, "consumerGroup": group, "msgId": sent}
    told = Request(CONSUME, message, flag=0, ext=Including(said))
    asked = connection.next_request(CONSUME).seen_as(PUSHED) >> told
    connection.respond(asked, body=b'{"consumeResult":"CR_SUCCESS"}')
    asking >> Reply(SUCCESS, body=b'{"consumeResult":"CR_SUCCESS"}')


@case(kills=["system-flags-do-not-go-along"])
def test_system_flags_go_with_the_message(bk: BrokerSession) -> None:
    topic, group = bk.topic(), bk.group()
    client, connection = online(bk, group)
    asking = asks(bk, group, client, CONSUME, msgId=message_id(bk, topic), topic=topic)
    flags = Including({"topicSysFlag": "0", "groupSysFlag": "0", "topic": topic})
    connection.respond(connection.next_request(CONSUME) >> Request(CONSUME, ext=flags))
    asking >> Reply(SUCCESS)


@case(kills=["missing-messages-are-asked-for"])
def test_message_must_be_there(bk: BrokerSession) -> None:
    topic, group = bk.topic(), bk.group()
    client, connection = online(bk, group)
    host, offset = decode_offset_id(message_id(bk, topic))
    asks(bk, group, client, CONSUME, msgId=offset_id(host, offset + 10**12)) >> Reply(ERROR)
    connection.next_request(CONSUME) >> Silence()


@case(kills=["ids-that-are-none-are-asked-for"])
def test_message_is_named_by_an_id(bk: BrokerSession) -> None:
    topic, group = bk.topic(), bk.group()
    client, connection = online(bk, group)
    whole = message_id(bk, topic)
    for text in ("x", whole[:-1], whole[:-2], whole + "00", "Z" * len(whole)):
        asks(bk, group, client, CONSUME, msgId=text) >> Reply(ERROR)
    connection.next_request(CONSUME) >> Silence()


# -- where a group is ----------------------------------------------------------------------------------------


def _statuses(command: Command) -> dict[str, dict[int, int]]:
    table = ConsumerStatus.decode(command.body).consumer_table
    return {
        client: {queue.queue_id: offset for queue, offset in queues.items()}
        for client, queues in table.items()
    }


def gathers(bk: BrokerSession, topic: str, group: str, **ext: str) -> Exchange:
    """An administrator asks for the offsets at which the members of a group consume."""
    asking = bk.call(GATHER, {"topic": topic, "group": group, **ext})
    return asking.seen_as(
        View("statuses", _readable(_statuses), said="body.consumerTable by client and queueId")
    )


def asked_one(bk: BrokerSession, members: dict[int, Client]) -> tuple[str, Connection, Answer]:
    """The next member that the Broker asks. It asks that member only once."""
    connections = [connection for _, connection in members.values()]
    asked = bk.next_request(STATUS, connections) >> Request(STATUS, flag=0)
    client, connection = members.pop(asked.outcome.connection)
    return client, connection, asked


def status(bk: BrokerSession, topic: str, offset: int) -> bytes:
    """The answer of a member that consumes queue 0 from an offset."""
    queue = MessageQueue(bk.broker_name, 0, topic)
    return ConsumerStatus(message_queue_table={queue: offset}).encode()


def two_members(bk: BrokerSession, group: str) -> dict[int, Client]:
    """Two members of a group, by the ids of their connections."""
    return {client[1].id: client for client in (online(bk, group), online(bk, group))}


@case(kills=["one-member-is-asked", "statuses-are-empty"])
def test_status_is_gathered(bk: BrokerSession) -> None:
    topic, group = bk.topic(), bk.group()
    members = two_members(bk, group)
    asking = gathers(bk, topic, group)
    told: dict[str, dict[str, int]] = {}
    for offset in (7, 9):
        client, connection, asked = asked_one(bk, members)
        connection.respond(asked, body=status(bk, topic, offset))
        told[client] = {queue_name(bk, topic, 0): offset}
    asking.seen_as(TABLE) >> Reply(SUCCESS, {"consumerTable": told, "messageQueueTable": {}})


@case(kills=["members-are-not-told-the-topic"])
def test_status_names_topic_and_group(bk: BrokerSession) -> None:
    topic, group = bk.topic(), bk.group()
    _, connection = online(bk, group)
    asking = gathers(bk, topic, group)
    said = Including({"topic": topic, "group": group})
    asked = connection.next_request(STATUS) >> Request(STATUS, ext=said)
    connection.respond(asked, body=status(bk, topic, 1))
    asking >> Reply(SUCCESS)


@case(kills=["every-member-is-asked"])
def test_status_of_one_member(bk: BrokerSession) -> None:
    topic, group = bk.topic(), bk.group()
    (_, other), (client, connection) = online(bk, group), online(bk, group)
    asking = gathers(bk, topic, group, clientAddr=client)
    asked = connection.next_request(STATUS) >> Request(STATUS)
    connection.respond(asked, body=status(bk, topic, 3))
    asking >> Reply(SUCCESS, {client: {0: 3}})
    other.next_request(STATUS) >> Silence()


@case(kills=["errors-count-as-status", "unreadable-status-ends-the-gathering"])
def test_status_leaves_out_errors(bk: BrokerSession) -> None:
    topic, group = bk.topic(), bk.group()
    members = {client[1].id: client for client in (online(bk, group) for _ in range(3))}
    asking = gathers(bk, topic, group)
    _, connection, asked = asked_one(bk, members)
    connection.respond(asked, ERROR, status(bk, topic, 7))
    _, connection, asked = asked_one(bk, members)
    connection.respond(asked, body=b"no status")
    client, connection, asked = asked_one(bk, members)
    connection.respond(asked, body=status(bk, topic, 9))
    asking >> Reply(SUCCESS, {client: {0: 9}})


@case(kills=["asked-members-have-a-minute"], clock=True)
def test_status_leaves_out_the_silent(bk: BrokerSession) -> None:
    topic, group = bk.topic(), bk.group()
    members = two_members(bk, group)
    asking = gathers(bk, topic, group)
    asked_one(bk, members)
    bk.advance(STATUS_WITHIN + bk.jitter)
    client, connection, asked = asked_one(bk, members)
    connection.respond(asked, body=status(bk, topic, 9))
    asking >> Reply(SUCCESS, {client: {0: 9}})


@case(kills=["status-of-nobody-is-empty"])
def test_status_needs_a_member(bk: BrokerSession) -> None:
    gathers(bk, bk.topic(), bk.group()) >> Reply(ERROR)


@case(kills=["old-members-are-asked"])
def test_status_needs_newer_members(bk: BrokerSession) -> None:
    topic, group = bk.topic(), bk.group()
    _, connection = online(bk, group, version=OLD)
    remark = Containing("the client does not support this feature")
    gathers(bk, topic, group) >> Reply(ERROR, remark=remark)
    connection.next_request(STATUS) >> Silence()


# -- resets by members ---------------------------------------------------------------------------------------


def _offsets(command: Command) -> dict[int, int]:
    table = QueueOffsets.decode(command.body).offset_table
    return {queue.queue_id: offset for queue, offset in table.items()}


def _listed(command: Command) -> Any:
    found = parse(command.body)
    return found.get("offsetTable") if isinstance(found, Mapping) else None


OFFSETS = View("offsets", _readable(_offsets), said="body.offsetTable by queueId")
TABLE = View("table of queues", _readable(tables_of))
LISTED = View("offsets", _readable(_listed), said="body.offsetTable")


def resets(bk: BrokerSession, topic: str, group: str, timestamp: int, force: bool, **header: Any) -> Exchange:
    """An administrator moves the offsets of a group."""
    ext = fields(topic=topic, group=group, timestamp=timestamp, isForce=force)
    asking = bk.call(RequestCode.INVOKE_BROKER_TO_RESET_OFFSET, ext, **header)
    return asking.seen_as(OFFSETS)


def consumed(bk: BrokerSession, offset: int) -> tuple[str, str]:
    """A topic of one queue with two messages, and a group that has committed an offset of it."""
    topic, group = bk.topic(queues=1), bk.group()
    online(bk, group)
    bk.send(topic) >> Reply(SUCCESS)
    bk.send(topic) >> Reply(SUCCESS)
    bk.max_offset(topic, 0).offset.eventually() >> Reply(SUCCESS, 2)
    bk.commit_offset(group, topic, 0, offset) >> Reply(SUCCESS)
    return topic, group


@case(
    kills=["resets-tell-nobody", "resets-tell-one-member", "resets-by-members-set-offsets", "forced-resets"],
    setup=BY_MEMBERS,
)
def test_reset_tells_every_member(bk: BrokerSession) -> None:
    topic, group = consumed(bk, 2)
    members = [online(bk, group), online(bk, group)]
    resets(bk, topic, group, 0, True) >> Reply(SUCCESS, {0: 0})
    said = Including({"topic": topic, "group": group, "timestamp": "0", "isForce": "false"})
    for _, connection in members:
        table = {"offsetTable": {queue_name(bk, topic, 0): 0}}
        told = Request(RESET, table, flag=FLAG_ONEWAY, ext=said)
        connection.next_request(RESET).seen_as(TABLE) >> told
    bk.committed(group, topic, 0).offset >> Reply(SUCCESS, 2)


@case(kills=["resets-need-no-force", "resets-heed-no-force"], setup=BY_MEMBERS)
def test_reset_goes_back_only(bk: BrokerSession) -> None:
    topic, group = consumed(bk, 1)
    resets(bk, topic, group, -1, False) >> Reply(SUCCESS, {0: 1})
    resets(bk, topic, group, -1, True) >> Reply(SUCCESS, {0: 2})


@case(kills=["resets-by-cpp-have-a-table"], setup=BY_MEMBERS)
def test_reset_by_cpp_has_a_list(bk: BrokerSession) -> None:
    topic, group = consumed(bk, 2)
    _, connection = online(bk, group)
    resets(bk, topic, group, 0, True, language="CPP") >> Reply(SUCCESS, {0: 0})
    told = connection.next_request(RESET).seen_as(LISTED)
    queue = {"brokerName": bk.broker_name, "offset": 0, "queueId": 0, "topic": topic}
    told >> Request(RESET, [Including(queue)])


@case(kills=["old-members-are-asked"], setup=BY_MEMBERS)
def test_reset_needs_newer_members(bk: BrokerSession) -> None:
    topic, group = bk.topic(queues=1), bk.group()
    _, connection = online(bk, group, version=OLD)
    bk.commit_offset(group, topic, 0, 0) >> Reply(SUCCESS)
    refused = Reply(ERROR, remark=Containing("the client does not support this feature"))
    resets(bk, topic, group, 0, True) >> refused
    connection.next_request(RESET) >> Silence()


@case(kills=["resets-need-no-offsets"], setup=BY_MEMBERS)
def test_reset_needs_offsets(bk: BrokerSession) -> None:
    topic, group = bk.topic(queues=1), bk.group()
    online(bk, group)
    resets(bk, topic, group, 0, True) >> Reply(ERROR, remark=f"THe consumer group <{group}> not exist")


@case(kills=["resets-49-name-unknown-topics"])
def test_reset_of_unknown_topic_is_an_error(bk: BrokerSession) -> None:
    topic = bk.name("none")
    resets(bk, topic, bk.group(), 0, True) >> Reply(ERROR, remark=REMARK + topic)


@case(
    kills=["resets-53-do-not-name-unknown-topics"],
    setup=BY_MEMBERS,
)
def test_reset_of_unknown_topic_says_so(bk: BrokerSession) -> None:
    topic = bk.name("none")
    resets(bk, topic, bk.group(), 0, True) >> Reply(ResponseCode.TOPIC_NOT_EXIST, remark=REMARK + topic)


@case(kills=["resets-in-any-language"], setup=BY_MEMBERS)
def test_reset_in_an_unknown_language_is_refused(bk: BrokerSession) -> None:
    topic, group = consumed(bk, 2)
    _, connection = online(bk, group)
    resets(bk, topic, group, 0, True, language="KLINGON") >> Reply(ERROR, remark=Matching("."))
    connection.next_request(RESET) >> Silence()
    resets(bk, topic, group, 0, True, language="PYTHON") >> Reply(SUCCESS, {0: 0})
    connection.next_request(RESET).seen_as(OFFSETS) >> Request(RESET, {0: 0})


@case(kills=["odd-queues-are-a-status"])
def test_status_with_a_key_that_is_no_queue(bk: BrokerSession) -> None:
    topic, group = bk.topic(), bk.group()
    members = two_members(bk, group)
    asking = gathers(bk, topic, group)
    _, connection, asked = asked_one(bk, members)
    connection.respond(asked, body=b'{"messageQueueTable":{"one":7}}')
    client, connection, asked = asked_one(bk, members)
    connection.respond(asked, body=status(bk, topic, 9))
    asking >> Reply(SUCCESS, {client: {0: 9}})


def binary(bk: BrokerSession, group: str, asker: Connection, member: Client, language: str) -> Exchange:
    """Asks a member in a binary header. It answers in JSON, and in that language."""
    client, connection = member
    said = {"consumerGroup": group, "clientId": client}
    asking = bk.call(INFO, said, on=asker, serialization=Serialization.ROCKETMQ)
    bk.while_lasts(WITHIN, bk.mark())
    connection.respond(connection.next_request(INFO) >> Request(INFO), body=b"how I am", language=language)
    return asking


@case(kills=["languages-without-a-number-are-java"])
def test_language_without_a_number_ends_the_connection(bk: BrokerSession) -> None:
    group, asker, other = bk.group(), bk.connect(), bk.connect()
    member = online(bk, group)
    binary(bk, group, asker, member, "KLINGON") >> Closed()
    binary(bk, group, other, member, "PYTHON") >> Reply(SUCCESS, body=b"how I am", language="PYTHON")


@case(kills=["languages-without-a-number-are-others"])
def test_language_without_a_number_is_java(bk: BrokerSession) -> None:
    group, asker = bk.group(), bk.connect()
    member = online(bk, group)
    binary(bk, group, asker, member, "KLINGON") >> Reply(SUCCESS, body=b"how I am", language="JAVA")
    binary(bk, group, asker, member, "PYTHON") >> Reply(SUCCESS, body=b"how I am", language="PYTHON")
