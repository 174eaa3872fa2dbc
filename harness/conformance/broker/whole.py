"""All of a message that a Broker stores once more, to be compared with what was sent."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from harness.catalogue.copies import MEMBERS, copies
from harness.conformance import ANYTHING, Matching, Reply
from harness.session import BrokerSession, Connection
from harness.session.broker.views import MessagesExchange
from harness.session.exchange import NotSo, View
from harness.wire import Command, ResponseCode, WireError
from harness.wire.messages import Message, SysFlag, decode_message

SUCCESS = ResponseCode.SUCCESS

OWN = {"TAGS": "A", "KEYS": "k", "mine": "Grüße", "WAIT": "true", "UNIQ_KEY": "0123456789ABCDEF" * 2}
"""Properties of a producer."""
BODY, QUEUE, FLAG, BORN, TIMES = "Körper".encode(), 2, -7, 1_234_567_890_123, 3
"""The rest of its message: body, queue, flag, time of birth, how often it was tried."""
SYS_FLAG = (SysFlag.COMPRESSED | SysFlag.COMPRESSION_ZLIB).value
"""Bits about its body, which a Broker does not look into."""
DERIVED = ("size", "body_crc")
"""Members of a message that follow from the others."""


def send_whole(
    bk: BrokerSession,
    topic: str,
    on: Connection,
    queue: int = QUEUE,
    /,
    *,
    most_tries: str | None = None,
    **properties: str,
) -> str:
    """Sends this message, with more properties. Returns the id that the Broker gives it."""
    sent = bk.send(
        topic,
        BODY,
        queue,
        properties={**OWN, **properties},
        sys_flag=SYS_FLAG,
        flag_of_user=FLAG,
        born=BORN,
        reconsumed=TIMES,
        ext=None if most_tries is None else {"l": most_tries},
        on=on,
    )
    return str((sent.ids >> Reply(SUCCESS)).value[0])


def send_batch_of_wholes(bk: BrokerSession, topic: str, on: Connection) -> None:
    """Sends this message twice, in a batch."""
    message = Message(topic=topic, body=BODY, flag=FLAG, properties=OWN)
    batch = bk.send_batch(
        topic, [message, message], QUEUE, sys_flag=SYS_FLAG, born=BORN, reconsumed=TIMES, on=on
    )
    batch >> Reply(SUCCESS)


def plain_properties(bk: BrokerSession, on: Connection) -> dict[str, str]:
    """The properties with which the message is stored that nothing is special about."""
    topic = bk.topic("plain")
    send_whole(bk, topic, on)
    found = bk.pull(topic, QUEUE).properties.eventually() >> Reply(SUCCESS, [ANYTHING])
    return dict(found.value[0])


def sent_members(bk: BrokerSession, topic: str, on: Connection) -> dict[str, Any]:
    """The members of this message where it is stored as it was sent, from this connection."""
    values = (topic, BODY, QUEUE, FLAG, SYS_FLAG, BORN, on.peer, bk.broker_address, TIMES, 0)
    return dict(zip(MEMBERS, values, strict=True))


def _members(message: Message) -> dict[str, Any]:
    return {name: getattr(message, field) for name, field in MEMBERS.items()}


def judge_copy(
    found: MessagesExchange,
    name: str,
    sent: Mapping[str, Any],
    properties: Mapping[str, object],
    **given: Any,
) -> None:
    """Judges the one message that was found by a row of `specs/copies.yaml`.

    `sent` and `properties` are those of the message that was sent; `given` is what words in braces stand for,
    beside its topic, its queue and the Broker's address.
    """
    copy = copies()[name]
    words = {"topic": sent["topic"], "queue": sent["queue"], "broker": sent["store host"], **given}
    words["tried"] = sent["times tried"] + 1
    words["committed"] = sent["system flag"] | SysFlag.TRANSACTION_COMMIT.value
    words["level - 1"] = words.get("level", 0) - 1
    changed = {member: type(sent[member])(text.format(**words)) for member, text in copy.members.items()}
    line = found.session.profile.name
    added = {key: _expected(text, words) for key, text in copy.added(line).items()}
    found.properties.eventually() >> Reply(SUCCESS, [{**properties, **added}])
    found.seen("members", _members) >> Reply(SUCCESS, [{**sent, **changed}])


def _expected(text: str, words: Mapping[str, object]) -> object:
    return Matching(f"^{text[1:]}$") if text.startswith("~") else text.format(**words)


def entire(message: Message) -> dict[str, Any]:
    """Every member of a message that does not follow from the others."""
    return {name: getattr(message, name) for name in Message.__struct_fields__ if name not in DERIVED}


def pulled(bk: BrokerSession, topic: str, queue: int = 0, offset: int = 0) -> dict[str, Any]:
    """The message of a queue that lies there, as a pull returns it, and as all others must."""
    found = bk.pull(topic, queue, offset, most=1).seen("message", entire).eventually()
    return dict((found >> Reply(SUCCESS, [ANYTHING])).value[0])


def viewed(bk: BrokerSession, offset: int) -> dict[str, Any]:
    """The message that lies at an offset in the log, as VIEW_MESSAGE_BY_ID returns it."""
    found = bk.view(offset).seen("message", entire).eventually()
    return dict((found >> Reply(SUCCESS, [ANYTHING])).value[0])


def pushed(command: Command) -> dict[str, Any]:
    """The message in a request of the Broker's."""
    try:
        return entire(decode_message(command.body))
    except WireError as problem:
        raise NotSo(f"no message: {problem}") from problem


PUSHED = View("message", pushed)
