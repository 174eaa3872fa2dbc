"""The logical command, whatever its bytes look like.

- A command can hold values that no frame can carry or that no peer accepts (a tester must be able to say
  them); nothing is validated here.
- An empty body and no body are the same bytes on the wire, so they are the same value here: `b""`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

import msgspec

from harness.wire.codes import FLAG_ONEWAY, FLAG_RESPONSE, LANGUAGES, Serialization
from harness.wire.integers import Int32

if TYPE_CHECKING:
    _Language = str
    _Serialization = Serialization
    _Body = bytes
else:
    # The JSON decoder fills a Command in one step, so these say what a well-formed *header* may hold: int32
    # numbers, a known language, the name of the serialization where a command keeps its number, never a body.
    class _Body:
        pass

    _Language = Literal[LANGUAGES]
    _Serialization = Serialization | Literal["JSON", "ROCKETMQ"]


class _Coded(msgspec.Struct, gc=False):
    code: Int32 = 0


class Command(
    _Coded,
    gc=False,  # holds strings and bytes only: no cycle can exist
    kw_only=True,
    forbid_unknown_fields=True,
    rename={"ext": "extFields", "serialization": "serializeTypeCurrentRPC"},
):
    """One RemotingCommand. Equality is by value. All but `code` are given by name.

    `language` is a name of `codes.LANGUAGES`, or None for one that the receiver does not know. `ext`
    distinguishes None (no map) from `{}` in JSON; the ROCKETMQ header cannot. A value in `ext` is None where
    the receiver sees a null (JSON null, or length 0 in ROCKETMQ). Integers are int32 on the wire; ROCKETMQ
    cuts `code` and `version` to int16.
    """

    # In the order in which Java writes them, which is the order that the JSON decoder finds fastest.
    ext: dict[str, str | None] | None = None
    flag: Int32 = 0
    language: _Language | None = "JAVA"
    opaque: Int32 = 0
    remark: str | None = None
    serialization: _Serialization = Serialization.JSON
    version: Int32 = 0
    body: _Body = b""

    @property
    def is_response(self) -> bool:
        """Bit 0 of the flag: a response, even when the one-way bit is set too."""
        return bool(self.flag & FLAG_RESPONSE)

    @property
    def is_oneway(self) -> bool:
        """A request (bit 0 clear) without an answer (bit 1 set)."""
        return self.flag & (FLAG_RESPONSE | FLAG_ONEWAY) == FLAG_ONEWAY
