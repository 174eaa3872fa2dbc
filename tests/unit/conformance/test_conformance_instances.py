"""Which server a case gets, when it is started, and when it is stopped."""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import Any

import pytest
from conformance_samples import module

from harness.conformance import case
from harness.conformance.exclusive_lock import ExclusiveLock
from harness.conformance.idling import Idling
from harness.conformance.instances import AHEAD, AT_ONCE, NEAR, Instances, Waiting
from harness.conformance.loading import LoadedCase, cases
from harness.conformance.stopping import Stopping
from harness.session import Instance, Setup

WAIT = 20.0  # seconds until a test gives up


def loaded(name: str, **more: Any) -> LoadedCase:
    def test_function(ns: Any) -> None:
        """Something holds."""

    test_function.__name__ = f"test_{name}"
    declared = case("ns.kv.something", kills=["m"], **more)(test_function)
    return cases([module("kv", **{f"test_{name}": declared})])[0]


class Server:
    """As much of an instance as is looked at here."""

    def __init__(self, setup: Setup = ()) -> None:
        self.setup = setup
        self.stopped = threading.Event()
        self.resting = threading.Event()

    @property
    def running(self) -> bool:
        return not self.stopped.is_set()

    def alive(self) -> bool:
        return self.running

    def rest(self) -> None:
        self.resting.set()

    def wake(self) -> None:
        self.resting.clear()

    def stop(self) -> None:
        self.stopped.set()


class Servers:
    """Starts servers, one at a time if asked to, and remembers them."""

    def __init__(self) -> None:
        self.started: list[Server] = []
        self.trouble: list[Exception] = []
        self.at_once = self.most_at_once = 0
        self.allowed = threading.Event()
        self.allowed.set()
        self._lock = threading.Condition()

    def start(self, setup: Setup) -> Instance:
        with self._lock:
            self.at_once += 1
            self.most_at_once = max(self.most_at_once, self.at_once)
            self._lock.notify_all()
        assert self.allowed.wait(WAIT)
        with self._lock:
            self.at_once -= 1
            if self.trouble:
                raise self.trouble.pop()
            server: Any = Server(setup)
            self.started.append(server)
            self._lock.notify_all()
        return server  # type: ignore[no-any-return]

    def wait_for(self, met: Callable[[], bool]) -> None:
        with self._lock:
            assert self._lock.wait_for(met, WAIT)


PLAIN, OTHER = loaded("plain"), loaded("other")
OWN, OWN_TOO = loaded("own", own_server=True), loaded("own_too", own_server=True)
WAITS, WAITS_TOO = loaded("waits", clock=True), loaded("waits_too", clock=True)
ENDS, ENDS_TOO = loaded("ends", ends_leases=True), loaded("ends_too", ends_leases=True)
OWN_SET, OWN_SET_TOO = (
    loaded(name, own_server=True, setup={"a": "1"}) for name in ("own_set", "own_set_too")
)
SET, SET_TOO = loaded("set", setup={"a": "1"}), loaded("set_too", setup={"a": "1"})


def instances(
    servers: Servers, *planned: LoadedCase, waiting: Waiting = Waiting.AMONG_OTHERS
) -> tuple[Instances, Any]:
    main: Any = Server()
    stopping = Stopping(at_once=True)
    lock = ExclusiveLock("real")
    return Instances(main, servers.start, waiting, lock, stopping, Idling(), planned), main


def test_most_cases_share_the_first_server() -> None:
    servers = Servers()
    tested, main = instances(servers)
    assert tested.take(PLAIN) is main
    assert tested.take(WAITS) is main
    tested.give_back(PLAIN, main)
    tested.close()
    assert main.running
    assert not servers.started


def test_a_setup_is_shared_and_an_own_server_is_not() -> None:
    servers = Servers()
    tested, _ = instances(servers)
    assert tested.take(SET) is tested.take(SET_TOO) is servers.started[0]
    assert tested.take(OWN) is servers.started[1]
    tested.give_back(OWN, servers.started[1])
    assert tested.take(OWN) is servers.started[2]
    assert [one.running for one in servers.started] == [True, False, True]
    tested.close()
    assert [one.running for one in servers.started] == [False, False, False]
    assert servers.started[0].setup == (("a", "1"),)


def test_cases_that_wait_may_need_servers_of_theirs() -> None:
    servers = Servers()
    tested, main = instances(servers, waiting=Waiting.APART)
    assert tested.take(PLAIN) is main
    assert main is not tested.take(WAITS) is tested.take(WAITS_TOO)
    assert len({id(one) for one in map(tested.take, (PLAIN, WAITS, ENDS, ENDS_TOO))}) == 4


def test_elsewhere_they_wait_among_others() -> None:
    tested, main = instances(Servers())
    assert {id(one) for one in map(tested.take, (PLAIN, WAITS, ENDS))} == {id(main)}


def test_what_is_planned_is_started_ahead_and_not_too_much_of_it() -> None:
    servers = Servers()
    tested, _ = instances(servers, PLAIN, SET, SET_TOO, OWN, OWN_TOO)
    tested.look_ahead()
    servers.wait_for(lambda: len(servers.started) == AHEAD)
    assert {one.setup for one in servers.started} == {(), (("a", "1"),)}
    ahead = next(one for one in servers.started if one.setup)
    assert tested.take(SET) is tested.take(SET_TOO) is ahead
    servers.wait_for(lambda: len(servers.started) == AHEAD + 1)
    assert tested.take(OWN) is not tested.take(OWN_TOO)
    assert len(servers.started) == AHEAD + 1
    assert servers.most_at_once <= AT_ONCE
    tested.close()
    assert not any(one.running for one in servers.started)


def test_servers_of_settings_in_vain_make_room_for_others() -> None:
    servers = Servers()
    tested, _ = instances(servers, SET, OWN_SET, OWN_SET_TOO, OWN)
    tested.look_ahead()
    servers.wait_for(lambda: len(servers.started) == AHEAD)
    tested.look_ahead_no_more(lambda setup: setup == (("a", "1"),))
    servers.wait_for(lambda: len(servers.started) == AHEAD + 1)
    assert [(one.setup, one.running) for one in servers.started] == [((("a", "1"),), False)] * AHEAD + [
        ((), True)
    ]
    assert tested.take(OWN) is servers.started[AHEAD]
    tested.close()


def test_a_case_does_not_wait_for_what_comes_later() -> None:
    servers = Servers()
    tested, _ = instances(servers, SET, OWN, OWN_TOO)
    tested.look_ahead()
    servers.wait_for(lambda: len(servers.started) == AHEAD)
    assert tested.take(OWN_TOO) is servers.started[AHEAD]
    tested.close()


def test_the_last_case_of_a_setup_ends_its_server() -> None:
    servers = Servers()
    tested, _ = instances(servers, SET, SET_TOO)
    tested.give_back(SET, tested.take(SET))
    assert servers.started[0].running
    tested.give_back(SET_TOO, tested.take(SET_TOO))
    assert not servers.started[0].running


def test_a_server_rests_while_no_case_uses_it() -> None:
    servers = Servers()
    tested, main = instances(servers, SET, SET_TOO)
    tested.look_ahead()
    servers.wait_for(lambda: len(servers.started) == 1)
    [server] = servers.started
    assert server.resting.wait(WAIT)
    taken = tested.take(SET)
    assert taken is server
    assert tested.take(SET_TOO) is server
    tested.give_back(SET_TOO, taken)
    assert not server.resting.is_set()
    tested.give_back(SET, taken)
    assert server.resting.is_set()
    tested.give_back(PLAIN, tested.take(PLAIN))
    assert not main.resting.is_set()
    tested.close()


def test_the_main_server_rests_once_only_waiting_cases_are_left() -> None:
    tested, main = instances(Servers())
    taken = tested.take(WAITS)
    tested.let_main_rest()
    assert not main.resting.is_set()
    tested.give_back(WAITS, taken)
    assert main.resting.is_set()
    taken = tested.take(WAITS_TOO)
    assert not main.resting.is_set()
    tested.give_back(WAITS_TOO, taken)
    assert main.resting.is_set()


def test_a_main_server_that_was_replaced_rests_and_the_new_one_is_awake() -> None:
    tested, main = instances(Servers())
    other: Any = Server()
    other.rest()
    tested.replace(PLAIN, other)
    assert main.resting.is_set()
    assert not other.resting.is_set()
    tested.give_back(PLAIN, tested.take(PLAIN))
    assert not other.resting.is_set()
    tested.let_main_rest()
    assert other.resting.is_set()


def test_a_server_that_died_is_replaced() -> None:
    servers = Servers()
    tested, _ = instances(servers)
    tested.take(SET).stop()
    assert tested.take(SET_TOO).alive()


def test_a_start_that_failed_is_reported_and_tried_again() -> None:
    servers = Servers()
    servers.trouble = [OSError("no port")]
    tested, _ = instances(servers)
    with pytest.raises(OSError, match="no port"):
        tested.take(SET)
    assert tested.take(SET_TOO).alive()


def test_what_is_being_started_at_the_end_is_stopped() -> None:
    servers = Servers()
    servers.allowed.clear()
    tested, _ = instances(servers, SET)
    tested.look_ahead()
    servers.wait_for(lambda: servers.at_once == 1)
    tested.close()
    servers.allowed.set()
    servers.wait_for(lambda: len(servers.started) == 1)
    assert servers.started[0].stopped.wait(WAIT)


def test_cases_that_change_settings_share_a_server_that_others_do_not_use() -> None:
    servers, main = Servers(), Server()
    instances = Instances(
        main,  # type: ignore[arg-type]
        servers.start,
        Waiting.AMONG_OTHERS,
        ExclusiveLock("virtual"),
        Stopping(at_once=True),
        Idling(),
    )
    one, other = loaded("one", apart=True), loaded("other", apart=True)
    assert instances.take(loaded("plain")) is main
    assert instances.take(one) is instances.take(other)
    assert [server.setup for server in servers.started] == [()]
    assert instances.take(one) is not main
    instances.close()


def test_a_server_that_takes_long_to_end_is_not_waited_for_until_the_run_closes() -> None:
    ended, allowed = threading.Event(), threading.Event()

    class Slow(Server):
        def stop(self) -> None:
            assert allowed.wait(WAIT)
            ended.set()

    stopping = Stopping(at_once=False)
    stopping.stop(Slow())  # type: ignore[arg-type]
    assert not ended.is_set()
    allowed.set()
    stopping.close()
    assert ended.is_set()
    ended.clear()
    stopping.stop(Slow())  # type: ignore[arg-type]
    assert ended.is_set()


def test_what_a_stop_raises_is_raised_in_the_end() -> None:
    class Stuck(Server):
        def stop(self) -> None:
            raise OSError("no end")

    stopping = Stopping(at_once=False)
    stopping.stop(Stuck())  # type: ignore[arg-type]
    with pytest.raises(OSError, match="no end"):
        stopping.close()


def test_a_server_starts_ahead_once_its_case_comes_soon() -> None:
    servers = Servers()
    before = [loaded(f"before_{number}") for number in range(NEAR + 2)]
    tested, _ = instances(servers, OWN, *before, SET, OWN_TOO)
    tested.look_ahead()
    servers.wait_for(lambda: len(servers.started) == 1)
    tested.take(OWN)
    tested.take(before[1])
    assert len(servers.started) == 1
    tested.take(before[2])
    servers.wait_for(lambda: len(servers.started) == 2)
    assert servers.started[1].setup == SET.case.setup
    tested.take(before[3])
    servers.wait_for(lambda: len(servers.started) == 3)
    tested.close()
