"""Names and addresses that no other user of a server has, and what a Broker calls things.

A made name is what it was made for, a dash and the nonce of its maker: ``T-zabcdefg``. It consists of what
RocketMQ allows in a topic: letters, digits, ``_`` and ``-`` (`TopicValidator`). Equal sources of chance give
equal names.
"""

from __future__ import annotations

import re
from collections import Counter
from typing import Final, NamedTuple

from harness.program.chance import Chance

_LETTERS: Final = "abcdefghijkmnopqrstuvwxyz"
MADE_NAME: Final = r"-(z[a-km-z]{7})(?:-\d+)?$"
"""The end of every name that was made here, with the nonce as a group: other runs are recognised by it."""
_ILLEGAL: Final = re.compile(r"[^A-Za-z0-9_-]+")
_LONGEST_HINT: Final = 100


class Place(NamedTuple):
    """Where a Broker has put a message: its offset in the log, and in the queue that it was stored in."""

    log: int
    queue: int


NOWHERE = Place(1 << 40, 1 << 40)
"""Where no message is."""


class _Maker:
    """A nonce, a network of 10.0.0.0/8 and a port, where nothing listens."""

    def __init__(self, source: Chance) -> None:
        self.nonce = "z" + "".join(source.choice(_LETTERS) for _ in range(7))
        self._network = f"10.{source.randrange(1, 255)}.{source.randrange(1, 255)}"
        self._port = source.randrange(10_000, 60_000)

    def is_ours(self, text: str) -> bool:
        """Whether a name or an address in an answer was made here."""
        return self.nonce in text or text.startswith(self._network)


class FreshNames(_Maker):
    """New names and addresses each time. Not for sharing between sessions."""

    def __init__(self, source: Chance) -> None:
        super().__init__(source)
        self._used: Counter[str] = Counter()
        self._addresses = 0

    def name(self, hint: str) -> str:
        """A new name that begins with ``hint``, as far as a topic may be called so; the second of a hint is
        ``T-zabcdefg-2``.
        """
        readable = _ILLEGAL.sub("_", hint)[:_LONGEST_HINT] or "x"
        self._used[readable] += 1
        number = self._used[readable]
        return f"{readable}-{self.nonce}" + ("" if number == 1 else f"-{number}")

    def address(self) -> str:
        """A new ``10.a.b.c:port``."""
        number = self._addresses
        self._addresses += 1
        return f"{self._network}.{number % 254 + 1}:{self._port + number // 254}"


class Names(_Maker):
    """From symbols to names, and back; a name is as long as any other of its symbol."""

    def __init__(self, source: Chance) -> None:
        super().__init__(source)
        self.made: dict[str, str] = {}
        """Every name and address that was made, with its symbol."""
        self.places: dict[str, Place] = {}
        """By the symbol of a message: where a Broker said that it has put it."""
        self.handles: dict[str, str] = {}
        """By the symbol of a message: the handle by which it can be recalled, as a Broker said."""
        self.popped: dict[tuple[str, str], str] = {}
        """By the symbols of a message and a group: the handle that it has since the group was given it last.
        In place of the Broker's name it may have ``{broker}``.
        """
        self.broker = ""
        """What the Broker is called that a mapping of queues or a handle is for."""
        self.time: int | None = None
        """When a Broker has stored the message that it showed last, in ms of its own clock."""
        self.births: dict[str, int] = {}
        """By the symbol of a message: when it was born, in ms, if that depends on what a Broker has told."""
        self._address = re.compile(re.escape(self._network) + r"\.(\d+):(\d+)")

    def name(self, symbol: str) -> str:
        """``b1`` -> ``b1-zabcdefg``."""
        made = f"{symbol}-{self.nonce}"
        self.made[made] = symbol
        return made

    def address(self, symbol: str) -> str:
        """``a10`` -> ``10.4.5.10:20000``."""
        made = f"{self._network}.{symbol[1:]}:{self._port}"
        self.made[made] = symbol
        return made

    def symbols(self, text: str) -> str:
        """Text in which every name of ours is its symbol again."""
        return self._address.sub(r"a\1", text.replace(f"-{self.nonce}", ""))
