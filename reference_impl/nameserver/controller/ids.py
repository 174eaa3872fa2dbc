"""Requests about ids: which one is next, whose it is, where its Broker is.

Source: ReplicasInfoManager of rocketmq-all-5.3.3.
"""

from harness.wire import Command, RequestCode, ResponseCode
from reference_impl.remoting import fields
from reference_impl.remoting.reply import Reply
from reference_impl.remoting.requests import answers

from .answers import in_sync, named, number_of, text_of, told_master
from .election import Election
from .replicas import FIRST_ID, BrokerSet, Replica, Replicas


class IdRequests:
    """The part of a controller that is about ids."""

    replicas: Replicas
    election: Election

    @answers(RequestCode.CONTROLLER_GET_NEXT_BROKER_ID)
    def next_id(self, command: Command, connection: int, now: int) -> Reply:
        name = text_of(command, "brokerName")
        found = self.replicas.get(name)
        number = FIRST_ID if found is None else found.next_id
        return Reply(ResponseCode.SUCCESS, ext=named(command) | {"nextBrokerId": str(number)})

    @answers(RequestCode.CONTROLLER_APPLY_BROKER_ID)
    def apply_id(self, command: Command, connection: int, now: int) -> Reply:
        """An id belongs to who was given it first; the same check code gets it again."""
        name, check_code = text_of(command, "brokerName"), text_of(command, "registerCheckCode")
        number = number_of(command, "appliedBrokerId")
        refused = self.refusal_of_id(name, number, check_code)
        if refused is not None:
            return Reply(ResponseCode.CONTROLLER_BROKER_ID_INVALID, ext=named(command), remark=refused)
        address = check_code.partition(";")[0]
        cluster = fields.text(command.ext, "clusterName")
        self.replicas.add(cluster, name, number, Replica(address, check_code))
        return Reply(ResponseCode.SUCCESS, ext=named(command))

    def refusal_of_id(self, name: str, number: int, check_code: str) -> str | None:
        """Why a Broker cannot have an id; None: it can."""
        found = self.replicas.get(name)
        if found is None:
            if number == FIRST_ID:
                return None
            return (
                f"Broker-set: {name} hasn't been registered in controller, "
                f"but broker try to apply brokerId: {number}"
            )
        replica = found.replicas.get(number)
        if replica is None or replica.check_code == check_code:
            return None
        return f"Fail to apply brokerId: {number} in broker-set: {name}"

    @answers(RequestCode.CONTROLLER_REGISTER_BROKER)
    def register(self, command: Command, connection: int, now: int) -> Reply:
        """Tells the master that lives, and who is in sync; takes over another address."""
        name = text_of(command, "brokerName")
        number = number_of(command, "brokerId")
        address = text_of(command, "brokerAddress")
        found = self.replicas.get(name)
        if found is None or number not in found.replicas:
            remark = (
                f"Broker-set: {name} hasn't been registered in controller"
                if found is None
                else f"BrokerId: {number} hasn't been registered in broker-set: {name}"
            )
            return Reply(
                ResponseCode.CONTROLLER_BROKER_NEED_TO_BE_REGISTERED, ext=named(command), remark=remark
            )
        ext = named(command)
        if self.has_living_master(found, now):
            ext |= told_master(found)
        if found.replicas[number].address != address:
            self.replicas.move(found, number, address)
        return Reply(ResponseCode.SUCCESS, ext=ext, body=in_sync(found).encode())

    def has_living_master(self, found: BrokerSet, now: int) -> bool:
        """Whether a set has a master that lives."""
        return found.master is not None and self.election.lives(found, found.master, now)
