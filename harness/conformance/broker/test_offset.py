"""Chapter offset: how far groups have consumed, and how far queues go (codes 14, 15, 29 to 32, 314)."""

from itertools import cycle

from harness.conformance import ANYTHING, AnyOf, Between, Including, Matching, Reply, Silence, case
from harness.conformance.broker.expiring import OLD, begins_late
from harness.conformance.broker.tools import as_json, asked
from harness.session import BrokerSession, Exchange
from harness.session.broker.requests import consuming
from harness.session.views import body_member
from harness.wire import FLAG_ONEWAY, Command, RequestCode, ResponseCode

SUCCESS = ResponseCode.SUCCESS
NOT_FOUND = ResponseCode.QUERY_NOT_FOUND
VERSION = body_member("dataVersion")


def online(bk: BrokerSession, topic: str) -> str:
    """A group with a member."""
    group = bk.group()
    bk.heartbeat(bk.name("client"), consumers=[consuming(group, [topic])]) >> Reply(SUCCESS)
    return group


def stored_apart(bk: BrokerSession) -> tuple[str, list[int]]:
    """A topic with three messages in queue 0, and when each was stored, 2 s after the one before it. When
    they were born, as their producer says, is another matter.
    """
    topic = bk.topic()
    for born in (1 << 60, -1, 1):
        bk.send(topic, born=born) >> Reply(SUCCESS)
        bk.advance(2)
    stored = bk.pull(topic).seen("store time", lambda one: one.store_timestamp)
    times: list[int] = (stored.eventually() >> Reply(SUCCESS, [ANYTHING] * 3)).value
    return topic, times


@case(kills=["smaller-offsets-do-not-count", "zero-is-no-offset"])
def test_is_what_was_committed(bk: BrokerSession) -> None:
    topic = bk.topic()
    group = online(bk, topic)
    bk.commit_offset(group, topic, 0, 7) >> Reply(SUCCESS)
    bk.committed(group, topic).offset >> Reply(SUCCESS, 7)
    for offset in (3, 0):
        bk.commit_offset(group, topic, 0, offset) >> Reply(SUCCESS)
        bk.committed(group, topic).offset >> Reply(SUCCESS, offset)


@case(kills=["negative-commits-are-offsets"])
def test_negative_commit_counts_as_none(bk: BrokerSession) -> None:
    topic = bk.topic()
    group = online(bk, topic)
    bk.send(topic, queue=1) >> Reply(SUCCESS)
    bk.max_offset(topic, 1).offset.eventually() >> Reply(SUCCESS, 1)
    for offset, told in ((7, 7), (-3, 0), (5, 5), (-1, 0)):
        bk.commit_offset(group, topic, 1, offset) >> Reply(SUCCESS)
        bk.committed(group, topic, 1).offset >> Reply(SUCCESS, told)


@case(kills=["offsets-are-of-all-groups", "offsets-are-of-all-queues"])
def test_is_of_one_group_and_queue(bk: BrokerSession) -> None:
    topic = bk.topic()
    group, other = online(bk, topic), online(bk, topic)
    bk.commit_offset(group, topic, 0, 7) >> Reply(SUCCESS)
    none = AnyOf(Reply(SUCCESS, 0), Reply(NOT_FOUND))
    bk.committed(other, topic).offset >> none
    bk.committed(group, topic, 1).offset >> none


@case(kills=["oneway-commits-are-dropped"])
def test_oneway_commit_counts(bk: BrokerSession) -> None:
    topic = bk.topic()
    group = online(bk, topic)
    bk.commit_offset(group, topic, 0, 7, flag=FLAG_ONEWAY) >> Silence()
    bk.committed(group, topic).offset.eventually() >> Reply(SUCCESS, 7)


@case(kills=["groups-never-start-at-zero"])
def test_never_committed_starts_at_zero(bk: BrokerSession) -> None:
    topic = bk.topic()
    group = online(bk, topic)
    bk.send(topic) >> Reply(SUCCESS)
    bk.committed(group, topic).offset.eventually() >> Reply(SUCCESS, 0)


@case(kills=["groups-always-start-at-zero"])
def test_never_committed_is_not_found_on_request(bk: BrokerSession) -> None:
    topic = bk.topic()
    group = online(bk, topic)
    bk.send(topic) >> Reply(SUCCESS)
    bk.committed(group, topic, ext={"setZeroIfNotFound": "false"}).offset >> Reply(NOT_FOUND)


@case(kills=["queues-without-messages-have-offsets"])
def test_never_committed_of_an_empty_queue_is_not_found(bk: BrokerSession) -> None:
    topic = bk.topic()
    group = online(bk, topic)
    bk.committed(group, topic, 2) >> Reply(NOT_FOUND)


@case(kills=["queues-that-begin-late-start-at-zero"], clock=True, own_server=True, setup=OLD)
def test_never_committed_of_what_is_gone_is_not_found(bk: BrokerSession) -> None:
    topic = bk.topic()
    begins_late(bk, topic)
    group = online(bk, topic)
    bk.committed(group, topic, 1) >> Reply(NOT_FOUND)
    bk.commit_offset(group, topic, 1, 0) >> Reply(SUCCESS)
    bk.committed(group, topic, 1).offset >> Reply(SUCCESS, 0)


@case(kills=["unknown-groups-may-commit"])
def test_unknown_group_may_not_commit(bk: BrokerSession) -> None:
    group = bk.group()
    answer = Reply(ResponseCode.SUBSCRIPTION_GROUP_NOT_EXIST, remark=f"Group {group} not exist!")
    bk.commit_offset(group, bk.topic(), 0, 7) >> answer


@case(kills=["unknown-topics-may-be-committed"])
def test_unknown_topic_may_not_be_committed(bk: BrokerSession) -> None:
    group, topic = online(bk, bk.topic()), bk.name("T")
    answer = Reply(ResponseCode.TOPIC_NOT_EXIST, remark=f"Topic {topic} not exist!")
    bk.commit_offset(group, topic, 0, 7) >> answer


@case(kills=["max-offset-is-that-of-the-last-message"])
def test_max_is_that_of_the_next_message(bk: BrokerSession) -> None:
    topic = bk.topic()
    bk.send(topic) >> Reply(SUCCESS)
    bk.send(topic) >> Reply(SUCCESS)
    bk.max_offset(topic).offset.eventually() >> Reply(SUCCESS, 2)


@case(kills=["offsets-of-nothing-are-refused"])
def test_max_of_nothing_is_zero(bk: BrokerSession) -> None:
    topic = bk.name("T")
    bk.max_offset(topic, 9).offset >> Reply(SUCCESS, 0)
    bk.min_offset(topic, 9).offset >> Reply(SUCCESS, 0)


@case(kills=["min-offset-is-the-greatest"])
def test_min_is_that_of_the_first_message(bk: BrokerSession) -> None:
    topic = bk.topic()
    bk.send(topic) >> Reply(SUCCESS)
    bk.send(topic) >> Reply(SUCCESS)
    bk.max_offset(topic).offset.eventually() >> Reply(SUCCESS, 2)
    bk.min_offset(topic).offset >> Reply(SUCCESS, 0)


@case(kills=["every-time-is-the-beginning"], clock=True)
def test_of_a_time(bk: BrokerSession) -> None:
    topic, times = stored_apart(bk)
    bk.offset_at(topic, 0, times[1]).offset >> Reply(SUCCESS, 1)


@case(kills=["earliest-time-is-that-of-the-last-message", "earliest-time-of-nothing-is-zero"], clock=True)
def test_earliest_time_is_that_of_the_first_message(bk: BrokerSession) -> None:
    topic, times = stored_apart(bk)
    bk.earliest_time(topic, 0).number("timestamp") >> Reply(SUCCESS, times[0])
    bk.earliest_time(topic, 1).number("timestamp") >> Reply(SUCCESS, -1)


@case(
    kills=[
        "offsets-are-not-cloned",
        "offsets-in-all-topics-are-cloned",
        "one-queue-is-cloned",
        "cloning-moves",
        "cloned-offsets-are-shared",
        "cloned-offsets-are-added",
    ]
)
def test_clone_gives_a_group_the_offsets_of_another(bk: BrokerSession) -> None:
    topic, other = bk.topic(), bk.topic("U")
    group, clone = online(bk, topic), bk.group("clone")
    bk.create_group(clone) >> Reply(SUCCESS)
    for one, queue, offset in ((topic, 0, 7), (topic, 2, 5), (other, 0, 3)):
        bk.commit_offset(group, one, queue, offset) >> Reply(SUCCESS)
    bk.commit_offset(clone, topic, 1, 9) >> Reply(SUCCESS)
    asked = {"srcGroup": group, "destGroup": clone, "topic": topic, "offline": "true"}
    bk.call(RequestCode.CLONE_GROUP_OFFSET, asked, about=f"{group} to {clone}") >> Reply(SUCCESS)
    for member in (group, clone):
        bk.committed(member, topic, 0).offset >> Reply(SUCCESS, 7)
        bk.committed(member, topic, 2).offset >> Reply(SUCCESS, 5)
    bk.committed(group, other, 0).offset >> Reply(SUCCESS, 3)
    for one, queue in ((other, 0), (topic, 1)):
        bk.committed(clone, one, queue).offset >> AnyOf(Reply(SUCCESS, 0), Reply(NOT_FOUND))
    bk.commit_offset(clone, topic, 0, 8) >> Reply(SUCCESS)
    bk.commit_offset(group, topic, 2, 6) >> Reply(SUCCESS)
    for member, offsets in ((group, (7, 6)), (clone, (8, 5))):
        for queue, offset in zip((0, 2), offsets, strict=True):
            bk.committed(member, topic, queue).offset >> Reply(SUCCESS, offset)


@case(kills=["every-topic-is-cloned-without-one"])
def test_clone_without_a_topic_copies_nothing(bk: BrokerSession) -> None:
    topic, group, clone = bk.topic(), bk.group(), bk.group("clone")
    for one in (group, clone):
        bk.create_group(one) >> Reply(SUCCESS)
    bk.commit_offset(group, topic, 2, 5) >> Reply(SUCCESS)
    asked = {"srcGroup": group, "destGroup": clone, "offline": "true"}
    for more in (asked, {**asked, "topic": ""}):
        bk.call(RequestCode.CLONE_GROUP_OFFSET, more, about=f"{group} to {clone}") >> Reply(SUCCESS)
        bk.committed(clone, topic, 2).offset >> AnyOf(Reply(SUCCESS, 0), Reply(NOT_FOUND))


@case(kills=["every-topic-is-cloned", "no-other-topic-is-cloned"])
def test_clone_of_a_group_that_is_online(bk: BrokerSession) -> None:
    topic, other = bk.topic(), bk.topic("U")
    group = online(bk, topic)
    for one, offset in ((topic, 7), (other, 5)):
        bk.commit_offset(group, one, 2, offset) >> Reply(SUCCESS)
    none = AnyOf(Reply(SUCCESS, 0), Reply(NOT_FOUND))
    for offline, cloned in (("false", none), ("true", Reply(SUCCESS, 5))):
        clone = bk.group(f"clone-{offline}")
        for one in (topic, other):
            asked = {"srcGroup": group, "destGroup": clone, "topic": one, "offline": offline}
            bk.call(RequestCode.CLONE_GROUP_OFFSET, asked, about=f"{group} to {clone}") >> Reply(SUCCESS)
        bk.committed(clone, topic, 2).offset >> Reply(SUCCESS, 7)
        bk.committed(clone, other, 2).offset >> cloned


@case(kills=["times-between-belong-to-the-earlier", "late-times-belong-to-the-last"], clock=True)
def test_of_a_time_between_is_the_next(bk: BrokerSession) -> None:
    topic, times = stored_apart(bk)
    for time, offset in ((1, 0), (times[0] + 1, 1), (times[1], 1), (times[1] + 1, 2), (times[2] + 1, 3)):
        bk.offset_at(topic, 0, time).offset >> Reply(SUCCESS, offset)


@case(kills=["times-between-belong-to-the-later"], clock=True)
def test_of_a_time_between_is_the_nearest(bk: BrokerSession) -> None:
    topic, times = stored_apart(bk)
    halfway = (times[1] + times[2]) // 2
    for time, offset in (
        (1, 0),
        (times[0] + 1, 0),
        (times[1] - 1, 1),
        (halfway, 1),
        (halfway + 1, 2),
        (times[2] + 1, 2),
    ):
        bk.offset_at(topic, 0, time).offset >> Reply(SUCCESS, offset)
    bk.offset_at(topic, 0, halfway + 1, ext={"boundaryType": "UPPER"}).offset >> Reply(SUCCESS, 2)


@case(kills=["upper-bounds-are-lower", "upper-bounds-are-one-more"], clock=True)
def test_of_a_time_as_upper_bound(bk: BrokerSession) -> None:
    topic, times = stored_apart(bk)
    bk.send_batch(topic, [b"a", b"b"]).offset >> Reply(SUCCESS, 3)
    stored = bk.pull(topic, offset=4).seen("store time", lambda one: one.store_timestamp)
    last = (stored.eventually() >> Reply(SUCCESS, [ANYTHING])).value[0]
    words = cycle(("upper", "UPPER"))  # clients send the second one
    for time, offset in (
        (1, 0),
        (times[1] - 1, 0),
        (times[1], 1),
        (times[2] + 1, 2),
        (last, 4),
        (last + 1, 4),
    ):
        bk.offset_at(topic, 0, time, ext={"boundaryType": next(words)}).offset >> Reply(SUCCESS, offset)
    for word in ("lower", "LOWER"):
        bk.offset_at(topic, 0, last, ext={"boundaryType": word}).offset >> Reply(SUCCESS, 3)


@case(kills=["the-first-topic-is-not-named", "topics-of-one-group-are-named"], own_server=True)
def test_all_of_them_name_the_topics_of_each_group(bk: BrokerSession) -> None:
    topics, other = sorted([bk.topic(), bk.topic()]), bk.topic("U")
    first, second = online(bk, topics[0]), online(bk, other)
    retry = f"%RETRY%{first}"
    for group, topic, queue, offset in (
        (first, topics[0], 2, 7),
        (first, topics[0], 3, 8),
        (first, topics[1], 0, 5),
        (first, retry, 0, 4),
        (second, other, 1, 3),
    ):
        bk.commit_offset(group, topic, queue, offset) >> Reply(SUCCESS)
    table = {
        f"{topics[0]}@{first}": {"2": 7, "3": 8},
        f"{topics[1]}@{first}": {"0": 5},
        f"{retry}@{first}": {"0": 4},
        f"{other}@{second}": {"1": 3},
    }
    bk.offsets().json >> Reply(SUCCESS, Including({"offsetTable": Including(table)}))
    named = {first: Including([retry, *topics]), second: [other]}
    bk.offsets().json >> Reply(SUCCESS, Including({"groupTopicMap": Including(named)}))


@case(kills=["offsets-of-one-queue-are-told"])
def test_all_of_them_are_told(bk: BrokerSession) -> None:
    topic, other = bk.topic(), bk.topic("U")
    group = online(bk, topic)
    for name, queue, offset in ((topic, 2, 7), (topic, 3, 8), (other, 1, 5)):
        bk.commit_offset(group, name, queue, offset) >> Reply(SUCCESS)
    table = {f"{topic}@{group}": {"2": 7, "3": 8}, f"{other}@{group}": {"1": 5}}
    bk.offsets().json >> Reply(SUCCESS, Including({"offsetTable": Including(table)}))


@case(kills=["commits-need-no-queue", "commits-need-no-offset"])
def test_commit_of_nothing_is_refused(bk: BrokerSession) -> None:
    topic = bk.topic()
    group = online(bk, topic)
    bk.commit_offset(group, topic, 0, 7) >> Reply(SUCCESS)
    for queue, offset, name in ((None, 3, "QueueId"), (0, None, "Offset")):
        remark = f"{name} is null, topic is {topic}"
        answer = Reply(ResponseCode.INVALID_PARAMETER, remark=remark)
        bk.commit_offset(group, topic, queue, offset) >> answer
        wrong = {"queueId" if queue is None else "commitOffset": "x"}
        bk.commit_offset(group, topic, 0, 3, ext=wrong) >> answer
    bk.committed(group, topic, 0).offset >> Reply(SUCCESS, 7)


@case(kills=["stops-forget-oneway-commits", "offsets-begin-with-the-backup"], own_server=True)
def test_oneway_commits_survive_a_stop(bk: BrokerSession) -> None:
    topic = bk.topic()
    group = online(bk, topic)
    retry = f"%RETRY%{group}"
    for name, queue, offset in ((topic, 1, 7), (topic, 3, 5), (retry, 0, 9)):
        bk.commit_offset(group, name, queue, offset, flag=FLAG_ONEWAY) >> Silence()
        bk.committed(group, name, queue).offset.eventually() >> Reply(SUCCESS, offset)
    bk.restart()
    for queue, offset in ((1, 7), (3, 5)):
        bk.committed(group, topic, queue).offset >> Reply(SUCCESS, offset)
    bk.commit_offset(group, topic, 3, 8, flag=FLAG_ONEWAY) >> Silence()
    bk.committed(group, topic, 3).offset.eventually() >> Reply(SUCCESS, 8)
    bk.restart()
    table = {f"{topic}@{group}": {"1": 7, "3": 8}, f"{retry}@{group}": {"0": 9}}
    bk.offsets().json >> Reply(SUCCESS, Including({"offsetTable": Including(table)}))


@case(
    kills=[
        "versions-of-offsets-stay",
        "versions-of-offsets-count-every-commit",
        "versions-of-offsets-count-too-early",
    ],
    own_server=True,
)
def test_version_counts_commits(bk: BrokerSession) -> None:
    topic = bk.topic()
    group = online(bk, topic)
    before = (bk.offsets().seen_as(VERSION) >> Reply(SUCCESS)).value
    for number in range(499):
        bk.commit_offset(group, topic, 0, number) >> Reply(SUCCESS)
    bk.offsets().seen_as(VERSION) >> Reply(SUCCESS, before)
    since = bk.broker_time()
    bk.commit_offset(group, topic, 0, 499) >> Reply(SUCCESS)
    changed = Between(since, bk.broker_time())
    counted = {"counter": before["counter"] + 1, "stateVersion": 0, "timestamp": changed}
    after = bk.offsets().seen_as(VERSION) >> Reply(SUCCESS, counted)
    bk.restart()
    bk.offsets().seen_as(VERSION) >> Reply(SUCCESS, after.value)


@case(kills=["commits-need-no-topic"], own_server=True)  # on which no other case has created the group "null"
def test_commit_without_topic_is_refused(bk: BrokerSession) -> None:
    topic = bk.topic()
    group = online(bk, topic)
    bk.commit_offset(group, None, 0, 3) >> Reply(ResponseCode.SYSTEM_ERROR, remark=Matching("."))
    remark = "Group null not exist!"
    bk.commit_offset(None, topic, 0, 3) >> Reply(ResponseCode.SUBSCRIPTION_GROUP_NOT_EXIST, remark=remark)
    bk.commit_offset(group, topic, 0, 3) >> Reply(SUCCESS)
    bk.committed(group, topic, 0).offset >> Reply(SUCCESS, 3)


@case(kills=["commits-49-need-a-topic"])
def test_commit_without_topic_succeeds(bk: BrokerSession) -> None:
    topic, group = bk.topic(), bk.group()
    bk.commit_offset(group, None, 0, 3) >> Reply(SUCCESS)
    bk.commit_offset(None, topic, 1, 5) >> Reply(SUCCESS)
    table = {f"null@{group}": {"0": 3}, f"{topic}@null": {"1": 5}}
    bk.offsets().json >> Reply(SUCCESS, Including({"offsetTable": Including(table)}))
    for name, wrong in (("queueId", None), ("commitOffset", None), ("queueId", "x"), ("commitOffset", "x")):
        said = {"consumerGroup": group, "topic": topic, "queueId": "0", "commitOffset": "9", name: wrong}
        refused = Reply(ResponseCode.SYSTEM_ERROR, remark=Matching("."))
        bk.call(RequestCode.UPDATE_CONSUMER_OFFSET, said) >> refused
    bk.committed(group, topic).offset >> Reply(SUCCESS, 0)


@case(
    kills=[
        "max-of-nothing-is-zero",
        "min-of-nothing-is-zero",
        "time-of-nothing-is-none",
        "search-in-nothing-finds-zero",
        "offset-of-nothing-is-zero",
        "names-of-fields-are-read-in-any-case",
    ]
)
def test_missing_or_wrong_field_is_refused(bk: BrokerSession) -> None:
    topic = bk.topic()
    group = online(bk, topic)
    bk.commit_offset(group, topic, 1, 5) >> Reply(SUCCESS)
    queue = {"topic": topic, "queueId": "1"}
    refused = Reply(ResponseCode.SYSTEM_ERROR, remark=Matching("."))
    for code, more in (
        (RequestCode.GET_MAX_OFFSET, {}),
        (RequestCode.GET_MIN_OFFSET, {}),
        (RequestCode.GET_EARLIEST_MSG_STORETIME, {}),
        (RequestCode.SEARCH_OFFSET_BY_TIMESTAMP, {"timestamp": "7"}),
        (RequestCode.QUERY_CONSUMER_OFFSET, {"consumerGroup": group}),
    ):
        said = {**queue, **more}
        for name in ("topic", "queueId", *more.keys() & {"timestamp"}):
            bk.call(code, {**said, name: None}) >> refused
            bk.call(code, {**said, name: None, name.upper(): said[name]}) >> refused
            if name != "topic":
                bk.call(code, {**said, name: "x"}) >> refused
        bk.call(code, said) >> Reply(SUCCESS)


@case(kills=["least-offsets-have-no-remark"])
def test_min_has_an_empty_remark(bk: BrokerSession) -> None:
    topic = bk.topic()
    bk.send(topic, queue=1) >> Reply(SUCCESS)
    for queue in (0, 1):
        bk.min_offset(topic, queue).offset >> Reply(SUCCESS, 0, remark="")


@case(kills=["forgotten-groups-keep-resets"])
def test_deletion_of_a_group_takes_resets_along(bk: BrokerSession) -> None:
    topic, group = bk.topic(queues=1), bk.group()
    bk.create_group(group) >> Reply(SUCCESS)
    bk.send(topic) >> Reply(SUCCESS)
    bk.max_offset(topic).offset.eventually() >> Reply(SUCCESS, 1)
    reset = {"topic": topic, "group": group, "timestamp": "-1", "isForce": "true"}
    bk.call(RequestCode.INVOKE_BROKER_TO_RESET_OFFSET, reset, about=group) >> Reply(SUCCESS)
    gone = {"groupName": group, "cleanOffset": "true"}
    bk.call(RequestCode.DELETE_SUBSCRIPTIONGROUP, gone, about=group) >> Reply(SUCCESS)
    bk.committed(group, topic).offset >> Reply(SUCCESS, 0)
    bk.create_group(group) >> Reply(SUCCESS)
    bk.pull(topic, group=group).bodies >> Reply(SUCCESS, [b"hello"])


def correction(bk: BrokerSession, topic: str, compared: str, left_out: str | None = None) -> Exchange:
    """QUERY_CORRECTION_OFFSET (308), seen as its offsets by queue."""
    more = {} if left_out is None else {"filterGroups": left_out}
    code = RequestCode.QUERY_CORRECTION_OFFSET
    return asked(bk, code, _corrections, topic=topic, compareGroup=compared, **more)


def _corrections(reply: Command) -> dict[int, int]:
    return {int(queue): offset for queue, offset in as_json(reply)["correctionOffsets"].items()}


def three_groups(bk: BrokerSession, topic: str) -> list[str]:
    """Groups that have consumed three messages in each queue of a topic, from the slowest to the fastest."""
    for queue in (0, 1, 2) * 3:
        bk.send(topic, queue=queue) >> Reply(SUCCESS)
    bk.max_offset(topic, 2).offset.eventually() >> Reply(SUCCESS, 3)
    groups = [bk.group(hint) for hint in ("slow", "slower", "fast")]
    committed = [(0, 0, 1), (0, 1, 2), (1, 0, 2), (1, 1, 1), (1, 2, 3), (2, 0, 3), (2, 1, 3), (2, 2, 2)]
    for group in groups:
        bk.create_group(group) >> Reply(SUCCESS)
    for number, queue, offset in committed:
        bk.commit_offset(groups[number], topic, queue, offset) >> Reply(SUCCESS)
    return groups


@case(kills=["corrections-are-those-of-the-fastest", "corrections-mix-topics", "corrections-forget-queues"])
def test_correction_is_that_of_the_slowest(bk: BrokerSession) -> None:
    topic, other = bk.topic(queues=3), bk.topic("other")
    slow, _, fast = three_groups(bk, topic)
    bk.commit_offset(slow, other, 0, 0) >> Reply(SUCCESS)
    for compared in (slow, fast):
        correction(bk, topic, compared) >> Reply(SUCCESS, {0: 1, 1: 1, 2: 2})
    correction(bk, bk.topic("none"), slow) >> Reply(SUCCESS, {})


@case(kills=["corrections-count-all-groups", "corrections-leave-one-group-out"])
def test_correction_leaves_groups_out(bk: BrokerSession) -> None:
    topic = bk.topic(queues=3)
    slow, slower, fast = three_groups(bk, topic)
    correction(bk, topic, fast, f"{slow},{slower}") >> Reply(SUCCESS, {0: 3, 1: 3, 2: 2})


@case(kills=["corrections-forget-groups"])
def test_correction_forgets_nothing(bk: BrokerSession) -> None:
    topic = bk.topic(queues=3)
    slow, slower, fast = three_groups(bk, topic)
    correction(bk, topic, fast, f"{slow},{slower}") >> Reply(SUCCESS, ANYTHING)
    for group, offset in ((slower, 2), (slow, 1), (fast, 3)):
        bk.committed(group, topic).offset >> Reply(SUCCESS, offset)


@case(kills=["corrections-count-what-is-gone"], clock=True, own_server=True, setup=OLD)
def test_correction_passes_over_what_is_gone(bk: BrokerSession) -> None:
    topic, behind, slow, fast = bk.topic(), *(bk.group(hint) for hint in ("behind", "slow", "fast"))
    for group in (behind, slow, fast):
        bk.create_group(group) >> Reply(SUCCESS)
    low = begins_late(bk, topic)
    for group, offset in ((behind, low - 1), (fast, low + 1)):
        bk.commit_offset(group, topic, 1, offset) >> Reply(SUCCESS)
    correction(bk, topic, fast) >> Reply(SUCCESS, {1: low + 1})
    bk.commit_offset(slow, topic, 1, low) >> Reply(SUCCESS)
    correction(bk, topic, fast) >> Reply(SUCCESS, {1: low})
