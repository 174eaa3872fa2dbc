"""Chapter configuration: what an update (318) changes, what it may not change, and how its text is read."""

from harness.conformance import ABSENT, ANYTHING, Including, Reply, Unchanged, case
from harness.conformance.nameserver.configuration.values import STARTED
from harness.session import NameServerSession
from harness.session.outcome import Answer
from harness.wire import ResponseCode

SUCCESS = ResponseCode.SUCCESS

SYSTEM_ERROR = ResponseCode.SYSTEM_ERROR

NO_PERMISSION = ResponseCode.NO_PERMISSION

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


def spelt(form: str, key: str) -> str:
    """A key as one of SPELLINGS writes it."""
    if "%s" in form:
        return form.replace("%s", key)
    return form.format(first=key[0], rest=key[1:], code=f"{ord(key[0]):02x}")


def settings(ns: NameServerSession) -> Answer:
    """All settings as they are; the paths, which every server lists, are among them."""
    return ns.config().settings >> Reply(SUCCESS, Including(dict.fromkeys(PATHS, ANYTHING)))


# -- what an update changes ----------------------------------------------------------------------------------


@case(
    kills=["update-changes-nothing", "update-changes-one-key", "update-forgets-the-one-before"], setup=STARTED
)
def test_update_changes_what_is_shown(ns: NameServerSession) -> None:
    ns.update_config("productEnvName=center") >> Reply(SUCCESS)  # as it is
    before = settings(ns)
    ns.update_config("serverWorkerThreads=9\nclusterTest=true") >> Reply(SUCCESS, remark=ABSENT)
    ns.update_config("productEnvName=elsewhere") >> Reply(SUCCESS)
    changed = {"serverWorkerThreads": "9", "clusterTest": "true", "productEnvName": "elsewhere"}
    ns.config().settings >> Reply(SUCCESS, {**before.value, **changed})
    ns.update_config("serverWorkerThreads=8\nclusterTest=false\nproductEnvName=center") >> Reply(SUCCESS)
    ns.config().settings >> Unchanged(before)


@case(kills=["unknown-keys-are-refused", "unknown-keys-are-added"], setup=STARTED)
def test_unknown_keys_are_ignored(ns: NameServerSession) -> None:
    ns.update_config("nobodyKnows=1\nserverWorkerThreads=10\nListenPort=1") >> Reply(SUCCESS)
    keys = ("nobodyKnows", "ListenPort", "serverWorkerThreads")
    shown = {"nobodyKnows": None, "ListenPort": None, "serverWorkerThreads": "10"}
    ns.config().among(*keys) >> Reply(SUCCESS, shown)
    ns.update_config("serverWorkerThreads=8") >> Reply(SUCCESS)


@case(kills=["bad-number-is-zero", "bad-number-is-refused", "numbers-have-64-bits"], setup=STARTED)
def test_bad_number_changes_nothing(ns: NameServerSession) -> None:
    for bad in ("abc", "", "7.0", "0x7", "2147483648", "1 2"):
        ns.update_config(f"serverWorkerThreads={bad}\nclusterTest=true") >> Reply(SUCCESS)
        shown = {"serverWorkerThreads": "8", "clusterTest": "true"}
        ns.config().among("serverWorkerThreads", "clusterTest") >> Reply(SUCCESS, shown)
        ns.update_config("clusterTest=false") >> Reply(SUCCESS)


@case(kills=["numbers-are-trimmed"], setup=STARTED)
def test_blank_after_a_number_makes_it_bad(ns: NameServerSession) -> None:
    ns.update_config("serverWorkerThreads=7 ") >> Reply(SUCCESS)
    ns.config().among("serverWorkerThreads") >> Reply(SUCCESS, {"serverWorkerThreads": "8"})


@case(kills=["numbers-have-no-sign"], setup=STARTED)
def test_signed_number_is_a_number(ns: NameServerSession) -> None:
    for given, shown in (("+12", "12"), ("-1", "-1"), ("007", "7")):
        ns.update_config(f"serverCallbackExecutorThreads={given}") >> Reply(SUCCESS)
        found = {"serverCallbackExecutorThreads": shown}
        ns.config().among("serverCallbackExecutorThreads") >> Reply(SUCCESS, found)
    ns.update_config("serverCallbackExecutorThreads=0") >> Reply(SUCCESS)


@case(kills=["interval-has-32-bits"], setup=STARTED)
def test_interval_has_64_bits(ns: NameServerSession) -> None:
    ns.update_config("scanNotActiveBrokerInterval=2147483648") >> Reply(SUCCESS)
    shown = {"scanNotActiveBrokerInterval": "2147483648"}
    ns.config().among("scanNotActiveBrokerInterval") >> Reply(SUCCESS, shown)
    ns.update_config("scanNotActiveBrokerInterval=5000") >> Reply(SUCCESS)


@case(kills=["booleans-are-lower-case", "every-boolean-is-true"], setup=STARTED)
def test_boolean_is_true_in_any_case(ns: NameServerSession) -> None:
    for given, shown in (("TRUE", "true"), ("yes", "false"), ("True", "true"), ("1", "false")):
        ns.update_config(f"useEpollNativeSelector={given}") >> Reply(SUCCESS)
        ns.config().among("useEpollNativeSelector") >> Reply(SUCCESS, {"useEpollNativeSelector": shown})


@case(kills=["booleans-are-trimmed"], setup=STARTED)
def test_blank_after_true_makes_it_false(ns: NameServerSession) -> None:
    ns.update_config("useEpollNativeSelector=true ") >> Reply(SUCCESS)
    ns.config().among("useEpollNativeSelector") >> Reply(SUCCESS, {"useEpollNativeSelector": "false"})


@case(kills=["text-is-not-trimmed"], setup=STARTED)
def test_text_is_trimmed(ns: NameServerSession) -> None:
    ns.update_config("productEnvName=two words \\t") >> Reply(SUCCESS)
    ns.config().among("productEnvName") >> Reply(SUCCESS, {"productEnvName": "two words"})
    ns.update_config("productEnvName=center") >> Reply(SUCCESS)


@case(kills=["text-is-trimmed"], setup=STARTED)
def test_text_is_not_trimmed(ns: NameServerSession) -> None:
    ns.update_config("productEnvName=two words  ") >> Reply(SUCCESS)
    ns.config().among("productEnvName") >> Reply(SUCCESS, {"productEnvName": "two words  "})
    ns.update_config("productEnvName=center") >> Reply(SUCCESS)


@case(kills=["update-needs-a-body"], setup=STARTED)
def test_no_body_changes_nothing(ns: NameServerSession) -> None:
    before = settings(ns)
    ns.update_config(None) >> Reply(SUCCESS, remark=ABSENT)
    ns.update_config("# nothing\n\n! at all\n") >> Reply(SUCCESS)
    ns.config().settings >> Unchanged(before)


def update_is_read(ns: NameServerSession, text: str | bytes, value: str) -> None:
    """An update with this text makes `productEnvName` this value."""
    ns.update_config(text) >> Reply(SUCCESS)
    ns.config().among("productEnvName") >> Reply(SUCCESS, {"productEnvName": value})
    ns.update_config("productEnvName=center") >> Reply(SUCCESS)


# -- how the text of an update is read -----------------------------------------------------------------------


@case(kills=["remarks-are-read", "leading-blanks-belong-to-keys"], setup=STARTED)
def test_remarks_and_blanks_are_skipped(ns: NameServerSession) -> None:
    update_is_read(ns, "\n \n productEnvName=a\n  #productEnvName=b\n!productEnvName=c\n", "a")


@case(kills=["only-equals-separates"], setup=STARTED)
def test_separator_may_be_a_colon_or_a_blank(ns: NameServerSession) -> None:
    for text in (
        "productEnvName:a=b",
        "productEnvName a=b",
        "productEnvName\t = \t a=b",
        "productEnvName : a=b",
    ):
        update_is_read(ns, text, "a=b")


@case(kills=["lines-are-not-continued"], setup=STARTED)
def test_lines_may_be_continued(ns: NameServerSession) -> None:
    update_is_read(ns, "product\\\n   EnvName = a\\\r\n\t#b\nclusterTest=false", "a#b")


@case(kills=["first-pair-counts"], setup=STARTED)
def test_later_pair_counts(ns: NameServerSession) -> None:
    update_is_read(ns, "productEnvName=a\nclusterTest=false\nproductEnvName:b", "b")


@case(kills=["escapes-are-kept", "unicode-escapes-are-kept"], setup=STARTED)
def test_escapes_are_resolved(ns: NameServerSession) -> None:
    update_is_read(
        ns, "product\\EnvN\\u0061me = \\a\\:\\=\\#\\u0062 \\ud83d\\ude00\\u4e2d", "a:=#b \U0001f600中"
    )


@case(kills=["bytes-are-utf-8"], setup=STARTED)
def test_bytes_are_iso_8859_1(ns: NameServerSession) -> None:
    update_is_read(ns, "productEnvName=é".encode(), "Ã©")


@case(kills=["malformed-escapes-are-taken", "malformed-escapes-end-the-update"], setup=STARTED)
def test_malformed_escape_is_refused(ns: NameServerSession) -> None:
    before = settings(ns)
    for text in ("clusterTest=true\na=\\u12", "clusterTest=true\n\\u00gg=1", "clusterTest=true\na=\\u"):
        ns.update_config(text) >> Reply(SYSTEM_ERROR)
        ns.config().settings >> Unchanged(before)


@case(kills=["malformed-escape-has-no-remark"], setup=STARTED)
def test_malformed_escape_remark(ns: NameServerSession) -> None:
    ns.update_config("a=\\u12") >> Reply(SYSTEM_ERROR, remark="string2Properties error")


@case(kills=["values-are-written-as-they-are"], setup=STARTED)
def test_backslash_is_escaped(ns: NameServerSession) -> None:
    update_is_read(ns, r"productEnvName=a\\b", r"a\b")


# -- what an update may not change ---------------------------------------------------------------------------


@case(
    kills=[
        "historical-cve-2023-37582-store-path-can-be-changed",
        "historical-cve-2023-33246-paths-can-be-changed",
        "refused-update-is-carried-out",
    ],
    setup=STARTED,
)
def test_paths_cannot_be_changed(ns: NameServerSession) -> None:
    before = settings(ns)
    for key in PATHS:
        ns.update_config(f"{key}=/tmp/elsewhere") >> Reply(NO_PERMISSION)
        ns.config().settings >> Unchanged(before)


@case(kills=["black-list-reads-the-text", "black-list-wants-a-value"], setup=STARTED)
def test_spelling_does_not_help(ns: NameServerSession) -> None:
    before = settings(ns)
    for key in PATHS:
        for form in SPELLINGS:
            ns.update_config(spelt(form, key)) >> Reply(NO_PERMISSION)
    ns.config().settings >> Unchanged(before)


@case(kills=["refused-update-is-carried-out", "refused-keys-are-left-out"], setup=STARTED)
def test_refused_update_changes_nothing(ns: NameServerSession) -> None:
    before = settings(ns)
    for text in ("kvConfigPath=/x\nserverWorkerThreads=11", "clusterTest=true\nmine=2\nconfigStorePath=/x"):
        ns.update_config(text) >> Reply(NO_PERMISSION)
        ns.config().settings >> Unchanged(before)


@case(kills=["black-list-ignores-case"], setup=STARTED)
def test_case_of_a_key_counts(ns: NameServerSession) -> None:
    before = settings(ns)
    ns.update_config("kvconfigpath=/x\nKvConfigPath=/x") >> Reply(SUCCESS)
    ns.config().settings >> Unchanged(before)


@case(
    kills=["black-list-can-be-changed", "home-can-be-changed", "historical-7584-only-paths-are-refused"],
    setup=STARTED,
)
def test_home_and_black_list_cannot_be_changed(ns: NameServerSession) -> None:
    before = settings(ns)
    for key in ("rocketmqHome", "configBlackList"):
        for form in SPELLINGS:
            ns.update_config(spelt(form, key)) >> Reply(NO_PERMISSION)
    ns.config().settings >> Unchanged(before)


@case(kills=["black-list-is-fixed", "black-list-is-one-key", "black-list-replaces-apache-s"], setup=STARTED)
def test_black_list_of_the_start_is_refused(ns: NameServerSession) -> None:
    before = settings(ns)
    for key in ("writeBufferLowWaterMark", "of.mine", "kvConfigPath"):
        ns.update_config(f"{key}=7") >> Reply(NO_PERMISSION)
    ns.config().settings >> Unchanged(before)
    ns.update_config("writeBufferHighWaterMark=0") >> Reply(SUCCESS)


@case(kills=["refusal-has-another-remark"], setup=STARTED)
def test_refusal_remark(ns: NameServerSession) -> None:
    ns.update_config("kvConfigPath=/x") >> Reply(NO_PERMISSION, remark="Can not update config in black list.")
