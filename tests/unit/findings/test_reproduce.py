"""`reproduce.py` on servers that write the same in other words, with the bug and without it."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from respelling import Respell, Respelling, bare_numbers, other_json, other_words, untouched

from harness.catalogue import catalogue
from harness.engine.context import TargetContext
from harness.engine.stateful import StatefulExperiment
from harness.findings.experiment import Finding
from harness.findings.store import FindingStore
from harness.findings.triage import Budget, triage
from harness.program.nameserver.steps import ClusterInfo, Kv, Permission, Register, Route, Topics, Unregister
from harness.program.step import Time
from harness.program.steps import AnyStep
from harness.targets import parse
from harness.targets.process import ProcessInstance

_TOPICS = {"T0": (4, 4, 6, 0), "Té\\": (8, 8, 6, 0)}
_REGISTERED = Register(broker="bé\\", address="a30", topics=_TOPICS, state=0)
_SLAVE = Register(broker="bé\\", address="a31", id=1, topics=_TOPICS, state=0)
_OTHER = Register(broker="b1", address="a10", topics=_TOPICS, state=0)
BUGS: dict[str, tuple[AnyStep, ...]] = {
    "wipe-sets-four": (
        Register(broker="bé\\", address="a30", topics={**_TOPICS, "T0": (4, 4, 7, 0)}, state=0),
        Permission(broker="bé\\"),
        Route(topic="T0"),
    ),
    "unregistration-is-ignored": (
        _REGISTERED,
        Unregister(broker="bé\\", address="a30"),
        Time(seconds=3),
        ClusterInfo(),
    ),
    "unknown-broker-is-an-error": (Unregister(broker="bé\\", address="a30"),),
    "kv-values-are-ascii": (Kv(code=100, key="é", value="é☃"), Kv(code=101, key="é")),
    "kv-not-found-has-no-remark": (Kv(code=101, namespace="n7", key="é"),),
    "unknown-topic-is-a-failure": (Route(topic="Té\\"),),
    "topic-list-repeats-topics": (_REGISTERED, _OTHER, Topics()),
    "route-lists-lowest-id-only": (_REGISTERED, _SLAVE, Route(topic="Té\\")),
}
HAVE_IT: dict[str, Respell] = {
    "as it is": untouched,
    "other JSON": other_json,
    "bare numbers": bare_numbers,
    "other words": other_words,
}
SERVE = f"exec:{sys.executable} {Path(__file__).parents[2] / 'selftest' / 'served_mutant.py'} 5.3 {{mutant}} "


@pytest.fixture(scope="module", params=BUGS)
def bug(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> tuple[str, Path]:
    """A mutant, and the script of the finding that it gives."""
    store = FindingStore(
        tmp_path_factory.mktemp("out"), statements={one.id: one for one in catalogue().statements}
    )
    context = TargetContext(parse(f"builtin:5.3?mutant={request.param}"), "5.3")
    experiment = StatefulExperiment(context, request.param)
    attempt = experiment.attempt(BUGS[request.param], fresh=True)
    assert attempt.violations, f"{request.param} does not show"
    found = triage(experiment, BUGS[request.param], attempt, store, Budget(now=lambda: 0.0, attempts=0))
    assert isinstance(found, Finding)
    return request.param, Path(found.directory or "") / "reproduce.py"


@pytest.fixture(scope="module")
def sound() -> Iterator[int]:
    yield from _served("none")


@pytest.fixture(scope="module")
def faulty(bug: tuple[str, Path]) -> Iterator[int]:
    yield from _served(bug[0])


def _served(mutant: str) -> Iterator[int]:
    server = parse(SERVE.replace("{mutant}", mutant) + "{port} {dir}").start()
    assert isinstance(server, ProcessInstance)
    try:
        yield server.port
    finally:
        server.stop()


def _reproduced(script: Path, port: int, respell: Respell) -> tuple[int, str]:
    between = Respelling(port, respell)
    try:
        ended = subprocess.run(
            [sys.executable, "-I", str(script), f"127.0.0.1:{between.port}"],
            capture_output=True,
            check=False,
            timeout=60,
        )
    finally:
        between.close()
    return ended.returncode, (ended.stdout + ended.stderr).decode("utf-8", "replace")


@pytest.mark.parametrize("variant", HAVE_IT)
def test_it_shows_on_a_server_that_has_the_bug(bug: tuple[str, Path], faulty: int, variant: str) -> None:
    if bug[0] == "kv-not-found-has-no-remark" and variant == "other words":
        pytest.skip("this bug is a remark, and the variant makes remarks of its own")
    status, said = _reproduced(bug[1], faulty, HAVE_IT[variant])
    assert status == 1, said
    assert said.rstrip().endswith("\nREPRODUCED")


@pytest.mark.parametrize("variant", HAVE_IT)
def test_it_does_not_show_on_a_server_without_it(bug: tuple[str, Path], sound: int, variant: str) -> None:
    if bug[0] == "kv-not-found-has-no-remark" and variant == "other words":
        pytest.skip("this bug is a remark, and the variant makes remarks of its own")
    status, said = _reproduced(bug[1], sound, HAVE_IT[variant])
    assert status == 0, said
    assert said.rstrip().endswith("NOT REPRODUCED")
