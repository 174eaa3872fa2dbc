"""What a Broker says to its NameServers, as a case sees it.

- Every request is given once, in the order in which it came; one that is waited for by code passes over
  others.
- Waits are in protocol seconds on the Broker's clock; when a request came is known exactly, whenever it is
  asked for.
- What was heard is in the trace, at the time at which it came.
- A case that changes how a NameServer treats the Broker has the NameServers for itself from then on: others
  that want to wait until it has ended.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Self

from harness.session.errors import TargetDied
from harness.session.exchange import NotSo, Request, SentRequest, View
from harness.session.outcome import Answer, Mark, Outcome, Replied, Silent, Stalled
from harness.session.probing.nameserver import Answering, ProbingNameServer, ReceivedRequest
from harness.session.views import JsonExchange
from harness.wire import Command, RequestCode, WireError
from harness.wire.bodies import DataVersion, NullBodyError, RegisterBody, TopicConfig, body_crc32
from harness.wire.fastjson import ParseError
from harness.wire.view import registration

if TYPE_CHECKING:
    from harness.session.session import Session


_TABLE = ("topicConfigSerializeWrapper", "topicConfigTable")
_COLUMNS = ("readQueueNums", "writeQueueNums", "perm")

Where = Callable[[Command], bool]
"""Which requests are meant."""


class ReceivedExchange(JsonExchange):
    """A request of the Broker's to a NameServer. To be judged by ``Request(…)`` or ``Silence()``."""

    @property
    def topics(self) -> Self:
        """View of a registration: ``{topic: (read queues, write queues, perm)}``, sorted."""

        def read(command: Command) -> dict[str, tuple[int, int, int]]:
            topics = _topics(command)
            return {
                name: (one.read_queue_nums, one.write_queue_nums, one.perm)
                for name, one in sorted(topics.items())
            }

        return self.seen_as(View("topics", read, _TABLE, _COLUMNS))

    def topic(self, name: str) -> Self:
        """View of a registration: ``(read queues, write queues, perm)`` of a topic, or None."""

        def read(command: Command) -> tuple[int, int, int] | None:
            one = _topics(command).get(name)
            return None if one is None else (one.read_queue_nums, one.write_queue_nums, one.perm)

        return self.seen_as(View(f"topic {name}", read, (*_TABLE, name), _COLUMNS))

    def ordered(self, name: str) -> Self:
        """View of a registration: whether a topic is an order topic; None where it is not there."""

        def read(command: Command) -> bool | None:
            one = _topics(command).get(name)
            return None if one is None else one.order

        return self.seen_as(View(f"order of {name}", read, (*_TABLE, name, "order")))

    def ordered_among(self, names: Sequence[str]) -> Self:
        """View of a registration: which of these topics are order topics."""

        def read(command: Command) -> list[str]:
            topics = _topics(command)
            return [name for name in names if name in topics and topics[name].order]

        return self.seen_as(View("order topics", read))

    @property
    def permissions(self) -> Self:
        """View of a registration: the permissions that its topics have, sorted, each once."""
        return self.seen_as(
            View("permissions", lambda command: sorted({one.perm for one in _topics(command).values()}))
        )

    @property
    def number_of_topics(self) -> Self:
        """View of a registration: how many topics it carries."""
        return self.seen_as(View("number of topics", lambda command: len(_topics(command))))

    @property
    def filters(self) -> Self:
        """View of a registration: its filter servers."""
        return self.seen_as(
            View(
                "filter servers", lambda command: _registration(command).filter_servers, ("filterServerList",)
            )
        )

    @property
    def data_version(self) -> Self:
        """View of a registration or of a request about the version: ``(timestamp, counter, state
        version)``.
        """
        return self.seen_as(
            View("data version", _version, said="dataVersion (timestamp, counter, stateVersion)")
        )

    @property
    def counter(self) -> Self:
        """View of the same: the counter alone."""
        return self.seen_as(
            View("counter", lambda command: (_version(command) or (0, 0, 0))[1], said="dataVersion.counter")
        )

    def counter_above(self, other: int) -> Self:
        """View of the same: whether the counter is greater than another one."""
        return self.seen_as(
            View(f"counter above {other}", lambda command: (_version(command) or (0, 0, 0))[1] > other)
        )

    @property
    def state_version(self) -> Self:
        """View of the same: the state version, or None where there is none."""
        return self.seen_as(View("state version", _state_version, said="dataVersion.stateVersion"))

    @property
    def checksum_holds(self) -> Self:
        """View of a registration: whether ``bodyCrc32`` is that of the body as it was sent."""

        def read(command: Command) -> bool:
            return (command.ext or {}).get("bodyCrc32") == str(body_crc32(command.body))

        return self.seen_as(View("checksum holds", read, said="extFields.bodyCrc32 is that of the body"))

    @property
    def seconds(self) -> Self:
        """View: protocol seconds since what ``since`` named."""
        request = self._request
        assert isinstance(request, _Hearing)
        return self.seen_as(View("seconds", lambda _: round(request.seconds(), 3)))


class NameServerView:
    """A probing NameServer. ``bk.nameserver`` is the first one, ``bk.nameservers`` are all."""

    def __init__(
        self, session: Session, server: ProbingNameServer, number: int, alone: Callable[[], None]
    ) -> None:
        self._session = session
        self._alone = alone
        self._server = server
        self._number = number
        self._taken: set[int] = set()
        self._recorded = server.number_heard()
        self._connections: dict[int, int] = {}
        self._events: dict[int, int] = {}

    @property
    def address(self) -> str:
        """``ip:port``."""
        return self._server.address

    def next(
        self,
        code: int | None = None,
        *,
        since: Answer | Mark | None = None,
        within: float | None = None,
        where: Where | None = None,
    ) -> ReceivedExchange:
        """Awaits the next request, of this code and kind.

        ``since``: what came before that is passed over, and ``seconds`` counts from there. ``within``: for so
        many protocol seconds after ``since`` (or from now on), else for as long as an answer may take.
        Together with ``Silence()`` that is how long nothing must come.
        """
        return ReceivedExchange(_Hearing(self._session, self, code, since, within, where))

    def answers(
        self,
        code: int,
        response: int = 0,
        *,
        remark: str | None = None,
        ext: Mapping[str, str | None] | None = None,
        body: bytes = b"",
    ) -> None:
        """From now on it answers requests of this code so."""
        self._treat(
            code, Answering(code=response, remark=remark, ext=None if ext is None else dict(ext), body=body)
        )

    def ignores(self, code: int) -> None:
        """From now on it does not answer requests of this code."""
        self._alone()
        self._session.note(f"NameServer {self._number} does not answer {code:d}")
        self._server.treat(code, "silence")

    def closes_on(self, code: int) -> None:
        """From now on a request of this code ends its connection."""
        self._alone()
        self._session.note(f"NameServer {self._number} closes on {code:d}")
        self._server.treat(code, "close")

    def talks_nonsense(self, code: int) -> None:
        """From now on it answers requests of this code with a frame that cannot be read."""
        self._alone()
        self._session.note(f"NameServer {self._number} answers {code:d} with nonsense")
        self._server.treat(code, "nonsense")

    def behaves(self) -> None:
        """From now on it can be reached, and answers as a NameServer."""
        self._session.note(f"NameServer {self._number} behaves")
        self._server.behave()

    def goes_down(self) -> None:
        """From now on it cannot be reached."""
        self._alone()
        self._session.note(f"NameServer {self._number} goes down")
        self._server.go_down()

    def comes_up(self) -> None:
        """It can be reached again."""
        self._session.note(f"NameServer {self._number} comes up")
        self._server.come_up()

    def forgive(self) -> None:
        """The case ends: it behaves again."""
        self._server.behave()

    def heard(self, beginning: int = 0) -> tuple[ReceivedRequest, ...]:
        """All that was ever heard, without the first ``beginning``."""
        return self._server.heard(beginning)

    def record(self) -> int:
        """Writes what has come since the case began into the trace; gives how much was ever heard."""
        for one in self._server.heard(self._recorded):
            self._write(self._recorded, one)
            self._recorded += 1
        return self._recorded

    def _write(self, number: int, one: ReceivedRequest) -> None:
        """Into the trace, once."""
        if number not in self._events:
            self._connections[one.connection], self._events[number] = self._session.heard(
                self._connections.get(one.connection), self.address, one
            )

    def take(
        self, code: int | None, since: Answer | Mark | None, where: Where | None, beginning: int
    ) -> Replied | None:
        """The first behind the first ``beginning`` that was not given yet, and is meant. What came at the
        very moment of an answer may be what came of it; what came at that of a mark was before it.
        """
        for number, one in enumerate(self._server.heard(beginning), beginning):
            if number in self._taken or (code is not None and one.command.code != code):
                continue
            if isinstance(since, Answer) and one.at < since.mark.earliest:
                continue
            if isinstance(since, Mark) and one.at <= since.earliest:
                continue
            if where is not None and not where(one.command):
                continue
            self._taken.add(number)
            self._write(number, one)
            return Replied(
                connection=self._connections[one.connection],
                event=self._events[number],
                at=one.at,
                command=one.command,
                frame=one.frame,
            )
        return None

    def _treat(self, code: int, answering: Answering) -> None:
        self._alone()
        self._session.note(f"NameServer {self._number} answers {code:d} with {answering.code}")
        self._server.treat(code, answering)


class _Hearing(Request):
    """Waits for what the Broker says next to a NameServer."""

    def __init__(
        self,
        session: Session,
        server: NameServerView,
        code: int | None,
        since: Answer | Mark | None,
        within: float | None,
        where: Where | None,
    ) -> None:
        mark = since.mark if isinstance(since, Answer) else since

        def ask() -> SentRequest:
            return SentRequest(None, None, None, b"", None, session.clock.now())

        what = "request" if code is None else f"request {code:d}"
        super().__init__(session, f"next {what} at NameServer {server.address}", ask, repeatable=False)
        self._server = server
        self._code = code
        self._since = since
        self._where = where
        self._began = session.clock.now()
        self._mark = mark
        self._passed = 0
        self._end = None if within is None else (mark.latest if mark else self._began) + within

    def seconds(self) -> float:
        """Protocol seconds between what ``since`` named, or when it was asked, and the request."""
        assert self._outcome is not None
        return self._outcome.at - (self._mark.earliest if self._mark else self._began)

    def outcome(self, *, silence_is_an_answer: bool = False) -> Outcome:
        if self._outcome is None:
            self._outcome = self._hear(silence_is_an_answer)
            if isinstance(self._outcome, Replied):
                self.asked.sent_at = self._outcome.at
        return self._outcome

    def _hear(self, silence_is_an_answer: bool) -> Outcome:
        session, clock = self.session, self.session.clock
        began = clock.waiting()
        while (heard := self._look()) is None:
            session.checked(f"waiting for {self.subject}")
            over = clock.waiting() - began >= clock.timing.answer if self._end is None else False
            if over or (self._end is not None and clock.now() >= self._end):
                kind = Silent if self._is_answered(silence_is_an_answer) else Stalled
                return kind(connection=0, at=clock.now(), waited=clock.waiting() - began)
            paused = clock.waiting()
            session.pause(clock.timing.pause)
            if self._end is not None and clock.kind != "virtual":
                session.prolong(clock.waiting() - paused)  # time asked for is not time lost
        return heard

    def _look(self) -> Replied | None:
        """At what has come since the last look."""
        end = self._server.record()
        heard = self._server.take(self._code, self._since, self._where, self._passed)
        self._passed = end
        return heard

    def _is_answered(self, silence_is_an_answer: bool) -> bool:
        """A Broker that has gone has not said what it was to say; that it says nothing proves nothing."""
        try:
            return self.session.is_answered()
        except TargetDied:
            if silence_is_an_answer:
                raise
            return False


def _registration(command: Command) -> RegisterBody:
    try:
        return registration(command)
    except (WireError, NullBodyError) as problem:
        raise NotSo(f"no body of a registration: {problem}") from problem


def _topics(command: Command) -> dict[str, TopicConfig]:
    topics = _registration(command).topics or {}
    return {one.topic_name or "": one for one in topics.values()}


def _state_version(command: Command) -> Any:
    version = _version(command)
    return None if version is None else version[2]


def _version(command: Command) -> Any:
    if command.code == RequestCode.REGISTER_BROKER:
        version = _registration(command).data_version
    else:
        try:
            version = DataVersion.decode(command.body)
        except (WireError, ParseError, NullBodyError) as problem:
            raise NotSo(f"no data version: {problem}") from problem
    return None if version is None else (version.timestamp, version.counter, version.state_version)
