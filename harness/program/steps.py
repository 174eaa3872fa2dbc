"""Steps: the words of a program. Values only; one step is one line of JSON.

Rules of this module:
- A step names brokers, clusters, topics, addresses and connections by short symbols (``b1``, ``c0``, ``T2``,
  ``a10``, ``k10``); names that nobody else uses are made of them when it is carried out.
- Each step can be carried out alone, whatever was left out before it: so any part of a program is a program.
- The steps that NameServers understand are here, those of Brokers in `broker_steps`; what both have is in
  `step`.
- Every field has a default, and the default is the plainest thing to do: a program is simplified by taking
  fields back to it.
"""

from __future__ import annotations

from typing import Literal

import msgspec

from harness.program.broker_steps import BROKER_TITLES, AnyBrokerRequest
from harness.program.damages import AnyDamage
from harness.program.step import Close, Reconnect, Request, Restart, Step, Time

__all__ = [
    "QUIET",
    "TITLES",
    "AnyBrokerRequest",
    "AnyQuestion",
    "AnyRequest",
    "AnyStep",
    "Close",
    "ClusterInfo",
    "Configuration",
    "Configure",
    "Damaged",
    "DeleteTopic",
    "Heartbeat",
    "Kv",
    "MemberGroup",
    "Permission",
    "QueryVersion",
    "Queues",
    "Reconnect",
    "Register",
    "RegisterTopic",
    "Request",
    "Restart",
    "Route",
    "SystemTopics",
    "Time",
    "Topics",
    "TopicsOfCluster",
    "Unit",
    "Unknown",
    "Unregister",
    "decode_step",
    "encode_step",
]

Queues = tuple[int, int, int, int]
"""Read queues, write queues, permission, system flag."""


class Register(Request, frozen=True, kw_only=True, omit_defaults=True, tag_field="do", tag="register"):
    """103."""

    cluster: str = "c0"
    broker: str = "b0"
    address: str = "a0"
    id: int = 0
    topics: dict[str, Queues] = {}  # noqa: RUF012  (a struct, whose defaults are copied)
    counter: int = 1
    timestamp: int = 0
    """Milliseconds after the first data version of all brokers."""
    state: int | None = None
    """``stateVersion``; None leaves it out."""
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


class Unregister(Request, frozen=True, kw_only=True, omit_defaults=True, tag_field="do", tag="unregister"):
    """104."""

    cluster: str = "c0"
    broker: str = "b0"
    address: str = "a0"
    id: int = 0


class Heartbeat(Request, frozen=True, kw_only=True, omit_defaults=True, tag_field="do", tag="heartbeat"):
    """904."""

    cluster: str = "c0"
    broker: str = "b0"
    address: str = "a0"
    id: int = 0
    lease: int | None = None
    """``heartbeatTimeoutMills``, which counts for nothing."""


class QueryVersion(
    Request, frozen=True, kw_only=True, omit_defaults=True, tag_field="do", tag="query-version"
):
    """322."""

    cluster: str = "c0"
    broker: str = "b0"
    address: str = "a0"
    id: int = 0
    counter: int = 1
    timestamp: int = 0
    state: int | None = None
    form: Literal["json", "none", "null", "garbage"] = "json"


class Route(Request, frozen=True, kw_only=True, omit_defaults=True, tag_field="do", tag="route"):
    """105."""

    topic: str = "T0"
    standard: bool | None = None
    """``acceptStandardJsonOnly``."""
    zone_mode: str | None = None
    zone: str | None = None


class ClusterInfo(Request, frozen=True, kw_only=True, omit_defaults=True, tag_field="do", tag="cluster-info"):
    """106."""


class Topics(Request, frozen=True, kw_only=True, omit_defaults=True, tag_field="do", tag="topics"):
    """206."""


class MemberGroup(Request, frozen=True, kw_only=True, omit_defaults=True, tag_field="do", tag="member-group"):
    """901."""

    cluster: str = "c0"
    broker: str = "b0"


class Permission(Request, frozen=True, kw_only=True, omit_defaults=True, tag_field="do", tag="permission"):
    """205 (wipe) and 327 (add)."""

    broker: str = "b0"
    code: Literal[205, 327] = 205


class Kv(Request, frozen=True, kw_only=True, omit_defaults=True, tag_field="do", tag="kv"):
    """100 (put), 101 (get), 102 (delete), 219 (list). Namespaces and keys are as they are."""

    code: Literal[100, 101, 102, 219] = 101
    namespace: str = "n0"
    key: str = "x"
    topic: str | None = None
    """The key is the name of this topic instead."""
    value: str = "v"


class DeleteTopic(Request, frozen=True, kw_only=True, omit_defaults=True, tag_field="do", tag="delete-topic"):
    """216."""

    topic: str = "T0"
    cluster: str | None = None
    """Empty: an empty field, which is as none."""


class RegisterTopic(
    Request, frozen=True, kw_only=True, omit_defaults=True, tag_field="do", tag="register-topic"
):
    """217."""

    topic: str = "T0"
    queues: dict[str, Queues] = {}  # noqa: RUF012
    """By broker symbol."""
    form: Literal["json", "none", "null", "garbage"] = "json"


class TopicsOfCluster(
    Request, frozen=True, kw_only=True, omit_defaults=True, tag_field="do", tag="topics-of-cluster"
):
    """224."""

    cluster: str = "c0"


class SystemTopics(
    Request, frozen=True, kw_only=True, omit_defaults=True, tag_field="do", tag="system-topics"
):
    """304."""


class Unit(Request, frozen=True, kw_only=True, omit_defaults=True, tag_field="do", tag="unit"):
    """311, 312, 313."""

    code: Literal[311, 312, 313] = 311


class Configure(Request, frozen=True, kw_only=True, omit_defaults=True, tag_field="do", tag="configure"):
    """318."""

    lines: tuple[str, ...] = ()
    """Of a properties file."""


class Configuration(
    Request, frozen=True, kw_only=True, omit_defaults=True, tag_field="do", tag="configuration"
):
    """319."""


class Unknown(Request, frozen=True, kw_only=True, omit_defaults=True, tag_field="do", tag="unknown"):
    """A request code that no NameServer knows."""

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

    server: int = 0
    conn: str = "q"
    base: AnyRequest = ClusterInfo()
    damages: tuple[AnyDamage, ...] = ()
    before: tuple[AnyRequest, ...] = ()
    after: tuple[AnyRequest, ...] = ()
    cuts: tuple[int, ...] = ()
    """Offsets at which all of it is split into segments after all; negative ones count from the end."""


AnyQuestion = AnyRequest | AnyBrokerRequest
"""A request to a server of either role."""

AnyStep = AnyQuestion | Damaged | Close | Reconnect | Restart | Time
"""Of a NameServer or of a Broker."""

QUIET = (
    Route,
    ClusterInfo,
    Topics,
    MemberGroup,
    QueryVersion,
    Heartbeat,
    TopicsOfCluster,
    SystemTopics,
    Unit,
    Configuration,
)
"""Steps that change nothing but leases, so that several may be under way at once."""

TITLES: dict[type, str] = {
    Register: "register broker (103)",
    Unregister: "unregister broker (104)",
    Heartbeat: "heartbeat (904)",
    QueryVersion: "query data version (322)",
    Route: "route (105)",
    ClusterInfo: "cluster information (106)",
    Topics: "all topics (206)",
    MemberGroup: "member group (901)",
    Permission: "write permission (205, 327)",
    Kv: "KV configuration (100, 101, 102, 219)",
    DeleteTopic: "delete topic (216)",
    RegisterTopic: "register topic (217)",
    TopicsOfCluster: "topics of a cluster (224)",
    SystemTopics: "system topics (304)",
    Unit: "unit topics (311, 312, 313)",
    Configure: "update configuration (318)",
    Configuration: "configuration (319)",
    Unknown: "unknown request code",
    Damaged: "damaged frame",
    Close: "close of a connection",
    Reconnect: "new connection beside the old one",
    Restart: "restart of the server",
    Time: "time passes",
    **BROKER_TITLES,
}

_decoder: msgspec.json.Decoder[AnyStep] = msgspec.json.Decoder(AnyStep)
_encoder = msgspec.json.Encoder()


def encode_step(step: AnyStep) -> str:
    """One line of JSON."""
    return _encoder.encode(step).decode()


def decode_step(line: str | bytes) -> AnyStep:
    """The step of a line. Raises ``msgspec.MsgspecError``."""
    return _decoder.decode(line)
