"""Mutants of filters that groups say."""

from msgspec.structs import replace

from reference_impl.broker.filters import Filters
from reference_impl.broker.pulls import Pulls
from reference_impl.mutants.registry import mutant


@mutant(Filters.subscribed, "Filters in heartbeats are forgotten.")
def filters_of_heartbeats_do_not_count(original, self, group, subscriptions, now):
    pass


@mutant(Filters.subscribed, "Of the filters that a group says, the first one alone is kept.")
def one_filter_of_a_group_counts(original, self, group, subscriptions, now):
    original(self, group, subscriptions[:1], now)


@mutant(Filters.replaces, "The first filter of a group stays for ever.")
def later_filters_never_replace(original, self, made, old):
    return False


@mutant(Filters.replaces, "A filter replaces one of the same or of a later version.")
def filters_of_any_version_replace(original, self, made, old):
    return True


@mutant(Filters.take, "A filter that is said again keeps its version.")
def same_filters_keep_their_version(original, self, made):
    old = self.of(made.topic, made.consumer_group)
    if old is None or old.expression != made.expression:
        original(self, made)


@mutant(Filters.bury, "That a group has left is not written down with its filter.")
def ends_of_filters_are_not_kept(original, self, topics, group, now):
    unwritten = self._unwritten
    original(self, topics, group, now)
    self._unwritten = unwritten


@mutant(Filters.forget, "A filter that cannot be compiled leaves the one before it in force.")
def unreadable_filters_leave_the_old(original, self, place):
    pass


@mutant(Filters.said, "A pull may ask for a later version of the filter than there is.")
def versions_of_filters_are_not_compared(original, self, kind, topic, group, version):
    return original(self, kind, topic, group, 0)


@mutant(Filters.left, "The filters of a group are forgotten when its last member leaves.")
def filters_leave_with_their_group(original, self, group, now):
    self.table = {place: one for place, one in self.table.items() if place[1] != group}


@mutant(Filters.subscribed, "The filter of a topic is forgotten when its group subscribes to it no longer.")
def filters_leave_with_their_topic(original, self, group, subscriptions, now):
    original(self, group, subscriptions, now)
    kept = {one.topic for one in subscriptions}
    self.table = {place: one for place, one in self.table.items() if place[1] != group or place[0] in kept}


@mutant(Filters.settle, "Filters are not written down.")
def restarts_forget_filters(original, self, now):
    pass


@mutant(Filters.revive, "The filter of a group that is back stays dead.")
def filters_stay_dead(original, self, known):
    pass


@mutant(Pulls.wanted, "A filter of a class is carried out as one by SQL.")
def class_filters_are_filters_by_sql(original, self, asked, subscription):
    return original(self, asked, replace(subscription, class_filter_mode=False))


@mutant(Pulls.filter, "A filter of a class is carried out as one by tags.")
def class_filters_are_filters_by_tags(original, self, subscription):
    return original(self, replace(subscription, class_filter_mode=False))


@mutant(Filters.take, "The filter of a group is alive when the group is back with an older one.")
def older_filters_revive(original, self, made):
    original(self, made)
    self.revive(self.of(made.topic, made.consumer_group) or made)


@mutant(Filters.bury, "The filter of a topic dies anew with each heartbeat that does not name the topic.")
def filters_of_topics_die_anew(original, self, topics, group, now):
    for topic in topics:
        self.table[topic, group].dead_time = 0
    original(self, topics, group, now)


@mutant(Filters.settle, "One filter alone is written down.")
def restarts_keep_one_filter(original, self, now):
    whole, self.table = self.table, dict(list(self.table.items())[:1])
    original(self, now)
    self.table = whole


@mutant(Filters.is_over, "A filter of the last run is kept for ever.")
def filters_of_the_last_run_are_alive(original, self, one, now):
    return one.born_time >= self.broker.started and original(self, one, now)


@mutant(Filters.revive, "The filter of a group that was back before the Broker stopped counts as alive.")
def filters_that_were_dead_outlive_a_restart(original, self, known):
    original(self, known)
    known.dead_time = 1


@mutant(Filters.is_over, "The filter of a group that has left is kept for ever.")
def dead_filters_stay(original, self, one, now):
    return False
