"""What an `Endpoint` asks its caller to do. The endpoint itself touches no socket, no file and no clock.

Rules:
1. Effects are to be carried out in the order in which they were returned: a `Persist` that precedes a `Send`
   is on disk before the peer can read the reply. Of several `Persist` for one file only the last counts.
2. A `Close` is final: the endpoint has already forgotten the connection when the caller sees it.
"""

from typing import TypeAlias

import msgspec

__all__ = ["Close", "Effect", "Notify", "Persist", "Send"]


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


class Notify(msgspec.Struct, frozen=True):
    """Send `data` (a one-way request) to whoever listens at `address`, "host:port" as a broker registered it.

    Whether that works is of no consequence: nothing waits for it, and nothing is told of it.
    """

    address: str
    data: bytes


Effect: TypeAlias = Send | Close | Persist | Notify
