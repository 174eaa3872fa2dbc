"""All that judges a run on a Broker: what is known of it, and what it says of its own accord.

It sees what the executor gives, and nothing else. A Broker may ask its clients about
transactions, and tell them that their groups have changed; nothing else comes uncalled.
"""

from __future__ import annotations

from collections.abc import Sequence

from harness.engine.executor import Unsolicited
from harness.engine.oracle import stray
from harness.program.broker.steps import Pull
from harness.program.names import Names
from harness.program.steps import AnyStep
from harness.spec import Observation, Violation
from harness.spec.broker import BrokerTracker
from harness.spec.headers import mistyped_answers
from harness.wire import RequestCode

_ITS_OWN = frozenset((RequestCode.CHECK_TRANSACTION_STATE, RequestCode.NOTIFY_CONSUMER_IDS_CHANGED))


class BrokerOracle:
    """Judges one run. ``jitter`` is that of each server's clock, in protocol seconds."""

    def __init__(self, profile: str, names: Names, jitter: Sequence[float]) -> None:
        self._known = [BrokerTracker(profile, names, jitter=one) for one in jitter]
        self._told = 0
        self._is_mistyped = False

    @property
    def judged(self) -> dict[int, frozenset[str]]:
        """By step: the statements that it was held against and has not broken."""
        found: dict[int, frozenset[str]] = {}
        for known in self._known:
            found |= known.judged
        return found

    def begins(self, step: AnyStep, moment: float) -> None:
        """A pull that the Broker holds commits its offset, and makes its group known, when it comes."""
        if isinstance(step, Pull):
            self._known[step.server].begins(step, moment)

    def observe(self, seen: Sequence[Observation], unsolicited: Sequence[Unsolicited]) -> list[Violation]:
        """What is wrong about observations, and about frames that came uncalled."""
        found: list[Violation] = []
        judged = [server for server in range(len(self._known)) if self._is_known(server)]
        for server in judged:
            found += self._known[server].observe([one for one in seen if one.server == server])
        moment = max((one.returned for one in seen), default=None)
        for new in unsolicited[self._told :]:
            if new.stray.command.is_response or new.stray.command.code not in _ITS_OWN:
                found.append(stray(new))
            elif moment is not None and new.server in judged:
                found += self._known[new.server].told(new.conn, new.number, moment, new.stray.command)
        self._told = len(unsolicited)
        if not self._is_mistyped and (mistyped := mistyped_answers(seen)):
            self._is_mistyped = True
            found += mistyped
        for server in judged:
            found += self._known[server].heard([one for one in seen if one.server == server])
        return found

    def _is_known(self, server: int) -> bool:
        """Whether what a server holds is known: else nothing that it says is judged."""
        return True
