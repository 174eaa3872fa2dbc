"""What may be observed: an independent reading of the catalogue that judges answers.

It is pure, and never sees the reference (`reference_impl`) or a live object. It is
given what was done and what was seen, each with an interval of protocol time, and says what the catalogue
does not allow. Where the catalogue leaves several outcomes open, it keeps all of them until an answer tells.
"""

from harness.spec.nameserver.invariants import INVARIANTS, Invariant
from harness.spec.nameserver.tracker import StateTracker
from harness.spec.observation import Answered, Ended, Garbled, Observation, Outcome, Unanswered, Violation

__all__ = [
    "INVARIANTS",
    "Answered",
    "Ended",
    "Garbled",
    "Invariant",
    "Observation",
    "Outcome",
    "StateTracker",
    "Unanswered",
    "Violation",
]
