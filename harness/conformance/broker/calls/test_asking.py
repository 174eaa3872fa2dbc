"""Chapter calls: what a Broker asks of one client (codes 307 and 309), and what it makes of the answer."""

from typing import Any

from harness.conformance import ABSENT, Closed, Containing, Including, Matching, Reply, Request, Silence, case
from harness.conformance.broker.calls.members import ERROR, SUCCESS, WITHIN, Client, online
from harness.conformance.broker.whole import PUSHED, viewed
from harness.session import Answer, BrokerSession, Connection, Exchange
from harness.session.broker.requests import consuming
from harness.wire import RequestCode, ResponseCode, Serialization
from harness.wire.messages import decode_offset_id, offset_id
from harness.wire.versions import V3_1_8_SNAPSHOT

TIMEOUT = ResponseCode.CONSUME_MSG_TIMEOUT
INFO, CONSUME = RequestCode.GET_CONSUMER_RUNNING_INFO, RequestCode.CONSUME_MESSAGE_DIRECTLY


def asks(bk: BrokerSession, group: str, client: str, code: int = INFO, **ext: Any) -> Exchange:
    """Makes the Broker ask a client, as an administrator. What follows happens before it times out."""
    asking = bk.call(code, {"consumerGroup": group, "clientId": client, **ext})
    bk.while_lasts(WITHIN, bk.mark())
    return asking


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


@case(kills=["old-clients-are-asked", "clients-of-their-first-release-are-old"])
def test_old_client_is_not_asked(bk: BrokerSession) -> None:
    group = bk.group()
    client, connection = online(bk, group, version=V3_1_8_SNAPSHOT - 1)
    asks(bk, group, client) >> Reply(ERROR, remark=Containing("too low to finish"))
    connection.next_request(INFO) >> Silence()
    client, connection = online(bk, group, version=V3_1_8_SNAPSHOT)
    asking = asks(bk, group, client)
    connection.respond(connection.next_request(INFO) >> Request(INFO))
    asking >> Reply(SUCCESS)


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


def message_id(bk: BrokerSession, topic: str, body: bytes = b"consume me") -> str:
    """The id of a message that is in queue 1 of a topic."""
    return str((bk.send(topic, body, 1).ids >> Reply(SUCCESS)).value[0])


@case(
    kills=[
        "messages-do-not-go-along",
        "broker-name-does-not-go-along",
        "broker-name-is-the-administrators",
        "messages-go-along-as-new",
    ],
)
def test_message_goes_with_the_question(bk: BrokerSession) -> None:
    topic, group = bk.topic(), bk.group()
    client, connection = online(bk, group)
    place = decode_offset_id(message_id(bk, topic))[1]
    sent, message = offset_id("[2001:db8::7]:10911", place), viewed(bk, place)
    asking = asks(bk, group, client, CONSUME, msgId=sent, brokerName="another")
    said = {"brokerName": bk.broker_name, "clientId": client, "consumerGroup": group, "msgId": sent}
    told = Request(CONSUME, message, flag=0, ext=Including(said))
    asked = connection.next_request(CONSUME).seen_as(PUSHED) >> told
    connection.respond(asked, body=b'{"consumeResult":"CR_SUCCESS"}')
    asking >> Reply(SUCCESS, body=b'{"consumeResult":"CR_SUCCESS"}')


@case(kills=["system-flags-do-not-go-along", "system-flags-that-go-along-are-0"])
def test_system_flags_go_with_the_message(bk: BrokerSession) -> None:
    plain, flagged = (bk.topic("plain"), bk.group("plain")), (bk.name("T"), bk.group())
    bk.create_topic(flagged[0], ext={"topicSysFlag": "2"}) >> Reply(SUCCESS)
    bk.create_group(flagged[1], groupSysFlag=4) >> Reply(SUCCESS)
    for (topic, group), said in ((plain, ("0", "0")), (flagged, ("2", "4"))):
        client, connection = online(bk, group)
        asking = asks(bk, group, client, CONSUME, msgId=message_id(bk, topic), topic=topic)
        flags = Including({"topicSysFlag": said[0], "groupSysFlag": said[1], "topic": topic})
        connection.respond(connection.next_request(CONSUME) >> Request(CONSUME, ext=flags))
        asking >> Reply(SUCCESS)


def asked_without_its_group(bk: BrokerSession, flag: object) -> str:
    """A group that is deleted while a member is online. The member is asked about a topic that is not there,
    with this flag of the group.
    """
    topic, group = bk.topic(), bk.group()
    bk.create_group(group) >> Reply(SUCCESS)
    client, connection = online(bk, group)
    message = message_id(bk, topic)
    bk.call(RequestCode.DELETE_SUBSCRIPTIONGROUP, {"groupName": group}) >> Reply(SUCCESS)
    asking = asks(bk, group, client, CONSUME, msgId=message, topic=bk.name("none"))
    flags = Including({"topicSysFlag": ABSENT, "groupSysFlag": flag})
    connection.respond(connection.next_request(CONSUME) >> Request(CONSUME, ext=flags))
    asking >> Reply(SUCCESS)
    return group


@case(kills=["questions-to-members-make-no-group"])
def test_deleted_group_comes_back_with_a_question(bk: BrokerSession) -> None:
    group = asked_without_its_group(bk, "0")
    table = Including({group: Including({"groupName": group})})
    bk.groups().json >> Reply(SUCCESS, Including({"subscriptionGroupTable": table}))


@case(kills=["system-flags-of-nothing-are-0"], setup={"autoCreateSubscriptionGroup": "false"})
def test_nothing_has_no_system_flags(bk: BrokerSession) -> None:
    asked_without_its_group(bk, ABSENT)


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
