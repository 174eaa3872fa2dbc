"""What every part of the Broker is: a class in a file of its own that answers some request codes.

1. A part is made with the Broker and reaches the others through it (`self.broker.topics`); in its constructor
   it may use those that stand above it in the annotations of `Broker`.
2. What a part answers is marked with `@answers`. A handler returns a Reply, None for no answer now (the part
   answers later with `broker.answer`, or never), or raises RefusedError: then it has changed nothing.
3. Every decision that a mutant may change is a method (`reference_impl/mutants/registry.py` says how).
4. `now` is given by the caller: ms since the epoch, never going back.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Protocol

from reference_impl.remoting.requests import Handler, handlers_of

if TYPE_CHECKING:
    from harness.wire.bodies import TopicConfig

    from .config import Config
    from .core import Broker

NEVER = 1 << 62
"""A time that does not come."""
CLIENT_WAITS = 5_000
"""ms that a client may still wait, and is still waited for, where the clock goes faster than its own."""


class Chance(Protocol):
    """Where the Broker's random numbers come from."""

    def below(self, n: int) -> int:
        """A number from 0 to n - 1."""
        ...


class Part:
    """One part. What it does not override costs nothing."""

    def __init__(self, broker: Broker) -> None:
        self.broker = broker
        self.profile = broker.profile

    @property
    def config(self) -> Config:
        """The settings in force at this moment."""
        return self.broker.config

    def requests(self) -> Mapping[int, Handler]:
        """Request code to handler."""
        return handlers_of(self, self.profile)

    def tick(self, now: int) -> None:
        """Do what was due up to `now`, in the order in which it was due."""

    def next_tick(self) -> int:
        """When `tick` wants to be called, ms since the epoch; NEVER: not at all."""
        return NEVER

    def lost(self, connection: int, now: int) -> None:
        """A connection has ended."""

    def keep_clients(self, now: int, *, waits: bool) -> None:
        """Clients that are connected count as heard at `now`; `waits`: they go on waiting, too."""

    def topic_created(self, topic: TopicConfig, now: int) -> None:
        """A topic has come into being without an administrator: by a send, a heartbeat, a retry."""

    def stop(self, now: int) -> None:
        """The Broker is asked to stop: the last chance to keep something, or to say it."""

    def settle(self, now: int) -> None:
        """The requests of one moment have been carried out; nothing of it has been answered yet."""
