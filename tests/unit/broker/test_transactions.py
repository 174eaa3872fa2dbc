"""Transactions: nothing is seen before the commit, an end counts once, and who stays silent is asked."""

import pytest

from harness.wire import RequestCode, ResponseCode
from harness.wire.fastjson import dumps
from harness.wire.messages import decode_message
from reference_impl.broker.outbox import Pushing

from .messages import Lasting, place, queue_of, sent

COMMIT, ROLLBACK, UNKNOWN = 8, 12, 0
HALF, GIVEN_UP = "RMQ_SYS_TRANS_HALF_TOPIC", "TRANS_CHECK_MAX_TIME_TOPIC"
QUICK = {"transactionTimeOut": 1000, "transactionCheckInterval": 2000, "transactionCheckMax": 2}


def half(one, **properties):
    given = {"TRAN_MSG": "true", "PGROUP": "PG", "UNIQ_KEY": "U"} | properties
    return sent(one, queue=1, flags=4, properties={name: text for name, text in given.items() if text})


def end(one, reply, how=COMMIT, **changes):
    ext = {
        "producerGroup": "PG",
        "tranStateTableOffset": reply.ext["queueOffset"],
        "commitLogOffset": place(reply),
        "commitOrRollback": how,
        "fromTransactionCheck": "false",
    } | changes
    return one.ask(RequestCode.END_TRANSACTION, ext)


def produces(one, connection=1, group="PG"):
    one.broker.connected(connection, f"10.0.0.1:{40_000 + connection}", one.now)
    beat = {"clientID": f"c{connection}", "producerDataSet": [{"groupName": group}], "consumerDataSet": []}
    one.ask(RequestCode.HEART_BEAT, body=dumps(beat), connection=connection)


def questions(one):
    pushed = one.taken(Pushing)
    return [one for one in pushed if one.command.code == RequestCode.CHECK_TRANSACTION_STATE]


def test_a_half_message_is_seen_when_it_is_committed(asked, profile):
    one = asked(profile)
    reply = half(one)
    assert reply.ext["queueId"] == "1"
    assert queue_of(one, "T", 1) == []
    [stored] = queue_of(one, HALF)
    assert (stored.properties["REAL_TOPIC"], stored.properties["REAL_QID"]) == ("T", "1")
    assert stored.properties.get("__transactionId__") == ("U" if profile == "5.3" else None)
    assert end(one, reply).code == 0
    [message] = queue_of(one, "T", 1)
    assert (message.body, message.sys_flag & 12) == (b"hello", 8)
    assert message.prepared_offset == place(reply)
    assert message.properties == stored.properties


def test_a_half_message_that_is_rolled_back_is_never_seen(asked, profile):
    one = asked(profile, **QUICK)
    produces(one)
    reply = half(one)
    assert end(one, reply, ROLLBACK).code == 0
    one.pass_time(100_000)
    assert queue_of(one, "T", 1) == []
    assert questions(one) == []


@pytest.mark.parametrize("first", [COMMIT, ROLLBACK])
@pytest.mark.parametrize("second", [COMMIT, ROLLBACK])
def test_a_transaction_ends_once(asked, profile, first, second):
    one = asked(profile)
    reply = half(one)
    end(one, reply, first)
    assert end(one, reply, second).code == 0
    assert len(queue_of(one, "T", 1)) == (first == COMMIT)


def test_who_does_not_know_gets_no_answer(asked, profile):
    one = asked(profile)
    reply = half(one)
    assert end(one, reply, UNKNOWN) is None
    assert end(one, reply, COMMIT).code == 0


@pytest.mark.parametrize(
    ("changes", "remark"),
    [
        ({"producerGroup": "Z"}, "The producer group wrong"),
        ({"tranStateTableOffset": 1}, "The transaction state table offset wrong"),
        ({"commitLogOffset": 1}, "Find prepared transaction message failed"),
        ({"commitLogOffset": 10**9}, "Find prepared transaction message failed"),
    ],
)
def test_an_end_must_fit_its_half_message(asked, profile, changes, remark):
    one = asked(profile)
    reply = half(one)
    for how in (COMMIT, ROLLBACK):
        refused = end(one, reply, how, **changes)
        assert (refused.code, refused.remark) == (1, remark)
    assert queue_of(one, "T", 1) == []
    assert end(one, reply).code == 0


def test_an_illegal_end_is_refused(asked, profile):
    one = asked(profile)
    assert end(one, half(one), 5).code == 1
    assert one.ask(RequestCode.END_TRANSACTION).code == 1


def test_a_message_that_is_no_half_message_cannot_be_committed(asked, profile):
    one = asked(profile)
    reply = end(one, sent(one, properties={"PGROUP": "PG"}))
    assert reply.remark == "Find prepared transaction message failed"


def test_a_slave_ends_nothing(asked, profile):
    one = asked(profile, brokerRole="SLAVE", brokerId=1)
    reply = one.ask(RequestCode.END_TRANSACTION, {"commitOrRollback": 8, "commitLogOffset": 0})
    assert reply.code == 11


def test_a_delayed_half_message_is_discarded(asked, profile):
    one = asked(profile)
    reply = half(one, DELAY="1")
    one.pass_time(5_000)
    assert queue_of(one, HALF) == []
    assert end(one, reply).code == 0
    one.pass_time(5_000)
    assert queue_of(one, "T", 1) == queue_of(one, HALF) == []


# -- asking back ---------------------------------------------------------------------------------------------


def test_a_silent_producer_is_asked_about_a_copy(asked, profile):
    one = asked(profile, **QUICK)
    produces(one)
    reply = half(one)
    one.pass_time(1_999)
    assert questions(one) == []
    one.pass_time(1)
    [question] = questions(one)
    ext = question.command.ext
    assert (ext["tranStateTableOffset"], ext["msgId"], ext["transactionId"]) == ("1", "U", "U")
    assert ext["offsetMsgId"][16:] == f"{int(ext['commitLogOffset']):016X}"
    assert ext.get("topic") == (HALF if profile == "5.3" else None)
    message = decode_message(question.command.body)
    assert (message.topic, message.queue_id, message.body) == ("T", 1, b"hello")
    assert message.properties["TRANSACTION_CHECK_TIMES"] == "1"
    copy = {"tranStateTableOffset": 1, "commitLogOffset": ext["commitLogOffset"]}
    assert end(one, reply, fromTransactionCheck="true", **copy).code == 0
    assert len(queue_of(one, "T", 1)) == 1
    assert end(one, reply).code == 0
    one.pass_time(100_000)
    assert len(queue_of(one, "T", 1)) == 1
    assert questions(one) == []


def test_an_end_of_the_first_copy_ends_the_newest(asked, profile):
    one = asked(profile, **QUICK)
    produces(one)
    reply = half(one)
    one.pass_time(2_000)
    assert len(questions(one)) == 1
    end(one, reply)
    one.pass_time(100_000)
    assert questions(one) == []
    assert queue_of(one, GIVEN_UP) == []
    assert len(queue_of(one, "T", 1)) == 1


def test_a_producer_is_asked_so_often_and_then_the_message_is_put_aside(asked, profile):
    one = asked(profile, **QUICK)
    produces(one)
    half(one)
    one.pass_time(4_000)
    assert len(questions(one)) == 2
    assert queue_of(one, GIVEN_UP) == []
    one.pass_time(2_000)
    [given_up] = queue_of(one, GIVEN_UP)
    assert given_up.properties["TRANSACTION_CHECK_TIMES"] == "2"
    one.pass_time(100_000)
    assert questions(one) == []
    assert queue_of(one, "T", 1) == []
    assert len(queue_of(one, GIVEN_UP)) == 1


def test_the_rounds_are_those_of_the_line(asked, profile):
    one = asked(profile)
    produces(one)
    half(one)
    interval = 30_000 if profile == "5.3" else 60_000
    one.pass_time(interval - 1)
    assert questions(one) == []
    one.pass_time(1)
    assert len(questions(one)) == 1


def test_a_quiet_time_does_not_make_the_next_question_early(asked, profile):
    one = asked(profile, **QUICK)
    produces(one)
    end(one, half(one))
    one.pass_time(100_500)
    half(one, UNIQ_KEY="V")
    one.pass_time(999)
    assert questions(one) == []
    one.pass_time(2_000)
    assert len(questions(one)) == 1


def test_producers_of_the_group_are_asked_in_turn_and_no_others(asked, profile):
    one = asked(profile, **(QUICK | {"transactionCheckMax": 9}))
    for connection in (2, 3):
        produces(one, connection)
    produces(one, 4, group="other")
    half(one)
    one.pass_time(8_000)
    assert sorted(question.connection for question in questions(one)) == [2, 2, 3, 3]


def test_a_message_may_put_off_the_first_question(asked, profile):
    one = asked(profile, **QUICK)
    produces(one)
    reply = half(one, CHECK_IMMUNITY_TIME_IN_SECONDS="5")
    one.pass_time(5_999)
    assert questions(one) == []
    late = end(one, reply)
    assert late.code == (604 if profile == "5.3" else 0)
    one.pass_time(1)
    assert len(questions(one)) == (profile == "5.3")


@pytest.mark.parametrize("key", ["U", None])
def test_open_and_ended_transactions_survive_a_crash(profile, key):
    lasting = Lasting(profile, **QUICK)
    one = lasting.one
    committed, rolled_back = half(one, UNIQ_KEY="A"), half(one, UNIQ_KEY="B")
    end(one, committed)
    end(one, rolled_back, ROLLBACK)
    reply = half(one, UNIQ_KEY=key)
    one.pass_time(2_000)
    one = lasting.restart()
    produces(one)
    assert end(one, committed).code == end(one, rolled_back).code == 0
    assert len(queue_of(one, "T", 1)) == 1
    one.pass_time(2_000)
    [question] = questions(one)
    assert decode_message(question.command.body).properties["TRANSACTION_CHECK_TIMES"] == "2"
    ext = question.command.ext
    end(one, reply, **{name: ext[name] for name in ("tranStateTableOffset", "commitLogOffset")})
    assert len(queue_of(one, "T", 1)) == 2
    one = lasting.restart()
    produces(one)
    one.pass_time(100_000)
    assert questions(one) == []
    assert len(queue_of(one, "T", 1)) == 2


def test_a_restart_after_a_round_does_not_read_everything_again(profile):
    lasting = Lasting(profile, **QUICK)
    for _ in range(3):
        end(lasting.one, half(lasting.one))
    half(lasting.one, UNIQ_KEY="V")
    lasting.one.pass_time(2_000)
    lasting.one.pass_time(20_000)
    one = lasting.restart()
    assert one.broker.offsets.offset_of("CID_RMQ_SYS_TRANS", HALF, 0) >= 3


def test_a_commit_that_cannot_be_stored_leaves_the_transaction_open(asked, profile):
    one = asked(profile)
    reply = half(one)
    one.broker.store.is_full = True
    refused = end(one, reply)
    assert refused.code == ResponseCode.SERVICE_NOT_AVAILABLE
    assert refused.remark == "Service not available now."
    one.broker.store.is_full = False
    assert end(one, reply).code == 0
    assert len(queue_of(one, "T", 1)) == 1
