"""Setup is not subject: whose failure it is, and what a case that holds has proved."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from datetime import date
from typing import Any

import msgspec
import pytest
from conformance_samples import module

from harness.catalogue import Catalogue, Message, Profile, Source, Statement
from harness.conformance import Reply, case
from harness.conformance.baseline import Baseline, Entry
from harness.conformance.case_run import Setting
from harness.conformance.loading import LoadedCase, cases, owner_problems
from harness.conformance.owners import owners_under
from harness.conformance.running import Runner
from harness.report.results import CaseResult, Verdict
from harness.session import Blocked, NameServerSession
from harness.targets import parse
from harness.wire import RequestCode, ResponseCode

SUCCESS, NOT_FOUND = ResponseCode.SUCCESS, ResponseCode.QUERY_NOT_FOUND
Body = Callable[[NameServerSession], Any]


def statement(identifier: str) -> Statement:
    return Statement(
        id=identifier,
        chapter=identifier.split(".")[1],
        level="MUST",
        profiles=("5.3",),
        text=f"{identifier} MUST hold.",
        stimulus="x",
        observable="y",
        source=(Source("tag", "path/Class.java", "method"),),
        observed=("5.3.3",),
    )


def loaded(identifier: str, body: Body) -> LoadedCase:
    _, chapter, slug = identifier.split(".")

    def function(ns: NameServerSession) -> None:
        """Something holds."""
        body(ns)

    name = f"test_{slug.replace('-', '_')}"
    function.__name__ = name
    return cases([module(chapter, **{name: case(identifier, kills=["m"])(function)})])[0]


def message(code: RequestCode, owner: str, *, read_only: bool = False) -> Message:
    return Message(code, code.name, "t", "s", read_only=read_only, owner=owner, chapter="kv")


PUT = message(RequestCode.PUT_KV_CONFIG, "ns.kv.put")
GET = message(RequestCode.GET_KV_CONFIG, "ns.kv.get", read_only=True)
LIST = message(RequestCode.GET_KVLIST_BY_NAMESPACE, "ns.kv.list", read_only=True)
DELETE = message(RequestCode.DELETE_KV_CONFIG, "ns.kv.delete")
MESSAGES = (PUT, GET, LIST, DELETE)


def put(ns: NameServerSession, **more: Any) -> None:
    ns.put_kv("N", "k", "v", **more) >> Reply(SUCCESS)


def put_and_get(ns: NameServerSession) -> None:
    put(ns)
    ns.get_kv("N", "k").value >> Reply(SUCCESS, "v")


def get(ns: NameServerSession) -> None:
    ns.get_kv("N", "k").value >> Reply(SUCCESS, "v")


def get_nothing(ns: NameServerSession) -> None:
    ns.get_kv("N", "nothing") >> Reply(NOT_FOUND)


OWNERS = {"ns.kv.put": put_and_get, "ns.kv.get": put_and_get}


class Run:
    """Cases against a server; those of `OWNERS` own their codes."""

    def __init__(self, bodies: Mapping[str, Body], mutant: str = "", known: Sequence[Entry] = ()) -> None:
        profile = Profile(name="5.3", title="t", reference="5.3.3", text="x")
        catalogue = Catalogue(tuple(map(statement, bodies)), (profile,), "d")
        self.cases = {identifier: loaded(identifier, body) for identifier, body in bodies.items()}
        target = parse("builtin:5.3" + (f"?mutant={mutant}" if mutant else ""))
        owners = owners_under("5.3", catalogue, self.cases.values(), MESSAGES)
        setting = Setting(catalogue, "5.3", target.uri, baseline=Baseline(entries=tuple(known)))
        self.runner = Runner(setting, target.start(), target.another, owners=owners)

    def results(self, order: Sequence[str]) -> dict[str, CaseResult]:
        return {identifier: self.runner.run(self.cases[identifier]) for identifier in order}


def test_a_case_that_meets_the_fault_of_an_owner_is_blocked_by_it_in_any_order() -> None:
    bodies = {**OWNERS, "ns.routes.kept": put_and_get}
    for order in (list(bodies), list(reversed(bodies)), ["ns.routes.kept"]):
        found = Run(bodies, "serves-probes-and-refuses-others").results(order)
        blocked = found["ns.routes.kept"]
        assert (blocked.verdict, blocked.blocked_by) == (Verdict.BLOCKED, "ns.kv.put")
        assert blocked.reason.startswith("needs 100 PUT_KV_CONFIG, and ns.kv.put does not hold: reply SYSTEM")
        assert blocked.failure is not None
        if "ns.kv.put" in found:
            assert found["ns.kv.put"].verdict is Verdict.FAIL
            assert found["ns.kv.get"].blocked_by == "ns.kv.put"


def test_an_owner_is_run_once() -> None:
    runs: list[str] = []

    def counted(ns: NameServerSession) -> None:
        runs.append("put")
        put(ns)

    bodies: dict[str, Body] = {"ns.kv.put": counted, "ns.routes.a": put, "ns.routes.b": put}
    Run(bodies, "serves-probes-and-refuses-others").results(["ns.routes.a", "ns.kv.put", "ns.routes.b"])
    assert runs == ["put"]


def test_another_fault_at_the_same_code_stays_a_failure() -> None:
    def wrong(ns: NameServerSession) -> None:
        ns.put_kv("N", "k", "v") >> Reply(NOT_FOUND)

    bodies: dict[str, Body] = {"ns.kv.put": wrong, "ns.routes.other": lambda ns: put(ns, ext={"key": None})}
    found = Run(bodies).results(list(bodies))
    assert {one.verdict for one in found.values()} == {Verdict.FAIL}


def test_the_owner_of_an_earlier_step_blocks_where_its_fault_shows_elsewhere() -> None:
    """A server that forgets what was put gives itself away when it is asked for it."""
    bodies: dict[str, Body] = {
        "ns.kv.put": put_and_get,
        "ns.routes.kept": put_and_get,
        "ns.routes.other": get,
    }
    found = Run(bodies, "forgets-everything").results(list(reversed(bodies)))
    assert found["ns.kv.put"].verdict is Verdict.FAIL
    assert found["ns.routes.kept"].blocked_by == "ns.kv.put"
    assert found["ns.routes.other"].verdict is Verdict.FAIL


def test_a_step_that_does_not_do_its_work_blocks_whatever_shows_it() -> None:
    """The owner of the step looks with one request, and the case with another."""

    def in_vain(ns: NameServerSession) -> None:
        ns.delete_kv("N", "k") >> Reply(SUCCESS)
        ns.get_kv("N", "k") >> Reply(SUCCESS)

    def listed(ns: NameServerSession) -> None:
        ns.delete_kv("N", "k") >> Reply(SUCCESS)
        ns.list_kv("N").table >> Reply(SUCCESS, {"k": "v"})

    def only_listed(ns: NameServerSession) -> None:
        ns.list_kv("N").table >> Reply(SUCCESS, {"k": "v"})

    bodies: dict[str, Body] = {
        "ns.kv.put": put,
        "ns.kv.get": get_nothing,
        "ns.kv.list": lambda ns: ns.list_kv("nothing") >> Reply(NOT_FOUND),
        "ns.kv.delete": in_vain,
        "ns.routes.listed": listed,
        "ns.routes.other": only_listed,
    }
    found = Run(bodies).results(list(reversed(bodies)))
    assert found["ns.kv.delete"].verdict is Verdict.FAIL
    assert found["ns.routes.listed"].blocked_by == "ns.kv.delete"
    assert found["ns.routes.other"].verdict is Verdict.FAIL


def test_what_blocks_others_is_a_failure_itself() -> None:
    """Two requests do not do their work: the owner of the second takes the first as a step."""

    def second(ns: NameServerSession) -> None:
        put(ns)
        ns.delete_kv("N", "k") >> Reply(SUCCESS)
        ns.list_kv("N").table >> Reply(SUCCESS, {"k": "w"})

    def first(ns: NameServerSession) -> None:
        put(ns)
        ns.list_kv("N").table >> Reply(SUCCESS, {"k": "w", "l": "w"})

    def other(ns: NameServerSession) -> None:
        ns.delete_kv("N", "k") >> Reply(SUCCESS)
        ns.get_kv("N", "k") >> Reply(SUCCESS)

    bodies: dict[str, Body] = {
        "ns.kv.put": first,
        "ns.kv.get": get_nothing,
        "ns.kv.list": lambda ns: ns.list_kv("nothing") >> Reply(NOT_FOUND),
        "ns.kv.delete": second,
        "ns.routes.other": other,
    }
    found = Run(bodies).results(list(reversed(bodies)))
    assert found["ns.kv.put"].verdict is Verdict.FAIL
    assert found["ns.kv.delete"].blocked_by == "ns.kv.put"
    assert found["ns.routes.other"].blocked_by == "ns.kv.put"


def test_what_a_barrier_needs_is_named() -> None:
    def settling(ns: NameServerSession) -> None:
        raise Blocked("the case must wait", needs=PUT.code)

    bodies: dict[str, Body] = {"ns.kv.put": put, "ns.routes.settled": settling}
    assert Run(bodies).results(list(bodies))["ns.routes.settled"].blocked_by == ""
    found = Run(bodies, "serves-probes-and-refuses-others").results(["ns.routes.settled"])
    settled = found["ns.routes.settled"]
    assert (settled.verdict, settled.blocked_by) == (Verdict.BLOCKED, "ns.kv.put")
    assert settled.reason == "the case must wait"


def test_of_owners_that_fail_alike_one_fails() -> None:
    def first(ns: NameServerSession) -> None:
        put(ns)
        ns.topics() >> Reply(NOT_FOUND)

    def second(ns: NameServerSession) -> None:
        get_nothing(ns)
        first(ns)

    bodies: dict[str, Body] = {"ns.kv.put": first, "ns.kv.get": second}
    found = Run(bodies).results(list(reversed(bodies)))
    assert found["ns.kv.put"].verdict is Verdict.FAIL
    assert found["ns.kv.get"].blocked_by == "ns.kv.put"


def test_a_refusal_proves_nothing_where_everything_is_refused() -> None:
    bodies: dict[str, Body] = {**OWNERS, "ns.routes.refused": get_nothing}
    assert Run(bodies).results(list(bodies))["ns.routes.refused"].verdict is Verdict.PASS
    refused = Run(bodies, "forgets-everything").results(["ns.routes.refused"])["ns.routes.refused"]
    assert (refused.verdict, refused.blocked_by) == (Verdict.BLOCKED, "ns.kv.get")
    assert "101 GET_KV_CONFIG is treated so whatever it says" in refused.reason


def test_a_step_that_fails_where_its_owner_holds_is_said_to_be_one() -> None:
    def once(ns: NameServerSession) -> None:
        put(ns)

    def cut_off(ns: NameServerSession) -> None:
        ns.put_kv(None, "k", "v") >> Reply(SUCCESS)

    bodies: dict[str, Body] = {"ns.kv.put": once, "ns.routes.shown": cut_off, "ns.kv.shown": cut_off}
    found = Run(bodies).results(list(bodies))
    assert {found["ns.routes.shown"].verdict, found["ns.kv.shown"].verdict} == {Verdict.FAIL}
    words = "setup failed: 100 PUT_KV_CONFIG is a step on the way here, and ns.kv.put holds"
    assert found["ns.routes.shown"].reason == words
    assert "setup" not in found["ns.kv.shown"].reason


def test_what_a_known_failure_blocks_is_known_too() -> None:
    entry = Entry(
        id="ns.kv.put",
        profile="5.3",
        reason="to do",
        link="https://example.org/1",
        expires=date(2999, 1, 1),
        where="known.yaml:1",
    )
    bodies: dict[str, Body] = {"ns.kv.put": put, "ns.routes.kept": put}
    run = Run(bodies, "serves-probes-and-refuses-others", [entry])
    found = run.results(["ns.routes.kept", "ns.kv.put"])
    assert {one.verdict for one in found.values()} == {Verdict.XFAIL}
    assert found["ns.routes.kept"].blocked_by == "ns.kv.put"


@pytest.mark.parametrize(
    ("change", "problem"),
    [
        ({"owner": "ns.kv.nothing"}, "is no statement"),
        ({"owner": "ns.kv.may"}, "is a MAY"),
        ({"owner": "ns.kv.twice"}, "with 2 cases"),
        ({"owner": "ns.kv.put"}, ""),
        ({"owner": None}, ""),
    ],
)
def test_an_owner_is_a_must_that_one_case_proves(change: dict[str, Any], problem: str) -> None:
    profile = Profile(name="5.3", title="t", reference="5.3.3", text="x")
    may = msgspec.structs.replace(statement("ns.kv.may"), level="MAY")
    known = Catalogue((statement("ns.kv.put"), may, statement("ns.kv.twice")), (profile,), "d")
    some = [loaded(name, put) for name in ("ns.kv.put", "ns.kv.may", "ns.kv.twice", "ns.kv.twice")]
    found = owner_problems(known, some, [msgspec.structs.replace(PUT, **change)])
    assert [problem in str(one) for one in found] == ([True] if problem else [])
