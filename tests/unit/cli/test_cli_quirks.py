"""`--quirks`: a server that breaks the catalogue as a known one does, judged as that one and on its own.

The mutants that behave as Apache's server does stand in for it.
"""

from __future__ import annotations

import io
import json
from pathlib import Path
from xml.etree import ElementTree

import pytest

from harness.cli import main
from harness.report.console import Console
from harness.report.results import read_run

DOES_AS_APACHE = "builtin:5.3?mutant=lost-connection-removes-one-broker"
STATEMENT = "ns.lease.shared-connection-removes-every-broker"
QUIRK = "quirk.lost-connection-removes-one-broker"
APACHE = "apache-nameserver@5.3.3"


def check(
    capsys: pytest.CaptureFixture[str], out: Path, target: str, *more: str, select: str = STATEMENT
) -> tuple[int, str, str]:
    status = main(["check", target, "--select", select, "--out", str(out), *more])
    written = capsys.readouterr()
    return status, written.out, written.err


def test_without_the_option_a_third_party_fails(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    status, out, _ = check(capsys, tmp_path, DOES_AS_APACHE)
    assert status == 1
    assert "quirk" not in out


def test_with_it_the_quirk_is_named_in_every_report(
    capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    status, out, _ = check(
        capsys, tmp_path, DOES_AS_APACHE, "--quirks", APACHE, "--report", "json,junit,html"
    )
    assert status == 0, out
    assert "1 quirk of apache-nameserver@5.3.3, of 4 cases" in out
    assert f"≠ {QUIRK}" in out
    assert "frame      #" in out
    assert "3 passed · 0 failed · 1 quirk · 0 blocked" in out
    result = json.loads((tmp_path / "result.json").read_text())
    assert result["server"] == APACHE
    assert [(one["id"], one["seen_in"]) for one in result["quirks"]] == [
        (QUIRK, ["lease.shared-connection-removes-every-broker"])
    ]
    assert [one["quirk"] for one in result["results"] if one["verdict"] == "quirk"] == [QUIRK]
    junit = ElementTree.parse(tmp_path / "junit.xml")
    skipped = junit.find(".//skipped")
    assert skipped is not None
    assert skipped.attrib["type"] == "quirk"
    assert junit.find(f".//property[@value='{QUIRK}']") is not None
    assert QUIRK in (tmp_path / "report.html").read_text()


def test_another_failure_of_the_same_statement_still_fails(
    capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    target = "builtin:5.3?mutant=cluster-information-shows-the-latest"
    status, out, _ = check(capsys, tmp_path, target, "--quirks", APACHE)
    assert status == 1, out


def test_a_quirk_that_is_not_seen_is_reported_and_fails_a_strict_run(
    capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    line = f"{QUIRK} was not seen in lease.shared-connection-removes-every-broker"
    status, out, _ = check(capsys, tmp_path, "builtin:5.3", "--quirks", APACHE)
    assert status == 0, out
    assert line in " ".join(out.split())
    assert read_run(tmp_path).header.server == APACHE
    status, out, _ = check(
        capsys, tmp_path, "builtin:5.3", "--quirks", APACHE, "--strict", "--report", "json,html"
    )
    assert status == 1
    assert "1 quirk not seen any more" in json.loads((tmp_path / "result.json").read_text())["why"]
    assert line in (tmp_path / "report.html").read_text()


def test_a_quirk_that_comes_and_goes_is_not_missed(
    capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    chosen = "ns.unregistration.bad-request-harms-no-other"
    status, out, _ = check(capsys, tmp_path, "builtin:5.3", "--quirks", APACHE, "--strict", select=chosen)
    assert (status, "not seen" in out) == (0, False)


def test_a_release_that_does_not_have_it_gets_no_excuse(
    capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    status, _, _ = check(capsys, tmp_path, DOES_AS_APACHE, "--quirks", "apache-nameserver@4.0.0")
    assert status == 1


@pytest.mark.parametrize(
    "asked", ["apache-namserver@5.3.3", "apache-nameserver", "apache-nameserver@", "all"]
)
def test_an_unknown_server_is_refused(capsys: pytest.CaptureFixture[str], tmp_path: Path, asked: str) -> None:
    status, _, err = check(capsys, tmp_path, "builtin:5.3", "--quirks", asked)
    assert status == 3
    assert f"--quirks {asked}: expected none or one of apache-nameserver@VERSION" in err


def test_apache_is_judged_as_itself_unless_asked_otherwise(capsys: pytest.CaptureFixture[str]) -> None:
    from harness.conformance.plan import CheckOptions, plan

    assert plan(CheckOptions(target="apache:5.3.3?warp=60")).server == "apache-nameserver@5.3.3"
    assert plan(CheckOptions(target="apache:5.3.3", quirks="none")).quirks == ()
    assert plan(CheckOptions(target="exec:./mine --port {port}")).quirks == ()


@pytest.mark.parametrize("name", [QUIRK, STATEMENT])
def test_explain_names_quirk_and_statement(capsys: pytest.CaptureFixture[str], name: str) -> None:
    assert main(["explain", name]) == 0
    out = capsys.readouterr().out
    assert QUIRK in out
    assert STATEMENT in out


def test_the_record_alone_gives_the_same_report(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    _, first, _ = check(capsys, tmp_path, DOES_AS_APACHE, "--quirks", APACHE)
    run = read_run(tmp_path)
    stream = io.StringIO()
    console = Console(stream, environ={})
    console.start(run.header)
    for result in run.results:
        console.case(result)
    console.finish(run.end)
    assert stream.getvalue() == first
