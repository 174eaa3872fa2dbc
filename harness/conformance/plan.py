"""The options of `check`, and the plan that follows from them.

`CheckOptions` are what a user said. `plan` settles everything that is left open: the profile, the known
server whose quirks count, the cases and their order. A plan starts nothing.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import date
from pathlib import Path

import msgspec

from harness.catalogue import (
    Class,
    Level,
    Quirk,
    Role,
    UnknownServer,
    catalogue,
    did_you_mean,
    judged_as,
    known_quirks,
    messages,
)
from harness.conformance.baseline import Baseline, Entry, in_force, read, under_current_ids
from harness.conformance.case_run import DEADLINE
from harness.conformance.loading import LoadedCase, checked_cases
from harness.conformance.owners import Owner, case_of_together, owners_under
from harness.conformance.selection import Choice, Selection, select
from harness.report.results import Verdict
from harness.targets import Target, parse


class CheckOptions(msgspec.Struct, frozen=True):
    """The options that a user gives. They travel to workers as JSON."""

    target: str = "builtin:"
    role: Role = "nameserver"
    nameserver: str = ""
    """Where a running Broker looks for a NameServer; the harness listens there."""
    profile: str = ""
    """Empty: the one that fits the target."""
    select: tuple[str, ...] = ()
    exclude: tuple[str, ...] = ()
    level: Level | None = None
    names: tuple[str, ...] | None = None
    """Only these cases, those that failed in an earlier run; None: any."""
    not_tried_again: dict[Verdict, int] = {}
    """With `names`: how many cases of the earlier run did not fail, by what they came to."""
    fast: bool = False
    """Leaves out what waits in real time."""
    stop_at_failure: bool = False
    classes: tuple[Class, ...] = ()
    strict: bool = False
    quirks: str = ""
    """NAME@VERSION or none; empty: those of the server that the target is known to be."""
    baseline: Baseline = Baseline()
    deadline: float = DEADLINE
    out: str = ""
    """An absolute path, because a worker may run elsewhere; empty: nothing is written."""
    allure: bool = False
    shuffle: int | None = None
    """The seed of the order of all but the first and last cases; None: owners first, then the catalogue."""
    command: tuple[str, ...] = ()

    @property
    def directory(self) -> Path | None:
        """Where results and traces are written."""
        return Path(self.out) if self.out else None


class CheckOptionsError(Exception):
    """The options contradict each other or the catalogue; the message is one line for the user."""


@dataclass(frozen=True, slots=True)
class Plan:
    """A run of `check` before it starts."""

    options: CheckOptions
    target: Target
    server: str
    """The known server whose quirks count, as `NAME@VERSION`; empty where there is none."""
    quirks: tuple[Quirk, ...]
    selection: Selection
    owners: Mapping[int, Owner]
    """The case that proves that a request code works at all, by code."""
    together: LoadedCase | None
    """The case that proves that requests are answered which arrive together."""

    @property
    def renamed(self) -> tuple[str, ...]:
        """A sentence for each id in the options that has a new name."""
        return (*self.selection.renamed, *self.options.baseline.renamed)


def plan(options: CheckOptions) -> Plan:
    """The plan for these options.

    A run of the whole catalogue needs cases and catalogue to agree everywhere. Where the user selected
    something, the rest may be unfinished, so that a chapter can be tried while it is written.

    Raises:
        CheckOptionsError: an option has no meaning here.
        TargetError: the target cannot be parsed.
        CatalogueProblems: catalogue and cases disagree.
    """
    target = _target(options)
    profile = _profile(options, target)
    server = judged_as(options.quirks, target.server)
    try:
        quirks = known_quirks(options.role, server)
    except UnknownServer as problem:
        raise CheckOptionsError(f"--quirks {server}: expected {problem}") from None
    loaded = checked_cases(options.role, unfinished=bool(options.select))
    no_waits = options.fast and target.capabilities.clock == "real"
    choice = Choice(options.select, options.exclude, options.level, options.classes, options.names, no_waits)
    known = catalogue().of(options.role)
    selection = select(known, loaded, profile, choice)
    owners = owners_under(profile, known, loaded, messages().of(options.role))
    together = case_of_together(known, loaded, profile)
    return Plan(options, target, server, quirks, selection, owners, together)


def with_baseline(options: CheckOptions, file: Path) -> tuple[CheckOptions, tuple[Entry, ...]]:
    """The options with those entries of a file of known failures that count, and all entries of the file.

    Raises:
        BaselineError: the file cannot be used.
        CheckOptionsError: there is no such profile.
    """
    of_role = catalogue().of(options.role)
    profiles = [profile.name for profile in of_role.profiles]
    entries, renamed = under_current_ids(read(file, profiles), of_role)
    baseline = in_force(
        str(file),
        entries,
        catalogue=of_role,
        loaded=checked_cases(options.role, unfinished=True),
        profile=_profile(options, _target(options)),
        today=date.today(),
    )
    baseline = msgspec.structs.replace(baseline, renamed=renamed)
    return msgspec.structs.replace(options, baseline=baseline), entries


def _target(options: CheckOptions) -> Target:
    return parse(options.target, options.role, options.nameserver, logs=options.directory)


def _profile(options: CheckOptions, target: Target) -> str:
    """The profile that was named, or the one that fits the target."""
    known = [profile.name for profile in catalogue().of(options.role).profiles]
    if options.profile in known:
        return options.profile
    if options.profile:
        hint = did_you_mean(options.profile, known, f"there are {', '.join(known)}")
        raise CheckOptionsError(f"--profile {options.profile}: no such profile of a {options.role}; {hint}")
    line = target.line or known[-1]
    if line not in known:
        raise CheckOptionsError(
            f"{options.target}: there is no profile {line} of a {options.role}; say --profile with one of "
            f"{', '.join(known)}"
        )
    return line
