"""Chapter acl: accounts and addresses that are changed over the wire."""

import json
import re
from collections.abc import Callable
from typing import Any

from harness.conformance import Between, Including, Reply, case
from harness.conformance.broker.acl.guarded import (
    ADDRESSED,
    ADMIN,
    ALONE,
    APART,
    BELOW,
    BOTH,
    DEEP_FILE,
    ELSEWHERE,
    FILE,
    GERMAN,
    NOTHING,
    ON,
    OTHER_FILE,
    READER,
    REFUSED,
    SENDER,
    SUCCESS,
    made,
)
from harness.conformance.matchers import Matching
from harness.session import BrokerSession, Exchange
from harness.session.broker.signing import Account
from harness.session.exchange import NotSo, View
from harness.wire import Command, RequestCode, ResponseCode

STORE = RequestCode.UPDATE_AND_CREATE_ACL_CONFIG
REMOVE = RequestCode.DELETE_ACL_CONFIG
VERSIONS = RequestCode.GET_BROKER_CLUSTER_ACL_INFO
LET_IN = RequestCode.UPDATE_GLOBAL_WHITE_ADDRS_CONFIG
NOT_STORED, NOT_REMOVED, NOT_LET_IN = Reply(209), Reply(210), Reply(211)
WITHIN = 5
"""Protocol seconds within which what is in a file is in force."""


def _path(reply: Command) -> str:
    found = re.search(rf'"([^"]*/{OTHER_FILE})"', (reply.ext or {}).get("allAclFileVersion") or "")
    return found[1] if found else ""


def _versions(reply: Command) -> dict[str, Any]:
    ext = reply.ext or {}
    try:
        files = json.loads(ext.get("allAclFileVersion") or "{}")
        named = {name[name.find("/conf/") + 1 :]: version for name, version in files.items()}
        return {"": json.loads(ext.get("version") or "{}"), **named}
    except (ValueError, AttributeError) as problem:
        raise NotSo(f"no version, or none of each file: {problem}") from problem


ALL = View("versions", _versions, said="version, and allAclFileVersion by file")
VERSION = View("version", lambda reply: (reply.ext or {}).get("version"))
PATH = View("whole path of a file", _path)
UNREADABLE = (
    "10.9.8.256",
    "256.9.8.7",
    "10.9.8",
    "10.9.8.7.6",
    "10.9.8.7,127.0.0.256",
    "127.0.0.{1,256}",
    "127.0.0.0-256",
    "127.0.0.9-0",
    "::10000",
    "1:2:3",
)
"""Texts that are no addresses."""


def stored(bk: BrokerSession, who: Account, **said: str) -> None:
    """The administrator stores an account, which signs from then on."""
    bk.sign_as(ADMIN)
    bk.call(STORE, {"accessKey": who.access_key, "secretKey": who.secret_key, **said}) >> Reply(SUCCESS)
    bk.sign_as(who)


@case(kills=["accounts-are-not-stored", "stored-accounts-have-no-rights-by-name"], own_server=True, setup=ON)
def test_account_is_stored(bk: BrokerSession) -> None:
    topic, other, closed, group = made(bk), made(bk), made(bk), bk.group()
    who = Account(bk.name("key"), "of-a-new-account")
    bk.sign_as(who)
    bk.max_offset(topic) >> REFUSED
    rights = {"topicPerms": f"{topic}=PUB,{closed}=DENY,{other}=SUB|PUB", "groupPerms": f"{group}=SUB"}
    stored(bk, who, defaultTopicPerm="SUB", defaultGroupPerm="DENY", **rights)
    bk.send(topic).eventually() >> Reply(SUCCESS)
    for refused in (topic, closed):
        bk.pull(refused, 1, group=group) >> REFUSED
    bk.send(other) >> Reply(SUCCESS)
    bk.pull(other, 1, group=group) >> Reply(ResponseCode.PULL_NOT_FOUND)
    bk.pull(other, 1, group=bk.group()) >> REFUSED
    bk.create_topic(topic) >> REFUSED
    near = Account(bk.name("near"), "of-this-machine")
    stored(bk, near, whiteRemoteAddress="10.9.8.7,127.0.0.1")
    bk.sign_as(None)
    bk.max_offset(topic, ext={"AccessKey": near.access_key}).offset.eventually() >> Reply(SUCCESS, 1)
    bk.sign_as(ADMIN)


@case(
    kills=["changes-of-accounts-are-not-written", "versions-of-accounts-begin-anew"],
    clock=True,
    own_server=True,
    setup=ON,
)
def test_changes_survive_a_restart(bk: BrokerSession) -> None:
    topic, who = made(bk), Account(bk.name("key"), "of-a-new-account")
    stored(bk, who, topicPerms=f"{topic}=PUB")
    bk.sign_as(ADMIN)
    bk.call(REMOVE, {"accessKey": BOTH.access_key}) >> Reply(SUCCESS)
    bk.advance(WITHIN + bk.jitter)
    shown = bk.call(VERSIONS, {}).seen_as(VERSION).eventually()
    version = (shown >> Reply(SUCCESS, Matching(r'^\{"counter":2,"timestamp":\d{13}\}$'))).value
    bk.restart()
    bk.call(VERSIONS, {}).seen_as(VERSION) >> Reply(SUCCESS, version)
    bk.sign_as(BOTH)
    bk.max_offset(topic) >> REFUSED
    bk.sign_as(who)
    bk.send(topic) >> Reply(SUCCESS)
    bk.pull(topic) >> REFUSED


@case(
    kills=["stored-accounts-forget-what-is-not-said", "accounts-need-another-in-their-file"],
    clock=True,
    own_server=True,
    setup=APART,
)
def test_stored_account_keeps_what_is_not_said(bk: BrokerSession) -> None:
    topic, who = made(bk), Account(bk.name("key"), "the-first-secret")
    later = Account(who.access_key, "the-second-secret")
    stored(bk, who, defaultTopicPerm="PUB", defaultGroupPerm="SUB", topicPerms=f"{topic}=SUB")
    bk.send(topic) >> REFUSED
    stored(bk, later, defaultTopicPerm="DENY")
    bk.advance(WITHIN + bk.jitter)
    bk.pull(topic, 1, group=bk.group()).eventually() >> Reply(ResponseCode.PULL_NOT_FOUND)
    bk.sign_as(who)
    bk.max_offset(topic) >> REFUSED


@case(
    kills=[
        "defaults-for-topics-stay",
        "defaults-for-groups-stay",
        "addresses-of-accounts-stay",
        "administrators-stay-administrators",
        "changed-rights-by-name-are-added",
    ],
    clock=True,
    own_server=True,
    setup=ALONE,
)
def test_members_of_a_stored_account_are_replaced(bk: BrokerSession) -> None:
    topic, other, group, who = made(bk), made(bk), bk.group(), Account(bk.name("key"), "of-a-new-account")
    requests: dict[str, tuple[Callable[[], Exchange], int]] = {
        "send": (lambda: bk.send(topic), SUCCESS),
        "pull": (lambda: bk.pull(topic, 1, group=group), ResponseCode.PULL_NOT_FOUND),
        "create": (lambda: bk.create_topic(topic), SUCCESS),
    }
    for name, value, allowed in (
        ("defaultTopicPerm", "PUB", ["send"]),
        ("defaultTopicPerm", "SUB", []),
        ("defaultGroupPerm", "SUB", ["pull"]),
        ("whiteRemoteAddress", "127.0.0.1", ["send", "pull", "create"]),
        ("whiteRemoteAddress", "10.9.8.7", ["pull"]),
        ("whiteRemoteAddress", "127.0.0.1", ["send", "pull", "create"]),
        ("whiteRemoteAddress", "", ["pull"]),
        ("admin", "true", ["send", "pull", "create"]),
        ("admin", "false", ["pull"]),
        ("topicPerms", f"{topic}=PUB", ["send"]),
        ("topicPerms", f"{other}=PUB", ["pull"]),
        ("defaultGroupPerm", "DENY", []),
        ("groupPerms", f"{group}=SUB", ["pull"]),
        ("groupPerms", f"{bk.group('other')}=SUB", []),
    ):
        stored(bk, who, **{name: value})
        bk.advance(WITHIN + bk.jitter)
        for request, (ask, code) in requests.items():
            ask().eventually() >> (Reply(code) if request in allowed else REFUSED)
    bk.sign_as(ADMIN)


@case(
    kills=["the-first-account-is-never-changed", "changed-accounts-stand-alone"],
    clock=True,
    own_server=True,
    setup=ON,
)
def test_other_accounts_of_a_file_stay(bk: BrokerSession) -> None:
    topic, changed = made(bk), {}
    for who in (SENDER, READER, ELSEWHERE, ADMIN):
        changed[who] = Account(who.access_key, "the-second-secret")
        stored(bk, changed[who], admin=str(who is ADMIN).lower())
    bk.advance(WITHIN + bk.jitter)
    for who in changed:
        bk.sign_as(who)
        bk.max_offset(topic).eventually() >> REFUSED
    for sender in (changed[SENDER], BOTH, changed[ELSEWHERE], BELOW):
        bk.sign_as(sender)
        bk.send(topic).eventually() >> Reply(SUCCESS)
    for reader in (changed[READER], BOTH):
        bk.sign_as(reader)
        bk.pull(topic, 1, group=bk.group()).eventually() >> Reply(ResponseCode.PULL_NOT_FOUND)
    bk.sign_as(changed[ADMIN])
    bk.create_topic(topic) >> Reply(SUCCESS)


@case(
    kills=["empty-words-of-rights-are-faults", "rights-with-blanks-are-left-out"],
    own_server=True,
    setup=ALONE,
)
def test_empty_words_of_rights_do_not_count(bk: BrokerSession) -> None:
    one, two, three, four, other = (made(bk) for _ in range(5))
    rights = f"{one}=PUB=,={two}=PUB,{three}==PUB, {four} = PUB "
    stored(bk, Account(bk.name("key"), "of-a-new-account"), topicPerms=rights)
    for topic in (one, two, three, four):
        bk.send(topic).eventually() >> Reply(SUCCESS)
    bk.send(other) >> REFUSED
    stored(bk, Account(bk.name("blanks"), "of-a-new-account"), defaultTopicPerm=" PUB ")
    bk.send(other).eventually() >> Reply(SUCCESS)
    bk.sign_as(ADMIN)


@case(
    kills=["stored-addresses-are-not-judged", "parts-of-addresses-are-large", "parts-of-addresses-are-small"],
    own_server=True,
    setup=ALONE,
)
def test_account_with_an_unreadable_address_is_not_stored(bk: BrokerSession) -> None:
    topic, near = made(bk), Account(bk.name("near"), "of-this-machine")
    stored(bk, near, whiteRemoteAddress="127.0.0.1-255")
    for number, where in enumerate(UNREADABLE):
        bk.sign_as(ADMIN)
        for key in (near.access_key, f"{near.access_key}-{number}"):
            said = {"accessKey": key, "secretKey": near.secret_key, "whiteRemoteAddress": where}
            bk.call(STORE, said, about=where) >> NOT_STORED
        bk.sign_as(Account(said["accessKey"], near.secret_key))
        bk.max_offset(topic) >> REFUSED
        bk.sign_as(None)
        bk.max_offset(topic, ext={"AccessKey": near.access_key}).offset >> Reply(SUCCESS, 0)
    for number, where in enumerate(("10.9.8.255", "255.9.8.7", "10.9.8.{6,255}", "10.9.8.0-255", "::ffff")):
        stored(bk, Account(f"{near.access_key}-far-{number}", near.secret_key), whiteRemoteAddress=where)
        bk.max_offset(topic).offset.eventually() >> Reply(SUCCESS, 0)
    bk.sign_as(ADMIN)


@case(kills=["stored-rights-are-not-judged"], own_server=True, setup=ALONE)
def test_account_that_cannot_be_read_is_not_stored(bk: BrokerSession) -> None:
    topic, key = made(bk), bk.name("key")
    bk.sign_as(ADMIN)
    bk.call(STORE, {"accessKey": "sixkey", "secretKey": "long-enough"}) >> NOT_STORED
    bk.call(STORE, {"accessKey": key, "secretKey": "six-66"}) >> NOT_STORED
    bk.call(STORE, {"accessKey": key}) >> NOT_STORED
    bk.call(STORE, {"secretKey": "long-enough"}) >> NOT_STORED
    for rights in ({"topicPerms": "T=READ"}, {"topicPerms": "T=PUB,U"}, {"groupPerms": "G=PUB=SUB"}):
        bk.call(STORE, {"accessKey": key, "secretKey": "long-enough", **rights}) >> NOT_STORED
    bk.sign_as(Account(key, "long-enough"))
    bk.max_offset(topic) >> REFUSED
    stored(bk, Account("seven-7", "seven-7"))
    bk.max_offset(topic).offset.eventually() >> Reply(SUCCESS, 0)


@case(
    kills=["accounts-are-not-removed", "first-file-keeps-its-accounts", "other-files-keep-their-accounts"],
    own_server=True,
    setup=ON,
)
def test_account_is_removed(bk: BrokerSession) -> None:
    topic = made(bk)
    for who in (BOTH, ELSEWHERE, BELOW):
        bk.sign_as(ADMIN)
        bk.call(REMOVE, {"accessKey": who.access_key}) >> Reply(SUCCESS)
        bk.sign_as(who)
        bk.max_offset(topic) >> REFUSED
        bk.sign_as(ADMIN)
        bk.call(REMOVE, {"accessKey": who.access_key}) >> NOT_REMOVED
    bk.call(REMOVE, {"accessKey": "no-such-account"}) >> NOT_REMOVED
    bk.call(REMOVE, {}) >> NOT_REMOVED
    for who in (ADMIN, SENDER, GERMAN):
        bk.sign_as(who)
        bk.max_offset(topic).offset >> Reply(SUCCESS, 0)
    bk.sign_as(ADMIN)


@case(
    kills=[
        "refused-account-has-no-remark",
        "refused-removal-has-no-remark",
        "refused-addresses-have-no-remark",
        "refusals-name-no-account",
    ],
    own_server=True,
    setup=ON,
)
def test_refusals_say_what_failed(bk: BrokerSession) -> None:
    made(bk)
    bk.sign_as(ADMIN)
    keys = "The accessKey={} and secretKey={} cannot be null and length should longer than 6"
    for ext in (
        {"accessKey": "sixkey", "secretKey": "long-enough"},
        {"accessKey": "some-key", "secretKey": "six-66"},
    ):
        bk.call(STORE, ext) >> Reply(209, remark=keys.format(*ext.values()))
    for key in ("no-such-account", "größe-😀"):
        said = f"The accesskey[{key}] corresponding to accessConfig has been deleted failed."
        bk.call(REMOVE, {"accessKey": key}) >> Reply(210, remark=said)
    for given in ("127.0.0.3", "10.9.8.7,127.0.0.3"):
        ext = {"globalWhiteAddrs": given, "aclFileFullPath": f"{FILE}.gone"}
        said = f"The globalWhiteAddresses[{given}] has been updated failed."
        bk.call(LET_IN, ext) >> Reply(211, remark=said)


@case(kills=["addresses-are-not-stored", "addresses-replace-accounts"], clock=True, own_server=True, setup=ON)
def test_addresses_are_stored(bk: BrokerSession) -> None:
    topic = made(bk)
    bk.sign_as(ADMIN)
    bk.call(LET_IN, {"globalWhiteAddrs": "10.9.8.7,127.0.0.1", "aclFileFullPath": ""}) >> Reply(SUCCESS)
    bk.call(LET_IN, {"globalWhiteAddrs": "127.0.0.3", "aclFileFullPath": f"{FILE}.gone"}) >> NOT_LET_IN
    bk.call(LET_IN, {"aclFileFullPath": ""}) >> NOT_LET_IN
    bk.sign_as(None)
    bk.advance(WITHIN + bk.jitter)
    bk.max_offset(topic).offset.eventually() >> Reply(SUCCESS, 0)
    bk.call(LET_IN, {"globalWhiteAddrs": "10.9.8.7"}) >> Reply(SUCCESS)
    bk.advance(WITHIN + bk.jitter)
    bk.max_offset(topic).eventually() >> REFUSED
    bk.sign_as(NOTHING)
    bk.max_offset(topic).offset >> Reply(SUCCESS, 0)
    bk.sign_as(ADMIN)


@case(
    kills=["addresses-are-those-of-the-first-file", "named-files-are-unknown"],
    clock=True,
    own_server=True,
    setup=ADDRESSED,
)
def test_addresses_are_stored_in_the_file_that_is_named(bk: BrokerSession) -> None:
    topic = made(bk)
    bk.sign_as(ADMIN)
    path = (bk.call(VERSIONS, {}).seen_as(PATH) >> Reply(SUCCESS)).value
    for here, default, judged in (
        ("10.9.8.5,127.0.0.1", "10.9.8.4", Reply(SUCCESS)),
        ("10.9.8.5", "10.9.8.4", REFUSED),
        ("10.9.8.5", "127.0.0.1", Reply(SUCCESS)),
    ):
        bk.sign_as(ADMIN)
        bk.call(LET_IN, {"globalWhiteAddrs": here, "aclFileFullPath": path}) >> Reply(SUCCESS)
        bk.call(LET_IN, {"globalWhiteAddrs": default}) >> Reply(SUCCESS)
        bk.sign_as(None)
        bk.advance(WITHIN + bk.jitter)
        bk.max_offset(topic).eventually() >> judged


@case(kills=["unreadable-addresses-are-left-out"], own_server=True, setup=ON)
def test_addresses_that_cannot_be_read_are_not_stored(bk: BrokerSession) -> None:
    bk.sign_as(ADMIN)
    bk.call(LET_IN, {"globalWhiteAddrs": "10.9.8.7,Grün", "aclFileFullPath": ""}) >> NOT_LET_IN
    bk.call(LET_IN, {"globalWhiteAddrs": "10.9.8.7,10.9.8.6", "aclFileFullPath": ""}) >> Reply(SUCCESS)


@case(
    kills=["versions-of-accounts-stay", "one-version-is-shown", "versions-are-those-of-one-file"],
    clock=True,
    own_server=True,
    setup=ON,
)
def test_changes_raise_the_version(bk: BrokerSession) -> None:
    made(bk)
    bk.sign_as(ADMIN)
    here = {"brokerName": bk.broker_name, "brokerAddr": bk.broker_address, "clusterName": bk.cluster_name}
    begun = {"counter": 0, "timestamp": Between(0, bk.broker_time())}
    versions = {FILE: begun, OTHER_FILE: begun, DEEP_FILE: begun}
    bk.call(VERSIONS, {}).seen_as(ALL) >> Reply(SUCCESS, {"": begun, **versions}, ext=Including(here))
    changes = (
        (Account(bk.name("key"), "of-a-new-account"), FILE, 1),
        (ELSEWHERE, OTHER_FILE, 1),
        (Account(bk.name("other"), "of-a-new-account"), FILE, 2),
    )
    for who, file, counter in changes:
        before = bk.broker_time()
        stored(bk, who, admin="true")
        bk.advance(WITHIN + bk.jitter)
        versions[file] = {"counter": counter, "timestamp": Between(before - 1000, before + 60_000)}
        shown = bk.call(VERSIONS, {}).seen_as(ALL).eventually()
        shown >> Reply(SUCCESS, {"": versions[FILE], **versions}, ext=Including(here))


@case(kills=["everybody-may-change-accounts"], own_server=True, setup=ON)
def test_accounts_are_changed_by_administrators(bk: BrokerSession) -> None:
    made(bk)
    bk.sign_as(BOTH)
    bk.call(STORE, {"accessKey": BOTH.access_key, "secretKey": BOTH.secret_key, "admin": "true"}) >> REFUSED
    bk.call(REMOVE, {"accessKey": ADMIN.access_key}) >> REFUSED
    bk.call(LET_IN, {"globalWhiteAddrs": "127.0.0.1", "aclFileFullPath": ""}) >> REFUSED


@case(kills=["changes-without-access-control-succeed"])
def test_changes_without_access_control_are_refused(bk: BrokerSession) -> None:
    bk.call(STORE, {"accessKey": "some-key", "secretKey": "some-secret"}) >> NOT_STORED
    bk.call(REMOVE, {"accessKey": "some-key"}) >> NOT_REMOVED
    bk.call(LET_IN, {"globalWhiteAddrs": "127.0.0.1", "aclFileFullPath": ""}) >> NOT_LET_IN
