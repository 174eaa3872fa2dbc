"""Where Apache's classes lie: statements and quirks name them shortly, `specs/sources.yaml` says the rest."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import msgspec

from harness.catalogue.versions import numbers


class Source(msgspec.Struct, frozen=True):
    """A place in Apache's code."""

    tag: str
    path: str
    method: str | None = None
    line: int | None = None
    """Where its first method begins, if that is known."""

    def __str__(self) -> str:
        """`RouteInfoManager#registerBroker (rocketmq-all-5.3.3)`."""
        return f"{self.place} ({self.tag})"

    @property
    def name(self) -> str:
        """`RouteInfoManager`."""
        return self.path.rsplit("/", 1)[-1].rsplit(".", 1)[0]

    @property
    def place(self) -> str:
        """`RouteInfoManager#registerBroker, #scan`."""
        return f"{self.name}#{self.method.replace(', ', ', #')}" if self.method else self.name

    @property
    def methods(self) -> tuple[str, ...]:
        """`("registerBroker", "scan")`."""
        return tuple(self.method.split(", ")) if self.method else ()

    @property
    def version(self) -> str:
        """`5.3.3`."""
        return self.tag.rpartition("-")[2]


class Sources(msgspec.Struct, frozen=True):
    """The tag of a version, and the file of each class; by the first version that has it, where it moved.

    `lines`: where methods begin, by tag and class, as far as that was written down.
    """

    tag: str = "{version}"
    classes: dict[str, str | dict[str, str]] = {}
    lines: dict[str, dict[str, dict[str, int]]] = {}

    def named(self, texts: Sequence[str]) -> tuple[Source, ...]:
        """The places that texts like `RouteInfoManager#registerBroker (4.9.8, 5.3.3)` name.

        Raises:
            KeyError: a class, or its file at a version, is not in the table.
        """
        return tuple(source for text in texts for source in self._named(text))

    def _named(self, text: str) -> Iterator[Source]:
        place, _, versions = text.removesuffix(")").partition(" (")
        name, _, methods = place.partition("#")
        for version in versions.split(", "):
            tag = self.tag.format(version=version)
            line = self.lines.get(tag, {}).get(name, {}).get(methods.split(", ")[0])
            yield Source(tag, self._path(name, version), methods or None, line)

    def _path(self, name: str, version: str) -> str:
        path = self.classes[name]
        if isinstance(path, str):
            return path
        reached = [first for first in path if numbers(first) <= numbers(version)]
        if not reached:
            raise KeyError(f"{name} at {version}")
        return path[max(reached, key=numbers)]
