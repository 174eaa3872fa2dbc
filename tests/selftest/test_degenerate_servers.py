"""On a server that treats every request alike, a case passes only if its statement is true of that server."""

from __future__ import annotations

import itertools
import re
from collections import Counter
from pathlib import Path

import pytest

from harness.cli import main
from harness.report.results import Verdict, read_run

ABOUT_FRAMES = {"framing", "connection", "json", "sanity", "endurance", "broker-sanity"}
"""Chapters whose cases any request satisfies, or that are satisfied before a request is looked at."""

OWN_REQUESTS = {
    "broker-registration",
    "broker-data-version",
    "broker-unregistration",
    "broker-light-heartbeat",
    "broker-replication.slave-comes-again",
    "broker-replication.slave-copies-from-where-it-is-set-to",
    "broker-replication.slave-leaves-a-silent-master",
    "broker-replication.slave-moves-when-its-connection-ends",
    "broker-replication.slave-reports-where-its-log-ends",
    "broker-replication.slave-takes-pushes-of-four-megabytes",
    "broker-replication.slave-waits-before-it-comes-again",
    "broker-role.master-is-asked-when-another-has-left",
    "broker-role.master-that-is-no-member-is-not-copied",
    "broker-role.new-master-in-a-group",
    "broker-role.new-master-in-a-route",
    "broker-role.offer-does-not-say-who-is-asked",
    "broker-role.slave-passes-over-an-odd-address",
    "broker-role.slave-without-master-stops-asking",
}
"""Chapters, and cases, about what a Broker sends; it sends it whatever it answers."""

OF_ANY_REPLY = {
    "errors.missing-fields-keep-the-connection",
    "errors.missing-fields-of-5x-codes-keep-the-connection",
    "errors.missing-fields-of-added-permission-keep-the-connection",
    "errors.unknown-oneway-is-not-answered",
    "errors.unregistration-without-fields-keeps-the-connection",
    "broker-topics.deletion-of-unknown-succeeds",
}
"""The connection outlives any reply, one-way requests have none, and what is not there can be deleted."""

OF_SUCCESS = {
    "broker-client.check-of-nothing-succeeds",
    "broker-client.tags-can-be-checked",
}
"""What has no effect, and can but succeed."""

OF_THE_PROBES = {
    "broker-client.short-heartbeats-are-known",
    "broker-fields.body-of-heart-beat",
    "routes.absent-topic-does-not-exist",
    "routes.unknown-topic-does-not-exist",
    "routes.unknown-topic-remark",
    "routes.wait-remark",
    "routes.zone-of-unknown-topic",
}
"""A route that does not exist and a heartbeat are what probes ask for."""

OF_SILENCE = {
    "errors.missing-code-is-zero",
    "errors.negative-code-is-unknown",
    "errors.unknown-code-is-never-served",
    "errors.unknown-oneway-is-not-answered",
}
"""Profile 4.9 allows a server not to answer codes that it does not know."""

OF_A_MEMORY_WITHOUT_BROKERS = {
    "registration.single-topic-refusal-remark",
    "registration.wrong-crc-remark",
    "topic-lists.remark-of-a-list-that-is-off",  # what is off says so without looking
    "configuration",
    "controller.has-a-port-of-its-own",
    "controller.metadata-names-the-leader",
    "controller.protected-settings-are-kept",
    "controller.settings-are-changed",
    "controller.sync-state-data-needs-names",
    "controller.unknown-brokers-are-refused",
    "errors.missing-code-is-zero",
    "errors.negative-code-is-unknown",
    "errors.unknown-code-is-answered",
    "errors.unknown-code-is-never-served",
    "errors.unknown-code-is-refused",
    "errors.unknown-code-remark-names-the-code",
    "kv.put-refusal-remark",
    "routes.wait-refuses-every-route",
    "routes.wait-remark",
    "topic-lists.enable-all-topic-list-switches-206-off",
    "topic-lists.enable-topic-list-switches-kinds-off",
    "topic-lists.cluster-without-topics-lists-nothing",
    "topic-lists.lists-have-no-other-member",
    "topic-lists.unknown-cluster-lists-nothing",
    "write-permission.unknown-broker-counts-zero",
}
"""A server that forgets brokers and values still knows its settings and its codes, and counts no topics."""

TRUE_OF = {
    "accepts-every-request": OF_ANY_REPLY | OF_SUCCESS,
    "serves-probes-and-refuses-others": OF_ANY_REPLY | OF_THE_PROBES,
    "serves-probes-and-drops-others": OF_SILENCE | OF_THE_PROBES,
    "serves-probes-and-closes-on-others": OF_THE_PROBES,
    "forgets-everything": OF_ANY_REPLY | OF_A_MEMORY_WITHOUT_BROKERS,
}


OF_BROKERS = sorted(TRUE_OF.keys() - {"forgets-everything"})


@pytest.mark.parametrize(
    ("mutant", "role", "profile"),
    [
        *itertools.product(TRUE_OF, ["nameserver"], ["5.5"]),
        *itertools.product(OF_BROKERS, ["broker"], ["5.5"]),
        *(
            pytest.param(*one, marks=pytest.mark.soak)
            for one in (
                *itertools.product(TRUE_OF, ["nameserver"], ["4.9"]),
                *itertools.product(OF_BROKERS, ["broker"], ["5.3"]),
            )
        ),
    ],
)
def test_nothing_passes_for_the_wrong_reason(mutant: str, role: str, profile: str, tmp_path: Path) -> None:
    ended = main(["check", f"builtin:{profile}?mutant={mutant}", "--role", role, "--out", str(tmp_path)])
    results = read_run(tmp_path).results
    passed = {one.case for one in results if one.verdict is Verdict.PASS}
    unjudged = ABOUT_FRAMES | OWN_REQUESTS
    judged = {one for one in passed if not {one, one.partition(".")[0]} & (unjudged | TRUE_OF[mutant])}
    assert judged == set()
    assert not [one.case for one in results if one.verdict is Verdict.ERROR]
    assert ended == 1


@pytest.mark.parametrize("profile", [pytest.param("4.9", marks=pytest.mark.soak), "5.5"])
def test_a_server_of_the_essential_alone_fails_once_for_each_code_that_it_lacks(
    profile: str, tmp_path: Path
) -> None:
    main(["check", f"builtin:{profile}?mutant=serves-the-essential-only", "--out", str(tmp_path)])
    results = read_run(tmp_path).results
    lacking = [
        one
        for one in results
        if one.verdict is Verdict.FAIL and one.failure and "REQUEST_CODE_NOT_SUPPORTED" in one.failure.actual
    ]
    times = Counter(
        re.findall(r"request type (\d+)", one.failure.actual)[0] for one in lacking if one.failure
    )
    # Cases about values begin with any of their codes.
    assert {code: number for code, number in times.items() if number > 1} == {"102": 2, "101": 2}
    assert sum(one.verdict is Verdict.BLOCKED and not one.blocked_by for one in results) == 0
    assert sum(one.verdict is Verdict.PASS for one in results) > 80


@pytest.mark.parametrize("mutant", ["controller-closes-every-connection", "controller-answers-nothing"])
def test_a_controller_that_serves_nothing_fails_by_the_owners_of_its_codes(
    mutant: str, tmp_path: Path
) -> None:
    target = f"builtin:5.5?mutant={mutant}"
    assert main(["check", target, "--select", "ns.controller", "--out", str(tmp_path)]) == 1
    results = [one for one in read_run(tmp_path).results if one.chapter == "controller"]
    failed = {one.case for one in results if one.verdict is Verdict.FAIL}
    assert failed == {
        "controller.id-belongs-to-who-took-it",
        "controller.next-id-goes-up",
        "controller.settings-are-changed",
        "controller.unknown-brokers-are-refused",
    }
    blocked = [one for one in results if one.verdict is Verdict.BLOCKED]
    assert len(blocked) == len(results) - len(failed) - 1
    assert all(one.blocked_by for one in blocked)
