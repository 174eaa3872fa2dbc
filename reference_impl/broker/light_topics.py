"""What tools see of light topics (5.5), their parents, and their consumers.

1. A parent is a topic of the message type LITE; a group is bound to one by an attribute.
2. With `enableLmq` and `enableMultiDispatch` a message goes to the light topic that it names, beside the
   queue of the parent; else it stays in its parent alone.
3. A light topic is there as long as it has messages. It goes with its parent; or before that, if its parent
   says so, after a while without a new message.

Source: LiteManagerProcessor, LiteConsumerLagCalculator, LiteLifecycleManager of rocketmq-all-5.5.0.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from harness.wire import Command, RequestCode, ResponseCode
from harness.wire.fastjson import document
from reference_impl.remoting import fields
from reference_impl.remoting.reply import RefusedError, Reply
from reference_impl.remoting.requests import answers

from . import required
from .attributes import EXPIRATION, LITE, MESSAGE_TYPE, PARENT
from .light_names import LIGHT_QUEUE, is_of, is_of_light_topic, parted, queue_of
from .part import NEVER, Part

if TYPE_CHECKING:
    from .core import Broker

_MOST: Final = 10_000
"""How many light topics of a client are shown."""
_NEVER: Final = -1
_NONE: Final = -1
"""Of a client that subscribes to nothing, and of a light topic that a group does not consume."""


class LightTopics(Part):
    """Says what there is of light topics, and lets them go."""

    def __init__(self, broker: Broker) -> None:
        super().__init__(broker)
        self._looked = 0
        """When it looked last for light topics that go."""

    @answers(RequestCode.GET_BROKER_LITE_INFO, v55=True)
    def counts(self, command: Command, connection: int, now: int) -> Reply:
        """Queues and offsets count whether or not they have to do with light topics."""
        settings = self.broker.settings.pairs()
        return Reply(
            ResponseCode.SUCCESS,
            body=document(
                {
                    "cqTableSize": self.topics_with_queues(),
                    "currentLmqNum": len(self.queues()),
                    "eventMapSize": self.clients_with_messages(),
                    "groupMeta": self.groups(),
                    "liteSubscriptionCount": self.broker.light_subscriptions.count(),
                    "maxLmqNum": int(settings["maxLmqConsumeQueueNum"]),
                    "offsetTableSize": self.pairs_with_offsets(),
                    "orderInfoCount": self.pairs_in_order(),
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
        counts = {
            "liteTopicCount": len(self.queues(topic)),
            "lmqNum": len(self.queues()),
            "topic": topic,
            "ttl": ttl,
        }
        return Reply(ResponseCode.SUCCESS, body=document({"groups": groups, **counts} if groups else counts))

    @answers(RequestCode.GET_LITE_TOPIC_INFO, v55=True)
    def light_topic(self, command: Command, connection: int, now: int) -> Reply:
        """An unknown light topic is shown as one without messages."""
        topic = required.text(command.ext or {}, "parentTopic")
        if topic not in self.parents():
            return self.no_parent(topic)
        light, store = required.text(command.ext or {}, "liteTopic"), self.broker.store
        queue, subscriptions = queue_of(topic, light), self.broker.light_subscriptions
        most = store.max_offset(queue, 0)
        found = {
            "liteTopic": light,
            "parentTopic": topic,
            "shardingToBroker": True,
            "subscriber": subscriptions.shown(queue),
            "topicOffset": {
                "lastUpdateTimestamp": store.timestamp_of(queue, 0, most - 1) or 0,
                "maxOffset": most,
                "minOffset": store.min_offset(queue, 0),
            },
        }
        return Reply(ResponseCode.SUCCESS, body=document(found))

    @answers(RequestCode.GET_LITE_CLIENT_INFO, v55=True)
    def light_client(self, command: Command, connection: int, now: int) -> Reply:
        """A client, be it one of the group or not; -1: it subscribes to nothing."""
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
        client = required.text(ext, "clientId")
        mine = self.broker.light_subscriptions.by_client.get(client)
        found = {
            "clientId": client,
            "group": group,
            "lastAccessTime": self.broker.light_pops.accessed.get(client, _NEVER),
            "lastConsumeTime": 0,
            "liteTopicCount": _NONE,
            "parentTopic": topic,
        }
        if mine is not None:
            found["liteTopicCount"] = len(mine.queues)
            found["liteTopicSet"] = list(mine.queues)[: min(most or _MOST, _MOST)]
        return Reply(ResponseCode.SUCCESS, body=document(found))

    @answers(RequestCode.GET_LITE_GROUP_INFO, v55=True)
    def light_group(self, command: Command, connection: int, now: int) -> Reply:
        """What a group has not consumed yet: of one light topic, or of all."""
        ext = command.ext or {}
        group = required.text(ext, "group")
        refused = self.no_group(group, now)
        if refused is not None:
            return refused
        one, most = fields.text(ext, "liteTopic"), fields.int32(ext, "topK") or 0
        if not one and most <= 0:
            raise RefusedError(f"the custom field <topK> is {most}: expected a number above 0")
        topic = self.parent_of(group, now) or ""
        found = {
            "earliestUnconsumedTimestamp": _NEVER,
            "group": group,
            "parentTopic": topic,
            **(self.lag_of(group, topic, one) if one else self.greatest_lags(group, most)),
        }
        return Reply(ResponseCode.SUCCESS, body=document(dict(sorted(found.items()))))

    @answers(RequestCode.TRIGGER_LITE_DISPATCH, v55=True)
    def dispatch(self, command: Command, connection: int, now: int) -> Reply:
        """Clients that wait for messages look once more."""
        group = required.text(command.ext or {}, "group")
        refused = self.no_group(group, now)
        if refused is not None:
            return refused
        for queue in self.queues():
            self.broker.light_pops.has_more(queue, group)
        return Reply(ResponseCode.SUCCESS)

    # -- what a group has not consumed -----------------------------------------------------------------------

    def lag_of(self, group: str, topic: str, light: str) -> dict[str, Any]:
        """Of one light topic; -1: it has no messages."""
        queue, store = queue_of(topic, light), self.broker.store
        most, offset = store.max_offset(queue, 0), self.broker.offsets.offset_of(group, queue, 0)
        if most <= 0:
            return {"liteTopic": light, "totalLagCount": _NONE}
        if offset is None:
            return {"liteTopic": light, "totalLagCount": 0}
        wrapper = {
            "brokerOffset": most,
            "consumerOffset": offset,
            "lastTimestamp": store.timestamp_of(queue, 0, offset - 1) or 0,
            "pullOffset": 0,
        }
        return {
            "earliestUnconsumedTimestamp": store.timestamp_of(queue, 0, offset) or _NEVER,
            "liteTopic": light,
            "liteTopicOffsetWrapper": wrapper,
            "totalLagCount": most - offset,
        }

    def greatest_lags(self, group: str, most: int) -> dict[str, Any]:
        """Of all light topics of which it has consumed some, and the greatest of these."""
        store = self.broker.store
        lags: list[dict[str, Any]] = []
        for key, offsets in self.broker.offsets.table.items():
            queue, _, of_group = key.partition("@")
            lag = store.max_offset(queue, 0) - offsets.get(0, 0)
            if of_group == group and is_of_light_topic(queue) and lag > 0:
                since = store.timestamp_of(queue, 0, offsets.get(0, 0)) or _NEVER
                light = parted(queue)[1]
                lags.append({"earliestUnconsumedTimestamp": since, "lagCount": lag, "liteTopic": light})
        lags.sort(key=lambda one: -one["lagCount"])
        total = sum(one["lagCount"] for one in lags)
        return {"lagCountTopK": lags[:most], "lagTimestampTopK": [], "totalLagCount": total}

    # -- light topics ----------------------------------------------------------------------------------------

    def queues(self, topic: str | None = None) -> list[str]:
        """The queues of light topics that have messages: all light queues, or those of a parent."""
        known = self.broker.store.topics()
        return [one for one in known if (one.startswith(LIGHT_QUEUE) if topic is None else is_of(one, topic))]

    def forget(self, topic: str, now: int) -> None:
        """The light topics of a parent go with it."""
        if topic not in self.parents():
            return
        for queue in self.queues(topic):
            self.drop(queue, now)

    def drop(self, queue: str, now: int) -> None:
        """A light topic goes, with its subscriptions and what groups have consumed of it."""
        self.broker.light_subscriptions.forget_queue(queue, now)
        self.broker.store.delete_topic(queue)
        self.broker.offsets.forget(topic=queue)
        self.broker.pop_order.forget(queue)

    def next_tick(self) -> int:
        """The next look for light topics that go."""
        if not (self.profile.v55 and self.config.enable_lmq):
            return NEVER
        first = self.broker.started + self.config.min_lite_ttl
        return max(first, self._looked + self.config.lite_ttl_check_interval)

    def tick(self, now: int) -> None:
        """Light topics go to which nothing has been sent for long; their clients are not told."""
        self._looked = now
        parents = self.parents()
        for queue in self.queues():
            if is_of_light_topic(queue) and self.is_over(queue, parents.get(parted(queue)[0], _NEVER), now):
                self.drop(queue, now)

    def clients_with_messages(self) -> int:
        """How many clients subscribe to a light topic that has messages."""
        subscriptions = self.broker.light_subscriptions
        return len({client for queue in self.queues() for client in subscriptions.of_group(queue)})

    def pairs_in_order(self) -> int:
        """How many pairs there are of a light topic and a group that has popped from it."""
        return sum(is_of_light_topic(queue) for queue, _, _ in self.broker.pop_order.last)

    # -- decisions (see parts.py) ----------------------------------------------------------------------------

    def is_over(self, queue: str, minutes: int, now: int) -> bool:
        """Whether a light topic goes that is kept for that many minutes without a message."""
        store = self.broker.store
        idle = now - (store.timestamp_of(queue, 0, store.max_offset(queue, 0) - 1) or 0)
        return minutes > 0 and idle >= self.config.min_lite_ttl and idle > minutes * 60_000

    def topics_with_queues(self) -> int:
        """How many topics have queues."""
        return len(self.broker.store.topics())

    def pairs_with_offsets(self) -> int:
        """How many pairs there are of a topic and a group that has committed offsets in it."""
        return len(self.broker.offsets.table)

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
