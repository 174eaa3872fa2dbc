"""Each anomaly of a queue or of an offset has its name, and the document says what it is."""

from __future__ import annotations

import pathlib
import re

import pytest

from harness.spec.broker.history.anomalies import ANOMALIES, NAMING
from harness.spec.broker.history.timeline import TEXTS
from harness.spec.history.naming import NONE
from harness.spec.history.timeline import timeline
from harness.spec.linear import search

from .worked_examples import EXAMPLES

DOCUMENTS = pathlib.Path(__file__).parents[5] / "docs" / "reference"


def test_every_anomaly_has_an_example() -> None:
    assert {*EXAMPLES} == {*ANOMALIES} - {NONE}


@pytest.mark.parametrize("name", EXAMPLES)
def test_worked_example(name: str) -> None:
    """It is not linearizable, and it is what it is called; the decisive calls alone are still wrong."""
    example = EXAMPLES[name]
    assert search(example.make(), example.calls).answer == "violated"
    found = NAMING.explained(example.kind, example.calls, example.make)
    assert found.anomaly.name == name
    assert found.calls
    assert search(example.make(), found.calls).answer == "violated"


def test_document_has_every_anomaly_and_its_example() -> None:
    """With its definition and the very diagram that a violation shows."""
    text = (DOCUMENTS / "broker-histories.md").read_text()
    assert f"### {NONE}" in (DOCUMENTS / "histories.md").read_text()
    for name, anomaly in ANOMALIES.items():
        assert anomaly.statement in text
        if name == NONE:
            continue
        assert f"### {name}" in text, name
        assert anomaly.text in re.sub(r"\s+", " ", text), f"the definition of {name}"
    for name, example in EXAMPLES.items():
        lines = timeline(example.calls, TEXTS)
        assert lines in text, f"{name}:\n{lines}"
