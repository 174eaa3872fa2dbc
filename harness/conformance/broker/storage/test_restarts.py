"""Chapter storage: what a Broker has acknowledged survives a kill, a stop and a restart."""

from harness.conformance import Including, Reply, case
from harness.conformance.broker.replication.logs import end, put
from harness.conformance.broker.storage.files import FILE, SMALL_FILES, SOME, SUCCESS
from harness.session import BrokerSession
from harness.session.transport import Ending
from harness.wire import ResponseCode

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
