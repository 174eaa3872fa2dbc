"""Steps that only a Broker understands: what producers, consumers and administrators ask it.

Topics (``T0``, and ``%RETRY%g0`` and ``%DLQ%g0`` for those of a
group), groups (``g0``), clients (``c0``), keys (``k0``) and messages (``m0``) are symbols. A message has a
symbol of its own, which its body and its unique key are made of; where a Broker has put it is known from the
answer to its `Send`.
"""

from __future__ import annotations

from typing import ClassVar, Literal

from harness.program.broker.filters import Filter
from harness.program.step import Request, Step, name, plain
from harness.wire import RequestCode


class BrokerRequest(
    Request, frozen=True, kw_only=True, omit_defaults=True, tag_field="do", tag="broker-request"
):
    """What all of them are: whether a step is one costs one look, and not one for each of `AnyRequest`."""


class MakeTopic(
    BrokerRequest, frozen=True, kw_only=True, omit_defaults=True, tag_field="do", tag="make-topic"
):
    letters: ClassVar = "m"
    codes: ClassVar = (RequestCode.UPDATE_AND_CREATE_TOPIC,)
    carries: ClassVar = {
        "topic": name("topic"),
        "defaultTopic": "TBW102",
        "readQueueNums": plain("queues"),
        "writeQueueNums": plain("queues"),
        "perm": "6",
        "topicFilterType": "SINGLE_TAG",
        "topicSysFlag": "0",
        "order": "false",
    }

    topic: str = "T0"
    queues: int = 4


class DropTopic(
    BrokerRequest, frozen=True, kw_only=True, omit_defaults=True, tag_field="do", tag="drop-topic"
):
    letters: ClassVar = "x"
    codes: ClassVar = (RequestCode.DELETE_TOPIC_IN_BROKER,)
    carries: ClassVar = {"topic": name("topic")}

    topic: str = "T0"


class Send(BrokerRequest, frozen=True, kw_only=True, omit_defaults=True, tag_field="do", tag="send"):
    letters: ClassVar = "sbhw"
    rules: ClassVar = ("send", "send-batch", "send-half", "send-later")
    codes: ClassVar = (
        RequestCode.SEND_MESSAGE,
        RequestCode.SEND_MESSAGE_V2,
        RequestCode.SEND_BATCH_MESSAGE,
    )

    message: str = "m0"
    more: tuple[str, ...] = ()
    """Further messages: then it is a batch."""
    topic: str = "T0"
    queue: int = 0
    """-1 leaves it to the Broker."""
    long: bool = False
    """Code 10, whose header has long names."""
    tag: str | None = None
    keys: tuple[str, ...] = ()
    said: tuple[tuple[str, str], ...] = ()
    """Further properties of the producer: name and value of each."""
    flag: int = 0
    size: int = 0
    """The number of bytes behind the symbol in the body."""
    level: int = 0
    """Delay level."""
    after: int = 0
    """Seconds to wait by 5.x's timers."""
    half: bool = False
    """The first half of a transaction."""
    immune: int = 0
    """Seconds from its birth for which its producer is not to be asked about it. It was born when the Broker
    had last stored a message that a `View` has shown, as far as there was one.
    """
    group: str = "p0"
    """Of producers."""
    waits: bool = True
    """Whether its answer may wait for a slave."""

    @property
    def messages(self) -> tuple[str, ...]:
        """All of them."""
        return (self.message, *self.more)

    @property
    def rule(self) -> str:
        if self.half:
            return self.rules[2]
        return self.rules[3] if self.level or self.after else self.rules[bool(self.more)]


class End(BrokerRequest, frozen=True, kw_only=True, omit_defaults=True, tag_field="do", tag="end"):
    """37: the transaction of a message ends."""

    letters: ClassVar = "CRU"
    rules: ClassVar = ("commit-half", "roll-back-half", "end-unknown")
    codes: ClassVar = (RequestCode.END_TRANSACTION,)

    message: str = "m0"
    verdict: Literal[8, 12, 0] = 8
    """8 commits, 12 rolls back, 0 says that the producer does not know."""
    group: str = "p0"
    asked: bool = False
    """Whether it answers the last question of the Broker about the message, where there was one."""

    @property
    def rule(self) -> str:
        return self.rules[(8, 12, 0).index(self.verdict)]


class Pull(BrokerRequest, frozen=True, kw_only=True, omit_defaults=True, tag_field="do", tag="pull"):
    letters: ClassVar = "pP"
    rules: ClassVar = ("pull", "held-pull")
    codes: ClassVar = (RequestCode.PULL_MESSAGE,)

    group: str = "g0"
    topic: str = "T0"
    queue: int = 0
    offset: int = 0
    most: int = 32
    tags: tuple[str, ...] = ()
    """None: every message."""
    filter: Filter | None = None
    """By SQL92, in place of tags."""
    subscribes: bool = True
    """Whether it says what it wants; else the heartbeats of its group do."""
    commit: int | None = None
    """An offset to be stored."""
    suspend: int = 0
    """Seconds for which it may be held."""
    version: int = 1
    """Of the subscription that it knows."""

    @property
    def patience(self) -> float:
        return self.suspend + 5.0 if self.suspend else 0.0

    @property
    def rule(self) -> str:
        return self.rules[self.suspend > 0]


class Beat(BrokerRequest, frozen=True, kw_only=True, omit_defaults=True, tag_field="do", tag="beat"):
    """34: a client says which groups it is in."""

    letters: ClassVar = "k"
    codes: ClassVar = (RequestCode.HEART_BEAT,)

    client: str = "c0"
    groups: tuple[str, ...] = ()
    """Of consumers."""
    topics: tuple[str, ...] = ("T0",)
    """What each of these groups subscribes to."""
    tags: tuple[str, ...] = ()
    filter: Filter | None = None
    """By SQL92, of each of these topics, in place of tags."""
    producers: tuple[str, ...] = ()
    version: int = 1
    """Of the subscriptions."""


class Leave(BrokerRequest, frozen=True, kw_only=True, omit_defaults=True, tag_field="do", tag="leave"):
    letters: ClassVar = "l"
    codes: ClassVar = (RequestCode.UNREGISTER_CLIENT,)
    carries: ClassVar = {
        "clientID": name("client"),
        "consumerGroup": name("group"),
        "producerGroup": name("producer"),
    }

    client: str = "c0"
    group: str = "g0"
    producer: str | None = None
    """A group of producers that it leaves as well."""


class Members(BrokerRequest, frozen=True, kw_only=True, omit_defaults=True, tag_field="do", tag="members"):
    letters: ClassVar = "g"
    codes: ClassVar = (RequestCode.GET_CONSUMER_LIST_BY_GROUP,)
    carries: ClassVar = {"consumerGroup": name("group")}

    group: str = "g0"


class Commit(BrokerRequest, frozen=True, kw_only=True, omit_defaults=True, tag_field="do", tag="commit"):
    letters: ClassVar = "o"
    codes: ClassVar = (RequestCode.UPDATE_CONSUMER_OFFSET,)
    carries: ClassVar = {
        "consumerGroup": name("group"),
        "topic": name("topic"),
        "queueId": plain("queue"),
        "commitOffset": plain("offset"),
    }

    group: str = "g0"
    topic: str = "T0"
    queue: int = 0
    offset: int = 0


class Committed(
    BrokerRequest, frozen=True, kw_only=True, omit_defaults=True, tag_field="do", tag="committed"
):
    letters: ClassVar = "c"
    codes: ClassVar = (RequestCode.QUERY_CONSUMER_OFFSET,)
    carries: ClassVar = {"consumerGroup": name("group"), "topic": name("topic"), "queueId": plain("queue")}

    group: str = "g0"
    topic: str = "T0"
    queue: int = 0


class Bound(BrokerRequest, frozen=True, kw_only=True, omit_defaults=True, tag_field="do", tag="bound"):
    letters: ClassVar = "vne"
    rules: ClassVar = ("max-offset", "min-offset", "earliest-time")
    codes: ClassVar = (
        RequestCode.GET_MAX_OFFSET,
        RequestCode.GET_MIN_OFFSET,
        RequestCode.GET_EARLIEST_MSG_STORETIME,
    )
    carries: ClassVar = {"topic": name("topic"), "queueId": plain("queue")}

    topic: str = "T0"
    queue: int = 0
    code: Literal[30, 31, 32] = 30

    @property
    def rule(self) -> str:
        return self.rules[self.codes.index(self.code)]


class Back(BrokerRequest, frozen=True, kw_only=True, omit_defaults=True, tag_field="do", tag="back"):
    """36: a consumer sends a message back."""

    letters: ClassVar = "r"
    codes: ClassVar = (RequestCode.CONSUMER_SEND_MSG_BACK,)

    message: str = "m0"
    topic: str = "T0"
    """Where the consumer had it from."""
    group: str = "g0"
    level: int = 0
    again: bool = False
    """Whether it is the copy in the retry topic of the group, as a pull has shown it last."""
    most: int = 16
    """How often it may come back."""


class Lock(BrokerRequest, frozen=True, kw_only=True, omit_defaults=True, tag_field="do", tag="lock"):
    letters: ClassVar = "ju"
    rules: ClassVar = ("lock", "unlock")
    codes: ClassVar = (
        RequestCode.LOCK_BATCH_MQ,
        RequestCode.UNLOCK_BATCH_MQ,
    )

    client: str = "c0"
    group: str = "g0"
    topic: str = "T0"
    queues: tuple[int, ...] = (0,)
    code: Literal[41, 42] = 41

    @property
    def rule(self) -> str:
        return self.rules[self.codes.index(self.code)]


class Find(BrokerRequest, frozen=True, kw_only=True, omit_defaults=True, tag_field="do", tag="find"):
    """12: by key."""

    letters: ClassVar = "f"
    codes: ClassVar = (RequestCode.QUERY_MESSAGE,)

    topic: str = "T0"
    key: str = "k0"
    most: int = 32
    unique: bool = False
    """The key is that of the message of this symbol."""


class View(BrokerRequest, frozen=True, kw_only=True, omit_defaults=True, tag_field="do", tag="view"):
    """33: by the offset in the log."""

    letters: ClassVar = "i"
    codes: ClassVar = (RequestCode.VIEW_MESSAGE_BY_ID,)

    message: str = "m0"


class Offsets(BrokerRequest, frozen=True, kw_only=True, omit_defaults=True, tag_field="do", tag="offsets"):
    """43: all offsets of all groups."""

    letters: ClassVar = "a"
    codes: ClassVar = (RequestCode.GET_ALL_CONSUMER_OFFSET,)


class Clone(BrokerRequest, frozen=True, kw_only=True, omit_defaults=True, tag_field="do", tag="clone"):
    """314: a group gets the offsets of another in a topic."""

    letters: ClassVar = "d"
    codes: ClassVar = (RequestCode.CLONE_GROUP_OFFSET,)
    carries: ClassVar = {
        "srcGroup": name("group"),
        "destGroup": name("to"),
        "topic": name("topic"),
        "offline": "true",
    }

    group: str = "g0"
    to: str = "g1"
    topic: str = "T0"


class Reset(BrokerRequest, frozen=True, kw_only=True, omit_defaults=True, tag_field="do", tag="reset"):
    """222: an administrator sets the offset of a group in a queue."""

    letters: ClassVar = "t"
    codes: ClassVar = (RequestCode.INVOKE_BROKER_TO_RESET_OFFSET,)
    carries: ClassVar = {
        "topic": name("topic"),
        "group": name("group"),
        "queueId": plain("queue"),
        "offset": plain("offset"),
        "timestamp": "0",
        "isForce": "true",
    }

    group: str = "g0"
    topic: str = "T0"
    queue: int = 0
    offset: int = 0


class Status(BrokerRequest, frozen=True, kw_only=True, omit_defaults=True, tag_field="do", tag="status"):
    """202: the bounds of all queues of a topic."""

    letters: ClassVar = "q"
    codes: ClassVar = (RequestCode.GET_TOPIC_STATS_INFO,)
    carries: ClassVar = {"topic": name("topic")}

    topic: str = "T0"


class Clean(BrokerRequest, frozen=True, kw_only=True, omit_defaults=True, tag_field="do", tag="clean"):
    """306: queues without messages are removed."""

    letters: ClassVar = "z"
    codes: ClassVar = (RequestCode.CLEAN_EXPIRED_CONSUMEQUEUE,)


class Switch(BrokerRequest, frozen=True, kw_only=True, omit_defaults=True, tag_field="do", tag="switch"):
    """25: the Broker becomes a slave while it runs, or a master again."""

    letters: ClassVar = "MD"
    rules: ClassVar = ("promote", "demote")
    codes: ClassVar = (RequestCode.UPDATE_BROKER_CONFIG,)

    role: Literal["master", "slave"] = "master"

    @property
    def rule(self) -> str:
        return self.rules[self.role == "slave"]


class Force(BrokerRequest, frozen=True, kw_only=True, omit_defaults=True, tag_field="do", tag="force"):
    """25: whether a Broker registers in each round, or asks first whether anything has changed (322)."""

    letters: ClassVar = "y"
    codes: ClassVar = (RequestCode.UPDATE_BROKER_CONFIG,)

    force: bool = True


class BesideRequests(
    Step, frozen=True, kw_only=True, omit_defaults=True, tag_field="do", tag="beside-requests"
):
    """What all steps are that are about Brokers and no requests."""


class AboutNameServers(
    BesideRequests, frozen=True, kw_only=True, omit_defaults=True, tag_field="do", tag="about-nameservers"
):
    """What both steps about the NameServers of a Broker are."""

    server: int = 0
    """Whose NameServers they are, where there are several Brokers."""


class NameServer(
    AboutNameServers, frozen=True, kw_only=True, omit_defaults=True, tag_field="do", tag="nameserver"
):
    """How one of the NameServers of a Broker treats it from now on."""

    letters: ClassVar = "N"

    which: Literal[0, 1] = 0
    manner: Literal["well", "knows", "down", "silent", "refuses"] = "well"
    """It does as NameServers do that know nothing, or that know the Broker's topics; or it cannot be reached,
    answers no registration and no unregistration, or refuses registrations.
    """


class Hear(AboutNameServers, frozen=True, kw_only=True, omit_defaults=True, tag_field="do", tag="hear"):
    """It is looked at what the NameServers of a Broker have heard from it."""

    letters: ClassVar = "H"
