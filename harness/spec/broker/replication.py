"""What a master and its slave owe each other, and what a synchronous master says of it.

- The log of the master is known as far as it was pushed. A send may succeed when the slave has reported that
  it has the whole message; else its answer is that there is no slave (4.9), or that the slave was too slow.
  The message is stored in any case: to the ledger of the master each of these answers is a success.
- What a slave has reported is on it, in its queues, also when its master is gone and it becomes the master
  itself: such messages are put into the ledger of the slave, which judges what it shows.
- Of a message that has come half the slave has nothing. Apache's (5.3.3) that is killed takes one for whole
  whose properties lack their end (of 213 bytes, 1 or 60); then nothing more is judged of the slave and of
  what waits for it.
- The slave's own offsets of groups become those that the master answers when the slave takes them over; they
  outlive a kill.
- A message that waits, for its level, for its time or to come back, is on the slave, too, and is not shown
  before its time. A slave that has become the master and was started again delivers it, unless it has taken
  over that its old master did (`delays`). A half message that is on the slave is ended there when the slave
  has become the master, unless the old master was told how it ends.
- A master takes messages back without waiting for its slave.
- A slave becomes the master by a change of its role and another start. Until then Apache's (5.3.3) numbers
  the messages of a queue from 0 on, as if those of its master were not there: what it is sent then is not
  judged, nor anything behind that.
"""

from __future__ import annotations

from collections.abc import Sequence

import msgspec

from harness.catalogue import Profile
from harness.program.broker import steps as bk
from harness.program.broker.frames import STORED
from harness.program.broker.pair_steps import Part, Replicate, TakeOver
from harness.program.names import Names
from harness.program.step import Request, Restart
from harness.spec.broker.entries import Waits
from harness.spec.broker.invariant_error import InvariantError
from harness.spec.broker.ledger import DELAYS, FIRST_RETRY
from harness.spec.broker.tracker import BrokerTracker
from harness.spec.observation import Answered, Copied, Observation, TakenOver
from harness.wire import ResponseCode, WireError
from harness.wire.messages import Message, PropertyName, TopicName, decode_messages, decode_offset_id

SLAVE_TIMEOUT = 2.0
"""Seconds for which a master waits for its slave (``slaveTimeout``)."""


class Replication:
    """Of one pair. ``jitter`` is that of the clock of the master, 0 where time is virtual."""

    def __init__(self, line: Profile, names: Names, slave: BrokerTracker, *, jitter: float) -> None:
        self.held: dict[int, set[str]] = {}
        """By step: the invariants that it was held against and has not broken."""
        self._has_codes = not line.has("busy-slaves")
        self._names = names
        self._slave = slave
        self._jitter = jitter
        self._sends: dict[str, bk.Send] = {}
        self._begun: dict[str, float] = {}
        """When messages were sent, on the clock of the master."""
        self._backs: dict[tuple[str, str], list[tuple[int, float]]] = {}
        """By message and group: with which levels it was sent back to the master, and when."""
        self._log = bytearray()
        """Of the master, from 0 on, as far as it was pushed."""
        self._ends: dict[int, int] = {}
        """Where each message begins in the log, and where it ends."""
        self._read = 0
        """Up to where the log was read."""
        self._told = 0
        """How much of the log the slave has, as the master knows."""
        self._told_before = 0
        self._answered: frozenset[int] = frozenset()
        """Steps that had been answered before the master was told so much."""
        self._connected = -1
        """The step from which on the slave is connected; -1: it is not."""
        self._has_been_connected = False
        self._slave_end = 0
        """Where the log of the slave ends."""
        self._given = 0
        """Up to where its messages are in its ledger."""
        self._has_ended = False
        """Whether the slave was started again since it was asked where its log ends."""
        self._follows = True
        self._role = "slave"
        self._is_started = True
        """Whether the slave was started in the role that it has."""
        self._is_role_sure = True
        """Whether the slave surely has that role: a server that is started again may forget a change."""
        self._has_its_own = False
        """Whether the slave may have stored something as a master, before it met its own."""
        self.is_slave_known = True
        """Whether what the slave holds is known."""

    def seen(self, one: Observation) -> Observation:
        """Takes an observation in. What is to be judged further is given back: a send that was stored has
        succeeded. Raises `InvariantError`.
        """
        match one.step:
            case bk.Send() if not one.server:
                return self._sent(one, one.step)
            case Replicate() if not self._is_role_sure:
                self._follows = self.is_slave_known = False
            case Replicate() if isinstance(one.outcome, Copied) and self._follows:
                self._copied(one, one.outcome)
            case TakeOver() if isinstance(one.outcome, TakenOver):
                return self._taken_over(one, one.outcome)
            case bk.End() if not one.server and one.step.verdict:
                self._slave.ended(one.step.message)
            case bk.Send() | bk.Back() | bk.End() if not self._is_started:
                self.is_slave_known = False
            case Restart() | Part():
                self._connected = -1
                if isinstance(one.step, Restart) and one.server:
                    self._has_ended = self._is_started = True
                    self._is_role_sure = self._role == "slave"
            case bk.Switch() if one.server:
                self._switched(one.step.role)
            case bk.MakeTopic():
                pass
            case Request() if one.server and self._role == "master" and not self._has_been_connected:
                self._has_its_own = True
        return one

    def _switched(self, role: str) -> None:
        """The slave gets a role."""
        is_other = role != self._role and self._has_been_connected
        self._is_started, self._role = self._is_started and not is_other, role
        self._is_role_sure = True
        self._follows = role == "slave" and (self._follows or not self._has_been_connected)
        if self._has_its_own and role == "slave":
            self._follows = self.is_slave_known = False

    def coming(self, batch: Sequence[Observation]) -> None:
        """What is observed together: a message may have been copied that is among it."""
        for one in batch:
            if isinstance(one.step, bk.Send) and not one.server:
                self._sends |= dict.fromkeys(one.step.messages, one.step)
                self._begun |= dict.fromkeys(one.step.messages, one.invoked)
            elif isinstance(one.step, bk.Back) and not one.server:
                key = (one.step.message, one.step.group)
                self._backs.setdefault(key, []).append((one.step.level, one.invoked))

    # --- sends ----------------------------------------------------------------------------------------------

    def _sent(self, one: Observation, step: bk.Send) -> Observation:
        if step.oneway or not isinstance(one.outcome, Answered) or one.outcome.command.code not in STORED:
            return one
        self._judge_answer(one, step, one.outcome)
        command = msgspec.structs.replace(one.outcome.command, code=0)
        return msgspec.structs.replace(one, outcome=msgspec.structs.replace(one.outcome, command=command))

    def _judge_answer(self, one: Observation, step: bk.Send, outcome: Answered) -> None:
        code, ext = outcome.command.code, outcome.command.ext or {}
        if not step.waits:
            self._holds(
                one,
                "send-that-does-not-wait",
                code == 0,
                "code 0: it does not wait",
                f"code {code}",
            )
            return
        if not self._follows:
            return
        was_connected = 0 <= self._connected < one.number
        if code == ResponseCode.SLAVE_NOT_AVAILABLE:
            is_right = self._has_codes and not was_connected
            self._holds(
                one, "send-waits-for-its-slave", is_right, "code 0 or 12: there is a slave", "code 11"
            )
            return
        if self._has_codes and not was_connected and not self._jitter:
            self._holds(one, "send-without-a-slave-is-stored", False, "code 11: no slave", f"code {code}")
        end = self._end_of(ext)
        told = self._told_before if one.number in self._answered else self._told
        is_copied = end is not None and end <= told
        if code == 0:
            actual = f"code 0, where the slave has {told} bytes of the log"
            expected = "no success before the slave has it" + ("" if end is None else f", up to {end}")
            self._holds(one, "send-waits-for-its-slave", is_copied, expected, actual)
            return
        waited = one.returned - one.invoked
        is_right = waited >= SLAVE_TIMEOUT - self._jitter - 0.001
        self._holds(
            one, "send-gives-its-slave-up", is_right, f"code 12 in {SLAVE_TIMEOUT} s", f"{waited:.3f} s"
        )

    def _end_of(self, ext: dict[str, str | None]) -> int | None:
        """Where the last message of an answer ends in the log, as far as the log is known."""
        try:
            return self._ends.get(decode_offset_id((ext.get("msgId") or "").split(",")[-1])[1])
        except WireError:
            return None

    # --- what passes ----------------------------------------------------------------------------------------

    def _copied(self, one: Observation, copied: Copied) -> None:
        self._told_before, self._answered = self._told, frozenset(copied.answered)
        name = "slave-comes-again" if self._has_been_connected else "slave-reports-its-end"
        self._holds(one, name, copied.is_connected, "a slave that connects and reports", "none")
        if copied.began is not None:
            self._connects(one, copied.began)
        if not self._follows:
            return
        self._pushed(one, copied)
        if copied.reported is not None:
            is_whole = copied.reported == copied.carried
            expected, actual = f"a report of {copied.carried}", str(copied.reported)
            self._holds(one, "slave-reports-its-end", is_whole, expected, actual)
            self._slave_end = copied.reported
        elif copied.carried > self._slave_end:
            self._holds(one, "slave-reports-its-end", False, f"a report of {copied.carried}", "none")
        self._told = max(self._told, copied.told or 0)
        # A virtual clock is each Broker's own, and all of them began at the same time of the world.
        self._give(one.returned, one.invoked - copied.at_master if self._jitter else 0.0)

    def _taken_over(self, one: Observation, taken: TakenOver) -> Observation:
        is_slave = self._role == "slave" and self._is_started
        if is_slave:
            self._holds(one, "slave-asks-for-offsets", taken.is_asked, "GET_ALL_CONSUMER_OFFSET (43)", "none")
        return msgspec.structs.replace(one, outcome=msgspec.structs.replace(taken, is_sure=is_slave))

    def _connects(self, one: Observation, began: int) -> None:
        whole = max((end for end in self._ends.values() if end <= self._slave_end), default=0)
        if self._has_ended and any(a < self._slave_end < b == began for a, b in self._ends.items()):
            self._follows = self.is_slave_known = False
            return
        if self._has_ended:
            is_right = began in (whole, self._slave_end)
            self._holds(one, "slave-keeps-whole-messages", is_right, f"a report of {whole}", str(began))
        else:
            is_right = began == self._slave_end
            expected = f"a report of {self._slave_end}"
            self._holds(one, "slave-reports-its-end", is_right, expected, str(began))
        self._slave_end, self._has_ended = began, False
        self._told = max(self._told, began)
        self._connected, self._has_been_connected = one.number, True

    def _pushed(self, one: Observation, copied: Copied) -> None:
        known = copied.began if copied.began is not None else len(self._log)
        for begin, data in copied.pushes:
            is_next = begin == known
            self._holds(one, "pushes-begin-at-the-report", is_next, f"a push from {known}", f"from {begin}")
            was = bytes(self._log[begin : begin + len(data)])
            self._holds(
                one, "pushes-begin-at-the-report", data.startswith(was), "the same log", "another one"
            )
            self._log[begin : begin + len(data)] = data
            known += len(data)
        is_all = known >= copied.end
        self._holds(one, "stored-is-pushed", is_all, f"pushes up to {copied.end}", f"up to {known}")
        while (size := self._next_size()) is not None:
            self._ends[self._read] = self._read + size
            self._read += size

    def _next_size(self) -> int | None:
        """The size of the next message of the log; None where it is not there to its end."""
        size = int.from_bytes(self._log[self._read : self._read + 4])
        return size if 0 < size <= len(self._log) - self._read else None

    def _give(self, moment: float, shift: float) -> None:
        """The slave has what it has reported. ``shift``: by how much its clock is ahead of the master's, at
        the least.
        """
        for begin, end in self._ends.items():
            if not self._given <= begin < end <= self._slave_end:
                continue
            for one in decode_messages(bytes(self._log[begin:end])):
                symbol = self._names.made.get(one.properties.get(PropertyName.UNIQ_KEY, ""))
                send = None if symbol is None else self._sends.get(symbol)
                if symbol is None or send is None:
                    continue
                topic = self._topic(one.topic)
                if topic is not None and (topic == send.topic or topic.startswith("%")):
                    tried = 0 if topic == send.topic else max(1, one.reconsume_times)
                    self._slave.copied(send, symbol, one, topic, moment, tried=tried)
                elif one.topic in (TopicName.SCHEDULE, TopicName.TIMER):
                    self._wait(send, symbol, one, moment, shift)
                elif one.topic == TopicName.TRANS_HALF:
                    self._slave.begun(send, symbol, moment)
            self._given = end

    def _topic(self, name: str) -> str | None:
        """The symbol of a topic; None where it is none of ours."""
        for prefix in (TopicName.RETRY_PREFIX, TopicName.DLQ_PREFIX):
            group = self._names.made.get(name.removeprefix(prefix))
            if name.startswith(prefix) and group is not None:
                return prefix + group
        return self._names.made.get(name)

    def _wait(self, send: bk.Send, symbol: str, one: Message, moment: float, shift: float) -> None:
        """The slave has a message that waits."""
        topic = self._topic(one.properties.get(PropertyName.REAL_TOPIC, ""))
        queue = one.properties.get(PropertyName.REAL_QUEUE_ID, "")
        if topic is None or not queue.isdecimal():
            return
        tried = 0 if topic == send.topic else max(1, one.reconsume_times)
        if not tried:
            delays = [DELAYS[min(send.level, len(DELAYS)) - 1] if send.level else send.after]
            dues = [self._begun[symbol] + delays[0]]
        else:
            group, next_level = topic.removeprefix(TopicName.RETRY_PREFIX), FIRST_RETRY + tried - 1
            backs = [back for back in self._backs.get((symbol, group), []) if back[0] >= 0]
            delays = [DELAYS[min(level or next_level, len(DELAYS)) - 1] for level, _ in backs]
            dues = [begun + delay for (_, begun), delay in zip(backs, delays, strict=True)]
            if not backs:  # the master was told another place than that of this message
                self._slave.sent_back_elsewhere(group)
                return
        self._slave.waits(
            Waits(
                message=symbol,
                send=send,
                topic=topic,
                queue=int(queue),
                tried=tried,
                earliest=min(dues) + shift - self._jitter,
                latest=moment + max(delays),
            )
        )

    def _holds(self, one: Observation, name: str, is_right: bool, expected: str, actual: str) -> None:
        """Judges an invariant. Raises `InvariantError`."""
        if not is_right:
            raise InvariantError(name, expected, actual)
        self.held.setdefault(one.number, set()).add(name)
