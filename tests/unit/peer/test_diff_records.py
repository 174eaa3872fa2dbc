"""Journals, programs, and going on after an interrupt."""

from __future__ import annotations

from pathlib import Path

import msgspec
import pytest
from peer_helpers import always, run_of

from harness.engine.peer.generate import Program, round_of
from harness.engine.peer.journal import (
    Head,
    Journal,
    ProgramError,
    RecordMismatch,
    read_program,
    write_program,
)
from harness.findings.folder import read_summary
from harness.program.nameserver.steps import Register, Topics
from harness.program.shrink import shrunk
from harness.program.step import Close
from harness.program.steps import AnyStep
from harness.trace import BETWEEN

URI = "builtin:5.3"


def test_programs_are_read_as_they_were_written(tmp_path: Path) -> None:
    for number in (0, 3, 9, 119):
        program = round_of("s", number, profile="5.3", quirks=())
        write_program(tmp_path / "p.jsonl", program)
        assert read_program(tmp_path / "p.jsonl") == program


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("", "is empty"),
        ("{}", "line 1"),
        ('{"program":1,"profile":"5.3"}\n', "has no step"),
        ('{"program":1,"profile":"5.3"}\n{"do":"dance"}', "line 2"),
        ('{"program":1,"profile":"5.3"}\n{"do":"close","how":"softly"}', "line 2"),
        ('{"program":1,"profile":"5.3"}\n{"do":"restart"}', "line 2.*restart of the server.*not compared"),
        ('{"program":1,"profile":"5.3"}\n{"do":"replicate"}', "line 2.*the slave gets"),
    ],
)
def test_a_file_that_is_no_program_is_refused(tmp_path: Path, text: str, said: str) -> None:
    (tmp_path / "p.jsonl").write_text(text, encoding="utf-8")
    with pytest.raises(ProgramError, match=said):
        read_program(tmp_path / "p.jsonl")


def test_a_run_goes_on_where_it_stopped(tmp_path: Path) -> None:
    with run_of(URI, URI, "5.3", "s", out=tmp_path / "whole") as (run, whole):
        list(run.play(1200, always))
    with run_of(URI, URI, "5.3", "s", out=tmp_path / "parts") as (run, _):
        for _entry in run.play(1200, always):
            break
    path = tmp_path / "parts" / "journal.jsonl"
    path.write_bytes(path.read_bytes() + b'{"round":1,"ki')  # what an interrupt leaves
    with run_of(URI, URI, "5.3", "s", out=tmp_path / "parts", resume=True) as (run, parts):
        list(run.play(1200, always))
    assert parts.entries == whole.entries


def test_only_the_same_run_is_resumed(tmp_path: Path) -> None:
    head = Head(a=URI, b=URI, profile="5.3", seed="s")
    with pytest.raises(RecordMismatch, match="no run to resume"):
        Journal(tmp_path, head, resume=True)
    Journal(tmp_path, head, resume=False)
    other = Head(a=URI, b=URI, profile="5.3", seed="t")
    with pytest.raises(RecordMismatch, match="of another run"):
        Journal(tmp_path, other, resume=True)


def test_shrinking_leaves_what_is_needed() -> None:
    needed = Register(broker="b3", counter=7, topics={"T0": (8, 8, 6, 0), "T1": (4, 4, 6, 0)})
    steps: list[AnyStep] = [Topics() for _ in range(40)]
    steps[17] = needed
    steps[31] = Close(conn="k1", how="reset")

    def fails(tried: object) -> bool:
        assert isinstance(tried, list | tuple)
        registered = [step for step in tried if isinstance(step, Register) and "T1" in step.topics]
        closed = [step for step in tried if isinstance(step, Close)]
        return bool(registered and closed and tried.index(registered[0]) < tried.index(closed[0]))

    small = shrunk(steps, fails)
    # One topic, or another end of the connection, would be another trait.
    assert small == (msgspec.structs.replace(needed, counter=1), Close(how="reset"))
    assert shrunk(steps, fails, attempts=0) == tuple(steps)


def test_a_finding_has_the_folder_of_every_finding(tmp_path: Path) -> None:
    with run_of(URI, f"{URI}?mutant=wipe-is-ignored", "5.3", "s", out=tmp_path) as (run, journal):
        for _entry in run.play(20_000, lambda: not run.store.findings):
            pass
    name = next(entry.learnt[0].finding for entry in journal.entries if entry.learnt)
    folder = tmp_path / "findings" / name
    assert read_program(folder / "program.jsonl").steps == run.store.findings[0].program
    assert isinstance(read_program(folder / "original.jsonl"), Program)
    assert {path.name for path in folder.iterdir()} >= {
        "README.md", "finding.json", "finding.pcap", "reproduce.py", "sequence.svg", "steps.txt", "trace"
    }  # fmt: skip
    assert read_summary(folder).target == f"{URI}{BETWEEN}{URI}?mutant=wipe-is-ignored"
