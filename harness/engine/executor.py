"""Carries steps out on running NameServers and says what came of them.

- It judges nothing. It gives `Observation` values (see `harness.spec.observation`), with times on the clock
  of the server in question, and everything is in one trace.
- Connections are named by symbols and opened when they are first used. One that has ended, whichever end
  closed it, is opened anew when it is used again; that the target ended it is observed first.
- An end that the target may have made because this machine was slow (a connection was quiet for as long as
  its idle timer, and no step wanted it so) proves nothing: `TooLate`.
- Where a step was sent but not awaited, or was held back, its outcome is observed at the next step that waits
  (or at `finish`): so one call may give several observations, in the order of their numbers.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

import msgspec

from harness.catalogue import profile_named
from harness.engine.hearing import Hearing
from harness.engine.replicating import Replicating
from harness.engine.sending import Asked, Open, Sender
from harness.program.broker.frames import learnt, learnt_of_a_question
from harness.program.broker.optional_steps import Ack, Hide
from harness.program.broker.pair_steps import Part, Replicate, TakeOver
from harness.program.broker.static_steps import MapTopic
from harness.program.broker.steps import BrokerRequest, Hear, NameServer
from harness.program.names import Names
from harness.program.nameserver.steps import Damaged, Unknown
from harness.program.step import Close, Reconnect, Restart, Time
from harness.program.steps import AnyQuestion, AnyStep
from harness.session import (
    BrokerSession,
    ClosedBy,
    Instance,
    NameServerSession,
    Replied,
    Session,
    Silent,
    TooLate,
    UnsolicitedFrame,
    Unsupported,
)
from harness.session import Garbled as NoCommand
from harness.session import Outcome as Seen
from harness.session.exchange import SentRequest
from harness.spec import Answered, Ended, Garbled, Observation, Unanswered
from harness.spec.observation import Outcome
from harness.trace import Trace


class Unsolicited(msgspec.Struct, frozen=True):
    """A frame that answers nothing that was asked on its connection."""

    number: int
    """The step behind which it was noticed."""
    server: int
    conn: str
    stray: UnsolicitedFrame


class Executor:
    """One run of a program. `names` makes its names; ``announces`` is that of the profile.

    ``session`` is how its servers are spoken to. ``deadline`` is in real seconds and counts from now; time
    that passes because a step says so does not count. ``case``, ``target`` and ``suite`` go into the head of
    the trace.
    """

    def __init__(
        self,
        instances: Sequence[Instance],
        profile: str,
        names: Names,
        *,
        case: str = "",
        target: str = "",
        suite: str = "",
        started: float = 0.0,
        deadline: float = 60.0,
        session: Callable[..., Session] = NameServerSession,
    ) -> None:
        self.names = names
        self.unsolicited: list[Unsolicited] = []
        """Unsolicited frames."""
        self._sender = Sender(names, profile_named(profile).announces)
        self._sessions: list[Session] = []
        for instance in instances:
            self._sessions.append(
                session(
                    instance,
                    profile,
                    seed=names.nonce,
                    case=case,
                    target=target,
                    suite=suite,
                    started=started,
                    deadline=deadline,
                    beside=self._sessions[0] if self._sessions else None,
                )
            )
        self._hearing = Hearing(self._sessions[0])
        self._replicating = Replicating(self._sessions)
        self._opens: list[dict[str, Open]] = [{} for _ in instances]
        self._underway: list[Asked] = []
        self._number = -1

    @property
    def trace(self) -> Trace:
        """Everything that has happened on the wire."""
        trace = self._sessions[0].trace
        names = {**trace.header.names, **self.names.made}
        head = msgspec.structs.replace(trace.header, nonce=self.names.nonce, names=names)
        return Trace(head, trace.events)

    @property
    def servers(self) -> int:
        """How many there are."""
        return len(self._sessions)

    @property
    def waited(self) -> float:
        """Real seconds that steps have asked for: time that passes, stalls, gaps in frames, restarts."""
        return self._sender.waited

    def now(self, server: int = 0) -> float:
        """Protocol seconds on the clock of a server."""
        return self._sessions[server].now()

    # --- playing --------------------------------------------------------------------------------------------

    def play(self, step: AnyStep, *, until: Sequence[float] = ()) -> list[Observation]:
        """Carries a step out. ``until`` says for each server when a `Time` step ends; without it, time passes
        from now. Raises ``TargetDied``, ``TooLate``, ``CaseTimeout``, and ``ValueError`` for a
        server that does not exist and for a damaged frame, whose reactions are not those of a request.
        """
        self._number += 1
        self._replicating.keep_in_step()
        match step:
            case Time():
                return [*self._collect(), *self._pass(step, until)]
            case Close():
                return self._close(step)
            case Reconnect():
                return self._reconnect(step)
            case Restart():
                return self._restart(step)
            case NameServer():
                seen = self._collect()
                self._hearing.treat(step)
                return [*seen, self._observed(step, self.now())]
            case Hear():
                seen = self._collect()
                return [*seen, self._observed(step, self.now(), self._hearing.heard())]
            case Replicate():
                return self._replicate(step)
            case TakeOver():
                return self._take_over(step)
            case Part():
                seen = self._collect()
                self._replicating.part()
                return [*seen, self._observed(step, self.now(step.server))]
            case Damaged():
                raise ValueError("a damaged frame is carried out and judged by harness.engine.frames")
            case _:
                return self._ask(step)

    def finish(self) -> list[Observation]:
        """Sends what is still held back, and waits for what is under way."""
        for opens in self._opens:
            for open_ in opens.values():
                if open_.held:
                    self._send(open_)
        return self._collect()

    def notice(self) -> list[Observation]:
        """The ends of connections that targets have made by now."""
        return [seen for server in range(self.servers) for seen in self._ended(server)]

    def connections(self, server: int) -> frozenset[str]:
        """The connections that are open, as far as has been noticed."""
        return frozenset(self._opens[server])

    def close(self) -> None:
        """Closes every connection, whatever comes of it (`death`). May be called more than once."""
        for session in self._sessions:
            session.close()

    @property
    def death(self) -> str:
        """The last words of a server that has died while connections were closed; else nothing."""
        return next((session.death for session in self._sessions if session.death), "")

    # --- requests -------------------------------------------------------------------------------------------

    def _ask(self, step: AnyQuestion) -> list[Observation]:
        session = self._server(step.server)
        if isinstance(step, MapTopic | Ack | Hide) and isinstance(session, BrokerSession):
            self.names.broker = session.broker_name
        open_, seen = self._open(step.server, step.conn)
        if step.broken is not None:
            return [*seen, *self._break_off(step, step.broken, open_)]
        open_.held.append((self._number, step))
        if step.held:
            return seen
        self._send(open_)
        return [*seen, *self._collect()] if step.awaited else seen

    def _send(self, open_: Open) -> None:
        """Sends what a connection holds back, cut where the steps say so."""
        held, open_.held = open_.held, []
        if held:
            session = self._sessions[held[0][1].server]
            self._underway += self._sender.send(session, open_, held)

    def _break_off(self, step: AnyQuestion, broken: int, open_: Open) -> list[Observation]:
        """Sends a part of a request, and resets the connection."""
        self._send(open_)
        session, link = self._sessions[step.server], open_.connection.link
        invoked = session.now()
        opaque = session.next_opaque()
        command, frame = self._sender.request(step, opaque)
        part = frame[:broken]
        whole = len(part) == len(frame)
        want = link.want(opaque) if whole and not step.oneway else None
        event = link.send(part) if part else None
        if whole:
            asked = SentRequest(link, want, command, frame, event, invoked)
            self._underway.append(Asked(self._number, step, open_, asked))
        event = link.close("reset")
        del self._opens[step.server][step.conn]
        close = Close(server=step.server, conn=step.conn, how="reset")
        return [*self._collect(), self._observed(close, invoked, asked=event)]

    def _collect(self) -> list[Observation]:
        """Waits for everything that is under way, but for answers that may be kept back yet."""
        kept = [one for one in self._underway if self._is_kept_back(one)]
        asked, self._underway = [one for one in self._underway if one not in kept], kept
        seen = [self._outcome(one) for one in sorted(asked, key=lambda one: one.number)]
        garbled = {one.number for one in seen if isinstance(one.outcome, Garbled)}
        for one in asked:
            server, conn = one.step.server, one.step.conn
            if not one.open.connection.is_open:
                self._notice_end(server, conn, one.open, seen)
            elif one.number in garbled and self._opens[server].get(conn) is one.open:
                seen += self._close(Close(server=server, conn=conn))  # nothing can be read on it any more
            self._notice_strays(server, conn, one.open)
        return seen

    def _is_kept_back(self, one: Asked) -> bool:
        """Whether an answer is not there, and need not be: the server was asked to wait with it."""
        if not one.step.patience or one.asked.want is None:
            return False
        is_answered = one.is_answered
        session = self._sessions[one.step.server]
        is_due = session.now() > one.asked.sent_at + one.step.patience + session.jitter
        return one.open.connection.is_open and not is_answered and not is_due

    def _outcome(self, one: Asked) -> Observation:
        session = self._sessions[one.step.server]
        outcome: Outcome = None
        returned = session.now()
        if one.asked.want is not None:
            silent = isinstance(one.step, Unknown)
            self._replicating.wait_for(one)
            seen = session.decide(one.asked, type(one.step).__name__, silence_is_an_answer=silent)
            outcome, returned = observed_outcome(seen), seen.at
            if isinstance(outcome, Ended):
                self._refuse_if_quiet(session, one.open)
                outcome = Unanswered() if one.open.left else outcome
            elif isinstance(outcome, Answered):
                one.open.alive = returned
                if isinstance(one.step, BrokerRequest):
                    learnt(one.step, outcome.command, self.names)
        return Observation(
            number=one.number,
            step=one.step,
            invoked=one.asked.sent_at,
            returned=returned,
            outcome=outcome,
            asked=-1 if one.asked.event is None else one.asked.event,
            server=one.step.server,
        )

    # --- connections ----------------------------------------------------------------------------------------

    def _server(self, number: int) -> Session:
        if not 0 <= number < len(self._sessions):
            raise ValueError(
                f"expected a server from 0 to {len(self._sessions) - 1}, got {number}: the program "
                "is for more NameServers than there are; name as many targets"
            )
        return self._sessions[number]

    def _open(self, server: int, conn: str) -> tuple[Open, list[Observation]]:
        """A connection that is open, and what was noticed on the way to it."""
        seen: list[Observation] = []
        open_ = self._opens[server].get(conn)
        if open_ is not None:
            open_.connection.link.notice()
            if not open_.connection.is_open:
                seen += self._collect()  # what is under way there ends first
                self._notice_end(server, conn, open_, seen)
                open_ = None
        if open_ is None:
            session = self._sessions[server]
            open_ = self._opens[server][conn] = Open(session.connect(), session.now(), [])
        return open_, seen

    def _notice_end(self, server: int, conn: str, open_: Open, seen: list[Observation]) -> None:
        """Observes, once, that the target has ended a connection."""
        if self._opens[server].get(conn) is not open_:
            return
        del self._opens[server][conn]
        session = self._sessions[server]
        self._refuse_if_quiet(session, open_)
        ending = open_.connection.link.ending()
        outcome = Ended() if ending is None or ending.event is None else Ended(ending.event)
        seen.append(self._observed(Close(server=server, conn=conn), open_.alive, outcome))

    def _refuse_if_quiet(self, session: Session, open_: Open) -> None:
        link = open_.connection.link
        if session.clock.kind == "virtual" or link.idle:
            return
        quiet = link.quiet_until(session.now())
        if quiet > session.profile.quiet:
            raise TooLate(
                f"a connection was quiet for {quiet:.0f} protocol seconds, as long as an idle timer"
            )

    def _notice_strays(self, server: int, conn: str, open_: Open) -> None:
        strays = open_.connection.link.strays
        for stray in strays[open_.strays :]:
            self.unsolicited.append(Unsolicited(self._number, server, conn, stray))
            learnt_of_a_question(stray.command, self.names)
        open_.strays = len(strays)

    def _close(self, step: Close) -> list[Observation]:
        session = self._server(step.server)
        open_ = self._opens[step.server].get(step.conn)
        if open_ is None:
            return [*self._collect(), self._observed(step, session.now())]
        open_.connection.link.notice()
        if not open_.connection.is_open:
            seen = self._collect()
            self._notice_end(step.server, step.conn, open_, seen)
            return seen
        self._send(open_)
        invoked = session.now()
        event = open_.connection.link.close(step.how)
        open_.left = True
        closed = self._observed(step, invoked, asked=event)
        del self._opens[step.server][step.conn]  # the end is ours: it is not to be noticed as the target's
        seen = self._collect()
        self._notice_strays(step.server, step.conn, open_)
        return [*seen, closed]

    def _reconnect(self, step: Reconnect) -> list[Observation]:
        session = self._server(step.server)
        seen = self._collect()
        opens = self._opens[step.server]
        if step.old in opens and step.old != step.conn:
            seen += self._close(Close(server=step.server, conn=step.old))
        before = opens.get(step.conn)
        if before is not None:
            self._send(before)
            before.connection.link.notice()
            if not before.connection.is_open:
                seen += self._collect()
                self._notice_end(step.server, step.conn, before, seen)
        invoked = session.now()
        another = Open(session.connect(), session.now(), [])
        before = opens.pop(step.conn, None)
        if before is not None and step.old != step.conn:
            opens[step.old] = before
        elif before is not None:
            before.connection.link.close("fin")
        opens[step.conn] = another
        return [*seen, *self._collect(), self._observed(step, invoked)]

    def _restart(self, step: Restart) -> list[Observation]:
        session = self._server(step.server)
        seen = self._collect()
        invoked = session.now()
        self._replicating.part()
        try:
            with self._sender.waiting(session):
                session.restart(step.how)
        except Unsupported:
            session.note("it is not ours to start again; the step is left out")
            return seen
        for open_ in self._opens[step.server].values():
            open_.connection.link.notice()
            open_.connection.link.close("fin")
        self._opens[step.server].clear()
        return [*seen, self._observed(step, invoked)]

    def _replicate(self, step: Replicate) -> list[Observation]:
        self._server(step.server)
        answered = tuple(one.number for one in self._underway if one.is_answered)
        is_coming = len(answered) < len(self._underway)
        invoked = self.now(step.server)
        copied = self._observed(step, invoked, self._replicating.carry(step, answered, is_coming))
        return [copied, *self._collect()]

    def _take_over(self, step: TakeOver) -> list[Observation]:
        session = self._server(step.server)
        seen = self._collect()
        invoked = session.now()
        with self._sender.waiting(session):
            taken = self._replicating.take_over()
        return [*seen, self._observed(step, invoked, taken)]

    # --- time -----------------------------------------------------------------------------------------------

    def _pass(self, step: Time, until: Sequence[float]) -> list[Observation]:
        """Lets time pass on all servers at once: what a running clock has shown meanwhile is not waited for
        again.
        """
        for opens in self._opens:
            for conn in step.idle:
                if conn in opens:
                    opens[conn].connection.link.idle = True
        invoked = [session.now() for session in self._sessions]
        ends = until or [began + step.seconds for began in invoked]
        for session, end in zip(self._sessions, ends, strict=True):
            with self._sender.waiting(session):
                session.advance(max(0.0, end - session.now()))
        seen = []
        for server, began in enumerate(invoked):
            seen.append(
                Observation(
                    number=self._number,
                    step=step,
                    invoked=began,
                    returned=self._sessions[server].now(),
                    server=server,
                )
            )
            seen += self._ended(server)
        return seen

    def _ended(self, server: int) -> list[Observation]:
        """The connections of which the end has been noticed by now."""
        seen: list[Observation] = []
        for conn, open_ in list(self._opens[server].items()):
            open_.connection.link.notice()
            if not open_.connection.is_open:
                self._notice_end(server, conn, open_, seen)
        return seen

    def _observed(
        self,
        step: Close | Reconnect | Restart | NameServer | Hear | Replicate | TakeOver | Part,
        invoked: float,
        outcome: Outcome = None,
        asked: int | None = None,
    ) -> Observation:
        return Observation(
            number=self._number,
            step=step,
            invoked=invoked,
            returned=self.now(step.server),
            outcome=outcome,
            asked=-1 if asked is None else asked,
            server=step.server,
        )


def observed_outcome(seen: Seen) -> Outcome:
    """What oracles are given of an outcome of a session."""
    event = -1 if seen.event is None else seen.event
    match seen:
        case Replied():
            return Answered(seen.command, event, seen.mistyped)
        case ClosedBy():
            return Ended(event) if seen.by == "target" else Unanswered()
        case NoCommand():
            return Garbled(seen.lengths or seen.problem, event)
        case Silent():
            return Unanswered(surely=True)
        case _:
            return Unanswered()
