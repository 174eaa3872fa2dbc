"""Who may go on while a case needs the machine to itself."""

from __future__ import annotations

import threading
from contextlib import AbstractContextManager

import pytest

from harness.conformance.exclusive_lock import ExclusiveLock

SOON, WAIT = 0.1, 10.0


class Guest(threading.Thread):
    """Comes to a place, and stays until it may go."""

    def __init__(self, place: AbstractContextManager[None]) -> None:
        super().__init__(daemon=True)
        self.inside, self.may_go = threading.Event(), threading.Event()
        self._place = place
        self.start()

    def run(self) -> None:
        with self._place:
            self.inside.set()
            assert self.may_go.wait(WAIT)

    def goes(self) -> None:
        self.may_go.set()
        self.join(WAIT)
        assert not self.is_alive()


def test_many_are_beside_each_other() -> None:
    lock = ExclusiveLock("warped")
    guests = [Guest(lock.shared()), Guest(lock.shared())]
    assert all(one.inside.wait(WAIT) for one in guests)
    for one in guests:
        one.goes()


def test_alone_waits_for_the_others_and_they_for_it() -> None:
    lock = ExclusiveLock("warped")
    earlier = Guest(lock.shared())
    assert earlier.inside.wait(WAIT)
    alone = Guest(lock.exclusive())
    assert not alone.inside.wait(SOON)
    later = Guest(lock.shared())
    assert not later.inside.wait(SOON)  # else there might always be another
    earlier.goes()
    assert alone.inside.wait(WAIT)
    assert not later.inside.wait(SOON)
    alone.goes()
    assert later.inside.wait(WAIT)
    later.goes()


def test_two_that_want_to_be_alone_take_turns() -> None:
    lock = ExclusiveLock("warped")
    first = Guest(lock.exclusive())
    assert first.inside.wait(WAIT)
    second = Guest(lock.exclusive())
    assert not second.inside.wait(SOON)
    first.goes()
    assert second.inside.wait(WAIT)
    second.goes()


def test_in_real_time_the_others_go_on() -> None:
    lock = ExclusiveLock("real")
    earlier, alone = Guest(lock.shared()), Guest(lock.exclusive())
    later = Guest(lock.shared())
    assert all(one.inside.wait(WAIT) for one in (earlier, alone, later))
    for one in (earlier, alone, later):
        one.goes()


def test_what_fails_while_alone_lets_the_others_in() -> None:
    lock = ExclusiveLock("warped")
    with pytest.raises(ValueError, match="no"), lock.exclusive():
        raise ValueError("no")
    guest = Guest(lock.shared())
    assert guest.inside.wait(WAIT)
    guest.goes()


def test_quiet_waits_for_those_that_work_and_goes_on_beside_those_that_wait() -> None:
    lock = ExclusiveLock("warped")
    working, waiting = Guest(lock.shared()), Guest(lock.shared(waits=True))
    assert all(one.inside.wait(WAIT) for one in (working, waiting))
    first, second = Guest(lock.quiet()), Guest(lock.quiet())
    assert not first.inside.wait(SOON)
    later = [Guest(lock.shared()), Guest(lock.shared(waits=True))]  # one that waits may start a server first
    working.goes()
    assert all(one.inside.wait(WAIT) for one in (first, second))
    assert not any(one.inside.wait(SOON) for one in later)
    for one in (first, waiting, second):
        one.goes()
    assert all(one.inside.wait(WAIT) for one in later)
    for one in later:
        one.goes()


def test_alone_and_quiet_take_turns() -> None:
    lock = ExclusiveLock("warped")
    quiet = Guest(lock.quiet())
    assert quiet.inside.wait(WAIT)
    alone = Guest(lock.exclusive())
    assert not alone.inside.wait(SOON)
    later = Guest(lock.quiet())
    quiet.goes()
    assert alone.inside.wait(WAIT)
    assert not later.inside.wait(SOON)
    alone.goes()
    assert later.inside.wait(WAIT)
    later.goes()
