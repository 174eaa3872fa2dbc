"""Findings that are known: named by a file of reasons, or by the record of a check.

- The file is a baseline of `check`. Its ids are statements, or the names of the folders of findings.
- A known finding is confirmed, minimised and kept like any other, and is no failure.
- An entry that has expired, or names nothing in the catalogue, is stale and fails the run. One that was not
  met is said: chance decides what a run meets.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable
from datetime import date
from pathlib import Path

import msgspec

from harness.catalogue import Role, catalogue
from harness.conformance.baseline import Entry, in_force, read, under_current_ids
from harness.conformance.loading import checked_cases
from harness.findings.experiment import Finding
from harness.findings.folder import name_of
from harness.report.results import Verdict, read_run

_HASH = re.compile(r"-[0-9a-f]{8}$")


class KnownFindings(msgspec.Struct, frozen=True):
    """What is known of a target; nothing at first."""

    entries: tuple[Entry, ...] = ()
    stale: tuple[str, ...] = ()
    """A sentence for each stale entry."""
    checked: dict[str, str] = {}
    """From the statements that a check has seen broken to its record."""

    def why(self, found: Finding) -> str:
        """Why a finding is known; empty if it is not."""
        ids = _ids(found)
        for entry in self.entries:
            if entry.id in ids:
                return f"known until {entry.expires}: {entry.reason} ({entry.link})"
        return next((f"fails in {self.checked[one]} too" for one in ids if one in self.checked), "")

    def unmet(self, findings: Iterable[Finding]) -> list[str]:
        """A sentence for each entry that names nothing of what was found."""
        met = {one for found in findings for one in _ids(found)}
        return [f"{one.where}: {one.id} was not met in this run" for one in self.entries if one.id not in met]


def _ids(found: Finding) -> list[str]:
    return [name_of(found.signature), found.signature.statement, *([found.judged] if found.judged else [])]


def read_known(
    file: Path | None, record: Path | None, role: Role, profile: str, today: date
) -> KnownFindings:
    """The entries of a file that count under a profile on a day, and what the record of a check shows.

    Raises ``BaselineError`` for the file, ``RecordError`` for the record.
    """
    checked: dict[str, str] = {}
    if record is not None:
        broken = (one for one in read_run(record).results if one.verdict in (Verdict.FAIL, Verdict.XFAIL))
        checked = {statement: str(record) for one in broken for statement in one.statements}
    if file is None:
        return KnownFindings(checked=checked)
    of_role = catalogue().of(role)
    entries, _ = under_current_ids(read(file, [one.name for one in of_role.profiles]), of_role)
    statements = [msgspec.structs.replace(one, id=_HASH.sub("", one.id)) for one in entries]
    counted = in_force(
        str(file),
        statements,
        catalogue=of_role,
        loaded=checked_cases(role, unfinished=True),
        profile=profile,
        today=today,
    )
    return KnownFindings(_counted(entries, counted.entries), counted.stale, checked)


def _counted(entries: Iterable[Entry], counted: Collection[Entry]) -> tuple[Entry, ...]:
    """The entries at the places of those that count, with the ids that stand there."""
    places = {one.where for one in counted}
    return tuple(one for one in entries if one.where in places)
