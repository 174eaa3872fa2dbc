"""Registrations as brokers send them: new ones, the same once more, those of slaves."""

from __future__ import annotations

from typing import Any

from harness.engine.nameserver.program_state import ProgramState
from harness.engine.nameserver.strategies.choices import (
    FLAGS,
    TOPICS,
    conn_of,
    slot_of,
)
from harness.engine.nameserver.strategies.pick import Pick
from harness.program.nameserver.steps import Queues, Register
from harness.spec.nameserver.expected import Live

_PERMS = (6, 4, 2, 6, 7, 0)
GREAT = 2**53 + 1
"""A number that no double holds."""


def new_registration(pick: Pick, state: ProgramState, **given: Any) -> Register:
    """A registration as brokers send it."""
    broker, expected = given["broker"], state.expected[given["server"]]
    lease = expected.lease(given["cluster"], given["address"])
    counter, timestamp, state_version = (1, 0, 0) if lease is None else lease.version
    if lease is not None:
        counter += pick.one((1, 0, -1))
    elif pick.once_in(12):
        counter = GREAT
    topics = payload(pick)
    more: dict[str, Any] = {}
    if pick.once_in(4):
        more = _extras(pick, state, broker, topics)
    return Register(
        **given,
        topics=more.pop("topics", topics),
        counter=max(0, counter),
        timestamp=max(0, timestamp),
        state=state_version if state.has("state-version") else None,
        **more,
    )


def _extras(pick: Pick, state: ProgramState, broker: str, topics: dict[str, Queues]) -> dict[str, Any]:
    """What few brokers send."""
    what = pick.below(8 if state.has("own-lease") else 5)
    if what == 0:
        forms = ("compressed", "compressed-5") if state.has("topic-attributes") else ("compressed",)
        plain = {topic: queues for topic, queues in topics.items() if topic not in FLAGS}
        form = pick.one(forms)
        return {"form": form, "topics": plain, "announces": 412 if form == "compressed" else None}
    if what == 1:
        return {"filters": pick.one((("f1",), ("f2", "f1"), None))}
    if what == 2:
        return {"crc": "none"} if pick.below(2) == 0 else {"no_filters": True}
    if what == 3:
        return {"binary": True}
    if what == 4:
        return {"oneway": True}
    if what == 5:
        return {"zone": pick.one(("z1", "z2")), "acting": pick.one((None, True))}
    if what == 6:
        return {"lease": pick.one((60_000, 20_000, 200_000))}
    topic = pick.one(list(topics) or ["T0"])
    return {"mappings": {topic: (broker, pick.below(3))}}


def again(pick: Pick, state: ProgramState, server: int, lease: Live, /, **changed: Any) -> Register:
    """What a broker sends that is there and has not changed."""
    expected = state.expected[server]
    name = expected.brokers.get(lease.broker)
    counter, timestamp, state_version = lease.version
    topics = {topic: queues_of(topic) for topic in expected.topics_of(lease.broker)}
    if len(topics) < 2:
        topics = payload(pick)
    given: dict[str, Any] = {
        "server": server,
        "conn": lease.conn,
        "cluster": lease.cluster,
        "broker": lease.broker,
        "address": lease.address,
        "id": lease.id,
        "topics": topics,
        "counter": counter,
        "timestamp": max(0, timestamp),
        "state": state_version if state.has("state-version") else None,
        "lease": int(lease.length * 1000) if lease.length != state.lease else None,
        "acting": True if name is not None and name.acting else None,
        "zone": None if name is None else name.zone,
    }
    return Register(**(given | changed))


def slave_of(pick: Pick, state: ProgramState, server: int, lease: Live) -> Register:
    address = f"a{slot_of(lease.broker)}{pick.below(5)}"
    return again(
        pick,
        state,
        server,
        lease,
        address=address,
        conn=conn_of(pick, address),
        id=pick.one((1, 2)),
        acting=pick.one((None, True)) if state.has("acting-master") else None,
    )


def payload(pick: Pick) -> dict[str, Queues]:
    """Topics of a registration: two of them plainly, for 5.x refuses an id that is new with one alone."""
    start, number = pick.below(len(TOPICS)), pick.one((2, 2, 3, 1, 0))
    changed = pick.below(3) == 2
    found = {}
    for offset in range(number):
        topic = TOPICS[(start + offset) % len(TOPICS)]
        plain = queues_of(topic)
        found[topic] = (8, 5, pick.one(_PERMS), plain[3]) if changed else plain
    return found


def queues_of(topic: str) -> Queues:
    return (4, 4, 6, FLAGS.get(topic, 0))
