"""How slowly groups may read what is not in memory any longer, and how the log is read (5.x).

1. The limits are kept and shown. Nothing is slowed down: this Broker has its log in memory, or in files whose
   caching it leaves to the system, and measures nothing by time (see `runtime.py`).
2. They last until the Broker ends, as Apache's do.

Source: AdminBrokerProcessor#updateColdDataFlowCtrGroupConfig, #setCommitLogReadaheadMode,
ColdDataCgCtrService of rocketmq-all-5.3.3.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from harness.wire import Command, RequestCode, ResponseCode, WireError
from harness.wire.bodies import Properties
from harness.wire.fastjson import document
from reference_impl.remoting import fields
from reference_impl.remoting.reply import Reply
from reference_impl.remoting.requests import answers

from .part import Part

if TYPE_CHECKING:
    from .core import Broker

_LIMIT_OF_A_GROUP: Final = 3 << 20
_LIMIT_OF_ALL: Final = 100 << 20
"""Bytes in a span of time: Apache's defaults."""
_NORMAL: Final = 0
_RANDOM: Final = 1
"""The advice to the operating system on how the log will be read: madvise(2)."""


class ColdData(Part):
    """Keeps the limits."""

    def __init__(self, broker: Broker) -> None:
        super().__init__(broker)
        self.limits: dict[str, int] = {}
        """Bytes, by group."""

    @answers(RequestCode.UPDATE_COLD_DATA_FLOW_CTR_CONFIG, v5=True)
    def limit(self, command: Command, connection: int, now: int) -> Reply:
        """What is no number is passed over."""
        try:
            pairs = Properties.decode(command.body).pairs
        except WireError:
            return Reply(ResponseCode.SYSTEM_ERROR, remark="string2Properties error")
        for group in pairs:
            limit = fields.int64(pairs, group)
            if limit is not None:
                self.limits[group] = limit
        return Reply(ResponseCode.SUCCESS)

    @answers(RequestCode.REMOVE_COLD_DATA_FLOW_CTR_CONFIG, v5=True)
    def release(self, command: Command, connection: int, now: int) -> Reply:
        """The body is the name of a group; it need not have a limit."""
        self.limits.pop(command.body.decode("utf-8", "replace"), None)
        return Reply(ResponseCode.SUCCESS)

    @answers(RequestCode.GET_COLD_DATA_FLOW_CTR_INFO, v5=True)
    def show(self, command: Command, connection: int, now: int) -> Reply:
        told = {
            "runtimeTable": {},
            "configTable": self.limits,
            "cgColdReadThreshold": _LIMIT_OF_A_GROUP,
            "globalColdReadThreshold": _LIMIT_OF_ALL,
            "globalAcc": 0,
        }
        return Reply(ResponseCode.SUCCESS, body=document(told))

    @answers(RequestCode.SET_COMMITLOG_READ_MODE, v5=True)
    def read_mode(self, command: Command, connection: int, now: int) -> Reply:
        if not command.ext:
            remark = "set commitlog readahead mode param error"
            return Reply(ResponseCode.SYSTEM_ERROR, remark=remark)
        mode = fields.int32(command.ext, "READ_AHEAD_MODE")
        if mode is None:
            return Reply(ResponseCode.SYSTEM_ERROR, remark="set commitlog readahead mode failed")
        if mode not in (_NORMAL, _RANDOM):
            remark = "set commitlog readahead mode param value error"
            return Reply(ResponseCode.INVALID_PARAMETER, remark=remark)
        self.broker.settings.assume({"dataReadAheadEnable": str(mode == _NORMAL).lower()})
        return Reply(ResponseCode.SUCCESS, remark=f"set commitlog readahead mode success, mode: {mode}")
