"""Faults of consuming: messages that come again, members that come and go, a Broker that sends to a slave."""

from typing import Final

import msgspec

from harness.wire import RequestCode, ResponseCode
from harness.wire.bodies import BatchAcks
from harness.wire.fastjson import document
from harness.wire.messages import TopicName
from reference_impl.broker import Endpoint as BrokerEndpoint
from reference_impl.remoting.endpoint import RemotingEndpoint
from reference_impl.remoting.reply import Reply

from .actions import Action, Delivery, Verdict
from .request import WORDS, Request

_PULLS: Final = frozenset({RequestCode.PULL_MESSAGE, RequestCode.LITE_PULL_MESSAGE})
_FIRST: Final = "0"
"""What an acknowledgement in a batch says of a message that was not delivered again."""


class Repeat(Action):
    """Messages that were delivered are delivered once more.

    A pull behind messages that were delivered is made at the first of them. An acknowledgement of a popped
    message is answered with success and lost, so that the message comes again when its invisible time is
    over.
    """

    def __init__(self) -> None:
        self._pulled: dict[tuple[str, ...], int] = {}
        """By connection and queue: where the last pull was made."""
        self._acknowledged: set[tuple[str, ...]] = set()

    def begin(self, endpoint: RemotingEndpoint) -> None:
        """Pulls that wait are answered with nothing: the next message would come with one of them, and from
        where that was made is not known here.
        """
        if isinstance(endpoint, BrokerEndpoint):
            endpoint.broker.long_polling.release_all(endpoint.now)

    def wants(self, request: Request) -> bool:
        ext = request.command.ext or {}
        queue = _queue_of(request)
        if request.command.code in _PULLS:
            return self._is_behind((str(request.connection), *queue), ext.get("queueOffset"))
        if request.command.code == RequestCode.ACK_MESSAGE:
            what = (*queue, str(ext.get("offset")))
            is_first = what not in self._acknowledged
            self._acknowledged.add(what)
            return is_first and not str(ext.get("topic")).startswith(TopicName.RETRY_PREFIX)
        if request.command.code == RequestCode.BATCH_ACK_MESSAGE and request.topics:
            return any(ack.retry == _FIRST for ack in BatchAcks.decode(request.command.body).acks)
        return False

    def _is_behind(self, queue: tuple[str, ...], offset: str | None) -> bool:
        """Whether a pull is made behind the last one of its queue, which so has had messages."""
        if offset is None or not offset.isascii() or not offset.isdigit():
            return False
        last = self._pulled.get(queue)
        if last is None or int(offset) < last:
            self._pulled[queue] = int(offset)
            return False
        return int(offset) > last

    def before(self, request: Request, endpoint: RemotingEndpoint) -> Verdict:
        command = request.command
        ext = command.ext or {}
        if command.code in _PULLS:
            queue = (str(request.connection), *_queue_of(request))
            again, self._pulled[queue] = self._pulled[queue], int(ext["queueOffset"] or 0)
            request.command = msgspec.structs.replace(command, ext={**ext, "queueOffset": str(again)})
            return None
        if command.code == RequestCode.BATCH_ACK_MESSAGE:
            acks = BatchAcks.decode(command.body)
            again_delivered = [ack for ack in acks.acks if ack.retry != _FIRST]
            if again_delivered:
                body = BatchAcks(again_delivered, acks.broker_name).encode()
                request.command = msgspec.structs.replace(command, body=body)
                return None
        return Reply(ResponseCode.SUCCESS)


def _queue_of(request: Request) -> tuple[str, ...]:
    ext = request.command.ext or {}
    return request.server, *(str(ext.get(name)) for name in ("consumerGroup", "topic", "queueId"))


class Crowd(Action):
    """A group has more members for as long as the fault lasts. Members are notified (40) at both ends.

    They take part where clients share the queues among themselves; a Broker that assigns queues (400) does
    not know them.
    """

    codes: Final = frozenset({RequestCode.GET_CONSUMER_LIST_BY_GROUP})

    def __init__(self, group: str, ids: list[str]) -> None:
        self._group = group
        self._ids = ids

    def begin(self, endpoint: RemotingEndpoint) -> None:
        self._notify(endpoint)

    def end(self, endpoint: RemotingEndpoint) -> None:
        self._notify(endpoint)

    def _notify(self, endpoint: RemotingEndpoint) -> None:
        if isinstance(endpoint, BrokerEndpoint):
            clients = endpoint.broker.clients
            group = clients.consumers.get(self._group)
            if group is not None:
                clients.tell_members(self._group, group)

    def after(self, request: Request, delivery: Delivery) -> None:
        response = delivery.response
        if response is not None and response.code == ResponseCode.SUCCESS:
            ids = [*msgspec.json.decode(response.body)["consumerIdList"], *self._ids]
            delivery.response = msgspec.structs.replace(response, body=document({"consumerIdList": ids}))


class SuggestSlave(Action):
    """Answers to pulls suggest another Broker of the same name, as they do to a group that lags far behind.

    Source: PullMessageProcessor#processRequest: whichBrokerWhenConsumeSlowly (4.9.8); its counterpart in
    DefaultPullMessageResultHandler#composeResponseHeader (5.3.3).
    """

    codes: Final = WORDS["receive"] & _PULLS

    def __init__(self, broker_id: int) -> None:
        self._broker_id = broker_id

    def after(self, request: Request, delivery: Delivery) -> None:
        response = delivery.response
        if response is not None and "suggestWhichBrokerId" in (response.ext or {}):
            ext = {**(response.ext or {}), "suggestWhichBrokerId": str(self._broker_id)}
            delivery.response = msgspec.structs.replace(response, ext=ext)
