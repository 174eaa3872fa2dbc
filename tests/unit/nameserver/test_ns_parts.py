"""How mutants are made, and that they are made well."""

from __future__ import annotations

import re
from typing import Any, get_args

import pytest
from ns_driver import Driver

from reference_impl.mutants import MUTANTS, apply, mutant, mutants_of
from reference_impl.nameserver import PARTS
from reference_impl.nameserver import parts as parts_module
from reference_impl.nameserver.parts import PartName, Parts
from reference_impl.nameserver.routes import RouteTable
from reference_impl.nameserver.state import LiveRecord


def lease_ended(self: RouteTable, record: LiveRecord, now: int) -> bool:
    return False


def test_an_override_replaces_one_decision() -> None:
    changed = PARTS["5.3"].override("routes", lease_ended)
    ns = Driver("5.3", parts=changed)
    ns.register(ext={"heartbeatTimeoutMillis": "1"})
    ns.advance(100)
    assert ns.addresses() is not None
    assert PARTS["5.3"].routes.lease_ended is RouteTable.lease_ended
    assert changed.routes.register is PARTS["5.3"].routes.register


def test_an_override_of_nothing_is_refused() -> None:
    def no_such_decision(self: object) -> None: ...

    def told(self: object, broker: object) -> None: ...

    with pytest.raises(TypeError, match="no method 'no_such_decision'"):
        PARTS["4.9"].override("routes", no_such_decision)
    with pytest.raises(
        TypeError, match="takes self, broker, registration, but the override takes self, broker"
    ):
        PARTS["4.9"].override("routes", told)


def test_every_decision_that_is_listed_exists() -> None:
    listed = 0
    part = ""
    for line in (parts_module.__doc__ or "").splitlines():
        if found := re.match(r'part "(\w+)"', line):
            part = found[1]
        elif part and line.startswith("    "):
            profiles = ("5.3",) if "5.3: " in line else ("4.9", "5.3")
            for name in re.findall(r"(?:^|; |5\.3: |\), )([a-z_]+)\(", re.split(r"\s{3,}", line.strip())[0]):
                listed += 1
                assert all(hasattr(getattr(PARTS[profile], part), name) for profile in profiles), (part, name)
    assert listed > 90


@pytest.mark.parametrize(
    ("name", "profile"),
    [(name, profile) for name, found in mutants_of("nameserver").items() for profile in found.profiles],
)
def test_every_mutant_can_be_built(name: str, profile: str) -> None:
    sound = PARTS[profile]
    faulty = apply(name, sound)
    parts = ("profile", *get_args(PartName))
    assert [part for part in parts if getattr(faulty, part) is not getattr(sound, part)]
    assert Driver(profile, mutant=name).endpoint is not None


def test_names_are_given_once() -> None:
    def same(parts: Parts) -> Parts:
        return parts

    name = next(iter(MUTANTS))
    before: dict[str, Any] = dict(MUTANTS)
    with pytest.raises(ValueError, match="exists already"):
        mutant(name, "Again.")(same)
    with pytest.raises(ValueError, match="profiles"):
        mutant("new", "For no profile.", profiles=("6.0",))(same)
    assert before == MUTANTS


def test_a_mutant_of_another_profile_is_refused() -> None:
    newer = next(name for name, found in MUTANTS.items() if found.profiles == ("5.3", "5.5"))
    with pytest.raises(ValueError, match=r"for profile 5\.3 and 5\.5, not 4\.9"):
        apply(newer, PARTS["4.9"])
