"""An exception of the server is its death, and every engine says so with its text."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from harness.cli import main
from harness.engine.context import TargetContext
from harness.engine.frames.experiment import FrameExperiment
from harness.engine.history import HistoryExperiment
from harness.engine.kinds import KINDS, Setting
from harness.engine.peer.experiment import PeerExperiment
from harness.engine.stateful import StatefulExperiment
from harness.findings.experiment import Attempt
from harness.mining.campaign import settings_of
from harness.mining.store import Span
from harness.mining.worker import Order, carry_out
from harness.program.nameserver import steps as ns
from harness.program.step import Close, Time
from harness.program.steps import AnyStep
from harness.targets import parse
from reference_impl.nameserver import Endpoint
from reference_impl.nameserver.routes import RouteTable

FAULTY = "builtin:5.3?mutant=name-outlives-its-addresses"
DEATH = "the target died: KeyError: 'T0'"
PLACES: list[tuple[type, str]] = [
    (Endpoint, "connected"),
    (Endpoint, "received"),
    (Endpoint, "half_closed"),
    (Endpoint, "lost"),
    (Endpoint, "act"),
    (RouteTable, "work"),
]
PROGRAM: list[AnyStep] = [
    ns.Register(topics={"T0": (4, 4, 6, 0)}),
    ns.ClusterInfo(conn="k1"),
    ns.Unregister(),
    Close(conn="k1", how="half"),
    Time(seconds=20),
    Close(),
    Time(seconds=1),
]


def _stateful(program: list[AnyStep]) -> Attempt:
    return StatefulExperiment(TargetContext(parse("builtin:5.3"), "5.3"), "x").attempt(program, fresh=True)


def _history(program: list[AnyStep]) -> Attempt:
    return HistoryExperiment(TargetContext(parse("builtin:5.3"), "5.3"), "x").attempt(program, fresh=True)


def _frames(program: list[AnyStep]) -> Attempt:
    return FrameExperiment(parse("builtin:5.3"), "5.3", levels={}).attempt(program)


def _peers(program: list[AnyStep]) -> Attempt:
    both = (parse("builtin:5.3"), parse("builtin:5.3"))
    return PeerExperiment(both, "5.3", (), "x").attempt(program, fresh=True)


def _stumble(*_: object) -> None:
    raise KeyError("T0")


@pytest.mark.parametrize(("part", "method"), PLACES)
@pytest.mark.parametrize("attempt", [_stateful, _history, _frames, _peers])
def test_an_exception_anywhere_in_the_server_is_its_death(
    attempt: Callable[[list[AnyStep]], Attempt], part: type, method: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(part, method, _stumble)
    died = attempt(PROGRAM)
    assert died.ended == "died"
    assert died.violations[0].actual.endswith(DEATH)


def test_who_dies_of_the_end_of_a_program_has_died(monkeypatch: pytest.MonkeyPatch) -> None:
    """Connections that a program leaves open are closed behind it."""

    monkeypatch.setattr(Endpoint, "lost", _stumble)
    for attempt in (_stateful, _history, _frames, _peers):
        died = attempt([ns.ClusterInfo()])
        assert (died.ended, len(died.violations)) == ("died", 1)
        assert died.violations[0].actual.endswith(DEATH)


@pytest.mark.parametrize(
    ("mutant", "seen"),
    [
        ("checksum-is-zero", "the target died: WireError: the body has the checksum"),
        ("messages-know-no-place", "the target died: StoreError: commitlog"),
        ("accepts-every-request", "too many values at offset 0"),
    ],
)
def test_what_a_broker_dies_of_is_seen(mutant: str, seen: str) -> None:
    target = parse(f"builtin:5.3?mutant={mutant}", "broker")
    kind = KINDS["broker"]["stateful"](Setting(target=target, profile="5.3", role="broker", words="x"))
    played = (kind.run(f"s/{seed}").attempt for seed in range(200))
    assert any(seen in violation.actual for attempt in played for violation in attempt.violations)
    kind.close()


@pytest.mark.parametrize("kind", ["stateful", "history", "frames", "all"])
def test_fuzz_finds_what_a_mutant_dies_of(
    kind: str, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    options = ["--seed", "1", "--max-examples", "20", "--attempts", "5", "--out", str(tmp_path)]
    status = main(["fuzz", FAULTY, "--kind", kind, *options])
    said = "".join(capsys.readouterr())
    assert status == (0 if kind == "frames" else 1)
    assert "internal error" not in said
    if kind in ("stateful", "history"):
        assert "the target died: ValueError: min() arg is an empty sequence" in said


def test_diff_finds_what_a_target_dies_of(
    capsys: pytest.CaptureFixture[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(Endpoint, "half_closed", _stumble)
    monkeypatch.setattr(Endpoint, "lost", _stumble)
    options = ["--seed", "1", "--steps", "60", "--out", str(tmp_path)]
    assert main(["diff", "builtin:5.3", "builtin:5.3", *options]) == 1
    said = "".join(capsys.readouterr())
    assert f"A: {DEATH}" in said or f"B: {DEATH}" in said
    assert "at step" in said and "DIVERGENT, exit 1" in said


def test_diff_ends_well_on_mutants_that_raise(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    options = ["--seed", "1", "--steps", "100", "--out", str(tmp_path)]
    assert main(["diff", "builtin:5.3", FAULTY, *options]) == 1
    assert "internal error" not in "".join(capsys.readouterr())


def test_check_says_in_which_case_the_target_died(
    capsys: pytest.CaptureFixture[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(Endpoint, "lost", _stumble)
    status = main(["check", "builtin:5.3", "--select", "ns.topics", "--out", str(tmp_path)])
    said = "".join(capsys.readouterr())
    assert status != 0
    assert DEATH in said
    assert "ERROR" not in said and "harness error" not in said


def test_a_campaign_counts_deaths(tmp_path: Path) -> None:
    order = Order(
        root=str(tmp_path),
        campaign="c",
        target=FAULTY,
        profile="5.3",
        span=Span("stateful", 0, 19),
        settings=settings_of(chunk=20, shrink=0, attempts=0, deadline=60.0, sample=0, quirks=""),
    )
    outcomes = carry_out(order).tally.outcomes
    assert outcomes["died"] and "error" not in outcomes
