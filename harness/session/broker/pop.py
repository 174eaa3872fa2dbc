"""What a case says to a Broker of 5.x about POP: messages that are popped, acknowledged, hidden for longer.

As in ``broker_requests``. A message is named by its *handle*, which `PopExchange`
makes of an answer as clients do. A request that may not wait says that it was born in a time far away, so
that it is never too late; when one that may wait was born is left to the Broker, whose clock is its own.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, Self, Unpack

from harness.session.broker.requests import BrokerRequests
from harness.session.broker.views import MessagesExchange
from harness.session.connection import Connection
from harness.session.exchange import Exchange, NotSo, View
from harness.session.request_method import RequestMethod
from harness.session.requests import HeaderFields, fields
from harness.session.views import JsonExchange, json_of
from harness.wire import Command, RequestCode, WireError
from harness.wire.bodies import AssignmentQuestion, BatchAck, BatchAcks, RequestMode
from harness.wire.handles import handles_of, listed, place_of
from harness.wire.messages import decode_messages

ANY_QUEUE = -1
FAR_AWAY = 1 << 53


class PopExchange(MessagesExchange):
    """Code 200050."""

    @property
    def handles(self) -> Self:
        """View: the handles of the messages."""
        return self.seen_as(View("handles", lambda reply: _handles(reply, self._broker)))

    @property
    def given(self) -> Self:
        """View: ``(kind of topic, queue, offset)`` of each message, as the answer lists them."""
        return self.seen_as(
            View(
                "messages listed",
                lambda reply: [one[:3] for one in _listed(reply)],
                said="extFields.msgOffsetInfo (kind of topic, queue, offset)",
            )
        )

    @property
    def pop_time(self) -> Self:
        """View: when the messages were popped, as the answer says it."""
        return self.seen_as(
            View("pop time", lambda reply: (reply.ext or {}).get("popTime"), columns=("popTime",))
        )

    _broker = ""

    def of(self, broker: str) -> Self:
        """The same, of the Broker with that name."""
        self._broker = broker
        return self


class AssignmentExchange(JsonExchange):
    """Code 400."""

    @property
    def queues(self) -> Self:
        """View: ``(queue, PULL or POP)`` of each queue of the client, sorted; None: nothing is said."""
        return self.seen_as(
            View("assigned queues", _assigned, ("messageQueueAssignments",), ("queueId", "mode"))
        )


class PopRequests(BrokerRequests):
    """The requests of a ``BrokerSession`` that are of POP."""

    def pop(
        self,
        topic: str | None,
        group: str | None,
        queue: int = ANY_QUEUE,
        most: int = 32,
        *,
        invisible: float = 60.0,
        poll: float = 0.0,
        newest: bool = False,
        tags: str | None = None,
        order: bool = False,
        attempt: str | None = None,
        ext: Mapping[str, str | None] | None = None,
        on: Connection | None = None,
        **header: Unpack[HeaderFields],
    ) -> PopExchange:
        """POP_MESSAGE (200050). ``invisible`` and ``poll`` are protocol seconds."""
        sent = fields(
            consumerGroup=group,
            topic=topic,
            queueId=queue,
            maxMsgNums=most,
            invisibleTime=round(invisible * 1000),
            pollTime=round(poll * 1000),
            bornTime=0 if poll else FAR_AWAY,
            initMode=int(newest),
            expType=None if tags is None else "TAG",
            exp=tags,
            order=order,
            attemptId=attempt,
        )
        code = RequestCode.POP_MESSAGE
        request = self.request(code, {**sent, **(ext or {})}, b"", on, topic or "", header)
        return PopExchange(request).of(self.broker_name)

    def ack(
        self,
        topic: str,
        group: str,
        handle: str,
        *,
        ext: Mapping[str, str | None] | None = None,
        on: Connection | None = None,
        **header: Unpack[HeaderFields],
    ) -> Exchange:
        """ACK_MESSAGE (200051)."""
        sent = {**place_of(handle, topic, group), **(ext or {})}
        return Exchange(self.request(RequestCode.ACK_MESSAGE, sent, b"", on, handle, header))

    def ack_all(
        self,
        topic: str,
        group: str,
        handles: Iterable[str],
        *,
        on: Connection | None = None,
        **header: Unpack[HeaderFields],
    ) -> Exchange:
        """BATCH_ACK_MESSAGE (200151): one entry for each handle."""
        acks = [_ack(topic, group, handle.split(" ")) for handle in handles]
        code, body = RequestCode.BATCH_ACK_MESSAGE, BatchAcks(acks, self.broker_name).encode()
        return Exchange(self.request(code, None, body, on, f"{len(acks)} messages", header))

    def hide(
        self,
        topic: str,
        group: str,
        handle: str,
        invisible: float,
        *,
        ext: Mapping[str, str | None] | None = None,
        on: Connection | None = None,
        **header: Unpack[HeaderFields],
    ) -> Exchange:
        """CHANGE_MESSAGE_INVISIBLETIME (200053). ``invisible``: protocol seconds from now on."""
        sent = {
            **place_of(handle, topic, group),
            "invisibleTime": str(round(invisible * 1000)),
            **(ext or {}),
        }
        code = RequestCode.CHANGE_MESSAGE_INVISIBLETIME
        return Exchange(self.request(code, sent, b"", on, f"{handle}, {invisible:g} s", header))

    def notification(
        self,
        topic: str | None,
        group: str | None,
        queue: int = ANY_QUEUE,
        *,
        poll: float = 0.0,
        tags: str | None = None,
        on: Connection | None = None,
        **header: Unpack[HeaderFields],
    ) -> Exchange:
        """NOTIFICATION (200054). ``poll``: protocol seconds that it may wait. ``tags`` (5.5): what counts."""
        sent = fields(
            consumerGroup=group, topic=topic, queueId=queue, pollTime=round(poll * 1000), bornTime=0
        )
        if tags is not None:
            sent |= {"expType": "TAG", "exp": tags}
        code = RequestCode.NOTIFICATION
        return Exchange(self.request(code, sent, b"", on, topic or "", header))

    polling = RequestMethod(
        Exchange,
        RequestCode.POLLING_INFO,
        topic="topic",
        group="consumerGroup",
        queue=("queueId", ANY_QUEUE),
    )

    def request_mode(
        self,
        topic: str | None,
        group: str | None,
        mode: str,
        share: int = 0,
        *,
        on: Connection | None = None,
        **header: Unpack[HeaderFields],
    ) -> Exchange:
        """SET_MESSAGE_REQUEST_MODE (401): PULL or POP."""
        code, body = RequestCode.SET_MESSAGE_REQUEST_MODE, RequestMode(group, mode, share, topic).encode()
        return Exchange(self.request(code, None, body, on, f"{group}, {topic}, {mode}", header))

    request_modes = RequestMethod(JsonExchange, RequestCode.GET_ALL_MESSAGE_REQUEST_MODE)

    def assignment(
        self,
        topic: str | None,
        group: str | None,
        client: str,
        *,
        strategy: str = "AVG",
        model: str | None = "CLUSTERING",
        on: Connection | None = None,
        **header: Unpack[HeaderFields],
    ) -> AssignmentExchange:
        """QUERY_ASSIGNMENT (400)."""
        code = RequestCode.QUERY_ASSIGNMENT
        body = AssignmentQuestion(client, group, model, strategy, topic).encode()
        return AssignmentExchange(self.request(code, None, body, on, client, header))


def _listed(reply: Command) -> list[tuple[str, int, int, str]]:
    try:
        return listed(reply.ext or {})
    except WireError as problem:
        raise NotSo(str(problem)) from None


def _handles(reply: Command, broker: str) -> list[str]:
    try:
        messages = decode_messages(reply.body)
    except WireError as problem:
        raise NotSo(f"no messages: {problem}") from problem
    try:
        return handles_of(reply.ext or {}, messages, broker)
    except WireError as problem:
        raise NotSo(str(problem)) from problem


def _assigned(reply: Command) -> list[tuple[int, str]] | None:
    said: Any = json_of(reply)
    listed = said.get("messageQueueAssignments") if isinstance(said, dict) else None
    if listed is None:
        return None
    try:
        return sorted((one["messageQueue"]["queueId"], one["mode"]) for one in listed)
    except (KeyError, TypeError):
        raise NotSo("assignments that have no queue or no mode") from None


def _ack(topic: str, group: str, words: list[str]) -> BatchAck:
    start, pop_time, invisible, revive_queue = map(int, words[:4])
    return BatchAck(
        consumer_group=group,
        topic=topic,
        retry=words[4],
        start_offset=start,
        queue_id=int(words[6]),
        revive_queue_id=revive_queue,
        pop_time=pop_time,
        invisible_time=invisible,
        bits=BatchAck.bits_of([int(words[7]) - start]),
    )
