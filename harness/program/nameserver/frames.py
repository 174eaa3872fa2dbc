"""What requests to a NameServer carry.

Invariants: pure; ext fields and body are decided by the step and the names.
"""

from __future__ import annotations

import zlib

import msgspec

from harness.program.carried import ext_of
from harness.program.names import Names
from harness.program.nameserver.steps import (
    AnyRequest,
    Configure,
    Kv,
    Permission,
    QueryVersion,
    Queues,
    Register,
    RegisterTopic,
    Unit,
    Unknown,
)
from harness.wire import body_crc32
from harness.wire.bodies import (
    BrokerData,
    DataVersion,
    QueueData,
    RegisterBody,
    TopicConfig,
    TopicQueueMappingInfo,
    TopicRoute,
)
from harness.wire.versions import V5_0_0

BORN = 1_700_000_000_000
"""Timestamp (ms) of a data version with ``timestamp`` 0."""

ORDER = "ORDER_TOPIC_CONFIG"
"""The namespace that the server itself reads (`NamesrvUtil`)."""

NOBODYS = "nobodyKnowsThis"
"""A setting that no server knows."""

_FIRST_MAPPING = DataVersion(timestamp=BORN, state_version=0)
"""The version of the static topics of a Broker that has none."""
_GARBAGE = b'{"topicConfigSerializeWrapper":['


Content = tuple[int, dict[str, str | None], bytes]
"""Code, ext fields, body."""


def content_of(step: AnyRequest, names: Names, announces: int) -> Content:
    """What a request carries whose header announces a release, where the step names none."""
    ext, body = _content(step, names, announces if step.announces is None else step.announces)
    return code_of(step), ext, body


def code_of(step: AnyRequest) -> int:
    """The request code of a step."""
    match step:
        case Permission() | Kv() | Unit() | Unknown():
            return step.code
    return step.codes[0]


def _content(step: AnyRequest, names: Names, announces: int) -> tuple[dict[str, str | None], bytes]:
    match step:
        case Register():
            return _registration(step, names, announces)
        case Kv():
            return _kv(step, names), b""
        case QueryVersion():
            return ext_of(step, names), _version_body(step, is_whole=_is_whole(step, announces))
        case RegisterTopic():
            return ext_of(step, names), _topic_body(step, names)
        case Configure():
            return {}, "\n".join(step.lines).encode()
    return ext_of(step, names), b""


def _kv(step: Kv, names: Names) -> dict[str, str | None]:
    ext: dict[str, str | None] = {"namespace": step.namespace}
    if step.code != 219:
        ext["key"] = step.key if step.topic is None else names.name(step.topic)
    if step.code == 100:
        ext["value"] = step.value
    return ext


def _is_whole(step: Register | QueryVersion, announces: int) -> bool:
    """Whether a body has every member that a Broker of 5.x sends."""
    return announces >= V5_0_0 and not step.lean


def _version_body(step: QueryVersion, *, is_whole: bool) -> bytes:
    if step.form == "json":
        return DataVersion(step.counter, BORN + step.timestamp, _state(step, is_whole)).encode()
    return {"none": b"", "null": b"null", "garbage": _GARBAGE}[step.form]


def _topic_body(step: RegisterTopic, names: Names) -> bytes:
    if step.form != "json":
        return {"none": b"", "null": b"null", "garbage": _GARBAGE}[step.form]
    return TopicRoute(
        queue_datas=[
            QueueData(names.name(broker), read, write, perm, flag)
            for broker, (read, write, perm, flag) in step.queues.items()
        ],
        broker_datas=[  # a route has them, and they must not count
            BrokerData("c0", names.name(broker), {0: names.address("a99")}) for broker in step.queues
        ],
    ).encode("legacy")


def _registration(step: Register, names: Names, announces: int) -> tuple[dict[str, str | None], bytes]:
    body = _register_body(step, names, is_whole=_is_whole(step, announces))
    compressed = (
        step.form.startswith("compressed") if step.claims_compressed is None else step.claims_compressed
    )
    ext = ext_of(step, names)
    ext["compressed"] = "true" if compressed else "false"
    if step.ha:
        ext["haServerAddr"] = f"{names.address(step.address)}1"
    if step.crc != "none":
        ext["bodyCrc32"] = str(body_crc32(body) ^ (step.crc == "wrong"))
    return ext, body


def _register_body(step: Register, names: Names, *, is_whole: bool) -> bytes:
    if step.form in ("none", "null", "garbage"):
        return {"none": b"", "null": b"null", "garbage": _GARBAGE}[step.form]
    body = RegisterBody(
        topics={(name := names.name(topic)): _config(name, queues) for topic, queues in step.topics.items()},
        data_version=DataVersion(step.counter, BORN + step.timestamp, _state(step, is_whole)),
        filter_servers=(
            msgspec.UNSET
            if step.no_filters
            else None
            if step.filters is None
            else [f"{names.address(step.address)}:{server}" for server in step.filters]
        ),
    )
    if is_whole:
        body.mappings, body.mapping_details, body.mapping_data_version = {}, {}, _FIRST_MAPPING
        for topic in (body.topics or {}).values():
            topic.attributes = {}
    if step.mappings:
        body.mappings = {
            (name := names.name(topic)): TopicQueueMappingInfo(
                topic=name,
                bname=names.name(broker),
                total_queues=4,
                epoch=epoch,
                curr_id_map={0: epoch, 1: 3},
            )
            for topic, (broker, epoch) in step.mappings.items()
        }
    if step.form == "bare":
        return body.encode_bare()
    if step.form == "json":
        return body.encode()
    # Level 1: what is compressed is the same, and it is a tenth of the work.
    return zlib.compress(body.layout(v5=step.form == "compressed-5"), 1)


def _state(step: Register | QueryVersion, is_whole: bool) -> int | None:
    return 0 if step.state is None and is_whole else step.state


def _config(name: str, queues: Queues) -> TopicConfig:
    read, write, perm, flag = queues
    return TopicConfig(
        topic_name=name,
        read_queue_nums=read,
        write_queue_nums=write,
        perm=perm,
        topic_sys_flag=flag,
    )
