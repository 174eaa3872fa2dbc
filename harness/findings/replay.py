"""A trace, done again on any target.

What is done is said in `harness.findings.replay_core`; here are the connections and the clock of targets of
ours. Nothing is judged but whether the answers are the same.
"""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Sequence
from typing import cast

from harness.findings.record import Record
from harness.findings.replay_core import Line, NotOurs, Player
from harness.session import (
    Instance,
    NameServerInstance,
    PeerReset,
    TargetDied,
    Transport,
    TransportTimeout,
    Unsupported,
)
from harness.session.tls import TlsTransport


class _Line:
    """A connection to a target."""

    def __init__(self, transport: Transport) -> None:
        self._transport = transport
        self.local = transport.local

    def send(self, data: bytes) -> None:
        with contextlib.suppress(TargetDied):  # it is without an answer
            self._transport.send(data)

    def receive(self, seconds: float) -> bytes | None:
        try:
            return self._transport.receive(seconds)
        except TransportTimeout:
            return None
        except (PeerReset, TargetDied):
            return b""

    def close(self, how: str) -> None:
        with contextlib.suppress(TargetDied):
            match how:
                case "half":
                    self._transport.close("half")
                case "reset":
                    self._transport.close("reset")
                case _:
                    self._transport.close("fin")


def _controller_of(instance: Instance) -> Transport:
    """A connection to the controller of a NameServer."""
    return cast(NameServerInstance, instance).open_controller()


class _Instances:
    """Running targets."""

    def __init__(self, instances: Sequence[Instance]) -> None:
        self._instances = instances

    def connect(self, server: int, preamble: bytes, tls: bool, controller: bool = False) -> Line:
        instance = self._instances[server]
        try:
            transport = _controller_of(instance) if controller else instance.open()
        except (TargetDied, Unsupported) as problem:
            raise ConnectionError(str(problem)) from problem
        with contextlib.suppress(TargetDied):
            transport.send(preamble)
        if tls:
            secured = TlsTransport(transport, instance.clock)
            secured.agree(instance.clock.timing.answer)
            transport = secured
        return _Line(transport)

    def now(self, server: int) -> float:
        return self._instances[server].clock.now()

    def elapsed(self, server: int) -> float:
        return self._instances[server].clock.waiting()

    def waiting(self, server: int, seconds: float) -> float:
        return seconds / (self._instances[server].clock.warp or 1.0)

    def advance(self, server: int, seconds: float) -> None:
        with contextlib.suppress(TargetDied):  # the next connection tells
            self._instances[server].clock.advance(seconds, lambda: None)

    def restart(self, server: int, how: str) -> None:
        instance = self._instances[server]
        try:
            if how == "stop":
                instance.shutdown()
            else:
                instance.restart("kill" if how == "kill" else "term")
        except Unsupported as problem:
            raise NotOurs(str(problem)) from problem


def replayed(record: Record, instances: Sequence[Instance], choose: Callable[[int], int]) -> Player:
    """A player of a record on running targets; `choose(n)` gives a number below n, for new names."""
    return Player(record.data, _Instances(instances), choose)
