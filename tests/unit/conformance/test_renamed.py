"""Ids with a new name: the old ones go on working for one release, and the new ones are printed."""

from __future__ import annotations

from pathlib import Path

import pytest
import yaml

from harness.catalogue import catalogue, specs_directory
from harness.catalogue.renamed import RenamedIds, understood
from harness.cli import main
from harness.conformance.loading import cases

OLD_STATEMENT, STATEMENT = "ns.notification.newcomer-is-not-told", "ns.notification.newcomer-is-not-notified"
OLD_CASE, CASE = "notification.newcomer-is-not-told", "notification.newcomer-is-not-notified"
BROKEN = "builtin:5.3?mutant=newcomer-is-told"


def test_every_new_id_is_in_use_and_no_old_one() -> None:
    used = {one.name for one in cases()} | {one.id for one in catalogue().statements}
    listed = yaml.safe_load((specs_directory() / "renamed.yaml").read_text(encoding="utf-8"))
    renamed = {old: new for one in listed for old, new in one["ids"].items()}
    assert renamed
    assert set(renamed.values()) <= used
    assert not renamed.keys() & used


def test_an_old_id_is_understood_for_one_release() -> None:
    renamed = [
        RenamedIds("0.1.0", "0.2.0", {"a.old": "a.new"}),
        RenamedIds("0.2.0", "0.3.0", {"b.old": "b.new"}),
    ]
    assert understood(renamed, "0.1.9") == {"a.old": "a.new", "b.old": "b.new"}
    assert understood(renamed, "0.2.0") == {"b.old": "b.new"}
    assert understood(renamed, "0.3.0") == {}


@pytest.mark.parametrize(("old", "new"), [(OLD_STATEMENT, STATEMENT), (OLD_CASE, CASE)])
def test_check_selects_and_excludes_by_an_old_id(
    old: str, new: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["check", "--list", "--select", old]) == 0
    written = capsys.readouterr()
    renamed, total = written.err.splitlines()
    assert renamed == f"rmq-harness check: --select {old} is now called {new}"
    assert total.startswith("4 of ")  # with the cases of sanity and endurance
    assert len(written.out.splitlines()) == 4
    assert main(["check", "--list", "--select", new, "--exclude", old]) == 2
    assert f"--exclude {old} is now called {new}" in capsys.readouterr().err


def test_selftest_selects_by_an_old_id(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    asked = ["selftest", "--profile", "5.3", "--select", OLD_CASE, "--out", str(tmp_path)]
    assert main(asked) == 0
    assert f"rmq-harness selftest: --select {OLD_CASE} is now called {CASE}\n" in capsys.readouterr().err


def test_explain_answers_with_the_new_id(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["explain", OLD_STATEMENT]) == 0
    written = capsys.readouterr()
    assert written.err == f"rmq-harness explain: {OLD_STATEMENT} is now called {STATEMENT}\n"
    assert STATEMENT in written.out


def test_a_baseline_with_an_old_id_counts_and_is_written_anew_with_the_new_one(
    capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    known = tmp_path / "known.yaml"
    entry = f"- id: {OLD_CASE}\n  reason: Known.\n  link: https://example.org/7\n  expires: 2999-12-31\n"
    known.write_text(entry, encoding="utf-8")
    asked = ["check", BROKEN, "--select", CASE, "--out", str(tmp_path / "out"), "--baseline", str(known)]
    assert main([*asked, "--write-baseline", str(known)]) == 0
    assert f"rmq-harness check: {known}:1: {OLD_CASE} is now called {CASE}\n" in capsys.readouterr().err
    assert f"- id: {CASE}\n" in known.read_text(encoding="utf-8")


def test_a_trace_under_an_old_id_is_replayed_with_the_settings_of_its_case(
    capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    old, new = "order-topics.absent-brokers-are-told", "order-topics.absent-brokers-are-shown"
    broken = "builtin:5.3?mutant=order-configuration-names-present-brokers"
    assert main(["check", broken, "--select", new, "--out", str(tmp_path)]) == 1
    trace = tmp_path / "traces" / f"{new}.trace"
    trace.write_text(trace.read_text(encoding="utf-8").replace(new, old), encoding="utf-8")
    capsys.readouterr()
    assert main(["replay", str(trace), broken]) == 0
    assert f"rmq-harness replay · {old} (now called {new}) · " in capsys.readouterr().out
