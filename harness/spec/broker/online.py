"""Who is online in which group of consumers, what each group subscribes to, and what its members hear.

- A member is a connection. What a group subscribes to is what the last heartbeat of any member said: a newer
  version replaces an older one, and a topic that is left out is gone.
- The Broker notifies all members of a group (40) when one joins or leaves, or when a topic comes or goes. It
  need not notify them of one whose connection it ended for want of heartbeats.
- A group of which something is not known for certain is not judged until the Broker is started again.
"""

from __future__ import annotations

import msgspec

from harness.program.broker import steps as bk
from harness.spec.broker.group_filters import GroupFilters
from harness.spec.broker.heartbeats import Heartbeats
from harness.spec.broker.invariant_error import InvariantError
from harness.spec.broker.wanted import Wanted
from harness.wire import Command, ResponseCode

_JOINED, _TOPICS, _LEFT, _GONE = (
    "members-are-told-of-a-new-one",
    "members-are-told-of-new-topics",
    "members-are-told-of-one-that-leaves",
    "members-are-told-of-a-departure",
)


class _Subscription(msgspec.Struct, frozen=True):
    version: int
    tags: tuple[str, ...]
    by_filter: bool = False


class _Told(msgspec.Struct):
    """What a connection was told about a group, and had to be."""

    must: list[tuple[int, str]] = []
    """Steps behind which it had to be told, and of what."""
    may: int = 0
    """How often it may have been told."""
    came: int = 0
    over: bool = False
    """Whether the connection has ended."""


class Online:
    """Of one Broker. ``exact``: time is virtual, and what happens is there at once."""

    def __init__(self, heartbeats: Heartbeats, *, exact: bool, held: set[str]) -> None:
        self._heartbeats = heartbeats
        self._exact = exact
        self._held = held
        self._members: dict[str, dict[str, str]] = {}
        """By group and connection: its client."""
        self._topics: dict[str, dict[str, _Subscription]] = {}
        self._told: dict[tuple[str, str], _Told] = {}
        """By connection and group."""
        self._unsure: set[str] = set()
        self.filters = GroupFilters()

    # --- what happens ---------------------------------------------------------------------------------------

    def beat(self, step: bk.Beat, number: int, answer: Command | None) -> None:
        """34."""
        for group in step.groups:
            members = self._members.setdefault(group, {})
            known = members.get(step.conn)
            if answer is None or answer.code or (known is not None and known != step.client):
                self._unsure.add(group)
                continue
            members[step.conn] = step.client
            topics = self._topics.setdefault(group, {})
            before = set(topics)
            for topic in before - set(step.topics):
                del topics[topic]
            for topic in step.topics:
                if topic not in topics or step.version > topics[topic].version:
                    topics[topic] = _Subscription(step.version, step.tags, step.filter is not None)
            if known is None:
                self._told[step.conn, group] = _Told()
                self._tells(group, number, _JOINED)
            elif set(topics) != before:
                self._tells(group, number, _TOPICS)

    def left(self, step: bk.Leave, number: int, answer: Command | None) -> None:
        """35."""
        if answer is None or answer.code:
            self._unsure.add(step.group)
        elif self._leaves(step.group, step.conn):
            self._tells(step.group, number, _LEFT)
        else:
            self._tells(step.group, number, None)

    def closed(self, conn: str, number: int, moment: float) -> None:
        """A connection had ended by a moment."""
        was_silent = self._heartbeats.may_be_ended(conn, moment)
        for group in list(self._members):
            if self._leaves(group, conn):
                self._tells(group, number, None if was_silent else _GONE)
                if not self._exact:
                    self._unsure.add(group)
        for (of, _), told in self._told.items():
            told.over = told.over or of == conn

    def restarted(self) -> None:
        """The Broker has forgotten all clients."""
        for known in (self._members, self._topics, self._told, self._unsure):
            known.clear()

    def _leaves(self, group: str, conn: str) -> bool:
        members = self._members.get(group, {})
        if members.pop(conn, None) is None:
            return False
        if not members:
            self._topics.pop(group, None)
        return True

    def _tells(self, group: str, number: int, what: str | None) -> None:
        """The members are notified, or (None) may be."""
        for conn in self._members.get(group, ()):
            told = self._told.setdefault((conn, group), _Told())
            told.may += 1
            if what is not None:
                told.must.append((number, what))

    # --- what is seen ---------------------------------------------------------------------------------------

    def told(self, conn: str, group: str, moment: float) -> None:
        """40 came on a connection. Raises `InvariantError`."""
        told = self._told.setdefault((conn, group), _Told())
        told.came += 1
        if told.came > told.may and self._is_sure(group, moment):
            raise InvariantError(
                "members-are-not-told-without-news", f"{told.may} notifications on {conn}", str(told.came)
            )

    def heard(self, conn: str, number: int, moment: float) -> None:
        """All was read on a connection that had come before a step was answered. Raises `InvariantError`."""
        if not self._exact:
            return
        for (of, group), told in self._told.items():
            must = [what for at, what in told.must if at < number]
            if of == conn and not told.over and self._is_sure(group, moment):
                self._held |= {*must, "members-are-not-told-without-news"}
            if of == conn and not told.over and told.came < len(must) and self._is_sure(group, moment):
                raise InvariantError(must[told.came], f"{len(must)} notifications on {conn}", str(told.came))

    def wants(self, step: bk.Pull, moment: float) -> Wanted | None:
        """What a pull without a subscription is to be given; None where that is not known."""
        found = self._topics.get(step.group, {}).get(step.topic)
        if not self._is_sure(step.group, moment) or found is None or step.version > found.version:
            return None
        if not found.by_filter:
            return Wanted(found.tags)
        known = self.filters.of(step.group, step.topic)
        return Wanted(filter=known.filter, filtered="group-filter-decides") if known.sure else None

    def refusal(self, step: bk.Pull, moment: float, *, filters: bool | None) -> tuple[int, str] | None:
        """The code with which a pull without a subscription has to be refused, and the invariant.

        ``filters`` says whether filters are carried out; None: that is not known.
        """
        if step.subscribes or not self._is_sure(step.group, moment):
            return None
        if not self._members.get(step.group):
            return ResponseCode.SUBSCRIPTION_NOT_EXIST, "group-that-is-not-online-is-refused"
        found = self._topics.get(step.group, {}).get(step.topic)
        if found is None:
            return ResponseCode.SUBSCRIPTION_NOT_EXIST, "topic-without-a-subscription-is-refused"
        if step.version > found.version:
            return ResponseCode.SUBSCRIPTION_NOT_LATEST, "newer-than-the-heartbeat-is-refused"
        known = self.filters.of(step.group, step.topic)
        if not found.by_filter or not known.sure:
            return None
        if known.filter is None:
            return ResponseCode.FILTER_DATA_NOT_EXIST, "unreadable-filter-takes-the-old-away"
        if step.version > known.version:
            return ResponseCode.FILTER_DATA_NOT_LATEST, "filter-that-is-too-old-is-refused"
        return (ResponseCode.SYSTEM_ERROR, "filter-is-refused-where-it-is-off") if filters is False else None

    def _is_sure(self, group: str, moment: float) -> bool:
        """Whether all is known about a group, and no connection of a member may have been ended."""
        may_be_ended, members = self._heartbeats.may_be_ended, self._members.get(group, ())
        return group not in self._unsure and not any(may_be_ended(conn, moment) for conn in members)
