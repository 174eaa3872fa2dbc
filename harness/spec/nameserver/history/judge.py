"""Whether a concurrent history can be explained: one NameServer key by key, several of them side by side.

- It judges what was observed of programs whose steps overlap. Where there is no order that explains it, the
  violation has a name (`harness.spec.nameserver.history.anomalies`) and lists the decisive calls.
- It is never wrong in one direction: what it cannot decide within its budget is ``unknown``, and what it has
  too little to say about is ``unjudged``; both are counted.
- NameServers never talk to each other, and may disagree about whatever rivals did at the same time. They must
  agree about a broker name when each of its addresses has registered with each of them, one after another,
  since anything else was done to it.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Sequence
from typing import Any

import msgspec

from harness.catalogue import profile_named
from harness.program.names import Names
from harness.spec.history.calls import Key
from harness.spec.history.judgement import Judgement, Judging
from harness.spec.history.naming import Make
from harness.spec.history.register import RegisterSpec
from harness.spec.history.timeline import call_text
from harness.spec.linear import BUDGET, Call, Specification
from harness.spec.nameserver.history.anomalies import ANOMALIES, DIVERGENT, LOST_UPDATE, NAMING, RESURRECTED
from harness.spec.nameserver.history.broker_spec import MASTER, BrokerSpec
from harness.spec.nameserver.history.operations import Changed, Listed, Members, Refresh, Registration, Routed
from harness.spec.nameserver.history.per_key import Projection, projected
from harness.spec.nameserver.history.timeline import TEXTS
from harness.spec.observation import Observation, Violation

_INVARIANTS = {
    "broker": "an order of the calls explains what is seen of a broker name",
    "kv": "an order of the calls explains what is seen of a KV key",
}
_AGREE = "NameServers that a broker has registered with show the same of it"


def judge(
    seen: Sequence[Observation],
    profile: str,
    names: Names,
    *,
    jitter: float = 0.0,
    term: float = 2.0,
    budget: int = BUDGET,
) -> Judgement:
    """Judges a history.

    ``jitter`` is by how much a correct server may act late, ``term`` how long what is done behind an answer
    may take, both in protocol seconds; ``budget`` is for each key.
    """
    servers: dict[int, list[Observation]] = defaultdict(list)
    for one in seen:
        servers[one.server].append(one)
    scan = profile_named(profile).scan_interval
    projections = {
        server: projected(observed, names, profile, term=term + jitter)
        for server, observed in sorted(servers.items())
    }
    found = Judging(NAMING, TEXTS, _INVARIANTS, budget)
    for server, projection in projections.items():
        where = f" of NameServer {server}" if len(projections) > 1 else ""
        for key in projection.keys.values():
            make = _maker(key, projection, profile, term=term + jitter, scan=scan + jitter)
            found.take(key, make, where)
    found.violations += _divergences(projections)
    return found.judgement()


def _maker(key: Key, projection: Projection, profile: str, *, term: float, scan: float) -> Make:
    def make(relaxed: str | None) -> Specification[Any]:
        if key.kind == "kv":
            return RegisterSpec(relaxed, lost=LOST_UPDATE, back=RESURRECTED)
        return BrokerSpec(
            profile, term=term, scan=scan, end=projection.end, shared=projection.shared, relaxed=relaxed
        )

    return make


# --- several NameServers ------------------------------------------------------------------------------------


def _divergences(projections: dict[int, Projection]) -> list[Violation]:
    """What NameServers show differently of a broker name, although the last registration was the same."""
    found: list[Violation] = []
    if len(projections) < 2:
        return found
    for name in sorted(set.intersection(*({*p.keys} for p in projections.values()))):
        keys = {server: projection.keys[name] for server, projection in projections.items()}
        if any(key.kind != "broker" or key.unjudged for key in keys.values()):
            continue
        settled = {server: _settled(key.calls) for server, key in keys.items()}
        shown = {server: one.looks for server, one in settled.items() if one is not None}
        if len(shown) == len(keys) and len({one.told for one in settled.values() if one is not None}) == 1:
            found += _differing(name, shown)
    return found


class _Settled(msgspec.Struct, frozen=True):
    told: tuple[object, ...]
    """The last registration of each address."""
    looks: dict[object, Call]
    """What was seen after all of them, by what was looked at."""


def _settled(calls: Sequence[Call]) -> _Settled | None:
    """How a name was left; None where more may have come between its last registrations, or behind them."""
    changes = sorted(
        (call for call in calls if not call.reads and not isinstance(call.action, Changed | Refresh)),
        key=lambda call: call.begin,
    )
    last: dict[str, Call] = {}
    edge = None
    while changes and len(last) < len({*_addresses(changes), *last}):
        call = changes.pop()
        if not isinstance(call.action, Registration) or not call.action.accepted:
            return None
        if edge is not None and call.end >= edge:
            return None
        last.setdefault(call.action.address, call)
        edge = call.begin
    rank = max(
        (call.action.version[2] for call in changes if isinstance(call.action, Registration)), default=0
    )
    if any(call.action.version[2] < rank for call in last.values()):
        return None  # it may have been ignored for a greater state version
    if edge is None or any(
        call.end >= edge or (isinstance(call.action, Registration) and _repeats(call, last))
        for call in changes
    ):
        return None
    ordered = sorted(last.values(), key=lambda call: call.begin)
    since = ordered[-1].end
    over = since[0] + min(call.action.lease for call in ordered)
    topics = {topic for call in ordered for topic, _ in call.action.topics if call.action.id == MASTER}
    return _Settled(
        tuple(msgspec.structs.replace(call.action, conn=0, told=None) for call in ordered),
        {
            subject: call
            for call in calls
            if call.reads and since < call.begin and call.end[0] < over
            for subject in _subjects(call.action, topics)
        },
    )


def _addresses(calls: Sequence[Call]) -> set[str]:
    return {call.action.address for call in calls if isinstance(call.action, Registration)}


def _repeats(call: Call, last: dict[str, Call]) -> bool:
    """Whether an earlier registration had the data version of the last one, which then changes nothing."""
    latest: Registration = last[call.action.address].action
    return bool(latest.version == call.action.version)


def _subjects(action: object, topics: set[str]) -> list[object]:
    match action:
        case Routed(topic) if topic in topics:
            return [("route", topic)]
        case Listed(number):
            return [("id", number)]
        case Members():
            return [("members",)]
    return []


def _differing(name: str, shown: dict[int, dict[object, Call]]) -> list[Violation]:
    subjects = set.intersection(*({*looks} for looks in shown.values()))
    for subject in sorted(subjects, key=repr):
        seen = {server: looks[subject] for server, looks in shown.items()}
        kinds = Counter(call.action for call in seen.values())
        if len(kinds) < 2:
            continue
        usual = kinds.most_common(1)[0][0]
        odd = [server for server, call in seen.items() if call.action != usual]
        anomaly = ANOMALIES[DIVERGENT]
        lines = "\n".join(f"NameServer {server}: {call_text(call, TEXTS)}" for server, call in seen.items())
        differs = f"NameServer {', '.join(map(str, odd))} differs" if len(seen) > 2 else "they differ"
        return [
            Violation(
                invariant=_AGREE,
                statement=anomaly.statement,
                expected=f"the same of {name} from all of them",
                actual=f"{differs}: {anomaly.name}. {anomaly.text}\n{lines}",
                number=max(seen[server].number for server in odd),
                anomaly=anomaly.name,
            )
        ]
    return []
