"""Topics as a whole: deletion (216), registration (217), lists (224, 304, 311-313), mappings, settings."""

from __future__ import annotations

import json
from typing import Any

import pytest
from ns_driver import Driver, topic, version

from harness.wire.bodies import QueueData, TopicQueueMappingInfo, TopicRoute
from reference_impl.nameserver import Config

LISTS = {"unit": 311, "unit-sub": 312, "unit-sub-only": 313}
BROKER: dict[str, str | None] = {"brokerName": "b"}


def listed(ns: Driver, code: int, ext: dict[str, str | None] | None = None) -> list[str]:
    answer = ns.call(code, ext)
    assert answer.code == 0, answer
    return sorted(json.loads(answer.body)["topicList"])


def configure(ns: Driver, **settings: Any) -> None:
    """Other settings from now on, as code 318 brings them."""
    ns.endpoint.settings.config = Config(**settings)
    ns.endpoint.settings.revision += 1


def give(ns: Driver, name: str | None, *queues: QueueData) -> int:
    body = TopicRoute(queue_datas=list(queues)).encode()
    return ns.call(217, None if name is None else {"topic": name}, body).code


# -- 216 -----------------------------------------------------------------------------------------------------


def test_a_topic_is_deleted_from_every_broker(ns: Driver) -> None:
    ns.register("a", address="1.1.1.1:1")
    ns.register("b", address="2.2.2.2:2")
    answer = ns.call(216, {"topic": "TA"})
    assert (answer.code, answer.ext, answer.remark, answer.body) == (0, None, None, b"")
    assert ns.route("TA") is None
    assert ns.topics() == ["TB"]
    assert ns.perms("TB") == {"a": 6, "b": 6}
    assert ns.addresses("a") == {0: "1.1.1.1:1"}


def test_a_topic_is_deleted_from_one_cluster(ns: Driver) -> None:
    ns.register("a", address="1.1.1.1:1", cluster="c1")
    ns.register("b", address="2.2.2.2:2", cluster="c2")
    assert ns.call(216, {"topic": "TA", "clusterName": "c1"}).code == 0
    assert ns.perms("TA") == {"b": 6}
    assert ns.call(216, {"topic": "TA", "clusterName": "c3"}).code == 0
    assert ns.perms("TA") == {"b": 6}
    assert ns.call(216, {"topic": "TA", "clusterName": "c2"}).code == 0
    assert ns.route("TA") is None
    assert ns.call(216, {"topic": "TB", "clusterName": ""}).code == 0
    assert ns.topics() == []


@pytest.mark.parametrize("ext", [None, {"clusterName": "c"}, {"topic": "zz"}, {"topic": ""}])
def test_deleting_nothing_is_a_success(ns: Driver, ext: dict[str, str | None] | None) -> None:
    ns.register()
    assert ns.call(216, ext).code == 0
    assert ns.topics() == ["TA", "TB"]


def test_what_brings_a_deleted_topic_back(ns: Driver) -> None:
    ns.register()
    ns.call(216, {"topic": "TA"})
    ns.register()
    assert ns.topics() == (["TB"] if ns.profile == "4.9" else ["TA", "TB"])
    ns.register(version=version(2))
    assert ns.topics() == ["TA", "TB"]


# -- lists ---------------------------------------------------------------------------------------------------


def test_topics_of_a_cluster(ns: Driver) -> None:
    ns.register("a", address="1.1.1.1:1", cluster="c1")
    ns.register("b", address="2.2.2.2:2", cluster="c1", topics=("TA", "TC"))
    ns.register("c", address="3.3.3.3:3", cluster="c2", topics=("TA", "TD"))
    assert listed(ns, 224, {"cluster": "c1"}) == ["TA", "TB", "TC"]
    assert listed(ns, 224, {"cluster": "c2"}) == ["TA", "TD"]
    for ext in ({"cluster": "c3"}, {"cluster": ""}, {"clusterName": "c1"}, None):
        assert listed(ns, 224, ext) == []  # type: ignore[arg-type]


def test_system_names(ns: Driver) -> None:
    assert ns.call(304).body == b'{"topicList":[]}'
    ns.register("a", address="1.1.1.1:1", cluster="c1")
    ns.register("b", address="2.2.2.2:2", cluster="c2")
    ns.register("c2", address="3.3.3.3:3", cluster="c2")
    assert listed(ns, 304) == ["a", "b", "c1", "c2"]
    assert json.loads(ns.call(304).body)["brokerAddr"] in ("1.1.1.1:1", "2.2.2.2:2", "3.3.3.3:3")


def test_unit_lists(ns: Driver) -> None:
    ns.register(topics={f"T{flag}": topic(f"T{flag}", topic_sys_flag=flag) for flag in range(7)})
    assert listed(ns, LISTS["unit"]) == ["T1", "T3", "T5"]
    assert listed(ns, LISTS["unit-sub"]) == ["T2", "T3", "T6"]
    assert listed(ns, LISTS["unit-sub-only"]) == ["T2", "T6"]


def test_the_first_broker_of_a_topic_decides_its_flag(ns: Driver) -> None:
    ns.register("a", address="1:1", topics={"T": topic("T", topic_sys_flag=1), "U": topic("U")})
    ns.register("b", address="2:1", topics={"T": topic("T"), "U": topic("U", topic_sys_flag=1)})
    assert listed(ns, LISTS["unit"]) == ["T"]


# -- 217 -----------------------------------------------------------------------------------------------------


def test_a_topic_is_given_to_known_brokers(ns53: Driver) -> None:
    ns53.register("a", address="1:1")
    ns53.register("b", address="2:1")
    assert give(ns53, "N", QueueData("a", 1, 2, 4, 3), QueueData("b", 5, 6, 6, 0)) == 0
    route = ns53.route("N")
    assert route is not None
    assert {q.broker_name: q for q in route.queue_datas} == {
        "a": QueueData("a", 1, 2, 4, 3),
        "b": QueueData("b", 5, 6, 6, 0),
    }
    assert listed(ns53, LISTS["unit"]) == ["N"]


def test_an_unknown_broker_stops_a_new_topic_and_cuts_off_a_known_one(ns53: Driver) -> None:
    ns53.register("a", address="1:1")
    ns53.register("b", address="2:1", topics=("TB", "TC"))
    for unknown in ("x", None):
        assert give(ns53, "N", QueueData("a"), QueueData(unknown), QueueData("b")) == 0
        assert ns53.route("N") is None
    assert give(ns53, "TC", QueueData("a", 1, 1, 6), QueueData("x"), QueueData("b", perm=1)) == 0
    assert ns53.perms("TC") == {"a": 6, "b": 6}


def test_a_given_topic_ends_as_others_do(ns53: Driver) -> None:
    ns53.register()
    give(ns53, "N", QueueData("b", perm=6))
    ns53.register()
    assert ns53.perms("N") == {"b": 6}
    ns53.register(topics={"N": topic("N", perm=4), "TA": topic("TA")}, version=version(2))
    assert ns53.perms("N") == {"b": 4}
    ns53.unregister()
    ns53.settle()
    assert ns53.topics() == []


@pytest.mark.parametrize("body", [b"", b"null", b"{}", b'{"queueDatas":[]}', b'{"queueDatas":null}'])
def test_217_that_gives_nothing(ns53: Driver, body: bytes) -> None:
    ns53.register()
    assert ns53.call(217, {"topic": "N"}, body).code == 0
    assert ns53.topics() == ["TA", "TB"]
    assert give(ns53, None, QueueData("b")) == 0
    assert ns53.topics() == ["TA", "TB"]


def test_217_that_cannot_be_read(ns53: Driver) -> None:
    answer = ns53.call(217, {"topic": "N"}, b"{{")
    assert answer.code == 1
    assert answer.remark


# -- static-topic mappings -----------------------------------------------------------------------------------


def mapping(name: str, epoch: int = 1) -> TopicQueueMappingInfo:
    return TopicQueueMappingInfo("TA", name, 2, epoch, curr_id_map={0: 1})


def shown(ns: Driver) -> dict[str, int]:
    """Broker name to epoch of the mappings in the route of TA."""
    route = ns.route()
    assert route is not None
    return {name: found.epoch for name, found in (route.topic_queue_mapping_by_broker or {}).items()}


def test_mappings_of_brokers_are_merged(ns53: Driver) -> None:
    ns53.register("a", address="1:1", mappings={"TA": mapping("a", 1)})
    ns53.register("b", address="2:1", mappings={"TA": mapping("b", 2)})
    assert shown(ns53) == {"a": 1, "b": 2}
    ns53.register("a", address="1:1", mappings={"TA": mapping("a", 3)})
    assert shown(ns53) == {"a": 1, "b": 2}
    ns53.register("a", address="1:1", version=version(2), mappings={"TA": mapping("a", 3)})
    assert shown(ns53) == {"a": 3, "b": 2}
    ns53.register("a", address="1:1", version=version(3))
    assert shown(ns53) == {"a": 3, "b": 2}


def test_a_mapping_goes_and_comes_with_its_topic(ns53: Driver) -> None:
    ns53.register(mappings={"TA": mapping("b")})
    ns53.call(216, {"topic": "TA"})
    ns53.register("other", address="2:1")
    assert shown(ns53) == {}
    ns53.register(mappings={"TA": mapping("b")})
    assert shown(ns53) == {"b": 1}
    ns53.unregister()
    ns53.settle()
    assert shown(ns53) == {}


def test_a_mapping_without_topic_goes_with_its_broker(ns53: Driver) -> None:
    ns53.register(topics=("TB", "TC"), mappings={"TA": mapping("b")})
    ns53.unregister()
    ns53.settle()
    assert ns53.endpoint.routes.mappings == {}


# -- settings that change while the server runs --------------------------------------------------------------


def test_lists_are_switched_off(ns53: Driver) -> None:
    ns53.register()
    configure(ns53, enable_topic_list=False)
    for code in (224, *LISTS.values()):
        answer = ns53.call(code, {"cluster": "c"})
        assert (answer.code, answer.remark, answer.body) == (1, "disable", b"")
    assert ns53.call(304).code == 0
    assert ns53.topics() == ["TA", "TB"]
    configure(ns53, enable_all_topic_list=False)
    assert ns53.call(206).remark == "disable"
    assert listed(ns53, 224, {"cluster": "c"}) == ["TA", "TB"]


def test_4_9_has_no_such_switches(ns49: Driver) -> None:
    configure(ns49, enable_topic_list=False, enable_all_topic_list=False)
    assert ns49.topics() == []
    assert listed(ns49, 224, {"cluster": "c"}) == []


def test_a_route_follows_the_settings(ns: Driver) -> None:
    ns.register()
    ns.call(100, {"namespace": "ORDER_TOPIC_CONFIG", "key": "TA", "value": "b:4"})

    def order() -> str | None:
        route = ns.route()
        assert route is not None
        return route.order_topic_conf

    assert order() is None
    configure(ns, order_message_enable=True)
    assert order() == "b:4"
    configure(ns)
    assert order() is None


def test_absent_topics_go_once_the_setting_says_so(ns53: Driver) -> None:
    ns53.register(topics=("TA", "TB", "TC"))
    for _ in range(2):
        ns53.register(topics=("TA", "TB"))
    assert ns53.topics() == ["TA", "TB", "TC"]
    configure(ns53, delete_topic_with_broker_registration=True)
    ns53.register(topics=("TA", "TB"))
    assert ns53.topics() == ["TA", "TB"]
    ns53.register(topics=("TA",), mappings={"TA": mapping("b")})
    assert ns53.topics() == ["TA", "TB"]
    ns53.register(topics=())
    assert ns53.topics() == []
