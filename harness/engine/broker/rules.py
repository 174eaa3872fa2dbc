"""The rules by which programs for Brokers are made."""

from __future__ import annotations

from typing import Final

from harness.engine.broker.strategies import (
    consumers,
    groups,
    holding,
    nameservers,
    producers,
    queries,
    topics,
    transactions,
    trouble,
)
from harness.engine.generator import Rule

RULES: Final = (
    Rule(topics.makes_a_topic),
    Rule(producers.sends),
    Rule(producers.sends_several),
    Rule(producers.sends_a_batch),
    Rule(producers.sends_delayed),
    Rule(producers.sends_delays_in_order),
    Rule(producers.sends_timed),
    Rule(transactions.begins_a_transaction),
    Rule(transactions.ends_a_transaction),
    Rule(transactions.is_asked),
    Rule(transactions.is_immune),
    Rule(consumers.pulls),
    Rule(holding.waits_for_a_message),
    Rule(holding.several_wait),
    Rule(holding.waits_for_a_tag),
    Rule(holding.waits_for_what_is_late),
    Rule(holding.commits_while_it_waits),
    Rule(groups.joins),
    Rule(groups.gathers),
    Rule(groups.outlives_its_heartbeat),
    Rule(groups.pulls_as_a_member),
    Rule(groups.leaves),
    Rule(consumers.commits_an_offset),
    Rule(consumers.asks_for_offsets),
    Rule(consumers.asks_for_all_offsets),
    Rule(consumers.resets_an_offset, needs="own-resets"),
    Rule(consumers.sends_back),
    Rule(groups.locks),
    Rule(groups.renews_a_lock),
    Rule(queries.asks_by_key),
    Rule(queries.asks_by_id),
    Rule(nameservers.tells_nameservers, ours=True),
    Rule(nameservers.loses_a_nameserver, ours=True),
    Rule(nameservers.asks_first, ours=True, once_in=2),
    Rule(nameservers.tells_its_role, ours=True, once_in=2),
    Rule(trouble.waits),
    Rule(trouble.fails),
    Rule(trouble.closes),
    Rule(topics.deletes_a_topic),
    Rule(topics.comes_again, once_in=2),
    Rule(topics.asks_for_a_status),
    Rule(topics.cleans),
    Rule(trouble.switches, ours=True, once_in=2),
    Rule(trouble.restarts, ours=True, once_in=2),
)
"""A Broker that is not ours keeps the role it has."""
