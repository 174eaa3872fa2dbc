"""The step function: which states and which answers the catalogue allows after a step.

    spec = NameServerSpec("5.3", names)
    state = spec.start()
    for after in spec.apply(state, step, at=(invoked, returned)):
        after.state, after.prediction

- Pure: a state is a value, equal arguments give equal results, and nothing remembers anything.
- ``apply`` says what happens when a step is carried out; what happens behind it is in ``state.pending``, and
  ``reached`` gives the states that a state may have become by itself.
- Predictions and states are in names of the target. A prediction is compared by `answers`.
- Several outcomes mean that the catalogue leaves it open which of them it is; the plainest comes first.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence

import msgspec

from harness.catalogue import Feature, profile_named
from harness.program.names import Names
from harness.program.nameserver import steps as ns
from harness.program.step import Close, Reconnect, Request, Restart, Time
from harness.program.steps import AnyStep
from harness.spec.nameserver import departures, questions, stored
from harness.spec.nameserver.answers import differences
from harness.spec.nameserver.predictions import ANY, SOME, Prediction
from harness.spec.nameserver.reading import Announced, announced_by, version_of
from harness.spec.nameserver.registration import Registrant, registered
from harness.spec.nameserver.state import At, Key, Namespace, PendingEffect, Queue, State, due

PROMPT = 2.0
"""Protocol seconds within which a prompt effect behind an answer or a close must be there, besides jitter."""
_EARLY = 0.002
"""Protocol seconds by which an interval may seem short: targets count milliseconds."""
DOUBT = 60.0
"""Protocol seconds after which a request that was never answered will not be carried out any more."""
_REFUSED = 1
_UNKNOWN_CODE = 3
_CODES: dict[type, int] = {ns.Heartbeat: 904, ns.MemberGroup: 901, ns.RegisterTopic: 217}
_SINCE: dict[int, Feature] = {904: "heartbeats", 901: "heartbeats", 217: "topic-registration"}
"""The codes that not every line serves."""


class After(msgspec.Struct):
    """What may be after a step. ``was``: a word for what it was to the name that it is about."""

    state: State
    prediction: Prediction
    was: str = ""


class NameServerSpec:
    """What the catalogue allows one server. ``jitter``: protocol seconds by which the target may act late;
    ``fresh``: its KV namespaces are known to be empty.
    """

    def __init__(self, profile: str, names: Names, *, jitter: float = 0.0, fresh: bool = False) -> None:
        self.profile = profile_named(profile)
        self.prompt = PROMPT + jitter
        self.early = _EARLY + jitter / 10
        self.names = names
        self._fresh = fresh
        self._known: dict[str, str] = {}

    def start(self) -> State:
        """Nothing of ours is registered."""
        unnamed = Namespace(False, {}, complete=True) if self._fresh else Namespace()
        return State(settings=stored.usual(self.profile), unnamed=unnamed)

    # --- names ----------------------------------------------------------------------------------------------

    def name(self, symbol: str) -> str:
        """The name of a broker, a cluster or a topic."""
        found = self._known.get(symbol)
        if found is None:
            found = self._known[symbol] = self.names.name(symbol)
        return found

    def address(self, symbol: str) -> str:
        """The address of a symbol."""
        key = f"@{symbol}"
        found = self._known.get(key)
        if found is None:
            found = self._known[key] = self.names.address(symbol)
        return found

    def _field(self, step: Request, field: str, value: str) -> str | None:
        return None if step.drop and field in step.drop else value

    def key(self, cluster: str, address: str) -> Key:
        """What the live record of an address is found by."""
        return (cluster if self.profile.has("brokers-by-cluster") else "", address)

    # --- what happens by itself -----------------------------------------------------------------------------

    def reached(self, state: State, now: At, limit: int) -> list[State] | None:
        """The states that a state may have become, by something that happened before the first moment of
        ``now`` or until its second. None where there are more than ``limit``.
        """
        if state.due > now[1]:
            return [state]
        found: list[State] = []
        seen: list[State] = []
        waiting = [state]
        while waiting:
            one = waiting.pop()
            if one in seen:
                continue
            seen.append(one)
            if len(seen) > 4 * limit:
                return None
            events = self._events(one, now[1])
            overdue = min((end for _, end, _ in events if end < now[0]), default=None)
            if overdue is not None:  # what may have happened before it, may not have waited for it
                waiting += [
                    other
                    for start, _, what in events
                    if start <= overdue
                    for other in self.fired(one, what, now)
                ]
                continue
            found.append(one)
            for _, _, what in events:
                waiting += self.fired(one, what, now)
        return found if len(found) <= limit else None

    def settled(self, state: State, now: float) -> State:
        """The plainest state that a state has become when everything has happened that may happen by itself
        until ``now``.
        """
        while state.due <= now:
            events = self._events(state, now)
            if not events:
                break
            _, _, what = min(events, key=lambda event: event[0])
            state = self.fired(state, what, (now, now))[0]
        return state

    def _events(self, state: State, until: float) -> list[tuple[float, float, PendingEffect | Key]]:
        events: list[tuple[float, float, PendingEffect | Key]] = [
            (effect.start, effect.end, effect) for effect in state.pending if effect.start <= until
        ]
        for key, lease in state.leases.items():
            start = lease.since + lease.length - self.early
            if start <= until:
                events.append(
                    (start, lease.until + lease.length + self.profile.scan_interval + self.prompt, key)
                )
        return events

    def fired(self, state: State, what: PendingEffect | Key, now: At) -> list[State]:
        if isinstance(what, tuple):
            found = self._expired(state, what, now)
        else:
            rest = state.copy()
            rest.pending = tuple(effect for effect in state.pending if effect is not what)
            if what.step is None:
                found = self._lost(rest, what.conn, what.keys)
            elif what.uncertain and what.end < now[0]:
                found = [rest]
            else:
                found = self._carried_out(rest, what)
        for one in found:
            if one.pending:  # a connection that has been lost already need not be lost again
                one.pending = tuple(
                    effect for effect in one.pending if effect.step is not None or _concerns(one, effect)
                )
            one.due = due(one, self.early)
        return found

    def _carried_out(self, state: State, what: PendingEffect) -> list[State]:
        assert what.step is not None
        if isinstance(what.step, ns.Unregister):
            return [one.copy() for one in self.unregistered(state, what.step)]
        span = (what.start, what.end if math.isfinite(what.end) else what.start)
        found = self.apply(state, what.step, span, what.conn)
        if what.said is None:
            return [after.state.copy() for after in found]
        return [after.state.copy() for after in found if not differences(after.prediction, what.said)]

    def _lost(self, state: State, conn: str, keys: Sequence[Key]) -> list[State]:
        found = [state.copy()]
        for key in keys:
            if key in state.leases and state.leases[key].conn != conn:  # it is fresh
                left = [before for before in found if key in before.leases]
                found += [after for before in left for after in departures.lost(before, key)]
        for key in [key for key, lease in state.leases.items() if lease.conn == conn]:
            found = [
                after
                for before in found
                for after in (departures.lost(before, key) if key in before.leases else [before])
            ]
        return [one.copy() for one in found]

    def _expired(self, state: State, key: Key, now: At) -> list[State]:
        """A lease has ended: the server closes its connection, and all leave that belong to it."""
        conn = state.leases[key].conn
        found = []
        for one in departures.lost(state, key):
            other = one.copy()
            if conn in one.conns.values():
                other.ended = one.ended | {conn}
            if any(lease.conn == conn for lease in other.leases.values()):
                other.pending = (*other.pending, self._losing(other, conn, now))
            found.append(other)
        return found

    # --- connections ----------------------------------------------------------------------------------------

    def connection_lost(self, state: State, symbol: str, at: At) -> State:
        """We have closed a connection: its brokers will leave, and the symbol stands for a new one."""
        conn = state.conns.get(symbol)
        if conn is None:
            return state
        other = state.copy()
        other.conns = {name: number for name, number in state.conns.items() if name != symbol}
        if conn in state.ended:
            other.ended = state.ended - {conn}
        return other.with_pending(self._losing(state, conn, at)) if _bears(state, conn) else other

    def _losing(self, state: State, conn: str, at: At) -> PendingEffect:
        keys = tuple(key for key, lease in state.leases.items() if lease.conn == conn)
        return PendingEffect(at[0], at[1] + self.prompt, conn=conn, keys=keys)

    def ended_by_server(self, state: State, symbol: str, at: At) -> State:
        """The server has closed a connection."""
        conn = state.conns.get(symbol)
        if conn is None:
            return state
        return self.connection_lost(state, symbol, at)

    def idled(self, state: State, symbol: str, at: At) -> State:
        """The server closes a connection because nothing has come over it."""
        conn = state.conns.get(symbol)
        if conn is None or conn in state.ended:
            return state
        other = state.copy()
        other.ended = state.ended | {conn}
        return other.with_pending(self._losing(state, conn, at))

    def over(self, state: State, symbol: str) -> tuple[State, str]:
        """The connection that a request goes over. One that the server has ended is opened anew."""
        conn = state.conns.get(symbol)
        if conn is not None and conn not in state.ended:
            return state, conn
        other = state.copy()
        other.serial = state.serial + 1
        conn = f"{symbol}#{other.serial}"
        other.conns = {**state.conns, symbol: conn}
        return other, conn

    # --- steps ----------------------------------------------------------------------------------------------

    def postponed(
        self, state: State, step: ns.AnyRequest, at: At, *, said: object = None, uncertain: bool = False
    ) -> State:
        """A request that has been sent and will be carried out, or perhaps be."""
        state, conn = self.over(state, step.conn)
        end = at[1] + (DOUBT if uncertain else 0.0 if said is not None else self.prompt)
        return state.with_pending(PendingEffect(at[0], end, step, conn, said, uncertain))

    def apply(self, state: State, step: AnyStep, at: At, conn: str | None = None) -> Iterable[After]:
        """What may come of a step that is carried out at some moment of ``at``. ``conn``: the connection that
        it came over, where that is not the one which its symbol stands for now.
        """
        match step:
            case ns.Register():
                return self._register(state, step, at, conn)
            case ns.Route():
                return self._route(state, step)
            case ns.QueryVersion():
                return self._query(state, step, at)
            case ns.ClusterInfo():
                return [After(state, questions.cluster_info(state, self.profile))]
            case ns.Unregister():
                return self._unregister(state, step, at)
            case ns.Topics():
                return [After(state, questions.topics(state))]
            case ns.Kv():
                return self._kv(state, step)
            case ns.Permission():
                return self._permission(state, step)
            case ns.DeleteTopic():
                return self._delete(state, step)
            case ns.TopicsOfCluster():
                cluster = self._field(step, "cluster", self.name(step.cluster))
                return [After(state, questions.topics_of_cluster(state, cluster))]
            case ns.SystemTopics():
                return [After(state, questions.system_topics(state))]
            case ns.Unit():
                return [After(state, questions.unit_topics(state, step.code))]
            case ns.Configure():
                other, prediction = stored.configured(state, step, self.profile)
                return [After(other, prediction, "configured")]
            case ns.Configuration():
                return [After(state, stored.configuration(state))]
            case ns.Unknown() if not self._is_served(step.code):
                return self._unknown(state, step.code)
            case ns.Heartbeat() if self._is_served(904):
                return self._heartbeat(state, step, at)
            case ns.MemberGroup() if self._is_served(901):
                return self._member_group(state, step)
            case ns.RegisterTopic() if self._is_served(217):
                return self._register_topic(state, step)
            case ns.Heartbeat() | ns.MemberGroup() | ns.RegisterTopic():
                return self._unknown(state, _CODES[type(step)])
            case Close():
                return [After(self.connection_lost(state, step.conn, at), _NO_ANSWER, "closed")]
            case Reconnect():
                return [After(_reconnected(state, step), _NO_ANSWER)]
            case Restart():
                return [After(one, _NO_ANSWER, "restarted") for one in self._restarted(state)]
            case Time():
                return [After(state, _NO_ANSWER)]
        return [After(state, Prediction(code=-1, remark=ANY, ext=ANY, body=ANY))]

    def _register(self, state: State, step: ns.Register, at: At, conn: str | None) -> list[After]:
        drop = step.drop
        said = announced_by(step, self.profile)
        if said is None or (drop and not _IDENTITY.isdisjoint(drop)):
            return [After(state, Prediction(_REFUSED, SOME), "refused")]
        if conn is None:
            state, conn = self.over(state, step.conn)
        cluster, address = self.name(step.cluster), self.address(step.address)
        lease = step.lease if self.profile.has("own-lease") and "heartbeatTimeoutMillis" not in drop else None
        who = Registrant(
            self.name(step.broker),
            cluster,
            address,
            step.id,
            (cluster if self.profile.has("brokers-by-cluster") else "", address),
            conn,
            f"{address}1" if step.ha and "haServerAddr" not in drop else None,
            self.profile.lease if lease is None else lease / 1000,
            step.acting if self.profile.has("acting-master") and "enableActingMaster" not in drop else None,
            (step.zone or (None if step.binary else step.zone))
            if self.profile.has("zones") and "__ZONE_NAME" not in drop
            else None,
            at[0],
            at[1],
        )
        deletes = state.settings.get("deleteTopicWithBrokerRegistration") == "true"
        outcomes = []
        for done in registered(state, who, self._named(said, address), self.profile, deletes=deletes):
            done.state.due = due(done.state, self.early)
            if done.refused:
                outcomes.append(After(done.state, Prediction(_REFUSED, SOME), done.was))
                continue
            for after, table in stored.order_table(done.state, self.profile, self.names.is_ours):
                for master in done.masters:
                    ext = {} if master is None else {"masterAddr": master[0]}
                    if master is not None and master[1] is not None:
                        ext["haServerAddr"] = master[1]
                    outcomes.append(After(after, Prediction(ext=ext, body=table), done.was))
        return outcomes

    def _named(self, said: Announced, address: str) -> Announced:
        """The same in names of the target."""
        name = self.name
        return Announced(
            {name(topic): queue for topic, queue in said.topics.items()},
            said.version,
            said.filters and tuple(f"{address}:{server}" for server in said.filters),
            {name(topic): (name(broker), epoch) for topic, (broker, epoch) in said.mappings.items()}
            if said.mappings
            else said.mappings,
        )

    def _unregister(self, state: State, step: ns.Unregister, at: At) -> list[After]:
        if _IDENTITY.isdisjoint(step.drop):
            if self.profile.has("queued-unregistration"):
                effect = PendingEffect(at[0], at[1] + self.prompt, step=step)
                return [After(state.with_pending(effect), Prediction(), "unregistered")]
            return [After(one, Prediction(), "unregistered") for one in self.unregistered(state, step)]
        refused = After(state, Prediction(_REFUSED, SOME), "refused")
        if "brokerId" not in step.drop or len(step.drop) > 1:
            return [refused, After(state, Prediction(), "refused")]
        done = [
            After(one, Prediction(), "unregistered without id")
            for one in self.unregistered(state, msgspec.structs.replace(step, drop=()))
        ]
        return [refused, *done]

    def unregistered(self, state: State, step: ns.Unregister) -> list[State]:
        name, address = self.name(step.broker), self.address(step.address)
        if self.profile.has("unregistration-by-address"):
            found = departures.unregistered_by_address(state, name, self.name(step.cluster), address)
        else:
            found = departures.unregistered_by_id(state, name, address, step.id)
        for one in found:
            if one is not state:
                one.due = due(one, self.early)
        return found

    def _refreshed(self, state: State, key: Key, at: At, *, surely: bool = True) -> State:
        lease = state.leases.get(key)
        if lease is None or (lease.since, lease.until) == at:
            return state
        other = state.copy()
        since = at[0] if surely else lease.since
        fresh = msgspec.structs.replace(lease, since=since, until=max(at[1], lease.until))
        other.leases = {**state.leases, key: fresh}
        other.due = due(other, self.early)
        return other

    def _heartbeat(self, state: State, step: ns.Heartbeat, at: At) -> list[After]:
        if "clusterName" in step.drop or "brokerAddr" in step.drop:
            return [After(state, Prediction(code, ANY)) for code in (_REFUSED, 0)]
        key = (self.name(step.cluster), self.address(step.address))
        return [After(self._refreshed(state, key, at), Prediction())]

    def _query(self, state: State, step: ns.QueryVersion, at: At) -> list[After]:
        if step.form == "garbage" or (step.form == "none" and not self.profile.has("renewing-queries")):
            return [After(state, Prediction(_REFUSED, SOME))]
        nothing = Prediction(ext={"changed": "true"})
        if step.drop:
            if self.profile.has("brokers-by-cluster") and (
                "clusterName" in step.drop or "brokerAddr" in step.drop
            ):
                return [After(state, Prediction(_REFUSED, SOME)), After(state, nothing)]
            if "brokerAddr" in step.drop:
                return [After(state, nothing)]
        key = self.key(self.name(step.cluster), self.address(step.address))
        lease = state.leases.get(key)
        if lease is None:
            return [After(state, nothing)]
        same = step.form == "json" and lease.version == version_of(step, self.profile)
        after = self._refreshed(state, key, at) if same or self.profile.has("renewing-queries") else state
        return [After(after, Prediction(ext={"changed": str(not same).lower()}, body=lease.version))]

    def _route(self, state: State, step: ns.Route) -> list[After]:
        topic = self._field(step, "topic", self.name(step.topic))
        found = [After(state, questions.route(state, step, topic, self.profile))]
        if state.settings.get("needWaitForService") == "true":
            found.append(After(state, Prediction(_REFUSED, SOME)))
        return found

    def _member_group(self, state: State, step: ns.MemberGroup) -> list[After]:
        name = self._field(step, "brokerName", self.name(step.broker))
        cluster = self._field(step, "clusterName", self.name(step.cluster))
        return [After(state, questions.member_group(state, name, cluster))]

    def _permission(self, state: State, step: ns.Permission) -> list[After]:
        name = self._field(step, "brokerName", self.name(step.broker))
        count, found = 0, [dict(state.topics)]
        for topic, queues in state.topics.items():
            queue = None if name is None else queues.get(name)
            if queue is None or name is None:
                continue
            count += 1
            choices = _permitted(queue, step.code)
            if len(choices) > 1:
                found = [dict(one) for one in found for _ in choices]
            for i, table in enumerate(found):
                table[topic] = {**queues, name: choices[i % len(choices)]}
        field = "wipeTopicCount" if step.code == 205 else "addTopicCount"
        outcomes = []
        for table in found[:_CHOICES]:
            other = state
            if count and table != state.topics:
                other = state.copy()
                other.topics = table
            was = "wiped" if step.code == 205 else "made writable"
            outcomes.append(After(other, Prediction(ext={field: str(count)}), was))
        return outcomes

    def _kv(self, state: State, step: ns.Kv) -> list[After]:
        def given(field: str, value: str) -> str | None:
            if step.drop and field in step.drop:
                return None
            return None if step.binary and not value else value

        namespace = given("namespace", step.namespace)
        key = given("key", step.key if step.topic is None else self.name(step.topic))
        value = given("value", step.value)
        found = stored.kept(state, step, namespace, key, value, self.names.is_ours)
        return [After(after, prediction, "kept") for after, prediction in found]

    def learnt(self, state: State, step: ns.Kv, code: int, found: object) -> State:
        """The state after the answer to a question about KV that the state did not know."""
        key = step.key if step.topic is None else self.name(step.topic)
        return stored.learnt(state, step.namespace, None if step.code == 219 else key, code, found)

    def _delete(self, state: State, step: ns.DeleteTopic) -> list[After]:
        topic = self._field(step, "topic", self.name(step.topic))
        if topic is None:
            return [After(state, Prediction(code, ANY)) for code in (0, _REFUSED)]
        brokers: Iterable[str] = state.topics.get(topic, ())
        if step.cluster and "clusterName" not in step.drop:
            members = state.clusters.get(self.name(step.cluster), frozenset())
            brokers = [name for name in brokers if name in members]
        gone = [(topic, name) for name in brokers]
        other = departures.without_queues(state, gone) if gone else state
        return [After(other, Prediction(), "topic deleted")]

    def _register_topic(self, state: State, step: ns.RegisterTopic) -> list[After]:
        if step.form == "garbage":
            return [After(state, Prediction(_REFUSED, SOME))]
        topic = self._field(step, "topic", self.name(step.topic))
        if topic is None:
            return [After(state, Prediction(code, ANY)) for code in (0, _REFUSED)]
        if step.form != "json" or not step.queues:
            return [After(state, Prediction())]
        added: dict[str, Queue] = {}
        for symbol, queue in step.queues.items():
            name = self.name(symbol)
            if name not in state.brokers:
                if topic not in state.topics:
                    added = {}
                break
            added[name] = queue
        if not added:
            return [After(state, Prediction())]
        return [After(given(state, topic, added), Prediction(), "topic registered")]

    def _is_served(self, code: int) -> bool:
        """Whether one of the codes that not every line has is there."""
        return code in _SINCE and self.profile.has(_SINCE[code])

    def _unknown(self, state: State, code: int) -> list[After]:
        refused = After(state, Prediction(_UNKNOWN_CODE, ANY))
        if self.profile.has("refused-codes"):
            return [refused]
        return [refused, After(state, Prediction(silent=True))]

    def _restarted(self, state: State) -> list[State]:
        """Routes are gone, pairs are kept. Settings come back where the server was started with a file."""
        found = []
        for settings in (state.settings, stored.usual(self.profile)):
            one = State(kv=state.kv, unnamed=state.unnamed, settings=settings, serial=state.serial)
            if one not in found:
                found.append(one)
        return found


def _bears(state: State, conn: str) -> bool:
    """Whether something would leave with a connection, or may come over it yet."""
    return any(lease.conn == conn for lease in state.leases.values()) or any(
        effect.step is not None and effect.conn == conn for effect in state.pending
    )


def _concerns(state: State, lost: PendingEffect) -> bool:
    """Whether something may yet leave with a connection that has been lost."""
    return _bears(state, lost.conn) or any(key in state.leases for key in lost.keys)


_IDENTITY = frozenset({"brokerName", "brokerAddr", "clusterName", "brokerId"})
_NO_ANSWER = Prediction(silent=True)
_CHOICES = 8
_READ, _WRITE = 4, 2


def given(state: State, topic: str, queues: dict[str, Queue]) -> State:
    """The state in which broker names serve a topic by request (217)."""
    other = state.copy()
    other.topics = {**state.topics, topic: {**state.topics.get(topic, {}), **queues}}
    return other


def _permitted(queue: Queue, code: int) -> list[Queue]:
    read, write, perm, flag = queue
    if code == 205:
        return [(read, write, perm & ~_WRITE, flag)]
    made = (read, write, perm | _WRITE, flag)
    return [made] if perm & _READ or perm & _WRITE else [made, queue]


def _reconnected(state: State, step: Reconnect) -> State:
    other = state.copy()
    conns = {name: number for name, number in state.conns.items() if name != step.conn}
    if step.conn in state.conns:
        conns[step.old] = state.conns[step.conn]
    else:
        conns.pop(step.old, None)
    other.conns = conns
    return other
