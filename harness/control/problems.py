"""What is answered where an operation fails: problem details (RFC 9457)."""

from __future__ import annotations

from typing import Final, Literal, TypeAlias

import msgspec

from harness.testing import OptionError, RocketMQError

Kind: TypeAlias = Literal[
    "malformed",
    "foreign",
    "unknown",
    "method",
    "slow",
    "not-met",
    "not-possible",
    "too-large",
    "media-type",
    "argument",
    "failure",
    "busy",
]

MEDIA_TYPE: Final = "application/problem+json"

STATUSES: Final[dict[Kind, tuple[int, str]]] = {
    "malformed": (400, "The request cannot be read."),
    "foreign": (403, "The request does not come from a client of this port."),
    "unknown": (404, "There is no such operation."),
    "method": (405, "The operation has another method."),
    "slow": (408, "The body of the request did not come in time."),
    "not-met": (409, "What the test demands is not so. The detail says what is."),
    "not-possible": (409, "The cluster cannot do that now."),
    "too-large": (413, "The body of the request is too large."),
    "media-type": (415, "The body of the request is not JSON."),
    "argument": (422, "An argument cannot be used."),
    "failure": (500, "The control port itself failed."),
    "busy": (503, "Too many requests wait for their answer."),
}
"""By kind: the status, and what it means."""


class Problem(msgspec.Struct, frozen=True, kw_only=True):
    """Why an operation failed. `detail` says what was expected, what came, and what to do."""

    type: str
    """`urn:rmq-harness:` and the kind of problem."""
    title: str
    status: int
    detail: str


class ProblemError(Exception):
    """An operation failed for a reason of its own kind."""

    def __init__(self, kind: Kind, detail: str) -> None:
        super().__init__(detail)
        status, title = STATUSES[kind]
        self.problem = Problem(type=f"urn:rmq-harness:{kind}", title=title, status=status, detail=detail)


def problem_of(error: Exception) -> Problem:
    """What is answered where a method of `RocketMQ` raises."""
    match error:
        case ProblemError():
            return error.problem
        case AssertionError():
            return ProblemError("not-met", str(error)).problem
        case OptionError() | ValueError():
            return ProblemError("argument", str(error)).problem
        case RocketMQError():
            return ProblemError("not-possible", str(error)).problem
    told = f"{type(error).__name__}: {error}; this is a defect of rmq-harness: please report it"
    return ProblemError("failure", told).problem
