"""Random programs on the reference: nothing is found on a right one, and a wrong one is found."""

from collections.abc import Iterator

import pytest
from playing import Stage, violations_of

from harness.differential.generate import round_of
from harness.model import Knowledge, Observed, Violation
from harness.program.chance import chance
from harness.program.frames import Names
from harness.targets import parse

_VERSIONS = {"4.9": 409, "5.3": 479, "5.5": 513}


def _violations(profile: str, number: int, mutant: str | None = None) -> list[Violation]:
    target = parse(f"builtin:{profile}" + (f"?mutant={mutant}" if mutant else ""))
    instance = target.start()
    names = Names(chance("model", profile, number))
    stage = Stage(instance, names, _VERSIONS[profile])
    program = round_of("model", number, profile=profile, quirks=())
    observed: Iterator[Observed] = stage.play(program.steps)
    found = violations_of(Knowledge(profile, names), observed)
    instance.stop()
    return found


@pytest.mark.parametrize("profile", sorted(_VERSIONS))
@pytest.mark.parametrize("number", (0, 1, 2, 3, 4, 5, 9, 119))
def test_the_reference_violates_nothing(profile: str, number: int) -> None:
    assert _violations(profile, number) == []


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
    found = [one for number in (3, 4, 5, 6) for one in _violations(profile, number, mutant)]
    assert invariant in {one.invariant for one in found}
