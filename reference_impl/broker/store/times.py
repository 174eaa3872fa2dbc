"""When messages were stored, and which message of a queue a time belongs to.

Store timestamps never go back in a log, so that a time is found by halving; messages are not decoded for it.

Source: ConsumeQueue#getOffsetInQueueByTime of rocketmq-all-4.9.8, ConsumeQueue#binarySearchInCQByTime of
rocketmq-all-5.3.3.
"""

from __future__ import annotations

from bisect import bisect_right

from harness.wire.messages import LineName, SysFlag

from .queue import ConsumeQueue
from .segments import Segments

_SYS_FLAG_AT = 36
_STORED_AT = 56
"""Behind a born host of IPv4; 12 bytes later behind one of IPv6."""
_BORN_V6 = SysFlag.BORN_HOST_V6.value


def stored_at(log: Segments, physical_offset: int) -> int:
    """The store timestamp of the message that begins there, ms since the epoch."""
    head = log.read(physical_offset, _STORED_AT + 20)
    is_v6 = int.from_bytes(head[_SYS_FLAG_AT : _SYS_FLAG_AT + 4], "big") & _BORN_V6
    at = _STORED_AT + (12 if is_v6 else 0)
    return int.from_bytes(head[at : at + 8], "big", signed=True)


def offset_at(log: Segments, queue: ConsumeQueue, timestamp: int, line: LineName, *, upper: bool) -> int:
    """4.9: a message stored just then, else the nearest; the earlier one of two. 5.3: the first message
    stored then or later, or with `upper` the last one stored then or earlier (0: there is none).
    """
    first = _first_stored_after(log, queue, timestamp - 1)
    if line == "4.9":
        return _nearest(log, queue, first, timestamp)
    if not upper:
        return first
    last = _first_stored_after(log, queue, timestamp) - 1
    return last if last >= queue.min_offset else 0


def _first_stored_after(log: Segments, queue: ConsumeQueue, timestamp: int) -> int:
    offsets = range(queue.min_offset, queue.max_offset)
    return queue.min_offset + bisect_right(
        offsets, timestamp, key=lambda offset: stored_at(log, queue.physical(offset))
    )


def _nearest(log: Segments, queue: ConsumeQueue, first: int, timestamp: int) -> int:
    """`first` is the first message that was stored at `timestamp` or later."""
    if first == queue.max_offset:
        return max(first - 1, queue.min_offset)
    if first == queue.min_offset:
        return first
    later = stored_at(log, queue.physical(first)) - timestamp
    earlier = timestamp - stored_at(log, queue.physical(first - 1))
    return first if later < earlier or later == 0 else first - 1
