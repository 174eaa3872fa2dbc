"""The steps that a controller understands: at a port of its own, in a NameServer of 5.x.

Brokers in controller mode are *replicas* of a name. Symbols are those of `nameserver.steps`.
"""

from __future__ import annotations

from typing import ClassVar, Literal

from harness.program.step import Request, address, name, plain
from harness.wire import RequestCode

_NAME = {"clusterName": name("cluster"), "brokerName": name("broker")}


class ControllerRequest(
    Request, frozen=True, kw_only=True, omit_defaults=True, tag_field="do", tag="controller-request"
):
    """What all of them are, so that one look tells them from requests to the other port."""


class NextId(ControllerRequest, frozen=True, kw_only=True, omit_defaults=True, tag_field="do", tag="next-id"):
    letters: ClassVar = "n"
    codes: ClassVar = (RequestCode.CONTROLLER_GET_NEXT_BROKER_ID,)
    carries: ClassVar = _NAME

    cluster: str = "c0"
    broker: str = "b0"


class ApplyId(
    ControllerRequest, frozen=True, kw_only=True, omit_defaults=True, tag_field="do", tag="apply-id"
):
    letters: ClassVar = "A"
    codes: ClassVar = (RequestCode.CONTROLLER_APPLY_BROKER_ID,)
    carries: ClassVar = {**_NAME, "appliedBrokerId": plain("id")}

    cluster: str = "c0"
    broker: str = "b0"
    address: str = "a1"
    id: int = 1
    start: str = "1"
    """Which start of the Broker it is: with the address, that makes its check code."""


class RegisterReplica(
    ControllerRequest, frozen=True, kw_only=True, omit_defaults=True, tag_field="do", tag="register-replica"
):
    letters: ClassVar = "P"
    codes: ClassVar = (RequestCode.CONTROLLER_REGISTER_BROKER,)
    carries: ClassVar = {**_NAME, "brokerId": plain("id"), "brokerAddress": address("address")}

    cluster: str = "c0"
    broker: str = "b0"
    address: str = "a1"
    id: int = 1


class ReplicaBeat(
    ControllerRequest, frozen=True, kw_only=True, omit_defaults=True, tag_field="do", tag="replica-beat"
):
    letters: ClassVar = "b"
    codes: ClassVar = (RequestCode.BROKER_HEARTBEAT,)
    carries: ClassVar = {
        **_NAME,
        "brokerId": plain("id"),
        "brokerAddr": address("address"),
        "heartbeatTimeoutMills": plain("lasts"),
        "epoch": plain("log_epoch"),
        "maxOffset": plain("log_end"),
        "electionPriority": plain("priority"),
    }

    cluster: str = "c0"
    broker: str = "b0"
    address: str = "a1"
    id: int = 1
    lasts: int | None = 3_600_000
    """``heartbeatTimeoutMills``."""
    log_epoch: int | None = None
    log_end: int | None = None
    priority: int | None = None


class Elect(ControllerRequest, frozen=True, kw_only=True, omit_defaults=True, tag_field="do", tag="elect"):
    letters: ClassVar = "E"
    codes: ClassVar = (RequestCode.CONTROLLER_ELECT_MASTER,)
    carries: ClassVar = {**_NAME, "brokerId": plain("id"), "designateElect": plain("designate")}

    cluster: str = "c0"
    broker: str = "b0"
    id: int = 1
    designate: bool = False
    """Whether this replica is demanded."""


class AlterInSync(
    ControllerRequest, frozen=True, kw_only=True, omit_defaults=True, tag_field="do", tag="alter-in-sync"
):
    letters: ClassVar = "Y"
    codes: ClassVar = (RequestCode.CONTROLLER_ALTER_SYNC_STATE_SET,)
    carries: ClassVar = {
        "brokerName": name("broker"),
        "masterBrokerId": plain("id"),
        "masterEpoch": plain("master_epoch"),
    }

    broker: str = "b0"
    id: int = 1
    """Who asks as the master."""
    master_epoch: int = 1
    ids: tuple[int, ...] = (1,)
    set_epoch: int = 1
    """That of the set which they replace."""


class ReplicaInfo(
    ControllerRequest, frozen=True, kw_only=True, omit_defaults=True, tag_field="do", tag="replica-info"
):
    letters: ClassVar = "m"
    codes: ClassVar = (RequestCode.CONTROLLER_GET_REPLICA_INFO,)
    carries: ClassVar = {"brokerName": name("broker")}

    broker: str = "b0"


class Controllers(
    ControllerRequest, frozen=True, kw_only=True, omit_defaults=True, tag_field="do", tag="controllers"
):
    letters: ClassVar = "o"
    codes: ClassVar = (RequestCode.CONTROLLER_GET_METADATA_INFO,)


class SyncStateData(
    ControllerRequest, frozen=True, kw_only=True, omit_defaults=True, tag_field="do", tag="sync-state-data"
):
    letters: ClassVar = "y"
    codes: ClassVar = (RequestCode.CONTROLLER_GET_SYNC_STATE_DATA,)

    brokers: tuple[str, ...] = ("b0",)


class CleanReplicas(
    ControllerRequest, frozen=True, kw_only=True, omit_defaults=True, tag_field="do", tag="clean-replicas"
):
    letters: ClassVar = "W"
    codes: ClassVar = (RequestCode.CLEAN_BROKER_DATA,)
    carries: ClassVar = {
        **_NAME,
        "brokerControllerIdsToClean": plain("ids"),
        "isCleanLivingBroker": plain("living"),
    }

    cluster: str = "c0"
    broker: str = "b0"
    ids: str | None = None
    """Between semicolons; None: all of the name."""
    living: bool | None = None


class AllowUnclean(
    ControllerRequest, frozen=True, kw_only=True, omit_defaults=True, tag_field="do", tag="allow-unclean"
):
    """Whether a replica that is not in sync may become the master."""

    letters: ClassVar = "G"
    codes: ClassVar = (RequestCode.UPDATE_CONTROLLER_CONFIG,)

    allowed: bool = True
    beside: Literal["", "long", "configBlackList", "configStorePath", "rocketmqHome"] = ""
    """Another setting that is named before it: one of more than 64 KiB, or one that may not be changed."""


class ControllerSettings(
    ControllerRequest,
    frozen=True,
    kw_only=True,
    omit_defaults=True,
    tag_field="do",
    tag="controller-settings",
):
    letters: ClassVar = "j"
    codes: ClassVar = (RequestCode.GET_CONTROLLER_CONFIG,)


AnyRequest = (
    NextId
    | ApplyId
    | RegisterReplica
    | ReplicaBeat
    | Elect
    | AlterInSync
    | ReplicaInfo
    | Controllers
    | SyncStateData
    | CleanReplicas
    | AllowUnclean
    | ControllerSettings
)
