"""Chapter storage: what a Broker does when its disk is nearly full."""

from harness.conformance import Including, Matching, Reply, case
from harness.conformance.broker.expiring import EXPIRING
from harness.conformance.broker.storage.files import SMALL_FILES, SOME, SUCCESS, filled, kept
from harness.conformance.broker.tools import asked, state_of
from harness.session import BrokerSession
from harness.wire import RequestCode, ResponseCode
from harness.wire.messages import decode_offset_id

NEARLY_FULL = {**SMALL_FILES, "deleteWhen": "99", "diskSpaceCleanForciblyRatio": "30"}
FULL = {
    "cleanFileForciblyEnable": "false",
    "diskSpaceWarningLevelRatio": "35",
    "transactionCheckInterval": "600000",
}
CLOSED = r"^service not available now\. .* disk is full \[CL: +\d\.\d\d CQ: +\d\.\d\d INDEX: +\d\.\d\d\], "


def is_used(bk: BrokerSession, percent: int) -> bool:
    """Whether more of the Broker's disk is used than that, by its own word."""
    state = asked(bk, RequestCode.GET_BROKER_RUNTIME_INFO, state_of)
    ratio = Including({"commitLogDiskRatio": Matching(r"^[01]\.\d\d?$")})
    return float((state >> Reply(SUCCESS, ratio)).value["commitLogDiskRatio"]) * 100 > percent


@case(
    kills=["expired-files-stay-on-a-full-disk", "disk-is-empty"],
    clock=True,
    own_server=True,
    setup={**EXPIRING, "deleteWhen": "99", "diskMaxUsedSpaceRatio": "3"},
)
def test_expired_files_make_room(bk: BrokerSession) -> None:
    old, topic, _ = filled(bk)
    if is_used(bk, 10):
        kept(bk, old, topic)
    else:
        bk.min_offset(topic, 2).offset >> Reply(SUCCESS, 0)


@case(kills=["oldest-files-stay-on-a-full-disk"], clock=True, own_server=True, setup=NEARLY_FULL)
def test_oldest_files_make_room(bk: BrokerSession) -> None:
    old, topic, _ = filled(bk)
    makes_room = is_used(bk, 30)
    bk.min_offset(old, 1).offset.eventually() >> Reply(SUCCESS, 6 if makes_room else 0)
    bk.max_offset(topic, 2).offset >> Reply(SUCCESS, 8)


@case(
    kills=["oldest-files-go-against-the-settings"],
    clock=True,
    own_server=True,
    setup={**NEARLY_FULL, "cleanFileForciblyEnable": "false"},
)
def test_oldest_files_stay_where_settings_keep_them(bk: BrokerSession) -> None:
    old, _, place = filled(bk)
    bk.min_offset(old, 1).offset >> Reply(SUCCESS, 0)
    bk.view(place).bodies >> Reply(SUCCESS, [SOME])


@case(
    kills=["full-disks-take-messages", "full-disks-take-batches", "full-disks-stay-full"],
    clock=True,
    own_server=True,
    setup=FULL,
)
def test_full_disk_takes_no_message(bk: BrokerSession) -> None:
    topic, group = bk.topic(), bk.group()
    sent = bk.send(topic, b"first", 1).ids >> Reply(SUCCESS)
    place = decode_offset_id(sent.value[0])[1]
    bk.advance(60 + 10 + 10 + bk.jitter)
    if is_used(bk, 35):
        closed = Reply(ResponseCode.SERVICE_NOT_AVAILABLE, remark=Matching(CLOSED))
        bk.send(topic, b"refused", 1) >> closed
        bk.send_batch(topic, [b"refused", b"refused"], 1) >> closed
        back = Reply(ResponseCode.SYSTEM_ERROR, remark="SERVICE_NOT_AVAILABLE")
        bk.send_back(group, place, 1, topic=topic) >> back
    bk.pull(topic, 1).bodies >> Reply(SUCCESS, [b"first"])
    bk.update_config({"diskSpaceWarningLevelRatio": "90"}) >> Reply(SUCCESS)
    bk.advance(10 + bk.jitter)
    bk.send(topic, b"second", 1).offset.eventually() >> Reply(SUCCESS, 1)
    bk.pull(topic, 1).bodies.eventually() >> Reply(SUCCESS, [b"first", b"second"])


@case(
    kills=["full-disks-take-what-was-delayed", "full-disks-lose-what-was-delayed"],
    clock=True,
    own_server=True,
    setup=FULL,
)
def test_delayed_messages_wait_for_room(bk: BrokerSession) -> None:
    topic = bk.topic()
    bk.send(topic, b"late", 1, properties={"DELAY": "6"}) >> Reply(SUCCESS)
    bk.advance(2 * 60 + 10 + bk.jitter)
    bk.max_offset(topic, 1).offset >> Reply(SUCCESS, 0 if is_used(bk, 35) else 1)
    bk.update_config({"diskSpaceWarningLevelRatio": "90"}) >> Reply(SUCCESS)
    bk.advance(10 + 10 + bk.jitter)
    bk.pull(topic, 1).bodies.eventually() >> Reply(SUCCESS, [b"late"])
