"""Faults of what is shown of queues."""

import json

from harness.wire.fastjson import document
from reference_impl.broker.queue_inspection import QueueInspection
from reference_impl.broker.store import Store
from reference_impl.mutants.registry import after, mutant
from reference_impl.remoting.reply import Reply


@mutant(Store.entries, "Entries are shown from the beginning of the queue, whatever the index.")
def entries_from_the_beginning(original, self, topic, queue_id, offset, most):
    return original(self, topic, queue_id, 0, most)


@mutant(Store.entries, "All entries from the index on are shown.")
def entries_without_end(original, self, topic, queue_id, offset, most):
    return original(self, topic, queue_id, offset, 1 << 30)


@mutant(Store.entries, "The entries of a queue do not have the hash codes of tags.")
def entries_without_tags(original, self, topic, queue_id, offset, most):
    return [(place, size, 0) for place, size, _ in original(self, topic, queue_id, offset, most)]


@mutant(QueueInspection.exists, "Every queue exists.")
def entries_of_any_queue(original, self, topic, queue_id):
    return True


@mutant(QueueInspection.entries, "An index that a queue does not have is refused.")
def entries_beyond_the_end_are_an_error(original, self, command, connection, now):
    reply = original(self, command, connection, now)
    return reply if reply.body else Reply(1, remark=reply.remark)


@mutant(QueueInspection.subscription, "The subscription of another group is shown, if one is online.")
def entries_with_any_subscription(original, self, group, topic):
    return original(self, next(iter(self.broker.clients.consumers), group), topic)


@mutant(QueueInspection.subscription, "The subscription of a group is not shown.")
def entries_without_subscription(original, self, group, topic):
    return {} if group is None else original(self, "", topic)


@mutant(QueueInspection.span, "The times of the first and the last message are swapped.")
def spans_swap_their_ends(original, self, group, topic, queue_id, now):
    span = original(self, group, topic, queue_id, now)
    swapped = {"minTimeStamp": "maxTimeStamp", "maxTimeStamp": "minTimeStamp"}
    named = swapped | {f"{name}Str": f"{other}Str" for name, other in swapped.items()}
    return {name: span[named.get(name, name)] for name in span}


@mutant(QueueInspection.span, "The times of queues are those of a group that has consumed nothing.")
def spans_forget_the_group(original, self, group, topic, queue_id, now):
    return original(self, "", topic, queue_id, now)


@mutant(QueueInspection.span, "The texts of times are a second late.")
def spans_are_late(original, self, group, topic, queue_id, now):
    span = original(self, group, topic, queue_id, now)
    seconds = f"{(int(span['maxTimeStampStr'][17:19]) + 1) % 60:02d}"
    return {**span, "maxTimeStampStr": span["maxTimeStampStr"][:17] + seconds + span["maxTimeStampStr"][19:]}


@mutant(QueueInspection.span, "No message of a queue has waited.")
def spans_without_delay(original, self, group, topic, queue_id, now):
    return {**original(self, group, topic, queue_id, now), "delayTime": 0}


@mutant(QueueInspection.time_spans, "A topic that does not exist has no queues.")
def spans_of_any_topic(original, self, command, connection, now):
    reply = original(self, command, connection, now)
    return reply if reply.code == 0 else Reply(0, body=document({"consumeTimeSpanSet": []}))


@after(QueueInspection.entries, "Code 321 says that each queue begins at 0.")
def entries_begin_at_zero(reply):
    if reply.body:
        reply.body = document({**json.loads(reply.body), "minQueueIndex": 0})


@mutant(QueueInspection.span, "The times of a queue begin with a message that is gone.")
def spans_begin_at_zero(original, self, group, topic, queue_id, now):
    first = self.stored(topic, queue_id, 0)
    return {**original(self, group, topic, queue_id, now), "minTimeStamp": first}
