"""Chapter registration: ext fields, names and filter servers."""

import json
from collections.abc import Mapping, Sequence

from msgspec import UNSET

from harness.conformance import ABSENT, AnyOf, Including, Reply, case
from harness.conformance.nameserver.brokers import listed, registered
from harness.conformance.nameserver.registration.bodies import (
    compact_json,
    compressed,
    is_unknown,
    layout_of_49,
    serves,
)
from harness.session import Broker, NameServerSession
from harness.wire import ResponseCode
from harness.wire.bodies import TopicConfig

SUCCESS = ResponseCode.SUCCESS

SYSTEM_ERROR = ResponseCode.SYSTEM_ERROR

"""Protocol seconds until a silent broker is removed."""

FIRST_IN_JAVA = "Gg"
"""A name whose hash in Java is a multiple of 256: a map of broker names begins with it."""

CONTROL = "\x01\b\t\n\x0b\f\r\x1f\x7f\x80\x9f\u2028\u2029"
"""Characters that JSON engines escape as numbers or letters, or write as they are."""


# --- ext fields and names -----------------------------------------------------------------------------------


@case(kills=["names-are-ascii"])
def test_names_are_utf_8(ns: NameServerSession) -> None:
    broker = ns.broker(name="b中é" + ns.name("b"), cluster="c😀ß" + ns.name("c"))
    topic, other = "Té" + ns.name("t"), "主题" + ns.name("t")
    broker.register(body=broker.body_of(topic, other).encode()) >> Reply(SUCCESS)
    ns.cluster().names(broker.cluster) >> Reply(SUCCESS, [broker.name])
    ns.topics().among([topic, other]) >> Reply(SUCCESS, [topic, other])
    ns.route(other).addresses >> Reply(SUCCESS, {broker.name: {0: broker.address}})


@case(kills=["names-lose-backslashes", "bodies-lose-control-characters"])
def test_names_may_need_escapes(ns: NameServerSession) -> None:
    broker = ns.broker(name='b"q\\ /' + CONTROL + ns.name("b"))
    topic, other = 't"/\\' + CONTROL + ns.name("t"), "t " + ns.name("t")
    broker.register(body=broker.body_of(topic, other).encode()) >> Reply(SUCCESS)
    ns.cluster().addresses(broker.name) >> Reply(SUCCESS, {0: broker.address})
    ns.topics().among([topic, other]) >> Reply(SUCCESS, sorted([topic, other]))
    ns.route(topic).addresses >> Reply(SUCCESS, {broker.name: {0: broker.address}})


@case(kills=["topic-named-null-is-lost"])
def test_names_may_be_words_of_json(ns: NameServerSession) -> None:
    broker, topics = ns.broker(), ["15", "null", "true"]
    broker.register(body=broker.body_of(*topics).encode()) >> Reply(SUCCESS)
    ns.topics().among(topics) >> Reply(SUCCESS, topics)
    for topic in topics:
        ns.route(topic).addresses >> Reply(SUCCESS, {broker.name: {0: broker.address}})


@case(kills=["broker-id-has-32-bits"])
def test_broker_ids_hold_64_bits(ns: NameServerSession) -> None:
    for number in (-1, -(2**63), 2**63 - 1):
        broker = ns.broker(id=number)
        broker.register() >> Reply(SUCCESS)
        ns.cluster().addresses(broker.name) >> Reply(SUCCESS, {number: broker.address})


@case(kills=["missing-broker-id-is-master"])
def test_missing_broker_id_is_refused(ns: NameServerSession) -> None:
    broker = ns.broker()
    for number in (None, "abc", "1.0", "", 2**63):
        broker.register(ext={"brokerId": number}) >> Reply(SYSTEM_ERROR)
        is_unknown(ns, broker)


@case(kills=["missing-broker-id-is-master"])
def test_bad_broker_id_keeps_the_registration(ns: NameServerSession) -> None:
    broker = ns.broker()
    broker.register() >> Reply(SUCCESS)
    topics = {"A": (2, 3, 4), "B": (8, 8, 6)}
    broker.register(topics, broker.newer(), ext={"brokerId": "abc"}) >> Reply(SYSTEM_ERROR)
    serves(ns, broker, "A", 8, 8, 6, 0)
    broker.query_version().changed >> Reply(SUCCESS, False)


@case("ns.registration.identifiers-are-required", kills=["broker-name-may-be-missing"], own_server=True)
def test_broker_name_is_required(ns: NameServerSession) -> None:
    """A registration without broker name is refused."""
    listed(ns, registered(ns))
    ns.broker().register(ext={"brokerName": None}) >> Reply(SYSTEM_ERROR)


@case("ns.registration.identifiers-are-required", kills=["broker-address-may-be-missing"], own_server=True)
def test_broker_address_is_required(ns: NameServerSession) -> None:
    """A registration without broker address is refused."""
    listed(ns, registered(ns))
    ns.broker().register(ext={"brokerAddr": None}) >> Reply(SYSTEM_ERROR)


@case("ns.registration.identifiers-are-required", kills=["cluster-name-may-be-missing"], own_server=True)
def test_cluster_name_is_required(ns: NameServerSession) -> None:
    """A registration without cluster name is refused."""
    listed(ns, registered(ns))
    ns.broker().register(ext={"clusterName": None}) >> Reply(SYSTEM_ERROR)


@case(kills=["missing-address-ends-the-search"], own_server=True)
def test_missing_address_harms_no_other_broker(ns: NameServerSession) -> None:
    bad = ns.broker(name=FIRST_IN_JAVA)
    bad.register(ext={"brokerAddr": None}) >> AnyOf(Reply(SYSTEM_ERROR), Reply(SUCCESS))
    one, other = ns.broker(cluster=bad.cluster), ns.broker(cluster=bad.cluster)
    since = one.register() >> Reply(SUCCESS)
    other.register() >> Reply(SUCCESS)
    listed(ns, one, other)
    one.connection.close()
    other.connection.close()
    ns.while_lasts(ns.lease, since)
    ns.cluster().addresses(one.name).eventually() >> Reply(SUCCESS, None)
    ns.cluster().addresses(other.name).eventually() >> Reply(SUCCESS, None)


@case(kills=["unnamed-topic-ends-the-registration"], own_server=True)
def test_unnamed_topic_leaves_no_half_registration(ns: NameServerSession) -> None:
    broker = ns.broker(topics=["A", "B", "C"])
    body = broker.body()
    body.topics = {**(body.topics or {}), broker.topic("D"): TopicConfig(topic_name=None)}
    answer = broker.register(body=body.encode()) >> AnyOf(Reply(SYSTEM_ERROR), Reply(SUCCESS))
    refused = answer.command is not None and answer.command.code == SYSTEM_ERROR
    broker.query_version().changed >> Reply(SUCCESS, refused)
    listed = [] if refused else sorted(broker.topics)
    ns.topics().among(broker.topics) >> Reply(SUCCESS, listed)


@case(kills=["ipv6-brackets-are-dropped"])
def test_ipv6_addresses_are_kept(ns: NameServerSession) -> None:
    host = ns.name("x").encode().hex()[-8:]
    master = ns.broker(address=f"[fe80::{host[:4]}:{host[4:]}]:10911", ha="[::1]:10912")
    master.register() >> Reply(SUCCESS)
    ns.cluster().addresses(master.name) >> Reply(SUCCESS, {0: master.address})
    master.sibling().register().master >> Reply(SUCCESS, (master.address, "[::1]:10912"))


@case(kills=["optional-fields-are-required"])
def test_optional_fields_may_be_absent(ns: NameServerSession) -> None:
    broker = ns.broker()
    broker.register(ext={"compressed": None, "bodyCrc32": None}) >> Reply(SUCCESS)
    serves(ns, broker, "A", 8, 8, 6, 0)


@case(kills=["ha-address-is-required"])
def test_ha_address_may_be_absent(ns: NameServerSession) -> None:
    master = ns.broker()
    master.register(ext={"haServerAddr": None}) >> Reply(SUCCESS)
    master.sibling().register().master >> Reply(SUCCESS, (master.address, None))


@case(kills=["unknown-ext-fields-are-refused"])
def test_unknown_ext_fields_are_ignored(ns: NameServerSession) -> None:
    broker = ns.broker()
    extra = {"foo": "bar", "AccessKey": "key", "Signature": "0123", "OnsChannel": "ALIYUN"}
    broker.register(ext=extra) >> Reply(SUCCESS)
    serves(ns, broker, "A", 8, 8, 6, 0)


@case(kills=["acting-master-flag-sticks"])
def test_acting_master_flag_follows_latest_registration(ns: NameServerSession) -> None:
    broker = ns.broker()
    broker.register(ext={"enableActingMaster": True}) >> Reply(SUCCESS)
    ns.cluster().broker(broker.name) >> Reply(SUCCESS, Including({"enableActingMaster": True}))
    broker.register() >> Reply(SUCCESS)
    ns.cluster().broker(broker.name) >> Reply(SUCCESS, Including({"enableActingMaster": False}))


@case(kills=["zone-sticks", "route-lacks-zone", "routes-keep-what-a-name-says-of-itself"])
def test_zone_follows_latest_registration(ns: NameServerSession) -> None:
    broker = ns.broker()
    for zone in ("east", "west", None):
        broker.register(ext={"__ZONE_NAME": zone}) >> Reply(SUCCESS)
        shown = Including({"zoneName": ABSENT if zone is None else zone})
        ns.cluster().broker(broker.name) >> Reply(SUCCESS, shown)
        ns.route(broker.topic("A")).brokers >> Reply(SUCCESS, Including({broker.name: shown}))


# --- filter servers -----------------------------------------------------------------------------------------


@case(kills=["filter-servers-are-not-shown", "filter-servers-are-added-up"])
def test_filter_servers_are_published(ns: NameServerSession) -> None:
    broker = ns.broker()
    lists: list[list[str | None]] = [["f:1", "f:2"], ["g:1"]]
    for servers in lists:
        broker.register(filters=servers) >> Reply(SUCCESS)
        _filters(ns, broker, {broker.address: servers})


@case(kills=["null-filter-list-clears"])
def test_null_filter_servers_keep_the_list(ns: NameServerSession) -> None:
    broker = ns.broker()
    broker.register(filters=["f:1"]) >> Reply(SUCCESS)
    broker.register(filters=None) >> Reply(SUCCESS)
    _filters(ns, broker, {broker.address: ["f:1"]})
    compressed(broker, layout_of_49(broker, filters=b"null")) >> Reply(SUCCESS)
    _filters(ns, broker, {broker.address: ["f:1"]})


@case(kills=["empty-filter-list-is-ignored", "missing-filter-list-is-ignored"])
def test_empty_filter_servers_clear_the_list(ns: NameServerSession) -> None:
    broker = ns.broker()
    without = broker.body()
    without.filter_servers = UNSET
    for clearing in (broker.body().encode(), without.encode()):
        broker.register(filters=["f:1"]) >> Reply(SUCCESS)
        _filters(ns, broker, {broker.address: ["f:1"]})
        broker.register(body=clearing) >> Reply(SUCCESS)
        _filters(ns, broker, {})


@case(kills=["null-filter-servers-are-left-out"])
def test_null_among_filter_servers_is_kept(ns: NameServerSession) -> None:
    broker = ns.broker(name=f"{ns.name('b')}/é")
    for is_compressed, first in ((False, "f:1"), (True, "g:1")):
        broker.register(filters=[first, None, "é中😀:2"], compressed=is_compressed) >> Reply(SUCCESS)
        _filters(ns, broker, {broker.address: [first, ABSENT, "é中😀:2"]})


@case(kills=["one-filter-server-is-none"])
def test_one_filter_server_needs_no_list(ns: NameServerSession) -> None:
    broker = ns.broker()
    document = json.loads(broker.body().encode())
    broker.register(body=compact_json({**document, "filterServerList": "f:1"})) >> Reply(SUCCESS)
    _filters(ns, broker, {broker.address: ["f:1"]})


@case(kills=["json-as-in-5.5"])
def test_any_value_is_a_filter_server(ns: NameServerSession) -> None:
    broker = ns.broker()
    document = json.loads(broker.body().encode())
    for value, text in ((5, "5"), (True, "true"), ({"a": 1}, '{"a":1}'), ("null", "null")):
        broker.register(body=compact_json({**document, "filterServerList": value})) >> Reply(SUCCESS)
        _filters(ns, broker, {broker.address: [text]})
    for value in ("f:1", 5, {"a": 1}):
        broker.register(filters=["f:2"]) >> Reply(SUCCESS)
        compressed(broker, layout_of_49(broker, filters=compact_json(value))) >> Reply(SUCCESS)
        _filters(ns, broker, {})


@case(kills=["json-as-in-5.3"])
def test_only_text_is_a_filter_server(ns: NameServerSession) -> None:
    broker = ns.broker()
    document = json.loads(broker.body().encode())
    broker.register(filters=["f:2"]) >> Reply(SUCCESS)
    for value in (5, True, {"a": 1}):
        broker.register(body=compact_json({**document, "filterServerList": value})) >> Reply(SUCCESS)
        _filters(ns, broker, {broker.address: ["f:2"]})
    broker.register(body=compact_json({**document, "filterServerList": "null"})) >> Reply(SUCCESS)
    _filters(ns, broker, {})
    for sent, text in (("f:1", "f:1"), ("null", "null"), ({"a": 1}, '{"a":1}')):
        compressed(broker, layout_of_49(broker, filters=compact_json(sent))) >> Reply(SUCCESS)
        _filters(ns, broker, {broker.address: [text]})
    compressed(broker, layout_of_49(broker, filters=b"5")) >> Reply(SUCCESS)
    _filters(ns, broker, {})


@case(kills=["no-body-keeps-filter-servers", "no-body-of-version-37-keeps-filter-servers"])
def test_no_body_clears_filter_servers(ns: NameServerSession) -> None:
    for version in (None, 37):
        broker = ns.broker()
        broker.register(filters=["f:1"]) >> Reply(SUCCESS)
        broker.register(body=b"", crc=None, announces=version) >> Reply(SUCCESS)
        _filters(ns, broker, {})


@case(kills=["old-version-clears-filter-list", "old-version-without-body-clears-filter-list"])
def test_old_version_keeps_filter_servers(ns: NameServerSession) -> None:
    broker = ns.broker()
    broker.register(filters=["f:1"]) >> Reply(SUCCESS)
    broker.register(body=broker.body().encode_bare(), announces=36) >> Reply(SUCCESS)
    _filters(ns, broker, {broker.address: ["f:1"]})
    broker.register(body=b"", crc=None, announces=36) >> Reply(SUCCESS)
    _filters(ns, broker, {broker.address: ["f:1"]})


def _filters(ns: NameServerSession, broker: Broker, table: Mapping[str, Sequence[object]]) -> None:
    ns.route(broker.topic("A")).json >> Reply(SUCCESS, Including({"filterServerTable": table}))
