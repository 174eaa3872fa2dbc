"""Messages are searched."""

from __future__ import annotations

from harness.engine.broker.program_state import ProgramState
from harness.engine.broker.strategies.choices import KEYS, any_topic
from harness.engine.nameserver.strategies.pick import Pick, Steps
from harness.program.broker import steps as bk


def asks_by_key(pick: Pick, state: ProgramState) -> Steps:
    """Messages with a key, or the one with a unique key."""
    topic = any_topic(pick, state)
    if state.messages and pick.once_in(3):
        message = pick.one(list(state.messages))
        return (bk.Find(topic=state.messages[message].topic, key=message, unique=True),)
    return (bk.Find(topic=topic, key=pick.one((*KEYS, "k9")), most=pick.one((32, 1, 2))),)


def asks_by_id(pick: Pick, state: ProgramState) -> Steps:
    """The message that an answer to a send named."""
    return (bk.View(message=pick.one(list(state.messages) or ["m0"])),)
