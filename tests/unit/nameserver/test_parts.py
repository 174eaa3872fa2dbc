"""How mutants are made, and that they are made well."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pytest

from reference_impl.mutants import MUTANTS, apply, mutant, mutants_of
from reference_impl.nameserver import PARTS
from reference_impl.nameserver.routes import RouteTable
from reference_impl.nameserver.routes_53 import RouteTable53
from reference_impl.nameserver.state import LiveRecord

from .driver import Driver


def never(original: object, self: RouteTable, record: LiveRecord, now: int) -> bool:
    return False


def test_an_override_replaces_one_decision() -> None:
    changed = PARTS["5.3"].override(RouteTable.lease_ended, never)
    ns = Driver("5.3", parts=changed)
    ns.register(ext={"heartbeatTimeoutMillis": "1"})
    ns.advance(100)
    assert ns.addresses() is not None
    assert PARTS["5.3"]["routes"].lease_ended is RouteTable.lease_ended
    assert changed["routes"].register is PARTS["5.3"]["routes"].register


def test_a_method_of_a_base_class_stands_for_that_of_the_line() -> None:
    given: list[object] = []

    def updates(
        original: object, self: object, known: object, *, first: bool, moved: bool, changed: bool
    ) -> bool:
        given.append(original)
        return True

    changed = PARTS["5.3"].override(RouteTable.updates, updates)
    Driver("5.3", parts=changed).register()
    assert changed["routes"].__base__ is RouteTable53
    assert set(given) == {PARTS["5.3"]["routes"].updates}


def test_an_override_of_nothing_is_refused() -> None:
    def told(original: object, self: object, broker: object) -> None: ...

    with pytest.raises(TypeError, match=r"test_an_override_replaces_one_decision belongs to 0 of the parts"):
        PARTS["4.9"].override(test_an_override_replaces_one_decision, told)
    with pytest.raises(
        TypeError,
        match=r"told takes \(original, self, broker, registration\), not \(original, self, broker\)",
    ):
        PARTS["4.9"].override(RouteTable.told, told)


def test_a_mutant_is_checked_when_it_is_defined() -> None:
    def entered(
        name: str, profiles: Sequence[str] = ("4.9",), method: object = RouteTable.lease_ended
    ) -> None:
        never.__module__ = "reference_impl.mutants.nameserver.tests"
        mutant(method, "A fault.", profiles, name=name)(never)

    before: dict[str, Any] = dict(MUTANTS)
    with pytest.raises(ValueError, match="exists already"):
        entered(next(iter(MUTANTS)))
    with pytest.raises(ValueError, match="profiles"):
        entered("new", profiles=("6.0",))
    with pytest.raises(TypeError, match=r"RouteTable\.expired takes \(original, self, now\)"):
        entered("new", method=RouteTable.expired)
    assert before == MUTANTS


def test_a_mutant_of_another_profile_is_refused() -> None:
    newer = next(name for name, one in mutants_of("nameserver").items() if one.profiles == ("5.3", "5.5"))
    with pytest.raises(ValueError, match=r"for profile 5\.3 and 5\.5, not 4\.9"):
        apply(newer, PARTS["4.9"])
