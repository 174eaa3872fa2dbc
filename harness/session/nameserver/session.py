"""The ``ns`` of a case: names, brokers and time; what it asks is in `requests`."""

from __future__ import annotations

import random
import re
from typing import Final, TypeGuard

from harness.catalogue import profile_named
from harness.session.connection import Connection
from harness.session.errors import Blocked, TargetDied, TooLate, Unmet, Unsupported
from harness.session.exchange import Request, SentRequest
from harness.session.futile import TIMES, FutileWaits
from harness.session.header import header_of
from harness.session.link import Link
from harness.session.nameserver.broker import Broker, Topics
from harness.session.nameserver.controller import OF_CONTROLLER
from harness.session.nameserver.requests import NameServerRequests
from harness.session.nameserver.views import (
    CERTIFICATE,
    CertificateExchange,
)
from harness.session.outcome import Outcome, Replied
from harness.session.requests import Ext, HeaderFields, Query
from harness.session.session import Session
from harness.session.transport import Ending, NameServerInstance
from harness.wire import Command, RequestCode, ResponseCode, encode
from harness.wire.code_names import request_words

_SETTLING = "settling"
AT_THE_CONTROLLER: Final = "at the port of the controller"
"""The note of a connection: all others are at the port of the NameServer."""
LEADING: Final = "a controller that leads"
"""What is waited for at the start of a controller."""
_NO_CONTROLLER = "no controller listens at the port that controllerDLegerPeers names"
_LEADS_WITHIN = 25.0
"""Waiting seconds from the start of a controller, in which the NameServer answers already. A case may take
30.
"""
_LED: Final = RequestCode.CONTROLLER_GET_NEXT_BROKER_ID
"""Served by a controller that leads its group alone."""
_GAVE_UP = "java.util.concurrent.TimeoutException"
_CANNOT_WAIT = "the case must wait until the server has removed every broker that left before, and cannot"


class NameServerSession(NameServerRequests):
    """The ``ns`` of a case.

    ``seed`` makes the names; give none and the names are new each time. ``case``, ``target`` and ``suite`` go
    into the head of the trace. ``deadline`` is in real seconds, time that the case advances by not counted.
    ``beside`` is the session of another NameServer, whose trace this one writes into too.
    """

    query = Query(RequestCode.GET_ROUTEINFO_BY_TOPIC, {"topic": "rmq-harness-no-such-topic"})
    query_answer = ResponseCode.TOPIC_NOT_EXIST
    bare_query = Query(RequestCode.GET_BROKER_CLUSTER_INFO, {})

    def __init__(
        self,
        instance: NameServerInstance,
        profile: str,
        *,
        seed: int | str | None = None,
        case: str = "",
        target: str = "",
        suite: str = "",
        started: float = 0.0,
        deadline: float = 60.0,
        beside: Session | None = None,
        futile: FutileWaits | None = None,
    ) -> None:
        self.profile = profile_named(profile)
        self._topics: dict[str, str] = {}
        self._nameserver = instance
        self._controller: Connection | None = None
        self._is_led = False
        """Whether the controller has been seen to serve since it was started."""
        source = random.SystemRandom() if seed is None else random.Random(seed)
        header = header_of(instance, suite=suite, target=target, profile=profile, case=case, started=started)
        super().__init__(
            instance,
            header=header,
            random_source=source,
            profile=self.profile,
            probe=_probe,
            deadline=deadline,
            beside=beside,
            futile=futile,
        )

    # --- time -----------------------------------------------------------------------------------------------

    @property
    def lease(self) -> float:
        """Protocol seconds that a lease lasts where the registration does not say so."""
        return self.profile.lease

    @property
    def scan_interval(self) -> float:
        return self.profile.scan_interval

    def settle(self) -> None:
        """Waits until the target has carried out what it does behind a reply or behind a close.

        Two sentinel brokers are registered; one is unregistered, the connection of the other is closed; when
        both are gone, so is what was asked or closed before (5.x queues both in one line,
        `BatchUnregistrationService`).

        Raises `Blocked` if a sentinel cannot be registered, or is still there after the patience of 2 s, or a
        shorter one where that was in vain before: whether the target has settled is then unknown.
        """
        try:
            self._settle(self._settling_patience())
        except Blocked as problem:
            if self.clock.warp and not isinstance(problem, TargetDied):
                self.futile.was_in_vain(_SETTLING)
            raise
        self.futile.was_met(_SETTLING)

    def _settling_patience(self) -> float:
        timing = self.clock.timing
        return timing.brief if self.futile.is_known(_SETTLING) else timing.patience

    def _settle(self, patience: float) -> None:
        staying, leaving = self.connect(), self.connect()
        unregistration = request_words(RequestCode.UNREGISTER_BROKER)
        topics = {
            self._sentinel(staying, leaves=True): unregistration,
            self._sentinel(leaving, leaves=False): "the end of its connection",
        }
        leaving.close()
        clock = self.clock
        end = clock.waiting() + patience
        while left := [way for topic, way in topics.items() if self._is_routed(topic, staying)]:
            if clock.waiting() >= end:
                raise Blocked(
                    f"{_CANNOT_WAIT}: a broker that the harness registered is still routed {patience:g} s "
                    f"after {left[0]}",
                    needs=RequestCode.UNREGISTER_BROKER,
                )
            self.pause(clock.timing.pause)
        staying.close()

    # --- brokers and topics ---------------------------------------------------------------------------------

    @property
    def first_state_version(self) -> int | None:
        """The stateVersion of a broker's first data version: 0, or None in a line that has no such member."""
        return 0 if self.profile.has("state-version") else None

    def topic(self, hint: str) -> str:
        """The topic of this session that is called so; the same name whenever the hint is the same.

        A name that the session made is its own hint.
        """
        if self._names.is_ours(hint):
            return hint
        if hint not in self._topics:
            self._topics[hint] = self.name(hint)
        return self._topics[hint]

    def broker(
        self,
        id: int = 0,  # noqa: A002  (the protocol's word)
        name: str | None = None,
        cluster: str | None = None,
        address: str | None = None,
        topics: Topics = ("A", "B"),
        ha: str | None = None,
        on: Connection | None = None,
    ) -> Broker:
        """A broker with unique names for what is not given, and a connection of its own unless ``on`` is
        one.
        """
        return Broker(
            self,
            id=id,
            name=self.name("broker") if name is None else name,
            cluster=self.name("cluster") if cluster is None else cluster,
            address=self.address() if address is None else address,
            ha=self.address() if ha is None else ha,
            topics=topics,
            on=on,
        )

    # --- the controller -------------------------------------------------------------------------------------

    @property
    def controller(self) -> Connection:
        """The session's own connection to the controller. A new one if it was closed."""
        if self._controller is not None:
            self._controller.link.notice()
        if self._controller is None or not self._controller.link.takes_frames:
            self._controller = self.connect_to_controller()
        return self._controller

    def connect_to_controller(self) -> Connection:
        """A new connection to the controller, which leads by now: Apache's does so some time after the
        NameServer answers. One that closes what asks it, or never answers, is asked all the same: the owners
        of its codes fail by that.

        Raises ``Unsupported`` where there is none, ``Blocked`` where it does not lead in time.
        """
        self.checked("connecting")
        if not self._is_led:
            self._await_leader()
            self._is_led = True
        return self._at_the_controller()

    def _at_the_controller(self) -> Connection:
        connection = self._added(self._nameserver.open_controller())
        self._recorder.note(AT_THE_CONTROLLER, connection.id)
        return connection

    def _await_leader(self) -> None:
        end = self.clock.waiting() + (0.0 if self.futile.is_known(LEADING) else _LEADS_WITHIN)
        while (seen := self._instead_of_a_leader()) is not None:
            if self.clock.waiting() >= end:
                if self.clock.warp:
                    self.futile.was_in_vain(LEADING, times=TIMES)  # so long is no slow moment
                if isinstance(seen, TargetDied) and self._has_no_controller():
                    raise Unsupported(_NO_CONTROLLER, of_setup=True)
                if isinstance(seen, TargetDied):
                    raise Blocked(str(seen), needs=_LED)
                if isinstance(seen, Replied):  # an election may be late; it cannot close what asks
                    raise Blocked(f"{request_words(_LED)} got: {seen}", needs=_LED)
                return
            self.pause(self.clock.timing.pause)
        self.futile.was_met(LEADING)

    def _instead_of_a_leader(self) -> TargetDied | Outcome | None:
        """What the controller does as long as it serves nothing; None: it serves."""
        try:
            connection = self._at_the_controller()
        except TargetDied as problem:
            return problem
        ext = {"clusterName": self.name("leader"), "brokerName": self.name("leader")}
        outcome = self.ask_own(_LED, ext, b"", connection)
        connection.close()
        leads = isinstance(outcome, Replied) and outcome.command.code != ResponseCode.CONTROLLER_NOT_LEADER
        return None if leads else outcome

    def _has_no_controller(self) -> bool:
        """Of a server whose controller takes no connection: whether it serves otherwise, and has not served
        as a controller in any case.
        """
        return not self.futile.has_come(LEADING) and self.is_answered()

    def restart(self, how: Ending = "term") -> None:
        super().restart(how)
        self._is_led = False

    def refuse_if_late(self, unmet: Unmet, link: Link | None) -> None:
        """As for every session. Apache's controller gives up on a request after 5 s of its own, which at a
        fast clock are soon over (`ControllerRequestProcessor#WAIT_TIMEOUT_OUT`).
        """
        outcome = unmet.outcome
        remark = outcome.command.remark if isinstance(outcome, Replied) else None
        if self.clock.kind == "warped" and _GAVE_UP in (remark or ""):
            raise TooLate(
                f"{unmet.exchange.subject}: the controller gave up after 5 protocol seconds"
            ) from unmet
        super().refuse_if_late(unmet, link)

    # --- requests -------------------------------------------------------------------------------------------

    def request(
        self, code: int, ext: Ext, body: bytes, on: Connection | None, about: str, header: HeaderFields
    ) -> Request:
        """As for every session; what only a controller serves is asked there. Cluster information is asked
        for again where Apache fails because brokers come and go.
        """
        if on is None and code in OF_CONTROLLER:
            on = self.controller
        request = super().request(code, ext, body, on, about, header)
        if code == RequestCode.GET_BROKER_CLUSTER_INFO:
            request.excuses = _changed_meanwhile
        return request

    def certificate(self) -> CertificateExchange:
        """A cheap request over a new TLS connection, whose exchange shows the target's certificate."""

        def ask() -> SentRequest:
            link = self.connect(tls=True).link
            request = _probe(self.next_opaque(), self.profile.announces, self.nonce)
            data, want = encode(request), link.want(request.opaque)
            sent_at = self.clock.now()
            return SentRequest(link, want, request, data, link.send(data), sent_at)

        return CertificateExchange(Request(self, "certificate", ask), CERTIFICATE)

    # --- within ---------------------------------------------------------------------------------------------

    def _sentinel(self, connection: Connection, *, leaves: bool) -> str:
        """Registers a throwaway broker, and lets it leave again; returns a topic of it."""
        broker = self.broker(name=self.name("sentinel"), cluster=self.name("sentinels"), on=connection)
        topics = [self.name("sentinel"), self.name("sentinel")]
        identity = {
            "brokerName": broker.name,
            "brokerAddr": broker.address,
            "clusterName": broker.cluster,
            "brokerId": "0",
        }
        body = broker.body_of(*topics).encode()
        register = {**identity, "haServerAddr": broker.ha}
        self._ask_sentinel(RequestCode.REGISTER_BROKER, register, body, connection)
        if not self._is_routed(topics[0], connection):
            raise Blocked(
                f"{_CANNOT_WAIT}: {request_words(RequestCode.REGISTER_BROKER)} of a broker that the harness "
                "made up was accepted, and its topic has no route",
                needs=RequestCode.REGISTER_BROKER,
            )
        if leaves:
            self._ask_sentinel(RequestCode.UNREGISTER_BROKER, identity, b"", connection)
        return topics[0]

    def _ask_sentinel(
        self, code: RequestCode, identity: dict[str, str], body: bytes, connection: Connection
    ) -> None:
        """Asks until it succeeds: a server whose queue of unregistrations is full refuses for a while."""
        end = self.clock.waiting() + self._settling_patience()
        while not _succeeds(outcome := self.ask_own(code, identity, body, connection)):
            if self.clock.waiting() >= end:
                raise Blocked(f"{_CANNOT_WAIT}: {request_words(code)} got: {outcome}", needs=code)
            self.pause(self.clock.timing.pause)

    def _is_routed(self, topic: str, connection: Connection) -> bool:
        outcome = self.ask_own(RequestCode.GET_ROUTEINFO_BY_TOPIC, {"topic": topic}, b"", connection)
        return _succeeds(outcome) and bool(outcome.command.body)


def _succeeds(outcome: Outcome) -> TypeGuard[Replied]:
    return isinstance(outcome, Replied) and outcome.command.code == ResponseCode.SUCCESS


_CHANGED_MEANWHILE: Final = re.compile(
    r"ConcurrentModificationException|JSONException: write javaBean error, .*ClusterInfo"
)
"""What Java says, and what the fastjson of 4.6 and 4.7 makes of it."""


def _changed_meanwhile(reply: Command) -> bool:
    """Whether cluster information changed while it was written: Apache's servers do that without a lock and
    may then fail with code 1 (apache/rocketmq#1432; on all lines).
    """
    said = reply.remark or ""
    return reply.code == ResponseCode.SYSTEM_ERROR and _CHANGED_MEANWHILE.search(said) is not None


def _probe(opaque: int, version: int, nonce: str) -> Command:
    """The cheapest request that every NameServer answers: the route of a topic that does not exist."""
    return Command(
        code=RequestCode.GET_ROUTEINFO_BY_TOPIC,
        opaque=opaque,
        version=version,
        ext={"topic": f"nothing-{nonce}"},
    )
