"""What is known of a Broker, and what each observation says about it.

- Observations come in batches: what was under way together. Of a batch what changes something comes first,
  since a look may have seen it; what is surely there when something begins was over before.
- A change of the role comes before all else of its batch: what was under way with it may have met either.
- At one moment of a clock many steps may happen, all of them where time is virtual: there their numbers say
  which was first. What was under way together ended when the last of it had begun.
- What no rule speaks of is not judged.
"""

from __future__ import annotations

from collections.abc import Sequence

from harness.catalogue import profile_named
from harness.program.broker import steps as bk
from harness.program.names import Names
from harness.program.step import Close, Reconnect, Request, Restart
from harness.program.steps import AnyStep
from harness.spec.broker.groups import Groups
from harness.spec.broker.invariant_error import InvariantError
from harness.spec.broker.invariants import BROKER_INVARIANTS
from harness.spec.broker.ledger import Ledger
from harness.spec.broker.pulls import Pulls
from harness.spec.observation import Answered, Ended, Garbled, Observation, Unanswered, Violation
from harness.wire import Command

_AT_ONCE = 1e-9
"""Seconds between two steps at one moment."""
_LOOKS = (bk.Pull, bk.Bound, bk.View, bk.Find, bk.Members, bk.Committed)


class BrokerTracker:
    """Of one Broker. ``jitter`` is that of its clock in protocol seconds, 0 where time is virtual."""

    def __init__(self, profile: str, names: Names, *, jitter: float) -> None:
        self.judged: dict[int, frozenset[str]] = {}
        """By step: the statements that its answer was held against and has not broken."""
        self._profile = profile
        self._placed: set[str] = set()
        """Messages of which it was known before the batch where they are."""
        self._ledger = Ledger(names, line=profile_named(profile), lag=jitter, slack=jitter)
        self._pulls = Pulls(self._ledger)
        self._groups = Groups(self._ledger)

    def observe(self, batch: Sequence[Observation]) -> list[Violation]:
        """What is wrong about observations that were made together."""
        last = max((seen.number for seen in batch), default=0)
        for seen in batch:
            if isinstance(seen.step, bk.Send):
                self._ledger.coming(seen.step)
        found = []
        for seen in sorted(batch, key=lambda one: _rank(one.step)):
            try:
                self._take(seen, seen.invoked + seen.number * _AT_ONCE, seen.returned + last * _AT_ONCE)
            except InvariantError as wrong:
                found.append(self._violation(seen, wrong))
        for seen in batch:
            if isinstance(seen.step, bk.Send) and isinstance(seen.outcome, Answered):
                self._placed.update(seen.step.messages if seen.outcome.command.code == 0 else ())
        return found

    def _violation(self, seen: Observation, wrong: InvariantError) -> Violation:
        return Violation(
            invariant=wrong.invariant,
            statement=BROKER_INVARIANTS[wrong.invariant].statement_in(self._profile),
            expected=wrong.expected,
            actual=wrong.actual,
            number=seen.number,
        )

    def _take(self, seen: Observation, begin: float, end: float) -> None:
        step = seen.step
        match step:
            case Restart():
                self._ledger.restarted(step.how, begin, end)
                self._groups.restarted(begin, end)
            case Close():
                self._closed(step.conn, begin)
            case Reconnect():
                self._closed(step.conn, begin)
                self._closed(step.old, begin)
            case bk.End() | bk.Back() | bk.View() if step.message not in self._placed:
                pass  # it named a place where there is none
            case Request():
                self._asked(seen, step, begin, end)

    def _closed(self, conn: str, begin: float) -> None:
        self._ledger.left(begin)
        self._groups.closed(conn, begin)

    def _asked(self, seen: Observation, step: Request, begin: float, end: float) -> None:
        answer = seen.outcome.command if isinstance(seen.outcome, Answered) else None
        if self._ledger.ha_role.refuses(step, begin, end, answer):
            self._ledger.turned_away(step)
            return
        match seen.outcome:
            case Answered(command=answer):
                self._answered(step, begin, end, answer)
            case Garbled(problem=problem):
                raise InvariantError(
                    "request-is-answered", "an answer", f"bytes that are no command: {problem}"
                )
            case Ended() if not step.patience:
                self._changed(step, begin, end, None)
                raise InvariantError("request-is-answered", "an answer", "the Broker closes the connection")
            case Unanswered(surely=True) if not self._ledger.lag and not step.patience:
                self._changed(step, begin, end, None)
                raise InvariantError(
                    "request-is-answered", "an answer", "none, and something later was answered"
                )
            case _:
                self._changed(step, begin, end, None)

    def _changed(self, step: Request, begin: float, end: float, answer: Command | None) -> None:
        """What changes something; without answer it may have."""
        match step:
            case bk.MakeTopic():
                self._ledger.made(step, end, answer)
            case bk.DropTopic():
                self._ledger.dropped(step, answer)
                self._groups.forgot(step.topic)
            case bk.Switch():
                self._ledger.switched(step, begin, end, answer)
            case bk.Send():
                self._ledger.sent(step, begin, end, answer)
            case bk.End():
                self._ledger.ended(step, begin, end, answer)
            case bk.Back():
                self._ledger.sent_back(step, begin, end, answer)
            case bk.Commit():
                self._groups.committed(step, begin, end, answer)
            case bk.Beat():
                self._groups.beat(step, begin, end, answer)
            case bk.Leave():
                self._groups.left(step, begin, end, answer)
            case bk.Lock():
                self._groups.locked(step, begin, end, answer)
            case bk.Pull():
                self._groups.pulled(step, begin, end, answer)

    def _answered(self, step: Request, begin: float, end: float, answer: Command) -> None:
        self._changed(step, begin, end, answer)
        match step:
            case bk.Pull():
                self._pulls.pulled(step, begin, end, answer, self._groups.wants(step, begin, end))
            case bk.Bound():
                self._pulls.bound(step, begin, end, answer)
            case bk.View():
                self._pulls.viewed(step, begin, answer)
            case bk.Find():
                self._pulls.found(step, begin, end, answer)
            case bk.Members():
                self._groups.listed(step, begin, end, answer)
            case bk.Clean() if answer.code:
                raise InvariantError("cleaning-succeeds", "code 0", f"code {answer.code}")
            case bk.Committed():
                self._groups.asked(step, begin, end, answer)


def _rank(step: AnyStep) -> int:
    """What is taken first of a batch."""
    return 0 if isinstance(step, bk.Switch) else 2 if isinstance(step, _LOOKS) else 1
