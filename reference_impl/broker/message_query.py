"""Looking for messages: by a key, and by the place in the log that an id names.

Source: QueryMessageProcessor, IndexService#queryOffset of rocketmq-all-4.9.8 and rocketmq-all-5.3.3.
"""

from __future__ import annotations

from typing import Final

from harness.wire import Command, RequestCode, ResponseCode
from reference_impl.remoting import fields
from reference_impl.remoting.fields import Ext
from reference_impl.remoting.reply import Reply
from reference_impl.remoting.requests import answers

from . import required
from .part import Part
from .store import key_of_tag

_MOST: Final = 64
"""The most messages that one request finds (`maxMsgsNumBatch`)."""
_MOST_OF_A_UNIQUE_KEY: Final = 32
_TAGS: Final = "T"
"""The kind of index (5.5) that is not for keys."""


class MessageQuery(Part):
    """Finds messages by key and by offset."""

    @answers(RequestCode.QUERY_MESSAGE)
    def by_key(self, command: Command, connection: int, now: int) -> Reply:
        """Stored messages, one behind the other, in the order of the log."""
        ext, store = command.ext or {}, self.broker.store
        found = store.by_key(
            fields.part_of_key(ext, "topic"),
            self.key(ext),
            self.most(command),
            required.int64(ext, "beginTimestamp"),
            required.int64(ext, "endTimestamp"),
        )
        messages = [frame for offset in found if (frame := store.raw_at(offset)) is not None]
        if not messages:
            return Reply(
                ResponseCode.QUERY_NOT_FOUND,
                ext=_index_state(0, 0),
                remark="can not find message, maybe time range not correct",
            )
        ext_fields = _index_state(*store.index_state())
        return Reply(ResponseCode.SUCCESS, ext=ext_fields, body=b"".join(messages))

    @answers(RequestCode.VIEW_MESSAGE_BY_ID)
    def by_offset(self, command: Command, connection: int, now: int) -> Reply:
        """One stored message."""
        offset = required.int64(command.ext or {}, "offset")
        frame = self.broker.store.raw_at(offset)
        if frame is None:
            remark = f"can not find message by the offset, {offset}"
            return Reply(ResponseCode.SYSTEM_ERROR, remark=remark)
        return Reply(ResponseCode.SUCCESS, body=frame)

    # -- decisions (see parts.py) ----------------------------------------------------------------------------

    def key(self, ext: Ext) -> str:
        """What a request looks for; in 5.5 perhaps a tag."""
        key = fields.part_of_key(ext, "key")
        return key_of_tag(key) if self.profile.v55 and ext.get("indexType") == _TAGS else key

    def most(self, command: Command) -> int:
        """How many messages a request by key finds at most; asked for by unique key, not what it says."""
        text = fields.text(command.ext, "_UNIQUE_KEY_QUERY") or ""
        if text == "true" or (self.profile.v55 and text.lower() == "true"):
            return _MOST_OF_A_UNIQUE_KEY
        return min(required.int32(command.ext or {}, "maxNum"), _MOST)


def _index_state(timestamp: int, offset: int) -> dict[str, str | None]:
    return {"indexLastUpdateTimestamp": str(timestamp), "indexLastUpdatePhyoffset": str(offset)}
