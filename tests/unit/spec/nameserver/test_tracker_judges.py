"""Random programs on the reference: nothing is found on a right one, and a wrong one is found."""

import msgspec
import pytest

from harness.engine.peer.generate import round_of
from harness.program.chance import chance
from harness.program.names import Names
from harness.program.nameserver.frames import BORN
from harness.program.nameserver.steps import QueryVersion, Register, Route
from harness.program.steps import AnyStep
from harness.spec import Observation, StateTracker, Violation
from harness.spec.nameserver.component import Component
from harness.targets import parse

from .playing import observed, settled, violations_of

PROFILES: tuple[str, ...] = ("4.9", "5.3", "5.5")


def _seen(profile: str, number: int, mutant: str | None = None) -> tuple[Names, list[Observation]]:
    target = parse(f"builtin:{profile}" + (f"?mutant={mutant}" if mutant else ""))
    instance = target.start()
    names = Names(chance("model", profile, number))
    program = round_of("model", number, profile=profile, quirks=())
    steps = list(settled(program.steps)) if number % 2 else program.steps
    try:
        return names, list(observed(instance, profile, names, steps))
    finally:
        instance.stop()


def _violations(profile: str, number: int, mutant: str | None = None) -> list[Violation]:
    names, seen = _seen(profile, number, mutant)
    return violations_of(StateTracker(profile, names), iter(seen))


@pytest.mark.parametrize("profile", PROFILES)
@pytest.mark.parametrize("number", (0, 3, 9))
def test_the_reference_violates_nothing(profile: str, number: int) -> None:
    assert _violations(profile, number) == []


def _after_a_missing_version(profile: str, mutant: str) -> list[Violation]:
    """The version 0 behind a registration in whose body no data version is found."""
    topics = {"T0": (8, 8, 6, 0), "T1": (8, 8, 6, 0)}
    step = Register(broker="b0", address="a0", cluster="c0", conn="k0", topics=topics)
    zero = {"counter": 0, "timestamp": -BORN}
    steps: list[AnyStep] = [
        step,
        msgspec.structs.replace(step, form="bare"),
        QueryVersion(broker="b0", address="a0", cluster="c0", **zero),
        msgspec.structs.replace(step, topics={**topics, "T0": (4, 4, 6, 0)}, **zero),
        Route(topic="T0"),
    ]
    instance, names = parse(f"builtin:{profile}{mutant}").start(), Names(chance("missing", profile))
    try:
        return violations_of(StateTracker(profile, names), observed(instance, profile, names, steps))
    finally:
        instance.stop()


@pytest.mark.parametrize("profile", PROFILES)
def test_a_missing_data_version_equals_none_that_is_sent(profile: str) -> None:
    assert _after_a_missing_version(profile, "") == []
    assert _after_a_missing_version(profile, "?mutant=missing-data-version-is-zero") != []


@pytest.mark.parametrize(
    ("mutant", "profile", "invariant"),
    [
        ("acting-master-is-always-false", "5.3", "acting-master-follows-registration"),
        ("zone-is-not-told", "5.5", "zone-follows-registration"),
        ("first-master-is-remembered", "4.9", "master-learns-no-master"),
        ("standard-json-only-for-new-clients", "4.9", "route-can-be-read"),
    ],
)
def test_a_mutant_is_found(mutant: str, profile: str, invariant: str) -> None:
    found = [one for number in (3, 4) for one in _violations(profile, number, mutant)]
    assert invariant in {one.invariant for one in found}


@pytest.mark.parametrize("mutant", (None, "zone-is-not-told", "expired-connection-stays-open"))
@pytest.mark.parametrize("number", range(6))
def test_components_at_rest_become_what_they_are(
    mutant: str | None, number: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    names, seen = _seen("5.3", number, mutant)
    skipping, caught_up = StateTracker("5.3", names), StateTracker("5.3", names)
    for one in seen:
        found, possible, untracked = skipping.observe(one), skipping.possible, skipping.untracked
        with monkeypatch.context() as patched:
            patched.setattr(Component, "is_at_rest", lambda *_: False)
            assert caught_up.observe(one) == found
        assert (caught_up.possible, caught_up.untracked) == (possible, untracked)
    assert skipping.judged == caught_up.judged
