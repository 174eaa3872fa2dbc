"""How many messages wait in the timer, and how far it has got (60, 61): what slaves of 5.x copy.

1. A topic is shown from its first timed message on, with 0 when none of them waits any longer.
2. What waits is counted anew when the Broker starts.

Source: AdminBrokerProcessor#getTimerCheckPoint, #getTimerMetrics; TimerCheckpoint#encode, TimerMetrics of
rocketmq-all-5.3.3.
"""

from __future__ import annotations

import struct
from typing import TYPE_CHECKING, Any, Final

from harness.wire import Command, RequestCode, ResponseCode
from harness.wire.bodies import DataVersion
from harness.wire.fastjson import document
from harness.wire.messages import TopicName
from reference_impl.remoting.reply import Reply
from reference_impl.remoting.requests import answers

from .part import Part

if TYPE_CHECKING:
    from .core import Broker

_CHECKPOINT: Final = struct.Struct(">7q")
_NO_LOG: Final = 0
"""Where Apache's timer has got in a log of its own."""


class TimerMetrics(Part):
    """Counts what waits."""

    def __init__(self, broker: Broker) -> None:
        super().__init__(broker)
        self._counts: dict[str, dict[str, int]] = {}
        self._version = DataVersion(0, broker.started, 0)

    def changed(self, topic: str, by: int, now: int) -> None:
        """Adds to how many messages wait for a topic; a negative number takes away."""
        count = self._counts.get(topic, {}).get("count", 0)
        self._counts[topic] = {"count": count + by, "timeStamp": now}
        self._version = DataVersion(self._version.counter + 1, now, self._version.state_version)

    @answers(RequestCode.GET_TIMER_METRICS, v5=True)
    def metrics(self, command: Command, connection: int, now: int) -> Reply:
        return Reply(ResponseCode.SUCCESS, body=document(self.table()))

    def table(self) -> dict[str, Any]:
        """What waits, by topic."""
        version = self._version
        return {
            "dataVersion": {
                "counter": version.counter,
                "stateVersion": version.state_version,
                "timestamp": version.timestamp,
            },
            "timingCount": self._counts,
        }

    @answers(RequestCode.GET_TIMER_CHECK_POINT, v5=True)
    def check_point(self, command: Command, connection: int, now: int) -> Reply:
        return Reply(ResponseCode.SUCCESS, body=self.progress(now))

    def progress(self, now: int) -> bytes:
        """The time up to which messages were delivered; where reading is in the log, in the queue and, on a
        slave, in the master's queue; the version of this.
        """
        offset = self.broker.store.max_offset(TopicName.TIMER, 0)
        version = self._version
        return _CHECKPOINT.pack(
            now, _NO_LOG, offset, offset, version.state_version or 0, version.timestamp, version.counter
        )
