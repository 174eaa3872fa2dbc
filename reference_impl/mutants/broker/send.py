"""Mutants of the chapter send."""

from collections.abc import Callable

import msgspec

from harness.wire import Command
from harness.wire.bodies import TopicConfig
from harness.wire.broker_codes import BrokerRequest
from harness.wire.messages import Message, PropertyName
from reference_impl.broker.limits import Limits
from reference_impl.broker.parts import Parts
from reference_impl.broker.sends import Send, Sends
from reference_impl.broker.store import Put, Store
from reference_impl.broker.topics import READ, WRITE, Topics
from reference_impl.mutants.broker import V5, mutant
from reference_impl.remoting.reply import RefusedError, Reply

# -- what is told --------------------------------------------------------------------------------------------


def _telling(parts: Parts, change: Callable[[Reply], object]) -> Parts:
    def success(self: Sends, message_id: str, queue_id: int, put: Put, key: str | None) -> Reply:
        reply = parts.sends.success(self, message_id, queue_id, put, key)
        change(reply)
        return reply

    return parts.override("sends", success)


def _tell(reply: Reply, name: str, value: str | None) -> None:
    assert reply.ext is not None
    reply.ext[name] = value


def _told(reply: Reply, name: str) -> str:
    assert reply.ext is not None
    return reply.ext[name] or ""


@mutant("send-tells-offset-zero", "A send is answered with offset 0 whatever the message's offset is.")
def send_tells_offset_zero(parts: Parts) -> Parts:
    return _telling(parts, lambda reply: _tell(reply, "queueOffset", "0"))


@mutant("send-tells-queue-zero", "A send is answered with queue 0 whatever the message's queue is.")
def send_tells_queue_zero(parts: Parts) -> Parts:
    return _telling(parts, lambda reply: _tell(reply, "queueId", "0"))


@mutant("send-tells-no-region", "The answer to a send has no MSG_REGION.")
def send_tells_no_region(parts: Parts) -> Parts:
    return _telling(parts, lambda reply: _tell(reply, "MSG_REGION", None))


@mutant("message-id-without-place", "The offset in the id of a message is always 0.")
def message_id_without_place(parts: Parts) -> Parts:
    return _telling(parts, lambda reply: _tell(reply, "msgId", f"{_told(reply, 'msgId')[:16]}{0:016X}"))


@mutant("batch-has-one-id", "A batch is answered with the id of its first message only.")
def batch_has_one_id(parts: Parts) -> Parts:
    return _telling(parts, lambda reply: _tell(reply, "msgId", _told(reply, "msgId").split(",")[0]))


@mutant("batch-tells-its-last-offset", "A batch is answered with the offset of its last message.")
def batch_tells_its_last_offset(parts: Parts) -> Parts:
    def last(reply: Reply) -> None:
        _tell(reply, "queueOffset", str(int(_told(reply, "queueOffset")) + _told(reply, "msgId").count(",")))

    return _telling(parts, last)


@mutant("producers-are-told-no-key", "The answer to a send has no transactionId.", V5)
def producers_are_told_no_key(parts: Parts) -> Parts:
    return _telling(parts, lambda reply: _tell(reply, "transactionId", None))


# -- what is asked -------------------------------------------------------------------------------------------


@mutant("long-header-names-not-read", "The header of code 10 is read as if it had short names.")
def long_header_names_not_read(parts: Parts) -> Parts:
    def asked(self: Sends, command: Command) -> Send:
        code = BrokerRequest.SEND_MESSAGE_V2
        return parts.sends.asked(self, msgspec.structs.replace(command, code=code))

    return parts.override("sends", asked)


@mutant("batch-code-is-always-a-batch", "The body of code 320 is taken for a batch whatever its header says.")
def batch_code_is_always_a_batch(parts: Parts) -> Parts:
    def asked(self: Sends, command: Command) -> Send:
        found = parts.sends.asked(self, command)
        found.is_batch = found.is_batch or command.code == BrokerRequest.SEND_BATCH_MESSAGE
        return found

    return parts.override("sends", asked)


@mutant("oneway-sends-are-dropped", "A one-way send is not carried out.")
def oneway_sends_are_dropped(parts: Parts) -> Parts:
    def send(self: Sends, command: Command, connection: int, now: int) -> Reply | None:
        return None if command.is_oneway else parts.sends.send(self, command, connection, now)

    return parts.override("sends", send)


@mutant("slaves-take-messages", "A slave does not say that it is busy.", V5)
def slaves_take_messages(parts: Parts) -> Parts:
    def rejects_sends(self: Limits) -> bool:
        return False

    return parts.override("limits", rejects_sends)


# -- topics and queues ---------------------------------------------------------------------------------------


@mutant("any-queue-is-refused", "A send that leaves the queue to the Broker is refused.")
def any_queue_is_refused(parts: Parts) -> Parts:
    def any_queue(self: Sends, topic: TopicConfig) -> int:
        raise RefusedError("no queue")

    return parts.override("sends", any_queue)


@mutant("any-queue-number-will-do", "A send to a queue that the topic does not have is stored.")
def any_queue_number_will_do(parts: Parts) -> Parts:
    def checked(self: Sends, asked: Send, connection: int, now: int) -> TopicConfig | Reply:
        return parts.sends.checked(self, msgspec.structs.replace(asked, queue_id=0), connection, now)

    return parts.override("sends", checked)


@mutant("any-topic-name-will-do", "The name of a topic is not looked at.")
def any_topic_name_will_do(parts: Parts) -> Parts:
    def fault(self: Topics, topic: str | None) -> str | None:
        return None

    return parts.override("topics", fault)


@mutant("system-topics-are-open", "Clients may send to the topics of the system.")
def system_topics_are_open(parts: Parts) -> Parts:
    def is_closed(self: Topics, topic: str) -> bool:
        return False

    return parts.override("topics", is_closed)


@mutant("new-topics-have-all-queues", "A topic made by a send has the queues of the default topic.")
def new_topics_have_all_queues(parts: Parts) -> Parts:
    def create_by_send(
        self: Topics, topic: str, default: str, queues: int, flag: int, now: int
    ) -> TopicConfig | None:
        return parts.topics.create_by_send(self, topic, default, 1 << 20, flag, now)

    return parts.override("topics", create_by_send)


@mutant("sends-create-no-topics", "No topic comes into being by a send.")
def sends_create_no_topics(parts: Parts) -> Parts:
    def create_by_send(
        self: Topics, topic: str, default: str, queues: int, flag: int, now: int
    ) -> TopicConfig | None:
        return self.get(topic)

    return parts.override("topics", create_by_send)


@mutant("topics-need-no-default", "A topic is made after TBW102 whatever default topic a send names.")
def topics_need_no_default(parts: Parts) -> Parts:
    def create_by_send(
        self: Topics, topic: str, default: str, queues: int, flag: int, now: int
    ) -> TopicConfig | None:
        return parts.topics.create_by_send(self, topic, "TBW102", queues, flag, now)

    return parts.override("topics", create_by_send)


@mutant("sends-create-topics-anyway", "A topic comes into being by a send whether that is wanted or not.")
def sends_create_topics_anyway(parts: Parts) -> Parts:
    def create_by_send(
        self: Topics, topic: str, default: str, queues: int, flag: int, now: int
    ) -> TopicConfig | None:
        return self.create(topic, queues, READ | WRITE, now)

    return parts.override("topics", create_by_send)


# -- what is stored ------------------------------------------------------------------------------------------


@mutant("birth-time-is-the-brokers", "A message is born when the Broker gets it.")
def birth_time_is_the_brokers(parts: Parts) -> Parts:
    def stored(self: Sends, message: Message, now: int) -> Put:
        message.born_timestamp = now
        return parts.sends.stored(self, message, now)

    return parts.override("sends", stored)


@mutant("flag-of-user-is-lost", "A stored message has flag 0.")
def flag_of_user_is_lost(parts: Parts) -> Parts:
    def stored(self: Sends, message: Message, now: int) -> Put:
        message.flag = 0
        return parts.sends.stored(self, message, now)

    return parts.override("sends", stored)


def _without(parts: Parts, name: str) -> Parts:
    def complete(self: Sends, properties: dict[str, str], now: int) -> None:
        parts.sends.complete(self, properties, now)
        del properties[name]

    return parts.override("sends", complete)


@mutant("cluster-is-not-added", "A stored message has no property CLUSTER.")
def cluster_is_not_added(parts: Parts) -> Parts:
    return _without(parts, PropertyName.CLUSTER)


@mutant("region-is-not-stored", "A stored message has no property MSG_REGION.", V5)
def region_is_not_stored(parts: Parts) -> Parts:
    return _without(parts, PropertyName.MSG_REGION)


@mutant("messages-without-id-stay-so", "A message without UNIQ_KEY is stored without one.", V5)
def messages_without_id_stay_so(parts: Parts) -> Parts:
    def complete(self: Sends, properties: dict[str, str], now: int) -> None:
        had_key = PropertyName.UNIQ_KEY in properties
        parts.sends.complete(self, properties, now)
        if not had_key:
            del properties[PropertyName.UNIQ_KEY]

    return parts.override("sends", complete)


@mutant("bodies-are-cut-to-the-limit", "A body that is too large is cut and stored.")
def bodies_are_cut_to_the_limit(parts: Parts) -> Parts:
    def put(self: Store, message: Message, now: int) -> Put:
        message.body = message.body[: self._config.max_message_size]
        return parts.store.put(self, message, now)

    return parts.override("store", put)


@mutant("no-letter-is-dead", "What was consumed in vain too often is tried once more.")
def no_letter_is_dead(parts: Parts) -> Parts:
    def is_dead(self: Sends, group: str, times: int, most: int, now: int) -> bool:
        return False

    return parts.override("sends", is_dead)


# -- batches -------------------------------------------------------------------------------------------------


@mutant("batches-may-be-delayed", "Whatever says that it is a batch is stored as one.")
def batches_may_be_delayed(parts: Parts) -> Parts:
    def may_be_batch(self: Sends, asked: Send, body: bytes) -> bool:
        return True

    return parts.override("sends", may_be_batch)


@mutant("batch-has-one-tag", "All messages of a batch get the same tag.")
def batch_has_one_tag(parts: Parts) -> Parts:
    def send_batch(
        self: Sends,
        command: Command,
        asked: Send,
        topic: TopicConfig,
        queue_id: int,
        connection: int,
        now: int,
    ) -> Reply:
        asked.properties[PropertyName.TAGS] = "t0"
        return parts.sends.send_batch(self, command, asked, topic, queue_id, connection, now)

    return parts.override("sends", send_batch)
