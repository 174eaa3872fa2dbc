"""Faults of write permission (codes 205 and 327)."""

from collections.abc import Iterable

from harness.wire import Command
from harness.wire.bodies import QueueData
from reference_impl.mutants import mutant
from reference_impl.nameserver.core import NameServer
from reference_impl.nameserver.parts import Parts
from reference_impl.nameserver.routes import READ, WRITE, RouteTable
from reference_impl.nameserver.state import Queue, Registered, Registration
from reference_impl.remoting import fields
from reference_impl.remoting.reply import Reply

# -- 205 -----------------------------------------------------------------------------------------------------


@mutant("wipe-is-ignored", "A wipe counts topics and changes nothing.")
def wipe_is_ignored(parts: Parts) -> Parts:
    def without_write(self: RouteTable, perm: int) -> int:
        return perm

    return parts.override("routes", without_write)


@mutant("wipe-sets-four", "A wipe sets every permission to 4.")
def wipe_sets_four(parts: Parts) -> Parts:
    def without_write(self: RouteTable, perm: int) -> int:
        return READ

    return parts.override("routes", without_write)


@mutant("wipe-takes-one-topic", "A wipe changes the first topic of the broker only.")
def wipe_takes_one_topic(parts: Parts) -> Parts:
    def wipe_write_permission(self: RouteTable, name: str) -> int:
        queues = self.queues_of(name)
        for topic, queue in queues[:1]:
            self.set_permission(topic, name, queue, self.without_write(queue.perm))
        return len(queues)

    return parts.override("routes", wipe_write_permission)


@mutant("wipe-drops-write-queues", "A change of permission sets the number of write queues to 0.")
def wipe_drops_write_queues(parts: Parts) -> Parts:
    def set_permission(self: RouteTable, topic: str, name: str, queue: Queue, perm: int) -> None:
        self.topics[topic][name] = Queue(queue.read, 0, perm, queue.flag)
        self.revision += 1

    return parts.override("routes", set_permission)


@mutant("wipe-counts-changes", "A wipe counts the topics whose permission it changes.")
def wipe_counts_changes(parts: Parts) -> Parts:
    def wipe_write_permission(self: RouteTable, name: str) -> int:
        changes = sum(1 for _, queue in self.queues_of(name) if queue.perm & WRITE)
        parts.routes.wipe_write_permission(self, name)
        return changes

    return parts.override("routes", wipe_write_permission)


@mutant("wipe-counts-nothing", "A wipe answers without a count.")
def wipe_counts_nothing(parts: Parts) -> Parts:
    def wipe_write_permission(self: NameServer, command: Command, connection: int, now: int) -> Reply:
        return Reply(parts.nameserver.wipe_write_permission(self, command, connection, now).code)

    return parts.override("nameserver", wipe_write_permission)


@mutant("wipe-takes-every-broker", "A wipe changes the broker's topics on every broker that serves them.")
def wipe_takes_every_broker(parts: Parts) -> Parts:
    def wipe_write_permission(self: RouteTable, name: str) -> int:
        mine = self.queues_of(name)
        _permit(self, mine, 4)
        return len(mine)

    return parts.override("routes", wipe_write_permission)


# -- 327 -----------------------------------------------------------------------------------------------------


@mutant("add-is-ignored", "Adding write permission counts topics and changes nothing.")
def add_is_ignored(parts: Parts) -> Parts:
    def with_write(self: RouteTable, perm: int) -> int:
        return perm

    return parts.override("routes", with_write)


@mutant("add-sets-permission-six", "Adding write permission sets readable and writable, and drops the rest.")
def add_sets_permission_six(parts: Parts) -> Parts:
    def with_write(self: RouteTable, perm: int) -> int:
        return READ | WRITE

    return parts.override("routes", with_write)


@mutant("add-counts-changes", "Adding write permission counts the topics that it changes.")
def add_counts_changes(parts: Parts) -> Parts:
    def add_write_permission(self: RouteTable, name: str) -> int:
        changes = sum(1 for _, queue in self.queues_of(name) if not queue.perm & WRITE)
        parts.routes.add_write_permission(self, name)
        return changes

    return parts.override("routes", add_write_permission)


@mutant("add-takes-every-broker", "Adding changes the broker's topics on every broker that serves them.")
def add_takes_every_broker(parts: Parts) -> Parts:
    def add_write_permission(self: RouteTable, name: str) -> int:
        mine = self.queues_of(name)
        _permit(self, mine, 6)
        return len(mine)

    return parts.override("routes", add_write_permission)


def _permit(table: RouteTable, topics: Iterable[tuple[str, Queue]], perm: int) -> None:
    for topic, _ in topics:
        for name, queue in list(table.topics[topic].items()):
            table.set_permission(topic, name, queue, perm)


# -- both ----------------------------------------------------------------------------------------------------


@mutant("unknown-broker-is-refused", "A wipe for an unknown broker name is refused.")
def unknown_broker_is_refused(parts: Parts) -> Parts:
    def wipe_write_permission(self: NameServer, command: Command, connection: int, now: int) -> Reply:
        name = fields.text(command.ext, "brokerName")
        if name is not None:
            self.needed(self.routes.brokers.get(name), "brokerName")
        return parts.nameserver.wipe_write_permission(self, command, connection, now)

    return parts.override("nameserver", wipe_write_permission)


@mutant("absent-broker-is-refused", "Adding write permission without a broker name is refused.")
def absent_broker_is_refused(parts: Parts) -> Parts:
    def add_write_permission(self: NameServer, command: Command, connection: int, now: int) -> Reply:
        self.needed(fields.text(command.ext, "brokerName"), "brokerName")
        return parts.nameserver.add_write_permission(self, command, connection, now)

    return parts.override("nameserver", add_write_permission)


@mutant("permissions-change-behind-the-cache", "A route that was once encoded keeps its permission.")
def permissions_change_behind_the_cache(parts: Parts) -> Parts:
    def set_permission(self: RouteTable, topic: str, name: str, queue: Queue, perm: int) -> None:
        revision = self.revision
        parts.routes.set_permission(self, topic, name, queue, perm)
        self.revision = revision

    return parts.override("routes", set_permission)


# -- what undoes a wipe --------------------------------------------------------------------------------------


@mutant("any-registration-undoes-wipe", "A registration under the name makes all of its topics writable.")
def any_registration_undoes_wipe(parts: Parts) -> Parts:
    def register(
        self: RouteTable, registration: Registration, connection: int, now: int
    ) -> Registered | None:
        registered = parts.routes.register(self, registration, connection, now)
        self.add_write_permission(registration.broker)
        return registered

    return parts.override("routes", register)


@mutant(
    "wipe-is-shown-for-ever",
    "Topics of a broker name that was once shown read-only are never shown writable.",
)
def wipe_is_shown_for_ever(parts: Parts) -> Parts:
    def shown_queue(self: RouteTable, name: str, queue: Queue) -> QueueData:
        shown = parts.routes.shown_queue(self, name, queue)
        wiped: set[str] = self.__dict__.setdefault("wiped_names", set())
        if not queue.perm & WRITE:
            wiped.add(name)
        shown.perm = queue.perm & ~WRITE if name in wiped else queue.perm
        return shown

    return parts.override("routes", shown_queue)
