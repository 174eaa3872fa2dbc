"""Mutants of the chapter lock."""

import msgspec

from harness.wire import ResponseCode
from harness.wire.bodies import LockedQueues, LockRequest
from reference_impl.broker.locks import Lock, Locks
from reference_impl.mutants.registry import after, mutant
from reference_impl.remoting.reply import Reply


@mutant(Locks.may_lock, "Any client can lock a queue that is already locked.")
def locks_are_given_to_all(original, self, known, client, now):
    return True


@mutant(Locks.may_lock, "A client cannot renew its own lock.")
def locks_are_given_once(original, self, known, client, now):
    return self.is_over(known.renewed, now)


@after(Locks.asked, "A lock holds for a topic and a queue number, whatever the Broker name.")
def locks_are_of_all_brokers(asked):
    queues = [msgspec.structs.replace(queue, broker_name="any") for queue in asked.mq_set]
    asked.mq_set = queues


@mutant(Locks.is_over, "A lock never expires.")
def locks_last_for_ever(original, self, renewed, now):
    return False


@mutant(Locks.is_over, "A lock expires after 30 s.")
def locks_last_for_half_a_minute(original, self, renewed, now):
    return now - renewed > 30_000


@mutant(Locks.lock, "A lock ends 60 s after its holder first got it.")
def locks_last_from_the_first_request(original, self, command, connection, now):
    asked = self.asked(command)
    locks = self._locks.get(asked.consumer_group, {})
    before = {queue: locks[queue] for queue in asked.mq_set if queue in locks}
    reply = original(self, command, connection, now)
    for queue, known in before.items():
        if known.client == locks[queue].client:
            locks[queue] = known
    return reply


@mutant(Locks.lock, "A client that locks a queue renews all the locks of its group.")
def whole_groups_are_renewed(original, self, command, connection, now):
    reply = original(self, command, connection, now)
    for lock in self._locks[self.asked(command).consumer_group].values():
        if not self.is_over(lock.renewed, now):
            lock.renewed = now
    return reply


@mutant(Locks.may_unlock, "A lock remains after its holder releases it.")
def locks_are_not_given_up(original, self, holder, client):
    return False


@mutant(Locks.unlock, "Only the first queue of a request is released.")
def one_lock_is_given_up(original, self, command, connection, now):
    asked = self.asked(command)
    first = LockRequest(asked.client_id, asked.consumer_group, asked.mq_set[:1])
    return original(self, msgspec.structs.replace(command, body=first.encode()), connection, now)


@mutant(Locks.may_unlock, "Any client can release another client's lock.")
def anybody_gives_up_locks(original, self, holder, client):
    return True


@mutant(Locks.asked, "A lock excludes clients of all groups.")
def locks_are_of_all_groups(original, self, command):
    return msgspec.structs.replace(original(self, command), consumer_group="all")


@after(Locks.asked, "Queues of an unknown topic cannot be locked.")
def locks_need_a_topic(found, self):
    queues = [queue for queue in found.mq_set if self.broker.topics.get(queue.topic or "") is not None]
    return msgspec.structs.replace(found, mq_set=queues)


@mutant(Locks.lock, "The response lacks the list if no queue is locked.")
def no_locks_are_no_answer(original, self, command, connection, now):
    if not self.asked(command).mq_set:
        return Reply(ResponseCode.SUCCESS)
    return original(self, command, connection, now)


@mutant(Locks.asked, "A lock without a group is one of a default group.")
def locks_need_no_group(original, self, command):
    body = msgspec.json.encode({"consumerGroup": "DEFAULT", **msgspec.json.decode(command.body)})
    return original(self, msgspec.structs.replace(command, body=body))


@mutant(Locks.asked, "A lock without a client is one of a default client.")
def locks_need_no_client(original, self, command):
    found = original(self, command)
    return msgspec.structs.replace(found, client_id=found.client_id or "DEFAULT")


@mutant(Locks.lock, "A request without a client is refused only if no queue of it is locked.")
def locks_beside_others_need_no_client(original, self, command, connection, now):
    asked = self.asked(command)
    locks = self._locks.get(asked.consumer_group, {})
    if asked.client_id is None and any(queue in locks for queue in asked.mq_set):
        return Reply(ResponseCode.SUCCESS, body=LockedQueues([]).encode())
    return original(self, command, connection, now)


@mutant(Locks.lock, "A request without a client leaves locks without a holder.")
def refused_locks_stay(original, self, command, connection, now):
    asked = self.asked(command)
    if asked.client_id is None:
        locks = self._locks.setdefault(asked.consumer_group, {})
        for queue in asked.mq_set:
            locks.setdefault(queue, Lock(None, now))
    return original(self, command, connection, now)
