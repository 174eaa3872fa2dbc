"""Reading register bodies, and reading nothing twice.

1. A broker repeats its registration every 30 s, mostly byte for byte, else with the same topic table under
   another data version. What is byte for byte what the same address sent last is taken from memory; the
   result equals that of reading it anew (tests/unit/nameserver/test_bodies.py).
2. What is taken from memory is the same object as before, so that the route table can see at once that
   nothing changed. It must not be changed in place.
3. Bounded: the last `REMEMBERED` addresses, bodies of at most `LARGEST` bytes.
"""

from collections import OrderedDict
from collections.abc import Callable

import msgspec

from harness.wire.bodies import RegisterBody, TopicConfig
from harness.wire.fastjson import Engine
from harness.wire.versions import V3_0_11

REMEMBERED = 512
LARGEST = 131_072

_TABLE = b'"topicConfigTable":'
_NO_TOPIC = "\x00"
_STAND_IN = b'{"\\u0000":{}}'
"""What is put where a known table was: if exactly this comes out as the table, that was the table."""


class BodyMemory:
    """The last register body of each address."""

    def __init__(
        self,
        v5: bool,
        named: Callable[[RegisterBody], dict[str, TopicConfig]],
        engine: Engine = "fastjson",
    ) -> None:
        """`v5`: whose rules hold for bodies; `engine`: what reads their JSON; `named`: the topics of a body
        under the names that count.
        """
        self._v5 = v5
        self._engine: Engine = engine
        self._named = named
        self._last: OrderedDict[str, _Read] = OrderedDict()

    def read(self, address: str, body: bytes, *, compressed: bool, version: int) -> RegisterBody:
        """The content of a body that a broker at `address` sent, its topics under the names that count.

        Raises WireError as RegisterBody.decode does, and what `named` raises.
        """
        how = (compressed, version)
        last = self._last.get(address)
        if last is None or last.how != how:
            return self._read_anew(address, body, how)
        if last.body == body:
            self._last.move_to_end(address)
            return last.content
        content = self._with_table_of(last, body)
        if content is None:
            return self._read_anew(address, body, how)
        self._remember(address, _Read(how, body, last.table, content))
        return content

    def _read_anew(self, address: str, body: bytes, how: tuple[bool, int]) -> RegisterBody:
        compressed, version = how
        content = self._decoded(body, compressed, version)
        content.topics = self._named(content)
        plain = not compressed and version >= V3_0_11 and len(body) <= LARGEST
        self._remember(address, _Read(how, body, _table(body) if plain else b"", content))
        return content

    def _decoded(self, body: bytes, compressed: bool, version: int) -> RegisterBody:
        return RegisterBody.decode(
            body, compressed=compressed, version=version, v5=self._v5, engine=self._engine
        )

    def _with_table_of(self, last: "_Read", body: bytes) -> RegisterBody | None:
        """The content of a body that has the same table as the last one; None if it has not, or may not have.

        A JSON object ends where its text ends, so equal text at the place of a value is that value. Whether
        the place is that of the table is seen by what comes out in its stead.
        """
        start = body.find(_TABLE) + len(_TABLE)
        if not last.table or start < len(_TABLE) or not body.startswith(last.table, start):
            return None
        end = start + len(last.table)
        content = self._decoded(body[:start] + _STAND_IN + body[end:], False, last.how[1])
        if list(content.topics or ()) != [_NO_TOPIC]:
            return None
        content.topics = last.content.topics
        return content

    def _remember(self, address: str, read: "_Read") -> None:
        self._last.pop(address, None)
        if len(read.body) <= LARGEST:
            self._last[address] = read
            if len(self._last) > REMEMBERED:
                self._last.popitem(last=False)


class _Read(msgspec.Struct, frozen=True):
    how: tuple[bool, int]
    """(compressed, version): the same bytes mean something else otherwise."""
    body: bytes
    table: bytes
    """The text of the topic table within `body`; empty if that is not known."""
    content: RegisterBody


class _Wrapper(msgspec.Struct, rename="camel"):
    topic_config_table: msgspec.Raw


class _Body(msgspec.Struct, rename="camel"):
    topic_config_serialize_wrapper: _Wrapper


_decode = msgspec.json.Decoder(_Body).decode


def _table(body: bytes) -> bytes:
    """The text of the topic table, if the body is ordinary JSON and the table an object with members."""
    try:
        table = bytes(_decode(body).topic_config_serialize_wrapper.topic_config_table)
    except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError):
        return b""
    return table if table.startswith(b"{") and len(table) > len("{}") else b""
