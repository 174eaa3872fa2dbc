"""What should exist on a controller while a program is being made: rules choose their arguments by it.

It steers, judges nothing, and sees no answer: the same steps give the same state on every target. Where it is
wrong a program is duller than it could be.
"""

from __future__ import annotations

import msgspec

from harness.catalogue import Feature, profile_named
from harness.program.nameserver import controller_steps as ctl
from harness.program.step import Close, Request, Restart, Time
from harness.program.steps import AnyStep
from harness.spec.nameserver.controller.state import BY_DEFAULT, FIRST_ID, LOWEST, Identity

NOWHERE = 0
"""No id."""


class Beat(msgspec.Struct):
    """What was heard of a replica."""

    until: float
    conn: str
    rank: tuple[int, int, int]


class Replicas(msgspec.Struct):
    """A broker name."""

    cluster: str
    given: int = 0
    members: dict[int, tuple[str, str]] = {}
    """Address and start, by id."""
    master: int = NOWHERE
    master_epoch: int = 0
    in_sync: frozenset[int] = frozenset()
    set_epoch: int = 0

    @property
    def next_id(self) -> int:
        """The id that is given next."""
        return self.given + FIRST_ID


class ProgramState:
    """What a program should have brought about so far."""

    def __init__(self, profile: str) -> None:
        self.profile = profile
        self._line = profile_named(profile)
        self.servers = 1
        self.now = 0
        """Seconds that steps have let pass."""
        self.names: dict[str, Replicas] = {}
        """By broker symbol."""
        self.ever: dict[str, str] = {}
        """Names that were ever asked about, with a cluster of theirs."""
        self.beats: dict[tuple[str, Identity], Beat] = {}
        """By name, cluster and id."""
        self.fallen: dict[tuple[str, int], None] = {}
        """Replicas that lived, and live no more."""
        self.unclean = False
        self.was_unclean = False
        """Whether it ever was allowed."""

    def has(self, feature: Feature) -> bool:
        """Whether the line has a feature."""
        return self._line.has(feature)

    def lives(self, broker: str, number: int) -> bool:
        """Whether a replica of a name lives."""
        of_name = self.names.get(broker)
        return of_name is not None and (broker, (of_name.cluster, number)) in self.beats

    def living(self, broker: str) -> list[int]:
        """The ids of a name that live."""
        of_name = self.names.get(broker)
        return [] if of_name is None else [one for one in of_name.members if self.lives(broker, one)]

    def conn(self, broker: str, number: int) -> str | None:
        """The connection of a replica that lives."""
        of_name = self.names.get(broker)
        beat = None if of_name is None else self.beats.get((broker, (of_name.cluster, number)))
        return None if beat is None else beat.conn

    @property
    def waiting(self) -> list[int]:
        """Seconds until each heartbeat runs out."""
        return sorted(int(beat.until - self.now) for beat in self.beats.values())

    def facts(self) -> object:
        """What exists, by symbols: who has applied, leads, is in sync and lives, and whether elections may be
        unclean. It leaves out epochs and the age of heartbeats, with which hardly two states would be equal.
        """
        names = sorted(
            (name, one.cluster, one.given, sorted(one.members.items()), one.master, sorted(one.in_sync))
            for name, one in self.names.items()
        )
        return names, sorted(self.beats), self.unclean

    # --- what happens ---------------------------------------------------------------------------------------

    def apply(self, step: AnyStep) -> None:
        """Carries a step out."""
        if isinstance(step, ctl.ControllerRequest):
            self._note(step)
        if isinstance(step, Request) and (step.drop or (step.broken is not None and step.broken < 100)):
            return
        match step:
            case Time():
                self._pass(step.seconds)
            case Close():
                self._fall([key for key, beat in self.beats.items() if beat.conn == step.conn])
            case Restart():
                self.beats.clear()
                self.unclean = False
            case ctl.AllowUnclean() if step.beside in ("", "long"):
                self.unclean = step.allowed
                self.was_unclean = self.was_unclean or step.allowed
            case ctl.ApplyId():
                self._apply(step)
            case ctl.RegisterReplica():
                of_name = self.names.get(step.broker)
                if of_name is not None and step.id in of_name.members:
                    of_name.members[step.id] = (step.address, of_name.members[step.id][1])
            case ctl.ReplicaBeat():
                self._beat(step)
            case ctl.Elect():
                self._elect(step)
            case ctl.AlterInSync():
                self._alter(step)
            case ctl.CleanReplicas():
                self._clean(step)

    def _note(self, step: ctl.ControllerRequest) -> None:
        broker = getattr(step, "broker", None)
        if broker is not None:
            self.ever.setdefault(broker, getattr(step, "cluster", "c0"))

    def _pass(self, seconds: int) -> None:
        self.now += seconds
        self._fall([key for key, beat in self.beats.items() if beat.until < self.now])

    def _fall(self, keys: list[tuple[str, Identity]]) -> None:
        """Replicas live no more; where one was the master, another is elected."""
        for key in keys:
            del self.beats[key]
        for broker, (cluster, number) in keys:
            self.fallen[broker, number] = None
            of_name = self.names.get(broker)
            if of_name is not None and (of_name.cluster, of_name.master) == (cluster, number):
                self._lead(broker, self._winner(broker))

    def _apply(self, step: ctl.ApplyId) -> None:
        of_name = self.names.get(step.broker)
        if of_name is None:
            if step.id != FIRST_ID:
                return
            of_name = self.names[step.broker] = Replicas(step.cluster)
        if step.id not in of_name.members:
            of_name.members[step.id] = (step.address, step.start)
            of_name.given += 1

    def _beat(self, step: ctl.ReplicaBeat) -> None:
        lasts = BY_DEFAULT if step.lasts is None else step.lasts / 1000
        priority = LOWEST if step.priority is None else step.priority
        log = (step.log_epoch or 0, step.log_end or 0)
        self.fallen.pop((step.broker, step.id), None)
        beat = Beat(self.now + lasts, step.conn, (-log[0], -log[1], priority))
        self.beats[step.broker, (step.cluster, step.id)] = beat

    def _elect(self, step: ctl.Elect) -> None:
        of_name = self.names.get(step.broker)
        if of_name is None:
            return
        if of_name.master_epoch == 0:
            if step.id in of_name.members:
                self._lead(step.broker, step.id)
        elif step.designate:
            is_able = step.id in of_name.in_sync or (self.unclean and step.id in of_name.members)
            if is_able and step.id != of_name.master and self.lives(step.broker, step.id):
                self._lead(step.broker, step.id)
        elif not self.lives(step.broker, of_name.master):
            winner = self._winner(step.broker)
            if winner != NOWHERE:
                self._lead(step.broker, winner)

    def _winner(self, broker: str) -> int:
        of_name = self.names[broker]
        for candidates in (of_name.in_sync, of_name.members if self.unclean else ()):
            ranked = [
                (self.beats[broker, (of_name.cluster, one)].rank, one)
                for one in candidates
                if self.lives(broker, one)
            ]
            if ranked:
                return min(ranked)[1]
        return NOWHERE

    def _lead(self, broker: str, number: int) -> None:
        of_name = self.names[broker]
        of_name.master = number
        of_name.master_epoch += 1
        if number != NOWHERE:
            of_name.in_sync = frozenset((number,))
            of_name.set_epoch += 1

    def _alter(self, step: ctl.AlterInSync) -> None:
        of_name = self.names.get(step.broker)
        if of_name is None or of_name.master == NOWHERE:
            return
        epochs = (of_name.master_epoch, of_name.set_epoch)
        ids = frozenset(step.ids)
        is_right = (step.id, step.master_epoch, step.set_epoch) == (of_name.master, *epochs)
        if is_right and step.id in ids and ids <= set(self.living(step.broker)) and ids != of_name.in_sync:
            of_name.in_sync = ids
            of_name.set_epoch += 1

    def _clean(self, step: ctl.CleanReplicas) -> None:
        of_name = self.names.get(step.broker)
        if of_name is None:
            return
        parts = [one for one in (step.ids or "").split(";") if one]
        if step.living or (not parts and of_name.master == NOWHERE):
            del self.names[step.broker]
            return
        if not parts or not all(one.isdecimal() for one in parts):
            return
        numbers = set(map(int, parts))
        if any((step.broker, (step.cluster, one)) in self.beats for one in numbers):
            return
        for one in numbers:
            of_name.members.pop(one, None)
            self.fallen.pop((step.broker, one), None)
        of_name.in_sync -= numbers
        if not of_name.members:
            del self.names[step.broker]
