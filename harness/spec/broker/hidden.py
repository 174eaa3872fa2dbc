"""Messages that were popped: they are hidden for a while, and come again unless they are acknowledged (5.x).

- What comes again does so with any pop of the topic that it was sent to.
- What is not known for certain is not judged: of a request without an answer, behind one that came too late,
  of a Broker that ever was a slave, of what was given or became due just before the Broker was ended.

Source: PopReviveService#mergeAndRevive, AckMessageProcessor#appendAck, ChangeInvisibleTimeProcessor (5.3.3).
"""

from __future__ import annotations

from typing import Literal

import msgspec

from harness.program.broker.optional_steps import Ack, Hide, Pop
from harness.spec.broker.invariant_error import InvariantError
from harness.spec.broker.ledger import Ledger
from harness.wire import Command
from harness.wire.messages import Message, PropertyName

REVIVAL = 30
"""Protocol seconds within which a message certainly comes back after its hidden time."""
RECOVERY = 600
"""Protocol seconds within which a message certainly comes back after a start of the Broker."""
WRITTEN = 20
"""Protocol seconds within which offsets of consumers have certainly been written."""


class _Given(msgspec.Struct):
    """A message that a group was given."""

    end: float
    """By then it was given, or its time was set anew."""
    earliest: float
    """It does not come again before."""
    latest: float
    """By then it has, unless it is done with."""
    tried: int
    """How often it had come again when it was given."""
    offset: int
    """That of the message in its own queue."""
    done: Literal["no", "maybe", "yes"] = "no"


class Hidden:
    """Of one Broker."""

    def __init__(self, ledger: Ledger) -> None:
        self._ledger = ledger
        self._given: dict[tuple[str, str, str], _Given | None] = {}
        """By group, topic and message; None where too little is known, which stays so."""

    def gave(self, step: Pop, messages: list[Message], begin: float, end: float) -> None:
        """A pop was answered with these messages."""
        earliest, latest = begin + step.hidden, end + step.hidden + REVIVAL
        for one in messages:
            key = step.group, step.topic, self._symbol(one)
            before = self._given.get(key)
            is_known = key not in self._given or (before is not None and before.end < begin)
            offset = one.queue_offset if before is None or not is_back(one) else before.offset
            if before is not None and before.offset == offset:
                self._may_be_given(key, before, one, end)
            elif before is not None:  # a delivery that came twice, which may be
                is_known = False
            given = _Given(end, earliest, latest, one.reconsume_times, offset)
            self._given[key] = given if is_known else None

    def _symbol(self, message: Message) -> str:
        names = self._ledger.names
        key = message.properties.get(PropertyName.UNIQ_KEY, "")
        text = message.body.rstrip(b".").decode("latin-1")
        if names.made.get(key) is None or (key != text and names.made.get(text) != names.made[key]):
            what = f"{text!r} with key {key!r}"
            raise InvariantError("returned-keeps-the-message", "a message that was sent", what)
        return names.made[key]

    def _may_be_given(self, key: tuple[str, str, str], given: _Given, shown: Message, end: float) -> None:
        what = f"{self._ledger.names.name(key[2])} to {self._ledger.names.name(key[0])}"
        self._ledger.held |= {"popped-is-hidden", "returned-is-counted"}
        if given.done == "yes":
            raise InvariantError("done-with-does-not-return", "nothing: it was acknowledged", what)
        if end + self._ledger.slack < given.earliest:
            early = given.earliest - end
            raise InvariantError("popped-is-hidden", f"not before {early:.3f} s from then", what)
        if shown.reconsume_times != given.tried + 1:
            expected, tried = f"reconsumeTimes {given.tried + 1}", shown.reconsume_times
            raise InvariantError("returned-is-counted", expected, f"{tried}: {what}")

    def missing(self, step: Pop, messages: list[Message], begin: float) -> None:
        """A pop has given all that there was."""
        if self._ledger.ha_role.was_slave:
            return
        shown = {self._symbol(one) for one in messages}
        for (group, topic, symbol), given in self._given.items():
            if given is None or (group, topic) != (step.group, step.topic):
                continue
            self._ledger.held |= {"done-with-does-not-return"} if given.done == "yes" else set()
            if given.done == "no" and given.latest <= begin - self._ledger.lag:
                self._ledger.held.add("popped-returns")
                if symbol not in shown:
                    name = self._ledger.names.name(symbol)
                    raise InvariantError("popped-returns", f"{name}, which is not acknowledged", "not given")

    def acknowledged(self, step: Ack, begin: float, end: float, answer: Command | None) -> None:
        """200051."""
        given = self._asked(step, begin, end, answer)
        if given is not None:
            given.done = "yes" if self._is_in_time(given, end) else "maybe"
            given.end = end

    def hid(self, step: Hide, begin: float, end: float, answer: Command | None) -> None:
        """200053."""
        given = self._asked(step, begin, end, answer)
        if given is not None and given.done == "no" and self._is_in_time(given, end):
            given.earliest, given.latest = begin + step.hidden, end + step.hidden + REVIVAL
            given.end = end
        elif given is not None:
            self._given[step.group, step.topic, step.message] = None

    def _asked(self, step: Ack | Hide, begin: float, end: float, answer: Command | None) -> _Given | None:
        """What is known of the message of a request that has succeeded."""
        key = step.group, step.topic, step.message
        given = self._given.get(key)
        if given is None:
            return None
        is_master = self._ledger.ha_role.is_master(begin, end)
        if answer is None or not is_master or begin <= given.end:
            self._given[key] = None
            return None
        is_due = given.done == "no" and self._is_in_time(given, end)
        self._ledger.held |= {"handle-is-taken"} if is_due else set()
        if answer.code and is_due:
            actual = f"code {answer.code}, {answer.remark}"
            raise InvariantError("handle-is-taken", "SUCCESS: the message is hidden", actual)
        if answer.code:
            self._given[key] = None
            return None
        return given

    def _is_in_time(self, given: _Given, end: float) -> bool:
        return end + self._ledger.slack < given.earliest

    def restarted(self, begin: float, end: float) -> None:
        """The Broker was ended and started again."""
        for key, given in self._given.items():
            if given is None:
                continue
            if given.end > begin - WRITTEN or given.earliest - self._ledger.slack <= begin:
                self._given[key] = None
            else:
                given.latest = max(given.latest, end + RECOVERY)

    def lost(self, group: str, topic: str) -> None:
        """It is not known what a group was given."""
        for key in self._given:
            if key[:2] == (group, topic):
                self._given[key] = None

    def forgot(self, topic: str) -> None:
        """A topic was deleted."""
        for key in self._given:
            if key[1] == topic:
                self._given[key] = None


def is_back(message: Message) -> bool:
    """Whether a popped message has come again."""
    return PropertyName.POP_CK in message.properties
