"""`fuzz`: how a run ends, what is kept of it, and what its exit status says."""

from __future__ import annotations

import re
import socket
from collections.abc import Callable
from pathlib import Path
from typing import Any

import msgspec
import pytest

from harness.cli import main
from harness.engine.context import TargetContext
from harness.engine.fuzzing import Fuzzing, Limits, Progress, Record
from harness.engine.kind import Kind, Program, Seed, Tried
from harness.engine.stateful import StatefulExperiment
from harness.findings.experiment import Attempt
from harness.findings.store import FindingStore
from harness.findings.triage import Budget
from harness.program.nameserver.steps import Route
from harness.spec import Violation
from harness.targets import TargetError, parse
from harness.trace import Header, Trace

MUTANT = "builtin:5.3?mutant=leases-never-end"


def fuzz(capsys: pytest.CaptureFixture[str], *words: str) -> tuple[int, dict[str, Any]]:
    status = main(["fuzz", *words, "--json"])
    said = capsys.readouterr()
    return status, msgspec.json.decode(said.out) if said.out.strip() else {"error": said.err}


def test_a_mutant_is_found_and_kept(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    out = tmp_path / "out"
    status, answer = fuzz(
        capsys, MUTANT, "--kind", "stateful", "--seed", "1", "--max-examples", "60", "--out", str(out)
    )
    assert (status, answer["conclusion"]) == (1, "FINDINGS")
    assert answer["findings"][0]["confirmed"] == "3 of 3"
    assert answer["findings"][0]["also_fails"][0].startswith("ns.lease.")
    assert (Path(answer["findings"][0]["directory"]) / "program.jsonl").exists()
    page = (out / "report.html").read_text(encoding="utf-8")
    linked = re.findall(r'href="(findings/[^"]+)"', page)
    assert len(linked) == len(answer["findings"])
    assert all((out / one).is_file() for one in linked)


def test_missed_goals_are_inconclusive(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    status, answer = fuzz(
        capsys,
        "builtin:5.3",
        "--kind",
        "stateful",
        "--seed",
        "1",
        "--max-examples",
        "1",
        "--out",
        str(tmp_path),
    )
    assert status == 2
    assert "goals" in answer["why"]


def test_a_run_goes_on_where_it_ended(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    words = [
        "builtin:5.3",
        "--kind",
        "stateful",
        "--seed",
        "1",
        "--max-examples",
        "3",
        "--out",
        str(tmp_path),
    ]
    _, first = fuzz(capsys, *words)
    _, second = fuzz(capsys, *words, "--resume")
    assert second["programs"] == first["programs"] + 3
    assert second["kinds"][0]["batches"] == 2
    status, answer = fuzz(capsys, *words[:4], "2", *words[5:], "--resume")
    assert status == 3
    assert "it is of seed 1, not 2" in answer["error"]


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["tcp://192.0.2.1:9876", "--max-time", "1"], "--allow-remote"),
        (["builtin:5.3", "--kind", "statefull", "--max-time", "1"], "did you mean stateful"),
        (["builtin:5.3"], "--max-time 10m, or --max-examples 1000"),
        (["builtin:5.3", "--profile", "5.4", "--max-time", "1"], "no such profile"),
        (["builtin:5.3", "--profile", "4.9", "--max-time", "1"], "say builtin:4.9"),
    ],
)
def test_mistakes_are_reported(words: list[str], said: str, capsys: pytest.CaptureFixture[str]) -> None:
    status, answer = fuzz(capsys, *words)
    assert status == 3
    assert said in answer["error"]


class Scripted(Kind):
    """A kind whose programs end as the test says."""

    name = "scripted"

    def __init__(self, attempts: list[Attempt | BaseException]) -> None:
        super().__init__()
        self.experiment = StatefulExperiment(TargetContext(parse("builtin:5.3"), "5.3"), "x")
        self._attempts = iter(attempts)
        self.goals["seen"] = 1

    def program(self, seed: Seed) -> Program:
        return (Route(),)

    def run(self, seed: Seed) -> Tried:
        attempt = next(self._attempts)
        if isinstance(attempt, BaseException):
            raise attempt
        return Tried(program=self.program(seed), attempt=attempt)

    def close(self) -> None:
        return


VIOLATION = Violation(invariant="i", statement="s", expected="e", actual="a", number=0)


def attempt(*, ended: Any = "whole", violations: tuple[Violation, ...] = ()) -> Attempt:
    return Attempt(violations=violations, trace=Trace(Header(), ()), ended=ended, stepped=1)


def run(
    attempts: list[Attempt | BaseException],
    out: Path,
    programs: int = 5,
    heard: Callable[[Progress], None] = lambda _: None,
) -> tuple[str, Fuzzing, FindingStore]:
    store = FindingStore(out)
    fuzzing = Fuzzing(
        [Scripted(attempts)],
        Record(target="builtin:5.3", profile="5.3", seed="1", kinds=[]),
        store,
        Budget(now=lambda: 0.0),
        Limits(now=lambda: 0.0, programs=programs),
        out=out,
        heard=heard,
    )
    return fuzzing.run(), fuzzing, store


def test_a_finding_at_the_end_gets_a_tenth_of_the_time_more(tmp_path: Path) -> None:
    budget = Budget(now=lambda: 7.0)
    for seconds, until in ((None, None), (60.0, 73.0), (600.0, 667.0), (10.0, 22.0), (6000.0, 6067.0)):
        limits = Limits(now=lambda: 7.0, seconds=seconds, programs=1)
        record = Record(target="builtin:5.3", profile="5.3", seed="1", kinds=[])
        fuzzing = Fuzzing([], record, FindingStore(None), budget, limits)
        assert fuzzing._budget.until == until


class Lasting(Scripted):
    """A kind each of whose programs takes the same time of a clock that the test reads."""

    def __init__(self, name: str, clock: list[float], seconds: float) -> None:
        super().__init__([])
        self.name = name
        self._clock, self._seconds = clock, seconds

    def run(self, seed: Seed) -> Tried:
        self._clock[0] += self._seconds
        return Tried(program=self.program(seed), attempt=attempt())


@pytest.mark.parametrize(
    ("limit", "slow", "quick"),
    [({"seconds": 300.0}, 5, 150), ({"programs": 40}, 20, 20)],
    ids=["seconds", "programs"],
)
def test_kinds_share_what_the_run_is_limited_by(limit: dict[str, Any], slow: int, quick: int) -> None:
    clock = [0.0]
    kinds = [Lasting("slow", clock, 30.0), Lasting("quick", clock, 1.0)]
    record = Record(target="builtin:5.3", profile="5.3", seed="1", kinds=[])
    limits = Limits(now=lambda: clock[0], **limit)
    assert Fuzzing(kinds, record, FindingStore(None), Budget(now=lambda: 0.0), limits).run() == "done"
    assert [kind.programs for kind in record.kinds] == [slow, quick]


def test_an_interrupt_keeps_what_was_found(tmp_path: Path) -> None:
    ending, fuzzing, store = run([attempt(violations=(VIOLATION,)), KeyboardInterrupt()], tmp_path)
    assert ending == "interrupted"
    assert len(store.flaky) == 1  # it does not show again
    assert msgspec.json.decode((tmp_path / "fuzz.json").read_bytes(), type=Record).programs == 1
    assert fuzzing.record.programs == 1


def test_what_was_flaky_too_often_is_not_tried_again_and_that_is_said(tmp_path: Path) -> None:
    said: list[str] = []
    seen: list[Attempt | BaseException] = [attempt(violations=(VIOLATION,)) for _ in range(12)]
    run(seen, tmp_path, programs=12, heard=lambda one: said.append(str(one)))
    assert any("times, flaky" in one for one in said)
    assert any("flaky before, not tried again" in one for one in said)
    assert not any("0 of 0" in one for one in said)


def test_a_machine_that_is_too_slow_ends_the_run(tmp_path: Path) -> None:
    ending, fuzzing, _ = run([attempt(ended="late")] * 50, tmp_path, programs=1000)
    assert ending == "done"
    assert fuzzing.record.kinds[0].late == fuzzing.record.programs == 20


def test_a_server_that_does_not_start_in_the_midst_is_said_as_such(tmp_path: Path) -> None:
    problem = TargetError(expected="a server", got="none", do="start it")
    ending, fuzzing, _ = run([attempt(), problem], tmp_path)
    assert ending == "died"
    assert fuzzing.death == str(problem)
    assert fuzzing.record.programs == 1


def test_a_target_that_was_never_there_has_not_died(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken, socket.create_server(("127.0.0.1", 0)) as broker:
        addresses = ["{}:{}".format(*one.getsockname()) for one in (broker, taken)]
        status, answer = fuzz(
            capsys,
            *(f"tcp://{addresses[0]}", "--role", "broker", "--nameserver", addresses[1]),
            *("--max-examples", "1", "--out", str(tmp_path)),
        )
    assert status == 4
    assert f"to listen at {addresses[1]} as the Broker's NameServer" in answer["error"]
    assert not list(tmp_path.iterdir())


def test_a_full_disk_loses_nothing_that_can_be_printed(tmp_path: Path) -> None:
    blocked = tmp_path / "file"
    blocked.write_text("no directory")
    ending, fuzzing, store = run([attempt()] * 5, blocked / "out")
    assert ending == "done"
    assert fuzzing.trouble or store.trouble
    assert fuzzing.record.programs == 5
