"""The chapters of `specs/statements`, in the order and with the classes of `specs/chapters.yaml`."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import msgspec

from harness.catalogue.errors import CatalogueError
from harness.catalogue.files import checked, name_of
from harness.catalogue.statements import Class


class Chapter(msgspec.Struct, frozen=True):
    """One chapter: `place` is the directory of its role, `slug` its part of every id. `class_` is that of its
    statements which do not name another. `about` is a sentence or two in Markdown.
    """

    place: str
    slug: str
    class_: Class
    about: str
    files: tuple[Path, ...]

    @property
    def name(self) -> str:
        """Its name in the catalogue: NameServers, Brokers and clients have chapters with the same slug."""
        return f"{self.place}-{self.slug}" if self.place in ("broker", "client") else self.slug


def load_chapters(specs: Path, problems: list[CatalogueError]) -> list[Chapter]:
    """The chapters of a directory like `specs/`; what is wrong with their order goes to `problems`."""
    order = specs / "chapters.yaml"
    entries: list[dict[str, dict[str, Any]]] = checked(order, specs, "chapters", problems) or []
    listed = [name for entry in entries for name in entry]
    told = {name: one for entry in entries for name, one in entry.items()}
    for name in sorted({name for name in listed if listed.count(name) > 1}):
        problems.append(CatalogueError(f"{name_of(order)} {name}", "it is there twice", "name it once"))
    there: dict[str, list[Path]] = {}
    statements = specs / "statements"
    for path in sorted(statements.rglob("*.yaml")):
        parts = path.relative_to(statements).with_suffix("").parts
        there.setdefault("/".join(parts[:2]), []).append(path)
    for name in there.keys() - set(listed) if listed else ():
        problems.append(
            CatalogueError(
                name_of(there[name][0]),
                "its chapter has no place in the order",
                f"name {name} in chapters.yaml, with its class and what it is about",
            )
        )
    for name in (one for one in listed if one not in there):
        problems.append(
            CatalogueError(
                f"{name_of(order)} {name}", "there is no such chapter", "write it, or drop the name"
            )
        )
    return [
        Chapter(place, slug, one["class"], one["about"], tuple(there[f"{place}/{slug}"]))
        for (place, _, slug), one in ((name.partition("/"), told[name]) for name in told if name in there)
    ]
