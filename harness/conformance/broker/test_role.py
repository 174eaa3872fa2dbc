"""Chapter role: what a Broker does when it becomes a master or a slave while it runs.

By the settings (code 25) this is possible in both lines. A change by DLedger or by a controller is not
judged: both need several Brokers of one kind.
"""

import msgspec

from harness.conformance import ABSENT, ANYTHING, Including, Matching, Reply, Request, Silence, case
from harness.conformance.broker.registrations import REGISTER, all_topics, next_of_time
from harness.session import Answer, BrokerSession, Exchange, ReceivedExchange
from harness.session.broker.requests import consuming
from harness.session.views import body_member
from harness.wire import RequestCode, ResponseCode
from harness.wire.bodies import BrokerData, BrokerMemberGroup, TopicRoute
from harness.wire.header_fields import PullFlag
from harness.wire.messages import decode_offset_id

SUCCESS = ResponseCode.SUCCESS
UNREGISTER = RequestCode.UNREGISTER_BROKER
TOPICS = RequestCode.GET_ALL_TOPIC_CONFIG
EXCHANGE = RequestCode.EXCHANGE_BROKER_HA_INFO
NOTIFY = RequestCode.NOTIFY_MIN_BROKER_ID_CHANGE
ROUTE = RequestCode.GET_ROUTEINFO_BY_TOPIC
MEMBERS = RequestCode.GET_BROKER_MEMBER_GROUP
DELAYS = RequestCode.GET_ALL_DELAY_OFFSET
SLAVE = {"brokerRole": "SLAVE", "brokerId": "1"}
MASTER = {"brokerRole": "ASYNC_MASTER", "brokerId": "0"}
TOLD = {**SLAVE, "registerNameServerPeriod": "10000", "unused": "{nameserver2}"}
"""A slave, and an address that can be named as its master."""
ACTING = {**SLAVE, "enableSlaveActingMaster": "true", "unused": "{nameserver2}"}
LEVELS = body_member("offsetTable")
REFUSED = (ResponseCode.SYSTEM_ERROR, ResponseCode.SYSTEM_BUSY)
RETRY = ResponseCode.PULL_RETRY_IMMEDIATELY
COMMIT = 8
OFFER = {
    "masterHaAddress": Matching(r"^[^:]+:\d+$"),
    "masterAddress": Matching(r"^[^:]+:\d+$"),
    "masterFlushOffset": Matching(r"^-?\d+$"),
}


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


@case(kills=["slave-changes-topics"], own_server=True)
def test_demoted_broker_changes_no_topic(bk: BrokerSession) -> None:
    topic = bk.topic()
    bk.update_config(SLAVE) >> Reply(SUCCESS)
    bk.create_topic(bk.name("new")) >> Reply(ResponseCode.SYSTEM_ERROR)
    bk.delete_topic(topic) >> Reply(ResponseCode.SYSTEM_ERROR)
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


@case(kills=["master-that-is-gone-is-asked"], clock=True, setup=TOLD)
def test_slave_without_master_stops_asking(bk: BrokerSession) -> None:
    master = bk.nameservers[1]
    host, _, port = master.address.rpartition(":")
    bk.nameserver.answers(REGISTER, ext={"masterAddr": f"{host}:{int(port) + 2}"})
    told = next_of_time(bk)
    master.next(TOPICS, since=told, within=90 + bk.jitter) >> Request(TOPICS)
    bk.nameserver.behaves()
    told = next_of_time(bk, next_of_time(bk))
    master.next(TOPICS, since=told, within=70) >> Silence()


@case(kills=["place-to-copy-is-not-said"])
def test_master_says_where_to_copy(bk: BrokerSession) -> None:
    bk.call(EXCHANGE) >> Reply(SUCCESS, ext=Including({**OFFER, "masterAddress": bk.broker_address}))


@case(kills=["slave-says-where-to-copy", "place-to-copy-is-not-said"], own_server=True, setup=SLAVE)
def test_slave_does_not_say_where_to_copy(bk: BrokerSession) -> None:
    bk.call(EXCHANGE) >> Reply(SUCCESS, ext=ABSENT)
    bk.update_config(MASTER) >> Reply(SUCCESS)
    bk.call(EXCHANGE) >> Reply(SUCCESS, ext=Including(OFFER))


@case(kills=["new-master-is-not-asked"], own_server=True, setup=ACTING)
def test_new_master_is_asked_where_to_copy(bk: BrokerSession) -> None:
    master = bk.nameservers[1]
    slave_is_smallest(bk)
    bk.call(NOTIFY, {"minBrokerId": "0", "minBrokerAddr": master.address}) >> Reply(SUCCESS)
    asked = master.next(EXCHANGE, within=10 + bk.jitter)
    asked >> Request(EXCHANGE, ext=Including({"masterHaAddress": ABSENT}), flag=0)


def new_master_among_members(bk: BrokerSession, code: int) -> None:
    """The members of a slave's name, which it asks for with this code, get a master."""
    master, cluster, name = bk.nameservers[1], bk.cluster_name, bk.broker_name
    for addresses in ({1: bk.broker_address}, {0: master.address, 1: bk.broker_address}):
        route = TopicRoute([], [BrokerData(cluster, name, addresses)]).encode()
        body = route if code == ROUTE else BrokerMemberGroup(cluster, name, addresses).encode()
        bk.nameserver.answers(code, body=body)
        for _ in range(2):
            bk.nameserver.next(code, since=bk.mark(), within=10 + bk.jitter) >> Request(code)
    asked = master.next(EXCHANGE, within=10 + bk.jitter)
    asked >> Request(EXCHANGE, ext=Including({"masterHaAddress": ABSENT}), flag=0)


@case(
    "bk.role.new-master-is-asked-where-to-copy",
    kills=["members-in-routes-do-not-count", "new-master-is-not-asked"],
    clock=True,
    own_server=True,
    setup=ACTING,
)
def test_new_master_in_a_route(bk: BrokerSession) -> None:
    """A slave learns of a new master from the route that shows its members."""
    new_master_among_members(bk, ROUTE)


@case(
    "bk.role.new-master-is-asked-where-to-copy",
    kills=["members-in-groups-do-not-count", "new-master-is-not-asked"],
    clock=True,
    own_server=True,
    setup={**ACTING, "compatibleWithOldNameSrv": "false"},
)
def test_new_master_in_a_group(bk: BrokerSession) -> None:
    """A slave learns of a new master from the group of its members."""
    new_master_among_members(bk, MEMBERS)


@case(kills=["offers-say-who-is-asked"], clock=True, own_server=True, setup=TOLD)
def test_offer_does_not_say_who_is_asked(bk: BrokerSession) -> None:
    master = bk.nameservers[1]
    host, _, port = master.address.rpartition(":")
    address = f"{host}:{int(port) + 2}"
    offer = {"masterHaAddress": f"{host}:1", "masterAddress": address, "masterFlushOffset": "0"}
    bk.call(EXCHANGE, offer) >> Reply(SUCCESS)
    master.next(TOPICS, within=75) >> Silence()
    bk.nameserver.answers(REGISTER, ext={"masterAddr": address})
    told = next_of_time(bk)
    master.next(TOPICS, since=told, within=90 + bk.jitter) >> Request(TOPICS)


def slave_is_smallest(bk: BrokerSession, *, left: str | None = None) -> None:
    """Notifies a slave that its id is the smallest of its name, and optionally which broker has left."""
    bk.nameserver.ignores(RequestCode.GET_ROUTEINFO_BY_TOPIC)
    told = {"minBrokerId": "1", "minBrokerAddr": bk.broker_address}
    bk.call(NOTIFY, told if left is None else {**told, "offlineBrokerAddr": left}) >> Reply(SUCCESS)


@case(kills=["new-masters-release-nothing"], own_server=True, setup={**ACTING, "slaveReadEnable": "true"})
def test_new_master_releases_pulls(bk: BrokerSession) -> None:
    slave_is_smallest(bk)
    bk.pull("BenchmarkTest") >> Reply(ResponseCode.PULL_NOT_FOUND)
    held = bk.pull("BenchmarkTest", suspend=60, on=bk.connect())
    told = {"minBrokerId": "0", "minBrokerAddr": "127.0.0.1:1", "haBrokerAddr": "127.0.0.1:2"}
    bk.call(NOTIFY, told) >> Reply(SUCCESS)
    codes = (ResponseCode.PULL_RETRY_IMMEDIATELY, ResponseCode.PULL_NOT_FOUND)
    held >> Reply(codes, ext=Including({"suggestWhichBrokerId": "0"}))


@case(
    kills=["master-that-has-left-is-asked"],
    clock=True,
    own_server=True,
    # Apache's slave asks its master between two registrations, so these must not take long.
    setup={**ACTING, "registerNameServerPeriod": "20000", "registerBrokerTimeoutMills": "1000"},
)
def test_master_that_has_left_is_not_asked(bk: BrokerSession) -> None:
    master = bk.nameservers[1]
    host, _, port = master.address.rpartition(":")
    address = f"{host}:{int(port) + 2}"
    bk.nameserver.answers(REGISTER, ext={"masterAddr": address})
    told = next_of_time(bk)
    bk.nameserver.ignores(REGISTER)
    asked = master.next(TOPICS, since=told, within=90 + bk.jitter) >> Request(TOPICS)
    slave_is_smallest(bk, left=address)
    master.next(TOPICS, since=asked, within=75) >> Silence()


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
    change_group(bk, group, 5) >> Reply(SUCCESS)
    bk.update_config(SLAVE) >> Reply(SUCCESS)
    remark = Matching("from slave broker")
    change_group(bk, group, 7) >> Reply(ResponseCode.SYSTEM_ERROR, remark=remark)
    change_group(bk, new, 7) >> Reply(ResponseCode.SYSTEM_ERROR, remark=remark)
    refused = Reply(ResponseCode.SYSTEM_ERROR, remark=remark)
    bk.call(RequestCode.DELETE_SUBSCRIPTION_GROUP, {"groupName": group}, about=group) >> refused
    shown = Including({group: Including({"retryMaxTimes": 5}), new: ABSENT})
    bk.groups().json >> Reply(SUCCESS, Including({"subscriptionGroupTable": shown}))


def change_group(bk: BrokerSession, group: str, times: int) -> Exchange:
    """UPDATE_AND_CREATE_SUBSCRIPTIONGROUP (200) with a limit of retries."""
    body = msgspec.json.encode({"groupName": group, "retryMaxTimes": times})
    return bk.call(RequestCode.UPDATE_AND_CREATE_SUBSCRIPTION_GROUP, None, body, about=group)


@case(kills=["slave-of-5x-changes-nothing"], own_server=True, setup=SLAVE)
def test_slave_changes_topics_and_groups(bk: BrokerSession) -> None:
    topic, group = bk.topic(), bk.group()
    change_group(bk, group, 5) >> Reply(SUCCESS)
    bk.topics().json >> Reply(SUCCESS, Including({"topicConfigTable": Including({topic: ANYTHING})}))
    shown = Including({group: Including({"retryMaxTimes": 5})})
    bk.groups().json >> Reply(SUCCESS, Including({"subscriptionGroupTable": shown}))
    bk.delete_topic(topic) >> Reply(SUCCESS)
    bk.call(RequestCode.DELETE_SUBSCRIPTION_GROUP, {"groupName": group}, about=group) >> Reply(SUCCESS)
    bk.topics().json >> Reply(SUCCESS, Including({"topicConfigTable": Including({topic: ABSENT})}))
    bk.groups().json >> Reply(SUCCESS, Including({"subscriptionGroupTable": Including({group: ABSENT})}))


# -- what a slave takes over from its master -----------------------------------------------------------------


def table_of(counter: int, topic: str, queues: int) -> bytes:
    """What a master says of its topics: one, and a data version."""
    one = {
        "topicName": topic,
        "readQueueNums": queues,
        "writeQueueNums": queues + 1,
        "perm": 4,
        "topicFilterType": "MULTI_TAG",
        "topicSysFlag": 0,
        "order": True,
    }
    version = {"counter": counter, "timestamp": 1_700_000_000_000 + counter, "stateVersion": 0}
    return msgspec.json.encode({"dataVersion": version, "topicConfigTable": {topic: one}})


def taken_over(bk: BrokerSession, body: bytes, since: Answer | None = None) -> Answer:
    """The slave asks its master for topics, and gets this; for the first time unless `since` is given."""
    master = bk.nameservers[1]
    host, _, port = master.address.rpartition(":")
    master.answers(TOPICS, body=body)
    if since is None:
        bk.nameserver.answers(REGISTER, ext={"masterAddr": f"{host}:{int(port) + 2}"})
        since = next_of_time(bk)
    return master.next(TOPICS, since=since, within=90 + bk.jitter) >> Request(TOPICS)


@case(
    kills=["masters-topics-are-ignored", "masters-topics-are-not-kept"],
    clock=True,
    own_server=True,
    setup=TOLD,
)
def test_slave_takes_over_topics(bk: BrokerSession) -> None:
    topic = bk.name("T")
    taken_over(bk, table_of(77, topic, 5))
    made = {"readQueueNums": 5, "writeQueueNums": 6, "perm": 4, "topicFilterType": "MULTI_TAG", "order": True}
    table = Including({topic: Including(made), "BenchmarkTest": ABSENT})
    bk.topics().json.eventually() >> Reply(SUCCESS, Including({"topicConfigTable": table}))
    bk.nameserver.behaves()
    bk.restart("kill")
    table = Including({topic: Including(made), "BenchmarkTest": ANYTHING})
    bk.topics().json.eventually() >> Reply(SUCCESS, Including({"topicConfigTable": table}))


@case(kills=["masters-topics-are-always-taken"], clock=True, own_server=True, setup=TOLD)
def test_slave_looks_at_the_version_of_topics(bk: BrokerSession) -> None:
    first, second, third = bk.name("T"), bk.name("U"), bk.name("V")
    asked = taken_over(bk, table_of(77, first, 5))
    shown = Including({first: ANYTHING})
    version = Including({"counter": 77, "timestamp": 1_700_000_000_077})
    whole = Including({"dataVersion": version, "topicConfigTable": shown})
    bk.topics().json.eventually() >> Reply(SUCCESS, whole)
    asked = taken_over(bk, table_of(77, second, 6), asked)
    asked = taken_over(bk, table_of(77, second, 6), asked)
    bk.topics().json >> Reply(SUCCESS, Including({"topicConfigTable": shown}))
    taken_over(bk, table_of(76, third, 7), asked)
    shown = Including({first: ABSENT, second: ABSENT, third: ANYTHING})
    bk.topics().json.eventually() >> Reply(SUCCESS, Including({"topicConfigTable": shown}))


@case(
    kills=["masters-groups-are-ignored", "masters-groups-are-not-kept", "masters-offsets-are-ignored"],
    clock=True,
    own_server=True,
    setup=TOLD,
)
def test_slave_takes_over_groups_and_offsets(bk: BrokerSession) -> None:
    topic, group, master = bk.name("T"), bk.group(), bk.nameservers[1]
    version = {"counter": 78, "timestamp": 1_700_000_000_078, "stateVersion": 0}
    members = {"groupName": group, "retryMaxTimes": 5, "consumeEnable": False}
    groups = {"dataVersion": version, "subscriptionGroupTable": {group: members}}
    table = {f"{topic}@{group}": {"0": 5, "3": 7}}
    offsets = {"dataVersion": version, "offsetTable": table}
    master.answers(RequestCode.GET_ALL_SUBSCRIPTION_GROUP_CONFIG, body=msgspec.json.encode(groups))
    master.answers(RequestCode.GET_ALL_CONSUMER_OFFSET, body=msgspec.json.encode(offsets))
    bk.nameserver.answers(REGISTER, ext={"masterAddr": master.address})
    told = next_of_time(bk)
    code = RequestCode.GET_ALL_SUBSCRIPTION_GROUP_CONFIG
    master.next(code, since=told, within=90 + bk.jitter) >> Request(code)
    taken = Including({"subscriptionGroupTable": Including({group: Including(members)})})
    bk.groups().json.eventually() >> Reply(SUCCESS, taken)
    bk.offsets().json >> Reply(SUCCESS, Including({"offsetTable": Including(table)}))
    bk.nameserver.behaves()
    bk.restart("kill")
    bk.groups().json.eventually() >> Reply(SUCCESS, taken)
    bk.offsets().json >> Reply(SUCCESS, Including({"offsetTable": Including(table)}))


@case(kills=["masters-delays-are-ignored"], clock=True, own_server=True, setup=TOLD)
def test_slave_takes_over_delays(bk: BrokerSession) -> None:
    master = bk.nameservers[1]
    version = {"counter": 79, "timestamp": 1_700_000_000_079, "stateVersion": 0}
    body = msgspec.json.encode({"dataVersion": version, "offsetTable": {"3": 5, "7": 2}})
    master.answers(DELAYS, body=body)
    bk.nameserver.answers(REGISTER, ext={"masterAddr": master.address})
    told = next_of_time(bk)
    master.next(DELAYS, since=told, within=90 + bk.jitter) >> Request(DELAYS)
    bk.call(DELAYS).seen_as(LEVELS).eventually() >> Reply(SUCCESS, Including({"3": 5, "7": 2}))


@case(kills=["cleaning-removes-nothing"], clock=True, own_server=True, setup=TOLD)
def test_cleaning_removes_topics_that_are_gone(bk: BrokerSession) -> None:
    bk.update_config(MASTER) >> Reply(SUCCESS)
    topic = bk.topic()
    for _ in range(2):
        bk.send(topic, queue=1) >> Reply(SUCCESS)
    bk.max_offset(topic, 1).offset.eventually() >> Reply(SUCCESS, 2)
    bk.update_config(SLAVE) >> Reply(SUCCESS)
    taken_over(bk, table_of(77, bk.name("U"), 5))
    gone = Including({"topicConfigTable": Including({topic: ABSENT})})
    bk.topics().json.eventually() >> Reply(SUCCESS, gone)
    bk.max_offset(topic, 1).offset >> Reply(SUCCESS, 2)
    bk.call(RequestCode.CLEAN_UNUSED_TOPIC) >> Reply(SUCCESS)
    bk.max_offset(topic, 1).offset >> Reply(SUCCESS, 0)


@case(kills=["slaves-reset-offsets"], own_server=True)
def test_demoted_broker_resets_no_offset(bk: BrokerSession) -> None:
    topic, group = bk.topic(queues=1), bk.group()
    change_group(bk, group, 5) >> Reply(SUCCESS)
    bk.send(topic) >> Reply(SUCCESS)
    bk.commit_offset(group, topic, 0, 1) >> Reply(SUCCESS)
    bk.update_config(SLAVE) >> Reply(SUCCESS)
    reset = {"topic": topic, "group": group, "timestamp": "0", "isForce": "true"}
    refused = Reply(ResponseCode.SYSTEM_ERROR, remark="Can not reset offset in slave broker")
    bk.call(RequestCode.INVOKE_BROKER_TO_RESET_OFFSET, reset) >> refused
    bk.committed(group, topic, 0).offset >> Reply(SUCCESS, 1)


@case(kills=["null-delays-are-none"], clock=True, own_server=True, setup=TOLD)
def test_slave_passes_over_delays_that_are_null(bk: BrokerSession) -> None:
    master = bk.nameservers[1]
    version = {"counter": 79, "timestamp": 1_700_000_000_079, "stateVersion": 0}
    master.answers(DELAYS, body=msgspec.json.encode({"dataVersion": version, "offsetTable": {"3": 5}}))
    bk.nameserver.answers(REGISTER, ext={"masterAddr": master.address})
    told = master.next(DELAYS, since=next_of_time(bk), within=90 + bk.jitter) >> Request(DELAYS)
    bk.call(DELAYS).seen_as(LEVELS).eventually() >> Reply(SUCCESS, Including({"3": 5}))
    master.answers(DELAYS, body=msgspec.json.encode({"dataVersion": version, "offsetTable": None}))
    for _ in range(2):
        told = master.next(DELAYS, since=told, within=90 + bk.jitter) >> Request(DELAYS)
    bk.call(DELAYS).seen_as(LEVELS) >> Reply(SUCCESS, Including({"3": 5}))
