"""Mutants of the chapter calls."""

from collections.abc import Callable, Mapping

import msgspec

from harness.wire import FLAG_ONEWAY, Command
from harness.wire.bodies import ConsumerStatus, MessageQueue, QueueOffsets
from harness.wire.broker_codes import BrokerRequest
from reference_impl.broker.calls import Calls
from reference_impl.broker.clients import Client, Clients
from reference_impl.broker.core import Broker
from reference_impl.broker.endpoint import Endpoint
from reference_impl.broker.outbox import Done, Pushing
from reference_impl.broker.parts import Parts
from reference_impl.broker.resets import Resets
from reference_impl.mutants.broker import V5, mutant
from reference_impl.remoting.reply import RefusedError, Reply

V4 = ("4.9",)
_INFO = BrokerRequest.GET_CONSUMER_RUNNING_INFO


# -- one client ----------------------------------------------------------------------------------------------


@mutant("clients-are-asked-one-way", "What a client is asked is a one-way request.")
def clients_are_asked_one_way(parts: Parts) -> Parts:
    def request(self: Endpoint, command: Command, flag: int) -> Command:
        asked = parts.endpoint.request(self, command, flag)
        return msgspec.structs.replace(asked, flag=FLAG_ONEWAY) if command.code == _INFO else asked

    return parts.override("endpoint", request)


def _calls(parts: Parts, change: Callable[[Command], Command], within: int | None = None) -> Parts:
    """What clients are asked is changed, or for how long they are waited for."""

    def call(self: Broker, connection: int, command: Command, within_ms: int, done: Done) -> None:
        parts.broker.call(self, connection, change(command), within or within_ms, done)

    return parts.override("broker", call)


@mutant("questions-lose-their-fields", "A client is not told what the administrator said.")
def questions_lose_their_fields(parts: Parts) -> Parts:
    def change(command: Command) -> Command:
        return msgspec.structs.replace(command, ext={}) if command.code == _INFO else command

    return _calls(parts, change)


def _outcome(parts: Parts, change: Callable[[Reply], Reply]) -> Parts:
    """What an administrator is told is changed."""

    def outcome(self: Calls, answer: Command | None, group: str, name: str) -> Reply:
        return change(parts.calls.outcome(self, answer, group, name))

    return parts.override("calls", outcome)


@mutant("answers-lose-their-body", "What a client answers goes on without its body.")
def answers_lose_their_body(parts: Parts) -> Parts:
    return _outcome(parts, lambda reply: msgspec.structs.replace(reply, body=b""))


@mutant("answers-lose-their-fields", "What a client answers goes on without its ext fields.")
def answers_lose_their_fields(parts: Parts) -> Parts:
    return _outcome(parts, lambda reply: msgspec.structs.replace(reply, ext=None))


@mutant("answers-are-signed-by-the-broker", "What a client answers goes on with the Broker's version.")
def answers_are_signed_by_the_broker(parts: Parts) -> Parts:
    return _outcome(parts, lambda reply: msgspec.structs.replace(reply, by=None))


@mutant("errors-of-clients-are-success", "An error of a client goes on as a success.")
def errors_of_clients_are_success(parts: Parts) -> Parts:
    return _outcome(parts, lambda reply: msgspec.structs.replace(reply, code=0))


@mutant("silence-of-a-client-is-an-error", "A client that does not answer is told of with code 1.")
def silence_of_a_client_is_an_error(parts: Parts) -> Parts:
    return _outcome(parts, lambda reply: msgspec.structs.replace(reply, code=1) if reply.code else reply)


@mutant("questions-share-their-opaque", "All that clients are asked has the same opaque.")
def questions_share_their_opaque(parts: Parts) -> Parts:
    def request(self: Endpoint, command: Command, flag: int) -> Command:
        asked = parts.endpoint.request(self, command, flag)
        return msgspec.structs.replace(asked, opaque=77) if command.code == _INFO else asked

    return parts.override("endpoint", request)


@mutant("any-response-is-the-answer", "Any response answers what a client was asked first.")
def any_response_is_the_answer(parts: Parts) -> Parts:
    def heard(self: Endpoint, connection: int, response: Command, now: int) -> None:
        asked = next(iter(self._awaited._questions), response.opaque)
        parts.endpoint.heard(self, connection, msgspec.structs.replace(response, opaque=asked), now)

    return parts.override("endpoint", heard)


@mutant("first-member-is-asked", "It is always the first member of a group that is asked.")
def first_member_is_asked(parts: Parts) -> Parts:
    def find_consumer(self: Clients, group: str, client_id: str) -> int | None:
        if parts.clients.find_consumer(self, group, client_id) is None:
            return None
        return next(iter(self.consumers[group].members))

    return parts.override("clients", find_consumer)


def _asks_anyway(parts: Parts, instead: Reply) -> Parts:
    """What is refused about one client is answered so."""

    def pass_on(
        self: Calls, command: Command, connection: int, ext: dict[str, str | None], body: bytes
    ) -> Reply | None:
        return instead if parts.calls.pass_on(self, command, connection, ext, body) is not None else None

    return parts.override("calls", pass_on)


@mutant("absent-clients-are-success", "A client that is not online is asked with success.")
def absent_clients_are_success(parts: Parts) -> Parts:
    return _asks_anyway(parts, Reply(0))


@mutant("members-of-any-group-are-asked", "A client is asked whichever group it is in.")
def members_of_any_group_are_asked(parts: Parts) -> Parts:
    def pass_on(
        self: Calls, command: Command, connection: int, ext: dict[str, str | None], body: bytes
    ) -> Reply | None:
        name = ext.get("clientId") or ""
        for group in self.broker.clients.consumers:
            if self.broker.clients.find_consumer(group, name) is not None:
                ext = {**ext, "consumerGroup": group}
        return parts.calls.pass_on(self, command, connection, ext, body)

    return parts.override("calls", pass_on)


@mutant("old-clients-are-asked", "A client is asked whatever its release.")
def old_clients_are_asked(parts: Parts) -> Parts:
    def is_too_old(self: Calls, version: int) -> bool:
        return False

    return parts.override("calls", is_too_old)


def _within(parts: Parts, ms: int) -> Parts:
    def within(self: Calls) -> int:
        return ms

    return parts.override("calls", within)


@mutant("asked-clients-have-a-minute", "A client has a minute for its answer.")
def asked_clients_have_a_minute(parts: Parts) -> Parts:
    return _within(parts, 60_000)


@mutant("asked-clients-have-a-second", "A client has a second for its answer.")
def asked_clients_have_a_second(parts: Parts) -> Parts:
    return _within(parts, 1_000)


@mutant("late-answers-end-connections", "A response that nothing awaits ends its connection.")
def late_answers_end_connections(parts: Parts) -> Parts:
    def heard(self: Endpoint, connection: int, response: Command, now: int) -> None:
        before = len(self.broker.outbox)
        parts.endpoint.heard(self, connection, response, now)
        if len(self.broker.outbox) == before:
            self.broker.close(connection)

    return parts.override("endpoint", heard)


@mutant("lost-clients-are-errors", "A client that goes before it has answered is told of with code 1.")
def lost_clients_are_errors(parts: Parts) -> Parts:
    def outcome(self: Calls, answer: Command | None, group: str, name: str) -> Reply:
        if answer is None and self.broker.clients.find_consumer(group, name) is None:
            return Reply(1, remark=f"invoke consumer <{group}> <{name}> Exception: it has gone")
        return parts.calls.outcome(self, answer, group, name)

    return parts.override("calls", outcome)


# -- messages ------------------------------------------------------------------------------------------------


@mutant("messages-do-not-go-along", "A client that is to consume a message does not get it.")
def messages_do_not_go_along(parts: Parts) -> Parts:
    return _calls(parts, lambda command: msgspec.structs.replace(command, body=b""))


def _added(parts: Parts, without: tuple[str, ...]) -> Parts:
    def added(self: Calls, ext: Mapping[str, str | None]) -> dict[str, str | None]:
        found = parts.calls.added(self, ext)
        return {name: value for name, value in found.items() if name not in without}

    return parts.override("calls", added)


@mutant("broker-name-does-not-go-along", "A client is not told which Broker has the message.")
def broker_name_does_not_go_along(parts: Parts) -> Parts:
    return _added(parts, ("brokerName",))


@mutant("system-flags-do-not-go-along", "A client is not told the system flags of topic and group.", V5)
def system_flags_do_not_go_along(parts: Parts) -> Parts:
    return _added(parts, ("topicSysFlag", "groupSysFlag"))


@mutant("missing-messages-are-asked-for", "A client is asked to consume a message that there is not.")
def missing_messages_are_asked_for(parts: Parts) -> Parts:
    def consume(self: Calls, command: Command, connection: int, now: int) -> Reply | None:
        try:
            return parts.calls.consume(self, command, connection, now)
        except RefusedError:
            return self.pass_on(command, connection, dict(command.ext or {}), b"")

    return parts.override("calls", consume)


# -- where a group is ----------------------------------------------------------------------------------------


def _status(parts: Parts, change: Callable[[Reply | None], Reply | None], **ext: str | None) -> Parts:
    """The answer to 223 is changed where it comes at once, or what is said in it."""

    def status(self: Calls, command: Command, connection: int, now: int) -> Reply | None:
        asked = msgspec.structs.replace(command, ext={**(command.ext or {}), **ext})
        try:
            return change(parts.calls.status(self, asked, connection, now))
        except RefusedError as refused:
            return change(refused.reply())

    return parts.override("calls", status)


@mutant("every-member-is-asked", "Every member of a group is asked, whichever is named.")
def every_member_is_asked(parts: Parts) -> Parts:
    return _status(parts, lambda reply: reply, clientAddr=None)


@mutant("status-of-nobody-is-empty", "A group of which nobody is online has a status.")
def status_of_nobody_is_empty(parts: Parts) -> Parts:
    return _status(parts, lambda reply: None if reply is None else Reply(0, body=ConsumerStatus().encode()))


@mutant("one-member-is-asked", "Only one member of a group is asked from where it consumes.")
def one_member_is_asked(parts: Parts) -> Parts:
    def status(self: Calls, command: Command, connection: int, now: int) -> Reply | None:
        ext = command.ext or {}
        online = self.broker.clients.consumers.get(ext.get("group") or "")
        if online is None:
            return parts.calls.status(self, command, connection, now)
        first = next(iter(online.members.values())).id
        asked = msgspec.structs.replace(command, ext={"clientAddr": first, **ext})
        return parts.calls.status(self, asked, connection, now)

    return parts.override("calls", status)


@mutant("statuses-are-empty", "What members say of where they consume is not told.")
def statuses_are_empty(parts: Parts) -> Parts:
    def table_of(self: Calls, answer: Command) -> dict[MessageQueue, int] | None:
        return None if parts.calls.table_of(self, answer) is None else {}

    return parts.override("calls", table_of)


@mutant("members-are-not-told-the-topic", "A member is not told which topic is meant.")
def members_are_not_told_the_topic(parts: Parts) -> Parts:
    def question(self: Calls, topic: str, group: str) -> Command:
        return msgspec.structs.replace(parts.calls.question(self, topic, group), ext={"group": group})

    return parts.override("calls", question)


@mutant("errors-count-as-status", "What a member says is told though it answers with an error.")
def errors_count_as_status(parts: Parts) -> Parts:
    def table_of(self: Calls, answer: Command) -> dict[MessageQueue, int] | None:
        return parts.calls.table_of(self, msgspec.structs.replace(answer, code=0))

    return parts.override("calls", table_of)


@mutant("asked-members-have-a-minute", "A member has a minute to say from where it consumes.")
def asked_members_have_a_minute(parts: Parts) -> Parts:
    return _calls(parts, lambda command: command, 60_000)


@mutant("old-members-are-asked", "A member is asked and told whatever its release.")
def old_members_are_asked(parts: Parts) -> Parts:
    def refusal_of(self: Calls, client: Client) -> Reply | None:
        return None

    return parts.override("calls", refusal_of)


# -- resets by members ---------------------------------------------------------------------------------------


@mutant("resets-tell-nobody", "A reset by members is answered, and nobody is told.")
def resets_tell_nobody(parts: Parts) -> Parts:
    def tell(self: Resets, member: int, told: Command) -> None:
        return

    return parts.override("resets", tell)


@mutant("resets-tell-one-member", "A reset by members is told to one member.")
def resets_tell_one_member(parts: Parts) -> Parts:
    def tell(self: Resets, member: int, told: Command) -> None:
        if not any(isinstance(one, Pushing) and one.command.code == told.code for one in self.broker.outbox):
            parts.resets.tell(self, member, told)

    return parts.override("resets", tell)


@mutant("resets-by-members-set-offsets", "A reset by members sets the offsets of the group as well.")
def resets_by_members_set_offsets(parts: Parts) -> Parts:
    def wanted(self: Resets, topic: str, queue: int, timestamp: int, committed: int, *, forced: bool) -> int:
        found = parts.resets.wanted(self, topic, queue, timestamp, committed, forced=forced)
        for table in self.broker.offsets.table.values():
            if table.get(queue) == committed:
                table[queue] = found
        return found

    return parts.override("resets", wanted)


def _forcing(parts: Parts, force: bool) -> Parts:
    def wanted(self: Resets, topic: str, queue: int, timestamp: int, committed: int, *, forced: bool) -> int:
        return parts.resets.wanted(self, topic, queue, timestamp, committed, forced=force)

    return parts.override("resets", wanted)


@mutant("resets-need-no-force", "A reset by members goes forward without force.")
def resets_need_no_force(parts: Parts) -> Parts:
    return _forcing(parts, True)


@mutant("resets-heed-no-force", "A reset by members goes forward not even with force.")
def resets_heed_no_force(parts: Parts) -> Parts:
    return _forcing(parts, False)


@mutant("resets-by-cpp-have-a-table", "Members are told with a table, whatever language asks.")
def resets_by_cpp_have_a_table(parts: Parts) -> Parts:
    def body_for(self: Resets, language: str, table: QueueOffsets) -> bytes:
        return table.encode()

    return parts.override("resets", body_for)


def _reset(parts: Parts, change: Callable[[Reply], Reply]) -> Parts:
    """The answer to a reset by members is changed."""

    def ask_members(self: Resets, command: Command, topic: str, group: str, timestamp: int) -> Reply:
        return change(parts.resets.ask_members(self, command, topic, group, timestamp))

    return parts.override("resets", ask_members)


@mutant("resets-need-no-offsets", "A group that has committed nothing is reset.")
def resets_need_no_offsets(parts: Parts) -> Parts:
    return _reset(parts, lambda reply: Reply(0) if reply.code == 1 else reply)


@mutant("resets-49-name-unknown-topics", "A reset of an unknown topic is answered with code 17.", V4)
def resets_49_name_unknown_topics(parts: Parts) -> Parts:
    return _reset(parts, lambda reply: msgspec.structs.replace(reply, code=17) if reply.code == 1 else reply)


@mutant("resets-53-do-not-name-unknown-topics", "A reset of an unknown topic is answered with code 1.", V5)
def resets_53_do_not_name_unknown_topics(parts: Parts) -> Parts:
    return _reset(parts, lambda reply: msgspec.structs.replace(reply, code=1) if reply.code == 17 else reply)
