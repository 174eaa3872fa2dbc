"""Steps that may change something."""

from __future__ import annotations

from collections.abc import Callable

from harness.engine.peer.drawing.base import BROKERS, CLUSTERS, KEYS, NAMESPACES, TOPICS
from harness.engine.peer.drawing.registrations import Registrations
from harness.program.nameserver import steps as ns
from harness.program.nameserver.frames import ORDER
from harness.program.step import Close
from harness.program.steps import AnyStep

_VALUES = ("v", "w w", 'é"/\\', "b0:4;b1:8")


class Changes(Registrations):
    """Draws them."""

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
        slot = self._chance.randrange(len(BROKERS))
        return ns.Unregister(
            conn="q",
            cluster=self._one(CLUSTERS),
            broker=self._one(BROKERS) if self._chance.random() < 0.2 else BROKERS[slot],
            address=f"a{slot}{self._chance.randrange(3)}",
            id=self._one((0, 0, 1, 2)),
            drop=("brokerId",) if self._chance.random() < 0.15 else (),
        )

    def _permission(self) -> ns.Permission:
        return ns.Permission(
            broker=self._one(BROKERS),
            code=self._one((205, 205, 327)),
            drop=("brokerName",) if self._chance.random() < 0.05 else (),
        )

    def _kv_change(self) -> ns.Kv:
        namespace = self._one(NAMESPACES)
        drop: tuple[str, ...] = ()
        if self._chance.random() < 0.1:
            drop = (self._one(("namespace", "key")),)
        return ns.Kv(
            code=self._one((100, 100, 102)),
            namespace=namespace,
            key=self._one(KEYS) if namespace != ORDER else "x",
            topic=self._one(TOPICS) if namespace == ORDER else None,
            value=self._one(_VALUES),
            drop=drop,
            binary=self._chance.random() < 0.1,
        )

    def _delete_topic(self) -> ns.DeleteTopic:
        return ns.DeleteTopic(topic=self._one(TOPICS), cluster=self._one((None, None, *CLUSTERS)))

    def _register_topic(self) -> ns.RegisterTopic:
        topic = self._one(TOPICS)
        brokers = self._chance.sample(BROKERS, self._chance.randrange(3))
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
