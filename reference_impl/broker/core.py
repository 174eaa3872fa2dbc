"""The Broker without connections, bytes or clocks: a mediator between its parts.

Rules:
1. `execute` carries out a request and gives the reply; what else comes of it is in `outbox`, in order. Before
   the caller takes the outbox or sends a reply, it calls `settle`, once for all requests that arrived
   together: that completes what they have begun.
2. The parts do not know who calls. They talk to each other through this class only.
3. A request that is refused has changed nothing.

Source: BrokerController of rocketmq-all-4.9.8 and rocketmq-all-5.3.3.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from harness.wire import Command
from harness.wire.broker_codes import BrokerResponse
from reference_impl.remoting.reply import RefusedError, Reply

from .config import Config
from .outbox import Answer, Asking, Calling, Done, End, Outgoing, Pushing, Saving, Telling
from .part import NEVER, Chance, Handler, Part
from .store import Store

if TYPE_CHECKING:
    from harness.wire.bodies import TopicConfig

    from .parts import Parts
    from .store import Store

__all__ = ["Broker"]


class Broker:
    """One Broker. `stored` is what files below the root directory say, by name, from the last run."""

    def __init__(
        self,
        parts: Parts,
        *,
        config: Config,
        store: Store,
        stored: Mapping[str, bytes],
        chance: Chance,
        started: int,
    ) -> None:
        self.profile = parts.profile
        self.config = config
        self.store = store
        self.stored = stored
        self.chance = chance
        self.started = started
        self.outbox: list[Outgoing] = []
        self._peers: dict[int, str] = {}

        self.topics = parts.topics(self)
        self.groups = parts.groups(self)
        self.limits = parts.limits(self)
        self.offsets = parts.offsets(self)
        self.clients = parts.clients(self)
        self.locks = parts.locks(self)
        self.sends = parts.sends(self)
        self.pulls = parts.pulls(self)
        self.holding = parts.holding(self)
        self.checkpoints = parts.checkpoints(self)
        self.pop_order = parts.pop_order(self)
        self.pop_waiting = parts.pop_waiting(self)
        self.pops = parts.pops(self)
        self.pop_acks = parts.pop_acks(self)
        self.pop_notifications = parts.pop_notifications(self)
        self.timers = parts.timers(self)
        self.delays = parts.delays(self)
        self.retries = parts.retries(self)
        self.transactions = parts.transactions(self)
        self.finding = parts.finding(self)
        self.topic_administration = parts.topic_administration(self)
        self.group_administration = parts.group_administration(self)
        self.resets = parts.resets(self)
        self.calls = parts.calls(self)
        self.settings = parts.settings(self)
        self.runtime = parts.runtime(self)
        self.retention = parts.retention(self)
        self.mirror = parts.mirror(self)
        self.announcing = parts.announcing(self)
        self.registrar = parts.registrar(self)
        self.standing = parts.standing(self)
        self.assignments = parts.assignments(self)
        self._parts = tuple(part for part in vars(self).values() if isinstance(part, Part))
        self.handlers: dict[int, Handler] = {
            code: handler for part in self._parts for code, handler in part.requests().items()
        }
        self._timed = self._overriding("next_tick")
        self._bereaved = self._overriding("lost")
        self._settling = self._overriding("settle")
        self._told_of_topics = self._overriding("topic_created")

    def _overriding(self, method: str) -> tuple[Part, ...]:
        return tuple(part for part in self._parts if getattr(type(part), method) is not getattr(Part, method))

    # -- what the caller calls -------------------------------------------------------------------------------

    def connected(self, connection: int, peer: str, now: int) -> None:
        """A connection was accepted; `peer` is its remote "ip:port"."""
        self._peers[connection] = peer

    def execute(self, command: Command, connection: int, now: int) -> Reply | None:
        """Carry out a request. None: no answer now, perhaps later, perhaps never."""
        handler = self.handlers.get(command.code)
        if handler is None:
            return self.unknown_request(command)
        try:
            return handler(command, connection, now)
        except RefusedError as refused:
            return refused.reply()

    def settle(self, now: int) -> None:
        """Complete what the requests up to now have begun, before any of them is answered."""
        for part in self._settling:
            part.settle(now)

    def lost(self, connection: int, now: int) -> None:
        """A connection has ended, whoever ended it."""
        for part in self._bereaved:
            part.lost(connection, now)
        self._peers.pop(connection, None)

    def tick(self, now: int) -> None:
        """Do what was due up to `now`: the part whose turn came first goes first."""
        while True:
            due, part = min(((part.next_tick(), part) for part in self._timed), key=_when, default=_NOBODY)
            if part is None or due > now:
                return
            part.tick(due)

    def stop(self, now: int) -> None:
        """Keep and say what is to be kept and said before the end; once."""
        for part in self._overriding("stop"):
            part.stop(now)

    def next_tick(self) -> int:
        """When `tick` wants to be called, ms since the epoch."""
        return min((part.next_tick() for part in self._timed), default=NEVER)

    # -- what parts call -------------------------------------------------------------------------------------

    def peer(self, connection: int) -> str:
        """The remote "ip:port" of a connection; of one that has ended, nothing but a text."""
        return self._peers.get(connection, "unknown")

    def answer(self, connection: int, request: Command, reply: Reply) -> None:
        """Answer a request whose handler returned None."""
        self.outbox.append(Answer(connection, request, reply))

    def push(self, connection: int, command: Command) -> None:
        """Send a one-way request to a client."""
        self.outbox.append(Pushing(connection, command))

    def call(self, connection: int, command: Command, within_ms: int, done: Done) -> None:
        """Send a request to a client; `done` gets the response, or None after `within_ms`."""
        self.outbox.append(Calling(connection, command, within_ms, done))

    def ask(self, address: str, command: Command, within_ms: int, done: Done) -> None:
        """Send a request to another server; `done` gets the response, or None after `within_ms`."""
        self.outbox.append(Asking(address, command, within_ms, done))

    def tell(self, address: str, command: Command) -> None:
        """Send a one-way request to another server."""
        self.outbox.append(Telling(address, command))

    def persist(self, name: str, data: bytes) -> None:
        """Replace a file below the root directory."""
        self.outbox.append(Saving(name, data))

    def close(self, connection: int) -> None:
        """End a connection; the caller tells of its loss as of any other."""
        self.outbox.append(End(connection))

    def topic_created(self, topic: TopicConfig, now: int) -> None:
        """A topic has come into being without an administrator."""
        for part in self._told_of_topics:
            part.topic_created(topic, now)

    # -- decisions (see parts.py) ----------------------------------------------------------------------------

    def unknown_request(self, command: Command) -> Reply | None:
        """The answer to a request code that nobody handles; None would be silence."""
        remark = f" request type {command.code} not supported"
        return Reply(BrokerResponse.REQUEST_CODE_NOT_SUPPORTED, remark=remark, from_handler=False)


_NOBODY: tuple[int, Part | None] = (NEVER, None)


def _when(timed: tuple[int, Part]) -> int:
    return timed[0]
