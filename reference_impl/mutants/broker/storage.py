"""Mutants of the chapter storage: what does not survive, and offsets that are given wrongly."""

from harness.wire.messages import PropertyName
from reference_impl.broker.delays import Delays
from reference_impl.broker.retention import Retention
from reference_impl.broker.runtime import Runtime
from reference_impl.broker.store import Store
from reference_impl.broker.store.recovery import messages_from
from reference_impl.broker.topics import Topics
from reference_impl.mutants.registry import V5, after, mutant
from reference_impl.remoting.reply import Reply


@mutant(Store.max_offset, "Queue offsets grow by two.")
def offsets_skip_one(original, self, topic, queue_id):
    return 2 * original(self, topic, queue_id)


@mutant(Store.max_offset, "All queues of a topic share one offset counter.")
def queues_share_offsets(original, self, topic, queue_id):
    queues = self.topics().get(topic, [])
    return sum(original(self, topic, queue) for queue in queues)


@mutant(Store.commit, "Stored messages stay in memory until a buffer is full.")
def hands_over_late(original, self):
    return


@mutant(Store.catch_up, "Queues are empty after a restart.")
def queues_begin_anew(original, self):
    original(self)
    for topic in list(self.topics()):
        self.delete_topic(topic)


@after(Store.by_key, "After a restart, a search does not find older messages by key.")
def keys_are_forgotten(found, self):
    return [offset for offset in found if offset >= vars(self)["began"]]


@keys_are_forgotten.also(Store.catch_up)
def _(original, self):
    original(self)
    vars(self)["began"] = self.physical_range()[1]


@mutant(Store.catch_up, "After a topic was deleted, a restart keeps the queues of one topic only.")
def restarts_keep_one_topic(original, self):
    for topic in list(self._queues)[1:]:
        del self._queues[topic]
    original(self)


@mutant(Store.catch_up, "After a topic was deleted, a restart keeps one queue of each topic.")
def restarts_keep_one_queue(original, self):
    for queues in self._queues.values():
        for queue_id in list(queues)[1:]:
            del queues[queue_id]
    original(self)


@mutant(Store.delete_before, "Expired files are never deleted.")
def old_files_stay(original, self, physical_offset):
    return


@mutant(Store.min_offset, "The lowest offset of a queue is always 0.")
def low_offsets_stay(original, self, topic, queue_id):
    return 0


@mutant(Store.catch_up, "After a restart, a queue whose messages have all expired begins at 0.")
def empty_queues_begin_anew(original, self):
    original(self)
    self.delete_empty_queues(keep="")


@mutant(Store.first_file_since, "Of files that have all expired, two stay.")
def two_files_stay(original, self, timestamp):
    found, files = original(self, timestamp), self.log_files()
    return files[-2] if len(files) > 1 and found == files[-1] else found


@mutant(Store.first_file_since, "Files expire at once.")
def files_expire_at_once(original, self, timestamp):
    return original(self, 1 << 60)


@mutant(Retention.is_time, "Expired files are deleted at any hour.")
def files_expire_at_any_hour(original, self, now):
    return True


@mutant(Store.catch_up, "After a restart, only the last file of the log is kept.")
def restarts_keep_the_last_file(original, self):
    original(self)
    if self._log.files():
        self.delete_before(self._log.files()[-1])


@mutant(Store.catch_up, "After a restart, the file that was begun takes no more messages.")
def restarts_forget_the_file(original, self):
    original(self)
    self._log._full_at = self._log.end


@mutant(Store._begins_file, "A message may lie in two files of the log.")
def files_have_no_end(original, self, size):
    return False


@mutant(Store._begins_file, "A message may fill a file of the log but for 7 bytes.")
def blanks_need_no_room(original, self, size):
    return original(self, size - 1)


@mutant(Store._begins_file, "A message leaves at least 9 bytes of a file of the log.")
def blanks_need_more_room(original, self, size):
    return original(self, size + 1)


@mutant(Store.delete_empty_queues, "Cleaning removes the first queue without messages only.")
def cleaning_removes_one_queue(original, self, *, keep):
    for topic, queues in list(self._queues.items()):
        for queue_id, queue in list(queues.items()):
            if topic != keep and queue.min_offset == queue.max_offset:
                self._queues[topic].pop(queue_id)
                return


@mutant(Store.delete_empty_queues, "Cleaning removes the queues in which messages wait for their level.")
def cleaning_removes_queues_of_the_delay(original, self, *, keep):
    original(self, keep="")


@mutant(Store.delete_empty_queues, "Cleaning removes no queue.")
def cleaning_removes_no_queue(original, self, *, keep):
    return


@mutant(Store.delete_empty_queues, "A queue that was cleaned away is back after a restart.")
def cleaned_queues_come_back(original, self, *, keep):
    for queues in self._queues.values():
        for queue_id, queue in list(queues.items()):
            if queue.min_offset == queue.max_offset:
                del queues[queue_id]


@mutant(
    Store.catch_up, "After a kill, queues that have got many messages since the last checkpoint begin there."
)
def queues_begin_at_the_last_checkpoint(original, self):
    queues = [queue for queues in self._queues.values() for queue in queues.values()]
    ends = [queue.max_offset for queue in queues]
    original(self)
    for queue, end in list(zip(queues, ends, strict=True))[1:]:
        if queue.max_offset - end > 3_000:
            queue.min_offset = end


@mutant(Store.catch_up, "After a restart, the keys of all messages are in the index twice.")
def keys_are_read_twice(original, self):
    original(self)
    for message in messages_from(self._log, self._log.start):
        for key in message.properties.get(PropertyName.KEYS, "").split():
            self._index.add(message.topic, [key], message.physical_offset, message.store_timestamp)


@mutant(Store.catch_up, "After a restart, messages that begin behind the first 4 MiB of the log are lost.")
def recovery_ends_behind_four_megabytes(original, self):
    for message in messages_from(self._log, self._log.start):
        if message.physical_offset + message.size > self._log.start + (1 << 22):
            self._log.cut(message.physical_offset)
            break
    original(self)


@mutant(Store.catch_up, "After a restart, a message of more than 4 MiB and all behind it are lost.")
def recovery_ends_at_a_large_message(original, self):
    for message in messages_from(self._log, self._log.start):
        if message.size > 1 << 22:
            self._log.cut(message.physical_offset)
            break
    original(self)


@mutant(Store._frames_of, "A batch for which a file has no room is in the next one, and not where it says.")
def batches_keep_the_place_they_had(original, self, messages, now):
    known, frames, places = vars(self).get("tried", (None, [], []))
    if known is not messages:
        frames = original(self, messages, now)
        vars(self)["tried"] = messages, frames, [one.physical_offset for one in messages]
        return frames
    for message, place in zip(messages, places, strict=True):
        message.physical_offset = place
    return frames


@mutant(Topics.delete, "A deleted topic exists again after a restart.")
def deleted_topics_come_back(original, self, topic, now):
    return self.table.pop(topic, None) is not None


@mutant(Store.delete_topic, "A topic that is created again begins with the messages of the deleted one.")
def deleted_queues_come_back(original, self, topic):
    self._queues.pop(topic, None)
    self.checkpoint()


@mutant(Retention.delete_when_asked, "The server refuses to delete files that have expired.")
def deletion_of_files_is_refused(original, self, command, connection, now):
    return Reply(1)


@mutant(Retention.tick, "A look deletes all files that have expired.")
def looks_delete_all_files(original, self, now):
    files = len(self.broker.store.log_files())
    original(self, now)
    while files != (left := len(self.broker.store.log_files())):
        files = left
        original(self, now)


@mutant(Store.delete_before, "A look deletes one file at the most.")
def looks_delete_one_file(original, self, physical_offset):
    original(self, min([physical_offset, *self.log_files()[1:2]]))


@mutant(Retention.is_urgent, "Files that have not expired are deleted when asked for.")
def young_files_go_when_asked(original, self, used):
    return original(self, used) or self._asked > 0


@mutant(
    Retention.delete_when_asked,
    "Expired files stay until their hour, even when asked for.",
    V5,
)
def expired_files_stay_when_asked(original, self, command, connection, now):
    return Reply(0)


@mutant(Retention.tick, "Once asked to, the server deletes expired files at any hour from then on.", V5)
def expired_files_never_stay_once_asked(original, self, now):
    asked = self._asked
    original(self, now)
    self._asked = asked


@mutant(Retention.tick, "The server looks for expired files every 10 s, whatever the settings say.")
def expired_files_are_looked_for_every_10_s(original, self, now):
    original(self, now)
    self._next = now + 10_000


@mutant(Retention.is_short, "Expired files stay until their hour, however full the disk is.")
def expired_files_stay_on_a_full_disk(original, self, used):
    return False


@mutant(Runtime.information, "The state says that the disk is empty.")
def disk_is_empty(original, self, now):
    return original(self, now) | {"commitLogDiskRatio": "0.0"}


@mutant(Retention.is_urgent, "Files stay until they expire, however full the disk is.", V5)
def oldest_files_stay_on_a_full_disk(original, self, used):
    return False


@mutant(Retention.is_urgent, "The oldest files go although the settings keep them.", V5)
def oldest_files_go_against_the_settings(original, self, used):
    return used > self.config.clean_forcibly_above


@mutant(Retention.is_full, "The server stores messages however full its disk is.", V5)
def full_disks_take_messages(original, self, used):
    return False


@mutant(Store.put_batch, "The server stores batches however full its disk is.", V5)
def full_disks_take_batches(original, self, messages, now):
    full, self.is_full = self.is_full, False
    puts = original(self, messages, now)
    self.is_full = full
    return puts


@mutant(Retention.is_full, "A disk that was full once counts as full from then on.", V5)
def full_disks_stay_full(original, self, used):
    return self.broker.store.is_full or original(self, used)


@mutant(Delays.tick, "Delayed messages are delivered however full the disk is.", V5)
def full_disks_take_what_was_delayed(original, self, now):
    store = self.broker.store
    full, store.is_full = store.is_full, False
    original(self, now)
    store.is_full = full


@full_disks_take_what_was_delayed.also(Delays.next_tick)
def _(original, self):
    store = self.broker.store
    full, store.is_full = store.is_full, False
    due = original(self)
    store.is_full = full
    return due


@mutant(Delays.tick, "Delayed messages whose time comes while the disk is full are lost.", V5)
def full_disks_lose_what_was_delayed(original, self, now):
    if self.broker.store.is_full:
        self.offsets |= {level: self.offsets[level] + 1 for level, due in self._due.items() if due <= now}
        self._due = {level: due for level, due in self._due.items() if due > now}
    original(self, now)


@full_disks_lose_what_was_delayed.also(Delays.next_tick)
def _(original, self):
    return min(original(self), min(self._due.values(), default=1 << 62))
