"""What clients have been asked and have not answered yet.

1. A response is an answer if it comes on the connection that was asked, has the opaque of the request, and
   comes before the time is over.
2. The caller is called back once: with the answer, or with None when the time is over. The end of a
   connection calls nothing back, as on Apache's Broker.

Source: NettyRemotingAbstract#invokeSyncImpl, #processResponseCommand of rocketmq-all-4.9.8 and
rocketmq-all-5.3.3.
"""

import msgspec

from harness.wire import Command

from .outbox import Done
from .part import NEVER


class _Question(msgspec.Struct):
    connection: int
    until: int
    done: Done


class PendingCalls:
    """Requests to clients, by opaque."""

    def __init__(self) -> None:
        self._questions: dict[int, _Question] = {}

    def put(self, opaque: int, connection: int, until: int, done: Done) -> None:
        """A request leaves; its answer counts if it comes before `until`."""
        self._questions[opaque] = _Question(connection, until, done)

    def answer(self, connection: int, response: Command, now: int) -> None:
        """A response has come."""
        question = self._questions.get(response.opaque)
        if question is not None and question.connection == connection and now < question.until:
            del self._questions[response.opaque]
            question.done(response, now)

    def keep(self, until: int) -> None:
        """Every answer counts at least until then."""
        for question in self._questions.values():
            question.until = max(question.until, until)

    def due(self) -> int:
        """When the next time is over."""
        if not self._questions:
            return NEVER
        return min(question.until for question in self._questions.values())

    def expire(self, now: int) -> None:
        """Tell those whose time is over, in the order in which they asked."""
        over = [opaque for opaque, question in self._questions.items() if question.until <= now]
        for opaque in over:
            self._questions.pop(opaque).done(None, now)
