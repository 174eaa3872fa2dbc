"""Chapter transaction: whom a Broker asks about half messages, when, how often, and in which words."""

from harness.conformance import (
    ABSENT,
    AnyOf,
    Between,
    Including,
    Matching,
    Reply,
    Request,
    Silence,
    case,
)
from harness.conformance.broker.expiring import EXPIRING
from harness.conformance.broker.transaction.halves import (
    CHECK,
    COMMIT,
    LATER,
    MESSAGE,
    QUICK,
    ROLL_BACK,
    SUCCESS,
    TIME_OUT,
    half,
    place,
    producer,
)
from harness.conformance.broker.whole import (
    PUSHED,
    entire,
    pushed,
    viewed,
)
from harness.session import Answer, BrokerSession, Connection, Exchange
from harness.session.exchange import View
from harness.wire import FLAG_ONEWAY, RequestCode, ResponseCode

ROUND = 10 + TIME_OUT + 2
SLOW = {"transactionTimeOut": "60000", "transactionCheckInterval": "5000"}
OFTEN = {**QUICK, "transactionCheckMax": "15"}
"""For a Broker that stops: Apache's asks meanwhile about what has become old enough, without a producer that
hears it. 5.5.0 takes so long to stop that it may ask twice, which counts.
"""
TIMES = "TRANSACTION_CHECK_TIMES"
"""The property that says how often a producer was asked."""
ASKED = View("times asked", lambda command: pushed(command)["properties"].get(TIMES))

TIMES_ASKED = View("times asked, as a number", lambda command: int(pushed(command)["properties"][TIMES]))


def asked_about(question: Answer) -> tuple[int, int]:
    """The offsets in a question of the half message, in its queue and in the log."""
    ext = (question.command and question.command.ext) or {}
    return int(ext["tranStateTableOffset"] or 0), int(ext["commitLogOffset"] or 0)


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


def asked_every(bk: BrokerSession, seconds: int) -> None:
    """Copies of a half message, which its producer is asked about, were stored so far apart."""
    topic, group = bk.topic(), bk.group()
    client, asked = bk.client()
    bk.heartbeat(client, producers=[group], on=asked) >> Reply(SUCCESS)
    half(bk, topic, group)
    for more in (0, 0, 3 + bk.jitter):
        bk.advance(seconds + more)
        bk.heartbeat(client, producers=[group], on=asked) >> Reply(SUCCESS)
    earliest, latest = 1, 2**63
    for _ in range(2):
        question = asked.next_request(CHECK) >> Request(CHECK)
        view = bk.view(asked_about(question)[1]).seen("store timestamp", lambda one: one.store_timestamp)
        copied = (view >> Reply(SUCCESS, [Between(earliest, latest)])).value[0]
        earliest, latest = copied + 1_000 * seconds, copied + 1_000 * (seconds + 3 + bk.jitter)


@case(kills=["rounds-of-5x-in-4-9"], clock=True)
def test_asked_every_minute_by_default(bk: BrokerSession) -> None:
    asked_every(bk, 60)


@case(kills=["rounds-of-4-9-in-5x"], clock=True)
def test_asked_every_half_minute_by_default(bk: BrokerSession) -> None:
    asked_every(bk, 30)


@case(
    kills=["asked-at-once-by-default", "asked-late-by-default"],
    clock=True,
    setup={"transactionCheckInterval": "1000"},
)
def test_asked_after_six_seconds_by_default(bk: BrokerSession) -> None:
    topic, group = bk.topic(), bk.group()
    asked = producer(bk, group)
    half(bk, topic, group)
    bk.advance(6 + 1 + 2 + bk.jitter)
    question = asked.next_request(CHECK) >> Request(CHECK)
    age = bk.view(asked_about(question)[1]).seen("age", lambda one: one.store_timestamp - one.born_timestamp)
    age >> Reply(SUCCESS, [Between(6_000, 1_000 * (6 + 1 + 2 + bk.jitter))])


@case(
    kills=["asked-14-times-by-default", "asked-for-ever-by-default"],
    clock=True,
    setup={"transactionCheckInterval": "5000"},
)
def test_asked_fifteen_times_by_default(bk: BrokerSession) -> None:
    topic, group = bk.topic(), bk.group()
    asked = producer(bk, group)
    half(bk, topic, group, group.encode())
    # Two rounds until it is old enough, 15 questions, and a round that gives it up; each of 7 s at the most.
    bk.advance(18 * 7 + bk.jitter)
    for times in range(1, 16):
        asked.next_request(CHECK).seen_as(ASKED) >> Request(CHECK, str(times))
    asked.next_request(CHECK) >> Silence()
    given_up = bk.pull("TRANS_CHECK_MAX_TIME_TOPIC")
    bodies = given_up.seen("body and times", lambda one: (one.body, one.properties.get(TIMES)))
    bodies.eventually() >> Reply(SUCCESS, Including([(group.encode(), "15")]))


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
        sent = half(bk, topic, group)
        bk.end_transaction(group, *place(sent), verdict) >> Reply(SUCCESS)
        bk.advance_short_of(TIME_OUT, since=sent)  # it ended before the first question was due
    bk.advance(ROUND + bk.jitter)
    asked.next_request() >> Silence()


@case(
    kills=["refused-halves-are-open"],
    clock=True,
    own_server=True,
    setup={**QUICK, "transactionCheckMax": "1"},
)
def test_refused_is_not_asked_about(bk: BrokerSession) -> None:
    topic, group = bk.topic(), bk.group()
    asked = producer(bk, group)
    half(bk, topic, group, b"open")
    too_long = {"TRAN_MSG": "true", "PGROUP": group, "UNIQ_KEY": "key-1", "p": "x" * 32768}
    refused = Reply(ResponseCode.MESSAGE_ILLEGAL)
    born = bk.broker_time()
    bk.send(topic, b"refused", 1, properties=too_long, group=group, sys_flag=4, born=born) >> refused
    bk.send(topic, b"behind", 1) >> Reply(SUCCESS)  # where the refused one would have been in the log
    bk.advance(ROUND + bk.jitter)
    asked.next_request(CHECK).seen_as(MESSAGE) >> Request(CHECK, (topic, 1, b"open"))
    asked.next_request() >> Silence()
    bk.pull(topic, 1).bodies.eventually() >> Reply(SUCCESS, [b"behind"])


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
    kills=["immune-without-a-number", "immunity-without-a-number-is-refused"],
    clock=True,
    setup=LATER,
)
def test_immunity_that_is_none_is_the_setting(bk: BrokerSession) -> None:
    for text in ("-1", "soon"):
        topic, group = bk.topic(), bk.group()
        asked = producer(bk, group)
        sent = half(bk, topic, group, text.encode(), CHECK_IMMUNITY_TIME_IN_SECONDS=text)
        bk.advance_short_of(15, since=sent)
        asked.next_request() >> Silence()
        bk.advance(5 + 10 + 2 + bk.jitter)
        asked.next_request().seen_as(MESSAGE) >> Request(CHECK, (topic, 1, text.encode()))


@case(kills=["old-halves-are-young"], clock=True, setup=SLOW)
def test_old_half_is_asked_about_at_once(bk: BrokerSession) -> None:
    topic, group = bk.topic(), bk.group()
    asked = producer(bk, group)
    half(bk, topic, group, b"old", born=bk.broker_time() - 70_000)
    bk.advance(5 + 5 + 2 + bk.jitter)
    asked.next_request().seen_as(MESSAGE) >> Request(CHECK, (topic, 1, b"old"))


@case(
    kills=["open-transactions-are-forgotten"],
    clock=True,
    own_server=True,
    setup=OFTEN,
)
def test_open_outlives_the_broker(bk: BrokerSession) -> None:
    topic, group = bk.topic(), bk.group()
    places = [place(half(bk, topic, group, body)) for body in (b"late", b"later")]
    bk.advance(1)
    bk.restart()
    asked = producer(bk, group)
    bk.advance(ROUND + bk.jitter)
    about = [Request(CHECK, (topic, 1, body)) for body in (b"late", b"later")]
    first = asked.next_request(CHECK).seen_as(MESSAGE) >> AnyOf(*about)  # Apache asks from several threads.
    other = about[first.value == (topic, 1, b"late")]
    asked.next_request(CHECK).seen_as(MESSAGE) >> other
    for where in places:
        bk.end_transaction(group, *where, COMMIT, checked=True) >> Reply(SUCCESS)
    bk.pull(topic, 1).bodies.eventually() >> Reply(SUCCESS, [b"late", b"later"])


@case(
    kills=["restart-forgets-how-often-was-asked"],
    clock=True,
    own_server=True,
    setup=OFTEN,
)
def test_questions_before_a_restart_count(bk: BrokerSession) -> None:
    topic, group = bk.topic(), bk.group()
    asked = producer(bk, group)
    half(bk, topic, group)
    bk.advance(4 * 10 + ROUND + bk.jitter)
    for times in range(1, 5):
        asked.next_request(CHECK).seen_as(ASKED) >> Request(CHECK, str(times))
    bk.restart()
    asked = producer(bk, group)
    bk.advance(ROUND + bk.jitter)
    # It may have gone on asking while it stopped and began.
    asked.next_request(CHECK).seen_as(TIMES_ASKED) >> Request(CHECK, Between(5, 9))


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


@case(kills=["halves-of-any-age-are-asked-about", "halves-are-given-up-early"], clock=True, setup=QUICK)
def test_given_up_after_the_time_of_files(bk: BrokerSession) -> None:
    topic, group, hour = bk.topic(), bk.group(), 3_600_000
    asked = producer(bk, group)
    for hours in (73, 71):
        half(bk, topic, group, f"{group} {hours}".encode(), born=bk.broker_time() - hours * hour)
    bk.advance(ROUND + bk.jitter)
    asked.next_request().seen_as(MESSAGE) >> Request(CHECK, (topic, 1, f"{group} 71".encode()))
    given_up = bk.pull("TRANS_CHECK_MAX_TIME_TOPIC")
    given_up.bodies.eventually() >> Reply(SUCCESS, Including([f"{group} 73".encode()]))


@case(kills=["given-up-again"], clock=True, own_server=True, setup=QUICK)
def test_given_up_once(bk: BrokerSession) -> None:
    topic, group = bk.topic(), bk.group()
    producer(bk, group)
    for body in (b"one", b"two"):
        half(bk, topic, group, body)
    bk.advance(5 * ROUND + bk.jitter)
    given_up = bk.pull("TRANS_CHECK_MAX_TIME_TOPIC")
    given_up.bodies.eventually() >> Reply(SUCCESS, [b"one", b"two"])


def resume(bk: BrokerSession, message_id: str | None) -> Exchange:
    """RESUME_CHECK_HALF_MESSAGE (323)."""
    return bk.call(RequestCode.RESUME_CHECK_HALF_MESSAGE, {"msgId": message_id})


def asked_about_twice(bk: BrokerSession, topic: str, group: str) -> tuple[Connection, Answer]:
    """A producer that has got every question about a half message, and how the message was stored."""
    asked = producer(bk, group)
    sent = half(bk, topic, group, b"anew")
    bk.advance(3 * ROUND + 10 + bk.jitter)
    for _ in range(2):
        asked.next_request() >> Request(CHECK)
    return asked, sent


@case(kills=["resumed-half-is-not-stored", "resumed-half-was-asked-about"], clock=True, setup=QUICK)
def test_resumed_half_is_asked_about(bk: BrokerSession) -> None:
    topic, group = bk.topic(), bk.group()
    asked, sent = asked_about_twice(bk, topic, group)
    asked.next_request() >> Silence()
    resume(bk, sent.value[0]) >> Reply(SUCCESS)
    bk.advance(ROUND + bk.jitter)
    question = asked.next_request().seen_as(ASKED) >> Request(CHECK, "1")
    bk.end_transaction(group, *asked_about(question), COMMIT, checked=True, on=asked) >> Reply(SUCCESS)
    bk.pull(topic, 1).bodies.eventually() >> Reply(SUCCESS, [b"anew"])


@case(kills=["resumed-half-is-in-no-queue"], clock=True, own_server=True, setup=QUICK)
def test_resumed_half_survives_a_kill(bk: BrokerSession) -> None:
    topic, group = bk.topic(), bk.group()
    _, sent = asked_about_twice(bk, topic, group)
    resume(bk, sent.value[0]) >> Reply(SUCCESS)
    bk.restart("kill")
    asked = producer(bk, group)
    bk.advance(ROUND + bk.jitter)
    asked.next_request().seen_as(MESSAGE) >> Request(CHECK, (topic, 1, b"anew"))


@case(kills=["any-half-is-resumed"])
def test_unknown_half_is_not_resumed(bk: BrokerSession) -> None:
    sent = half(bk, bk.topic(), bk.group())
    remark = "Exception was thrown when putting message back to RMQ_SYS_TRANS_HALF_TOPIC."
    for wrong in (None, "zz", f"{sent.value[0][:-8]}7FFFFFFF"):
        resume(bk, wrong) >> Reply(ResponseCode.SYSTEM_ERROR, remark=remark)
