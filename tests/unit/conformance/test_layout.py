"""Chapters and keys of cases, from the places where they live."""

from __future__ import annotations

import pytest

from harness.catalogue import catalogue
from harness.conformance.layout import file_of, key_of_node, place_of
from harness.conformance.loading import cases


@pytest.mark.parametrize(
    ("module", "place"),
    [
        ("nameserver.test_lease", ("lease", "ns.lease")),
        ("nameserver.test_topic_lists", ("topic-lists", "ns.topic-lists")),
        ("nameserver.registration.test_queues", ("registration", "ns.registration")),
        ("broker.test_pull", ("broker-pull", "bk.pull")),
        ("shared.test_framing", ("framing", "wire.framing")),
        ("test_lease", None),
        ("client.test_lease", None),
        ("nameserver.settings", None),
        ("nameserver.registration.deep.test_queues", None),
    ],
)
def test_the_place_says_chapter_and_statements(module: str, place: tuple[str, str] | None) -> None:
    assert place_of(f"harness.conformance.{module}") == place


def test_only_modules_of_the_package_hold_cases() -> None:
    assert place_of("nameserver.test_lease") is None
    assert place_of("elsewhere.harness.conformance.nameserver.test_lease") is None


def test_where_a_case_for_a_statement_goes() -> None:
    file = "harness/conformance/{}/test_data_version.py"
    assert file_of("data-version", "ns.data-version.x") == file.format("nameserver")
    assert file_of("broker-data-version", "bk.data-version.x") == file.format("broker")


@pytest.mark.parametrize(
    "node",
    [
        "nameserver/test_lease.py::test_x",
        "harness/conformance/nameserver/test_lease.py::test_x",
        "../../lib/python/harness/conformance/nameserver/test_lease.py::test_x@concurrent",
    ],
)
def test_the_key_of_a_node(node: str) -> None:
    assert key_of_node(node) == "nameserver/test_lease.py::test_x"


def test_a_node_outside_of_the_cases_has_a_key_of_its_own() -> None:
    assert key_of_node("tests/test_mine.py::test_x") == "test_mine.py::test_x"


@pytest.mark.parametrize("profile", ["4.9", "5.3", "5.5"])
def test_an_essential_case_of_nameservers_proves_nothing_that_is_needed_less(profile: str) -> None:
    """Otherwise a server that does all that is essential fails `--class essential`."""
    known = catalogue()
    mixed = [
        one.name
        for one in cases()
        if not one.chapter.startswith("broker-")
        and (proven := one.statements(known, profile))
        and one.class_(known, profile) == "essential"
        and any(other.level == "MUST" and other.class_ != "essential" for other in proven)
    ]
    assert mixed == []
