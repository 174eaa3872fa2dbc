"""All that judges a run on a pair: what is known of each Broker, and what they owe each other."""

from __future__ import annotations

from collections.abc import Sequence

from harness.catalogue import profile_named
from harness.engine.broker.oracle import BrokerOracle
from harness.engine.executor import Unsolicited
from harness.program.broker.steps import Offsets
from harness.program.names import Names
from harness.spec import Answered, Observation, Violation
from harness.spec.broker import BrokerTracker
from harness.spec.broker.invariant_error import InvariantError
from harness.spec.broker.invariants import statements_of, violation_of
from harness.spec.broker.replication import Replication
from harness.spec.observation import TakenOver


class PairOracle(BrokerOracle):
    """Judges one run. ``jitter`` is that of the clock of the master and that of the slave."""

    def __init__(self, profile: str, names: Names, jitter: Sequence[float]) -> None:
        super().__init__(profile, names, jitter)
        self._profile = profile
        slave = self._known[1] = BrokerTracker(profile, names, jitter=jitter[1], slave=True)
        self._replication = Replication(profile_named(profile), names, slave, jitter=jitter[0])

    @property
    def judged(self) -> dict[int, frozenset[str]]:
        found = super().judged
        for number, held in self._replication.held.items():
            statements = statements_of(self._profile, frozenset(held))
            found[number] = found.get(number, frozenset()) | statements
        return found

    def observe(self, seen: Sequence[Observation], unsolicited: Sequence[Unsolicited]) -> list[Violation]:
        found: list[Violation] = []
        rest: list[Observation] = []
        self._replication.coming(seen)
        for one in seen:
            rest += _asked_of_the_master(one)
            try:
                rest.append(self._replication.seen(one))
            except InvariantError as wrong:
                found.append(violation_of(wrong, self._profile, one.number))
        return found + super().observe(rest, unsolicited)

    def _is_known(self, server: int) -> bool:
        return server == 0 or self._replication.is_slave_known


def _asked_of_the_master(one: Observation) -> list[Observation]:
    """What the master was asked so that its slave could take it over."""
    taken = one.outcome
    if not isinstance(taken, TakenOver) or taken.offsets is None:
        return []
    return [
        Observation(
            number=one.number,
            step=Offsets(),
            invoked=taken.began,
            returned=taken.ended,
            outcome=Answered(taken.offsets, -1),
        )
    ]
