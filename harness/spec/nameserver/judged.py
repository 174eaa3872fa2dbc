"""Which statements an answer was held against, where it was as it must be.

- A statement was judged by an answer if a difference in what the answer says would have been told as a breach
  of it: by the same rules (`invariants`), for what was done last to the names that it is about.
- Only what an answer has to say counts: a route without filter servers has judged nothing about these. What
  should not be there counts where something has gone.
"""

from __future__ import annotations

from collections.abc import Iterable
from functools import cache
from typing import Any

from harness.catalogue import profile_named
from harness.program.nameserver import steps as ns
from harness.spec.nameserver.answers import Answer
from harness.spec.nameserver.history.anomalies import ANOMALIES
from harness.spec.nameserver.invariants import INVARIANTS, invariant_of
from harness.spec.nameserver.predictions import ClusterView, ListView, RouteView
from harness.spec.observation import Answered, Difference, Observation, Presence

_GONE = frozenset(
    {
        "unregistered",
        "unregistered elsewhere",
        "unregistered without id",
        "closed",
        "late closed",
        "lease ended",
        "idle",
        "topic deleted",
        "topic deleted in a cluster",
    }
)
_ALWAYS = frozenset(
    INVARIANTS[name].statement for name in ("answers-are-commands", "every-request-is-answered")
)
_REFUSED = frozenset({"refused", "lone topic", "outranked"})
_THERE: tuple[Presence, ...] = ("missing", "other")
_SURPLUS: tuple[Presence, ...] = ("surplus",)


def judged_by(step: ns.AnyRequest, said: Answer, contexts: Iterable[str], profile: str) -> frozenset[str]:
    """Ids of statements. ``contexts``: what was done last to each of the names that the answer is about."""
    words = frozenset(contexts) or frozenset({""})
    code = getattr(step, "code", 0) if isinstance(step, ns.Unit | ns.Kv) else 0
    return _judged(type(step), code, said.code, _aspects(step, said), words, profile)


def judged_in_a_history(seen: Iterable[Observation]) -> dict[int, frozenset[str]]:
    """By step: the statements that a history was held against in which something was read by the step."""
    return {
        one.number: _READINGS["kv" if isinstance(one.step, ns.Kv) else "broker"]
        for one in seen
        if isinstance(one.outcome, Answered) and isinstance(one.step, _READERS)
    }


_READERS = (ns.Route, ns.ClusterInfo, ns.Topics, ns.MemberGroup, ns.Kv)
_READINGS = {
    kind: frozenset(one.statement for one in ANOMALIES.values() if kind in one.kinds)
    for kind in ("broker", "kv")
}


@cache
def _judged(
    kind: type[ns.AnyRequest],
    code: int,
    answered: int,
    aspects: frozenset[str],
    words: frozenset[str],
    profile: str,
) -> frozenset[str]:
    found = set(_ALWAYS)
    for word in words:
        gone = word in _GONE or word in _REFUSED
        presences = _SURPLUS if gone else _THERE
        for aspect in aspects:
            for presence in _THERE if aspect == "remark" else presences:
                found.add(_named(kind, code, aspect, presence, word, profile))
        presence = "surplus" if answered in (17, 22) else "missing"
        found.add(_named(kind, code, "code", presence, word, profile))
    return frozenset(found)


@cache
def _named(
    kind: type[ns.AnyRequest], code: int, aspect: str, presence: Presence, was: str, profile: str
) -> str:
    make: Any = kind
    step = make(code=code) if code else make()
    one = Difference(aspect, "", presence, "", "")
    return invariant_of(one, was, step, profile_named(profile)).statement_in(profile)


def _aspects(step: ns.AnyRequest, said: Answer) -> frozenset[str]:
    """What an answer says something about."""
    body = said.body
    if isinstance(body, RouteView):
        found = {"body", "queues", "queue numbers", "permission", "flag"} if body.queues else {"body"}
        found |= {"filters"} if body.filters else set()
        found |= {"mapping"} if body.mappings else set()
        found |= {"order"} if body.order else set()
        return frozenset(found | _of_brokers(body.brokers))
    if isinstance(body, ClusterView):
        return frozenset(_of_brokers(body.brokers) | {"body", "clusters"})
    if isinstance(body, ListView):
        return frozenset({"body", "listed", "twice"})
    match step:
        case ns.Register() if said.code == 0:
            return frozenset({"masterAddr", *({"body"} if body else ())})
        case ns.Unregister() | ns.Heartbeat() | ns.Permission():
            return frozenset({"ext"})
        case ns.QueryVersion() if said.code == 0:
            return frozenset({"changed", *({"version"} if body else ())})
        case ns.MemberGroup() if said.code == 0:
            return frozenset({"address", "address twice", "cluster"})
        case ns.Kv() if said.code == 0 and step.code == 219:
            return frozenset({"pair", "table"})
        case ns.Kv() if said.code == 0 and step.code == 101:
            return frozenset({"value"})
        case ns.Configuration():
            return frozenset({"setting"})
        case ns.Route() if said.code != 0:
            return frozenset()
    return frozenset({"remark"} if said.code not in (0, 17, 22) else ())


def _of_brokers(brokers: Any) -> set[str]:
    found = {"broker", "address", "address twice", "cluster"} if brokers else {"broker"}
    for _, _, acting, zone in brokers.values():
        found |= {"acting"} if acting is not None else set()
        found |= {"zone"} if zone is not None else set()
    return found
