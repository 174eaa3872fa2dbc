"""Time in terms of what runs out: leases, idle timers, intervals.

``advance_past`` and ``advance_short_of`` know how often a target looks at what runs
out, and how exactly its clock can be steered, so that a case does no arithmetic.
"""

from __future__ import annotations

from harness.session.connection import Connection
from harness.session.errors import TooLate
from harness.session.outcome import Answer, Mark
from harness.session.session import Session


class TermSession(Session):
    """A session that knows how often its target looks at leases."""

    @property
    def scan_interval(self) -> float:
        """Protocol seconds within which a lease that has run out is noticed."""
        raise NotImplementedError

    @property
    def overlap(self) -> float:
        """Protocol seconds by which one lease must begin after another of the same length, so that the first
        has surely been seen to end while the second surely lasts.

        To wait ``overlap`` and then let the second one nearly run out takes little more than one lease
        in all.
        """
        return self.scan_interval + self.jitter + self.clock.timing.margin + 1

    def advance_past(
        self, seconds: float, since: Answer | Mark | None = None, idle: tuple[Connection, ...] = ()
    ) -> None:
        """Goes on until a lease of ``seconds`` has run out and every conforming target has noticed.

        That is ``seconds`` + ``scan_interval`` + ``jitter`` after ``since`` (an answer: when it was there),
        or after this moment.
        """
        began = self._mark(since).latest
        self.advance(max(0.0, began + seconds + self.scan_interval + self.jitter - self.now()), idle)

    def advance_short_of(
        self, seconds: float, since: Answer | Mark | None = None, idle: tuple[Connection, ...] = ()
    ) -> None:
        """Goes on until shortly before ``seconds`` after ``since`` (an answer: when its request was sent).

        Where time is virtual that is the last moment; else enough is left to ask something. What is not met
        after the term is over counts as ``TooLate`` (blocked), not as a failure; it is raised at once where
        the term is already over. Holds until time is advanced again.
        """
        end = self._mark(since).earliest + seconds
        left = end - self.now()
        if left < 0:
            raise TooLate(
                f"{seconds:g} protocol seconds were over {-left:.1f} s before they could be waited for"
            )
        self.advance(max(0.0, left - self.clock.timing.margin), idle)
        self.term.ends(end)

    def while_lasts(self, seconds: float, since: Answer | Mark) -> None:
        """What follows is seen before ``seconds`` after ``since`` are over, such as a lease that must not end
        meanwhile: at a fast clock the patience of ``eventually`` is as long as that.

        What is not met after the term counts as ``TooLate``, as does what is met ``eventually`` only then.
        Holds until time is advanced.
        """
        self.term.ends(self._mark(since).earliest + seconds, margin=self.clock.timing.margin)

    def _mark(self, since: Answer | Mark | None) -> Mark:
        if since is None:
            return self.mark()
        return since.mark if isinstance(since, Answer) else since
