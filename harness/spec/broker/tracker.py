"""What is known of a Broker, and what each observation says about it.

- Observations come in batches: what was under way together. Of a batch what changes something comes first,
  since a look may have seen it; what is surely there when something begins was over before.
- A change of the role comes before all else of its batch: what was under way with it may have met either.
- At one moment of a clock many steps may happen, all of them where time is virtual: there their numbers say
  which was first. What was under way together ended when the last of it had begun.
- What no rule speaks of is not judged.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import inf

from harness.catalogue import profile_named
from harness.program.broker import steps as bk
from harness.program.broker.filters import Empty, Unreadable
from harness.program.broker.optional_steps import Ack, Allow, Check, Hide, Pop, Recall
from harness.program.broker.pair_steps import TakeOver
from harness.program.broker.static_steps import Search
from harness.program.names import Names, Place
from harness.program.step import Close, Reconnect, Request, Restart, Time
from harness.program.steps import AnyStep
from harness.spec.broker.allowed import Allowed
from harness.spec.broker.entries import Waits
from harness.spec.broker.groups import Groups
from harness.spec.broker.heartbeats import Heartbeats
from harness.spec.broker.invariant_error import InvariantError
from harness.spec.broker.invariants import statements_of, violation_of
from harness.spec.broker.ledger import Ledger
from harness.spec.broker.nameservers import NameServers
from harness.spec.broker.online import Online
from harness.spec.broker.pops import Pops
from harness.spec.broker.pulls import Pulls
from harness.spec.broker.recalls import Recalls
from harness.spec.broker.searches import Searches
from harness.spec.broker.shown import Shown
from harness.spec.broker.static_topics import StaticTopics
from harness.spec.broker.transactions import Transactions
from harness.spec.broker.wanted import Wanted
from harness.spec.broker.wholeness import Wholeness, messages_of
from harness.spec.observation import (
    Answered,
    Ended,
    Garbled,
    Heard,
    Observation,
    TakenOver,
    Unanswered,
    Violation,
)
from harness.wire import Command, RequestCode, ResponseCode
from harness.wire.messages import Message, PropertyName, TopicName

_AT_ONCE = 1e-9
"""Seconds between two steps at one moment."""
_LOOKS = (
    bk.Hear,
    bk.Pull,
    bk.Bound,
    bk.View,
    bk.Find,
    bk.Members,
    bk.Committed,
    bk.Offsets,
    bk.Status,
    Pop,
    Search,
)


class BrokerTracker:
    """Of one Broker. ``jitter`` is that of its clock in protocol seconds, 0 where time is virtual; ``slave``:
    it is started as a slave that may be read from.
    """

    def __init__(self, profile: str, names: Names, *, jitter: float, slave: bool = False) -> None:
        self.judged: dict[int, frozenset[str]] = {}
        """By step: the statements that it was held against and has not broken."""
        self._profile = profile
        self._placed: set[str] = set()
        """Messages of which it was known before the batch where they are."""
        line = profile_named(profile)
        self._ledger = Ledger(names, line=line, lag=jitter, slack=jitter, slave=slave)
        wholeness = Wholeness(self._ledger)
        shown = Shown(self._ledger, wholeness)
        self._pulls = Pulls(self._ledger, shown)
        self._pops = Pops(self._ledger, shown)
        self._allowed = Allowed()
        self._recalls = Recalls(self._ledger, self._allowed)
        self._searches = Searches(self._ledger, self._pulls, wholeness)
        self._heartbeats = Heartbeats()
        self._groups = Groups(self._ledger, self._heartbeats)
        self._transactions = Transactions(self._ledger, wholeness)
        self._online = Online(self._heartbeats, exact=not jitter, held=self._ledger.held)
        self._static_topics = StaticTopics(self._ledger, wholeness)
        self._nameservers = NameServers(self._ledger)
        self._retried: dict[tuple[str, str], int] = {}
        """By message and group, how often the copy had come back that the retry topic has shown last."""
        self._heard: dict[str, float] = {}
        """By connection: when all was read that had come on it."""

    def begins(self, step: bk.Pull, moment: float) -> None:
        """A pull is about to be sent, which may be held, and have its effect long before its answer."""
        if step.patience:
            self._groups.begins(step, moment)

    def observe(self, batch: Sequence[Observation]) -> list[Violation]:
        """What is wrong about observations that were made together."""
        last = max((seen.number for seen in batch), default=0)
        for seen in batch:
            if isinstance(seen.step, bk.Send):
                self._ledger.coming(seen.step)
        found: list[Violation] = []
        for seen in sorted(batch, key=lambda one: _rank(one.step)):
            try:
                self._take(seen, seen.invoked + seen.number * _AT_ONCE, seen.returned + last * _AT_ONCE)
            except InvariantError as wrong:
                found.append(self._violation(seen.number, wrong))
            self._note(seen.number)
        for seen in batch:
            if isinstance(seen.step, Time):  # before it began, all answers were noticed that had come
                self._pulls.looked = seen.invoked + seen.number * _AT_ONCE
            if isinstance(seen.outcome, Answered) and not seen.outcome.command.code:
                self._learn(seen.step, seen.outcome.command)
        return found

    def copied(
        self, send: bk.Send, symbol: str, shown: Message, topic: str, moment: float, *, tried: int
    ) -> None:
        """A slave has got a message of its master's by a moment, which is in a queue of a topic."""
        entry = self._ledger.entry(send, symbol, -inf, moment, "copy")
        entry.tried = tried
        place = Place(shown.physical_offset, shown.queue_offset)
        self._ledger.copied(entry, topic, shown.queue_id, place)
        if symbol in self._ledger.names.places:
            self._placed.add(symbol)

    def waits(self, one: Waits) -> None:
        """A slave has got a message of its master's that waits."""
        self._ledger.waits(one)

    def sent_back_elsewhere(self, group: str) -> None:
        """A message of its master's comes back for a group, and it is not known which."""
        self._ledger.sent_back_elsewhere(group)

    def begun(self, send: bk.Send, message: str, moment: float) -> None:
        """A slave has got a half message of its master's by a moment."""
        self._ledger.sends[message] = (send, None)
        self._transactions.copied(send, message, moment)
        if message in self._ledger.names.places:
            self._placed.add(message)

    def ended(self, message: str) -> None:
        """The master was told how a half message ends, which its slave may know, or not."""
        self._transactions.ended_elsewhere(message)

    def told(self, conn: str, number: int, moment: float, command: Command) -> list[Violation]:
        """What is wrong about a request of the Broker's, which was noticed behind a step."""
        found: list[Violation] = []
        try:
            if command.code == RequestCode.CHECK_TRANSACTION_STATE:
                self._transactions.asked(conn, command, self._heard.get(conn, 0.0), moment)
            else:
                group = self._ledger.names.made.get((command.ext or {}).get("consumerGroup") or "")
                if group is not None:
                    self._online.told(conn, group, moment)
        except InvariantError as wrong:
            found.append(self._violation(number, wrong))
        self._note(number)
        return found

    def heard(self, batch: Sequence[Observation]) -> list[Violation]:
        """What is missing on connections that were read to the end. Call it after what came was observed."""
        found: list[Violation] = []
        for seen in batch:
            if not isinstance(seen.outcome, Answered) or not isinstance(seen.step, Request):
                continue
            conn, moment = seen.step.conn, seen.invoked
            try:
                self._online.heard(conn, seen.number, moment)
                self._transactions.missed(conn, moment)
            except InvariantError as wrong:
                found.append(self._violation(seen.number, wrong))
            self._note(seen.number)
            self._heard[conn] = max(self._heard.get(conn, 0.0), moment)
        return found

    def _learn(self, step: AnyStep, answer: Command) -> None:
        """What an answer tells that later requests need (`harness.program.broker.frames`)."""
        if isinstance(step, bk.Send):
            self._placed.update(step.messages)
        elif isinstance(step, bk.Pull) and step.topic.startswith(TopicName.RETRY_PREFIX):
            made = self._ledger.names.made
            for one in messages_of(answer):
                symbol = made.get(one.properties.get(PropertyName.UNIQ_KEY, ""), "")
                self._retried[symbol, step.group] = one.reconsume_times

    def _note(self, number: int) -> None:
        """What a step was held against since the last call, and has not broken."""
        held = self._ledger.held
        if held:
            statements = statements_of(self._profile, frozenset(held))
            self.judged[number] = self.judged.get(number, frozenset()) | statements
            held.clear()

    def _violation(self, number: int, wrong: InvariantError) -> Violation:
        self._ledger.held.discard(wrong.invariant)
        return violation_of(wrong, self._profile, number)

    def _take(self, seen: Observation, begin: float, end: float) -> None:
        step = seen.step
        match step:
            case Restart():
                self._ledger.restarted(step.how, begin, end)
                self._groups.restarted(step.how, begin, end)
                self._transactions.restarted()
                self._online.restarted()
                self._heartbeats.restarted()
                self._online.filters.restarted(step.how, begin)
                self._allowed.restarted(begin, end)
                self._pops.restarted(begin, end)
                self._nameservers.restarted(step.how, begin, end)
                self._static_topics.restarted(step.how, begin, end)
                self._heard.clear()
            case bk.NameServer():
                self._nameservers.treated(step, end)
            case bk.Hear() if isinstance(seen.outcome, Heard):
                self._nameservers.heard(seen.outcome, end)
            case TakeOver() if isinstance(seen.outcome, TakenOver):
                self._groups.took_over(seen.outcome, begin, end)
                self._ledger.took_over(end)
            case Close():
                self._closed(step.conn, seen.number, begin, end)
            case Reconnect():
                self._closed(step.conn, seen.number, begin, end)
                self._closed(step.old, seen.number, begin, end)
            case bk.Back(again=True) if (step.message, step.group) not in self._retried:
                self._groups.mentioned(step.group)  # it named a place where there is none
            case bk.End() if step.message not in self._placed:
                self._transactions.ended_at_another_place(step, begin, end)
            case bk.Back() if step.message not in self._placed:
                if step.message in self._ledger.names.places:  # of another Broker
                    self._groups.mentioned(step.group)
                    self._ledger.sent_back_elsewhere(step.group)
            case bk.View() if step.message not in self._placed:
                pass
            case Request():
                self._asked(seen, step, begin, end)

    def _closed(self, conn: str, number: int, begin: float, end: float) -> None:
        self._ledger.left(begin)
        self._groups.closed(conn, begin)
        self._transactions.closed(conn)
        self._online.closed(conn, number, end)
        self._heartbeats.closed(conn)
        self._heard.pop(conn, None)

    def _asked(self, seen: Observation, step: Request, begin: float, end: float) -> None:
        answer = seen.outcome.command if isinstance(seen.outcome, Answered) else None
        if self._ledger.ha_role.refuses(step, begin, end, answer):
            self._ledger.turned_away(step)
            return
        match seen.outcome:
            case Answered(command=answer):
                self._ledger.held.add("request-is-answered")
                self._answered(step, seen.number, begin, end, answer)
            case Garbled(problem=problem):
                raise InvariantError(
                    "request-is-answered", "an answer", f"bytes that are no command: {problem}"
                )
            case Ended() if not step.patience:
                may_be_ended = self._heartbeats.may_be_ended(step.conn, end)
                self._changed(step, seen.number, begin, end, None)
                if not may_be_ended:
                    raise InvariantError(
                        "request-is-answered", "an answer", "the Broker closes the connection"
                    )
            case Unanswered(surely=True) if not self._ledger.lag and step.patience:
                raise InvariantError(
                    "held-until-its-time-is-over", f"an answer within {step.patience} s", "none"
                )
            case Unanswered(surely=True) if not self._ledger.lag and not is_unknown_end(step):
                self._changed(step, seen.number, begin, end, None)
                raise InvariantError(
                    "request-is-answered", "an answer", "none, and something later was answered"
                )
            case _:
                if isinstance(seen.outcome, Unanswered) and seen.outcome.surely and is_unknown_end(step):
                    self._ledger.held.add("unknown-is-not-answered")
                self._changed(step, seen.number, begin, end, None)

    def _changed(self, step: Request, number: int, begin: float, end: float, answer: Command | None) -> None:
        """What changes something; without answer it may have."""
        if self._static_topics.takes(step):
            if isinstance(step, bk.Pull):
                self._groups.pulled(step, begin, end, answer)
            is_member = self._groups.is_known(getattr(step, "group", ""))
            self._static_topics.took(step, begin, end, answer, is_member=is_member)
            return
        is_new = isinstance(step, bk.MakeTopic | bk.Send) and step.topic not in self._ledger.topics
        self._carried_out(step, number, begin, end, answer)
        if is_new and isinstance(step, bk.MakeTopic | bk.Send) and answer is not None and not answer.code:
            self._nameservers.made(step, begin)

    def _carried_out(
        self, step: Request, number: int, begin: float, end: float, answer: Command | None
    ) -> None:
        match step:
            case bk.MakeTopic():
                self._ledger.made(step, end, answer)
            case bk.DropTopic():
                self._ledger.dropped(step, end, answer)
                self._groups.forgot(step.topic, begin, end if answer is not None else inf)
                self._pops.forgot(step.topic)
            case bk.Switch():
                self._ledger.switched(step, begin, end, answer)
                self._nameservers.switched(end)
            case bk.Force():
                self._nameservers.forced(step, end, answer)
            case Allow():
                self._allowed.changed(step, begin, end, answer)
            case bk.Send():
                self._ledger.sent(step, begin, end, answer)
                self._transactions.begun(step)
            case bk.End():
                self._transactions.ended(step, begin, end, answer)
            case bk.Back():
                tried = self._retried[step.message, step.group] if step.again else 0
                self._groups.mentioned(step.group)
                self._ledger.sent_back(step, tried, begin, end, answer)
            case bk.Commit():
                self._groups.committed(step, begin, end, answer)
            case bk.Beat():
                self._groups.beat(step, begin, end, answer)
                self._transactions.beat(step, begin, end, answer)
                self._heartbeats.beat(step, begin, answer)
                self._online.beat(step, number, answer)
                self._online.filters.beat(step, end, answer)
            case bk.Leave():
                self._groups.left(step, begin, end, answer)
                self._transactions.left(step)
                self._heartbeats.left(step, answer)
                self._online.left(step, number, answer)
            case bk.Reset():
                self._groups.reset(step, begin, end, answer)
            case bk.Clone():
                self._groups.cloned(step, begin, end, answer)
            case bk.Lock():
                self._groups.locked(step, begin, end, answer)
            case bk.Pull():
                self._groups.pulled(step, begin, end, answer)
            case Pop():
                self._groups.mentioned(step.group)
                if answer is None:
                    self._pops.unanswered(step)
            case Ack():
                self._groups.mentioned(step.group)
                self._pops.hidden.acknowledged(step, begin, end, answer)
            case Hide():
                self._groups.mentioned(step.group)
                self._pops.hidden.hid(step, begin, end, answer)
            case Recall():
                self._recalls.recalled(step, begin, end, answer)

    def _answered(self, step: Request, number: int, begin: float, end: float, answer: Command) -> None:
        self._changed(step, number, begin, end, answer)
        match step:
            case _ if self._static_topics.takes(step):
                pass
            case bk.Pull() if self._groups.resets.told(step, answer):
                pass
            case bk.Pull():
                self._pulls.pulled(step, begin, end, answer, *self._asked_for(step, begin, end, answer))
            case Pop():
                self._pops.popped(step, begin, end, answer)
            case Check():
                self._checked(step, begin, end, answer)
            case bk.Bound():
                self._searches.bound(step, begin, end, answer)
            case bk.Status():
                self._searches.status(step, begin, end, answer)
            case bk.View():
                self._searches.viewed(step, begin, answer)
            case bk.Find():
                self._searches.found(step, begin, end, answer)
            case bk.Offsets():
                self._groups.all_asked(begin, end, answer)
            case bk.Members():
                self._groups.listed(step, begin, end, answer)
            case bk.Force():
                self._succeeds("settings-change", answer)
            case Allow():
                self._ledger.held.add("settings-change")
            case bk.Clean():
                self._succeeds("cleaning-succeeds", answer)
            case bk.Committed():
                self._groups.asked(step, begin, end, answer)

    def _succeeds(self, invariant: str, answer: Command) -> None:
        self._ledger.held.add(invariant)
        if answer.code:
            raise InvariantError(invariant, "code 0", f"code {answer.code}, {answer.remark}")

    def _asked_for(
        self, step: bk.Pull, begin: float, end: float, answer: Command
    ) -> tuple[Wanted | None, tuple[int, str] | None]:
        """What a pull is to be given, and with which code it has to be refused because of its group or its
        filter, with the invariant; None where that is not known, or not so.
        """
        are_on = self._allowed.allows("filters", begin, end)
        wanted = Wanted(step.tags, step.filter) if step.subscribes else self._online.wants(step, end)
        refusal = None
        if not step.subscribes:
            refusal = self._online.refusal(step, end, filters=are_on)
        elif step.filter is not None and are_on is False:
            refusal = 1, "filter-is-refused-where-it-is-off"
        elif isinstance(step.filter, Unreadable):
            refusal = 23, "unreadable-filter-is-refused"
        if (
            are_on is None
            and answer.code == ResponseCode.SYSTEM_ERROR
            and wanted
            and wanted.filter is not None
        ):
            return None, None  # filters may be off
        return wanted, refusal

    def _checked(self, step: Check, begin: float, end: float, answer: Command) -> None:
        """46."""
        code = 23 if isinstance(step.filter, Unreadable | Empty) else 0
        is_sure = self._allowed.allows("filters", begin, end)
        self._ledger.held |= {"filter-can-be-checked"} if is_sure else set()
        if is_sure and answer.code not in (code, 2):
            raise InvariantError("filter-can-be-checked", f"code {code}", f"{answer.code}, {answer.remark}")


def is_unknown_end(step: Request) -> bool:
    """Whether it is an end that says nothing, which is not answered."""
    return isinstance(step, bk.End) and not step.verdict


def _rank(step: AnyStep) -> int:
    """What is taken first of a batch."""
    return 0 if isinstance(step, bk.Switch) else 2 if isinstance(step, _LOOKS) else 1
