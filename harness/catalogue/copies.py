"""Messages that a Broker makes out of others, and what becomes of each member: `specs/copies.yaml`."""

from __future__ import annotations

import functools

import msgspec

from harness.catalogue.files import sound, specs_directory
from harness.catalogue.versions import within

MEMBERS = {
    "topic": "topic",
    "body": "body",
    "queue": "queue_id",
    "flag": "flag",
    "system flag": "sys_flag",
    "born at": "born_timestamp",
    "born host": "born_host",
    "store host": "store_host",
    "times tried": "reconsume_times",
    "prepared offset": "prepared_offset",
}
"""The members of a stored message, beside its properties, its places and the time when it was stored: how the
table calls each, and how `harness.wire.messages.Message` does.
"""


class Copy(msgspec.Struct, frozen=True):
    """One way in which a message is stored once more. What it does not name is as the producer sent it.

    Values may hold words in braces, which a case replaces. A property that begins with `~` is a regular
    expression.
    """

    name: str
    statement: str
    members: dict[str, str]
    properties: dict[str, str]
    later: dict[str, dict[str, str]] = {}
    """Release line -> properties that it and later ones add."""
    earlier: dict[str, dict[str, str]] = {}
    """Release line -> properties that it and earlier ones add."""

    def added(self, line: str) -> dict[str, str]:
        """The properties that a Broker of this line adds."""
        of_lines = [
            *(more for since, more in self.later.items() if within(line, since, None)),
            *(more for until, more in self.earlier.items() if within(line, None, until)),
        ]
        return {**self.properties, **{key: text for more in of_lines for key, text in more.items()}}


@functools.cache
def copies() -> dict[str, Copy]:
    """By its name, each copy of this installation; read once.

    Raises:
        CatalogueProblems: the file breaks its schema.
    """
    said = sound(specs_directory() / "copies.yaml", specs_directory(), "copies")
    return {one.name: one for one in msgspec.convert(said, list[Copy])}
