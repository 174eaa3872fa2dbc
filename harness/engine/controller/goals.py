"""Whether the interesting states of a controller were reached: goals, and a table of transitions.

A transition is the kind of a step, and what became of the name that it is about.
"""

from __future__ import annotations

from harness.engine.controller.program_state import NOWHERE, ProgramState, Replicas
from harness.engine.coverage import Coverage, Goal
from harness.program.nameserver import controller_steps as ctl
from harness.program.step import Close, Request, Restart, Time
from harness.program.steps import AnyStep


def _of(state: ProgramState, step: AnyStep) -> Replicas | None:
    """The name that a step is about."""
    return state.names.get(getattr(step, "broker", ""))


def _has(state: ProgramState, step: AnyStep, number: int) -> bool:
    of_name = _of(state, step)
    return of_name is not None and number in of_name.members


def _in_sync(state: ProgramState, step: AnyStep) -> frozenset[int]:
    of_name = _of(state, step)
    return frozenset() if of_name is None else of_name.in_sync


def _is_led(state: ProgramState, step: AnyStep) -> bool:
    of_name = _of(state, step)
    return of_name is not None and state.lives(step.broker, of_name.master)  # type: ignore[union-attr]


def _masters_on(state: ProgramState, conn: str) -> list[tuple[str, Replicas]]:
    """The names whose master lives by a connection."""
    return [
        (broker, of_name)
        for broker, of_name in state.names.items()
        if state.conn(broker, of_name.master) == conn
    ]


def _has_heir(state: ProgramState, broker: str, of_name: Replicas) -> bool:
    return any(state.lives(broker, one) for one in of_name.in_sync if one != of_name.master)


def _expires(state: ProgramState, step: Time) -> bool:
    """Whether the heartbeat of a master runs out while time passes."""
    after = state.now + step.seconds
    return any(
        (beat := state.beats.get((broker, (of_name.cluster, of_name.master)))) is not None
        and beat.until < after
        for broker, of_name in state.names.items()
    )


def _is_stale(state: ProgramState, step: ctl.AlterInSync) -> bool:
    of_name = _of(state, step)
    epochs = None if of_name is None else (of_name.master_epoch, of_name.set_epoch)
    return epochs is not None and (step.master_epoch, step.set_epoch) != epochs


def _masterless(state: ProgramState) -> bool:
    return any(one.master == NOWHERE and one.master_epoch > 0 for one in state.names.values())


GOALS: tuple[Goal, ...] = (
    Goal(
        "second-replica", "a name gets a second replica", (ctl.ApplyId,), lambda p, s: _of(p, s) is not None
    ),
    Goal("id-taken-again", "an id is applied for again", (ctl.ApplyId,), lambda p, s: _has(p, s, s.id)),
    Goal(
        "wrong-first-id",
        "a name begins with another id than 1",
        (ctl.ApplyId,),
        lambda p, s: _of(p, s) is None and s.id != 1,
    ),
    Goal("wide-id", "an id is wider than an int", (ctl.ApplyId,), lambda _, s: s.id > 1 << 32),
    Goal(
        "replica-moves",
        "a replica registers with another address",
        (ctl.RegisterReplica,),
        lambda p, s: _has(p, s, s.id) and p.names[s.broker].members[s.id][0] != s.address,
    ),
    Goal(
        "unknown-registers",
        "a replica without id registers",
        (ctl.RegisterReplica,),
        lambda p, s: not _has(p, s, s.id),
    ),
    Goal(
        "first-election",
        "a name gets its first master",
        (ctl.Elect,),
        lambda p, s: _has(p, s, s.id) and p.names[s.broker].master_epoch == 0,
    ),
    Goal(
        "election-beside-a-master",
        "an election while the master lives",
        (ctl.Elect,),
        lambda p, s: not s.designate and _is_led(p, s),
    ),
    Goal(
        "designation",
        "a replica in sync is demanded as the master",
        (ctl.Elect,),
        lambda p, s: s.designate and _is_led(p, s) and s.id in _in_sync(p, s) and p.lives(s.broker, s.id),
    ),
    Goal(
        "designation-of-the-unable",
        "a replica is demanded that cannot be the master",
        (ctl.Elect,),
        lambda p, s: s.designate and _is_led(p, s) and s.id not in _in_sync(p, s),
    ),
    Goal(
        "election-without-master",
        "an election is asked for where the master is gone",
        (ctl.Elect,),
        lambda p, s: not s.designate and not _is_led(p, s) and bool(_in_sync(p, s)),
    ),
    Goal(
        "in-sync-grows",
        "more replicas are in sync",
        (ctl.AlterInSync,),
        lambda p, s: _is_led(p, s) and set(s.ids) > _in_sync(p, s),
    ),
    Goal(
        "in-sync-shrinks",
        "fewer replicas are in sync",
        (ctl.AlterInSync,),
        lambda p, s: _is_led(p, s) and set(s.ids) < _in_sync(p, s),
    ),
    Goal(
        "stale-epoch",
        "a set in sync of another epoch",
        (ctl.AlterInSync,),
        lambda p, s: _is_led(p, s) and _is_stale(p, s),
    ),
    Goal(
        "dead-in-sync",
        "a set in sync with a replica that is dead",
        (ctl.AlterInSync,),
        lambda p, s: _is_led(p, s) and any(_has(p, s, one) and not p.lives(s.broker, one) for one in s.ids),
    ),
    Goal(
        "master-lost",
        "the connection of a master ends, and another replica in sync lives",
        (Close,),
        lambda p, s: any(_has_heir(p, *one) for one in _masters_on(p, s.conn)),
    ),
    Goal(
        "master-lost-alone",
        "the connection of a master ends, and no other replica in sync lives",
        (Close,),
        lambda p, s: any(not _has_heir(p, *one) for one in _masters_on(p, s.conn)),
    ),
    Goal("master-expires", "the heartbeat of a master runs out", (Time,), _expires, ("leases",)),
    Goal(
        "replica-returns",
        "a replica that was gone is heard again",
        (ctl.ReplicaBeat,),
        lambda p, s: (s.broker, s.id) in p.fallen,
    ),
    Goal(
        "unclean-election",
        "a master is lost where replicas out of sync may be elected",
        (Close,),
        lambda p, s: p.unclean and bool(_masters_on(p, s.conn)),
    ),
    Goal(
        "replica-forgotten",
        "a replica is forgotten",
        (ctl.CleanReplicas,),
        lambda p, s: bool(s.ids) and not s.living and _is_led(p, s),
    ),
    Goal(
        "name-forgotten",
        "a name is forgotten by force",
        (ctl.CleanReplicas,),
        lambda p, s: bool(s.living) and _of(p, s) is not None,
    ),
    Goal(
        "name-begins-again",
        "a name that was forgotten begins again",
        (ctl.ApplyId,),
        lambda p, s: s.broker in p.ever and _of(p, s) is None,
    ),
    Goal(
        "field-missing",
        "a request lacks a field",
        ctl.AnyRequest.__args__,
        lambda _, s: isinstance(s, Request) and bool(s.drop),
    ),
    Goal(
        "killed-with-masters",
        "the server is killed while names have masters",
        (Restart,),
        lambda p, s: s.how == "kill" and bool(p.names),
        ("restart",),
    ),
    Goal(
        "stopped-with-masters",
        "the server is stopped while names have masters",
        (Restart,),
        lambda p, s: s.how == "term" and bool(p.names),
        ("restart",),
    ),
    Goal(
        "restarted-without-master",
        "the server is ended while a name has lost its master",
        (Restart,),
        lambda p, _: _masterless(p),
        ("restart",),
    ),
)


def state_of(state: ProgramState, step: AnyStep) -> str:
    """What the name is that a step is about: ``unknown``, ``new`` (never led), ``led``, ``orphaned``; ``-``
    where it is about none.
    """
    if not hasattr(step, "broker"):
        return "-"
    of_name = _of(state, step)
    if of_name is None:
        return "unknown"
    if of_name.master_epoch == 0:
        return "new"
    return "led" if state.lives(step.broker, of_name.master) else "orphaned"


def tally() -> Coverage:
    """Of programs of controllers."""
    return Coverage(GOALS, state_of)
