"""Unregistration, loss of connection, and what they leave behind."""

from __future__ import annotations

import pytest
from ns_driver import Driver, version

from reference_impl.nameserver import Config


def test_an_unregistration_takes_everything_with_the_last_address(ns: Driver) -> None:
    ns.register()
    ns.register(id=1, address="2.2.2.2:2", topics=())
    assert ns.unregister().code == 0
    ns.settle()
    assert ns.addresses() == {1: "2.2.2.2:2"}
    assert ns.perms() == {"b": 6}
    ns.unregister(id=1, address="2.2.2.2:2")
    ns.settle()
    assert ns.addresses() is None
    assert ns.clusters() == {}
    assert ns.topics() == []
    assert ns.route() is None
    assert ns.query(version()) == ("true", None)


def test_a_topic_stays_with_another_broker(ns: Driver) -> None:
    ns.register("a", address="1.1.1.1:1")
    ns.register("b", address="2.2.2.2:2")
    ns.unregister("a", address="1.1.1.1:1")
    ns.settle()
    assert ns.perms() == {"b": 6}
    assert ns.clusters() == {"c": ["b"]}


def test_an_unknown_broker_is_unregistered_with_success(ns: Driver) -> None:
    ns.register()
    for _ in range(2):
        assert ns.unregister("x", address="3.3.3.3:3").code == 0
    ns.settle()
    assert ns.addresses() == {0: "1.1.1.1:1"}


def test_the_id_counts_in_49_and_the_address_in_5x(ns: Driver) -> None:
    ns.register()
    ns.unregister(id=7)
    ns.settle()
    assert ns.addresses() == ({0: "1.1.1.1:1"} if ns.profile == "4.9" else None)
    ns.register()
    ns.unregister(id=0, address="2.2.2.2:2")
    ns.settle()
    assert ns.addresses() == (None if ns.profile == "4.9" else {0: "1.1.1.1:1"})


@pytest.mark.parametrize("missing", ["id", "address", "cluster", "name"])
def test_an_unregistration_needs_its_identifiers(ns: Driver, missing: str) -> None:
    ns.register()
    assert ns.unregister(**{missing: None}).code == 1  # type: ignore[arg-type]
    ns.settle()
    assert ns.addresses() == {0: "1.1.1.1:1"}


def test_the_reply_precedes_the_effect_in_5x(ns: Driver) -> None:
    ns.register()
    ns.unregister()
    assert (ns.addresses() is None) == (ns.profile == "4.9")
    assert (ns.endpoint.next_tick(ns.now) <= ns.now) == (ns.profile == "5.3")


def test_the_worker_s_queue_is_bounded() -> None:
    ns = Driver("5.3", config=Config(un_register_broker_queue_capacity=2))
    assert [ns.unregister(f"x{number}").code for number in range(3)] == [0, 0, 1]
    ns.settle()
    assert ns.unregister().code == 0


def test_a_name_leaves_every_cluster_whatever_the_request_says(ns: Driver) -> None:
    """Apache leaves the others for ever."""
    ns.register()
    ns.register(cluster="d")
    ns.unregister(cluster="x")
    ns.settle()
    assert ns.clusters() == {}


def test_write_permission_goes_with_the_master_of_an_acting_name(ns53: Driver) -> None:
    acting: dict[str, str | None] = {"enableActingMaster": "true"}
    ns53.register(ext=acting)
    ns53.register("other", address="5.5.5.5:5")
    ns53.register(id=1, address="2.2.2.2:2", topics=(), ext=acting)
    ns53.unregister()
    ns53.settle()
    assert ns53.perms() == {"b": 4, "other": 6}


def test_write_permission_stays_otherwise(ns53: Driver) -> None:
    ns53.register()
    ns53.register(id=1, address="2.2.2.2:2", topics=())
    ns53.unregister()
    ns53.settle()
    assert ns53.perms() == {"b": 6}


def test_filter_servers_go_with_their_broker(ns: Driver) -> None:
    ns.register(filter_servers=["f:1"])
    ns.unregister()
    ns.settle()
    ns.register(filter_servers=None)
    route = ns.route()
    assert route is not None
    assert route.filter_server_table == {}


# -- connections ---------------------------------------------------------------------------------------------


def test_a_broker_goes_with_the_connection_of_its_latest_registration(ns: Driver) -> None:
    first, second = ns.connect(), ns.connect()
    ns.register(on=first)
    ns.register(on=second)
    ns.lose(first)
    ns.settle()
    assert ns.addresses() == {0: "1.1.1.1:1"}
    ns.lose(second)
    ns.settle()
    assert ns.addresses() is None
    assert ns.topics() == []


def test_all_brokers_of_a_connection_go(ns: Driver) -> None:
    """Apache removes one."""
    shared = ns.connect()
    for number in range(3):
        ns.register(f"b{number}", address=f"1.1.1.{number}:1", on=shared)
    ns.lose(shared)
    ns.settle()
    assert ns.cluster_info().broker_addr_table == {}
    assert ns.clusters() == {}


def test_slaves_and_topics_stay_when_the_master_s_connection_goes(ns: Driver) -> None:
    master = ns.connect()
    ns.register(on=master)
    ns.register(id=1, address="2.2.2.2:2", topics=())
    ns.lose(master)
    ns.settle()
    assert ns.addresses() == {1: "2.2.2.2:2"}
    assert ns.perms() == {"b": 6}


def test_a_broker_that_has_come_back_is_not_removed_by_what_was_queued_before(ns53: Driver) -> None:
    old, new = ns53.connect(), ns53.connect()
    ns53.register(on=old)
    ns53.lose(old)
    ns53.register(on=new)
    ns53.settle()
    assert ns53.addresses() == {0: "1.1.1.1:1"}


def test_a_replaced_address_is_forgotten_with_its_connection(ns: Driver) -> None:
    """Apache's 5.x keeps its data version for ever."""
    old = ns.connect()
    ns.register(on=old)
    ns.register(address="2.2.2.2:2")
    assert ns.query(version())[0] == "false"
    ns.lose(old)
    ns.settle()
    assert ns.query(version())[0] == "true"
    assert ns.addresses() == {0: "2.2.2.2:2"}


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


def test_a_name_of_two_clusters_is_removed_with_its_connection(ns: Driver) -> None:
    """Apache's 5.x does not find it."""
    ns.register(cluster="c", id=1, address="2.2.2.2:2", on=ns.connect())
    broker = ns.connect()
    ns.register(cluster="d", on=broker)
    ns.lose(broker)
    ns.settle()
    assert ns.addresses() == {1: "2.2.2.2:2"}
