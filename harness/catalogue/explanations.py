"""What explains the catalogue: concepts, and what a server does with a request step by step.

Both are sentences that rest on statements: `specs/concepts.yaml`, `specs/algorithms.yaml`.
"""

from __future__ import annotations

import functools
from typing import Any, Literal

import msgspec

from harness.catalogue.files import sound, specs_directory


class Resting(msgspec.Struct, frozen=True):
    """A sentence or a step, and the ids of the statements and quirks that it rests on."""

    text: str
    rests_on: tuple[str, ...]


class Concept(msgspec.Struct, frozen=True):
    """A word of the glossary. `picture` is the name of one that shows it, or empty."""

    name: str
    sentences: tuple[Resting, ...]
    picture: str = ""


class Algorithm(msgspec.Struct, frozen=True):
    """What a server does with a request. The text of a step is indented by two blanks for each level."""

    page: Literal["algorithms", "broker-algorithms"]
    title: str
    about: str
    steps: tuple[Resting, ...]


@functools.cache
def concepts() -> tuple[Concept, ...]:
    """The concepts of this installation, in their order; read once. Raises CatalogueProblems."""
    return tuple(
        Concept(one["name"], _resting(one["sentences"]), one.get("picture", "")) for one in _read("concepts")
    )


@functools.cache
def algorithms() -> tuple[Algorithm, ...]:
    """The algorithms of this installation, in their order; read once. Raises CatalogueProblems."""
    return tuple(
        Algorithm(one["page"], one["title"], one["about"], _resting(one["steps"]))
        for one in _read("algorithms")
    )


def _read(name: str) -> list[dict[str, Any]]:
    return list(sound(specs_directory() / f"{name}.yaml", specs_directory(), name))


def _resting(entries: list[dict[str, str]]) -> tuple[Resting, ...]:
    return tuple(Resting(text, tuple(ids.split())) for entry in entries for text, ids in entry.items())
