"""Chapter replication: where pushes, messages and files of the log end."""

from itertools import pairwise

from harness.conformance import AnyOf, Closed, Pushed, Reply, case
from harness.conformance.broker.replication.following import (
    SLAVE,
    SMALL_FILES,
    TOLD_WITHIN,
    TOPIC,
    followed,
    fourth,
)
from harness.conformance.broker.replication.logs import FILE, SUCCESS
from harness.session import BrokerSession

MEGABYTE = 1 << 20
HOSTS = (
    "[2001:db8::7]:654",
    "10.9.8.7:654",
    "10.9.8.9:321",
    "[2001:db8::8]:77",
    "[2001:db8::9]:78",
    "10.9.8.6:5",
)
TIME = 1_700_000_000_000
LONGEST = 4 * MEGABYTE - 12
"""Bytes of the longest push that a slave has room for, without its header."""


def messages_of(bk: BrokerSession, size: int) -> bytes:
    """Messages of together `size` bytes."""
    log, number = bytearray(), 0
    around = len(bk.logged(TOPIC, b"", at=0, number=0))
    while left := size - len(log):
        whole = left if left < 2 * MEGABYTE else MEGABYTE
        log += bk.logged(TOPIC, b"x" * (whole - around), at=len(log), number=number)
        number += 1
    return bytes(log)


@case(kills=["slave-has-room-for-more", "slave-has-room-for-less"], clock=True, own_server=True, setup=SLAVE)
def test_slave_takes_pushes_of_four_megabytes(bk: BrokerSession) -> None:
    master = followed(bk)
    log = messages_of(bk, LONGEST + 1)
    master.push(0, log)
    master.report(len(log), within=6).offset >> AnyOf(Pushed(0), Closed())
    master.leaves()
    master.report(0, within=TOLD_WITHIN).offset >> Pushed(0)
    log = messages_of(bk, LONGEST)
    master.push(0, log)
    master.report(len(log)).offset >> Pushed(len(log))


@case(kills=["slave-stays-down-after-half-a-message"], clock=True, own_server=True, setup=SLAVE)
def test_slave_begins_again_after_half_a_message(bk: BrokerSession) -> None:
    master = followed(bk)
    message = bk.logged(TOPIC, b"one", at=0, number=0)
    master.push(0, message[:30])
    master.report(30).offset >> Pushed(30)
    bk.restart("kill")
    master.next_connection()
    master.next_report(within=TOLD_WITHIN).offset >> Pushed(0)
    master.push(0, message)
    master.report(len(message)).offset >> Pushed(len(message))
    bk.pull(TOPIC).bodies.eventually() >> Reply(SUCCESS, [b"one"])


@case(kills=["slave-stays-down-after-half-a-message"], clock=True, own_server=True, setup=SMALL_FILES)
def test_slave_begins_its_last_file_again(bk: BrokerSession) -> None:
    master = followed(bk)
    message = fourth(bk, master)
    master.push(FILE, message[:30])
    master.report(FILE + 30).offset >> Pushed(FILE + 30)
    bk.restart("kill")
    master.next_connection()
    master.next_report(within=TOLD_WITHIN).offset >> Pushed(FILE)
    master.push(FILE, message)
    end = FILE + len(message)
    master.report(end).offset >> Pushed(end)
    bk.pull(TOPIC, offset=3).eventually() >> Reply(SUCCESS, message)


@case(
    kills=[
        "times-are-behind-short-hosts",
        "times-end-early-behind-long-hosts",
        "earliest-times-are-behind-short-hosts",
    ],
    clock=True,
    own_server=True,
    setup=SLAVE,
)
def test_slave_finds_messages_of_long_hosts_by_time(bk: BrokerSession) -> None:
    master = followed(bk)
    log = b""
    for number, (born, store) in enumerate(pairwise(HOSTS)):
        log += bk.logged(
            TOPIC,
            b"%d" % number,
            at=len(log),
            number=number,
            born_host=born,
            store_host=store,
            store_timestamp=TIME + 1_000 * number,
        )
    master.push(0, log)
    master.report(len(log)).offset >> Pushed(len(log))
    bk.pull(TOPIC).eventually() >> Reply(SUCCESS, log)
    for number in range(len(HOSTS) - 1):
        bk.offset_at(TOPIC, 0, TIME + 1_000 * number).offset.eventually() >> Reply(SUCCESS, number)
    bk.earliest_time(TOPIC).number("timestamp") >> Reply(SUCCESS, TIME)
