"""Chapter notification: how 5.x notifies brokers when the smallest id of their name changes (code 905).

Every broker listens on loopback, at the address that it registers. The absence of a notification shows in the
next notification, which is about another event.
"""

from __future__ import annotations

from harness.conformance import ABSENT, Including, Reply, Request, Silence, case
from harness.session import Broker, Listener, NameServerSession
from harness.wire import FLAG_ONEWAY, RequestCode, ResponseCode, Serialization

SUCCESS = ResponseCode.SUCCESS
NOTIFY = {"notifyMinBrokerIdChanged": "true"}
LEASE = 40
"""Protocol seconds of the leases that are to run out."""

ACTING = {"enableActingMaster": True}


class Member:
    """A broker that listens."""

    def __init__(self, broker: Broker) -> None:
        self.broker = broker
        self.heard: Listener = broker.listen()

    def sibling(self, number: int) -> Member:
        """Another member of the same name."""
        return Member(self.broker.sibling(number))

    def register(self, ext: dict[str, bool] | None = None, number: int | None = None) -> None:
        """Registers, and is accepted."""
        self.broker.register(ext=ext, id=number) >> Reply(SUCCESS)


def member(ns: NameServerSession, number: int) -> Member:
    """A broker of a new name."""
    return Member(ns.broker(number))


def family(ns: NameServerSession, ext: dict[str, bool] | None = None) -> tuple[Member, Member, Member]:
    """Members 0, 1 and 2 of a name. All have registered, the greater ids first, and were notified.

    Each notification is awaited before the next is caused: a server may open a connection for each, and their
    order is not promised then.
    """
    two = member(ns, 2)
    one, zero = two.sibling(1), two.sibling(0)
    two.register(ext)
    one.register(ext)
    two.heard.next_request() >> arrived(one)
    zero.register(ext)
    two.heard.next_request() >> arrived(zero)
    one.heard.next_request() >> arrived(zero)
    return zero, one, two


def arrived(new: Member, number: int | None = None) -> Request:
    """That `new` has come, and has the smallest id."""
    return Request(
        RequestCode.NOTIFY_MIN_BROKER_ID_CHANGE,
        ext=Including(
            {
                "minBrokerId": str(new.broker.id if number is None else number),
                "minBrokerAddr": new.broker.address,
                "haBrokerAddr": new.broker.ha,
                "offlineBrokerAddr": ABSENT,
            }
        ),
    )


def departed(old: Member, now: Member) -> Request:
    """That `old` has left, and that `now` has the smallest id."""
    return Request(
        RequestCode.NOTIFY_MIN_BROKER_ID_CHANGE,
        ext=Including(
            {
                "minBrokerId": str(now.broker.id),
                "minBrokerAddr": now.broker.address,
                "offlineBrokerAddr": old.broker.address,
                "haBrokerAddr": ABSENT,
            }
        ),
    )


@case(kills=["notifies-by-default"])
def test_is_off_by_default(ns: NameServerSession) -> None:
    slave = member(ns, 1)
    master = slave.sibling(0)
    slave.register()
    master.register()
    shown = {0: master.broker.address, 1: slave.broker.address}
    ns.cluster().addresses(slave.broker.name) >> Reply(SUCCESS, shown)
    slave.heard.next_request() >> Silence()


@case(
    kills=["arrival-is-not-told", "arrival-told-to-one-member", "arrival-told-of-acting-masters-only"],
    setup=NOTIFY,
)
def test_smaller_id_is_announced_to_the_others(ns: NameServerSession) -> None:
    one = member(ns, 1)
    two, zero = one.sibling(2), one.sibling(0)
    one.register()
    two.register()
    zero.register()
    one.heard.next_request() >> arrived(zero)
    two.heard.next_request() >> arrived(zero)


@case(kills=["newcomer-is-told"], setup=NOTIFY)
def test_newcomer_is_not_notified(ns: NameServerSession) -> None:
    two = member(ns, 2)
    one, zero = two.sibling(1), two.sibling(0)
    two.register()
    one.register()
    two.heard.next_request() >> arrived(one)
    zero.register()
    one.heard.next_request() >> arrived(zero)


@case(kills=["every-registration-is-told", "first-registration-is-told"], setup=NOTIFY)
def test_other_registrations_are_not_announced(ns: NameServerSession) -> None:
    two = member(ns, 2)
    three, zero = two.sibling(3), two.sibling(0)
    two.register()
    three.register()
    two.register()
    zero.register()
    two.heard.next_request() >> arrived(zero)
    three.heard.next_request() >> arrived(zero)


@case(kills=["lone-member-is-not-told"], setup=NOTIFY)
def test_lone_member_is_notified_of_itself(ns: NameServerSession) -> None:
    lone = member(ns, 5)
    lone.register()
    lone.register(number=0)
    lone.heard.next_request() >> arrived(lone, 0)


@case(
    kills=["departure-is-not-told", "departure-told-to-one-member", "departure-told-without-who-left"],
    setup=NOTIFY,
)
def test_departure_is_announced_to_the_rest(ns: NameServerSession) -> None:
    zero, one, two = family(ns, ACTING)
    zero.broker.unregister() >> Reply(SUCCESS)
    one.heard.next_request() >> departed(zero, one)
    two.heard.next_request() >> departed(zero, one)


@case(kills=["departure-told-without-acting-master"], setup=NOTIFY)
def test_departure_is_not_announced_without_acting_master(ns: NameServerSession) -> None:
    zero, one, _ = family(ns)
    zero.broker.unregister() >> Reply(SUCCESS)
    ns.settle()
    zero.register()
    one.heard.next_request() >> arrived(zero)


@case(kills=["every-departure-is-told"], setup=NOTIFY)
def test_other_departures_are_not_announced(ns: NameServerSession) -> None:
    zero, one, two = family(ns, ACTING)
    two.broker.unregister() >> Reply(SUCCESS)
    ns.settle()
    zero.broker.unregister() >> Reply(SUCCESS)
    one.heard.next_request() >> departed(zero, one)


@case(kills=["lost-connection-is-not-told"], setup=NOTIFY)
def test_lost_connection_is_announced(ns: NameServerSession) -> None:
    zero, one, two = family(ns, ACTING)
    zero.broker.connection.close()
    one.heard.next_request() >> departed(zero, one)
    two.heard.next_request() >> departed(zero, one)


@case(kills=["lost-connection-is-not-told", "one-notification-at-a-time"], setup=NOTIFY, clock=True)
def test_ended_lease_is_announced(ns: NameServerSession) -> None:
    slaves = (member(ns, 1), member(ns, 1))
    masters = [slave.sibling(0) for slave in slaves]
    for zero, one in zip(masters, slaves, strict=True):
        one.register(ACTING)
        since = zero.broker.register(ext={**ACTING, "heartbeatTimeoutMillis": LEASE * 1000}) >> Reply(SUCCESS)
        one.heard.next_request() >> arrived(zero)
    ns.advance_past(LEASE, since)
    for zero, one in zip(masters, slaves, strict=True):
        one.heard.next_request() >> departed(zero, one)


@case(
    kills=["notification-wants-an-answer", "notification-has-a-body", "notification-is-a-response"],
    setup=NOTIFY,
)
def test_notification_is_oneway(ns: NameServerSession) -> None:
    one = member(ns, 1)
    zero = one.sibling(0)
    one.register()
    zero.register()
    one.heard.next_request() >> Request(
        RequestCode.NOTIFY_MIN_BROKER_ID_CHANGE, flag=FLAG_ONEWAY, serialization=Serialization.JSON, body=b""
    )


@case(kills=["unreachable-member-fails-the-registration"], setup=NOTIFY)
def test_unreachable_members_do_no_harm(ns: NameServerSession) -> None:
    gone = member(ns, 1)
    there, zero = gone.sibling(2), gone.sibling(0)
    gone.heard.close()
    gone.register()
    there.register()
    zero.register()
    there.heard.next_request() >> arrived(zero)
    nowhere = ns.broker(1)
    nowhere.register(address=ns.name("nowhere")) >> Reply(SUCCESS)
    nowhere.sibling(0).register() >> Reply(SUCCESS)
