"""What the document draws from recorded traffic: `specs/scenes.yaml`, and where the traces lie."""

from __future__ import annotations

import functools
from pathlib import Path

import msgspec

from harness.catalogue.files import sound, specs_directory
from harness.catalogue.roles import Role


class Scene(msgspec.Struct, frozen=True):
    """A case that is played on Apache's server: the one that proves `statement`."""

    name: str
    role: Role
    statement: str
    title: str
    about: str

    @property
    def trace(self) -> Path:
        """The file of its recorded trace."""
        return specs_directory() / "examples" / "scenes" / f"{self.name}.jsonl"


@functools.cache
def scenes() -> tuple[Scene, ...]:
    """The scenes of this installation, in their order; read once. Raises CatalogueProblems."""
    said = sound(specs_directory() / "scenes.yaml", specs_directory(), "scenes")
    return msgspec.convert(said, tuple[Scene, ...])
