"""Chapter registration: when a Broker registers, and what it says of itself."""

from harness.conformance import ABSENT, ANYTHING, Between, Including, Matching, Reply, Request, case
from harness.conformance.broker.registrations import (
    AT_START,
    EVERY_SECOND,
    REGISTER,
    all_topics_with,
    announcement_of,
    next_in_time,
    next_of_time,
    seconds_later,
    with_topic,
)
from harness.session import BrokerSession
from harness.session.exchange import View
from harness.wire import ResponseCode

SUCCESS = ResponseCode.SUCCESS
HOST = Matching(r"^[^:]+:[1-9]\d*$")
MAPPINGS = ("topicQueueMappingDetailMap", "topicQueueMappingInfoMap", "mappingDataVersion")
EVERY_20 = {"registerNameServerPeriod": "20000"}
COMPRESSED = {"compressedRegister": "true"}
RESTRICTED = {
    "brokerPermission": "2",
    "autoCreateTopicEnable": "false",
    "registerNameServerPeriod": "3600000",
}
CONFIGURED = {
    "defaultTopicQueueNums": "5",
    "brokerTopicEnable": "false",
    "clusterTopicEnable": "false",
    "traceTopicEnable": "true",
    "msgTraceTopicName": "TRACES",
    "reviveQueueNum": "3",
    "timerWheelEnable": "false",
}


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
    seconds_later(bk, next_in_time(bk, 30), 30)


@case(kills=["registers-as-often-as-told"], clock=True, setup=EVERY_SECOND)
def test_is_not_more_frequent_than_ten_seconds(bk: BrokerSession) -> None:
    seconds_later(bk, next_in_time(bk, 10), 10)


@case(kills=["registers-as-rarely-as-told"], clock=True, setup=RESTRICTED)
def test_comes_at_least_every_sixty_seconds(bk: BrokerSession) -> None:
    seconds_later(bk, next_in_time(bk, 60), 60)


@case(
    "bk.registration.names-the-broker",
    "bk.registration.says-that-it-is-not-compressed",
    kills=["registration-without-replication-address", "compression-is-not-said-when-there-is-none"],
)
def test_names_the_broker(bk: BrokerSession) -> None:
    """A registration says who registers, and that its body is not compressed."""
    said = {
        "brokerName": bk.broker_name,
        "brokerAddr": bk.broker_address,
        "clusterName": bk.cluster_name,
        "brokerId": "0",
        "haServerAddr": HOST,
        "compressed": "false",
    }
    bk.nameserver.next(REGISTER, within=AT_START) >> Request(REGISTER, ext=Including(said))


@case(kills=["slaves-are-sent-where-clients-are"], setup={"brokerIP2": "127.0.0.2"})
def test_slaves_have_an_address_of_their_own(bk: BrokerSession) -> None:
    said = {
        "brokerAddr": Matching(r"^(?!127\.0\.0\.2:)[^:]+:[1-9]\d*$"),
        "haServerAddr": Matching(r"^127\.0\.0\.2:[1-9]\d*$"),
    }
    bk.nameserver.next(REGISTER, within=AT_START) >> Request(REGISTER, ext=Including(said))


@case(kills=["requests-have-no-version"])
def test_says_the_version(bk: BrokerSession) -> None:
    version = View("version", lambda reply: reply.version)
    own = bk.max_offset(bk.topic()).seen_as(version) >> Reply(SUCCESS, Between(1, 32_767))
    bk.nameserver.next(REGISTER, within=AT_START) >> Request(REGISTER, version=own.value)


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


def wrapper(**members: object) -> Including:
    """The body of a registration that has these members in its table of topics."""
    return Including({"topicConfigSerializeWrapper": Including(members)})


HALF_OPEN = {"brokerPermission": "4", "registerNameServerPeriod": "10000"}


def flags_of_a_restricted_broker(bk: BrokerSession, changed: int, attributes: object) -> None:
    """A topic with a system flag is announced with another one, and registered without any."""
    topic = bk.name("T")
    bk.create_topic(topic, 3, write_queues=5, ext={"topicSysFlag": "2"}) >> Reply(SUCCESS)
    once = bk.nameserver.next(REGISTER, where=announcement_of(topic))
    again = bk.nameserver.next(REGISTER, since=bk.mark(), within=20 + bk.jitter, where=all_topics_with(topic))
    for heard, flag in ((once, changed), (again, 0)):
        numbers = {"readQueueNums": 3, "writeQueueNums": 5, "perm": 4, "topicSysFlag": flag}
        shown = Including({**numbers, "topicName": topic, "attributes": attributes})
        heard.json >> Request(REGISTER, wrapper(topicConfigTable=Including({topic: shown})))


@case(kills=["restricted-broker-tells-system-flags"], clock=True, setup=HALF_OPEN)
def test_restricted_broker_tells_no_system_flags(bk: BrokerSession) -> None:
    flags_of_a_restricted_broker(bk, 0, ABSENT)


@case(
    kills=["restricted-broker-tells-system-flags", "restricted-broker-never-tells-system-flags"],
    clock=True,
    setup=HALF_OPEN,
)
def test_restricted_broker_tells_system_flags_of_changes_only(bk: BrokerSession) -> None:
    flags_of_a_restricted_broker(bk, 2, {})


@case(kills=["registrations-49-have-mappings"])
def test_has_no_mappings(bk: BrokerSession) -> None:
    none = dict.fromkeys(MAPPINGS, ABSENT)
    bk.nameserver.next(REGISTER, within=AT_START).json >> Request(REGISTER, wrapper(**none))


@case(kills=["registrations-53-have-no-mappings"])
def test_has_empty_mappings(bk: BrokerSession) -> None:
    version = Including({"counter": ANYTHING, "timestamp": ANYTHING, "stateVersion": 0})
    empty = dict(zip(MAPPINGS, ({}, {}, version), strict=True))
    bk.nameserver.next(REGISTER, within=AT_START).json >> Request(REGISTER, wrapper(**empty))
