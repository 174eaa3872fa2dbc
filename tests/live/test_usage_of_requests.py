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
# lines; and who sends it one-way, at least at times.
# Made by `RMQ_WRITE_USAGE=1 pytest tests/live/test_usage_of_requests.py`.
# What the peers do is in tests/live/usage.py.
"""


def test_what_real_peers_send_is_known(tmp_path: Path) -> None:
    found: dict[str, dict[int, dict[str, list[str]]]] = {"nameserver": {}, "broker": {}}
    one_way: dict[str, dict[int, set[str]]] = {"nameserver": {}, "broker": {}}
    for version, line in VERSIONS.items():
        (tmp_path / version).mkdir()
        try:
            traffic = recorded(version, tmp_path / version)
        except TargetError as problem:
            missing(problem)
        for role, codes in traffic.requests.items():
            for code, peers in codes.items():
                for peer in peers:
                    found[role].setdefault(code, {}).setdefault(peer, []).append(line)
        for role, codes in traffic.one_way.items():
            for code, peers in codes.items():
                one_way[role].setdefault(code, set()).update(peers)
    text = rendered(found, one_way)
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
    new += [
        f"{role} {code}: {peer} one-way"
        for role, codes in one_way.items()
        for code, peers in codes.items()
        for peer in peers
        if peer not in known.one_way_of(role, code)  # type: ignore[arg-type]
    ]
    assert not new, f"specs/usage.yaml does not know: {new}"


def rendered(
    found: dict[str, dict[int, dict[str, list[str]]]], one_way: dict[str, dict[int, set[str]]]
) -> str:
    lines = [HEAD + "recorded: {" + ", ".join(f'"{line}": {one}' for one, line in VERSIONS.items()) + "}"]
    lines.append("requests:")
    for role, codes in found.items():
        lines.append(f"  {role}:")
        for code in sorted(codes):
            by = codes[code]
            said = (f"{peer}: [{', '.join(repr(one) for one in by[peer])}]" for peer in PEERS if peer in by)
            lines.append(f"    {code}: {{{', '.join(said)}}}")
    lines.append("one_way:")
    for role, peers_of in one_way.items():
        lines.append(f"  {role}:")
        for code in sorted(peers_of):
            lines.append(f"    {code}: [{', '.join(peer for peer in PEERS if peer in peers_of[code])}]")
    return "\n".join(lines).replace("'", '"') + "\n"
