"""Faults of what a controller keeps: names, numbers, bodies of every size."""

import msgspec

from harness.wire.bodies import SyncStateSet
from reference_impl.mutants.registry import V5, after, mutant
from reference_impl.nameserver.controller import Controller, Replicas

_LONG = 65_536


def _in_ascii(text):
    return text.encode("ascii", "replace").decode("ascii")


def _as_int(number):
    return (number + 2**31) % 2**32 - 2**31


@mutant(Replicas.get, "Broker names that differ in letters beyond ASCII are the same.", V5)
def names_are_kept_in_ascii(original, self, name):
    same = [known for known in self.sets if _in_ascii(known) == _in_ascii(name)]
    return original(self, same[0] if same else name)


@mutant(Controller.refusal_of_id, "Check codes that differ in letters beyond ASCII are the same.", V5)
def check_codes_are_compared_in_ascii(original, self, name, number, check_code):
    found = self.replicas.get(name)
    replica = None if found is None else found.replicas.get(number)
    if replica is not None and _in_ascii(replica.check_code) == _in_ascii(check_code):
        return None
    return original(self, name, number, check_code)


@mutant(Replicas.add, "The cluster of a name loses what is not ASCII.", V5)
def clusters_are_kept_in_ascii(original, self, cluster, name, number, replica):
    original(self, cluster and _in_ascii(cluster), name, number, replica)


@mutant(Replicas.add, "Ids are kept as ints.", V5)
def ids_are_kept_as_ints(original, self, cluster, name, number, replica):
    original(self, cluster, name, _as_int(number), replica)


@mutant(Controller.refusal_of_set, "The id of the master is compared as an int.", V5)
def masters_are_compared_as_ints(original, self, found, master, epoch, given, now):
    is_same = None not in (master, found.master) and _as_int(master) == _as_int(found.master)
    return original(self, found, found.master if is_same else master, epoch, given, now)


@after(Controller.beat, "For how long a heartbeat counts is an int.", V5)
def times_of_heartbeats_are_ints(beat):
    beat.lasts = _as_int(beat.lasts)


@mutant(Controller.given_in_sync, "Of a list of more than 64 KiB, nothing is read.", V5)
def long_lists_are_not_read(original, self, command):
    given = original(self, command)
    return SyncStateSet([], given.sync_state_set_epoch) if len(command.body) > _LONG else given


@mutant(Controller.take_settings, "Settings of more than 64 KiB change nothing.", V5)
def long_settings_are_not_read(original, self, pairs):
    if sum(map(len, pairs.values())) <= _LONG:
        original(self, pairs)


def _repaired(command):
    return msgspec.structs.replace(command, body=command.body.replace(b"\xff", b"?"))


@mutant(Controller.given_in_sync, "What is no UTF-8 in a set in sync is replaced.", ["5.3"])
def sets_that_are_no_utf_8_are_read(original, self, command):
    return original(self, _repaired(command))


@mutant(Controller.given_names, "What is no UTF-8 in a list of names is replaced.", ["5.3"])
def names_that_are_no_utf_8_are_read(original, self, command):
    return original(self, _repaired(command))
