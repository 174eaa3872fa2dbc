"""Faults of names beyond ASCII, and of ids beyond 32 bits."""

import msgspec

from harness.wire import RequestCode
from reference_impl.mutants.registry import V4, V5, family, mutant
from reference_impl.nameserver.core import NameServer
from reference_impl.nameserver.routes import RouteTable
from reference_impl.nameserver.routes_53 import RouteTable53


def _ascii(text):
    """As a server has it that knows no other characters."""
    return text.encode("ascii", "replace").decode() if isinstance(text, str) else text


@family(NameServer.execute)
def _request(change, original, self, command, connection, now):
    """Change the ext fields of a request."""
    ext = {name: change(command.code, name, text) for name, text in (command.ext or {}).items()}
    return original(self, msgspec.structs.replace(command, ext=ext or command.ext), connection, now)


@_request("In a deletion (102), namespace and key are read as ASCII.")
def _102_knows_ascii_alone(code, name, text):
    return _ascii(text) if code == RequestCode.DELETE_KV_CONFIG else text


@_request("In an unregistration (104), names are read as ASCII.")
def _104_knows_ascii_alone(code, name, text):
    return _ascii(text) if code == RequestCode.UNREGISTER_BROKER else text


@_request("In a wipe (205), the broker name is read as ASCII.")
def _205_knows_ascii_alone(code, name, text):
    return _ascii(text) if code == RequestCode.WIPE_WRITE_PERM_OF_BROKER else text


@_request("In a deletion (216), topic and cluster are read as ASCII.")
def _216_knows_ascii_alone(code, name, text):
    return _ascii(text) if code == RequestCode.DELETE_TOPIC_IN_NAMESRV else text


@_request("In a registration of a topic (217), its name is read as ASCII.", V5)
def _217_knows_ascii_alone(code, name, text):
    return _ascii(text) if code == RequestCode.REGISTER_TOPIC_IN_NAMESRV else text


@_request("In 224, the cluster is read as ASCII.")
def _224_knows_ascii_alone(code, name, text):
    return _ascii(text) if code == RequestCode.GET_TOPICS_BY_CLUSTER else text


@_request("In 322, names are read as ASCII.", V5)
def _322_knows_ascii_alone(code, name, text):
    return _ascii(text) if code == RequestCode.QUERY_DATA_VERSION else text


@_request("In 327, the broker name is read as ASCII.")
def _327_knows_ascii_alone(code, name, text):
    return _ascii(text) if code == RequestCode.ADD_WRITE_PERM_OF_BROKER else text


@_request("In 901, names are read as ASCII.", V5)
def _901_knows_ascii_alone(code, name, text):
    return _ascii(text) if code == RequestCode.GET_BROKER_MEMBER_GROUP else text


@_request("In a heartbeat (904), names are read as ASCII.", V5)
def _904_knows_ascii_alone(code, name, text):
    return _ascii(text) if code == RequestCode.BROKER_HEARTBEAT else text


@_request("In an unregistration (104), the broker id has 32 bits.", V4)
def _104_has_32_bit_ids(code, name, text):
    is_id = code == RequestCode.UNREGISTER_BROKER and name == "brokerId" and (text or "").isdigit()
    return str(int(text) % 2**32) if is_id else text


@_request("Names of zones are read as ASCII.", V5)
def zones_are_ascii(code, name, text):
    return _ascii(text) if name == "__ZONE_NAME" else text


@mutant(RouteTable.keep_filter_servers, "Filter servers are kept as ASCII.")
def filter_servers_are_ascii(original, self, key, servers):
    original(self, key, [_ascii(server) for server in servers])


@mutant(RouteTable53.store_mapping, "Texts of mappings are kept as ASCII.", V5)
def mappings_are_ascii(original, self, topic, name, mapping):
    original(self, topic, name, msgspec.structs.replace(mapping, scope=_ascii(mapping.scope)))
