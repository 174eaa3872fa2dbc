"""Makes programs of single steps: rules, chosen by chance, that read what should exist by now.

Invariants:
- Chance and the bounds of the target decide a program. No answer, no clock and no earlier program does.
- Each program leaves some of the rules out (swarm testing), so that programs differ more than their steps do.
- What costs real time is rare: few programs may wait for leases or restart a server.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import msgspec

from harness.catalogue import Feature, Profile
from harness.engine.context import TargetContext
from harness.engine.nameserver.strategies.pick import Maker, Pick
from harness.program.chance import Chance
from harness.program.step import Request, Restart, Time
from harness.program.steps import AnyStep

_LEFT_OUT = 0.8
"""The greatest share of the rules that a program leaves out."""
_AMONG_STARTS = 2
"""The number of rules of each program that restart a server, where a start takes long and each program starts
several servers anyway: what these rules reach is rare.
"""
_LONG = 4
"""How many long waits a patient program may have, where time costs something."""
MOST = 10_000
"""The highest number that decides an allowance."""


class Rule(msgspec.Struct, frozen=True):
    """One way to go on with a program."""

    make: Maker
    needs: Feature | None = None
    """What a release line must have for it."""
    ours: bool = False
    """Whether it needs a server that may be restarted and reconfigured."""
    once_in: int = 1
    """Its steps are carried out one time in this many."""


class Bounds(msgspec.Struct, frozen=True, kw_only=True):
    """The properties of a target that its programs depend on."""

    servers: int = 1
    """The most NameServers of a program."""
    moment: int = 5
    """Protocol seconds that any program may let pass at once."""
    moments_once_in: int = 1
    """One program in this many lets time pass at all."""
    waits_once_in: int = 1
    """One program in this many lets leases end."""
    seeks_once_in: int = 0
    """One program in this many carries out steps that named quirks are about; 0: all programs do."""
    restarts: bool = True
    restarts_once_in: int = 1
    """One program in this many restarts a server."""
    restarting_rules: int = 0
    """The most rules of such a program that do; 0: any number."""
    rules: int = 30
    """How many rules make a program, before everything is read back."""

    @classmethod
    def of(cls, context: TargetContext) -> Bounds:
        """The bounds of a target."""
        role, ours = context.role, context.capabilities.is_ours
        restarts_once_in = context.restarts_once_in
        starts_several = role.least_servers > 1 < restarts_once_in
        return cls(
            servers=role.servers if ours else 1,
            moment=context.moment,
            moments_once_in=context.moments_once_in,
            waits_once_in=context.waits_once_in,
            seeks_once_in=10 if context.known else 0,
            restarts=ours,
            restarts_once_in=1 if starts_several else restarts_once_in,
            restarting_rules=_AMONG_STARTS if starts_several else min(restarts_once_in - 1, 1),
            rules=context.rules,
        )

    def __str__(self) -> str:
        several = f"*{self.restarting_rules}" if self.restarting_rules > 1 else ""
        return (
            f"rules={self.rules} servers={self.servers} moment={self.moment} "
            f"moments=1/{self.moments_once_in} "
            f"waits=1/{self.waits_once_in} restarts={int(self.restarts)}/{self.restarts_once_in}{several} "
            f"quirks={f'1/{self.seeks_once_in}' if self.seeks_once_in else 'all'}"
        )


class Allowance:
    """What one program may do. Three numbers decide it: the first below 4, the others up to `MOST`."""

    def __init__(self, bounds: Bounds, several: int, patience: int, seeking: int) -> None:
        self.servers = bounds.servers if several == 3 else 1
        self.seeks = not bounds.seeks_once_in or _is_one_in(bounds.seeks_once_in, seeking)
        self.is_patient = _is_one_in(bounds.waits_once_in, patience)
        self.is_restless = _is_one_in(bounds.restarts_once_in, patience // bounds.waits_once_in)
        moments = seeking // max(1, bounds.seeks_once_in)
        self.has_moments = self.is_patient or _is_one_in(bounds.moments_once_in, moments)
        self._bounds = bounds
        self._waited = 0
        self._restarted = 0

    def within(self, steps: Sequence[AnyStep]) -> Iterator[AnyStep]:
        """The steps of a rule, with no more time and restarts than allowed."""
        if any(isinstance(step, Restart) for step in steps) and not self._may_restart():
            return
        for step in steps:
            allowed = self._in_time(step)
            if allowed is not None:
                yield allowed

    def _in_time(self, step: AnyStep) -> AnyStep | None:
        moment = self._bounds.moment if self.has_moments else 0
        if isinstance(step, Time) and step.seconds > moment and not self._may_wait():
            return None
        if isinstance(step, Request) and step.stall > moment:
            return msgspec.structs.replace(step, stall=moment)
        return step

    def _may_wait(self) -> bool:
        self._waited += 1
        return self._bounds.waits_once_in == 1 or (self.is_patient and self._waited <= _LONG)

    def _may_restart(self) -> bool:
        self._restarted += 1
        if not self._bounds.restarts:
            return False
        most = self._bounds.restarting_rules
        return self.is_restless and (not most or self._restarted <= most)


class Generator:
    """Makes the programs of a profile on a target with these bounds."""

    def __init__(self, rules: Sequence[Rule], bounds: Bounds, line: Profile) -> None:
        self.bounds = bounds
        self.rules = [
            rule
            for rule in rules
            if (rule.needs is None or line.has(rule.needs)) and (bounds.restarts or not rule.ours)
        ]

    def allowance(self, source: Chance) -> Allowance:
        """What the program of a source may do; to be drawn before its steps."""
        return Allowance(
            self.bounds, source.randrange(4), source.randrange(MOST + 1), source.randrange(MOST + 1)
        )

    def steps(self, source: Chance, allowance: Allowance, expected: Any) -> Iterator[AnyStep]:
        """The steps of a program. The caller carries each of them out on ``expected`` before the next."""
        left_out = source.random() * _LEFT_OUT
        pick = Pick(lambda most: source.randrange(most + 1))
        rules = [rule for rule in self.rules if source.random() >= left_out] or [pick.one(self.rules)]
        for _ in range(self.bounds.rules):
            rule = pick.one(rules)
            steps = rule.make(pick, expected)
            if rule.once_in == 1 or pick.once_in(rule.once_in):
                yield from allowance.within(steps)


def _is_one_in(programs: int, number: int) -> bool:
    """Whether a drawn number makes its program one of this many. 0 does not: Hypothesis often draws it."""
    return number % programs == programs - 1
