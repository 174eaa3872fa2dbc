"""What the Broker takes on: how much may wait at once, and what it says when that is too much.

1. Nothing waits without a bound: neither sends that are not handed to the storage yet, nor held pulls.
2. What is beyond is answered at once with code 2, and nothing of it is carried out.

Source: NettyRemotingAbstract#processRequestCommand, SendMessageProcessor#rejectRequest,
PullMessageProcessor#rejectRequest of rocketmq-all-4.9.8 and rocketmq-all-5.3.3.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from harness.wire import ResponseCode
from reference_impl.remoting.reply import Reply

from .part import Part

if TYPE_CHECKING:
    from .core import Broker

OVERLOAD: Final = "[OVERLOAD]system busy, start flow control for a while"
_REJECTED: Final = "[REJECTREQUEST]system busy, start flow control for a while"


class Limits(Part):
    """Counts what waits."""

    def __init__(self, broker: Broker) -> None:
        super().__init__(broker)
        self._sends = 0

    def send_refused(self) -> Reply | None:
        """The busy answer to a send; None: it is taken on, and counts from now on."""
        if self.rejects_sends():
            return self.rejected()
        if self._sends >= self.config.send_thread_pool_queue_capacity:
            return self.busy(OVERLOAD)
        self._sends += 1
        return None

    def rejects_sends(self) -> bool:
        """Whether no send is taken on at all: on a slave of 5.x. (4.9 refuses when it comes to storing.)"""
        return self.profile.v5 and self.config.is_slave

    def pull_refused(self) -> Reply | None:
        """The busy answer to a pull; None: it is taken on."""
        return self.rejected() if self.rejects_pulls() else None

    def rejects_pulls(self) -> bool:
        """Whether no pull is taken on at all: on a slave of 5.x that is not to be read from."""
        return self.profile.v5 and self.config.is_slave and not self.config.slave_read_enable

    def may_hold(self, held: int) -> bool:
        """Whether one more pull may be held beside this number."""
        return held < self.config.pull_thread_pool_queue_capacity

    def rejected(self) -> Reply:
        """The answer of a slave of 5.x, which does not look at the request."""
        return self.busy(_REJECTED)

    def busy(self, remark: str) -> Reply:
        """The answer to a request that is not taken on."""
        return Reply(ResponseCode.SYSTEM_BUSY, remark=remark, from_handler=False)

    def settle(self, now: int) -> None:
        """All sends up to now are handed to the storage."""
        self._sends = 0
