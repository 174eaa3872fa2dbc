"""One program being played and judged, step by step: what machines and experiments have in common.

- It ends at the first step whose outcome shows a violation; what is asked of it afterwards only goes into the
  state: what is asked next must not depend on what was answered.
- Several steps may be judged together (`TargetContext.judged_together`): then some have been played behind
  the one that shows a violation. No verdict is another for it: nothing is judged behind the first violation,
  and what a quirk may explain or time may end is not begun before all is judged.
- What a target does, an end of it included, is reported as violations and as `ended`, never as an exception.
- What is known that the target does otherwise ends no program (`harness.findings.deviations`).
- Steps that a named quirk of the target is about are left out, unless the run *seeks* them: then what
  is wrong afterwards is the quirk's, and is counted as such.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from harness.catalogue import Quirk
from harness.engine.context import TargetContext
from harness.engine.coverage import Coverage
from harness.engine.nameserver.quirk_checks import proven
from harness.engine.nameserver.quirks import Quirks, at_most, end_in
from harness.engine.oracle import died
from harness.engine.role import KnownQuirks
from harness.findings.experiment import Attempt, Ended
from harness.program.names import Names
from harness.program.step import Request, Restart, Time
from harness.program.steps import AnyStep
from harness.session import TargetDied, TooLate
from harness.session.errors import CaseTimeout
from harness.spec import Observation, Violation
from harness.spec.observation import MISTYPED


class ProgramRun:
    """A program on a context.

    ``seeks``: steps that quirks are about are carried out. ``goes_round``: steps that are known to bring
    deviations about are left out. ``fresh`` and ``sound`` are those of
    `InstancePool.take`. Raises ``TargetError`` where no server starts.
    """

    def __init__(
        self,
        context: TargetContext,
        names: Names,
        *,
        servers: int = 1,
        fresh: bool = False,
        sound: bool = True,
        quirks: KnownQuirks | None = None,
        seeks: bool = True,
        goes_round: bool = False,
        tally: Coverage | None = None,
        case: str = "stateful",
    ) -> None:
        self.state = context.role.state(context.profile, servers)
        self.steps: list[AnyStep] = []
        self.violations: list[Violation] = []
        self.quirk: str | None = None
        """The quirk that explains the violation, where one does."""
        self.ended: Ended = "whole"
        self._observed: list[Observation] = []
        self._unjudged: list[tuple[list[Observation], int]] = []
        """By step: what came of it, and how many frames had come uncalled by then."""
        self._context = context
        self._quirks = Quirks(()) if quirks is None else quirks
        self._seeks = seeks
        self._goes_round = goes_round
        self._triggered: list[Quirk] = []
        self._passing: dict[str, None] = {}
        """Quirks that may have come to pass, or not."""
        self._tally = context.role.tally() if tally is None else tally
        self._executor, jitter, is_fresh = context.executor(
            servers, names, fresh=fresh, sound=sound, case=case
        )
        self._judge = context.role.judge(
            context.profile, names, jitter, fresh=is_fresh, deviations=context.deviations
        )
        self._left = False

    @property
    def is_over(self) -> bool:
        """Whether nothing more will be played."""
        return bool(self.violations) or self.ended != "whole"

    def do(self, step: AnyStep) -> None:
        """Carries one step out; what came of it is judged by and by."""
        if self._is_avoided(step):
            return
        if isinstance(step, Time | Restart):
            self._judge_all()  # nothing is waited for behind a violation
        if self.is_over:
            self.state.apply(step)
            return
        self.steps.append(step)
        self._tally.begins(self.state, step)
        before = self._tally.state_of(self.state, step)
        self.state.apply(step)
        self._tally.went(step, before, self._tally.state_of(self.state, step))
        try:
            self._judge.begins(step, self._executor.now(getattr(step, "server", 0)))
            self._to_be_judged(self._executor.play(step))
        except TargetDied as problem:
            self._dies(str(problem))
        except (TooLate, CaseTimeout):
            self._ends("late")
        except KeyboardInterrupt:
            self._abandon()
            raise

    def look_at_everything(self) -> None:
        """The end of a program: all that can be seen of what it did."""
        for step in self._context.role.look(self.state, moment=self._context.settling):
            self.do(step)

    def leave(self) -> None:
        """Ends it: what is held back is sent, and the servers are made ready for others."""
        if self._left:
            return
        self._left = True
        self._judge_all()
        if not self.is_over:
            try:
                self._to_be_judged(self._executor.finish())
            except TargetDied as problem:
                self._dies(str(problem))
            except (TooLate, CaseTimeout):
                self._ends("late")
            except KeyboardInterrupt:
                self._abandon()
                raise
            self._judge_all()
        self._look_for_death()
        well = self._is_server_well
        self._look_for_proof()
        if death := self._context.leave(self._executor, self._played, ended=self.ended, well=well):
            self._dies(death)

    def attempt(self) -> Attempt:
        """What it came to."""
        return Attempt(
            violations=tuple(self.violations),
            trace=self._executor.trace,
            ended=self.ended,
            stepped=len(self.steps),
            waited=self._executor.waited,
            observed=tuple(self._observed),
            judged=self._judge.judged,
        )

    @property
    def _played(self) -> Any:
        """The state of what was played: `state` also holds steps behind a violation."""
        if not self.is_over:
            return self.state
        state = self._context.role.state(self.state.profile, self.state.servers)
        for step in self.steps:
            state.apply(step)
        return state

    @property
    def _is_server_well(self) -> bool:
        """Whether others may use the servers: what a quirk leaves behind has names that are not used again,
        but for one that poisons the whole server.
        """
        if any(quirk.taints == "server" for quirk in self._triggered):
            return False
        return not self.violations or self.quirk is not None

    def _look_for_death(self) -> None:
        """A server that has ended a connection may have ended altogether: then that is what was seen."""
        if self.ended == "whole" and self.violations and (last_words := self._context.servers.death()):
            self.violations.clear()
            self._dies(last_words)

    def _dies(self, last_words: str) -> None:
        """A server has died of the latest step, or of what came behind it."""
        self._judge_all()
        self.ended = "died"
        if not self.violations:
            self.violations.append(died(len(self.steps) - 1, last_words))

    def _ends(self, how: Ended) -> None:
        """It has ended before its last step, unless a violation that was not known yet had ended it."""
        self._judge_all()
        if not self.violations:
            self.ended = how

    def _abandon(self) -> None:
        """Gives the servers back in the state that an interrupt left them in."""
        self._left = True
        self._context.leave(self._executor, self._played, ended="late", well=False)

    def _to_be_judged(self, seen: list[Observation]) -> None:
        self._unjudged.append((seen, len(self._executor.unsolicited)))
        if len(self._unjudged) >= self._context.judged_together:
            self._judge_all()

    def _judge_all(self) -> None:
        """Judges what came of the steps, up to the first violation."""
        unjudged, self._unjudged = self._unjudged, []
        for seen, unsolicited in unjudged:
            self._observed += seen
            if not self.violations:
                self._judged(seen, unsolicited)

    def _judged(self, seen: Sequence[Observation], unsolicited: int) -> None:
        found = self._judge.observe(seen, self._executor.unsolicited[:unsolicited])
        self.violations += [one for one in found if not self._is_tolerated(one)]
        if self.violations and self._triggered:
            self.quirk = self._explanation()

    def _is_tolerated(self, violation: Violation) -> bool:
        """Whether a violation is known of the server, and the program goes on behind it."""
        is_tolerable = self._context.role.tolerates or violation.invariant == MISTYPED
        if not (is_tolerable and self._context.deviations):
            return False
        return self._context.deviations.recognises(self.steps, violation)

    def _look_for_proof(self) -> None:
        """Whether a quirk explains the violation that comes to pass on some runs only: it breaks what it
        breaks, and what follows from that.
        """
        if not self.violations or self.quirk is not None or self.ended != "whole":
            return
        try:
            self.quirk = proven(self._executor, self.state.servers, self._passing)
        except (TooLate, CaseTimeout):
            self.violations.clear()
            self.ended = "late"

    def _explanation(self) -> str:
        """The quirk that is about the statement of the violation; else the last that a step was about."""
        statement = self.violations[0].statement
        for quirk in self._triggered:
            if statement in quirk.statements:
                return quirk.id
        return self._triggered[-1].id

    def _is_avoided(self, step: AnyStep) -> bool:
        if self._goes_round and self._context.deviations.leaves_out(step):
            return True
        found = self._quirks.about(at_most(step, self._context.capabilities), self.state)
        about = [quirk for quirk in found if not quirk.is_intermittent]
        self._passing |= {quirk.id: None for quirk in found if quirk.is_intermittent}
        if about:
            self._judge_all()  # a quirk explains nothing that came before its step
        if not self._seeks and (about or (self._quirks and self._overtakes(step))):
            return True
        self._triggered += about
        return False

    def _overtakes(self, step: AnyStep) -> bool:
        """Whether a connection ends right behind a request without answer, which may be carried out after
        that: which quirks the steps to come are about is not known then.
        """
        end = end_in(step)
        if end is None:
            return False
        for earlier in reversed(self.steps):
            if isinstance(earlier, Request) and (earlier.server, earlier.conn) == (end.server, end.conn):
                return earlier.oneway
        return False
