"""Mutants of the chapter replication: what slaves are pushed, what sends wait for, what a slave takes."""

import struct

import msgspec

from harness.wire.messages import BLANK_MAGIC, MESSAGE_MAGIC
from reference_impl.broker.ha_membership import HaMembership
from reference_impl.broker.master_link import MasterLink
from reference_impl.broker.replicated_sends import ReplicatedSends
from reference_impl.broker.retention import Retention
from reference_impl.broker.sends import Sends
from reference_impl.broker.settings import Settings
from reference_impl.broker.slave_links import SlaveLinks
from reference_impl.broker.store import Store
from reference_impl.broker.store.times import stored_at
from reference_impl.broker.timers import Timers
from reference_impl.mutants.registry import V5, after, mutant

_FAR = 1 << 40


@mutant(SlaveLinks.connected, "A slave gets heartbeats before it has reported anything.")
def heartbeats_before_a_report(original, self, connection, peer, now):
    original(self, connection, peer, now)
    self._slaves[connection].next_offset = self.broker.store.physical_range()[1]


@mutant(MasterLink.store, "A slave reads nothing behind the blank end of a file.")
def slave_stops_at_a_blank(original, self, offset, data):
    original(self, offset, data)
    if BLANK_MAGIC.to_bytes(4, "big") in data:
        self.broker.store.raw._is_stuck = True


@mutant(MasterLink.store, "A slave takes messages with any magic number.")
def slave_minds_no_magic(original, self, offset, data):
    is_other = data[4:8] == bytes(4)
    original(self, offset, data[:4] + MESSAGE_MAGIC.to_bytes(4, "big") + data[8:] if is_other else data)


@mutant(SlaveLinks.beginning, "A slave is pushed the log from its beginning.")
def pushes_from_the_beginning(original, self, reported):
    return 0


@mutant(SlaveLinks.push, "The size of a push counts its header.")
def pushes_without_header_size(original, self, connection, most, now):
    pushed = original(self, connection, most, now)
    return _with_size(pushed, lambda size: size + 12)


def _with_size(pushed, changed):
    pieces = []
    while pushed:
        offset, size = struct.unpack_from(">qi", pushed)
        pieces += [struct.pack(">qi", offset, changed(size)), pushed[12 : 12 + size]]
        pushed = pushed[12 + size :]
    return b"".join(pieces)


@mutant(SlaveLinks.push, "The header of a push is little-endian.")
def pushes_little_endian(original, self, connection, most, now):
    pushed = original(self, connection, most, now)
    if pushed:
        pushed = struct.pack("<qi", *struct.unpack_from(">qi", pushed)) + pushed[12:]
    return pushed


@mutant(SlaveLinks.settle, "Nothing is pushed to a slave that has caught up once.")
def pushes_once(original, self, now):
    return


@mutant(SlaveLinks.settle, "What is stored later is pushed to the first slave only.")
def pushes_to_the_first_slave(original, self, now):
    others = dict(list(self._slaves.items())[1:])
    for connection in others:
        del self._slaves[connection]
    original(self, now)
    self._slaves.update(others)


@mutant(SlaveLinks.connected, "A slave is pushed the log before it has reported anything.")
def pushes_before_a_report(original, self, connection, peer, now):
    original(self, connection, peer, now)
    self._slaves[connection].next_offset = 0
    self.broker.go_on(connection)


@mutant(SlaveLinks.received, "A report that arrives in pieces is lost.")
def report_must_come_whole(original, self, connection, data, now):
    self._slaves[connection].unread = b""
    original(self, connection, data, now)


@mutant(SlaveLinks.received, "The beginning of a report that comes behind a whole one is lost.")
def rest_of_a_report_is_lost(original, self, connection, data, now):
    original(self, connection, data, now)
    slave = self._slaves.get(connection)
    if slave is not None and len(data) > 8:
        slave.unread = b""


@mutant(SlaveLinks.received, "Of reports that come together the first one counts.")
def first_of_reports_counts(original, self, connection, data, now):
    whole = len(data) - len(data) % 8
    original(self, connection, data[:8] + data[whole:] if whole else data, now)


@mutant(SlaveLinks.beginning, "An empty slave is pushed the log from its beginning.")
def empty_slave_gets_everything(original, self, reported):
    return reported


@mutant(Store._begins_file, "Files of the log are not filled with blanks.")
def log_has_no_blanks(original, self, size):
    return False


@mutant(SlaveLinks.push, "A push contains bytes of two files.")
def push_goes_over_files(original, self, connection, most, now):
    pushed = original(self, connection, most, now)
    if len(pushed) < 24:
        return pushed
    offset, size = struct.unpack_from(">qi", pushed)
    if len(pushed) == 12 + size:
        return pushed
    _, following = struct.unpack_from(">qi", pushed, 12 + size)
    joined = pushed[12 : 12 + size] + pushed[24 + size : 24 + size + following]
    return struct.pack(">qi", offset, len(joined)) + joined + pushed[24 + size + following :]


@mutant(SlaveLinks.received, "Every report says from where to push.")
def reports_move_pushes(original, self, connection, data, now):
    self._slaves[connection].next_offset = -1
    original(self, connection, data, now)


@mutant(SlaveLinks.beginning, "Pushes begin with the message behind the one in whose middle the slave is.")
def pushes_whole_messages(original, self, reported):
    begin = original(self, reported)
    end = self.broker.store.physical_range()[1]
    while begin < end and self.broker.store.raw_at(begin) is None:
        begin += 1
    return begin


@mutant(SlaveLinks.beginning, "A slave that is ahead is pushed from the end of the log.")
def slave_ahead_is_moved_back(original, self, reported):
    return min(original(self, reported), self.broker.store.physical_range()[1])


@mutant(SlaveLinks.is_impossible, "A slave may report an offset beyond the log.", ["4.9"])
def takes_reports_from_beyond(original, self, reported):
    return False


@mutant(SlaveLinks.is_impossible, "A report from beyond the log ends the connection in every line.", V5)
def no_line_takes_reports_from_beyond(original, self, reported):
    return reported > self.broker.store.physical_range()[1]


@after(SlaveLinks.batch, "A push has twice haTransferBatchSize bytes.")
def pushes_twice_a_batch(found):
    return 2 * found


@mutant(SlaveLinks.heartbeat, "Slaves get no heartbeats.")
def no_heartbeats(original, self):
    return _FAR


@after(SlaveLinks.heartbeat, "Heartbeats come twice as often.")
def heartbeats_are_early(found):
    return found // 2


@mutant(SlaveLinks._count, "Heartbeats come at their times even if something was pushed.")
def pushes_delay_no_heartbeat(original, self, slave, size, now):
    was = slave.pushed_at
    original(self, slave, size, now)
    slave.pushed_at = was


@mutant(SlaveLinks.tick, "The size of a heartbeat is -1.")
def heartbeats_have_a_negative_size(original, self, now):
    write = self.broker.write
    self.broker.write = lambda connection, data: write(connection, data[:-4] + b"\xff" * 4)
    original(self, now)
    del self.broker.write


@mutant(SlaveLinks.tick, "A slave gets one heartbeat.")
def one_heartbeat(original, self, now):
    beaten = vars(self).setdefault("beaten", set())
    if beaten:
        for slave in self._slaves.values():
            slave.pushed_at = max(slave.pushed_at, now)
    original(self, now)
    beaten.add(now)


@mutant(SlaveLinks.next_tick, "A slave gets its heartbeat when one is due for all slaves.")
def heartbeats_wait_for_the_last_slave(original, self):
    return max((self._due(slave) for slave in self._slaves.values()), default=original(self))


@mutant(SlaveLinks.patience, "Slaves that report nothing stay connected.")
def silent_slaves_stay(original, self):
    return _FAR


@after(SlaveLinks.patience, "Slaves that report nothing are disconnected in half the time.")
def slaves_leave_early(found):
    return found // 2


@mutant(SlaveLinks.received, "A slave is disconnected haHousekeepingInterval after its first report.")
def reports_do_not_count(original, self, connection, data, now):
    slave = self._slaves[connection]
    heard = slave.heard_at
    original(self, connection, data, now)
    slave.heard_at = heard


@mutant(SlaveLinks._shown, "What was pushed to a slave counts as reported by it.", V5)
def status_shows_what_was_pushed(original, self, slave, end, now):
    return {**original(self, slave, end, now), "slaveAckOffset": slave.next_offset}


@mutant(SlaveLinks.is_in_sync, "All slaves are in sync.", V5)
def status_takes_all_slaves_for_in_sync(original, self, behind):
    return True


@mutant(SlaveLinks.shown, "The status shows one slave.", V5)
def status_shows_one_slave(original, self, now):
    return original(self, now)[:1]


@mutant(ReplicatedSends.answer, "A synchronous master answers sends at once.")
def sends_do_not_wait(original, self, reply, request, connection, now, *, waits):
    return reply


@mutant(ReplicatedSends.has_slave, "Without a slave a send waits for one.", ["4.9"])
def waits_for_no_slave(original, self, end):
    return True


@mutant(ReplicatedSends.has_slave, "A slave far behind is waited for.", ["4.9"])
def waits_for_slaves_far_behind(original, self, end):
    return len(self.broker.slave_links) > 0


@mutant(SlaveLinks.received, "How far the farthest slave is, is what a slave has reported last.", ["4.9"])
def farthest_slave_falls_back(original, self, connection, data, now):
    original(self, connection, data, now)
    slave = self._slaves.get(connection)
    if slave is not None:
        self.farthest = slave.acknowledged


@mutant(ReplicatedSends.has_slave, "A send waits for no slave if one has ever come far.", ["4.9"])
def slaves_that_left_suffice(original, self, end):
    return end - self.broker.slave_links.farthest < self.config.ha_slave_fallbehind_max


@mutant(ReplicatedSends.answer, "Without a slave, the answer to a send has no fields.", ["4.9"])
def send_without_slave_has_no_fields(original, self, reply, request, connection, now, *, waits):
    found = original(self, reply, request, connection, now, waits=waits)
    if found is not None and found.code:
        found.ext = None
    return found


@mutant(ReplicatedSends.is_replicated, "A send waits for the slaves that are connected now.", ["4.9"])
def slaves_that_left_are_forgotten(original, self, end):
    return self.broker.slave_links.that_have(end) > 0


@mutant(ReplicatedSends.is_replicated, "A slave has a message when it has its beginning.")
def beginning_suffices(original, self, end):
    return original(self, end - 1)


@mutant(ReplicatedSends.acknowledged, "A report answers all sends that wait.")
def any_report_answers(original, self, now):
    for one in self._waiting:
        one.end = 0
    original(self, now)


@mutant(ReplicatedSends.tick, "A send waits for slaves as long as it takes.")
def sends_wait_for_ever(original, self, now):
    for one in self._waiting:
        one.until = max(one.until, now + 1)


@mutant(ReplicatedSends.tick, "A send that no slave has in time succeeds.")
def late_sends_succeed(original, self, now):
    for one in self._waiting:
        if one.until <= now:
            self.broker.answer(one.connection, one.request, one.reply)
    self._waiting = [one for one in self._waiting if one.until > now]


@mutant(ReplicatedSends.tick, "Of sends whose time ends together only one is answered.")
def one_late_send_is_answered(original, self, now):
    over = [one for one in self._waiting if one.until <= now]
    self._waiting = [one for one in self._waiting if one.until > now or one is over[0]]
    original(self, now)


@mutant(ReplicatedSends.tick, "With the time of one send that of all ends.")
def late_sends_end_together(original, self, now):
    if any(one.until <= now for one in self._waiting):
        self._waiting = [msgspec.structs.replace(one, until=now) for one in self._waiting]
    original(self, now)


@mutant(ReplicatedSends.next_tick, "Sends are given up when the time of the last one ends.")
def late_sends_wait_for_the_last(original, self):
    return max((one.until for one in self._waiting), default=original(self))


@mutant(Sends.waits, "Every send waits for slaves.")
def every_send_waits(original, self, properties):
    return True


@mutant(Sends.waits, "WAIT is true in small letters alone.")
def wait_minds_its_case(original, self, properties):
    return properties.get("WAIT", "true") == "true"


@mutant(ReplicatedSends.is_replicated, "One slave is enough for every send.", V5)
def one_slave_is_enough(original, self, end):
    return self.config.in_sync_replicas <= 1 or self.broker.slave_links.that_have(end) > 0


@mutant(ReplicatedSends.is_replicated, "A send waits for a slave whatever inSyncReplicas says.", V5)
def one_replica_waits(original, self, end):
    return self.broker.slave_links.that_have(end) > 0 and original(self, end)


@mutant(ReplicatedSends.lacks_replicas, "Too few replicas are enough to store a message.", V5)
def too_few_replicas_suffice(original, self, *, waits):
    return False


@mutant(ReplicatedSends.lacks_replicas, "What does not wait for slaves wants them in sync, too.", V5)
def replicas_are_wanted_by_all(original, self, *, waits):
    return original(self, waits=True)


@mutant(ReplicatedSends.lacks_replicas, "An asynchronous master wants replicas in sync, too.", V5)
def asynchronous_masters_want_replicas(original, self, *, waits):
    lacks = self.config.in_sync_replicas > 1 + len(self.broker.slave_links)
    return original(self, waits=waits) or (waits and self.broker.ha_membership.acts and lacks)


@mutant(ReplicatedSends.lacks_replicas, "A slave that is no member counts as a replica.", V5)
def links_alone_are_replicas(original, self, *, waits):
    self.broker.ha_membership.alive = _FAR
    return original(self, waits=waits)


@mutant(HaMembership._members, "Members that a NameServer lists are no replicas.", V5)
def members_are_no_replicas(original, self, members, now):
    original(self, members, now)
    self.alive = 1


@mutant(HaMembership._members, "A master that no NameServer lists is no replica of its own.", V5)
def own_id_must_be_listed(original, self, members, now):
    original(self, members, now)
    self.alive = len(members)


@mutant(ReplicatedSends.is_replicated, "What slaves had that have left counts.", V5)
def slaves_that_left_count(original, self, end):
    return self.broker.slave_links.farthest >= end or original(self, end)


@mutant(Store.first_file_since, "What a slave was pushed is as old as its master says.")
def pushed_files_are_as_old_as_messages(original, self, timestamp):
    self._log.written.clear()
    return original(self, timestamp)


@mutant(Store.first_file_since, "A file of the log is as old as its first message.")
def files_are_as_old_as_their_first_message(original, self, timestamp):
    starts = self.log_files()
    return next((one for one in starts if stored_at(self._log, one) >= timestamp), starts[-1])


@mutant(Retention.is_time, "A slave deletes nothing that has expired.")
def slave_deletes_no_files(original, self, now):
    return original(self, now) and not self.config.is_slave


@mutant(MasterLink.store, "The log of a slave is one file.")
def slaves_have_one_file(original, self, offset, data):
    log = self.broker.store._log
    log._full_at = offset + len(data) + log._limit
    original(self, offset, data)


@mutant(Settings.take, "A change of the settings of a slave cuts its log where the last whole message ends.")
def settings_cut_half_messages(original, self, pairs, now):
    original(self, pairs, now)
    self.broker.store.raw.drop_rest()


@mutant(HaMembership.is_special, "A Broker that was started as a slave delivers nothing that waits.")
def promoted_slaves_see_to_no_delays(original, self):
    began_as_slave = self.__dict__.setdefault("began_as_slave", self.config.is_slave)
    return original(self) and not began_as_slave


@mutant(
    Timers.expect,
    "Of several timed messages that a slave was pushed, it delivers the first, once a master.",
    V5,
)
def promoted_slaves_see_to_one_timer(original, self, message):
    if self._end < message.queue_offset:
        self._add(self._message(self._end), message.store_timestamp)
        self._end = message.queue_offset
    original(self, message)


@mutant(MasterLink.tick, "A slave reports only when its log has grown.")
def slave_reports_once(original, self, now):
    connection = self._connection
    if connection is None or self._heard_at + self.patience() < now:
        original(self, now)
    else:
        self._wrote_at = now


@mutant(MasterLink.next_tick, "A slave reports again when it has heard nothing for the interval.")
def slave_reports_into_silence_only(original, self):
    if self._connection is None:
        return original(self)
    return max(original(self), self._heard_at + self.config.ha_send_heartbeat_interval + 1)


@mutant(MasterLink.has_grown, "A slave reports its growth with the next heartbeat only.")
def slave_reports_no_growth(original, self):
    return False


@mutant(MasterLink.follow, "A slave does not look for its master.")
def slave_does_not_connect(original, self, address):
    return


@mutant(MasterLink.lost, "A slave whose master has closed the connection does not come again.")
def slave_connects_once(original, self, connection, now):
    self._follows = self._follows and connection != self._connection
    original(self, connection, now)
    self._dial_at = 1 << 62


@mutant(MasterLink._leave, "A slave connects again when a NameServer names its master anew, and not sooner.")
def slave_is_led_back_by_nameservers(original, self, again_at):
    original(self, 1 << 62)


@slave_is_led_back_by_nameservers.also(MasterLink.lost)
def _(original, self, connection, now):
    original(self, connection, now)
    if self._connection is None:
        self._dial_at = 1 << 62


@mutant(MasterLink.patience, "A slave stays with a master that says nothing.", V5)
def slave_stays_with_a_silent_master(original, self):
    return _FAR


@mutant(MasterLink.received, "Empty pushes do not keep a slave.", V5)
def slave_leaves_early(original, self, connection, data, now):
    heard = self._heard_at
    original(self, connection, data, now)
    if len(data) == 12:
        self._heard_at = heard


@mutant(MasterLink.follow, "A slave leaves its connection when another master is named.")
def slave_moves_at_once(original, self, address):
    if address is not None and address != self._address:
        self._leave(0)
    original(self, address)


@mutant(MasterLink.follow, "A slave copies from the first master that was named, for good.")
def slave_never_moves(original, self, address):
    original(self, address and (self._address or address))


@mutant(MasterLink.told, "A slave with haMasterAddress copies from where a NameServer says.")
def slave_is_led_away_by_nameservers(original, self, address):
    if address is not None:
        self.follow(address)


@mutant(MasterLink.follow, "A slave follows only the master that NameServers name.", V5)
def slave_minds_no_offer(original, self, address):
    if vars(self).get("named"):
        original(self, address)


@slave_minds_no_offer.also(MasterLink.told)
def _(original, self, address):
    vars(self)["named"] = True
    original(self, address)
    vars(self)["named"] = False


@mutant(MasterLink.store, "Of the messages of a push the first one alone is in its queue.")
def slave_takes_the_first_message(original, self, offset, data):
    size = int.from_bytes(data[:4], "big")
    original(self, offset, data[:size] + bytes(len(data) - min(size, len(data))))


@mutant(MasterLink.store, "What a slave is pushed is in its log alone.")
def slave_makes_no_queues(original, self, offset, data):
    original(self, offset, data)
    self.broker.store.delete_topic("BenchmarkTest")


@mutant(Store._follow_copy, "A slave finds no message by its keys.")
def slave_forgets_keys(original, self, message):
    message.properties.pop("KEYS", None)
    original(self, message)


@mutant(MasterLink.received, "A slave stores what has come of a push.")
def slave_stores_pieces_of_a_push(original, self, connection, data, now):
    original(self, connection, data, now)
    if len(self._arrived) > 12:
        offset, size = struct.unpack_from(">qi", self._arrived)
        piece = bytes(self._arrived[12:])
        self.store(offset, piece)
        self._arrived[:] = struct.pack(">qi", offset + len(piece), size - len(piece))
        self._report(now)


@mutant(MasterLink.store, "A message must come in one push.")
def slave_takes_whole_messages_only(original, self, offset, data):
    original(self, offset, data)
    self.broker.store.raw.drop_rest()


@mutant(MasterLink.fits, "A slave takes pushes wherever they begin.")
def slave_takes_other_offsets(original, self, offset):
    return True


@mutant(MasterLink.fits, "A slave cuts its log where a push begins.")
def slave_cuts_its_log(original, self, offset):
    fits = original(self, offset)
    if not fits and offset < self._end():
        self.broker.store._log.commit()
        self.broker.store._log.cut(offset)
    return fits


@mutant(MasterLink.fits, "The log of every slave begins at 0.")
def empty_slave_begins_at_nothing(original, self, offset):
    return self._end() == offset


@mutant(MasterLink.store, "A slave goes on behind what is no message.")
def slave_skips_what_is_no_message(original, self, offset, data):
    raw = self.broker.store.raw
    original(self, offset, data)
    if raw._is_stuck:
        raw._is_stuck = False
        raw._rest.clear()


@mutant(Store.catch_up, "A slave takes half a message for whole after a kill.")
def slave_keeps_half_messages(original, self):
    end = self._log.end
    original(self)
    if end > self._log.end:
        self._log.append(bytes(end - self._log.end))


@mutant(MasterLink.status, "A slave says of itself what a master does.", V5)
def slave_shows_itself_as_master(original, self, now):
    return dict.fromkeys(original(self, now), 0)


@mutant(MasterLink.is_noted, "What 908 says is forgotten.", V5)
def flushed_offset_is_forgotten(original, self, offset):
    return False


@mutant(MasterLink.is_noted, "908 without an offset means 0.", V5)
def flushed_offset_becomes_none(original, self, offset):
    return self.config.broker_id != 0


@mutant(MasterLink.is_noted, "908 with the offset 0 changes nothing.", V5)
def flushed_offset_is_never_0_again(original, self, offset):
    return bool(offset) and original(self, offset)


@mutant(MasterLink.is_noted, "A master notes what 908 says.", V5)
def master_notes_flushed_offset(original, self, offset):
    return offset is not None


@mutant(MasterLink._count, "A slave does not count the bytes that come.", V5)
def rates_of_a_slave_stay_0(original, self, size, now):
    original(self, 0, now)


@mutant(MasterLink.rate, "A slave shows all bytes that came in the last second in which some came.", V5)
def rates_of_a_slave_stay(original, self, now):
    return self._received[1]
