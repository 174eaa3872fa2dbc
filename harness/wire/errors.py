"""The one error of the codec.

- Whatever the bytes are, the codec raises `WireError` or returns; nothing else ever escapes from it.
- A diagnostic names bytes by their range, in the coordinates of the bytes that the caller handed in.
"""

from __future__ import annotations

import msgspec


class Diagnostic(msgspec.Struct, frozen=True):
    """One remark on one range of bytes.

    `code` is stable and meant for programs, `message` for people. `start` and `end` are byte offsets, end
    exclusive, into the frame (length word included). `fatal` says that Apache's server closes the connection
    because of it; otherwise the input is odd, but served.
    """

    code: str
    message: str
    start: int
    end: int
    fatal: bool


class WireError(ValueError):
    """Bytes that Apache's decoder refuses, or a command that cannot be written.

    `diagnostics` says where and why; it may be empty where no bytes are concerned.
    """

    def __init__(self, message: str, diagnostics: tuple[Diagnostic, ...] = ()) -> None:
        super().__init__(message)
        self.diagnostics = diagnostics
