"""Messages to pop, and pops of them, for the cases about popping."""

from harness.conformance import AnyOf, Reply
from harness.session import BrokerSession
from harness.session.broker.pop import PopExchange
from harness.session.broker.requests import consuming
from harness.spec.broker.hidden import RECOVERY, REVIVAL
from harness.wire import RequestCode, ResponseCode
from harness.wire.bodies import BrokerData, QueueData, TopicRoute

SUCCESS = ResponseCode.SUCCESS
TIMEOUT = ResponseCode.POLLING_TIMEOUT
NO_PERMISSION = ResponseCode.NO_PERMISSION
HIDDEN = 60
"""Protocol seconds for which a popped message is hidden by default."""
NEWER = {"enableRetryTopicV2": "true", "retrieveMessageFromPopRetryTopicV1": "false"}
"""What comes again is stored in topics of the newer names, and popped from these only."""
NOTHING = Reply(TIMEOUT, remark="NO_MESSAGE_IN_QUEUE")


def filled(bk: BrokerSession, *bodies: bytes, queue: int = 0, tags: str | None = None) -> tuple[str, str]:
    """A topic with these messages in one queue, all of them to be popped, and a group."""
    topic = bk.topic()
    for body in bodies:
        bk.send(topic, body, queue, tags=tags) >> Reply(SUCCESS)
    bk.max_offset(topic, queue).offset.eventually() >> Reply(SUCCESS, len(bodies))
    return topic, bk.group()


def popped(bk: BrokerSession, topic: str, group: str, count: int = 1, *, order: bool = False) -> list[str]:
    """Pops this many messages and returns their handles."""
    pop = bk.pop(topic, group, most=count, order=order)
    pop.offsets >> Reply(SUCCESS, list(range(count)))
    handles: list[str] = (pop.handles >> Reply(SUCCESS)).value
    return handles


def entry_of(topic: str, group: str, handle: str) -> dict[str, object]:
    """An acknowledgement of the one message of a pop of queue 0."""
    start, time, hidden, revive, *_ = handle.split(" ")
    entry = {"c": group, "t": topic, "r": "0", "so": int(start), "q": 0, "rq": int(revive)}
    return entry | {"pt": int(time), "it": int(hidden), "b": "AQ=="}


def again_after_a_start(bk: BrokerSession, topic: str, group: str) -> PopExchange:
    """The first pop that gets something while a Broker that was started reads again what was popped; if none
    does, the last one.
    """
    for _ in range(RECOVERY // REVIVAL):
        bk.advance(REVIVAL)
        pop = bk.pop(topic, group)
        answer = pop >> AnyOf(Reply(SUCCESS), NOTHING)
        if answer.command is not None and answer.command.code == SUCCESS:
            break
    return pop


ROUTE = RequestCode.GET_ROUTEINFO_BY_TOPIC


def members(bk: BrokerSession, count: int = 2, queues: int = 4) -> tuple[str, str, list[str]]:
    """A topic whose queues the NameServer knows, a group, and the ids of its members in order, of which the
    last one is the first to join.
    """
    topic, group = bk.topic(queues=queues), bk.group()
    name, cluster, address = bk.broker_name, bk.cluster_name, bk.broker_address
    route = TopicRoute([QueueData(name, queues, queues, 6)], [BrokerData(cluster, name, {0: address})])
    bk.nameserver.answers(ROUTE, body=route.encode())
    ids = sorted(bk.name(hint) for hint in ("one", "three", "two")[:count])
    for client in reversed(ids):
        bk.heartbeat(client, consumers=[consuming(group, [topic])], on=bk.connect()) >> Reply(SUCCESS)
    return topic, group, ids
