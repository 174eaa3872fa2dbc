"""What `fuzz` and `campaign` are asked for alike: targets that may be stopped, and whose rules hold.

Rules of this module: mistakes end in `Usage`; nothing is started.
"""

from __future__ import annotations

import argparse
from typing import cast

from harness.catalogue import Role, catalogue
from harness.cli.parser import Usage, meant
from harness.session import ProfileName
from harness.targets import Target, TargetError, parse

__all__ = ["profile_of", "target_of"]


def target_of(command: str, uri: str, options: argparse.Namespace, role: Role = "nameserver") -> Target:
    """The target of a URI, a server of a role. One that is not on this machine needs ``--allow-remote``."""
    try:
        target = parse(uri, role, getattr(options, "nameserver", ""))
    except TargetError as problem:
        raise Usage(f"rmq-harness {command}: {problem}") from None
    if not target.nature.is_here and not options.allow_remote:
        raise Usage(
            f"rmq-harness {command}: {uri} is not on this machine. A fuzzer sends what may stop a "
            "server: say --allow-remote if it is yours and may be stopped"
        )
    return target


def profile_of(command: str, said: str, target: Target, role: Role = "nameserver") -> ProfileName:
    """The profile that is asked for, else that of the target."""
    known = [profile.name for profile in catalogue().of(role).profiles]
    name = said or target.line or "5.3"
    if name not in known:
        raise Usage(
            f"rmq-harness {command}: --profile {name}: no such profile{meant(name, known)}; "
            f"there are {', '.join(known)}"
        )
    if target.nature.is_virtual and target.line != name:
        raise Usage(
            f"rmq-harness {command}: {target.uri} is of line {target.line}, not {name}: say builtin:{name}"
        )
    return cast("ProfileName", name)
