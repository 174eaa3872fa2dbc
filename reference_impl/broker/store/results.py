"""What a store answers, in Apache's words.

Source: PutMessageStatus, GetMessageStatus of rocketmq-all-4.9.8 and rocketmq-all-5.3.3.
"""

from __future__ import annotations

from collections.abc import Mapping
from enum import Enum
from typing import NamedTuple

import msgspec


class PutStatus(Enum):
    """What became of a message. The name is Apache's, and stands in remarks."""

    PUT_OK = 0
    MESSAGE_ILLEGAL = 1
    """Too large, or not to be carried by the format of this line."""
    WHEEL_TIMER_MSG_ILLEGAL = 2
    """5.x: it asks for a time too far away, or for none that can be read."""
    WHEEL_TIMER_NOT_ENABLE = 3
    """5.x: it asks for a time, and the Broker keeps none."""
    SERVICE_NOT_AVAILABLE = 4
    """The disk is full."""


class GetStatus(Enum):
    """What a look into a queue came to. The name is Apache's, and is the remark of a pull."""

    FOUND = 0
    NO_MATCHED_MESSAGE = 1
    OFFSET_OVERFLOW_BADLY = 2
    """Beyond the end."""
    OFFSET_OVERFLOW_ONE = 3
    """At the end: the next message will have this offset."""
    OFFSET_TOO_SMALL = 4
    NO_MESSAGE_IN_QUEUE = 5


class Put(msgspec.Struct, frozen=True, gc=False):
    """Where a message is. Without PUT_OK nothing was stored, and all numbers are 0."""

    status: PutStatus
    physical_offset: int = 0
    queue_offset: int = 0
    size: int = 0
    store_timestamp: int = 0


class Got(msgspec.Struct, frozen=True):
    """Messages of a queue. `next_offset` is from where to go on; `frames` are their stored bytes."""

    status: GetStatus
    next_offset: int
    min_offset: int
    max_offset: int
    frames: list[bytes]


class Arrival(NamedTuple):
    """A message that can be consumed from now on."""

    topic: str
    queue_id: int
    queue_offset: int
    tag_hash: int
    properties: Mapping[str, str]
