"""The rules of a role as a Hypothesis machine, for a test in anybody's repository.

A violation is an ``AssertionError`` and Hypothesis shrinks::

    TestNameServer = NameServerMachine.for_target("tcp://127.0.0.1:9876", profile="5.3").TestCase
"""

from __future__ import annotations

import atexit
import itertools
from collections.abc import Iterator
from functools import cache
from typing import Any, ClassVar, Self

from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, rule

from harness.catalogue import profile_named
from harness.engine.context import TargetContext
from harness.engine.controller.role import CONTROLLER
from harness.engine.generator import MOST, Allowance, Bounds, Generator, Rule
from harness.engine.nameserver.role import NAMESERVER
from harness.engine.nameserver.strategies.pick import Pick
from harness.engine.program_run import ProgramRun
from harness.engine.role import Role
from harness.engine.rules import RULES
from harness.program.chance import chance
from harness.program.names import Names
from harness.program.steps import AnyStep, encode_step
from harness.spec import Violation
from harness.targets import parse


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


class Machine(RuleBasedStateMachine):
    """Plays the rules that Hypothesis draws, and reads everything back at the end."""

    role: ClassVar[Role]
    context: ClassVar[TargetContext]
    bounds: ClassVar[Bounds]
    numbers: ClassVar[Iterator[int]]

    def __init__(self) -> None:
        super().__init__()
        self.program_run: ProgramRun | None = None
        self.allowance: Allowance | None = None

    @classmethod
    def for_target(cls, uri: str, *, profile: str) -> type[Self]:
        """A machine for a target, to be run by pytest: its ``TestCase`` is a test class. Servers are started
        with the first program, and stopped at the end of the process.
        """
        context = TargetContext(parse(uri, cls.role.name), profile, role=cls.role)
        atexit.register(context.close)
        generator = Generator(RULES[cls.role.rules], Bounds.of(context), profile_named(profile))
        members: dict[str, Any] = {
            "context": context,
            "bounds": generator.bounds,
            "numbers": itertools.count(1),
        }
        members |= {f"rule_{number}": _carried_out(one) for number, one in enumerate(generator.rules)}
        machine: Any = type(cls.__name__, (cls,), members)
        machine.TestCase.settings = settings(deadline=None, suppress_health_check=list(HealthCheck))
        made: type[Self] = machine
        return made

    @initialize(several=st.integers(0, 3), patience=st.integers(0, MOST), seeking=st.integers(0, MOST))
    def begin(self, several: int, patience: int, seeking: int) -> None:
        """Decides what the program may do; this is the first rule of each program."""
        self.allowance = Allowance(self.bounds, several, patience, seeking)
        self.program_run = ProgramRun(
            self.context,
            Names(chance("machine", self.context.target.uri, next(self.numbers))),
            servers=self.allowance.servers,
            quirks=self.context.known,
            seeks=self.allowance.seeks,
        )

    def do(self, steps: tuple[AnyStep, ...]) -> None:
        """Carries steps out."""
        assert self.program_run is not None
        assert self.allowance is not None
        for step in self.allowance.within(steps):
            self.program_run.do(step)

    def teardown(self) -> None:
        """Reads everything back. Raises ``Violated``."""
        program_run, self.program_run = self.program_run, None
        if program_run is None:
            return
        try:
            program_run.look_at_everything()
        finally:
            program_run.leave()
        if program_run.violations and program_run.quirk is None:
            raise Violated(program_run.violations[0], program_run.steps)


class NameServerMachine(Machine):
    """The machine of NameServers."""

    role = NAMESERVER


class ControllerMachine(Machine):
    """The machine of controllers, which NameServers of 5.x may have."""

    role = CONTROLLER


@cache
def _up_to(most: int) -> st.SearchStrategy[int]:
    return st.integers(0, most)


@st.composite
def _drawn(draw: Any, one: Rule) -> tuple[AnyStep, ...]:
    """The steps of a rule, where it is carried out this time."""
    pick = Pick(lambda most: draw(_up_to(most)))
    steps = one.make(pick, draw(st.runner()).program_run.state)
    return steps if one.once_in == 1 or pick.once_in(one.once_in) else ()


def _carried_out(one: Rule) -> Any:
    @rule(steps=_drawn(one))
    def carry_out(self: Machine, steps: tuple[AnyStep, ...]) -> None:
        self.do(steps)

    return carry_out
