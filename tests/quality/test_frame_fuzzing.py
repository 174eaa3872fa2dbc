"""Frame fuzzing finds faulty servers: each of these mutants within 600 examples, from one seed.

`python -m bench.mutants` tells how many examples each of all of them takes.
"""

from __future__ import annotations

import pytest

from bench.mutants import examples_until_found

MUTANTS = (
    "null-members-written",
    "opaque-not-echoed",
    "opaque-without-sign",
    "response-length-too-large",
    "response-length-too-small",
    "response-marked-oneway",
    "bad-length-waits",
    "malformed-answered",
    "malformed-skipped",
    "one-frame-per-segment",
    "partial-frames-dropped",
    "oneway-answered",
    "oneway-not-executed",
    "every-body-parsed",
    "flag-bits-echoed",
    "unknown-flag-bits-refused",
    "responses-executed",
    "stray-response-closes",
    "failing-oneway-answered",
    "header-length-clamped",
    "ext-fields-of-any-type-ignored",
    "unknown-code-silent",
    "unknown-code-succeeds",
    "unknown-code-closes",
    "failure-without-remark",
    "failure-closes",
    "empty-ext-fields-refused",
    "unparsable-number-is-zero",
)


@pytest.mark.parametrize("mutant", MUTANTS)
def test_mutant_is_found(mutant: str) -> None:
    assert examples_until_found(mutant, seed="1", most=600) is not None
