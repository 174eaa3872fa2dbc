"""The code that is measured: the servers' share of the protocol, and the cases that are to run it."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Sequence
from importlib.util import find_spec
from pathlib import Path

import harness
from harness.catalogue import Role, catalogue, did_you_mean
from harness.cli.measures.trying import Work
from harness.cli.parser import Usage
from harness.conformance.loading import checked_cases
from harness.targets.builtin.target import reference_line

ROOT = Path(harness.__file__).parents[1]
"""Of this checkout or installation."""
_SCOPES: dict[Role, tuple[str, ...]] = {
    "nameserver": ("reference_impl/remoting", "reference_impl/nameserver", "harness/wire"),
    "broker": ("reference_impl/broker", "harness/wire/messages", "harness/wire/bodies/broker"),
}
"""Where the protocol of a role is."""
SHARED = "harness/wire/"
"""Code that the harness uses, too. What the servers never run of it is none of theirs."""
_NOT_PROTOCOL = "/parts.py"
"""How mutants are put together."""


def check_possible(option: str) -> None:
    """Raises Usage where nothing can be measured."""
    if find_spec("coverage") is None or not hasattr(os, "fork"):
        raise Usage(
            f"rmq-harness selftest {option} needs the package coverage and a system that forks processes; "
            "pip install coverage"
        )


def files_of(role: Role) -> Iterator[str]:
    """Those that hold the role's share of the protocol, from the root, with slashes."""
    for scope in _SCOPES[role]:
        for path in sorted((ROOT / scope).rglob("*.py")):
            file = path.relative_to(ROOT).as_posix()
            if not file.endswith(_NOT_PROTOCOL):
                yield file


def sources_of(files: Iterable[str]) -> dict[str, str]:
    """File -> its text."""
    return {file: (ROOT / file).read_text(encoding="utf-8") for file in files}


def all_cases(role: Role, profile: str | None) -> list[Work]:
    """All cases of a role, under the newest profile first, or under one alone. Raises Usage."""
    loaded = checked_cases(role, unfinished=False)
    of_role = catalogue().of(role)
    return [
        Work(role, one, tuple(case.name for case in loaded if case.statements(of_role, one)))
        for one in reversed(_profiles(role, profile))
    ]


def _profiles(role: Role, wanted: str | None) -> Sequence[str]:
    known = [one.name for one in catalogue().of(role).profiles]
    if wanted and wanted not in known:
        hint = did_you_mean(wanted, known, f"there are {', '.join(known)}")
        raise Usage(f"rmq-harness selftest: --profile {wanted}: no such profile; {hint}")
    return [one for one in ([wanted] if wanted else known) if reference_line(role, one) == one]
