"""Plays one chunk of a campaign where it is: on an executor, or in the process of the caller.

Invariants:
- It knows no Spark. It takes an `Order` and gives back a `Receipt`; the runs go into the store from here.
- Every run has an outcome: it may take too long, its target may die or not start, the harness may fail. None
  of these ends the chunk, except a target that no longer starts.
- A failing run is confirmed before it is written; the first few of each signature in a chunk, chosen by seed,
  are minimised and explained by cases. A case runs once on a target.
- Servers that a chunk started serve the next chunks that need the same, and stop when one needs another. A
  started server ends with its process (`harness.targets.watchdog`).
"""

from __future__ import annotations

import contextlib
import os
import signal
import threading
from collections import Counter
from collections.abc import Callable, Iterator
from datetime import UTC, datetime
from types import FrameType

import msgspec

from harness.engine.kind import Kind, Tried
from harness.engine.kinds import KINDS, Setting
from harness.findings.experiment import Attempt, Finding, Flaky, Signature, signature_of
from harness.findings.failing_cases import FailingCases
from harness.findings.store import FindingStore
from harness.findings.triage import Budget, triage
from harness.mining.records import Judged, Origin, Row, row_of
from harness.mining.store import Settings, Span, Store, Tally
from harness.session import RunningClock, TargetDied
from harness.targets import Target, TargetError, parse
from harness.trace import Trace

_STOP_EVERY = 0.5
"""Real seconds between two looks at whether to stop."""
_REPORT_EVERY = 5.0
"""Real seconds between two reports of what the chunk has come to."""
_PATIENCE = 4
"""Deadlines after which a run that checks no clock is aborted; and its outcome."""
_UNABLE = 5
"""Runs in a row whose target did not start, after which the chunk ends."""
_SHRINKING = 60.0
"""Real seconds for making a program small where time is not virtual."""


class Order(msgspec.Struct, frozen=True, kw_only=True):
    """A chunk that is to be played."""

    root: str
    campaign: str
    target: str
    profile: str
    span: Span
    settings: Settings
    nameserver: str = ""
    """Where a running Broker finds the NameServer that the harness is (`harness.targets.parse`)."""

    def parsed(self) -> Target:
        """Its target. Raises ``TargetError``."""
        return parse(self.target, self.settings.role, self.nameserver)


class Receipt(msgspec.Struct, frozen=True, kw_only=True):
    """What became of an order."""

    order: Order
    tally: Tally = Tally()
    trouble: str = ""
    """Why it was ended early, if the user did not ask for it."""


class _Overran(BaseException):
    """A run has looked at no clock for too long. No `Exception`: it passes whatever catches those."""


_open: dict[str, Kind] = {}
"""What runs in this process: one at most, by what it was started for."""
_failing_cases: dict[str, FailingCases] = {}
"""What cases have shown of the target of this process: one at most, by target and profile."""


def carry_out(order: Order, *, now: Callable[[], float] | None = None) -> Receipt:
    """Plays a chunk and writes it. Raises ``MiningError`` where the store cannot be written, and
    ``TargetError`` for a target that is none.
    """
    clock = RunningClock().waiting if now is None else now
    store = Store(order.root)
    chunk = _Chunk(order, _kind(order), clock)
    looked, reported = float("-inf"), clock()
    for seed in range(order.span.first, order.span.last + 1):
        if clock() - looked >= _STOP_EVERY:
            looked = clock()
            if store.is_to_stop(order.campaign):
                break
        if clock() - reported >= _REPORT_EVERY:
            reported = clock()
            store.report(order.campaign, order.target, order.span, chunk.tally())
        chunk.play(seed)
        if chunk.unable >= _UNABLE:
            store.ask_to_stop(order.campaign)  # nor would it start for anybody else
            break
    tally = chunk.tally()
    if chunk.rows:
        span = msgspec.structs.replace(order.span, last=order.span.first + len(chunk.rows) - 1)
        size = store.write(order.campaign, order.target, span, chunk.rows, chunk.traces)
        tally = chunk.tally(size)
        store.report(order.campaign, order.target, order.span, tally)
    trouble = chunk.rows[-1]["actual"] if chunk.unable >= _UNABLE else ""
    return Receipt(order=order, tally=tally, trouble=trouble)


def generator_of(order: Order) -> str:
    """What makes the programs of an order. Nothing is started for it but a controller. Raises ``Unsupported``
    with the reason where a target has none.
    """
    kind = _made(order)
    try:
        return kind.generator
    finally:
        kind.close()


def close_all() -> None:
    """Stops whatever runs for chunks in this process."""
    for kind in _open.values():
        kind.close()
    _open.clear()


def _cases_of(order: Order, now: Callable[[], float]) -> FailingCases:
    role, quirks = order.settings.role, order.settings.quirks
    key = f"{role} {order.profile} {quirks} {order.target}"
    if key not in _failing_cases:
        _failing_cases.clear()
        _failing_cases[key] = FailingCases(order.parsed(), order.profile, role, now=now, quirks=quirks)
    return _failing_cases[key]


def _kind(order: Order) -> Kind:
    one = order.settings
    key = f"{one.role} {order.span.kind} {order.profile} {one.deadline} {one.quirks} {order.target}"
    if key not in _open:
        close_all()
        _open[key] = _made(order)
    return _open[key]


def _made(order: Order) -> Kind:
    target, role = order.parsed(), order.settings.role
    # In process names are private; elsewhere each attempt needs new ones.
    words = "campaign" if target.capabilities.is_virtual else os.urandom(8).hex()
    return KINDS[role][order.span.kind](
        Setting(
            target=target,
            role=role,
            profile=order.profile,
            quirks=order.settings.quirks,
            words=words,
            deadline=order.settings.deadline,
            suite=order.settings.suite_version,
        )
    )


class _Chunk:
    """Plays runs and keeps their rows. `unable`: the number of latest runs in which no target has started."""

    def __init__(self, order: Order, kind: Kind, clock: Callable[[], float]) -> None:
        self.rows: list[Row] = []
        self.traces: dict[int, Trace] = {}
        self.unable = 0
        self._order = order
        self._kind = kind
        self._clock = clock
        self._is_virtual = order.parsed().capabilities.is_virtual
        self._triaged: Counter[Signature] = Counter()
        self._origin = Origin(
            campaign=order.campaign,
            role=order.settings.role,
            target=order.target,
            source="campaign",
            kind=order.span.kind,
            profile=order.profile,
            suite_version=order.settings.suite_version,
            catalogue_digest=order.settings.catalogue_digest,
            generator=kind.generator,
        )

    def tally(self, size: int = 0) -> Tally:
        """What the runs so far have come to. ``size``: bytes that were written of them."""
        return Tally(
            runs=len(self.rows),
            steps=sum(row["steps"] for row in self.rows),
            size=size,
            outcomes=dict(Counter(row["outcome"] for row in self.rows)),
        )

    def play(self, seed: int) -> None:
        """One run, whatever comes of it."""
        started, began = datetime.now(UTC), self._clock()
        tried, judged = self._judged(seed)
        attempt = None if tried is None else tried.attempt
        row = row_of(
            self._origin,
            judged,
            seed=seed,
            attempt=0,
            program=() if tried is None else tried.program,
            recorded=attempt,
            goals=() if tried is None else tried.goals,
            started=started,
            elapsed_us=round((self._clock() - began) * 1e6),
        )
        self.rows.append(row)
        if attempt is not None and self._is_kept(seed, judged):
            self.traces[seed] = attempt.trace

    def _is_kept(self, seed: int, judged: Judged) -> bool:
        sample = self._order.settings.sample
        return judged.outcome != "pass" or (sample > 0 and seed % sample == 0)

    def _judged(self, seed: int) -> tuple[Tried | None, Judged]:
        """Plays the program of a seed; what was played of it, and what it came to."""
        try:
            with _within(self._order.settings.deadline * _PATIENCE):
                tried = self._kind.run(seed)
            self.unable = 0
            return tried, self._verdict(tried)
        except _Overran:
            return self._broken_off("timeout", "it looked at no clock for longer than the deadline of a run")
        except TargetError as problem:
            self.unable += 1
            return self._broken_off("died", str(problem))
        except TargetDied as problem:
            return self._broken_off("died", str(problem))
        except Exception as problem:
            return self._broken_off("error", f"{type(problem).__name__}: {problem}")

    def _broken_off(self, outcome: str, message: str) -> tuple[Tried | None, Judged]:
        tried = self._kind.broken_off()
        with contextlib.suppress(Exception):
            self._kind.close()
        return tried, msgspec.convert({"outcome": outcome, "message": message}, Judged)

    # --- what it came to ------------------------------------------------------------------------------------

    def _verdict(self, tried: Tried) -> Judged:
        attempt = tried.attempt
        if attempt.ended == "late":
            return Judged(outcome="timeout", message="the deadline passed, or this machine was too slow")
        if not attempt.violations:
            return Judged(outcome="pass")
        violation = attempt.violations[0]
        if tried.quirk is not None:
            return Judged(outcome="quirk", violation=violation, quirk=tried.quirk)
        found, was_shrunk = self._triage(tried, attempt)
        if isinstance(found, Flaky):
            return Judged(outcome="flaky", violation=violation, found=found)
        return Judged(
            outcome="died" if attempt.ended == "died" else "fail",
            violation=violation,
            found=found,
            was_shrunk=was_shrunk,
        )

    def _triage(self, tried: Tried, attempt: Attempt) -> tuple[Finding | Flaky | None, bool]:
        """Confirms a failure; the first few of a signature are confirmed well and made small."""
        signature = signature_of(tried.program, attempt.violations[0])
        self._triaged[signature] += 1
        settings = self._order.settings
        is_to_shrink = self._triaged[signature] <= settings.shrink
        budget = Budget(
            now=self._clock,
            attempts=settings.attempts if is_to_shrink else 0,
            # Where nothing is waited for, a load of this machine must not decide what is small.
            seconds=float("inf") if self._is_virtual else _SHRINKING,
            needed=3 if is_to_shrink else 1,
            tries=3 if is_to_shrink else 1,
        )
        explain = _cases_of(self._order, self._clock).explained if is_to_shrink else None
        try:
            with _within(max(600.0, settings.deadline * _PATIENCE)):
                store = FindingStore(None)
                found = triage(self._kind.experiment, tried.program, attempt, store, budget, explain)
        except (_Overran, TargetError):
            self._kind.close()
            return None, False
        return found, is_to_shrink


@contextlib.contextmanager
def _within(seconds: float) -> Iterator[None]:
    """Breaks off what takes longer, even where it looks at no clock; in the main thread alone."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return

    def ring(number: int, frame: FrameType | None) -> None:
        raise _Overran

    before = signal.signal(signal.SIGALRM, ring)
    signal.setitimer(signal.ITIMER_REAL, seconds)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)
