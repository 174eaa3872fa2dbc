"""Chapter controller: the set of Brokers that are in sync, and who asks about it."""

from __future__ import annotations

from harness.conformance import Containing, Reply, case
from harness.conformance.nameserver.controller.replicas import Replica, in_sync, led_by, replicas
from harness.conformance.nameserver.settings import CONTROLLER
from harness.session import NameServerSession
from harness.session.exchange import Exchange
from harness.session.nameserver.controller import MasterExchange
from harness.wire import RequestCode, ResponseCode
from harness.wire.bodies import SyncStateSet

SUCCESS, SYSTEM_ERROR = ResponseCode.SUCCESS, ResponseCode.SYSTEM_ERROR
NOT_ALTERED = ResponseCode.CONTROLLER_ALTER_SYNC_STATE_SET_FAILED


def alters(
    ns: NameServerSession, master: Replica, *ids: int, master_epoch: int = 1, epoch: int = 1
) -> MasterExchange:
    """1001 of a Broker that says who is in sync with it."""
    return ns.alter_in_sync(master.name, list(ids), master=master.id, master_epoch=master_epoch, epoch=epoch)


def of_no_one(ns: NameServerSession, master: Replica, epoch: int) -> Exchange:
    """1001 with two ids that does not say who asks."""
    ext = {"brokerName": master.name, "masterEpoch": f"{epoch}"}
    body = SyncStateSet([1, 2], epoch).encode()
    return ns.call(RequestCode.CONTROLLER_ALTER_SYNC_STATE_SET, ext, body, about="without masterBrokerId")


def unaltered(ns: NameServerSession, master: Replica) -> None:
    """The master is alone in sync, as after its election."""
    shown = ns.replica_info(master.name)
    shown.master >> Reply(SUCCESS, led_by(master, 1))
    shown.json >> Reply(SUCCESS, {"syncStateSet": [master.id], "syncStateSetEpoch": 1})


@case(
    kills=["set-in-sync-only-grows", "epoch-of-the-set-stays", "master-epoch-goes-with-the-set"],
    setup=CONTROLLER,
)
def test_master_alters_the_in_sync_set(ns: NameServerSession) -> None:
    one, _, _ = replicas(ns, 3)
    one.elects() >> Reply(SUCCESS)
    for ids, epoch in (([1, 2, 3], 2), ([1, 3], 3)):
        altered = alters(ns, one, *ids, epoch=epoch - 1)
        altered >> Reply(SUCCESS, ext={"newSyncStateSetEpoch": str(epoch)})
        altered.in_sync >> Reply(SUCCESS, ids)
    shown = ns.replica_info(one.name)
    shown.master >> Reply(SUCCESS, led_by(one, 1))
    shown.in_sync >> Reply(SUCCESS, [1, 3])
    alters(ns, one, 1, epoch=3) >> Reply(SUCCESS, ext={"newSyncStateSetEpoch": "4"})


@case(
    kills=["anyone-alters-the-set", "no-one-is-the-missing-master", "who-is-not-named-is-the-master"],
    setup=CONTROLLER,
)
def test_only_the_master_alters_it(ns: NameServerSession) -> None:
    one, two = replicas(ns, 2)
    invalid = Reply(ResponseCode.CONTROLLER_INVALID_MASTER)
    alters(ns, one, 1, master_epoch=0, epoch=0) >> invalid
    of_no_one(ns, one, 0) >> invalid
    one.elects() >> Reply(SUCCESS)
    alters(ns, two, 1, 2) >> invalid
    of_no_one(ns, one, 1) >> invalid
    unaltered(ns, one)


@case(
    kills=["master-epochs-are-not-fenced", "set-epochs-are-not-fenced", "epoch-of-a-set-is-one-by-default"],
    setup=CONTROLLER,
)
def test_other_epochs_are_fenced(ns: NameServerSession) -> None:
    one, _ = replicas(ns, 2)
    one.elects() >> Reply(SUCCESS)
    for other in (0, 2):
        fenced = alters(ns, one, 1, 2, master_epoch=other)
        fenced >> Reply(ResponseCode.CONTROLLER_FENCED_MASTER_EPOCH)
    for other in (0, 2):
        fenced = alters(ns, one, 1, 2, epoch=other)
        fenced >> Reply(ResponseCode.CONTROLLER_FENCED_SYNC_STATE_SET_EPOCH)
    ext = {"brokerName": one.name, "masterBrokerId": "1", "masterEpoch": "1"}
    for body in (b'{"syncStateSet":[1,2]}', b"{'syncStateSet':[1,2]}"):
        unnumbered = ns.call(RequestCode.CONTROLLER_ALTER_SYNC_STATE_SET, ext, body)
        unnumbered >> Reply(ResponseCode.CONTROLLER_FENCED_SYNC_STATE_SET_EPOCH)
    unaltered(ns, one)


@case(kills=["unknown-ids-are-in-sync", "dead-brokers-are-in-sync"], setup=CONTROLLER)
def test_in_sync_brokers_are_known_and_live(ns: NameServerSession) -> None:
    one, two = replicas(ns, 2, living=1)
    one.elects() >> Reply(SUCCESS)
    for unknown in ((1, 9), (9, 1)):
        alters(ns, one, *unknown) >> Reply(ResponseCode.CONTROLLER_INVALID_REPLICAS)
    for dead in ((1, 2), (2, 1)):
        alters(ns, one, *dead) >> Reply(ResponseCode.CONTROLLER_BROKER_NOT_ALIVE)
    unaltered(ns, one)
    two.beats() >> Reply(SUCCESS)
    alters(ns, one, 1, 2).in_sync >> Reply(SUCCESS, [1, 2])


@case(kills=["same-set-is-taken", "master-need-not-be-in-sync"], setup=CONTROLLER)
def test_in_sync_set_changes_and_has_the_master(ns: NameServerSession) -> None:
    one, _ = replicas(ns, 2)
    one.elects() >> Reply(SUCCESS)
    alters(ns, one, 1) >> Reply(NOT_ALTERED)
    alters(ns, one, 2) >> Reply(NOT_ALTERED)
    unaltered(ns, one)


@case(kills=["refused-sets-have-no-epoch", "refused-sets-have-their-epoch"], setup=CONTROLLER)
def test_refused_set_has_the_epoch_zero(ns: NameServerSession) -> None:
    one, two, _ = replicas(ns, 3, living=2)
    unknown = Replica(ns, ns.name("unknown"), one.cluster, 1)
    in_sync(ns, one, two)
    for master, ids, master_epoch, epoch, code in (
        (unknown, [1], 1, 2, NOT_ALTERED),
        (one, [1, 2], 1, 2, NOT_ALTERED),
        (one, [2], 1, 2, NOT_ALTERED),
        (two, [1], 1, 2, ResponseCode.CONTROLLER_INVALID_MASTER),
        (one, [1], 7, 2, ResponseCode.CONTROLLER_FENCED_MASTER_EPOCH),
        (one, [1], 1, 1, ResponseCode.CONTROLLER_FENCED_SYNC_STATE_SET_EPOCH),
        (one, [1, 9], 1, 2, ResponseCode.CONTROLLER_INVALID_REPLICAS),
        (one, [1, 3], 1, 2, ResponseCode.CONTROLLER_BROKER_NOT_ALIVE),
    ):
        refused = alters(ns, master, *ids, master_epoch=master_epoch, epoch=epoch)
        refused >> Reply(code, ext={"newSyncStateSetEpoch": "0"})


@case(kills=["unreadable-sets-are-read-last"], setup=CONTROLLER)
def test_unreadable_set_is_refused_first(ns: NameServerSession) -> None:
    one, _ = replicas(ns, 2)
    in_sync(ns, one)
    for name, master_epoch in ((one.name, 7), (ns.name("unknown"), 1), (one.name, 1)):
        ext = {"brokerName": name, "masterBrokerId": "1", "masterEpoch": f"{master_epoch}"}
        ns.call(RequestCode.CONTROLLER_ALTER_SYNC_STATE_SET, ext, b'{"syncStateSet":[1') >> Reply(
            SYSTEM_ERROR
        )
    unaltered(ns, one)
    alters(ns, one, 1, 2).in_sync >> Reply(SUCCESS, [1, 2])


@case(kills=["replica-info-hides-the-master", "names-begin-with-a-master"], setup=CONTROLLER)
def test_replica_info_shows_the_master(ns: NameServerSession) -> None:
    one, two = replicas(ns, 2)
    before = ns.replica_info(one.name)
    before >> Reply(SUCCESS, ext={"masterEpoch": "0"})
    before.json >> Reply(SUCCESS, {"syncStateSet": [], "syncStateSetEpoch": 0})
    two.elects() >> Reply(SUCCESS)
    told = {"masterBrokerId": "2", "masterAddress": two.address, "masterEpoch": "1"}
    ns.replica_info(one.name) >> Reply(SUCCESS, ext=told)
    unaltered(ns, two)


@case(
    kills=[
        "all-brokers-are-in-sync",
        "only-the-first-name-is-shown",
        "all-brokers-live",
        "epochs-are-shown-for-each-other",
    ],
    setup=CONTROLLER,
)
def test_sync_state_data_shows_every_broker(ns: NameServerSession) -> None:
    one, two, three = replicas(ns, 3, living=2)
    (other,) = replicas(ns, 1, living=0)
    in_sync(ns, two, one)
    alters(ns, two, 2, epoch=2) >> Reply(SUCCESS)
    shown = ns.replicas(one.name, ns.name("unknown"), other.name)

    def seen(of: Replica, *, alive: bool) -> dict[str, object]:
        return {"alive": alive, "brokerAddress": of.address, "brokerId": of.id, "brokerName": of.name}

    shown.of(one.name) >> Reply(
        SUCCESS,
        {
            "inSyncReplicas": [seen(two, alive=True)],
            "masterAddress": two.address,
            "masterBrokerId": 2,
            "masterEpoch": 1,
            "notInSyncReplicas": [seen(one, alive=True), seen(three, alive=False)],
            "syncStateSetEpoch": 3,
        },
    )
    shown.of(other.name) >> Reply(
        SUCCESS,
        {
            "inSyncReplicas": [],
            "masterEpoch": 0,
            "notInSyncReplicas": [seen(other, alive=False)],
            "syncStateSetEpoch": 0,
        },
    )


@case(kills=["loose-names-are-refused"], setup=CONTROLLER)
def test_loose_names_are_read(ns: NameServerSession) -> None:
    (one,), (two,) = replicas(ns, 1), replicas(ns, 1, living=0)
    for broker in (one, two):
        names = f"['{ns.name('unknown')}', '{broker.name}',]".encode()
        asked = ns.call(RequestCode.CONTROLLER_GET_SYNC_STATE_DATA, None, names)
        asked >> Reply(SUCCESS, body=Containing(broker.address))


@case(kills=["no-names-are-none"], setup=CONTROLLER)
def test_sync_state_data_needs_names(ns: NameServerSession) -> None:
    refused = Reply(ResponseCode.SYSTEM_ERROR)
    ns.replicas(ns.name("unknown")) >> Reply(SUCCESS)
    ns.replicas() >> refused
    ns.call(RequestCode.CONTROLLER_GET_SYNC_STATE_DATA, None, b"[]") >> refused
