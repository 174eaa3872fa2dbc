"""`--baseline` and `--write-baseline`: from the first failure to the last."""

from __future__ import annotations

import json
from pathlib import Path
from xml.etree import ElementTree

import pytest

from harness.cli import main

BROKEN = "builtin:5.3?mutant=lost-connection-removes-one-broker"
STATEMENT = "ns.lease.shared-connection-removes-every-broker"


def check(capsys: pytest.CaptureFixture[str], out: Path, target: str, *more: str) -> tuple[int, str, str]:
    status = main(["check", target, "--select", STATEMENT, "--out", str(out / "out"), *more])
    written = capsys.readouterr()
    return status, written.out, written.err


def complete(file: Path) -> None:
    text = file.read_text(encoding="utf-8")
    text = text.replace('reason: ""', "reason: Known.").replace('link: ""', "link: https://example.org/7")
    file.write_text(text, encoding="utf-8")


@pytest.mark.parametrize("workers", ["1", "2"])
def test_from_the_first_failure_to_the_last(
    capsys: pytest.CaptureFixture[str], tmp_path: Path, workers: str
) -> None:
    known = tmp_path / "known.yaml"
    status, _, err = check(capsys, tmp_path, BROKEN, "--write-baseline", str(known))
    assert status == 1
    assert "1 new; give each a reason and a link" in err
    status, _, err = check(capsys, tmp_path, BROKEN, "--baseline", str(known))
    assert status == 3
    assert "2 problems; nothing was run" in err
    assert f"{known}:7: reason is empty" in err
    complete(known)
    options = ("--baseline", str(known), "-n", workers, "--report", "json,junit")
    status, out, _ = check(capsys, tmp_path, BROKEN, *options)
    assert status == 0
    assert "1 known failure" in out
    junit = ElementTree.parse(tmp_path / "out" / "junit.xml")
    assert [one.attrib["type"] for one in junit.iter("skipped")] == ["xfail"]
    status, out, _ = check(capsys, tmp_path, "builtin:5.3", *options)
    assert status == 1
    assert f"{known}:6 says that lease.shared-connection-removes-every-broker fails" in " ".join(out.split())
    status, _, _ = check(capsys, tmp_path, "builtin:5.3", *options, "--write-baseline", str(known))
    assert status == 1
    status, _, _ = check(capsys, tmp_path, "builtin:5.3", *options)
    assert status == 0


def test_an_entry_that_has_expired_or_names_nothing_fails_the_run(
    capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    known = tmp_path / "known.yaml"
    entry = "  reason: Known.\n  link: https://example.org/7\n  expires: {}\n"
    known.write_text(
        f"- id: {STATEMENT}\n{entry.format('2020-01-01')}- id: ns.lease.nothing\n{entry.format('2099-01-01')}"
    )
    options = ("--baseline", str(known), "--report", "json,junit,html")
    status, out, _ = check(capsys, tmp_path, "builtin:5.3", *options)
    assert status == 1
    assert "2 stale entries of the baseline" in out
    result = json.loads((tmp_path / "out" / "result.json").read_text())
    assert result["why"] == "2 stale entries of the baseline"
    assert len(result["baseline"]["stale"]) == 2
    junit = ElementTree.parse(tmp_path / "out" / "junit.xml")
    assert [one.attrib["type"] for one in junit.iter("failure")] == ["stale"]
    assert "expired on 2020-01-01" in (tmp_path / "out" / "report.html").read_text()


def test_what_people_wrote_is_not_overwritten(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    known = tmp_path / "known.yaml"
    known.write_text("[]\n")
    status, _, err = check(capsys, tmp_path, BROKEN, "--write-baseline", str(known))
    assert status == 3
    assert "would be lost" in " ".join(err.split())
    assert known.read_text() == "[]\n"
