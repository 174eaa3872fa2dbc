"""Chapter controller: names beyond ASCII, wide numbers, long bodies."""

from __future__ import annotations

from harness.conformance import Reply, case
from harness.conformance.nameserver.controller.replicas import Replica, in_sync, led_by, replicas
from harness.conformance.nameserver.settings import CONTROLLER
from harness.session import NameServerSession
from harness.wire import RequestCode, ResponseCode

SUCCESS, SYSTEM_ERROR = ResponseCode.SUCCESS, ResponseCode.SYSTEM_ERROR
ID_INVALID = ResponseCode.CONTROLLER_BROKER_ID_INVALID
FAR = 1 << 40
"""Of the numbers that are added to it, an int keeps only the rest."""
WIDE = 4_294_970
"""Seconds that in milliseconds are three seconds as an int."""
BY_DEFAULT = 10
"""Seconds that a heartbeat counts which does not say it."""
LONG_LIST = range(10**12, 10**12 + 6_000)
"""More than 64 KiB of ids."""


def named(ns: NameServerSession, name: str, cluster: str, number: int, mark: str = "") -> Replica:
    """A Broker of a name; its check code ends in a mark."""
    made = Replica(ns, name, cluster, number)
    made.check_code += mark
    return made


@case(
    kills=["names-are-kept-in-ascii", "check-codes-are-compared-in-ascii", "clusters-are-kept-in-ascii"],
    setup=CONTROLLER,
)
def test_names_beyond_ascii_are_kept(ns: NameServerSession) -> None:
    name, cluster = f"é中{ns.name('replicas')}", f"主😀{ns.name('cluster')}"
    other = name.replace("é", "è")
    told = {"clusterName": cluster, "brokerName": name}
    one, two = named(ns, name, cluster, 1, "é"), named(ns, name, cluster, 2)
    one.applies() >> Reply(SUCCESS, ext=told)
    one.applies() >> Reply(SUCCESS)
    one.check_code = one.check_code.replace("é", "è")
    one.applies() >> Reply(ID_INVALID)
    two.applies() >> Reply(SUCCESS, ext=told)
    ns.next_broker_id(name, cluster) >> Reply(SUCCESS, ext={**told, "nextBrokerId": "3"})
    named(ns, other, cluster, 1).applies() >> Reply(SUCCESS)
    ns.next_broker_id(other, cluster) >> Reply(
        SUCCESS, ext={"clusterName": cluster, "brokerName": other, "nextBrokerId": "2"}
    )
    for broker in (one, two):
        broker.beats() >> Reply(SUCCESS)
        broker.registers() >> Reply(SUCCESS, ext=told)
    in_sync(ns, two, one)
    ns.replica_info(name).master >> Reply(SUCCESS, led_by(two, 1))
    ns.replicas(name, other).alive(name) >> Reply(SUCCESS, [1, 2])
    one.leaves()
    ns.replicas(name).alive(name).eventually() >> Reply(SUCCESS, [2])
    ns.clean_broker_data(name, cluster, "1") >> Reply(SUCCESS)
    ns.replica_info(name).in_sync >> Reply(SUCCESS, [2])


@case(kills=["ids-are-kept-as-ints", "masters-are-compared-as-ints"], setup=CONTROLLER)
def test_ids_are_wide(ns: NameServerSession) -> None:
    (one,) = replicas(ns, 1)
    near, far, further = (Replica(ns, one.name, one.cluster, number) for number in (7, FAR + 7, FAR + 8))
    for broker in (near, far, further):
        broker.applies() >> Reply(SUCCESS)
        broker.beats(confirmOffset=broker.id) >> Reply(SUCCESS)
        broker.registers() >> Reply(SUCCESS)
    ns.replicas(one.name).alive(one.name) >> Reply(SUCCESS, [1, 7, FAR + 7, FAR + 8])
    in_sync(ns, far, near, further)
    ns.replica_info(one.name).master >> Reply(SUCCESS, led_by(far, 1))
    for master, answer in (
        (7, Reply(ResponseCode.CONTROLLER_INVALID_MASTER)),
        (FAR + 7, Reply(SUCCESS, ext={"newSyncStateSetEpoch": "3"})),
    ):
        ns.alter_in_sync(one.name, [7, FAR + 7], master=master, master_epoch=1, epoch=2) >> answer
    ns.replica_info(one.name).in_sync >> Reply(SUCCESS, [7, FAR + 7])
    near.elects(designate=True) >> Reply(SUCCESS)
    ns.replica_info(one.name).master >> Reply(SUCCESS, led_by(near, 2))
    for epoch in (3, 2):
        altered = ns.alter_in_sync(one.name, [7, FAR + 8], master=7, master_epoch=epoch, epoch=4)
        fenced = ResponseCode.CONTROLLER_FENCED_MASTER_EPOCH
        altered >> Reply(SUCCESS if epoch == 2 else fenced)


@case(kills=["times-of-heartbeats-are-ints"], setup=CONTROLLER, clock=True)
def test_times_of_heartbeats_are_wide(ns: NameServerSession) -> None:
    one, two, three = replicas(ns, 3, living=0)
    one.beats(WIDE) >> Reply(SUCCESS)
    two.beats(None) >> Reply(SUCCESS)
    three.beats() >> Reply(SUCCESS)
    ns.advance(2 * BY_DEFAULT)
    ns.replicas(one.name).alive(one.name) >> Reply(SUCCESS, [1, 3])


@case(kills=["long-lists-are-not-read", "unknown-ids-are-in-sync"], setup=CONTROLLER)
def test_long_lists_are_read(ns: NameServerSession) -> None:
    one, two = replicas(ns, 2)
    one.elects() >> Reply(SUCCESS)
    altered = ns.alter_in_sync(one.name, [1, 2, *LONG_LIST], master=1, master_epoch=1, epoch=1)
    altered >> Reply(ResponseCode.CONTROLLER_INVALID_REPLICAS)
    ns.replica_info(one.name).in_sync >> Reply(SUCCESS, [1])
    altered = ns.alter_in_sync(one.name, [1, two.id] * 20_000, master=1, master_epoch=1, epoch=1)
    altered.in_sync >> Reply(SUCCESS, [1, 2])


@case(kills=["sets-that-are-no-utf-8-are-read", "names-that-are-no-utf-8-are-read"], setup=CONTROLLER)
def test_no_utf_8_is_refused(ns: NameServerSession) -> None:
    one, _ = replicas(ns, 2)
    one.elects() >> Reply(SUCCESS)
    ext = {"brokerName": one.name, "masterBrokerId": "1", "masterEpoch": "1"}
    for text, code, ids in ((b"\xff", SYSTEM_ERROR, [1]), (b"\xc3\xbf", SUCCESS, [1, 2])):
        body = b'{"syncStateSet":[1,2],"syncStateSetEpoch":1,"x":"%b"}' % text
        ns.call(RequestCode.CONTROLLER_ALTER_SYNC_STATE_SET, ext, body) >> Reply(code)
        ns.replica_info(one.name).in_sync >> Reply(SUCCESS, ids)
        names = b'["%b","%b"]' % (one.name.encode(), text)
        ns.call(RequestCode.CONTROLLER_GET_SYNC_STATE_DATA, None, names) >> Reply(code)
