"""One fault of a test: it lasts, is met, and ends."""

from __future__ import annotations

import threading
from collections import Counter
from collections.abc import Callable
from types import TracebackType
from typing import Protocol, Self, TypeVar

import msgspec

from harness.wire.code_names import request_words
from reference_impl.serve.faults import Layers, Request, Rule

from .departures import Departures
from .waiting import wait_until

_T = TypeVar("_T")
_MOST_KINDS = 50
"""Kinds of requests that a fault remembers to have passed over."""


class Host(Protocol):
    """Servers that faults can happen to."""

    layers: Layers
    departures: Departures

    def call(self, what: Callable[[], _T]) -> _T:
        """What a function gives that is called in the event loop of the servers."""
        ...


class FaultNotMetError(AssertionError):
    """A fault was met less often than the test expected, so the test has not tested what it is for."""


class Met(msgspec.Struct, frozen=True):
    """A request that has met a fault."""

    server: str
    """ "broker-a-0", "nameserver-0"."""
    code: int
    topics: tuple[str, ...]
    groups: tuple[str, ...]
    queue: int | None
    client: str | None
    what: str = ""
    """What happened, where that was drawn."""

    def __str__(self) -> str:
        about = f" of {', '.join(self.topics or self.groups)}" if self.topics or self.groups else ""
        return f"{request_words(self.code)}{about} at {self.server}{self.what and ': '}{self.what}"


class Fault:
    """A fault. It has begun when this is made; it ends when it has happened `times` times, with the `with`
    that it is given to, or with `end`.

    The end of the `with` raises `FaultNotMetError` if the fault was met less than `times` times, or never.
    Where the block raises itself, that exception gets a note of what the fault has done.
    """

    def __init__(self, host: Host, title: str, expected: int, ended: Callable[[Fault], None]) -> None:
        self.title = title
        self.met: list[Met] = []
        """What has met it so far."""
        self._host = host
        self._expected = expected
        self._ended = ended
        self._passed: Counter[str] = Counter()
        self._changing = threading.Lock()
        self._rule: Rule | None = None

    def begin(self, rule: Rule) -> Self:
        """Begin it, once."""
        self._host.call(lambda: self._host.layers.begin(rule))
        self._rule = rule
        return self

    def happened(self, request: Request, happens: bool, what: str = "") -> None:
        """What rules call in the event loop of the servers."""
        met = Met(
            request.server,
            request.command.code,
            tuple(sorted(request.topics)),
            tuple(sorted(request.groups)),
            request.queue,
            request.client,
            what,
        )
        with self._changing:
            if happens:
                self.met.append(met)
            elif (met.topics or met.groups) and len(self._passed) < _MOST_KINDS:
                self._passed[str(met)] += 1

    def wait(self, times: int = 1, timeout: float = 10.0) -> None:
        """Return when the fault has been met so often. Raises FaultNotMetError after `timeout` seconds."""
        if not wait_until(lambda: self._host.call(lambda: len(self.met) >= times), timeout):
            with self._changing:
                raise FaultNotMetError(self._lacking(times, f" within {timeout:g} s"))

    def end(self) -> None:
        """End it, if it has not ended yet. Raises FaultNotMetError."""
        self.stop()
        self.judge(None)

    def judge(self, error: BaseException | None) -> None:
        """Raises FaultNotMetError, or adds a note to an error that is on its way."""
        if error is not None:
            error.add_note(str(self))
            return
        with self._changing:
            if len(self.met) < self._expected:
                raise FaultNotMetError(self._lacking(self._expected, ""))

    def stop(self) -> None:
        """End it, however often it was met."""
        rule, self._rule = self._rule, None
        if rule is not None:
            self._host.call(lambda: self._host.layers.end(rule))
            self._ended(self)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.stop()
        self.judge(error)

    def __str__(self) -> str:
        """What it has done."""
        with self._changing:
            lines = [f"fault {self.title} was met by {_times(len(self.met))}", *map(str, self.met)]
        return "\n  ".join(lines)

    def _lacking(self, expected: int, when: str) -> str:
        asked = [f"{count} × {what}" for what, count in self._passed.most_common(10)]
        seen = "Other requests: " + "; ".join(asked) if asked else "There were no other requests"
        return (
            f"{self.title} was met by {_times(len(self.met))}{when}, expected {expected}. {seen}. "
            "Has the application come that far, and does the selection fit?"
        )


def _times(count: int) -> str:
    return "1 request" if count == 1 else f"{count} requests"
