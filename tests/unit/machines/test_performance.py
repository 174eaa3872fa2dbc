"""What is played of a program, on targets that are known for quirks and on others."""

from __future__ import annotations

from collections.abc import Iterable

import pytest

from harness.differential.quirks import applying, quirks
from harness.findings.experiment import Ended
from harness.machines.known import Quirks
from harness.machines.performance import Performance
from harness.machines.picture import Picture
from harness.machines.player import Player
from harness.machines.proofs import PROOFS, proven
from harness.machines.stage import Stage
from harness.program.chance import chance
from harness.program.frames import Names
from harness.program.steps import (
    AnyStep,
    Close,
    ClusterInfo,
    Configure,
    Kv,
    Reconnect,
    Register,
    Route,
    Time,
    Topics,
    Unregister,
)
from harness.session import TooLate
from harness.targets import Nature, parse

KNOWN = Quirks(applying(quirks(), "4.9", ["apache"]))
TOPICS = {"T0": (4, 4, 6, 0), "T1": (4, 4, 6, 0)}
ONE_WAY = Register(conn="k1", oneway=True, topics=TOPICS)
ENDS: list[AnyStep] = [Close(conn="k1", how="half"), ClusterInfo(conn="k1", broken=4)]


def played(program: list[AnyStep], *, known: Quirks | None, seeks: bool) -> list[AnyStep]:
    stage = Stage(parse("builtin:4.9"), "4.9")
    performance = Performance(stage, Names(chance("performance")), quirks=known, seeks=seeks)
    for step in program:
        performance.do(step)
    performance.leave()
    stage.close()
    return performance.steps


@pytest.mark.parametrize("ends", ENDS)
def test_a_connection_does_not_end_right_behind_a_request_without_answer(ends: AnyStep) -> None:
    program = [ONE_WAY, ClusterInfo(), ends]
    assert played(program, known=KNOWN, seeks=False) == [ONE_WAY, ClusterInfo()]
    assert played(program, known=KNOWN, seeks=True) == program
    assert played(program, known=None, seeks=False) == program


@pytest.mark.parametrize("ends", ENDS)
def test_it_ends_when_something_behind_it_was_answered(ends: AnyStep) -> None:
    program = [ONE_WAY, ClusterInfo(conn="k1"), ends]
    assert played(program, known=KNOWN, seeks=False) == program


@pytest.mark.parametrize("ends", [*ENDS, Reconnect(conn="k1", old="k1")])
def test_a_connection_that_a_step_brings_to_its_end_is_an_end_to_quirks_too(ends: AnyStep) -> None:
    """A name under two clusters: quirk `cluster-entry-stays`."""
    program = [
        Register(conn="k1", topics=TOPICS),
        Register(conn="k1", cluster="c1", topics=TOPICS),
        ClusterInfo(conn="k1"),
        ends,
    ]
    assert played(program, known=KNOWN, seeks=False) == program[:3]
    assert played(program, known=KNOWN, seeks=True) == program


class Running(Stage):
    """Time is said to be real."""

    nature = Nature(scheme="exec", starts="soon", warp=20.0)


@pytest.mark.parametrize(
    "program",
    [
        [Register(topics=TOPICS, mappings={"T0": ("b0", 1)}, lease=20_000)],
        [Register(topics=TOPICS, mappings={"T0": ("b0", 1)}), Register(topics=TOPICS, lease=20_000)],
    ],
)
def test_a_short_lease_may_end_within_any_program(program: list[AnyStep]) -> None:
    """Quirk `mapping-stays`."""
    known = Quirks(applying(quirks(), "5.3", ["apache"]))
    performance = Performance(
        Stage(parse("builtin:5.3"), "5.3"), Names(chance("performance")), quirks=known, seeks=False
    )
    for step in program:
        performance.do(step)
    performance.leave()
    assert performance.steps == program[:-1]


@pytest.mark.parametrize(("stage", "plays"), [(Stage, True), (Running, False)])
def test_where_time_is_real_a_lease_may_end_a_little_earlier(stage: type[Stage], plays: bool) -> None:
    """Quirk `mapping-stays`."""
    known = Quirks(applying(quirks(), "5.3", ["apache"]))
    mapped = Register(topics=TOPICS, mappings={"T0": ("b0", 1)})
    on = stage(parse("builtin:5.3"), "5.3")
    performance = Performance(on, Names(chance("performance")), quirks=known, seeks=False)
    for step in (mapped, Time(seconds=100)):
        performance.do(step)
    assert performance.steps == ([mapped, Time(seconds=100)] if plays else [mapped])


class Left(Stage):
    """Keeps what is to be taken back."""

    def leave(self, player: Player, picture: Picture, *, ended: Ended, well: bool) -> None:
        self.settings, self.pairs = picture.settings(), list(picture.pairs)
        super().leave(player, picture, ended=ended, well=well)


def test_what_was_played_is_taken_back_and_not_what_was_left_out() -> None:
    """Behind a violation steps are not played: a server would have kept what they seemed to take back."""
    stage = Left(parse("builtin:5.3?mutant=kv-keeps-the-first-value"), "5.3")
    performance = Performance(stage, Names(chance("performance")))
    setting = "deleteTopicWithBrokerRegistration"
    for step in (
        Configure(lines=(f"{setting}=true",)),
        Kv(code=100, key="x"),
        Kv(code=100, key="x", value="w"),
        Kv(code=101, key="x"),
        Configure(lines=(f"{setting}=false",)),
        Kv(code=102, key="x"),
    ):
        performance.do(step)
    performance.leave()
    assert performance.violations
    assert stage.settings == [(0, setting)]
    assert stage.pairs == [(0, "n0", "x", None)]


@pytest.mark.parametrize("broken", [100_000, 4])
def test_a_pair_that_may_have_been_put_is_taken_back(broken: int) -> None:
    picture = Picture(five=True)
    picture.apply(Kv(code=100, key="x", broken=broken))
    picture.apply(Kv(code=102, key="x", broken=broken))
    assert list(picture.pairs) == [(0, "n0", "x", None)]


def test_each_quirk_that_comes_and_goes_can_be_proven() -> None:
    assert {quirk.id for quirk in quirks() if quirk.passing} == set(PROOFS)


def test_a_scan_that_has_died_is_proven_on_the_server_that_showed_it() -> None:
    stage = Stage(parse("builtin:4.9?mutant=leases-never-end"), "4.9")
    performance = Performance(stage, Names(chance("proof")), quirks=KNOWN)
    for step in [Register(conn="k1", topics=TOPICS), Time(seconds=145), ClusterInfo(conn="k2")]:
        performance.do(step)
    performance.leave()
    assert [one.statement for one in performance.violations] == ["ns.lease.expired-broker-is-removed"]
    assert performance.quirk == "expiry-scan-ends"


def test_what_follows_from_a_scan_that_has_died_is_explained_by_it() -> None:
    """The name registers again, so that nothing says of it that its lease has ended."""
    stage = Stage(parse("builtin:4.9?mutant=leases-never-end"), "4.9")
    performance = Performance(stage, Names(chance("proof")), quirks=KNOWN)
    for step in [
        Register(conn="k1", id=1, address="a1", topics=TOPICS),
        Time(seconds=145),
        Register(conn="k2", topics=TOPICS),
        ClusterInfo(conn="k3"),
    ]:
        performance.do(step)
    performance.leave()
    assert [one.statement for one in performance.violations] != ["ns.lease.expired-broker-is-removed"]
    assert performance.quirk == "expiry-scan-ends"


def test_a_proof_that_comes_too_late_proves_nothing_and_accuses_nobody(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def late(player: Player, servers: int, quirks: Iterable[str]) -> str | None:
        raise TooLate("this machine is too slow")

    monkeypatch.setattr("harness.machines.performance.proven", late)
    stage = Stage(parse("builtin:4.9?mutant=leases-never-end"), "4.9")
    performance = Performance(stage, Names(chance("proof")), quirks=KNOWN)
    for step in [Register(conn="k1", topics=TOPICS), Time(seconds=145), ClusterInfo(conn="k2")]:
        performance.do(step)
    performance.leave()
    assert performance.attempt().ended == "late"
    assert not performance.attempt().violations


@pytest.mark.parametrize("leaves", [Unregister(conn="k1"), Close(conn="k1")])
def test_a_name_that_has_just_left_may_still_be_in_its_cluster(leaves: AnyStep) -> None:
    """Quirk `cluster-entry-stays`: departures and one-way requests are carried out at some later moment."""
    again = Register(conn="k2", cluster="c1", topics=TOPICS)
    program = [
        Register(conn="k1", oneway=True, topics=TOPICS),
        ClusterInfo(conn="k1"),
        leaves,
        again,
        Unregister(conn="k2", cluster="c1"),
    ]
    assert played(program, known=KNOWN, seeks=False) == program[:-1]
    later = [*program[:3], Time(seconds=60), *program[3:]]
    assert played(later, known=KNOWN, seeks=False) == later


def test_an_address_whose_lease_has_just_ended_may_still_hold_its_id() -> None:
    """Quirk `replaced-address-lives-on`: no scan may have seen it."""
    stage = Stage(parse("builtin:5.3"), "5.3")
    known = Quirks(applying(quirks(), "5.3", ["apache"]))
    performance = Performance(stage, Names(chance("performance")), quirks=known, seeks=False)
    program = [Register(topics=TOPICS), Time(seconds=122), Register(address="a1", topics=TOPICS)]
    for step in program:
        performance.do(step)
    performance.leave()
    assert performance.steps == program[:2]


@pytest.mark.parametrize(
    ("steps", "known"), [(0, True), (10, True), (30, False)], ids=["at once", "soon", "later"]
)
def test_an_address_that_has_just_left_may_still_hold_its_id(steps: int, known: bool) -> None:
    """Quirk `replaced-address-lives-on`: the end of a connection is noticed at some later moment."""
    stage = Stage(parse("builtin:5.3"), "5.3")
    quirk = Quirks(applying(quirks(), "5.3", ["apache"]))
    performance = Performance(stage, Names(chance("performance")), quirks=quirk, seeks=False)
    program: list[AnyStep] = [
        Register(conn="k0", topics=TOPICS),
        Register(conn="k1", id=1, address="a1", topics=TOPICS),
        Close(conn="k0", how="reset"),
        *[Topics()] * steps,
        Register(conn="k1", address="a1", topics=TOPICS),
    ]
    for step in program:
        performance.do(step)
    performance.leave()
    assert performance.steps == (program[:-1] if known else program)


def test_a_master_that_has_just_left_may_still_be_listed_beside_a_promoted_slave() -> None:
    """Quirk `promoted-slave-publishes-nothing`: with the data version that it had as a slave."""
    program: list[AnyStep] = [
        Register(conn="k0", topics=TOPICS),
        Register(conn="k1", id=1, address="a1", topics=TOPICS),
        Close(conn="k0", how="reset"),
        Register(conn="k1", address="a1", topics=TOPICS),
    ]
    assert played(program, known=KNOWN, seeks=False) == program[:-1]


def test_a_short_lease_may_end_unseen_under_two_clusters() -> None:
    """Quirk `cluster-entry-stays`: the record under the first cluster ends while others look."""
    stage = Stage(parse("builtin:5.3"), "5.3")
    known = Quirks(applying(quirks(), "5.3", ["apache"]))
    performance = Performance(stage, Names(chance("performance")), quirks=known, seeks=False)
    program = [Register(cluster="c1", topics=TOPICS, lease=20_000), Register(topics=TOPICS)]
    for step in program:
        performance.do(step)
    performance.leave()
    assert performance.steps == program[:1]


@pytest.mark.parametrize(("lease", "broken"), [(None, 100_000), (20_000, None)])
def test_a_registration_may_find_that_its_broker_has_left(lease: int | None, broken: int | None) -> None:
    """Quirk `refused-registration-leaves-traces`: its connection ends behind it, or its lease is short."""
    stage = Stage(parse("builtin:5.3"), "5.3")
    known = Quirks(applying(quirks(), "5.3", ["apache"]))
    one_topic = Register(topics={"T0": (4, 4, 6, 0)}, lease=lease, broken=broken)
    program: list[AnyStep] = [Register(topics=TOPICS, lease=lease), one_topic]
    performance = Performance(stage, Names(chance("performance")), quirks=known, seeks=False)
    for step in program:
        performance.do(step)
    performance.leave()
    assert performance.steps == program[:1]


def test_a_scan_that_goes_on_is_no_quirk() -> None:
    stage = Stage(parse("builtin:4.9"), "4.9")
    player, *_ = stage.player(1, Names(chance("proof")), fresh=True, case="proof")
    assert proven(player, 1, ["expiry-scan-ends"]) is None
    player.close()
    stage.close()


class _Together(Stage):
    """Where many steps are judged together."""

    @property
    def judged_together(self) -> int:
        return 16


LISTED: list[AnyStep] = [Register(conn="k1", id=one, address=f"a{one}", topics=TOPICS) for one in (0, 1)]


@pytest.mark.parametrize(
    ("behind", "played"),
    [
        ([], 3),
        ([Route(), Topics(), ClusterInfo()], 6),
        ([Time(seconds=30), Route()], 3),
        ([Route(), Time(seconds=30), Route()], 4),
        ([Route(topic="T1")] * 40, 16),
    ],
)
def test_steps_that_are_judged_together_are_judged_alike(behind: list[AnyStep], played: int) -> None:
    """No time passes behind a violation, and what else was played behind it is not judged."""
    target = parse("builtin:5.3?mutant=cluster-lists-lowest-id-only")
    verdicts = []
    for kind, steps in ((Stage, 3), (_Together, played)):
        performance = Performance(kind(target, "5.3"), Names(chance("together")))
        for step in [*LISTED, ClusterInfo(), *behind]:
            performance.do(step)
        performance.leave()
        verdicts.append((performance.violations, performance.attempt().judged))
        assert len(performance.steps) == steps
    assert [one.number for one in verdicts[0][0]] == [2]
    assert verdicts[0] == verdicts[1]


def test_a_quirk_explains_nothing_that_was_seen_before_its_step() -> None:
    target = parse("builtin:4.9?mutant=cluster-lists-lowest-id-only")
    performance = Performance(_Together(target, "4.9"), Names(chance("together")), quirks=KNOWN)
    for step in [*LISTED, ClusterInfo(), Register(conn="k1", cluster="c1", topics=TOPICS), Close(conn="k1")]:
        performance.do(step)
    performance.leave()
    assert [one.number for one in performance.violations] == [2]
    assert performance.quirk is None


@pytest.mark.parametrize(("after", "known"), [(121, True), (160, False)])
def test_a_lease_that_no_scan_saw_ending_counts_for_quirks(after: int, known: bool) -> None:
    """A name that comes back under another cluster before the scan is under both: `cluster-entry-stays`."""
    program = [
        Register(conn="k1", topics=TOPICS),
        Time(seconds=after),
        Register(conn="k2", cluster="c1", address="a1", topics=TOPICS),
        ClusterInfo(conn="k3"),
        Close(conn="k2"),
    ]
    assert played(program, known=KNOWN, seeks=False) == (program[:4] if known else program)
