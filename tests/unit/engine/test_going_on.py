"""A run goes on behind what it has confirmed: it recognises it, forgives it, leaves it out, and says so."""

from __future__ import annotations

from datetime import date
from pathlib import Path
from typing import Any

import msgspec
import pytest

from harness.cli import main
from harness.conformance.baseline import BaselineError
from harness.engine.context import TargetContext
from harness.engine.program_run import ProgramRun
from harness.engine.stateful import StatefulExperiment
from harness.findings.causes import cause_of
from harness.findings.deviations import Deviations, trigger_of
from harness.findings.experiment import Finding
from harness.findings.known import read_known
from harness.findings.store import FindingStore
from harness.findings.triage import Budget, triage
from harness.program.chance import chance
from harness.program.names import Names
from harness.program.nameserver.steps import (
    ClusterInfo,
    Configure,
    Kv,
    Permission,
    Register,
    Route,
    Unregister,
)
from harness.program.steps import AnyStep
from harness.program.traits import traits_of
from harness.spec.observation import Difference
from harness.targets import parse

TOPICS = {"T0": (4, 4, 6, 0), "T1": (8, 8, 6, 0)}
REGISTER = Register(topics=TOPICS, state=0)
WIPE = Permission(code=205)
LISTED = "builtin:5.3?mutant=topic-list-repeats-topics"


def confirmed(mutant: str, *program: AnyStep) -> tuple[TargetContext, Finding]:
    """What a program on a mutant comes to; the context has learnt nothing of it yet."""
    context = TargetContext(parse(f"builtin:5.3?mutant={mutant}"), "5.3")
    experiment = StatefulExperiment(context, mutant)
    attempt = experiment.attempt(program, fresh=True)
    found = triage(experiment, program, attempt, FindingStore(None), Budget(now=lambda: 0.0))
    assert isinstance(found, Finding)
    return context, found


def played(context: TargetContext, *program: AnyStep, goes_round: bool = False) -> ProgramRun:
    run = ProgramRun(context, Names(chance("again", *map(str, program))), goes_round=goes_round)
    for step in program:
        run.do(step)
    run.leave()
    return run


# --- traits -------------------------------------------------------------------------------------------------


def test_an_ordinary_request_has_no_traits() -> None:
    assert not traits_of(REGISTER)
    assert not traits_of(ClusterInfo())


@pytest.mark.parametrize(
    ("step", "trait"),
    [
        (Register(state=0), "without topics"),
        (Register(topics=TOPICS, lean=True), "as a Broker of 4.9 sends it"),
        (Register(topics=TOPICS, state=0, broker="bé\\"), "with a name beyond ASCII"),
        (Register(topics=TOPICS, state=0, drop=("brokerId",)), "without brokerId"),
        (Register(topics=TOPICS, state=0, id=2), "of a slave"),
        (Kv(key=""), "with an empty key"),
    ],
)
def test_what_is_special_is_a_trait(step: AnyStep, trait: str) -> None:
    assert traits_of(step) == {trait}


# --- what is recognised -------------------------------------------------------------------------------------


def test_a_program_ends_at_a_deviation_and_goes_on_behind_it_once_it_is_known() -> None:
    program = (REGISTER, WIPE, Route(), Kv(code=101), Kv(code=101, key="y"))
    context, found = confirmed("wipe-is-ignored", *program)
    assert len(played(context, *program).steps) == 3
    context.deviations.learn([found])
    known = played(context, *program)
    assert not known.violations
    assert len(known.steps) == len(program)


def test_another_violation_behind_a_known_one_is_found() -> None:
    """The mutant has one fault that shows in two ways; the second is no less a violation for the first."""
    context, found = confirmed("wipe-counts-nothing", REGISTER, WIPE)
    context.deviations.learn([found])
    other = confirmed("kv-not-found-has-no-remark", Kv(code=101))[1]
    assert not context.deviations.recognises(other.program, other.violation)
    assert context.deviations.recognises(found.program, found.violation)


def test_what_an_answer_only_shows_is_forgiven_and_the_rest_of_it_is_judged() -> None:
    context, found = confirmed("wipe-counts-nothing", REGISTER, WIPE)
    assert found.trigger is None
    context.deviations.learn([found])
    assert context.deviations.left_out == []
    assert not played(context, REGISTER, WIPE, Route()).violations


def test_what_brings_a_deviation_about_is_left_out_of_most_programs() -> None:
    context, found = confirmed("wipe-is-ignored", REGISTER, WIPE, Route())
    assert str(found.trigger) == f"205 WIPE_WRITE_PERM_OF_BROKER ({found.signature.statement})"
    context.deviations.learn([found])
    assert played(context, REGISTER, WIPE, Route(), goes_round=True).steps == [REGISTER, Route()]
    assert played(context, REGISTER, WIPE, Route()).steps == [REGISTER, WIPE, Route()]


@pytest.mark.parametrize(
    ("answered", "trigger"),
    [(29, "105 GET_ROUTEINFO_BY_TOPIC without topic"), (0, "104 UNREGISTER_BROKER")],
)
def test_a_question_that_is_answered_as_in_no_state_is_left_out_and_not_what_came_before(
    answered: int, trigger: str
) -> None:
    program = (REGISTER, Unregister(), Route(drop=("topic",)))
    found = confirmed("wipe-is-ignored", REGISTER, WIPE, Route())[1]
    wrong = Difference("code", "", "other", "code 17", f"code {answered}")
    violation = msgspec.structs.replace(found.violation, number=2, differences=(wrong,))
    blamed = trigger_of(msgspec.structs.replace(found, program=program, violation=violation))
    assert str(blamed).startswith(f"{trigger} (")


def test_a_request_that_is_refused_for_what_is_special_is_left_out_and_the_plain_one_is_not() -> None:
    special = msgspec.structs.replace(REGISTER, ha=False, filters=("f1",))
    context, found = confirmed("ha-address-is-required", REGISTER, special)
    context.deviations.learn([found])
    assert context.deviations.leaves_out(special)
    assert not context.deviations.leaves_out(REGISTER)
    assert found.signature.special == ("without haServerAddr",), "filter servers are not needed"


def test_what_three_settings_show_is_taken_for_one_deviation_of_all_settings() -> None:
    found = [
        confirmed("unknown-keys-are-refused", Configure(lines=(f"unheardOf{name}=1",)))[1] for name in "abcd"
    ]
    assert found[0].signature.special == ("with the setting unheardOfa",)
    deviations = Deviations()
    deviations.learn(found[:2])
    assert not deviations.recognises(found[3].program, found[3].violation)
    assert not deviations.leaves_out(found[3].program[-1])
    deviations.learn(found[:3])
    assert deviations.recognises(found[3].program, found[3].violation)
    assert [str(one) for one in deviations.left_out] == ["318 UPDATE_NAMESRV_CONFIG (refused)"]


def test_no_deviation_is_known_of_a_sound_server() -> None:
    deviations = Deviations()
    assert not deviations
    assert not deviations.leaves_out(WIPE)


# --- on the command line ------------------------------------------------------------------------------------


def fuzz(capsys: pytest.CaptureFixture[str], out: Path, target: str, *words: str) -> tuple[int, Any]:
    limits = ["--kind", "stateful", "--seed", "1", "--max-examples", "6", "--attempts", "60"]
    status = main(["fuzz", target, *limits, "--out", str(out), "--json", *words])
    said = capsys.readouterr()
    return status, msgspec.json.decode(said.out) if said.out.strip() else said.err


def entry(identifier: str, expires: str = "2999-01-01") -> str:
    return f"- id: {identifier}\n  reason: it is so\n  link: https://example.org/1\n  expires: {expires}\n"


def test_one_cause_is_one_finding_and_programs_get_to_their_ends(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    status, answer = fuzz(capsys, tmp_path, LISTED)
    assert (status, answer["conclusion"]) == (1, "FINDINGS")
    assert answer["kinds"][0]["probes"] > 10
    assert len({one["cause"] for one in answer["causes"]}) == len(answer["causes"])
    assert answer["steps"] > 40 * answer["programs"], "they would end at the first list of topics"
    assert {one["level"] for one in answer["findings"]} == {"MUST"}
    for one in answer["findings"]:
        facts = msgspec.json.decode((Path(one["directory"]) / "finding.json").read_bytes())
        named = {facts["statement"]["id"], facts["found"]["signature"]["statement"]}
        assert named == {facts["found"]["violation"]["statement"]} == {one["statement"]}
        for name in ("README.md", "steps.txt", "reproduce.py"):
            assert one["statement"] in (Path(one["directory"]) / name).read_text().replace("\\", "")


def test_known_findings_are_counted_and_are_no_failures(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    first = fuzz(capsys, tmp_path / "first", LISTED)[1]["findings"]
    known = tmp_path / "known.yaml"
    ids = dict.fromkeys(one["statement"] for one in first)
    known.write_text("\n".join([*map(entry, ids), entry("ns.kv.survives-a-restart")]))
    status, answer = fuzz(capsys, tmp_path / "second", LISTED, "--known", str(known))
    assert status == 0, answer["why"]
    assert answer["findings"] == []
    assert {one["statement"] for one in answer["known"]} == set(ids)
    assert "it is so (https://example.org/1)" in answer["known"][0]["why"]
    assert ["ns.kv.survives-a-restart" in one for one in answer["not_met"]] == [True]


def test_one_folder_may_be_known_by_its_name(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    first = fuzz(capsys, tmp_path / "first", LISTED)[1]["findings"]
    name = Path(first[0]["directory"]).name
    known = tmp_path / "known.yaml"
    known.write_text(entry(name))
    answer = fuzz(capsys, tmp_path / "second", LISTED, "--known", str(known))[1]
    assert [Path(one["directory"]).name for one in answer["known"]] == [name]
    assert len(answer["findings"]) == len(first) - 1


def test_a_stale_entry_fails_the_run(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    known = tmp_path / "known.yaml"
    known.write_text(entry("ns.kv.survives-a-restart", expires="2001-01-01"))
    status, answer = fuzz(capsys, tmp_path / "out", "builtin:5.3", "--known", str(known))
    assert (status, answer["conclusion"]) == (1, "STALE")
    assert "expired on 2001-01-01" in answer["stale"][0]


def test_a_file_of_known_findings_is_read_whole_or_not_at_all(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    known = tmp_path / "known.yaml"
    known.write_text("- id: ns.kv.survives-a-restart\n")
    status, said = fuzz(capsys, tmp_path / "out", "builtin:5.3", "--known", str(known))
    assert status == 3
    assert "reason is missing" in said
    with pytest.raises(BaselineError):
        read_known(known, None, "nameserver", "5.3", date(2026, 1, 1))


def test_what_a_check_has_seen_is_known(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    record = tmp_path / "check"
    assert main(["check", LISTED, "--select", "ns.topics,ns.topic-lists", "--out", str(record)]) == 1
    capsys.readouterr()
    status, answer = fuzz(capsys, tmp_path / "out", LISTED, "--after", str(record))
    assert status == 0, answer["findings"]
    assert answer["known"]
    assert all(str(record) in one["why"] for one in answer["known"])
    status, said = fuzz(capsys, tmp_path / "none", LISTED, "--after", str(tmp_path / "nothing"))
    assert status == 3
    assert "--after" in said


def test_a_cause_says_what_is_asked_and_how_the_answer_is_wrong() -> None:
    assert cause_of(confirmed("wipe-is-ignored", REGISTER, WIPE, Route())[1]) == (
        "205 WIPE_WRITE_PERM_OF_BROKER: permission other"
    )
