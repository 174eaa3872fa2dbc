"""The reference under a short flood: the shape of `python -m bench.flood`, with fewer frames."""

from __future__ import annotations

from bench.flood import flood


def test_a_flood_harms_no_other_client() -> None:
    """Random, mutated, inflating, deep and endless frames: the server lives, and answers others rightly."""
    outcome = flood(20_000, seed=7, connections=60, dribblers=12)
    assert outcome.frames >= 20_000
    assert outcome.connections > 60, "malformed frames end connections"
    assert len(outcome.waits) > 2
    assert outcome.wrong == []
    assert outcome.resident < 600_000_000
