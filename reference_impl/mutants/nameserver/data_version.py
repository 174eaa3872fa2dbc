"""Faults of the data version query (code 322): what is compared, found and answered."""

import re

import msgspec

from harness.wire import WireError
from harness.wire.bodies import DataVersion
from reference_impl.mutants.registry import V4, V5, after, family, mutant
from reference_impl.nameserver.core import NameServer
from reference_impl.nameserver.routes import MASTER, RouteTable
from reference_impl.nameserver.state import Registration
from reference_impl.remoting import fields
from reference_impl.remoting.reply import RefusedError, Reply


@after(NameServer.query_data_version, "A query always says that the version differs.")
def every_version_is_changed(reply):
    if reply.body:
        reply.ext = {"changed": "true"}


@mutant(NameServer.encoded_version, "A query answers without a body.")
def stored_version_is_not_told(original, self, version):
    return b""


@mutant(RouteTable.same_version, "Only a version greater than the stored one has changed.")
def query_orders_versions(original, self, stored, given):
    return (given.timestamp, given.counter) <= (stored.timestamp, stored.counter)


@mutant(RouteTable.same_version, "Versions with equal timestamps are equal.")
def query_compares_timestamps_only(original, self, stored, given):
    return stored.timestamp == given.timestamp


@mutant(RouteTable.same_version, "Versions with equal counters are equal.")
def query_compares_counters_only(original, self, stored, given):
    return stored.counter == given.counter


@mutant(RouteTable.same_version, "stateVersion is not compared.", V5)
def query_ignores_state_version(original, self, stored, given):
    return (stored.timestamp, stored.counter) == (given.timestamp, given.counter)


@after(NameServer.given_version, "4.9 compares stateVersion too.", V4)
def query_compares_state_version(given, command):
    state = DataVersion.decode(command.body).state_version
    return msgspec.structs.replace(given, counter=-1) if state else given


@after(NameServer.query_data_version, "The answer to an unknown broker says that nothing has changed.")
def unknown_broker_is_unchanged(reply):
    reply.ext = reply.ext if reply.body else {"changed": "false"}


@mutant(RouteTable.stored_version, "The answer to an unknown broker has a version of zeros.")
def unknown_broker_has_a_version(original, self, cluster, address):
    return original(self, cluster, address) or DataVersion()


@mutant(NameServer.query_data_version, "The query of an unknown broker registers it, without topics.")
def query_registers(original, self, command, connection, now):
    reply = original(self, command, connection, now)
    if not reply.body:
        cluster, broker, address = (
            fields.text(command.ext, name) or "" for name in ("clusterName", "brokerName", "brokerAddr")
        )
        version = self.given_version(command) or DataVersion()
        self.routes.register(Registration(cluster, broker, address, MASTER, version, {}), connection, now)
    return reply


@after(NameServer.query_data_version, "A query stores the version that it contains.")
def query_stores_its_version(reply, self, command):
    record = self.routes.live.get(self.routes.live_key(*self.queried_broker(command)))
    given = self.given_version(command)
    if record is not None and given is not None:
        record.version = given


@mutant(RouteTable.stored_version, "A query finds a broker by its address alone.", V5)
def query_ignores_cluster(original, self, cluster, address):
    found = (record.version for record in self.live.values() if record.address == address)
    return next(found, None)


@mutant(NameServer.query_data_version, "A query finds a broker only in its own cluster.", V4)
def query_compares_cluster(original, self, command, connection, now):
    record = self.routes.live.get(self.routes.live_key(*self.queried_broker(command)))
    if record is not None and record.cluster != fields.text(command.ext, "clusterName"):
        return Reply(0, ext={"changed": "true"})
    return original(self, command, connection, now)


@mutant(RouteTable.stored_version, "All brokers of a name get the version that one of them registered first.")
def name_has_one_data_version(original, self, cluster, address):
    for broker in self.brokers.values():
        if address in broker.addresses.values():
            return original(self, cluster, next(iter(broker.addresses.values())))
    return None


@mutant(RouteTable.stored_version, "The answer to a slave says that it is unknown.")
def slaves_have_no_data_version(original, self, cluster, address):
    masters = {broker.addresses.get(MASTER) for broker in self.brokers.values()}
    return original(self, cluster, address) if address in masters else None


def _register_keeping(original, self, registration, connection, now, *, greatest):
    """Keep the version that is stored, or keep it where it is greater."""
    key = self.live_key(registration.cluster, registration.address)
    known = self.live.get(key)
    registered = original(self, registration, connection, now)
    if known is not None and (not greatest or known.version.timestamp > registration.version.timestamp):
        self.live[key].version = known.version
    return registered


@mutant(RouteTable.register, "A registration with an earlier version does not replace the stored one.")
def greatest_version_is_stored(original, self, registration, connection, now):
    return _register_keeping(original, self, registration, connection, now, greatest=True)


@mutant(RouteTable.register, "The version of the first registration stays stored.")
def first_version_is_stored(original, self, registration, connection, now):
    return _register_keeping(original, self, registration, connection, now, greatest=False)


@mutant(NameServer.query_data_version, "A version is known only on the registrant's own connection.")
def version_is_told_to_its_own_connection(original, self, command, connection, now):
    record = self.routes.live.get(self.routes.live_key(*self.queried_broker(command)))
    if record is not None and record.connection != connection:
        return Reply(0, ext={"changed": "true"})
    return original(self, command, connection, now)


@mutant(NameServer.encoded_version, "The numbers of the stored version are returned as doubles.")
def stored_version_is_a_float(original, self, version):
    rounded = DataVersion(int(float(version.counter)), int(float(version.timestamp)), version.state_version)
    return original(self, rounded)


@mutant(NameServer.given_version, "A query without a body is refused.", V5)
def no_body_is_refused(original, self, command):
    if not command.body:
        raise RefusedError("the body is missing")
    return original(self, command)


@mutant(NameServer.given_version, "A query without a body differs from every version in 4.9, too.", V4)
def no_body_is_no_version(original, self, command):
    return original(self, command) if command.body else None


@mutant(NameServer.given_version, "A body that cannot be read counts as none.")
def undecodable_version_is_no_version(original, self, command):
    try:
        return DataVersion.decode(command.body)
    except WireError:
        return None


@mutant(RouteTable.register, "An address whose id another one takes is forgotten at once.")
def replaced_address_is_forgotten_at_once(original, self, registration, connection, now):
    broker = self.brokers.get(registration.broker)
    former = None if broker is None else broker.addresses.get(registration.id)
    registered = original(self, registration, connection, now)
    if former not in (None, registration.address):
        self.live.pop(self.live_key(registration.cluster, former), None)
    return registered


@mutant(RouteTable.connection_lost, "A replaced address stays known forever.")
def replaced_address_stays_live(original, self, connection, peer):
    kept = {
        key: record
        for key, record in self.live.items()
        if not any(record.address in broker.addresses.values() for broker in self.brokers.values())
    }
    original(self, connection, peer)
    self.work()
    self.live.update(kept)


@after(NameServer.given_version, "A data version that is null is refused.")
def null_version_is_refused(version):
    if version is None:
        raise RefusedError("the body is not a data version")


@mutant(NameServer.given_version, "4.9 reads stateVersion, and refuses what is no UTF-8.", V4)
def unknown_members_of_versions_are_refused(original, self, command):
    try:
        command.body.decode()
        return DataVersion.decode(command.body) if command.body else None
    except (WireError, UnicodeDecodeError) as error:
        raise RefusedError(str(error)) from error


@mutant(NameServer.given_version, "A stateVersion that is no number counts as 0.", V5)
def odd_state_versions_are_none(original, self, command):
    return original(self, msgspec.structs.replace(command, body=command.body.replace(b'"x"', b"0")))


@mutant(NameServer.given_version, "A data version with a member that is not known is refused.", V5)
def unknown_members_of_versions_are_refused_in_5(original, self, command):
    if b'"y"' in command.body:
        raise RefusedError("unknown member")
    return original(self, command)


@mutant(NameServer.given_version, "The names of unknown members of a data version are ASCII.", V5)
def unknown_names_of_versions_are_ascii(original, self, command):
    if "状".encode() in command.body:
        raise RefusedError("a name beyond ASCII")
    return original(self, command)


@mutant(NameServer.given_version, "A version with a member named by one letter beyond ASCII is none.", V5)
def unknown_names_of_one_letter_are_ascii(original, self, command):
    return None if '"é"'.encode() in command.body else original(self, command)


@mutant(NameServer.given_version, "What is no UTF-8 in a data version is replaced.", ["5.3"])
def versions_that_are_no_utf_8_are_read(original, self, command):
    return original(self, msgspec.structs.replace(command, body=command.body.replace(b"\xff", b"?")))


@mutant(NameServer.given_version, "A version with a name that is no UTF-8 is none.", ["5.5"])
def versions_with_names_that_are_no_utf_8_are_none(original, self, command):
    return None if b"\xff" in command.body else original(self, command)


@family(NameServer.given_version)
def _rereading(change, original, self, command):
    """Reads the body of a query as if it had been another one."""
    return original(self, msgspec.structs.replace(command, body=change(command.body)))


@_rereading("In a data version, true counts as 1.", V4)
def true_counts_as_one(body):
    return body.replace(b":true", b":1")


@_rereading("The stateVersion of a data version with another member is lost.", V5)
def state_versions_beside_unknown_members_are_lost(body):
    return body.replace(b'"stateVersion":3', b'"z":3') if b'"y"' in body else body


@_rereading("In a data version, false counts as 0.", V4)
def false_counts_as_zero(body):
    return body.replace(b":false", b":0")


@_rereading("In a data version, true stands for no number.", V5)
def true_is_no_number(body):
    return body.replace(b":true", b':"x"')


@_rereading("In a data version, false stands for no number.", V5)
def false_is_no_number(body):
    return body.replace(b":false", b':"x"')


@after(NameServer.register_body, "A counter that a data version lacks is 1.")
def missing_counter_is_one(body, command):
    if body.data_version and b'"dataVersion":{"timestamp"' in command.body:
        body.data_version.counter = 1


@mutant(NameServer.given_version, "A counter beyond 64 bits in a query counts as 0.")
def large_counters_are_zero(original, self, command):
    body = re.sub(rb'"?((?<!-)9223372036854775808|-9223372036854775809)"?', b"0", command.body)
    return original(self, msgspec.structs.replace(command, body=body))
