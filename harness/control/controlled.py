"""The cluster of a `serve cluster`, as its control port asks it and does things to it."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Iterator
from concurrent.futures import Future
from itertools import count

from harness.testing.calling import Caller
from harness.testing.fault import Fault
from harness.testing.problems import OptionError
from harness.testing.running import Running
from reference_impl.serve import Cluster

from . import shapes


class Controlled(Running):
    """The cluster. It is made in the event loop of its servers, and asked in other threads."""

    def __init__(self, cluster: Cluster, namesrv: str, profile: str) -> None:
        super().__init__(profile, {}, ())
        self._cluster = cluster
        self._namesrv = namesrv
        self._ended: Future[None] = Future()
        self._calls = Caller(asyncio.get_running_loop(), self._ended)
        self._faults: dict[int, Fault] = {}
        self._numbers = count(1)
        self._resetting = threading.Lock()

    async def begin(self) -> None:
        """From now on it can be asked."""
        await self._furnished(self._cluster)

    def end(self) -> None:
        """What waits for an answer fails, and so does what is asked from now on."""
        self._ended.set_result(None)

    @property
    def _caller(self) -> Caller:
        return self._calls

    @property
    def namesrv(self) -> str:
        """What clients are given: the address that is advertised, if there is one."""
        return self._namesrv

    @property
    def servers(self) -> list[shapes.Server]:
        """All servers, those that are away included."""

        def found(cluster: Cluster) -> Iterator[shapes.Server]:
            for server in cluster.servers:
                yield shapes.Server(
                    name=server.name,
                    role=server.role,
                    address=server.address,
                    serves=cluster.serves(server),
                )

        return self._call(lambda cluster: list(found(cluster)))

    def reset(self) -> None:
        with self._resetting:
            self._faults.clear()
            super().reset()

    # -- faults by number ------------------------------------------------------------------------------------

    def keep(self, fault: Fault) -> shapes.Fault:
        """A fault that has begun gets a number."""
        number = next(self._numbers)
        self._faults[number] = fault
        return _shape(number, fault)

    @property
    def faults(self) -> list[shapes.Fault]:
        """Those that have not been ended."""
        return [_shape(number, fault) for number, fault in list(self._faults.items())]

    def wait_for_fault(self, number: int, times: int, timeout: float) -> shapes.Fault:
        """Raises FaultNotMetError, OptionError."""
        fault = self._known(number)
        fault.wait(times, timeout)
        return _shape(number, fault)

    def end_fault(self, number: int, *, demand: bool) -> shapes.Fault:
        """End it; with `demand` it must have been met. Raises FaultNotMetError, OptionError."""
        fault = self._known(number)
        self._faults.pop(number, None)
        fault.stop()
        if demand:
            fault.judge(None)
        return _shape(number, fault)

    def _known(self, number: int) -> Fault:
        fault = self._faults.get(number)
        if fault is None:
            lasting = ", ".join(map(str, self._faults)) or "none"
            raise OptionError(f"id={number}: expected a fault that has begun and was not ended ({lasting})")
        return fault


def _shape(number: int, fault: Fault) -> shapes.Fault:
    return shapes.Fault(id=number, title=fault.title, met=list(fault.met))
