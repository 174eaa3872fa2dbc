"""Requests that show what is known, and those of administrators.

Source: ControllerRequestProcessor, ReplicasInfoManager of rocketmq-all-5.3.3.
"""

from harness.wire import Command, RequestCode, ResponseCode, WireError
from harness.wire.bodies import BrokerReplicasInfo, Properties, ReplicaIdentity, ReplicasInfo, broker_names
from reference_impl.remoting import fields
from reference_impl.remoting.profiles import Profile
from reference_impl.remoting.reply import RefusedError, Reply
from reference_impl.remoting.requests import answers

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
            number: ReplicaIdentity(
                found.name, number, replica.address, self.election.lives(found, number, now)
            )
            for number, replica in found.replicas.items()
        }
        return ReplicasInfo(
            found.master_epoch,
            found.epoch,
            [one for number, one in all_of_it.items() if number in found.in_sync],
            [one for number, one in all_of_it.items() if number not in found.in_sync],
            found.master,
            found.address_of(found.master),
        )

    @answers(RequestCode.CLEAN_BROKER_DATA)
    def clean(self, command: Command, connection: int, now: int) -> Reply:
        """Forgets Brokers of a set, or the whole set."""
        name, listed = text_of(command, "brokerName"), fields.text(command.ext, "brokerControllerIdsToClean")
        found = self.replicas.get(name)
        forced = bool(fields.boolean(command.ext, "isCleanLivingBroker"))
        numbers = set() if forced else self.given_numbers(listed)
        cluster = fields.text(command.ext, "clusterName")
        refused = None if forced else self.refusal_to_clean((cluster, name), found, numbers, now)
        if refused is None and found is None:
            refused = f"Broker {name} is not existed,clean broker data failure."
        if refused is not None or found is None:
            return Reply(ResponseCode.CONTROLLER_INVALID_CLEAN_BROKER_METADATA, remark=refused)
        self.replicas.remove(found, numbers)
        return Reply(ResponseCode.SUCCESS)

    def given_numbers(self, listed: str | None) -> set[int]:
        """The ids between semicolons; none: all. Raises RefusedError."""
        texts = (listed or "").strip()
        try:
            return {int(one) for one in texts.split(";") if one} if texts else set()
        except ValueError as error:
            raise RefusedError(
                f"brokerControllerIdsToClean {listed!r}: expected ids between semicolons",
            ) from error

    def refusal_to_clean(
        self, of: tuple[str | None, str], found: BrokerSet | None, numbers: set[int], now: int
    ) -> str | None:
        """Why Brokers cannot be forgotten; None: they can."""
        cluster, name = of
        if not numbers and found is not None and found.master is not None:
            return f"Broker {name} is still alive, clean up failure"
        for number in sorted(numbers):
            if self.heartbeats.lives((cluster, name, number), now):
                return f"Broker [{name},  {number}] is still alive, clean up failure"
        return None

    @answers(RequestCode.UPDATE_CONTROLLER_CONFIG)
    def update_config(self, command: Command, connection: int, now: int) -> Reply:
        if command.body:
            try:
                pairs = Properties.decode(command.body).pairs
            except WireError:
                return Reply(ResponseCode.SYSTEM_ERROR, remark="string2Properties error")
            if self.settings.refuses(pairs):
                return Reply(ResponseCode.NO_PERMISSION, remark="Can not update config in black list.")
            self.settings.update(pairs)
        return Reply(ResponseCode.SUCCESS)

    @answers(RequestCode.GET_CONTROLLER_CONFIG)
    def get_config(self, command: Command, connection: int, now: int) -> Reply:
        return Reply(ResponseCode.SUCCESS, body=self.settings.dump())
