"""What a case says to a Broker: one method for one request, as clients send it.

Rules of this module: what is not given is what Apache's Java client sends. No method judges but ``topic``,
which makes what a case needs before it begins.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Literal, Unpack

import msgspec

from harness.session.broker_views import (
    ConsumersExchange,
    LockExchange,
    MessagesExchange,
    NumberExchange,
    SendExchange,
)
from harness.session.connection import Connection
from harness.session.errors import Blocked
from harness.session.exchange import Exchange
from harness.session.outcome import Replied
from harness.session.requests import Ext, HeaderFields, fields
from harness.session.terms import TermSession
from harness.session.views import ConfigExchange, JsonExchange
from harness.wire.bodies import Properties
from harness.wire.broker_codes import BrokerRequest, BrokerResponse
from harness.wire.broker_headers import SHORT_NAMES, PullFlag
from harness.wire.messages import (
    LineName,
    Message,
    PropertyName,
    decode_message,
    decode_offset_id,
    encode_batch,
    encode_properties,
    tag_hash,
)

__all__ = ["BrokerRequests", "Consuming", "consuming"]

SendCode = Literal[10, 310, 320]
Consuming = dict[str, Any]
"""A group in a heartbeat: ConsumerData as plain Python. See ``consuming``."""


def consuming(
    group: str,
    topics: Mapping[str, str] | Iterable[str] = (),
    *,
    version: int = 1,
    broadcasts: bool = False,
    kind: str = "CONSUME_PASSIVELY",
    expression_type: str = "TAG",
    start: str = "CONSUME_FROM_LAST_OFFSET",
) -> Consuming:
    """A consumer group with its subscriptions: ``{topic: expression}``, or topics of which it wants
    everything.
    """
    wanted = topics if isinstance(topics, Mapping) else dict.fromkeys(topics, "*")
    return {
        "consumeFromWhere": start,
        "consumeType": kind,
        "groupName": group,
        "messageModel": "BROADCASTING" if broadcasts else "CLUSTERING",
        "subscriptionDataSet": [
            _subscription(topic, expression, version, expression_type) for topic, expression in wanted.items()
        ],
        "unitMode": False,
    }


def _subscription(topic: str, expression: str, version: int, kind: str) -> dict[str, Any]:
    tags = [] if expression == "*" or kind != "TAG" else [tag.strip() for tag in expression.split("||")]
    return {
        "classFilterMode": False,
        "codeSet": [tag_hash(tag) for tag in tags],
        "expressionType": kind,
        "subString": expression,
        "subVersion": version,
        "tagsSet": tags,
        "topic": topic,
    }


class BrokerRequests(TermSession):
    """The requests of a ``BrokerSession``."""

    _line: LineName

    # --- topics and groups ----------------------------------------------------------------------------------

    def create_topic(
        self,
        topic: str | None,
        queues: int = 4,
        perm: int = 6,
        *,
        write_queues: int | None = None,
        filter_type: str = "SINGLE_TAG",
        order: bool = False,
        ext: Mapping[str, str | None] | None = None,
        on: Connection | None = None,
        **header: Unpack[HeaderFields],
    ) -> Exchange:
        """UPDATE_AND_CREATE_TOPIC (17)."""
        sent = fields(
            topic=topic,
            defaultTopic="TBW102",
            readQueueNums=queues,
            writeQueueNums=queues if write_queues is None else write_queues,
            perm=perm,
            topicFilterType=filter_type,
            topicSysFlag=0,
            order=order,
        )
        code = BrokerRequest.UPDATE_AND_CREATE_TOPIC
        return Exchange(self.question(code, {**sent, **(ext or {})}, b"", on, f"topic {topic}", header))

    def topic(self, hint: str = "T", queues: int = 4, perm: int = 6) -> str:
        """A new topic with a name of its own. Raises ``Blocked`` where the Broker makes none."""
        name = self.name(hint)
        outcome = self.create_topic(name, queues, perm).outcome()
        if not isinstance(outcome, Replied) or outcome.command.code != BrokerResponse.SUCCESS:
            raise Blocked(f"the case needs a topic, and the Broker did not make one (17): {outcome}")
        return name

    def delete_topic(
        self, topic: str | None, *, on: Connection | None = None, **header: Unpack[HeaderFields]
    ) -> Exchange:
        """DELETE_TOPIC_IN_BROKER (215)."""
        code = BrokerRequest.DELETE_TOPIC_IN_BROKER
        return Exchange(self.question(code, fields(topic=topic), b"", on, f"delete topic {topic}", header))

    def topics(self, *, on: Connection | None = None, **header: Unpack[HeaderFields]) -> JsonExchange:
        """GET_ALL_TOPIC_CONFIG (21)."""
        code = BrokerRequest.GET_ALL_TOPIC_CONFIG
        return JsonExchange(self.question(code, None, b"", on, "all topics", header))

    # --- sending --------------------------------------------------------------------------------------------

    def send(
        self,
        topic: str | None,
        body: bytes = b"hello",
        queue: int = 0,
        *,
        tags: str | None = None,
        keys: str | None = None,
        properties: Mapping[str, str] | None = None,
        group: str = "PG",
        code: SendCode = 310,
        sys_flag: int = 0,
        flag_of_user: int = 0,
        reconsumed: int = 0,
        default_topic: str = "TBW102",
        default_queues: int = 4,
        batch: bool = False,
        born: int | None = None,
        ext: Mapping[str, str | None] | None = None,
        on: Connection | None = None,
        **header: Unpack[HeaderFields],
    ) -> SendExchange:
        """SEND_MESSAGE_V2 (310), or 10, or 320. ``ext`` adds or replaces fields, by the names that are
        sent.
        """
        said = {PropertyName.KEYS: keys, PropertyName.TAGS: tags, **(properties or {})}
        text = encode_properties({key: value for key, value in said.items() if value is not None}, True)
        sent = fields(
            producerGroup=group,
            topic=topic,
            defaultTopic=default_topic,
            defaultTopicQueueNums=default_queues,
            queueId=queue,
            sysFlag=sys_flag,
            bornTimestamp=round(self.now() * 1000) if born is None else born,
            flag=flag_of_user,
            properties=text,
            reconsumeTimes=reconsumed,
            unitMode=False,
            batch=batch,
        )
        named: Ext = sent if code == 10 else {SHORT_NAMES[name]: value for name, value in sent.items()}
        question = self.question(code, {**(named or {}), **(ext or {})}, body, on, f"send to {topic}", header)
        return SendExchange(question)

    def send_batch(
        self,
        topic: str | None,
        messages: Sequence[bytes | Message],
        queue: int = 0,
        *,
        on: Connection | None = None,
        **header: Unpack[HeaderFields],
    ) -> SendExchange:
        """SEND_BATCH_MESSAGE (320): bodies, or messages of which body, flag and properties count."""
        made = [Message(topic=topic or "", body=one) if isinstance(one, bytes) else one for one in messages]
        body = encode_batch(made, self._line)
        return self.send(topic, body, queue, code=320, batch=True, on=on, **header)

    # --- pulling --------------------------------------------------------------------------------------------

    def pull(
        self,
        topic: str | None,
        queue: int = 0,
        offset: int = 0,
        most: int = 32,
        *,
        group: str = "CG",
        subscription: str | None = "*",
        sys_flag: int = PullFlag.SUBSCRIPTION,
        commit: int = 0,
        suspend: float = 0.0,
        sub_version: int = 1,
        expression_type: str | None = "TAG",
        ext: Mapping[str, str | None] | None = None,
        on: Connection | None = None,
        **header: Unpack[HeaderFields],
    ) -> MessagesExchange:
        """PULL_MESSAGE (11). ``suspend``: protocol seconds that it may be held; it then has the flag that
        asks for it.

        Without the flag that says that the
        subscription is in the request (the default), what counts is what the group said in its heartbeat.
        """
        sent = fields(
            consumerGroup=group,
            topic=topic,
            queueId=queue,
            queueOffset=offset,
            maxMsgNums=most,
            sysFlag=sys_flag | (PullFlag.SUSPEND if suspend else 0),
            commitOffset=commit,
            suspendTimeoutMillis=round(suspend * 1000),
            subscription=subscription,
            subVersion=sub_version,
            expressionType=expression_type,
        )
        code = BrokerRequest.PULL_MESSAGE
        question = self.question(
            code,
            {**sent, **(ext or {})},
            b"",
            on,
            f"pull from {topic}, queue {queue}, offset {offset}",
            header,
        )
        return MessagesExchange(question)

    # --- offsets --------------------------------------------------------------------------------------------

    def max_offset(
        self,
        topic: str | None,
        queue: int | None = 0,
        *,
        on: Connection | None = None,
        **header: Unpack[HeaderFields],
    ) -> NumberExchange:
        """GET_MAX_OFFSET (30)."""
        code, sent = BrokerRequest.GET_MAX_OFFSET, fields(topic=topic, queueId=queue)
        return NumberExchange(
            self.question(code, sent, b"", on, f"max offset of {topic}, queue {queue}", header)
        )

    def min_offset(
        self,
        topic: str | None,
        queue: int | None = 0,
        *,
        on: Connection | None = None,
        **header: Unpack[HeaderFields],
    ) -> NumberExchange:
        """GET_MIN_OFFSET (31)."""
        code, sent = BrokerRequest.GET_MIN_OFFSET, fields(topic=topic, queueId=queue)
        return NumberExchange(
            self.question(code, sent, b"", on, f"min offset of {topic}, queue {queue}", header)
        )

    def offset_at(
        self,
        topic: str | None,
        queue: int | None,
        timestamp: int,
        *,
        on: Connection | None = None,
        **header: Unpack[HeaderFields],
    ) -> NumberExchange:
        """SEARCH_OFFSET_BY_TIMESTAMP (29)."""
        code = BrokerRequest.SEARCH_OFFSET_BY_TIMESTAMP
        sent = fields(topic=topic, queueId=queue, timestamp=timestamp)
        return NumberExchange(self.question(code, sent, b"", on, f"offset of {topic} at {timestamp}", header))

    def commit_offset(
        self,
        group: str | None,
        topic: str | None,
        queue: int | None,
        offset: int | None,
        *,
        on: Connection | None = None,
        **header: Unpack[HeaderFields],
    ) -> Exchange:
        """UPDATE_CONSUMER_OFFSET (15)."""
        code = BrokerRequest.UPDATE_CONSUMER_OFFSET
        sent = fields(consumerGroup=group, topic=topic, queueId=queue, commitOffset=offset)
        return Exchange(self.question(code, sent, b"", on, f"offset {offset} of {group}", header))

    def committed(
        self,
        group: str | None,
        topic: str | None,
        queue: int | None = 0,
        *,
        ext: Mapping[str, str | None] | None = None,
        on: Connection | None = None,
        **header: Unpack[HeaderFields],
    ) -> NumberExchange:
        """QUERY_CONSUMER_OFFSET (14)."""
        code = BrokerRequest.QUERY_CONSUMER_OFFSET
        sent = {**fields(consumerGroup=group, topic=topic, queueId=queue), **(ext or {})}
        return NumberExchange(self.question(code, sent, b"", on, f"offset of {group} in {topic}", header))

    # --- clients --------------------------------------------------------------------------------------------

    def heartbeat(
        self,
        client: str,
        *,
        consumers: Iterable[Consuming] = (),
        producers: Iterable[str] = (),
        more: Mapping[str, Any] | None = None,
        on: Connection | None = None,
        **header: Unpack[HeaderFields],
    ) -> Exchange:
        """HEART_BEAT (34). ``more`` are further members of the body."""
        body = msgspec.json.encode(
            {
                "clientID": client,
                "consumerDataSet": list(consumers),
                "producerDataSet": [{"groupName": group} for group in producers],
                **(more or {}),
            }
        )
        return Exchange(
            self.question(BrokerRequest.HEART_BEAT, None, body, on, f"heartbeat of {client}", header)
        )

    def leave(
        self,
        client: str | None,
        *,
        consumer_group: str | None = None,
        producer_group: str | None = None,
        on: Connection | None = None,
        **header: Unpack[HeaderFields],
    ) -> Exchange:
        """UNREGISTER_CLIENT (35)."""
        sent = fields(clientID=client, producerGroup=producer_group, consumerGroup=consumer_group)
        code = BrokerRequest.UNREGISTER_CLIENT
        return Exchange(self.question(code, sent, b"", on, f"departure of {client}", header))

    def consumers(
        self, group: str | None, *, on: Connection | None = None, **header: Unpack[HeaderFields]
    ) -> ConsumersExchange:
        """GET_CONSUMER_LIST_BY_GROUP (38)."""
        code, sent = BrokerRequest.GET_CONSUMER_LIST_BY_GROUP, fields(consumerGroup=group)
        return ConsumersExchange(self.question(code, sent, b"", on, f"clients of group {group}", header))

    def lock(
        self,
        group: str,
        client: str,
        queues: Iterable[tuple[str, int]],
        *,
        on: Connection | None = None,
        **header: Unpack[HeaderFields],
    ) -> LockExchange:
        """LOCK_BATCH_MQ (41): ``(topic, queue)`` each."""
        body = self._queues(group, client, queues)
        return LockExchange(
            self.question(BrokerRequest.LOCK_BATCH_MQ, None, body, on, f"locks of {client}", header)
        )

    def unlock(
        self,
        group: str,
        client: str,
        queues: Iterable[tuple[str, int]],
        *,
        on: Connection | None = None,
        **header: Unpack[HeaderFields],
    ) -> Exchange:
        """UNLOCK_BATCH_MQ (42)."""
        body = self._queues(group, client, queues)
        return Exchange(
            self.question(BrokerRequest.UNLOCK_BATCH_MQ, None, body, on, f"no locks of {client}", header)
        )

    # --- coming back, transactions --------------------------------------------------------------------------

    def send_back(
        self,
        group: str | None,
        offset: int,
        delay_level: int = 0,
        *,
        topic: str | None = None,
        message_id: str | None = None,
        most: int | None = 16,
        on: Connection | None = None,
        **header: Unpack[HeaderFields],
    ) -> Exchange:
        """CONSUMER_SEND_MSG_BACK (36): ``offset`` is that in the log (`Message.physical_offset`)."""
        sent = fields(
            offset=offset,
            group=group,
            delayLevel=delay_level,
            originMsgId=message_id,
            originTopic=topic,
            unitMode=False,
            maxReconsumeTimes=most,
        )
        code = BrokerRequest.CONSUMER_SEND_MSG_BACK
        return Exchange(self.question(code, sent, b"", on, f"message at {offset} back", header))

    def end_transaction(
        self,
        group: str | None,
        queue_offset: int,
        log_offset: int,
        verdict: int,
        *,
        message_id: str = "0",
        transaction: str | None = None,
        checked: bool = False,
        on: Connection | None = None,
        **header: Unpack[HeaderFields],
    ) -> Exchange:
        """END_TRANSACTION (37): ``verdict`` 8 commits, 12 rolls back, 0 does not know."""
        sent = fields(
            producerGroup=group,
            tranStateTableOffset=queue_offset,
            commitLogOffset=log_offset,
            commitOrRollback=verdict,
            fromTransactionCheck=checked,
            msgId=message_id,
            transactionId=transaction,
        )
        code = BrokerRequest.END_TRANSACTION
        return Exchange(self.question(code, sent, b"", on, f"end of transaction {queue_offset}", header))

    # --- finding --------------------------------------------------------------------------------------------

    def find(
        self,
        topic: str | None,
        key: str | None,
        most: int = 32,
        begin: int = 0,
        end: int = 2**63 - 1,
        *,
        unique: bool = False,
        on: Connection | None = None,
        **header: Unpack[HeaderFields],
    ) -> MessagesExchange:
        """QUERY_MESSAGE (12). ``unique``: the key is the unique one that the client gave the message."""
        sent = fields(topic=topic, key=key, maxNum=most, beginTimestamp=begin, endTimestamp=end)
        if unique:
            sent["_UNIQUE_KEY_QUERY"] = "true"
        code = BrokerRequest.QUERY_MESSAGE
        return MessagesExchange(self.question(code, sent, b"", on, f"messages with key {key}", header))

    def view(
        self, offset: int | None, *, on: Connection | None = None, **header: Unpack[HeaderFields]
    ) -> MessagesExchange:
        """VIEW_MESSAGE_BY_ID (33), by the offset in the log."""
        code = BrokerRequest.VIEW_MESSAGE_BY_ID
        return MessagesExchange(
            self.question(code, fields(offset=offset), b"", on, f"message at {offset}", header)
        )

    def broker_time(self) -> int:
        """The Broker's own time, ms since the epoch: when it stored a message just now.

        Raises ``Blocked`` where it stores none.
        """
        sent = self.send(self.topic("clock")).outcome()
        message_id = (sent.command.ext or {}).get("msgId") if isinstance(sent, Replied) else None
        if message_id is not None:
            seen = self.view(decode_offset_id(message_id)[1]).outcome()
            if isinstance(seen, Replied) and seen.command.body:
                return decode_message(seen.command.body).store_timestamp
        raise Blocked(f"the case needs the Broker's time, and it showed no message of its own (33): {sent}")

    # --- settings -------------------------------------------------------------------------------------------

    def update_config(
        self,
        given: Mapping[str, str] | bytes | None,
        *,
        on: Connection | None = None,
        **header: Unpack[HeaderFields],
    ) -> Exchange:
        """UPDATE_BROKER_CONFIG (25): pairs, the text of pairs as it is, or None for no body."""
        body = Properties(dict(given)).encode() if isinstance(given, Mapping) else given or b""
        code = BrokerRequest.UPDATE_BROKER_CONFIG
        return Exchange(self.question(code, None, body, on, f"update of the settings: {body!r}", header))

    def config(self, *, on: Connection | None = None, **header: Unpack[HeaderFields]) -> ConfigExchange:
        """GET_BROKER_CONFIG (26)."""
        code = BrokerRequest.GET_BROKER_CONFIG
        return ConfigExchange(self.question(code, None, b"", on, "settings", header))

    # --- within ---------------------------------------------------------------------------------------------

    def _queues(self, group: str, client: str, queues: Iterable[tuple[str, int]]) -> bytes:
        listed = [
            {"brokerName": self.broker_name, "queueId": queue, "topic": topic} for topic, queue in queues
        ]
        return msgspec.json.encode({"clientId": client, "consumerGroup": group, "mqSet": listed})

    @property
    def broker_name(self) -> str:
        """The name that the Broker has."""
        raise NotImplementedError
