"""Named quirks of NameServers: which of them a step is about.

Rules of this module: a quirk is about a step, or about the end of a connection that a step brings with it.
"""

from __future__ import annotations

from collections.abc import Sequence

from harness.differential.quirks import ByStep, Quirk
from harness.machines.picture import Picture
from harness.program.steps import AnyStep, Close, Reconnect, Request, Time

__all__ = ["Quirks", "end_in"]


class Quirks:
    """The named quirks that a target may show."""

    def __init__(self, found: Sequence[Quirk]) -> None:
        self._found = tuple(found)
        self._by_step = ByStep(found)

    def __bool__(self) -> bool:
        return bool(self._found)

    def passing(self, statement: str) -> str | None:
        """One that comes to pass on some runs only, and breaks this statement then."""
        return next((one.id for one in self._found if one.passing and statement in one.statements), None)

    def about(self, step: AnyStep, picture: Picture) -> list[Quirk]:
        """Those that a step is about, where it is carried out now."""
        if not self._found:
            return []
        models = picture.models if isinstance(step, Time) else [picture.models[step.server]]
        end = end_in(step)
        steps = [step] if end is None or end is step else [step, end]
        return [
            quirk for model in models for one in steps for quirk in self._by_step.triggered_by(one, model)
        ]


def end_in(step: AnyStep) -> Close | None:
    """The end of a connection that a step is, or brings with it."""
    match step:
        case Close():
            return step
        case Reconnect():
            return Close(server=step.server, conn=step.old)
        case Request() if step.broken is not None:
            return Close(server=step.server, conn=step.conn, how="reset")
    return None
