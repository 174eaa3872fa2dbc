"""The servers that the cases of a run need: started ahead of time, stopped after their last case.

* A case shares a server with the others of its setup, unless it needs one of its own. Those that change
  settings over the wire (`apart`) share one with each other.
* Where waiting cases run apart (see `Waiting`), they share a server, except that each case in which leases
  run out has its own.
* Starting a server takes seconds, so planned servers start ahead of their cases, but not long before: where
  time runs fast, an idle server that cannot rest works hard. A case whose server has not started starts it
  itself. At most `AT_ONCE` servers start at a time, so that each of them gets ready.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterable
from concurrent.futures import Future
from enum import Enum
from typing import TypeAlias

from harness.conformance.concurrent_cases import runs_beside
from harness.conformance.exclusive_lock import ExclusiveLock
from harness.conformance.idling import Idling
from harness.conformance.loading import LoadedCase
from harness.conformance.stopping import Stopping
from harness.session import DEFAULT_SETUP, Instance, Setup

AT_ONCE = 2  # servers that are being started
AHEAD = 2  # servers that are started, or being started, for a case that has not come yet
NEAR = 40  # cases until then; most take a few hundredths of a second


class Waiting(Enum):
    """Where cases that let time pass run."""

    AMONG_OTHERS = "among others"
    APART = "apart"  # on servers that are theirs, where a single end of a lease may be the last one


_Shared: TypeAlias = tuple[Setup, bool, bool]  # what it is started with; for cases that wait; that are apart
Need: TypeAlias = _Shared | str  # or the name of the one case that it is for

MAIN: Need = (DEFAULT_SETUP, False, False)  # the one that the run began with


def need_of(one: LoadedCase, waiting: Waiting = Waiting.AMONG_OTHERS) -> Need:
    """The server that a case runs on: cases with the same need share one."""
    if one.case.own_server or (one.case.ends_leases and waiting is Waiting.APART):
        return one.name
    return (one.case.setup, one.case.clock and waiting is Waiting.APART, one.case.apart)


class Instances:
    """Hands out servers. May be used by several threads.

    `main` is the one that runs already; `start` starts another. `planned` are the cases of the run, in their
    order; without it nothing is started ahead, and nothing is stopped before the end.
    """

    def __init__(
        self,
        main: Instance,
        start: Callable[[Setup], Instance],
        waiting: Waiting,
        run_lock: ExclusiveLock,
        stopping: Stopping,
        idling: Idling,
        planned: Iterable[LoadedCase] = (),
    ) -> None:
        self._start = start
        self._stopping = stopping
        self._idling = idling
        self._waiting = waiting
        self._run_lock = run_lock
        self.main = main
        """The server of most cases."""
        self._keeps_main_awake = True
        idling.begin(main)
        self._replaced: list[Instance] = []
        self._lock = threading.Lock()
        self._room = threading.Semaphore(AHEAD)
        self._starting = threading.Semaphore(AT_ONCE)
        self._looking = False
        self._closed = False
        ordered = list(planned)
        self._places = {one.name: place for place, one in enumerate(ordered)}
        self._place = 0
        self._moves = threading.Condition(self._lock)
        """Of `_place`: that of the latest case that has come."""
        listed = [one for one in ordered if not self.is_main(one)]
        self._users: dict[Need, set[str]] = {}
        for one in listed:
            self._users.setdefault(self._need(one), set()).add(one.name)
        # Those that run beside the others start their own servers: they must not queue behind later ones.
        in_turn = [one for one in listed if not runs_beside(one, run_lock.kind)]
        self._ahead = {self._need(one): one.case.setup for one in in_turn}
        self._setups = dict(self._ahead)
        self._first_users = {self._need(one): self._places[one.name] for one in reversed(in_turn)}
        self._started: dict[Need, Future[Instance]] = {}
        self._unclaimed: set[Need] = set()

    def is_main(self, one: LoadedCase) -> bool:
        """Whether the case runs on the server that the run began with."""
        return self._need(one) == MAIN

    def is_its_own(self, one: LoadedCase) -> bool:
        """Whether the case shares its server with no other."""
        return self._need(one) == one.name

    def look_ahead(self) -> None:
        """Starts the planned servers in the background. One call is enough."""
        if self._looking or not self._ahead:
            return
        self._looking = True
        for number in range(AHEAD):
            threading.Thread(target=self._start_ahead, name=f"ahead-{number}", daemon=True).start()

    def look_ahead_no_more(self, of: Callable[[Setup], bool]) -> None:
        """Starts no more servers of these settings ahead of their cases, and stops those that still wait."""
        with self._lock:
            given_up = {need for need, setup in self._setups.items() if of(setup)}
            for need in given_up:
                self._ahead.pop(need, None)
            idle = [self._started.pop(need) for need in self._unclaimed & given_up]
            self._unclaimed -= given_up
        for found in idle:
            self._room.release()
            found.add_done_callback(self._stop)

    def take(self, one: LoadedCase) -> Instance:
        """The server of a case; waits until it has started. Raises what its start raised."""
        self._comes(one)
        if self.is_main(one):
            main = self.main
            self._idling.begin(main)
            return main
        need = self._need(one)
        with self._lock:
            found = self._started.get(need)
            if need in self._unclaimed:
                self._unclaimed.discard(need)
                self._room.release()
        if found is not None and _is_dead(found):
            self._forget(need, found)
        with self._lock:
            found = self._started.get(need)
            promised = found is not None
            if found is None:
                found = self._started[need] = Future()
                self._ahead.pop(need, None)
        if not promised:
            self._fill(found, one.case.setup)
        try:
            instance = found.result()
        except BaseException:
            self._forget(need, found)  # the next case may have more luck
            raise
        self._idling.begin(instance)
        return instance

    def let_main_rest(self) -> None:
        """From now on the main server rests while no case uses it, as all others do. Before, cases follow
        each other there, and tests of the user's own ask it whenever they like.
        """
        with self._lock:
            if self._keeps_main_awake:
                self._keeps_main_awake = False
                self._idling.end(self.main)

    def give_back(self, one: LoadedCase, instance: Instance | None) -> None:
        """Ends the use of a server, if one was taken. A server without further cases is stopped."""
        if instance is not None:
            self._idling.end(instance)
        need = self._need(one)
        with self._lock:
            users = self._users.get(need)
            if users is not None:
                users.discard(one.name)
            last = self.is_its_own(one) or (users is not None and not users)
            found = self._started.pop(need, None) if last else None
        if found is not None and found.done():
            self._stop(found)

    def replace(self, one: LoadedCase, instance: Instance) -> None:
        """From now on this is the server of the case, and of those that share one with it. What others run on
        now stays with them, until the end.
        """
        with self._lock:
            if self.is_main(one):
                if self._keeps_main_awake:
                    self._idling.begin(instance)
                    self._idling.end(self.main)
                self.main = instance
                self._replaced.append(instance)
            else:
                need = self._need(one)
                found = self._started.get(need)
                if found is not None and found.done() and found.exception() is None:
                    self._replaced.append(found.result())
                self._started[need] = Future()
                self._started[need].set_result(instance)

    def close(self) -> None:
        """Has everything stopped that was started here."""
        with self._lock:
            self._closed = True
            left = list(self._started.values())
            self._started.clear()
            self._ahead.clear()
            self._moves.notify_all()
        for _ in range(AHEAD):
            self._room.release()
        for found in left:
            found.add_done_callback(self._stop)
        for instance in self._replaced:
            self._stopping.stop(instance)

    def _stop(self, found: Future[Instance]) -> None:
        if found.exception() is None:
            self._stopping.stop(found.result())

    def _forget(self, need: Need, found: Future[Instance]) -> None:
        with self._lock:
            if self._started.get(need) is found:
                del self._started[need]

    def _need(self, one: LoadedCase) -> Need:
        return need_of(one, self._waiting)

    def _comes(self, one: LoadedCase) -> None:
        """Notes how far the run is. Cases that run beside the others come before their turn."""
        with self._moves:
            if not runs_beside(one, self._run_lock.kind):
                self._place = max(self._place, self._places.get(one.name, 0))
                self._moves.notify_all()

    def _is_near(self) -> bool:
        """Whether the case of the next planned server comes soon, or there is none."""
        return not self._ahead or self._first_users[next(iter(self._ahead))] - self._place <= NEAR

    def _start_ahead(self) -> None:
        while True:
            self._room.acquire()
            with self._moves:
                self._moves.wait_for(self._is_near)
            # A promised server starts at once: the case that waits for it may hold up an exclusive run.
            with self._run_lock.shared():
                with self._lock:
                    if self._closed or not self._ahead:
                        return
                    # Another thread may have taken the one that was near.
                    promised = self._promised() if self._is_near() else None
                if promised is not None:
                    self._fill(*promised)
                    if promised[0].exception() is None:
                        self._idling.wait(promised[0].result())
            if promised is None:
                self._room.release()

    def _promised(self) -> tuple[Future[Instance], Setup]:
        """The next server that is to be started ahead, which no other thread starts now."""
        need = next(iter(self._ahead))
        promise = self._started[need] = Future()
        self._unclaimed.add(need)
        return promise, self._ahead.pop(need)

    def _fill(self, promise: Future[Instance], setup: Setup) -> None:
        try:
            with self._starting:
                instance = self._start(setup)
        except BaseException as error:  # raised again where a case takes the server
            promise.set_exception(error)
            return
        promise.set_result(instance)
        if self._closed:
            instance.stop()


def _is_dead(found: Future[Instance]) -> bool:
    """Whether the server was started and has gone since."""
    return found.done() and found.exception() is None and not found.result().alive()
