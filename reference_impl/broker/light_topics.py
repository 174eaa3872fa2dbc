"""Light topics (5.5): this Broker has none, and says so as Apache's does without any.

Source: LiteManagerProcessor, LiteSubscriptionCtlProcessor, PopLiteMessageProcessor of rocketmq-all-5.5.0.
"""

from __future__ import annotations

from typing import Any, Final

from harness.wire import Command, RequestCode, ResponseCode
from harness.wire.fastjson import document
from reference_impl.remoting import fields
from reference_impl.remoting.fields import Ext
from reference_impl.remoting.reply import RefusedError, Reply
from reference_impl.remoting.requests import answers

from . import required
from .part import Part
from .pop import TOO_LATE

_MOST: Final = 32


class LightTopics(Part):
    """Refuses what is asked about light topics."""

    @answers(RequestCode.GET_BROKER_LITE_INFO, v55=True)
    def counts(self, command: Command, connection: int, now: int) -> Reply:
        """Queues and offsets count whether or not they have to do with light topics."""
        settings = self.broker.settings.pairs()
        return Reply(
            ResponseCode.SUCCESS,
            body=document(
                {
                    "cqTableSize": self.topics_with_queues(),
                    "currentLmqNum": 0,
                    "eventMapSize": 0,
                    "groupMeta": {},
                    "liteSubscriptionCount": 0,
                    "maxLmqNum": int(settings["maxLmqConsumeQueueNum"]),
                    "offsetTableSize": self.pairs_with_offsets(),
                    "orderInfoCount": 0,
                    "storeType": settings["storeType"],
                    "topicMeta": {},
                }
            ),
        )

    @answers(RequestCode.GET_PARENT_TOPIC_INFO, v55=True)
    def parent(self, command: Command, connection: int, now: int) -> Reply:
        return self.no_parent(required.text(command.ext or {}, "topic"))

    @answers(RequestCode.GET_LITE_TOPIC_INFO, v55=True)
    def light_topic(self, command: Command, connection: int, now: int) -> Reply:
        return self.no_parent(required.text(command.ext or {}, "parentTopic"))

    @answers(RequestCode.GET_LITE_CLIENT_INFO, v55=True)
    def light_client(self, command: Command, connection: int, now: int) -> Reply:
        most = fields.int32(command.ext, "maxCount")
        if most is not None and most <= 0:
            raise RefusedError(f"the custom field <maxCount> is {most}: expected a number above 0")
        return self.light_topic(command, connection, now)

    @answers(RequestCode.GET_LITE_GROUP_INFO, v55=True)
    @answers(RequestCode.TRIGGER_LITE_DISPATCH, v55=True)
    def light_group(self, command: Command, connection: int, now: int) -> Reply:
        group = required.text(command.ext or {}, "group")
        if self.broker.groups.find(group, now) is None:
            return Reply(ResponseCode.SUBSCRIPTION_GROUP_NOT_EXIST, remark=f"Group [{group}] not exist.")
        return Reply(ResponseCode.INVALID_PARAMETER, remark=f"Group [{group}] is not a LITE group.")

    @answers(RequestCode.LITE_SUBSCRIPTION_CTL, v55=True)
    def subscribe(self, command: Command, connection: int, now: int) -> Reply:
        """Subscriptions that lack something are passed over; others are kept nowhere."""
        if not command.body:
            return Reply(ResponseCode.ILLEGAL_OPERATION, remark="Request body is null.")
        if not self.subscriptions(command):
            return Reply(ResponseCode.ILLEGAL_OPERATION, remark="LiteSubscriptionCtlRequestBody is empty.")
        return Reply(ResponseCode.SUCCESS)

    @answers(RequestCode.POP_LITE_MESSAGE, v55=True)
    def pop(self, command: Command, connection: int, now: int) -> Reply:
        ext, where = command.ext or {}, f"the broker[{self.config.broker_ip1}]"
        if self.is_too_late(self.born(ext, now), fields.int64(ext, "pollTime") or 0, now):
            remark = f"{where} pop message is timeout too much"
            return Reply(ResponseCode.POLLING_TIMEOUT, remark=remark)
        if (fields.int32(ext, "maxMsgNum") or 0) > _MOST:
            remark = f"{where} pop message's num is greater than {_MOST}"
            return Reply(ResponseCode.INVALID_PARAMETER, remark=remark)
        topic = required.text(ext, "topic")
        if self.broker.topics.get(topic) is None:
            remark = f"topic [{topic}] not exist, apply first please! {self.broker.pulls.see()}"
            return Reply(ResponseCode.TOPIC_NOT_EXIST, remark=remark)
        remark = f"the topic [{topic}] message type not match"
        return Reply(ResponseCode.INVALID_PARAMETER, remark=remark)

    def born(self, ext: Ext, now: int) -> int:
        """When a client began to wait, by the Broker's clock: a time that is no number is 1970."""
        if ext.get("bornTime") in (None, "0"):
            return now
        return self.broker.of_client(fields.int64(ext, "bornTime") or 0)

    # -- decisions (see parts.py) ----------------------------------------------------------------------------

    def topics_with_queues(self) -> int:
        """How many topics have queues."""
        return len(self.broker.store.topics())

    def pairs_with_offsets(self) -> int:
        """How many pairs there are of a topic and a group that has committed offsets in it."""
        return len(self.broker.offsets.table)

    def is_too_late(self, born: int, poll: int, now: int) -> bool:
        """Whether the client has stopped waiting for the answer to a pop."""
        return now - born - poll > TOO_LATE

    def subscriptions(self, command: Command) -> list[Any]:
        """The subscriptions of a request. Raises RefusedError."""
        return required.listed(command, "subscriptionSet", self.profile.engine)

    def no_parent(self, topic: str) -> Reply:
        """The refusal of a topic that is no parent."""
        if self.broker.topics.get(topic) is None:
            return Reply(ResponseCode.TOPIC_NOT_EXIST, remark=f"Topic [{topic}] not exist.")
        return Reply(ResponseCode.INVALID_PARAMETER, remark=f"Topic [{topic}] type not match.")
