"""What explains a finding: which cases are run on which target, and which of them tell most."""

from __future__ import annotations

import itertools
import sys
from collections.abc import Sequence

import msgspec
import pytest

from harness.catalogue import Role
from harness.engine.context import TargetContext
from harness.engine.kinds import ROLES
from harness.engine.stateful import StatefulExperiment
from harness.findings.exchange import exchange_facts
from harness.findings.experiment import Attempt
from harness.findings.failing_cases import FailingCases
from harness.program.broker.steps import Bound, End, Pull, Send, View
from harness.program.nameserver.steps import MemberGroup, Register, Route, Unregister
from harness.program.step import Restart, Time
from harness.program.steps import AnyStep
from harness.session import RunningClock
from harness.spec import Violation
from harness.spec.observation import Difference
from harness.targets import Target, parse
from harness.targets.process import ProcessInstance
from harness.trace import Header, Opened, Sent, Trace
from harness.wire import Command, encode

NEVER_END = "builtin:5.3?mutant=leases-never-end"
EXPIRED: tuple[AnyStep, ...] = (Register(), Time(seconds=131), Route())
REMOVED = "ns.lease.expired-broker-is-removed"
OLDER = (
    f"exec:{sys.executable} -c 'import sys; from harness.cli import main; sys.exit(main())' "
    "serve nameserver --profile 4.9 --port {port}"
)


LISTED = "ns.registration.master-appears-in-cluster-info"
GONE = "ns.unregistration.last-address-takes-topics"


def violated(statement: str, number: int, *codes: int) -> Violation:
    """``codes``: the one that was expected and the one that came."""
    differences = [Difference("code", "", "other", *(f"code {code}" for code in codes))] if codes else []
    return Violation(
        invariant="i",
        statement=statement,
        expected="",
        actual="",
        number=number,
        differences=tuple(differences),
    )


def attempt_of(target: Target, program: Sequence[AnyStep], role: Role = "nameserver") -> Attempt:
    stage = TargetContext(target, "5.3", role=ROLES[role])
    attempt = StatefulExperiment(stage, "x").attempt(program, fresh=True)
    stage.close()
    return attempt


def test_the_case_about_the_fault_comes_first() -> None:
    target = parse(NEVER_END)
    cases = FailingCases(target, "5.3", now=lambda: 0.0)
    found = cases.explained(EXPIRED, violated(REMOVED, 2), attempt_of(target, EXPIRED)).also_fails
    assert found[0] == REMOVED
    assert len(found) == len(set(found))


def test_faults_of_brokers_are_explained_too() -> None:
    target, program = (
        parse("builtin:5.3?mutant=hands-over-late", "broker"),
        (Send(), Restart(how="kill"), Pull()),
    )
    attempt = attempt_of(target, program, "broker")
    cases = FailingCases(target, "5.3", "broker", now=lambda: 0.0)
    found = cases.explained(program, attempt.violations[0], attempt).also_fails
    assert "bk.storage.messages-survive-a-kill" in found[:3]


def test_cases_that_change_other_things_explain_nothing() -> None:
    """Many cases fail where messages are lost in a restart. Who ends transactions is not helped by those
    about filters or slaves, and who sends and looks not by those that begin with something else.
    """
    target = parse("builtin:5.3?mutant=hands-over-late", "broker")
    cases = FailingCases(target, "5.3", "broker", now=lambda: 0.0)
    half = Send(message="m1", half=True)
    for program, first in (
        ((half, Restart(), End(message="m1")), None),
        ((Send(), Restart(how="term"), Bound()), "bk.storage.messages-survive-a-stop"),
        ((Send(message="m1"), Restart(how="term"), View(message="m1")), "bk.storage.several-files-survive"),
    ):
        attempt = attempt_of(target, program, "broker")
        found = cases.explained(program, attempt.violations[0], attempt).also_fails
        assert next(iter(found), None) == first


def test_numbers_in_what_a_case_saw_are_no_codes_of_answers() -> None:
    """What fails is the case about zones: it was answered with success, and saw an address with a 1 in it."""
    target, program = parse("builtin:5.3?mutant=zone-sticks"), (Register(),)
    cases = FailingCases(target, "5.3", now=lambda: 0.0)
    found = cases.explained(program, violated(LISTED, 0, 0, 1), attempt_of(target, program))
    assert "ns.registration.zone-follows-latest-registration" in found.also_fails
    assert found.statement == LISTED


def test_what_is_answered_as_in_no_state_is_explained_by_the_request_alone() -> None:
    """The judge holds a topic against the departure of its broker; that the topic is not named decides."""
    target = parse("builtin:5.3?mutant=absent-topic-is-a-failure")
    program = (Register(), Unregister(), Route(drop=("topic",)))
    cases = FailingCases(target, "5.3", now=lambda: 0.0)
    found = cases.explained(program, violated(GONE, 2, 17, 29), attempt_of(target, program))
    assert found.also_fails[0] == "ns.routes.absent-topic-does-not-exist"


def test_no_case_fails_on_a_sound_server() -> None:
    target = parse("builtin:5.3")
    cases = FailingCases(target, "5.3", now=lambda: 0.0)
    assert cases.explained(EXPIRED, violated(REMOVED, 2), attempt_of(target, EXPIRED)).also_fails == ()


def test_a_case_runs_once_on_a_target(monkeypatch: pytest.MonkeyPatch) -> None:
    target = parse(NEVER_END)
    cases = FailingCases(target, "5.3", now=lambda: 0.0)
    arguments = EXPIRED, violated(REMOVED, 2), attempt_of(target, EXPIRED)
    first = cases.explained(*arguments)
    monkeypatch.setattr(target, "start", None)
    assert cases.explained(*arguments) == first


def test_a_server_in_real_time_is_asked_without_waiting_and_within_seconds() -> None:
    """The 4.9 reference has no member groups. A second finding starts no server: the time is up."""
    target, program = parse(OLDER), (MemberGroup(),)
    clock = RunningClock().waiting
    cases = FailingCases(target, "5.3", now=clock, seconds=60.0)
    attempt = Attempt(violations=(), trace=Trace(Header(), ()), stepped=1)
    found = cases.explained(program, violated("ns.cluster.member-group-has-all-ids", 0), attempt).also_fails
    assert found
    assert all(one.startswith(("ns.", "wire.")) for one in found)
    readings = itertools.count()
    late = FailingCases(target, "5.3", now=lambda: float(next(readings)), seconds=0.5)
    assert (
        late.explained(program, violated("ns.cluster.member-group-has-all-ids", 0), attempt).also_fails == ()
    )


def test_a_server_of_somebody_else_is_asked_by_cases_that_may_share_it() -> None:
    server = parse(OLDER).start()
    assert isinstance(server, ProcessInstance)
    try:
        target = parse(f"tcp://127.0.0.1:{server.port}")
        cases = FailingCases(target, "5.3", now=RunningClock().waiting, seconds=60.0)
        attempt = Attempt(violations=(), trace=Trace(Header(), ()), stepped=1)
        assert cases.explained((MemberGroup(),), violated("ns.cluster.member-group-has-all-ids", 0), attempt)
        assert server.alive()
    finally:
        server.stop()


def sent(*commands: Command, at: float = 0.0) -> list[Sent]:
    return [Sent(real=at, protocol=at, connection=1, data=encode(command)) for command in commands]


def test_an_exchange_is_what_was_asked_and_no_name() -> None:
    def exchange(nonce: str, address: str, *, seconds: float = 0.0, broker_id: str = "0") -> frozenset[str]:
        header = Header(names={f"b-{nonce}": "b", address: "a0"}, nonce=nonce)
        fields: dict[str, str | None] = {
            "brokerName": f"b-{nonce}",
            "brokerAddr": address,
            "brokerId": broker_id,
            "timestamp": f"17{len(nonce)}00",
        }
        body = msgspec.json.encode({"topics": {f"T-{nonce}": {"perm": 6}}})
        opened = Opened(real=0.0, protocol=0.0, connection=1, local="127.0.0.1:1", remote="127.0.0.1:2")
        events = [
            opened,
            *sent(Command(code=103, ext=fields, body=body)),
            *sent(Command(code=105), at=seconds),
        ]
        return exchange_facts(Trace(header, tuple(events)))

    one = exchange("abc123", "10.1.2.3:10911")
    assert one == exchange("zzz9", "10.9.8.7:20000")
    assert "105 after 103" in one
    assert one ^ exchange("abc123", "10.1.2.3:10911", seconds=121) == {"after 103 time passes"}
    assert one ^ exchange("abc123", "10.1.2.3:10911", broker_id="1") == {
        "103 brokerId = 0",
        "103 brokerId = 1",
    }
