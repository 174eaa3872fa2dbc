"""Which Brokers live, as their heartbeats say.

1. A Broker is known by cluster, name and id. It lives until its time after the last heartbeat is over, or its
   connection ends.
2. How far its log goes only grows: an older epoch, or a smaller offset of the same epoch, changes nothing.

Source: DefaultBrokerHeartbeatManager of rocketmq-all-5.3.3.
"""

import msgspec

LASTS = 10_000
"""For how long a heartbeat counts that does not say it, ms (`BrokerHeartbeatManager`)."""
LOWEST = (1 << 31) - 1
"""The rank in elections of a Broker that has none."""
FIRST_LOOK = 2000
"""Milliseconds from the start to the first look for Brokers that are gone."""

Identity = tuple[str | None, str, int]
"""Cluster, name, id."""


class Beat(msgspec.Struct):
    """What a heartbeat says."""

    lasts: int
    """How long it counts, ms."""
    epoch: int
    max_offset: int
    """Where its log ends, physical."""
    priority: int
    """Among candidates that are equal otherwise, the least wins."""


class Live(msgspec.Struct):
    """A Broker that was heard."""

    beat: Beat
    heard: int
    """When, ms."""
    connection: int
    """That of the latest heartbeat."""


class Heartbeats:
    """The Brokers that were heard."""

    def __init__(self) -> None:
        self.known: dict[Identity, Live] = {}

    def hear(self, identity: Identity, beat: Beat, connection: int, now: int) -> None:
        """A heartbeat has come."""
        live = self.known.get(identity)
        if live is None:
            self.known[identity] = Live(beat, now, connection)
            return
        live.heard, live.connection = now, connection
        live.beat.lasts, live.beat.priority = beat.lasts, beat.priority
        if self.is_further(beat, live.beat):
            live.beat.epoch, live.beat.max_offset = beat.epoch, beat.max_offset

    def is_further(self, beat: Beat, known: Beat) -> bool:
        """Whether a log goes further than was known of it."""
        return (beat.epoch, beat.max_offset) > (known.epoch, known.max_offset)

    def lives(self, identity: Identity, now: int) -> bool:
        """Whether a Broker counts as alive."""
        live = self.known.get(identity)
        return live is not None and not self.is_over(live, now)

    def is_over(self, live: Live, now: int) -> bool:
        """Whether the last heartbeat was too long ago."""
        return now - live.heard > live.beat.lasts

    def over(self, now: int) -> dict[Identity, Live]:
        """Forgets the Brokers that were not heard for too long, and gives them."""
        return self._forgotten({one for one, live in self.known.items() if self.is_over(live, now)})

    def ended(self, connection: int) -> dict[Identity, Live]:
        """Forgets the Brokers of a connection that has ended, and gives them. (Apache: one of them.)"""
        return self._forgotten({one for one, live in self.known.items() if live.connection == connection})

    def _forgotten(self, identities: set[Identity]) -> dict[Identity, Live]:
        return {identity: self.known.pop(identity) for identity in identities}
