"""Chapter role: a Broker becomes a master or a slave while it runs."""

from harness.conformance import ABSENT, ANYTHING, Including, Matching, Reply, Request, Silence, case
from harness.conformance.broker.registrations import REGISTER, all_topics
from harness.conformance.broker.role.changing import MASTER, SLAVE, SUCCESS, slave_is_smallest
from harness.session import Answer, BrokerSession, ReceivedExchange
from harness.session.broker.requests import consuming
from harness.wire import RequestCode, ResponseCode
from harness.wire.header_fields import PullFlag
from harness.wire.messages import decode_offset_id

UNREGISTER = RequestCode.UNREGISTER_BROKER
REFUSED = (ResponseCode.SYSTEM_ERROR, ResponseCode.SYSTEM_BUSY)
RETRY = ResponseCode.PULL_RETRY_IMMEDIATELY
COMMIT = 8


def change(bk: BrokerSession, settings: dict[str, str]) -> tuple[Answer, ReceivedExchange]:
    """The role becomes another one: the next registration says so, without a departure before it.

    Gives the data version before, and that registration.
    """
    heard = bk.nameserver.next(REGISTER, since=bk.mark(), within=40 + bk.jitter, where=all_topics)
    before = heard.data_version >> Request(REGISTER)
    bk.update_config(settings) >> Reply(SUCCESS)
    heard = bk.nameserver.next(REGISTER, since=before, within=40 + bk.jitter, where=all_topics)
    heard >> Request(REGISTER, ext=Including({"brokerId": settings["brokerId"]}))
    bk.nameserver.next(UNREGISTER, since=before, within=1) >> Silence()
    return before, heard


@case(
    "bk.role.promoted-broker-registers-as-master",
    "bk.role.promoted-broker-takes-messages",
    "bk.role.change-is-no-departure",
    "bk.role.change-keeps-the-data-version",
    kills=[
        "role-stays",
        "promotion-is-ignored",
        "change-of-role-is-a-departure",
        "change-of-role-raises-the-data-version",
    ],
    clock=True,
    own_server=True,
    setup=SLAVE,
)
def test_promotion(bk: BrokerSession) -> None:
    """A slave becomes a master: it registers as one, and takes messages."""
    before, heard = change(bk, MASTER)
    heard.data_version >> Request(REGISTER, before.value)
    bk.send("BenchmarkTest", b"taken") >> Reply(SUCCESS)
    bk.pull("BenchmarkTest").bodies.eventually() >> Reply(SUCCESS, [b"taken"])


@case(
    "bk.role.demoted-broker-registers-as-slave",
    "bk.role.change-is-no-departure",
    kills=["role-stays", "change-of-role-is-a-departure"],
    clock=True,
    own_server=True,
)
def test_demotion(bk: BrokerSession) -> None:
    """A master becomes a slave: it registers as one."""
    change(bk, SLAVE)


def refused_once_demoted(bk: BrokerSession, code: int) -> None:
    """A master that has become a slave takes no messages."""
    bk.send("BenchmarkTest", b"taken") >> Reply(SUCCESS)
    bk.update_config(SLAVE) >> Reply(SUCCESS)
    bk.send("BenchmarkTest", b"late") >> Reply(code, remark=Matching("."))
    bk.max_offset("BenchmarkTest").offset.eventually() >> Reply(SUCCESS, 1)


@case(kills=["role-stays", "slave-takes-messages"], own_server=True)
def test_demoted_broker_is_not_available(bk: BrokerSession) -> None:
    refused_once_demoted(bk, ResponseCode.SERVICE_NOT_AVAILABLE)


@case(kills=["role-stays", "slave-takes-messages"], own_server=True)
def test_demoted_broker_is_busy(bk: BrokerSession) -> None:
    refused_once_demoted(bk, ResponseCode.SYSTEM_BUSY)


def log_offset(sent: Answer) -> int:
    """The offset in the log of a message, from the answer to its send."""
    return decode_offset_id(sent.value[0])[1]


@case(kills=["slave-is-not-read-from"], own_server=True)
def test_demoted_broker_is_read_from(bk: BrokerSession) -> None:
    topic = bk.topic()
    bk.send(topic, b"there") >> Reply(SUCCESS)
    bk.pull(topic).bodies.eventually() >> Reply(SUCCESS, [b"there"])
    bk.update_config(SLAVE) >> Reply(SUCCESS)
    bk.pull(topic).bodies >> Reply(SUCCESS, [b"there"])


@case(
    kills=["slave-corrects-offsets", "slave-keeps-consumers-where-they-are"],
    own_server=True,
    setup={"slaveReadEnable": "true"},
)
def test_slave_corrects_no_offset(bk: BrokerSession) -> None:
    topic = bk.topic()
    for body in (b"one", b"two"):
        bk.send(topic, body, tags="a") >> Reply(SUCCESS)
    bk.max_offset(topic).offset.eventually() >> Reply(SUCCESS, 2)
    bk.update_config(SLAVE) >> Reply(SUCCESS)
    pull = bk.pull(topic, most=1)
    pull.bodies >> Reply(SUCCESS, [b"one"])
    pull.next_offset >> Reply(SUCCESS, 1)
    pull.bounds >> Reply(SUCCESS, (0, 2))
    bk.pull(topic, subscription="b").next_offset >> Reply(RETRY, 2, remark="NO_MATCHED_MESSAGE")
    bk.pull(topic, offset=9).next_offset >> Reply(RETRY, 9, remark="OFFSET_OVERFLOW_BADLY")
    bk.pull(topic, offset=-1).next_offset >> Reply(RETRY, -1, remark="OFFSET_TOO_SMALL")


@case(
    kills=["slaves-never-correct-offsets"],
    own_server=True,
    setup={"slaveReadEnable": "true", "offsetCheckInSlave": "true"},
)
def test_slave_corrects_offsets_if_set_to(bk: BrokerSession) -> None:
    topic = bk.topic()
    for body in (b"one", b"two"):
        bk.send(topic, body) >> Reply(SUCCESS)
    bk.max_offset(topic).offset.eventually() >> Reply(SUCCESS, 2)
    bk.update_config(SLAVE) >> Reply(SUCCESS)
    for offset, corrected in ((9, 2), (-1, 0)):
        bk.pull(topic, offset=offset).next_offset >> Reply(ResponseCode.PULL_OFFSET_MOVED, corrected)


@case(
    kills=["readable-slave-suggests-its-master"],
    own_server=True,
    setup={"slaveReadEnable": "true"},
)
def test_readable_slave_suggests_the_broker_of_the_group(bk: BrokerSession) -> None:
    topic, group = bk.topic(), bk.group()
    bk.create_group(group, brokerId=3, whichBrokerWhenConsumeSlowly=5) >> Reply(SUCCESS)
    bk.send(topic, b"there") >> Reply(SUCCESS)
    bk.max_offset(topic).offset.eventually() >> Reply(SUCCESS, 1)
    bk.update_config(SLAVE) >> Reply(SUCCESS)
    told = Including({"suggestWhichBrokerId": "3"})
    bk.pull(topic, group=group).bodies >> Reply(SUCCESS, [b"there"], ext=told)
    end = bk.pull(topic, offset=1, group=group)
    end.next_offset >> Reply(ResponseCode.PULL_NOT_FOUND, 1, ext=told, remark="OFFSET_OVERFLOW_ONE")


@case(kills=["slave-is-read-from"], own_server=True)
def test_demoted_broker_is_not_read_from(bk: BrokerSession) -> None:
    topic = bk.topic()
    bk.send(topic, b"there") >> Reply(SUCCESS)
    bk.update_config(SLAVE) >> Reply(SUCCESS)
    bk.pull(topic) >> Reply(ResponseCode.SYSTEM_BUSY, remark=Matching("REJECTREQUEST"))


@case(kills=["slave-takes-back"], own_server=True)
def test_demoted_broker_takes_nothing_back(bk: BrokerSession) -> None:
    topic, group = bk.topic(), bk.group()
    where = log_offset(bk.send(topic).ids >> Reply(SUCCESS))
    bk.send_back(group, where, -1, topic=topic) >> Reply(SUCCESS)
    bk.update_config(SLAVE) >> Reply(SUCCESS)
    bk.send_back(group, where, -1, topic=topic) >> Reply(REFUSED, remark=Matching("."))
    bk.max_offset(f"%DLQ%{group}").offset.eventually() >> Reply(SUCCESS, 1)


def open_transaction(bk: BrokerSession, topic: str, group: str) -> tuple[int, int]:
    """Sends a half message and returns its offset in its queue and in the log."""
    said = {"TRAN_MSG": "true", "PGROUP": group, "UNIQ_KEY": bk.name("key")}
    half = bk.send(topic, b"half", properties=said, group=group, sys_flag=4, born=bk.broker_time())
    sent = half.ids >> Reply(SUCCESS)
    ext = (sent.command and sent.command.ext) or {}
    return int(ext["queueOffset"] or 0), log_offset(sent)


@case(kills=["slave-ends-transactions"], own_server=True)
def test_demoted_broker_ends_no_transaction(bk: BrokerSession) -> None:
    topic, group = bk.topic(), bk.group()
    where = open_transaction(bk, topic, group)
    bk.update_config(SLAVE) >> Reply(SUCCESS)
    bk.end_transaction(group, *where, COMMIT) >> Reply(ResponseCode.SLAVE_NOT_AVAILABLE)
    bk.max_offset(topic).offset >> Reply(SUCCESS, 0)


@case(kills=["demotion-forgets-transactions"], own_server=True)
def test_promoted_broker_ends_transactions(bk: BrokerSession) -> None:
    topic, group = bk.topic(), bk.group()
    where = open_transaction(bk, topic, group)
    bk.update_config(SLAVE) >> Reply(SUCCESS)
    bk.update_config(MASTER) >> Reply(SUCCESS)
    bk.end_transaction(group, *where, COMMIT) >> Reply(SUCCESS)
    bk.pull(topic).bodies.eventually() >> Reply(SUCCESS, [b"half"])


@case(kills=["slave-changes-topics", "slave-says-nothing-about-topics"], own_server=True)
def test_demoted_broker_changes_no_topic(bk: BrokerSession) -> None:
    topic = bk.topic()
    bk.update_config(SLAVE) >> Reply(SUCCESS)
    refused = Reply(ResponseCode.SYSTEM_ERROR, remark=Matching("from slave broker"))
    bk.create_topic(bk.name("new")) >> refused
    bk.delete_topic(topic) >> refused
    bk.pull(topic) >> Reply(ResponseCode.PULL_NOT_FOUND)


@case(kills=["slave-delivers-delays"], clock=True, own_server=True)
def test_demoted_broker_delivers_no_delay(bk: BrokerSession) -> None:
    topic = bk.topic()
    bk.send(topic, properties={"DELAY": "3"}) >> Reply(SUCCESS)
    bk.update_config(SLAVE) >> Reply(SUCCESS)
    bk.advance(10 + 5 + bk.jitter)
    bk.max_offset(topic).offset >> Reply(SUCCESS, 0)


@case(kills=["demotion-forgets-delays"], clock=True, own_server=True)
def test_promoted_broker_goes_on_with_delays(bk: BrokerSession) -> None:
    topic = bk.topic()
    bk.send(topic, properties={"DELAY": "2"}) >> Reply(SUCCESS)
    bk.update_config(SLAVE) >> Reply(SUCCESS)
    bk.advance(5 + 5 + bk.jitter)
    bk.update_config(MASTER) >> Reply(SUCCESS)
    bk.advance(5 + bk.jitter)
    bk.pull(topic).bodies.eventually() >> Reply(SUCCESS, [b"hello"])


@case(kills=["promotion-delivers-timed-again"], clock=True, own_server=True)
def test_promoted_broker_delivers_timed_once(bk: BrokerSession) -> None:
    topic = bk.topic()
    bk.send(topic, properties={"TIMER_DELAY_SEC": "4"}) >> Reply(SUCCESS)
    bk.update_config(SLAVE) >> Reply(SUCCESS)
    bk.advance(1)
    bk.update_config(MASTER) >> Reply(SUCCESS)
    bk.advance(10 + bk.jitter)
    bk.pull(topic).bodies.eventually() >> Reply(SUCCESS, [b"hello"])


@case(kills=["slave-commits-by-pulls"], own_server=True)
def test_demoted_broker_commits_nothing_by_pulls(bk: BrokerSession) -> None:
    topic, group = bk.topic(), bk.group()
    bk.heartbeat(bk.name("client"), consumers=[consuming(group, [topic])]) >> Reply(SUCCESS)
    bk.commit_offset(group, topic, 0, 7) >> Reply(SUCCESS)
    bk.update_config(SLAVE) >> Reply(SUCCESS)
    bk.pull(topic, group=group, sys_flag=PullFlag.SUBSCRIPTION | PullFlag.COMMIT, commit=9) >> Reply(
        ResponseCode.PULL_NOT_FOUND
    )
    bk.committed(group, topic, 0).offset >> Reply(SUCCESS, 7)


@case(kills=["demotion-forgets-offsets"], own_server=True)
def test_promoted_broker_keeps_what_it_had(bk: BrokerSession) -> None:
    topic, group = bk.topic(), bk.group()
    bk.heartbeat(bk.name("client"), consumers=[consuming(group, [topic])]) >> Reply(SUCCESS)
    bk.send(topic, b"before") >> Reply(SUCCESS)
    bk.commit_offset(group, topic, 0, 1) >> Reply(SUCCESS)
    bk.update_config(SLAVE) >> Reply(SUCCESS)
    bk.update_config(MASTER) >> Reply(SUCCESS)
    bk.send(topic, b"behind") >> Reply(SUCCESS)
    bk.pull(topic).bodies.eventually() >> Reply(SUCCESS, [b"before", b"behind"])
    bk.committed(group, topic, 0).offset >> Reply(SUCCESS, 1)


@case(kills=["acting-slaves-deliver"], clock=True, own_server=True, setup={"enableSlaveActingMaster": "true"})
def test_acting_slave_delivers_nothing_itself(bk: BrokerSession) -> None:
    topic = bk.topic(queues=1)
    bk.send(topic, properties={"DELAY": "4"}) >> Reply(SUCCESS)
    bk.update_config(SLAVE) >> Reply(SUCCESS)
    slave_is_smallest(bk)
    bk.advance(30 + 10 + bk.jitter)
    bk.max_offset(topic).offset >> Reply(SUCCESS, 0)


@case(kills=["slave-changes-groups"], own_server=True)
def test_demoted_broker_changes_no_group(bk: BrokerSession) -> None:
    group, new = bk.group(), bk.group("new")
    bk.create_group(group, retryMaxTimes=5) >> Reply(SUCCESS)
    bk.update_config(SLAVE) >> Reply(SUCCESS)
    remark = Matching("from slave broker")
    bk.create_group(group, retryMaxTimes=7) >> Reply(ResponseCode.SYSTEM_ERROR, remark=remark)
    bk.create_group(new, retryMaxTimes=7) >> Reply(ResponseCode.SYSTEM_ERROR, remark=remark)
    refused = Reply(ResponseCode.SYSTEM_ERROR, remark=remark)
    bk.call(RequestCode.DELETE_SUBSCRIPTIONGROUP, {"groupName": group}, about=group) >> refused
    shown = Including({group: Including({"retryMaxTimes": 5}), new: ABSENT})
    bk.groups().json >> Reply(SUCCESS, Including({"subscriptionGroupTable": shown}))


@case(kills=["slave-of-5x-changes-nothing"], own_server=True, setup=SLAVE)
def test_slave_changes_topics_and_groups(bk: BrokerSession) -> None:
    topic, group = bk.topic(), bk.group()
    bk.create_group(group, retryMaxTimes=5) >> Reply(SUCCESS)
    bk.topics().json >> Reply(SUCCESS, Including({"topicConfigTable": Including({topic: ANYTHING})}))
    shown = Including({group: Including({"retryMaxTimes": 5})})
    bk.groups().json >> Reply(SUCCESS, Including({"subscriptionGroupTable": shown}))
    bk.delete_topic(topic) >> Reply(SUCCESS)
    bk.call(RequestCode.DELETE_SUBSCRIPTIONGROUP, {"groupName": group}, about=group) >> Reply(SUCCESS)
    bk.topics().json >> Reply(SUCCESS, Including({"topicConfigTable": Including({topic: ABSENT})}))
    bk.groups().json >> Reply(SUCCESS, Including({"subscriptionGroupTable": Including({group: ABSENT})}))


@case(kills=["slave-suggests-its-master"], own_server=True)
def test_slave_suggests_the_broker_of_the_group(bk: BrokerSession) -> None:
    topic, group = bk.topic(), bk.group()
    bk.create_group(group, brokerId=3, whichBrokerWhenConsumeSlowly=5) >> Reply(SUCCESS)
    bk.send(topic) >> Reply(SUCCESS)
    bk.max_offset(topic).offset.eventually() >> Reply(SUCCESS, 1)
    bk.update_config(SLAVE) >> Reply(SUCCESS)
    moved = bk.pull(topic, offset=9, group=group)
    moved.next_offset >> Reply(RETRY, 9, ext=Including({"suggestWhichBrokerId": "3"}))
