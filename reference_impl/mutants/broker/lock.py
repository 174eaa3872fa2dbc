"""Mutants of the chapter lock."""

import msgspec

from harness.wire import Command
from harness.wire.bodies import LockRequest
from harness.wire.broker_codes import BrokerResponse
from reference_impl.broker.locks import Lock, Locks
from reference_impl.broker.parts import Parts
from reference_impl.mutants.broker import mutant
from reference_impl.remoting.reply import Reply


@mutant("locks-are-given-to-all", "A queue that is locked is given to whoever asks for it.")
def locks_are_given_to_all(parts: Parts) -> Parts:
    def may_lock(self: Locks, known: Lock, client: str | None, now: int) -> bool:
        return True

    return parts.override("locks", may_lock)


@mutant("locks-are-given-once", "Who has a lock does not get it again.")
def locks_are_given_once(parts: Parts) -> Parts:
    def may_lock(self: Locks, known: Lock, client: str | None, now: int) -> bool:
        return self.is_over(known.renewed, now)

    return parts.override("locks", may_lock)


@mutant("locks-last-for-ever", "A lock is never over.")
def locks_last_for_ever(parts: Parts) -> Parts:
    def is_over(self: Locks, renewed: int, now: int) -> bool:
        return False

    return parts.override("locks", is_over)


@mutant("locks-last-for-half-a-minute", "A lock is over after 30 s.")
def locks_last_for_half_a_minute(parts: Parts) -> Parts:
    def is_over(self: Locks, renewed: int, now: int) -> bool:
        return now - renewed > 30_000

    return parts.override("locks", is_over)


@mutant("locks-are-not-given-up", "A lock that its holder gives up stays.")
def locks_are_not_given_up(parts: Parts) -> Parts:
    def may_unlock(self: Locks, holder: str | None, client: str | None) -> bool:
        return False

    return parts.override("locks", may_unlock)


@mutant("anybody-gives-up-locks", "Any client can give up the lock of another.")
def anybody_gives_up_locks(parts: Parts) -> Parts:
    def may_unlock(self: Locks, holder: str | None, client: str | None) -> bool:
        return True

    return parts.override("locks", may_unlock)


@mutant("locks-are-of-all-groups", "A lock keeps the clients of all groups from the queue.")
def locks_are_of_all_groups(parts: Parts) -> Parts:
    def asked(self: Locks, command: Command) -> LockRequest:
        return msgspec.structs.replace(parts.locks.asked(self, command), consumer_group="all")

    return parts.override("locks", asked)


@mutant("locks-need-a-topic", "Queues of a topic that does not exist are not locked.")
def locks_need_a_topic(parts: Parts) -> Parts:
    def asked(self: Locks, command: Command) -> LockRequest:
        found = parts.locks.asked(self, command)
        queues = [queue for queue in found.mq_set if self.broker.topics.get(queue.topic or "") is not None]
        return msgspec.structs.replace(found, mq_set=queues)

    return parts.override("locks", asked)


@mutant("no-locks-are-no-answer", "Where no queue is given, the answer has no list.")
def no_locks_are_no_answer(parts: Parts) -> Parts:
    def lock(self: Locks, command: Command, connection: int, now: int) -> Reply:
        if not self.asked(command).mq_set:
            return Reply(BrokerResponse.SUCCESS)
        return parts.locks.lock(self, command, connection, now)

    return parts.override("locks", lock)
