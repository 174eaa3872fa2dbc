"""Chapter data-version: what QUERY_DATA_VERSION (322) compares and what it answers.

The changed flag and the stored version are two views of one answer; a case judges both.
"""

from harness.conformance import ABSENT, Including, Reply, case
from harness.session import Broker, NameServerSession
from harness.wire import RequestCode, ResponseCode
from harness.wire.bodies import DataVersion

SUCCESS = ResponseCode.SUCCESS

"""Protocol seconds until a silent broker is removed."""

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
    """The answer reports that `given` differs, and the stored version."""
    asked = broker.query_version(given)
    asked.changed >> Reply(SUCCESS, True)
    asked.stored >> Reply(SUCCESS, broker.version)


def unchanged(broker: Broker) -> None:
    """The answer reports that the broker's own version is stored."""
    asked = broker.query_version()
    asked.changed >> Reply(SUCCESS, False)
    asked.stored >> Reply(SUCCESS, broker.version)


def unknown(broker: Broker, cluster: str | None = None) -> None:
    """The answer reports that nothing is stored."""
    asked = broker.query_version(cluster=cluster)
    asked.changed >> Reply(SUCCESS, True)
    asked.stored >> Reply(SUCCESS, ABSENT)


@case(kills=["every-version-is-changed", "stored-version-is-not-told"])
def test_equal_version_is_unchanged(ns: NameServerSession) -> None:
    unchanged(registered(ns))


@case(kills=["query-orders-versions", "query-compares-timestamps-only"])
def test_different_counter_is_changed(ns: NameServerSession) -> None:
    broker = registered(ns)
    stored = broker.version
    changed(broker, DataVersion(stored.counter + 1, stored.timestamp, stored.state_version))
    changed(broker, DataVersion(stored.counter - 1, stored.timestamp, stored.state_version))


@case(kills=["query-orders-versions", "query-compares-counters-only"])
def test_different_timestamp_is_changed(ns: NameServerSession) -> None:
    broker = registered(ns)
    stored = broker.version
    changed(broker, DataVersion(stored.counter, stored.timestamp + 1, stored.state_version))
    changed(broker, DataVersion(stored.counter, stored.timestamp - 1, stored.state_version))


@case(kills=["query-ignores-state-version"])
def test_state_version_counts(ns: NameServerSession) -> None:
    broker = registered(ns, DataVersion(7, 1_700_000_000_123, 3))
    unchanged(broker)
    changed(broker, DataVersion(7, 1_700_000_000_123, 4))
    changed(broker, DataVersion(7, 1_700_000_000_123, 2))
    broker.version = DataVersion(8, 1_700_000_000_124, None)
    broker.register() >> Reply(SUCCESS)
    broker.version = DataVersion(8, 1_700_000_000_124, 0)
    unchanged(broker)


@case(kills=["query-compares-state-version"])
def test_state_version_is_not_known(ns: NameServerSession) -> None:
    broker = registered(ns)
    asked = broker.query_version(DataVersion(broker.version.counter, broker.version.timestamp, 5))
    asked.changed >> Reply(SUCCESS, False)


@case(kills=["unknown-broker-is-unchanged", "query-registers", "unknown-broker-has-a-version"])
def test_unknown_broker_is_changed(ns: NameServerSession) -> None:
    broker = ns.broker()
    unknown(broker)
    unknown(broker)
    ns.cluster().addresses(broker.name).eventually() >> Reply(SUCCESS, None)


@case(kills=["query-stores-its-version"])
def test_query_stores_nothing(ns: NameServerSession) -> None:
    broker = registered(ns)
    changed(broker, broker.newer())
    changed(broker, broker.newer())
    unchanged(broker)


@case(kills=["query-ignores-cluster"])
def test_found_by_cluster_and_address(ns: NameServerSession) -> None:
    unknown(registered(ns), cluster=ns.name("other"))


@case(kills=["query-compares-cluster"])
def test_found_by_address(ns: NameServerSession) -> None:
    broker = registered(ns)
    broker.query_version(cluster=ns.name("other")).changed >> Reply(SUCCESS, False)


@case(kills=["name-has-one-data-version", "slaves-have-no-data-version"])
def test_slaves_have_their_own(ns: NameServerSession) -> None:
    master = registered(ns)
    slave = master.sibling()
    slave.version = slave.newer(5)
    slave.register() >> Reply(SUCCESS)
    unchanged(master)
    unchanged(slave)
    changed(slave, master.version)


@case(kills=["greatest-version-is-stored", "first-version-is-stored"])
def test_latest_registration_is_stored(ns: NameServerSession) -> None:
    broker = registered(ns, DataVersion(9, FAR_FUTURE, ns.first_state_version))
    former = broker.version
    broker.version = DataVersion(2, FAR_FUTURE // 2, ns.first_state_version)
    broker.register() >> Reply(SUCCESS)
    unchanged(broker)
    changed(broker, former)


@case(kills=["version-is-told-to-its-own-connection"])
def test_same_on_every_connection(ns: NameServerSession) -> None:
    broker = registered(ns)
    asked = broker.query_version(on=ns.connect())
    asked.changed >> Reply(SUCCESS, False)
    asked.stored >> Reply(SUCCESS, broker.version)


@case(kills=["replaced-address-is-forgotten-at-once"])
def test_replaced_address_is_known_while_it_is_connected(ns: NameServerSession) -> None:
    former = ns.broker()
    successor = former.sibling(id=0)
    former.register() >> Reply(SUCCESS)
    successor.register() >> Reply(SUCCESS)
    unchanged(former)
    successor.connection.close()
    ns.cluster().addresses(former.name).eventually() >> Reply(SUCCESS, None)
    asked = former.query_version()
    asked.changed >> Reply(SUCCESS, False)
    asked.stored >> Reply(SUCCESS, former.version)


@case(kills=["replaced-address-stays-live"])
def test_replaced_address_is_forgotten(ns: NameServerSession) -> None:
    former = ns.broker()
    successor = former.sibling(id=0)
    since = former.register() >> Reply(SUCCESS)
    successor.register() >> Reply(SUCCESS)
    former.connection.close()
    ns.while_lasts(ns.lease, since)
    former.query_version(on=ns.connection).changed.eventually() >> Reply(SUCCESS, True)


@case(kills=["data-versions-are-floats", "stored-version-is-a-float"])
def test_numbers_have_64_bits(ns: NameServerSession) -> None:
    broker = registered(ns, DataVersion(BIG, BIG, ns.first_state_version))
    unchanged(broker)
    changed(broker, DataVersion(BIG - 1, BIG, ns.first_state_version))
    changed(broker, DataVersion(BIG, BIG - 1, ns.first_state_version))
    for number in (2**63 - 1, -(2**63), 0):
        broker.version = DataVersion(number, number, ns.first_state_version)
        plain = broker.version.encode()
        for version in (plain, plus(broker, b'"y":"x"')):
            broker.register(body=broker.body().encode().replace(plain, version)) >> Reply(SUCCESS)
            unchanged(broker)
            broker.query_version(body=version).changed >> Reply(SUCCESS, False)


@case(kills=["large-counters-are-zero"])
def test_counter_beyond_64_bits_is_refused(ns: NameServerSession) -> None:
    broker = registered(ns)
    stored, counter = broker.version.encode(), b'"counter":%d' % broker.version.counter
    for number in (2**63, -(2**63) - 1):
        for text in (b"%d" % number, b'"%d"' % number):
            version = stored.replace(counter, b'"counter":' + text)
            broker.query_version(body=version) >> Reply(ResponseCode.SYSTEM_ERROR)
            body = broker.body().encode().replace(stored, version)
            broker.register(body=body) >> Reply(ResponseCode.SYSTEM_ERROR)
    unchanged(broker)


def with_word(broker: Broker, member: str, word: str) -> bytes:
    """The broker's version with a word for a number."""
    number = getattr(broker.version, member)
    return broker.version.encode().replace(f'"{member}":{number}'.encode(), f'"{member}":{word}'.encode())


@case(kills=["true-counts-as-one", "false-counts-as-zero"])
def test_boolean_for_a_number_is_refused(ns: NameServerSession) -> None:
    broker = registered(ns)
    stored = broker.version.encode()
    for member in ("counter", "timestamp"):
        for word in ("true", "false"):
            version = with_word(broker, member, word)
            broker.query_version(body=version) >> Reply(ResponseCode.SYSTEM_ERROR)
            body = broker.body().encode().replace(stored, version)
            broker.register(body=body) >> Reply(ResponseCode.SYSTEM_ERROR)
    unchanged(broker)


@case(kills=["true-is-no-number", "false-is-no-number"])
def test_boolean_for_a_number_is_accepted(ns: NameServerSession) -> None:
    for word, number in (("true", 1), ("false", 0)):
        for member in ("counter", "timestamp"):
            broker = ns.broker()
            setattr(broker.version, member, number)
            version = with_word(broker, member, word)
            body = broker.body().encode().replace(broker.version.encode(), version)
            broker.register(body=body) >> Reply(SUCCESS)
            unchanged(broker)
            broker.query_version(body=version).changed >> Reply(SUCCESS, False)


@case(kills=["no-body-is-refused"])
def test_no_body_is_changed(ns: NameServerSession) -> None:
    broker = registered(ns)
    asked = broker.query_version(body=b"")
    asked.changed >> Reply(SUCCESS, True)
    asked.stored >> Reply(SUCCESS, broker.version)


@case(kills=["no-body-is-no-version"])
def test_no_body_is_refused(ns: NameServerSession) -> None:
    broker = registered(ns)
    broker.query_version(body=b"") >> Reply(ResponseCode.SYSTEM_ERROR)
    unchanged(broker)


@case(kills=["undecodable-version-is-no-version"])
def test_undecodable_body_is_refused(ns: NameServerSession) -> None:
    broker = registered(ns)
    broker.query_version(body=b"{{") >> Reply(ResponseCode.SYSTEM_ERROR)
    unchanged(broker)


@case(kills=["null-version-is-refused"])
def test_null_version_is_changed(ns: NameServerSession) -> None:
    broker = registered(ns)
    ext = {"clusterName": broker.cluster, "brokerName": broker.name, "brokerAddr": broker.address}
    for body in (b"null", b'""'):
        answer = ns.call(RequestCode.QUERY_DATA_VERSION, {**ext, "brokerId": "0"}, body=body)
        answer >> Reply(SUCCESS, ext=Including({"changed": "true"}), body=broker.version.encode())


@case(kills=["missing-counter-is-one"])
def test_missing_counter_is_zero(ns: NameServerSession) -> None:
    for member in ("", ',"y":"x"'):
        broker = ns.broker()
        broker.version = DataVersion(0, 1_700_000_000_007, ns.first_state_version)
        version = f'{{"timestamp":{broker.version.timestamp}{member}}}'.encode()
        broker.register(body=broker.body().encode().replace(broker.version.encode(), version)) >> Reply(
            SUCCESS
        )
        unchanged(broker)
        broker.query_version(body=version).changed >> Reply(SUCCESS, False)


def plus(broker: Broker, member: bytes) -> bytes:
    """The broker's version with one more member."""
    return broker.version.encode().rpartition(b"}")[0] + b"," + member + b"}"


@case(kills=["unknown-members-of-versions-are-refused"])
def test_other_members_mean_nothing(ns: NameServerSession) -> None:
    broker = registered(ns)
    for member in (b'"stateVersion":"x"', b'"y":"\xff"'):
        asked = broker.query_version(body=plus(broker, member))
        asked.changed >> Reply(SUCCESS, False)
        asked.stored >> Reply(SUCCESS, broker.version)


@case(
    kills=[
        "odd-state-versions-are-none",
        "unknown-members-of-versions-are-refused-in-5",
        "state-versions-beside-unknown-members-are-lost",
    ]
)
def test_state_version_is_a_number(ns: NameServerSession) -> None:
    broker = registered(ns, DataVersion(7, 1_700_000_000_123, 3))
    broker.query_version(body=plus(broker, b'"y":"x"')).changed >> Reply(SUCCESS, False)
    odd = plus(broker, b'"y":0').replace(b'"stateVersion":', b'"stateVersion":"x","z":')
    broker.query_version(body=odd) >> Reply(ResponseCode.SYSTEM_ERROR)
    unchanged(broker)


@case(kills=["unknown-names-of-versions-are-ascii", "unknown-names-of-one-letter-are-ascii"])
def test_unknown_member_may_have_any_name(ns: NameServerSession) -> None:
    broker = registered(ns, DataVersion(7, 1_700_000_000_123, 3))
    for name in ("状态", "ÿz", "é", "þ", "", "ÿ"):
        member = f'"{name}":1'.encode()
        broker.query_version(body=plus(broker, member)).changed >> Reply(SUCCESS, False)


@case(kills=["versions-that-are-no-utf-8-are-read"])
def test_no_utf_8_is_no_version(ns: NameServerSession) -> None:
    broker = registered(ns)
    broker.query_version(body=plus(broker, b'"y":"\xc3\xbf"')).changed >> Reply(SUCCESS, False)
    asked = broker.query_version(body=plus(broker, b'"y":"\xff"'))
    asked.changed >> Reply(SUCCESS, True)
    asked.stored >> Reply(SUCCESS, broker.version)


@case(kills=["versions-with-names-that-are-no-utf-8-are-none"])
def test_name_that_is_no_utf_8_is_refused(ns: NameServerSession) -> None:
    broker = registered(ns)
    broker.query_version(body=plus(broker, b'"y":1')).changed >> Reply(SUCCESS, False)
    broker.query_version(body=plus(broker, b'"\xff":1')) >> Reply(ResponseCode.SYSTEM_ERROR)
    unchanged(broker)
