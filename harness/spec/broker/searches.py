"""What searches may find, and what queues are said to hold."""

from __future__ import annotations

from harness.program.broker.frames import body_of
from harness.program.broker.steps import Bound, Find, Status, View
from harness.spec.broker.invariant_error import InvariantError
from harness.spec.broker.ledger import Ledger
from harness.spec.broker.pulls import Pulls
from harness.spec.broker.wholeness import Wholeness, messages_of, number_of
from harness.wire import Command, WireError
from harness.wire.bodies import TopicStats

_BUSY, _EARLIEST = 2, 32


class Searches:
    """Judges answers to 12, 30 to 33 and 202."""

    def __init__(self, ledger: Ledger, pulls: Pulls, wholeness: Wholeness) -> None:
        self._ledger = ledger
        self._pulls = pulls
        self._wholeness = wholeness

    def bound(self, step: Bound, begin: float, end: float, answer: Command) -> None:
        """30 and 31."""
        if answer.code == _BUSY or not self._ledger.is_known(step.topic):
            return
        name = "max-offset-is-the-next" if step.code == 30 else "min-offset-is-the-first"
        self._ledger.held |= {name} if step.code != _EARLIEST else set()
        if answer.code != 0:
            raise InvariantError(name, "SUCCESS", f"code {answer.code}, {answer.remark}")
        if step.code == _EARLIEST:
            self._earliest(step, begin, end, number_of(answer, "timestamp"))
            return
        offset = number_of(answer, "offset")
        if step.code == 31 and offset != 0:
            raise InvariantError(name, "0", str(offset))
        if step.code == 30:
            queue = self._ledger.queue(step.topic, step.queue)
            self._pulls.is_max(queue, begin - self._ledger.lag, end, offset)

    def _earliest(self, step: Bound, begin: float, end: float, timestamp: int) -> None:
        queue = self._ledger.queue(step.topic, step.queue)
        name, first = "earliest-time-is-that-of-the-first", queue.at.get(0)
        self._ledger.held |= {name} if queue.most(end) == 0 else set()
        if queue.most(end) == 0 and timestamp != -1:
            raise InvariantError(name, "-1: the queue is empty", f"{timestamp}")
        if first is None or not first.told:
            return
        if timestamp < 0:
            if first.latest >= begin:  # it may have come with the question, and behind it
                return
            raise InvariantError(
                name, f"when {self._ledger.names.name(first.message)} was stored", f"{timestamp}"
            )
        if not self._ledger.lag:
            self._wholeness.was_stored(first, timestamp, name)

    def viewed(self, step: View, begin: float, answer: Command) -> None:
        """33."""
        send, entry = self._ledger.sends.get(step.message, (None, None))
        if send is None or answer.code == _BUSY:
            return
        found = messages_of(answer) if answer.code == 0 else []
        self._ledger.held.add("id-finds-the-message")
        body = body_of(step.message, send.size, self._ledger.names)
        if [one.body for one in found] != [body]:
            bodies = [one.body[:40] for one in found]
            raise InvariantError("id-finds-the-message", repr(body[:40]), f"code {answer.code}, {bodies}")
        if entry is not None and entry.told:
            self._wholeness.judge(entry, found[0])

    def found(self, step: Find, begin: float, end: float, answer: Command) -> None:
        """12."""
        if answer.code not in (0, 22) or not self._ledger.is_known(step.topic):
            return
        names = self._ledger.names
        shown = messages_of(answer) if answer.code == 0 else []
        held = self._ledger.held
        if shown:
            held |= {"key-finds-each-once", "search-is-not-more-than-asked-for", "key-finds-no-others"}
            held |= {"search-is-in-order"} if not step.unique and len(shown) > 1 else set()
        if len({one.physical_offset for one in shown}) < len(shown):
            raise InvariantError(
                "key-finds-each-once", "each message once", f"{[one.body[:40] for one in shown]}"
            )
        if len(shown) > step.most:
            most = f"at most {step.most}"
            raise InvariantError("search-is-not-more-than-asked-for", most, f"{len(shown)}")
        if not step.unique and shown != sorted(shown, key=lambda one: one.physical_offset):
            logs = f"{[one.physical_offset for one in shown]}"
            raise InvariantError("search-is-in-order", "offsets in the log that grow", logs)
        oldest = min((one.physical_offset for one in shown), default=0) if len(shown) >= step.most else 0
        bodies = {one.body.rstrip(b".").decode("latin-1") for one in shown}
        for one in shown:
            symbol = names.made.get(one.body.rstrip(b".").decode("latin-1"))
            send = self._ledger.sends.get(symbol or "", (None, None))[0]
            has = send is not None and (step.key == symbol if step.unique else step.key in send.keys)
            if one.topic != names.name(step.topic) or not has:
                actual = f"{one.body[:40]!r} of {one.topic}"
                raise InvariantError(
                    "key-finds-no-others", f"messages of {names.name(step.topic)} with the key", actual
                )
        moment = begin - self._ledger.lag
        for (topic, _), queue in self._ledger.queues.items():
            for entry in queue.entries:
                has = entry.message == step.key if step.unique else step.key in entry.send.keys
                if (
                    topic != step.topic
                    or not has
                    or entry.latest > moment
                    or (len(shown) >= step.most and (entry.log is None or entry.log < oldest))
                ):
                    continue
                name = "unique-key-finds-the-message" if step.unique else "key-finds-every-message"
                name = "keys-survive-a-kill" if queue.ended == "kill" else name
                held.add(name)
                if names.name(entry.message) not in bodies:
                    raise InvariantError(
                        name, names.name(entry.message), f"code {answer.code}, {sorted(bodies)}"
                    )

    def status(self, step: Status, begin: float, end: float, answer: Command) -> None:
        """202."""
        topic = self._ledger.topics.get(step.topic)
        if answer.code == _BUSY or not self._ledger.is_known(step.topic) or topic is None or not topic.sure:
            return
        name = "status-shows-each-queue"
        self._ledger.held |= {name, "min-offset-is-the-first"}
        if answer.code:
            raise InvariantError(name, "SUCCESS", f"code {answer.code}, {answer.remark}")
        try:
            table = TopicStats.decode(answer.body).offset_table
        except WireError as problem:
            raise InvariantError(name, "JSON with offsetTable", str(problem)) from None
        shown = {queue.queue_id: bounds for queue, bounds in table.items()}
        if topic.queues is not None and set(shown) != set(range(topic.queues)):
            raise InvariantError(name, f"queues 0 to {topic.queues - 1}", f"{sorted(shown)}")
        for number, bounds in shown.items():
            if bounds.min_offset != 0:
                raise InvariantError("min-offset-is-the-first", "0", f"{bounds.min_offset} of queue {number}")
            queue = self._ledger.queue(step.topic, number)
            self._pulls.is_max(queue, begin - self._ledger.lag, end, bounds.max_offset)
