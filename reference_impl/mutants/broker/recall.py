"""Mutants of the chapter recall."""

from harness.wire import ResponseCode
from harness.wire.messages import PropertyName
from reference_impl.broker.recalls import Recalls
from reference_impl.broker.timers import DELETES, Timers
from reference_impl.mutants.registry import V5, V55, after, mutant


@mutant(Timers.recalled, "A recall deletes nothing.", V5)
def recalls_delete_nothing(original, self, messages):
    return set()


@mutant(Timers.recalled, "A recall deletes all messages of its moment.", V5)
def recalls_delete_all(original, self, messages):
    found = original(self, messages)
    return found and {self.key_of(message) for message in messages}


@mutant(Timers.recalled, "Of the recalls for one moment, only one deletes something.", V5)
def recalls_delete_one(original, self, messages):
    return set(sorted(original(self, messages))[:1])


@mutant(Timers.names_topics, "A deletion names the unique key alone.", V5)
def deletions_name_no_topic(original, self):
    return False


@mutant(Timers.names_topics, "A deletion names topic and unique key, whatever the setting.", V55)
def deletions_always_name_a_topic(original, self):
    return True


@mutant(Timers.recalled, "A deletion deletes only messages of the topic to which it was sent.", V5)
def deletions_are_of_their_own_topic(original, self, messages):
    found = [message for message in messages if DELETES in message.properties]
    topics = {message.properties[DELETES]: message.properties[PropertyName.REAL_TOPIC] for message in found}
    return {name for name, topic in topics.items() if name.startswith(f"{topic}+")}


@mutant(Timers.recalled, "A deletion deletes what is due later, too.", V5)
def deletions_last(original, self, messages):
    known = vars(self.broker).setdefault("_deletions", set())
    known |= original(self, messages)
    return set(known)


@after(Recalls.recall, "The answer to a recall does not have the key of the message.", V5)
def recalls_do_not_say_what(reply):
    reply.ext.pop("msgId", None)


@mutant(Timers._deliver, "A recall is delivered as a message.", V5)
def deletions_are_delivered(original, self, messages, now):
    recalled = self.recalled(messages)
    for message in messages:
        message.properties.pop(DELETES, None)
    original(self, [one for one in messages if one.body == b"0" or not recalled], now)


@mutant(Timers._read_again, "A restart forgets recalls.", V5)
def deletions_are_forgotten(original, self):
    original(self)
    kept = [entry for entry in self._waiting if DELETES not in self._message(entry[1]).properties]
    self._waiting[:] = kept


@mutant(Recalls.closed, "Recalls are allowed without recallMessageEnable.", V5)
def recalls_are_always_enabled(original, self, now):
    return None if not self.config.recall_message_enable else original(self, now)


@mutant(Recalls.closed, "Recalls are allowed whatever the permission of the Broker.", V5)
def recalls_whatever_may_be_written(original, self, now):
    found = original(self, now)
    return None if found is not None and found.code == ResponseCode.SERVICE_NOT_AVAILABLE else found


@mutant(Recalls.closed, "A slave looks at recalls as a master does.", V5)
def slaves_recall(original, self, now):
    found = original(self, now)
    return None if found is not None and found.code == ResponseCode.SLAVE_NOT_AVAILABLE else found


@mutant(Recalls.handle, "Any text is a handle.", V5)
def any_handle_is_one(original, self, text):
    return original(self, text) or ("", "", "", "")


@mutant(Recalls.fault, "A handle may be of another topic.", V5)
def handles_of_any_topic(original, self, topic, of_topic, broker, time, now):
    return original(self, topic, topic, broker, time, now)


@mutant(Recalls.fault, "A handle may be of another Broker.", V5)
def handles_of_any_broker(original, self, topic, of_topic, broker, time, now):
    return original(self, topic, of_topic, self.config.broker_name, time, now)


@mutant(Recalls.fault, "A handle may be of any time.", V5)
def handles_of_any_time(original, self, topic, of_topic, broker, time, now):
    return original(self, topic, of_topic, broker, str(now + 1000), now)


@mutant(Recalls.knows, "A recall may be of a topic that does not exist.", V5)
def recalls_of_any_topic(original, self, topic):
    return True


@mutant(Recalls.handle, "A handle without its padding is none.", V5)
def handles_need_their_padding(original, self, text):
    return None if len(text) % 4 else original(self, text)


@mutant(Recalls.closed, "Recalls are taken before startAcceptSendRequestTimeStamp.", V5)
def recalls_are_early(original, self, now):
    return original(self, max(now, self.config.start_accept_send_request_time_stamp))


@mutant(Timers._counts, "A recall counts as one more message that waits.", V5)
def recalls_are_counted_as_messages(original, self, message):
    return 1
