"""The rules of each role by their name, in the order in which Hypothesis tries them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from types import MappingProxyType
from typing import Final

from harness.engine.broker import rules as broker_rules
from harness.engine.controller import rules as controller_rules
from harness.engine.generator import Rule
from harness.engine.nameserver import rules as nameserver_rules
from harness.engine.pair import rules as pair_rules

RULES: Final[Mapping[str, Sequence[Rule]]] = MappingProxyType(
    {
        "nameserver": nameserver_rules.RULES,
        "broker": broker_rules.RULES,
        "controller": controller_rules.RULES,
        "pair": pair_rules.RULES,
    }
)
