"""The options of the control port, and what is said where they cannot be."""

from __future__ import annotations

import socket
import sys
from pathlib import Path

import pytest
from unit.control.port import Process, serving

from harness import control
from harness.cli import main
from harness.session.ports import free_port


def test_it_is_off_unless_it_is_asked_for(tmp_path: Path) -> None:
    process = Process(directory=tmp_path)
    assert process.end() == (0, "")
    assert "control" not in process.said


def test_names_of_hosts_are_given(tmp_path: Path) -> None:
    with serving("--control-name", "rocketmq,mq.example.org", directory=tmp_path) as port:
        for host, status in (("rocketmq:8080", 200), ("mq.example.org", 200), ("evil.example", 403)):
            assert port.ask("GET", "/", None, {"Host": host}).status == status


def test_the_first_broker_has_the_port_that_is_given(tmp_path: Path) -> None:
    number = free_port((-2, 0, 1))
    with serving("--broker-port", str(number), "--masters", "2", directory=tmp_path) as port:
        _, first, second = (one["address"] for one in port.get("/")["servers"])
    assert first == f"127.0.0.1:{number}"
    assert second != first


def test_a_port_that_is_taken_is_said(capsys: pytest.CaptureFixture[str]) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        number = taken.getsockname()[1]
        assert main(["serve", "cluster", "--port", "0", "--control", str(number)]) == 4
    said = capsys.readouterr().err
    assert said.startswith(f"cluster: --control: cannot listen on 127.0.0.1:{number}: Address already in use")


def test_the_extra_that_is_missing_is_named(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delitem(sys.modules, "harness.control.serving", raising=False)
    monkeypatch.delattr(control, "serving", raising=False)
    monkeypatch.setitem(sys.modules, "uvicorn", None)
    assert main(["serve", "cluster", "--port", "0", "--control", "0"]) == 4
    assert "--control needs uvicorn, which is not installed: pip install 'rmq-harness[control]'" in (
        capsys.readouterr().err
    )


@pytest.mark.parametrize("option", [("--control-host", "0.0.0.0"), ("--control-name", "rocketmq")])
def test_options_of_a_port_that_is_off_are_refused(
    option: tuple[str, str], capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["serve", "cluster", "--port", "0", *option]) == 3
    assert f"{option[0]} needs --control PORT" in capsys.readouterr().err


@pytest.mark.parametrize("name", ["http://rocketmq", "rocketmq:8080", "*", "[::1]", "rocketmq,a b"])
def test_a_name_that_no_host_has_is_refused(name: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["serve", "cluster", "--port", "0", "--control", "0", "--control-name", name]) == 3
    assert "--control-name: expected names of hosts without scheme and port, such as rocketmq" in (
        capsys.readouterr().err
    )


def test_an_address_that_is_not_here_is_said(capsys: pytest.CaptureFixture[str]) -> None:
    options = ["--control", "0", "--control-host", "192.0.2.7"]
    assert main(["serve", "cluster", "--port", "0", *options]) == 4
    assert "cannot listen on 192.0.2.7:0: " in capsys.readouterr().err
