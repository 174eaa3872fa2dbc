"""Groups as administrators see and change them: what they are, who is online, how far they have consumed.

Source: AdminBrokerProcessor of rocketmq-all-4.9.8 and rocketmq-all-5.3.3.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from functools import partial

from msgspec.structs import replace

from harness.wire import Command, RequestCode, ResponseCode
from harness.wire.bodies import (
    ConsumedQueue,
    ConsumeStats,
    ConsumeStatsList,
    MessageQueue,
    SubscriptionGroup,
    SubscriptionGroupList,
    SubscriptionGroupTable,
    TopicList,
)
from harness.wire.fastjson import document
from reference_impl.remoting import fields
from reference_impl.remoting.reply import RefusedError, Reply
from reference_impl.remoting.requests import answers

from . import required
from .attributes import altered, of_groups
from .clients import Client
from .pages import GROUPS
from .part import Part
from .topic_administration import SLAVE_REMARK
from .topics import READ


class GroupAdministration(Part):
    """Makes, changes, shows and deletes groups."""

    # -- the table -------------------------------------------------------------------------------------------

    @answers(RequestCode.UPDATE_AND_CREATE_SUBSCRIPTIONGROUP)
    def update(self, command: Command, connection: int, now: int) -> Reply:
        """The name of a group is looked at by 5.5 alone."""
        if self.refuses_as_slave():
            return Reply(ResponseCode.SYSTEM_ERROR, remark=SLAVE_REMARK)
        v5 = self.profile.v5
        if self.profile.v55 and command.body in (b"", b"null"):
            return Reply(ResponseCode.SUCCESS)
        group = required.body(command, partial(SubscriptionGroup.decode, v5=v5), self.profile.engine)
        fault = self.broker.groups.fault(group.group_name)
        if fault is not None:
            return Reply(ResponseCode.INVALID_PARAMETER, remark=fault)
        if group.group_name is None:
            raise RefusedError("groupName is missing")
        self.broker.groups.put(self.wanted(group), now)
        return Reply(ResponseCode.SUCCESS)

    def wanted(self, group: SubscriptionGroup) -> SubscriptionGroup:
        """A group as it is to be kept: the attributes of a request are changes. Raises RefusedError."""
        if not self.profile.v5:
            return group.of_line(v5=False)
        known = self.broker.groups.table.get(group.group_name or "")
        current = None if known is None else known.attributes or {}
        attributes = altered(current, group.attributes or {}, of_groups(self.profile))
        return replace(group.of_line(v5=True), attributes=attributes)

    @answers(RequestCode.UPDATE_AND_CREATE_SUBSCRIPTIONGROUP_LIST, v5=True)
    def update_several(self, command: Command, connection: int, now: int) -> Reply:
        """All of them or none."""
        groups = required.body(command, SubscriptionGroupList.decode, self.profile.engine).group_config_list
        fault = next(
            filter(None, map(self.broker.groups.fault, (group.group_name for group in groups))), None
        )
        if fault is not None:
            return Reply(ResponseCode.INVALID_PARAMETER, remark=fault)
        if any(group.group_name is None for group in groups):
            raise RefusedError("groupName is missing")
        for group in self.all_wanted(groups):
            self.broker.groups.put(group, now)
        return Reply(ResponseCode.SUCCESS)

    def all_wanted(self, groups: Iterable[SubscriptionGroup]) -> list[SubscriptionGroup]:
        """The groups of a list, as `wanted`."""
        return [self.wanted(group) for group in groups]

    @answers(RequestCode.UPDATE_AND_GET_GROUP_FORBIDDEN, v5=True)
    def forbid(self, command: Command, connection: int, now: int) -> Reply:
        """Keep what is forbidden to a group, and show it. No pull is refused for it, in Apache either."""
        ext = command.ext or {}
        group, topic = required.text(ext, "group"), fields.text(ext, "topic")
        readable = fields.boolean(ext, "readable")
        if readable is not None:
            self.broker.groups.forbid(group, required.text(ext, "topic"), READ, not readable, now)
        is_forbidden = self.broker.groups.forbidden.get(group, {}).get(topic or "", 0) & READ
        told = {"group": group, "readable": not is_forbidden, "topic": topic}
        return Reply(ResponseCode.SUCCESS, remark="", body=document(_known(told)))

    @answers(RequestCode.DELETE_SUBSCRIPTIONGROUP)
    def delete(self, command: Command, connection: int, now: int) -> Reply:
        """The deletion of an unknown group succeeds."""
        if self.refuses_as_slave():
            return Reply(ResponseCode.SYSTEM_ERROR, remark=SLAVE_REMARK)
        ext = command.ext or {}
        group = required.text(ext, "groupName")
        self.broker.groups.delete(group, now)
        if fields.boolean(ext, "cleanOffset" if self.profile.v5 else "removeOffset"):
            self.broker.offsets.forget(group=group)
        return Reply(ResponseCode.SUCCESS)

    def refuses_as_slave(self) -> bool:
        """Whether nothing can be changed, because this is a slave: 5.x changes it all the same."""
        return self.config.is_slave and not self.profile.v5

    @answers(RequestCode.GET_ALL_SUBSCRIPTIONGROUP_CONFIG)
    def all_groups(self, command: Command, connection: int, now: int) -> Reply:
        """The whole table, for slaves and tools; of 5.5, also a part of it."""
        groups, pages = self.broker.groups, self.broker.pages
        table, forbidden = (
            pages.part_of(groups.table, GROUPS, command.ext or {}, groups.version),
            groups.forbidden,
        )
        if table.keys() != groups.table.keys():
            forbidden = {group: bits for group, bits in forbidden.items() if group in table}
        told = SubscriptionGroupTable(
            data_version=groups.version,
            subscription_group_table=table,
            forbidden_table=forbidden if self.profile.v5 else None,
        )
        ext = pages.total_of(groups.table, GROUPS) or None
        return Reply(ResponseCode.SUCCESS, ext=ext, body=told.encode())

    @answers(RequestCode.GET_SUBSCRIPTIONGROUP_CONFIG, v5=True)
    def one_group(self, command: Command, connection: int, now: int) -> Reply:
        """To ask for a group makes it, where groups come into being by themselves."""
        name = required.text(command.ext or {}, "group")
        group = self.broker.groups.find(name, now)
        if group is None:
            return Reply(ResponseCode.SUBSCRIPTION_GROUP_NOT_EXIST, remark="No group in this broker")
        return Reply(ResponseCode.SUCCESS, body=document(group.document()))

    # -- who is online ---------------------------------------------------------------------------------------

    @answers(RequestCode.GET_CONSUMER_CONNECTION_LIST)
    def consumers(self, command: Command, connection: int, now: int) -> Reply:
        name = required.text(command.ext or {}, "consumerGroup")
        group = self.broker.clients.consumers.get(name)
        if group is None:
            remark = f"the consumer group[{name}] not online"
            return Reply(ResponseCode.CONSUMER_NOT_ONLINE, remark=remark)
        told = {
            "connectionSet": self.connections(group.members),
            "consumeFromWhere": group.consume_from_where,
            "consumeType": group.consume_type,
            "messageModel": group.message_model,
            "subscriptionTable": {topic: one.document() for topic, one in group.subscriptions.items()},
        }
        return Reply(ResponseCode.SUCCESS, body=document(_known(told)))

    @answers(RequestCode.GET_PRODUCER_CONNECTION_LIST)
    def producers(self, command: Command, connection: int, now: int) -> Reply:
        name = required.text(command.ext or {}, "producerGroup")
        members = self.broker.clients.producers.get(name)
        if not members:
            return Reply(ResponseCode.SYSTEM_ERROR, remark=f"the producer group[{name}] not exist")
        return Reply(ResponseCode.SUCCESS, body=document({"connectionSet": self.connections(members)}))

    @answers(RequestCode.GET_ALL_PRODUCER_INFO)
    def all_producers(self, command: Command, connection: int, now: int) -> Reply:
        told = {
            group: [
                _known(
                    {
                        "clientId": client.id,
                        "language": client.language,
                        "lastUpdateTimestamp": client.seen,
                        "remoteIP": f"/{self.broker.peer(member)}",
                        "version": client.version,
                    }
                )
                for member, client in members.items()
            ]
            for group, members in self.broker.clients.producers.items()
        }
        return Reply(ResponseCode.SUCCESS, body=document({"data": told}))

    def connections(self, members: Mapping[int, Client]) -> list[dict[str, object]]:
        """The clients of a group."""
        return [
            _known(
                {
                    "clientAddr": self.broker.peer(connection),
                    "clientId": client.id,
                    "language": client.language,
                    "version": client.version,
                }
            )
            for connection, client in members.items()
        ]

    # -- how far they are ------------------------------------------------------------------------------------

    @answers(RequestCode.GET_CONSUME_STATS)
    def progress(self, command: Command, connection: int, now: int) -> Reply:
        """Of one topic, or of all that the group has offsets of."""
        ext = command.ext or {}
        group = required.text(ext, "consumerGroup")
        asked = fields.text(ext, "topic")
        topics = [asked] if asked and asked.strip() else self.topics_of(group)
        stats = ConsumeStats()
        for topic in topics:
            if self.is_shown(group, topic):
                stats.offset_table |= self.consumed(group, topic)
        return Reply(ResponseCode.SUCCESS, body=stats.encode())

    @answers(RequestCode.GET_BROKER_CONSUME_STATS)
    def progress_of_all(self, command: Command, connection: int, now: int) -> Reply:
        """Of all groups, or of those topics only that are ordered. 5.3 does not say what was pulled. Unlike
        208 it shows the queues that can be written.
        """
        ordered_only = fields.boolean(command.ext, "isOrder") is True
        told, in_flight = ConsumeStatsList(broker_addr=self.config.address), 0
        for group in self.broker.groups.table:
            stats: list[ConsumeStats] = []
            for name in self.topics_of(group):
                topic = self.broker.topics.get(name)
                if topic is None or (ordered_only and not topic.order) or not self.is_shown(group, name):
                    continue
                table = self.consumed_of_all(group, name)
                told.total_diff += sum(one.broker_offset - one.consumer_offset for one in table.values())
                if self.profile.v5:
                    table = {queue: replace(one, pull_offset=0) for queue, one in table.items()}
                    in_flight -= sum(one.consumer_offset for one in table.values())
                stats.append(ConsumeStats(offset_table=table))
            told.consume_stats_list.append({group: stats})
        if self.profile.v5:
            told.total_inflight_diff = in_flight
        return Reply(ResponseCode.SUCCESS, body=told.encode())

    def is_shown(self, group: str, topic: str) -> bool:
        """Whether a group's progress in a topic is shown: not where it is online without that topic."""
        online = self.broker.clients.consumers.get(group)
        return online is None or not online.subscriptions or topic in online.subscriptions

    def consumed(self, group: str, topic: str) -> dict[MessageQueue, ConsumedQueue]:
        """How far a group has consumed the queues of a topic that can be read."""
        config = self.broker.topics.get(topic)
        return self._consumed(group, topic, 0 if config is None else config.read_queue_nums)

    def consumed_of_all(self, group: str, topic: str) -> dict[MessageQueue, ConsumedQueue]:
        """How far a group has consumed the queues of a topic that can be written."""
        config = self.broker.topics.get(topic)
        return self._consumed(group, topic, 0 if config is None else config.write_queue_nums)

    def _consumed(self, group: str, topic: str, queues: int) -> dict[MessageQueue, ConsumedQueue]:
        return {
            MessageQueue(self.config.broker_name, queue, topic): self.consumed_of(group, topic, queue)
            for queue in range(queues)
        }

    def consumed_of(self, group: str, topic: str, queue: int) -> ConsumedQueue:
        """How far a group has consumed a queue."""
        store = self.broker.store
        offset = max(0, self.broker.offsets.offset_of(group, topic, queue) or 0)
        return ConsumedQueue(
            broker_offset=store.max_offset(topic, queue),
            consumer_offset=offset,
            last_timestamp=store.timestamp_of(topic, queue, offset - 1) or 0 if offset else 0,
            pull_offset=offset if self.profile.v5 else None,
        )

    @answers(RequestCode.CLONE_GROUP_OFFSET)
    def clone_offsets(self, command: Command, connection: int, now: int) -> Reply:
        """A group is in a topic where another is, and has no other offsets there. (Without a topic Apache
        goes through all topics of the group, and looks for the offsets of the topic that is not named.)
        """
        ext = command.ext or {}
        source, target = fields.part_of_key(ext, "srcGroup"), fields.part_of_key(ext, "destGroup")
        topic = fields.text(ext, "topic") or ""
        offline = fields.boolean(ext, "offline") is True
        if self.broker.topics.get(topic) is not None and (offline or self.is_shown(source, topic)):
            offsets = self.broker.offsets
            known = offsets.table.get(f"{topic}@{source}")
            if known is not None:
                offsets.table[f"{topic}@{target}"] = {}
                for queue, offset in known.items():
                    offsets.commit(target, topic, queue, offset, now)
        return Reply(ResponseCode.SUCCESS)

    def topics_of(self, group: str) -> list[str]:
        """Topics in which a group has offsets."""
        keys = (key.partition("@") for key in self.broker.offsets.table)
        return [topic for topic, _, of_group in keys if of_group == group]

    def groups_of(self, topic: str) -> list[str]:
        """Groups that have offsets in a topic."""
        keys = (key.partition("@") for key in self.broker.offsets.table)
        return [group for of_topic, _, group in keys if of_topic == topic]

    # -- who consumes what -----------------------------------------------------------------------------------

    @answers(RequestCode.QUERY_TOPIC_CONSUME_BY_WHO)
    def groups_of_topic(self, command: Command, connection: int, now: int) -> Reply:
        """Groups that subscribe to a topic or have offsets in it."""
        topic = required.text(command.ext or {}, "topic")
        online = (
            name for name, group in self.broker.clients.consumers.items() if topic in group.subscriptions
        )
        return Reply(ResponseCode.SUCCESS, body=_groups([*online, *self.groups_of(topic)]))

    @answers(RequestCode.QUERY_TOPICS_BY_CONSUMER, v5=True)
    def topics_of_group(self, command: Command, connection: int, now: int) -> Reply:
        """Topics in which a group has offsets."""
        group = required.text(command.ext or {}, "group")
        topics = sorted(self.topics_of(group))
        return Reply(ResponseCode.SUCCESS, body=TopicList(topics, self.config.address).encode())

    @answers(RequestCode.QUERY_SUBSCRIPTION_BY_CONSUMER, v5=True)
    def subscription(self, command: Command, connection: int, now: int) -> Reply:
        """What a group wants of a topic; nothing if it is not online."""
        ext = command.ext or {}
        group, topic = required.text(ext, "group"), required.text(ext, "topic")
        online = self.broker.clients.consumers.get(group)
        found = None if online is None else online.subscriptions.get(topic)
        told = {
            "group": group,
            "subscriptionData": None if found is None else found.document(),
            "topic": topic,
        }
        return Reply(ResponseCode.SUCCESS, body=document(_known(told)))


def _groups(names: Iterable[str]) -> bytes:
    return document({"groupList": list(dict.fromkeys(names))})


def _known(told: Mapping[str, object]) -> dict[str, object]:
    """The members that fastjson writes: null is left out."""
    return {name: value for name, value in told.items() if value is not None}
