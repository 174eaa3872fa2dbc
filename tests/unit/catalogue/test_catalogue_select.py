"""Choosing statements, counting coverage, guessing what was meant."""

from __future__ import annotations

import msgspec
import pytest

from harness.catalogue import Level, Source, Statement, coverage, did_you_mean, matches


def statement(identifier: str, level: Level = "MUST", tags: tuple[str, ...] = (), **more: str) -> Statement:
    return Statement(
        id=identifier,
        chapter=identifier.split(".")[1],
        level=level,
        profiles=("5.3",),
        text="Something MUST hold.",
        stimulus="x",
        observable="y",
        source=(Source("tag", "path.java"),),
        issues=("apache/rocketmq#5374",) if "lifecycle" in tags else (),
        tags=tags,
        untestable=more.get("untestable"),
    )


EXPIRES = statement("ns.lease.expires", tags=("lifecycle",))
RENEWS = statement("ns.lease.renews-by-heartbeat", "SHOULD")
OPAQUE = statement("wire.framing.opaque-is-echoed", "MAY")
ALL = [EXPIRES, RENEWS, OPAQUE]


@pytest.mark.parametrize(
    ("expression", "chosen"),
    [
        ("ns.lease.expires", [EXPIRES]),
        ("ns.lease", [EXPIRES, RENEWS]),
        ("ns.lease.", [EXPIRES, RENEWS]),
        ("ns", [EXPIRES, RENEWS]),
        ("lease", [EXPIRES, RENEWS]),
        ("ns.le", []),
        ("ns.lease.exp", []),
        ("*.renews-*", [RENEWS]),
        ("*", ALL),
        ("wire.*", [OPAQUE]),
        ("tag:lifecycle", [EXPIRES]),
        ("tag:life", []),
        ("tag:issue-5374", [EXPIRES]),
        ("tag:issue-537", []),
        ("nothing.matches", []),
        ("", []),
    ],
)
def test_expressions(expression: str, chosen: list[Statement]) -> None:
    assert [one for one in ALL if matches(one, expression)] == chosen


def test_a_chapter_of_brokers_needs_no_role() -> None:
    heartbeat = msgspec.structs.replace(statement("bk.sanity.heartbeat"), chapter="broker-sanity")
    assert all(matches(heartbeat, one) for one in ("broker-sanity", "sanity", "bk.sanity"))
    assert not matches(heartbeat, "broker")


def test_nearest_names_come_first() -> None:
    known = ["ns.lease.expires", "ns.lease.renews", "wire.framing.opaque"]
    assert did_you_mean("ns.lease.expire", known) == "did you mean ns.lease.expires or ns.lease.renews?"
    assert did_you_mean("opaque", known) == "did you mean wire.framing.opaque?"
    assert did_you_mean("zzz", known) == did_you_mean("", known) == ""
    assert did_you_mean("zzz", known, "there are three") == "there are three"


def test_coverage_counts_each_statement_once_and_leaves_none_out() -> None:
    unsaid = statement("ns.kv.unsaid", untestable="needs a full disk")
    covered = coverage(
        [*ALL, unsaid], {"a": ["ns.lease.expires", "not.in.catalogue"], "b": ["ns.lease.expires"]}
    )
    assert covered.total == 4
    assert covered.proven == {"ns.lease.expires": ("a", "b")}
    assert covered.untestable == ("ns.kv.unsaid",)
    assert covered.unproven == ("ns.lease.renews-by-heartbeat", "wire.framing.opaque-is-echoed")
    assert len(covered.proven) + len(covered.untestable) + len(covered.unproven) == covered.total
