"""The Broker without connections, bytes or clocks: a mediator between its parts.

1. `execute` carries out a request and gives the reply; what else comes of it is in `outbox`, in order. Before
   the caller takes the outbox or sends a reply, it calls `settle`, once for all requests that arrived
   together: that completes what they have begun.
2. The parts do not know who calls. They talk to each other through this class only.
3. A request that is refused has changed nothing.

Source: BrokerController of rocketmq-all-4.9.8 and rocketmq-all-5.3.3.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, SupportsBytes, TypeAlias, get_type_hints

from harness.wire import Command, ResponseCode
from reference_impl.remoting.reply import Reply
from reference_impl.remoting.requests import RequestTable

from .absent_services import AbsentServices
from .acl.access import Access, AclFiles, no_files
from .acl.administration import AccessAdministration
from .assignments import Assignments
from .client_rpc import ClientRpc
from .clients import Clients
from .cold_data import ColdData
from .config import Config
from .delays import Delays
from .filters import Filters
from .group_administration import GroupAdministration
from .groups import Groups
from .ha_membership import HaMembership
from .light_acks import LightAcks
from .light_pops import LightPops
from .light_subscriptions import LightSubscriptions
from .light_topics import LightTopics
from .limits import Limits
from .locks import Locks
from .long_polling import LongPolling
from .mapped_offsets import MappedOffsets
from .master_link import MasterLink
from .message_query import MessageQuery
from .offsets import Offsets
from .other_brokers import OtherBrokers
from .outbox import (
    Answer,
    Asking,
    Calling,
    Cut,
    Dialling,
    Done,
    End,
    More,
    Outgoing,
    Pushing,
    Saving,
    Telling,
    Written,
)
from .pages import Pages
from .part import NEVER, Chance, Part
from .pop import Pops
from .pop_acks import PopAcks
from .pop_checkpoints import CheckPoints
from .pop_notifications import PopNotifications
from .pop_order import PopOrder
from .pop_peeking import PopPeeking
from .pop_waiting import PopWaiting
from .pulls import Pulls
from .queue_inspection import QueueInspection
from .recalls import Recalls
from .registrar import Registrar
from .registration_requests import RegistrationRequests
from .replicated_sends import ReplicatedSends
from .replies import Replies
from .resets import Resets
from .retention import Retention
from .retries import Retries
from .rights.access import Rights
from .runtime import Runtime
from .sends import Sends
from .settings import Settings
from .slave_links import SlaveLinks
from .slave_sync import SlaveSync
from .static_topics import StaticTopics
from .statistics import Statistics
from .store import Store
from .timer_metrics import TimerMetrics
from .timers import Timers
from .topic_administration import TopicAdministration
from .topics import Topics
from .transactions import Transactions
from .users import Users

if TYPE_CHECKING:
    from harness.wire.bodies import TopicConfig
    from reference_impl.remoting.parts import Parts


OfClient: TypeAlias = Callable[[int], int]
"""Gives the Broker's time, ms since the epoch, at a moment that a client's clock shows."""


def the_same(moment: int) -> int:
    """Where all have one clock."""
    return moment


def nothing_said(text: str) -> None:
    """Where warnings are of no use."""


class Broker(RequestTable):
    """One Broker. `stored` is what files below the root directory say, by name, from the last run; `warn`
    gets what its administrator should know.
    """

    topics: Topics
    static_topics: StaticTopics
    other_brokers: OtherBrokers
    mapped_offsets: MappedOffsets
    groups: Groups
    limits: Limits
    offsets: Offsets
    filters: Filters
    clients: Clients
    locks: Locks
    statistics: Statistics
    sends: Sends
    replies: Replies
    pulls: Pulls
    long_polling: LongPolling
    checkpoints: CheckPoints
    pop_order: PopOrder
    pop_waiting: PopWaiting
    pops: Pops
    pop_acks: PopAcks
    pop_notifications: PopNotifications
    pop_peeking: PopPeeking
    timer_metrics: TimerMetrics
    timers: Timers
    delays: Delays
    recalls: Recalls
    retries: Retries
    transactions: Transactions
    message_query: MessageQuery
    queue_inspection: QueueInspection
    topic_administration: TopicAdministration
    group_administration: GroupAdministration
    resets: Resets
    client_rpc: ClientRpc
    settings: Settings
    cold_data: ColdData
    absent_services: AbsentServices
    users: Users
    rights: Rights
    access: Access
    access_administration: AccessAdministration
    light_topics: LightTopics
    light_subscriptions: LightSubscriptions
    light_pops: LightPops
    light_acks: LightAcks
    pages: Pages
    runtime: Runtime
    retention: Retention
    slave_links: SlaveLinks
    replicated_sends: ReplicatedSends
    master_link: MasterLink
    slave_sync: SlaveSync
    registration_requests: RegistrationRequests
    registrar: Registrar
    ha_membership: HaMembership
    assignments: Assignments

    def __init__(
        self,
        parts: Parts,
        *,
        config: Config,
        store: Store,
        stored: Mapping[str, bytes],
        chance: Chance,
        started: int,
        of_client: OfClient = the_same,
        acl_files: AclFiles = no_files,
        warn: Callable[[str], None] = nothing_said,
    ) -> None:
        self.profile = parts.profile
        self.config = config
        self.store = store
        self.stored = stored
        self.chance = chance
        self.started = started
        self.outbox: list[Outgoing] = []
        self.of_client = of_client
        self.acl_files = acl_files
        self.warn = warn
        self._peers: dict[int, str] = {}

        for name in PARTS:
            setattr(self, name, parts[name](self))
        self._parts = tuple(part for part in vars(self).values() if isinstance(part, Part))
        self.handlers = {code: handler for part in self._parts for code, handler in part.requests().items()}
        self._timed = self._overriding("next_tick")
        self._bereaved = self._overriding("lost")
        self._settling = self._overriding("settle")
        self._told_of_topics = self._overriding("topic_created")
        self._keeping = self._overriding("keep_clients")

    def _overriding(self, method: str) -> tuple[Part, ...]:
        return tuple(part for part in self._parts if getattr(type(part), method) is not getattr(Part, method))

    # -- what the caller calls -------------------------------------------------------------------------------

    def connected(self, connection: int, peer: str, now: int) -> None:
        """A connection was accepted; `peer` is its remote "ip:port"."""
        self._peers[connection] = peer

    def execute(self, command: Command, connection: int, now: int) -> Reply | None:
        if self.access.is_on:
            refusal = self.access.refusal(command, self.peer(connection))
            if refusal is not None:
                return refusal
        if self.users.is_on:
            refusal = self.users.refusal(command)
            if refusal is not None:
                return refusal
        if self.rights.is_on:
            refusal = self.rights.refusal(command, self.peer(connection))
            if refusal is not None:
                return refusal
        return super().execute(command, connection, now)

    def settle(self, now: int) -> None:
        """Complete what the requests up to now have begun, before any of them is answered."""
        for part in self._settling:
            part.settle(now)

    def lost(self, connection: int, now: int) -> None:
        """A connection has ended, from either side."""
        for part in self._bereaved:
            part.lost(connection, now)
        self._peers.pop(connection, None)

    def keep_clients(self, now: int, *, waits: bool) -> None:
        """See `RemotingEndpoint.keep_clients`."""
        for part in self._keeping:
            part.keep_clients(now, waits=waits)

    def tick(self, now: int) -> None:
        """Do what was due up to `now`: the part whose turn came first goes first."""
        while True:
            due, part = min(((part.next_tick(), part) for part in self._timed), key=_when, default=_NOBODY)
            if part is None or due > now:
                return
            part.tick(due)

    def stop(self, now: int) -> None:
        """Keep and say what is to be kept and said before the end; once."""
        for part in self._overriding("stop"):
            part.stop(now)

    def next_tick(self) -> int:
        """When `tick` wants to be called, ms since the epoch."""
        return min((part.next_tick() for part in self._timed), default=NEVER)

    # -- what parts call -------------------------------------------------------------------------------------

    def peer(self, connection: int) -> str:
        """The remote "ip:port" of a connection; of one that has ended, nothing but a text."""
        return self._peers.get(connection, "unknown")

    def delivers(self) -> bool:
        """Whether what waits for a time is stored again when that has come."""
        return self.ha_membership.is_special() and not self.store.is_full

    def answer(self, connection: int, request: Command, reply: Reply) -> None:
        """Answer a request whose handler returned None."""
        self.outbox.append(Answer(connection, request, reply))

    def push(self, connection: int, command: Command) -> None:
        """Send a one-way request to a client."""
        self.outbox.append(Pushing(connection, command))

    def call(self, connection: int, command: Command, within_ms: int, done: Done) -> None:
        """Send a request to a client; `done` gets the response, or None after `within_ms`."""
        self.outbox.append(Calling(connection, command, within_ms, done))

    def ask(self, address: str, command: Command, within_ms: int, done: Done) -> None:
        """Send a request to another server; `done` gets the response, or None after `within_ms`."""
        self.outbox.append(Asking(address, command, within_ms, done))

    def tell(self, address: str, command: Command) -> None:
        """Send a one-way request to another server."""
        self.outbox.append(Telling(address, command))

    def persist(self, name: str, data: SupportsBytes) -> None:
        """Replace a file below the root directory by `bytes(data)`."""
        self.outbox.append(Saving(name, data))

    def write(self, connection: int, data: bytes) -> None:
        """Send bytes to a slave, or to the master that is copied from."""
        self.outbox.append(Written(connection, data))

    def go_on(self, connection: int) -> None:
        """There is something to push to a slave."""
        self.outbox.append(More(connection))

    def dial(self, address: str) -> None:
        """Connect to the replication port of a master; `master_link` hears of it."""
        self.outbox.append(Dialling(address))

    def cut(self, connection: int) -> None:
        """End a connection of replication, which the caller has forgotten."""
        self.outbox.append(Cut(connection))

    def close(self, connection: int) -> None:
        """End a connection; the caller tells of its loss as of any other."""
        self.outbox.append(End(connection))

    def topic_created(self, topic: TopicConfig, now: int) -> None:
        """A topic has come into being without an administrator."""
        for part in self._told_of_topics:
            part.topic_created(topic, now)

    # -- decisions (see parts.py) ----------------------------------------------------------------------------

    def unknown_request(self, command: Command) -> Reply | None:
        remark = f" request type {command.code} not supported"
        return Reply(ResponseCode.REQUEST_CODE_NOT_SUPPORTED, remark=remark, from_handler=False)


PARTS: dict[str, type[Part]] = {
    name: kind
    for name, kind in get_type_hints(Broker).items()
    if isinstance(kind, type) and issubclass(kind, Part)
}
"""The classes of the parts, in the order in which they are made."""

_NOBODY: tuple[int, Part | None] = (NEVER, None)


def _when(timed: tuple[int, Part]) -> int:
    return timed[0]
