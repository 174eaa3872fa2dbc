"""Chapter storage: what a Broker has acknowledged survives a kill, a stop and a restart."""

from harness.conformance import ANYTHING, Between, Including, Matching, Reply, case
from harness.conformance.broker.expiring import EXPIRING
from harness.conformance.broker.replication.logs import end, put
from harness.conformance.broker.tools import asked, state_of
from harness.session import BrokerSession
from harness.session.transport import Ending
from harness.wire import RequestCode, ResponseCode
from harness.wire.messages import decode_offset_id

SUCCESS = ResponseCode.SUCCESS
SOME = b"x" * 20_000
"""Three or four of them fill a file of the log."""
FILE = 65_536
SMALL_FILES = {"mappedFileSizeCommitLog": str(FILE)}
ENDINGS: tuple[tuple[int, Ending], ...] = ((0, "term"), (7, "kill"), (14, "term"))
"""How many messages there are before, and how it ends."""


@case(kills=["offsets-skip-one", "queues-share-offsets"])
def test_offsets_are_consecutive(bk: BrokerSession) -> None:
    topic = bk.topic()
    for number in range(3):
        for queue in (0, 1, 3):
            bk.send(topic, b"%d" % number, queue=queue).offset >> Reply(SUCCESS, number)
    for queue in (0, 1, 3):
        pull = bk.pull(topic, queue=queue)
        pull.bodies.eventually() >> Reply(SUCCESS, [b"0", b"1", b"2"])
        pull.offsets >> Reply(SUCCESS, [0, 1, 2])


@case(
    kills=["hands-over-late", "recovery-ends-behind-four-megabytes", "recovery-ends-at-a-large-message"],
    own_server=True,
    setup={"maxMessageSize": "8388608"},
)
def test_messages_survive_a_kill(bk: BrokerSession) -> None:
    topic, large = bk.topic(), [b"a" * 3_000_000, b"b" * 5_000_000, b"c" * 3_000_000]
    for number, body in enumerate(large):
        bk.send(topic, body, queue=1).offset >> Reply(SUCCESS, number)
    for number in range(5):
        bk.send(topic, b"%d" % number, keys="k") >> Reply(SUCCESS)
    pull = bk.pull(topic)
    pull.offsets.eventually() >> Reply(SUCCESS, [0, 1, 2, 3, 4])
    before = pull.body >> Reply(SUCCESS)
    bk.restart("kill")
    bk.pull(topic).body.eventually() >> Reply(SUCCESS, before.value)
    for number, body in enumerate(large):
        bk.pull(topic, queue=1, offset=number, most=1).bodies.eventually() >> Reply(SUCCESS, [body])


@case(kills=["hands-over-late"], own_server=True)
def test_messages_survive_a_stop(bk: BrokerSession) -> None:
    topic = bk.topic()
    bk.send_batch(topic, [b"one", b"two"]) >> Reply(SUCCESS)
    pull = bk.pull(topic)
    pull.offsets.eventually() >> Reply(SUCCESS, [0, 1])
    before = pull.body >> Reply(SUCCESS)
    bk.restart()
    bk.pull(topic).body.eventually() >> Reply(SUCCESS, before.value)


@case(kills=["queues-begin-anew"], own_server=True)
def test_offsets_go_on_after_a_kill(bk: BrokerSession) -> None:
    topic = bk.topic()
    for number in range(3):
        bk.send(topic, queue=1).offset >> Reply(SUCCESS, number)
    bk.restart("kill")
    bk.max_offset(topic, 1).offset.eventually() >> Reply(SUCCESS, 3)
    bk.send(topic, b"after", queue=1).offset >> Reply(SUCCESS, 3)
    bk.pull(topic, queue=1, offset=3).bodies.eventually() >> Reply(SUCCESS, [b"after"])


@case(kills=["keys-are-forgotten"], own_server=True)
def test_keys_survive_a_kill(bk: BrokerSession) -> None:
    topic = bk.topic()
    bk.send(topic, b"wanted", keys="k1 k2") >> Reply(SUCCESS)
    bk.find(topic, "k2").bodies.eventually() >> Reply(SUCCESS, [b"wanted"])
    bk.restart("kill")
    found = bk.find(topic, "k2")
    found.bodies.eventually() >> Reply(SUCCESS, [b"wanted"])
    found.properties >> Reply(SUCCESS, [Including({"KEYS": "k1 k2"})])


@case(
    kills=[
        "restarts-keep-one-topic",
        "restarts-keep-one-queue",
        "queues-begin-anew",
        "deleted-topics-come-back",
    ],
    own_server=True,
)
def test_deletion_of_a_topic_keeps_others(bk: BrokerSession) -> None:
    gone, topic, other = bk.topic("gone"), bk.topic(), bk.topic("U")
    for name, queue, body in ((gone, 0, b"0"), (topic, 1, b"1"), (topic, 3, b"2"), (other, 2, b"3")):
        bk.send(name, body, queue, keys="k") >> Reply(SUCCESS)
    bk.delete_topic(gone) >> Reply(SUCCESS)
    bk.send(topic, b"4", 3, keys="k").offset >> Reply(SUCCESS, 1)
    bk.find(topic, "k").bodies.eventually() >> Reply(SUCCESS, Including([b"1", b"2", b"4"]))
    for _ in range(2):
        bk.restart("kill")
        bk.pull(gone) >> Reply(ResponseCode.TOPIC_NOT_EXIST)
        bk.pull(topic, 1).bodies.eventually() >> Reply(SUCCESS, [b"1"])
        bk.pull(topic, 3).bodies.eventually() >> Reply(SUCCESS, [b"2", b"4"])
        bk.pull(other, 2).bodies.eventually() >> Reply(SUCCESS, [b"3"])
        bk.find(topic, "k").bodies.eventually() >> Reply(SUCCESS, Including([b"1", b"2", b"4"]))
    bk.send(other, b"5", 2).offset >> Reply(SUCCESS, 1)


@case(kills=["deleted-queues-come-back"])
def test_topic_that_is_made_again_is_empty(bk: BrokerSession) -> None:
    topic, others = bk.topic(), [bk.topic("other"), bk.topic("another")]
    for name, queue in ((others[0], 0), (others[1], 0), (topic, 1), (topic, 3), (topic, 1), (topic, 3)):
        bk.send(name, b"old", queue) >> Reply(SUCCESS)
    bk.max_offset(topic, 3).offset.eventually() >> Reply(SUCCESS, 2)
    for gone in (others[0], topic):
        bk.delete_topic(gone) >> Reply(SUCCESS)
    bk.create_topic(topic, 4) >> Reply(SUCCESS)
    for queue in (1, 3):
        bk.max_offset(topic, queue).offset.eventually() >> Reply(SUCCESS, 0)
        bk.send(topic, b"new", queue).offset >> Reply(SUCCESS, 0)
    bk.delete_topic(others[1]) >> Reply(SUCCESS)
    for queue in (1, 3):
        bk.pull(topic, queue).bodies.eventually() >> Reply(SUCCESS, [b"new"])


@case(
    kills=["restarts-keep-the-last-file", "batches-keep-the-place-they-had"],
    own_server=True,
    setup=SMALL_FILES,
)
def test_several_files_survive(bk: BrokerSession) -> None:
    topic = bk.topic()
    for before, how in ENDINGS:
        for number in range(before, before + 5):
            bk.send(topic, SOME + b"%d" % number, 1).offset >> Reply(SUCCESS, number)
        batch = [SOME + b"%d" % number for number in (before + 5, before + 6)]
        bk.send_batch(topic, batch, 1).offset >> Reply(SUCCESS, before + 5)
        bk.max_offset(topic, 1).offset.eventually() >> Reply(SUCCESS, before + 7)
        bk.restart(how)
        bk.max_offset(topic, 1).offset.eventually() >> Reply(SUCCESS, before + 7)
        for number in range(before + 7):
            bk.pull(topic, 1, number, most=1).bodies.eventually() >> Reply(SUCCESS, [SOME + b"%d" % number])


@case(kills=["restarts-forget-the-file", "files-have-no-end"], own_server=True, setup=SMALL_FILES)
def test_files_begin_at_multiples(bk: BrokerSession) -> None:
    topic = bk.topic()
    for number in range(12):
        if number in (4, 8):
            bk.restart("kill" if number == 4 else "term")
        bk.send(topic, SOME, 1).offset >> Reply(SUCCESS, number)
    for number in (3, 6, 9):
        pull = bk.pull(topic, 1, number, most=1).seen("place", lambda one: one.physical_offset)
        pull.eventually() >> Reply(SUCCESS, [number // 3 * FILE])


@case(kills=["blanks-need-no-room", "blanks-need-more-room"], own_server=True, setup=SMALL_FILES)
def test_file_keeps_room_for_a_blank(bk: BrokerSession) -> None:
    topic = bk.topic()
    begin = end(bk, put(bk, topic, b"small"))
    rest = FILE - begin - (begin - len(b"small"))
    for body in (b"x" * (rest - 8), b"small", b"y" * (rest - 7)):
        bk.send(topic, body) >> Reply(SUCCESS)
    pull = bk.pull(topic).seen("place", lambda one: one.physical_offset)
    pull.eventually() >> Reply(SUCCESS, [0, begin, FILE, 2 * FILE])


# -- what is too old -----------------------------------------------------------------------------------------


def filled(bk: BrokerSession) -> tuple[str, str, int]:
    """Several files of the log: six messages in one topic, then eight in another; the place of the second.

    (Apache shows what is first in the log for the place 0.)
    """
    old, topic = bk.topic("old"), bk.topic()
    bk.send(old, SOME, 1, keys="k") >> Reply(SUCCESS)
    sent = bk.send(old, SOME, 1, keys="k").ids >> Reply(SUCCESS)
    for _ in range(4):
        bk.send(old, SOME, 1, keys="k") >> Reply(SUCCESS)
    for number in range(8):
        bk.send(topic, SOME + b"%d" % number, 2, keys="k").offset >> Reply(SUCCESS, number)
    bk.max_offset(topic, 2).offset.eventually() >> Reply(SUCCESS, 8)
    bk.advance(60 + 10 + 10 + bk.jitter)
    return old, topic, decode_offset_id(sent.value[0])[1]


def kept(bk: BrokerSession, old: str, topic: str) -> int:
    """The second topic has lost its beginning, and goes on to its end; the lowest offset that it has."""
    low = (bk.min_offset(topic, 2).offset.eventually() >> Reply(SUCCESS, Between(1, 7))).value
    bk.max_offset(old, 1).offset >> Reply(SUCCESS, 6)
    bk.pull(topic, 2).next_offset >> Reply(ResponseCode.PULL_OFFSET_MOVED, low)
    pull = bk.pull(topic, 2, low, most=1)
    pull.bounds >> Reply(SUCCESS, (low, 8))
    pull.bodies >> Reply(SUCCESS, [SOME + b"%d" % low])
    return int(low)


@case(
    kills=["old-files-stay", "low-offsets-stay", "two-files-stay"],
    clock=True,
    own_server=True,
    setup=EXPIRING,
)
def test_expired_files_are_deleted(bk: BrokerSession) -> None:
    old, topic, place = filled(bk)
    bk.min_offset(topic, 2).offset.eventually() >> Reply(SUCCESS, 6)  # Each file has three messages.
    low = kept(bk, old, topic)
    bk.view(place) >> Reply(ResponseCode.SYSTEM_ERROR, remark=f"can not find message by the offset, {place}")
    stored = bk.pull(topic, 2, low, most=1).seen("store time", lambda one: one.store_timestamp)
    time = (stored >> Reply(SUCCESS, [ANYTHING])).value[0]
    bk.earliest_time(topic, 2).number("timestamp") >> Reply(SUCCESS, time)
    bk.earliest_time(old, 1).number("timestamp") >> Reply(SUCCESS, -1)
    bk.offset_at(topic, 2, 1).offset >> Reply(SUCCESS, low)
    found = bk.find(topic, "k").seen("offset", lambda one: one.queue_offset)
    found >> Reply(SUCCESS, Including(list(range(low, 8))))
    bk.find(old, "k") >> Reply(ResponseCode.QUERY_NOT_FOUND)
    bk.committed(bk.group(), topic, 2).offset >> Reply(ResponseCode.QUERY_NOT_FOUND)


@case(kills=["empty-queues-begin-anew"], clock=True, own_server=True, setup=EXPIRING)
def test_offsets_go_on_behind_expired_files(bk: BrokerSession) -> None:
    old, topic, _ = filled(bk)
    low = kept(bk, old, topic)
    bk.restart("kill")
    bk.max_offset(topic, 2).offset.eventually() >> Reply(SUCCESS, 8)
    bk.min_offset(topic, 2).offset.eventually() >> Reply(SUCCESS, low)
    bk.send(old, b"new", 1).offset >> Reply(SUCCESS, 6)
    bk.send(topic, b"new", 2).offset >> Reply(SUCCESS, 8)
    bk.pull(old, 1, 6).bodies.eventually() >> Reply(SUCCESS, [b"new"])


@case(
    kills=["expired-files-are-looked-for-every-10-s"],
    clock=True,
    own_server=True,
    setup={**EXPIRING, "cleanResourceInterval": "200000"},
)
def test_time_between_looks_for_expired_files(bk: BrokerSession) -> None:
    _, topic, _ = filled(bk)
    for number in range(8, 16):
        bk.send(topic, SOME, 2).offset >> Reply(SUCCESS, number)
    low = (bk.min_offset(topic, 2).offset >> Reply(SUCCESS, Between(0, 7))).value
    bk.advance(60)
    bk.min_offset(topic, 2).offset >> Reply(SUCCESS, low)
    bk.advance(150 + bk.jitter)
    bk.min_offset(topic, 2).offset.eventually() >> Reply(SUCCESS, Between(low + 1, 15))


@case(
    kills=["deletion-of-files-is-refused", "young-files-go-when-asked"],
    clock=True,
    own_server=True,
    setup={**SMALL_FILES, "fileReservedTime": "1", "deleteWhen": "99"},
)
def test_deletion_of_files_keeps_younger_ones(bk: BrokerSession) -> None:
    old, topic, place = filled(bk)
    bk.call(RequestCode.DELETE_EXPIRED_COMMITLOG) >> Reply(SUCCESS)
    bk.advance(20 + bk.jitter)
    for name, queue, end in ((old, 1, 6), (topic, 2, 8)):
        bk.pull(name, queue, most=1).bounds >> Reply(SUCCESS, (0, end))
    bk.view(place).bodies >> Reply(SUCCESS, [SOME])


@case(
    kills=["expired-files-stay-when-asked"],
    clock=True,
    own_server=True,
    setup={**EXPIRING, "deleteWhen": "99"},
)
def test_expired_files_are_deleted_when_asked(bk: BrokerSession) -> None:
    old, _, _ = filled(bk)
    bk.min_offset(old, 1).offset >> Reply(SUCCESS, 0)
    bk.call(RequestCode.DELETE_EXPIRED_COMMITLOG) >> Reply(SUCCESS)
    bk.advance(20 + bk.jitter)
    bk.min_offset(old, 1).offset.eventually() >> Reply(SUCCESS, 6)


@case(
    kills=["expired-files-never-stay-once-asked"],
    clock=True,
    own_server=True,
    setup={**EXPIRING, "deleteWhen": "99"},
)
def test_deletion_of_files_ends(bk: BrokerSession) -> None:
    old, topic, _ = filled(bk)
    bk.call(RequestCode.DELETE_EXPIRED_COMMITLOG) >> Reply(SUCCESS)
    bk.advance(20 * 10 + 20 + bk.jitter)
    bk.min_offset(old, 1).offset.eventually() >> Reply(SUCCESS, 6)
    low = (bk.min_offset(topic, 2).offset >> Reply(SUCCESS, Between(1, 7))).value
    for number in range(8, 16):
        bk.send(topic, SOME, 2).offset >> Reply(SUCCESS, number)
    bk.advance(10 + 20 + bk.jitter)
    bk.min_offset(topic, 2).offset >> Reply(SUCCESS, low)
    bk.pull(topic, 2, low, most=1).bodies >> Reply(SUCCESS, [SOME + b"%d" % low])


@case(
    kills=["files-expire-at-once"], clock=True, own_server=True, setup={**EXPIRING, "fileReservedTime": "1"}
)
def test_files_stay_until_they_expire(bk: BrokerSession) -> None:
    old, _, place = filled(bk)
    bk.min_offset(old, 1).offset >> Reply(SUCCESS, 0)
    bk.view(place).bodies >> Reply(SUCCESS, [SOME])


@case(kills=["files-expire-at-any-hour"], clock=True, own_server=True, setup={**EXPIRING, "deleteWhen": "99"})
def test_expired_files_stay_until_their_hour(bk: BrokerSession) -> None:
    old, _, place = filled(bk)
    bk.min_offset(old, 1).offset >> Reply(SUCCESS, 0)
    bk.view(place).bodies >> Reply(SUCCESS, [SOME])


@case(kills=["low-offsets-stay"], clock=True, own_server=True, setup=EXPIRING)
def test_queue_without_messages_begins_at_its_end(bk: BrokerSession) -> None:
    old, _, _ = filled(bk)
    bk.min_offset(old, 1).offset.eventually() >> Reply(SUCCESS, 6)
    bk.max_offset(old, 1).offset >> Reply(SUCCESS, 6)
    bk.pull(old, 1).next_offset >> Reply(ResponseCode.PULL_OFFSET_MOVED, 6)
    bk.send(old, b"new", 1).offset >> Reply(SUCCESS, 6)
    bk.pull(old, 1, 6).bodies.eventually() >> Reply(SUCCESS, [b"new"])


@case(
    kills=["cleaning-removes-one-queue", "cleaning-removes-no-queue", "cleaned-queues-come-back"],
    clock=True,
    own_server=True,
    setup=EXPIRING,
)
def test_cleaning_forgets_queues_without_messages(bk: BrokerSession) -> None:
    other = bk.topic("other")
    for queue in (0, 3):
        bk.send(other, SOME, queue) >> Reply(SUCCESS)
    old, topic, _ = filled(bk)
    low = kept(bk, old, topic)
    gone = ((old, 1), (other, 0), (other, 3))
    bk.clean_queues() >> Reply(SUCCESS)
    for _ in range(2):
        for name, queue in gone:
            bk.max_offset(name, queue).offset.eventually() >> Reply(SUCCESS, 0)
        bk.pull(topic, 2, low, most=1).bounds >> Reply(SUCCESS, (low, 8))
        bk.restart("kill")
    for name, queue in gone:
        bk.send(name, b"new", queue).offset >> Reply(SUCCESS, 0)
        bk.pull(name, queue).bodies.eventually() >> Reply(SUCCESS, [b"new"])
    bk.send(topic, b"new", 2).offset >> Reply(SUCCESS, 8)


@case(kills=["cleaning-removes-queues-of-the-delay"], clock=True, own_server=True, setup=EXPIRING)
def test_cleaning_keeps_delayed_messages_coming(bk: BrokerSession) -> None:
    topic = bk.topic()
    for body in (b"1", b"2"):
        bk.send(topic, body, 1, properties={"DELAY": "2"}) >> Reply(SUCCESS)
    bk.advance(5 + 1 + bk.jitter)
    bk.max_offset(topic, 1).offset.eventually() >> Reply(SUCCESS, 2)
    kept(bk, *filled(bk)[:2])
    bk.clean_queues() >> Reply(SUCCESS)
    bk.send(topic, b"3", 1, properties={"DELAY": "2"}) >> Reply(SUCCESS)
    bk.advance(5 + 1 + bk.jitter)
    bk.pull(topic, 1).bodies.eventually() >> Reply(SUCCESS, [b"3"])


@case(kills=["keys-are-read-twice"], own_server=True)
def test_many_keys_survive_once(bk: BrokerSession) -> None:
    topic = bk.topic()
    keys = " ".join(f"k{number}" for number in range(4_000))
    sent: list[bytes] = []
    for body in (b"first", b"second", b"third"):
        bk.send(topic, body, keys=keys) >> Reply(SUCCESS)
        sent.append(body)
        bk.find(topic, "k0").bodies.eventually() >> Reply(SUCCESS, sent)
        bk.restart("kill")
        for key in ("k0", "k2000", "k3999"):
            bk.find(topic, key).bodies.eventually() >> Reply(SUCCESS, sent)


@case(kills=["queues-begin-anew", "queues-begin-at-the-last-checkpoint"], own_server=True)
def test_many_messages_survive_once(bk: BrokerSession) -> None:
    queues = ((bk.topic(), 1), (bk.topic("other"), 3))
    for first in range(0, 4_800, 1_200):
        for topic, queue in queues:
            batch = [b"%d in %d" % (number, queue) for number in range(first, first + 1_200)]
            bk.send_batch(topic, batch, queue).offset >> Reply(SUCCESS, first)
        if not first:
            bk.restart()
    for topic, queue in queues:
        bk.max_offset(topic, queue).offset.eventually() >> Reply(SUCCESS, 4_800)
    bk.restart("kill")
    for topic, queue in queues:
        bk.max_offset(topic, queue).offset.eventually() >> Reply(SUCCESS, 4_800)
        for number in (0, 1_199, 1_200, 4_799):
            pull = bk.pull(topic, queue, number, most=1)
            pull.bodies.eventually() >> Reply(SUCCESS, [b"%d in %d" % (number, queue)])


# -- when the disk is nearly full ----------------------------------------------------------------------------

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
