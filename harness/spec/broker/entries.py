"""The messages of a queue, as far as they are known.

- An `Entry` is one message in one queue, wherever it comes from: a send, a delay that is over, a commit, a
  message that was sent back. It may be there from `earliest` on, and must be from `latest` on, which is never
  where that is not known.
- Offsets are consecutive from 0, so how many entries must be there bounds what offsets there are.
- An offset that was seen, or named in an answer, belongs to its entry for good.
"""

from __future__ import annotations

from math import inf
from typing import Literal, TypeAlias

import msgspec

from harness.program.broker.steps import Send

Origin: TypeAlias = Literal["send", "oneway", "delay", "timer", "commit", "retry", "dead", "copy"]


class Entry(msgspec.Struct, eq=False, kw_only=True):
    """A message in a queue."""

    message: str
    """Its symbol."""
    send: Send
    """How it was sent."""
    origin: Origin
    earliest: float
    latest: float = inf
    offset: int | None = None
    log: int | None = None
    """Its offset in the log, where an answer has named it."""
    host: str | None = None
    """The address in its id, where an answer has named it."""
    tried: int = 0
    """How often it has come back (``reconsumeTimes``)."""
    paused: bool = False
    """Whether it was waiting while the Broker was a slave, or may have been one."""
    copied: bool = False
    """Whether a slave has got it while it was waiting."""
    recalled: bool = False
    """Whether it was taken back before its time, or may have been."""
    began: float = inf
    """When its send began, and when it was answered."""
    sent: float = inf
    told: bool = False
    """Whether an answer said that it is there."""


class Waits(msgspec.Struct, frozen=True, kw_only=True):
    """A message that a slave has got and that waits for its time."""

    message: str
    send: Send
    topic: str
    """Where it is delivered."""
    queue: int
    tried: int
    """How often it has come back by then."""
    earliest: float
    """It is not due before."""
    latest: float
    """By then it is due."""


class Half(msgspec.Struct, eq=False, kw_only=True):
    """A half message that was acknowledged."""

    send: Send
    stored: float
    """It was stored by then."""
    ends: list[int] = []
    """Verdicts that surely came to pass."""
    maybe: set[int] = set()
    """Verdicts that may have."""
    entry: Entry | None = None
    over: float = inf
    """From when on its producer is not to be asked about it."""
    asked: float = -inf
    """When a question about it was noticed last."""
    immune: tuple[float, float] | None = None
    """Between which moments the time ends for which its producer is not to be asked; None: it wants none."""


class Queue:
    """One queue of a topic."""

    def __init__(self) -> None:
        self.entries: list[Entry] = []
        self.at: dict[int, Entry] = {}
        self.coming = 0
        """Messages that are being sent, of which it is not known yet what became."""
        self.ended: Literal["kill", "term"] | None = None
        """How the Broker was ended last, since the queue has had messages."""

    def add(self, entry: Entry) -> None:
        """A message that is there, or may be."""
        self.entries.append(entry)
        if entry.offset is not None:
            self.at[entry.offset] = entry

    def bind(self, entry: Entry, offset: int, moment: float) -> None:
        """The entry was seen at an offset."""
        entry.offset = offset
        entry.latest = min(entry.latest, moment)
        self.at[offset] = entry

    def least(self, moment: float) -> int:
        """The least number of messages at a moment."""
        sure = [one for one in self.entries if one.latest <= moment]
        offsets = (one.offset for one in sure if one.offset is not None)
        return max(len(sure), 1 + max(offsets, default=-1))

    def most(self, moment: float) -> int:
        """The greatest number of messages at a moment."""
        return self.coming + sum(one.earliest <= moment for one in self.entries)

    def lost(self, offset: int, moment: float) -> Entry | None:
        """Of what must be there at a moment something that is not below an offset."""
        sure = [one for one in self.entries if one.latest <= moment]
        bound = [one for one in sure if one.offset is not None and one.offset >= offset]
        unbound = [one for one in sure if one.offset is None]
        return next(iter(bound or unbound), None)
