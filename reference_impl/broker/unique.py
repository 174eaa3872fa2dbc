"""Ids for messages whose producer gave them none (5.x)."""

from __future__ import annotations

from datetime import UTC, datetime

from harness.wire.messages import UniqueKey

from .part import Chance


class UniqueKeys:
    """One after the other; `host` is the Broker's own address, without a port.

    Source: MessageClientIDSetter#createUniqID (rocketmq-all-5.3.3).
    """

    def __init__(self, host: str, chance: Chance) -> None:
        self._host = host
        self._process = chance.below(1 << 16)
        self._loader = chance.below(1 << 32)
        self._counter = 0

    def next(self, now: int) -> str:
        """The next id."""
        self._counter += 1
        month = datetime.fromtimestamp(now / 1000, UTC).replace(
            day=1, hour=0, minute=0, second=0, microsecond=0
        )
        since = now - int(month.timestamp() * 1000)
        return UniqueKey(self._host, self._process, self._loader, since, self._counter).encode()
