"""What a case saw on the wire, as far as other cases are judged by it.

Two cases went wrong in the same way if they sent the same request code and saw the same kind of wrong answer:
the same outcome (`closed`, `silent`, `code 3`), or, where the outcome was right, next to nothing in the same
view of it (`changed is False`), or a difference at the same place of that view.
"""

from __future__ import annotations

import msgspec

from harness.conformance.expect import Reply
from harness.session import Session
from harness.session.errors import Unmet
from harness.session.outcome import UNANSWERED, Garbled, Outcome
from harness.wire import ResponseCode

SUCCESS = ResponseCode.SUCCESS


class Symptom(msgspec.Struct, frozen=True):
    """A request code and what kind of wrong answer it got; `code` is None for bytes that have none."""

    code: int | None
    kind: str


class Evidence(msgspec.Struct, frozen=True):
    """What one try of a case saw."""

    symptom: Symptom | None = None
    """What it failed at; None where it held, or nothing was measured."""
    refusals: frozenset[Symptom] = frozenset()
    """What it got, and expected, that is no success, or next to nothing."""
    was_setup: bool = False
    """Whether it failed at an ordinary request that was to succeed, no more."""
    needs: int | None = None
    """The code of the request that kept it from being measured, because it did not do its work."""
    frames: str = ""
    """What is wrong with frames in general, whatever was asked, where it failed at that."""
    is_together: bool = False
    """Whether it failed to get an answer where frames were sent together."""
    codes: frozenset[int] = frozenset()
    """The codes of the requests that it judged."""

    @property
    def was_answered(self) -> bool:
        """Whether it failed at an answer, if at the wrong one."""
        return self.symptom is not None and self.symptom.kind not in UNANSWERED


NOTHING = Evidence()


def evidence_of(session: Session, unmet: Unmet | None = None) -> Evidence:
    """What the case of a session saw; `unmet` is what it failed at."""
    symptom = None if unmet is None else Symptom(unmet.exchange.code, unmet.kind)
    codes = {code for code, _ in session.met} | ({symptom.code} if symptom is not None else set())
    is_plain = unmet is not None and unmet.expected == (str(Reply(SUCCESS)),)
    return Evidence(
        symptom=symptom,
        frames="lengths" if unmet is not None and _has_wrong_lengths(unmet.outcome) else "",
        is_together=unmet is not None and unmet.kind in UNANSWERED and unmet.exchange.is_sent_together,
        refusals=frozenset(Symptom(code, kind) for code, kind in session.met if kind),
        was_setup=is_plain and unmet is not None and unmet.exchange.is_ordinary,
        codes=frozenset(code for code in codes if code is not None),
    )


def _has_wrong_lengths(outcome: Outcome) -> bool:
    return isinstance(outcome, Garbled) and bool(outcome.lengths)
