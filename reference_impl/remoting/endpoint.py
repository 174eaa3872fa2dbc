"""Bytes in, effects out: framing, header serializations, flags, opaques, TLS, idle connections.

This is what NameServer and Broker have in common; what a request means and what time brings is the server's,
in a subclass.

1. No socket, no clock: the caller brings bytes and the time (`now`, int milliseconds, never going back) and
   carries out the effects that are returned, in their order.
2. Frames that arrive together are answered together: at most one `Send` per call and connection for answers.
   What has to be on disk before them goes before it, what else the server has to say comes behind it.
3. After any call, `next_tick(now)` says when `tick` wants to be called; if that is not later than `now`, at
   once. `tick` deals with everything that was due up to `now` in the order in which it was due, so that one
   long jump of the clock gives the same as many short ones.
4. The endpoint forgets a connection when it ends it or learns of its end; later calls for it do nothing.
5. A connection costs at most one frame that has not arrived completely (16 MiB), and what `most` holds back.
   All together hold `UNFINISHED_AT_MOST` bytes of such frames: for more, the one with the most is ended.

Source: NettyDecoder, NettyRemotingAbstract, NettyRemotingServer of rocketmq-all-4.9.8 and rocketmq-all-5.3.3.
"""

import ssl
from collections import OrderedDict
from collections.abc import Callable, Generator

import msgspec

from harness.wire import (
    FLAG_RESPONSE,
    FRAME_LIMIT,
    Command,
    FrameBuffer,
    ResponseCode,
    Serialization,
    WireError,
    decode,
    encode,
)
from harness.wire.fastjson import restated
from harness.wire.versions import V5_3_1

from .effects import Close, Effect, Send
from .entrance import Entrance
from .preamble import DECIDABLE, length_of_preamble
from .profiles import Profile
from .reply import Reply
from .stamp import Stamp
from .tls import HANDSHAKE, Tls
from .tls_settings import TlsSettings

Certificates = Callable[[], ssl.SSLContext | None]
"""Gives the certificate for the next TLS connection; None: there is none that can be used."""


def no_certificate() -> None:
    """For a server that has no TLS."""


NEVER = 1 << 62
"""A time that does not come."""
UNFINISHED_AT_MOST = 256 * 1024 * 1024
"""Bytes of frames that have not arrived completely, on all connections together. (Apache has no limit.)"""
_FRAME_COST = 4096
"""What a frame counts at least of what is enough for one call, in bytes of answers."""
_SMALL = 1 << 20
"""Far below the frame limit, so that cutting a small chunk cannot meet it."""
_SHORTEST = 8
"""Length word and header word."""


class _Connection(msgspec.Struct):
    buffer: FrameBuffer
    peer: str
    active: int
    limit: int | None
    """For how long it may be idle, ms: what was in force when it was accepted."""
    entrance: Entrance | None
    """None: it is passed, and there is no TLS."""
    unfinished: int = 0
    """Bytes in the buffer after the last call."""
    waiting: bool = False
    """Whether frames in the buffer are not answered yet, because the answers were too much for one call."""


class RemotingEndpoint:
    """A server as its connections see it."""

    def __init__(
        self, profile: Profile, tls: TlsSettings, certificates: Certificates = no_certificate
    ) -> None:
        self.line = profile
        self.tls = tls
        self.certificates = certificates
        self.now = 0
        """The time of the call that is being carried out."""
        self._connections: dict[int, _Connection] = {}
        self._awake: dict[int, OrderedDict[int, None]] = {}
        """By idle limit: the connections that have it, least recently active first."""
        self._stops_at: int | None = None
        self._unfinished = 0
        """Bytes of frames that have not arrived completely."""
        self._may_stamp = all(
            getattr(type(self), name) is getattr(RemotingEndpoint, name)
            for name in ("response", "response_serialization", "write")
        )
        """A response that a mutant makes may depend on more than the reply and the opaque."""

    # -- what a server decides -------------------------------------------------------------------------------

    def execute(self, command: Command, connection: int, now: int) -> Reply | None:
        """Carry out a request. None: there is no answer, or none yet."""
        raise NotImplementedError

    def written_first(self) -> list[Effect]:
        """What has to be on disk before the answers of this call leave."""
        return []

    def said(self) -> list[Effect]:
        """What the server has to say beside the answers of this call."""
        return []

    def heard(self, connection: int, response: Command, now: int) -> None:
        """A peer has sent a response: to what the server has asked it, or to nothing."""

    def left(self, connection: int, peer: str) -> None:
        """A connection has ended, from either side."""

    def due(self) -> int:
        """When the server wants `act` to be called; `NEVER` if nothing is to come."""
        return NEVER

    def act(self, now: int) -> list[Effect]:
        """Do what is due now, `now` being what `due` said."""
        return []

    def work(self) -> list[Effect]:
        """Do what has come up and does not wait for a time."""
        return []

    @property
    def is_due(self) -> bool:
        """Whether `work` has something to do (the cheap part of `next_tick`)."""
        return False

    def idle_limit(self) -> int | None:
        """How long a connection that is accepted now may be idle, in ms; None: for ever."""
        return None

    def farewell(self) -> int:
        """For how long a server that is asked to stop goes on, in ms."""
        return 0

    def is_server(self, connection: int) -> bool:
        """Whether the peer of a connection is another server, and no client."""
        return False

    # -- what the caller calls -------------------------------------------------------------------------------

    def connected(self, connection: int, peer: str, now: int) -> list[Effect]:
        """A connection was accepted: `connection` is any number not in use, `peer` its remote "ip:port"."""
        self.now = now
        known = _Connection(self.new_buffer(), peer, now, self.idle_limit(), Entrance(self))
        self._connections[connection] = known
        if known.limit is not None:
            self._awake.setdefault(known.limit, OrderedDict())[connection] = None
        return []

    def received(
        self, connection: int, data: bytes | memoryview, now: int, most: int | None = None
    ) -> list[Effect]:
        """Bytes arrived, cut anyhow; a view of memory is used during the call only.

        `most` is how many bytes of answers are enough for one call (the last answer may go beyond), a frame
        counted as 4 KiB at least: then `has_waiting` is true, and the rest is answered by further calls,
        whose `data` may be empty.
        """
        known = self._connections.get(connection)
        if known is None:
            return []
        self.now = now
        broken = False
        if known.entrance is not None:
            data, broken = self._entered(known, known.entrance, data)
        arrived = self.frames(known.buffer, data)
        known.waiting = False
        enough = NEVER if most is None else most
        frames = 0
        responses: list[bytes] = []
        try:
            for frame in arrived:
                frames += 1
                response = self.answer(connection, frame, now)
                enough -= _FRAME_COST
                if response is not None:
                    responses.append(response)
                    enough -= max(0, len(response) - _FRAME_COST)
                if enough <= 0:
                    known.waiting = True
                    break
        except WireError:
            broken = True
        arrived.close()
        if self.is_activity(frames, len(responses)):
            self._is_active(connection, known, now)
        effects = self.written_first()
        effects += self._sending(connection, known, responses)
        if broken:
            effects += self.close(connection)
        elif known.buffer.pending != known.unfinished:
            self._unfinished += known.buffer.pending - known.unfinished
            known.unfinished = known.buffer.pending
            if self._unfinished > UNFINISHED_AT_MOST:
                effects += self.close(max(self._connections, key=self._unfinished_of))
        effects += self.said()
        return effects

    def _entered(
        self, known: _Connection, entrance: Entrance, data: bytes | memoryview
    ) -> tuple[bytes | memoryview, bool]:
        """What of the bytes that arrived belongs to frames, and whether they end the connection."""
        try:
            data = entrance.enter(data)
        except WireError:
            return b"", True
        if entrance.tls is not None:
            return data, entrance.tls.is_over
        if entrance.is_passed:
            known.entrance = None
        return data, False

    def answered(self, number: int, frame: bytes | None, now: int) -> list[Effect]:
        """An `Ask` has its answer; None: it has none, or not in time."""
        return []

    def flush(self) -> None:
        """What a `Flush` asks for: hand over what was written, and make it durable if that is wanted now.

        Raises DurabilityError.
        """

    def has_waiting(self, connection: int) -> bool:
        """Whether `received` is to be called again, once the peer has read the answers that it has got."""
        known = self._connections.get(connection)
        return known is not None and known.waiting

    def lost(self, connection: int, now: int) -> list[Effect]:
        """The peer closed or reset."""
        self.now = now
        self.forget(connection)
        return self.written_first() + self.said()

    def half_closed(self, connection: int, now: int) -> list[Effect]:
        """The peer sends no more, though it may still read: that is the end of the connection."""
        self.now = now
        return self.close(connection) + self.written_first() + self.said()

    def stop(self, now: int) -> int:
        """The server is asked to stop. Returns when its connections may be ended, in ms.

        Until then it goes on as the settings say; the caller asks again and again, lets time pass,
        and ends the connections.
        """
        if self._stops_at is None:
            self._stops_at = now + self.farewell()
        return self._stops_at

    def tick(self, now: int) -> list[Effect]:
        """Do what was due up to `now`: what the server has to do, and ends of idle connections."""
        effects: list[Effect] = []
        while True:
            effects += self.work()
            idle_at, idle = self._idle()
            due = self.due()
            if min(idle_at, due) > now:
                self.now = max(self.now, now)
                return effects
            self.now = max(self.now, min(idle_at, due))
            effects += self.close(idle) if idle_at < due else self.act(due)

    def next_tick(self, now: int) -> int:
        """When `tick` wants to be called, in ms; not later than `now`: at once."""
        return now if self.is_due else min(self.due(), self._idle()[0])

    def keep_clients(self, now: int, *, waits: bool) -> None:
        """Every client that is connected counts as heard at `now`, though it has sent nothing.

        For a caller whose clock goes faster than those of its clients; servers have the same clock. `waits`:
        what clients wait for, and what they are waited for, does not end yet either.
        """
        for connections in self._awake.values():
            for connection in [one for one in connections if not self.is_server(one)]:
                self._is_active(connection, self._connections[connection], now)

    def push(self, connection: int, frame: bytes) -> list[Effect]:
        """Send a frame that answers nothing of this call: a request of the server's, or a late answer."""
        known = self._connections.get(connection)
        if known is None:
            return []
        self._is_active(connection, known, self.now)
        return self._sending(connection, known, [frame])

    def _sending(self, connection: int, known: _Connection, frames: list[bytes]) -> list[Effect]:
        data = frames[0] if len(frames) == 1 else b"".join(frames)
        if known.entrance is not None and known.entrance.tls is not None:
            data = known.entrance.tls.sealed(data)
        return [Send(connection, data)] if data else []

    def _is_active(self, connection: int, known: _Connection, now: int) -> None:
        known.active = now
        if known.limit is not None:
            self._awake[known.limit].move_to_end(connection)

    # -- decisions about bytes ------------------------------------------------------------------------------

    def least_bytes(self) -> int:
        """How many bytes of a new connection must be there before anything is looked at."""
        return DECIDABLE if self.line.v5 else 1

    def preamble(self, start: bytearray) -> int | None:
        """How many of the first bytes are a PROXY preamble, None while that is open. Raises WireError."""
        return length_of_preamble(start) if self.line.v5 else 0

    def secured(self, first: int, *, behind_preamble: bool) -> Tls | None:
        """TLS, if the first byte that is no preamble begins it. Raises WireError to end the connection."""
        mode = self.tls.mode
        if first != HANDSHAKE:
            if mode == "enforcing":
                raise WireError("TLS is demanded")
            return None
        context = None if mode == "disabled" else self.certificate()
        if context is None:
            raise WireError("TLS is not to be had")
        return Tls(context)

    def certificate(self) -> ssl.SSLContext | None:
        """The certificate of a new TLS connection: that of the files as they are now."""
        return self.certificates()

    def new_buffer(self) -> FrameBuffer:
        """Where the bytes of a connection are gathered; it refuses frames over 16 MiB."""
        return FrameBuffer(FRAME_LIMIT)

    def frames(self, buffer: FrameBuffer, data: bytes | memoryview) -> Generator[bytes, None, None]:
        """The frames that are whole now, in order. Raises WireError for a length that ends the connection.

        Small chunks mostly bring whole frames: those are cut off directly. Everything else is for the buffer
        to judge, so that the answer never depends on how the stream was cut. Whoever wants no more frames
        closes the generator, and the buffer gets what is left.
        """
        start, size = 0, len(data)
        try:
            while buffer.pending:
                if start < size and (lacking := buffer.lacking):
                    end = min(size, start + lacking)
                    buffer.feed(data[start:end])
                    start = end
                elif (frame := buffer.next_frame()) is not None:
                    yield frame
                else:
                    break
            if size <= _SMALL:
                while size - start >= _SHORTEST:
                    end = start + 4 + int.from_bytes(data[start : start + 4], "big")
                    if not start + _SHORTEST <= end <= size:
                        break
                    frame, start = bytes(data[start:end]), end
                    yield frame
        except GeneratorExit:
            buffer.feed(data[start:])
            raise
        if start < size:
            buffer.feed(data[start:])
            while (frame := buffer.next_frame()) is not None:
                yield frame

    def answer(self, connection: int, frame: bytes, now: int) -> bytes | None:
        """Carry out one frame. None: no answer. Raises WireError for a frame that ends the connection."""
        command = self.read(frame)
        if command.flag and self.is_ignored(command):
            self.heard(connection, command, now)
            return None
        if self._stops_at is not None and self.is_sent_away(command):
            reply = self.sent_away()
        else:
            reply = self.execute(command, connection, now)
        if reply is None or (command.flag and self.is_unanswered(command)):
            return None
        if reply.repeated and self._may_stamp and command.serialization == Serialization.JSON:
            if reply.stamp is None:
                reply.stamp = Stamp(self.write(self.response(command, reply)))
            return reply.stamp.frame(command.opaque)
        return self.write(self.response(command, reply))

    def read(self, frame: bytes) -> Command:
        """The command in a frame. Raises WireError, which ends the connection."""
        return decode(frame, invalid_utf8=self.line.invalid_utf8, engine=self.line.engine)

    def is_ignored(self, command: Command) -> bool:
        """A frame with the response bit asks for nothing: it answers something, if anything was asked."""
        return bool(command.flag & FLAG_RESPONSE)

    def is_unanswered(self, command: Command) -> bool:
        """A one-way request is carried out and never answered, not even with an error."""
        return command.is_oneway

    def is_sent_away(self, command: Command) -> bool:
        """Whether a stopping server sends a peer away, which older ones would not understand."""
        return command.version > V5_3_1

    def sent_away(self) -> Reply | None:
        """What a peer that is sent away is answered; nothing of its request is carried out."""
        return Reply(ResponseCode.GO_AWAY, remark="please go away", from_handler=False)

    def response(self, request: Command, reply: Reply) -> Command:
        """The response to a request."""
        language, version = reply.by or ("JAVA", self.line.version)
        serialization = self.response_serialization(request, reply)
        if language is None and serialization is Serialization.ROCKETMQ and self.line.v5:
            language = "JAVA"
        return Command(
            code=reply.code,
            opaque=request.opaque,
            flag=FLAG_RESPONSE,
            language=language,
            version=version,
            remark=reply.remark,
            ext=reply.ext,
            body=self.written(reply.body),
            serialization=serialization,
        )

    def written(self, body: bytes) -> bytes:
        """A body as the JSON engine of the line writes it. JSON bodies begin with a brace, no others do."""
        return restated(body) if self.line.engine == "fastjson2" and body.startswith(b"{") else body

    def response_serialization(self, request: Command, reply: Reply) -> Serialization:
        """That of the request, or JSON for errors that are made outside of handlers. (Apache's 5.x: JSON.)"""
        return request.serialization if reply.from_handler else Serialization.JSON

    def write(self, response: Command) -> bytes:
        """The frame of a response."""
        return encode(response, self.line.engine)

    def is_activity(self, frames: int, responses: int) -> bool:
        """Whether a connection stays awake, given how many frames came and how many were answered.

        Frames without an answer count; bytes of a frame that is not complete do not.
        """
        return frames > 0

    def close(self, connection: int) -> list[Effect]:
        """End a connection, with everything that its end entails."""
        return [Close(connection)] if self.forget(connection) else []

    def forget(self, connection: int) -> bool:
        """Forget a connection, with everything that its end entails. False: it was not known."""
        known = self.drop(connection)
        if known is None:
            return False
        self.left(connection, known.peer)
        return True

    def drop(self, connection: int) -> _Connection | None:
        """Forget a connection, and nothing else. None: it was not known."""
        known = self._connections.pop(connection, None)
        if known is not None and known.limit is not None:
            del self._awake[known.limit][connection]
        if known is not None:
            self._unfinished -= known.unfinished
        return known

    def _unfinished_of(self, connection: int) -> int:
        return self._connections[connection].unfinished

    def _idle(self) -> tuple[int, int]:
        """When the next connection will have been idle for too long, and which."""
        first, idle = NEVER, 0
        for limit, connections in list(self._awake.items()):
            if not connections:
                del self._awake[limit]
                continue
            connection = next(iter(connections))
            if self._connections[connection].active + limit < first:
                first, idle = self._connections[connection].active + limit, connection
        return first, idle
