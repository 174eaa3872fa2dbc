"""A server that tells one lie has one cause, however many cases notice it."""

from __future__ import annotations

import shlex
import sys
from pathlib import Path

import pytest

from harness.cli import main
from harness.report.cause_words import explained
from harness.report.results import read_run

PROXY = Path(__file__).with_name("lying_proxy.py")
LIES = {
    "no-ha-address": ("registration", "The answer to 103 REGISTER_BROKER lacks extFields.haServerAddr"),
    "another-number": (
        "errors,kv,registration",
        "is answered INVALID_PARAMETER (29) instead of SYSTEM_ERROR (1)",
    ),
    "one-more-bit": (
        "write-permission,topic-registration",
        "The answer to 105 GET_ROUTEINFO_BY_TOPIC has a wrong value of body.queueDatas.*.perm",
    ),
}


@pytest.mark.parametrize("lie", LIES)
def test_a_lie_is_one_cause(lie: str, tmp_path: Path) -> None:
    selected, title = LIES[lie]
    command = f"{shlex.quote(sys.executable)} {shlex.quote(str(PROXY))} {lie} {{port}} {{dir}}"
    main(["check", f"exec:{command}", "--profile", "5.3", "--select", selected, "--out", str(tmp_path)])
    found = explained(read_run(tmp_path))
    assert len(found.causes) == 1, [one.title for one in found.causes]
    assert found.causes[0].title.endswith(title)
    assert found.causes[0].fails + found.causes[0].blocks > 1
