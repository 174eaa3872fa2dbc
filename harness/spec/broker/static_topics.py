"""Static topics (5.x): what a Broker serves of mapped queues, as far as that is known.

- An offset in a mapped queue is that in the queue of the Broker, counted from where the part begins
  (`harness.program.broker.static_steps`). Messages carry those of the queue of the Broker.
- A mapped queue whose last part is not here is served no longer: requests about it are refused.
- Of a topic that there was before its first mapping, that was deleted, or whose mapping may be another one,
  nothing is judged; nor of requests that were under way while the mapping was changed.
- What a group has committed is what it has committed in the last part in which it has committed anything.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import inf
from typing import Literal

import msgspec

from harness.program.broker import steps as bk
from harness.program.broker.static_steps import MapTopic, Search
from harness.program.step import Request
from harness.spec.broker.entries import Entry, Queue
from harness.spec.broker.groups import UNWRITTEN
from harness.spec.broker.invariant_error import InvariantError
from harness.spec.broker.ledger import Ledger, Topic
from harness.spec.broker.regular_register import RegularRegister
from harness.spec.broker.wholeness import Wholeness, messages_of, number_of
from harness.wire import Command, ResponseCode
from harness.wire.messages import Message, PropertyName

_SUCCESS, _BUSY = ResponseCode.SUCCESS, ResponseCode.SYSTEM_BUSY
_NOT_LEADER = ResponseCode.NOT_LEADER_FOR_QUEUE
_MAX, _MIN = 30, 31
_USED = "mapped-queue-is-used"
_GOES_ON = "offsets-go-on-in-another-queue"


class _Part(msgspec.Struct, eq=False):
    """A queue of the Broker that is a part of a mapped one."""

    begin: int
    number: int
    queue: Queue
    commits: dict[str, RegularRegister]
    """By group."""


class _Static(msgspec.Struct, eq=False):
    """A static topic."""

    mapping: MapTopic
    since: tuple[float, float]
    """Between which moments the mapping was put."""
    parts: dict[int, list[_Part]]
    is_known: bool = True


class StaticTopics:
    """Of one Broker."""

    def __init__(self, ledger: Ledger, wholeness: Wholeness) -> None:
        self._ledger = ledger
        self._wholeness = wholeness
        self._topics: dict[str, _Static] = {}

    def takes(self, step: Request) -> bool:
        """Whether a request is about a static topic, or makes one: it is judged here then."""
        return isinstance(step, MapTopic) or getattr(step, "topic", None) in self._topics

    def took(
        self, step: Request, begin: float, end: float, answer: Command | None, *, is_member: bool
    ) -> None:
        """Such a request, with its answer if there was one. ``is_member``: its group is surely known. Raises
        `InvariantError`.
        """
        if isinstance(step, MapTopic):
            self._mapped(step, begin, end, answer)
            return
        static = self._topics[step.topic]  # type: ignore[attr-defined]
        if isinstance(step, bk.Back):  # what comes of it is in another topic
            self._ledger.sent_back_elsewhere(step.group)
        if isinstance(step, bk.Send):
            self._ledger.coming(step, more=False)
        if isinstance(step, bk.DropTopic) or self._is_under_way(static, begin, end):
            static.is_known = False
        if not static.is_known:
            return
        match step:
            case bk.Send():
                self._sent(static, step, begin, end, answer)
            case bk.Commit():
                self._committed(static, step, begin, end, answer, is_member=is_member)
            case bk.Pull() | bk.Bound() | Search() | bk.Committed() if answer and answer.code != _BUSY:
                if self._leads(static, step.queue, answer):
                    self._looked(static, step, begin, end, answer)

    def restarted(self, how: Literal["kill", "term"], begin: float, end: float) -> None:
        """The Broker was ended and started again."""
        since = begin - self._ledger.lag - (UNWRITTEN if how == "kill" else 0.0)
        for static in self._topics.values():
            for part in (one for parts in static.parts.values() for one in parts):
                part.queue.ended = how
                for register in part.commits.values():
                    register.forget(since, begin, end)

    def _is_under_way(self, static: _Static, begin: float, end: float) -> bool:
        return begin <= static.since[1] and end >= static.since[0]

    # --- mappings -------------------------------------------------------------------------------------------

    def _mapped(self, step: MapTopic, begin: float, end: float, answer: Command | None) -> None:
        """513."""
        known = self._topics.get(step.topic)
        if known is None:
            is_new = self._is_new(step.topic)
            self._ledger.topics[step.topic] = Topic(None, sure=False)
            self._ledger.forgotten.add(step.topic)
            self._ledger.gone.pop(step.topic, None)
            self._topics[step.topic] = static = _Static(step, (begin, end), {}, is_new and answer is not None)
            self._has_code("static-topic-is-made", answer, is_known=static.is_known, is_taken=True)
            self._put(static, step, (begin, end))
        elif answer is None or answer.code == _BUSY or not known.is_known:
            known.is_known = False
        else:
            is_later = step.epoch > known.mapping.epoch
            is_known = step.epoch < known.mapping.epoch or (is_later and _goes_on(known.mapping, step))
            name = "static-topic-is-made" if is_later else "older-mapping-is-refused"
            self._has_code(name, answer, is_known=is_known, is_taken=is_later)
            if answer.code == _SUCCESS:
                known.is_known = is_known
                self._put(known, step, (begin, end))

    def _is_new(self, topic: str) -> bool:
        """Whether there surely was no such topic."""
        ledger = self._ledger
        queues = [queue for (name, _), queue in ledger.queues.items() if name == topic]
        is_empty = not any(queue.coming or queue.entries for queue in queues)
        return is_empty and topic not in ledger.topics and topic not in ledger.forgotten

    def _has_code(self, name: str, answer: Command | None, *, is_known: bool, is_taken: bool) -> None:
        if answer is None or not is_known or answer.code == _BUSY:
            return
        self._ledger.held.add(name)
        if (answer.code == _SUCCESS) != is_taken:
            expected = "SUCCESS" if is_taken else "a refusal: the epoch is older"
            raise InvariantError(name, expected, f"code {answer.code}, {answer.remark}")

    def _put(self, static: _Static, step: MapTopic, since: tuple[float, float]) -> None:
        static.mapping, static.since = step, since
        for number in step.queues:
            before = {part.begin: part for part in static.parts.get(number, [])}
            static.parts[number] = [
                before.get(one.begin) or _Part(one.begin, one.queue, Queue(), {})
                for one in step.parts(number)
                if one.queue is not None
            ]

    def _leads(self, static: _Static, number: int, answer: Command) -> bool:
        """Whether the Broker leads a queue, as its answer must say, too. Raises `InvariantError`."""
        leads = static.mapping.leads(number)
        name = "old-leader-refuses" if number in static.mapping.gone else "leader-alone-serves-a-queue"
        self._ledger.held |= {name} if not leads else set()
        if not leads and answer.code != _NOT_LEADER:
            raise InvariantError(name, f"NOT_LEADER_FOR_QUEUE ({_NOT_LEADER})", f"code {answer.code}")
        if leads and answer.code == _NOT_LEADER:
            self._is_refused(static, number, answer)
        return leads

    def _is_refused(self, static: _Static, number: int, answer: Command) -> None:
        name = self._name_of(static.parts[number][-1])
        raise InvariantError(name, f"queue {number}: it leads it", f"code {answer.code}, {answer.remark}")

    def _name_of(self, part: _Part) -> str:
        """What is broken by what is wrong about a part."""
        if part.queue.ended == "kill":
            return "mapping-survives-a-kill"
        return _GOES_ON if part.begin else _USED

    # --- sends ----------------------------------------------------------------------------------------------

    def _sent(self, static: _Static, step: bk.Send, begin: float, end: float, answer: Command | None) -> None:
        if step.half or step.level or step.after:
            static.is_known = False
            return
        led = [number for number in static.mapping.queues if static.mapping.leads(number)]
        if answer is None:
            for number in [one for one in led if step.queue in (one, -1)]:
                for message in step.messages:
                    entry = self._entry(step, message, begin, inf)
                    static.parts[number][-1].queue.add(entry)
            return
        if answer.code == _BUSY:
            return
        if step.queue >= 0 and not self._leads(static, step.queue, answer):
            return
        if step.queue < 0 and answer.code == _NOT_LEADER and len(led) < len(static.mapping.queues):
            return
        name = _USED if step.queue >= 0 else "any-queue-is-one-that-is-mapped"
        self._ledger.held.add(name)
        if answer.code != _SUCCESS:
            raise InvariantError(name, "SUCCESS", f"code {answer.code}, {answer.remark}")
        number, offset = number_of(answer, "queueId"), number_of(answer, "queueOffset")
        if number not in led or step.queue not in (number, -1):
            expected = f"queue {step.queue}" if step.queue >= 0 else f"one of {led}"
            raise InvariantError(name, expected, f"queue {number}")
        part = static.parts[number][-1]
        coming = self._ledger.queue(step.topic, number).coming
        least, most = part.queue.least(begin), part.queue.most(end) + coming
        self._ledger.held.add(self._name_of(part))
        if not part.begin + least <= offset <= part.begin + most:
            expected = f"an offset from {part.begin + least} to {part.begin + most} in queue {number}"
            raise InvariantError(self._name_of(part), expected, str(offset))
        for at, message in enumerate(step.messages, offset - part.begin):
            if at in part.queue.at:
                raise InvariantError(self._name_of(part), "an offset of its own", f"{offset}, as another")
            entry = self._entry(step, message, begin, end)
            entry.offset, entry.told = at, True
            part.queue.add(entry)
            self._ledger.sends[message] = (step, entry)

    def _entry(self, step: bk.Send, message: str, earliest: float, latest: float) -> Entry:
        return Entry(
            message=message,
            send=step,
            origin="oneway" if step.oneway else "send",
            earliest=earliest,
            latest=latest,
        )

    # --- looks ----------------------------------------------------------------------------------------------

    def _looked(
        self,
        static: _Static,
        step: bk.Pull | bk.Bound | Search | bk.Committed,
        begin: float,
        end: float,
        answer: Command,
    ) -> None:
        parts = static.parts[step.queue]
        match step:
            case bk.Pull() if self._ledger.ha_role.is_master(begin, end) and _is_plain(step):
                self._pulled(parts, step, begin, end, answer)
            case bk.Bound():
                self._bound(parts, step, begin, end, answer)
            case Search() if parts[0].queue.least(begin - self._ledger.lag):
                name = "time-is-searched-from-the-first-part"
                self._ledger.held.add(name)
                offset = number_of(answer, "offset") if answer.code == _SUCCESS else None
                if offset != 0:
                    raise InvariantError(name, "offset 0", f"code {answer.code}, {offset}")
            case bk.Committed():
                self._asked(parts, step, begin, end, answer)

    def _bound(
        self, parts: Sequence[_Part], step: bk.Bound, begin: float, end: float, answer: Command
    ) -> None:
        if step.code not in (_MAX, _MIN):
            return
        name = self._name_of(parts[-1])
        self._ledger.held.add(name)
        if answer.code != _SUCCESS:
            raise InvariantError(name, "an offset", f"code {answer.code}, {answer.remark}")
        offset = number_of(answer, "offset")
        if step.code == _MAX:
            self._is_end(parts[-1], offset, begin, end)
        elif offset != 0:
            raise InvariantError(name, "the least offset 0", str(offset))

    def _is_end(self, part: _Part, offset: int, begin: float, end: float) -> None:
        least, most = part.queue.least(begin - self._ledger.lag), part.queue.most(end)
        if not part.begin + least <= offset <= part.begin + most:
            expected = f"{part.begin + least} to {part.begin + most}"
            raise InvariantError(self._name_of(part), expected, f"the greatest offset {offset}")

    def _pulled(
        self, parts: Sequence[_Part], step: bk.Pull, begin: float, end: float, answer: Command
    ) -> None:
        """11, without tags and filters, which is not held."""
        part = [parts[0], *(one for one in parts if one.begin <= step.offset)][-1]
        later = next((one for one in parts if one.begin > part.begin), None)
        name, least = self._name_of(part), part.queue.least(begin - self._ledger.lag)
        self._ledger.held.add(name)
        following = number_of(answer, "nextBeginOffset")
        asked = max(0, step.offset - part.begin)
        if answer.code == _SUCCESS:
            shown = [self._shown(part, step, one, answer, end) for one in messages_of(answer)]
            expected = [*range(asked, asked + len(shown))]
            if shown != expected or not shown or len(shown) > step.most:
                raise InvariantError(name, f"messages from {asked} on, at most {step.most}", f"{shown}")
            if following != part.begin + shown[-1] + 1:
                raise InvariantError(name, f"next {part.begin + shown[-1] + 1}", f"next {following}")
            self._has_bounds(part, later, begin, end, answer)
            return
        if step.offset < 0:
            return
        if asked < least:
            raise InvariantError(name, f"messages: there are {least}", f"code {answer.code}")
        code, goes_on = ResponseCode.PULL_NOT_FOUND, part.begin + least
        if later is not None:
            name, code = "end-of-a-part-goes-on", ResponseCode.PULL_RETRY_IMMEDIATELY
            goes_on = later.begin
        elif not part.begin and asked > part.queue.most(end):
            name = "behind-one-part-is-nothing"
        elif asked > least:
            return  # how a last part that began later answers is not said
        self._ledger.held.add(name)
        most = goes_on if later is not None else part.begin + part.queue.most(end)
        if answer.code != code or not goes_on <= following <= most:
            raise InvariantError(
                name, f"code {code}, next {goes_on}", f"code {answer.code}, next {following}"
            )
        self._has_bounds(part, later, begin, end, answer)

    def _has_bounds(
        self, part: _Part, later: _Part | None, begin: float, end: float, answer: Command
    ) -> None:
        """What a pull of the last part says about it."""
        if later is not None:
            return
        least = number_of(answer, "minOffset")
        if least != part.begin:
            raise InvariantError(self._name_of(part), f"minOffset {part.begin}", str(least))
        self._is_end(part, number_of(answer, "maxOffset"), begin, end)

    def _shown(self, part: _Part, step: bk.Pull, one: Message, answer: Command, end: float) -> int:
        """Judges a message that a pull has shown; its offset in the part."""
        names, name = self._ledger.names, self._name_of(part)
        delta = (answer.ext or {}).get("offsetDelta")
        if (one.topic, one.queue_id, delta) != (names.name(step.topic), part.number, str(part.begin)):
            expected = f"{names.name(step.topic)}, queue {part.number}, offsetDelta {part.begin}"
            raise InvariantError(name, expected, f"{one.topic}, queue {one.queue_id}, offsetDelta {delta}")
        symbol = names.made.get(one.properties.get(PropertyName.UNIQ_KEY, ""))
        entry = part.queue.at.get(one.queue_offset)
        if entry is None:
            free = [
                other
                for other in part.queue.entries
                if other.offset is None and other.message == symbol and other.earliest <= end
            ]
            if free:
                entry = free[0]
                part.queue.bind(entry, one.queue_offset, end)
        if entry is None or entry.message != symbol:
            expected = "a message that was sent there" if entry is None else names.name(entry.message)
            raise InvariantError(name, expected, f"{names.name(symbol or '')} at {one.queue_offset}")
        self._wholeness.judge(entry, one)
        return one.queue_offset

    # --- offsets of groups ----------------------------------------------------------------------------------

    def _committed(
        self,
        static: _Static,
        step: bk.Commit,
        begin: float,
        end: float,
        answer: Command | None,
        *,
        is_member: bool,
    ) -> None:
        """15."""
        if answer is not None and answer.code != _BUSY and is_member:
            leads = self._leads(static, step.queue, answer)
            self._ledger.held |= {"mapped-commits-count"} if leads else set()
            if leads and answer.code != _SUCCESS:
                raise InvariantError("mapped-commits-count", "SUCCESS", f"{answer.code}, {answer.remark}")
        if not static.mapping.leads(step.queue) or (answer is not None and answer.code != _SUCCESS):
            return
        parts = static.parts[step.queue]
        part = [parts[0], *(one for one in parts if one.begin <= step.offset)][-1]
        register = part.commits.setdefault(step.group, RegularRegister())
        register.write(step.offset, begin, end if answer is not None else inf, "commit")

    def _asked(
        self, parts: Sequence[_Part], step: bk.Committed, begin: float, end: float, answer: Command
    ) -> None:
        """14."""
        values: set[int | None] = set()
        for part in reversed(parts):
            register = part.commits.get(step.group)
            found = {None} if register is None else {one.value for one in register.possible(begin, end)}
            values |= found - {None}
            if None not in found:
                break
        else:
            values.add(None)
        offset = number_of(answer, "offset") if answer.code == _SUCCESS else None
        self._ledger.held.add("mapped-commits-count")
        if offset == 0 and None in values:
            return  # what a group begins with that has committed nothing
        if offset not in values or answer.code not in (_SUCCESS, ResponseCode.QUERY_NOT_FOUND):
            expected = " or ".join(sorted("none" if one is None else str(one) for one in values))
            raise InvariantError("mapped-commits-count", expected, f"code {answer.code}, {offset}")


def _goes_on(known: MapTopic, step: MapTopic) -> bool:
    """Whether a mapping has what another had, and perhaps more parts."""
    return (
        step.queues == known.queues
        and set(known.goes_on) <= set(step.goes_on)
        and set(known.gone) <= set(step.gone)
    )


def _is_plain(step: bk.Pull) -> bool:
    """Whether a pull wants every message, at once."""
    return step.subscribes and not (step.tags or step.filter or step.suspend or step.commit is not None)
