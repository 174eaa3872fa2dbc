"""Access control that no case has: IPv6, what is wrong with a file, and a file that is removed."""

from __future__ import annotations

import pytest

from harness.session.broker.signing import Account
from harness.wire import Command, RequestCode, ResponseCode
from reference_impl.access_files import files_of_access
from reference_impl.broker.acl.accounts import AclError, read
from reference_impl.broker.acl.addresses import Addresses

from .driver import make_broker

NAMED = "conf/plain_acl.yml"
ADMIN = Account("administrator", "Verwaltung-1")


@pytest.mark.parametrize(
    ("pattern", "inside", "outside"),
    [
        ("10.0.0.7", "10.0.0.7", "10.0.0.70"),
        ("10.0.0.7, 10.0.0.8", "10.0.0.8", "10.0.0.9"),
        ("10.0.0.{7, 8}", "10.0.0.8", "10.0.0.78"),
        ("10.0.3-5.*", "10.0.5.255", "10.0.6.0"),
        ("10.*.*.*", "10.1.2.3", "11.1.2.3"),
        ("*", "::1", "no address"),
        ("::1", "0:0:0:0:0:0:0:1", "::2"),
        ("2001:db8::{1,2}", "2001:DB8::2", "2001:db8::12"),
        ("2001:db8:0:0:0:0:1-ff:*", "2001:db8::fe:ffff", "2001:db8::100:0"),
        ("10.0.0.7", "10.0.0.7", "::ffff:10.0.0.7"),
    ],
)
def test_patterns(pattern: str, inside: str, outside: str) -> None:
    assert inside in Addresses(pattern)
    assert pattern == "*" or outside not in Addresses(pattern)


@pytest.mark.parametrize(
    "pattern", ["10.0.0", "10.0.0.256", "10.0.0.9-7", "10.0.0.-7", "host", "1:2:3", "10.0.0.{a}"]
)
def test_patterns_that_are_none(pattern: str) -> None:
    with pytest.raises(ValueError, match="expected an address such as"):
        Addresses(pattern)


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("accounts: 7", "object is not iterable"),
        ("accounts: [word]", "'str' object"),
        ("accounts: [{accessKey: [1], secretKey: long-enough}]", "accessKey: expected a text"),
        (
            "accounts: [{accessKey: long-enough, secretKey: long-enough, topicPerms: [A=PUB=SUB]}]",
            "Parse resource permission failed for topic:A=PUB=SUB",
        ),
    ],
)
def test_files_that_cannot_be_read(text: str, problem: str) -> None:
    with pytest.raises(AclError, match=problem):
        read(NAMED, text.encode(), 0)


def test_keys_of_digits_are_texts() -> None:
    (account,) = read(NAMED, b"accounts: [{accessKey: 12345678, secretKey: 87654321}]", 0).accounts
    assert (account.access_key, account.secret_key) == ("12345678", "87654321")


def test_a_broker_without_a_home_has_no_files() -> None:
    assert files_of_access("") == {}


def test_accounts_of_a_file_that_is_removed_are_refused() -> None:
    line = f"- {{accessKey: {ADMIN.access_key}, secretKey: {ADMIN.secret_key}, admin: true}}"
    files = {"conf/acl/one.yml": f"accounts:\n{line}\n".encode(), NAMED: b""}
    broker = make_broker("4.9", acl_files=lambda: files, aclEnable=True).broker
    command = ADMIN.sign(Command(RequestCode.GET_ALL_TOPIC_CONFIG))
    assert broker.execute(command, 1, broker.started).code == ResponseCode.SUCCESS
    del files["conf/acl/one.yml"]
    broker.tick(broker.started + 5_000)
    assert broker.execute(command, 1, broker.started).code == ResponseCode.SYSTEM_ERROR


def test_accounts_of_a_file_that_appears_are_let_in() -> None:
    files: dict[str, bytes] = {}
    broker = make_broker("4.9", acl_files=lambda: files, aclEnable=True).broker
    command = ADMIN.sign(Command(RequestCode.GET_ALL_TOPIC_CONFIG))
    assert broker.execute(command, 1, broker.started).code == ResponseCode.SYSTEM_ERROR
    line = f"- {{accessKey: {ADMIN.access_key}, secretKey: {ADMIN.secret_key}, admin: true}}"
    files[NAMED] = f"accounts:\n{line}\n".encode()
    broker.tick(broker.started + 5_000)
    assert broker.execute(command, 1, broker.started).code == ResponseCode.SUCCESS


def test_a_pull_without_a_topic_needs_the_right_to_the_group_alone() -> None:
    line = "- {accessKey: subscriber, secretKey: of-a-subscriber, defaultGroupPerm: SUB}"
    files = {NAMED: f"accounts:\n{line}\n".encode()}
    broker = make_broker("4.9", acl_files=lambda: files, aclEnable=True).broker
    pull = Account("subscriber", "of-a-subscriber").sign(
        Command(RequestCode.PULL_MESSAGE, ext={"consumerGroup": "G"})
    )
    assert broker.access.refusal(pull, "10.0.0.1:1") is None


def test_versions_need_access_control() -> None:
    broker = make_broker("4.9").broker
    reply = broker.execute(Command(RequestCode.GET_BROKER_CLUSTER_ACL_INFO), 1, broker.started)
    assert (reply.code, reply.remark) == (
        ResponseCode.SYSTEM_ERROR,
        "access control is off: aclEnable is false",
    )


def test_commas_at_the_end_of_rights_do_not_count() -> None:
    line = f"- {{accessKey: {ADMIN.access_key}, secretKey: {ADMIN.secret_key}, admin: true}}"
    files = {NAMED: f"accounts:\n{line}\n".encode()}
    broker = make_broker("4.9", acl_files=lambda: files, aclEnable=True).broker
    said = broker.access_administration.said({"topicPerms": "A=PUB,B=SUB,,", "groupPerms": ","})
    assert (said["topicPerms"], said["groupPerms"]) == (["A=PUB", "B=SUB"], [])
