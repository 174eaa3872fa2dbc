"""Faults of elections and of notifications about them."""

import msgspec

from harness.wire import ResponseCode
from reference_impl.mutants.registry import V5, after, mutant
from reference_impl.nameserver.controller import Controller, Election, Heartbeats, Replicas
from reference_impl.nameserver.endpoint import Endpoint


@mutant(Controller.winner, "The smallest id of a name is its first master.", V5)
def smallest_id_is_elected_first(original, self, found, number, demanded, now):
    return min(found.replicas) if found.was_never_led else original(self, found, number, demanded, now)


@mutant(Controller.group, "The answer to an election names no members.", V5)
def members_are_not_returned(original, self, found):
    return None


@after(Replicas.lead, "After an election no Broker is in sync.", V5)
def election_leaves_the_set_empty(nothing, found):
    found.in_sync = []


@mutant(Controller.winner, "Who asks for an election becomes the master.", V5)
def living_master_is_replaced(original, self, found, number, demanded, now):
    return number if number in found.replicas else original(self, found, number, demanded, now)


@after(Controller.elected, "That the master stays is answered without the master.", V5)
def living_master_is_not_named(reply):
    if reply.code == ResponseCode.CONTROLLER_MASTER_STILL_EXIST:
        reply.ext = {}


@mutant(Election.winner, "That a certain Broker is demanded is passed over.", V5)
def demands_are_passed_over(original, self, found, demanded, now):
    return original(self, found, None, now)


@mutant(Replicas.lead, "The set in sync stays in an election.", V5)
def designation_keeps_the_set(original, self, found, number):
    kept = [*found.in_sync, number]
    original(self, found, number)
    found.in_sync = sorted(set(kept))


@mutant(Election.winner, "Any Broker can be demanded as the master.", V5)
def anyone_can_be_designated(original, self, found, demanded, now):
    return original(self, found, None, now) if demanded is None else demanded


@mutant(Election.best, "Another Broker is elected where the demanded one cannot be.", V5)
def another_is_elected_for_the_designated(original, self, found, living, demanded):
    elected = original(self, found, living, demanded)
    if elected is None and living:
        return min(one for one in living if one != found.master or len(living) == 1)
    return elected


@mutant(Controller.lost, "A master whose connection has ended stays the master.", V5)
def lost_master_stays(original, self, connection, now):
    self.heartbeats.ended(connection)


@mutant(Election.lives, "A Broker that is dead can be elected.", V5)
def dead_broker_is_elected(original, self, found, number, now):
    return number != found.master


@mutant(Replicas.lead, "The epoch of the master stays in an election that is not the first.", V5)
def epoch_stays_in_an_election(original, self, found, number):
    before = found.master_epoch
    original(self, found, number)
    found.master_epoch = max(1, before)


@mutant(Controller.look_at_heartbeats, "A master whose heartbeat has run out stays the master.", V5)
def expired_master_stays(original, self, now):
    return [live.connection for live in self.heartbeats.over(now).values()]


@expired_master_stays.also(Controller.look_at_masters)
def _is_not_missed(original, self, now):
    return


@mutant(Controller.look_at_masters, "A master from which no heartbeat has come stays the master.", V5)
def unheard_master_stays(original, self, now):
    return


@mutant(Controller.look_at_masters, "The masters of all names but one are not looked at.", V5)
def one_unheard_master_is_replaced(original, self, now):
    kept = self.replicas.sets
    self.replicas.sets = dict([*kept.items()][:1])
    original(self, now)
    self.replicas.sets = kept


@mutant(Controller.look_at_masters, "An unheard master is lost while no Broker of its name lives.", V5)
def unheard_master_of_no_other_is_lost(original, self, now):
    for found in self.replicas.sets.values():
        if found.master is not None and not self.has_living_master(found, now):
            self.replace_master(found, now)


@mutant(Controller.look_at_masters, "A Broker with a smaller id than an unheard master's cannot follow.", V5)
def brokers_before_an_unheard_master_do_not_count(original, self, now):
    kept = self.replicas.sets
    self.replicas.sets = {
        name: found
        for name, found in kept.items()
        if found.master is None
        or any(self.election.lives(found, one, now) for one in found.replicas if one >= found.master)
    }
    original(self, now)
    self.replicas.sets = kept


@mutant(Controller.gone, "Of several masters that expire at once, all but the first stay masters.", V5)
def one_master_expires_at_a_time(original, self, brokers, now):
    original(self, dict([*brokers.items()][:1]), now)


@mutant(Election.rank, "Epochs of logs are not compared.", V5)
def epochs_are_not_compared(original, self, found, number):
    return original(self, found, number)[1:]


@mutant(Election.rank, "The ends of logs are not compared.", V5)
def offsets_are_not_compared(original, self, found, number):
    epoch, _, *others = original(self, found, number)
    return (epoch, *others)


@mutant(Election.rank, "The ends of logs are compared by their lowest 32 bits.", V5)
def offsets_are_compared_in_32_bits(original, self, found, number):
    epoch, offset, *others = original(self, found, number)
    return (epoch, (offset + 2**31) % 2**32 - 2**31, *others)


@mutant(Election.rank, "The greatest priority is elected.", V5)
def greatest_priority_is_elected(original, self, found, number):
    epoch, offset, priority, own = original(self, found, number)
    return (epoch, offset, -priority, own)


@mutant(Heartbeats.is_further, "The latest heartbeat says how far a log goes.", V5)
def logs_shrink(original, self, beat, known):
    return True


@mutant(Heartbeats.is_further, "A heartbeat with a newer epoch counts only with a greater offset.", V5)
def newer_epochs_need_a_greater_offset(original, self, beat, known):
    return beat.epoch >= known.epoch and beat.max_offset > known.max_offset


@mutant(Heartbeats.hear, "The first heartbeat of a Broker says its priority.", V5)
def first_priority_counts(original, self, identity, beat, connection, now):
    live = self.known.get(identity)
    if live is not None:
        beat.priority = live.beat.priority
    original(self, identity, beat, connection, now)


@mutant(Heartbeats.hear, "The first heartbeat of a Broker says for how long each of them counts.", V5)
def first_heartbeat_says_how_long(original, self, identity, beat, connection, now):
    live = self.known.get(identity)
    if live is not None:
        beat.lasts = live.beat.lasts
    original(self, identity, beat, connection, now)


@mutant(Heartbeats.hear, "A newer epoch does not reduce the offset that a Broker has reached.", V5)
def greatest_offset_of_all_epochs_counts(original, self, identity, beat, connection, now):
    live = self.known.get(identity)
    before = beat.max_offset if live is None else live.beat.max_offset
    original(self, identity, beat, connection, now)
    reached = self.known[identity].beat
    reached.max_offset = max(before, reached.max_offset)


@after(Controller.beat, "A heartbeat without epoch says 0.", V5)
def epochs_are_zero_by_default(beat):
    beat.epoch = max(0, beat.epoch)


@after(Controller.beat, "A heartbeat without maxOffset says 0.", V5)
def offsets_are_zero_by_default(beat):
    beat.max_offset = max(0, beat.max_offset)


@after(Controller.beat, "A heartbeat without electionPriority says 0.", V5)
def priorities_are_zero_by_default(beat, command):
    if "electionPriority" not in (command.ext or {}):
        beat.priority = 0


@mutant(Election.allows_unclean, "A Broker that is not in sync may become the master.", V5)
def unclean_elections_by_default(original, self):
    return True


@after(Replicas.lose_master, "With the master, the set in sync is lost.", V5)
def set_in_sync_dies_with_the_master(nothing, found):
    found.in_sync = []


@mutant(Election.allows_unclean, "A Broker that is not in sync never becomes the master.", V5)
def elections_are_always_clean(original, self):
    return False


@mutant(Election.rounds, "In an unclean election a Broker in sync does not come first.", V5)
def longest_log_of_all_is_elected(original, self, found):
    return original(self, found)[-1:]


@mutant(Controller.winner, "Of a name without master, who asks is elected.", V5)
def who_asks_is_elected(original, self, found, number, demanded, now):
    if found.master is None and any(self.election.lives(found, one, now) for one in found.in_sync):
        return number if number in found.replicas else None
    return original(self, found, number, demanded, now)


@mutant(Controller.announce, "Brokers are not notified of a new master.", V5)
def role_changes_are_not_told(original, self, found, now):
    return


@mutant(Controller.recipients, "Only the new master is notified of it.", V5)
def only_the_new_master_is_told(original, self, found, now):
    return [found.address_of(found.master)]


@mutant(Controller.recipients, "Brokers that are dead are notified of a new master.", V5)
def dead_brokers_are_told(original, self, found, now):
    return [one.address for one in found.replicas.values()]


@mutant(Controller.elect, "Brokers are not notified of an election that one of them has asked for.", V5)
def asked_elections_are_not_told(original, self, command, connection, now):
    reply = original(self, command, connection, now)
    self.news.clear()
    return reply


@after(Controller.elected, "Brokers are notified of an election that changes nothing.", V5)
def every_election_is_told(reply, self, found, now):
    if reply.code == ResponseCode.CONTROLLER_MASTER_STILL_EXIST:
        self.announce(found, now)


@mutant(Controller.announce, "Brokers are notified of a new master whatever the setting says.", V5)
def role_changes_are_always_told(original, self, found, now):
    config = self.settings.config
    self.settings.config = msgspec.structs.replace(config, notify_broker_role_changed=True)
    original(self, found, now)
    self.settings.config = config


@mutant(Controller.lost, "Brokers that lived at the last look can be elected until the next one.", V5)
def expired_broker_is_elected_before_a_look(original, self, connection, now):
    original(self, connection, self.due() - self._between_heartbeats)


@mutant(Controller.gone, "Whichever Broker is gone, another is elected.", V5)
def every_end_brings_an_election(original, self, brokers, now):
    for _, name, _ in brokers:
        found = self.replicas.get(name)
        if found is not None:
            self.replace_master(found, now)


@mutant(Controller.winner, "A set that never had a master elects any id that asks.", V5)
def unknown_broker_is_elected(original, self, found, number, demanded, now):
    return number if found.was_never_led else original(self, found, number, demanded, now)


@mutant(Controller.look_at_masters, "A name without a master gets one at the next look.", V5)
def names_without_master_are_looked_at(original, self, now):
    original(self, now)
    for found in self.replicas.sets.values():
        if found.master is None and any(self.election.lives(found, one, now) for one in found.replicas):
            self.replace_master(found, now)


@mutant(Endpoint.half_closed, "The end of a half-closed connection counts as at the last event before.", V5)
def half_closed_connections_end_before(original, self, connection, now):
    return original(self, connection, self.now)
