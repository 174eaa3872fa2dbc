"""Codes 318 and 319: what an update changes, what it refuses, who sees it, and when it is written."""

from __future__ import annotations

import pytest

from harness.wire.bodies import Properties
from reference_impl.nameserver import Config

from .driver import Driver

UPDATE, GET = 318, 319


def update(ns: Driver, text: str) -> tuple[int, str | None]:
    answer = ns.call(UPDATE, body=text.encode())
    return answer.code, answer.remark


def shown(ns: Driver) -> dict[str, str]:
    return Properties.decode(ns.call(GET).body).pairs


def test_every_key_of_the_line_is_shown_with_apache_s_default(ns: Driver) -> None:
    pairs = shown(ns)
    assert list(pairs) == sorted(pairs)
    assert len(pairs) == (20 if ns.profile == "4.9" else 39)
    assert pairs["listenPort"] == "9876"
    assert pairs["serverPooledByteBufAllocatorEnable"] == "true"
    assert ("enableTopicList" in pairs) == (ns.profile != "4.9")
    assert "rocketmqHome" not in pairs


@pytest.mark.parametrize(
    ("text", "key", "value"),
    [
        ("serverWorkerThreads=7", "serverWorkerThreads", "7"),
        ("serverWorkerThreads : +7", "serverWorkerThreads", "7"),
        ("serverWorkerThreads=-7", "serverWorkerThreads", "-7"),
        ("server\\\n  WorkerThreads=7", "serverWorkerThreads", "7"),
        ("serverWorkerThreads=1\nserverWorkerThreads=7", "serverWorkerThreads", "7"),
        ("serverWorkerThreads=7 ", "serverWorkerThreads", "8"),
        ("serverWorkerThreads=2147483648", "serverWorkerThreads", "8"),
        ("serverWorkerThreads=7.0", "serverWorkerThreads", "8"),
        ("serverWorkerThreads=", "serverWorkerThreads", "8"),
        ("clusterTest=TrUe", "clusterTest", "true"),
        ("clusterTest=true ", "clusterTest", "false"),
        ("productEnvName=\\u00e9", "productEnvName", "é"),
        ("productEnvName=é", "productEnvName", "Ã©"),
        ("productEnvName=a\\\\b\\nkvConfigPath=/x", "productEnvName", "a\\b\nkvConfigPath=/x"),
    ],
)
def test_values_are_read_as_java_reads_them(ns: Driver, text: str, key: str, value: str) -> None:
    before = shown(ns)
    assert update(ns, text) == (0, None)
    assert shown(ns) == before | {key: value}


def test_strings_are_trimmed_in_5_only(ns: Driver) -> None:
    update(ns, "productEnvName=a  ")
    assert shown(ns)["productEnvName"] == ("a  " if ns.profile == "4.9" else "a")


def test_64_bits_where_java_has_a_long() -> None:
    ns = Driver("5.3")
    update(ns, "scanNotActiveBrokerInterval=2147483648\nserverWorkerThreads=2147483648")
    assert shown(ns)["scanNotActiveBrokerInterval"] == "2147483648"
    assert shown(ns)["serverWorkerThreads"] == "8"


def test_other_keys_can_be_changed_if_the_file_had_them(ns: Driver) -> None:
    ns = Driver(ns.profile, config=Config.of({"extra": "1"}))
    update(ns, "extra=2 \nother=3\nExtra=4")
    assert shown(ns)["extra"] == "2 "
    assert not {"other", "Extra"} & shown(ns).keys()


def test_what_5_knows_is_just_another_key_in_4_9() -> None:
    ns = Driver("4.9", config=Config.of({"enableTopicList": "true"}))
    update(ns, "enableTopicList=whatever\nenableAllTopicList=false")
    assert shown(ns)["enableTopicList"] == "whatever"
    assert "enableAllTopicList" not in shown(ns)


@pytest.mark.parametrize("key", ["configBlackList", "configStorePath", "kvConfigPath", "rocketmqHome"])
@pytest.mark.parametrize("form", ["{}=x", " {} : x", "\\u00{:02x}", "{}", "a\\\n=1\n{} x"])
def test_the_black_list_refuses_the_whole_update(ns: Driver, key: str, form: str) -> None:
    spelt = f"\\u{ord(key[0]):04x}{key[1:]}=x" if form.startswith("\\u") else form.format(key)
    before = shown(ns)
    refused = update(ns, f"orderMessageEnable=true\n{spelt}\nserverWorkerThreads=7")
    assert refused == (16, "Can not update config in black list.")
    assert shown(ns) == before
    assert ns.persisted == []


@pytest.mark.parametrize(
    ("listed", "refused"),
    [("a;b", {"a", "b"}), ("", {""}), (";", set()), ("a;;", {"a"}), (";a", {"", "a"}), (" a", {" a"})],
)
def test_the_black_list_of_the_start(ns: Driver, listed: str, refused: set[str]) -> None:
    ns = Driver(ns.profile, config=Config(config_black_list=listed))
    for key in ("a", "b", "", " a"):
        body = Properties({key: "1"}).encode()
        assert ns.call(UPDATE, body=body).code == (16 if key in refused else 0)


def test_a_malformed_escape_is_an_error_and_changes_nothing(ns: Driver) -> None:
    before = shown(ns)
    assert update(ns, "clusterTest=true\na=\\u12") == (1, "string2Properties error")
    assert shown(ns) == before
    assert ns.persisted == []


def test_every_update_with_a_body_is_written_and_read_again(ns: Driver) -> None:
    ns.call(UPDATE)
    assert ns.persisted == []
    update(ns, "# nothing")
    update(ns, "serverWorkerThreads=7\nproductEnvName=a\\\\b\\nlistenPort\\=1")
    assert [key for key, _ in ns.persisted] == ["configStorePath"] * 2
    again = Driver(ns.profile, config=Config.from_properties(ns.persisted[-1][1]))
    assert shown(again) == shown(ns)


def test_decisions_see_an_update_at_once() -> None:
    ns = Driver("5.3")
    ns.register()
    ns.call(100, {"namespace": "ORDER_TOPIC_CONFIG", "key": "TA", "value": "b:1"})
    assert ns.route().order_topic_conf is None  # type: ignore[union-attr]
    update(ns, "orderMessageEnable=true\nreturnOrderTopicConfigToBroker=false\nenableAllTopicList=false")
    assert ns.route().order_topic_conf == "b:1"  # type: ignore[union-attr]
    assert ns.register().body == b""
    assert ns.call(206).remark == "disable"
    update(ns, "needWaitForService=true")
    assert ns.call(105, {"topic": "TA"}).remark == "name server not ready"
    update(ns, "waitSecondsForService=-1\nsupportActingMaster=true")
    assert ns.route() is not None


def test_the_idle_limit_is_that_of_the_moment_of_acceptance(ns: Driver) -> None:
    old = ns.connect()
    update(ns, "serverChannelMaxIdleTimeSeconds=3")
    new = ns.connect()
    update(ns, "serverChannelMaxIdleTimeSeconds=-1")
    endless = ns.connect()
    ns.advance(2)
    ns.call(101, on=new)
    ns.advance(2)
    assert ns.closed == []
    ns.advance(1)
    assert ns.closed == [new]
    ns.advance(200)
    assert old in ns.closed
    assert endless not in ns.closed


def test_what_is_fixed_at_the_start_stays() -> None:
    ns = Driver("5.3")
    ns.register(ext={"heartbeatTimeoutMillis": "1"}, on=ns.connect())
    update(ns, "scanNotActiveBrokerInterval=100\nunRegisterBrokerQueueCapacity=0")
    assert ns.unregister(name="zz", address="2.2.2.2:2").code == 0
    ns.advance(4)
    assert ns.route() is not None
    ns.advance(2)
    ns.settle()
    assert ns.route() is None
