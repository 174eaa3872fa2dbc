"""Named explanations of divergences: data from `specs/divergences.yaml`, and what each of them covers.

Rules of this module:
- A quirk is tied to steps, by their kind and by predicates over what exists when they are carried out. It
  explains nothing in a round in which no such step was carried out.
- It explains fields of the answer to that very step (`differs`), and after it whatever is said about the
  names that it taints, and nothing about any other name.
- Taint spreads with requests that tie a tainted name to others, and ends with the round.
"""

from __future__ import annotations

import functools
import re
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any, Literal

import msgspec

from harness.catalogue import CatalogueError, CatalogueProblems, specs_directory
from harness.catalogue.load import checked_items
from harness.differential.model import PREDICATES, Lease, Model
from harness.differential.normal import FIELDS, Difference
from harness.program.steps import (
    QUIET,
    TITLES,
    AnyStep,
    Close,
    DeleteTopic,
    Register,
    Request,
    SystemTopics,
    Time,
)

__all__ = ["ByStep", "Quirk", "Taints", "applying", "load_quirks", "quirks", "titles_of", "words_of"]

Scope = Literal["nothing", "broker", "address", "holder", "server"]


class Quirk(msgspec.Struct, frozen=True, kw_only=True):
    """One item of `specs/divergences.yaml`; the schema says what each member means."""

    id: str
    profiles: tuple[str, ...]
    targets: tuple[str, ...]
    steps: tuple[str, ...]
    when: tuple[str, ...] = ()
    differs: tuple[str, ...] = ()
    taints: Scope = "nothing"
    passing: bool = False
    text: str
    reference: str
    source: str
    facts: tuple[str, ...] = ()
    statements: tuple[str, ...] = ()

    def triggered_by(self, step: AnyStep, model: Model) -> bool:
        """Whether a step of its kinds, where it is carried out now, is one that this quirk is about."""
        return all(PREDICATES[name](model, step) for name in self.when)


@functools.cache
def quirks() -> tuple[Quirk, ...]:
    """Those of this installation; read once."""
    return load_quirks(specs_directory())


def load_quirks(specs: Path) -> tuple[Quirk, ...]:
    """The quirks of a directory like `specs/`.

    Raises:
        CatalogueProblems: with everything that is wrong with the file.
    """
    path = specs / "divergences.yaml"
    problems: list[CatalogueError] = []
    items = checked_items(path, specs, "divergence", problems)
    found = tuple(msgspec.convert(item, Quirk) for item in items)
    for quirk in found:
        where = f"specs/divergences.yaml {quirk.id}"
        for words, known, what in (
            (quirk.when, tuple(PREDICATES), "predicate"),
            (quirk.steps, (*_KINDS, _ANY), "step"),
            (quirk.differs, FIELDS, "field"),
        ):
            problems += [
                CatalogueError(where, f"unknown {what} {word!r}", f"known are: {', '.join(known)}")
                for word in words
                if word not in known
            ]
    doubled = {quirk.id for quirk in found if sum(other.id == quirk.id for other in found) > 1}
    problems += [
        CatalogueError(f"specs/divergences.yaml {one}", "this id is used twice", "rename one")
        for one in doubled
    ]
    if problems:
        raise CatalogueProblems(problems)
    return found


_BY_KIND = {str(kind.__struct_config__.tag): TITLES[kind] for kind in AnyStep.__args__}
_KINDS = tuple(_BY_KIND)


def titles_of(quirk: Quirk) -> tuple[str, ...]:
    """What the steps of a quirk are called, for people."""
    return tuple("every request" if kind == _ANY else _BY_KIND[kind] for kind in quirk.steps)


_ANY = "request"
"""Stands for every kind of step that is a request."""


class ByStep:
    """Quirks by the kinds of steps that they are about, so that a step is held against few of them."""

    def __init__(self, found: Iterable[Quirk]) -> None:
        self._of: dict[type, tuple[Quirk, ...]] = {}
        quirks = tuple(found)
        for kind in AnyStep.__args__:
            names = {str(kind.__struct_config__.tag)} | ({_ANY} if issubclass(kind, Request) else set())
            self._of[kind] = tuple(quirk for quirk in quirks if names.intersection(quirk.steps))

    def triggered_by(self, step: AnyStep, model: Model) -> list[Quirk]:
        """The quirks that a step is about, where it is carried out now."""
        return [quirk for quirk in self._of[type(step)] if quirk.triggered_by(step, model)]


def applying(found: Iterable[Quirk], profile: str, schemes: Sequence[str]) -> tuple[Quirk, ...]:
    """The quirks that two targets of these schemes can show under a profile."""
    return tuple(
        quirk for quirk in found if profile in quirk.profiles and any(s in quirk.targets for s in schemes)
    )


# --- which names a quirk has touched ------------------------------------------------------------------------

_SYMBOL = re.compile(r"\b[abk]\d+\b")


class Taints:
    """The names that quirks of this round have touched, and by which quirk."""

    def __init__(self) -> None:
        self._by: dict[str, str] = {}
        self._alone: set[str] = set()
        """Addresses whose taint does not spread: what is wrong about them is theirs alone."""
        self._clusters: dict[str, str] = {}
        """Whether a cluster exists at all may differ; what is said about others in it may not."""
        self.server: str | None = None
        """The quirk that has touched everything."""

    def __bool__(self) -> bool:
        return bool(self._by) or self.server is not None

    def add(self, quirk: Quirk, step: AnyStep, model: Model) -> None:
        """A step that the quirk is about is going to be carried out."""
        if quirk.taints == "server":
            self.server = quirk.id
        elif quirk.taints != "nothing":
            touched = _touched(quirk.taints, step, model)
            if quirk.taints == "address":
                self._alone |= touched - self._by.keys()
            else:
                self._alone -= touched
            self._taint(touched, quirk.id)

    def spread(self, step: AnyStep, model: Model) -> None:
        """A step ties tainted names to others."""
        if not self._by or isinstance(step, QUIET):
            return
        words = words_of(step)
        if isinstance(step, Time | Close):
            leases = model.on(step.conn) if isinstance(step, Close) else model.ending(step)
            for lease in leases:
                self._spread_over({lease.broker, lease.address}, model)
            return
        self._spread_over(words, model)

    def _spread_over(self, words: set[str], model: Model) -> None:
        ties = (word for word in sorted(words - self._alone) if word[0] in "ab")
        by = next((self._by[word] for word in ties if word in self._by), None)
        if by is not None:
            brokers = {word for word in words if word[0] == "b"}
            self._taint(words | _around(brokers, model), by)

    def _taint(self, words: set[str], quirk: str) -> None:
        for word in words:
            known = self._clusters if word.startswith("c") else self._by
            known.setdefault(word, quirk)

    def explains(self, difference: Difference, step: AnyStep) -> str | None:
        """The quirk whose names are all that a difference is about, or None."""
        if self.server is not None:
            return self.server
        if not self._by:
            return None
        asked = next((self._by[word] for word in sorted(words_of(step)) if word in self._by), None)
        found: str | None = asked
        for fact in difference.facts():
            by = self._about(fact)
            if isinstance(step, SystemTopics):
                by = by or self._clusters.get(fact[-1])
            if by is None and (asked is None or (difference.field == "body" and not _is_whole(fact))):
                return None
            found = by or found
        return found

    def _about(self, fact: tuple[str, ...]) -> str | None:
        for word in fact:
            if word in self._by:
                return self._by[word]
            for symbol in _SYMBOL.findall(word):
                if symbol in self._by:
                    return self._by[symbol]
        return None


def _is_whole(fact: tuple[str, ...]) -> bool:
    """A fact about the whole body: that there is none, or one that is not taken apart."""
    return len(fact) <= 2


def _touched(scope: Scope, step: AnyStep, model: Model) -> set[str]:
    if isinstance(step, Time | Close):
        leases = model.ending(step) if isinstance(step, Time) else model.on(step.conn)
        return _of_leases(leases, model)
    words = words_of(step)
    if scope == "address":
        return {word for word in words if word.startswith("a")}
    if scope == "holder":
        return model.holders(step) if isinstance(step, Register) else set()
    # It names no broker, and is about those that have mapped the topic.
    mapped = model.mapped.get(step.topic, set()) if isinstance(step, DeleteTopic) else set()
    return words | mapped | _around({word for word in words if word.startswith("b")}, model)


def _of_leases(leases: Iterable[Lease], model: Model) -> set[str]:
    touched = set()
    for lease in leases:
        for other in (lease, *model.on(lease.conn)):
            touched |= {other.broker, other.address} | _around({other.broker}, model)
    return touched


def _around(brokers: set[str], model: Model) -> set[str]:
    """Addresses, topics and clusters of broker names."""
    found: set[str] = set()
    for broker in brokers:
        name = model.names.get(broker)
        if name is not None:
            found |= {*name.ids.values(), *name.topics, *name.clusters}
        found |= {topic for topic, names in model.topics.items() if broker in names}
    return found


def words_of(step: AnyStep) -> set[str]:
    """The symbols that a step names."""
    found: set[str] = set()
    for field in step.__struct_fields__:
        value: Any = getattr(step, field)
        match field, value:
            case "broker" | "address" | "topic" | "cluster", str():
                found.add(value)
            case "topics", dict():
                found |= set(value)
            case "queues", dict():
                found |= set(value)
    return found
