"""Names and bits in the header fields of requests between clients and a Broker.

Source: `SendMessageRequestHeaderV2`, `PullSysFlag` of rocketmq-all-4.9.8 and rocketmq-all-5.3.3.
"""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Final

SHORT_NAMES: Final[Mapping[str, str]] = MappingProxyType(
    {
        "producerGroup": "a",
        "topic": "b",
        "defaultTopic": "c",
        "defaultTopicQueueNums": "d",
        "queueId": "e",
        "sysFlag": "f",
        "bornTimestamp": "g",
        "flag": "h",
        "properties": "i",
        "reconsumeTimes": "j",
        "unitMode": "k",
        "maxReconsumeTimes": "l",
        "batch": "m",
    }
)
"""What SEND_MESSAGE_V2 (310) and SEND_BATCH_MESSAGE (320) call the fields of SEND_MESSAGE (10)."""


class PullFlag:
    """Bits of the system flag of a pull."""

    COMMIT = 1
    SUSPEND = 2
    SUBSCRIPTION = 4
    CLASS_FILTER = 8
