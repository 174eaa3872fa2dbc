"""What an `Endpoint` asks its caller to do. The endpoint itself touches no socket, no file and no clock.

1. Effects are to be carried out in the order in which they were returned: a `Persist` or a `Flush` that
   precedes a `Send` is done before the peer can read the reply. Of several `Persist` for one file only the
   last counts, and one flush does for several.
2. A `Close` is final: the endpoint has already forgotten the connection when the caller sees it.
3. Every `Ask` is answered exactly once, by `answered` of the endpoint, within its time; a `Notify` never is.
"""

from typing import SupportsBytes, TypeAlias

import msgspec


class Send(msgspec.Struct, frozen=True):
    """Write `data` (whole frames) to a connection."""

    connection: int
    data: bytes


class Close(msgspec.Struct, frozen=True):
    """Close a connection after what was sent before has been written."""

    connection: int


class Persist(msgspec.Struct, frozen=True):
    """Replace the whole content of a file.

    Of a NameServer, `path_key` is the setting that names it: `kvConfigPath` or `configStorePath`. Of a
    Broker, it is the path of the file below the store's root, as `config/topics.json`.

    `bytes(data)` is the content; a long text may be written only then.
    """

    path_key: str
    data: SupportsBytes


class Notify(msgspec.Struct, frozen=True):
    """Send `data` (a one-way request) to the server at `address`, "host:port" as a broker registered it.

    Nothing waits for it, and nothing learns whether it worked.
    """

    address: str
    data: bytes


class Ask(msgspec.Struct, frozen=True):
    """Send `data` (a request with the opaque `number`) to the server at `address`, for an answer.

    `answered(number, frame, now)` gets the response with that opaque; None, if `within` ms have passed or the
    address cannot be reached. One connection for each address serves all that is sent to it, `Notify` too.
    """

    number: int
    address: str
    data: bytes
    within: int


class Flush(msgspec.Struct, frozen=True):
    """Call `flush` of the endpoint: what it has written is handed to its storage, and made durable if it is
    configured so. Several that come together may be done at once, by one call.
    """


class GoOn(msgspec.Struct, frozen=True):
    """There is something for a connection: `received` without bytes gives it, again and again while
    `has_waiting` is true and the peer reads.
    """

    connection: int


class Dial(msgspec.Struct, frozen=True):
    """Open a connection to the server at `address`, "host:port".

    `dialled(connection, now)` gets its number, and from then on it is one like those that were accepted;
    None, if the address cannot be reached within `within` ms.
    """

    address: str
    within: int


Effect: TypeAlias = Send | Close | Persist | Notify | Ask | Flush | GoOn | Dial
