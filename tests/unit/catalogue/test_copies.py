"""`specs/copies.yaml`: its form, and that cases judge every row."""

from __future__ import annotations

import pytest

from harness.catalogue import catalogue
from harness.catalogue.copies import Copy, copies
from harness.cli import main
from harness.conformance.broker import whole


def test_a_later_line_adds_properties() -> None:
    copy = Copy("x", "bk.x.y", {}, {"A": "1"}, {"5.3": {"B": "2"}})
    assert copy.added("4.9") == {"A": "1"}
    assert copy.added("5.3") == copy.added("5.5") == {"A": "1", "B": "2"}


def test_every_row_is_required_by_a_statement() -> None:
    assert {one.statement for one in copies().values()} <= {one.id for one in catalogue().statements}


def test_every_row_is_judged(monkeypatch: pytest.MonkeyPatch) -> None:
    judged = set()

    class Noting(dict[str, Copy]):
        def __getitem__(self, name: str) -> Copy:
            judged.add(name)
            return super().__getitem__(name)

    monkeypatch.setattr(whole, "copies", lambda: Noting(copies()))
    some = ",".join({one.statement for one in copies().values()})
    assert main(["check", "builtin:5.3", "--role", "broker", "--select", some]) == 0
    assert judged == copies().keys()
