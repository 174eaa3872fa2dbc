"""Read files of `specs/`: YAML that its JSON Schema accepts.

`specs/` lies beside the package in a checkout, inside it in an installed wheel, or in a wheel that is
imported from without being installed, which is then unpacked once. Each problem names the file and the item.
"""

from __future__ import annotations

import contextlib
import functools
import json
import os
import tempfile
import zipfile
from collections.abc import Iterable, Iterator, Sequence
from datetime import date, datetime
from pathlib import Path
from typing import Any, NamedTuple

import msgspec
import yaml

from harness.catalogue.errors import CatalogueError, CatalogueProblems


def specs_directory() -> Path:
    """Where `specs/` lies: where the environment's RMQ_HARNESS_SPECS says, or where it was installed.

    Raises:
        CatalogueError: neither in the installed package nor beside it.
    """
    if told := os.environ.get("RMQ_HARNESS_SPECS"):
        return Path(told)
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
    user = os.getuid() if hasattr(os, "getuid") else ""  # Windows: the directory is the user's own
    place = Path(tempfile.gettempdir()) / f"rmq-harness-specs-{facts.st_size}-{facts.st_mtime_ns}-{user}"
    if not place.is_dir():
        with tempfile.TemporaryDirectory(dir=place.parent) as aside, zipfile.ZipFile(wheel) as pack:
            pack.extractall(aside, [name for name in pack.namelist() if name.startswith("harness/specs/")])
            with contextlib.suppress(OSError):  # another process was faster
                (Path(aside) / "harness" / "specs").rename(place)
    return place


def checked(path: Path, specs: Path, schema: str, problems: list[CatalogueError]) -> Any:
    """What a file says; None where it breaks its schema, and what is wrong goes to `problems`."""
    before = len(problems)
    data = _read(path, problems)
    if len(problems) > before:
        return None
    wrong = list(_violations(path, _schema(specs / "schema" / f"{schema}.schema.json"), data))
    problems += wrong
    return None if wrong else data


def sound(path: Path, specs: Path, schema: str) -> Any:
    """What a file says that must not break its schema.

    Raises:
        CatalogueProblems: it does.
    """
    problems: list[CatalogueError] = []
    said = checked(path, specs, schema, problems)
    if problems:
        raise CatalogueProblems(problems)
    return said


def items(path: Path, specs: Path, schema: str, problems: list[CatalogueError]) -> list[dict[str, Any]]:
    """The items of a file that is a list; none where something is wrong with it."""
    data = checked(path, specs, schema, problems)
    return data if isinstance(data, list) else []


def joined(
    directory: Path, specs: Path, schema: str, kind: type[msgspec.Struct], problems: list[CatalogueError]
) -> dict[Path, dict[str, Any]]:
    """What each file of a directory says. Joined, they say what `kind` needs: each says some members of it.

    Lists may be in several files; anything else is said once. A name is that of the directory.
    """
    parts: dict[Path, dict[str, Any]] = {}
    said: set[str] = set()
    for path in sorted(directory.rglob("*.yaml")):
        part = checked(path, specs, schema, problems) or {}
        for key in sorted(said & {key for key, value in part.items() if not isinstance(value, list)}):
            problems.append(
                CatalogueError(name_of(path), f"{key!r} is said by another file too", "say it once")
            )
        said |= part.keys()
        parts[path] = part
    for member in msgspec.structs.fields(kind):
        if member.required and member.name not in said | {"name"}:
            problems.append(
                CatalogueError(
                    name_of(directory), f"no file of it says {member.name!r}", "say it in one of them"
                )
            )
    return parts


def together(parts: Iterable[dict[str, Any]]) -> dict[str, Any]:
    """What all parts say: lists are appended to each other."""
    whole: dict[str, Any] = {}
    for part in parts:
        for key, value in part.items():
            whole[key] = [*whole.get(key, ()), *value] if isinstance(value, list) else value
    return whole


def _read(path: Path, problems: list[CatalogueError]) -> Any:
    try:
        return yaml.load(path.read_text(encoding="utf-8"), Loader=_loader())
    except yaml.YAMLError as error:
        mark = getattr(error, "problem_mark", None)
        line = f":{mark.line + 1}" if mark else ""
        detail = getattr(error, "problem", None) or str(error)
        problems.append(CatalogueError(f"{name_of(path)}{line}", f"not YAML: {detail}", "mend the file"))
    except (OSError, UnicodeDecodeError) as error:
        problems.append(
            CatalogueError(name_of(path), f"cannot be read: {error}", "it must be a file in UTF-8")
        )
    return None


@functools.cache
def _loader() -> Any:
    # libyaml's loader reads the catalogue in a tenth of the time; both refuse anything but plain data.
    return getattr(yaml, "CSafeLoader", yaml.SafeLoader)


class _Schema(NamedTuple):
    text: dict[str, Any]
    validator: Any

    def hint(self, steps: Sequence[str | int]) -> str | None:
        """What it says about the place of an error. `steps`: from its root to the keyword that is broken."""
        place: Any = self.text
        for step in steps[:-1]:
            place = place[step]
        said = place.get("description") if isinstance(place, dict) else None
        return said if isinstance(said, str) else None  # else it is a property with that name


@functools.cache
def _schema(path: Path) -> _Schema:
    from jsonschema_rs import Draft202012Validator  # here: only those who read the catalogue need it

    text: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
    return _Schema(text, Draft202012Validator(text))


def _violations(path: Path, schema: _Schema, data: Any) -> Iterator[CatalogueError]:
    try:
        # Keys that are numbers become strings, as JSON has them; dates of YAML stay, and are refused.
        in_json = msgspec.to_builtins(data, str_keys=True, builtin_types=(date, datetime))
        found = list(schema.validator.iter_errors(in_json))
    except (TypeError, ValueError) as why:
        yield CatalogueError(name_of(path), f"says what JSON cannot: {why}", "put it into quotation marks")
        return
    for error in sorted(found, key=lambda one: list(map(str, one.instance_path))):
        item, rest = _item(in_json, error.instance_path)
        field = ".".join(str(step) for step in rest)
        yield CatalogueError(
            f"{name_of(path)} {item}".rstrip(),
            f"{field + ': ' if field else ''}{error.message}",
            schema.hint(error.schema_path) or f"see specs/schema/ for what {name_of(path)} may hold",
        )


def _item(data: Any, steps: list[Any]) -> tuple[str, list[Any]]:
    """How people find the item that an error is about, and the way on from there.

    That is its id, or else its place in the list. Nothing where the error is about no item of a list.
    """
    for depth, step in enumerate(steps):
        if isinstance(data, list):
            item = data[step]
            identifier = item.get("id") if isinstance(item, dict) else None
            name = identifier if isinstance(identifier, str) else f"item {step + 1}"
            return name, steps[depth + 1 :]
        data = data[str(step)]  # a key of digits is a number in a path
    return "", steps


def name_of(path: Path) -> str:
    """The path from `specs` on: short, and the same in a checkout and in a wheel."""
    parts = path.parts
    return "/".join(parts[len(parts) - 1 - parts[::-1].index("specs") :]) if "specs" in parts else str(path)
