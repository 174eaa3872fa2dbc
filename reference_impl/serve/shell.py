"""A server of the reference on sockets: asyncio around an endpoint. No protocol decision lives here.

1. Bytes and time go to the endpoint, effects are carried out in their order; nothing else happens to a
   connection.
2. Memory is bounded per connection: while a peer does not read its answers, no more of its requests are
   answered and nothing more is read from its socket. So a connection holds at most one incomplete frame, what
   one read gave, and `MOST` bytes of answers. Time is shared: of what one read gave, a connection gets a part
   answered in each turn of the loop, and nothing more is read until that is done.
3. What is to be on disk is there before the answers leave: what all connections want in one turn of the loop
   is written at its end, each file once, and the endpoint is asked to flush once. A file that cannot be
   replaced is said on standard error and the answers are sent all the same, as Apache does; a store that
   cannot be written ends the server, and nothing is answered any more.

Used by `nameserver.py` and `broker.py`.
"""

import asyncio
import socket
from collections.abc import Callable, Coroutine
from typing import Any, Generic, Protocol, TypeAlias, TypeVar, cast

from reference_impl.remoting.effects import Ask, Close, Dial, Effect, Flush, GoOn, Notify, Persist, Send
from reference_impl.remoting.endpoint import NEVER, RemotingEndpoint
from reference_impl.remoting.errors import DurabilityError

from .clock import Clock
from .connection import Connection
from .outbound import Outbound
from .problems import EXIT_NOT_STARTED, StartError

READ_AT_MOST = 262_144
"""Bytes that one read of a socket gives at most."""
MOST = 1_048_576
"""Bytes of answers after which it is looked whether the peer reads them."""
TICK_AT_MOST = 0.25
"""Seconds after which the endpoint is asked again at the latest when its next tick is."""
FAREWELL_LOOKS = 0.02
"""Seconds between two looks whether a server that is asked to stop is ready to."""
FAREWELL_AT_MOST = 3.0
"""Seconds that a server goes on that is asked to stop while its clock stands still."""
DRAINS_AT_MOST = 0.25
"""Seconds that a server that stops takes at most to answer what has arrived."""

Greeting: TypeAlias = Callable[[Any, int, str, int], list[Effect]]
"""A method of the endpoint, called for an accepted connection: (endpoint, number, peer "ip:port", now) ->
effects.
"""


def bound(host: str, port: int) -> socket.socket:
    """A socket that listens there, IPv4 if the host has such an address; port 0 is any free one.

    Raises StartError.
    """
    try:
        found = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE)
        family, _, _, _, address = min(found, key=lambda one: one[0] != socket.AF_INET)
        return socket.create_server(address, family=family, backlog=1024)
    except OSError as error:
        reason = error.strerror or str(error)
        raise StartError(
            f"cannot listen on {host}:{port}: {reason}; "
            "choose another --port or --host, or stop what uses it",
            EXIT_NOT_STARTED,
        ) from error


E = TypeVar("E", bound=RemotingEndpoint)


class Observer(Protocol):
    """Observes what happens on the connections of a server, byte for byte. The server has numbered them."""

    def opened(self, connection: int, peer: str) -> None: ...
    def received(self, connection: int, data: bytes) -> None: ...
    def sent(self, connection: int, data: bytes) -> None: ...
    def closed(self, connection: int, *, by_peer: bool) -> None: ...


class Dialling(Protocol):
    """An endpoint that makes connections of its own."""

    def dialled(self, connection: int | None, now: int) -> list[Effect]: ...


class Shell(Generic[E]):
    """An endpoint, its connections, its clock, its files.

    `clock` is the endpoint's, and may go at any speed; `persist` replaces a file, what it cannot do it says
    itself; `anew` makes an endpoint that has just started and has nothing stored.
    """

    def __init__(
        self,
        endpoint: E,
        clock: Clock,
        persist: Callable[[str, bytes], None],
        anew: Callable[[], E],
    ) -> None:
        self.endpoint = endpoint
        self.now = clock
        self.address = ("", 0)
        """Host and port of the first socket that it listens on."""
        self.observer: Observer | None = None
        self.heard = 0
        """How often something has come from a connection."""
        self.told = 0
        """How many frames time has made it send to clients."""
        self.exchanged = 0
        """How often it has sent something to another server."""
        self._persist = persist
        self._anew = anew
        self._listeners: list[asyncio.Server] = []
        self._connections: dict[int, Connection] = {}
        self._numbers = 0
        self.room = memoryview(bytearray(READ_AT_MOST))
        """What every connection reads into: a loop hands over what it has read before it reads again."""
        self._timer: asyncio.TimerHandle | None = None
        self._held: list[Effect] = []
        """What waits until files are written, in its order: all since the first `Persist` or `Flush`."""
        self.is_paused = False
        self.has_ended = False
        self.outbound = Outbound()
        self._dialling: set[asyncio.Task[None]] = set()
        self._failure: asyncio.Future[None] = asyncio.get_running_loop().create_future()

    async def listen(self, at: socket.socket, greeting: Greeting, *, carries_frames: bool = True) -> None:
        """Take a socket that listens. Its connections wait until `serve`; the observer sees those that carry
        frames.
        """
        if not self._listeners:
            self.address = at.getsockname()[:2]
        factory = lambda: Connection(self, greeting, carries_frames)  # noqa: E731 - asyncio's own way
        loop = asyncio.get_running_loop()
        self._listeners.append(await loop.create_server(factory, sock=at, start_serving=False))

    async def serve(self, stop: asyncio.Event) -> None:
        """Serve until `stop` is set, and then for as long as the endpoint has to do; set again, it ends that.

        Raises StartError if the store cannot be written.
        """
        self.now.join(self)
        self.tick()
        try:
            for listener in self._listeners:
                await listener.start_serving()
            await self._first(_until(stop))
            stop.clear()
            self.resume()
            await self._first(self._farewell(), _until(stop))
        finally:
            self.now.leave(self)
            self._end()

    async def _first(self, *ways: Coroutine[None, None, None]) -> None:
        """Waits for the first of these, or for what has failed."""
        tasks = [asyncio.create_task(way) for way in ways]
        try:
            awaited: list[asyncio.Future[None]] = [*tasks, self._failure]
            await asyncio.wait(awaited, return_when=asyncio.FIRST_COMPLETED)
        finally:
            for task in tasks:
                task.cancel()
        if self._failure.done():
            self._failure.result()

    async def _farewell(self) -> None:
        """Goes on until the endpoint has done what a stop asks of it, and what has arrived is answered."""
        loop = asyncio.get_running_loop()
        end = loop.time() + FAREWELL_AT_MOST
        while (stops_at := self.endpoint.stop(self.now())) > self.now():
            if self.now.stands and loop.time() > end:
                break
            self.tick()
            await asyncio.sleep(min(self.now.until(stops_at), FAREWELL_LOOKS))
        end, heard = loop.time() + DRAINS_AT_MOST, -1
        while (heard != self.heard or self._is_answering) and loop.time() < end:
            heard = self.heard
            for _ in range(2):  # the loop looks at the sockets, and reads
                await asyncio.sleep(0)

    @property
    def _is_answering(self) -> bool:
        """Whether something that has arrived is not answered yet, or an answer is not sent."""
        waiting = any(self.endpoint.has_waiting(number) for number in self._connections)
        return waiting or self.is_holding or self.has_unsent

    def _end(self) -> None:
        self.has_ended = True
        for listener in self._listeners:
            listener.close()
        if self._timer is not None:
            self._timer.cancel()
        if not self._failure.done():
            self._write_held()
        for connection in list(self._connections.values()):
            connection.abort()
        self.outbound.stop()
        self.is_paused = True
        self._stop_dialling()
        if self._failure.done():
            self._failure.exception()  # it has been said
        else:
            self._failure.cancel()

    def begin_again(self) -> None:
        """Forget everything that was stored, and end all connections; the listeners stay."""
        if self._timer is not None:
            self._timer.cancel()
        self._held = []
        connections, self._connections = self._connections, {}
        for number, connection in connections.items():
            self._observed_end(number, connection)
            connection.transport.abort()
        self.outbound.stop()
        self._stop_dialling()
        self.endpoint = self._anew()
        self.tick()

    def _stop_dialling(self) -> None:
        for task in self._dialling:
            task.cancel()

    @property
    def local_addresses(self) -> set[str]:
        """From where it is connected with other servers, "ip:port"."""
        return self.outbound.local_addresses

    def pause(self) -> None:
        """Stand still, as a process does that is stopped: what arrives waits in sockets, what is to be sent
        here, and nothing is due.
        """
        self.is_paused = True
        for connection in self._connections.values():
            connection.read_on()

    def resume(self) -> None:
        """Go on where it stood still. A server that has ended stands still for good."""
        if self.is_paused and not self._failure.done():
            self.is_paused = False
            self._write_held()
            self.tick()
            for connection in list(self._connections.values()):
                connection.go_on()

    def reset(self, number: int) -> None:
        """End a connection without a farewell: its peer sees a reset."""
        connection = self._connections.get(number)
        if connection is not None:
            connection.reset()

    def opened(self, connection: Connection, peer: str, greeting: Greeting) -> int:
        self._numbers += 1
        self._connections[self._numbers] = connection
        if self.observer is not None and connection.carries_frames:
            self.observer.opened(self._numbers, peer)
        self.perform(greeting(self.endpoint, self._numbers, peer, self.now()))
        return self._numbers

    def received(self, number: int, data: bytes | memoryview) -> None:
        if self.observer is not None and data and self._connections[number].carries_frames:
            self.observer.received(number, bytes(data))
        self.heard += 1
        self.perform(self.endpoint.received(number, data, self.now(), MOST))
        if self.endpoint.is_due:
            self.tick()

    def half_closed(self, number: int) -> None:
        self.perform(self.endpoint.half_closed(number, self.now()))
        self.tick()

    def ended(self, number: int) -> None:
        if (connection := self._connections.pop(number, None)) is not None:
            self._observed_end(number, connection, by_peer=not connection.is_aborted)
            self.perform(self.endpoint.lost(number, self.now()))
            self.tick()

    @property
    def is_holding(self) -> bool:
        """Whether answers wait, for a file or a pause: they will be sent before anything more is read."""
        return bool(self._held) or self.is_paused

    def perform(self, effects: list[Effect]) -> None:
        if self._held or self.is_paused:
            self._held += effects
        elif any(type(effect) in _WRITTEN for effect in effects):
            self._held = effects
            asyncio.get_running_loop().call_soon(self._write_held)
        else:
            self._carry_out(effects)

    def _write_held(self) -> None:
        if self._failure.done() or self.is_paused:
            return
        held, self._held = self._held, []
        for path_key, data in {e.path_key: e.data for e in held if type(e) is Persist}.items():
            self._persist(path_key, bytes(data))
        if any(type(effect) is Flush for effect in held):
            try:
                self.endpoint.flush()
            except DurabilityError as error:
                lost = f"{error}; it stops, for what it answers would be lost"
                self._failure.set_exception(StartError(lost, EXIT_NOT_STARTED))
                return
        self._carry_out(held)
        for number in {effect.connection for effect in held if type(effect) is Send}:
            if (connection := self._connections.get(number)) is not None:
                connection.go_on()

    def _carry_out(self, effects: list[Effect]) -> None:
        for effect in effects:
            if type(effect) is Send:
                connection = self._connections.get(effect.connection)
                if connection is not None:
                    if self.observer is not None and connection.carries_frames:
                        self.observer.sent(effect.connection, effect.data)
                    self.exchanged += not connection.carries_frames
                    connection.transport.write(effect.data)
            elif type(effect) is Close:
                connection = self._connections.pop(effect.connection, None)
                if connection is not None:
                    self._observed_end(effect.connection, connection)
                    connection.close()
            elif type(effect) is Notify:
                self.exchanged += 1
                self.outbound.send(effect.address, effect.data)
            elif type(effect) is Ask:
                self.exchanged += 1
                self._ask(effect)
            elif type(effect) is GoOn:
                if (connection := self._connections.get(effect.connection)) is not None:
                    connection.go_on()
            elif type(effect) is Dial:
                self.exchanged += 1
                task = asyncio.get_running_loop().create_task(self._dial(effect))
                self._dialling.add(task)
                task.add_done_callback(self._dialling.discard)

    def _observed_end(self, number: int, connection: Connection, *, by_peer: bool = False) -> None:
        if self.observer is not None and connection.carries_frames:
            self.observer.closed(number, by_peer=by_peer or connection.is_half_closed)

    def _ask(self, ask: Ask) -> None:
        endpoint = self.endpoint

        def answered(frame: bytes | None) -> None:
            if endpoint is not self.endpoint:
                return  # who has asked is gone
            self.perform(self.endpoint.answered(ask.number, frame, self.now()))
            self.tick()

        self.outbound.ask(ask.address, ask.number, ask.data, self.now() + ask.within, answered)

    async def _dial(self, dial: Dial) -> None:
        """Connects, and tells the endpoint: only one that dials asks for it."""
        host, _, port = dial.address.rpartition(":")
        endpoint = cast(Dialling, self.endpoint)

        def connected(_: object, number: int, __: str, now: int) -> list[Effect]:
            return endpoint.dialled(number, now)

        try:
            async with asyncio.timeout(dial.within / 1000):
                await asyncio.get_running_loop().create_connection(
                    lambda: Connection(self, connected, carries_frames=False), host.strip("[]"), int(port)
                )
        except (OSError, ValueError):  # unreachable, too late, or no address
            self.perform(endpoint.dialled(None, self.now()))
            self.tick()

    # -- time ------------------------------------------------------------------------------------------------

    def tick(self) -> None:
        """Do what is due, and look again when something is due next."""
        if self._timer is not None:
            self._timer.cancel()
        if self.is_paused:
            return
        now = self.now()
        self.outbound.expire(now)
        effects = self.endpoint.tick(now)
        self.told += sum(type(effect) is Send and self._is_of_client(effect.connection) for effect in effects)
        self.perform(effects)
        if not self.now.stands:
            wait = min(self.now.until(self.next_tick()), TICK_AT_MOST)
            self._timer = asyncio.get_running_loop().call_later(wait, self.tick)

    def next_tick(self) -> int:
        """When something is due, ms since the epoch; not later than now: at once. A server that stands still
        does nothing.
        """
        if self.is_paused:
            return NEVER
        return min(self.endpoint.next_tick(self.now()), self.outbound.due())

    def _is_of_client(self, number: int) -> bool:
        connection = self._connections.get(number)
        return connection is not None and connection.carries_frames

    def keep_clients(self, *, waits: bool) -> None:
        """Clients that are connected count as heard now; `waits`: what they wait for does not end either."""
        self.endpoint.keep_clients(self.now(), waits=waits)

    def finish(self) -> None:
        """Write at once what waits to be written, and send what waits for that."""
        if self._held:
            self._write_held()

    @property
    def has_unsent(self) -> bool:
        """Whether something waits for a peer to read it."""
        return any(one.transport.get_write_buffer_size() for one in self._connections.values())


_WRITTEN = frozenset({Persist, Flush})


async def _until(stop: asyncio.Event) -> None:
    await stop.wait()
