"""Faults of what pops say that is left, and of what comes again more than once."""

from reference_impl.broker.pop import Pops
from reference_impl.broker.pop_checkpoints import CheckPoints
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
