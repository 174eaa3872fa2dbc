"""Chapter storage: files of the log that are too old go, and no others."""

from harness.conformance import ANYTHING, Between, Including, Reply, case
from harness.conformance.broker.expiring import EXPIRING, OLD
from harness.conformance.broker.replication.logs import place
from harness.conformance.broker.storage.files import SMALL_FILES, SOME, SUCCESS, filled, kept
from harness.session import BrokerSession
from harness.wire import RequestCode, ResponseCode


@case(
    kills=["old-files-stay", "low-offsets-stay", "two-files-stay"],
    clock=True,
    own_server=True,
    setup=EXPIRING,
)
def test_expired_files_are_deleted(bk: BrokerSession) -> None:
    old, topic, second = filled(bk)
    bk.min_offset(topic, 2).offset.eventually() >> Reply(SUCCESS, 6)  # Each file has three messages.
    low = kept(bk, old, topic)
    bk.view(second) >> Reply(
        ResponseCode.SYSTEM_ERROR, remark=f"can not find message by the offset, {second}"
    )
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
    kills=["looks-delete-all-files", "looks-delete-one-file"],
    clock=True,
    own_server=True,
    setup={**OLD, "cleanResourceInterval": "200000"},
)
def test_ten_files_go_in_one_look(bk: BrokerSession) -> None:
    topic, bodies = bk.topic(), [b"%02d" % number * 700 for number in range(26)]
    places = [place(bk.send(topic, body, 1).ids >> Reply(SUCCESS)) for body in bodies]
    for seconds, left in ((60 + 20, 20), (200, 24)):
        bk.advance(seconds + bk.jitter)
        for gone in (1, left - 1):
            bk.view(places[gone]).eventually() >> Reply(ResponseCode.SYSTEM_ERROR)
        bk.view(places[left]).bodies >> Reply(SUCCESS, [bodies[left]])


@case(
    kills=["deletion-of-files-is-refused", "young-files-go-when-asked"],
    clock=True,
    own_server=True,
    setup={**SMALL_FILES, "fileReservedTime": "1", "deleteWhen": "99"},
)
def test_deletion_of_files_keeps_younger_ones(bk: BrokerSession) -> None:
    old, topic, second = filled(bk)
    bk.call(RequestCode.DELETE_EXPIRED_COMMITLOG) >> Reply(SUCCESS)
    bk.advance(20 + bk.jitter)
    for name, queue, end in ((old, 1, 6), (topic, 2, 8)):
        bk.pull(name, queue, most=1).bounds >> Reply(SUCCESS, (0, end))
    bk.view(second).bodies >> Reply(SUCCESS, [SOME])


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
    old, _, second = filled(bk)
    bk.min_offset(old, 1).offset >> Reply(SUCCESS, 0)
    bk.view(second).bodies >> Reply(SUCCESS, [SOME])


@case(kills=["files-expire-at-any-hour"], clock=True, own_server=True, setup={**EXPIRING, "deleteWhen": "99"})
def test_expired_files_stay_until_their_hour(bk: BrokerSession) -> None:
    old, _, second = filled(bk)
    bk.min_offset(old, 1).offset >> Reply(SUCCESS, 0)
    bk.view(second).bodies >> Reply(SUCCESS, [SOME])


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
