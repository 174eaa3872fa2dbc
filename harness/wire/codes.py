"""Numbers that have names on the wire: request codes, response codes, flags, languages, protocol versions.

Sources: `RequestCode`, `ResponseCode`, `RemotingSysResponseCode`, `LanguageCode`, `MQVersion` of
rocketmq-all-4.9.8 and rocketmq-all-5.3.3. Only what a NameServer answers or sends is listed: an unknown
number stays a plain int everywhere.
"""

from __future__ import annotations

from enum import IntEnum
from typing import Final

__all__ = [
    "FLAG_ONEWAY",
    "FLAG_RESPONSE",
    "LANGUAGES",
    "LANGUAGE_NUMBERS",
    "V3_0_7_SNAPSHOT",
    "V3_0_11",
    "V3_1_8_SNAPSHOT",
    "V3_4_9",
    "V4_9_4",
    "V4_9_8",
    "V5_0_0",
    "V5_3_1",
    "V5_3_3",
    "RequestCode",
    "ResponseCode",
    "Serialization",
]

FLAG_RESPONSE: Final = 1
"""Bit 0 of `flag`: the command is a response. It wins over `FLAG_ONEWAY`."""

FLAG_ONEWAY: Final = 2
"""Bit 1 of `flag`: nobody waits for an answer."""

LANGUAGES: Final = (
    "JAVA",
    "CPP",
    "DOTNET",
    "PYTHON",
    "DELPHI",
    "ERLANG",
    "RUBY",
    "OTHER",
    "HTTP",
    "GO",
    "PHP",
    "OMS",
    "RUST",
    "NODE_JS",
)
"""Names in the order of their number. NODE_JS exists in 5.x only; 4.9 takes it for unknown."""

LANGUAGE_NUMBERS: Final = {name: number for number, name in enumerate(LANGUAGES)}

V3_0_7_SNAPSHOT: Final = 28
"""From this header version on, a client can be told where to consume from, and asked where it does."""

V3_0_11: Final = 37
"""From this header version on, the body of REGISTER_BROKER is a RegisterBrokerBody."""

V3_1_8_SNAPSHOT: Final = 62
"""From this header version on, a client can be asked how it is, and to consume a message."""

V3_4_9: Final = 121
"""From this header version on, a Broker heeds how often a message that comes back may be tried again."""

V4_9_4: Final = 401
"""From this header version on, a topic route is answered in standard JSON."""

V4_9_8: Final = 409
V5_0_0: Final = 413
"""From this header version on, a compressed register body carries the mapping section (5.x servers)."""

V5_3_1: Final = 475
"""Peers of later header versions know what GO_AWAY (1500) means."""

V5_3_3: Final = 479


class Serialization(IntEnum):
    """How a header is written: the byte at offset 4 of a frame (`SerializeType`)."""

    JSON = 0
    ROCKETMQ = 1


class RequestCode(IntEnum):
    """Requests that a NameServer knows, and the one that it sends (905)."""

    PUT_KV_CONFIG = 100
    GET_KV_CONFIG = 101
    DELETE_KV_CONFIG = 102
    REGISTER_BROKER = 103
    UNREGISTER_BROKER = 104
    GET_ROUTEINFO_BY_TOPIC = 105
    GET_BROKER_CLUSTER_INFO = 106
    WIPE_WRITE_PERM_OF_BROKER = 205
    GET_ALL_TOPIC_LIST_FROM_NAMESERVER = 206
    DELETE_TOPIC_IN_NAMESRV = 216
    REGISTER_TOPIC_IN_NAMESRV = 217
    GET_KVLIST_BY_NAMESPACE = 219
    GET_TOPICS_BY_CLUSTER = 224
    GET_SYSTEM_TOPIC_LIST_FROM_NS = 304
    GET_UNIT_TOPIC_LIST = 311
    GET_HAS_UNIT_SUB_TOPIC_LIST = 312
    GET_HAS_UNIT_SUB_UNUNIT_TOPIC_LIST = 313
    UPDATE_NAMESRV_CONFIG = 318
    GET_NAMESRV_CONFIG = 319
    QUERY_DATA_VERSION = 322
    ADD_WRITE_PERM_OF_BROKER = 327
    GET_BROKER_MEMBER_GROUP = 901
    BROKER_HEARTBEAT = 904
    NOTIFY_MIN_BROKER_ID_CHANGE = 905


class ResponseCode(IntEnum):
    """Response codes that a NameServer uses. They share the header member `code` with the request codes."""

    SUCCESS = 0
    SYSTEM_ERROR = 1
    SYSTEM_BUSY = 2
    REQUEST_CODE_NOT_SUPPORTED = 3
    NO_PERMISSION = 16
    TOPIC_NOT_EXIST = 17
    QUERY_NOT_FOUND = 22
    GO_AWAY = 1500
