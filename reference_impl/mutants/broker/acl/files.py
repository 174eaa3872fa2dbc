"""Mutants of the files of access control."""

import msgspec

from reference_impl.broker.acl.access import DEFAULT_FILE, Access
from reference_impl.mutants.registry import V4, mutant


@mutant(Access.in_order, "Only conf/plain_acl.yml counts.", V4)
def one_file_counts(original, self):
    return [DEFAULT_FILE]


@mutant(Access.changed, "A file that has changed is not read again.", V4)
def changed_files_are_not_read(original, self, name, data, now):
    if name not in self.files:
        original(self, name, data, now)


@mutant(Access.changed, "A file that is new is not read.", V4)
def new_files_are_not_read(original, self, name, data, now):
    if name in self.files:
        original(self, name, data, now)


@mutant(Access.changed, "Accounts that are removed from a file stay.", V4)
def removed_accounts_stay(original, self, name, data, now):
    old = self.files[name].accounts if name in self.files else ()
    original(self, name, data, now)
    kept = {one.access_key for one in self.files[name].accounts}
    stay = tuple(one for one in old if one.access_key not in kept)
    self.files[name] = msgspec.structs.replace(self.files[name], accounts=(*self.files[name].accounts, *stay))


@mutant(Access.changed, "A file that cannot be read has no accounts.", V4)
def unreadable_files_have_no_accounts(original, self, name, data, now):
    self.files.pop(name, None)
    original(self, name, data, now)


@mutant(Access.changed, "Addresses that are removed from a file stay let in.", V4)
def addresses_stay_for_ever(original, self, name, data, now):
    old = self.files[name].white if name in self.files else ()
    original(self, name, data, now)
    self.files[name] = msgspec.structs.replace(self.files[name], white=(*old, *self.files[name].white))
