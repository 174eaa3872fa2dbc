"""From steps to bytes: equal names, equal opaques, equal frames.

Rules of this module: pure; a frame is decided by its step, the names and the opaque.
"""

from __future__ import annotations

import zlib

import msgspec

from harness.program.broker_frames import asked_of_broker
from harness.program.broker_steps import AnyBrokerRequest
from harness.program.chance import chance
from harness.program.names import Names
from harness.program.steps import (
    AnyQuestion,
    AnyRequest,
    ClusterInfo,
    Configuration,
    Configure,
    DeleteTopic,
    Heartbeat,
    Kv,
    MemberGroup,
    Permission,
    QueryVersion,
    Queues,
    Register,
    RegisterTopic,
    Route,
    SystemTopics,
    Topics,
    TopicsOfCluster,
    Unit,
    Unknown,
    Unregister,
)
from harness.wire import Command, RequestCode, Serialization, body_crc32, encode
from harness.wire.bodies import (
    BrokerData,
    DataVersion,
    QueueData,
    RegisterBody,
    TopicConfig,
    TopicQueueMappingInfo,
    TopicRoute,
)

__all__ = ["BORN", "NOBODYS", "ORDER", "Names", "code_of", "frame_of"]

BORN = 1_700_000_000_000
"""Timestamp (ms) of a data version with ``timestamp`` 0."""

ORDER = "ORDER_TOPIC_CONFIG"
"""The namespace that the server itself reads (`NamesrvUtil`)."""

NOBODYS = "nobodyKnowsThis"
"""A setting that no server knows."""

_GARBAGE = b'{"topicConfigSerializeWrapper":['


def code_of(step: AnyQuestion) -> int:
    """The request code of a step."""
    if isinstance(step, AnyBrokerRequest):
        return asked_of_broker(step, _NOBODY, 0)[0]
    match step:
        case Permission() | Kv() | Unit() | Unknown():
            return step.code
    return _CODES[type(step)]


_NOBODY = Names(chance("nobody"))
"""Names that are looked at by nobody."""

_CODES: dict[type, int] = {
    Register: RequestCode.REGISTER_BROKER,
    Unregister: RequestCode.UNREGISTER_BROKER,
    Heartbeat: RequestCode.BROKER_HEARTBEAT,
    QueryVersion: RequestCode.QUERY_DATA_VERSION,
    Route: RequestCode.GET_ROUTEINFO_BY_TOPIC,
    ClusterInfo: RequestCode.GET_BROKER_CLUSTER_INFO,
    Topics: RequestCode.GET_ALL_TOPIC_LIST_FROM_NAMESERVER,
    MemberGroup: RequestCode.GET_BROKER_MEMBER_GROUP,
    DeleteTopic: RequestCode.DELETE_TOPIC_IN_NAMESRV,
    RegisterTopic: RequestCode.REGISTER_TOPIC_IN_NAMESRV,
    TopicsOfCluster: RequestCode.GET_TOPICS_BY_CLUSTER,
    SystemTopics: RequestCode.GET_SYSTEM_TOPIC_LIST_FROM_NS,
    Configure: RequestCode.UPDATE_NAMESRV_CONFIG,
    Configuration: RequestCode.GET_NAMESRV_CONFIG,
}


def frame_of(step: AnyQuestion, names: Names, opaque: int, announces: int) -> bytes:
    """The frame of a request; ``announces`` is the version where the step names none."""
    if isinstance(step, AnyBrokerRequest):
        code, ext, body = asked_of_broker(step, names, announces)
    else:
        code, (ext, body) = code_of(step), _content(step, names)
    for field in step.drop:
        ext.pop(field, None)
    return encode(
        Command(
            code=int(code),
            opaque=opaque,
            flag=2 if step.oneway else 0,
            version=announces if step.announces is None else step.announces,
            ext=ext,
            body=body,
            serialization=Serialization.ROCKETMQ if step.binary else Serialization.JSON,
        )
    )


def _content(step: AnyRequest, names: Names) -> tuple[dict[str, str | None], bytes]:
    match step:
        case Register():
            return _registration(step, names)
        case QueryVersion():
            return _identity(step, names), _version_body(step)
        case Heartbeat() if step.lease is not None:
            return {**_identity(step, names), "heartbeatTimeoutMills": str(step.lease)}, b""
        case Unregister() | Heartbeat():
            return _identity(step, names), b""
        case Route():
            return _route(step, names), b""
        case MemberGroup():
            return {"clusterName": names.name(step.cluster), "brokerName": names.name(step.broker)}, b""
        case Permission():
            return {"brokerName": names.name(step.broker)}, b""
        case Kv():
            return _kv(step, names), b""
        case DeleteTopic():
            ext: dict[str, str | None] = {"topic": names.name(step.topic)}
            if step.cluster is not None:
                ext["clusterName"] = step.cluster and names.name(step.cluster)
            return ext, b""
        case RegisterTopic():
            return {"topic": names.name(step.topic)}, _topic_body(step, names)
        case TopicsOfCluster():
            return {"cluster": names.name(step.cluster)}, b""
        case Configure():
            return {}, "\n".join(step.lines).encode()
    return {}, b""


def _identity(step: Unregister | Heartbeat | QueryVersion, names: Names) -> dict[str, str | None]:
    return {
        "brokerName": names.name(step.broker),
        "brokerAddr": names.address(step.address),
        "clusterName": names.name(step.cluster),
        "brokerId": str(step.id),
    }


def _route(step: Route, names: Names) -> dict[str, str | None]:
    ext: dict[str, str | None] = {"topic": names.name(step.topic)}
    if step.standard is not None:
        ext["acceptStandardJsonOnly"] = "true" if step.standard else "false"
    if step.zone_mode is not None:
        ext["__ZONE_MODE"] = step.zone_mode
    if step.zone is not None:
        ext["__ZONE_NAME"] = step.zone
    return ext


def _kv(step: Kv, names: Names) -> dict[str, str | None]:
    ext: dict[str, str | None] = {"namespace": step.namespace}
    if step.code != 219:
        ext["key"] = step.key if step.topic is None else names.name(step.topic)
    if step.code == 100:
        ext["value"] = step.value
    return ext


def _version_body(step: QueryVersion) -> bytes:
    if step.form == "json":
        return DataVersion(step.counter, BORN + step.timestamp, step.state).encode()
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


def _registration(step: Register, names: Names) -> tuple[dict[str, str | None], bytes]:
    body = _register_body(step, names)
    compressed = (
        step.form.startswith("compressed") if step.claims_compressed is None else step.claims_compressed
    )
    ext: dict[str, str | None] = {
        "brokerName": names.name(step.broker),
        "brokerAddr": names.address(step.address),
        "clusterName": names.name(step.cluster),
        "brokerId": str(step.id),
        "compressed": "true" if compressed else "false",
    }
    if step.ha:
        ext["haServerAddr"] = f"{names.address(step.address)}1"
    if step.crc != "none":
        ext["bodyCrc32"] = str(body_crc32(body) ^ (step.crc == "wrong"))
    if step.lease is not None:
        ext["heartbeatTimeoutMillis"] = str(step.lease)
    if step.acting is not None:
        ext["enableActingMaster"] = "true" if step.acting else "false"
    if step.zone is not None:
        ext["__ZONE_NAME"] = step.zone
    return ext, body


def _register_body(step: Register, names: Names) -> bytes:
    if step.form in ("none", "null", "garbage"):
        return {"none": b"", "null": b"null", "garbage": _GARBAGE}[step.form]
    body = RegisterBody(
        topics={(name := names.name(topic)): _config(name, queues) for topic, queues in step.topics.items()},
        data_version=DataVersion(step.counter, BORN + step.timestamp, step.state),
        filter_servers=(
            msgspec.UNSET
            if step.no_filters
            else None
            if step.filters is None
            else [f"{names.address(step.address)}:{server}" for server in step.filters]
        ),
    )
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


def _config(name: str, queues: Queues) -> TopicConfig:
    read, write, perm, flag = queues
    return TopicConfig(
        topic_name=name, read_queue_nums=read, write_queue_nums=write, perm=perm, topic_sys_flag=flag
    )
