"""The rules of each role, in the order in which Hypothesis tries them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from types import MappingProxyType
from typing import Final

from harness.catalogue import Role as RoleName
from harness.engine.broker import rules as broker_rules
from harness.engine.generator import Rule
from harness.engine.nameserver import rules as nameserver_rules

RULES: Final[Mapping[RoleName, Sequence[Rule]]] = MappingProxyType(
    {"nameserver": nameserver_rules.RULES, "broker": broker_rules.RULES}
)
