"""An experiment on the built-in reference: a mutant is judged by the sound reference beside it."""

from __future__ import annotations

import itertools
from collections.abc import Sequence

from harness.engine.executor import Executor
from harness.findings.experiment import Attempt
from harness.program.chance import chance
from harness.program.names import Names
from harness.program.nameserver.steps import Register, Route
from harness.program.step import Close, Request, Time
from harness.program.steps import AnyStep
from harness.spec import Answered, Observation, Violation
from harness.targets import parse
from harness.trace import Trace

LEASES_NEVER_END = "builtin:5.3?mutant=leases-never-end"
PROGRAM: tuple[AnyStep, ...] = (
    Register(conn="k0", topics={"T0": (4, 4, 6, 0), "T1": (8, 8, 6, 0)}),
    Route(topic="T1"),
    Register(conn="k1", broker="b1", address="a10", counter=3),
    Time(seconds=90),
    Time(seconds=61, idle=("k1",)),
    Route(),
    Close(conn="k1"),
)
"""Shows that a lease never ends: the sixth step is answered with a route."""


class Twins:
    """A built-in target; its first answer that the sound reference does not give is a violation."""

    kind = "twins"

    def __init__(self, target: str, profile: str = "5.3") -> None:
        self.target = target
        self.profile: str = profile
        self._numbers = itertools.count()
        self.played: list[tuple[Sequence[AnyStep], bool]] = []

    def attempt(self, program: Sequence[AnyStep], *, fresh: bool) -> Attempt:
        self.played.append((program, fresh))
        seed = next(self._numbers)
        seen, trace = self._played(self.target, program, seed)
        sound, _ = self._played(f"builtin:{self.profile}", program, seed)
        wrong = [
            Violation(
                invariant="what-the-sound-one-says",
                statement="ns.lease.expired-broker-leaves-nothing",
                expected=_words(should),
                actual=_words(one),
                number=one.number,
            )
            for one in seen
            if (should := _same_request(one, sound)) is not None and _words(one) != _words(should)
        ]
        return Attempt(violations=tuple(wrong[:1]), trace=trace, stepped=len(program), observed=tuple(seen))

    def _played(self, uri: str, program: Sequence[AnyStep], seed: int) -> tuple[list[Observation], Trace]:
        instance = parse(uri).start()
        player = Executor([instance], self.profile, Names(chance("twins", seed)), target=uri, suite="test")
        seen = [one for step in program for one in player.play(step)]
        seen += player.finish()
        trace = player.trace
        player.close()
        instance.stop()
        return seen, trace


def _same_request(one: Observation, sound: Sequence[Observation]) -> Observation | None:
    requests = (other for other in sound if other.number == one.number and other.step == one.step)
    return next(requests, None) if isinstance(one.step, Request) else None


def _words(seen: Observation) -> str:
    if not isinstance(seen.outcome, Answered):
        return type(seen.outcome).__name__
    command = seen.outcome.command
    return f"code {int(command.code)}, remark {command.remark}, body {command.body.decode()}"
