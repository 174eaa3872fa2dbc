"""Chapter controller: who becomes the master, and how Brokers learn of it."""

from __future__ import annotations

from harness.conformance import Closed, Containing, Including, Matching, Reply, Request, Silence, case
from harness.conformance.nameserver.controller.replicas import Replica, in_sync, led_by, replicas
from harness.conformance.nameserver.settings import (
    CONTROLLER,
    ENDS_COME_BEFORE_LOOKS,
    ROLES_ARE_NOT_TOLD,
    UNCLEAN_ELECTIONS,
)
from harness.session import Answer, NameServerSession
from harness.wire import FLAG_ONEWAY, RequestCode, ResponseCode

SUCCESS = ResponseCode.SUCCESS
STILL_EXIST = ResponseCode.CONTROLLER_MASTER_STILL_EXIST
FAILED = ResponseCode.CONTROLLER_ELECT_MASTER_FAILED
SHORT, LONG = 40, 600
"""Seconds of heartbeats of which the shorter is to run out."""
LOOKS = 5
"""Seconds from one look at the masters to the next."""
NO_MASTER = (None, None, Matching("[2-9]"))
"""What is shown once a master is lost; by how much its epoch grows is left to the server."""


def leads(ns: NameServerSession, master: Replica, epoch: int) -> None:
    """This one is the master now, or soon, and alone in sync."""
    ns.replica_info(master.name).master.eventually() >> Reply(SUCCESS, led_by(master, epoch))
    ns.replica_info(master.name).in_sync >> Reply(SUCCESS, [master.id])


def changed_to(master: Replica, epoch: int, set_epoch: int) -> Request:
    """The notification about this master."""
    told = {
        "masterBrokerId": str(master.id),
        "masterAddress": master.address,
        "masterEpoch": str(epoch),
        "syncStateSetEpoch": str(set_epoch),
    }
    in_sync = Containing(f'"syncStateSet":[{master.id}]')
    return Request(RequestCode.NOTIFY_BROKER_ROLE_CHANGED, ext=told, flag=FLAG_ONEWAY, body=in_sync)


# --- who is elected when a Broker asks ----------------------------------------------------------------------


@case(
    kills=["smallest-id-is-elected-first", "members-are-not-returned", "election-leaves-the-set-empty"],
    setup=CONTROLLER,
)
def test_first_to_ask_is_elected(ns: NameServerSession) -> None:
    one, two = replicas(ns, 2)
    told = {
        "masterBrokerId": "2",
        "masterAddress": two.address,
        "masterEpoch": "1",
        "syncStateSetEpoch": "1",
    }
    elected = two.elects()
    elected >> Reply(SUCCESS, ext=told)
    group = {
        "brokerAddrs": {"1": one.address, "2": two.address},
        "brokerName": two.name,
        "cluster": two.cluster,
    }
    elected.json >> Reply(SUCCESS, {"brokerMemberGroup": group, "syncStateSet": [2]})
    leads(ns, two, 1)


@case(kills=["unknown-broker-is-elected"], setup=CONTROLLER)
def test_unknown_broker_is_not_elected(ns: NameServerSession) -> None:
    one, two = replicas(ns, 2)
    Replica(ns, one.name, one.cluster, 7).elects() >> Reply(FAILED)
    ns.replica_info(one.name).master >> Reply(SUCCESS, led_by(None, 0))
    two.elects().master >> Reply(SUCCESS, led_by(two, 1))


@case(kills=["living-master-is-replaced", "living-master-is-not-named"], setup=CONTROLLER)
def test_living_master_stays(ns: NameServerSession) -> None:
    one, two = replicas(ns, 2)
    in_sync(ns, two, one)
    for asking in (one, two):
        asked = asking.elects()
        asked.master >> Reply(STILL_EXIST, led_by(two, 1))
        asked.in_sync >> Reply(STILL_EXIST, [1, 2])
    ns.replica_info(two.name).master >> Reply(SUCCESS, led_by(two, 1))


@case(kills=["demands-are-passed-over", "designation-keeps-the-set"], setup=CONTROLLER)
def test_designated_broker_is_elected(ns: NameServerSession) -> None:
    one, two, three = replicas(ns, 3)
    in_sync(ns, one, two, three)
    three.elects(designate=True).master >> Reply(SUCCESS, led_by(three, 2))
    leads(ns, three, 2)
    three.elects(designate=True).master >> Reply(STILL_EXIST, led_by(three, 2))


@case(kills=["anyone-can-be-designated", "another-is-elected-for-the-designated"], setup=CONTROLLER)
def test_designated_broker_must_be_able(ns: NameServerSession) -> None:
    one, two, three = replicas(ns, 3)
    in_sync(ns, one, two)
    two.leaves()
    ns.replicas(one.name).alive(one.name).eventually() >> Reply(SUCCESS, [1, 3])
    for unable in (two, three):
        unable.elects(designate=True) >> Reply(FAILED)
    ns.replica_info(one.name).master >> Reply(SUCCESS, led_by(one, 1))
    ns.replica_info(one.name).in_sync >> Reply(SUCCESS, [1, 2])


# --- what happens when the master dies ----------------------------------------------------------------------


@case(kills=["lost-master-stays", "dead-broker-is-elected", "epoch-stays-in-an-election"], setup=CONTROLLER)
def test_lost_master_is_replaced(ns: NameServerSession) -> None:
    one, two, three = replicas(ns, 3)
    in_sync(ns, one, two, three)
    three.leaves()
    ns.replicas(one.name).alive(one.name).eventually() >> Reply(SUCCESS, [1, 2])
    one.leaves()
    leads(ns, two, 2)


@case(kills=["expired-master-stays", "one-master-expires-at-a-time"], setup=CONTROLLER, clock=True)
def test_expired_master_is_replaced(ns: NameServerSession) -> None:
    alone = [one for _ in range(2) for one in replicas(ns, 1, living=0)]
    for one in alone:
        one.beats(SHORT) >> Reply(SUCCESS)
        one.elects() >> Reply(SUCCESS)
    one, two = replicas(ns, 2, living=0)
    beat = one.beats(SHORT) >> Reply(SUCCESS)
    two.beats(LONG) >> Reply(SUCCESS)
    in_sync(ns, one, two)
    ns.advance_short_of(SHORT, beat)
    ns.replica_info(one.name).master >> Reply(SUCCESS, led_by(one, 1))
    ns.advance(SHORT / 2)
    leads(ns, two, 2)
    for one in alone:
        ns.replica_info(one.name).master.eventually() >> Reply(SUCCESS, NO_MASTER)


def soon_outlived(ns: NameServerSession) -> tuple[list[Replica], Answer]:
    """Three Brokers in sync, and when the master was heard; the second, of the longest log, soon dies."""
    one, two, three = replicas(ns, 3, living=0)
    two.beats(SHORT, epoch=7) >> Reply(SUCCESS)
    three.beats(LONG, epoch=5) >> Reply(SUCCESS)
    last = one.beats(LONG) >> Reply(SUCCESS)
    in_sync(ns, one, two, three)
    return [one, two, three], last


@case(
    kills=["expired-broker-is-elected-before-a-look", "half-closed-connections-end-before"],
    setup=ENDS_COME_BEFORE_LOOKS,
    clock=True,
)
def test_expired_broker_is_not_elected(ns: NameServerSession) -> None:
    # Of the first name the master ends its connection, of the second the server does.
    (one, two, three), _ = soon_outlived(ns)
    ns.advance(SHORT + 10, idle=(one.connection, two.connection, three.connection))
    one.connection.half_close()
    leads(ns, three, 2)
    (one, two, three), last = soon_outlived(ns)
    ns.advance(30, idle=[one.connection])
    for other in (two, three):
        ns.replica_info(one.name, on=other.connection).master >> Reply(SUCCESS, led_by(one, 1))
    ns.advance_past(60, last, idle=(one.connection, two.connection, three.connection))
    one.connection.closes() >> Closed()
    leads(ns, three, 2)


@case(
    kills=[
        "unheard-master-stays",
        "one-unheard-master-is-replaced",
        "unheard-master-of-no-other-is-lost",
        "brokers-before-an-unheard-master-do-not-count",
    ],
    setup=UNCLEAN_ELECTIONS,
    clock=True,
)
def test_unheard_master_is_replaced(ns: NameServerSession) -> None:
    names = [listening(ns, 2), listening(ns, 2)]
    heard = [two.listens() for _, two in names]
    for one, two in names:
        one.applies() >> Reply(SUCCESS)
        two.applies() >> Reply(SUCCESS)
        one.elects() >> Reply(SUCCESS)
        two.beats() >> Reply(SUCCESS)
    first, second = replicas(ns, 2, living=1)
    second.elects() >> Reply(SUCCESS)
    (alone,) = replicas(ns, 1, living=0)
    alone.elects() >> Reply(SUCCESS)
    ns.advance(2 * LOOKS)
    leads(ns, first, 2)
    ns.replica_info(alone.name).master >> Reply(SUCCESS, led_by(alone, 1))
    for (_, two), listener in zip(names, heard, strict=True):
        leads(ns, two, 2)
        listener.next_request() >> changed_to(two, 2, 2)


@case(
    kills=["epochs-are-not-compared", "offsets-are-not-compared", "greatest-priority-is-elected"],
    setup=CONTROLLER,
)
def test_longest_log_is_elected(ns: NameServerSession) -> None:
    # Of each name the second, the third or the fourth Broker is the one; what ranks lower speaks for others.
    for best, said in (
        (3, [{"epoch": 1, "maxOffset": 900}, {"epoch": 2, "maxOffset": 100}, {"epoch": 1, "maxOffset": 700}]),
        (
            4,
            [
                {"epoch": 3, "maxOffset": 2**40, "electionPriority": 1},
                {"epoch": 3, "maxOffset": 2**40 + 1, "electionPriority": 2},
                {"epoch": 3, "maxOffset": 2**40 + 2, "electionPriority": 3},
            ],
        ),
        (
            2,
            [
                {"epoch": 3, "maxOffset": 100, "electionPriority": 4},
                {"epoch": 3, "maxOffset": 100, "electionPriority": 6},
                {"epoch": 3, "maxOffset": 100, "electionPriority": 5},
            ],
        ),
    ):
        master, *others = replicas(ns, 4, living=1)
        for one, fields in zip(others, said, strict=True):
            one.beats(**fields) >> Reply(SUCCESS)
        in_sync(ns, master, *others)
        master.leaves()
        leads(ns, others[best - 2], 2)


@case(kills=["offsets-are-compared-in-32-bits"], setup=CONTROLLER)
def test_offsets_far_apart_are_compared(ns: NameServerSession) -> None:
    for ends, best in (((100, 100 + 3 * 2**30), 3), ((200 + 3 * 2**30, 200), 2)):
        master, *others = replicas(ns, 3, living=1)
        for one, end in zip(others, ends, strict=True):
            one.beats(epoch=3, maxOffset=end) >> Reply(SUCCESS)
        in_sync(ns, master, *others)
        master.leaves()
        leads(ns, others[best - 2], 2)


@case(
    kills=["epochs-are-zero-by-default", "offsets-are-zero-by-default", "priorities-are-zero-by-default"],
    setup=CONTROLLER,
)
def test_what_is_not_said_ranks_lowest(ns: NameServerSession) -> None:
    # The third Broker is the one; what ranks lower, and the smaller id, speak for the second.
    for second, third in (
        ({"maxOffset": 900}, {"epoch": 0, "maxOffset": 100}),
        ({"epoch": -2, "maxOffset": 900}, {"maxOffset": 100}),
        ({"epoch": 3, "maxOffset": -2, "electionPriority": 1}, {"epoch": 3, "electionPriority": 2}),
        ({"epoch": 3, "electionPriority": 1}, {"epoch": 3, "maxOffset": 0, "electionPriority": 2}),
        ({"epoch": 3, "maxOffset": 100}, {"epoch": 3, "maxOffset": 100, "electionPriority": 2**31 - 2}),
    ):
        one, two, three = replicas(ns, 3, living=1)
        two.beats(**second) >> Reply(SUCCESS)
        three.beats(**third) >> Reply(SUCCESS)
        in_sync(ns, one, two, three)
        one.leaves()
        leads(ns, three, 2)


@case(kills=["logs-shrink"], setup=CONTROLLER)
def test_log_of_a_broker_only_grows(ns: NameServerSession) -> None:
    one, two, three = replicas(ns, 3, living=1)
    two.beats(epoch=2, maxOffset=120) >> Reply(SUCCESS)
    three.beats(epoch=2, maxOffset=150) >> Reply(SUCCESS)
    two.beats(epoch=2, maxOffset=200) >> Reply(SUCCESS)
    two.beats(epoch=2, maxOffset=100) >> Reply(SUCCESS)
    two.beats(epoch=1, maxOffset=300) >> Reply(SUCCESS)
    in_sync(ns, one, two, three)
    one.leaves()
    leads(ns, two, 2)


@case(kills=["newer-epochs-need-a-greater-offset", "greatest-offset-of-all-epochs-counts"], setup=CONTROLLER)
def test_newer_epoch_brings_its_own_offset(ns: NameServerSession) -> None:
    # The last heartbeat of the second Broker has a newer epoch, and an offset that is less, the same or more.
    for second, third, best in (
        ({"epoch": 4, "maxOffset": 50}, {"epoch": 3, "maxOffset": 700}, 2),
        ({"epoch": 3, "maxOffset": 50}, {"epoch": 3, "maxOffset": 100}, 3),
        ({"epoch": 4, "maxOffset": 900}, {"epoch": 3, "maxOffset": 950}, 2),
        ({"epoch": 3, "maxOffset": 990}, {"epoch": 3, "maxOffset": 950}, 2),
    ):
        one, *others = replicas(ns, 3, living=1)
        two, three = others
        two.beats(epoch=2, maxOffset=900) >> Reply(SUCCESS)
        three.beats(**third) >> Reply(SUCCESS)
        two.beats(**second) >> Reply(SUCCESS)
        in_sync(ns, one, two, three)
        one.leaves()
        leads(ns, others[best - 2], 2)


@case(kills=["first-priority-counts"], setup=CONTROLLER)
def test_latest_priority_counts(ns: NameServerSession) -> None:
    # What the heartbeats say of the logs stays the same.
    for earlier, later, best in ((2, 7, 3), (7, 4, 2)):
        one, *others = replicas(ns, 3, living=1)
        two, three = others
        two.beats(epoch=3, maxOffset=100, electionPriority=earlier) >> Reply(SUCCESS)
        three.beats(epoch=3, maxOffset=100, electionPriority=5) >> Reply(SUCCESS)
        two.beats(epoch=3, maxOffset=100, electionPriority=later) >> Reply(SUCCESS)
        in_sync(ns, one, two, three)
        one.leaves()
        leads(ns, others[best - 2], 2)


def without_master(ns: NameServerSession) -> tuple[Replica, Replica]:
    """The only Broker in sync of a name has died, and another one, which is not in sync, lives."""
    one, two = replicas(ns, 2)
    in_sync(ns, one)
    one.leaves()
    ns.replica_info(one.name).master.eventually() >> Reply(SUCCESS, NO_MASTER)
    return one, two


@case(kills=["unclean-elections-by-default", "set-in-sync-dies-with-the-master"], setup=CONTROLLER)
def test_brokers_out_of_sync_are_not_elected(ns: NameServerSession) -> None:
    one, two = without_master(ns)
    ns.replica_info(one.name).json >> Reply(SUCCESS, {"syncStateSet": [1], "syncStateSetEpoch": 1})
    two.elects() >> Reply(FAILED)


@case(kills=["elections-are-always-clean", "longest-log-of-all-is-elected"], setup=UNCLEAN_ELECTIONS)
def test_unclean_election_needs_the_setting(ns: NameServerSession) -> None:
    one, two, three = replicas(ns, 3, living=1)
    two.beats(epoch=3, maxOffset=100) >> Reply(SUCCESS)
    three.beats(epoch=3, maxOffset=900) >> Reply(SUCCESS)
    in_sync(ns, one, two)
    one.leaves()
    leads(ns, two, 2)
    one, two = replicas(ns, 2)
    in_sync(ns, one)
    one.leaves()
    leads(ns, two, 2)


@case(kills=["names-without-master-are-looked-at"], setup=CONTROLLER, clock=True)
def test_name_without_master_waits_for_a_request(ns: NameServerSession) -> None:
    never, _ = replicas(ns, 2)
    one, two = without_master(ns)
    # A look that saw the master end may still be about to elect, and would choose the Broker that returns.
    ns.advance(2 * LOOKS)
    one.beats() >> Reply(SUCCESS)
    lost = ns.replica_info(one.name).master >> Reply(SUCCESS, NO_MASTER)
    ns.advance(2 * LOOKS)
    ns.replica_info(never.name).master >> Reply(SUCCESS, led_by(None, 0))
    ns.replica_info(one.name).master >> Reply(SUCCESS, lost.value)
    two.elects() >> Reply(SUCCESS, ext=Including({"masterBrokerId": "1", "masterAddress": one.address}))


# A look for inactive masters would elect one between the end and the request.
@case(kills=["who-asks-is-elected", "every-end-brings-an-election"], setup=ENDS_COME_BEFORE_LOOKS)
def test_returning_broker_in_sync_is_elected(ns: NameServerSession) -> None:
    one, two = without_master(ns)
    one.beats() >> Reply(SUCCESS)
    two.leaves()
    ns.replicas(one.name).alive(one.name).eventually() >> Reply(SUCCESS, [1])
    ns.replica_info(one.name).master >> Reply(SUCCESS, (None, None, Matching(".")))
    two.elects() >> Reply(SUCCESS, ext=Including({"masterBrokerId": "1", "masterAddress": one.address}))
    ns.replica_info(one.name).in_sync >> Reply(SUCCESS, [1])


# --- how Brokers learn of it --------------------------------------------------------------------------------


def listening(ns: NameServerSession, count: int) -> list[Replica]:
    """Brokers of a new name that listen; all live."""
    name, cluster = ns.name("replicas"), ns.name("cluster")
    return [Replica(ns, name, cluster, number) for number in range(1, count + 1)]


@case(
    kills=["role-changes-are-not-told", "only-the-new-master-is-told", "dead-brokers-are-told"],
    setup=CONTROLLER,
)
def test_role_change_is_told(ns: NameServerSession) -> None:
    brokers = listening(ns, 3)
    heard = [one.listens() for one in brokers]
    for one in brokers:
        one.applies() >> Reply(SUCCESS)
        one.beats() >> Reply(SUCCESS)
    one, two, _ = brokers
    in_sync(ns, one, two)
    for listener in heard:
        listener.next_request() >> changed_to(one, 1, 1)
    one.leaves()
    for listener in heard[1:]:
        listener.next_request() >> changed_to(two, 2, 3)
    heard[0].next_request() >> Silence()


@case(kills=["asked-elections-are-not-told", "every-election-is-told"], setup=CONTROLLER)
def test_asked_election_is_told(ns: NameServerSession) -> None:
    brokers = listening(ns, 2)
    heard = [one.listens() for one in brokers]
    for one in brokers:
        one.applies() >> Reply(SUCCESS)
        one.beats() >> Reply(SUCCESS)
    one, two = brokers
    two.elects() >> Reply(SUCCESS)
    for listener in heard:
        listener.next_request() >> changed_to(two, 1, 1)
    one.elects() >> Reply(STILL_EXIST)
    for listener in heard:
        listener.next_request() >> Silence()


@case(kills=["role-changes-are-always-told"], setup=ROLES_ARE_NOT_TOLD)
def test_role_changes_need_not_be_told(ns: NameServerSession) -> None:
    (one,) = listening(ns, 1)
    heard = one.listens()
    one.applies() >> Reply(SUCCESS)
    one.beats() >> Reply(SUCCESS)
    one.elects() >> Reply(SUCCESS)
    leads(ns, one, 1)
    heard.next_request() >> Silence()
