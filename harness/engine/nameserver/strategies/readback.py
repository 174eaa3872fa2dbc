"""What would show what has been done: one question right behind a step, all of them at the end."""

from __future__ import annotations

from typing import Literal

import msgspec

from harness.engine.nameserver.program_state import ProgramState
from harness.engine.nameserver.strategies.pick import Maker, Pick, Steps
from harness.program.nameserver import steps as ns
from harness.program.step import Close, Restart, Time
from harness.program.steps import AnyStep


def made(make: Maker, pick: Pick, state: ProgramState) -> Steps:
    """The steps of a maker; at every third time they are followed by a question about the last of them."""
    steps = make(pick, state)
    if pick.once_in(3):
        steps += _question_about(pick, state, steps[-1])
    return steps


def _question_about(pick: Pick, state: ProgramState, step: AnyStep) -> Steps:
    """What would show at once what a step has done."""
    server = getattr(step, "server", 0)
    expected = state.expected[server]
    topics: list[str] = []
    match step:
        case ns.Register():
            topics = list(step.topics)
        case ns.DeleteTopic() | ns.RegisterTopic():
            topics = [step.topic]
        case ns.Permission() | ns.Unregister():
            topics = expected.topics_of(step.broker)
        case ns.Kv():
            code: Literal[101, 219] = 219 if pick.once_in(3) else 101
            return (msgspec.structs.replace(step, code=code, drop=()),)
        case Time() | Close() | Restart() | ns.Configure():
            topics = sorted(expected.topics)
        case _:
            return ()
    questions: list[AnyStep] = [ns.ClusterInfo(server=server)]
    questions[:0] = [ns.Route(server=server, topic=topic) for topic in topics]
    if isinstance(step, ns.Register | ns.Unregister):
        questions.append(
            ns.QueryVersion(
                server=server,
                cluster=step.cluster,
                broker=step.broker,
                address=step.address,
                counter=getattr(step, "counter", 0),
                state=0 if state.has("state-version") else None,
            )
        )
    return (pick.one(questions),)


def look(state: ProgramState) -> list[AnyStep]:
    """Everything that can be seen of what a program did, server by server."""
    found: list[AnyStep] = []
    for server, expected in enumerate(state.expected):
        found += [ns.ClusterInfo(server=server), ns.Topics(server=server)]
        found += [ns.Route(server=server, topic=topic) for at, topic in state.topics if at == server]
        for at, cluster, broker, address in state.addresses:
            if at == server:
                lease = expected.lease(cluster, address)
                counter, timestamp, state_version = (-9, 0, 0) if lease is None else lease.version
                found.append(
                    ns.QueryVersion(
                        server=server,
                        cluster=cluster,
                        broker=broker,
                        address=address,
                        counter=max(0, counter),
                        timestamp=max(0, timestamp),
                        state=state_version if state.has("state-version") else None,
                    )
                )
        found += [
            ns.TopicsOfCluster(server=server, cluster=one) for at, one in state.clusters if at == server
        ]
        if state.has("heartbeats"):
            found += [
                ns.MemberGroup(server=server, broker=broker, cluster=expected.brokers[broker].cluster)
                for at, broker in state.brokers
                if at == server and broker in expected.brokers
            ]
        found += [
            ns.Unit(server=server, code=311),
            ns.Unit(server=server, code=312),
            ns.Unit(server=server, code=313),
        ]
        found.append(ns.SystemTopics(server=server))
        for at, namespace in state.spaces:
            if at == server:
                found.append(ns.Kv(server=server, code=219, namespace=namespace))
        found += [
            ns.Kv(server=server, code=101, namespace=namespace, key=key, topic=topic)
            for at, namespace, key, topic in state.pairs
            if at == server
        ]
    return found
