"""The one thing that a case touches: connections, calls, time, names.

- A session belongs to one case and one thread. Sessions share nothing but the target.
- Every wait has a deadline of its own, and the case has one over all (``CaseTimeout``).
- Connections are kept busy whenever the session waits (``waiting``): targets close idle connections after
  120 s, and warped time runs during every wait. A connection that the case let lie idle stays so until the
  case uses it again.
- Sessions of several targets that are used together (``beside``) write one trace, number their connections
  and their requests together and keep each other's connections busy.
"""

from __future__ import annotations

import itertools
import random
import time
from collections.abc import Callable, Iterable, Iterator
from types import TracebackType
from typing import Self, Unpack

from harness.catalogue import Profile
from harness.program.names import FreshNames
from harness.session.clock import Clock
from harness.session.connection import Connection
from harness.session.errors import (
    Blocked,
    CaseTimeout,
    NotRestarted,
    TargetDied,
    TooLate,
    Unjudged,
    Unmet,
    Unsupported,
)
from harness.session.exchange import Exchange, Request, SentRequest
from harness.session.futile import FutileWaits
from harness.session.handshake import secured
from harness.session.link import Link, MistypedFrame, RawLink
from harness.session.listener import Listener
from harness.session.outcome import ClosedBy, Mark, Outcome, UnsolicitedFrame
from harness.session.probing.nameserver import ReceivedRequest
from harness.session.requests import Ext, HeaderFields, Query, command, request_title
from harness.session.term import Term
from harness.session.transport import Ending, Instance, Listening, Transport
from harness.session.waiting import Waits
from harness.trace import Header, Recorder, Trace
from harness.wire import Command, RequestCode, encode

_GIVING_BACK = 5.0
"""Real seconds."""


class Session:
    """A case's view of a running target.

    ``beside`` is the session of another target that is used together with this one: both write one trace.
    ``probe(opaque, version)`` makes a cheap request that every target answers; ``profile`` is what
    it is judged by; ``random_source`` makes the names; ``deadline`` is in real seconds and counts from
    now. ``futile`` are the waits that were in vain in other sessions with the target.
    """

    query: Query
    """A request that needs no body and no state, for cases that are not about any: the one that a new server
    learns first.
    """
    query_answer: int
    """The code of its answer."""
    bare_query: Query
    """One that needs no ext fields either, and succeeds."""

    def __init__(
        self,
        instance: Instance,
        *,
        header: Header,
        random_source: random.Random,
        profile: Profile,
        probe: Callable[[int, int, str], Command],
        deadline: float = 60.0,
        beside: Session | None = None,
        futile: FutileWaits | None = None,
    ) -> None:
        self.clock: Clock = instance.clock
        self._instance = instance
        self._names = FreshNames(random_source)
        self.profile = profile
        self._deadline = time.monotonic() + deadline
        self._deadline_seconds = deadline
        began = time.monotonic()
        now = instance.clock.now
        if beside is None:
            self._numbers = itertools.count(1)
            self._recorder = Recorder(header, real=lambda: time.monotonic() - began, protocol=now)
        else:
            self._numbers = beside._numbers
            self._recorder = beside._recorder.beside(len(beside._waits.together), protocol=now)
        self._spent: set[int] = set() if beside is None else beside._spent
        self._opaques: Iterator[int] = itertools.count(1000) if beside is None else beside._opaques
        self.futile = FutileWaits() if futile is None else futile
        self._probe = lambda: probe(self.next_opaque(), profile.announces, self.nonce)
        self._waits: Waits = Waits(
            self.clock,
            profile,
            probe=self._probe,
            connect=lambda: self.connect().link,
            checked=self.checked,
            futile=self.futile,
            beside=None if beside is None else beside._waits,
        )
        self._main: Connection | None = None
        self._listeners: list[Listening] = []
        self._afterwards: list[Callable[[], None]] = []
        self._requests: list[Request] = []
        self.term = Term()
        self._leases_since: float | None = None
        """When something was first registered, or since when time passes unasked."""
        self.tolerated: list[Unmet] = []
        """How outcomes that are allowed differ from what Apache does."""
        self.met: list[tuple[int | None, str]] = []
        """What met an expectation, in order: the code of the request, and the kind of its answer."""
        self.hook: Callable[[Command], Command] | None = None
        """What becomes of each request before it is sent, as with Java's RPCHook; None: nothing."""
        self.death = ""
        """The last words of a target that has died while connections were closed."""

    # --- what it is -----------------------------------------------------------------------------------------

    @property
    def trace(self) -> Trace:
        """Everything that has happened on the wire in this session."""
        return self._recorder.trace

    @property
    def nonce(self) -> str:
        """The mark that all names of this session carry."""
        return self._names.nonce

    def name(self, hint: str) -> str:
        """A new name for a topic, a broker or a cluster, which no other run uses: ``T-zabcdefg``."""
        made = self._names.name(hint)
        self._recorder.name(made, hint)
        return made

    def is_ours(self, text: str) -> bool:
        """Whether a name or an address was made by this session."""
        return self._names.is_ours(text)

    def address(self) -> str:
        """A new, unique ``10.a.b.c:port``."""
        made = self._names.address()
        self._recorder.name(made, "address")
        return made

    def note(self, text: str) -> None:
        """Puts a remark into the trace."""
        self._recorder.note(text)

    def file(self, name: str, data: bytes | None) -> None:
        """Puts a file into the target's own directory, which settings call ``{dir}``; None: removes it. What
        is there is replaced at one blow. Raises ``Unsupported`` where the target has no such directory.
        """
        self.note(f"file {name}, {'removed' if data is None else f'{len(data)} bytes'}")
        self._instance.place(name, data)

    # --- asking ---------------------------------------------------------------------------------------------

    def connect(self, *, preamble: bytes = b"", tls: bool = False) -> Connection:
        """A new connection. Raises ``TargetDied`` where the target takes none.

        ``preamble`` is sent before everything else. With ``tls`` all that follows is encrypted; the trace
        shows what TLS carries. A handshake that fails is seen as the end of the connection.
        """
        self.checked("connecting")
        if tls:
            transport: Transport = secured(
                lambda: self._opened(preamble),
                self.clock,
                probe=self._probe,
                note=self._recorder.note,
                futile=self.futile,
            )
        else:
            transport = self._opened(preamble)
        connection = self._added(transport, preamble)
        if preamble:
            self._recorder.note(f"preamble {preamble!r}", connection.id)
        if tls:
            self._recorder.note("under TLS: what follows is what it carries", connection.id)
        return connection

    def _added(self, transport: Transport, preamble: bytes = b"") -> Connection:
        link = Link(next(self._numbers), transport, self._recorder, self.clock, opening=preamble)
        self._waits.add(link)
        return Connection(self, link)

    def _opened(self, preamble: bytes) -> Transport:
        transport = self._instance.open()
        transport.send(preamble)
        return transport

    def listen(self) -> Listener:
        """A new address where the target can send something. Raises ``Unsupported`` where it cannot."""
        return Listener(self, self.listening())

    def listening(self) -> Listening:
        """A new address where the target can connect, until the session closes. Raises ``Unsupported``."""
        listening = self._instance.listen()
        self._listeners.append(listening)
        return listening

    @property
    def connection(self) -> Connection:
        """The session's own connection, for calls that need none in particular. A new one if it was
        closed.
        """
        if self._main is not None:
            self._main.link.notice()
        if self._main is None or not self._main.link.takes_frames:
            self._main = self.connect()
        return self._main

    def call(
        self,
        code: int,
        ext: Ext = None,
        body: bytes = b"",
        *,
        on: Connection | None = None,
        about: str = "",
        **header: Unpack[HeaderFields],
    ) -> Exchange:
        """Sends one command; the exchange awaits the response with its opaque.

        ``on`` is the connection (the session's own where it is None); ``header`` sets ``version``,
        ``opaque``, ``flag``, ``language``, ``serialization``, ``remark``. ``about`` says in reports what it
        is about, beside its code and name.
        """
        return Exchange(self.request(code, ext, body, on, about, header))

    def request(
        self, code: int, ext: Ext, body: bytes, on: Connection | None, about: str, header: HeaderFields
    ) -> Request:
        """Sends one command, as ``call`` does, and gives the request alone, for exchanges with views."""
        hook = self.hook

        def ask() -> SentRequest:
            self.checked("calling")
            connection = on if on is not None else self.connection
            connection.link.idle = False
            asked = command(
                code, ext, body, header, opaque=self.next_opaque(), version=self.profile.announces
            )
            if hook is not None:
                asked = hook(asked)
            data = encode(asked)
            want = connection.link.want(asked.opaque)
            sent_at = self.clock.now()
            if code == RequestCode.REGISTER_BROKER and self._leases_since is None:
                self._leases_since = sent_at
            return SentRequest(connection.link, want, asked, data, connection.link.send(data), sent_at)

        return Request(self, request_title(code, about), ask)

    # --- time -----------------------------------------------------------------------------------------------

    def now(self) -> float:
        """Protocol seconds on the target's clock, from an arbitrary beginning."""
        return self.clock.now()

    def mark(self) -> Mark:
        """This moment. An ``Answer`` has one too (``answer.mark``): when the target acted on that request."""
        return Mark(self.clock.now(), self.clock.now())

    def advance(self, seconds: float, idle: Iterable[Connection] = ()) -> None:
        """Lets at least these protocol seconds pass. All connections are kept busy except those in
        ``idle``.
        """
        self.term.forget()
        for connection in idle:
            connection.link.idle = True
        self._recorder.note(f"advance {seconds:g} s")
        if self.clock.warp:
            self._deadline += seconds / self.clock.warp  # time asked for is not time lost
        self.clock.advance(seconds, self._busy_round)
        if self._leases_since is not None:  # what has expired meanwhile was to
            self._leases_since = self.clock.now()

    def prolong(self, waiting_seconds: float) -> None:
        """The case waited for others: that is no time of its own."""
        self._deadline += waiting_seconds

    @property
    def jitter(self) -> float:
        """Protocol seconds by which a correct target may act late on this clock; 0 where time is virtual."""
        return self.clock.timing.jitter

    def pause(self, waiting_seconds: float) -> None:
        """Lets waiting seconds pass (real ones, or virtual where time is virtual)."""
        self.checked("pausing")
        self.clock.pause(waiting_seconds)
        self._waits.keep_busy()

    def restart(self, how: Ending = "term") -> None:
        """Stops and starts the target with what it keeps on disk. Raises ``Unsupported`` where that is
        impossible, ``NotRestarted`` where the target does not come back.

        All connections end with it. Needs a target that is not shared at the time. What it takes is no
        time of the case.
        """
        self.checked("restarting")
        self.note("restart" if how == "term" else "killed and started again")
        began = time.monotonic()
        try:
            self._instance.restart(how)
        except Blocked as problem:
            raise NotRestarted(str(problem)) from problem
        self.prolong(time.monotonic() - began)
        self._leases_since = None

    def shutdown(self) -> None:
        """Asks the target to stop, as SIGTERM does, and does not wait. Raises ``Unsupported`` where that is
        impossible.

        Needs a target that is not shared, then and afterwards.
        """
        self.checked("shutting down")
        self.note("asked to stop")
        self._instance.shutdown()

    # --- the end --------------------------------------------------------------------------------------------

    @property
    def requests(self) -> tuple[Request, ...]:
        """What was asked, in order, judged or not."""
        return tuple(self._requests)

    @property
    def strays(self) -> tuple[tuple[int, UnsolicitedFrame], ...]:
        """Frames that came and answer nothing that was waited for, each with the number of its connection."""
        return tuple((link.number, stray) for link in self._waits.links for stray in link.strays)

    @property
    def mistyped(self) -> tuple[tuple[int, MistypedFrame], ...]:
        """Frames whose headers only a lenient decoder can read, each with the number of its connection."""
        return tuple((link.number, one) for link in self._waits.links for one in link.mistyped)

    def unjudged(self) -> list[str]:
        """What was asked and never judged."""
        return [request.subject for request in self._requests if not request.judged]

    def finish(self) -> None:
        """To be called at the end of a case that went well: raises ``Unjudged`` where a request was not
        judged.
        """
        if forgotten := self.unjudged():
            raise Unjudged(
                f"asked and never judged: {', '.join(forgotten)}. Write `… >> Reply(…)` behind each."
            )

    def afterwards(self, give_back: Callable[[], None]) -> None:
        """To be done when the session closes, whatever becomes of the case, the latest first: it gives the
        target back as it was. What it raises is noted.
        """
        self._afterwards.append(give_back)

    def close(self) -> None:
        """Gives the target back as it was (``afterwards``), and closes all connections and listeners,
        whatever comes of it (`death`). May be called more than once.
        """
        self._deadline = max(self._deadline, time.monotonic() + _GIVING_BACK)
        while self._afterwards:
            try:
                self._afterwards.pop()()
            except (Blocked, CaseTimeout, Unsupported) as problem:
                self.note(f"the target could not be given back as it was: {problem}")
        for listener in self._listeners:
            listener.close()
        self._waits.look_back()
        for link in self._waits.links:
            try:
                link.close("fin")
            except TargetDied as problem:
                self.death = self.death or str(problem)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, problem: BaseException | None, where: TracebackType | None
    ) -> None:
        self.close()
        if kind is None:
            if self.death:
                raise TargetDied(self.death)
            self.finish()

    # --- what exchanges and connections need ----------------------------------------------------------------

    def register(self, request: Request) -> None:
        """Remembers a request, so that one which is never judged is found."""
        self._requests.append(request)

    def checked(self, doing: str) -> None:
        """Raises ``CaseTimeout`` where the time of the case is over."""
        if time.monotonic() > self._deadline:
            raise CaseTimeout(f"the case took longer than {self._deadline_seconds:g} s; it was {doing}")

    def adopt(self, transport: Transport) -> Link:
        """A connection that the target has made. Nothing is sent on it."""
        link = self._added(transport).link
        link.idle = True
        return link

    def adopt_raw(self, transport: Transport) -> RawLink:
        """A connection that carries no frames, made by either side."""
        link = RawLink(next(self._numbers), transport, self._recorder, self.clock)
        self._waits.add(link)
        return link

    def heard(self, connection: int | None, address: str, heard: ReceivedRequest) -> tuple[int, int]:
        """Records a request that came to a NameServer at ``address``, and its answer; on a connection that is
        new where it has no number yet. Gives the numbers of the connection and of the event.
        """
        at, recorder = heard.at, self._recorder
        if connection is None:
            connection = next(self._numbers)
            recorder.opened(connection, address, heard.peer, at=at)
        event = recorder.received(connection, heard.frame, at=at)
        if heard.answer is not None:
            recorder.sent(connection, heard.answer, at=at)
        return connection, event

    def is_answered(self) -> bool:
        """Whether the target answers a probe."""
        return self._waits.is_answered()

    def ask_own(self, code: int, ext: Ext, body: bytes, connection: Connection) -> Outcome:
        """A request of the harness's own, not of the case: recorded as a barrier, and not judged."""
        request = command(code, ext, body, {}, opaque=self.next_opaque(), version=self.profile.announces)
        data = encode(request)
        want = connection.link.want(request.opaque, "barrier")
        sent_at = self.clock.now()
        event = connection.link.send(data, "barrier")
        asked = SentRequest(connection.link, want, request, data, event, sent_at)
        return self.decide(asked, f"code {int(code)}", silence_is_an_answer=False)

    def next_opaque(self) -> int:
        """An opaque that no other request of the session has."""
        return next(opaque for opaque in self._opaques if opaque not in self._spent)

    def spend(self, opaque: int) -> None:
        """A frame that was not made with `next_opaque` carries it: no request is to have it after that."""
        self._spent.add(opaque)

    def refuse_if_expired(self, unmet: Unmet, first_asked: float) -> None:
        """Raises ``TooLate`` where what was registered may have expired before it was ``first_asked``, only
        because this machine is slow.
        """
        if self.clock.kind != "warped" or self._leases_since is None:
            return
        if (passed := first_asked - self._leases_since) > self.profile.surely_live:
            subject = unmet.exchange.subject
            raise TooLate(
                f"{subject}: {passed:.0f} protocol seconds had passed unasked, as long as a lease"
            ) from unmet

    def refuse_if_late(self, unmet: Unmet, link: Link | None) -> None:
        """Raises ``TooLate`` where the term of ``advance_short_of`` was over before the answer was there, or
        where the target ended a connection that was quiet for so long only because this machine is slow.
        """
        if self.clock.kind == "warped" and isinstance(unmet.outcome, ClosedBy) and link and not link.idle:
            quiet = link.quiet_until(unmet.outcome.at)
            if quiet > self.profile.quiet:
                raise TooLate(
                    f"{unmet.exchange.subject}: the connection was quiet for {quiet:.0f} protocol seconds, "
                    f"as long as an idle timer"
                ) from unmet
        if (late := self.term.late(self.clock.now())) > 0:
            raise TooLate(
                f"{unmet.exchange.subject}: the answer came {late:.1f} protocol seconds after the term that "
                f"it was to be seen within"
            ) from unmet

    def refuse_if_overdue(self, subject: str) -> None:
        """Raises ``TooLate`` where what was waited for came after the term of ``while_lasts``: that it is
        over may be why it came.
        """
        if (late := self.term.overdue(self.clock.now())) > 0:
            raise TooLate(
                f"{subject}: what was expected came {late:.1f} protocol seconds after the term that it was "
                f"to be seen within"
            )

    def decide(self, asked: SentRequest, subject: str, silence_is_an_answer: bool) -> Outcome:
        """Waits until it is clear what became of a request."""
        return self._waits.decide(asked, subject, silence_is_an_answer)

    def _busy_round(self) -> None:
        self.checked("advancing")
        self._waits.keep_busy()
