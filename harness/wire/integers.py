"""Java's integers: their edges, and types of members that msgspec reads, which refuse what does not fit."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Final

import msgspec

INT32_MIN: Final = -(2**31)
INT32_MAX: Final = 2**31 - 1

if TYPE_CHECKING:
    Int32 = int
    Int64 = int
else:
    Int32 = Annotated[int, msgspec.Meta(ge=INT32_MIN, le=INT32_MAX)]
    Int64 = Annotated[int, msgspec.Meta(ge=-(2**63), le=2**63 - 1)]
