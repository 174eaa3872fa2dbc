"""What a target says of its own accord.

- Nothing happens in the background: what comes waits until it is asked for.
- Requests are taken in the order in which they arrived, each once.
- Silence is a while in which nothing came, after which the target was seen to answer something.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from harness.session.exchange import Request, SentRequest
from harness.session.outcome import Outcome, Replied, Silent, Stalled

if TYPE_CHECKING:
    from harness.session.session import Session


_QUIET = 0.5
"""Waiting seconds after which nothing more is expected to come."""


class AwaitedRequest(Request):
    """Waits for what the target sends next on its own. ``take`` gives it once it is there."""

    def __init__(self, session: Session, subject: str, take: Callable[[], Replied | None]) -> None:
        def ask() -> SentRequest:
            return SentRequest(None, None, None, b"", None, session.clock.now())

        super().__init__(session, subject, ask, repeatable=False)
        self._take = take

    def outcome(self, *, silence_is_an_answer: bool = False) -> Outcome:
        if self._outcome is None:
            self._outcome = self._awaited(_QUIET if silence_is_an_answer else None)
        return self._outcome

    def _awaited(self, patience: float | None) -> Outcome:
        session, clock = self.session, self.session.clock
        began = clock.waiting()
        end = began + (clock.timing.answer if patience is None else patience)
        while (heard := self._take()) is None:
            if clock.waiting() >= end:
                kind = Silent if session.is_answered() else Stalled
                return kind(connection=0, at=clock.now(), waited=clock.waiting() - began)
            session.pause(clock.timing.pause)
        return heard
