"""What playing on NameServers needs to know of them (`harness.engine.role`)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final, cast

from harness.catalogue import Quirk
from harness.catalogue import Role as RoleName
from harness.engine.coverage import Coverage
from harness.engine.executor import Executor
from harness.engine.nameserver.goals import tally
from harness.engine.nameserver.program_state import ProgramState
from harness.engine.nameserver.quirks import Quirks
from harness.engine.nameserver.strategies import look
from harness.engine.nameserver.tidying import tidied
from harness.engine.oracle import Oracle
from harness.engine.role import Role
from harness.findings.deviations import Deviations
from harness.program.names import Names
from harness.program.steps import AnyStep
from harness.session import DEFAULT_SETUP, Instance, NameServerInstance, NameServerSession
from harness.spec import StateTracker


class _NameServer:
    name: RoleName = "nameserver"
    rules = "nameserver"
    servers = 2
    least_servers = 1
    setup = DEFAULT_SETUP
    others = DEFAULT_SETUP
    needs_setup = False
    tolerates = True

    def session(self, instance: Instance, profile: str, **said: Any) -> NameServerSession:
        return NameServerSession(cast(NameServerInstance, instance), profile, **said)

    def state(self, profile: str, servers: int) -> ProgramState:
        return ProgramState(profile, servers)

    def judge(
        self, profile: str, names: Names, jitter: Sequence[float], *, fresh: bool, deviations: Deviations
    ) -> Oracle:
        forgives = deviations.forgives if deviations else None
        return Oracle(
            [StateTracker(profile, names, jitter=one, fresh=fresh, forgives=forgives) for one in jitter]
        )

    def look(self, state: ProgramState, *, moment: int) -> list[AnyStep]:
        return look(state)

    def tidy(self, executor: Executor, state: ProgramState) -> bool:
        return tidied(executor, state)

    def spoils(self, state: ProgramState) -> bool:
        """Never: names are not used again."""
        return False

    def tally(self) -> Coverage:
        return tally()

    def quirks(self, found: Sequence[Quirk]) -> Quirks:
        return Quirks(found)


NAMESERVER: Final[Role] = _NameServer()
