"""What every judge can do: be shown what happens, expect something within a time, and remark.

A judge keeps what it knows by connection, so that what ends with one is forgotten with it.
"""

from __future__ import annotations

import heapq
from collections.abc import Callable, Hashable, Sequence
from typing import ClassVar, Final

import msgspec

from harness.wire.code_names import request_words, response_name

from .remark import Evidence, Remark
from .stream import Ended, Happening, Said


class Judge:
    """Judges some statements. A subclass overrides what it needs to see."""

    statements: ClassVar[Sequence[str]]
    """The ids of those that it judges, without `cl.`."""

    def __init__(self, desk: Desk) -> None:
        self._desk = desk

    def asked(self, said: Said) -> None:
        """A client asks a server."""

    def answered(self, request: Said, answer: Said) -> None:
        """A server answers a client."""

    def pushed(self, said: Said) -> None:
        """A server asks a client."""

    def responded(self, request: Said, answer: Said) -> None:
        """A client answers a server."""

    def undecodable(self, said: Said) -> None:
        """A client sends a frame that holds no command."""

    def ended(self, end: Ended) -> None:
        """A connection of a client has ended."""

    def finished(self) -> None:
        """Nothing more comes."""

    def remark(self, statement: str, sentence: str, *evidence: Happening, kind: str = "") -> None:
        """Remarks. The last piece of the evidence decides whose it is. A client gets one remark for each
        statement and kind; further ones are counted.
        """
        self._desk.remark(statement, sentence, evidence, kind)


class Desk:
    """Where judges leave remarks, and what they wait for."""

    def __init__(self) -> None:
        self.now = self.at = 0.0
        self._found: dict[tuple[int, str, str], _Found] = {}
        self._due: list[tuple[float, int, Hashable]] = []
        self._late: dict[Hashable, tuple[int, Callable[[], None]]] = {}
        self._count = 0

    def pass_to(self, happening: Happening) -> None:
        """It is so late now; what was expected before and has not come is remarked."""
        self._expire(happening.now)
        self.now, self.at = happening.now, happening.at

    def expect(self, key: Hashable, within: float, late: Callable[[], None]) -> None:
        """Unless `met` is called for the key within that many seconds, `late` is. What was expected for the
        key before is no longer.
        """
        self._count += 1
        self._late[key] = (self._count, late)
        heapq.heappush(self._due, (self.now + within, self._count, key))

    def met(self, key: Hashable) -> bool:
        """It has come, or is no longer expected. Whether it was expected."""
        return self._late.pop(key, None) is not None

    def forget(self, *begins: Hashable) -> None:
        """What is expected for keys that begin so is no longer."""
        for key in [one for one in self._late if isinstance(one, tuple) and one[: len(begins)] == begins]:
            del self._late[key]

    def remark(self, statement: str, sentence: str, evidence: tuple[Happening, ...], kind: str) -> None:
        """See `Judge.remark`."""
        key = (evidence[-1].connection.number, statement, kind)
        if key in self._found:
            self._found[key].times += 1
        else:
            self._found[key] = _Found(sentence, evidence, self.at)

    @property
    def remarks(self) -> list[Remark]:
        """All remarks, in order. Clients have the names by now that their heartbeats said later, so that what
        one did on several connections is one remark.
        """
        found: dict[tuple[str, str, str], Remark] = {}
        for (_, statement, kind), one in self._found.items():
            connection = one.evidence[-1].connection
            if not connection.is_judged:
                continue
            key = connection.name, statement, kind
            if (before := found.get(key)) is not None:
                found[key] = msgspec.structs.replace(before, times=before.times + one.times)
                continue
            found[key] = Remark(
                client=connection.name,
                statement=f"cl.{statement}",
                sentence=one.sentence,
                evidence=tuple(map(_evidence, one.evidence)),
                at=one.at,
                times=one.times,
            )
        return list(found.values())

    def _expire(self, now: float) -> None:
        while self._due and self._due[0][0] < now:
            _, number, key = heapq.heappop(self._due)
            if key in self._late and self._late[key][0] == number:
                self._late.pop(key)[1]()


class _Found(msgspec.Struct):
    sentence: str
    evidence: tuple[Happening, ...]
    at: float
    times: int = 1


_SHOWN: Final = 160


def _evidence(one: Happening) -> Evidence:
    return Evidence(
        at=one.at,
        connection=one.connection.number,
        server=one.connection.server,
        from_client=one.by == "us",
        text=_text(one) if isinstance(one, Said) else "closes the connection",
        frame=one.told.frame if isinstance(one, Said) else b"",
    )


def _text(said: Said) -> str:
    command = said.told.command
    if command is None:
        return f"a frame that cannot be decoded, {len(said.told.frame)} bytes"
    name = (
        f"answer {response_name(command.code) or command.code}"
        if command.is_response
        else request_words(command.code)
    )
    fields = " ".join(f"{field}={value}" for field, value in (command.ext or {}).items())
    text = f"{name} opaque {command.opaque} {fields}".rstrip()
    return text if len(text) <= _SHOWN else f"{text[:_SHOWN]}…"
