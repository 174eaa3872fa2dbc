"""What would show what has been done: one question right behind a step, all of them at the end."""

from __future__ import annotations

from functools import cache
from typing import Any, Literal

import msgspec
from hypothesis import strategies as st

from harness.machines.picture import Picture
from harness.machines.strategies.pick import Maker, Pick, Steps
from harness.program.steps import (
    AnyStep,
    Close,
    ClusterInfo,
    Configure,
    DeleteTopic,
    Kv,
    MemberGroup,
    Permission,
    QueryVersion,
    Register,
    RegisterTopic,
    Restart,
    Route,
    SystemTopics,
    Time,
    Topics,
    TopicsOfCluster,
    Unit,
    Unregister,
)

__all__ = [
    "drawn",
    "drawn_plainly",
    "look",
    "made",
]


@cache
def _up_to(most: int) -> st.SearchStrategy[int]:
    return st.integers(0, most)


@st.composite
def drawn(draw: Any, make: Maker) -> Steps:
    """The steps of a maker, for the machine that draws them (its ``picture``)."""
    return made(make, Pick(lambda most: draw(_up_to(most))), draw(st.runner()).picture)


@st.composite
def drawn_plainly(draw: Any, make: Maker) -> Steps:
    """The same, and no question behind them."""
    return make(Pick(lambda most: draw(_up_to(most))), draw(st.runner()).picture)


def made(make: Maker, pick: Pick, picture: Picture) -> Steps:
    """The steps of a maker; at every third time they are followed by a question about the last of them."""
    steps = make(pick, picture)
    if pick.once_in(3):
        steps += _question_about(pick, picture, steps[-1])
    return steps


def _question_about(pick: Pick, picture: Picture, step: AnyStep) -> Steps:
    """What would show at once what a step has done."""
    server = getattr(step, "server", 0)
    model = picture.models[server]
    topics: list[str] = []
    match step:
        case Register():
            topics = list(step.topics)
        case DeleteTopic() | RegisterTopic():
            topics = [step.topic]
        case Permission() | Unregister():
            name = model.names.get(step.broker)
            topics = [] if name is None else sorted(name.topics)
        case Kv():
            code: Literal[101, 219] = 219 if pick.once_in(3) else 101
            return (msgspec.structs.replace(step, code=code, drop=()),)
        case Time() | Close() | Restart() | Configure():
            topics = sorted(model.topics)
        case _:
            return ()
    questions: list[AnyStep] = [ClusterInfo(server=server)]
    questions[:0] = [Route(server=server, topic=topic) for topic in topics]
    if isinstance(step, Register | Unregister):
        questions.append(
            QueryVersion(
                server=server,
                cluster=step.cluster,
                broker=step.broker,
                address=step.address,
                counter=getattr(step, "counter", 0),
                state=0 if picture.five else None,
            )
        )
    return (pick.one(questions),)


def look(picture: Picture) -> list[AnyStep]:
    """Everything that can be seen of what a program did, server by server."""
    found: list[AnyStep] = []
    for server, model in enumerate(picture.models):
        found += [ClusterInfo(server=server), Topics(server=server)]
        found += [Route(server=server, topic=topic) for at, topic in picture.topics if at == server]
        for at, cluster, broker, address in picture.addresses:
            if at == server:
                lease = model.lease(cluster, address)
                counter, timestamp, state = (-9, 0, 0) if lease is None else lease.version
                found.append(
                    QueryVersion(
                        server=server,
                        cluster=cluster,
                        broker=broker,
                        address=address,
                        counter=max(0, counter),
                        timestamp=max(0, timestamp),
                        state=state if picture.five else None,
                    )
                )
        found += [TopicsOfCluster(server=server, cluster=one) for at, one in picture.clusters if at == server]
        if picture.five:
            found += [
                MemberGroup(server=server, broker=broker, cluster=model.names[broker].cluster)
                for at, broker in picture.brokers
                if at == server and broker in model.names
            ]
        found += [Unit(server=server, code=311), Unit(server=server, code=312), Unit(server=server, code=313)]
        found.append(SystemTopics(server=server))
        for at, namespace in picture.spaces:
            if at == server:
                found.append(Kv(server=server, code=219, namespace=namespace))
        found += [
            Kv(server=server, code=101, namespace=namespace, key=key, topic=topic)
            for at, namespace, key, topic in picture.pairs
            if at == server
        ]
    return found
