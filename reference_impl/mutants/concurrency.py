"""What lost races leave behind. The reference serves one request at a time: each loss is made on purpose."""

from harness.wire.bodies import ClusterInfo
from reference_impl.mutants import mutant
from reference_impl.nameserver.parts import Parts
from reference_impl.nameserver.routes import RouteTable
from reference_impl.nameserver.state import Broker, Registered, Registration

_CROWD = 8
_SHOWN = 10
_RETURNS = 4
_BESIDE = 1000


@mutant("crowd-displaces-its-first", "Of eight brokers that register at one moment the first is lost.")
def crowd_displaces_its_first(parts: Parts) -> Parts:
    def register(
        self: RouteTable, registration: Registration, connection: int, now: int
    ) -> Registered | None:
        moment: tuple[int, list[str]] = self.__dict__.get("moment", (-1, []))
        names = moment[1] if moment[0] == now else []
        self.__dict__["moment"] = (now, [*names, registration.broker])
        answer = parts.routes.register(self, registration, connection, now)
        if len(names) + 1 == _CROWD and names[0] in self.brokers:
            self.forget_name(self.brokers[names[0]])
        return answer

    return parts.override("routes", register)


@mutant("eighth-departure-is-lost", "Of brokers that leave every eighth stays listed.")
def eighth_departure_is_lost(parts: Parts) -> Parts:
    def forget_name(self: RouteTable, broker: Broker) -> None:
        gone = self.__dict__["gone"] = self.__dict__.get("gone", 0) + 1
        if gone % _CROWD:
            parts.routes.forget_name(self, broker)

    return parts.override("routes", forget_name)


@mutant("cluster-information-shows-the-latest", "Cluster information has the ten names that came last.")
def cluster_information_shows_the_latest(parts: Parts) -> Parts:
    def cluster_info(self: RouteTable) -> ClusterInfo:
        info = parts.routes.cluster_info(self)
        for name in list(info.broker_addr_table)[:-_SHOWN]:
            del info.broker_addr_table[name]
        return info

    return parts.override("routes", cluster_info)


@mutant("topic-list-shows-the-latest", "The list of all topics has the ten that came last.")
def topic_list_shows_the_latest(parts: Parts) -> Parts:
    def topic_names(self: RouteTable) -> list[str]:
        return parts.routes.topic_names(self)[-_SHOWN:]

    return parts.override("routes", topic_names)


@mutant(
    "contested-id-has-two-holders", "An address that registers with an id that is held gets one beside it."
)
def contested_id_has_two_holders(parts: Parts) -> Parts:
    def put_address(self: RouteTable, broker: Broker, registration: Registration) -> bool:
        if broker.addresses.get(registration.id, registration.address) == registration.address:
            return parts.routes.put_address(self, broker, registration)
        broker.addresses[registration.id + _BESIDE] = registration.address
        self.revision += 1
        return False

    return parts.override("routes", put_address)


@mutant("broker-returns-four-times", "A broker that registers over more than four connections is not served.")
def broker_returns_four_times(parts: Parts) -> Parts:
    def register(
        self: RouteTable, registration: Registration, connection: int, now: int
    ) -> Registered | None:
        used: dict[str, set[int]] = self.__dict__.setdefault("used", {})
        connections = used.setdefault(registration.address, set())
        connections.add(connection)
        if len(connections) > _RETURNS:
            return Registered()
        return parts.routes.register(self, registration, connection, now)

    return parts.override("routes", register)
