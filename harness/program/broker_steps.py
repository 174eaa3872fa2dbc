"""Steps that only a Broker understands: what producers, consumers and administrators ask it.

Rules of this module: those of `steps`. Topics (``T0``, and ``%RETRY%g0`` and ``%DLQ%g0`` for those of a
group), groups (``g0``), clients (``c0``), keys (``k0``) and messages (``m0``) are symbols. A message has a
symbol of its own, which its body and its unique key are made of; where a Broker has put it is known from the
answer to its `Send`.
"""

from __future__ import annotations

from typing import Literal

from harness.program.step import Request

__all__ = [
    "BROKER_TITLES",
    "AnyBrokerRequest",
    "Back",
    "Beat",
    "Bound",
    "Commit",
    "Committed",
    "DropTopic",
    "End",
    "Find",
    "Leave",
    "Lock",
    "MakeTopic",
    "Members",
    "Pull",
    "Send",
    "Switch",
    "View",
]


class MakeTopic(Request, frozen=True, kw_only=True, omit_defaults=True, tag_field="do", tag="make-topic"):
    """17."""

    topic: str = "T0"
    queues: int = 4


class DropTopic(Request, frozen=True, kw_only=True, omit_defaults=True, tag_field="do", tag="drop-topic"):
    """215."""

    topic: str = "T0"


class Send(Request, frozen=True, kw_only=True, omit_defaults=True, tag_field="do", tag="send"):
    """310 or 10, and 320 for several messages."""

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
    flag: int = 0
    size: int = 0
    """So many bytes follow behind the symbol in the body."""
    level: int = 0
    """Delay level."""
    after: int = 0
    """Seconds to wait by 5.x's timers."""
    half: bool = False
    """The first half of a transaction."""
    group: str = "p0"
    """Of producers."""

    @property
    def messages(self) -> tuple[str, ...]:
        """All of them."""
        return (self.message, *self.more)


class End(Request, frozen=True, kw_only=True, omit_defaults=True, tag_field="do", tag="end"):
    """37: the transaction of a message ends."""

    message: str = "m0"
    verdict: Literal[8, 12] = 8
    """8 commits, 12 rolls back."""
    group: str = "p0"


class Pull(Request, frozen=True, kw_only=True, omit_defaults=True, tag_field="do", tag="pull"):
    """11."""

    group: str = "g0"
    topic: str = "T0"
    queue: int = 0
    offset: int = 0
    most: int = 32
    tags: tuple[str, ...] = ()
    """None: every message."""
    subscribes: bool = True
    """Whether it says what it wants; else the heartbeats of its group do."""
    commit: int | None = None
    """An offset to be stored."""
    suspend: int = 0
    """Seconds for which it may be held."""

    @property
    def patience(self) -> float:
        return self.suspend + 5.0 if self.suspend else 0.0


class Beat(Request, frozen=True, kw_only=True, omit_defaults=True, tag_field="do", tag="beat"):
    """34: a client says which groups it is in."""

    client: str = "c0"
    groups: tuple[str, ...] = ()
    """Of consumers."""
    topics: tuple[str, ...] = ("T0",)
    """What each of these groups subscribes to."""
    tags: tuple[str, ...] = ()
    producers: tuple[str, ...] = ()
    version: int = 1
    """Of the subscriptions."""


class Leave(Request, frozen=True, kw_only=True, omit_defaults=True, tag_field="do", tag="leave"):
    """35."""

    client: str = "c0"
    group: str = "g0"


class Members(Request, frozen=True, kw_only=True, omit_defaults=True, tag_field="do", tag="members"):
    """38."""

    group: str = "g0"


class Commit(Request, frozen=True, kw_only=True, omit_defaults=True, tag_field="do", tag="commit"):
    """15."""

    group: str = "g0"
    topic: str = "T0"
    queue: int = 0
    offset: int = 0


class Committed(Request, frozen=True, kw_only=True, omit_defaults=True, tag_field="do", tag="committed"):
    """14."""

    group: str = "g0"
    topic: str = "T0"
    queue: int = 0


class Bound(Request, frozen=True, kw_only=True, omit_defaults=True, tag_field="do", tag="bound"):
    """30 (the greatest offset) and 31 (the least)."""

    topic: str = "T0"
    queue: int = 0
    code: Literal[30, 31] = 30


class Back(Request, frozen=True, kw_only=True, omit_defaults=True, tag_field="do", tag="back"):
    """36: a consumer sends a message back."""

    message: str = "m0"
    topic: str = "T0"
    """Where the consumer had it from."""
    group: str = "g0"
    level: int = 0


class Lock(Request, frozen=True, kw_only=True, omit_defaults=True, tag_field="do", tag="lock"):
    """41 (lock) and 42 (unlock)."""

    client: str = "c0"
    group: str = "g0"
    topic: str = "T0"
    queues: tuple[int, ...] = (0,)
    code: Literal[41, 42] = 41


class Find(Request, frozen=True, kw_only=True, omit_defaults=True, tag_field="do", tag="find"):
    """12: by key."""

    topic: str = "T0"
    key: str = "k0"
    unique: bool = False
    """The key is that of the message of this symbol."""


class View(Request, frozen=True, kw_only=True, omit_defaults=True, tag_field="do", tag="view"):
    """33: by the offset in the log."""

    message: str = "m0"


class Switch(Request, frozen=True, kw_only=True, omit_defaults=True, tag_field="do", tag="switch"):
    """25: the Broker becomes a slave while it runs, or a master again."""

    role: Literal["master", "slave"] = "master"


AnyBrokerRequest = (
    MakeTopic
    | DropTopic
    | Send
    | End
    | Pull
    | Beat
    | Leave
    | Members
    | Commit
    | Committed
    | Bound
    | Back
    | Lock
    | Find
    | View
    | Switch
)

BROKER_TITLES: dict[type, str] = {
    MakeTopic: "create topic (17)",
    DropTopic: "delete topic (215)",
    Send: "send (10, 310, 320)",
    End: "end of a transaction (37)",
    Pull: "pull (11)",
    Beat: "heartbeat of a client (34)",
    Leave: "departure of a client (35)",
    Members: "clients of a group (38)",
    Commit: "commit offset (15)",
    Committed: "committed offset (14)",
    Bound: "greatest and least offset (30, 31)",
    Back: "send back (36)",
    Lock: "lock and unlock queues (41, 42)",
    Find: "messages by key (12)",
    View: "message by id (33)",
    Switch: "change of role (25)",
}
