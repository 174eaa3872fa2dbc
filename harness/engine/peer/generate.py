"""Random programs: one round of steps, decided by seed, number, profile and what is to be kept away.

- Pure but for its source of chance: equal words, equal programs; no answer has a say.
- A round begins with nothing of its own on the server and ends with everything of its own gone, so that
  rounds are independent and any of them can be repeated alone.
- Most rounds stay away from steps that a known quirk is about, or that have set these very targets apart
  before, so that nothing in them can be excused; every tenth seeks them.
- Leases run out in rounds of their own.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal

import msgspec

from harness.catalogue import Quirk
from harness.engine.peer.drawing.base import BROKERS, Known
from harness.engine.peer.drawing.changes import Changes
from harness.engine.peer.drawing.leases import Leases
from harness.program.chance import chance
from harness.program.nameserver import steps as ns
from harness.program.steps import AnyStep
from harness.spec.nameserver.expected import ExpectedState
from harness.spec.nameserver.stored import defaults

RoundKind = Literal["plain", "quirks", "leases", "poison"]

ROUND = 160
"""About how many steps make a round."""
_REGISTER_FIELDS = ("brokerName", "brokerAddr", "clusterName", "brokerId", "haServerAddr")


class Program(msgspec.Struct, frozen=True, kw_only=True):
    """One round."""

    kind: RoundKind
    profile: str
    steps: tuple[AnyStep, ...]


def _nothing(step: AnyStep, expected: ExpectedState) -> bool:
    return False


def round_of(
    seed: str | int, number: int, *, profile: str, quirks: Sequence[Quirk], known: Known = _nothing
) -> Program:
    """Round ``number`` of a seed. ``known`` says which steps have set the targets apart before."""
    source = chance("differential", seed, profile, number)
    kind = _kind(number, profile)
    avoid = () if kind == "quirks" else tuple(quirk for quirk in quirks if quirk.taints != "nothing")
    if kind != "poison":
        avoid += tuple(quirk for quirk in quirks if kind == "quirks" and quirk.taints == "server")
    seeks = kind in ("quirks", "poison")
    maker = _Maker(source, profile, () if kind == "poison" else avoid, _nothing if seeks else known)
    steps = {"plain": maker.plain, "quirks": maker.plain, "leases": maker.leases, "poison": maker.poison}[
        kind
    ]()
    return Program(kind=kind, profile=profile, steps=tuple(steps))


def plainest(profile: str) -> Program:
    """Every kind of request once, as plain as it can be, and behind each change what asks for it."""
    maker = _Maker(chance("plainest"), profile, (), _nothing)
    return Program(kind="plain", profile=profile, steps=tuple(maker.plainest()))


def _kind(number: int, profile: str) -> RoundKind:
    """Leases first: the expiry scan of 4.x does not survive long under churn, so its rounds come together."""
    at = number % 120
    if at < 3:
        return "leases"
    if at == 119:
        return "poison"
    return "quirks" if at % 10 == 9 else "plain"


class _Maker(Changes, Leases):
    """Draws whole rounds."""

    def plain(self) -> list[AnyStep]:
        """Anything but time."""
        while len(self._steps) < ROUND - 30:
            self._change()
            for _ in range(self._chance.randrange(1, 5)):
                self._ask()
        self._wind_down()
        return self._steps

    def plainest(self) -> list[AnyStep]:
        """Every kind of request once."""
        topics: dict[str, ns.Queues] = {"T0": (8, 8, 6, 0), "T1": (4, 4, 6, 0)}
        self._add(ns.Register(topics=topics, conn="k0"))
        self._ask_all()
        self._add(ns.Register(address="a1", id=1, conn="k1"))
        self._ask_all()
        for step in (
            ns.Heartbeat(),
            ns.Permission(code=205),
            ns.Route(),
            ns.Permission(code=327),
            ns.Route(),
            ns.Kv(code=100),
            ns.Kv(code=101),
            ns.Kv(code=219),
            ns.Kv(code=102),
            ns.Kv(code=101),
            ns.Configuration(),
            ns.Unknown(),
            ns.DeleteTopic(topic="T1"),
            ns.Route(topic="T1"),
            ns.Unregister(address="a1", id=1),
        ):
            self._add(step)
        self._ask_all()
        self._add(ns.Unregister())
        self._ask_all()
        return self._steps

    def _ask_all(self) -> None:
        for step in (
            ns.ClusterInfo(),
            ns.Topics(),
            ns.Route(),
            ns.QueryVersion(),
            ns.MemberGroup(),
            ns.TopicsOfCluster(),
            ns.SystemTopics(),
            ns.Unit(),
        ):
            self._add(step)

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
            broker, number = BROKERS[slot // 2], slot % 2
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
