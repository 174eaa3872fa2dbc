"""The rules by which programs for Brokers are made."""

from __future__ import annotations

from typing import Final

from harness.engine.broker import strategies as make
from harness.engine.generator import Rule

RULES: Final = (
    Rule(make.makes_a_topic),
    Rule(make.sends),
    Rule(make.sends_several),
    Rule(make.sends_a_batch),
    Rule(make.sends_delayed),
    Rule(make.begins_a_transaction),
    Rule(make.ends_a_transaction),
    Rule(make.pulls),
    Rule(make.waits_for_a_message),
    Rule(make.joins),
    Rule(make.leaves),
    Rule(make.commits_an_offset),
    Rule(make.asks_for_offsets),
    Rule(make.sends_back),
    Rule(make.locks),
    Rule(make.asks_by_key),
    Rule(make.asks_by_id),
    Rule(make.waits),
    Rule(make.fails),
    Rule(make.closes),
    Rule(make.deletes_a_topic),
    Rule(make.cleans),
    Rule(make.switches, ours=True, once_in=2),
    Rule(make.restarts, ours=True, once_in=2),
)
"""A Broker that is not ours keeps the role it has."""
