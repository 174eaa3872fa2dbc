"""Faults of the data version query (code 322): what is compared, what is found, what is told."""

from harness.wire import Command, WireError
from harness.wire.bodies import DataVersion
from reference_impl.mutants import V5, mutant
from reference_impl.nameserver.core import NameServer
from reference_impl.nameserver.parts import Parts
from reference_impl.nameserver.routes import MASTER, RouteTable
from reference_impl.nameserver.state import Registered, Registration
from reference_impl.remoting import fields
from reference_impl.remoting.reply import RefusedError, Reply


def _compared(parts: Parts, told: str) -> Parts:
    """Parts whose query answers `changed` with this word for a known broker."""

    def query_data_version(self: NameServer, command: Command, connection: int, now: int) -> Reply:
        reply = parts.nameserver.query_data_version(self, command, connection, now)
        reply.ext = {"changed": told} if reply.body else reply.ext
        return reply

    return parts.override("nameserver", query_data_version)


@mutant("every-version-is-changed", "A query always says that the version differs.")
def every_version_is_changed(parts: Parts) -> Parts:
    return _compared(parts, "true")


@mutant("stored-version-is-not-told", "A query answers without a body.")
def stored_version_is_not_told(parts: Parts) -> Parts:
    def encoded_version(self: NameServer, version: DataVersion) -> bytes:
        return b""

    return parts.override("nameserver", encoded_version)


@mutant("query-orders-versions", "Only a version greater than the stored one has changed.")
def query_orders_versions(parts: Parts) -> Parts:
    def same_version(self: RouteTable, stored: DataVersion, given: DataVersion) -> bool:
        return (given.timestamp, given.counter) <= (stored.timestamp, stored.counter)

    return parts.override("routes", same_version)


@mutant("query-compares-timestamps-only", "Versions with equal timestamps are equal.")
def query_compares_timestamps_only(parts: Parts) -> Parts:
    def same_version(self: RouteTable, stored: DataVersion, given: DataVersion) -> bool:
        return stored.timestamp == given.timestamp

    return parts.override("routes", same_version)


@mutant("query-compares-counters-only", "Versions with equal counters are equal.")
def query_compares_counters_only(parts: Parts) -> Parts:
    def same_version(self: RouteTable, stored: DataVersion, given: DataVersion) -> bool:
        return stored.counter == given.counter

    return parts.override("routes", same_version)


@mutant("query-ignores-state-version", "stateVersion is not compared.", profiles=V5)
def query_ignores_state_version(parts: Parts) -> Parts:
    def same_version(self: RouteTable, stored: DataVersion, given: DataVersion) -> bool:
        return (stored.timestamp, stored.counter) == (given.timestamp, given.counter)

    return parts.override("routes", same_version)


@mutant("query-compares-state-version", "4.9 compares stateVersion too.", profiles=["4.9"])
def query_compares_state_version(parts: Parts) -> Parts:
    def same_version(self: RouteTable, stored: DataVersion, given: DataVersion) -> bool:
        same = parts.routes.same_version(self, stored, given)
        return same and stored.state_version == given.state_version

    return parts.override("routes", same_version)


@mutant("unknown-broker-is-unchanged", "An unknown broker is told that nothing has changed.")
def unknown_broker_is_unchanged(parts: Parts) -> Parts:
    def query_data_version(self: NameServer, command: Command, connection: int, now: int) -> Reply:
        reply = parts.nameserver.query_data_version(self, command, connection, now)
        reply.ext = reply.ext if reply.body else {"changed": "false"}
        return reply

    return parts.override("nameserver", query_data_version)


@mutant("unknown-broker-has-a-version", "An unknown broker is told a version of zeros.")
def unknown_broker_has_a_version(parts: Parts) -> Parts:
    def stored_version(self: RouteTable, cluster: str, address: str) -> DataVersion | None:
        return parts.routes.stored_version(self, cluster, address) or DataVersion()

    return parts.override("routes", stored_version)


@mutant("query-registers", "The query of an unknown broker registers it, without topics.")
def query_registers(parts: Parts) -> Parts:
    def query_data_version(self: NameServer, command: Command, connection: int, now: int) -> Reply:
        reply = parts.nameserver.query_data_version(self, command, connection, now)
        if not reply.body:
            cluster, broker, address = (
                fields.text(command.ext, name) or "" for name in ("clusterName", "brokerName", "brokerAddr")
            )
            version = self.given_version(command) or DataVersion()
            self.routes.register(Registration(cluster, broker, address, MASTER, version, {}), connection, now)
        return reply

    return parts.override("nameserver", query_data_version)


@mutant("query-stores-its-version", "A query stores the version that it brings.")
def query_stores_its_version(parts: Parts) -> Parts:
    def query_data_version(self: NameServer, command: Command, connection: int, now: int) -> Reply:
        reply = parts.nameserver.query_data_version(self, command, connection, now)
        record = self.routes.live.get(self.routes.live_key(*self.queried_broker(command)))
        given = self.given_version(command)
        if record is not None and given is not None:
            record.version = given
        return reply

    return parts.override("nameserver", query_data_version)


@mutant("query-ignores-cluster", "A query finds a broker by its address alone.", profiles=V5)
def query_ignores_cluster(parts: Parts) -> Parts:
    def stored_version(self: RouteTable, cluster: str, address: str) -> DataVersion | None:
        found = (record.version for record in self.live.values() if record.address == address)
        return next(found, None)

    return parts.override("routes", stored_version)


@mutant("query-compares-cluster", "A query finds a broker only in its own cluster.", profiles=["4.9"])
def query_compares_cluster(parts: Parts) -> Parts:
    def query_data_version(self: NameServer, command: Command, connection: int, now: int) -> Reply:
        record = self.routes.live.get(self.routes.live_key(*self.queried_broker(command)))
        if record is not None and record.cluster != fields.text(command.ext, "clusterName"):
            return Reply(0, ext={"changed": "true"})
        return parts.nameserver.query_data_version(self, command, connection, now)

    return parts.override("nameserver", query_data_version)


@mutant(
    "name-has-one-data-version",
    "All brokers of a name are told the version that one of them registered first.",
)
def name_has_one_data_version(parts: Parts) -> Parts:
    def stored_version(self: RouteTable, cluster: str, address: str) -> DataVersion | None:
        for broker in self.brokers.values():
            if address in broker.addresses.values():
                return parts.routes.stored_version(self, cluster, next(iter(broker.addresses.values())))
        return None

    return parts.override("routes", stored_version)


@mutant("slaves-have-no-data-version", "A slave is told that it is unknown.")
def slaves_have_no_data_version(parts: Parts) -> Parts:
    def stored_version(self: RouteTable, cluster: str, address: str) -> DataVersion | None:
        masters = {broker.addresses.get(MASTER) for broker in self.brokers.values()}
        return parts.routes.stored_version(self, cluster, address) if address in masters else None

    return parts.override("routes", stored_version)


def _keeping(parts: Parts, *, greatest: bool) -> Parts:
    """Parts whose registration keeps the version that is stored, at least where that is greater."""

    def register(
        self: RouteTable, registration: Registration, connection: int, now: int
    ) -> Registered | None:
        key = self.live_key(registration.cluster, registration.address)
        known = self.live.get(key)
        registered = parts.routes.register(self, registration, connection, now)
        if known is not None and (not greatest or known.version.timestamp > registration.version.timestamp):
            self.live[key].version = known.version
        return registered

    return parts.override("routes", register)


@mutant(
    "greatest-version-is-stored", "A registration with an earlier version does not replace the stored one."
)
def greatest_version_is_stored(parts: Parts) -> Parts:
    return _keeping(parts, greatest=True)


@mutant("first-version-is-stored", "The version of the first registration stays stored.")
def first_version_is_stored(parts: Parts) -> Parts:
    return _keeping(parts, greatest=False)


@mutant(
    "version-is-told-to-its-own-connection", "A version is known only on the registrant's own connection."
)
def version_is_told_to_its_own_connection(parts: Parts) -> Parts:
    def query_data_version(self: NameServer, command: Command, connection: int, now: int) -> Reply:
        record = self.routes.live.get(self.routes.live_key(*self.queried_broker(command)))
        if record is not None and record.connection != connection:
            return Reply(0, ext={"changed": "true"})
        return parts.nameserver.query_data_version(self, command, connection, now)

    return parts.override("nameserver", query_data_version)


@mutant("stored-version-is-a-float", "The numbers of the stored version are told as a double holds them.")
def stored_version_is_a_float(parts: Parts) -> Parts:
    def encoded_version(self: NameServer, version: DataVersion) -> bytes:
        rounded = DataVersion(
            int(float(version.counter)), int(float(version.timestamp)), version.state_version
        )
        return parts.nameserver.encoded_version(self, rounded)

    return parts.override("nameserver", encoded_version)


@mutant("no-body-is-refused", "A query without a body is refused.", profiles=V5)
def no_body_is_refused(parts: Parts) -> Parts:
    def given_version(self: NameServer, command: Command) -> DataVersion | None:
        if not command.body:
            raise RefusedError("the body is missing")
        return parts.nameserver.given_version(self, command)

    return parts.override("nameserver", given_version)


@mutant("undecodable-version-is-no-version", "A body that cannot be read counts as none.")
def undecodable_version_is_no_version(parts: Parts) -> Parts:
    def given_version(self: NameServer, command: Command) -> DataVersion | None:
        try:
            return DataVersion.decode(command.body)
        except WireError:
            return None

    return parts.override("nameserver", given_version)


@mutant("replaced-address-stays-live", "An address that another has replaced is known for ever.")
def replaced_address_stays_live(parts: Parts) -> Parts:
    def connection_lost(self: RouteTable, connection: int, peer: str) -> None:
        kept = {
            key: record
            for key, record in self.live.items()
            if not any(record.address in broker.addresses.values() for broker in self.brokers.values())
        }
        parts.routes.connection_lost(self, connection, peer)
        self.work()
        self.live.update(kept)

    return parts.override("routes", connection_lost)
