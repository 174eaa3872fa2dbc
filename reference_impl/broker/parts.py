"""The classes that a reference Broker is made of, and how a mutant replaces one decision of one of them.

    @mutant("never-creates-topics", "A send to an unknown topic is always refused.")
    def never_creates_topics(parts: Parts) -> Parts:
        def create_by_send(self: Topics, topic: str, default: str, queues: int, flag: int, now: int) -> ...:
            return None

        return parts.override("topics", create_by_send)

It works as it does for the NameServer (`reference_impl/nameserver/parts.py`): `override` makes a subclass
whose method of that name is the function, and `revalue` changes one value of the profile. The same classes
serve both lines; where these differ, a method asks `self.profile.v5`.
"""

from dataclasses import dataclass
from typing import Literal

from reference_impl.remoting.replaceable import Replaceable

from .announcing import Announcing
from .assignments import Assignments
from .calls import Calls
from .clients import Clients
from .core import Broker
from .delays import Delays
from .endpoint import Endpoint
from .finding import Finding
from .group_administration import GroupAdministration
from .groups import Groups
from .holding import Holding
from .limits import Limits
from .locks import Locks
from .mirror import Mirror
from .offsets import Offsets
from .pop import Pops
from .pop_acks import PopAcks
from .pop_checkpoints import CheckPoints
from .pop_notifications import PopNotifications
from .pop_order import PopOrder
from .pop_waiting import PopWaiting
from .profiles import PROFILES, Profile
from .pulls import Pulls
from .registrar import Registrar
from .resets import Resets
from .retention import Retention
from .retries import Retries
from .runtime import Runtime
from .sends import Sends
from .settings import Settings
from .standing import Standing
from .store import Store
from .timers import Timers
from .topic_administration import TopicAdministration
from .topics import Topics
from .transactions import Transactions

__all__ = ["PARTS", "PartName", "Parts"]

PartName = Literal[
    "endpoint",
    "broker",
    "store",
    "topics",
    "groups",
    "limits",
    "offsets",
    "clients",
    "locks",
    "sends",
    "pulls",
    "holding",
    "mirror",
    "announcing",
    "registrar",
    "standing",
    "timers",
    "delays",
    "retries",
    "transactions",
    "finding",
    "topic_administration",
    "group_administration",
    "resets",
    "calls",
    "settings",
    "runtime",
    "retention",
    "checkpoints",
    "pop_order",
    "pop_waiting",
    "pops",
    "pop_acks",
    "pop_notifications",
    "assignments",
]


@dataclass(frozen=True)
class Parts(Replaceable[PartName]):
    """What a Broker is put together of."""

    profile: Profile
    endpoint: type[Endpoint] = Endpoint
    broker: type[Broker] = Broker
    store: type[Store] = Store
    topics: type[Topics] = Topics
    groups: type[Groups] = Groups
    mirror: type[Mirror] = Mirror
    announcing: type[Announcing] = Announcing
    registrar: type[Registrar] = Registrar
    standing: type[Standing] = Standing
    sends: type[Sends] = Sends
    pulls: type[Pulls] = Pulls
    offsets: type[Offsets] = Offsets
    locks: type[Locks] = Locks
    limits: type[Limits] = Limits
    holding: type[Holding] = Holding
    clients: type[Clients] = Clients
    timers: type[Timers] = Timers
    delays: type[Delays] = Delays
    retries: type[Retries] = Retries
    transactions: type[Transactions] = Transactions
    finding: type[Finding] = Finding
    topic_administration: type[TopicAdministration] = TopicAdministration
    group_administration: type[GroupAdministration] = GroupAdministration
    resets: type[Resets] = Resets
    calls: type[Calls] = Calls
    settings: type[Settings] = Settings
    runtime: type[Runtime] = Runtime
    retention: type[Retention] = Retention
    checkpoints: type[CheckPoints] = CheckPoints
    pop_order: type[PopOrder] = PopOrder
    pop_waiting: type[PopWaiting] = PopWaiting
    pops: type[Pops] = Pops
    pop_acks: type[PopAcks] = PopAcks
    pop_notifications: type[PopNotifications] = PopNotifications
    assignments: type[Assignments] = Assignments


PARTS = {name: Parts(profile) for name, profile in PROFILES.items()}
"""The reference, by profile."""
