"""``docker:`` where nothing can be started: what is said, and what is known all the same."""

from __future__ import annotations

import os
import sys
from pathlib import Path

import pytest

from harness.cli import main
from harness.targets import TargetError, parse

PROPERTIES = ".testcontainers.properties"


@pytest.fixture(autouse=True)
def no_engine(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """And a home directory that says nothing of one."""
    monkeypatch.setenv("DOCKER_HOST", "unix:///nonexistent/docker.sock")
    monkeypatch.setenv("HOME", str(tmp_path))
    forget_testcontainers(monkeypatch)


def forget_testcontainers(monkeypatch: pytest.MonkeyPatch) -> None:
    """It reads its settings when it is imported."""
    for name in [name for name in sys.modules if name.partition(".")[0] == "testcontainers"]:
        monkeypatch.delitem(sys.modules, name)
    monkeypatch.delitem(sys.modules, "harness.targets.engine", raising=False)
    monkeypatch.delattr("harness.targets.engine", raising=False)


@pytest.mark.parametrize(
    ("uri", "line"),
    [
        ("docker:apache/rocketmq:4.9.8", "4.9"),
        ("docker:apache/rocketmq:5.3.3?warp=60", "5.3"),
        ("docker:registry.example:5000/apache/rocketmq:5.3.3-alpine", "5.3"),
        ("docker:registry.example:5000/rocketmq", None),
        ("docker:my-nameserver:latest?profile=4.9", "4.9"),
        ("docker:my-nameserver", None),
    ],
)
def test_the_version_is_in_the_tag_or_not_known(uri: str, line: str | None) -> None:
    target = parse(uri)
    assert (target.uri, target.line, target.waits_alone) == (uri, line, line == "4.9")


@pytest.mark.parametrize(
    ("uri", "message"),
    [
        ("docker:", "docker:apache/rocketmq:5.3.3"),
        ("docker:Some Image", "docker:apache/rocketmq:5.3.3"),
        ("docker:image?profile=4.8", r"docker:image\?profile=5.3"),
        ("docker:image?warp=0", r"docker:image\?warp=60"),
        ("docker:image?port=1", "no option but profile, warp"),
    ],
)
def test_bad_ones_show_a_good_one(uri: str, message: str) -> None:
    with pytest.raises(TargetError, match=message):
        parse(uri)


def test_without_an_engine_one_message_and_exit_4(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    command = ["check", "docker:apache/rocketmq:5.3.3", "--select", "sanity", "--out", str(tmp_path)]
    assert main(command) == 4
    said = capsys.readouterr().err
    assert "expected  a container engine that answers, for docker: targets" in said
    assert "do        start Docker" in said
    assert "Traceback" not in said


def test_without_testcontainers_the_command_that_installs_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "testcontainers", None)
    with pytest.raises(TargetError, match=r"pip install 'rmq-harness\[docker\]'"):
        parse("docker:apache/rocketmq:5.3.3").start()


def test_settings_that_testcontainers_cannot_read_are_a_mistake_of_a_file(tmp_path: Path) -> None:
    (tmp_path / PROPERTIES).write_bytes("tc.host=tcp://übung".encode("utf-16"))
    with pytest.raises(TargetError) as raised:
        parse("docker:apache/rocketmq:5.3.3").start()
    said = str(raised.value)
    assert "expected  settings that the package testcontainers can read" in said
    assert f"~/{PROPERTIES}" in said


def test_settings_that_testcontainers_reads_are_in_force(tmp_path: Path) -> None:
    (tmp_path / PROPERTIES).write_text("tc.host=tcp://127.0.0.1:1\n")
    with pytest.raises(TargetError, match="a container engine that answers") as raised:
        parse("docker:apache/rocketmq:5.3.3").start()
    assert "Connection refused" in str(raised.value)


def test_where_nothing_can_be_started_the_engine_is_not_looked_for(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    (tmp_path / PROPERTIES).write_bytes(b"\xff=\n")
    monkeypatch.delattr(os, "fork")
    target = parse("docker:some/image")
    assert target.line is None
    with pytest.raises(TargetError, match="Linux, macOS or WSL"):
        target.start()
