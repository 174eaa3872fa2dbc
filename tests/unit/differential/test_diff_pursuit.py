"""What becomes of a divergence: shown again, gone, in passing; and of rounds in which a clock ran ahead."""

from __future__ import annotations

from collections.abc import Callable
from typing import cast

from differential_helpers import always, run_of

from harness.differential.duel import Divergence, Duel, Played
from harness.differential.generate import Program
from harness.differential.normal import Difference
from harness.differential.quirks import Quirk
from harness.differential.record import Head, Journal
from harness.differential.run import Run
from harness.program.steps import Topics

SEEN = Played(
    steps=3,
    divergences=[Divergence(index=0, step=Topics(), differences=(Difference("code", (("0",),), (("1",),)),))],
    triggered={},
)
EQUAL = Played(steps=150, divergences=[], triggered={})
STALLED = Played(steps=3, divergences=[], triggered={}, stalled=True)


class Stub:
    """A duel that goes as it is told; then everything is equal."""

    in_real_time = False

    def __init__(self, *played: Played) -> None:
        self._played = list(played)
        self.restarts = 0

    def play(self, program: Program) -> Played:
        return self._played.pop(0) if self._played else EQUAL

    def configure(self, lines: object) -> None:
        pass

    def sweep(self) -> bool:
        return True

    def foreign(self) -> int:
        return 0

    def restart(self) -> None:
        self.restarts += 1


def run_on(stub: Stub, *quirks: Quirk) -> Run:
    journal = Journal(None, Head(a="a", b="b", profile="5.3", seed="s"), resume=False)
    return Run(
        cast(Duel, stub),
        profile="5.3",
        seed="s",
        quirks=quirks,
        journal=journal,
        out=None,
        attempts=0,
    )


def entry_of(run: Run) -> dict[str, object]:
    entry = next(iter(run.rounds(1, always)))
    return {
        "findings": len(entry.findings),
        "unrepeated": entry.unrepeated,
        "explained": entry.explained,
        "repeated": entry.repeated,
        "given_up": entry.given_up,
    }


CALM = {"findings": 0, "unrepeated": 0, "explained": {}, "repeated": 0, "given_up": False}


def test_what_shows_again_is_a_finding() -> None:
    run = run_on(Stub(SEEN, SEEN))
    assert entry_of(run) == {**CALM, "findings": 1}
    assert len(run.findings) == 1


def test_what_shows_again_on_new_servers_is_a_finding() -> None:
    stub = Stub(SEEN, EQUAL, SEEN)
    assert entry_of(run_on(stub)) == {**CALM, "findings": 1}
    assert stub.restarts == 1


def test_what_does_not_show_again_is_counted() -> None:
    assert entry_of(run_on(Stub(SEEN, EQUAL, EQUAL))) == {**CALM, "unrepeated": 1}


PASSING = Quirk(
    id="p",
    profiles=("5.3",),
    targets=("apache",),
    steps=("time",),
    passing=True,
    text="",
    reference="",
    source="",
)


def about(played: Played) -> Played:
    return Played(
        steps=played.steps, divergences=played.divergences, triggered={"p": 1}, stalled=played.stalled
    )


def test_what_comes_and_goes_is_explained_once_it_has_gone() -> None:
    stub = Stub(about(SEEN), about(SEEN), about(EQUAL))
    assert entry_of(run_on(stub, PASSING)) == {**CALM, "explained": {"p": 1}}
    assert stub.restarts == 2


def test_what_only_comes_is_a_finding() -> None:
    stub = Stub(*[about(SEEN)] * 12)
    assert entry_of(run_on(stub, PASSING)) == {**CALM, "findings": 1}


def test_a_quirk_that_was_not_touched_explains_nothing() -> None:
    assert entry_of(run_on(Stub(SEEN, SEEN), PASSING)) == {**CALM, "findings": 1}


def test_a_stalled_round_is_repeated_and_in_the_end_given_up() -> None:
    assert entry_of(run_on(Stub(STALLED, EQUAL))) == {**CALM, "repeated": 1}
    assert entry_of(run_on(Stub(*[STALLED] * 4))) == {**CALM, "repeated": 4, "given_up": True}


def test_a_run_that_only_stalls_ends() -> None:
    run = run_on(Stub(*[STALLED] * 400))
    assert len(list(run.rounds(1000, always))) == 10


def test_nothing_counts_when_a_clock_has_run_ahead() -> None:
    uri = "builtin:5.3"
    with run_of(uri, f"{uri}?mutant=topic-list-is-not-answered", "5.3", "s") as (run, journal):
        send: Callable[[str, bytes], None] = run.duel.b.send

        def slowly(symbol: str, data: bytes) -> None:
            run.duel.b.clock.pause(100)
            send(symbol, data)

        run.duel.b.send = slowly  # type: ignore[method-assign]
        for _entry in run.rounds(500, lambda: len(journal.entries) < 3):
            pass
    assert journal.steps == 0
    assert all(entry.given_up for entry in journal.entries)
    assert not run.findings
