"""The requests of clients, decoded, each with its answer."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import overload

import msgspec

from harness.trace import Trace
from harness.wire import Command, RequestCode, WireError, decode
from harness.wire.code_names import request_name, request_words, response_name

from .problems import OptionError
from .recording import Frame, Recorded


class Answer(msgspec.Struct, frozen=True, kw_only=True):
    """What came back."""

    code: int
    name: str
    """`SUCCESS`, `TOPIC_NOT_EXIST`, …"""
    remark: str | None
    ext: dict[str, str | None]
    body: bytes
    at: int


class Request(msgspec.Struct, frozen=True, kw_only=True):
    """One request. Times are ms since the epoch, by the clock of the servers."""

    code: int
    name: str
    """`SEND_MESSAGE_V2`, …"""
    ext: dict[str, str | None]
    body: bytes
    server: str
    """Who got it, such as `broker-a-0` or `nameserver-0`."""
    client: str
    """Its address, "ip:port"."""
    language: str | None
    opaque: int
    oneway: bool
    from_server: bool
    """Whether a server asked the client: a transaction check, a notification."""
    at: int
    answer: Answer | None
    """None: there is none, or none yet."""

    def __str__(self) -> str:
        told = "" if self.answer is None else f" → {self.answer.name}"
        about = " ".join(f"{name}={value}" for name, value in self.ext.items())[:120]
        arrow = "→" if self.from_server else "←"
        return f"{self.server} {arrow} {self.client} {request_words(self.code)} {about}{told}"


class Requests(Sequence[Request]):
    """Requests in the order in which they came, and the bytes that they are made of."""

    def __init__(self, recorded: Recorded, code: int | None = None, *, of_servers: bool = False) -> None:
        self._recorded = recorded
        self._all = [
            one for one in _requests(recorded) if code in (None, one.code) and one.from_server is of_servers
        ]

    @overload
    def __getitem__(self, index: int) -> Request: ...
    @overload
    def __getitem__(self, index: slice) -> list[Request]: ...
    def __getitem__(self, index: int | slice) -> Request | list[Request]:
        return self._all[index]

    def __len__(self) -> int:
        return len(self._all)

    def __str__(self) -> str:
        return "\n".join(map(str, self._all)) or "no requests"

    @property
    def traces(self) -> dict[str, Trace]:
        """Everything that was said, whatever `code` was asked for, by server."""
        return self._recorded.traces()

    def save(self, directory: str | os.PathLike[str]) -> list[Path]:
        """Write a trace of each server, for `rmq-harness decode FILE` and `replay FILE TARGET`."""
        return self._recorded.save(Path(directory))


def number_of(code: int | str | None) -> int | None:
    """A request code by its number or name. Raises OptionError."""
    if isinstance(code, str) and code.isascii() and code.isdigit():
        return int(code)
    if isinstance(code, str):
        try:
            return RequestCode[code.upper()].value
        except KeyError:
            raise OptionError(
                f"code={code!r}: expected the number or name of a request, such as 310 or 'SEND_MESSAGE_V2'"
            ) from None
    return code


def _requests(recorded: Recorded) -> Iterator[Request]:
    asked: dict[tuple[int, bool, int], int] = {}
    found: list[Request] = []
    for frame in recorded.frames:
        try:
            command = decode(frame.data, invalid_utf8="replace")
        except WireError:
            continue
        if command.is_response:
            at = asked.pop((frame.connection, not frame.is_request_side, command.opaque), None)
            if at is not None:
                found[at] = msgspec.structs.replace(found[at], answer=_answer(frame, command))
            continue
        asked[frame.connection, frame.is_request_side, command.opaque] = len(found)
        found.append(_request(recorded, frame, command))
    return iter(found)


def _request(recorded: Recorded, frame: Frame, command: Command) -> Request:
    link = recorded.connections[frame.connection]
    return Request(
        code=command.code,
        name=request_name(command.code) or str(command.code),
        ext=command.ext or {},
        body=command.body,
        server=link.server,
        client=link.local,
        language=command.language,
        opaque=command.opaque,
        oneway=command.is_oneway,
        from_server=not frame.is_request_side,
        at=frame.at,
        answer=None,
    )


def _answer(frame: Frame, command: Command) -> Answer:
    return Answer(
        code=command.code,
        name=response_name(command.code) or str(command.code),
        remark=command.remark,
        ext=command.ext or {},
        body=command.body,
        at=frame.at,
    )
