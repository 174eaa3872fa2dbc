"""Routes, KV, write permission, data versions, lists: what is answered."""

from __future__ import annotations

import json

import pytest
from ns_driver import Driver, topic, version

from harness.wire.bodies import BrokerMemberGroup, TopicRoute
from reference_impl.nameserver import Config, KvError


def test_an_unknown_topic(ns: Driver) -> None:
    faq = {
        "4.9": "http://rocketmq.apache.org/docs/faq/",
        "5.3": "https://rocketmq.apache.org/docs/bestPractice/06FAQ",
    }[ns.profile]
    for ext, shown in (({"topic": "zz"}, "zz"), ({"topic": ""}, ""), ({}, "null"), (None, "null")):
        answer = ns.call(105, ext)  # type: ignore[arg-type]
        assert (answer.code, answer.ext, answer.body) == (17, None, b"")
        assert answer.remark == (
            f"No topic route info in name server for the topic: {shown}\nSee {faq} for further details."
        )


@pytest.mark.parametrize(
    ("number", "accepts", "standard"),
    [(401, None, True), (400, None, False), (0, "TRUE", True), (0, "yes", False), (-1, None, False)],
)
def test_who_gets_which_json(ns: Driver, number: int, accepts: str | None, standard: bool) -> None:
    ns.register("bé", address="1.1.1.1:1")
    body = ns.call(105, {"topic": "TA", "acceptStandardJsonOnly": accepts}, version=number).body
    assert (b'{"0":"1.1.1.1:1"}' in body) == standard
    assert (b'{0:"1.1.1.1:1"}' in body) != standard
    assert (rb"b\u00E9" in body) == standard
    assert TopicRoute.decode(body) == ns.route()
    if standard:
        json.loads(body)


def test_a_route_follows_every_change(ns: Driver) -> None:
    assert ns.route() is None
    ns.register()
    assert ns.perms() == {"b": 6}
    ns.call(205, {"brokerName": "b"})
    assert ns.perms() == {"b": 4}
    ns.register(id=1, address="2.2.2.2:2", topics=())
    route = ns.route()
    assert route is not None
    assert route.broker_datas[0].broker_addrs == {0: "1.1.1.1:1", 1: "2.2.2.2:2"}


def test_order_configuration_is_shown_if_enabled(ns: Driver) -> None:
    ordered = Driver(ns.profile, config=Config(order_message_enable=True))
    for driver, shown in ((ns, None), (ordered, "b:4")):
        driver.register()
        driver.route()
        driver.call(100, {"namespace": "ORDER_TOPIC_CONFIG", "key": "TA", "value": "b:4"})
        for name, expected in (("TA", shown), ("TB", None)):
            route = driver.route(name)
            assert route is not None
            assert route.order_topic_conf == expected


def test_write_permission(ns: Driver) -> None:
    ns.register("a", address="1.1.1.1:1", topics={"TA": topic("TA", perm=7), "TB": topic("TB", perm=2)})
    ns.register("b", address="2.2.2.2:2")
    wiped = ns.call(205, {"brokerName": "a"})
    assert (wiped.code, wiped.ext) == (0, {"wipeTopicCount": "2"})
    assert ns.perms("TA") == {"a": 5, "b": 6}
    assert ns.perms("TB") == {"a": 0, "b": 6}
    assert ns.call(205, {"brokerName": "a"}).ext == {"wipeTopicCount": "2"}
    added = ns.call(327, {"brokerName": "a"})
    assert (added.code, added.ext) == (0, {"addTopicCount": "2"})
    assert ns.perms("TA") == {"a": 7, "b": 6}
    assert ns.perms("TB") == {"a": 2, "b": 6}
    for ext in ({"brokerName": "zz"}, None):
        assert ns.call(205, ext).ext == {"wipeTopicCount": "0"}  # type: ignore[arg-type]
        assert ns.call(327, ext).ext == {"addTopicCount": "0"}  # type: ignore[arg-type]


def test_data_versions(ns: Driver) -> None:
    stored = version(3, 1000, 0 if ns.profile == "5.3" else None)  # type: ignore[arg-type]
    assert ns.query(version()) == ("true", None)
    ns.register(version=version(3))
    assert ns.query(version(3)) == ("false", stored)
    assert ns.query(version(4)) == ("true", stored)
    assert ns.query(version(2)) == ("true", stored)
    assert ns.query(version(3, 1001)) == ("true", stored)
    assert ns.query(version(3)) == ("false", stored)
    assert ns.query(version(3), cluster="x")[0] == ("false" if ns.profile == "4.9" else "true")
    assert ns.query(version(3, state=1))[0] == ("false" if ns.profile == "4.9" else "true")


def test_data_version_queries_that_lack_something(ns: Driver) -> None:
    ns.register()
    known: dict[str, str | None] = {"brokerAddr": "1.1.1.1:1", "clusterName": "c"}
    without_body = ns.call(322, known)
    assert (without_body.code == 1) == (ns.profile == "4.9")
    assert ns.call(322, known, b"{{").code == 1
    assert ns.call(322, known, b"null").ext == {"changed": "true"}
    nameless = ns.call(322, None, version().encode())
    if ns.profile == "4.9":
        assert (nameless.code, nameless.ext) == (0, {"changed": "true"})
    else:
        assert nameless.code == 1
        assert without_body.ext == {"changed": "true"}


def test_kv(ns: Driver) -> None:
    put: dict[str, str | None] = {"namespace": "n", "key": "k", "value": 'v é/"中'}
    assert ns.call(100, put).ext is None
    got = ns.call(101, {"namespace": "n", "key": "k"})
    assert (got.code, got.ext) == (0, {"value": 'v é/"中'})
    ns.call(100, {**put, "value": ""})
    assert ns.call(101, {"namespace": "n", "key": "k"}).ext == {"value": ""}
    listed = ns.call(219, {"namespace": "n"})
    assert (listed.code, json.loads(listed.body)) == (0, {"table": {"k": ""}})
    for _ in range(2):
        assert ns.call(102, {"namespace": "n", "key": "k"}).code == 0
    missing = ns.call(101, {"namespace": "n", "key": "k"})
    assert (missing.code, missing.ext) == (22, {})
    assert missing.remark == "No config item, Namespace: n Key: k"
    assert ns.call(219, {"namespace": "n"}).body == b'{"table":{}}'
    unknown = ns.call(219, {"namespace": "zz"})
    assert (unknown.code, unknown.ext, unknown.remark) == (22, None, "No config item, Namespace: zz")
    assert ns.call(101).remark == "No config item, Namespace: null Key: null"
    assert ns.call(102).code == 0


def test_kv_puts_that_lack_something(ns: Driver) -> None:
    for ext in ({"key": "k", "value": "v"}, {"namespace": "n", "value": "v"}, None):
        answer = ns.call(100, ext)  # type: ignore[arg-type]
        assert (answer.code, answer.remark) == (1, "namespace or key is null")
    assert ns.persisted == []
    assert ns.call(100, {"namespace": "n", "key": "k"}).code == 0
    assert ns.call(101, {"namespace": "n", "key": "k"}).code == 22
    assert ns.call(219, {"namespace": "n"}).body == b'{"table":{}}'


def test_kv_is_persisted_before_the_answer_and_survives(ns: Driver) -> None:
    ns.call(100, {"namespace": "n", "key": "k", "value": "v"})
    assert ns.persisted == [("kvConfigPath", b'{"configTable":{"n":{"k":"v"}}}')]
    again = Driver(ns.profile, kv=ns.persisted[-1][1])
    assert again.call(101, {"namespace": "n", "key": "k"}).ext == {"value": "v"}


@pytest.mark.parametrize("stored", [None, b"", b" \n", b"null", b'{"configTable":{}}'])
def test_an_empty_kv_file(stored: bytes | None) -> None:
    assert Driver("5.3", kv=stored).call(219, {"namespace": "n"}).code == 22


@pytest.mark.parametrize("stored", [b"{", b"[]", b"{}", b'{"configTable":[]}', b'{"configTable":{"n":1}}'])
def test_a_kv_file_that_is_none_is_refused(stored: bytes) -> None:
    with pytest.raises(KvError, match="expected"):
        Driver("5.3", kv=stored)


def test_cluster_info_is_legacy_json(ns: Driver) -> None:
    assert ns.call(106).body == b'{"brokerAddrTable":{},"clusterAddrTable":{}}'
    ns.register()
    assert b'{0:"1.1.1.1:1"}' in ns.call(106).body


def test_unknown_codes(ns: Driver) -> None:
    for code in (999, -1, 220) + ((217, 901, 904) if ns.profile == "4.9" else ()):
        answer = ns.call(code)
        assert (answer.code, answer.remark) == (3, f" request type {code} not supported")
    assert ns.call(106).code == 0


# -- 5.3 only ------------------------------------------------------------------------------------------------


def test_member_group(ns53: Driver) -> None:
    ns53.register()
    ns53.register(id=2, address="2.2.2.2:2", topics=())
    answer = ns53.call(901, {"clusterName": "any", "brokerName": "b"})
    assert answer.code == 0
    assert BrokerMemberGroup.decode(answer.body) == BrokerMemberGroup(
        cluster="any", broker_name="b", broker_addrs={0: "1.1.1.1:1", 2: "2.2.2.2:2"}
    )
    assert ns53.call(901).body == b'{"brokerMemberGroup":{"brokerAddrs":{}}}'


def test_an_acting_master_is_shown_in_routes_only() -> None:
    ns = Driver("5.3", config=Config(support_acting_master=True))
    acting: dict[str, str | None] = {"enableActingMaster": "true"}
    topics = ("TA", "rmq_sys_SYNC_BROKER_MEMBER_x")
    ns.register(topics=topics, ext=acting)
    for number in (1, 2):
        ns.register(id=number, address=f"{number}:1", topics=(), ext=acting)
    ns.unregister()
    ns.settle()

    def shown(topic: str) -> object:
        route = ns.route(topic)
        assert route is not None
        return route.broker_datas[0].broker_addrs

    assert shown("TA") == {0: "1:1", 2: "2:1"}
    assert shown(topics[1]) == {1: "1:1", 2: "2:1"}
    assert ns.addresses() == {1: "1:1", 2: "2:1"}
    ns.call(327, {"brokerName": "b"})
    assert shown("TA") == {1: "1:1", 2: "2:1"}


def test_zones() -> None:
    ns = Driver("5.3")
    ns.register("near", address="1:1", ext={"__ZONE_NAME": "Z1"}, filter_servers=["f:1"])
    ns.register("far", address="2:1", ext={"__ZONE_NAME": "Z2"}, filter_servers=["f:2"])
    ns.register("slave", id=1, address="3:1", ext={"enableActingMaster": "false"})
    zoned: dict[str, str | None] = {"topic": "TA", "__ZONE_MODE": "true", "__ZONE_NAME": "z1"}
    route = TopicRoute.decode(ns.call(105, zoned).body)
    assert {broker.broker_name for broker in route.broker_datas} == {"near", "slave"}
    assert {queue.broker_name for queue in route.queue_datas} == {"near", "slave"}
    assert route.filter_server_table == {"1:1": ["f:1"]}
    for everything in ({**zoned, "__ZONE_MODE": "false"}, {**zoned, "__ZONE_NAME": " "}):
        assert len(TopicRoute.decode(ns.call(105, everything).body).broker_datas) == 3
    assert ns.call(105, {**zoned, "topic": "zz"}).code == 17


def test_switches_of_5x() -> None:
    ns = Driver(
        "5.3",
        config=Config(
            enable_all_topic_list=False,
            return_order_topic_config_to_broker=False,
            need_wait_for_service=True,
            wait_seconds_for_service=45,
            delete_topic_with_broker_registration=True,
        ),
    )
    assert ns.call(206).remark == "disable"
    ns.call(100, {"namespace": "ORDER_TOPIC_CONFIG", "key": "TA", "value": "b:4"})
    assert ns.register().body == b""
    ns.advance(44.999)
    answer = ns.call(105, {"topic": "TA"})
    assert (answer.code, answer.remark) == (1, "name server not ready")
    ns.advance(0.001)
    assert ns.route() is not None
    ns.register("other", address="2.2.2.2:2")
    ns.register(topics=("TA",))
    assert ns.perms("TB") == {"other": 6}
    assert ns.perms("TA") == {"b": 6, "other": 6}
