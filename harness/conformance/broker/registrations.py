"""What the cases about registration share: which requests are meant, and how long they are waited for."""

from __future__ import annotations

from harness.conformance import Between, Request
from harness.session import Answer, BrokerSession, NameServerView
from harness.session.heard import Where
from harness.wire import FLAG_ONEWAY, Command, RequestCode

__all__ = [
    "AT_START",
    "REGISTER",
    "all_topics",
    "all_topics_with",
    "announcement_of",
    "next_of_time",
    "of_topic",
    "seconds_later",
    "with_topic",
]

REGISTER = RequestCode.REGISTER_BROKER
AT_START = 25.0
"""Protocol seconds for the registration at the start: less than between two by default. A Broker of Apache's
5.3 misses it where it has not looked at its NameServers yet, as on a busy machine, and makes up for it 10 s
later.
"""
_EVERYWHERE = b"SELF_TEST_TOPIC"


def all_topics(command: Command) -> bool:
    """Whether a registration carries the whole table, and awaits an answer."""
    return _EVERYWHERE in command.body and not command.flag & FLAG_ONEWAY


def all_topics_with(topic: str) -> Where:
    """Which registrations carry the whole table, with a topic in it."""
    return lambda command: all_topics(command) and topic.encode() in command.body


def announcement_of(topic: str) -> Where:
    """Which registrations carry a topic, but for those that time brings."""
    return lambda command: topic.encode() in command.body and not all_topics(command)


def with_topic(topic: str) -> Where:
    """Which registrations carry a topic."""
    return lambda command: topic.encode() in command.body


def of_topic(topic: str) -> Where:
    """Which requests have a topic in their ext field of that name."""
    return lambda command: (command.ext or {}).get("topic") == topic


def next_of_time(
    bk: BrokerSession, since: Answer | None = None, period: float = 30.0, *, at: NameServerView | None = None
) -> Answer:
    """The next registration that time brings: after ``since``, or from now on."""
    server = at or bk.nameserver
    mark = since or bk.mark()
    heard = server.next(REGISTER, since=mark, within=period + bk.jitter, where=all_topics)
    return heard >> Request(REGISTER)


def seconds_later(bk: BrokerSession, since: Answer, seconds: float) -> Answer:
    """The next registration that time brings, so many seconds after ``since``."""
    latest = seconds + bk.jitter
    heard = bk.nameserver.next(REGISTER, since=since, within=latest, where=all_topics)
    return heard.seconds >> Request(REGISTER, Between(seconds - bk.jitter, latest))
