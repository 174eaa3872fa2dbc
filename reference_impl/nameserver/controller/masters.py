"""Requests about masters: who is elected, and who is in sync with it.

After an election of a new master, the Brokers of its name that live are notified (`news`, code 1008).

Source: ControllerRequestProcessor, ControllerManager, ReplicasInfoManager of rocketmq-all-5.3.3.
"""

import msgspec

from harness.wire import Command, RequestCode, ResponseCode, WireError
from harness.wire.bodies import BrokerMemberGroup, Elected, SyncStateSet
from reference_impl.remoting import fields
from reference_impl.remoting.profiles import Profile
from reference_impl.remoting.reply import RefusedError, Reply
from reference_impl.remoting.requests import answers

from .answers import in_sync, text_of, told_master
from .election import Election
from .replicas import BrokerSet, Replicas
from .settings import ControllerSettings

OF_CONTROLLER = -1
"""The id in a request for an election that no Broker makes for itself."""


class RoleChange(msgspec.Struct, frozen=True):
    """A new master, and the addresses that are to be notified (code 1008)."""

    master: int
    address: str | None
    master_epoch: int
    in_sync: SyncStateSet
    recipients: tuple[str, ...]


class MasterRequests:
    """The part of a controller that is about masters."""

    profile: Profile
    settings: ControllerSettings
    replicas: Replicas
    election: Election
    news: list[RoleChange]

    @answers(RequestCode.CONTROLLER_ELECT_MASTER)
    def elect(self, command: Command, connection: int, now: int) -> Reply:
        found = self.replicas.get(fields.text(command.ext, "brokerName") or "")
        if found is None:
            return Reply(
                ResponseCode.CONTROLLER_BROKER_NEED_TO_BE_REGISTERED,
                ext={},
                remark="Broker hasn't been registered",
            )
        number = fields.int64(command.ext, "brokerId")
        return self.elected(
            found,
            OF_CONTROLLER if number is None else number,
            demanded=bool(fields.boolean(command.ext, "designateElect")),
            now=now,
        )

    def elected(self, found: BrokerSet, number: int, *, demanded: bool, now: int) -> Reply:
        """The reply to an election that the Broker with this id asks for."""
        winner = self.winner(found, number, demanded, now)
        if winner is None:
            return self.without_winner(found, number)
        if winner == found.master:
            return Reply(
                ResponseCode.CONTROLLER_MASTER_STILL_EXIST,
                ext=told_master(found),
                body=Elected(found.in_sync).encode(),
                remark=f"The old master {winner} is still alive, not need to elect new master for broker "
                f"{found.name}",
            )
        self.replicas.lead(found, winner)
        self.announce(found, now)
        return Reply(
            ResponseCode.SUCCESS,
            ext=told_master(found),
            body=Elected(found.in_sync, self.group(found)).encode(),
        )

    def winner(self, found: BrokerSet, number: int, demanded: bool, now: int) -> int | None:
        """Who is elected: of a set that never had a master, the Broker that asks."""
        if found.was_never_led and number in found.replicas:
            return number
        return self.election.winner(found, number if demanded else None, now)

    def without_winner(self, found: BrokerSet, number: int) -> Reply:
        """No Broker can be the master. If the controller looked for one, the set has none now."""
        if number != OF_CONTROLLER:
            return Reply(
                ResponseCode.CONTROLLER_ELECT_MASTER_FAILED, ext={}, remark="Failed to elect a new master"
            )
        self.replicas.lose_master(found)
        return Reply(
            ResponseCode.CONTROLLER_MASTER_NOT_AVAILABLE,
            ext={},
            remark="Old master has down and failed to elect a new broker master",
        )

    @answers(RequestCode.CONTROLLER_ALTER_SYNC_STATE_SET)
    def alter_in_sync(self, command: Command, connection: int, now: int) -> Reply:
        """The master says who is in sync with it."""
        name, given = text_of(command, "brokerName"), self.given_in_sync(command)
        found = self.replicas.get(name)
        if found is None:
            return self.not_altered(
                ResponseCode.CONTROLLER_ALTER_SYNC_STATE_SET_FAILED, "Broker metadata is not existed"
            )
        master, epoch = fields.int64(command.ext, "masterBrokerId"), fields.int32(command.ext, "masterEpoch")
        refused = self.refusal_of_set(found, master, epoch, given, now)
        if refused is not None:
            return self.not_altered(*refused)
        self.replicas.sync(found, given.sync_state_set)
        return Reply(
            ResponseCode.SUCCESS,
            ext={"newSyncStateSetEpoch": str(found.epoch)},
            body=in_sync(found).encode(),
        )

    def not_altered(self, code: ResponseCode, remark: str) -> Reply:
        """The reply where the set in sync stays as it is."""
        return Reply(code, ext={"newSyncStateSetEpoch": "0"}, remark=remark)

    def refusal_of_set(
        self, found: BrokerSet, master: int | None, epoch: int | None, given: SyncStateSet, now: int
    ) -> tuple[ResponseCode, str] | None:
        """Why a set in sync is not taken over, in Apache's order; None: it is."""
        rejecting = "Rejecting alter syncStateSet request because the"
        if set(given.sync_state_set) == set(found.in_sync):
            return (
                ResponseCode.CONTROLLER_ALTER_SYNC_STATE_SET_FAILED,
                "The newSyncStateSet is equal with oldSyncStateSet, no needed to update syncStateSet",
            )
        if found.master is None or master != found.master:
            return (
                ResponseCode.CONTROLLER_INVALID_MASTER,
                f"{rejecting} current leader is:{{{_shown(found.master)}}}, not {{{_shown(master)}}}",
            )
        if epoch is None:
            raise RefusedError("masterEpoch is missing or not of its type")
        if epoch != found.master_epoch:
            return (
                ResponseCode.CONTROLLER_FENCED_MASTER_EPOCH,
                f"{rejecting} current master epoch is:{{{found.master_epoch}}}, not {{{epoch}}}",
            )
        if given.sync_state_set_epoch != found.epoch:
            return (
                ResponseCode.CONTROLLER_FENCED_SYNC_STATE_SET_EPOCH,
                f"{rejecting} current syncStateSet epoch is:{{{found.epoch}}}, "
                f"not {{{given.sync_state_set_epoch}}}",
            )
        for number in given.sync_state_set:
            if number not in found.replicas:
                return (
                    ResponseCode.CONTROLLER_INVALID_REPLICAS,
                    f"{rejecting} replicas {{{number}}} don't exist",
                )
            if not self.election.lives(found, number, now):
                return (
                    ResponseCode.CONTROLLER_BROKER_NOT_ALIVE,
                    f"{rejecting} replicas {{{number}}} don't alive",
                )
        if found.master not in given.sync_state_set:
            return (
                ResponseCode.CONTROLLER_ALTER_SYNC_STATE_SET_FAILED,
                f"{rejecting} newSyncStateSet don't contains origin leader {{{found.master}}}",
            )
        return None

    def given_in_sync(self, command: Command) -> SyncStateSet:
        """The set in sync of a request. Raises RefusedError."""
        try:
            return SyncStateSet.decode(
                command.body, invalid_utf8=self.profile.invalid_utf8, engine=self.profile.engine
            )
        except WireError as error:
            raise RefusedError(f"the body is not a sync state set: {error}") from error

    def announce(self, found: BrokerSet, now: int) -> None:
        """Notifies the Brokers of a set that live of the master."""
        if self.settings.config.notify_broker_role_changed and found.master is not None:
            change = RoleChange(
                found.master,
                found.address_of(found.master),
                found.master_epoch,
                in_sync(found),
                tuple(self.recipients(found, now)),
            )
            self.news.append(change)

    def recipients(self, found: BrokerSet, now: int) -> list[str]:
        """The addresses that are notified of a new master: its own is one of them."""
        return [
            replica.address
            for number, replica in found.replicas.items()
            if self.election.lives(found, number, now)
        ]

    def group(self, found: BrokerSet) -> BrokerMemberGroup:
        """All Brokers of a set."""
        addresses = {number: replica.address for number, replica in found.replicas.items()}
        return BrokerMemberGroup(cluster=found.cluster, broker_name=found.name, broker_addrs=addresses)


def _shown(value: int | None) -> str:
    """How Java prints a number that may be null."""
    return "null" if value is None else str(value)
