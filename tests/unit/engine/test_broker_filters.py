"""Programs with filters by SQL92: what passes them, and what faults of filters programs find."""

from __future__ import annotations

import random

import pytest

from harness.engine.broker.program_state import ProgramState
from harness.engine.broker.role import BROKER
from harness.engine.broker.strategies.choices import SAID
from harness.engine.broker.strategies.expressions import SPELLINGS, UNREADABLE, any_filter
from harness.engine.context import TargetContext
from harness.engine.nameserver.strategies.pick import Pick
from harness.engine.stateful import StatefulExperiment
from harness.findings.words import step_words
from harness.program.broker import steps as bk
from harness.program.broker.filters import (
    Both,
    Compare,
    Either,
    Empty,
    Missing,
    Not,
    Pair,
    Spelled,
    Unreadable,
    text_of,
)
from harness.program.broker.optional_steps import Allow, Check, Pop
from harness.program.shrink import shrunk
from harness.program.step import Restart, Time
from harness.program.steps import AnyStep, decode_step, encode_step
from harness.spec.broker.filtering import passes
from harness.targets import parse
from reference_impl.broker.sql import NoExpressionError, compiled

A5 = Compare("a", "=", 5)
SENDS: tuple[AnyStep, ...] = (
    Allow(),
    bk.Send(said=(("a", "1"),)),
    bk.Send(message="m1", said=(("a", "5"),)),
    bk.Send(message="m2", said=(("b", "1"),)),
    bk.Send(message="m3", said=(("a", "5"),)),
)


def broken(program: list[AnyStep], mutant: str, profile: str = "5.3") -> list[str]:
    """The statements that a mutant breaks with a program; the sound reference breaks none."""
    found = []
    for uri in (f"builtin:{profile}", f"builtin:{profile}?mutant={mutant}"):
        context = TargetContext(parse(uri, "broker"), profile, role=BROKER)
        found.append(StatefulExperiment(context, "x").attempt(program, fresh=True).violations)
    assert not found[0]
    return [one.statement for one in found[1]]


@pytest.mark.parametrize("profile", ["4.9", "5.3"])
def test_what_passes_is_what_the_reference_lets_pass(profile: str) -> None:
    """Two readings of the catalogue that do not know each other."""
    source, state = random.Random(7), ProgramState(profile)
    pick = Pick(lambda most: source.randrange(most + 1))
    passed = 0
    for _ in range(2000):
        one = any_filter(pick, state)
        for spelled in (one, *(Spelled(how, one) for how in SPELLINGS)):
            selector = compiled(text_of(spelled), v5=profile == "5.3")
            for said in SAID:
                assert passes(spelled, dict(said)) is selector.wants(dict(said)), (text_of(spelled), said)
        passed += sum(passes(one, dict(said)) for said in SAID)
    assert 2000 < passed < 16000, "some pass and some do not"


@pytest.mark.parametrize("text", UNREADABLE)
def test_a_filter_that_cannot_be_compiled(text: str) -> None:
    with pytest.raises(NoExpressionError):
        compiled(text_of(Unreadable(text)), v5=True)


def test_text_has_parentheses_only_where_they_are_needed() -> None:
    either = Either(Compare("a", "=", "it's"), Both(Missing("b"), Compare("b", "<", 2.5)))
    assert text_of(either) == "a = 'it''s' OR b IS NULL AND b < 2.5"
    assert text_of(Spelled("small", either)) == "a = 'it''s' or b is null and b < 2.5"
    assert text_of(Both(either, Not(Pair()))) == f"({text_of(either)}) AND NOT (a = b)"
    assert decode_step(encode_step(bk.Pull(filter=either))) == bk.Pull(filter=either)


@pytest.mark.parametrize("profile", ["4.9", "5.3"])
def test_one_message_more_or_less_is_found(profile: str) -> None:
    program: list[AnyStep] = [*SENDS, bk.Pull(filter=A5)]
    pull = ["bk.filter.pull-brings-a-filter"]
    assert broken(program, "sql-is-taken-for-everything", profile) == pull
    program[-1] = bk.Pull(filter=Compare("a", ">=", 5))
    assert broken(program, "at-least-is-more", profile) == pull
    program[-1] = bk.Pull(filter=Not(Compare("a", "=", "1")))
    assert broken(program, "unknown-is-false", profile) == pull


@pytest.mark.parametrize("profile", ["4.9", "5.3"])
def test_what_cannot_be_compiled_or_is_off_is_refused(profile: str) -> None:
    program: list[AnyStep] = [*SENDS, bk.Pull(filter=Unreadable())]
    assert broken(program, "unreadable-filters-want-everything", profile) == [
        "bk.filter.pull-with-an-unreadable-filter-is-refused"
    ]
    program = [*SENDS, Allow(allowed=False), bk.Pull(filter=A5)]
    assert broken(program, "filters-are-never-refused", profile) == [
        "bk.filter.filter-is-refused-where-it-is-off"
    ]
    program = [Allow(), Check(filter=Unreadable())]
    assert broken(program, "unreadable-filters-pass-the-check", profile) == [
        "bk.filter.filter-can-be-checked"
    ]


def beat(one: object, version: int) -> bk.Beat:
    return bk.Beat(conn="kc0", groups=("g0",), filter=one, version=version)  # type: ignore[arg-type]


PULL = bk.Pull(subscribes=False)


@pytest.mark.parametrize("profile", ["4.9", "5.3"])
def test_the_filter_of_a_group_decides(profile: str) -> None:
    says = ["bk.filter.group-says-its-filters"]
    one, other = beat(A5, 3), beat(Compare(), 4)
    assert broken([*SENDS, one, other, PULL], "later-filters-never-replace", profile) == says
    assert broken([*SENDS, other, beat(A5, 3), PULL], "filters-of-any-version-replace", profile) == says
    away = bk.Leave(conn="kc0")
    assert broken([*SENDS, other, away, one, PULL], "filters-leave-with-their-group", profile) == says
    again: list[AnyStep] = [*SENDS, other, Time(seconds=30), Restart(how="term"), Allow(), one, PULL]
    assert broken(again, "restarts-forget-filters", profile) == says


@pytest.mark.parametrize("profile", ["4.9", "5.3"])
def test_a_group_without_a_filter_that_counts_is_refused(profile: str) -> None:
    program: list[AnyStep] = [*SENDS, beat(A5, 3), beat(Unreadable(), 4), PULL]
    assert broken(program, "unreadable-filters-leave-the-old", profile) == [
        "bk.filter.unreadable-filter-takes-the-old-one-away"
    ]


@pytest.mark.parametrize("profile", ["4.9", "5.3"])
def test_a_pull_may_not_ask_for_a_later_filter_than_there_is(profile: str) -> None:
    later = bk.Pull(subscribes=False, version=6)
    program: list[AnyStep] = [*SENDS, beat(A5, 5), beat(Empty(), 6), later]
    assert broken(program, "versions-of-filters-are-not-compared", profile) == [
        "bk.filter.filter-that-is-too-old-is-refused"
    ]


def test_a_kill_may_lose_filters_that_were_just_said() -> None:
    program: list[AnyStep] = [*SENDS, beat(A5, 4), Restart(), Allow(), beat(Compare(), 3), PULL]
    assert broken(program, "restarts-forget-filters") == []


def test_pops_are_filtered_and_give_each_message_once() -> None:
    pop = Pop(filter=A5)
    program: list[AnyStep] = [*SENDS, pop, Pop(), Pop(group="h1", most=1), Pop(group="h1")]
    assert broken(program, "pops-want-everything") == ["bk.filter.pop-brings-a-filter"]
    program = [*SENDS, Pop(filter=Unreadable())]
    assert broken(program, "unreadable-filters-of-pops-want-everything") == [
        "bk.filter.pop-with-an-unreadable-filter-is-refused"
    ]


@pytest.mark.parametrize("profile", ["4.9", "5.3"])
def test_a_message_that_passes_ends_the_wait(profile: str) -> None:
    held = bk.Pull(conn="h0", filter=Compare("a", ">", 5), suspend=15, awaited=False)
    unwanted, wanted = bk.Send(said=(("a", "4"),)), bk.Send(message="m1", said=(("a", "6"),))
    program: list[AnyStep] = [Allow(), bk.MakeTopic(), held, unwanted, Time(seconds=1), wanted]
    program += [Time(seconds=8), bk.Bound()]
    assert broken(program, "arrivals-release-nobody", profile)


def test_a_filter_is_shown_as_its_text_and_made_smaller_by_its_parts() -> None:
    pull = bk.Pull(filter=Both(Not(Missing("b")), A5))
    assert step_words(pull) == "PULL_MESSAGE (11): filter NOT (b IS NULL) AND a = 5"
    small = shrunk([*SENDS, pull], lambda steps: "b IS NULL" in "".join(map(step_words, steps)))
    assert list(map(step_words, small)) == ["PULL_MESSAGE (11): filter b IS NULL"]
