"""What can happen on the wire, as values.

- An event holds bytes and numbers, never a live object: a report may be made years later from the file alone.
- Bytes are those the transport was given or gave, in the pieces in which it did. A frame may span several
  ``Received`` events and one ``Received`` event may hold several frames.
- ``real`` is seconds of wall time since the trace began; ``protocol`` is seconds on the target's clock.
"""

from __future__ import annotations

from typing import Literal

import msgspec

How = Literal["fin", "reset", "half"]
"""``fin``: an orderly close; ``reset``: an abortive one; ``half``: only our sending side was closed."""

Purpose = Literal["case", "keep-alive", "probe", "barrier"]
"""Why bytes were sent: the case asked for it; to keep a connection busy; to decide silence; to settle."""


BETWEEN = " ⇄ "
"""Stands between the URIs of targets that were compared."""


LINE_BREAK = "⏎"
"""Stands for a line break where a text has one line."""


class Header(msgspec.Struct, frozen=True, kw_only=True, tag_field="event", tag="trace"):
    """The first record of a trace: everything needed to read the rest."""

    format: int = 1
    suite: str = ""
    """Version of the harness that recorded it."""
    target: str = ""
    """URI of the target; of several that were compared, all URIs with `BETWEEN` between them."""
    description: str = ""
    """What the target said or is known to be made of."""
    profile: str = ""
    role: str = "nameserver"
    """What the target is: ``nameserver`` or ``broker``."""
    case: str = ""
    clock: str = "real"
    """``virtual``, ``warped`` or ``real``."""
    warp: float = 1.0
    """Protocol seconds per real second; 0 where time is virtual."""
    nonce: str = ""
    """The mark that every name of the case carries."""
    names: dict[str, str] = {}
    """Every name that the case made, with the hint that it was made from."""
    started: float = 0.0
    """Unix time of the beginning, in seconds."""


class _Event(msgspec.Struct, frozen=True, kw_only=True, tag_field="event"):
    real: float
    protocol: float


class Opened(_Event, frozen=True, kw_only=True, tag="opened"):
    """A connection was made. ``local`` and ``remote`` are ``ip:port`` as we see them."""

    connection: int
    local: str
    remote: str
    server: int = 0
    """Which of several targets it leads to; all of their connections are numbered together."""


class Sent(_Event, frozen=True, kw_only=True, tag="sent"):
    """Bytes were handed to the transport."""

    connection: int
    data: bytes
    purpose: Purpose = "case"


class Received(_Event, frozen=True, kw_only=True, tag="received"):
    """Bytes were taken from the transport."""

    connection: int
    data: bytes


class Closed(_Event, frozen=True, kw_only=True, tag="closed"):
    """An end of the connection was closed: ``by`` tells whose decision it was."""

    connection: int
    by: Literal["us", "target"]
    how: How


class Note(_Event, frozen=True, kw_only=True, tag="note"):
    """A remark of the harness: time was advanced, the target was restarted, a wait was given up."""

    text: str
    connection: int | None = None


Event = Opened | Sent | Received | Closed | Note
