"""Second tries that run beside the first ones."""

from __future__ import annotations

import threading
from typing import Any

import pytest

from harness.conformance.idling import Idling
from harness.conformance.second_tries import SecondTries
from harness.conformance.spares import Spare, Spares
from harness.conformance.stopping import Stopping


class _Server:
    stopped = False

    def alive(self) -> bool:
        return True

    def stop(self) -> None:
        self.stopped = True


class _Case:
    name = "kv.something"

    class case:  # noqa: N801  (as much of a case as is looked at)
        setup = ()


def test_second_tries_go_on_beside_each_other_on_one_fresh_server() -> None:
    servers: list[_Server] = []
    both = threading.Barrier(2, timeout=20)
    used: list[Any] = []

    def start(_setup: Any) -> Any:
        servers.append(_Server())
        return servers[-1]

    def measure(_one: Any, spare: Spare) -> Any:
        both.wait()  # breaks where one would wait for the other
        used.append(spare.instance)
        return "an attempt"

    spares = Spares(start, Stopping(at_once=True), Idling(), looks_ahead=False)
    tries = SecondTries(spares, measure)
    first, second = tries.begin(_Case), tries.begin(_Case)  # type: ignore[arg-type]
    assert [first.result(20), second.result(20)] == ["an attempt"] * 2
    assert used == servers * 2
    spares.close()
    assert servers[0].stopped


def test_a_server_that_does_not_start_is_the_result() -> None:
    def start(_setup: Any) -> Any:
        raise OSError("no room")

    tries = SecondTries(
        Spares(start, Stopping(at_once=True), Idling(), looks_ahead=False),
        lambda _one, _spare: pytest.fail("nothing to measure on"),
    )
    with pytest.raises(OSError, match="no room"):
        tries.begin(_Case).result(20)  # type: ignore[arg-type]
