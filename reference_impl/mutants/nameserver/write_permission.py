"""Faults of write permission (codes 205 and 327)."""

from collections.abc import Iterable

from reference_impl.mutants.registry import after, mutant
from reference_impl.nameserver.core import NameServer
from reference_impl.nameserver.routes import RouteTable
from reference_impl.nameserver.state import Queue
from reference_impl.nameserver.topic_table import READ, WRITE
from reference_impl.remoting import fields
from reference_impl.remoting.reply import Reply

# -- 205 -----------------------------------------------------------------------------------------------------


@mutant(RouteTable.without_write, "A wipe counts topics and changes nothing.")
def wipe_is_ignored(original, self, perm):
    return perm


@mutant(RouteTable.without_write, "A wipe sets every permission to 4.")
def wipe_sets_four(original, self, perm):
    return READ


@mutant(RouteTable.wipe_write_permission, "A wipe changes the first topic of the broker only.")
def wipe_takes_one_topic(original, self, name):
    queues = self.queues_of(name)
    for topic, queue in queues[:1]:
        self.set_permission(topic, name, queue, self.without_write(queue.perm))
    return len(queues)


@mutant(RouteTable.set_permission, "A change of permission sets the number of write queues to 0.")
def wipe_drops_write_queues(original, self, topic, name, queue, perm):
    self.topics[topic][name] = Queue(queue.read, 0, perm, queue.flag)
    self.revision += 1


@mutant(RouteTable.wipe_write_permission, "A wipe counts the topics whose permission it changes.")
def wipe_counts_changes(original, self, name):
    changes = sum(1 for _, queue in self.queues_of(name) if queue.perm & WRITE)
    original(self, name)
    return changes


@mutant(NameServer.wipe_write_permission, "A wipe answers without a count.")
def wipe_counts_nothing(original, self, command, connection, now):
    return Reply(original(self, command, connection, now).code)


@mutant(
    RouteTable.wipe_write_permission, "A wipe changes the broker's topics on every broker that serves them."
)
def wipe_takes_every_broker(original, self, name):
    mine = self.queues_of(name)
    _permit(self, mine, 4)
    return len(mine)


# -- 327 -----------------------------------------------------------------------------------------------------


@mutant(RouteTable.with_write, "Adding write permission counts topics and changes nothing.")
def add_is_ignored(original, self, perm):
    return perm


@mutant(RouteTable.with_write, "Adding write permission sets readable and writable, and drops the rest.")
def add_sets_permission_six(original, self, perm):
    return READ | WRITE


@mutant(RouteTable.add_write_permission, "Adding write permission counts the topics that it changes.")
def add_counts_changes(original, self, name):
    changes = sum(1 for _, queue in self.queues_of(name) if not queue.perm & WRITE)
    original(self, name)
    return changes


@mutant(
    RouteTable.add_write_permission, "Adding changes the broker's topics on every broker that serves them."
)
def add_takes_every_broker(original, self, name):
    mine = self.queues_of(name)
    _permit(self, mine, 6)
    return len(mine)


def _permit(table: RouteTable, topics: Iterable[tuple[str, Queue]], perm: int) -> None:
    for topic, _ in topics:
        for name, queue in list(table.topics[topic].items()):
            table.set_permission(topic, name, queue, perm)


# -- both ----------------------------------------------------------------------------------------------------


@mutant(NameServer.wipe_write_permission, "A wipe for an unknown broker name is refused.")
def unknown_broker_is_refused(original, self, command, connection, now):
    name = fields.text(command.ext, "brokerName")
    if name is not None:
        self.needed(self.routes.brokers.get(name), "brokerName")
    return original(self, command, connection, now)


@mutant(NameServer.add_write_permission, "Adding write permission without a broker name is refused.")
def absent_broker_is_refused(original, self, command, connection, now):
    self.needed(fields.text(command.ext, "brokerName"), "brokerName")
    return original(self, command, connection, now)


@mutant(RouteTable.set_permission, "A cached route keeps its old permission.")
def permissions_change_behind_the_cache(original, self, topic, name, queue, perm):
    revision = self.revision
    original(self, topic, name, queue, perm)
    self.revision = revision


# -- what undoes a wipe --------------------------------------------------------------------------------------


@after(RouteTable.register, "A registration under the name makes all of its topics writable.")
def any_registration_undoes_wipe(registered, self, registration):
    self.add_write_permission(registration.broker)


@after(RouteTable.shown_queue, "Topics once shown read-only are never shown writable.")
def wipe_is_shown_for_ever(shown, self, name, queue):
    wiped: set[str] = self.__dict__.setdefault("wiped_names", set())
    if not queue.perm & WRITE:
        wiped.add(name)
    shown.perm = queue.perm & ~WRITE if name in wiped else queue.perm
