"""A slave's connection to the replication port of its master: where its own log ends, and what it is pushed.

1. Only a Broker that was started as a slave connects: to `haMasterAddress`, or where NameServers say. What
   fails is tried again after 5 s. A connection that has ended is made anew: at once in 4.9, after 5 s in 5.x.
2. It says where its log ends when the connection is made, when the log has grown, and after
   `haSendHeartbeatInterval` without a report.
3. A push that does not begin where the log ends closes the connection, unless the log is empty; what was
   pushed before stays. Nothing is cut off: a log that is longer than the master's stays so, and what it has
   and the master has not is never found out.
4. A master from which nothing was heard for `haHousekeepingInterval` is left. (Apache's slave of 4.9 looks at
   its own reports in place of that, and stays.)

Source: HAService.HAClient (rocketmq-all-4.9.8), DefaultHAClient (rocketmq-all-5.3.3).
"""

from __future__ import annotations

import struct
from typing import TYPE_CHECKING, Final

from harness.wire import Command, RequestCode, ResponseCode
from reference_impl.remoting import fields
from reference_impl.remoting.reply import Reply
from reference_impl.remoting.requests import answers

from .part import NEVER, Part

if TYPE_CHECKING:
    from .core import Broker

_REPORT: Final = struct.Struct(">q")
_HEADER: Final = struct.Struct(">qi")
_AGAIN: Final = 5_000
_LONGEST: Final = 4 << 20
"""Bytes of a push, with its header, that a slave has room for."""


class MasterLink(Part):
    """The connection to the master."""

    def __init__(self, broker: Broker) -> None:
        super().__init__(broker)
        self._follows = self.config.is_slave
        self._address = self.config.ha_master_address or None
        self._connection: int | None = None
        self._dial_at = broker.started if self._follows and self._address else NEVER
        self._is_dialling = False
        self._arrived = bytearray()
        self._reported = 0
        self._heard_at = self._wrote_at = 0
        self._received: tuple[int, int, int] = (0, 0, 0)
        """A second, the bytes that came in it, and those that came in the one before."""
        self.master_flushed = 0
        """Up to where the master's log was on its disk, as others have said."""

    # -- the connection --------------------------------------------------------------------------------------

    def __contains__(self, connection: int) -> bool:
        return connection == self._connection

    def told(self, address: str | None) -> None:
        """A NameServer has said where the master is copied from; None: it did not say."""
        if address is not None and not self.config.ha_master_address:
            self.follow(address)

    def follow(self, address: str | None) -> None:
        """From now on copy from there, once the present connection has ended; None: copy from no master."""
        if not self._follows:
            return
        self._address = address
        if address is not None and self._connection is None and not self._is_dialling:
            self._dial_at = 0

    def dialled(self, connection: int | None, now: int) -> None:
        """The connection is made; None: it cannot be."""
        self._is_dialling = False
        self._connection = connection
        if connection is None:
            self._dial_at = now + _AGAIN
            return
        self._arrived.clear()
        self._heard_at = now
        self._report(now)

    def lost(self, connection: int, now: int) -> None:
        if connection == self._connection:
            self._connection = None
            self._dial_at = self.again_at(now)

    def again_at(self, now: int) -> int:
        """When to connect anew after the end of a connection."""
        return now + _AGAIN if self.profile.v5 else now

    def _leave(self, again_at: int) -> None:
        if self._connection is not None:
            self.broker.cut(self._connection)
        self._connection = None
        self._dial_at = again_at

    # -- what comes ------------------------------------------------------------------------------------------

    def received(self, connection: int, data: bytes, now: int) -> None:
        """Bytes of the master."""
        self._heard_at = now
        self._count(len(data), now)
        self._arrived += data
        if not self.config.is_slave:
            self._leave(NEVER)
        while self._connection is not None and len(self._arrived) >= _HEADER.size:
            offset, size = _HEADER.unpack_from(self._arrived)
            if not (self.fits(offset) and self.has_room_for(size)):
                self._leave(self.again_at(now))
                return
            end = _HEADER.size + size
            if len(self._arrived) < end:
                return
            self.store(offset, bytes(self._arrived[_HEADER.size : end]))
            del self._arrived[:end]
            if self.has_grown():
                self._report(now)

    def store(self, offset: int, data: bytes) -> None:
        """Store what was pushed, and find the messages that are whole now."""
        self.broker.store.raw.append(offset, data, self._heard_at)
        self.broker.transactions.is_behind = True

    def fits(self, offset: int) -> bool:
        """Whether a push that begins there can be taken."""
        return self._end() in (0, offset)

    def has_room_for(self, size: int) -> bool:
        """Whether the slave can take a push of this size, in bytes."""
        return 0 <= size <= _LONGEST - _HEADER.size

    def has_grown(self) -> bool:
        """Whether there is more of the log than was reported."""
        return self._end() > self._reported

    def _report(self, now: int) -> None:
        if self._connection is not None:
            self._reported, self._wrote_at = self._end(), now
            self.broker.write(self._connection, _REPORT.pack(self._reported))

    def _end(self) -> int:
        return self.broker.store.physical_range()[1]

    def _count(self, size: int, now: int) -> None:
        second = now // 1_000
        self._received = (
            second,
            (self._received[1] if second == self._received[0] else 0) + size,
            self.rate(now),
        )

    def rate(self, now: int) -> int:
        """Bytes that came in the last whole second."""
        second, current, before = self._received
        past = now // 1_000 - second
        return before if past == 0 else current if past == 1 else 0

    # -- time ------------------------------------------------------------------------------------------------

    def next_tick(self) -> int:
        if self._connection is None:
            return self._dial_at
        return min(
            self._wrote_at + self.config.ha_send_heartbeat_interval + 1,
            self._heard_at + self.patience() + 1,
        )

    def tick(self, now: int) -> None:
        if self._connection is None:
            self._dial_at = NEVER
            if self._address is not None and self.config.is_slave:
                self._is_dialling = True
                self.broker.dial(self._address)
        elif self._heard_at + self.patience() < now:
            self._leave(now)
        else:
            self._report(now)

    def patience(self) -> int:
        """ms without a push after which the master is left."""
        return self.config.ha_housekeeping_interval

    # -- what is shown ---------------------------------------------------------------------------------------

    def status(self, now: int) -> dict[str, object]:
        """How far this slave is, as 907 shows it; of a master, that it copies nothing."""
        shown: dict[str, object] = {
            "lastReadTimestamp": self._heard_at,
            "lastWriteTimestamp": self._wrote_at,
            "masterFlushOffset": self.master_flushed,
            "maxOffset": self._end() if self.config.is_slave else 0,
            "transferredByteInSecond": self.rate(now),
        }
        return shown if self._address is None else {"masterAddr": self._address, **shown}

    @answers(RequestCode.RESET_MASTER_FLUSH_OFFSET, v5=True)
    def reset_flushed(self, command: Command, connection: int, now: int) -> Reply:
        """908: a slave notes down where its master's log ends; a master passes it over."""
        offset = fields.int64(command.ext, "masterFlushOffset")
        if self.is_noted(offset):
            self.master_flushed = offset or 0
        return Reply(ResponseCode.SUCCESS)

    def is_noted(self, offset: int | None) -> bool:
        """Whether the offset of a 908 is kept."""
        return offset is not None and self.config.broker_id != 0
