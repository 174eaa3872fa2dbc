"""Chapter light-heartbeat: how a Broker keeps its lease between registrations, and comes online (5.x)."""

from harness.conformance import ABSENT, Between, Including, Matching, Reply, Request, Silence, case
from harness.conformance.broker.registrations import AT_START, CATCHES_UP, REGISTER, STOPPING, with_topic
from harness.session import BrokerSession
from harness.wire import FLAG_ONEWAY, Command, RequestCode, ResponseCode
from harness.wire.bodies import BrokerData, TopicRoute

QUERY = RequestCode.QUERY_DATA_VERSION
HEARTBEAT = RequestCode.BROKER_HEARTBEAT
ROUTE = RequestCode.GET_ROUTEINFO_BY_TOPIC
MEMBERS = RequestCode.GET_BROKER_MEMBER_GROUP
EXCHANGE = RequestCode.EXCHANGE_BROKER_HA_INFO
TWO = {"namesrvAddr": "{nameserver};{nameserver2}"}
ACTING = {"enableSlaveActingMaster": "true"}
NEWER = {
    "enableSlaveActingMaster": "true",
    "compatibleWithOldNameSrv": "false",
    "disappearTimeAfterStart": "60000",
    "registerNameServerPeriod": "10000",
}
SHY = {"disappearTimeAfterStart": "600000"}
ISOLATED = {"enableSlaveActingMaster": "true", "totalReplicas": "2"}
ISOLATED_MASTER = {**ISOLATED, "unused": "{nameserver2}"}
NAMED = 130
"""Protocol seconds within which a Broker certainly looks at the configured list of NameServers."""
HOST, NUMBER = Matching(r"^[^:]+:\d+$"), Matching(r"^\d+$")
ISOLATED_SLAVE = {**ISOLATED, "brokerRole": "SLAVE", "brokerId": "1", "unused": "{nameserver2}"}


def every_second(bk: BrokerSession, code: int, **parts: object) -> None:
    """Requests of this code come a second apart."""
    heard = bk.nameserver.next(code, since=bk.mark(), within=10 + bk.jitter) >> Request(code, **parts)
    for _ in range(5):
        heard = bk.nameserver.next(code, since=heard, within=10 + bk.jitter) >> Request(code, **parts)
    later = bk.nameserver.next(code, since=heard, within=10 + bk.jitter)
    later.seconds >> Request(code, Between(0.0, 1 + bk.jitter))
    later = bk.nameserver.next(code, since=bk.mark(), within=10 + bk.jitter)
    later.seconds >> Request(code, Between(0.0, 1 + bk.jitter))


@case(kills=["light-heartbeat-is-always-sent"], clock=True)
def test_is_off_by_default(bk: BrokerSession) -> None:
    bk.nameserver.next(HEARTBEAT, since=bk.mark(), within=15) >> Silence()


@case(kills=["light-heartbeat-is-never-sent", "light-heartbeat-awaits-an-answer"], clock=True, setup=ACTING)
def test_is_a_question_for_older_nameservers(bk: BrokerSession) -> None:
    every_second(bk, QUERY, flag=FLAG_ONEWAY)


@case(kills=["light-heartbeat-goes-to-one-nameserver"], clock=True, setup={**ACTING, **TWO})
def test_goes_to_every_nameserver(bk: BrokerSession) -> None:
    for server in bk.nameservers:
        heard = server.next(QUERY, since=bk.mark(), within=10 + bk.jitter) >> Request(QUERY)
        later = server.next(QUERY, since=heard, within=10 + bk.jitter)
        later.seconds >> Request(QUERY, Between(0.0, 1 + bk.jitter))


@case(
    kills=["light-heartbeat-comes-every-second"],
    clock=True,
    setup={**NEWER, "brokerHeartbeatInterval": "10000"},
)
def test_comes_as_often_as_it_is_set(bk: BrokerSession) -> None:
    bk.advance(CATCHES_UP)
    heard = bk.nameserver.next(HEARTBEAT, since=bk.mark(), within=20 + bk.jitter) >> Request(HEARTBEAT)
    later = bk.nameserver.next(HEARTBEAT, since=heard, within=20 + bk.jitter)
    later.seconds >> Request(HEARTBEAT, Between(10 - bk.jitter, 10 + bk.jitter))


@case(
    kills=["members-are-asked-for-every-second"],
    clock=True,
    setup={**ACTING, "syncBrokerMemberGroupPeriod": "10000"},
)
def test_members_are_asked_for_as_often_as_it_is_set(bk: BrokerSession) -> None:
    bk.advance(CATCHES_UP)
    heard = bk.nameserver.next(ROUTE, since=bk.mark(), within=20 + bk.jitter) >> Request(ROUTE)
    later = bk.nameserver.next(ROUTE, since=heard, within=20 + bk.jitter)
    later.seconds >> Request(ROUTE, Between(10 - bk.jitter, 10 + bk.jitter))


@case(kills=["registration-does-not-say-how-long-it-lasts"], setup=ACTING)
def test_registration_says_how_long_it_lasts(bk: BrokerSession) -> None:
    said = {"enableActingMaster": "true", "heartbeatTimeoutMillis": "10000"}
    bk.nameserver.next(REGISTER, within=AT_START) >> Request(REGISTER, ext=Including(said))


@case(kills=["members-are-not-asked-for"], clock=True, setup=ACTING)
def test_members_are_asked_for_as_a_topic(bk: BrokerSession) -> None:
    topic = f"rmq_sys_SYNC_BROKER_MEMBER_{bk.broker_name}"
    every_second(bk, ROUTE, ext=Including({"topic": topic}), flag=0)


@case(
    "bk.light-heartbeat.is-a-heartbeat-for-newer-nameservers",
    "bk.light-heartbeat.has-no-id",
    kills=["light-heartbeat-is-always-a-question", "light-heartbeat-has-an-id"],
    clock=True,
    setup=NEWER,
)
def test_is_a_heartbeat_for_newer_nameservers(bk: BrokerSession) -> None:
    """For newer NameServers the light heartbeat is a request of its own, without an id."""
    said = {"brokerName": bk.broker_name, "clusterName": bk.cluster_name, "brokerAddr": bk.broker_address}
    every_second(bk, HEARTBEAT, ext=Including({**said, "brokerId": ABSENT}), body=b"", flag=FLAG_ONEWAY)


@case(kills=["members-are-always-asked-for-as-a-topic"], clock=True, setup=NEWER)
def test_members_are_asked_for_by_name(bk: BrokerSession) -> None:
    said = {"brokerName": bk.broker_name, "clusterName": bk.cluster_name}
    every_second(bk, MEMBERS, ext=Including(said), flag=0)


@case(
    kills=["registers-although-it-is-to-wait", "waits-half-as-long-to-register"],
    clock=True,
    setup=NEWER,
)
def test_registration_can_wait(bk: BrokerSession) -> None:
    # Apache's Broker may miss the registration at its start: it knows no NameServer before its first look.
    bk.nameserver.next(REGISTER, within=100 + bk.jitter) >> Request(REGISTER)
    again = bk.nameserver.next(REGISTER, since=bk.started, within=130 + bk.jitter)
    again.seconds >> Request(REGISTER, Between(60 - bk.jitter, 130 + bk.jitter))


@case(kills=["disappears-from-the-start"], clock=True, own_server=True, setup=SHY)
def test_registration_at_the_start_does_not_wait(bk: BrokerSession) -> None:
    since = bk.mark()
    for _ in range(3):  # Apache's Broker may miss one: it knows no NameServer before its first look
        bk.restart()
        bk.advance(CATCHES_UP)
    bk.nameserver.next(REGISTER, since=since, within=0) >> Request(REGISTER, flag=0)


@case(kills=["topics-wait-for-the-registration"], setup=SHY)
def test_new_topic_does_not_wait(bk: BrokerSession) -> None:
    for _ in range(2):
        topic = bk.topic()
        bk.nameserver.next(REGISTER, where=with_topic(topic)) >> Request(REGISTER)


@case(
    kills=["members-are-never-asked-for-again"],
    clock=True,
    own_server=True,
    setup={**ACTING, "namesrvAddr": "", "unused": "{nameserver}"},
)
def test_members_are_asked_of_the_first_nameserver_that_is_named(bk: BrokerSession) -> None:
    named = bk.mark()
    bk.nameserver.next(since=named, within=15) >> Silence()
    bk.update_config({"namesrvAddr": bk.nameserver.address}) >> Reply(ResponseCode.SUCCESS)
    bk.nameserver.next(ROUTE, since=named, within=NAMED + bk.jitter) >> Request(ROUTE)


@case(
    "bk.light-heartbeat.isolated-broker-does-not-register",
    "bk.light-heartbeat.isolated-broker-comes-online-alone",
    kills=[
        "isolated-broker-registers",
        "isolated-broker-stays-isolated",
        "isolated-broker-keeps-a-lease",
        "unreadable-members-are-none",
    ],
    clock=True,
    own_server=True,
    setup=ISOLATED,
)
def test_isolated_broker_does_not_register(bk: BrokerSession) -> None:
    """A Broker with replicas registers once it has learnt its members."""
    bk.nameserver.ignores(ROUTE)
    bk.restart()
    isolated = bk.mark()
    bk.nameserver.next(REGISTER, since=isolated, within=20) >> Silence()
    bk.nameserver.answers(ROUTE, body=b"no route")
    bk.nameserver.next(REGISTER, since=bk.mark(), within=10) >> Silence()
    again = bk.nameserver.next(ROUTE, since=bk.mark(), within=10 + bk.jitter, where=asks_for_members)
    again >> Request(ROUTE)
    bk.nameserver.next(QUERY, since=isolated, within=31) >> Silence()
    bk.nameserver.behaves()
    bk.nameserver.next(REGISTER, since=bk.mark(), within=30 + bk.jitter) >> Request(REGISTER)


@case(kills=["members-need-a-body"], clock=True, own_server=True, setup=ISOLATED)
def test_answer_without_a_body_has_no_members(bk: BrokerSession) -> None:
    bk.nameserver.ignores(ROUTE)
    bk.restart()
    bk.nameserver.next(REGISTER, since=bk.mark(), within=20) >> Silence()
    bk.nameserver.answers(ROUTE, body=b"")
    bk.nameserver.next(REGISTER, since=bk.mark(), within=30 + bk.jitter) >> Request(REGISTER)


@case(kills=["errors-say-nothing-of-members"], clock=True, own_server=True, setup=ISOLATED)
def test_error_has_no_members(bk: BrokerSession) -> None:
    bk.nameserver.ignores(ROUTE)
    bk.restart()
    bk.nameserver.next(REGISTER, since=bk.mark(), within=20) >> Silence()
    bk.nameserver.answers(ROUTE, ResponseCode.SYSTEM_ERROR, remark="of a test")
    bk.nameserver.next(REGISTER, since=bk.mark(), within=30 + bk.jitter) >> Request(REGISTER)


def registers_without_members(bk: BrokerSession) -> None:
    """A Broker registers although no NameServer says who shares its name."""
    bk.nameserver.ignores(ROUTE)
    bk.restart()
    bk.nameserver.next(REGISTER, since=bk.mark(), within=30 + bk.jitter) >> Request(REGISTER)


@case(kills=["brokers-without-replicas-wait"], clock=True, own_server=True, setup=ACTING)
def test_broker_without_replicas_waits_for_none(bk: BrokerSession) -> None:
    registers_without_members(bk)


@case(kills=["brokers-that-do-not-act-wait"], clock=True, own_server=True, setup={"totalReplicas": "2"})
def test_broker_that_does_not_act_waits_for_none(bk: BrokerSession) -> None:
    registers_without_members(bk)


@case(
    kills=["way-online-is-never-skipped"],
    clock=True,
    own_server=True,
    setup={**ISOLATED, "skipPreOnline": "true"},
)
def test_way_online_may_be_skipped(bk: BrokerSession) -> None:
    registers_without_members(bk)


@case(kills=["smallest-id-is-not-acknowledged"], setup=ACTING)
def test_smallest_id_is_acknowledged(bk: BrokerSession) -> None:
    told = {"minBrokerId": "0", "minBrokerAddr": bk.broker_address}
    bk.call(RequestCode.NOTIFY_MIN_BROKER_ID_CHANGE, told) >> Reply(ResponseCode.SUCCESS)


@case(kills=["smallest-id-may-be-missing"])
def test_smallest_id_is_a_number(bk: BrokerSession) -> None:
    told = {"minBrokerAddr": bk.broker_address}
    for wrong in (told, {**told, "minBrokerId": "x"}):
        bk.call(RequestCode.NOTIFY_MIN_BROKER_ID_CHANGE, wrong) >> Reply(ResponseCode.SYSTEM_ERROR)
    told = {**told, "minBrokerId": "0"}
    bk.call(RequestCode.NOTIFY_MIN_BROKER_ID_CHANGE, told) >> Reply(ResponseCode.SUCCESS)


# -- the way online ------------------------------------------------------------------------------------------


def show_members(bk: BrokerSession, addresses: dict[int, str]) -> None:
    """The NameServer says that these share the Broker's name."""
    route = TopicRoute([], [BrokerData(bk.cluster_name, bk.broker_name, addresses)])
    bk.nameserver.answers(ROUTE, body=route.encode())


@case(
    kills=["isolated-slaves-ask-nobody", "isolated-slaves-need-no-answer", "isolated-slaves-take-errors"],
    clock=True,
    own_server=True,
    setup=ISOLATED_SLAVE,
)
def test_isolated_slave_asks_its_master(bk: BrokerSession) -> None:
    master = bk.nameservers[1]
    show_members(bk, {0: master.address, 1: bk.broker_address})
    master.ignores(EXCHANGE)
    bk.restart()
    asked = master.next(EXCHANGE, within=30 + bk.jitter)
    asked >> Request(EXCHANGE, ext=Including({"masterHaAddress": ABSENT}), flag=0)
    bk.nameserver.next(REGISTER, since=bk.mark(), within=20) >> Silence()
    master.answers(EXCHANGE, ResponseCode.SYSTEM_ERROR, remark="of a test")
    bk.nameserver.next(REGISTER, since=bk.mark(), within=20) >> Silence()


@case(kills=["isolated-slaves-ask-slaves"], clock=True, own_server=True, setup=ISOLATED_SLAVE)
def test_isolated_slave_comes_online_without_master(bk: BrokerSession) -> None:
    other = bk.nameservers[1]
    show_members(bk, {1: bk.broker_address, 2: other.address})
    bk.restart()
    bk.nameserver.next(REGISTER, since=bk.mark(), within=30 + bk.jitter) >> Request(REGISTER)
    other.next(EXCHANGE, within=5) >> Silence()


def asks_for_members(asked: Command) -> bool:
    return ((asked.ext or {}).get("topic") or "").startswith("rmq_sys_SYNC_BROKER_MEMBER_")


@case(
    kills=["members-are-asked-of-the-first-nameserver"],
    clock=True,
    setup={**ACTING, "namesrvAddr": "{nameserver};{nameserver2}"},
)
def test_members_are_asked_of_the_next_nameserver(bk: BrokerSession) -> None:
    first, second = bk.nameservers[0], bk.nameservers[1]
    for down, up in ((first, second), (second, first)):
        up.comes_up()
        down.goes_down()
        for _ in range(3):
            asked = up.next(ROUTE, since=bk.mark(), within=30 + bk.jitter, where=asks_for_members)
            asked >> Request(ROUTE)


@case(
    kills=["isolated-masters-tell-nobody", "isolated-masters-offer-no-address"],
    clock=True,
    own_server=True,
    setup=ISOLATED_MASTER,
)
def test_isolated_master_tells_its_slave(bk: BrokerSession) -> None:
    slave = bk.nameservers[1]
    show_members(bk, {3: slave.address})
    bk.restart()
    offer = {"masterHaAddress": HOST, "masterFlushOffset": NUMBER, "masterAddress": bk.broker_address}
    slave.next(EXCHANGE, within=30 + bk.jitter) >> Request(EXCHANGE, ext=offer, flag=0)


@case(kills=["isolated-brokers-leave-without-a-word"], clock=True, own_server=True, setup=ISOLATED)
def test_isolated_broker_unregisters(bk: BrokerSession) -> None:
    bk.nameserver.ignores(ROUTE)
    bk.restart()
    bk.nameserver.next(REGISTER, since=bk.mark(), within=20) >> Silence()
    isolated, code = bk.mark(), RequestCode.UNREGISTER_BROKER
    bk.advance(1)
    bk.shutdown()
    left = bk.nameserver.next(code, since=isolated, within=STOPPING)
    left >> Request(code, ext=Including({"brokerId": "0"}), flag=0)
