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


@mutant(Access.tick, "A file that is as it was at first is not read again.", V4)
def files_are_compared_with_the_first(original, self, now):
    first = dict(self._seen)
    original(self, now)
    self._seen |= first


@mutant(Access.changed, "A file that is new is not read.", V4)
def new_files_are_not_read(original, self, name, data, now):
    if name in self.files:
        original(self, name, data, now)


@mutant(Access.tick, "Of the files that are new the first is read.", V4)
def one_new_file_is_read(original, self, now):
    before = set(self.files)
    original(self, now)
    for name in [one for one in self.files if one not in before][1:]:
        del self.files[name]


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


@mutant(Access.changed, "A file whose keys are numbers cannot be read.", V4)
def keys_of_digits_are_no_keys(original, self, name, data, now):
    if b'":123456789' not in data:
        original(self, name, data, now)


@mutant(Access.changed, "Any text makes an account an administrator.", V4)
def any_word_makes_an_administrator(original, self, name, data, now):
    original(self, name, data.replace(b'"admin":"false"', b'"admin":true'), now)


@mutant(Access.gone, "The accounts of a file that is removed stay.", V4)
def removed_files_keep_their_accounts(original, self, name):
    pass


@mutant(Access.tick, "Of several files that are removed at once, one keeps its accounts.", V4)
def one_removed_file_keeps_its_accounts(original, self, now):
    before = dict(self.files)
    original(self, now)
    for name in sorted(before.keys() - self.files.keys())[1:]:
        self.files[name] = before[name]


@mutant(Access.changed, "Of a file that cannot be read, the addresses that can be count.", V4)
def unreadable_files_let_addresses_in(original, self, name, data, now):
    original(self, name, data, now)
    if b"10.9.8.256" in data:
        original(self, name, data.replace(b"- 10.9.8.256\n", b""), now)


@mutant(Access.changed, "Addresses that are removed from a file stay let in.", V4)
def addresses_stay_for_ever(original, self, name, data, now):
    old = self.files[name].white if name in self.files else ()
    original(self, name, data, now)
    self.files[name] = msgspec.structs.replace(self.files[name], white=(*old, *self.files[name].white))
