"""Who becomes the master of a set.

1. Only Brokers that live can be elected: of those in sync; where none lives and the settings allow it, of
   all.
2. A master that lives stays, unless another one is demanded. The one that is demanded is elected, or none.
3. Otherwise the log that goes furthest wins: by epoch, then by offset; then the least priority, then id.

Source: DefaultElectPolicy of rocketmq-all-5.3.3.
"""

from collections.abc import Iterable

from .heartbeats import LOWEST, Heartbeats
from .replicas import BrokerSet
from .settings import ControllerSettings


class Election:
    """How masters are elected."""

    def __init__(self, settings: ControllerSettings, heartbeats: Heartbeats) -> None:
        self.settings = settings
        self.heartbeats = heartbeats

    def winner(self, found: BrokerSet, demanded: int | None, now: int) -> int | None:
        """The id of the new master, which may be the old one; None: no Broker can be it."""
        for candidates in self.rounds(found):
            living = [one for one in candidates if self.lives(found, one, now)]
            elected = self.best(found, living, demanded)
            if elected is not None:
                return elected
        return None

    def rounds(self, found: BrokerSet) -> list[Iterable[int]]:
        """Whom to elect from, the first choice first."""
        return [found.in_sync, found.replicas] if self.allows_unclean() else [found.in_sync]

    def allows_unclean(self) -> bool:
        """Whether one that is not in sync may become the master."""
        return self.settings.config.enable_elect_unclean_master

    def best(self, found: BrokerSet, living: list[int], demanded: int | None) -> int | None:
        """Who of those that live is elected."""
        if found.master in living and demanded in (None, found.master):
            return found.master
        if demanded is not None:
            return demanded if demanded in living else None
        return min(living, key=lambda one: self.rank(found, one), default=None)

    def rank(self, found: BrokerSet, number: int) -> tuple[int, int, int, int]:
        """What candidates are sorted by, the best first."""
        live = self.heartbeats.known.get((found.cluster, found.name, number))
        if live is None:
            return (0, 0, LOWEST, number)
        return (-live.beat.epoch, -live.beat.max_offset, live.beat.priority, number)

    def lives(self, found: BrokerSet, number: int, now: int) -> bool:
        """Whether a replica lives."""
        return self.heartbeats.lives((found.cluster, found.name, number), now)
