"""Concepts and algorithms rest on statements that exist."""

from __future__ import annotations

from itertools import pairwise

import pytest

from harness.catalogue import catalogue
from harness.catalogue.errors import CatalogueProblems
from harness.catalogue.explanations import Algorithm, Concept, Resting, algorithms, concepts
from harness.report.docs_explanations import CONCEPTS, explanation_pages
from harness.report.docs_pictures import NAMES


def test_everything_that_is_rested_on_exists() -> None:
    known = {one.id for one in (*catalogue().statements, *catalogue().quirks)}
    named = {
        name: set(sentence.rests_on)
        for name, sentences in (
            *((one.name, one.sentences) for one in concepts()),
            *((one.title, one.steps) for one in algorithms()),
        )
        for sentence in sentences
    }
    assert named
    assert {name: ids - known for name, ids in named.items() if not ids <= known} == {}


def test_every_picture_of_a_concept_is_drawn() -> None:
    assert {one.picture for one in concepts() if one.picture} <= set(NAMES)


def test_steps_are_indented_one_level_at_a_time() -> None:
    for one in algorithms():
        depths = [(len(step.text) - len(step.text.lstrip())) // 2 for step in one.steps]
        assert depths[0] == 0
        assert all(after <= before + 1 for before, after in pairwise(depths)), one.title


def test_sentences_and_steps_lead_to_their_statements() -> None:
    step = Resting("  if it is *so*: answer", ("ns.lease.expired-broker-is-removed",))
    pages = explanation_pages(
        [Concept("Lease", (Resting("It ends.", ("ns.lease.lease-lasts-its-time",)),))],
        [Algorithm("algorithms", "A scan", "It removes.", (step,))],
        catalogue(),
    )
    assert 'It ends.<sup>[1](lease.md#nsleaselease-lasts-its-time "ns.' in pages[CONCEPTS]
    place = "[expired-broker-is-removed](lease.md#nsleaseexpired-broker-is-removed)"
    assert rf"| 1 | &emsp;if it is \*so\*: answer | {place} |" in pages["algorithms.md"]


def test_an_unknown_statement_is_an_error() -> None:
    gone = Resting("It ends.", ("ns.lease.gone", "ns.lease.lease-lasts-its-time"))
    with pytest.raises(CatalogueProblems) as refused:
        explanation_pages(
            [Concept("Lease", (gone,))], [Algorithm("algorithms", "A scan", "", (gone,))], catalogue()
        )
    assert str(refused.value).splitlines() == [
        f"specs/{place}: rests on ns.lease.gone, which is neither a statement nor a quirk; correct the id"
        for place in ("concepts.yaml, Lease", "algorithms.yaml, A scan")
    ]
