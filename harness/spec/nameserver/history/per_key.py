"""From what was observed of one NameServer to the calls of each of its keys.

- A key is a broker name, or a key in a namespace of the KV configuration. A request that concerns several
  keys is a call of each; that their states belong to one moment is not judged.
- What was not answered may have been carried out at any time after it was sent, or never. An answer that says
  nothing of a key (an error, a body that cannot be read) is no call of it.
- A key about which the specification has too little to say is not judged, and says why.
- An address belongs to one broker name, and a broker name to one cluster: where a history breaks that, its
  names are not judged.
- Where a clock stands still, the numbers of the events that asked and answered tell what came first.
"""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Sequence

import msgspec

from harness.catalogue import profile_named
from harness.program.broker.steps import BesideRequests, BrokerRequest
from harness.program.names import Names
from harness.program.nameserver import steps as ns
from harness.program.nameserver.controller_steps import ControllerRequest
from harness.program.nameserver.frames import BORN
from harness.program.step import Close, Reconnect, Restart, Time
from harness.spec.history.calls import Key, answer_of, began, ended, number_in, readable
from harness.spec.history.register import Delete, Get, Put
from harness.spec.linear import ENDLESS, Call, Moment
from harness.spec.nameserver.history.operations import (
    Changed,
    DropTopic,
    GiveTopic,
    Leave,
    Listed,
    Members,
    Notice,
    Permissions,
    Refresh,
    Registration,
    Routed,
    Serves,
    Stored,
    Writable,
)
from harness.spec.nameserver.served import is_served
from harness.spec.observation import Ended, Observation
from harness.wire import Command, ResponseCode
from harness.wire.bodies import (
    BrokerMemberGroup,
    DataVersion,
    KvTable,
    TopicList,
    TopicRoute,
)
from harness.wire.bodies import ClusterInfo as ClusterTable

_OK = ResponseCode.SUCCESS
_NO_TOPIC = ResponseCode.TOPIC_NOT_EXIST
_NO_VALUE = ResponseCode.QUERY_NOT_FOUND


class Projection(msgspec.Struct):
    """All keys of one NameServer."""

    keys: dict[str, Key]
    shared: frozenset[int]
    """Connections over which several brokers registered."""
    end: float
    """When the last answer was there (protocol seconds)."""


def projected(seen: Sequence[Observation], names: Names, profile: str, *, term: float) -> Projection:
    """The calls of each key. ``seen`` is of one NameServer; ``term`` is how long (protocol seconds) what a
    request asks for behind its answer, or the end of a connection for, may take.
    """
    return _Projector(seen, names, profile, term).run()


class _Projector:
    def __init__(self, seen: Sequence[Observation], names: Names, profile: str, term: float) -> None:
        self._seen = sorted(seen, key=lambda one: one.number)
        self._names = names
        self._line = profile_named(profile)
        self._term = term
        self._keys: dict[str, Key] = {}
        self._conns: dict[str, int] = {}
        self._serial = 0
        self._idle: set[str] = set()
        self._owner: dict[str, str] = {}
        self._ids: dict[str, set[int]] = defaultdict(set)
        self._servers: dict[str, set[str]] = defaultdict(set)
        self._cluster: dict[str, str] = {}
        self._over: dict[int, set[str]] = defaultdict(set)
        self._names_of: dict[int, set[str]] = defaultdict(set)

    def run(self) -> Projection:
        for one in self._seen:
            self._survey(one)
        for one in self._seen:
            self._project(one)
        end = max((one.returned for one in self._seen), default=0.0)
        shared = frozenset(conn for conn, addresses in self._over.items() if len(addresses) > 1)
        return Projection(self._keys, shared, end)

    # --- who is who -----------------------------------------------------------------------------------------

    def _survey(self, one: Observation) -> None:
        """What has to be known of the whole before any of it is projected."""
        step = one.step
        match step:
            case ns.Register():
                key = self._broker(step.broker)
                self._ids[step.broker].add(step.id)
                owner = self._owner.setdefault(step.address, step.broker)
                if owner != step.broker:
                    reason = f"{step.address} was registered under several names"
                    key.unjudged = self._broker(owner).unjudged = reason
                if self._cluster.setdefault(step.broker, step.cluster) != step.cluster:
                    key.unjudged = "it was registered under several clusters"
                plain = step.form == "json" and step.crc != "wrong" and not step.drop and not step.mappings
                if not plain or step.announces is not None or step.claims_compressed is not None:
                    key.unjudged = "a registration was not a plain one"
                for topic in step.topics:
                    self._servers[topic].add(step.broker)
            case ns.RegisterTopic() if is_served(step, self._line):
                for broker in step.queues:
                    key = self._broker(broker)
                    self._servers[step.topic].add(broker)
                    if len(step.queues) > 1 or step.form != "json":
                        key.unjudged = "a topic was given to several names in one request"
            case ns.Permission() | ns.Unregister():
                self._broker(step.broker)
            case ns.Kv() if step.code != 219:
                self._kv(step)
            case Time():
                self._idle.update(step.idle)

    def _broker(self, symbol: str) -> Key:
        return self._keys.setdefault(symbol, Key("broker", symbol, []))

    def _brokers(self) -> list[Key]:
        return [key for key in self._keys.values() if key.kind == "broker"]

    def _kv(self, step: ns.Kv) -> None:
        key = self._keys.setdefault(_pair_name(step), Key("kv", _pair_name(step), []))
        if step.topic is None:
            key.unjudged = "the key belongs to no single caller"

    def _instance(self, symbol: str) -> int:
        """The connection that a symbol stands for at this place of the program."""
        if symbol not in self._conns:
            self._serial += 1
            self._conns[symbol] = self._serial
        return self._conns[symbol]

    # --- calls ----------------------------------------------------------------------------------------------

    def _project(self, one: Observation) -> None:
        step = one.step
        match step:
            case Close():
                self._close(one, step)
            case Reconnect():
                self._conns[step.old] = self._instance(step.conn)
                self._conns.pop(step.conn)
            case Restart():
                for key in self._keys.values():
                    key.unjudged = "the server was restarted"
            case ns.Configure():
                for key in self._keys.values():
                    key.unjudged = "settings were changed"
            case Time():
                pass
            case ns.Damaged():
                raise ValueError("damaged frames are judged by harness.engine.frames")
            case _ if not isinstance(step, BrokerRequest | ControllerRequest | BesideRequests):
                self._request(one, step, answer_of(one))

    def _close(self, one: Observation, step: Close) -> None:
        conn = self._conns.pop(step.conn, None)
        if conn is None:
            return
        if isinstance(one.outcome, Ended) and step.conn not in self._idle and len(self._over[conn]) < 2:
            return  # it ends with the lease of its broker, or without a right to
        until = one.returned + self._term
        for name in self._names_of[conn]:
            self._add(one, self._keys[name], Notice(conn, until), end=(until, math.inf), required=True)

    def _request(self, one: Observation, step: ns.AnyRequest, answer: Command | None) -> None:
        conn = self._instance(step.conn)
        match step:
            case ns.Register():
                self._register(one, step, answer, conn)
            case ns.Unregister():
                end = (one.returned + self._term, math.inf)
                done = answer is not None and answer.code == _OK
                leave = Leave(step.address, step.id)
                self._add(one, self._keys[step.broker], leave, end=end if done else ENDLESS, required=done)
            case ns.Permission():
                count = None if answer is None else number_in(answer, "addTopicCount", "wipeTopicCount")
                self._add(one, self._keys[step.broker], Permissions(step.code == 327, count))
            case ns.DeleteTopic():
                for key in self._brokers():
                    if not step.cluster or step.cluster == self._cluster.get(key.name):
                        self._add(one, key, DropTopic(step.topic))
            case ns.RegisterTopic() if is_served(step, self._line):
                for broker, queues in step.queues.items():
                    self._add(one, self._keys[broker], GiveTopic(step.topic, queues))
            case ns.Heartbeat() if is_served(step, self._line):
                if (owner := self._owning(step)) is not None:
                    self._add(one, owner, Refresh(step.address))
            case ns.QueryVersion():
                self._query(one, step, answer)
            case ns.Kv():
                self._pair(one, step, answer)
            case _ if answer is not None:
                self._look(one, step, answer)

    def _add(
        self,
        one: Observation,
        key: Key,
        action: object,
        *,
        reads: bool = False,
        end: Moment | None = None,
        required: bool | None = None,
    ) -> None:
        answer = answer_of(one)
        known = answer is not None and (reads or answer.code == _OK)
        if required is None:
            required = known
        if end is None:
            end = ended(one) if required else ENDLESS
        key.calls.append(
            Call(
                number=one.number,
                action=action,
                begin=began(one),
                end=end,
                required=required,
                reads=reads,
                session=getattr(one.step, "conn", ""),
            )
        )

    def _register(self, one: Observation, step: ns.Register, answer: Command | None, conn: int) -> None:
        self._over[conn].add(step.address)
        self._names_of[conn].add(step.broker)
        told: tuple[str | None, bool] | None = None
        if answer is not None and answer.code == _OK:
            # An empty address says as little as none: other oracles judge how it is said.
            ext = answer.ext or {}
            master = ext.get("masterAddr") or None
            told = (None if master is None else self._names.symbols(master), bool(ext.get("haServerAddr")))
        # Any other error may have come before the request was carried out, or after.
        refused = answer is not None and answer.code == ResponseCode.SYSTEM_ERROR and len(step.topics) == 1
        says = step.lease is not None and self._line.has("own-lease")
        lease = (step.lease or 0) / 1000 if says else self._line.lease
        registration = Registration(
            address=step.address,
            id=step.id,
            topics=tuple(sorted(step.topics.items())),
            version=(step.counter, BORN + step.timestamp, step.state or 0),
            conn=conn,
            lease=lease,
            acting=step.acting if self._line.has("acting-master") else None,
            ha=step.ha,
            accepted=True if told is not None else False if refused else None,
            told=told,
        )
        self._add(one, self._keys[step.broker], registration, required=told is not None or refused)

    def _owning(self, step: ns.Heartbeat | ns.QueryVersion) -> Key | None:
        owner = self._owner.get(step.address)
        if owner is None or (self._line.has("brokers-by-cluster") and self._cluster[owner] != step.cluster):
            return None
        return self._keys[owner]

    def _query(self, one: Observation, step: ns.QueryVersion, answer: Command | None) -> None:
        key = self._owning(step)
        if key is None or step.form != "json":
            return
        version = (step.counter, BORN + step.timestamp, step.state or 0)
        changed = None
        if answer is not None and answer.code == _OK and answer.ext:
            changed = {"true": True, "false": False}.get(answer.ext.get("changed") or "")
        self._add(one, key, Changed(step.address, version, changed))
        if answer is None or answer.code != _OK:
            return
        stored = readable(DataVersion.decode, answer.body) if answer.body else None
        if stored is not None or not answer.body:
            found = None if stored is None else (stored.counter, stored.timestamp, stored.state_version or 0)
            self._add(one, key, Stored(step.address, found), reads=True)

    def _pair(self, one: Observation, step: ns.Kv, answer: Command | None) -> None:
        if step.code == 219:
            self._list(one, step, answer)
            return
        key = self._keys[_pair_name(step)]
        if step.code == 100:
            self._add(one, key, Put(step.value))
        elif step.code == 102:
            self._add(one, key, Delete())
        elif answer is not None and answer.code in (_OK, _NO_VALUE):
            value = (answer.ext or {}).get("value") if answer.code == _OK else None
            self._add(one, key, Get(value), reads=True)

    def _list(self, one: Observation, step: ns.Kv, answer: Command | None) -> None:
        if answer is None or answer.code not in (_OK, _NO_VALUE):
            return
        table = readable(KvTable.decode, answer.body) if answer.code == _OK else KvTable()
        if table is None:
            return
        for key in self._keys.values():
            namespace, _, name = key.name.partition("/")
            if key.kind == "kv" and namespace == step.namespace and key.unjudged is None:
                self._add(one, key, Get(table.table.get(self._names.name(name))), reads=True)

    # --- looks ----------------------------------------------------------------------------------------------

    def _look(self, one: Observation, step: ns.AnyRequest, answer: Command) -> None:
        match step:
            case ns.Route() if step.zone_mode is None and answer.code in (_OK, _NO_TOPIC):
                self._route(one, step, answer)
            case ns.ClusterInfo() if answer.code == _OK:
                table = readable(ClusterTable.decode, answer.body)
                if table is None:
                    return
                for key in self._brokers():
                    data = table.broker_addr_table.get(self._names.name(key.name))
                    shown = dict(self._shown({} if data is None else data.broker_addrs))
                    for number in self._ids[key.name] | shown.keys():
                        self._add(one, key, Listed(number, shown.get(number)), reads=True)
            case ns.MemberGroup() if answer.code == _OK and step.broker in self._keys:
                group = readable(BrokerMemberGroup.decode, answer.body)
                if group is not None:
                    members = Members(self._shown(group.broker_addrs))
                    self._add(one, self._keys[step.broker], members, reads=True)
            case ns.Topics() if answer.code == _OK:
                self._topics(one, answer)

    def _route(self, one: Observation, step: ns.Route, answer: Command) -> None:
        route = readable(TopicRoute.decode, answer.body) if answer.code == _OK else TopicRoute()
        if route is None:
            return
        queues = {data.broker_name: data for data in route.queue_datas}
        brokers = {data.broker_name: data for data in route.broker_datas}
        for key in self._brokers():
            name = self._names.name(key.name)
            held, data = queues.get(name), brokers.get(name)
            if held is None:
                self._add(one, key, Routed(step.topic, None), reads=True)
                continue
            numbers = (held.read_queue_nums, held.write_queue_nums, held.topic_sys_flag)
            addresses = self._shown({} if data is None else data.broker_addrs)
            self._add(one, key, Routed(step.topic, numbers, addresses), reads=True)
            self._add(one, key, Writable(step.topic, held.perm), reads=True)

    def _topics(self, one: Observation, answer: Command) -> None:
        listed = readable(TopicList.decode, answer.body)
        if listed is None:
            return
        there = set(listed.topic_list)
        for topic, servers in self._servers.items():
            shown = self._names.name(topic) in there
            if shown and len(servers) > 1:
                continue
            for broker in servers:
                self._add(one, self._keys[broker], Serves(topic, shown), reads=True)

    def _shown(self, addresses: dict[int, str]) -> tuple[tuple[int, str], ...]:
        return tuple(sorted((number, self._names.symbols(a)) for number, a in addresses.items()))


def _pair_name(step: ns.Kv) -> str:
    return f"{step.namespace}/{step.key if step.topic is None else step.topic}"
