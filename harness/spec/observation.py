"""What was done and what came of it, as the specification receives it.

- Times are protocol seconds on the clock of the target. Something that was invoked at a moment and returned
  at another was carried out at some moment between the two; where nothing was returned, at some moment after
  it was invoked, or never.
- One-way requests and our own closes return when they have been sent: they take effect at some later moment.
- A request that the server never had whole (`broken` before its end) is not observed; that its connection was
  reset is, as the `Close` that it comes to. So is an end that the target made: a `Close` whose outcome is
  `Ended`, which came to pass at some moment between invoked and returned.
- A request that was sent twice is observed twice, with one number and one interval.
"""

from __future__ import annotations

from typing import Literal, TypeAlias

import msgspec

from harness.program.steps import AnyStep
from harness.wire import Command, Mistyped


class Answered(msgspec.Struct, frozen=True):
    """A response with the opaque of the request."""

    command: Command
    event: int = -1
    """Number of the event of the trace that completed its frame; -1 where none is recorded."""
    mistyped: Mistyped | None = None
    """What is wrong with the types in its header."""


class Ended(msgspec.Struct, frozen=True):
    """The target ended the connection instead."""

    event: int = -1
    """Number of the event of the trace that says so; -1 where none is recorded."""


class Garbled(msgspec.Struct, frozen=True):
    """Bytes came back that are no command; the connection is of no use any more."""

    problem: str
    event: int = -1
    """Number of the event of the trace that brought them."""


class Unanswered(msgspec.Struct, frozen=True):
    """No answer. `surely`: the target answered something later on the same connection, so none will come.

    Without it the request may have been carried out, may be carried out yet, or never.
    """

    surely: bool = False


class HeardRequest(msgspec.Struct, frozen=True, kw_only=True):
    """A request that a Broker has sent to one of its NameServers."""

    which: int
    at: float
    """Protocol seconds on the clock of the Broker."""
    command: Command


class Heard(msgspec.Struct, frozen=True, kw_only=True):
    """What the NameServers of a Broker have heard from it since the last look."""

    requests: tuple[HeardRequest, ...]
    servers: int
    """How many NameServers there are."""


class Copied(msgspec.Struct, frozen=True, kw_only=True):
    """What has passed between a master and its slave."""

    answered: tuple[int, ...]
    """Steps under way that had been answered before anything passed."""
    began: int | None
    """Where the log of the slave ended, as it said on a connection that is new; None: it was connected."""
    is_connected: bool
    """Whether the slave has come."""
    pushes: tuple[tuple[int, bytes], ...] = ()
    """What the master has pushed: an offset of its log, and bytes."""
    end: int = 0
    """Where the log of the master ended before that."""
    carried: int = 0
    """Where what the slave was given ends."""
    reported: int | None = None
    """Where the log of the slave ended then, as it said last."""
    told: int | None = None
    """What the master was told of that."""
    at_master: float = 0.0
    """When that was, on the clock of the master."""


class TakenOver(msgspec.Struct, frozen=True, kw_only=True):
    """What a slave has got of what its master knows beside messages."""

    began: float
    """Before the master was asked for it, on the clock of the master."""
    ended: float
    offsets: Command | None
    """The answer of the master about the offsets of all groups, which the slave was given; None: there was
    none.
    """
    groups: bytes = b""
    """The groups that the slave was given."""
    is_asked: bool = True
    """Whether the slave has asked for the offsets."""
    is_sure: bool = True
    """Whether it is a slave that has to take them over."""


Outcome: TypeAlias = Answered | Ended | Garbled | Unanswered | Heard | Copied | TakenOver | None
"""None where no answer is due: one-way requests, closes, time."""


class Observation(msgspec.Struct, frozen=True, kw_only=True):
    """A step and what came of it."""

    number: int
    """Its place in the program."""
    step: AnyStep
    invoked: float
    """Before its first byte was sent, or its wait began."""
    returned: float
    """When its outcome was known."""
    outcome: Outcome = None
    asked: int = -1
    """Number of the event of the trace with its first byte, or with the close; -1 where none is recorded."""
    server: int = 0
    """Whose clock the times are of. Time that passes is observed once for each server."""


Presence: TypeAlias = Literal["missing", "surplus", "other"]


DEATH = "server-stays-alive"
FROZEN = "server-keeps-answering"
MISTYPED = "headers-have-plain-types"
"""Invariants of the whole server: which step shows that one is broken is chance."""
FAILURE_CODE = "failure code"
"""The aspect of a request that is refused as it must be, with another code than that of any failure."""


class Difference(msgspec.Struct, frozen=True):
    """Something in an answer that is not as predicted: missing, surplus, or another."""

    aspect: str
    """What kind of thing it is about: ``code``, ``address``, ``permission``, or the name of an ext field."""
    name: str
    """Whose: the name of a broker, a topic, a cluster, a key; "" for the whole answer."""
    presence: Presence
    expected: str
    actual: str
    id: int | None = None
    """The id of the broker whose address it is about."""


class Violation(msgspec.Struct, frozen=True, kw_only=True):
    """Something that the catalogue does not allow."""

    invariant: str
    """Name of the invariant."""
    statement: str
    """Id of the statement that it comes from."""
    expected: str
    """What is allowed, in names of the target."""
    actual: str
    """What was seen."""
    number: int
    """The step whose outcome shows it."""
    anomaly: str | None = None
    """Its name among the anomalies of histories (`harness.spec.history`), where it is of a named kind."""
    differences: tuple[Difference, ...] = ()
    """In what the answer differs, where it was held against a prediction: all that decides."""
