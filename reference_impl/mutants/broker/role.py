"""Mutants of the chapter role."""

from collections.abc import Callable, Mapping

from harness.wire import Command, ResponseCode
from harness.wire.messages import TopicName, decode_message
from reference_impl.broker.core import Broker
from reference_impl.broker.holding import Holding
from reference_impl.broker.limits import Limits
from reference_impl.broker.mirror import Mirror
from reference_impl.broker.parts import Parts
from reference_impl.broker.pulls import Pulls
from reference_impl.broker.retries import Retries
from reference_impl.broker.sends import Sends
from reference_impl.broker.settings import Settings
from reference_impl.broker.standing import Standing
from reference_impl.broker.topic_administration import TopicAdministration
from reference_impl.broker.transactions import Transactions
from reference_impl.mutants.broker import V5, mutant
from reference_impl.remoting.reply import Reply

V4 = ("4.9",)


@mutant("role-stays", "The role and the id are those of the start, whatever code 25 says.")
def role_stays(parts: Parts) -> Parts:
    def take(self: Settings, pairs: Mapping[str, str], now: int) -> None:
        kept = {key: value for key, value in pairs.items() if key not in ("brokerRole", "brokerId")}
        parts.settings.take(self, kept, now)

    return parts.override("settings", take)


@mutant("change-of-role-is-a-departure", "A Broker unregisters when its role is changed.")
def change_of_role_is_a_departure(parts: Parts) -> Parts:
    def take(self: Settings, pairs: Mapping[str, str], now: int) -> None:
        if "brokerId" in pairs:
            for address in self.broker.registrar.addresses():
                self.broker.tell(address, self.broker.announcing.departure())
        parts.settings.take(self, pairs, now)

    return parts.override("settings", take)


@mutant(
    "change-of-role-raises-the-data-version", "A change of the role raises the data version of the topics."
)
def change_of_role_raises_the_data_version(parts: Parts) -> Parts:
    def take(self: Settings, pairs: Mapping[str, str], now: int) -> None:
        parts.settings.take(self, pairs, now)
        if "brokerRole" in pairs:
            self.broker.topics.changed(now)

    return parts.override("settings", take)


@mutant("master-that-is-gone-is-asked", "A slave goes on to ask the master that it was told of last.")
def master_that_is_gone_is_asked(parts: Parts) -> Parts:
    def told(self: Mirror, master: str | None, ha_master: str | None) -> None:
        parts.mirror.told(self, master or self.master, ha_master)

    return parts.override("mirror", told)


@mutant("place-to-copy-is-not-said", "A master does not say where to copy from.", V5)
def place_to_copy_is_not_said(parts: Parts) -> Parts:
    def exchange(self: Standing, command: Command, connection: int, now: int) -> Reply | None:
        return Reply(ResponseCode.SUCCESS, ext={})

    return parts.override("standing", exchange)


@mutant("slave-says-where-to-copy", "A slave says that messages are to be copied from it.", V5)
def slave_says_where_to_copy(parts: Parts) -> Parts:
    def exchange(self: Standing, command: Command, connection: int, now: int) -> Reply | None:
        return Reply(ResponseCode.SUCCESS, ext=self._offer())

    return parts.override("standing", exchange)


@mutant(
    "new-master-is-not-asked", "A slave that hears of a new master does not ask it where to copy from.", V5
)
def new_master_is_not_asked(parts: Parts) -> Parts:
    def find_place_to_copy(self: Standing, master: str) -> None:
        return

    return parts.override("standing", find_place_to_copy)


# --- what a slave does, and what is there behind its time ---------------------------------------------------


@mutant("promotion-is-ignored", "A Broker that has become a slave stays one, whatever code 25 says.")
def promotion_is_ignored(parts: Parts) -> Parts:
    def take(self: Settings, pairs: Mapping[str, str], now: int) -> None:
        if not (self.config.is_slave and pairs.get("brokerRole") == "ASYNC_MASTER"):
            parts.settings.take(self, pairs, now)

    return parts.override("settings", take)


@mutant("slave-takes-messages", "A slave takes messages from producers.")
def slave_takes_messages(parts: Parts) -> Parts:
    def rejects_sends(self: Limits) -> bool:
        return False

    def refuses_as_slave(self: Sends) -> bool:
        return False

    return parts.override("limits", rejects_sends).override("sends", refuses_as_slave)


@mutant("slave-is-not-read-from", "A slave of 4.9 is busy for those who pull.", V4)
def slave_is_not_read_from(parts: Parts) -> Parts:
    def rejects_pulls(self: Limits) -> bool:
        return self.config.is_slave

    return parts.override("limits", rejects_pulls)


@mutant("slave-is-read-from", "A slave of 5.x hands out messages without slaveReadEnable.", V5)
def slave_is_read_from(parts: Parts) -> Parts:
    def rejects_pulls(self: Limits) -> bool:
        return False

    return parts.override("limits", rejects_pulls)


@mutant("slave-commits-by-pulls", "A slave of 4.9 notes the offsets that pulls carry.", V4)
def slave_commits_by_pulls(parts: Parts) -> Parts:
    def may_commit(self: Pulls) -> bool:
        return True

    return parts.override("pulls", may_commit)


@mutant("slave-takes-back", "A slave takes back what consumers send back.")
def slave_takes_back(parts: Parts) -> Parts:
    def rejects_sends(self: Limits) -> bool:
        return False

    def refuses_as_slave(self: Retries) -> bool:
        return False

    return parts.override("limits", rejects_sends).override("retries", refuses_as_slave)


@mutant("slave-ends-transactions", "A slave ends transactions.")
def slave_ends_transactions(parts: Parts) -> Parts:
    def refuses_as_slave(self: Transactions) -> bool:
        return False

    return parts.override("transactions", refuses_as_slave)


@mutant("slave-changes-topics", "A slave of 4.9 makes, changes and deletes topics.", V4)
def slave_changes_topics(parts: Parts) -> Parts:
    def refuses_as_slave(self: TopicAdministration) -> bool:
        return False

    return parts.override("topic_administration", refuses_as_slave)


@mutant("slave-delivers-delays", "A slave delivers messages whose delay is over.")
def slave_delivers_delays(parts: Parts) -> Parts:
    def is_special(self: Standing) -> bool:
        return True

    return parts.override("standing", is_special)


def _forgets(parts: Parts, forget: Callable[[Broker], None]) -> Parts:
    """A Broker that forgets something when it becomes a slave."""

    def take(self: Settings, pairs: Mapping[str, str], now: int) -> None:
        if pairs.get("brokerRole") == "SLAVE":
            forget(self.broker)
        parts.settings.take(self, pairs, now)

    return parts.override("settings", take)


@mutant("demotion-forgets-delays", "What waits is not delivered any more once the Broker has been a slave.")
def demotion_forgets_delays(parts: Parts) -> Parts:
    def forget(broker: Broker) -> None:
        delays = broker.delays
        for level in delays.offsets:
            delays.offsets[level] = broker.store.max_offset(TopicName.SCHEDULE, level - 1)

    return _forgets(parts, forget)


@mutant("demotion-forgets-transactions", "Half messages have ended once the Broker has been a slave.")
def demotion_forgets_transactions(parts: Parts) -> Parts:
    def forget(broker: Broker) -> None:
        for offset in list(broker.transactions.open):
            broker.transactions.forget(offset)

    return _forgets(parts, forget)


@mutant("demotion-forgets-offsets", "The offsets of groups are gone once the Broker has been a slave.")
def demotion_forgets_offsets(parts: Parts) -> Parts:
    return _forgets(parts, lambda broker: broker.offsets.table.clear())


@mutant("new-masters-release-nothing", "Pulls that are held stay held when a master comes.", V5)
def new_masters_release_nothing(parts: Parts) -> Parts:
    def release_all(self: Holding, now: int) -> None:
        return

    return parts.override("holding", release_all)


@mutant("master-that-has-left-is-asked", "A slave asks a master of which it has heard that it has left.", V5)
def master_that_has_left_is_asked(parts: Parts) -> Parts:
    def heard_of_smallest(
        self: Standing, number: int, address: str, left: str | None, ha_address: str | None, now: int
    ) -> None:
        parts.standing.heard_of_smallest(self, number, address, None, ha_address, now)

    return parts.override("standing", heard_of_smallest)


@mutant("acting-slaves-deliver", "A slave that is the smallest of its name delivers what is delayed.", V5)
def acting_slaves_deliver(parts: Parts) -> Parts:
    def is_special(self: Standing) -> bool:
        return not self.config.is_slave or (self.smallest is not None and self.smallest[0] != 0)

    return parts.override("standing", is_special)


@mutant("promotion-delivers-timed-again", "What waits for a time is read again by a new master.", V5)
def promotion_delivers_timed_again(parts: Parts) -> Parts:
    def take(self: Settings, pairs: Mapping[str, str], now: int) -> None:
        if self.config.is_slave and pairs.get("brokerRole") == "ASYNC_MASTER":
            for offset in range(self.broker.store.max_offset(TopicName.TIMER, 0)):
                got = self.broker.store.get(TopicName.TIMER, 0, offset, 1)
                self.broker.timers.expect(decode_message(got.frames[0]))
        parts.settings.take(self, pairs, now)

    return parts.override("settings", take)
