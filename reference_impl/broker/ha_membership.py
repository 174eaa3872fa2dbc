"""Where a Broker stands among those of its name: the light heartbeat, the smallest id, the way online (5.3).

1. All of it only where `enableSlaveActingMaster` is set, and never in 4.9.
2. While a Broker is isolated it says nothing to NameServers but the question for the members of its name. It
   asks every second, and is online when a NameServer has answered and those members have been spoken to; a
   slave, when its master has answered.
3. Only a master delivers delayed messages and checks transactions. (Apache's slave with the smallest id does
   it by sending to masters of other names where `enableRemoteEscape` is set, which is not built; without, it
   fails at it.)
4. A slave hears of the smallest id from the members that it asks for and from NameServers. When it is another
   one than before, a master that has left is asked no more; one that has come says where to copy from, and
   pulls that are held are answered, so that their clients go there.

What is not built: a master that comes online when its slaves have copied its log.

Source: BrokerController#scheduleSendHeartbeat, #syncBrokerMemberGroup, #updateMinBroker, #onMinBrokerChange;
BrokerPreOnlineService; AdminBrokerProcessor#notifyMinBrokerIdChange, #updateBrokerHaInfo;
BrokerOuterAPI#syncBrokerMemberGroup of rocketmq-all-5.3.3.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Final

from harness.wire import Command, RequestCode, ResponseCode, WireError
from harness.wire.bodies import BrokerMemberGroup, TopicRoute
from reference_impl.remoting import fields
from reference_impl.remoting.reply import RefusedError, Reply
from reference_impl.remoting.requests import answers

from .part import NEVER, Part

if TYPE_CHECKING:
    from .core import Broker

_POLL_EVERY: Final = 1_000
_MEMBERS_WITHIN: Final = 3_000
_EXCHANGE_WITHIN: Final = 3_000
_MASTER: Final = 0


class HaMembership(Part):
    """The Broker among those of its name."""

    def __init__(self, broker: Broker) -> None:
        super().__init__(broker)
        self.acts = self.profile.v5 and self.config.enable_slave_acting_master
        """Whether slaves may act for a master that is gone."""
        self.is_isolated = self.starts_isolated()
        self.smallest: tuple[int, str] | None = None
        """Id and address of the smallest member of the name, as last heard."""
        self._began_at = broker.store.physical_range()[1]
        """Where the log ended when this Broker started."""
        self.alive = self.config.total_replicas
        """How many members the name has, this one included, as last heard."""
        self._is_asking = False
        self._poll_at = broker.started if self.is_isolated else NEVER
        self._heartbeat_at = broker.started + self.config.broker_heartbeat_interval if self.acts else NEVER
        self._members_at = broker.started + _POLL_EVERY if self.acts else NEVER

    # -- time ------------------------------------------------------------------------------------------------

    def next_tick(self) -> int:
        if self.broker.registrar.is_stopping:
            return NEVER
        return min(self._poll_at, self._heartbeat_at, self._members_at)

    def tick(self, now: int) -> None:
        if self._poll_at <= now:
            self._poll_at += _POLL_EVERY
            self._ask_for_members(self._meet)
        if self._heartbeat_at <= now:
            self._heartbeat_at += self.config.broker_heartbeat_interval
            if not self.is_isolated:
                self._send_heartbeat()
        if self._members_at <= now:
            self._members_at += self.config.sync_broker_member_group_period
            if not self.is_isolated:
                self._ask_for_members(self._members)

    def _send_heartbeat(self) -> None:
        requests = self.broker.registration_requests
        heartbeat = requests.light_heartbeat(requests.version())
        for address in self.broker.registrar.addresses():
            self.broker.tell(address, heartbeat)

    # -- members ---------------------------------------------------------------------------------------------

    def _ask_for_members(self, then: Callable[[dict[int, str], int], None]) -> None:
        """Ask the first NameServer that answers; `then` is called if one does."""
        addresses = list(self.broker.registrar.addresses())
        if self._is_asking or not addresses:
            return
        self._is_asking = True

        def answered(reply: Command | None, now: int) -> None:
            if reply is None and addresses:
                ask()
                return
            self._is_asking = False
            if reply is not None:
                found = self.members_in(reply)
                if found is not None:
                    then(found, now)

        def ask() -> None:
            self.broker.ask(
                addresses.pop(0), self.broker.registration_requests.members(), _MEMBERS_WITHIN, answered
            )

        ask()

    def members_in(self, reply: Command) -> dict[int, str] | None:
        """The addresses of the Broker's name by id; none of a name without members, in an error, and
        where there is no body. None: unreadable.
        """
        if reply.code != ResponseCode.SUCCESS or not reply.body:
            return {}
        try:
            if not self.config.compatible_with_old_name_srv:
                return BrokerMemberGroup.decode(reply.body).broker_addrs
            route = TopicRoute.decode(reply.body)
        except WireError:
            return None
        name = self.config.broker_name
        return next((broker.broker_addrs for broker in route.broker_datas if broker.broker_name == name), {})

    def _members(self, members: dict[int, str], now: int) -> None:
        if not members:
            return
        self.alive = len({*members, self.config.broker_id})
        number = min(members)
        left = self.smallest[1] if self.smallest is not None and number > self.smallest[0] else None
        self.heard_of_smallest(number, members[number], left, None, now)

    def heard_of_smallest(
        self, number: int, address: str, left: str | None, ha_address: str | None, now: int
    ) -> None:
        """What the smallest id of the name is, who is gone (`left`), where a new master is copied from."""
        if not self.acts or self.config.broker_id == _MASTER:
            return
        before, self.smallest = self.smallest, (number, address)
        if number == (_MASTER if before is None else before[0]):
            return
        mirror = self.broker.slave_sync
        if left is not None and left == mirror.master:
            mirror.told(None)
            self.broker.master_link.follow(None)
        if number != _MASTER:
            return
        self.broker.long_polling.release_all(now)
        if not address:
            return
        if ha_address is None:
            self.find_place_to_copy(address)
        else:
            self.broker.master_link.follow(ha_address)

    def find_place_to_copy(self, master: str) -> None:
        """Ask a master that has come where it is copied from."""
        question = Command(code=RequestCode.EXCHANGE_BROKER_HA_INFO, ext={})
        self.broker.ask(master, question, _EXCHANGE_WITHIN, self._found_place_to_copy)

    def _found_place_to_copy(self, reply: Command | None, now: int) -> None:
        if reply is not None and reply.code == ResponseCode.SUCCESS:
            self.broker.master_link.follow(fields.text(reply.ext, "masterHaAddress"))

    def is_special(self) -> bool:
        """Whether delayed messages and checks of transactions are this Broker's to see to."""
        return not self.config.is_slave

    # -- the way online --------------------------------------------------------------------------------------

    def starts_isolated(self) -> bool:
        """Whether the Broker is not to be seen until it has spoken to the others of its name."""
        config = self.config
        return self.acts and config.total_replicas > 1 and not config.skip_pre_online

    def _meet(self, members: dict[int, str], now: int) -> None:
        """Master: tell every slave where to copy from. Slave: ask the master, if there is one."""
        others = {number: at for number, at in members.items() if number != self.config.broker_id}
        if self.config.is_slave:
            others = {number: at for number, at in others.items() if number == _MASTER}
        if not others:
            self._come_online(now)
            return
        left = len(others)

        def met(reply: Command | None, now: int) -> None:
            nonlocal left
            left -= 1
            if not left and self.is_met(reply):
                self._come_online(now)

        for address in others.values():
            self.broker.ask(address, self._introduction(), _EXCHANGE_WITHIN, met)

    def is_met(self, reply: Command | None) -> bool:
        """Whether an answer lets the Broker go online: a slave needs that of its master."""
        return not self.config.is_slave or (reply is not None and reply.code == ResponseCode.SUCCESS)

    def _introduction(self) -> Command:
        """906: a master says where to copy from, a slave asks."""
        ext: dict[str, str | None] = {} if self.config.is_slave else self._offer()
        return Command(code=RequestCode.EXCHANGE_BROKER_HA_INFO, ext=ext)

    def _offer(self) -> dict[str, str | None]:
        return {
            "masterHaAddress": self.config.ha_address,
            "masterFlushOffset": str(self._began_at),
            "masterAddress": self.config.address,
        }

    def _come_online(self, now: int) -> None:
        if not self.is_isolated:
            return
        self.is_isolated = False
        self._poll_at = NEVER
        self.broker.registrar.register(now, force=True, check_order=True)

    # -- what others say -------------------------------------------------------------------------------------

    @answers(RequestCode.NOTIFY_MIN_BROKER_ID_CHANGE, v5=True)
    def smallest_changed(self, command: Command, connection: int, now: int) -> Reply | None:
        """905, from a NameServer."""
        number, address = fields.int64(command.ext, "minBrokerId"), fields.text(command.ext, "minBrokerAddr")
        if number is None:
            raise RefusedError("minBrokerId is missing or no number")
        left, ha_address = (
            fields.text(command.ext, "offlineBrokerAddr"),
            fields.text(command.ext, "haBrokerAddr"),
        )
        self.heard_of_smallest(number, address or "", left, ha_address, now)
        return Reply(ResponseCode.SUCCESS)

    @answers(RequestCode.EXCHANGE_BROKER_HA_INFO, v5=True)
    def exchange(self, command: Command, connection: int, now: int) -> Reply | None:
        """A slave learns where to copy from, or a master is asked."""
        offered = fields.text(command.ext, "masterHaAddress")
        if offered is not None:
            self.broker.master_link.follow(offered)
        is_asked = offered is None
        offers = is_asked and self.config.broker_id == _MASTER
        return Reply(ResponseCode.SUCCESS, ext=self._offer() if offers else {})
