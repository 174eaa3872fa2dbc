"""A register, as calls see it: a key of the KV configuration, or the offset of a group in a queue.

A put, a get or a delete takes effect at one moment; what a list shows of a key is a
get. ``relaxed`` is the name of what a server is excused for the sake of an argument (`naming`): that a put is
``lost``, or that what was deleted comes ``back``.

Source: KVConfigManager of rocketmq-all-4.9.8 and rocketmq-all-5.3.3, which holds one lock around each.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

import msgspec

from harness.spec.linear import Call


class Put(msgspec.Struct, frozen=True):
    """The register gets a value."""

    value: str


class Delete(msgspec.Struct, frozen=True):
    """It has no value any more."""


class Get(msgspec.Struct, frozen=True):
    """What was read; None: there is no value."""

    value: str | None


class Register(NamedTuple):
    """What a register holds."""

    value: str | None = None
    lost: str | None = None
    """What it held before; kept only where a server is excused for bringing it back."""


class RegisterSpec:
    """The specification of one register, which holds ``initial`` at first."""

    def __init__(
        self, relaxed: str | None = None, *, lost: str, back: str | None = None, initial: str | None = None
    ) -> None:
        self._start = Register(initial)
        self._may_lose = relaxed == lost
        self._may_come_back = relaxed is not None and relaxed == back

    def initial(self) -> Register:
        return self._start

    def after(self, state: Register, call: Call, latest: float) -> Iterable[Register]:
        match call.action:
            case Get(value):
                if value == state.value:
                    yield state
            case Put(value):
                yield self._changed(state, value)
                if self._may_lose:
                    yield state
            case Delete():
                yield self._changed(state, None)

    def _changed(self, state: Register, value: str | None) -> Register:
        excused = (self._may_come_back and value is None) or (self._may_lose and value is not None)
        return Register(value, state.value if excused else None)

    def hidden(self, state: Register, earliest: float, latest: float) -> Iterable[Register]:
        if self._may_come_back and state.lost is not None:
            yield Register(state.lost)
        if self._may_lose and state != self._start:
            yield Register(state.lost)

    def overdue(self, state: Register, now: float) -> bool:
        return False
