"""What a pop may give: messages of a queue behind those that its group was given (5.x). What comes again is
judged by `harness.spec.broker.hidden`.

- What a filter does not let pass counts as consumed.
- A Broker may stop before the end of a queue, but not before it has looked at a message.
- A group of which something is not known for certain is not judged in that queue: where a pop was not
  answered, the topic was deleted, or the Broker was ended or is a slave.

Source: PopMessageProcessor#popMsgFromQueue (5.3.3).
"""

from __future__ import annotations

import msgspec

from harness.program.broker.filters import Unreadable
from harness.program.broker.optional_steps import Pop
from harness.spec.broker.entries import Queue
from harness.spec.broker.hidden import Hidden, is_back
from harness.spec.broker.invariant_error import InvariantError
from harness.spec.broker.ledger import Ledger
from harness.spec.broker.shown import Shown
from harness.spec.broker.wanted import Wanted
from harness.spec.broker.wholeness import messages_of
from harness.wire import Command, ResponseCode
from harness.wire.messages import Message

_FOUND, _NONE = ResponseCode.SUCCESS, ResponseCode.POLLING_TIMEOUT
_UNREADABLE, _BUSY = ResponseCode.SUBSCRIPTION_PARSE_FAILED, ResponseCode.SYSTEM_BUSY


class _Taken(msgspec.Struct):
    """What a group has consumed of a queue: everything below ``least``, perhaps everything below ``most``."""

    least: int = 0
    most: int = 0
    sure: bool = True


class Pops:
    """Of one Broker."""

    def __init__(self, ledger: Ledger, shown: Shown) -> None:
        self._ledger = ledger
        self._shown = shown
        self._taken: dict[tuple[str, str, int], _Taken] = {}
        self.hidden = Hidden(ledger)

    def unanswered(self, step: Pop) -> None:
        """200050, and it is not known what became of it."""
        self._of(step).sure = False
        self.hidden.lost(step.group, step.topic)

    def restarted(self, begin: float, end: float) -> None:
        """The Broker was ended and started again."""
        self.hidden.restarted(begin, end)
        for taken in self._taken.values():
            taken.sure = False

    def forgot(self, topic: str) -> None:
        """A topic was deleted."""
        self.hidden.forgot(topic)
        for key, taken in self._taken.items():
            taken.sure = taken.sure and key[1] != topic

    def _of(self, step: Pop) -> _Taken:
        return self._taken.setdefault((step.group, step.topic, step.queue), _Taken())

    def popped(self, step: Pop, begin: float, end: float, answer: Command) -> None:
        """200050."""
        ledger, taken = self._ledger, self._of(step)
        if not self._may_be_judged(step, begin, end):
            self.unanswered(step)
            return
        if isinstance(step.filter, Unreadable):
            ledger.held.add("unreadable-filter-of-a-pop-is-refused")
            if answer.code not in (_UNREADABLE, _BUSY):
                raise InvariantError(
                    "unreadable-filter-of-a-pop-is-refused", f"code {_UNREADABLE}", f"code {answer.code}"
                )
            return
        if answer.code not in (_FOUND, _NONE):
            self.unanswered(step)
            if answer.code != _BUSY:
                name = "popped-is-given-once" if step.filter is None else "filter-of-a-pop-decides"
                raise InvariantError(name, "messages, or none", f"code {answer.code}, {answer.remark}")
            return
        queue = ledger.queue(step.topic, step.queue)
        wanted = Wanted(filter=step.filter, filtered="filter-of-a-pop-decides")
        messages = messages_of(answer) if answer.code == _FOUND else []
        self._look(step, messages, is_found=answer.code == _FOUND)
        fresh = [one for one in messages if not is_back(one)]
        offsets = self._offsets(step, queue, wanted, end, fresh)
        if taken.sure:
            self._judge(step, queue, wanted, offsets, begin, is_all=not messages and step.filter is None)
        is_part = len(messages) >= step.most
        taken.least = max([taken.least, *(one + 1 for one in offsets)])
        taken.most = taken.least if is_part else max(taken.least, queue.most(end))
        if not is_part and step.filter is None:
            self.hidden.missing(step, messages, begin)
        self.hidden.gave(step, messages, begin, end)

    def _may_be_judged(self, step: Pop, begin: float, end: float) -> bool:
        topic = self._ledger.topics.get(step.topic)
        is_there = bool(self._ledger.exists(step.topic, begin)) and self._ledger.is_known(step.topic)
        has_queue = topic is not None and topic.queues is not None and 0 <= step.queue < topic.queues
        return is_there and has_queue and self._ledger.ha_role.is_master(begin, end)

    def _look(self, step: Pop, messages: list[Message], *, is_found: bool) -> None:
        self._ledger.held |= {"pop-is-not-more-than-asked-for", "messages-can-be-read"} if is_found else set()
        if is_found and not 0 < len(messages) <= step.most:
            raise InvariantError(
                "pop-is-not-more-than-asked-for", f"1 to {step.most} messages", f"{len(messages)}"
            )

    def _offsets(
        self, step: Pop, queue: Queue, wanted: Wanted, end: float, fresh: list[Message]
    ) -> list[int]:
        """The offsets of the messages that were given for the first time."""
        for one in fresh:
            entry = self._shown.known(step.topic, queue, one, end)
            if entry is not None and not wanted.has(entry):
                raise InvariantError(wanted.invariant, f"{wanted}", f"{dict(entry.send.said)}")
        return [one.queue_offset for one in fresh]

    def _judge(
        self, step: Pop, queue: Queue, wanted: Wanted, offsets: list[int], begin: float, *, is_all: bool
    ) -> None:
        """Whether a group got what it did not have, and all of that. `is_all`: of the whole queue."""
        taken, moment = self._of(step), begin - self._ledger.lag
        self._ledger.held |= {"popped-is-given-once"} | ({wanted.invariant} if step.filter else set())
        again = [one for one in offsets if one < taken.least]
        if again or len(set(offsets)) < len(offsets):
            raise InvariantError("popped-is-given-once", f"offsets from {taken.least} on", f"{offsets}")
        for offset, entry in sorted(queue.at.items()):
            is_passed = offset < max(offsets, default=-1) or is_all
            must = offset >= taken.most and entry.latest <= moment and wanted.has(entry)
            if must and is_passed and offset not in offsets:
                name = "popped-is-given-once" if step.filter is None else wanted.invariant
                raise InvariantError(
                    name,
                    f"{self._ledger.names.name(entry.message)} at {offset}: {wanted}",
                    f"offsets {offsets}",
                )
