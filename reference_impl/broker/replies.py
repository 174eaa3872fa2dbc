"""Replies to messages (324, 325): the Broker pushes each to the client that asked (326), and stores it.

1. The message that is answered said who its producer is; the reply carries that as `REPLY_TO_CLIENT`. Such a
   client is looked for among those that produce, whatever their group.
2. The sender of the reply gets its answer when the client has answered, or is silent for too long.
3. The reply is stored in its topic in any case, as it was sent but for its system flag; 5.x adds region and
   trace.

Source: ReplyMessageProcessor#processReplyMessageRequest, #pushReplyMessage, #handlePushReplyResult;
Broker2Client#callClient of rocketmq-all-4.9.8 and rocketmq-all-5.3.3.
"""

from __future__ import annotations

from typing import Final

from harness.wire import Command, RequestCode, ResponseCode
from harness.wire.messages import Message, encode_properties, offset_id
from reference_impl.remoting.reply import Reply
from reference_impl.remoting.requests import answers

from .part import Part
from .sends import Send

_ASKER: Final = "REPLY_TO_CLIENT"
_WITHIN: Final = 10_000


class Replies(Part):
    """Brings replies to who asked."""

    @answers(RequestCode.SEND_REPLY_MESSAGE)
    @answers(RequestCode.SEND_REPLY_MESSAGE_V2)
    def reply(self, command: Command, connection: int, now: int) -> Reply | None:
        sends = self.broker.sends
        asked = sends.asked(command)
        topic = sends.checked(asked, connection, now)
        if isinstance(topic, Reply):
            return topic
        queue_id = asked.queue_id if asked.queue_id >= 0 else sends.any_queue(topic)
        message = self.message(asked, command.body, queue_id, connection, now)
        client = message.properties.get(_ASKER)
        asker = None if client is None else self.asker(client)
        if client is None or asker is None:
            return self.ended(message, self.absent(client), now)

        def answered(answer: Command | None, now: int) -> None:
            self.broker.answer(connection, command, self.ended(message, self.fault(answer, client), now))

        self.broker.call(asker, self.push(asked, message, now), self.within(), answered)
        return None

    def message(self, asked: Send, body: bytes, queue_id: int, connection: int, now: int) -> Message:
        """The reply as it is stored."""
        properties = dict(asked.properties)
        if self.profile.v5:
            properties |= {name: text for name, text in self.broker.sends.told.items() if text is not None}
        return Message(
            topic=asked.topic,
            body=body,
            properties=properties,
            queue_id=queue_id,
            flag=asked.flag,
            born_timestamp=asked.born_timestamp,
            born_host=self.broker.peer(connection),
            store_timestamp=now,
            store_host=self.config.address,
            reconsume_times=asked.reconsume_times,
        )

    def asker(self, client: str) -> int | None:
        """The connection of a client that produces; None: it is not online."""
        for members in self.broker.clients.producers.values():
            for connection, member in members.items():
                if member.id == client:
                    return connection
        return None

    def push(self, asked: Send, message: Message, now: int) -> Command:
        """326."""
        properties = {**message.properties, "PUSH_REPLY_TIME": str(now)}
        ext: dict[str, str | None] = {
            "producerGroup": asked.group,
            "topic": asked.topic,
            "defaultTopic": asked.default_topic,
            "defaultTopicQueueNums": str(asked.default_queues),
            "queueId": str(asked.queue_id),
            "sysFlag": str(asked.sys_flag),
            "bornTimestamp": str(asked.born_timestamp),
            "bornHost": message.born_host,
            "storeTimestamp": str(message.store_timestamp),
            "storeHost": message.store_host,
            "flag": str(asked.flag),
            "properties": encode_properties(properties, True),
            "reconsumeTimes": str(asked.reconsume_times),
            "unitMode": str(asked.is_unit).lower(),
        }
        return Command(code=RequestCode.PUSH_REPLY_MESSAGE_TO_CLIENT, ext=ext, body=message.body)

    def within(self) -> int:
        """ms that the asker has to answer the push."""
        return _WITHIN

    def absent(self, client: str | None) -> str:
        """The remark where there is no connection to push to."""
        if client is None:
            return f"reply message properties[{_ASKER}] is null"
        return f"push reply message fail, channel of <{client}> not found."

    def fault(self, answer: Command | None, client: str) -> str | None:
        """The remark about a push that failed; None: the asker has the reply."""
        if answer is not None and answer.code == ResponseCode.SUCCESS:
            return None
        return f"push reply message to {client} fail."

    def ended(self, message: Message, fault: str | None, now: int) -> Reply:
        """Store the reply, and answer its sender."""
        message.store_timestamp = now
        put = self.broker.store.put(message, now)
        ext: dict[str, str | None] = {
            **self.broker.sends.told,
            "msgId": offset_id(self.config.address, put.physical_offset),
            "queueId": str(message.queue_id),
            "queueOffset": str(put.queue_offset),
        }
        code = ResponseCode.SUCCESS if fault is None else ResponseCode.SYSTEM_ERROR
        return Reply(code, ext=ext, remark=fault)
