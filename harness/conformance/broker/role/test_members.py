"""Chapter role: what a slave makes of the members of its name."""

from harness.conformance import ABSENT, Including, Pushed, Reply, Request, Silence, case
from harness.conformance.broker.registrations import REGISTER
from harness.conformance.broker.role.changing import NOTIFY, SUCCESS, slave_is_smallest
from harness.conformance.broker.role.test_copying import ACTING, EXCHANGE, OFTEN
from harness.session import BrokerSession
from harness.wire import RequestCode
from harness.wire.bodies import BrokerData, BrokerMemberGroup, TopicRoute

ROUTE = RequestCode.GET_ROUTEINFO_BY_TOPIC
MEMBERS = RequestCode.GET_BROKER_MEMBER_GROUP


def members_are(bk: BrokerSession, addresses: dict[int, str], code: int = ROUTE) -> None:
    """The NameServer shows these members of the Broker's name, which asks for them with this code."""
    cluster, name = bk.cluster_name, bk.broker_name
    other = BrokerData(cluster, bk.name("other"), {0: "127.0.0.1:1"})
    route = TopicRoute([], [other, BrokerData(cluster, name, addresses)]).encode()
    body = route if code == ROUTE else BrokerMemberGroup(cluster, name, addresses).encode()
    bk.nameserver.answers(code, body=body)
    for _ in range(2):
        bk.nameserver.next(code, since=bk.mark(), within=10 + bk.jitter) >> Request(code)


def new_master_among_members(bk: BrokerSession, code: int) -> None:
    """The members of a slave's name, which it asks for with this code, get a master."""
    master = bk.nameservers[1]
    for addresses in ({1: bk.broker_address}, {0: master.address, 1: bk.broker_address}):
        members_are(bk, addresses, code)
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


@case(kills=["members-do-not-say-who-has-left"], clock=True, own_server=True, setup=OFTEN)
def test_master_that_is_no_member_is_not_copied(bk: BrokerSession) -> None:
    copied, master = bk.master(), bk.nameservers[1]
    offer = {"masterHaAddress": copied.address, "masterAddress": master.address, "masterFlushOffset": "0"}
    master.answers(EXCHANGE, ext=offer)
    bk.nameserver.answers(REGISTER, ext={"masterAddr": master.address, "haServerAddr": copied.address})
    copied.next_report(within=50).offset >> Pushed(0)
    bk.nameserver.ignores(REGISTER)
    alone = {1: bk.broker_address}
    for addresses in (alone, {0: master.address, **alone}, alone):
        members_are(bk, addresses)
    copied.leaves()
    copied.next_report(within=12) >> Silence()
    members_are(bk, {0: master.address, **alone})
    copied.next_report(within=12).offset >> Pushed(0)


@case(kills=["named-places-to-copy-are-ignored"], clock=True, own_server=True, setup=ACTING)
def test_new_master_is_copied_where_it_is_said(bk: BrokerSession) -> None:
    master, copied, since = bk.nameservers[1], bk.master(), bk.mark()
    slave_is_smallest(bk)
    told = {"minBrokerId": "0", "minBrokerAddr": master.address, "haBrokerAddr": copied.address}
    bk.call(NOTIFY, told) >> Reply(SUCCESS)
    copied.next_report(within=12).offset >> Pushed(0)
    master.next(EXCHANGE, since=since, within=1) >> Silence()
