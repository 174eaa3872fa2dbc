"""Reading register bodies, and reading nothing twice.

Rules:
1. A broker repeats its registration every 30 s, mostly byte for byte, else with the same topic table under
   another data version. What is byte for byte what the same address sent last is taken from memory; the
   result is the same as reading it anew.
2. What is taken from memory is the same object as before, so that the route table can see at once that
   nothing changed. Nobody may change it in place.
3. Bounded: the last `REMEMBERED` addresses, bodies of at most `LARGEST` bytes.
"""

from collections import OrderedDict
from collections.abc import Callable

import msgspec

from harness.wire.bodies import DataVersion, RegisterBody, TopicConfig, TopicQueueMappingInfo
from harness.wire.codes import V3_0_11

__all__ = ["BodyMemory"]

REMEMBERED = 512
LARGEST = 131_072


class BodyMemory:
    """The last register body of each address."""

    def __init__(self, v5: bool, named: Callable[[RegisterBody], dict[str, TopicConfig]]) -> None:
        """`v5`: whose rules hold for bodies; `named`: the topics of a body under the names that count."""
        self._v5 = v5
        self._named = named
        self._last: OrderedDict[str, _Read] = OrderedDict()

    def read(self, address: str, body: bytes, *, compressed: bool, version: int) -> RegisterBody:
        """The content of a body that a broker at `address` sent. Raises WireError as RegisterBody.decode
        does."""
        how = (compressed, version)
        last = self._last.get(address)
        if last is not None and last.how != how:
            last = None
        if last is not None and last.body == body:
            self._last.move_to_end(address)
            return last.content
        shallow = None if compressed or version < V3_0_11 or len(body) > LARGEST else _shallow(body)
        if (
            last is not None
            and last.table is not None
            and shallow is not None
            and shallow.table == last.table
        ):
            content = shallow.with_topics(last.content.topics, self._v5)
        else:
            content = RegisterBody.decode(body, compressed=compressed, version=version, v5=self._v5)
            content.topics = self._named(content)
        self._remember(address, _Read(how, body, None if shallow is None else shallow.table, content))
        return content

    def _remember(self, address: str, read: "_Read") -> None:
        self._last.pop(address, None)
        if len(read.body) <= LARGEST:
            self._last[address] = read
            if len(self._last) > REMEMBERED:
                self._last.popitem(last=False)


class _Read(msgspec.Struct, frozen=True):
    how: tuple[bool, int]
    body: bytes
    table: msgspec.Raw | None
    """The text of the topic table within `body`."""
    content: RegisterBody


class _Wrapper(msgspec.Struct, rename="camel", forbid_unknown_fields=True):
    topic_config_table: msgspec.Raw
    data_version: DataVersion
    mapping_data_version: DataVersion | None = None
    topic_queue_mapping_detail_map: dict[str, msgspec.Raw] | None = None
    topic_queue_mapping_info_map: dict[str, TopicQueueMappingInfo] | None = None


class _Shallow(msgspec.Struct, rename="camel", forbid_unknown_fields=True):
    """A register body whose topic table is not read."""

    topic_config_serialize_wrapper: _Wrapper
    filter_server_list: list[str] | msgspec.UnsetType | None = msgspec.UNSET

    @property
    def table(self) -> msgspec.Raw:
        return self.topic_config_serialize_wrapper.topic_config_table

    def with_topics(self, topics: dict[str, TopicConfig] | None, v5: bool) -> RegisterBody:
        wrapper = self.topic_config_serialize_wrapper
        return RegisterBody(
            topics=topics,
            data_version=wrapper.data_version,
            filter_servers=self.filter_server_list,
            mappings=wrapper.topic_queue_mapping_info_map if v5 else None,
        )


_decode = msgspec.json.Decoder(_Shallow).decode


def _shallow(body: bytes) -> _Shallow | None:
    """None: this body needs the lenient way of reading."""
    try:
        return _decode(body)
    except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError):
        return None
