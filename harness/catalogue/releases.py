"""Releases of Apache's server, as far as the catalogue tells them apart within a release line.

* A statement says under `came` with which releases it came, where its line had begun without it: an older
  release does not break it, it does not have it yet.
* A bug report says under `fixed` which releases mended it: a failure on an older release is a failure, and
  names the release that ends it.
* Both are lists with one release for each line that was changed. A line without one of its own has it from
  its beginning if an older line has it.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable

import msgspec

from harness.catalogue.profiles import release_line
from harness.catalogue.reports import Report, tag_of, tags_of
from harness.catalogue.statements import Statement
from harness.catalogue.versions import numbers


class Fix(msgspec.Struct, frozen=True):
    """The release that mends a failure, and what the failure was reported as."""

    release: str
    reports: tuple[str, ...] = ()

    def __str__(self) -> str:
        """`4.9.4 (apache/rocketmq#4263)`."""
        return f"{self.release} ({', '.join(self.reports)})" if self.reports else self.release


def release_of(identity: str) -> str:
    """The release of Apache's that a server, named as `NAME@VERSION`, is; empty for any other server."""
    name, _, version = identity.partition("@")
    return version if name.startswith("apache-") else ""


def not_before(releases: Collection[str], version: str) -> str:
    """The release with which a change comes to the line of this version, if that is later; else empty."""
    line = release_line(version).name
    own = [one for one in releases if release_line(one).name == line] or list(releases)
    first = min(own, key=numbers, default="")
    return first if first and numbers(version) < numbers(first) else ""


def missing_from(statements: Iterable[Statement], version: str) -> str:
    """The release with which one of the statements comes, where this one is older; else empty."""
    if not version:
        return ""
    found = [late for one in statements if (late := not_before(one.came, version))]
    return max(found, key=numbers, default="")


def fixes(statement: Statement, reports: Iterable[Report], version: str) -> tuple[Fix, ...]:
    """The releases that mend what is reported about the statement, where this one is older."""
    if not version:
        return ()
    tags = tags_of(statement)
    found: dict[str, list[str]] = {}
    for report in reports:
        if set(report.tags).isdisjoint(tags) or not (release := not_before(report.fixed, version)):
            continue
        found.setdefault(release, []).extend(name for name in report.issues if tag_of(name) in tags)
    return tuple(Fix(release, tuple(names)) for release, names in found.items())
