"""Loads `specs/` into a `Catalogue`, or says everything that is wrong with it.

* `specs/chapters.yaml` names every chapter. A chapter is a file, or a directory whose files are read by name.
* JSON Schema says what a file may hold; this module adds what a schema of one file cannot say: duplicate and
  retired ids, unknown profiles, an id whose chapter is not its file's, bug reports that nothing speaks of,
  quirks of an unknown statement.
* All problems are collected; each names the file and the item.
"""

from __future__ import annotations

import functools
import hashlib
import re
from collections.abc import Collection, Iterator, Sequence
from pathlib import Path
from typing import Any

import msgspec

from harness.catalogue.chapters import Chapter, load_chapters
from harness.catalogue.errors import CatalogueError, CatalogueProblems
from harness.catalogue.files import checked, items, joined, name_of, specs_directory, together
from harness.catalogue.headings import under_headings
from harness.catalogue.messages import Messages, messages_of, problems_of, unknown_lines
from harness.catalogue.profiles import Profile, load_profiles
from harness.catalogue.quirks import Quirk, Server, quirks_of
from harness.catalogue.renamed import RenamedIds, understood
from harness.catalogue.replaced import wrongly_replaced
from harness.catalogue.reports import Report, tags_of
from harness.catalogue.roles import CLIENTS_ASK, ROLES, Role, roles_of
from harness.catalogue.sources import Source, Sources
from harness.catalogue.statements import Statement
from harness.catalogue.versions import numbers, within
from harness.version import version


class Catalogue(msgspec.Struct, frozen=True, dict=True):
    """Every statement, profile, bug report and known server.

    `digest` names this very text of statements and quirks in records of runs.
    """

    statements: tuple[Statement, ...]
    profiles: tuple[Profile, ...]
    digest: str
    reports: tuple[Report, ...] = ()
    servers: tuple[Server, ...] = ()
    renamed: dict[str, str] = {}
    """The old ids that are understood, and what each of them is called now."""
    about: dict[str, str] = {}
    """What each chapter is about: a sentence or two in Markdown."""

    def current(self, identifier: str) -> str:
        """The id that a statement or case has now, by an id that it has or had."""
        return self.renamed.get(identifier, identifier)

    def statement(self, identifier: str) -> Statement | None:
        """The statement with this id, or None."""
        return self._by_id.get(identifier)

    @functools.cached_property
    def _by_id(self) -> dict[str, Statement]:
        return {one.id: one for one in self.statements}

    def profile(self, name: str) -> Profile | None:
        """The profile with this name, or None."""
        return next((one for one in self.profiles if one.name == name), None)

    def server(self, name: str) -> Server | None:
        """The known server with this name, or None."""
        return next((one for one in self.servers if one.name == name), None)

    @property
    def quirks(self) -> tuple[Quirk, ...]:
        """The quirks of all known servers."""
        return tuple(quirk for server in self.servers for quirk in server.quirks)

    def of(self, role: Role) -> Catalogue:
        """What of it is about one kind of server."""
        return msgspec.structs.replace(
            self,
            statements=tuple(one for one in self.statements if role in one.roles),
            profiles=tuple(one for one in self.profiles if role in one.roles),
            reports=self.reports if role == "nameserver" else (),
            servers=tuple(one for one in self.servers if one.role == role),
        )

    def under(self, profile: str) -> tuple[Statement, ...]:
        """The statements that apply under the profile, in the order of the catalogue."""
        return tuple(one for one in self.statements if profile in one.profiles)

    def report(self, tag: str) -> Report | None:
        """The bug report that the tag belongs to, or None."""
        return next((one for one in self.reports if tag in one.tags), None)

    def tagged(self, *tags: str) -> tuple[Statement, ...]:
        """The statements that one of the tags chooses, in the order of the catalogue."""
        return tuple(one for one in self.statements if not set(tags).isdisjoint(tags_of(one)))

    @property
    def chapters(self) -> tuple[str, ...]:
        """Names of the chapters in the order of the catalogue."""
        return tuple(dict.fromkeys(one.chapter for one in self.statements))


@functools.cache
def catalogue() -> Catalogue:
    """The catalogue of this installation; read once."""
    return load(specs_directory())


def load(specs: Path) -> Catalogue:
    """The catalogue in a directory like `specs/`.

    Raises:
        CatalogueProblems: with every problem of every file.
    """
    problems: list[CatalogueError] = []
    digest = hashlib.sha256()
    profiles = load_profiles(specs, problems)
    renamings = _renamings(specs, problems)
    retired = _retired(specs, renamings, problems)
    sources = _sources(specs, problems)
    seen: dict[str, str] = {}
    statements: list[Statement] = []
    chapters = load_chapters(specs, problems)
    for chapter in chapters:
        for path in chapter.files:
            digest.update(path.read_bytes())
            for item in under_headings(path, items(path, specs, "statement", problems), problems):
                where = f"{name_of(path)} {item['id']}"
                placed = {"class": chapter.class_, **item, "file": name_of(path), "chapter": chapter.name}
                statement = _statement(where, placed, profiles, sources, problems)
                problems += _cross_checks(where, chapter, statement, retired, seen)
                seen.setdefault(statement.id, name_of(path))
                statements.append(statement)
    problems += wrongly_replaced(statements)
    reports = _reports(specs, statements, problems)
    servers = _servers(specs, seen, sources, digest, problems)
    if problems:
        raise CatalogueProblems(problems)
    return Catalogue(
        tuple(statements),
        tuple(profiles),
        digest.hexdigest()[:12],
        tuple(reports),
        tuple(servers),
        understood(renamings, version()),
        {chapter.name: chapter.about for chapter in chapters},
    )


@functools.cache
def known_quirks(role: Role, identity: str) -> tuple[Quirk, ...]:
    """The quirks of a server of this role that is named as `NAME@VERSION`; none where nothing is named.

    Raises:
        UnknownServer: no server of this role has the name, or there is no version.
    """
    return quirks_of(catalogue().of(role).servers, identity) if identity else ()


@functools.cache
def messages() -> Messages:
    """What there is in the protocol, by this installation; read once. Raises `CatalogueProblems`."""
    return load_messages(specs_directory())


def load_messages(specs: Path) -> Messages:
    """`messages/` of a directory like `specs/`. Messages come by role, and by code.

    Raises:
        CatalogueProblems: with every problem of its files.
    """
    problems: list[CatalogueError] = []
    directory = specs / "messages"
    parts = joined(directory, specs, "messages", Messages, problems)
    if problems:
        raise CatalogueProblems(problems)
    known = load_profiles(specs, problems)
    for path, part in parts.items():
        problems += unknown_lines(part, name_of(path), known)
        for message in part.get("messages", ()):
            message["role"] = path.parent.name
        if "messages" in part and path.parent.name not in ROLES:
            here = " or ".join(f"{role}/" for role in ROLES)
            problems.append(CatalogueError(name_of(path), "its messages have no role", f"move it to {here}"))
    if problems:
        raise CatalogueProblems(problems)
    data = together(parts.values())
    data["messages"].sort(key=lambda one: (ROLES.index(one["role"]), one["code"]))
    found = messages_of(data, known)
    chapters = [chapter.name for chapter in load_chapters(specs, problems)]
    problems += problems_of(found, name_of(directory), chapters)
    if problems:
        raise CatalogueProblems(problems)
    return found


def _sources(specs: Path, problems: list[CatalogueError]) -> Sources:
    data = checked(specs / "sources.yaml", specs, "sources", problems) or {}
    lines = specs / "lines.yaml"
    known = checked(lines, specs, "lines", problems) if lines.exists() else None
    return msgspec.convert({**data, "lines": known or {}}, Sources)


def _named(
    where: str, texts: Sequence[str], sources: Sources, problems: list[CatalogueError]
) -> tuple[Source, ...]:
    try:
        return sources.named(texts)
    except KeyError as error:
        if sources.classes:
            problems.append(
                CatalogueError(where, f"source: no class {error}", "say in specs/sources.yaml where it lies")
            )
        return ()


def _statement(
    where: str,
    item: dict[str, Any],
    profiles: list[Profile],
    sources: Sources,
    problems: list[CatalogueError],
) -> Statement:
    roles = roles_of(item["id"], tuple(item.get("roles", ())))
    known = [one.name for one in profiles if set(roles or CLIENTS_ASK) & set(one.roles)]
    since, until = item.get("since"), item.get("until")
    for line in (since, until):
        if line is not None and known and line not in known:
            problems.append(
                CatalogueError(where, f"profile {line!r} does not exist", f"profiles are: {', '.join(known)}")
            )
    if since and until and numbers(until) < numbers(since):
        problems.append(CatalogueError(where, f"until {until} is before since {since}", "swap them"))
    return msgspec.convert(
        {
            **item,
            "roles": roles,
            "profiles": [name for name in known if within(name, since, until)],
            "source": _named(where, item["source"], sources, problems),
        },
        Statement,
    )


def _cross_checks(
    where: str, chapter: Chapter, statement: Statement, retired: dict[str, str], seen: dict[str, str]
) -> Iterator[CatalogueError]:
    if statement.id in seen:
        yield CatalogueError(
            where, f"this id is already used in {seen[statement.id]}", "give the statement an id of its own"
        )
    if statement.id in retired:
        yield CatalogueError(
            where, f"this id was retired ({retired[statement.id]})", "ids are never reused: choose a new one"
        )
    prefix, slug, _ = statement.id.split(".")
    if slug != chapter.slug:
        yield CatalogueError(
            where,
            f"the id belongs to chapter {slug!r}",
            f"move it to {slug}.yaml or call it ….{chapter.slug}.…",
        )
    if prefix not in _PREFIXES[chapter.place]:
        yield CatalogueError(
            where,
            f"statements/{chapter.place}/ holds only statements {'.…, '.join(_PREFIXES[chapter.place])}.…",
            "move it, or give it another id",
        )


_PREFIXES = {
    "shared": ("wire",),
    "nameserver": ("ns", "wire"),
    "broker": ("bk",),
    "client": ("cl",),
}


def _servers(
    specs: Path,
    statements: Collection[str],
    sources: Sources,
    digest: hashlib._Hash,
    problems: list[CatalogueError],
) -> list[Server]:
    found: list[Server] = []
    seen: dict[str, str] = {}
    for directory in sorted((specs / "targets").glob("*/")):
        before = len(problems)
        parts = joined(directory, specs, "target", Server, problems)
        if len(problems) > before:
            continue
        files: dict[str, str] = {}
        for path, part in parts.items():
            digest.update(path.read_bytes())
            for quirk in part.get("quirks", ()):
                where = f"{name_of(path)} {quirk['id']}"
                quirk["source"] = _named(where, quirk["source"], sources, problems)
                files[quirk["id"]] = name_of(path)
        server = msgspec.convert({"name": directory.name, **together(parts.values())}, Server)
        for one in server.quirks:
            problems += _checks_of_quirk(f"{files[one.id]} {one.id}", one, statements, seen)
            seen.setdefault(one.id, files[one.id])
        found.append(server)
    return found


def _checks_of_quirk(
    where: str, quirk: Quirk, statements: Collection[str], seen: dict[str, str]
) -> Iterator[CatalogueError]:
    if quirk.id in seen:
        yield CatalogueError(
            where, f"this id is already used in {seen[quirk.id]}", "give the quirk an id of its own"
        )
    for identifier in quirk.statements:
        if identifier not in statements:
            yield CatalogueError(
                where,
                f"statement {identifier} is not in the catalogue",
                "a quirk breaks a statement: name it as it is, or write it",
            )
    if quirk.seen and not quirk.statements:
        yield CatalogueError(where, "cases see it, but it breaks no statement", "name what it breaks")
    for versions in quirk.versions:
        if versions.last is not None and numbers(versions.last) < numbers(versions.first):
            yield CatalogueError(
                where,
                f"versions end with {versions.last} before {versions.first}",
                "put the earlier one first",
            )
    for seen_on in quirk.observed:
        if not quirk.applies_to(seen_on):
            yield CatalogueError(
                where, f"it was observed on {seen_on}, which is in none of its versions", "widen the versions"
            )
    for one in quirk.seen:
        for pattern in filter(None, (one.actual, one.expected)):
            try:
                re.compile(pattern)
            except re.error as error:
                yield CatalogueError(
                    where, f"{pattern!r} is no regular expression: {error}", "mend the pattern"
                )


def _renamings(specs: Path, problems: list[CatalogueError]) -> list[RenamedIds]:
    path = specs / "renamed.yaml"
    return msgspec.convert(items(path, specs, "renamed", problems), list[RenamedIds]) if path.exists() else []


def _retired(specs: Path, renamings: list[RenamedIds], problems: list[CatalogueError]) -> dict[str, str]:
    """Why each id that a statement once had must not be used again."""
    path = specs / "retired.yaml"
    withdrawn = items(path, specs, "retired", problems) if path.exists() else []
    renamed = {old: f"it is now called {new}" for one in renamings for old, new in one.ids.items()}
    return renamed | {item["id"]: item["why"] for item in withdrawn}


def _reports(specs: Path, statements: list[Statement], problems: list[CatalogueError]) -> list[Report]:
    path = specs / "reports.yaml"
    if not path.exists():
        return []
    spoken_of = {tag for statement in statements for tag in tags_of(statement)}
    reports: list[Report] = []
    seen: set[str] = set()
    for item in items(path, specs, "report", problems):
        report = msgspec.convert(item, Report)
        where = f"{name_of(path)} {report.tags[0]}"
        if twice := seen.intersection(report.tags):
            problems.append(
                CatalogueError(where, f"{min(twice)} is in two reports", "put them together, or apart")
            )
        if report.untestable is None and spoken_of.isdisjoint(report.tags):
            problems.append(
                CatalogueError(
                    where,
                    "no statement speaks of it",
                    f"put it into `{'issues' if report.issues else 'tags'}` of one, or say `untestable: why`",
                )
            )
        if report.untestable is not None and (spoken := spoken_of.intersection(report.tags)):
            problems.append(
                CatalogueError(
                    where,
                    f"it is untestable, and a statement speaks of {min(spoken)}",
                    "drop one of the two",
                )
            )
        seen.update(report.tags)
        reports.append(report)
    return reports
