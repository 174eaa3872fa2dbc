"""Whether the interesting states of a Broker were reached: goals, and a table of transitions.

A transition is the kind of a step, and what became of the queue that it is about.
"""

from __future__ import annotations

from harness.engine.broker.program_state import ProgramState
from harness.engine.coverage import Coverage, Goal
from harness.program.broker import steps as bk
from harness.program.broker.filters import Unreadable
from harness.program.broker.optional_steps import Ack, Hide, Pop, Recall
from harness.program.broker.static_steps import MapTopic
from harness.program.step import Restart, Time
from harness.program.steps import AnyStep


def _count(state: ProgramState, step: AnyStep) -> int:
    """About how many messages the queue of a step has."""
    return state.stored.get((getattr(step, "topic", ""), getattr(step, "queue", -9)), 0)


def _brings_a_filter(state: ProgramState, step: bk.Pull) -> bool:
    """Whether a pull brings a filter where filters are carried out, and there are messages."""
    return step.filter is not None and bool(state.allowed.get("filters")) and _count(state, step) > 0


GOALS: tuple[Goal, ...] = (
    Goal("second-message", "a queue gets a second message", (bk.Send,), lambda p, s: _count(p, s) > 0),
    Goal("batch", "several messages are sent at once", (bk.Send,), lambda _, s: bool(s.more)),
    Goal("oneway-send", "a one-way message is sent", (bk.Send,), lambda _, s: s.oneway),
    Goal(
        "topic-by-a-send",
        "a send brings a topic into being",
        (bk.Send,),
        lambda p, s: s.topic not in p.topics,
    ),
    Goal("any-queue", "the Broker chooses the queue", (bk.Send,), lambda _, s: s.queue < 0),
    Goal(
        "queue-beyond-the-topic",
        "a send to a queue that the topic does not have",
        (bk.Send,),
        lambda p, s: s.queue >= p.topics.get(s.topic, 9),
    ),
    Goal("delayed", "a message waits by its level", (bk.Send,), lambda _, s: s.level > 0),
    Goal(
        "timed",
        "a message waits by 5.x's timers",
        (bk.Send,),
        lambda _, s: s.after > 0,
        ("delayed-messages",),
    ),
    Goal(
        "recalled",
        "a message is taken back that waits",
        (Recall,),
        lambda p, s: s.message in p.messages and bool(p.allowed.get("recalls")),
        ("recalls", "restart"),
    ),
    Goal(
        "recalled-twice",
        "a message is taken back again",
        (Recall,),
        lambda p, s: s.message in p.recalled,
        ("recalls", "restart"),
    ),
    Goal(
        "recall-that-is-off",
        "a message is to be taken back where that is not allowed",
        (Recall,),
        lambda p, _: p.allowed.get("recalls") is False,
        ("recalls", "restart"),
    ),
    Goal("delay-over", "time passes until a delay is over", (Time,), lambda p, s: s.seconds in _ends(p, s)),
    Goal("immune", "a half message asks for immunity", (bk.Send,), lambda _, s: s.half and s.immune > 0),
    Goal("commit", "a half message is committed", (bk.End,), lambda p, s: s.verdict == 8 and _is_open(p, s)),
    Goal(
        "roll-back",
        "a half message is rolled back",
        (bk.End,),
        lambda p, s: s.verdict == 12 and _is_open(p, s),
    ),
    Goal("wrong-group-ends", "another group ends a transaction", (bk.End,), lambda _, s: s.group == "p9"),
    Goal("held-pull", "a pull at the end of a queue may be held", (bk.Pull,), lambda _, s: s.suspend > 0),
    Goal("pull-beyond", "a pull beyond the end", (bk.Pull,), lambda p, s: s.offset > _count(p, s)),
    Goal("pull-inside", "a pull inside a queue", (bk.Pull,), lambda p, s: 0 < s.offset < _count(p, s)),
    Goal("pull-with-tags", "a pull that wants some tags", (bk.Pull,), lambda _, s: bool(s.tags)),
    Goal("pull-by-heartbeat", "a pull by what a heartbeat said", (bk.Pull,), lambda _, s: not s.subscribes),
    Goal("pull-that-commits", "a pull commits an offset", (bk.Pull,), lambda _, s: s.commit is not None),
    Goal("pull-with-a-filter", "a pull brings a filter", (bk.Pull,), _brings_a_filter, ("restart",)),
    Goal(
        "unreadable-filter",
        "a pull brings a filter that cannot be compiled",
        (bk.Pull,),
        lambda p, s: _brings_a_filter(p, s) and isinstance(s.filter, Unreadable),
        ("restart",),
    ),
    Goal(
        "filter-that-is-off",
        "a pull brings a filter where filters are off",
        (bk.Pull,),
        lambda p, s: s.filter is not None and p.allowed.get("filters") is False,
        ("restart",),
    ),
    Goal(
        "group-says-a-filter",
        "a group says a filter",
        (bk.Beat,),
        lambda _, s: s.filter is not None,
        ("restart",),
    ),
    Goal("pop-with-a-filter", "a pop brings a filter", (Pop,), lambda _, s: s.filter is not None, ("pops",)),
    Goal(
        "popped-again",
        "a group pops what comes again",
        (Pop,),
        lambda p, s: p.comes_again(s.group),
        ("pops", "restart"),
    ),
    Goal(
        "acknowledged",
        "a popped message is acknowledged",
        (Ack,),
        lambda p, s: s.group in dict(p.popped),
        ("pops", "restart"),
    ),
    Goal(
        "hidden-for-another-time",
        "a popped message is hidden for another time",
        (Hide,),
        lambda p, s: s.group in dict(p.popped),
        ("pops", "restart"),
    ),
    Goal(
        "killed-while-messages-are-hidden",
        "the Broker is killed while popped messages are hidden",
        (Restart,),
        lambda p, s: s.how == "kill" and any(p.now < due < p.now + 3600 for _, due in p.popped),
        ("pops", "restart"),
    ),
    Goal(
        "pull-of-retries", "what was sent back is pulled", (bk.Pull,), lambda p, s: s.topic[7:] in p.returned
    ),
    Goal(
        "offset-grows",
        "a group commits a greater offset",
        (bk.Commit,),
        lambda p, s: p.offsets.get((s.group, s.topic, s.queue), 1 << 30) < s.offset,
    ),
    Goal(
        "offset-goes-back",
        "a group commits a smaller offset",
        (bk.Commit,),
        lambda p, s: p.offsets.get((s.group, s.topic, s.queue), 0) > s.offset,
    ),
    Goal("sent-back", "a consumer sends a message back", (bk.Back,), lambda _, s: s.level >= 0),
    Goal("dead-letter", "a message becomes a dead letter", (bk.Back,), lambda _, s: s.level < 0),
    Goal("two-groups", "a client is in two groups", (bk.Beat,), lambda _, s: len(s.groups) > 1),
    Goal(
        "contended-lock",
        "a client wants a lock that another one has",
        (bk.Lock,),
        lambda p, s: s.code == 41 and p.locks.get((s.group, s.topic), s.client) != s.client,
    ),
    Goal("by-key", "messages are searched by key", (bk.Find,), lambda _, s: not s.unique),
    Goal("by-id", "a message is looked at by its id", (bk.View,), lambda p, s: s.message in p.messages),
    Goal(
        "nameserver-lost",
        "one of two NameServers is of no use",
        (bk.NameServer,),
        lambda _, s: s.manner != "well",
        ("restart",),
    ),
    Goal("topic-deleted", "a topic is deleted", (bk.DropTopic,), lambda p, s: s.topic in p.topics),
    Goal(
        "static-topic",
        "a static topic is made",
        (MapTopic,),
        lambda p, s: s.topic not in p.static,
        ("static-topics", "restart"),
    ),
    Goal(
        "mapped-queue-goes-on",
        "a mapped queue with messages goes on in another queue",
        (MapTopic,),
        lambda p, s: _is_changed(p, s) and any(p.stored.get((s.topic, one)) for one in s.goes_on),
        ("static-topics", "restart"),
    ),
    Goal(
        "mapped-queue-leaves",
        "a mapped queue goes on at another Broker",
        (MapTopic,),
        lambda p, s: _is_changed(p, s) and bool(s.gone),
        ("static-topics", "restart"),
    ),
    Goal(
        "older-mapping",
        "a mapping is put that is older than the one that there is",
        (MapTopic,),
        lambda p, s: s.topic in p.static and not _is_changed(p, s),
        ("static-topics", "restart"),
    ),
    Goal(
        "mapped-queue-is-read",
        "a mapped queue with messages is pulled from",
        (bk.Pull,),
        lambda p, s: s.topic in p.static and p.static[s.topic].leads(s.queue) and _count(p, s) > 0,
        ("static-topics", "restart"),
    ),
    Goal(
        "queue-of-another-leader",
        "a message is sent to a queue that the Broker does not lead",
        (bk.Send,),
        lambda p, s: s.topic in p.static and s.queue >= 0 and not p.static[s.topic].leads(s.queue),
        ("static-topics", "restart"),
    ),
    Goal(
        "killed-with-a-mapping",
        "the Broker is killed while it has a static topic",
        (Restart,),
        lambda p, s: bool(p.static) and s.how == "kill",
        ("static-topics", "restart"),
    ),
    Goal("killed", "the Broker is killed", (Restart,), lambda _, s: s.how == "kill", ("restart",)),
    Goal("stopped", "the Broker is asked to stop", (Restart,), lambda _, s: s.how == "term", ("restart",)),
    Goal(
        "killed-with-messages",
        "the Broker is killed while it has messages, open transactions or delays",
        (Restart,),
        lambda p, _: bool(p.stored or p.verdicts or p.waiting),
        ("restart",),
    ),
    Goal(
        "switched", "the Broker becomes a slave", (bk.Switch,), lambda _, s: s.role == "slave", ("restart",)
    ),
    Goal(
        "switched-back",
        "a slave becomes a master again",
        (bk.Switch,),
        lambda p, s: p.is_slave and s.role == "master",
        ("restart",),
    ),
    Goal(
        "sent-to-a-slave", "a message is sent to a slave", (bk.Send,), lambda p, _: p.is_slave, ("restart",)
    ),
    Goal("pulled-from-a-slave", "a slave is pulled from", (bk.Pull,), lambda p, _: p.is_slave, ("restart",)),
    Goal(
        "ended-on-a-slave",
        "a transaction is ended on a slave",
        (bk.End,),
        lambda p, s: p.is_slave and s.message in p.verdicts,
        ("restart",),
    ),
    Goal(
        "sent-back-to-a-slave", "a slave is to take back", (bk.Back,), lambda p, _: p.is_slave, ("restart",)
    ),
    Goal(
        "delay-over-on-a-slave",
        "time passes on a slave until a delay is over",
        (Time,),
        lambda p, s: p.is_slave and s.seconds in _ends(p, s),
        ("restart",),
    ),
    Goal(
        "restarted-as-a-slave",
        "a slave is started again",
        (Restart,),
        lambda p, _: p.is_slave,
        ("restart",),
    ),
    Goal(
        "sent-behind-a-switch-back",
        "a message is sent to a master that was a slave",
        (bk.Send,),
        lambda p, _: p.switched and not p.is_slave,
        ("restart",),
    ),
)


def _ends(state: ProgramState, step: Time) -> set[int]:
    """The step's own seconds, where a delay is over by then."""
    waiting = state.waiting
    return {step.seconds} if waiting and waiting[0] < step.seconds else set()


def _is_changed(state: ProgramState, step: MapTopic) -> bool:
    """Whether a mapping takes the place of another one."""
    return step.topic in state.static and step.epoch > state.static[step.topic].epoch


def _is_open(state: ProgramState, step: bk.End) -> bool:
    return state.verdicts.get(step.message) == []


def state_of(state: ProgramState, step: AnyStep) -> str:
    """What the queue is that a step is about: ``empty``, ``one``, ``some``; ``-`` where it is about none."""
    if getattr(step, "queue", None) is None:
        return "-"
    count = _count(state, step)
    return ("empty", "one")[count] if count < 2 else "some"


def tally() -> Coverage:
    """Of programs of Brokers."""
    return Coverage(GOALS, state_of)
