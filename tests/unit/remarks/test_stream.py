"""Traces of several servers, the two clocks, and who is a client."""

from __future__ import annotations

from harness.remarks import judge
from harness.remarks.stream import Ended, Said, Source, happenings
from harness.trace import Closed, Header, Opened, Sent, Trace
from harness.wire import Command, RequestCode, encode
from harness.wire.versions import V5_3_3


def sent(real: float, protocol: float, code: int, connection: int = 1, purpose: str = "case") -> Sent:
    data = encode(Command(code, opaque=int(real) + 1, version=V5_3_3, ext={"topic": "orders"}))
    return Sent(real=real, protocol=protocol, connection=connection, data=data, purpose=purpose)  # type: ignore[arg-type]


def opened(connection: int = 1, remote: str = "127.0.0.1:9876") -> Opened:
    return Opened(
        real=0, protocol=0, connection=connection, local=f"127.0.0.1:500{connection}", remote=remote
    )


def times(*traces: Trace) -> list[tuple[float, float]]:
    found = happenings(Source(one.header, one.events) for one in traces)
    return [(round(one.at, 3), round(one.now, 3)) for one in found]


def test_a_clock_that_is_turned_does_not_make_a_client_late() -> None:
    events = opened(), sent(0, 0, 105), sent(1, 7201, 105), sent(31, 7201, 105), sent(32, 7202, 105)
    assert times(Trace(Header(), events)) == [(0, 0), (7201, 1), (7201, 1), (7202, 2)]


def test_in_virtual_time_the_client_follows_the_server() -> None:
    events = opened(), sent(0, 0, 105), sent(0.1, 120, 105)
    assert times(Trace(Header(clock="virtual"), events)) == [(0, 0), (120, 120)]


def test_traces_that_began_at_different_times_are_put_in_order() -> None:
    first = Trace(Header(started=100), (opened(), sent(0, 0, 105), sent(4, 4, 105)))
    second = Trace(Header(started=102), (opened(), sent(0, 0, 105)))
    found = list(happenings(Source(one.header, one.events) for one in (second, first)))
    assert [(one.at, one.connection.number) for one in found] == [(0, 1), (2, 2), (4, 1)]


def test_what_keeps_a_connection_busy_is_not_the_clients() -> None:
    events = opened(), sent(0, 0, 105), sent(1, 1, 34, purpose="keep-alive"), sent(2, 2, 34, purpose="probe")
    assert len(times(Trace(Header(), events))) == 1


def test_the_end_of_a_connection_says_who_ended_it() -> None:
    end = Closed(real=1, protocol=1, connection=1, by="us", how="fin")
    *_, last = happenings([Source(Header(), (opened(), sent(0, 0, 105), end))])
    assert isinstance(last, Ended) and last.by == "us"


def test_a_broker_is_no_client() -> None:
    def events(code: int) -> tuple[Opened | Sent, ...]:
        no_version = Command(code, opaque=1, version=0)
        frame = Sent(real=0, protocol=0, connection=1, data=encode(no_version))
        return opened(), frame

    assert judge([Trace(Header(), events(RequestCode.REGISTER_BROKER))]) == []
    assert judge([Trace(Header(), events(RequestCode.HEART_BEAT))]) != []


def test_frames_are_put_together_from_pieces() -> None:
    data = encode(Command(105, opaque=1, version=V5_3_3, ext={"topic": "orders"}))
    pieces = [Sent(real=n, protocol=n, connection=1, data=data[n : n + 1]) for n in range(len(data))]
    (said,) = happenings([Source(Header(), (opened(), *pieces))])
    assert isinstance(said, Said) and said["topic"] == "orders"
