"""Mutants of the chapter send."""

import struct

import msgspec

from harness.wire import RequestCode, ResponseCode, WireError
from harness.wire.messages import PropertyName, SysFlag
from reference_impl.broker.limits import Limits
from reference_impl.broker.sends import Sends
from reference_impl.broker.settings import Settings
from reference_impl.broker.store import Put, PutStatus, Store
from reference_impl.broker.timers import Timers
from reference_impl.broker.topics import INHERIT, READ, WRITE, Topics
from reference_impl.mutants.registry import BEFORE_55, V4, V5, V55, after, mutant
from reference_impl.remoting.reply import RefusedError, Reply

# -- answers ------------------------------------------------------------------------------------------------


def _tell(reply: Reply, name: str, value: str | None) -> None:
    assert reply.ext is not None
    reply.ext[name] = value


def _told(reply: Reply, name: str) -> str:
    assert reply.ext is not None
    return reply.ext[name] or ""


@after(Sends.success, "A send always returns offset 0.")
def send_tells_offset_zero(reply):
    _tell(reply, "queueOffset", "0")


@after(Sends.success, "A send always returns queue 0.")
def send_tells_queue_zero(reply):
    _tell(reply, "queueId", "0")


@after(Sends.success, "The send response lacks MSG_REGION.")
def send_tells_no_region(reply):
    _tell(reply, "MSG_REGION", None)


@after(Sends.success, "A send always returns the default region.")
def region_is_always_the_default(reply):
    _tell(reply, "MSG_REGION", "DefaultRegion")


@after(Sends.success, "A send always returns TRACE_ON=true.")
def traces_are_always_on(reply):
    _tell(reply, "TRACE_ON", "true")


@after(Sends.success, "The answer to every send has a transactionId.")
def every_send_is_of_a_transaction(reply):
    reply.ext.setdefault("transactionId", "")


@after(Sends.success, "The offset in a message id is always 0.")
def message_id_without_place(reply):
    _tell(reply, "msgId", f"{_told(reply, 'msgId')[:16]}{0:016X}")


@after(Sends.success, "A batch send returns only the id of the first message.")
def batch_has_one_id(reply):
    _tell(reply, "msgId", _told(reply, "msgId").split(",")[0])


@after(Sends.success, "A batch send returns the offset of the last message.")
def batch_tells_its_last_offset(reply):
    _tell(reply, "queueOffset", str(int(_told(reply, "queueOffset")) + _told(reply, "msgId").count(",")))


@after(Sends.success, "The send response lacks transactionId.", V5)
def producers_are_told_no_key(reply):
    _tell(reply, "transactionId", None)


def _brief(reply, command, code):
    if reply is not None and reply.ext and command.code == code:
        reply.ext = {name: value for name, value in reply.ext.items() if name != "MSG_REGION"}


@after(Sends.send, "The answer to code 10 lacks MSG_REGION.")
def long_names_are_answered_briefly(reply, command):
    _brief(reply, command, RequestCode.SEND_MESSAGE)


@after(Sends.send, "The answer to code 320 lacks MSG_REGION.")
def batches_are_answered_briefly(reply, command):
    _brief(reply, command, RequestCode.SEND_BATCH_MESSAGE)


# -- what is asked -------------------------------------------------------------------------------------------


@mutant(Sends.asked, "The header of code 10 is read with short names.")
def long_header_names_not_read(original, self, command):
    code = RequestCode.SEND_MESSAGE_V2
    return original(self, msgspec.structs.replace(command, code=code))


@after(Sends.asked, "The body of code 320 is always decoded as a batch.")
def batch_code_is_always_a_batch(found, command):
    found.is_batch = found.is_batch or command.code == RequestCode.SEND_BATCH_MESSAGE


@mutant(Sends.send, "One-way sends are ignored.")
def oneway_sends_are_dropped(original, self, command, connection, now):
    return None if command.is_oneway else original(self, command, connection, now)


@mutant(Limits.rejects_sends, "A slave does not answer sends with SYSTEM_BUSY.", V5)
def slaves_take_messages(original, self):
    return False


# -- topics and queues ---------------------------------------------------------------------------------------


@mutant(Sends.any_queue, "A send with queueId -1 is refused.")
def any_queue_is_refused(original, self, topic):
    raise RefusedError("no queue")


@mutant(Sends.checked, "A send to a missing queue is stored.")
def any_queue_number_will_do(original, self, asked, connection, now):
    return original(self, msgspec.structs.replace(asked, queue_id=0), connection, now)


@mutant(Sends.checked, "A send to a queue that the topic has only to read is refused.")
def queues_to_read_alone_are_refused(original, self, asked, connection, now):
    topic = original(self, asked, connection, now)
    if isinstance(topic, Reply) or asked.queue_id < topic.write_queue_nums:
        return topic
    return self.refusal(self.profile.invalid_parameter, "no queue to write to")


@mutant(Topics.fault, "Topic names are not checked.")
def any_topic_name_will_do(original, self, topic):
    return None


@mutant(Topics.is_closed, "Clients can send to system topics.")
def system_topics_are_open(original, self, topic):
    return False


@mutant(Topics.is_closed, "Clients can send to the topics of transactions in RocksDB.", V55)
def topics_of_rocksdb_are_open(original, self, topic):
    return original(self, topic) and "ROCKSDB" not in topic


@mutant(Topics.create_by_send, "A topic created by a send has as many queues as the default topic.")
def new_topics_have_all_queues(original, self, topic, default, queues, flag, now):
    return original(self, topic, default, 1 << 20, flag, now)


@mutant(Topics.create_by_send, "A send never creates a topic.")
def sends_create_no_topics(original, self, topic, default, queues, flag, now):
    return self.get(topic)


@mutant(Topics.create_by_send, "A new topic is always derived from TBW102.")
def topics_need_no_default(original, self, topic, default, queues, flag, now):
    return original(self, topic, "TBW102", queues, flag, now)


@mutant(Topics.create_by_send, "A send creates a topic even if that is disabled.")
def sends_create_topics_anyway(original, self, topic, default, queues, flag, now):
    return self.create(topic, queues, READ | WRITE, now)


# -- what is stored ------------------------------------------------------------------------------------------


@mutant(Sends.stored, "The born timestamp is the time of arrival.")
def birth_time_is_the_brokers(original, self, message, now):
    message.born_timestamp = now
    return original(self, message, now)


@mutant(Sends.stored, "The flag of a stored message is always 0.")
def flag_of_user_is_lost(original, self, message, now):
    message.flag = 0
    return original(self, message, now)


@mutant(Sends.complete, "A stored message lacks the property CLUSTER.")
def cluster_is_not_added(original, self, properties, now):
    original(self, properties, now)
    del properties[PropertyName.CLUSTER]


@mutant(Sends.complete, "A stored message lacks the property MSG_REGION.", V5)
def region_is_not_stored(original, self, properties, now):
    original(self, properties, now)
    del properties[PropertyName.MSG_REGION]


@mutant(Sends.complete, "A message without UNIQ_KEY is stored without one.", V5)
def messages_without_id_stay_so(original, self, properties, now):
    had_key = PropertyName.UNIQ_KEY in properties
    original(self, properties, now)
    if not had_key:
        del properties[PropertyName.UNIQ_KEY]


@mutant(Sends.complete, "A stored message gets a property that its producer did not send.")
def brokers_add_properties_of_their_own(original, self, properties, now):
    original(self, properties, now)
    properties["BROKER"] = self.config.broker_name


@mutant(Store.put, "A body that is too large is truncated and stored.")
def bodies_are_cut_to_the_limit(original, self, message, now):
    message.body = message.body[: self.max_message_size]
    return original(self, message, now)


@mutant(Sends.is_dead, "A message beyond its retry limit is retried again.")
def no_letter_is_dead(original, self, group, times, most, now):
    return False


# -- batches -------------------------------------------------------------------------------------------------


@mutant(Sends.may_be_batch, "A batch with a delay level is accepted.")
def batches_may_be_delayed(original, self, asked):
    return True


_LEAST = 22
"""Bytes of a message of a batch that has neither body nor properties."""


def _require(body, number):
    """Refuse a batch if a message states another size (0) than it has, a magic code (1) or a checksum (2)."""
    at = 0
    while len(body) - at >= _LEAST:
        size, magic, checksum, _, length = struct.unpack_from(">5i", body, at)
        if not 0 <= length <= len(body) - at - _LEAST:
            return
        end = at + _LEAST + length + struct.unpack_from(">h", body, at + 20 + length)[0]
        if (size != end - at, magic, checksum)[number]:
            raise RefusedError("a message of a batch is not what it states")
        at = end


@mutant(Sends.send_batch, "A batch is refused if a message states another total size than it has.")
def batches_go_by_their_total_size(original, self, command, *rest):
    _require(command.body, 0)
    return original(self, command, *rest)


@mutant(Sends.send_batch, "A batch is refused if a message states a magic code.")
def batches_have_no_magic_code(original, self, command, *rest):
    _require(command.body, 1)
    return original(self, command, *rest)


@mutant(Sends.send_batch, "A batch is refused if a message states a checksum.")
def batches_have_no_checksums(original, self, command, *rest):
    _require(command.body, 2)
    return original(self, command, *rest)


@mutant(Sends.of_each, "All messages of a batch get the same tag.")
def batch_has_one_tag(original, self, asked):
    return {**original(self, asked), PropertyName.TAGS: "t0"}


@mutant(Sends.send_batch, "The properties in the header of a batch are lost.", BEFORE_55)
def batches_lose_their_properties(original, self, command, asked, topic, queue_id, connection, now):
    asked.properties.clear()
    return original(self, command, asked, topic, queue_id, connection, now)


@mutant(Sends.complete, "A message has the handle that its producer sent.", V5)
def messages_hand_on_their_handle(original, self, properties, now):
    handle = properties.get(PropertyName.POP_CK)
    original(self, properties, now)
    if handle is not None:
        properties[PropertyName.POP_CK] = handle


@mutant(Sends.of_each, "Messages of a batch have the handle in its header.", ["5.3"])
def batches_hand_on_their_handle(original, self, asked):
    return {**original(self, asked), **asked.properties}


@mutant(Sends.of_each, "Messages of a batch have the properties of its header, too.", ["5.5"])
def batches_share_their_properties(original, self, asked):
    return asked.properties


@mutant(Topics.create_by_send, "A topic created by a send has as many queues as the producer likes.")
def new_topics_have_as_many_queues_as_producers_like(original, self, topic, default, queues, flag, now):
    is_new = self.get(topic) is None
    made = original(self, topic, default, queues, flag, now)
    if made is not None and is_new:
        made.read_queue_nums = made.write_queue_nums = queues
    return made


@mutant(Topics.create_by_send, "A topic created by a send is always of type SINGLE_TAG.")
def created_topics_have_one_tag(original, self, topic, default, queues, flag, now):
    made = original(self, topic, default, queues, flag, now)
    if made is not None:
        made.topic_filter_type = "SINGLE_TAG"
    return made


@mutant(Topics.create_by_send, "A topic created by a send can be the default of others.")
def created_topics_hand_on(original, self, topic, default, queues, flag, now):
    made = original(self, topic, default, queues, flag, now)
    if made is not None:
        made.perm |= 1
    return made


@mutant(Topics.may_inherit, "Without autoCreateTopicEnable no topic comes into being by another.")
def nothing_is_created_by_any_topic(original, self, pattern):
    return original(self, pattern) and self.config.auto_create_topic_enable


@mutant(Topics.may_inherit, "Any topic can be the default of others.")
def any_topic_is_a_default(original, self, pattern):
    return True


@mutant(Topics.create_by_send, "A topic created by a send always has topicSysFlag 0.")
def created_topics_know_no_unit(original, self, topic, default, queues, flag, now):
    return original(self, topic, default, queues, 0, now)


@mutant(Sends.new_topic, "A topic for retries that no default allows is of no unit.")
def topics_of_retries_without_a_default_know_no_unit(original, self, asked, now):
    default = self.broker.topics.get(asked.default_topic or "")
    if default is not None and not default.perm & INHERIT:
        asked = msgspec.structs.replace(asked, is_unit=False)
    return original(self, asked, now)


@after(Sends.success, "Every stored message gets a recall handle.", V5)
def recall_handles_of_any_message(reply):
    _tell(reply, "recallHandle", "djE=")


@mutant(Timers.recall_handle, "A recall handle lacks the unique key.", V5)
def recall_handles_name_no_key(original, self, message):
    message.properties.pop(PropertyName.UNIQ_KEY, None)
    return original(self, message)


@mutant(Sends.send, "Sends before startAcceptSendRequestTimeStamp are stored.")
def sends_are_taken_early(original, self, command, connection, now):
    return original(self, command, connection, max(now, self.config.start_accept_send_request_time_stamp))


@mutant(Sends.checked, "A Broker that is not writable takes messages for ordered topics.", V5)
def ordered_topics_are_always_open(original, self, asked, connection, now):
    found = original(self, asked, connection, now)
    is_closed = isinstance(found, Reply) and found.code == ResponseCode.NO_PERMISSION
    return self.broker.topics.get(asked.topic) or found if is_closed else found


@mutant(Sends.checked, "A Broker that is not writable refuses all sends.", V5)
def all_topics_are_closed(original, self, asked, connection, now):
    if not self.config.broker_permission & WRITE:
        return self.refusal(ResponseCode.NO_PERMISSION, "the broker[127.0.0.1] sending message is forbidden")
    return original(self, asked, connection, now)


# -- what is wrong about a send ------------------------------------------------------------------------------


@mutant(Sends.send_one, "rejectTransactionMessage=true has no effect.")
def half_messages_are_always_taken(original, self, command, asked, topic, queue_id, connection, now):
    reply = original(self, command, asked, topic, queue_id, connection, now)
    return Reply(ResponseCode.SUCCESS, ext=reply.ext) if reply.code == ResponseCode.NO_PERMISSION else reply


@mutant(Sends.send_one, "With rejectTransactionMessage=true, every send is refused.")
def forbidden_halves_forbid_all(original, self, command, asked, topic, queue_id, connection, now):
    if self.config.reject_transaction_message:
        return self.refusal(ResponseCode.NO_PERMISSION, "")
    return original(self, command, asked, topic, queue_id, connection, now)


@mutant(Sends.send_batch, "A batch for a retry topic is stored.", V5)
def batches_are_retried(original, self, command, asked, topic, queue_id, connection, now):
    reply = original(self, command, asked, topic, queue_id, connection, now)
    is_refused = "does not support retry" in (reply.remark or "")
    return Reply(ResponseCode.SUCCESS, ext=reply.ext) if is_refused else reply


@mutant(Sends.send_batch, "A batch that cannot be read is taken and lost.")
def broken_batches_are_taken(original, self, command, asked, topic, queue_id, connection, now):
    try:
        return original(self, command, asked, topic, queue_id, connection, now)
    except RefusedError:
        return Reply(ResponseCode.SUCCESS)


@mutant(Sends.asked, "A send without a body is stored.", V5)
def empty_bodies_are_stored(original, self, command):
    return original(self, msgspec.structs.replace(command, body=command.body or b" "))


@mutant(Sends.any_queue, "A send with queueId -1 to a topic without write queues goes to queue 0.")
def topics_without_queues_are_written(original, self, topic):
    return original(self, topic) if topic.write_queue_nums > 0 else 0


@mutant(Sends.send, "A send that lacks a field is taken and lost.")
def fields_of_sends_may_be_missing(original, self, command, connection, now):
    try:
        return original(self, command, connection, now)
    except RefusedError:
        return Reply(ResponseCode.SUCCESS)


@mutant(Sends.new_topic, "Without a default topic, a send creates its topic after TBW102.")
def default_topics_may_be_missing(original, self, asked, now):
    asked.default_topic, asked.default_queues = asked.default_topic or "TBW102", asked.default_queues or 4
    return original(self, asked, now)


@mutant(Store.encoded, "Properties that are too long are dropped.")
def properties_have_no_limit(original, self, message):
    try:
        return original(self, message)
    except WireError:
        message.properties = {}
        return original(self, message)


@mutant(Store.put_batch, "A message of a batch with properties that are too long is left out.", BEFORE_55)
def batches_share_no_properties_limit(original, self, messages, now):
    puts = original(self, messages, now)
    if puts[0].status is PutStatus.MESSAGE_ILLEGAL:
        puts = [Put(PutStatus.PUT_OK) for _ in messages]
    return puts


@mutant(Store.put_batch, "A batch that takes more than maxMessageSize of the log is refused.")
def stored_batches_have_the_limit_of_bodies(original, self, messages, now):
    if sum(91 + len(message.body) + len(message.topic) for message in messages) > self.max_message_size:
        return [Put(PutStatus.MESSAGE_ILLEGAL) for _ in messages]
    return original(self, messages, now)


@mutant(Sends.send_batch, "A Broker of 5.x refuses a batch that is too large as an illegal message.", V5)
def large_batches_are_illegal(original, self, command, *rest):
    illegal = self.is_too_large(command.body)
    return self.not_stored(PutStatus.MESSAGE_ILLEGAL) if illegal else original(self, command, *rest)


@mutant(Sends.send_batch, "A Broker of 4.9 refuses a batch that is too large as an error.", V4)
def large_batches_are_errors(original, self, command, *rest):
    return (
        Reply(ResponseCode.SYSTEM_ERROR)
        if self.is_too_large(command.body)
        else original(self, command, *rest)
    )


@mutant(Sends.send, "A batch without a body is taken.")
def empty_batches_are_taken(original, self, command, connection, now):
    reply = original(self, command, connection, now) if command.body else None
    return reply or Reply(ResponseCode.SUCCESS)


@mutant(Settings.take, "A new maxMessageSize has no effect on what is stored.")
def limits_of_bodies_stay(original, self, pairs, now):
    most = self.broker.store.max_message_size
    original(self, pairs, now)
    self.broker.store.max_message_size = most


@mutant(Topics.fault, "A topic that exists may have any name.", BEFORE_55)
def names_of_topics_that_exist_are_taken(original, self, topic):
    return None if self.get(topic or "") is not None else original(self, topic)


@mutant(Store.put_batch, "The messages of a batch come from the Broker itself.")
def batches_come_from_the_broker(original, self, messages, now):
    for message in messages:
        message.born_host = message.store_host
    return original(self, messages, now)


@after(Sends.shown, "The remark that refuses a queue shows the topic without its attributes.", V5)
def refusals_do_not_show_attributes(text):
    return text.partition("attributes={")[0] + "attributes={}]"


@mutant(Sends.may_be_batch, "A batch with the bits of a transaction is accepted.")
def batches_may_be_of_transactions(original, self, asked):
    asked.sys_flag &= ~SysFlag.TRANSACTION_ROLLBACK.value
    return original(self, asked)


@mutant(Sends.asked, "A batch loses its system flag.")
def batches_lose_their_bits(original, self, command):
    asked = original(self, command)
    if asked.is_batch:
        asked.sys_flag &= SysFlag.TRANSACTION_ROLLBACK.value
    return asked


@mutant(Sends.asked, "A send without reconsumeTimes means 1.")
def times_that_are_missing_are_one(original, self, command):
    asked = original(self, command)
    if not {"j", "reconsumeTimes"} & (command.ext or {}).keys():
        asked.reconsume_times = 1
    return asked
