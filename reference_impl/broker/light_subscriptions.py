"""Who subscribes to which light topics (5.5).

1. A client subscribes for the group and the parent with which it first did so. It adds light topics or
   takes them away, or says all of them at once, or none.
2. Where the group is exclusive, a light topic has one client of it: the last that subscribed. The one before
   learns that it has lost the light topic.
3. A client of a group that consumes all light topics of its parent says that it is there, and no light topic.
4. Who adds a light topic may say where the group goes on in it.
5. What a client does not say again goes after a while, as the client does.
6. Subscriptions are in memory only: clients say them again.

Source: LiteSubscriptionCtlProcessor, LiteSubscriptionRegistryImpl of rocketmq-all-5.5.0.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Final

import msgspec

from harness.wire import Command, RequestCode, ResponseCode
from harness.wire.bodies import LightSubscription, LightSubscriptionList, OffsetOption
from reference_impl.remoting.reply import RefusedError, Reply
from reference_impl.remoting.requests import answers

from . import required
from .attributes import ANEW_AFTER_LEAVING, ANEW_WITH_ANOTHER, EXCLUSIVE, MODEL, WILDCARD
from .light_names import is_of_light_topic, parted, queue_of
from .part import NEVER, Part

if TYPE_CHECKING:
    from .core import Broker

_FORGOTTEN: Final = 180_000
"""ms without a change after which the subscriptions of a client go (`liteSubscriptionCheckTimeoutMills`)."""
_SCAN: Final = 120_000
"""ms between two looks for them (`liteSubscriptionCheckInterval`)."""
_FIRST: Final = 1
_END: Final = 2
"""Values of an offsetOption of the type POLICY; with others, nothing changes."""


class Subscribed(msgspec.Struct):
    """What a client subscribes to."""

    group: str
    topic: str
    connection: int
    changed: int
    queues: dict[str, None] = {}


class LightSubscriptions(Part):
    """Keeps the subscriptions to light topics."""

    def __init__(self, broker: Broker) -> None:
        super().__init__(broker)
        self.by_client: dict[str, Subscribed] = {}
        self._clients: dict[str, dict[str, None]] = {}
        """By queue of a light topic."""
        self._of_all: dict[str, dict[str, None]] = {}
        """By parent: clients that subscribe to all of its light topics."""
        self._next_scan = NEVER

    @answers(RequestCode.LITE_SUBSCRIPTION_CTL, v55=True)
    def change(self, command: Command, connection: int, now: int) -> Reply:
        """Subscriptions that lack something are passed over; those before a refused one have been changed."""
        if not command.body:
            return Reply(ResponseCode.ILLEGAL_OPERATION, remark="Request body is null.")
        said = self.subscriptions(command)
        if not said:
            return Reply(ResponseCode.ILLEGAL_OPERATION, remark="LiteSubscriptionCtlRequestBody is empty.")
        for one in said:
            if not all((name or "").strip() for name in (one.client_id, one.group, one.topic)):
                continue
            refused = self.changed(one, connection, now)
            if refused is not None:
                return refused
        return Reply(ResponseCode.SUCCESS)

    def changed(self, said: LightSubscription, connection: int, now: int) -> Reply | None:
        """Do what one subscription says; or the refusal. Raises RefusedError."""
        client, group, topic, action = said.client_id or "", said.group or "", said.topic or "", said.action
        queues = [queue_of(topic, light) for light in said.light_topics or () if light]
        if action in ("PARTIAL_ADD", "COMPLETE_ADD"):
            refused = self.refused(group, now, is_partial=action == "PARTIAL_ADD")
            if refused is not None:
                return refused
            option = said.offset_option
            if option is not None and option.type is None:
                raise RefusedError("the type of an offsetOption is missing or unknown")
            mine = self.of(client, group, topic, connection, now)
            mine.connection = connection
            if action == "COMPLETE_ADD":
                if self.takes_all(group, now):
                    queues = [_all_of(topic, group)]
                self.leave(client, [queue for queue in mine.queues if queue not in queues], now)
                self.join(client, queues, now, alone=False)
            else:
                self.join(client, queues, now, alone=self.is_exclusive(group, now), option=option)
        elif action == "PARTIAL_REMOVE":
            mine = self.of(client, group, topic, connection, now)
            left = [queue for queue in queues if queue in mine.queues]
            self.leave(client, queues, now)
            if self.begins_anew(group, ANEW_AFTER_LEAVING, now):
                for queue in left:
                    self.go_on(queue, mine.group, 0, now)
        elif action == "COMPLETE_REMOVE":
            self.forget(client, now)
        else:
            raise RefusedError("the action of a subscription is missing or unknown")
        return None

    def refused(self, group: str, now: int, *, is_partial: bool) -> Reply | None:
        """Why a group may not subscribe."""
        found = self.broker.groups.find(group, now)
        if found is None or not found.consume_enable:
            remark = "Consumer group is not allowed to consume."
            return Reply(ResponseCode.ILLEGAL_OPERATION, remark=remark)
        if not is_partial:
            return None
        if self.is_full():
            most = self.config.max_lite_subscription_count
            remark = f"lite subscription quota exceeded {most}"
            return Reply(ResponseCode.LITE_SUBSCRIPTION_QUOTA_EXCEEDED, remark=remark)
        if self.takes_all(group, now):
            remark = "subscribe lite operation is not supported for this group"
            return Reply(ResponseCode.ILLEGAL_OPERATION, remark=remark)
        return None

    # -- changing --------------------------------------------------------------------------------------------

    def of(self, client: str, group: str, topic: str, connection: int, now: int) -> Subscribed:
        """What a client subscribes to; it may be nothing yet."""
        if not self.by_client:
            self._next_scan = self.next_scan(now)
        return self.by_client.setdefault(client, Subscribed(group, topic, connection, now))

    def join(
        self,
        client: str,
        queues: Iterable[str],
        now: int,
        *,
        alone: bool,
        option: OffsetOption | None = None,
    ) -> None:
        """A client subscribes to light topics: for its group alone, or with others."""
        mine = self.by_client[client]
        for queue in queues:
            if alone:
                for one in self.of_group(queue, mine.group):  # the client itself, if it has the topic
                    self.lose(one, queue, now)
            place = None if option is None else self.place(queue, mine.group, option)
            if place is not None:
                self.go_on(queue, mine.group, place, now)
            mine.queues[queue], mine.changed = None, now
            self._clients.setdefault(queue, {})[client] = None
            if not is_of_light_topic(queue):
                self._of_all.setdefault(mine.topic, {})[client] = None
            self.broker.light_pops.has_more(queue, mine.group)

    def leave(self, client: str, queues: Iterable[str], now: int) -> None:
        """A client subscribes to light topics no longer."""
        mine = self.by_client[client]
        for queue in list(queues):
            mine.queues.pop(queue, None)
            mine.changed = now
            clients = self._clients.get(queue, {})
            clients.pop(client, None)
            if not clients:
                self._clients.pop(queue, None)
            if not is_of_light_topic(queue):
                self._of_all.get(mine.topic, {}).pop(client, None)

    def go_on(self, queue: str, group: str, offset: int, now: int) -> None:
        """A group goes on elsewhere in a light topic; what it popped there before blocks nothing."""
        if self.broker.offsets.offset_of(group, queue, 0) != offset:
            self.broker.offsets.reset(group, queue, 0, offset, now)
            self.broker.pop_order.clear((queue, group, 0))

    def lose(self, client: str, queue: str, now: int) -> None:
        """A client of an exclusive group loses a light topic, to another or to itself."""
        self.leave(client, [queue], now)
        mine, (_, light) = self.by_client[client], parted(queue)
        if self.begins_anew(mine.group, ANEW_WITH_ANOTHER, now):
            self.go_on(queue, mine.group, 0, now)
        told: dict[str, str | None] = {"clientId": client, "consumerGroup": mine.group, "liteTopic": light}
        self.broker.push(mine.connection, Command(RequestCode.NOTIFY_UNSUBSCRIBE_LITE, ext=told))

    def forget(self, client: str, now: int) -> None:
        """A client subscribes to nothing."""
        mine = self.by_client.get(client)
        if mine is not None:
            self.leave(client, mine.queues, now)
            del self.by_client[client]
            self.broker.light_pops.accessed.pop(client, None)

    def forget_queue(self, queue: str, now: int) -> None:
        """A light topic is no longer there."""
        for client in list(self._clients.get(queue, ())):
            self.leave(client, [queue], now)

    # -- decisions (see parts.py) ----------------------------------------------------------------------------

    def subscriptions(self, command: Command) -> list[LightSubscription]:
        """The subscriptions of a request. Raises RefusedError."""
        body = required.body(command, LightSubscriptionList.decode, self.profile.engine)
        return body.subscriptions or []

    def is_exclusive(self, group: str, now: int) -> bool:
        """Whether a light topic has one client of a group."""
        found = self.broker.groups.find(group, now)
        return found is not None and (found.attributes or {}).get(MODEL) == EXCLUSIVE

    def is_full(self) -> bool:
        """Whether there are as many subscriptions as there may be."""
        return self.count() >= self.config.max_lite_subscription_count

    def queues_of(self, client: str) -> list[str]:
        """The queues of the light topics to which a client subscribes."""
        mine = self.by_client.get(client)
        if mine is None:
            return []
        if client in self._of_all.get(mine.topic, ()):
            return self.broker.light_topics.queues(mine.topic)
        return list(mine.queues)

    def takes_all(self, group: str, now: int) -> bool:
        """Whether a group consumes all light topics of its parent."""
        return self.is_set(group, WILDCARD, now)

    def begins_anew(self, group: str, when: str, now: int) -> bool:
        """Whether a group begins a light topic anew when a client of it has left it so."""
        return self.is_set(group, when, now)

    def is_set(self, group: str, attribute: str, now: int) -> bool:
        """Whether an attribute of a group is true."""
        found = self.broker.groups.find(group, now)
        return found is not None and (found.attributes or {}).get(attribute, "").lower() == "true"

    def place(self, queue: str, group: str, option: OffsetOption) -> int | None:
        """Where in a light topic a subscription lets its group go on; None: where it is."""
        if option.type == "POLICY":
            return {_FIRST: 0, _END: self.broker.store.max_offset(queue, 0)}.get(option.value)
        if option.type == "OFFSET":
            return option.value
        at = self.broker.offsets.offset_of(group, queue, 0) if option.type == "TAIL_N" else None
        return None if at is None else max(0, at - option.value)

    def of_group(self, queue: str, group: str | None = None) -> list[str]:
        """The clients that subscribe to a light topic: all, or those of a group."""
        clients = [*self._clients.get(queue, ()), *self._of_all.get(parted(queue)[0], ())]
        return [one for one in clients if group is None or self.by_client[one].group == group]

    def shown(self, queue: str) -> list[dict[str, str]]:
        """Who subscribes to a light topic; all clients of a group that subscribe to every one are one."""
        topic = parted(queue)[0]
        named = [(client, self.by_client[client].group) for client in self._clients.get(queue, ())]
        unnamed = [("*", self.by_client[client].group) for client in self._of_all.get(topic, ())]
        return [{"clientId": client, "group": group} for client, group in dict.fromkeys((*named, *unnamed))]

    def count(self) -> int:
        """How many pairs there are of a client and a light topic."""
        return sum(map(len, self._clients.values()))

    def next_scan(self, now: int) -> int:
        """When the look after this moment comes."""
        return self.broker.started + ((now - self.broker.started) // _SCAN + 1) * _SCAN

    def next_tick(self) -> int:
        """The next look, at the same distances from the start."""
        return self._next_scan if self.by_client else NEVER

    def tick(self, now: int) -> None:
        """Forget clients that have said nothing for long."""
        self._next_scan = self.next_scan(now)
        for client in [name for name, one in self.by_client.items() if self.is_silent(one, now)]:
            self.forget(client, now)

    def is_silent(self, one: Subscribed, now: int) -> bool:
        """Whether the subscriptions of a client have not changed for too long."""
        return now - one.changed > _FORGOTTEN


def _all_of(topic: str, group: str) -> str:
    """What stands in the place of a queue for all light topics of a parent."""
    return f"{topic}@{group}"
