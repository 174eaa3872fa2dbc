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
_ITS_REQUESTS = "requests of the target"


class AwaitedRequest(Request):
    """Waits for what the target sends next on its own. ``take`` gives it once it is there."""

    def __init__(self, session: Session, subject: str, take: Callable[[], Replied | None]) -> None:
        def ask() -> SentRequest:
            return SentRequest(None, None, None, b"", None, session.clock.now())

        super().__init__(session, subject, ask, repeatable=False)
        self._take = take

    def outcome(self, *, silence_is_an_answer: bool = False) -> Outcome:
        if self._outcome is None:
            self._outcome = self._awaited(is_patient=not silence_is_an_answer)
        return self._outcome

    def _awaited(self, *, is_patient: bool) -> Outcome:
        session, clock = self.session, self.session.clock
        began = clock.waiting()
        is_full = is_patient and not session.futile.is_known(_ITS_REQUESTS)
        end = began + (clock.timing.answer if is_full else _QUIET)
        while (heard := self._take()) is None:
            if clock.waiting() >= end:
                is_answered = session.is_answered()
                if is_full and is_answered and clock.warp:
                    session.futile.was_in_vain(_ITS_REQUESTS)
                kind = Silent if is_answered else Stalled
                return kind(connection=0, at=clock.now(), waited=clock.waiting() - began)
            session.pause(clock.timing.pause)
        session.futile.was_met(_ITS_REQUESTS)
        return heard
