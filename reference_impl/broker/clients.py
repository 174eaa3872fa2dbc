"""Clients: who produces and consumes for which group, and what groups subscribe to.

1. A client is known by its connection, in each of its groups. It stays for as long as it sends heartbeats,
   and goes with its connection.
2. What a group subscribes to is what the last heartbeat of any of its members said; a subscription is
   replaced by a newer one of the same topic only.
3. The members of a group that does not broadcast are notified (40) when its members or its topics change, but
   not of one that was silent for too long.

Source: ClientManageProcessor, ConsumerManageProcessor, ConsumerManager, ConsumerGroupInfo, ProducerManager,
ClientHousekeepingService, DefaultConsumerIdsChangeListener of rocketmq-all-4.9.8 and rocketmq-all-5.3.3.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import msgspec

from harness.wire import Command, RequestCode, ResponseCode
from harness.wire.bodies import ConsumerData, Heartbeat, Subscription
from harness.wire.fastjson import document
from harness.wire.messages import TopicName
from reference_impl.remoting.reply import RefusedError, Reply
from reference_impl.remoting.requests import answers

from . import required
from .part import Part
from .topics import READ, WRITE

if TYPE_CHECKING:
    from .core import Broker

_SCAN: Final = 10_000
"""ms between two looks for clients that send no heartbeats."""
_EXPIRY_49: Final = 120_000
_UNIT_SUB: Final = 2


class Client(msgspec.Struct):
    """One member of one group."""

    id: str
    language: str | None
    version: int
    seen: int
    """Time of its last heartbeat."""


class ConsumerGroup(msgspec.Struct):
    """A group with members that are online."""

    consume_type: str | None = None
    message_model: str | None = None
    consume_from_where: str | None = None
    members: dict[int, Client] = {}
    """By connection."""
    subscriptions: dict[str, Subscription] = {}
    """By topic."""

    @property
    def is_broadcasting(self) -> bool:
        """Whether each member gets every message."""
        return self.message_model == "BROADCASTING"


class Clients(Part):
    """Knows the clients that are online, and notifies members of a group (40)."""

    def __init__(self, broker: Broker) -> None:
        super().__init__(broker)
        self.consumers: dict[str, ConsumerGroup] = {}
        self.producers: dict[str, dict[int, Client]] = {}
        """By group, then by connection."""
        self._fingerprints: dict[str, int] = {}
        self._groups_of: dict[int, set[str]] = {}
        self._scan_at = broker.started + _SCAN

    # -- heartbeats ------------------------------------------------------------------------------------------

    @answers(RequestCode.HEART_BEAT)
    def heartbeat(self, command: Command, connection: int, now: int) -> Reply:
        """5.x tells whether it knows the short form, and whether the group's subscriptions changed."""
        beat = required.body(command, Heartbeat.decode, self.profile.engine)
        client = Client(beat.client_id or "", command.language, command.version, now)
        fingerprint = (beat.heartbeat_fingerprint or 0) if self.profile.v5 else 0
        changed = fingerprint == 0
        for data in beat.consumer_data_set:
            if data.group_name is None:
                raise RefusedError("groupName of a consumer is missing")
            if self.fingerprint_changed(data.group_name, fingerprint):
                changed = True
            self.consume(
                data, client, connection, now, without_sub=fingerprint != 0 and beat.without_sub is True
            )
        for producer in beat.producer_data_set:
            if producer.group_name is None:
                raise RefusedError("groupName of a producer is missing")
            self.produce(producer.group_name, client, connection, now)
        if not self.profile.v5:
            return Reply(ResponseCode.SUCCESS)
        ext: dict[str, str | None] = {
            "IS_SUPPORT_HEART_BEAT_V2": "true",
            "IS_SUB_CHANGE": "true" if changed else "false",
        }
        return Reply(ResponseCode.SUCCESS, ext=ext)

    def fingerprint_changed(self, group: str, fingerprint: int) -> bool:
        """Whether a group's last heartbeat had another fingerprint, whichever client sent it."""
        last = self._fingerprints.get(group)
        self._fingerprints[group] = fingerprint
        return fingerprint != 0 and last is not None and last != fingerprint

    def consume(
        self, data: ConsumerData, client: Client, connection: int, now: int, *, without_sub: bool
    ) -> None:
        """A client consumes for a group. 5.x passes over one that may not come into being."""
        name = data.group_name or ""
        config = self.broker.groups.find(name, now)
        if config is None and self.profile.v5:
            return
        if config is not None:
            self.broker.topics.create(
                f"{TopicName.RETRY_PREFIX}{name}",
                config.retry_queue_nums,
                READ | WRITE,
                now,
                flag=_UNIT_SUB if data.unit_mode else 0,
                order=self.profile.v5 and self.subscribes_in_order(data),
            )
        group = self.consumers.get(name)
        if group is None:
            group = self.consumers[name] = ConsumerGroup()
        joined = self.join(group, name, client, connection, now)
        group.consume_type = data.consume_type
        group.message_model = data.message_model
        group.consume_from_where = data.consume_from_where
        for one in data.subscription_data_set:
            one.sub_version = now if one.sub_version is None else one.sub_version
        changed = not without_sub and self.subscribe(group, data.subscription_data_set)
        if not without_sub:
            self.broker.filters.subscribed(name, data.subscription_data_set, now)
        if (joined or changed) and (config is None or config.notify_consumer_ids_changed_enable):
            self.tell_members(name, group)

    def subscribes_in_order(self, data: ConsumerData) -> bool:
        """Whether a group subscribes to an ordered topic."""
        topics = self.broker.topics
        known = (topics.get(one.topic or "") for one in data.subscription_data_set)
        return any(topic is not None and topic.order for topic in known)

    def join(self, group: ConsumerGroup, name: str, client: Client, connection: int, now: int) -> bool:
        """Make a client a member, or note that it is alive. True: it was none."""
        known = group.members.get(connection)
        if known is not None and known.id == client.id:
            known.seen = now
            return False
        group.members[connection] = msgspec.structs.replace(client)
        self._groups_of.setdefault(connection, set()).add(name)
        return known is None

    def subscribe(self, group: ConsumerGroup, subscriptions: list[Subscription]) -> bool:
        """Take over what a group subscribes to. True: a topic came or went."""
        known = group.subscriptions
        before = set(known)
        for one in subscriptions:
            old = known.get(one.topic or "")
            if old is None or (one.sub_version or 0) > (old.sub_version or 0):
                known[one.topic or ""] = one
        for topic in before - {one.topic or "" for one in subscriptions}:
            del known[topic]
        return set(known) != before

    def produce(self, group: str, client: Client, connection: int, now: int) -> None:
        """A client produces for a group."""
        members = self.producers.setdefault(group, {})
        known = members.get(connection)
        if known is None:
            members[connection] = msgspec.structs.replace(client)
            self._groups_of.setdefault(connection, set()).add(group)
        else:
            known.seen = now

    # -- leaving ---------------------------------------------------------------------------------------------

    @answers(RequestCode.UNREGISTER_CLIENT)
    def unregister(self, command: Command, connection: int, now: int) -> Reply:
        """A client leaves one group, or two."""
        ext = command.ext or {}
        producer, consumer = ext.get("producerGroup"), ext.get("consumerGroup")
        if producer is not None:
            self.stop_producing(producer, connection)
        if consumer is not None:
            config = self.broker.groups.find(consumer, now)
            self.stop_consuming(consumer, connection, now)
            group = self.consumers.get(consumer)
            if group is not None and (config is None or config.notify_consumer_ids_changed_enable):
                self.tell_members(consumer, group)
        return Reply(ResponseCode.SUCCESS, ext={})

    def stop_producing(self, group: str, connection: int) -> None:
        """A connection produces no more for a group."""
        members = self.producers.get(group)
        if members is not None and members.pop(connection, None) is not None and not members:
            del self.producers[group]

    def stop_consuming(self, name: str, connection: int, now: int) -> bool:
        """A connection consumes no more for a group. True: others still do, and may be told."""
        group = self.consumers.get(name)
        if group is None or group.members.pop(connection, None) is None:
            return False
        if not group.members:
            del self.consumers[name]
            self.broker.filters.left(name, now)
        return bool(group.members)

    def lost(self, connection: int, now: int) -> None:
        """A connection has ended: its client is out of all groups, whose other consumers are notified."""
        for group in self.leave_all(connection, now):
            self.tell_members(group, self.consumers[group])

    def leave_all(self, connection: int, now: int) -> list[str]:
        """The client of a connection is out of all groups. Those for which others still consume."""
        left = []
        for group in sorted(self._groups_of.pop(connection, ())):
            self.stop_producing(group, connection)
            if self.stop_consuming(group, connection, now):
                left.append(group)
        return left

    def tick(self, now: int) -> None:
        """End the connections of clients that have sent no heartbeat for too long; no member is notified."""
        self._scan_at += _SCAN
        members = [group.members for group in self.consumers.values()] + list(self.producers.values())
        silent = {
            connection
            for clients in members
            for connection, client in clients.items()
            if self.is_silent(client, now)
        }
        for connection in sorted(silent):
            self.leave_all(connection, now)
            self.broker.close(connection)

    def keep_clients(self, now: int, *, waits: bool) -> None:
        for members in [group.members for group in self.consumers.values()] + list(self.producers.values()):
            for client in members.values():
                client.seen = now

    def next_tick(self) -> int:
        """The next look for silent clients."""
        return self._scan_at

    def is_silent(self, client: Client, now: int) -> bool:
        """Whether a client has sent no heartbeat for too long."""
        limit = self.config.channel_expired_timeout if self.profile.v5 else _EXPIRY_49
        return now - client.seen > limit

    # -- notifications --------------------------------------------------------------------------------------

    @answers(RequestCode.GET_CONSUMER_LIST_BY_GROUP)
    def list_consumers(self, command: Command, connection: int, now: int) -> Reply:
        """The ids of a group's members, each as often as it has connections."""
        name = required.text(command.ext or {}, "consumerGroup")
        group = self.consumers.get(name)
        if group is None or not group.members:
            remark = f"no consumer for this group, {name}"
            return Reply(ResponseCode.SYSTEM_ERROR, ext={}, remark=remark)
        ids = [client.id for client in group.members.values()]
        return Reply(ResponseCode.SUCCESS, ext={}, body=document({"consumerIdList": ids}))

    def tell_members(self, name: str, group: ConsumerGroup) -> None:
        """40 to all members of a group, as far as it is to be sent at all."""
        if not self.config.notify_consumer_ids_changed_enable or not self.is_told(group):
            return
        for connection in group.members:
            self.broker.push(
                connection, Command(RequestCode.NOTIFY_CONSUMER_IDS_CHANGED, ext={"consumerGroup": name})
            )

    def is_told(self, group: ConsumerGroup) -> bool:
        """Whether members of a group are notified of each other: not where each gets every message (5.x)."""
        return not (self.profile.v5 and group.is_broadcasting)

    # -- what other parts ask --------------------------------------------------------------------------------

    def find_consumer(self, group: str, client_id: str) -> int | None:
        """The connection of a member by its client id."""
        known = self.consumers.get(group)
        found = known.members.items() if known is not None else ()
        return next((connection for connection, client in found if client.id == client_id), None)
