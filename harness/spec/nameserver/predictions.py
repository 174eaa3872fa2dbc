"""What an answer says, in a form that can be compared; what is predicted and what was said look alike.

- Collections have no order; names that are not ours are left out; what an implementation may choose is not
  in here at all (version, language, serialization, order of members).
- A prediction may be open about components of an answer: `ANY` and `SOME` as a remark, `Open` as a value, the
  members of a view that end in ``_perhaps``.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final, TypeAlias

import msgspec


class Open(msgspec.Struct, frozen=True):
    """Anything goes; ``filled``: anything but nothing."""

    filled: bool = False


ANY: Final = Open()
SOME: Final = Open(filled=True)

BrokerView: TypeAlias = tuple[str | None, dict[int, str], bool | None, str | None]
"""Cluster, addresses by id, acting master (None on 4.9), zone."""


class Unreadable(msgspec.Struct, frozen=True):
    """A body that is not what it should be."""

    problem: str


class RouteView(msgspec.Struct):
    """A route (105)."""

    queues: dict[str, tuple[int, int, int, int]]
    brokers: dict[str, BrokerView]
    filters: Mapping[str, tuple[str | None, ...]]
    order: str | None = None
    mappings: dict[str, int] = {}
    filters_perhaps: dict[str, tuple[str, ...]] = {}
    mappings_perhaps: dict[str, int] = {}


class ClusterView(msgspec.Struct):
    """Cluster information (106)."""

    brokers: dict[str, BrokerView]
    clusters: dict[str, frozenset[str]]


class ListView(msgspec.Struct):
    """A list of names, without the order; ``twice``: names that are in it more than once."""

    names: frozenset[str]
    twice: frozenset[str] = frozenset()
    perhaps: frozenset[str] = frozenset()
    """May be there or not."""
    is_whole: bool = True
    """Whether it has nothing but these names."""
    address: str | None = None
    """What it tells beside the names (304)."""


class ConfigView(msgspec.Struct):
    """Settings by name (319). One that is None must not be listed."""

    settings: dict[str, str | None]


class Prediction(msgspec.Struct):
    """An answer. ``ext`` holds what it must have; ``learns``: what it says is news to the state."""

    code: int = 0
    remark: str | Open = ANY
    """A text only where a statement says which."""
    plain: bool = False
    """Neither a remark nor an ext field that is not predicted, known or not."""
    ext: dict[str, str] | Open = {}
    body: Any = None
    learns: bool = False
    silent: bool = False
    """No answer at all."""
