"""Chapter pop: which messages a pop returns, and what its answer says."""

from harness.conformance import ABSENT, ANYTHING, Including, Reply, case
from harness.conformance.broker.expiring import OLD, begins_late
from harness.conformance.broker.pop.popping import HIDDEN, NOTHING, SUCCESS, filled, popped
from harness.session import BrokerSession
from harness.wire import RequestCode


@case(kills=["popped-is-not-hidden", "pops-give-nothing"])
def test_gives_messages_once(bk: BrokerSession) -> None:
    topic, group = filled(bk, b"a", b"b")
    bk.pop(topic, group).bodies >> Reply(SUCCESS, [b"a", b"b"], remark="FOUND")
    bk.pop(topic, group) >> NOTHING


@case(kills=["pops-are-of-all-groups"])
def test_is_of_a_group(bk: BrokerSession) -> None:
    topic, group = filled(bk, b"a")
    bk.pop(topic, group).bodies >> Reply(SUCCESS, [b"a"])
    bk.pop(topic, bk.group()).bodies >> Reply(SUCCESS, [b"a"])


@case(kills=["pops-give-all-there-is"])
def test_not_more_than_requested(bk: BrokerSession) -> None:
    topic, group = filled(bk, b"a", b"b", b"c")
    bk.pop(topic, group, most=2).bodies >> Reply(SUCCESS, [b"a", b"b"])
    bk.pop(topic, group, most=2).bodies >> Reply(SUCCESS, [b"c"])


@case(kills=["pops-list-nothing", "pops-say-that-nothing-is-left", "pops-count-without-order"])
def test_lists_what_it_gives(bk: BrokerSession) -> None:
    topic, group = filled(bk, b"a", b"b", b"c")
    pop = bk.pop(topic, group, 0, most=2)
    offsets = {"startOffsetInfo": "0 0 0", "msgOffsetInfo": "0 0 0,1", "orderCountInfo": ABSENT}
    said = Including({**offsets, "invisibleTime": str(HIDDEN * 1000), "restNum": "1"})
    pop.given >> Reply(SUCCESS, [("0", 0, 0), ("0", 0, 1)], ext=said)


@case(
    kills=[
        "pops-are-of-the-first-queue",
        "pops-are-of-queues-to-write",
        "notifications-are-of-queues-to-write",
        "acks-are-of-queues-to-write",
    ]
)
def test_any_queue_or_one(bk: BrokerSession) -> None:
    topic, group = bk.name("T"), bk.group()
    bk.create_topic(topic, 4, write_queues=1) >> Reply(SUCCESS)
    for queue in (1, 2):
        bk.send(topic, b"%d" % queue, queue) >> Reply(SUCCESS)
        bk.max_offset(topic, queue).offset.eventually() >> Reply(SUCCESS, 1)
    bk.pop(topic, group, 2).bodies >> Reply(SUCCESS, [b"2"])
    bk.notification(topic, group) >> Reply(SUCCESS, ext=Including({"hasMsg": "true"}))
    pop = bk.pop(topic, group)
    pop.bodies >> Reply(SUCCESS, [b"1"])
    bk.ack(topic, group, (pop.handles >> Reply(SUCCESS)).value[0]) >> Reply(SUCCESS)


@case(kills=["pops-have-no-filter", "pops-come-back-to-what-does-not-match"])
def test_only_messages_with_the_tag(bk: BrokerSession) -> None:
    topic, group = filled(bk, b"a", tags="A")
    bk.send(topic, b"b", tags="B") >> Reply(SUCCESS)
    bk.max_offset(topic).offset.eventually() >> Reply(SUCCESS, 2)
    bk.pop(topic, group, tags="B || C").bodies >> Reply(SUCCESS, [b"b"])
    bk.pop(topic, bk.group("other"), tags="B", ext={"expType": None}).bodies >> Reply(SUCCESS, [b"b"])
    bk.pop(topic, group) >> NOTHING
    bk.send(topic, b"c", tags="A") >> Reply(SUCCESS)
    bk.max_offset(topic).offset.eventually() >> Reply(SUCCESS, 3)
    bk.pop(topic, group, 0, tags="B") >> NOTHING
    bk.committed(group, topic, 0).offset.eventually() >> Reply(SUCCESS, 3)


@case(kills=["pops-always-begin-at-the-beginning"], setup={"initPopOffsetByCheckMsgInMem": "false"})
def test_new_group_begins_at_the_end(bk: BrokerSession) -> None:
    topic, group = filled(bk, b"a", b"b", b"c")
    bk.pop(topic, group, newest=True).bodies >> Reply(SUCCESS, [b"c"])
    bk.pop(topic, bk.group()).bodies >> Reply(SUCCESS, [b"a", b"b", b"c"])
    for hint in ("one", "two", "three", "four"):  # a pop of one message passes over the queues that are left
        left = Including({"restNum": "0"})
        bk.pop(topic, bk.group(hint), most=1, newest=True).bodies >> Reply(SUCCESS, [b"c"], ext=left)


@case(kills=["pops-begin-at-the-end"])
def test_begins_with_the_first_message_that_is_near(bk: BrokerSession) -> None:
    topic, group = filled(bk, b"a", b"b")
    bk.pop(topic, group, newest=True).bodies >> Reply(SUCCESS, [b"a", b"b"])


@case(kills=["offsets-beyond-the-end-stay"])
def test_offset_beyond_the_end_is_corrected(bk: BrokerSession) -> None:
    topic, group = filled(bk, b"a", b"b")
    bk.pop(topic, group, 0).bodies >> Reply(SUCCESS, [b"a", b"b"])
    bk.commit_offset(group, topic, 0, 9) >> Reply(SUCCESS)
    bk.pop(topic, group, 0) >> NOTHING
    bk.committed(group, topic, 0).offset >> Reply(SUCCESS, 2)
    bk.send(topic, b"c") >> Reply(SUCCESS)
    bk.pop(topic, group, 0).bodies.eventually() >> Reply(SUCCESS, [b"c"])


@case(
    kills=["pops-begin-with-what-is-gone", "new-groups-begin-at-what-is-left"],
    clock=True,
    own_server=True,
    setup=OLD,
)
def test_begins_with_the_first_message_that_is_left(bk: BrokerSession) -> None:
    topic, group, other = bk.topic(), bk.group(), bk.group("other")
    bk.pop(topic, group, 1) >> NOTHING
    bk.commit_offset(group, topic, 1, 0) >> Reply(SUCCESS)
    low = begins_late(bk, topic)
    bk.pop(topic, group, 1).offsets >> Reply(SUCCESS, list(range(low, 6)))
    bk.committed(group, topic, 1).offset >> Reply(SUCCESS, 6)
    said = Including({"startOffsetInfo": f"0 1 {low}", "restNum": "0"})
    bk.pop(topic, other, 1).offsets >> Reply(SUCCESS, list(range(low, 6)), ext=said)
    bk.pop(topic, bk.group("newest"), 1, newest=True).offsets >> Reply(SUCCESS, [5])


@case(kills=["pops-heed-no-resets", "resets-leave-queues-blocked", "resets-are-told-for-ever"])
def test_goes_on_where_it_was_reset(bk: BrokerSession) -> None:
    topic, group, ordered = *filled(bk, b"a", b"b", b"c"), bk.group("ordered")
    bk.create_group(group) >> Reply(SUCCESS)
    bk.create_group(ordered) >> Reply(SUCCESS)
    bk.pop(topic, group).bodies >> Reply(SUCCESS, [b"a", b"b", b"c"])
    popped(bk, topic, ordered, 2, order=True)
    for one in (group, ordered):
        reset = {"topic": topic, "group": one, "timestamp": "-1", "isForce": "true", "queueId": "0"}
        bk.call(RequestCode.INVOKE_BROKER_TO_RESET_OFFSET, {**reset, "offset": "1"}) >> Reply(SUCCESS)
    bk.pop(topic, group, most=1).bodies >> Reply(SUCCESS, [b"b"])
    bk.pop(topic, group, most=1).bodies >> Reply(SUCCESS, [b"c"])
    bk.pop(topic, ordered, order=True).bodies >> Reply(SUCCESS, [b"b", b"c"])
    bk.pop(topic, ordered, order=True) >> NOTHING


@case(kills=["resets-also-set-the-queue-of-their-offset"])
def test_reset_leaves_other_queues(bk: BrokerSession) -> None:
    topic, group = filled(bk, b"a", b"b", b"c")
    bk.create_group(group) >> Reply(SUCCESS)
    bk.send(topic, b"d", queue=1) >> Reply(SUCCESS)
    bk.max_offset(topic, 1).offset.eventually() >> Reply(SUCCESS, 1)
    bk.pop(topic, group, 0).bodies >> Reply(SUCCESS, [b"a", b"b", b"c"])
    bk.pop(topic, group, 1).bodies >> Reply(SUCCESS, [b"d"])
    reset = {"topic": topic, "group": group, "timestamp": "-1", "isForce": "true", "queueId": "0"}
    bk.call(RequestCode.INVOKE_BROKER_TO_RESET_OFFSET, {**reset, "offset": "1"}) >> Reply(SUCCESS)
    bk.pop(topic, group, 0).bodies >> Reply(SUCCESS, [b"b", b"c"])
    bk.pop(topic, group, 1) >> NOTHING


@case(kills=["tags-are-compared-as-texts", "tags-are-compared-by-half-their-code"])
def test_tags_with_one_hash_code_are_one(bk: BrokerSession) -> None:
    topic, group = filled(bk, b"BB", tags="BB")
    for tag in ("gmf", "Aa"):
        bk.send(topic, tag.encode(), tags=tag) >> Reply(SUCCESS)
    bk.max_offset(topic).offset.eventually() >> Reply(SUCCESS, 3)
    bk.pop(topic, bk.group(), 0, tags="aaaa") >> NOTHING
    bk.pop(topic, group, 0, tags="Aa").bodies >> Reply(SUCCESS, [b"BB", b"Aa"])


@case(kills=["pops-give-so-many-of-each-queue"])
def test_number_is_of_all_queues(bk: BrokerSession) -> None:
    topic, group = bk.topic(queues=3), bk.group()
    for number in range(9):
        bk.send(topic, b"%d" % number, number % 3) >> Reply(SUCCESS)
    for queue in range(3):
        bk.max_offset(topic, queue).offset.eventually() >> Reply(SUCCESS, 3)
    for count, rest in ((4, 5), (4, 1), (1, 0)):
        left = Including({"restNum": str(rest)})
        bk.pop(topic, group, most=4).bodies >> Reply(SUCCESS, [ANYTHING] * count, ext=left)
