"""Chapter registration: what a Broker registers, when, and how it handles the answers."""

from harness.conformance import ABSENT, Between, Including, Matching, Reply, Request, Silence, case
from harness.conformance.broker.registrations import (
    AT_START,
    REGISTER,
    all_topics,
    all_topics_with,
    announcement_of,
    next_of_time,
    of_topic,
    seconds_later,
    with_topic,
)
from harness.session import BrokerSession, ReceivedExchange
from harness.wire import FLAG_ONEWAY, RequestCode, ResponseCode

SUCCESS = ResponseCode.SUCCESS
ONE_TOPIC = RequestCode.REGISTER_TOPIC_IN_NAMESRV
HOST = Matching(r"[^:]+:\d+")
EVERY_20 = {"registerNameServerPeriod": "20000"}
EVERY_SECOND = {"registerNameServerPeriod": "1000", "unused": "{nameserver2}"}
"""The shortest period, ten seconds. The second NameServer serves as the address of a master."""
TWO = {
    "namesrvAddr": "{nameserver};{nameserver2}",
    "registerNameServerPeriod": "10000",
    # Apache's next round first waits this long for silent NameServers: usually 24 s in 5.3.
    "registerBrokerTimeoutMills": "6000",
}
NAMED_AGAIN = 120
"""Protocol seconds between two looks at the configured list of NameServers."""
COMPRESSED = {"compressedRegister": "true"}
RESTRICTED = {
    "brokerPermission": "2",
    "autoCreateTopicEnable": "false",
    "registerNameServerPeriod": "3600000",
}
CHUNK = 5
SPLIT = {"enableSplitRegistration": "true", "splitRegistrationSize": str(CHUNK), "forceRegister": "false"}
CONFIGURED = {
    "defaultTopicQueueNums": "5",
    "brokerTopicEnable": "false",
    "clusterTopicEnable": "false",
    "traceTopicEnable": "true",
    "msgTraceTopicName": "TRACES",
    "reviveQueueNum": "3",
    "timerWheelEnable": "false",
}
SINGLE = {"enableSingleTopicRegister": "true"}
SINGLE_AND_RESTRICTED = {"enableSingleTopicRegister": "true", "brokerPermission": "4"}
SLAVE = {"brokerRole": "SLAVE", "brokerId": "1", "unused": "{nameserver2}"}


# --- when -----------------------------------------------------------------------------------------------


@case(kills=["registration-at-start-is-oneway"])
def test_is_sent_at_the_start(bk: BrokerSession) -> None:
    bk.nameserver.next(REGISTER, within=AT_START) >> Request(REGISTER, flag=0)


@case(
    "bk.registration.comes-again-after-ten-seconds",
    "bk.registration.comes-as-often-as-set",
    kills=["registers-again-late", "registration-period-is-fixed"],
    clock=True,
    own_server=True,
    setup=EVERY_20,
)
def test_comes_as_often_as_set(bk: BrokerSession) -> None:
    """A Broker registers ten seconds after its start, and then at the configured interval.

    The registration at the start does not count: 5.3 sends it only to NameServers that it is connected to.
    """
    bk.restart()
    bk.advance(5)
    seconds_later(bk, next_of_time(bk, period=10), 20)


@case(kills=["registers-every-sixty-seconds"], clock=True)
def test_comes_every_thirty_seconds(bk: BrokerSession) -> None:
    seconds_later(bk, next_of_time(bk), 30)


@case(kills=["registers-as-often-as-told"], clock=True, setup=EVERY_SECOND)
def test_is_not_more_frequent_than_ten_seconds(bk: BrokerSession) -> None:
    seconds_later(bk, next_of_time(bk), 10)


@case(kills=["registers-as-rarely-as-told"], clock=True, setup=RESTRICTED)
def test_comes_at_least_every_sixty_seconds(bk: BrokerSession) -> None:
    seconds_later(bk, next_of_time(bk, period=60), 60)


# --- what -----------------------------------------------------------------------------------------------


@case(
    "bk.registration.names-the-broker",
    "bk.registration.says-that-it-is-not-compressed",
    kills=["registration-without-replication-address", "compression-is-not-said-when-there-is-none"],
)
def test_names_the_broker(bk: BrokerSession) -> None:
    """A registration says who registers, and that its body is not compressed."""
    said = {
        "brokerName": Matching(r".+"),
        "brokerAddr": HOST,
        "clusterName": Matching(r".+"),
        "brokerId": "0",
        "haServerAddr": HOST,
        "compressed": "false",
    }
    bk.nameserver.next(REGISTER, within=AT_START) >> Request(REGISTER, ext=Including(said))


@case(kills=["registration-checksum-has-all-bits"])
def test_carries_the_checksum_of_its_body(bk: BrokerSession) -> None:
    bk.nameserver.next(REGISTER, within=AT_START).checksum_holds >> Request(REGISTER, True)
    topic = bk.name("T")
    for _ in range(4):  # a checksum that keeps its highest bit is right every other time
        bk.send(topic) >> Reply(SUCCESS)
        bk.nameserver.next(REGISTER, where=with_topic(topic)).checksum_holds >> Request(REGISTER, True)
        topic = bk.name("T")


@case(
    "bk.registration.says-nothing-of-acting-masters",
    "bk.registration.data-version-has-no-state",
    kills=["registration-49-says-acting-master", "data-version-49-has-a-state"],
)
def test_says_nothing_of_what_came_later(bk: BrokerSession) -> None:
    """A Broker of 4.9 sends neither acting-master flags nor state versions."""
    first = bk.nameserver.next(REGISTER, within=AT_START)
    first >> Request(
        REGISTER, ext=Including({"enableActingMaster": ABSENT, "heartbeatTimeoutMillis": ABSENT})
    )
    first.state_version >> Request(REGISTER, None)


@case(
    "bk.registration.says-whether-slaves-may-act",
    "bk.registration.data-version-has-a-state",
    kills=["registration-does-not-say-acting-master", "data-version-53-has-no-state"],
)
def test_says_whether_slaves_may_act(bk: BrokerSession) -> None:
    """A Broker of 5.x announces that slaves may not act, and its data version has a state."""
    first = bk.nameserver.next(REGISTER, within=AT_START)
    first >> Request(REGISTER, ext=Including({"enableActingMaster": "false"}))
    first.state_version >> Request(REGISTER, 0)


@case(kills=["system-topics-not-announced", "default-topic-has-perm-6", "topic-of-replies-has-no-queue"])
def test_announces_system_topics(bk: BrokerSession) -> None:
    topics = {
        "TBW102": (8, 8, 7),
        "SCHEDULE_TOPIC_XXXX": (18, 18, 6),
        "BenchmarkTest": (1024, 1024, 6),
        "SELF_TEST_TOPIC": (1, 1, 6),
        "OFFSET_MOVED_EVENT": (1, 1, 6),
        f"{bk.cluster_name}_REPLY_TOPIC": (1, 1, 6),
    }
    bk.nameserver.next(REGISTER, within=AT_START).topics >> Request(REGISTER, Including(topics))


@case(kills=["broker-is-no-topic"])
def test_announces_itself_as_a_topic(bk: BrokerSession) -> None:
    own = {bk.broker_name: (1, 1, 7), bk.cluster_name: (16, 16, 7)}
    bk.nameserver.next(REGISTER, within=AT_START).topics >> Request(REGISTER, Including(own))


@case(
    "bk.registration.announces-half-topics",
    "bk.registration.announces-a-topic-of-members",
    kills=["half-topics-not-announced", "topic-of-members-is-readable"],
)
def test_announces_topics_of_the_later_line(bk: BrokerSession) -> None:
    """A Broker announces the topics of transactions at the start, and the topic of its members."""
    topics = {
        "RMQ_SYS_TRANS_HALF_TOPIC": (1, 1, 6),
        "RMQ_SYS_TRANS_OP_HALF_TOPIC": (1, 1, 6),
        f"rmq_sys_SYNC_BROKER_MEMBER_{bk.broker_name}": (1, 1, 1),
    }
    bk.nameserver.next(REGISTER, within=AT_START).topics >> Request(REGISTER, Including(topics))


@case(kills=["topics-of-the-system-have-fixed-queues"])
def test_announces_topics_of_pop_and_timers(bk: BrokerSession) -> None:
    topics = {f"rmq_sys_REVIVE_LOG_{bk.cluster_name}": (8, 8, 6), "rmq_sys_wheel_timer": (1, 1, 6)}
    bk.nameserver.next(REGISTER, within=AT_START).topics >> Request(REGISTER, Including(topics))


@case(kills=["topics-of-the-system-have-fixed-queues"], setup=CONFIGURED)
def test_system_topics_are_as_configured(bk: BrokerSession) -> None:
    topics = {
        "TBW102": (5, 5, 7),
        bk.broker_name: (1, 1, 1),
        bk.cluster_name: (16, 16, 1),
        "TRACES": (1, 1, 6),
        f"rmq_sys_REVIVE_LOG_{bk.cluster_name}": (3, 3, 6),
        "rmq_sys_wheel_timer": ABSENT,
    }
    bk.nameserver.next(REGISTER, within=AT_START).topics >> Request(REGISTER, Including(topics))


@case(kills=["registration-without-filter-servers"])
def test_has_no_filter_servers(bk: BrokerSession) -> None:
    bk.nameserver.next(REGISTER, within=AT_START).filters >> Request(REGISTER, [])


@case(kills=["default-topic-is-always-announced"], setup=RESTRICTED)
def test_has_no_default_topic_without_creation(bk: BrokerSession) -> None:
    bk.nameserver.next(REGISTER, within=AT_START).topic("TBW102") >> Request(REGISTER, None)


# --- new topics -----------------------------------------------------------------------------------------


@case(kills=["new-topic-49-is-announced-alone"])
def test_new_topic_is_announced_with_all(bk: BrokerSession) -> None:
    topic = bk.name("T")
    bk.send(topic) >> Reply(SUCCESS)
    heard = bk.nameserver.next(REGISTER, where=announcement_of(topic))
    heard >> Request(REGISTER, flag=FLAG_ONEWAY)
    heard.topic(topic) >> Request(REGISTER, (4, 4, 6))
    heard.topic("TBW102") >> Request(REGISTER, (8, 8, 7))


@case(kills=["new-topic-53-is-announced-with-all"])
def test_new_topic_is_announced_by_itself(bk: BrokerSession) -> None:
    topic = bk.name("T")
    bk.send(topic) >> Reply(SUCCESS)
    heard = bk.nameserver.next(REGISTER, where=announcement_of(topic))
    heard >> Request(REGISTER, flag=0)
    heard.topics >> Request(REGISTER, {topic: (4, 4, 6)})


@case(kills=["new-topic-keeps-the-data-version"])
def test_new_topic_raises_the_data_version(bk: BrokerSession) -> None:
    topics = [bk.name("T"), bk.name("T")]
    for topic in topics:
        bk.send(topic) >> Reply(SUCCESS)
    before = bk.nameserver.next(REGISTER, where=with_topic(topics[0])).counter >> Request(REGISTER)
    after = bk.nameserver.next(REGISTER, where=with_topic(topics[1]))
    after.counter_above(before.value) >> Request(REGISTER, True)


@case(kills=["table-without-new-topics"], clock=True)
def test_new_topic_stays_announced(bk: BrokerSession) -> None:
    topic = bk.name("T")
    bk.send(topic) >> Reply(SUCCESS)
    heard = bk.nameserver.next(REGISTER, since=bk.mark(), within=30 + bk.jitter, where=all_topics)
    heard.topic(topic) >> Request(REGISTER, (4, 4, 6))


# --- in parts, and by single topics ----------------------------------------------------------------------


@case(
    "bk.registration.is-split-into-chunks",
    "bk.registration.chunks-raise-the-data-version",
    kills=["split-registrations-are-whole", "last-chunk-is-left-out", "chunks-share-their-data-version"],
    clock=True,
    setup=SPLIT,
)
def test_is_split_into_chunks(bk: BrokerSession) -> None:
    """A registration comes in parts of five topics, the rest last, each under a higher data version.

    Not that of the start: 5.3 sends no part of it to a NameServer that it is not connected to yet.
    """
    bk.nameserver.next(REGISTER, since=bk.mark(), within=30 + bk.jitter) >> Request(REGISTER)
    bk.advance(5)  # the other parts of it have come
    whole = bk.mark()
    first, second, rest = (bk.nameserver.next(REGISTER, since=whole, within=30 + bk.jitter) for _ in range(3))
    first.number_of_topics >> Request(REGISTER, CHUNK)
    second.number_of_topics >> Request(REGISTER, CHUNK)
    rest.number_of_topics >> Request(REGISTER, Between(0, CHUNK - 1))
    before = first.counter >> Request(REGISTER)
    second.counter >> Request(REGISTER, before.value + 1)
    rest.counter >> Request(REGISTER, before.value + 2)


@case(kills=["split-registrations-ask-first"], clock=True, setup=SPLIT)
def test_split_is_sent_without_asking(bk: BrokerSession) -> None:
    mark = bk.mark()
    bk.nameserver.next(REGISTER, since=mark, within=30 + bk.jitter) >> Request(REGISTER)
    bk.nameserver.next(RequestCode.QUERY_DATA_VERSION, since=mark, within=35) >> Silence()


def queues_of(bk: BrokerSession, number: int, perm: int = 6) -> object:
    """The queue data of one topic of the Broker in a route."""
    queue = {"brokerName": bk.broker_name, "readQueueNums": number, "writeQueueNums": number, "perm": perm}
    return Including({"queueDatas": [Including(queue)], "brokerDatas": []})


@case(kills=["single-topics-are-registered-with-the-broker", "single-topic-has-no-queues"], setup=SINGLE)
def test_new_topic_is_registered_singly(bk: BrokerSession) -> None:
    topic = bk.name("T")
    bk.send(topic) >> Reply(SUCCESS)
    heard = bk.nameserver.next(ONE_TOPIC, where=of_topic(topic))
    heard >> Request(ONE_TOPIC, flag=0)
    heard.json >> Request(ONE_TOPIC, queues_of(bk, 4))
    bk.nameserver.next(REGISTER, where=announcement_of(topic)) >> Silence()


@case(kills=["administered-topics-are-registered-with-the-broker"], setup=SINGLE)
def test_changed_topic_is_registered_singly(bk: BrokerSession) -> None:
    topic = bk.topic(queues=2)
    heard = bk.nameserver.next(ONE_TOPIC, where=of_topic(topic))
    heard.json >> Request(ONE_TOPIC, queues_of(bk, 2))
    bk.create_topic(topic, queues=3) >> Reply(SUCCESS)
    heard = bk.nameserver.next(ONE_TOPIC, where=of_topic(topic))
    heard.json >> Request(ONE_TOPIC, queues_of(bk, 3))


@case(kills=["single-topics-are-all"], clock=True, setup=SINGLE)
def test_single_topic_joins_the_table(bk: BrokerSession) -> None:
    topic = bk.topic()
    heard = bk.nameserver.next(REGISTER, since=bk.mark(), within=30 + bk.jitter, where=all_topics_with(topic))
    heard.topic(topic) >> Request(REGISTER, (4, 4, 6))


@case(kills=["single-topic-has-its-own-permission"], setup=SINGLE_AND_RESTRICTED)
def test_single_topic_has_what_both_allow(bk: BrokerSession) -> None:
    topic = bk.topic(queues=2)
    heard = bk.nameserver.next(ONE_TOPIC, where=of_topic(topic))
    heard.json >> Request(ONE_TOPIC, queues_of(bk, 2, perm=4))


# --- forms ----------------------------------------------------------------------------------------------


@case(kills=["compression-is-not-said"], setup=COMPRESSED)
def test_compression_is_declared(bk: BrokerSession) -> None:
    heard = bk.nameserver.next(REGISTER, within=AT_START)
    heard >> Request(REGISTER, ext=Including({"compressed": "true"}))
    heard.topic("SELF_TEST_TOPIC") >> Request(REGISTER, (1, 1, 6))


@case(kills=["checksum-of-what-was-compressed"], setup=COMPRESSED)
def test_compressed_body_has_its_own_checksum(bk: BrokerSession) -> None:
    bk.nameserver.next(REGISTER, within=AT_START).checksum_holds >> Request(REGISTER, True)


@case(
    kills=["restricted-broker-announces-full-permissions", "restricted-broker-49-has-what-both-allow"],
    setup=RESTRICTED,
)
def test_restricted_broker_has_its_permission_everywhere(bk: BrokerSession) -> None:
    bk.nameserver.next(REGISTER, within=AT_START).permissions >> Request(REGISTER, [2])


@case(
    kills=["restricted-broker-announces-full-permissions", "restricted-broker-53-has-its-own-permission"],
    setup=RESTRICTED,
)
def test_restricted_broker_has_what_both_allow(bk: BrokerSession) -> None:
    bk.nameserver.next(REGISTER, within=AT_START).permissions >> Request(REGISTER, [0, 2])


# --- answers --------------------------------------------------------------------------------------------


@case(
    "bk.registration.comes-again-after-a-refusal",
    "bk.registration.comes-again-after-a-closed-connection",
    "bk.registration.comes-again-after-silence",
    kills=["gives-up-after-refusal", "gives-up-after-silence"],
    clock=True,
    setup=EVERY_SECOND,
)
def test_failed_registration_is_repeated(bk: BrokerSession) -> None:
    """A Broker registers again, however the last registration ended."""
    bk.nameserver.answers(REGISTER, ResponseCode.SYSTEM_ERROR, remark="crc32 not match")
    refused = next_of_time(bk, period=40)
    bk.nameserver.closes_on(REGISTER)
    closed = next_of_time(bk, refused, 10)
    bk.nameserver.ignores(REGISTER)
    ignored = next_of_time(bk, closed, 20)
    again = next_of_time(bk, ignored, 40)
    bk.nameserver.behaves()
    next_of_time(bk, again, 40)
    bk.advance(30)


@case(kills=["gives-up-after-nonsense", "gives-up-after-a-bad-table"], clock=True, setup=EVERY_SECOND)
def test_comes_again_after_nonsense(bk: BrokerSession) -> None:
    bk.nameserver.talks_nonsense(REGISTER)
    nonsense = next_of_time(bk, period=40)
    again = next_of_time(bk, nonsense, 40)
    bk.nameserver.answers(REGISTER, body=b"{nonsense")
    again = next_of_time(bk, next_of_time(bk, again, 40), 40)
    bk.nameserver.behaves()
    next_of_time(bk, again, 40)


@case(
    "bk.registration.goes-to-every-nameserver",
    "bk.registration.silent-nameserver-delays-no-other",
    kills=["registers-with-the-first-only", "nameservers-wait-for-each-other"],
    clock=True,
    setup=TWO,
)
def test_silent_nameserver_delays_no_other(bk: BrokerSession) -> None:
    """Every NameServer gets a registration, even while another one does not answer."""
    for server in bk.nameservers:
        told = server.next(REGISTER, within=40)
        told >> Request(REGISTER, ext=Including({"brokerName": bk.broker_name}))
    first, second = bk.nameservers
    first.ignores(REGISTER)
    heard = next_of_time(bk, at=second, period=40)
    for _ in range(3):
        heard = next_of_time(bk, heard, 10, at=second)


@case(
    "bk.registration.absent-nameserver-delays-no-other",
    "bk.registration.returning-nameserver-gets-a-registration",
    kills=["absent-nameserver-holds-up-others", "absent-nameserver-is-forgotten"],
    clock=True,
    setup=TWO,
)
def test_returning_nameserver_gets_a_registration(bk: BrokerSession) -> None:
    """A NameServer that has gone delays no other, and gets a registration when it is back."""
    first, second = bk.nameservers
    first.goes_down()
    heard = next_of_time(bk, at=second, period=40)
    heard = next_of_time(bk, heard, 10, at=second)
    next_of_time(bk, heard, 10, at=second)
    first.comes_up()
    next_of_time(bk, at=first, period=40)


@case(
    kills=["list-of-nameservers-is-fixed", "nameservers-are-only-added"],
    clock=True,
    own_server=True,
    setup=EVERY_SECOND,
)
def test_goes_to_nameservers_that_are_named_later(bk: BrokerSession) -> None:
    first, second = bk.nameservers[:2]
    heard = next_of_time(bk, period=40)
    bk.update_config({"namesrvAddr": second.address}) >> Reply(SUCCESS)
    latest = NAMED_AGAIN + 60 + bk.jitter
    asked = second.next(REGISTER, since=heard, within=latest, where=all_topics)
    told = asked >> Request(REGISTER, ext=Including({"brokerName": bk.broker_name}))
    next_of_time(bk, told, 40, at=second)
    first.next(REGISTER, since=bk.mark(), within=40) >> Silence()


ORDERED = b'{"table":{"%s":"probed:4"}}'


@case(
    "bk.registration.order-is-taken-over",
    "bk.registration.order-raises-the-data-version",
    "bk.registration.no-table-keeps-the-order",
    kills=["order-is-not-taken-over", "order-keeps-the-data-version", "no-table-is-an-empty-table"],
    clock=True,
    setup=EVERY_SECOND,
)
def test_order_is_taken_over(bk: BrokerSession) -> None:
    """Topics that an answer names are ordered from that moment on."""
    topic = bk.name("T")
    bk.send(topic) >> Reply(SUCCESS)
    heard = bk.nameserver.next(REGISTER, since=bk.mark(), within=60 + bk.jitter, where=all_topics_with(topic))
    heard.ordered(topic) >> Request(REGISTER, False)
    before = heard.counter >> Request(REGISTER)
    both = b'{"table":{"%s":"probed:4","SELF_TEST_TOPIC":"probed:1"}}'
    bk.nameserver.answers(REGISTER, body=both % topic.encode())
    told = next_of_time(bk, before, 10)
    bk.nameserver.behaves()
    heard = bk.nameserver.next(REGISTER, since=told, within=10 + bk.jitter, where=all_topics)
    heard.ordered(topic) >> Request(REGISTER, True)
    heard.ordered("SELF_TEST_TOPIC") >> Request(REGISTER, True)
    heard.ordered("OFFSET_MOVED_EVENT") >> Request(REGISTER, False)
    after = heard.counter_above(before.value) >> Request(REGISTER, True)
    heard = bk.nameserver.next(REGISTER, since=after, within=10 + bk.jitter, where=all_topics)
    heard.ordered(topic) >> Request(REGISTER, True)


def order_after_another_table(bk: BrokerSession) -> tuple[ReceivedExchange, str]:
    """The registration after the table of order topics has lost a topic; and the topic."""
    topic = bk.name("T")
    bk.send(topic) >> Reply(SUCCESS)
    bk.nameserver.answers(REGISTER, body=ORDERED % topic.encode())
    told = next_of_time(bk, period=40)
    heard = bk.nameserver.next(REGISTER, since=told, within=10 + bk.jitter, where=all_topics)
    ordered = heard.ordered(topic) >> Request(REGISTER, True)
    bk.nameserver.answers(REGISTER, body=ORDERED % bk.name("U").encode())
    told = next_of_time(bk, ordered, 10)
    return bk.nameserver.next(REGISTER, since=told, within=10 + bk.jitter, where=all_topics), topic


@case(kills=["order-49-stays"], clock=True, setup=EVERY_SECOND)
def test_order_that_is_gone_is_taken_back(bk: BrokerSession) -> None:
    heard, topic = order_after_another_table(bk)
    heard.ordered(topic) >> Request(REGISTER, False)


@case(kills=["order-53-is-taken-back"], clock=True, setup=EVERY_SECOND)
def test_order_stays(bk: BrokerSession) -> None:
    heard, topic = order_after_another_table(bk)
    heard.ordered(topic) >> Request(REGISTER, True)


# --- slaves ---------------------------------------------------------------------------------------------


def tell_master(bk: BrokerSession, *, above: int) -> None:
    """Makes answers to registrations name a master, its port this far above the second NameServer's."""
    host, _, port = bk.nameservers[1].address.rpartition(":")
    told = {"masterAddr": f"{host}:{int(port) + above}", "haServerAddr": f"{host}:{int(port) + above + 1}"}
    bk.nameserver.answers(REGISTER, ext=told)


@case(
    "bk.registration.slave-says-its-id",
    "bk.registration.slave-asks-the-master-that-is-named",
    kills=["slave-registers-as-master", "told-master-is-ignored"],
    clock=True,
    setup=SLAVE,
)
def test_slave_asks_the_master_that_is_named(bk: BrokerSession) -> None:
    """A slave registers its id and queries the master that an answer names: topics at the port for other
    Brokers, offsets and groups at the public port.
    """
    bk.nameserver.next(REGISTER, within=AT_START) >> Request(REGISTER, ext=Including({"brokerId": "1"}))
    master, topics = bk.nameservers[1], RequestCode.GET_ALL_TOPIC_CONFIG
    tell_master(bk, above=2)
    told = next_of_time(bk)
    master.next(topics, since=told, within=90 + bk.jitter) >> Request(topics, flag=0)
    tell_master(bk, above=0)
    told = next_of_time(bk)
    for code in (RequestCode.GET_ALL_CONSUMER_OFFSET, RequestCode.GET_ALL_SUBSCRIPTION_GROUP_CONFIG):
        master.next(code, since=told, within=90 + bk.jitter) >> Request(code, flag=0)


@case(kills=["master-asks-a-told-master"], clock=True, setup=EVERY_SECOND)
def test_master_asks_no_other_broker(bk: BrokerSession) -> None:
    tell_master(bk, above=2)
    told = next_of_time(bk, period=40)
    bk.nameservers[1].next(RequestCode.GET_ALL_TOPIC_CONFIG, since=told, within=70) >> Silence()
