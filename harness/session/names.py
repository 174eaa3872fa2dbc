"""Names that nobody else uses.

Rules of this module:
- Every name of a session carries its nonce; two sessions on one server do not meet.
- What a name was made for stays readable: hint, dash, nonce (``T-k3f9a1``), the second of a hint
  ``T-k3f9a1-2``.
- Names consist of what RocketMQ allows in a topic: letters, digits, ``_`` and ``-`` (`TopicValidator`).
- Randomness is injected: one seed, one set of names.
"""

from __future__ import annotations

import random
import re
from collections import Counter

__all__ = ["Names"]

_ALPHABET = "abcdefghijklmnopqrstuvwxyz0123456789"
_ILLEGAL = re.compile(r"[^A-Za-z0-9_-]+")
_LONGEST_HINT = 100


class Names:
    """Makes names and addresses. Not for sharing between sessions."""

    def __init__(self, source: random.Random) -> None:
        self.nonce = source.choice(_ALPHABET[:26]) + "".join(source.choice(_ALPHABET) for _ in range(5))
        # 10.0.0.0/8 is nobody's; half of its bits and the port are the session's, the last byte counts.
        self._network = f"10.{source.randrange(1, 255)}.{source.randrange(256)}"
        self._port = source.randrange(10_000, 60_000)
        self._used: Counter[str] = Counter()
        self._addresses = 0
        self._made: set[str] = set()

    def name(self, hint: str) -> str:
        """A new name that begins with ``hint``, as far as a topic may be called so."""
        readable = _ILLEGAL.sub("_", hint)[:_LONGEST_HINT] or "x"
        self._used[readable] += 1
        number = self._used[readable]
        made = f"{readable}-{self.nonce}" + ("" if number == 1 else f"-{number}")
        self._made.add(made)
        return made

    def is_ours(self, name: str) -> bool:
        """Whether ``name`` was made here."""
        return name in self._made

    def address(self) -> str:
        """A new ``10.a.b.c:port``. Nothing listens there."""
        number = self._addresses
        self._addresses += 1
        return f"{self._network}.{number % 254 + 1}:{self._port + number // 254}"
