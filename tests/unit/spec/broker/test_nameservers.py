"""The model of a Broker: what its NameServers have to hear from it."""

from __future__ import annotations

from typing import Literal

from harness.program.broker import steps as bk
from harness.program.chance import chance
from harness.program.names import Names
from harness.program.step import Restart
from harness.program.steps import AnyStep
from harness.spec import Answered, Observation
from harness.spec.broker import BrokerTracker
from harness.spec.observation import Heard, HeardRequest, Outcome
from harness.wire import Command, RequestCode
from harness.wire.bodies import DataVersion, RegisterBody, TopicConfig

BROKER = "broker"
DONE = Answered(Command(code=0, flag=1, opaque=1, version=479))


class Broker:
    """Tells a model what NameServers have heard from a Broker. Time passes only where a test says so."""

    def __init__(self) -> None:
        self._names = Names(chance("model"))
        self._known = BrokerTracker("5.3", self._names, jitter=0.0)
        self._number = 0
        self._heard: list[HeardRequest] = []
        self.now = 0.0

    def does(self, step: AnyStep, outcome: Outcome = None) -> list[str]:
        """Which invariants a step breaks."""
        number, self._number = self._number, self._number + 1
        seen = Observation(number=number, step=step, invoked=self.now, returned=self.now, outcome=outcome)
        return [one.invariant for one in self._known.observe([seen])]

    def registers(
        self, *topics: str, queues: int = 4, which: tuple[int, ...] = (0, 1), counter: int = 1, id_: int = 0
    ) -> None:
        """Registers these topics at this moment, as a whole if it is one of them."""
        made = {
            name: TopicConfig(topic_name=name, read_queue_nums=queues)
            for name in (one if one == BROKER else self._names.name(one) for one in topics)
        }
        body = RegisterBody(topics=made, data_version=DataVersion(counter, 7, 0))
        ext: dict[str, str | None] = {"brokerName": BROKER, "brokerId": str(id_), "compressed": "false"}
        command = Command(code=RequestCode.REGISTER_BROKER, ext=ext, body=body.encode(), version=479)
        self._heard += [HeardRequest(which=one, at=self.now, command=command) for one in which]

    def asks(self) -> None:
        """Asks both whether anything has changed."""
        command = Command(code=RequestCode.QUERY_DATA_VERSION, ext={})
        self._heard += [HeardRequest(which=one, at=self.now, command=command) for one in (0, 1)]

    def leaves(self, *which: int) -> None:
        """Unregisters."""
        command = Command(code=RequestCode.UNREGISTER_BROKER, ext={})
        self._heard += [HeardRequest(which=one, at=self.now, command=command) for one in which]

    def is_heard(self) -> list[str]:
        """It is looked at what came."""
        heard, self._heard = Heard(requests=tuple(self._heard), servers=2), []
        return self.does(bk.Hear(), heard)


def started() -> Broker:
    """A Broker that has registered at its start, in second 0, and in second 10."""
    broker = Broker()
    for second in (0.0, 10.0):
        broker.now = second
        broker.registers(BROKER)
    return broker


def test_a_broker_registers_again_ten_seconds_after_its_start() -> None:
    for second, wrong in ((10.0, []), (30.0, ["registers-again-after-ten-seconds"])):
        broker = Broker()
        broker.registers(BROKER)
        broker.now = second
        broker.registers(BROKER)
        broker.now = 31.0
        assert broker.is_heard() == wrong


def test_each_nameserver_gets_a_registration_in_each_round() -> None:
    for second, which, wrong in (
        (40.0, (0, 1), []),
        (40.0, (0,), ["goes-to-every-nameserver"]),
        (40.0, (1,), ["registers-every-thirty-seconds"]),
    ):
        broker = started()
        broker.now = second
        broker.registers(BROKER, which=which)
        broker.now = 42.0
        assert broker.is_heard() == wrong


def test_a_nameserver_that_is_away_is_owed_nothing_until_it_is_back() -> None:
    for comes, wrong in ((True, []), (False, ["returning-nameserver-gets-a-registration"])):
        broker = started()
        broker.does(bk.NameServer(which=1, manner="down"))
        for second in (40.0, 70.0, 100.0):
            broker.now = second
            broker.registers(BROKER, which=(0,))
        assert broker.is_heard() == []
        broker.does(bk.NameServer(which=1))
        for second in (130.0, 160.0):
            broker.now = second
            broker.registers(BROKER, which=(0, 1) if comes else (0,))
        assert broker.is_heard() == wrong


def test_a_nameserver_that_is_away_delays_no_other() -> None:
    broker = started()
    broker.does(bk.NameServer(which=1, manner="down"))
    broker.now = 70.0
    assert broker.is_heard() == ["absent-nameserver-delays-no-other"]


def test_a_new_topic_is_announced_at_once_under_a_greater_version() -> None:
    for which, counter, wrong in (
        ((0, 1), 2, []),
        ((0,), 2, ["new-topic-is-announced"]),
        ((0, 1), 1, ["new-topic-raises-the-data-version"]),
    ):
        broker = started()
        broker.now = 12.0
        broker.does(bk.MakeTopic(), DONE)
        broker.registers("T0", which=which, counter=counter)
        assert broker.is_heard() == wrong


def test_a_registration_of_all_topics_has_those_that_there_are() -> None:
    for again, queues, wrong in (
        ((BROKER, "T0"), 4, []),
        ((BROKER,), 4, ["new-topic-stays-announced"]),
        ((BROKER, "T0"), 3, ["new-topic-stays-announced"]),
    ):
        broker = started()
        broker.now = 12.0
        broker.does(bk.MakeTopic(), DONE)
        broker.registers("T0", counter=2)
        broker.now = 30.0
        broker.registers(*again, queues=queues, counter=2)
        assert broker.is_heard() == wrong


def test_a_deleted_topic_is_announced_no_longer() -> None:
    for again, wrong in (((BROKER,), []), ((BROKER, "T0"), ["deleted-topic-is-not-announced"])):
        broker = started()
        broker.does(bk.MakeTopic(), DONE)
        broker.registers("T0", counter=2)
        broker.does(bk.DropTopic(), DONE)
        broker.now = 30.0
        broker.registers(*again, counter=3)
        assert broker.is_heard() == wrong


def test_a_broker_that_stops_takes_leave_and_registers_when_it_starts() -> None:
    for left, came, wrong in (
        ((0, 1), (0, 1), []),
        ((0,), (0, 1), ["unregistration-goes-to-every-nameserver"]),
        ((1,), (0, 1), ["unregisters-at-the-end"]),
        ((0, 1), (0,), ["registers-at-the-start"]),
    ):
        broker = started()
        broker.now = 15.0
        broker.leaves(*left)
        broker.does(Restart(how="term"))
        broker.registers(BROKER, which=came)
        broker.now = 25.0
        broker.registers(BROKER, which=came)
        broker.now = 27.0
        assert broker.is_heard() == wrong


def test_a_slave_registers_with_its_id() -> None:
    for id_, wrong in ((1, []), (0, ["demoted-registers-as-slave"])):
        broker = started()
        broker.does(bk.Switch(role="slave"), DONE)
        broker.now = 20.0
        broker.registers(BROKER, id_=id_)
        assert broker.is_heard() == wrong


def unforced(manner: Literal["well", "knows"]) -> Broker:
    """A Broker that asks its NameServers from second 12 on; one of them knows everything, and one does so."""
    broker = started()
    broker.now = 12.0
    broker.does(bk.NameServer(which=0, manner="knows"))
    broker.does(bk.NameServer(which=1, manner=manner))
    broker.does(bk.Force(force=False), DONE)
    return broker


def test_a_broker_that_is_not_forced_asks_first() -> None:
    for asks, wrong in ((True, []), (False, ["asks-without-force"])):
        broker = unforced("knows")
        for second in (40.0, 70.0):
            broker.now = second
            if asks:
                broker.asks()
        broker.now = 72.0
        assert broker.is_heard() == wrong


def test_a_broker_that_is_forced_does_not_ask() -> None:
    broker = started()
    broker.asks()
    assert broker.is_heard() == ["does-not-ask-by-default"]


def test_a_broker_registers_when_one_nameserver_says_that_much_has_changed() -> None:
    cases: tuple[tuple[Literal["well", "knows"], bool, list[str]], ...] = (
        ("well", True, []),
        ("well", False, ["changed-is-registered"]),
        ("knows", True, ["unchanged-is-not-registered"]),
        ("knows", False, []),
    )
    for manner, registers, wrong in cases:
        broker = unforced(manner)
        broker.now = 40.0
        broker.asks()
        if registers:
            broker.registers(BROKER)
        broker.now = 45.0
        assert broker.is_heard() == wrong
