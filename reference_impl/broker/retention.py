"""How long messages are kept: files of the log that are older than `fileReservedTime` go, at `deleteWhen`.

1. A file is as old as the first message behind it, and goes as a whole; the last one stays.
2. An administrator may ask for it at any hour (329); the next twenty looks then delete what is too old.
3. What is still to be consumed is not asked for.

Source: DefaultMessageStore.CleanCommitLogService of rocketmq-all-4.9.8 and rocketmq-all-5.3.3, without what
it does when the disk is nearly full.
"""

from __future__ import annotations

from datetime import datetime
from typing import Final

from harness.wire import Command, RequestCode, ResponseCode
from reference_impl.remoting.reply import Reply
from reference_impl.remoting.requests import answers

from .part import Part

_HOUR = 3_600_000
_FIRST = 60_000
_LOOKS_WHEN_ASKED: Final = 20


class Retention(Part):
    """Looks every `cleanResourceInterval`, for the first time after a minute."""

    _next = 0
    _asked = 0

    @answers(RequestCode.DELETE_EXPIRED_COMMITLOG)
    def delete_when_asked(self, command: Command, connection: int, now: int) -> Reply:
        self._asked = _LOOKS_WHEN_ASKED
        return Reply(ResponseCode.SUCCESS)

    def next_tick(self) -> int:
        """When it looks next."""
        return self._next or self.broker.started + _FIRST

    def tick(self, now: int) -> None:
        """Deletes what is too old, if it is the time to do so."""
        self._next = now + self.config.clean_resource_interval
        if self.is_time(now) or self._asked > 0:
            self._asked = max(0, self._asked - 1)
            store = self.broker.store
            store.delete_before(store.first_file_since(now - self.config.file_reserved_time * _HOUR))

    # -- decisions (see parts.py) ----------------------------------------------------------------------------

    def is_time(self, now: int) -> bool:
        """Whether `now` is in one of the hours of `deleteWhen`, by the clock on the wall."""
        hour = datetime.fromtimestamp(now / 1000).astimezone().hour
        return any(part.strip() == f"{hour:02d}" for part in self.config.delete_when.split(";"))
