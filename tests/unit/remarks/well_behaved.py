"""A client that does all that the catalogue asks of clients, by the clock of a Broker in virtual time."""

from __future__ import annotations

from harness.session import BrokerSession, Replied
from harness.session.broker.requests import consuming
from harness.wire import FLAG_ONEWAY, FLAG_RESPONSE, Command, RequestCode, encode
from harness.wire.messages import Message, decode_messages

LASTS = 145
"""Seconds of its work."""
TICK = 5
BEAT = ROUTE = 30
LOCK = 20
CHANGED_AT, POPPED_AT, RETURNED_AT, HELD_AT, ASKED_AT = 20, 30, 40, 50, 110
OTHER_JOINS_AT, OTHER_LEAVES_AT = 60, 100
UNKNOWN = 0
IN_ORDER, HELD = 0, 1
"""The queue that it consumes, and one that stays empty."""


class Client:
    """A producer and a member of a group. A fault replaces one of its methods."""

    def __init__(self, bk: BrokerSession) -> None:
        self.bk = bk
        self.topic, self.group, self.producers = bk.topic(), bk.group(), bk.group("P")
        self.id, self.connection = bk.client()
        self.other_id, self.other = bk.client("other")
        self.now = 0
        self.offset = 0
        self.expression, self.version = "*", 1

    def work(self) -> None:
        """From its start to its end."""
        self.asks_for_route()
        self.beats()
        self.rebalances()
        while self.now < LASTS:
            self.tick()
            self.bk.advance(TICK)
            self.hears()
            self.now += TICK
        if self.connection.is_open:
            self.leaves()
            self.closes()

    def tick(self) -> None:
        """What it does every five seconds."""
        if self.now and self.is_time_to_ask_for_route():
            self.asks_for_route()
        if self.now and self.is_time_to_beat():
            self.beats()
        if self.is_time_to_lock():
            self.locks()
        self.sends()
        if self.now == POPPED_AT and self.bk.profile.name != "4.9":
            self.pops()
        message = self.pulls()
        self.commits()
        moments = {
            0: lambda: self.begins_transaction(message),
            RETURNED_AT: lambda: self.returns(message),
            HELD_AT: self.holds,
            CHANGED_AT: self.changes_subscription,
            ASKED_AT: self.is_asked,
            OTHER_JOINS_AT: self.other_beats,
            OTHER_JOINS_AT + BEAT: self.other_beats,
            OTHER_LEAVES_AT: self.other_leaves,
        }
        if self.now in moments:
            moments[self.now]()

    # -- a member --------------------------------------------------------------------------------------------

    def is_time_to_ask_for_route(self) -> bool:
        return self.now % ROUTE == 0

    def asks_for_route(self) -> None:
        """Sends to any Broker; a refusal does not matter here."""
        code = RequestCode.GET_ROUTEINFO_BY_TOPIC
        self.bk.call(code, {"topic": self.topic}, on=self.connection).outcome()

    def is_time_to_beat(self) -> bool:
        return self.now % BEAT == 0

    def beats(self) -> None:
        wanted = consuming(self.group, {self.topic: self.expression}, version=self.version)
        self.bk.heartbeat(
            self.id, consumers=[wanted], producers=[self.producers], on=self.connection
        ).outcome()

    def changes_subscription(self) -> None:
        """From everything to everything, in other words."""
        self.expression, self.version = "A || B", self.version + 1
        self.beats()
        self.expression, self.version = "*", self.version + 1
        self.beats()

    def rebalances(self) -> None:
        self.bk.consumers(self.group, on=self.connection).outcome()

    def hears(self) -> None:
        """Sees to what the Broker has asked."""
        while (pushed := self.connection.pushed(None)) is not None:
            command = pushed.command
            if command.code == RequestCode.NOTIFY_CONSUMER_IDS_CHANGED:
                self.is_notified()
            elif command.code == RequestCode.CHECK_TRANSACTION_STATE:
                self.is_checked(command)
            elif command.code == RequestCode.GET_CONSUMER_RUNNING_INFO:
                self.answers(command)

    def is_notified(self) -> None:
        self.rebalances()

    def answers(self, question: Command) -> None:
        answer = Command(0, flag=FLAG_RESPONSE, opaque=question.opaque, version=self.bk.profile.announces)
        self.connection.write(encode(answer))

    def leaves(self) -> None:
        self.unlocks()
        self.unregisters()

    def unregisters(self) -> None:
        for groups in ({"consumer_group": self.group}, {"producer_group": self.producers}):
            self.bk.leave(self.id, **groups, on=self.connection).outcome()

    def closes(self) -> None:
        self.connection.close()

    # -- others ----------------------------------------------------------------------------------------------

    def other_beats(self) -> None:
        """Another member joins, or goes on."""
        wanted = consuming(self.group, {self.topic: self.expression}, version=self.version)
        self.bk.heartbeat(self.other_id, consumers=[wanted], on=self.other).outcome()

    def other_leaves(self) -> None:
        self.bk.leave(self.other_id, consumer_group=self.group, on=self.other).outcome()
        self.other.close()

    def is_asked(self) -> None:
        """An administrator asks what the client does."""
        asked = {"consumerGroup": self.group, "clientId": self.id, "jstackEnable": False}
        self.bk.call(RequestCode.GET_CONSUMER_RUNNING_INFO, asked)

    # -- a consumer ------------------------------------------------------------------------------------------

    def is_time_to_lock(self) -> bool:
        return self.now % LOCK == 0

    def locks(self) -> None:
        self.bk.lock(self.group, self.id, [(self.topic, IN_ORDER)], on=self.connection).outcome()

    def unlocks(self) -> None:
        self.bk.unlock(self.group, self.id, [(self.topic, IN_ORDER)], on=self.connection).outcome()

    def pulls(self) -> Message:
        """All that is new; the last message."""
        outcome = self.bk.pull(
            self.topic, IN_ORDER, self.offset, group=self.group, on=self.connection
        ).outcome()
        assert isinstance(outcome, Replied)
        (*_, message) = decode_messages(outcome.command.body)
        self.offset = message.queue_offset + 1
        return message

    def holds(self) -> None:
        """A pull that is held until its time is over."""
        self.bk.pull(self.topic, HELD, 0, group=self.group, suspend=15, on=self.connection)

    def commits(self) -> None:
        self.commit(self.offset)

    def commit(self, offset: int) -> None:
        self.bk.commit_offset(self.group, self.topic, IN_ORDER, offset, on=self.connection, flag=FLAG_ONEWAY)

    def pops(self) -> None:
        popped = self.bk.pop(self.topic, self.group, IN_ORDER, invisible=10, on=self.connection)
        outcome = popped.outcome()
        assert isinstance(outcome, Replied)
        handles = popped.handles.look(outcome)
        assert handles
        self.acknowledges(handles)

    def acknowledges(self, handles: list[str]) -> None:
        for handle in handles:
            self.bk.ack(self.topic, self.group, handle, on=self.connection).outcome()

    def returns(self, message: Message) -> None:
        """Sends a message back, by a request and, as where that fails, as a message."""
        self.sends_back(message, original="7F00000100002A9F0000000000000000")
        self.sends_copy({"DELAY": "3", "RETRY_TOPIC": self.topic})

    def sends_back(self, message: Message, original: str | None) -> None:
        topic = self.topic if original else None
        self.bk.send_back(
            self.group, message.physical_offset, 3, topic, original, on=self.connection
        ).outcome()

    def sends_copy(self, properties: dict[str, str]) -> None:
        retries = f"%RETRY%{self.group}"
        self.bk.send(retries, properties=properties, group=self.producers, on=self.connection).outcome()

    # -- a producer ------------------------------------------------------------------------------------------

    def sends(self) -> None:
        self.bk.send(self.topic, queue=IN_ORDER, group=self.producers, on=self.connection).outcome()

    def begins_transaction(self, message: Message) -> None:
        """One of the time of a message: the Broker asks about none that is much older."""
        half = {"TRAN_MSG": "true", "PGROUP": self.producers, "UNIQ_KEY": self.bk.name("key")}
        self.bk.send(
            self.topic,
            properties=half,
            group=self.producers,
            sys_flag=4,
            born=message.store_timestamp,
            on=self.connection,
        ).outcome()

    def is_checked(self, question: Command) -> None:
        ext = question.ext or {}
        self.ends_transaction(ext, int(ext["commitLogOffset"] or 0))

    def ends_transaction(self, asked: dict[str, str | None], log_offset: int) -> None:
        self.bk.end_transaction(
            self.producers,
            int(asked["tranStateTableOffset"] or 0),
            log_offset,
            UNKNOWN,
            asked["msgId"],
            checked=True,
            on=self.connection,
            flag=FLAG_ONEWAY,
        )
