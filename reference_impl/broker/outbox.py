"""What a Broker wants to have done, in the order in which it came up. The endpoint makes effects of it."""

from collections.abc import Callable
from typing import SupportsBytes, TypeAlias

import msgspec

from harness.wire import Command
from reference_impl.remoting.reply import Reply

Done: TypeAlias = Callable[[Command | None, int], None]
"""(response, now); None: there was none in time, or the connection failed."""


class Answer(msgspec.Struct, frozen=True, gc=False):
    """The late answer to a request for which its handler returned None."""

    connection: int
    request: Command
    reply: Reply


class Pushing(msgspec.Struct, frozen=True):
    """A one-way request to a client. The endpoint gives it its opaque."""

    connection: int
    command: Command


class Calling(msgspec.Struct, frozen=True):
    """A request to a client; `done` is called once, in any case."""

    connection: int
    command: Command
    within: int
    """ms."""
    done: Done


class Asking(msgspec.Struct, frozen=True):
    """A request to a NameServer or another Broker; `done` is called once, in any case."""

    address: str
    command: Command
    within: int
    """ms."""
    done: Done


class Telling(msgspec.Struct, frozen=True):
    """A one-way request to a NameServer or another Broker."""

    address: str
    command: Command


class Saving(msgspec.Struct, frozen=True):
    """Replace the content of the file of that name below the root directory, such as "config/topics.json"."""

    name: str
    data: SupportsBytes


class End(msgspec.Struct, frozen=True):
    """End a connection."""

    connection: int


class Written(msgspec.Struct, frozen=True):
    """Bytes for a slave, or for the master that is copied from."""

    connection: int
    data: bytes


class Cut(msgspec.Struct, frozen=True):
    """End a connection of replication, which is forgotten already."""

    connection: int


class More(msgspec.Struct, frozen=True):
    """There is something to push to a slave, as fast as it reads."""

    connection: int


class Dialling(msgspec.Struct, frozen=True):
    """Open a connection to the replication port of a master."""

    address: str


Outgoing: TypeAlias = (
    Answer | Pushing | Calling | Asking | Telling | Saving | End | Cut | Written | More | Dialling
)
