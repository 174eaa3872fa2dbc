"""Routes, which change while clients are at work."""

from __future__ import annotations

from harness.remarks import times
from harness.remarks.judge import Desk, Judge
from harness.remarks.stream import Said
from harness.report.text import seconds
from harness.wire import RequestCode

from .reading import PULLS, SENDS, sent


class Routes(Judge):
    statements = ("routes.are-asked-for-again",)

    def __init__(self, desk: Desk) -> None:
        super().__init__(desk)
        self._asked: dict[tuple[str, str], Said] = {}
        """The last question for each topic, by the host that asked. One that never asked a NameServer of this
        record may have asked another.
        """

    def asked(self, said: Said) -> None:
        if said.command.code == RequestCode.GET_ROUTEINFO_BY_TOPIC:
            self._asked[said.connection.host, said["topic"] or ""] = said
            return
        if (topic := _used(said)) is None or (said.connection.host, topic) not in self._asked:
            return
        asked = self._asked[said.connection.host, topic]
        if (span := said.now - asked.now) > times.ROUTE:
            self.remark(
                "routes.are-asked-for-again",
                f"uses topic {topic!r} {seconds(span)} after its host last asked for the route",
                asked,
                said,
                kind=topic,
            )


def _used(said: Said) -> str | None:
    """The topic that a client works on; one that its heartbeats do not name may be the business of a tool."""
    beat = said.connection.beat
    if said.command.code in SENDS:
        return sent(said, "topic")
    if said.command.code not in PULLS or beat is None:
        return None
    subscribed = {one.topic for group in beat.consumer_data_set for one in group.subscription_data_set}
    return said["topic"] if said["topic"] in subscribed else None
