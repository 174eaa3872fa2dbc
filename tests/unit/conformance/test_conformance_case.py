"""What keeps a case from loading, and that each message says where, what and what to do."""

from __future__ import annotations

from typing import Any

import pytest

from harness.catalogue import CatalogueError
from harness.conformance import case, case_of

ID = "ns.lease.expired-broker-leaves-route"


def test_a_case_knows_what_it_proves_and_kills() -> None:
    @case(ID, "wire.framing.opaque-is-echoed", kills=["never-expires"], clock=True)
    def test_expired(ns: object) -> None:
        """A broker whose lease has run out is in no route.

        More words.
        """

    declared = case_of(test_expired)
    assert declared is not None
    assert declared.statements == (ID, "wire.framing.opaque-is-echoed")
    assert declared.kills == ("never-expires",)
    assert (declared.clock, declared.own_server) == (True, False)
    assert declared.title == "A broker whose lease has run out is in no route."
    assert declared.where.startswith(__file__)


def test_one_mutant_may_stand_without_a_list() -> None:
    @case(ID, kills="never-expires")
    def test_expired(ns: object) -> None:
        """Something holds."""

    declared = case_of(test_expired)
    assert declared is not None
    assert declared.kills == ("never-expires",)


def test_place_and_name_say_what_is_proven() -> None:
    def test_lease_lasts(ns: object) -> None:
        pass

    test_lease_lasts.__module__ = "harness.conformance.nameserver.test_lease"
    declared = case_of(case(kills=["m"])(test_lease_lasts))
    assert declared is not None
    assert (declared.statements, declared.title) == (("ns.lease.lease-lasts",), "")


def test_a_docstring_beside_the_title_of_a_statement_does_not_load() -> None:
    def test_lease_lasts(ns: object) -> None:
        """Something holds."""

    test_lease_lasts.__module__ = "harness.conformance.nameserver.test_lease"
    with pytest.raises(CatalogueError, match="the title of its statement, and a docstring"):
        case(kills=["m"])(test_lease_lasts)


def test_any_other_function_is_no_case() -> None:
    assert case_of(test_any_other_function_is_no_case) is None
    assert case_of(None) is None


def documented(ns: object) -> None:
    """Something holds."""


def undocumented(ns: object) -> None:
    pass


def without_session() -> None:
    """Something holds."""


@pytest.mark.parametrize(
    ("function", "statements", "kills", "wrong", "do"),
    [
        (documented, (), ["m"], "names no statement", "@case"),
        (documented, ("lease.expired",), ["m"], "no statement id", "ns.<chapter>.<slug>"),
        (documented, ("ns.lease.Expired",), ["m"], "no statement id", "lower case"),
        (documented, (4711,), ["m"], "no statement id", "lower case"),
        (documented, (ID, ID), ["m"], "a statement twice", "once"),
        (documented, (ID,), [], "kills no mutant", "write one"),
        (documented, (ID,), ["m", "m"], "a mutant twice", "once"),
        (undocumented, (ID, "ns.kv.put-overwrites"), ["m"], "no docstring", "one sentence"),
        (without_session, (ID,), ["m"], "takes ()", "exactly one argument, the session"),
    ],
)
def test_what_does_not_load(function: Any, statements: Any, kills: list[str], wrong: str, do: str) -> None:
    with pytest.raises(CatalogueError) as caught:
        case(*statements, kills=kills)(function)
    problem = caught.value
    assert wrong in problem.wrong
    assert do in problem.do
    assert problem.where == f"{__file__}:{function.__code__.co_firstlineno}"
    assert function.__name__ in problem.wrong
