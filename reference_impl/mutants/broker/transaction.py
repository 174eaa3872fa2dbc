"""Mutants of the chapter transaction."""

from harness.wire import Command
from harness.wire.messages import Message, SysFlag
from reference_impl.broker.parts import Parts
from reference_impl.broker.sends import Sends
from reference_impl.broker.store import Put
from reference_impl.broker.transactions import Open, Transactions
from reference_impl.mutants.broker import V5, mutant
from reference_impl.remoting.reply import Reply

_COMMIT, _ROLL_BACK = "8", "12"


@mutant("half-messages-are-visible", "A half message is stored in its own queue.")
def half_messages_are_visible(parts: Parts) -> Parts:
    def stored(self: Sends, message: Message, now: int) -> Put:
        message.sys_flag &= ~SysFlag.TRANSACTION_ROLLBACK.value
        return self.broker.store.put(message, now)

    return parts.override("sends", stored)


def _ends(parts: Parts, **said: str) -> Parts:
    """Every end is taken for one that says this."""

    def end(self: Transactions, command: Command, connection: int, now: int) -> Reply | None:
        command.ext = {**(command.ext or {}), **said}
        return parts.transactions.end(self, command, connection, now)

    return parts.override("transactions", end)


@mutant("roll-backs-commit", "A roll-back commits.")
def roll_backs_commit(parts: Parts) -> Parts:
    return _ends(parts, commitOrRollback=_COMMIT)


@mutant("commits-are-lost", "A commit rolls back.")
def commits_are_lost(parts: Parts) -> Parts:
    return _ends(parts, commitOrRollback=_ROLL_BACK)


def _committed(parts: Parts, **changed: object) -> Parts:
    def committed(self: Transactions, half: Message) -> Message:
        message = parts.transactions.committed(self, half)
        for name, value in changed.items():
            setattr(message, name, value)
        return message

    return parts.override("transactions", committed)


@mutant("commits-lose-properties", "A committed message has no properties.")
def commits_lose_properties(parts: Parts) -> Parts:
    return _committed(parts, properties={})


@mutant("commits-lose-flags", "A committed message does not say that it was committed.")
def commits_lose_flags(parts: Parts) -> Parts:
    return _committed(parts, sys_flag=0)


@mutant("unknown-ends-are-answered", "An end that does not know is answered.")
def unknown_ends_are_answered(parts: Parts) -> Parts:
    def end(self: Transactions, command: Command, connection: int, now: int) -> Reply | None:
        return parts.transactions.end(self, command, connection, now) or Reply(0)

    return parts.override("transactions", end)


@mutant("odd-ends-commit", "An end that is neither commit nor roll-back nor unknown commits.")
def odd_ends_commit(parts: Parts) -> Parts:
    def end(self: Transactions, command: Command, connection: int, now: int) -> Reply | None:
        ext = command.ext or {}
        if ext.get("commitOrRollback") not in ("0", _COMMIT, _ROLL_BACK):
            command.ext = {**ext, "commitOrRollback": _COMMIT}
        return parts.transactions.end(self, command, connection, now)

    return parts.override("transactions", end)


def _without_fault(parts: Parts, remark: str) -> Parts:
    def fault(self: Transactions, half: Message | None, command: Command) -> str | None:
        found = parts.transactions.fault(self, half, command)
        return None if found == remark else found

    return parts.override("transactions", fault)


@mutant("any-group-ends", "Any group ends a half message.")
def any_group_ends(parts: Parts) -> Parts:
    return _without_fault(parts, "The producer group wrong")


@mutant("any-queue-offset-ends", "The offset in the queue is not looked at.")
def any_queue_offset_ends(parts: Parts) -> Parts:
    return _without_fault(parts, "The transaction state table offset wrong")


@mutant("missing-half-ends", "The end of a half message that there is not succeeds.")
def missing_half_ends(parts: Parts) -> Parts:
    def end(self: Transactions, command: Command, connection: int, now: int) -> Reply | None:
        reply = parts.transactions.end(self, command, connection, now)
        is_missing = reply is not None and reply.remark == "Find prepared transaction message failed"
        return Reply(0) if is_missing else reply

    return parts.override("transactions", end)


@mutant("nobody-is-asked", "No producer is asked about half messages.")
def nobody_is_asked(parts: Parts) -> Parts:
    def producer(self: Transactions, group: str) -> int | None:
        return None

    return parts.override("transactions", producer)


@mutant("any-producer-is-asked", "Producers of all groups are asked.")
def any_producer_is_asked(parts: Parts) -> Parts:
    def producer(self: Transactions, group: str) -> int | None:
        members = [connection for one in self.broker.clients.producers.values() for connection in one]
        return members[-1] if members else None

    return parts.override("transactions", producer)


@mutant("asked-at-once", "A half message is asked about however young it is.")
def asked_at_once(parts: Parts) -> Parts:
    def is_to_check(self: Transactions, half: Open, now: int) -> bool:
        return True

    return parts.override("transactions", is_to_check)


@mutant("asked-for-ever", "A half message is asked about for ever.")
def asked_for_ever(parts: Parts) -> Parts:
    def is_given_up(self: Transactions, half: Open, now: int) -> bool:
        return False

    return parts.override("transactions", is_given_up)


@mutant("questions-name-half-topic", "The body of a question is the half message as it is stored.")
def questions_name_half_topic(parts: Parts) -> Parts:
    def question(self: Transactions, copy: Message) -> Command:
        command = parts.transactions.question(self, copy)
        command.body = self.broker.store.raw_at(copy.physical_offset) or b""
        return command

    return parts.override("transactions", question)


@mutant("answers-are-lost", "An end of the copy that was asked about changes nothing.")
def answers_are_lost(parts: Parts) -> Parts:
    def newest_copy(self: Transactions, half: Message) -> int | None:
        is_copy = "TRANSACTION_CHECK_TIMES" in half.properties
        return None if is_copy else parts.transactions.newest_copy(self, half)

    return parts.override("transactions", newest_copy)


@mutant("ended-are-asked-about", "A transaction that has ended is asked about.")
def ended_are_asked_about(parts: Parts) -> Parts:
    def end(self: Transactions, command: Command, connection: int, now: int) -> Reply | None:
        before = dict(self.open)
        reply = parts.transactions.end(self, command, connection, now)
        self.open |= before
        return reply

    return parts.override("transactions", end)


@mutant("late-ends-commit", "An end is taken however late it comes.", V5)
def late_ends_commit(parts: Parts) -> Parts:
    def is_too_late(self: Transactions, half: Message, command: Command, now: int) -> bool:
        return False

    return parts.override("transactions", is_too_late)


@mutant("open-transactions-are-forgotten", "Half messages of an earlier run are not asked about.")
def open_transactions_are_forgotten(parts: Parts) -> Parts:
    def is_to_check(self: Transactions, half: Open, now: int) -> bool:
        return half.stored > self.broker.started and parts.transactions.is_to_check(self, half, now)

    return parts.override("transactions", is_to_check)


@mutant("transactions-end-again", "A transaction that has ended can be ended again.")
def transactions_end_again(parts: Parts) -> Parts:
    def newest_copy(self: Transactions, half: Message) -> int | None:
        found = parts.transactions.newest_copy(self, half)
        return half.queue_offset if found is None else found

    return parts.override("transactions", newest_copy)
