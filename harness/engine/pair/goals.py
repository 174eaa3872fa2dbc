"""Whether the interesting states of a pair were reached; a transition is what became of its slave."""

from __future__ import annotations

from harness.engine.coverage import Coverage, Goal
from harness.engine.pair.program_state import PairState
from harness.program.broker import steps as bk
from harness.program.broker.pair_steps import Part, Replicate, TakeOver
from harness.program.step import Restart
from harness.program.steps import AnyStep


def _is_alone(state: PairState) -> bool:
    return state.was_connected and not state.is_connected and not state.is_promoted


def _is_read_from(state: PairState, step: bk.Pull) -> bool:
    return step.server == 1 and state.slave.stored.get((step.topic, step.queue), 0) > 0


def _has_taken_over(state: PairState, step: bk.Committed) -> bool:
    return step.server == 1 and (step.group, step.topic, step.queue) in state.taken_over


def _takes_its_place(state: PairState, step: bk.Switch) -> bool:
    return step.server == 1 and step.role == "master" and state.was_connected


def _goes_on(state: PairState, step: bk.Send) -> bool:
    return state.is_promoted and step.server == 1


GOALS: tuple[Goal, ...] = (
    Goal(
        "copied",
        "the slave gets all of the log",
        (Replicate,),
        lambda p, s: bool(p.stored) and s.most is None,
    ),
    Goal("copied-in-part", "the slave gets a part of the log", (Replicate,), lambda _, s: s.most is not None),
    Goal(
        "unreported", "the master is not told how far the slave is", (Replicate,), lambda _, s: not s.reports
    ),
    Goal("found-again", "the slave meets its master again", (Replicate,), lambda p, _: _is_alone(p)),
    Goal("sent-alone", "a message is sent while the slave is away", (bk.Send,), lambda p, _: _is_alone(p)),
    Goal("parted", "master and slave lose each other", (Part,), lambda p, _: p.is_connected),
    Goal("master-killed", "the master is killed", (Restart,), lambda p, s: p.is_connected and not s.server),
    Goal("slave-ended", "the slave is ended", (Restart,), lambda p, s: p.is_connected and s.server == 1),
    Goal(
        "half-a-message",
        "the slave is ended in a message",
        (Restart,),
        lambda p, s: p.is_half and s.server == 1,
    ),
    Goal("read-from-the-slave", "the slave is read from", (bk.Pull,), _is_read_from),
    Goal(
        "promoted",
        "the slave takes the place of its master",
        (bk.Switch,),
        _takes_its_place,
    ),
    Goal(
        "taken-over",
        "the slave takes offsets over from its master",
        (TakeOver,),
        lambda p, _: bool(p.offsets) and not p.is_promoted,
    ),
    Goal(
        "taken-over-is-shown",
        "the slave is asked for an offset that it took over",
        (bk.Committed,),
        _has_taken_over,
    ),
    Goal(
        "promoted-knows-offsets",
        "a slave that was promoted is asked for an offset of its master's",
        (bk.Committed,),
        lambda p, s: p.is_promoted and _has_taken_over(p, s),
    ),
    Goal(
        "delay-is-copied",
        "a message that waits is on the slave",
        (Replicate,),
        lambda p, s: bool(p.waiting) and s.most is None,
    ),
    Goal(
        "half-is-copied",
        "an open half message is on the slave",
        (Replicate,),
        lambda p, s: [] in p.verdicts.values() and s.most is None,
    ),
    Goal(
        "delay-outlives-its-master",
        "a slave with a message that waits takes the place of its master",
        (bk.Switch,),
        lambda p, s: _takes_its_place(p, s) and bool(p.slave.waiting),
    ),
    Goal(
        "promoted-commits",
        "a slave that was promoted commits a half message of its master's",
        (bk.End,),
        lambda p, s: (
            s.server == 1 and p.is_promoted and p.slave.verdicts.get(s.message) == [] and s.verdict == 8
        ),
    ),
    Goal(
        "timer-is-copied",
        "a message that waits for its time is on the slave",
        (Replicate,),
        lambda p, s: s.most is None and any(one.after for one in p.messages.values()),
        ("delayed-messages",),
    ),
    Goal(
        "timer-outlives-its-master",
        "a slave with a message that waits for its time takes the place of its master",
        (bk.Switch,),
        lambda p, s: (
            _takes_its_place(p, s)
            and bool(p.slave.waiting)
            and any(one.after for one in p.slave.messages.values())
        ),
        ("delayed-messages",),
    ),
    Goal(
        "returned-is-copied",
        "a message that was sent back is on the slave",
        (Replicate,),
        lambda p, s: bool(p.returned) and s.most is None,
    ),
    Goal(
        "dead-letter-is-copied",
        "a dead letter is on the slave",
        (Replicate,),
        lambda p, s: bool(p.dead) and s.most is None,
    ),
    Goal(
        "returned-outlives-its-master",
        "a slave with a message that was sent back takes the place of its master",
        (bk.Switch,),
        lambda p, s: _takes_its_place(p, s) and bool(p.slave.returned),
    ),
    Goal(
        "promoted-shows-what-came-back",
        "a slave that was promoted is asked for what was sent back to its master",
        (bk.Pull,),
        lambda p, s: s.server == 1 and p.is_promoted and s.topic[7:] in p.returned,
    ),
    Goal(
        "promoted-takes-back",
        "a slave that was promoted takes a message back",
        (bk.Back,),
        lambda p, s: s.server == 1 and p.is_promoted,
    ),
    Goal("goes-on", "a slave that was promoted gets a message", (bk.Send,), _goes_on),
)


def state_of(state: PairState, step: AnyStep) -> str:
    """What the slave is: ``new``, ``there``, ``away`` or ``promoted``."""
    if state.is_promoted:
        return "promoted"
    if not state.was_connected:
        return "new"
    return "there" if state.is_connected else "away"


def tally() -> Coverage:
    """Of programs of pairs."""
    return Coverage(GOALS, state_of)
