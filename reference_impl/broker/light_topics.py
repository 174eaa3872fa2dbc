"""Light topics (5.5): their parents, and groups, as Apache's Broker has them without enableLmq.

1. A parent is a topic of the message type LITE; a group is bound to one by an attribute.
2. No message goes to a light topic: each stays in its parent alone, whatever light topic it names. So there
   is nothing to pop, and a subscription to a light topic is kept nowhere.

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
from .attributes import EXPIRATION, LITE, MESSAGE_TYPE, PARENT
from .part import Part
from .pop import TOO_LATE

_MOST: Final = 32


_NEVER: Final = -1
_NONE: Final = -1
"""Of a client that subscribes to nothing, and of a light topic that a group does not consume."""
_TIMES: Final = ("invisibleTime", "popTime", "reviveQid")
_REVIVED: Final = 999
"""The queue of messages that are not acknowledged; there is none."""


class LightTopics(Part):
    """Says what there is of light topics."""

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
                    "groupMeta": self.groups(),
                    "liteSubscriptionCount": 0,
                    "maxLmqNum": int(settings["maxLmqConsumeQueueNum"]),
                    "offsetTableSize": self.pairs_with_offsets(),
                    "orderInfoCount": 0,
                    "storeType": settings["storeType"],
                    "topicMeta": self.parents(),
                }
            ),
        )

    @answers(RequestCode.GET_PARENT_TOPIC_INFO, v55=True)
    def parent(self, command: Command, connection: int, now: int) -> Reply:
        """The groups that are bound to it, if there are any, and when its light topics go."""
        topic = required.text(command.ext or {}, "topic")
        ttl = self.parents().get(topic)
        if ttl is None:
            return self.no_parent(topic)
        groups = self.groups().get(topic)
        counts = {"liteTopicCount": 0, "lmqNum": 0, "topic": topic, "ttl": ttl}
        return Reply(ResponseCode.SUCCESS, body=document({"groups": groups, **counts} if groups else counts))

    @answers(RequestCode.GET_LITE_TOPIC_INFO, v55=True)
    def light_topic(self, command: Command, connection: int, now: int) -> Reply:
        """Of one that there is not, as of one without messages and subscribers."""
        topic = required.text(command.ext or {}, "parentTopic")
        if topic not in self.parents():
            return self.no_parent(topic)
        found = {
            "liteTopic": required.text(command.ext or {}, "liteTopic"),
            "parentTopic": topic,
            "shardingToBroker": True,
            "subscriber": [],
            "topicOffset": {"lastUpdateTimestamp": 0, "maxOffset": 0, "minOffset": 0},
        }
        return Reply(ResponseCode.SUCCESS, body=document(found))

    @answers(RequestCode.GET_LITE_CLIENT_INFO, v55=True)
    def light_client(self, command: Command, connection: int, now: int) -> Reply:
        """A client that subscribes to nothing."""
        ext = command.ext or {}
        most = fields.int32(ext, "maxCount")
        if most is not None and most <= 0:
            raise RefusedError(f"the custom field <maxCount> is {most}: expected a number above 0")
        topic = required.text(ext, "parentTopic")
        if topic not in self.parents():
            return self.no_parent(topic)
        group = required.text(ext, "group")
        if self.parent_of(group, now) != topic:
            remark = f"Subscription [{group}]-[{topic}] not match."
            return Reply(ResponseCode.INVALID_PARAMETER, remark=remark)
        found = {
            "clientId": required.text(ext, "clientId"),
            "group": group,
            "lastAccessTime": _NEVER,
            "lastConsumeTime": 0,
            "liteTopicCount": _NONE,
            "parentTopic": topic,
        }
        return Reply(ResponseCode.SUCCESS, body=document(found))

    @answers(RequestCode.GET_LITE_GROUP_INFO, v55=True)
    def light_group(self, command: Command, connection: int, now: int) -> Reply:
        """Of a light topic, what the group lacks is unknown; of all, it is nothing."""
        ext = command.ext or {}
        group = required.text(ext, "group")
        refused = self.no_group(group, now)
        if refused is not None:
            return refused
        one, most = fields.text(ext, "liteTopic"), fields.int32(ext, "topK") or 0
        if not one and most <= 0:
            raise RefusedError(f"the custom field <topK> is {most}: expected a number above 0")
        of_one = {"liteTopic": one, "totalLagCount": _NONE}
        of_all = {"lagCountTopK": [], "lagTimestampTopK": [], "totalLagCount": 0}
        found = {
            "earliestUnconsumedTimestamp": _NEVER,
            "group": group,
            "parentTopic": self.parent_of(group, now),
            **(of_one if one else of_all),
        }
        return Reply(ResponseCode.SUCCESS, body=document(dict(sorted(found.items()))))

    @answers(RequestCode.TRIGGER_LITE_DISPATCH, v55=True)
    def dispatch(self, command: Command, connection: int, now: int) -> Reply:
        """There is nothing to give out."""
        refused = self.no_group(required.text(command.ext or {}, "group"), now)
        return Reply(ResponseCode.SUCCESS) if refused is None else refused

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
        """There is never anything, so that a client need not wait."""
        ext = command.ext or {}
        refused = self.refused(ext, now)
        if refused is not None:
            refused.ext = self.times(0, 0, 0)
            return refused
        found = self.times(fields.int64(ext, "invisibleTime") or 0, now, _REVIVED)
        found["orderCountInfo"] = ""
        return Reply(ResponseCode.POLLING_TIMEOUT, ext=found, remark="NO_MESSAGE_IN_QUEUE")

    def refused(self, ext: Ext, now: int) -> Reply | None:
        """Why nothing is popped. Raises RefusedError."""
        where = f"the broker[{self.config.broker_ip1}]"
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
        if topic not in self.parents():
            remark = f"the topic [{topic}] message type not match"
            return Reply(ResponseCode.INVALID_PARAMETER, remark=remark)
        group = required.text(ext, "consumerGroup")
        if self.parent_of(group, now) != topic:
            remark = f"subscription bind topic not match, {group}"
            return Reply(ResponseCode.INVALID_PARAMETER, remark=remark)
        return None

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

    def parents(self) -> dict[str, int]:
        """The parents, and after how many minutes their light topics go."""
        return {
            name: int((topic.attributes or {}).get(EXPIRATION, _NEVER))
            for name, topic in self.broker.topics.table.items()
            if (topic.attributes or {}).get(MESSAGE_TYPE) == LITE
        }

    def groups(self) -> dict[str, list[str]]:
        """The groups that are bound to each topic, be it a parent or not."""
        found: dict[str, list[str]] = {}
        for name, group in self.broker.groups.table.items():
            topic = (group.attributes or {}).get(PARENT)
            if topic is not None:
                found.setdefault(topic, []).append(name)
        return found

    def parent_of(self, group: str, now: int) -> str | None:
        """The topic to which a group is bound."""
        found = self.broker.groups.find(group, now)
        return None if found is None else (found.attributes or {}).get(PARENT)

    def times(self, invisible: int, popped: int, revived: int) -> dict[str, str | None]:
        """What every answer to a pop has."""
        return {name: str(value) for name, value in zip(_TIMES, (invisible, popped, revived), strict=True)}

    def no_group(self, group: str, now: int) -> Reply | None:
        """The refusal of a group that is bound to nothing."""
        if self.broker.groups.find(group, now) is None:
            return Reply(ResponseCode.SUBSCRIPTION_GROUP_NOT_EXIST, remark=f"Group [{group}] not exist.")
        if not self.parent_of(group, now):
            return Reply(ResponseCode.INVALID_PARAMETER, remark=f"Group [{group}] is not a LITE group.")
        return None

    def no_parent(self, topic: str) -> Reply:
        """The refusal of a topic that is no parent."""
        if self.broker.topics.get(topic) is None:
            return Reply(ResponseCode.TOPIC_NOT_EXIST, remark=f"Topic [{topic}] not exist.")
        return Reply(ResponseCode.INVALID_PARAMETER, remark=f"Topic [{topic}] type not match.")
