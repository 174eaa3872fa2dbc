"""Damaged frames on the reference: sound servers break nothing, and each kind of harm is seen."""

from __future__ import annotations

from pathlib import Path

import msgspec
import pytest
from hypothesis import HealthCheck, Phase, given, seed, settings

from harness.catalogue import catalogue
from harness.engine.frames.corpus import LIMIT, Corpus
from harness.engine.frames.experiment import FrameExperiment
from harness.engine.frames.generate import Program, programs
from harness.engine.frames.play import Limits
from harness.findings.experiment import Attempt, signature_of
from harness.program.damages import Entry, Length, Member, Number, Raw
from harness.program.nameserver import steps as ns  # fmt: skip
from harness.program.shrink import shrunk
from harness.program.step import Reconnect, Time
from harness.program.steps import AnyStep
from harness.targets import parse

LEVELS = {one.id: str(one.level) for one in catalogue().statements}
BAD_TYPE = ns.Damaged(damages=(Length(of="type", value=2, absolute=True),))
PUT = ns.Kv(code=100)
GET = ns.Kv(code=101)


def experiment(profile: str = "5.3", mutant: str = "", limits: Limits | None = None) -> FrameExperiment:
    uri = f"builtin:{profile}" + (f"?mutant={mutant}" if mutant else "")
    return FrameExperiment(parse(uri), profile, levels=LEVELS, strict=True, limits=limits)


def attempt(program: list[AnyStep], mutant: str = "", profile: str = "5.3") -> Attempt:
    one = experiment(profile, mutant)
    try:
        return one.attempt(program)
    finally:
        one.close()


@pytest.mark.parametrize("lease", ["00", "1", "-5"])
def test_who_registers_for_no_time_may_lose_the_connection(lease: str) -> None:
    """The next scan removes him, and ends his connection."""
    leased = ns.Damaged(
        base=ns.Register(topics={}, oneway=True), damages=(Entry(key="heartbeatTimeoutMillis", value=lease),)
    )
    assert attempt([leased, Time(seconds=20), ns.Damaged(base=ns.ClusterInfo()), ns.Route()]).violations == ()


@pytest.mark.parametrize("opaque", [1050, 1051])
def test_a_damage_may_make_an_opaque_that_of_the_next_probe(opaque: int) -> None:
    """The probe's answer is no answer to the one-way request. A session counts from 1000 on."""
    one_way = ns.Damaged(base=ns.ClusterInfo(oneway=True), damages=(Number(name="opaque", value=opaque),))
    assert attempt([one_way] * 40).violations == ()


@pytest.mark.parametrize("profile", ["4.9", "5.3", "5.5"])
def test_a_sound_server_breaks_nothing(profile: str) -> None:
    one = experiment(profile)
    happened: set[str] = set()

    @seed(f"sound {profile}")
    @settings(
        max_examples=150,
        database=None,
        deadline=None,
        phases=[Phase.generate],
        suppress_health_check=list(HealthCheck),
    )
    @given(programs())
    def play(program: Program) -> None:
        made = one.attempt(program)
        assert (made.violations, made.ended) == ((), "whole")
        happened.update(reaction.happened for reaction in one.reactions)

    play()
    assert happened >= {"answered", "closed", "silent"}


HARM: list[tuple[str, list[AnyStep], str]] = [
    ("malformed-skipped", [BAD_TYPE], "wire.framing.unknown-serialization-closes"),
    ("malformed-answered", [BAD_TYPE], "wire.framing.unknown-serialization-closes"),
    ("malformed-closes-all", [BAD_TYPE], "wire.framing.malformed-frame-closes-only-its-connection"),
    ("malformed-forgets-brokers", [BAD_TYPE], "wire.framing.malformed-frame-changes-no-state"),
    ("response-length-too-large", [ns.ClusterInfo()], "wire.framing.response-lengths-agree"),
    ("opaque-without-sign", [ns.Damaged(damages=(Member(name="opaque", value="-1"),))], "wire.framing."),
    ("oneway-answered", [ns.ClusterInfo(oneway=True)], "wire.framing.oneway-is-not-answered"),
    ("oneway-not-executed", [PUT, ns.Kv(code=100, value="w", oneway=True), GET], "wire.framing."),
    ("stray-response-closes", [ns.Damaged(damages=(Member(name="flag", value="1"),))], "wire.framing.stray-"),
    ("unknown-code-silent", [ns.Unknown()], "ns.errors.unknown-code-is-refused"),
    (
        "ext-booleans-capitalised",
        [ns.Damaged(base=PUT, damages=(Entry(key="value", value="true", json=True),)), GET],
        "wire.framing.scalar-ext-values-are-texts",
    ),
    (
        "failing-registration-stored",
        [ns.Damaged(base=ns.Register(), damages=(Entry(key="brokerId", how="remove"),))],
        "ns.errors.failed-registration-leaves-nothing",
    ),
]


@pytest.mark.parametrize(("mutant", "program", "statement"), HARM, ids=lambda one: str(one)[:40])
def test_harm_is_seen(mutant: str, program: list[AnyStep], statement: str) -> None:
    assert attempt(program).violations == ()
    found = attempt(program, mutant).violations
    assert found
    assert found[0].statement.startswith(statement)


def test_a_violation_names_its_step_and_shrinks() -> None:
    one = experiment(mutant="unknown-serialization-is-json")
    program: list[AnyStep] = [
        ns.ClusterInfo(),
        ns.Route(),
        msgspec.structs.replace(BAD_TYPE, before=(ns.SystemTopics(),), after=(ns.Route(),), base=GET),
        GET,
    ]
    found = one.attempt(program).violations[0]
    signature = signature_of(program, found)
    assert (found.number, signature.kind) == (2, "damaged")

    def fails(steps: object) -> bool:
        return any(signature_of(steps, seen) == signature for seen in one.attempt(steps).violations)  # type: ignore[arg-type]

    assert shrunk(program, fails) == (ns.Damaged(damages=(Length(of="type", value=2),)),)
    one.close()


def test_what_a_should_forbids_counts_when_asked_for() -> None:
    program = [ns.Damaged(damages=(Member(name="code", value='"106"'),))]
    for strict in (True, False):
        one = FrameExperiment(
            parse("builtin:5.3?mutant=numeric-strings-refused"), "5.3", levels=LEVELS, strict=strict
        )
        assert bool(one.attempt(program).violations) is strict
        one.close()


def test_a_server_that_is_slow_is_found() -> None:
    one = experiment(limits=Limits(seconds=0.0))
    assert [found.invariant for found in one.attempt([ns.ClusterInfo()]).violations] == ["time"]
    one.close()


def test_other_protocols_may_answer_in_their_own_words() -> None:
    hello = ns.Damaged(conn="r", damages=(Raw(data="\x16\x03\x01\0\5hello"),))
    made = attempt([hello], profile="4.9")
    assert (made.violations, made.ended) == ((), "whole")


def test_a_step_that_is_no_part_of_such_a_program_is_refused() -> None:
    with pytest.raises(ValueError, match="Reconnect"):
        attempt([Reconnect()])


def test_the_corpus_grows_is_kept_and_goes_on(tmp_path: Path) -> None:
    corpus = Corpus(tmp_path, "5.3")
    corpus.add((BAD_TYPE,), ["closed / 106 / length"])
    corpus.add((GET,), ["closed / 106 / length"])
    corpus.add((PUT,), ["answered 0 / 100 / none", "closed / 106 / length"])
    assert corpus.programs == [(BAD_TYPE,), (PUT,)]
    corpus.save()
    path = tmp_path / "5.3.jsonl"
    path.write_bytes(path.read_bytes() + b'{"brought":["half')
    again = Corpus(tmp_path, "5.3")
    assert again.programs == corpus.programs
    assert again.new(["closed / 106 / length", "silent / 105 / cut", "silent / 105 / cut"]) == [
        "silent / 105 / cut"
    ]
    assert len(Corpus(tmp_path, "4.9")) == 0


def test_the_corpus_is_bounded_and_survives_a_full_disk(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    corpus = Corpus(tmp_path / "file", "5.3")
    for number in range(LIMIT + 5):
        corpus.add((GET,), [str(number)])
    assert len(corpus) == LIMIT
    corpus.save()
    assert "file" in corpus.trouble
    assert len(corpus) == LIMIT
