"""Filters and messages drawn at random, and a client that asks a Broker for both in one go."""

from __future__ import annotations

import random
from collections.abc import Iterable, Mapping

import msgspec

from harness.session import connect
from harness.wire import Command, FrameBuffer, decode, encode
from harness.wire.messages import decode_messages, encode_properties

NAMES = ("a", "b", "c", "Aa", "$x", "_y1", "TAGS", "missing", "note", "inn")
VALUES = (
    *("0", "1", "2", "-1", "+1", "007", "10", "2147483647", "2147483648", "-2147483648", "-2147483649"),
    *(
        "9223372036854775807",
        "9223372036854775808",
        "-9223372036854775808",
        "1_0",
        "٣",
        "1L",
        "0x10",
        " 1",
        "1 ",
    ),
    *(
        "1.0",
        "1.5",
        ".5",
        "5.",
        "1e3",
        "1E-3",
        "1d",
        "2f",
        "-0.0",
        "0.0",
        "NaN",
        "-Infinity",
        "1e999",
        "0x1p3",
        "inf",
    ),
    *("true", "TRUE", "False", "null", "x", "abc", "Abc", "it's", "'", "Grün", "北京", "𝄞", "a b", "%"),
)
WHOLE = ("0", "1", "2", "7", "10", "5L", "3l", "2147483647", "2147483648", "9223372036854775807")
ODD_WHOLE = ("012", "0L", "9223372036854775808", "99999999999999999999999", "0x10", "1_0")
FLOATS = ("1.0", "1.5", ".5", "5.", "1e3", "1E-3", "10.0", "4.9e-324", "1e308", "2147483648.0")
ODD_FLOATS = ("0.0", "0e5", "1e-400", "1e400", "1.0f", "1.5.5")
BLANKS = (" ", " ", " ", " ", "  ", "\t", "\n", "\r\n", "\f", "/* no * more */", "/**/", "-- rest\n")
LEFTOVERS = (" x", " )", " 1", " = ", " AND", " OR 1", " NOT", ";", " !", " 'open", " --", " /*", " IS")
"""What may stand behind an expression. Apache's parser passes over some of it."""


class Drawn:
    """Filters and properties, the same for the same seed."""

    def __init__(self, seed: int) -> None:
        self._random = random.Random(seed)

    def properties(self) -> dict[str, str]:
        names = self._random.sample([name for name in NAMES if name != "missing"], self._random.randint(0, 6))
        return {name: self._random.choice(VALUES) for name in names}

    def filter(self) -> str:
        return self._any(2) + (self._random.choice(LEFTOVERS) if self._random.random() < 0.4 else "")

    def _any(self, depth: int) -> str:
        """A condition in most cases."""
        if depth == 0:
            return self._random.choice(NAMES) if self._random.random() < 0.3 else self._comparison(0)
        kind = self._random.randrange(12)
        if kind < 4:
            return self._spaced(self._any(depth - 1), self._word("AND", "OR"), self._any(depth - 1))
        if kind == 4:
            return f"({self._any(depth - 1)})"
        if kind == 5:
            return self._spaced(self._word("NOT"), self._any(depth - 1))
        if kind == 6 and self._is_odd():
            return self._spaced(self._random.choice("+-"), self._any(depth - 1))
        return self._comparison(depth)

    def _comparison(self, depth: int) -> str:
        negation = [self._word("NOT")] if self._random.random() < 0.4 else []
        kind = self._random.randrange(10)
        if kind < 3:
            left = f"({self._any(depth - 1)})" if depth and self._is_odd() else self._operand()
            return self._spaced(left, self._random.choice(("=", "<>")), self._operand())
        left = self._operand() if self._is_odd() else self._random.choice(NAMES)
        if kind < 6:
            return self._spaced(left, self._random.choice((">", ">=", "<", "<=")), self._number())
        if kind == 6:
            return self._spaced(left, self._word("IS"), *negation, self._word("NULL"))
        if kind == 7:
            bounds = (self._number(), self._word("AND"), self._number())
            return self._spaced(left, *negation, self._word("BETWEEN"), *bounds)
        if kind == 8:
            texts = ",".join(self._text() for _ in range(self._random.randint(1, 6)))
            return self._spaced(left, *negation, self._word("IN"), f"({texts})")
        word = self._word("CONTAINS", "STARTSWITH", "ENDSWITH")
        return self._spaced(left, *negation, word, self._text())

    def _number(self) -> str:
        """What can be compared by order, in most cases."""
        kinds = (NAMES, WHOLE, WHOLE, FLOATS)
        return self._operand() if self._is_odd() else self._random.choice(self._random.choice(kinds))

    def _operand(self) -> str:
        kind = self._random.randrange(20)
        if kind < 10:
            return self._random.choice(NAMES)
        if kind < 14:
            return self._random.choice((*WHOLE, *FLOATS))
        if kind < 17:
            return self._text()
        if kind == 17:
            return self._word("TRUE", "FALSE")
        if kind == 18:
            return self._random.choice("+-") + self._operand()
        return self._random.choice((*ODD_WHOLE, *ODD_FLOATS, "NULL", "==", "!"))

    def _is_odd(self) -> bool:
        return self._random.random() < 0.15

    def _text(self) -> str:
        text = self._random.choice((*VALUES, "", "b", "1"))
        return "'" + text.replace("'", "''") + "'"

    def _word(self, *words: str) -> str:
        word = self._random.choice(words)
        return self._random.choice((word, word, word.lower(), word.capitalize()))

    def _spaced(self, *parts: str) -> str:
        return "".join(f"{part}{self._random.choice(BLANKS)}" for part in parts)


class Asking:
    """Requests to one Broker, sent together."""

    def __init__(self, address: str, version: int) -> None:
        host, _, port = address.rpartition(":")
        self._transport = connect(host, int(port))
        self._version = version

    def all(self, requests: Iterable[tuple[int, Mapping[str, str], bytes]]) -> list[Command]:
        """The replies, in the order of the requests."""
        sent = list(requests)
        for number, (code, ext, body) in enumerate(sent):
            command = Command(code=code, opaque=number, version=self._version, ext=dict(ext), body=body)
            self._transport.send(encode(command))
        buffer, replies = FrameBuffer(), dict[int, Command]()
        while len(replies) < len(sent):
            while (frame := buffer.next_frame()) is None:
                buffer.feed(self._transport.receive(30.0))
            reply = decode(frame)
            if reply.is_response:  # and no notification
                replies[reply.opaque] = reply
        return [replies[number] for number in range(len(sent))]

    def close(self) -> None:
        self._transport.close("fin")


def send(topic: str, body: str, properties: Mapping[str, str]) -> tuple[int, dict[str, str], bytes]:
    """SEND_MESSAGE (10) to queue 0."""
    ext = {
        "producerGroup": "PG",
        "topic": topic,
        "defaultTopic": "TBW102",
        "defaultTopicQueueNums": "1",
        "queueId": "0",
        "sysFlag": "0",
        "bornTimestamp": "1700000000000",
        "flag": "0",
        "properties": encode_properties(dict(properties), True),
        "reconsumeTimes": "0",
        "unitMode": "false",
        "batch": "false",
    }
    return 10, ext, body.encode()


def pull(topic: str, expression: str) -> tuple[int, dict[str, str], bytes]:
    """PULL_MESSAGE (11) of queue 0 with a filter of its own."""
    ext = {
        "consumerGroup": "CG",
        "topic": topic,
        "queueId": "0",
        "queueOffset": "0",
        "maxMsgNums": "32",
        "sysFlag": "4",
        "commitOffset": "0",
        "suspendTimeoutMillis": "0",
        "subscription": expression,
        "subVersion": "1",
        "expressionType": "SQL92",
    }
    return 11, ext, b""


def check(topic: str, expression: str) -> tuple[int, dict[str, str], bytes]:
    """CHECK_CLIENT_CONFIG (46)."""
    subscription = {"topic": topic, "subString": expression, "expressionType": "SQL92", "subVersion": 1}
    said = {"clientId": "client", "group": "CG", "subscriptionData": subscription}
    return 46, {}, msgspec.json.encode(said)


def bodies(reply: Command) -> list[str]:
    """Of the messages in a reply to a pull."""
    return [message.body.decode() for message in decode_messages(reply.body or b"")]
