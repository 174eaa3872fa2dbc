"""Slaves at the replication port: where each of them is, and the bytes of the log that go to it.

1. A slave says again and again where its log ends: 8 bytes, big-endian. What is pushed begins where its first
   report says; at 0, with the last file of the log. Of reports that arrive together the last one counts.
   A later one from beyond the end of the log ends the connection in 4.9.
2. A push is a header, offset in the log (8 bytes) and length (4), and that many bytes of one file. Nothing is
   looked at: what does not begin at a message is pushed all the same.
3. After `haSendHeartbeatInterval` without a push there is one of length 0. A slave from which nothing was
   heard for `haHousekeepingInterval` is disconnected.
4. Only what is handed to the storage is pushed, and no faster than the slave reads.

Source: HAService, HAConnection (rocketmq-all-4.9.8); DefaultHAService, DefaultHAConnection
(rocketmq-all-5.3.3).
"""

from __future__ import annotations

import struct
from typing import TYPE_CHECKING, Final

import msgspec

from harness.wire import Command, RequestCode, ResponseCode
from reference_impl.remoting.reply import Reply
from reference_impl.remoting.requests import answers

from .part import NEVER, Part

if TYPE_CHECKING:
    from .core import Broker

_REPORT: Final = struct.Struct(">q")
_HEADER: Final = struct.Struct(">qi")
_NOT_YET: Final = -1
_SECOND: Final = 1_000


class _Slave(msgspec.Struct):
    peer: str
    heard_at: int
    pushed_at: int
    unread: bytes = b""
    """The beginning of a report."""
    acknowledged: int = _NOT_YET
    """Where its log ended, as last reported."""
    next_offset: int = _NOT_YET
    """Where the next push begins."""
    second: int = 0
    """The second of the last push, and the bytes that were pushed in it and in the one before."""
    bytes_now: int = 0
    bytes_before: int = 0

    def rate(self, now: int) -> int:
        """Bytes that were pushed in the last whole second."""
        past = now // _SECOND - self.second
        return self.bytes_before if past == 0 else self.bytes_now if past == 1 else 0


class SlaveLinks(Part):
    """The connections of slaves."""

    def __init__(self, broker: Broker) -> None:
        super().__init__(broker)
        self._slaves: dict[int, _Slave] = {}
        self.farthest = 0
        """Where the log of the slave ended that has come farthest, of all that were ever connected."""

    # -- connections -----------------------------------------------------------------------------------------

    def connected(self, connection: int, peer: str, now: int) -> None:
        """A slave has connected."""
        self._slaves[connection] = _Slave(peer, heard_at=now, pushed_at=now)

    def __contains__(self, connection: int) -> bool:
        return connection in self._slaves

    def __len__(self) -> int:
        return len(self._slaves)

    def lost(self, connection: int, now: int) -> None:
        self._slaves.pop(connection, None)

    def received(self, connection: int, data: bytes, now: int) -> None:
        """Bytes of a slave: where its log ends."""
        slave = self._slaves[connection]
        slave.heard_at = now
        slave.unread += data
        whole = len(slave.unread) - len(slave.unread) % _REPORT.size
        if not whole:
            return
        (reported,) = _REPORT.unpack_from(slave.unread, whole - _REPORT.size)
        slave.unread = slave.unread[whole:]
        slave.acknowledged = reported
        if slave.next_offset == _NOT_YET:
            slave.next_offset = self.beginning(reported)
        elif self.is_impossible(reported):
            del self._slaves[connection]
            self.broker.cut(connection)
            return
        self.farthest = max(self.farthest, reported)
        self.broker.replicated_sends.acknowledged(now)

    def is_impossible(self, reported: int) -> bool:
        """Whether a report that is not the first ends the connection: in 4.9, one from beyond the log."""
        return not self.profile.v5 and reported > self.broker.store.physical_range()[1]

    def beginning(self, reported: int) -> int:
        """Where to begin for a slave whose first report this is: an empty one gets the last file."""
        return reported if reported else self.broker.store.raw.last_file()

    # -- pushing ---------------------------------------------------------------------------------------------

    def has_more(self, connection: int) -> bool:
        """Whether there is something to push to a slave."""
        slave = self._slaves[connection]
        low, high = self.broker.store.raw.range()
        return low <= slave.next_offset < high

    def push(self, connection: int, most: int, now: int) -> bytes:
        """What follows in the log: whole pushes of at least `most` bytes, if there is so much."""
        slave, pieces, size = self._slaves[connection], [], 0
        while size < most and self.has_more(connection):
            data = self.broker.store.raw.read(slave.next_offset, self.batch())
            pieces += [_HEADER.pack(slave.next_offset, len(data)), data]
            size += _HEADER.size + len(data)
            slave.next_offset += len(data)
        if size:
            self._count(slave, size, now)
        return b"".join(pieces)

    def _count(self, slave: _Slave, size: int, now: int) -> None:
        slave.pushed_at = now
        if now // _SECOND != slave.second:
            slave.bytes_before = slave.rate(now)
            slave.second, slave.bytes_now = now // _SECOND, 0
        slave.bytes_now += size

    def settle(self, now: int) -> None:
        for connection, slave in self._slaves.items():
            low, high = self.broker.store.physical_range()
            if low <= slave.next_offset < high:
                self.broker.go_on(connection)

    def batch(self) -> int:
        """Bytes of the log in one push, at most."""
        return self.config.ha_transfer_batch_size

    # -- time ------------------------------------------------------------------------------------------------

    def next_tick(self) -> int:
        return min((self._due(slave) for slave in self._slaves.values()), default=NEVER)

    def _due(self, slave: _Slave) -> int:
        beat = NEVER if slave.next_offset == _NOT_YET else slave.pushed_at + self.heartbeat() + 1
        return min(beat, slave.heard_at + self.patience() + 1)

    def tick(self, now: int) -> None:
        for connection, slave in list(self._slaves.items()):
            if slave.heard_at + self.patience() < now:
                del self._slaves[connection]
                self.broker.cut(connection)
            elif slave.next_offset != _NOT_YET and slave.pushed_at + self.heartbeat() < now:
                slave.pushed_at = now
                self.broker.write(connection, _HEADER.pack(slave.next_offset, 0))

    def heartbeat(self) -> int:
        """ms without a push after which there is an empty one."""
        return self.config.ha_send_heartbeat_interval

    def patience(self) -> int:
        """ms without a report after which a slave is disconnected."""
        return self.config.ha_housekeeping_interval

    # -- how far they are ------------------------------------------------------------------------------------

    def that_have(self, end: int) -> int:
        """How many slaves have said that they have the log up to an offset."""
        return sum(slave.acknowledged >= end for slave in self._slaves.values())

    def in_sync(self, end: int) -> int:
        """How many slaves are not too far behind a log that ends there."""
        return sum(self.is_in_sync(end - slave.acknowledged) for slave in self._slaves.values())

    def is_in_sync(self, behind: int) -> bool:
        """Whether a slave that is this far behind (bytes) counts as being in step."""
        return behind < self.config.ha_max_gap_not_in_sync

    @answers(RequestCode.GET_BROKER_HA_STATUS, v5=True)
    def status(self, command: Command, connection: int, now: int) -> Reply:
        """907: how far the slaves are, or how far this slave is."""
        end = self.broker.store.physical_range()[1]
        is_slave = self.config.is_slave
        slaves = [] if is_slave else self.shown(now)
        shown = {
            "haClientRuntimeInfo": self.broker.master_link.status(now),
            "haConnectionInfo": slaves,
            "inSyncSlaveNums": sum(bool(one["inSync"]) for one in slaves),
            "master": not is_slave,
            "masterCommitLogMaxOffset": 0 if is_slave else end,
        }
        return Reply(ResponseCode.SUCCESS, body=msgspec.json.encode(shown))

    def shown(self, now: int) -> list[dict[str, object]]:
        """All slaves, in the order in which they have connected."""
        end = self.broker.store.physical_range()[1]
        return [self._shown(slave, end, now) for slave in self._slaves.values()]

    def _shown(self, slave: _Slave, end: int, now: int) -> dict[str, object]:
        return {
            "addr": slave.peer,
            "diff": end - slave.acknowledged,
            "inSync": self.is_in_sync(end - slave.acknowledged),
            "slaveAckOffset": slave.acknowledged,
            "transferFromWhere": slave.next_offset,
            "transferredByteInSecond": slave.rate(now),
        }
