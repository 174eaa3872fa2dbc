"""Chapter controller: what administrators do to it."""

from __future__ import annotations

from harness.conformance import Including, Reply, case
from harness.conformance.nameserver.controller.replicas import Replica, in_sync, led_by, replicas
from harness.conformance.nameserver.settings import CONTROLLER
from harness.session import NameServerSession
from harness.wire import ResponseCode

SUCCESS = ResponseCode.SUCCESS
UNKNOWN = ResponseCode.CONTROLLER_BROKER_METADATA_NOT_EXIST
NOT_CLEANED = ResponseCode.CONTROLLER_INVALID_CLEAN_BROKER_METADATA
UNCLEAN, TRIES = "enableElectUncleanMaster", "electMasterMaxRetryCount"


@case(
    kills=["one-broker-is-forgotten", "forgotten-brokers-stay-in-sync", "ids-are-given-again"],
    setup=CONTROLLER,
)
def test_broker_is_forgotten(ns: NameServerSession) -> None:
    one, two, three = replicas(ns, 3)
    in_sync(ns, one, two, three)
    two.leaves()
    three.leaves()
    ns.replicas(one.name).alive(one.name).eventually() >> Reply(SUCCESS, [1])
    ns.clean_broker_data(one.name, one.cluster, "2;3") >> Reply(SUCCESS)
    ns.replica_info(one.name).in_sync >> Reply(SUCCESS, [1])
    listed = {"brokerName": one.name, "brokerId": 1, "brokerAddress": one.address, "alive": True}
    left = {"inSyncReplicas": [listed], "notInSyncReplicas": []}
    ns.replicas(one.name).of(one.name) >> Reply(SUCCESS, Including(left))
    ns.next_broker_id(one.name, one.cluster) >> Reply(SUCCESS, ext=Including({"nextBrokerId": "4"}))


@case(kills=["names-go-with-their-set-in-sync"], setup=CONTROLLER)
def test_other_brokers_are_kept(ns: NameServerSession) -> None:
    one, two = replicas(ns, 2, living=0)
    ns.clean_broker_data(one.name, one.cluster, "1") >> Reply(SUCCESS)
    two.registers() >> Reply(SUCCESS)
    two.elects().master >> Reply(SUCCESS, led_by(two, 1))


@case(
    kills=["living-brokers-are-forgotten", "led-names-are-forgotten", "one-of-the-named-must-be-dead"],
    setup=CONTROLLER,
)
def test_living_broker_is_not_forgotten(ns: NameServerSession) -> None:
    one, two, three = replicas(ns, 3, living=1)
    in_sync(ns, one)
    three.beats() >> Reply(SUCCESS)
    for named in ("2;1", "2;3"):
        ns.clean_broker_data(one.name, one.cluster, named) >> Reply(NOT_CLEANED)
    ns.clean_broker_data(one.name, one.cluster) >> Reply(NOT_CLEANED)
    two.registers() >> Reply(SUCCESS)
    ns.replica_info(one.name).master >> Reply(SUCCESS, led_by(one, 1))


@case(kills=["force-is-ignored", "force-forgets-every-name"], setup=CONTROLLER)
def test_name_is_forgotten_by_force(ns: NameServerSession) -> None:
    one, _ = replicas(ns, 2)
    other, _ = replicas(ns, 2)
    in_sync(ns, one)
    in_sync(ns, other)
    ns.clean_broker_data(one.name, one.cluster, living=True) >> Reply(SUCCESS)
    ns.replica_info(one.name) >> Reply(UNKNOWN)
    ns.next_broker_id(one.name, one.cluster) >> Reply(SUCCESS, ext=Including({"nextBrokerId": "1"}))
    ns.replica_info(other.name).master >> Reply(SUCCESS, led_by(other, 1))


@case(kills=["name-outlives-its-brokers"], setup=CONTROLLER)
def test_name_goes_with_its_last_broker(ns: NameServerSession) -> None:
    (one,) = replicas(ns, 1, living=0)
    ns.replica_info(one.name) >> Reply(SUCCESS)
    ns.clean_broker_data(one.name, one.cluster, "1") >> Reply(SUCCESS)
    ns.replica_info(one.name) >> Reply(UNKNOWN)
    ns.next_broker_id(one.name, one.cluster) >> Reply(SUCCESS, ext=Including({"nextBrokerId": "1"}))


@case(
    kills=[
        "ids-that-are-no-numbers-are-passed-over",
        "ids-to-forget-are-cut-to-64-bits",
        "ids-to-forget-have-at-most-62-bits",
    ],
    setup=CONTROLLER,
)
def test_ids_to_forget_are_numbers(ns: NameServerSession) -> None:
    (one,) = replicas(ns, 1, living=0)
    last = Replica(ns, one.name, one.cluster, 2**63 - 1)
    last.applies() >> Reply(SUCCESS)
    for named in ("1;ж", str(2**63), str(2**64 + 1)):
        ns.clean_broker_data(one.name, one.cluster, named, living=False) >> Reply(NOT_CLEANED)
    one.registers() >> Reply(SUCCESS)
    ns.clean_broker_data(one.name, one.cluster, str(last.id)) >> Reply(SUCCESS)
    last.registers() >> Reply(ResponseCode.CONTROLLER_BROKER_NEED_TO_BE_REGISTERED)


@case(kills=["blank-ids-are-no-numbers"], setup=CONTROLLER)
def test_blank_ids_are_none(ns: NameServerSession) -> None:
    for blank in ("", "  "):
        one, _ = replicas(ns, 2, living=0)
        ns.clean_broker_data(one.name, one.cluster, blank) >> Reply(SUCCESS)
        ns.replica_info(one.name) >> Reply(UNKNOWN)
        (one,) = replicas(ns, 1)
        in_sync(ns, one)
        ns.clean_broker_data(one.name, one.cluster, blank) >> Reply(NOT_CLEANED)
        ns.replica_info(one.name).master >> Reply(SUCCESS, led_by(one, 1))


@case(
    kills=[
        "controller-settings-stay",
        "controller-settings-are-those-of-the-server",
        "long-settings-are-not-read",
        "controller-settings-keep-their-blanks",
    ],
    setup=CONTROLLER,
    own_server=True,
)
def test_settings_are_changed(ns: NameServerSession) -> None:
    group = {"controllerDLegerGroup": CONTROLLER["controllerDLegerGroup"]}
    before = {UNCLEAN: "false", TRIES: "3", **group}
    ns.controller_config().settings >> Reply(SUCCESS, Including(before))
    ns.update_controller({"unknown": "x" * 70_000, UNCLEAN: "true", TRIES: "7"}) >> Reply(SUCCESS)
    ns.update_controller(b"") >> Reply(SUCCESS)
    ns.update_controller({"metricsLabel": " a b "}) >> Reply(SUCCESS)
    after = {UNCLEAN: "true", TRIES: "7", "metricsLabel": "a b", **group}
    ns.controller_config().settings >> Reply(SUCCESS, Including(after))


@case(kills=["settings-hold-from-the-start"], setup=CONTROLLER, own_server=True)
def test_unclean_elections_are_allowed_online(ns: NameServerSession) -> None:
    one, two = replicas(ns, 2)
    in_sync(ns, one)
    ns.update_controller({UNCLEAN: "true"}) >> Reply(SUCCESS)
    one.leaves()
    ns.replica_info(one.name).master.eventually() >> Reply(SUCCESS, led_by(two, 2))


@case(kills=["protected-settings-are-changed"], setup=CONTROLLER, own_server=True)
def test_protected_settings_are_kept(ns: NameServerSession) -> None:
    before = ns.controller_config().settings >> Reply(SUCCESS)
    for key in ("configBlackList", "configStorePath", "rocketmqHome"):
        refused = ns.update_controller({"notifyBrokerRoleChanged": "false", key: "/nowhere"})
        refused >> Reply(ResponseCode.NO_PERMISSION)
    ns.controller_config().settings >> Reply(SUCCESS, before.value)
