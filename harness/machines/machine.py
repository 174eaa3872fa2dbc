"""The machine that Hypothesis makes programs by: rules of a role, and every program ends by looking at
everything.

Rules of this module:
- A rule is a maker of strategies; nothing is decided here. What a line of the protocol does not know is no
  rule of its machine.
- The same machine runs on every target; where time costs something, few programs let it pass, and where
  starting does, fewer restart a server.
- Under plain pytest a violation is an ``AssertionError`` and Hypothesis shrinks::

      TestNameServer = NameServerMachine.for_target("tcp://127.0.0.1:9876", profile="5.3").TestCase
"""

from __future__ import annotations

import atexit
from collections.abc import Callable
from typing import Any, ClassVar, Protocol, Self

import msgspec
from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, rule

from harness.machines.performance import Performance
from harness.machines.role import KnownQuirks, Role
from harness.machines.stage import Stage
from harness.machines.strategies import Maker, drawn
from harness.model import Violation
from harness.program.chance import chance
from harness.program.frames import Names
from harness.program.steps import AnyStep, Request, Time, encode_step
from harness.session import ProfileName
from harness.targets import parse

__all__ = ["Director", "Machine", "Violated", "known_quirks", "rule_of"]

_LONG = 4
"""How often a program may let more than that pass, where time costs something."""


class Violated(AssertionError):  # noqa: N818  (a verdict, named as such)
    """A server did what the catalogue does not allow."""

    def __init__(self, violation: Violation, program: list[AnyStep]) -> None:
        self.violation = violation
        self.program = tuple(program)
        steps = "\n".join(f"  {number:>3}  {encode_step(step)}" for number, step in enumerate(program, 1))
        super().__init__(
            f"{violation.statement} ({violation.invariant})\n"
            f"  expected  {violation.expected}\n"
            f"  actual    {violation.actual}\n"
            f"  at step {violation.number + 1} of\n{steps}"
        )


class Director(Protocol):
    """Who has programs played: gives performances, and is told of their ends."""

    def begins(self, servers: int, *, seeks: bool) -> Performance | None:
        """The performance of the next program; None where nothing is to be played at all."""
        ...

    def ended(self, performance: Performance) -> None:
        """A program has been played, or has come to a violation."""
        ...


def _is_one_in(programs: int, number: int) -> bool:
    """Whether a number that was drawn makes its program one of so many. Not by 0, which is drawn often."""
    return number % programs == programs - 1


def rule_of(maker: Maker, draw: Callable[[Maker], Any] = drawn) -> Any:
    """A rule that carries out what a maker gives, as it is drawn."""

    @rule(steps=draw(maker))
    def carry_out(self: Machine, steps: tuple[AnyStep, ...]) -> None:
        self.do(steps)

    carry_out.maker = maker  # type: ignore[attr-defined]
    return carry_out


class Machine(RuleBasedStateMachine):
    """What all roles and lines have in common. `director` is of the class: see `for_target`."""

    role: ClassVar[Role]
    director: ClassVar[Director]
    in_five: ClassVar[type[Any]]
    """The machine of the lines of 5.x."""
    five: ClassVar[bool] = False
    servers: ClassVar[int] = 1
    """So many NameServers at most."""
    moment: ClassVar[int] = 5
    """Protocol seconds that any program may let pass at once."""
    moments_once_in: ClassVar[int] = 1
    """In one of so many programs it may let time pass at all."""
    waits_once_in: ClassVar[int] = 1
    """In one of so many programs leases may end."""
    seeks_once_in: ClassVar[int] = 0
    """In one of so many programs steps are carried out that named quirks are about; 0: in all."""
    restarts: ClassVar[bool] = True
    restarts_once_in: ClassVar[int] = 1
    """In one of so many programs a server is started again, and where that is not all of them, once."""

    def __init__(self) -> None:
        super().__init__()
        self.picture = self.role.picture(five=self.five, servers=1)
        self._performance: Performance | None = None
        self._has_moments = True
        self._is_patient = True
        self._waited = 0
        self._is_restless = True
        self._restarted = 0

    @classmethod
    def for_target(cls, uri: str, *, profile: ProfileName) -> type[Self]:
        """A machine for a target, to be run by pytest: its ``TestCase`` is a test class. Servers are started
        with the first program, and stopped at the end of the process.
        """
        stage = Stage(parse(uri, cls.role.name), profile, role=cls.role)
        atexit.register(stage.close)
        return cls.played(stage, profile, _Alone(stage))

    @classmethod
    def played(
        cls, stage: Stage | None, profile: ProfileName, director: Director, **changes: Any
    ) -> type[Self]:
        """The machine of a profile, with what its target can and what its time costs; no stage: none at
        all.
        """
        members: dict[str, Any] = {"director": director, "servers": cls.role.servers}
        if stage is not None:
            members |= {
                "servers": cls.role.servers if stage.nature.is_ours else 1,
                "waits_once_in": stage.waits_once_in,
                "moments_once_in": stage.moments_once_in,
                "moment": stage.moment,
                "seeks_once_in": 10 if known_quirks(stage) else 0,
                "restarts": stage.nature.is_ours,
                "restarts_once_in": stage.restarts_once_in,
            }
        base = cls if profile == "4.9" else cls.in_five
        machine: Any = type(base.__name__.strip("_"), (base,), members | changes)
        machine.TestCase.settings = settings(deadline=None, suppress_health_check=list(HealthCheck))
        made: type[Self] = machine
        return made

    # --- programs -------------------------------------------------------------------------------------------

    @initialize(several=st.integers(0, 3), patience=st.integers(0, 10_000), seeking=st.integers(0, 10_000))
    def begin(self, several: int, patience: int, seeking: int) -> None:
        """What kind of program it is; it is the first rule of each."""
        servers = self.servers if several == 3 else 1
        seeks = self._allow(patience, seeking)
        self._performance = self.director.begins(servers, seeks=seeks)
        self.picture = (
            self.role.picture(five=self.five, servers=servers)
            if self._performance is None
            else self._performance.picture
        )

    @classmethod
    def makers(cls) -> list[Maker]:
        """The makers of its rules, in their order; that of `restart` is none of them."""
        members = [member for base in reversed(cls.__mro__) for member in vars(base).values()]
        return [member.maker for member in members if hasattr(member, "maker")]

    def _allow(self, patience: int, seeking: int) -> bool:
        """Decides by numbers that were drawn what the program may do; tells whether it seeks quirks."""
        self._is_patient = _is_one_in(self.waits_once_in, patience)
        self._is_restless = _is_one_in(self.restarts_once_in, patience // self.waits_once_in)
        moments = seeking // max(1, self.seeks_once_in)
        self._has_moments = self._is_patient or _is_one_in(self.moments_once_in, moments)
        return not self.seeks_once_in or _is_one_in(self.seeks_once_in, seeking)

    def do(self, steps: tuple[AnyStep, ...]) -> None:
        """Carries steps out."""
        for drawn_step in steps:
            step = self._in_time(drawn_step)
            if step is None:
                continue
            if self._performance is None:
                self.picture.apply(step)
            else:
                self._performance.do(step)

    def teardown(self) -> None:
        """Looks at everything, and gives the performance back."""
        performance, self._performance = self._performance, None
        if performance is None:
            return
        try:
            performance.look_at_everything()
        finally:
            performance.leave()
        self.director.ended(performance)

    def _in_time(self, step: AnyStep) -> AnyStep | None:
        """A step that takes no more time than it may; None for a wait that is left out."""
        moment = self.moment if self._has_moments else 0
        if isinstance(step, Time) and step.seconds > moment and not self._may_wait():
            return None
        if isinstance(step, Request) and step.stall > moment:
            return msgspec.structs.replace(step, stall=moment)
        return step

    def _may_wait(self) -> bool:
        self._waited += 1
        return self.waits_once_in == 1 or (self._is_patient and self._waited <= _LONG)

    def _may_restart(self) -> bool:
        self._restarted += 1
        return self.restarts_once_in == 1 or (self._is_restless and self._restarted == 1)


def known_quirks(stage: Stage) -> KnownQuirks:
    """What the target is known to do otherwise."""
    return stage.role.quirks(stage.profile, stage.nature.scheme)


class _Alone:
    """Has programs played one after the other; the first violation is raised."""

    def __init__(self, stage: Stage) -> None:
        self._stage = stage
        self._quirks = known_quirks(stage)
        self._tally = stage.role.tally()
        self._number = 0

    def begins(self, servers: int, *, seeks: bool) -> Performance:
        self._number += 1
        names = Names(chance("machine", self._stage.target.uri, self._number))
        return Performance(
            self._stage, names, servers=servers, quirks=self._quirks, seeks=seeks, tally=self._tally
        )

    def ended(self, performance: Performance) -> None:
        if performance.violations and performance.quirk is None:
            raise Violated(performance.violations[0], performance.steps)
