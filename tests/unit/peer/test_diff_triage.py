"""What becomes of a divergence: shown again, gone, in passing; and of rounds in which a clock ran ahead."""

from __future__ import annotations

from typing import Any, cast

import pytest
from peer_helpers import always, run_of

from harness.catalogue import Quirk, When
from harness.engine.kind import SeededNames
from harness.engine.peer.causes import KnownCauses, Seen
from harness.engine.peer.differences import Difference
from harness.engine.peer.executor import PeerExecutor
from harness.engine.peer.experiment import Compared, PeerExperiment
from harness.engine.peer.explaining import Divergence
from harness.engine.peer.generate import plainest
from harness.engine.peer.journal import Head, Journal
from harness.engine.peer.rounds import Rounds
from harness.findings.experiment import Attempt
from harness.findings.store import FindingStore
from harness.program.nameserver.steps import Topics
from harness.spec import Observation, Violation
from harness.trace import Header, Trace

SEEN_KIND = Seen("GET_ALL_TOPIC_LIST_FROM_NAMESERVER (206)", "A SUCCESS (0) / B SYSTEM_ERROR (1)")
DIVERGENCE = Divergence(
    index=0,
    step=Topics(),
    differences=(Difference("code", (("0",),), (("1",),), (SEEN_KIND.kind,)),),
    news=(SEEN_KIND,),
)


def compared(*, seen: bool = False, stalled: bool = False, about: tuple[str, ...] = ()) -> Compared:
    violation = Violation(invariant="answer", statement="s", expected="A", actual="B", number=0)
    return Compared(
        attempt=Attempt(
            violations=(violation,) if seen else (),
            trace=Trace(Header(), ()),
            ended="late" if stalled else "whole",
            stepped=3,
        ),
        steps=3 if seen or stalled else 150,
        divergences=(DIVERGENCE,) if seen else (),
        triggered=dict.fromkeys(about, 1),
    )


SEEN, EQUAL, STALLED = compared(seen=True), compared(), compared(stalled=True)


class Stub:
    """Two targets whose comparisons come to what the test says; then everything is equal."""

    kind, target, profile = "diff", "a and b", "5.3"
    in_real_time, can_restart, is_virtual = False, True, True

    def __init__(self, *played: Compared) -> None:
        self.seeded = SeededNames("diff", "x")
        self.divergences = {SEEN.attempt.violations[0]: DIVERGENCE}
        self.causes = KnownCauses()
        self._played = list(played)
        self.restarts = 0

    def compare(self, program: object, *, fresh: bool = False) -> Compared:
        self.restarts += fresh
        if program == plainest(self.profile).steps:
            return EQUAL
        return self._played.pop(0) if self._played else EQUAL

    def attempt(self, program: object, *, fresh: bool) -> Attempt:
        return self.compare(program, fresh=fresh).attempt

    def anomaly(self, seen: Seen) -> str:
        return str(seen)

    def foreign(self) -> int:
        return 0

    def restart(self) -> None:
        self.restarts += 1


def run_on(stub: Stub, *quirks: Quirk) -> Rounds:
    journal = Journal(None, Head(a="a", b="b", profile="5.3", seed="s"), resume=False)
    experiment = cast(PeerExperiment, stub)
    return Rounds(experiment, seed="s", quirks=quirks, journal=journal, store=FindingStore(None), attempts=0)


def entry_of(run: Rounds) -> dict[str, object]:
    entry = next(iter(run.play(1, always)))
    return {
        "findings": len(entry.learnt),
        "unrepeated": entry.unrepeated,
        "explained": entry.explained,
        "repeated": entry.repeated,
        "given_up": entry.given_up,
    }


CALM = {"findings": 0, "unrepeated": 0, "explained": {}, "repeated": 0, "given_up": False}


def test_what_shows_again_is_a_finding() -> None:
    run = run_on(Stub(SEEN, SEEN, SEEN))
    assert entry_of(run) == {**CALM, "findings": 1}
    assert len(run.store.findings) == 1


def test_what_shows_again_once_on_new_servers_is_a_finding() -> None:
    stub = Stub(SEEN, EQUAL, SEEN)
    assert entry_of(run_on(stub)) == {**CALM, "findings": 1}
    assert stub.restarts == 2


def test_what_does_not_show_again_is_counted() -> None:
    assert entry_of(run_on(Stub(SEEN, EQUAL, EQUAL))) == {**CALM, "unrepeated": 1}


PASSING = Quirk(
    id="p",
    statements=(),
    versions=(),
    instead="",
    source=(),
    observed=(),
    when=When(steps=("time",)),
    intermittent="Threads must meet.",
)


ABOUT, GONE = compared(seen=True, about=("p",)), compared(about=("p",))


def test_what_comes_and_goes_is_explained_once_it_has_gone() -> None:
    stub = Stub(ABOUT, ABOUT, GONE)
    assert entry_of(run_on(stub, PASSING)) == {**CALM, "explained": {"p": 1}}
    assert stub.restarts == 2


def test_what_only_comes_is_a_finding() -> None:
    assert entry_of(run_on(Stub(*[ABOUT] * 12), PASSING)) == {**CALM, "findings": 1}


def test_a_quirk_that_was_not_touched_explains_nothing() -> None:
    assert entry_of(run_on(Stub(SEEN, SEEN, SEEN), PASSING)) == {**CALM, "findings": 1}


def test_a_stalled_round_is_repeated_and_in_the_end_given_up() -> None:
    assert entry_of(run_on(Stub(STALLED, EQUAL))) == {**CALM, "repeated": 1}
    assert entry_of(run_on(Stub(*[STALLED] * 4))) == {**CALM, "repeated": 4, "given_up": True}


def test_a_run_that_only_stalls_ends() -> None:
    run = run_on(Stub(*[STALLED] * 400))
    assert len(list(run.play(1000, always))) == 10


def test_nothing_counts_when_a_clock_has_run_ahead(monkeypatch: pytest.MonkeyPatch) -> None:
    uri, ask = "builtin:5.3", PeerExecutor.ask_alike

    def slowly(self: PeerExecutor, steps: Any, servers: Any) -> list[Observation]:
        self._sessions[1].clock.pause(100)
        return ask(self, steps, servers)

    monkeypatch.setattr(PeerExecutor, "ask_alike", slowly)
    with run_of(uri, f"{uri}?mutant=topic-list-is-not-answered", "5.3", "s") as (run, journal):
        for _entry in run.play(500, lambda: len(journal.entries) < 3):
            pass
    assert journal.steps == 0
    assert all(entry.given_up for entry in journal.entries)
    assert not run.store.findings
