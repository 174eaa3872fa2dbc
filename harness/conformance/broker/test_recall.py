"""Chapter recall: a producer takes back what waits for its time."""

from base64 import urlsafe_b64encode

from harness.conformance import ANYTHING, Including, Reply, case
from harness.conformance.broker.tools import timers
from harness.session import BrokerSession, Exchange
from harness.wire import RequestCode, ResponseCode

SUCCESS = ResponseCode.SUCCESS
ILLEGAL = ResponseCode.ILLEGAL_OPERATION
RECALLS = {"recallMessageEnable": "true"}
LATER = 20
"""Protocol seconds for which a message waits."""


def moment(bk: BrokerSession) -> str:
    """A time for which messages wait, ms since the epoch."""
    return str(bk.broker_time() // 1000 * 1000 + LATER * 1000)


def waiting(bk: BrokerSession, topic: str, at: str, body: bytes = b"late", key: str = "") -> tuple[str, str]:
    """Sends a message that waits. Returns its unique key and its handle."""
    key = key or bk.name("key")
    said = {"TIMER_DELIVER_MS": at, "UNIQ_KEY": key}
    sent = bk.send(topic, body, 1, properties=said) >> Reply(SUCCESS)
    ext = (sent.command and sent.command.ext) or {}
    return key, ext.get("recallHandle") or ""


def handle(*words: str) -> str:
    """A handle of these words."""
    return urlsafe_b64encode(" ".join(words).encode()).decode()


def recall(bk: BrokerSession, topic: str, handle: str | None) -> Exchange:
    """RECALL_MESSAGE (370)."""
    ext = {"producerGroup": "PG", "topic": topic, "recallHandle": handle}
    return bk.call(RequestCode.RECALL_MESSAGE, ext)


def told(key: str) -> Reply:
    """Success, and the unique key of what was recalled."""
    return Reply(SUCCESS, ext=Including({"msgId": key, "MSG_REGION": "DefaultRegion"}))


@case(
    kills=[
        "recalls-delete-nothing",
        "recalls-delete-all",
        "recalls-delete-one",
        "recalls-do-not-say-what",
    ],
    clock=True,
    setup=RECALLS,
)
def test_recalled_message_is_not_delivered(bk: BrokerSession) -> None:
    topic, other, at = bk.topic(), bk.topic("other"), moment(bk)
    waiting(bk, topic, at, b"first")
    second, third = (waiting(bk, topic, at) for _ in range(2))
    waiting(bk, other, at, b"other")
    for key, handle_ in (second, third):
        recall(bk, topic, handle_) >> told(key)
    bk.advance(LATER + 3 + bk.jitter)
    bk.pull(other, 1).bodies.eventually() >> Reply(SUCCESS, [b"other"])
    bk.pull(topic, 1).bodies.eventually() >> Reply(SUCCESS, [b"first"])
    bk.max_offset(topic, 0).offset >> Reply(SUCCESS, 0)


@case(kills=["deletions-are-delivered", "handles-need-their-padding"], clock=True, setup=RECALLS)
def test_recalled_twice(bk: BrokerSession) -> None:
    topic, at = bk.topic(), moment(bk)
    key, given = waiting(bk, topic, at)
    for _ in range(2):
        recall(bk, topic, given) >> told(key)
    for more in ("", "1", "12"):  # of which two end with padding
        unknown = f"{bk.name('unknown')}{more}"
        given = handle("v1", topic, bk.broker_name, at, unknown)
        recall(bk, topic, given.rstrip("=")) >> told(unknown)
    bk.advance(LATER + 3 + bk.jitter)
    for queue in (0, 1):
        bk.max_offset(topic, queue).offset >> Reply(SUCCESS, 0)


def five_waiting(bk: BrokerSession) -> tuple[str, str, str, list[str]]:
    """A topic with a message in each of five queues, another topic, when they are due, and their keys."""
    topic, other, at = bk.topic("T", 5), bk.topic("other"), moment(bk)
    keys = [bk.name("key") for _ in range(5)]
    for queue, key in enumerate(keys):
        said = {"TIMER_DELIVER_MS": at, "UNIQ_KEY": key}
        bk.send(topic, b"%d" % queue, queue, properties=said) >> Reply(SUCCESS)
    return topic, other, at, keys


def deletion(bk: BrokerSession, to: str, name: str, at: str, by: int = 0) -> None:
    """A producer sends a deletion, due that many ms after that time."""
    said = {"TIMER_DELIVER_MS": str(int(at) + by), "TIMER_DEL_UNIQKEY": name}
    bk.send(to, b"a deletion", properties=said) >> Reply(SUCCESS)


def delivered(bk: BrokerSession, topic: str, other: str, *queues: int) -> None:
    """In time, only the messages of these queues are delivered."""
    bk.advance(LATER + 4 + bk.jitter)
    for queue in queues:
        bk.pull(topic, queue).bodies.eventually() >> Reply(SUCCESS, [b"%d" % queue])
    for queue in {*range(5)} - {*queues}:
        bk.max_offset(topic, queue).offset >> Reply(SUCCESS, 0)
    bk.max_offset(other, 0).offset >> Reply(SUCCESS, 0)


def named_with_topics(bk: BrokerSession) -> None:
    """Deletions that name topic and key, or not, and what they leave."""
    topic, other, at, keys = five_waiting(bk)
    deletion(bk, other, f"{topic}+{keys[0]}", at)
    deletion(bk, topic, f"{other}+{keys[1]}", at)
    deletion(bk, other, keys[2], at)
    deletion(bk, other, f"{topic}+{keys[3]}", at, -1000)
    deletion(bk, other, f"{topic}+{keys[4]}", at, 1000)
    delivered(bk, topic, other, 1, 2, 3, 4)


@case(kills=["deletions-name-no-topic", "deletions-are-of-their-own-topic", "deletions-last"], clock=True)
def test_deletion_names_topic_and_key(bk: BrokerSession) -> None:
    named_with_topics(bk)


@case(
    kills=["deletions-always-name-a-topic", "deletions-are-of-their-own-topic", "deletions-last"],
    clock=True,
)
def test_deletion_names_the_key(bk: BrokerSession) -> None:
    topic, other, at, keys = five_waiting(bk)
    deletion(bk, other, keys[0], at)
    deletion(bk, topic, f"{topic}+{keys[1]}", at)
    deletion(bk, topic, keys[2], at, -1000)
    deletion(bk, topic, keys[3], at)
    deletion(bk, topic, keys[4], at, 1000)
    delivered(bk, topic, other, 1, 2, 4)


@case(kills=["deletions-name-no-topic"], clock=True, setup={"appendTopicForTimerDeleteKey": "true"})
def test_deletion_names_the_topic_if_configured(bk: BrokerSession) -> None:
    named_with_topics(bk)


@case(kills=["deletions-are-forgotten"], clock=True, own_server=True, setup=RECALLS)
def test_recall_survives_a_restart(bk: BrokerSession) -> None:
    topic, at = bk.topic(), moment(bk)
    key, given = waiting(bk, topic, at, b"recalled")
    waiting(bk, topic, at, b"kept")
    recall(bk, topic, given) >> told(key)
    bk.restart()
    bk.advance(LATER + 3 + bk.jitter)
    bk.pull(topic, 1).bodies.eventually() >> Reply(SUCCESS, [b"kept"])


@case(kills=["recalls-are-always-enabled"])
def test_refused_by_default(bk: BrokerSession) -> None:
    topic = bk.topic()
    _, given = waiting(bk, topic, moment(bk))
    remark = "recall failed, operation is forbidden"
    ext = Including({"MSG_REGION": "DefaultRegion"})
    recall(bk, topic, given) >> Reply(ResponseCode.NO_PERMISSION, remark=remark, ext=ext)


@case(kills=["any-handle-is-one"], setup=RECALLS)
def test_handle_that_is_none_is_refused(bk: BrokerSession) -> None:
    topic, at = bk.topic(), moment(bk)
    of_a_later_form = handle("v2", topic, bk.broker_name, at, "key")
    without_a_key = handle("v1", topic, bk.broker_name, at)
    for wrong in (None, "%%%", of_a_later_form, without_a_key):
        recall(bk, topic, wrong) >> Reply(ILLEGAL, remark="recall handle is invalid")


@case(kills=["handles-of-any-topic", "handles-of-any-broker", "handles-of-any-time"], setup=RECALLS)
def test_handle_that_does_not_fit_is_refused(bk: BrokerSession) -> None:
    topic, other, name, now = bk.topic(), bk.topic("other"), bk.broker_name, bk.broker_time()
    at = str(now + 60_000)
    remark = "recall failed, topic not match"
    recall(bk, other, handle("v1", topic, name, at, "k")) >> Reply(ILLEGAL, remark=remark)
    remark = "recall failed, broker service not available"
    recall(bk, topic, handle("v1", topic, f"{name}-2", at, "k")) >> Reply(ILLEGAL, remark=remark)
    for time in (str(now - 1000), str(now + 259_300_000), "soon"):
        refused = Reply(ILLEGAL, remark="recall failed, timestamp invalid")
        recall(bk, topic, handle("v1", topic, name, time, "k")) >> refused
    for more in (60_000, 259_100_000):
        recall(bk, topic, handle("v1", topic, name, str(now + more), "k")) >> told("k")


@case(kills=["recalls-of-any-topic"], setup=RECALLS)
def test_unknown_topic_is_refused(bk: BrokerSession) -> None:
    topic = bk.name("T")
    given = handle("v1", topic, bk.broker_name, moment(bk), "k")
    remark = f"recall failed, the topic[{topic}] not exist"
    recall(bk, topic, given) >> Reply(ResponseCode.TOPIC_NOT_EXIST, remark=remark)


@case(kills=["recalls-whatever-may-be-written", "recalls-are-early"], own_server=True, setup=RECALLS)
def test_broker_that_takes_no_messages_refuses(bk: BrokerSession) -> None:
    topic = bk.topic()
    key, given = waiting(bk, topic, str(bk.broker_time() + 3_600_000))
    bk.update_config({"brokerPermission": "4"}) >> Reply(SUCCESS)
    recall(bk, topic, given) >> told(key)
    bk.update_config({"allowRecallWhenBrokerNotWriteable": "false"}) >> Reply(SUCCESS)
    remark = "recall failed, broker service not available"
    recall(bk, topic, given) >> Reply(ResponseCode.SERVICE_NOT_AVAILABLE, remark=remark)
    bk.update_config({"brokerPermission": "6"}) >> Reply(SUCCESS)
    recall(bk, topic, given) >> told(key)
    later = str(bk.broker_time() + 86_400_000)
    bk.update_config({"startAcceptSendRequestTimeStamp": later}) >> Reply(SUCCESS)
    recall(bk, topic, given) >> Reply(ResponseCode.SERVICE_NOT_AVAILABLE, remark=remark)
    bk.update_config({"startAcceptSendRequestTimeStamp": "1"}) >> Reply(SUCCESS)
    recall(bk, topic, given) >> told(key)


@case(kills=["recalls-are-counted-as-messages"], clock=True, setup=RECALLS)
def test_recalled_message_is_not_counted(bk: BrokerSession) -> None:
    topic, at = bk.topic(), str(bk.broker_time() + 3_600_000)
    (_, given), _ = (waiting(bk, topic, at) for _ in range(2))
    timers(bk, topic).eventually() >> Reply(SUCCESS, (True, [2], [ANYTHING]))
    recall(bk, topic, given) >> Reply(SUCCESS)
    timers(bk, topic).eventually() >> Reply(SUCCESS, (True, [1], [ANYTHING]))


@case(kills=["slaves-recall"], setup={**RECALLS, "brokerRole": "SLAVE", "brokerId": "1"})
def test_slave_refuses(bk: BrokerSession) -> None:
    topic = bk.name("T")
    of_this_broker = handle("v1", topic, bk.broker_name, str(1 << 41), "key")
    recall(bk, topic, of_this_broker) >> Reply(ResponseCode.SLAVE_NOT_AVAILABLE)
