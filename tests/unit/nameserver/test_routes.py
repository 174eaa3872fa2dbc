"""What cases cannot bring about on any target: remembered payloads, queued departures, addresses of peers."""

from __future__ import annotations

from harness.wire.bodies import DataVersion, RegisterBody, TopicQueueMappingInfo

from .driver import Driver, topic, version


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


def test_a_negative_version_is_refused(ns: Driver) -> None:
    identity: dict[str, str | None] = {
        "brokerName": "b",
        "brokerAddr": "1.1.1.1:1",
        "clusterName": "c",
        "brokerId": "0",
    }
    assert ns.call(103, identity, RegisterBody().encode(), version=-1).code == 1
    assert ns.addresses() is None


def test_the_same_topics_of_one_address_are_published_under_each_of_its_names(ns: Driver) -> None:
    """What the table shows already is shown of one name."""
    ns.register(topics=("TC", "TD"))
    ns.register("b2", version=DataVersion(counter=2, timestamp=1))
    ns.register(version=DataVersion(counter=3, timestamp=1))
    assert set(ns.perms("TA")) == {"b", "b2"}


def test_a_rejected_registrant_loses_its_earlier_entry(ns53: Driver) -> None:
    ns53.register(version=version(state=5))
    ns53.register(id=1, address="2.2.2.2:2", topics=())
    ns53.register(id=0, address="2.2.2.2:2", version=version(state=4))
    assert ns53.addresses() == {0: "1.1.1.1:1"}


def test_the_reply_precedes_the_effect_in_5x(ns: Driver) -> None:
    ns.register()
    ns.unregister()
    assert (ns.addresses() is None) == (ns.profile == "4.9")
    assert (ns.endpoint.next_tick(ns.now) <= ns.now) == (ns.profile == "5.3")


def test_a_broker_that_has_come_back_is_not_removed_by_what_was_queued_before(ns53: Driver) -> None:
    old, new = ns53.connect(), ns53.connect()
    ns53.register(on=old)
    ns53.lose(old)
    ns53.register(on=new)
    ns53.settle()
    assert ns53.addresses() == {0: "1.1.1.1:1"}


def test_a_stranger_with_the_address_of_a_broker_removes_it_in_49(ns: Driver) -> None:
    ns.register(address="8.8.8.8:80")
    ns.lose(ns.connect(peer="8.8.8.8:80"))
    ns.settle()
    assert (ns.addresses() is None) == (ns.profile == "4.9")
    ns.lose(ns.connect(peer="7.7.7.7:70"))
    ns.settle()
    assert (ns.addresses() is None) == (ns.profile == "4.9")


def test_the_same_address_in_another_cluster_is_another_broker(ns53: Driver) -> None:
    first, second = ns53.connect(), ns53.connect()
    ns53.register("a", cluster="c", on=first)
    ns53.register("b", cluster="d", on=second)
    ns53.lose(second)
    ns53.settle()
    assert ns53.addresses("a") == {0: "1.1.1.1:1"}
    assert ns53.addresses("b") is None


def mapping(name: str, epoch: int = 1) -> TopicQueueMappingInfo:
    return TopicQueueMappingInfo("TA", name, 2, epoch, curr_id_map={0: 1})


def test_a_mapping_without_topic_goes_with_its_broker(ns53: Driver) -> None:
    ns53.register(topics=("TB", "TC"), mappings={"TA": mapping("b")})
    ns53.unregister()
    ns53.settle()
    assert ns53.endpoint.routes.mappings == {}
