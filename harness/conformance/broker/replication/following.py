"""Slaves of a master that the harness plays, for the cases about slaves."""

import struct

from harness.conformance import Closed, Including, Matching, Pushed, Reply
from harness.conformance.broker.registrations import REGISTER
from harness.conformance.broker.replication.logs import FILE, SUCCESS
from harness.conformance.broker.tools import asked, state_of
from harness.session import BrokerSession
from harness.session.broker.replication import Master
from harness.wire import RequestCode, ResponseCode
from harness.wire.messages import BLANK_MAGIC

TOPIC = "BenchmarkTest"
"""Every Broker has it."""
SLAVE = {
    "brokerRole": "SLAVE",
    "brokerId": "1",
    "slaveReadEnable": "true",
    "registerNameServerPeriod": "10000",
    "haSendHeartbeatInterval": "2000",
}
WRITTEN = 20
"""Protocol seconds after which a Broker has surely written which timed messages wait."""
TOLD_WITHIN = 20
"""Protocol seconds in which a slave surely registers, hears of its master, and has connected and reported."""
AGAIN_WITHIN = 12
SET = "127.0.0.1:1"
"""Where nothing listens."""
FLUSHED = RequestCode.RESET_MASTER_FLUSH_OFFSET
NOT_FOUND = ResponseCode.PULL_NOT_FOUND


def followed(bk: BrokerSession, log_ends_at: int = 0) -> Master:
    """A master that the slave has reported to."""
    master = bk.master()
    bk.nameserver.answers(REGISTER, ext={"haServerAddr": master.address})
    master.report(log_ends_at, within=TOLD_WITHIN).offset >> Pushed(log_ends_at)
    return master


def pushed(bk: BrokerSession, master: Master, body: bytes = b"one") -> int:
    """Pushes the first message of the log; where it ends."""
    message = bk.logged(TOPIC, body, at=0, number=0)
    master.push(0, message)
    master.report(len(message)).offset >> Pushed(len(message))
    return len(message)


def started(bk: BrokerSession) -> int:
    """When the Broker started, by its own clock, in ms since the epoch."""
    shown = Including({"bootTimestamp": Matching(r"^\d{13}$")})
    state = asked(bk, RequestCode.GET_BROKER_RUNTIME_INFO, state_of) >> Reply(SUCCESS, shown)
    return int(state.value["bootTimestamp"])


def left(master: Master, end: int) -> None:
    """Pushes what the slave leaves its master for."""
    master.push(end + 5, b"")
    master.closes() >> Closed()
    master.next_connection()


SMALL_FILES = {**SLAVE, "mappedFileSizeCommitLog": str(FILE)}
"""Three messages of `LARGE` fill a file."""
LARGE = b"x" * 20_000


LONG_AGO = 1_500_000_000_000


def fourth(bk: BrokerSession, master: Master, newest: int = LONG_AGO) -> bytes:
    """Pushes a whole file with three messages; what its next message is. The third and the fourth were stored
    at `newest`, the others long ago.
    """
    file = bytearray()
    for number, at in enumerate((LONG_AGO, LONG_AGO, newest)):
        file += bk.logged(TOPIC, LARGE, at=len(file), number=number, store_timestamp=at)
    file += struct.pack(">II", FILE - len(file), BLANK_MAGIC).ljust(FILE - len(file), b"\0")
    master.push(0, bytes(file))
    master.report(FILE).offset >> Pushed(FILE)
    return bk.logged(TOPIC, LARGE, at=FILE, number=3, store_timestamp=newest)
