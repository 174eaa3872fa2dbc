"""How long a session waits, and for what it does not wait twice."""

from __future__ import annotations

import socket
import threading
import time
from collections.abc import Callable

import msgspec
import pytest

from harness.session import Garbled, NameServerSession, Replied, Silent, SocketTransport, connect
from harness.session.clock import RunningClock, Timing
from harness.session.errors import Blocked, Unsupported
from harness.session.futile import FutileWaits
from harness.wire import Command, RequestCode

from .helpers import Met, Server, answering, outcome_of, success


class BriskClock(RunningClock):
    """Waits a fraction of the usual times, in the same proportions."""

    @property
    def timing(self) -> Timing:
        return msgspec.structs.replace(super().timing, answer=0.9, brief=0.2, longest=3.0)


def serving(serve: Callable[[socket.socket], None]) -> Server:
    return Server(serve, BriskClock())


LISTED = RequestCode.GET_ALL_TOPIC_LIST_FROM_NAMESERVER
ROUTED = RequestCode.GET_ROUTEINFO_BY_TOPIC


def leaves_unanswered(code: int) -> Callable[[socket.socket], None]:
    return answering(lambda request: [] if request.code == code else [success(request)])


def waited(server: Server, futile: FutileWaits, code: int = LISTED, **ext: str) -> float:
    """How long a call without an answer was waited for."""
    with NameServerSession(server, "4.9", seed=1, futile=futile) as ns:
        outcome = outcome_of(ns.call(code, ext or None) >> Met())
    assert isinstance(outcome, Silent)
    return outcome.waited


def test_what_was_in_vain_twice_is_not_waited_for_in_full_again() -> None:
    futile, server = FutileWaits(), serving(leaves_unanswered(LISTED))
    timing = server.clock.timing
    assert [waited(server, futile) >= timing.answer for _ in range(4)] == [True, True, False, False]
    server.stop()


def test_other_fields_of_a_code_that_was_answered_are_waited_for_in_full() -> None:
    def answer(request: Command) -> list[bytes]:
        is_answered = request.code != LISTED or "plain" in (request.ext or {})
        return [success(request)] if is_answered else []

    futile, server = FutileWaits(), serving(answering(answer))
    with NameServerSession(server, "4.9", seed=1, futile=futile) as ns:
        assert isinstance(outcome_of(ns.call(LISTED, {"plain": "x"}) >> Met()), Replied)
    timing = server.clock.timing
    assert [waited(server, futile) >= timing.answer for _ in range(3)] == [True, True, False]
    assert waited(server, futile, flavour="x") >= timing.answer
    server.stop()


def test_other_fields_of_a_code_that_is_never_answered_are_not() -> None:
    futile, server = FutileWaits(), serving(leaves_unanswered(LISTED))
    for _ in range(2):
        waited(server, futile)
    assert waited(server, futile, flavour="x") < server.clock.timing.answer
    server.stop()


def test_behind_two_codes_that_are_never_answered_the_next_is_waited_for_in_full_once() -> None:
    unknown = (9991, 9992, 9993)

    def answer(request: Command) -> list[bytes]:
        return [] if request.code in unknown else [success(request)]

    futile, server = FutileWaits(), serving(answering(answer))
    full = [
        [waited(server, futile, code) >= server.clock.timing.answer for _ in range(3)] for code in unknown
    ]
    assert full == [[True, True, False], [True, True, False], [True, False, False]]
    server.stop()


def test_behind_four_such_codes_the_next_is_not_waited_for_in_full_and_known_ones_are() -> None:
    futile, server = FutileWaits(), serving(leaves_unanswered(LISTED))
    with NameServerSession(server, "4.9", seed=1, futile=futile) as ns:
        assert isinstance(outcome_of(ns.call(ROUTED) >> Met()), Replied)
    for code in (9991, 9992, 9993, 9994):
        futile.was_in_vain(f"an answer to {code}", code)
    assert waited(server, futile) < server.clock.timing.answer
    assert not futile.is_known("an answer to what is answered with other fields", ROUTED)
    assert not futile.is_known("the end of a connection")
    server.stop()


def test_one_answer_brings_the_full_wait_back() -> None:
    silent = threading.Event()
    silent.set()

    def answer(request: Command) -> list[bytes]:
        return [] if request.code == LISTED and silent.is_set() else [success(request)]

    futile, server = FutileWaits(), serving(answering(answer))
    for _ in range(2):
        waited(server, futile)
    silent.clear()
    with NameServerSession(server, "4.9", seed=1, futile=futile) as ns:
        assert isinstance(outcome_of(ns.call(LISTED) >> Met()), Replied)
    silent.set()
    assert waited(server, futile) >= server.clock.timing.answer
    server.stop()


def test_an_answer_that_came_late_brings_the_full_wait_back() -> None:
    late: list[tuple[socket.socket, Command]] = []

    def serve(peer: socket.socket) -> None:
        def answer(request: Command) -> list[bytes]:
            if request.code == LISTED:
                late.append((peer, request))
                return []
            return [success(request)]

        answering(answer)(peer)

    futile, server = FutileWaits(), serving(serve)
    for _ in range(2):
        waited(server, futile)
    with NameServerSession(server, "4.9", seed=1, futile=futile) as ns:
        assert isinstance(outcome_of(ns.call(LISTED) >> Met()), Silent)
        peer, request = late[-1]
        peer.sendall(success(request))
        ns.call(ROUTED) >> Met()  # what came before it has arrived
    assert waited(server, futile) >= server.clock.timing.answer
    server.stop()


class WithoutController(Server):
    """Refuses connections where its controller should listen."""

    looks = 0

    def open_controller(self) -> SocketTransport:
        self.looks += 1
        with socket.create_server(("127.0.0.1", 0)) as closed:
            port = int(closed.getsockname()[1])
        return connect("127.0.0.1", port)


def looked_for(server: WithoutController, futile: FutileWaits, problem: type[Exception]) -> int:
    """How often a session looks for the controller before it gives up."""
    before = server.looks
    with NameServerSession(server, "5.3", seed=1, futile=futile) as ns, pytest.raises(problem):
        ns.connect_to_controller()
    return server.looks - before


def test_a_controller_that_never_served_is_missing_and_awaited_once(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("harness.session.nameserver.session._LEADS_WITHIN", 0.3)
    futile, server = FutileWaits(), WithoutController(leaves_unanswered(LISTED), BriskClock())
    assert looked_for(server, futile, Unsupported) > 1
    assert [looked_for(server, futile, Unsupported) for _ in range(2)] == [1, 1]
    server.stop()


def test_a_controller_that_served_in_another_case_is_not_missing(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("harness.session.nameserver.session._LEADS_WITHIN", 0.3)
    futile, server = FutileWaits(), WithoutController(leaves_unanswered(LISTED), BriskClock())
    with monkeypatch.context() as serving_one:
        serving_one.setattr(server, "open_controller", server.open)
        with NameServerSession(server, "5.3", seed=1, futile=futile) as ns:
            ns.connect_to_controller()
    assert looked_for(server, futile, Blocked) > 1
    server.stop()


def test_an_answer_is_not_late_while_its_bytes_arrive() -> None:
    def serve(peer: socket.socket) -> None:
        def answer(request: Command) -> list[bytes]:
            if request.code != LISTED:
                return [success(request)]
            whole = success(request, bytes(50_000))
            return [whole[at : at + 1_000] for at in range(0, len(whole), 1_000)]

        def slowly(request: Command) -> list[bytes]:
            for piece in answer(request):
                peer.sendall(piece)
                time.sleep(0.03)
            return []

        answering(slowly)(peer)

    server = serving(serve)
    with NameServerSession(server, "4.9", seed=1) as ns:
        outcome = outcome_of(ns.call(LISTED) >> Met())
    assert isinstance(outcome, Replied)
    assert len(outcome.command.body) == 50_000
    server.stop()


def test_bytes_that_never_make_a_frame_are_given_up() -> None:
    def serve(peer: socket.socket) -> None:
        def endless(request: Command) -> list[bytes]:
            if request.code != LISTED:
                return [success(request)]
            whole = success(request, bytes(1_000_000))
            peer.sendall(whole[:20])
            for at in range(20, 600):
                time.sleep(0.02)
                peer.sendall(whole[at : at + 1])
            return []

        answering(endless)(peer)

    server = serving(serve)
    with NameServerSession(server, "4.9", seed=1) as ns:
        outcome = outcome_of(ns.call(LISTED) >> Met())
    assert isinstance(outcome, Garbled)
    assert "announces 1000100 bytes" in str(outcome)
    server.stop()
