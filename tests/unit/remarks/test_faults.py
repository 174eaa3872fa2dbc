"""Every statement about clients: a fault breaks it and nothing else, and without the fault none is broken."""

from __future__ import annotations

import contextlib

import pytest

from harness.catalogue import catalogue, profiles
from harness.remarks import Remark, judge
from harness.remarks.bench import JUDGES
from harness.session import BrokerSession
from harness.targets import parse

from .faults import FAULTS, faulty
from .well_behaved import Client

LINES = [one.name for one in profiles("broker")]
STATEMENTS = {one.id: one for one in catalogue().statements if not one.roles}


def remarks_on(kind: type[Client], line: str) -> list[Remark]:
    """What is wrong with such a client, at the reference of a line."""
    bk = BrokerSession(parse(f"builtin:{line}", "broker").start(), line, seed=7, hears=False)
    with contextlib.closing(bk):  # not as a context: it would demand that each answer is judged
        kind(bk).work()
        return judge([bk.trace])


def test_every_statement_about_clients_is_judged_and_has_a_fault() -> None:
    judged = [f"cl.{name}" for one in JUDGES for name in one.statements]
    assert sorted(judged) == sorted(STATEMENTS) == sorted(FAULTS)


@pytest.mark.parametrize("line", LINES)
def test_a_client_without_a_fault_gets_no_remark(line: str) -> None:
    assert [str(one) for one in remarks_on(Client, line)] == []


@pytest.mark.parametrize(
    ("statement", "line"),
    [(name, line) for name in FAULTS for line in LINES if line in STATEMENTS[name].profiles],
)
def test_a_fault_is_remarked(statement: str, line: str) -> None:
    found = remarks_on(faulty(statement), line)
    assert {one.statement for one in found} == {statement}, "\n".join(map(str, found))
    assert all(one.evidence for one in found)
