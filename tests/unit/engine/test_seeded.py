"""A seed decides its run: whatever ran before, whoever runs it."""

import re

import pytest

from harness.engine.kind import Kind, Tried
from harness.engine.kinds import KINDS, Setting
from harness.program.steps import encode_step
from harness.targets import parse

KIND_NAMES = list(KINDS["nameserver"])


def _kind(name: str, uri: str = "builtin:5.3") -> Kind:
    target = parse(uri)
    assert target.line is not None
    return KINDS["nameserver"][name](Setting(target=target, profile=target.line, words="w", deadline=60.0))


def _outcomes(tried: Tried) -> list[str]:
    """What was answered, but for the directory of the server, which a controller tells."""
    return [re.sub(r"rmq-builtin-\w+", "", str(seen.outcome)) for seen in tried.attempt.observed]


@pytest.mark.parametrize("name", KIND_NAMES)
def test_a_seed_gives_the_same_run_whatever_ran_before(name: str) -> None:
    one, other = _kind(name), _kind(name)
    in_order = [one.run(seed) for seed in range(4)]
    in_reverse = [other.run(seed) for seed in reversed(range(4))][::-1]
    assert [tried.program for tried in in_order] == [tried.program for tried in in_reverse]
    assert [tried.goals for tried in in_order] == [tried.goals for tried in in_reverse]
    assert one.generator == other.generator
    for first, again in zip(in_order, in_reverse, strict=True):
        assert first.attempt.violations == again.attempt.violations == ()
        assert _outcomes(first) == _outcomes(again)


@pytest.mark.parametrize("name", KIND_NAMES)
def test_seeds_differ(name: str) -> None:
    kind = _kind(name)
    assert len({tuple(map(encode_step, kind.run(seed).program)) for seed in range(8)}) == 8


def test_a_mutant_plays_the_program_of_the_reference_until_it_fails() -> None:
    reference, mutant = _kind("stateful"), _kind("stateful", "builtin:5.3?mutant=failure-without-remark")
    failed = 0
    for seed in range(6):
        played, judged = reference.run(seed), mutant.run(seed)
        assert judged.program == played.program[: len(judged.program)]
        failed += bool(judged.attempt.violations)
        assert bool(judged.attempt.violations) == (len(judged.program) < len(played.program))
    assert failed


@pytest.mark.parametrize("name", KIND_NAMES)
def test_the_program_of_a_seed_is_known_without_playing_it(name: str) -> None:
    kind = _kind(name)
    assert [kind.program(seed) for seed in range(4)] == [kind.run(seed).program for seed in range(4)]


def test_a_run_that_is_broken_off_is_known() -> None:
    kind = _kind("stateful")
    kind.run(1)
    told = kind.broken_off()
    assert told is not None and told.program
    assert kind.broken_off() is None
