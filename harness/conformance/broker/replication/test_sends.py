"""Chapter replication: for what a synchronous master waits before it answers a send."""

import struct

from harness.conformance import ANYTHING, Including, Pushed, Reply, Silence, case
from harness.conformance.broker.replication.logs import SUCCESS, end, place
from harness.session import BrokerSession, Exchange, meanwhile
from harness.session.broker.replication import Slave
from harness.session.broker.views import SendExchange
from harness.wire import RequestCode, ResponseCode
from harness.wire.bodies import BrokerData, TopicRoute

NO_SLAVE = ResponseCode.SLAVE_NOT_AVAILABLE
TOO_LATE = ResponseCode.FLUSH_SLAVE_TIMEOUT
SYNC = {"brokerRole": "SYNC_MASTER"}
FAR = 1 << 40
"""Beyond the end of every log."""


def follower(bk: BrokerSession, begin: int) -> Slave:
    """A slave that has reported where the log ends. It has been pushed the log, so the master counts it."""
    slave = bk.slave()
    slave.report(0)
    slave.pushed(begin).place >> Pushed((0, begin))
    slave.report(begin)
    return slave


def followed(bk: BrokerSession, topic: str) -> tuple[Slave, int]:
    """A slave that has copied one message, and where the log ends."""
    sent = bk.send(topic, properties={"WAIT": "false"}).ids >> Reply(SUCCESS)
    begin = end(bk, place(sent))
    return follower(bk, begin), begin


def reports_in_pieces(slave: Slave, first: int, second: int, between: Exchange) -> None:
    """Reports two offsets, the second of which is cut in the middle; a send waits between the pieces."""
    reports = struct.pack(">qq", first, second)
    slave.write(reports[:12])
    waits(between)
    slave.write(reports[12:])


def waits(sent: Exchange, seconds: float = 0.5) -> None:
    """A send is not answered for so long."""
    meanwhile(sent, seconds) >> Silence()


def pushed_to(slave: Slave, begin: int) -> int:
    """Where the log ends, once the slave has been pushed what is behind an offset."""
    answer = slave.pushed(1).place >> Pushed((begin, ANYTHING))
    return begin + int(answer.value[1])


def begun(bk: BrokerSession, topic: str, slave: Slave, begin: int) -> tuple[SendExchange, int]:
    """A send that waits, and where the log ends, once the slave has been pushed the message."""
    return bk.send(topic, on=bk.connect()), pushed_to(slave, begin)


def has_fields(sent: SendExchange, code: int, queue_offset: int) -> None:
    """A message is stored, whatever the code says."""
    told = Including({"msgId": ANYTHING, "queueId": "0", "queueOffset": str(queue_offset)})
    sent >> Reply(code, ext=told, remark=None)


@case(
    kills=[
        "sends-do-not-wait",
        "beginning-suffices",
        "any-report-answers",
        "rest-of-a-report-is-lost",
        "first-of-reports-counts",
    ],
    own_server=True,
    setup={**SYNC, "slaveTimeout": "20000"},
)
def test_send_waits_for_a_slave(bk: BrokerSession) -> None:
    topic = bk.topic()
    slave, begin = followed(bk, topic)
    sent = bk.send(topic, b"to be waited for", on=bk.connect())
    finish = pushed_to(slave, begin)
    reports_in_pieces(slave, finish - 1, finish, sent)
    has_fields(sent, SUCCESS, 1)
    first, finish = begun(bk, topic, slave, finish)
    second, end_of_second = begun(bk, topic, slave, finish)
    slave.report(finish)
    has_fields(first, SUCCESS, 2)
    waits(second)
    slave.report(finish, end_of_second)
    has_fields(second, SUCCESS, 3)


@case(kills=["waits-for-no-slave", "send-without-slave-has-no-fields"], own_server=True, setup=SYNC)
def test_send_without_a_slave_is_stored(bk: BrokerSession) -> None:
    topic = bk.topic()
    has_fields(bk.send(topic, b"a"), NO_SLAVE, 0)
    has_fields(bk.send(topic, b"b"), NO_SLAVE, 1)
    has_fields(bk.send_batch(topic, [b"c", b"d"]), NO_SLAVE, 2)
    bk.pull(topic).bodies.eventually() >> Reply(SUCCESS, [b"a", b"b", b"c", b"d"])


@case(
    kills=["waits-for-slaves-far-behind", "farthest-slave-falls-back"],
    own_server=True,
    setup={**SYNC, "haSlaveFallbehindMax": "2000", "slaveTimeout": "20000"},
)
def test_slave_far_behind_is_not_waited_for(bk: BrokerSession) -> None:
    topic = bk.topic()
    late = bk.slave()
    late.report(0)
    sent = bk.send(topic, b"x" * 3_000)
    has_fields(sent, NO_SLAVE, 0)
    begin = end(bk, place(sent.ids >> Reply(NO_SLAVE)))
    current = follower(bk, begin)
    bk.pause(0.5)
    late.report(0)
    bk.pause(0.5)
    sent, finish = begun(bk, topic, current, begin)
    waits(sent)
    current.report(finish)
    has_fields(sent, SUCCESS, 1)


def gives_up(bk: BrokerSession, topic: str, queue_offset: int) -> None:
    """A send is answered after slaveTimeout, 4 s, and its message is stored."""
    sent = bk.send(topic, b"kept", on=bk.connect())
    waits(sent, 3)
    bk.advance(1 + bk.jitter)
    has_fields(sent, TOO_LATE, queue_offset)
    bk.pull(topic, offset=queue_offset).bodies.eventually() >> Reply(SUCCESS, [b"kept"])


def gives_up_both(bk: BrokerSession, topic: str, queue_offset: int) -> None:
    """Two sends whose time ends together are both answered."""
    sends = [bk.send(topic, queue=queue, on=bk.connect()) for queue in (0, 1)]
    bk.advance(4 + bk.jitter)
    for queue, sent in enumerate(sends):
        told = Including({"queueId": str(queue), "queueOffset": str(0 if queue else queue_offset)})
        sent >> Reply(TOO_LATE, ext=told)


@case(
    kills=["sends-do-not-wait", "sends-wait-for-ever", "late-sends-succeed", "one-late-send-is-answered"],
    clock=True,
    own_server=True,
    setup={**SYNC, "slaveTimeout": "4000"},
)
def test_send_gives_a_slave_up(bk: BrokerSession) -> None:
    topic = bk.topic()
    followed(bk, topic)
    gives_up(bk, topic, 1)
    gives_up_both(bk, topic, 2)


@case(
    kills=["late-sends-end-together", "late-sends-wait-for-the-last"],
    clock=True,
    own_server=True,
    setup={**SYNC, "inSyncReplicas": "2", "slaveTimeout": "20000"},
)
def test_each_send_gives_a_slave_up(bk: BrokerSession) -> None:
    topic = bk.topic()
    followed(bk, topic)
    first = bk.send(topic, on=bk.connect())
    bk.advance(10)
    second = bk.send(topic, on=bk.connect())
    bk.advance(10 + bk.jitter)
    has_fields(first, TOO_LATE, 1)
    waits(second)
    bk.advance(10 + bk.jitter)
    has_fields(second, TOO_LATE, 2)


@case(
    kills=["every-send-waits", "wait-minds-its-case"],
    own_server=True,
    setup={**SYNC, "inSyncReplicas": "2", "slaveTimeout": "500"},
)
def test_send_that_does_not_wait_is_answered(bk: BrokerSession) -> None:
    topic = bk.topic()
    has_fields(bk.send(topic, properties={"WAIT": "false"}), SUCCESS, 0)
    has_fields(bk.send(topic, properties={"WAIT": "no"}), SUCCESS, 1)
    bk.send(topic, properties={"WAIT": "TRUE"}) >> Reply((NO_SLAVE, TOO_LATE))


@case(
    kills=["asynchronous-masters-want-replicas"],
    own_server=True,
    setup={"inSyncReplicas": "2", "enableSlaveActingMaster": "true"},
)
def test_asynchronous_master_needs_no_replica(bk: BrokerSession) -> None:
    topic = bk.topic()
    for offset in (0, 1):
        has_fields(bk.send(topic), SUCCESS, offset)


@case(kills=["one-replica-waits"], own_server=True, setup=SYNC)
def test_one_replica_waits_for_no_slave(bk: BrokerSession) -> None:
    topic = bk.topic()
    has_fields(bk.send(topic), SUCCESS, 0)
    slave = bk.slave()
    slave.next_push(within=0.5) >> Silence()
    has_fields(bk.send(topic), SUCCESS, 1)


@case(
    kills=[
        "sends-do-not-wait",
        "one-slave-is-enough",
        "any-report-answers",
        "beginning-suffices",
        "rest-of-a-report-is-lost",
        "first-of-reports-counts",
    ],
    own_server=True,
    setup={**SYNC, "inSyncReplicas": "3", "slaveTimeout": "20000"},
)
def test_send_waits_for_replicas(bk: BrokerSession) -> None:
    topic = bk.topic()
    first, begin = followed(bk, topic)
    second = follower(bk, begin)
    connection = bk.connect()
    for number in (1, 2):
        is_batch = number > 1
        sent = (
            bk.send_batch(topic, [b"a", b"b"], on=connection) if is_batch else bk.send(topic, on=connection)
        )
        finish = pushed_to(first, begin)
        first.report(finish)
        reports_in_pieces(second, finish - 1, finish, sent)
        has_fields(sent, SUCCESS, number)
        begin = finish
    one, end_of_one = begun(bk, topic, first, begin)
    other, finish = begun(bk, topic, first, end_of_one)
    first.report(finish)
    second.report(end_of_one)
    has_fields(one, SUCCESS, 4)
    waits(other)
    second.report(end_of_one, finish)
    has_fields(other, SUCCESS, 5)


@case(
    kills=[
        "sends-wait-for-ever",
        "late-sends-succeed",
        "slaves-that-left-count",
        "one-late-send-is-answered",
    ],
    clock=True,
    own_server=True,
    setup={**SYNC, "inSyncReplicas": "2", "slaveTimeout": "4000"},
)
def test_send_gives_replicas_up(bk: BrokerSession) -> None:
    topic = bk.topic()
    left = bk.slave()
    left.report(FAR)
    has_fields(bk.send(topic), SUCCESS, 0)
    left.close()
    bk.pause(0.5)
    gives_up(bk, topic, 1)
    gives_up_both(bk, topic, 2)


@case(
    kills=["slaves-that-left-are-forgotten", "slaves-that-left-suffice"],
    own_server=True,
    setup={**SYNC, "slaveTimeout": "2000"},
)
def test_slave_that_has_left_counts(bk: BrokerSession) -> None:
    topic = bk.topic()
    left = bk.slave()
    left.report(FAR)
    has_fields(bk.send(topic).eventually(), SUCCESS, 0)
    left.close()
    bk.pause(0.5)
    bk.send(topic) >> Reply(NO_SLAVE)
    bk.slave()
    bk.pause(0.5)
    has_fields(bk.send(topic), SUCCESS, 2)


def lists_members(bk: BrokerSession, *ids: int) -> None:
    """From now on the NameServer lists these ids under the Broker's name, and the Broker knows."""
    listed = BrokerData(bk.cluster_name, bk.broker_name, dict.fromkeys(ids, bk.broker_address))
    bk.nameserver.answers(RequestCode.GET_ROUTEINFO_BY_TOPIC, body=TopicRoute([], [listed]).encode())
    bk.advance(2 + bk.jitter)


@case(
    kills=[
        "too-few-replicas-suffice",
        "replicas-are-wanted-by-all",
        "links-alone-are-replicas",
        "members-are-no-replicas",
        "own-id-must-be-listed",
    ],
    clock=True,
    own_server=True,
    setup={**SYNC, "inSyncReplicas": "2", "enableSlaveActingMaster": "true", "slaveTimeout": "500"},
)
def test_too_few_replicas_are_refused(bk: BrokerSession) -> None:
    topic = bk.topic()
    refused = Reply(ResponseCode.SYSTEM_ERROR, remark="in-sync replicas not enough")
    bk.send(topic) >> refused
    slave = bk.slave()
    slave.report(0)
    slave.next_push(within=0.5) >> Silence()
    bk.send(topic) >> refused
    has_fields(bk.send(topic, properties={"WAIT": "false"}), SUCCESS, 0)
    lists_members(bk, 0, 3)
    has_fields(bk.send(topic), TOO_LATE, 1)
    lists_members(bk, 0)
    bk.send(topic) >> refused
    lists_members(bk, 3)
    has_fields(bk.send(topic), TOO_LATE, 2)
