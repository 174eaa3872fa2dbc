"""Small programs: what the reference answers violates nothing, and one answer that is altered does.

The last answer of each program is altered; the violation names the invariant that a person would name.
"""

from __future__ import annotations

import msgspec
import pytest

from harness.program.nameserver import steps as ns
from harness.program.step import Time
from harness.program.steps import AnyStep
from harness.spec import Answered, Ended, Observation, StateTracker, Unanswered
from harness.targets import parse
from harness.wire.bodies import BrokerData

from .altered_answers import EXAMPLES, GONE, MASTER, NAMES, Edit, cluster, code
from .playing import observed, violations_of


def _seen(profile: str, steps: list[AnyStep]) -> list[Observation]:
    instance = parse(f"builtin:{profile}").start()
    try:
        return list(observed(instance, profile, NAMES, steps))
    finally:
        instance.stop()


def _altered(seen: list[Observation], edit: Edit) -> list[Observation]:
    last = seen[-1]
    assert isinstance(last.outcome, Answered)
    wrong = Answered(edit(last.outcome.command, NAMES))
    return [*seen[:-1], msgspec.structs.replace(last, outcome=wrong)]


@pytest.mark.parametrize(
    ("invariant", "profile", "steps", "edit"), EXAMPLES, ids=[f"{one[0]}-{one[1]}" for one in EXAMPLES]
)
def test_an_altered_answer_is_a_violation(
    invariant: str, profile: str, steps: list[AnyStep], edit: Edit
) -> None:
    seen = _seen(profile, steps)
    assert violations_of(StateTracker(profile, NAMES), iter(seen)) == []
    found = violations_of(StateTracker(profile, NAMES), iter(_altered(seen, edit)))
    assert [one.invariant for one in found] == [invariant]
    assert found[0].number == len(steps) - 1


def test_a_connection_that_ends_is_a_violation_unless_it_was_to_end() -> None:
    seen = _seen("5.3", [MASTER, ns.Topics(conn="k0")])
    ended = [seen[0], msgspec.structs.replace(seen[1], outcome=Ended())]
    found = violations_of(StateTracker("5.3", NAMES), iter(ended))
    assert [one.invariant for one in found] == ["requests-harm-no-other-connection"]
    late = [
        seen[0],
        *_seen("5.3", [Time(seconds=140)]),
        msgspec.structs.replace(ended[1], invoked=140, returned=140),
    ]
    assert violations_of(StateTracker("5.3", NAMES), iter(late)) == []


def test_an_answer_that_never_came_leaves_both_possible() -> None:
    seen = _seen("4.9", [MASTER, ns.ClusterInfo()])
    lost = msgspec.structs.replace(seen[0], outcome=Unanswered())
    for listing in (seen[1], _altered(seen, GONE)[1]):
        assert violations_of(StateTracker("4.9", NAMES), iter([lost, listing])) == []


def test_a_question_that_is_surely_not_answered_is_a_violation() -> None:
    seen = _seen("4.9", [ns.Topics()])
    silent = msgspec.structs.replace(seen[0], outcome=Unanswered(surely=True))
    found = violations_of(StateTracker("4.9", NAMES), iter([silent]))
    assert [one.invariant for one in found] == ["every-request-is-answered"]


def test_other_peoples_names_are_not_judged() -> None:
    seen = _seen("5.3", [MASTER, ns.ClusterInfo()])
    foreign = cluster(
        lambda info: info.broker_addr_table.update(
            {"theirs": BrokerData("c", "theirs", {0: "1.2.3.4:1"}, False)}
        )
    )
    assert violations_of(StateTracker("5.3", NAMES), iter(_altered(seen, foreign))) == []


def test_a_key_that_never_was_is_missing() -> None:
    seen = _altered(_seen("5.3", [ns.Kv(code=101)]), code(0, None))
    found = violations_of(StateTracker("5.3", NAMES, fresh=True), iter(seen))
    assert [one.invariant for one in found] == ["kv-missing-is-not-found"]
