"""Static topics (5.x): a mapped queue is a sequence of queues of Brokers, and goes on in the last of them.

1. An administrator puts the mapping of a topic (513). Requests then name mapped queues and their offsets;
   those that say `lo=false` name the queue of this Broker itself.
2. A Broker serves the mapped queues whose last part it has, and refuses every other one with code 501.
3. A mapping does not go back: its epoch does not fall unless forced, and what is known of a part stays.
4. Parts on other Brokers are asked for there: `other_brokers`, `mapped_offsets`.

Source: TopicQueueMappingManager, TopicQueueMappingUtils, LogicQueueMappingItem,
AdminBrokerProcessor#updateAndCreateStaticTopic, PullMessageProcessor#rewriteResponseForStaticTopic of
rocketmq-all-5.3.3.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Final, NamedTuple

import msgspec

from harness.wire import Command, RequestCode, ResponseCode, WireError
from harness.wire.bodies import DataVersion, TopicQueueMappingInfo
from harness.wire.fastjson import ParseError, parse
from reference_impl.remoting import fields
from reference_impl.remoting.fields import Ext
from reference_impl.remoting.reply import RefusedError, Reply
from reference_impl.remoting.requests import answers

from . import required
from .mappings import Mapping, QueuePart
from .part import Part
from .tables import as_file, stored_table
from .topic_administration import FILTER_TYPES

if TYPE_CHECKING:
    from .core import Broker

NOT_FOUND: Final = "cannot find mapping item in request process of current broker {broker}"
MAPPINGS_FILE: Final = "config/topicQueueMapping.json"


class Mapped(NamedTuple):
    """A mapped queue that this Broker leads."""

    topic: str
    number: int
    parts: Sequence[QueuePart]

    @property
    def last(self) -> QueuePart:
        return self.parts[-1]

    def part_of(self, offset: int) -> QueuePart:
        """The part in which a mapped offset is; the first, for one before it."""
        decided = [part for part in self.parts if part.logic_offset >= 0]
        found = [part for part in decided if offset >= part.logic_offset]
        return found[-1] if found else (decided or self.parts)[0]

    def behind(self, part: QueuePart) -> QueuePart | None:
        """The next part of which it is decided where it begins."""
        later = [one for one in self.parts if one.gen > part.gen and one.logic_offset >= 0]
        return later[0] if later else None


class NotLeaderError(RefusedError):
    """This Broker does not lead the queue."""

    def reply(self) -> Reply:
        return Reply(ResponseCode.NOT_LEADER_FOR_QUEUE, remark=self.remark)


class StaticTopics(Part):
    """Keeps mappings, and finds what they map."""

    def __init__(self, broker: Broker) -> None:
        super().__init__(broker)
        stored = stored_table(broker.stored, MAPPINGS_FILE, _stored) or _Stored()
        self.version = stored.data_version or DataVersion(0, broker.started, 0)
        self.table = stored.topic_queue_mapping_info_map

    @answers(RequestCode.UPDATE_AND_CREATE_STATIC_TOPIC, v5=True)
    def update(self, command: Command, connection: int, now: int) -> Reply:
        """The topic is made or changed even if its mapping is refused."""
        administration, ext = self.broker.topic_administration, command.ext or {}
        name = fields.text(ext, "topic")
        fault = administration.fault(name)
        if fault is not None:
            return Reply(ResponseCode.INVALID_PARAMETER, remark=fault)
        mapping = required.body(command, Mapping.decode, self.profile.engine)
        filter_type = fields.text(ext, "topicFilterType")
        if filter_type not in FILTER_TYPES:
            raise RefusedError(f"topicFilterType = [{filter_type}] value invalid")
        topic = administration.wanted(name or "", filter_type, {**ext, "attributes": None})
        self.broker.topics.put(topic, now)
        fault = self.refusal(mapping, forced=fields.boolean(ext, "force") is True)
        if fault is not None:
            return Reply(ResponseCode.SYSTEM_ERROR, remark=fault)
        self.put(mapping, now)
        self.broker.registrar.announce([topic], now)
        return Reply(ResponseCode.SUCCESS)

    def put(self, mapping: Mapping, now: int) -> None:
        """Keep a mapping; queues that it does not name stay as they were."""
        known = self.table.get(mapping.topic)
        if known is not None:
            mapping.hosted_queues = known.hosted_queues | mapping.hosted_queues
        self.table[mapping.topic] = mapping
        self.changed(now)

    def forget(self, topic: str, now: int) -> None:
        """A topic is deleted."""
        if self.table.pop(topic, None) is not None:
            self.changed(now)

    def changed(self, now: int) -> None:
        """The mappings are others: write them."""
        self.version = msgspec.structs.replace(self.version, counter=self.version.counter + 1, timestamp=now)
        document = {"dataVersion": self.version.document(), "topicQueueMappingInfoMap": self.documents()}
        self.broker.persist(MAPPINGS_FILE, as_file(document))
        self.broker.other_brokers.mapped(now)

    def documents(self) -> dict[str, Any]:
        """All mappings, as bodies and files have them."""
        return {topic: self.document(mapping) for topic, mapping in self.table.items()}

    def document(self, mapping: Mapping) -> dict[str, Any]:
        """One mapping."""
        found: dict[str, Any] = msgspec.to_builtins(mapping)
        return {name: value for name, value in sorted(found.items()) if value is not None}

    def infos(self, topics: Sequence[str]) -> dict[str, TopicQueueMappingInfo]:
        """What a registration contains of the static ones among topics."""
        return {topic: self.table[topic].info() for topic in topics if topic in self.table}

    # -- what is asked for -----------------------------------------------------------------------------------

    def led(
        self, topic: str, number: int, ext: Ext, remark: str = "", *, chooses: bool = False
    ) -> Mapped | None:
        """The mapped queue that a request is about; None: it is about a queue of this Broker itself.

        `chooses`: any queue will do for a negative number. Raises NotLeaderError; `remark` is what it says
        behind topic and queue.
        """
        mapping = self.table.get(topic)
        if mapping is None or fields.boolean(ext, "lo") is False:
            return None
        if number < 0 and chooses and mapping.hosted_queues:
            number = min(mapping.hosted_queues)
        parts = mapping.hosted_queues.get(number, [])
        if not self.leads(parts):
            said = remark or "does not exit in request process of current broker {broker}"
            raise NotLeaderError(f"{topic}-{number} {said.format(broker=self.config.broker_name)}")
        return Mapped(topic, number, parts)

    def of(self, command: Command, remark: str = "") -> Mapped | None:
        """The mapped queue that a request with `topic` and `queueId` is about (see `led`)."""
        if not self.table:
            return None
        ext = command.ext or {}
        topic, number = fields.text(ext, "topic") or "", fields.int32(ext, "queueId")
        return None if number is None else self.led(topic, number, ext, remark)

    def is_here(self, part: QueuePart) -> bool:
        """Whether a part is a queue of this Broker."""
        return part.bname == self.config.broker_name

    def other_brokers(self) -> set[str]:
        """The names of other Brokers that have parts."""
        lists = (parts for mapping in self.table.values() for parts in mapping.hosted_queues.values())
        return {part.bname for parts in lists for part in parts if not self.is_here(part)}

    def told_of(self, mapped: Mapped, part: QueuePart, asked: int, reply: Reply) -> None:
        """Make the answer to a pull of a part, from the offset `asked` on, one of the mapped queue."""
        ext = reply.ext
        assert ext is not None
        following, low, high = (int(ext[name] or 0) for name in ("nextBeginOffset", "minOffset", "maxOffset"))
        if reply.code != ResponseCode.SUCCESS:
            reply.remark = None
            is_last, is_first = part is mapped.last, part is mapped.part_of(0)
            if asked < low and is_first:
                reply.code, following = ResponseCode.PULL_OFFSET_MOVED, low
            elif asked < low:
                reply.code, following = ResponseCode.PULL_RETRY_IMMEDIATELY, low
            elif asked >= high and (is_first or not is_last):
                later = mapped.behind(part)
                if later is None:
                    reply.code, following = ResponseCode.PULL_NOT_FOUND, min(following, high)
                else:
                    reply.code, part = self.at_end(later)
                    following = low = high = part.start_offset
        if part.has_end:
            following = min(following, part.end_offset)
        ext["nextBeginOffset"] = str(part.mapped(following))
        ext["minOffset"] = str(part.mapped(max(part.start_offset, low)))
        ext["maxOffset"] = str(max(part.mapped(high), mapped.last.greatest()))
        ext["offsetDelta"] = str(part.logic_offset - part.start_offset)

    # -- decisions (see parts.py) ----------------------------------------------------------------------------

    def at_end(self, later: QueuePart) -> tuple[int, QueuePart]:
        """The code of a pull at the end of a part, and the part in which it goes on."""
        return ResponseCode.PULL_RETRY_IMMEDIATELY, later

    def leads(self, parts: Sequence[QueuePart]) -> bool:
        """Whether a mapped queue goes on at this Broker."""
        return bool(parts) and self.is_here(parts[-1])

    def refusal(self, mapping: Mapping, *, forced: bool) -> str | None:
        """Why a mapping is not taken; None: it is."""
        for parts in mapping.hosted_queues.values():
            fault = self.fault(parts)
            if fault is not None:
                return fault
        known = self.table.get(mapping.topic)
        if known is None or forced:
            return None
        if mapping.scope is None:
            return "a mapping without scope"
        if mapping.epoch < known.epoch:
            return f"Can't accept data with small epoch {mapping.epoch} < {known.epoch}"
        if mapping.scope != known.scope:
            return f"Can't accept data with unmatched scope {mapping.scope} != {known.scope}"
        if mapping.epoch > known.epoch:
            return None
        if known.hosted_queues.keys() - mapping.hosted_queues.keys():
            return "Cannot accept equal epoch with null data"
        for number, parts in known.hosted_queues.items():
            given = mapping.hosted_queues[number]
            if not (parts and given and self.is_same(parts[-1], given[-1])):
                return "The new leader is different but epoch equal"
        return None

    def is_same(self, known: QueuePart, given: QueuePart) -> bool:
        """Whether both are the same part; where it ends, and its offset in the mapped queue, may differ."""
        return (known.gen, known.bname, known.queue_id, known.start_offset) == (
            given.gen,
            given.bname,
            given.queue_id,
            given.start_offset,
        )

    def fault(self, parts: Sequence[QueuePart]) -> str | None:
        """Why parts cannot follow each other; None: they can. The last one is looked at first."""
        later: QueuePart | None = None
        for part in reversed(parts):
            if part.start_offset < 0 or part.gen < 0 or part.queue_id < 0:
                return "The field is illegal, should not be negative"
            if later is not None and part.logic_offset < 0:
                return "The non-latest item has negative logic offset"
            if later is not None and part.gen >= later.gen:
                return "The gen does not increase monotonically"
            if part.end_offset != -1 and part.end_offset < part.start_offset:
                return "The endOffset is smaller than the start offset"
            if later is not None and later.logic_offset != -1:
                if part.logic_offset >= later.logic_offset:
                    return "The base logic offset does not increase monotonically"
                if part.greatest() >= later.logic_offset:
                    return "The max logic offset does not increase monotonically"
            later = part
        return None


class _Stored(msgspec.Struct, rename="camel"):
    data_version: DataVersion | None = None
    topic_queue_mapping_info_map: dict[str, Mapping] = {}


def _stored(data: bytes) -> _Stored:
    try:
        return msgspec.convert(parse(data), _Stored, strict=False)
    except (ParseError, msgspec.ValidationError) as error:
        raise WireError(str(error)) from error
