"""Mutants that begin with what the file of a table said before its last change."""

from reference_impl.broker.assignments import REQUEST_MODES_FILE, Assignments
from reference_impl.broker.delays import DELAY_OFFSETS, Delays
from reference_impl.broker.filters import FILTERS_FILE, Filters
from reference_impl.broker.groups import GROUPS_FILE, Groups
from reference_impl.broker.offsets import CONSUMER_OFFSETS_FILE, Offsets
from reference_impl.broker.static_topics import MAPPINGS_FILE, StaticTopics
from reference_impl.broker.topics import TOPICS_FILE, Topics
from reference_impl.mutants.registry import V5, mutant


def _begin_with(file, original, part, broker):
    """Makes a part of the Broker from NAME.bak, if there is one."""
    stored = broker.stored
    broker.stored = {**stored, file: stored.get(f"{file}.bak") or stored.get(file, b"")}
    original(part, broker)
    broker.stored = stored


@mutant(Topics.__init__, "After a restart, topics are what they were before the last change.")
def topics_begin_with_the_backup(original, self, broker):
    _begin_with(TOPICS_FILE, original, self, broker)


@mutant(Groups.__init__, "After a restart, groups are what they were before the last change.")
def groups_begin_with_the_backup(original, self, broker):
    _begin_with(GROUPS_FILE, original, self, broker)


@mutant(Offsets.__init__, "After a restart, offsets are what they were before they were last written.")
def offsets_begin_with_the_backup(original, self, broker):
    _begin_with(CONSUMER_OFFSETS_FILE, original, self, broker)


@mutant(Filters.__init__, "After a restart, filters are what they were before the last change.")
def filters_begin_with_the_backup(original, self, broker):
    _begin_with(FILTERS_FILE, original, self, broker)


@mutant(Assignments.__init__, "After a restart, request modes are what they were before the last change.", V5)
def modes_begin_with_the_backup(original, self, broker):
    _begin_with(REQUEST_MODES_FILE, original, self, broker)


@mutant(StaticTopics.__init__, "After a restart, mappings are what they were before the last change.", V5)
def mappings_begin_with_the_backup(original, self, broker):
    _begin_with(MAPPINGS_FILE, original, self, broker)


@mutant(Delays.__init__, "After a restart, levels go on from where they were before that was last written.")
def levels_begin_with_the_backup(original, self, broker):
    _begin_with(DELAY_OFFSETS, original, self, broker)
