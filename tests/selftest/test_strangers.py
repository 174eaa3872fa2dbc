"""Servers of strangers, wrong in known ways: the report names each fault as one cause.

`strangers/README.md` is the table. The servers share no code with the harness or the reference.
"""

from __future__ import annotations

import json
import re
import shutil
import sys
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from harness.cli import main

HERE = Path(__file__).parent / "strangers"
SPARE = 1
"""Causes that a report may show beyond the faults of a server."""


class Stranger(NamedTuple):
    """How it is started, and a pattern of the title of each cause."""

    interpreter: str
    file: str
    faults: dict[str, str]
    """By the fault that is chosen; `-` stands before those that the server always has."""


NO_TLS = {"-no-tls": r"under TLS.* closes the connection"}
STRANGERS = {
    "refuses-with-29": Stranger(
        sys.executable,
        "nameserver.py",
        {
            "no-322": r"^322 QUERY_DATA_VERSION is (refused|answered)",
            "error-29": r"INVALID_PARAMETER \(29\) instead of the code of its failure",
            **NO_TLS,
        },
    ),
    "strict-and-silent": Stranger(
        sys.executable,
        "nameserver.py",
        {
            "strict-body": r"^103 REGISTER_BROKER \(body without .*\) is refused",
            "silent-unknown": r"gets no answer instead of REQUEST_CODE_NOT_SUPPORTED",
            "perm-7": r"wrong value of body\.queueDatas\.\*\.perm",
            **NO_TLS,
        },
    ),
    "forgetful": Stranger(
        sys.executable,
        "nameserver.py",
        {
            "no-ha-address": r"lacks extFields\.haServerAddr",
            "kv-forgets": r"^219 GET_KVLIST_BY_NAMESPACE is refused with QUERY_NOT_FOUND",
            "late-unregister": r"still has .* should be gone|has too much in body\.brokerAddrTable",
            **NO_TLS,
        },
    ),
    "careless-with-frames": Stranger(
        sys.executable,
        "nameserver.py",
        {
            "ext-without-quotes": r"does not write values of extFields as JSON strings",
            "first-of-a-read": r"^Of several requests that arrive together, not all are answered",
            **NO_TLS,
        },
    ),
    "counts-its-length": Stranger(
        sys.executable,
        "nameserver.py",
        {"length-counts-itself": r"is answered with a frame whose lengths are wrong"},
    ),
    "careless-with-bytes": Stranger(
        "node",
        "node/nameserver.js",
        {
            "latin1-bodies": r"^The body of the answer to .* is not in UTF-8",
            "type-byte-left-out": r"^Every request \(header in binary form\) .* bytes that are no command",
            "timestamp-forgotten": r"^The answer to 322 .* wrong value of extFields\.changed",
            **NO_TLS,
        },
    ),
    "careless-with-tables": Stranger(
        "node",
        "node/nameserver.js",
        {
            "key-without-cluster": r"^The answer to 322 .* wrong value of extFields\.changed",
            "filter-servers-stay": r"^The answer to 105 .* too much in body\.filterServerTable",
            "slave-or": r"^105 GET_ROUTEINFO_BY_TOPIC is accepted instead of TOPIC_NOT_EXIST",
            "zone-as-typed": r"^The answer to 105 .*\(__ZONE_MODE true\)",
            **NO_TLS,
        },
    ),
}


@pytest.mark.soak
@pytest.mark.parametrize("name", STRANGERS)
def test_each_fault_is_one_cause(name: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    stranger = STRANGERS[name]
    if shutil.which(stranger.interpreter) is None:
        pytest.skip(f"{stranger.interpreter} is not on the PATH: install Node.js 18 or newer to run {name}")
    found = causes(stranger, tmp_path, capsys)
    unexplained = [title for title in found if not map_to(stranger, title)]
    assert len(unexplained) <= SPARE, unexplained
    for fault, pattern in stranger.faults.items():
        assert sum(bool(re.search(pattern, title)) for title in found) == 1, (fault, found)


def map_to(stranger: Stranger, title: str) -> list[str]:
    """The faults that a cause is about."""
    return [fault for fault, pattern in stranger.faults.items() if re.search(pattern, title)]


def causes(stranger: Stranger, out: Path, capsys: pytest.CaptureFixture[str]) -> list[str]:
    """The titles of the causes that `check` reports."""
    faults = " ".join(f"--fault {fault}" for fault in stranger.faults if not fault.startswith("-"))
    command = f"{stranger.interpreter} {HERE / stranger.file} --port {{port}} --kv {{dir}}/kv.json {faults}"
    arguments = ["check", f"exec:{command}", "--profile", "5.3", "--fast", "--exclude", "configuration"]
    arguments += ["--out", str(out), "--json"]
    assert main(arguments) == 1
    report: dict[str, Any] = json.loads(capsys.readouterr().out)
    assert report["conclusion"] == "NOT CONFORMANT"
    return [cause["title"] for cause in report["causes"]["list"]]
