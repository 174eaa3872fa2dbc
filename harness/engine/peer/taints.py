"""Which names quirks have touched in a round, and which differences that explains.

Invariants:
- A quirk explains nothing in a round in which no step brought it about.
- It explains fields of the answer to that very step (`differs`), and after it what is said about the names
  that it taints, and nothing about any other name.
- Taint spreads with requests that tie a tainted name to others, and ends with the round.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable
from typing import Any

from harness.catalogue import Quirk, Scope
from harness.engine.peer.differences import Difference
from harness.program.nameserver.steps import QUIET, DeleteTopic, Register, SystemTopics
from harness.program.step import Close, Time
from harness.program.steps import AnyStep
from harness.spec.nameserver.expected import ExpectedState, Live

EVERYTHING = "settings"
"""Stands among the names that a step touches for a change that may decide any answer."""
_SYMBOL = re.compile(r"\b[abk]\d+\b")


class Taints:
    """The names that quirks of this round have touched, and by which quirk."""

    def __init__(self) -> None:
        self._by: dict[str, str] = {}
        self._alone: set[str] = set()
        """Addresses whose taint does not spread: what is wrong about them is theirs alone."""
        self._clusters: dict[str, str] = {}
        """Whether a cluster exists at all may differ; what is said about others in it may not."""
        self.server: str | None = None
        """The quirk that has touched everything."""

    def __bool__(self) -> bool:
        return bool(self._by) or self.server is not None

    def add(self, quirk: Quirk, step: AnyStep, expected: ExpectedState) -> None:
        """A step that the quirk is about is going to be carried out."""
        if quirk.taints == "server":
            self.server = quirk.id
        elif quirk.taints != "nothing":
            words = touched(quirk.taints, step, expected)
            if quirk.taints == "address":
                self._alone |= words - self._by.keys()
            else:
                self._alone -= words
            self._taint(words, quirk.id)

    def touch(self, names: Iterable[str], by: str) -> None:
        """The targets hold different states of names, or, where ``names`` say `EVERYTHING`, of any."""
        words = set(names)
        if EVERYTHING in words:
            self.server = self.server or by
        self._alone -= words
        self._taint(words, by)

    def covers(self, brokers: Collection[str]) -> bool:
        """Whether all of some brokers are tainted, or everything is."""
        return self.server is not None or all(broker in self._by for broker in brokers)

    def spread(self, step: AnyStep, expected: ExpectedState) -> None:
        """A step ties tainted names to others."""
        if not self._by or isinstance(step, QUIET):
            return
        words = words_of(step)
        if isinstance(step, Time | Close):
            leases = expected.on(step.conn) if isinstance(step, Close) else expected.ending(step)
            for lease in leases:
                self._spread_over({lease.broker, lease.address}, expected)
            return
        self._spread_over(words, expected)

    def _spread_over(self, words: set[str], expected: ExpectedState) -> None:
        ties = (word for word in sorted(words - self._alone) if word[0] in "ab")
        by = next((self._by[word] for word in ties if word in self._by), None)
        if by is not None:
            brokers = {word for word in words if word[0] == "b"}
            self._taint(words | _around(brokers, expected), by)

    def _taint(self, words: set[str], quirk: str) -> None:
        for word in words:
            known = self._clusters if word.startswith("c") else self._by
            known.setdefault(word, quirk)

    def explains(self, difference: Difference, step: AnyStep) -> str | None:
        """The quirk whose names are all that a difference is about, or None."""
        if self.server is not None:
            return self.server
        if not self._by:
            return None
        asked = next((self._by[word] for word in sorted(words_of(step)) if word in self._by), None)
        found: str | None = asked
        for fact in difference.facts():
            by = self._about(fact)
            if isinstance(step, SystemTopics):
                by = by or self._clusters.get(fact[-1])
            if by is None and (asked is None or (difference.field == "body" and not _is_whole(fact))):
                return None
            found = by or found
        return found

    def _about(self, fact: tuple[str, ...]) -> str | None:
        for word in fact:
            if word in self._by:
                return self._by[word]
            for symbol in _SYMBOL.findall(word):
                if symbol in self._by:
                    return self._by[symbol]
        return None


def _is_whole(fact: tuple[str, ...]) -> bool:
    """A fact about the whole body: that there is none, or one that is not taken apart."""
    return len(fact) <= 2


def touched(scope: Scope, step: AnyStep, expected: ExpectedState) -> set[str]:
    """The names that a step touches in a state."""
    if isinstance(step, Time | Close):
        leases = expected.ending(step) if isinstance(step, Time) else expected.on(step.conn)
        return _of_leases(leases, expected)
    words = words_of(step)
    if scope == "address":
        return {word for word in words if word.startswith("a")}
    if scope == "holder":
        return expected.holders(step) if isinstance(step, Register) else set()
    # It names no broker, and is about those that have mapped the topic.
    mapped = expected.mapped.get(step.topic, set()) if isinstance(step, DeleteTopic) else set()
    return words | mapped | _around({word for word in words if word.startswith("b")}, expected)


def _of_leases(leases: Iterable[Live], expected: ExpectedState) -> set[str]:
    touched = set()
    for lease in leases:
        for other in (lease, *expected.on(lease.conn)):
            touched |= {other.broker, other.address} | _around({other.broker}, expected)
    return touched


def _around(brokers: set[str], expected: ExpectedState) -> set[str]:
    """Addresses, topics and clusters of broker names."""
    found: set[str] = set()
    for broker in brokers:
        if broker in expected.brokers:
            found |= {*expected.brokers[broker].ids.values(), *expected.clusters_of(broker)}
        found |= set(expected.topics_of(broker))
    return found


def words_of(step: AnyStep) -> set[str]:
    """The symbols that a step names."""
    found: set[str] = set()
    for field in step.__struct_fields__:
        value: Any = getattr(step, field)
        match field, value:
            case "broker" | "address" | "topic" | "cluster", str():
                found.add(value)
            case "topics", dict():
                found |= set(value)
            case "queues", dict():
                found |= set(value)
            case "namespace", str():
                found.add(f"pairs of {value}")
            case "lines", tuple():
                found.add(EVERYTHING)
    return found
