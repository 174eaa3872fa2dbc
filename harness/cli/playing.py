"""`replay` of a finding that bytes alone cannot repeat: its program is played again.

Between a master and its slave the harness carries the log, which no recorded frame does. So such a program is
played as `fuzz` plays it, and the failure shows if the same statement is broken in the same way.
"""

from __future__ import annotations

import secrets
from collections.abc import Sequence

import msgspec

from harness.cli.status import FAILED, INCONCLUSIVE, OK
from harness.engine.context import TargetContext
from harness.engine.pair.kind import PairExperiment, PairKind
from harness.engine.pair.role import PAIR
from harness.findings.experiment import Attempt
from harness.program.steps import AnyStep
from harness.session import Unsupported
from harness.spec import Violation
from harness.targets import Target, TargetError

_TRIES = 3
"""A failure that depends on time does not show each time."""


class Played(msgspec.Struct, frozen=True):
    """What came of a program that was played again."""

    status: int
    shows: bool | None
    """None where that is not known."""
    remark: str


def is_played(kind: str) -> bool:
    """Whether findings of a kind are repeated by their programs."""
    return kind == PairKind.name


def played(target: Target, profile: str, program: Sequence[AnyStep], then: Violation) -> Played:
    """Plays the program of a finding that showed a violation ``then``. Raises ``TargetError``."""
    context = TargetContext(target, profile, role=PAIR)
    experiment = PairExperiment(context, secrets.token_hex(4))
    try:
        for _ in range(_TRIES):
            attempt = experiment.attempt(program, fresh=True)
            if attempt.violations or attempt.ended != "whole":
                break
        return _said(attempt, then)
    except Unsupported as problem:
        raise TargetError(
            expected="a target that can be a master and its slave",
            got=target.uri,
            why=str(problem),
            do="name one that can be started so, such as builtin: or apache:VERSION",
        ) from None
    finally:
        context.close()


def _said(attempt: Attempt, then: Violation) -> Played:
    if not attempt.violations and attempt.ended != "whole":
        return Played(INCONCLUSIVE, None, f"it could not be played to its end: {attempt.ended}")
    if not attempt.violations:
        return Played(FAILED, False, "the failure does not show")
    now = attempt.violations[0]
    if (now.statement, now.invariant) == (then.statement, then.invariant):
        return Played(OK, True, "the failure shows again")
    other = f"{now.statement}: expected {now.expected}, got {now.actual}"
    return Played(FAILED, False, f"the failure does not show, but another one: {other}")
