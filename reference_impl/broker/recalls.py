"""A sender calls back a message that waits for its time, with the handle that the send returned (5.x).

1. A recall stores a deletion that waits for the same moment as the message: there, it takes the message away
   (`timers.py`). Nothing is looked up, so a recall of what never was succeeds as well.
2. Whatever is answered tells the region.

Source: RecallMessageProcessor, RecallMessageHandle of rocketmq-all-5.3.3.
"""

from __future__ import annotations

from base64 import urlsafe_b64decode
from typing import Final

from harness.wire import Command, RequestCode, ResponseCode
from harness.wire.messages import Message, PropertyName
from reference_impl.remoting import fields
from reference_impl.remoting.fields import Ext
from reference_impl.remoting.reply import Reply
from reference_impl.remoting.requests import answers

from . import required
from .part import Part
from .store import PutStatus
from .timers import DELETES
from .topics import WRITE

_TAG: Final = "_RECALL_TAG_"
_WORDS: Final = 5
_NOT_NOW: Final = "recall failed, broker service not available"


class Recalls(Part):
    """Answers recalls."""

    @answers(RequestCode.RECALL_MESSAGE, v5=True)
    def recall(self, command: Command, connection: int, now: int) -> Reply:
        ext: Ext = command.ext or {}
        refused = self.closed(now)
        if refused is not None:
            return refused
        topic = required.text(ext, "topic")
        if not self.knows(topic):
            remark = f"recall failed, the topic[{topic}] not exist"
            return self.refusal(ResponseCode.TOPIC_NOT_EXIST, remark)
        handle = self.handle(fields.text(ext, "recallHandle") or "")
        if handle is None:
            return self.refusal(ResponseCode.ILLEGAL_OPERATION, "recall handle is invalid")
        of_topic, broker, time, key = handle
        fault = self.fault(topic, of_topic, broker, time, now)
        if fault is not None:
            return self.refusal(ResponseCode.ILLEGAL_OPERATION, fault)
        deletion = Message(
            topic=topic,
            body=b"0",
            properties={
                DELETES: self.broker.timers.deletion_of(topic, key),
                PropertyName.UNIQ_KEY: key,
                PropertyName.TIMER_DELIVER_MS: time,
                PropertyName.PRODUCER_GROUP: fields.part_of_key(ext, "producerGroup"),
                PropertyName.TAGS: _TAG,
            },
            born_timestamp=now,
            born_host=self.broker.peer(connection),
            store_host=self.config.address,
        )
        if self.broker.delays.put(deletion, now).status is not PutStatus.PUT_OK:
            return self.refusal(ResponseCode.SYSTEM_ERROR, "recall failed, execute error")
        return Reply(ResponseCode.SUCCESS, ext={"msgId": key, **self.told()})

    # -- decisions (see parts.py) ----------------------------------------------------------------------------

    def closed(self, now: int) -> Reply | None:
        """The refusal of any recall; None: there may be some."""
        config = self.config
        if not config.recall_message_enable:
            return self.refusal(ResponseCode.NO_PERMISSION, "recall failed, operation is forbidden")
        if config.is_slave:
            return self.refusal(ResponseCode.SLAVE_NOT_AVAILABLE, _NOT_NOW)
        is_writable = config.broker_permission & WRITE or config.allow_recall_when_broker_not_writeable
        if now < config.start_accept_send_request_time_stamp or not is_writable:
            return self.refusal(ResponseCode.SERVICE_NOT_AVAILABLE, _NOT_NOW)
        return None

    def knows(self, topic: str) -> bool:
        """Whether there is a topic."""
        return self.broker.topics.get(topic) is not None

    def handle(self, text: str) -> tuple[str, str, str, str] | None:
        """Topic, Broker, time and unique key of a handle; None: it is none."""
        try:
            words = urlsafe_b64decode(text + "=" * (-len(text) % 4)).decode().split(" ")
        except ValueError:
            return None
        if words[0] != "v1" or len(words) < _WORDS:
            return None
        return words[1], words[2], words[3], words[4]

    def fault(self, topic: str, of_topic: str, broker: str, time: str, now: int) -> str | None:
        """Why a handle does not fit; None: it does."""
        if topic != of_topic:
            return "recall failed, topic not match"
        if broker != self.config.broker_name:
            return _NOT_NOW
        moment = fields.int64({"": time}, "") or -1
        if not 0 < moment - now < self.config.timer_max_delay_sec * 1_000:
            return "recall failed, timestamp invalid"
        return None

    def refusal(self, code: int, remark: str) -> Reply:
        """A refusal."""
        return Reply(code, ext=self.told(), remark=remark)

    def told(self) -> dict[str, str | None]:
        """What every answer tells."""
        return {PropertyName.MSG_REGION: self.config.region_id}
