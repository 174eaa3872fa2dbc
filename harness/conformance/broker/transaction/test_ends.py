"""Chapter transaction: half messages and the ends that producers send."""

from harness.conformance import (
    ANYTHING,
    AnyOf,
    Containing,
    Including,
    Reply,
    Request,
    Silence,
    case,
)
from harness.conformance.broker.transaction.halves import (
    CHECK,
    COMMIT,
    LATER,
    MESSAGE,
    QUICK,
    ROLL_BACK,
    SUCCESS,
    UNKNOWN,
    half,
    place,
    producer,
    refused,
)
from harness.conformance.broker.whole import (
    QUEUE,
    judge_copy,
    plain_properties,
    send_whole,
    sent_members,
)
from harness.session import Answer, BrokerSession
from harness.wire import ResponseCode
from harness.wire.messages import decode_offset_id


@case(kills=["half-messages-are-visible"])
def test_half_is_invisible(bk: BrokerSession) -> None:
    topic, group = bk.topic(), bk.group()
    half(bk, topic, group)
    bk.max_offset(topic, 1).offset >> Reply(SUCCESS, 0)


@case(
    kills=["retried-messages-are-halves", "retried-halves-are-none"],
    clock=True,
    own_server=True,
)
def test_delayed_retry_is_no_half(bk: BrokerSession) -> None:
    topic, marks = bk.topic(), {"TRAN_MSG": "true", "PGROUP": bk.group()}
    bk.send(topic, b"half", 1, properties=marks, reconsumed=1) >> Reply(SUCCESS)
    bk.max_offset("RMQ_SYS_TRANS_HALF_TOPIC").offset.eventually() >> Reply(SUCCESS, 1)
    bk.send(topic, b"again", 1, properties={**marks, "DELAY": "1"}, reconsumed=1) >> Reply(SUCCESS)
    bk.advance(1 + 1 + bk.jitter)
    bk.pull(topic, 1).bodies.eventually() >> Reply(SUCCESS, [b"again"])
    bk.max_offset("RMQ_SYS_TRANS_HALF_TOPIC").offset >> Reply(SUCCESS, 1)


@case(kills=["bits-of-halves-do-not-count", "bits-of-halves-are-delayed"])
def test_bits_of_a_half_alone(bk: BrokerSession) -> None:
    topic = bk.topic()
    for bits, late in ((4, {}), (12, {}), (4, {"DELAY": "1"}), (12, {"DELAY": "1"})):
        sent = bk.send(topic, b"in no queue", 1, sys_flag=bits, properties=late).ids >> Reply(SUCCESS)
        stored = bk.view(decode_offset_id(sent.value[0])[1])
        stored.seen("topic and queue", lambda one: (one.topic, one.queue_id)).eventually() >> Reply(
            SUCCESS, [(topic, 1)]
        )
    bk.send(topic, b"in the queue", 1, sys_flag=COMMIT).offset >> Reply(SUCCESS, 0)
    bk.pull(topic, 1).bodies.eventually() >> Reply(SUCCESS, [b"in the queue"])


@case(
    kills=[
        "delayed-halves-are-not-delayed",
        "delayed-halves-are-delivered",
        "delayed-halves-hold-up-others",
        "delayed-halves-end-others",
    ],
    clock=True,
    own_server=True,
)
def test_delayed_half_is_discarded(bk: BrokerSession) -> None:
    topic, group, levels = bk.topic(), bk.group(), "SCHEDULE_TOPIC_XXXX"
    where = place(half(bk, topic, group, DELAY="1"))
    bk.max_offset(levels, 0).offset.eventually() >> Reply(SUCCESS, 1)
    bk.send(topic, b"behind", 2, properties={"DELAY": "1"}) >> Reply(SUCCESS)
    bk.advance(5 + bk.jitter)
    bk.pull(topic, 2).bodies.eventually() >> Reply(SUCCESS, [b"behind"])
    bk.max_offset("RMQ_SYS_TRANS_HALF_TOPIC").offset >> Reply(SUCCESS, 0)
    second = place(half(bk, topic, group, b"second"))
    bk.end_transaction(group, *where, COMMIT) >> Reply(SUCCESS)
    bk.advance(5 + bk.jitter)
    bk.max_offset(topic, 1).offset >> Reply(SUCCESS, 0)
    bk.end_transaction(group, *second, COMMIT) >> Reply(SUCCESS)
    bk.pull(topic, 1).bodies.eventually() >> Reply(SUCCESS, [b"second"])


@case(kills=["commits-are-lost"])
def test_commit_delivers(bk: BrokerSession) -> None:
    topic, group = bk.topic(), bk.group()
    bk.end_transaction(group, *place(half(bk, topic, group, b"whole")), COMMIT) >> Reply(SUCCESS)
    bk.pull(topic, 1).bodies.eventually() >> Reply(SUCCESS, [b"whole"])


@case(kills=["commits-lose-properties", "commits-lose-flags"])
def test_commit_keeps_what_was_sent(bk: BrokerSession) -> None:
    topic, group = bk.topic(), bk.group()
    sent = half(bk, topic, group, TAGS="A", KEYS="k", x="y")
    bk.end_transaction(group, *place(sent), COMMIT) >> Reply(SUCCESS)
    pull = bk.pull(topic, 1, subscription="A")
    pull.properties.eventually() >> Reply(SUCCESS, [Including({"TAGS": "A", "KEYS": "k", "x": "y"})])
    pull.seen("transaction bits", lambda one: one.sys_flag & 12) >> Reply(SUCCESS, [COMMIT])
    pull.seen("prepared offset", lambda one: one.prepared_offset) >> Reply(SUCCESS, [place(sent)[1]])


@case(kills=["roll-backs-commit"])
def test_rolled_back_is_never_seen(bk: BrokerSession) -> None:
    topic, group = bk.topic(), bk.group()
    bk.end_transaction(group, *place(half(bk, topic, group)), ROLL_BACK) >> Reply(SUCCESS)
    bk.max_offset(topic, 1).offset >> Reply(SUCCESS, 0)


@case(kills=["unknown-ends-are-answered"])
def test_unknown_is_not_answered(bk: BrokerSession) -> None:
    topic, group = bk.topic(), bk.group()
    where = place(half(bk, topic, group))
    bk.end_transaction(group, *where, UNKNOWN) >> Silence()
    bk.max_offset(topic, 1).offset >> Reply(SUCCESS, 0)
    bk.end_transaction(group, *where, COMMIT) >> Reply(SUCCESS)


@case(kills=["odd-ends-commit"])
def test_other_verdicts_are_refused(bk: BrokerSession) -> None:
    topic, group = bk.topic(), bk.group()
    bk.end_transaction(group, *place(half(bk, topic, group)), 5) >> Reply(ResponseCode.SYSTEM_ERROR)
    bk.max_offset(topic, 1).offset >> Reply(SUCCESS, 0)


@case(kills=["any-group-ends"])
def test_other_groups_end_nothing(bk: BrokerSession) -> None:
    refused(bk, "The producer group wrong", group=bk.group("other"))


@case(kills=["any-queue-offset-ends"])
def test_queue_offset_must_fit(bk: BrokerSession) -> None:
    refused(bk, "The transaction state table offset wrong", queue=1)


@case(kills=["missing-half-ends"])
def test_log_offset_must_fit(bk: BrokerSession) -> None:
    refused(bk, "Find prepared transaction message failed", log=10**12)


@case(
    kills=["late-ends-commit", "immune-for-milliseconds", "late-answers-are-refused"], clock=True, setup=QUICK
)
def test_late_end_is_refused(bk: BrokerSession) -> None:
    topic, group = bk.topic(), bk.group()
    late, timely = (
        place(half(bk, topic, group, seconds.encode(), CHECK_IMMUNITY_TIME_IN_SECONDS=seconds))
        for seconds in ("5", "600")
    )
    bk.advance(6)
    bk.end_transaction(group, *late, COMMIT) >> Reply(ResponseCode.ILLEGAL_OPERATION)
    bk.max_offset(topic, 1).offset >> Reply(SUCCESS, 0)
    bk.end_transaction(group, *timely, COMMIT) >> Reply(SUCCESS)
    bk.pull(topic, 1).bodies.eventually() >> Reply(SUCCESS, [b"600"])
    bk.end_transaction(group, *late, COMMIT, checked=True) >> Reply(SUCCESS)
    bk.pull(topic, 1).bodies.eventually() >> Reply(SUCCESS, [b"600", b"5"])


@case(kills=["late-ends-are-refused-in-4-9"], clock=True)
def test_late_end_is_taken(bk: BrokerSession) -> None:
    topic, group = bk.topic(), bk.group()
    late = place(half(bk, topic, group, b"late", CHECK_IMMUNITY_TIME_IN_SECONDS="5"))
    bk.advance(6)
    bk.end_transaction(group, *late, COMMIT) >> Reply(SUCCESS)
    bk.pull(topic, 1).bodies.eventually() >> Reply(SUCCESS, [b"late"])


@case(kills=["whole-messages-are-committed"])
def test_whole_message_is_not_committed(bk: BrokerSession) -> None:
    topic, group = bk.topic(), bk.group()
    sent = bk.send(topic, b"whole", 1, properties={"PGROUP": group}).ids >> Reply(SUCCESS)
    bk.end_transaction(group, *place(sent), COMMIT) >> Reply(ResponseCode.SYSTEM_ERROR)
    bk.send(topic, b"end", 1) >> Reply(SUCCESS)
    bk.pull(topic, 1).bodies.eventually() >> Reply(SUCCESS, [b"whole", b"end"])


@case(kills=["transactions-end-again"])
def test_commits_once(bk: BrokerSession) -> None:
    topic, group = bk.topic(), bk.group()
    where = place(half(bk, topic, group))
    for _ in range(2):
        bk.end_transaction(group, *where, COMMIT) >> Reply(SUCCESS)
    bk.send(topic, b"end", 1) >> Reply(SUCCESS)
    bk.pull(topic, 1).bodies.eventually() >> Reply(SUCCESS, [b"half", b"end"])


@case(kills=["transactions-end-again"])
def test_rolled_back_stays_so(bk: BrokerSession) -> None:
    topic, group = bk.topic(), bk.group()
    where = place(half(bk, topic, group))
    bk.end_transaction(group, *where, ROLL_BACK) >> Reply(SUCCESS)
    bk.end_transaction(group, *where, COMMIT) >> Reply((SUCCESS, ResponseCode.SYSTEM_ERROR))
    bk.send(topic, b"end", 1) >> Reply(SUCCESS)
    bk.pull(topic, 1).bodies.eventually() >> Reply(SUCCESS, [b"end"])


@case(
    kills=["ends-are-forgotten", "open-transactions-are-forgotten"],
    clock=True,
    own_server=True,
    setup=LATER,
)
def test_ends_outlive_the_broker(bk: BrokerSession) -> None:
    topic, group = bk.topic(), bk.group()
    half(bk, topic, group, b"open")
    for body, verdict in ((b"committed", COMMIT), (b"rolled back", ROLL_BACK)):
        bk.end_transaction(group, *place(half(bk, topic, group, body)), verdict) >> Reply(SUCCESS)
    bk.advance(8)
    bk.restart("kill")
    asked = producer(bk, group)
    for _ in range(2):
        bk.advance(20 + 10 + bk.jitter)
        asked.next_request().seen_as(MESSAGE) >> Request(CHECK, (topic, 1, b"open"))
    bk.pull(topic, 1).bodies.eventually() >> Reply(SUCCESS, [b"committed"])


@case(
    kills=[
        "commits-come-from-the-broker",
        "viewed-messages-lose-properties",
        "halves-lose-their-wait",
        "commits-have-the-bits-of-commits-alone",
    ]
)
def test_commit_is_stored_as_a_whole(bk: BrokerSession) -> None:
    topic, connection, key = bk.topic(), bk.connect(), bk.name("key")
    plain = {**plain_properties(bk, connection), "UNIQ_KEY": key}
    more = {"TRAN_MSG": "true", "PGROUP": "PG", "UNIQ_KEY": key}
    origin = send_whole(bk, topic, connection, **more)
    place = decode_offset_id(origin)[1]
    sent = sent_members(bk, topic, connection)
    judge_copy(bk.view(place), "half of a transaction", sent, plain, group="PG", id=key)
    half = bk.view(place).seen("offset", lambda one: one.queue_offset) >> Reply(SUCCESS)
    bk.end_transaction("PG", half.value[0], place, COMMIT) >> Reply(SUCCESS)
    judge_copy(bk.pull(topic, QUEUE), "committed", sent, plain, group="PG", id=key, half=place)


@case(kills=["transactions-have-no-id"])
def test_half_has_the_id_of_its_transaction(bk: BrokerSession) -> None:
    topic, group, key = bk.topic(), bk.group(), bk.name("key")
    sent = half(bk, topic, group, UNIQ_KEY=key)
    known = [Including({"UNIQ_KEY": key, "__transactionId__": key})]
    bk.view(place(sent)[1]).properties.eventually() >> Reply(SUCCESS, known)
    bk.end_transaction(group, *place(sent), COMMIT) >> Reply(SUCCESS)
    bk.pull(topic, 1).properties.eventually() >> Reply(SUCCESS, known)


@case(kills=["commits-that-fail-succeed"], own_server=True)
def test_commit_that_cannot_be_stored_is_refused(bk: BrokerSession) -> None:
    topic, group = bk.topic(), bk.group()
    long, short = half(bk, topic, group, bytes(301)), half(bk, topic, group, bytes(200))
    bk.update_config({"maxMessageSize": "200"}) >> Reply(SUCCESS)
    illegal = Reply(ResponseCode.MESSAGE_ILLEGAL, remark=Containing("msg body length limit 200B"))
    for _ in range(2):
        bk.end_transaction(group, *place(long), COMMIT) >> illegal
    bk.end_transaction(group, *place(short), COMMIT) >> Reply(SUCCESS)
    bk.pull(topic, 1).bodies.eventually() >> Reply(SUCCESS, [bytes(200)])


HALVES, MARKS = "RMQ_SYS_TRANS_HALF_TOPIC", "RMQ_SYS_TRANS_OP_HALF_TOPIC"


def ended(bk: BrokerSession, topic: str) -> Answer:
    """Of three half messages, the second and the third end; the answer to the send of the last one."""
    group = bk.group()
    halves = [half(bk, topic, group) for _ in range(3)]
    for sent, verdict in zip(halves[1:], (COMMIT, ROLL_BACK), strict=True):
        bk.end_transaction(group, *place(sent), verdict) >> Reply(SUCCESS)
    return halves[-1]


@case(kills=["marks-have-no-tag", "marks-name-one-half"], own_server=True)
def test_ends_are_marked_one_by_one(bk: BrokerSession) -> None:
    topic = bk.topic()
    at = place(ended(bk, topic))[1]
    for there in ((HALVES, 0, b"half"), (topic, 1, b"half"), (MARKS, 0, b"1"), (MARKS, 0, b"2")):
        seen = bk.view(at).seen("message", lambda one: (one.topic, one.queue_id, one.body))
        seen.eventually() >> Reply(SUCCESS, [there])
        tags = bk.view(at).seen("tag", lambda one: one.properties.get("TAGS"))
        tags >> Reply(SUCCESS, ["d" if there[0] == MARKS else None])
        end = bk.view(at).seen("end", lambda one: one.physical_offset + one.size)
        at = (end >> Reply(SUCCESS, [ANYTHING])).value[0]


@case(kills=["marks-have-no-tag", "marks-name-one-half"], clock=True, own_server=True)
def test_ends_are_marked(bk: BrokerSession) -> None:
    ended(bk, bk.topic())
    bk.advance(10)
    marks = bk.pull(MARKS).seen("marks (body, tag)", lambda one: (one.body, one.properties.get("TAGS")))
    one_by_one = Reply(SUCCESS, [(b"1,", "d"), (b"2,", "d")])
    marks.eventually() >> AnyOf(one_by_one, Reply(SUCCESS, [(b"1,2,", "d")]))
