"""What a small program has, for the rules that name statements by it."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import cached_property
from typing import NamedTuple, TypeVar

from harness.catalogue import catalogue
from harness.program.steps import (
    AnyStep,
    ClusterInfo,
    Configuration,
    Configure,
    Heartbeat,
    MemberGroup,
    QueryVersion,
    Register,
    Route,
    SystemTopics,
    Time,
    Topics,
    TopicsOfCluster,
    Unregister,
)

__all__ = ["LEASE", "Rule", "Small", "about", "lone"]

_LOOKS = (Route, ClusterInfo, Topics, MemberGroup, TopicsOfCluster, SystemTopics, Configuration)

LEASE = 120_000
"""Milliseconds (`BrokerLiveInfo`, both lines)."""

_PAIR = re.compile(r"[ \t]*([^#!=: \t][^=: \t]*)(?:=|[ \t]*[:= \t])(.*)", re.DOTALL)
"""A line of properties: a key, a separator, a value."""

S = TypeVar("S", bound=AnyStep)


class Small:
    """A program that was made small."""

    def __init__(self, program: Sequence[AnyStep]) -> None:
        self._program = program
        self.last = program[-1] if program else Time()

    def all(self, kind: type[S]) -> list[S]:
        """Its steps of a kind, in order."""
        return [one for one in self._program if isinstance(one, kind)]

    def has(self, kind: type[S], such: Callable[[S], object] = lambda _: True) -> bool:
        """Whether it has a step of a kind, of which more is true."""
        return any(such(one) for one in self.all(kind))

    def has_only(self, *kinds: type[AnyStep]) -> bool:
        """Whether all its steps are of these kinds."""
        return all(isinstance(one, kinds) for one in self._program)

    def said(self, field: str) -> object:
        """What the last step says in a field; None where it has no such field."""
        return getattr(self.last, field, None)

    @cached_property
    def registrations(self) -> list[Register]:
        """All of them."""
        return self.all(Register)

    @cached_property
    def again(self) -> list[tuple[Register, Register]]:
        """Registrations of one address under one name, each with the one before."""
        return list(self._repeated(lambda one: (one.server, one.broker, one.address)))

    @cached_property
    def of_a_name(self) -> list[tuple[Register, Register]]:
        """The same of one name, whatever the address."""
        return list(self._repeated(lambda one: (one.server, one.broker)))

    def _repeated(self, key: Callable[[Register], object]) -> Iterator[tuple[Register, Register]]:
        latest: dict[object, Register] = {}
        for one in self.registrations:
            if (before := latest.get(key(one))) is not None:
                yield before, one
            latest[key(one)] = one

    @cached_property
    def outlived(self) -> tuple[Register | None, list[Register]]:
        """Of several addresses the one whose lease was the first to end, if one has ended, and those whose
        leases had not.
        """
        at, ends = 0.0, dict[object, tuple[float, Register]]()
        for one in self._program:
            if isinstance(one, Time):
                at += one.seconds
            elif isinstance(one, Register):
                lease = (one.lease or LEASE) / 1000
                ends[one.server, one.address] = (at + lease, one)
            elif isinstance(one, Heartbeat | QueryVersion) and (one.server, one.address) in ends:
                known = ends[one.server, one.address][1]
                ends[one.server, one.address] = (at + (known.lease or LEASE) / 1000, known)
        over = sorted((end, number, one) for number, (end, one) in enumerate(ends.values()) if end < at)
        return (over[0][2] if over else None), [one for end, one in ends.values() if end >= at]

    def changes(self, field: str) -> bool:
        """Whether a broker registers again and says something else in a field."""
        return any(getattr(one, field) != getattr(other, field) for one, other in self.again)

    @property
    def announces_again(self) -> bool:
        """Whether a topic is announced again, be it by another broker."""
        announced = [(one.server, topic) for one in self.registrations for topic in one.topics]
        return len(set(announced)) < len(announced)

    @property
    def has_equal_version(self) -> bool:
        """Whether a broker registers again with the data version that it had."""
        return any(_version(one) == _version(other) for one, other in self.again)

    @property
    def has_changed_version(self) -> bool:
        """Whether a broker registers again with another data version."""
        return any(_version(one) != _version(other) for one, other in self.again)

    @property
    def has_slaves(self) -> bool:
        """Whether there are ids other than 0."""
        return any(one.id for one in self.registrations)

    @property
    def has_several_names(self) -> bool:
        """Whether brokers of more than one name register."""
        return len({one.broker for one in self.registrations}) > 1

    @property
    def changes_cluster(self) -> bool:
        """Whether a name registers with another cluster than before."""
        return any(one.cluster != other.cluster for one, other in self.of_a_name)

    @property
    def has_masters(self) -> bool:
        """Whether somebody registers with the id 0."""
        return any(not one.id for one in self.registrations)

    def has_slaves_alone(self, broker: object) -> bool:
        """Whether a name is registered, and never with the id 0."""
        ids = [one.id for one in self.registrations if one.broker == broker]
        return bool(ids) and all(ids)

    def knows(self, broker: object) -> bool:
        """Whether a name is registered."""
        return any(one.broker == broker for one in self.registrations)

    def leaves_otherwise(self, such: Callable[[Register, Unregister], object]) -> bool:
        """Whether an address unregisters, and its registration and that request differ so."""
        return self.has(
            Unregister,
            lambda gone: any(such(one, gone) for one in self.registrations if one.address == gone.address),
        )

    def asks_otherwise(self, such: Callable[[Register, QueryVersion], object]) -> bool:
        """Whether it asks for the data version of an address, and registration and question differ so."""
        return self.has(
            QueryVersion,
            lambda asked: any(such(one, asked) for one in self.registrations if one.address == asked.address),
        )

    @property
    def looked_before(self) -> bool:
        """Whether what is asked last was asked before a change, too."""
        return isinstance(self.last, _LOOKS) and len(self.all(type(self.last))) > 1

    @cached_property
    def lines(self) -> list[str]:
        """Of all updates of settings."""
        return [line for one in self.all(Configure) for line in one.lines]

    @cached_property
    def settings(self) -> list[tuple[str, str]]:
        """Keys and values of the lines that are pairs, values as they are written."""
        pairs = (_PAIR.fullmatch(line) for line in self.lines)
        return [(pair[1], pair[2]) for pair in pairs if pair is not None]

    def sets(self, *keys: str) -> bool:
        """Whether one of these settings is written."""
        return any(key in keys for key, _ in self.settings)


def _version(one: Register) -> tuple[int, int, int | None]:
    return one.counter, one.timestamp, one.state


class Rule(NamedTuple):
    """A statement, the invariants that it makes more precise, and what a program has that speaks of it."""

    statement: str
    invariants: frozenset[str]
    fits: Callable[[Small], object]

    def applies(self, profile: str) -> bool:
        """Whether a profile has the statement."""
        statement = catalogue().statement(self.statement)
        return statement is not None and profile in statement.profiles


def about(invariants: str, by: Mapping[str, Callable[[Small], object]]) -> list[Rule]:
    """Rules about the same invariants, in the order in which they are tried."""
    names = frozenset(invariants.split())
    return [Rule(f"ns.{statement}", names, fits) for statement, fits in by.items()]


def lone(small: Small) -> bool:
    """Whether nobody registers twice."""
    return not small.again
