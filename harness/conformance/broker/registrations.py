"""Helpers for the cases about registration: predicates on requests, and waits for them."""

from __future__ import annotations

from harness.conformance import Between, Request
from harness.session import Answer, BrokerSession, NameServerView
from harness.session.probing.received import Where
from harness.wire import FLAG_ONEWAY, Command, RequestCode

REGISTER = RequestCode.REGISTER_BROKER
AT_START = 25.0
"""Protocol seconds to wait for the registration at the start: less than the default period. Apache's 5.3
Broker skips that registration if it has not looked at its NameServers yet, as on a busy machine, and makes up
for it 10 s later.
"""
STOPPING = 400.0
"""Protocol seconds to wait: a Broker of 4.9 unregisters last, once everything else has stopped."""
EVERY_SECOND = {"registerNameServerPeriod": "1000", "unused": "{nameserver2}"}
"""The shortest period, ten seconds. The second NameServer serves as the address of a master."""
CATCHES_UP = 8.0
"""Protocol seconds in which a Broker that was at rest does all that was due meanwhile."""
_EVERYWHERE = b"SELF_TEST_TOPIC"


def all_topics(command: Command) -> bool:
    """Whether a registration carries the whole table, and awaits an answer."""
    return _EVERYWHERE in command.body and not command.flag & FLAG_ONEWAY


def all_topics_with(topic: str) -> Where:
    """Registrations that carry the whole table, with this topic in it."""
    return lambda command: all_topics(command) and topic.encode() in command.body


def announcement_of(topic: str) -> Where:
    """Registrations that carry a topic, except periodic ones."""
    return lambda command: topic.encode() in command.body and not all_topics(command)


def with_topic(topic: str) -> Where:
    """Registrations that carry a topic."""
    return lambda command: topic.encode() in command.body


def of_topic(topic: str) -> Where:
    """Requests whose ext field `topic` is this one."""
    return lambda command: (command.ext or {}).get("topic") == topic


def next_of_time(
    bk: BrokerSession, since: Answer | None = None, period: float = 30.0, *, at: NameServerView | None = None
) -> Answer:
    """The next periodic registration after ``since``, or from now on.

    What a NameServer was just made to answer, it answers from now on: a Broker that makes up for what was
    due while it was at rest may have sent several after ``since``.
    """
    server = at or bk.nameserver
    mark = since or bk.mark()
    heard = server.next(REGISTER, since=mark, within=period + bk.jitter, where=all_topics)
    return heard >> Request(REGISTER)


def next_in_time(bk: BrokerSession, period: float) -> Answer:
    """The next periodic registration that is no late one: a Broker that was at rest first makes up for what
    was due meanwhile.
    """
    bk.advance(CATCHES_UP)
    return next_of_time(bk, period=period)


def seconds_later(bk: BrokerSession, since: Answer, seconds: float) -> Answer:
    """The next periodic registration, which must come this many seconds after ``since``."""
    latest = seconds + bk.jitter
    heard = bk.nameserver.next(REGISTER, since=since, within=latest, where=all_topics)
    return heard.seconds >> Request(REGISTER, Between(seconds - bk.jitter, latest))
