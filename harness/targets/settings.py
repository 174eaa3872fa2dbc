"""The settings that a target is started with, as a Java `.properties` file.

Rules of this module: values are written so that `Properties.load` reads them back as they are; nothing is
checked, for what a setting means is the server's business.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from harness.session import Setup

__all__ = ["in_directory", "write_properties"]


def in_directory(setup: Setup, directory: Path) -> dict[str, str]:
    """The settings by key, `{dir}` in values replaced."""
    return {key: value.replace("{dir}", str(directory)) for key, value in setup}


def write_properties(path: Path, settings: Mapping[str, str]) -> None:
    """Writes `key=value` lines, everything escaped that `Properties.load` would not take literally."""
    lines = [f"{_escaped(key, ' :=#!')}={_escaped(value, '')}\n" for key, value in settings.items()]
    path.write_text("".join(lines), encoding="ascii")


def _escaped(text: str, special: str) -> str:
    written = "".join(_character(one, special) for one in text)
    return "\\" + written if written.startswith(" ") else written


def _character(one: str, special: str) -> str:
    if one == "\\" or one in special:
        return "\\" + one
    if " " <= one <= "~":
        return one
    return "".join(f"\\u{unit:04x}" for unit in _utf16(one))


def _utf16(one: str) -> list[int]:
    encoded = one.encode("utf-16-be", "surrogatepass")
    return [int.from_bytes(encoded[at : at + 2], "big") for at in range(0, len(encoded), 2)]
