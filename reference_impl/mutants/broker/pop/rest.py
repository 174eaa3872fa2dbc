"""Faults of what pops say that is left, and of what comes again more than once."""

import json

from harness.wire.messages import PropertyName
from reference_impl.broker.pop import Pops
from reference_impl.broker.pop_checkpoints import REVIVE_GROUP, CheckPoints, PopOf
from reference_impl.mutants.registry import V5, mutant


@mutant(Pops.find, "What comes again is looked at before and after the messages of the topic.", V5)
def rest_counts_what_comes_again_twice(original, self, asked, wanted, topic, now):
    found = original(self, asked, wanted, topic, now)
    again = None if asked.order else self.broker.topics.get(self.retry_topic(asked, 0))
    if again is not None and self.config.pop_from_retry_probability == 100:
        self.take_all(found, again, 0, now)
    return found


@mutant(CheckPoints.over, "A pop whose time is over stays in the log of pops.", V5)
def over_is_not_written_down(original, self, point, now):
    left = set(point.left)
    acknowledged, self.acknowledge = self.acknowledge, lambda *_: None
    original(self, point, now)
    self.acknowledge = acknowledged
    point.left.intersection_update(left)


@mutant(Pops.has_enough, "What comes again last counts as left before it is looked at.", V5)
def rest_counts_what_comes_last(original, self, found):
    return False


@mutant(
    CheckPoints._follow, "A Broker does not start if it finds an acknowledgement whose pop is done with.", V5
)
def acknowledgements_need_their_pops(original, self, message):
    tag, record = message.properties.get(PropertyName.TAGS), json.loads(message.body)
    pop = PopOf(record["t"], record["c"], record["q"], record["so"], record["pt"])
    if tag == "ack" and pop not in self.points:
        raise LookupError(pop)
    original(self, message)


@mutant(
    CheckPoints.read_again, "A restart exchanges a pop's queue of the log of pops with its place in it.", V5
)
def pops_change_places_at_a_start(original, self):
    original(self)
    self._living.clear()
    for point in self.points.values():
        point.revive_queue, point.place = point.place, point.revive_queue
        self._living.setdefault(point.revive_queue, {})[point.place] = point.pop


@mutant(CheckPoints._done, "How far the log of pops is done with is not noted.", V5)
def progress_of_pops_is_not_noted(original, self, point, now):
    original(self, point, now)
    self.broker.offsets.table.pop(f"{self.topic}@{REVIVE_GROUP}", None)


@mutant(CheckPoints._done, "The log of pops is not done with what was done last.", V5)
def progress_of_pops_is_behind(original, self, point, now):
    original(self, point, now)
    if self.broker.offsets.offset_of(REVIVE_GROUP, self.topic, point.revive_queue) is not None:
        self.broker.offsets.commit(REVIVE_GROUP, self.topic, point.revive_queue, point.place - 1, now)
