"""What a controller holds of one broker name, in one of the states that are possible. Values only.

Sources: `ReplicasInfoManager`, `DefaultBrokerHeartbeatManager`; statements ns.controller.*.
"""

from __future__ import annotations

from collections.abc import Iterable
from math import inf
from typing import Final, Literal, TypeAlias

import msgspec

from harness.program.nameserver import controller_steps as ctl

FIRST_ID: Final = 1
"""The id that the first replica of a name must apply for."""
LOWEST: Final = (1 << 31) - 1
"""The rank in elections of a heartbeat that says none."""
BY_DEFAULT: Final = 10.0
"""Protocol seconds for which a heartbeat counts that does not say it."""

Identity: TypeAlias = tuple[str, int]
"""Cluster and id: with the broker name, what a heartbeat is about."""


class Live(msgspec.Struct, frozen=True):
    """A replica that was heard. The latest heartbeat was taken in between `begin` and `end`."""

    begin: float
    end: float
    lasts: float
    """Protocol seconds."""
    conns: frozenset[str]
    """Connections of which the end may be its end: a server may go by any over which it was heard."""
    epoch: int = -1
    log_end: int = -1
    priority: int = LOWEST

    @property
    def rank(self) -> tuple[int, int, int]:
        """What candidates are sorted by, the best first; equal ones may win alike."""
        return (-self.epoch, -self.log_end, self.priority)


class Member(msgspec.Struct, frozen=True):
    """A replica that has an id."""

    address: str
    check_code: str


class Pending(msgspec.Struct, frozen=True):
    """Something that may come to pass from `begin` on, and has by `until`.

    ``end``: a connection has ended; ``gone``: a replica that was heard lives no more; ``again``: the
    controller, which found no master, looks again; ``request``: a request without an answer. The last two may
    also never come to pass.
    """

    what: Literal["end", "gone", "again", "request"]
    begin: float
    until: float
    conn: str = ""
    id: int = 0
    why: str = ""
    times: int = 0
    step: ctl.AnyRequest | None = None

    @property
    def is_sure(self) -> bool:
        """Whether it must have come to pass in the end."""
        return self.what in ("end", "gone")


class State(msgspec.Struct, frozen=True):
    """Of one broker name."""

    known: bool = False
    cluster: str = ""
    """That of the first replica."""
    given: int = 0
    """How many ids were taken."""
    members: tuple[tuple[int, Member], ...] = ()
    """By id."""
    master: int | None = None
    master_epoch: int = 0
    in_sync: frozenset[int] = frozenset()
    set_epoch: int = 0
    live: tuple[tuple[Identity, Live], ...] = ()
    """What was heard, of any cluster, whether the name is known or not."""
    fell: tuple[tuple[Identity, str], ...] = ()
    """Why what was heard counts no more: ``lost`` or ``expired``."""
    pending: tuple[Pending, ...] = ()
    missed: float = inf
    """Since when a master that does not live is missed, though another replica lives."""
    before: tuple[frozenset[bool], float] = (frozenset(), -inf)
    """In which ways replicas out of sync may be treated besides, and until when: elections may have been due
    when the setting was changed.
    """
    was: str = ""
    """What was done last: by it breaches are named."""

    def member(self, number: int | None) -> Member | None:
        """The replica with an id."""
        return next((one for known, one in self.members if known == number), None)

    def address(self, number: int | None) -> str | None:
        """Where the replica with an id is."""
        found = self.member(number)
        return None if found is None else found.address

    def heard(self, number: int, cluster: str | None = None) -> Live | None:
        """What was heard of an id, in the cluster of the name where none is given."""
        wanted = (self.cluster if cluster is None else cluster, number)
        return next((one for identity, one in self.live if identity == wanted), None)

    def with_member(self, number: int, member: Member) -> State:
        """The same, where the replica with this id is so."""
        members = dict(self.members) | {number: member}
        return msgspec.structs.replace(self, members=tuple(sorted(members.items())))

    def with_live(self, identity: Identity, live: Live) -> State:
        """The same, where this was heard of a replica."""
        heard = dict(self.live) | {identity: live}
        return msgspec.structs.replace(
            self,
            live=tuple(sorted(heard.items(), key=lambda one: one[0])),
            fell=tuple(one for one in self.fell if one[0] != identity),
        )

    def without_live(self, identity: Identity, why: str) -> State:
        """The same, where a replica counts as dead."""
        return msgspec.structs.replace(
            self,
            live=tuple(one for one in self.live if one[0] != identity),
            fell=tuple(sorted((dict(self.fell) | {identity: why}).items())),
        )

    def expecting(self, *pending: Pending) -> State:
        """The same, where this may come to pass besides."""
        return msgspec.structs.replace(self, pending=(*self.pending, *pending))

    def without(self, pending: Pending) -> State:
        """The same, where that has come to pass, or never does."""
        left = tuple(one for one in self.pending if one is not pending)
        return msgspec.structs.replace(self, pending=left)

    def led_by(self, number: int, was: str) -> State:
        """The same after an election that this replica has won, which ``was`` names if it was in sync."""
        if self.in_sync and number not in self.in_sync:
            was = "unclean"
        return msgspec.structs.replace(
            self,
            master=number,
            master_epoch=self.master_epoch + 1,
            in_sync=frozenset((number,)),
            set_epoch=self.set_epoch + 1,
            missed=inf,
            was=was,
        )

    def without_master(self) -> State:
        """The same after an election of the controller's own that no replica has won."""
        return msgspec.structs.replace(
            self, master=None, master_epoch=self.master_epoch + 1, missed=inf, was="none"
        )

    def forgotten(self, was: str) -> State:
        """The same where the name is forgotten: what was heard is not."""
        return State(live=self.live, pending=self.pending, was=was)

    def without_members(self, numbers: Iterable[int]) -> State:
        """The same where these replicas are forgotten, but not their ids."""
        gone = frozenset(numbers)
        return msgspec.structs.replace(
            self,
            members=tuple(one for one in self.members if one[0] not in gone),
            in_sync=self.in_sync - gone,
            was="cleaned",
        )
