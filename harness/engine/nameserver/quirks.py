"""Named quirks of NameServers: which of them a step is about.

- A quirk is about a step, or about the end of a connection that a step brings with it.
- Where time is not virtual, more of it may pass than a step says.
"""

from __future__ import annotations

from collections.abc import Sequence

import msgspec

from harness.catalogue import Quirk
from harness.engine.nameserver.program_state import ProgramState
from harness.program.step import Close, Reconnect, Request, Time
from harness.program.steps import AnyStep
from harness.spec.nameserver.predicates import PREDICATES
from harness.spec.quirks import QuirksByStep
from harness.targets import Capabilities

_SLOW = 30
"""Protocol seconds by which real time may be ahead of the steps that let it pass: leases may have ended."""


class Quirks:
    """The named quirks that a target may show."""

    def __init__(self, found: Sequence[Quirk]) -> None:
        self._by_step = QuirksByStep(found, PREDICATES)

    def __bool__(self) -> bool:
        return bool(self._by_step)

    def about(self, step: AnyStep, state: ProgramState) -> list[Quirk]:
        """Those that a step is about, where it is carried out now."""
        if not self._by_step:
            return []
        servers = state.expected if isinstance(step, Time) else [state.expected[step.server]]
        end = end_in(step)
        steps = [step] if end is None or end is step else [step, end]
        return [quirk for one in servers for step in steps for quirk in self._by_step.triggered_by(step, one)]


def at_most(step: AnyStep, capabilities: Capabilities) -> AnyStep:
    """A step that lets time pass, with all the time that may have passed on such a target."""
    if isinstance(step, Time) and not capabilities.is_virtual:
        return msgspec.structs.replace(step, seconds=step.seconds + _SLOW)
    return step


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
