"""Chapter pull: what a pull waits for, and for how long."""

from harness.conformance import Closed, Reply, Silence, case
from harness.conformance.broker.pull.filled import HOLD_SCAN, NOT_FOUND, SUCCESS, behind_a_scan
from harness.session import BrokerSession, meanwhile
from harness.session.broker.requests import consuming
from harness.wire import FLAG_ONEWAY, ResponseCode
from harness.wire.header_fields import PullFlag
from harness.wire.messages import Message


@case(kills=["pulls-do-not-wait", "arrivals-release-nobody"])
def test_waits_for_a_message(bk: BrokerSession) -> None:
    topic, consumer = bk.topic(), bk.connect()
    pull = bk.pull(topic, suspend=60, on=consumer)
    bk.send(topic, b"at last") >> Reply(SUCCESS)
    pull.bodies >> Reply(SUCCESS, [b"at last"])


@case(kills=["pulls-wait-for-ever", "scans-look-at-one-queue"], clock=True)
def test_waits_until_its_time_is_over(bk: BrokerSession) -> None:
    other = bk.topic("U")
    longer = bk.pull(other, suspend=600, on=bk.connect())
    pull = bk.pull(bk.topic(), suspend=10, on=bk.connect())
    bk.advance(10 + HOLD_SCAN + bk.jitter)
    pull.next_offset >> Reply(NOT_FOUND, 0)
    meanwhile(longer, 0.5) >> Silence()
    bk.send(other, b"at last") >> Reply(SUCCESS)
    longer.bodies >> Reply(SUCCESS, [b"at last"])


@case(kills=["scans-release-nothing-new"], clock=True)
def test_unwanted_message_ends_the_wait_later(bk: BrokerSession) -> None:
    topic, consumer = bk.topic(), bk.connect()
    bk.send(topic, b"wanted", 2, tags="a") >> Reply(SUCCESS)
    bk.max_offset(topic, 2).offset.eventually() >> Reply(SUCCESS, 1)
    pull = bk.pull(topic, 2, 1, subscription="a", suspend=600, on=consumer)
    bk.send(topic, b"unwanted", 2, tags="b") >> Reply(SUCCESS)
    bk.advance(HOLD_SCAN + bk.jitter)
    pull.next_offset >> Reply(ResponseCode.PULL_RETRY_IMMEDIATELY, 2, remark="NO_MATCHED_MESSAGE")


@case(kills=["unwanted-tags-end-waits"], clock=True)
def test_unwanted_message_does_not_end_the_wait(bk: BrokerSession) -> None:
    topic = bk.topic()
    pulls = [bk.pull(topic, 2, subscription="a || c", suspend=600, on=bk.connect()) for _ in range(2)]
    behind_a_scan(bk)
    for body in (b"0", b"1"):
        bk.send(topic, body, 2, tags="b") >> Reply(SUCCESS)
    bk.max_offset(topic, 2).offset.eventually() >> Reply(SUCCESS, 2)
    for pull in pulls:
        meanwhile(pull, 1) >> Silence()
    bk.send(topic, b"2", 2, tags="c") >> Reply(SUCCESS)
    for pull in pulls:
        pull.bodies >> Reply(SUCCESS, [b"2"])


@case(kills=["arrivals-release-all-queues"])
def test_other_queue_does_not_end_the_wait(bk: BrokerSession) -> None:
    topic, consumer = bk.topic(), bk.connect()
    pull = bk.pull(topic, suspend=60, on=consumer)
    bk.send(topic, b"elsewhere", queue=1) >> Reply(SUCCESS)
    bk.send(topic, b"here", queue=0) >> Reply(SUCCESS)
    pull.bodies >> Reply(SUCCESS, [b"here"])


@case(kills=["arrivals-release-one", "arrivals-release-one-of-a-connection"])
def test_message_ends_every_wait(bk: BrokerSession) -> None:
    topic, shared = bk.topic(), bk.connect()
    connections = [bk.connect(), bk.connect(), shared, shared, shared]
    pulls = [bk.pull(topic, group=bk.group(), suspend=60, on=one) for one in connections]
    bk.send(topic, b"at last") >> Reply(SUCCESS)
    for pull in pulls:
        pull.bodies >> Reply(SUCCESS, [b"at last"])


@case(kills=["last-arrival-alone-ends-waits", "first-of-a-batch-releases"])
def test_each_message_of_a_batch_ends_waits(bk: BrokerSession) -> None:
    topic, tags = bk.topic(), ("a", "b", "c")
    pulls = [bk.pull(topic, 2, subscription=tag, suspend=60, on=bk.connect()) for tag in tags]
    batch = [Message(topic=topic, body=tag.encode(), properties={"TAGS": tag}) for tag in tags]
    bk.send_batch(topic, batch, 2) >> Reply(SUCCESS)
    for pull, tag in zip(pulls, tags, strict=True):
        pull.bodies >> Reply(SUCCESS, [tag.encode()])


@case(kills=["first-of-several-queues-releases"], clock=True)
def test_messages_that_arrive_together_end_waits(bk: BrokerSession) -> None:
    topic, queues = bk.topic(), (1, 2, 3)
    pulls = [bk.pull(topic, queue, suspend=60, on=bk.connect()) for queue in queues]
    for queue in queues:
        bk.send(topic, b"%d" % queue, queue, properties={"DELAY": "1"}) >> Reply(SUCCESS)
    bk.advance(1 + 1 + bk.jitter)
    for queue, pull in zip(queues, pulls, strict=True):
        pull.bodies >> Reply(SUCCESS, [b"%d" % queue])


@case(kills=["lost-connections-end-every-wait"])
def test_lost_connections_end_no_other_wait(bk: BrokerSession) -> None:
    topic = bk.topic()
    connections = [bk.connect() for _ in range(3)]
    first, lost, third = (bk.pull(topic, suspend=60, on=one) for one in connections)
    elsewhere = bk.pull(topic, 2, suspend=60, on=connections[1])
    for pull in (lost, elsewhere):
        pull >> Silence()
    connections[1].close()
    for queue in (2, 0):
        bk.send(topic, b"at last", queue) >> Reply(SUCCESS)
    for pull in (first, third):
        pull.bodies >> Reply(SUCCESS, [b"at last"])


@case(kills=["oneway-pulls-are-answered"])
def test_oneway_pull_is_not_answered(bk: BrokerSession) -> None:
    topic, consumer = bk.topic(), bk.connect()
    pull = bk.pull(topic, suspend=60, on=consumer, flag=FLAG_ONEWAY)
    bk.max_offset(topic, on=consumer).offset >> Reply(SUCCESS, 0)
    bk.send(topic, b"at last") >> Reply(SUCCESS)
    bk.max_offset(topic, on=consumer).offset.eventually() >> Reply(SUCCESS, 1)
    pull >> Silence()


@case(
    kills=["pulls-that-waited-count", "lost-pulls-count"],
    setup={"pullThreadPoolQueueCapacity": "2"},
)
def test_pulls_that_have_waited_leave_room(bk: BrokerSession) -> None:
    topic = bk.topic()
    for _ in range(2):
        lost = bk.connect()
        for queue in (1, 2):
            bk.pull(topic, queue, suspend=60, on=lost) >> Silence()
        lost.close()
        bk.pause(0.5)  # until the Broker has seen the end of the connection
    for number in range(4):
        pull = bk.pull(topic, offset=number, suspend=60, on=bk.connect())
        bk.send(topic, b"%d" % number) >> Reply(SUCCESS)
        pull.bodies >> Reply(SUCCESS, [b"%d" % number])
    held = [bk.pull(topic, queue, suspend=60, on=bk.connect()) for queue in (1, 2)]
    for queue, pull in enumerate(held, 1):
        bk.send(topic, b"%d" % queue, queue) >> Reply(SUCCESS)
        pull.bodies >> Reply(SUCCESS, [b"%d" % queue])


@case(kills=["consumers-that-waited-stay"])
def test_consumer_that_has_waited_leaves(bk: BrokerSession) -> None:
    topic, group, (client, consumer) = bk.topic(), bk.group(), bk.client()
    bk.heartbeat(client, consumers=[consuming(group, [topic])], on=consumer) >> Reply(SUCCESS)
    pull = bk.pull(topic, group=group, suspend=60, on=consumer)
    bk.consumers(group).ids.eventually() >> Reply(SUCCESS, [client])
    bk.send(topic, b"at last") >> Reply(SUCCESS)
    pull.bodies >> Reply(SUCCESS, [b"at last"])
    consumer.close()
    bk.consumers(group).eventually() >> Reply(ResponseCode.SYSTEM_ERROR)


@case(kills=["pulls-wait-fifteen-seconds"], clock=True)
def test_waits_as_long_as_it_asks(bk: BrokerSession) -> None:
    topic, consumer = bk.topic(), bk.connect()
    pull = bk.pull(topic, suspend=40, on=consumer)
    bk.advance_short_of(39, since=bk.mark())
    bk.send(topic, b"at last") >> Reply(SUCCESS)
    pull.bodies >> Reply(SUCCESS, [b"at last"])


@case(kills=["late-answers-are-no-activity", "idle-never-closed"], clock=True)
def test_late_answer_keeps_a_connection(bk: BrokerSession) -> None:
    topic, consumer = bk.topic(), bk.connect()
    pull = bk.pull(topic, suspend=90, on=consumer)
    bk.advance(60, idle=(consumer,))
    sent = bk.mark()
    bk.send(topic, b"at last") >> Reply(SUCCESS)
    pull.bodies >> Reply(SUCCESS, [b"at last"])
    bk.advance_short_of(bk.profile.idle - 1, sent, idle=(consumer,))
    bk.max_offset(topic, 0, on=consumer).offset >> Reply(SUCCESS, 1)
    bk.advance_past(bk.profile.idle, idle=(consumer,))
    consumer.closes() >> Closed()


@case(
    kills=["short-waits-are-long", "short-waits-end-every-5-s"],
    clock=True,
    setup={"longPollingEnable": "false", "shortPollingTimeMills": "1000"},
)
def test_wait_can_be_short(bk: BrokerSession) -> None:
    pull = bk.pull(bk.topic(), suspend=600, on=bk.connect())
    bk.advance(1 + 1 + bk.jitter)
    pull.next_offset >> Reply(NOT_FOUND, 0)


@case(
    kills=["pulls-never-wait-shortly"],
    clock=True,
    setup={"longPollingEnable": "false", "shortPollingTimeMills": "6000"},
)
def test_short_wait_is_not_cut(bk: BrokerSession) -> None:
    pull = bk.pull(bk.topic(), suspend=60, on=bk.connect())
    meanwhile(pull, 4) >> Silence()
    bk.advance(2 + 6 + 1 + bk.jitter)
    pull.next_offset >> Reply(NOT_FOUND, 0)


@case(kills=["waiting-pulls-commit-twice"])
def test_wait_commits_only_once(bk: BrokerSession) -> None:
    topic, group, consumer = bk.topic(), bk.group(), bk.connect()
    flags = PullFlag.COMMIT | PullFlag.SUBSCRIPTION
    pull = bk.pull(topic, group=group, sys_flag=flags, commit=7, suspend=60, on=consumer)
    bk.committed(group, topic).offset.eventually() >> Reply(SUCCESS, 7)
    bk.commit_offset(group, topic, 0, 9) >> Reply(SUCCESS)
    bk.send(topic, b"at last") >> Reply(SUCCESS)
    pull.bodies >> Reply(SUCCESS, [b"at last"])
    bk.committed(group, topic).offset >> Reply(SUCCESS, 9)
