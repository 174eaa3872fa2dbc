"""All that judges a performance on a Broker: what is known of it, and what it says of its own accord.

Rules of this module: it sees what the player gives, and nothing else. A Broker may ask its clients about
transactions, and tell them that their groups have changed; nothing else comes uncalled.
"""

from __future__ import annotations

from collections.abc import Sequence

from harness.machines.judge import stray
from harness.machines.player import Uncalled
from harness.model import Observed, Violation
from harness.model.broker import BrokerKnowledge
from harness.program.names import Names
from harness.wire.broker_codes import BrokerRequest

__all__ = ["BrokerJudge"]

_ITS_OWN = frozenset((BrokerRequest.CHECK_TRANSACTION_STATE, BrokerRequest.NOTIFY_CONSUMER_IDS_CHANGED))


class BrokerJudge:
    """Judges one performance. ``jitter`` is that of each server's clock, in protocol seconds."""

    def __init__(self, profile: str, names: Names, jitter: Sequence[float]) -> None:
        self._known = [BrokerKnowledge(profile, names, jitter=one) for one in jitter]
        self._told = 0

    @property
    def judged(self) -> dict[int, frozenset[str]]:
        """None: it is not counted what a Broker's answers were held against."""
        return {}

    def observe(self, seen: Sequence[Observed], uncalled: Sequence[Uncalled]) -> list[Violation]:
        """What is wrong about observations, and about frames that came uncalled."""
        found: list[Violation] = []
        for server, known in enumerate(self._known):
            found += known.observe([one for one in seen if one.server == server])
        for new in uncalled[self._told :]:
            if new.stray.command.is_response or new.stray.command.code not in _ITS_OWN:
                found.append(stray(new))
        self._told = len(uncalled)
        return found
