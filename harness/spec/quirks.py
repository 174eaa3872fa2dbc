"""Which quirks of a known server a step brings about.

A quirk names kinds of steps and predicates over the state before the step (`when:` of `specs/targets`).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Generic, TypeVar

from harness.catalogue import Quirk
from harness.program.step import Request
from harness.program.steps import TITLES, AnyStep

State = TypeVar("State")
Predicates = Mapping[str, Callable[[State, AnyStep], bool]]
"""By the name that `holds:` uses; the docstring of each is its meaning."""

_ANY = "request"
"""Stands for every kind of step that is a request."""


def _tag(kind: type) -> str:
    tag: str = kind.__struct_config__.tag  # type: ignore[attr-defined]
    return tag


_TITLES = {_tag(kind): title for kind, title in TITLES.items()} | {_ANY: "every request"}


class QuirksByStep(Generic[State]):
    """Quirks by the kinds of steps that they are about, so that a step is held against few of them."""

    def __init__(self, quirks: Iterable[Quirk], predicates: Predicates[State]) -> None:
        self._quirks = tuple(quirk for quirk in quirks if quirk.when is not None)
        self._predicates = predicates
        self._of: dict[type, list[tuple[Quirk, list[Callable[[State, AnyStep], bool]]]]] = {}

    def __bool__(self) -> bool:
        return bool(self._quirks)

    def __contains__(self, name: str) -> bool:
        """Whether a quirk is among them."""
        return any(quirk.id == name for quirk in self._quirks)

    def triggered_by(self, step: AnyStep, state: State) -> list[Quirk]:
        """The quirks that a step brings about when it is carried out in this state."""
        kind = type(step)
        if kind not in self._of:
            self._of[kind] = self._about(kind)
        return [quirk for quirk, holds in self._of[kind] if all(one(state, step) for one in holds)]

    def _about(self, kind: type[AnyStep]) -> list[tuple[Quirk, list[Callable[[State, AnyStep], bool]]]]:
        names = {_tag(kind)} | ({_ANY} if issubclass(kind, Request) else set())
        return [
            (quirk, [self._predicates[name] for name in quirk.when.holds])
            for quirk in self._quirks
            if quirk.when is not None and names.intersection(quirk.when.steps)
        ]


def step_titles(quirk: Quirk) -> tuple[str, ...]:
    """The operations that bring a quirk about, for people."""
    return () if quirk.when is None else tuple(_TITLES[kind] for kind in quirk.when.steps)


def unknown_words(quirk: Quirk, predicates: Iterable[str], fields: Iterable[str]) -> list[str]:
    """Kinds of steps, predicates and fields that a quirk names and that do not exist."""
    if quirk.when is None:
        return []
    return [
        *(word for word in quirk.when.steps if word not in _TITLES),
        *sorted(set(quirk.when.holds) - set(predicates)),
        *sorted(set(quirk.when.differs) - set(fields)),
    ]
