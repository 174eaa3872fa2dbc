"""Registration: the state machine of both lines."""

from __future__ import annotations

import zlib

import pytest
from ns_driver import Driver, topic, version

from harness.wire import body_crc32
from harness.wire.bodies import DataVersion, RegisterBody, TopicQueueMappingInfo


def test_a_master_appears_with_its_topics(ns: Driver) -> None:
    answer = ns.register()
    assert (answer.code, answer.ext, answer.body) == (0, {}, b"")
    assert ns.addresses() == {0: "1.1.1.1:1"}
    assert ns.clusters() == {"c": ["b"]}
    assert ns.topics() == ["TA", "TB"]
    route = ns.route()
    assert route is not None
    assert [(q.broker_name, q.read_queue_nums, q.write_queue_nums, q.perm) for q in route.queue_datas] == [
        ("b", 16, 16, 6)
    ]
    assert [b.broker_addrs for b in route.broker_datas] == [{0: "1.1.1.1:1"}]


def test_a_slave_is_told_its_master_and_publishes_nothing(ns: Driver) -> None:
    assert ns.register(id=1, address="2.2.2.2:2", topics=("TC", "TD")).ext == {}
    ns.register()
    told = ns.register(id=1, address="2.2.2.2:2", topics=("TC", "TD")).ext
    assert told == {"masterAddr": "1.1.1.1:1", "haServerAddr": "ha-1.1.1.1:1"}
    assert ns.topics() == ["TA", "TB"]
    assert ns.addresses() == {0: "1.1.1.1:1", 1: "2.2.2.2:2"}


def test_a_slave_is_not_told_a_master_that_is_not_live(ns53: Driver) -> None:
    ns53.register(cluster="c")
    assert ns53.register(id=1, address="2.2.2.2:2", topics=(), cluster="other").ext == {}


def test_promotion_moves_the_only_record_of_an_address(ns: Driver) -> None:
    ns.register(id=1)
    ns.register(id=0)
    assert ns.addresses() == {0: "1.1.1.1:1"}
    assert ns.topics() == ["TA", "TB"]


def test_promotion_over_a_listed_master_publishes(ns: Driver) -> None:
    """Apache's 4.9 does not."""
    ns.register(address="1.1.1.1:1", topics=())
    ns.register(id=1, address="2.2.2.2:2", topics=("TC", "TD"))
    ns.register(id=0, address="2.2.2.2:2", topics=("TC", "TD"))
    assert ns.topics() == ["TC", "TD"]
    assert ns.addresses() == {0: "2.2.2.2:2"}


def test_another_address_takes_an_id_over(ns: Driver) -> None:
    ns.register()
    ns.register(address="2.2.2.2:2")
    assert ns.addresses() == {0: "2.2.2.2:2"}


@pytest.mark.parametrize("given", [version(2), version(0), version(1, 999), version(1, 1001)])
def test_any_other_data_version_updates(ns: Driver, given: object) -> None:
    ns.register()
    ns.register(topics={"TA": topic("TA", perm=4), "TC": topic("TC")}, version=given)  # type: ignore[arg-type]
    assert ns.perms("TA") == {"b": 4}
    assert ns.topics() == ["TA", "TB", "TC"]


def test_an_equal_data_version_changes_nothing_known(ns: Driver) -> None:
    ns.register()
    ns.register(topics={"TA": topic("TA", perm=4), "TC": topic("TC")})
    assert ns.perms("TA") == {"b": 6}
    assert ns.topics() == (["TA", "TB"] if ns.profile == "4.9" else ["TA", "TB", "TC"])


def test_state_version_alone_is_a_difference_in_5x_only(ns: Driver) -> None:
    ns.register()
    ns.register(topics={"TA": topic("TA", perm=4), "TB": topic("TB")}, version=version(state=1))
    assert ns.perms("TA") == {"b": 6 if ns.profile == "4.9" else 4}


def test_a_payload_that_was_skipped_is_published_with_the_next_version(ns: Driver) -> None:
    """What is remembered about a payload must not hide that it was never published."""
    ns.register()
    payload = {"TA": topic("TA", perm=4), "TB": topic("TB", perm=4)}
    ns.register(topics=payload)
    ns.register(topics=payload, version=version(2))
    assert ns.perms("TA") == {"b": 4}


def test_a_wiped_permission_is_restored_by_another_version_with_the_same_bytes(ns: Driver) -> None:
    ns.register()
    ns.call(205, {"brokerName": "b"})
    ns.register()
    assert ns.perms("TA") == {"b": 4}
    ns.register(version=version(2))
    assert ns.perms("TA") == {"b": 6}


def test_a_topic_is_named_by_itself_not_by_its_key(ns: Driver) -> None:
    ns.register(topics={"key": topic("N"), "TB": topic("TB")})
    assert ns.topics() == ["N", "TB"]


def test_a_topic_without_name_refuses_the_registration(ns: Driver) -> None:
    """Apache stores a null topic in 4.9 and stops half-way in 5.x."""
    answer = ns.register(topics={"TA": topic("TA"), "TB": topic(None)})  # type: ignore[arg-type]
    assert answer.code == 1
    assert answer.remark
    assert ns.cluster_info().broker_addr_table == {}


@pytest.mark.parametrize(
    "missing",
    [{"id": None}, {"id": "abc"}, {"address": None}, {"cluster": None}, {"ext": {"brokerName": None}}],
)
def test_a_missing_identifier_is_refused_and_changes_nothing(ns: Driver, missing: dict[str, object]) -> None:
    answer = ns.register(**missing)  # type: ignore[arg-type]
    assert answer.code == 1
    assert answer.remark
    assert answer.ext is None
    assert ns.cluster_info().broker_addr_table == {}
    assert ns.clusters() == {}


@pytest.mark.parametrize("number", [-1, 2**63 - 1, -(2**63)])
def test_ids_are_64_bits_wide(ns: Driver, number: int) -> None:
    ns.register(id=number)
    assert ns.addresses() == {number: "1.1.1.1:1"}


def test_a_checksum_is_compared_with_the_body_as_sent(ns: Driver) -> None:
    body = RegisterBody().encode()
    assert ns.register(body=body, ext={"bodyCrc32": str(body_crc32(body))}).code == 0
    assert ns.register(body=body, ext={"bodyCrc32": "0"}).code == 0
    for wrong in (body, b""):
        refused = ns.register("x", body=wrong, ext={"bodyCrc32": "7"})
        assert (refused.code, refused.remark, refused.ext) == (1, "crc32 not match", {})
    assert ns.addresses("x") is None


@pytest.mark.parametrize("body", [b"notjson", b"null", b"[]", b'{"topicConfigSerializeWrapper":null}'])
def test_an_undecodable_body_is_refused(ns: Driver, body: bytes) -> None:
    assert ns.register(body=body).code == 1
    assert ns.addresses() is None


@pytest.mark.parametrize("body", [b"{}", zlib.compress(b"{}"), zlib.compress(b"", 9)[2:]])
def test_a_compressed_body_must_be_one(ns: Driver, body: bytes) -> None:
    assert ns.register(body=body, ext={"compressed": "true"}).code == 1
    assert ns.addresses() is None


def test_a_compressed_body_is_read(ns: Driver) -> None:
    content = RegisterBody(topics={"TA": topic("TA", perm=2), "TB": topic("TB")}, data_version=version(5))
    body = content.encode_compressed(v5=ns.profile == "5.3")
    assert ns.register(body=body, ext={"compressed": "TRUE"}).code == 0
    assert ns.perms() == {"b": 2}
    assert ns.query(version(5))[0] == "false"


def test_no_body_is_no_topics_and_a_version_of_zeros(ns: Driver) -> None:
    assert ns.register(body=b"").code == 0
    changed, stored = ns.query(version(0, 0))
    assert changed == "false"
    assert stored == version(0, 0) if ns.profile == "5.3" else stored == version(0, 0, None)  # type: ignore[arg-type]


IDENTITY: dict[str, str | None] = {
    "brokerName": "b",
    "brokerAddr": "1.1.1.1:1",
    "clusterName": "c",
    "brokerId": "0",
}


def test_an_old_version_sends_a_bare_table(ns: Driver) -> None:
    body = RegisterBody(topics={"TA": topic("TA"), "TB": topic("TB")}, data_version=version()).encode_bare()
    assert ns.call(103, IDENTITY, body, version=37).code == 0
    assert ns.topics() == []
    assert ns.call(103, IDENTITY | {"brokerAddr": "2.2.2.2:2", "brokerName": "x"}, body, version=36).code == 0
    assert ns.topics() == ["TA", "TB"]


def test_a_negative_version_is_refused(ns: Driver) -> None:
    assert ns.call(103, IDENTITY, RegisterBody().encode(), version=-1).code == 1
    assert ns.addresses() is None


def test_filter_servers_are_kept_cleared_and_replaced(ns: Driver) -> None:
    def filters() -> object:
        route = ns.route()
        assert route is not None
        return route.filter_server_table

    ns.register(filter_servers=["f:1"])
    assert filters() == {"1.1.1.1:1": ["f:1"]}
    ns.register(filter_servers=None)
    assert filters() == {"1.1.1.1:1": ["f:1"]}
    ns.register(filter_servers=["f:2", "f:3"])
    assert filters() == {"1.1.1.1:1": ["f:2", "f:3"]}
    ns.register(filter_servers=[])
    assert filters() == {}
    ns.register(filter_servers=["f:1"])
    for announced, left in ((36, {"1.1.1.1:1": ["f:1"]}), (37, {})):
        identity = {"brokerName": "b", "brokerAddr": "1.1.1.1:1", "clusterName": "c", "brokerId": "0"}
        assert ns.call(103, identity, version=announced).code == 0  # type: ignore[arg-type]
        assert filters() == left


def test_a_name_keeps_the_cluster_of_its_first_registration(ns: Driver) -> None:
    ns.register()
    ns.register(cluster="d")
    broker = ns.broker()
    assert broker is not None
    assert broker.cluster == "c"
    assert ns.clusters() == {"c": ["b"], "d": ["b"]}


def test_the_same_topics_of_one_address_are_published_under_each_of_its_names(ns: Driver) -> None:
    """What the table shows already is shown of one name."""
    ns.register(topics=("TC", "TD"))
    ns.register("b2", version=DataVersion(counter=2, timestamp=1))
    ns.register(version=DataVersion(counter=3, timestamp=1))
    assert set(ns.perms("TA")) == {"b", "b2"}


def test_the_order_table_is_the_reply_of_a_registration(ns: Driver) -> None:
    ns.call(100, {"namespace": "ORDER_TOPIC_CONFIG", "key": "TA", "value": "b:4"})
    assert ns.register().body == b'{"table":{"TA":"b:4"}}'


# -- 5.3 only ------------------------------------------------------------------------------------------------


def test_a_lone_topic_of_an_unknown_id_is_refused_without_a_trace(ns53: Driver) -> None:
    """Apache leaves an empty broker behind."""
    refused = ns53.register(topics=("TA",))
    assert (refused.code, refused.remark, refused.ext) == (1, "register broker failed", {})
    assert ns53.cluster_info().broker_addr_table == {}
    assert ns53.clusters() == {}
    ns53.register(id=1, topics=())
    assert ns53.register(id=0, topics=("TA",)).code == 1
    assert ns53.addresses() == {1: "1.1.1.1:1"}


def test_a_lone_topic_of_a_known_id_is_an_update(ns53: Driver) -> None:
    ns53.register(topics=())
    assert ns53.register(topics=("TA",), version=version(2)).code == 0
    assert ns53.topics() == ["TA"]


def test_a_lone_topic_is_nothing_special_in_49(ns49: Driver) -> None:
    assert ns49.register(topics=("TA",)).code == 0
    assert ns49.topics() == ["TA"]


def test_the_greater_state_version_keeps_an_id(ns53: Driver) -> None:
    ns53.register(version=version(state=5))
    ignored = ns53.register(address="2.2.2.2:2", topics=("TX", "TY"), version=version(state=4))
    assert (ignored.code, ignored.ext) == (0, {})
    assert ns53.addresses() == {0: "1.1.1.1:1"}
    assert ns53.topics() == ["TA", "TB"]
    assert ns53.query(version(state=4), "2.2.2.2:2") == ("true", None)
    ns53.register(address="2.2.2.2:2", version=version(state=5))
    assert ns53.addresses() == {0: "2.2.2.2:2"}
    ns53.register(address="2.2.2.2:2", version=version(state=3))
    assert ns53.addresses() == {0: "2.2.2.2:2"}


def test_a_rejected_registrant_loses_its_earlier_entry(ns53: Driver) -> None:
    ns53.register(version=version(state=5))
    ns53.register(id=1, address="2.2.2.2:2", topics=())
    ns53.register(id=0, address="2.2.2.2:2", version=version(state=4))
    assert ns53.addresses() == {0: "1.1.1.1:1"}


def test_a_prime_slave_publishes(ns53: Driver) -> None:
    for acting, perm in (("true", 4), ("false", 6)):
        name = f"b-{acting}"
        ns53.register(name, id=2, address=f"{acting}:1", ext={"enableActingMaster": acting})
        assert ns53.perms()[name] == perm
        ns53.register(
            name, id=3, address=f"{acting}:2", topics=("TX", "TY"), ext={"enableActingMaster": acting}
        )
        assert ns53.route("TX") is None
        ns53.register(name, id=1, address=f"{acting}:3", topics=("TX", "TY"))
        assert ns53.route("TX") is None


def test_acting_master_and_zone_are_those_of_the_latest(ns53: Driver) -> None:
    ns53.register(ext={"enableActingMaster": "true", "__ZONE_NAME": "z"})
    broker = ns53.broker()
    assert broker is not None
    assert (broker.enable_acting_master, broker.zone_name) == (True, "z")
    ns53.register()
    broker = ns53.broker()
    assert broker is not None
    assert (broker.enable_acting_master, broker.zone_name) == (False, None)


def test_broker_data_of_49_has_no_members_of_5x(ns49: Driver) -> None:
    ns49.register(ext={"enableActingMaster": "true", "__ZONE_NAME": "z"})
    assert b"enableActingMaster" not in ns49.call(106).body
    assert b"zone" not in ns49.call(106).body


def test_mappings_are_shown_and_go_with_their_topic(ns53: Driver) -> None:
    """Apache never forgets them."""
    mapping = TopicQueueMappingInfo(bname="b", topic="TA", total_queues=2, epoch=5, curr_id_map={0: 1})
    ns53.register(mappings={"TA": mapping})
    route = ns53.route()
    assert route is not None
    assert route.topic_queue_mapping_by_broker == {"b": mapping}
    assert b'"currIdMap":{0:1}' in ns53.call(105, {"topic": "TA"}, version=400).body
    other = ns53.route("TB")
    assert other is not None
    assert other.topic_queue_mapping_by_broker is None
    ns53.unregister()
    ns53.settle()
    ns53.register()
    route = ns53.route()
    assert route is not None
    assert route.topic_queue_mapping_by_broker is None
