"""Statistics by name and key (315): what tools show of topics.

A statistic exists when it has counted something. Nothing is measured by time, as in `runtime.py`: sums and
rates are 0, as Apache's are until it has looked twice, 10 s apart.

Source: AdminBrokerProcessor#viewBrokerStatsData; StatsItem#getStatsDataInMinute of rocketmq-all-4.9.8 and
rocketmq-all-5.3.3.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from harness.wire import Command, RequestCode, ResponseCode
from harness.wire.fastjson import document
from reference_impl.remoting import fields
from reference_impl.remoting.reply import Reply
from reference_impl.remoting.requests import answers

from .part import Part

if TYPE_CHECKING:
    from .core import Broker

_OF_TOPICS: Final = ("TOPIC_PUT_NUMS", "TOPIC_PUT_SIZE")
_SPANS: Final = ("statsDay", "statsHour", "statsMinute")


class Statistics(Part):
    """Knows which statistics there are."""

    def __init__(self, broker: Broker) -> None:
        super().__init__(broker)
        self._known: set[tuple[str, str]] = set()

    def stored(self, topic: str) -> None:
        """A message of a producer was stored."""
        self._known.update((name, topic) for name in _OF_TOPICS)

    @answers(RequestCode.VIEW_BROKER_STATS_DATA)
    def show(self, command: Command, connection: int, now: int) -> Reply:
        name, key = fields.text(command.ext, "statsName"), fields.text(command.ext, "statsKey")
        if not self.exists(name, key):
            return Reply(ResponseCode.SYSTEM_ERROR, remark=f"The stats <{name}> <{key}> not exist")
        return Reply(ResponseCode.SUCCESS, body=document(self.data()))

    def exists(self, name: str | None, key: str | None) -> bool:
        """Whether a statistic has counted something."""
        return (name, key) in self._known

    def data(self) -> dict[str, Any]:
        """The numbers of one."""
        return {span: {"avgpt": 0.0, "sum": 0, "tps": 0.0} for span in _SPANS}
