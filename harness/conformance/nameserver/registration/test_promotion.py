"""Chapter registration: a slave that becomes master, and a master that becomes slave."""

from harness.conformance import Including, Reply, case
from harness.conformance.nameserver.registration.bodies import NO_MASTER, serves, state_version
from harness.session import NameServerSession
from harness.wire import ResponseCode

SUCCESS = ResponseCode.SUCCESS

TOPIC_NOT_EXIST = ResponseCode.TOPIC_NOT_EXIST

ACTING = {"enableActingMaster": True}


@case(kills=["historical-promotion-keeps-old-id"])
def test_one_id_per_address(ns: NameServerSession) -> None:
    master = ns.broker()
    slave = master.sibling()
    master.register() >> Reply(SUCCESS)
    slave.register() >> Reply(SUCCESS)
    slave.register(id=0) >> Reply(SUCCESS)
    ns.cluster().addresses(master.name) >> Reply(SUCCESS, {0: slave.address})


@case(kills=["id-belongs-to-first-address"])
def test_address_of_a_held_id_is_replaced(ns: NameServerSession) -> None:
    old = ns.broker()
    new = old.sibling(id=0)
    old.register() >> Reply(SUCCESS)
    new.register() >> Reply(SUCCESS)
    ns.cluster().addresses(old.name) >> Reply(SUCCESS, {0: new.address})
    serves(ns, new, "C", 8, 8, 6, 0)


@case(
    kills=[
        "historical-promotion-keeps-old-id",
        "only-changed-versions-update",
        "free-id-of-a-known-name-is-not-first",
    ]
)
def test_promoted_slave_publishes_topics(ns: NameServerSession) -> None:
    master = ns.broker()
    slave = master.sibling(topics={"A": (2, 3, 4), "C": (8, 8, 6)})
    master.register() >> Reply(SUCCESS)
    slave.register() >> Reply(SUCCESS)
    master.unregister() >> Reply(SUCCESS)
    ns.cluster().addresses(master.name).eventually() >> Reply(SUCCESS, {1: slave.address})
    slave.register(id=0) >> Reply(SUCCESS)
    ns.cluster().addresses(master.name) >> Reply(SUCCESS, {0: slave.address})
    serves(ns, slave, "C", 8, 8, 6, 0)
    serves(ns, slave, "A", 2, 3, 4, 0)


@case(kills=["free-id-of-a-known-name-is-not-first", "free-id-of-a-live-address-is-not-first"])
def test_free_id_is_taken_with_all_topics(ns: NameServerSession) -> None:
    former = ns.broker(topics={"A": (8, 8, 6), "B": (8, 8, 6)})
    successor, slave = former.sibling(id=0, topics={"A": (2, 3, 4), "C": (8, 8, 6)}), former.sibling()
    for broker in (former, successor, slave):
        broker.register() >> Reply(SUCCESS)
    serves(ns, former, "A", 2, 3, 4, 0)
    successor.unregister() >> Reply(SUCCESS)
    ns.cluster().addresses(former.name).eventually() >> Reply(SUCCESS, {1: slave.address})
    former.query_version().changed >> Reply(SUCCESS, False)
    former.register() >> Reply(SUCCESS)
    ns.cluster().addresses(former.name) >> Reply(SUCCESS, {0: former.address, 1: slave.address})
    serves(ns, former, "A", 8, 8, 6, 0)


@case(kills=["free-id-of-a-known-name-is-not-first"])
def test_promoted_prime_slave_restores_write_permission(ns: NameServerSession) -> None:
    slave = ns.broker(id=2)
    slave.register(ext=ACTING) >> Reply(SUCCESS)
    for hint in ("A", "B"):
        serves(ns, slave, hint, 8, 8, 4, 0)
    slave.register(id=0, ext=ACTING) >> Reply(SUCCESS)
    ns.cluster().addresses(slave.name) >> Reply(SUCCESS, {0: slave.address})
    for hint in ("A", "B"):
        serves(ns, slave, hint, 8, 8, 6, 0)


@case(kills=["only-changed-versions-update"])
def test_promotion_beside_old_master_publishes_topics(ns: NameServerSession) -> None:
    master = ns.broker()
    slave = master.sibling()
    master.register() >> Reply(SUCCESS)
    slave.register() >> Reply(SUCCESS)
    slave.register(id=0) >> Reply(SUCCESS)
    serves(ns, slave, "C", 8, 8, 6, 0)


@case(kills=["id-belongs-to-first-address", "historical-promotion-keeps-old-id"])
def test_promotion_with_newer_data_version_publishes_topics(ns: NameServerSession) -> None:
    master = ns.broker()
    slave = master.sibling()
    master.register() >> Reply(SUCCESS)
    slave.register() >> Reply(SUCCESS)
    slave.register(id=0, version=slave.newer()) >> Reply(SUCCESS)
    ns.cluster().addresses(master.name) >> Reply(SUCCESS, {0: slave.address})
    serves(ns, slave, "C", 8, 8, 6, 0)


@case(kills=["demotion-drops-topics", "historical-promotion-keeps-old-id"])
def test_demotion_keeps_topics(ns: NameServerSession) -> None:
    broker = ns.broker()
    broker.register() >> Reply(SUCCESS)
    broker.register(id=3) >> Reply(SUCCESS)
    ns.cluster().addresses(broker.name) >> Reply(SUCCESS, {3: broker.address})
    serves(ns, broker, "A", 8, 8, 6, 0)


@case(kills=["state-version-gives-no-right", "conflict-is-refused"])
def test_lower_state_version_is_ignored(ns: NameServerSession) -> None:
    holder = ns.broker()
    late = holder.sibling(id=0)
    holder.register(version=state_version(5)) >> Reply(SUCCESS)
    late.register(version=state_version(4)) >> Reply(SUCCESS)
    ns.cluster().addresses(holder.name) >> Reply(SUCCESS, {0: holder.address})
    ns.route(late.topic("C")) >> Reply(TOPIC_NOT_EXIST)
    late.query_version(state_version(4)).changed >> Reply(SUCCESS, True, body=b"")


@case(kills=["equal-state-version-conflicts"])
def test_equal_state_version_replaces_address(ns: NameServerSession) -> None:
    holder = ns.broker()
    other = holder.sibling(id=0)
    holder.register(version=state_version(5)) >> Reply(SUCCESS)
    other.register(version=state_version(5)) >> Reply(SUCCESS)
    ns.cluster().addresses(holder.name) >> Reply(SUCCESS, {0: other.address})


@case(kills=["greater-state-version-conflicts"])
def test_higher_state_version_replaces_address(ns: NameServerSession) -> None:
    holder = ns.broker()
    elected = holder.sibling(id=0)
    holder.register(version=state_version(5)) >> Reply(SUCCESS)
    elected.register(version=state_version(6)) >> Reply(SUCCESS)
    ns.cluster().addresses(holder.name) >> Reply(SUCCESS, {0: elected.address})
    serves(ns, elected, "C", 8, 8, 6, 0)


@case(kills=["missing-state-version-is-the-greatest"])
def test_missing_state_version_is_zero(ns: NameServerSession) -> None:
    holder = ns.broker()
    former, low, next_one, late = (holder.sibling(id=0) for _ in range(4))
    ranks = (
        (former, None, former),
        (low, -1, former),
        (next_one, 0, next_one),
        (holder, 1, holder),
        (late, None, holder),
    )
    for broker, number, shown in ranks:
        broker.register(version=state_version(number)) >> Reply(SUCCESS)
        ns.cluster().addresses(holder.name) >> Reply(SUCCESS, {0: shown.address})


@case(kills=["holder-conflicts-with-itself", "greatest-state-version-holds-the-id"])
def test_own_state_version_may_fall(ns: NameServerSession) -> None:
    broker = ns.broker()
    other = broker.sibling(id=0)
    broker.register(version=state_version(6)) >> Reply(SUCCESS)
    broker.register({"A": (2, 3, 4), "B": (8, 8, 6)}, state_version(3)) >> Reply(SUCCESS)
    ns.cluster().addresses(broker.name) >> Reply(SUCCESS, {0: broker.address})
    serves(ns, broker, "A", 2, 3, 4, 0)
    other.register(version=state_version(4)) >> Reply(SUCCESS)
    ns.cluster().addresses(broker.name) >> Reply(SUCCESS, {0: other.address})


@case(kills=["state-version-gives-no-right"])
def test_ignored_slave_learns_no_master(ns: NameServerSession) -> None:
    master = ns.broker()
    holder, late = master.sibling(), master.sibling()
    master.register() >> Reply(SUCCESS)
    holder.register(version=state_version(5)) >> Reply(SUCCESS)
    late.register(version=state_version(4)).master >> Reply(SUCCESS, NO_MASTER)
    ns.cluster().addresses(master.name) >> Reply(SUCCESS, {0: master.address, 1: holder.address})


@case(kills=["ignored-registration-describes"])
def test_ignored_registration_changes_nothing(ns: NameServerSession) -> None:
    holder = ns.broker()
    late = holder.sibling(id=0)
    holder.register(version=state_version(5), ext={"__ZONE_NAME": "east"}) >> Reply(SUCCESS)
    late.register(version=state_version(1), ext={"__ZONE_NAME": "west"}) >> Reply(SUCCESS)
    ns.cluster().broker(holder.name) >> Reply(SUCCESS, Including({"zoneName": "east"}))


@case(
    kills=[
        "ignored-registrants-stay-live",
        "ignored-registrants-keep-their-id",
        "routes-keep-the-id-of-ignored-registrants",
    ]
)
def test_ignored_registrant_loses_its_id(ns: NameServerSession) -> None:
    holder, other = ns.broker(), ns.broker()
    late = holder.sibling()
    for broker, number in ((holder, 5), (late, 4), (other, 1)):
        broker.register(version=state_version(number)) >> Reply(SUCCESS)
    late.query_version(state_version(4)).changed >> Reply(SUCCESS, False)
    both = {holder.name: {0: holder.address, 1: late.address}}
    ns.route(holder.topic("A")).addresses >> Reply(SUCCESS, Including(both))
    late.register(id=0, version=state_version(4)) >> Reply(SUCCESS)
    alone = {holder.name: {0: holder.address}}
    ns.route(holder.topic("A")).addresses >> Reply(SUCCESS, Including(alone))
    ns.cluster().addresses(holder.name) >> Reply(SUCCESS, {0: holder.address})
    late.query_version(state_version(4)).changed >> Reply(SUCCESS, True, body=b"")
    holder.query_version(state_version(5)).changed >> Reply(SUCCESS, False)
    other.query_version(state_version(1)).changed >> Reply(SUCCESS, False)
