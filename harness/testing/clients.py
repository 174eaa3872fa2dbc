"""The clients that Brokers know, as they are now. To be called in the loop."""

from __future__ import annotations

import msgspec

from reference_impl.broker.clients import Client as Known
from reference_impl.serve import Cluster


class Client(msgspec.Struct, frozen=True, kw_only=True):
    """One client; what it says in its heartbeats."""

    id: str
    addresses: tuple[str, ...]
    """Its ends of the connections to Brokers, "ip:port"."""
    language: str | None
    version: int
    """The number of its release, as requests carry it."""
    produces: tuple[str, ...]
    """Groups of producers that it belongs to."""
    consumes: dict[str, dict[str, str]]
    """Subscriptions, such as `*` or `red || blue`, by group of consumers and topic."""
    heard: int
    """Its last heartbeat, ms since the epoch."""


def clients_of(cluster: Cluster) -> list[Client]:
    """All clients that have sent a heartbeat and are connected, by id."""
    found: dict[str, Client] = {}
    for broker in cluster.brokers:
        state = broker.endpoint.broker
        for name, members in state.clients.producers.items():
            for connection, known in members.items():
                _add(found, known, state.peer(connection), produces=(name,))
        for name, group in state.clients.consumers.items():
            topics = {topic: one.sub_string or "*" for topic, one in group.subscriptions.items()}
            for connection, known in group.members.items():
                _add(found, known, state.peer(connection), consumes={name: topics})
    return [found[name] for name in sorted(found)]


def _add(
    found: dict[str, Client],
    known: Known,
    address: str,
    *,
    produces: tuple[str, ...] = (),
    consumes: dict[str, dict[str, str]] | None = None,
) -> None:
    before = found.get(known.id)
    found[known.id] = Client(
        id=known.id,
        addresses=_united(before.addresses if before else (), (address,)),
        language=known.language,
        version=known.version,
        produces=_united(before.produces if before else (), produces),
        consumes=(before.consumes if before else {}) | (consumes or {}),
        heard=max(before.heard if before else 0, known.seen),
    )


def _united(first: tuple[str, ...], second: tuple[str, ...]) -> tuple[str, ...]:
    return tuple(dict.fromkeys((*first, *second)))
