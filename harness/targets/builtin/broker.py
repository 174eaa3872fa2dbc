"""The reference Broker as a target (``in_process``), and the NameServers that it registers with.

What a NameServer answers reaches the Broker at the same moment; that it does not,
when the Broker's patience is over.
"""

from __future__ import annotations

import heapq
import itertools
from contextlib import suppress

from harness.program.chance import chance
from harness.session import DEFAULT_SETUP, ProbingNameServer, Setup, TargetDied, Transport
from harness.targets.builtin.target import reference_line
from harness.targets.in_process import NEVER, InProcess, StumbleError
from harness.targets.probed_broker import nameservers_in, with_nameservers
from harness.wire import WireError
from reference_impl.access_files import files_of_access, is_of_access
from reference_impl.broker import Config, Endpoint, build
from reference_impl.broker.store import MemoryStorage
from reference_impl.certificates import certificates_for
from reference_impl.remoting.effects import Ask, Dial, Effect, Flush, GoOn, Notify, Persist

_FIRST_NAMESERVER = 9876
_EPOCH = 1_700_000_000_000
"""The Broker's time when its clock begins: messages and data versions carry times."""
_DISK_USED = 0.5
"""How full its disk is: more than the least that can be asked for, and less than a Broker minds by itself."""
_SETTINGS = {"brokerName": "probed", "brokerClusterName": "probed-cluster", "namesrvAddr": "{nameserver}"}


class _Chance:
    """Random numbers, the same ones for each Broker."""

    def __init__(self) -> None:
        self._source = chance("builtin")

    def below(self, n: int) -> int:
        return self._source.randrange(n)


class BuiltinBroker(InProcess):
    """A reference Broker."""

    title = "Broker"
    server = "127.0.0.1:10911"

    def __init__(self, profile: str, mutant: str | None, setup: Setup = DEFAULT_SETUP) -> None:
        self._storage = MemoryStorage(used=_DISK_USED)
        addresses = [f"127.0.0.1:{_FIRST_NAMESERVER + number}" for number in range(nameservers_in(setup))]
        self._nameservers = tuple(ProbingNameServer(address) for address in addresses)
        self._answers: list[tuple[int, int, int, bytes | None]] = []
        """(when, in which order, number, frame) of what the Broker is going to receive."""
        self._order = itertools.count()
        told = {**_SETTINGS, **dict(setup)}
        placed = {key: with_nameservers(value, tuple(addresses)) for key, value in told.items()}
        super().__init__(profile, mutant, tuple(placed.items()), _EPOCH)

    @property
    def nameservers(self) -> tuple[ProbingNameServer, ...]:
        return self._nameservers

    def _build(self) -> Endpoint:
        self._answers.clear()
        line = reference_line("broker", self._profile)
        return build(
            line,
            config=Config.of(self._setup, line),
            storage=self._storage,
            stored=self._stored(),
            mutant=self._mutant,
            chance=_Chance(),
            started=self._time,
            certificates=certificates_for(self._setup, lambda _: None),
            acl_files=lambda: files_of_access(self._setup.get("rocketmqHome", "")),
        )

    def _effect(self, effect: Effect) -> None:
        match effect:
            case Persist(name, data) if is_of_access(name):
                self.place(name, bytes(data))
            case Ask(number, address, data, within):
                answer = self._nameserver_says(address, data)
                late = within if answer == "silence" else 0
                frame = answer if isinstance(answer, bytes) else None
                due = self._clock.milliseconds + late
                heapq.heappush(self._answers, (due, next(self._order), number, frame))
            case Notify(address, data):
                self._nameserver_says(address, data)
                super()._effect(effect)
            case GoOn(connection):
                self._push(connection)
            case Dial(address):
                assert isinstance(self._endpoint, Endpoint)
                made = self._dialled(address)
                with suppress(StumbleError):
                    self._carry_out(self._asked(self._endpoint.dialled, made, self._time))
            case Flush():
                assert isinstance(self._endpoint, Endpoint)
                self._asked(self._endpoint.flush)
            case _:
                super()._effect(effect)

    def open_at(self, address: str) -> Transport:
        endpoint = self._endpoint
        assert isinstance(endpoint, Endpoint)
        config = endpoint.broker.config
        if address == f"{config.broker_ip1}:{config.listen_port - 2}":
            return self._opened(endpoint.connected_fast)
        if address != config.ha_address:
            raise TargetDied(f"{address} takes no connection")
        return self._opened(endpoint.connected_slave)

    def sent(self, number: int, data: bytes) -> None:
        with self._lock:
            super().sent(number, data)
            self._push(number)

    def _push(self, connection: int) -> None:
        """What there is for a slave."""
        try:
            while self._asked(self._endpoint.has_waiting, connection):
                self._carry_out(self._asked(self._endpoint.received, connection, b"", self._time))
        except StumbleError:
            self._cut(connection)

    def _nameserver_says(self, address: str, data: bytes) -> bytes | str:
        """What a NameServer says: a frame, `silence`, or `close` where it cannot be reached as well."""
        for server in self._nameservers:
            if server.address == address and server.is_up:
                try:
                    heard = server.hears(1, self.server, data, self._clock.now())
                except WireError:
                    return "close"
                return "silence" if heard is None else heard
        return "close"

    def _carry_out(self, effects: list[Effect]) -> None:
        super()._carry_out(effects)
        while self._answers and self._answers[0][0] <= self._clock.milliseconds:
            _, _, number, frame = heapq.heappop(self._answers)
            assert isinstance(self._endpoint, Endpoint)
            with suppress(StumbleError):
                super()._carry_out(self._asked(self._endpoint.answered, number, frame, self._time))

    def _next_due(self) -> int:
        with self._lock:
            if self._stopped:
                return NEVER
            return min(super()._next_due(), self._answers[0][0] if self._answers else NEVER)
