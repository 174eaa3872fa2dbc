"""Chapter storage: what a Broker has acknowledged survives a kill, a stop and a restart."""

from harness.conformance import Between, Including, Reply, case
from harness.session import BrokerSession
from harness.wire import ResponseCode

SUCCESS = ResponseCode.SUCCESS
OLD = {
    "fileReservedTime": "0",
    "deleteWhen": ";".join(f"{hour:02d}" for hour in range(24)),
    "mappedFileSizeCommitLog": "4096",
}
"""Files of the log hold few messages, and all but the last file go at once."""


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


@case(kills=["hands-over-late"], own_server=True)
def test_messages_survive_a_kill(bk: BrokerSession) -> None:
    topic = bk.topic()
    for number in range(5):
        bk.send(topic, b"%d" % number, keys="k") >> Reply(SUCCESS)
    pull = bk.pull(topic)
    pull.offsets.eventually() >> Reply(SUCCESS, [0, 1, 2, 3, 4])
    before = pull.body >> Reply(SUCCESS)
    bk.restart("kill")
    bk.pull(topic).body.eventually() >> Reply(SUCCESS, before.value)


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
    kills=["old-files-stay", "old-messages-are-to-be-had"],
    clock=True,
    own_server=True,
    setup=OLD,
)
def test_old_messages_go(bk: BrokerSession) -> None:
    topic, group = bk.topic(), bk.group()
    for number in range(6):
        bk.send(topic, b"%d" % number * 3000, 1) >> Reply(SUCCESS)
    bk.max_offset(topic, 1).offset.eventually() >> Reply(SUCCESS, 6)
    bk.advance(120 + bk.jitter)
    low = (bk.min_offset(topic, 1).offset.eventually() >> Reply(SUCCESS, Between(1, 5))).value
    bk.max_offset(topic, 1).offset >> Reply(SUCCESS, 6)
    pull = bk.pull(topic, 1, low - 1)
    pull.next_offset >> Reply(ResponseCode.PULL_OFFSET_MOVED, low, remark="OFFSET_TOO_SMALL")
    pull.bounds >> Reply(ResponseCode.PULL_OFFSET_MOVED, (low, 6))
    bk.pull(topic, 1, 5).bodies >> Reply(SUCCESS, [b"5" * 3000])
    bk.committed(group, topic, 1).offset >> Reply(ResponseCode.QUERY_NOT_FOUND)
