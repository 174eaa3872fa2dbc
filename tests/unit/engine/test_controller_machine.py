"""Programs for controllers: what decides them, what they look at, and what the reference shows."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from harness.catalogue import known_quirks
from harness.cli import main
from harness.engine.context import TargetContext
from harness.engine.controller.kind import ControllerExperiment, ControllerKind
from harness.engine.controller.program_state import ProgramState
from harness.engine.controller.role import CONTROLLER
from harness.engine.controller.strategies.readback import look
from harness.engine.kind import Tried
from harness.engine.kinds import KINDS, Setting
from harness.program.nameserver.controller_steps import (
    AllowUnclean,
    AlterInSync,
    ApplyId,
    CleanReplicas,
    Controllers,
    ControllerSettings,
    Elect,
    NextId,
    RegisterReplica,
    ReplicaBeat,
    ReplicaInfo,
    SyncStateData,
)
from harness.program.step import Close, Restart, Time
from harness.program.steps import AnyStep, decode_step, encode_step
from harness.session import Unsupported
from harness.spec import Violation
from harness.targets import parse
from harness.targets.process import ProcessInstance
from harness.targets.settings import CONTROLLER as PORT_OF_CONTROLLER

SECOND = ApplyId(id=2, address="a2")
SERVED = Path(__file__).parents[2] / "selftest" / "served_mutant.py"


def beat(number: int, lasts: int = 3_600_000, *, epoch: int | None = None) -> ReplicaBeat:
    return ReplicaBeat(conn=f"k{number}", id=number, address=f"a{number}", lasts=lasts, log_epoch=epoch)


TWO: tuple[AnyStep, ...] = (ApplyId(), SECOND, beat(1), beat(2), Elect())
"""Two replicas live, and the first is the master."""
IN_SYNC: tuple[AnyStep, ...] = (*TWO, AlterInSync(ids=(1, 2)))


def context(profile: str, mutant: str = "") -> TargetContext:
    uri = f"builtin:{profile}" + (f"?mutant={mutant}" if mutant else "")
    return TargetContext(parse(uri), profile, role=CONTROLLER)


def violations(program: tuple[AnyStep, ...], mutant: str = "", profile: str = "5.3") -> list[Violation]:
    attempt = ControllerExperiment(context(profile, mutant), "x").attempt(program, fresh=True)
    return list(attempt.violations)


def broken(program: tuple[AnyStep, ...], mutant: str) -> list[str]:
    """The statements that a mutant breaks with a program; the sound reference breaks none."""
    assert violations(program) == []
    return [one.statement for one in violations(program, mutant)]


def played(profile: str, seed: str) -> list[Tried]:
    kind = ControllerKind(context(profile), seed)
    tried = [kind.run(f"{seed}/{number}") for number in range(8)]
    kind.close()
    return tried


@pytest.mark.parametrize("profile", ["5.3", "5.5"])
def test_the_reference_shows_nothing_and_a_seed_decides_its_programs(profile: str) -> None:
    first, again = played(profile, "1"), played(profile, "1")
    assert [one.program for one in first] == [one.program for one in again]
    assert [violation for one in first for violation in one.attempt.violations] == []
    assert played(profile, "2")[1].program != first[1].program


def test_steps_of_controllers_are_lines_of_json() -> None:
    step = AlterInSync(id=2, master_epoch=3, ids=(1, 2), set_epoch=4)
    assert decode_step(encode_step(step)) == step
    assert encode_step(ReplicaInfo()) == '{"do":"replica-info"}'


def test_every_name_is_looked_at_in_the_end() -> None:
    state = ProgramState("5.3")
    for step in (*IN_SYNC, NextId(broker="b1")):
        state.apply(step)
    steps = look(state, moment=0)
    assert SyncStateData(brokers=("b0", "b1")) in steps
    assert {one.broker for one in steps if isinstance(one, ReplicaInfo)} == {"b0", "b1"}
    assert {one.broker for one in steps if isinstance(one, NextId)} == {"b0", "b1"}


def test_the_state_of_a_program_follows_masters() -> None:
    state = ProgramState("5.3")
    for step in (*IN_SYNC, Close(conn="k1")):
        state.apply(step)
    assert (state.names["b0"].master, state.names["b0"].master_epoch) == (2, 2)
    assert state.fallen == {("b0", 1): None}


@pytest.mark.parametrize(
    ("program", "mutant", "statement"),
    [
        ((ApplyId(), ApplyId(start="2")), "id-is-given-to-anyone", "id-belongs-to-who-took-it"),
        ((ApplyId(id=2), NextId()), "name-begins-with-any-id", "first-id-is-one"),
        ((ApplyId(), NextId()), "next-id-is-always-one", "next-id-goes-up"),
        ((ApplyId(), Restart(), ReplicaInfo()), "controller-forgets-at-its-end", "state-survives-a-kill"),
        (
            (ApplyId(), Restart(how="term"), ReplicaInfo()),
            "controller-forgets-at-its-end",
            "state-survives-a-restart",
        ),
        (
            (ApplyId(), RegisterReplica(address="a9"), SyncStateData()),
            "address-stays-for-ever",
            "registration-moves-the-address",
        ),
        ((RegisterReplica(drop=("brokerId",)),), "missing-fields-are-empty", "missing-fields-are-refused"),
        ((*TWO, Elect(id=2)), "living-master-is-replaced", "living-master-stays"),
        ((*TWO, Elect(id=2, designate=True)), "anyone-can-be-designated", "designated-broker-must-be-able"),
        (
            (*IN_SYNC, Close(conn="k1"), Time(seconds=4), ReplicaInfo()),
            "lost-master-stays",
            "lost-master-is-replaced",
        ),
        (
            (*TWO, Close(conn="k1"), Time(seconds=4), ReplicaInfo()),
            "unclean-elections-by-default",
            "brokers-out-of-sync-are-not-elected",
        ),
        (
            (*IN_SYNC, beat(1, 40_000), Time(seconds=60), ReplicaInfo()),
            "expired-master-stays",
            "expired-master-is-replaced",
        ),
        (
            (ApplyId(), beat(1, 40_000), Time(seconds=60), SyncStateData()),
            "heartbeats-count-for-ever",
            "heartbeat-counts-for-its-time",
        ),
        (
            (ApplyId(), beat(1, 40_000), Time(seconds=30), SyncStateData()),
            "heartbeats-count-for-half",
            "heartbeat-counts-for-its-time",
        ),
        (
            (ApplyId(), beat(1), Close(conn="k1"), Time(seconds=4), SyncStateData()),
            "broker-lives-without-connection",
            "end-of-connection-ends-life",
        ),
        (
            (beat(1, 40_000), Time(seconds=60), beat(1)),
            "expired-broker-keeps-its-connection",
            "connection-of-an-expired-broker-is-closed",
        ),
        (
            (ApplyId(), SECOND, ReplicaBeat(cluster="c1"), SyncStateData()),
            "heartbeat-is-of-any-cluster",
            "heartbeat-is-of-one-id-of-one-cluster",
        ),
        (
            (*TWO, AlterInSync(master_epoch=2, ids=(1, 2))),
            "master-epochs-are-not-fenced",
            "other-epochs-are-fenced",
        ),
        ((*TWO, AlterInSync(id=2, ids=(1, 2))), "anyone-alters-the-set", "only-the-master-alters-it"),
        (
            (*TWO, AlterInSync(ids=(1, 14))),
            "unknown-ids-are-in-sync",
            "in-sync-brokers-are-known-and-live",
        ),
        (
            (*TWO, CleanReplicas(ids="2")),
            "living-brokers-are-forgotten",
            "living-broker-is-not-forgotten",
        ),
        ((*TWO, CleanReplicas(living=True)), "force-is-ignored", "name-is-forgotten-by-force"),
        (
            (AllowUnclean(beside="configStorePath"),),
            "protected-settings-are-changed",
            "protected-settings-are-kept",
        ),
        ((AllowUnclean(), ControllerSettings()), "controller-settings-stay", "settings-are-changed"),
        (
            (*TWO, AllowUnclean(), Close(conn="k1"), Time(seconds=4), ReplicaInfo()),
            "elections-are-always-clean",
            "unclean-elections-are-allowed-online",
        ),
        ((Controllers(),), "controller-follows", "metadata-names-the-leader"),
    ],
)
def test_a_mutant_breaks_its_statement(program: tuple[AnyStep, ...], mutant: str, statement: str) -> None:
    assert broken(program, mutant) == [f"ns.controller.{statement}"]


def test_the_longest_log_is_elected() -> None:
    third = ApplyId(id=3, address="a3")
    logs = (beat(1), beat(2, epoch=1), beat(3, epoch=2))
    ends: tuple[AnyStep, ...] = (Close(conn="k1"), Time(seconds=4), ReplicaInfo())
    program = (ApplyId(), SECOND, third, *logs, Elect(), AlterInSync(ids=(1, 2, 3)), *ends)
    assert broken(program, "epochs-are-not-compared") == ["ns.controller.longest-log-is-elected"]


def test_a_request_without_an_answer_may_have_been_carried_out() -> None:
    for lost in (Elect(id=2, oneway=True), Elect(id=2, broken=100_000)):
        program = (ApplyId(), SECOND, beat(1), beat(2), lost, Time(seconds=4), ReplicaInfo(), Elect())
        assert violations(program) == []


def test_a_name_that_forgets_its_master_is_judged_no_more() -> None:
    dead: tuple[AnyStep, ...] = (ApplyId(), SECOND, Elect(), CleanReplicas(ids="1"))
    assert violations((*dead, ReplicaInfo(), SyncStateData(), NextId())) == []


def test_a_heartbeat_about_a_far_end_brings_a_quirk_about() -> None:
    quirks = CONTROLLER.quirks(known_quirks("nameserver", "apache-nameserver@5.3.3"))
    state = ProgramState("5.3")
    found = quirks.about(ReplicaBeat(log_end=1 << 32), state)
    assert [one.id for one in found] == ["quirk.offsets-far-apart-overflow"]
    assert not quirks.about(ReplicaBeat(log_end=1 << 30), state)


# --- targets that have none ---------------------------------------------------------------------------------


def test_the_kind_says_where_there_is_no_controller() -> None:
    for uri, profile, why in (
        ("builtin:4.9", "4.9", "servers of profile 4.9 have no controller"),
        (f"exec:{sys.executable} -c pass {{port}}", "5.3", "{config}"),
    ):
        with pytest.raises(Unsupported, match=why):
            KINDS["nameserver"]["controller"](Setting(target=parse(uri), profile=profile, words="x"))


def test_alone_it_is_refused_and_among_others_left_out(
    capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    words = ["fuzz", "builtin:4.9", "--seed", "1", "--max-examples", "1", "--out", str(tmp_path)]
    assert main([*words, "--kind", "controller"]) == 3
    assert "--kind controller: builtin:4.9: servers of profile 4.9" in capsys.readouterr().err
    assert main(words) in (0, 2)
    assert "controller is left out: servers of profile 4.9 have no controller" in capsys.readouterr().out


# --- what is made of a failure ------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def finding(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of a finding."""
    out = tmp_path_factory.mktemp("fuzz")
    words = ["--kind", "controller", "--seed", "1", "--max-examples", "10", "--out", str(out)]
    assert main(["fuzz", "builtin:5.3?mutant=id-is-given-once-only", *words]) == 1
    folders = (out / "findings").glob("ns.controller.id-belongs-to-who-took-it-*")
    return min(folders, key=lambda one: len((one / "program.jsonl").read_text()))


def test_a_finding_is_small_and_replayed_at_the_controller(
    finding: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert len((finding / "program.jsonl").read_text().splitlines()) <= 1 + 3
    assert main(["replay", str(finding)]) == 0
    assert main(["replay", str(finding), "builtin:5.3"]) == 1
    assert "the failure does not show" in capsys.readouterr().out


@pytest.mark.parametrize(("mutant", "status"), [("id-is-given-once-only", 1), ("none", 0)])
def test_its_script_is_given_the_address_of_the_controller(finding: Path, mutant: str, status: int) -> None:
    target = parse(f"exec:{sys.executable} {SERVED} 5.3 {mutant} {{port}} {{dir}} {{config}}")
    server = target.another(CONTROLLER.setup)
    assert isinstance(server, ProcessInstance)
    try:
        at = f"127.0.0.1:{server.port + PORT_OF_CONTROLLER}"
        script = [sys.executable, "-I", str(finding / "reproduce.py"), at]
        ended = subprocess.run(script, capture_output=True, check=False, timeout=60)
    finally:
        server.stop()
    assert ended.returncode == status, (ended.stdout + ended.stderr).decode()
