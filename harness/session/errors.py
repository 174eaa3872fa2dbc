"""How a case can end other than well.

One class for each verdict that a runner must tell apart. An expectation that is not met
is ``Unmet``; everything else here says that nothing was measured.
"""

# ruff: noqa: N818  (these are verdicts, named as such)

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from harness.session.exchange import Exchange
    from harness.session.outcome import Decisive, Outcome


class Unmet(AssertionError):
    """The target did something else than was expected. The verdict is ``fail``.

    ``expected`` holds the acceptable alternatives, one line each; ``actual`` what was seen, in the same
    vocabulary; ``reason`` one sentence on how they differ, or nothing. ``decisive`` points at the bytes that
    decided it; where the raiser gives none, the part of the frame that the exchange's view looks at is taken.
    ``wrong`` is how the one who judged classes it, for reports.
    ``kind`` is equal for two exchanges that went wrong in the same way.
    """

    def __init__(
        self,
        *,
        expected: str | tuple[str, ...],
        actual: str,
        reason: str = "",
        exchange: Exchange,
        outcome: Outcome,
        decisive: Decisive | None = None,
        wrong: object = None,
        kind: str = "",
    ) -> None:
        self.expected: tuple[str, ...] = (expected,) if isinstance(expected, str) else tuple(expected)
        self.actual = actual
        self.reason = reason
        self.exchange = exchange
        self.outcome = outcome
        self.wrong = wrong
        self.kind = kind
        self.until: int | None = None
        """How many events the trace had when it was judged; None where that is not known."""
        self.decisive = decisive if decisive is not None else exchange.decisive(outcome)
        super().__init__(self._text())

    def _text(self) -> str:
        lines = [f"{self.exchange.subject}: expected {' or '.join(self.expected)}", f"actual {self.actual}"]
        if self.reason:
            lines.append(self.reason)
        if self.decisive is not None:
            lines.append(str(self.decisive))
        lines.extend(self.outcome.remarks())
        return "\n".join(lines)


class Blocked(Exception):
    """Nothing could be measured, and the case is not to blame. The verdict is ``blocked``.

    ``needs`` is the code of the request that did not do its work, where it is for that.
    """

    def __init__(self, message: str, *, needs: int | None = None) -> None:
        super().__init__(message)
        self.needs = needs


class TargetDied(Blocked):
    """The target takes no connection any more: a run can end here."""


class NotRestarted(TargetDied):
    """The target was stopped and does not start again with what it has kept. The verdict is ``fail``."""


class TooLate(Blocked):
    """Real time went by faster than the case could act: what was seen after the limit proves nothing."""

    def __init__(self, message: str) -> None:
        super().__init__(f"{message}; the machine is too slow for this clock: try a smaller ?warp=")


class Unsupported(Exception):
    """The target cannot do this by its nature (restart a server that others run). The verdict is
    ``unsupported``. ``of_setup``: nor can any other that is started with the settings of this one.
    """

    def __init__(self, reason: str, *, of_setup: bool = False) -> None:
        super().__init__(reason)
        self.of_setup = of_setup


class CaseTimeout(Exception):
    """The deadline of the whole case has passed. The message says what was being waited for."""


class Unjudged(Exception):
    """The case asked something and never said what it expects. An error of the case."""


class Misuse(Exception):
    """The case did something that has no meaning, such as sending on a connection that it closed."""
