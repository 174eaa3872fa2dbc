"""`matrix`: what is checked, what is not checked again, what is refused, and how it ends."""

from __future__ import annotations

import json
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from harness.cli import main
from harness.cli.sweep import Named, Outcome, Sweep
from harness.report.results import FILE_NAME, read_run
from harness.targets import maven

FEW = ("--select", "sanity")


def run(capsys: pytest.CaptureFixture[str], *arguments: str) -> tuple[int, str, str]:
    status = main(["matrix", *arguments])
    written = capsys.readouterr()
    return status, written.out, written.err


def test_targets_are_checked_once_and_compared(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    arguments = ("builtin:4.9", "mine=builtin:5.3", *FEW, "--out", str(tmp_path))
    status, out, err = run(capsys, *arguments, "--markdown", str(tmp_path / "copy.md"))
    assert status == 0
    assert "mine         profile 5.3" in out
    assert err.count("begins") == 2
    for name in ("matrix.html", "matrix.md", "matrix.json", "builtin-4.9/report.html", "mine/output.txt"):
        assert (tmp_path / name).exists(), name
    assert (tmp_path / "copy.md").read_text() == (tmp_path / "matrix.md").read_text()
    before = (tmp_path / "mine" / FILE_NAME).read_bytes()

    status, _, err = run(capsys, *arguments)
    assert status == 0
    assert "2 targets of 2 measured before" in err
    assert (tmp_path / "mine" / FILE_NAME).read_bytes() == before

    _, _, err = run(capsys, *arguments[:2], "--select", "endurance", "--out", str(tmp_path))
    assert err.count("begins") == 2, "another selection is another check"
    _, _, err = run(capsys, *arguments[:2], "--select", "endurance", "--out", str(tmp_path), "--again")
    assert err.count("begins") == 2

    status, out, _ = run(capsys, "--records", str(tmp_path), "--out", str(tmp_path / "again"), "--json")
    assert status == 0
    assert [one["name"] for one in json.loads(out)["targets"]] == ["builtin:4.9", "mine"]


def test_an_incomplete_record_is_checked_again_and_never_ends_with_0(
    capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    arguments = ("builtin:5.3", *FEW, "--out", str(tmp_path))
    run(capsys, *arguments)
    record = tmp_path / "builtin-5.3" / FILE_NAME
    lines = record.read_text().splitlines(keepends=True)
    record.write_text("".join(lines[:-1]))
    status, _, _ = run(capsys, "--records", str(record.parent), "--out", str(tmp_path / "page"))
    assert status == 2
    assert "the record was cut short" in (tmp_path / "page" / "matrix.md").read_text()
    status, _, err = run(capsys, *arguments)
    assert status == 0
    assert "begins" in err


def test_a_target_that_does_not_start_is_said_beside_those_that_do(
    capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    status, out, _ = run(capsys, "builtin:5.3", "dead=exec:false {port}", *FEW, "--out", str(tmp_path))
    assert status == 4
    assert "dead         not measured: " in out
    assert "- **dead**: " in (tmp_path / "matrix.md").read_text()
    status, _, err = run(capsys, "dead=exec:false {port}", *FEW, "--out", str(tmp_path / "alone"))
    assert status == 4
    assert "dead: " in err


RELEASES = {"4.9.7": True, "5.0.0": True, "5.1.0": False, "5.1.1": True}


def test_a_range_of_releases_is_what_maven_has(
    capsys: pytest.CaptureFixture[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("harness.cli.matrix.releases", lambda _: RELEASES)
    begun: list[str] = []

    def checked(_: Sweep, targets: list[Named], **__: object) -> list[Outcome]:
        begun.extend(one.target for one in targets)
        return []

    monkeypatch.setattr(Sweep, "run", checked)
    recorded = str(_recorded(capsys, tmp_path))
    run(capsys, "apache:5.0.0..?warp=60", "--out", str(tmp_path), "--records", recorded)
    assert begun[-2:] == ["apache:5.0.0?warp=60", "apache:5.1.1?warp=60"]
    assert "- **5.1.0**: Maven Central does not have this server" in (tmp_path / "matrix.md").read_text()
    status, _, err = run(capsys, "apache:6.0.0..7.0.0", "--out", str(tmp_path))
    assert status == 3
    assert "no release in this range; there are 4.9.7, 5.0.0, 5.1.1" in err


def _recorded(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> Path:
    main(["check", "builtin:5.3", *FEW, "--out", str(tmp_path / "run")])
    capsys.readouterr()
    return tmp_path / "run"


def test_releases_are_those_of_the_client_and_whether_the_server_is_to_be_had(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    had = {
        "rocketmq-namesrv": ["4.9.7", "5.0.0-ALPHA", "5.3.4", "4.10.0"],
        "rocketmq-client": ["4.9.6", "4.9.7"],
    }
    monkeypatch.setattr(maven, "_published", lambda artifact, _: had[artifact])
    monkeypatch.setattr("shutil.which", lambda _: "mvn")
    found = maven.releases("rocketmq-namesrv")
    assert list(found) == ["4.9.6", "4.9.7", "4.9.8", "4.10.0", "5.3.4"]
    assert [one for one, there in found.items() if not there] == ["4.9.6", "5.3.4"]


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        ((), "nothing to compare"),
        (("nonsense",), "nonsense: "),
        (("exec:a {port}", "exec:a {port}?warp=60"), "would be one column"),
        (("--records", "/nowhere"), "expected the --out directory of a check or of a matrix"),
    ],
)
def test_mistakes_say_what_to_do(
    arguments: tuple[str, ...], said: str, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    status, _, err = run(capsys, *arguments, "--out", str(tmp_path))
    assert status == 3
    assert said in err


@pytest.mark.parametrize(
    ("sent", "sigint"), [(signal.SIGINT, "default_int_handler"), (signal.SIGTERM, "SIG_IGN")]
)
def test_an_interrupt_keeps_what_was_measured(tmp_path: Path, sent: signal.Signals, sigint: str) -> None:
    """The second target waits for real time; its record has what it had measured, and the pages show it.

    A page elsewhere stays what it was.
    """
    page = tmp_path / "published.md"
    page.write_text("of before")
    code = "import sys; from harness.cli import main; sys.exit(main(sys.argv[1:]))"
    # A shell that starts a command in the background has it ignore SIGINT.
    hearing = f"import signal; signal.signal(signal.SIGINT, signal.{sigint}); "
    serve = f"exec:{sys.executable} -c '{code}' serve nameserver --port {{port}}"
    process = subprocess.Popen(
        [
            *(sys.executable, "-c", hearing + code, "matrix", "builtin:5.3", f"slow={serve}"),
            *("--select", "ns.lease.idle-*,ns.lease.expired-*,kv", "--out", str(tmp_path)),
            *("--markdown", str(page)),
        ],
        stderr=subprocess.PIPE,
        stdout=subprocess.DEVNULL,
        text=True,
    )
    record = tmp_path / "slow" / FILE_NAME
    until = time.monotonic() + 90
    while not (record.exists() and len(record.read_bytes().splitlines()) > 2):
        assert time.monotonic() < until, "the second check has not begun"
        assert process.poll() is None, process.communicate()[1]
        time.sleep(0.2)
    process.send_signal(sent)
    _, err = process.communicate(timeout=90)
    assert process.returncode == 130
    assert "the pages have what was measured" in err
    assert f"--markdown {page} is not written: not all was measured" in err
    assert page.read_text() == "of before"
    interrupted = read_run(tmp_path / "slow")
    assert interrupted.end is not None
    assert interrupted.end.interrupted
    assert "interrupted after" in (tmp_path / "matrix.md").read_text()
