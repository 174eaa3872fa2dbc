"""Servers whose frames are watched, or lie, in processes that fork from one in which everything is loaded.

* `shown` says which case saw which members in the frames that the server sent.
* `noticed` lets every frame of a kind tell one lie, and runs cases until one notices.
* `every_request` shows the requests that the servers get.
"""

from __future__ import annotations

import importlib
from collections.abc import Callable, Sequence
from typing import Any, TypeAlias

import msgspec

from harness.cli.measures.members import Lie, lied, lies_about
from harness.cli.measures.trying import Outcome, Work, how_of, in_a_fork, results_of
from harness.wire import Command, dissect, encode

Said: TypeAlias = tuple[int, bool]
"""The code of a request, and whether the frame is its answer; else it is a request that the server sends."""
Change: TypeAlias = Callable[[Said, Command], Command]
SECONDS = 90
"""Of processor time that a lie may use: most are heard by few cases, and one of the first notices."""


class Shown(msgspec.Struct, frozen=True):
    """A lie that can be told about a frame of a kind, and the cases that would hear it."""

    said: Said
    lie: Lie
    cases: tuple[str, ...]


def shown(work: Work) -> list[Shown]:
    """What the cases see."""
    return msgspec.convert(in_a_fork(lambda: _shown(work), None), list[Shown])


def noticed(said: Said, lie: Lie, works: Sequence[Work]) -> Outcome:
    """What becomes of the cases when the server lies."""
    return msgspec.convert(in_a_fork(lambda: _noticed(said, lie, works), SECONDS), Outcome)


def _shown(work: Work) -> list[Shown]:
    found: dict[tuple[Said, Lie], dict[str, None]] = {}
    case = [""]

    def watch(said: Said, command: Command) -> Command:
        for lie in lies_about(command):
            found.setdefault((said, lie), {})[case[0]] = None
        return command

    _every_frame(watch)
    for _ in results_of(work, lambda name: case.__setitem__(0, name)):
        pass
    return [Shown(said, lie, tuple(name for name in names if name)) for (said, lie), names in found.items()]


def _noticed(said: Said, lie: Lie, works: Sequence[Work]) -> Outcome:
    line = [""]

    def change(of: Said, command: Command) -> Command:
        return lied(command, lie, line[0]) if of == said else command

    _every_frame(change)
    blocked = Outcome("unseen")
    for work in works:
        line[0] = work.profile
        for name, (verdict, why, lives) in results_of(work, lambda _: None):
            how = how_of(verdict, lives)
            if how == "failure":
                return Outcome(how, name, work.profile, why)
            if how != "unseen":
                blocked = Outcome("blocked", name, work.profile, why)
    return blocked


def _every_frame(change: Change) -> None:
    """Lets `change` see, and change, every frame that the servers of this process send."""
    endpoint: Any = importlib.import_module("reference_impl.remoting.endpoint").RemotingEndpoint
    answer, sending = endpoint.answer, endpoint._sending
    asked: dict[tuple[int, int, int], int] = {}

    def answering(self: Any, connection: int, frame: bytes, now: int) -> bytes | None:
        command = dissect(frame).command
        if command is not None and not command.is_response:
            asked[id(self), connection, command.opaque] = command.code
        found: bytes | None = answer(self, connection, frame, now)
        return found

    def sending_changed(self: Any, connection: int, known: object, frames: list[bytes]) -> object:
        return sending(self, connection, known, [changed(self, connection, frame) for frame in frames])

    def changed(self: Any, connection: int, frame: bytes) -> bytes:
        command = dissect(frame).command
        if command is None:
            return frame
        code = asked.get((id(self), connection, command.opaque)) if command.is_response else command.code
        if code is None:
            return frame
        other = change((code, command.is_response), command)
        return frame if other is command else encode(other)

    endpoint.answer, endpoint._sending = answering, sending_changed


def every_request(watch: Callable[[Command], object]) -> None:
    """Lets `watch` see every request that the servers of this process get and can read."""
    endpoint: Any = importlib.import_module("reference_impl.remoting.endpoint").RemotingEndpoint
    answer = endpoint.answer

    def answering(self: Any, connection: int, frame: bytes, now: int) -> bytes | None:
        command = dissect(frame).command
        if command is not None and not command.is_response:
            watch(command)
        found: bytes | None = answer(self, connection, frame, now)
        return found

    endpoint.answer = answering
