"""The rules by which programs for NameServers are made."""

from __future__ import annotations

from functools import partial
from typing import Final

from harness.catalogue import Feature
from harness.engine.generator import Rule
from harness.engine.nameserver import strategies as make
from harness.engine.nameserver.strategies import Maker, made


def _rule(maker: Maker, *, needs: Feature | None = None, ours: bool = False, once_in: int = 1) -> Rule:
    """A rule that is sometimes followed by a question about what it did."""
    return Rule(partial(made, maker), needs=needs, ours=ours, once_in=once_in)


RULES: Final = (
    _rule(make.registers),
    _rule(make.registers_again),
    _rule(make.registers_oddly),
    _rule(make.registers_everywhere),
    _rule(make.joins),
    _rule(make.is_promoted),
    _rule(make.is_demoted),
    _rule(make.takes_an_id),
    _rule(make.takes_an_address),
    _rule(make.unregisters),
    _rule(make.unregisters_wrongly),
    _rule(make.unregisters_late),
    _rule(make.asks_for_versions),
    _rule(make.waits),
    _rule(make.lies_idle),
    _rule(make.permits),
    _rule(make.deletes_a_topic),
    _rule(make.keeps_pairs),
    _rule(make.configures),
    _rule(make.writes_settings),
    _rule(make.orders_a_topic),
    _rule(make.comes_back),
    _rule(make.describes_itself),
    _rule(make.lets_a_lease_end),
    _rule(make.serves_a_zone),
    _rule(make.crowds),
    _rule(make.is_seen_elsewhere),
    _rule(make.asks_for_a_route),
    _rule(make.asks_for_brokers),
    _rule(make.asks_for_pairs),
    _rule(make.asks_at_once),
    _rule(make.fails),
    _rule(make.closes),
    _rule(make.reconnects),
    _rule(make.beats, needs="heartbeats"),
    _rule(make.acts_as_master, needs="acting-master"),
    _rule(make.registers_a_topic, needs="topic-registration"),
    _rule(make.maps_a_topic, needs="static-topics"),
    _rule(make.loses_its_master, needs="acting-master"),
    _rule(make.restarts, ours=True, once_in=4),
)
"""A restart comes every fourth time only: nothing is left of a server afterwards."""
