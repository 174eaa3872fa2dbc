"""Roles: what is about NameServers, what about Brokers."""

from __future__ import annotations

from pathlib import Path
from types import ModuleType

import pytest
from test_catalogue_load import empty, problems, statement, write

from harness.catalogue import catalogue, load
from harness.conformance import case
from harness.conformance.loading import cases
from reference_impl.mutants import MUTANTS, mutants_of


@pytest.fixture
def specs(tmp_path: Path) -> Path:
    return empty(tmp_path)


def test_a_view_of_a_role_holds_what_is_about_it(specs: Path) -> None:
    write(specs, "framing", [statement("wire.framing.a"), statement("wire.framing.b", roles=["broker"])])
    write(specs, "lease", [statement()])
    write(specs, "broker/lease", [statement("bk.lease.expires")])
    found = load(specs)
    assert [one.id for one in found.of("nameserver").statements] == ["wire.framing.a", "ns.lease.expires"]
    assert [one.id for one in found.of("broker").statements] == ["wire.framing.b", "bk.lease.expires"]
    assert found.of("broker").chapters == ("framing", "broker-lease")
    assert [one.name for one in found.of("broker").profiles] == ["4.9", "5.3", "5.5"]


@pytest.mark.parametrize(
    ("place", "item", "told"),
    [
        ("lease", statement("bk.lease.expires"), "statements/nameserver/ holds only statements ns.…, wire.…"),
        ("broker/lease", statement("ns.lease.expires"), "statements/broker/ holds only statements bk.…"),
        ("broker/lease", statement("bk.lease.x", since="5.6"), "profiles are: 4.9, 5.3, 5.5"),
        ("shared/lease", statement("ns.lease.expires"), "statements/shared/ holds only statements wire.…"),
        ("lease", statement(roles=["broker"]), 'does not allow ["broker"]'),
    ],
)
def test_a_mistake_is_reported(specs: Path, place: str, item: object, told: str) -> None:
    write(specs, place, [item])
    assert told in problems(specs)[0]


def test_a_case_is_for_the_roles_that_its_argument_says() -> None:
    module = ModuleType("harness.conformance.broker.test_probe_of_roles")

    def test_one(bk: object) -> None:
        """One."""

    def test_both(peer: object) -> None:
        """Both."""

    for function in (test_one, test_both):
        function.__module__ = module.__name__
        setattr(module, function.__name__, case("wire.framing.a", kills=["m"])(function))
    assert [one.name for one in cases([module], role="broker")] == [
        "broker-probe-of-roles.one",
        "broker-probe-of-roles.both",
    ]
    assert [one.name for one in cases([module], role="nameserver")] == ["broker-probe-of-roles.both"]


def test_every_mutant_has_a_role() -> None:
    assert {*mutants_of("nameserver"), *mutants_of("broker")} == set(MUTANTS)


def test_no_profile_of_a_broker_is_missing_a_statement() -> None:
    found = catalogue().of("broker")
    assert all(found.under(profile.name) for profile in found.profiles)
