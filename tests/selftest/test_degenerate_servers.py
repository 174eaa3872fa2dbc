"""On a server that treats every request alike, a case passes only if its statement is true of that server."""

from __future__ import annotations

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
    "broker-role.slave-without-master-stops-asking",
}
"""Chapters, and a case, about what a Broker sends; it sends it whatever it answers."""

OF_ANY_REPLY = {
    "errors.missing-fields-keep-the-connection",
    "errors.missing-fields-of-5x-codes-keep-the-connection",
    "errors.unknown-oneway-is-not-answered",
    "errors.unregistration-without-fields-keeps-the-connection",
    "broker-topics.deletion-of-unknown-succeeds",
}
"""The connection outlives any reply, one-way requests have none, and what is not there can be deleted."""

OF_THE_PROBES = {
    "broker-client.short-heartbeats-are-known",
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

TRUE_OF = {
    "accepts-every-request": OF_ANY_REPLY,
    "serves-probes-and-refuses-others": OF_ANY_REPLY | OF_THE_PROBES,
    "serves-probes-and-drops-others": OF_SILENCE | OF_THE_PROBES,
    "serves-probes-and-closes-on-others": OF_THE_PROBES,
}


@pytest.mark.parametrize("mutant", TRUE_OF)
@pytest.mark.parametrize(
    ("role", "profile"), [("nameserver", "4.9"), ("nameserver", "5.5"), ("broker", "5.3")]
)
def test_nothing_passes_for_the_wrong_reason(mutant: str, role: str, profile: str, tmp_path: Path) -> None:
    ended = main(["check", f"builtin:{profile}?mutant={mutant}", "--role", role, "--out", str(tmp_path)])
    results = read_run(tmp_path).results
    passed = {one.case for one in results if one.verdict is Verdict.PASS}
    unjudged = ABOUT_FRAMES | OWN_REQUESTS
    judged = {one for one in passed if not {one, one.partition(".")[0]} & unjudged}
    assert judged <= TRUE_OF[mutant]
    assert not [one.case for one in results if one.verdict is Verdict.ERROR]
    assert ended == 1
