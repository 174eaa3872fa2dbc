"""What a member of a group does when the group has changed."""

from __future__ import annotations

from harness.remarks import times
from harness.remarks.judge import Desk, Judge
from harness.remarks.stream import Ended, Said
from harness.report.text import seconds
from harness.wire import RequestCode, WireError
from harness.wire.bodies import AssignmentQuestion


class Rebalances(Judge):
    statements = ("membership.rebalance-follows-notification",)

    def __init__(self, desk: Desk) -> None:
        super().__init__(desk)
        self._shared: set[tuple[str, str]] = set()
        """Clients and groups that have asked for their share of the queues; others need none."""
        self._notified: dict[tuple[str, str], Said] = {}

    def pushed(self, said: Said) -> None:
        member = said.connection.client, said["consumerGroup"] or ""
        if said.command.code != RequestCode.NOTIFY_CONSUMER_IDS_CHANGED or member not in self._shared:
            return
        if member in self._notified:
            return  # one rebalance does for both
        self._notified[member] = said

        def late() -> None:
            del self._notified[member]
            self.remark(
                "membership.rebalance-follows-notification",
                f"was notified that group {member[1]!r} has changed, and asked within "
                f"{seconds(times.REBALANCE)} neither for its members (38) nor for its queues (400)",
                said,
            )

        self._desk.expect(("rebalance", member), times.REBALANCE, late)

    def asked(self, said: Said) -> None:
        code, client = said.command.code, said.connection.client
        if code == RequestCode.GET_CONSUMER_LIST_BY_GROUP:
            self._rebalances(client, said["consumerGroup"] or "")
        elif code == RequestCode.QUERY_ASSIGNMENT:
            try:
                question = AssignmentQuestion.decode(said.command.body)
            except WireError:
                return
            self._rebalances(question.client_id or client, question.consumer_group or "")
        elif code == RequestCode.UNREGISTER_CLIENT:
            self._is_over((said["clientID"] or client, said["consumerGroup"] or ""))

    def ended(self, end: Ended) -> None:
        for member in [one for one, said in self._notified.items() if said.connection is end.connection]:
            self._is_over(member)

    def _rebalances(self, client: str, group: str) -> None:
        if client:
            self._shared.add((client, group))
        for member in [one for one in self._notified if one[1] == group and client in ("", one[0])]:
            self._is_over(member)

    def _is_over(self, member: tuple[str, str]) -> None:
        self._notified.pop(member, None)
        self._desk.met(("rebalance", member))
