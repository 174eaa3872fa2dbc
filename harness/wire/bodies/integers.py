"""Java's integers, as types of members that msgspec reads: what does not fit is refused."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import msgspec

if TYPE_CHECKING:
    Int32 = int
    Int64 = int
else:
    Int32 = Annotated[int, msgspec.Meta(ge=-(2**31), le=2**31 - 1)]
    Int64 = Annotated[int, msgspec.Meta(ge=-(2**63), le=2**63 - 1)]
