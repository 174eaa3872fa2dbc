"""Without what only POSIX has: what people use most works, and the rest says what it needs."""

from __future__ import annotations

import ast
import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from no_posix import HIDDEN_MODULES

ROOT = Path(__file__).resolve().parents[3]
PROGRAM = Path(__file__).with_name("no_posix.py")
ELSEWHERE = {"harness/cli/measures/trying.py"}
"""Behind `require_posix`."""


OF_WINDOWS = "cp1252"
STRICT = os.environ | {"PYTHONIOENCODING": OF_WINDOWS, "PYTHONWARNDEFAULTENCODING": "1"}
"""What is written goes through another encoding, and no file may be read in whichever is the default."""


def command(*arguments: str) -> list[str]:
    return [sys.executable, "-W", "error::EncodingWarning", str(PROGRAM), *arguments]


def run(*arguments: str, status: int = 0) -> str:
    done = subprocess.run(
        command(*arguments),
        capture_output=True,
        encoding=OF_WINDOWS,
        env=STRICT,
        timeout=300,
        check=False,
    )
    said = done.stdout + done.stderr
    assert done.returncode == status, said
    assert "Traceback" not in said
    return said


def test_it_hides_what_it_says() -> None:
    script = f"import runpy; runpy.run_path({str(PROGRAM)!r})['hide'](); import fcntl"
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=False)
    assert "No module named 'fcntl'" in done.stderr


def imported_at_once(tree: ast.Module) -> Iterator[str]:
    """The modules that a module imports when it is imported itself."""
    for node in tree.body:
        if isinstance(node, ast.Import):
            yield from (one.name for one in node.names)
        elif isinstance(node, ast.ImportFrom):
            yield node.module or ""


def test_no_module_needs_posix_to_be_imported() -> None:
    files = [file for package in ("harness", "reference_impl") for file in (ROOT / package).rglob("*.py")]
    assert len(files) > 300
    found = {
        file.relative_to(ROOT).as_posix()
        for file in files
        if HIDDEN_MODULES.intersection(imported_at_once(ast.parse(file.read_text(encoding="utf-8"))))
    }
    assert found == ELSEWHERE


def test_a_check_of_the_reference_and_its_reports(tmp_path: Path) -> None:
    said = run("check", "builtin:", "--report", "html,junit,json,markdown", "--out", str(tmp_path))
    assert "CONFORMANT, exit 0" in said
    assert "CONFORMANT, exit 0" in run("report", str(tmp_path))


def test_a_check_of_a_broker(tmp_path: Path) -> None:
    options = ("--role", "broker", "--fast", "--class", "essential", "--out", str(tmp_path))
    assert "0 failed · 0 blocked" in run("check", "builtin:", *options)


@pytest.mark.parametrize("how", [signal.SIGTERM, signal.SIGINT])
def test_serve_and_a_check_of_what_it_serves(tmp_path: Path, how: signal.Signals) -> None:
    server = subprocess.Popen(
        command("serve", "nameserver", "--port", "0"),
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        encoding=OF_WINDOWS,
        env=STRICT,
    )
    try:
        assert server.stdout is not None
        address = server.stdout.readline().partition(" ready on ")[2].partition(",")[0]
        assert address.startswith("127.0.0.1:")
        target = ("check", f"tcp://{address}", "--fast", "--select", "registration,framing")
        said = run(*target, "--out", str(tmp_path))
        assert "· 0 failed ·" in said
        assert "· 0 blocked ·" in said
        server.send_signal(how)
        _, errors = server.communicate(timeout=30)
        assert (server.returncode, errors) == (0, "")
    finally:
        server.kill()


def test_decode() -> None:
    assert "length word" in run("decode", "00", status=1)


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        (("check", f"exec:{sys.executable} {{port}}"), "a target that the harness starts"),
        (("check", "docker:some/image"), "a target that the harness starts"),
        (("selftest", "--coverage"), "selftest --coverage"),
        (("serve", "broker", "--port", "0", "--store", "{tmp}"), "messages on disk need"),
    ],
)
def test_what_needs_posix_says_so(arguments: tuple[str, ...], told: str, tmp_path: Path) -> None:
    said = run(*(word.replace("{tmp}", str(tmp_path)) for word in arguments), status=4)
    assert told in said
    assert "Linux, macOS or WSL" in said
