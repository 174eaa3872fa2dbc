"""What a Broker wants to have done becomes effects: in their order, each answer told once."""

from __future__ import annotations

from collections.abc import Callable, Mapping

import pytest

from harness.wire import FLAG_ONEWAY, FLAG_RESPONSE, Command, decode, encode
from harness.wire.messages import Message
from reference_impl.broker import Config, Endpoint, build
from reference_impl.broker.core import Broker
from reference_impl.broker.part import Handler, Part
from reference_impl.broker.store import MemoryStorage, Storage, StoreError
from reference_impl.remoting.effects import Ask, Close, Effect, Flush, Notify, Persist, Send
from reference_impl.remoting.errors import DurabilityError
from reference_impl.remoting.reply import Reply

CLIENT = 7
HOLD, SAY = 9001, 9002


class _Chance:
    def below(self, n: int) -> int:
        return 0


class Acting(Part):
    """A part that does whatever a test asks for."""

    def __init__(self, broker: Broker) -> None:
        super().__init__(broker)
        self.acts: Callable[[Broker], None] = lambda _: None
        self.held: list[Command] = []

    def requests(self) -> Mapping[int, Handler]:
        return {HOLD: self.hold, SAY: self.say}

    def hold(self, command: Command, connection: int, now: int) -> Reply | None:
        self.held.append(command)
        return None

    def say(self, command: Command, connection: int, now: int) -> Reply | None:
        self.acts(self.broker)
        return Reply(0)


def made(*, config: Config | None = None, storage: Storage | None = None) -> tuple[Endpoint, Acting]:
    endpoint = build("5.3", config=config, storage=storage, chance=_Chance(), started=1000)
    part = Acting(endpoint.broker)
    endpoint.broker.handlers.update(part.requests())
    endpoint.tick(1000)
    endpoint.connected(CLIENT, "10.0.0.9:40000", 1000)
    return endpoint, part


def ask(endpoint: Endpoint, code: int, *, flag: int = 0, on: int = CLIENT) -> list[Effect]:
    return endpoint.received(on, encode(Command(code=code, opaque=5, flag=flag)), 1000)


def test_what_is_to_be_kept_comes_before_the_answer_and_the_rest_behind_it() -> None:
    endpoint, part = made()

    def acts(broker: Broker) -> None:
        broker.tell("a:1", Command(code=103))
        broker.persist("config/topics.json", b"{}")
        broker.push(CLIENT, Command(code=40))

    part.acts = acts
    kept, answer, told, pushed = ask(endpoint, SAY)
    assert kept == Persist("config/topics.json", b"{}")
    assert isinstance(answer, Send)
    assert decode(answer.data).flag == FLAG_RESPONSE
    assert isinstance(told, Notify)
    assert isinstance(pushed, Send)
    first, second = decode(told.data), decode(pushed.data)
    assert (first.code, first.flag, first.version) == (103, FLAG_ONEWAY, 479)
    assert (second.code, second.flag) == (40, FLAG_ONEWAY)
    assert first.opaque != second.opaque


def test_a_late_answer_goes_to_whom_it_is_owed() -> None:
    endpoint, part = made()
    assert ask(endpoint, HOLD) == []
    endpoint.broker.answer(CLIENT, part.held[0], Reply(19, remark="late"))
    (sent,) = endpoint.tick(2000)
    assert isinstance(sent, Send)
    answer = decode(sent.data)
    assert (answer.code, answer.opaque, answer.flag, answer.remark) == (19, 5, FLAG_RESPONSE, "late")


def test_a_late_answer_to_a_one_way_request_or_to_a_lost_connection_is_none() -> None:
    endpoint, part = made()
    ask(endpoint, HOLD, flag=FLAG_ONEWAY)
    ask(endpoint, HOLD)
    endpoint.broker.answer(CLIENT, part.held[0], Reply(0))
    assert endpoint.tick(2000) == []
    endpoint.lost(CLIENT, 2000)
    endpoint.broker.answer(CLIENT, part.held[1], Reply(0))
    assert endpoint.tick(2000) == []


@pytest.mark.parametrize("frame", [None, b"\0\0\0\4\0\0\0\0", encode(Command(code=0, opaque=1, flag=1))])
def test_each_asker_gets_one_answer(frame: bytes | None) -> None:
    endpoint, part = made()
    told: list[Command | None] = []
    part.acts = lambda broker: broker.ask("a:1", Command(code=322), 6000, lambda found, _: told.append(found))
    _, asked = ask(endpoint, SAY)
    assert isinstance(asked, Ask)
    assert (asked.address, asked.within, decode(asked.data).opaque) == ("a:1", 6000, asked.number)
    endpoint.answered(asked.number, frame, 1500)
    assert len(told) == 1
    assert (told[0] is not None) is (frame is not None and len(frame) > 8)


def test_what_an_answer_brings_about_leaves_at_once() -> None:
    endpoint, part = made()
    part.acts = lambda broker: broker.ask(
        "a:1", Command(code=322), 6000, lambda _, __: broker.tell("a:2", Command(code=103))
    )
    _, asked = ask(endpoint, SAY)
    assert isinstance(asked, Ask)
    (told,) = endpoint.answered(asked.number, None, 1500)
    assert isinstance(told, Notify)


def test_a_broker_may_end_a_connection_and_hears_of_its_loss() -> None:
    endpoint, part = made()
    part.acts = lambda broker: broker.close(CLIENT)
    _, closed = ask(endpoint, SAY)
    assert closed == Close(CLIENT)
    assert endpoint.broker.peer(CLIENT) == "unknown"


def test_the_vip_port_takes_no_pulls() -> None:
    endpoint, part = made()
    endpoint.broker.handlers[11] = part.say
    endpoint.connected_fast(8, "10.0.0.9:40001", 1000)
    codes = []
    for connection in (CLIENT, 8):
        (sent,) = ask(endpoint, 11, on=connection)
        assert isinstance(sent, Send)
        codes.append(decode(sent.data).code)
    assert codes == [0, 3]
    endpoint.lost(8, 1000)
    endpoint.connected(8, "10.0.0.9:40002", 1000)
    (sent,) = ask(endpoint, 11, on=8)
    assert isinstance(sent, Send)
    assert decode(sent.data).code == 0


def test_an_idle_connection_is_closed_and_a_push_keeps_one_awake() -> None:
    endpoint, _ = made()
    endpoint.tick(60_000)
    endpoint.broker.push(CLIENT, Command(code=40))
    endpoint.tick(60_001)
    assert endpoint.tick(179_999) == []
    assert endpoint.tick(180_000) == [Close(CLIENT)]


def stores(broker: Broker) -> None:
    broker.store.put(Message(topic="T", body=b"x"), 1000)


class Recording(MemoryStorage):
    """Notes which files were made durable."""

    def __init__(self) -> None:
        super().__init__()
        self.durable: list[str] = []

    def flush(self, name: str) -> None:
        self.durable.append(name)


LOG = "commitlog/00000000000000000000"


def test_an_answer_waits_until_the_log_is_handed_over() -> None:
    storage = Recording()
    endpoint, part = made(storage=storage)
    part.acts = stores
    flush, answer = ask(endpoint, SAY)
    assert flush == Flush()
    assert isinstance(answer, Send)
    assert storage.size(LOG) == 0
    endpoint.flush()
    assert storage.size(LOG) > 0
    assert storage.durable == []
    part.acts = lambda _: None
    assert len(ask(endpoint, SAY)) == 1


def test_asynchronous_flushing_makes_the_log_durable_a_while_later() -> None:
    storage = Recording()
    endpoint, part = made(storage=storage)
    part.acts = stores
    ask(endpoint, SAY)
    endpoint.flush()
    ask(endpoint, SAY)
    endpoint.flush()
    assert endpoint.next_tick(1000) == 1500
    assert endpoint.tick(1500) == [Flush()]
    endpoint.flush()
    assert storage.durable == [LOG]
    assert endpoint.next_tick(1500) > 2000


def test_synchronous_flushing_makes_it_durable_before_the_answer() -> None:
    storage = Recording()
    endpoint, part = made(storage=storage, config=Config(flush_disk_type="SYNC_FLUSH"))
    part.acts = stores
    flush, _ = ask(endpoint, SAY)
    assert flush == Flush()
    endpoint.flush()
    assert storage.durable == [LOG]


def test_a_storage_that_fails_is_named_as_the_cause() -> None:
    class Full(MemoryStorage):
        def append(self, name: str, data: bytes) -> None:
            raise StoreError("no space left")

    endpoint, part = made(storage=Full())
    part.acts = stores
    ask(endpoint, SAY)
    with pytest.raises(DurabilityError, match="no space left"):
        endpoint.flush()


@pytest.mark.parametrize(
    ("profile", "graceful", "seconds", "end"),
    [("5.3", True, 7, 8000), ("5.3", True, -1, 1000), ("5.3", False, 7, 1000), ("4.9", True, 7, 1000)],
)
def test_connections_stay_for_a_while_if_configured(
    profile: str, graceful: bool, seconds: int, end: int
) -> None:
    config = Config(enable_shutdown_gracefully=graceful, shutdown_wait_time_seconds=seconds)
    endpoint = build(profile, config=config, chance=_Chance(), started=1000)
    endpoint.tick(1000)
    assert endpoint.stop(1000) == end
    assert endpoint.stop(1500) == end
