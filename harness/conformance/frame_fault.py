"""What fails a case whatever it is about: a frame that no server may send."""

from __future__ import annotations

import msgspec

from harness.conformance.evidence import Symptom
from harness.report.results import Wrong


class FrameFault(msgspec.Struct, frozen=True, kw_only=True):
    """A frame that breaks a statement about all frames."""

    statement: str
    expected: str
    actual: str
    event: int
    frame: bytes
    start: int | None = None
    """The decisive bytes; None where the whole frame decides."""
    end: int | None = None
    request: bytes = b""
    """The frame that it answers; empty where it answers none."""
    wrong: Wrong

    @property
    def symptom(self) -> Symptom:
        """It is about no request code: any answer may show it."""
        return Symptom(None, self.statement)
