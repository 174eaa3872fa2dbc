"""Chapter pop: what is left, and what has come again once."""

from harness.conformance import Including, Reply, case
from harness.conformance.broker.pop.popping import HIDDEN, NOTHING, SUCCESS, filled, popped
from harness.session import BrokerSession
from harness.spec.broker.hidden import REVIVAL, WRITTEN


def two_of_each(bk: BrokerSession) -> tuple[str, str]:
    """A topic with two messages in either of two queues, and a group for which two others have come again."""
    topic, group = bk.topic(queues=2), bk.group()
    again = f"%RETRY%{group}_{topic}"
    bk.create_topic(again, 1) >> Reply(SUCCESS)
    for queue in (0, 1):
        for name in (topic, again):
            bk.send(name, name.encode(), queue if name == topic else 0) >> Reply(SUCCESS)
        bk.send(topic, b"more", queue) >> Reply(SUCCESS)
    for name, queue in ((topic, 0), (topic, 1), (again, 0)):
        bk.max_offset(name, queue).offset.eventually() >> Reply(SUCCESS, 2)
    return topic, group


def left(bk: BrokerSession, topic: str, group: str, most: int, rests: tuple[int, ...]) -> None:
    """Pops from any queue, one after another, show these numbers as left."""
    for rest in rests:
        bk.pop(topic, group, most=most) >> Reply(SUCCESS, ext=Including({"restNum": str(rest)}))


@case(kills=["rest-counts-what-comes-again-twice"], setup={"popFromRetryProbability": "100"})
def test_rest_counts_what_comes_again_once(bk: BrokerSession) -> None:
    topic, group = two_of_each(bk)
    left(bk, topic, group, 1, (5, 4, 3, 2, 1, 0))


@case(kills=["rest-counts-what-comes-last"], setup={"popFromRetryProbability": "0"})
def test_rest_leaves_out_what_comes_last(bk: BrokerSession) -> None:
    topic, group = two_of_each(bk)
    left(bk, topic, group, 1, (3, 2, 1, 0, 1, 0))


@case(kills=["over-is-not-written-down"], clock=True, own_server=True)
def test_comes_again_once_over_a_kill(bk: BrokerSession) -> None:
    topic, group = filled(bk, b"again")
    bk.pop(topic, group, invisible=10).bodies >> Reply(SUCCESS, [b"again"])
    bk.advance(10 + REVIVAL + bk.jitter)
    bk.ack(topic, group, popped(bk, topic, group)[0]) >> Reply(SUCCESS)
    bk.advance(WRITTEN)
    bk.restart("kill")
    for _ in range(5):
        bk.advance(HIDDEN + REVIVAL)
        bk.pop(topic, group) >> NOTHING
