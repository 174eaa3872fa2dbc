"""What is known of transactions: how half messages end, and about which of them producers are asked.

- Messages of programs were born long ago, so a producer is asked about one in the next round. One that asks
  for immunity may have been born just now: until that is over no producer is asked about it, and 5.x takes an
  end; later it takes an end only if that answers a question.
- A half message that has ended is not asked about. Where time is real that is not judged: an end may name an
  older copy than the newest, and it is not known which of them has ended. Nor is it judged there that one is
  asked about: how long a round takes depends on what others have left open.
- A question is noticed some time after it was sent: between two looks at its connection.
"""

from __future__ import annotations

from math import inf

import msgspec

from harness.program.broker import steps as bk
from harness.program.broker.frames import body_of, born
from harness.spec.broker.entries import Half
from harness.spec.broker.invariant_error import InvariantError
from harness.spec.broker.ledger import Ledger
from harness.spec.broker.wholeness import Wholeness
from harness.wire import Command, WireError
from harness.wire.messages import decode_message

_LONG_OPEN = 250.0
"""Seconds after which a Broker may have given a half message up."""
_ROUND = 62.0
"""Seconds within which a Broker goes through what is open (`transactionCheckInterval`: 60 s, 5.x: 30 s)."""
_COMMIT = 8
_VERDICTS = (_COMMIT, 12)
_UNSURE = 0.01
"""Seconds: a Broker counts ms."""
_ILLEGAL = 604


class Transactions:
    """Of one Broker."""

    def __init__(self, ledger: Ledger, wholeness: Wholeness) -> None:
        self._ledger = ledger
        self._wholeness = wholeness
        self._producers: dict[str, dict[str, float]] = {}
        """By group: its connections, and since when."""
        self._ever: dict[str, set[str]] = {}
        """Groups for which a connection has produced."""
        self._elsewhere: set[str] = set()
        """Messages that may have ended on a master of this Broker."""
        self._unsure: set[str] = set()
        """Groups of which it is not known who produces for them."""

    # --- immunity -------------------------------------------------------------------------------------------

    def begun(self, step: bk.Send) -> None:
        """A half message was sent: until when it is immune."""
        half = self._ledger.halves.get(step.message)
        if half is None or not step.immune:
            return
        least, most = self._wholeness.moment_of(born(step.message, self._ledger.names))
        half.immune = least + step.immune, most + step.immune

    def _is_late(self, half: Half | None, step: bk.End, begin: float, end: float) -> bool | None:
        """Whether an end has to be refused because the half message is no longer immune; None: perhaps."""
        if half is None or half.immune is None or step.asked or not self._ledger.line.has("late-ends"):
            return False
        least, most = half.immune
        if begin > most + _UNSURE:
            return True
        return False if end < least - _UNSURE else None

    # --- ends -----------------------------------------------------------------------------------------------

    def ended(self, step: bk.End, begin: float, end: float, answer: Command | None) -> None:
        """37."""
        half = self._ledger.halves.get(step.message)
        is_own = half is not None and step.group == half.send.group
        held = self._ledger.held
        if not step.verdict:
            if answer is not None and answer.code != 2:
                raise InvariantError("unknown-is-not-answered", "no answer", f"code {answer.code}")
            return
        if answer is not None and not is_own and (half is not None or step.message not in self._ledger.sends):
            held.add("other-groups-end-nothing")
        if answer is not None and answer.code == 0 and not step.oneway and not is_own:
            if half is not None:
                raise InvariantError("other-groups-end-nothing", "a refusal", "SUCCESS")
            if step.message not in self._ledger.sends:
                raise InvariantError(
                    "other-groups-end-nothing", "a refusal: there is no such message", "SUCCESS"
                )
        if half is None or not is_own:
            return
        is_late = self._is_late(half, step, begin, end)
        held |= {"late-end-is-refused"} if is_late and answer is not None else set()
        if is_late and answer is not None and not step.oneway and answer.code not in (_ILLEGAL, 2):
            raise InvariantError("late-end-is-refused", f"code {_ILLEGAL}", f"code {answer.code}")
        if is_late or (is_late is None and answer is not None and answer.code == _ILLEGAL):
            return
        done = answer is not None and answer.code == 0
        is_young = begin - half.stored < _LONG_OPEN
        is_open = not half.ends and not half.maybe and is_young
        held |= {"commit-delivers"} if is_open and answer is not None else set()
        if answer is not None and answer.code not in (0, 2) and is_open:
            raise InvariantError("commit-delivers", "SUCCESS", f"code {answer.code}, {answer.remark}")
        if step.verdict == _COMMIT and not half.ends and (done or answer is None):
            is_sure = done and is_young and half.maybe <= {step.verdict}
            self._committed(step, half, begin, end if is_sure else inf)
        if done and not half.ends and not half.maybe:
            half.ends.append(step.verdict)
            if not self._ledger.lag:
                half.over = end
        if answer is None:
            half.maybe.add(step.verdict)

    def ended_at_another_place(self, step: bk.End, begin: float, end: float) -> None:
        """37 with the place of a message of another Broker: any half message may be at that place here."""
        if step.message in self._ledger.names.places:
            for message in self._ledger.halves:
                self.ended(msgspec.structs.replace(step, message=message), begin, end, None)

    # --- copies of a slave ----------------------------------------------------------------------------------

    def copied(self, send: bk.Send, message: str, moment: float) -> None:
        """A slave has got a half message by a moment."""
        half = Half(send=send, stored=moment)
        if message in self._elsewhere:
            half.maybe |= set(_VERDICTS)
        self._ledger.halves.setdefault(message, half)

    def ended_elsewhere(self, message: str) -> None:
        """A half message may have ended on the master of this slave."""
        self._elsewhere.add(message)
        half = self._ledger.halves.get(message)
        if half is not None:
            half.maybe |= set(_VERDICTS)

    def _committed(self, step: bk.End, half: Half, begin: float, latest: float) -> None:
        if half.entry is None:
            half.entry = self._ledger.entry(half.send, step.message, begin, latest, "commit")
            self._ledger.queue(half.send.topic, half.send.queue).add(half.entry)
        else:
            half.entry.latest = min(half.entry.latest, latest)

    # --- producers ------------------------------------------------------------------------------------------

    def beat(self, step: bk.Beat, begin: float, end: float, answer: Command | None) -> None:
        """34: a client produces for groups."""
        for group in step.producers:
            self._ever.setdefault(step.conn, set()).add(group)
            if answer is None or answer.code:
                self._unsure.add(group)
            else:
                self._producers.setdefault(group, {}).setdefault(step.conn, end)

    def left(self, step: bk.Leave) -> None:
        """35: perhaps it produces no longer."""
        if step.producer is not None:
            self._producers.get(step.producer, {}).pop(step.conn, None)

    def closed(self, conn: str) -> None:
        """A connection ended."""
        for conns in self._producers.values():
            conns.pop(conn, None)

    def restarted(self) -> None:
        """The Broker was ended."""
        self._producers.clear()

    # --- questions ------------------------------------------------------------------------------------------

    def asked(self, conn: str, question: Command, begin: float, end: float) -> None:
        """39, which came on a connection between two moments. Raises `InvariantError`."""
        names = self._ledger.names
        symbol = names.made.get((question.ext or {}).get("msgId") or "")
        half = self._ledger.halves.get(symbol or "")
        if symbol is None or half is None:
            return
        name = names.name(symbol)
        held = self._ledger.held
        held |= {"other-producers-are-not-asked", "question-carries-the-message"}
        if half.over + self._ledger.lag < begin:
            raise InvariantError("ended-is-not-asked-about", f"no question about {name}: it has ended", "one")
        if half.send.group not in self._ever.get(conn, ()):
            group = names.name(half.send.group)
            raise InvariantError("other-producers-are-not-asked", f"a question to {group} about {name}", conn)
        if half.immune is not None and end < half.immune[0] - _UNSURE and not self._ledger.lag:
            left = half.immune[0] - end
            raise InvariantError(
                "immune-is-not-asked-about", f"no question about {name} for {left:.0f} s", "one"
            )
        self._carries(symbol, half, question)
        half.asked = end

    def _carries(self, symbol: str, half: Half, question: Command) -> None:
        name = "question-carries-the-message"
        try:
            shown = decode_message(question.body)
        except WireError as problem:
            raise InvariantError(name, "a message", str(problem)) from None
        place = (self._ledger.names.name(half.send.topic), half.send.queue)
        if (shown.topic, shown.queue_id) != place:
            raise InvariantError(
                name, f"{place[0]}, queue {place[1]}", f"{shown.topic}, queue {shown.queue_id}"
            )
        body = body_of(symbol, half.send.size, self._ledger.names)
        if shown.body != body:
            raise InvariantError(name, repr(body[:80]), repr(shown.body[:80]))

    def missed(self, conn: str, begin: float) -> None:
        """Everything was read that came on a connection before a moment. Raises `InvariantError`."""
        if self._ledger.lag or self._ledger.ha_role.was_slave:
            return
        for symbol, half in self._ledger.halves.items():
            group = half.send.group
            conns = self._producers.get(group, {})
            if half.maybe or group in self._unsure or list(conns) != [conn]:
                continue
            if half.ends:
                self._ledger.held.add("ended-is-not-asked-about")
                continue
            since = max(half.stored, conns[conn], self._ledger.started)
            if half.immune is not None:
                self._ledger.held |= {"immune-is-not-asked-about"} if begin < half.immune[0] else set()
                since = max(since, half.immune[1])
            is_due = begin - since > _ROUND
            self._ledger.held |= {"silent-producer-is-asked"} if is_due else set()
            if is_due and half.asked < since and begin - half.stored < _LONG_OPEN:
                raise InvariantError(
                    "silent-producer-is-asked",
                    f"a question about {self._ledger.names.name(symbol)}, which is open",
                    f"none in {begin - since:.0f} s",
                )
