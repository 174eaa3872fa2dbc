"""Mutants of addresses that are let in."""

import re

from reference_impl.broker.acl.access import DEFAULT_FILE, Access
from reference_impl.broker.acl.addresses import Addresses
from reference_impl.mutants.registry import V4, mutant


@mutant(Access.is_let_in, "Global addresses need an access key.", V4)
def global_addresses_need_an_access_key(original, self, address):
    return False


@mutant(Access.is_let_in, "Of the global addresses of a file, the first one alone is let in.", V4)
def the_first_global_address_counts(original, self, address):
    return any(address in file.white[0] for file in self.files.values() if file.white)


@mutant(Access.is_let_in, "Only the global addresses of conf/plain_acl.yml are let in.", V4)
def one_file_has_global_addresses(original, self, address):
    file = self.files.get(DEFAULT_FILE)
    return file is not None and any(address in white for white in file.white)


@mutant(Access.is_let_in, "Where one address is let in, all are.", V4)
def global_addresses_are_those_of_all(original, self, address):
    return any(file.white for file in self.files.values())


@mutant(Access.check, "A request from an address of its account needs a signature.", V4)
def addresses_of_accounts_need_a_signature(original, self, command, address):
    if not self.is_let_in(address):
        self.check_signature(command, self.account_of(command))
    original(self, command, address)


@mutant(Access.check, "A request from an address of its account needs rights.", V4)
def addresses_of_accounts_need_rights(original, self, command, address):
    original(self, command, address)
    if not self.is_let_in(address):
        self.check_rights(command, self.account_of(command), self.needs(command))


@mutant(Access.includes, "Addresses are no patterns.", V4)
def addresses_are_compared_as_text(original, self, several, address):
    return several.pattern == address


@mutant(Access.includes, "Sets of addresses let nothing in.", V4)
def sets_of_addresses_are_empty(original, self, several, address):
    return "{" not in several.pattern and original(self, several, address)


@mutant(Access.includes, "Ranges of addresses begin at zero.", V4)
def ranges_of_addresses_begin_at_zero(original, self, several, address):
    return original(self, Addresses(re.sub(r"[0-9]+-", "0-", several.pattern)), address)


@mutant(Access.includes, "Patterns with stars let nothing in.", V4)
def stars_match_nothing(original, self, several, address):
    return "*" not in several.pattern and original(self, several, address)
