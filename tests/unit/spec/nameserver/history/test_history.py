"""Histories that are linearizable because they were made so are never called wrong; wrong ones are found."""

from __future__ import annotations

import pathlib
import re

import msgspec
import pytest

from harness.engine.nameserver.history_programs import Shape
from harness.program.nameserver.steps import Register
from harness.spec.history.timeline import timeline
from harness.spec.nameserver.history.anomalies import ANOMALIES
from harness.spec.nameserver.history.judge import judge
from harness.spec.nameserver.history.timeline import TEXTS
from harness.spec.observation import Answered

from .concurrent_faults import FAULTS
from .simulated import simulated
from .worked_examples import EXAMPLES

DOCUMENT = pathlib.Path(__file__).parents[5] / "docs" / "reference" / "histories.md"


@pytest.mark.parametrize("profile", ["4.9", "5.3", "5.5"])
@pytest.mark.parametrize("lost", [0.0, 0.1])
def test_linearizable_history_is_not_rejected(profile: str, lost: float) -> None:
    """Also where one answer of ten never comes: its request may have been carried out, or not."""
    judged = 0
    for seed in range(15):
        observed, names = simulated(f"sound-{seed}", profile, lost=lost)
        judgement = judge(observed, profile, names)
        assert judgement.violations == (), f"seed {seed}:\n{judgement.violations}"
        judged += judgement.keys
    assert judged > 30


def test_an_empty_address_in_an_answer_says_as_little_as_none() -> None:
    said = 0
    for seed in range(5):
        observed, names = simulated(f"sound-{seed}", "5.3")
        for place, one in enumerate(observed):
            if isinstance(one.step, Register) and isinstance(one.outcome, Answered):
                command = one.outcome.command
                ext = {"masterAddr": "", "haServerAddr": "", **(command.ext or {})}
                outcome = Answered(msgspec.structs.replace(command, ext=ext), one.outcome.event)
                observed[place] = msgspec.structs.replace(one, outcome=outcome)
                said += ext["masterAddr"] == ""
        assert judge(observed, "5.3", names).violations == ()
    assert said > 10


def test_an_answer_that_no_order_gives_is_no_lost_registration() -> None:
    """A registration could be left out together with a wrong answer to it, and everything else would hold."""
    found: list[tuple[str | None, bool]] = []
    for seed in range(5):
        observed, names = simulated(f"sound-{seed}", "5.3")
        for place, one in reversed(list(enumerate(observed))):
            if (
                isinstance(one.step, Register)
                and isinstance(one.outcome, Answered)
                and one.outcome.command.ext
            ):
                command = msgspec.structs.replace(one.outcome.command, ext={"masterAddr": "10.0.0.9:1"})
                observed[place] = msgspec.structs.replace(one, outcome=Answered(command, one.outcome.event))
                break
        found += [
            (one.anomaly, "without an HA address" in one.actual)
            for one in judge(observed, "5.3", names).violations
        ]
    assert set(found) == {("no order", True)}


@pytest.mark.parametrize("profile", ["4.9", "5.3"])
def test_history_with_leases_is_not_rejected(profile: str) -> None:
    for seed in range(10):
        observed, names = simulated(f"leases-{seed}", profile, shape=Shape(profile=profile, leases=1.0))
        judgement = judge(observed, profile, names)
        assert judgement.violations == (), f"seed {seed}:\n{judgement.violations}"


@pytest.mark.parametrize(
    ("mutant", "anomalies"),
    [
        ("contested-id-has-two-holders", {"split identity"}),
        ("leases-never-end", {"overdue lease"}),
        ("one-end-ends-all-leases", {"premature expiry"}),
        ("unregistration-is-ignored", {"resurrected broker"}),
        ("deletion-is-ignored", {"ghost topic"}),
        ("slave-publishes-topics", {"phantom queue data"}),
        ("equal-version-overwrites-queues", {"stale version accepted"}),
        ("registration-is-not-kept", {"lost registration"}),
        ("delete-is-ignored", {"resurrected pair"}),
        ("kv-keeps-the-first-value", {"lost update of KV"}),
    ],
)
def test_faulty_server_is_found(mutant: str, anomalies: set[str]) -> None:
    found: set[str | None] = set()
    for seed in range(100):
        shape = Shape(profile="5.3", leases=0.5)
        observed, names = simulated(f"faulty-{seed}", "5.3", mutant=mutant, shape=shape, steps=40)
        found |= {violation.anomaly for violation in judge(observed, "5.3", names).violations}
        if found & anomalies:
            break
    assert found & anomalies, f"{mutant}: {found}"


@pytest.mark.parametrize("name", FAULTS)
def test_lost_race_is_found_and_named(name: str) -> None:
    fault, anomalies = FAULTS[name]
    found: set[str | None] = set()
    for seed in range(150):
        observed, names = simulated(f"race-{seed}", "5.3", fault=fault, steps=40)
        found |= {violation.anomaly for violation in judge(observed, "5.3", names).violations}
        if found & anomalies:
            break
    assert found & anomalies, f"{name}: {found}"


def test_document_has_every_anomaly_and_its_example() -> None:
    """With its definition and the very diagram that a violation shows."""
    text = DOCUMENT.read_text()
    for name, anomaly in ANOMALIES.items():
        assert f"### {name}" in text, name
        assert anomaly.text in re.sub(r"\s+", " ", text), f"the definition of {name}"
    for name, example in EXAMPLES.items():
        assert timeline(example.calls, TEXTS) in text, f"{name}:\n{timeline(example.calls, TEXTS)}"
