"""Confirm, shrink, confirm again, keep: with an experiment whose results the test chooses."""

from __future__ import annotations

import errno
import itertools
from collections.abc import Callable, Sequence
from pathlib import Path

import pytest

from harness.findings import folder
from harness.findings.experiment import Attempt, Ended, Explanation, Finding, Flaky, Signature, signature_of
from harness.findings.store import FindingStore
from harness.findings.triage import Budget, triage
from harness.program.nameserver.steps import Register, Route, Topics
from harness.program.step import Time
from harness.program.steps import AnyStep
from harness.spec import Violation
from harness.trace import Header, Trace

NOISE: tuple[AnyStep, ...] = (Topics(), Time(seconds=30), Time(seconds=45), Register(broker="b1", ha=False))
ORDINARY = Register(topics={"T0": (4, 4, 6, 0), "T8": (4, 4, 6, 0)})
"""What the registration of the program comes to: no step gets a trait that it had not."""
PROGRAM: tuple[AnyStep, ...] = (Register(topics={"T0": (4, 4, 6, 0)}), *NOISE, Route(), Topics())


def violation(number: int, invariant: str = "topics-go") -> Violation:
    return Violation(
        invariant=invariant, statement="ns.test.one", expected="no route", actual="a route", number=number
    )


def attempt(*violations: Violation, ended: Ended = "whole") -> Attempt:
    return Attempt(violations=violations, trace=Trace(Header(profile="5.3"), ()), ended=ended, stepped=1)


class Fake:
    """Fails where a registration is followed by a question for the route, `when` it says so."""

    kind = "fake"
    target = "fake:"
    profile = "5.3"

    def __init__(self, when: Callable[[int, bool], bool] = lambda *_: True) -> None:
        self._when = when
        self.numbers = itertools.count(1)
        self.fresh: list[bool] = []

    def attempt(self, program: Sequence[AnyStep], *, fresh: bool) -> Attempt:
        number = next(self.numbers)
        self.fresh.append(fresh)
        registered = any(isinstance(step, Register) and step.broker == "b0" for step in program)
        asked = [at for at, step in enumerate(program) if isinstance(step, Route)]
        shows = registered and asked and self._when(number, fresh)
        return attempt(*([violation(asked[0])] if shows else []))


def budget(**changes: int) -> Budget:
    return Budget(now=lambda: 0.0, **changes)  # type: ignore[arg-type]


def test_a_failure_is_confirmed_made_small_and_confirmed_again(tmp_path: Path) -> None:
    fake, store = Fake(), FindingStore(tmp_path)
    found = triage(fake, PROGRAM, attempt(violation(5)), store, budget())
    assert isinstance(found, Finding)
    assert found.program == (ORDINARY, Route())
    assert found.violation.number == 1
    assert found.original == PROGRAM
    assert (found.confirmed.shown, found.confirmed.tried) == (3, 3)
    assert not found.exhausted
    assert fake.fresh[:3] == [True] * 3 == fake.fresh[-3:]
    assert fake.fresh[3:-3].count(True) < len(fake.fresh[3:-3]) / 2, "made small on a target that is used"
    assert store.findings == [found]
    assert found.directory is not None
    written = folder.read_summary(Path(found.directory)).found
    assert isinstance(written, Finding)
    assert (written.program, written.original) == (found.program, PROGRAM)


def test_what_does_not_show_again_is_flaky_with_its_rate(tmp_path: Path) -> None:
    fake, store = Fake(lambda number, _: number == 2), FindingStore(tmp_path)
    found = triage(fake, PROGRAM, attempt(violation(5)), store, budget())
    assert isinstance(found, Flaky)
    assert str(found.confirmed) == "1 of 3"
    assert store.findings == []
    assert store.flaky == [found]
    assert [one.name for one in tmp_path.iterdir() if one.is_dir() and any(one.iterdir())] == ["flaky"]


def test_a_failure_may_need_a_step_behind_the_one_that_is_wrong() -> None:
    class Later(Fake):
        def attempt(self, program: Sequence[AnyStep], *, fresh: bool) -> Attempt:
            seen = super().attempt(program, fresh=fresh)
            return seen if any(isinstance(step, Topics) for step in program[-1:]) else attempt()

    found = triage(Later(), PROGRAM, attempt(violation(5)), FindingStore(None), budget())
    assert isinstance(found, Finding)
    assert found.program == (ORDINARY, Route(), Topics())
    assert str(found.confirmed) == "3 of 3"


def test_three_of_five_may_be_enough() -> None:
    found = triage(
        Fake(lambda number, fresh: number % 2 == 1 or not fresh),
        PROGRAM,
        attempt(violation(5)),
        FindingStore(None),
        budget(needed=3, tries=5, attempts=0),
    )
    assert isinstance(found, Finding)
    assert str(found.confirmed) == "3 of 5"


def test_what_is_small_only_on_a_used_target_is_not_kept() -> None:
    class Polluted(Fake):
        """Once something was registered, a route is found without it, but for a fresh target."""

        def attempt(self, program: Sequence[AnyStep], *, fresh: bool) -> Attempt:
            if not fresh and isinstance(program[-1], Route):
                return attempt(violation(len(program) - 1))
            return super().attempt(program, fresh=fresh)

    found = triage(Polluted(), PROGRAM, attempt(violation(5)), FindingStore(None), budget())
    assert isinstance(found, Finding)
    assert any(isinstance(step, Register) for step in found.program)
    assert str(found.confirmed) == "3 of 3"


class Tainted(Fake):
    """Once a program has failed there, every program fails on the target, until there is a fresh one."""

    def __init__(self, when: Callable[[int, bool], bool] = lambda *_: True) -> None:
        super().__init__(when)
        self.is_tainted = False

    def attempt(self, program: Sequence[AnyStep], *, fresh: bool) -> Attempt:
        done = super().attempt(program, fresh=fresh)
        if self.is_tainted and not fresh:
            asked = [at for at, step in enumerate(program) if isinstance(step, Route)]
            return attempt(*map(violation, asked[:1]))
        self.is_tainted = bool(done.violations)
        return done


def test_where_failures_are_carried_over_every_failure_is_followed_by_a_fresh_target() -> None:
    fake = Tainted()
    found = triage(fake, PROGRAM, attempt(violation(5)), FindingStore(None), budget())
    assert isinstance(found, Finding)
    assert found.program == (ORDINARY, Route()), "as small as where nothing is carried over"
    assert str(found.confirmed) == "3 of 3"


def test_what_is_made_small_is_looked_at_on_a_fresh_target_now_and_then() -> None:
    """Not each time: a fresh target may take seconds."""
    program = (*(Topics(conn=f"k{number}") for number in range(40)), *PROGRAM)
    fake = Fake()
    found = triage(fake, program, attempt(violation(45)), FindingStore(None), budget())
    assert isinstance(found, Finding)
    assert found.program == (ORDINARY, Route())
    assert 2 <= fake.fresh[3:-3].count(True) <= 7 < fake.fresh.count(False)


def test_where_a_fresh_target_is_dear_a_failure_costs_three_of_them() -> None:
    """One confirms, one makes sure of the smallest program, one confirms it again; no budget is left else."""

    class Dear(Fake):
        seconds = 0.0

        def attempt(self, program: Sequence[AnyStep], *, fresh: bool) -> Attempt:
            self.seconds += 7.0 if fresh else 0.05
            return super().attempt(program, fresh=fresh)

    program = (*(Topics(conn=f"k{number}") for number in range(40)), *PROGRAM)
    fake = Dear()
    limits = Budget(now=lambda: fake.seconds, seconds=12.0, needed=1, tries=2)
    found = triage(fake, program, attempt(violation(45)), FindingStore(None), limits)
    assert isinstance(found, Finding)
    assert found.program == (ORDINARY, Route())
    assert str(found.confirmed) == "2 of 2"
    assert fake.fresh.count(True) == 3


def test_a_late_attempt_counts_for_nothing() -> None:
    class Late(Fake):
        def attempt(self, program: Sequence[AnyStep], *, fresh: bool) -> Attempt:
            return attempt(ended="late") if next(self.numbers) % 2 else super().attempt(program, fresh=fresh)

    found = triage(Late(), PROGRAM, attempt(violation(5)), FindingStore(None), budget(attempts=0))
    assert isinstance(found, Finding)
    assert str(found.confirmed) == "3 of 3"


def test_another_failure_is_not_taken_for_it() -> None:
    class Other(Fake):
        def attempt(self, program: Sequence[AnyStep], *, fresh: bool) -> Attempt:
            return attempt(violation(0, "something-else"))

    assert isinstance(triage(Other(), PROGRAM, attempt(violation(5)), FindingStore(None), budget()), Flaky)


@pytest.mark.parametrize("seconds", [False, True])
def test_the_budget_ends_the_shrinking(seconds: bool) -> None:
    readings = itertools.count()
    limited = Budget(now=lambda: float(next(readings)), seconds=4) if seconds else budget(attempts=2)
    found = triage(Fake(), PROGRAM, attempt(violation(5)), FindingStore(None), limited)
    assert isinstance(found, Finding)
    assert found.exhausted
    assert len(found.program) > 2


def test_a_run_that_is_over_keeps_what_is_confirmed_as_it_is() -> None:
    fake, explained = Fake(), []

    def explain(*facts: object) -> Explanation:
        explained.append(facts)
        return Explanation()

    found = triage(fake, PROGRAM, attempt(violation(5)), FindingStore(None), budget(until=0), explain)
    assert isinstance(found, Finding)
    assert found.program == PROGRAM[:6]
    assert (found.exhausted, found.unexplained) == (True, True)
    assert fake.fresh == [True, True, True]
    assert explained == []


def test_a_run_that_ends_while_a_finding_is_made_small_confirms_the_smallest_and_no_other() -> None:
    fake = Fake()
    limited = Budget(now=lambda: float(len(fake.fresh)), until=9.0)
    found = triage(fake, PROGRAM, attempt(violation(5)), FindingStore(None), limited)
    assert isinstance(found, Finding)
    assert 2 < len(found.program) < 6
    assert found.exhausted
    assert found.attempts < 15
    assert fake.fresh[-3:] == [True, True, True]


def test_the_same_failure_is_one_finding(tmp_path: Path) -> None:
    store = FindingStore(tmp_path)
    first = triage(Fake(), PROGRAM, attempt(violation(5)), store, budget())
    fake = Fake()
    again = triage(fake, PROGRAM, attempt(violation(5)), store, budget())
    assert again is first
    assert first.times == 2  # type: ignore[union-attr]
    assert fake.fresh == [], "a known failure costs no attempt"
    resumed = FindingStore(tmp_path)
    (known,) = resumed.findings
    assert (known.times, known.program) == (2, first.program)
    assert triage(fake, PROGRAM, attempt(violation(5)), resumed, budget()) is known
    assert FindingStore(tmp_path).findings[0].times == 3


def test_news_beside_something_known_are_triaged() -> None:
    store = FindingStore(None)
    triage(Fake(), PROGRAM, attempt(violation(5)), store, budget())
    other = violation(0, "something-else")
    found = triage(Fake(), PROGRAM, attempt(violation(5), other), store, budget())
    assert found.signature == signature_of(PROGRAM, other)


@pytest.mark.parametrize("moment", range(1, 30))
def test_an_interrupt_at_any_moment_loses_nothing(moment: int, tmp_path: Path) -> None:
    class Interrupted(Fake):
        def attempt(self, program: Sequence[AnyStep], *, fresh: bool) -> Attempt:
            done = super().attempt(program, fresh=fresh)
            if next(self.moments) == moment:
                raise KeyboardInterrupt
            return done

        moments = itertools.count(1)

    interrupted = Interrupted()
    interrupted.moments = itertools.count(1)
    store = FindingStore(tmp_path)
    try:
        triage(interrupted, PROGRAM, attempt(violation(5)), store, budget())
    except KeyboardInterrupt:
        kept = FindingStore(tmp_path)
        found = [*kept.findings, *kept.unconfirmed.values()]
        assert [one.signature for one in found] == [signature_of(PROGRAM, violation(5))]
        assert len(list(tmp_path.glob("*/*/finding.json"))) == 1
        assert (moment > 3) == bool(kept.findings)
    else:
        assert len(store.findings) == 1


def test_a_full_disk_is_said_once_and_what_is_found_is_kept_in_memory(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    store = FindingStore(tmp_path)

    def full(*_: object) -> None:
        raise OSError(errno.ENOSPC, "No space left on device", str(tmp_path / "findings"))

    monkeypatch.setattr(folder, "write_trace", full)
    found = triage(Fake(), PROGRAM, attempt(violation(5)), store, budget())
    assert isinstance(found, Finding)
    assert found.program == (ORDINARY, Route())
    assert found.directory is None
    assert store.findings == [found]
    assert "No space left on device" in store.trouble
    assert "\n" not in store.trouble
    assert not list(tmp_path.glob("*/*"))


def test_a_full_disk_leaves_what_was_written_before(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    store, writes = FindingStore(tmp_path), itertools.count(1)
    real = folder.write_trace

    def soon_full(path: Path, trace: Trace) -> None:
        if next(writes) > 2:
            raise OSError(errno.ENOSPC, "No space left on device")
        real(path, trace)

    monkeypatch.setattr(folder, "write_trace", soon_full)
    found = triage(Fake(), PROGRAM, attempt(violation(5)), store, budget())
    assert isinstance(found, Finding)
    assert len(found.program) == 2
    (kept,) = FindingStore(tmp_path).findings
    assert len(kept.program) == 6, "confirmed, and not yet made small"


def test_an_index_that_was_cut_short_is_read(tmp_path: Path) -> None:
    triage(Fake(), PROGRAM, attempt(violation(5)), FindingStore(tmp_path), budget())
    with (tmp_path / "index.jsonl").open("ab") as file:
        file.write(b'{"signature":{"statem')
    store = FindingStore(tmp_path)
    assert len(store.findings) == 1
    store.again(store.findings[0])
    assert FindingStore(tmp_path).findings[0].times == 2


def test_a_folder_that_was_being_replaced_is_whole_again(tmp_path: Path) -> None:
    found = triage(Fake(), PROGRAM, attempt(violation(5)), FindingStore(tmp_path), budget())
    assert found.directory is not None
    whole = Path(found.directory)
    whole.rename(whole.with_name(whole.name + ".old"))
    whole.with_name(whole.name + ".partial").mkdir()
    assert len(FindingStore(tmp_path).findings) == 1
    assert [one.name for one in whole.parent.iterdir()] == [whole.name]


def test_flaky_again_and_again_is_not_tried_for_ever(tmp_path: Path) -> None:
    store, fake = FindingStore(tmp_path), Fake(lambda *_: False)
    for _ in range(5):
        triage(fake, PROGRAM, attempt(violation(5)), store, budget())
    assert len(fake.fresh) == 18, "three times, up to the failure and whole"


def test_an_attempt_without_violation_is_refused() -> None:
    with pytest.raises(ValueError, match="nothing to triage"):
        triage(Fake(), PROGRAM, attempt(), FindingStore(None), budget())


def test_names_of_folders_tell_the_statement_and_are_the_same_each_time() -> None:
    one = Signature(statement="ns.test.one", invariant="i", anomaly=None, kind="route")
    assert folder.name_of(one).startswith("ns.test.one-")
    assert folder.name_of(one) == folder.name_of(signature_of((Route(),), violation(0, "i")))
    odd = Signature(statement="a/../b", invariant="i", anomaly=None, kind="route")
    assert "/" not in folder.name_of(odd)


def test_a_finding_is_explained_once_and_what_is_known_or_flaky_is_not(tmp_path: Path) -> None:
    asked: list[Sequence[AnyStep]] = []

    def explain(program: Sequence[AnyStep], one: Violation, shown: Attempt) -> Explanation:
        assert one in shown.violations
        asked.append(program)
        return Explanation(("ns.lease.a", "ns.lease.b"))

    store = FindingStore(tmp_path)
    for _ in range(2):
        triage(Fake(), PROGRAM, attempt(violation(5)), store, budget(), explain)
    assert asked == [(ORDINARY, Route())]
    other = FindingStore(None)
    triage(Fake(lambda *_: False), PROGRAM, attempt(violation(5)), other, budget(), explain)
    assert len(asked) == 1
    (kept,) = FindingStore(tmp_path).findings
    assert kept.also_fails == ("ns.lease.a", "ns.lease.b")
    assert "- ns.lease.b" in (Path(kept.directory or "") / "README.md").read_text()
