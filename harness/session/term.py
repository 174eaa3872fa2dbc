"""The term that a case named: until when what is seen proves something."""

from __future__ import annotations


class Term:
    """A moment of protocol time, in seconds, that nothing may come after; at first there is none."""

    def __init__(self) -> None:
        self._end: float | None = None
        self._last_look: float | None = None

    def ends(self, at: float, margin: float | None = None) -> None:
        """From now on it ends ``at``. With a ``margin``, what is asked again is asked for the last time so
        long before.
        """
        self._end = at
        self._last_look = None if margin is None else at - margin

    def forget(self) -> None:
        self._end = self._last_look = None

    def looks_again(self, now: float) -> bool:
        """Whether a question may be asked once more."""
        return self._last_look is None or now < self._last_look

    def late(self, now: float) -> float:
        """Seconds since its end; 0 where it lasts, or there is none."""
        return 0.0 if self._end is None else max(0.0, now - self._end)

    def overdue(self, now: float) -> float:
        """As ``late``, of a term with a last look."""
        return 0.0 if self._last_look is None else self.late(now)
