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

from harness.program.nameserver import steps as ns
from harness.program.step import Close, Reconnect, Restart, Time
from harness.program.steps import AnyStep
from harness.spec.nameserver import connections, departures, questions, stored, topic_changes
from harness.spec.nameserver.answers import differences
from harness.spec.nameserver.component import Rest
from harness.spec.nameserver.predictions import ANY, SOME, Prediction
from harness.spec.nameserver.reading import Announced, announced_by, version_of
from harness.spec.nameserver.registration import Registrant, registered
from harness.spec.nameserver.served import is_served
from harness.spec.nameserver.state import At, Key, PendingEffect, State, due
from harness.spec.nameserver.terms import Terms
from harness.wire import ResponseCode

DOUBT = 60.0
"""Protocol seconds after which a request that was never answered will not be carried out any more."""
_REFUSED = 1


class After(msgspec.Struct):
    """What may be after a step. ``was``: a word for what it was to the name that it is about."""

    state: State
    prediction: Prediction
    was: str = ""


class NameServerSpec(Terms):
    """What the catalogue allows one server."""

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

    def rest(self, states: list[State], now: At) -> Rest:
        """How long states stay all that there are, which were reached at ``now`` under the same settings.

        What an ended lease brings about depends on the moment, so that such states are at rest at it only.
        """
        ends = begins = math.inf
        for state in states:
            for effect in state.pending:
                if effect.start > now[1]:
                    begins = min(begins, effect.start)
                else:
                    ends = min(ends, effect.end)
            for lease in state.leases.values():
                start = lease.since + lease.length - self.early
                if start > now[1]:
                    begins = min(begins, start)
                else:
                    ends = -math.inf
        return Rest(states, states[0].settings, now, ends, begins)

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
                found = self._lost(rest, what.conn, what.keys) + self._lost_in_part(state, what.conn)
            elif what.uncertain and what.end < now[0]:
                found = [rest]
            else:
                found = self._carried_out(rest, what)
        for one in found:
            if one.pending:  # a connection that has been lost already need not be lost again
                one.pending = tuple(effect for effect in one.pending if connections.is_pending(one, effect))
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
        return [
            after.state.copy()
            for after in found
            if not self.wrong(differences(after.prediction, what.said), what.step)
        ]

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

    def _lost_in_part(self, state: State, conn: str) -> list[State]:
        """Of several brokers of a connection one has gone, and the others are still going."""
        keys = [key for key, lease in state.leases.items() if lease.conn == conn]
        if len(keys) < 2:
            return []
        return [one.copy() for key in keys for one in departures.lost(state, key)]

    def _expired(self, state: State, key: Key, now: At) -> list[State]:
        """A lease has ended: the server closes its connection, and all leave that belong to it."""
        conn = state.leases[key].conn
        found = []
        for one in departures.lost(state, key):
            other = one.copy()
            if conn in one.conns.values():
                other.ended = one.ended | {conn}
            if any(lease.conn == conn for lease in other.leases.values()):
                other.pending = (*other.pending, connections.losing(other, conn, now, self.prompt))
            found.append(other)
        return found

    # --- connections ----------------------------------------------------------------------------------------

    def closed(self, state: State, symbol: str, at: At) -> State:
        """Either side has closed a connection: its brokers will leave."""
        return connections.closed(state, symbol, at, self.prompt)

    def idled(self, state: State, symbol: str, at: At) -> State:
        """The server closes a connection because nothing has come over it."""
        return connections.idled(state, symbol, at, self.prompt)

    # --- steps ----------------------------------------------------------------------------------------------

    def postponed(
        self, state: State, step: ns.AnyRequest, at: At, *, said: object = None, uncertain: bool = False
    ) -> State:
        """A request that has been sent and will be carried out, or perhaps be."""
        state, conn = connections.opened(state, step.conn)
        end = at[1] + (DOUBT if uncertain else 0.0 if said is not None else self.prompt)
        return state.with_pending(PendingEffect(at[0], end, step, conn, said, uncertain))

    def apply(self, state: State, step: AnyStep, at: At, conn: str | None = None) -> Iterable[After]:
        """What may come of a step that is carried out at some moment of ``at``. ``conn``: the connection that
        it came over, where that is not the one which its symbol stands for now.
        """
        if not is_served(step, self.profile):
            return self._unknown(state)
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
                cluster = self.field(step, "cluster", self.name(step.cluster))
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
            case ns.Heartbeat():
                return self._heartbeat(state, step, at)
            case ns.MemberGroup():
                return self._member_group(state, step)
            case ns.RegisterTopic():
                return self._register_topic(state, step)
            case Close():
                return [After(self.closed(state, step.conn, at), _NO_ANSWER, "closed")]
            case Reconnect():
                return [After(connections.reconnected(state, step), _NO_ANSWER)]
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
            state, conn = connections.opened(state, step.conn)
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
            broker = state.brokers.get(self.name(step.broker))
            is_elsewhere = broker is not None and broker.cluster != self.name(step.cluster)
            was = "unregistered elsewhere" if is_elsewhere else "unregistered"
            if self.profile.has("queued-unregistration"):
                effect = PendingEffect(at[0], at[1] + self.prompt, step=step)
                return [After(state.with_pending(effect), Prediction(), was)]
            return [After(one, Prediction(), was) for one in self.unregistered(state, step)]
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
        topic = self.field(step, "topic", self.name(step.topic))
        found = [After(state, questions.route(state, step, topic, self.profile))]
        if state.settings.get("needWaitForService") == "true":
            found.append(After(state, Prediction(_REFUSED, SOME)))
        return found

    def _member_group(self, state: State, step: ns.MemberGroup) -> list[After]:
        name = self.field(step, "brokerName", self.name(step.broker))
        cluster = self.field(step, "clusterName", self.name(step.cluster))
        return [After(state, questions.member_group(state, name, cluster))]

    def _permission(self, state: State, step: ns.Permission) -> list[After]:
        name = self.field(step, "brokerName", self.name(step.broker))
        wipes = step.code == topic_changes.WIPE
        field, was = ("wipeTopicCount", "wiped") if wipes else ("addTopicCount", "made writable")
        count, found = topic_changes.permitted(state, name, step.code)
        return [After(one, Prediction(ext={field: str(count)}), was) for one in found]

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
        topic = self.field(step, "topic", self.name(step.topic))
        if topic is None:
            return [After(state, Prediction(code, ANY)) for code in (0, _REFUSED)]
        is_limited = step.cluster and "clusterName" not in step.drop
        cluster = self.name(step.cluster) if is_limited and step.cluster else None
        after = topic_changes.deleted(state, topic, cluster)
        return [After(after, Prediction(plain=True), "topic deleted")]

    def _register_topic(self, state: State, step: ns.RegisterTopic) -> list[After]:
        if step.form == "garbage":
            return [After(state, Prediction(_REFUSED, SOME))]
        topic = self.field(step, "topic", self.name(step.topic))
        if topic is None:
            return [After(state, Prediction(code, ANY)) for code in (0, _REFUSED)]
        queues = {self.name(symbol): queue for symbol, queue in step.queues.items()}
        after = topic_changes.served(state, topic, queues) if step.form == "json" else state
        plain = Prediction(plain=True)
        return [After(after, plain, "topic registered" if after is not state else "")]

    def _unknown(self, state: State) -> list[After]:
        refused = After(state, Prediction(ResponseCode.REQUEST_CODE_NOT_SUPPORTED, ANY))
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


_IDENTITY = frozenset({"brokerName", "brokerAddr", "clusterName", "brokerId"})
_NO_ANSWER = Prediction(silent=True)
