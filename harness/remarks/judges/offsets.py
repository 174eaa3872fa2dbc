"""Offsets that consumers commit."""

from __future__ import annotations

from harness.remarks.judge import Desk, Judge
from harness.remarks.stream import Said
from harness.wire import RequestCode
from harness.wire.header_fields import PullFlag

from .reading import PULLS, Place, number, place


class Offsets(Judge):
    statements = ("consuming.offset-goes-back-with-pulls",)

    def __init__(self, desk: Desk) -> None:
        super().__init__(desk)
        self._committed: dict[tuple[str, Place], dict[tuple[int, bool], tuple[int, Said]]] = {}
        """By host and place; then by connection and whether a pull carried it: what two threads of a client
        send may overtake each other.
        """

    def asked(self, said: Said) -> None:
        code, where = said.command.code, (said.connection.host, place(said))
        if code == RequestCode.UPDATE_CONSUMER_OFFSET:
            self._commits(said, where, number(said["commitOffset"]), by_pull=False)
        elif code == RequestCode.QUERY_CONSUMER_OFFSET:
            self._committed.pop(where, None)  # it begins anew
        elif code in PULLS:
            self._pulls(said, where)

    def pushed(self, said: Said) -> None:
        if said.command.code == RequestCode.RESET_CONSUMER_CLIENT_OFFSET:
            of = said["group"], said["topic"]
            for where in [one for one in self._committed if one[1][:2] == of]:
                del self._committed[where]

    def _pulls(self, said: Said, where: tuple[str, Place]) -> None:
        offset, flag = number(said["queueOffset"]), number(said["sysFlag"]) or 0
        if flag & PullFlag.COMMIT:
            self._commits(said, where, number(said["commitOffset"]), by_pull=True)
        known = self._committed.get(where, {})
        for by in [one for one, (committed, _) in known.items() if offset is not None and offset < committed]:
            del known[by]

    def _commits(self, said: Said, where: tuple[str, Place], offset: int | None, *, by_pull: bool) -> None:
        if offset is None:
            return
        known, by = self._committed.setdefault(where, {}), (said.connection.number, by_pull)
        if by in known and offset < known[by][0]:
            _, topic, queue = where[1]
            self.remark(
                "consuming.offset-goes-back-with-pulls",
                f"committed offset {offset} of queue {queue} of topic {topic!r} after {known[by][0]}, and "
                "has not pulled from before that since",
                known[by][1],
                said,
            )
        known[by] = offset, said
