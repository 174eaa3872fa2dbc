"""The built-in target dies of an exception as a process does."""

from __future__ import annotations

import pytest

from harness.session import TargetDied
from harness.targets import TargetError, parse
from reference_impl.nameserver import Endpoint

LAST_WORDS = "the target died: KeyError: 'T0'"


def _stumble(*_: object) -> None:
    raise KeyError("T0")


def test_each_later_use_says_what_it_died_of_until_it_is_restarted(monkeypatch: pytest.MonkeyPatch) -> None:
    instance = parse("builtin:5.3").start()
    one, other = instance.open(), instance.open()
    with monkeypatch.context() as broken:
        broken.setattr(Endpoint, "received", _stumble)
        with pytest.raises(TargetDied, match=LAST_WORDS):
            one.send(b"?")
    assert not instance.alive()
    assert "KeyError: 'T0'" in instance.output()
    for use in (
        instance.open,
        lambda: one.send(b"?"),
        lambda: other.receive(1.0),
        lambda: instance.clock.pause(1.0),
        lambda: instance.clock.advance(1.0, lambda: None),
    ):
        with pytest.raises(TargetDied, match=LAST_WORDS):
            use()
    one.close("fin")
    other.close("half")
    instance.restart("kill")
    assert instance.alive()
    instance.open().send(b"?")
    instance.stop()


def test_what_dies_at_once_does_not_start(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Endpoint, "tick", _stumble)
    with pytest.raises(TargetError, match=LAST_WORDS):
        parse("builtin:5.3").start()
