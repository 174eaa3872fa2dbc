"""Mutants of the chapter role."""

from collections.abc import Mapping

from harness.wire import Command, ResponseCode
from reference_impl.broker.mirror import Mirror
from reference_impl.broker.parts import Parts
from reference_impl.broker.settings import Settings
from reference_impl.broker.standing import Standing
from reference_impl.mutants.broker import V5, mutant
from reference_impl.remoting.reply import Reply


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
