"""Faults of registration (code 103): who is listed, what a registrant learns, identifiers."""

import re

import msgspec

from harness.wire import ResponseCode, Serialization
from reference_impl.mutants.registry import after, mutant
from reference_impl.nameserver.core import NameServer
from reference_impl.nameserver.core_53 import NameServer53
from reference_impl.nameserver.endpoint import Endpoint
from reference_impl.nameserver.routes import MASTER, RouteTable
from reference_impl.nameserver.state import Registered
from reference_impl.remoting.reply import RefusedError, Reply

_REQUIRED = {"brokerName", "brokerAddr", "clusterName", "haServerAddr", "brokerId"}
_OPTIONAL = {"compressed", "bodyCrc32", "heartbeatTimeoutMillis", "enableActingMaster", "__ZONE_NAME"}


# -- who is listed, and the answer to a registrant -----------------------------------------------------------


@mutant(RouteTable.register, "A registration succeeds and is forgotten.")
def registration_is_not_kept(original, self, registration, connection, now):
    return Registered()


@mutant(RouteTable.told, "A master gets its own address as its master's.")
def master_is_told_itself(original, self, broker, registration):
    if registration.id == MASTER:
        return Registered(registration.address, registration.ha_address)
    return original(self, broker, registration)


@mutant(RouteTable.told, "A slave never gets the addresses of its master.")
def slave_is_told_nothing(original, self, broker, registration):
    return Registered()


@mutant(RouteTable.told, "A slave whose name has no master gets its own address.")
def slave_is_told_itself(original, self, broker, registration):
    if registration.id != MASTER and MASTER not in broker.addresses:
        return Registered(registration.address, registration.ha_address)
    return original(self, broker, registration)


@after(NameServer.registered_ext, "A slave gets the HA address of its master as masterAddr and vice versa.")
def master_addresses_are_swapped(ext):
    names = {"masterAddr": "haServerAddr", "haServerAddr": "masterAddr"}
    return {names[name]: value for name, value in ext.items()}


@mutant(RouteTable.told, "A slave gets the first master that its name ever had.")
def first_master_is_remembered(original, self, broker, registration):
    memory: dict[str, Registered] = self.__dict__.setdefault("first_masters", {})
    told = original(self, broker, registration)
    if told.master is not None:
        memory.setdefault(broker.name, told)
    return memory.get(broker.name, told)


@mutant(
    RouteTable.put_address, "An address that registers with an id that is held does not replace the holder."
)
def id_belongs_to_first_address(original, self, broker, registration):
    if registration.id in broker.addresses:
        return False
    return original(self, broker, registration)


@after(RouteTable.forget_other_ids, "A broker that registers with another id loses the topics of its name.")
def demotion_drops_topics(moved, self, broker):
    if moved:
        self.drop_topics_of(broker)


@mutant(
    RouteTable.updates, "A name that is new to a known address publishes nothing of a known version.", ["4.9"]
)
def new_name_of_an_address_publishes_nothing(original, self, known, *, first, moved, changed):
    return original(self, known, first=False, moved=moved, changed=changed)


@mutant(RouteTable.put_address, "A registration takes its address away from every other broker name.")
def address_belongs_to_one_name(original, self, broker, registration):
    for other in list(self.brokers.values()):
        if other is not broker:
            self.remove_address(other, registration.address)
            if not other.addresses:
                self.forget_name(other)
    return original(self, broker, registration)


@mutant(RouteTable.join_cluster, "The broker data of a name shows the cluster of its latest registration.")
def cluster_follows_latest_registration(original, self, registration):
    original(self, registration)
    broker = self.brokers.get(registration.broker)
    if broker is not None and broker.cluster != registration.cluster:
        broker.cluster = registration.cluster
        self.revision += 1


@mutant(RouteTable.join_cluster, "A broker name is listed only under the cluster of its latest registration.")
def name_has_one_cluster(original, self, registration):
    for names in self.clusters.values():
        names.pop(registration.broker, None)
    original(self, registration)


@mutant(Endpoint.write, "An answer with a binary header has one ext field, if one is long or not ASCII.")
def long_binary_answers_have_one_field(original, self, response):
    ext = response.ext or {}
    if response.serialization == Serialization.ROCKETMQ and any(
        not value.isascii() or len(value) > 127 for value in ext.values()
    ):
        response = msgspec.structs.replace(response, ext=dict([*ext.items()][:1]))
    return original(self, response)


# -- identifiers ---------------------------------------------------------------------------------------------


@after(NameServer.registration, "Non-ASCII characters of names become question marks.")
def names_are_ascii(registration):
    registration.broker = registration.broker.encode("ascii", "replace").decode()


@after(NameServer.registration, "Backslashes in broker names are dropped.")
def names_lose_backslashes(registration):
    registration.broker = registration.broker.replace("\\", "")


@after(NameServer.registration, "A topic whose name is the word null is lost.")
def topic_named_null_is_lost(registration):
    registration.topics.pop("null", None)


@after(Endpoint.written, "Bodies lose the characters that are escaped as numbers.")
def bodies_lose_control_characters(body):
    return re.sub(rb"(?<!\\)\\u00[0-9a-fA-F]{2}|\x7f", b"", body)


@after(NameServer.registration, "Only the low 32 bits of a broker id are kept.")
def broker_id_has_32_bits(registration):
    registration.id &= 0xFFFFFFFF


@mutant(NameServer.needed, "A registration without a readable brokerId counts as a master's.")
def missing_broker_id_is_master(original, self, value, name):
    return MASTER if name == "brokerId" and value is None else original(self, value, name)


@after(NameServer.registration, "The brackets of IPv6 addresses are dropped.")
def ipv6_brackets_are_dropped(registration):
    registration.address = registration.address.replace("[", "").replace("]", "")


@after(NameServer.registration, "A registration without compressed and bodyCrc32 is refused.")
def optional_fields_are_required(registration, command):
    if not {"compressed", "bodyCrc32"} <= set(command.ext or {}):
        raise RefusedError("compressed and bodyCrc32 are needed")


@after(NameServer.registration, "A registration without haServerAddr is refused.")
def ha_address_is_required(registration):
    if registration.ha_address is None:
        raise RefusedError("haServerAddr is missing")


@after(NameServer.registration, "A registration with an unknown ext field is refused.")
def unknown_ext_fields_are_refused(registration, command):
    if not set(command.ext or {}) <= _REQUIRED | _OPTIONAL:
        raise RefusedError("unknown field")


@mutant(NameServer.register, "A one-way registration has no effect.")
def one_way_registration_is_dropped(original, self, command, connection, now):
    if command.is_oneway:
        return Reply(ResponseCode.SUCCESS)
    return original(self, command, connection, now)


@mutant(NameServer53.heartbeat, "The heartbeat of an unknown broker registers it.")
def heartbeat_registers(original, self, command, connection, now):
    self.routes.register(self.registration(command, now), connection, now)
    return Reply(ResponseCode.SUCCESS)
