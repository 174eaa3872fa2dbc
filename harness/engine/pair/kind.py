"""`--kind pair`: programs of single steps for a Broker that is a master and one that is its slave.

It is a kind of its own, beside `stateful`: it needs two Brokers with settings of their own, which not every
target can be.
"""

from __future__ import annotations

from harness.engine.context import TargetContext
from harness.engine.kind import Program
from harness.engine.stateful import StatefulExperiment, StatefulKind
from harness.session import Unsupported


class PairExperiment(StatefulExperiment):
    """Plays given programs on a pair and judges each observation."""

    kind = "pair"


class PairKind(StatefulKind):
    """Programs that the rules of pairs make, against a target."""

    name = "pair"
    plays = PairExperiment

    def probes(self) -> list[Program]:
        """None where each of them would start two servers."""
        return super().probes() if self._context.capabilities.is_virtual else []


def refuse_without_slaves(context: TargetContext) -> None:
    """Raises ``Unsupported`` with the reason where a target cannot be a master and its slave."""
    if not context.capabilities.is_ours:
        raise Unsupported("a master and its slave are to be started and ended, and it is not ours")
    context.servers.take(context.role.least_servers)
