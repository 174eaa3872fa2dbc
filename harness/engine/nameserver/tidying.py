"""Taking back what a program did to NameServers, so that others find them clean."""

from __future__ import annotations

from collections.abc import Sequence

import msgspec

from harness.engine.executor import Executor
from harness.engine.nameserver.program_state import ProgramState
from harness.program.names import Names
from harness.program.nameserver import steps as ns
from harness.program.steps import AnyStep
from harness.spec import Answered, Observation
from harness.spec.nameserver.stored import defaults
from harness.wire import Command, WireError
from harness.wire.bodies import ClusterInfo as ClusterBody

_TOGETHER = 8
"""Requests that are sent together; if one of them is not answered, no more follow."""


def tidied(executor: Executor, state: ProgramState) -> bool:
    """Takes back what was done. False where a request is not answered, or something cannot be taken back."""
    executor.finish()
    looks: list[AnyStep] = [
        look(server=server, conn="tidy")
        for server in range(state.servers)
        for look in (ns.ClusterInfo, ns.Topics)
    ]
    undone = _answers(executor, [*_undoing(state), *looks])
    if undone is None:
        return False
    left: list[AnyStep] = []
    for seen, answer in undone:
        if isinstance(seen.step, ns.ClusterInfo) and answer.code == 0:
            try:
                left += _leftovers(answer.body, executor.names, seen.server)
            except WireError:  # a name that is null, on 4.9: no request can remove it
                return False
        elif isinstance(seen.step, ns.Topics):
            left += _topics_left(answer, state, executor.names, seen.server)
    return _answers(executor, left) is not None


def _answers(executor: Executor, steps: Sequence[AnyStep]) -> list[tuple[Observation, Command]] | None:
    """What is answered to steps that do not go by each other's answers: they are sent together. None where
    one is not answered.
    """
    answers: list[tuple[Observation, Command]] = []
    for at in range(0, len(steps), _TOGETHER):
        seen: list[Observation] = []
        some = steps[at : at + _TOGETHER]
        for step in some:
            seen += executor.play(msgspec.structs.replace(step, awaited=False))
        seen += executor.finish()
        answered = [(one, one.outcome.command) for one in seen if isinstance(one.outcome, Answered)]
        if len(answered) < len(some):
            return None
        answers += answered
    return answers


def _topics_left(answer: Command, state: ProgramState, names: Names, server: int) -> list[AnyStep]:
    """Deletions of the topics of ours that a server lists, or of all where it lists none: most are gone with
    their brokers.
    """
    listed = answer.body if answer.code == 0 else None
    return [
        ns.DeleteTopic(server=server, conn="tidy", topic=topic)
        for at, topic in state.topics
        if at == server and (listed is None or names.name(topic).encode() in listed)
    ]


def _undoing(state: ProgramState) -> list[AnyStep]:
    steps: list[AnyStep] = [
        ns.Configure(server=server, conn="tidy", lines=(f"{key}={defaults()[key]}",))
        for server, key in state.settings()
    ]
    steps += [
        ns.Kv(server=server, conn="tidy", code=102, namespace=namespace, key=key, topic=topic)
        for server, namespace, key, topic in state.pairs
    ]
    return steps


def _leftovers(body: bytes, names: Names, server: int) -> list[ns.Unregister]:
    """Unregistrations of everything of ours that a server lists."""
    return [
        ns.Unregister(
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
