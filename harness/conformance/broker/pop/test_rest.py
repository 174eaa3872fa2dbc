"""Chapter pop: what is left, and what has come again once."""

from harness.conformance import ABSENT, AnyOf, Between, Including, Reply, case
from harness.conformance.broker.pop.popping import (
    HIDDEN,
    NOTHING,
    SUCCESS,
    again_after_a_start,
    filled,
    popped,
)
from harness.session import BrokerSession
from harness.spec.broker.hidden import REVIVAL, WRITTEN

REVIVE_QUEUES = 8
"""Pops are kept in one of them after the other."""
LONG = 400
"""Protocol seconds; two restarts take less."""


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


@case(
    kills=["acks-of-several-are-of-the-topics-in-use", "acks-of-several-are-of-the-older-topic"],
    clock=True,
    own_server=True,
    setup={"retrieveMessageFromPopRetryTopicV1": "false"},
)
def test_acks_of_several_name_their_topics(bk: BrokerSession) -> None:
    of_each = {}
    for setting, separator in (("false", "_"), ("true", "+")):
        bk.update_config({"enableRetryTopicV2": setting}) >> Reply(SUCCESS)
        topic, group = filled(bk, b"0", b"1", b"2")
        again = f"%RETRY%{group}{separator}{topic}"
        bk.pop(topic, group, invisible=10) >> Reply(SUCCESS)
        bk.advance(10 + REVIVAL + bk.jitter)
        bk.max_offset(again).offset.eventually() >> Reply(SUCCESS, 3)
        of_each[setting] = topic, group, again
    handles = {}
    for setting, (topic, group, _) in of_each.items():
        bk.update_config({"enableRetryTopicV2": setting}) >> Reply(SUCCESS)
        pop = bk.pop(topic, group)
        pop.bodies >> Reply(SUCCESS, [b"0", b"1", b"2"])
        handles[topic] = (pop.handles >> Reply(SUCCESS)).value
    for number, setting in ((0, "true"), (2, "false")):
        bk.update_config({"enableRetryTopicV2": setting}) >> Reply(SUCCESS)
        for topic, group, _ in of_each.values():
            bk.ack_all(topic, group, [handles[topic][number]]) >> Reply(SUCCESS)
    bk.advance(HIDDEN + REVIVAL + bk.jitter)
    for _, _, again in of_each.values():
        bk.pull(again, offset=3).bodies.eventually() >> Reply(SUCCESS, [b"1"])


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


@case(
    kills=["acknowledgements-need-their-pops", "pops-change-places-at-a-start"],
    clock=True,
    own_server=True,
)
def test_done_stays_done_over_stops(bk: BrokerSession) -> None:
    topic, group = filled(bk, *(b"%d" % number for number in range(2 * REVIVE_QUEUES)))
    handles = []
    for number in range(2 * REVIVE_QUEUES):
        pop = bk.pop(topic, group, most=1, invisible=LONG)
        pop.bodies >> Reply(SUCCESS, [b"%d" % number])
        handles += (pop.handles >> Reply(SUCCESS)).value
    for done in (handles[:REVIVE_QUEUES], handles[REVIVE_QUEUES:-1]):
        for handle in done:
            bk.ack(topic, group, handle) >> Reply(SUCCESS)
        bk.restart()
    bk.advance(LONG)
    pop = again_after_a_start(bk, topic, group)
    again = [b"%d" % (2 * REVIVE_QUEUES - 1)]  # once or, as Apache does on a busy machine, twice
    pop.bodies >> AnyOf(Reply(SUCCESS, again), Reply(SUCCESS, again * 2))
    bk.pop(topic, group) >> NOTHING


@case(kills=["progress-of-pops-is-not-noted", "progress-of-pops-is-behind"], clock=True, own_server=True)
def test_progress_is_noted(bk: BrokerSession) -> None:
    log = f"rmq_sys_REVIVE_LOG_{bk.cluster_name}"
    key, handles, noted = f"{log}@CID_RMQ_SYS_REVIVE_GROUP", [], {}
    topic, group = filled(bk, *(b"%d" % number for number in range(2 * REVIVE_QUEUES)))
    for _ in range(2 * REVIVE_QUEUES):
        handles += (bk.pop(topic, group, most=1, invisible=30).handles >> Reply(SUCCESS)).value
    bk.offsets().json >> Reply(SUCCESS, Including({"offsetTable": Including({key: ABSENT})}))
    for handle in handles:
        bk.ack(topic, group, handle) >> Reply(SUCCESS)
    bk.advance(30 + REVIVAL + bk.jitter)
    for queue in range(REVIVE_QUEUES):
        records = (bk.max_offset(log, queue).offset >> Reply(SUCCESS, Between(0, len(handles) * 2))).value
        if records:  # a pop and its acknowledgement leave one each
            noted[str(queue)] = Between(records // 2 - 1, records - 1)
    bk.offsets().json.eventually() >> Reply(SUCCESS, Including({"offsetTable": Including({key: noted})}))
