"""Settings of a project: `rmq-harness.toml`, or `[tool.rmq-harness]` in `pyproject.toml`.

* They are read from the current directory alone, because an `exec:` target runs there: a path in them and on
  the command line is the same.
* They replace the defaults of options. The command line goes before them.
* A mistake in them is a `Usage`, as on the command line.
"""

from __future__ import annotations

import argparse
import tomllib
from collections.abc import Mapping
from pathlib import Path
from typing import Any, NamedTuple

from harness.catalogue import did_you_mean
from harness.cli.parser import Usage

FILE = "rmq-harness.toml"
_PYPROJECT = "pyproject.toml"
_TABLE = "rmq-harness"
KEYS = {
    "target": "what is judged",
    "role": "what the target is",
    "profile": "which statements apply",
    "nameserver": "for a running Broker: its NameServer address",
    "quirks": "the known server whose defects count as quirks",
    "class": "only cases of these classes",
    "select": "only these statements, chapters or cases",
    "exclude": "not these",
    "level": "only statements of this level or stricter",
    "strict": "whether a broken SHOULD fails the run",
    "baseline": "file of known failures",
    "report": "reports to write besides the record",
    "out": "output directory",
}
"""Each is an option of `check` of the same name, or its target."""
_OF_TARGET = ("target", "role", "profile", "nameserver")
READERS = {"check": tuple(KEYS), "fuzz": (*_OF_TARGET, "quirks"), "fields": _OF_TARGET}
"""The commands that read settings, and which."""


class Settings(NamedTuple):
    """What a file says."""

    where: str
    """The file, as messages name it."""
    values: Mapping[str, Any]


def read_settings(directory: Path) -> Settings | None:
    """The settings of a project; None where it has none. Raises `Usage`."""
    own = _table(directory / FILE)
    tool = (_table(directory / _PYPROJECT) or {}).get("tool", {})
    shared = tool.get(_TABLE) if isinstance(tool, dict) else None
    if own is not None and shared is not None:
        raise Usage(
            f"{FILE} and [tool.{_TABLE}] in {_PYPROJECT} both hold settings; keep them in one of the two"
        )
    if own is not None:
        return _known(Settings(FILE, own))
    return None if shared is None else _known(Settings(f"[tool.{_TABLE}] in {_PYPROJECT}", shared))


class Applied(NamedTuple):
    """Settings that are defaults of a command now."""

    where: str
    actions: Mapping[str, argparse.Action]
    """By key."""

    def taken(self, options: argparse.Namespace) -> str:
        """Those that hold, because the command line says nothing else, in words; empty where it says all."""
        keys = [key for key, one in self.actions.items() if getattr(options, one.dest) == one.default]
        return f"{', '.join(keys)} from {self.where}" if keys else ""


def apply_settings(parser: argparse.ArgumentParser, command: str) -> Applied | None:
    """Makes them the defaults of a command's options. Raises `Usage` where a value does not fit."""
    settings = read_settings(Path()) if command in READERS else None
    if settings is None:
        return None
    actions = {_key(action): action for action in parser._actions}
    used = [key for key in READERS[command] if key in settings.values]
    for key in used:
        try:
            actions[key].default = _converted(actions[key], settings.values[key])
        except argparse.ArgumentTypeError as problem:
            raise Usage(f"{settings.where}: {key}: {problem}") from None
    return Applied(settings.where, {key: actions[key] for key in used})


def _table(file: Path) -> dict[str, Any] | None:
    try:
        return tomllib.loads(file.read_text(encoding="utf-8"))
    except (FileNotFoundError, NotADirectoryError):
        return None
    except (OSError, UnicodeDecodeError, tomllib.TOMLDecodeError) as problem:
        raise Usage(f"{file.name}: it cannot be read: {problem}; expected a file in TOML") from None


def _known(settings: Settings) -> Settings:
    if not isinstance(settings.values, dict):
        raise Usage(f"{settings.where}: expected a table of settings, got {settings.values!r}")
    for key in settings.values:
        if key not in KEYS:
            hint = did_you_mean(key, KEYS)
            raise Usage(
                f"{settings.where}: unknown key {key}{hint and f', {hint}'}; expected {', '.join(KEYS)}"
            )
    return settings


def _key(action: argparse.Action) -> str:
    long = [name for name in action.option_strings if name.startswith("--")]
    return long[0].removeprefix("--") if long else action.dest


def _converted(action: argparse.Action, value: object) -> object:
    """The value as the option holds it: what the command line would give for the same words."""
    if action.nargs == 0:
        if not isinstance(value, bool):
            raise argparse.ArgumentTypeError(f"expected true or false, got {value!r}")
        return value
    takes_several = isinstance(action.default, list | tuple)
    words: list[Any] = value if takes_several and isinstance(value, list) else [value]
    if not all(isinstance(word, str) for word in words):
        expected = "a text or a list of texts" if takes_several else "a text"
        raise argparse.ArgumentTypeError(f"expected {expected}, got {value!r}")
    text = ",".join(words)
    if action.choices is not None and text not in action.choices:
        raise argparse.ArgumentTypeError(f"expected {', '.join(action.choices)}, got {text!r}")
    return action.type(text) if callable(action.type) else text
