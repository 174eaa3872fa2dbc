"""What a case asks the controller of a NameServer (5.x), which has a port of its own."""

from __future__ import annotations

from typing import Any, Final, Self, Unpack

from harness.session.connection import Connection
from harness.session.exchange import Exchange, View
from harness.session.nameserver.settings import SettingsSession
from harness.session.request_method import RequestMethod
from harness.session.requests import HeaderFields
from harness.session.views import ConfigExchange, JsonExchange, body_member
from harness.wire import Command, RequestCode
from harness.wire.bodies import Properties, SyncStateSet

OF_CONTROLLER: Final = range(1001, 1014)
"""The codes that only a controller serves, and those beside them."""

_SHOWN: Final = 20
"""Ids that a report shows of a body."""
_IN_SYNC: Final = body_member("syncStateSet", of=list)
_TABLE: Final = body_member("replicasInfoTable", of=dict)


class MasterExchange(JsonExchange):
    """A request whose reply names a master."""

    @property
    def master(self) -> Self:
        """View: ``(id, address, epoch)``, None for what it does not name."""

        def read(reply: Command) -> Any:
            ext = reply.ext or {}
            return tuple(ext.get(name) for name in ("masterBrokerId", "masterAddress", "masterEpoch"))

        return self.seen_as(View("master", read, columns=("id", "address", "epoch")))

    @property
    def in_sync(self) -> Self:
        """View: the ids that are in sync, sorted; None without a body."""

        def read(reply: Command) -> Any:
            return sorted(_IN_SYNC.read(reply)) if reply.body else None

        return self.seen_as(View("ids in sync", read, ("syncStateSet",)))


class ReplicasExchange(JsonExchange):
    """Code 1006: BrokerReplicasInfo."""

    def of(self, name: str) -> Self:
        """View: what it says of a broker name, as plain Python; None where it does not list it."""

        def read(reply: Command) -> Any:
            return _TABLE.read(reply).get(name)

        return self.seen_as(View(f"replicas of {name}", read, ("replicasInfoTable", name)))

    def alive(self, name: str) -> Self:
        """View: the ids of a broker name that live, sorted."""

        def read(reply: Command) -> Any:
            found = _TABLE.read(reply).get(name, {})
            listed = [*found.get("inSyncReplicas", []), *found.get("notInSyncReplicas", [])]
            return sorted(one.get("brokerId") for one in listed if one.get("alive"))

        return self.seen_as(View(f"living ids of {name}", read, ("replicasInfoTable", name)))


class ControllerRequests(SettingsSession):
    """The requests of a ``NameServerSession`` that go to the controller."""

    controllers = RequestMethod(Exchange, RequestCode.CONTROLLER_GET_METADATA_INFO)
    controller_config = RequestMethod(ConfigExchange, RequestCode.GET_CONTROLLER_CONFIG)
    next_broker_id = RequestMethod(
        Exchange, RequestCode.CONTROLLER_GET_NEXT_BROKER_ID, broker="brokerName", cluster="clusterName"
    )
    apply_broker_id = RequestMethod(
        Exchange,
        RequestCode.CONTROLLER_APPLY_BROKER_ID,
        broker="brokerName",
        cluster="clusterName",
        id="appliedBrokerId",
        check_code="registerCheckCode",
    )
    register_replica = RequestMethod(
        MasterExchange,
        RequestCode.CONTROLLER_REGISTER_BROKER,
        broker="brokerName",
        cluster="clusterName",
        id="brokerId",
        address="brokerAddress",
    )
    elect_master = RequestMethod(
        MasterExchange,
        RequestCode.CONTROLLER_ELECT_MASTER,
        broker="brokerName",
        cluster="clusterName",
        id="brokerId",
        designate=("designateElect", False),
    )
    replica_info = RequestMethod(MasterExchange, RequestCode.CONTROLLER_GET_REPLICA_INFO, broker="brokerName")
    clean_broker_data = RequestMethod(
        Exchange,
        RequestCode.CLEAN_BROKER_DATA,
        broker="brokerName",
        cluster="clusterName",
        ids=("brokerControllerIdsToClean", None),
        living=("isCleanLivingBroker", None),
    )

    def replicas(self, *names: str) -> ReplicasExchange:
        """CONTROLLER_GET_SYNC_STATE_DATA (1006)."""
        body = b"" if not names else ('["' + '","'.join(names) + '"]').encode()
        code = RequestCode.CONTROLLER_GET_SYNC_STATE_DATA
        return ReplicasExchange(self.request(code, None, body, None, ", ".join(names), {}))

    def alter_in_sync(
        self,
        broker: str,
        ids: list[int],
        *,
        master: int,
        master_epoch: int,
        epoch: int,
        on: Connection | None = None,
        **header: Unpack[HeaderFields],
    ) -> MasterExchange:
        """CONTROLLER_ALTER_SYNC_STATE_SET (1001): the master says who is in sync."""
        ext = {"brokerName": broker, "masterBrokerId": str(master), "masterEpoch": str(master_epoch)}
        body = SyncStateSet(ids, epoch).encode()
        code = RequestCode.CONTROLLER_ALTER_SYNC_STATE_SET
        about = f"{broker}, {ids if len(ids) <= _SHOWN else f'{len(ids)} ids'}"
        return MasterExchange(self.request(code, ext, body, on, about, header))

    def update_controller(self, given: dict[str, str] | bytes) -> Exchange:
        """UPDATE_CONTROLLER_CONFIG (1009)."""
        body = given if isinstance(given, bytes) else Properties(given).encode()
        code = RequestCode.UPDATE_CONTROLLER_CONFIG
        return Exchange(self.request(code, None, body, None, repr(body.decode("iso-8859-1")), {}))
