"""Mistakes of an application, each found by one named fault; the correct application stands all of them."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import AbstractContextManager
from typing import Any, NamedTuple

import pytest
from unit.testing.sample_application import mistakes
from unit.testing.sample_application.client import Client
from unit.testing.sample_application.shop import (
    ORDERS,
    PARCELS,
    Books,
    FailedError,
    Sender,
    Shop,
    Warehouse,
)

from harness.testing import RocketMQ
from harness.wire import WireError

_ROUNDS = 60


class Parts(NamedTuple):
    """Of which classes an application is made."""

    client: type[Client] = Client
    sender: type[Sender] = Sender
    warehouse: type[Warehouse] = Warehouse


class Application:
    """A shop and a warehouse that is started again when it fails, as a supervisor does."""

    def __init__(self, namesrv: str, parts: Parts) -> None:
        self.books = Books()
        self._namesrv = namesrv
        self._parts = parts
        self._clients = [parts.client(namesrv)]
        self.shop = Shop(parts.sender(self._clients[0]), self.books)
        self._warehouse = self._start()

    def work(self) -> None:
        """The warehouse works until it finds nothing."""
        for _ in range(_ROUNDS):
            try:
                if not self._warehouse.work():
                    return
            except FailedError:
                self.restart()
        raise AssertionError("the warehouse does not come to an end")

    def restart(self) -> None:
        self._clients.pop().close()
        self._warehouse = self._start()

    def close(self) -> None:
        for client in self._clients:
            client.close()

    def _start(self) -> Warehouse:
        self._clients.append(Client(self._namesrv))
        return self._parts.warehouse(self._parts.sender(self._clients[-1]), self.books, number=1)


Fault = Callable[[RocketMQ], AbstractContextManager[Any]]


class Mistake(NamedTuple):
    """A mistake, the fault that finds it, and what is wrong in the books then."""

    parts: Parts
    fault: Fault
    wrong: str


MISTAKES = {
    "a refusal is swallowed": Mistake(
        Parts(sender=mistakes.SwallowsRefusals),
        lambda rocketmq: rocketmq.fault.refuse(code="send", topic=ORDERS, times=1),
        "A2 is lost",
    ),
    "a message is recognised by its place": Mistake(
        Parts(warehouse=mistakes.RecognisesPlaces),
        lambda rocketmq: rocketmq.fault.lose_reply(code="send", topic=ORDERS, times=1),
        "A2 is shipped 2 times",
    ),
    "consumption is not idempotent": Mistake(
        Parts(warehouse=mistakes.IsNotIdempotent),
        lambda rocketmq: rocketmq.fault.deliver_twice(topic=ORDERS, times=1),
        "A2 is shipped 2 times",
    ),
    "a commit is relied on": Mistake(
        Parts(warehouse=mistakes.CommitsWithoutLooking),
        lambda rocketmq: rocketmq.fault.lose_request(code="commit", topic=ORDERS, queue=3, times=1),
        "C2 is shipped 2 times",
    ),
    "the commit is before the work": Mistake(
        Parts(warehouse=mistakes.CommitsFirst),
        lambda rocketmq: rocketmq.fault.refuse(code="send", topic=PARCELS, times=3),
        "A2 is lost",
    ),
    "what fails is postponed": Mistake(
        Parts(warehouse=mistakes.PostponesFailures),
        lambda rocketmq: rocketmq.fault.refuse("SERVICE_NOT_AVAILABLE", topic=PARCELS, times=3),
        "A3 is shipped before A2",
    ),
    "a queue that comes back is begun at its end": Mistake(
        Parts(warehouse=mistakes.BeginsAtTheEnd),
        lambda rocketmq: rocketmq.fault.rebalance("warehouse"),
        "A2 is lost",
    ),
    "a flush time-out is a failure": Mistake(
        Parts(sender=mistakes.TakesFlushTimeoutForFailure),
        lambda rocketmq: rocketmq.fault.store_but("FLUSH_DISK_TIMEOUT", topic=ORDERS),
        "A2 is refused and shipped",
    ),
    "silence is a failure": Mistake(
        Parts(sender=mistakes.TakesSilenceForFailure),
        lambda rocketmq: rocketmq.fault.answer_late(1.5, code="send", topic=ORDERS, times=1),
        "A2 is refused and shipped",
    ),
    "a dead connection is kept": Mistake(
        Parts(client=mistakes.KeepsDeadConnections),
        lambda rocketmq: rocketmq.fault.close_connection(code="send", topic=ORDERS, times=2),
        "A4 is refused",
    ),
    "half a frame is kept": Mistake(
        Parts(client=mistakes.KeepsHalfFrames),
        lambda rocketmq: rocketmq.fault.cut_reply(code="send", topic=ORDERS, times=2),
        "the application has crashed",
    ),
    "only one Broker is tried": Mistake(
        Parts(sender=mistakes.KeepsToOneBroker),
        lambda rocketmq: rocketmq.stop_broker("broker-a"),
        "A2 is refused",
    ),
}


def day(rocketmq: RocketMQ, parts: Parts, fault: Fault | None) -> str:
    """What is wrong after a day with a fault at noon; "" for nothing."""
    application = Application(rocketmq.namesrv, parts)
    try:
        _orders(application, "A1 B1 C1 D1")
        if fault is None:
            _orders(application, "A2 A3 B2 C2 D2")
        else:
            with fault(rocketmq):
                _orders(application, "A2 A3 B2 C2 D2")
        application.work()
        _orders(application, "A4 B4 D4")
        application.restart()
        application.work()
    except WireError:
        return "the application has crashed"
    finally:
        application.close()
    return wrong_in(application.books)


def _orders(application: Application, names: str) -> None:
    for name in names.split():
        application.shop.order(name)
    application.work()


def wrong_in(books: Books) -> str:
    """The first thing that is wrong: lost, shipped twice, refused though it could be done, out of order."""
    for name in sorted({*books.promised, *books.refused}):
        times = books.shipped.count(name)
        if name in books.refused:
            return f"{name} is refused{' and shipped' if times else ''}"
        if times != 1:
            return f"{name} is shipped {times} times" if times else f"{name} is lost"
    for before, name in zip(books.shipped, books.shipped[1:], strict=False):
        if before[0] == name[0] and before > name:
            return f"{before} is shipped before {name}"
    return ""


@pytest.fixture
def rocketmq() -> Any:
    with RocketMQ(masters=2, topics=[ORDERS, PARCELS]) as started:
        yield started


@pytest.mark.parametrize("name", MISTAKES)
def test_a_fault_finds_a_mistake(name: str, rocketmq: RocketMQ) -> None:
    mistake = MISTAKES[name]
    assert day(rocketmq, mistake.parts, mistake.fault) == mistake.wrong


@pytest.mark.parametrize("name", MISTAKES)
def test_the_correct_application_stands_the_fault(name: str, rocketmq: RocketMQ) -> None:
    assert day(rocketmq, Parts(), MISTAKES[name].fault) == ""


@pytest.mark.parametrize("name", MISTAKES)
def test_the_mistake_does_not_show_without_the_fault(name: str, rocketmq: RocketMQ) -> None:
    assert day(rocketmq, MISTAKES[name].parts, None) == ""
