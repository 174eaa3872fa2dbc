"""Chapter configuration: what an update (318) changes, what it may not change, and how its text is read."""

from harness.conformance import ANYTHING, Including, Reply, Unchanged, case
from harness.conformance.nameserver.configuration.values import ORDER, STARTED, number
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


@case(kills=["update-changes-nothing", "update-changes-one-key", "update-forgets-the-one-before"], apart=True)
def test_update_changes_what_is_shown(ns: NameServerSession) -> None:
    key = number(ns)
    ns.update_config("productEnvName=center") >> Reply(SUCCESS)  # as it is
    before = settings(ns)
    ns.update_config(f"{key}=121\n{ORDER}=true") >> Reply(SUCCESS)
    ns.config().settings >> Reply(SUCCESS, {**before.value, key: "121", ORDER: "true"})
    ns.update_config(f"{key}=122") >> Reply(SUCCESS)
    ns.config().settings >> Reply(SUCCESS, {**before.value, key: "122", ORDER: "true"})
    ns.update_config(f"{key}=120\n{ORDER}=false") >> Reply(SUCCESS)
    ns.config().settings >> Reply(SUCCESS, {**before.value, key: "120", ORDER: "false"})


@case(kills=["unknown-keys-are-refused", "unknown-keys-are-added"], apart=True)
def test_unknown_keys_are_ignored(ns: NameServerSession) -> None:
    key = number(ns)
    ns.update_config(f"nobodyKnows=1\n{key}=121\nListenPort=1") >> Reply(SUCCESS)
    shown = {"nobodyKnows": None, "ListenPort": None, key: "121"}
    ns.config().among("nobodyKnows", "ListenPort", key) >> Reply(SUCCESS, shown)


@case(kills=["updates-end-at-64-kib"], apart=True)
def test_long_update_is_read(ns: NameServerSession) -> None:
    key = number(ns)
    ns.update_config(f"unknown={'x' * 70_000}\n{key}=121") >> Reply(SUCCESS)
    ns.config().among(key) >> Reply(SUCCESS, {key: "121"})


@case(kills=["bad-number-is-zero", "bad-number-is-refused", "numbers-have-64-bits"], apart=True)
def test_bad_number_changes_nothing(ns: NameServerSession) -> None:
    key = number(ns)
    ns.update_config(f"{key}=121") >> Reply(SUCCESS)
    for bad in ("abc", "", "7.0", "0x7", "2147483648", "1 2"):
        ns.update_config(f"{key}={bad}\n{ORDER}=true") >> Reply(SUCCESS)
        ns.config().among(key, ORDER) >> Reply(SUCCESS, {key: "121", ORDER: "true"})
        ns.update_config(f"{ORDER}=false") >> Reply(SUCCESS)


@case(kills=["numbers-are-trimmed"], apart=True)
def test_blank_after_a_number_makes_it_bad(ns: NameServerSession) -> None:
    key = number(ns)
    ns.update_config(f"{key}=121") >> Reply(SUCCESS)
    ns.update_config(f"{key}=122 ") >> Reply(SUCCESS)
    ns.config().among(key) >> Reply(SUCCESS, {key: "121"})


@case(kills=["numbers-have-no-sign"], apart=True)
def test_signed_number_is_a_number(ns: NameServerSession) -> None:
    key = number(ns)
    for given, shown in (("+121", "121"), ("00122", "122")):
        ns.update_config(f"{key}={given}") >> Reply(SUCCESS)
        ns.config().among(key) >> Reply(SUCCESS, {key: shown})


@case(kills=["interval-has-32-bits"], apart=True)
def test_interval_has_64_bits(ns: NameServerSession) -> None:
    largest = f"{2**63 - 1}"
    for given, shown in (("2147483648", "2147483648"), (largest, largest), (f"{2**63}", largest)):
        ns.update_config(f"scanNotActiveBrokerInterval={given}") >> Reply(SUCCESS)
        expected = {"scanNotActiveBrokerInterval": shown}
        ns.config().among("scanNotActiveBrokerInterval") >> Reply(SUCCESS, expected)


@case(kills=["booleans-are-lower-case", "every-boolean-is-true"], apart=True)
def test_boolean_is_true_in_any_case(ns: NameServerSession) -> None:
    for given, shown in (("TRUE", "true"), ("yes", "false"), ("True", "true"), ("1", "false")):
        ns.update_config(f"{ORDER}={given}") >> Reply(SUCCESS)
        ns.config().among(ORDER) >> Reply(SUCCESS, {ORDER: shown})


@case(kills=["booleans-are-trimmed"], apart=True)
def test_blank_after_true_makes_it_false(ns: NameServerSession) -> None:
    ns.update_config(f"{ORDER}=true ") >> Reply(SUCCESS)
    ns.config().among(ORDER) >> Reply(SUCCESS, {ORDER: "false"})


@case(kills=["text-is-not-trimmed", "text-of-the-file-is-not-trimmed"], setup={"productEnvName": "of it \t"})
def test_text_is_trimmed(ns: NameServerSession) -> None:
    ns.config().among("productEnvName") >> Reply(SUCCESS, {"productEnvName": "of it"})
    ns.update_config("productEnvName=two words \\t") >> Reply(SUCCESS)
    ns.config().among("productEnvName") >> Reply(SUCCESS, {"productEnvName": "two words"})


@case(kills=["text-is-trimmed", "text-of-the-file-is-trimmed"], setup={"productEnvName": "of it "})
def test_text_is_not_trimmed(ns: NameServerSession) -> None:
    ns.config().among("productEnvName") >> Reply(SUCCESS, {"productEnvName": "of it "})
    ns.update_config("productEnvName=two words  ") >> Reply(SUCCESS)
    ns.config().among("productEnvName") >> Reply(SUCCESS, {"productEnvName": "two words  "})


@case(kills=["update-needs-a-body"])
def test_no_body_changes_nothing(ns: NameServerSession) -> None:
    before = settings(ns)
    ns.update_config(None) >> Reply(SUCCESS)
    ns.update_config("# nothing\n\n! at all\n") >> Reply(SUCCESS)
    ns.config().settings >> Unchanged(before)


def is_read(ns: NameServerSession, text: str | bytes, key: str, value: str) -> None:
    """An update with this text makes the setting this value."""
    ns.update_config(text) >> Reply(SUCCESS)
    ns.config().among(key) >> Reply(SUCCESS, {key: value})


# -- how the text of an update is read -----------------------------------------------------------------------


@case(kills=["remarks-are-read", "leading-blanks-belong-to-keys"], apart=True)
def test_remarks_and_blanks_are_skipped(ns: NameServerSession) -> None:
    key = number(ns)
    is_read(ns, f"\n \n {key}=121\n  #{key}=122\n!{key}=123\n", key, "121")


@case(kills=["only-equals-separates"], apart=True)
def test_separator_may_be_a_colon_or_a_blank(ns: NameServerSession) -> None:
    key = number(ns)
    for value, separator in enumerate((":", " ", "\t = \t ", " : "), 121):
        is_read(ns, f"{key}{separator}{value}", key, str(value))


@case(kills=["lines-are-not-continued", "comments-are-looked-for-in-continued-lines"], apart=True)
def test_lines_may_be_continued(ns: NameServerSession) -> None:
    key = number(ns)
    is_read(ns, "productEnvName=a\\\n#b", "productEnvName", "a#b")
    is_read(ns, f"#nothing\\\n{key}=125", key, "125")
    is_read(ns, f"{key[:9]}\\\n   {key[9:]} = 1\\\r\n\t23\n{ORDER}=false", key, "123")
    is_read(ns, f"{ORDER}=false\n{key}=124\\", key, "124")


@case(kills=["first-pair-counts"], apart=True)
def test_later_pair_counts(ns: NameServerSession) -> None:
    key = number(ns)
    is_read(ns, f"{key}=121\n{ORDER}=false\n{key}:122", key, "122")


@case(kills=["escapes-are-kept", "unicode-escapes-are-kept"], apart=True)
def test_escapes_are_resolved(ns: NameServerSession) -> None:
    key = number(ns)
    is_read(ns, f"\\{key[:5]}\\u{ord(key[5]):04x}{key[6:]} = \\1\\u0032\\u0033", key, "123")


@case(kills=["unicode-escapes-are-kept"], apart=True)
def test_escapes_in_text(ns: NameServerSession) -> None:
    text = "productEnvName = \\a\\:\\=\\#\\u0062 \\ud83d\\ude00\\u4e2d"
    is_read(ns, text, "productEnvName", "a:=#b \U0001f600中")


@case(kills=["bytes-are-utf-8"], apart=True)
def test_bytes_are_iso_8859_1(ns: NameServerSession) -> None:
    is_read(ns, "productEnvName=é".encode(), "productEnvName", "Ã©")


@case(kills=["malformed-escapes-are-taken", "malformed-escapes-end-the-update"])
def test_malformed_escape_is_refused(ns: NameServerSession) -> None:
    before = settings(ns)
    for text in (f"{ORDER}=true\na=\\u12", f"{ORDER}=true\n\\u00gg=1", f"{ORDER}=true\na=\\u"):
        ns.update_config(text) >> Reply(SYSTEM_ERROR)
        ns.config().settings >> Unchanged(before)


@case(kills=["malformed-escape-has-no-remark"])
def test_malformed_escape_remark(ns: NameServerSession) -> None:
    ns.update_config("a=\\u12") >> Reply(SYSTEM_ERROR, remark="string2Properties error")


@case(kills=["values-are-written-as-they-are"], apart=True)
def test_backslash_is_escaped(ns: NameServerSession) -> None:
    is_read(ns, r"productEnvName=a\\b", "productEnvName", r"a\b")


# -- what an update may not change ---------------------------------------------------------------------------


@case(
    kills=[
        "historical-cve-2023-37582-store-path-can-be-changed",
        "historical-cve-2023-33246-paths-can-be-changed",
        "refused-update-is-carried-out",
    ]
)
def test_paths_cannot_be_changed(ns: NameServerSession) -> None:
    before = settings(ns)
    for key in PATHS:
        ns.update_config(f"{key}=/tmp/elsewhere") >> Reply(NO_PERMISSION)
        ns.config().settings >> Unchanged(before)


@case(kills=["black-list-reads-the-text", "black-list-wants-a-value"])
def test_spelling_does_not_help(ns: NameServerSession) -> None:
    before = settings(ns)
    for key in PATHS:
        for form in SPELLINGS:
            ns.update_config(spelt(form, key)) >> Reply(NO_PERMISSION)
    ns.config().settings >> Unchanged(before)


@case(kills=["refused-update-is-carried-out", "refused-keys-are-left-out"], apart=True)
def test_refused_update_changes_nothing(ns: NameServerSession) -> None:
    key = number(ns)
    before = settings(ns)
    for text in (f"kvConfigPath=/x\n{key}=121", f"{ORDER}=true\nmine=2\nconfigStorePath=/x"):
        ns.update_config(text) >> Reply(NO_PERMISSION)
        ns.config().settings >> Unchanged(before)


@case(kills=["black-list-ignores-case"])
def test_case_of_a_key_counts(ns: NameServerSession) -> None:
    before = settings(ns)
    ns.update_config("kvconfigpath=/x\nKvConfigPath=/x") >> Reply(SUCCESS)
    ns.config().settings >> Unchanged(before)


@case(kills=["black-list-can-be-changed", "home-can-be-changed", "historical-7584-only-paths-are-refused"])
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


@case(kills=["semicolons-list-the-empty-key"], setup={"configBlackList": ";;"})
def test_black_list_of_semicolons_is_empty(ns: NameServerSession) -> None:
    ns.update_config("=7\nwriteBufferHighWaterMark=0") >> Reply(SUCCESS)
    ns.update_config("kvConfigPath=7") >> Reply(NO_PERMISSION)


@case(
    kills=["empty-black-list-lists-nothing", "lone-backslash-is-nothing", "lone-backslash-outlives-a-remark"],
    setup={"configBlackList": ""},
)
def test_empty_black_list_names_the_empty_key(ns: NameServerSession) -> None:
    for text in ("=7", "productEnvName=x\n:7", "\\", "productEnvName=x\n\\\n"):
        ns.update_config(text) >> Reply(NO_PERMISSION)
    for text in ("productEnvName=x\n\n", "\\\n#x\\"):
        ns.update_config(text) >> Reply(SUCCESS)


@case(kills=["refusal-has-another-remark"])
def test_refusal_remark(ns: NameServerSession) -> None:
    ns.update_config("kvConfigPath=/x") >> Reply(NO_PERMISSION, remark="Can not update config in black list.")
