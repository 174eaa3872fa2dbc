"""Programs on two targets, as often as triage asks: the running servers, and what a comparison comes to.

Invariants:
- Both servers have carried out the same programs: they are replaced together or not at all. A KV namespace
  outlives its last pair, so a new server beside a used one answers differently.
- Servers that take time to start are replaced at the same time.
"""

from __future__ import annotations

from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor

import msgspec

from harness.catalogue import Quirk
from harness.engine.instances import InstancePool
from harness.engine.kind import SeededNames
from harness.engine.nameserver.program_state import ProgramState
from harness.engine.nameserver.tidying import tidied
from harness.engine.oracle import died
from harness.engine.peer.causes import KnownCauses, Seen
from harness.engine.peer.comparison import Comparison, Stalled
from harness.engine.peer.executor import PeerExecutor
from harness.engine.peer.explaining import Divergence
from harness.engine.peer.normal import Compare
from harness.findings.experiment import Attempt, Ended
from harness.program.nameserver import steps as ns
from harness.program.step import Time
from harness.program.steps import AnyStep
from harness.session import CaseTimeout, Instance, TargetDied, TooLate
from harness.spec import Answered, Violation
from harness.spec.nameserver.expected import ExpectedState
from harness.spec.nameserver.predicates import PREDICATES
from harness.spec.quirks import QuirksByStep
from harness.targets import Target
from harness.trace import BETWEEN
from harness.wire import WireError
from harness.wire.bodies import ClusterInfo as ClusterBody

_DEADLINE = 600.0
"""Real seconds for a program, what it waits for by itself not counted."""
_FACTS = 6
"""How many facts of a difference are named."""
_STATEMENT = "both-targets-answer-alike"


class Compared(msgspec.Struct, frozen=True, kw_only=True):
    """One program on both targets."""

    attempt: Attempt
    steps: int = 0
    divergences: tuple[Divergence, ...] = ()
    asked: dict[str, int] = {}
    """How many steps of each kind were carried out."""
    triggered: dict[str, int] = {}
    """Steps that were about a quirk, by its id."""
    spoilt: bool = False
    """A quirk has left the servers in a state that nothing can be compared in."""
    death: str = ""
    """Which server has died, and its last words."""

    @property
    def stalled(self) -> bool:
        """Whether a clock ran ahead of the program, so that nothing counts."""
        return self.attempt.ended == "late"

    @property
    def unexplained(self) -> Divergence | None:
        """The divergence that ended it."""
        return next((one for one in self.divergences if not one.is_explained), None)


class PeerExperiment:
    """Plays programs on two targets and compares the answers. ``words`` decide the names."""

    kind = "diff"

    def __init__(
        self,
        targets: tuple[Target, Target],
        profile: str,
        quirks: Sequence[Quirk],
        words: str,
        *,
        compare: Compare = "meaning",
        causes: KnownCauses | None = None,
    ) -> None:
        self.profile = profile
        self.causes = KnownCauses() if causes is None else causes
        """What it takes for known."""
        self._compare = compare
        self.seeded = SeededNames(self.kind, words)
        self.divergences: dict[Violation, Divergence] = {}
        """What the violations of attempts are about."""
        self._targets = targets
        self._quirks: QuirksByStep[ExpectedState] = QuirksByStep(quirks, PREDICATES)
        lasting = not all(target.capabilities.is_virtual for target in targets)
        self._servers = tuple(InstancePool(target, lasting=lasting) for target in targets)
        self._instances: tuple[Instance, ...] = ()

    @property
    def target(self) -> str:
        """The URIs of both targets."""
        return BETWEEN.join(target.uri for target in self._targets)

    @property
    def can_restart(self) -> bool:
        """Whether both targets are ours to start again."""
        return all(target.capabilities.is_ours for target in self._targets)

    @property
    def is_virtual(self) -> bool:
        """Whether the time of both is virtual."""
        return all(target.capabilities.is_virtual for target in self._targets)

    @property
    def in_real_time(self) -> bool:
        """Whether a second of one of the two is a second."""
        return any(target.capabilities.clock == "real" for target in self._targets)

    def attempt(self, program: Sequence[AnyStep], *, fresh: bool) -> Attempt:
        return self.compare(program, fresh=fresh).attempt

    def compare(self, program: Sequence[AnyStep], *, fresh: bool = False) -> Compared:
        """Plays a program on both. A server that dies is a violation. Raises ``TargetError``."""
        executor = self._executor(fresh)
        a, b = self._instances
        comparison = Comparison(
            executor, (a.clock, b.clock), self._quirks, self.profile, self.causes, self._compare
        )
        ended: Ended = "whole"
        death = ""
        try:
            comparison.play(program)
        except TargetDied as problem:
            death = str(problem)
        except (Stalled, TooLate, CaseTimeout):
            ended = "late"
        except KeyboardInterrupt:
            executor.close()
            raise
        found = comparison.unexplained
        is_left_tidy = (
            ended == "whole"
            and not death
            and found is None
            and not comparison.leaves_settings
            and not comparison.is_apart
        )
        death = self._leave(executor, () if is_left_tidy or death else program) or death
        violations = [] if found is None or ended == "late" else self._violations(found)
        if found is not None:
            self.divergences |= dict.fromkeys(violations, found)
        if death:
            death = f"{self._dead()}{death}"
            ended, violations = "died", violations or [died(comparison.begun - 1, death)]
            self.restart()
        return Compared(
            attempt=Attempt(
                violations=tuple(violations),
                trace=executor.trace,
                ended=ended,
                stepped=comparison.begun if death else comparison.steps,
                waited=executor.waited,
                observed=comparison.observed if violations else (),
            ),
            steps=comparison.begun if death else comparison.steps,
            divergences=tuple(comparison.divergences),
            asked=comparison.asked,
            triggered=comparison.triggered,
            spoilt=comparison.spoilt is not None,
            death=death,
        )

    def _violations(self, found: Divergence) -> list[Violation]:
        """One for each kind of difference that is news."""
        return [
            Violation(
                invariant="after" if found.settling else "answer",
                statement=_STATEMENT,
                expected=f"A: {_said([(one.field, one.a) for one in found.differences])}",
                actual=f"B: {_said([(one.field, one.b) for one in found.differences])}",
                number=found.index,
                anomaly=self.anomaly(seen),
            )
            for seen in found.news
        ]

    def anomaly(self, seen: Seen) -> str:
        """What findings are told apart by: another one of a kind that is known is another finding."""
        forms = self.causes.forms(seen)
        return f"{seen}, form {forms + 1}" if forms else str(seen)

    def restart(self) -> None:
        """The next program has new servers, where both are ours to start."""
        if self.can_restart:
            self.close()

    def foreign(self) -> int:
        """How many broker names stand on either server that no running program made."""
        executor = self._executor(False)
        found = [0]
        for server in range(executor.servers):
            for seen in executor.play(ns.ClusterInfo(server=server)):
                if isinstance(seen.outcome, Answered) and seen.outcome.command.code == 0:
                    try:
                        found.append(len(ClusterBody.decode(seen.outcome.command.body).broker_addr_table))
                    except WireError:
                        continue
        executor.close()
        return max(found)

    def output(self) -> list[str]:
        """The end of what each server wrote."""
        return [instance.output() for instance in self._instances]

    def close(self) -> None:
        """Stops what it has started. May be called more than once."""
        for servers in self._servers:
            servers.close()

    def _executor(self, fresh: bool) -> PeerExecutor:
        fresh = fresh and self.can_restart

        def taken(servers: InstancePool) -> Instance:
            return servers.take(fresh=fresh)[0][0]

        if any(target.capabilities.is_virtual for target in self._targets):
            self._instances = tuple(map(taken, self._servers))
        else:
            with ThreadPoolExecutor() as starting:
                self._instances = tuple(starting.map(taken, self._servers))
        return PeerExecutor(
            self._instances,
            self.profile,
            self.seeded.next(),
            case=self.kind,
            target=self.target,
            deadline=_DEADLINE,
        )

    def _leave(self, executor: PeerExecutor, program: Sequence[AnyStep]) -> str:
        """Takes back what a program has left: none of its steps, where it has taken them back itself. Returns
        the last words of a server that dies of it; else nothing.
        """
        is_tidy, death = True, ""
        try:
            if program:
                is_tidy = tidied(executor, _both(program, self.profile))
        except TargetDied as problem:
            death = str(problem)
        except (TooLate, CaseTimeout):
            is_tidy = False
        finally:
            executor.close()
        death = death or executor.death or self._death_of_the_ends()
        if not is_tidy and not death:
            self.restart()
        return death

    def _death_of_the_ends(self) -> str:
        """The last words of a server that dies of the ends of connections, which it sees to a bit later."""
        try:
            for instance in self._instances:
                if instance.clock.kind == "virtual" and instance.alive():
                    instance.clock.pause(0.001)
        except TargetDied as problem:
            return str(problem)
        return ""

    def _dead(self) -> str:
        """Which of the two is dead, to be put before its last words."""
        dead = [letter for letter, one in zip("AB", self._instances, strict=True) if not one.alive()]
        return f"{' and '.join(dead)}: " if dead else ""


def _both(program: Sequence[AnyStep], profile: str) -> ProgramState:
    """What a program should have brought about on both servers."""
    expected = ProgramState(profile, 2)
    for step in program:
        for server in (0,) if isinstance(step, Time) else (0, 1):
            expected.apply(step if isinstance(step, Time) else msgspec.structs.replace(step, server=server))
    return expected


def _said(fields: Sequence[tuple[str, tuple[tuple[str, ...], ...]]]) -> str:
    texts = []
    for field, facts in fields:
        said = ["/".join(fact) for fact in facts[:_FACTS]]
        more = f" and {len(facts) - _FACTS} more" if len(facts) > _FACTS else ""
        texts.append(f"{field} {', '.join(said) or 'nothing of its own'}{more}")
    return "; ".join(texts)
