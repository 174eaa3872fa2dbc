"""What is known of groups: their offsets, their members, what they subscribe to, and who holds which lock.

As in `ledger`. Nothing is held against a Broker that may not have heard of a client
yet, or may have let it go.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import inf

import msgspec

from harness.program.broker import steps as bk
from harness.spec.broker.heartbeats import Heartbeats
from harness.spec.broker.invariant_error import InvariantError
from harness.spec.broker.ledger import Ledger, Topic
from harness.spec.broker.regular_register import RegularRegister, Write
from harness.spec.broker.resets import Resets
from harness.spec.observation import TakenOver
from harness.wire import Command, ResponseCode, WireError
from harness.wire.bodies import ConsumerOffsets
from harness.wire.fastjson import ParseError
from harness.wire.view import json_value

_SURELY_GONE = 132.0
"""Seconds after its last heartbeat when a client surely is gone: 120 s, a look each 10 s, and some more."""
_LOCKED = 60.0
"""Seconds that a lock lasts (`RebalanceLockManager`)."""
UNWRITTEN = 25.0
"""Seconds within which offsets have surely been written down (`flushConsumerOffsetInterval` is 5 s, from 10 s
after the start on)."""
_QUEUES_OF_RETRY = 1
"""Of a group (`SubscriptionGroupConfig#retryQueueNums`)."""
_BUSY = ResponseCode.SYSTEM_BUSY


class _Member(msgspec.Struct):
    """A client in a group."""

    conn: str
    since: float
    beat: float
    gone: float = inf
    """When it surely had been let go, if it was."""
    leaving: float = inf
    """From when on it may have been let go."""


class _Lock(msgspec.Struct):
    client: str
    begin: float
    end: float
    """It was taken, or renewed, between the two."""
    maybe: bool = False


class Groups:
    """Of one Broker."""

    def __init__(self, ledger: Ledger, heartbeats: Heartbeats) -> None:
        self._ledger = ledger
        self._heartbeats = heartbeats
        self.resets = Resets(ledger)
        self._offsets: dict[tuple[str, str, int], RegularRegister] = {}
        self._members: dict[str, dict[tuple[str, str], _Member]] = {}
        """By group, then by client and connection: a client may be there over several."""
        self._locks: dict[tuple[str, str, int], _Lock] = {}
        self._known: set[str] = set()
        """Groups that surely exist."""
        self._mentioned: set[str] = set()
        """Groups that may exist: what creates a group that is unknown has named them."""
        self._begun: dict[bk.Pull, Write] = {}
        """Commits of pulls that may be held."""
        self._ever: dict[str, set[str]] = {}
        """Clients that were ever in a group."""

    # --- offsets --------------------------------------------------------------------------------------------

    def _register(self, group: str, topic: str, queue: int) -> RegularRegister:
        return self._offsets.setdefault((group, topic, queue), RegularRegister())

    def committed(self, step: bk.Commit, begin: float, end: float, answer: Command | None) -> None:
        """15."""
        exists = self._ledger.exists(step.topic, begin)
        if answer is not None and answer.code != 0:
            is_taken = not self._ledger.line.has("checked-commits") or (step.group in self._known and exists)
            if exists is False:
                self._ledger.held.add("unknown-topic-may-not-be-committed")
            if step.group not in self._mentioned:
                self._ledger.held.add("unknown-group-may-not-commit")
            if answer.code != _BUSY and is_taken:
                raise InvariantError(
                    "offset-is-what-was-committed", "SUCCESS", f"{answer.code}, {answer.remark}"
                )
            return
        if answer is not None and self._ledger.line.has("checked-commits"):
            if step.group not in self._mentioned:
                raise InvariantError(
                    "unknown-group-may-not-commit", "SUBSCRIPTION_GROUP_NOT_EXIST (26)", "SUCCESS"
                )
            if exists is False:
                raise InvariantError("unknown-topic-may-not-be-committed", "TOPIC_NOT_EXIST (17)", "SUCCESS")
        if answer is not None:
            self._ledger.held.add("offset-is-what-was-committed")
        counts = self.resets.counts(step)
        if counts is False:
            return
        sure = answer is not None or (step.oneway and step.group in self._known and exists is True)
        over = end + (0.0 if answer is not None else self._ledger.lag)
        register = self._register(step.group, step.topic, step.queue)
        register.write(
            step.offset, begin, over if sure and counts else inf, "oneway" if answer is None else "commit"
        )

    def is_known(self, group: str) -> bool:
        """Whether a group surely exists."""
        return group in self._known

    def mentioned(self, group: str) -> None:
        """A message is sent back for a group, or it pops."""
        self._mentioned.add(group)

    def begins(self, step: bk.Pull, moment: float) -> None:
        """The part of a pull that is about its group may be carried out from now on."""
        self._mentioned.add(step.group)
        if step.commit is not None:
            register = self._register(step.group, step.topic, step.queue)
            self._begun[step] = register.write(step.commit, moment, inf, "pull")

    def pulled(self, step: bk.Pull, begin: float, end: float, answer: Command | None) -> None:
        """The part of a pull that is about its group."""
        self._mentioned.add(step.group)
        is_success = answer is not None and answer.code in (0, 19, 20, 21)
        if is_success:
            self._known.add(step.group)
        ha_role = self._ledger.ha_role
        begun = self._begun.pop(step, None)
        if begun is not None:
            begun.over = -inf  # what is known of it now is written below
        commits = self._ledger.line.has("busy-slaves") or not ha_role.is_slave(begin, end)
        if step.commit is not None and commits and (answer is None or is_success):
            is_sure = is_success and (self._ledger.line.has("busy-slaves") or ha_role.is_master(begin, end))
            register = self._register(step.group, step.topic, step.queue)
            over = end if self._ledger.lag else begin  # however long it is held then
            register.write(step.commit, begin, over if is_sure else inf, "pull")

    def asked(self, step: bk.Committed, begin: float, end: float, answer: Command) -> None:
        """14."""
        if not self._ledger.is_known(step.topic) or answer.code == _BUSY:
            return
        register = self._register(step.group, step.topic, step.queue)
        possible = register.possible(begin, end)
        offset = int((answer.ext or {}).get("offset") or 0) if answer.code == 0 else None
        never = len(possible) == 1 and possible[0].value is None
        is_there = self._ledger.queue(step.topic, step.queue).least(begin - self._ledger.lag) > 0
        held = self._ledger.held
        held |= {"never-committed-starts-at-zero"} if never and is_there else set()
        held |= {self._name(step, offset, {one.how for one in possible})} if not never else set()
        held |= {"offset-is-of-one-group-and-queue"} if len(self._offsets) > 1 else set()
        if never and answer.code == 22 and is_there:
            raise InvariantError(
                "never-committed-starts-at-zero", "offset 0", f"{answer.code}, {answer.remark}"
            )
        if offset == 0 and any(one.value is None for one in possible):
            return  # the answer to a group that never committed, or that committed 0
        if register.read(offset, begin, end):
            return
        values = sorted({-1 if one.value is None else one.value for one in possible})
        said = " or ".join("none" if value < 0 else str(value) for value in values)
        actual = str(offset) if answer.code == 0 else f"code {answer.code}, {answer.remark}"
        raise InvariantError(self._name(step, offset, {one.how for one in possible}), said, actual)

    def _name(self, step: bk.Committed, offset: int | None, ways: set[str]) -> str:
        """What a wrong offset speaks of: that of another group or queue, or how it was written."""
        own = self._register(step.group, step.topic, step.queue).written
        if offset not in own and any(offset in one.written for one in self._offsets.values()):
            return "offset-is-of-one-group-and-queue"
        if ways == {"oneway"}:
            return "oneway-commit-counts"
        if ways == {"clone"}:
            return "clone-gives-offsets"
        if ways == {"reset"}:
            return "reset-sets-offsets"
        if ways == {"copy"}:
            return "slave-takes-over-offsets"
        return "pull-commits" if ways == {"pull"} else "offset-is-what-was-committed"

    def all_asked(self, begin: float, end: float, answer: Command) -> None:
        """43."""
        if answer.code:
            return
        name = "all-offsets-are-told"
        try:
            table = ConsumerOffsets.decode(answer.body).offset_table
        except WireError as problem:
            raise InvariantError(name, "JSON with offsetTable", str(problem)) from None
        names = self._ledger.names
        for (group, topic, queue), register in self._offsets.items():
            if not self._ledger.is_known(topic):
                continue
            self._ledger.held.add(name)
            shown = table.get(f"{names.name(topic)}@{names.name(group)}", {}).get(queue)
            possible = register.possible(begin, end)
            if register.read(shown, begin, end):
                continue
            values = sorted({-1 if one.value is None else one.value for one in possible})
            where = f"{names.name(group)} in {names.name(topic)}, queue {queue}"
            raise InvariantError(name, f"{where}: {values}", str(shown))

    def took_over(self, taken: TakenOver, begin: float, end: float) -> None:
        """A slave has got the offsets and the groups of its master. Of a queue where a group is further on
        the slave, or of which the master has no offset, either may count; and the slave may forget groups of
        its own.
        """
        made = self._ledger.names.made
        self._mentioned |= {symbol for name, symbol in made.items() if name.encode() in taken.groups}
        self._known.clear()
        if taken.offsets is None or taken.offsets.code or not taken.is_asked:
            return
        try:
            table = ConsumerOffsets.decode(taken.offsets.body).offset_table
        except WireError:  # the master is held against that
            return
        found: dict[tuple[str, str, int], int] = {}
        for name, queues in table.items():
            topic, _, group = name.partition("@")
            if topic in made and group in made:
                found |= {(made[group], made[topic], queue): offset for queue, offset in queues.items()}
        of = {(group, topic) for group, topic, _ in found}
        for key, register in self._offsets.items():
            if key not in found and key[:2] in of:
                register.write(None, begin, inf, "copy")
        for key, offset in found.items():
            register = self._register(*key)
            is_sure = taken.is_sure and all(
                (one.value or 0) <= offset for one in register.possible(begin, end)
            )
            over = end + self._ledger.lag
            register.write(offset, begin, over if is_sure else inf, "copy")
            if is_sure:
                register.kept = over + 1e-9

    def reset(self, step: bk.Reset, begin: float, end: float, answer: Command | None) -> None:
        """222."""
        register = self._register(step.group, step.topic, step.queue)
        self.resets.reset(step, register, begin, end, answer, is_known=step.group in self._known)

    def cloned(self, step: bk.Clone, begin: float, end: float, answer: Command | None) -> None:
        """314: what the other group has in the topic, and what it has in other queues, is not said."""
        if answer is not None and answer.code:
            return
        queues = {key[2] for key in self._offsets if key[1] == step.topic and key[0] in (step.group, step.to)}
        for queue in queues:
            possible = self._register(step.group, step.topic, queue).possible(begin, end)
            target = self._register(step.to, step.topic, queue)
            is_sure = answer is not None and len(possible) == 1 and possible[0].value is not None
            is_sure = is_sure and self._ledger.exists(step.topic, begin) is True
            for one in possible:
                target.write(one.value, begin, end if is_sure else inf, "clone")

    # --- members --------------------------------------------------------------------------------------------

    def beat(self, step: bk.Beat, begin: float, end: float, answer: Command | None) -> None:
        """34."""
        self._mentioned.update(step.groups)
        for group in step.groups:
            self._ever.setdefault(group, set()).add(step.client)
            members = self._members.setdefault(group, {})
            for (client, conn), other in members.items():
                if conn == step.conn and client != step.client:  # a connection is one client's in a group
                    other.leaving = min(other.leaving, begin)
            if answer is None or answer.code != 0:
                if (known := members.get((step.client, step.conn))) is not None:
                    known.leaving = -inf
                continue
            self._known.add(group)
            self._ledger.topics.setdefault(f"%RETRY%{group}", Topic(_QUEUES_OF_RETRY, since=end))
            before = members.get((step.client, step.conn))
            since = end if before is None or before.gone < inf else before.since
            members[step.client, step.conn] = _Member(step.conn, since, begin)

    def left(self, step: bk.Leave, begin: float, end: float, answer: Command | None) -> None:
        """35."""
        self._mentioned.add(step.group)
        for (client, conn), member in self._members.get(step.group, {}).items():
            if client == step.client:
                member.leaving = min(member.leaving, begin)
                if answer is not None and answer.code == 0 and conn == step.conn:
                    member.gone = min(member.gone, end)

    def closed(self, conn: str, begin: float) -> None:
        """A connection ended."""
        for members in self._members.values():
            for (_, own), member in members.items():
                if own == conn:
                    member.leaving = min(member.leaving, begin)
                    member.gone = min(member.gone, begin + self._ledger.lag)

    def listed(self, step: bk.Members, begin: float, end: float, answer: Command) -> None:
        """38."""
        if answer.code == _BUSY:
            return
        names = self._ledger.names
        shown = _listed(answer)
        clients: dict[str, list[_Member]] = {}
        for (client, _), member in self._members.get(step.group, {}).items():
            clients.setdefault(client, []).append(member)
        is_empty = True
        for client, ways in clients.items():
            name = names.name(client)
            gone = [self._gone(one) + self._ledger.lag for one in ways]
            has_left = any(one.gone < inf for one in ways)
            kind = "client-that-left-is-not-listed" if has_left else "client-without-heartbeats-is-removed"
            self._ledger.held |= {kind} if max(gone) < begin else set()
            if all(one.beat + _SURELY_GONE + self._ledger.lag < begin for one in ways):
                self._ledger.held.add("client-without-heartbeats-is-removed")
            if name in shown and max(gone) < begin:
                raise InvariantError(kind, f"{name} not listed", f"{sorted(shown)}")
            is_empty = is_empty and max(gone) < begin
            sure = [one for one in ways if self._is_alive(one, end) and one.since + self._ledger.lag < begin]
            self._ledger.held |= {"client-is-listed"} if sure else set()
            if name not in shown and sure:
                raise InvariantError(
                    "client-is-listed", f"{name} listed", f"code {answer.code}, {sorted(shown)}"
                )
        self._ledger.held |= {"empty-group-is-an-error"} if is_empty and not shown else set()
        if answer.code == 0 and not shown and is_empty:
            raise InvariantError("empty-group-is-an-error", "SYSTEM_ERROR (1)", "an empty list")
        others = shown - {names.name(client) for client in self._ever.get(step.group, ())}
        if others:
            raise InvariantError(
                "client-is-listed", f"only clients that were once in {names.name(step.group)}", str(others)
            )

    def _gone(self, member: _Member) -> float:
        """When a client surely is no member any more."""
        return min(member.gone, member.beat + _SURELY_GONE)

    def _is_alive(self, member: _Member, moment: float) -> bool:
        """Whether a client is surely a member yet."""
        return member.leaving > moment and not self._heartbeats.may_be_ended(member.conn, moment)

    # --- locks ----------------------------------------------------------------------------------------------

    def locked(self, step: bk.Lock, begin: float, end: float, answer: Command | None) -> None:
        """41 and 42."""
        if answer is not None and answer.code == _BUSY:
            return
        given = _given(answer) if answer is not None and step.code == 41 else set()
        if given - set(step.queues):
            raise InvariantError("lock-is-of-one-client", f"some of {step.queues}", f"{sorted(given)}")
        for queue in step.queues:
            key = (step.group, step.topic, queue)
            lock = self._locks.get(key)
            if answer is None or answer.code != 0:
                if lock is not None:
                    lock.maybe = True
                elif step.code == 41:
                    self._locks[key] = _Lock(step.client, begin, inf, maybe=True)
                continue
            if step.code == 42:
                if lock is not None and lock.client == step.client:
                    del self._locks[key]
                continue
            self._judge_lock(key, step, lock, queue in given, begin, end)
            if queue in given:
                self._locks[key] = _Lock(step.client, begin, end)

    def _judge_lock(
        self,
        key: tuple[str, str, int],
        step: bk.Lock,
        lock: _Lock | None,
        is_given: bool,
        begin: float,
        end: float,
    ) -> None:
        holder = None if lock is None or lock.maybe else lock.client
        is_held = lock is not None and end < lock.begin + _LOCKED - self._ledger.slack
        held = self._ledger.held
        held |= {"lock-is-of-one-client"} if is_held and holder not in (None, step.client) else set()
        if is_given and is_held and holder not in (None, step.client):
            raise InvariantError(
                "lock-is-of-one-client",
                f"queue {key[2]} not given: {self._ledger.names.name(holder or '')} has it",
                "it was given",
            )
        is_free = lock is None or holder == step.client
        is_over = lock is not None and not lock.maybe and begin > lock.end + _LOCKED + self._ledger.slack + 1
        name = "free-lock-is-given" if lock is not None else "given-up-lock-is-free"
        held |= {name} if is_free or is_over else set()
        if not is_given and (is_free or is_over):
            raise InvariantError(name, f"queue {key[2]} given", "it was not")

    # --- restarts -------------------------------------------------------------------------------------------

    def restarted(self, how: str, begin: float, end: float) -> None:
        """The Broker was ended and started again: a kill may lose offsets that it has not written down."""
        since = begin if how == "term" else begin - UNWRITTEN
        for register in self._offsets.values():
            register.forget(max(since - self._ledger.lag, register.kept), begin, end)
        self._members.clear()
        self._locks.clear()
        self.resets.restarted()

    def forgot(self, topic: str, begin: float, end: float) -> None:
        """A topic was deleted, in 5.x with the offsets of groups in it."""
        is_sure = self._ledger.line.has("checked-commits")
        self.resets.forgot(topic)
        for key, register in self._offsets.items():
            if key[1] == topic:
                register.write(None, begin, end if is_sure else inf, "deletion")


def _parsed(answer: Command, name: str, invariant: str) -> Sequence[object]:
    if answer.code != 0:
        return []
    try:
        value = json_value(answer.body)
    except ParseError as problem:
        raise InvariantError(invariant, f"JSON with {name}", str(problem)) from None
    found = value.get(name) if isinstance(value, dict) else None
    if not isinstance(found, list):
        raise InvariantError(invariant, f"a list {name}", repr(answer.body[:80]))
    return found


def _listed(answer: Command) -> set[str]:
    return {str(one) for one in _parsed(answer, "consumerIdList", "client-is-listed")}


def _given(answer: Command) -> set[int]:
    listed = _parsed(answer, "lockOKMQSet", "lock-is-of-one-client")
    return {int(one["queueId"]) for one in listed if isinstance(one, dict)}
