"""Chapter delay: messages that are delivered later, by a level or at a time."""

import zlib

from harness.conformance import Between, Containing, Including, Reply, case
from harness.conformance.broker.expiring import EXPIRING
from harness.conformance.broker.timed import RARELY, come_no_more, two_timed
from harness.conformance.broker.tools import timers
from harness.conformance.broker.whole import QUEUE, judge_copy, plain_properties, send_whole, sent_members
from harness.session import BrokerSession
from harness.session.exchange import NotSo, View
from harness.wire import Command, RequestCode, ResponseCode, WireError
from harness.wire.bodies import DelayOffsets
from harness.wire.messages import Message, SysFlag, decode_offset_id

SUCCESS = ResponseCode.SUCCESS
A_DAY = 86_400_000
"""In ms."""
QUICK = {"messageDelayLevel": "1s 30s 5s"}
WRITTEN = 20
"""Protocol seconds within which the progress of delayed messages has certainly been written."""


@case(kills=["delayed-by-half"], clock=True)
def test_level_is_waited_for(bk: BrokerSession) -> None:
    topic = bk.topic()
    sent = bk.send(topic, properties={"DELAY": "4"}) >> Reply(SUCCESS)
    bk.advance_short_of(29, since=sent)
    bk.max_offset(topic, 0).offset >> Reply(SUCCESS, 0)


@case(kills=["delayed-never", "delayed-loses-body"], clock=True)
def test_delivered_after_its_level(bk: BrokerSession) -> None:
    topic = bk.topic()
    bk.send(topic, b"late", queue=2, properties={"DELAY": "2"}) >> Reply(SUCCESS)
    bk.advance(5 + 1 + bk.jitter)
    bk.pull(topic, 2).bodies.eventually() >> Reply(SUCCESS, [b"late"])


@case(kills=["delayed-twice"], clock=True)
def test_delivered_once(bk: BrokerSession) -> None:
    topic = bk.topic()
    bk.send(topic, properties={"DELAY": "1"}) >> Reply(SUCCESS)
    bk.advance(10 + bk.jitter)
    bk.pull(topic).bodies.eventually() >> Reply(SUCCESS, [b"hello"])
    bk.advance(10)
    bk.pull(topic).bodies >> Reply(SUCCESS, [b"hello"])


@case(kills=["delay-level-not-clamped"], clock=True, setup=QUICK)
def test_level_beyond_the_last_is_the_last(bk: BrokerSession) -> None:
    topic = bk.topic()
    bk.send(topic, properties={"DELAY": "25"}) >> Reply(SUCCESS)
    bk.advance(5 + 1 + bk.jitter)
    level = bk.pull(topic).seen("delay level", lambda one: one.properties.get("DELAY"))
    level.eventually() >> Reply(SUCCESS, ["3"])


@case(kills=["delay-levels-fixed"], clock=True, setup=QUICK)
def test_levels_are_those_of_the_settings(bk: BrokerSession) -> None:
    topic = bk.topic()
    sent = bk.send(topic, properties={"DELAY": "2"}) >> Reply(SUCCESS)
    bk.advance_short_of(29, since=sent)
    bk.max_offset(topic, 0).offset >> Reply(SUCCESS, 0)


@case(kills=["negative-level-delayed"])
def test_no_level_is_no_delay(bk: BrokerSession) -> None:
    topic = bk.topic()
    for level in ("0", "-3", ""):
        bk.send(topic, level.encode() or b"none", properties={"DELAY": level}) >> Reply(SUCCESS)
    bk.pull(topic).bodies.eventually() >> Reply(SUCCESS, [b"0", b"-3", b"none"])


@case(kills=["bad-level-is-no-delay"])
def test_level_that_is_no_number_is_refused(bk: BrokerSession) -> None:
    topic = bk.topic()
    bk.send(topic, properties={"DELAY": "soon"}) >> Reply(ResponseCode.SYSTEM_ERROR)
    bk.max_offset(topic, 0).offset >> Reply(SUCCESS, 0)


@case(kills=["delayed-reply-names-schedule"])
def test_reply_names_its_own_queue(bk: BrokerSession) -> None:
    topic = bk.topic()
    bk.send(topic, queue=3, properties={"DELAY": "18"}).queue >> Reply(SUCCESS, 3)


@case(kills=["delayed-loses-properties", "delayed-loses-flag"], clock=True)
def test_keeps_what_was_sent(bk: BrokerSession) -> None:
    topic = bk.topic()
    bk.send(topic, tags="A", keys="k", properties={"DELAY": "1", "x": "y"}, flag_of_user=7) >> Reply(SUCCESS)
    bk.advance(1 + 1 + bk.jitter)
    pull = bk.pull(topic)
    kept = Including({"TAGS": "A", "KEYS": "k", "x": "y", "DELAY": "1", "REAL_TOPIC": topic, "REAL_QID": "0"})
    pull.properties.eventually() >> Reply(SUCCESS, [kept])
    pull.seen("flags", lambda one: one.flag) >> Reply(SUCCESS, [7])


@case(kills=["delayed-loses-properties"], clock=True)
def test_tag_counts_when_delivered(bk: BrokerSession) -> None:
    topic = bk.topic()
    bk.send(topic, b"A", tags="A", properties={"DELAY": "1"}) >> Reply(SUCCESS)
    bk.advance(1 + 1 + bk.jitter)
    bk.pull(topic, subscription="A").bodies.eventually() >> Reply(SUCCESS, [b"A"])


@case(kills=["delayed-out-of-order"], clock=True)
def test_order_within_a_level(bk: BrokerSession) -> None:
    topic = bk.topic()
    for body in (b"1", b"2", b"3"):
        bk.send(topic, body, properties={"DELAY": "1"}) >> Reply(SUCCESS)
    bk.advance(1 + 1 + bk.jitter)
    bk.pull(topic).bodies.eventually() >> Reply(SUCCESS, [b"1", b"2", b"3"])


@case(kills=["levels-are-delivered-together"], clock=True)
def test_each_message_of_a_level_is_waited_for(bk: BrokerSession) -> None:
    topic, level = bk.topic(), {"DELAY": "4"}  # 30 s
    first = bk.send(topic, b"first", properties=level) >> Reply(SUCCESS)
    bk.advance(20)
    second = bk.send(topic, b"second", properties=level) >> Reply(SUCCESS)
    bk.advance_past(30, since=first)
    bk.pull(topic).bodies.eventually() >> Reply(SUCCESS, [b"first"])
    bk.advance_short_of(29, since=second)
    bk.pull(topic).bodies >> Reply(SUCCESS, [b"first"])
    bk.advance_past(30, since=second)
    bk.pull(topic, offset=1).bodies.eventually() >> Reply(SUCCESS, [b"second"])


@case(kills=["delays-in-one-line"], clock=True)
def test_shorter_delay_does_not_wait_for_a_longer_one(bk: BrokerSession) -> None:
    topic = bk.topic()
    bk.send(topic, b"long", properties={"DELAY": "5"}) >> Reply(SUCCESS)
    bk.send(topic, b"short", properties={"DELAY": "1"}) >> Reply(SUCCESS)
    bk.advance(1 + 1 + bk.jitter)
    bk.pull(topic).bodies.eventually() >> Reply(SUCCESS, [b"short"])


@case(kills=["delayed-forgotten-at-start", "delivered-come-again-at-start"], clock=True, own_server=True)
def test_outlives_the_broker(bk: BrokerSession) -> None:
    topic = bk.topic()
    bk.send(topic, b"before", 1, properties={"DELAY": "1"}) >> Reply(SUCCESS)
    bk.advance(1 + 1 + bk.jitter)
    bk.pull(topic, 1).bodies.eventually() >> Reply(SUCCESS, [b"before"])
    bk.advance(WRITTEN)
    # Longer than an orderly end takes: up to 20 s for Apache's 5.3.
    bk.send(topic, properties={"DELAY": "5"}) >> Reply(SUCCESS)
    bk.advance(1)
    bk.restart()
    bk.advance(60 + 2 + bk.jitter)
    bk.pull(topic).bodies.eventually() >> Reply(SUCCESS, [b"hello"])
    bk.max_offset(topic, 1).offset >> Reply(SUCCESS, 1)


@case(kills=["timed-early"], clock=True)
def test_time_is_waited_for(bk: BrokerSession) -> None:
    topic = bk.topic()
    sent = bk.send(topic, properties={"TIMER_DELAY_SEC": "20"}) >> Reply(SUCCESS)
    bk.advance_short_of(19, since=sent)
    bk.max_offset(topic, 0).offset >> Reply(SUCCESS, 0)


@case(
    kills=["timed-never", "timed-forget-what-was-asked", "moments-go-before-delays", "ms-go-before-seconds"],
    clock=True,
)
def test_time_is_kept(bk: BrokerSession) -> None:
    topic, names = bk.topic("T", 5), ("TIMER_DELAY_SEC", "TIMER_DELAY_MS", "TIMER_DELIVER_MS")
    now = bk.broker_time()
    soon, late = ("4", "4000", str(now + 4000)), ("3600", "3600000", str(now + 3_600_000))
    first_counts = (soon[0], *late[1:]), (None, soon[1], late[2]), (None, None, soon[2])
    not_yet = (late[0], *soon[1:]), (None, late[1], soon[2])
    said = [
        {name: time for name, time in zip(names, of, strict=True) if time} for of in first_counts + not_yet
    ]
    for queue, asked in enumerate(said):
        bk.send(topic, b"%d" % queue, queue, properties=asked) >> Reply(SUCCESS)
    bk.advance(4 + 4 + bk.jitter)
    for queue, asked in enumerate(said[:3]):
        pull = bk.pull(topic, queue)
        pull.bodies.eventually() >> Reply(SUCCESS, [b"%d" % queue])
        pull.properties >> Reply(SUCCESS, [Including(asked)])
    for queue in (3, 4):
        bk.max_offset(topic, queue).offset >> Reply(SUCCESS, 0)


@case(kills=["time-gone-by-refused"])
def test_time_in_the_past_is_no_delay(bk: BrokerSession) -> None:
    topic = bk.topic()
    bk.send(topic, properties={"TIMER_DELIVER_MS": "1"}) >> Reply(SUCCESS)
    bk.pull(topic).bodies.eventually() >> Reply(SUCCESS, [b"hello"])


@case(kills=["time-too-far-taken", "times-are-near"])
def test_time_too_far_is_refused(bk: BrokerSession) -> None:
    topic = bk.topic()
    for seconds in (str(3 * 86_400 + 60), "soon"):
        refused = Reply(ResponseCode.MESSAGE_ILLEGAL, remark=Containing("timer message illegal"))
        bk.send(topic, properties={"TIMER_DELAY_SEC": seconds}) >> refused
    bk.send(topic, properties={"TIMER_DELAY_SEC": str(3 * 86_400 - 60)}) >> Reply(SUCCESS)


@case(kills=["deletions-of-the-past-are-stored"])
def test_deletion_of_the_past_is_refused(bk: BrokerSession) -> None:
    topic = bk.topic()
    deletion = {"TIMER_DEL_UNIQKEY": f"{topic}+key", "TIMER_DELIVER_MS": "1"}
    bk.send(topic, properties=deletion) >> Reply(ResponseCode.MESSAGE_ILLEGAL)
    bk.max_offset(topic, 0).offset >> Reply(SUCCESS, 0)


@case(kills=["time-goes-before-level"], clock=True)
def test_level_goes_before_time(bk: BrokerSession) -> None:
    topic = bk.topic()
    sent = bk.send(topic, properties={"TIMER_DELAY_SEC": "1", "DELAY": "4"}) >> Reply(SUCCESS)
    bk.advance_short_of(29, since=sent)
    bk.max_offset(topic, 0).offset >> Reply(SUCCESS, 0)


@case(kills=["times-in-4-9"])
def test_times_mean_nothing_to_4_9(bk: BrokerSession) -> None:
    topic = bk.topic()
    bk.send(topic, properties={"TIMER_DELAY_SEC": "60"}) >> Reply(SUCCESS)
    bk.pull(topic).bodies.eventually() >> Reply(SUCCESS, [b"hello"])


@case(kills=["progress-of-levels-is-hidden", "progress-of-levels-stays"], clock=True)
def test_progress_of_levels_is_shown(bk: BrokerSession) -> None:
    def delivered(reply: Command) -> int | None:
        try:
            return DelayOffsets.decode(reply.body).offset_table.get(1) if reply.body else None
        except WireError as problem:
            raise NotSo(str(problem)) from problem

    topic = bk.topic()
    before = 0
    for count in (1, 2):
        bk.send(topic, properties={"DELAY": "1"}) >> Reply(SUCCESS)
        bk.advance(1 + 1 + bk.jitter)
        bk.max_offset(topic, 0).offset.eventually() >> Reply(SUCCESS, count)
        shown = bk.call(RequestCode.GET_ALL_DELAY_OFFSET).seen_as(View("messages of level 1", delivered))
        before = (shown.eventually() >> Reply(SUCCESS, Between(before + 1, 2**63))).value


@case(kills=["progress-begins-below-0"])
def test_progress_of_levels_begins_at_0(bk: BrokerSession) -> None:
    def least(reply: Command) -> int:
        try:
            return min(DelayOffsets.decode(reply.body).offset_table.values(), default=0)
        except WireError as problem:
            raise NotSo(str(problem)) from problem

    bk.send(bk.topic(), properties={"DELAY": "18"}) >> Reply(SUCCESS)
    shown = bk.call(RequestCode.GET_ALL_DELAY_OFFSET).seen_as(View("the least progress", least))
    shown >> Reply(SUCCESS, Between(0, 2**63))


@case(kills=["delayed-loses-system-flag"], clock=True)
def test_system_flag_survives(bk: BrokerSession) -> None:
    topic, packed = bk.topic(), zlib.compress(b"hello")
    bk.send(topic, packed, sys_flag=SysFlag.COMPRESSED, properties={"DELAY": "1"}) >> Reply(SUCCESS)
    bk.advance(1 + 1 + bk.jitter)
    pull = bk.pull(topic)
    pull.seen("system flags", lambda one: one.sys_flag & SysFlag.COMPRESSED).eventually() >> Reply(
        SUCCESS, [1]
    )
    pull.bodies >> Reply(SUCCESS, [packed])


@case(kills=["times-need-no-timer", "levels-need-the-timer"], own_server=True)
def test_time_needs_the_timer(bk: BrokerSession) -> None:
    topic = bk.topic()
    bk.update_config({"timerWheelEnable": "false"}) >> Reply(SUCCESS)
    remark = "accurate timer message is not enabled, timerWheelEnable is false"
    refused = Reply(ResponseCode.SYSTEM_ERROR, remark=remark)
    for name in ("TIMER_DELAY_SEC", "TIMER_DELAY_MS", "TIMER_DELIVER_MS"):
        bk.send(topic, properties={name: "5000"}) >> refused
    bk.send(topic, b"level", 1, properties={"DELAY": "1"}) >> Reply(SUCCESS)
    bk.send(topic, b"plain") >> Reply(SUCCESS)
    bk.pull(topic).bodies.eventually() >> Reply(SUCCESS, [b"plain"])


@case(
    kills=["timed-are-forgotten", "timed-early"],
    clock=True,
    own_server=True,
)
def test_time_outlives_the_broker(bk: BrokerSession) -> None:
    topic = bk.topic(queues=3)
    bk.send(topic, b"soon", 0, properties={"TIMER_DELAY_SEC": "5"}) >> Reply(SUCCESS)
    late = bk.send(topic, b"late", 1, properties={"TIMER_DELAY_SEC": "300"}) >> Reply(SUCCESS)
    bk.advance(5 + 5 + bk.jitter)
    bk.pull(topic, 0).bodies.eventually() >> Reply(SUCCESS, [b"soon"])
    bk.advance(WRITTEN)
    last = bk.send(topic, b"last", 2, properties={"TIMER_DELAY_SEC": "100"}) >> Reply(SUCCESS)
    bk.restart("kill")
    bk.while_lasts(100, since=last)
    bk.max_offset(topic, 2).offset >> Reply(SUCCESS, 0)
    bk.advance(100 + 20 + bk.jitter)
    bk.pull(topic, 2, most=1).bodies.eventually() >> Reply(SUCCESS, [b"last"])
    bk.while_lasts(300, since=late)
    bk.max_offset(topic, 1).offset >> Reply(SUCCESS, 0)
    bk.advance_past(300, since=late)
    bk.advance(20 + bk.jitter)
    bk.pull(topic, 1, most=1).bodies.eventually() >> Reply(SUCCESS, [b"late"])


@case(
    kills=["progress-of-levels-ends-with-the-broker", "levels-begin-with-the-backup"],
    clock=True,
    own_server=True,
    setup=RARELY,
)
def test_progress_of_levels_outlives_a_stop(bk: BrokerSession) -> None:
    topic = bk.topic()
    for level in (1, 2):
        bk.send(topic, b"%d" % level, level, properties={"DELAY": str(level)}) >> Reply(SUCCESS)
    bk.advance(5 + 1 + bk.jitter)
    for queue in (1, 2):
        bk.pull(topic, queue).bodies.eventually() >> Reply(SUCCESS, [b"%d" % queue])
    for number in range(2):
        bk.restart()
        bk.send(topic, b"after", 3, properties={"DELAY": "2"}) >> Reply(SUCCESS)
        bk.advance(5 + 1 + bk.jitter)
        bk.pull(topic, 3, number).bodies.eventually() >> Reply(SUCCESS, [b"after"])
    bk.max_offset(topic, 3).offset >> Reply(SUCCESS, 2)
    for queue in (1, 2):
        bk.max_offset(topic, queue).offset >> Reply(SUCCESS, 1)


@case(kills=["progress-of-timers-ends-with-the-broker"], clock=True, own_server=True, setup=RARELY)
def test_progress_of_timers_outlives_a_stop(bk: BrokerSession) -> None:
    topic = two_timed(bk)
    bk.restart()
    come_no_more(bk, topic)


@case(
    kills=["progress-of-timers-is-written-in-quiet-times", "progress-of-timers-is-written-with-the-next"],
    clock=True,
    own_server=True,
)
def test_progress_of_timers_outlives_a_kill(bk: BrokerSession) -> None:
    for others, first in ((24, 3), (0, 30)):
        topic = two_timed(bk, first)
        for _ in range(others):
            bk.send(topic, b"waits", 3, properties={"TIMER_DELAY_SEC": "3600"}) >> Reply(SUCCESS)
            bk.advance(5)
        bk.advance(120 - 5 * others)
        bk.restart("kill")
        come_no_more(bk, topic)


@case(kills=["delayed-come-from-the-broker", "delayed-lose-their-wait"], clock=True)
def test_is_stored_as_a_whole(bk: BrokerSession) -> None:
    topic, connection = bk.topic(), bk.connect()
    plain = plain_properties(bk, connection)
    sent = sent_members(bk, topic, connection)
    send_whole(bk, topic, connection, DELAY="1")
    bk.advance(1 + 1 + bk.jitter)
    judge_copy(bk.pull(topic, QUEUE), "delayed by a level, delivered", sent, plain, level=1)


@case(kills=["levels-keep-times"], clock=True)
def test_level_removes_times(bk: BrokerSession) -> None:
    topic, connection = bk.topic(), bk.connect()
    plain = plain_properties(bk, connection)
    times = dict.fromkeys(("TIMER_DELAY_SEC", "TIMER_DELAY_MS", "TIMER_DELIVER_MS"), "9")
    send_whole(bk, topic, connection, DELAY="1", **times)
    bk.advance(1 + 1 + bk.jitter)
    added = {"DELAY": "1", "REAL_TOPIC": topic, "REAL_QID": str(QUEUE)}
    bk.pull(topic, QUEUE).properties.eventually() >> Reply(SUCCESS, [{**plain, **added}])


@case(kills=["levels-remove-times-in-4-9"], clock=True)
def test_level_keeps_times(bk: BrokerSession) -> None:
    topic = bk.topic()
    times = dict.fromkeys(("TIMER_DELAY_SEC", "TIMER_DELAY_MS", "TIMER_DELIVER_MS"), "9")
    bk.send(topic, properties={"DELAY": "1", **times}) >> Reply(SUCCESS)
    bk.advance(1 + 1 + bk.jitter)
    bk.pull(topic).properties.eventually() >> Reply(SUCCESS, [Including({"DELAY": "1", **times})])


@case(kills=["times-that-are-over-delay-again"])
def test_time_that_is_over_delays_nothing(bk: BrokerSession) -> None:
    topic = bk.topic()
    over = {"TIMER_DELAY_SEC": "3600", "TIMER_OUT_MS": "1700000000000"}
    bk.send(topic, b"at once", properties=over) >> Reply(SUCCESS)
    bk.pull(topic).bodies.eventually() >> Reply(SUCCESS, [b"at once"])


@case(
    kills=[
        "timed-come-from-the-broker",
        "timed-do-not-say-when",
        "timed-have-milliseconds",
        "timed-are-taken-later",
        "timed-were-stored-long-ago",
    ],
    clock=True,
)
def test_timed_is_stored_as_a_whole(bk: BrokerSession) -> None:
    topic, connection = bk.topic(), bk.connect()
    plain = plain_properties(bk, connection)
    sent = sent_members(bk, topic, connection)
    waiting = decode_offset_id(send_whole(bk, topic, connection, TIMER_DELAY_SEC="4"))[1]
    judge_copy(bk.view(waiting), "delayed to a time, waiting", sent, plain, seconds=4)
    bk.advance(4 + 4 + bk.jitter)
    pull = bk.pull(topic, QUEUE)
    judge_copy(pull, "delayed to a time, delivered", sent, plain, seconds=4)
    pull.seen("whether its times follow one another", _in_order) >> Reply(SUCCESS, [True])


def _in_order(message: Message) -> bool:
    """Whether a timed message came into the timer in its minute, and was taken from it when it was due, and
    before it was stored.
    """
    came, due, taken = (int(message.properties[f"TIMER_{name}_MS"]) for name in ("ENQUEUE", "OUT", "DEQUEUE"))
    return due - 60_000 < came <= due <= taken <= message.store_timestamp


@case(
    kills=["expired-delays-hold-up", "two-expired-delays-hold-up", "expired-delays-hurry-the-next"],
    clock=True,
    own_server=True,
    setup={"messageDelayLevel": "2m 1s", **EXPIRING},
)
def test_expired_message_holds_up_no_other(bk: BrokerSession) -> None:
    topic = bk.topic()
    bk.send(topic, queue=1) >> Reply(SUCCESS)
    bk.send(topic, b"expired", properties={"DELAY": "1"}) >> Reply(SUCCESS)
    sent = bk.send(topic, b"expired, too", properties={"DELAY": "1"}).ids >> Reply(SUCCESS)
    for _ in range(8):
        bk.send(topic, bytes(20_000), 1) >> Reply(SUCCESS)
    bk.advance(60 + 10 + 10 + bk.jitter)
    bk.view(decode_offset_id(sent.value[0])[1]) >> Reply(ResponseCode.SYSTEM_ERROR)
    kept = bk.send(topic, b"kept", properties={"DELAY": "1"}) >> Reply(SUCCESS)
    bk.advance_short_of(110, since=kept)
    bk.max_offset(topic).offset >> Reply(SUCCESS, 0)
    bk.advance_past(120, since=kept)
    bk.advance(10 + bk.jitter)
    bk.pull(topic).bodies.eventually() >> Reply(SUCCESS, [b"kept"])


@case(
    kills=[
        "timers-are-not-counted",
        "timers-are-counted-for-ever",
        "levels-are-timers",
        "timers-are-counted-at-no-time",
    ],
    clock=True,
)
def test_timers_are_counted(bk: BrokerSession) -> None:
    topic, other, began = bk.topic(), bk.topic("other"), bk.broker_time()
    for wanted in ({"TIMER_DELAY_SEC": "30"}, {"TIMER_DELAY_SEC": "30"}, {"DELAY": "4"}):
        bk.send(topic, properties=wanted) >> Reply(SUCCESS)
    bk.send(other, properties={"TIMER_DELAY_SEC": "900"}) >> Reply(SUCCESS)
    at = Between(began - 1_000, bk.broker_time() + 5_000)
    timers(bk, topic, other).eventually() >> Reply(SUCCESS, (True, [2, 1], [at, at]))
    bk.advance(40 + bk.jitter)
    later = Between(began + 25_000, bk.broker_time() + 20_000)
    timers(bk, topic, other).eventually() >> Reply(SUCCESS, (True, [0, 1], [later, at]))


@case(
    kills=["timers-do-not-tell-how-far-they-are", "timers-are-ahead", "timers-tell-their-version-elsewhere"],
    clock=True,
)
def test_timers_tell_how_far_they_are(bk: BrokerSession) -> None:
    for _ in range(2):
        now = bk.broker_time()
        shown = bk.call(RequestCode.GET_TIMER_CHECK_POINT).seen_as(View("numbers", _numbers))
        number, read, changed = (
            Between(0, 1 << 40),
            Between(0, now + 5_000),
            Between(now - A_DAY, now + 5_000),
        )
        shown >> Reply(SUCCESS, [read, number, number, number, 0, changed, number])
        bk.advance(20)


def _numbers(reply: Command) -> list[int]:
    if len(reply.body) != 56:
        raise NotSo(f"{len(reply.body)} bytes, expected 56")
    return [int.from_bytes(reply.body[at : at + 8], signed=True) for at in range(0, 56, 8)]
