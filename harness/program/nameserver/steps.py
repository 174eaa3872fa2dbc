"""The steps that a NameServer understands.

A step names brokers, clusters, topics, addresses and connections by short symbols (``b1``, ``c0``, ``T2``,
``a10``, ``k10``).
"""

from __future__ import annotations

from typing import ClassVar, Literal

from harness.program.damages import AnyDamage
from harness.program.step import Request, Step, address, name, plain
from harness.wire import RequestCode
from harness.wire.requests import REQUESTS

_IDENTITY = {
    "brokerName": name("broker"),
    "brokerAddr": address("address"),
    "clusterName": name("cluster"),
    "brokerId": plain("id"),
}
"""Ext fields that say which broker it is."""

Queues = tuple[int, int, int, int]
"""Read queues, write queues, permission, system flag."""


class Register(Request, frozen=True, kw_only=True, omit_defaults=True, tag_field="do", tag="register"):
    letters: ClassVar = "RS"
    rules: ClassVar = ("register", "register-slave")
    codes: ClassVar = (RequestCode.REGISTER_BROKER,)
    carries: ClassVar = {
        **_IDENTITY,
        "heartbeatTimeoutMillis": plain("lease"),
        "enableActingMaster": plain("acting"),
        "__ZONE_NAME": plain("zone"),
    }

    cluster: str = "c0"
    broker: str = "b0"
    address: str = "a0"
    id: int = 0
    topics: dict[str, Queues] = {}  # noqa: RUF012  (a struct, whose defaults are copied)
    counter: int = 1
    timestamp: int = 0
    """Milliseconds after the first data version of all brokers."""
    state: int | None = None
    """``stateVersion``; None is 0 where the body is that of a Broker of 5.x, else leaves it out."""
    lean: bool = False
    """The members that came with 5.x are left out, whatever release the header announces."""
    form: Literal["json", "compressed", "compressed-5", "bare", "none", "null", "garbage"] = "json"
    """How the body is written; ``compressed`` without and ``compressed-5`` with the parts of 5.x."""
    claims_compressed: bool | None = None
    """Ext field ``compressed``; None says the truth."""
    crc: Literal["right", "none", "wrong"] = "right"
    filters: tuple[str, ...] | None = ()
    """None is an explicit null."""
    no_filters: bool = False
    """The member is not there at all."""
    mappings: dict[str, tuple[str, int]] = {}  # noqa: RUF012
    """Topic -> broker symbol and epoch, for static topics (5.x)."""
    ha: bool = True
    """Whether ``haServerAddr`` is sent."""
    lease: int | None = None
    """``heartbeatTimeoutMillis`` (5.x)."""
    acting: bool | None = None
    """``enableActingMaster`` (5.x)."""
    zone: str | None = None
    """``__ZONE_NAME`` (5.x)."""

    @property
    def rule(self) -> str:
        return self.rules[self.id != 0]


class Unregister(Request, frozen=True, kw_only=True, omit_defaults=True, tag_field="do", tag="unregister"):
    letters: ClassVar = "U"
    codes: ClassVar = (RequestCode.UNREGISTER_BROKER,)
    carries: ClassVar = _IDENTITY

    cluster: str = "c0"
    broker: str = "b0"
    address: str = "a0"
    id: int = 0


class Heartbeat(Request, frozen=True, kw_only=True, omit_defaults=True, tag_field="do", tag="heartbeat"):
    letters: ClassVar = "H"
    codes: ClassVar = (RequestCode.BROKER_HEARTBEAT,)
    carries: ClassVar = {**_IDENTITY, "heartbeatTimeoutMills": plain("lease")}

    cluster: str = "c0"
    broker: str = "b0"
    address: str = "a0"
    id: int = 0
    lease: int | None = None
    """``heartbeatTimeoutMills``, which counts for nothing."""


class QueryVersion(
    Request, frozen=True, kw_only=True, omit_defaults=True, tag_field="do", tag="query-version"
):
    letters: ClassVar = "V"
    codes: ClassVar = (RequestCode.QUERY_DATA_VERSION,)
    carries: ClassVar = _IDENTITY

    cluster: str = "c0"
    broker: str = "b0"
    address: str = "a0"
    id: int = 0
    counter: int = 1
    timestamp: int = 0
    state: int | None = None
    """As that of `Register`."""
    lean: bool = False
    """As that of `Register`."""
    form: Literal["json", "none", "null", "garbage"] = "json"


class Route(Request, frozen=True, kw_only=True, omit_defaults=True, tag_field="do", tag="route"):
    letters: ClassVar = "r"
    codes: ClassVar = (RequestCode.GET_ROUTEINFO_BY_TOPIC,)
    carries: ClassVar = {
        "topic": name("topic"),
        "acceptStandardJsonOnly": plain("standard"),
        "__ZONE_MODE": plain("zone_mode"),
        "__ZONE_NAME": plain("zone"),
    }

    topic: str = "T0"
    standard: bool | None = None
    """``acceptStandardJsonOnly``."""
    zone_mode: str | None = None
    zone: str | None = None


class ClusterInfo(Request, frozen=True, kw_only=True, omit_defaults=True, tag_field="do", tag="cluster-info"):
    letters: ClassVar = "i"
    codes: ClassVar = (RequestCode.GET_BROKER_CLUSTER_INFO,)


class Topics(Request, frozen=True, kw_only=True, omit_defaults=True, tag_field="do", tag="topics"):
    letters: ClassVar = "t"
    codes: ClassVar = (RequestCode.GET_ALL_TOPIC_LIST_FROM_NAMESERVER,)


class MemberGroup(Request, frozen=True, kw_only=True, omit_defaults=True, tag_field="do", tag="member-group"):
    letters: ClassVar = "g"
    codes: ClassVar = (RequestCode.GET_BROKER_MEMBER_GROUP,)
    carries: ClassVar = {"clusterName": name("cluster"), "brokerName": name("broker")}

    cluster: str = "c0"
    broker: str = "b0"


class Permission(Request, frozen=True, kw_only=True, omit_defaults=True, tag_field="do", tag="permission"):
    letters: ClassVar = "wa"
    rules: ClassVar = ("wipe-permission", "add-permission")
    codes: ClassVar = (
        RequestCode.WIPE_WRITE_PERM_OF_BROKER,
        RequestCode.ADD_WRITE_PERM_OF_BROKER,
    )
    carries: ClassVar = {"brokerName": name("broker")}

    broker: str = "b0"
    code: Literal[205, 327] = 205

    @property
    def rule(self) -> str:
        return self.rules[self.codes.index(self.code)]


class Kv(Request, frozen=True, kw_only=True, omit_defaults=True, tag_field="do", tag="kv"):
    """100 (put), 101 (get), 102 (delete), 219 (list). Namespaces and keys are as they are."""

    letters: ClassVar = "pkdl"
    rules: ClassVar = ("put-kv", "get-kv", "delete-kv", "list-kv")
    codes: ClassVar = (
        RequestCode.PUT_KV_CONFIG,
        RequestCode.GET_KV_CONFIG,
        RequestCode.DELETE_KV_CONFIG,
        RequestCode.GET_KVLIST_BY_NAMESPACE,
    )

    code: Literal[100, 101, 102, 219] = 101
    namespace: str = "n0"
    key: str = "x"
    topic: str | None = None
    """The key is the name of this topic instead."""
    value: str = "v"

    @property
    def rule(self) -> str:
        return self.rules[self.codes.index(self.code)]


class DeleteTopic(Request, frozen=True, kw_only=True, omit_defaults=True, tag_field="do", tag="delete-topic"):
    letters: ClassVar = "X"
    codes: ClassVar = (RequestCode.DELETE_TOPIC_IN_NAMESRV,)
    carries: ClassVar = {"topic": name("topic"), "clusterName": name("cluster")}

    topic: str = "T0"
    cluster: str | None = None
    """Empty: an empty field, which is as none."""


class RegisterTopic(
    Request, frozen=True, kw_only=True, omit_defaults=True, tag_field="do", tag="register-topic"
):
    letters: ClassVar = "N"
    codes: ClassVar = (RequestCode.REGISTER_TOPIC_IN_NAMESRV,)
    carries: ClassVar = {"topic": name("topic")}

    topic: str = "T0"
    queues: dict[str, Queues] = {}  # noqa: RUF012
    """By broker symbol."""
    form: Literal["json", "none", "null", "garbage"] = "json"


class TopicsOfCluster(
    Request, frozen=True, kw_only=True, omit_defaults=True, tag_field="do", tag="topics-of-cluster"
):
    letters: ClassVar = "c"
    codes: ClassVar = (RequestCode.GET_TOPICS_BY_CLUSTER,)
    carries: ClassVar = {"cluster": name("cluster")}

    cluster: str = "c0"


class SystemTopics(
    Request, frozen=True, kw_only=True, omit_defaults=True, tag_field="do", tag="system-topics"
):
    letters: ClassVar = "s"
    codes: ClassVar = (RequestCode.GET_SYSTEM_TOPIC_LIST_FROM_NS,)


class Unit(Request, frozen=True, kw_only=True, omit_defaults=True, tag_field="do", tag="unit"):
    letters: ClassVar = "u"
    codes: ClassVar = (
        RequestCode.GET_UNIT_TOPIC_LIST,
        RequestCode.GET_HAS_UNIT_SUB_TOPIC_LIST,
        RequestCode.GET_HAS_UNIT_SUB_UNUNIT_TOPIC_LIST,
    )

    code: Literal[311, 312, 313] = 311


class Configure(Request, frozen=True, kw_only=True, omit_defaults=True, tag_field="do", tag="configure"):
    letters: ClassVar = "C"
    codes: ClassVar = (RequestCode.UPDATE_NAMESRV_CONFIG,)

    lines: tuple[str, ...] = ()
    """Of a properties file."""


class Configuration(
    Request, frozen=True, kw_only=True, omit_defaults=True, tag_field="do", tag="configuration"
):
    letters: ClassVar = "f"
    codes: ClassVar = (RequestCode.GET_NAMESRV_CONFIG,)


class Unknown(Request, frozen=True, kw_only=True, omit_defaults=True, tag_field="do", tag="unknown"):
    """A request code that no NameServer knows."""

    letters: ClassVar = "z"

    code: int = 999


AnyRequest = (
    Register
    | Unregister
    | Heartbeat
    | QueryVersion
    | Route
    | ClusterInfo
    | Topics
    | MemberGroup
    | Permission
    | Kv
    | DeleteTopic
    | RegisterTopic
    | TopicsOfCluster
    | SystemTopics
    | Unit
    | Configure
    | Configuration
    | Unknown
)


class Damaged(Step, frozen=True, kw_only=True, omit_defaults=True, tag_field="do", tag="damaged"):
    """A request with damages (`harness.program.damages`), and whole ones around it, all in one segment.

    Of the base what says how it is sent (`conn` to `awaited`, but for `binary`, `announces`, `oneway` and
    `drop`) does not count.
    """

    letters: ClassVar = "D"

    server: int = 0
    conn: str = "q"
    base: AnyRequest = ClusterInfo()
    damages: tuple[AnyDamage, ...] = ()
    before: tuple[AnyRequest, ...] = ()
    after: tuple[AnyRequest, ...] = ()
    cuts: tuple[int, ...] = ()
    """Offsets at which all of it is split into segments after all; negative ones count from the end."""


def _is_quiet(kind: type[Request]) -> bool:
    return bool(kind.codes) and all(REQUESTS[code].read_only for code in kind.codes)


QUIET = tuple(kind for kind in AnyRequest.__args__ if _is_quiet(kind))
"""Steps that change nothing but leases, so that several may be under way at once."""
