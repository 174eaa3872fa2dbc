"""What the heartbeats of a group subscribe to."""

from __future__ import annotations

from typing import TypeAlias

from harness.remarks.judge import Desk, Judge
from harness.remarks.stream import Ended, Said
from harness.wire import RequestCode
from harness.wire.bodies import Subscription
from harness.wire.messages import TopicName

_Wanted: TypeAlias = dict[str, tuple[str, str]]
"""By topic: expression and kind of expression."""


class Subscriptions(Judge):
    statements = ("membership.changed-subscription-is-newer", "membership.group-has-one-subscription")

    def __init__(self, desk: Desk) -> None:
        super().__init__(desk)
        self._last: dict[int, dict[tuple[str, str], tuple[Subscription, Said]]] = {}
        """Of each connection, by group and topic."""
        self._members: dict[tuple[str, str], dict[int, tuple[_Wanted, Said]]] = {}
        """By server and group: what each connection that is open subscribes to."""

    def asked(self, said: Said) -> None:
        connection, code = said.connection, said.command.code
        if code == RequestCode.UNREGISTER_CLIENT:
            self._members.get((connection.server, said["consumerGroup"] or ""), {}).pop(
                connection.number, None
            )
        if code != RequestCode.HEART_BEAT or connection.beat is None:
            return
        for group in connection.beat.consumer_data_set:
            name = group.group_name or ""
            for one in group.subscription_data_set:
                self._newer(said, (name, one.topic or ""), one)
            self._same(said, name, group.subscription_data_set)

    def ended(self, end: Ended) -> None:
        self._last.pop(end.connection.number, None)
        for members in self._members.values():
            members.pop(end.connection.number, None)

    def _newer(self, said: Said, of: tuple[str, str], one: Subscription) -> None:
        last = self._last.setdefault(said.connection.number, {})
        if of in last:
            before, beat = last[of]
            old, new = before.sub_version, one.sub_version
            is_older = old is not None and new is not None and new <= old
            if is_older and _expression(before) != _expression(one):
                self.remark(
                    "membership.changed-subscription-is-newer",
                    f"changed the subscription of group {of[0]!r} to topic {of[1]!r} from "
                    f"{before.sub_string!r} to {one.sub_string!r} with subVersion {new} after {old}: the "
                    "Broker keeps the old one",
                    beat,
                    said,
                )
        last[of] = one, said

    def _same(self, said: Said, group: str, subscribed: list[Subscription]) -> None:
        wanted = {
            one.topic: _expression(one)
            for one in subscribed
            if one.topic and not one.topic.startswith(TopicName.RETRY_PREFIX)
        }
        members = self._members.setdefault((said.connection.server, group), {})
        members[said.connection.number] = wanted, said
        for number, (others, beat) in members.items():
            if number != said.connection.number and others != wanted:
                self.remark(
                    "membership.group-has-one-subscription",
                    f"subscribes group {group!r} to {_shown(wanted)}, while a member of it subscribes to "
                    f"{_shown(others)}",
                    beat,
                    said,
                    kind=group,
                )
                return


def _expression(one: Subscription) -> tuple[str, str]:
    return one.sub_string or "", one.expression_type or ""


def _shown(wanted: _Wanted) -> str:
    return (
        ", ".join(f"{topic} {expression!r}" for topic, (expression, _) in sorted(wanted.items())) or "nothing"
    )
