"""The head of the trace of a session."""

from __future__ import annotations

from harness.session.transport import Instance
from harness.trace import Header


def header_of(
    instance: Instance,
    *,
    suite: str,
    target: str,
    profile: str,
    case: str,
    started: float,
    role: str = "nameserver",
) -> Header:
    """The head of the trace of a session with an instance. ``started``: Unix time."""
    return Header(
        suite=suite,
        target=target,
        description=instance.description,
        profile=profile,
        role=role,
        case=case,
        clock=instance.clock.kind,
        warp=instance.clock.warp,
        started=started,
    )
