"""How the Broker is: what `mqadmin brokerStatus` and `clusterList` show.

1. The keys are Apache's, and every key of its line is there, for tools read them without looking.
2. Counts of messages are of what the queues of the store hold or held; rates are not measured: 0.0.

Source: AdminBrokerProcessor#prepareRuntimeInfo, StoreStatsService, ScheduleMessageService#buildRunningStats
of rocketmq-all-4.9.8 and rocketmq-all-5.3.3.
"""

from __future__ import annotations

from typing import Final

from harness.wire import Command, RequestCode, ResponseCode
from harness.wire.bodies import KvTable
from harness.wire.messages import TopicName
from reference_impl.remoting.reply import Reply
from reference_impl.remoting.requests import answers

from .part import Part

_NO_RATES: Final = "0.0 0.0 0.0"
_ZEROS: Final = (
    "EndTransactionQueueSize", "dispatchBehindBytes",
    "dispatchMaxBuffer", "getMessageEntireTimeMax", "msgGetTotalTodayMorning", "msgGetTotalTodayNow",
    "msgGetTotalYesterdayMorning", "msgPutTotalTodayMorning", "msgPutTotalYesterdayMorning",
    "pageCacheLockTimeMills", "pullThreadPoolQueueHeadWaitTimeMills", "pullThreadPoolQueueSize",
    "putMessageEntireTimeMax", "putMessageFailedTimes", "queryThreadPoolQueueHeadWaitTimeMills",
    "queryThreadPoolQueueSize", "sendThreadPoolQueueHeadWaitTimeMills", "sendThreadPoolQueueSize",
)  # fmt: skip
_ZEROS_53: Final = (
    "ackThreadPoolQueueHeadWaitTimeMills", "ackThreadPoolQueueSize",
    "litePullThreadPoolQueueHeadWaitTimeMills", "litePullThreadPoolQueueSize",
    "timerCongestNum", "timerOffsetBehind", "timerReadBehind",
)  # fmt: skip
_CAPACITIES: Final = {
    "EndTransactionThreadPoolQueueCapacity": "100000",
    "queryThreadPoolQueueCapacity": "20000",
}
_CAPACITIES_53: Final = {
    "ackThreadPoolQueueCapacity": "100000",
    "litePullThreadPoolQueueCapacity": "100000",
}


class Runtime(Part):
    """Shows the state of the Broker."""

    @answers(RequestCode.GET_BROKER_RUNTIME_INFO)
    def show(self, command: Command, connection: int, now: int) -> Reply:
        return Reply(ResponseCode.SUCCESS, body=KvTable(self.information(now)).encode())

    def information(self, now: int) -> dict[str, str]:
        """Every key with its text."""
        v5, config, store = self.profile.v5, self.config, self.broker.store
        space, (least, end) = store.space(), store.physical_range()
        messages = sum(
            store.max_offset(topic, queue) for topic, queues in store.topics().items() for queue in queues
        )
        found = dict.fromkeys(_ZEROS, "0") | _CAPACITIES
        found |= dict.fromkeys(("putTps", "getFoundTps", "getMissTps", "getTotalTps"), _NO_RATES)
        found |= {
            "bootTimestamp": str(self.broker.started),
            "brokerVersionDesc": self.profile.release,
            "commitLogDirCapacity": f"Total : {_readable(space.total)}, Free : {_readable(space.free)}.",
            "commitLogDiskRatio": str(space.used),
            "commitLogMaxOffset": str(end),
            "commitLogMinOffset": str(least if least < end else -1),
            "consumeQueueDiskRatio": str(space.used),
            "earliestMessageTimeStamp": str(self.earliest()),
            "getTransferredTps" if v5 else "getTransferedTps": _NO_RATES,
            "msgPutTotalTodayNow": str(messages),
            "pullThreadPoolQueueCapacity": str(config.pull_thread_pool_queue_capacity),
            "putLatency99": "0.00",
            "putLatency999": "0.00",
            "putMessageAverageSize": str((end - least) / messages if messages else 0.0),
            "putMessageDistributeTime": "null",
            "putMessageSizeTotal": str(end - least),
            "putMessageTimesTotal": str(messages or 1),
            "remainHowManyDataToFlush": "0 B",
            "remainTransientStoreBufferNumbs": str(2**31 - 1),
            "runtime": self.running(now),
            "sendThreadPoolQueueCapacity": str(config.send_thread_pool_queue_capacity),
            "startAcceptSendRequestTimeStamp": str(config.start_accept_send_request_time_stamp),
        }
        for level, offset in self.broker.delays.offsets.items():
            last = store.max_offset(TopicName.SCHEDULE, level - 1)
            found[f"scheduleMessageOffset_{level}"] = f"{offset},{last}"
        if not self.profile.v55:
            found["brokerVersion"] = str(self.profile.version)
        if v5:
            found |= dict.fromkeys(_ZEROS_53, "0") | _CAPACITIES_53
            found |= {"brokerActive": "true", "timerDequeueTps": "0.0", "timerEnqueueTps": "0.0"}
        return found

    def running(self, now: int) -> str:
        """For how long the Broker has been running."""
        seconds = (now - self.broker.started) // 1_000
        minutes, hours, days = seconds // 60, seconds // 3_600, seconds // 86_400
        return f"[ {days} days, {hours % 24} hours, {minutes % 60} minutes, {seconds % 60} seconds ]"

    def earliest(self) -> int:
        """When the first message of the log was stored; -1: there is none."""
        store = self.broker.store
        first = store.at(store.physical_range()[0])
        return -1 if first is None else first.store_timestamp


def _readable(size: int) -> str:
    """A number of bytes as Apache shows it: 300 B, 1.5 KiB, 251.9 GiB."""
    if size < 1024:
        return f"{size} B"
    power = (size.bit_length() - 1) // 10
    return f"{size / 1024**power:.1f} {' KMGTPE'[power]}iB"
