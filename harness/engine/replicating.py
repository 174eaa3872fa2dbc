"""What stands between a master and its slave in a program: a slave of the one, and a master of the other.

Both are servers of the target. What passes between them passes here, and only when a step says so.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import cast

import msgspec

from harness.engine.sending import Asked
from harness.program.broker.pair_steps import Replicate
from harness.program.broker.steps import Send
from harness.session import BrokerSession, Replied, Session
from harness.session.broker.replication import BETWEEN_BROKERS, Master, Slave
from harness.spec.broker.replication import SLAVE_TIMEOUT
from harness.spec.observation import Copied, TakenOver
from harness.wire import Command, RequestCode, ResponseCode

_COMES_WITHIN = 40.0
"""Protocol seconds in which a slave surely has registered, heard of its master, and connected."""
_WITHIN = 5.0
"""Those in which a push or a report surely comes."""
_STORES_WITHIN = 1.0
"""Those in which a master mostly has stored what it was sent: less than it waits for its slave."""
_ASKS_WITHIN = 90.0
"""Those in which a slave that hears where its master is surely has asked it: in 5.x it asks each minute."""
_BESIDE = (
    RequestCode.GET_ALL_CONSUMER_OFFSET,
    RequestCode.GET_ALL_DELAY_OFFSET,
    RequestCode.GET_ALL_SUBSCRIPTIONGROUP_CONFIG,
)
"""What a slave asks for, in this order. Topics are not among it: it asks for them at another port."""


class Replicating:
    """Of the sessions of one run: the first is with the master, the second with its slave."""

    def __init__(self, sessions: Sequence[Session]) -> None:
        self._sessions = sessions
        self._at_master: Slave | None = None
        """The connection to the master."""
        self._at_slave: Master | None = None
        """The address where the slave connects."""
        self._ahead = b""
        """What the master has pushed and the slave has not been given."""
        self._carried = 0
        """Where that begins."""
        self._given = 0
        """How much of the log the slave was given, at the most."""

    def carry(self, step: Replicate, answered: tuple[int, ...], is_coming: bool) -> Copied:
        """Gives the slave what the master has pushed, and tells the master what the slave has reported.
        ``is_coming``: the master was just sent something that it may not have stored yet.
        """
        began = None
        if not self._is_connected():
            began = self._connect()
            if began is None:
                return Copied(answered=answered, began=None, is_connected=False)
            if began > self._given:  # it has messages of its own, with which the master's would be mixed up
                self.part()
                return Copied(answered=answered, began=began, is_connected=True)
        assert self._at_master is not None
        assert self._at_slave is not None
        end, pushes = self._pushed(self._at_master, is_coming)
        data = self._ahead[: step.most]
        if data:
            self._at_slave.push(self._carried, data)
        self._ahead, self._carried = self._ahead[len(data) :], self._carried + len(data)
        self._given = max(self._given, self._carried)
        report = self._at_slave.report(self._carried, within=_WITHIN) if data else None
        reported = None if report is None else _reported(report.outcome())
        if step.reports and reported is not None:
            self._at_master.report(reported)
        return Copied(
            answered=answered,
            began=began,
            is_connected=True,
            pushes=pushes,
            end=end,
            carried=self._carried,
            reported=reported,
            told=reported if step.reports else None,
            at_master=self._master.now(),
        )

    def take_over(self) -> TakenOver:
        """The slave asks for what its master knows beside messages, and gets what the master answers now.
        From then on it hears of no master to ask.
        """
        began = self._master.now()
        answers = [self._answer(code) for code in _BESIDE]
        ended = self._master.now()
        at, asked = self._slave.nameservers[1], None
        for code, answer in zip(_BESIDE, answers, strict=True):
            if answer is not None:
                at.answers(code, answer.code, ext=answer.ext, body=answer.body)
        self._says({"masterAddr": at.address})
        since = self._slave.mark()
        for code in _BESIDE[:: len(_BESIDE) - 1]:
            outcome = at.next(code, since=since, within=_ASKS_WITHIN).outcome()
            asked = outcome if code == _BESIDE[0] else asked
        self._slave.pause(self._slave.clock.timing.pause)
        for code in _BESIDE:
            at.answers(code, ResponseCode.SYSTEM_ERROR)
        self._says({})
        return TakenOver(
            began=began,
            ended=ended,
            offsets=answers[0],
            groups=b"" if answers[2] is None else answers[2].body,
            is_asked=isinstance(asked, Replied),
        )

    def _answer(self, code: int) -> Command | None:
        """Of the master, when it is asked what a slave would ask it."""
        answer = self._master.ask_own(code, {}, b"", self._master.connection)
        return answer.command if isinstance(answer, Replied) else None

    def _says(self, more: dict[str, str | None]) -> None:
        """What the slave hears when it registers."""
        copies = {} if self._at_slave is None else {"haServerAddr": self._at_slave.address}
        self._slave.nameserver.answers(RequestCode.REGISTER_BROKER, ext={**copies, **more})

    def wait_for(self, one: Asked) -> None:
        """Waits for the answer to a send that its slave may keep back, as long as a master waits."""
        if not isinstance(one.step, Send) or one.step.server or not self._is_pair:
            return
        until = one.asked.sent_at + SLAVE_TIMEOUT + self._master.jitter + 1.0
        while not one.is_answered and one.open.connection.is_open and self._master.now() < until:
            self._master.pause(self._master.clock.timing.pause)

    def keep_in_step(self) -> None:
        """Brings both clocks to the later time where time is virtual. A master and its slave have one time: a
        slave stores nothing before what it has copied.
        """
        if not self._is_pair or self._master.clock.kind != "virtual":
            return
        now = max(session.now() for session in self._sessions)
        for session in self._sessions:
            if now > session.now():
                session.advance(now - session.now())

    @property
    def _is_pair(self) -> bool:
        return len(self._sessions) > 1 and isinstance(self._sessions[0], BrokerSession)

    def part(self) -> None:
        """Ends both connections."""
        if self._at_master is not None:
            self._at_master.close()
            self._at_master = None
        if self._at_slave is not None:
            self._at_slave.leaves()

    def _is_connected(self) -> bool:
        at_master, at_slave = self._at_master, self._at_slave
        if at_master is None or at_slave is None:
            return False
        return at_master.is_connected and at_slave.is_connected

    def _connect(self) -> int | None:
        """Brings both together; where the log of the slave ends, None where the slave does not come."""
        self.part()
        if self._at_slave is None:
            self._master.note(BETWEEN_BROKERS)
            self._at_slave = self._slave.master()
            self._says({})
        until = self._slave.now() + _COMES_WITHIN
        report = None
        while report is None and self._slave.now() < until:
            report = _reported(self._at_slave.next_report(within=until - self._slave.now()).outcome())
            if report is None or not self._at_slave.is_connected:
                self._at_slave.next_connection()  # that one was made before the slave was ended
                report = None
        if report is None:
            return None
        self._at_master = self._master.slave()
        self._at_master.report(report)
        self._ahead, self._carried = b"", report
        return report

    def _pushed(self, at_master: Slave, is_coming: bool) -> tuple[int, tuple[tuple[int, bytes], ...]]:
        """Where the log of the master ends, and what has come of it that had not come yet."""
        end = self._end_of_log()
        until = self._master.now() + _STORES_WITHIN
        while is_coming and end <= self._carried + len(self._ahead) and self._master.now() < until:
            if not self._master.jitter:
                break  # time is virtual: what is not there by now does not come
            self._master.pause(self._master.clock.timing.pause)
            end = self._end_of_log()
        found: list[tuple[int, bytes]] = []
        until = self._master.now() + _WITHIN
        while self._carried + len(self._ahead) < end and self._master.now() < until:
            outcome = at_master.next_push(within=until - self._master.now()).outcome()
            if not isinstance(outcome, Replied):
                break
            begin, data = int((outcome.command.ext or {})["offset"] or 0), outcome.command.body
            if not data:
                continue
            found.append((begin, data))
            if begin != self._carried + len(self._ahead):
                break
            self._ahead += data
        return end, tuple(found)

    def _end_of_log(self) -> int:
        answer = self._master.ask_own(RequestCode.GET_BROKER_RUNTIME_INFO, {}, b"", self._master.connection)
        if not isinstance(answer, Replied):
            return 0
        table = msgspec.json.decode(answer.command.body)["table"]
        return int(table["commitLogMaxOffset"])

    @property
    def _master(self) -> BrokerSession:
        return cast(BrokerSession, self._sessions[0])

    @property
    def _slave(self) -> BrokerSession:
        return cast(BrokerSession, self._sessions[1])


def _reported(outcome: object) -> int | None:
    return int.from_bytes(outcome.command.body, signed=True) if isinstance(outcome, Replied) else None
