"""Chapter replication: what a master pushes to its slaves, and which of them it keeps."""

import struct

from harness.conformance import ANYTHING, Between, Closed, Pushed, Reply, Silence, case
from harness.conformance.broker.replication.logs import FILE, SUCCESS, end, put, stored
from harness.session import BrokerSession

SMALL_FILES = {"mappedFileSizeCommitLog": str(FILE), "haTransferBatchSize": "100000"}
LARGE = b"l" * (40 << 10)
"""The body of a message of which a small file has room for one only."""


@case(kills=["pushes-from-the-beginning", "pushes-without-header-size", "pushes-little-endian"])
def test_master_pushes_from_reported_offset(bk: BrokerSession) -> None:
    topic = bk.topic()
    _, second, third = (put(bk, topic, body) for body in (b"one", b"the second", "drei: \u4e09".encode()))
    slave = bk.slave()
    slave.report(second)
    pushed = slave.pushed(end(bk, third) - second)
    pushed.place >> Pushed((second, ANYTHING))
    for offset in (second, third):
        pushed.part(offset, len(stored(bk, offset))) >> Pushed(stored(bk, offset))


@case(kills=["pushes-once", "pushes-to-the-first-slave"])
def test_master_pushes_what_is_stored_later(bk: BrokerSession) -> None:
    topic = bk.topic()
    begin = end(bk, put(bk, topic, b"before"))
    slaves = [bk.slave(), bk.slave()]
    for slave in slaves:
        slave.report(begin)
    for body in (b"a", b"large " * 20_000):
        offset = put(bk, topic, body)
        size = len(stored(bk, offset))
        for slave in slaves:
            slave.pushed(offset + size - begin).part(offset, size) >> Pushed(stored(bk, offset))
        begin = offset + size


@case(kills=["pushes-before-a-report", "report-must-come-whole"])
def test_nothing_is_pushed_before_a_report(bk: BrokerSession) -> None:
    offset = put(bk, bk.topic(), b"there")
    report = struct.pack(">q", offset)
    slave = bk.slave()
    slave.write(report[:5])
    slave.next_push(within=2) >> Silence()
    slave.write(report[5:])
    size = len(stored(bk, offset))
    slave.pushed(size).part(offset, size) >> Pushed(stored(bk, offset))


@case(kills=["empty-slave-gets-everything"], own_server=True, setup=SMALL_FILES)
def test_empty_slave_gets_the_last_file(bk: BrokerSession) -> None:
    topic = bk.topic()
    first = bk.slave()
    first.report(0)
    put(bk, topic, LARGE)
    first.pushed(1).place >> Pushed((0, ANYTHING))
    put(bk, topic, LARGE)
    second = bk.slave()
    second.report(0)
    second.pushed(1).place >> Pushed((FILE, ANYTHING))


@case(kills=["log-has-no-blanks", "push-goes-over-files"], own_server=True, setup=SMALL_FILES)
def test_blanks_are_pushed(bk: BrokerSession) -> None:
    topic = bk.topic()
    offset = put(bk, topic, LARGE)
    begin = end(bk, offset)
    put(bk, topic, LARGE)
    bk.view(FILE).bodies >> Reply(SUCCESS, [LARGE])
    slave = bk.slave()
    slave.report(begin)
    blank = slave.pushed(1)
    blank.place >> Pushed((begin, FILE - begin))
    blank.part(begin, 8) >> Pushed(struct.pack(">II", FILE - begin, 0xCBD43194))
    slave.pushed(len(stored(bk, FILE))).data >> Pushed(stored(bk, FILE))


@case(kills=["reports-move-pushes"])
def test_later_reports_move_nothing(bk: BrokerSession) -> None:
    topic = bk.topic()
    first, second = put(bk, topic, b"one"), put(bk, topic, b"two")
    slave = bk.slave()
    slave.report(first)
    pushed = slave.pushed(end(bk, second) - first).place >> Pushed((first, ANYTHING))
    slave.report(second)
    put(bk, topic, b"three")
    slave.pushed(1).place >> Pushed((first + pushed.value[1], ANYTHING))


@case(kills=["takes-reports-from-beyond"])
def test_report_from_beyond_ends_the_connection(bk: BrokerSession) -> None:
    offset = put(bk, bk.topic(), b"one")
    slave = bk.slave()
    slave.report(offset)
    slave.pushed(len(stored(bk, offset))).place >> Pushed((offset, ANYTHING))
    slave.report(1 << 40)
    slave.closes() >> Closed()


@case(kills=["no-line-takes-reports-from-beyond"])
def test_report_from_beyond_is_noted(bk: BrokerSession) -> None:
    topic = bk.topic()
    offset = put(bk, topic, b"one")
    slave = bk.slave()
    slave.report(offset)
    pushed = slave.pushed(len(stored(bk, offset))).place >> Pushed((offset, ANYTHING))
    slave.report(1 << 40)
    put(bk, topic, b"two")
    slave.pushed(1).place >> Pushed((offset + pushed.value[1], ANYTHING))


@case(kills=["pushes-whole-messages"])
def test_middle_of_a_message_is_pushed(bk: BrokerSession) -> None:
    topic = bk.topic()
    put(bk, topic, b"one")
    offset = put(bk, topic, b"two")
    rest = stored(bk, offset)[50:]
    slave = bk.slave()
    slave.report(offset + 50)
    slave.pushed(len(rest)).part(offset + 50, len(rest)) >> Pushed(rest)


@case(kills=["slave-ahead-is-moved-back"], setup={"haSendHeartbeatInterval": "2000"})
def test_slave_that_is_ahead_gets_heartbeats(bk: BrokerSession) -> None:
    ahead = end(bk, put(bk, bk.topic(), b"one")) + 100_000_000
    slave = bk.slave()
    slave.report(ahead)
    slave.next_push(within=4).place >> Pushed((ahead, 0))
    slave.next_push(within=4).place >> Pushed((ahead, 0))


@case(kills=["pushes-twice-a-batch"], own_server=True, setup={"haTransferBatchSize": "1000"})
def test_push_has_at_most_a_batch(bk: BrokerSession) -> None:
    put(bk, bk.topic(), b"x" * 2_500)
    size = len(stored(bk, 0))
    slave = bk.slave()
    slave.report(0)
    for begin in range(0, size, 1_000):
        slave.pushed(1).place >> Pushed((begin, min(1_000, size - begin)))


@case(
    kills=["heartbeats-before-a-report"],
    clock=True,
    own_server=True,
    setup={"haSendHeartbeatInterval": "2000"},
)
def test_no_heartbeats_before_a_report(bk: BrokerSession) -> None:
    put(bk, bk.topic(), b"one")
    end, slave = len(stored(bk, 0)), bk.slave()
    slave.next_push(within=5) >> Silence()
    slave.report(end)
    slave.next_push(within=4).place >> Pushed((end, 0))


@case(
    kills=[
        "no-heartbeats",
        "heartbeats-are-early",
        "one-heartbeat",
        "pushes-delay-no-heartbeat",
        "heartbeats-wait-for-the-last-slave",
        "heartbeats-have-a-negative-size",
    ],
    clock=True,
    own_server=True,
    setup={"haSendHeartbeatInterval": "2000"},
)
def test_master_sends_heartbeats(bk: BrokerSession) -> None:
    topic = bk.topic()
    put(bk, topic, b"one")
    size = len(stored(bk, 0))
    slave = bk.slave()
    slave.report(0)
    slave.pushed(size).place >> Pushed((0, size))
    for _ in range(2):
        beat = slave.next_push(within=4)
        beat.place >> Pushed((size, 0))
        beat.seconds >> Pushed(Between(2 - bk.jitter, 2.5 + bk.jitter))
    bk.advance(1)
    put(bk, topic, b"two")
    more = len(stored(bk, size))
    slave.pushed(more).place >> Pushed((size, more))
    beat = slave.next_push(within=4)
    beat.place >> Pushed((size + more, 0))
    beat.seconds >> Pushed(Between(2 - bk.jitter, 2.5 + bk.jitter))
    bk.advance(1)
    later = bk.slave()
    later.report(size + more)
    for one in (slave, later, slave, later):  # 1 s apart
        beat = one.next_push(within=4)
        beat.place >> Pushed((size + more, 0))
        beat.seconds >> Pushed(Between(0.5 - bk.jitter, 1.5 + bk.jitter))


@case(
    kills=["silent-slaves-stay", "slaves-leave-early", "reports-do-not-count"],
    clock=True,
    own_server=True,
    setup={"haHousekeepingInterval": "20000"},
)
def test_silent_slave_is_disconnected(bk: BrokerSession) -> None:
    topic, busy, silent = bk.topic(), bk.slave(), bk.slave()
    size = end(bk, put(bk, topic, b"pushed to both"))
    for slave in (busy, silent):
        slave.report(0)
        slave.pushed(size).place >> Pushed((0, size))
    began = bk.mark()
    for slave in (silent, busy):
        slave.report(size)
    bk.advance(14)
    more = len(stored(bk, put(bk, topic, b"and once more")))
    for slave in (busy, silent):
        slave.pushed(more).place >> Pushed((size, more))
    busy.report(size + more)
    bk.advance_short_of(20, since=began)
    silent.closes(within=0) >> Silence()
    bk.advance(3)
    silent.closes(within=bk.overlap) >> Closed()
    offset = put(bk, topic, b"one")
    busy.pushed(len(stored(bk, offset))).data >> Pushed(stored(bk, offset))


@case(
    kills=["status-shows-one-slave", "status-takes-all-slaves-for-in-sync", "status-shows-what-was-pushed"],
    clock=True,
    own_server=True,
    setup={"haMaxGapNotInSync": "1000"},
)
def test_status_shows_slaves(bk: BrokerSession) -> None:
    topic = bk.topic()
    put(bk, topic, b"x" * 700)
    all_of_it = end(bk, put(bk, topic, b"y" * 700))
    late, current = bk.slave(), bk.slave()
    for slave in (late, current):
        slave.report(0)
        slave.pushed(all_of_it).place >> Pushed((0, all_of_it))
    current.report(all_of_it)
    for rate in (ANYTHING, 0):  # the second one once nothing was pushed for seconds
        shown = {"transferFromWhere": all_of_it, "transferredByteInSecond": rate}
        slaves = [
            {"addr": late.peer, "slaveAckOffset": 0, "diff": all_of_it, "inSync": False, **shown},
            {"addr": current.peer, "slaveAckOffset": all_of_it, "diff": 0, "inSync": True, **shown},
        ]
        bk.replication_status().json.eventually() >> Reply(
            SUCCESS,
            {
                "master": True,
                "masterCommitLogMaxOffset": all_of_it,
                "inSyncSlaveNums": 1,
                "haConnectionInfo": slaves,
                "haClientRuntimeInfo": {
                    "lastReadTimestamp": 0,
                    "lastWriteTimestamp": 0,
                    "masterFlushOffset": 0,
                    "maxOffset": 0,
                    "transferredByteInSecond": 0,
                },
            },
        )
        bk.advance(3)
