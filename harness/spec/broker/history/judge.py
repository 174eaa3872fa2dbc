"""Whether a concurrent history of one Broker can be explained: queues and offsets of groups, key by key.

It judges what was observed of programs whose steps overlap. Where there is no order that explains it, the
violation has a name (`harness.spec.broker.history.anomalies`) and lists the decisive calls.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from harness.program.broker import steps as bk
from harness.program.names import Names
from harness.spec.broker.history.anomalies import LOST_COMMIT, NAMING, READINGS
from harness.spec.broker.history.log_spec import LogSpec
from harness.spec.broker.history.per_key import NEVER, Projection, shown_by
from harness.spec.broker.history.timeline import TEXTS
from harness.spec.history.calls import Key
from harness.spec.history.judgement import Judgement, Judging
from harness.spec.history.naming import Make
from harness.spec.history.register import RegisterSpec
from harness.spec.linear import BUDGET, Specification
from harness.spec.observation import Answered, Observation

_INVARIANTS = {
    "queue": "an order of the calls explains what is seen of a queue",
    "end": "an order of the calls explains what is seen of the end of a queue",
    "offset": "an order of the calls explains what is seen of the offset of a group",
}


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
    projection = Projection(seen, names, term=term + jitter)
    found = Judging(NAMING, TEXTS, _INVARIANTS, budget)
    for place, key in projection.queues.items():
        if key.calls and found.take(key, _maker(key)):  # what is wrong about messages is wrong about ends
            ends = projection.ends[place]
            found.take(ends, _maker(ends))
    for key in projection.offsets.values():
        found.take(key, _maker(key))
    return found.judgement()


def judged_in_a_history(seen: Iterable[Observation]) -> dict[int, frozenset[str]]:
    """By step: the statements that a history was held against in which something was read by the step."""
    return {
        one.number: READINGS["offset" if isinstance(one.step, bk.Committed) else "queue"]
        for one in seen
        if isinstance(one.outcome, Answered) and isinstance(one.step, bk.Committed | bk.Pull | bk.Bound)
    }


def _maker(key: Key) -> Make:
    shown = shown_by(key.calls)

    def make(relaxed: str | None) -> Specification[Any]:
        if key.kind == "offset":
            return RegisterSpec(relaxed, lost=LOST_COMMIT, initial=NEVER)
        return LogSpec(relaxed, by_ends=key.kind == "end", shown=shown)

    return make
