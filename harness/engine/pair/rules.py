"""The rules by which programs for pairs are made."""

from __future__ import annotations

from typing import Final

from harness.engine.broker.strategies import consumers, queries, topics, trouble
from harness.engine.generator import Rule
from harness.engine.pair import strategies as pair

RULES: Final = (
    Rule(pair.makes_a_topic),
    Rule(pair.sends),
    Rule(pair.sends_to_itself),
    Rule(pair.replicates),
    Rule(pair.parts),
    Rule(pair.restarts, ours=True),
    Rule(pair.looks),
    Rule(pair.commits),
    Rule(pair.takes_over),
    Rule(pair.delays),
    Rule(pair.sends_back),
    Rule(pair.begins_a_transaction),
    Rule(pair.fails_over),
    Rule(pair.goes_on),
    Rule(pair.waits),
    Rule(consumers.pulls),
    Rule(consumers.commits_an_offset),
    Rule(consumers.asks_for_offsets),
    Rule(queries.asks_by_key),
    Rule(queries.asks_by_id),
    Rule(topics.asks_for_a_status),
    Rule(trouble.closes),
)
