"""A synchronous master is killed again and again: what it acknowledged is on its slave, byte by byte.

One of the two is Apache's Broker. `RMQ_KILLS` says how often the master is killed (2), `RMQ_MESSAGES` how
many messages are acknowledged at the least (4000), `RMQ_SEED` what is sent.
"""

from __future__ import annotations

import contextlib
import os
import signal
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from clusters import apache_broker, missing, our_nameserver
from killed_masters import Load, OurBroker, log_of, queue_ends
from peers import Broker, settled

from harness.targets import TargetError

pytestmark = [pytest.mark.live, pytest.mark.soak]

VERSION, LINE = "5.3.3", "5.3"
KILLS = int(os.environ.get("RMQ_KILLS", "2"))
MESSAGES = int(os.environ.get("RMQ_MESSAGES", "4000"))
SEED = int(os.environ.get("RMQ_SEED", "1"))
COMMON = {
    "brokerClusterName": "killed",
    "brokerName": "killed",
    "mappedFileSizeCommitLog": str(16 << 20),
    "registerNameServerPeriod": "10000",
}
MASTER = {**COMMON, "brokerRole": "SYNC_MASTER", "inSyncReplicas": "2"}
SLAVE = {**COMMON, "brokerRole": "SLAVE", "brokerId": "1", "slaveReadEnable": "true"}
KINDS = ("apache", "ours")
WITHIN = 60.0
BEYOND_BUFFERS = 60_000
"""Messages that no connection to a slave holds: some 18 MB."""


@contextlib.contextmanager
def ours(nameserver: str, settings: dict[str, str]) -> Iterator[Broker]:
    broker = OurBroker(LINE, nameserver, **settings)
    try:
        yield broker
    finally:
        broker.stop()


@pytest.mark.parametrize("master_is", KINDS)
def test_what_a_killed_master_acknowledged_is_on_its_slave(master_is: str, tmp_path: Path) -> None:
    began = time.monotonic()
    try:
        with contextlib.ExitStack() as stack:
            nameserver = stack.enter_context(our_nameserver(LINE, tmp_path))
            roles = {kind: MASTER if kind == master_is else SLAVE for kind in KINDS}
            brokers = {
                "apache": stack.enter_context(apache_broker(VERSION, nameserver, **roles["apache"])),
                "ours": stack.enter_context(ours(nameserver, roles["ours"])),
            }
            master = brokers.pop(master_is)
            (slave,) = brokers.values()
            load = Load(master, SEED)
            load.wait_for_the_slave()
            for kill in range(1, KILLS + 1):
                since = load.ends()
                load.until_killed(MESSAGES * kill // KILLS)
                settled(
                    lambda since=since: load.missing(slave.address, since) == [],
                    "the slave alone serves what was acknowledged",
                    within=WITHIN,
                )
                master.start_again()
                load.wait_for_the_slave()
            settled(lambda: log_of(slave) == log_of(master), "the logs are the same", within=WITHIN)
            settled(
                lambda: queue_ends(slave.address) == queue_ends(master.address),
                "the slave has found all messages of its log",  # Apache's does so behind what it stores
                within=WITHIN,
            )
            assert load.missing(master.address) == []
            assert load.missing(slave.address) == []
            end, checksum = log_of(master)
            sys.stdout.write(
                f"\nmaster {master_is}: {KILLS} kills, {load.count} messages acknowledged, answers "
                f"{dict(sorted(load.codes.items()))}, log of {end} bytes {checksum[:16]} on both sides, "
                f"{time.monotonic() - began:.0f} s\n"
            )
    except TargetError as problem:
        missing(problem)


def test_what_a_master_acknowledged_for_itself_is_missed(tmp_path: Path) -> None:
    alone = {**MASTER, "inSyncReplicas": "1"}
    with (
        our_nameserver(LINE, tmp_path) as nameserver,
        ours(nameserver, alone) as master,
        ours(nameserver, SLAVE) as slave,
    ):
        load = Load(master, SEED)
        load.wait_for_the_slave()
        os.kill(slave.pid, signal.SIGSTOP)
        load.until_killed(BEYOND_BUFFERS)
        os.kill(slave.pid, signal.SIGCONT)
        assert load.missing(slave.address)
