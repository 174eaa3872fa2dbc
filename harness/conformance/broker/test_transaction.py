"""Chapter transaction: half messages, their ends, and the checks that a Broker sends to producers."""

from harness.conformance import (
    ABSENT,
    Between,
    Containing,
    Including,
    Matching,
    Reply,
    Request,
    Silence,
    case,
)
from harness.conformance.broker.expiring import EXPIRING
from harness.conformance.broker.whole import (
    PUSHED,
    QUEUE,
    entire,
    judge_copy,
    plain_properties,
    pushed,
    send_whole,
    sent_members,
    viewed,
)
from harness.session import Answer, BrokerSession, Connection, Exchange
from harness.session.exchange import View
from harness.wire import FLAG_ONEWAY, Command, RequestCode, ResponseCode
from harness.wire.messages import decode_offset_id

SUCCESS = ResponseCode.SUCCESS
CHECK = RequestCode.CHECK_TRANSACTION_STATE
COMMIT, ROLL_BACK, UNKNOWN = 8, 12, 0
QUICK = {"transactionTimeOut": "5000", "transactionCheckInterval": "10000", "transactionCheckMax": "2"}
"""A Broker checks half messages every 10 s, once they are 5 s old."""
ROUND = 10 + 5 + 2
LATER = {"transactionTimeOut": "20000", "transactionCheckInterval": "10000"}
SLOW = {"transactionTimeOut": "60000", "transactionCheckInterval": "5000"}


def _message(command: Command) -> tuple[str, int, bytes]:
    message = pushed(command)
    return message["topic"], message["queue_id"], message["body"]


MESSAGE = View("message", _message, said="message (topic, queueId, body)")
TIMES = "TRANSACTION_CHECK_TIMES"
"""The property that says how often a producer was asked."""
ASKED = View("times asked", lambda command: pushed(command)["properties"].get(TIMES))


def half(bk: BrokerSession, topic: str, group: str, body: bytes = b"half", **properties: str) -> Answer:
    """Sends a half message to queue 1."""
    given = {"TRAN_MSG": "true", "PGROUP": group, "UNIQ_KEY": bk.name("key"), **properties}
    sent = bk.send(topic, body, 1, properties=given, group=group, sys_flag=4, born=bk.broker_time())
    return sent.ids >> Reply(SUCCESS)


def place(sent: Answer) -> tuple[int, int]:
    """The offsets of the half message in its queue and in the log."""
    ext = (sent.command and sent.command.ext) or {}
    return int(ext["queueOffset"] or 0), decode_offset_id(sent.value[0])[1]


def asked_about(question: Answer) -> tuple[int, int]:
    """The offsets in a question of the half message, in its queue and in the log."""
    ext = (question.command and question.command.ext) or {}
    return int(ext["tranStateTableOffset"] or 0), int(ext["commitLogOffset"] or 0)


def producer(bk: BrokerSession, group: str) -> Connection:
    """A producer of the group that waits for questions."""
    client, connection = bk.client()
    bk.heartbeat(client, producers=[group], on=connection) >> Reply(SUCCESS)
    return connection


@case(kills=["half-messages-are-visible"])
def test_half_is_invisible(bk: BrokerSession) -> None:
    topic, group = bk.topic(), bk.group()
    half(bk, topic, group)
    bk.max_offset(topic, 1).offset >> Reply(SUCCESS, 0)


@case(kills=["delayed-halves-are-not-delayed", "delayed-halves-are-delivered"], clock=True, own_server=True)
def test_delayed_half_is_discarded(bk: BrokerSession) -> None:
    topic, group, levels = bk.topic(), bk.group(), "SCHEDULE_TOPIC_XXXX"
    where = place(half(bk, topic, group, DELAY="1"))
    bk.max_offset(levels, 0).offset.eventually() >> Reply(SUCCESS, 1)
    bk.advance(5 + bk.jitter)
    bk.max_offset("RMQ_SYS_TRANS_HALF_TOPIC").offset >> Reply(SUCCESS, 0)
    bk.end_transaction(group, *where, COMMIT) >> Reply(SUCCESS)
    bk.advance(5 + bk.jitter)
    bk.max_offset(topic, 1).offset >> Reply(SUCCESS, 0)
    bk.end_transaction(group, *place(half(bk, topic, group, b"second")), COMMIT) >> Reply(SUCCESS)
    bk.pull(topic, 1).bodies.eventually() >> Reply(SUCCESS, [b"second"])


@case(kills=["delayed-halves-are-asked-about"], clock=True, setup=QUICK)
def test_delayed_half_is_not_asked_about(bk: BrokerSession) -> None:
    topic, group = bk.topic(), bk.group()
    connection = producer(bk, group)
    half(bk, topic, group, DELAY="18")
    bk.advance(ROUND + bk.jitter)
    connection.next_request(CHECK) >> Silence()
    half(bk, topic, group, b"open")
    bk.advance(ROUND + bk.jitter)
    connection.next_request(CHECK).seen_as(MESSAGE) >> Request(CHECK, (topic, 1, b"open"))


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


def refused(bk: BrokerSession, remark: str, group: str | None = None, queue: int = 0, log: int = 0) -> None:
    """An end with something wrong about it is refused, and commits nothing."""
    topic, own = bk.topic(), bk.group()
    offset, at = place(half(bk, topic, own))
    end = bk.end_transaction(group or own, offset + queue, at + log, COMMIT)
    end >> Reply(ResponseCode.SYSTEM_ERROR, remark=remark)
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


@case(kills=["nobody-is-asked"], clock=True, setup=QUICK)
def test_silent_producer_is_asked(bk: BrokerSession) -> None:
    topic, group = bk.topic(), bk.group()
    asked = producer(bk, group)
    half(bk, topic, group, UNIQ_KEY="key-1")
    bk.advance(ROUND + bk.jitter)
    ext = Including({"msgId": "key-1", "transactionId": "key-1"})
    asked.next_request() >> Request(CHECK, flag=FLAG_ONEWAY, ext=ext)


@case(kills=["asked-at-once"], clock=True, setup=SLOW)
def test_producer_is_not_asked_early(bk: BrokerSession) -> None:
    topic, group = bk.topic(), bk.group()
    asked = producer(bk, group)
    sent = half(bk, topic, group)
    bk.advance_short_of(45, since=sent)
    asked.next_request() >> Silence()


@case(
    kills=["questions-name-half-topic", "questions-are-about-new-messages", "copies-do-not-wait"],
    clock=True,
    setup=QUICK,
)
def test_question_carries_the_message(bk: BrokerSession) -> None:
    topic, group = bk.topic(), bk.group()
    asked = producer(bk, group)
    before = viewed(bk, place(half(bk, topic, group, b"asked"))[1])
    bk.advance(ROUND + bk.jitter)
    question = asked.next_request()
    answer = question.seen_as(MESSAGE) >> Request(CHECK, (topic, 1, b"asked"))
    offset, log_offset = asked_about(answer)
    counted = {**before["properties"], TIMES: "1"}
    copy = {**before, "queue_offset": offset, "physical_offset": log_offset, "properties": counted}
    told = {"topic": topic, "queue_id": 1, "properties": {**counted, "WAIT": "false"}}
    question.seen_as(PUSHED) >> Request(CHECK, {**copy, **told})
    later = Between(before["store_timestamp"] + 1, 2**63)
    view = bk.view(log_offset).seen("message", entire)
    view >> Reply(SUCCESS, [{**copy, "store_timestamp": later}])


@case(kills=["answers-are-lost"], clock=True, setup=QUICK)
def test_answer_to_a_question_commits(bk: BrokerSession) -> None:
    topic, group = bk.topic(), bk.group()
    asked = producer(bk, group)
    half(bk, topic, group, b"late")
    bk.advance(ROUND + bk.jitter)
    question = asked.next_request() >> Request(CHECK)
    where = asked_about(question)
    bk.end_transaction(group, *where, COMMIT, checked=True, on=asked) >> Reply(SUCCESS)
    bk.pull(topic, 1).bodies.eventually() >> Reply(SUCCESS, [b"late"])


@case(kills=["ended-are-asked-about"], clock=True, setup=QUICK)
def test_ended_is_not_asked_about(bk: BrokerSession) -> None:
    topic, group = bk.topic(), bk.group()
    asked = producer(bk, group)
    for verdict in (COMMIT, ROLL_BACK):
        bk.end_transaction(group, *place(half(bk, topic, group)), verdict) >> Reply(SUCCESS)
    bk.advance(ROUND + bk.jitter)
    asked.next_request() >> Silence()


@case(kills=["any-producer-is-asked"], clock=True, setup=QUICK)
def test_other_producers_are_not_asked(bk: BrokerSession) -> None:
    topic, group = bk.topic(), bk.group()
    other = producer(bk, bk.group("other"))
    half(bk, topic, group)
    bk.advance(ROUND + bk.jitter)
    other.next_request() >> Silence()


@case(kills=["asked-for-ever", "questions-are-not-counted"], clock=True, setup=QUICK)
def test_given_up_after_the_limit_of_questions(bk: BrokerSession) -> None:
    topic, group = bk.topic(), bk.group()
    asked = producer(bk, group)
    half(bk, topic, group, group.encode())
    bk.advance(3 * ROUND + 10 + bk.jitter)
    for times in ("1", "2"):
        asked.next_request().seen_as(ASKED) >> Request(CHECK, times)
    asked.next_request() >> Silence()
    given_up = bk.pull("TRANS_CHECK_MAX_TIME_TOPIC")
    asked_twice = given_up.seen("body and times", lambda one: (one.body, one.properties.get(TIMES)))
    asked_twice.eventually() >> Reply(SUCCESS, Including([(group.encode(), "2")]))


@case(kills=["late-ends-commit", "immune-for-milliseconds"], clock=True, setup=QUICK)
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


@case(kills=["asked-in-spite-of-immunity", "immune-for-milliseconds"], clock=True, setup=LATER)
def test_immune_message_is_not_asked_about(bk: BrokerSession) -> None:
    topic, group = bk.topic(), bk.group()
    asked = producer(bk, group)
    sent = half(bk, topic, group, CHECK_IMMUNITY_TIME_IN_SECONDS="45")
    bk.advance_short_of(40, since=sent)
    asked.next_request() >> Silence()
    bk.advance(5 + 10 + 2 + bk.jitter)
    asked.next_request() >> Request(CHECK)


@case(
    kills=["open-transactions-are-forgotten"],
    clock=True,
    own_server=True,
    setup=QUICK,
)
def test_open_outlives_the_broker(bk: BrokerSession) -> None:
    topic, group = bk.topic(), bk.group()
    where = place(half(bk, topic, group, b"late"))
    bk.advance(1)
    bk.restart()
    asked = producer(bk, group)
    bk.advance(ROUND + bk.jitter)
    asked.next_request() >> Request(CHECK)
    bk.end_transaction(group, *where, COMMIT, checked=True) >> Reply(SUCCESS)
    bk.pull(topic, 1).bodies.eventually() >> Reply(SUCCESS, [b"late"])


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
    kills=["marks-make-no-progress", "halves-make-no-progress", "progress-of-nothing-is-noted"],
    clock=True,
    own_server=True,
    setup=QUICK,
)
def test_progress_is_noted(bk: BrokerSession) -> None:
    topic, group = bk.topic(), bk.group()
    halves, marks = (
        f"{one}@CID_RMQ_SYS_TRANS" for one in ("RMQ_SYS_TRANS_HALF_TOPIC", "RMQ_SYS_TRANS_OP_HALF_TOPIC")
    )
    bk.advance(ROUND + bk.jitter)
    none = Including({halves: ABSENT, marks: ABSENT})
    bk.offsets().json >> Reply(SUCCESS, Including({"offsetTable": none}))
    for verdict in (COMMIT, ROLL_BACK):
        bk.end_transaction(group, *place(half(bk, topic, group)), verdict) >> Reply(SUCCESS)
    bk.advance(3 * ROUND + bk.jitter)
    noted = Including({halves: {"0": Between(2, 8)}, marks: {"0": Between(1, 8)}})
    bk.offsets().json.eventually() >> Reply(SUCCESS, Including({"offsetTable": noted}))


@case(
    kills=["expired-halves-hold-up", "expired-halves-end"],
    clock=True,
    own_server=True,
    setup={**SLOW, "transactionTimeOut": "90000", **EXPIRING},
)
def test_expired_half_is_forgotten(bk: BrokerSession) -> None:
    topic, group = bk.topic(), bk.group()
    asked = producer(bk, group)
    bk.send(topic) >> Reply(SUCCESS)
    where = place(half(bk, topic, group))
    for _ in range(8):
        bk.send(topic, bytes(20_000)) >> Reply(SUCCESS)
    bk.advance(60 + 10 + 10 + bk.jitter)
    bk.view(where[1]) >> Reply(ResponseCode.SYSTEM_ERROR)
    bk.advance(20)
    asked.next_request() >> Silence()
    refused = Reply(ResponseCode.SYSTEM_ERROR, remark="Find prepared transaction message failed")
    bk.end_transaction(group, *where, COMMIT) >> refused
    later = place(half(bk, topic, group, b"later"))
    bk.end_transaction(group, *later, COMMIT) >> Reply(SUCCESS)
    bk.pull(topic, 1).bodies.eventually() >> Reply(SUCCESS, [b"later"])
    bk.advance(30 + bk.jitter)
    noted = Including({"RMQ_SYS_TRANS_HALF_TOPIC@CID_RMQ_SYS_TRANS": {"0": Between(2, 8)}})
    bk.offsets().json.eventually() >> Reply(SUCCESS, Including({"offsetTable": noted}))


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


KEY = "K" * 32
QUESTION = {
    "tranStateTableOffset": Matching(r"^\d+$"),
    "commitLogOffset": Matching(r"^\d+$"),
    "offsetMsgId": Matching("^[0-9A-F]{32}$"),
    "msgId": KEY,
    "transactionId": KEY,
}


def questioned(bk: BrokerSession) -> Connection:
    """A producer that has not ended a transaction in time."""
    group = bk.group()
    asked = producer(bk, group)
    half(bk, bk.topic(), group, b"asked", UNIQ_KEY=KEY)
    bk.advance(ROUND + bk.jitter)
    return asked


@case(kills=["questions-49-name-a-topic"], clock=True, setup=QUICK)
def test_question_names_the_message(bk: BrokerSession) -> None:
    questioned(bk).next_request() >> Request(CHECK, ext=QUESTION)


@case(kills=["questions-name-no-broker"], clock=True, setup=QUICK)
def test_question_names_topic_and_broker(bk: BrokerSession) -> None:
    more = {"topic": "RMQ_SYS_TRANS_HALF_TOPIC", "bname": bk.broker_name}
    questioned(bk).next_request() >> Request(CHECK, ext={**QUESTION, **more})


@case(kills=["commits-come-from-the-broker", "viewed-messages-lose-properties"])
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


@case(kills=["one-producer-is-asked"], clock=True, setup=QUICK)
def test_producers_are_asked_in_turn(bk: BrokerSession) -> None:
    topic, group = bk.topic(), bk.group()
    producers = [producer(bk, group) for _ in range(4)]
    for number in range(8):
        half(bk, topic, group, b"%d" % number)
    bk.advance(ROUND + bk.jitter)
    for asked in producers:
        for _ in range(2):
            asked.next_request() >> Request(CHECK)


@case(kills=["given-up-again"], clock=True, own_server=True, setup=QUICK)
def test_given_up_once(bk: BrokerSession) -> None:
    topic, group = bk.topic(), bk.group()
    producer(bk, group)
    for body in (b"one", b"two"):
        half(bk, topic, group, body)
    bk.advance(5 * ROUND + bk.jitter)
    given_up = bk.pull("TRANS_CHECK_MAX_TIME_TOPIC")
    given_up.bodies.eventually() >> Reply(SUCCESS, [b"one", b"two"])


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


def resume(bk: BrokerSession, message_id: str | None) -> Exchange:
    """RESUME_CHECK_HALF_MESSAGE (323)."""
    return bk.call(RequestCode.RESUME_CHECK_HALF_MESSAGE, {"msgId": message_id})


@case(kills=["resumed-half-is-not-stored", "resumed-half-was-asked-about"], clock=True, setup=QUICK)
def test_resumed_half_is_asked_about(bk: BrokerSession) -> None:
    topic, group = bk.topic(), bk.group()
    asked = producer(bk, group)
    sent = half(bk, topic, group, b"anew")
    bk.advance(3 * ROUND + 10 + bk.jitter)
    for _ in range(2):
        asked.next_request() >> Request(CHECK)
    asked.next_request() >> Silence()
    resume(bk, sent.value[0]) >> Reply(SUCCESS)
    bk.advance(ROUND + bk.jitter)
    question = asked.next_request().seen_as(ASKED) >> Request(CHECK, "1")
    bk.end_transaction(group, *asked_about(question), COMMIT, checked=True, on=asked) >> Reply(SUCCESS)
    bk.pull(topic, 1).bodies.eventually() >> Reply(SUCCESS, [b"anew"])


@case(kills=["any-half-is-resumed"])
def test_unknown_half_is_not_resumed(bk: BrokerSession) -> None:
    sent = half(bk, bk.topic(), bk.group())
    remark = "Exception was thrown when putting message back to RMQ_SYS_TRANS_HALF_TOPIC."
    for wrong in (None, "zz", f"{sent.value[0][:-8]}7FFFFFFF"):
        resume(bk, wrong) >> Reply(ResponseCode.SYSTEM_ERROR, remark=remark)
