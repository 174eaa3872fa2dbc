"""What an `Endpoint` asks its caller to do. The endpoint itself touches no socket, no file and no clock.

Rules:
1. Effects are to be carried out in the order in which they were returned: a `Persist` that precedes a `Send`
   is on disk before the peer can read the reply. Of several `Persist` for one file only the last counts.
2. A `Close` is final: the endpoint has already forgotten the connection when the caller sees it.
"""

from typing import TypeAlias

import msgspec

__all__ = ["Close", "Effect", "Persist", "Send"]


class Send(msgspec.Struct, frozen=True):
    """Write `data` (whole frames) to a connection."""

    connection: int
    data: bytes


class Close(msgspec.Struct, frozen=True):
    """Close a connection after what was sent before has been written."""

    connection: int


class Persist(msgspec.Struct, frozen=True):
    """Replace the whole content of the file that the setting `path_key` names: `kvConfigPath` or
    `configStorePath`.
    """

    path_key: str
    data: bytes


Effect: TypeAlias = Send | Close | Persist
