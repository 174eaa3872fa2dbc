"""Faults of what administrators do to the controller."""

from harness.wire import RequestCode
from reference_impl.mutants.registry import V5, after, mutant
from reference_impl.nameserver.controller import Controller, Election, Replicas
from reference_impl.nameserver.endpoint import Endpoint


@mutant(Replicas.remove, "Of several Brokers only one is forgotten.", V5)
def one_broker_is_forgotten(original, self, found, numbers):
    original(self, found, set(sorted(numbers)[:1]))


@mutant(Replicas.remove, "A Broker that is forgotten stays in sync.", V5)
def forgotten_brokers_stay_in_sync(original, self, found, numbers):
    kept = found.in_sync
    original(self, found, numbers)
    found.in_sync = kept


@after(Replicas.remove, "The id of a Broker that is forgotten is given again.", V5)
def ids_are_given_again(nothing, found, numbers):
    found.next_id -= len(numbers)


@mutant(Controller.refusal_to_clean, "A Broker that lives is forgotten.", V5)
def living_brokers_are_forgotten(original, self, found, cluster, numbers, now):
    return None if numbers else original(self, found, cluster, numbers, now)


@mutant(Controller.refusal_to_clean, "A name that has a master is forgotten.", V5)
def led_names_are_forgotten(original, self, found, cluster, numbers, now):
    return original(self, found, cluster, numbers, now) if numbers else None


@mutant(Controller.is_forced, "That Brokers may live is passed over.", V5)
def force_is_ignored(original, self, command):
    return False


@mutant(Replicas.remove, "A name that is forgotten takes all others along.", V5)
def force_forgets_every_name(original, self, found, numbers):
    original(self, found, numbers)
    if not numbers:
        self.sets.clear()


@mutant(Replicas.remove, "A broker name without a Broker stays known.", V5)
def name_outlives_its_brokers(original, self, found, numbers):
    original(self, found, numbers)
    if numbers:
        self.sets[found.name] = found


@after(Controller.given_numbers, "Ids that are no numbers are passed over.", V5)
def ids_that_are_no_numbers_are_passed_over(numbers, listed):
    if numbers is None:
        return {int(one) for one in (listed or "").split(";") if one.isdecimal()}
    return numbers


@mutant(Controller.take_settings, "Settings of the controller stay as they are.", V5)
def controller_settings_stay(original, self, pairs):
    return


@mutant(Endpoint.execute, "The controller shows the settings of the NameServer.", V5)
def controller_settings_are_those_of_the_server(original, self, command, connection, now):
    if command.code == RequestCode.GET_CONTROLLER_CONFIG:
        return self.nameserver.get_config(command, connection, now)
    return original(self, command, connection, now)


@mutant(Election.allows_unclean, "Elections follow the settings of the start.", V5)
def settings_hold_from_the_start(original, self):
    if not hasattr(self, "first"):
        self.first = self.settings.config.file.get("enableElectUncleanMaster") == "true"
    return self.first


@mutant(Controller.refuses_settings, "Protected settings of the controller are changed.", V5)
def protected_settings_are_changed(original, self, pairs):
    return False


@mutant(Controller.refusal_to_clean, "Of the ids to forget only the smallest is asked whether it lives.", V5)
def one_of_the_named_must_be_dead(original, self, found, cluster, numbers, now):
    return original(self, found, cluster, {min(numbers)} if numbers else numbers, now)


@mutant(Replicas.remove, "A name is forgotten with the last Broker in sync.", V5)
def names_go_with_their_set_in_sync(original, self, found, numbers):
    original(self, found, numbers)
    if not found.in_sync:
        self.sets.pop(found.name, None)


def _ids_read_in(bits, listed):
    """Ids that may have more or fewer bits; of too many, the lowest 64 count."""
    try:
        numbers = [int(one) for one in listed.rstrip(";").split(";")]
    except ValueError:
        return None
    if any(not -(1 << bits) <= one < 1 << bits for one in numbers):
        return None
    return {(one + 2**63) % 2**64 - 2**63 for one in numbers}


@mutant(Controller.given_numbers, "Of an id of more than 64 bits, the lowest count.", V5)
def ids_to_forget_are_cut_to_64_bits(original, self, listed):
    return _ids_read_in(1000, listed) if listed and listed.strip() else set()


@mutant(Controller.given_numbers, "An id of 63 bits is no number.", V5)
def ids_to_forget_have_at_most_62_bits(original, self, listed):
    return _ids_read_in(62, listed) if listed and listed.strip() else set()


@mutant(Controller.given_numbers, "Blanks in the place of ids are no numbers.", V5)
def blank_ids_are_no_numbers(original, self, listed):
    return set() if listed is None else _ids_read_in(63, listed)


@mutant(Controller.take_settings, "Text of the controller's settings keeps the blanks at its end.", V5)
def controller_settings_keep_their_blanks(original, self, pairs):
    self.settings.v5 = False
    original(self, pairs)
