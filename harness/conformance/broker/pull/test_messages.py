"""Chapter pull: the messages of an answer, and the offsets that it names."""

from typing import Final

from harness.conformance import Including, Reply, case
from harness.conformance.broker.pull.filled import LITE, NOT_FOUND, SUCCESS, filled
from harness.session import BrokerSession
from harness.wire import ResponseCode
from harness.wire.fastjson import parse
from harness.wire.header_fields import PullFlag

PULL: Final = 11
MOVED = ResponseCode.PULL_OFFSET_MOVED


@case(kills=["pulls-begin-at-the-beginning", "pulls-tell-bounds-of-nothing"])
def test_messages_from_an_offset_on(bk: BrokerSession) -> None:
    topic = filled(bk, "a", "b", "c")
    pull = bk.pull(topic, offset=1)
    pull.bodies >> Reply(SUCCESS, [b"b", b"c"], remark="FOUND")
    pull.next_offset >> Reply(SUCCESS, 3)
    pull.bounds >> Reply(SUCCESS, (0, 3))


@case(kills=["pulls-give-all-there-is"])
def test_not_more_than_requested(bk: BrokerSession) -> None:
    pull = bk.pull(filled(bk, "a", "b", "c"), most=2)
    pull.bodies >> Reply(SUCCESS, [b"a", b"b"])
    pull.next_offset >> Reply(SUCCESS, 2)


@case(kills=["pull-at-the-end-is-moved"])
def test_end_of_the_queue_is_not_found(bk: BrokerSession) -> None:
    pull = bk.pull(filled(bk, "a"), offset=1)
    pull.next_offset >> Reply(NOT_FOUND, 1, remark="OFFSET_OVERFLOW_ONE")


@case(kills=["moved-pulls-stay-where-they-are"])
def test_beyond_the_end_is_moved(bk: BrokerSession) -> None:
    pull = bk.pull(filled(bk, "a"), offset=9)
    pull.next_offset >> Reply(MOVED, 1, remark="OFFSET_OVERFLOW_BADLY")


@case(kills=["moved-pulls-stay-where-they-are"])
def test_before_the_beginning_is_moved(bk: BrokerSession) -> None:
    pull = bk.pull(filled(bk, "a"), offset=-1)
    pull.next_offset >> Reply(MOVED, 0, remark="OFFSET_TOO_SMALL")


@case(kills=["empty-queues-move-nobody"])
def test_queue_without_messages(bk: BrokerSession) -> None:
    topic = bk.topic()
    bk.pull(topic).next_offset >> Reply(NOT_FOUND, 0)
    bk.pull(topic, offset=5).next_offset >> Reply(MOVED, 0)


@case(kills=["only-the-first-tag-counts", "tags-do-not-count", "filtered-pulls-go-on-behind-the-last-found"])
def test_only_messages_with_the_tag(bk: BrokerSession) -> None:
    pull = bk.pull(filled(bk, "a", "b", "c", "b", "d"), subscription="a || c")
    pull.bodies >> Reply(SUCCESS, [b"a", b"c"])
    pull.next_offset >> Reply(SUCCESS, 5)


@case(kills=["bars-in-front-hide-tags"])
def test_bars_around_tags_are_passed_over(bk: BrokerSession) -> None:
    topic = filled(bk, "a", "b", "c")
    for subscription in ("||a||c", "a||c||", "a|| ||c", " || a || || c "):
        bk.pull(topic, subscription=subscription).bodies >> Reply(SUCCESS, [b"a", b"c"])


@case(kills=["tags-are-compared-as-texts", "tags-are-compared-by-half-their-code"])
def test_tags_with_one_hash_code_are_one(bk: BrokerSession) -> None:
    topic = filled(bk, "BB", "gmf", "Aa")
    bk.pull(topic, subscription="Aa").bodies >> Reply(SUCCESS, [b"BB", b"Aa"])
    pull = bk.pull(topic, subscription="aaaa")
    pull.next_offset >> Reply(ResponseCode.PULL_RETRY_IMMEDIATELY, 3, remark="NO_MATCHED_MESSAGE")
    waiting = bk.pull(topic, offset=3, subscription="BB", suspend=60, on=bk.connect())
    bk.send(topic, b"at last", tags="Aa") >> Reply(SUCCESS)
    waiting.bodies >> Reply(SUCCESS, [b"at last"])


@case(kills=["tags-do-not-count", "nothing-wanted-is-not-found"])
def test_no_message_with_the_tag(bk: BrokerSession) -> None:
    pull = bk.pull(filled(bk, "a", "a"), subscription="b")
    pull.next_offset >> Reply(ResponseCode.PULL_RETRY_IMMEDIATELY, 2, remark="NO_MATCHED_MESSAGE")


@case(kills=["pulls-commit-nothing"])
def test_commits_an_offset(bk: BrokerSession) -> None:
    topic, group = filled(bk, "a"), bk.group()
    flags = PullFlag.COMMIT | PullFlag.SUBSCRIPTION
    bk.pull(topic, group=group, sys_flag=flags, commit=7) >> Reply(SUCCESS)
    bk.committed(group, topic).offset >> Reply(SUCCESS, 7)


@case(kills=["pulls-always-commit"])
def test_commits_nothing_without_the_flag(bk: BrokerSession) -> None:
    topic, group = filled(bk, "a"), bk.group()
    bk.pull(topic, group=group) >> Reply(SUCCESS)
    bk.commit_offset(group, topic, 0, 3) >> Reply(SUCCESS)
    bk.pull(topic, group=group, commit=7) >> Reply(SUCCESS)
    bk.committed(group, topic).offset >> Reply(SUCCESS, 3)


def group_of_others(bk: BrokerSession) -> str:
    """A group that is configured to consume from Broker 3, and from Broker 5 if it is slow."""
    group = bk.group()
    bk.create_group(group, brokerId=3, whichBrokerWhenConsumeSlowly=5) >> Reply(SUCCESS)
    return group


@case(kills=["groups-are-sent-elsewhere"])
def test_suggests_the_master(bk: BrokerSession) -> None:
    topic, group = filled(bk, "a"), group_of_others(bk)
    master = Including({"suggestWhichBrokerId": "0"})
    bk.pull(topic, group=group) >> Reply(SUCCESS, ext=master)
    bk.pull(topic, offset=1, group=group) >> Reply(NOT_FOUND, ext=master)
    bk.pull(topic, offset=9, group=group) >> Reply(MOVED, ext=master)


@case(kills=["groups-are-kept-here"], setup={"slaveReadEnable": "true"})
def test_suggests_the_broker_of_the_group(bk: BrokerSession) -> None:
    topic, group = filled(bk, "a"), group_of_others(bk)
    bk.pull(topic, group=group) >> Reply(SUCCESS, ext=Including({"suggestWhichBrokerId": "3"}))
    bk.pull(topic, offset=1, group=group) >> Reply(NOT_FOUND, ext=Including({"suggestWhichBrokerId": "3"}))
    bk.pull(topic, group=bk.group()) >> Reply(SUCCESS, ext=Including({"suggestWhichBrokerId": "0"}))


@case(kills=["lite-pulls-begin-at-the-beginning", "lite-pulls-are-not-held"])
def test_lite_pull_gets_messages(bk: BrokerSession) -> None:
    topic, consumer = bk.topic(), bk.connect()
    for body in (b"first", b"second"):
        bk.send(topic, body) >> Reply(SUCCESS)
    pull = bk.pull(topic, offset=1, code=LITE)
    pull.bodies.eventually() >> Reply(SUCCESS, [b"second"])
    pull.next_offset >> Reply(SUCCESS, 2)
    held = bk.pull(topic, offset=2, suspend=60, code=LITE, on=consumer)
    bk.send(topic, b"third") >> Reply(SUCCESS)
    held.bodies >> Reply(SUCCESS, [b"third"])


@case(kills=["system-flags-of-topics-are-not-told", "lite-pulls-do-not-know-the-end"])
def test_answer_has_system_flags(bk: BrokerSession) -> None:
    topic, group = bk.name("T"), bk.group()
    bk.create_topic(topic, 1, ext={"topicSysFlag": "2"}) >> Reply(SUCCESS)
    bk.create_group(group, groupSysFlag=6) >> Reply(SUCCESS)
    for body in (b"first", b"second", b"third"):
        bk.send(topic, body) >> Reply(SUCCESS)
    told = {"suggestWhichBrokerId": "0", "nextBeginOffset": "2", "minOffset": "0", "maxOffset": "3"}
    told |= {"topicSysFlag": "2", "groupSysFlag": "6"}
    for code in (PULL, LITE):
        pull = bk.pull(topic, 0, 1, 1, group=group, code=code)
        pull.bodies.eventually() >> Reply(SUCCESS, [b"second"], ext=told)


@case(kills=["pulls-of-none-are-refused", "pulls-of-none-get-all"])
def test_none_is_one(bk: BrokerSession) -> None:
    topic = filled(bk, "a", "b")
    pull = bk.pull(topic, most=0)
    pull.bodies >> Reply(SUCCESS, [b"a"])
    pull.next_offset >> Reply(SUCCESS, 1)


@case(kills=["empty-type-is-no-tag"])
def test_empty_type_is_a_tag(bk: BrokerSession) -> None:
    topic = filled(bk, "a")
    bk.pull(topic, expression_type="").bodies >> Reply(SUCCESS, [b"a"])
    for kind in (None, "TAG"):
        bk.pull(topic, expression_type=kind, subscription="a").bodies >> Reply(SUCCESS, [b"a"])
    none = bk.pull(topic, expression_type="", subscription="a")
    none >> Reply(ResponseCode.PULL_RETRY_IMMEDIATELY)


@case(kills=["filtered-pulls-give-all-there-is"])
def test_not_more_than_requested_of_a_tag(bk: BrokerSession) -> None:
    topic = filled(bk, "a", "b", "a", "a")
    pull = bk.pull(topic, most=2, subscription="a")
    pull.bodies >> Reply(SUCCESS, [b"a", b"a"])
    pull.next_offset >> Reply(SUCCESS, 3)
    bk.pull(topic, offset=3, most=2, subscription="a").bodies >> Reply(SUCCESS, [b"a"])


@case(kills=["pulls-give-any-number-of-bytes"])
def test_not_more_than_256_kib_at_once(bk: BrokerSession) -> None:
    topic, first = bk.topic(), 100_001
    bk.send(topic, bytes(first)) >> Reply(SUCCESS)
    bk.max_offset(topic).offset.eventually() >> Reply(SUCCESS, 1)
    (whole,) = (bk.pull(topic).seen("size", lambda one: one.size) >> Reply(SUCCESS)).value
    rest = 262_144 - 2 * whole + first
    sizes = (first, rest, first + 1, 300_004)
    for size in sizes[1:]:
        bk.send(topic, bytes(size)) >> Reply(SUCCESS)
    bk.max_offset(topic).offset.eventually() >> Reply(SUCCESS, 4)
    for offset, found in ((0, sizes[:2]), (1, sizes[1:2]), (2, sizes[2:3]), (3, sizes[3:])):
        pull = bk.pull(topic, offset=offset).seen("length of the body", lambda one: len(one.body))
        pull >> Reply(SUCCESS, list(found))


@case(kills=["corrections-are-not-kept", "kept-corrections-have-no-key"])
def test_correction_is_kept_as_a_message(bk: BrokerSession) -> None:
    topic, group = filled(bk, "a"), bk.group()
    bk.pull(topic, offset=9, group=group).next_offset >> Reply(MOVED, 1)
    queue = {"brokerName": bk.broker_name, "queueId": 0, "topic": topic}
    event = {"consumerGroup": group, "messageQueue": queue, "offsetNew": 1, "offsetRequest": 9}
    kept = bk.find("OFFSET_MOVED_EVENT", group).seen("event", lambda one: parse(one.body))
    kept.eventually() >> Reply(SUCCESS, [event])
    properties = {"KEYS": group, "TAGS": group, "DELAY": "0"}
    bk.find("OFFSET_MOVED_EVENT", group).properties >> Reply(SUCCESS, [properties])
