"""Chapter administration: settings, state and queues of a Broker."""

import re
from collections.abc import Mapping

from harness.conformance import ANYTHING, Between, Including, Matching, Reply, case
from harness.conformance.broker.tools import (
    ERROR,
    SUCCESS,
    asked,
    state_of,
)
from harness.conformance.broker.whole import pulled
from harness.session import BrokerSession
from harness.wire import Command, RequestCode, ResponseCode
from harness.wire.broker_settings import BrokerSetting, broker_settings

NUMBER, DECIMAL, RATES = r"^\d+$", r"^\d+\.\d+$", r"^(\d+\.\d+(E-\d+)?| )*$"
RATIO = r"^(-1|[01])\.\d+$"
OLDEST = "earliestMessageTimeStamp"
STATE = {
    "EndTransactionQueueSize": NUMBER,
    "EndTransactionThreadPoolQueueCapacity": NUMBER,
    "bootTimestamp": r"^\d{13}$",
    "brokerVersionDesc": r"^V[45]_\d+_\d+$",
    "commitLogDiskRatio": RATIO,
    "commitLogDirCapacity": r"^Total : \S+ \S+, Free : \S+ \S+$",
    "commitLogMaxOffset": NUMBER,
    "commitLogMinOffset": r"^(-1|\d+)$",
    "consumeQueueDiskRatio": RATIO,
    "dispatchBehindBytes": NUMBER,
    "dispatchMaxBuffer": NUMBER,
    "earliestMessageTimeStamp": r"^(-1|\d{13})$",
    "getFoundTps": RATES,
    "getMessageEntireTimeMax": NUMBER,
    "getMissTps": RATES,
    "getTotalTps": RATES,
    "msgGetTotalTodayMorning": NUMBER,
    "msgGetTotalTodayNow": NUMBER,
    "msgGetTotalYesterdayMorning": NUMBER,
    "msgPutTotalTodayMorning": NUMBER,
    "msgPutTotalTodayNow": NUMBER,
    "msgPutTotalYesterdayMorning": NUMBER,
    "pageCacheLockTimeMills": NUMBER,
    "pullThreadPoolQueueCapacity": NUMBER,
    "pullThreadPoolQueueHeadWaitTimeMills": NUMBER,
    "pullThreadPoolQueueSize": NUMBER,
    "putLatency99": DECIMAL,
    "putLatency999": DECIMAL,
    "putMessageAverageSize": DECIMAL,
    "putMessageEntireTimeMax": NUMBER,
    "putMessageFailedTimes": NUMBER,
    "putMessageSizeTotal": NUMBER,
    "putMessageTimesTotal": NUMBER,
    "putTps": RATES,
    "queryThreadPoolQueueCapacity": NUMBER,
    "queryThreadPoolQueueHeadWaitTimeMills": NUMBER,
    "queryThreadPoolQueueSize": NUMBER,
    "remainHowManyDataToFlush": r"^\d+(\.\d+)? \S+$",
    "remainTransientStoreBufferNumbs": NUMBER,
    "runtime": r"^\[ \d+ days, \d+ hours, \d+ minutes, \d+ seconds \]$",
    "sendThreadPoolQueueCapacity": NUMBER,
    "sendThreadPoolQueueHeadWaitTimeMills": NUMBER,
    "sendThreadPoolQueueSize": NUMBER,
    "startAcceptSendRequestTimeStamp": NUMBER,
}
STATE_OF_5X = {
    "ackThreadPoolQueueCapacity": NUMBER,
    "ackThreadPoolQueueHeadWaitTimeMills": NUMBER,
    "ackThreadPoolQueueSize": NUMBER,
    "brokerActive": "^true$",
    "litePullThreadPoolQueueCapacity": NUMBER,
    "litePullThreadPoolQueueHeadWaitTimeMills": NUMBER,
    "litePullThreadPoolQueueSize": NUMBER,
    "timerCongestNum": NUMBER,
    "timerDequeueTps": DECIMAL,
    "timerEnqueueTps": DECIMAL,
    "timerOffsetBehind": r"^-?\d+$",
    "timerReadBehind": r"^-?\d+$",
}


@case(kills=["broker-settings-are-not-shown"])
def test_settings_are_shown(bk: BrokerSession) -> None:
    bk.config().among("brokerName", "autoCreateTopicEnable") >> Reply(
        SUCCESS, {"brokerName": bk.broker_name, "autoCreateTopicEnable": "true"}
    )


@case(kills=["broker-settings-do-not-change"], own_server=True)
def test_settings_change(bk: BrokerSession) -> None:
    bk.update_config({"autoCreateTopicEnable": "false"}) >> Reply(SUCCESS)
    bk.config().among("autoCreateTopicEnable") >> Reply(SUCCESS, {"autoCreateTopicEnable": "false"})
    bk.send(bk.name("T")) >> Reply(ResponseCode.TOPIC_NOT_EXIST)


@case(kills=["bad-numbers-spoil-updates"], own_server=True)
def test_number_that_cannot_be_read_changes_nothing_else(bk: BrokerSession) -> None:
    update = b"maxMessageSize=x\ntraceOn=false\nfileReservedTime=y\nautoCreateTopicEnable=false"
    bk.update_config(update) >> Reply(SUCCESS)
    shown = {"maxMessageSize": "4194304", "traceOn": "false", "autoCreateTopicEnable": "false"}
    bk.config().among(*shown) >> Reply(SUCCESS, shown)


@case(kills=["broker-updates-end-at-64-kib"])
def test_long_update_is_read(bk: BrokerSession) -> None:
    bk.update_config(f"unknown={'x' * 70_000}\nmaxMessageSize=4194305".encode()) >> Reply(SUCCESS)
    bk.config().among("maxMessageSize") >> Reply(SUCCESS, {"maxMessageSize": "4194305"})
    bk.update_config({"maxMessageSize": "4194304"}) >> Reply(SUCCESS)


@case(
    kills=[
        "broker-updates-know-only-equals",
        "broker-updates-know-no-comments",
        "broker-updates-are-not-continued",
        "broker-updates-keep-escapes",
        "broker-updates-take-the-first-pair",
    ],
    apart=True,
)
def test_updates_are_java_properties(bk: BrokerSession) -> None:
    key = "maxMessageSize"
    for number, separator in enumerate((":", " ", "\t = \t ", " : "), 5_000_001):
        bk.update_config(f"{key}{separator}{number}".encode()) >> Reply(SUCCESS)
        bk.config().among(key) >> Reply(SUCCESS, {key: str(number)})
    for text, value in (
        (f"\n {key}=5000011\n #{key}=5000012\n!{key}=5000013", "5000011"),
        (f"max\\\n  {key[3:]}=50\\\r\n\t00021\ntraceOn=true", "5000021"),
        (f"ma\\u0078\\{key[3:]} = \\500003\\u0031", "5000031"),
        (f"{key}=5000041\ntraceOn=true\n{key}:5000042", "5000042"),
    ):
        bk.update_config(text.encode()) >> Reply(SUCCESS)
        bk.config().among(key) >> Reply(SUCCESS, {key: value})


@case(kills=["broker-black-list-ignored", "broker-black-list-lets-empty-values-pass"])
def test_black_list_holds(bk: BrokerSession) -> None:
    remark = "Can not update config in black list."
    refused = Reply(ResponseCode.NO_PERMISSION, remark=remark)
    for rest in (b"=/tmp/x", b" : /tmp/x", b" /tmp/x", b""):
        bk.update_config(b"maxMessageSize=7\n brokerConfig\\\nPath" + rest) >> refused
    bk.config().among("maxMessageSize") >> Reply(SUCCESS, {"maxMessageSize": "4194304"})


@case(kills=["broken-settings-are-taken"])
def test_settings_that_cannot_be_read_are_refused(bk: BrokerSession) -> None:
    refused = Reply(ERROR, remark="string2Properties error")
    bk.update_config(b"maxMessageSize=7\nname=\\u12xy") >> refused
    bk.config().among("maxMessageSize") >> Reply(SUCCESS, {"maxMessageSize": "4194304"})


@case(kills=["settings-of-the-later-line-are-unknown"], own_server=True)
def test_settings_of_the_later_line_change(bk: BrokerSession) -> None:
    topic = bk.topic()
    names = ("litePullMessageEnable", "popPollingSize")
    bk.config().among(*names) >> Reply(SUCCESS, dict(zip(names, ("true", "1024"), strict=True)))
    changed = dict(zip(names, ("false", "7"), strict=True))
    bk.update_config(changed) >> Reply(SUCCESS)
    bk.config().among(*names) >> Reply(SUCCESS, changed)
    bk.pull(topic, code=361) >> Reply(ResponseCode.NO_PERMISSION)


@case(kills=["settings-of-the-later-line-are-taken"])
def test_settings_of_the_later_line_are_unknown(bk: BrokerSession) -> None:
    bk.update_config({"litePullMessageEnable": "false"}) >> Reply(SUCCESS)
    bk.config().among("litePullMessageEnable") >> Reply(SUCCESS, {"litePullMessageEnable": None})


FORMS = {
    "int": r"^-?\d{1,10}$",
    "long": r"^-?\d{1,19}$",
    "double": r"^-?\d+\.\d+(E-?\d+)?$",
    "boolean": r"^(true|false)$",
}
SAID = re.compile(
    r"Thread|PoolNums|Port$|bindAddress|brokerClusterName"
    r"|mappedFileSize|maxIndexNum|maxHashSlotNum|disk|brokerFastFailureEnable|timerFlush|osPageCacheBusyTimeOutMills"
)
"""Settings whose default depends on the processors, or that a server under test is given to need little."""


def settings(bk: BrokerSession) -> Mapping[str, BrokerSetting]:
    """Those of Apache's Broker of the line that have a value on every machine."""
    known = broker_settings(bk.profile.name)
    return {key: one for key, one in known.items() if one.default is not None}


@case(kills=["settings-that-do-nothing-are-hidden", "times-are-shown-with-units"])
def test_all_settings_are_shown(bk: BrokerSession) -> None:
    known = settings(bk)
    forms = {key: Matching(FORMS.get(one.kind, "")) for key, one in known.items()}
    bk.config().among(*known) >> Reply(SUCCESS, Including(forms))


@case(kills=["settings-that-do-nothing-are-hidden", "defaults-of-another-broker"], own_server=True)
def test_settings_have_their_defaults(bk: BrokerSession) -> None:
    known = {key: one.default for key, one in settings(bk).items() if not SAID.search(key)}
    bk.config().among(*known) >> Reply(SUCCESS, known)


OF_THE_FILE = {
    "commercialBaseCount": "7",
    "waitTimeMillsInSendQueue": "350",
    "commercialTimerCount": "3",
    "haMasterAddress": "10.9.8.7:654",
}


@case(
    kills=["one-setting-of-the-file-is-shown", "addresses-are-not-shown"],
    own_server=True,
    setup=OF_THE_FILE,
)
def test_settings_of_the_file_are_shown(bk: BrokerSession) -> None:
    bk.config().among(*OF_THE_FILE) >> Reply(SUCCESS, OF_THE_FILE)


@case(kills=["addresses-without-a-value-are-shown"])
def test_address_without_a_value_is_not_shown(bk: BrokerSession) -> None:
    shown = {"haMasterAddress": None, "listenPort": bk.broker_address.rpartition(":")[2]}
    bk.config().among(*shown) >> Reply(SUCCESS, shown)


@case(
    kills=["settings-take-any-value", "settings-that-do-nothing-stay", "addresses-are-not-shown"],
    own_server=True,
)
def test_settings_keep_their_kind(bk: BrokerSession) -> None:
    good = {
        "commercialBaseCount": "7",
        "waitTimeMillsInSendQueue": "350",
        "disableConsumeIfConsumerReadSlowly": "TRUE",
        "messageStorePlugIn": "org.example.Plugin",
        "namesrvAddr": f"{bk.nameserver.address};{bk.nameserver.address}",
        "flushDiskType": "SYNC_FLUSH",
    }
    bk.update_config(good) >> Reply(SUCCESS)
    after = {**good, "disableConsumeIfConsumerReadSlowly": "true"}
    bk.config().among(*good) >> Reply(SUCCESS, after)
    bad = {
        "commercialBaseCount": "x",
        "waitTimeMillsInSendQueue": "1e3",
        "disableConsumeIfConsumerReadSlowly": "yes",
        "flushDiskType": "NO_FLUSH",
    }
    bk.update_config(bad) >> Reply(SUCCESS)
    after["disableConsumeIfConsumerReadSlowly"] = "false"
    bk.config().among(*good) >> Reply(SUCCESS, after)
    beyond = dict.fromkeys(("commercialBaseCount", "waitTimeMillsInSendQueue"), "5000000000")
    bk.update_config(beyond) >> Reply(SUCCESS)
    bk.config().among(*good) >> Reply(SUCCESS, {**after, "waitTimeMillsInSendQueue": "5000000000"})


@case(kills=["state-is-not-shown", "state-without-version"])
def test_state_is_shown(bk: BrokerSession) -> None:
    number = Matching(r"^-?[0-9]+$")
    names = ("bootTimestamp", "earliestMessageTimeStamp", "sendThreadPoolQueueSize")
    shown = Including({"brokerVersionDesc": Matching("^V[0-9]"), **dict.fromkeys(names, number)})
    asked(bk, RequestCode.GET_BROKER_RUNTIME_INFO, state_of) >> Reply(SUCCESS, shown)


@case(kills=["state-without-number-of-version"])
def test_state_has_the_number_of_the_release(bk: BrokerSession) -> None:
    asked(bk, RequestCode.GET_BROKER_RUNTIME_INFO, _is_its_version) >> Reply(SUCCESS, True)


def _is_its_version(reply: Command) -> bool:
    """Whether brokerVersion is what the header of the answer says."""
    return state_of(reply).get("brokerVersion") == str(reply.version)


@case(kills=["levels-are-not-among-the-state", "all-levels-count-as-delivered"], clock=True, own_server=True)
def test_state_has_delay_levels(bk: BrokerSession) -> None:
    topic = bk.topic(queues=1)
    for level in ("2", "2", "4", "2"):
        bk.send(topic, properties={"DELAY": level}) >> Reply(SUCCESS)
    bk.advance(30 + 1 + bk.jitter)
    bk.pull(topic).bodies.eventually() >> Reply(SUCCESS, [b"hello"] * 4)
    bk.send(topic, properties={"DELAY": "4"}) >> Reply(SUCCESS)
    shown = Including({"scheduleMessageOffset_2": "3,3", "scheduleMessageOffset_4": "1,2"})
    asked(bk, RequestCode.GET_BROKER_RUNTIME_INFO, state_of).eventually() >> Reply(SUCCESS, shown)


@case(kills=["state-begins-with-each-question"], clock=True)
def test_state_has_the_time_of_the_start(bk: BrokerSession) -> None:
    first = asked(bk, RequestCode.GET_BROKER_RUNTIME_INFO, state_of) >> Reply(SUCCESS)
    bk.advance(5)
    shown = Including({"bootTimestamp": (first.value or {}).get("bootTimestamp")})
    asked(bk, RequestCode.GET_BROKER_RUNTIME_INFO, state_of) >> Reply(SUCCESS, shown)


@case(kills=["broker-has-run-for-less-than-a-minute", "minutes-have-59-seconds"], clock=True)
def test_state_says_for_how_long(bk: BrokerSession) -> None:
    first = asked(bk, RequestCode.GET_BROKER_RUNTIME_INFO, _running) >> Reply(SUCCESS, Between(0, 2**40))
    bk.advance(130)
    running = Between(first.value + 130, first.value + 131 + 10 * bk.jitter)
    asked(bk, RequestCode.GET_BROKER_RUNTIME_INFO, _running) >> Reply(SUCCESS, running)


def _running(reply: Command) -> int:
    """For how many seconds the Broker has been running, as it says; 0: it says nothing."""
    units = re.findall(r"\d+", state_of(reply).get("runtime") or "")
    return sum(int(number) * size for number, size in zip(units, (86_400, 3_600, 60, 1), strict=False))


@case(kills=["settings-need-a-body"])
def test_no_settings_change_nothing(bk: BrokerSession) -> None:
    bk.update_config(None) >> Reply(SUCCESS)
    bk.config().among("maxMessageSize") >> Reply(SUCCESS, {"maxMessageSize": "4194304"})


@case(kills=["unknown-codes-are-not-answered"])
def test_unknown_code_is_answered(bk: BrokerSession) -> None:
    unknown = ResponseCode.REQUEST_CODE_NOT_SUPPORTED
    bk.call(29_999) >> Reply(unknown, remark=" request type 29999 not supported")


@case(kills=["cleaning-removes-queues-in-use", "cleaning-of-queues-is-refused"])
def test_cleaning_keeps_queues_in_use(bk: BrokerSession) -> None:
    topic = bk.topic()
    for body in (b"first", b"second"):
        bk.send(topic, body) >> Reply(SUCCESS)
    bk.clean_queues() >> Reply(SUCCESS)
    bk.max_offset(topic).offset >> Reply(SUCCESS, 2)
    bk.pull(topic).bodies >> Reply(SUCCESS, [b"first", b"second"])


@case(kills=["state-swaps-totals", "state-lacks-a-rate"])
def test_state_is_shown_in_its_forms(bk: BrokerSession) -> None:
    shown = Including({name: Matching(form) for name, form in STATE.items()})
    asked(bk, RequestCode.GET_BROKER_RUNTIME_INFO, state_of) >> Reply(SUCCESS, shown)
    asked(bk, RequestCode.GET_BROKER_RUNTIME_INFO, _transferred) >> Reply(SUCCESS, [Matching(RATES)])


def _transferred(reply: Command) -> list[str]:
    """The rates whose key 5.x spells with a second r."""
    keys = ("getTransferedTps", "getTransferredTps")
    return [value for key, value in state_of(reply).items() if key in keys]


@case(kills=["state-lacks-what-5x-adds"])
def test_state_of_5x_is_shown_in_its_forms(bk: BrokerSession) -> None:
    shown = Including({name: Matching(form) for name, form in STATE_OF_5X.items()})
    asked(bk, RequestCode.GET_BROKER_RUNTIME_INFO, state_of) >> Reply(SUCCESS, shown)


@case(kills=["state-counts-one-topic", "state-counts-no-bytes"], own_server=True)
def test_state_counts_messages(bk: BrokerSession) -> None:
    topic, other = bk.topic(), bk.topic("U")
    names = ("msgPutTotalTodayNow", "putMessageTimesTotal", "commitLogMinOffset")
    before = {**dict(zip(names, ("0", "1", "-1"), strict=True)), OLDEST: "-1"}
    asked(bk, RequestCode.GET_BROKER_RUNTIME_INFO, state_of) >> Reply(SUCCESS, Including(before))
    for name, queue in ((topic, 0), (topic, 1), (topic, 1), (other, 2), (other, 2)):
        bk.send(name, queue=queue) >> Reply(SUCCESS)
    ends = bk.pull(other, 2, 1).seen("end", lambda one: one.physical_offset + one.size)
    (end,) = (ends.eventually() >> Reply(SUCCESS, [ANYTHING])).value
    sizes = dict.fromkeys(("commitLogMaxOffset", "putMessageSizeTotal"), str(end))
    counts = dict(zip(names, ("5", "5", "0"), strict=True))
    after = Including({**counts, **sizes, "putMessageAverageSize": str(end / 5)})
    asked(bk, RequestCode.GET_BROKER_RUNTIME_INFO, state_of).eventually() >> Reply(SUCCESS, after)


@case(kills=["oldest-message-is-the-newest"], clock=True, own_server=True)
def test_state_has_the_time_of_the_oldest_message(bk: BrokerSession) -> None:
    topic = bk.topic()
    for _ in range(2):
        bk.send(topic) >> Reply(SUCCESS)
        bk.advance(2)
    oldest = Including({OLDEST: str(pulled(bk, topic)["store_timestamp"])})
    asked(bk, RequestCode.GET_BROKER_RUNTIME_INFO, state_of).eventually() >> Reply(SUCCESS, oldest)
