"""From which release line on, and up to which, something is there."""

from __future__ import annotations

from collections.abc import Sequence

from harness.catalogue import Profile, Role


def lines_of(profiles: Sequence[Profile], role: Role | None) -> list[str]:
    """The lines of a kind of server, or of all of them, the oldest first."""
    return [one.name for one in profiles if role is None or role in one.roles]


def since_and_until(present: Sequence[str], lines: Sequence[str]) -> dict[str, str]:
    """`since` where it is not there from the first line on, `until` where it is not there up to the last.

    ``present`` is empty for all of them.
    """
    known = [one for one in lines if one in present]
    if not known:
        return {}
    bounds = {"since": (known[0], lines[0]), "until": (known[-1], lines[-1])}
    return {name: line for name, (line, end) in bounds.items() if line != end}
