"""Causes: recognised where they show again, gone behind, named by what was special, written a few times."""

from __future__ import annotations

from pathlib import Path

import pytest
from peer_helpers import always, experiment_of, run_of

from harness.engine.peer.causes import Example, KnownCauses, Seen, cause_of
from harness.engine.peer.generate import plainest, round_of
from harness.engine.peer.learning import RELEASES, Learner
from harness.engine.peer.special import Kind, kind_of
from harness.findings.store import FindingStore
from harness.program.nameserver import steps as ns
from harness.program.steps import AnyStep
from harness.report.divergence import Exchange, Message
from harness.spec.nameserver.expected import ExpectedState

URI = "builtin:5.3"
REGISTER, ROUTE = "REGISTER_BROKER (103)", "GET_ROUTEINFO_BY_TOPIC (105)"
REFUSED = Seen(REGISTER, "A SUCCESS (0) / B SYSTEM_ERROR (1)")
EXCHANGE = Exchange(
    before=(), step="", sent=Message(title=""), a=Message(title=""), b=Message(title=""), decisive=()
)


def example(seen: Seen, *kinds: Kind, taints: bool = True, cause: str = "c") -> Example:
    *before, decisive = kinds
    return Example(
        cause=cause, seen=(seen,), before=tuple(before), decisive=decisive, taints=taints, exchange=EXCHANGE
    )


# --- a run goes on behind what it knows ---------------------------------------------------------------------


@pytest.mark.parametrize("mutant", ["wipe-is-ignored", "topics-outlive-their-broker"])
def test_a_known_cause_ends_no_round(mutant: str) -> None:
    with run_of(URI, f"{URI}?mutant={mutant}", "5.3", "behind") as (run, _):
        entries = list(run.play(1500, always))
    learnt = [one for entry in entries for one in entry.learnt]
    again = [entry for entry in entries if entry.seen and not entry.learnt]
    assert learnt
    assert again, "nothing was seen again"
    assert sum(entry.steps for entry in again) > 70 * len(again), [entry.steps for entry in again]
    assert len({one.cause for one in learnt}) <= 6
    assert not any(entry.unrepeated for entry in entries)


def test_what_lies_behind_the_first_cause_is_found() -> None:
    """One fault shows behind nearly every step, and another one behind it."""
    pair = (f"{URI}?mutant=topic-list-is-not-answered", f"{URI}?mutant=wipe-is-ignored")
    with run_of(*pair, "5.3", "two") as (run, journal):
        for _entry in run.play(1000, always):
            pass
    asked = {one.seen[0].asked for entry in journal.entries for one in entry.learnt}
    triggers = {one.trigger.what for entry in journal.entries for one in entry.learnt}
    assert "GET_ALL_TOPIC_LIST_FROM_NAMESERVER (206)" in asked
    assert "WIPE_WRITE_PERM_OF_BROKER (205)" in triggers | asked


def test_each_cause_is_written_a_few_times_only(tmp_path: Path) -> None:
    with run_of("builtin:5.3", "builtin:4.9", "5.3", "few", out=tmp_path, attempts=40) as (run, journal):
        list(run.play(400, always))
    learnt = [one for entry in journal.entries for one in entry.learnt]
    folders = {path.name for path in (tmp_path / "findings").iterdir()}
    assert folders == {one.finding for one in learnt if one.finding}
    by_cause = [one.cause for one in learnt if one.finding]
    assert max(map(by_cause.count, by_cause)) <= 2


def test_a_difference_between_releases_is_no_fault() -> None:
    old, new = "builtin:4.9", "builtin:5.3"
    with (
        experiment_of(old, f"{new}?mutant=wipe-is-ignored", "4.9") as experiment,
        experiment_of(old, new, "4.9") as releases,
    ):
        learner = Learner(experiment, FindingStore(None), now=lambda: 0.0, attempts=200, releases=releases)
        registered = ns.Register(topics={"T0": (8, 8, 6, 0), "T1": (8, 8, 6, 0)})
        explained: dict[str, str] = {}
        for program in ((registered, ns.ClusterInfo()), (registered, ns.Permission(), ns.Route())):
            while (attempt := experiment.attempt(program, fresh=True)).violations:
                found = learner.look_into(program, attempt)
                assert isinstance(found, Example)
                explained[str(found.seen[0])] = found.explained
    assert explained[
        "GET_BROKER_CLUSTER_INFO (106): body brokerAddrTable/*/enableActingMaster: only B has it"
    ]
    assert RELEASES in explained.values()
    assert explained[f"{ROUTE}: body queueDatas/*/perm: another value"] == ""


def test_a_resumed_run_knows_what_it_knew(tmp_path: Path) -> None:
    pair = (URI, f"{URI}?mutant=wipe-is-ignored")
    with run_of(*pair, "5.3", "again", out=tmp_path) as (run, _):
        for _entry in run.play(5000, lambda: not run.experiment.causes.examples):
            pass
        known = run.experiment.causes.examples
    with run_of(*pair, "5.3", "again", out=tmp_path, resume=True) as (run, _):
        assert run.experiment.causes.examples == known


# --- what is recognised -------------------------------------------------------------------------------------


def recognised(known: KnownCauses, seen: Seen, *steps: AnyStep, names: set[str]) -> Example | None:
    from harness.engine.peer.causes import History

    found = known.recognised(seen, History(steps, "5.3").until(len(steps) - 1), names)
    return None if found is None else found[0]


def test_what_was_special_must_be_there_again() -> None:
    known = KnownCauses([example(REFUSED, Kind(REGISTER, frozenset({"wrong bodyCrc32"})))])
    assert recognised(known, REFUSED, ns.Register(crc="wrong", ha=False), names={"b0"}) is not None
    assert recognised(known, REFUSED, ns.Register(ha=False), names={"b0"}) is None
    other = Seen(REGISTER, "A SUCCESS (0) / B INVALID_PARAMETER (29)")
    assert recognised(known, other, ns.Register(crc="wrong"), names={"b0"}) is None


def test_what_led_there_must_be_about_the_same_names() -> None:
    gone = Seen(ROUTE, "A SUCCESS (0) / B TOPIC_NOT_EXIST (17)")
    known = KnownCauses([example(gone, Kind(REGISTER, frozenset({"one-way"})), Kind(ROUTE))])
    topics: dict[str, ns.Queues] = {"T0": (8, 8, 6, 0), "T1": (8, 8, 6, 0)}
    one_way = ns.Register(broker="b1", address="a1", oneway=True, topics=topics)
    assert recognised(known, gone, one_way, ns.Route(topic="T0"), names={"T0"}) is not None
    assert recognised(known, gone, one_way, ns.Route(topic="T5"), names={"T5"}) is None
    assert recognised(known, gone, ns.Route(topic="T0"), names={"T0"}) is None


def test_most_rounds_avoid_what_sets_the_targets_apart() -> None:
    special = Kind(REGISTER, frozenset({"one-way"}))
    known = KnownCauses([example(REFUSED, special), example(REFUSED, Kind(REGISTER), cause="d")])
    for number in range(4, 9):
        plain = round_of("s", number, profile="5.3", quirks=(), known=known.avoids)
        steps = [step for step in plain.steps if isinstance(step, ns.Register)]
        assert steps, "what everything else stands on is not avoided"
        assert not any(step.oneway for step in steps)
    seeking = round_of("s", 9, profile="5.3", quirks=(), known=known.avoids)
    assert seeking == round_of("s", 9, profile="5.3", quirks=())


def test_an_answer_alone_is_no_reason_to_avoid_anything() -> None:
    known = KnownCauses([example(REFUSED, Kind(REGISTER, frozenset({"one-way"})), taints=False)])
    assert not known.avoids(ns.Register(oneway=True), ExpectedState("5.3"))


# --- what causes are called ---------------------------------------------------------------------------------

NAMES = [
    (REFUSED, (Kind(REGISTER, frozenset({"no body"})),), f"{REGISTER}, no body: {REFUSED.kind}"),
    (
        Seen(ROUTE, "body x: another value"),
        (Kind(REGISTER), Kind(ROUTE)),
        f"{ROUTE}: body x: another value",
    ),
    (
        Seen(ROUTE, "body x: another value"),
        (Kind(REGISTER), Kind("UNREGISTER_BROKER (104)"), Kind(ROUTE)),
        "after UNREGISTER_BROKER (104)",
    ),
    (
        Seen(ROUTE, "body x: another value"),
        (Kind(REGISTER, frozenset({"zone"})), Kind(REGISTER), Kind(ROUTE)),
        f"after {REGISTER}, zone, then {REGISTER}",
    ),
    (
        Seen(ROUTE, "A TOPIC_NOT_EXIST (17) / B INVALID_PARAMETER (29)"),
        (Kind(ROUTE),),
        "both refuse, A TOPIC_NOT_EXIST (17) / B INVALID_PARAMETER (29)",
    ),
]


@pytest.mark.parametrize(("seen", "kinds", "name"), NAMES)
def test_a_cause_is_called_by_what_sets_the_targets_apart(
    seen: Seen, kinds: tuple[Kind, ...], name: str
) -> None:
    assert cause_of(seen, kinds[:-1], kinds[-1], settling=False) == name


SPECIAL: list[tuple[AnyStep, set[str]]] = [
    (ns.Register(topics={"T0": (8, 8, 6, 0), "T1": (8, 8, 6, 0)}), set()),
    (ns.Register(form="none"), {"no body"}),
    (ns.Register(lean=True, topics={"T0": (8, 8, 6, 0), "T1": (8, 8, 6, 0)}), {"without the members of 5.x"}),
    (ns.Route(drop=("topic",), binary=True), {"without topic", "binary header"}),
    (ns.Topics(announces=-1), {"version below 0"}),
    (ns.Topics(announces=400), {"version before 4.9.4"}),
]


@pytest.mark.parametrize(("step", "words"), SPECIAL)
def test_what_is_special_is_said_in_words(step: AnyStep, words: set[str]) -> None:
    assert kind_of(step, ExpectedState("5.3")).special == words


@pytest.mark.parametrize("profile", ["4.9", "5.3", "5.5"])
def test_the_plainest_requests_have_nothing_special(profile: str) -> None:
    expected = ExpectedState(profile)
    for step in plainest(profile).steps:
        assert kind_of(step, expected).special <= {"a slave", "no topics"}, step
        expected.apply(step)
