"""Mutants of the chapter transaction."""

from types import SimpleNamespace

import msgspec

from harness.wire import ResponseCode
from harness.wire.messages import PropertyName, SysFlag, TopicName
from reference_impl.broker.config import Config
from reference_impl.broker.delays import Delays
from reference_impl.broker.sends import Sends
from reference_impl.broker.store import PutStatus, Store
from reference_impl.broker.transactions import CHECKING_GROUP, Transactions
from reference_impl.mutants.registry import V4, V5, after, mutant
from reference_impl.remoting.reply import RefusedError, Reply

_COMMIT, _ROLL_BACK = "8", "12"


@mutant(Sends.stored, "A half message is stored in its target queue.")
def half_messages_are_visible(original, self, message, now):
    message.sys_flag &= ~SysFlag.TRANSACTION_ROLLBACK.value
    return self.broker.store.put(message, now)


@mutant(Sends.is_half, "A half message that was consumed before and has a delay is one, too.", V5)
def retried_messages_are_halves(original, self, message):
    return original(self, msgspec.structs.replace(message, reconsume_times=0))


@mutant(Sends.is_half, "A half message that was consumed before is none.", V5)
def retried_halves_are_none(original, self, message):
    return not message.reconsume_times and original(self, message)


@mutant(Transactions.end, "A rollback commits.")
def roll_backs_commit(original, self, command, connection, now):
    command.ext = {**(command.ext or {}), "commitOrRollback": _COMMIT}
    return original(self, command, connection, now)


@mutant(Transactions.end, "A commit rolls back.")
def commits_are_lost(original, self, command, connection, now):
    command.ext = {**(command.ext or {}), "commitOrRollback": _ROLL_BACK}
    return original(self, command, connection, now)


@after(Transactions.committed, "A committed message loses its properties.")
def commits_lose_properties(message):
    message.properties = {}


@after(Transactions.committed, "A committed message lacks the commit bits.")
def commits_lose_flags(message):
    message.sys_flag = 0


@mutant(Transactions.end, "The server answers END_TRANSACTION with commitOrRollback 0.")
def unknown_ends_are_answered(original, self, command, connection, now):
    return original(self, command, connection, now) or Reply(0)


@mutant(Transactions.end, "An invalid commitOrRollback commits.")
def odd_ends_commit(original, self, command, connection, now):
    ext = command.ext or {}
    if ext.get("commitOrRollback") not in ("0", _COMMIT, _ROLL_BACK):
        command.ext = {**ext, "commitOrRollback": _COMMIT}
    return original(self, command, connection, now)


@mutant(Transactions.fault, "Any group can end a half message.")
def any_group_ends(original, self, half, command):
    found = original(self, half, command)
    return None if found == "The producer group wrong" else found


@mutant(Transactions.fault, "END_TRANSACTION ignores the queue offset.")
def any_queue_offset_ends(original, self, half, command):
    found = original(self, half, command)
    return None if found == "The transaction state table offset wrong" else found


@after(Transactions.end, "Ending an unknown half message succeeds.")
def missing_half_ends(reply):
    is_missing = reply is not None and reply.remark == "Find prepared transaction message failed"
    return Reply(0) if is_missing else reply


@mutant(Transactions.producer, "Producers are never asked about half messages.")
def nobody_is_asked(original, self, group):
    return None


@mutant(Transactions.producer, "Producers of all groups are asked about a half message.")
def any_producer_is_asked(original, self, group):
    members = [connection for one in self.broker.clients.producers.values() for connection in one]
    return members[-1] if members else None


@mutant(Transactions.is_to_check, "Half messages of any age are checked.")
def asked_at_once(original, self, half, now):
    return True


@mutant(Transactions.is_given_up, "A half message is checked without limit.")
def asked_for_ever(original, self, half, now):
    return False


@after(Transactions.question, "The body of a check is the half message as stored.")
def questions_name_half_topic(command, self, copy):
    command.body = self.broker.store.raw_at(copy.physical_offset) or b""


@mutant(Transactions.newest_copy, "Ending a half message after a check has no effect.")
def answers_are_lost(original, self, half):
    is_copy = "TRANSACTION_CHECK_TIMES" in half.properties
    return None if is_copy else original(self, half)


@mutant(Transactions.end, "Completed transactions are checked.")
def ended_are_asked_about(original, self, command, connection, now):
    before = dict(self.open)
    reply = original(self, command, connection, now)
    self.open |= before
    return reply


@mutant(Transactions.is_too_late, "END_TRANSACTION is accepted however late it arrives.", V5)
def late_ends_commit(original, self, half, command, now):
    return False


@mutant(Transactions.is_to_check, "A message that asks for immunity is checked like any other.")
def asked_in_spite_of_immunity(original, self, half, now):
    return original(self, msgspec.structs.replace(half, immunity=None), now)


@after(Transactions.immunity, "The time of immunity is taken for milliseconds.")
def immune_for_milliseconds(found):
    return None if found is None else found // 1_000


@mutant(Transactions.is_to_check, "Half messages from before a restart are not checked.")
def open_transactions_are_forgotten(original, self, half, now):
    return half.stored > self.broker.started and original(self, half, now)


@mutant(Transactions._read_again, "After a restart, questions about a half message are counted anew.")
def restart_forgets_how_often_was_asked(original, self):
    original(self)
    for half in self.open.values():
        half.checked = 0


@mutant(Transactions.newest_copy, "A completed transaction can be ended again.")
def transactions_end_again(original, self, half):
    found = original(self, half)
    return half.queue_offset if found is None else found


@mutant(Store.put, "The mark of a transaction that has ended has no tag.")
def marks_have_no_tag(original, self, message, now):
    if message.topic == TopicName.TRANS_OP_HALF:
        message.properties = {}
    return original(self, message, now)


@mutant(Transactions.mark, "All marks of transactions that have ended name the same half message.")
def marks_name_one_half(original, self, offset):
    return original(self, min(offset, 1))


@mutant(Transactions._note_progress, "How far ends of transactions were read is not noted.")
def marks_make_no_progress(original, self, now):
    original(self, now)
    self.broker.offsets.table.pop(f"{TopicName.TRANS_OP_HALF}@{CHECKING_GROUP}", None)


@mutant(Transactions._note_progress, "How far transactions have ended is not noted.")
def halves_make_no_progress(original, self, now):
    original(self, now)
    self.broker.offsets.table.pop(f"{TopicName.TRANS_HALF}@{CHECKING_GROUP}", None)


@mutant(Transactions._note_progress, "Each check notes a progress, even without transactions.")
def progress_of_nothing_is_noted(original, self, now):
    self.broker.offsets.commit(CHECKING_GROUP, TopicName.TRANS_HALF, 0, 0, now)
    original(self, now)


@mutant(Transactions._check, "A half message that has expired stays open.")
def expired_halves_hold_up(original, self, offset, half, now):
    if self.broker.store.at(half.physical_offset) is not None:
        original(self, offset, half, now)


@after(Transactions.end, "The end of a half message that has expired succeeds.")
def expired_halves_end(reply):
    return Reply(0) if reply is not None and reply.remark is not None else reply


@mutant(Transactions.prepare, "A half message with a delay level is stored as a half message at once.")
def delayed_halves_are_not_delayed(original, self, message, now):
    message.properties.pop(PropertyName.DELAY_TIME_LEVEL, None)
    return original(self, message, now)


@mutant(Delays.time_up, "A half message with a delay level is stored as a half message after its delay.")
def delayed_halves_are_delivered(original, self, message):
    found = original(self, message)
    if found is None:
        properties = {**message.properties, PropertyName.REAL_TOPIC: "TBW102"}
        found = original(self, msgspec.structs.replace(message, properties=properties))
        found.topic = TopicName.TRANS_HALF
    return found


@mutant(Delays._deliver, "A half message with a delay level holds up what is delayed behind it.")
def delayed_halves_hold_up_others(original, self, level, now):
    first = self._look(level)
    if first is None or self.time_up(first) is not None:
        original(self, level, now)
    else:
        del self._due[level]


@mutant(Sends.asked, "A message is in its queue whatever its sysFlag says of transactions.")
def bits_of_halves_do_not_count(original, self, command):
    asked = original(self, command)
    if PropertyName.TRANSACTION_PREPARED not in asked.properties:
        asked.sys_flag &= ~SysFlag.TRANSACTION_ROLLBACK.value
    return asked


@mutant(Transactions._read_again, "A restart forgets which transactions have ended.")
def ends_are_forgotten(original, self):
    for half in self._stored(TopicName.TRANS_HALF):
        self._opened(half)


@after(Transactions.question, "A check from 4.9 names the topic of half messages.", V4)
def questions_49_name_a_topic(command, copy):
    command.ext["topic"] = copy.topic


@after(Transactions.question, "A check lacks the name of the Broker.", V5)
def questions_name_no_broker(command):
    del command.ext["bname"]


@after(Transactions.committed, "A committed message comes from the Broker itself.")
def commits_come_from_the_broker(message, self):
    message.born_host = self.config.address


@mutant(Transactions.producer, "Always the same producer of a group is asked.")
def one_producer_is_asked(original, self, group):
    self._asked = 0
    return original(self, group)


@mutant(Transactions._give_up, "A half message that is given up is given up in each round.")
def given_up_again(original, self, half, now):
    original(self, half, now)
    original(self, half, now)


@after(Transactions.end, "A commit whose message cannot be stored succeeds.")
def commits_that_fail_succeed(reply):
    return reply and (Reply(0) if reply.code == ResponseCode.MESSAGE_ILLEGAL else reply)


@mutant(Transactions.question, "A question calls the message one that was stored when it was asked about.")
def questions_are_about_new_messages(original, self, copy, stored):
    return original(self, copy, copy.store_timestamp)


@mutant(Sends.complete, "A half message loses the property WAIT.", V4)
def halves_lose_their_wait(original, self, properties, now):
    original(self, properties, now)
    if PropertyName.TRANSACTION_PREPARED in properties:
        properties.pop(PropertyName.WAIT_STORE_MSG_OK, None)


@after(Transactions.renewed, "The copy of a half message has the property WAIT.")
def copies_do_not_wait(copy):
    copy.properties[PropertyName.WAIT_STORE_MSG_OK] = "false"


@after(Transactions.renewed, "A half message does not say how often its producer was asked.")
def questions_are_not_counted(copy):
    copy.properties[PropertyName.TRANSACTION_CHECK_TIMES] = "1"


@mutant(Store.put, "A half message does not have the id of its transaction as a property.", V5)
def transactions_have_no_id(original, self, message, now):
    message.properties.pop(PropertyName.TRANSACTION_ID, None)
    return original(self, message, now)


@mutant(Transactions.prepare, "A Broker asks about a half message that is delayed.")
def delayed_halves_are_asked_about(original, self, message, now):
    put = original(self, message, now)
    if message.topic == TopicName.SCHEDULE:
        self._opened(message)
    return put


@mutant(Transactions.prepare, "A half message that is refused is open.")
def refused_halves_are_open(original, self, message, now):
    put = original(self, message, now)
    if put.status is not PutStatus.PUT_OK:
        self._opened(message)
    return put


@mutant(Transactions.resume, "A half message that is resumed is not stored.")
def resumed_half_is_not_stored(original, self, command, connection, now):
    return Reply(0)


@mutant(Transactions.renewed, "A half message that is resumed counts the questions of before.")
def resumed_half_was_asked_about(original, self, half, checked):
    return original(self, half, checked or int(half.properties.get("TRANSACTION_CHECK_TIMES") or 2))


@mutant(Transactions.resume, "A half message that is resumed is stored where no start looks for it.")
def resumed_half_is_in_no_queue(original, self, command, connection, now):
    store, put = self.broker.store, self.broker.store.put

    def elsewhere(message, now):
        message.queue_id = -1
        return put(message, now)

    store.put = elsewhere
    try:
        return original(self, command, connection, now)
    finally:
        del store.put


@after(Transactions.resume, "A half message that is not there is resumed.")
def any_half_is_resumed(reply):
    return Reply(0)


@mutant(Delays.put, "A message with the bits of a half message is delayed.")
def bits_of_halves_are_delayed(original, self, message, now):
    if PropertyName.TRANSACTION_PREPARED not in message.properties:
        bits = message.sys_flag & SysFlag.TRANSACTION_ROLLBACK.value
        message.sys_flag &= ~bits
        level = self.level_of(message)
        if level > 0:
            self.schedule(message, level)
        message.sys_flag |= bits
    return original(self, message, now)


@mutant(Transactions.newest_copy, "The end of a half message that is delayed ends another one.")
def delayed_halves_end_others(original, self, half):
    return half.queue_offset if half.queue_offset in self.open else original(self, half)


@mutant(Transactions.is_too_late, "The answer to a question is refused once the immunity is over.", V5)
def late_answers_are_refused(original, self, half, command, now):
    command.ext = {**(command.ext or {}), "fromTransactionCheck": "false"}
    return original(self, half, command, now)


@mutant(Transactions.is_too_late, "An end is refused once the time of immunity is over.", V4)
def late_ends_are_refused_in_4_9(original, self, half, command, now):
    immunity = self.immunity(half)
    return immunity is not None and now - half.born_timestamp > immunity


@mutant(Transactions.fault, "The commit of a message that is no half message succeeds.")
def whole_messages_are_committed(original, self, half, command):
    found = original(self, half, command)
    return None if half is not None and found and found.startswith("Find") else found


@after(Transactions.committed, "A committed message has the bits of a commit alone.")
def commits_have_the_bits_of_commits_alone(message):
    message.sys_flag = SysFlag.TRANSACTION_COMMIT.value


@mutant(Transactions.immunity, "An immunity of -1 s, or without a number, is one of 0 s.")
def immune_without_a_number(original, self, half):
    found = original(self, half)
    return 0 if found is None and PropertyName.CHECK_IMMUNITY_TIME_IN_SECONDS in half.properties else found


@mutant(Transactions.prepare, "A half message whose immunity is no number is refused.")
def immunity_without_a_number_is_refused(original, self, message, now):
    text = message.properties.get(PropertyName.CHECK_IMMUNITY_TIME_IN_SECONDS)
    if text is not None and not text.lstrip("-").isdigit():
        raise RefusedError(f"{text!r} is no number")
    return original(self, message, now)


@mutant(Transactions.is_to_check, "The age of a half message counts from when it was stored.")
def old_halves_are_young(original, self, half, now):
    return original(self, msgspec.structs.replace(half, born=half.stored), now)


@mutant(Transactions.is_given_up, "Half messages of any age are asked about.")
def halves_of_any_age_are_asked_about(original, self, half, now):
    return half.checked >= self.config.transaction_check_max


@mutant(Transactions.is_given_up, "A half message is given up after a day.")
def halves_are_given_up_early(original, self, half, now):
    return original(self, half, now) or now - half.born > 86_400_000


@mutant(Transactions.interval, "Without transactionCheckInterval, rounds are every 30 s, as in 5.x.", V4)
def rounds_of_5x_in_4_9(original, self):
    return self.config.transaction_check_interval or 30_000


@mutant(Transactions.interval, "Without transactionCheckInterval, rounds are every 60 s, as in 4.9.", V5)
def rounds_of_4_9_in_5x(original, self):
    return self.config.transaction_check_interval or 60_000


def _by_default(transactions, **settings):
    """Transactions with other defaults of settings that were not set."""
    config, usual = transactions.config, Config()
    unset = {key: value for key, value in settings.items() if getattr(config, key) == getattr(usual, key)}
    return SimpleNamespace(config=msgspec.structs.replace(config, **unset))


@mutant(Transactions.is_to_check, "Without transactionTimeOut, a half message is asked about when 3 s old.")
def asked_at_once_by_default(original, self, half, now):
    return original(_by_default(self, transaction_time_out=3_000), half, now)


@mutant(Transactions.is_to_check, "Without transactionTimeOut, a half message is asked about when 60 s old.")
def asked_late_by_default(original, self, half, now):
    return original(_by_default(self, transaction_time_out=60_000), half, now)


@mutant(Transactions.is_given_up, "Without transactionCheckMax, a half message is asked about 14 times.")
def asked_14_times_by_default(original, self, half, now):
    return original(_by_default(self, transaction_check_max=14), half, now)


@mutant(Transactions.is_given_up, "Without transactionCheckMax, a half message is asked about for ever.")
def asked_for_ever_by_default(original, self, half, now):
    return original(_by_default(self, transaction_check_max=1 << 30), half, now)
