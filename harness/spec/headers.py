"""Headers that only a lenient decoder can read, as what they are: breaches of the catalogue."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Final

from harness.spec.observation import MISTYPED, Answered, Observation, Violation
from harness.wire.header_types import Mistyped, Wanted

HEADER_STATEMENTS: Final[Mapping[Wanted, str]] = {
    "JSON integer": "wire.framing.header-numbers-are-integers",
    "JSON string": "wire.framing.header-texts-are-strings",
}
"""The statement that a mistyped header breaks."""


def mistyped_answers(seen: Sequence[Observation]) -> list[Violation]:
    """A violation for the first answer whose header is mistyped; none where there is none."""
    for one in seen:
        if isinstance(one.outcome, Answered) and (why := one.outcome.mistyped) is not None:
            return [
                Violation(
                    invariant=MISTYPED,
                    statement=HEADER_STATEMENTS[why.wanted],
                    expected=wanted_header(why),
                    actual=seen_header(why),
                    number=one.number,
                )
            ]
    return []


def wanted_header(why: Mistyped) -> str:
    """What the first member should be."""
    return f"{why.members[0]} as a {why.wanted}"


def seen_header(why: Mistyped) -> str:
    """What it is."""
    return f"{why.members[0]} is {why.shown}" if why.shown else f"no {why.members[0]}"
