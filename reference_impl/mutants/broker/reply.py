"""Faults in the chapter reply: what is pushed to who asked, and what is stored."""

from harness.wire import RequestCode, ResponseCode
from harness.wire.bodies import TopicConfig
from reference_impl.broker.replies import Replies
from reference_impl.broker.sends import Sends
from reference_impl.mutants.registry import after, mutant
from reference_impl.remoting.reply import Reply


@mutant(Replies.asker, "A reply goes to the first producer that is online.")
def first_producer_gets_replies(original, self, client):
    members = (one for group in self.broker.clients.producers.values() for one in group)
    return None if original(self, client) is None else next(members)


@mutant(Replies.asker, "A reply to any member but the first of its group finds no producer.")
def first_of_each_group_gets_replies(original, self, client):
    for members in self.broker.clients.producers.values():
        for connection, member in [*members.items()][:1]:
            if member.id == client:
                return connection
    return None


@after(Replies.push, "A pushed reply does not have the fields that the Broker adds.")
def pushes_lose_fields(command):
    for name in ("bornHost", "storeHost", "storeTimestamp"):
        del command.ext[name]


@after(Replies.push, "A pushed reply has no properties.")
def pushes_lose_properties(command):
    command.ext["properties"] = ""


@mutant(Replies.reply, "Replies with long names of fields are refused.")
def plain_replies_are_unknown(original, self, command, connection, now):
    if command.code == RequestCode.SEND_REPLY_MESSAGE:
        return Reply(ResponseCode.REQUEST_CODE_NOT_SUPPORTED)
    return original(self, command, connection, now)


@mutant(Replies.fault, "A reply that the client refuses is answered with success.")
def refused_replies_are_success(original, self, answer, client):
    return None if answer is not None else original(self, answer, client)


@mutant(Replies.fault, "A reply that the client accepts is answered with an error.")
def no_reply_is_success(original, self, answer, client):
    return original(self, None, client)


@mutant(Replies.within, "A client has a second to answer a pushed reply.")
def askers_have_a_second(original, self):
    return 1_000


@mutant(Replies.within, "A client has a minute to answer a pushed reply.")
def askers_have_a_minute(original, self):
    return 60_000


@mutant(Replies.ended, "A reply to a client that is not there is answered with success.")
def replies_to_absent_clients_succeed(original, self, message, fault, now):
    return original(self, message, None, now)


@mutant(Replies.asker, "Consumers get replies, too.")
def consumers_get_replies(original, self, client):
    groups = (group.members for group in self.broker.clients.consumers.values())
    found = (one for members in groups for one, member in members.items() if member.id == client)
    return original(self, client) or next(found, None)


@mutant(Replies.ended, "A reply that cannot be pushed is not stored.")
def replies_are_not_stored(original, self, message, fault, now):
    return (
        original(self, message, fault, now)
        if fault is None
        else Reply(ResponseCode.SYSTEM_ERROR, remark=fault)
    )


@after(Replies.message, "A stored reply tells when it was pushed.")
def stored_replies_have_a_time(message):
    message.properties["PUSH_REPLY_TIME"] = str(message.store_timestamp)


@after(Replies.message, "A stored reply has no flag.")
def stored_replies_have_no_flag(message):
    message.flag = 0


@mutant(Replies.message, "A reply to any queue is stored in the queue -1.")
def replies_to_any_queue_are_in_none(original, self, asked, body, queue_id, connection, now):
    return original(self, asked, body, asked.queue_id, connection, now)


@mutant(Sends.checked, "A reply to a topic with an illegal name is pushed.")
def replies_to_any_topic_are_pushed(original, self, asked, connection, now):
    found = original(self, asked, connection, now)
    if isinstance(found, Reply) and "REPLY_TO_CLIENT" in asked.properties:
        return TopicConfig(topic_name=asked.topic)
    return found


@mutant(Replies.reply, "The refusal of a reply names another producer.")
def refused_replies_name_another(original, self, command, connection, now):
    found = original(self, command, connection, now)
    if found is not None and found.remark is not None:
        found.remark = found.remark.replace(self.broker.peer(connection), "unknown")
    return found


@mutant(Sends.checked, "A reply may name any queue.")
def replies_to_any_queue_are_pushed(original, self, asked, connection, now):
    if "REPLY_TO_CLIENT" in asked.properties:
        asked.queue_id = min(asked.queue_id, 3)
    return original(self, asked, connection, now)


@mutant(Replies.message, "A reply is stored with its system flag.")
def stored_replies_keep_their_bits(original, self, asked, body, queue_id, connection, now):
    message = original(self, asked, body, queue_id, connection, now)
    message.sys_flag = asked.sys_flag
    return message
