"""Faults of the set in sync and of what shows it."""

import msgspec

from harness.wire import ResponseCode
from harness.wire.bodies import SyncStateSet
from reference_impl.mutants.registry import V5, after, family, mutant
from reference_impl.nameserver.controller import Controller, Replicas
from reference_impl.remoting.reply import RefusedError, Reply

_UNKNOWN = "Broker metadata is not existed"


@family(Controller.refusal_of_set)
def _passed(rule, original, self, found, master, epoch, given, now):
    """A refusal that the rule names is none."""
    refused = original(self, found, master, epoch, given, now)
    return None if refused is not None and rule(refused[0], found, given) else refused


@mutant(Replicas.sync, "A Broker never leaves the set in sync, but by an election.", V5)
def set_in_sync_only_grows(original, self, found, numbers):
    kept = found.in_sync if found.master in numbers and found.master in found.in_sync else []
    original(self, found, [*kept, *numbers])


@mutant(Replicas.sync, "The epoch of the set in sync stays.", V5)
def epoch_of_the_set_stays(original, self, found, numbers):
    before = found.epoch
    original(self, found, numbers)
    found.epoch = max(1, before)


@after(Controller.alter_in_sync, "A change of the set in sync begins another epoch of the master.", V5)
def master_epoch_goes_with_the_set(reply, self, command):
    if reply.code == ResponseCode.SUCCESS:
        self.replicas.get(command.ext["brokerName"]).master_epoch += 1


@_passed("Every Broker may alter the set in sync.", V5)
def anyone_alters_the_set(code, found, given):
    return code == ResponseCode.CONTROLLER_INVALID_MASTER


@mutant(Controller.refusal_of_set, "A request that does not say who asks is the master's.", V5)
def who_is_not_named_is_the_master(original, self, found, master, epoch, given, now):
    return original(self, found, found.master if master is None else master, epoch, given, now)


@mutant(Controller.refusal_of_set, "Where there is no master, who is not named is the master.", V5)
def no_one_is_the_missing_master(original, self, found, master, epoch, given, now):
    if master is None and found.master is None:
        return None
    return original(self, found, master, epoch, given, now)


@_passed("The epoch of the master does not count.", V5)
def master_epochs_are_not_fenced(code, found, given):
    return code == ResponseCode.CONTROLLER_FENCED_MASTER_EPOCH


@_passed("The epoch of the set in sync does not count.", V5)
def set_epochs_are_not_fenced(code, found, given):
    return code == ResponseCode.CONTROLLER_FENCED_SYNC_STATE_SET_EPOCH


@_passed("An id that no Broker has can be in sync.", V5)
def unknown_ids_are_in_sync(code, found, given):
    return code == ResponseCode.CONTROLLER_INVALID_REPLICAS


@_passed("A Broker that is dead can be in sync.", V5)
def dead_brokers_are_in_sync(code, found, given):
    return code == ResponseCode.CONTROLLER_BROKER_NOT_ALIVE


@_passed("The same set is taken over again.", V5)
def same_set_is_taken(code, found, given):
    return set(given.sync_state_set) == set(found.in_sync)


@_passed("The master need not be in sync.", V5)
def master_need_not_be_in_sync(code, found, given):
    return found.master is not None and found.master not in given.sync_state_set


@after(Controller.replica_info, "Who is the master is not shown.", V5)
def replica_info_hides_the_master(reply):
    reply.ext.pop("masterBrokerId", None)


@after(Controller.replica_info, "A name that never had a master shows its first Broker as master.", V5)
def names_begin_with_a_master(reply):
    reply.ext.setdefault("masterBrokerId", "1")


@after(Controller.whole, "All Brokers are shown as in sync.", V5)
def all_brokers_are_in_sync(shown):
    shown.in_sync_replicas += shown.not_in_sync_replicas
    shown.not_in_sync_replicas = []


@after(Controller.given_names, "Of several names only the first is shown.", V5)
def only_the_first_name_is_shown(names):
    return names[:1]


@after(Controller.whole, "All Brokers are shown as alive.", V5)
def all_brokers_live(shown):
    for one in [*shown.in_sync_replicas, *shown.not_in_sync_replicas]:
        one.alive = True


@after(
    Controller.whole,
    "The epoch of the master is shown for that of the set in sync, and the other way round.",
    V5,
)
def epochs_are_shown_for_each_other(shown):
    shown.master_epoch, shown.sync_state_set_epoch = shown.sync_state_set_epoch, shown.master_epoch


@after(Controller.given_in_sync, "A set in sync without an epoch has the epoch 1.", V5)
def epoch_of_a_set_is_one_by_default(given, command):
    if b"syncStateSetEpoch" not in command.body:
        given.sync_state_set_epoch = 1


@mutant(Controller.sync_state_data, "No names are answered with an empty table.", V5)
def no_names_are_none(original, self, command, connection, now):
    if not self.given_names(command):
        return Reply(ResponseCode.SUCCESS, body=b'{"replicasInfoTable":{}}')
    return original(self, command, connection, now)


@mutant(Controller.alter_in_sync, "A set in sync is read when all else is right.", V5)
def unreadable_sets_are_read_last(original, self, command, connection, now):
    try:
        return original(self, command, connection, now)
    except RefusedError:
        empty = msgspec.structs.replace(command, body=SyncStateSet([], 1).encode())
        answer = original(self, empty, connection, now)
        if answer.code == ResponseCode.CONTROLLER_ALTER_SYNC_STATE_SET_FAILED and answer.remark == _UNKNOWN:
            return answer
        raise


@after(Controller.not_altered, "The refusal of a set in sync has no epoch.", V5)
def refused_sets_have_no_epoch(reply):
    reply.ext = None


@after(Controller.alter_in_sync, "The refusal of a set in sync has the epoch of the one that stays.", V5)
def refused_sets_have_their_epoch(reply, self, command):
    found = self.replicas.get(command.ext["brokerName"])
    if reply.code != ResponseCode.SUCCESS and found is not None:
        reply.ext = {"newSyncStateSetEpoch": str(found.epoch)}


@mutant(Controller.given_names, "Names in single quotes are refused.", V5)
def loose_names_are_refused(original, self, command):
    if b"'" in command.body:
        raise RefusedError("the body is not a list of broker names")
    return original(self, command)
