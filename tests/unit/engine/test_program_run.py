"""What is played of a program, on targets that are known for quirks and on others."""

from __future__ import annotations

from collections.abc import Iterable

import pytest

from harness.catalogue import known_quirks
from harness.engine.context import TargetContext
from harness.engine.executor import Executor
from harness.engine.nameserver.program_state import ProgramState
from harness.engine.nameserver.quirk_checks import proven
from harness.engine.nameserver.quirks import Quirks
from harness.engine.program_run import ProgramRun
from harness.findings.experiment import Ended
from harness.program.chance import chance
from harness.program.names import Names
from harness.program.nameserver import steps as ns
from harness.program.step import Close, Reconnect, Time
from harness.program.steps import AnyStep
from harness.session import TooLate
from harness.targets import Capabilities, parse

KNOWN = Quirks(known_quirks("nameserver", "apache-nameserver@4.9.8"))
TOPICS = {"T0": (4, 4, 6, 0), "T1": (4, 4, 6, 0)}
ONE_WAY = ns.Register(conn="k1", oneway=True, topics=TOPICS)
ENDS: list[AnyStep] = [Close(conn="k1", how="half"), ns.ClusterInfo(conn="k1", broken=4)]


def played(program: list[AnyStep], *, known: Quirks | None, seeks: bool) -> list[AnyStep]:
    context = TargetContext(parse("builtin:4.9"), "4.9")
    program_run = ProgramRun(context, Names(chance("program_run")), quirks=known, seeks=seeks)
    for step in program:
        program_run.do(step)
    program_run.leave()
    context.close()
    return program_run.steps


@pytest.mark.parametrize("ends", ENDS)
def test_a_connection_does_not_end_right_behind_a_request_without_answer(ends: AnyStep) -> None:
    program = [ONE_WAY, ns.ClusterInfo(), ends]
    assert played(program, known=KNOWN, seeks=False) == [ONE_WAY, ns.ClusterInfo()]
    assert played(program, known=KNOWN, seeks=True) == program
    assert played(program, known=None, seeks=False) == program


@pytest.mark.parametrize("ends", ENDS)
def test_it_ends_when_something_behind_it_was_answered(ends: AnyStep) -> None:
    program = [ONE_WAY, ns.ClusterInfo(conn="k1"), ends]
    assert played(program, known=KNOWN, seeks=False) == program


@pytest.mark.parametrize("ends", [*ENDS, Reconnect(conn="k1", old="k1")])
def test_a_connection_that_a_step_brings_to_its_end_is_an_end_to_quirks_too(ends: AnyStep) -> None:
    """A name under two clusters: quirk `quirk.name-stays-in-other-clusters`."""
    program = [
        ns.Register(conn="k1", topics=TOPICS),
        ns.Register(conn="k1", cluster="c1", topics=TOPICS),
        ns.ClusterInfo(conn="k1"),
        ends,
    ]
    assert played(program, known=KNOWN, seeks=False) == program[:3]
    assert played(program, known=KNOWN, seeks=True) == program


class Running(TargetContext):
    """Time is said to be real."""

    capabilities = Capabilities(scheme="exec", starts="soon", warp=20.0)


@pytest.mark.parametrize(
    "program",
    [
        [ns.Register(topics=TOPICS, mappings={"T0": ("b0", 1)}, lease=20_000)],
        [ns.Register(topics=TOPICS, mappings={"T0": ("b0", 1)}), ns.Register(topics=TOPICS, lease=20_000)],
    ],
)
def test_a_short_lease_may_end_within_any_program(program: list[AnyStep]) -> None:
    """`quirk.static-mappings-are-never-dropped`."""
    known = Quirks(known_quirks("nameserver", "apache-nameserver@5.3.3"))
    program_run = ProgramRun(
        TargetContext(parse("builtin:5.3"), "5.3"), Names(chance("program_run")), quirks=known, seeks=False
    )
    for step in program:
        program_run.do(step)
    program_run.leave()
    assert program_run.steps == program[:-1]


@pytest.mark.parametrize(("context", "plays"), [(TargetContext, True), (Running, False)])
def test_where_time_is_real_a_lease_may_end_a_little_earlier(
    context: type[TargetContext], plays: bool
) -> None:
    """`quirk.static-mappings-are-never-dropped`."""
    known = Quirks(known_quirks("nameserver", "apache-nameserver@5.3.3"))
    mapped = ns.Register(topics=TOPICS, mappings={"T0": ("b0", 1)})
    on = context(parse("builtin:5.3"), "5.3")
    program_run = ProgramRun(on, Names(chance("program_run")), quirks=known, seeks=False)
    for step in (mapped, Time(seconds=100)):
        program_run.do(step)
    assert program_run.steps == ([mapped, Time(seconds=100)] if plays else [mapped])


class Left(TargetContext):
    """Keeps what is to be taken back."""

    def leave(self, executor: Executor, state: ProgramState, *, ended: Ended, well: bool) -> None:
        self.settings, self.pairs = state.settings(), list(state.pairs)
        super().leave(executor, state, ended=ended, well=well)


def test_what_was_played_is_taken_back_and_not_what_was_left_out() -> None:
    """Behind a violation steps are not played: a server would have kept what they seemed to take back."""
    context = Left(parse("builtin:5.3?mutant=kv-keeps-the-first-value"), "5.3")
    program_run = ProgramRun(context, Names(chance("program_run")))
    setting = "deleteTopicWithBrokerRegistration"
    for step in (
        ns.Configure(lines=(f"{setting}=true",)),
        ns.Kv(code=100, key="x"),
        ns.Kv(code=100, key="x", value="w"),
        ns.Kv(code=101, key="x"),
        ns.Configure(lines=(f"{setting}=false",)),
        ns.Kv(code=102, key="x"),
    ):
        program_run.do(step)
    program_run.leave()
    assert program_run.violations
    assert context.settings == [(0, setting)]
    assert context.pairs == [(0, "n0", "x", None)]


@pytest.mark.parametrize("broken", [100_000, 4])
def test_a_pair_that_may_have_been_put_is_taken_back(broken: int) -> None:
    state = ProgramState("5.3")
    state.apply(ns.Kv(code=100, key="x", broken=broken))
    state.apply(ns.Kv(code=102, key="x", broken=broken))
    assert list(state.pairs) == [(0, "n0", "x", None)]


def test_a_scan_that_has_died_is_proven_on_the_server_that_showed_it() -> None:
    context = TargetContext(parse("builtin:4.9?mutant=leases-never-end"), "4.9")
    program_run = ProgramRun(context, Names(chance("proof")), quirks=KNOWN)
    for step in [ns.Register(conn="k1", topics=TOPICS), Time(seconds=145), ns.ClusterInfo(conn="k2")]:
        program_run.do(step)
    program_run.leave()
    assert [one.statement for one in program_run.violations] == ["ns.lease.expired-broker-is-removed"]
    assert program_run.quirk == "quirk.expiry-scan-ends"


def test_what_follows_from_a_scan_that_has_died_is_explained_by_it() -> None:
    """The name registers again, so that nothing says of it that its lease has ended."""
    context = TargetContext(parse("builtin:4.9?mutant=leases-never-end"), "4.9")
    program_run = ProgramRun(context, Names(chance("proof")), quirks=KNOWN)
    for step in [
        ns.Register(conn="k1", id=1, address="a1", topics=TOPICS),
        Time(seconds=145),
        ns.Register(conn="k2", topics=TOPICS),
        ns.ClusterInfo(conn="k3"),
    ]:
        program_run.do(step)
    program_run.leave()
    assert [one.statement for one in program_run.violations] != ["ns.lease.expired-broker-is-removed"]
    assert program_run.quirk == "quirk.expiry-scan-ends"


def test_a_proof_that_comes_too_late_proves_nothing(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def late(executor: Executor, servers: int, quirks: Iterable[str]) -> str | None:
        raise TooLate("this machine is too slow")

    monkeypatch.setattr("harness.engine.program_run.proven", late)
    context = TargetContext(parse("builtin:4.9?mutant=leases-never-end"), "4.9")
    program_run = ProgramRun(context, Names(chance("proof")), quirks=KNOWN)
    for step in [ns.Register(conn="k1", topics=TOPICS), Time(seconds=145), ns.ClusterInfo(conn="k2")]:
        program_run.do(step)
    program_run.leave()
    assert program_run.attempt().ended == "late"
    assert not program_run.attempt().violations


@pytest.mark.parametrize("leaves", [ns.Unregister(conn="k1"), Close(conn="k1")])
def test_a_name_that_has_just_left_may_still_be_in_its_cluster(leaves: AnyStep) -> None:
    """Departures and one-way requests are carried out at some later moment.

    `quirk.name-stays-in-other-clusters`
    """
    again = ns.Register(conn="k2", cluster="c1", topics=TOPICS)
    program = [
        ns.Register(conn="k1", oneway=True, topics=TOPICS),
        ns.ClusterInfo(conn="k1"),
        leaves,
        again,
        ns.Unregister(conn="k2", cluster="c1"),
    ]
    assert played(program, known=KNOWN, seeks=False) == program[:-1]
    later = [*program[:3], Time(seconds=60), *program[3:]]
    assert played(later, known=KNOWN, seeks=False) == later


def test_an_address_whose_lease_has_just_ended_may_still_hold_its_id() -> None:
    """`quirk.replaced-address-stays-live`: no scan may have seen it."""
    context = TargetContext(parse("builtin:5.3"), "5.3")
    known = Quirks(known_quirks("nameserver", "apache-nameserver@5.3.3"))
    program_run = ProgramRun(context, Names(chance("program_run")), quirks=known, seeks=False)
    program = [ns.Register(topics=TOPICS), Time(seconds=122), ns.Register(address="a1", topics=TOPICS)]
    for step in program:
        program_run.do(step)
    program_run.leave()
    assert program_run.steps == program[:2]


@pytest.mark.parametrize(
    ("steps", "known"), [(0, True), (10, True), (30, False)], ids=["at once", "soon", "later"]
)
def test_an_address_that_has_just_left_may_still_hold_its_id(steps: int, known: bool) -> None:
    """`quirk.replaced-address-stays-live`: the end of a connection is noticed at some later moment."""
    context = TargetContext(parse("builtin:5.3"), "5.3")
    quirk = Quirks(known_quirks("nameserver", "apache-nameserver@5.3.3"))
    program_run = ProgramRun(context, Names(chance("program_run")), quirks=quirk, seeks=False)
    program: list[AnyStep] = [
        ns.Register(conn="k0", topics=TOPICS),
        ns.Register(conn="k1", id=1, address="a1", topics=TOPICS),
        Close(conn="k0", how="reset"),
        *[ns.Topics()] * steps,
        ns.Register(conn="k1", address="a1", topics=TOPICS),
    ]
    for step in program:
        program_run.do(step)
    program_run.leave()
    assert program_run.steps == (program[:-1] if known else program)


def test_a_master_that_has_just_left_may_still_be_listed_beside_a_promoted_slave() -> None:
    """With the data version that it had as a slave.

    `quirk.promotion-beside-old-master-publishes-nothing`
    """
    program: list[AnyStep] = [
        ns.Register(conn="k0", topics=TOPICS),
        ns.Register(conn="k1", id=1, address="a1", topics=TOPICS),
        Close(conn="k0", how="reset"),
        ns.Register(conn="k1", address="a1", topics=TOPICS),
    ]
    assert played(program, known=KNOWN, seeks=False) == program[:-1]


def test_a_short_lease_may_end_unseen_under_two_clusters() -> None:
    """The record under the first cluster ends while others look.

    `quirk.name-stays-in-other-clusters`
    """
    context = TargetContext(parse("builtin:5.3"), "5.3")
    known = Quirks(known_quirks("nameserver", "apache-nameserver@5.3.3"))
    program_run = ProgramRun(context, Names(chance("program_run")), quirks=known, seeks=False)
    program = [ns.Register(cluster="c1", topics=TOPICS, lease=20_000), ns.Register(topics=TOPICS)]
    for step in program:
        program_run.do(step)
    program_run.leave()
    assert program_run.steps == program[:1]


@pytest.mark.parametrize(("lease", "broken"), [(None, 100_000), (20_000, None)])
def test_a_registration_may_find_that_its_broker_has_left(lease: int | None, broken: int | None) -> None:
    """Its connection ends behind it, or its lease is short.

    `quirk.refused-registration-changes-state`
    """
    context = TargetContext(parse("builtin:5.3"), "5.3")
    known = Quirks(known_quirks("nameserver", "apache-nameserver@5.3.3"))
    one_topic = ns.Register(topics={"T0": (4, 4, 6, 0)}, lease=lease, broken=broken)
    program: list[AnyStep] = [ns.Register(topics=TOPICS, lease=lease), one_topic]
    program_run = ProgramRun(context, Names(chance("program_run")), quirks=known, seeks=False)
    for step in program:
        program_run.do(step)
    program_run.leave()
    assert program_run.steps == program[:1]


def test_a_scan_that_goes_on_is_no_quirk() -> None:
    context = TargetContext(parse("builtin:4.9"), "4.9")
    executor, *_ = context.executor(1, Names(chance("proof")), fresh=True, case="proof")
    assert proven(executor, 1, ["quirk.expiry-scan-ends"]) is None
    executor.close()
    context.close()


class _Together(TargetContext):
    """Where many steps are judged together."""

    @property
    def judged_together(self) -> int:
        return 16


LISTED: list[AnyStep] = [ns.Register(conn="k1", id=one, address=f"a{one}", topics=TOPICS) for one in (0, 1)]


@pytest.mark.parametrize(
    ("behind", "played"),
    [
        ([], 3),
        ([ns.Route(), ns.Topics(), ns.ClusterInfo()], 6),
        ([Time(seconds=30), ns.Route()], 3),
        ([ns.Route(), Time(seconds=30), ns.Route()], 4),
        ([ns.Route(topic="T1")] * 40, 16),
    ],
)
def test_steps_that_are_judged_together_are_judged_alike(behind: list[AnyStep], played: int) -> None:
    """No time passes behind a violation, and what else was played behind it is not judged."""
    target = parse("builtin:5.3?mutant=cluster-lists-lowest-id-only")
    verdicts = []
    for kind, steps in ((TargetContext, 3), (_Together, played)):
        program_run = ProgramRun(kind(target, "5.3"), Names(chance("together")))
        for step in [*LISTED, ns.ClusterInfo(), *behind]:
            program_run.do(step)
        program_run.leave()
        verdicts.append((program_run.violations, program_run.attempt().judged))
        assert len(program_run.steps) == steps
    assert [one.number for one in verdicts[0][0]] == [2]
    assert verdicts[0] == verdicts[1]


def test_a_quirk_explains_nothing_that_was_seen_before_its_step() -> None:
    target = parse("builtin:4.9?mutant=cluster-lists-lowest-id-only")
    program_run = ProgramRun(_Together(target, "4.9"), Names(chance("together")), quirks=KNOWN)
    for step in [
        *LISTED,
        ns.ClusterInfo(),
        ns.Register(conn="k1", cluster="c1", topics=TOPICS),
        Close(conn="k1"),
    ]:
        program_run.do(step)
    program_run.leave()
    assert [one.number for one in program_run.violations] == [2]
    assert program_run.quirk is None


@pytest.mark.parametrize(("after", "known"), [(121, True), (160, False)])
def test_a_lease_that_no_scan_saw_ending_counts_for_quirks(after: int, known: bool) -> None:
    """A name that comes back under another cluster before the scan is under both clusters.

    `quirk.name-stays-in-other-clusters`
    """
    program = [
        ns.Register(conn="k1", topics=TOPICS),
        Time(seconds=after),
        ns.Register(conn="k2", cluster="c1", address="a1", topics=TOPICS),
        ns.ClusterInfo(conn="k3"),
        Close(conn="k2"),
    ]
    assert played(program, known=KNOWN, seeks=False) == (program[:4] if known else program)
