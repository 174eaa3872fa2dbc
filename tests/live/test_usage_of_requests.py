"""`specs/usage.yaml` says what real peers send.

`RMQ_WRITE_USAGE=1` writes the file anew from what is recorded.
"""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from clusters import VERSIONS, missing
from usage import recorded

from harness.catalogue.usage import PEERS, usage
from harness.targets import TargetError

pytestmark = [pytest.mark.live, pytest.mark.soak]

FILE = Path(__file__).parents[2] / "specs" / "usage.yaml"
HEAD = """\
# Who sends which request in ordinary work, from recorded traffic: the code, who sends it, and those of which
# lines. Made by `RMQ_WRITE_USAGE=1 pytest tests/live/test_usage_of_requests.py`.
# What the peers do is in tests/live/usage.py.
"""


def test_what_real_peers_send_is_known(tmp_path: Path) -> None:
    found: dict[str, dict[int, dict[str, list[str]]]] = {"nameserver": {}, "broker": {}}
    for version, line in VERSIONS.items():
        (tmp_path / version).mkdir()
        try:
            seen = recorded(version, tmp_path / version)
        except TargetError as problem:
            missing(problem)
        for role, codes in seen.items():
            for code, peers in codes.items():
                for peer in peers:
                    found[role].setdefault(code, {}).setdefault(peer, []).append(line)
    text = rendered(found)
    if os.environ.get("RMQ_WRITE_USAGE") == "1":
        FILE.write_text(text, encoding="utf-8")
        return
    known = usage()
    new = [
        f"{role} {code}: {peer} {line}"
        for role, codes in found.items()
        for code, by in codes.items()
        for peer, lines in by.items()
        for line in lines
        if line not in known.of(role, code).get(peer, ())  # type: ignore[arg-type]
    ]
    assert not new, f"specs/usage.yaml does not know: {new}"


def rendered(found: dict[str, dict[int, dict[str, list[str]]]]) -> str:
    lines = [HEAD + "recorded: {" + ", ".join(f'"{line}": {one}' for one, line in VERSIONS.items()) + "}"]
    lines.append("requests:")
    for role, codes in found.items():
        lines.append(f"  {role}:")
        for code in sorted(codes):
            by = codes[code]
            said = (f"{peer}: [{', '.join(repr(one) for one in by[peer])}]" for peer in PEERS if peer in by)
            lines.append(f"    {code}: {{{', '.join(said)}}}")
    return "\n".join(lines).replace("'", '"') + "\n"
