"""Taking back what a program did to NameServers, so that others find them clean."""

from __future__ import annotations

from collections.abc import Sequence

import msgspec

from harness.machines.picture import Picture, usual
from harness.machines.player import Player
from harness.model import Answered, Observed
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
from harness.wire import Command, WireError
from harness.wire.bodies import ClusterInfo as ClusterBody

__all__ = ["tidied"]


_TOGETHER = 8
"""So many requests are sent together; where one of them is not answered, no more follow."""


def tidied(player: Player, picture: Picture) -> bool:
    """Takes back what was done. False where a request is not answered, or something cannot be taken back."""
    player.finish()
    looks: list[AnyStep] = [
        look(server=server, conn="tidy")
        for server in range(picture.servers)
        for look in (ClusterInfo, Topics)
    ]
    undone = _answers(player, [*_undoing(picture), *looks])
    if undone is None:
        return False
    left: list[AnyStep] = []
    for seen, answer in undone:
        if isinstance(seen.step, ClusterInfo) and answer.code == 0:
            try:
                left += _leftovers(answer.body, player.names, seen.server)
            except WireError:  # a name that is null, on 4.9: nobody can take that back
                return False
        elif isinstance(seen.step, Topics):
            left += _topics_left(answer, picture, player.names, seen.server)
    return _answers(player, left) is not None


def _answers(player: Player, steps: Sequence[AnyStep]) -> list[tuple[Observed, Command]] | None:
    """What is answered to steps that do not go by each other's answers: they are sent together. None where
    one is not answered.
    """
    answers: list[tuple[Observed, Command]] = []
    for at in range(0, len(steps), _TOGETHER):
        seen: list[Observed] = []
        some = steps[at : at + _TOGETHER]
        for step in some:
            seen += player.play(msgspec.structs.replace(step, awaited=False))
        seen += player.finish()
        answered = [(one, one.outcome.command) for one in seen if isinstance(one.outcome, Answered)]
        if len(answered) < len(some):
            return None
        answers += answered
    return answers


def _topics_left(answer: Command, picture: Picture, names: Names, server: int) -> list[AnyStep]:
    """Deletions of the topics of ours that a server lists, or of all where it lists none: most are gone with
    their brokers.
    """
    listed = answer.body if answer.code == 0 else None
    return [
        DeleteTopic(server=server, conn="tidy", topic=topic)
        for at, topic in picture.topics
        if at == server and (listed is None or names.name(topic).encode() in listed)
    ]


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
