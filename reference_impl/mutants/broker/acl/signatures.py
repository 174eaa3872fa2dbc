"""Mutants of signatures and addresses."""

import base64
import hmac

import msgspec

from reference_impl.broker.acl.access import Access
from reference_impl.broker.acl.accounts import Account
from reference_impl.broker.acl.addresses import Addresses
from reference_impl.broker.core import Broker
from reference_impl.mutants.registry import V4, V5, mutant
from reference_impl.remoting.reply import RefusedError

_AN_ACCOUNT = Account(access_key="", secret_key="", admin=True, white=Addresses("*"))


@mutant(Access.account_of, "A request without an access key is served.", V4)
def unsigned_requests_are_served(original, self, command):
    return original(self, command) if "AccessKey" in (command.ext or {"AccessKey": ""}) else _AN_ACCOUNT


@mutant(Access.account_of, "A request without fields is served.", V4)
def requests_without_fields_are_served(original, self, command):
    return original(self, command) if command.ext else _AN_ACCOUNT


@mutant(Access.find, "An access key that no file has is taken for the first one.", V4)
def any_access_key_will_do(original, self, key):
    return original(self, key) or original(self, "publisher")


@mutant(Access.find, "The beginning of an access key will do.", V4)
def beginnings_of_access_keys_will_do(original, self, key):
    several = [one for file in self.files.values() for one in file.accounts]
    return next((one for one in several if one.access_key.startswith(key)), None)


@mutant(Access.check_signature, "Signatures are not looked at.", V4)
def signatures_are_not_checked(original, self, command, account):
    pass


@mutant(Access.check_signature, "A request without a signature is served.", V4)
def missing_signatures_are_right(original, self, command, account):
    if "Signature" in (command.ext or {}):
        original(self, command, account)


@mutant(Access.check_signature, "Signatures are expected in hexadecimal.", V4)
def signatures_are_in_hex(original, self, command, account):
    expected = hmac.digest(account.secret_key.encode(), self.content(command), "sha1").hex()
    if (command.ext or {}).get("Signature") != expected:
        raise RefusedError("Check signature failed")


@mutant(Access.check_signature, "What of the keys is not ASCII does not count.", V4)
def keys_are_ascii(original, self, command, account):
    secret = account.secret_key.encode("ascii", "replace")
    made = base64.b64encode(hmac.digest(secret, self.content(command), "sha1")).decode()
    if (command.ext or {}).get("Signature") != made:
        raise RefusedError("Check signature failed")


@mutant(Access.content, "Bodies do not count for signatures.", V4)
def signatures_are_not_of_the_body(original, self, command):
    return original(self, msgspec.structs.replace(command, body=b""))


@mutant(Access.content, "Fields count for signatures in the order in which they come.", V4)
def fields_are_signed_as_they_come(original, self, command):
    ext = {name: value for name, value in (command.ext or {}).items() if name != "Signature"}
    return "".join(value or "" for value in ext.values()).encode() + command.body


@mutant(Access.content, "Only the fields that are signed by every client count for signatures.", V4)
def some_fields_are_not_signed(original, self, command):
    ext = {name: value for name, value in (command.ext or {}).items() if name != "of-nothing"}
    return original(self, msgspec.structs.replace(command, ext=ext))


@mutant(Access.content, "The field _UNIQUE_KEY_QUERY counts for signatures.", V4)
def the_mark_of_unique_keys_is_signed(original, self, command):
    ext = command.ext or {}
    mark = ext.get("_UNIQUE_KEY_QUERY")
    return original(self, command) if mark is None else mark.encode() + original(self, command)


@mutant(Broker.execute, "A one-way request is carried out whether it is allowed or not.", V4)
def refused_requests_without_an_answer_are_served(original, self, command, connection, now):
    if command.is_oneway:
        return self.handlers[command.code](command, connection, now)
    return original(self, command, connection, now)


@mutant(Access.refusal, "A refusal does not say why.", V4)
def refusals_give_no_reason(original, self, command, peer):
    reply = original(self, command, peer)
    return None if reply is None else msgspec.structs.replace(reply, remark="refused")


@mutant(Broker.execute, "A request with a signature is refused without access control.")
def signatures_need_access_control(original, self, command, connection, now):
    if "Signature" in (command.ext or {}) and not self.access.is_on:
        return RefusedError("access control is off").reply()
    return original(self, command, connection, now)


@mutant(Access.is_wanted, "aclEnable protects Brokers of 5.3, too.", V5)
def access_control_is_of_every_line(original, self):
    return self.config.acl_enable
