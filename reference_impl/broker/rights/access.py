"""Rights of users (5.x): kept, changed and shown, and looked at before a request is carried out.

1. Rights are kept where there are users and `authorizationMetadataProvider` is set. With
   `authorizationEnabled`, a request needs them; a user of the type Super has all. Where none are kept, no
   other user has any.
2. Of several entries that fit, the one counts that says most closely what is asked for; of two that say the
   same, the one that denies. (Apache's 5.3.3 does otherwise.)
3. Without `authenticationEnabled`, the user that a request names counts as its sender.

Source: AuthorizationMetadataManagerImpl, AclAuthorizationHandler, UserAuthorizationHandler,
LocalAuthorizationMetadataProvider of rocketmq-all-5.3.3 and rocketmq-all-5.5.0.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Final

import msgspec

from harness.wire import Command, RequestCode, ResponseCode
from harness.wire.fastjson import document
from reference_impl.broker import required
from reference_impl.broker.acl.signature import ACCESS_KEY
from reference_impl.broker.part import Part
from reference_impl.broker.users import SUPER
from reference_impl.remoting import fields
from reference_impl.remoting.errors import ConfigError
from reference_impl.remoting.reply import RefusedError, Reply
from reference_impl.remoting.requests import Handler, answers

from .needs import Need, needs_of
from .policies import (
    CUSTOM,
    DEFAULT,
    DENY,
    POLICIES,
    Acl,
    Entry,
    FaultError,
    Policy,
    closeness,
    read,
    resource_of,
)

if TYPE_CHECKING:
    from reference_impl.broker.core import Broker

FILE: Final = "config/rights.json"
USER: Final = "User:"
NO_POLICIES: Final = "The body of acl is null"
NO_SUBJECT: Final = "The subject is null."
_UNREADABLE: Final = "parse authorization context error."
_NO_PROVIDER: Final = "The authorizationMetadataProvider is not configured"
_NO_ONE: Final = "Authorization failed. Please verify your access rights and try again."


class Rights(Part):
    """Keeps, changes and shows rights, and judges who may ask what. Raises ConfigError."""

    def __init__(self, broker: Broker) -> None:
        super().__init__(broker)
        self.is_kept = broker.users.is_kept and bool(self.config.authorization_metadata_provider)
        self.is_on = broker.users.is_kept and self.config.authorization_enabled
        self.table: dict[str, Acl] = {}
        if self.is_kept:
            self.table = self.stored(broker.stored.get(FILE, b"[]"))

    def requests(self) -> Mapping[int, Handler]:
        return super().requests() if self.is_kept else {}

    # -- who may ask what ------------------------------------------------------------------------------------

    def refusal(self, command: Command, peer: str) -> Reply | None:
        """Why a request is not carried out; None: it is. `peer` is the "ip:port" that it comes from."""
        fault = self.fault(command, peer.rpartition(":")[0].strip("[]"))
        return None if fault is None else Reply(ResponseCode.NO_PERMISSION, remark=fault, from_handler=False)

    def fault(self, command: Command, address: str) -> str | None:
        """What a request lacks."""
        if not command.ext:
            return None
        try:
            needs = self.needs(command)
        except RefusedError:
            return _UNREADABLE
        name = command.ext.get(ACCESS_KEY)
        return next(filter(None, (self.lack(name, need, address) for need in needs)), None)

    def needs(self, command: Command) -> list[Need]:
        """What a request needs. Raises RefusedError for one that cannot be read."""
        return list(needs_of(command, self.config.broker_cluster_name, self.profile.engine))

    def lack(self, name: str | None, need: Need, address: str) -> str | None:
        """Why a user may not do this."""
        if name is None:
            return _NO_ONE
        user = self.broker.users.table.get(name)
        if user is None:
            return f"{USER}{name} not found."
        if user.user_type == SUPER:
            return None
        if not self.is_kept:
            return _NO_PROVIDER
        entry = self.deciding(self.of(f"{USER}{name}"), need, address)
        if entry is not None and entry.decision != DENY:
            return None
        why = "no matched policies." if entry is None else "the decision is deny."
        return f"{USER}{name} has no permission to access {need.resource} from {address}, {why}"

    def of(self, subject: str) -> list[Policy]:
        """The policies of a user."""
        acl = self.table.get(subject)
        return [] if acl is None else acl.policies

    def deciding(self, policies: list[Policy], need: Need, address: str) -> Entry | None:
        """The entry that counts."""
        for kind in (CUSTOM, DEFAULT):
            entries = [entry for policy in policies if policy.policy_type == kind for entry in policy.entries]
            found = [entry for entry in entries if self.is_about(entry, need, address)]
            if found:
                return self.closest(found, need)
        return None

    def is_about(self, entry: Entry, need: Need, address: str) -> bool:
        """Whether an entry says something about this."""
        return closeness(entry.resource, need.resource) > 0 and entry.fits(need.actions, address)

    def closest(self, entries: list[Entry], need: Need) -> Entry:
        """The one of several that counts."""
        return max(entries, key=lambda one: (closeness(one.resource, need.resource), one.decision == DENY))

    # -- rights ----------------------------------------------------------------------------------------------

    @answers(RequestCode.AUTH_CREATE_ACL, v5=True)
    @answers(RequestCode.AUTH_UPDATE_ACL, v5=True)
    def give(self, command: Command, connection: int, now: int) -> Reply:
        """Both do the same. Whom the body names counts before whom the field names."""
        said = required.members(command, self.profile.engine) if command.body else {}
        policies = said.get("policies")
        if not isinstance(policies, list) or not policies:
            raise RefusedError(NO_POLICIES)
        subject = subject_of(said.get("subject")) or subject_of(fields.text(command.ext, "subject"))
        if subject is None:
            raise RefusedError("the subject is null")
        try:
            found = read(policies)
        except FaultError as fault:
            return self.refused(str(fault))
        if not self.is_user(subject):
            return self.refused(f"The subject of {subject} is not exist.")
        self.put(subject, found)
        return Reply(ResponseCode.SUCCESS)

    @answers(RequestCode.AUTH_DELETE_ACL, v5=True)
    def take(self, command: Command, connection: int, now: int) -> Reply:
        """All of a user, or what one policy says of one resource."""
        subject = subject_of(fields.text(command.ext, "subject"))
        if subject is None:
            return self.refused(NO_SUBJECT)
        if not self.is_user(subject):
            return self.refused("The subject is not exist.")
        if subject not in self.table:
            return self.refused("The acl is not exist.")
        resource = resource_of(fields.text(command.ext, "resource") or "")
        kind = POLICIES.get((fields.text(command.ext, "policyType") or "").lower(), CUSTOM)
        self.remove(subject, resource, kind)
        return Reply(ResponseCode.SUCCESS)

    @answers(RequestCode.AUTH_GET_ACL, v5=True)
    def show(self, command: Command, connection: int, now: int) -> Reply:
        """Of a user without any there is no body."""
        subject = subject_of(fields.text(command.ext, "subject"))
        if subject is None:
            if not self.profile.v55:
                raise RefusedError(NO_SUBJECT)
            return self.refused(NO_SUBJECT)
        if not self.is_user(subject):
            return self.refused("The subject is not exist.")
        acl = self.table.get(subject)
        return Reply(ResponseCode.SUCCESS, body=b"" if acl is None else document(msgspec.to_builtins(acl)))

    @answers(RequestCode.AUTH_LIST_ACL, v5=True)
    def show_all(self, command: Command, connection: int, now: int) -> Reply:
        """If there are none, there is no body."""
        found = self.matching(
            fields.text(command.ext, "subjectFilter") or "", fields.text(command.ext, "resourceFilter") or ""
        )
        return Reply(ResponseCode.SUCCESS, body=document(msgspec.to_builtins(found)) if found else b"")

    def matching(self, user: str, resource: str) -> list[Acl]:
        """What users with this part in their names have been given of resources with that one in theirs."""
        found = []
        for subject in sorted(filter(lambda one: user in one, self.table)):
            policies = [
                Policy(entries=entries, policy_type=policy.policy_type)
                for policy in self.of(subject)
                if (entries := [entry for entry in policy.entries if resource in entry.resource])
            ]
            if policies:
                found.append(Acl(policies, subject))
        return found

    def refused(self, remark: str) -> Reply:
        """The refusal of a request about rights."""
        return Reply(ResponseCode.NO_PERMISSION, remark=remark)

    def is_user(self, subject: str) -> bool:
        """Whether there is such a user."""
        return self.broker.users.is_known(subject.removeprefix(USER))

    # -- the table -------------------------------------------------------------------------------------------

    def put(self, subject: str, policies: list[Policy]) -> None:
        """What is said of a resource replaces what was said of it; the rest stays."""
        if subject not in self.table:
            self.table[subject] = Acl(policies, subject)
        else:
            for policy in policies:
                self.merge(self.table[subject].policies, policy)
        self.save()

    def merge(self, policies: list[Policy], new: Policy) -> None:
        """A policy is among others, or changes the one of its kind."""
        old = next((one for one in policies if one.policy_type == new.policy_type), None)
        if old is None:
            policies.append(new)
            return
        for entry in new.entries:
            same = [at for at, one in enumerate(old.entries) if one.resource == entry.resource]
            at = same[0] if same else len(old.entries)
            old.entries[at : at + 1] = [entry]

    def remove(self, subject: str, resource: str | None, kind: str) -> None:
        """What a policy of this kind says of a resource goes; None: everything does."""
        acl = self.table[subject]
        if resource is not None:
            for policy in acl.policies:
                if policy.policy_type == kind:
                    policy.entries = [one for one in policy.entries if one.resource != resource]
            acl.policies = [policy for policy in acl.policies if policy.entries]
        if resource is None or not acl.policies:
            del self.table[subject]
        self.save()

    def forget(self, name: str) -> None:
        """A user is gone."""
        if self.table.pop(f"{USER}{name}", None) is not None:
            self.save()

    def save(self) -> None:
        """Write the table down."""
        self.broker.persist(FILE, msgspec.json.encode(list(self.table.values())))

    def stored(self, data: bytes) -> dict[str, Acl]:
        """The table of a file. Raises ConfigError."""
        try:
            return {one.subject: one for one in msgspec.json.decode(data, type=list[Acl])}
        except msgspec.MsgspecError as error:
            raise ConfigError(f"{FILE} cannot be read: {error}") from error


def subject_of(text: object) -> str | None:
    """`User:` and a name; None: it names no user."""
    kind, colon, name = text.partition(":") if isinstance(text, str) else ("", "", "")
    return f"{USER}{name}" if colon and kind.lower() == "user" else None
