"""Registrations: as brokers send them, again with one thing changed, and such as are refused, or nearly."""

from __future__ import annotations

from typing import Literal

import msgspec

from harness.engine.peer.drawing.base import BROKERS, CLUSTERS, TOPICS, Drawing
from harness.program.nameserver import steps as ns

Form = Literal["json", "compressed", "compressed-5", "bare", "none", "null", "garbage"]

_ZONES = ("z1", "Z1", "z2", None)


class Registrations(Drawing):
    """Draws registrations."""

    def _registration(self) -> ns.Register:
        """A registration as brokers send it, of any age."""
        slot = self._chance.randrange(len(BROKERS))
        broker = BROKERS[slot]
        name = self._expected.brokers.get(broker)
        address = f"a{slot}{self._chance.randrange(3)}"
        if self._chance.random() < 0.03:
            address = f"a{self._chance.randrange(len(BROKERS))}{self._chance.randrange(3)}"
        cluster = name.cluster if name is not None else self._one(CLUSTERS)
        if self._chance.random() < 0.04:
            cluster = self._one(CLUSTERS)
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
            lean=self._has("topic-attributes") and self._chance.random() < 0.1,
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

    def _payload(self, *, least: int = 0) -> dict[str, ns.Queues]:
        number = max(least, self._weighted(((0, 2), (1, 3), (2, 8), (3, 5), (5, 1))))
        return {topic: self._queues(topic) for topic in self._chance.sample(TOPICS, number)}

    def _mappings(self, broker: str) -> dict[str, tuple[str, int]]:
        if not self._has("static-topics") or self._chance.random() > 0.06:
            return {}
        return {self._one(TOPICS): (broker, self._chance.randrange(5))}

    def _compressed(self) -> Literal["compressed", "compressed-5"]:
        if not self._has("topic-attributes"):
            return "compressed"
        return self._one(("compressed", "compressed-5", "compressed-5"))
