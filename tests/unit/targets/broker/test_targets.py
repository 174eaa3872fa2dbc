"""Brokers as targets: URIs, and the arguments of a command."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from harness.conformance import Reply, Request
from harness.session import BrokerSession, Unsupported
from harness.targets import TargetError, parse
from harness.targets.probed_broker import BrokerProcess, nameservers_in, with_nameservers
from harness.wire import RequestCode

SERVE = (
    f"exec:{sys.executable} -c 'import sys; from harness.cli import main; sys.exit(main())' "
    "serve broker --profile 5.3 --port {port}"
)


@pytest.mark.parametrize(
    ("uri", "line"),
    [
        ("builtin:", "5.5"),
        ("builtin:4.9", "4.9"),
        ("exec:./b --port {port} --namesrv {nameserver}", None),
        ("exec:./b {port} -c {config}?warp=20", None),
        ("apache:4.9.8?warp=20", "4.9"),
    ],
)
def test_good_ones(uri: str, line: str | None) -> None:
    target = parse(uri, "broker")
    assert (target.uri, target.line) == (uri, line)


@pytest.mark.parametrize(
    ("uri", "nameserver", "told"),
    [
        ("builtin:5.6", "", "a profile after builtin: (4.9, 5.3, 5.5)"),
        ("builtin:5.3?mutant=leases-never-end", "", "there is no mutant 'leases-never-end'"),
        ("exec:./b {port}", "", "{nameserver} in the command"),
        ("tcp://127.0.0.1:10911", "", "HOST:PORT"),
        ("tcp://127.0.0.1:10911", "127.0.0.1:x", "127.0.0.1:x"),
        ("exec:./b {port} {nameserver}", "127.0.0.1:9876", "leave --nameserver out"),
        ("docker:x", "", "apache:VERSION"),
    ],
)
def test_a_mistake_is_reported(uri: str, nameserver: str, told: str) -> None:
    with pytest.raises(TargetError) as caught:
        parse(uri, "broker", nameserver)
    assert told in str(caught.value)


def test_a_nameserver_needs_no_address() -> None:
    with pytest.raises(TargetError, match="leave --nameserver out"):
        parse("tcp://127.0.0.1:9876", nameserver="127.0.0.1:9876")


def test_settings_name_nameservers() -> None:
    setup = (("a", "{nameserver};{nameserver3}"), ("b", "x"))
    assert (nameservers_in(setup), nameservers_in(())) == (3, 1)
    assert with_nameservers("{nameserver};{nameserver2}", ("h:1", "h:2")) == "h:1;h:2"


def test_settings_need_a_place_in_the_command() -> None:
    with pytest.raises(Unsupported, match=r"takes a \.properties file"):
        parse("exec:./b {port} {nameserver}", "broker").another((("brokerId", "1"),))


REGISTERS_LATE = """
import socket, sys, time
from harness.wire import Command, encode

port, nameserver = int(sys.argv[1]), sys.argv[2].split(":")
listening = socket.create_server(("127.0.0.1", port))
speaks = socket.create_connection((nameserver[0], int(nameserver[1])))
speaks.sendall(encode(Command(code=105)))
time.sleep(1.5)
speaks.sendall(encode(Command(code=103)))
while True:
    listening.accept()[0].close()
"""


def test_a_broker_has_started_once_it_has_registered(tmp_path: Path) -> None:
    (tmp_path / "broker.py").write_text(REGISTERS_LATE)
    command = f"{sys.executable} {tmp_path / 'broker.py'} {{port}} {{nameserver}}"
    instance = parse(f"exec:{command}", "broker").start()
    assert isinstance(instance, BrokerProcess)
    try:
        assert [one.command.code for one in instance.nameservers[0].heard()] == [105, 103]
    finally:
        instance.stop()


def test_a_broker_of_a_command_registers_keeps_its_topics_and_is_stopped() -> None:
    instance = parse(f"{SERVE} -c {{config}}", "broker").start()
    assert isinstance(instance, BrokerProcess)
    try:
        with BrokerSession(instance, "5.3", seed=1) as bk:
            register = RequestCode.REGISTER_BROKER
            bk.nameserver.next(register, within=10) >> Request(register)
            assert bk.broker_address.endswith(f":{instance.port}")
            topic = bk.name("T")
            bk.send(topic).offset >> Reply(0, 0)
            bk.restart()
            bk.send(topic).offset >> Reply(0, 1)
            bk.shutdown()
            code = RequestCode.UNREGISTER_BROKER
            bk.nameserver.next(code, within=10) >> Request(code)
    finally:
        instance.stop()
    assert not instance.alive()
