"""Who may go on while a case needs the machine to itself."""

from __future__ import annotations

import threading

import pytest

from harness.conformance.exclusive_lock import ExclusiveLock

SOON, WAIT = 0.1, 10.0


class Guest(threading.Thread):
    """Somebody who comes, alone or beside others, and stays until told to go."""

    def __init__(self, lock: ExclusiveLock, *, alone: bool = False) -> None:
        super().__init__(daemon=True)
        self.inside, self.may_go = threading.Event(), threading.Event()
        self._place = lock.exclusive() if alone else lock.shared()
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
    guests = [Guest(lock), Guest(lock)]
    assert all(one.inside.wait(WAIT) for one in guests)
    for one in guests:
        one.goes()


def test_alone_waits_for_the_others_and_they_for_it() -> None:
    lock = ExclusiveLock("warped")
    earlier = Guest(lock)
    assert earlier.inside.wait(WAIT)
    alone = Guest(lock, alone=True)
    assert not alone.inside.wait(SOON)
    later = Guest(lock)
    assert not later.inside.wait(SOON)  # else there might always be another
    earlier.goes()
    assert alone.inside.wait(WAIT)
    assert not later.inside.wait(SOON)
    alone.goes()
    assert later.inside.wait(WAIT)
    later.goes()


def test_two_that_want_to_be_alone_take_turns() -> None:
    lock = ExclusiveLock("warped")
    first = Guest(lock, alone=True)
    assert first.inside.wait(WAIT)
    second = Guest(lock, alone=True)
    assert not second.inside.wait(SOON)
    first.goes()
    assert second.inside.wait(WAIT)
    second.goes()


def test_in_real_time_the_others_go_on() -> None:
    lock = ExclusiveLock("real")
    earlier, alone = Guest(lock), Guest(lock, alone=True)
    later = Guest(lock)
    assert all(one.inside.wait(WAIT) for one in (earlier, alone, later))
    for one in (earlier, alone, later):
        one.goes()


def test_what_fails_while_alone_lets_the_others_in() -> None:
    lock = ExclusiveLock("warped")
    with pytest.raises(ValueError, match="no"), lock.exclusive():
        raise ValueError("no")
    guest = Guest(lock)
    assert guest.inside.wait(WAIT)
    guest.goes()
