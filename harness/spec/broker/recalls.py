"""Messages that wait for their time and are taken back (5.x).

- A recall that is taken well before the time of a message keeps it from being delivered, also over a restart.
  One that comes just before may be too late.
- In a Broker that was a slave a recall may be read later than the message, when it is a master again.

Source: RecallMessageProcessor, TimerMessageStore (5.3.3).
"""

from __future__ import annotations

from math import inf

from harness.program.broker.optional_steps import Recall
from harness.spec.broker.allowed import Allowed
from harness.spec.broker.entries import Entry
from harness.spec.broker.invariant_error import InvariantError
from harness.spec.broker.ledger import Ledger
from harness.wire import Command, ResponseCode

_JUST_BEFORE = 2.0
"""Seconds before the time of a message in which a recall may come too late."""
_SUCCESS, _BUSY = ResponseCode.SUCCESS, ResponseCode.SYSTEM_BUSY
_FORBIDDEN, _NO_TOPIC = ResponseCode.NO_PERMISSION, ResponseCode.TOPIC_NOT_EXIST
_ILLEGAL = ResponseCode.ILLEGAL_OPERATION


class Recalls:
    """Of one Broker."""

    def __init__(self, ledger: Ledger, allowed: Allowed) -> None:
        self._ledger = ledger
        self._allowed = allowed

    def recalled(self, step: Recall, begin: float, end: float, answer: Command | None) -> None:
        """370."""
        entry = self._waiting(step)
        if answer is None:
            if entry is not None and entry.offset is None:
                entry.latest, entry.recalled = inf, True
            return
        if answer.code == _SUCCESS and entry is not None and entry.offset is None:
            self._takes(entry, begin, end)
        if answer.code != _BUSY and self._ledger.ha_role.is_master(begin, end):
            self._judge(step, entry, begin, end, answer)

    def _waiting(self, step: Recall) -> Entry | None:
        """The message of a handle, where an answer has named that."""
        if step.message not in self._ledger.names.handles:
            return None
        _, entry = self._ledger.sends.get(step.message, (None, None))
        return entry if entry is not None and entry.origin == "timer" else None

    def _takes(self, entry: Entry, begin: float, end: float) -> None:
        """A message is taken back, or may be."""
        is_early = end + _JUST_BEFORE + self._ledger.lag < entry.earliest
        entry.latest, entry.recalled = inf, True
        if is_early and not self._ledger.ha_role.was_slave:
            entry.earliest = inf

    def _judge(self, step: Recall, entry: Entry | None, begin: float, end: float, answer: Command) -> None:
        names, actual = self._ledger.names, f"code {answer.code}, {answer.remark}"
        are_allowed = self._allowed.allows("recalls", begin, end)
        held = self._ledger.held
        held |= {"recall-is-refused-where-it-is-off"} if are_allowed is False else set()
        if are_allowed is False and answer.code != _FORBIDDEN:
            raise InvariantError("recall-is-refused-where-it-is-off", f"NO_PERMISSION ({_FORBIDDEN})", actual)
        if not are_allowed:
            return
        exists = self._ledger.exists(step.topic, begin)
        held |= {"recall-of-no-topic-is-refused"} if exists is False else set()
        if exists is False and answer.code != _NO_TOPIC:
            raise InvariantError("recall-of-no-topic-is-refused", f"TOPIC_NOT_EXIST ({_NO_TOPIC})", actual)
        if not exists:
            return
        illegal = f"ILLEGAL_OPERATION ({_ILLEGAL})"
        if step.message not in names.handles:
            held.add("handle-that-is-none-is-refused")
            if answer.code != _ILLEGAL:
                raise InvariantError("handle-that-is-none-is-refused", illegal, actual)
        elif entry is not None:
            is_over = begin > entry.sent + entry.send.after + self._ledger.lag + self._ledger.slack + 1
            is_wrong = step.topic != entry.send.topic or is_over
            held |= {"handle-that-does-not-fit-is-refused"} if is_wrong else set()
            if is_wrong and answer.code != _ILLEGAL:
                raise InvariantError("handle-that-does-not-fit-is-refused", illegal, actual)
            is_due = end + self._ledger.lag + 1 > entry.began + entry.send.after - self._ledger.slack
            held |= {"recall-is-taken", "recall-says-what"} if not is_wrong and not is_due else set()
            if not is_wrong and not is_due and answer.code != _SUCCESS:
                raise InvariantError("recall-is-taken", "SUCCESS", actual)
            self._says_what(step, answer)

    def _says_what(self, step: Recall, answer: Command) -> None:
        key, said = self._ledger.names.name(step.message), (answer.ext or {}).get("msgId")
        if answer.code == _SUCCESS and said != key:
            raise InvariantError("recall-says-what", f"msgId {key}", f"{said}")
