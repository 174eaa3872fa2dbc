"""What administrators have a Broker ask of consumers that are online.

1. A client is asked by its group and its id. What it answers goes on to the administrator as it is, an error
   too; a client that is silent for too long is an answer of the Broker's own.
2. 307 asks how a client is. 309 has it consume a stored message, which goes with the request.
3. 223 asks the members of a group, one after the other, from where they consume the queues of a topic. One
   that does not answer, or with anything but a success that can be read, is left out.
4. A client of a release that does not know the request is not asked. (Apache's remark gives that release by
   its name, ours by its number.)

Source: AdminBrokerProcessor#callConsumer, #getConsumerRunningInfo, #consumeMessageDirectly,
#getConsumerStatus; Broker2Client#callClient, #getConsumeStatus of rocketmq-all-4.9.8 and rocketmq-all-5.3.3.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from harness.wire import Command, RequestCode, ResponseCode, WireError
from harness.wire.bodies import ConsumerStatus, MessageQueue
from harness.wire.messages import decode_offset_id
from harness.wire.versions import V3_0_7_SNAPSHOT, V3_1_8_SNAPSHOT
from reference_impl.remoting import fields
from reference_impl.remoting.reply import RefusedError, Reply
from reference_impl.remoting.requests import answers

from . import required
from .clients import Client
from .part import Part

_WITHIN: Final = 10_000
_STATUS_WITHIN: Final = 5_000


class ClientRpc(Part):
    """Passes requests of administrators on to clients."""

    # -- one client ------------------------------------------------------------------------------------------

    @answers(RequestCode.GET_CONSUMER_RUNNING_INFO)
    def running_info(self, command: Command, connection: int, now: int) -> Reply | None:
        return self.pass_on(command, connection, dict(command.ext or {}), command.body)

    @answers(RequestCode.CONSUME_MESSAGE_DIRECTLY)
    def consume(self, command: Command, connection: int, now: int) -> Reply | None:
        """The message is named by where it is stored, as the ids say that sends are answered with."""
        ext = command.ext or {}
        try:
            offset = decode_offset_id(required.text(ext, "msgId"))[1]
        except WireError as error:
            raise RefusedError(f"msgId: {error}") from error
        message = self.broker.store.raw_at(offset)
        if message is None:
            raise RefusedError(f"msgId: no message begins at offset {offset} of the log")
        return self.pass_on(command, connection, {**ext, **self.added(ext, now)}, message)

    def added(self, ext: Mapping[str, str | None], now: int) -> dict[str, str | None]:
        """What the request to a client has beside the administrator's fields."""
        added: dict[str, str | None] = {"brokerName": self.config.broker_name}
        if self.profile.v5:
            topic = self.broker.topics.get(ext.get("topic") or "")
            if topic is not None:
                added["topicSysFlag"] = str(topic.topic_sys_flag)
            group = self.broker.groups.find(ext.get("consumerGroup") or "", now)
            if group is not None:
                added["groupSysFlag"] = str(group.group_sys_flag or 0)
        return added

    def pass_on(
        self, command: Command, connection: int, ext: dict[str, str | None], body: bytes
    ) -> Reply | None:
        """Ask the client that a request names, and answer with what it answers."""
        group, name = required.text(ext, "consumerGroup"), fields.text(ext, "clientId")
        member = None if name is None else self.broker.clients.find_consumer(group, name)
        if member is None:
            shown = "null" if name is None else name
            remark = f"The Consumer <{group}> <{shown}> not online"
            return Reply(ResponseCode.SYSTEM_ERROR, remark=remark)
        version = self.broker.clients.consumers[group].members[member].version
        if self.is_too_old(version):
            hint = "too low to finish, please upgrade it to V3_1_8_SNAPSHOT"
            return Reply(
                ResponseCode.SYSTEM_ERROR, remark=f"The Consumer <{name}> Version <{version}> {hint}"
            )

        def answered(answer: Command | None, now: int) -> None:
            self.broker.answer(connection, command, self.outcome(answer, group, name or ""))

        self.broker.call(member, Command(code=command.code, ext=ext, body=body), self.within(), answered)
        return None

    def is_too_old(self, version: int) -> bool:
        """Whether a client is of a release that knows neither 307 nor 309."""
        return version < V3_1_8_SNAPSHOT

    def within(self) -> int:
        """ms that a client has for its answer."""
        return _WITHIN

    def outcome(self, answer: Command | None, group: str, name: str) -> Reply:
        """The administrator's reply to a client's answer, or to none in time."""
        if answer is None:
            remark = f"consumer <{group}> <{name}> Timeout: no answer within {self.within()} ms"
            return Reply(ResponseCode.CONSUME_MSG_TIMEOUT, remark=remark)
        return Reply.forwarded(answer)

    # -- a group ---------------------------------------------------------------------------------------------

    @answers(RequestCode.INVOKE_BROKER_TO_GET_CONSUMER_STATUS)
    def status(self, command: Command, connection: int, now: int) -> Reply | None:
        """`clientAddr` is the id of the only client that is asked."""
        ext = command.ext or {}
        topic, group = fields.text(ext, "topic"), required.text(ext, "group")
        online = self.broker.clients.consumers.get(group)
        if online is None:
            raise RefusedError(f"group: no consumer of {group} is online, expected at least one")
        only = fields.text(ext, "clientAddr") or ""
        only = only if only.strip() else ""
        left = list(online.members.items())
        found: dict[str, dict[MessageQueue, int]] = {}

        def go_on() -> Reply | None:
            while left:
                member, client = left.pop(0)
                refusal = self.refusal_of(client)
                if refusal is not None:
                    return refusal
                if only and client.id != only:
                    continue

                def answered(answer: Command | None, now: int, client: Client = client) -> None:
                    table = None if answer is None else self.table_of(answer)
                    if table is not None:
                        found[client.id] = table
                    if only:
                        left.clear()
                    reply = go_on()
                    if reply is not None:
                        self.broker.answer(connection, command, reply)

                self.broker.call(member, self.question(topic, group), _STATUS_WITHIN, answered)
                return None
            return Reply(ResponseCode.SUCCESS, body=ConsumerStatus(found).encode())

        return go_on()

    def question(self, topic: str | None, group: str) -> Command:
        """221."""
        ext: dict[str, str | None] = {"topic": topic, "group": group}
        return Command(code=RequestCode.GET_CONSUMER_STATUS_FROM_CLIENT, ext=ext)

    def table_of(self, answer: Command) -> dict[MessageQueue, int] | None:
        """From where a client says that it consumes; None where it does not say so."""
        if answer.code != ResponseCode.SUCCESS or not answer.body:
            return None
        try:
            return ConsumerStatus.decode(answer.body).message_queue_table
        except WireError:
            return None

    def refusal_of(self, client: Client) -> Reply | None:
        """The refusal of a member of a release that knows neither 220 nor 221; None: it knows them."""
        if client.version >= V3_0_7_SNAPSHOT:
            return None
        remark = f"the client does not support this feature. version={client.version}"
        return Reply(ResponseCode.SYSTEM_ERROR, remark=remark)
