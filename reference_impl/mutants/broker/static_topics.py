"""Mutants of the chapter static-topics."""

import msgspec

from harness.wire import ResponseCode
from reference_impl.broker.offsets import Offsets
from reference_impl.broker.pulls import Pulls
from reference_impl.broker.sends import Sends
from reference_impl.broker.static_topics import StaticTopics
from reference_impl.mutants.registry import V5, after, mutant
from reference_impl.remoting.reply import RefusedError


@mutant(StaticTopics.put, "A static topic is a plain one.", V5)
def static_topics_are_plain(original, self, mapping, now):
    return


@mutant(StaticTopics.put, "A mapping has its first queue only.", V5)
def mappings_lose_a_queue(original, self, mapping, now):
    first = dict(list(mapping.hosted_queues.items())[:1])
    original(self, msgspec.structs.replace(mapping, hosted_queues=first), now)


@mutant(StaticTopics.infos, "Mappings are not registered.", V5)
def mappings_are_not_registered(original, self, topics):
    return {}


@after(StaticTopics.infos, "A mapping is registered as if each queue were mapped to itself.", V5)
def mappings_are_registered_as_they_are(found):
    for info in found.values():
        info.curr_id_map = {number: number for number in info.curr_id_map or {}}


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


@after(StaticTopics.told_of, "Offsets in pulls are those of the Broker's queue.", V5)
def mapped_offsets_begin_anew(found, part, reply):
    if reply.ext is not None and "offsetDelta" in reply.ext:
        for name in ("nextBeginOffset", "minOffset", "maxOffset"):
            reply.ext[name] = str(int(reply.ext[name] or 0) - part.logic_offset)


@mutant(StaticTopics.put, "A mapped queue has its last part only.", V5)
def mapped_queues_have_their_last_part(original, self, mapping, now):
    last = {number: parts[-1:] for number, parts in mapping.hosted_queues.items()}
    original(self, msgspec.structs.replace(mapping, hosted_queues=last), now)


@mutant(StaticTopics.after, "A mapped queue ends where its first part ends.", V5)
def mapped_queues_end_where_a_part_does(original, self, mapped, part, code, following):
    return part, ResponseCode.PULL_NOT_FOUND, following


@mutant(Offsets.query_mapped, "Only the last part of a mapped queue is asked for a committed offset.", V5)
def mapped_commits_are_of_the_last_part(original, self, group, mapped):
    return original(self, group, mapped._replace(parts=mapped.parts[-1:]))


@mutant(Offsets.update, "A commit in a static topic is kept under the number of the mapped queue.", V5)
def mapped_commits_are_as_they_are(original, self, command, connection, now):
    known, self.broker.static_topics.table = self.broker.static_topics.table, {}
    reply = original(self, command, connection, now)
    self.broker.static_topics.table = known
    return reply


@mutant(StaticTopics.refusal, "A mapping may be older than the one that is known.", V5)
def old_mappings_are_taken(original, self, mapping, *, forced):
    return original(self, mapping, forced=True)


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
