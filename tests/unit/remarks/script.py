"""A trace, written line by line: who says what, and when."""

from __future__ import annotations

from itertools import count
from typing import Any

from harness.remarks import judge
from harness.session.broker.requests import consuming
from harness.trace import Closed, Event, Header, Opened, Received, Sent, Trace
from harness.wire import FLAG_ONEWAY, FLAG_RESPONSE, Command, RequestCode, encode
from harness.wire.bodies import Heartbeat, LockedQueues, LockRequest, MessageQueue
from harness.wire.fastjson import dumps
from harness.wire.versions import V5_3_3

BROKER = "127.0.0.1:10911"
GROUP, TOPIC, CLIENT = "G", "T", "client"
PLACE = {"consumerGroup": GROUP, "topic": TOPIC, "queueId": "0"}


class Script:
    """What clients and a Broker say to each other, in any order. `at` is in seconds."""

    def __init__(self) -> None:
        self._events: list[Event] = []
        self._opened: set[int] = set()
        self._opaques = count(1)

    @property
    def remarks(self) -> set[str]:
        """The statements that are broken, without `cl.`."""
        found = judge([Trace(Header(), tuple(sorted(self._events, key=lambda one: one.real)))])
        return {one.statement.removeprefix("cl.") for one in found}

    def asks(
        self,
        at: float,
        code: int,
        ext: dict[str, str] | None = None,
        body: bytes = b"",
        *,
        on: int = 1,
        flag: int = 0,
        answer: int | None = 0,
        told: dict[str, str] | None = None,
        answer_body: bytes = b"",
    ) -> None:
        """A client asks, and is answered at once; not if `answer` is None."""
        opaque = next(self._opaques)
        self._say(Sent, at, on, Command(code, opaque=opaque, flag=flag, ext=dict(ext or {}), body=body))
        if answer is not None and not flag & FLAG_ONEWAY:
            reply = Command(answer, opaque=opaque, flag=FLAG_RESPONSE, ext=dict(told or {}), body=answer_body)
            self._say(Received, at, on, reply)

    def pushes(self, at: float, code: int, ext: dict[str, str], *, on: int = 1) -> None:
        """The Broker asks a client one-way."""
        command = Command(code, opaque=next(self._opaques), flag=FLAG_ONEWAY, ext=dict(ext))
        self._say(Received, at, on, command)

    def closes(self, at: float, *, on: int = 1, by: str = "us") -> None:
        self._events.append(Closed(real=at, protocol=at, connection=on, by=by, how="fin"))  # type: ignore[arg-type]

    # -- what clients say ------------------------------------------------------------------------------------

    def beats(self, at: float, *, client: str = CLIENT, on: int = 1, **changed: Any) -> None:
        wanted = {**consuming(GROUP, [TOPIC]), **changed}
        body = dumps({"clientID": client, "consumerDataSet": [wanted], "producerDataSet": []})
        assert Heartbeat.decode(body).client_id == client
        self.asks(at, RequestCode.HEART_BEAT, body=body, on=on)

    def leaves(self, at: float, *, client: str = CLIENT, on: int = 1) -> None:
        self.asks(at, RequestCode.UNREGISTER_CLIENT, {"clientID": client, "consumerGroup": GROUP}, on=on)

    def pulls(self, at: float, offset: int, *, on: int = 1, held: bool = False) -> None:
        ext = PLACE | {"queueOffset": str(offset), "maxMsgNums": "32", "sysFlag": "6" if held else "4"}
        ext |= {"commitOffset": "0", "suspendTimeoutMillis": "15000", "subVersion": "1"}
        self.asks(at, RequestCode.PULL_MESSAGE, ext, on=on, answer=None if held else 0)

    def commits(self, at: float, offset: int, *, on: int = 1) -> None:
        ext = PLACE | {"commitOffset": str(offset)}
        self.asks(at, RequestCode.UPDATE_CONSUMER_OFFSET, ext, on=on, flag=FLAG_ONEWAY)

    def asks_for_offset(self, at: float, *, on: int = 1) -> None:
        self.asks(at, RequestCode.QUERY_CONSUMER_OFFSET, PLACE, on=on)

    def locks(self, at: float, *, given: bool = True, code: int = RequestCode.LOCK_BATCH_MQ) -> None:
        queues = [MessageQueue("broker-a", 0, TOPIC)]
        body = LockRequest(client_id=CLIENT, consumer_group=GROUP, mq_set=queues).encode()
        self.asks(at, code, body=body, answer_body=LockedQueues(queues if given else []).encode())

    def asks_for_members(self, at: float, *, on: int = 1) -> None:
        self.asks(at, RequestCode.GET_CONSUMER_LIST_BY_GROUP, {"consumerGroup": GROUP}, on=on)

    def _say(self, event: type[Sent] | type[Received], at: float, on: int, command: Command) -> None:
        if on not in self._opened:
            self._opened.add(on)
            self._events.append(
                Opened(real=0, protocol=0, connection=on, local=f"10.0.0.1:{on}", remote=BROKER)
            )
        command.version = V5_3_3
        self._events.append(event(real=at, protocol=at, connection=on, data=encode(command)))
