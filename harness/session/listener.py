"""What a target sends of its own accord, to an address where a simulated broker listens.

Rules of this module:
- Nothing happens in the background: connections and frames wait in the listener until they are asked for.
- Requests are taken in the order in which they arrived, each once.
- Silence is a while in which nothing came, after which the target was seen to answer something.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from harness.session.exchange import Asked, Exchange, Question
from harness.session.link import Link
from harness.session.outcome import Outcome, Replied, Silent, Stalled
from harness.session.transport import Listening

if TYPE_CHECKING:
    from harness.session.session import Session

__all__ = ["Listener"]

_QUIET = 0.5
"""Waiting seconds after which nothing more is expected to come."""


class Listener:
    """An address where a case listens. Made by ``broker.listen()``."""

    def __init__(self, session: Session, listening: Listening) -> None:
        self._session = session
        self._listening = listening
        self._links: list[Link] = []

    @property
    def address(self) -> str:
        """``ip:port``, as a broker would register it."""
        return self._listening.address

    def next_request(self) -> Exchange:
        """Awaits the next request of the target's. To be judged by ``Request(…)`` or ``Silence()``."""
        return Exchange(_Heard(self._session, self))

    def close(self) -> None:
        """Nobody listens any more. May be called more than once."""
        self._listening.close()

    def hear(self, *, silence_is_an_answer: bool) -> Outcome:
        """The next request, or that none came."""
        session, clock = self._session, self._session.clock
        began = clock.waiting()
        end = began + clock.timing.answer
        if silence_is_an_answer:
            end = clock.waiting() + _QUIET
        while (heard := self._taken()) is None:
            if clock.waiting() >= end:
                kind = Silent if session.is_answered() else Stalled
                return kind(connection=session.connection.id, at=clock.now(), waited=clock.waiting() - began)
            session.pause(clock.timing.pause)
        return heard

    def _taken(self) -> Replied | None:
        while (transport := self._listening.accept()) is not None:
            self._links.append(self._session.adopt(transport))
        for link in self._links:
            link.notice()
            stray = link.take_request()
            if stray is not None:
                return Replied(
                    connection=link.number,
                    event=stray.event,
                    at=self._session.clock.now(),
                    unexpected=link.strays,
                    command=stray.command,
                    frame=stray.frame,
                )
        return None


class _Heard(Question):
    """A question that nobody asks: what the target says next."""

    def __init__(self, session: Session, listener: Listener) -> None:
        def ask() -> Asked:
            return Asked(session.connection.link, None, None, b"", None, session.clock.now())

        super().__init__(session, f"next request at {listener.address}", ask, repeatable=False)
        self._listener = listener

    def outcome(self, *, silence_is_an_answer: bool = False) -> Outcome:
        if self._outcome is None:
            self._outcome = self._listener.hear(silence_is_an_answer=silence_is_an_answer)
        return self._outcome
