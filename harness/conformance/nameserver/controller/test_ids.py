"""Chapter controller: where it is, ids of Brokers, and what they say when they come."""

from __future__ import annotations

from harness.conformance import ABSENT, Including, Matching, Reply, case
from harness.conformance.nameserver.controller.replicas import Replica, in_sync, led_by, replicas
from harness.conformance.nameserver.settings import CONTROLLER
from harness.session import NameServerSession
from harness.session.exchange import Exchange
from harness.wire import RequestCode, ResponseCode

SUCCESS = ResponseCode.SUCCESS
SYSTEM_ERROR = ResponseCode.SYSTEM_ERROR
NOT_SUPPORTED = ResponseCode.REQUEST_CODE_NOT_SUPPORTED
ID_INVALID = ResponseCode.CONTROLLER_BROKER_ID_INVALID
NOT_REGISTERED = ResponseCode.CONTROLLER_BROKER_NEED_TO_BE_REGISTERED
UNKNOWN = ResponseCode.CONTROLLER_BROKER_METADATA_NOT_EXIST
NOT_ALTERED = ResponseCode.CONTROLLER_ALTER_SYNC_STATE_SET_FAILED


def next_id(ns: NameServerSession, of: Replica) -> Exchange:
    """1012 of a name."""
    return ns.next_broker_id(of.name, of.cluster)


def numbered(of: Replica, number: int) -> Reply:
    """That this is the next id of a name."""
    ext = {"clusterName": of.cluster, "brokerName": of.name, "nextBrokerId": str(number)}
    return Reply(SUCCESS, ext=ext)


def dead(*brokers: Replica) -> Including:
    """That these are listed (1006), none of them alive."""
    return Including(
        [
            {"brokerName": one.name, "brokerId": one.id, "brokerAddress": one.address, "alive": False}
            for one in brokers
        ]
    )


def alone(ns: NameServerSession, number: int = 1) -> Replica:
    """A Broker of a new name that has no id yet."""
    return Replica(ns, ns.name("replicas"), ns.name("cluster"), number)


@case(
    kills=[
        "controller-answers-at-either-port",
        "controller-answers-nothing",
        "controller-closes-every-connection",
        "unknown-codes-are-done-by-the-controller",
    ],
    setup=CONTROLLER,
)
def test_has_a_port_of_its_own(ns: NameServerSession) -> None:
    ext = {"clusterName": ns.name("cluster"), "brokerName": ns.name("replicas")}
    code = RequestCode.CONTROLLER_GET_NEXT_BROKER_ID
    ns.controller.call(code, ext) >> Reply(SUCCESS)
    ns.connection.call(code, ext) >> Reply(NOT_SUPPORTED)
    ns.cluster() >> Reply(SUCCESS)
    ns.cluster(on=ns.controller) >> Reply(NOT_SUPPORTED)


@case(kills=["controller-follows", "peers-are-named-without-their-id"], setup=CONTROLLER)
def test_metadata_names_the_leader(ns: NameServerSession) -> None:
    peers = "controllerDLegerPeers"
    listed = ns.controller_config().among(peers) >> Reply(SUCCESS, {peers: Matching(r"n0-127\.0\.0\.1:\d+")})
    address = listed.value[peers].removeprefix("n0-")
    told = {
        "group": CONTROLLER["controllerDLegerGroup"],
        "controllerLeaderId": "n0",
        "controllerLeaderAddress": address,
        "isLeader": "true",
        "peers": f"n0:{address};",
    }
    ns.controllers() >> Reply(SUCCESS, ext=told)


@case(
    kills=["asking-takes-an-id", "ids-are-counted-over-all-names", "next-id-is-always-one"], setup=CONTROLLER
)
def test_next_id_goes_up(ns: NameServerSession) -> None:
    one, other = alone(ns), alone(ns)
    next_id(ns, one) >> numbered(one, 1)
    next_id(ns, one) >> numbered(one, 1)
    one.applies() >> Reply(SUCCESS, ext={"clusterName": one.cluster, "brokerName": one.name})
    next_id(ns, one) >> numbered(one, 2)
    Replica(ns, one.name, one.cluster, 2).applies() >> Reply(SUCCESS)
    next_id(ns, one) >> numbered(one, 3)
    next_id(ns, other) >> numbered(other, 1)


@case(
    kills=[
        "id-is-given-to-anyone",
        "id-is-given-once-only",
        "repeated-application-counts",
        "address-is-the-code",
        "refused-ids-name-nothing",
    ],
    setup=CONTROLLER,
)
def test_id_belongs_to_who_took_it(ns: NameServerSession) -> None:
    one = alone(ns)
    one.applies() >> Reply(SUCCESS)
    one.applies() >> Reply(SUCCESS)
    named = {"clusterName": one.cluster, "brokerName": one.name}
    Replica(ns, one.name, one.cluster, 1).applies() >> Reply(ID_INVALID, ext=named)
    next_id(ns, one) >> numbered(one, 2)
    listed = {"brokerName": one.name, "brokerId": 1, "brokerAddress": one.address, "alive": False}
    ns.replicas(one.name).of(one.name) >> Reply(SUCCESS, Including({"notInSyncReplicas": [listed]}))


@case(kills=["name-begins-with-any-id"], setup=CONTROLLER)
def test_first_id_is_one(ns: NameServerSession) -> None:
    second = alone(ns, 2)
    second.applies() >> Reply(ID_INVALID)
    ns.replica_info(second.name) >> Reply(UNKNOWN)
    Replica(ns, second.name, second.cluster, 1).applies() >> Reply(SUCCESS)
    ns.replica_info(second.name) >> Reply(SUCCESS)


@case(kills=["only-the-next-id-is-given"], setup=CONTROLLER)
def test_any_free_id_can_be_taken(ns: NameServerSession) -> None:
    one = alone(ns)
    seven = Replica(ns, one.name, one.cluster, 7)
    one.applies() >> Reply(SUCCESS)
    seven.applies() >> Reply(SUCCESS)
    ns.replicas(one.name).of(one.name) >> Reply(SUCCESS, Including({"notInSyncReplicas": dead(one, seven)}))


@case(
    kills=["controller-forgets-at-its-end", "set-in-sync-is-not-written"], setup=CONTROLLER, own_server=True
)
def test_state_survives_a_restart(ns: NameServerSession) -> None:
    one, two = replicas(ns, 2)
    in_sync(ns, two, one)
    ns.restart()
    known = ns.replica_info(one.name)
    known.master >> Reply(SUCCESS, led_by(two, 1))
    known.in_sync >> Reply(SUCCESS, [1, 2])
    known.json >> Reply(SUCCESS, Including({"syncStateSetEpoch": 2}))
    ns.replicas(one.name).alive(one.name) >> Reply(SUCCESS, [])
    next_id(ns, one) >> numbered(one, 3)


@case(
    kills=[
        "id-is-not-written",
        "move-is-not-written",
        "election-is-not-written",
        "loss-of-a-master-is-not-written",
        "forgetting-is-not-written",
        "half-closing-is-not-written",
    ],
    setup=CONTROLLER,
    own_server=True,
)
def test_state_survives_a_kill(ns: NameServerSession) -> None:
    # Each change is the last one before a kill: a later one may have what came before written with it.
    one, two = replicas(ns, 2, living=0)
    ns.restart("kill")
    next_id(ns, one) >> numbered(one, 3)
    two.address = ns.address()
    two.registers() >> Reply(SUCCESS)
    ns.restart("kill")
    ns.replicas(one.name).of(one.name) >> Reply(SUCCESS, Including({"notInSyncReplicas": dead(one, two)}))
    two.elects() >> Reply(SUCCESS)
    ns.restart("kill")
    ns.replica_info(one.name).master >> Reply(SUCCESS, led_by(two, 1))
    two.beats() >> Reply(SUCCESS)
    two.leaves()
    ns.replica_info(one.name).master.eventually() >> Reply(SUCCESS, (None, None, Matching("[2-9]")))
    ns.restart("kill")
    ns.replica_info(one.name).master >> Reply(SUCCESS, (None, None, Matching("[2-9]")))
    ns.clean_broker_data(one.name, one.cluster) >> Reply(SUCCESS)
    ns.restart("kill")
    ns.replica_info(one.name) >> Reply(UNKNOWN)
    (three,) = replicas(ns, 1)
    in_sync(ns, three)
    three.connection.half_close()
    ns.replica_info(three.name).master.eventually() >> Reply(SUCCESS, (None, None, Matching("[2-9]")))
    ns.restart("kill")
    ns.replica_info(three.name).master >> Reply(SUCCESS, (None, None, Matching("[2-9]")))


@case(kills=["registration-tells-no-master", "registration-tells-no-set"], setup=CONTROLLER)
def test_registration_tells_the_master(ns: NameServerSession) -> None:
    one, two = replicas(ns, 2, living=1)
    named = {"clusterName": two.cluster, "brokerName": two.name}
    before = two.registers()
    before >> Reply(SUCCESS, ext=named)
    before.json >> Reply(SUCCESS, {"syncStateSet": [], "syncStateSetEpoch": 0})
    in_sync(ns, one)
    told = {
        **named,
        "masterBrokerId": "1",
        "masterAddress": one.address,
        "masterEpoch": "1",
        "syncStateSetEpoch": "1",
    }
    after = two.registers()
    after >> Reply(SUCCESS, ext=told)
    after.json >> Reply(SUCCESS, {"syncStateSet": [1], "syncStateSetEpoch": 1})


@case(kills=["address-stays-for-ever", "all-move-together"], setup=CONTROLLER)
def test_registration_moves_the_address(ns: NameServerSession) -> None:
    one, two = replicas(ns, 2, living=0)
    two.address = ns.address()
    two.registers() >> Reply(SUCCESS)
    ns.replicas(one.name).of(one.name) >> Reply(SUCCESS, Including({"notInSyncReplicas": dead(one, two)}))


@case(kills=["dead-master-is-told"], setup=CONTROLLER)
def test_dead_master_is_not_told(ns: NameServerSession) -> None:
    one, two = replicas(ns, 2, living=0)
    in_sync(ns, one)
    two.registers() >> Reply(SUCCESS, ext=Including({"masterBrokerId": ABSENT, "masterAddress": ABSENT}))
    ns.replica_info(one.name).master >> Reply(SUCCESS, led_by(one, 1))


@case(
    kills=[
        "unknown-names-are-made",
        "unknown-ids-are-registered",
        "refused-registration-names-nothing",
        "refused-registration-gives-no-reason",
    ],
    setup=CONTROLLER,
)
def test_unknown_brokers_are_refused(ns: NameServerSession) -> None:
    one = alone(ns)
    ext = {"clusterName": one.cluster, "brokerName": one.name}
    not_registered = Reply(NOT_REGISTERED, ext=ext, remark=Matching(one.name))
    one.elects() >> Reply(NOT_REGISTERED)
    one.registers() >> not_registered
    ns.replica_info(one.name) >> Reply(UNKNOWN)
    altered = ns.alter_in_sync(one.name, [1], master=1, master_epoch=1, epoch=1)
    altered >> Reply(NOT_ALTERED)
    cleaned = ns.clean_broker_data(one.name, one.cluster)
    cleaned >> Reply(ResponseCode.CONTROLLER_INVALID_CLEAN_BROKER_METADATA)
    one.applies() >> Reply(SUCCESS)
    Replica(ns, one.name, one.cluster, 2).registers() >> not_registered


def refuses(asked: Exchange, code: ResponseCode) -> None:
    """The answer has this code and a remark."""
    asked >> Reply(code, remark=Matching("."))


@case(
    kills=[
        "elections-are-refused-without-a-reason",
        "heartbeats-are-refused-without-a-reason",
        "unknown-codes-are-refused-without-a-reason",
        "protected-settings-are-refused-without-a-reason",
        "controller-refuses-without-a-reason",
        "refused-registration-gives-no-reason",
    ],
    setup=CONTROLLER,
)
def test_refusals_give_a_reason(ns: NameServerSession) -> None:
    unknown, (one, two) = alone(ns), replicas(ns, 2)
    refuses(ns.alter_in_sync(unknown.name, [1], master=1, master_epoch=1, epoch=1), NOT_ALTERED)
    refuses(unknown.elects(), NOT_REGISTERED)
    refuses(unknown.registers(), NOT_REGISTERED)
    refuses(
        one.connection.call(RequestCode.GET_BROKER_CLUSTER_INFO, None, about="at the controller"),
        ResponseCode.REQUEST_CODE_NOT_SUPPORTED,
    )
    refuses(ns.update_controller({"rocketmqHome": "/nowhere"}), ResponseCode.NO_PERMISSION)
    refuses(ns.replica_info(unknown.name), UNKNOWN)
    refuses(
        ns.clean_broker_data(unknown.name, unknown.cluster),
        ResponseCode.CONTROLLER_INVALID_CLEAN_BROKER_METADATA,
    )
    ext = {"clusterName": one.cluster, "brokerName": one.name, "brokerAddr": one.address}
    refuses(
        one.connection.call(RequestCode.BROKER_HEARTBEAT, ext, about="without brokerId"),
        ResponseCode.CONTROLLER_INVALID_REQUEST,
    )
    refuses(Replica(ns, one.name, one.cluster, 1).applies(), ID_INVALID)
    in_sync(ns, one)
    refuses(one.elects(), ResponseCode.CONTROLLER_MASTER_STILL_EXIST)
    refuses(two.elects(designate=True), ResponseCode.CONTROLLER_ELECT_MASTER_FAILED)
    for ids, master, master_epoch, epoch, code in (
        ([1], 1, 1, 1, NOT_ALTERED),
        ([1, 9], 1, 1, 1, ResponseCode.CONTROLLER_INVALID_REPLICAS),
        ([1, 2], 1, 7, 1, ResponseCode.CONTROLLER_FENCED_MASTER_EPOCH),
        ([1, 2], 1, 1, 7, ResponseCode.CONTROLLER_FENCED_SYNC_STATE_SET_EPOCH),
        ([1, 2], 2, 1, 1, ResponseCode.CONTROLLER_INVALID_MASTER),
    ):
        altered = ns.alter_in_sync(one.name, ids, master=master, master_epoch=master_epoch, epoch=epoch)
        refuses(altered, code)
    one.leaves()
    ns.replica_info(one.name).master.eventually() >> Reply(SUCCESS, (None, None, Matching("[2-9]")))
    refuses(two.elects(), ResponseCode.CONTROLLER_ELECT_MASTER_FAILED)
    refuses(ns.elect_master(one.name, one.cluster, None, False), ResponseCode.CONTROLLER_MASTER_NOT_AVAILABLE)


@case(kills=["missing-fields-are-empty"], setup=CONTROLLER)
def test_missing_fields_are_refused(ns: NameServerSession) -> None:
    name, cluster = ns.name("replicas"), ns.name("cluster")
    Replica(ns, name, cluster, 1).applies() >> Reply(SUCCESS)
    of_name = {"clusterName": cluster, "brokerName": name}
    applied = {**of_name, "appliedBrokerId": "2", "registerCheckCode": "10.0.0.1:1;1"}
    registered = {**of_name, "brokerId": "1", "brokerAddress": "10.0.0.1:1"}
    altered = {"brokerName": name, "masterBrokerId": "1", "masterEpoch": "0"}
    for code, ext, needed in (
        (RequestCode.CONTROLLER_ALTER_SYNC_STATE_SET, altered, ("",)),
        (RequestCode.CONTROLLER_GET_REPLICA_INFO, of_name, ("brokerName",)),
        (RequestCode.CONTROLLER_GET_NEXT_BROKER_ID, of_name, ("brokerName",)),
        (
            RequestCode.CONTROLLER_APPLY_BROKER_ID,
            applied,
            ("brokerName", "appliedBrokerId", "registerCheckCode"),
        ),
        (RequestCode.CONTROLLER_REGISTER_BROKER, registered, ("brokerId", "brokerAddress")),
    ):
        for field in needed:
            left = {key: value for key, value in ext.items() if key != field}
            ns.call(code, left, about=f"without {field or 'a body'}") >> Reply(SYSTEM_ERROR)
    ns.replica_info(name) >> Reply(SUCCESS)
