"""Absences of servers: those of one server follow each other, those of two do not wait."""

from __future__ import annotations

import asyncio
from typing import cast

from harness.testing.departures import Absences, Departures, How, Loop


class Log:
    """Servers that leave and return at once, and what they did in its order."""

    def __init__(self) -> None:
        self.moves: list[str] = []

    async def left(self, name: str, how: How) -> bool:
        self.moves.append(f"{name} {how}")
        return True

    async def returned(self, name: str) -> None:
        self.moves.append(f"{name} back")


async def moves_of(*absences: tuple[str, How, float]) -> list[str]:
    log = Log()
    absent = Absences(cast(Departures, log), cast(Loop, None))
    for name, how, seconds in absences:
        absent.begin(name, how, seconds)
    await asyncio.gather(*absent._tasks)
    return log.moves


def test_a_server_that_pauses_is_killed_once_it_has_gone_on() -> None:
    moves = asyncio.run(moves_of(("a", "pause", 0.01), ("a", "kill", 0.0)))
    assert moves == ["a pause", "a back", "a kill", "a back"]


def test_another_server_does_not_wait() -> None:
    moves = asyncio.run(moves_of(("a", "pause", 0.1), ("b", "kill", 0.0)))
    assert moves == ["a pause", "b kill", "b back", "a back"]
