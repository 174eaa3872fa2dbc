"""Whether a request is answered while it should not be: a look at it that decides nothing.

The request can be judged afterwards, as if nothing had looked.
"""

from __future__ import annotations

from harness.session.exchange import Exchange, Request, SentRequest
from harness.session.outcome import Outcome, Silent, Stalled


class Meanwhile(Request):
    """What has become of another request within these protocol seconds."""

    def __init__(self, exchange: Exchange, seconds: float) -> None:
        session = exchange.session

        def ask() -> SentRequest:
            return SentRequest(None, None, None, b"", None, session.clock.now())

        super().__init__(session, f"{exchange.subject} within {seconds:g} s", ask, repeatable=False)
        self._other = exchange.origin
        self._seconds = seconds

    def outcome(self, *, silence_is_an_answer: bool = False) -> Outcome:
        if self._outcome is None:
            self._outcome = self._looked()
        return self._outcome

    def _looked(self) -> Outcome:
        session, clock = self.session, self.session.clock
        began, end = clock.waiting(), clock.now() + self._seconds
        link, want = self._other.asked.link, self._other.asked.want
        while link is not None:
            link.notice()
            if want is not None and want.result is not None:
                return want.result
            if (ending := link.ending()) is not None:
                return ending
            if clock.now() >= end:
                break
            paused = clock.waiting()
            session.pause(clock.timing.pause)
            if clock.kind != "virtual":
                session.prolong(clock.waiting() - paused)  # time asked for is not time lost
        kind = Silent if session.is_answered() else Stalled
        return kind(connection=0, at=clock.now(), waited=clock.waiting() - began)


def meanwhile(exchange: Exchange, seconds: float) -> Exchange:
    """What has become of a request within these protocol seconds. To be judged by ``Silence()``."""
    return Exchange(Meanwhile(exchange, seconds))
