"""Whatever a server does, the question has an outcome."""

from __future__ import annotations

import socket
import struct
import time
from collections.abc import Generator

import msgspec
import pytest

from harness.conformance import Reply
from harness.session import (
    CaseTimeout,
    ClosedBy,
    Garbled,
    Replied,
    RunningClock,
    Silent,
    Stalled,
    TargetDied,
    TooLate,
    Unmet,
)
from harness.session.exchange import View
from harness.session.outcome import OTHER_OPAQUE, UNFLAGGED
from harness.trace import Received, Sent
from harness.wire import Command, RequestCode, decode, encode

from .helpers import Code, Gone, Met, Quiet, Server, answering, session, success


class _Hasty(RunningClock):
    """Real time with short deadlines."""

    @property
    def timing(self):  # type: ignore[no-untyped-def]
        return msgspec.structs.replace(super().timing, answer=0.3, probe=0.2, patience=0.3, grace=0.05)


@pytest.fixture
def served() -> Generator[object]:
    """Starts a server and gives a session with it."""
    servers: list[Server] = []

    def start(serve, warp: float = 1.0, **arguments: float):  # type: ignore[no-untyped-def]
        server = Server(serve, _Hasty(warp))
        servers.append(server)
        return session(server, **arguments)

    yield start
    for server in servers:
        server.stop()


def _mute(peer: socket.socket) -> None:
    while peer.recv(65536):
        pass


def test_a_server_that_accepts_and_never_answers_is_stalled_and_not_silent(served) -> None:
    ns = served(_mute)
    assert isinstance((ns.route("T") >> Met()).outcome, Stalled)
    with pytest.raises(Unmet, match="or to a probe"):
        ns.call(12345) >> Quiet()


def test_a_server_that_closes_at_once(served) -> None:
    ns = served(lambda peer: peer.close())
    ns.route("T") >> Gone()
    ns.route("T") >> Gone()


def test_a_server_that_resets(served) -> None:
    def serve(peer: socket.socket) -> None:
        peer.recv(1)
        peer.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        peer.close()

    outcome = (served(serve).route("T") >> Met()).outcome
    assert isinstance(outcome, ClosedBy)
    assert (outcome.how, outcome.by) == ("reset", "target")


def test_a_server_that_answers_http(served) -> None:
    ns = served(
        lambda peer: (peer.recv(65536), peer.sendall(b"HTTP/1.1 400 Bad Request\r\n\r\n"), _mute(peer))
    )
    outcome = (ns.route("T") >> Met()).outcome
    assert isinstance(outcome, Garbled)
    assert outcome.data.startswith(b"HTTP/1.1")
    assert outcome.diagnostics
    assert "HTTP" in str(outcome)


def test_a_frame_that_cannot_be_decoded(served) -> None:
    ns = served(
        lambda peer: (peer.recv(65536), peer.sendall(bytes.fromhex("00000006 00000002 7b7b")), _mute(peer))
    )
    outcome = (ns.route("T") >> Met()).outcome
    assert isinstance(outcome, Garbled)
    assert outcome.data == bytes.fromhex("00000006000000027b7b")


def test_a_server_that_echoes_has_not_answered(served) -> None:
    def serve(peer: socket.socket) -> None:
        while data := peer.recv(65536):
            peer.sendall(data)

    outcome = (served(serve).route("T") >> Met()).outcome
    assert isinstance(outcome, Stalled)
    assert [stray.why for stray in outcome.unexpected] == [UNFLAGGED] * 2
    assert "without the response flag: code 105" in outcome.remarks()[0]


def test_a_server_that_always_says_success(served) -> None:
    ns = served(answering(lambda request: [success(request)]))
    with pytest.raises(Unmet) as caught:
        ns.route("T") >> Code(17)
    assert caught.value.decisive is not None
    assert ns.trace.events[caught.value.decisive.event].data.endswith(caught.value.decisive.excerpt)


def test_a_slow_server_is_waited_for(served) -> None:
    ns = served(answering(lambda request: [time.sleep(0.15) or success(request)]))
    ns.route("T") >> Code(0)


def test_half_a_frame_is_no_frame(served) -> None:
    def serve(peer: socket.socket) -> None:
        peer.recv(65536)
        peer.sendall(b"\0\0\1\0half")
        _mute(peer)

    outcome = (served(serve).route("T") >> Met()).outcome
    assert isinstance(outcome, Garbled)
    assert outcome.data == b"\0\0\1\0half"
    assert "announces 256 bytes, and 4 came" in outcome.problem


@pytest.mark.parametrize(("difference", "words"), [(4, "counts its own"), (-4, "does not count the header")])
def test_a_wrong_length_is_reported(served, difference: int, words: str) -> None:
    def serve(peer: socket.socket) -> None:
        request = decode(peer.recv(65536))
        frame = success(request)
        length = int.from_bytes(frame[:4], "big") + difference
        peer.sendall(length.to_bytes(4, "big") + frame[4:])
        _mute(peer)

    outcome = (served(serve).route("T") >> Met()).outcome
    assert isinstance(outcome, Garbled)
    assert words in outcome.lengths
    assert words in str(outcome)


def test_half_a_frame_and_a_close(served) -> None:
    def serve(peer: socket.socket) -> None:
        peer.recv(65536)
        peer.sendall(b"\0\0\1\0half")
        peer.close()

    outcome = (served(serve).route("T") >> Met()).outcome
    assert isinstance(outcome, ClosedBy)
    assert outcome.leftover == b"\0\0\1\0half"


def test_a_frame_that_comes_byte_by_byte_is_one(served) -> None:
    def serve(peer: socket.socket) -> None:
        request = answering_one(peer)
        for byte in success(request):
            peer.sendall(bytes([byte]))
        _mute(peer)

    def answering_one(peer: socket.socket) -> Command:
        from harness.wire import decode

        return decode(peer.recv(65536))

    served(serve).route("T") >> Code(0)


def test_silence_is_decided_by_a_probe_on_the_same_connection(served) -> None:
    ns = served(answering(lambda request: [] if request.code == 12345 else [success(request)]))
    ns.call(12345) >> Quiet()
    purposes = [event.purpose for event in ns.trace.events if isinstance(event, Sent)]
    assert purposes == ["case", "probe"]
    assert len({event.connection for event in ns.trace.events}) == 1


def test_in_the_middle_of_a_frame_the_probe_goes_another_way(served) -> None:
    ns = served(answering(lambda request: [success(request)]))
    connection = ns.connect()
    connection.send_raw(b"\0\0\1\0") >> Quiet()
    probes = [event for event in ns.trace.events if isinstance(event, Sent) and event.purpose == "probe"]
    assert [event.connection == connection.id for event in probes] == [False]


@pytest.mark.parametrize(
    ("read", "said"),
    [
        (lambda _: {}["offset"], "no 'offset'"),
        (lambda _: "7" - 1, "of another form: unsupported operand"),  # type: ignore[operator]
    ],
)
def test_an_answer_without_what_a_case_looks_at_fails_it(served, read, said: str) -> None:
    ns = served(answering(lambda request: [success(request)]))
    with pytest.raises(Unmet, match=f"unreadable: {said}"):
        ns.route("T").seen_as(View("offset", read)) >> Reply(0, 7)


def test_a_late_answer_is_not_silence(served) -> None:
    def answer(request: Command) -> list[bytes]:
        if request.code == 12345:
            held.append(request)
            return []
        return [success(request), *(success(late) for late in held)]

    held: list[Command] = []
    ns = served(answering(answer))
    with pytest.raises(Unmet, match=r"reply SUCCESS \(0\)"):
        ns.call(12345) >> Quiet()


def test_without_an_answer_and_with_an_answered_probe_it_is_silent(served) -> None:
    ns = served(answering(lambda request: [] if request.code == 12345 else [success(request)]))
    outcome = (ns.call(12345) >> Met()).outcome
    assert isinstance(outcome, Silent)
    assert outcome.waited >= 0.3


def test_replies_out_of_order_find_their_questions(served) -> None:
    held: list[Command] = []

    def answer(request: Command) -> list[bytes]:
        held.append(request)
        return [success(one, b"%d" % one.code) for one in reversed(held)] if len(held) == 3 else []

    ns = served(answering(answer))
    asked = [ns.call(code) for code in (101, 102, 103)]
    for exchange, code in zip(asked, (101, 102, 103), strict=True):
        exchange >> Code(0, b"%d" % code)


def test_equal_opaques_are_answered_one_by_one(served) -> None:
    ns = served(answering(lambda request: [success(request, b"%d" % request.code)]))
    connection = ns.connect()
    first, second = connection.call(101, opaque=7), connection.call(102, opaque=7)
    first >> Code(0, b"101")
    second >> Code(0, b"102")


def test_an_unknown_opaque_is_a_stray(served) -> None:
    ns = served(answering(lambda _: [success(Command(opaque=-5))]))
    outcome = (ns.route("T") >> Met()).outcome
    assert isinstance(outcome, Stalled)
    assert outcome.unexpected[0].why == OTHER_OPAQUE


@pytest.mark.parametrize(
    ("answer", "field", "got"),
    [
        (Command(opaque=-5, flag=1), b"-5", "another opaque"),
        (Command(opaque=0, flag=0), b"0", "no response flag"),
    ],
)
def test_a_failure_shows_why_a_frame_is_not_the_answer(
    served, answer: Command, field: bytes, got: str
) -> None:
    def reply(request: Command) -> list[bytes]:
        opaque = answer.opaque or request.opaque
        return [encode(msgspec.structs.replace(answer, opaque=opaque))]

    with pytest.raises(Unmet) as caught:
        served(answering(reply)).route("T") >> Reply(0)
    assert caught.value.wrong is not None
    assert caught.value.wrong.got == got
    assert caught.value.decisive is not None
    assert caught.value.decisive.excerpt == field


@pytest.mark.parametrize(("encoding", "change"), [("latin-1", "not in UTF-8"), ("utf-8", "")])
def test_a_body_in_another_encoding_is_wrong_in_that(served, encoding: str, change: str) -> None:
    body = '{"topicList":["caf\u00e9"]}'.encode(encoding)
    ns = served(answering(lambda request: [success(request, body)]))
    with pytest.raises(Unmet) as caught:
        ns.topics().json >> Reply(0, {"topicList": ["tea"]})
    assert caught.value.wrong is not None
    assert ("not in UTF-8" if caught.value.wrong.change == "not in UTF-8" else "") == change


def test_bytes_that_are_no_text_are_shown_in_hex(served) -> None:
    little = bytes.fromhex("0a000000 00000002 7b7d 00000000")
    ns = served(lambda peer: (peer.recv(65536), peer.sendall(little), _mute(peer)))
    shown = str((ns.route("T") >> Met()).outcome)
    assert "0a 00 00 00 00 00 00 02" in shown
    assert "167772160 instead of 10 (its bytes are in the wrong order)" in shown


def test_raw_bytes_take_the_next_response(served) -> None:
    ns = served(answering(lambda request: [success(request)]))
    request = encode(Command(code=105, opaque=99))
    outcome = (ns.connect().send_raw(request) >> Code(0)).outcome
    assert isinstance(outcome, Replied)
    assert outcome.command.opaque == 99


def test_two_requests_in_one_write_have_two_answers(served) -> None:
    ns = served(answering(lambda request: [success(request, b"%d" % request.opaque)]))
    connection = ns.connect()
    both = encode(Command(opaque=2)) + encode(Command(opaque=1))
    connection.send_raw(both, opaque=1) >> Code(0, b"1")
    connection.answer_to(2) >> Code(0, b"2")
    connection.send_raw(both) >> Code(0)
    connection.next_frame() >> Code(0)


def test_what_arrived_before_a_close_counts(served) -> None:
    def serve(peer: socket.socket) -> None:
        from harness.wire import decode

        peer.sendall(success(decode(peer.recv(65536))))
        peer.close()

    ns = served(serve)
    connection = ns.connect()
    connection.call(105) >> Code(0)
    connection.closes() >> Gone()


def test_a_connection_that_stays_open_is_not_closed(served) -> None:
    ns = served(answering(lambda request: [success(request)]))
    with pytest.raises(Unmet, match="no answer"):
        ns.connect().closes() >> Gone()


def test_refused_connections_mean_a_dead_target(served) -> None:
    ns = served(_mute)
    ns._instance.stop()
    with pytest.raises(TargetDied, match="takes no connection"):
        ns.connect()


def test_the_case_has_a_deadline(served) -> None:
    ns = served(_mute, deadline=0.05)
    with pytest.raises(
        CaseTimeout, match=r"longer than 0\.05 s; it was waiting for 105 GET_ROUTEINFO_BY_TOPIC of T"
    ):
        ns.route("T") >> Met()


def test_a_target_that_does_not_read_does_not_block(served) -> None:
    ns = served(lambda _: time.sleep(2), deadline=60.0)
    connection = ns.connect()
    connection.link._transport._send_timeout = 0.1
    connection.write(b"\0" * 20_000_000)
    assert any("took no more" in getattr(event, "text", "") for event in ns.trace.events)


def test_every_byte_is_recorded(served) -> None:
    ns = served(answering(lambda request: [success(request)]))
    answer = ns.route("T") >> Code(0)
    sent = b"".join(event.data for event in ns.trace.events if isinstance(event, Sent))
    received = b"".join(event.data for event in ns.trace.events if isinstance(event, Received))
    assert sent.startswith(len(sent[4:]).to_bytes(4, "big"))
    assert received == answer.outcome.frame


def test_in_warped_time_other_connections_are_kept_busy_during_a_wait(served) -> None:
    ns = served(answering(lambda request: [] if request.code == 12345 else [success(request)]), warp=600.0)
    other = ns.connect()
    idle = ns.connect()
    ns.advance(0.1, idle=[idle])
    ns.call(12345) >> Met()
    alive = {
        event.connection
        for event in ns.trace.events
        if isinstance(event, Sent) and event.purpose == "keep-alive"
    }
    assert other.id in alive
    assert idle.id not in alive


def test_in_warped_time_a_close_is_not_awaited_until_the_idle_timer_fires(served) -> None:
    ns = served(answering(lambda request: [success(request)]), warp=600.0)
    connection = ns.connect()
    with pytest.raises(Unmet) as seen:
        connection.closes() >> Gone()
    # Not closed within half of the idle time: the probe behind it was answered on a connection that lives.
    assert isinstance(seen.value.outcome, Silent)


def _once(peer: socket.socket) -> None:
    """Answers one read and ends the connection."""
    peer.sendall(success(decode(peer.recv(65536))))
    peer.close()


def test_in_warped_time_a_close_after_a_long_silence_is_not_a_failure(served) -> None:
    ns = served(_once, warp=600.0)
    connection = ns.connect()
    connection.call(206) >> Met()
    time.sleep(0.25)  # the machine had something else to do, for two of the target's minutes
    with pytest.raises(TooLate, match="as long as an idle timer"):
        connection.call(206) >> Code(0)


def _standing_still(peer: socket.socket) -> None:
    """Answers one read, does not come to the next for two protocol minutes, and ends the connection."""
    peer.sendall(success(decode(peer.recv(65536))))
    time.sleep(0.25)
    peer.close()


def test_in_warped_time_a_close_by_a_stalled_target_is_not_a_failure(served) -> None:
    ns = served(_standing_still, warp=600.0)
    connection = ns.connect()
    connection.call(206) >> Met()
    for _ in range(4):  # never quiet for long, as far as we know
        time.sleep(0.05)
        connection.write(b"\0")
    with pytest.raises(TooLate, match="as long as an idle timer"):
        connection.closes() >> Code(0)


def test_in_warped_time_an_effect_of_an_ended_lease_is_not_a_failure(served) -> None:
    ns = served(answering(lambda request: [success(request)]), warp=600.0)
    time.sleep(0.2)  # the machine had something else to do, for two of the target's minutes
    with pytest.raises(Unmet):  # nothing was registered
        ns.call(206) >> Code(1)
    ns.call(RequestCode.REGISTER_BROKER) >> Code(0)
    time.sleep(0.2)
    with pytest.raises(TooLate, match="as long as a lease"):
        ns.call(206) >> Code(1)
    ns.advance(1)
    with pytest.raises(Unmet):
        ns.call(206) >> Code(1)


def test_in_warped_time_what_comes_late_is_still_waited_for(served) -> None:
    asked: list[Command] = []

    def slowly(request: Command) -> list[bytes]:
        asked.append(request)
        return [success(request)]

    ns = served(answering(slowly), warp=600.0)
    ns.call(RequestCode.REGISTER_BROKER) >> Code(0)
    time.sleep(0.2)
    before = len(asked)
    with pytest.raises(TooLate, match="as long as a lease"):
        ns.call(206).eventually() >> Code(1)
    assert len([one for one in asked[before:] if one.code == 206]) > 1


@pytest.mark.parametrize("warp", [1.0, 60.0])
def test_a_close_behind_a_request_is_a_failure(served, warp: float) -> None:
    ns = served(_once, warp=warp)
    connection = ns.connect()
    connection.call(206) >> Met()
    with pytest.raises(Unmet):
        connection.call(206) >> Code(0)


def test_in_warped_time_a_close_after_a_quiet_that_was_meant_is_a_failure(served) -> None:
    ns = served(_once, warp=60.0)
    connection = ns.connect()
    connection.call(206) >> Met()
    ns.advance(130, idle=(connection,))
    with pytest.raises(Unmet):
        connection.call(206) >> Code(0)
