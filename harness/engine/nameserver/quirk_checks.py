"""Proving that a quirk has come to pass that does so on some runs only.

- It is proven on the servers that have shown it, before anybody else uses them, by what only the quirk
  explains. To play the program again proves nothing: a race that is likely shows each time.
- What is not proven is no quirk.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from types import MappingProxyType
from typing import Final

from harness.engine.executor import Executor
from harness.program.nameserver.steps import ClusterInfo, Register
from harness.program.step import Time
from harness.session import TargetDied
from harness.spec import Answered
from harness.wire import WireError
from harness.wire.bodies import ClusterInfo as ClusterBody

_BROKER = "b98"
_LEASE_AND_SCAN = 160
"""Protocol seconds: a lease of 120, a scan each 10 (`NamesrvController#initialize`, 4.9), and
30 for a machine that is busy."""


def proven(executor: Executor, servers: int, quirks: Iterable[str]) -> str | None:
    """The first of several quirks of which a server of a run shows that it has come to pass, if one
    does. Its program is over.

    Raises ``TooLate`` and ``CaseTimeout`` where that could not be measured.
    """
    try:
        executor.finish()
        return next((quirk for quirk in quirks if QUIRK_CHECKS[quirk](executor, servers)), None)
    except TargetDied:
        return None


def _no_lease_ends(executor: Executor, servers: int) -> bool:
    """A broker that has registered just now stays beyond its lease."""
    for server in range(servers):
        executor.play(Register(server=server, conn="proof", broker=_BROKER, address="a98"))
    executor.play(Time(seconds=_LEASE_AND_SCAN))
    return any(_is_listed(executor, server) for server in range(servers))


def _is_listed(executor: Executor, server: int) -> bool:
    for one in executor.play(ClusterInfo(server=server, conn="tidy")):
        if isinstance(one.outcome, Answered) and one.outcome.command.code == 0:
            try:
                listed = ClusterBody.decode(one.outcome.command.body).broker_addr_table
            except WireError:
                return False
            return executor.names.name(_BROKER) in listed
    return False


QUIRK_CHECKS: Final[Mapping[str, Callable[[Executor, int], bool]]] = MappingProxyType(
    {"quirk.expiry-scan-ends": _no_lease_ends}
)
"""By quirk: one for each that comes and goes."""
