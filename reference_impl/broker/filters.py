"""Filters by SQL92: of pulls and pops that bring one, and of groups, which say theirs in heartbeats.

1. A group's filter of a topic is replaced by one of a later version only, and forgotten where that one cannot
   be compiled. It outlives the group: it is dead until the group is back, and goes a day later.
2. Filters of groups are kept whether `enablePropertyFilter` is on or not; pulls that need them are refused
   where it is off. Pops are not.
3. `enableCalcFilterBitMap` is taken and does nothing: it makes Apache's Broker faster, and no answer another.

Filters are in `config/consumerFilter.json`, without the bloom filters that Apache's Broker adds.

Source: ConsumerFilterManager, ConsumerFilterData, ExpressionMessageFilter, ExpressionForRetryMessageFilter,
PullMessageProcessor of rocketmq-all-4.9.8 and rocketmq-all-5.3.3; PopMessageProcessor of rocketmq-all-5.3.3.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from functools import lru_cache
from typing import TYPE_CHECKING, Final

import msgspec

from harness.wire import Command, RequestCode, ResponseCode, WireError
from harness.wire.bodies import Subscription, SubscriptionCheck
from harness.wire.messages import PropertyName, TopicName
from reference_impl.remoting.reply import Reply
from reference_impl.remoting.requests import answers

from . import required
from .part import NEVER, Part
from .sql import NoExpressionError, Selector, compiled
from .store import Wanted
from .tables import as_file, stored_table

if TYPE_CHECKING:
    from .core import Broker

TAG: Final = "TAG"
"""The kind of expression that is no filter by SQL; what is empty or missing counts as this one."""
FILTERS_FILE: Final = "config/consumerFilter.json"
_CLEANS: Final = 10_000
"""ms between two looks for filters that are over."""
_DEAD_SINCE: Final = 30_000
"""ms before the start at which all groups are taken to have left that the last run knew."""


class GroupFilter(msgspec.Struct, rename="camel"):
    """What a group wants of a topic. Times are ms since the epoch."""

    consumer_group: str
    topic: str
    expression: str
    expression_type: str
    client_version: int
    born_time: int
    dead_time: int = 0

    @property
    def is_dead(self) -> bool:
        """Whether its group is away, or no longer subscribes to the topic."""
        return self.dead_time >= self.born_time


class _ByGroup(msgspec.Struct, rename="camel"):
    topic: str
    group_filter_data: dict[str, GroupFilter] = {}


class _Table(msgspec.Struct, rename="camel"):
    filter_data_by_topic: dict[str, _ByGroup] = {}

    @classmethod
    def decode(cls, data: bytes) -> _Table:
        """Raises WireError."""
        try:
            return msgspec.json.decode(data, type=cls)
        except msgspec.MsgspecError as error:
            raise WireError(str(error)) from error


class Filters(Part):
    """Compiles filters, and keeps those of groups."""

    def __init__(self, broker: Broker) -> None:
        super().__init__(broker)
        self.table: dict[tuple[str, str], GroupFilter] = {}
        """By topic and group."""
        self._unwritten = False
        self._compiled = lru_cache(maxsize=256)(self.compile)
        stored = stored_table(broker.stored, FILTERS_FILE, _Table.decode)
        for topic, by_group in (_Table() if stored is None else stored).filter_data_by_topic.items():
            for group, one in by_group.group_filter_data.items():
                if not one.dead_time:
                    one.dead_time = max(one.born_time, broker.started - _DEAD_SINCE)
                self.table[topic, group] = one
        self._clean_at = broker.started + _CLEANS if self.table else NEVER

    # -- texts -----------------------------------------------------------------------------------------------

    def selector(self, kind: str | None, text: str | None) -> Selector | None:
        """What a text of a kind of expression says; None: it cannot be compiled."""
        return self._compiled(text) if kind == "SQL92" and text else None

    def compile(self, text: str) -> Selector | None:
        """The same of SQL92, for the first time."""
        try:
            return compiled(text, v5=self.profile.v5)
        except NoExpressionError:
            return None

    # -- of groups -------------------------------------------------------------------------------------------

    def of(self, topic: str, group: str) -> GroupFilter | None:
        """The filter of a group, dead or not."""
        return self.table.get((topic, group))

    def subscribed(self, group: str, subscriptions: Collection[Subscription], now: int) -> None:
        """A member of a group has said what the group subscribes to."""
        for one in subscriptions:
            kind, text = one.expression_type or TAG, one.sub_string
            if kind != TAG and text:
                made = GroupFilter(group, one.topic or "", text, kind, one.sub_version or 0, now)
                self.take(made)
        topics = {one.topic or "" for one in subscriptions}
        self.bury({topic for topic, owner in self.table if owner == group} - topics, group, now)

    def take(self, made: GroupFilter) -> None:
        """Take over a filter that a group has said, unless an earlier one counts."""
        place = (made.topic, made.consumer_group)
        old = self.table.get(place)
        if old is not None and not self.replaces(made, old):
            if made.client_version == old.client_version and old.is_dead:
                self.revive(old)
            return
        if self.selector(made.expression_type, made.expression) is not None:
            self.table[place] = made
        elif old is not None:
            self.forget(place)
        self._unwritten = True

    def replaces(self, made: GroupFilter, old: GroupFilter) -> bool:
        """Whether a filter counts instead of an earlier one."""
        return made.client_version > old.client_version

    def revive(self, known: GroupFilter) -> None:
        """The group of a filter is back."""
        known.dead_time = 0
        self._unwritten = True

    def forget(self, place: tuple[str, str]) -> None:
        """A group has said a filter that cannot be compiled in the place of one that can."""
        del self.table[place]

    def left(self, group: str, now: int) -> None:
        """The last member of a group is gone."""
        self.bury({topic for topic, owner in self.table if owner == group}, group, now)

    def bury(self, topics: Collection[str], group: str, now: int) -> None:
        """A group subscribes to these topics no longer."""
        for topic in topics:
            known = self.table[topic, group]
            if not known.is_dead:
                known.dead_time = now
                self._unwritten = True
                self._clean_at = min(self._clean_at, now + _CLEANS)

    def tick(self, now: int) -> None:
        """Forget what has been dead for too long."""
        kept = {place: one for place, one in self.table.items() if not self.is_over(one, now)}
        self._unwritten |= len(kept) < len(self.table)
        self.table = kept
        self._clean_at = now + _CLEANS if any(one.is_dead for one in kept.values()) else NEVER

    def next_tick(self) -> int:
        """The next look for filters that have been dead for too long, if any is dead."""
        return self._clean_at

    def settle(self, now: int) -> None:
        """What has changed is to be written."""
        if self._unwritten:
            self._unwritten = False
            self.broker.persist(FILTERS_FILE, as_file(msgspec.to_builtins(self._document())))

    def is_over(self, one: GroupFilter, now: int) -> bool:
        """Whether a filter has been dead for too long."""
        return one.is_dead and now - one.dead_time >= self.config.filter_data_clean_time_span

    def _document(self) -> _Table:
        table = _Table()
        for (topic, group), one in self.table.items():
            by_group = table.filter_data_by_topic.setdefault(topic, _ByGroup(topic))
            by_group.group_filter_data[group] = one
        return table

    # -- of requests -----------------------------------------------------------------------------------------

    @answers(RequestCode.CHECK_CLIENT_CONFIG)
    def check(self, command: Command, connection: int, now: int) -> Reply:
        """Whether a subscription can be served: one by tags can, and none that is not there hinders."""
        wanted = self.to_check(command)
        kind = (wanted and wanted.expression_type) or TAG
        if wanted is None or kind == TAG:
            return Reply(ResponseCode.SUCCESS)
        if not self.config.enable_property_filter:
            return Reply(ResponseCode.SYSTEM_ERROR, remark=self.off(kind))
        if self.selector(kind, wanted.sub_string) is None:
            remark = f"{wanted.sub_string} is no expression of {kind}"
            return Reply(ResponseCode.SUBSCRIPTION_PARSE_FAILED, remark=remark)
        return Reply(ResponseCode.SUCCESS)

    def to_check(self, command: Command) -> Subscription | None:
        """The subscription that a client wants to have checked; None: there is none."""
        if self.profile.v5 and command.body in (b"", b"null"):
            return None
        return required.body(command, SubscriptionCheck.decode, self.profile.engine).subscription_data

    def brought(self, kind: str, text: str | None) -> Wanted | Reply:
        """What a pull wants that brings its own filter; or the refusal."""
        if not self.config.enable_property_filter:
            return Reply(ResponseCode.SYSTEM_ERROR, ext={}, remark=self.off(kind))
        selector = self.selector(kind, text)
        if selector is None:
            remark = "parse the consumer's subscription failed"
            return Reply(ResponseCode.SUBSCRIPTION_PARSE_FAILED, ext={}, remark=remark)
        return Wanted(properties=selector.wants)

    def said(self, kind: str, topic: str, group: str, version: int) -> Wanted | Reply | None:
        """What a pull wants whose group said its filter in heartbeats; or the refusal."""
        known = self.of(topic, group)
        if known is None:
            remark = "The broker's consumer filter data is not exist!Your expression may be wrong!"
            return Reply(ResponseCode.FILTER_DATA_NOT_EXIST, ext={}, remark=remark)
        if known.client_version < version:
            remark = "the consumer's consumer filter data not latest"
            return Reply(ResponseCode.FILTER_DATA_NOT_LATEST, ext={}, remark=remark)
        if not self.config.enable_property_filter:
            return Reply(ResponseCode.SYSTEM_ERROR, ext={}, remark=self.off(kind))
        selector = self.selector(known.expression_type, known.expression)
        return None if selector is None else Wanted(properties=selector.wants)

    def off(self, kind: str) -> str:
        """The remark of the refusal of all filters but those by tags."""
        return f"The broker does not support consumer to filter message by {kind}"

    def of_first_topic(self, group: str) -> Wanted:
        """What a group wants of messages that come again: what it wants of their first topic."""

        def passes(properties: Mapping[str, str]) -> bool:
            known = self.of(properties.get(PropertyName.RETRY_TOPIC, ""), group)
            selector = known and self.selector(known.expression_type, known.expression)
            return not selector or selector.wants(properties)

        return Wanted(properties=passes)

    def looks_at_first_topic(self, topic: str) -> bool:
        """Whether messages of a topic are filtered by the topic that they were sent to first."""
        return self.config.filter_support_retry and topic.startswith(TopicName.RETRY_PREFIX)
