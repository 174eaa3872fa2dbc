"""Topics come and go."""

from __future__ import annotations

from harness.engine.broker.program_state import ProgramState
from harness.engine.broker.strategies.choices import GROUPS, TOPICS, any_queue, any_topic, new_message
from harness.engine.nameserver.strategies.pick import Pick, Steps
from harness.program.broker import steps as bk
from harness.program.step import Restart
from harness.program.steps import AnyStep


def makes_a_topic(pick: Pick, state: ProgramState) -> Steps:
    """A topic comes into being, or gets more queues."""
    topic = pick.one(TOPICS)
    return (bk.MakeTopic(topic=topic, queues=max(state.topics.get(topic, 0), pick.one((2, 1, 4)))),)


def deletes_a_topic(pick: Pick, state: ProgramState) -> Steps:
    """Rarely: little is known of a topic afterwards."""
    if not state.topics or not pick.once_in(4):
        return makes_a_topic(pick, state)
    topic = any_topic(pick, state)
    return (bk.DropTopic(topic=topic), bk.Pull(topic=topic))


def cleans(pick: Pick, state: ProgramState) -> Steps:
    """Queues without messages are removed, and one with messages is looked at."""
    topic, queue = any_queue(pick, state)
    return (bk.Clean(), bk.Bound(topic=topic, queue=queue), bk.Pull(topic=topic, queue=queue))


def comes_again(pick: Pick, state: ProgramState) -> Steps:
    """A topic with messages and offsets is deleted, and made again: then it is empty."""
    send = new_message(pick, state)
    topic, queue, group = send.topic, send.queue, pick.one(GROUPS)
    beat = bk.Beat(client="c0", conn="kc0", groups=(group,), topics=(topic,))
    commit = bk.Commit(group=group, topic=topic, queue=queue, offset=4)
    steps: list[AnyStep] = [send, beat, commit, bk.DropTopic(topic=topic), bk.Pull(topic=topic, queue=queue)]
    if pick.once_in(3):
        steps += [Restart(how=pick.one(("kill", "term"))), bk.Pull(topic=topic, queue=queue)]
    steps += [bk.MakeTopic(topic=topic, queues=queue + 1), bk.Bound(topic=topic, queue=queue)]
    steps += [bk.Committed(group=group, topic=topic, queue=queue), bk.Pull(topic=topic, queue=queue)]
    if pick.below(2):
        steps.append(bk.Send(message=state.symbol(1), topic=topic, queue=queue))
    return tuple(steps)


def asks_for_a_status(pick: Pick, state: ProgramState) -> Steps:
    """The bounds of all queues of a topic."""
    return (bk.Status(topic=any_topic(pick, state)),)
