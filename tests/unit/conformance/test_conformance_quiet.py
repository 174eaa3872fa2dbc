"""Who may go on while a case needs the machine to itself."""

from __future__ import annotations

import threading

import pytest

from harness.conformance.quiet import Quiet

SOON, WAIT = 0.1, 10.0


class Guest(threading.Thread):
    """Somebody who comes, alone or beside others, and stays until told to go."""

    def __init__(self, quiet: Quiet, *, alone: bool = False) -> None:
        super().__init__(daemon=True)
        self.inside, self.may_go = threading.Event(), threading.Event()
        self._place = quiet.alone() if alone else quiet.beside()
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
    quiet = Quiet("warped")
    guests = [Guest(quiet), Guest(quiet)]
    assert all(one.inside.wait(WAIT) for one in guests)
    for one in guests:
        one.goes()


def test_alone_waits_for_the_others_and_they_for_it() -> None:
    quiet = Quiet("warped")
    earlier = Guest(quiet)
    assert earlier.inside.wait(WAIT)
    alone = Guest(quiet, alone=True)
    assert not alone.inside.wait(SOON)
    later = Guest(quiet)
    assert not later.inside.wait(SOON)  # else there might always be another
    earlier.goes()
    assert alone.inside.wait(WAIT)
    assert not later.inside.wait(SOON)
    alone.goes()
    assert later.inside.wait(WAIT)
    later.goes()


@pytest.mark.parametrize("kind", ["warped", "real"])
def test_two_that_want_to_be_alone_take_turns(kind: str) -> None:
    quiet = Quiet(kind)  # type: ignore[arg-type]
    first = Guest(quiet, alone=True)
    assert first.inside.wait(WAIT)
    second = Guest(quiet, alone=True)
    assert not second.inside.wait(SOON)
    first.goes()
    assert second.inside.wait(WAIT)
    second.goes()


def test_in_real_time_the_others_go_on() -> None:
    quiet = Quiet("real")
    earlier, alone = Guest(quiet), Guest(quiet, alone=True)
    later = Guest(quiet)
    assert all(one.inside.wait(WAIT) for one in (earlier, alone, later))
    for one in (earlier, alone, later):
        one.goes()


def test_what_fails_while_alone_lets_the_others_in() -> None:
    quiet = Quiet("warped")
    with pytest.raises(ValueError, match="no"), quiet.alone():
        raise ValueError("no")
    guest = Guest(quiet)
    assert guest.inside.wait(WAIT)
    guest.goes()
