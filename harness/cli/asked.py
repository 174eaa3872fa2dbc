"""What `fuzz`, `diff` and `campaign` are asked for alike: targets, whose rules hold, whose quirks count,
kinds of programs.

Mistakes end in `Usage`; nothing is started.
"""

from __future__ import annotations

import argparse
from collections.abc import Sequence

from harness.catalogue import (
    Quirk,
    Role,
    UnknownServer,
    default_profile,
    did_you_mean,
    judged_as,
    known_quirks,
    profiles,
)
from harness.cli.parser import Usage
from harness.engine.kinds import KINDS
from harness.targets import Target, TargetError, parse


def target_of(command: str, uri: str, options: argparse.Namespace, role: Role = "nameserver") -> Target:
    """The target of a URI, a server of a role. One that is not on this machine needs ``--allow-remote``."""
    try:
        target = parse(uri, role, getattr(options, "nameserver", ""))
    except TargetError as problem:
        raise Usage(f"rmq-harness {command}: {problem}") from None
    if not target.capabilities.is_here and not getattr(options, "allow_remote", False):
        raise Usage(
            f"rmq-harness {command}: {uri} is not on this machine. A fuzzer sends what may stop a "
            "server: say --allow-remote if it is yours and may be stopped"
        )
    return target


def profile_of(command: str, said: str, target: Target, role: Role = "nameserver") -> str:
    """The profile that is asked for, else that of the target."""
    known = [profile.name for profile in profiles(role)]
    name = said or target.line or default_profile().name
    if name not in known:
        hint = did_you_mean(name, known, f"there are {', '.join(known)}")
        raise Usage(f"rmq-harness {command}: --profile {name}: no such profile; {hint}")
    if target.capabilities.is_virtual and target.line != name:
        raise Usage(
            f"rmq-harness {command}: {target.uri} is of line {target.line}, not {name}: say builtin:{name}"
        )
    return name


def quirks_for(command: str, asked: str, target: Target, role: Role = "nameserver") -> tuple[Quirk, ...]:
    """The quirks of the server that ``--quirks`` asks for, else of the one that the target is known to be."""
    identity = judged_as(asked, target.server)
    try:
        return known_quirks(role, identity)
    except UnknownServer as problem:
        raise Usage(f"rmq-harness {command}: --quirks {identity}: expected {problem}") from None


def refuse_unknown_kind(command: str, kind: str, role: Role, also: Sequence[str] = ()) -> None:
    """Ends in ``Usage`` unless servers of a role have programs of a kind, or it is one of ``also``."""
    known = (*KINDS[role], *also)
    if kind not in known:
        hint = did_you_mean(kind, known, f"expected {', '.join(known)}")
        raise Usage(f"rmq-harness {command}: --kind {kind}: no such kind of a {role}; {hint}")
