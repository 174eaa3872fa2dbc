"""What playing on pairs needs to know of them (`harness.engine.role`)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final

import msgspec

from harness.catalogue import Quirk
from harness.catalogue import Role as RoleName
from harness.engine.broker.role import PREDICATES
from harness.engine.broker.strategies.readback import look
from harness.engine.coverage import Coverage
from harness.engine.executor import Executor
from harness.engine.pair.goals import tally
from harness.engine.pair.oracle import PairOracle
from harness.engine.pair.program_state import PairState
from harness.engine.quirks import StepQuirks
from harness.engine.role import Role
from harness.findings.deviations import Deviations
from harness.program.broker.pair_steps import Replicate
from harness.program.broker.steps import Hear, Switch
from harness.program.names import Names
from harness.program.step import Request
from harness.program.steps import AnyStep
from harness.session import BrokerInstance, BrokerSession
from harness.spec.broker.replication import SLAVE_TIMEOUT

_EVER = "3600000"
_COMMON = {
    "namesrvAddr": "{nameserver}",
    "registerNameServerPeriod": "10000",
    "haSendHeartbeatInterval": "2000",
    "haHousekeepingInterval": _EVER,  # a program may let any time pass in which nothing is carried over
}
_MASTER = {
    **_COMMON,
    "brokerRole": "SYNC_MASTER",
    "inSyncReplicas": "2",
    "slaveTimeout": str(int(SLAVE_TIMEOUT * 1000)),
}
_SLAVE = {
    **_COMMON,
    "brokerRole": "SLAVE",
    "brokerId": "1",
    "slaveReadEnable": "true",
    "unused": "{nameserver2}",  # the slave gets the address of its master
}


class _Pair:
    name: RoleName = "broker"
    rules = "pair"
    servers = 2
    least_servers = 2
    setup = tuple(sorted(_MASTER.items()))
    others = tuple(sorted(_SLAVE.items()))
    needs_setup = True
    tolerates = False

    def session(self, instance: BrokerInstance, profile: str, **said: Any) -> BrokerSession:
        """What it tells its NameServers is no part of the trace."""
        return BrokerSession(instance, profile, hears=False, **said)

    def state(self, profile: str, servers: int) -> PairState:
        return PairState(profile)

    def judge(
        self, profile: str, names: Names, jitter: Sequence[float], *, fresh: bool, deviations: Deviations
    ) -> PairOracle:
        return PairOracle(profile, names, jitter)

    def look(self, state: PairState, *, moment: int) -> list[AnyStep]:
        """All that can be seen of both; the slave gets all first, unless it has become a master."""
        found: list[AnyStep] = [] if state.is_promoted or not state.slave.topics else [Replicate()]
        found += [step for step in look(state, moment=moment) if not isinstance(step, Hear)]
        of_slave = look(state.slave, moment=0)
        found += [
            msgspec.structs.replace(step, server=1)
            for step in of_slave
            if isinstance(step, Request) and not isinstance(step, Switch)
        ]
        return found

    def tidy(self, executor: Executor, state: PairState) -> bool:
        """Each program has a pair of its own: the logs of two that have parted do not meet again."""
        return False

    def spoils(self, state: PairState) -> bool:
        return True

    def tally(self) -> Coverage:
        return tally()

    def quirks(self, found: Sequence[Quirk]) -> StepQuirks:
        return StepQuirks(found, PREDICATES)


PAIR: Final[Role] = _Pair()
