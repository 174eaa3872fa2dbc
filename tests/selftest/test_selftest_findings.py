"""Findings of real mutants: the script of each shows it against a served mutant, against a sound one not."""

from __future__ import annotations

import functools
import json
import os
import shutil
import subprocess
import sys
import venv
from collections.abc import Iterator, Sequence
from pathlib import Path

import pytest

from harness.catalogue import catalogue
from harness.engine.kinds import KINDS, Setting
from harness.findings.experiment import Finding
from harness.findings.store import FindingStore
from harness.findings.triage import Budget, triage
from harness.program.nameserver import steps as ns
from harness.program.step import Time
from harness.program.steps import AnyStep
from harness.targets import parse
from harness.targets.process import ProcessInstance

HERE = Path(__file__).parent
WARP = 60

TOPICS = {"T0": (4, 4, 6, 0), "T1": (8, 8, 6, 0)}
FAULTS: dict[str, tuple[AnyStep, ...]] = {
    "topics-outlive-their-broker": (
        ns.Register(topics=TOPICS, form="compressed-5"),
        ns.Register(broker="b1", address="a10", conn="k1", binary=True, cuts=(5, 60)),
        ns.ClusterInfo(),
        ns.Unregister(),
        ns.Route(),
        ns.Topics(),
    ),
    "leases-never-end": (
        ns.Register(conn="k0", topics=TOPICS),
        Time(seconds=80),
        Time(seconds=60),
        ns.Route(),
        ns.ClusterInfo(),
    ),
    "wipe-is-ignored": (ns.Register(topics=TOPICS), ns.Route(), ns.Permission(), ns.Route()),
}


@pytest.fixture(scope="module", params=sorted(FAULTS))
def finding(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> tuple[str, Path]:
    """A finding of a mutant: its name and the folder."""
    mutant: str = request.param
    target = parse(f"builtin:5.3?mutant={mutant}")
    kind = KINDS["nameserver"]["stateful"](Setting(target=target, profile="5.3", words="1"))
    program = FAULTS[mutant]
    attempt = kind.experiment.attempt(program, fresh=True)
    assert attempt.violations, f"{mutant} is not noticed"
    statements = {one.id: one for one in catalogue().statements}
    store = FindingStore(tmp_path_factory.mktemp("out"), statements=statements)
    found = triage(kind.experiment, program, attempt, store, Budget(now=lambda: 0.0))
    assert isinstance(found, Finding)
    assert found.directory is not None
    return mutant, Path(found.directory)


@pytest.fixture(scope="module")
def python(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Python in an environment that holds nothing at all."""
    directory = tmp_path_factory.mktemp("empty")
    venv.create(directory, with_pip=False)
    return directory / "bin" / "python"


def uri(mutant: str) -> str:
    return f"exec:{sys.executable} {HERE / 'served_mutant.py'} 5.3 {mutant} {{port}} {{dir}}?warp={WARP}"


@pytest.fixture(scope="module")
def sound(faketime: None) -> Iterator[ProcessInstance]:
    instance = parse(uri("none")).start()
    assert isinstance(instance, ProcessInstance)
    yield instance
    instance.stop()


@pytest.fixture
def broken(finding: tuple[str, Path], faketime: None) -> Iterator[ProcessInstance]:
    instance = parse(uri(finding[0])).start()
    assert isinstance(instance, ProcessInstance)
    yield instance
    instance.stop()


def script(python: Path, folder: Path, *words: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [str(python), "-I", "-S", str(folder / "reproduce.py"), *words],
        cwd="/",
        env={},
        capture_output=True,
        text=True,
        check=False,
        timeout=300,
    )


def test_the_script_shows_it_again_and_again(
    finding: tuple[str, Path], python: Path, broken: ProcessInstance
) -> None:
    for _ in range(2):
        ended = script(python, finding[1], f"127.0.0.1:{broken.port}", "--speed", str(WARP))
        assert ended.returncode == 1, ended.stdout + ended.stderr
        assert ended.stdout.endswith("\nREPRODUCED\n")
        assert ended.stdout.count("<- decisive") == 1


def test_the_script_does_not_blame_a_sound_server(
    finding: tuple[str, Path], python: Path, sound: ProcessInstance
) -> None:
    ended = script(python, finding[1], f"127.0.0.1:{sound.port}", "--speed", str(WARP))
    assert ended.returncode == 0, ended.stdout + ended.stderr
    assert ended.stdout.endswith("\nNOT REPRODUCED\n")


def test_the_script_says_what_is_wrong_with_its_call(finding: tuple[str, Path], python: Path) -> None:
    assert script(python, finding[1], "127.0.0.1:1").returncode == 4
    for words in ((), ("nowhere",), ("127.0.0.1:1", "--speed", "0"), ("127.0.0.1:1", "--fast")):
        assert script(python, finding[1], *words).returncode == 3, words


@pytest.mark.usefixtures("faketime")
def test_replay_shows_it_on_the_one_and_not_on_the_other(finding: tuple[str, Path]) -> None:
    replay = functools.partial(rmq, "--json", str(finding[1]))
    same, other = replay(uri(finding[0])), replay(uri("none"))
    assert same.returncode == 0, same.stderr
    assert other.returncode == 1, other.stderr
    assert json.loads(same.stdout)["shows"]
    assert not json.loads(other.stdout)["shows"]


def rmq(*words: str) -> subprocess.CompletedProcess[str]:
    program = "import sys; from harness.cli import main; sys.exit(main())"
    return subprocess.run(
        [sys.executable, "-c", program, "replay", *words],
        env={**os.environ, "PYTHONPATH": str(HERE.parents[1])},
        capture_output=True,
        text=True,
        check=False,
        timeout=300,
    )


def tshark(*words: str) -> Sequence[str]:
    ended = subprocess.run(["tshark", *words], capture_output=True, text=True, check=True, timeout=120)
    return ended.stdout.splitlines()


@pytest.mark.skipif(
    shutil.which("tshark") is None, reason="tshark is not installed (Debian: apt install tshark)"
)
def test_the_capture_opens_in_wireshark(finding: tuple[str, Path]) -> None:
    capture = str(finding[1] / "finding.pcap")
    flags = tshark("-r", capture, "-T", "fields", "-e", "tcp.stream", "-e", "tcp.len", "-e", "_ws.malformed")
    assert len(flags) > 5
    assert not any(line.split("\t")[2] for line in flags)
    assert not tshark("-r", capture, "-Y", "tcp.analysis.lost_segment or tcp.checksum.status == 0")
