"""Chapter send: single messages (codes 10, 310)."""

from base64 import urlsafe_b64decode
from datetime import UTC, datetime, timedelta

from harness.conformance import ABSENT, ANYTHING, Containing, Including, Matching, Reply, Silence, case
from harness.session import BrokerSession
from harness.session.broker.requests import SendCode
from harness.session.exchange import NotSo, View
from harness.session.outcome import Answer
from harness.wire import FLAG_ONEWAY, Command, ResponseCode
from harness.wire.header_fields import SHORT_NAMES
from harness.wire.messages import Message, UniqueKey, decode_offset_id, encode_batch

SUCCESS = ResponseCode.SUCCESS
MESSAGE_ILLEGAL = ResponseCode.MESSAGE_ILLEGAL
NO_PERMISSION = ResponseCode.NO_PERMISSION
TOPIC_NOT_EXIST = ResponseCode.TOPIC_NOT_EXIST
ILLEGAL_PARAMETER = (ResponseCode.SYSTEM_ERROR, ResponseCode.INVALID_PARAMETER)
"""4.9 and 5.3."""
NOON_OF_2100 = 4102488000999
"""UTC, and 999 ms: 1 January in every zone of the machine."""


@case(kills=["send-tells-offset-zero", "send-tells-queue-zero"])
def test_is_stored_and_its_place_returned(bk: BrokerSession) -> None:
    topic = bk.topic()
    bk.send(topic, b"first", queue=2).offset >> Reply(SUCCESS, 0)
    bk.send(topic, b"second", queue=2).offset >> Reply(SUCCESS, 1)
    bk.send(topic, b"third", queue=2).queue >> Reply(SUCCESS, 2)
    bk.pull(topic, queue=2).bodies.eventually() >> Reply(SUCCESS, [b"first", b"second", b"third"])


@case(kills=["long-header-names-not-read"])
def test_long_header_names(bk: BrokerSession) -> None:
    topic = bk.topic()
    bk.send(topic, b"long", queue=1, code=10).queue >> Reply(SUCCESS, 1)
    bk.pull(topic, queue=1).bodies.eventually() >> Reply(SUCCESS, [b"long"])


@case(kills=["send-tells-no-region"])
def test_region_and_trace_are_returned(bk: BrokerSession) -> None:
    topic = bk.topic(queues=1)
    told = Including({"MSG_REGION": "DefaultRegion", "TRACE_ON": "true"})
    bk.send(topic) >> Reply(SUCCESS, ext=told)
    bk.send(topic, queue=9) >> Reply(ILLEGAL_PARAMETER, ext=told)


@case(kills=["every-send-is-of-a-transaction"])
def test_answer_to_a_batch_has_five_fields(bk: BrokerSession) -> None:
    told = {"MSG_REGION": "DefaultRegion", "TRACE_ON": "true", "queueId": "0", "queueOffset": "0"}
    bk.send_batch(bk.topic(), [b"a"]) >> Reply(SUCCESS, ext={**told, "msgId": Matching("^[0-9A-F]{32}$")})


@case(
    kills=["region-is-always-the-default", "traces-are-always-on"],
    setup={"regionId": "south", "traceOn": "false"},
)
def test_region_and_trace_are_settings(bk: BrokerSession) -> None:
    topic, told = bk.topic(), Including({"MSG_REGION": "south", "TRACE_ON": "false"})
    bk.send(topic) >> Reply(SUCCESS, ext=told)
    stored: object = told if bk.profile.has("told-region") else {"CLUSTER": bk.cluster_name}
    bk.pull(topic).properties.eventually() >> Reply(SUCCESS, [stored])


@case(kills=["long-names-are-answered-briefly", "batches-are-answered-briefly"])
def test_every_code_is_answered_alike(bk: BrokerSession) -> None:
    topic = bk.topic()
    bk.send(topic, queue=2) >> Reply(SUCCESS)
    key = {"UNIQ_KEY": bk.name("key")}
    first = bk.send(topic, queue=2, properties=key) >> Reply(SUCCESS)
    told = dict((first.command and first.command.ext) or {})
    batch = encode_batch([Message(topic=topic, body=b"batch")], "5.3")
    ways: list[tuple[SendCode, bool, bytes]] = [(10, False, b"a"), (320, False, b"b"), (320, True, batch)]
    for offset, (code, is_batch, body) in enumerate(ways, 2):
        sent = bk.send(topic, body, 2, code=code, batch=is_batch, properties=key)
        answer = sent.ids >> Reply(SUCCESS, (Matching("^[0-9A-F]{32}$"),))
        sent >> Reply(SUCCESS, ext={**told, "queueOffset": str(offset), "msgId": answer.value[0]})
        place = bk.view(decode_offset_id(answer.value[0])[1]).offsets
        place.eventually() >> Reply(SUCCESS, [offset])


@case(kills=["message-id-without-place"])
def test_id_names_the_place_in_the_log(bk: BrokerSession) -> None:
    topic = bk.topic()
    bk.send(topic, b"another") >> Reply(SUCCESS)
    answer = bk.send(topic, b"this one").ids >> Reply(SUCCESS, (Matching("^[0-9A-F]{32}$"),))
    _, offset = decode_offset_id(answer.value[0])
    bk.view(offset).bodies.eventually() >> Reply(SUCCESS, [b"this one"])


@case(kills=["any-queue-is-refused"])
def test_any_queue(bk: BrokerSession) -> None:
    topic = bk.topic(queues=4)
    answer = bk.send(topic, b"anywhere", queue=-1).queue >> Reply(SUCCESS)
    bk.pull(topic, queue=answer.value).bodies.eventually() >> Reply(SUCCESS, [b"anywhere"])


@case(kills=["any-queue-number-will-do", "queues-to-read-alone-are-refused"])
def test_queue_beyond_the_topic_is_refused(bk: BrokerSession) -> None:
    refused = Reply(ILLEGAL_PARAMETER, remark=Matching(r"^request queueId\[4\] is illegal, "))
    for read, write in ((4, 4), (4, 2), (2, 4)):
        topic = bk.name(f"T{read}{write}")
        bk.create_topic(topic, read, write_queues=write) >> Reply(SUCCESS)
        bk.send(topic, queue=4) >> refused
        bk.send(topic, queue=3) >> Reply(SUCCESS)


@case(kills=["refusals-do-not-show-attributes"])
def test_refusal_of_a_queue_shows_the_topic(bk: BrokerSession) -> None:
    topic, connection = bk.name("T"), bk.connect()
    kind = {"attributes": "+message.type=FIFO", "topicSysFlag": "2"}
    bk.create_topic(topic, 3, 5, write_queues=2, filter_type="MULTI_TAG", order=True, ext=kind) >> Reply(
        SUCCESS
    )
    shown = (
        f"TopicConfig [topicName={topic}, readQueueNums=3, writeQueueNums=2, perm=R-X,"
        " topicFilterType=MULTI_TAG, topicSysFlag=2, order=true, attributes={message.type=FIFO}]"
    )
    remark = f"request queueId[3] is illegal, {shown} Producer: {connection.peer}"
    bk.send(topic, queue=3, on=connection) >> Reply(ResponseCode.INVALID_PARAMETER, remark=remark)


@case(kills=["any-topic-name-will-do"])
def test_illegal_topic_is_refused(bk: BrokerSession) -> None:
    remark = Containing("contains illegal characters")
    bk.send(f"{bk.name('T')}.x") >> Reply(ILLEGAL_PARAMETER, remark=remark)


@case(kills=["new-topics-have-all-queues", "sends-create-no-topics"])
def test_unknown_topic_is_created(bk: BrokerSession) -> None:
    topic = bk.name("T")
    bk.send(topic, default_queues=3).offset >> Reply(SUCCESS, 0)
    bk.send(topic, queue=2) >> Reply(SUCCESS)
    bk.send(topic, queue=3) >> Reply(ILLEGAL_PARAMETER)


@case(kills=["topics-need-no-default"])
def test_unknown_default_topic_creates_none(bk: BrokerSession) -> None:
    topic = bk.name("T")
    remark = Containing(f"topic[{topic}] not exist, apply first please!")
    bk.send(topic, default_topic=bk.name("D")) >> Reply(TOPIC_NOT_EXIST, remark=remark)


@case(kills=["sends-create-topics-anyway"], setup={"autoCreateTopicEnable": "false"})
def test_no_automatic_creation(bk: BrokerSession) -> None:
    bk.send(bk.name("T")) >> Reply(TOPIC_NOT_EXIST)
    bk.send(bk.topic()) >> Reply(SUCCESS)


@case(kills=["nothing-is-created-by-any-topic"], setup={"autoCreateTopicEnable": "false"})
def test_topics_come_into_being_by_others(bk: BrokerSession) -> None:
    topic = bk.name("T")
    bk.send(topic, b"first", default_topic=bk.cluster_name) >> Reply(SUCCESS)
    bk.pull(topic).bodies.eventually() >> Reply(SUCCESS, [b"first"])


@case(kills=["oneway-sends-are-dropped"])
def test_oneway_is_stored_in_silence(bk: BrokerSession) -> None:
    topic = bk.topic()
    bk.send(topic, b"quiet", flag=FLAG_ONEWAY) >> Silence()
    bk.pull(topic).bodies.eventually() >> Reply(SUCCESS, [b"quiet"])


@case(kills=["bodies-are-cut-to-the-limit"], setup={"maxMessageSize": "1000"})
def test_body_over_the_limit_is_illegal(bk: BrokerSession) -> None:
    topic = bk.topic()
    bk.send(topic, bytes(1000)) >> Reply(SUCCESS)
    bk.send(topic, bytes(1001)) >> Reply(MESSAGE_ILLEGAL, remark=Containing("limit 1000B"))
    bk.max_offset(topic).offset >> Reply(SUCCESS, 1)


@case(kills=["birth-time-is-the-brokers", "flag-of-user-is-lost"])
def test_fields_of_the_producer_are_kept(bk: BrokerSession) -> None:
    topic, connection = bk.topic(), bk.connect()
    bk.send(
        topic, flag_of_user=77, born=1700000000123, reconsumed=2, properties={"mine": "yes"}, on=connection
    ) >> Reply(SUCCESS)
    said = (77, 1700000000123, 2, "yes", connection.peer)
    bk.pull(topic).seen("what was said", _said).eventually() >> Reply(SUCCESS, [said])


def _said(message: Message) -> tuple[int, int, int, str | None, str]:
    return (
        message.flag,
        message.born_timestamp,
        message.reconsume_times,
        message.properties.get("mine"),
        message.born_host,
    )


@case(kills=["cluster-is-not-added"])
def test_cluster_is_added(bk: BrokerSession) -> None:
    topic = bk.topic()
    bk.send(topic) >> Reply(SUCCESS)
    bk.pull(topic).properties.eventually() >> Reply(SUCCESS, [Including({"CLUSTER": bk.cluster_name})])


@case(kills=["region-is-not-stored"])
def test_region_and_trace_are_stored(bk: BrokerSession) -> None:
    topic = bk.topic()
    bk.send(topic) >> Reply(SUCCESS)
    bk.send_batch(topic, [b"a", b"b"]) >> Reply(SUCCESS)
    stored = Including({"MSG_REGION": "DefaultRegion", "TRACE_ON": "true"})
    of_batch: object = {} if bk.profile.has("bare-batches") else stored
    bk.pull(topic).properties.eventually() >> Reply(SUCCESS, [stored, of_batch, of_batch])


OWN = {"mine": "yes", "TAGS": "A", "KEYS": "k", "WAIT": "true", "UNIQ_KEY": "0" * 32}
"""Properties of a producer."""


@case(kills=["brokers-add-properties-of-their-own"])
def test_properties_are_those_of_the_producer(bk: BrokerSession) -> None:
    topic = bk.topic()
    bk.send(topic, properties=OWN) >> Reply(SUCCESS)
    bk.send_batch(topic, [Message(topic=topic, body=b"b", properties=OWN)]) >> Reply(SUCCESS)
    added = {"CLUSTER": bk.cluster_name}
    alone = {name: value for name, value in OWN.items() if name != "WAIT"}
    bk.pull(topic).properties.eventually() >> Reply(SUCCESS, [{**alone, **added}, {**OWN, **added}])


@case(kills=["brokers-add-properties-of-their-own"])
def test_properties_are_three_more(bk: BrokerSession) -> None:
    topic = bk.topic()
    bk.send(topic, properties=OWN) >> Reply(SUCCESS)
    bk.send_batch(topic, [Message(topic=topic, body=b"b", properties=OWN)]) >> Reply(SUCCESS)
    added = {"CLUSTER": bk.cluster_name, "MSG_REGION": "DefaultRegion", "TRACE_ON": "true"}
    of_batch = OWN if bk.profile.has("bare-batches") else {**OWN, **added}
    bk.pull(topic).properties.eventually() >> Reply(SUCCESS, [{**OWN, **added}, of_batch])


@case(kills=["messages-hand-on-their-handle"])
def test_handle_of_a_pop_is_not_stored(bk: BrokerSession) -> None:
    topic, properties = bk.topic(), {"POP_CK": "a handle", "x": "kept"}
    codes: tuple[SendCode, ...] = (10, 310, 320)
    for code in codes:
        bk.send(topic, code=code, properties=properties) >> Reply(SUCCESS)
    stored = Including({"x": "kept", "POP_CK": ABSENT})
    bk.pull(topic).properties.eventually() >> Reply(SUCCESS, [stored] * 3)
    waiting = bk.send(topic, properties={**properties, "DELAY": "18"}).ids >> Reply(SUCCESS)
    bk.view(decode_offset_id(waiting.value[0])[1]).properties.eventually() >> Reply(SUCCESS, [stored])


@case(kills=["messages-without-id-stay-so"])
def test_message_without_id_gets_one(bk: BrokerSession) -> None:
    topic = bk.topic()
    digits = Matching("^([0-9A-F]{32}|[0-9A-F]{56})$")
    answers = [bk.send(topic) >> Reply(SUCCESS, ext=Including({"transactionId": digits})) for _ in range(9)]
    told = [_transaction(answer) for answer in answers]
    keys = [Including({"UNIQ_KEY": key}) for key in told]
    pull = bk.pull(topic)
    pull.properties.eventually() >> Reply(SUCCESS, keys)
    pull.seen("whether ids are as old as messages", _is_of_its_time) >> Reply(SUCCESS, [True] * 9)
    for key in set(told):
        bk.find(topic, key, unique=True).bodies.eventually() >> Reply(SUCCESS, [b"hello"])


def _is_of_its_time(message: Message) -> bool:
    """Whether an id was made on the day on which its message was stored. It counts from when the month began,
    which depends on the time zone.
    """
    since = timedelta(milliseconds=UniqueKey.decode(message.properties["UNIQ_KEY"]).since_month)
    stored, day = datetime.fromtimestamp(message.store_timestamp / 1000, UTC), timedelta(days=1)
    months = ((stored + shift).replace(day=1, hour=0, minute=0, second=0) for shift in (-day, 0 * day, day))
    return any(abs(month + since - stored) < day for month in months)


def _transaction(answer: Answer) -> str:
    return ((answer.command and answer.command.ext) or {})["transactionId"] or ""


@case(kills=["producers-are-told-no-key"])
def test_unique_key_of_the_producer_is_returned(bk: BrokerSession) -> None:
    key = bk.name("K")
    sent = bk.send(bk.topic(), properties={"UNIQ_KEY": key})
    sent >> Reply(SUCCESS, ext=Including({"transactionId": key}))


@case(kills=["no-letter-is-dead"])
def test_too_many_retries_are_a_dead_letter(bk: BrokerSession) -> None:
    group = bk.group()
    most: dict[str, str | None] = {"l": "3"}
    bk.send(f"%RETRY%{group}", b"dead", reconsumed=4, ext=most) >> Reply(SUCCESS)
    bk.pull(f"%DLQ%{group}").bodies.eventually() >> Reply(SUCCESS, [b"dead"])
    bk.max_offset(f"%RETRY%{group}").offset >> Reply(SUCCESS, 0)


@case(kills=["slaves-take-messages"], setup={"brokerRole": "SLAVE", "brokerId": "1"})
def test_slave_is_busy(bk: BrokerSession) -> None:
    remark = Matching(r"^\[REJECTREQUEST\]")
    bk.send("BenchmarkTest") >> Reply(ResponseCode.SYSTEM_BUSY, remark=remark, ext=ABSENT)
    bk.max_offset("BenchmarkTest").offset >> Reply(SUCCESS, 0)


@case(kills=["new-topics-have-as-many-queues-as-producers-like"])
def test_queues_of_a_created_topic_are_limited(bk: BrokerSession) -> None:
    topic, none = bk.name("T"), bk.name("N")
    bk.send(topic, default_queues=16) >> Reply(SUCCESS)
    bk.send(none, default_queues=-2) >> Reply(ILLEGAL_PARAMETER)
    queues = {
        name: {"readQueueNums": number, "writeQueueNums": number} for name, number in ((topic, 8), (none, 0))
    }
    made = Including({name: Including(shown) for name, shown in queues.items()})
    bk.topics().json >> Reply(SUCCESS, Including({"topicConfigTable": made}))


@case(kills=["created-topics-have-one-tag", "created-topics-hand-on", "any-topic-is-a-default"])
def test_created_topic_is_like_its_default(bk: BrokerSession) -> None:
    pattern, closed, topic = bk.name("D"), bk.topic("closed"), bk.name("T")
    bk.create_topic(pattern, 5, 5, write_queues=3, filter_type="MULTI_TAG") >> Reply(SUCCESS)
    bk.send(topic, default_topic=pattern, default_queues=16) >> Reply(SUCCESS)
    made = {
        "readQueueNums": 3,
        "writeQueueNums": 3,
        "perm": 4,
        "topicFilterType": "MULTI_TAG",
        "topicSysFlag": 0,
        "order": False,
    }
    table = Including({topic: Including({"topicName": topic, **made})})
    bk.topics().json >> Reply(SUCCESS, Including({"topicConfigTable": table}))
    bk.send(bk.name("T"), default_topic=closed) >> Reply(TOPIC_NOT_EXIST)


@case(kills=["created-topics-know-no-unit", "topics-of-retries-without-a-default-know-no-unit"])
def test_created_topic_knows_its_unit(bk: BrokerSession) -> None:
    topic, group, other = bk.name("T"), bk.group(), bk.group()
    bk.send(topic, ext={"k": "true"}) >> Reply(SUCCESS)
    bk.send(f"%RETRY%{group}", ext={"k": "true"}) >> Reply(SUCCESS)
    bk.send(f"%RETRY%{other}", default_topic=bk.topic("closed"), ext={"k": "true"}) >> Reply(SUCCESS)
    made = {topic: Including({"topicSysFlag": 1})}
    made |= {f"%RETRY%{one}": Including({"topicSysFlag": 2}) for one in (group, other)}
    bk.topics().json >> Reply(SUCCESS, Including({"topicConfigTable": Including(made)}))


@case(kills=["recall-handles-of-any-message", "recall-handles-name-no-key"])
def test_timed_message_has_a_recall_handle(bk: BrokerSession) -> None:
    topic, key, at = bk.topic(), bk.name("K"), bk.broker_time() // 1000 * 1000 + 60_000
    for properties in ({"x": "y"}, {"DELAY": "1"}):
        bk.send(topic, properties=properties) >> Reply(SUCCESS, ext=Including({"recallHandle": ABSENT}))
    for asked, kept in ((at, at - 999), (at + 1, at + 1)):
        timed = bk.send(topic, properties={"TIMER_DELIVER_MS": str(asked), "UNIQ_KEY": key})
        words = ["v1", topic, bk.broker_name, str(kept), key]
        timed.seen_as(View("words of the recall handle", _words)) >> Reply(SUCCESS, words)


def _words(reply: Command) -> list[str]:
    handle = (reply.ext or {}).get("recallHandle")
    if handle is None:
        raise NotSo("ext field recallHandle is missing")
    try:
        return urlsafe_b64decode(handle).decode().split(" ")
    except ValueError as problem:
        raise NotSo(f"ext field recallHandle: {problem}") from None


@case(
    kills=["sends-are-taken-early"],
    own_server=True,
    setup={"startAcceptSendRequestTimeStamp": str(NOON_OF_2100)},
)
def test_too_early_is_refused(bk: BrokerSession) -> None:
    topic = bk.topic()
    remark = Matching(r"^broker unable to service, until 2100-01-01 \d\d:\d\d:00,999$")
    bk.send(topic, b"early") >> Reply(ResponseCode.SYSTEM_ERROR, remark=remark)
    bk.update_config({"startAcceptSendRequestTimeStamp": "1"}) >> Reply(SUCCESS)
    bk.send(topic, b"late") >> Reply(SUCCESS)
    bk.pull(topic).bodies.eventually() >> Reply(SUCCESS, [b"late"])


@case(kills=["ordered-topics-are-always-open", "all-topics-are-closed"], own_server=True)
def test_ordered_topic_needs_a_writable_broker(bk: BrokerSession) -> None:
    ordered, topic = bk.name("ordered"), bk.topic()
    bk.create_topic(ordered, order=True) >> Reply(SUCCESS)
    bk.update_config({"brokerPermission": "4"}) >> Reply(SUCCESS)
    remark = Matching(r"^the broker\[[0-9.]+\] sending message is forbidden$")
    bk.send(ordered, b"refused") >> Reply(NO_PERMISSION, remark=remark)
    bk.send(topic) >> Reply(SUCCESS)
    bk.update_config({"brokerPermission": "6"}) >> Reply(SUCCESS)
    bk.send(ordered, b"taken") >> Reply(SUCCESS)
    bk.pull(ordered).bodies.eventually() >> Reply(SUCCESS, [b"taken"])


@case(kills=["half-messages-are-always-taken", "forbidden-halves-forbid-all"], own_server=True)
def test_transactions_can_be_forbidden(bk: BrokerSession) -> None:
    topic = bk.topic()
    half = {"TRAN_MSG": "true", "PGROUP": "PG"}
    bk.update_config({"rejectTransactionMessage": "true"}) >> Reply(SUCCESS)
    remark = Matching(r"^the broker\[[0-9.]+\] sending transaction message is forbidden$")
    bk.send(topic, b"half", properties=half, sys_flag=4) >> Reply(NO_PERMISSION, remark=remark)
    bk.send(topic, b"whole") >> Reply(SUCCESS)
    bk.update_config({"rejectTransactionMessage": "false"}) >> Reply(SUCCESS)
    bk.send(topic, b"half", properties=half, sys_flag=4) >> Reply(SUCCESS)
    bk.pull(topic).bodies.eventually() >> Reply(SUCCESS, [b"whole"])


@case(kills=["empty-bodies-are-stored"])
def test_empty_body_is_refused(bk: BrokerSession) -> None:
    topic = bk.topic()
    for code in (10, 310, 320):
        bk.send(topic, b"", code=code) >> Reply(ResponseCode.SYSTEM_ERROR)
    bk.send(topic, b"a") >> Reply(SUCCESS)
    bk.pull(topic).bodies.eventually() >> Reply(SUCCESS, [b"a"])


@case(kills=["topics-without-queues-are-written"])
def test_any_queue_of_none_is_refused(bk: BrokerSession) -> None:
    topic = bk.name("T")
    bk.create_topic(topic, 2, write_queues=0) >> Reply(SUCCESS)
    bk.send(topic, b"a", -1) >> Reply(ResponseCode.SYSTEM_ERROR, remark=Matching("."))
    bk.create_topic(topic, 2, write_queues=1) >> Reply(SUCCESS)
    bk.send(topic, b"b", -1).queue >> Reply(SUCCESS, 0)
    bk.pull(topic).bodies.eventually() >> Reply(SUCCESS, [b"b"])


@case(kills=["fields-of-sends-may-be-missing"])
def test_missing_or_wrong_field_is_refused(bk: BrokerSession) -> None:
    topic = bk.topic()
    refused = Reply(ResponseCode.SYSTEM_ERROR, remark=Matching("."))
    numbers = ("queueId", "sysFlag", "bornTimestamp", "flag")
    for name in numbers:
        bk.send(topic, b"a", code=10, ext={name: None}) >> refused
        bk.send(topic, b"a", ext={SHORT_NAMES[name]: None}) >> refused
        bk.send(topic, b"a", code=10, ext={name: "one"}) >> refused
        bk.send(topic, b"a", ext={SHORT_NAMES[name]: "one"}) >> refused
    bk.send(topic, b"b") >> Reply(SUCCESS)
    bk.pull(topic).bodies.eventually() >> Reply(SUCCESS, [b"b"])


@case(kills=["times-that-are-missing-are-one"])
def test_fields_may_be_missing(bk: BrokerSession) -> None:
    topic = bk.topic()
    names = ("properties", "reconsumeTimes", "unitMode", "maxReconsumeTimes", "batch")
    bk.send(topic, b"a", code=10, ext=dict.fromkeys(names)) >> Reply(SUCCESS)
    bk.send(topic, b"b", ext=dict.fromkeys(SHORT_NAMES[name] for name in names)) >> Reply(SUCCESS)
    pull = bk.pull(topic).seen("body and times", lambda one: (one.body, one.reconsume_times))
    pull.eventually() >> Reply(SUCCESS, [(b"a", 0), (b"b", 0)])


@case(kills=["default-topics-may-be-missing"])
def test_new_topic_needs_a_default(bk: BrokerSession) -> None:
    topic = bk.name("T")
    for name in ("defaultTopic", "defaultTopicQueueNums"):
        bk.send(topic, b"a", ext={SHORT_NAMES[name]: None}) >> Reply(ResponseCode.SYSTEM_ERROR)
    table = Including({topic: ABSENT})
    bk.topics().json >> Reply(SUCCESS, Including({"topicConfigTable": table}))
    bk.send(topic, b"b") >> Reply(SUCCESS)


@case(kills=["properties-have-no-limit"])
def test_properties_over_the_limit_are_illegal(bk: BrokerSession) -> None:
    topic = bk.topic()
    for text in ("x" * 32768, "\u00e9" * 16384):
        illegal = Reply(MESSAGE_ILLEGAL, remark=Containing("msg properties length limit 32KB"))
        bk.send(topic, b"a", properties={"p": text}) >> illegal
    long = "x" * 32000
    bk.send(topic, b"b", properties={"p": long}).offset >> Reply(SUCCESS, 0)
    bk.pull(topic).properties.eventually() >> Reply(SUCCESS, [Including({"p": long})])


@case(kills=["limits-of-bodies-stay"], own_server=True)
def test_limit_of_bodies_can_be_changed(bk: BrokerSession) -> None:
    topic = bk.topic()
    bk.update_config({"maxMessageSize": "200"}) >> Reply(SUCCESS)
    illegal = Reply(MESSAGE_ILLEGAL, remark=Containing("msg body length limit 200B"))
    bk.send(topic, bytes(201)) >> illegal
    bk.send(topic, bytes(200)).offset >> Reply(SUCCESS, 0)
    bk.update_config({"maxMessageSize": "300"}) >> Reply(SUCCESS)
    bk.send(topic, bytes(300)).offset >> Reply(SUCCESS, 1)
    bk.pull(topic).bodies.eventually() >> Reply(SUCCESS, [bytes(200), bytes(300)])


@case(kills=["names-of-topics-that-exist-are-taken"])
def test_name_of_a_topic_that_exists_is_judged(bk: BrokerSession) -> None:
    topic, group = bk.topic(), bk.group().ljust(121, "x")
    sent = bk.send(topic, b"dead").ids >> Reply(SUCCESS)
    bk.send_back(group, decode_offset_id(sent.value[0])[1], -1, topic=topic) >> Reply(SUCCESS)
    bk.pull(f"%DLQ%{group}").bodies.eventually() >> Reply(SUCCESS, [b"dead"])
    bk.topics().json >> Reply(
        SUCCESS, Including({"topicConfigTable": Including({f"%RETRY%{group}": ANYTHING})})
    )
    remark = "The specified topic is longer than topic max length."
    bk.send(f"%RETRY%{group}") >> Reply(ILLEGAL_PARAMETER, remark=Containing(remark))
