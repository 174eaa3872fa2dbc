"""Taking back what a program did to NameServers, so that others find them clean."""

from __future__ import annotations

from harness.machines.picture import Picture, usual
from harness.machines.player import Player
from harness.model import Answered
from harness.program.frames import Names
from harness.program.steps import (
    AnyStep,
    ClusterInfo,
    Configure,
    DeleteTopic,
    Kv,
    Topics,
    Unregister,
)
from harness.wire import WireError
from harness.wire.bodies import ClusterInfo as ClusterBody

__all__ = ["tidied"]


def tidied(player: Player, picture: Picture) -> bool:
    """Takes back what was done. The first request that is not answered ends it, and so does what cannot
    be taken back: False.
    """
    player.finish()
    for step in _undoing(picture):
        if not _is_answered(player, step):
            return False
    for server in range(picture.servers):
        (seen,) = player.play(ClusterInfo(server=server, conn="tidy"))[-1:]
        if not isinstance(seen.outcome, Answered):
            return False
        if seen.outcome.command.code == 0:
            try:
                left = _leftovers(seen.outcome.command.body, player.names, server)
            except WireError:  # a name that is null, on 4.9: nobody can take that back
                return False
            if not all(_is_answered(player, step) for step in left):
                return False
        if not _tidy_topics(player, picture, server):
            return False
    return True


def _tidy_topics(player: Player, picture: Picture, server: int) -> bool:
    """Most topics are gone with their brokers: only those that are listed yet are deleted."""
    (seen,) = player.play(Topics(server=server, conn="tidy"))[-1:]
    if not isinstance(seen.outcome, Answered):
        return False
    body = seen.outcome.command.body if seen.outcome.command.code == 0 else None
    return all(
        _is_answered(player, DeleteTopic(server=server, conn="tidy", topic=topic))
        for at, topic in picture.topics
        if at == server and (body is None or player.names.name(topic).encode() in body)
    )


def _is_answered(player: Player, step: AnyStep) -> bool:
    return all(isinstance(seen.outcome, Answered) for seen in player.play(step)[-1:])


def _undoing(picture: Picture) -> list[AnyStep]:
    steps: list[AnyStep] = [
        Configure(server=server, conn="tidy", lines=(f"{key}={usual(key)}",))
        for server, key in picture.settings()
    ]
    steps += [
        Kv(server=server, conn="tidy", code=102, namespace=namespace, key=key, topic=topic)
        for server, namespace, key, topic in picture.pairs
    ]
    return steps


def _leftovers(body: bytes, names: Names, server: int) -> list[Unregister]:
    """Unregistrations of everything of ours that a server lists."""
    return [
        Unregister(
            server=server,
            conn="tidy",
            cluster=names.symbols(broker.cluster or ""),
            broker=names.symbols(name),
            address=names.symbols(address),
            id=number,
        )
        for name, broker in ClusterBody.decode(body).broker_addr_table.items()
        if names.is_ours(name)
        for number, address in broker.broker_addrs.items()
    ]
