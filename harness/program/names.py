"""The names that a performance of a program uses, and what a Broker calls things.

Rules of this module: equal sources give equal names; a name is as long as any other of its symbol.
"""

from __future__ import annotations

import re
from typing import NamedTuple

from harness.program.chance import Chance

__all__ = ["NOWHERE", "Names", "Place"]


class Place(NamedTuple):
    """Where a Broker has put a message: its offset in the log, and in the queue that it was stored in."""

    log: int
    queue: int


NOWHERE = Place(1 << 40, 1 << 40)
"""Where no message is."""


class Names:
    """From symbols to names that nobody else uses, and back."""

    def __init__(self, source: Chance) -> None:
        self.nonce = "z" + "".join(source.choice("abcdefghijkmnopqrstuvwxyz") for _ in range(7))
        self._network = f"10.{source.randrange(1, 255)}.{source.randrange(1, 255)}"
        self._port = source.randrange(10_000, 60_000)
        self.made: dict[str, str] = {}
        """Every name and address that was made, with its symbol."""
        self.places: dict[str, Place] = {}
        """By the symbol of a message: where a Broker said that it has put it."""
        self._address = re.compile(re.escape(self._network) + r"\.(\d+):(\d+)")

    def name(self, symbol: str) -> str:
        """``b1`` -> ``b1-zabcdefg``."""
        made = f"{symbol}-{self.nonce}"
        self.made[made] = symbol
        return made

    def address(self, symbol: str) -> str:
        """``a10`` -> ``10.4.5.10:20000``. Nothing listens there."""
        made = f"{self._network}.{symbol[1:]}:{self._port}"
        self.made[made] = symbol
        return made

    def symbols(self, text: str) -> str:
        """Text in which every name of ours is its symbol again."""
        return self._address.sub(r"a\1", text.replace(f"-{self.nonce}", ""))

    def is_ours(self, text: str) -> bool:
        """Whether a name or an address in an answer was made here."""
        return self.nonce in text or text.startswith(self._network)
