"""Chapter pop: what could be popped is looked at."""

from harness.conformance import AnyOf, Including, Reply, case
from harness.conformance.broker.expiring import OLD, begins_late
from harness.conformance.broker.pop.popping import NO_PERMISSION, SUCCESS, filled
from harness.conformance.broker.pop.test_returning import fresh_and_again
from harness.session import BrokerSession
from harness.session.broker.views import MessagesExchange
from harness.wire import RequestCode, ResponseCode


def peek(bk: BrokerSession, topic: str, group: str, queue: int = 0, most: int = 32) -> MessagesExchange:
    """PEEK_MESSAGE (200052)."""
    where = {"consumerGroup": group, "topic": topic, "queueId": str(queue), "maxMsgNums": str(most)}
    return MessagesExchange(bk.call(RequestCode.PEEK_MESSAGE, where).origin)


def told(rest: int) -> Including:
    """The fields of an answer that says how many messages are left."""
    return Including({"popTime": "0", "invisibleTime": "0", "reviveQid": "0", "restNum": str(rest)})


@case(kills=["peeks-take", "peeks-begin-anew", "peeks-of-any-number"])
def test_peek_takes_nothing(bk: BrokerSession) -> None:
    topic, group = filled(bk, b"a", b"b", b"c")
    for _ in range(2):
        peek(bk, topic, group, most=2).bodies >> Reply(SUCCESS, [b"a", b"b"], ext=told(3), remark="FOUND")
    bk.pop(topic, group, most=1).bodies >> Reply(SUCCESS, [b"a"])
    peek(bk, topic, group).bodies >> Reply(SUCCESS, [b"b", b"c"], ext=told(2))


@case(kills=["peeks-of-one-queue"])
def test_peek_of_all_queues(bk: BrokerSession) -> None:
    topic, group = bk.topic(queues=4), bk.group()
    for queue in (1, 3):
        bk.send(topic, b"in %d" % queue, queue) >> Reply(SUCCESS)
        bk.max_offset(topic, queue).offset.eventually() >> Reply(SUCCESS, 1)
    orders = ([b"in 1", b"in 3"], [b"in 3", b"in 1"])
    for most in (32, 1):
        found = (Reply(SUCCESS, order[:most], ext=told(2)) for order in orders)
        peek(bk, topic, group, -1, most).bodies >> AnyOf(*found)


@case(kills=["peeks-leave-out-what-comes-again"])
def test_peek_of_what_comes_again(bk: BrokerSession) -> None:
    topic, group = fresh_and_again(bk)
    for queue in (0, -1):
        orders = ([b"fresh", b"again"], [b"again", b"fresh"])
        peek(bk, topic, group, queue).bodies >> AnyOf(*(Reply(SUCCESS, one, ext=told(2)) for one in orders))
    peek(bk, topic, group, 1).bodies >> Reply(SUCCESS, [b"again"], ext=told(1))
    peek(bk, topic, bk.group("other")).bodies >> Reply(SUCCESS, [b"fresh"], ext=told(1))


@case(kills=["peeks-find-nothing-with-success"])
def test_peek_finds_nothing(bk: BrokerSession) -> None:
    topic, group = filled(bk, b"a")
    nothing = Reply(ResponseCode.PULL_NOT_FOUND, remark="NO_MESSAGE_IN_QUEUE", ext=told(0))
    for queue in (2, 3):
        peek(bk, topic, group, queue) >> nothing
    peek(bk, topic, group, 0).bodies >> Reply(SUCCESS, [b"a"])


@case(kills=["peeks-of-any-place"])
def test_peek_of_what_is_not_there_is_refused(bk: BrokerSession) -> None:
    topic, closed, group = bk.topic(queues=4), bk.topic("closed", perm=2), bk.group()
    for name in (bk.name("unknown"), f"{topic}ß"):
        peek(bk, name, group) >> Reply(ResponseCode.TOPIC_NOT_EXIST)
    peek(bk, topic, f"{group}ß") >> Reply(ResponseCode.SUBSCRIPTION_GROUP_NOT_EXIST)
    remark = f"the topic[{closed}] peeking message is forbidden"
    peek(bk, closed, group) >> Reply(NO_PERMISSION, remark=remark)
    peek(bk, topic, group, 4) >> Reply(ResponseCode.INVALID_PARAMETER)


@case(
    kills=["peeks-count-what-is-gone", "peeks-end-at-what-is-gone"],
    clock=True,
    own_server=True,
    setup=OLD,
)
def test_peek_begins_with_the_first_message(bk: BrokerSession) -> None:
    topic, group, behind = bk.topic(), bk.group(), bk.group("behind")
    bk.create_group(behind) >> Reply(SUCCESS)
    low = begins_late(bk, topic)
    peek(bk, topic, group, 1).offsets >> Reply(SUCCESS, list(range(low, 6)), ext=told(6 - low))
    bk.commit_offset(behind, topic, 1, low - 1) >> Reply(SUCCESS)
    peek(bk, topic, behind, 1).offsets >> Reply(SUCCESS, list(range(low, 6)))


@case(kills=["every-broker-is-looked-into"], own_server=True)
def test_peek_of_a_broker_that_may_not_be_read_is_refused(bk: BrokerSession) -> None:
    topic, group = filled(bk, b"a")
    bk.update_config({"brokerPermission": "2"}) >> Reply(SUCCESS)
    peek(bk, topic, group) >> Reply(NO_PERMISSION, ext=told(0))
    bk.update_config({"brokerPermission": "4"}) >> Reply(SUCCESS)
    peek(bk, topic, group).bodies >> Reply(SUCCESS, [b"a"])
