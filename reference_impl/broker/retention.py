"""How long messages are kept: files of the log that are older than `fileReservedTime` go, at `deleteWhen`.

1. A file is as old as the first message behind it, as its rest becomes a blank then; on a slave as what it
   was pushed last, until it is restarted. It goes as a whole; the last one stays. One look deletes ten files
   at the most.
2. An administrator may ask for it at any hour (329); the next twenty looks then delete what is too old.
3. Where more of the disk is used than `diskMaxUsedSpaceRatio`, what is too old goes at any hour; above
   `diskSpaceCleanForciblyRatio` the oldest files go, however old they are; above `diskSpaceWarningLevelRatio`
   nothing is stored, and nothing that waits is delivered.
4. Without a store on disk, the oldest files go as soon as the log is longer than `inMemoryLogBytes`.
5. What is still to be consumed is not asked for.

Source: DefaultMessageStore.CleanCommitLogService, MappedFileQueue#deleteExpiredFileByTime of
rocketmq-all-4.9.8 and rocketmq-all-5.3.3. What is kept in memory is our own.
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
_FILES_OF_ONE_LOOK: Final = 10


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
        """Deletes what is too old, if it is the time to do so, and the oldest if there is no room for it."""
        self._next = now + self.config.clean_resource_interval
        used, store = self.broker.store.space().used, self.broker.store
        store.is_full = self.is_full(used)
        if self.is_time(now) or self.is_short(used) or self._asked > 0:
            self._asked = max(0, self._asked - 1)
            files = store.log_files()
            if not self.is_urgent(used):
                oldest = store.first_file_since(now - self.config.file_reserved_time * _HOUR)
                files = [start for start in files if start <= oldest]
            store.delete_before(max(files[: _FILES_OF_ONE_LOOK + 1], default=0))

    def settle(self, now: int) -> None:
        """Keeps the log in memory as short as it is to be."""
        if not self.config.store_path_root_dir:
            start, end = self.broker.store.physical_range()
            if end - start > self.config.in_memory_log_bytes:
                self.broker.store.delete_before(end - self.config.in_memory_log_bytes)

    # -- decisions (see parts.py) ----------------------------------------------------------------------------

    def is_time(self, now: int) -> bool:
        """Whether `now` is in one of the hours of `deleteWhen`, by the clock on the wall."""
        hour = datetime.fromtimestamp(now / 1000).astimezone().hour
        return any(part.strip() == f"{hour:02d}" for part in self.config.delete_when.split(";"))

    def is_short(self, used: float) -> bool:
        """Whether so much of the disk is used that what is too old goes at any hour."""
        if self.profile.v5 and used > self.config.clean_forcibly_above:
            return True
        return used > self.config.delete_expired_above

    def is_urgent(self, used: float) -> bool:
        """Whether so much of the disk is used that the oldest files go, however old they are."""
        return self.config.clean_file_forcibly_enable and used > self.config.clean_forcibly_above

    def is_full(self, used: float) -> bool:
        """Whether so much of the disk is used that nothing more is stored."""
        return used > self.config.full_above
