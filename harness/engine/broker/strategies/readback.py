"""All that can be seen of what a program did."""

from __future__ import annotations

from harness.engine.broker.program_state import ProgramState
from harness.engine.broker.strategies.choices import GROUPS, KEYS, LAST, MOST, SOON
from harness.program.broker import steps as bk
from harness.program.broker.filters import Compare, Either, Not
from harness.program.step import Time
from harness.program.steps import AnyStep

_FILTERS = (Either(Compare("a", ">", 1), Compare("b", "=", 1)), Not(Compare("a", "=", "5")))
"""With these every queue is looked at where filters are carried out."""


def look(state: ProgramState, *, moment: int) -> list[AnyStep]:
    """Everything that can be seen of what a program did. ``moment``: seconds after which a Broker surely
    shows what it has done, 0 where that is at once.
    """
    found: list[AnyStep] = [bk.Switch(role="master")] if state.is_slave else []
    if moment or found:
        found.append(Time(seconds=moment or SOON))
    if not moment and state.waiting:
        found.append(Time(seconds=min(state.waiting[-1], LAST) + 4))
    for topic, queue in state.queues():
        count = state.stored.get((topic, queue), 0)
        found += [
            bk.Pull(group="gz", topic=topic, queue=queue, offset=offset)
            for offset in range(0, count + 1, MOST)
        ]
        found.append(bk.Bound(topic=topic, queue=queue))
        if count:
            found.append(bk.Pull(group="gz", topic=topic, queue=queue, tags=("green", "Aa")))
        if count and state.allowed.get("filters"):
            found += [bk.Pull(group="gz", topic=topic, queue=queue, filter=one) for one in _FILTERS]
    for topic, mapping in state.static.items():
        for queue in mapping.queues:
            parts = [one.begin for one in mapping.parts(queue) if one.queue is not None]
            found += [bk.Pull(group="gz", topic=topic, queue=queue, offset=offset) for offset in parts]
            found.append(bk.Bound(topic=topic, queue=queue))
    found += [bk.Pull(group=group, topic=f"%RETRY%{group}") for group in state.returned]
    found += [bk.Bound(topic=f"%DLQ%{group}") for group in sorted(state.dead)]
    found += [bk.Committed(group=group, topic=topic, queue=queue) for group, topic, queue in state.offsets]
    found += [bk.Find(topic=topic, key=key) for topic in state.topics for key in KEYS]
    found += [bk.Offsets()] if state.offsets else []
    found += [
        bk.Members(group=group)
        for group in GROUPS
        if any(group in one.groups for one in state.beats.values())
    ]
    found += [bk.Status(topic=topic) for topic in state.topics]
    found += [bk.View(message=message) for message in list(state.messages)[-8:]]
    found.append(bk.Hear())
    return found
