"""Known servers and their quirks: which releases, what explains a failure, and what does not load."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import yaml
from test_catalogue_load import empty, problems, statement, write

from harness.catalogue import Seen, VersionRange, catalogue, explanation, load
from harness.conformance.matchers import show


def quirk(**changes: Any) -> dict[str, Any]:
    return {
        "id": "quirk.never-expires",
        "statements": ["ns.lease.expires"],
        "versions": [{"first": "5.0.0", "last": "5.3.3"}],
        "instead": "A broker stays for ever.",
        "seen": [{"case": "lease.expires", "actual": r"reply SUCCESS \(0\)"}],
        "source": ["RouteInfoManager (5.3.3)"],
        "observed": ["5.3.3"],
        **changes,
    }


@pytest.fixture
def specs(tmp_path: Path) -> Path:
    directory = empty(tmp_path)
    (directory / "targets").mkdir()
    write(directory, "lease", [statement()])
    return directory


def server(specs: Path, *quirks: dict[str, Any]) -> None:
    made = {"title": "A server", "text": "One of many.", "quirks": list(quirks)}
    file(specs, "server", made)


def file(specs: Path, name: str, said: dict[str, Any]) -> None:
    directory = specs / "targets" / "some-server"
    directory.mkdir(exist_ok=True)
    (directory / f"{name}.yaml").write_text(yaml.safe_dump(said), encoding="utf-8")


@pytest.mark.parametrize(
    ("version", "inside"),
    [
        ("4.9.8", False),
        ("5.0.0", True),
        ("5.3.3", True),
        ("5.3.3-SNAPSHOT", True),
        ("5.3.4", False),
        ("5.10.0", False),
        ("", False),
    ],
)
def test_versions_are_compared_by_their_numbers(version: str, inside: bool) -> None:
    assert (version in VersionRange(first="5.0.0", last="5.3.3")) is inside


def test_a_range_without_end_has_every_later_version() -> None:
    assert "5.10.0" in VersionRange(first="5.9.0")
    assert str(VersionRange(first="5.9.0")) == "5.9.0 and later"
    assert str(VersionRange(first="5.9.0", last="5.9.0")) == "5.9.0"
    assert str(VersionRange(first="5.0.0", last="5.3.3")) == "5.0.0 to 5.3.3"


@pytest.mark.parametrize(
    ("case", "expected", "actual", "matches"),
    [
        ("kv.a", "reply X", "reply SUCCESS (0), {0: 1}", True),
        ("kv.b", "reply X", "reply SUCCESS (0), {0: 1}", False),
        ("kv.a", "reply Y", "reply SUCCESS (0), {0: 1}", False),
        ("kv.a", "reply X", "reply SUCCESS (0), {0: 1}, and more", False),
        ("kv.a", "reply X", "so a reply SUCCESS (0), {0: 1}", False),
        ("kv.a", "reply X", "reply SUCCESS (0), {0: 1}\n#7 ← a stray frame", False),
    ],
)
def test_a_pattern_is_for_the_whole_of_what_was_seen(
    case: str, expected: str, actual: str, matches: bool
) -> None:
    seen = Seen(case="kv.a", actual=r"reply SUCCESS \(0\), .*\}", expected="reply X")
    assert seen.matches(case, expected, actual) is matches


def test_a_server_and_its_quirks(specs: Path) -> None:
    server(specs, quirk())
    found = load(specs).server("some-server")
    assert found is not None
    only = found.quirks_of("5.3.3")[0]
    assert only.cases == ("lease.expires",)
    assert found.quirks_of("5.4.0") == ()
    assert explanation(found.quirks, "lease.expires", "anything", "reply SUCCESS (0)") is only
    assert explanation(found.quirks, "lease.expires", "anything", "reply SYSTEM_ERROR (1)") is None


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"statements": ["ns.lease.unknown"]}, "ns.lease.unknown is not in the catalogue"),
        ({"versions": [{"first": "5.3.3", "last": "5.0.0"}]}, "versions end with 5.0.0 before 5.3.3"),
        ({"observed": ["4.9.8"]}, "observed on 4.9.8, which is in none of its versions"),
        ({"seen": [{"case": "lease.expires", "actual": "("}]}, "'(' is no regular expression"),
        (
            {"seen": [{"case": "lease.expires"}]},
            'quirk.never-expires: seen.0: "actual" is a required property',
        ),
        ({"id": "never-expires"}, 'never-expires: id: "never-expires" does not match'),
        ({"why": "?"}, "'why' was unexpected"),
        ({"statements": []}, "cases see it, but it breaks no statement"),
        ({"when": {"holds": ["outranked"]}}, 'when: "steps" is a required property'),
        ({"when": {"steps": ["time"], "taints": "all"}}, 'when.taints: "all" is not one of'),
    ],
)
def test_what_is_wrong_with_a_quirk_is_said(specs: Path, changes: dict[str, Any], said: str) -> None:
    item = quirk(**changes)
    server(specs, item)
    assert [
        line for line in problems(specs) if "specs/targets/some-server/server.yaml" in line and said in line
    ]


def test_an_id_is_used_once(specs: Path) -> None:
    server(specs, quirk(), quirk())
    assert "this id is already used" in "\n".join(problems(specs))


def test_the_files_of_a_server_are_joined(specs: Path) -> None:
    server(specs, quirk())
    file(specs, "more", {"quirks": [quirk(id="quirk.expires-late")]})
    found = load(specs).server("some-server")
    assert found is not None
    assert [one.id for one in found.quirks] == ["quirk.expires-late", "quirk.never-expires"]


def test_a_server_has_one_title_and_all_that_is_needed(specs: Path) -> None:
    file(specs, "one", {"title": "A server", "quirks": []})
    file(specs, "two", {"title": "A server"})
    said = "\n".join(problems(specs))
    assert "specs/targets/some-server/two.yaml: 'title' is said by another file too; say it once" in said
    assert "specs/targets/some-server: no file of it says 'text'; say it in one of them" in said


def test_the_shipped_quirks_cover_every_line_of_apache() -> None:
    apache = catalogue().server("apache-nameserver")
    assert apache is not None
    for version in ("4.9.8", "5.3.3", "5.5.0"):
        observed = [one for one in apache.quirks_of(version) if version in one.observed]
        assert len(observed) >= 8, version


@pytest.mark.parametrize("groups", [1, 100])
def test_a_quirk_is_seen_however_many_groups_a_broker_has(groups: int) -> None:
    """What a case shows of a long table is cut in the middle, the name of the next table with it."""
    apache = catalogue().server("apache-broker")
    assert apache is not None
    tables = {
        "dataVersion": {"counter": 45, "stateVersion": 0, "timestamp": 1795865350112},
        "forbiddenTable": {f"G-{number}": {"T": 4} for number in range(groups)},
        "subscriptionGroupTable": {f"G-{number}": {"groupName": f"G-{number}"} for number in range(groups)},
    }
    seen = f"reply SUCCESS (0), body: {show(tables)}"
    cases = (
        "broker-administration.deleted-group-is-gone",
        "broker-administration.what-is-allowed-is-one-topic",
    )
    for case in cases:
        found = [one for quirk in apache.quirks_of("5.5.0") for one in quirk.seen if one.case == case]
        assert [one.matches(case, "", seen) for one in found] == [True]
    refused = "reply SYSTEM_ERROR (1)"
    assert not any(
        one.matches(case, "", refused) for quirk in apache.quirks for one in quirk.seen for case in cases
    )
