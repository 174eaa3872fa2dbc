"""One key of the KV configuration, as calls see it.

A put, a get or a delete takes effect at one moment; what a list shows of a key is a
get. ``relaxed`` is what a server is excused for the sake of an argument (`anomalies`).

Source: KVConfigManager of rocketmq-all-4.9.8 and rocketmq-all-5.3.3, which holds one lock around each.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

import msgspec

from harness.spec.linear import Call


class Put(msgspec.Struct, frozen=True):
    """100."""

    value: str


class Delete(msgspec.Struct, frozen=True):
    """102."""


class Get(msgspec.Struct, frozen=True):
    """101, or what 219 shows of the key; None: there is no such key."""

    value: str | None


class KvState(NamedTuple):
    """What a key holds."""

    value: str | None = None
    lost: str | None = None
    """What it held before; kept only where a server is excused for bringing it back."""


class KvSpec:
    """The specification of one key."""

    def __init__(self, relaxed: str | None = None) -> None:
        self._relaxed = relaxed

    def initial(self) -> KvState:
        return KvState()

    def after(self, state: KvState, call: Call, latest: float) -> Iterable[KvState]:
        match call.action:
            case Get(value):
                if value == state.value:
                    yield state
            case Put(value):
                yield self._changed(state, value)
                if self._relaxed == "lost update of KV":
                    yield state
            case Delete():
                yield self._changed(state, None)

    def _changed(self, state: KvState, value: str | None) -> KvState:
        excused = (self._relaxed == "resurrected pair" and value is None) or (
            self._relaxed == "lost update of KV" and value is not None
        )
        return KvState(value, state.value if excused else None)

    def hidden(self, state: KvState, earliest: float, latest: float) -> Iterable[KvState]:
        if self._relaxed == "resurrected pair" and state.lost is not None:
            yield KvState(state.lost)
        if self._relaxed == "lost update of KV" and state != KvState():
            yield KvState(state.lost)

    def overdue(self, state: KvState, now: float) -> bool:
        return False
