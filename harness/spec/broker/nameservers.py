"""What a Broker owes its NameServers: who has to have heard of it, when, and what.

- Judged is what was heard by the time of a look (`Hear`), by the moments at which it came, in virtual time
  only: there it is known what came first.
- A NameServer that is down, silent or refuses is owed nothing; when it does well again, a registration in the
  next round. The others are owed as much as ever.
- A Broker that is not forced to register asks first (322). It registers in a round in which a NameServer says
  that there is news, and not in one in which both know everything.
- A registration with the name of the Broker among its topics registers all topics; in 5.x a change is
  registered by itself.
"""

from __future__ import annotations

from math import inf

import msgspec

from harness.program.broker import steps as bk
from harness.spec.broker.invariant_error import InvariantError
from harness.spec.broker.ledger import Ledger
from harness.spec.observation import Heard, HeardRequest
from harness.wire import Command, RequestCode, WireError
from harness.wire.bodies import RegisterBody
from harness.wire.view import registration

_ROUND = 31.0
"""Seconds within which a Broker registers again (`registerNameServerPeriod`)."""
_WAIT = 25.0
"""Seconds for which it waits for a NameServer that does not answer (`registerBrokerTimeoutMills`)."""
_SOON = 1.0
_AGAIN = 11.0
"""Seconds behind the start within which a Broker registers once more."""
_INSTANT = 0.002
"""A Broker's clock counts ms."""
_GOOD = ("well", "knows")
_BACK = {
    "down": "returning-nameserver-gets-a-registration",
    "silent": "registers-again-after-silence",
    "refuses": "registers-again-after-a-refusal",
}
_BESIDE = {"down": "absent-nameserver-delays-no-other", "silent": "silent-nameserver-delays-no-other"}


class _Registration(msgspec.Struct, frozen=True):
    at: float
    topics: dict[str, int]
    """Queues of each."""
    counter: int
    """Of the data version."""
    is_whole: bool
    is_oneway: bool
    broker_id: str


class _Known(msgspec.Struct):
    """One NameServer."""

    manner: str = "well"
    before: str = "well"
    """How it was before it did well again."""
    since: float = -inf
    turned: float = -inf
    """When it was said last how it treats the Broker."""
    asked: list[float] = []
    """When it was asked whether anything had changed."""
    registrations: list[_Registration] = []
    departures: list[float] = []

    def is_owed(self, moment: float) -> bool:
        """Whether it has done well since a moment."""
        return self.manner in _GOOD and self.since < moment


class _New(msgspec.Struct, frozen=True):
    """A topic that came into being."""

    topic: str
    begin: float
    by_send: bool


class NameServers:
    """Of one Broker."""

    def __init__(self, ledger: Ledger) -> None:
        self._ledger = ledger
        self._known = (_Known(), _Known())
        self._new: list[_New] = []
        self._started = (-inf, 0.0)
        """Between which moments the Broker was started."""
        self._departed: tuple[float, float] | None = None
        """Between which moments it was asked to stop; None once the next look has judged that."""
        self._is_settled = False
        """Whether what came soon after the start has been judged."""
        self._force: bool | None = True
        """Whether it registers without asking; None: that is not known."""
        self._forced = -inf
        """Since when."""
        self._switched = -inf

    # --- what happens ---------------------------------------------------------------------------------------

    def treated(self, step: bk.NameServer, moment: float) -> None:
        """A NameServer is treated in another way."""
        known = self._known[step.which]
        known.turned = moment
        if known.manner not in _GOOD or step.manner not in _GOOD:
            known.before = known.manner if step.manner in _GOOD else step.manner
            known.since = moment
        known.manner = step.manner

    def forced(self, step: bk.Force, end: float, answer: Command | None) -> None:
        """25: the Broker asks first from now on, or does not."""
        self._force = step.force if answer is not None and not answer.code else None
        self._forced = end

    def restarted(self, how: str, begin: float, end: float) -> None:
        """The Broker was ended and started again."""
        self._started = begin, end
        self._departed = (begin, end) if how == "term" else None
        self._is_settled = False
        self._force = self._force or None  # it may be as it was at the first start
        self._new.clear()

    def switched(self, end: float) -> None:
        """The Broker's role has changed, or may have."""
        self._switched = end

    def made(self, step: bk.MakeTopic | bk.Send, begin: float) -> None:
        """A topic came into being, surely."""
        self._new.append(_New(step.topic, begin, isinstance(step, bk.Send)))

    # --- what was heard -------------------------------------------------------------------------------------

    def heard(self, outcome: Heard, moment: float) -> None:
        """What NameServers have heard by a moment. Raises `InvariantError`."""
        if self._ledger.lag:
            return
        for one in outcome.requests:
            self._note(one)
        for which, known in enumerate(self._known[: outcome.servers]):
            self._has_left(which, known)
            self._has_come(which, known, moment)
            self._has_come_again(which, known, moment)
            self._has_asked(which, known, moment)
            self._is_left_alone(which, known)
            self._has_told(which, known)
            self._knows_all(known)
            self._says_its_id(known, moment)
        self._new.clear()
        self._departed = None
        self._is_settled = self._is_settled or moment > self._started[1] + _AGAIN
        for known in self._known:
            whole = [one for one in known.registrations if one.is_whole]
            known.registrations = [*whole[-1:], *known.registrations[-1:]]
            known.asked = known.asked[-1:]

    def _note(self, one: HeardRequest) -> None:
        known = self._known[one.which]
        if one.command.code == RequestCode.UNREGISTER_BROKER:
            known.departures.append(one.at)
        elif one.command.code == RequestCode.QUERY_DATA_VERSION:
            known.asked.append(one.at)
        elif one.command.code == RequestCode.REGISTER_BROKER:
            known.registrations.append(_read(one.at, one.command))

    def _has_left(self, which: int, known: _Known) -> None:
        """Whether a Broker that was asked to stop has said so."""
        if self._departed is None or not known.is_owed(self._departed[0]):
            return
        begin, end = self._departed
        self._ledger.held.add(
            "unregistration-goes-to-every-nameserver" if which else "unregisters-at-the-end"
        )
        if not any(begin - _INSTANT <= at <= end + _SOON for at in known.departures):
            name = "unregistration-goes-to-every-nameserver" if which else "unregisters-at-the-end"
            raise InvariantError(name, f"UNREGISTER_BROKER (104) at {_name(which)}", "none")

    def _has_come(self, which: int, known: _Known, moment: float) -> None:
        """Whether all topics were registered at the start, and in each round since. A Broker of 5.3 registers
        ten seconds later if it is not connected at its start.
        """
        whole = [one.at for one in known.registrations if one.is_whole]
        begin, end = self._started
        held = self._ledger.held
        held |= {"registers-at-the-start"} if known.is_owed(begin) and moment > end + _AGAIN else set()
        if known.is_owed(begin) and moment > end + _AGAIN and (not whole or whole[-1] < begin - _INSTANT):
            raise InvariantError("registers-at-the-start", f"a registration at {_name(which)}", "none")
        if known.manner not in _GOOD or not self._calls_for_registrations():
            return
        waits = max((self._waits(one, moment) for one in self._known), default=0.0)
        last = max([known.since, end, self._called, *whole])
        first = max(known.since, end, self._called)
        came = [at for at in whole if at > first]
        held |= {self._reason(which, known, before) for before in [first, *came][: len(came)]}
        if moment > last + _ROUND + waits:
            name, since = self._reason(which, known, last), moment - last
            raise InvariantError(name, f"a registration at {_name(which)}", f"none in {since:.0f} s")

    def _has_come_again(self, which: int, known: _Known, moment: float) -> None:
        """Whether there was another registration soon after that at the start."""
        begin, end = self._started
        is_owed = known.manner in _GOOD and known.since <= max(begin, 0.0)
        if (
            self._is_settled
            or not is_owed
            or not self._force
            or self._forced > begin
            or moment <= end + _AGAIN
        ):
            return
        self._ledger.held.add("registers-again-after-ten-seconds")
        if not any(end + _SOON < one.at <= end + _AGAIN for one in known.registrations if one.is_whole):
            expected = f"a second registration at {_name(which)} within {_AGAIN:g} s"
            raise InvariantError("registers-again-after-ten-seconds", expected, "none")

    def _calls_for_registrations(self) -> bool:
        """Whether each round brings a registration: it is forced, or a NameServer says that there is news."""
        manners = [one.manner for one in self._known]
        return bool(self._force) or (
            self._force is False and "well" in manners and set(manners) <= set(_GOOD)
        )

    @property
    def _called(self) -> float:
        """Since when that is so."""
        return self._forced if self._force else max(self._forced, *(one.turned for one in self._known))

    def _has_asked(self, which: int, known: _Known, moment: float) -> None:
        """Whether a Broker asked in each round whether anything had changed, if it was to, and else never."""
        self._ledger.held |= {"does-not-ask-by-default"} if self._force else set()
        late = self._forced + _SOON + max(self._waits(one, moment) for one in self._known)
        if self._force and any(at > late for at in known.asked):
            raise InvariantError("does-not-ask-by-default", f"no question (322) at {_name(which)}", "one")
        if self._force is not False or any(one.manner not in _GOOD for one in self._known):
            return
        since = max([self._forced, self._started[1], *(one.since for one in self._known), *known.asked])
        self._ledger.held |= {"asks-without-force"} if known.asked else set()
        if moment > since + _ROUND + _WAIT:
            raise InvariantError("asks-without-force", f"a question (322) at {_name(which)}", "none")

    def _is_left_alone(self, which: int, known: _Known) -> None:
        """Whether a Broker did not register when both NameServers said that nothing had changed."""
        if self._force is not False or any(one.manner != "knows" for one in self._known):
            return
        since = max(self._called, self._started[1] + _AGAIN) + _SOON
        self._ledger.held.add("unchanged-is-not-registered")
        if any(one.at > since and one.is_whole and not one.is_oneway for one in known.registrations):
            raise InvariantError("unchanged-is-not-registered", f"no registration at {_name(which)}", "one")

    def _waits(self, known: _Known, moment: float) -> float:
        """For how long a round may wait for a NameServer that does not answer, or did not of late."""
        is_late = known.manner not in _GOOD or moment - known.since < _ROUND + _WAIT
        return _WAIT if is_late and known.before != "well" else 0.0

    def _reason(self, which: int, known: _Known, last: float) -> str:
        other = self._known[1 - which]
        if self._force is False:
            return "changed-is-registered"
        if known.since == last and known.before != "well":
            return _BACK[known.before]
        if other.manner in _BESIDE:
            return _BESIDE[other.manner]
        return "goes-to-every-nameserver" if which else "registers-every-thirty-seconds"

    def _has_told(self, which: int, known: _Known) -> None:
        """Whether topics were told when they came into being, with a greater data version."""
        for new in self._new:
            if not known.is_owed(new.begin):
                continue
            name = self._ledger.names.name(new.topic)
            soon = [one for one in known.registrations if -_INSTANT <= one.at - new.begin <= _SOON]
            told = [one for one in soon if name in one.topics and self._is_as_it_must(one, new)]
            self._ledger.held.add("new-topic-is-announced")
            if not told:
                where = f"{name} at {_name(which)}"
                raise InvariantError("new-topic-is-announced", f"a registration of {where}", "none")
            before = [one for one in known.registrations if one.at < new.begin - _INSTANT]
            counter = max(one.counter for one in told)
            if before and before[-1].at >= self._started[1]:
                self._ledger.held.add("new-topic-raises-the-data-version")
            if before and before[-1].at >= self._started[1] and counter <= before[-1].counter:
                expected = f"a counter above {before[-1].counter}"
                raise InvariantError("new-topic-raises-the-data-version", expected, f"{counter}")

    def _is_as_it_must(self, one: _Registration, new: _New) -> bool:
        """Whether a registration announces a topic in the way of its line, if a send has made it."""
        if not new.by_send:
            return True
        if self._ledger.line.has("announced-alone"):
            return len(one.topics) == 1 and not one.is_oneway
        return one.is_whole and one.is_oneway

    def _knows_all(self, known: _Known) -> None:
        """Whether a registration of all topics has those that there are, and none that are gone."""
        ledger = self._ledger
        last = next((one for one in reversed(known.registrations) if one.is_whole), None)
        if last is None or (known.before == "silent" and self._waits(known, last.at)):
            return  # its body may have been made before others were waited for
        for topic, one in ledger.topics.items():
            is_there = one.sure and one.queues is not None and -inf < one.since < last.at - _INSTANT
            queues = last.topics.get(ledger.names.name(topic))
            ledger.held |= {"new-topic-stays-announced"} if is_there else set()
            if is_there and queues != one.queues:
                expected = f"{ledger.names.name(topic)} with {one.queues} queues"
                raise InvariantError("new-topic-stays-announced", expected, f"{queues}")
        for topic, end in ledger.gone.items():
            ledger.held |= {"deleted-topic-is-not-announced"} if end < last.at - _INSTANT else set()
            if end < last.at - _INSTANT and ledger.names.name(topic) in last.topics:
                name = ledger.names.name(topic)
                raise InvariantError("deleted-topic-is-not-announced", f"no {name}, which was deleted", "it")

    def _says_its_id(self, known: _Known, moment: float) -> None:
        """Whether the last registration has the id of the role."""
        changed = max(self._switched, self._started[1])
        if not known.registrations or known.registrations[-1].at <= changed + _INSTANT:
            return
        said, role, held = known.registrations[-1].broker_id, self._ledger.ha_role, self._ledger.held
        master = "promoted-registers-as-master" if role.was_slave else "registration-names-the-broker"
        held |= {"demoted-registers-as-slave"} if role.is_slave(moment, moment) else set()
        held |= {master} if role.is_master(moment, moment) else set()
        if role.is_slave(moment, moment) and said != "1":
            raise InvariantError("demoted-registers-as-slave", "brokerId 1", f"brokerId {said}")
        if role.is_master(moment, moment) and said != "0":
            raise InvariantError(master, "brokerId 0", f"brokerId {said}")


def _read(at: float, command: Command) -> _Registration:
    ext = command.ext or {}
    try:
        body: RegisterBody = registration(command)
    except WireError as problem:
        raise InvariantError("registration-names-the-broker", "a body", str(problem)) from None
    topics = {one.topic_name or "": one.read_queue_nums for one in (body.topics or {}).values()}
    version = body.data_version
    return _Registration(
        at=at,
        topics=topics,
        counter=-1 if version is None else version.counter,
        is_whole=ext.get("brokerName") in topics,
        is_oneway=command.is_oneway,
        broker_id=ext.get("brokerId") or "",
    )


def _name(which: int) -> str:
    return f"NameServer {which + 1}"
