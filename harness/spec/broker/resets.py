"""Offsets that an administrator has set, and that consumers do not know yet (5.x).

Until a pull of the group from the queue is sent to such an offset, commits of the group do not count. Whether
a Broker still knows of one when it is started again is not said.
"""

from __future__ import annotations

from typing import TypeAlias

from harness.program.broker import steps as bk
from harness.spec.broker.invariant_error import InvariantError
from harness.spec.broker.ledger import Ledger
from harness.spec.broker.regular_register import RegularRegister
from harness.spec.broker.wholeness import number_of
from harness.wire import Command

Key: TypeAlias = tuple[str, str, int]
"""Group, topic and queue."""
_MOVED = 21
_PULLED = (0, 19, 20, _MOVED)


class Resets:
    """Of one Broker."""

    def __init__(self, ledger: Ledger) -> None:
        self._ledger = ledger
        self._pending: dict[Key, int] = {}
        self._unsure: set[Key] = set()

    def reset(
        self,
        step: bk.Reset,
        register: RegularRegister,
        begin: float,
        end: float,
        answer: Command | None,
        *,
        is_known: bool,
    ) -> None:
        """222. ``is_known``: the group surely exists."""
        key = step.group, step.topic, step.queue
        ha_role = self._ledger.ha_role
        if answer is None:
            self._unsure.add(key)
            register.write(step.offset, begin, float("inf"), "reset")
        elif answer.code == 0:
            self._ledger.held |= {"reset-sets-offsets"} if ha_role.is_master(begin, end) else set()
            if ha_role.is_slave(begin, end):
                raise InvariantError("demoted-resets-no-offset", "a refusal: it is a slave", "SUCCESS")
            self._pending[key] = step.offset
            register.write(step.offset, begin, end, "reset")
        elif ha_role.is_slave(begin, end):
            self._ledger.held.add("demoted-resets-no-offset")
        elif is_known and step.offset == 0 and ha_role.is_master(begin, end) and self._has(step, begin):
            raise InvariantError("reset-sets-offsets", "SUCCESS", f"code {answer.code}, {answer.remark}")

    def _has(self, step: bk.Reset, begin: float) -> bool:
        """Whether the queue surely exists."""
        topic = self._ledger.topics.get(step.topic)
        exists = self._ledger.exists(step.topic, begin) and topic is not None
        return bool(exists and topic and topic.queues is not None and step.queue < topic.queues)

    def counts(self, step: bk.Commit) -> bool | None:
        """Whether a commit counts; None where that is not known."""
        key = step.group, step.topic, step.queue
        return None if key in self._unsure else key not in self._pending

    def told(self, step: bk.Pull, answer: Command) -> bool:
        """Whether a pull is answered with an offset that was set, or may be. Raises `InvariantError`."""
        key = step.group, step.topic, step.queue
        if answer.code not in _PULLED:
            return key in self._unsure
        if key in self._unsure:
            return True
        offset = self._pending.pop(key, None)
        if offset is None:
            return False
        self._ledger.held.add("reset-is-told")
        if answer.code != _MOVED or number_of(answer, "nextBeginOffset") != offset:
            actual = f"code {answer.code}, {number_of(answer, 'nextBeginOffset')}"
            raise InvariantError("reset-is-told", f"PULL_OFFSET_MOVED (21) to {offset}", actual)
        return True

    def restarted(self) -> None:
        """The Broker was ended and started again."""
        self._unsure |= self._pending.keys()
        self._pending.clear()

    def forgot(self, topic: str) -> None:
        """A topic was deleted."""
        self._unsure |= {key for key in self._pending if key[1] == topic}
        self._pending = {key: offset for key, offset in self._pending.items() if key[1] != topic}
