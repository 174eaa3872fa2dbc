"""Mutants of the chapter static-topics."""

import msgspec

from harness.wire import Command, ResponseCode
from harness.wire.bodies import ClusterInfo
from reference_impl.broker.mapped_offsets import MappedOffsets
from reference_impl.broker.offsets import Offsets
from reference_impl.broker.other_brokers import OtherBrokers
from reference_impl.broker.part import NEVER
from reference_impl.broker.pulls import Pulls
from reference_impl.broker.registrar import Registrar
from reference_impl.broker.sends import Sends
from reference_impl.broker.static_topics import NotLeaderError, StaticTopics
from reference_impl.mutants.registry import V5, after, mutant
from reference_impl.remoting.reply import RefusedError, Reply


@mutant(Pulls.place, "A pull returns what is behind the end of its part.", V5)
def mapped_pulls_go_beyond_their_part(original, self, asked, ext):
    most = asked.most
    original(self, asked, ext)
    asked.most = most


@mutant(Pulls.place, "A part that ends where it begins has no messages.", V5)
def parts_may_have_no_room(original, self, asked, ext):
    original(self, asked, ext)
    if asked.part is not None and asked.part.end_offset == asked.part.start_offset:
        asked.most = 0


@mutant(StaticTopics.put, "A static topic is a plain one.", V5)
def static_topics_are_plain(original, self, mapping, now):
    return


@mutant(StaticTopics.put, "A mapping has its first queue only.", V5)
def mappings_lose_a_queue(original, self, mapping, now):
    first = dict(list(mapping.hosted_queues.items())[:1])
    original(self, msgspec.structs.replace(mapping, hosted_queues=first), now)


@mutant(StaticTopics.put, "A part begins with its queue, whatever its startOffset.", V5)
def parts_begin_with_their_queue(original, self, mapping, now):
    for parts in mapping.hosted_queues.values():
        for part in parts:
            part.start_offset = 0
    original(self, mapping, now)


@mutant(StaticTopics.infos, "Mappings are not registered.", V5)
def mappings_are_not_registered(original, self, topics):
    return {}


@after(StaticTopics.infos, "A mapping is registered as if each queue were mapped to itself.", V5)
def mappings_are_registered_as_they_are(found):
    for info in found.values():
        info.curr_id_map = {number: number for number in info.curr_id_map or {}}


@after(StaticTopics.infos, "A mapping is registered as one that is to be cleaned.", V5)
def mappings_are_registered_as_dirty(found):
    for info in found.values():
        info.dirty = True


@after(StaticTopics.infos, "A mapping is registered with the queues of its first parts.", V5)
def mappings_are_registered_by_their_first_parts(found, self):
    for topic, info in found.items():
        parts = self.table[topic].hosted_queues
        info.curr_id_map = {number: parts[number][0].queue_id for number in info.curr_id_map or {}}


@mutant(MappedOffsets.greatest, "A mapped queue ends with a part whose place is not decided.", V5)
def mapped_queues_end_with_an_undecided_part(original, self, command, mapped):
    return (yield from original(self, command, mapped._replace(parts=mapped.parts[-1:])))


@mutant(MappedOffsets.search, "A time is searched in parts whose place is not decided, too.", V5)
def times_are_searched_in_undecided_parts(original, self, command, mapped, timestamp, *, upper):
    parts = [msgspec.structs.replace(part, logic_offset=max(part.logic_offset, 0)) for part in mapped.parts]
    return (yield from original(self, command, mapped._replace(parts=parts), timestamp, upper=upper))


@mutant(StaticTopics.changed, "The version of mappings stays as it was at the start.", V5)
def mappings_keep_their_version(original, self, now):
    version = self.version
    original(self, now)
    self.version = version


@mutant(StaticTopics.refusal, "A mapping that is refused counts as a change.", V5)
def refused_mappings_count(original, self, mapping, *, forced):
    fault = original(self, mapping, forced=forced)
    if fault is not None:
        self.version = msgspec.structs.replace(self.version, counter=self.version.counter + 1)
    return fault


@mutant(Pulls.place, "A pull from a static topic reads the Broker's queue of that number.", V5)
def mapped_queues_are_their_own(original, self, asked, ext):
    return


@mutant(Sends.told_of, "The answer to a send to a static topic says where the message is.", V5)
def mapped_sends_tell_where_they_are(original, self, mapped, reply):
    return


@mutant(StaticTopics.leads, "No mapped queue has a leader.", V5)
def mapped_queues_have_no_leader(original, self, parts):
    return False


@mutant(StaticTopics.led, "A Broker serves every queue of a static topic.", V5)
def other_queues_are_served(original, self, topic, number, ext, remark="", *, chooses=False):
    try:
        return original(self, topic, number, ext, remark, chooses=chooses)
    except RefusedError:
        return None


@mutant(StaticTopics.led, "A send with lo=false uses the queue that its queue is mapped to.", V5)
def forwarded_sends_are_mapped(original, self, topic, number, ext, remark="", *, chooses=False):
    return original(self, topic, number, {} if chooses else ext, remark, chooses=chooses)


@mutant(Sends.scope, "Sends with short names heed lo=false.", V5)
def short_sends_are_forwarded(original, self, command):
    return command.ext


@mutant(StaticTopics.of, "A request with lo=false is about the queue that its queue is mapped to.", V5)
def forwarded_requests_are_mapped(original, self, command, remark=""):
    plain = {name: text for name, text in command.ext.items() if name != "lo"}
    return original(self, msgspec.structs.replace(command, ext=plain), remark)


@after(StaticTopics.told_of, "Offsets in pulls are those of the Broker's queue.", V5)
def mapped_offsets_begin_anew(found, part, reply):
    if reply.ext is not None and "offsetDelta" in reply.ext:
        for name in ("nextBeginOffset", "minOffset", "maxOffset"):
            reply.ext[name] = str(int(reply.ext[name] or 0) - part.logic_offset)


@mutant(StaticTopics.put, "A mapped queue has its last part only.", V5)
def mapped_queues_have_their_last_part(original, self, mapping, now):
    last = {number: parts[-1:] for number, parts in mapping.hosted_queues.items()}
    original(self, msgspec.structs.replace(mapping, hosted_queues=last), now)


@mutant(StaticTopics.at_end, "A mapped queue ends where its first part ends.", V5)
def mapped_queues_end_where_a_part_does(original, self, later):
    return ResponseCode.PULL_NOT_FOUND, later


@mutant(StaticTopics.told_of, "A pull behind the end of a mapped queue learns that it begins there.", V5)
def mapped_queues_begin_where_they_end(original, self, mapped, part, asked, reply):
    original(self, mapped, part, asked, reply)
    if reply.code == ResponseCode.PULL_NOT_FOUND:
        reply.ext["minOffset"] = reply.ext["maxOffset"]


@mutant(StaticTopics.told_of, "A pull that finds nothing in a mapped queue says why in its remark.", V5)
def mapped_pulls_keep_their_remark(original, self, mapped, part, asked, reply):
    remark = reply.remark
    original(self, mapped, part, asked, reply)
    reply.remark = remark


@mutant(StaticTopics.led, "A message to any queue of a static topic is refused.", V5)
def mapped_sends_name_a_queue(original, self, topic, number, ext, remark="", *, chooses=False):
    return original(self, topic, number, ext, remark)


@mutant(StaticTopics.told_of, "A pull of some messages of a part goes on at its end.", V5)
def mapped_pulls_go_on_behind_their_part(original, self, mapped, part, asked, reply):
    original(self, mapped, part, asked, reply)
    if reply.code == ResponseCode.SUCCESS and part.has_end:
        reply.ext["nextBeginOffset"] = str(part.mapped(part.end_offset))


@mutant(StaticTopics.told_of, "A pull behind a queue of several parts finds nothing.", V5)
def mapped_queues_of_several_parts_end_like_one(original, self, mapped, part, asked, reply):
    original(self, mapped, part, asked, reply)
    if part is mapped.last and asked > int(reply.ext["maxOffset"]) - part.logic_offset + part.start_offset:
        reply.code = ResponseCode.PULL_NOT_FOUND


@mutant(StaticTopics.told_of, "A pull of what is gone from a mapped queue is to be repeated.", V5)
def mapped_pulls_are_never_moved(original, self, mapped, part, asked, reply):
    original(self, mapped, part, asked, reply)
    if reply.code == ResponseCode.PULL_OFFSET_MOVED:
        reply.code = ResponseCode.PULL_RETRY_IMMEDIATELY


@mutant(StaticTopics.told_of, "A pull of what is gone from a later part is moved.", V5)
def mapped_pulls_of_later_parts_are_moved(original, self, mapped, part, asked, reply):
    is_moved = reply.code == ResponseCode.PULL_OFFSET_MOVED
    original(self, mapped, part, asked, reply)
    if is_moved:
        reply.code = ResponseCode.PULL_OFFSET_MOVED


@mutant(MappedOffsets.committed, "Only the last part of a mapped queue is asked for a committed offset.", V5)
def mapped_commits_are_of_the_last_part(original, self, command, group, mapped):
    return original(self, command, group, mapped._replace(parts=mapped.parts[-1:]))


@mutant(Offsets.update, "A commit in a static topic is kept under the number of the mapped queue.", V5)
def mapped_commits_are_as_they_are(original, self, command, connection, now):
    known, self.broker.static_topics.table = self.broker.static_topics.table, {}
    reply = original(self, command, connection, now)
    self.broker.static_topics.table = known
    return reply


@mutant(StaticTopics.refusal, "A mapping may be older than the one that is known.", V5)
def old_mappings_are_taken(original, self, mapping, *, forced):
    return original(self, mapping, forced=True)


@mutant(StaticTopics.refusal, "Every mapping has the same scope.", V5)
def mappings_have_one_scope(original, self, mapping, *, forced):
    mapping.scope = "__global__"
    return original(self, mapping, forced=forced)


@mutant(StaticTopics.put, "A mapping cannot be changed.", V5)
def mappings_stay(original, self, mapping, now):
    if mapping.topic not in self.table:
        original(self, mapping, now)


@mutant(StaticTopics.changed, "Mappings are forgotten at a restart.", V5)
def mappings_do_not_survive(original, self, now):
    return


@mutant(StaticTopics.forget, "A mapping outlives its topic.", V5)
def mappings_outlive_their_topic(original, self, topic, now):
    return


@mutant(StaticTopics.fault, "Parts of a mapped queue may be anything.", V5)
def mappings_may_be_odd(original, self, parts):
    return None


@mutant(StaticTopics.refusal, "A mapping of the same epoch may have other leaders.", V5)
def equal_epochs_change_leaders(original, self, mapping, *, forced):
    known = self.table.get(mapping.topic)
    same = known is not None and known.epoch == mapping.epoch
    return original(self, mapping, forced=forced or same)


@mutant(StaticTopics.is_same, "A mapping of the same epoch may let a part start elsewhere.", V5)
def equal_epochs_move_starts(original, self, known, given):
    return original(self, known, msgspec.structs.replace(given, start_offset=known.start_offset))


def _without_empty_part(mapped):
    rest = mapped.parts[1:]
    return mapped._replace(parts=rest) if mapped.parts[0].end_offset == 0 else mapped


@mutant(MappedOffsets.least, "An empty first part has no least offset.", V5)
def empty_first_parts_have_no_least_offset(original, self, command, mapped):
    return (yield from original(self, command, _without_empty_part(mapped)))


@mutant(MappedOffsets.earliest, "An empty first part has no earliest time.", V5)
def empty_first_parts_have_no_earliest_time(original, self, command, mapped):
    return (yield from original(self, command, _without_empty_part(mapped)))


@mutant(MappedOffsets.search, "A time is searched in the first part of a mapped queue alone.", V5)
def times_are_of_the_first_part(original, self, command, mapped, timestamp, *, upper):
    first = mapped._replace(parts=mapped.parts[:1])
    return (yield from original(self, command, first, timestamp, upper=upper))


@mutant(MappedOffsets.search, "The last message of a time is searched in the first part alone.", V5)
def last_times_are_of_the_first_part(original, self, command, mapped, timestamp, *, upper):
    searched = mapped._replace(parts=mapped.parts[:1]) if upper else mapped
    return (yield from original(self, command, searched, timestamp, upper=upper))


@mutant(MappedOffsets.search, "The last message of a time is searched in the last part alone.", V5)
def last_times_are_of_the_last_part(original, self, command, mapped, timestamp, *, upper):
    searched = mapped._replace(parts=mapped.parts[-1:]) if upper else mapped
    return (yield from original(self, command, searched, timestamp, upper=upper))


@mutant(MappedOffsets.search, "The last message of a time is searched in queues of this Broker alone.", V5)
def other_brokers_have_no_last_times(original, self, command, mapped, timestamp, *, upper):
    own = [part for part in mapped.parts if self.broker.static_topics.is_here(part)]
    searched = mapped._replace(parts=own) if upper else mapped
    return (yield from original(self, command, searched, timestamp, upper=upper))


@mutant(Pulls.is_elsewhere, "A part on another Broker is read here.", V5)
def other_brokers_are_not_pulled_from(original, self, asked):
    return False


@mutant(Pulls.place, "Another Broker is asked for the offset in the mapped queue.", V5)
def other_brokers_hear_mapped_offsets(original, self, asked, ext):
    offset = asked.offset
    original(self, asked, ext)
    if self.is_elsewhere(asked):
        asked.offset = offset


@mutant(Pulls.read_elsewhere, "The end of a queue on another Broker is the end.", V5)
def queues_of_other_brokers_end(original, self, asked, command):
    reply = yield from original(self, asked, command)
    if reply.code == ResponseCode.PULL_RETRY_IMMEDIATELY:
        reply.code = ResponseCode.PULL_NOT_FOUND
    return reply


@mutant(OtherBrokers._found, "Where other Brokers are is taken from an error, too.", V5)
def errors_say_where_brokers_are(original, self, reply, now):
    original(self, reply and msgspec.structs.replace(reply, code=ResponseCode.SUCCESS), now)


@mutant(OtherBrokers._found, "The first address of another Broker's master is kept for ever.", V5)
def masters_of_other_brokers_stay(original, self, reply, now):
    known = dict(self._masters)
    original(self, reply, now)
    self._masters.update(known)


@mutant(OtherBrokers._found, "Of a cluster the first Broker is known.", V5)
def one_other_broker_is_known(original, self, reply, now):
    known = dict(self._masters)
    original(self, reply, now)
    self._masters = dict(list((known or self._masters).items())[:1])


@after(OtherBrokers.question, "Another Broker gets the signature of the client.", V5)
def other_brokers_hear_signatures(question):
    question.command.ext["Signature"] = "of the client"


@mutant(OtherBrokers._found, "Of a Broker without a master the smallest slave is asked.", V5)
def slaves_pass_for_masters(original, self, reply, now):
    original(self, reply, now)
    found = ClusterInfo.decode(reply.body).broker_addr_table if reply is not None and not reply.code else {}
    for name, broker in found.items():
        if broker is not None and broker.broker_addrs:
            self._masters[name] = broker.broker_addrs[min(broker.broker_addrs)]


@mutant(OtherBrokers._found, "A master is still asked when its Broker has slaves alone.", V5)
def masters_that_became_slaves_are_asked(original, self, reply, now):
    known = dict(self._masters)
    original(self, reply, now)
    self._masters = {**known, **self._masters}


@mutant(OtherBrokers._found, "A NameServer that does not show a Broker makes its master unknown.", V5)
def masters_are_forgotten_with_each_answer(original, self, reply, now):
    if reply is not None and not reply.code:
        self._masters.clear()
    original(self, reply, now)


@mutant(OtherBrokers.next_tick, "After a restart no NameServer is asked where other Brokers are.", V5)
def restarts_end_the_search_for_masters(original, self):
    if self._next_at == self.broker.started:
        self._next_at = NEVER
    return original(self)


@mutant(Registrar.ask_any, "Only the first NameServer is asked for what one of them has to answer.", V5)
def masters_are_asked_of_the_first_nameserver(original, self, command, within, done, now):
    for address in self.addresses()[:1]:
        self.broker.ask(address, command, within, done)


@mutant(OtherBrokers.within, "Another Broker is waited for 3 s, whatever forwardTimeout says.", V5)
def other_brokers_have_three_seconds(original, self):
    return 3_000


@mutant(OtherBrokers.checked, "An error of another Broker counts as the offset 0.", V5)
def failures_of_other_brokers_are_answers(original, self, question, response):
    try:
        return original(self, question, response)
    except RefusedError:
        names = ("offset", "nextBeginOffset", "minOffset", "maxOffset")
        return Command(ResponseCode.SUCCESS, ext=dict.fromkeys(names, "0"))


@mutant(Offsets.update, "A commit in a part on another Broker is kept here.", V5)
def other_brokers_hear_no_commits(original, self, command, connection, now):
    reply = original(self, command, connection, now)
    if reply is None:
        self.broker.outbox.pop()
        return Reply(ResponseCode.SUCCESS, ext={})
    return reply


@mutant(MappedOffsets.commit, "Another Broker gets a commit with the offset in the mapped queue.", V5)
def other_brokers_keep_mapped_offsets(original, self, command, part, offset):
    return (yield from original(self, command, part, part.mapped(offset)))


@mutant(MappedOffsets.committed_in, "What another Broker says of a group is not mapped.", V5)
def commits_on_other_brokers_are_as_they_are(original, self, command, group, mapped, part):
    found = yield from original(self, command, group, mapped, part)
    return found if found is None or self.broker.static_topics.is_here(part) else part.unmapped(found)


@mutant(MappedOffsets.committed_in, "Other Brokers are not asked what a group has committed.", V5)
def other_brokers_know_no_commits(original, self, command, group, mapped, part):
    if self.broker.static_topics.is_here(part):
        return (yield from original(self, command, group, mapped, part))
    return None


@mutant(MappedOffsets.least, "A mapped queue begins where its last part begins.", V5)
def least_offsets_are_of_the_last_part(original, self, command, mapped):
    return (yield from original(self, command, mapped._replace(parts=mapped.parts[-1:])))


@mutant(
    MappedOffsets.earliest,
    "Another Broker is asked for the earliest time in the mapped queue.",
    V5,
)
def earliest_times_are_of_the_mapped_number(original, self, command, mapped):
    first = msgspec.structs.replace(mapped.parts[0], queue_id=mapped.number)
    return (yield from original(self, command, mapped._replace(parts=[first, *mapped.parts[1:]])))


@mutant(MappedOffsets.search, "A time is searched in queues of this Broker alone.", V5)
def other_brokers_are_not_searched(original, self, command, mapped, timestamp, *, upper):
    own = [part for part in mapped.parts if self.broker.static_topics.is_here(part)]
    return (yield from original(self, command, mapped._replace(parts=own), timestamp, upper=upper))


@mutant(MappedOffsets.first_from, "Another Broker is always asked for the first message of a time.", V5)
def other_brokers_are_asked_for_the_lower_end(original, self, command, topic, part, timestamp):
    return (yield from original(self, command, topic, part, int(command.ext["timestamp"])))


@mutant(StaticTopics.led, "A queue takes no messages before its offset is known.", V5)
def leaders_without_an_offset_take_nothing(original, self, topic, number, ext, remark="", *, chooses=False):
    found = original(self, topic, number, ext, remark, chooses=chooses)
    if found is not None and found.last.logic_offset < 0:
        raise NotLeaderError("the offset is not known")
    return found


@mutant(StaticTopics.put, "A mapping of the same epoch is accepted and changes nothing.", V5)
def offsets_of_leaders_stay_unknown(original, self, mapping, now):
    known = self.table.get(mapping.topic)
    if known is None or known.epoch != mapping.epoch:
        original(self, mapping, now)


@mutant(StaticTopics.leads, "A Broker that has had a mapped queue goes on with it.", V5)
def old_leaders_go_on(original, self, parts):
    return any(self.is_here(part) for part in parts)


@mutant(StaticTopics.led, "Queues that went to another Broker cannot be read with lo=false.", V5)
def old_leaders_lose_their_messages(original, self, topic, number, ext, remark="", *, chooses=False):
    queues = {} if topic not in self.table else self.table[topic].hosted_queues
    gone = [part for parts in queues.values() if not self.leads(parts) for part in parts]
    if any(self.is_here(part) and part.queue_id == number for part in gone):
        raise NotLeaderError("it has gone")
    return original(self, topic, number, ext, remark, chooses=chooses)


@mutant(Pulls.pull_again, "A pull that waits goes on in its queue when the mapped queue has gone.", V5)
def held_pulls_keep_their_queue(original, self, command, connection, now):
    known, self.broker.static_topics.table = self.broker.static_topics.table, {}
    reply = original(self, command, connection, now)
    self.broker.static_topics.table = known
    return reply


@mutant(StaticTopics.update, "A static topic may have an illegal name.", V5)
def static_topics_have_any_name(original, self, command, connection, now):
    reply = original(self, command, connection, now)
    return Reply(ResponseCode.SUCCESS) if reply.code == ResponseCode.INVALID_PARAMETER else reply
