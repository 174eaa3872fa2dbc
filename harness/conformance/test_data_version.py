"""Chapter data-version: what QUERY_DATA_VERSION (322) compares and what it answers.

A rule of these cases: the changed flag and the stored version are two views of one answer; both are judged.
"""

from harness.conformance import ABSENT, Reply, case
from harness.session import Broker, NameServerSession
from harness.wire import ResponseCode
from harness.wire.bodies import DataVersion

SUCCESS = ResponseCode.SUCCESS

LEASE = 120
"""Protocol seconds for which a broker stays that is not heard of."""

FAR_FUTURE = 4_102_444_800_000
"""Milliseconds: the year 2100."""

BIG = 2**62 + 1
"""A number that a float cannot hold."""


def registered(ns: NameServerSession, version: DataVersion | None = None) -> Broker:
    """A broker that has registered, with this data version where one is given."""
    broker = ns.broker()
    broker.version = version or broker.version
    broker.register() >> Reply(SUCCESS)
    return broker


def changed(broker: Broker, given: DataVersion) -> None:
    """The broker is told that `given` differs, and what is stored."""
    asked = broker.query_version(given)
    asked.changed >> Reply(SUCCESS, True)
    asked.stored >> Reply(SUCCESS, broker.version)


def unchanged(broker: Broker) -> None:
    """The broker is told that its own version is stored."""
    asked = broker.query_version()
    asked.changed >> Reply(SUCCESS, False)
    asked.stored >> Reply(SUCCESS, broker.version)


def unknown(broker: Broker, cluster: str | None = None) -> None:
    """The broker is told that nothing is stored."""
    asked = broker.query_version(cluster=cluster)
    asked.changed >> Reply(SUCCESS, True)
    asked.stored >> Reply(SUCCESS, ABSENT)


@case(
    "ns.data-version.equal-version-is-unchanged",
    kills=["every-version-is-changed", "stored-version-is-not-told"],
)
def test_equal_version_is_unchanged(ns: NameServerSession) -> None:
    """A broker that asks about the version that it registered is told that it is stored."""
    unchanged(registered(ns))


@case(
    "ns.data-version.different-counter-is-changed",
    kills=["query-orders-versions", "query-compares-timestamps-only"],
)
def test_different_counter_is_changed(ns: NameServerSession) -> None:
    """A higher counter is a change, and so is a lower one."""
    broker = registered(ns)
    stored = broker.version
    changed(broker, DataVersion(stored.counter + 1, stored.timestamp, stored.state_version))
    changed(broker, DataVersion(stored.counter - 1, stored.timestamp, stored.state_version))


@case(
    "ns.data-version.different-timestamp-is-changed",
    kills=["query-orders-versions", "query-compares-counters-only"],
)
def test_different_timestamp_is_changed(ns: NameServerSession) -> None:
    """A later timestamp is a change, and so is an earlier one."""
    broker = registered(ns)
    stored = broker.version
    changed(broker, DataVersion(stored.counter, stored.timestamp + 1, stored.state_version))
    changed(broker, DataVersion(stored.counter, stored.timestamp - 1, stored.state_version))


@case("ns.data-version.state-version-counts", kills=["query-ignores-state-version"])
def test_state_version_counts(ns: NameServerSession) -> None:
    """A higher stateVersion is a change, and so is a lower one."""
    broker = registered(ns, DataVersion(7, 1_700_000_000_123, 3))
    unchanged(broker)
    changed(broker, DataVersion(7, 1_700_000_000_123, 4))
    changed(broker, DataVersion(7, 1_700_000_000_123, 2))


@case("ns.data-version.state-version-is-not-known", kills=["query-compares-state-version"])
def test_state_version_is_not_known(ns: NameServerSession) -> None:
    """A 4.9 server tells a broker with a stateVersion that nothing has changed."""
    broker = registered(ns)
    asked = broker.query_version(DataVersion(broker.version.counter, broker.version.timestamp, 5))
    asked.changed >> Reply(SUCCESS, False)


@case(
    "ns.data-version.unknown-broker-is-changed",
    kills=["unknown-broker-is-unchanged", "query-registers", "unknown-broker-has-a-version"],
)
def test_unknown_broker_is_changed(ns: NameServerSession) -> None:
    """A broker that has not registered is told to, as often as it asks."""
    broker = ns.broker()
    unknown(broker)
    unknown(broker)
    ns.cluster().addresses(broker.name).eventually() >> Reply(SUCCESS, None)


@case("ns.data-version.query-stores-nothing", kills=["query-stores-its-version"])
def test_query_stores_nothing(ns: NameServerSession) -> None:
    """A broker that has asked about another version and asks again is told the same."""
    broker = registered(ns)
    changed(broker, broker.newer())
    changed(broker, broker.newer())
    unchanged(broker)


@case("ns.data-version.found-by-cluster-and-address", kills=["query-ignores-cluster"])
def test_found_by_cluster_and_address(ns: NameServerSession) -> None:
    """The broker of another cluster is another broker."""
    unknown(registered(ns), cluster=ns.name("other"))


@case("ns.data-version.found-by-address", kills=["query-compares-cluster"])
def test_found_by_address(ns: NameServerSession) -> None:
    """A 4.9 server finds a broker by its address, whatever cluster it names."""
    broker = registered(ns)
    broker.query_version(cluster=ns.name("other")).changed >> Reply(SUCCESS, False)


@case(
    "ns.data-version.slaves-have-their-own",
    kills=["name-has-one-data-version", "slaves-have-no-data-version"],
)
def test_slaves_have_their_own(ns: NameServerSession) -> None:
    """Master and slave of one name are each told about their own version."""
    master = registered(ns)
    slave = master.sibling()
    slave.version = slave.newer(5)
    slave.register() >> Reply(SUCCESS)
    unchanged(master)
    unchanged(slave)
    changed(slave, master.version)


@case(
    "ns.data-version.latest-registration-is-stored",
    kills=["greatest-version-is-stored", "first-version-is-stored"],
)
def test_latest_registration_is_stored(ns: NameServerSession) -> None:
    """A broker whose clock has been put back is told about its latest version, not about the greatest."""
    broker = registered(ns, DataVersion(9, FAR_FUTURE, ns.first_state_version))
    former = broker.version
    broker.version = DataVersion(2, FAR_FUTURE // 2, ns.first_state_version)
    broker.register() >> Reply(SUCCESS)
    unchanged(broker)
    changed(broker, former)


@case("ns.data-version.same-on-every-connection", kills=["version-is-told-to-its-own-connection"])
def test_same_on_every_connection(ns: NameServerSession) -> None:
    """Whoever asks, over whatever connection, is told the same."""
    broker = registered(ns)
    asked = broker.query_version(on=ns.connect())
    asked.changed >> Reply(SUCCESS, False)
    asked.stored >> Reply(SUCCESS, broker.version)


@case("ns.data-version.replaced-address-is-forgotten", kills=["replaced-address-stays-live"])
def test_replaced_address_is_forgotten(ns: NameServerSession) -> None:
    """Nothing is known of an address that was replaced and whose connection has ended."""
    former = ns.broker()
    successor = former.sibling(id=0)
    since = former.register() >> Reply(SUCCESS)
    successor.register() >> Reply(SUCCESS)
    former.connection.close()
    ns.while_lasts(LEASE, since)
    former.query_version(on=ns.connection).changed.eventually() >> Reply(SUCCESS, True)


@case("ns.data-version.numbers-have-64-bits", kills=["data-versions-are-floats", "stored-version-is-a-float"])
def test_numbers_have_64_bits(ns: NameServerSession) -> None:
    """Numbers that differ in the last of 63 bits are told apart and come back exactly."""
    broker = registered(ns, DataVersion(BIG, BIG, ns.first_state_version))
    unchanged(broker)
    changed(broker, DataVersion(BIG - 1, BIG, ns.first_state_version))
    changed(broker, DataVersion(BIG, BIG - 1, ns.first_state_version))


@case("ns.data-version.no-body-is-changed", kills=["no-body-is-refused"])
def test_no_body_is_changed(ns: NameServerSession) -> None:
    """A broker that gives no version is told that it differs, and what is stored."""
    broker = registered(ns)
    asked = broker.query_version(body=b"")
    asked.changed >> Reply(SUCCESS, True)
    asked.stored >> Reply(SUCCESS, broker.version)


@case("ns.data-version.undecodable-body-is-refused", kills=["undecodable-version-is-no-version"])
def test_undecodable_body_is_refused(ns: NameServerSession) -> None:
    """A query that cannot be read is refused, and the next one on the connection is answered."""
    broker = registered(ns)
    broker.query_version(body=b"{{") >> Reply(ResponseCode.SYSTEM_ERROR)
    unchanged(broker)
