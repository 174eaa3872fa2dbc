"""Random programs: one round of steps, decided by seed, number, profile and the quirks to be kept away.

- Pure but for its source of chance: equal words, equal programs; no answer has a say.
- A round begins with nothing of its own on the server and ends with everything of its own gone, so that
  rounds are independent and any of them can be repeated alone.
- Most rounds stay away from steps that a known quirk is about, so that nothing in them can be excused; every
  tenth seeks them.
- Leases run out in rounds of their own, and only where it is beyond doubt: ``SLACK`` seconds of delay at any
  place change nothing of what is expected.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Literal, TypeVar

import msgspec

from harness.catalogue import Feature, Quirk
from harness.program.chance import Chance, chance
from harness.program.nameserver import steps as ns
from harness.program.nameserver.frames import ORDER
from harness.program.step import Close, Time
from harness.program.steps import AnyStep
from harness.spec.nameserver.expected import ExpectedState, Live
from harness.spec.nameserver.predicates import PREDICATES
from harness.spec.nameserver.stored import defaults
from harness.spec.quirks import QuirksByStep

T = TypeVar("T")
Form = Literal["json", "compressed", "compressed-5", "bare", "none", "null", "garbage"]
RoundKind = Literal["plain", "quirks", "leases", "poison"]

ROUND = 160
"""About how many steps make a round."""
SLACK = 20
"""Protocol seconds by which the targets' clocks may run ahead of the program's in a round about leases."""
LATE = 15
"""Protocol seconds by which a target may act late at x60 (`Timing.jitter`)."""

_CLUSTERS = ("c0", "c1", "c2")
_BROKERS = ("b0", "b1", "b2", "b3", "b4")
_TOPICS = ("T0", "T1", "T2", "T3", "T4", "Té/5", "U6", "U7")
_FLAGS = {"U6": 1, "U7": 2}
"""System flags; a topic has one flag, because 311 to 313 look at one broker only (`RouteInfoManager`)."""
_NAMESPACES = ("n0", "n1", ORDER)
_KEYS = ("x", "y", 'é"/')
_ZONES = ("z1", "Z1", "z2", None)
_VALUES = ("v", "w w", 'é"/\\', "b0:4;b1:8")


class Program(msgspec.Struct, frozen=True, kw_only=True):
    """One round."""

    kind: RoundKind
    profile: str
    steps: tuple[AnyStep, ...]


def round_of(seed: str | int, number: int, *, profile: str, quirks: Sequence[Quirk]) -> Program:
    """Round ``number`` of a seed."""
    source = chance("differential", seed, profile, number)
    kind = _kind(number, profile)
    known = () if kind == "quirks" else tuple(quirk for quirk in quirks if quirk.taints != "nothing")
    if kind != "poison":
        known += tuple(quirk for quirk in quirks if kind == "quirks" and quirk.taints == "server")
    maker = _Maker(source, profile, () if kind == "poison" else known)
    steps = {"plain": maker.plain, "quirks": maker.plain, "leases": maker.leases, "poison": maker.poison}[
        kind
    ]()
    return Program(kind=kind, profile=profile, steps=tuple(steps))


def _kind(number: int, profile: str) -> RoundKind:
    """Leases first: the expiry scan of 4.x does not survive long under churn, so its rounds come together."""
    at = number % 120
    if at < 3:
        return "leases"
    if at == 119:
        return "poison"
    return "quirks" if at % 10 == 9 else "plain"


class _Maker:
    def __init__(self, source: Chance, profile: str, avoid: Sequence[Quirk]) -> None:
        self._chance = source
        self._avoid = QuirksByStep(avoid, PREDICATES)
        self._perms = _PERMS if source.random() < 0.3 else _USUAL_PERMS
        self._expected = ExpectedState(profile)
        self._has = self._expected.profile.has
        self._lease = self._expected.profile.lease
        self._steps: list[AnyStep] = []
        self._kv: set[tuple[str, str, str | None]] = set()

    # --- rounds ---------------------------------------------------------------------------------------------

    def plain(self) -> list[AnyStep]:
        """Anything but time."""
        while len(self._steps) < ROUND - 30:
            self._change()
            for _ in range(self._chance.randrange(1, 5)):
                self._ask()
        self._wind_down()
        return self._steps

    def poison(self) -> list[AnyStep]:
        """Registrations that lack fields, which a server may not survive: it is started anew behind them."""
        for _ in range(6):
            self._change()
            self._ask()
        for _ in range(4):
            self._add(msgspec.structs.replace(self._registration(), drop=(self._one(_REGISTER_FIELDS),)))
            self._ask()
        return self._steps

    def leases(self) -> list[AnyStep]:
        """Leases that run out, leases that are kept, and connections that lie idle."""
        for slot in range(self._chance.randrange(3, 7)):
            broker, number = _BROKERS[slot // 2], slot % 2
            lease = self._one((None, None, 60_000, 200_000)) if self._has("own-lease") else None
            self._add(
                ns.Register(
                    conn=f"k{slot}",
                    broker=broker,
                    address=f"a{slot}",
                    id=number,
                    topics=self._payload(least=2),
                    counter=1,
                    state=0 if self._has("state-version") else None,
                    lease=lease,
                    acting=self._maybe(None, True, False) if self._has("acting-master") else None,
                )
            )
        self._look()
        for _ in range(self._chance.randrange(1, 3)):
            self._let_time_pass()
        self._wind_down()
        return self._steps

    def _let_time_pass(self) -> None:
        how = self._one(("nobody", "some", "some", "idle", "short" if self._has("own-lease") else "some"))
        if how != "short":
            for lease in [lease for lease in self._expected.leases.values() if lease.length < self._lease]:
                self._leave(lease)
        everybody = list(self._expected.leases.values())
        scan = int(self._expected.profile.scan_interval)
        idle: tuple[str, ...] = ()
        match how:
            case "nobody":
                self._refresh(everybody)
                self._add(Time(seconds=int(self._lease) - SLACK))
            case "short":
                self._refresh([lease for lease in everybody if lease.length >= self._lease])
                self._add(Time(seconds=60 + scan + LATE + SLACK))
            case _:
                leaving = [
                    lease
                    for lease in everybody
                    if lease.length == self._lease and how == "some" and self._chance.random() < 0.5
                ]
                if how == "idle":
                    self._add(ns.Route(conn="k9"))
                    idle = ("k9", *(lease.conn for lease in everybody if self._chance.random() < 0.3))
                self._refresh(everybody)
                self._add(Time(seconds=70, idle=idle))
                self._refresh([lease for lease in everybody if lease not in leaving], idle)
                self._add(Time(seconds=int(self._lease) + scan + LATE + SLACK - 70, idle=idle))
        self._look()

    def _leave(self, lease: Live) -> None:
        self._add(
            ns.Unregister(
                conn=lease.conn,
                cluster=lease.cluster,
                broker=lease.broker,
                address=lease.address,
                id=lease.id,
            )
        )

    def _refresh(self, leases: Sequence[Live], idle: Sequence[str] = ()) -> None:
        """Renews leases; a connection that is to lie idle is not used for it."""
        for lease in leases:
            counter, timestamp, state = lease.version
            given = state if self._has("state-version") else None
            cluster, broker, address, number = lease.cluster, lease.broker, lease.address, lease.id
            conn = "q" if lease.conn in idle else lease.conn
            how = self._chance.randrange(3 if self._has("heartbeats") else 2)
            if how == 0 and conn == lease.conn:
                # The same once more: nothing new for the topic table.
                self._add(
                    ns.Register(
                        conn=lease.conn,
                        cluster=cluster,
                        broker=broker,
                        address=address,
                        id=number,
                        counter=counter,
                        timestamp=timestamp,
                        state=given,
                        lease=int(lease.length * 1000) if lease.length != self._lease else None,
                    )
                )
            elif how < 2:
                self._add(
                    ns.QueryVersion(
                        conn=conn,
                        cluster=cluster,
                        broker=broker,
                        address=address,
                        id=number,
                        counter=counter,
                        timestamp=timestamp,
                        state=given,
                    )
                )
            else:
                self._add(ns.Heartbeat(conn=conn, cluster=cluster, broker=broker, address=address, id=number))

    def _look(self) -> None:
        """Everything that can be seen of what the round did."""
        self._add(ns.ClusterInfo())
        self._add(ns.Topics())
        for topic in sorted(self._expected.topics):
            self._add(ns.Route(topic=topic))
        for lease in list(self._expected.leases.values())[:8]:
            counter, timestamp, state = lease.version
            self._add(
                ns.QueryVersion(
                    cluster=lease.cluster,
                    broker=lease.broker,
                    address=lease.address,
                    id=lease.id,
                    counter=counter + 1,
                    timestamp=timestamp,
                    state=state if self._has("state-version") else None,
                )
            )

    def _wind_down(self) -> None:
        """Takes back everything that is known, and reads it back before and after."""
        for setting in [key for key, value in self._expected.settings.items() if value != defaults()[key]]:
            self._add(ns.Configure(lines=(f"{setting}={defaults()[setting]}",)))
        self._look()
        pairs = sorted(self._kv, key=str)
        self._read_back(pairs)
        for namespace, key, topic in pairs:
            self._add(ns.Kv(code=102, namespace=namespace, key=key, topic=topic))
        self._read_back(pairs)
        for broker, name in list(self._expected.brokers.items()):
            for number, address in list(name.ids.items()):
                self._add(
                    ns.Unregister(cluster=name.cluster, broker=broker, address=address, id=number, conn="q")
                )
        self._look()

    def _read_back(self, pairs: Sequence[tuple[str, str, str | None]]) -> None:
        for namespace, key, topic in pairs:
            self._add(ns.Kv(code=101, namespace=namespace, key=key, topic=topic))
        for namespace in dict.fromkeys(namespace for namespace, _, _ in pairs):
            self._add(ns.Kv(code=219, namespace=namespace))

    # --- steps ----------------------------------------------------------------------------------------------

    def _change(self) -> None:
        """One step that may change something."""
        makers: tuple[tuple[Callable[[], AnyStep | None], int], ...] = (
            (self._registration, 40),
            (self._again, 14),
            (self._odd_registration, 9),
            (self._unregistration, 12),
            (self._odd_unregistration, 4),
            (self._permission, 5),
            (self._kv_change, 5),
            (self._delete_topic, 4),
            (self._register_topic, 4),
            (self._close, 3),
            (self._configure, 2),
            (self._unknown, 1),
        )
        make = self._weighted(makers)
        for _ in range(6):
            step = make()
            if step is not None and self._add(step):
                return

    def _ask(self) -> None:
        """One step that only asks."""
        makers: tuple[tuple[Callable[[], AnyStep | None], int], ...] = (
            (self._route, 30),
            (self._cluster_info, 14),
            (self._topics, 6),
            (self._query_version, 14),
            (self._heartbeat, 5),
            (self._member_group, 8),
            (self._kv_question, 6),
            (self._topics_of_cluster, 3),
            (self._system_topics, 2),
            (self._unit, 4),
            (self._configuration, 1),
        )
        make = self._weighted(makers)
        self._add(make())

    def _add(self, step: AnyStep | None) -> bool:
        if (
            isinstance(step, ns.Register)
            and step.form.startswith("compressed")
            and _FLAGS.keys() & step.topics
        ):
            # Such a body cannot carry flags: the topic would have two of them.
            plain = {topic: queues for topic, queues in step.topics.items() if topic not in _FLAGS}
            step = msgspec.structs.replace(step, topics=plain)
        if step is None or self._avoid.triggered_by(step, self._expected):
            return False
        feature = _NEEDS.get(type(step))
        if feature is not None and not self._has(feature):
            return False
        self._expected.apply(step)
        self._steps.append(step)
        match step:
            case ns.Kv() if step.code == 100:
                self._kv.add((step.namespace, step.key, step.topic))
            case ns.Kv() if step.code == 102:
                self._kv.discard((step.namespace, step.key, step.topic))
        return True

    def _registration(self) -> ns.Register:
        """A registration as brokers send it, of any age."""
        slot = self._chance.randrange(len(_BROKERS))
        broker = _BROKERS[slot]
        name = self._expected.brokers.get(broker)
        address = f"a{slot}{self._chance.randrange(3)}"
        if self._chance.random() < 0.03:
            address = f"a{self._chance.randrange(len(_BROKERS))}{self._chance.randrange(3)}"
        cluster = name.cluster if name is not None else self._one(_CLUSTERS)
        if self._chance.random() < 0.04:
            cluster = self._one(_CLUSTERS)
        number = self._weighted(((0, 10), (1, 5), (2, 2), (5, 1), (-1, 1)))
        lease = self._expected.lease(cluster, address)
        counter, timestamp, state = (1, 0, 0) if lease is None else lease.version
        if lease is not None and lease.broker == broker and self._chance.random() < 0.6:
            number = lease.id
        if self._chance.random() < 0.5:
            counter += self._one((1, 1, 1, -1, 0))
            timestamp += self._one((0, 1, 5))
        if self._chance.random() < 0.15:
            state = max(0, state + self._one((1, 1, -1)))
        old = self._chance.random() < 0.08
        form: Form = self._weighted((("json", 12), (self._compressed(), 4), ("none", 1)))
        announces: int | None = None
        if old:
            form, announces = "bare", self._one((0, 10, 36))
        elif form == "json" and self._chance.random() < 0.2:
            announces = self._one((37, 300, 400, 401, 412, 413, 2000))
        elif form == "compressed-5":
            announces = self._one((None, 413))
        elif form == "compressed" and self._has("topic-attributes"):
            announces = self._one((37, 400, 412))
        return ns.Register(
            conn=self._conn_of(address),
            binary=self._chance.random() < 0.12,
            announces=announces,
            cluster=cluster,
            broker=broker,
            address=address,
            id=number,
            topics={} if form == "none" else self._payload(),
            counter=counter,
            timestamp=timestamp,
            state=self._one((state, state, state, None))
            if self._has("state-version")
            else self._maybe(None, 3),
            form=form,
            crc=self._weighted((("right", 8), ("none", 3))),
            filters=self._weighted((((), 8), (None, 2), (("f1",), 2), (("f2", "f1"), 1))),
            no_filters=self._chance.random() < 0.05,
            mappings=self._mappings(broker) if form in ("json", "compressed-5") else {},
            ha=self._chance.random() < 0.9,
            lease=self._weighted(((None, 8), (200_000, 1), (1_000_000, 1)))
            if self._has("own-lease")
            else None,
            acting=self._weighted(((None, 5), (True, 3), (False, 1))) if self._has("acting-master") else None,
            zone=self._one((*_ZONES, None, None)) if self._has("zones") else None,
        )

    def _again(self) -> ns.Register | None:
        """A registration that was carried out before, as it was or with one thing changed."""
        before = [step for step in self._steps[-60:] if isinstance(step, ns.Register)]
        if not before:
            return None
        step = self._one(before)
        change = self._chance.randrange(8)
        if change == 1:
            return msgspec.structs.replace(step, counter=step.counter + 1)
        if change == 2:
            return msgspec.structs.replace(step, id=0 if step.id else 1)
        if change == 3 and step.form in ("json", "bare"):
            return msgspec.structs.replace(step, topics=self._payload())
        if change == 4 and self._has("acting-master"):
            return msgspec.structs.replace(step, acting=self._one((None, True, False)))
        if change == 5 and self._has("state-version"):
            return msgspec.structs.replace(step, state=(step.state or 0) + 1, counter=step.counter + 1)
        if change == 6:
            return msgspec.structs.replace(step, oneway=True)
        return step

    def _odd_registration(self) -> ns.Register:
        """A registration that is refused, or nearly."""
        step = self._registration()
        what = self._chance.randrange(6)
        if what == 0:
            return msgspec.structs.replace(step, crc="wrong")
        if what == 1:
            return msgspec.structs.replace(step, form=self._one(("garbage", "null")), topics={}, mappings={})
        if what == 2:
            return msgspec.structs.replace(step, claims_compressed=not step.form.startswith("compressed"))
        if what == 3:
            return msgspec.structs.replace(step, form="bare", announces=self._one((None, 37)), mappings={})
        if what == 4:
            return msgspec.structs.replace(step, announces=-1)
        return msgspec.structs.replace(
            step,
            form=self._one(("compressed", "compressed-5")),
            announces=self._one((36, 37, 412, 413, None)),
        )

    def _unregistration(self) -> ns.Unregister | None:
        """A broker that is there goes."""
        if not self._expected.brokers:
            return None
        broker = self._one(sorted(self._expected.brokers))
        name = self._expected.brokers[broker]
        if not name.ids:
            return None
        number = self._one(sorted(name.ids))
        return ns.Unregister(
            conn=self._conn_of(name.ids[number]),
            binary=self._chance.random() < 0.1,
            oneway=self._chance.random() < 0.05,
            cluster=name.cluster,
            broker=broker,
            address=name.ids[number],
            id=number,
        )

    def _odd_unregistration(self) -> ns.Unregister:
        """One that names something that is not there, or not so."""
        slot = self._chance.randrange(len(_BROKERS))
        return ns.Unregister(
            conn="q",
            cluster=self._one(_CLUSTERS),
            broker=self._one(_BROKERS) if self._chance.random() < 0.2 else _BROKERS[slot],
            address=f"a{slot}{self._chance.randrange(3)}",
            id=self._one((0, 0, 1, 2)),
            drop=("brokerId",) if self._chance.random() < 0.15 else (),
        )

    def _permission(self) -> ns.Permission:
        return ns.Permission(
            broker=self._one(_BROKERS),
            code=self._one((205, 205, 327)),
            drop=("brokerName",) if self._chance.random() < 0.05 else (),
        )

    def _kv_change(self) -> ns.Kv:
        namespace = self._one(_NAMESPACES)
        drop: tuple[str, ...] = ()
        if self._chance.random() < 0.1:
            drop = (self._one(("namespace", "key")),)
        return ns.Kv(
            code=self._one((100, 100, 102)),
            namespace=namespace,
            key=self._one(_KEYS) if namespace != ORDER else "x",
            topic=self._one(_TOPICS) if namespace == ORDER else None,
            value=self._one(_VALUES),
            drop=drop,
            binary=self._chance.random() < 0.1,
        )

    def _kv_question(self) -> ns.Kv:
        namespace = self._one((*_NAMESPACES, "nobody's"))
        return ns.Kv(
            code=self._one((101, 101, 219)),
            namespace=namespace,
            key=self._one(_KEYS),
            topic=self._one(_TOPICS) if namespace == ORDER else None,
            binary=self._chance.random() < 0.1,
            drop=(self._one(("namespace", "key")),) if self._chance.random() < 0.05 else (),
        )

    def _delete_topic(self) -> ns.DeleteTopic:
        return ns.DeleteTopic(topic=self._one(_TOPICS), cluster=self._one((None, None, *_CLUSTERS)))

    def _register_topic(self) -> ns.RegisterTopic:
        topic = self._one(_TOPICS)
        brokers = self._chance.sample(_BROKERS, self._chance.randrange(3))
        known = [broker for broker in brokers if broker in self._expected.brokers]
        queues = {broker: self._queues(topic) for broker in known if self._chance.random() < 0.9}
        return ns.RegisterTopic(
            topic=topic, queues=queues, form=self._weighted((("json", 12), ("none", 1), ("null", 1)))
        )

    def _close(self) -> Close | None:
        conns = sorted({lease.conn for lease in self._expected.leases.values()})
        return Close(conn=self._one(conns), how=self._one(("fin", "fin", "reset"))) if conns else None

    def _configure(self) -> ns.Configure:
        name = self._one(tuple(self._expected.settings))
        known = self._expected.settings[name]
        lines = [f"{name}={'false' if known == 'true' else 'true'}"]
        if self._chance.random() < 0.2:
            lines.append("nobodysSetting=1")
        return ns.Configure(lines=tuple(lines))

    def _unknown(self) -> ns.Unknown:
        return ns.Unknown(
            code=self._one((999, 1, 301) if self._has("refused-codes") else (999, 0, 217, 901, 904))
        )

    # --- questions ------------------------------------------------------------------------------------------

    def _route(self) -> ns.Route:
        topic = self._one(sorted(self._expected.topics) or _TOPICS)
        if self._chance.random() < 0.15:
            topic = self._one(_TOPICS)
        zoned = self._has("zones") and self._chance.random() < 0.15
        return ns.Route(
            conn=self._any_conn(),
            topic=topic,
            announces=self._one((None, None, None, 0, 400, 401, 2000)),
            standard=self._weighted(((None, 6), (True, 2), (False, 1))),
            zone_mode=self._one(("true", "TRUE", "false", None)) if zoned else None,
            zone=self._one(("z1", "z2", " ", None)) if zoned else None,
            binary=self._chance.random() < 0.12,
            drop=("topic",) if self._chance.random() < 0.02 else (),
        )

    def _cluster_info(self) -> ns.ClusterInfo:
        return ns.ClusterInfo(conn=self._any_conn(), binary=self._chance.random() < 0.1)

    def _topics(self) -> ns.Topics:
        return ns.Topics(conn=self._any_conn(), binary=self._chance.random() < 0.1)

    def _query_version(self) -> ns.QueryVersion:
        leases = list(self._expected.leases.values())
        if not leases or self._chance.random() < 0.2:
            slot = self._chance.randrange(len(_BROKERS))
            return ns.QueryVersion(cluster=self._one(_CLUSTERS), broker=_BROKERS[slot], address=f"a{slot}0")
        lease = self._one(leases)
        counter, timestamp, state = lease.version
        return ns.QueryVersion(
            conn=self._any_conn(),
            cluster=self._one(_CLUSTERS) if self._chance.random() < 0.1 else lease.cluster,
            broker=lease.broker,
            address=lease.address,
            id=lease.id,
            counter=counter + self._one((0, 0, 1)),
            timestamp=max(0, timestamp + self._one((0, 0, 1))),
            state=self._one((state, state + 1, None)) if self._has("state-version") else self._maybe(None, 7),
            form=self._weighted((("json", 12), ("none", 1), ("garbage", 1))),
            binary=self._chance.random() < 0.1,
            drop=(self._one(("clusterName", "brokerAddr", "brokerId")),)
            if self._chance.random() < 0.04
            else (),
        )

    def _heartbeat(self) -> ns.Heartbeat | None:
        leases = list(self._expected.leases.values())
        if not leases:
            return ns.Heartbeat()
        lease = self._one(leases)
        return ns.Heartbeat(cluster=lease.cluster, broker=lease.broker, address=lease.address, id=lease.id)

    def _member_group(self) -> ns.MemberGroup:
        return ns.MemberGroup(cluster=self._one(_CLUSTERS), broker=self._one(_BROKERS))

    def _topics_of_cluster(self) -> ns.TopicsOfCluster:
        return ns.TopicsOfCluster(cluster=self._one(_CLUSTERS))

    def _system_topics(self) -> ns.SystemTopics:
        return ns.SystemTopics()

    def _unit(self) -> ns.Unit:
        return ns.Unit(code=self._one((311, 312, 313)))

    def _configuration(self) -> ns.Configuration:
        return ns.Configuration()

    # --- parts ----------------------------------------------------------------------------------------------

    def _payload(self, *, least: int = 0) -> dict[str, ns.Queues]:
        number = max(least, self._weighted(((0, 2), (1, 3), (2, 8), (3, 5), (5, 1))))
        return {topic: self._queues(topic) for topic in self._chance.sample(_TOPICS, number)}

    def _queues(self, topic: str) -> ns.Queues:
        return (
            self._one((4, 8, 8, 16)),
            self._one((4, 8, 8)),
            self._weighted(self._perms),
            _FLAGS.get(topic, 0),
        )

    def _mappings(self, broker: str) -> dict[str, tuple[str, int]]:
        if not self._has("static-topics") or self._chance.random() > 0.06:
            return {}
        return {self._one(_TOPICS): (broker, self._chance.randrange(5))}

    def _compressed(self) -> Literal["compressed", "compressed-5"]:
        if not self._has("topic-attributes"):
            return "compressed"
        return self._one(("compressed", "compressed-5", "compressed-5"))

    def _conn_of(self, address: str) -> str:
        if self._chance.random() < 0.02:
            return f"k{self._chance.randrange(len(_BROKERS))}{self._chance.randrange(3)}"
        return f"k{address[1:]}"

    def _any_conn(self) -> str:
        conns = sorted({lease.conn for lease in self._expected.leases.values()})
        return self._one(conns) if conns and self._chance.random() < 0.2 else "q"

    def _one(self, choices: Sequence[T]) -> T:
        return self._chance.choice(choices)

    def _maybe(self, usual: T, *others: T) -> T:
        return usual if self._chance.random() < 0.6 else self._chance.choice(others)

    def _weighted(self, choices: Sequence[tuple[T, int]]) -> T:
        at = self._chance.randrange(sum(weight for _, weight in choices))
        for choice, weight in choices:
            at -= weight
            if at < 0:
                return choice
        raise AssertionError("weights are positive")


_USUAL_PERMS = ((6, 8), (4, 3))
_PERMS = ((6, 8), (4, 2), (2, 2), (7, 1), (0, 1))
_NEEDS: Mapping[type[AnyStep], Feature] = {
    ns.RegisterTopic: "topic-registration",
    ns.Heartbeat: "heartbeats",
    ns.MemberGroup: "heartbeats",
}
"""Requests that a line without the feature does not serve: there they are unknown codes."""
_REGISTER_FIELDS = ("brokerName", "brokerAddr", "clusterName", "brokerId", "haServerAddr")
