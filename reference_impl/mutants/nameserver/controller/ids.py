"""Faults of ids, of what Brokers say when they come, and of where the controller is."""

import msgspec

from harness.wire import RequestCode, ResponseCode, WireError
from reference_impl.mutants.registry import V5, after, mutant
from reference_impl.nameserver.controller import Controller, Replicas
from reference_impl.nameserver.controller.replicas import FIRST_ID, BrokerSet, Replica
from reference_impl.nameserver.endpoint import Endpoint
from reference_impl.remoting.effects import Persist
from reference_impl.remoting.reply import Reply


@mutant(Endpoint.execute, "The NameServer serves the codes of its controller, too.", V5)
def controller_answers_at_either_port(original, self, command, connection, now):
    if self.controller is not None and command.code in self.controller.handlers:
        return self.controller.execute(command, connection, now)
    return original(self, command, connection, now)


@mutant(Controller.unknown_request, "The controller answers codes that it does not know with SUCCESS.", V5)
def unknown_codes_are_done_by_the_controller(original, self, command):
    return Reply(ResponseCode.SUCCESS)


@mutant(Controller.execute, "The controller closes every connection that asks it for anything.", V5)
def controller_closes_every_connection(original, self, command, connection, now):
    raise WireError("a controller serves nothing")


@mutant(Controller.execute, "The controller answers nothing.", V5)
def controller_answers_nothing(original, self, command, connection, now):
    return None


@after(Controller.metadata, "The controller says that it does not lead.", V5)
def controller_follows(reply):
    reply.ext["isLeader"] = "false"


@after(Controller.metadata, "The list of controllers has addresses without ids.", V5)
def peers_are_named_without_their_id(reply):
    reply.ext["peers"] = f"{reply.ext['controllerLeaderAddress']};"


@after(Controller.next_id, "Who asks for the next id takes it.", V5)
def asking_takes_an_id(reply, self, command):
    found = self.replicas.get(command.ext.get("brokerName"))
    if found is not None:
        found.next_id += 1
    else:
        name = command.ext.get("brokerName")
        self.replicas.sets[name] = BrokerSet(command.ext.get("clusterName"), name, next_id=2)


@after(Controller.next_id, "The next id counts the Brokers of all names.", V5)
def ids_are_counted_over_all_names(reply, self):
    number = FIRST_ID + sum(len(one.replicas) for one in self.replicas.sets.values())
    reply.ext["nextBrokerId"] = str(number)


@after(Controller.next_id, "The next id is always 1.", V5)
def next_id_is_always_one(reply):
    reply.ext["nextBrokerId"] = "1"


@mutant(Controller.refusal_of_id, "An id that is taken is given to anyone.", V5)
def id_is_given_to_anyone(original, self, name, number, check_code):
    return original(self, name, number, check_code) if self.replicas.get(name) is None else None


@after(Controller.refusal_of_id, "An id that is taken is refused to the Broker that has it.", V5)
def id_is_given_once_only(refused, self, name, number):
    found = self.replicas.get(name)
    if found is not None and number in found.replicas:
        return "the id is taken"
    return refused


@mutant(Replicas.add, "An id that is taken again counts as a further one.", V5)
def repeated_application_counts(original, self, cluster, name, number, replica):
    known = self.get(name)
    original(self, cluster, name, number, replica)
    if known is not None and known.next_id <= number + 1:
        known.next_id += 1


@mutant(Replicas.add, "The address of a Broker is its whole check code.", V5)
def address_is_the_code(original, self, cluster, name, number, replica):
    original(self, cluster, name, number, Replica(replica.check_code, replica.check_code))


@mutant(Controller.refusal_of_id, "A new name may begin with any id.", V5)
def name_begins_with_any_id(original, self, name, number, check_code):
    return None if self.replicas.get(name) is None else original(self, name, number, check_code)


@after(Controller.refusal_of_id, "Of a known name, only the next id can be taken.", V5)
def only_the_next_id_is_given(refused, self, name, number):
    found = self.replicas.get(name)
    return "not the next id" if found is not None and number > found.next_id else refused


@mutant(Replicas.load, "The controller begins with nothing.", V5)
def controller_forgets_at_its_end(original, self, stored):
    return


@after(Replicas.dump, "The set in sync is not written down.", V5)
def set_in_sync_is_not_written(written, self):
    known = msgspec.json.decode(written)
    for one in known.values():
        one["in_sync"] = []
    return msgspec.json.encode(known)


@mutant(Replicas.add, "An id that is given is not written down.", V5)
def id_is_not_written(original, self, *given):
    _unwritten(original, self, *given)


@mutant(Replicas.move, "Another address is not written down.", V5)
def move_is_not_written(original, self, *given):
    _unwritten(original, self, *given)


@mutant(Replicas.lead, "An election is not written down.", V5)
def election_is_not_written(original, self, *given):
    _unwritten(original, self, *given)


@mutant(Replicas.lose_master, "That a name has lost its master is not written down.", V5)
def loss_of_a_master_is_not_written(original, self, *given):
    _unwritten(original, self, *given)


@mutant(Replicas.remove, "That Brokers are forgotten is not written down.", V5)
def forgetting_is_not_written(original, self, *given):
    _unwritten(original, self, *given)


def _unwritten(change, replicas, *given):
    """Makes a change, which only the next one has written down with it."""
    before = replicas.unwritten
    change(replicas, *given)
    replicas.unwritten = before


@mutant(Controller.has_living_master, "A registration tells no master.", V5)
def registration_tells_no_master(original, self, found, now):
    return False


@after(Controller.register, "A registration does not tell who is in sync.", V5)
def registration_tells_no_set(reply):
    reply.body = b""


@mutant(Replicas.move, "The address that a Broker applied with stays.", V5)
def address_stays_for_ever(original, self, found, number, address):
    return


@after(Replicas.move, "A new address is that of every Broker of the name.", V5)
def all_move_together(nothing, found, address):
    for one in found.replicas.values():
        one.address = address


@mutant(Controller.has_living_master, "A registration returns a master that does not live.", V5)
def dead_master_is_told(original, self, found, now):
    return found.master is not None


@mutant(Controller.replica_info, "Who asks about an unknown name makes it.", V5)
def unknown_names_are_made(original, self, command, connection, now):
    name = (command.ext or {}).get("brokerName")
    if name is not None:
        self.replicas.sets.setdefault(name, BrokerSet(None, name))
    return original(self, command, connection, now)


@mutant(Controller.register, "A Broker of a known name is registered with any id.", V5)
def unknown_ids_are_registered(original, self, command, connection, now):
    found = self.replicas.get(command.ext.get("brokerName"))
    number = int(command.ext.get("brokerId") or 0)
    if found is not None and number not in found.replicas:
        found.replicas[number] = Replica(command.ext.get("brokerAddress"), "")
    return original(self, command, connection, now)


@mutant(Endpoint.execute, "To the controller, a field that is missing counts as empty.", V5)
def missing_fields_are_empty(original, self, command, connection, now):
    known = {"brokerName": "", "registerCheckCode": "", "appliedBrokerId": "1", "brokerId": "1"}
    if command.code not in range(
        RequestCode.CONTROLLER_ALTER_SYNC_STATE_SET, RequestCode.CONTROLLER_APPLY_BROKER_ID + 1
    ):
        return original(self, command, connection, now)
    whole = known | {"brokerAddress": ""} | (command.ext or {})
    return original(self, msgspec.structs.replace(command, ext=whole), connection, now)


@after(
    Controller.register, "A registration that is refused is answered without the names of the request.", V5
)
def refused_registration_names_nothing(reply):
    if reply.code != ResponseCode.SUCCESS:
        reply.ext = None


@mutant(Endpoint.half_closed, "What the end of a half-closed connection changes is not written.", V5)
def half_closing_is_not_written(original, self, connection, now):
    return [one for one in original(self, connection, now) if not isinstance(one, Persist)]


@after(Controller.register, "A refused registration is answered without a remark.", V5)
def refused_registration_gives_no_reason(reply):
    reply.remark = None


@after(Controller.elect, "An election that is refused is answered without a remark.", V5)
def elections_are_refused_without_a_reason(reply):
    reply.remark = None


@after(Controller.heartbeat, "A heartbeat without an id is refused without a remark.", V5)
def heartbeats_are_refused_without_a_reason(reply):
    reply.remark = None


@after(Controller.execute, "No answer of the controller has a remark.", V5)
def controller_refuses_without_a_reason(reply):
    reply.remark = None


@after(Controller.apply_id, "An id that is refused is answered without the names of the request.", V5)
def refused_ids_name_nothing(reply):
    if reply.code != ResponseCode.SUCCESS:
        reply.ext = None


@after(Controller.unknown_request, "The controller refuses unknown codes without a remark.", V5)
def unknown_codes_are_refused_without_a_reason(reply):
    reply.remark = None


@after(Controller.update_config, "Settings that are protected are refused without a remark.", V5)
def protected_settings_are_refused_without_a_reason(reply):
    reply.remark = None
