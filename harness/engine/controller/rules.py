"""The rules by which programs for controllers are made."""

from __future__ import annotations

from functools import partial
from typing import Final

from harness.engine.controller.strategies import administration, masters, replicas, trouble
from harness.engine.controller.strategies.readback import made
from harness.engine.generator import Rule
from harness.engine.nameserver.strategies.pick import Maker


def _rule(maker: Maker, *, ours: bool = False, once_in: int = 1) -> Rule:
    """A rule that is sometimes followed by a question about what it did."""
    return Rule(partial(made, maker), ours=ours, once_in=once_in)


RULES: Final = (
    _rule(replicas.gathers),
    _rule(replicas.joins),
    _rule(replicas.applies),
    _rule(replicas.registers),
    _rule(replicas.beats),
    _rule(replicas.beats_elsewhere),
    _rule(replicas.runs_out),
    _rule(replicas.waits),
    _rule(masters.elects),
    _rule(masters.demands),
    _rule(masters.alters),
    _rule(masters.alters_wrongly),
    _rule(masters.asks_at_large, once_in=4),
    _rule(masters.loses_its_master),
    _rule(masters.races),
    _rule(masters.lets_its_master_expire),
    _rule(masters.closes),
    _rule(masters.comes_back),
    _rule(administration.forgets),
    _rule(administration.forgets_wrongly),
    _rule(administration.forgets_by_force),
    _rule(administration.allows_unclean),
    _rule(administration.asks),
    _rule(trouble.leaves_out),
    _rule(trouble.fails),
    _rule(trouble.restarts, ours=True, once_in=2),
)
