"""Chapter configuration: settings that are shown and changed while the server runs (codes 318, 319).

Rules of these cases:
- What a setting is changed to is changed back, for the cases that come after; they share a server that was
  started for them.
- An update is judged by its effect: what 319 shows afterwards, and what the server then does.
"""

from typing import Any

from harness.conformance import ABSENT, ANYTHING, Closed, Including, Matching, Reply, Unchanged, case
from harness.session import Connection, NameServerSession
from harness.wire import RequestCode, ResponseCode

SUCCESS = ResponseCode.SUCCESS
SYSTEM_ERROR = ResponseCode.SYSTEM_ERROR
NO_PERMISSION = ResponseCode.NO_PERMISSION
TOPIC_NOT_EXIST = ResponseCode.TOPIC_NOT_EXIST
QUERY = RequestCode.GET_BROKER_CLUSTER_INFO
ORDER = "ORDER_TOPIC_CONFIG"

STARTED: dict[str, str] = {
    "serverSelectorThreads": "5",
    "configBlackList": "writeBufferLowWaterMark;of.mine",
    "mine": "as written",
    "of.mine": "1",
}
"""What the server of these cases is started with: two keys that no release knows, and a black list."""

PATHS = ("kvConfigPath", "configStorePath")
SPELLINGS = (
    " \t%s=/x",
    "%s : /x",
    "%s /x",
    "%s",
    "%s=",
    "%s=/x\n%s=/y",
    "a=1\n\n# remark\n%s=/x\nb=2",
    "{first}\\\n   {rest}=/x",
    "{first}\\{rest}=/x",
    "\\u00{code}{rest}=/x",
)
"""Ways to write a key that are read as that key."""

EFFECTIVE = {
    "listenPort": Matching(r"^\d+$"),
    "kvConfigPath": ANYTHING,
    "configStorePath": ANYTHING,
    "orderMessageEnable": "false",
    "serverChannelMaxIdleTimeSeconds": "120",
}
EFFECTIVE_5 = {
    "returnOrderTopicConfigToBroker": "true",
    "scanNotActiveBrokerInterval": "5000",
    "unRegisterBrokerQueueCapacity": "3000",
    "supportActingMaster": "false",
    "enableAllTopicList": "true",
    "enableTopicList": "true",
    "notifyMinBrokerIdChanged": "false",
    "needWaitForService": "false",
    "waitSecondsForService": "45",
    "deleteTopicWithBrokerRegistration": "false",
}
INERT = {
    "productEnvName": "center",
    "clusterTest": "false",
    "configBlackList": STARTED["configBlackList"],
    "serverWorkerThreads": "8",
    "serverCallbackExecutorThreads": "0",
    "serverSelectorThreads": "5",
    "serverOnewaySemaphoreValue": "256",
    "serverAsyncSemaphoreValue": "64",
    "serverSocketSndBufSize": "0",
    "serverSocketRcvBufSize": "0",
    "writeBufferHighWaterMark": "0",
    "writeBufferLowWaterMark": "0",
    "serverSocketBacklog": "1024",
    "serverPooledByteBufAllocatorEnable": "true",
    "useEpollNativeSelector": "false",
}
INERT_5 = {
    "bindAddress": ANYTHING,
    "clientRequestThreadPoolNums": "8",
    "defaultThreadPoolNums": "16",
    "clientRequestThreadPoolQueueCapacity": "50000",
    "defaultThreadPoolQueueCapacity": "10000",
    "enableControllerInNamesrv": "false",
    "serverNettyWorkerGroupEnable": "true",
    "enableShutdownGracefully": "false",
    "shutdownWaitTimeSeconds": "30",
}


def spelt(form: str, key: str) -> str:
    """A key as one of SPELLINGS writes it."""
    if "%s" in form:
        return form.replace("%s", key)
    return form.format(first=key[0], rest=key[1:], code=f"{ord(key[0]):02x}")


def warmed(ns: NameServerSession) -> Connection:
    """A new connection on which a request was answered."""
    connection = ns.connect()
    connection.call(QUERY) >> Reply(SUCCESS)
    return connection


# -- what is shown -------------------------------------------------------------------------------------------


@case("ns.configuration.what-it-does-is-listed", kills=["settings-are-not-shown"], setup=STARTED)
def test_what_it_does_is_listed(ns: NameServerSession) -> None:
    """The settings that change what a server does are listed, with Apache's defaults where nothing else was
    said.
    """
    ns.config().settings >> Reply(SUCCESS, Including(EFFECTIVE), remark=ABSENT)


@case("ns.configuration.what-5-does-is-listed", kills=["settings-of-4-9-only"], setup=STARTED)
def test_what_5_does_is_listed(ns: NameServerSession) -> None:
    """The settings that came with 5.x and change what a server does are listed, with Apache's defaults."""
    ns.config().settings >> Reply(SUCCESS, Including(EFFECTIVE_5))


@case("ns.configuration.every-setting-is-listed", kills=["inert-settings-are-not-shown"], setup=STARTED)
def test_every_setting_is_listed(ns: NameServerSession) -> None:
    """The settings of Apache's server that are about its threads and buffers are listed too."""
    ns.config().settings >> Reply(SUCCESS, Including(INERT))


@case("ns.configuration.every-setting-of-5-is-listed", kills=["inert-settings-are-not-shown"], setup=STARTED)
def test_every_setting_of_5_is_listed(ns: NameServerSession) -> None:
    """So are those that came with 5.x."""
    ns.config().settings >> Reply(SUCCESS, Including(INERT_5))


@case("ns.configuration.list-is-sorted", kills=["settings-are-not-sorted"], setup=STARTED)
def test_list_is_sorted(ns: NameServerSession) -> None:
    """The lines are sorted by key."""
    ns.config().is_sorted >> Reply(SUCCESS, True)


@case("ns.configuration.file-is-taken-over", kills=["file-is-ignored"], setup=STARTED)
def test_file_is_taken_over(ns: NameServerSession) -> None:
    """A setting of the file that the server was started with is in force, and listed."""
    ns.config().among("serverSelectorThreads") >> Reply(SUCCESS, {"serverSelectorThreads": "5"})


@case("ns.configuration.other-keys-of-the-file-are-kept", kills=["other-keys-are-not-shown"], setup=STARTED)
def test_other_keys_of_the_file_are_kept(ns: NameServerSession) -> None:
    """A key of the file that no release knows is listed as it was written, and can be changed."""
    ns.config().among("mine") >> Reply(SUCCESS, {"mine": "as written"})
    ns.update_config("mine=changed") >> Reply(SUCCESS)
    ns.config().among("mine") >> Reply(SUCCESS, {"mine": "changed"})
    ns.update_config("mine=as written") >> Reply(SUCCESS)


# -- what an update changes ----------------------------------------------------------------------------------


@case(
    "ns.configuration.update-changes-what-is-shown",
    kills=["update-changes-nothing", "update-changes-one-key", "update-forgets-the-one-before"],
    setup=STARTED,
)
def test_update_changes_what_is_shown(ns: NameServerSession) -> None:
    """Every setting that an update names is changed, and no other."""
    before = ns.config().settings >> Reply(SUCCESS)
    ns.update_config("serverWorkerThreads=9\nclusterTest=true") >> Reply(SUCCESS, remark=ABSENT)
    ns.update_config("productEnvName=elsewhere") >> Reply(SUCCESS)
    changed = {"serverWorkerThreads": "9", "clusterTest": "true", "productEnvName": "elsewhere"}
    ns.config().settings >> Reply(SUCCESS, {**before.value, **changed})
    ns.update_config("serverWorkerThreads=8\nclusterTest=false\nproductEnvName=center") >> Reply(SUCCESS)
    ns.config().settings >> Unchanged(before)


@case(
    "ns.configuration.unknown-keys-are-ignored",
    kills=["unknown-keys-are-refused", "unknown-keys-are-added"],
    setup=STARTED,
)
def test_unknown_keys_are_ignored(ns: NameServerSession) -> None:
    """A key that the server does not know is ignored, and the others of the update are taken."""
    ns.update_config("nobodyKnows=1\nserverWorkerThreads=10\nListenPort=1") >> Reply(SUCCESS)
    keys = ("nobodyKnows", "ListenPort", "serverWorkerThreads")
    shown = {"nobodyKnows": None, "ListenPort": None, "serverWorkerThreads": "10"}
    ns.config().among(*keys) >> Reply(SUCCESS, shown)
    ns.update_config("serverWorkerThreads=8") >> Reply(SUCCESS)


@case(
    "ns.configuration.bad-number-changes-nothing",
    kills=["bad-number-is-zero", "bad-number-is-refused", "numbers-have-64-bits"],
    setup=STARTED,
)
def test_bad_number_changes_nothing(ns: NameServerSession) -> None:
    """What is no number of 32 bits leaves the setting as it was; the others of the update are taken."""
    for bad in ("abc", "", "7.0", "0x7", "2147483648", "1 2"):
        ns.update_config(f"serverWorkerThreads={bad}\nclusterTest=true") >> Reply(SUCCESS)
        shown = {"serverWorkerThreads": "8", "clusterTest": "true"}
        ns.config().among("serverWorkerThreads", "clusterTest") >> Reply(SUCCESS, shown)
        ns.update_config("clusterTest=false") >> Reply(SUCCESS)


@case("ns.configuration.blank-after-a-number-makes-it-bad", kills=["numbers-are-trimmed"], setup=STARTED)
def test_blank_after_a_number_makes_it_bad(ns: NameServerSession) -> None:
    """A blank after a number makes it none."""
    ns.update_config("serverWorkerThreads=7 ") >> Reply(SUCCESS)
    ns.config().among("serverWorkerThreads") >> Reply(SUCCESS, {"serverWorkerThreads": "8"})


@case("ns.configuration.signed-number-is-a-number", kills=["numbers-have-no-sign"], setup=STARTED)
def test_signed_number_is_a_number(ns: NameServerSession) -> None:
    """A number may have a sign."""
    for given, shown in (("+12", "12"), ("-1", "-1"), ("007", "7")):
        ns.update_config(f"serverCallbackExecutorThreads={given}") >> Reply(SUCCESS)
        found = {"serverCallbackExecutorThreads": shown}
        ns.config().among("serverCallbackExecutorThreads") >> Reply(SUCCESS, found)
    ns.update_config("serverCallbackExecutorThreads=0") >> Reply(SUCCESS)


@case("ns.configuration.interval-has-64-bits", kills=["interval-has-32-bits"], setup=STARTED)
def test_interval_has_64_bits(ns: NameServerSession) -> None:
    """The interval of scans may have 64 bits."""
    ns.update_config("scanNotActiveBrokerInterval=2147483648") >> Reply(SUCCESS)
    shown = {"scanNotActiveBrokerInterval": "2147483648"}
    ns.config().among("scanNotActiveBrokerInterval") >> Reply(SUCCESS, shown)
    ns.update_config("scanNotActiveBrokerInterval=5000") >> Reply(SUCCESS)


@case(
    "ns.configuration.boolean-is-true-in-any-case",
    kills=["booleans-are-lower-case", "every-boolean-is-true"],
    setup=STARTED,
)
def test_boolean_is_true_in_any_case(ns: NameServerSession) -> None:
    """`true` in any case is true, everything else is false."""
    for given, shown in (("TRUE", "true"), ("yes", "false"), ("True", "true"), ("1", "false")):
        ns.update_config(f"useEpollNativeSelector={given}") >> Reply(SUCCESS)
        ns.config().among("useEpollNativeSelector") >> Reply(SUCCESS, {"useEpollNativeSelector": shown})


@case("ns.configuration.blank-after-true-makes-it-false", kills=["booleans-are-trimmed"], setup=STARTED)
def test_blank_after_true_makes_it_false(ns: NameServerSession) -> None:
    """A blank after `true` makes it false."""
    ns.update_config("useEpollNativeSelector=true ") >> Reply(SUCCESS)
    ns.config().among("useEpollNativeSelector") >> Reply(SUCCESS, {"useEpollNativeSelector": "false"})


@case("ns.configuration.text-is-trimmed", kills=["text-is-not-trimmed"], setup=STARTED)
def test_text_is_trimmed(ns: NameServerSession) -> None:
    """Text loses the blanks at its end."""
    ns.update_config("productEnvName=two words \\t") >> Reply(SUCCESS)
    ns.config().among("productEnvName") >> Reply(SUCCESS, {"productEnvName": "two words"})
    ns.update_config("productEnvName=center") >> Reply(SUCCESS)


@case("ns.configuration.text-is-not-trimmed", kills=["text-is-trimmed"], setup=STARTED)
def test_text_is_not_trimmed(ns: NameServerSession) -> None:
    """Text keeps the blanks at its end."""
    ns.update_config("productEnvName=two words  ") >> Reply(SUCCESS)
    ns.config().among("productEnvName") >> Reply(SUCCESS, {"productEnvName": "two words  "})
    ns.update_config("productEnvName=center") >> Reply(SUCCESS)


@case("ns.configuration.no-body-changes-nothing", kills=["update-needs-a-body"], setup=STARTED)
def test_no_body_changes_nothing(ns: NameServerSession) -> None:
    """An update without body, or with remarks only, succeeds and changes nothing."""
    before = ns.config().settings >> Reply(SUCCESS)
    ns.update_config(None) >> Reply(SUCCESS, remark=ABSENT)
    ns.update_config("# nothing\n\n! at all\n") >> Reply(SUCCESS)
    ns.config().settings >> Unchanged(before)


# -- how the text of an update is read -----------------------------------------------------------------------


def update_is_read(ns: NameServerSession, text: str | bytes, value: str) -> None:
    """An update with this text makes `productEnvName` this value."""
    ns.update_config(text) >> Reply(SUCCESS)
    ns.config().among("productEnvName") >> Reply(SUCCESS, {"productEnvName": value})
    ns.update_config("productEnvName=center") >> Reply(SUCCESS)


@case(
    "ns.configuration.remarks-and-blanks-are-skipped",
    kills=["remarks-are-read", "leading-blanks-belong-to-keys"],
    setup=STARTED,
)
def test_remarks_and_blanks_are_skipped(ns: NameServerSession) -> None:
    """Lines that begin with `#` or `!` say nothing, and blanks before a key are no part of it."""
    update_is_read(ns, "\n \n productEnvName=a\n  #productEnvName=b\n!productEnvName=c\n", "a")


@case(
    "ns.configuration.separator-may-be-a-colon-or-a-blank",
    kills=["only-equals-separates"],
    setup=STARTED,
)
def test_separator_may_be_a_colon_or_a_blank(ns: NameServerSession) -> None:
    """Key and value are separated by `=`, `:` or blanks, and blanks around those belong to neither."""
    for text in (
        "productEnvName:a=b",
        "productEnvName a=b",
        "productEnvName\t = \t a=b",
        "productEnvName : a=b",
    ):
        update_is_read(ns, text, "a=b")


@case("ns.configuration.lines-may-be-continued", kills=["lines-are-not-continued"], setup=STARTED)
def test_lines_may_be_continued(ns: NameServerSession) -> None:
    """A backslash at the end of a line joins the next one to it, without the blanks that it begins with."""
    update_is_read(ns, "product\\\n   EnvName = a\\\r\n\t#b\nclusterTest=false", "a#b")


@case("ns.configuration.later-pair-counts", kills=["first-pair-counts"], setup=STARTED)
def test_later_pair_counts(ns: NameServerSession) -> None:
    """Of several values for one key the last counts."""
    update_is_read(ns, "productEnvName=a\nclusterTest=false\nproductEnvName:b", "b")


@case(
    "ns.configuration.escapes-are-resolved",
    kills=["escapes-are-kept", "unicode-escapes-are-kept"],
    setup=STARTED,
)
def test_escapes_are_resolved(ns: NameServerSession) -> None:
    r"""Keys and values may be escaped: `\uXXXX` is that character, a backslash before any other drops out."""
    update_is_read(
        ns, "product\\EnvN\\u0061me = \\a\\:\\=\\#\\u0062 \\ud83d\\ude00\\u4e2d", "a:=#b \U0001f600中"
    )


@case("ns.configuration.bytes-are-iso-8859-1", kills=["bytes-are-utf-8"], setup=STARTED)
def test_bytes_are_iso_8859_1(ns: NameServerSession) -> None:
    """Each byte beyond ASCII is a character of its own."""
    update_is_read(ns, "productEnvName=é".encode(), "Ã©")


@case(
    "ns.configuration.malformed-escape-is-refused",
    kills=["malformed-escapes-are-taken", "malformed-escapes-end-the-update"],
    setup=STARTED,
)
def test_malformed_escape_is_refused(ns: NameServerSession) -> None:
    r"""An update with a `\u` that four hexadecimal digits do not follow is refused whole."""
    before = ns.config().settings >> Reply(SUCCESS)
    for text in ("clusterTest=true\na=\\u12", "clusterTest=true\n\\u00gg=1", "clusterTest=true\na=\\u"):
        ns.update_config(text) >> Reply(SYSTEM_ERROR)
        ns.config().settings >> Unchanged(before)


@case("ns.configuration.malformed-escape-remark", kills=["malformed-escape-has-no-remark"], setup=STARTED)
def test_malformed_escape_remark(ns: NameServerSession) -> None:
    """The remark of such a refusal is Apache's."""
    ns.update_config("a=\\u12") >> Reply(SYSTEM_ERROR, remark="string2Properties error")


@case("ns.configuration.backslash-is-escaped", kills=["values-are-written-as-they-are"], setup=STARTED)
def test_backslash_is_escaped(ns: NameServerSession) -> None:
    """A value with a backslash is listed so that it reads as what it is."""
    update_is_read(ns, r"productEnvName=a\\b", r"a\b")


# -- what an update may not change ---------------------------------------------------------------------------


@case(
    "ns.configuration.paths-cannot-be-changed",
    kills=[
        "historical-cve-2023-37582-store-path-can-be-changed",
        "historical-cve-2023-33246-paths-can-be-changed",
        "refused-update-is-carried-out",
    ],
    setup=STARTED,
)
def test_paths_cannot_be_changed(ns: NameServerSession) -> None:
    """An update of a path that the server writes to is refused and changes nothing."""
    before = ns.config().settings >> Reply(SUCCESS)
    for key in PATHS:
        ns.update_config(f"{key}=/tmp/elsewhere") >> Reply(NO_PERMISSION)
        ns.config().settings >> Unchanged(before)


@case(
    "ns.configuration.spelling-does-not-help",
    kills=["black-list-reads-the-text", "black-list-wants-a-value"],
    setup=STARTED,
)
def test_spelling_does_not_help(ns: NameServerSession) -> None:
    """A refused key is refused however it is written."""
    before = ns.config().settings >> Reply(SUCCESS)
    for key in PATHS:
        for form in SPELLINGS:
            ns.update_config(spelt(form, key)) >> Reply(NO_PERMISSION)
    ns.config().settings >> Unchanged(before)


@case(
    "ns.configuration.refused-update-changes-nothing",
    kills=["refused-update-is-carried-out", "refused-keys-are-left-out"],
    setup=STARTED,
)
def test_refused_update_changes_nothing(ns: NameServerSession) -> None:
    """One refused key refuses the whole update, wherever it stands."""
    before = ns.config().settings >> Reply(SUCCESS)
    for text in ("kvConfigPath=/x\nserverWorkerThreads=11", "clusterTest=true\nmine=2\nconfigStorePath=/x"):
        ns.update_config(text) >> Reply(NO_PERMISSION)
        ns.config().settings >> Unchanged(before)


@case("ns.configuration.case-of-a-key-counts", kills=["black-list-ignores-case"], setup=STARTED)
def test_case_of_a_key_counts(ns: NameServerSession) -> None:
    """A key in other letters than a refused one's is another, which nobody knows."""
    before = ns.config().settings >> Reply(SUCCESS)
    ns.update_config("kvconfigpath=/x\nKvConfigPath=/x") >> Reply(SUCCESS)
    ns.config().settings >> Unchanged(before)


@case(
    "ns.configuration.home-and-black-list-cannot-be-changed",
    kills=["black-list-can-be-changed", "home-can-be-changed", "historical-7584-only-paths-are-refused"],
    setup=STARTED,
)
def test_home_and_black_list_cannot_be_changed(ns: NameServerSession) -> None:
    """The directory of the installation and the black list itself cannot be changed either."""
    before = ns.config().settings >> Reply(SUCCESS)
    for key in ("rocketmqHome", "configBlackList"):
        for form in SPELLINGS:
            ns.update_config(spelt(form, key)) >> Reply(NO_PERMISSION)
    ns.config().settings >> Unchanged(before)


@case(
    "ns.configuration.black-list-of-the-start-is-refused",
    kills=["black-list-is-fixed", "black-list-is-one-key", "black-list-replaces-apache-s"],
    setup=STARTED,
)
def test_black_list_of_the_start_is_refused(ns: NameServerSession) -> None:
    """What `configBlackList` named at the start is refused beside the rest, even if no release knows it."""
    before = ns.config().settings >> Reply(SUCCESS)
    for key in ("writeBufferLowWaterMark", "of.mine", "kvConfigPath"):
        ns.update_config(f"{key}=7") >> Reply(NO_PERMISSION)
    ns.config().settings >> Unchanged(before)
    ns.update_config("writeBufferHighWaterMark=0") >> Reply(SUCCESS)


@case("ns.configuration.refusal-remark", kills=["refusal-has-another-remark"], setup=STARTED)
def test_refusal_remark(ns: NameServerSession) -> None:
    """The remark of a refusal is Apache's."""
    ns.update_config("kvConfigPath=/x") >> Reply(NO_PERMISSION, remark="Can not update config in black list.")


# -- what the server then does -------------------------------------------------------------------------------


@case(
    "ns.configuration.order-is-shown-from-then-on",
    kills=["settings-are-those-of-the-start", "routes-are-those-before-the-update"],
    setup=STARTED,
)
def test_order_is_shown_from_then_on(ns: NameServerSession) -> None:
    """Routes tell the order configuration while `orderMessageEnable` is true, and at once."""
    broker = ns.broker()
    broker.register() >> Reply(SUCCESS)
    topic, shown = broker.topic("A"), f"{broker.name}:4"
    ns.put_kv(ORDER, topic, shown) >> Reply(SUCCESS)
    ns.route(topic).json >> Reply(SUCCESS, Including({"orderTopicConf": ABSENT}))
    ns.update_config("orderMessageEnable=true") >> Reply(SUCCESS)
    ns.route(topic).json >> Reply(SUCCESS, Including({"orderTopicConf": shown}))
    ns.update_config("orderMessageEnable=false") >> Reply(SUCCESS)
    ns.route(topic).json >> Reply(SUCCESS, Including({"orderTopicConf": ABSENT}))


@case(
    "ns.configuration.order-is-returned-until-then",
    kills=["settings-are-those-of-the-start"],
    setup=STARTED,
)
def test_order_is_returned_until_then(ns: NameServerSession) -> None:
    """Registrations are answered with the order-topic table as long as they are to be."""
    broker = ns.broker()
    ns.put_kv(ORDER, broker.topic("A"), f"{broker.name}:4") >> Reply(SUCCESS)
    broker.register().json >> Reply(SUCCESS, Including({"table": Including({broker.topic("A"): ANYTHING})}))
    ns.update_config("returnOrderTopicConfigToBroker=false") >> Reply(SUCCESS)
    broker.register().body >> Reply(SUCCESS, b"")
    ns.update_config("returnOrderTopicConfigToBroker=true") >> Reply(SUCCESS)


@case(
    "ns.configuration.topics-are-listed-until-then", kills=["settings-are-those-of-the-start"], setup=STARTED
)
def test_topics_are_listed_until_then(ns: NameServerSession) -> None:
    """The topics are listed while `enableAllTopicList` is true, those of a cluster while `enableTopicList`
    is.
    """
    cluster = ns.name("cluster")
    ns.update_config("enableAllTopicList=false") >> Reply(SUCCESS)
    ns.topics() >> Reply(SYSTEM_ERROR)
    call_topics_of(ns, cluster) >> Reply(SUCCESS)
    ns.update_config("enableAllTopicList=true\nenableTopicList=false") >> Reply(SUCCESS)
    ns.topics() >> Reply(SUCCESS)
    call_topics_of(ns, cluster) >> Reply(SYSTEM_ERROR)
    ns.update_config("enableTopicList=true") >> Reply(SUCCESS)


def call_topics_of(ns: NameServerSession, cluster: str) -> Any:
    return ns.connect().call(RequestCode.GET_TOPICS_BY_CLUSTER, {"cluster": cluster})


@case(
    "ns.configuration.acting-master-is-shown-from-then-on",
    kills=["settings-are-those-of-the-start"],
    setup=STARTED,
)
def test_acting_master_is_shown_from_then_on(ns: NameServerSession) -> None:
    """Routes show the smallest slave of a name without master as master while that is supported."""
    slave = ns.broker(id=1)
    slave.register(ext={"enableActingMaster": True}) >> Reply(SUCCESS)
    ns.route(slave.topic("A")).addresses >> Reply(SUCCESS, {slave.name: {1: slave.address}})
    ns.update_config("supportActingMaster=true") >> Reply(SUCCESS)
    ns.route(slave.topic("A")).addresses >> Reply(SUCCESS, {slave.name: {0: slave.address}})
    ns.update_config("supportActingMaster=false") >> Reply(SUCCESS)
    ns.route(slave.topic("A")).addresses >> Reply(SUCCESS, {slave.name: {1: slave.address}})


@case("ns.configuration.routes-wait-from-then-on", kills=["settings-are-those-of-the-start"], setup=STARTED)
def test_routes_wait_from_then_on(ns: NameServerSession) -> None:
    """Routes are refused as soon as there is a wait that is not over."""
    topic = ns.topic("A")
    ns.route(topic) >> Reply(TOPIC_NOT_EXIST)
    ns.update_config("needWaitForService=true\nwaitSecondsForService=86400") >> Reply(SUCCESS)
    ns.route(topic) >> Reply(SYSTEM_ERROR)
    ns.update_config("waitSecondsForService=0") >> Reply(SUCCESS)
    ns.route(topic) >> Reply(TOPIC_NOT_EXIST)
    ns.update_config("waitSecondsForService=45\nneedWaitForService=false") >> Reply(SUCCESS)


@case(
    "ns.configuration.absent-topics-go-from-then-on",
    kills=["settings-are-those-of-the-start"],
    setup=STARTED,
)
def test_absent_topics_go_from_then_on(ns: NameServerSession) -> None:
    """Topics that a registration no longer has go while `deleteTopicWithBrokerRegistration` is true."""
    broker = ns.broker(topics=["A", "B", "C"])
    broker.register() >> Reply(SUCCESS)
    broker.register(topics=["A", "B"], version=broker.newer(1)) >> Reply(SUCCESS)
    ns.route(broker.topic("C")) >> Reply(SUCCESS)
    ns.update_config("deleteTopicWithBrokerRegistration=true") >> Reply(SUCCESS)
    broker.register(topics=["A", "B"], version=broker.newer(2)) >> Reply(SUCCESS)
    ns.route(broker.topic("C")) >> Reply(TOPIC_NOT_EXIST)
    ns.update_config("deleteTopicWithBrokerRegistration=false") >> Reply(SUCCESS)


@case(
    "ns.configuration.idle-limit-is-that-of-acceptance",
    kills=["idle-limit-is-that-of-the-start"],
    clock=True,
    setup=STARTED,
)
def test_idle_limit_is_that_of_acceptance(ns: NameServerSession) -> None:
    """A connection may be idle for as long as `serverChannelMaxIdleTimeSeconds` said when it was accepted."""
    before = warmed(ns)
    ns.update_config("serverChannelMaxIdleTimeSeconds=30") >> Reply(SUCCESS)
    during = warmed(ns)
    ns.update_config("serverChannelMaxIdleTimeSeconds=120") >> Reply(SUCCESS)
    after = warmed(ns)
    ns.advance(60, idle=[before, during, after])
    during.call(QUERY) >> Closed()
    before.call(QUERY) >> Reply(SUCCESS)
    after.call(QUERY) >> Reply(SUCCESS)


# -- the file ------------------------------------------------------------------------------------------------


@case(
    "ns.configuration.update-survives-a-restart",
    "ns.configuration.refused-update-does-not-come-with-a-restart",
    "ns.lifecycle.routes-do-not-survive-a-restart",
    kills=[
        "topics-survive-a-restart",
        "updates-are-not-written",
        "first-update-is-written",
        "refused-update-is-written",
        "other-keys-are-not-written",
    ],
    setup=STARTED,
    own_server=True,
)
def test_update_survives_a_restart(ns: NameServerSession) -> None:
    """What was updated is in force after a restart, and what was refused is not; no route is left."""
    broker = ns.broker()
    broker.register() >> Reply(SUCCESS)
    ns.topics().among([broker.topic("A")]) >> Reply(SUCCESS, [broker.topic("A")])
    ns.update_config("serverWorkerThreads=9\nmine=changed") >> Reply(SUCCESS)
    ns.update_config("clusterTest=false\norderMessageEnable=true") >> Reply(SUCCESS)
    before = ns.config().settings >> Reply(SUCCESS)
    ns.update_config("productEnvName=elsewhere\nkvConfigPath=/x") >> Reply(NO_PERMISSION)
    ns.restart()
    ns.config().settings >> Unchanged(before)
    shown = {"serverWorkerThreads": "9", "mine": "changed"}
    ns.config().among("serverWorkerThreads", "mine") >> Reply(SUCCESS, shown)
    ns.update_config("kvConfigPath=/x") >> Reply(NO_PERMISSION)
    ns.topics().among([broker.topic("A")]) >> Reply(SUCCESS, [])
    ns.route(broker.topic("A")) >> Reply(TOPIC_NOT_EXIST)
    ns.cluster().addresses(broker.name) >> Reply(SUCCESS, ABSENT)


@case(
    "ns.configuration.line-break-stays-within-its-value",
    kills=["values-are-written-as-they-are", "updates-are-not-written"],
    setup=STARTED,
    own_server=True,
)
def test_line_break_stays_within_its_value(ns: NameServerSession) -> None:
    """A value with a line break comes back whole after a restart; what follows the break is no setting."""
    ns.update_config(r"productEnvName=a\norderMessageEnable\=true") >> Reply(SUCCESS)
    ns.restart()
    shown = {"productEnvName": "a\norderMessageEnable=true", "orderMessageEnable": "false"}
    ns.config().among("productEnvName", "orderMessageEnable") >> Reply(SUCCESS, shown)
