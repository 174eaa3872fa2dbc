"""Programs of producers and consumers that meet: what they are, and what comes of them in process."""

from __future__ import annotations

import itertools

import pytest

from harness.engine.broker.history_programs import Shape, program_of
from harness.engine.broker.role import BROKER
from harness.engine.context import TargetContext
from harness.engine.history import HistoryExperiment, HistoryKind
from harness.engine.kinds import KINDS, Setting
from harness.program.broker.steps import Commit, Send
from harness.program.chance import chance
from harness.program.step import Request, Restart, Time
from harness.targets import parse


def _context(profile: str, mutant: str = "") -> TargetContext:
    uri = f"builtin:{profile}" + (f"?mutant={mutant}" if mutant else "")
    return TargetContext(parse(uri, "broker"), profile, role=BROKER)


def test_programs_meet_and_keep_to_their_rules() -> None:
    """Each message and as a rule each offset is used once, and restarts come between two bursts."""
    for number in range(20):
        program = program_of(chance("programs", number), Shape(restarts=0.5))
        assert program == program_of(chance("programs", number), Shape(restarts=0.5))
        sent = [message for step in program if isinstance(step, Send) for message in step.messages]
        assert len(set(sent)) == len(sent)
        commits = [step.offset for step in program if isinstance(step, Commit)]
        assert len(set(commits)) >= len(commits) / 2
        assert any(isinstance(step, Request) and not step.awaited for step in program)
        for before, step in itertools.pairwise(program):
            if isinstance(step, Restart):
                assert not isinstance(before, Request) or before.awaited


@pytest.mark.parametrize("profile", ["4.9", "5.3", "5.5"])
def test_reference_is_sound(profile: str) -> None:
    """Nothing is found, every goal is reached, and nothing is left open."""
    kind = HistoryKind(_context(profile), "sound")
    tried = [kind.run(seed) for seed in range(25)]
    assert [violation for one in tried for violation in one.attempt.violations] == []
    assert {one.attempt.ended for one in tried} == {"whole"}
    assert all(kind.reached().values())
    assert kind.experiment.judged["keys"] > 100
    assert not kind.experiment.judged["unknown"]
    assert all(any(isinstance(step, Time) for step in one.program) for one in tried)
    assert {"bk.send.is-stored-and-its-place-returned", "bk.offset.is-what-was-committed"} <= {
        statement for one in tried for judged in one.attempt.judged.values() for statement in judged
    }
    kind.close()


MUTANTS = {
    "send-tells-offset-zero": {"inconsistent offsets"},
    "batch-tells-its-last-offset": {"inconsistent offsets", "phantom offset"},
    "max-offset-is-that-of-the-last-message": {"nonmonotonic read", "overdue message"},
    "offsets-are-of-all-groups": {"phantom commit"},
    "oneway-commits-are-dropped": {"lost commit"},
    "hands-over-late": {"inconsistent offsets", "lost message", "overdue message"},
}


@pytest.mark.parametrize("mutant", MUTANTS)
def test_mutant_is_found_and_does_it_again(mutant: str) -> None:
    context = _context("5.3", mutant)
    kind = HistoryKind(context, "mutants")
    wrong = next(tried for tried in map(kind.run, range(100)) if tried.attempt.violations)
    first = wrong.attempt.violations[0]
    assert first.anomaly in MUTANTS[mutant]
    assert 0 <= first.number < len(wrong.program)
    again = HistoryExperiment(context, "again").attempt(wrong.program, fresh=True)
    assert first.anomaly in {violation.anomaly for violation in again.violations}
    context.close()


def test_a_seed_gives_the_same_run_whatever_ran_before() -> None:
    def made() -> HistoryKind:
        setting = Setting(target=parse("builtin:5.3", "broker"), role="broker", profile="5.3", words="w")
        kind = KINDS["broker"]["history"](setting)
        assert isinstance(kind, HistoryKind)
        return kind

    one, other = made(), made()
    in_order = [one.run(seed) for seed in range(3)]
    in_reverse = [other.run(seed) for seed in reversed(range(3))][::-1]
    assert [tried.program for tried in in_order] == [one.program(seed) for seed in range(3)]
    assert [tried.program for tried in in_order] == [tried.program for tried in in_reverse]
    assert one.generator == other.generator
    one.close()
    other.close()
