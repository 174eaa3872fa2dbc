"""The logical command, whatever its bytes look like.

Rules of this module:
- A command can hold values that no frame can carry or that no peer accepts (a tester must be able to say them); nothing
  is validated here.
- An empty body and no body are the same bytes on the wire, so they are the same value here: `b""`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Final

import msgspec

from .codes import FLAG_ONEWAY, FLAG_RESPONSE, Serialization

__all__ = ["Command"]

INT32_MIN: Final = -(2**31)
INT32_MAX: Final = 2**31 - 1

if TYPE_CHECKING:
    _Int32 = int
    _HeaderSerialization = Serialization
else:
    # The JSON decoder fills a Command in one step: it refuses what is not an int32, and finds the *name* of the
    # serialization where the command keeps the number, which the decoder overwrites from the type byte of the frame.
    _Int32 = Annotated[int, msgspec.Meta(ge=INT32_MIN, le=INT32_MAX)]
    _HeaderSerialization = Serialization | str


class Command(
    msgspec.Struct,
    gc=False,  # holds strings and bytes only: no cycle can exist
    forbid_unknown_fields=True,
    rename={"ext": "extFields", "serialization": "serializeTypeCurrentRPC"},
):
    """One RemotingCommand. Equality is by value.

    `language` is a name of `codes.LANGUAGES`, or None for one that the receiver does not know. `ext` distinguishes None
    (no map) from `{}` in JSON; the ROCKETMQ header cannot. A value in `ext` is None where the receiver sees a null
    (JSON null, or length 0 in ROCKETMQ). Integers are int32 on the wire; ROCKETMQ cuts `code` and `version` to int16.
    """

    code: _Int32 = 0
    opaque: _Int32 = 0
    flag: _Int32 = 0
    language: str | None = "JAVA"
    version: _Int32 = 0
    remark: str | None = None
    ext: dict[str, str | None] | None = None
    body: bytes = b""
    serialization: _HeaderSerialization = Serialization.JSON

    @property
    def is_response(self) -> bool:
        """Bit 0 of the flag: a response, even when the one-way bit is set too."""
        return bool(self.flag & FLAG_RESPONSE)

    @property
    def is_oneway(self) -> bool:
        """A request (bit 0 clear) that nobody waits for (bit 1 set)."""
        return self.flag & (FLAG_RESPONSE | FLAG_ONEWAY) == FLAG_ONEWAY
