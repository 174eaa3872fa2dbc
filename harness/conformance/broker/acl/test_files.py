"""Chapter acl: the files that say who may do what."""

from harness.conformance import Reply, case
from harness.conformance.broker.acl.guarded import (
    ADMIN,
    ADMINISTRATOR,
    ALONE,
    BELOW,
    BOTH,
    DEEP_FILE,
    ELSEWHERE,
    FILE,
    ON,
    OTHER_FILE,
    REFUSED,
    SENDER,
    SUCCESS,
    account,
    accounts,
    made,
)
from harness.session import BrokerSession
from harness.session.broker.signing import Account

READ_AGAIN = 5
"""Protocol seconds between two looks at the files."""
WITH_SENDER = accounts(ADMINISTRATOR, account(SENDER, defaultTopicPerm="PUB"))


def placed(bk: BrokerSession, text: str, name: str = FILE) -> None:
    """A file is another, and the Broker has had time to see it."""
    bk.file(name, text.encode())
    bk.advance(READ_AGAIN + bk.jitter)


@case(kills=["one-file-counts"], setup=ON)
def test_every_file_counts(bk: BrokerSession) -> None:
    topic = made(bk)
    for who in (SENDER, ELSEWHERE, BELOW):
        bk.sign_as(who)
        bk.send(topic) >> Reply(SUCCESS)


@case(
    kills=["changed-files-are-not-read", "removed-accounts-stay", "files-are-compared-with-the-first"],
    clock=True,
    own_server=True,
    setup=ALONE,
)
def test_changed_file_is_read_again(bk: BrokerSession) -> None:
    topic = made(bk)
    placed(bk, WITH_SENDER)
    bk.sign_as(SENDER)
    bk.send(topic).offset.eventually() >> Reply(SUCCESS, 0)
    placed(bk, accounts(ADMINISTRATOR, account(SENDER, defaultTopicPerm="SUB")))
    bk.send(topic).eventually() >> REFUSED
    placed(bk, accounts(ADMINISTRATOR, account(BOTH, defaultTopicPerm="PUB")))
    bk.max_offset(topic).eventually() >> REFUSED
    bk.sign_as(BOTH)
    bk.send(topic) >> Reply(SUCCESS)
    placed(bk, accounts(ADMINISTRATOR))
    bk.send(topic).eventually() >> REFUSED
    bk.sign_as(ADMIN)
    bk.max_offset(topic).offset >> Reply(SUCCESS, 2)


@case(kills=["new-files-are-not-read", "one-new-file-is-read"], clock=True, own_server=True, setup=ALONE)
def test_new_file_is_read(bk: BrokerSession) -> None:
    topic = made(bk)
    for who, name in ((SENDER, OTHER_FILE), (BELOW, DEEP_FILE)):
        bk.file(name, accounts(account(who, defaultTopicPerm="PUB")).encode())
    bk.advance(READ_AGAIN + bk.jitter)
    for who in (SENDER, BELOW):
        bk.sign_as(who)
        bk.send(topic).eventually() >> Reply(SUCCESS)
    bk.sign_as(ADMIN)
    bk.delete_topic(topic) >> Reply(SUCCESS)


@case(
    kills=["keys-of-digits-are-no-keys", "any-word-makes-an-administrator"],
    clock=True,
    own_server=True,
    setup=ALONE,
)
def test_values_are_read_in_either_form(bk: BrokerSession) -> None:
    topic, digits, quoted = (
        made(bk),
        Account("123456789", "987654321"),
        Account("quoted-admin", "Verwaltung-4"),
    )
    bare = account(digits, defaultTopicPerm="PUB", admin="false").replace('"123456789"', "123456789")
    bare = bare.replace('"987654321"', "987654321")
    placed(bk, accounts(ADMINISTRATOR, bare, account(quoted, admin="true")))
    bk.sign_as(digits)
    bk.send(topic).eventually() >> Reply(SUCCESS)
    bk.create_topic(topic) >> REFUSED
    bk.sign_as(quoted)
    bk.create_topic(topic) >> Reply(SUCCESS)


@case(
    kills=["removed-files-keep-their-accounts", "one-removed-file-keeps-its-accounts"],
    clock=True,
    own_server=True,
    setup=ON,
)
def test_removed_files_have_no_accounts(bk: BrokerSession) -> None:
    topic = made(bk)
    for name in (OTHER_FILE, DEEP_FILE):
        bk.file(name, None)
    bk.advance(READ_AGAIN + bk.jitter)
    for who in (ELSEWHERE, BELOW):
        bk.sign_as(who)
        bk.max_offset(topic).eventually() >> REFUSED
    bk.sign_as(SENDER)
    bk.max_offset(topic).offset >> Reply(SUCCESS, 0)
    placed(bk, accounts(account(BELOW, defaultTopicPerm="PUB")), DEEP_FILE)
    bk.sign_as(BELOW)
    bk.send(topic).eventually() >> Reply(SUCCESS)


@case(
    kills=["unreadable-files-have-no-accounts", "unreadable-files-let-addresses-in"],
    clock=True,
    own_server=True,
    setup=ALONE,
)
def test_unreadable_file_changes_nothing(bk: BrokerSession) -> None:
    topic = made(bk)
    placed(bk, "accounts: [}")
    placed(bk, accounts(ADMINISTRATOR, account(BOTH)).replace(BOTH.secret_key, "short"))
    placed(bk, "globalWhiteRemoteAddresses:\n- 127.0.0.1\n- 10.9.8.256\n" + accounts(ADMINISTRATOR))
    bk.max_offset(topic) >> REFUSED
    bk.sign_as(BOTH)
    bk.max_offset(topic) >> REFUSED
    bk.sign_as(ADMIN)
    bk.max_offset(topic).offset >> Reply(SUCCESS, 0)
    placed(bk, WITH_SENDER)
    bk.sign_as(SENDER)
    bk.send(topic).eventually() >> Reply(SUCCESS)


@case(kills=["addresses-stay-for-ever"], clock=True, own_server=True, setup=ALONE)
def test_address_is_let_in_while_a_file_says_so(bk: BrokerSession) -> None:
    topic = made(bk)
    bk.max_offset(topic) >> REFUSED
    placed(bk, "globalWhiteRemoteAddresses:\n- 127.0.0.1\n" + accounts(ADMINISTRATOR))
    bk.max_offset(topic).offset.eventually() >> Reply(SUCCESS, 0)
    placed(bk, "globalWhiteRemoteAddresses:\n- 127.0.0.2\n" + accounts(ADMINISTRATOR))
    bk.max_offset(topic).eventually() >> REFUSED
