"""Mutants of the chapter calls."""

import msgspec

from harness.wire import FLAG_ONEWAY, RequestCode, ResponseCode, WireError
from harness.wire.bodies import ConsumerStatus
from harness.wire.messages import decode_message, decode_offset_id
from reference_impl.broker.client_rpc import ClientRpc
from reference_impl.broker.clients import Clients
from reference_impl.broker.core import Broker
from reference_impl.broker.endpoint import Endpoint
from reference_impl.broker.outbox import Pushing
from reference_impl.broker.resets import Resets
from reference_impl.mutants.registry import V4, V5, after, mutant
from reference_impl.remoting.reply import RefusedError, Reply

_INFO = RequestCode.GET_CONSUMER_RUNNING_INFO


@mutant(Resets.tell, "A reset by members names a queue.", V4)
def resets_49_name_a_queue(original, self, member, told):
    original(self, member, msgspec.structs.replace(told, ext={**(told.ext or {}), "queueId": "-1"}))


@mutant(Resets.wanted, "A reset by members goes to the first message, whatever the time.")
def resets_know_no_times(original, self, topic, queue, timestamp, committed, *, forced):
    return original(self, topic, queue, timestamp if timestamp == -1 else 0, committed, forced=forced)


# -- one client ----------------------------------------------------------------------------------------------


@after(Endpoint.request, "The request to a client is one-way.")
def clients_are_asked_one_way(asked, command):
    return msgspec.structs.replace(asked, flag=FLAG_ONEWAY) if command.code == _INFO else asked


@mutant(Broker.call, "The request to a client lacks the administrator's fields.")
def questions_lose_their_fields(original, self, connection, command, within_ms, done):
    plain = msgspec.structs.replace(command, ext={}) if command.code == _INFO else command
    original(self, connection, plain, within_ms, done)


@mutant(ClientRpc.outcome, "The client's answer is forwarded without its body.")
def answers_lose_their_body(original, self, answer, group, name):
    return msgspec.structs.replace(original(self, answer, group, name), body=b"")


@mutant(ClientRpc.outcome, "The client's answer is forwarded without its ext fields.")
def answers_lose_their_fields(original, self, answer, group, name):
    return msgspec.structs.replace(original(self, answer, group, name), ext=None)


@mutant(ClientRpc.outcome, "The client's answer is forwarded with the Broker's version.")
def answers_are_signed_by_the_broker(original, self, answer, group, name):
    return msgspec.structs.replace(original(self, answer, group, name), by=None)


@mutant(ClientRpc.outcome, "An error from a client is forwarded as a success.")
def errors_of_clients_are_success(original, self, answer, group, name):
    return msgspec.structs.replace(original(self, answer, group, name), code=0)


@after(ClientRpc.outcome, "A client's timeout is reported as code 1.")
def silence_of_a_client_is_an_error(reply):
    return msgspec.structs.replace(reply, code=1) if reply.code else reply


@after(Endpoint.request, "All requests to clients use the same opaque.")
def questions_share_their_opaque(asked, command):
    return msgspec.structs.replace(asked, opaque=77) if command.code == _INFO else asked


@mutant(Endpoint.heard, "Any response is accepted as the answer to the first request.")
def any_response_is_the_answer(original, self, connection, response, now):
    asked = next(iter(self._pending_calls._questions), response.opaque)
    original(self, connection, msgspec.structs.replace(response, opaque=asked), now)


@mutant(Clients.find_consumer, "Every request goes to the first member of the group.")
def first_member_is_asked(original, self, group, client_id):
    if original(self, group, client_id) is None:
        return None
    return next(iter(self.consumers[group].members))


@mutant(ClientRpc.pass_on, "A request for an offline client succeeds.")
def absent_clients_are_success(original, self, command, connection, ext, body):
    return Reply(0) if original(self, command, connection, ext, body) is not None else None


@mutant(ClientRpc.pass_on, "A request can reach a client of another group.")
def members_of_any_group_are_asked(original, self, command, connection, ext, body):
    name = ext.get("clientId") or ""
    for group in self.broker.clients.consumers:
        if self.broker.clients.find_consumer(group, name) is not None:
            ext = {**ext, "consumerGroup": group}
    return original(self, command, connection, ext, body)


@mutant(ClientRpc.is_too_old, "Requests go to clients of unsupported releases, too.")
def old_clients_are_asked(original, self, version):
    return False


@mutant(ClientRpc.is_too_old, "Requests go to later releases than V3_1_8_SNAPSHOT only.")
def clients_of_their_first_release_are_old(original, self, version):
    return original(self, version - 1)


@mutant(ClientRpc.added, "The request to a client has the brokerName that the administrator sends, if any.")
def broker_name_is_the_administrators(original, self, ext, now):
    said = {name: text for name, text in ext.items() if name == "brokerName"}
    return {**original(self, ext, now), **said}


@mutant(ClientRpc.within, "A client's answer times out after a minute.")
def asked_clients_have_a_minute(original, self):
    return 60_000


@mutant(ClientRpc.within, "A client's answer times out after a second.")
def asked_clients_have_a_second(original, self):
    return 1_000


@mutant(Endpoint.heard, "An unexpected response closes the connection.")
def late_answers_end_connections(original, self, connection, response, now):
    before = len(self.broker.outbox)
    original(self, connection, response, now)
    if len(self.broker.outbox) == before:
        self.broker.close(connection)


@mutant(ClientRpc.outcome, "A client that disconnects before answering is reported as code 1.")
def lost_clients_are_errors(original, self, answer, group, name):
    if answer is None and self.broker.clients.find_consumer(group, name) is None:
        return Reply(1, remark=f"invoke consumer <{group}> <{name}> Exception: it has gone")
    return original(self, answer, group, name)


# -- messages ------------------------------------------------------------------------------------------------


@mutant(Broker.call, "The request to consume a message lacks the message.")
def messages_do_not_go_along(original, self, connection, command, within_ms, done):
    original(self, connection, msgspec.structs.replace(command, body=b""), within_ms, done)


@mutant(Broker.call, "The request to consume a message has it as one that was never stored.")
def messages_go_along_as_new(original, self, connection, command, within_ms, done):
    if command.code == RequestCode.CONSUME_MESSAGE_DIRECTLY:
        message = msgspec.structs.replace(decode_message(command.body), store_timestamp=0)
        command = msgspec.structs.replace(command, body=self.store.encoded(message))
    original(self, connection, command, within_ms, done)


@mutant(ClientRpc.added, "The request to a client omits the Broker's name.")
def broker_name_does_not_go_along(original, self, ext, now):
    return {name: value for name, value in original(self, ext, now).items() if name not in ("brokerName",)}


@mutant(ClientRpc.added, "The request to a client omits the system flags of topic and group.", V5)
def system_flags_do_not_go_along(original, self, ext, now):
    return {
        name: value
        for name, value in original(self, ext, now).items()
        if name not in ("topicSysFlag", "groupSysFlag")
    }


@after(ClientRpc.added, "The system flags in the request to a client are 0.", V5)
def system_flags_that_go_along_are_0(added):
    return {name: "0" if name.endswith("SysFlag") else value for name, value in added.items()}


@mutant(ClientRpc.added, "What is not there has system flags, of 0.", V5)
def system_flags_of_nothing_are_0(original, self, ext, now):
    return {"topicSysFlag": "0", "groupSysFlag": "0", **original(self, ext, now)}


@mutant(ClientRpc.added, "A group that was deleted does not come into being by a question to its member.", V5)
def questions_to_members_make_no_group(original, self, ext, now):
    known = ext.get("consumerGroup") in self.broker.groups.table
    return original(self, ext if known else {**ext, "consumerGroup": "none*"}, now)


@mutant(ClientRpc.consume, "The server asks a client to consume an unknown message.")
def missing_messages_are_asked_for(original, self, command, connection, now):
    try:
        return original(self, command, connection, now)
    except RefusedError:
        return self.pass_on(command, connection, dict(command.ext or {}), b"")


# -- where a group is ----------------------------------------------------------------------------------------


@mutant(ClientRpc.status, "The request goes to every member although it names one.")
def every_member_is_asked(original, self, command, connection, now):
    asked = msgspec.structs.replace(command, ext={**(command.ext or {}), "clientAddr": None})
    return original(self, asked, connection, now)


@mutant(ClientRpc.status, "A group without online members gets an empty status.")
def status_of_nobody_is_empty(original, self, command, connection, now):
    try:
        reply = original(self, command, connection, now)
    except RefusedError as refused:
        reply = refused.reply()
    return None if reply is None else Reply(0, body=ConsumerStatus().encode())


@mutant(ClientRpc.status, "Only one member is asked for its offsets.")
def one_member_is_asked(original, self, command, connection, now):
    ext = command.ext or {}
    online = self.broker.clients.consumers.get(ext.get("group") or "")
    if online is None:
        return original(self, command, connection, now)
    first = next(iter(online.members.values())).id
    asked = msgspec.structs.replace(command, ext={"clientAddr": first, **ext})
    return original(self, asked, connection, now)


@mutant(ClientRpc.table_of, "The offsets that members report are omitted.")
def statuses_are_empty(original, self, answer):
    return None if original(self, answer) is None else {}


@mutant(ClientRpc.question, "The request to a member omits the topic.")
def members_are_not_told_the_topic(original, self, topic, group):
    return msgspec.structs.replace(original(self, topic, group), ext={"group": group})


@mutant(ClientRpc.table_of, "The body of an error from a member is accepted as its offsets.")
def errors_count_as_status(original, self, answer):
    return original(self, msgspec.structs.replace(answer, code=0))


@mutant(Broker.call, "A member's answer times out after a minute.")
def asked_members_have_a_minute(original, self, connection, command, within_ms, done):
    original(self, connection, command, 60_000, done)


@mutant(ClientRpc.table_of, "A member whose answer cannot be read is shown without offsets.")
def unreadable_status_ends_the_gathering(original, self, answer):
    found = original(self, answer)
    return {} if found is None and answer.code == ResponseCode.SUCCESS and answer.body else found


@mutant(ClientRpc.refusal_of, "Requests for offsets go to members of unsupported releases, too.")
def old_members_are_asked(original, self, client):
    return None


# -- resets by members ---------------------------------------------------------------------------------------


@mutant(Resets.tell, "A delegated reset reaches no member.")
def resets_tell_nobody(original, self, member, told):
    return


@mutant(Resets.tell, "A delegated reset reaches only one member.")
def resets_tell_one_member(original, self, member, told):
    if not any(isinstance(one, Pushing) and one.command.code == told.code for one in self.broker.outbox):
        original(self, member, told)


@mutant(Resets.tell, "Members are told that a reset is forced.")
def forced_resets(original, self, member, told):
    told.ext = {**(told.ext or {}), "isForce": "true"}
    original(self, member, told)


@mutant(Resets.tell, "Members are told no queueId.", V5)
def resets_leave_the_queue_out(original, self, member, told):
    told.ext = {name: value for name, value in (told.ext or {}).items() if name != "queueId"}
    original(self, member, told)


@mutant(Resets.ask_members, "Members are told the queueId of the request.", V5)
def resets_repeat_the_queue(original, self, command, topic, group, timestamp):
    reply = original(self, command, topic, group, timestamp)
    queue = (command.ext or {}).get("queueId")
    for one in self.broker.outbox:
        if queue is not None and isinstance(one, Pushing):
            one.command.ext = {**(one.command.ext or {}), "queueId": queue}
    return reply


@after(Resets.wanted, "A delegated reset changes the committed offsets as well.")
def resets_by_members_set_offsets(found, self, queue, committed):
    for table in self.broker.offsets.table.values():
        if table.get(queue) == committed:
            table[queue] = found


@mutant(Resets.wanted, "A delegated reset moves offsets forward without force.")
def resets_need_no_force(original, self, topic, queue, timestamp, committed, *, forced):
    return original(self, topic, queue, timestamp, committed, forced=True)


@mutant(Resets.wanted, "A delegated reset ignores force.")
def resets_heed_no_force(original, self, topic, queue, timestamp, committed, *, forced):
    return original(self, topic, queue, timestamp, committed, forced=False)


@mutant(Resets.body_for, "Members receive a table even if the caller's language is CPP.")
def resets_by_cpp_have_a_table(original, self, language, table):
    return table.encode()


@after(Resets.ask_members, "The server resets a group that has committed nothing.")
def resets_need_no_offsets(reply):
    return Reply(0) if reply.code == 1 else reply


@after(Resets.ask_members, "Resetting an unknown topic returns code 17.", V4)
def resets_49_name_unknown_topics(reply):
    return msgspec.structs.replace(reply, code=17) if reply.code == 1 else reply


@after(Resets.ask_members, "Resetting an unknown topic returns code 1.", V5)
def resets_53_do_not_name_unknown_topics(reply):
    return msgspec.structs.replace(reply, code=1) if reply.code == 17 else reply


@mutant(ClientRpc.consume, "An administrator's message id is taken for one, whatever it is.")
def ids_that_are_none_are_asked_for(original, self, command, connection, now):
    try:
        decode_offset_id(command.ext["msgId"])
    except WireError:
        return self.pass_on(command, connection, dict(command.ext), b"")
    return original(self, command, connection, now)


@mutant(Resets.ask_members, "A reset in an unknown language tells members as if it came from Java.")
def resets_in_any_language(original, self, command, topic, group, timestamp):
    language = command.language or "JAVA"
    return original(self, msgspec.structs.replace(command, language=language), topic, group, timestamp)


@after(ClientRpc.table_of, "A status with keys that are no queues counts as an empty status.")
def odd_queues_are_a_status(table):
    return {} if table is None else table


@mutant(ClientRpc.outcome, "An answer in an unknown language is passed on as if it came from Java.", V4)
def languages_without_a_number_are_java(original, self, answer, group, name):
    if answer is not None:
        answer = msgspec.structs.replace(answer, language=answer.language or "JAVA")
    return original(self, answer, group, name)


@mutant(ClientRpc.outcome, "An answer in an unknown language is passed on as if it came from C++.", V5)
def languages_without_a_number_are_others(original, self, answer, group, name):
    if answer is not None:
        answer = msgspec.structs.replace(answer, language=answer.language or "CPP")
    return original(self, answer, group, name)
