"""Roles: what is about NameServers, what about Brokers."""

from __future__ import annotations

import shutil
from pathlib import Path
from types import ModuleType

import pytest
import yaml
from test_catalogue_load import problems, statement

from harness.catalogue import catalogue, load, specs_directory
from harness.conformance import case
from harness.conformance.loading import cases
from reference_impl.mutants import MUTANTS, mutants_of


@pytest.fixture
def specs(tmp_path: Path) -> Path:
    directory = tmp_path / "specs"
    for name in ("schema", "profiles"):
        shutil.copytree(specs_directory() / name, directory / name)
    (directory / "statements" / "broker").mkdir(parents=True)
    return directory


def write(specs: Path, name: str, items: list[object]) -> None:
    (specs / "statements" / f"{name}.yaml").write_text(yaml.safe_dump(items), encoding="utf-8")


def test_a_view_of_a_role_holds_what_is_about_it(specs: Path) -> None:
    write(specs, "framing", [statement("wire.framing.a"), statement("wire.framing.b", roles=["broker"])])
    write(specs, "lease", [statement()])
    write(specs, "broker/lease", [statement("bk.lease.expires")])
    found = load(specs)
    assert [one.id for one in found.of("nameserver").statements] == ["wire.framing.a", "ns.lease.expires"]
    assert [one.id for one in found.of("broker").statements] == ["wire.framing.b", "bk.lease.expires"]
    assert found.of("broker").chapters == ("framing", "broker-lease")
    assert [one.name for one in found.of("broker").profiles] == ["4.9", "5.3"]


@pytest.mark.parametrize(
    ("place", "item", "told"),
    [
        ("lease", statement("bk.lease.expires"), "statements bk.… are those of statements/broker/"),
        ("broker/lease", statement("ns.lease.expires"), "statements bk.… are those of statements/broker/"),
        ("broker/lease", statement("bk.lease.x", profiles=["5.5"]), "profiles are: 4.9, 5.3"),
        ("lease", statement(roles=["broker"]), "does not allow ['broker']"),
    ],
)
def test_a_mistake_is_told(specs: Path, place: str, item: object, told: str) -> None:
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
    assert all(one.chapter.startswith("broker_") == (one.roles == ("broker",)) for one in MUTANTS.values())


def test_no_profile_of_a_broker_is_missing_a_statement() -> None:
    found = catalogue().of("broker")
    assert all(found.under(profile.name) for profile in found.profiles)
