"""What a pull may answer, and searches: the messages themselves, held against the ledger.

Whatever is shown must have a place in the queue that it is shown in, at a time at which it may be there; what
must be there must be shown.
"""

from __future__ import annotations

from collections.abc import Iterator
from math import inf

from harness.program.broker.steps import Pull
from harness.spec.broker.entries import Entry, Queue
from harness.spec.broker.invariant_error import InvariantError
from harness.spec.broker.ledger import Ledger
from harness.spec.broker.shown import DEMOTED, EARLY, MISSING, Shown, recalled
from harness.spec.broker.wanted import Wanted
from harness.spec.broker.wholeness import messages_of, number_of
from harness.wire import Command

_UNWANTED = 6.0
"""Seconds behind which a message without the tag has ended the wait of a pull (`PullRequestHoldService`)."""
_FOUND, _NOT_FOUND, _AGAIN, _MOVED = 0, 19, 20, 21
_BUSY = 2


class Pulls:
    """Judges what a Broker shows of its queues."""

    def __init__(self, ledger: Ledger, shown: Shown) -> None:
        self._ledger = ledger
        self._shown = shown
        self.looked = -inf
        """When all that had been answered by then was surely noticed, last."""

    # --- pulls ----------------------------------------------------------------------------------------------

    def pulled(
        self,
        step: Pull,
        begin: float,
        end: float,
        answer: Command,
        wanted: Wanted | None,
        refusal: tuple[int, str] | None,
    ) -> None:
        """11. ``wanted`` is None where it is not known; ``refusal`` is the code with which the pull has to be
        refused because of its group or its filter, and the invariant.
        """
        ledger = self._ledger
        topic = ledger.topics.get(step.topic)
        if answer.code not in (_FOUND, _NOT_FOUND, _AGAIN, _MOVED):
            self._refused(step, begin, answer, wanted, refusal)
            return
        exists = ledger.exists(step.topic, begin)
        if exists is False:  # else it was refused
            raise InvariantError(
                "topic-that-is-not-there-is-refused", "TOPIC_NOT_EXIST (17)", f"code {answer.code}"
            )
        if exists is None and topic is None:  # it was held, and the topic has been deleted since
            return
        if topic is not None and topic.queues is not None and not 0 <= step.queue < topic.queues:
            raise InvariantError("queue-that-is-not-there-is-refused", "a refusal", f"code {answer.code}")
        queue = ledger.queue(step.topic, step.queue)
        next_offset = number_of(answer, "nextBeginOffset")
        if refusal is not None:
            raise InvariantError(refusal[1], f"code {refusal[0]}", f"code {answer.code}")
        ledger.held |= (
            {"pull-is-answered" if step.subscribes else "heartbeat-subscribes"} if wanted else set()
        )
        if answer.code == _FOUND:
            self._found(step, queue, begin, end, answer, next_offset, wanted)
        if not ledger.is_known(step.topic):
            return
        if answer.code == _FOUND:
            self._complete(step, queue, begin, next_offset, wanted, answer)
        else:
            self._none(step, queue, begin, end, answer, next_offset, wanted)
        for half in ledger.halves.values():
            if (half.send.topic, half.send.queue) == (step.topic, step.queue) and half.entry is None:
                ledger.held.add("rolled-back-is-invisible" if half.ends else "half-is-invisible")
        self._bounds(queue, begin - ledger.lag, end, answer)

    def _refused(
        self,
        step: Pull,
        begin: float,
        answer: Command,
        wanted: Wanted | None,
        refusal: tuple[int, str] | None,
    ) -> None:
        ledger = self._ledger
        topic = ledger.topics.get(step.topic)
        exists = ledger.exists(step.topic, begin)
        if exists is False:
            ledger.held.add("topic-that-is-not-there-is-refused")
        if topic is not None and topic.queues is not None and not 0 <= step.queue < topic.queues:
            ledger.held.add("queue-that-is-not-there-is-refused")
        if (
            answer.code != _BUSY
            and exists
            and (wanted is not None or refusal is not None)
            and topic is not None
            and topic.queues is not None
            and 0 <= step.queue < topic.queues
        ):
            if refusal is not None:
                ledger.held.add(refusal[1])
                if answer.code != refusal[0]:
                    raise InvariantError(refusal[1], f"code {refusal[0]}", f"{answer.code}, {answer.remark}")
                return
            name = "pull-is-answered" if step.subscribes else "heartbeat-subscribes"
            raise InvariantError(
                name, "messages, or that there are none", f"code {answer.code}, {answer.remark}"
            )

    def _found(
        self,
        step: Pull,
        queue: Queue,
        begin: float,
        end: float,
        answer: Command,
        next_offset: int,
        wanted: Wanted | None,
    ) -> None:
        messages = messages_of(answer)
        held = self._ledger.held
        held |= {"pull-is-not-more-than-asked-for", "message-knows-its-queue", "pull-goes-on-from-its-offset"}
        held |= {"messages-can-be-read"}
        if wanted is not None and not wanted.is_everything:
            held.add(wanted.invariant)
        if step.suspend and step.offset >= queue.least(begin - self._ledger.lag):
            held.add("held-until-its-time-is-over")
        if not 0 < len(messages) <= step.most:
            raise InvariantError(
                "pull-is-not-more-than-asked-for", f"1 to {step.most} messages", f"{len(messages)}"
            )
        least = step.offset
        for one in messages:
            if one.topic != self._ledger.names.name(step.topic) or one.queue_id != step.queue:
                raise InvariantError(
                    "message-knows-its-queue",
                    f"{self._ledger.names.name(step.topic)}, queue {step.queue}",
                    f"{one.topic}, queue {one.queue_id}",
                )
            if not least <= one.queue_offset < next_offset:
                raise InvariantError(
                    "pull-goes-on-from-its-offset",
                    f"offsets from {least} on, below {next_offset}, the one to go on from",
                    str(one.queue_offset),
                )
            least = one.queue_offset + 1
            entry = self._shown.known(step.topic, queue, one, end)
            if wanted is not None and entry is not None and not wanted.has(entry):
                raise InvariantError(
                    wanted.invariant, f"{wanted}", f"{entry.send.tag}, {dict(entry.send.said)}"
                )
            if entry is not None and step.suspend and begin < self.looked and not self._ledger.lag:
                self._was_prompt(entry, wanted, end)

    def _was_prompt(self, entry: Entry, wanted: Wanted | None, end: float) -> None:
        """Whether a held pull was answered when a message came, and not only some time later."""
        self._ledger.held.add("held-until-a-message-comes")
        if wanted is not None and entry.latest < self.looked:
            name = self._ledger.names.name(entry.message)
            raise InvariantError(
                "held-until-a-message-comes", f"{name} at once", f"after {end - entry.latest:.1f} s"
            )

    def _bounds(self, queue: Queue, begin: float, end: float, answer: Command) -> None:
        """What a pull says about its queue."""
        minimum, maximum = number_of(answer, "minOffset"), number_of(answer, "maxOffset")
        self._ledger.held.add("min-offset-is-the-first")
        if minimum != 0:
            raise InvariantError("min-offset-is-the-first", "minOffset 0", str(minimum))
        self.is_max(queue, begin, end, maximum)

    def is_max(self, queue: Queue, begin: float, end: float, offset: int) -> None:
        """Whether a number may be the next offset of a queue. Raises `InvariantError`."""
        lowest, highest = queue.least(begin), queue.most(end)
        if lowest <= offset <= highest:
            self._ledger.held |= {"max-offset-is-the-next", *self._told_by_a_bound(queue, begin, end)}
            return
        if offset < lowest:
            self._lost(queue, offset, begin, f"the greatest offset {offset}")
        if offset > highest and any(one.recalled for one in queue.entries):
            raise InvariantError(recalled(queue), f"at most {highest}: a message was recalled", str(offset))
        if offset > highest and any(one.earliest == inf for one in queue.entries):
            raise InvariantError(DEMOTED, f"at most {highest}: the Broker is a slave", str(offset))
        raise InvariantError("max-offset-is-the-next", f"{lowest} to {highest}", str(offset))

    def _lost(self, queue: Queue, offset: int, moment: float, actual: str) -> None:
        """Something must be there, from an offset on, and is not."""
        entry = queue.lost(offset, moment)
        if entry is None:
            return
        where = "" if entry.offset is None else f" at {entry.offset}"
        name = self._ledger.names.name(entry.message)
        raise InvariantError(_if_lost(queue, entry), f"{name}{where}", actual)

    def _told_by_a_bound(self, queue: Queue, begin: float, end: float) -> Iterator[str]:
        """What would be broken if something were missing, or were there that may not be."""
        for one in queue.entries:
            if one.latest <= begin:
                yield _if_lost(queue, one)
            elif one.earliest > end:
                yield (
                    recalled(queue) if one.recalled else DEMOTED if one.earliest == inf else EARLY[one.origin]
                )

    def _missed(self, queue: Queue, entry: Entry, wanted: Wanted, moment: float, actual: str) -> None:
        """A message that is wanted must be there, and is not shown."""
        if wanted.filter is not None:
            raise InvariantError(
                wanted.invariant, f"{self._ledger.names.name(entry.message)}: {wanted}", actual
            )
        if entry.offset is not None:
            self._lost(queue, entry.offset, moment, actual)

    def _complete(
        self,
        step: Pull,
        queue: Queue,
        begin: float,
        next_offset: int,
        wanted: Wanted | None,
        answer: Command,
    ) -> None:
        """Whether all is there between the offset that was asked for and the one to go on from."""
        shown = {one.queue_offset for one in messages_of(answer)}
        moment = begin - self._ledger.lag
        for offset in range(max(0, step.offset), next_offset):
            if offset in shown:
                continue
            entry = queue.at.get(offset)
            if wanted is not None and entry is not None and wanted.has(entry) and entry.latest <= moment:
                self._missed(queue, entry, wanted, moment, f"messages at {sorted(shown)}, next {next_offset}")
            if wanted is not None and wanted.is_everything:
                raise InvariantError(
                    "pull-goes-on-from-its-offset",
                    f"all messages from {step.offset} to {next_offset - 1}",
                    f"those at {sorted(shown)}",
                )

    def _none(
        self,
        step: Pull,
        queue: Queue,
        begin: float,
        end: float,
        answer: Command,
        next_offset: int,
        wanted: Wanted | None,
    ) -> None:
        """Codes 19, 20 and 21."""
        moment = begin - self._ledger.lag
        offset, lowest, highest = step.offset, queue.least(moment), queue.most(end)
        if not self._ledger.ha_role.is_master(begin, end):
            self._none_of_a_slave(step, queue, moment, answer, wanted)
            return
        held = self._ledger.held
        held |= {"held-until-its-time-is-over"} if step.suspend else set()
        if answer.code == _NOT_FOUND:
            held |= {"pull-at-the-end-waits"} if offset == lowest == highest else set()
            if offset < lowest:
                self._lost(queue, offset, moment, "PULL_NOT_FOUND (19)")
            if not (lowest <= offset <= highest or offset == 0):
                if offset < 0:
                    raise InvariantError("pull-before-the-beginning-is-moved", "PULL_OFFSET_MOVED (21)", "19")
                raise InvariantError(
                    "pull-beyond-the-end-is-moved", "PULL_OFFSET_MOVED (21)", f"19 at {offset}"
                )
            if step.suspend and end - begin < step.suspend - self._ledger.slack:
                raise InvariantError(
                    "held-until-its-time-is-over",
                    f"no answer for {step.suspend} s, or a message",
                    f"PULL_NOT_FOUND (19) after {end - begin:.1f} s",
                )
            if step.suspend and wanted is not None and wanted.is_everything:
                there = queue.least(begin + step.suspend - self._ledger.slack - self._ledger.lag - 1)
                if offset < there:
                    raise InvariantError("held-until-a-message-comes", "the message", "PULL_NOT_FOUND (19)")
        elif answer.code == _AGAIN:
            if step.suspend and begin < self.looked and not self._ledger.lag:
                self._was_not_held_on(queue, offset, next_offset)
            if wanted is not None and wanted.is_everything:
                raise InvariantError(
                    "pull-is-answered", "messages, or PULL_NOT_FOUND (19)", "20, for every message"
                )
            held |= {wanted.invariant} if wanted is not None else set()
            for one in queue.entries:
                if (
                    one.offset is not None
                    and offset <= one.offset < next_offset
                    and wanted is not None
                    and wanted.has(one)
                    and one.latest <= moment
                ):
                    self._missed(
                        queue, one, wanted, moment, f"PULL_RETRY_IMMEDIATELY (20), next {next_offset}"
                    )
        elif 0 <= offset < lowest or offset == 0 == highest:
            self._lost(queue, offset, moment, f"PULL_OFFSET_MOVED (21) to {next_offset}")
            raise InvariantError("pull-at-the-end-waits", "PULL_NOT_FOUND (19)", f"21 to {next_offset}")
        elif offset > 0 and lowest == highest == offset:
            raise InvariantError("pull-at-the-end-waits", "PULL_NOT_FOUND (19)", f"21 to {next_offset}")
        elif not (next_offset == 0 if offset < 0 else lowest <= next_offset <= highest):
            where = "0" if offset < 0 else f"{lowest} to {highest}"
            raise InvariantError("pull-beyond-the-end-is-moved", f"to {where}", f"to {next_offset}")
        else:
            held.add("pull-before-the-beginning-is-moved" if offset < 0 else "pull-beyond-the-end-is-moved")

    def _was_not_held_on(self, queue: Queue, offset: int, next_offset: int) -> None:
        """Whether unwanted messages have ended a wait in time."""
        for one in queue.entries:
            is_passed = one.offset is not None and offset <= one.offset < next_offset
            self._ledger.held |= {"unwanted-message-ends-the-wait"} if is_passed else set()
            if is_passed and one.latest + _UNWANTED < self.looked:
                raise InvariantError(
                    "unwanted-message-ends-the-wait",
                    f"20 within {_UNWANTED} s",
                    f"after {self.looked - one.latest:.1f} s",
                )

    def _none_of_a_slave(
        self, step: Pull, queue: Queue, moment: float, answer: Command, wanted: Wanted | None
    ) -> None:
        """A slave corrects no offsets, and answers with other codes: its master may have more."""
        self._ledger.held.add("demoted-is-read-from")
        if wanted is not None and wanted.is_everything and 0 <= step.offset < queue.least(moment):
            raise InvariantError(
                "demoted-is-read-from", f"the message at {step.offset}", f"code {answer.code}"
            )


def _if_lost(queue: Queue, entry: Entry) -> str:
    """What is broken by a message that must be there and is not."""
    if entry.origin == "send" and queue.ended is not None:
        return f"acknowledged-survives-a-{'kill' if queue.ended == 'kill' else 'stop'}"
    if entry.copied and entry.origin != "timer":
        return "promoted-delivers-what-waits"
    if entry.origin == "delay" and queue.ended is not None:
        return "delayed-outlives-the-broker"
    if entry.origin != "send" and entry.paused and not entry.copied:
        return "promoted-goes-on-with-delays"
    return MISSING[entry.origin]
