"""Frames, flags, serializations, opaques, connections."""

from __future__ import annotations

import pytest

from harness.wire import Command, RawFrame, Serialization, WireError, encode, header_bytes
from reference_impl.nameserver import Close, Effect, Persist, Send, build

from .driver import Driver

CLUSTER_INFO = encode(Command(code=106, opaque=3, version=479))


@pytest.mark.parametrize("opaque", [0, -1, 2**31 - 1, -(2**31)])
def test_a_response_echoes_the_opaque_and_nothing_else(ns: Driver, opaque: int) -> None:
    answer = ns.call(106, opaque=opaque, flag=4, language="GO", remark="r", version=1)
    assert (answer.opaque, answer.flag, answer.language, answer.remark) == (opaque, 1, "JAVA", None)
    assert answer.version == (409 if ns.profile == "4.9" else 479)


def test_a_route_is_stamped_as_it_would_be_encoded(ns: Driver) -> None:
    """Routes are encoded once; every opaque has to give the bytes that the encoder would."""
    ns.register()
    for opaque in (0, 7, -7, 123456, -(2**31), 2**31 - 1):
        for number in (0, 479):
            request = Command(code=105, opaque=opaque, version=number, ext={"topic": "TA"})
            (effect,) = ns.endpoint.received(ns.client, encode(request), ns.now)
            assert isinstance(effect, Send)
            reply = ns.endpoint.nameserver.execute(request, ns.client, ns.now)
            assert reply is not None
            assert effect.data == encode(ns.endpoint.response(request, reply))


def test_serialization_is_mirrored_by_handlers(ns: Driver) -> None:
    binary = {"serialization": Serialization.ROCKETMQ}
    ns.register()
    for code, ext in ((106, None), (105, {"topic": "TA"}), (105, {"topic": "zz"}), (100, None)):
        assert ns.call(code, ext, **binary).serialization is Serialization.ROCKETMQ  # type: ignore[arg-type]
    assert ns.call(103, {"brokerName": "b"}, **binary).serialization is Serialization.JSON
    assert ns.call(105, {"topic": "TA"}).serialization is Serialization.JSON


def test_one_way_requests_are_carried_out_and_not_answered(ns: Driver) -> None:
    put: dict[str, str | None] = {"namespace": "n", "key": "k", "value": "v"}
    assert ns.ask(100, put, flag=2) is None
    assert ns.persisted
    for code in (105, 103, 999):
        assert ns.ask(code, flag=2) is None
    assert ns.call(101, {"namespace": "n", "key": "k"}).ext == {"value": "v"}


@pytest.mark.parametrize("flag", [1, 3])
def test_responses_are_ignored(ns: Driver, flag: int) -> None:
    assert ns.ask(100, {"namespace": "n", "key": "k", "value": "v"}, flag=flag) is None
    assert ns.persisted == []
    assert ns.call(106).code == 0


@pytest.mark.parametrize(
    "bad",
    [
        b"GET / HTTP/1.1\r\n\r\n",
        b"\xff\xff\xff\xff",
        (16_777_213).to_bytes(4, "big"),
        (3).to_bytes(4, "big"),
        RawFrame(b"").encode(),
        RawFrame(b"null").encode(),
        RawFrame(b"{").encode(),
        RawFrame(b"{}", serialize_type=2).encode(),
        RawFrame(b"{}", header_length=100).encode(),
        RawFrame(b'{"opaque":4294967295}').encode(),
    ],
)
def test_a_malformed_frame_ends_its_connection_only(ns: Driver, bad: bytes) -> None:
    victim = ns.connect()
    ns.register(on=victim)
    ns.send(CLUSTER_INFO + bad + CLUSTER_INFO, on=victim)
    assert ns.closed == [victim]
    assert ns.answer(victim) is not None
    assert ns.answer(victim) is None
    ns.settle()
    assert ns.addresses() is None
    ns.send(CLUSTER_INFO, on=victim)
    assert ns.answer(victim) is None


def test_the_largest_frame_is_waited_for(ns: Driver) -> None:
    ns.send((16_777_212).to_bytes(4, "big"))
    assert ns.closed == []


def test_an_oversized_frame_in_one_piece_is_refused(ns: Driver) -> None:
    header = header_bytes(Command(code=106))
    ns.send(RawFrame(header, bytes(16_777_213 - 4 - len(header))).encode())
    assert ns.closed == [ns.client]


def test_invalid_utf8_in_a_header(ns: Driver) -> None:
    ns.send(RawFrame(b'{"code":106,"remark":"\xff"}').encode())
    assert (ns.closed == []) == (ns.profile == "4.9")


def test_frames_that_arrive_together_are_answered_together(ns: Driver) -> None:
    effects = ns.endpoint.received(ns.client, CLUSTER_INFO * 3, 0)
    assert len(effects) == 1
    put = Command(code=100, ext={"namespace": "n", "key": "k", "value": "v"})
    kinds = [type(effect) for effect in ns.endpoint.received(ns.client, encode(put) * 2 + b"\0\0\0\0", 0)]
    assert kinds == [Persist, Send, Close]


def test_answers_can_be_had_bit_by_bit(ns: Driver) -> None:
    bit = len(encode(Command(code=106, opaque=3)))
    requests = b"".join(encode(Command(code=106, opaque=number)) for number in range(10, 16))
    everything = _sent(ns.endpoint.received(ns.client, requests, 0))
    effects = ns.endpoint.received(ns.client, requests + CLUSTER_INFO[:9], 0, most=bit)
    assert ns.endpoint.has_waiting(ns.client)
    effects += ns.endpoint.received(ns.client, CLUSTER_INFO[9:] + CLUSTER_INFO, 0, most=bit)
    calls = 2
    while ns.endpoint.has_waiting(ns.client):
        effects += ns.endpoint.received(ns.client, b"", 0, most=bit)
        calls += 1
    last = _sent(ns.endpoint.received(ns.client, CLUSTER_INFO, 0))
    assert _sent(effects) == everything + last * 2
    assert calls > 3
    ns.endpoint.received(ns.client, requests, 0, most=1)
    ns.lose(ns.client)
    assert not ns.endpoint.has_waiting(ns.client)


def _sent(effects: list[Effect]) -> bytes:
    return b"".join(effect.data for effect in effects if isinstance(effect, Send))


def test_unknown_connections_are_nothing(ns: Driver) -> None:
    assert ns.endpoint.received(77, CLUSTER_INFO, 0) == []
    assert ns.endpoint.lost(77, 0) == []


def test_building() -> None:
    with pytest.raises(ValueError, match=r"4\.9, 5\.3"):
        build("6.0")
    with pytest.raises(KeyError, match="no mutant"):
        build("5.3", mutant="no-such-mutant")


def test_unfinished_frames_cost_bounded_memory_and_the_largest_pays(
    ns: Driver, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Only what has not ended counts, and what has ended, or went with its connection, counts no more."""
    monkeypatch.setattr("reference_impl.remoting.endpoint.UNFINISHED_AT_MOST", 5000)
    small, large, other = ns.connect(), ns.connect(), ns.connect()
    start = encode(Command(code=106, body=b"x" * 4000))
    ns.send(start[:1500], small)
    ns.send(start[:3400], large)
    ns.send(start[:3000], other)
    assert ns.closed == [large]
    ns.send(start[1500:], small)
    answer = ns.answer(small)
    assert answer is not None
    assert answer.code == 0
    ns.send(start[:1900], small)
    assert ns.closed == [large]
    ns.lose(other)
    ns.send(start[:3900], ns.client)
    assert ns.closed == [large, ns.client]


def test_an_exception_of_a_handler_is_logged_and_answered(
    ns: Driver, caplog: pytest.LogCaptureFixture
) -> None:
    """As `NettyRemotingAbstract#processRequestCommand` does; the connection stays."""

    def stumble(*_: object) -> None:
        raise KeyError("TA")

    ns.endpoint.nameserver.handlers[106] = stumble
    answer = ns.call(106)
    assert (answer.code, answer.remark) == (1, "KeyError: 'TA'")
    # The record, not its text: PySpark changes the format of pytest's handler, if a Spark test
    # of the same process made it log.
    (record,) = caplog.records
    assert record.getMessage() == "request code 106 failed"
    assert record.exc_info is not None and repr(record.exc_info[1]) == "KeyError('TA')"
    assert ns.call(105, {"topic": "TA"}).code == 17


def test_a_frame_that_a_handler_cannot_read_ends_the_connection(ns: Driver) -> None:
    def refuse(*_: object) -> None:
        raise WireError("no frame")

    ns.endpoint.nameserver.handlers[106] = refuse
    assert ns.ask(106) is None
    assert ns.closed == [ns.client]
