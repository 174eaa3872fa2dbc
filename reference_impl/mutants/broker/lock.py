"""Mutants of the chapter lock."""

import msgspec

from harness.wire import ResponseCode
from reference_impl.broker.locks import Locks
from reference_impl.mutants.registry import after, mutant
from reference_impl.remoting.reply import Reply


@mutant(Locks.may_lock, "A locked queue is given to any client that asks for it.")
def locks_are_given_to_all(original, self, known, client, now):
    return True


@mutant(Locks.may_lock, "The holder of a lock does not get it again.")
def locks_are_given_once(original, self, known, client, now):
    return self.is_over(known.renewed, now)


@mutant(Locks.is_over, "A lock is never over.")
def locks_last_for_ever(original, self, renewed, now):
    return False


@mutant(Locks.is_over, "A lock is over after 30 s.")
def locks_last_for_half_a_minute(original, self, renewed, now):
    return now - renewed > 30_000


@mutant(Locks.may_unlock, "A lock that its holder gives up stays.")
def locks_are_not_given_up(original, self, holder, client):
    return False


@mutant(Locks.may_unlock, "Any client can give up the lock of another.")
def anybody_gives_up_locks(original, self, holder, client):
    return True


@mutant(Locks.asked, "A lock keeps the clients of all groups from the queue.")
def locks_are_of_all_groups(original, self, command):
    return msgspec.structs.replace(original(self, command), consumer_group="all")


@after(Locks.asked, "Queues of a topic that does not exist are not locked.")
def locks_need_a_topic(found, self):
    queues = [queue for queue in found.mq_set if self.broker.topics.get(queue.topic or "") is not None]
    return msgspec.structs.replace(found, mq_set=queues)


@mutant(Locks.lock, "Where no queue is given, the answer has no list.")
def no_locks_are_no_answer(original, self, command, connection, now):
    if not self.asked(command).mq_set:
        return Reply(ResponseCode.SUCCESS)
    return original(self, command, connection, now)
