"""Bytes in, effects out: framing, header serializations, flags, opaques, idle connections, timers.

Rules:
1. No socket, no clock: the caller brings bytes and the time (`now`, int milliseconds, never going back) and
   carries out the effects that are returned, in their order.
2. Frames that arrive together are answered together: at most one `Send` per call and connection.
3. After any call, `next_tick(now)` says when `tick` wants to be called; if that is not later than `now`, at
   once. `tick` deals with everything that was due up to `now` in the order in which it was due, so that one
   long jump of the clock gives the same as many short ones.
4. The endpoint forgets a connection when it asks for its end or is told of it; later calls for it do nothing.
5. A connection costs at most one frame that has not arrived completely (16 MiB), and what `most` holds back.
   All together hold `UNFINISHED_AT_MOST` bytes of such frames: for more, the one with the most is ended.

Source: NettyDecoder, NettyRemotingAbstract, NettyRemotingServer, RouteInfoManager#scanNotActiveBroker,
RouteInfoManager#notifyMinBrokerIdChanged of rocketmq-all-4.9.8 and rocketmq-all-5.3.3.
"""

import ssl
from collections import OrderedDict
from collections.abc import Callable, Iterator
from itertools import chain, count

import msgspec

from harness.wire import (
    FLAG_ONEWAY,
    FLAG_RESPONSE,
    FRAME_LIMIT,
    Command,
    FrameBuffer,
    RequestCode,
    ResponseCode,
    Serialization,
    WireError,
    decode,
    encode,
)
from harness.wire.codes import V5_3_1
from harness.wire.fastjson import restated
from reference_impl.remoting.effects import Close, Effect, Notify, Persist, Send
from reference_impl.remoting.entrance import Entrance
from reference_impl.remoting.preamble import DECIDABLE, length_of_preamble
from reference_impl.remoting.reply import Reply
from reference_impl.remoting.stamp import Stamp
from reference_impl.remoting.tls import HANDSHAKE, Tls
from reference_impl.remoting.tls_settings import TlsSettings

from .core import NameServer
from .state import LiveRecord, NewMinimum

__all__ = ["Certificates", "Endpoint"]

Certificates = Callable[[], ssl.SSLContext | None]
"""Gives the certificate for the next TLS connection; None: there is none that can be used."""

UNFINISHED_AT_MOST = 256 * 1024 * 1024
"""Bytes of frames that have not arrived completely, on all connections together. (Apache has no limit.)"""
_FRAME_COST = 4096
"""What a frame counts at least of what is enough for one call, in bytes of answers."""

_KV_PATH = "kvConfigPath"
_CONFIG_PATH = "configStorePath"
_NEVER = 1 << 62
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
    waiting: Iterator[bytes] | None = None
    """Frames that have arrived and are not answered yet, because the answers were too much for one call."""


class Endpoint:
    """The NameServer as its connections see it."""

    def __init__(
        self, nameserver: NameServer, started: int, certificates: Certificates | None = None
    ) -> None:
        self.nameserver = nameserver
        self.profile = nameserver.profile
        self.settings = nameserver.settings
        self.routes = nameserver.routes
        self.tls = TlsSettings.of(self.settings.config.file)
        self.certificates: Certificates = certificates or _no_certificate
        self._connections: dict[int, _Connection] = {}
        self._awake: dict[int, OrderedDict[int, None]] = {}
        """By idle limit: the connections that have it, least recently active first."""
        self._stops_at: int | None = None
        self._unfinished = 0
        """Bytes of frames that have not arrived completely."""
        self._opaques = count(1)
        self._may_stamp = all(
            getattr(type(self), name) is getattr(Endpoint, name)
            for name in ("response", "response_serialization", "write")
        )
        """A response that a mutant makes may depend on more than the reply and the opaque."""
        self._scan_at = started + self.routes.first_scan()

    # -- what the caller calls -------------------------------------------------------------------------------

    def connected(self, connection: int, peer: str, now: int) -> list[Effect]:
        """A connection was accepted: `connection` is any number not in use, `peer` its remote "ip:port"."""
        known = _Connection(self.new_buffer(), peer, now, self.idle_limit(), Entrance(self))
        self._connections[connection] = known
        if known.limit is not None:
            self._awake.setdefault(known.limit, OrderedDict())[connection] = None
        return []

    def received(self, connection: int, data: bytes, now: int, most: int | None = None) -> list[Effect]:
        """Bytes arrived, cut anyhow.

        `most` is how many bytes of answers are enough for one call (the last answer may go beyond), a frame
        counted as 4 KiB at least: then `has_waiting` is true, and the rest is answered by further calls,
        whose `data` may be empty.
        """
        known = self._connections.get(connection)
        if known is None:
            return []
        broken = False
        if known.entrance is not None:
            data, broken = self._entered(known, known.entrance, data)
        arrived: Iterator[bytes] = self.frames(known.buffer, data)
        if known.waiting is not None:
            arrived = chain(known.waiting, arrived) if data else known.waiting
            known.waiting = None
        enough = _NEVER if most is None else most
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
                    known.waiting = arrived
                    break
        except WireError:
            broken = True
        if self.is_activity(frames, len(responses)):
            known.active = now
            if known.limit is not None:
                self._awake[known.limit].move_to_end(connection)
        effects: list[Effect] = []
        if self.nameserver.unwritten:
            self.nameserver.unwritten = False
            effects.append(Persist(_KV_PATH, self.nameserver.kv.dump()))
        if self.settings.unwritten:
            self.settings.unwritten = False
            effects.append(Persist(_CONFIG_PATH, self.settings.dump()))
        answered = responses[0] if len(responses) == 1 else b"".join(responses)
        if known.entrance is not None and known.entrance.tls is not None:
            answered = known.entrance.tls.sealed(answered)
        if answered:
            effects.append(Send(connection, answered))
        if broken:
            effects += self.close(connection)
        elif known.buffer.pending != known.unfinished:
            self._unfinished += known.buffer.pending - known.unfinished
            known.unfinished = known.buffer.pending
            if self._unfinished > UNFINISHED_AT_MOST:
                effects += self.close(max(self._connections, key=self._unfinished_of))
        return effects + self._told() if self.routes.news else effects

    def _entered(self, known: _Connection, entrance: Entrance, data: bytes) -> tuple[bytes, bool]:
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

    def has_waiting(self, connection: int) -> bool:
        """Whether `received` is to be called again, once the peer has read the answers that it has got."""
        known = self._connections.get(connection)
        return known is not None and known.waiting is not None

    def lost(self, connection: int, now: int) -> list[Effect]:
        """The peer closed or reset."""
        self.forget(connection)
        return []

    def half_closed(self, connection: int, now: int) -> list[Effect]:
        """The peer sends no more, though it may still read: that is the end of the connection."""
        return self.close(connection)

    def stop(self, now: int) -> int:
        """The server is asked to stop. Returns when its connections may be ended, in ms; always the same.

        Until then it goes on as it is told by the settings; the caller ends the connections.
        """
        if self._stops_at is None:
            self._stops_at = now + self.farewell()
        return self._stops_at

    def tick(self, now: int) -> list[Effect]:
        """Do what was due up to `now`: departures that wait, expiry scans, ends of idle connections."""
        effects: list[Effect] = []
        while True:
            if self.routes.leaving:
                self.routes.work()
                effects += self._told()
            idle_at, idle = self._idle()
            if min(idle_at, self._scan_at) > now:
                return effects
            if idle_at < self._scan_at:
                effects += self.close(idle)
            else:
                effects += self.scan(self._scan_at)
                self._scan_at += self.routes.scan_interval()

    def next_tick(self, now: int) -> int:
        """When `tick` wants to be called, in ms; not later than `now`: at once."""
        return now if self.is_due else min(self._scan_at, self._idle()[0])

    @property
    def is_due(self) -> bool:
        """Whether something has come up that `tick` is to do at once (the cheap part of `next_tick`)."""
        return bool(self.routes.leaving)

    # -- decisions (see parts.py) ----------------------------------------------------------------------------

    def least_bytes(self) -> int:
        """How many bytes of a new connection must be there before anything is looked at."""
        return DECIDABLE if self.profile.proxy_protocol else 1

    def preamble(self, start: bytearray) -> int | None:
        """How many of the first bytes are a PROXY preamble, None while that is open. Raises WireError."""
        return length_of_preamble(start) if self.profile.proxy_protocol else 0

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

    def frames(self, buffer: FrameBuffer, data: bytes) -> Iterator[bytes]:
        """The frames that are whole now, in order. Raises WireError for a length that ends the connection.

        Small chunks mostly bring whole frames: those are cut off directly. Everything else is for the buffer
        to judge, so that the answer never depends on how the stream was cut.
        """
        if not buffer.pending and len(data) <= _SMALL:
            start, size = 0, len(data)
            while size - start >= _SHORTEST:
                end = start + 4 + int.from_bytes(data[start : start + 4], "big")
                if not start + _SHORTEST <= end <= size:
                    break
                yield data[start:end]
                start = end
            if start == size:
                return
            data = data[start:]
        buffer.feed(data)
        while (frame := buffer.next_frame()) is not None:
            yield frame

    def answer(self, connection: int, frame: bytes, now: int) -> bytes | None:
        """Carry out one frame. None: no answer. Raises WireError for a frame that ends the connection."""
        command = self.read(frame)
        if command.flag and self.is_ignored(command):
            return None
        if self._stops_at is not None and self.is_sent_away(command):
            reply = self.sent_away()
        else:
            reply = self.nameserver.execute(command, connection, now)
        if reply is None or (command.flag and self.is_unanswered(command)):
            return None
        if reply.repeated and self._may_stamp and command.serialization == Serialization.JSON:
            if reply.stamp is None:
                reply.stamp = Stamp(self.write(self.response(command, reply)))
            return reply.stamp.frame(command.opaque)
        return self.write(self.response(command, reply))

    def read(self, frame: bytes) -> Command:
        """The command in a frame. Raises WireError, which ends the connection."""
        return decode(frame, invalid_utf8=self.profile.invalid_utf8, engine=self.profile.engine)

    def is_ignored(self, command: Command) -> bool:
        """A frame with the response bit is an answer to something that was never asked."""
        return bool(command.flag & FLAG_RESPONSE)

    def is_unanswered(self, command: Command) -> bool:
        """A one-way request is carried out and never answered, not even with an error."""
        return command.is_oneway

    def farewell(self) -> int:
        """For how long a server that is asked to stop goes on, in ms."""
        config = self.settings.config
        if not (self.profile.v5_settings and config.enable_shutdown_gracefully):
            return 0
        return max(0, config.shutdown_wait_time_seconds) * 1000

    def is_sent_away(self, command: Command) -> bool:
        """Whether a stopping server sends a peer away, which older ones would not understand."""
        return command.version > V5_3_1

    def sent_away(self) -> Reply | None:
        """What a peer that is sent away is answered; nothing of its request is carried out."""
        return Reply(ResponseCode.GO_AWAY, remark="please go away", from_handler=False)

    def response(self, request: Command, reply: Reply) -> Command:
        """The response to a request."""
        return Command(
            code=reply.code,
            opaque=request.opaque,
            flag=FLAG_RESPONSE,
            language="JAVA",
            version=self.profile.version,
            remark=reply.remark,
            ext=reply.ext,
            body=self.written(reply.body),
            serialization=self.response_serialization(request, reply),
        )

    def written(self, body: bytes) -> bytes:
        """A body as the JSON engine of the line writes it. JSON bodies begin with a brace, no others do."""
        return restated(body) if self.profile.engine == "fastjson2" and body.startswith(b"{") else body

    def response_serialization(self, request: Command, reply: Reply) -> Serialization:
        """That of the request, or JSON for errors that are made outside of handlers. (Apache's 5.x: JSON.)"""
        return request.serialization if reply.from_handler else Serialization.JSON

    def write(self, response: Command) -> bytes:
        """The frame of a response."""
        return encode(response, self.profile.engine)

    def is_activity(self, frames: int, responses: int) -> bool:
        """Whether a connection stays awake, given how many frames came and how many were answered.

        Frames that nobody answers count; bytes of a frame that is not complete do not.
        """
        return frames > 0

    def idle_limit(self) -> int | None:
        """How long a connection that is accepted now may be idle, in ms; None: for ever."""
        seconds = self.settings.config.server_channel_max_idle_time_seconds
        return seconds * 1000 if seconds > 0 else None

    def scan(self, now: int) -> list[Effect]:
        """Remove the brokers whose lease has run out, and end their connections."""
        effects: list[Effect] = []
        for record in self.routes.expired(now):
            self.routes.depart(self.routes.departure_of(record))
            effects += self.close_expired(record)
        return effects

    def close_expired(self, record: LiveRecord) -> list[Effect]:
        """End the connection of a broker whose lease has run out."""
        return self.close(record.connection)

    def notification(self, news: NewMinimum) -> Command:
        """The one-way request (905) that tells a broker of the smallest id; all recipients get the same."""
        told = {
            "minBrokerId": str(news.id),
            "minBrokerAddr": news.address,
            "offlineBrokerAddr": news.left,
            "haBrokerAddr": news.ha_address,
        }
        return Command(
            code=RequestCode.NOTIFY_MIN_BROKER_ID_CHANGE,
            opaque=next(self._opaques),
            flag=FLAG_ONEWAY,
            language="JAVA",
            version=self.profile.version,
            ext={name: value for name, value in told.items() if value is not None},
        )

    def close(self, connection: int) -> list[Effect]:
        """End a connection, with everything that its end entails."""
        return [Close(connection)] if self.forget(connection) else []

    def forget(self, connection: int) -> bool:
        """Forget a connection and the brokers that registered on it. False: it was not known."""
        known = self.drop(connection)
        if known is None:
            return False
        self.routes.connection_lost(connection, known.peer)
        return True

    def drop(self, connection: int) -> _Connection | None:
        """Forget a connection, but not the brokers that registered on it. None: it was not known."""
        known = self._connections.pop(connection, None)
        if known is not None and known.limit is not None:
            del self._awake[known.limit][connection]
        if known is not None:
            self._unfinished -= known.unfinished
        return known

    def _unfinished_of(self, connection: int) -> int:
        return self._connections[connection].unfinished

    def _told(self) -> list[Effect]:
        news, self.routes.news = self.routes.news, []
        effects: list[Effect] = []
        for one in news:
            frame = self.write(self.notification(one))
            effects += [Notify(address, frame) for address in one.recipients]
        return effects

    def _idle(self) -> tuple[int, int]:
        """When the next connection will have been idle for too long, and which."""
        first, idle = _NEVER, 0
        for limit, connections in list(self._awake.items()):
            if not connections:
                del self._awake[limit]
                continue
            connection = next(iter(connections))
            if self._connections[connection].active + limit < first:
                first, idle = self._connections[connection].active + limit, connection
        return first, idle


def _no_certificate() -> None:
    return None
