"""A Broker that is a process of ours, and the probing NameServers that it registers with.

The NameServers are there before the Broker starts and after it has stopped; they live
in this process, so an instance cannot be shared with another one.
"""

from __future__ import annotations

import re
import time
from collections.abc import Callable
from pathlib import Path

from harness.session import ServedNameServer, Setup, SocketTransport, connect
from harness.session.clock import RunningClock
from harness.targets.process import Command, ProcessInstance
from harness.wire import RequestCode

PORTS = (0, -2, 1)
"""Where a Broker listens beside its port: the fast one for producers, and that of replication
(`BrokerController`).
"""
_REGISTERS_WITHIN = 10.0
"""Real seconds in which a Broker that takes connections registers, if ever."""
_PAUSE = 0.1
_PLACEHOLDER = re.compile(r"\{nameserver(\d?)\}")


class BrokerProcess(ProcessInstance):
    """A running Broker. ``command`` is made once it is known where ``count`` NameServers are."""

    def __init__(
        self,
        command: Callable[[tuple[str, ...]], Command],
        warp: float,
        count: int,
        kept_in: Path | None = None,
        *,
        registers_within: float = _REGISTERS_WITHIN,
    ) -> None:
        clock = RunningClock(warp)
        self._nameservers = tuple(ServedNameServer(clock) for _ in range(count))
        super().__init__(command(tuple(one.address for one in self._nameservers)), clock, kept_in)
        self._wait_until_it_registers(registers_within)

    def _wait_until_it_registers(self, within: float) -> None:
        """Apache's Broker takes connections in the middle of its start, and asks for members of its name
        before it registers. One that rests there would have the rest of it still to do when its case begins.
        """
        end = time.monotonic() + within
        while not self._has_registered() and self.alive():
            if time.monotonic() > end:
                return
            time.sleep(_PAUSE)

    def _has_registered(self) -> bool:
        heard = (request for one in self._nameservers for request in one.heard())
        return any(request.command.code == RequestCode.REGISTER_BROKER for request in heard)

    @property
    def nameservers(self) -> tuple[ServedNameServer, ...]:
        return self._nameservers

    def open_at(self, address: str) -> SocketTransport:
        host, _, port = address.rpartition(":")
        return connect(host, int(port))

    def shared(self) -> None:  # type: ignore[override]
        """Nothing: another process starts its own."""

    def stop(self) -> None:
        super().stop()
        for one in self._nameservers:
            one.stop()


def nameservers_in(setup: Setup) -> int:
    """How many NameServers the settings need: values name them ``{nameserver}``, ``{nameserver2}``, …"""
    found = [found[1] for _, value in setup for found in _PLACEHOLDER.finditer(value)]
    return max([1, *(int(number or 1) for number in found)])


def with_nameservers(text: str, addresses: tuple[str, ...]) -> str:
    """The text with their addresses."""
    return _PLACEHOLDER.sub(lambda found: addresses[int(found[1] or 1) - 1], text)
