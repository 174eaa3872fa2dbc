"""Chapter replication: what a slave reports, and what becomes of what it is pushed."""

import struct
from functools import partial

from harness.conformance import ANYTHING, Between, Closed, Including, Pushed, Reply, Silence, case
from harness.conformance.broker.registrations import REGISTER, next_of_time
from harness.conformance.broker.replication.following import (
    AGAIN_WITHIN,
    FLUSHED,
    NOT_FOUND,
    SET,
    SLAVE,
    TOLD_WITHIN,
    TOPIC,
    WRITTEN,
    followed,
    left,
    pushed,
    started,
)
from harness.conformance.broker.replication.logs import SUCCESS
from harness.conformance.broker.role.changing import MASTER
from harness.conformance.broker.transaction.halves import COMMIT, ROLL_BACK
from harness.session import BrokerSession
from harness.wire import RequestCode, ResponseCode
from harness.wire.messages import TopicName


@case(
    kills=[
        "slave-reports-once",
        "slave-reports-no-growth",
        "slave-does-not-connect",
        "slave-reports-into-silence-only",
    ],
    clock=True,
    own_server=True,
    setup=SLAVE,
)
def test_slave_reports_where_its_log_ends(bk: BrokerSession) -> None:
    master = followed(bk)
    end = pushed(bk, master)
    master.next_report(within=4).offset >> Pushed(end)
    master.next_report(within=4).offset >> Pushed(end)
    for _ in range(10):
        bk.advance(1)
        master.push(end, b"")
    for _ in range(3):
        master.next_report(within=0).offset >> Pushed(end)


@case(
    kills=["slave-connects-once", "slave-is-led-back-by-nameservers"],
    clock=True,
    own_server=True,
    setup=SLAVE,
)
def test_slave_comes_again(bk: BrokerSession) -> None:
    master = followed(bk)
    end = pushed(bk, master)
    bk.nameserver.answers(REGISTER)
    master.leaves()
    master.next_report(within=AGAIN_WITHIN).offset >> Pushed(end)


@case(kills=["slave-comes-again-without-a-wait"], clock=True, own_server=True, setup=SLAVE)
def test_slave_waits_before_it_comes_again(bk: BrokerSession) -> None:
    master = followed(bk)
    end = pushed(bk, master)
    bk.nameserver.answers(REGISTER)
    for leave in (master.leaves, partial(left, master, end)):
        began = bk.mark()
        leave()
        bk.advance_short_of(4 - bk.jitter, since=began)
        master.next_report(within=0) >> Silence()
        master.next_report(within=5).offset >> Pushed(end)


@case(
    kills=["slave-waits-when-it-is-left", "slave-waits-when-it-has-left"],
    clock=True,
    own_server=True,
    setup={**SLAVE, "haSendHeartbeatInterval": "1000"},
)
def test_slave_comes_again_at_once(bk: BrokerSession) -> None:
    master = followed(bk)
    end = pushed(bk, master)
    bk.nameserver.answers(REGISTER)
    for leave in (master.leaves, partial(left, master, end)):
        leave()
        master.next_report(within=4).offset >> Pushed(end)


@case(
    kills=["slave-stays-with-a-silent-master", "slave-leaves-early", "slave-is-led-back-by-nameservers"],
    clock=True,
    own_server=True,
    setup={**SLAVE, "haHousekeepingInterval": "20000"},
)
def test_slave_leaves_a_silent_master(bk: BrokerSession) -> None:
    master = followed(bk)
    bk.nameserver.answers(REGISTER)
    bk.advance(10)
    master.push(0, b"")
    began = bk.mark()
    bk.advance_short_of(20, since=began)
    master.closes(within=0) >> Silence()
    bk.advance(3)
    master.closes(within=bk.overlap) >> Closed()
    master.next_connection()
    master.next_report(within=AGAIN_WITHIN).offset >> Pushed(0)


@case(kills=["slave-moves-at-once", "slave-never-moves"], clock=True, own_server=True, setup=SLAVE)
def test_slave_moves_when_its_connection_ends(bk: BrokerSession) -> None:
    master, other = followed(bk), bk.master()
    bk.nameserver.answers(REGISTER, ext={"haServerAddr": other.address})
    next_of_time(bk, next_of_time(bk))
    end = pushed(bk, master)
    other.next_report(within=0) >> Silence()
    master.leaves()
    other.next_report(within=AGAIN_WITHIN).offset >> Pushed(end)


@case(
    kills=["slave-is-led-away-by-nameservers"],
    clock=True,
    own_server=True,
    setup={**SLAVE, "haMasterAddress": SET},
)
def test_slave_copies_from_where_it_is_set_to(bk: BrokerSession) -> None:
    other = bk.master()
    bk.nameserver.answers(REGISTER, ext={"haServerAddr": other.address})
    next_of_time(bk, next_of_time(bk))
    other.next_report(within=AGAIN_WITHIN) >> Silence()


@case(kills=["slave-minds-no-offer"], clock=True, own_server=True, setup=SLAVE)
def test_slave_follows_who_offers(bk: BrokerSession) -> None:
    master = bk.master()
    offer = {"masterHaAddress": master.address, "masterAddress": bk.address(), "masterFlushOffset": "5"}
    bk.call(RequestCode.EXCHANGE_BROKER_HA_INFO, offer) >> Reply(SUCCESS)
    master.next_report(within=AGAIN_WITHIN).offset >> Pushed(0)


@case(
    kills=["slave-takes-the-first-message", "slave-makes-no-queues", "slave-forgets-keys"],
    clock=True,
    own_server=True,
    setup=SLAVE,
)
def test_slave_stores_what_it_is_pushed(bk: BrokerSession) -> None:
    master = followed(bk)
    first = bk.logged(TOPIC, b"a" * 70_000, at=0, number=0, queue=1, keys="schl\u00fcssel", tags="x")
    second = bk.logged(TOPIC, b"zwei", at=len(first), number=0, queue=3, keys="\u9470")
    end = len(first) + len(second)
    master.push(0, first + second)
    master.report(end).offset >> Pushed(end)
    for queue, message in ((1, first), (3, second)):
        bk.pull(TOPIC, queue).eventually() >> Reply(SUCCESS, message)
    for key, message in (("schl\u00fcssel", first), ("\u9470", second)):
        bk.find(TOPIC, key).eventually() >> Reply(SUCCESS, message)
    bk.view(len(first)) >> Reply(SUCCESS, second)


@case(
    kills=["slave-stores-pieces-of-a-push", "slave-takes-whole-messages-only"],
    clock=True,
    own_server=True,
    setup=SLAVE,
)
def test_slave_waits_for_the_rest(bk: BrokerSession) -> None:
    master = followed(bk)
    first = bk.logged(TOPIC, b"one", at=0, number=0)
    whole = struct.pack(">qi", 0, len(first)) + first
    master.write(whole[:40])
    master.next_report(within=4).offset >> Pushed(0)
    master.write(whole[40:])
    begin = len(first)
    master.report(begin).offset >> Pushed(begin)
    second = bk.logged(TOPIC, b"two", at=begin, number=1)
    master.push(begin, second[:30])
    master.report(begin + 30).offset >> Pushed(begin + 30)
    bk.pull(TOPIC).eventually() >> Reply(SUCCESS, first)
    bk.max_offset(TOPIC).offset >> Reply(SUCCESS, 1)
    master.push(begin + 30, second[30:])
    bk.pull(TOPIC).eventually() >> Reply(SUCCESS, first + second)


@case(
    kills=["slave-takes-other-offsets", "slave-cuts-its-log", "slave-is-led-back-by-nameservers"],
    clock=True,
    own_server=True,
    setup=SLAVE,
)
def test_slave_leaves_a_master_with_another_offset(bk: BrokerSession) -> None:
    master = followed(bk)
    end = pushed(bk, master)
    bk.nameserver.answers(REGISTER)
    for begin, data in ((end - 3, b"overlaps"), (end + 5, b"")):
        master.push(begin, data)
        master.closes() >> Closed()
        master.next_connection()
        master.next_report(within=AGAIN_WITHIN).offset >> Pushed(end)
    bk.pull(TOPIC).bodies.eventually() >> Reply(SUCCESS, [b"one"])


@case(kills=["empty-slave-begins-at-nothing"], clock=True, own_server=True, setup=SLAVE)
def test_empty_slave_begins_anywhere(bk: BrokerSession) -> None:
    master = followed(bk)
    begin = 1 << 24
    message = bk.logged(TOPIC, b"eighth", at=begin, number=7)
    master.push(begin, message)
    master.report(begin + len(message)).offset >> Pushed(begin + len(message))
    pull = bk.pull(TOPIC, offset=7)
    pull.eventually() >> Reply(SUCCESS, message)
    pull.bounds >> Reply(SUCCESS, (7, 8))


@case(kills=["slave-skips-what-is-no-message"], clock=True, own_server=True, setup=SLAVE)
def test_nothing_behind_what_is_no_message(bk: BrokerSession) -> None:
    master = followed(bk)
    end = pushed(bk, master)
    rubbish = struct.pack(">I", 64).ljust(64, b"z")
    for piece in (rubbish, bk.logged(TOPIC, b"behind", at=end + 64, number=1)):
        master.push(end, piece)
        end += len(piece)
        master.report(end).offset >> Pushed(end)
    bk.pull(TOPIC).bodies.eventually() >> Reply(SUCCESS, [b"one"])
    bk.pull(TOPIC, offset=1).next_offset >> Reply(NOT_FOUND, 1)


@case(kills=["slave-minds-no-magic"], clock=True, own_server=True, setup=SLAVE)
def test_nothing_behind_another_magic(bk: BrokerSession) -> None:
    master = followed(bk)
    end = pushed(bk, master)
    other = bk.logged(TOPIC, b"other", at=end, number=1)
    for piece in (other[:4] + bytes(4) + other[8:], bk.logged(TOPIC, b"two", at=end + len(other), number=2)):
        master.push(end, piece)
        end += len(piece)
        master.report(end).offset >> Pushed(end)
    bk.pull(TOPIC).bodies.eventually() >> Reply(SUCCESS, [b"one"])
    bk.pull(TOPIC, offset=1).next_offset >> Reply(NOT_FOUND, 1)


@case(kills=["slave-keeps-half-messages"], clock=True, own_server=True, setup=SLAVE)
def test_slave_keeps_whole_messages(bk: BrokerSession) -> None:
    master = followed(bk)
    end = pushed(bk, master)
    second = bk.logged(TOPIC, b"two", at=end, number=1)
    master.push(end, second[:30])
    master.report(end + 30).offset >> Pushed(end + 30)
    bk.restart("kill")
    master.next_connection()
    master.next_report(within=TOLD_WITHIN).offset >> Pushed(end)
    bk.pull(TOPIC, most=1).bodies.eventually() >> Reply(SUCCESS, [b"one"])
    master.push(end, second)
    bk.pull(TOPIC, offset=1).bodies.eventually() >> Reply(SUCCESS, [b"two"])


@case(kills=["promoted-slaves-see-to-no-delays"], clock=True, own_server=True, setup=SLAVE)
def test_promoted_slave_delivers_what_waits(bk: BrokerSession) -> None:
    master, log = followed(bk), b""
    for queue, (level, number) in enumerate(((2, 0), (3, 0), (3, 1))):
        said = {"DELAY": str(level), "REAL_TOPIC": TOPIC, "REAL_QID": str(queue)}
        body, at = b"%d" % queue, len(log)
        log += bk.logged(TopicName.SCHEDULE, body, at=at, number=number, queue=level - 1, properties=said)
    master.push(0, log)
    master.report(len(log)).offset >> Pushed(len(log))
    bk.advance(5 + bk.jitter)
    for queue in range(3):
        bk.max_offset(TOPIC, queue).offset >> Reply(SUCCESS, 0)
    bk.update_config(MASTER) >> Reply(SUCCESS)
    bk.restart()
    bk.update_config(MASTER) >> Reply(SUCCESS)
    bk.advance(5 + bk.jitter)
    for queue in range(3):
        bk.pull(TOPIC, queue).bodies.eventually() >> Reply(SUCCESS, [b"%d" % queue])


@case(
    kills=["pushed-transactions-cannot-be-ended", "promoted-slaves-end-one-transaction"],
    own_server=True,
    clock=True,
    setup=SLAVE,
)
def test_promoted_slave_ends_transactions(bk: BrokerSession) -> None:
    master, log, group, places = followed(bk), b"", bk.group(), []
    for number in range(3):
        said = {"TRAN_MSG": "true", "PGROUP": group, "UNIQ_KEY": bk.name("key")}
        said |= {"REAL_TOPIC": TOPIC, "REAL_QID": str(number)}
        places.append((number, len(log)))
        log += bk.logged(TopicName.TRANS_HALF, b"%d" % number, at=len(log), number=number, properties=said)
    master.push(0, log)
    master.report(len(log)).offset >> Pushed(len(log))
    bk.end_transaction(group, *places[0], COMMIT) >> Reply(ResponseCode.SLAVE_NOT_AVAILABLE)
    bk.update_config(MASTER) >> Reply(SUCCESS)
    for place, how in zip(places, (COMMIT, ROLL_BACK, COMMIT), strict=True):
        bk.end_transaction(group, *place, how) >> Reply(SUCCESS)
    for queue, end in enumerate((1, 0, 1)):
        bk.max_offset(TOPIC, queue).offset.eventually() >> Reply(SUCCESS, end)
    for queue in (0, 2):
        bk.pull(TOPIC, queue).bodies.eventually() >> Reply(SUCCESS, [b"%d" % queue])


@case(kills=["promoted-slaves-see-to-one-timer"], clock=True, own_server=True, setup=SLAVE)
def test_promoted_slave_delivers_what_is_timed(bk: BrokerSession) -> None:
    master, log = followed(bk), b""
    due = (started(bk) // 1_000 + 300) * 1_000
    for number in range(3):
        said = {"TIMER_DELIVER_MS": str(due), "TIMER_OUT_MS": str(due - 1_000), "UNIQ_KEY": bk.name("key")}
        said |= {"REAL_TOPIC": TOPIC, "REAL_QID": str(number)}
        log += bk.logged(TopicName.TIMER, b"%d" % number, at=len(log), number=number, properties=said)
    master.push(0, log)
    master.report(len(log)).offset >> Pushed(len(log))
    bk.update_config(MASTER) >> Reply(SUCCESS)
    bk.send(TOPIC, b"3", 3, properties={"TIMER_DELIVER_MS": str(due)}) >> Reply(SUCCESS)
    bk.advance(WRITTEN)
    for queue in range(4):
        bk.max_offset(TOPIC, queue).offset >> Reply(SUCCESS, 0)
    bk.restart()
    bk.update_config(MASTER) >> Reply(SUCCESS)
    bk.advance(300 + bk.jitter)
    for queue in range(4):
        bk.pull(TOPIC, queue, most=1).bodies.eventually() >> Reply(SUCCESS, [b"%d" % queue])


@case(kills=["settings-cut-half-messages"], clock=True, own_server=True, setup=SLAVE)
def test_slave_keeps_half_messages_while_settings_change(bk: BrokerSession) -> None:
    master = followed(bk)
    end = pushed(bk, master)
    second = bk.logged(TOPIC, b"two", at=end, number=1)
    master.push(end, second[:30])
    master.report(end + 30).offset >> Pushed(end + 30)
    bk.update_config({"traceOn": "true"}) >> Reply(SUCCESS)
    master.push(end + 30, second[30:])
    master.report(end + len(second)).offset >> Pushed(end + len(second))
    bk.pull(TOPIC, offset=1).bodies.eventually() >> Reply(SUCCESS, [b"two"])


@case(kills=["slave-shows-itself-as-master"], clock=True, own_server=True, setup=SLAVE)
def test_slave_shows_how_far_it_is(bk: BrokerSession) -> None:
    master = followed(bk)
    end = pushed(bk, master)
    shown = {
        "masterAddr": master.address,
        "maxOffset": end,
        "masterFlushOffset": 0,
        "transferredByteInSecond": ANYTHING,
        "lastReadTimestamp": Between(1_000_000_000_000, 9_999_999_999_999),
        "lastWriteTimestamp": Between(1_000_000_000_000, 9_999_999_999_999),
    }
    bk.replication_status().json.eventually() >> Reply(
        SUCCESS,
        {
            "master": False,
            "masterCommitLogMaxOffset": 0,
            "inSyncSlaveNums": 0,
            "haConnectionInfo": [],
            "haClientRuntimeInfo": shown,
        },
    )


def flushed(bk: BrokerSession, offset: int) -> None:
    """Status 907 shows this as masterFlushOffset."""
    shown = Including({"haClientRuntimeInfo": Including({"masterFlushOffset": offset})})
    bk.replication_status().json >> Reply(SUCCESS, shown)


@case(
    kills=["flushed-offset-is-forgotten", "flushed-offset-becomes-none", "flushed-offset-is-never-0-again"],
    own_server=True,
    setup=SLAVE,
)
def test_slave_notes_flushed_offset(bk: BrokerSession) -> None:
    for offset in (77, 5_000_000_000, 0):
        bk.call(FLUSHED, {"masterFlushOffset": str(offset)}) >> Reply(SUCCESS)
        bk.call(FLUSHED, {}) >> Reply(SUCCESS)
        flushed(bk, offset)


@case(kills=["master-notes-flushed-offset"], apart=True)
def test_master_notes_no_flushed_offset(bk: BrokerSession) -> None:
    bk.call(FLUSHED, {"masterFlushOffset": "77"}) >> Reply(SUCCESS)
    flushed(bk, 0)
