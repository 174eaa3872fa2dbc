"""Mutants of accounts and addresses that are changed over the wire."""

import re

import msgspec
import yaml

from harness.wire import RequestCode
from reference_impl.broker.acl.access import DEFAULT_FILE, Access
from reference_impl.broker.acl.accounts import AclError, read
from reference_impl.broker.acl.administration import AccessAdministration
from reference_impl.broker.part import Part
from reference_impl.mutants.registry import V4, V5, after, mutant
from reference_impl.remoting.reply import Reply

ADMINISTRATOR = "administrator"
"""The account by which cases change others."""
_CHANGES = (
    RequestCode.UPDATE_AND_CREATE_ACL_CONFIG,
    RequestCode.DELETE_ACL_CONFIG,
    RequestCode.UPDATE_GLOBAL_WHITE_ADDRS_CONFIG,
)


@mutant(AccessAdministration.put, "Code 50 stores nothing.", V4)
def accounts_are_not_stored(original, self, key, said, now):
    pass


@mutant(AccessAdministration.said, "Code 50 stores no rights to single topics and groups.", V4)
def stored_accounts_have_no_rights_by_name(original, self, ext):
    return {name: one for name, one in original(self, ext).items() if not isinstance(one, list)}


@mutant(AccessAdministration.merged, "Code 50 replaces an account as a whole.", V4)
def stored_accounts_forget_what_is_not_said(original, self, old, said):
    return said


@mutant(AccessAdministration.said, "Code 50 changes no default for topics.", V4)
def defaults_for_topics_stay(original, self, ext):
    found = original(self, ext)
    if self.file_of(ext["accessKey"]) is not None:
        found.pop("defaultTopicPerm", None)
    return found


@mutant(AccessAdministration.merged, "Code 50 takes no right to groups away.", V4)
def defaults_for_groups_stay(original, self, old, said):
    name = "defaultGroupPerm"
    return original(self, old, said) | ({name: old[name]} if old.get(name) else {})


@mutant(AccessAdministration.merged, "An account that has an address keeps it.", V4)
def addresses_of_accounts_stay(original, self, old, said):
    name = "whiteRemoteAddress"
    return original(self, old, said) | ({name: old[name]} if old.get(name) else {})


@mutant(AccessAdministration.merged, "An administrator stays one.", V4)
def administrators_stay_administrators(original, self, old, said):
    return original(self, old, said) | ({"admin": True} if old.get("admin") else {})


@mutant(AccessAdministration.merged, "Rights to single topics and groups are added to those before.", V4)
def changed_rights_by_name_are_added(original, self, old, said):
    several = {name: [*old[name], *said[name]] for name in said if isinstance(old.get(name), list)}
    return original(self, old, said) | several


@mutant(AccessAdministration.put, "Code 50 adds an account anew if it is the first one of its file.", V4)
def the_first_account_is_never_changed(original, self, key, said, now):
    name = self.file_of(key) or DEFAULT_FILE
    content = self.content(name)
    accounts = content.get("accounts") or []
    if not accounts or accounts[0]["accessKey"] != key:
        original(self, key, said, now)
        return
    self.write(name, {**content, "accounts": [*accounts, said]}, now)


@mutant(AccessAdministration.put, "Code 50 adds no account to a file that has none.", V4)
def accounts_need_another_in_their_file(original, self, key, said, now):
    if not self.content(self.file_of(key) or DEFAULT_FILE).get("accounts"):
        raise AclError("there are no accounts")
    original(self, key, said, now)


@mutant(AccessAdministration.put, "Code 50 removes the other accounts of the file.", V4)
def changed_accounts_stand_alone(original, self, key, said, now):
    original(self, key, said, now)
    name = self.file_of(key)
    content = self.content(name)
    kept = [one for one in content["accounts"] if one["accessKey"] in (key, ADMINISTRATOR)]
    self.write(name, {**content, "accounts": kept}, now)


@mutant(AccessAdministration.check, "A right with an empty word cannot be read.", V4)
def empty_words_of_rights_are_faults(original, self, key, secret, rights):
    original(self, key, secret, rights)
    if any(one.count("=") != 1 for one in rights):
        raise AclError("expected NAME=RIGHT")


@mutant(AccessAdministration.listed, "Rights with blanks around them are left out.", V4)
def rights_with_blanks_are_left_out(original, self, ext, name):
    found = original(self, ext, name)
    return found and [one for one in found if " " not in one]


@mutant(AccessAdministration.put, "An address of an account that cannot be read is left out.", V4)
def stored_addresses_are_not_judged(original, self, key, said, now):
    try:
        original(self, key, said, now)
    except AclError:
        original(self, key, {**said, "whiteRemoteAddress": ""}, now)


@mutant(AccessAdministration.put, "A part of an address may be 256.", V4)
def parts_of_addresses_are_large(original, self, key, said, now):
    where = said.get("whiteRemoteAddress")
    original(self, key, {**said, "whiteRemoteAddress": where and where.replace("256", "255")}, now)


@mutant(AccessAdministration.put, "No part of an address may be 255.", V4)
def parts_of_addresses_are_small(original, self, key, said, now):
    where = said.get("whiteRemoteAddress")
    original(self, key, {**said, "whiteRemoteAddress": where and where.replace("255", "999")}, now)


@mutant(AccessAdministration.check, "Code 50 takes every right.", V4)
def stored_rights_are_not_judged(original, self, key, secret, rights):
    original(self, key, secret, [])


@mutant(AccessAdministration.remove, "Code 51 removes nothing.", V4)
def accounts_are_not_removed(original, self, key, name, now):
    pass


@mutant(AccessAdministration.file_of, "Of several files, the first one keeps its accounts.", V4)
def first_file_keeps_its_accounts(original, self, key):
    found = original(self, key)
    return None if found == self.broker.access.in_order()[0] else found


@mutant(AccessAdministration.file_of, "Accounts are removed from conf/plain_acl.yml alone.", V4)
def other_files_keep_their_accounts(original, self, key):
    return found if (found := original(self, key)) == DEFAULT_FILE else None


@mutant(Access.write, "Changes over the wire are not written down.", V4)
def changes_of_accounts_are_not_written(original, self, name, data, now):
    self.files[name] = read(name, data, now)


@mutant(Access.write, "Versions of files are not written down.", V4)
def versions_of_accounts_begin_anew(original, self, name, data, now):
    original(self, name, data, now)
    content = yaml.safe_load(data)
    del content["dataVersion"]
    self._seen[name] = yaml.safe_dump(content, allow_unicode=True).encode()
    self.broker.persist(name, self._seen[name])


@mutant(Access.write, "A change raises the versions of all files.", V4)
def versions_are_those_of_one_file(original, self, name, data, now):
    original(self, name, data, now)
    version = self.files[name].version
    self.files = {one: msgspec.structs.replace(file, version=version) for one, file in self.files.items()}


@after(AccessAdministration.update, "A refused account has no remark.", V4)
def refused_account_has_no_remark(reply):
    return Reply(reply.code)


@after(AccessAdministration.delete, "The refusal to remove an account has no remark.", V4)
def refused_removal_has_no_remark(reply):
    return Reply(reply.code)


@after(AccessAdministration.set_addresses, "Refused addresses have no remark.", V4)
def refused_addresses_have_no_remark(reply):
    return Reply(reply.code)


@after(AccessAdministration.delete, "The refusal to remove an account does not name it.", V4)
def refusals_name_no_account(reply):
    return Reply(reply.code, remark=reply.remark and re.sub(r"\[.*\]", "[]", reply.remark))


@mutant(AccessAdministration.put_addresses, "Code 53 changes nothing.", V4)
def addresses_are_not_stored(original, self, several, name, now):
    pass


@mutant(AccessAdministration.put_addresses, "Code 53 changes the addresses of conf/plain_acl.yml alone.", V4)
def addresses_are_those_of_the_first_file(original, self, several, name, now):
    original(self, several, DEFAULT_FILE, now)


@mutant(AccessAdministration.named, "Code 53 knows no file by its path.", V4)
def named_files_are_unknown(original, self, path):
    return None


@mutant(AccessAdministration.put_addresses, "Code 53 removes the accounts of the file.", V4)
def addresses_replace_accounts(original, self, several, name, now):
    self.write(name, {"globalWhiteRemoteAddresses": several}, now)


@mutant(AccessAdministration.put_addresses, "Code 53 leaves out addresses that cannot be read.", V4)
def unreadable_addresses_are_left_out(original, self, several, name, now):
    original(self, [one for one in several if one.isascii()], name, now)


@mutant(AccessAdministration.later, "Changes do not raise the version of a file.", V4)
def versions_of_accounts_stay(original, self, version, now):
    return version


@mutant(AccessAdministration.shown, "Code 52 shows the version of conf/plain_acl.yml alone.", V4)
def one_version_is_shown(original, self):
    return [DEFAULT_FILE]


@mutant(Access.is_for_administrators, "Every account may change accounts.", V4)
def everybody_may_change_accounts(original, self, code):
    return code not in _CHANGES and original(self, code)


@mutant(AccessAdministration.require_on, "Codes 50, 51 and 53 succeed without access control.", V4)
def changes_without_access_control_succeed(original, self):
    pass


@mutant(AccessAdministration.requests, "Brokers of 5.3 know codes 50 to 53.", V5)
def accounts_are_known_to_every_line(original, self):
    return Part.requests(self)
