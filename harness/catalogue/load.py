"""Loads `specs/` into a `Catalogue`, or says everything that is wrong with it.

Rules of this module:

* It reads only `specs/`, wherever that lies: beside the package in a checkout, inside it in an installed
  wheel, or in a wheel that is imported from without being installed, which is then unpacked once.
* Statements about Brokers lie in `statements/broker/`; the name of such a chapter begins with `broker-`, for
  NameServers have chapters of the same names.
* JSON Schema says what a file may hold; this module adds what a schema of one file cannot say: duplicate and
  retired ids, unknown profiles, an id whose chapter is not its file's, bug reports that nothing speaks of,
  quirks of an unknown statement.
* All problems are collected; each names the file and the item.
"""

from __future__ import annotations

import contextlib
import functools
import hashlib
import json
import os
import re
import tempfile
import zipfile
from collections.abc import Collection, Iterator
from pathlib import Path
from typing import Any

import msgspec
import yaml

from harness.catalogue.errors import CatalogueError, CatalogueProblems
from harness.catalogue.messages import Messages, messages_of, problems_of
from harness.catalogue.quirks import Quirk, Server, numbers
from harness.catalogue.reports import Report, tags_of
from harness.catalogue.roles import Role, roles_of
from harness.catalogue.statements import Profile, Statement


class Catalogue(msgspec.Struct, frozen=True):
    """Every statement, profile, bug report and known server.

    `digest` names this very text of statements and quirks in records of runs.
    """

    statements: tuple[Statement, ...]
    profiles: tuple[Profile, ...]
    digest: str
    reports: tuple[Report, ...] = ()
    servers: tuple[Server, ...] = ()

    def statement(self, identifier: str) -> Statement | None:
        """The statement with this id, or None."""
        return next((one for one in self.statements if one.id == identifier), None)

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


CHAPTER_ORDER = (
    "sanity",
    "connection",
    "framing",
    "json",
    "errors",
    "registration",
    "unregistration",
    "lease",
    "routes",
    "topics",
    "cluster",
    "data-version",
    "write-permission",
    "kv",
    "notification",
    "configuration",
    "lifecycle",
)
BROKER_CHAPTER_ORDER = (
    "sanity",
    "registration",
    "data-version",
    "unregistration",
    "heartbeat",
    "topics",
    "clients",
    "send",
    "pull",
    "offsets",
)  # how a reader meets the protocol; chapters not named here follow by name


def specs_directory() -> Path:
    """Where `specs/` lies.

    Raises:
        CatalogueError: neither in the installed package nor beside it.
    """
    package = Path(__file__).resolve().parent.parent
    for place in (package / "specs", package.parent / "specs"):
        if (place / "statements").is_dir():
            return place
    if zipfile.is_zipfile(package.parent):
        return _unpacked(package.parent)
    raise CatalogueError(
        str(package),
        "no specs/ inside the package or beside it",
        "reinstall rmq-harness, or run from its checkout",
    )


@functools.cache
def _unpacked(wheel: Path) -> Path:
    """``specs/`` of a wheel that is imported from as it is, as Spark does on its executors."""
    facts = wheel.stat()
    place = (
        Path(tempfile.gettempdir()) / f"rmq-harness-specs-{facts.st_size}-{facts.st_mtime_ns}-{os.getuid()}"
    )
    if not place.is_dir():
        with tempfile.TemporaryDirectory(dir=place.parent) as aside, zipfile.ZipFile(wheel) as pack:
            pack.extractall(aside, [name for name in pack.namelist() if name.startswith("harness/specs/")])
            with contextlib.suppress(OSError):  # another process was faster
                (Path(aside) / "harness" / "specs").rename(place)
    return place


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
    profiles = _profiles(specs, problems)
    retired = _retired(specs, problems)
    seen: dict[str, str] = {}
    statements: list[Statement] = []
    for path in _chapters(specs):
        digest.update(path.read_bytes())
        for item in _checked(path, _schema(specs, "statement"), problems):
            statement = _statement(path, item)
            problems += _cross_checks(path, statement, profiles, retired, seen)
            seen.setdefault(statement.id, _name(path))
            statements.append(statement)
    reports = _reports(specs, statements, problems)
    if not statements and not problems:
        problems.append(CatalogueError(str(specs / "statements"), "no statement", "add a chapter file"))
    servers = _servers(specs, seen, digest, problems)
    if problems:
        raise CatalogueProblems(problems)
    return Catalogue(
        tuple(statements), tuple(profiles), digest.hexdigest()[:12], tuple(reports), tuple(servers)
    )


@functools.cache
def messages() -> Messages:
    """What there is in the protocol, by this installation; read once. Raises `CatalogueProblems`."""
    return load_messages(specs_directory())


def load_messages(specs: Path) -> Messages:
    """`messages.yaml` of a directory like `specs/`.

    Raises:
        CatalogueProblems: with every problem of the file.
    """
    problems: list[CatalogueError] = []
    path = specs / "messages.yaml"
    data = _read(path, problems)
    if data is not None:
        problems += _violations(path, _schema(specs, "messages"), data)
    if problems:
        raise CatalogueProblems(problems)
    found = messages_of(data)
    known = [profile.name for profile in _profiles(specs, problems)]
    chapters = [_chapter(path) for path in _chapters(specs)]
    problems += problems_of(found, _name(path), known, chapters)
    if problems:
        raise CatalogueProblems(problems)
    return found


def _chapters(specs: Path) -> list[Path]:
    found: list[Path] = []
    for place, order in (("", CHAPTER_ORDER), ("broker", BROKER_CHAPTER_ORDER)):
        rank = {name: index for index, name in enumerate(order)}
        found += sorted(
            (specs / "statements" / place).glob("*.yaml"),
            key=lambda path, rank=rank: (rank.get(path.stem, len(rank)), path.stem),  # type: ignore[misc]
        )
    return found


def _is_of_brokers(path: Path) -> bool:
    return path.parent.name == "broker"


def _chapter(path: Path) -> str:
    """The name of the chapter in a file."""
    return f"broker-{path.stem}" if _is_of_brokers(path) else path.stem


def _cross_checks(
    path: Path, statement: Statement, profiles: list[Profile], retired: dict[str, str], seen: dict[str, str]
) -> Iterator[CatalogueError]:
    where = f"{_name(path)} {statement.id}"
    if statement.id in seen:
        yield CatalogueError(
            where, f"this id is already used in {seen[statement.id]}", "give the statement an id of its own"
        )
    if statement.id in retired:
        yield CatalogueError(
            where, f"this id was retired ({retired[statement.id]})", "ids are never reused: choose a new one"
        )
    chapter = statement.id.split(".")[1]
    if chapter != path.stem:
        yield CatalogueError(
            where,
            f"the id belongs to chapter {chapter!r}",
            f"move it to {chapter}.yaml or call it ….{path.stem}.…",
        )
    if statement.id.startswith("bk.") is not _is_of_brokers(path):
        yield CatalogueError(
            where,
            "statements bk.… are those of statements/broker/, and no others are",
            "move it, or give it another id",
        )
    known = [one.name for one in profiles if set(statement.roles) & set(one.roles)]
    for profile in statement.profiles:
        if known and profile not in known:
            yield CatalogueError(
                where, f"profile {profile!r} does not exist", f"profiles are: {', '.join(known)}"
            )


def _statement(path: Path, item: dict[str, Any]) -> Statement:
    said = tuple(item.get("roles", ()))
    return msgspec.convert(
        {**item, "chapter": _chapter(path), "roles": roles_of(item["id"], said)}, Statement
    )


def _profiles(specs: Path, problems: list[CatalogueError]) -> list[Profile]:
    found: list[Profile] = []
    schema = _schema(specs, "profile")
    for path in sorted((specs / "profiles").glob("*.yaml")):
        data = _read(path, problems)
        wrong = list(_violations(path, schema, data))
        problems += wrong
        if wrong or data is None:
            continue
        profile = msgspec.convert(data, Profile)
        if profile.name != path.stem:
            problems.append(
                CatalogueError(
                    _name(path), f"it is named {profile.name!r}", f"name the file {profile.name}.yaml"
                )
            )
        found.append(profile)
    return found


def _servers(
    specs: Path, statements: Collection[str], digest: hashlib._Hash, problems: list[CatalogueError]
) -> list[Server]:
    found: list[Server] = []
    schema = _schema(specs, "target") if (specs / "targets").is_dir() else {}
    seen: dict[str, str] = {}
    for path in sorted((specs / "targets").glob("*.yaml")):
        digest.update(path.read_bytes())
        data = _read(path, problems)
        wrong = list(_violations(path, schema, data))
        problems += wrong
        if wrong or data is None:
            continue
        server = msgspec.convert(data, Server)
        if server.name != path.stem:
            problems.append(
                CatalogueError(
                    _name(path), f"it is named {server.name!r}", f"name the file {server.name}.yaml"
                )
            )
        for quirk in server.quirks:
            problems += _checks_of_quirk(path, quirk, statements, seen)
            seen.setdefault(quirk.id, _name(path))
        found.append(server)
    return found


def _checks_of_quirk(
    path: Path, quirk: Quirk, statements: Collection[str], seen: dict[str, str]
) -> Iterator[CatalogueError]:
    where = f"{_name(path)} {quirk.id}"
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
    for versions in quirk.versions:
        if versions.last is not None and numbers(versions.last) < numbers(versions.first):
            yield CatalogueError(
                where,
                f"versions end with {versions.last} before {versions.first}",
                "put the earlier one first",
            )
    for version in quirk.observed:
        if not quirk.applies_to(version):
            yield CatalogueError(
                where, f"it was observed on {version}, which is in none of its versions", "widen the versions"
            )
    for one in quirk.seen:
        for pattern in filter(None, (one.actual, one.expected)):
            try:
                re.compile(pattern)
            except re.error as error:
                yield CatalogueError(
                    where, f"{pattern!r} is no regular expression: {error}", "mend the pattern"
                )


def _retired(specs: Path, problems: list[CatalogueError]) -> dict[str, str]:
    path = specs / "retired.yaml"
    if not path.exists():
        return {}
    return {item["id"]: item["why"] for item in _checked(path, _schema(specs, "retired"), problems)}


def _reports(specs: Path, statements: list[Statement], problems: list[CatalogueError]) -> list[Report]:
    path = specs / "reports.yaml"
    if not path.exists():
        return []
    spoken_of = {tag for statement in statements for tag in tags_of(statement)}
    reports: list[Report] = []
    seen: set[str] = set()
    for item in _checked(path, _schema(specs, "report"), problems):
        report = msgspec.convert(item, Report)
        where = f"{_name(path)} {report.tags[0]}"
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


def checked_items(
    path: Path, specs: Path, schema: str, problems: list[CatalogueError]
) -> list[dict[str, Any]]:
    """The valid items of a list of data beside the catalogue; what is wrong goes to ``problems``."""
    return _checked(path, _schema(specs, schema), problems)


def _checked(path: Path, schema: dict[str, Any], problems: list[CatalogueError]) -> list[dict[str, Any]]:
    """The valid items of a file that is a list; what is wrong with the others goes to `problems`."""
    data = _read(path, problems)
    if data is None:
        return []
    wrong = list(_violations(path, schema, data))
    problems += wrong
    return data if not wrong and isinstance(data, list) else []


def _read(path: Path, problems: list[CatalogueError]) -> Any:
    try:
        return yaml.load(path.read_text(encoding="utf-8"), Loader=_loader())
    except yaml.YAMLError as error:
        mark = getattr(error, "problem_mark", None)
        line = f":{mark.line + 1}" if mark else ""
        detail = getattr(error, "problem", None) or str(error)
        problems.append(CatalogueError(f"{_name(path)}{line}", f"not YAML: {detail}", "mend the file"))
    except (OSError, UnicodeDecodeError) as error:
        problems.append(CatalogueError(_name(path), f"cannot be read: {error}", "it must be a file in UTF-8"))
    return None


@functools.cache
def _loader() -> Any:
    # libyaml's loader reads the catalogue in a tenth of the time; both refuse anything but plain data.
    return getattr(yaml, "CSafeLoader", yaml.SafeLoader)


def _schema(specs: Path, name: str) -> dict[str, Any]:
    schema: dict[str, Any] = json.loads(
        (specs / "schema" / f"{name}.schema.json").read_text(encoding="utf-8")
    )
    return schema


def _violations(path: Path, schema: dict[str, Any], data: Any) -> Iterator[CatalogueError]:
    from jsonschema import Draft202012Validator  # here: it is slow to import and only validation needs it

    for error in sorted(
        Draft202012Validator(schema).iter_errors(data), key=lambda error: list(map(str, error.path))
    ):
        steps = list(error.absolute_path)
        item, rest = _item(data, steps)
        field = ".".join(str(step) for step in rest)
        hint = error.schema.get("description") if isinstance(error.schema, dict) else None
        yield CatalogueError(
            f"{_name(path)} {item}".rstrip(),
            f"{field + ': ' if field else ''}{error.message}",
            hint or f"see specs/schema/ for what {_name(path)} may hold",
        )


def _item(data: Any, steps: list[Any]) -> tuple[str, list[Any]]:
    """How people find the item that an error is about, and the way on from there.

    That is its id, or else its place in the list. Nothing where the error is about no item of a list.
    """
    for depth, step in enumerate(steps):
        if isinstance(step, int):
            item = data[step]
            identifier = item.get("id") if isinstance(item, dict) else None
            name = identifier if isinstance(identifier, str) else f"item {step + 1}"
            return name, steps[depth + 1 :]
        data = data[step]
    return "", steps


def _name(path: Path) -> str:
    """The path from `specs` on: short, and the same in a checkout and in a wheel."""
    parts = path.parts
    return "/".join(parts[len(parts) - 1 - parts[::-1].index("specs") :]) if "specs" in parts else str(path)
