"""The badge: its text with the denominator, its colour, and the runs that get none."""

from __future__ import annotations

from pathlib import Path
from xml.etree import ElementTree

import msgspec
import pytest
import report_samples as samples

from harness.report import badge
from harness.report.results import Run, Verdict
from harness.report.verdicts import ending
from harness.report.write import write_reports

GREEN, YELLOW, RED = "#2a7f3e", "#8a6100", "#b42318"


def changed(verdict: Verdict) -> Run:
    """A green run of which one case came to something else."""
    whole = samples.green()
    first = msgspec.structs.replace(whole.results[0], verdict=verdict)
    measured = Run(header=whole.header, results=(first, *whole.results[1:]))
    return msgspec.structs.replace(measured, end=ending(measured, seconds=1.0))


def partial() -> Run:
    """A green run of a part of the catalogue."""
    whole = samples.green()
    header = msgspec.structs.replace(whole.header, cases_available=20)
    return msgspec.structs.replace(whole, header=header)


@pytest.mark.parametrize(
    ("run", "right", "colour"),
    [
        (samples.green(), "10/10 · essential 10/10", GREEN),
        (partial(), "10/20", YELLOW),
        (changed(Verdict.QUIRK), "9/10 · essential 9/10", YELLOW),
        (changed(Verdict.XFAIL), "9/10 · essential 9/10", YELLOW),
        (changed(Verdict.UNSUPPORTED), "9/10 · essential 9/10", YELLOW),
        (changed(Verdict.DEVIATES), "10/10 · essential 10/10", GREEN),
        (changed(Verdict.FAIL), "9/10 · essential 9/10", RED),
        (changed(Verdict.XPASS), "9/10 · essential 9/10", RED),
    ],
)
def test_text_and_colour(run: Run, right: str, colour: str) -> None:
    assert badge.text(run) == ("RocketMQ NameServer 5.3", right)
    drawn = ElementTree.fromstring(badge.render(run))
    assert drawn.attrib["aria-label"] == f"RocketMQ NameServer 5.3 · {right}"
    assert [one.text for one in drawn if one.tag.endswith("text")] == ["RocketMQ NameServer 5.3", right]
    assert [one.attrib["fill"] for one in drawn if one.tag.endswith("path")] == [colour]
    assert "http://" not in badge.render(run).replace("http://www.w3.org/2000/svg", "")


@pytest.mark.parametrize(
    ("run", "why"),
    [
        (samples.run(), "ERROR: the harness failed in 1 of 10 cases"),
        (samples.interrupted(), "INTERRUPTED: interrupted after 2 of 10 cases"),
        (samples.unreachable(), "ERROR: nothing listens"),
        (changed(Verdict.BLOCKED), "INCONCLUSIVE: 1 of 10 cases blocked"),
        (
            msgspec.structs.replace(samples.green(), end=None),
            "INCONCLUSIVE: the record of the run is incomplete",
        ),
    ],
)
def test_a_run_that_settles_nothing_gets_none(run: Run, why: str) -> None:
    with pytest.raises(badge.BadgeRefusedError, match=why):
        badge.render(run)


def test_an_older_badge_is_left_and_said_to_be_old(tmp_path: Path) -> None:
    assert write_reports(samples.interrupted(), ["badge"], tmp_path).refused == [
        "no badge is drawn, because the run is INTERRUPTED: interrupted after 2 of 10 cases"
    ]
    write_reports(samples.green(), ["badge"], tmp_path)
    before = (tmp_path / "badge.svg").read_text(encoding="utf-8")
    written = write_reports(samples.interrupted(), ["badge", "json"], tmp_path)
    assert [path.name for path in written.paths] == ["result.json"]
    assert written.refused[0].endswith("badge.svg is that of an earlier run")
    assert (tmp_path / "badge.svg").read_text(encoding="utf-8") == before
