"""Which statements an answer was held against, where it was as it must be.

Rules of this module:
- A statement was judged by an answer if a difference in what the answer says would have been told as a breach
  of it: by the same rules (`invariants`), for what was done last to the names that it is about.
- Only what an answer has to say counts: a route without filter servers has judged nothing about these. What
  should not be there counts where something has gone.
"""

from __future__ import annotations

from collections.abc import Iterable
from functools import cache
from typing import Any

from harness.model.anomalies import ANOMALIES
from harness.model.answers import Difference, Said
from harness.model.invariants import INVARIANTS, invariant_of
from harness.model.observed import Answered, Observed
from harness.model.predictions import ClusterView, ListView, Presence, RouteView
from harness.program.steps import (
    AnyRequest,
    ClusterInfo,
    Configuration,
    Heartbeat,
    Kv,
    MemberGroup,
    Permission,
    QueryVersion,
    Register,
    Route,
    Topics,
    Unit,
    Unregister,
)

__all__ = ["judged_by", "judged_in_a_history"]

_GONE = frozenset(
    {
        "unregistered",
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


def judged_by(step: AnyRequest, said: Said, contexts: Iterable[str], profile: str) -> frozenset[str]:
    """Ids of statements. ``contexts``: what was done last to each of the names that the answer is about."""
    words = frozenset(contexts) or frozenset({""})
    code = getattr(step, "code", 0) if isinstance(step, Unit | Kv) else 0
    return _judged(type(step), code, said.code, _aspects(step, said), words, profile)


def judged_in_a_history(seen: Iterable[Observed]) -> dict[int, frozenset[str]]:
    """By step: the statements that a history was held against in which something was read by the step."""
    return {
        one.number: _READINGS["kv" if isinstance(one.step, Kv) else "broker"]
        for one in seen
        if isinstance(one.outcome, Answered) and isinstance(one.step, _READERS)
    }


_READERS = (Route, ClusterInfo, Topics, MemberGroup, Kv)
_READINGS = {
    kind: frozenset(one.statement for one in ANOMALIES.values() if kind in one.kinds)
    for kind in ("broker", "kv")
}


@cache
def _judged(
    kind: type[AnyRequest],
    code: int,
    answered: int,
    aspects: frozenset[str],
    words: frozenset[str],
    profile: str,
) -> frozenset[str]:
    make: Any = kind
    step = make(code=code) if code else make()
    found = set(_ALWAYS)
    for word in words:
        gone = word in _GONE or word in _REFUSED
        presences = _SURPLUS if gone else _THERE
        for aspect in aspects:
            for presence in _THERE if aspect == "remark" else presences:
                found.add(_named(step, aspect, presence, word, profile))
        found.add(_named(step, "code", "surplus" if answered in (17, 22) else "missing", word, profile))
    return frozenset(found)


def _named(step: AnyRequest, aspect: str, presence: Presence, was: str, profile: str) -> str:
    one = Difference(aspect, "", presence, "", "")
    return invariant_of(one, was, step, five=profile != "4.9").statement_in(profile)


def _aspects(step: AnyRequest, said: Said) -> frozenset[str]:
    """What an answer says something about."""
    body = said.body
    if isinstance(body, RouteView):
        found = {"body", "queues", "queue numbers", "permission", "flag"} if body.queues else {"body"}
        found |= {"filters"} if body.filters else set()
        found |= {"mapping"} if body.mappings else set()
        found |= {"order"} if body.order else set()
        return frozenset(found | _of_brokers(body.brokers))
    if isinstance(body, ClusterView):
        return frozenset(_of_brokers(body.brokers) | {"body", "clusters", "membership"})
    if isinstance(body, ListView):
        return frozenset({"body", "listed", "twice"})
    match step:
        case Register() if said.code == 0:
            return frozenset({"masterAddr", *({"body"} if body else ())})
        case Unregister() | Heartbeat() | Permission():
            return frozenset({"ext"})
        case QueryVersion() if said.code == 0:
            return frozenset({"changed", *({"version"} if body else ())})
        case MemberGroup() if said.code == 0:
            return frozenset({"address", "address twice", "cluster"})
        case Kv() if said.code == 0 and step.code == 219:
            return frozenset({"pair", "table"})
        case Kv() if said.code == 0 and step.code == 101:
            return frozenset({"value"})
        case Configuration():
            return frozenset({"setting"})
        case Route() if said.code != 0:
            return frozenset()
    return frozenset({"remark"} if said.code not in (0, 17, 22) else ())


def _of_brokers(brokers: Any) -> set[str]:
    found = {"broker", "address", "address twice", "cluster"} if brokers else {"broker"}
    for _, _, acting, zone in brokers.values():
        found |= {"acting"} if acting is not None else set()
        found |= {"zone"} if zone is not None else set()
    return found
