"""The histories of NameServers (`harness.engine.histories`)."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Final

import msgspec

from harness.engine.context import TargetContext
from harness.engine.histories import COSTLY, Histories, bursts
from harness.engine.nameserver.history_programs import Shape, program_of
from harness.program.chance import Chance
from harness.program.names import Names
from harness.program.nameserver.steps import Kv, Register, Unregister
from harness.program.step import Close
from harness.program.steps import AnyStep
from harness.spec import Observation
from harness.spec.history.judgement import Judgement
from harness.spec.nameserver.history.judge import judge
from harness.spec.nameserver.judged import judged_in_a_history
from harness.targets import Capabilities

_SEVERAL = 0.04
"""The share of programs for two servers, where the second costs something."""
_FAST = 10
"""From this warp on, leases may run out."""

_RIVALS = "rivals register at once"
_BESIDE = "a broker leaves beside a registration of its name"
_WRITERS = "a pair is written twice at once"
_BACK = "a broker closes and is back in the next burst"
_REQUIRED = (_RIVALS, _BESIDE, _WRITERS, _BACK)


def _share_of_leases(target: Capabilities) -> float:
    """In how many programs leases run out: where time is real, in half as many as wait."""
    if target.is_virtual:
        return 0.1
    return COSTLY / 2 if target.warp >= _FAST else 0.0


class _Programs:
    def __init__(self, context: TargetContext, term: float) -> None:
        self._capabilities = context.capabilities
        self._shape = Shape(
            profile=context.profile,
            term=term,
            waits=1.0 if context.capabilities.is_virtual else COSTLY,
            leases=_share_of_leases(context.capabilities),
        )

    @property
    def depends_on(self) -> str:
        shape = self._shape
        servers = 1 + self._capabilities.is_ours
        return f"term={shape.term:g} waits={shape.waits:g} leases={shape.leases:g} servers={servers}"

    def program(self, source: Chance) -> tuple[AnyStep, ...]:
        capabilities = self._capabilities
        several = capabilities.is_ours and source.random() < (0.125 if capabilities.is_virtual else _SEVERAL)
        return program_of(source, msgspec.structs.replace(self._shape, servers=2 if several else 1))


class _Histories:
    def programs(self, context: TargetContext, term: float) -> _Programs:
        return _Programs(context, term)

    def judge(
        self, seen: Sequence[Observation], profile: str, names: Names, *, jitter: float, term: float
    ) -> Judgement:
        return judge(seen, profile, names, jitter=jitter, term=term)

    def judged(self, seen: Iterable[Observation]) -> dict[int, frozenset[str]]:
        return judged_in_a_history(seen)

    def goals(self, program: Sequence[AnyStep]) -> set[str]:
        return _goals(program)

    def required(self, context: TargetContext) -> Sequence[str]:
        return _REQUIRED


NAMESERVER_HISTORIES: Final[Histories] = _Histories()


def _goals(program: Sequence[AnyStep]) -> set[str]:
    found: set[str] = set()
    closed: set[str] = set()
    for burst in bursts(program):
        registered = [step for step in burst if isinstance(step, Register)]
        if any(
            one.address != other.address
            and (one.server, one.broker, one.id) == (other.server, other.broker, other.id)
            for one in registered
            for other in registered
        ):
            found.add(_RIVALS)
        leaving = [step for step in burst if isinstance(step, Unregister)]
        if any((a.server, a.broker) == (b.server, b.broker) for a in registered for b in leaving):
            found.add(_BESIDE)
        written = [
            (step.server, step.topic) for step in burst if isinstance(step, Kv) and step.code in (100, 102)
        ]
        if len(set(written)) < len(written):
            found.add(_WRITERS)
        if any(step.conn in closed for step in registered):
            found.add(_BACK)
        closed = {step.conn for step in burst if isinstance(step, Close)}
    return found
