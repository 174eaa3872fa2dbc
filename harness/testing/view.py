"""What a test asks of a cluster. `RocketMQ` and the fixture `rocketmq` are both such a view.

Names: a view may have names of its own for topics and groups; it gives and takes its own and the real ones.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from typing import Final, TypeVar

from harness.remarks import Remark, is_about_clients, judge
from reference_impl.serve import Cluster

from . import administration, again, judging, progress, sending, waiting
from .clients import Client, clients_of
from .durations import Duration
from .judging import By, identity_of
from .messages import (
    Message,
    Pending,
    Positions,
    Where,
    masters,
    messages_of,
    pending_of,
    topics_with_messages,
    transactions_of,
)
from .options import QUEUES
from .problems import OptionError, RocketMQError
from .progress import QueueProgress
from .recording import Recorded
from .requests import Requests, number_of
from .sending import Sent
from .time import Time

T = TypeVar("T")

RETRIES: Final = 16
"""How often a message is tried again, where a group does not say; as Apache's."""
_PATIENCE: Final = 10
"""Seconds that are waited where a test does not say."""


class View(Time):
    """The questions. Where they run and what names mean is the subclass's."""

    # -- what a subclass decides -----------------------------------------------------------------------------

    def _call(self, function: Callable[[Cluster], T]) -> T:
        """The result of a function that is called in the loop, where the servers may be looked at."""
        raise NotImplementedError

    def _look(self, function: Callable[[Cluster, Recorded], T], since: int = 0) -> T:
        """The same of a function that is also given what clients and servers have said from a frame on."""
        raise NotImplementedError

    def _recorded(self) -> Recorded:
        """What clients and servers have said to each other."""
        return self._look(lambda _, found: found)

    def _next_frame(self) -> int:
        """The number of the next frame."""
        raise NotImplementedError

    def _new_name(self, name: str) -> str:
        """The real name of a topic or group that is made now."""
        return name

    def _real_name(self, name: str) -> str:
        """The real name of a topic or group that exists. Raises OptionError."""
        return name

    def _is_mine(self, client: Client) -> bool:
        """Whether a client is one of this view's."""
        return True

    # -- topics and groups -----------------------------------------------------------------------------------

    def topic(self, name: str, queues: int = QUEUES) -> str:
        """Make a topic, on every master with that many queues, and return its real name. One that is there
        is given as many queues.
        """
        real = self._new_name(name)
        self._wait_for(lambda cluster: administration.create_topic(cluster, real, queues))
        return real

    def group(self, name: str, retries: int = RETRIES) -> str:
        """Make a group of consumers and return its real name. `retries`: how often a message is tried again
        before it is a dead letter.
        """
        real = self._new_name(name)
        self._wait_for(lambda cluster: administration.create_group(cluster, real, retries))
        return real

    # -- messages --------------------------------------------------------------------------------------------

    def send(
        self,
        topic: str,
        body: object,
        *,
        tags: str | None = None,
        keys: str | Sequence[str] | None = None,
        properties: Mapping[str, str] | None = None,
        delay: Duration | None = None,
        level: int | None = None,
        broker: str | None = None,
        queue: int | None = None,
        sharding: str | None = None,
    ) -> Sent:
        """Send a message without a client library.

        `body` is bytes, a text, or what is written as JSON. `delay` is any length of time ("90s"; 4.9: that
        of a level), `level` a level of delay. `queue` and `broker` say where it goes, or `sharding`: equal
        keys share a queue. Otherwise queues take turns.
        """
        message = sending.outgoing(
            self._real_name(topic),
            body,
            tags=tags,
            keys=keys,
            properties=properties,
            delay=delay,
            level=level,
            broker=broker,
            queue=queue,
            sharding=sharding,
        )
        return self._wait_for(lambda cluster: sending.send(cluster, message))

    def messages(self, topic: str) -> list[Message]:
        """What consumers of a topic can see, oldest first, whether anyone has consumed it or not."""
        real = self._real_name(topic)
        return self._call(lambda cluster: messages_of(cluster, real))

    def pending(self, topic: str) -> list[Pending]:
        """What was sent to a topic and cannot be seen yet: delayed messages, halves of transactions."""
        real = self._real_name(topic)
        return self._call(lambda cluster: pending_of(cluster, real))

    def transactions(self, topic: str) -> list[Message]:
        """Every message of a transaction that was sent to a topic, once. `transaction` is its state."""
        real = self._real_name(topic)
        return self._call(lambda cluster: transactions_of(cluster, real))

    def wait_for(
        self, topic: str, count: int = 1, where: Where | None = None, timeout: Duration = _PATIENCE
    ) -> list[Message]:
        """Return the messages of a topic that meet `where` as soon as there are `count` of them.

        Raises AssertionError after `timeout` (seconds, or such as "500ms"), with what came instead.
        """
        __tracebackhide__ = True
        real, count = self._real_name(topic), waiting.counted(count)
        positions: Positions = {}
        found: list[Message] = []
        others: list[Message] = []

        def met() -> bool:
            new = self._call(lambda cluster: messages_of(cluster, real, positions))
            for into, part in zip((found, others), waiting.split(new, where), strict=True):
                into.extend(part)
            return len(found) >= count

        if not waiting.wait_until(met, timeout):
            beside = self._call(lambda cluster: _beside(cluster, real))
            raise AssertionError(waiting.missing(real, count, timeout, found, others, beside))
        return found

    # -- consumers -------------------------------------------------------------------------------------------

    def consumed(self, group: str, topic: str | None = None) -> list[Message]:
        """The messages that a group is done with: of all topics, or of one. What it gave back to be tried
        again is not among them, nor are dead letters.
        """
        real, of_topic = self._real_name(group), None if topic is None else self._real_name(topic)
        return self._call(lambda cluster: progress.consumed_by(cluster, real, of_topic))

    def lag(self, group: str) -> int:
        """How many messages a group is not done with, those that come again included.

        Raises RocketMQError for a group that neither has a member nor has ever committed an offset.
        """
        queues = self.progress(group)
        if not queues:
            raise RocketMQError(
                f"group {group!r} has no lag: no member is connected, and it has never committed an offset; "
                "is its name the one that the application uses?"
            )
        return sum(one.lag for one in queues)

    def progress(self, group: str) -> list[QueueProgress]:
        """How far a group has come in each queue."""
        real = self._real_name(group)
        return self._call(lambda cluster: progress.progress_of(cluster, real))

    def dead_letters(self, group: str) -> list[Message]:
        """The messages that a group has tried in vain too often."""
        real = self._real_name(group)
        return self._call(lambda cluster: progress.dead_letters_of(cluster, real))

    def clients(self) -> list[Client]:
        """The clients that are connected and have sent a heartbeat."""
        return [one for one in self._call(clients_of) if self._is_mine(one)]

    def requests(self, code: int | str | None = None, *, of_servers: bool = False) -> Requests:
        """What clients asked: all of it, or the requests of one code (310, "SEND_MESSAGE_V2"); with
        `of_servers` what servers asked clients. `save(directory)` writes traces for `rmq-harness decode`
        and `replay`.
        """
        return Requests(self._recorded(), number_of(code), of_servers=of_servers)

    def client_remarks(self) -> list[Remark]:
        """What is wrong with clients, by the statements about them (`cl.…`) and what they have said."""
        return judge(self._recorded().traces().values())

    def assert_no_client_remarks(self, allow: Iterable[str] = ()) -> None:
        """No client has done anything that breaks a statement about clients. `allow` are ids of statements
        that may be broken.
        """
        __tracebackhide__ = True
        allowed = frozenset(allow)
        if unknown := sorted(one for one in allowed if not is_about_clients(one)):
            raise OptionError(
                f"allow={unknown}: expected ids of statements about clients, such as "
                "'cl.membership.heartbeats-go-on'; `rmq-harness explain client-membership` lists some"
            )
        found = [one for one in self.client_remarks() if one.statement not in allowed]
        if found:
            raise AssertionError("\n\n".join(map(str, found)))

    # -- whole behaviour -------------------------------------------------------------------------------------

    def assert_consumed(self, topic: str, group: str, timeout: Duration = _PATIENCE) -> None:
        """Every message of a topic is consumed by a group, at the latest after `timeout`."""
        __tracebackhide__ = True
        real, of_group = self._real_name(topic), self._real_name(group)

        def lacking() -> str:
            return self._call(
                lambda cluster: judging.unconsumed(
                    messages_of(cluster, real),
                    progress.consumed_by(cluster, of_group, real),
                    progress.retried_by(cluster, of_group),
                    progress.dead_letters_of(cluster, of_group),
                    progress.progress_of(cluster, of_group),
                )
            )

        if not waiting.wait_until(lambda: not lacking(), timeout, lambda: self._call(progress.hurry)):
            _demand(f"topic {real!r}, group {of_group!r}", lacking())

    def assert_in_order(self, topic: str, handled: Iterable[Hashable], by: By = identity_of) -> None:
        """Messages with the same sharding key were handled in the order in which they were sent.

        `handled` is what the application recorded, in order; `by` gives for a message what is recorded of
        it: its id, unless `by` says otherwise.
        """
        __tracebackhide__ = True
        _demand(f"topic {topic!r}", judging.out_of_order(self.messages(topic), handled, by))

    def assert_only_committed(self, topic: str, handled: Iterable[Hashable], by: By = identity_of) -> None:
        """No message was handled whose transaction was rolled back or is open; `by` as above."""
        __tracebackhide__ = True
        wrong = judging.delivered_in_vain(self.transactions(topic), self.messages(topic), handled, by)
        _demand(f"topic {topic!r}", wrong)

    def assert_idempotent(
        self, topic: str, group: str, state: Callable[[], object], timeout: Duration = _PATIENCE
    ) -> None:
        """Delivering all messages of a topic to a group once more changes nothing of what the application
        keeps. `state` gives that, as values that can be compared.
        """
        __tracebackhide__ = True
        self.assert_consumed(topic, group, timeout)
        before = state()
        self.deliver_again(topic, group)
        self.assert_consumed(topic, group, timeout)
        _demand(f"topic {topic!r}, group {group!r}", judging.changed(before, state()))

    def deliver_again(self, topic: str, group: str) -> None:
        """Set the offsets of a group back, so that all messages of a topic are delivered to it once more. If
        members of the group are connected, it returns when they have begun.

        Raises RocketMQError, also if they do not begin.
        """
        real, of_group = self._real_name(topic), self._real_name(group)
        since = self._next_frame()
        if not self._wait_for(lambda cluster: again.set_back(cluster, real, of_group)):
            return

        def begun() -> bool:
            return self._look(
                lambda cluster, found: again.has_begun(cluster, real, of_group, Requests(found)), since
            )

        def hurry() -> None:
            self._call(progress.hurry)

        if not waiting.wait_until(begun, again.PATIENCE, hurry, again.LOOK_EVERY):
            raise RocketMQError(
                f"the offsets of group {of_group!r} were set back, and its members have not pulled topic "
                f"{real!r} from its beginning within {again.PATIENCE} s; does their client know what tells "
                "them to: request 220 (4.9), answer 21 to a pull (5.x)?"
            )


def _beside(cluster: Cluster, topic: str) -> waiting.Elsewhere:
    brokers = masters(cluster)
    return waiting.Elsewhere(
        any(broker.endpoint.broker.topics.get(topic) is not None for broker in brokers),
        pending_of(cluster, topic),
        topics_with_messages(cluster),
        brokers[0].shell.now(),
    )


def _demand(about: str, wrong: str) -> None:
    __tracebackhide__ = True
    if wrong:
        raise AssertionError(f"{about}: {wrong}")
