"""Chapter role: what a Broker does when it becomes a master or a slave while it runs.

By the settings (code 25) this is possible in both lines. A change by DLedger or by a controller is not
judged: both need several Brokers of one kind.
"""

from harness.conformance import ABSENT, Including, Matching, Reply, Request, Silence, case
from harness.conformance.broker.registrations import REGISTER, all_topics, next_of_time
from harness.session import Answer, BrokerSession, HeardExchange
from harness.wire import RequestCode, ResponseCode
from harness.wire.broker_codes import BrokerRequest, BrokerResponse

SUCCESS = ResponseCode.SUCCESS
UNREGISTER = RequestCode.UNREGISTER_BROKER
TOPICS = BrokerRequest.GET_ALL_TOPIC_CONFIG
EXCHANGE = BrokerRequest.EXCHANGE_BROKER_HA_INFO
SLAVE = {"brokerRole": "SLAVE", "brokerId": "1"}
MASTER = {"brokerRole": "ASYNC_MASTER", "brokerId": "0"}
TOLD = {**SLAVE, "registerNameServerPeriod": "10000", "unused": "{nameserver2}"}
"""A slave, and somebody to be named as its master."""
ACTING = {**SLAVE, "enableSlaveActingMaster": "true", "unused": "{nameserver2}"}
OFFER = {
    "masterHaAddress": Matching(r"^[^:]+:\d+$"),
    "masterAddress": Matching(r"^[^:]+:\d+$"),
    "masterFlushOffset": Matching(r"^-?\d+$"),
}


def change(bk: BrokerSession, settings: dict[str, str]) -> tuple[Answer, HeardExchange]:
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
    kills=["role-stays", "change-of-role-is-a-departure", "change-of-role-raises-the-data-version"],
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


@case("bk.role.demoted-broker-is-not-available", kills=["role-stays"], own_server=True)
def test_demoted_broker_is_not_available(bk: BrokerSession) -> None:
    """A master of 4.9 that has become a slave is not available for messages."""
    refused_once_demoted(bk, BrokerResponse.SERVICE_NOT_AVAILABLE)


@case("bk.role.demoted-broker-is-busy", kills=["role-stays"], own_server=True)
def test_demoted_broker_is_busy(bk: BrokerSession) -> None:
    """A master of 5.x that has become a slave is busy for those who send."""
    refused_once_demoted(bk, BrokerResponse.SYSTEM_BUSY)


@case(
    "bk.role.slave-without-master-asks-nobody",
    kills=["master-that-is-gone-is-asked"],
    clock=True,
    setup=TOLD,
)
def test_slave_without_master_asks_nobody(bk: BrokerSession) -> None:
    """A slave that is not told of its master any more does not ask it any more."""
    master = bk.nameservers[1]
    host, _, port = master.address.rpartition(":")
    bk.nameserver.answers(REGISTER, ext={"masterAddr": f"{host}:{int(port) + 2}"})
    told = next_of_time(bk)
    master.next(TOPICS, since=told, within=90 + bk.jitter) >> Request(TOPICS)
    bk.nameserver.behaves()
    told = next_of_time(bk, next_of_time(bk))
    master.next(TOPICS, since=told, within=70) >> Silence()


@case("bk.role.master-says-where-to-copy", kills=["place-to-copy-is-not-said"])
def test_master_says_where_to_copy(bk: BrokerSession) -> None:
    """A master that is asked where to copy from says it."""
    bk.call(EXCHANGE) >> Reply(SUCCESS, ext=Including({**OFFER, "masterAddress": bk.broker_address}))


@case(
    "bk.role.slave-does-not-say-where-to-copy",
    kills=["slave-says-where-to-copy", "place-to-copy-is-not-said"],
    own_server=True,
    setup=SLAVE,
)
def test_slave_does_not_say_where_to_copy(bk: BrokerSession) -> None:
    """A slave does not say where to copy from, until it is a master."""
    bk.call(EXCHANGE) >> Reply(SUCCESS, ext=ABSENT)
    bk.update_config(MASTER) >> Reply(SUCCESS)
    bk.call(EXCHANGE) >> Reply(SUCCESS, ext=Including(OFFER))


@case(
    "bk.role.new-master-is-asked-where-to-copy",
    kills=["new-master-is-not-asked"],
    own_server=True,
    setup=ACTING,
)
def test_new_master_is_asked_where_to_copy(bk: BrokerSession) -> None:
    """A slave that hears of a new master, but not where to copy from, asks it."""
    bk.nameserver.ignores(RequestCode.GET_ROUTEINFO_BY_TOPIC)
    master, notify = bk.nameservers[1], RequestCode.NOTIFY_MIN_BROKER_ID_CHANGE
    bk.call(notify, {"minBrokerId": "1", "minBrokerAddr": bk.broker_address}) >> Reply(SUCCESS)
    bk.call(notify, {"minBrokerId": "0", "minBrokerAddr": master.address}) >> Reply(SUCCESS)
    asked = master.next(EXCHANGE, within=10 + bk.jitter)
    asked >> Request(EXCHANGE, ext=Including({"masterHaAddress": ABSENT}), flag=0)
