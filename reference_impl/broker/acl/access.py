"""Who may ask what, where `aclEnable` is true (4.9): each request is looked at before it is carried out.

1. What is not allowed is answered with code 1 and has changed nothing. A request that nothing is answered
   to is dropped.
2. Addresses come first: a request from a global one needs nothing; one from the account's own needs the
   access key alone. All others need a signature, and then rights.
3. The files are read again every 5 s. One that cannot be read changes nothing. (Apache's 4.9.8 keeps
   addresses for ever that come into a file that had none before.)
4. An access key that several files have belongs to the first one: those below `conf/acl` by their names, and
   then `conf/plain_acl.yml`. (Apache: in the order of the directory.)

5.3 does not have this: `aclEnable` does nothing there.

Source: PlainPermissionManager, AclFileWatchService of rocketmq-all-4.9.8.
"""

from __future__ import annotations

import hmac
import logging
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Final, TypeAlias

from harness.wire import Command
from harness.wire.messages import TopicName
from reference_impl.broker.part import NEVER, Part
from reference_impl.remoting.reply import RefusedError, Reply

from .accounts import PUB, Account, AclError, AclFile, read
from .addresses import Addresses
from .needs import ADMIN, Need, needs_of
from .signature import ACCESS_KEY, SIGNATURE, signature_of, signed_content

if TYPE_CHECKING:
    from reference_impl.broker.core import Broker

AclFiles: TypeAlias = Callable[[], Mapping[str, bytes]]
"""Gives the files of access control, by their names below the home: `conf/plain_acl.yml`, `conf/acl/…`."""

DEFAULT_FILE: Final = "conf/plain_acl.yml"
_LOOK_EVERY: Final = 5_000
_log = logging.getLogger(__name__)


def no_files() -> dict[str, bytes]:
    """For a Broker without a home."""
    return {}


class Access(Part):
    """Looks at requests. Raises AclError where a file cannot be read at the start."""

    def __init__(self, broker: Broker) -> None:
        super().__init__(broker)
        self.is_on = self.is_wanted()
        self.files: dict[str, AclFile] = {}
        """What is in force, by the name of the file."""
        self._seen: dict[str, bytes] = {}
        self._next_look = broker.started + _LOOK_EVERY if self.is_on else NEVER
        if self.is_on:
            self._seen = dict(broker.acl_files())
            self.files = {name: read(name, data, broker.started) for name, data in self._seen.items()}

    def is_wanted(self) -> bool:
        """Whether requests are looked at."""
        return self.config.acl_enable and not self.profile.v5

    # -- requests --------------------------------------------------------------------------------------------

    def refusal(self, command: Command, peer: str) -> Reply | None:
        """Why a request is not carried out; None: it is. `peer` is the "ip:port" that it comes from."""
        try:
            self.check(command, peer.rpartition(":")[0].strip("[]"))
        except RefusedError as refused:
            return refused.reply()
        return None

    def check(self, command: Command, address: str) -> None:
        """Raises RefusedError for a request that is not allowed."""
        needs = self.needs(command)
        if self.is_let_in(address):
            return
        account = self.account_of(command)
        if self.includes(account.white, address):
            return
        self.check_signature(command, account)
        if not self.is_trace(needs):
            self.check_rights(command, account, needs)

    def is_let_in(self, address: str) -> bool:
        """Whether requests from an address need no access key."""
        return any(self.includes(white, address) for file in self.files.values() for white in file.white)

    def includes(self, several: Addresses, address: str) -> bool:
        """Whether an address is among several."""
        return address in several

    def needs(self, command: Command) -> list[Need]:
        """The rights that a request needs. Raises RefusedError for one that cannot be read."""
        return list(needs_of(command))

    def account_of(self, command: Command) -> Account:
        """The account of a request. Raises RefusedError."""
        key = (command.ext or {}).get(ACCESS_KEY)
        if key is None:
            raise RefusedError("No accessKey is configured")
        account = self.find(key)
        if account is None:
            raise RefusedError(f"No acl config for {key}")
        return account

    def find(self, key: str) -> Account | None:
        """The account with an access key."""
        for name in self.in_order():
            for account in self.files[name].accounts:
                if account.access_key == key:
                    return account
        return None

    def in_order(self) -> list[str]:
        """The names of the files, the one that counts most first."""
        return sorted(self.files)

    def check_signature(self, command: Command, account: Account) -> None:
        """Raises RefusedError."""
        ext = command.ext or {}
        expected = signature_of(self.content(command), account.secret_key)
        if not hmac.compare_digest(expected.encode(), (ext.get(SIGNATURE) or "").encode()):
            raise RefusedError(f"Check signature failed for accessKey={account.access_key}")

    def content(self, command: Command) -> bytes:
        """What is signed of a request."""
        return signed_content(command.ext or {}, command.body)

    def is_trace(self, needs: list[Need]) -> bool:
        """Whether a request sends a trace of messages, which everybody with an account may."""
        return Need("topic", TopicName.TRACE, PUB) in needs

    def check_rights(self, command: Command, account: Account, needs: list[Need]) -> None:
        """Raises RefusedError."""
        if self.is_for_administrators(command.code) and not account.admin:
            raise RefusedError(
                f"Need admin permission for request code={command.code}, "
                f"but accessKey={account.access_key} is not"
            )
        if self.may_everything(account):
            return
        for need in needs:
            if need.right not in self.rights(account, need):
                raise RefusedError(f"No default permission for {need.kind}:{need.name}")

    def is_for_administrators(self, code: int) -> bool:
        """Whether a request is one of administrators."""
        return code in ADMIN

    def may_everything(self, account: Account) -> bool:
        """Whether an account needs no rights: an administrator without any in the file."""
        return account.admin and not (account.topics or account.groups)

    def rights(self, account: Account, need: Need) -> frozenset[str]:
        """The rights of an account to a topic or a group."""
        if need.kind == "topic":
            return account.topics.get(need.name, account.default_topic)
        return account.groups.get(need.name, account.default_group)

    # -- files -----------------------------------------------------------------------------------------------

    def next_tick(self) -> int:
        return self._next_look

    def tick(self, now: int) -> None:
        self._next_look = now + _LOOK_EVERY
        found = dict(self.broker.acl_files())
        for name in self.files.keys() - found.keys():
            self.gone(name)
        for name, data in found.items():
            if self._seen.get(name) != data:
                self.changed(name, data, now)
        self._seen = found

    def gone(self, name: str) -> None:
        """A file is there no more."""
        del self.files[name]

    def changed(self, name: str, data: bytes, now: int) -> None:
        """A file is new, or another."""
        try:
            self.files[name] = read(name, data, now)
        except AclError as error:
            _log.warning("access control: %s; what was in force stays so", error)

    def write(self, name: str, data: bytes, now: int) -> None:
        """Replace a file; it is in force at once. Raises AclError."""
        self.files[name] = read(name, data, now)
        self._seen[name] = data
        self.broker.persist(name, data)
