"""The Broker as a client of NameServers: when it registers, with which of them, and what comes of it.

1. It registers with every NameServer at the start, after 10 s, and then every `registerNameServerPeriod`. A
   change of topics is made known at once.
2. NameServers do not hold each other up: each has a queue of its own, and gets what comes next when it has
   answered what came before, or its time is over. What waits for one that does not answer is bounded; the
   next registration makes up for what is dropped. (Apache's next round waits until all have answered the one
   before, or `registerBrokerTimeoutMills` is over.)
3. Of the answers to one registration, the first that is a success is applied, and no other.
4. Without force, a NameServer is asked first whether anything has changed (322), and a registration that all
   of them call unnecessary is left out.
5. A Broker that is asked to stop says so to all NameServers, and registers no more.

6. A change of the role or the id by the settings (code 25) holds from the next registration on; nothing is
   said of it before.

What is not built: the look of 5.3, every 3 s, whether a NameServer takes connections (here it is tried when
there is something to say), address servers, and changes of role by DLedger or a controller.

Source: BrokerController#start, #registerBrokerAll, #doRegisterBrokerAll, #handleRegisterBrokerResult;
BrokerOuterAPI#registerBrokerAll, #needRegister, #unregisterBrokerAll; TopicConfigManager of
rocketmq-all-4.9.8 and rocketmq-all-5.3.3.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable, Sequence
from typing import TYPE_CHECKING, Final

import msgspec

from harness.wire import Command, RequestCode, ResponseCode, WireError
from harness.wire.bodies import DataVersion, KvTable, NullBodyError, TopicConfig
from reference_impl.remoting import fields

from .outbox import Done
from .part import NEVER, Part

if TYPE_CHECKING:
    from .core import Broker

_FIRST_AGAIN: Final = 10_000
_SHORTEST, _LONGEST = 10_000, 60_000
_LIST_EVERY: Final = 120_000
_DEPARTURE_WITHIN: Final = 3_000
_SINGLE_WITHIN: Final = 3_000
_MOST_WAITING: Final = 64
"""Requests that may wait for one NameServer."""


class _Round:
    """One registration with all NameServers: whether its answer has been applied."""

    def __init__(self, *, check_order: bool) -> None:
        self.check_order = check_order
        self.is_applied = False


class _Waiting(msgspec.Struct):
    command: Command
    within: int
    done: Callable[[Command | None, int], None] | None
    """None: one-way."""


class _NameServer:
    """What waits for one NameServer."""

    def __init__(self, broker: Broker, address: str) -> None:
        self._broker = broker
        self._address = address
        self._waiting: deque[_Waiting] = deque(maxlen=_MOST_WAITING)
        self._is_asked = False
        self.is_registered = False
        """Whether it has ever accepted a registration."""

    def put(self, waiting: _Waiting) -> None:
        self._waiting.append(waiting)
        self._go_on()

    def clear(self) -> None:
        self._waiting.clear()

    def _go_on(self) -> None:
        while self._waiting and not self._is_asked:
            waiting = self._waiting.popleft()
            done = waiting.done
            if done is None:
                self._broker.tell(self._address, waiting.command)
                continue
            self._is_asked = True

            def answered(
                reply: Command | None,
                now: int,
                waiting: _Waiting = waiting,
                done: Callable[[Command | None, int], None] = done,
            ) -> None:
                self._is_asked = False
                is_accepted = reply is not None and reply.code == ResponseCode.SUCCESS
                if is_accepted and waiting.command.code == RequestCode.REGISTER_BROKER:
                    self.is_registered = True
                done(reply, now)
                self._go_on()

            self._broker.ask(self._address, waiting.command, waiting.within, answered)


class Registrar(Part):
    """When and with whom the Broker registers."""

    def __init__(self, broker: Broker) -> None:
        super().__init__(broker)
        self._nameservers: dict[str, _NameServer] = {}
        self._read_list()
        self._list_at = broker.started + _FIRST_AGAIN
        self._first_at = broker.started
        self._next_at = broker.started + _FIRST_AGAIN
        self.is_stopping = False
        self._departures = 0
        """How many NameServers have not answered the unregistration yet."""

    # -- time ------------------------------------------------------------------------------------------------

    def next_tick(self) -> int:
        if self.is_stopping:
            return NEVER
        return min(self._first_at, self._next_at, self._list_at)

    def tick(self, now: int) -> None:
        if self._list_at <= now:
            self._list_at += _LIST_EVERY
            self._read_list()
        if self._first_at <= now:
            self._first_at = NEVER
            if self.may_register():
                self.register(now, force=True, check_order=True)
        if self._next_at <= now:
            self._next_at += self.period()
            if self.may_register() and not self.is_shy(now):
                self.register(now, force=self.forces(), check_order=True)

    def period(self) -> int:
        """ms from one registration to the next."""
        return max(_SHORTEST, min(self.config.register_name_server_period, _LONGEST))

    def forces(self) -> bool:
        """Whether a registration that time brings is sent without asking whether anything has changed."""
        return self.config.force_register

    def is_shy(self, now: int) -> bool:
        """Whether the Broker is still to disappear, as it may be told to do after its start (5.3)."""
        return self.profile.v5 and now < self.broker.started + self.config.disappear_time_after_start

    def may_register(self) -> bool:
        """Whether the Broker is to be seen at all: not while it is isolated."""
        return not self.broker.ha_membership.is_isolated

    def within(self) -> int:
        """ms that a NameServer has for its answer."""
        return self.config.register_broker_timeout_mills or (24_000 if self.profile.v5 else 6_000)

    def addresses(self) -> Sequence[str]:
        """The NameServers, as configured."""
        return tuple(self._nameservers)

    @property
    def is_registered(self) -> bool:
        """Whether every NameServer has accepted the Broker, at least once."""
        return all(nameserver.is_registered for nameserver in self._nameservers.values())

    def _read_list(self) -> None:
        named = [address.strip() for address in self.broker.config.namesrv_addr.split(";")]
        known = self._nameservers
        self._nameservers = {
            address: known.get(address) or _NameServer(self.broker, address) for address in named if address
        }

    # -- what has changed ------------------------------------------------------------------------------------

    def topic_created(self, topic: TopicConfig, now: int) -> None:
        """4.9 registers as a whole and waits for nothing; 5.3 makes the one topic known."""
        if self.profile.v5:
            self.announce([topic], now)
        else:
            self.register(now, force=True, check_order=False, oneway=True)

    def announce(self, topics: Sequence[TopicConfig], now: int) -> None:
        """Make topics known that an administrator has changed: these only, under the current data version."""
        if self.is_stopping or not topics:
            return
        if self.profile.v5 and self.config.enable_single_topic_register:
            for topic in topics:
                self._send_all(self.broker.registration_requests.single_topic(topic), _SINGLE_WITHIN, _ignore)
            return
        shown = [self.broker.registration_requests.shown(topic, keeps_flag=True) for topic in topics]
        self._register(shown, check_order=True)

    def register(self, now: int, *, force: bool, check_order: bool, oneway: bool = False) -> None:
        """Make all topics known; without `force` only if a NameServer says that it is necessary.

        `check_order`: whether the order of topics is taken over from the answer.
        """
        if self.is_stopping:
            return
        if self.profile.v5 and self.config.enable_split_registration:
            self._register_in_parts(now, check_order=check_order, oneway=oneway)
        elif force:
            self._register(self._shown(), check_order=check_order, oneway=oneway)
        else:
            self._probe(check_order=check_order, oneway=oneway)

    def _shown(self) -> list[TopicConfig]:
        requests = self.broker.registration_requests
        return [requests.shown(topic, keeps_flag=False) for topic in self.broker.topics.table.values()]

    def _register_in_parts(self, now: int, *, check_order: bool, oneway: bool) -> None:
        """5.x: chunks of `splitRegistrationSize`, and the rest; in 5.3 under data versions of their own."""
        topics, size = self._shown(), max(1, self.config.split_registration_size)
        for start in range(0, len(topics) + 1, size):
            if not self.profile.v55:
                self.broker.topics.changed(now)
            self._register(topics[start : start + size], check_order=check_order, oneway=oneway)

    def _register(self, topics: Iterable[TopicConfig], *, check_order: bool, oneway: bool = False) -> None:
        requests = self.broker.registration_requests
        command = requests.registration(topics, requests.version())
        if oneway:
            self._send_all(command, 0, None)
            return
        round_ = _Round(check_order=check_order)
        self._send_all(command, self.within(), lambda reply, now: self._registered(round_, reply, now))

    def _send_all(
        self, command: Command, within: int, done: Callable[[Command | None, int], None] | None
    ) -> None:
        for nameserver in self._nameservers.values():
            nameserver.put(_Waiting(command, within, done))

    def ask_any(self, command: Command, within: int, done: Done, now: int) -> None:
        """Ask one NameServer after another, `within` ms each, until one answers; None if there is none."""
        addresses = list(self.addresses())

        def answered(reply: Command | None, now: int) -> None:
            if reply is None and addresses:
                self.broker.ask(addresses.pop(0), command, within, answered)
            else:
                done(reply, now)

        answered(None, now)

    # -- whether anything has changed ------------------------------------------------------------------------

    def _probe(self, *, check_order: bool, oneway: bool) -> None:
        version = self.broker.registration_requests.version()
        is_decided = False

        def answered(reply: Command | None, now: int) -> None:
            nonlocal is_decided
            if not is_decided and self.calls_for_registration(reply, version):
                is_decided = True
                if not self.is_stopping:
                    self._register(self._shown(), check_order=check_order, oneway=oneway)

        self._send_all(self.broker.registration_requests.probe(version), self.within(), answered)

    def calls_for_registration(self, reply: Command | None, version: DataVersion) -> bool:
        """Whether an answer to the question for changes (322), or its absence, demands a registration.

        An error does not: so a NameServer that does not know the question is left alone.
        """
        if reply is None:
            return True
        if reply.code != ResponseCode.SUCCESS:
            return False
        if fields.boolean(reply.ext, "changed") is not False:
            return True
        if not reply.body:
            return False
        try:
            return DataVersion.decode_as(reply.body, self.profile.v5) != version
        except WireError:
            return True

    # -- what comes of an answer -----------------------------------------------------------------------------

    def _registered(self, round_: _Round, reply: Command | None, now: int) -> None:
        if reply is None or reply.code != ResponseCode.SUCCESS or round_.is_applied:
            return
        round_.is_applied = True
        self.broker.slave_sync.told(fields.text(reply.ext, "masterAddr"))
        self.broker.master_link.told(fields.text(reply.ext, "haServerAddr"))
        if round_.check_order and reply.body:
            self.take_order(reply.body, now)

    def take_order(self, body: bytes, now: int) -> None:
        """Take over which topics are ordered; a body that cannot be read changes nothing."""
        try:
            table = KvTable.decode(body).table
        except (WireError, NullBodyError):
            return
        if table is not None:
            self.broker.topics.set_order(table.keys(), now)

    # -- the end ---------------------------------------------------------------------------------------------

    def stop(self, now: int) -> None:
        """Say to all NameServers that the Broker goes. `has_left` says when that is done."""
        if self.is_stopping:
            return
        self.is_stopping = True
        for address in self.addresses():
            self._departures += 1
            self.broker.ask(
                address, self.broker.registration_requests.departure(), _DEPARTURE_WITHIN, self._departed
            )
        for nameserver in self._nameservers.values():
            nameserver.clear()

    def _departed(self, reply: Command | None, now: int) -> None:
        self._departures -= 1

    @property
    def has_left(self) -> bool:
        """Whether every NameServer has been told that the Broker goes, as far as that can be done."""
        return self.is_stopping and not self._departures


def _ignore(reply: Command | None, now: int) -> None:
    return
