"""Mutants of the chapter replication: where pushes, messages and files of the log end."""

from harness.wire.messages import SysFlag
from reference_impl.broker.master_link import MasterLink
from reference_impl.broker.store import Store
from reference_impl.broker.store.storage import StoreError
from reference_impl.broker.transactions import Transactions
from reference_impl.mutants.registry import V4, V5, mutant


@mutant(MasterLink.has_room_for, "The header of a push does not count for how long it may be.")
def slave_has_room_for_more(original, self, size):
    return original(self, size - 12)


@mutant(MasterLink.has_room_for, "A slave has room for one byte less.")
def slave_has_room_for_less(original, self, size):
    return original(self, size + 1)


@mutant(Store.catch_up, "The beginning of a message where a file of the log begins is taken for damage.")
def slave_stays_down_after_half_a_message(original, self):
    end, files = self._log.end, self._log.files()
    original(self)
    if self._log.end < end and self._log.end in files:
        raise StoreError("half a message")


@mutant(Store.offset_at, "When messages of hosts with IPv6 were stored is read where it is in others.")
def times_are_behind_short_hosts(original, self, topic, queue_id, timestamp, *, upper=False):
    return _offset_at(self, topic, queue_id, timestamp, lambda frame: frame[56:64])


@mutant(Store.offset_at, "When messages of hosts with IPv6 were stored is read without its last byte.")
def times_end_early_behind_long_hosts(original, self, topic, queue_id, timestamp, *, upper=False):
    return _offset_at(self, topic, queue_id, timestamp, lambda frame: frame[68:75])


@mutant(Store.timestamp_of, "The earliest time of a queue is read as with hosts of IPv4.")
def earliest_times_are_behind_short_hosts(original, self, topic, queue_id, offset):
    time = original(self, topic, queue_id, offset)
    return None if time is None else _time(self, topic, queue_id, offset, lambda frame: frame[56:64])


def _offset_at(store, topic, queue_id, timestamp, of_long):
    offsets = range(store.min_offset(topic, queue_id), store.max_offset(topic, queue_id))
    return next(
        (offset for offset in offsets if _time(store, topic, queue_id, offset, of_long) >= timestamp), 0
    )


def _time(store, topic, queue_id, offset, of_long):
    frame = store.get(topic, queue_id, offset, 1).frames[0]
    is_long = int.from_bytes(frame[36:40]) & SysFlag.BORN_HOST_V6.value
    return int.from_bytes(of_long(frame) if is_long else frame[56:64])


# --- when a slave comes again, and what it does once it is a master -----------------------------------------


@mutant(MasterLink.again_at, "A slave connects anew at once.", V5)
def slave_comes_again_without_a_wait(original, self, now):
    return now


@mutant(MasterLink.lost, "A slave waits before it connects to a master anew that has left.", V4)
def slave_waits_when_it_is_left(original, self, connection, now):
    is_left = connection == self._connection
    original(self, connection, now)
    if is_left:
        self._dial_at = now + 5_000


@mutant(MasterLink._leave, "A slave waits before it connects to a master anew that it has left.", V4)
def slave_waits_when_it_has_left(original, self, again_at):
    original(self, again_at + 5_000)


@mutant(
    Transactions._catch_up, "A slave that has become a master does not know half messages that it was pushed."
)
def pushed_transactions_cannot_be_ended(original, self):
    return


@mutant(Transactions._catch_up, "A slave that has become a master knows one of the pushed half messages.")
def promoted_slaves_end_one_transaction(original, self):
    original(self)
    for offset in list(self.open)[1:]:
        self.forget(offset)
