"""Faults of resets of offsets."""

import msgspec

from harness.wire import RequestCode, ResponseCode
from reference_impl.broker.offsets import Offsets
from reference_impl.broker.resets import Resets
from reference_impl.mutants.registry import V4, V5, mutant
from reference_impl.remoting import fields
from reference_impl.remoting.reply import Reply

from .answering import answered


@mutant(Offsets.reset, "The server answers a reset without changing offsets.", V5)
def resets_change_nothing(original, self, group, topic, queue_id, offset, now):
    return


@answered(
    RequestCode.INVOKE_BROKER_TO_RESET_OFFSET,
    "Resetting an unknown topic or group succeeds.",
    V5,
    if_refused=True,
)
def resets_of_unknown_succeed():
    return Reply(0)


@answered(
    RequestCode.INVOKE_BROKER_TO_RESET_OFFSET,
    "A reset succeeds although no consumer is online.",
    V4,
    if_refused=True,
)
def resets_need_nobody():
    return Reply(0)


@mutant(Offsets.take_reset, "A reset offset is returned to every pull from then on.", V5)
def resets_are_told_for_ever(original, self, group, topic, queue_id):
    offset = original(self, group, topic, queue_id)
    if offset is not None:
        self.reset(group, topic, queue_id, offset, 0)
    return offset


@mutant(Offsets.take_reset, "After the reset of several queues, only one of them is reported.", V5)
def one_reset_queue_is_told(original, self, group, topic, queue_id):
    offset = original(self, group, topic, queue_id)
    self._resets.pop(f"{topic}@{group}", None)
    return offset


@mutant(Offsets.take_reset, "A reset offset is returned to a pull of any group.", V5)
def resets_are_told_to_all_groups(original, self, group, topic, queue_id):
    for key in list(self._resets):
        name, _, of = key.partition("@")
        if name == topic:
            return original(self, of, topic, queue_id)
    return None


@mutant(Offsets.is_reset, "Commits count although a reset has not been returned to the consumer.", V5)
def commits_undo_resets(original, self, group, topic, queue_id):
    return False


@mutant(Offsets.is_reset, "Commits for any queue do not count until the resets of all were returned.", V5)
def resets_block_commits_of_the_topic(original, self, group, topic, queue_id):
    return f"{topic}@{group}" in self._resets


@mutant(Offsets.is_reset, "Commits of any group do not count until a reset was returned.", V5)
def resets_block_commits_of_the_queue(original, self, group, topic, queue_id):
    return any(key.startswith(f"{topic}@") and queue_id in queues for key, queues in self._resets.items())


@mutant(Resets.reset_here, "A reset of one queue resets all of them.", V5)
def resets_are_of_all_queues(original, self, command, topic, group, timestamp, now):
    ext = {key: value for key, value in (command.ext or {}).items() if key != "queueId"}
    return original(self, msgspec.structs.replace(command, ext=ext), topic, group, timestamp, now)


@mutant(Resets.reset_here, "A reset that goes beyond the queue succeeds.", V5)
def resets_go_anywhere(original, self, command, topic, group, timestamp, now):
    reply = original(self, command, topic, group, timestamp, now)
    is_beyond = (reply.remark or "").startswith("Target offset")
    return Reply(ResponseCode.SUCCESS, body=self.table(topic, {}).encode()) if is_beyond else reply


@mutant(Resets.reset_here, "A reset of no queue succeeds.", V5)
def resets_need_queues(original, self, command, topic, group, timestamp, now):
    reply = original(self, command, topic, group, timestamp, now)
    is_none = (reply.remark or "").startswith("No queues")
    return Reply(ResponseCode.SUCCESS, body=self.table(topic, {}).encode()) if is_none else reply


@mutant(Resets.at, "A reset to a time goes to the beginning of each queue.", V5)
def resets_to_a_time_go_to_the_beginning(original, self, topic, queue, timestamp):
    return original(self, topic, queue, min(timestamp, 0))


@mutant(Resets.reset_here, "An offset is reset to a message that is gone.", V5)
def resets_go_to_what_is_gone(original, self, command, topic, group, timestamp, now):
    queue, offset = fields.int32(command.ext, "queueId"), fields.int64(command.ext, "offset")
    if queue is None or offset is None or not 0 <= offset < self.broker.store.min_offset(topic, queue):
        return original(self, command, topic, group, timestamp, now)
    self.broker.offsets.reset(group, topic, queue, offset, now)
    return Reply(ResponseCode.SUCCESS, body=self.table(topic, {queue: offset}).encode())
