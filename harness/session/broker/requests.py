"""What a case says to a Broker: one method for one request, as clients send it.

What is not given is what Apache's Java client sends. No method judges but ``topic``,
which makes what a case needs before it begins.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Literal, Unpack

import msgspec

from harness.session.broker.views import (
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
from harness.session.request_method import RequestMethod
from harness.session.requests import Ext, HeaderFields, fields
from harness.session.terms import TermSession
from harness.session.views import ConfigExchange, JsonExchange
from harness.wire import RequestCode, ResponseCode
from harness.wire.bodies import Properties
from harness.wire.header_fields import SHORT_NAMES, PullFlag
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

SendCode = Literal[10, 310, 320, 324, 325]
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
        code = RequestCode.UPDATE_AND_CREATE_TOPIC
        return Exchange(self.request(code, {**sent, **(ext or {})}, b"", on, topic or "", header))

    def topic(self, hint: str = "T", queues: int = 4, perm: int = 6) -> str:
        """A new topic with a name of its own. Raises ``Blocked`` where the Broker makes none."""
        name = self.name(hint)
        outcome = self.create_topic(name, queues, perm).outcome()
        if not isinstance(outcome, Replied) or outcome.command.code != ResponseCode.SUCCESS:
            raise Blocked(f"the case needs a topic, and the Broker did not make one (17): {outcome}")
        return name

    delete_topic = RequestMethod(Exchange, RequestCode.DELETE_TOPIC_IN_BROKER, topic="topic")
    topics = RequestMethod(JsonExchange, RequestCode.GET_ALL_TOPIC_CONFIG)
    topic_config = RequestMethod(JsonExchange, RequestCode.GET_TOPIC_CONFIG, topic="topic")

    def create_group(self, group: str, **members: object) -> Exchange:
        """UPDATE_AND_CREATE_SUBSCRIPTIONGROUP (200): SubscriptionGroupConfig by its members in JSON."""
        body = msgspec.json.encode({"groupName": group, **members})
        code = RequestCode.UPDATE_AND_CREATE_SUBSCRIPTIONGROUP
        return Exchange(self.request(code, None, body, None, group, {}))

    groups = RequestMethod(JsonExchange, RequestCode.GET_ALL_SUBSCRIPTIONGROUP_CONFIG)

    clean_queues = RequestMethod(Exchange, RequestCode.CLEAN_EXPIRED_CONSUMEQUEUE)

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
        """SEND_MESSAGE_V2 (310), or 10, or 320; a reply by 325 or 324. ``ext`` adds or replaces fields, by
        the names that are sent.
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
        named: Ext = sent if code in (10, 324) else {SHORT_NAMES[name]: value for name, value in sent.items()}
        request = self.request(code, {**(named or {}), **(ext or {})}, body, on, topic or "", header)
        return SendExchange(request)

    def send_batch(
        self,
        topic: str | None,
        messages: Sequence[bytes | Message],
        queue: int = 0,
        *,
        sys_flag: int = 0,
        born: int | None = None,
        reconsumed: int = 0,
        on: Connection | None = None,
        **header: Unpack[HeaderFields],
    ) -> SendExchange:
        """SEND_BATCH_MESSAGE (320): bodies, or messages of which body, flag and properties count."""
        made = [Message(topic=topic or "", body=one) if isinstance(one, bytes) else one for one in messages]
        body = encode_batch(made, self._line)
        return self.send(
            topic,
            body,
            queue,
            code=320,
            sys_flag=sys_flag,
            batch=True,
            born=born,
            reconsumed=reconsumed,
            on=on,
            **header,
        )

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
        code: Literal[11, 361] = 11,
        ext: Mapping[str, str | None] | None = None,
        on: Connection | None = None,
        **header: Unpack[HeaderFields],
    ) -> MessagesExchange:
        """PULL_MESSAGE (11), or LITE_PULL_MESSAGE (361). ``suspend``: protocol seconds that it may be held;
        it then has the flag that asks for it.

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
        request = self.request(
            code,
            {**sent, **(ext or {})},
            b"",
            on,
            f"{topic}, queue {queue}, offset {offset}",
            header,
        )
        return MessagesExchange(request)

    # --- offsets --------------------------------------------------------------------------------------------

    max_offset = RequestMethod(
        NumberExchange,
        RequestCode.GET_MAX_OFFSET,
        topic="topic",
        queue=("queueId", 0),
    )
    min_offset = RequestMethod(
        NumberExchange,
        RequestCode.GET_MIN_OFFSET,
        topic="topic",
        queue=("queueId", 0),
    )
    offset_at = RequestMethod(
        NumberExchange,
        RequestCode.SEARCH_OFFSET_BY_TIMESTAMP,
        topic="topic",
        queue="queueId",
        timestamp="timestamp",
    )
    earliest_time = RequestMethod(
        NumberExchange,
        RequestCode.GET_EARLIEST_MSG_STORETIME,
        topic="topic",
        queue=("queueId", 0),
    )
    commit_offset = RequestMethod(
        Exchange,
        RequestCode.UPDATE_CONSUMER_OFFSET,
        group="consumerGroup",
        topic="topic",
        queue="queueId",
        offset="commitOffset",
    )
    committed = RequestMethod(
        NumberExchange,
        RequestCode.QUERY_CONSUMER_OFFSET,
        group="consumerGroup",
        topic="topic",
        queue=("queueId", 0),
    )

    offsets = RequestMethod(JsonExchange, RequestCode.GET_ALL_CONSUMER_OFFSET)

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
        return Exchange(self.request(RequestCode.HEART_BEAT, None, body, on, client, header))

    leave = RequestMethod(
        Exchange,
        RequestCode.UNREGISTER_CLIENT,
        client="clientID",
        consumer_group=("consumerGroup", None),
        producer_group=("producerGroup", None),
    )
    consumers = RequestMethod(
        ConsumersExchange,
        RequestCode.GET_CONSUMER_LIST_BY_GROUP,
        group="consumerGroup",
    )

    consumer_connections = RequestMethod(
        JsonExchange,
        RequestCode.GET_CONSUMER_CONNECTION_LIST,
        group="consumerGroup",
    )

    def lock(
        self,
        group: str | None,
        client: str | None,
        queues: Iterable[tuple[str, int]],
        *,
        broker: str | None = None,
        on: Connection | None = None,
        **header: Unpack[HeaderFields],
    ) -> LockExchange:
        """LOCK_BATCH_MQ (41): ``(topic, queue)`` each, of this Broker or of the named one."""
        body = self._queues(group, client, queues, broker)
        return LockExchange(self.request(RequestCode.LOCK_BATCH_MQ, None, body, on, client or "", header))

    def unlock(
        self,
        group: str | None,
        client: str | None,
        queues: Iterable[tuple[str, int]],
        *,
        on: Connection | None = None,
        **header: Unpack[HeaderFields],
    ) -> Exchange:
        """UNLOCK_BATCH_MQ (42)."""
        body = self._queues(group, client, queues)
        return Exchange(self.request(RequestCode.UNLOCK_BATCH_MQ, None, body, on, client or "", header))

    # --- coming back, transactions --------------------------------------------------------------------------

    send_back = RequestMethod(  # its offset is that in the log: `Message.physical_offset`
        Exchange,
        RequestCode.CONSUMER_SEND_MSG_BACK,
        always={"unitMode": False},
        group="group",
        offset="offset",
        delay_level=("delayLevel", 0),
        topic=("originTopic", None),
        message_id=("originMsgId", None),
        most=("maxReconsumeTimes", 16),
    )
    end_transaction = RequestMethod(  # 8 commits, 12 rolls back, 0 does not know
        Exchange,
        RequestCode.END_TRANSACTION,
        group="producerGroup",
        queue_offset="tranStateTableOffset",
        log_offset="commitLogOffset",
        verdict="commitOrRollback",
        message_id=("msgId", "0"),
        transaction=("transactionId", None),
        checked=("fromTransactionCheck", False),
    )

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
        kind: str | None = None,
        on: Connection | None = None,
        **header: Unpack[HeaderFields],
    ) -> MessagesExchange:
        """QUERY_MESSAGE (12). ``unique``: the key is the unique one that the client gave the message.
        ``kind`` (5.5): of which index it is: K, U or T.
        """
        sent = fields(topic=topic, key=key, maxNum=most, beginTimestamp=begin, endTimestamp=end)
        if kind is not None:
            sent["indexType"] = kind
        if unique:
            sent["_UNIQUE_KEY_QUERY"] = "true"
        code = RequestCode.QUERY_MESSAGE
        return MessagesExchange(self.request(code, sent, b"", on, f"key {key}", header))

    view = RequestMethod(  # by the offset in the log
        MessagesExchange, RequestCode.VIEW_MESSAGE_BY_ID, offset="offset"
    )

    replication_status = RequestMethod(JsonExchange, RequestCode.GET_BROKER_HA_STATUS)

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
        code = RequestCode.UPDATE_BROKER_CONFIG
        return Exchange(self.request(code, None, body, on, f"{body!r}", header))

    config = RequestMethod(ConfigExchange, RequestCode.GET_BROKER_CONFIG)

    # --- within ---------------------------------------------------------------------------------------------

    def _queues(
        self,
        group: str | None,
        client: str | None,
        queues: Iterable[tuple[str, int]],
        broker: str | None = None,
    ) -> bytes:
        name = broker or self.broker_name
        listed = [{"brokerName": name, "queueId": queue, "topic": topic} for topic, queue in queues]
        said = {"clientId": client, "consumerGroup": group, "mqSet": listed}
        return msgspec.json.encode({name: value for name, value in said.items() if value is not None})

    @property
    def broker_name(self) -> str:
        """The name that the Broker has."""
        raise NotImplementedError
