"""The statement that a small program speaks of: an invariant says what was broken, the program by what.

Rules of this package:
- A program that was made small has nothing in it that the failure does not need: a field that is not plain, a
  second registration, a setting are what it is about. So one invariant has many statements: leases end too
  soon after a heartbeat, after a query, after a registration that asked for less.
- A rule names a statement of the catalogue, the invariants that it makes more precise, and what the program
  has. The first that fits is the one; where none does the invariant's own statement stays.
- Names of brokers, topics and addresses are never taken back to plain ones, so nothing is read from them but
  whether they are the same.
"""

from collections.abc import Sequence
from typing import Final

from harness.findings.naming import keeping, leases, listed, routes, topics
from harness.findings.naming.small import Rule, Small
from harness.program.steps import AnyStep

__all__ = ["RULES", "rule_of", "statement_of"]

RULES: Final[Sequence[Rule]] = (
    *leases.RULES,
    *listed.RULES,
    *routes.RULES,
    *topics.RULES,
    *keeping.RULES,
)
"""In the order in which they are tried."""


def statement_of(program: Sequence[AnyStep], invariant: str, statement: str, profile: str) -> str:
    """The id of the statement that a program made small speaks of; ``statement`` is the invariant's own."""
    rule = rule_of(program, invariant, profile)
    return statement if rule is None else rule.statement


def rule_of(program: Sequence[AnyStep], invariant: str, profile: str) -> Rule | None:
    """The first rule that fits; None where the invariant's own statement stays."""
    small = Small(program)
    fitting = (
        rule for rule in RULES if invariant in rule.invariants and rule.fits(small) and rule.applies(profile)
    )
    return next(fitting, None)
