"""What a Broker must hold, and may: topics, the messages of each queue, and transactions that are open.

- It gets requests and answers, and raises `InvariantError` where an answer is wrong.
- A Broker shows what it has stored a moment later (`lag`), as Apache's does, whose queues are written behind
  its log; where time is virtual that moment is none.
- A topic that was deleted is forgotten with all its messages; what was on its way into it may come or not.
"""

from __future__ import annotations

from math import inf
from typing import Literal

import msgspec

from harness.catalogue import Profile
from harness.program.broker import steps as bk
from harness.program.names import NOWHERE, Names, Place
from harness.program.step import Request
from harness.spec.broker.delays import Delays, is_delayed
from harness.spec.broker.entries import Entry, Half, Origin, Queue, Waits
from harness.spec.broker.ha_role import HaRole
from harness.spec.broker.invariant_error import InvariantError
from harness.wire import Command, WireError
from harness.wire.messages import decode_offset_id

DELAYS = (1, 5, 10, 30, 60, 120, 180, 240, 300, 360, 420, 480, 540, 600, 1200, 1800, 3600, 7200)
"""Seconds of the delay levels 1 to 18 (`MessageStoreConfig#messageDelayLevel`)."""

FIRST_RETRY = 3
"""Level of a message that comes back for the first time, where its consumer names none."""
_ANY = 16
"""No topic of a program has more queues."""
_QUEUES_OF_A_SEND = 4
"""Queues of a topic that a send brings into being: as many as it asks for."""
_LATE = 1.5
"""Seconds by which a delay may be over late (`ScheduleMessageService` looks ten times a second)."""
_TIMER_LATE = 3.0
"""The same of 5.x's timers, which are exact to a second on both ends (`TimerMessageStore`)."""
_RESTART_LATE = 5.0
"""And behind a start of the Broker."""
_UNWRITTEN = 15.0
"""Seconds within which a Broker has surely written down which delays are over (`flushDelayOffsetInterval` is
10 s)."""


class Topic(msgspec.Struct):
    """A topic that exists, or may."""

    queues: int | None
    """None where that is not known."""
    sure: bool = True
    since: float = -inf
    """From when on it is so."""


class Ledger:
    """Of one Broker. ``lag`` and ``slack``: protocol seconds after which it shows what it has stored, and by
    which its clock may seem to go wrong.
    """

    def __init__(self, names: Names, *, line: Profile, lag: float, slack: float, slave: bool = False) -> None:
        self.names = names
        self.line = line
        self.lag = lag
        self.slack = slack
        self.held: set[str] = set()
        """Invariants that the answer under judgement was held against so far."""
        self.ha_role = HaRole(line, exact=lag == 0, held=self.held, slave=slave)
        self.started = 0.0
        """When the Broker was started last, as far as is known."""
        self._delays = Delays(slave=slave)
        self.topics: dict[str, Topic] = {}
        self.queues: dict[tuple[str, int], Queue] = {}
        self.sends: dict[str, tuple[bk.Send, Entry | None]] = {}
        """By message, each that was sent whole; with its entry where it has one from the beginning."""
        self.halves: dict[str, Half] = {}
        self._deleted: set[str] = set()
        """Topics that were deleted when nothing was on its way into them: until it is started again, the
        Broker has nothing of them.
        """
        self.gone: dict[str, float] = {}
        """When topics were deleted that nothing has made again, as far as is known for certain."""
        self.forgotten: set[str] = set()
        """Topics that were deleted once: what of them comes back is unknown."""

    def queue(self, topic: str, queue: int) -> Queue:
        """A queue; an empty one where nothing is known of it."""
        return self.queues.setdefault((topic, queue), Queue())

    def exists(self, topic: str, moment: float) -> bool | None:
        """Whether a topic exists at a moment, which may lie before what is known by now; None if unknown."""
        found = self.topics.get(topic)
        if topic in self.gone:
            return False if moment > self.gone[topic] else None
        if found is None:
            return None if topic.startswith("%") or topic in self.forgotten else False
        return True if found.sure and found.since <= moment else None

    # --- topics ---------------------------------------------------------------------------------------------

    def made(self, step: bk.MakeTopic, end: float, answer: Command | None) -> None:
        """17."""
        self.held |= {"topic-is-made"} if answer is not None else set()
        before = self.topics.get(step.topic)
        self.gone.pop(step.topic, None)
        if answer is None:
            self.topics[step.topic] = Topic(None, before is not None and before.sure)
        elif answer.code == 0:
            self.topics[step.topic] = Topic(step.queues, since=end)
        else:
            raise InvariantError("topic-is-made", "SUCCESS", f"code {answer.code}, {answer.remark}")

    def dropped(self, step: bk.DropTopic, end: float, answer: Command | None) -> None:
        """215."""
        self.held |= {"topic-is-deleted"} if answer is not None else set()
        if answer is not None and answer.code != 0:
            raise InvariantError("topic-is-deleted", "SUCCESS", f"code {answer.code}, {answer.remark}")
        if answer is not None and not self.lag and not self._is_coming(step.topic):
            self.gone[step.topic] = end
        if answer is not None and not self.lag and self._is_quiet(step.topic):
            self._deleted.add(step.topic)
            for key in [key for key in self.queues if key[0] == step.topic]:
                del self.queues[key]
        else:
            self.forgotten.add(step.topic)
        if answer is None:
            self.topics[step.topic] = Topic(None, sure=False)
        else:
            self.topics.pop(step.topic, None)

    def _is_quiet(self, topic: str) -> bool:
        """Whether nothing is on its way into a topic: no send, no delay, no half message."""
        of_it = [queue for (name, _), queue in self.queues.items() if name == topic]
        if topic in self.forgotten or self._is_coming(topic):
            return False
        if any(entry.offset is None and entry.latest == inf for queue in of_it for entry in queue.entries):
            return False
        if any(is_delayed(entry) for queue in of_it for entry in queue.entries):
            return False
        return not any(half.send.topic == topic for half in self.halves.values())

    def _is_coming(self, topic: str) -> bool:
        return any(queue.coming for (name, _), queue in self.queues.items() if name == topic)

    def is_known(self, topic: str) -> bool:
        """Whether what is in its queues is known."""
        return topic not in self.forgotten

    # --- sending --------------------------------------------------------------------------------------------

    def coming(self, step: bk.Send, *, more: bool = True) -> None:
        """Messages are under way to a queue, or to any of its topic, where the Broker chooses; or (not
        ``more``) it is known what became of them.
        """
        for queue in (step.queue,) if step.queue >= 0 else range(_ANY):
            self.queue(step.topic, queue).coming += len(step.messages) if more else -len(step.messages)

    def sent(self, step: bk.Send, begin: float, end: float, answer: Command | None) -> None:
        """10, 310, 320, with the answer if there was one; `coming` before."""
        self.coming(step, more=False)
        self.gone.pop(step.topic, None)
        if answer is not None and answer.code == 0 and not step.oneway:
            self._acknowledged(step, begin, end, answer.ext or {})
            return
        topic = self.topics.get(step.topic)
        if answer is not None:
            self._refused(step, topic, answer)
            return
        is_master = self.ha_role.is_master(begin, end)
        exists = topic is not None and topic.sure and topic.queues is not None
        if exists and topic is not None and step.queue >= (topic.queues or 0):
            return  # it was refused, whether or not the refusal arrived
        if topic is None:
            self.topics[step.topic] = Topic(None, sure=False)
        latest = end + self.lag if step.oneway and exists and is_master else inf
        origin: Origin = "oneway" if step.oneway else "send"
        earliest, delay = begin, self._delay(step)
        if delay is not None:
            origin, latest = "delay" if step.level else "timer", inf
            earliest = begin + delay - self.slack
        for message in step.messages:
            self.sends[message] = (step, None)
            if step.half:
                continue
            queues = (
                (step.queue,) if step.queue >= 0 else range((topic and topic.queues) or _QUEUES_OF_A_SEND)
            )
            for queue in queues:
                entry = self.entry(step, message, earliest, latest if step.queue >= 0 else inf, origin)
                self.queue(step.topic, queue).add(entry)

    def _refused(self, step: bk.Send, topic: Topic | None, answer: Command) -> None:
        if answer.code == 2:
            return  # it is busy
        is_there = topic is None or (topic.sure and topic.queues is not None)
        if is_there and topic is not None and step.queue >= (topic.queues or 0):
            self.held.add("queue-beyond-the-topic-is-refused")
        if is_there and step.queue < (_QUEUES_OF_A_SEND if topic is None else topic.queues or 0):
            name = "long-send-succeeds" if step.long else "send-succeeds"
            raise InvariantError(name, "SUCCESS", f"code {answer.code}, {answer.remark}")
        if topic is None:
            self.topics[step.topic] = Topic(None, sure=False)  # it may be there nevertheless

    def _acknowledged(self, step: bk.Send, begin: float, end: float, ext: dict[str, str | None]) -> None:
        topic = self.topics.get(step.topic)
        if topic is None or not topic.sure:
            known = None if topic is not None or step.topic in self.forgotten else _QUEUES_OF_A_SEND
            topic = self.topics[step.topic] = Topic(known, since=end)
        if topic.queues is not None and step.queue >= topic.queues:
            raise InvariantError(
                "queue-beyond-the-topic-is-refused",
                f"a refusal: {self.names.name(step.topic)} has {topic.queues} queues",
                "SUCCESS",
            )
        self.held |= {"long-send-succeeds" if step.long else "send-succeeds", "answer-tells-region-and-trace"}
        self.held |= {"batch-has-all-ids"} if step.more else set()
        self.held |= (
            {"delayed-answer-names-its-queue"} if (step.level or step.after) and step.queue >= 0 else set()
        )
        queue, first = _number(ext, "queueId"), _number(ext, "queueOffset")
        if (step.queue >= 0 and queue != step.queue) or not 0 <= queue < (topic.queues or 1 << 16):
            name = "delayed-answer-names-its-queue" if step.level or step.after else "send-succeeds"
            raise InvariantError(name, f"queue {step.queue}", f"queue {queue}")
        ids = (ext.get("msgId") or "").split(",")
        if len(ids) != len(step.messages):
            raise InvariantError("batch-has-all-ids", f"{len(step.messages)} ids", f"{len(ids)}")
        _tells_more(ext)
        if not step.half and self._delay(step) is None and self.is_known(step.topic):
            self._placed(step, queue, first, begin, end)
        for number, message in enumerate(step.messages):
            if step.half:
                self.sends[message] = (step, None)
                self.halves[message] = Half(send=step, stored=end)
                continue
            delay = self._delay(step)
            if delay is not None:
                late = self.lag + (_TIMER_LATE if step.after and not step.level else _LATE)
                origin: Origin = "delay" if step.level else "timer"
                entry = self.entry(step, message, begin + delay - self.slack, end + delay + late, origin)
                entry.began, entry.sent = begin, end
                self._delays.begins(entry)
            else:
                entry = self.entry(step, message, begin, end, "send")
                entry.told = True
                if self.is_known(step.topic):
                    entry.offset = first + number
                entry.host, entry.log = _place(ids[number])
            self.queue(step.topic, queue).add(entry)
            self.sends[message] = (step, entry)

    def _delay(self, step: bk.Send) -> float | None:
        """Seconds that it waits; None where it does not."""
        if step.level > 0:
            return float(DELAYS[min(step.level, len(DELAYS)) - 1])
        return float(step.after) if step.after and self.line.has("delayed-messages") else None

    def _placed(self, step: bk.Send, queue: int, offset: int, begin: float, end: float) -> None:
        """Whether new messages may have offsets from this one on."""
        found = self.queue(step.topic, queue)
        where = f"{self.names.name(step.topic)}, queue {queue}"
        for one in range(offset, offset + len(step.messages)):
            if one in found.at:
                other = self.names.name(found.at[one].message)
                raise InvariantError(
                    "acknowledged-is-there", f"an offset of its own in {where}", f"{one}, as {other}"
                )
        least, most = found.least(begin), found.most(end)
        name = "offsets-go-on-after-a-kill" if found.ended == "kill" else "offsets-are-consecutive"
        self.held |= {name, "acknowledged-is-there"}
        if not least <= offset <= most:
            raise InvariantError(
                name,
                f"an offset from {least} to {most} in {where}",
                str(offset),
            )

    def entry(self, step: bk.Send, message: str, earliest: float, latest: float, origin: Origin) -> Entry:
        """A message for a queue; of one in a topic that was deleted it is not known whether it comes."""
        if not self.is_known(step.topic):
            latest = inf
        return Entry(message=message, send=step, origin=origin, earliest=earliest, latest=latest)

    # --- what is sent back ----------------------------------------------------------------------------------

    def sent_back(self, step: bk.Back, tried: int, begin: float, end: float, answer: Command | None) -> None:
        """36. ``tried``: how often what is sent back had come back before."""
        send, source = self.sends.get(step.message, (None, None))
        is_there = tried > 0 or (source is not None and (source.told or self._is_copy(source)))
        self.held |= {"sent-back-is-taken"} if is_there and answer is not None else set()
        if answer is not None and answer.code not in (0, 2) and is_there:
            raise InvariantError("sent-back-is-taken", "SUCCESS", f"code {answer.code}, {answer.remark}")
        if send is None or (answer is not None and answer.code != 0):
            return
        acknowledged = answer is not None and is_there
        origin: Origin = "dead" if step.level < 0 or tried >= step.most else "retry"
        if origin == "dead":
            earliest, latest, topic = begin, end, f"%DLQ%{step.group}"
        else:
            topic, level = f"%RETRY%{step.group}", min(step.level or FIRST_RETRY + tried, len(DELAYS))
            earliest, latest = (
                begin + DELAYS[level - 1] - self.slack,
                end + DELAYS[level - 1] + self.lag + _LATE,
            )
        entry = Entry(
            message=step.message,
            send=send,
            origin=origin,
            earliest=earliest,
            latest=latest if acknowledged else inf,
            tried=tried + 1,
        )
        if origin == "retry":
            self._delays.begins(entry)
        self.queue(topic, 0).add(entry)

    def _is_copy(self, entry: Entry) -> bool:
        """Whether a slave has a message where the answer of its master named it."""
        return entry.origin == "copy" and entry.log == self.names.places.get(entry.message, NOWHERE).log

    # --- copies of a slave ----------------------------------------------------------------------------------

    def copied(self, entry: Entry, topic: str, queue: int, place: Place) -> None:
        """A slave has got a message that is in a queue."""
        entry.offset, entry.log = place.queue, place.log
        self.queue(topic, queue).add(entry)
        self._delays.delivered(entry.message, entry.tried)
        if topic == entry.send.topic:
            self.sends[entry.message] = (entry.send, entry)

    def waits(self, one: Waits) -> None:
        """A slave has got a message that waits."""
        is_own = one.topic == one.send.topic
        origin: Origin = "retry" if not is_own else "delay" if one.send.level else "timer"
        entry = self.entry(one.send, one.message, one.earliest, inf, origin)
        entry.tried, entry.copied = one.tried, True
        self._delays.copied(entry, one.latest + self.lag + (_TIMER_LATE if origin == "timer" else _LATE))
        self.queue(one.topic, one.queue).add(entry)
        if is_own:
            self.sends[one.message] = (one.send, entry)

    def took_over(self, moment: float) -> None:
        """A slave has learnt how far its master has delivered what waits."""
        self._delays.took_over(moment)

    def sent_back_elsewhere(self, group: str) -> None:
        """Any message may have been sent back for a group."""
        self.forgotten |= {f"%RETRY%{group}", f"%DLQ%{group}"}

    # --- roles and restarts ---------------------------------------------------------------------------------

    def switched(self, step: bk.Switch, begin: float, end: float, answer: Command | None) -> None:
        """25: the Broker becomes a slave, or a master."""
        is_sure = self.ha_role.switched(step, begin, end, answer)
        self.left(begin)  # unanswered requests may reach it only now
        if step.role == "slave" and (is_sure or answer is None):
            self._delays.pause(self._waiting(), begin, end if is_sure else inf)
        elif step.role == "master" and (is_sure or answer is None):
            self._delays.resume(begin, end + _RESTART_LATE + self.lag if is_sure else inf)
            if self.ha_role.was_slave:
                self._timers_again()

    def _waiting(self) -> list[Entry]:
        """Of messages that wait, or have waited."""
        return [one for queue in self.queues.values() for one in queue.entries if is_delayed(one)]

    def _timers_again(self) -> None:
        """A Broker of Apache's reads its timers again when it becomes a master, those that it has delivered
        included (`TimerMessageStore#checkBrokerRole` of 5.3.3).
        """
        for queue in self.queues.values():
            timed = {one.message: one for one in queue.entries if one.origin == "timer"}
            for entry in timed.values():
                if entry.recalled and entry.offset is None:
                    entry.earliest = -inf  # what takes it back may be read later
                queue.add(msgspec.structs.replace(entry, latest=inf, offset=None))

    def turned_away(self, step: Request) -> None:
        """A slave has refused a request: nothing came of it, but perhaps a topic in 4.9, by a send."""
        if isinstance(step, bk.Send):
            self.coming(step, more=False)
            if not self.line.has("busy-slaves"):
                self.gone.pop(step.topic, None)
                self.topics.setdefault(step.topic, Topic(None, sure=False))

    def restarted(self, how: Literal["kill", "term"], begin: float, end: float) -> None:
        """The Broker was ended and started again."""
        self.started = end
        self.forgotten |= self._deleted
        was_master = self.ha_role.is_master(begin, begin)
        is_master = self.ha_role.restarted(begin, end)
        if not is_master:
            self._delays.pause(self._waiting(), begin, inf)
        self._delays.restarted(begin, was_master=was_master, is_master=is_master)
        for queue in self.queues.values():
            queue.ended = how
            for entry in list(queue.entries):
                if entry.origin == "oneway" and entry.offset is None and begin < entry.latest + self.lag:
                    entry.latest = inf  # it may not have been read yet
                if not is_delayed(entry):
                    continue
                if entry.latest == inf:
                    if entry.offset is None and entry.earliest <= begin:
                        queue.add(msgspec.structs.replace(entry))  # it may have been there, and come again
                    continue
                if entry.latest > begin:
                    entry.latest = max(entry.latest, end + _RESTART_LATE + self.lag)
                if begin - entry.latest < _UNWRITTEN + self.lag:
                    queue.add(msgspec.structs.replace(entry, latest=inf, offset=None))  # it may come again

    def left(self, begin: float) -> None:
        """A connection ended: what was just sent on one and not answered may not have been read."""
        for queue in self.queues.values():
            for entry in queue.entries:
                if entry.origin == "oneway" and entry.offset is None and entry.latest + self.lag > begin:
                    entry.latest = inf


def _tells_more(ext: dict[str, str | None]) -> None:
    """What an answer tells beside the place of a message."""
    if ext.get("MSG_REGION") is None or ext.get("TRACE_ON") is None:
        raise InvariantError("answer-tells-region-and-trace", "MSG_REGION and TRACE_ON", f"{sorted(ext)}")


def _place(text: str) -> tuple[str, int]:
    """The address and the offset in the log of an id."""
    try:
        return decode_offset_id(text)
    except WireError as problem:
        raise InvariantError("message-is-where-its-id-says", "an id", str(problem)) from None


def _number(ext: dict[str, str | None], name: str) -> int:
    try:
        return int(ext.get(name) or "")
    except ValueError:
        raise InvariantError("send-succeeds", f"{name} with a number", str(ext.get(name))) from None
