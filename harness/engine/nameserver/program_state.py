"""What should exist on the servers while a program is being made: rules choose their arguments by it.

It steers, judges nothing, and sees no answer: the same steps give the same state on every target. It holds
an `ExpectedState` for each server, and what those do not know: KV pairs by their symbols, and everything that
was ever named.
"""

from __future__ import annotations

from harness.catalogue import Feature
from harness.program.nameserver import steps as ns
from harness.program.step import Close, Reconnect, Request, Time
from harness.program.steps import AnyStep
from harness.spec.nameserver.expected import ExpectedState
from harness.spec.nameserver.stored import defaults

Pair = tuple[int, str, str, str | None]
"""Server, namespace, key, topic whose name is the key."""


class ProgramState:
    """What a program should have brought about so far."""

    def __init__(self, profile: str, servers: int = 1) -> None:
        self.profile = profile
        self.expected = [ExpectedState(profile) for _ in range(servers)]
        """By server."""
        self.pairs: dict[Pair, None] = {}
        """KV pairs that were put and not deleted."""
        self.spaces: dict[tuple[int, str], None] = {}
        """Server and KV namespace that were written to."""
        self.topics: dict[tuple[int, str], None] = {}
        """Server and topic that were ever named."""
        self.brokers: dict[tuple[int, str], None] = {}
        """Server and broker name that were ever registered."""
        self.clusters: dict[tuple[int, str], None] = {}
        self.addresses: dict[tuple[int, str, str, str], None] = {}
        """Server, cluster, broker and address that were ever registered."""
        self.replaced: dict[tuple[int, str], None] = {}
        """Old connections that are still open beside the new ones: server and symbol."""

    def has(self, feature: Feature) -> bool:
        """Whether the line of the servers has a feature."""
        return self.expected[0].profile.has(feature)

    @property
    def scan(self) -> int:
        """Protocol seconds between two looks at the leases."""
        return int(self.expected[0].profile.scan_interval)

    @property
    def lease(self) -> int:
        """Protocol seconds of a lease that a registration does not name."""
        return int(self.expected[0].profile.lease)

    @property
    def servers(self) -> int:
        """How many there are."""
        return len(self.expected)

    def apply(self, step: AnyStep) -> None:
        """Carries a step out."""
        if isinstance(step, Time):
            for one in self.expected:
                one.apply(step)
            return
        match step:
            case Reconnect() if step.old != step.conn:
                self.replaced[step.server, step.old] = None
            case Close():
                self.replaced.pop((step.server, step.conn), None)
            case Request() if step.broken is None or isinstance(step, ns.Kv):
                self._note(step)  # if all of a broken request was sent it may have been carried out
        self.expected[getattr(step, "server", 0)].apply(step)

    def settings(self) -> list[tuple[int, str]]:
        """Settings that are not as they are as a rule, with their servers."""
        return [
            (server, key)
            for server, expected in enumerate(self.expected)
            for key, value in expected.settings.items()
            if value != defaults()[key]
        ]

    def facts(self) -> object:
        """What exists, by symbols: who is registered, what is served, what is stored, which settings are
        unusual. It leaves out data versions and the age of leases, with which hardly two states would be
        equal.
        """
        expected = [
            (
                sorted(
                    (
                        name,
                        broker.cluster,
                        sorted(broker.ids.items()),
                        sorted(one.clusters_of(name)),
                        one.topics_of(name),
                    )
                    + ((broker.acting, broker.zone) if broker.acting or broker.zone else ())
                    for name, broker in one.brokers.items()
                ),
                sorted((*key, lease.broker, lease.id) for key, lease in one.leases.items()),
                sorted((topic, sorted(brokers)) for topic, brokers in one.mapped.items()),
            )
            for one in self.expected
        ]
        pairs = sorted((*pair[:3], pair[3] or "") for pair in self.pairs)
        turned = sorted((server, key, self.expected[server].settings[key]) for server, key in self.settings())
        return expected, pairs, turned, sorted(self.replaced)

    def _note(self, step: AnyStep) -> None:
        match step:
            case ns.Register():
                self.topics.update(((step.server, topic), None) for topic in step.topics)
                self.brokers[step.server, step.broker] = None
                self.clusters[step.server, step.cluster] = None
                self.addresses[step.server, step.cluster, step.broker, step.address] = None
            case ns.RegisterTopic() | ns.DeleteTopic() | ns.Route():
                self.topics[step.server, step.topic] = None
            case ns.Kv() if step.code == 100:
                self.pairs[step.server, step.namespace, step.key, step.topic] = None
                self.spaces[step.server, step.namespace] = None
            case ns.Kv() if step.code == 102 and step.broken is None:
                self.pairs.pop((step.server, step.namespace, step.key, step.topic), None)
