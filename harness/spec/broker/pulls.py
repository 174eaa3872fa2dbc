"""What a pull may answer, and searches: the messages themselves, held against the ledger.

A message is known by its unique key and its body. Whatever is shown must have a place
in the queue that it is shown in, at a time at which it may be there; what must be there must be shown.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import inf

from harness.program.broker.steps import Pull
from harness.spec.broker.entries import Entry, Origin, Queue
from harness.spec.broker.invariant_error import InvariantError
from harness.spec.broker.ledger import Ledger
from harness.spec.broker.wholeness import Wholeness, messages_of, number_of
from harness.wire import Command
from harness.wire.messages import Message, PropertyName, tag_hash

_UNWANTED = 6.0
"""Seconds behind which a message without the tag has ended the wait of a pull (`PullRequestHoldService`)."""
_FOUND, _NOT_FOUND, _AGAIN, _MOVED = 0, 19, 20, 21
_BUSY = 2
_EARLY: dict[Origin, str] = {
    "send": "acknowledged-is-there",
    "oneway": "oneway-is-there",
    "delay": "delayed-is-not-early",
    "timer": "timed-is-not-early",
    "commit": "half-is-invisible",
    "retry": "retried-is-not-early",
    "dead": "dead-letter-is-kept",
}
_MISSING: dict[Origin, str] = {
    **_EARLY,
    "delay": "delayed-is-delivered",
    "timer": "timed-is-delivered",
    "commit": "commit-delivers",
    "retry": "retried-comes-back",
}
_TWICE: dict[Origin, str] = {
    **_EARLY,
    "delay": "delayed-is-delivered-once",
    "timer": "delayed-is-delivered-once",
    "commit": "commit-delivers-once",
}
_DEMOTED = "demoted-delivers-no-delay"


class Pulls:
    """Judges what a Broker shows of its queues."""

    def __init__(self, ledger: Ledger, wholeness: Wholeness) -> None:
        self._ledger = ledger
        self._wholeness = wholeness
        self.looked = -inf
        """When all that had been answered by then was surely noticed, last."""

    # --- pulls ----------------------------------------------------------------------------------------------

    def pulled(
        self,
        step: Pull,
        begin: float,
        end: float,
        answer: Command,
        tags: Sequence[str] | None,
        refusal: tuple[int, str] | None,
    ) -> None:
        """11. ``tags`` is what the group subscribes to, None where that is not known; ``refusal`` is the code
        with which the pull has to be refused because of its group, and the invariant.
        """
        ledger = self._ledger
        topic = ledger.topics.get(step.topic)
        if answer.code not in (_FOUND, _NOT_FOUND, _AGAIN, _MOVED):
            self._refused(step, begin, answer, tags, refusal)
            return
        exists = ledger.exists(step.topic, begin)
        if exists is False:
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
        if answer.code == _FOUND:
            self._found(step, queue, begin, end, answer, next_offset, tags)
        if not ledger.is_known(step.topic):
            return
        if answer.code == _FOUND:
            self._complete(step, queue, begin, next_offset, tags, answer)
        else:
            self._none(step, queue, begin, end, answer, next_offset, tags)
        self._bounds(queue, begin - ledger.lag, end, answer)

    def _refused(
        self,
        step: Pull,
        begin: float,
        answer: Command,
        tags: Sequence[str] | None,
        refusal: tuple[int, str] | None,
    ) -> None:
        ledger = self._ledger
        topic = ledger.topics.get(step.topic)
        exists = ledger.exists(step.topic, begin)
        if (
            answer.code != _BUSY
            and exists
            and (tags is not None or refusal is not None)
            and topic is not None
            and topic.queues is not None
            and 0 <= step.queue < topic.queues
        ):
            if refusal is not None:
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
        tags: Sequence[str] | None,
    ) -> None:
        messages = messages_of(answer)
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
            entry = self._known(step.topic, queue, one, end)
            if tags and entry is not None and not _has_tag(entry, tags):
                raise InvariantError(
                    "pull-has-the-tag", f"messages with {' or '.join(tags)}", f"{entry.send.tag}"
                )
            if entry is not None and step.suspend and begin < self.looked and not self._ledger.lag:
                self._was_prompt(entry, tags, end)

    def _was_prompt(self, entry: Entry, tags: Sequence[str] | None, end: float) -> None:
        """Whether a held pull was answered when a message came, and not only some time later."""
        if tags is not None and entry.latest < self.looked:
            name = self._ledger.names.name(entry.message)
            raise InvariantError(
                "held-until-a-message-comes", f"{name} at once", f"after {end - entry.latest:.1f} s"
            )

    def _bounds(self, queue: Queue, begin: float, end: float, answer: Command) -> None:
        """What a pull says about its queue."""
        minimum, maximum = number_of(answer, "minOffset"), number_of(answer, "maxOffset")
        if minimum != 0:
            raise InvariantError("min-offset-is-the-first", "minOffset 0", str(minimum))
        self.is_max(queue, begin, end, maximum)

    def is_max(self, queue: Queue, begin: float, end: float, offset: int) -> None:
        """Whether a number may be the next offset of a queue. Raises `InvariantError`."""
        lowest, highest = queue.least(begin), queue.most(end)
        if lowest <= offset <= highest:
            return
        if offset < lowest:
            self._lost(queue, offset, begin, f"the greatest offset {offset}")
        if offset > highest and any(one.earliest == inf for one in queue.entries):
            raise InvariantError(_DEMOTED, f"at most {highest}: the Broker is a slave", str(offset))
        raise InvariantError("max-offset-is-the-next", f"{lowest} to {highest}", str(offset))

    def _lost(self, queue: Queue, offset: int, moment: float, actual: str) -> None:
        """Something must be there, from an offset on, and is not."""
        entry = queue.lost(offset, moment)
        if entry is None:
            return
        name = _MISSING[entry.origin]
        if entry.origin == "send":
            if queue.ended is not None:
                name = f"acknowledged-survives-a-{'kill' if queue.ended == 'kill' else 'stop'}"
        elif entry.origin == "delay" and queue.ended is not None:
            name = "delayed-outlives-the-broker"
        elif entry.paused:
            name = "promoted-goes-on-with-delays"
        where = "" if entry.offset is None else f" at {entry.offset}"
        raise InvariantError(name, f"{self._ledger.names.name(entry.message)}{where}", actual)

    def _complete(
        self,
        step: Pull,
        queue: Queue,
        begin: float,
        next_offset: int,
        tags: Sequence[str] | None,
        answer: Command,
    ) -> None:
        """Whether all is there between the offset that was asked for and the one to go on from."""
        shown = {one.queue_offset for one in messages_of(answer)}
        moment = begin - self._ledger.lag
        for offset in range(max(0, step.offset), next_offset):
            if offset in shown:
                continue
            entry = queue.at.get(offset)
            wanted = tags is not None and (not tags or (entry is not None and _has_tag(entry, tags)))
            if wanted and entry is not None and entry.latest <= moment:
                self._lost(queue, offset, moment, f"messages at {sorted(shown)}, next {next_offset}")
            if tags is not None and not tags:
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
        tags: Sequence[str] | None,
    ) -> None:
        """Codes 19, 20 and 21."""
        moment = begin - self._ledger.lag
        offset, lowest, highest = step.offset, queue.least(moment), queue.most(end)
        if not self._ledger.ha_role.is_master(begin, end):
            self._none_of_a_slave(step, queue, moment, answer, tags)
            return
        if answer.code == _NOT_FOUND:
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
            if step.suspend and tags is not None and not tags:
                there = queue.least(begin + step.suspend - self._ledger.slack - self._ledger.lag - 1)
                if offset < there:
                    raise InvariantError("held-until-a-message-comes", "the message", "PULL_NOT_FOUND (19)")
        elif answer.code == _AGAIN:
            if step.suspend and begin < self.looked and not self._ledger.lag:
                self._was_not_held_on(queue, offset, next_offset)
            if tags is not None and not tags:
                raise InvariantError(
                    "pull-is-answered", "messages, or PULL_NOT_FOUND (19)", "20, for every message"
                )
            for one in queue.entries:
                if (
                    one.offset is not None
                    and offset <= one.offset < next_offset
                    and tags is not None
                    and _has_tag(one, tags)
                    and one.latest <= moment
                ):
                    self._lost(queue, one.offset, moment, f"PULL_RETRY_IMMEDIATELY (20), next {next_offset}")
        elif 0 <= offset < lowest or offset == 0 == highest:
            self._lost(queue, offset, moment, f"PULL_OFFSET_MOVED (21) to {next_offset}")
            raise InvariantError("pull-at-the-end-waits", "PULL_NOT_FOUND (19)", f"21 to {next_offset}")
        elif offset > 0 and lowest == highest == offset:
            raise InvariantError("pull-at-the-end-waits", "PULL_NOT_FOUND (19)", f"21 to {next_offset}")
        elif not (next_offset == 0 if offset < 0 else lowest <= next_offset <= highest):
            where = "0" if offset < 0 else f"{lowest} to {highest}"
            raise InvariantError("pull-beyond-the-end-is-moved", f"to {where}", f"to {next_offset}")

    def _was_not_held_on(self, queue: Queue, offset: int, next_offset: int) -> None:
        """Whether unwanted messages have ended a wait in time."""
        for one in queue.entries:
            is_passed = one.offset is not None and offset <= one.offset < next_offset
            if is_passed and one.latest + _UNWANTED < self.looked:
                raise InvariantError(
                    "unwanted-message-ends-the-wait",
                    f"20 within {_UNWANTED} s",
                    f"after {self.looked - one.latest:.1f} s",
                )

    def _none_of_a_slave(
        self, step: Pull, queue: Queue, moment: float, answer: Command, tags: Sequence[str] | None
    ) -> None:
        """A slave corrects no offsets, and answers with other codes: its master may have more."""
        if tags is not None and not tags and 0 <= step.offset < queue.least(moment):
            raise InvariantError(
                "demoted-is-read-from", f"the message at {step.offset}", f"code {answer.code}"
            )

    # --- what a message is ----------------------------------------------------------------------------------

    def _known(self, topic: str, queue: Queue, shown: Message, end: float) -> Entry | None:
        """The entry of a message that was shown in a queue; None where the queue may hold others."""
        key = shown.properties.get(PropertyName.UNIQ_KEY, "")
        text = shown.body.rstrip(b".").decode("latin-1")
        names = self._ledger.names
        symbol = names.made.get(key) or names.made.get(text)
        if symbol is None:
            if not self._ledger.is_known(topic):
                return None
            raise InvariantError(
                "body-is-as-it-was-sent", "a message that was sent", f"{text!r} with key {key!r}"
            )
        entry = queue.at.get(shown.queue_offset)
        if entry is not None and entry.message != symbol:
            if not self._ledger.is_known(topic):
                return None
            raise InvariantError(
                _MISSING[entry.origin] if entry.origin != "send" else "acknowledged-is-there",
                f"{names.name(entry.message)} at {shown.queue_offset}",
                f"{key or text} there",
            )
        if entry is None:
            entry = self._new(topic, queue, symbol, shown, end)
        if entry is not None:
            self._wholeness.judge(entry, shown)
        return entry

    def _new(self, topic: str, queue: Queue, symbol: str, shown: Message, end: float) -> Entry | None:
        """Finds the entry of a message that is seen for the first time."""
        own = [one for one in queue.entries if one.message == symbol]
        own.sort(key=lambda one: one.tried != shown.reconsume_times)
        free = [one for one in own if one.offset is None]
        free.sort(key=lambda one: (one.tried != shown.reconsume_times, one.latest, one.earliest))
        free.sort(key=lambda one: one.earliest > end)
        if free and free[0].earliest <= end:
            queue.bind(free[0], shown.queue_offset, end)
            if self._ledger.is_known(topic):
                self._is_in_order(queue, free[0])
            return free[0]
        if not self._ledger.is_known(topic):
            return None
        what = f"{self._ledger.names.name(symbol)} at {shown.queue_offset}"
        if free:
            if free[0].earliest == inf:
                raise InvariantError(_DEMOTED, "nothing: the Broker is a slave", what)
            early = free[0].earliest - end
            raise InvariantError(_EARLY[free[0].origin], f"not before {early:.3f} s from then", what)
        if own:
            raise InvariantError(_TWICE[own[0].origin], f"once, at {own[0].offset}", what)
        half = self._ledger.halves.get(symbol)
        if half is not None and topic == half.send.topic:
            if not half.ends:
                raise InvariantError("half-is-invisible", "nothing: it was not committed", what)
            raise InvariantError("rolled-back-is-invisible", "nothing: it was rolled back", what)
        raise InvariantError("acknowledged-is-there", f"nothing: it was not sent to {topic}", what)

    def _is_in_order(self, queue: Queue, entry: Entry) -> None:
        """Whether messages of one level keep their order; behind a restart some may come again."""
        if entry.origin != "delay" or entry.paused or queue.ended is not None:
            return
        for one in queue.entries:
            if one.origin != "delay" or one.paused or one.send.level != entry.send.level:
                continue
            self._in_order(one, entry)
            self._in_order(entry, one)

    def _in_order(self, first: Entry, second: Entry) -> None:
        """Whether of two messages the first lies before the second, if it was sent before."""
        if first.offset is None or second.offset is None or first.sent >= second.began:
            return
        if first.offset > second.offset:
            names = self._ledger.names
            raise InvariantError(
                "delayed-keeps-its-order",
                f"{names.name(first.message)} before {names.name(second.message)}",
                f"it is at {first.offset}, behind {second.offset}",
            )


def _has_tag(entry: Entry, tags: Sequence[str]) -> bool:
    """Whether a queue knows an entry by one of these tags: it holds their hashes."""
    tag = entry.send.tag
    return tag is not None and tag_hash(tag) in {tag_hash(one) for one in tags}
