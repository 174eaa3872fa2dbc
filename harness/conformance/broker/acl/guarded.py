"""A Broker with access control: its files, and the accounts that are in them."""

from collections.abc import Callable

import msgspec

from harness.conformance import Reply
from harness.session import BrokerSession
from harness.session.broker.signing import Account
from harness.wire import Command, ResponseCode

SUCCESS = ResponseCode.SUCCESS
REFUSED = Reply(ResponseCode.SYSTEM_ERROR)
FILE = "conf/plain_acl.yml"
OTHER_FILE = "conf/acl/other.yml"
DEEP_FILE = "conf/acl/deep/below.yaml"

ADMIN = Account("administrator", "Verwaltung-1")
SENDER = Account("publisher", "sends-and-no-more")
READER = Account("subscriber", "reads-and-no-more")
BOTH = Account("both-ways", "sends-and-reads")
TURNED = Account("both-turned", "reads-and-sends")
NOTHING = Account("without-rights", "may-do-nothing")
MISREAD = Account("misread-rights", "may-do-nothing-2")
BOUNDED = Account("bounded-admin", "Verwaltung-2")
CONFINED = Account("confined-admin", "Verwaltung-3")
GERMAN = Account("Schlüssel", "Geheimnis-ß-€")
ELSEWHERE = Account("from-other-file", "in-a-file-of-its-own")
BELOW = Account("from-deep-file", "in-a-file-far-below")

NAMED = {"PUB": "named-to-send", "SUB": "named-to-read", "DENY": "named-to-none", "PUB|SUB": "named-to-both"}
"""Topics, and groups, to which accounts have rights by name."""

HERE = {
    "here-at-one": "127.0.0.1",
    "here-at-several": "10.9.8.7,127.0.0.1",
    "here-at-the-first": "127.0.0.1,10.9.8.7",
    "here-at-a-set": "127.0.0.{7,1}",
    "here-at-its-first": "127.0.0.{1,7}",
    "here-at-a-range": "127.0.0.1-9",
    "here-at-two-ranges": "127.0.0-3.*",
    "anywhere": "*",
    "anywhere-in-parts": "*.*.*.*",
}
"""Access keys of accounts with addresses, of which that of the harness is one."""
AWAY = {
    "away-from-one": "127.0.0.11",
    "away-from-several": "10.9.8.7,127.0.0.2",
    "away-from-a-set": "127.0.0.{7,11}",
    "away-from-a-range": "127.0.0.2-9",
    "away-from-ranges": "127.0.1-3.*",
    "away-from-blank": " ",
}
"""Accounts with addresses of which it is none."""
SECRET = "of-those-with-addresses"


def account(who: Account, **said: object) -> str:
    """One account, in YAML."""
    shown = {"accessKey": who.access_key, "secretKey": who.secret_key, **said}
    return f"- {msgspec.json.encode(shown).decode()}\n"


def accounts(*several: str) -> str:
    """A file of accounts."""
    return f"accounts:\n{''.join(several)}"


_RIGHTS = [f"{topic}={right}" for right, topic in NAMED.items()]
ADMINISTRATOR = account(ADMIN, admin=True)
PLAIN = "globalWhiteRemoteAddresses:\n- 10.9.8.7\n- 127.0.0.2\n" + accounts(
    ADMINISTRATOR,
    account(SENDER, defaultTopicPerm="PUB", defaultGroupPerm="PUB", topicPerms=_RIGHTS),
    account(READER, defaultTopicPerm="SUB", defaultGroupPerm="SUB", topicPerms=_RIGHTS, groupPerms=_RIGHTS),
    account(BOTH, defaultTopicPerm="PUB|SUB", defaultGroupPerm="PUB|SUB"),
    account(TURNED, defaultTopicPerm="SUB|PUB", defaultGroupPerm="SUB|PUB", admin=False),
    account(NOTHING),
    account(MISREAD, defaultTopicPerm="READ", defaultGroupPerm="pub|sub"),
    account(BOUNDED, admin=True, topicPerms=_RIGHTS),
    account(CONFINED, admin=True, groupPerms=_RIGHTS),
    account(GERMAN, defaultTopicPerm="PUB"),
    *(account(Account(key, SECRET), whiteRemoteAddress=where) for key, where in {**HERE, **AWAY}.items()),
)
_ON = {"aclEnable": "true", "rocketmqHome": "{dir}", "traceTopicEnable": "true"}
ON = {
    **_ON,
    f"{{dir}}/{FILE}": PLAIN,
    f"{{dir}}/{OTHER_FILE}": accounts(account(ELSEWHERE, defaultTopicPerm="PUB")),
    f"{{dir}}/{DEEP_FILE}": accounts(account(BELOW, defaultTopicPerm="PUB")),
}
"""Access control with all of these."""
ALONE = {**_ON, f"{{dir}}/{FILE}": accounts(ADMINISTRATOR)}
"""Access control with an administrator alone."""
OPEN = {
    **_ON,
    f"{{dir}}/{FILE}": "globalWhiteRemoteAddresses:\n- 10.9.8.7\n",
    f"{{dir}}/{OTHER_FILE}": "globalWhiteRemoteAddresses:\n- 10.9.8.6\n- 127.0.0.1\n",
}
"""Access control that lets everything in that comes from this machine."""
APART = {
    **_ON,
    f"{{dir}}/{FILE}": "globalWhiteRemoteAddresses:\n- 10.9.8.7\n",
    f"{{dir}}/{OTHER_FILE}": accounts(ADMINISTRATOR),
}
"""Access control with an administrator alone, who is not in the file that new accounts go to."""
ADDRESSED = {
    **_ON,
    f"{{dir}}/{FILE}": "globalWhiteRemoteAddresses:\n- 10.9.8.7\n" + accounts(ADMINISTRATOR),
    f"{{dir}}/{OTHER_FILE}": "globalWhiteRemoteAddresses:\n- 10.9.8.6\n" + accounts(account(ELSEWHERE)),
}
"""Access control with two files that have addresses, none of which is that of the harness."""


def made(bk: BrokerSession, name: str | None = None) -> str:
    """A topic, made by the administrator, who signs no longer then."""
    bk.sign_as(ADMIN)
    topic = bk.topic() if name is None else name
    bk.create_topic(topic) >> Reply(SUCCESS)
    bk.sign_as(None)
    return topic


def then(account: Account, change: Callable[[Command], Command]) -> Callable[[Command], Command]:
    """What signs a request and then changes it."""
    return lambda command: change(account.sign(command))


def with_fields(**fields: str) -> Callable[[Command], Command]:
    """What adds fields to a request, or replaces them."""
    return lambda command: msgspec.structs.replace(command, ext={**(command.ext or {}), **fields})
