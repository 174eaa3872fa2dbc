"""Requests that show what is known, and those of administrators.

Source: ControllerRequestProcessor, ReplicasInfoManager of rocketmq-all-5.3.3.
"""

from harness.wire import Command, RequestCode, ResponseCode, WireError
from harness.wire.bodies import BrokerReplicasInfo, Properties, ReplicaIdentity, ReplicasInfo, broker_names
from reference_impl.remoting import fields
from reference_impl.remoting.profiles import Profile
from reference_impl.remoting.reply import RefusedError, Reply
from reference_impl.remoting.requests import answers
from reference_impl.remoting.values import number

from .answers import in_sync, text_of, told_master
from .election import Election
from .heartbeats import Heartbeats
from .replicas import BrokerSet, Replicas
from .settings import ControllerSettings


class InspectionRequests:
    """The part of a controller that shows what is known, and forgets it."""

    profile: Profile
    settings: ControllerSettings
    replicas: Replicas
    heartbeats: Heartbeats
    election: Election

    @answers(RequestCode.CONTROLLER_GET_REPLICA_INFO)
    def replica_info(self, command: Command, connection: int, now: int) -> Reply:
        found = self.replicas.get(text_of(command, "brokerName"))
        if found is None:
            return Reply(
                ResponseCode.CONTROLLER_BROKER_METADATA_NOT_EXIST,
                ext={},
                remark="Broker metadata is not existed",
            )
        ext = told_master(found)
        ext.pop("syncStateSetEpoch")
        return Reply(ResponseCode.SUCCESS, ext=ext, body=in_sync(found).encode())

    @answers(RequestCode.CONTROLLER_GET_METADATA_INFO)
    def metadata(self, command: Command, connection: int, now: int) -> Reply:
        config = self.settings.config
        number, (host, port) = config.controller_d_leger_self_id, config.address
        told = {
            "group": config.controller_d_leger_group,
            "controllerLeaderId": number,
            "controllerLeaderAddress": f"{host}:{port}",
            "isLeader": "true",
            "peers": f"{number}:{host}:{port};",
        }
        return Reply(ResponseCode.SUCCESS, ext=dict(told))

    @answers(RequestCode.CONTROLLER_GET_SYNC_STATE_DATA)
    def sync_state_data(self, command: Command, connection: int, now: int) -> Reply:
        """The sets of the names in the body; unknown names are left out."""
        names = self.given_names(command)
        if not names:
            raise RefusedError("the body names no broker")
        sets = [found for name in names if (found := self.replicas.get(name)) is not None]
        told = BrokerReplicasInfo({found.name: self.whole(found, now) for found in sets})
        return Reply(ResponseCode.SUCCESS, body=told.encode())

    def given_names(self, command: Command) -> list[str]:
        """The broker names in a body. Raises RefusedError."""
        try:
            return broker_names(command.body, self.profile.engine) if command.body else []
        except WireError as error:
            raise RefusedError(f"the body is not a list of broker names: {error}") from error

    def whole(self, found: BrokerSet, now: int) -> ReplicasInfo:
        """Everything about a set."""
        all_of_it = {
            one: ReplicaIdentity(found.name, one, replica.address, self.election.lives(found, one, now))
            for one, replica in found.replicas.items()
        }
        return ReplicasInfo(
            found.master_epoch,
            found.epoch,
            [shown for one, shown in all_of_it.items() if one in found.in_sync],
            [shown for one, shown in all_of_it.items() if one not in found.in_sync],
            found.master,
            found.address_of(found.master),
        )

    @answers(RequestCode.CLEAN_BROKER_DATA)
    def clean(self, command: Command, connection: int, now: int) -> Reply:
        """Forgets Brokers of a set, or the whole set."""
        name, cluster = text_of(command, "brokerName"), fields.text(command.ext, "clusterName")
        found = self.replicas.get(name)
        forced = self.is_forced(command)
        numbers = (
            set() if forced else self.given_numbers(fields.text(command.ext, "brokerControllerIdsToClean"))
        )
        if numbers is None:
            refused: str | None = "Please set the option <brokerControllerIdsToClean> according to the format"
        elif found is None:
            refused = f"Broker {name} is not existed,clean broker data failure."
        else:
            refused = None if forced else self.refusal_to_clean(found, cluster, numbers, now)
        if refused is not None or found is None or numbers is None:
            return Reply(ResponseCode.CONTROLLER_INVALID_CLEAN_BROKER_METADATA, remark=refused)
        self.replicas.remove(found, numbers)
        return Reply(ResponseCode.SUCCESS)

    def is_forced(self, command: Command) -> bool:
        """Whether Brokers that live are forgotten, too; then it is all of the set, whatever ids are named."""
        return fields.boolean(command.ext, "isCleanLivingBroker") is True

    def given_numbers(self, listed: str | None) -> set[int] | None:
        """The ids between semicolons, none of them for all; None: they are no numbers."""
        if listed is None or not listed.strip():
            return set()
        numbers = [number(one, 63) for one in listed.rstrip(";").split(";")]
        return None if None in numbers else {one for one in numbers if one is not None}

    def refusal_to_clean(
        self, found: BrokerSet, cluster: str | None, numbers: set[int], now: int
    ) -> str | None:
        """Why Brokers cannot be forgotten; None: they can."""
        if not numbers and found.master is not None:
            return f"Broker {found.name} is still alive, clean up failure"
        for one in sorted(numbers):
            if self.heartbeats.lives((cluster, found.name, one), now):
                return f"Broker [{found.name},  {one}] is still alive, clean up failure"
        return None

    @answers(RequestCode.UPDATE_CONTROLLER_CONFIG)
    def update_config(self, command: Command, connection: int, now: int) -> Reply:
        if command.body:
            try:
                pairs = Properties.decode(command.body).pairs
            except WireError:
                return Reply(ResponseCode.SYSTEM_ERROR, remark="string2Properties error")
            if self.refuses_settings(pairs):
                return Reply(ResponseCode.NO_PERMISSION, remark="Can not update config in black list.")
            self.take_settings(pairs)
        return Reply(ResponseCode.SUCCESS)

    def refuses_settings(self, pairs: dict[str, str]) -> bool:
        """Whether an update names a key that may not be changed."""
        return self.settings.refuses(pairs)

    def take_settings(self, pairs: dict[str, str]) -> None:
        """Changes the settings in force."""
        self.settings.update(pairs)

    @answers(RequestCode.GET_CONTROLLER_CONFIG)
    def get_config(self, command: Command, connection: int, now: int) -> Reply:
        return Reply(ResponseCode.SUCCESS, body=self.settings.dump())
