"""An interrupt ends a program of any kind, whatever it is doing, and leaves a kind that closes."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from harness.catalogue import Role
from harness.engine.frames.corpus import Corpus
from harness.engine.kind import Kind
from harness.engine.kinds import KINDS, Setting
from harness.session import VirtualClock
from harness.session.link import Link
from harness.targets import parse

SEED = 3
CALLS: list[tuple[type, str]] = [(Link, "send"), (Link, "pump"), (VirtualClock, "now")]
PLACES = (0.0, 0.1, 0.5, 0.9, 1.0)
"""Where in the calls of a whole program the interrupt comes: from the first to the last."""


class Calls:
    """Counts the calls of a method, and interrupts the one whose number is given."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch, owner: type, name: str) -> None:
        self.count = 0
        self.interrupted: int | None = None
        call: Callable[..., Any] = getattr(owner, name)

        def counted(*args: Any, **named: Any) -> Any:
            self.count += 1
            if self.count == self.interrupted:
                raise KeyboardInterrupt
            return call(*args, **named)

        monkeypatch.setattr(owner, name, counted)


def made(role: Role, name: str) -> Kind:
    """A kind with a corpus: one that learns plays programs again."""
    target = parse("builtin:5.3", role)
    return KINDS[role][name](
        Setting(target=target, role=role, profile="5.3", words="w", corpus=Corpus(None, "5.3"))
    )


@pytest.mark.parametrize(("owner", "name"), CALLS, ids=[name for _, name in CALLS])
@pytest.mark.parametrize(("role", "kind"), [(role, name) for role, kinds in KINDS.items() for name in kinds])
def test_an_interrupt_surfaces(
    role: Role, kind: str, owner: type, name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    calls = Calls(monkeypatch, owner, name)
    whole = made(role, kind)
    calls.count = 0  # a kind may have asked whether the target can be played on
    whole.run(SEED)
    most = calls.count
    assert most > 1
    for place in PLACES:
        interrupted = made(role, kind)
        calls.count, calls.interrupted = 0, max(1, round(place * most))
        with pytest.raises(KeyboardInterrupt):
            interrupted.run(SEED)
        calls.interrupted = None
        interrupted.broken_off()
        interrupted.close()
        interrupted.close()
    whole.close()


def test_what_comes_after_an_interrupt_is_as_if_there_had_been_none(monkeypatch: pytest.MonkeyPatch) -> None:
    expected = made("nameserver", "stateful").run(SEED)
    calls = Calls(monkeypatch, Link, "send")
    kind = made("nameserver", "stateful")
    calls.interrupted = 5
    with pytest.raises(KeyboardInterrupt):
        kind.run(SEED)
    again = kind.run(SEED)
    assert again.program == expected.program
    assert [one.outcome for one in again.attempt.observed] == [
        one.outcome for one in expected.attempt.observed
    ]
    kind.close()
