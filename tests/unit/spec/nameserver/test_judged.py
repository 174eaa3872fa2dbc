"""An answer that is as it must be has judged the statements that a wrong one would have broken."""

from harness.engine.kinds import KINDS, Setting
from harness.program.nameserver.steps import Kv, Route, Unknown
from harness.spec.nameserver.answers import Answer
from harness.spec.nameserver.judged import judged_by
from harness.spec.nameserver.predictions import RouteView
from harness.targets import parse

QUEUES = {"b0": (4, 4, 6, 0)}
BROKERS = {"b0": ("c0", {0: "10.0.0.1:1"}, None, None)}


def _route(**components: object) -> Answer:
    body = RouteView(QUEUES, BROKERS, components.get("filters", {}), None, {})  # type: ignore[arg-type]
    return Answer(0, None, {}, body)


def test_what_an_answer_does_not_speak_of_it_has_not_judged() -> None:
    plain, filtered = (
        judged_by(Route(), _route(**more), {"registered"}, "5.3")
        for more in ({}, {"filters": {"b0": ("f",)}})
    )
    assert "ns.routes.numbers-are-exact" in plain
    assert filtered - plain == {"ns.registration.filter-servers-are-published"}


def test_what_was_done_before_decides_what_is_judged() -> None:
    gone = Answer(17, "no route", {}, None)
    assert "ns.lease.expired-broker-leaves-nothing" in judged_by(Route(), gone, {"lease ended"}, "5.3")
    assert "ns.lease.expired-broker-is-removed" not in judged_by(Route(), gone, {"registered"}, "5.3")
    assert "ns.topic-deletion.topic-is-gone" in judged_by(Route(), gone, {"topic deleted"}, "5.3")


def test_profiles_have_statements_of_their_own() -> None:
    refused = Answer(3, "no", {}, None)
    assert "ns.errors.unknown-code-is-refused" in judged_by(Unknown(), refused, (), "5.3")
    assert "ns.errors.unknown-code-is-never-served" in judged_by(Unknown(), refused, (), "4.9")
    assert "ns.kv.get-returns-what-was-put" in judged_by(
        Kv(), Answer(0, None, {"value": "v"}, None), (), "4.9"
    )


def test_a_mutant_breaks_what_the_reference_was_judged_by() -> None:
    def run(uri: str, seed: int) -> tuple[set[str], set[str]]:
        kind = KINDS["nameserver"]["stateful"](Setting(target=parse(uri), profile="5.3", words="w"))
        attempt = kind.run(seed).attempt
        judged = {one for found in attempt.judged.values() for one in found}
        return judged, {one.statement for one in attempt.violations}

    found = set()
    for seed in range(6):
        judged, _ = run("builtin:5.3", seed)
        _, broken = run("builtin:5.3?mutant=failure-without-remark", seed)
        assert broken <= judged
        found |= broken
    assert found
