"""Requests and their answers as they were recorded from Apache's servers: `specs/examples/`."""

from __future__ import annotations

import functools
from pathlib import Path

import msgspec

from harness.catalogue.files import sound, specs_directory
from harness.catalogue.roles import ROLES, Role


class ExampleFrame(msgspec.Struct, frozen=True, omit_defaults=True):
    """A frame as it was on the wire: its header is JSON, its body is text, or else bytes in `hex`."""

    header: str
    body: str = ""
    hex: str = ""


class Example(msgspec.Struct, frozen=True, omit_defaults=True):
    """A request and its answer; None where it is one-way."""

    request: ExampleFrame
    response: ExampleFrame | None = None


class Examples(msgspec.Struct, frozen=True):
    """Those of a role, by code. `recorded`: the release of Apache's that answered."""

    recorded: str
    examples: dict[int, Example]


@functools.cache
def examples(role: Role) -> Examples:
    """The examples of this installation; read once. None are recorded where there is no file.

    Raises:
        CatalogueProblems: the file breaks its schema.
    """
    if not path_of(role).exists():
        return Examples("", {})
    said = sound(path_of(role), specs_directory(), "examples")
    return msgspec.convert(said, Examples, strict=False)


def path_of(role: Role) -> Path:
    """Where they lie."""
    return specs_directory() / "examples" / f"{role}.yaml"


def all_examples() -> dict[Role, Examples]:
    """Those of every role."""
    return {role: examples(role) for role in ROLES}
