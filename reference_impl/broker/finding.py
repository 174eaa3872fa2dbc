"""Looking for messages: by a key, and by the place in the log that an id names.

Source: QueryMessageProcessor, IndexService#queryOffset of rocketmq-all-4.9.8 and rocketmq-all-5.3.3.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from harness.wire import Command
from harness.wire.broker_codes import BrokerRequest, BrokerResponse
from reference_impl.remoting import fields
from reference_impl.remoting.reply import Reply

from . import given
from .part import Handler, Part

__all__ = ["Finding"]

_MOST: Final = 64
"""So many messages one request finds at most (`maxMsgsNumBatch`)."""
_MOST_OF_A_UNIQUE_KEY: Final = 32


class Finding(Part):
    """Codes 12 and 33."""

    def requests(self) -> Mapping[int, Handler]:
        """Request code to handler."""
        return {
            BrokerRequest.QUERY_MESSAGE: self.by_key,
            BrokerRequest.VIEW_MESSAGE_BY_ID: self.by_offset,
        }

    def by_key(self, command: Command, connection: int, now: int) -> Reply:
        """12: stored messages, one behind the other, in the order of the log."""
        ext, store = command.ext or {}, self.broker.store
        found = store.by_key(
            given.text(ext, "topic"),
            given.text(ext, "key"),
            self.most(command),
            given.int64(ext, "beginTimestamp"),
            given.int64(ext, "endTimestamp"),
        )
        messages = [frame for offset in found if (frame := store.raw_at(offset)) is not None]
        if not messages:
            return Reply(
                BrokerResponse.QUERY_NOT_FOUND,
                ext=_index_state(0, 0),
                remark="can not find message, maybe time range not correct",
            )
        ext_fields = _index_state(store.newest(), found[-1])
        return Reply(BrokerResponse.SUCCESS, ext=ext_fields, body=b"".join(messages))

    def by_offset(self, command: Command, connection: int, now: int) -> Reply:
        """33: one stored message."""
        offset = given.int64(command.ext or {}, "offset")
        frame = self.broker.store.raw_at(offset)
        if frame is None:
            remark = f"can not find message by the offset, {offset}"
            return Reply(BrokerResponse.SYSTEM_ERROR, remark=remark)
        return Reply(BrokerResponse.SUCCESS, body=frame)

    # -- decisions (see parts.py) ----------------------------------------------------------------------------

    def most(self, command: Command) -> int:
        """How many messages a request by key finds at most; asked for by unique key, not what it says."""
        asked = given.int32(command.ext or {}, "maxNum")
        if fields.text(command.ext, "_UNIQUE_KEY_QUERY") == "true":
            return _MOST_OF_A_UNIQUE_KEY
        return min(asked, _MOST)


def _index_state(timestamp: int, offset: int) -> dict[str, str | None]:
    return {"indexLastUpdateTimestamp": str(timestamp), "indexLastUpdatePhyoffset": str(offset)}
