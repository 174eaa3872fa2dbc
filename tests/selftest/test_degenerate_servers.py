"""On servers that treat every request alike, only those cases pass whose statement is true of such a server."""

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
}
"""Chapters about what a Broker sends; it sends it whatever it answers."""

KEEPS_CONNECTIONS = {
    "errors.missing-fields-keep-the-connection",
    "errors.missing-fields-of-5x-codes-keep-the-connection",
    "errors.unknown-oneway-is-not-answered",
    "errors.unregistration-without-fields-keeps-the-connection",
}
"""Whatever the reply is, the connection must outlive it, and a one-way request has none."""

TRUE_OF = {
    "accepts-every-request": {
        *KEEPS_CONNECTIONS,
        "broker-topics.deletion-of-unknown-succeeds",
        "broker-role.slave-without-master-stops-asking",
    },
    "serves-one-and-refuses-others": KEEPS_CONNECTIONS,
    "serves-one-and-drops-others": {"errors.unknown-oneway-is-not-answered"},
    "serves-one-and-closes-on-others": set[str](),
}


@pytest.mark.parametrize("mutant", TRUE_OF)
@pytest.mark.parametrize(
    ("role", "profile"), [("nameserver", "4.9"), ("nameserver", "5.5"), ("broker", "5.3")]
)
def test_nothing_passes_for_the_wrong_reason(mutant: str, role: str, profile: str, tmp_path: Path) -> None:
    ended = main(["check", f"builtin:{profile}?mutant={mutant}", "--role", role, "--out", str(tmp_path)])
    results = read_run(tmp_path).results
    passed = {one.case for one in results if one.verdict is Verdict.PASS}
    judged = {case for case in passed if case.partition(".")[0] not in ABOUT_FRAMES | OWN_REQUESTS}
    assert judged <= TRUE_OF[mutant]
    assert not [one.case for one in results if one.verdict is Verdict.ERROR]
    assert ended == 1
